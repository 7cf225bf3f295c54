"""Sets mean what they mean in NumPy; size= under a trace."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.errors import ConcretizationTypeError
from tests.numpy import oracle
from tests.numpy.oracle import each

ARRAYS = [
    "xp.array([3, 1, 3, 2, 1])", "xp.array([1.0, xp.nan, 1.0, xp.nan, -0.0, 0.0])", "xp.zeros(0)",
    "xp.array([[1, 2], [1, 2], [0, 1]])", "xp.array(3, 'int64')", "xp.array([True, False, True])",
    "xp.array([1j, 1, 1j, 2])", "xp.array([[0, xp.nan], [0, xp.nan]])",
    "xp.array([2, 200, 2], 'uint8')",
]  # fmt: skip
FLAGS = [
    "", ", True, True, True", ", return_inverse=True", ", return_counts=True, equal_nan=False",
    ", equal_nan=False",
]  # fmt: skip

UNIQUE = [
    *each("xp.unique({}{})", ARRAYS, FLAGS),
    *each("xp.unique({}, True, True, True, axis={})", ARRAYS, ["0", "-1"]),
    *each("tuple(xp.{}({}))", ["unique_all", "unique_counts", "unique_inverse"], ARRAYS),
    *each("xp.sort(xp.unique_values({}))", ARRAYS),  # NumPy's may be in any order
    "xp.unique(A, axis=2)",
]  # fmt: skip


@pytest.mark.parametrize("program", UNIQUE)
def test_unique_as_numpy(program: str) -> None:
    oracle.check(program, jit=False)


@pytest.mark.parametrize("first", ARRAYS)
def test_two_sets_as_numpy(first: str) -> None:
    for second in ARRAYS:
        for f in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
            oracle.check(f"xp.{f}({first}, {second})", jit=False)
        oracle.check(f"xp.intersect1d({first}, {second}, return_indices=True)", jit=False)
        oracle.check(f"xp.isin({first}, {second}), xp.isin({first}, {second}, invert=True)")


def test_isin_of_many() -> None:
    oracle.check("xp.isin(xp.arange(100), xp.arange(0, 200, 3))")
    oracle.check("xp.isin(xp.array([1, 2], 'int8'), 300), xp.isin(A, [])")
    oracle.check("xp.isin(xp.array([2**24, 2**24 + 1]), xp.array([2.0**24], 'float32'))")


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "uint4"])
def test_dtypes_that_numpy_cannot_sort(dtype: str) -> None:
    x = jnp.array([3, 1, 2, 1], dtype)
    values, index, inverse, counts = jnp.unique(x, True, True, True)
    assert values.dtype == dtype and values.astype(int).tolist() == [1, 2, 3]
    assert (
        index.tolist() == [1, 2, 0]
        and inverse.tolist() == [2, 0, 1, 0]
        and counts.tolist() == [2, 1, 1]
    )
    assert jnp.union1d(x, x[:1]).dtype == dtype
    assert jnp.setdiff1d(x, x[:1]).astype(int).tolist() == [1, 2]
    sized = hloom.jit(lambda x: jnp.unique(x, size=2))(x)
    assert sized.astype(int).tolist() == [1, 2]


def test_all_nan_are_one() -> None:
    x = jnp.array([jnp.nan, 1.0, jnp.nan], jnp.bfloat16)
    assert jnp.unique(x, return_counts=True)[1].tolist() == [1, 2]
    assert jnp.unique(jnp.array([0.0, 1.0, jnp.nan, jnp.nan])).shape == (3,)


# ---- with a size --------------------------------------------------------------------------------
FEW = jnp.array([5, 3, 3, 9, 5, 1])
J = jnp.array([3, 4, 9])
E = jnp.array([], int)
ROWS = jnp.array([[1, 2], [1, 2], [0, 1]])
SIZED = [
    (lambda: jnp.unique(FEW, size=6), [1, 3, 5, 9, 1, 1]),
    (lambda: jnp.unique(FEW, size=2), [1, 3]),
    (lambda: jnp.unique(FEW, True, True, True, size=6, fill_value=-1),
     ([1, 3, 5, 9, -1, -1], [5, 1, 0, 3, 5, 5], [2, 1, 1, 3, 2, 0], [1, 2, 2, 1, 0, 0])),
    (lambda: jnp.unique(ROWS, True, True, True, axis=0, size=3),
     ([[0, 1], [1, 2], [0, 1]], [2, 0, 2], [1, 1, 0], [1, 2, 0])),
    (lambda: jnp.unique(ROWS, axis=1, size=3, fill_value=7), [[1, 2, 7], [1, 2, 7], [0, 1, 7]]),
    (lambda: jnp.unique(E, size=2, fill_value=3), [3, 3]),
    (lambda: jnp.unique(FEW.reshape(2, 3), return_inverse=True, size=4)[1], [[2, 1, 1],
    [3, 2, 0]]),
    (lambda: jnp.unique_counts(FEW, size=5, fill_value=0), ([1, 3, 5, 9, 0], [1, 2, 2, 1, 0])),
    (lambda: jnp.union1d(FEW, J, size=8), [1, 3, 4, 5, 9, 1, 1, 1]),
    (lambda: jnp.union1d(FEW, J, size=8, fill_value=-1), [1, 3, 4, 5, 9, -1, -1, -1]),
    (lambda: jnp.intersect1d(FEW, J, size=4), [3, 9, 3, 3]),
    (lambda: jnp.intersect1d(FEW, J, size=4, fill_value=-1, return_indices=True),
     ([3, 9, -1, -1], [1, 3, 6, 6], [0, 2, 3, 3])),
    (lambda: jnp.intersect1d(FEW, J[1:2], size=2, return_indices=True), ([0, 0], [6, 6], [1, 1])),
    (lambda: jnp.intersect1d(E, FEW, size=2), [0, 0]),
    (lambda: jnp.setdiff1d(FEW, J, size=4), [1, 5, 0, 0]),
    (lambda: jnp.setdiff1d(FEW, J, size=4, fill_value=-1), [1, 5, -1, -1]),
    (lambda: jnp.setdiff1d(FEW, J, assume_unique=True, size=3), [5, 5, 1]),
    (lambda: jnp.setdiff1d(FEW, FEW, size=2), [0, 0]),
    (lambda: jnp.setxor1d(FEW, J, size=5), [1, 4, 5, 1, 1]),
    (lambda: jnp.setxor1d(FEW, J, size=5, fill_value=-1), [1, 4, 5, -1, -1]),
    (lambda: jnp.setxor1d(FEW, FEW, size=2), [0, 0]),
    (lambda: jnp.setxor1d(E, E, size=1), [0]),
]  # fmt: skip


def lists(result: object) -> object:
    return tuple(lists(x) for x in result) if isinstance(result, tuple) else result.tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("call", "wanted"), SIZED, ids=range(len(SIZED)))
def test_sized(call, wanted: object) -> None:
    assert lists(call()) == wanted
    assert lists(tuple(found) if isinstance(found := hloom.jit(call)(), tuple) else found) == wanted


@pytest.mark.parametrize("f", ["unique", "unique_all", "unique_values"])
def test_shapes_that_depend_on_traced_values(f: str) -> None:
    with pytest.raises(ConcretizationTypeError, match="size"):
        hloom.jit(getattr(jnp, f))(FEW)
    for g in (jnp.union1d, jnp.intersect1d, jnp.setdiff1d, jnp.setxor1d):
        with pytest.raises(ConcretizationTypeError, match="size"):
            hloom.jit(g)(FEW, J)


def test_nothing_to_fill_with() -> None:
    with pytest.raises(ValueError, match="fill_value must be specified"):
        jnp.unique(E, size=3)


# ---- transformations ----------------------------------------------------------------------------
def test_derivatives_follow_the_first_of_equals() -> None:
    x = jnp.array([2.0, 1.0, 2.0, 3.0])
    assert hloom.grad(lambda x: jnp.sum(jnp.unique(x)))(x).tolist() == [1, 1, 0, 1]
    assert hloom.grad(lambda x: jnp.sum(jnp.unique(x, size=3)))(x).tolist() == [1, 1, 0, 1]


def test_vmap_is_a_loop() -> None:
    x = jnp.array([[1, 1, 2], [3, 2, 1]])
    assert hloom.vmap(lambda x: jnp.unique(x, size=3, fill_value=0))(x).tolist() == [
        [1, 2, 0],
        [1, 2, 3],
    ]
    np.testing.assert_array_equal(
        hloom.vmap(lambda x: jnp.isin(x, x[:1]))(x), [[1, 1, 0], [1, 0, 0]]
    )
