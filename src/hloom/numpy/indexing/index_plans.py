"""What an index means: a *layout*, which is static and selects the program, and *operands*.

Operands are arrays.  Eagerly, integers and the starts of slices are operands too: a loop over
`x[i]` compiles once.  Under a trace they are static.  Reading (`hloom.numpy.indexing.indexing`) and
updating (`hloom.numpy.indexing.updates`) follow the layout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hloom import errors
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import from_numpy, unmasked
from hloom.core.support.known import is_known, known
from hloom.core.trace import Tracer
from hloom.errors import IndexKindError
from hloom.numpy.common.sequences import from_sequence
from hloom.ops.common.linear import constant
from hloom.ops.pointwise.compare import lt, select_n
from hloom.ops.pointwise.convert import convert_element_type_p

get = current.get
INT32 = np.dtype("int32")
INT64 = np.dtype("int64")


_KINDS = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices"
)


class Layout(NamedTuple):
    """The static part of an index.

    `entries`, one for each item of the index, in order:

    - `("new",)`: a new axis;
    - `("gap",)`: none, an ellipsis between index arrays that stands for no axis;
    - `("int", i)`: position i of the axis, or None: the next operand;
    - `("span", start, size, step)`: a slice; start None: the next operand (step is then 1);
    - `("array",)`: the next operand, an integer array.

    `mode` is what happens to positions out of bounds; `checked`: there are none.
    """

    entries: tuple[tuple[Any, ...], ...]
    mode: str
    checked: bool


class Outside(NamedTuple):
    """What is done about positions out of bounds.

    `mode` is for traced ones; known ones raise IndexError, unless the user `named` the mode.
    Negative positions count from the end, unless `wrap` is False: then they are out of bounds.
    """

    mode: str = "clip"
    named: bool = False
    wrap: bool = True


WITHIN = Outside()


# ---- parsing ------------------------------------------------------------------------------------
def parse(
    shape: tuple[int, ...],
    index: Any,
    *,
    positions_are_operands: bool,
    outside: Outside = WITHIN,
) -> tuple[Layout, list[Any]]:
    """The layout of an index into an array of this shape, and its operands, in order.

    Raises IndexError with NumPy's words for what is out of range, TypeError or IndexError for what
    is not an index.
    """
    mode = outside.mode
    items = _expand(shape, index if isinstance(index, tuple) else (index,))
    entries: list[tuple[Any, ...]] = []
    operands: list[Any] = []
    checked, axis = True, 0
    # Index arrays that are broadcast to no elements name no position, whatever is in them.
    none = any(isinstance(x, Array) and not x.aval.size for x in items)
    allowed = outside.named or not outside.wrap or none
    for item in items:
        if item is None or item is Ellipsis:
            entries.append(("new",) if item is None else ("gap",))
            continue
        size = shape[axis]
        if outside.named or not outside.wrap:
            item = _allowed(item, size, outside)
        if isinstance(item, slice):
            start, count, step = span(item, size, len(shape))
            if positions_are_operands and step == 1 and count != size:
                entries.append(("span", None, count, 1))
                operands.append(_position(start, size))
            else:
                entries.append(("span", start, count, step))
        elif isinstance(item, int):
            where = wrapped(item, axis, size)
            if positions_are_operands:
                entries.append(("int", None))
                operands.append(_position(where, size))
            else:
                entries.append(("int", where))
        else:
            checked = _check_bounds(item, axis, size, allowed) and checked
            scalar = not item.aval.shape and mode == "clip"
            if scalar and not size:
                if not none:
                    raise IndexError(f"index is out of bounds for axis {axis} with size 0")
                scalar = False
            entries.append(("int", None) if scalar else ("array",))
            operands.append(item)
        axis += 1
    if ("array",) not in entries:
        entries = [entry for entry in entries if entry != ("gap",)]
    return Layout(tuple(entries), mode, checked), operands


def _expand(shape: tuple[int, ...], items: tuple[Any, ...]) -> list[Any]:
    """The items with the ellipsis written out and masks as integer arrays: one for each axis.

    An ellipsis that stands for no axis stays: it keeps index arrays apart.
    """
    items = tuple([_item(item) for item in items])
    used = sum(
        [0 if x is None or x is Ellipsis else x.aval.ndim if _is_mask(x) else 1 for x in items]
    )
    if used > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {used} were "
            "indexed"
        )
    if sum([x is Ellipsis for x in items]) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    expanded: list[Any] = []
    axis = 0
    rest = [slice(None)] * (len(shape) - used)
    for x in items:
        if x is Ellipsis:
            expanded += rest or [Ellipsis]
            axis += len(rest)
            rest = []
        elif _is_mask(x):
            expanded += _positions_of_mask(x, shape, axis)
            axis += x.aval.ndim
        else:
            expanded.append(x)
            axis += x is not None
    return expanded + rest


def _item(x: Any) -> Any:
    """One item of an index: None, Ellipsis, a slice, an int, or an Array of integers or bools."""
    if x is None or x is Ellipsis or isinstance(x, slice):
        return x
    if isinstance(x, (bool, np.bool_)):
        return from_numpy(np.asarray(x), True)
    if isinstance(x, (int, np.integer)):
        return int(x)
    if isinstance(x, (list, tuple)):
        if not x:
            return from_numpy(np.zeros(0, np.int32), True)
        x = from_sequence("index", x)
    elif isinstance(x, np.ndarray):
        x = unmasked(x)
        if x.dtype.kind not in "biu":
            raise IndexKindError(
                f"arrays used as indices must be of integer (or boolean) type; got {x.dtype}"
            )
        if x.ndim == 0 and x.dtype.kind != "b":
            return int(x)
        x = from_numpy(
            x.astype(np.int64) if x.dtype.kind == "u" and x.dtype.itemsize < 8 else x, True
        )
    elif not isinstance(x, Array):
        if hasattr(x, "__index__"):
            return int(x.__index__())
        raise IndexKindError(f"{_KINDS}; got {type(x).__name__} {x!r:.60}")
    kind = x.aval.kind
    if kind not in ("bool", "signed", "unsigned"):
        raise IndexKindError(
            f"arrays used as indices must be of integer (or boolean) type; got {x.aval}. Convert "
            "it: i.astype(int)."
        )
    if kind != "bool" and not x.aval.shape and not isinstance(x, Tracer) and get().key is not None:
        return int(x)
    return x


def _is_mask(x: Any) -> bool:
    return isinstance(x, Array) and x.aval.dtype == np.bool_


def _positions_of_mask(mask: Array, shape: tuple[int, ...], axis: int) -> list[Any]:
    """A boolean mask as integer arrays, one for each of its axes."""
    check_mask(mask.aval, shape, axis)
    value = known(mask)
    if value is None:
        raise errors.NonConcreteBooleanIndexError.of(mask.traced())  # type: ignore[attr-defined]
    wide = [np.int32 if n < 2**31 else np.int64 for n in value.shape]
    return [from_numpy(i.astype(dtype), True) for i, dtype in zip(value.nonzero(), wide)]


def scalar_masks(shape: tuple[int, ...], index: Any) -> tuple[tuple[int, ...], Any]:
    """The shape and index without 0-d masks: True selects all of a new axis, False none of it."""
    items = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(x, (bool, np.bool_)) or _is_scalar_mask(x) for x in items):
        return shape, index
    used = [_axes_of(x) for x in items]
    made: list[Any] = []
    sizes, axis = list(shape), 0
    for x, n in zip(items, used):
        if isinstance(x, (bool, np.bool_)) or _is_scalar_mask(x):
            sizes.insert(axis, 1)
            made.append(np.zeros(int(bool(x)), np.int32))
            n = 1
        else:
            made.append(x)
        axis += len(shape) - sum(used) if x is Ellipsis else n
    return tuple(sizes), tuple(made)


def _is_scalar_mask(x: Any) -> bool:
    return isinstance(x, (np.ndarray, Array)) and x.dtype == np.bool_ and not x.shape


def _axes_of(x: Any) -> int:
    """How many axes an item of an index takes; the ellipsis counts as none."""
    if x is None or x is Ellipsis or isinstance(x, (bool, np.bool_)):
        return 0
    is_mask = isinstance(x, (np.ndarray, Array)) and x.dtype == np.bool_
    return x.ndim if is_mask else 1


def check_mask(mask: ShapedArray, shape: tuple[int, ...], axis: int) -> None:
    """Raise IndexError unless the mask's shape is that of the axes it stands for, or has a 0."""
    for i, size in enumerate(mask.shape):
        if size not in (0, shape[axis + i]):
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size of axis "
                f"is {shape[axis + i]} "
                f"but size of corresponding boolean axis is {size}"
            )


