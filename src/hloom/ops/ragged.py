"""Ragged products: rows come in groups of any size, and each group has a matrix of its own.

A run is a stretch of consecutive rows that belong together: a group, in one place of the batch.
Runs are cut into tiles of a fixed number of rows, the last tile of a run filled up with zeros.  How
many tiles there are at most is known beforehand, so that no shape depends on a value, and all
products are one batched product of tiles and matrices.  That is rows + groups * tile of work, where
masking the rows of each group in turn takes rows * groups; and nothing of another group's matrix
comes near a row, not even times zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.operands import convert as convert_operands
from hloom.ops.arithmetic import add, div, mul, sub
from hloom.ops.binary import bitwise_and
from hloom.ops.binary import min as min_
from hloom.ops.compare import clamp, lt, ne, select
from hloom.ops.convert import convert_element_type_p
from hloom.ops.cumulative import cumsum
from hloom.ops.dot import (
    Axes,
    DotDimensionNumbers,
    Numbers,
    accumulation_dtype,
    canonical_numbers,
    check_axes,
    dot_general_p,
    free_axes,
)
from hloom.ops.elementwise import accumulator, check_same_dtype
from hloom.ops.gather import GatherDimensionNumbers, ScatterDimensionNumbers, gather, scatter_add
from hloom.ops.linear import broadcast_in_dim, full, transpose
from hloom.ops.precision import canonical_precision, check_algorithm
from hloom.ops.searching import searchsorted, taken
from hloom.ops.shape import broadcasted_iota, integers, iota, reshape
from hloom.ops.slicing import pad, slice_in_dim

INT32 = np.dtype(np.int32)

# Copying an element of a matrix takes as long as so many multiplications with it.
COPY = 40


def _convert(x: Any, dtype: np.dtype[Any]) -> Any:
    """To a dtype that may be a 64-bit one while those are off."""
    if x.aval.dtype == dtype:
        return x
    return convert_element_type_p(x, new_dtype=dtype, weak_type=False)


# ---- runs and tiles -----------------------------------------------------------------------------
class Runs(NamedTuple):
    """i32[d] each: where runs start (not decreasing), their sizes, and their matrices."""

    starts: Any
    sizes: Any
    matrices: Any


def _runs(sizes: Any, rows: int, first: Any, count: int, places: Any, step: int) -> Runs:
    """The runs of i[s,g]: s stretches of `rows` rows, each of which starts with g groups.

    Group j of stretch i has matrix j - first, if there is one (they are `count`), and else its
    rows belong nowhere.  That matrix stands at `places[i] + (j - first) * step`.
    """
    stretches, groups = sizes.aval.shape
    # A negative size counts as none, and groups end where the rows do.
    top = min(rows, int(dtypes.iinfo(sizes.aval.dtype).max))
    wide = INT32 if groups * top < 2**31 else np.dtype(np.int64)
    ends = _convert(min_(cumsum(_convert(clamp(0, sizes, top), wide), 1), rows), INT32)
    starts = slice_in_dim(pad(ends, np.int32(0), ((0, 0, 0), (1, 0, 0))), 0, groups, axis=1)
    shape = (stretches, groups)
    group = sub(broadcasted_iota(INT32, shape, 1), first)
    has_matrix = bitwise_and(lt(-1, group), lt(group, count))
    held = select(has_matrix, sub(ends, starts), full(shape, 0, INT32))
    starts = add(starts, mul(broadcasted_iota(INT32, shape, 0), rows))
    matrices = add(mul(group, step), broadcast_in_dim(as_array(places), shape, (0,)))
    return Runs(*[reshape(x, (stretches * groups,)) for x in (starts, held, matrices)])


class Tiles(NamedTuple):
    """`rows` i32[v,t] are the rows of each tile, `matrices` i32[v] what they go with; `places`
    i32[r] is where each row stands in all tiles.  One past the end, or more, stands for none."""

    rows: Any
    matrices: Any
    places: Any


def _tile_size(rows: int, runs: int, inner: int) -> tuple[int, int]:
    """The number of rows in a tile, and of tiles, that cost the least."""

    def count(size: int) -> int:
        return (rows + min(runs, rows) * (size - 1)) // size

    sizes = [2**i for i in range(max(rows - 1, 1).bit_length() + 1)]
    best = min(sizes, key=lambda size: count(size) * (size * inner + COPY))
    return best, count(best)


def _tiles(runs: Runs, rows: int, count: int, inner: int) -> Tiles:
    """The tiles of runs that lie among so many rows and go with `count` matrices."""
    (number,) = runs.sizes.aval.shape
    size, tiles = _tile_size(rows, number, inner)
    ends = cumsum(div(add(runs.sizes, size - 1), size))
    firsts = sub(ends, div(add(runs.sizes, size - 1), size))
    tile = iota(INT32, tiles)
    run = searchsorted(ends, tile, "right")  # beyond the last run for tiles that nobody needs
    within = mul(sub(tile, taken(firsts, run)), size)
    shape = (tiles, size)
    offset = add(broadcast_in_dim(within, shape, (0,)), broadcasted_iota(INT32, shape, 1))
    is_row = lt(offset, broadcast_in_dim(taken(runs.sizes, run), shape, (0,)))
    start = broadcast_in_dim(taken(runs.starts, run), shape, (0,))
    held = select(is_row, add(start, offset), full(shape, rows, INT32))
    matrices = select(lt(run, number), taken(runs.matrices, run), full((tiles,), count, INT32))

    row = iota(INT32, rows)
    run = sub(searchsorted(runs.starts, row, "right"), 1)
    offset = sub(row, taken(runs.starts, run))
    place = add(mul(taken(firsts, run), size), offset)
    is_held = lt(offset, taken(runs.sizes, run))
    return Tiles(held, matrices, select(is_held, place, full((rows,), tiles * size, INT32)))


def _take(x: Any, places: Any, mode: str = "fill") -> Any:
    """`x[places]` along the first axis; zeros for places outside."""
    ndim = places.aval.ndim
    numbers = GatherDimensionNumbers(tuple(range(ndim, ndim + x.aval.ndim - 1)), (0,), (0,))
    index = reshape(places, (*places.aval.shape, 1))
    return gather(x, index, numbers, (1, *x.aval.shape[1:]), mode=mode, fill_value=0)


def _by_run(rows: Any, matrices: Any, runs: Runs, **params: Any) -> Any:
    """f[r,b,i,k], f[e,b,k,n] --> f[r,b,i,n]: each row times the matrix of its run, or zeros."""
    count, _, _, columns = matrices.aval.shape
    r, b, i, _ = rows.aval.shape
    tiles = _tiles(runs, r, count, i)
    numbers = ((4,), (2,)), ((0, 2), (0, 1))
    out = dot_general_p(
        _take(rows, tiles.rows), _take(matrices, tiles.matrices, "clip"),
        dimension_numbers=numbers, **params,
    )  # fmt: skip
    v, size = tiles.rows.aval.shape
    together = reshape(transpose(out, (0, 2, 1, 3, 4)), (v * size, b, i, columns))
    return _take(together, tiles.places)


def _per_run(lhs: Any, rhs: Any, runs: Runs, count: int, **params: Any) -> Any:
    """f[r,b,c,m], f[r,b,c,n] --> f[count,b,m,n]: the product of the two over the rows of runs."""
    r, _, c, _ = lhs.aval.shape
    tiles = _tiles(runs, r, count, c)
    dtype = params.pop("preferred_element_type")
    wide = accumulator(dtype)  # in which the products of a run's tiles are added
    parts = dot_general_p(
        _take(lhs, tiles.rows), _take(rhs, tiles.rows), preferred_element_type=wide,
        dimension_numbers=(((1, 3), (1, 3)), ((0, 2), (0, 2))), **params,
    )  # fmt: skip
    nothing = full((count, *parts.aval.shape[1:]), 0, wide)
    numbers = ScatterDimensionNumbers(tuple(range(1, parts.aval.ndim)), (0,), (0,))
    index = reshape(tiles.matrices, (tiles.matrices.aval.size, 1))
    return _convert(scatter_add(nothing, index, parts, numbers), dtype)


# ---- as users write it ------------------------------------------------------------------------
@dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """Which axes a ragged product contracts, batches, cuts into groups, and has groups along.

    `dot_dimension_numbers` are those of `dot_general`; `lhs_ragged_dimensions` holds the one axis
    of lhs that comes in groups, `rhs_group_dimensions` the axis of rhs with a matrix for each
    group, or nothing.

    >>> lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0]).lhs_ragged_dimensions
    (0,)
    """

    dot_dimension_numbers: DotDimensionNumbers
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]

    def __post_init__(self) -> None:
        name = "RaggedDotDimensionNumbers"
        numbers = canonical_numbers(name, self.dot_dimension_numbers)
        object.__setattr__(self, "dot_dimension_numbers", numbers)
        for field in ("lhs_ragged_dimensions", "rhs_group_dimensions"):
            object.__setattr__(self, field, integers(name, field, getattr(self, field)))


class _Layout(NamedTuple):
    """The axes of lhs and rhs by their part in the product.  `outer` and `inner` stand before and
    behind the ragged axis of lhs, among those of its kind: free, contracted or batch."""

    numbers: Numbers
    ragged: int
    outer: Axes
    inner: Axes
    group: Axes

    @property
    def is_contracting(self) -> bool:
        return self.ragged in self.numbers[0][0]

    @property
    def is_batch(self) -> bool:
        return self.ragged in self.numbers[1][0]


def _layout(name: str, lhs: ShapedArray, rhs: ShapedArray, numbers: Any) -> _Layout:
    """The axes of the product; raises for those that don't go together."""
    if not isinstance(numbers, RaggedDotDimensionNumbers):
        raise TypeError(f"{name} takes lax.RaggedDotDimensionNumbers(...); got {numbers!r:.80}")
    text = f"{name} of {lhs} and {rhs}"
    pairs: Any = numbers.dot_dimension_numbers
    check_axes(text, lhs, rhs, pairs)
    (contract, _), (batch, _) = pairs
    rows, group = tuple(numbers.lhs_ragged_dimensions), tuple(numbers.rhs_group_dimensions)
    if len(rows) != 1 or not 0 <= rows[0] < lhs.ndim:
        raise ValueError(
            f"{text}: lhs_ragged_dimensions holds one axis of lhs, from 0 to {lhs.ndim - 1}; "
            f"got {rows}"
        )
    kinds = {
        "contracted": contract, "batch": batch, "free": free_axes(lhs.ndim, contract, batch),
    }  # fmt: skip
    kind, kin = next(item for item in kinds.items() if rows[0] in item[1])
    _check_group_axis(text, rhs, pairs, rows[0], kind, group)
    at = kin.index(rows[0])
    return _Layout(pairs, rows[0], kin[:at], kin[at + 1 :], group)


