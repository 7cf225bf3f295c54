"""searchsorted, nonzero, take, put mean what they mean in NumPy; size= and modes under a trace."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.errors import ConcretizationTypeError
from tests.numpy import oracle
from tests.numpy.oracle import each

IDS = "xp.array([0, -1, 1])"
WIDE = "xp.array([[0, -1, 1, 1, 2], [1, 1, 0, -2, 3], [3, 3, 2, 0, 0]])"

PAIRS = [
    "xp.array([1, 3, 5]), [0, 1, 2, 3, 5, 9]",
    "xp.array([1.0, 2.0, xp.nan]), [xp.nan, 2.0, xp.inf]",
    "xp.zeros(0), A",
    "xp.arange(100), A",
    "xp.array([1, 3], 'int8'), 300",
    "xp.arange(9), []",
    "xp.array([1j, 1 + 1j, 2]), [1, 2j]",
    "xp.array([False, True]), xp.array([True, False])",
    "xp.array([2**24, 2**24 + 1]), xp.array([2.0**24 + 0.5], 'float32')",
]
INDICES = [IDS, "0", "-1", "[[0, 1], [1, -1]]", "[]", "7"]
ONE = ["", ", 0", ", axis=-1"]

PROGRAMS = [
    *each("xp.searchsorted({}, side='{}')", PAIRS, ["left", "right"]),
    "xp.searchsorted(V, 2.0, sorter=xp.argsort(V))",
    "xp.searchsorted([3, 1, 2], [1, 2, 4], sorter=[1, 2, 0])",
    "xp.searchsorted(V, 2.0, sorter=[0.0, 1, 2, 3])",
    "xp.searchsorted(V, 2.0, sorter=[0])",
    "xp.searchsorted(A, 2.0)",
    "xp.searchsorted(V, 2.0, side='middle')",
    *each("xp.take(A, {}{}, mode='{}')", INDICES, ONE, ["clip", "wrap"]),
    "xp.take(A, 0, axis=2)",
    "xp.take(A, xp.array([0.5]))",
    "xp.take(A, 0, mode='best')",
    "xp.take(xp.array(3), 0), xp.take(xp.zeros((0, 2)), xp.array([], int), axis=0)",
    "xp.take_along_axis(A, xp.argsort(A, axis=1), axis=1)",
    "xp.take_along_axis(A, xp.argmax(A, 0, keepdims=True), 0)",
    f"xp.take_along_axis(A, {WIDE} % 3, -1), xp.take_along_axis(A, xp.array([[1]]), 1)",
    "xp.take_along_axis(A, xp.array([3, 0]), None)",
    "xp.take_along_axis(A, xp.array([3, 0]), 1)",
    "xp.take_along_axis(A, xp.array([[0.5]]), 1)",
    "xp.take_along_axis(A, xp.zeros((2, 4), int), 1)",
    "xp.take_along_axis(A, xp.array([[0]]), 2)",
    "xp.take_along_axis(A, xp.array([[0]]), None)",
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_numpy(program: str) -> None:
    oracle.check(program)


MASKS = [
    "A", "xp.array([0, 1, 0, 2])", "xp.zeros((0, 3))", "xp.zeros((2, 3))", "xp.array(3)",
    "xp.array(0.0)",
    "xp.array([[True, False], [True, True]])", "xp.array([1j, 0])", "xp.array([xp.nan, 0.0, -0.0])",
]  # fmt: skip
KNOWN = [
    *each("xp.{}({})", ["nonzero", "flatnonzero", "argwhere"], MASKS),
    "xp.where(A > 1)",
    *each("xp.take(A, {}{})", [*INDICES, "-20", "True"], ONE),
    "xp.take(xp.zeros(0), [0])",
    "xp.take(xp.arange(5), 10)",
    "xp.take_along_axis(A, xp.array([[9]]), 1)",
    "xp.extract(A > 1, A), xp.extract([1, 0, 1], A)",
    "xp.compress([1, 0, 1], A, axis=0), xp.compress([True, False], A), xp.compress([0], A, axis=1)",
    "xp.compress([1, 0, 1, 1], A, axis=0)",
    "xp.compress([[1]], A)",
    "xp.compress([1], A, axis=2)",
]  # fmt: skip


@pytest.mark.parametrize("program", KNOWN)
def test_as_numpy_on_known_values(program: str) -> None:
    oracle.check(program, jit=False)


# ---- writing ------------------------------------------------------------------------------------
def written(name: str, x: np.ndarray, *args: object, **kwargs: object) -> np.ndarray:
    """What NumPy leaves in a copy."""
    copy = x.copy()
    getattr(np, name)(copy, *args, **kwargs)
    return copy


X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
WRITES = [
    ("put", [0, 5, -1], [1, 2]), ("put", [1, 1], [3, 4]), ("put", [], [1]), ("put", [2], 7),
    ("place", X > 4, [1, 2, 3]), ("place", X > 99, [1]), ("place", X >= 0, [5.0]),
    ("put_along_axis", np.array([[0], [1], [3]]), 99, 1), ("put_along_axis",
    np.array([[0, 2, 1, 0]]), X[:1], 0),
]  # fmt: skip


@pytest.mark.parametrize("write", WRITES, ids=lambda w: w[0])
def test_writes_as_numpy(write: tuple) -> None:
    name, *args = write
    want = written(name, X, *args)
    np.testing.assert_array_equal(getattr(jnp, name)(X, *args, inplace=False), want)
    with pytest.raises(ValueError, match="inplace=False"):
        getattr(jnp, name)(X, *args)


def test_modes_of_put() -> None:
    for mode in ("clip", "wrap"):
        want = written("put", X, [0, 50, -1], [7, 8, 9], mode=mode)
        np.testing.assert_array_equal(
            jnp.put(X, [0, 50, -1], [7, 8, 9], mode=mode, inplace=False), want
        )
    for bad in ([50], [-13]):
        with pytest.raises(IndexError, match="out of bounds"):
            jnp.put(X, bad, 1, inplace=False)
    with pytest.raises(ValueError, match="empty"):
        jnp.place(X, X > 1, [], inplace=False)
    with pytest.raises(ValueError, match="same size"):
        jnp.place(X, [True], [1], inplace=False)
    np.testing.assert_array_equal(
        jnp.put(X, jnp.array([50, 1]), 7, mode="drop", inplace=False), written("put", X, 1, 7)
    )


# ---- under a trace ------------------------------------------------------------------------------
FEW = jnp.array([5, 3, 3, 9, 5, 1])
OUTSIDE = jnp.array([-1, -7, 6, 2])
LEAST = -(2**31)


def test_traced_places_outside() -> None:
    take = lambda **how: hloom.jit(lambda x, i: jnp.take(x, i, **how))(FEW, OUTSIDE).tolist()
    assert take() == take(mode="fill") == [1, LEAST, LEAST, 3]
    assert take(fill_value=-7) == [1, -7, -7, 3]
    assert take(mode="clip") == [5, 5, 1, 3] and take(mode="wrap") == [1, 1, 5, 3]
    along = lambda **how: hloom.jit(lambda x, i: jnp.take_along_axis(x, i, 0, **how))(
        FEW, OUTSIDE
    ).tolist()
    assert along() == [1, LEAST, LEAST, 3] and along(fill_value=0) == [1, 0, 0, 3]
    assert np.isnan(hloom.jit(jnp.take)(FEW * 1.0, OUTSIDE)[1])
    with pytest.raises(NotImplementedError, match="mode='fill'"):
        take(mode="raise")


def test_known_places_outside_may_be_filled() -> None:
    assert jnp.take(FEW, OUTSIDE, mode="fill").tolist() == [1, LEAST, LEAST, 3]
    assert jnp.take(FEW, OUTSIDE, fill_value=0).tolist() == [1, 0, 0, 3]
    with pytest.raises(IndexError, match="index -7 is out of bounds for axis 0 with size 6"):
        jnp.take(FEW, OUTSIDE)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint32"])
def test_dtypes_of_places(dtype: str) -> None:
    x = jnp.arange(300)
    i = np.array([0, 100, 127], dtype)
    assert jnp.take(x, i).tolist() == [0, 100, 127]
    assert hloom.jit(jnp.take)(x, i).tolist() == [0, 100, 127]
    if i.dtype.kind == "i":
        assert hloom.jit(jnp.take)(x, -i).tolist() == [0, 200, 173]


def test_nonzero_with_a_size() -> None:
    mask = FEW > 3
    for f in (
        lambda x: jnp.nonzero(x, size=5, fill_value=-1),
        lambda x: jnp.where(x, size=5, fill_value=-1),
    ):
        assert f(mask)[0].tolist() == hloom.jit(f)(mask)[0].tolist() == [0, 3, 4, -1, -1]
    assert jnp.nonzero(mask, size=2)[0].tolist() == [0, 3]
    assert jnp.nonzero(mask, size=0)[0].shape == (0,)
    rows, columns = jnp.nonzero(jnp.ones((2, 2)), size=5, fill_value=(-1, -2))
    assert rows.tolist() == [0, 0, 1, 1, -1] and columns.tolist() == [0, 1, 0, 1, -2]
    assert jnp.argwhere(jnp.ones((2, 1)), size=3, fill_value=9).tolist() == [[0, 0], [1, 0], [9, 9]]
    assert jnp.flatnonzero(jnp.eye(2), size=3, fill_value=7).tolist() == [0, 3, 7]
    assert jnp.nonzero(jnp.zeros((0, 2)), size=1)[1].tolist() == [0]


def test_extract_and_compress_with_a_size() -> None:
    assert hloom.jit(lambda x: jnp.extract(x > 3, x, size=5, fill_value=7))(FEW).tolist() == [
        5,
        9,
        5,
        7,
        7,
    ]
    rows = jnp.arange(6).reshape(3, 2)
    keep = jnp.array([True, False, True])
    found = hloom.jit(lambda c, x: jnp.compress(c, x, axis=0, size=3))(keep, rows)
    assert found.tolist() == [[0, 1], [4, 5], [0, 0]]


@pytest.mark.parametrize("f", ["nonzero", "flatnonzero", "argwhere", "where"])
def test_shapes_that_depend_on_traced_values(f: str) -> None:
    with pytest.raises(ConcretizationTypeError, match="size"):
        hloom.jit(getattr(jnp, f))(FEW)
    with pytest.raises(ConcretizationTypeError, match="size"):
        hloom.jit(lambda x: jnp.extract(x > 3, x))(FEW)


def test_sizes_are_checked() -> None:
    for bad, error in ((-1, ValueError), (1.5, TypeError), ("a", TypeError)):
        with pytest.raises(error, match="size"):
            jnp.nonzero(FEW, size=bad)
    with pytest.raises(ValueError, match="0d"):
        jnp.nonzero(jnp.array(3), size=1)
    with pytest.raises(ValueError, match="fill_value"):
        jnp.nonzero(FEW, size=2, fill_value=(1, 2))


# ---- transformations ----------------------------------------------------------------------------
def test_derivatives() -> None:
    x = jnp.array([1.0, 2.0, 3.0])
    grad = lambda f: hloom.grad(f)(x).tolist()
    assert grad(lambda x: jnp.sum(jnp.take(x, jnp.array([0, 0, 2])))) == [2, 0, 1]
    assert grad(lambda x: jnp.sum(jnp.take_along_axis(x, jnp.array([2, 2]), 0))) == [0, 0, 2]
    assert grad(lambda x: jnp.sum(jnp.extract(x > 1, x))) == [0, 1, 1]
    assert grad(lambda x: jnp.sum(jnp.put(x, 0, 5.0, inplace=False))) == [0, 1, 1]
    assert grad(
        lambda x: jnp.sum(jnp.put_along_axis(x, jnp.array([1]), x[:1], 0, inplace=False))
    ) == [2, 0, 1]


def test_vmap_is_a_loop() -> None:
    x = jnp.array([[1, 0, 2], [0, 0, 3]])
    i = jnp.array([[2, 0], [1, 1]])
    pairs = zip(x, i)
    np.testing.assert_array_equal(
        hloom.vmap(jnp.take)(x, i), np.stack([jnp.take(a, b) for a, b in pairs])
    )
    found = hloom.vmap(lambda x: jnp.nonzero(x, size=2, fill_value=-1)[0])(x)
    assert found.tolist() == [[0, 2], [2, -1]]
    rows = jnp.array([[0, 1, 2], [1, 3, 5]])
    assert hloom.vmap(jnp.searchsorted)(rows, jnp.array([1, 4])).tolist() == [1, 2]
    assert hloom.vmap(jnp.searchsorted, in_axes=(None, 0))(rows[1], jnp.array([1, 4])).tolist() == [
        0,
        2,
    ]
