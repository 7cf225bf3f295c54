"""Reading by index: `x[i]`, for every index NumPy takes.

What an index means is worked out in `hloom.numpy.indexing.index_plans`.  Slices and integers that
are known become `slice`; only traced integers become `dynamic_slice`, only index arrays `gather`.

`x[index]` is always three steps: slices and integers (`basic`), then index arrays (`gather`), then
the axes are put where NumPy puts them.  Updates (`hloom.numpy.indexing.updates`) go the same way
back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.array import Array, from_buffer
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import unmasked
from hloom.core.support.executable import ENGINES, put
from hloom.core.support.frames import hide
from hloom.core.support.tables import Tables
from hloom.numpy.common import eager
from hloom.numpy.common.operands import broadcast_to
from hloom.numpy.common.python_integers import fit
from hloom.numpy.indexing.index_plans import (
    INT32,
    INT64,
    WITHIN,
    Layout,
    Outside,
    check_mask,
    converted,
    parse,
    scalar_masks,
    span,
    wrapped,
)
from hloom.ops.common.linear import constant, transpose
from hloom.ops.indexing.dimension_numbers import GatherDimensionNumbers
from hloom.ops.indexing.dynamic_slicing import dynamic_slice
from hloom.ops.indexing.gather import default_fill, gather
from hloom.ops.pointwise.arithmetic import add
from hloom.ops.pointwise.compare import lt, select_n
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import broadcast_shapes, reshape, rev
from hloom.ops.shapes.slicing import concatenate
from hloom.ops.shapes.slicing import slice as lax_slice

get = current.get


# ---- reading ------------------------------------------------------------------------------------
class Basic(NamedTuple):
    """What the slices and integers of an index do to an axis of the operand."""

    start: Any  # an int, or a traced 0-d integer
    size: int
    step: int
    keep: bool  # an integer drops its axis


def steps(
    shape: tuple[int, ...], layout: Layout, operands: Sequence[Any]
) -> tuple[list[Basic], list[tuple[str, Any]]]:
    """What is done to each axis first, and then the result's items in order.

    An item is ("new", None), ("gap", None), ("axis", axis), ("int", axis), or
    ("array", (axis, operand)).
    """
    given = iter(operands)
    basics: list[Basic] = []
    items: list[tuple[str, Any]] = []
    for entry in layout.entries:
        axis = len(basics)
        match entry:
            case ("new",) | ("gap",):
                items.append((entry[0], None))
                continue
            case ("int", position):
                traced = next(given) if position is None else position
                basics.append(Basic(traced, 1, 1, False))
                items.append(("int", axis))
            case ("span", start, size, step):
                basics.append(Basic(next(given) if start is None else start, size, step, True))
                items.append(("axis", axis))
            case _:
                basics.append(Basic(0, shape[axis], 1, True))
                items.append(("array", (axis, next(given))))
    return basics, items


def read(x: Any, layout: Layout, operands: Sequence[Any], fill_value: Any = None) -> Any:
    """`x[index]`, as a program in lax."""
    basics, items = steps(x.aval.shape, layout, operands)
    x = read_basic(x, basics, layout.checked)
    arrays = [what for kind, what in items if kind == "array"]
    if not arrays:
        shape = [
            1 if kind == "new" else x.aval.shape[axis] for kind, axis in items if kind != "int"
        ]
        return reshape(x, shape)
    kept = [axis for axis, basic in enumerate(basics) if basic.keep]
    x = reshape(x, [x.aval.shape[axis] for axis in kept])
    place = {axis: i for i, axis in enumerate(kept)}
    axes = [place[axis] for axis, _ in arrays]
    indices = broadcast_indices([i for _, i in arrays])
    found = gather_arrays(x, axes, indices, layout, fill_value)
    return arrange(found, items, indices[0].aval.shape)


def read_basic(x: Any, basics: Sequence[Basic], checked: bool) -> Any:
    """Every axis cut to its slice; axes of integers have size 1."""
    cut, rest = cut_traced(x, basics, checked)
    return cut_static(cut, rest)


def cut_traced(x: Any, basics: Sequence[Basic], checked: bool) -> tuple[Any, list[Basic]]:
    """The axes with a traced start cut; what is left to do, all static."""
    if not any(isinstance(b.start, Array) for b in basics):
        return x, list(basics)
    for axis, (b, n) in enumerate(zip(basics, x.aval.shape)):
        if b.size and not n:  # known or traced, there is no such place
            raise IndexError(f"index is out of bounds for axis {axis} with size 0")
    sizes = [b.size if b.step == 1 else n for b, n in zip(basics, x.aval.shape)]
    cut = dynamic_slice(x, starts_of(x, basics, checked), sizes, allow_negative_indices=False)
    return cut, [Basic(0, b.size, 1, b.keep) if b.step == 1 else b for b in basics]


def starts_of(x: Any, basics: Sequence[Basic], checked: bool) -> list[Any]:
    """The start of each axis with step 1; the others stay whole."""
    return [
        wrap_traced(b.start, n, checked) if b.step == 1 else 0 for b, n in zip(basics, x.aval.shape)
    ]


def bounds_of(basics: Sequence[Basic]) -> tuple[list[int], list[int], list[int]]:
    """Lowest position, limit and stride of each static slice, whatever the sign of its step."""
    low = [b.start if b.step > 0 else b.start + (b.size - 1) * b.step for b in basics]
    stride = [abs(b.step) if b.size else 1 for b in basics]
    low = [a if b.size else 0 for a, b in zip(low, basics)]
    limits = [a + (b.size - 1) * s + 1 if b.size else 0 for a, b, s in zip(low, basics, stride)]
    return low, limits, stride


def reversed_axes(basics: Sequence[Basic]) -> list[int]:
    """Axes that are read backwards."""
    return [axis for axis, b in enumerate(basics) if b.step < 0 and b.size > 1]


def cut_static(x: Any, basics: Sequence[Basic]) -> Any:
    """Every axis cut to its static slice."""
    low, limits, stride = bounds_of(basics)
    if low != [0] * len(low) or limits != list(x.aval.shape) or any(s != 1 for s in stride):
        x = lax_slice(x, low, limits, stride)
    backwards = reversed_axes(basics)
    return rev(x, backwards) if backwards else x


def wrap_traced(i: Any, size: int, checked: bool) -> Any:
    """A traced position with negative ones counted from the end."""
    if not isinstance(i, Array) or i.aval.kind == "unsigned":
        return i
    if i.aval.dtype.itemsize * 8 <= 16:  # the size may not fit the index's own dtype
        i = convert_element_type(i, INT32)
    if size > dtypes.iinfo(i.aval.dtype).max:
        i = convert_element_type(i, INT64)
    zero, n = constant(0, i.aval.dtype), constant(size, i.aval.dtype)
    return select_n(lt(i, zero), i, add(i, n))


def broadcast_indices(indices: Sequence[Any]) -> list[Any]:
    """Index arrays of one dtype and shape."""
    shapes = [i.aval.shape for i in indices]
    try:
        shape = broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            + " ".join(map(str, shapes))
        ) from None
    wide = any(i.aval.dtype.itemsize == 8 or i.aval.dtype == np.uint32 for i in indices)
    dtype = INT64 if wide else INT32
    made = [i if i.aval.dtype == dtype else converted(i, dtype) for i in indices]
    return [broadcast_to(i, tuple(shape)) for i in made]


def index_vectors(x: Any, axes: Sequence[int], indices: Sequence[Any], checked: bool) -> Any:
    """Index arrays, one for each axis, as vectors along a new last axis."""
    wrapped = [wrap_traced(i, x.aval.shape[axis], checked) for axis, i in zip(axes, indices)]
    columns = [reshape(i, (*i.aval.shape, 1)) for i in wrapped]
    return columns[0] if len(columns) == 1 else concatenate(columns, columns[0].aval.ndim - 1)


def gather_arrays(
    x: Any, axes: Sequence[int], indices: Sequence[Any], layout: Layout, fill_value: Any
) -> Any:
    """The axes of the index arrays first, then the other axes of `x` in order."""
    batch = indices[0].aval.ndim
    rest = [a for a in range(x.aval.ndim) if a not in axes]
    numbers = GatherDimensionNumbers(
        tuple(range(batch, batch + len(rest))), tuple(sorted(axes)), tuple(axes)
    )
    sizes = [1 if a in axes else n for a, n in enumerate(x.aval.shape)]
    mode = "promise_in_bounds" if layout.checked else layout.mode
    if any(x.aval.shape[a] == 0 for a in axes):
        if indices[0].aval.size and mode != "fill":
            raise IndexError(f"index is out of bounds for axis {axes[0]} with size 0")
        return _empty(x, indices[0].aval.shape, rest, fill_value)
    vectors = index_vectors(x, axes, indices, layout.checked)
    return gather(x, vectors, numbers, sizes, mode=mode, fill_value=fill_value)


def _empty(x: Any, batch: tuple[int, ...], rest: Sequence[int], fill_value: Any) -> Any:
    """What is read from an axis of size 0: the fill value, if anything."""
    shape = (*batch, *[x.aval.shape[a] for a in rest])
    if fill_value is None:
        fill_value = constant(default_fill(x.aval.dtype), x.aval.dtype)
    return broadcast_to(fill_value, shape)


def arrange(found: Any, items: Sequence[tuple[str, Any]], batch: tuple[int, ...]) -> Any:
    """Put the axes of the index arrays where NumPy puts them, and add new axes.

    They take the place of the arrays in the index if these are side by side (integers count as
    arrays), else first.
    """
    order = result_order(items, len(batch))
    if order.first:
        moved = found
    else:
        n, before = len(batch), order.before
        moved = transpose(
            found, [*range(n, n + before), *range(n), *range(n + before, found.aval.ndim)]
        )
    sizes = iter(moved.aval.shape)
    shape = [1 if kind == "new" else next(sizes) for kind in order.axes]
    return reshape(moved, shape)


class Order(NamedTuple):
    """The axes of a result ("batch", "axis", "new"); how many "axis" come before the batch."""

    axes: list[str]
    before: int
    first: bool


def result_order(items: Sequence[tuple[str, Any]], batch: int) -> Order:
    """Where the axes of the index arrays are in the result."""
    advanced = [i for i, (kind, _) in enumerate(items) if kind in ("array", "int")]
    together = advanced == list(range(advanced[0], advanced[-1] + 1))
    others = [(i, kind) for i, (kind, _) in enumerate(items) if kind in ("axis", "new")]
    if not together:
        return Order(["batch"] * batch + [kind for _, kind in others], 0, True)
    before = [kind for i, kind in others if i < advanced[0]]
    after = [kind for i, kind in others if i > advanced[0]]
    return Order([*before, *["batch"] * batch, *after], before.count("axis"), False)


# ---- x[index] -----------------------------------------------------------------------------------
_tables = Tables()
_row_tables = Tables()  # x[i]: keyed by the type alone
_rows_tables = Tables()  # x[i:j]: by the type and the number of rows


class Positions(dict[int, Any]):
    """Buffers of int32 positions, put once, and not too many: many buffers slow all others."""

    CAPACITY = 1024

    def __missing__(self, position: int) -> Any:
        buffer = put(np.array(position, INT32), _POSITION)
        if len(self) < self.CAPACITY:
            self[position] = buffer
        return buffer


_POSITION = ShapedArray((), INT32)
_positions = Positions()


def getitem(x: Any, index: Any) -> Any:
    """`x[index]`."""
    try:
        if x.__class__ is Array:
            key = get().key
            if key is not None and x.aval.shape and x.aval.shape[0] < 2**31:
                if index.__class__ is int:
                    return _row(x, index, key)
                if index.__class__ is slice and index.step is None and x.aval.shape[0]:
                    return _rows(x, index, key)
                if _is_plain_mask(x, index):
                    return _masked(x, index)
        return getitem_mode(x, index, WITHIN, None)
    except Exception as error:
        hide(error)
        raise


getitem.is_public = True  # type: ignore[attr-defined]  # `eager.run` keeps the width


def _row(x: Array, index: int, key: Any) -> Array:
    """`x[i]` for a Python integer: one executable for all i."""
    aval = x.aval
    size = aval.shape[0]
    if not 0 <= index < size:
        index = wrapped(index, 0, size)
    table = _row_tables[key]
    run = table.get(aval)
    if run is None:
        run = _build_rows(table, aval, aval, 1, keep=False)
    return eager.finish(run, [x._buf, _positions[index]], "getitem", (x,))


def _rows(x: Array, index: slice, key: Any) -> Array:
    """`x[i:j]`: one executable for each number of rows."""
    aval = x.aval
    start, count, _ = span(index, aval.shape[0], aval.ndim)
    if count == aval.shape[0]:
        return x
    table = _rows_tables[key]
    run = table.get((aval, count))
    if run is None:
        run = _build_rows(table, (aval, count), aval, count, keep=True)
    return eager.finish(run, [x._buf, _positions[start if count else 0]], "getitem", (x,))


def _build_rows(table: Any, key: Any, aval: ShapedArray, count: int, keep: bool) -> Any:
    def rows(x: Any, start: Any) -> Any:
        first = Basic(start, count, 1, keep)
        cut = read_basic(x, [first, *[Basic(0, n, 1, True) for n in aval.shape[1:]]], True)
        return cut if keep else reshape(cut, aval.shape[1:])

    types = [aval, _POSITION]
    return eager.build(rows, types, "getitem", lambda run: table.store(key, run))


def getitem_mode(x: Any, index: Any, outside: Outside, fill_value: Any) -> Any:
    """`x[index]`, with a mode for positions out of bounds."""
    eagerly = get().key is not None
    shape, index = scalar_masks(x.aval.shape, index)
    if shape != x.aval.shape:
        x = reshape(x, shape)
    layout, operands = parse(x.aval.shape, index, positions_are_operands=eagerly, outside=outside)
    if layout.entries == tuple([("span", 0, n, 1) for n in x.aval.shape]):
        return x
    if fill_value is not None:
        operands = [*operands, fit("getitem", (x, fill_value))[1]]

    def getitem(x: Any, *operands: Any) -> Any:
        if fill_value is None:
            return read(x, layout, operands)
        filling = convert_element_type(operands[-1], x.aval.dtype)
        return read(x, layout, operands[:-1], filling)

    return eager.run(getitem, _tables, "getitem", (x, *operands), (layout, fill_value is None))


def _is_plain_mask(x: Array, index: Any) -> bool:
    """Whether the index is one known mask."""
    if isinstance(index, np.ndarray):
        return index.dtype == np.bool_ and index.ndim > 0
    return index.__class__ is Array and index.aval.dtype == np.bool_ and index.aval.ndim > 0


def _masked(x: Array, mask: Any) -> Array:
    """`x[mask]`: the result's shape depends on values, so the host selects; nothing is compiled."""
    value = unmasked(mask) if isinstance(mask, np.ndarray) else mask._value()
    if value.ndim > x.aval.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.aval.ndim}-dimensional, but {value.ndim} "
            "were indexed"
        )
    check_mask(ShapedArray(value.shape, value.dtype), x.aval.shape, 0)
    found = x._value()[value]
    aval = ShapedArray(found.shape, x.aval.dtype, x.aval.weak_type)
    return from_buffer(ENGINES["xla"].put_owned(found, aval), aval)