def _check_group_axis(
    text: str, rhs: ShapedArray, pairs: Numbers, row: int, kind: str, group: Axes
) -> None:
    if len(group) != (kind == "free"):
        raise ValueError(
            f"{text}: where the ragged axis is a {kind} one, as axis {row} of lhs is, "
            f"rhs_group_dimensions holds {'one axis' if kind == 'free' else 'none'}; got {group}"
        )
    busy = pairs[0][1] + pairs[1][1]
    if any(not 0 <= a < rhs.ndim or a in busy for a in group):
        raise ValueError(
            f"{text}: rhs_group_dimensions holds an axis of rhs, from 0 to {rhs.ndim - 1}, that is "
            f"neither contracted nor a batch axis; got {group}"
        )


def _check_sizes(name: str, lhs: ShapedArray, sizes: ShapedArray, layout: _Layout) -> None:
    if not dtypes.in_domain(sizes.dtype, "integer"):
        raise TypeError(f"{name} takes group_sizes that are integers; got {sizes}")
    axes = layout.outer if layout.is_batch else layout.numbers[1][0] + layout.outer
    leading = tuple(lhs.shape[a] for a in axes)
    if sizes.ndim != 1 and (not sizes.ndim or sizes.shape[:-1] != leading):
        raise TypeError(
            f"{name} of lhs {lhs} takes group_sizes of shape (groups,) or "
            f"{(*leading, 'groups')}: a size for each place outside the ragged axis "
            f"{layout.ragged}; got {sizes}"
        )


