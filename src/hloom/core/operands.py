"""What operations take beside arrays: NumPy values and Python scalars become Arrays here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import index
from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array, HostArray, from_ndarray, host_array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.support import source
from hloom.errors.rewriting import converting
from hloom.errors.texts import explain


class NotAnArray(TypeError):
    """`value` is no array, no NumPy value and no Python scalar."""

    def __init__(self, value: Any):
        super().__init__(f"not an array: {type(value).__name__} {value!r:.80}")
        self.value = value


_RANK = {"bool": 0, "signed": 1, "unsigned": 1, "float": 2, "complex": 3}
_SCALAR_RANK: dict[Any, int] = {bool: 0, int: 1, float: 2, complex: 3}
_VALUES = (Array, np.ndarray, np.generic, *_SCALAR_RANK)
_CONVERSIONS = 16  # objects that give one another in place of an array, until that is an error
_constants: dict[Any, HostArray] = {}  # never handed to users: they could delete the buffer


def scalar(value: bool | int | float | complex, aval: ShapedArray) -> HostArray:
    """A Python scalar as a 0-d array of this aval; raises OverflowError where it does not fit."""
    key = (value.__class__, value, aval)
    found = _constants.get(key)
    if found is not None:
        return found
    try:
        made = host_array(value, aval)
    except OverflowError:
        raise overflow(int(value.real), aval.dtype, alone=True) from None
    # Zeros are not cached (0.0 == -0.0), and NaN would never be found.
    if value and value == value and len(_constants) < 512:
        _constants[key] = made
    return made


@cache
def weak_aval(cls: type, x64: bool) -> ShapedArray:
    """The type of a lone Python scalar of this class."""
    return ShapedArray((), dtypes.scalar_type_of(cls, x64), cls is not bool)


def overflow(
    value: int, dtype: np.dtype[Any], *, before: str = "", after: str = "", alone: bool = False
) -> OverflowError:
    """The error for a Python integer that a dtype does not hold.

    It is the dtype of the array beside it, or that of an integer `alone`.  The text `before` and
    `after` says where that is.
    """
    place, x64 = source.here(), current.get().config.enable_x64
    ways = []
    if weak_aval(int, x64).dtype != dtype and _holds(weak_aval(int, x64).dtype, value):
        ways.append((converting(place, "int"), "a wider dtype"))
    elif not x64 and _holds(np.dtype("int64"), value):
        wide = f"jnp.asarray({value})" if alone else converting(place, "'int64'")
        ways.append((f"with hloom.enable_x64(): {wide}", "64-bit integers"))
    if abs(value) < 1e38:
        code = f"float({value})" if alone else converting(place, "float")
        ways.append((code, "floats, which round"))
    rule = f"{before}Python integer {value!s:.60} out of bounds for {dtype.name}{after}"
    return OverflowError(explain(rule, ways=ways))


def _holds(dtype: np.dtype[Any], value: int) -> bool:
    info = dtypes.iinfo(dtype)
    return int(info.min) <= value <= int(info.max)


def as_array(x: Any) -> Array:
    """One operand as an Array: arrays as they are, the rest by its own type.

    Raises TypeError for what is not an array, a NumPy value or a Python scalar.
    """
    if isinstance(x, Array):
        return x
    x64 = current.get().config.enable_x64
    if x.__class__ in _SCALAR_RANK:
        return scalar(x, weak_aval(x.__class__, x64))
    if isinstance(x, (np.ndarray, np.generic)):
        return from_numpy(unmasked(x), x64)
    scalar_class: Any
    for scalar_class in _SCALAR_RANK:  # subclasses: enum members, IntFlag, ..
        if isinstance(x, scalar_class):
            return scalar(scalar_class(x), weak_aval(scalar_class, x64))
    return as_array(_converted(x))


def _converted(x: Any) -> Any:
    """What `x.__hloom_array__()` gives, or `x.__jax_array__()`; it may be another such object.

    Raises ValueError, as NumPy does, where that does not lead to an array.
    """
    made = x
    for _ in range(_CONVERSIONS):
        convert = getattr(made, "__hloom_array__", None) or getattr(made, "__jax_array__", None)
        if convert is None:
            raise NotAnArray(made)
        made = convert()
        if isinstance(made, _VALUES):
            return made
    raise ValueError(
        f"object __hloom_array__ or __jax_array__ method not producing an array: "
        f"{type(x).__name__} gives {type(made).__name__}, again and again"
    )


def unmasked(x: Any) -> np.ndarray[Any, Any]:
    """What NumPy reads `x` as; raises MaskedArrayError where elements of it are masked."""
    if x.__class__ is not np.ndarray and isinstance(x, np.ndarray):
        mask = getattr(x, "mask", None)
        if isinstance(mask, (np.ndarray, np.bool_)) and mask.any():
            known = dtypes.is_supported(x.dtype)
            what = ShapedArray(x.shape, x.dtype) if known else f"{x.dtype}{list(x.shape)}"
            raise errors.MaskedArrayError.of(what, x.size, int(mask.sum()), at=source.here())
    return np.asarray(x)


def from_numpy(value: np.ndarray[Any, Any], x64: bool) -> Array:
    """A copy of an ndarray on the device, 64-bit types narrowed when x64 is off."""
    dtype = dtypes.canonicalize(dtypes.as_dtype(value.dtype), x64)
    aval = ShapedArray(value.shape, dtype)
    if dtype != value.dtype:
        value = narrow(value, dtype)
    if not value.shape:
        return host_array(value, aval)
    return from_ndarray(value, aval)


def narrow(value: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A 64-bit ndarray in the 32-bit dtype that replaces its own while x64 is off.

    Raises OverflowError for an integer that does not fit; warns of a finite float that becomes inf.
    """
    if value.dtype.kind in "iu":
        made = value.astype(dtype)
        lost = made != value
        if lost.any():
            raise OverflowError(
                f"{value.dtype.name} value {value[lost].flat[0]} does not fit into {dtype.name}, "
                "which replaces it "
                "while 64-bit types are off; turn them on: `with hloom.enable_x64():` or "
                "HLOOM_ENABLE_X64=1"
            )
        return made
    with np.errstate(over="ignore"):
        made = value.astype(dtype)
    if not np.isfinite(made).all():
        lost = np.isfinite(value) & ~np.isfinite(made)
        if lost.any():
            given = value[lost].flat[0]
            source.warn(errors.TruncationWarning.value(given, value.dtype.name, dtype.name))
    return made


