"""Sorting means what it means in NumPy; stable, NaN last, descending orders."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from tests.numpy import oracle
from tests.numpy.oracle import each

N = "xp.where(A > 4, xp.nan, A)"
TIES = "xp.array([3, 1, 2, 1, 3, 3, 0])"

PROGRAMS = [
    *each("xp.sort({}{})", ["A", N], ["", ", 0", ", axis=-1", ", axis=None", ", axis=2", ", 1.5"]),
    *each("xp.argsort({}{}, kind='stable')", ["A", N, TIES, "A * 0"], ["", ", 0", ", axis=None"]),
    *each("xp.sort({})", [
        "xp.zeros(0)", "xp.zeros((2, 0, 3))", "xp.array(3)", "xp.array([True, False])",
        "xp.array([1 + 2j, 1 - 1j, 0, xp.nan])", "xp.array([-0.0, 0.0, -1.0])",
        "xp.array([200, 3], 'uint8')",
    ]),
    "xp.argsort(xp.array(3)), xp.argsort(xp.zeros(0)), xp.argsort([3, 1])",
    "xp.sort(A, kind='best')",
    "xp.sort(A, order='f')",
    "xp.sort(A, kind='heapsort'), xp.sort(A, stable=True)",
    "xp.lexsort((A[0], A[1])), xp.lexsort(A), xp.lexsort((A, A[::-1])), xp.lexsort((A, A), axis=0)",
    f"xp.lexsort(({TIES}, {TIES} * 0)), xp.lexsort(({TIES} * 0, {TIES}))",
    "xp.lexsort(())",
    "xp.lexsort((A, V))",
    "xp.lexsort((A, A), axis=2)",
    "xp.lexsort(xp.array(3))",
    "xp.sort_complex(A), xp.sort_complex(xp.array([2 - 1j, 1 + 5j, 2 - 3j]))",
    "xp.sort_complex(xp.array(1.0))",
    "xp.partition(A, 4)",
    "xp.partition(A, -5)",
    "xp.partition(A, 1.5)",
    "xp.partition(A, [1, 7])",
    "xp.argpartition(A, 4)",
    "xp.partition(V, 1)[1], xp.partition(A, (0, 2), axis=0)[0], xp.partition(A, 3, axis=None)[3]",
    "xp.argpartition(V, 1)[1], xp.argpartition(A, 0, axis=0)[0]",
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_numpy(program: str) -> None:
    oracle.check(program)


def test_partitions_part() -> None:
    x = jnp.array([7.0, 1.0, jnp.nan, 5.0, 3.0])
    for kth in range(5):
        found = np.asarray(jnp.partition(x, kth))
        assert not (found[:kth] > found[kth]).any() and not (found[kth:] < found[kth]).any()
        np.testing.assert_array_equal(np.asarray(x)[jnp.argpartition(x, kth)], found)


# ---- descending ---------------------------------------------------------------------------------
def test_descending_is_ascending_read_from_the_end() -> None:
    x = jnp.array([[3.0, jnp.nan, 1.0], [2.0, 5.0, -jnp.inf]])
    for axis in (0, 1, None):
        up, down = jnp.sort(x, axis), jnp.sort(x, axis, descending=True)
        np.testing.assert_array_equal(np.flip(np.asarray(up), 0 if axis is None else axis), down)


def test_descending_places_are_stable() -> None:
    x = jnp.array([3, 1, 2, 1, 3, 3, 0])
    assert jnp.argsort(x, descending=True).tolist() == [0, 4, 5, 2, 1, 3, 6]
    assert jnp.argsort(x.astype("uint8"), descending=True).tolist() == [0, 4, 5, 2, 1, 3, 6]
    assert jnp.argsort(jnp.array([1.0, jnp.nan, 2.0, jnp.nan]), descending=True).tolist() == [
        1,
        3,
        2,
        0,
    ]


# ---- top_k --------------------------------------------------------------------------------------
TOPS = [
    ([1.0, np.nan, 3.0, -np.inf, 3.0], "largest", [2, 4, 0, 3, 1]),
    ([1.0, np.nan, 3.0, -np.inf, 3.0], "smallest", [3, 0, 2, 4, 1]),
    ([3, 1, 3, 2], "largest", [0, 2, 3, 1]),
    ([3, 1, 3, 2], "smallest", [1, 3, 0, 2]),
    ([True, False, True], "largest", [0, 2, 1]),
]


@pytest.mark.parametrize(("values", "mode", "order"), TOPS)
def test_top_k_puts_nan_last(values: list, mode: str, order: list[int]) -> None:
    x = jnp.array(values)
    for k in range(len(values) + 1):
        found = jnp.top_k(x, k, mode=mode)
        assert found.indices.tolist() == order[:k]
        np.testing.assert_array_equal(found.values, np.asarray(x)[order[:k]])


def test_top_k_along_an_axis() -> None:
    x = jnp.array([[1, 4], [3, 2], [5, 0]])
    values, places = jnp.top_k(x, 2, axis=0)
    assert values.tolist() == [[5, 4], [3, 2]] and places.tolist() == [[2, 0], [1, 1]]
    for bad in (
        lambda: jnp.top_k(x, 3),
        lambda: jnp.top_k(x, -1),
        lambda: jnp.top_k(x, 1, mode="first"),
    ):
        with pytest.raises(ValueError, match="top_k"):
            bad()


# ---- NaN and ties at every size -----------------------------------------------------------------
@pytest.mark.parametrize("size", [1, 15, 16, 4095, 4096, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "bool"])
def test_sizes(size: int, dtype: str) -> None:
    x = np.random.default_rng(size).integers(-9, 9, size).astype(dtype)
    if x.dtype.kind == "f":
        x[::7] = np.nan
        x[1::7] = -0.0
    np.testing.assert_array_equal(jnp.sort(x), np.sort(x))
    np.testing.assert_array_equal(jnp.argsort(x), np.argsort(x, kind="stable"))


# ---- transformations ----------------------------------------------------------------------------
X = jnp.array([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]])
W = jnp.array([1.0, 10.0, 100.0])


def test_derivatives_follow_the_elements() -> None:
    grad = lambda f: np.asarray(hloom.grad(f)(X)).tolist()
    assert grad(lambda x: jnp.sum(jnp.sort(x) * W)) == [[100, 1, 10], [10, 100, 1]]
    assert grad(lambda x: jnp.sum(jnp.sort(x, descending=True) * W)) == [[1, 100, 10], [10, 1, 100]]
    assert grad(lambda x: jnp.sum(jnp.top_k(x, 1).values)) == [[1, 0, 0], [0, 1, 0]]


def test_vmap_is_a_loop() -> None:
    for f in (jnp.sort, jnp.argsort, lambda x: jnp.top_k(x, 2)[1], lambda x: jnp.lexsort((x, -x))):
        np.testing.assert_array_equal(hloom.vmap(f)(X), np.stack([f(row) for row in X]))


def test_floats_of_4_bits_are_not_sorted_as_the_integers_they_round_to():
    value = np.array([3, -0.5, 1.5, 0.5, -6, 0, 1, -1.5], np.float32)
    x = jnp.asarray(value).astype("float4_e2m1fn")
    np.testing.assert_array_equal(jnp.sort(x).astype("float32"), np.sort(value))
    np.testing.assert_array_equal(jnp.argsort(x), np.argsort(value, kind="stable"))
    np.testing.assert_array_equal(jnp.searchsorted(jnp.sort(x), x), np.argsort(np.argsort(value)))


def test_arrays_without_elements_have_every_place():
    for function in (jnp.partition, jnp.argpartition):
        assert function(jnp.ones((2, 0)), 5).shape == (2, 0)
        with pytest.raises(ValueError, match="out of bounds"):
            function(jnp.ones(2), 5)
