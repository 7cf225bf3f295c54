"""Gather, and scatter_add: reading windows at computed places, and adding into them.

The two are one another's transposes, which is why they share a file.  The other scatters are in
`scatter`.  Windows are described by dimension numbers, as in StableHLO:

    f32[5,3], i32[2,1] -- offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,),
                          slice_sizes=(1, 3) --> f32[2,3]          (rows: x[i] for i in indices)

The last axis of the indices holds the index vectors; `start_index_map` says which operand axis each
of their elements is for.  A window has the operand's rank; its axes in `collapsed_slice_dims` are
dropped and the others become the axes `offset_dims` of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import Primitive, is_linear
from hloom.core.support.strict import strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.elementwise import check_domain, check_same_dtype
from hloom.ops.common.linear import (
    batch_first,
    broadcast_to,
    constant,
    full,
    move,
    sum_all,
    zeros,
)
from hloom.ops.indexing.dimension_numbers import (
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
    check_mode,
    check_windows,
    clipped,
    inside,
    mode_name,
    signed_indices,
    starts_of_windows,
    window_axes,
)
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.pointwise.compare import select_n
from hloom.ops.shapes.shape import integers

Axes = tuple[int, ...]


# ---- gather ---------------------------------------------------------------------------------
class GatherParameters(NamedTuple):
    """Which windows a gather reads, and how; the two flags are promises that a compiler may use."""

    dimension_numbers: GatherDimensionNumbers
    slice_sizes: Axes
    indices_are_sorted: bool
    unique_indices: bool
    mode: str


class Gather(Primitive):
    """(f32[5,3], i32[2,1]) -- offset_dims=(1,), .., slice_sizes=(1, 3), mode=clip --> f32[2,3].

    In mode "fill" a third operand, 0-d, is what windows outside are filled with.
    """

    parameters = GatherParameters

    def infer(
        self, operand: ShapedArray, indices: ShapedArray, *fill: ShapedArray, p: GatherParameters
    ) -> ShapedArray:
        text = f"gather from {operand}"
        out_ndim = indices.ndim - 1 + len(p.dimension_numbers.offset_dims)
        check_windows(text, operand, indices, p.dimension_numbers, p.slice_sizes, out_ndim)
        check_mode(text, p.mode)
        check_same_dtype("gather", (operand, *fill))
        if len(fill) != (p.mode == "fill") or any(value.shape for value in fill):
            raise ArgumentError(
                f'{text}: mode "fill" takes one fill_value, 0-d, and the others none; got mode '
                f"{p.mode!r} and {', '.join(map(str, fill)) or 'none'}"
            )
        kept = [p.slice_sizes[a] for a in window_axes(p.dimension_numbers, operand.ndim)]
        sizes, windows = iter(indices.shape), iter(kept)
        offset = p.dimension_numbers.offset_dims
        shape = [next(windows) if i in offset else next(sizes) for i in range(out_ndim)]
        return operand.update(shape=tuple(shape))

    def numpy(self, operand: Any, indices: Any, *fill: Any, p: GatherParameters) -> Any:
        kept = [p.slice_sizes[a] for a in window_axes(p.dimension_numbers, operand.ndim)]
        batch = indices.shape[:-1]
        value = fill[0] if fill else np.zeros((), operand.dtype)
        found = np.full((*batch, *kept), value)
        for place, slices in starts_of_windows(
            operand, indices, p.dimension_numbers, p.slice_sizes, p.mode
        ):
            if slices is not None:
                found[place] = operand[slices].reshape(kept)
        source = range(len(batch), found.ndim)
        return np.moveaxis(found, source, p.dimension_numbers.offset_dims)

    def emit(self, block: Any, out: ShapedArray, *operands: Any, p: GatherParameters) -> Any:
        operand, indices, *fill = operands
        indices = signed_indices(block, indices, operand.aval.shape)
        offset, collapsed, index_map, batching, index_batching = map(list, p.dimension_numbers)
        numbers = (
            f"#stablehlo.gather<offset_dims = {offset}, collapsed_slice_dims = {collapsed}, "
            f"operand_batching_dims = {batching}, start_indices_batching_dims = {index_batching}, "
            f"start_index_map = {index_map}, index_vector_dim = {indices.aval.ndim - 1}>"
        )
        sizes = ", ".join(map(str, p.slice_sizes))
        attributes = (
            f"dimension_numbers = {numbers}, "
            f"slice_sizes = array<i64{': ' * bool(sizes)}{sizes}>, "
            f"indices_are_sorted = {str(p.indices_are_sorted).lower()}"
        )
        # StableHLO moves windows inside: that is "clip", and serves the other modes.
        found = block.op(
            f'"stablehlo.gather"({operand}, {indices}) <{{{attributes}}}>', (operand, indices), out
        )
        if p.mode != "fill" or not index_map:
            return found
        start_map = p.dimension_numbers.start_index_map
        keep = inside(block, indices, operand.aval, start_map, p.slice_sizes)
        axes = [i for i in range(out.ndim) if i not in offset]
        filling = block.broadcast(fill[0], out.shape, ())
        return block.select(block.broadcast(keep, out.shape, axes), found, filling)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], p: GatherParameters
    ) -> tuple[Any, Any]:
        operand, indices, *fill = primals
        out = self(*primals, **p._asdict())
        t = zeros(operand.aval) if tangents[0] is None else tangents[0]
        t_fill = [zeros(x.aval) if t is None else t for x, t in zip(fill, tangents[2:])]
        return out, self(t, indices, *t_fill, **p._asdict())

    def transpose(
        self, ct: Any, operand: Any, indices: Any, *fill: Any, p: GatherParameters
    ) -> list[Any]:
        cts: list[Any] = [None] * (2 + len(fill))
        if is_linear(operand):
            cts[0] = scatter_add_p(zeros(operand.aval), indices, ct, **scatter_of(p)._asdict())
        if fill and is_linear(fill[0]):
            one = constant(1, ct.aval.dtype)
            outside = self(zeros(operand.aval), indices, one, **p._asdict())
            cts[2] = sum_all(mul(ct, outside))
        return cts

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: GatherParameters
    ) -> tuple[Any, int]:
        operand, indices, *fill = operands
        if fill and batch_axes[2] is not None:
            return self._batch_fill(size, operands, batch_axes, p)
        offset, collapsed, index_map, batching, index_batching = p.dimension_numbers
        slice_sizes = p.slice_sizes
        if batch_axes[0] is not None and batch_axes[1] is not None:
            operand, indices = move(operand, batch_axes[0], 0), move(indices, batch_axes[1], 0)
            slice_sizes = (1, *slice_sizes)
            batching, index_batching = (0, *up(batching)), (0, *up(index_batching))
            offset, collapsed, index_map = up(offset), up(collapsed), up(index_map)
        elif batch_axes[0] is not None:
            operand = move(operand, batch_axes[0], 0)
            slice_sizes = (size, *slice_sizes)
            offset, collapsed, index_map = (0, *up(offset)), up(collapsed), up(index_map)
            batching = up(batching)
        else:
            indices = move(indices, batch_axes[1], 0)
            offset, index_batching = up(offset), up(index_batching)
        numbers = GatherDimensionNumbers(offset, collapsed, index_map, batching, index_batching)
        p = p._replace(dimension_numbers=numbers, slice_sizes=slice_sizes)
        return self(operand, indices, *fill, **p._asdict()), 0

    def _batch_fill(
        self, size: int, operands: Sequence[Any], axes: Sequence[Any], p: GatherParameters
    ) -> tuple[Any, int]:
        """A fill value for each example: fill with zero, and choose where a window is outside."""
        operand, indices, fill = operands
        pair = batch_first(size, operands[:2], axes[:2])
        boolean = np.dtype(bool)
        false = constant(False, boolean)
        inner = full(pair[0].aval.shape, True, boolean)
        zero = constant(0, operand.aval.dtype)
        found, _ = self.batch(size, [*pair, zero], (0, 0, None), p=p)
        is_inside, _ = self.batch(size, [inner, pair[1], false], (0, 0, None), p=p)
        filling = broadcast_to(move(fill, axes[2], 0), found.aval.shape, (0,))
        return select_n(is_inside, filling, found), 0


def scatter_of(p: GatherParameters) -> ScatterParameters:
    """The parameters of the scatter into the windows that this gather reads."""
    numbers = ScatterDimensionNumbers(*p.dimension_numbers)
    return ScatterParameters(numbers, p.indices_are_sorted, p.unique_indices, p.mode)


def up(axes: Axes) -> Axes:
    """The axes behind a new leading one."""
    return tuple(a + 1 for a in axes)


gather_p = Gather("gather")


def windows_at(
    x: Any,
    indices: Any,
    numbers: GatherDimensionNumbers,
    slice_sizes: Axes,
    mode: str = "clip",
    *,
    unique: bool = False,
) -> Any:
    """A gather that rules and kernels use: it fills nothing, and the indices need no order."""
    p = GatherParameters(numbers, slice_sizes, False, unique, mode)
    return gather_p(x, indices, **p._asdict())


def default_fill(dtype: np.dtype[Any]) -> Any:
    """The default fill value of `gather`: NaN, the extreme integer, or True."""
    match dtypes.kind(dtype):
        case "bool":
            return True
        case "signed":
            return int(dtypes.iinfo(dtype).min)
        case "unsigned":
            return int(dtypes.iinfo(dtype).max)
        case _:
            return float("nan")


@strict
def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """Windows of the operand, of shape `slice_sizes`, that start at computed places.

    `start_indices` are integers; their last axis holds the index vectors.  `mode` is "fill" (the
    default: a window not inside the operand is all `fill_value`, by default NaN, the smallest
    signed or largest unsigned integer, or True), "clip" (it is moved inside) or
    "promise_in_bounds".  Raises ValueError or TypeError for dimension numbers that don't fit.
    Differs from NumPy, which has no such function; `hloom.numpy` indexes with it.

    >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    >>> lax.gather(jnp.arange(6).reshape(3, 2), jnp.array([[2], [0]]), rows, (1, 2))
    Array([[4, 5],
           [0, 1]], dtype=int32)
    """
    operand, indices = as_array(operand), as_array(start_indices)
    mode = mode_name(mode)
    fill = []
    if mode == "fill":
        value = default_fill(operand.aval.dtype) if fill_value is None else fill_value
        if isinstance(value, (bool, int, float)):
            fill = [constant(value, operand.aval.dtype)]
        else:
            fill = convert_operands("gather", (operand, value))[1:]
    return gather_p(
        operand, indices, *fill,
        dimension_numbers=GatherDimensionNumbers(*map(_axes, dimension_numbers)),
        slice_sizes=integers("gather", "slice_sizes", slice_sizes),
        indices_are_sorted=bool(indices_are_sorted), unique_indices=bool(unique_indices), mode=mode,
    )  # fmt: skip


def _axes(axes: Any) -> Axes:
    return integers("gather or scatter", "dimension numbers", axes)


# ---- scatter --------------------------------------------------------------------------------
class ScatterParameters(NamedTuple):
    """Which windows a scatter writes; the two flags are promises that a compiler may use."""

    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool
    unique_indices: bool
    mode: str


class ScatterLike(Primitive):
    """The family of scatters: `combine(old, update)` is written at each place.

    (f32[5,3], i32[2,1], f32[2,3]) -- update_window_dims=(1,), .. --> f32[5,3].  Index vectors are
    taken in order: of several updates of one element the last is combined last.
    """

    parameters: Any = ScatterParameters

    def __init__(
        self,
        name: str,
        combine: Callable[..., Any],
        numpy: Callable[..., Any],
        domain: str = "any",
    ):
        super().__init__(name)
        self.domain = domain
        self.combine = combine
        self.function = numpy

    def infer(
        self, operand: ShapedArray, indices: ShapedArray, updates: ShapedArray, p: ScatterParameters
    ) -> ShapedArray:
        return self.result(operand, indices, updates, p)

    def result(
        self, operand: ShapedArray, indices: ShapedArray, updates: ShapedArray, p: Any
    ) -> ShapedArray:
        """The type of the result, after the checks that all scatters share."""
        text = f"{self.name} into {operand}"
        check_mode(text, p.mode)
        check_same_dtype(self.name, (operand, updates))
        check_domain(self.name, (operand, updates), self.domain)
        windows = p.dimension_numbers.update_window_dims
        if updates.ndim != indices.ndim - 1 + len(windows):  # StableHLO scatter C4
            raise ShapeError(
                f"{text}: updates {updates} need {len(windows)} window axes and an axis for each "
                f"axis of the indices {indices} but the last"
            )
        sizes = window_sizes(operand, updates, p.dimension_numbers)
        check_windows(text, operand, indices, p.dimension_numbers.as_gather(), sizes, updates.ndim)
        batch = tuple(n for i, n in enumerate(updates.shape) if i not in windows)
        if batch != indices.shape[:-1]:  # C4
            raise ShapeError(
                f"{text}: updates {updates} without their window axes {windows} must have the "
                f"shape of the indices {indices} without the last axis"
            )
        return operand if updates.weak_type else operand.strong()

    def numpy(self, operand: Any, indices: Any, updates: Any, p: Any) -> Any:
        return scatter_by_numpy(self.function, operand, indices, updates, p)

    def emit(self, block: Any, out: ShapedArray, *operands: Any, p: Any) -> Any:
        operand, indices, updates = operands
        sizes = window_sizes(operand.aval, updates.aval, p.dimension_numbers)
        indices = self._indices(block, indices, operand.aval, sizes, p)
        windows, inserted, index_map, batching, index_batching = map(list, p.dimension_numbers)
        numbers = (
            f"#stablehlo.scatter<update_window_dims = {windows}, "
            f"inserted_window_dims = {inserted}, input_batching_dims = {batching}, "
            f"scatter_indices_batching_dims = {index_batching}, "
            f"scatter_dims_to_operand_dims = {index_map}, "
            f"index_vector_dim = {indices.aval.ndim - 1}>"
        )
        # A true hint that indices are sorted makes XLA's CPU scatter 5 times slower.
        attributes = (
            f"scatter_dimension_numbers = {numbers}, indices_are_sorted = false, "
            f"unique_indices = {str(p.unique_indices).lower()}"
        )
        scalar = ShapedArray((), out.dtype)
        region = block.region((scalar, scalar), self.body(p))
        xs = (operand, indices, updates)
        head = f'"stablehlo.scatter"({operand}, {indices}, {updates}) <{{{attributes}}}> {region}'
        return block.op(head, xs, out)

    def body(self, p: Any) -> Callable[..., Any]:
        """Writes the region that combines an element with an update."""
        return lambda inner, old, new: inner.trace(self.combine, old, new)

    def _indices(self, block: Any, indices: Any, operand: ShapedArray, sizes: Axes, p: Any) -> Any:
        """Indices with which StableHLO does what the mode says."""
        index_map = p.dimension_numbers.scatter_dims_to_operand_dims
        indices = signed_indices(block, indices, operand.shape)
        if p.mode == "clip":
            return clipped(block, indices, operand, index_map, sizes)
        if p.mode != "fill" or all(sizes[a] == 1 for a in index_map):
            return indices
        # Of a window that is partly outside XLA drops all, the interpreter only what is outside.
        keep = inside(block, indices, operand, index_map, sizes)
        shape = indices.aval.shape
        beyond = np.array([operand.shape[a] for a in index_map], indices.aval.dtype)
        vector = block.constant(beyond, ShapedArray(beyond.shape, beyond.dtype))
        outside = block.broadcast(vector, shape, [len(shape) - 1])
        return block.select(block.broadcast(keep, shape, range(len(shape) - 1)), indices, outside)

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: Any
    ) -> tuple[Any, int]:
        operand, updates = batch_first(size, operands[::2], batch_axes[::2])
        indices = operands[1]
        windows, inserted, index_map, batching, index_batching = p.dimension_numbers
        if batch_axes[1] is None:
            windows, batching = (0, *up(windows)), up(batching)
        else:
            indices = move(indices, batch_axes[1], 0)
            windows = up(windows)
            batching, index_batching = (0, *up(batching)), (0, *up(index_batching))
        numbers = ScatterDimensionNumbers(
            windows, up(inserted), up(index_map), batching, index_batching
        )
        p = p._replace(dimension_numbers=numbers)
        return self(operand, indices, updates, **p._asdict()), 0


def scatter_by_numpy(
    combine: Callable[..., Any], operand: Any, indices: Any, updates: Any, p: ScatterParameters
) -> Any:
    """What a scatter computes, window by window: the definition."""
    out = np.array(operand)
    windows = p.dimension_numbers.update_window_dims
    sizes = window_sizes(operand, updates, p.dimension_numbers)
    last = range(updates.ndim - len(windows), updates.ndim)
    updates = np.moveaxis(updates, windows, last)
    numbers = p.dimension_numbers.as_gather()
    with np.errstate(all="ignore"):
        for place, slices in starts_of_windows(operand, indices, numbers, sizes, p.mode):
            if slices is not None:
                out[slices] = combine(out[slices], updates[place].reshape(sizes))
    return out


def window_sizes(operand: Any, updates: Any, numbers: ScatterDimensionNumbers) -> Axes:
    """The size of a scattered window on each operand axis."""
    dropped = numbers.inserted_window_dims + numbers.operand_batching_dims
    sizes = iter(updates.shape[i] for i in sorted(numbers.update_window_dims) if i < updates.ndim)
    return tuple(1 if a in dropped else next(sizes, 0) for a in range(operand.ndim))


class ScatterAdd(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- update_window_dims=(1,), .. --> f32[5,3]."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: Any) -> tuple[Any, Any]:
        operand, indices, updates = primals
        t, _, t_updates = tangents
        t = zeros(operand.aval) if t is None else t
        out = self(*primals, **p._asdict())
        return out, t if t_updates is None else self(t, indices, t_updates, **p._asdict())

    def transpose(self, ct: Any, operand: Any, indices: Any, updates: Any, p: Any) -> Any:
        cts: list[Any] = [ct if is_linear(operand) else None, None, None]
        if is_linear(updates):
            cts[2] = gather_windows(ct, indices, updates.aval, p)
        return cts


def gather_windows(x: Any, indices: Any, updates: ShapedArray, p: ScatterParameters) -> Any:
    """The elements of `x` where a scatter writes its updates; zero for what it leaves out."""
    sizes = window_sizes(x.aval, updates, p.dimension_numbers)
    fill = [constant(default_zero(x.aval.dtype), x.aval.dtype)] if p.mode == "fill" else []
    numbers = p.dimension_numbers.as_gather()
    reading = GatherParameters(numbers, sizes, p.indices_are_sorted, p.unique_indices, p.mode)
    return gather_p(x, indices, *fill, **reading._asdict())


def default_zero(dtype: np.dtype[Any]) -> Any:
    """Zero, as a Python value of the dtype's kind."""
    return False if dtype == np.bool_ else 0


