"""What functions along axes have in common: axes, dtypes to compute in, masks, kept axes."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.support.source import here, warn
from hloom.errors import ArgumentError, ShapeError, TruncationWarning
from hloom.numpy.common.arguments import axis_argument
from hloom.numpy.common.operands import array_like, broadcast_to
from hloom.numpy.common.python_integers import check_bounds, fit
from hloom.ops.common.linear import constant
from hloom.ops.pointwise.compare import ne, select_n
from hloom.ops.pointwise.convert import convert_element_type, convert_element_type_p
from hloom.ops.shapes.shape import reshape

Axes = tuple[int, ...]
BOOL = np.dtype(bool)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
INT32 = np.dtype(np.int32)


# ---- axes ---------------------------------------------------------------------------------------
def reduced_axes(name: str, axis: Any, ndim: int) -> Axes:
    """The axes that `axis` means, in order: None all, an integer one, a tuple its elements.

    Raises AxisError when there is none, ValueError for one given twice.  As in NumPy an array
    without axes may be reduced over axis 0 or -1.
    """
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, (tuple, list)):
        found = [axis_argument(name, a, ndim) for a in axis]
        if len(set(found)) != len(found):
            raise ValueError(f"{name}: duplicate value in 'axis': {tuple(axis)}")
        return tuple(sorted(found))
    if not ndim and axis.__class__ is int and axis in (0, -1):
        return ()
    return (axis_argument(name, axis, ndim),)


def keep(x: Any, shape: Axes, axes: Axes, keepdims: bool) -> Any:
    """The result of a reduction of an array of this shape, with axes of size 1 if `keepdims`."""
    if not keepdims:
        return x
    return reshape(x, [1 if a in axes else n for a, n in enumerate(shape)])


def count(shape: Axes, axes: Axes) -> int:
    """How many elements each result is made of."""
    size = 1
    for a in axes:
        size *= shape[a]
    return size


def flat(x: Any) -> Any:
    """The elements along one axis."""
    return x if x.aval.ndim == 1 else reshape(x, (x.aval.size,))


def along(name: str, x: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis to work along: of the flat array if `axis` is None.

    A 0-d array counts as one of one element, as in NumPy.
    """
    if axis is None:
        return flat(x), 0
    if not x.aval.shape:
        x = reshape(x, (1,))
    return x, axis_argument(name, axis, x.aval.ndim)


# ---- dtypes -------------------------------------------------------------------------------------
def kind_of(x: Any) -> str:
    """The kind of an array's dtype."""
    return x.aval.kind


def is_inexact(x: Any) -> bool:
    """Whether an array may hold NaN."""
    return kind_of(x) in ("float", "complex")


def default_int() -> np.dtype[Any]:
    """The dtype of counts and positions: int32, or int64 when 64-bit types are on."""
    return dtypes.default_int(current.get().config.enable_x64)


def total_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a sum: bools and narrow integers are counted in the default integer."""
    x64 = current.get().config.enable_x64
    default = dtypes.default_int(x64)
    match dtypes.kind(dtype):
        case "bool":
            return default
        case "signed" if dtypes.bits(dtype) < dtypes.bits(default):
            return default
        case "unsigned" if dtypes.bits(dtype) < dtypes.bits(default):
            return dtypes.canonicalize(np.dtype(np.uint64), x64)
        case _:
            return dtype


def mean_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a mean: bools and integers become the default float."""
    return dtypes.to_inexact(dtype, current.get().config.enable_x64)


def wide_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype to compute in: float32 for narrower floats."""
    narrow = dtypes.kind(dtype) == "float" and dtypes.bits(dtype) < 32
    return FLOAT32 if narrow else dtype


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the parts of a complex dtype; others as they are."""
    return np.zeros((), dtype).real.dtype if dtypes.kind(dtype) == "complex" else dtype


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """The array in this dtype, not weakly typed; complex to real warns, as in NumPy."""
    return convert_element_type(x, dtype)


def cast_into(values: Any, like: Any) -> Any:
    """Values in the dtype of the array that they are put into or beside; weak if they were."""
    if values.aval.dtype == like.aval.dtype:
        return values
    if not values.aval.weak_type or kind_of(values) == "complex":
        return cast(values, like.aval.dtype)
    return convert_element_type_p(values, new_dtype=like.aval.dtype, weak_type=True)


def check_put(name: str, values: Any, into: ShapedArray) -> None:
    """Warn of floats that are put into an array of integers; not of one number that is whole.

    Raises OverflowError for a Python integer out of its bounds.
    """
    if dtypes.kind(into.dtype) not in ("signed", "unsigned") or values.__class__ is bool:
        return
    if values.__class__ is int:
        check_bounds(name, values, into.dtype)
        return
    if values.__class__ is float and isfinite(values) and values == int(values):
        return
    given = array_like(name, values).aval
    if dtypes.kind(given.dtype) == "float":
        warn(TruncationWarning.cut(name, given, into, at=here()))


def weak_as(made: Any, *operands: Any) -> Any:
    """What was made of the operands, by its bits or in another dtype: weak if all of them are."""
    if made.aval.weak_type or not all(x.aval.weak_type for x in operands):
        return made
    return convert_element_type_p(made, new_dtype=made.aval.dtype, weak_type=True)


def cast_exactly(x: Any, dtype: np.dtype[Any]) -> Any:
    """The same, to a 64-bit dtype even while those are off: inside a program they are there."""
    if x.aval.dtype == dtype and not x.aval.weak_type:
        return x
    return convert_element_type_p(x, new_dtype=dtype, weak_type=False)


# ---- masks --------------------------------------------------------------------------------------
def is_nan(x: Any) -> Any:
    """Where the elements are NaN."""
    return ne(x, x)


def mask_argument(name: str, where: Any, shape: Axes) -> Any:
    """The argument `where`, repeated to this shape; raises TypeError unless it is of bools."""
    mask = array_like(name, where)
    if mask.aval.dtype != BOOL:
        raise ArgumentError(
            f"{name}: `where` must be an array of bools; got {mask.aval}. Compare: x != 0."
        )
    given = mask.aval.shape
    if len(given) > len(shape) or any(a not in (1, b) for a, b in zip(given[::-1], shape[::-1])):
        raise ShapeError(
            f"{name}: `where` of shape {given} could not be broadcast to the operand's shape "
            f"{shape}"
        )
    return broadcast_to(mask, shape)


def masked(x: Any, mask: Any, otherwise: Any) -> Any:
    """The elements where the mask holds, elsewhere one number."""
    return select_n(mask, constant(otherwise, x.aval.dtype), x)


def fit_initial(name: str, a: Any, arguments: dict[str, Any]) -> None:
    """Raise OverflowError for a Python integer `initial` that the dtype of `a` does not hold."""
    if arguments.get("initial").__class__ is int:
        arguments["initial"] = fit(name, (array_like(name, a), arguments["initial"]))[1]


def initial_argument(name: str, initial: Any, x: Any) -> Array:
    """The argument `initial`, a number, in the dtype of `x`."""
    given = array_like(name, initial)
    if given.aval.shape:
        raise ValueError(f"{name}: `initial` must be a number; got {given.aval}")
    if given.aval.kind == "complex" and kind_of(x) != "complex":
        raise ArgumentError(
            f"{name}: `initial` is complex, the result {x.aval} is not; take initial.real"
        )
    made: Array = cast(given, x.aval.dtype)
    return made
