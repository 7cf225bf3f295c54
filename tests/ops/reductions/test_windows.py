"""Reductions over windows."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.ops.reductions import windows
from hloom.ops.reductions.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
)
from hloom.testing.cases.reductions import LAYOUTS, PLAIN


def _sum(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_sum_p, x, *window)


def _max(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_max_p, x, *window)


def _min(window: Any) -> Any:
    return lambda x: windows.window_reduction(reduce_window_min_p, x, *window)


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
            if all(a % b == 0 and 0 <= a // b < n for a, b, n in zip(at, w.base_dilation, x.shape)):
                want[place] += x[tuple(a // b for a, b in zip(at, w.base_dilation))]
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, _sum(window), x)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_pooling_keeps_nan(dtype: str) -> None:
    x = testing.drawn(hloom.dtypes.as_dtype(dtype), -9, 9, 6000, 0).reshape(60, 100)
    x[7, 11] = np.nan
    for fun in (_max, _min):
        (got,) = testing.results("xla", fun(((2, 2), (2, 2), "VALID", None, None)), x)
        nans = np.isnan(got.astype(float))
        assert nans.sum() == 1 and nans[3, 5], fun


@pytest.mark.parametrize("size", [2, 9, 16, 30, 100])
def test_long_rows(size: int) -> None:
    x = np.random.default_rng(0).integers(-99, 99, 300).astype(np.float32)
    views = np.lib.stride_tricks.sliding_window_view(x, size)
    window = ((size,), None, "VALID", None, None)
    for fun, want in ((_sum, views.sum(1)), (_max, views.max(1)), (_min, views.min(1))):
        (got,) = testing.results("xla", fun(window), x)
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
        (lambda: windows.select_and_scatter_add(1j * X, 1j * X, "ge", (1, 1)), TypeError, "real"),
        (
            lambda: windows.select_and_scatter_add(*[X.astype("float8_e8m0fnu")] * 2, "ge", (1, 1)),
            TypeError,
            "starts at zero",
        ),
        (lambda: windows.select_and_scatter_add(X, X, "ge", (2, 2)), TypeError, "each window"),
        (lambda: windows.select_and_scatter_add(X[:3, :3], X, "gt", (2, 2)), ValueError, "select"),
    ],
)
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)
