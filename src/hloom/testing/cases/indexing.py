"""Gathers and scatters.  The oracles are StableHLO's definitions, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.ops.indexing.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from hloom.ops.indexing.gather import gather, scatter_add
from hloom.ops.indexing.scatter import (
    scatter,
    scatter_apply,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.shapes.shape import full_like
from hloom.testing.case import Case
from hloom.testing.cases.pointwise import largest, smallest
from hloom.testing.comparison import wider
from hloom.testing.operands import EVERYTHING, MOVED, NUMBERS

I32 = np.int32
FEW = ("int32", "bfloat16", "float32", "float64", "complex64")


G, S = GatherDimensionNumbers, ScatterDimensionNumbers

ROWS = G((1,), (0,), (0,))
POINTS = G((), (0, 1), (0, 1))
BLOCKS = G((1, 2), (), (0, 1))
BATCHED = G((2,), (1,), (1,), (0,), (0,))

INSIDE = np.array([[2], [0], [2]], I32)
OUTSIDE = np.array([[4], [-1], [1], [5], [-9]], I32)
STARTS = np.array([[0, 0], [3, 2], [-1, 1], [4, 0], [2, 2]], I32)
PER_ROW = np.array([[[0], [3]], [[1], [1]], [[9], [2]]], I32)


def _places(shape: Any, indices: Any, numbers: Any, sizes: Any, mode: Any) -> Iterator[Any]:
    """Places in the result (or the updates), each with the operand's there; None for outside."""
    offset, collapsed, index_map, batching, index_batching = numbers
    inner = [a for a in range(len(shape)) if a not in (*collapsed, *batching)]
    limits = np.subtract(shape, sizes)
    outer = [a for a in range(indices.ndim - 1 + len(offset)) if a not in offset]
    for batch in np.ndindex(indices.shape[:-1]):
        start = np.zeros(len(shape), int)
        start[list(index_map)] = indices[batch]
        start[list(batching)] = [batch[a] for a in index_batching]
        if mode in ("clip", "promise_in_bounds"):
            start = np.clip(start, 0, limits)
        inside = np.all((start >= 0) & (start <= limits))
        for window in np.ndindex(*[sizes[a] for a in inner]):
            place, target = np.zeros(len(outer) + len(offset), int), start.copy()
            place[outer], place[list(offset)] = batch, window
            target[inner] += np.asarray(window, int)
            yield tuple(place), tuple(target) if inside else None


def _default_fill(dtype: Any) -> Any:
    kind = dtypes.kind(dtype)
    if kind in ("signed", "unsigned"):
        return np.iinfo(dtype).min if kind == "signed" else np.iinfo(dtype).max
    return True if kind == "bool" else np.nan


def _gathered(x: Any, i: Any, fill: Any, numbers: Any, sizes: Any, mode: str) -> Any:
    inner = iter([n for a, n in enumerate(sizes) if a not in (*numbers[1], *numbers[3])])
    outer = iter(i.shape[:-1])
    shape = [next(inner if a in numbers[0] else outer)
             for a in range(i.ndim - 1 + len(numbers[0]))]  # fmt: skip
    out = np.full(shape, _default_fill(x.dtype) if fill is None else fill, x.dtype)
    for place, target in _places(x.shape, i, numbers, sizes, mode):
        if target is not None:
            out[place] = x[target]
    return out


def _gather(name: str, numbers: Any, sizes: Any, mode: str, *operands: Any, fill: Any = None,
            dtypes: Any = EVERYTHING) -> Case:  # fmt: skip
    return Case(
        name, lambda x, i: gather(x, i, numbers, sizes, mode=mode, fill_value=fill), operands,
        lambda x, i: _gathered(x, i, fill, numbers, sizes, mode), dtypes,
    )  # fmt: skip


GATHER = [
    Case("rows", lambda x, i: gather(x, i, ROWS, (1, 3), mode="promise_in_bounds"),
         ((5, 3), INSIDE), lambda x, i: x[i[:, 0]], MOVED),
    Case("rows, clip", lambda x, i: gather(x, i, ROWS, (1, 3), mode="clip"), ((5, 3), OUTSIDE),
         lambda x, i: x[np.clip(i[:, 0], 0, 4)], MOVED),
    _gather("rows, fill", ROWS, (1, 3), "fill", (5, 3), OUTSIDE),
    _gather("rows, fill 7", ROWS, (1, 3), "fill", (5, 3), OUTSIDE, fill=7, dtypes=NUMBERS),
    _gather("points, fill", POINTS, (1, 1), "fill", (5, 4), STARTS, dtypes=MOVED),
    _gather("points, clip", POINTS, (1, 1), "clip", (5, 4), STARTS, dtypes=MOVED),
    _gather("blocks, clip", BLOCKS, (2, 3), "clip", (5, 4), STARTS, dtypes=MOVED),
    _gather("blocks, fill", BLOCKS, (2, 3), "fill", (5, 4), STARTS, dtypes=MOVED),
    _gather("windows between batch axes", G((0, 2), (1,), (1, 0)), (2, 1, 3), "clip",
            (3, 4, 3), STARTS.reshape(5, 1, 2), dtypes=MOVED),
    _gather("batch axes", BATCHED, (1, 1, 2), "clip", (3, 4, 2), PER_ROW, dtypes=MOVED),
    _gather("batch axes, fill", BATCHED, (1, 1, 2), "fill", (3, 4, 2), PER_ROW, dtypes=MOVED),
    _gather("no index axes", G((0, 1), (), ()), (5, 3), "fill", (5, 3),
            np.zeros((2, 0), I32)[0], dtypes=MOVED),
    _gather("no indices", ROWS, (1, 3), "fill", (5, 3), np.zeros((0, 1), I32), dtypes=MOVED),
    Case("fill with a value",
         lambda x, i, v: gather(x, i, ROWS, (1, 3), mode="fill", fill_value=v),
         ((5, 3), OUTSIDE, ()),
         lambda x, i, v: _gathered(x, i, v, ROWS, (1, 3), "fill"), MOVED),
]  # fmt: skip

