"""Programs for products of rows that come in groups of any size, each with a matrix of its own.

A run is a stretch of consecutive rows that belong together: a group, in one place of the batch.
Runs are cut into tiles of a fixed number of rows, the last tile of a run filled up with zeros.  How
many tiles there are at most is known beforehand, so that no shape depends on a value, and all
products are one batched product of tiles and matrices.  That is rows + groups * tile of work, where
masking the rows of each group in turn takes rows * groups (512 rows in 8 groups, 256 x 256
matrices: 1.9 against 5.5 ms); and nothing of another group's matrix comes near a row, not even
times zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.ops.arithmetic import add, div, mul, sub
from hloom.ops.binary import bitwise_and
from hloom.ops.binary import min as min_
from hloom.ops.compare import clamp, lt, select
from hloom.ops.convert import convert_element_type
from hloom.ops.cumulative import cumsum
from hloom.ops.dot import dot_general_p
from hloom.ops.elementwise import accumulator
from hloom.ops.gather import GatherDimensionNumbers, ScatterDimensionNumbers, gather, scatter_add
from hloom.ops.linear import broadcast_in_dim, full, transpose
from hloom.ops.searching import searchsorted, taken
from hloom.ops.shape import broadcasted_iota, iota, reshape
from hloom.ops.slicing import pad, slice_in_dim

INT32 = np.dtype(np.int32)

# Copying an element of a matrix takes as long as so many multiplications with it.
COPY = 40


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
    counts = select(has_matrix, sub(ends, starts), full(shape, 0, INT32))
    stretch = broadcasted_iota(INT32, shape, 0)
    found = (add(starts, mul(stretch, rows)), counts, add(group, mul(div(stretch, outer), count)))
    return Runs(*[reshape(x, (stretches * groups,)) for x in found])


class Tiles(NamedTuple):
    """`rows` i32[v,t] are the rows of each tile, `matrices` i32[v] what they go with; `places`
    i32[r] is where each row stands in all tiles.  One past the end, or more, stands for none."""

    rows: Any
    matrices: Any
    places: Any


def tile_size(rows: int, runs: int, inner: int) -> tuple[int, int]:
    """The number of rows in a tile, and of tiles, that cost the least."""

    def count(size: int) -> int:
        return (rows + min(runs, rows) * (size - 1)) // size

    sizes = [2**i for i in range(max(rows - 1, 1).bit_length() + 1)]
    best = min(sizes, key=lambda size: count(size) * (size * inner + COPY))
    return best, count(best)


def _tiles(runs: Runs, rows: int, count: int, inner: int) -> Tiles:
    """The tiles of runs that lie among so many rows and go with `count` matrices."""
    (number,) = runs.sizes.aval.shape
    size, tiles = tile_size(rows, number, inner)
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


# ---- the programs -------------------------------------------------------------------------------
@cache
def by_run(outer: int, dtype: np.dtype[Any], precision: Any) -> Callable[..., Any]:
    """f[r,b,i,k], f[e,b,k,n], i[s,g], i32[s] --> f[r,b,i,n]: rows times the matrices of runs."""
    params = {"preferred_element_type": dtype}
    if precision is not None:
        params["precision"] = precision

    def program(rows: Any, matrices: Any, sizes: Any, first: Any) -> Any:
        (r, b, i, _), (total, _, _, columns) = rows.aval.shape, matrices.aval.shape
        stretches = sizes.aval.shape[0]
        runs = _runs(sizes, first, r // stretches, total // (stretches // outer), outer)
        tiles = _tiles(runs, r, total, i)
        out = dot_general_p(
            _take(rows, tiles.rows), _take(matrices, tiles.matrices, "clip"),
            dimension_numbers=(((4,), (2,)), ((0, 2), (0, 1))), **params,
        )  # fmt: skip
        v, size = tiles.rows.aval.shape
        together = reshape(transpose(out, (0, 2, 1, 3, 4)), (v * size, b, i, columns))
        return _take(together, tiles.places)

    return program


@cache
def per_run(outer: int, count: int, dtype: np.dtype[Any], precision: Any) -> Callable[..., Any]:
    """f[r,b,c,m], f[r,b,c,n], i[s,g], i32[s] --> f[e,b,m,n]: products over the rows of runs."""
    wide = accumulator(dtype)  # in which the products of a run's tiles are added
    params = {"preferred_element_type": wide}
    if precision is not None:
        params["precision"] = precision

    def program(lhs: Any, rhs: Any, sizes: Any, first: Any) -> Any:
        r, _, c, _ = lhs.aval.shape
        stretches = sizes.aval.shape[0]
        total = stretches // outer * count
        runs = _runs(sizes, first, r // stretches, count, outer)
        tiles = _tiles(runs, r, total, c)
        parts = dot_general_p(
            _take(lhs, tiles.rows), _take(rhs, tiles.rows),
            dimension_numbers=(((1, 3), (1, 3)), ((0, 2), (0, 2))), **params,
        )  # fmt: skip
        nothing = full((total, *parts.aval.shape[1:]), 0, wide)
        numbers = ScatterDimensionNumbers(tuple(range(1, parts.aval.ndim)), (0,), (0,))
        index = reshape(tiles.matrices, (tiles.matrices.aval.size, 1))
        return convert_element_type(scatter_add(nothing, index, parts, numbers), dtype)

    return program
