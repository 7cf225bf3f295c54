"""Reductions by a function of the user's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.control.computations import reduce, reduce_window


def _sum_of_logs(x: Any, y: Any) -> Any:
    """Associative, and no operation of lax: log(exp(x) + exp(y))."""
    return lax.log(lax.add(lax.exp(x), lax.exp(y)))


def _better(x: Any, y: Any) -> Any:
    """The pair with the larger first part."""
    left = lax.ge(x[0], y[0])
    return lax.select(left, x[0], y[0]), lax.select(left, x[1], y[1])


def _first(x: Any, y: Any) -> Any:
    return lax.add(lax.add(x, y), lax.mul(x, y))


def test_a_known_operation_has_its_own_reduction() -> None:
    text = str(hloom.make_jaxpr(lambda x: reduce(x, 0.0, lax.add, (0,)))(jnp.ones(3)))
    assert "reduce_sum" in text and "computation" not in text
    text = str(hloom.make_jaxpr(lambda x: reduce_window(x, 0.0, lax.add, (2,)))(jnp.ones(3)))
    assert "reduce_window_sum" in text


def test_it_runs_inside_jit_and_under_grad_of_grad() -> None:
    f = hloom.jit(lambda x: reduce(x, 0.0, _first, (0,)))
    x = np.array([1.0, 2.0, 3.0], np.float32)
    assert float(f(x)) == 23.0
    second = hloom.grad(lambda x: hloom.grad(f)(x)[0])(x)
    np.testing.assert_allclose(np.asarray(second), [0, 4, 3])


X = jnp.ones((3, 4))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: reduce(X, 0.0, lax.add, (2,)), ValueError, "f32[3,4]"),
        (lambda: reduce(X, (0.0,), lax.add, (0,)), TypeError, "one initial value"),
        (lambda: reduce(X, jnp.ones(2), lax.add, (0,)), TypeError, "0-d"),
        (lambda: reduce(X, jnp.int32(0), lax.add, (0,)), TypeError, "i32[]"),
        (lambda: reduce(X, 0.0, lax.lt, (0,)), TypeError, "bool[]"),
        (lambda: reduce(X, 0.0, lambda x, y: (x, y), (0,)), TypeError, "must map"),
        (lambda: reduce((X, X[0]), (0.0, 0.0), lambda x, y: x, (0,)), TypeError, "one shape"),
        (lambda: reduce((), (), lambda x, y: x, (0,)), TypeError, "initial value"),
        (lambda: reduce_window(X, 0.0, lax.add, (2,)), TypeError, "each axis"),
        (lambda: reduce_window(X, 0.0, lax.add, (2, 0)), ValueError, "positive"),
    ],
)
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)


def test_a_computation_that_closes_over_an_array_is_refused() -> None:
    y = jnp.ones(3)
    with pytest.raises(TypeError, match="closes over"):
        reduce(X, 0.0, lambda a, b: lax.add(a, lax.reduce_sum(y, (0,))), (0,))
