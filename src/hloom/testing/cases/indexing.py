"""Operations that choose elements: by index, by rank, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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
from hloom.ops.order.searching import order_statistics, searchsorted
from hloom.ops.order.sorting import approx_max_k, approx_min_k, argsort, sort, sort_key_val, top_k
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.shapes.shape import full_like
from hloom.testing.case import Case
from hloom.testing.comparison import wider
from hloom.testing.operands import NUMBERS, ORDERED

I32 = np.int32


# ---- gather and scatter ----------------------------------------------------------------------
G, S = GatherDimensionNumbers, ScatterDimensionNumbers

ROWS = G((1,), (0,), (0,))
POINTS = G((), (0, 1), (0, 1))
BLOCKS = G((1, 2), (), (0, 1))
BATCHED = G((2,), (1,), (1,), (0,), (0,))

INSIDE = np.array([[2], [0], [2]], I32)
ASTRAY = np.array([[4], [-1], [1], [5], [-9]], I32)
CORNERS = np.array([[0, 0], [3, 2], [-1, 1], [4, 0], [2, 2]], I32)
PER_ROW = np.array([[[0], [3]], [[1], [1]], [[9], [2]]], I32)


def _gather(numbers: Any, sizes: Any, mode: str, fill: Any = None) -> Callable[..., Any]:
    return lambda x, i: gather(x, i, numbers, sizes, mode=mode, fill_value=fill)


GATHER = [
    Case("rows", _gather(ROWS, (1, 3), "promise_in_bounds"), ((5, 3), INSIDE),
         lambda x, i: x[i[:, 0]]),
    Case("rows, clip", _gather(ROWS, (1, 3), "clip"), ((5, 3), ASTRAY),
         lambda x, i: x[np.clip(i[:, 0], 0, 4)]),
    Case("rows, fill", _gather(ROWS, (1, 3), "fill"), ((5, 3), ASTRAY)),
    Case("rows, fill 7", _gather(ROWS, (1, 3), "fill", 7), ((5, 3), ASTRAY), dtypes=NUMBERS),
    Case("points, fill", _gather(POINTS, (1, 1), "fill"), ((5, 4), CORNERS)),
    Case("points, clip", _gather(POINTS, (1, 1), "clip"), ((5, 4), CORNERS)),
    Case("blocks, clip", _gather(BLOCKS, (2, 3), "clip"), ((5, 4), CORNERS)),
    Case("blocks, fill", _gather(BLOCKS, (2, 3), "fill"), ((5, 4), CORNERS)),
    Case("windows between batch axes",
         _gather(G((0, 2), (1,), (1, 0)), (2, 1, 3), "clip"),
         ((3, 4, 3), CORNERS.reshape(5, 1, 2))),
    Case("batch axes", _gather(BATCHED, (1, 1, 2), "clip"), ((3, 4, 2), PER_ROW),
         lambda x, i: x[np.arange(3)[:, None], np.clip(i[..., 0], 0, 3)]),
    Case("batch axes, fill", _gather(BATCHED, (1, 1, 2), "fill"), ((3, 4, 2), PER_ROW)),
    Case("no index axes", _gather(G((0, 1), (), ()), (5, 3), "fill"),
         ((5, 3), np.zeros((2, 0), I32)[0]), lambda x, i: x),
    Case("no indices", _gather(ROWS, (1, 3), "fill"), ((5, 3), np.zeros((0, 1), I32)),
         lambda x, i: x[:0]),
    Case("fill with a value",
         lambda x, i, v: gather(x, i, ROWS, (1, 3), mode="fill", fill_value=v),
         ((5, 3), ASTRAY, ())),
]  # fmt: skip

S_ROWS = S((1,), (0,), (0,))
S_POINTS = S((), (0, 1), (0, 1))
S_BLOCKS = S((1, 2), (), (0, 1))
S_BATCHED = S((2,), (1,), (1,), (0,), (0,))


def _scatter(fun: Callable[..., Any], numbers: Any, mode: Any, **hints: Any) -> Callable[..., Any]:
    return lambda x, u, i: fun(x, i, u, numbers, mode=mode, **hints)


SUMS = "sums of a few numbers, in any order"
TWICE = np.array([[2], [0], [2], [2]], I32)
SCATTER = [
    Case("set rows", _scatter(scatter, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE)),
    Case("set rows astray", _scatter(scatter, S_ROWS, None), ((5, 3), (5, 3), ASTRAY)),
    Case("set rows, clip", _scatter(scatter, S_ROWS, "clip"), ((5, 3), (5, 3), ASTRAY)),
    Case("set rows, unique", _scatter(scatter, S_ROWS, "promise_in_bounds",
         unique_indices=True, indices_are_sorted=True), ((5, 3), (2, 3), INSIDE[1::-1])),
    Case("set blocks", _scatter(scatter, S_BLOCKS, "drop"), ((5, 4), (5, 2, 3), CORNERS)),
    Case("set blocks, clip", _scatter(scatter, S_BLOCKS, "clip"),
         ((5, 4), (5, 2, 3), CORNERS)),
    Case("set by batch", _scatter(scatter, S_BATCHED, "fill"),
         ((3, 4, 2), (3, 2, 2), PER_ROW)),
    Case("add rows", _scatter(scatter_add, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE),
         dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("add points", _scatter(scatter_add, S_POINTS, "fill"), ((5, 4), (5,), CORNERS),
         dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("add blocks", _scatter(scatter_add, S_BLOCKS, "fill"), ((5, 4), (5, 2, 3), CORNERS),
         dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("add blocks, clip", _scatter(scatter_add, S_BLOCKS, "clip"),
         ((5, 4), (5, 2, 3), CORNERS), dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("add by batch", _scatter(scatter_add, S_BATCHED, "fill"),
         ((3, 4, 2), (3, 2, 2), PER_ROW), dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("subtract rows", _scatter(scatter_sub, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE),
         dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("multiply rows", _scatter(scatter_mul, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE),
         dtypes=NUMBERS, ulp=9, why="products of a few numbers"),
    Case("multiply rows, unique", _scatter(scatter_mul, S_ROWS, "fill", unique_indices=True),
         ((5, 3), (2, 3), INSIDE[:2]), dtypes=NUMBERS, ulp=4, why="products"),
    Case("smallest", _scatter(scatter_min, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE)),
    Case("largest", _scatter(scatter_max, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE)),
    Case("apply", lambda x, i: scatter_apply(
        x, i, lambda v: add(mul(v, v), full_like(v, 1)), S_ROWS, update_shape=(4, 3)),
         ((5, 3), TWICE), dtypes=("int32", "float32", "uint8"), moving=()),
]  # fmt: skip


# ---- order -----------------------------------------------------------------------------------
def _in_order(x: Any, axis: int) -> Any:
    """Sorted, -0.0 before 0.0: where NumPy's sort puts them is not defined."""
    if x.dtype.kind != "f":
        return np.sort(x, axis, kind="stable")
    return np.take_along_axis(x, np.lexsort((~np.signbit(x), x), axis), axis)


