"""Slices at computed places: dynamic_slice, dynamic_update_slice, and functions that use them.

A slice always has its full size: one that would reach over an edge is moved inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import Primitive, is_linear
from hloom.core.support.strict import strict
from hloom.errors import ShapeError
from hloom.ops.common.elementwise import check_same_dtype
from hloom.ops.common.linear import batch_first, constant, move, spread, zeros
from hloom.ops.indexing.dimension_numbers import (
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
    signed_indices,
)
from hloom.ops.indexing.gather import ScatterParameters, windows_at
from hloom.ops.indexing.scatter import scatter_p
from hloom.ops.pointwise.arithmetic import add
from hloom.ops.pointwise.binary import mod
from hloom.ops.pointwise.compare import lt, select_n
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import (
    canonical_axes,
    canonical_axis,
    expand_dims,
    integers,
    reshape,
    squeeze,
)
from hloom.ops.shapes.slicing import concatenate, index_in_dim, joined

Sizes = tuple[int, ...]


def _check_starts(name: str, operand: ShapedArray, starts: Sequence[ShapedArray]) -> None:
    if len(starts) != operand.ndim:  # StableHLO dynamic_slice C2
        raise ShapeError(
            f"{name} of {operand} takes one start index for each axis; got {len(starts)}"
        )
    for start in starts:
        if start.shape or not dtypes.in_domain(start.dtype, "integer"):
            raise ShapeError(f"{name} of {operand} takes starts as 0-d integers; got {start}")


def _clamped(starts: Sequence[Any], sizes: Sizes, shape: Sizes) -> tuple[slice, ...]:
    firsts = [min(max(int(i), 0), n - s) for i, s, n in zip(starts, sizes, shape)]
    return tuple(slice(i, i + s) for i, s in zip(firsts, sizes))


def _index_vectors(size: int, starts: Sequence[Any], axes: Sequence[int | None]) -> Any:
    """One index vector for each example, i32[size, n] or i64."""
    vectors = batch_first(size, starts, axes)
    wide = any(x.aval.dtype.itemsize == 8 or x.aval.dtype == np.uint32 for x in vectors)
    dtype = np.dtype(np.int64) if wide else np.dtype(np.int32)
    columns = [convert_element_type(x, dtype) for x in vectors]
    return joined([spread(x, 1, 1) for x in columns], 1)


# ---- dynamic_slice --------------------------------------------------------------------------
class DynamicSlice(Primitive):
    """(f32[5,3], i32[], i32[]) -- slice_sizes=(2, 3) --> f32[2,3]."""

    def infer(self, operand: ShapedArray, *starts: ShapedArray, slice_sizes: Sizes) -> ShapedArray:
        _check_starts("dynamic_slice", operand, starts)
        if len(slice_sizes) != operand.ndim or any(
            not 0 <= s <= n for s, n in zip(slice_sizes, operand.shape)
        ):  # C2, C4
            raise ShapeError(
                f"dynamic_slice takes a size for each axis, at most that of {operand}; "
                f"got {slice_sizes}"
            )
        return operand.update(shape=slice_sizes)

    def numpy(self, operand: Any, *starts: Any, slice_sizes: Sizes) -> Any:
        return operand[_clamped(starts, slice_sizes, operand.shape)]

    def emit(
        self, block: Any, out: ShapedArray, operand: Any, *starts: Any, slice_sizes: Sizes
    ) -> Any:
        if not starts:
            return operand
        starts = _one_dtype(block, starts, operand.aval.shape)
        names = ", ".join(map(str, (operand, *starts)))
        head = f"stablehlo.dynamic_slice {names}, sizes = {list(slice_sizes)}"
        return block.op(head, (operand, *starts), out)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, slice_sizes: Sizes
    ) -> tuple[Any, Any]:
        out = self(*primals, slice_sizes=slice_sizes)
        return out, self(tangents[0], *primals[1:], slice_sizes=slice_sizes)

    def transpose(self, ct: Any, operand: Any, *starts: Any, slice_sizes: Sizes) -> list[Any]:
        whole = dynamic_update_slice_p(zeros(operand.aval), ct, *starts)
        return [whole, *[None] * len(starts)]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], *, slice_sizes: Sizes
    ) -> tuple[Any, int]:
        operand, *starts = operands
        axis, *start_axes = batch_axes
        if all(a is None for a in start_axes):
            zero = constant(0, starts[0].aval.dtype) if starts else constant(0, np.dtype(np.int32))
            starts.insert(axis, zero)
            sizes = (*slice_sizes[:axis], size, *slice_sizes[axis:])
            return self(operand, *starts, slice_sizes=sizes), axis
        indices = _index_vectors(size, starts, start_axes)
        dims = tuple(range(len(starts)))
        if axis is None:
            numbers = GatherDimensionNumbers(tuple(d + 1 for d in dims), (), dims)
        else:
            operand = move(operand, axis, 0)
            slice_sizes = (1, *slice_sizes)
            later = tuple(d + 1 for d in dims)
            numbers = GatherDimensionNumbers(later, (), later, (0,), (0,))
        return windows_at(operand, indices, numbers, slice_sizes), 0


def _one_dtype(block: Any, starts: Sequence[Any], shape: Sizes) -> list[Any]:
    """Start indices as StableHLO wants them: signed, of one dtype."""
    signed = [signed_indices(block, start, shape) for start in starts]
    if any(x.aval.dtype == np.int64 for x in signed):
        return [block.convert(x, np.dtype(np.int64)) for x in signed]
    return signed


dynamic_slice_p = DynamicSlice("dynamic_slice")


def _starts(
    name: str, operand: Array, indices: Any, allow_negative: bool | Sequence[bool]
) -> list[Any]:
    """Start indices as 0-d arrays; negative ones count from the end where that is allowed."""
    if isinstance(indices, np.ndarray):
        indices = list(indices)
    if isinstance(indices, Array):
        vector = as_array(indices)
        if vector.aval.ndim != 1:
            raise ShapeError(f"{name} takes start_indices as a vector; got {vector.aval}")
        starts = [index_in_dim(vector, i, keepdims=False) for i in range(vector.aval.shape[0])]
    else:
        starts = list(indices)
    if len(starts) != operand.aval.ndim:
        raise ShapeError(
            f"{name} of {operand.aval} takes one start index for each axis; got {len(starts)}"
        )
    allowed = [allow_negative] * len(starts) if isinstance(allow_negative, bool) else allow_negative
    return [
        _from_end(i, n) if a else as_array(i)
        for i, n, a in zip(starts, operand.aval.shape, allowed, strict=True)
    ]


def _from_end(i: Any, size: int) -> Any:
    if isinstance(i, int):
        return as_array(i + size if i < 0 else i)
    start = as_array(i)
    if start.aval.kind != "signed":
        return start
    wide = dtypes.iinfo(start.aval.dtype)
    if size > wide.max:
        start = convert_element_type(start, np.int32)
    zero, length = constant(0, start.aval.dtype), constant(size, start.aval.dtype)
    return select_n(lt(start, zero), start, add(start, length))


@strict
def dynamic_slice(
    operand: Any,
    start_indices: Any,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """A part of the operand, of shape `slice_sizes`, that starts at a computed place.

    Negative starts count from the end; then a slice that would reach over an edge is moved inside.
    Raises ValueError for a size above the operand's, TypeError unless there is one integer start
    for each axis.  Differs from NumPy: the result always has the full size.

    >>> lax.dynamic_slice(jnp.arange(5), (4,), (2,))
    Array([3, 4], dtype=int32)
    """
    operand = as_array(operand)
    starts = _starts("dynamic_slice", operand, start_indices, allow_negative_indices)
    sizes = integers("dynamic_slice", "slice_sizes", slice_sizes)
    return dynamic_slice_p(operand, *starts, slice_sizes=sizes)


@strict
def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """`slice_size` elements along one axis, from a computed place; see `dynamic_slice`.

    >>> lax.dynamic_slice_in_dim(jnp.arange(5), jnp.int32(1), 2)
    Array([1, 2], dtype=int32)
    """
    operand = as_array(operand)
    axis = canonical_axis("dynamic_slice_in_dim", axis, operand.aval.ndim)
    starts: list[Any] = [0] * operand.aval.ndim
    sizes = list(operand.aval.shape)
    starts[axis], sizes[axis] = start_index, slice_size
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allow_negative_indices)


@strict
def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """The element at a computed place of one axis; with `keepdims` that axis stays, of size 1.

    Negative places count from the end; one outside gives the nearest element.

    >>> lax.dynamic_index_in_dim(jnp.arange(5), jnp.int32(-1), keepdims=False)
    Array(4, dtype=int32)
    """
    cut = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return cut if keepdims else squeeze(cut, (axis,))


# ---- dynamic_update_slice -------------------------------------------------------------------
class DynamicUpdateSlice(Primitive):
    """(f32[5,3], f32[2,3], i32[], i32[]) --> f32[5,3]."""

    def infer(self, operand: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> ShapedArray:
        check_same_dtype("dynamic_update_slice", (operand, update))
        if update.ndim != operand.ndim or any(
            u > n for u, n in zip(update.shape, operand.shape)
        ):  # StableHLO dynamic_update_slice C3, C6
            raise ShapeError(
                f"dynamic_update_slice takes an update of the operand's rank and at most its size; "
                f"got {update} for {operand}"
            )
        _check_starts("dynamic_update_slice", operand, starts)
        return operand if operand.weak_type == update.weak_type else operand.strong()

    def numpy(self, operand: Any, update: Any, *starts: Any) -> Any:
        out = np.array(operand)
        out[_clamped(starts, update.shape, operand.shape)] = update
        return out

    def emit(self, block: Any, out: ShapedArray, operand: Any, update: Any, *starts: Any) -> Any:
        if not starts:
            return update
        starts = _one_dtype(block, starts, operand.aval.shape)
        names = ", ".join(map(str, (operand, update, *starts)))
        return block.op(f"stablehlo.dynamic_update_slice {names}", (operand, update, *starts), out)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        pairs = zip(primals[:2], tangents[:2])
        filled = [zeros(p.aval) if t is None else t for p, t in pairs]
        return self(*primals), self(*filled, *primals[2:])

    def transpose(self, ct: Any, operand: Any, update: Any, *starts: Any) -> list[Any]:
        cts: list[Any] = [None] * (2 + len(starts))
        if is_linear(operand):
            cts[0] = self(ct, zeros(update.aval), *starts)
        if is_linear(update):
            cts[1] = dynamic_slice_p(ct, *starts, slice_sizes=update.aval.shape)
        return cts

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any]
    ) -> tuple[Any, int]:
        operand, update, *starts = operands
        operand_axis, update_axis, *start_axes = batch_axes
        operand, update = batch_first(size, (operand, update), (operand_axis, update_axis))
        if all(a is None for a in start_axes):
            zero = constant(0, starts[0].aval.dtype if starts else np.dtype(np.int32))
            return self(operand, update, zero, *starts), 0
        indices = _index_vectors(size, starts, start_axes)
        dims = tuple(range(1, len(starts) + 1))
        numbers = ScatterDimensionNumbers(dims, (), dims, (0,), (0,))
        p = ScatterParameters(numbers, True, True, "clip")
        return scatter_p(operand, indices, update, **p._asdict()), 0


dynamic_update_slice_p = DynamicUpdateSlice("dynamic_update_slice")


@strict
def dynamic_update_slice(
    operand: Any,
    update: Any,
    start_indices: Any,
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """The operand with `update` written over the part that starts at a computed place.

    Starts are read as in `dynamic_slice`.  Raises TypeError for an update of another rank or dtype,
    or larger than the operand.  Differs from NumPy: returns a new array.

    >>> lax.dynamic_update_slice(jnp.zeros(4), jnp.ones(2), (1,))
    Array([0., 1., 1., 0.], dtype=float32)
    """
    operand, update = convert_operands("dynamic_update_slice", (operand, update))
    starts = _starts("dynamic_update_slice", operand, start_indices, allow_negative_indices)
    return dynamic_update_slice_p(operand, update, *starts)


@strict
def dynamic_update_slice_in_dim(
    operand: Any,
    update: Any,
    start_index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """The operand with `update` written over a part of one axis; see `dynamic_update_slice`.

    >>> lax.dynamic_update_slice_in_dim(jnp.zeros(4), jnp.ones(2), jnp.int32(-2), 0)
    Array([0., 0., 1., 1.], dtype=float32)
    """
    operand = as_array(operand)
    axis = canonical_axis("dynamic_update_slice_in_dim", axis, operand.aval.ndim)
    starts: list[Any] = [0] * operand.aval.ndim
    starts[axis] = start_index
    return dynamic_update_slice(
        operand, update, starts, allow_negative_indices=allow_negative_indices
    )


@strict
def dynamic_update_index_in_dim(
    operand: Any,
    update: Any,
    index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """The operand with `update` written at one place of an axis.

    The update has the operand's rank, with size 1 on that axis, or lacks the axis.

    >>> lax.dynamic_update_index_in_dim(jnp.zeros(3), 7.0, jnp.int32(1), 0)
    Array([0., 7., 0.], dtype=float32)
    """
    operand, update = convert_operands("dynamic_update_index_in_dim", (operand, update))
    axis = canonical_axis("dynamic_update_index_in_dim", axis, operand.aval.ndim)
    if update.aval.ndim != operand.aval.ndim:
        shape = update.aval.shape
        if len(shape) + 1 != operand.aval.ndim:
            raise ShapeError(
                f"dynamic_update_index_in_dim takes an update of {operand.aval}'s rank, or one "
                f"axis less; got {update.aval}"
            )
        update = reshape(update, (*shape[:axis], 1, *shape[axis:]))
    return dynamic_update_slice_in_dim(
        operand, update, index, axis, allow_negative_indices=allow_negative_indices
    )


# ---- elements at index vectors ----------------------------------------------------------------
@strict
def index_take(src: Any, idxs: Any, axes: Sequence[int]) -> Any:
    """The elements at these indices along `axes`, whole along the other axes.

    `idxs` holds an array of integers for each of `axes`, all of one shape; the result has that
    shape, then the other axes of `src`.  Indices wrap around: modulo the size, -1 is the last.
    Raises TypeError for other indices, ValueError for axes out of range.  Differs from NumPy's
    indexing, which refuses indices outside and may put the result's axes elsewhere.

    >>> x = jnp.arange(6).reshape(2, 3)
    >>> lax.index_take(x, (jnp.array([0, 1]), jnp.array([2, -1])), (0, 1))
    Array([2, 5], dtype=int32)
    """
    name = "index_take"
    (src,) = convert_operands(name, (src,))
    axes = canonical_axes(name, axes, src.aval.ndim)
    places = [convert_operands(name, (i,))[0] for i in idxs]
    if len(places) != len(axes) or not axes:
        raise ShapeError(
            f"{name} takes an array of indices for each of the axes {axes}, one or more; "
            f"got {len(places)}"
        )
    first = places[0].aval.shape
    if any(p.aval.shape != first or not dtypes.in_domain(p.aval.dtype, "integer") for p in places):
        raise ShapeError(
            f"{name} takes integers of one shape; got {', '.join(str(p.aval) for p in places)}"
        )
    columns = [_wrapped(p, src.aval, axis) for p, axis in zip(places, axes)]
    vectors = concatenate([expand_dims(c, (len(first),)) for c in columns], len(first))
    rest = src.aval.ndim - len(axes)
    numbers = GatherDimensionNumbers(
        tuple(range(len(first), len(first) + rest)), tuple(sorted(axes)), axes
    )
    sizes = tuple(1 if a in axes else n for a, n in enumerate(src.aval.shape))
    return windows_at(src, vectors, numbers, sizes, "promise_in_bounds")


def _wrapped(places: Any, src: ShapedArray, axis: int) -> Any:
    """Indices modulo the size of an axis."""
    size = src.shape[axis]
    if not size:
        raise ShapeError(f"index_take: axis {axis} of {src} has no elements")
    if places.aval.dtype.itemsize < 4:
        places = convert_element_type(places, np.int32)
    return convert_element_type(mod(places, size), np.int32 if size < 2**31 else np.int64)
