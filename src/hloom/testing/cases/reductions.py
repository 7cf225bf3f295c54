"""Reductions: over axes, along an axis, over windows.

The oracles of windows gather what each window sees, by its definition, and reduce that.
"""

from __future__ import annotations

from functools import reduce as fold
from itertools import accumulate
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.ops.common.linear import reduce_sum
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
from hloom.testing.cases.pointwise import largest, smallest
from hloom.testing.comparison import wider
from hloom.testing.operands import COMPLEX, EVERYTHING, FLOATS, INEXACT, INTEGERS, NUMBERS, SINGLE
from hloom.transforms.derivatives import jvp

# ---- axes, and along an axis -----------------------------------------------------------------
SUM = "a sum in any order"
PRODUCT = "a product in any order"
BITS = ("bool", *INTEGERS)
SMALL = ("int2", "int4", "uint2", "uint4")


def _arg(fun: Any, axis: int) -> Any:
    return lambda x: fun(wider(x), axis).astype(np.int32)


def _folded(pick: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Elements over axes, by `largest` or `smallest`: NumPy's own give zeros of either sign."""
    front = np.moveaxis(x, axes, range(len(axes)))
    return fold(pick, front.reshape(-1, *front.shape[len(axes) :]))


def _running(pick: Any, x: Any, axis: int) -> Any:
    rows = list(accumulate(np.moveaxis(x, axis, 0), pick))
    return np.stack(rows, axis)


def _recurrence(a: Any, b: Any) -> Any:
    rows = accumulate(range(a.shape[1]), lambda y, i: a[:, i] * y + b[:, i], initial=0 * b[:, 0])
    return np.stack(list(rows)[1:], 1)


def _lowest(dtype: Any) -> Any:
    """What every maximum is at least."""
    kind = dtypes.kind(dtype)
    if kind in ("signed", "unsigned"):
        return dtypes.iinfo(dtype).min
    return {"bool": False, "float": -np.inf, "complex": complex(-np.inf, -np.inf)}[kind]


def _highest(dtype: Any) -> Any:
    kind = dtypes.kind(dtype)
    if kind in ("signed", "unsigned"):
        return dtypes.iinfo(dtype).max
    return True if kind == "bool" else -_lowest(dtype)


def _of_nothing(value: Any) -> Any:
    return lambda x: np.full(3, value(x.dtype), x.dtype)


def _bytewise(fun: Any) -> Any:
    """A reduction along axis 0, of integers that NumPy has no reductions for."""
    return lambda x: fun.reduce(x.astype(np.int8), 0).astype(x.dtype)


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
    Case("max", lambda x: reduce_max(x, (0, 2)), SHAPE, lambda x: _folded(largest, x, (0, 2)),
         (*INTEGERS, "float32", "float64", "bool")),
    Case("min", lambda x: reduce_min(x, (1,)), SHAPE, lambda x: _folded(smallest, x, (1,)),
         (*INTEGERS, "float32", "float64", "bool")),
    Case("max, all dtypes", lambda x: reduce_max(x, (0, 1, 2)), SHAPE,
         lambda x: _folded(largest, x, (0, 1, 2))),
    Case("min, all dtypes", lambda x: reduce_min(x, (0, 1, 2)), SHAPE,
         lambda x: _folded(smallest, x, (0, 1, 2))),
    Case("max over nothing", lambda x: reduce_max(x, (0,)), ((0, 3),), _of_nothing(_lowest)),
    Case("min over nothing", lambda x: reduce_min(x, (0,)), ((0, 3),), _of_nothing(_highest)),
    Case("prod over nothing", lambda x: reduce_prod(x, (0,)), ((0, 3),),
         lambda x: np.ones(3, x.dtype), NUMBERS),
    Case("no axes", lambda x: reduce_max(x, ()), SHAPE, lambda x: x),
    Case("and", lambda x: reduce_and(x, (0, 2)), SHAPE,
         lambda x: np.bitwise_and.reduce(x, (0, 2)), BITS),
    Case("or", lambda x: reduce_or(x, (1,)), SHAPE, lambda x: np.bitwise_or.reduce(x, 1), BITS),
    Case("xor", lambda x: reduce_xor(x, (2,)), SHAPE,
         lambda x: np.bitwise_xor.reduce(x, 2), BITS),
    Case("max of small integers", lambda x: reduce_max(x, (0,)), SHAPE,
         _bytewise(np.maximum), SMALL),
    Case("min of small integers", lambda x: reduce_min(x, (0,)), SHAPE,
         _bytewise(np.minimum), SMALL),
    Case("and of small integers", lambda x: reduce_and(x, (0,)), SHAPE,
         _bytewise(np.bitwise_and), SMALL),
    Case("xor of small integers", lambda x: reduce_xor(x, (0,)), SHAPE,
         _bytewise(np.bitwise_xor), SMALL),
    Case("argmax", lambda x: argmax(x, 1, "int32"), SHAPE, _arg(np.argmax, 1), moving=()),
    Case("argmin", lambda x: argmin(x, 2, "int32"), SHAPE, _arg(np.argmin, 2), moving=()),
    Case("argmax, int64", lambda x: argmax(x, 0, "int64"), ((9,),),
         lambda x: np.int64(wider(x).argmax()), moving=()),
]  # fmt: skip