S_ROWS = S((1,), (0,), (0,))
S_POINTS = S((), (0, 1), (0, 1))
S_BLOCKS = S((1, 2), (), (0, 1))
S_BATCHED = S((2,), (1,), (1,), (0,), (0,))


def _scattered(x: Any, u: Any, i: Any, combine: Any, numbers: Any, mode: Any) -> Any:
    """Updates are combined one after the other."""
    windows, inserted, _, batching, _ = numbers
    inner = iter([u.shape[a] for a in windows])
    sizes = [1 if a in (*inserted, *batching) else next(inner) for a in range(x.ndim)]
    out = x.copy()
    for place, target in _places(x.shape, i, numbers, sizes, mode):
        if target is not None:
            out[target] = combine(out[target], u[place])
    return out


def _scatter(
    name: str, fun: Any, combine: Any, numbers: Any, mode: Any, *operands: Any,
    dtypes: Any = NUMBERS, ulp: float = 0, why: str = "exact", **hints: Any,
) -> Case:  # fmt: skip
    def oracle(x: Any, u: Any, i: Any) -> Any:
        return _scattered(wider(x), wider(u), i, combine, numbers, mode)

    run = lambda x, u, i: fun(x, i, u, numbers, mode=mode, **hints)
    return Case(name, run, operands, oracle, dtypes, ulp, why)


def _last(x: Any, update: Any) -> Any:
    return update


SUMS = "sums of a few numbers, in any order"
TWICE = np.array([[2], [0], [2], [2]], I32)
SCATTER = [
    _scatter("set rows", scatter, _last, S_ROWS, "fill", (5, 3), (4, 3), TWICE, dtypes=EVERYTHING),
    _scatter("set rows, out of bounds", scatter, _last, S_ROWS, None, (5, 3), (5, 3), OUTSIDE,
             dtypes=MOVED),
    _scatter("set rows, clip", scatter, _last, S_ROWS, "clip", (5, 3), (5, 3), OUTSIDE,
             dtypes=MOVED),
    _scatter("set rows, unique", scatter, _last, S_ROWS, "promise_in_bounds", (5, 3), (2, 3),
             INSIDE[1::-1], dtypes=MOVED, unique_indices=True, indices_are_sorted=True),
    _scatter("set blocks", scatter, _last, S_BLOCKS, "drop", (5, 4), (5, 2, 3), STARTS,
             dtypes=MOVED),
    _scatter("set blocks, clip", scatter, _last, S_BLOCKS, "clip", (5, 4), (5, 2, 3), STARTS,
             dtypes=MOVED),
    _scatter("set by batch", scatter, _last, S_BATCHED, "fill", (3, 4, 2), (3, 2, 2), PER_ROW,
             dtypes=MOVED),
    _scatter("add rows", scatter_add, np.add, S_ROWS, "fill", (5, 3), (4, 3), TWICE,
             ulp=4, why=SUMS),
    _scatter("add points", scatter_add, np.add, S_POINTS, "fill", (5, 4), (5,), STARTS,
             ulp=4, why=SUMS),
    _scatter("add blocks", scatter_add, np.add, S_BLOCKS, "fill", (5, 4), (5, 2, 3), STARTS,
             dtypes=FEW, ulp=4, why=SUMS),
    _scatter("add blocks, clip", scatter_add, np.add, S_BLOCKS, "clip", (5, 4), (5, 2, 3),
             STARTS, dtypes=FEW, ulp=4, why=SUMS),
    _scatter("add by batch", scatter_add, np.add, S_BATCHED, "fill", (3, 4, 2), (3, 2, 2),
             PER_ROW, dtypes=FEW, ulp=4, why=SUMS),
    _scatter("subtract rows", scatter_sub, np.subtract, S_ROWS, "fill", (5, 3), (4, 3), TWICE,
             ulp=4, why=SUMS),
    _scatter("multiply rows", scatter_mul, np.multiply, S_ROWS, "fill", (5, 3), (4, 3), TWICE,
             ulp=9, why="products of a few numbers"),
    _scatter("multiply rows, unique", scatter_mul, np.multiply, S_ROWS, "fill", (5, 3), (2, 3),
             INSIDE[:2], ulp=4, why="products", unique_indices=True),
    _scatter("smallest", scatter_min, smallest, S_ROWS, "fill", (5, 3), (4, 3), TWICE,
             dtypes=EVERYTHING),
    _scatter("largest", scatter_max, largest, S_ROWS, "fill", (5, 3), (4, 3), TWICE,
             dtypes=EVERYTHING),
    Case("apply", lambda x, i: scatter_apply(
        x, i, lambda v: add(mul(v, v), full_like(v, 1)), S_ROWS, update_shape=(4, 3)),
         ((5, 3), TWICE), lambda x, i: _scattered(
             x, np.ones((4, 3)), i, lambda v, _: v * v + v.dtype.type(1), S_ROWS, "fill"),
         ("int32", "float32", "uint8"), 2, "the product may be fused with the sum", moving=()),
]  # fmt: skip