def is_abstract(x: Any) -> bool:
    """Whether `x` has a type as it is: by an aval, or a shape and a dtype."""
    return hasattr(x, "aval") or (hasattr(x, "shape") and hasattr(x, "dtype"))


def abstract(x: Any) -> ShapedArray:
    """The type of an array, of a number, or of what has a shape and a dtype."""
    if isinstance(x, ShapedArray):
        return x
    if hasattr(x, "aval"):
        return x.aval  # type: ignore[no-any-return]
    if is_abstract(x):  # without moving an ndarray
        dtype = dtypes.canonicalize(x.dtype, current.get().config.enable_x64)
        shape = tuple(map(index, x.shape))
        return ShapedArray(shape, dtype, bool(getattr(x, "weak_type", False)))
    return as_array(x).aval


def convert(name: str, operands: Sequence[Any]) -> list[Array]:
    """The operands of a strict op as Arrays.

    A Python scalar adopts the dtype of the first array beside it, if that loses no kind.
    """
    anchor = next((x.aval.dtype for x in operands if isinstance(x, Array)), None)
    if anchor is None:
        anchor = next(filter(None, map(_numpy_dtype, operands)), None)
    return [
        x if isinstance(x, Array) else operand(name, i, x, anchor) for i, x in enumerate(operands)
    ]


def operand(name: str, position: int, x: Any, anchor: np.dtype[Any] | None) -> Array:
    """One operand; a Python scalar adopts the dtype `anchor`, if that loses no kind."""
    rank = _SCALAR_RANK.get(x.__class__)
    try:
        if rank is not None and anchor is not None and rank <= _RANK[dtypes.kind(anchor)]:
            return scalar(x, ShapedArray((), anchor, True))
        return as_array(x)
    except TypeError as error:
        raise TypeError(_not_an_operand(name, position, x, error)) from None
    except OverflowError as error:
        before = f"{name}, operand {position}: "
        if x.__class__ is not int:
            raise OverflowError(f"{before}{error}") from None
        beside = anchor if anchor is not None and dtypes.kind(anchor) != "bool" else None
        dtype = beside or weak_aval(int, current.get().config.enable_x64).dtype
        raise overflow(x, dtype, before=before, alone=beside is None) from None


def _not_an_operand(name: str, position: int, x: Any, error: TypeError) -> str:
    way = "Make an array of it with hloom.numpy.asarray(...)."
    if isinstance(x, (np.ndarray, np.generic)):
        way = str(error)  # says what to do with strings, dates and objects
    return (
        f"{name} takes arrays and numbers; operand {position} is the {type(x).__name__} "
        f"{x!r:.80}. {way}"
    )


def _numpy_dtype(x: Any) -> np.dtype[Any] | None:
    """The dtype that a NumPy value will have; None for other values, and for what can't have one.

    The second is an error, which is raised where the value is converted.
    """
    if not isinstance(x, (np.ndarray, np.generic)):
        return None
    try:
        return dtypes.canonicalize(dtypes.as_dtype(x.dtype), current.get().config.enable_x64)
    except TypeError:
        return None
