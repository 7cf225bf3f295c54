"""Sorting, searching, counting, sets against NumPy: any dtype and shape, ties, NaN, no elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hloom
import hloom.numpy as jnp
from property_tests.test_reductions import DTYPES, REAL, agree, arrays, outcome

FLAT = st.integers(0, 12).map(lambda n: (n,))


def axis_of(x: np.ndarray) -> Any:
    return st.none() | st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.none()


# ---- order --------------------------------------------------------------------------------------
@given(data=st.data())
def test_sort(data: Any) -> None:
    x = data.draw(arrays())
    axis = data.draw(axis_of(x))
    if axis is None and not x.ndim:
        return
    agree(lambda xp: (xp.sort(x, axis=axis), xp.argsort(x, axis=axis, kind="stable")))


@given(data=st.data())
def test_descending(data: Any) -> None:
    x = data.draw(arrays(REAL, shape=data.draw(FLAT)))
    with hloom.enable_x64():
        order = np.asarray(jnp.argsort(x, descending=True))
        np.testing.assert_array_equal(jnp.sort(x, descending=True), np.sort(x)[::-1])
    backwards = np.argsort(x[::-1], kind="stable")
    np.testing.assert_array_equal(order, (len(x) - 1 - backwards)[::-1])


@given(data=st.data())
def test_lexsort(data: Any) -> None:
    shape = data.draw(st.sampled_from([(0,), (5,), (9,), (3, 4)]))
    keys = tuple(
        [data.draw(arrays(REAL, shape=shape)) for _ in range(data.draw(st.integers(1, 3)))]
    )
    agree(lambda xp: xp.lexsort(keys, axis=data.draw(st.just(-1))))


@given(data=st.data())
def test_top_k(data: Any) -> None:
    x = data.draw(arrays(REAL, shape=data.draw(FLAT)))
    k = data.draw(st.integers(0, len(x)))
    for mode, sign in (("smallest", 1.0), ("largest", -1.0)):
        order = np.argsort(sign * x.astype(np.float64), kind="stable")[:k]
        with hloom.enable_x64():
            values, places = jnp.top_k(x, k, mode=mode)
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(values, x[order])


# ---- search -------------------------------------------------------------------------------------
@given(data=st.data())
def test_searchsorted(data: Any) -> None:
    a = np.sort(data.draw(arrays(shape=(data.draw(st.sampled_from([0, 1, 5, 32, 33, 70])),))))
    v = data.draw(arrays())
    side = data.draw(st.sampled_from(["left", "right"]))
    agree(lambda xp: xp.searchsorted(a, v, side=side))


@pytest.mark.parametrize("name", ["nonzero", "flatnonzero", "argwhere"])
@given(data=st.data())
def test_nonzero(name: str, data: Any) -> None:
    x = data.draw(arrays())
    agree(lambda xp: getattr(xp, name)(x))


@given(data=st.data())
def test_nonzero_with_a_size_is_cut_or_filled_up(data: Any) -> None:
    x = data.draw(arrays())
    size = data.draw(st.integers(0, 9))
    if not x.ndim:
        return
    with hloom.enable_x64():
        found = hloom.jit(lambda x: jnp.nonzero(x, size=size, fill_value=-7))(x)
    for got, want in zip(found, np.nonzero(x), strict=True):
        filled = np.concatenate([want, np.full(size, -7)])[:size]
        np.testing.assert_array_equal(got, filled)


@given(data=st.data())
def test_take(data: Any) -> None:
    x = data.draw(arrays())
    axis = data.draw(axis_of(x))
    size = x.size if axis is None else x.shape[axis]
    mode = data.draw(st.sampled_from(["raise", "clip", "wrap"]))
    low, high = (-size, size - 1) if mode == "raise" else (-9, 9)
    if not size:
        return
    shape = data.draw(st.sampled_from([(), (3,), (0,), (2, 2)]))
    count = int(np.prod(shape))
    places = data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count))
    places = np.array(places, data.draw(st.sampled_from(["int8", "int32", "int64"]))).reshape(shape)
    agree(lambda xp: xp.take(x, places, axis=axis, mode=mode))


@given(data=st.data())
def test_take_and_put_along_an_axis(data: Any) -> None:
    x = data.draw(arrays(shape=data.draw(st.sampled_from([(4,), (2, 3), (3, 1, 2)]))))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shape = list(x.shape)
    shape[axis] = data.draw(st.integers(1, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    places = rng.integers(-x.shape[axis], x.shape[axis], shape)
    agree(lambda xp: xp.take_along_axis(x, places, axis))
    want = x.copy()
    np.put_along_axis(want, places, x.flat[0], axis)
    with hloom.enable_x64():
        np.testing.assert_array_equal(
            jnp.put_along_axis(x, places, x.flat[0], axis, inplace=False), want
        )


@given(data=st.data())
def test_compress_and_extract(data: Any) -> None:
    x = data.draw(arrays())
    mask = data.draw(arrays(["bool", "int8"], shape=x.shape))
    agree(lambda xp: xp.extract(mask, x))
    if x.ndim:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        rows = data.draw(arrays(["bool"], shape=(x.shape[axis],)))
        agree(lambda xp: xp.compress(rows, x, axis=axis))


# ---- sets ---------------------------------------------------------------------------------------
@given(data=st.data())
def test_unique(data: Any) -> None:
    x = data.draw(arrays())
    axis = data.draw(axis_of(x))
    equal_nan = data.draw(st.booleans())
    if axis is not None and not x.size:
        return  # NumPy's answers differ from version to version
    agree(lambda xp: xp.unique(x, True, True, True, axis=axis, equal_nan=equal_nan))


@given(data=st.data())
def test_unique_with_a_size_is_cut_or_filled_up(data: Any) -> None:
    x = data.draw(arrays())
    size = data.draw(st.integers(1, 9))
    if not x.size:
        return
    with hloom.enable_x64():
        values, index, inverse, counts = hloom.jit(
            lambda x: jnp.unique(x, True, True, True, size=size)
        )(x)
    wanted = np.unique(x, True, True, True)
    n = min(size, len(wanted[0]))
    np.testing.assert_array_equal(values[:n], wanted[0][:n])
    np.testing.assert_array_equal(values[n:], np.full(size - n, wanted[0][0]))
    np.testing.assert_array_equal(index[:n], wanted[1][:n])
    np.testing.assert_array_equal(inverse, wanted[2])
    np.testing.assert_array_equal(counts, np.pad(wanted[3][:n], (0, size - n)))


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"])
@given(data=st.data())
def test_two_sets(name: str, data: Any) -> None:
    dtype = [data.draw(st.sampled_from(DTYPES))]  # promotion is another test's matter
    x, y = data.draw(arrays(dtype)), data.draw(arrays(dtype))
    agree(lambda xp: getattr(xp, name)(x, y))


# ---- counts -------------------------------------------------------------------------------------
@given(data=st.data())
def test_bincount(data: Any) -> None:
    x = data.draw(arrays(["uint8", "int32", "bool"], shape=data.draw(FLAT)))
    x = np.abs(x) if x.dtype.kind == "i" else x
    length = data.draw(st.integers(0, 9))
    agree(lambda xp: xp.bincount(x, minlength=length))
    if not x.size:
        return  # NumPy forgets the weights then
    weights = data.draw(arrays(["float64"], shape=x.shape, special=False))
    agree(lambda xp: xp.bincount(x, weights, minlength=length), 1e-13)


@given(data=st.data())
def test_digitize(data: Any) -> None:
    x = data.draw(arrays(REAL))
    bins = np.sort(data.draw(arrays(REAL, shape=data.draw(FLAT), special=False)))
    bins = bins[::-1] if data.draw(st.booleans()) else bins
    right = data.draw(st.booleans())
    agree(lambda xp: xp.digitize(x, bins, right=right))


@given(data=st.data())
def test_histogram(data: Any) -> None:
    x = data.draw(arrays([d for d in REAL if d not in ("bool", "float16")], special=False))
    edges = np.unique(data.draw(arrays(["float64"], shape=(5,), special=False)))
    bins = data.draw(st.integers(1, 12) | (st.just(edges) if len(edges) > 1 else st.just(3)))
    density = data.draw(st.booleans())
    if density and not x.size:
        return
    budget = 1e-5 if x.dtype == np.float32 else 1e-12
    agree(lambda xp: xp.histogram(x, bins, density=density), budget)


@given(data=st.data())
def test_diff(data: Any) -> None:
    x = data.draw(arrays(special=False))
    n = data.draw(st.integers(0, 3))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1)) if x.ndim else 0
    agree(lambda xp: xp.diff(x, n=n, axis=axis))


def test_outcomes_tell_errors_apart() -> None:
    assert outcome(lambda: np.max([])) is ValueError
