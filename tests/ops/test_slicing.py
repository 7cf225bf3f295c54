"""Slices, padding, concatenation, at fixed and at computed places."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from tests.ops import structured
from tests.ops.structured import INTEGERS, Case

I32 = np.int32


def _update(x: np.ndarray, u: np.ndarray, *starts: int) -> np.ndarray:
    out = np.array(x)
    wanted = [i + n if i < 0 else i for i, n in zip(starts, x.shape)]
    places = [min(max(i, 0), n - m) for i, n, m in zip(wanted, x.shape, u.shape)]
    out[tuple(slice(i, i + m) for i, m in zip(places, u.shape))] = u
    return out


CASES = [
    Case("slice", lambda x: lax.slice(x, (1, 0), (4, 2)), ((5, 3),), lambda x: x[1:4, :2]),
    Case("slice with strides", lambda x: lax.slice(x, (1, 0), (5, 3), (2, 3)), ((5, 3),),
         lambda x: x[1:5:2, :3:3]),
    Case("empty slice", lambda x: lax.slice(x, (2, 1), (2, 3)), ((5, 3),), lambda x: x[2:2, 1:3]),
    Case("slice that leaves a tail", lambda x: lax.slice(x, (0,), (8,), (3,)), ((10,),),
         lambda x: x[0:8:3]),
    Case("slice_in_dim", lambda x: lax.slice_in_dim(x, -4, None, 2, -2), ((5, 3),),
         lambda x: x[-4::2]),
    Case("index_in_dim", lambda x: lax.index_in_dim(x, -1, 1, keepdims=False), ((5, 3),),
         lambda x: x[:, -1]),
    Case("pad", lambda x, v: lax.pad(x, v, [(1, 2, 0), (0, 1, 2)]), ((2, 3), ()),
         lambda x, v: _numpy_pad(x, v, [(1, 2, 0), (0, 1, 2)])),
    Case("pad that takes away", lambda x, v: lax.pad(x, v, [(-1, 2, 1), (3, -2, 0)]), ((4, 3), ()),
         lambda x, v: _numpy_pad(x, v, [(-1, 2, 1), (3, -2, 0)])),
    Case("pad of nothing", lambda x, v: lax.pad(x, v, [(1, 2, 3)]), ((0,), ()),
         lambda x, v: np.full(3, v)),
    Case("pad that takes all away", lambda x, v: lax.pad(x, v, [(-2, 3, 0)]), ((1,), ()),
         lambda x, v: np.full(2, v)),
    Case("concatenate", lambda x, y, z: lax.concatenate([x, y, z], 1), ((2, 3), (2, 0), (2, 1)),
         lambda x, y, z: np.concatenate([x, y, z], 1)),
    Case("stack", lambda x, y: lax.stack([x, y], -1), ((2, 3), (2, 3)),
         lambda x, y: np.stack([x, y], -1)),
    Case("stack of many in front", lambda x, y: lax.stack([x, y, x, y, x], 0), ((2, 3), (2, 3)),
         lambda x, y: np.stack([x, y, x, y, x])),
    Case("unstack", lambda x: lax.unstack(x, 1), ((2, 3),), lambda x: list(np.moveaxis(x, 1, 0))),
    Case("split", lambda x: lax.split(x, (2, 0, 3), 1), ((2, 5),),
         lambda x: np.split(x, (2, 2), 1)),
    Case("tile", lambda x: lax.tile(x, (2, 3)), ((2, 3),), lambda x: np.tile(x, (2, 3))),
    Case("tile often", lambda x: lax.tile(x, (1, 20)), ((2, 3),), lambda x: np.tile(x, (1, 20))),
    Case("tile none", lambda x: lax.tile(x, (0, 2)), ((2, 3),), lambda x: np.tile(x, (0, 2))),
    Case("dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)),
         ((5, 4), I32(1), I32(1)), lambda x, i, j: x[1:3, 1:4]),
    Case("dynamic_slice over an edge", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)),
         ((5, 4), I32(9), I32(-1)), lambda x, i, j: x[3:5, 1:4]),
    Case("dynamic_slice of everything", lambda x, i: lax.dynamic_slice(x, (i,), (5,)),
         ((5,), I32(3)), lambda x, i: x),
    Case("dynamic_slice of nothing", lambda x, i: lax.dynamic_slice(x, (i,), (0,)),
         ((5,), I32(3)), lambda x, i: x[:0]),
    Case("dynamic_slice by a vector", lambda x, i: lax.dynamic_slice(x, i, (1, 2)),
         ((5, 4), np.array([2, 1], I32)), lambda x, i: x[2:3, 1:3]),
    Case("dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, 1, keepdims=False),
         ((3, 4), I32(-2)), lambda x, i: x[:, 2]),
    Case("dynamic_update_slice", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)),
         ((5, 4), (2, 3), I32(1), I32(1)), lambda x, u, i, j: _update(x, u, 1, 1)),
    Case("dynamic_update_slice over an edge",
         lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)),
         ((5, 4), (2, 3), I32(7), I32(-9)), lambda x, u, i, j: _update(x, u, 7, -9)),
    Case("dynamic_update_slice_in_dim",
         lambda x, u, i: lax.dynamic_update_slice_in_dim(x, u, i, -1),
         ((3, 4), (3, 2), I32(1)), lambda x, u, i: _update(x, u, 0, 1)),
    Case("dynamic_update_index_in_dim",
         lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, 1),
         ((3, 4), (3,), I32(1)), lambda x, u, i: _update(x, u[:, None], 0, 1)),
]  # fmt: skip


def _numpy_pad(x: np.ndarray, value: np.ndarray, config: list[tuple[int, int, int]]) -> np.ndarray:
    """Element by element."""
    shape = [lo + n + max(n - 1, 0) * mid + hi for n, (lo, hi, mid) in zip(x.shape, config)]
    out = np.full(shape, value)
    for place in np.ndindex(x.shape):
        target = tuple(lo + i * (mid + 1) for i, (lo, _, mid) in zip(place, config))
        if all(0 <= i < n for i, n in zip(target, shape)):
            out[target] = x[place]
    return out


@pytest.mark.parametrize(("case", "dtype"), structured.values(CASES), ids=str)
def test_value(case: Case, dtype: str) -> None:
    structured.check_value(case, dtype)


@pytest.mark.parametrize("case", structured.smooth(CASES), ids=str)
def test_derivative(case: Case) -> None:
    structured.check_jvp(case)
    structured.check_adjoint(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_batch(case: Case) -> None:
    structured.check_batch(case)


@pytest.mark.parametrize("dtype", [*INTEGERS, "uint64", "int16", "uint16"])
def test_a_slice_with_an_index_of_any_integer_type_is_moved_inside(dtype: str) -> None:
    x = np.arange(300, dtype=np.float32)
    info = np.iinfo(dtype)
    for i in (0, 5, 100, info.max, info.max // 2 + 1):
        for engine in ("xla", "reference", "numpy"):
            (got,) = structured.evaluate(
                engine, lambda x, i: lax.dynamic_slice(x, (i,), (7,)), x, np.array(i, dtype)
            )
            start = min(i, 293)
            assert np.array_equal(got, x[start : start + 7]), (dtype, i, engine)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_a_negative_start_counts_from_the_end(dtype: str) -> None:
    x = np.arange(300, dtype=np.float32)
    for engine in ("xla", "reference", "numpy"):
        (got,) = structured.evaluate(
            engine, lambda x, i: lax.dynamic_slice(x, (i,), (7,)), x, np.array(-20, dtype)
        )
        assert np.array_equal(got, x[280:287])
        (got,) = structured.evaluate(
            engine,
            lambda x, i: lax.dynamic_slice(x, (i,), (7,), allow_negative_indices=False),
            x, np.array(-20, dtype),
        )  # fmt: skip
        assert np.array_equal(got, x[:7])


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "int8"])
def test_many_columns_side_by_side(dtype: str) -> None:
    x = np.arange(15_000).reshape(5, 1000, 3).astype(dtype)
    (got,) = structured.evaluate("xla", lambda *xs: lax.stack(xs, -1), *x)
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


def test_errors_under_vmap_speak_of_one_example() -> None:
    with pytest.raises(ValueError, match=r"f32\[4\]"):
        hloom.vmap(lambda x: lax.slice(x, (0,), (9,)))(X)