def _check_groups(name: str, rhs: ShapedArray, groups: int, layout: _Layout, offset: Any) -> Any:
    """The group to start from; raises unless there is a matrix for each group."""
    if offset is None:
        axis = layout.group[0] if layout.group else None
        if axis is not None and rhs.shape[axis] != groups:
            raise TypeError(
                f"{name} takes a matrix for each group: {groups} are in group_sizes, but axis "
                f"{axis} of rhs {rhs} has size {rhs.shape[axis]}"
            )
        return 0
    (offset,) = convert_operands(name, (offset,))
    if not dtypes.in_domain(offset.aval.dtype, "integer") or offset.aval.size != 1:
        raise TypeError(f"{name} takes group_offset as an integer of shape (1,); got {offset.aval}")
    if not layout.group:
        raise ValueError(
            f"{name} takes a group_offset only where rhs has groups, in rhs_group_dimensions; "
            "leave out the first of group_sizes, and their rows, instead"
        )
    return reshape(_convert(offset, INT32), ())


def _shape(x: Any, axes: Sequence[int]) -> Axes:
    return tuple(x.aval.shape[a] for a in axes)


def _size(x: Any, axes: Sequence[int]) -> int:
    return prod(_shape(x, axes))


def _arranged(x: Any, *parts: Sequence[int]) -> Any:
    """Transposed and reshaped so that the axes of each part are one axis."""
    moved = transpose(x, tuple(a for part in parts for a in part))
    return reshape(moved, tuple(_size(x, part) for part in parts))