def span(item: slice, size: int, ndim: int) -> tuple[int, int, int]:
    """Start, count and step of a slice within an axis of this size, one of `ndim`."""
    for name in ("start", "stop", "step"):
        bound = getattr(item, name)
        if not is_known(bound):
            raise errors.TracedSliceError.bound(name, ndim, bound.traced())
    try:
        start, stop, step = item.indices(size)
    except TypeError:
        raise TypeError(
            f"slice indices must be integers or None or have an __index__ method; got {item}"
        ) from None
    return start, len(range(start, stop, step)), step


def wrapped(i: int, axis: int, size: int) -> int:
    """A position counted from the start; raises IndexError where there is none."""
    if not -size <= i < size:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {size}")
    return i % size


def _allowed(item: Any, size: int, outside: Outside) -> Any:
    """An item where positions out of bounds may be asked for: integers out of bounds as arrays."""
    if isinstance(item, int):
        low = -size if outside.wrap else 0
        if low <= item < size or not (outside.named or low == 0 > item):
            return item
        if -(2**31) <= item < 2**31:
            item = from_numpy(np.asarray(item, np.int32), True)
        else:
            item = from_numpy(np.asarray(max(min(item, 2**63 - 1), -(2**63)), np.int64), True)
    if outside.wrap or not isinstance(item, Array) or item.aval.kind == "unsigned":
        return item
    wide = converted(item, INT64 if size >= 2**31 or item.aval.dtype.itemsize == 8 else INT32)
    beyond = 0 if outside.mode == "clip" else size
    here = constant(beyond, wide.aval.dtype)
    return select_n(lt(wide, constant(0, wide.aval.dtype)), wide, here)


def _check_bounds(index: Array, axis: int, size: int, allowed: bool) -> bool:
    """Whether all positions are known to be within bounds.

    Raises IndexError for known ones that are not, unless that is allowed.
    """
    value = known(index)
    if value is None:
        return False
    if value.size:
        low, high = int(value.min()), int(value.max())
        if low < -size or high >= size:
            if allowed:
                return False
            raise IndexError(
                f"index {low if low < -size else high} is out of bounds for axis {axis} with size "
                f"{size}"
            )
    return True


def _position(value: int, size: int) -> Any:
    """A position as an operand: an int32, or an int64 into a huge axis."""
    return from_numpy(np.asarray(value, np.int32 if size < 2**31 else np.int64), True)


def converted(i: Any, dtype: np.dtype[Any]) -> Any:
    """Index arrays in a signed dtype."""
    if i.aval.dtype == np.uint64:  # beyond int64 is beyond any axis
        top = constant(2**63 - 1, i.aval.dtype)
        i = select_n(lt(top, i), i, top)
    return convert_element_type_p(i, new_dtype=dtype, weak_type=False)
