"""Reductions over windows."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.ops import windows
from hloom.ops.windows import reduce_window_max_p, reduce_window_min_p, reduce_window_sum_p
from tests.ops import machine, structured
from tests.ops.structured import NUMBERS, Case

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


SUM = "a sum in any order"
CASES = [
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
    Case("select_and_scatter_add", lambda s, x: windows.select_and_scatter_add(
        s, x, "ge", (2, 3), (2, 1), [(0, 1), (1, 1)]), ((3, 6), (5, 6)), None, NUMBERS, 9, SUM,
        moving=(0,)),
    Case("select_and_scatter_add, least", lambda s, x: windows.select_and_scatter_add(
        s, x, "le", (2,), (3,)), ((2,), (6,)), None, NUMBERS, 9, SUM, moving=(0,)),
]  # fmt: skip
CASES = [
    case._replace(dtypes=("int32", "float32", "float64", "bfloat16", "uint8"))
    if "select" in case.name
    else case
    for case in CASES
]


@pytest.mark.parametrize(("case", "dtype"), structured.values(CASES), ids=str)
def test_value(case: Case, dtype: str) -> None:
    structured.check_value(case, dtype)


@pytest.mark.parametrize("case", structured.smooth(CASES), ids=str)
def test_derivative(case: Case) -> None:
    structured.check_jvp(case)
    structured.check_adjoint(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_batch(case: Case) -> None:
    structured.check_batch(case)


@pytest.mark.parametrize("window", LAYOUTS.values(), ids=LAYOUTS)
def test_a_window_sum_is_what_the_definition_says(window: Any) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (5, 6)).astype(np.float32)
    aval = hloom.core.ShapedArray(x.shape, x.dtype)
    w = windows.window_of("test", aval, *window)
    want = np.zeros(w.shape(x), np.float32)
    for place in np.ndindex(want.shape):
        for offset in product(*map(range, w.window_dimensions)):
            at = [
                p * s + o * d - lo
                for p, s, o, d, (lo, _) in zip(
                    place, w.window_strides, offset, w.window_dilation, w.padding
                )
            ]
            if all(
                a % b == 0 and 0 <= a // b < n for a, b, n in zip(at, w.base_dilation, x.shape)
            ):
                want[place] += x[tuple(a // b for a, b in zip(at, w.base_dilation))]
    for engine in machine.ENGINES:
        (got,) = structured.evaluate(engine, _sum(window), x)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_pooling_keeps_nan(dtype: str) -> None:
    x = machine.drawn(hloom.dtypes.as_dtype(dtype), -9, 9, 6000, 0).reshape(60, 100)
    x[7, 11] = np.nan
    for fun in (_max, _min):
        (got,) = structured.evaluate("xla", fun(((2, 2), (2, 2), "VALID", None, None)), x)
        nans = np.isnan(got.astype(float))
        assert nans.sum() == 1 and nans[3, 5], fun


@pytest.mark.parametrize("size", [2, 9, 16, 30, 100])
def test_long_rows(size: int) -> None:
    x = np.random.default_rng(0).integers(-99, 99, 300).astype(np.float32)
    views = np.lib.stride_tricks.sliding_window_view(x, size)
    window = ((size,), None, "VALID", None, None)
    for fun, want in ((_sum, views.sum(1)), (_max, views.max(1)), (_min, views.min(1))):
        (got,) = structured.evaluate("xla", fun(window), x)
        np.testing.assert_array_equal(got, want)
    weights = np.arange(len(views), dtype=np.float32)
    loss = lambda x: lax.reduce_sum(lax.mul(_max(window)(x), weights), (0,))
    want = np.zeros_like(x)
    np.add.at(want, views.argmax(1) + np.arange(len(views)), weights)
    np.testing.assert_array_equal(np.asarray(hloom.grad(loss)(x)), want)


def test_the_first_of_equal_maxima_moves() -> None:
    fun = lambda x: lax.reduce_sum(_max(((3,), (3,), "VALID", None, None))(x), (0,))
    assert np.array_equal(hloom.grad(fun)(jnp.array([1.0, 2.0, 2.0])), [0, 1, 0])


def test_second_order_through_pooling() -> None:
    pool = _max(((2,), (1,), "VALID", None, None))
    fun = lambda x: lax.reduce_sum(lax.integer_pow(pool(x), 3), (0,))
    with hloom.enable_x64():
        x, t = np.array([1.0, 3.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0, 1.0])
        _, got = hloom.jvp(hloom.grad(fun), (x,), (t,))
    np.testing.assert_allclose(np.asarray(got), [0, 36, 0, 24])


X = jnp.ones((4, 4))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: _sum(((2,), None, "VALID", None, None))(X), TypeError, "each axis"),
        (lambda: _sum(((2, 0), None, "VALID", None, None))(X), ValueError, "positive"),
        (lambda: _sum(((2, 2), (0, 1), "VALID", None, None))(X), ValueError, "positive"),
        (lambda: _sum(((2, 2), None, "HALF", None, None))(X), ValueError, "SAME"),
        (lambda: _sum(((2, 2), None, [(1, 2)], None, None))(X), TypeError, "each axis"),
        (lambda: _sum(((2, 2), None, 3, None, None))(X), TypeError, "pair"),
        (lambda: _sum(PLAIN)(X > 0), TypeError, "bool"),
        (lambda: windows.select_and_scatter_add(X, X, "ge", (2, 2)), TypeError, "each window"),
        (lambda: windows.select_and_scatter_add(X[:3, :3], X, "gt", (2, 2)), ValueError, "select"),
    ],
)
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)
