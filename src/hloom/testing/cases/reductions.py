"""Reductions: of axes, along an axis, over windows, by a function."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce as fold
from itertools import accumulate
from typing import Any

import numpy as np

from hloom.control.computations import reduce, reduce_window
from hloom.ops.common.linear import reduce_sum
from hloom.ops.pointwise import binary
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.pointwise.compare import ge, numpy_max, numpy_min, select
from hloom.ops.pointwise.exponential import exp, log
from hloom.ops.reductions import windows
from hloom.ops.reductions.cumulative import cumlogsumexp, cummax, cummin, cumprod, cumsum
from hloom.ops.reductions.recurrence import linear_recurrence_p
from hloom.ops.reductions.reduce import (
    argmax,
    argmin,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_xor,
)
from hloom.ops.reductions.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
)
from hloom.testing.case import Case
from hloom.testing.comparison import wider
from hloom.testing.operands import COMPLEX, FLOATS, INTEGERS, NUMBERS, SINGLE
from hloom.transforms.derivatives import jvp

# ---- axes, and along an axis -----------------------------------------------------------------
SUM = "a sum in any order"
PRODUCT = "a product in any order"
BITS = ("bool", *INTEGERS)
SMALL = ("int2", "int4", "uint2", "uint4")


def _arg(fun: Any, axis: int) -> Any:
    return lambda x: fun(wider(x), axis).astype(np.int32)


def _folded(pick: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Elements over axes, by `numpy_max` or `numpy_min`: NumPy's own give zeros of either sign."""
    front = np.moveaxis(x, axes, range(len(axes)))
    return fold(pick, front.reshape(-1, *front.shape[len(axes) :]))


def _running(pick: Any, x: Any, axis: int) -> Any:
    rows = list(accumulate(np.moveaxis(x, axis, 0), pick))
    return np.stack(rows, axis)


def _recurrence(a: Any, b: Any) -> Any:
    rows = accumulate(range(a.shape[1]), lambda y, i: a[:, i] * y + b[:, i], initial=0 * b[:, 0])
    return np.stack(list(rows)[1:], 1)


def _logsumexp(x: Any) -> Any:
    return np.logaddexp.accumulate(wider(x), 0)


SHAPE = ((4, 3, 5),)
REDUCE = [
    Case("sum", lambda x: reduce_sum(x, (0, 2)), SHAPE,
         lambda x: x.sum((0, 2), dtype=wider(x).dtype), NUMBERS, 40, SUM),
    Case("prod", lambda x: reduce_prod(x, (0, 2)), SHAPE,
         lambda x: x.prod((0, 2), dtype=wider(x).dtype), NUMBERS, 60, PRODUCT,
         low=0.7, high=1.4),
    Case("prod of integers", lambda x: reduce_prod(x, (1,)), SHAPE,
         lambda x: x.prod(1, dtype=x.dtype), INTEGERS),
    Case("max", lambda x: reduce_max(x, (0, 2)), SHAPE, lambda x: _folded(numpy_max, x, (0, 2)),
         (*INTEGERS, "float32", "float64", "bool")),
    Case("min", lambda x: reduce_min(x, (1,)), SHAPE, lambda x: _folded(numpy_min, x, (1,)),
         (*INTEGERS, "float32", "float64", "bool")),
    Case("max, all dtypes", lambda x: reduce_max(x, (0, 1, 2)), SHAPE),
    Case("min, all dtypes", lambda x: reduce_min(x, (0, 1, 2)), SHAPE),
    Case("max over nothing", lambda x: reduce_max(x, (0,)), ((0, 3),)),
    Case("min over nothing", lambda x: reduce_min(x, (0,)), ((0, 3),)),
    Case("prod over nothing", lambda x: reduce_prod(x, (0,)), ((0, 3),),
         lambda x: np.ones(3, x.dtype), NUMBERS),
    Case("no axes", lambda x: reduce_max(x, ()), SHAPE, lambda x: x),
    Case("and", lambda x: reduce_and(x, (0, 2)), SHAPE,
         lambda x: np.bitwise_and.reduce(x, (0, 2)), BITS),
    Case("or", lambda x: reduce_or(x, (1,)), SHAPE, lambda x: np.bitwise_or.reduce(x, 1), BITS),
    Case("xor", lambda x: reduce_xor(x, (2,)), SHAPE,
         lambda x: np.bitwise_xor.reduce(x, 2), BITS),
    Case("max of small integers", lambda x: reduce_max(x, (0,)), SHAPE, None, SMALL),
    Case("min of small integers", lambda x: reduce_min(x, (0,)), SHAPE, None, SMALL),
    Case("and of small integers", lambda x: reduce_and(x, (0,)), SHAPE, None, SMALL),
    Case("xor of small integers", lambda x: reduce_xor(x, (0,)), SHAPE, None, SMALL),
    Case("argmax", lambda x: argmax(x, 1, "int32"), SHAPE, _arg(np.argmax, 1), moving=()),
    Case("argmin", lambda x: argmin(x, 2, "int32"), SHAPE, _arg(np.argmin, 2), moving=()),
    Case("argmax, int64", lambda x: argmax(x, 0, "int64"), ((9,),),
         lambda x: np.int64(wider(x).argmax()), moving=()),
]  # fmt: skip

