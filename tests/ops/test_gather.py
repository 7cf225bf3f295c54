"""Gather and the scatters: every mode, derivatives, batch, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from tests.ops import structured
from tests.ops.structured import FLOATS, INTEGERS, NUMBERS, ORDERED, Case

I32 = np.int32
G, S = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers

ROWS = G((1,), (0,), (0,))
POINTS = G((), (0, 1), (0, 1))
BLOCKS = G((1, 2), (), (0, 1))
BATCHED = G((2,), (1,), (1,), (0,), (0,))

INSIDE = np.array([[2], [0], [2]], I32)
ASTRAY = np.array([[4], [-1], [1], [5], [-9]], I32)
CORNERS = np.array([[0, 0], [3, 2], [-1, 1], [4, 0], [2, 2]], I32)
PER_ROW = np.array([[[0], [3]], [[1], [1]], [[9], [2]]], I32)


def _gather(numbers: Any, sizes: Any, mode: str, fill: Any = None) -> Callable[..., Any]:
    return lambda x, i: lax.gather(x, i, numbers, sizes, mode=mode, fill_value=fill)


GATHERS = [
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
         lambda x, i, v: lax.gather(x, i, ROWS, (1, 3), mode="fill", fill_value=v),
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
SCATTERS = [
    Case("set rows", _scatter(lax.scatter, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE)),
    Case("set rows astray", _scatter(lax.scatter, S_ROWS, None), ((5, 3), (5, 3), ASTRAY)),
    Case("set rows, clip", _scatter(lax.scatter, S_ROWS, "clip"), ((5, 3), (5, 3), ASTRAY)),
    Case("set rows, unique", _scatter(lax.scatter, S_ROWS, "promise_in_bounds",
         unique_indices=True, indices_are_sorted=True), ((5, 3), (2, 3), INSIDE[1::-1])),
    Case("set blocks", _scatter(lax.scatter, S_BLOCKS, "drop"), ((5, 4), (5, 2, 3), CORNERS)),
    Case("set blocks, clip", _scatter(lax.scatter, S_BLOCKS, "clip"),
         ((5, 4), (5, 2, 3), CORNERS)),
    Case("set by batch", _scatter(lax.scatter, S_BATCHED, "fill"),
         ((3, 4, 2), (3, 2, 2), PER_ROW)),
    Case("add rows", _scatter(lax.scatter_add, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE),
         dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("add points", _scatter(lax.scatter_add, S_POINTS, "fill"), ((5, 4), (5,), CORNERS),
         dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("add blocks", _scatter(lax.scatter_add, S_BLOCKS, "fill"), ((5, 4), (5, 2, 3), CORNERS),
         dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("add blocks, clip", _scatter(lax.scatter_add, S_BLOCKS, "clip"),
         ((5, 4), (5, 2, 3), CORNERS), dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("add by batch", _scatter(lax.scatter_add, S_BATCHED, "fill"),
         ((3, 4, 2), (3, 2, 2), PER_ROW), dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("subtract rows", _scatter(lax.scatter_sub, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE),
         dtypes=NUMBERS, ulp=4, why=SUMS),
    Case("multiply rows", _scatter(lax.scatter_mul, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE),
         dtypes=NUMBERS, ulp=9, why="products of a few numbers"),
    Case("multiply rows, unique", _scatter(lax.scatter_mul, S_ROWS, "fill", unique_indices=True),
         ((5, 3), (2, 3), INSIDE[:2]), dtypes=NUMBERS, ulp=4, why="products"),
    Case("smallest", _scatter(lax.scatter_min, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE)),
    Case("largest", _scatter(lax.scatter_max, S_ROWS, "fill"), ((5, 3), (4, 3), TWICE)),
    Case("apply", lambda x, i: lax.scatter_apply(
        x, i, lambda v: lax.add(lax.mul(v, v), lax.full_like(v, 1)), S_ROWS, update_shape=(4, 3)),
         ((5, 3), TWICE), dtypes=("int32", "float32", "uint8"), moving=()),
]  # fmt: skip
CASES = GATHERS + SCATTERS


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


def _numpy_scatter(ufunc: Any, x: Any, i: Any, u: Any) -> Any:
    out = np.array(x)
    keep = (i[:, 0] >= 0) & (i[:, 0] < len(x))
    ufunc.at(out, i[keep, 0], u[keep])
    return out


@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize(
    ("fun", "ufunc"),
    [
        (lax.scatter_add, np.add),
        (lax.scatter_sub, np.subtract),
        (lax.scatter_mul, np.multiply),
        (lax.scatter_min, np.minimum),
        (lax.scatter_max, np.maximum),
    ],
    ids=["add", "sub", "mul", "min", "max"],
)
def test_scatter_is_ufunc_at(fun: Any, ufunc: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, u = rng.integers(-9, 9, 6).astype(dtype), rng.integers(-9, 9, 40).astype(dtype)
    i = rng.integers(-2, 9, (40, 1)).astype(I32)
    want = _numpy_scatter(ufunc, x, i, u)
    for engine in ("xla", "reference", "numpy"):
        (got,) = structured.evaluate(
            engine, lambda x, i, u: fun(x, i, u, S((), (0,), (0,))), x, i, u
        )
        structured.assert_close(got, want, 16, engine)


def test_of_several_updates_the_last_stands() -> None:
    rng = np.random.default_rng(0)
    i, u = rng.integers(0, 50, (5000, 1)).astype(I32), np.arange(5000, dtype=np.float32)
    want = np.zeros(50, np.float32)
    want[i[:, 0]] = u
    for engine in ("xla", "reference", "numpy"):
        (got,) = structured.evaluate(
            engine, lambda i, u: lax.scatter(np.zeros(50, "f"), i, u, S((), (0,), (0,))), i, u
        )
        assert np.array_equal(got, want), engine


@pytest.mark.parametrize("dtype", [*INTEGERS, "uint64", "int16", "uint16"])
@pytest.mark.parametrize("mode", ["clip", "fill"])
def test_indices_of_any_integer_type(dtype: str, mode: str) -> None:
    x, info = np.arange(300, dtype=np.float32), np.iinfo(dtype)
    i = np.array([[0], [info.max], [info.max // 2 + 1], [info.min]], dtype)
    plain = [int(k) for k in i[:, 0]]
    inside = [0 <= k < 300 for k in plain]
    clipped = x[[min(max(k, 0), 299) for k in plain]]
    want = clipped if mode == "clip" else np.where(inside, clipped, np.float32(-1))
    for engine in ("xla", "reference", "numpy"):
        (got,) = structured.evaluate(
            engine,
            lambda x, i: lax.gather(x, i, G((), (0,), (0,)), (1,), mode=mode, fill_value=-1.0),
            x, i,
        )  # fmt: skip
        assert np.array_equal(got, want), (engine, got, want)


@pytest.mark.parametrize("dtype", ORDERED)
def test_the_default_fill_is_the_extreme_or_nan(dtype: str) -> None:
    want = True if dtype == "bool" else np.nan if dtype in FLOATS else None
    if want is None:
        info = np.iinfo(dtype)
        want = info.min if info.min < 0 else info.max
    for engine in ("xla", "reference", "numpy"):
        (got,) = structured.evaluate(
            engine,
            lambda i: lax.gather(jnp.ones(3, dtype), i, G((), (0,), (0,)), (1,)),
            np.array([[7]], I32),
        )
        np.testing.assert_array_equal(got.astype(float), np.array([want], float))


def test_a_product_with_a_zero_among_its_factors_has_a_derivative() -> None:
    x, u = jnp.array([3.0, 4.0]), jnp.array([0.0, 5.0, 2.0])
    i = jnp.array([[0], [0], [1]])
    fun = lambda u: lax.reduce_sum(lax.scatter_mul(x, i, u, S((), (0,), (0,))), (0,))
    assert np.array_equal(hloom.grad(fun)(u), [15.0, 0.0, 4.0])
    assert np.array_equal(hloom.grad(fun)(jnp.array([0.0, 0.0, 2.0])), [0.0, 0.0, 4.0])


def test_second_derivatives() -> None:
    i = np.array([[0], [2], [0]], I32)

    def fun(u: Any) -> Any:
        sums = lax.scatter_add(lax.full((3,), 0, u.dtype), i, u, S((), (0,), (0,)))
        return lax.reduce_sum(lax.integer_pow(sums, 3), (0,))

    with hloom.enable_x64():
        u, t = np.array([1.5, -2.0, 0.5]), np.array([1.0, 1.0, 0.0])
        _, got = hloom.jvp(hloom.grad(fun), (u,), (t,))
    np.testing.assert_allclose(np.asarray(got), [12.0, -12.0, 12.0])


X, AT = jnp.ones((5, 3)), jnp.zeros((2, 1), int)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.gather(X, jnp.zeros((2, 1)), ROWS, (1, 3)), TypeError, "integers"),
        (lambda: lax.gather(X, jnp.zeros((2, 2), int), ROWS, (1, 3)), ValueError, "index vectors"),
        (lambda: lax.gather(X, AT, ROWS, (1, 4)), ValueError, "at most"),
        (lambda: lax.gather(X, AT, ROWS, (1,)), ValueError, "each operand axis"),
        (lambda: lax.gather(X, AT, ROWS, (2, 3)), ValueError, "size 1"),
        (lambda: lax.gather(X, AT, G((2,), (0,), (0,)), (1, 3)), ValueError, "window axes"),
        (lambda: lax.gather(X, AT, G((1,), (5,), (0,)), (1, 3)), ValueError, "collapsed"),
        (lambda: lax.gather(X, AT, G((1,), (), (0,)), (1, 3)), ValueError, "window axis"),
        (lambda: lax.gather(X, AT, G((1,), (0,), (0,), (0,), (0,)), (1, 3)), ValueError,
         "distinct"),
        (lambda: lax.gather(X, AT, ROWS, (1, 3), mode="wrap"), ValueError, "mode is"),
        (lambda: lax.gather(X, jnp.int32(0), ROWS, (1, 3)), TypeError, "last axis"),
        (lambda: lax.gather(X, AT, ROWS, (1, 3), fill_value=jnp.ones(3)), TypeError, "0-d"),
        (lambda: lax.gather(X, AT, ROWS, (1, 3), fill_value=jnp.int32(1)), TypeError, "dtype"),
        (lambda: lax.scatter(X, AT, jnp.ones((2, 4)), S_ROWS), ValueError, "at most"),
        (lambda: lax.scatter(X, AT, jnp.ones((3, 3)), S_ROWS), ValueError, "shape of the indices"),
        (lambda: lax.scatter(X, AT, jnp.ones(3), S_ROWS), ValueError, "need 1 window axes"),
        (lambda: lax.scatter(X, AT, jnp.ones((2, 3), int), S_ROWS), TypeError, "dtype"),
        (lambda: lax.scatter_add(X, AT, jnp.ones((2, 3)), S((9,), (0,), (0,))), ValueError, "9"),
        (lambda: lax.scatter_add(X > 0, AT, jnp.ones((2, 3), bool), S_ROWS), TypeError, "number"),
        (lambda: lax.scatter_apply(X, AT, lambda v: v > 0, S_ROWS, update_shape=(2, 3)), TypeError,
         "bool"),
    ],
)  # fmt: skip
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)


def test_scatter_apply_says_how_to_differentiate() -> None:
    fun = lambda x: lax.scatter_apply(x, AT, lax.sin, S_ROWS, update_shape=(2, 3))[0, 0]
    with pytest.raises(NotImplementedError, match="x.at"):
        hloom.grad(fun)(X)
