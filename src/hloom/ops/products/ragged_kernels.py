"""Programs for products of rows that come in groups of any size, each with a matrix of its own.

A run is a stretch of consecutive rows that belong together: a group, in one place of the batch.
Runs are cut into tiles of a fixed number of rows, and a loop over the tiles multiplies one by one.
The last tile of a run reaches over its end; what it has there is left out.  That is about
rows + groups * tile / 2 rows of work, where masking the rows of each group in turn takes
rows * groups; and nothing of another group's matrix comes near a row, not even times zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.ops.common.elementwise import accumulator
from hloom.ops.common.linear import broadcast_in_dim, full, transpose
from hloom.ops.indexing.dynamic_slicing import dynamic_slice, dynamic_update_slice
from hloom.ops.order.searching import searchsorted, taken
from hloom.ops.pointwise.arithmetic import add, div, mul, sub
from hloom.ops.pointwise.binary import bitwise_and
from hloom.ops.pointwise.binary import min as min_
from hloom.ops.pointwise.compare import clamp, le, lt, pick
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.products.dot import dot_general_p
from hloom.ops.reductions.cumulative import cumsum
from hloom.ops.shapes.shape import broadcasted_iota, iota, reshape
from hloom.ops.shapes.slicing import index_in_dim, pad, slice_in_dim, stack

INT32 = np.dtype(np.int32)

# A step of the loop costs as much as so many rows of a tile (copying the matrix, mostly).
STEP = 8


class Runs(NamedTuple):
    """i32[d] each: where runs start (not decreasing), their sizes, and their matrices."""

    starts: Any
    sizes: Any
    matrices: Any


def _runs(sizes: Any, first: Any, rows: int, count: int, outer: int) -> Runs:
    """The runs of i[s,g]: s stretches of so many rows, each of which starts with g groups.

    `outer` stretches after one another share `count` matrices.  Group j of stretch i has number
    j - first[i] of those, if there is such a one, and else its rows belong nowhere.
    """
    shape = stretches, groups = sizes.aval.shape
    # A negative size counts as none, and groups end where the rows do.
    top = min(rows, int(dtypes.iinfo(sizes.aval.dtype).max))
    wide = INT32 if groups * top < 2**31 else np.dtype(np.int64)
    held = convert_element_type(clamp(0, sizes, top), wide)
    ends = convert_element_type(min_(cumsum(held, 1), rows), INT32)
    starts = slice_in_dim(pad(ends, np.int32(0), ((0, 0, 0), (1, 0, 0))), 0, groups, axis=1)
    group = sub(broadcasted_iota(INT32, shape, 1), broadcast_in_dim(first, shape, (0,)))
    has_matrix = bitwise_and(lt(-1, group), lt(group, count))
    counts = pick(has_matrix, sub(ends, starts), full(shape, 0, INT32))
    stretch = broadcasted_iota(INT32, shape, 0)
    found = (add(starts, mul(stretch, rows)), counts, add(group, mul(div(stretch, outer), count)))
    return Runs(*[reshape(x, (stretches * groups,)) for x in found])


def tile_size(rows: int, runs: int, inner: int) -> tuple[int, int]:
    """The number of rows in a tile that costs the least, and of tiles that there may be."""
    sizes = [2**i for i in range(rows.bit_length())]
    best = min(sizes, key=lambda size: (rows / size + runs / 2) * (size * inner + STEP))
    return best, (rows + min(runs, rows) * (best - 1)) // best


@cache
def _tiles(rows: int, size: int, tiles: int, outer: int, count: int) -> Callable[..., Any]:
    """i[s,g], i32[s] --> [i32[v,4], i32[]]: tiles in order, and how many there are.

    For each its first row, the part of its rows that is the run's (from, to) and its matrix.
    """

    def plan(sizes: Any, first: Any) -> list[Any]:
        runs = _runs(sizes, first, rows // sizes.aval.shape[0], count, outer)
        ends = cumsum(div(add(runs.sizes, size - 1), size))
        firsts = sub(ends, div(add(runs.sizes, size - 1), size))
        tile = iota(INT32, tiles)
        run = searchsorted(ends, tile, "right")  # one too far for tiles that are not there
        within = mul(sub(tile, taken(firsts, run)), size)
        start = add(taken(runs.starts, run), within)
        moved = min_(start, rows - size)
        low = sub(start, moved)
        high = min_(add(low, sub(taken(runs.sizes, run), within)), size)
        table = stack([moved, low, high, taken(runs.matrices, run)], 1)
        return [table, reshape(slice_in_dim(ends, -1, None), ())]

    return plan


def _part(x: Any, start: Any, size: int) -> Any:
    """So many rows of x."""
    return dynamic_slice(x, (start, *[0] * (x.aval.ndim - 1)), (size, *x.aval.shape[1:]))


def _is_of_run(shape: tuple[int, ...], low: Any, high: Any) -> Any:
    """Which rows of a tile of this shape are from `low` on and before `high`."""
    row = broadcasted_iota(INT32, shape, 0)
    from_low = le(broadcast_in_dim(low, shape, ()), row)
    return bitwise_and(from_low, lt(row, broadcast_in_dim(high, shape, ())))


def _row_of(table: Any, tile: Any) -> list[Any]:
    row = _part(table, tile, 1)
    return [reshape(index_in_dim(row, i, 1), ()) for i in range(4)]


# ---- a step of each loop ------------------------------------------------------------------------
def _times(rows: Any, matrix: Any, side: int, **params: Any) -> Any:
    """f[t,b,i,k], f[1,b,k,n] --> f[t,b,i,n]; the matrix has k at axis `side`, 2 or 3."""
    if rows.aval.shape[1] == 1:  # under a batch axis XLA would turn a transposed matrix round
        matrix = reshape(matrix, matrix.aval.shape[2:])
        return dot_general_p(
            rows, matrix, dimension_numbers=(((3,), (side - 2,)), ((), ())), **params
        )
    matrix = reshape(matrix, matrix.aval.shape[1:])
    numbers = ((3,), (side - 1,)), ((1,), (0,))
    return transpose(dot_general_p(rows, matrix, dimension_numbers=numbers, **params), (1, 0, 2, 3))


@cache
def _multiply(
    size: int, transposed: bool, dtype: np.dtype[Any], precision: Any
) -> Callable[..., Any]:
    """A tile of rows times its matrix, written over the rows of its run."""
    params = {"preferred_element_type": dtype, "precision": precision}

    def step(tile: Any, out: Any, rows: Any, matrices: Any, table: Any) -> Any:
        start, low, high, place = _row_of(table, tile)
        mine, matrix = _part(rows, start, size), _part(matrices, place, 1)
        found = _times(mine, matrix, 3 if transposed else 2, **params)
        kept = pick(_is_of_run(found.aval.shape, low, high), found, _part(out, start, size))
        return dynamic_update_slice(out, kept, (start, 0, 0, 0))

    return step


@cache
def _accumulate(size: int, precision: Any) -> Callable[..., Any]:
    """The product of two tiles over the rows of their run, added to what its matrix has."""

    def step(tile: Any, out: Any, lhs: Any, rhs: Any, table: Any) -> Any:
        start, low, high, place = _row_of(table, tile)
        parts = [_part(x, start, size) for x in (lhs, rhs)]
        x, y = (
            pick(_is_of_run(p.aval.shape, low, high), p, full(p.aval.shape, 0, p.aval.dtype))
            for p in parts
        )
        found = dot_general_p(
            x, y, dimension_numbers=(((0, 2), (0, 2)), ((1,), (1,))),
            preferred_element_type=out.aval.dtype, precision=precision,
        )  # fmt: skip
        total = add(_part(out, place, 1), reshape(found, (1, *out.aval.shape[1:])))
        return dynamic_update_slice(out, total, (place, 0, 0, 0))

    return step


def _loop(
    block: Any, out: ShapedArray, step: Callable[..., Any], operands: list[Any], plan: list[Any]
) -> Any:
    """`out`, at first zeros, after a step for each tile of the plan."""
    table, count = plan
    place = ShapedArray((), INT32)

    def go_on(b: Any, tile: Any, count: Any, *rest: Any) -> Any:
        return b.compare(tile, "LT", count)

    def body(b: Any, tile: Any, count: Any, found: Any, *rest: Any) -> list[Any]:
        return [b.add(tile, 1), count, b.trace(step, tile, found, *rest), *rest]

    carry = [block.constant(0, place), count, block.constant(0, out), *operands, table]
    return block.while_loop(go_on, body, carry)[2]


# ---- the programs -------------------------------------------------------------------------------
def by_run(block: Any, out: ShapedArray, operands: Sequence[Any], p: Any) -> Any:
    """f[r,b,i,k], f[e,b,k,n], i[s,g], i32[s] --> f[r,b,i,n]: rows times the matrices of runs."""
    rows, matrices, sizes, first = operands
    count = matrices.aval.shape[0] // (sizes.aval.shape[0] // p.outer)
    size, tiles = tile_size(out.shape[0], sizes.aval.size, out.shape[2])
    plan = block.trace(_tiles(out.shape[0], size, tiles, p.outer, count), sizes, first)
    step = _multiply(size, p.transposed, out.dtype, p.precision)
    return _loop(block, out, step, [rows, matrices], plan)


def per_run(block: Any, out: ShapedArray, operands: Sequence[Any], p: Any) -> Any:
    """f[r,b,c,m], f[r,b,c,n], i[s,g], i32[s] --> f[e,b,m,n]: products over the rows of runs."""
    lhs, rhs, sizes, first = operands
    rows, _, inner, _ = lhs.aval.shape
    size, tiles = tile_size(rows, sizes.aval.size, inner)
    plan = block.trace(_tiles(rows, size, tiles, p.outer, p.count), sizes, first)
    wide = out.update(dtype=accumulator(out.dtype))  # in which the products of tiles are added
    found = _loop(block, wide, _accumulate(size, p.precision), [lhs, rhs], plan)
    return block.convert(found, out.dtype)
