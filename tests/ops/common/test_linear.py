"""The linear core: what add_any, transpose, broadcast_in_dim and reduce_sum refuse."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.ops.common.linear import add_any

X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)


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
