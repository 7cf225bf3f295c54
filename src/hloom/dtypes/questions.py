"""Questions about dtypes: may one be cast to another, what are its limits, which group is it of."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from hloom.dtypes.table import (
    DOMAINS,
    KINDS,
    PYTHON_SCALARS,
    Dtype,
    as_dtype,
    bits,
    is_abstract,
    is_numpy,
    is_supported,
    kind,
    numpy_dtype,
    row,
)

_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def can_cast(from_: object, to: object, casting: str = "safe") -> bool:
    """Whether a conversion between two dtypes is allowed under NumPy's `casting` rule.

    "no" and "equiv": the same dtype; "safe": no value is lost; "same_kind": safe, or not to a
    lower kind (float64 to bfloat16, but not float32 to int64); "unsafe": always.  Between NumPy's
    dtypes the answer is NumPy's; for the others "safe" is exact: every value survives.

    Raises TypeError for a Python number, which adapts to dtypes, and ValueError for an unknown
    `casting`.

    >>> hloom.dtypes.can_cast("bfloat16", "float32"), hloom.dtypes.can_cast("int16", "bfloat16")
    (True, False)
    """
    if casting not in _CASTINGS:
        raise ValueError(f"casting is one of {', '.join(_CASTINGS)}; got {casting!r}")
    if type(from_) in PYTHON_SCALARS:
        raise TypeError(
            f"can_cast compares dtypes, and the Python number {from_!r} adapts to those beside it; "
            f"pass a dtype: can_cast({type(from_).__name__}, ...)"
        )
    source, target = as_dtype(from_), as_dtype(to)
    if is_numpy(source) and is_numpy(target):
        return bool(np.can_cast(source, target, casting))  # type: ignore[arg-type]
    if source == target or casting == "unsafe":
        return True
    if casting in ("no", "equiv"):
        return False
    return _survives(source, target) or (casting == "same_kind" and _rank(source) <= _rank(target))


def _rank(dtype: Dtype) -> int:
    return list(KINDS).index(kind(dtype))


@cache
def _survives(source: Dtype, target: Dtype) -> bool:
    """Whether `target` has every value of `source`, signed zeros and infinities included."""
    if bits(source) > 16 or _rank(source) > _rank(target):
        return False  # one of the two is ml_dtypes', hence of at most 16 bits
    if kind(target) == "complex":
        target = finfo(target).dtype
    with np.errstate(all="ignore"):
        values = _every_value(source).astype("float64")  # which holds them all
        arrived = values.astype(target).astype("float64")
    same = (arrived == values) & (np.signbit(arrived) == np.signbit(values))
    return bool(np.all(same | (np.isnan(arrived) & np.isnan(values))))


def _every_value(dtype: Dtype) -> np.ndarray[Any, Any]:
    """All values of a dtype of at most 16 bits."""
    match kind(dtype):
        case "bool":
            return np.array([False, True])
        case "signed" | "unsigned":
            limits = iinfo(dtype)
            return np.arange(limits.min, limits.max + 1).astype(dtype)
        case _:
            patterns = np.arange(2 ** bits(dtype)).astype(f"uint{8 * dtype.itemsize}")
            return patterns.view(dtype)


class WrongDtypeKind(TypeError, ValueError):
    """`finfo` was asked about an integer dtype, or `iinfo` about a float.

    It is both a TypeError and, as in NumPy, a ValueError, so that this runs:

        try:
            limits = jnp.finfo(dtype)
        except ValueError:
            limits = jnp.iinfo(dtype)
    """


def finfo(dtype: object) -> np.finfo[Any]:
    """The limits of a float dtype: `bits eps max min tiny smallest_subnormal ...`, as in NumPy.

    A complex dtype gives those of its parts.  Raises WrongDtypeKind for bool and integers.

    >>> float(hloom.dtypes.finfo("bfloat16").eps), hloom.dtypes.finfo("complex64").bits
    (0.0078125, 32)
    """
    canonical = as_dtype(dtype)
    if canonical not in DOMAINS["inexact"]:
        raise WrongDtypeKind(f"finfo takes a float or complex dtype; got {_other(canonical)}")
    if is_numpy(canonical):
        return np.finfo(canonical)
    return ml_dtypes.finfo(canonical)  # type: ignore[no-untyped-call]


def iinfo(dtype: object) -> np.iinfo[Any]:
    """The limits of an integer dtype: `bits min max dtype`, as in NumPy.

    Raises WrongDtypeKind for bool, float and complex dtypes.

    >>> hloom.dtypes.iinfo("int4").min, hloom.dtypes.iinfo("uint8").max
    (-8, 255)
    """
    canonical = as_dtype(dtype)
    if canonical not in DOMAINS["integer"]:
        raise WrongDtypeKind(f"iinfo takes an integer dtype; got {_other(canonical)}")
    if is_numpy(canonical):
        return np.iinfo(canonical)
    return ml_dtypes.iinfo(canonical)  # type: ignore[no-untyped-call, return-value]


def _other(dtype: Dtype) -> str:
    """The dtype, and the function that does take it."""
    match kind(dtype):
        case "bool":
            return "bool, whose only values are False and True"
        case "float" | "complex":
            return f"{dtype.name}; use finfo({dtype.name!r})"
        case _:
            return f"{dtype.name}; use iinfo({dtype.name!r})"


def issubdtype(a: object, b: object) -> bool:
    """Whether dtype `a` is `b` or, if `b` is one of NumPy's abstract classes, belongs to it.

    Differs from NumPy: bfloat16 and the 8-bit floats are `np.floating`, int4 `np.signedinteger`.

    >>> hloom.dtypes.issubdtype("bfloat16", np.floating), hloom.dtypes.issubdtype("int8", np.int64)
    (True, False)
    """
    if is_abstract(b):
        return issubclass(_class_of(a), b)
    if is_supported(a) and is_supported(b):
        return as_dtype(a) == as_dtype(b)
    if is_abstract(a):
        return False
    return bool(np.issubdtype(numpy_dtype(a), numpy_dtype(b)))


def _class_of(x: object) -> type:
    """The NumPy scalar class by whose ancestors a dtype is judged."""
    if is_abstract(x):
        return x
    return KINDS[kind(x)] if is_supported(x) else numpy_dtype(x).type


# The array API standard's names of groups of dtypes -> our kinds.
_STANDARD_KINDS = {
    "bool": ("bool",),
    "signed integer": ("signed",),
    "unsigned integer": ("unsigned",),
    "integral": ("signed", "unsigned"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("signed", "unsigned", "float", "complex"),
}


def isdtype(dtype: object, kind: object) -> bool:
    """Whether `dtype` is of a kind of the array API standard, is a given dtype, or any of a tuple.

    The kinds are "bool", "signed integer", "unsigned integer", "integral", "real floating",
    "complex floating" and "numeric".  Raises ValueError for another name.

    >>> hloom.dtypes.isdtype("bfloat16", "real floating")
    True
    >>> hloom.dtypes.isdtype("int8", ("bool", "unsigned integer"))
    False
    """
    if isinstance(kind, tuple):
        answers = [isdtype(dtype, each) for each in kind]  # a list, so that every name is checked
        return any(answers)
    if isinstance(kind, str) and kind in _STANDARD_KINDS:
        found = numpy_dtype(dtype)  # text and dates have an answer too: no
        return is_supported(found) and row(found).kind in _STANDARD_KINDS[kind]
    if isinstance(kind, str) and not is_supported(kind):
        raise ValueError(f"isdtype knows the kinds {', '.join(_STANDARD_KINDS)}; got {kind!r}")
    return issubdtype(dtype, as_dtype(kind))