LENGTHS = (1, 2, 7, 40)


def _at(n: int, dtypes: tuple[str, ...]) -> tuple[str, ...]:
    """All dtypes at one length; at the others one for each way to compute."""
    return dtypes if n == 7 else tuple(d for d in dtypes if d in ("int32", "bfloat16", *SINGLE))


CUMULATIVE = [
    case
    for n in LENGTHS
    for case in (
        Case(f"cumsum of {n}", lambda x: cumsum(x, 1), ((2, n, 3),),
             lambda x: x.cumsum(1, dtype=wider(x).dtype), _at(n, NUMBERS), 20, SUM),
        Case(f"cumprod of {n}", lambda x: cumprod(x, 0), ((n, 3),),
             lambda x: x.cumprod(0, dtype=wider(x).dtype), _at(n, NUMBERS), 90, PRODUCT,
             low=0.8, high=1.2),
        Case(f"cummax of {n}", lambda x: cummax(x, 1), ((2, n),),
             lambda x: _running(largest, x, 1), _at(n, (*BITS, *SINGLE, *COMPLEX))),
        Case(f"cummin of {n}, reversed", lambda x: cummin(x, 1, True), ((2, n),),
             lambda x: np.flip(_running(smallest, np.flip(x, 1), 1), 1),
             _at(n, (*BITS, *SINGLE, *COMPLEX))),
        Case(f"cumsum of {n}, reversed", lambda x: cumsum(x, 0, True), ((n,),),
             lambda x: np.flip(np.flip(x).cumsum(dtype=wider(x).dtype)), _at(n, NUMBERS), 20, SUM),
        Case(f"cumlogsumexp of {n}", lambda x: cumlogsumexp(x, 0), ((n, 2),), _logsumexp,
             _at(n, FLOATS), 20, "exp and log"),
        Case(f"linear recurrence of {n}",
             lambda a, b: linear_recurrence_p(a, b, axis=1, reverse=False), ((2, n, 3),) * 2,
             lambda a, b: _recurrence(wider(a), wider(b)), _at(n, INEXACT), 90, PRODUCT,
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
    Case("long cummax", lambda x: cummax(x), ((700,),), lambda x: _running(largest, x, 0),
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


def seen(
    size: int, window: int, stride: int = 1, pad: Any = (0, 0), base: int = 1, inner: int = 1
) -> Any:
    """[places, window]: the element of an axis that each place of each window sees, -1 for none."""
    held = np.full((size - 1) * base + 1 if size else 0, -1)
    held[::base] = range(size)
    padded = np.pad(held, np.maximum(pad, 0), constant_values=-1)
    held = padded[max(-pad[0], 0) : len(padded) - max(-pad[1], 0)]
    starts = range(0, len(held) - (window - 1) * inner, stride)
    table = [[held[s + j * inner] for j in range(window)] for s in starts]
    return np.array(table, int).reshape(-1, window)


def pads_of(padding: Any, sizes: Any, window: Any, strides: Any) -> Any:
    """Pairs for each axis, of dilated sizes; "SAME" has ceil(size / stride) places."""
    if not isinstance(padding, str):
        return padding
    if padding == "VALID":
        return [(0, 0)] * len(window)
    wanted = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(sizes, window, strides)]
    pads = [(n // 2, n - n // 2) for n in wanted]
    return pads if padding == "SAME" else [(high, low) for low, high in pads]


def views(x: Any, fill: Any, window: Any, strides: Any = None, padding: Any = "VALID",
          base: Any = None, inner: Any = None) -> Any:  # fmt: skip
    """[*places, *window]: what each window sees of `x`; `fill` in padding and holes."""
    ones = (1,) * x.ndim
    strides, base, inner = strides or ones, base or ones, inner or ones
    sizes = [max((n - 1) * b + 1, 0) for n, b in zip(x.shape, base)]
    pads = pads_of(padding, sizes, [(k - 1) * i + 1 for k, i in zip(window, inner)], strides)
    for axis in range(x.ndim):
        at = 2 * axis
        edge = np.full((*x.shape[:at], 1, *x.shape[at + 1 :]), fill, x.dtype)
        table = seen(x.shape[at], window[axis], strides[axis], pads[axis], base[axis], inner[axis])
        x = np.take(np.concatenate([x, edge], at), table, at)
    return x.transpose(*range(0, x.ndim, 2), *range(1, x.ndim, 2))


def _window_axes(window: Any) -> tuple[int, ...]:
    return tuple(range(len(window[0]), 2 * len(window[0])))


def _sum(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_sum_p, x, *window)


def _max(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_max_p, x, *window)


def _min(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_min_p, x, *window)


def _summed(window: Any) -> Any:
    axes = _window_axes(window)
    return lambda x: views(wider(x), 0, *window).sum(axes, dtype=wider(x).dtype)


def _largest(window: Any) -> Any:
    return lambda x: _folded(largest, views(x, _lowest(x.dtype), *window), _window_axes(window))


def _smallest(window: Any) -> Any:
    return lambda x: _folded(smallest, views(x, _highest(x.dtype), *window), _window_axes(window))


def _tangent(fun: Any) -> Any:
    """It is linear in the second operand."""
    return lambda x, t: jvp(fun, (x,), (t,))[1]


def _selected(x: Any, window: Any, pick: Any, fill: Any) -> Any:
    """The place in `x`, flat, of the first largest (or smallest) of each window; -1 for padding."""
    axes = len(window[0])
    values = views(x, fill(x.dtype), *window)
    places = views(np.arange(x.size).reshape(x.shape), -1, *window)
    flat = [z.reshape(*z.shape[:axes], -1) for z in (values, places)]
    return np.take_along_axis(flat[1], pick(flat[0], -1)[..., None], -1)[..., 0]


def _tangent_there(window: Any, pick: Any, fill: Any) -> Any:
    return lambda x, t: np.append(t, 0)[_selected(x, window, pick, fill)]


def _added_there(window: Any, pick: Any, fill: Any) -> Any:
    def added(s: Any, x: Any) -> Any:
        out = np.zeros(x.size + 1, wider(s).dtype)
        np.add.at(out, _selected(x, window, pick, fill), wider(s))
        return out[:-1].reshape(x.shape)

    return added


SOME = ("int32", "uint8", "bfloat16", "float32", "float64", "complex64")
SELECTED = ("int32", "float32", "float64", "bfloat16", "uint8")
SELECTION = ((2, 3), (2, 1), ((0, 1), (1, 1)), None, None)
WINDOWS = [
    case
    for name, window in LAYOUTS.items()
    for types in (EVERYTHING if name in ("padded", "long") else SOME,)
    for case in (
        Case(f"sum, {name}", _sum(window), ((5, 6),), _summed(window), types[types[0] == "bool" :],
             9, SUM),
        Case(f"max, {name}", _max(window), ((5, 6),), _largest(window), types),
        Case(f"min, {name}", _min(window), ((5, 6),), _smallest(window), types),
    )
] + [
    Case("sum of too little", _sum(((7,), None, "VALID", None, None)), ((5,),),
         lambda x: x[:0], NUMBERS),
    Case("max of nothing", _max(((2,), None, ((1, 2),), None, None)), ((0,),),
         lambda x: np.full(2, _lowest(x.dtype), x.dtype)),
    Case("tangent of a maximum of windows", _tangent(_max(PADDED)), ((5, 6), (5, 6)),
         _tangent_there(PADDED, np.argmax, _lowest), SINGLE, moving=(1,)),
    Case("tangent of a minimum of windows", _tangent(_min(PLAIN)), ((5, 6), (5, 6)),
         _tangent_there(PLAIN, np.argmin, _highest), SINGLE, moving=(1,)),
    Case("select_and_scatter_add", lambda s, x: windows.select_and_scatter_add(
        s, x, "ge", (2, 3), (2, 1), [(0, 1), (1, 1)]), ((3, 6), (5, 6)),
         _added_there(SELECTION, np.argmax, _lowest), SELECTED, 9, SUM, moving=(0,)),
    Case("select_and_scatter_add, least", lambda s, x: windows.select_and_scatter_add(
        s, x, "le", (2,), (3,)), ((2,), (6,)),
         _added_there(((2,), (3,)), np.argmin, _highest), SELECTED, 9, SUM, moving=(0,)),
]  # fmt: skip
