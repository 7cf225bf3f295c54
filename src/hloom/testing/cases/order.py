"""Operations that order elements, or find them in their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.ops.order.searching import order_statistics, searchsorted
from hloom.ops.order.sorting import approx_max_k, approx_min_k, argsort, sort, sort_key_val, top_k
from hloom.testing.case import Case
from hloom.testing.comparison import wider
from hloom.testing.operands import ORDERED

I32 = np.int32
FEW = ("bool", "int32", "uint8", "bfloat16", "float32", "float64", "complex64")


# ---- sorting ---------------------------------------------------------------------------------
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


def _sorted_with(key: Any, *others: Any, axis: int = -1) -> Any:
    order = np.argsort(wider(key), axis, kind="stable")
    return [np.take_along_axis(x, order, axis) for x in (key, *others)]


def _top(k: int, axis: int = -1) -> Any:
    """The k largest of NumPy's order, of equal ones the first."""

    def top(x: Any) -> Any:
        rows = np.moveaxis(x, axis, 0)
        upwards = np.argsort(wider(rows[::-1]), 0, kind="stable")
        order = (len(rows) - 1 - upwards)[::-1][:k]
        values = np.take_along_axis(rows, order, 0)
        return [np.moveaxis(values, 0, axis), np.moveaxis(order.astype(I32), 0, axis)]

    return top


def _bottom(k: int) -> Any:
    """The k smallest along the last axis, of equal ones the first."""

    def bottom(x: Any) -> Any:
        order = np.argsort(wider(x), -1, kind="stable")[..., :k]
        return [np.take_along_axis(x, order, -1), order.astype(I32)]

    return bottom


SORTING = [
    Case("sort", lambda x: sort(x), ((9,),), _sorted(0)),
    Case("sort rows", lambda x: sort(x, 1), ((3, 7, 2),), _sorted(1), FEW),
    Case("sort columns", lambda x: sort(x, 0), ((7, 3),), _sorted(0), FEW),
    Case("sort nothing", lambda x: sort(x), ((0,),), _sorted(0), FEW),
    Case("sort by two keys", lambda x, y, z: sort((x, y, z), num_keys=2),
         ((30,), (30,), (30,)), _lexsorted, low=-2, high=2),
    Case("sort_key_val", lambda x, y: sort_key_val(x, y, 0), ((7, 3), (7, 3)),
         lambda x, y: _sorted_with(x, y, axis=0), FEW),
    Case("three operands, one key", lambda x, y, z: sort((x, y, z), is_stable=False),
         ((3, 7), (3, 7), (3, 7)), _sorted_with, FEW),
    Case("argsort", lambda x: argsort(x), ((9,),), _argsorted(0), moving=()),
    Case("argsort of rows", lambda x: argsort(x, 1), ((3, 20, 2),), _argsorted(1), FEW, moving=(),
         low=-2, high=2),
    Case("top_k", lambda x: top_k(x, 3), ((4, 7),), _top(3), ORDERED),
    Case("top_k along an axis", lambda x: top_k(x, 2, axis=0), ((7, 3),), _top(2, 0), FEW[:-1]),
    Case("top_k of all", lambda x: top_k(x, 5), ((5,),), _top(5), FEW[:-1]),
    Case("top_k of none", lambda x: top_k(x, 0), ((5,),), _top(0), FEW[:-1]),
    Case("approx_max_k", lambda x: approx_max_k(x, 2), ((5,),), _top(2), ORDERED),
    Case("approx_min_k", lambda x: approx_min_k(x, 2), ((3, 5),), _bottom(2), ORDERED),
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
         FEW, moving=(), low=-5, high=5),
    Case("left of many", _sorted_first("left"), ((2, 50), (2, 30)), _numpy_found("left"),
         FEW, moving=(), low=-5, high=5),
    Case("right of many", _sorted_first("right"), ((2, 64), (2, 30)), _numpy_found("right"),
         FEW, moving=(), low=-5, high=5),
    Case("values of two axes", lambda x, v: searchsorted(sort(x), v), ((40,), (3, 4)),
         lambda x, v: np.searchsorted(np.sort(wider(x)), wider(v)), FEW, moving=()),
    Case("in nothing", lambda x, v: searchsorted(x, v), ((0,), (3,)),
         lambda x, v: np.zeros(3, I32), FEW, moving=()),
    Case("of nothing", lambda x, v: searchsorted(x, v), ((3,), (0,)),
         lambda x, v: np.zeros(0, I32), FEW, moving=()),
    Case("ranks", lambda x, r: order_statistics(x, r), ((7,), RANKS), _ranked(0), moving=(0,)),
    Case("ranks of columns", lambda x, r: order_statistics(x, r, 0), ((7, 3), RANKS), _ranked(0),
         FEW, moving=(0,)),
    Case("ranks of nothing", lambda x, r: order_statistics(x, r, 0), ((3, 0), RANKS),
         lambda x, r: [x, x], FEW, moving=()),
    Case("ranks of rows", lambda x, r: order_statistics(x, r, 1), ((3, 9), EACH), _ranked(1),
         FEW, moving=(0,)),
]  # fmt: skip