def _sorted(axis: int) -> Any:
    return lambda x: _in_order(wider(x), axis)


def _argsorted(axis: int) -> Any:
    return lambda x: np.argsort(wider(x), axis, kind="stable").astype(I32)


def _lexsorted(x: Any, y: Any, z: Any) -> Any:
    order = np.lexsort((wider(y), wider(x)))
    return [x[order], y[order], z[order]]


SORTING = [
    Case("sort", lambda x: sort(x), ((9,),), _sorted(0)),
    Case("sort rows", lambda x: sort(x, 1), ((3, 7, 2),), _sorted(1)),
    Case("sort columns", lambda x: sort(x, 0), ((7, 3),), _sorted(0)),
    Case("sort nothing", lambda x: sort(x), ((0,),), _sorted(0)),
    Case("sort by two keys", lambda x, y, z: sort((x, y, z), num_keys=2),
         ((30,), (30,), (30,)), _lexsorted, low=-2, high=2),
    Case("sort_key_val", lambda x, y: sort_key_val(x, y, 0), ((7, 3), (7, 3))),
    Case("three operands, one key", lambda x, y, z: sort((x, y, z), is_stable=False),
         ((3, 7), (3, 7), (3, 7))),
    Case("argsort", lambda x: argsort(x), ((9,),), _argsorted(0), moving=()),
    Case("argsort of rows", lambda x: argsort(x, 1), ((3, 20, 2),), _argsorted(1), moving=(),
         low=-2, high=2),
    Case("top_k", lambda x: top_k(x, 3), ((4, 7),), dtypes=ORDERED),
    Case("top_k along an axis", lambda x: top_k(x, 2, axis=0), ((7, 3),), dtypes=ORDERED),
    Case("top_k of all", lambda x: top_k(x, 5), ((5,),), dtypes=ORDERED),
    Case("top_k of none", lambda x: top_k(x, 0), ((5,),), dtypes=ORDERED),
    Case("approx_max_k", lambda x: approx_max_k(x, 2), ((5,),), dtypes=ORDERED),
    Case("approx_min_k", lambda x: approx_min_k(x, 2), ((3, 5),), dtypes=ORDERED),
]  # fmt: skip


