"""Sorting, argsort and top_k."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.ops.order.sorting import argsort
from hloom.testing.operands import EVERYTHING, FLOATS, ORDERED

I32 = np.int32


def _corners(dtype: str) -> Any:
    """Every corner twice and NaN of both signs, in a random order."""
    x = testing.corners(hloom.dtypes.as_dtype(dtype))
    if dtype in FLOATS:
        x = np.concatenate([x, np.array([-np.nan, np.nan]).astype(x.dtype)])
    return np.random.default_rng(0).permutation(np.concatenate([x, x]))


@pytest.mark.parametrize("dtype", EVERYTHING)
def test_corners_are_sorted_as_numpy_does(dtype: str) -> None:
    x = _corners(dtype)
    want = np.sort(testing.wider(x)).astype(x.dtype)
    order = np.argsort(testing.wider(x), kind="stable")
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, lax.sort, x)
        equal = (got == want) | (np.isnan(testing.wider(got)) & np.isnan(testing.wider(want)))
        assert equal.all(), (engine, got, want)
        (places,) = testing.results(engine, argsort, x)
        np.testing.assert_array_equal(places, order, engine)
        keys, values = testing.results(engine, lax.sort_key_val, x, np.arange(len(x)))
        np.testing.assert_array_equal(values, order, engine)
        assert testing.same_bits(keys, x[order]).all(), engine


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_subnormal_numbers_keep_their_place_and_value(dtype: str) -> None:
    info = hloom.dtypes.finfo(dtype)
    tiny = float(info.smallest_subnormal)
    x = np.array([3 * tiny, 0.0, -2 * tiny, tiny, 1.0, -tiny]).astype(info.dtype)
    (got,) = testing.results("xla", lax.sort, x)
    assert testing.same_bits(got, np.sort(x.astype(np.float64)).astype(x.dtype)).all()


@pytest.mark.parametrize("dtype", ORDERED)
def test_top_k_of_corners(dtype: str) -> None:
    x = _corners(dtype)
    ascending = np.argsort(testing.wider(x)[::-1], kind="stable")
    k = min(9, len(x))
    want = (len(x) - 1 - ascending)[::-1][:k]  # descending; of equals the first comes first
    for engine in testing.ENGINES:
        values, places = testing.results(engine, lambda x: lax.top_k(x, k), x)
        np.testing.assert_array_equal(places, want, engine)
        assert testing.same_bits(values, x[places]).all(), engine


@pytest.mark.parametrize(
    "dtype",
    ["int32", "uint32", "int64", "uint64", "float32", "float64", "bfloat16", "complex64"],
)
@pytest.mark.parametrize("shape", [(5000,), (3, 4000), (4000, 3), (40, 500), (70, 1, 60)])
def test_larger_arrays(dtype: str, shape: tuple[int, ...]) -> None:
    x = testing.drawn(hloom.dtypes.as_dtype(dtype), -99, 99, int(np.prod(shape)), 0)
    if dtype == "float32":
        x[::97] = np.nan
        x[5::97] = np.inf
    x = x.reshape(shape)
    for axis in range(len(shape)):
        places = np.indices(shape, I32)[axis]
        value, order, _, moved = testing.results(
            "xla",
            lambda x, i, axis=axis: (
                lax.sort(x, axis), argsort(x, axis), *lax.sort_key_val(x, i, axis)
            ),
            x, places,
        )  # fmt: skip
        want = np.argsort(testing.wider(x), axis, kind="stable")
        np.testing.assert_array_equal(order, want)
        np.testing.assert_array_equal(moved, want)
        np.testing.assert_array_equal(
            testing.wider(value), testing.wider(np.take_along_axis(x, want, axis))
        )


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize(("shape", "axis"), [((50_000,), 0), ((3, 5003), 1), ((5003, 3), 0)])
@pytest.mark.parametrize("k", [1, 7, 60])
def test_top_k_of_larger_arrays(dtype: str, shape: tuple[int, ...], axis: int, k: int) -> None:
    x = testing.drawn(hloom.dtypes.as_dtype(dtype), -999, 999, int(np.prod(shape)), 0)
    if dtype == "float32":
        x[5::9997] = np.nan
        x[77::9001] = np.inf
    x = x.reshape(shape)
    values, places = testing.results("xla", lambda x: lax.top_k(x, k, axis=axis), x)
    ascending = np.argsort(testing.wider(np.flip(x, axis)), axis, kind="stable")
    want = np.take(np.flip(shape[axis] - 1 - ascending, axis), range(k), axis)
    np.testing.assert_array_equal(places, want)
    np.testing.assert_array_equal(values, np.take_along_axis(x, want, axis))


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize(("shape", "axis"), [((1100, 500), 1), ((70, 8000), 0), ((60, 40, 300), 1)])
def test_many_sorts_side_by_side(dtype: str, shape: tuple[int, ...], axis: int) -> None:
    x = testing.drawn(hloom.dtypes.as_dtype(dtype), 0, 250, int(np.prod(shape)), 0).reshape(shape)
    value, order = testing.results("xla", lambda x: (lax.sort(x, axis), argsort(x, axis)), x)
    want = np.argsort(x, axis, kind="stable")
    np.testing.assert_array_equal(order, want)
    np.testing.assert_array_equal(value, np.take_along_axis(x, want, axis))


def test_zeros_of_either_sign_leave_the_imaginary_parts_to_decide() -> None:
    x = np.array([complex(0.0, 5.0), complex(-0.0, 3.0), complex(0.0, 1.0)])
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, lax.sort, x)
        np.testing.assert_array_equal(got.imag, [1, 3, 5], engine)


def test_the_gradient_of_a_sort_goes_to_where_an_element_came_from() -> None:
    x = jnp.array([3.0, 1.0, 2.0])
    weights = jnp.array([1.0, 10.0, 100.0])
    fun = lambda x: lax.reduce_sum(lax.mul(lax.sort(x), weights), (0,))
    assert np.array_equal(hloom.grad(fun)(x), [100.0, 1.0, 10.0])


X = jnp.ones((3, 4))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.sort(X, 2), ValueError, "out of bounds"),
        (lambda: lax.sort(jnp.float32(1)), ValueError, "out of bounds"),
        (lambda: lax.sort((X, jnp.ones(3))), TypeError, "one shape"),
        (lambda: lax.sort((X, X), num_keys=3), ValueError, "num_keys"),
        (lambda: lax.sort((X, X), num_keys=0), ValueError, "num_keys"),
        (lambda: lax.sort([]), TypeError, "at least one"),
        (lambda: lax.top_k(X, 5), ValueError, "from 0 to 4"),
        (lambda: lax.top_k(X, -1), ValueError, "got -1"),
        (lambda: lax.top_k(X, 1.5), TypeError, "takes k as an int"),
        (lambda: lax.top_k(X * 1j, 1), TypeError, "ordered"),
        (lambda: lax.top_k(jnp.float32(1), 1), ValueError, "out of bounds"),
        (lambda: argsort(X, 5), ValueError, "out of bounds"),
    ],
)
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, dtype: lax.argmax(x, 0, dtype),
        lambda x, dtype: lax.argmin(x, 0, dtype),
        lambda x, dtype: argsort(x, 0, dtype),
        lambda x, dtype: hloom.ops.order.searching.searchsorted(x[:-1], x[:1], index_dtype=dtype),
    ],
)
def test_places_that_a_dtype_cannot_count_are_refused(call: Any) -> None:
    assert call(jnp.arange(128), "int8").dtype == "int8"
    with pytest.raises(ValueError, match=r"counts positions in i8; axis 0 of i32\[12[89]\]"):
        call(jnp.arange(129), "int8")
    with pytest.raises(ValueError, match="counts positions in i32; axis 0 of bool"):
        long = hloom.ShapeDtypeStruct((2**31 + 2,), "bool")
        hloom.eval_shape(lambda x: call(x, "int32"), long)


@pytest.mark.parametrize("function", [jnp.argmax, jnp.argmin, jnp.argsort])
def test_places_beyond_32_bits_are_refused_while_the_default_integer_has_32(function: Any) -> None:
    with pytest.raises(ValueError, match=r"counts positions in i32; axis 0 of i8\[2147483649\]"):
        hloom.eval_shape(function, hloom.ShapeDtypeStruct((2**31 + 1,), "int8"))