LENGTHS = (1, 2, 7, 40)
CUMULATIVE = [
    case
    for n in LENGTHS
    for case in (
        Case(f"cumsum of {n}", lambda x: cumsum(x, 1), ((2, n, 3),),
             lambda x: x.cumsum(1, dtype=wider(x).dtype), NUMBERS, 20, SUM),
        Case(f"cumprod of {n}", lambda x: cumprod(x, 0), ((n, 3),),
             lambda x: x.cumprod(0, dtype=wider(x).dtype), NUMBERS, 90, PRODUCT,
             low=0.8, high=1.2),
        Case(f"cummax of {n}", lambda x: cummax(x, 1), ((2, n),),
             lambda x: _running(numpy_max, x, 1), (*BITS, "float32", "float64", *COMPLEX)),
        Case(f"cummin of {n}, reversed", lambda x: cummin(x, 1, True), ((2, n),),
             lambda x: np.flip(_running(numpy_min, np.flip(x, 1), 1), 1),
             (*BITS, "float32", "float64", *COMPLEX)),
        Case(f"cumsum of {n}, reversed", lambda x: cumsum(x, 0, True), ((n,),),
             lambda x: np.flip(np.flip(x).cumsum(dtype=wider(x).dtype)), NUMBERS, 20, SUM),
        Case(f"cumlogsumexp of {n}", lambda x: cumlogsumexp(x, 0), ((n, 2),), _logsumexp,
             FLOATS, 20, "exp and log"),
        Case(f"linear recurrence of {n}",
             lambda a, b: linear_recurrence_p(a, b, axis=1, reverse=False), ((2, n, 3),) * 2,
             lambda a, b: _recurrence(wider(a), wider(b)), (*FLOATS, *COMPLEX), 90, PRODUCT,
             low=-1.0, high=1.0),
    )
]  # fmt: skip
CUMULATIVE += [
    Case("long cumsum", lambda x: cumsum(x), ((700,),),
         lambda x: x.cumsum(dtype=wider(x).dtype), ("int32", "float32", "float64"), 40,
         SUM),
    Case("long cumsum, reversed", lambda x: cumsum(x, 1, True), ((2, 300),),
         lambda x: np.flip(np.flip(x, 1).cumsum(1, dtype=wider(x).dtype), 1),
         ("int32", "float32", "float64"), 40, SUM),
    Case("long cummax", lambda x: cummax(x), ((700,),), lambda x: _running(numpy_max, x, 0),
         ("int32", "float32", "float64")),
    Case("long linear recurrence, reversed",
         lambda a, b: linear_recurrence_p(a, b, axis=0, reverse=True), ((50,),) * 2,
         lambda a, b: _recurrence(wider(a)[None, ::-1], wider(b)[None, ::-1])[0, ::-1],
         ("float32", "float64"), 90, PRODUCT, low=-1.0, high=1.0),
    Case("long cumsum of wide rows", lambda x: cumsum(x, 0), ((70, 40),),
         lambda x: x.cumsum(0, dtype=wider(x).dtype), ("int32", "float32"), 20, SUM),
    Case("cumsum of many rows", lambda x: cumsum(x, 1), ((300, 20),),
         lambda x: x.cumsum(1, dtype=wider(x).dtype), ("int32", "float32"), 20, SUM),
]  # fmt: skip


# ---- windows ---------------------------------------------------------------------------------
# window, strides, padding, base dilation, window dilation
PLAIN = ((2, 3), (1, 2), "VALID", None, None)
PADDED = ((2, 3), (2, 1), ((1, 0), (2, 1)), None, None)
CUT = ((2, 2), (1, 1), ((-1, 1), (0, -2)), None, None)
HOLED = ((2, 2), (1, 1), ((1, 1), (0, 0)), (2, 1), (1, 2))
BOTH = ((3, 2), (2, 3), ((2, 2), (1, 3)), (3, 2), (2, 3))
SAME = ((3, 2), (2, 2), "SAME", None, None)
LONG = ((1, 11), (1, 2), ((0, 0), (7, 4)), None, None)
LONG_HOLED = ((2, 9), (1, 1), ((0, 1), (15, 4)), None, (2, 2))
WHOLE = ((5, 6), (1, 1), "VALID", None, None)
LAYOUTS = {"plain": PLAIN, "padded": PADDED, "cut": CUT, "holed": HOLED, "both": BOTH, "same": SAME,
           "long": LONG, "long, holed": LONG_HOLED, "whole": WHOLE}  # fmt: skip