def _free_mode(lhs: Any, rhs: Any, sizes: Any, layout: _Layout, first: Any, params: Any) -> Any:
    """The ragged axis is a free one of lhs: each row times the matrix of its group."""
    (contract, rhs_contract), (batch, rhs_batch) = layout.numbers
    columns = free_axes(rhs.aval.ndim, rhs_contract + layout.group, rhs_batch)
    row, outer, inner = (layout.ragged,), layout.outer, layout.inner
    rows, count = lhs.aval.shape[layout.ragged], rhs.aval.shape[layout.group[0]]
    if sizes.aval.ndim == 1:  # the same groups everywhere: what is outside goes along
        x = _arranged(lhs, row, batch, outer + inner, contract)
        matrices = _arranged(rhs, layout.group, rhs_batch, rhs_contract, columns)
        table = reshape(sizes, (1, sizes.aval.size))
        runs = _runs(table, rows, first, count, np.zeros(1, np.int32), 1)
        order = (*row, *batch, *outer, *inner)
    else:  # other groups in each place: the rows of all places one after the other
        x = _arranged(lhs, batch + outer + row, (), inner, contract)
        matrices = _arranged(rhs, rhs_batch + layout.group, (), rhs_contract, columns)
        places = np.repeat(np.arange(_size(lhs, batch)) * count, _size(lhs, outer))
        table = reshape(sizes, (len(places), sizes.aval.shape[-1]))
        runs = _runs(table, rows, first, count, places.astype(np.int32), 1)
        order = (*batch, *outer, *row, *inner)
    out = reshape(_by_run(x, matrices, runs, **params), _shape(lhs, order) + _shape(rhs, columns))
    wanted = batch + free_axes(lhs.aval.ndim, contract, batch)
    moved = tuple(order.index(a) for a in wanted)
    return transpose(out, moved + tuple(range(len(order), out.aval.ndim)))


def _contracting_mode(lhs: Any, rhs: Any, sizes: Any, layout: _Layout, params: Any) -> Any:
    """The ragged axis is contracted: a product for each group, over its part of the axis."""
    (contract, rhs_contract), (batch, rhs_batch) = layout.numbers
    row, outer, inner = (layout.ragged,), layout.outer, layout.inner
    free = free_axes(lhs.aval.ndim, contract, batch)
    columns = free_axes(rhs.aval.ndim, rhs_contract, rhs_batch)
    rows, groups = lhs.aval.shape[layout.ragged], sizes.aval.shape[-1]
    there = dict(zip(contract, rhs_contract))

    def across(axes: Axes) -> Axes:
        return tuple(there[a] for a in axes)

    if sizes.aval.ndim == 1:
        x = _arranged(lhs, row, batch, outer + inner, free)
        y = _arranged(rhs, across(row), rhs_batch, across(outer + inner), columns)
        table = reshape(sizes, (1, groups))
        runs = _runs(table, rows, 0, groups, np.zeros(1, np.int32), 1)
        count = groups
    else:
        x = _arranged(lhs, batch + outer + row, (), inner, free)
        y = _arranged(rhs, rhs_batch + across(outer + row), (), across(inner), columns)
        parts = _size(lhs, batch)
        places = np.repeat(np.arange(parts), _size(lhs, outer))
        table = reshape(sizes, (len(places), groups))
        runs = _runs(table, rows, 0, groups, places.astype(np.int32), parts)
        count = groups * parts
    out = _per_run(x, y, runs, count, **params)
    return reshape(out, (groups, *_shape(lhs, batch + free), *_shape(rhs, columns)))


def _result_shape(lhs: Any, rhs: Any, groups: int, layout: _Layout) -> Axes:
    (contract, rhs_contract), (batch, rhs_batch) = layout.numbers
    free = free_axes(lhs.aval.ndim, contract, batch)
    columns = free_axes(rhs.aval.ndim, rhs_contract + layout.group, rhs_batch)
    leading = (groups,) if layout.is_contracting else ()
    return (*leading, *_shape(lhs, batch + free), *_shape(rhs, columns))