def scatter_parameters(
    dimension_numbers: Any, indices_are_sorted: Any, unique_indices: Any, mode: Any
) -> ScatterParameters:
    """The parameters of a scatter as the user wrote them."""
    numbers = ScatterDimensionNumbers(*map(_axes, dimension_numbers))
    return ScatterParameters(
        numbers, bool(indices_are_sorted), bool(unique_indices), mode_name(mode)
    )


def scattered(
    primitive: ScatterLike, operand: Any, indices: Any, updates: Any, p: ScatterParameters
) -> Any:
    """Apply a scatter to what the user passed; a scalar update takes the operand's dtype."""
    operand, updates = convert_operands(primitive.name, (operand, updates))
    return primitive(operand, as_array(indices), updates, **p._asdict())


scatter_add_p = ScatterAdd("scatter_add", add, np.add, "number")


@strict
def scatter_add(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with `updates` added to the windows at computed places.

    All updates of one element are added.  `mode` is "fill" or "drop" (the default: a window not
    inside the operand is left out), "clip" (it is moved inside) or "promise_in_bounds".  Raises
    ValueError or TypeError for dimension numbers that don't fit.  Differs from `numpy.add.at`:
    returns a new array.

    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_add(jnp.zeros(3), jnp.array([[1], [1]]), jnp.array([2.0, 3.0]), numbers)
    Array([0., 5., 0.], dtype=float32)
    """
    p = scatter_parameters(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scattered(scatter_add_p, operand, scatter_indices, updates, p)
