"""What is made of sums and products: polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax


def test_a_polynomial_starts_with_its_lowest_degree() -> None:
    x = jnp.array([0.0, 1.0, 2.0])
    np.testing.assert_array_equal(lax.polynomial(x, [1.0, 0.0, 3.0]), [1, 4, 13])
    np.testing.assert_array_equal(lax.polynomial(x, (2,), unroll=4), [2, 2, 2])
    assert lax.polynomial(jnp.arange(3), [1, 2]).dtype == np.int32
    slope = hloom.vmap(hloom.grad(lambda x: lax.polynomial(x, [1.0, 5.0, 2.0])))(x)
    np.testing.assert_array_equal(slope, [5, 9, 13])


def test_one_minus_square_does_not_cancel() -> None:
    x = np.float32(1 - 2.0**-20)
    assert float(lax.one_minus_square(x)) == pytest.approx(1 - float(x) ** 2, rel=1e-7)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.polynomial(jnp.ones(2), []), ValueError, "one coefficient or more"),
        (lambda: lax.polynomial(jnp.ones(2), [jnp.ones((2, 2))]), TypeError, "f32[2], f32[2,2]"),
        (lambda: lax.polynomial(jnp.ones(2), [jnp.ones(3)]), ValueError, "broadcast"),
        (lambda: lax.polynomial(jnp.ones(2), [1, jnp.arange(2)]), TypeError, "one dtype"),
        (lambda: lax.polynomial(jnp.ones(2), [1.0], unroll=0), ValueError, "unroll"),
        (lambda: lax.one_minus_square(jnp.array([True])), TypeError, "bool[1]"),
    ],
)
def test_errors(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
