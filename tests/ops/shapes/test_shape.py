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


@pytest.mark.parametrize(
    ("x", "narrow", "wide"),
    [
        (1, "int32", "int64"), (1.0, "float32", "float64"), (True, "bool", "bool"),
        (2j, "complex64", "complex128"), (np.float64(1), "float32", "float64"),
        (np.arange(3, dtype="int64"), "int32", "int64"), (float, "float32", "float64"),
        (np.float32, "float32", "float32"), (np.dtype("uint64"), "uint32", "uint64"),
        ("int8", "int8", "int8"), (jnp.bfloat16, "bfloat16", "bfloat16"),
        (jnp.ones(2, "int16"), "int16", "int16"),
        (hloom.ShapeDtypeStruct((2,), "uint8"), "uint8", "uint8"),
    ],
    ids=str,
)  # fmt: skip
def test_dtype_is_what_an_array_would_have(x: object, narrow: str, wide: str) -> None:
    assert lax.dtype(x) == narrow
    with hloom.enable_x64():
        assert lax.dtype(x) == wide
    assert hloom.jit(lambda x: lax.full_like(x, lax.dtype(x).itemsize))(jnp.ones(2))[0] == 4


def test_dce_sink_leaves_an_equation_in_the_jaxpr() -> None:
    text = str(hloom.make_jaxpr(lambda x: lax.dce_sink({"a": lax.sin(x), "b": 1}))(1.0))
    assert "sin a" in text
    assert lax.dce_sink(jnp.ones(3)) is None


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
        (lambda: lax.broadcast_like(jnp.ones(2), jnp.ones((2, 3))), ValueError, "f32[2,3]"),
        (lambda: lax.broadcast_like(jnp.ones((1, 3)), jnp.ones(3)), ValueError, "f32[1,3] to"),
        (lambda: lax.dtype([1, 2]), TypeError, "an array, a number or a dtype; got [1, 2]"),
        (lambda: lax.dtype(None), TypeError, "got None"),
        (lambda: lax.dce_sink({"a": "text"}), TypeError, "text"),
        (lambda: lax.dce_sink(1.0, prevent_mlir_dce=True), NotImplementedError, "return the value"),
        (lambda: lax.reshape("text", (2,)), TypeError, "text"),
    ],
)  # fmt: skip
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)