def _sum(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_sum_p, x, *window)


def _max(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_max_p, x, *window)


def _min(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_min_p, x, *window)


def _tangent(fun: Any) -> Any:
    """It is linear in the second operand."""
    return lambda x, t: jvp(fun, (x,), (t,))[1]


WINDOWS = [
    case
    for name, window in LAYOUTS.items()
    for case in (
        Case(f"sum, {name}", _sum(window), ((5, 6),), None, NUMBERS, 9, SUM),
        Case(f"max, {name}", _max(window), ((5, 6),)),
        Case(f"min, {name}", _min(window), ((5, 6),)),
    )
] + [
    Case("sum of too little", _sum(((7,), None, "VALID", None, None)), ((5,),), None, NUMBERS),
    Case("max of nothing", _max(((2,), None, ((1, 2),), None, None)), ((0,),)),
    Case("tangent of a maximum of windows", _tangent(_max(PADDED)), ((5, 6), (5, 6)), None, SINGLE,
         moving=(1,)),
    Case("tangent of a minimum of windows", _tangent(_min(PLAIN)), ((5, 6), (5, 6)), None, SINGLE,
         moving=(1,)),
    Case("select_and_scatter_add", lambda s, x: windows.select_and_scatter_add(
        s, x, "ge", (2, 3), (2, 1), [(0, 1), (1, 1)]), ((3, 6), (5, 6)), None, NUMBERS, 9, SUM,
        moving=(0,)),
    Case("select_and_scatter_add, least", lambda s, x: windows.select_and_scatter_add(
        s, x, "le", (2,), (3,)), ((2,), (6,)), None, NUMBERS, 9, SUM, moving=(0,)),
]  # fmt: skip
WINDOWS = [
    replace(case, dtypes=("int32", "float32", "float64", "bfloat16", "uint8"))
    if "select" in case.name
    else case
    for case in WINDOWS
]


# ---- by a function ---------------------------------------------------------------------------
def _sum_of_logs(x: Any, y: Any) -> Any:
    """Associative, and no operation of lax: log(exp(x) + exp(y))."""
    return log(add(exp(x), exp(y)))


def _better(x: Any, y: Any) -> Any:
    """The pair with the larger first part."""
    left = ge(x[0], y[0])
    return select(left, x[0], y[0]), select(left, x[1], y[1])


def _first(x: Any, y: Any) -> Any:
    return add(add(x, y), mul(x, y))


COMPUTATIONS = [
    Case("by a function", lambda x, i: reduce(x, i, _sum_of_logs, (0, 2)), ((3, 4, 5), ()), None,
         SINGLE, 40, "exp and log", low=-2, high=2),
    Case("over nothing", lambda x, i: reduce(x, i, _sum_of_logs, (1,)), ((3, 0), ()), None, SINGLE),
    Case("over no axes", lambda x, i: reduce(x, i, _first, ()), ((3,), ()), None, SINGLE, 4,
         "sums"),
    Case("of pairs", lambda x, y: reduce((x, y), (-1e9, 0.0), _better, (1,)), ((3, 7), (3, 7)),
         None, SINGLE),
    Case("sum and start", lambda x, i: reduce(x, i, add, (1,)), ((3, 4), ()),
         lambda x, i: x.sum(1) + i, ("int32", *SINGLE), 9, "a sum"),
    Case("max and start", lambda x, i: reduce(x, i, binary.max, (0,)), ((3, 4), ()),
         lambda x, i: numpy_max(numpy_max(x[0], x[1]), numpy_max(x[2], i)), ("int32", *SINGLE)),
    Case("windows by a function", lambda x: reduce_window(
        x, -1e9, _sum_of_logs, (2, 3), (2, 1), "VALID", None, (1, 2)), ((5, 6),), None,
        SINGLE, 40, "exp and log", low=-2, high=2),
    Case("product of windows", lambda x: reduce_window(x, 1.0, mul, (3,), (2,)), ((8,),), None,
         SINGLE, 9, "products"),
    Case("sum of windows", lambda x: reduce_window(x, 0, add, (3,), None, "SAME"), ((8,),),
         None, ("int32", *SINGLE), 9, "sums"),
    Case("sum of windows with a start", lambda x: reduce_window(x, 5, add, (3,)), ((8,),),
         lambda x: 5 + x[:-2] + x[1:-1] + x[2:], ("int32", *SINGLE), 9, "sums"),
    Case("windows of pairs", lambda x, y: reduce_window((x, y), (-1e9, 0.0), _better, (2,), (2,)),
         ((8,), (8,)), None, SINGLE),
]  # fmt: skip