# ---- ranks -----------------------------------------------------------------------------------
RANKS = np.array([0, 3, 6], I32)
EACH = np.array([[0, 3, 6], [6, 2, 1]], I32)


def _sorted_first(side: str) -> Any:
    return lambda x, v: searchsorted(sort(x), v, side)


def _numpy_found(side: Any) -> Any:
    def found(x: Any, v: Any) -> Any:
        x, v = np.sort(wider(x)), wider(v)
        return np.stack([np.searchsorted(a, b, side) for a, b in zip(x, v)]).astype(I32)

    return found


def _ranked(axis: int) -> Any:
    def ranked(x: Any, ranks: Any) -> Any:
        rows = np.moveaxis(_in_order(wider(x), axis), axis, 0)
        after = np.minimum(ranks + 1, len(rows) - 1)
        if ranks.ndim == 1:
            return [rows[ranks], rows[after]]
        return [np.take_along_axis(rows, i, 0) for i in (ranks, after)]

    return ranked


SEARCHING = [
    Case("left of few", _sorted_first("left"), ((2, 9), (2, 30)), _numpy_found("left"),
         moving=(), low=-5, high=5),
    Case("right of few", _sorted_first("right"), ((2, 9), (2, 30)), _numpy_found("right"),
         moving=(), low=-5, high=5),
    Case("left of many", _sorted_first("left"), ((2, 50), (2, 30)), _numpy_found("left"),
         moving=(), low=-5, high=5),
    Case("right of many", _sorted_first("right"), ((2, 64), (2, 30)), _numpy_found("right"),
         moving=(), low=-5, high=5),
    Case("values of two axes", lambda x, v: searchsorted(sort(x), v), ((40,), (3, 4)),
         moving=()),
    Case("in nothing", lambda x, v: searchsorted(x, v), ((0,), (3,)), moving=()),
    Case("of nothing", lambda x, v: searchsorted(x, v), ((3,), (0,)), moving=()),
    Case("ranks", lambda x, r: order_statistics(x, r), ((7,), RANKS), _ranked(0), moving=(0,)),
    Case("ranks of columns", lambda x, r: order_statistics(x, r, 0), ((7, 3), RANKS), _ranked(0),
         moving=(0,)),
    Case("ranks of nothing", lambda x, r: order_statistics(x, r, 0), ((3, 0), RANKS), moving=()),
    Case("ranks of rows", lambda x, r: order_statistics(x, r, 1), ((3, 9), EACH), _ranked(1),
         moving=(0,)),
]  # fmt: skip
