"""`associative_scan`: against NumPy's accumulate, any axis and direction, derivatives, errors."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from tests.control.loops.loops_in_python import agree, gradient_is_right, on_engines


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100])
@pytest.mark.parametrize("reverse", [False, True])
def test_every_size_in_both_directions(size, reverse):
    x = np.random.default_rng(size).integers(-9, 9, size, dtype=np.int32)
    want = np.cumsum(x[::-1])[::-1] if reverse else np.cumsum(x)
    got = lax.associative_scan(jnp.add, x, reverse=reverse)
    assert got.tolist() == want.tolist() and got.dtype == "int32"


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_every_axis(axis):
    x = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
    got = lax.associative_scan(jnp.maximum, x, axis=axis)
    np.testing.assert_array_equal(got, np.maximum.accumulate(x, axis=axis))
    jitted = hloom.jit(lambda x: lax.associative_scan(jnp.maximum, x, axis=axis, reverse=True))
    want = np.flip(np.maximum.accumulate(np.flip(x, axis), axis=axis), axis)
    np.testing.assert_array_equal(jitted(x), want)


def test_an_operation_that_does_not_commute_on_pairs_of_matrices():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(7, 2, 2)), rng.normal(size=(7, 2, 1))

    def compose(f, g):  # of affine maps x -> a x + b: g after f
        return {"a": g["a"] @ f["a"], "b": g["a"] @ f["b"] + g["b"]}

    with hloom.enable_x64():
        got = lax.associative_scan(compose, {"a": a, "b": b})
        x = np.zeros((2, 1))
        for i in range(7):
            x = a[i] @ x + b[i]
            agree(got["b"][i], x, 1e-12)


def test_on_three_engines():
    on_engines(lambda x: lax.associative_scan(jnp.multiply, x), jnp.array([1.0, 2.0, -1.0, 0.5]))


def test_derivatives_and_batches():
    def f(x):
        return (lax.associative_scan(jnp.multiply, x) * jnp.arange(5.0)).sum()

    gradient_is_right(f, np.array([1.0, 2.0, -1.5, 0.5, 0.3]))
    x = jnp.arange(6.0).reshape(2, 3)
    scan = lambda x: lax.associative_scan(jnp.add, x)  # noqa: E731
    agree(hloom.vmap(scan)(x), jnp.stack([scan(row) for row in x]))


def test_the_work_is_logarithmic_in_depth():
    jaxpr = hloom.make_jaxpr(lambda x: lax.associative_scan(lax.mul, x))(jnp.ones(1024)).jaxpr
    assert sum(e.primitive.name == "mul" for e in jaxpr.equations) <= 2 * 10


@pytest.mark.parametrize(
    "kind, fun, pattern",
    [
        (TypeError, lambda: lax.associative_scan(3, np.ones(3)), "fn as a function"),
        (TypeError, lambda: lax.associative_scan(jnp.add, "a"), "not an array"),
        (ValueError, lambda: lax.associative_scan(jnp.add, np.ones(3), axis=1), "out of bounds"),
        (ValueError, lambda: lax.associative_scan(jnp.add, np.float32(1)), "out of bounds"),
        (TypeError, lambda: lax.associative_scan(jnp.add, np.ones(3), axis=0.5), "axis as an int"),
        (
            ValueError,
            lambda: lax.associative_scan(lambda a, b: a, (np.ones(3), np.ones(2))),
            r"elems\[1\]: f32\[2\]",
        ),
        (
            ValueError,
            lambda: lax.associative_scan(lambda a, b: a, (np.ones(3), np.ones((2, 3))), axis=-1),
            "one place",
        ),
        (TypeError, lambda: lax.associative_scan(lambda a, b: (a, b), np.ones(3)), "tuple of 2"),
        (
            TypeError,
            lambda: lax.associative_scan(lambda a, b: a.sum(), np.ones(3)),
            r"f32\[\] of f32\[1\]",
        ),
    ],
)
def test_bad_arguments(kind, fun, pattern):
    with pytest.raises(kind) as caught:
        fun()
    assert re.search(pattern, str(caught.value)), str(caught.value)
