"""Nested lists and tuples as arrays: numbers, arrays and tracers mixed, at any depth.

Where every element is known, the value is put together on the host and sent in one piece; with
tracers among the elements it is written as concatenations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array, from_ndarray, host_array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import as_array, scalar, unmasked, weak_aval
from hloom.core.support import source
from hloom.core.support.calls import TOO_DEEP, is_too_deep
from hloom.core.support.width import holds_wide
from hloom.core.trace import Tracer
from hloom.errors.rewriting import argument
from hloom.numpy.common.arguments import warn
from hloom.ops.pointwise.convert import convert_element_type_p
from hloom.ops.shapes.slicing import stack

NDArray = np.ndarray[Any, Any]
NUMBERS = frozenset((bool, int, float, complex))
_LISTS = frozenset((list, tuple))


def from_sequence(name: str, x: Sequence[Any], dtype: np.dtype[Any] | None = None) -> Array:
    """The (nested) list `x` as an array of `dtype`, or of the dtype its elements promote to.

    Raises ValueError for lists of unequal lengths, TypeError for elements that are no numbers,
    OverflowError for integers that the dtype does not hold.
    """
    try:
        return _from_sequence(name, x, dtype)
    except RecursionError:
        if not is_too_deep(x):
            raise
        raise ValueError(f"{name}: {TOO_DEEP}") from None


def _from_sequence(name: str, x: Sequence[Any], dtype: np.dtype[Any] | None) -> Array:
    if is_plain(x):
        return put(_read(name, x, dtype))
    elements = list(leaves(x))
    for element in elements:
        if isinstance(element, np.ndarray):
            unmasked(element)
    if not any(_is_array(e) for e in elements):
        return put(plain_value(name, x, _common_dtype(name, elements) if dtype is None else dtype))
    if dtype is None:
        dtype = _common_dtype(name, elements)
    if any(isinstance(e, Tracer) for e in elements):
        return _joined(name, x, dtype)
    return put(plain_value(name, _with_values(x), dtype))


def put(value: NDArray) -> Array:
    """An ndarray of a canonical dtype as an Array."""
    aval = ShapedArray(value.shape, value.dtype)
    return from_ndarray(value, aval) if value.shape else host_array(value, aval)


def is_plain(x: Sequence[Any]) -> bool:
    """Whether all elements, at any depth, are Python numbers."""
    classes = set(map(type, x))
    if classes <= NUMBERS:
        return True
    return classes <= _LISTS and all(map(is_plain, x))


def leaves(x: Any) -> Iterator[Any]:
    """The elements of nested lists, depth first."""
    if isinstance(x, (list, tuple)):
        for each in x:
            yield from leaves(each)
    else:
        yield x


def plain_value(name: str, x: Any, dtype: np.dtype[Any] | None) -> NDArray:
    """NumPy's reading of numbers and lists, in `dtype` or in the default dtype of their kind."""
    if x.__class__ not in NUMBERS and not (x.__class__ in _LISTS and is_plain(x)):
        _refuse_text(name, x)  # NumPy would read numbers out of it
    return _read(name, x, dtype)


def _read(name: str, x: Any, dtype: np.dtype[Any] | None) -> NDArray:
    try:
        if dtype is not None and dtype.isbuiltin == 1:
            return np.array(x, dtype=dtype)
        value = np.array(x)
    except (ValueError, OverflowError, TypeError) as error:
        raise unfit(name, x, dtype, error) from None
    if not dtypes.is_supported(value.dtype):
        raise _foreign(name, x, value)
    if dtype is None:
        dtype = dtypes.canonicalize(value.dtype, current.get().config.enable_x64)
    return value if value.dtype == dtype else _fit(name, value, dtype)


def _fit(name: str, value: NDArray, dtype: np.dtype[Any]) -> NDArray:
    """Numbers the user wrote in a narrower dtype; OverflowError for an integer out of range."""
    to_integer = dtypes.kind(dtype) in ("signed", "unsigned")
    if to_integer and value.dtype.kind == "f":
        if not np.isfinite(value).all():
            raise unfit(name, value.tolist(), dtype, ValueError("not finite"))
        value = np.trunc(value)
    with np.errstate(all="ignore"):
        made = value.astype(dtype)
    if to_integer:
        lost = made.astype(value.dtype) != value
        if lost.any():
            raise _overflow(name, value[lost].flat[0], dtype)
    elif value.dtype.kind in "fc":
        lost = np.isfinite(value) & ~np.isfinite(made)
        if lost.any():
            given = value[lost].flat[0]
            warn(errors.TruncationWarning.value(given, value.dtype.name, dtype.name))
    return made


def unfit(name: str, x: Any, dtype: np.dtype[Any] | None, error: Exception) -> Exception:
    """What to raise for numbers that don't fit `dtype`: it names the first of them."""
    kind = dtypes.kind(dtype) if dtype is not None else ""
    for e in leaves(x) if kind else ():
        if isinstance(e, complex) and kind not in ("complex", "bool"):
            what = (
                f"{name}: the complex number {e} can't become {dtype}; take its real part, x.real"
            )
            return TypeError(what)
        if isinstance(e, float) and kind in ("signed", "unsigned") and not np.isfinite(e):
            cls = ValueError if e != e else OverflowError
            return cls(
                f"{name}: cannot convert float {e} to integer; replace it first, or use floats"
            )
    if isinstance(error, OverflowError):
        outside = [e for e in leaves(x) if isinstance(e, (int, float)) and not _holds(dtype, e)]
        return _overflow(name, outside[0] if outside else x, dtype)
    if isinstance(error, ValueError):
        return _ragged(name, error)
    return TypeError(f"{name}: {error}")


