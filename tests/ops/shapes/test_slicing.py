"""Slices, padding, concatenation, at fixed and at computed places."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.testing.operands import INTEGERS

I32 = np.int32


@pytest.mark.parametrize("dtype", [*INTEGERS, "uint64", "int16", "uint16"])
def test_a_slice_with_an_index_of_any_integer_type_is_moved_inside(dtype: str) -> None:
    x = np.arange(300, dtype=np.float32)
    info = np.iinfo(dtype)
    for i in (0, 5, 100, info.max, info.max // 2 + 1):
        for engine in ("xla", "reference", "numpy"):
            (got,) = testing.results(
                engine, lambda x, i: lax.dynamic_slice(x, (i,), (7,)), x, np.array(i, dtype)
            )
            start = min(i, 293)
            assert np.array_equal(got, x[start : start + 7]), (dtype, i, engine)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_a_negative_start_counts_from_the_end(dtype: str) -> None:
    x = np.arange(300, dtype=np.float32)
    for engine in ("xla", "reference", "numpy"):
        (got,) = testing.results(
            engine, lambda x, i: lax.dynamic_slice(x, (i,), (7,)), x, np.array(-20, dtype)
        )
        assert np.array_equal(got, x[280:287])
        (got,) = testing.results(
            engine,
            lambda x, i: lax.dynamic_slice(x, (i,), (7,), allow_negative_indices=False),
            x, np.array(-20, dtype),
        )  # fmt: skip
        assert np.array_equal(got, x[:7])


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "int8"])
def test_many_columns_side_by_side(dtype: str) -> None:
    x = np.arange(15_000).reshape(5, 1000, 3).astype(dtype)
    (got,) = testing.results("xla", lambda *xs: lax.stack(xs, -1), *x)
    np.testing.assert_array_equal(got, np.stack(x, -1))


X = jnp.ones((3, 4))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.slice(X, (0, 0), (4, 4)), ValueError, "limit <= 3"),
        (lambda: lax.slice(X, (2, 0), (1, 4)), ValueError, "axis 0"),
        (lambda: lax.slice(X, (0,), (1,)), TypeError, "each axis"),
        (lambda: lax.slice(X, (0, 0), (1, 1), (0, 1)), ValueError, "positive"),
        (lambda: lax.slice_in_dim(X, 0, 9), ValueError, "f32[3,4]"),
        (lambda: lax.slice_in_dim(X, 0, 1, axis=2), ValueError, "out of bounds"),
        (lambda: lax.index_in_dim(X, 3), IndexError, "index 3 is out of bounds"),
        (lambda: lax.pad(X, 0.0, [(0, 0, 0)]), TypeError, "each axis"),
        (lambda: lax.pad(X, 0.0, [(0, 0), (0, 0)]), TypeError, "triples"),
        (lambda: lax.pad(X, 0.0, [(0, 0, -1), (0, 0, 0)]), ValueError, "interior"),
        (lambda: lax.pad(X, 0.0, [(-4, 0, 0), (0, 0, 0)]), ValueError, "more elements"),
        (lambda: lax.pad(X, jnp.int32(0), [(1, 0, 0)] * 2), TypeError, "f32[3,4] and i32[]"),
        (lambda: lax.pad(X, jnp.ones(2), [(1, 0, 0)] * 2), TypeError, "0-d"),
        (lambda: lax.concatenate([], 0), ValueError, "at least one"),
        (lambda: lax.concatenate([X, jnp.ones((2, 3))], 0), TypeError, "f32[3,4] and f32[2,3]"),
        (lambda: lax.concatenate([X, jnp.ones((3, 4), int)], 0), TypeError, "dtype"),
        (lambda: lax.concatenate([X, X], 2), ValueError, "axis 2"),
        (lambda: lax.concatenate([jnp.ones(()), jnp.ones(())], 0), ValueError, "axis 0"),
        (lambda: lax.stack([X, jnp.ones(2)]), TypeError, "one shape"),
        (lambda: lax.split(X, (1, 1)), ValueError, "add up"),
        (lambda: lax.split(X, (4, -1)), ValueError, "non-negative"),
        (lambda: lax.tile(X, (2,)), ValueError, "each axis"),
        (lambda: lax.tile(X, (2, -1)), ValueError, "0 or more"),
        (lambda: lax.shape_as_value((1.5,)), TypeError, "takes integers"),
        (lambda: lax.shape_as_value((jnp.ones(2, int),)), TypeError, "i32[2]"),
        (lambda: lax.index_take(X, (jnp.zeros(2),), (0,)), TypeError, "integers of one shape"),
        (
            lambda: lax.index_take(X, (jnp.zeros(2, int), jnp.zeros(1, int)), (0, 1)),
            TypeError,
            "i32[2], i32[1]",
        ),
        (lambda: lax.index_take(X, (jnp.zeros(2, int),), (0, 1)), ValueError, "got 1"),
        (lambda: lax.index_take(X, (), ()), ValueError, "one or more"),
        (lambda: lax.index_take(X, (jnp.zeros(2, int),), (2,)), ValueError, "out of bounds"),
        (lambda: lax.index_take(X[:0], (jnp.zeros(2, int),), (0,)), ValueError, "no elements"),
        (lambda: lax.dynamic_slice(X, (0,), (1, 1)), TypeError, "each axis"),
        (lambda: lax.dynamic_slice(X, (0, 0), (4, 1)), ValueError, "at most"),
        (lambda: lax.dynamic_slice(X, (0.5, 0), (1, 1)), TypeError, "integers"),
        (lambda: lax.dynamic_slice(X, jnp.zeros((2, 2), int), (1, 1)), TypeError, "vector"),
        (lambda: lax.dynamic_update_slice(X, jnp.ones((4, 4)), (0, 0)), TypeError, "f32[4,4]"),
        (lambda: lax.dynamic_update_slice(X, jnp.ones((1, 1), int), (0, 0)), TypeError, "dtype"),
        (lambda: lax.dynamic_update_index_in_dim(X, jnp.ones(()), 0, 0), TypeError, "rank"),
    ],
)
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int64"])
def test_index_take_wraps_in_any_integer_dtype(dtype: str) -> None:
    x = np.arange(200)
    places = np.array([0, 127, 100], dtype)
    for engine in ("xla", "reference", "numpy"):
        (got,) = testing.results(engine, lambda x, i: lax.index_take(x, (i,), (0,)), x, places)
        np.testing.assert_array_equal(got, places)
    assert lax.index_take(jnp.arange(7), (jnp.array([2**31 - 1]),), (0,))[0] == (2**31 - 1) % 7


def test_shape_as_value_takes_traced_sizes() -> None:
    got = hloom.jit(lambda n: lax.shape_as_value((n, 3, np.int8(4))))(jnp.int32(2))
    np.testing.assert_array_equal(got, [2, 3, 4])
    assert got.dtype == np.int32 and lax.shape_as_value(()).shape == (0,)
    with hloom.enable_x64():
        assert lax.shape_as_value((2, -1)).dtype == np.int64


def test_errors_under_vmap_speak_of_one_example() -> None:
    with pytest.raises(ValueError, match=r"f32\[4\]"):
        hloom.vmap(lambda x: lax.slice(x, (0,), (9,)))(X)
