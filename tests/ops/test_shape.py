"""Shape operations: values on three engines, derivatives, batch, errors."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.testing.operands import EVERYTHING, NUMBERS


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("axis", [0, 1])
def test_iota_counts_along_one_axis(dtype: str, axis: int) -> None:
    want = np.indices((2, 3))[axis].astype(hloom.dtypes.as_dtype(dtype))
    for engine in ("xla", "reference", "numpy"):
        (got,) = testing.results(engine, lambda: lax.broadcasted_iota(dtype, (2, 3), axis))
        testing.assert_close(got, want, 0, f"{dtype} on {engine}")


def test_iota_of_a_narrow_integer_wraps() -> None:
    for engine in ("xla", "reference", "numpy"):
        (got,) = testing.results(engine, lambda: lax.iota("uint8", 300))
        assert np.array_equal(got, np.arange(300).astype(np.uint8))


def test_stop_gradient_stops_it() -> None:
    assert hloom.grad(lambda x: x * lax.stop_gradient(x))(3.0) == 3.0
    x, n = lax.stop_gradient((jnp.ones(2), 3))
    assert x.shape == (2,) and n == 3


@pytest.mark.parametrize("dtype", EVERYTHING)
def test_full_and_full_like(dtype: str) -> None:
    with hloom.enable_x64():
        made = lax.full((2,), 1, dtype)
        assert made.dtype == dtype and np.array_equal(np.asarray(made), np.ones(2, made.dtype))
        assert lax.full_like(made, 0).dtype == dtype
        assert lax.full_like(made, 0, "int32", (3,)).shape == (3,)
        assert lax.empty((2,), dtype).dtype == dtype


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.reshape(jnp.ones(4), (3,)), TypeError, "4"),
        (lambda: lax.reshape(jnp.ones(4), (-1,)), ValueError, "hloom.numpy.reshape"),
        (lambda: lax.reshape(jnp.ones(4), (2.0, 2)), TypeError, "integers"),
        (lambda: lax.reshape(jnp.ones(4), 4), TypeError, "sequence"),
        (lambda: lax.squeeze(jnp.ones((1, 2)), (1,)), ValueError, "size 1"),
        (lambda: lax.squeeze(jnp.ones((1, 2)), (2,)), ValueError, "out of bounds"),
        (lambda: lax.squeeze(jnp.ones((1, 1)), (0, -2)), ValueError, "once"),
        (lambda: lax.expand_dims(jnp.ones(2), (0, 0)), ValueError, "once"),
        (lambda: lax.expand_dims(jnp.ones(2), (5,)), ValueError, "out of bounds"),
        (lambda: lax.rev(jnp.ones(2), (1,)), ValueError, "f32[2]"),
        (lambda: lax.rev(jnp.ones((2, 2)), (0, 0)), ValueError, "distinct"),
        (lambda: lax.rev(jnp.ones(2), 0), TypeError, "sequence"),
        (lambda: lax.iota(bool, 3), TypeError, "numbers"),
        (lambda: lax.iota("int32", -3), ValueError, "non-negative"),
        (lambda: lax.broadcasted_iota("int32", (2,), 1), ValueError, "axis"),
        (lambda: lax.full((2,), jnp.ones(2)), TypeError, "0-d"),
        (lambda: lax.full((-2,), 1.0), ValueError, "non-negative"),
        (lambda: lax.full((2,), 300, "uint8"), OverflowError, "300"),
        (lambda: lax.collapse(jnp.ones((2, 3)), 1, 1), ValueError, "range of axes"),
        (lambda: lax.broadcast(jnp.ones(2), (-1,)), ValueError, "non-negative"),
        (lambda: lax.broadcast_to_rank(jnp.ones((2, 2)), 1), ValueError, "take axes away"),
        (lambda: lax.broadcast_shapes((2,), (3,)), ValueError, "broadcast"),
        (lambda: lax.reshape("text", (2,)), TypeError, "text"),
    ],
)  # fmt: skip
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)
