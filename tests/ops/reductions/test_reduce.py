"""Reductions, argmax and the cumulative operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.ops.pointwise.compare import numpy_max, numpy_min
from hloom.testing.operands import COMPLEX, EVERYTHING, FLOATS, ORDERED


# ---- NaN, zeros ------------------------------------------------------------------------------
def _with_nan(dtype: str, size: int, place: int, sign: int) -> Any:
    x = testing.drawn(hloom.dtypes.as_dtype(dtype), -9, 9, size, 0)
    x[place] = np.copysign(np.nan, sign)
    return x


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [5, 4095, 4096, 5000, 100_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_max_and_min_keep_nan(dtype: str, size: int, sign: int) -> None:
    x = _with_nan(dtype, size, size // 3, sign)
    for fun in (lax.reduce_max, lax.reduce_min):
        for y in (x, np.full_like(x, np.nan)):
            (got,) = testing.results("xla", lambda x, fun=fun: fun(x, (0,)), y)
            assert np.isnan(got.astype(float)), (fun, y)


@pytest.mark.parametrize("axes", [(0,), (1,)])
def test_max_keeps_nan_along_an_axis_inside_jit(axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(size=(300, 200)).astype(np.float32)
    x[7, 11] = x[250, 3] = np.nan
    got = hloom.jit(lambda x: lax.reduce_sum(lax.reduce_max(lax.max(x, 0.0), axes), ()))(x)
    np.testing.assert_array_equal(got, np.maximum(x, 0).max(axes))


@pytest.mark.parametrize("size", [5, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_argmax_finds_the_first_nan(size: int, dtype: str) -> None:
    x = _with_nan(dtype, size, size - 2, 1)
    x[size // 2] = np.nan
    for engine in testing.ENGINES if size < 100 else ("xla", "numpy"):
        for fun in (lax.argmax, lax.argmin):
            (got,) = testing.results(engine, lambda x, fun=fun: fun(x, 0, "int32"), x)
            assert got == size // 2, (engine, fun)


@pytest.mark.parametrize("dtype", EVERYTHING)
def test_argmax_takes_the_first_of_equals(dtype: str) -> None:
    x = np.array([0, 1, 1, 0, 1]).astype(hloom.dtypes.as_dtype(dtype))
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, lambda x: lax.argmax(x, 0, "int32"), x)
        (least,) = testing.results(engine, lambda x: lax.argmin(x, 0, "int32"), x)
        assert (got, least) == (1, 0), engine


LARGE = [(100_003,), (3, 7001), (7001, 3), (5, 4099, 2), (70, 71, 5)]
FEWER = [(100_003,), (70, 71, 5)]


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [("float32", shape) for shape in LARGE]
    + [(dtype, shape) for dtype in ("int32", "float64", "uint8", "bfloat16") for shape in FEWER],
    ids=str,
)
def test_reductions_of_larger_arrays(dtype: str, shape: tuple[int, ...]) -> None:
    x = testing.drawn(hloom.dtypes.as_dtype(dtype), 0, 9, int(np.prod(shape)), 0).reshape(shape)
    for axes in [(i,) for i in range(len(shape))] + [tuple(range(len(shape))), (0, len(shape) - 1)]:
        axes = tuple(sorted(set(axes)))
        got = testing.results(
            "xla",
            lambda x, axes=axes: (
                lax.reduce_sum(x, axes), lax.reduce_max(x, axes), lax.reduce_min(x, axes),
                lax.argmax(x, axes[0], "int32"), lax.argmin(x, axes[0], "int32"),
            ),
            x,
        )  # fmt: skip
        wide = testing.wider(x)
        total = wide.sum(axes, dtype=wide.dtype)
        if dtype in FLOATS:
            scale = float(hloom.dtypes.finfo(dtype).eps) * np.abs(total).max()
            assert np.abs(testing.wider(got[0]) - total).max() <= 20 * scale
        else:
            np.testing.assert_array_equal(got[0], total)
        for g, want in zip(got[1:], (
            wide.max(axes), wide.min(axes), wide.argmax(axes[0]), wide.argmin(axes[0])
        )):  # fmt: skip
            np.testing.assert_array_equal(testing.wider(g), want)


@pytest.mark.parametrize("dtype", [d for d in ORDERED if d != "bool"])
def test_argmax_of_the_lowest_value_only(dtype: str) -> None:
    np_dtype = hloom.dtypes.as_dtype(dtype)
    low = -np.inf if dtype in FLOATS else np.iinfo(dtype).min
    x = np.full(5, low).astype(np_dtype)
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, lambda x: lax.argmax(x, 0, "int32"), x)
        assert got == 0, engine


@pytest.mark.parametrize("dtype", EVERYTHING)
def test_corners_of_max_and_argmax(dtype: str) -> None:
    x = testing.corners(hloom.dtypes.as_dtype(dtype))
    x = x[~np.isnan(testing.wider(x))] if dtype in (*FLOATS, *COMPLEX) else x
    for fun, oracle in ((lax.argmax, np.argmax), (lax.argmin, np.argmin)):
        for engine in testing.ENGINES:
            (got,) = testing.results(engine, lambda x, fun=fun: fun(x, 0, "int32"), x)
            assert got == oracle(testing.wider(x)), (engine, fun)


def test_narrow_sums_are_summed_in_f32() -> None:
    for dtype in ("float16", "bfloat16"):
        x = np.full(5000, 0.25).astype(hloom.dtypes.as_dtype(dtype))
        for engine in testing.ENGINES:
            (got,) = testing.results(engine, lambda x: lax.reduce_sum(x, (0,)), x)
            assert float(got) == pytest.approx(1250, rel=0.01), (dtype, engine)


def test_cummax_keeps_nan_from_its_place_on() -> None:
    x = np.array([1.0, np.nan, 3.0, 0.0], np.float32)
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, lambda x: lax.cummax(x), x)
        np.testing.assert_array_equal(got, np.maximum.accumulate(x))


def test_a_sum_that_meets_infinity_is_right_before_it() -> None:
    x = np.ones(3000, np.float32)
    x[1000], x[2000] = np.inf, -np.inf
    got = np.asarray(lax.cumsum(x))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got, np.cumsum(x))


def test_the_sign_of_zero() -> None:
    x = np.array([-0.0, 0.0, -0.0], np.float32)
    for engine in testing.ENGINES:
        (high,) = testing.results(engine, lambda x: lax.reduce_max(x, (0,)), x)
        (low,) = testing.results(engine, lambda x: lax.reduce_min(x, (0,)), x)
        (total,) = testing.results(engine, lambda x: lax.reduce_sum(x, (0,)), x[::2])
        assert (np.signbit(high), np.signbit(low)) == (False, True), engine
        assert not np.signbit(total), engine


# ---- derivatives -----------------------------------------------------------------------------
def test_a_product_with_zeros_has_a_derivative() -> None:
    fun = lambda x: lax.reduce_prod(x, (0,))
    assert np.array_equal(hloom.grad(fun)(jnp.array([2.0, 0.0, 5.0])), [0, 10, 0])
    assert np.array_equal(hloom.grad(fun)(jnp.array([0.0, 0.0, 5.0])), [0, 0, 0])


def test_equal_maxima_share_the_cotangent() -> None:
    fun = lambda x: lax.reduce_max(x, (0,))
    assert np.array_equal(hloom.grad(fun)(jnp.array([2.0, 1.0, 2.0])), [0.5, 0, 0.5])


def test_second_derivative_of_a_product() -> None:
    fun = lambda x: lax.reduce_prod(x, (0,))
    with hloom.enable_x64():
        x, t = np.array([2.0, 3.0, 5.0]), np.array([1.0, 0.0, 0.0])
        _, got = hloom.jvp(hloom.grad(fun), (x,), (t,))
    np.testing.assert_allclose(np.asarray(got), [0, 5, 3])


def test_second_derivative_of_cumprod_and_cumlogsumexp() -> None:
    for scan in (lax.cumprod, lax.cumlogsumexp):
        fun = lambda x, scan=scan: lax.reduce_sum(scan(x), (0,))
        with hloom.enable_x64():
            x, t = np.array([2.0, 3.0, 0.5, 1.5]), np.array([1.0, -1.0, 0.5, 0.0])
            _, got = hloom.jvp(hloom.grad(fun), (x,), (t,))
            ahead, behind = hloom.grad(fun)(x + 1e-5 * t), hloom.grad(fun)(x - 1e-5 * t)
        want = (np.asarray(ahead) - np.asarray(behind)) / 2e-5
        np.testing.assert_allclose(np.asarray(got), want, atol=1e-8)


def test_numpy_max_agrees_with_the_engines_on_zeros() -> None:
    x, y = np.float32(-0.0), np.float32(0.0)
    assert not np.signbit(numpy_max(x, y)) and np.signbit(numpy_min(y, x))


X = jnp.ones((3, 4))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.reduce_max(X, (2,)), ValueError, "f32[3,4]"),
        (lambda: lax.reduce_max(X, (0, 0)), ValueError, "distinct"),
        (lambda: lax.reduce_max(X, 0), TypeError, "sequence of integers"),
        (lambda: lax.reduce_max(X, (-1,)), ValueError, "from 0 to 1"),
        (lambda: lax.reduce_sum(X > 0, (0,)), TypeError, "bool"),
        (lambda: lax.reduce_prod(X > 0, (0,)), TypeError, "bool"),
        (lambda: lax.reduce_and(X, (0,)), TypeError, "f32[3,4]"),
        (lambda: lax.reduce_xor(X, ()), TypeError, "f32[3,4]"),
        (lambda: lax.argmax(X, 2, "int32"), ValueError, "axes"),
        (lambda: lax.argmax(X, 0, "float32"), TypeError, "index_dtype"),
        (lambda: lax.argmax(jnp.ones((0, 2)), 0, "int32"), ValueError, "size 0"),
        (lambda: lax.cumsum(X, 2), ValueError, "no axis 2"),
        (lambda: lax.cumsum(X, -1), ValueError, "no axis -1"),
        (lambda: lax.cumsum(X > 0), TypeError, "bool"),
        (lambda: lax.cumsum(jnp.float32(1)), ValueError, "no axis"),
        (lambda: lax.cumlogsumexp(jnp.arange(3)), TypeError, "i32[3]"),
    ],
)
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)