def _ragged(
    name: str, lhs: Any, rhs: Any, group_sizes: Any, numbers: Any, precision: Any, preferred: Any,
    group_offset: Any,
) -> Any:  # fmt: skip
    """`ragged_dot_general` for a function of this name."""
    lhs, rhs = convert_operands(name, (lhs, rhs))
    (sizes,) = convert_operands(name, (group_sizes,))
    check_same_dtype(name, (lhs.aval, rhs.aval))
    layout = _layout(name, lhs.aval, rhs.aval, numbers)
    _check_sizes(name, lhs.aval, sizes.aval, layout)
    groups = sizes.aval.shape[-1]
    first = _check_groups(name, rhs.aval, groups, layout, group_offset)
    dtype = accumulation_dtype(name, lhs.aval.dtype, preferred)
    algorithm = canonical_precision(precision)
    check_algorithm(name, algorithm, lhs.aval, rhs.aval)
    params = {} if algorithm is None else {"precision": algorithm}
    if layout.is_batch:  # every product is there whatever its group is
        return dot_general_p(
            lhs, rhs, dimension_numbers=layout.numbers, preferred_element_type=dtype, **params
        )
    shape = _result_shape(lhs, rhs, groups, layout)
    if not (lhs.aval.size and rhs.aval.size and groups and prod(shape)):
        return full(shape, 0, dtype)
    if dtypes.kind(lhs.aval.dtype) == "bool":  # counted, since or is no sum
        lhs, rhs = _convert(lhs, INT32), _convert(rhs, INT32)
    inner = INT32 if dtypes.kind(dtype) == "bool" else dtype
    params["preferred_element_type"] = inner
    if layout.is_contracting:
        out = _contracting_mode(lhs, rhs, sizes, layout, params)
    else:
        out = _free_mode(lhs, rhs, sizes, layout, first, params)
    return ne(out, 0) if inner != dtype else out


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
) -> Any:
    """The products of `dot_general` where one axis of lhs comes in consecutive groups.

    `group_sizes` are integers: how long each group is, `(groups,)` or with the leading axes below.
    What the ragged axis is, decides; b are batch axes, x those outside the ragged one:

    - a free axis m: `[b,x,m,k], [g,b,k,n], [b,x,g] -> [b,x,m,n]`, a matrix of rhs for each group,
      and zeros for rows behind the last group;
    - a contracted axis k: `[b,m,x,k], [b,x,k,n], [b,x,g] -> [g,b,m,n]`, a product for each group;
    - a batch axis: `[b,m,k], [b,k,n], [x,g] -> [b,m,n]`, what `dot_general` gives.

    Groups end where the axis does, and a negative size counts as 0.  With `group_offset`, an
    integer of shape (1,), rhs holds the matrices of the groups from there on, as many as it has,
    and rows of other groups give zeros.  Raises TypeError or ValueError where axes, sizes or
    dtypes don't go together.  Differs from masking: a NaN stays in its own group.

    >>> numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
    >>> x, y = jnp.arange(3.0).reshape(3, 1), jnp.ones((3, 1))
    >>> lax.ragged_dot_general(x, y, jnp.array([2, 1]), numbers).ravel()
    Array([1., 2.], dtype=float32)
    """
    return _ragged(
        "ragged_dot_general", lhs, rhs, group_sizes, ragged_dot_dimension_numbers, precision,
        preferred_element_type, group_offset,
    )  # fmt: skip


_PLAIN = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
) -> Any:
    """The rows of a matrix, `f[m,k]`, each times the matrix of its group, `f[g,k,n]`: `f[m,n]`.

    `group_sizes`, integers of shape `(g,)`, says how many rows belong to each group, from the
    first row on; rows behind the last group give zeros.  Groups end where the rows do, and a
    negative size counts as 0.  `group_offset`, `precision` and errors are those of
    `ragged_dot_general`.

    >>> scales = jnp.array([1.0, 10.0]).reshape(2, 1, 1)
    >>> lax.ragged_dot(jnp.ones((4, 1)), scales, jnp.array([1, 2])).ravel()
    Array([ 1., 10., 10.,  0.], dtype=float32)
    """
    lhs, rhs = convert_operands("ragged_dot", (lhs, rhs))
    if lhs.aval.ndim != 2 or rhs.aval.ndim != 3:
        raise TypeError(
            f"ragged_dot takes rows [m,k] and matrices [g,k,n]; got {lhs.aval} and {rhs.aval}. "
            "For other axes use lax.ragged_dot_general."
        )
    return _ragged(
        "ragged_dot", lhs, rhs, group_sizes, _PLAIN, precision, preferred_element_type,
        group_offset,
    )  # fmt: skip
