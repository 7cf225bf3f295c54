"""Arrays in the place of a number: refused at once, by name, whatever their elements are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom.numpy as jnp

X = jnp.ones((3, 3))
CALLS = {
    "sum, axis": lambda a: jnp.sum(X, a),
    "sum, dtype": lambda a: jnp.sum(X, dtype=a),
    "sum, keepdims": lambda a: jnp.sum(X, keepdims=a),
    "mean, axis": lambda a: X.mean(a),
    "argmax, axis": lambda a: jnp.argmax(X, a),
    "cumsum, axis": lambda a: jnp.cumsum(X, a),
    "diff, n": lambda a: jnp.diff(X, a),
    "reshape, shape": lambda a: jnp.reshape(X, a),
    "zeros, shape": lambda a: jnp.zeros(a),
    "full, shape": lambda a: jnp.full(a, 1.0),
    "broadcast_to, shape": lambda a: jnp.broadcast_to(X, a),
    "tile, reps": lambda a: jnp.tile(X, a),
    "roll, shift": lambda a: jnp.roll(X, a),
    "roll, axis": lambda a: jnp.roll(X, 1, a),
    "quantile, axis": lambda a: jnp.quantile(X, 0.5, a),
    "moveaxis, source": lambda a: jnp.moveaxis(X, a, 0),
    "transpose, axes": lambda a: jnp.transpose(X, a),
}


class Untouched(np.ndarray):
    """An array whose elements nobody may list."""

    def tolist(self) -> Any:
        raise AssertionError("its elements were listed")

    def __iter__(self) -> Any:
        raise AssertionError("its elements were looked at")


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("call", CALLS)
def test_data_in_the_place_of_a_number_is_refused(call, dtype):
    name, parameter = call.split(", ")
    data = np.ones(5000, dtype)
    for given in (data.view(Untouched), jnp.asarray(data)):
        with pytest.raises(TypeError) as caught:
            CALLS[call](given)
        text = str(caught.value)
        assert name in text and parameter.removesuffix("s") in text and "[5000]" in text, text
        assert "``" not in text, text


def test_a_few_numbers_may_come_in_an_array():
    x = np.arange(24).reshape(2, 3, 4)
    axes = np.array([0, 2])
    for given in (axes, jnp.asarray(axes)):
        np.testing.assert_array_equal(jnp.sum(x, given), x.sum((0, 2)))
        np.testing.assert_array_equal(jnp.roll(x, given, given), np.roll(x, (0, 2), (0, 2)))
        np.testing.assert_array_equal(jnp.tile(x, given), np.tile(x, axes))
    for given in (np.array([4, 6]), jnp.array([4, 6])):
        assert jnp.reshape(x, given).shape == jnp.zeros(given).shape == (4, 6)
    width = np.array([[1, 0], [0, 1], [2, 2]])
    for given in (width, jnp.asarray(width)):
        np.testing.assert_array_equal(jnp.pad(x, given), np.pad(x, width))
    cuts = np.arange(0, 200)
    for given in (cuts, jnp.asarray(cuts)):
        assert len(jnp.split(jnp.arange(200), given)) == 201
    assert jnp.zeros(np.array(3)).shape == jnp.zeros(jnp.array(3)).shape == (3,)