def _holds(dtype: np.dtype[Any] | None, number: int | float) -> bool:
    if dtype is not None and dtypes.kind(dtype) in ("float", "complex"):
        return abs(number) < 2**1023
    info = dtypes.iinfo("int64" if dtype is None else dtype)
    return int(info.min) <= number <= int(info.max)


def _overflow(name: str, number: Any, dtype: np.dtype[Any] | None) -> OverflowError:
    text = "any dtype" if dtype is None else dtype.name
    way = "use a float"
    if dtype is not None and dtypes.bits(dtype) < 32:
        way = "use a wider dtype"
    elif not current.get().config.enable_x64:
        way = "take int64, which there is in `with hloom.enable_x64():`, or use a float"
    shown = f"{number!s:.40}"
    what = "Python integer" if isinstance(number, int) else "the number"
    return OverflowError(f"{name}: {what} {shown} out of bounds for {text}; {way}")


def _ragged(name: str, error: ValueError) -> ValueError:
    text = str(error)
    if "inhomogeneous" not in text and "sequence" not in text:
        return ValueError(f"{name}: {text}")
    return ValueError(
        f"{name}: {text.rstrip('.')}. Lists must be of equal lengths at each depth; pad the short "
        "ones, or keep a list of arrays."
    )


def _refuse_text(name: str, x: Any) -> None:
    for element in leaves(x):
        if element is None:
            raise errors.ArgumentError(
                f"{name} takes numbers; got None. For a missing number use float('nan')."
            )
        if isinstance(element, (str, bytes)):
            raise TypeError(
                f"{name} takes numbers; got the text {element!r:.60}, and arrays hold no text. "
                "Convert it: float(text), or np.array(texts, dtype=float)."
            )


def _foreign(name: str, x: Any, value: NDArray) -> Exception:
    """The error for what is no number: which element it is, and what to do."""
    _refuse_text(name, x)
    for element in leaves(x):
        if isinstance(element, int):
            return OverflowError(
                f"{name}: Python integer {element} is too large for any dtype; use a float"
            )
    why = ""
    try:
        dtypes.as_dtype(value.dtype)
    except TypeError as error:
        why = f": {error}"
    given = f"{type(x).__name__} {x!r:.60}"
    if hasattr(x, "__iter__") and not isinstance(x, (list, tuple)):
        why = _collected(name, x)
    return TypeError(f"{name} takes numbers, arrays and nested lists of them; got {given}{why}")


def _collected(name: str, x: Any) -> str:
    """The way to make arrays of a collection that is no list; of a dict its values."""
    given = argument(source.here()) or "x"
    if not isinstance(x, dict):
        return f". Make a list of it: `jnp.{name}(list({given}))`"
    values = list(x.values())
    if all(_is_array(value) or isinstance(value, (*NUMBERS, np.ndarray)) for value in values):
        if len({np.shape(value) for value in values}) == 1:
            return f". For its values: `jnp.{name}(list({given}.values()))`"
        return f". For an array of each value: `hloom.tree.map(jnp.asarray, {given})`"
    return ". Its keys and values are no numbers"


# ---- with arrays among the elements ----------------------------------------------------------
def _is_array(x: Any) -> bool:
    return isinstance(x, Array) or hasattr(x, "__hloom_array__") or hasattr(x, "__jax_array__")


def _common_dtype(name: str, elements: Sequence[Any]) -> np.dtype[Any]:
    """What all elements promote to; a lone Python number is weak, as everywhere."""
    config = current.get().config
    pairs: dict[tuple[np.dtype[Any], bool], None] = {}
    for x in elements:
        if x.__class__ in NUMBERS:
            aval = weak_aval(x.__class__, config.enable_x64)
            pairs[aval.dtype, aval.weak_type] = None
        elif _is_array(x):
            aval = as_array(x).aval
            pairs[aval.dtype, aval.weak_type] = None
        elif isinstance(x, (int, float, complex)) and not isinstance(x, np.generic):
            pairs[dtypes.scalar_dtype(type(x), config.enable_x64), not isinstance(x, bool)] = None
        else:
            value = np.asarray(x)
            if not dtypes.is_supported(value.dtype):
                raise _foreign(name, x, value)
            pairs[dtypes.canonicalize(value.dtype, config.enable_x64), False] = None
    if not pairs:
        return dtypes.default_float(config.enable_x64)
    x64 = config.enable_x64 or holds_wide(elements)
    return dtypes.join(tuple(pairs), x64, config.numpy_dtype_promotion)[0]


def _with_values(x: Any) -> Any:
    """The nested lists with NumPy values in place of arrays."""
    if isinstance(x, (list, tuple)):
        return [_with_values(each) for each in x]
    return as_array(x)._value() if _is_array(x) else x


def _joined(name: str, x: Any, dtype: np.dtype[Any]) -> Array:
    """Lists with tracers in them, as concatenations of their elements."""
    if not isinstance(x, (list, tuple)):
        if x.__class__ in NUMBERS:
            return scalar(x, ShapedArray((), dtype))
        element = as_array(x)
        if element.aval.dtype != dtype or element.aval.weak_type:
            element = convert_element_type_p(element, new_dtype=dtype, weak_type=False)
        return element
    if not x:
        return put(np.empty((0,), dtype))
    parts = [_joined(name, each, dtype) for each in x]
    shapes = [part.aval.shape for part in parts]
    if any(shape != shapes[0] for shape in shapes):
        raise _ragged(name, ValueError(
            "setting an array element with a sequence. The elements have the shapes "
            + ", ".join(sorted(set(map(str, shapes))))
        ))  # fmt: skip
    return stack(parts)
