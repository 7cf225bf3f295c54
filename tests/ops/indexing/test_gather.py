"""Gather and the scatters: every mode, derivatives, batch, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.testing.operands import FLOATS, INTEGERS, ORDERED

I32 = np.int32
G, S = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers

ROWS = G((1,), (0,), (0,))
S_ROWS = S((1,), (0,), (0,))


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
        (got,) = testing.results(engine, lambda x, i, u: fun(x, i, u, S((), (0,), (0,))), x, i, u)
        testing.assert_close(got, want, 16, engine)


def test_of_several_updates_the_last_stands() -> None:
    rng = np.random.default_rng(0)
    i, u = rng.integers(0, 50, (5000, 1)).astype(I32), np.arange(5000, dtype=np.float32)
    want = np.zeros(50, np.float32)
    want[i[:, 0]] = u
    for engine in ("xla", "reference", "numpy"):
        (got,) = testing.results(
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
        (got,) = testing.results(
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
        (got,) = testing.results(
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


def test_rules_give_parameters_in_the_order_of_the_public_functions() -> None:
    """They are in the key of an executable, which one order makes the same for both."""
    families, wrong = {"gather", "scatter", "slicing", "windows", "cumulative", "sorting"}, set()
    for case in testing.CASES:
        if case.family not in families or case.moving == () or "float32" not in case.dtypes:
            continue
        operands = case.draw("float32")
        fun, moving = case.moved("float32")
        jaxprs = [hloom.make_jaxpr(hloom.vmap(case.fun))(*[np.stack([x, x]) for x in operands])]
        if case.reverse:
            out = fun(*moving)
            jaxprs.append(
                hloom.make_jaxpr(lambda ct, f=fun, xs=moving: hloom.vjp(f, *xs)[1](ct))(out)
            )
        for equation in [e for closed in jaxprs for e in closed.jaxpr.equations]:
            fields = getattr(equation.primitive.parameters, "_fields", tuple(equation.params))
            if tuple(equation.params) != fields:
                wrong.add((equation.primitive.name, tuple(equation.params)))
    assert not wrong
