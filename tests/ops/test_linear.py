"""The linear core: add_any, transpose, broadcast_in_dim, reduce_sum, and their transposes."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.ops.linear import add_any

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3, 4)).astype(np.float32)

CASES = [
    (lambda x: add_any(x, x), lambda x: x + x),
    (lambda x: lax.transpose(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    (
        lambda x: lax.broadcast_in_dim(x, (5, 2, 3, 4), (1, 2, 3)),
        lambda x: np.broadcast_to(x, (5, 2, 3, 4)),
    ),
    (
        lambda x: lax.broadcast_in_dim(x[:1], (2, 3, 4, 2), (0, 1, 2)),
        lambda x: np.broadcast_to(x[:1, ..., None], (2, 3, 4, 2)),
    ),
    (lambda x: lax.reduce_sum(x, (0, 2)), lambda x: x.sum((0, 2))),
    (lambda x: lax.reduce_sum(x, ()), lambda x: x),
]


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("engine", ["xla", "reference", "numpy"])
def test_values_on_three_engines(case, engine):
    ours, numpys = CASES[case]
    with hloom.engine(engine):
        np.testing.assert_allclose(ours(jnp.asarray(X)), numpys(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_adjoint_identity(case):
    ours, _ = CASES[case]
    with hloom.enable_x64():
        x, t = jnp.asarray(X.astype(np.float64)), jnp.asarray(RNG.standard_normal(X.shape))
        y, pull_back = hloom.vjp(ours, x)
        ct = jnp.asarray(RNG.standard_normal(y.shape))
        forward = np.vdot(ct, hloom.jvp(ours, (x,), (t,))[1])
        np.testing.assert_allclose(forward, np.vdot(pull_back(ct)[0], t), rtol=1e-12)


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("axis", [0, 1, 3])
def test_batches_equal_a_loop(case, axis):
    ours, _ = CASES[case]
    batch = np.stack([X, 2 * X], axis)
    got = hloom.vmap(ours, in_axes=axis)(batch)
    np.testing.assert_allclose(
        got, np.stack([ours(jnp.asarray(X)), ours(jnp.asarray(2 * X))]), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: lax.transpose(x, (0, 1)), TypeError, r"permutation.*f32\[2,3,4\].*\(0, 1\)"),
        (lambda x: lax.transpose(x, (0, 0, 1)), TypeError, "permutation"),
        (lambda x: lax.broadcast_in_dim(x, (2, 3), (0, 1, 2)), ValueError, "below 2"),
        (
            lambda x: lax.broadcast_in_dim(x, (2, 3, 5), (0, 1, 2)),
            TypeError,
            "size 4, which is neither 1 nor 5",
        ),
        (lambda x: lax.broadcast_in_dim(x, (2, 3, -1), (0, 1, 2)), ValueError, "negative"),
        (
            lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (0, 1)),
            TypeError,
            "each of the 3 operand axes",
        ),
        (lambda x: lax.reduce_sum(x, (3,)), ValueError, r"from 0 to 2; got \(3,\)"),
        (lambda x: lax.reduce_sum(x, (0, 0)), ValueError, "distinct"),
        (lambda x: lax.reduce_sum(x > 0, (0,)), TypeError, "bool"),
        (lambda x: add_any(x, x[0]), TypeError, r"f32\[2,3,4\] and f32\[3,4\]"),
    ],
)
@pytest.mark.parametrize(
    "transform", [lambda f: f, hloom.jit, hloom.vmap], ids=["eager", "jit", "vmap"]
)
def test_what_does_not_fit_is_refused_alike_everywhere(call, error, words, transform):
    x = np.stack([X, X]) if transform is hloom.vmap else X
    with pytest.raises(error, match=words):
        transform(call)(jnp.asarray(x))
