"""Joining, cutting, repeating, padding: each line means the same to NumPy and to hloom."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, jit
from tests.numpy.oracle import check

JOINING = """
xp.concatenate([A, A])
xp.concatenate((A, A), axis=1)
xp.concatenate([A, A], -1)
xp.concatenate([A, V], axis=None)
xp.concatenate([xp.arange(3), xp.ones(2)])
xp.concatenate([xp.ones(2, bool), xp.arange(2, dtype="int8")])
xp.concatenate([xp.ones(0), V])
xp.concatenate(A)
xp.concatenate([[1, 2], [3]])
xp.concatenate([[[1, 2]], [[3, 4]]])
xp.concatenate([1, 2], axis=None)
xp.concatenate([V, V], dtype="float32")
xp.concatenate([V, V], dtype="int32")
xp.concatenate([V, V], dtype="int32", casting="unsafe")
xp.concatenate([])
xp.concatenate([1, 2])
xp.concatenate(3)
xp.concatenate([A, V])
xp.concatenate([A, A[:, :2]])
xp.concatenate([A, A], axis=2)
xp.concat([A, A], axis=1)
xp.stack([V, V])
xp.stack([V, V], axis=1)
xp.stack([V, V], -1)
xp.stack([1, 2.5])
xp.stack(A, axis=1)
xp.stack([])
xp.stack([V, A])
xp.stack([V, V], axis=2)
xp.stack([V, V], dtype="int32", casting="unsafe")
xp.hstack([V, V])
xp.hstack([A, A])
xp.hstack([1, 2])
xp.hstack([A, V])
xp.hstack([])
xp.vstack([V, V])
xp.vstack([A, V])
xp.vstack([1, 2])
xp.vstack([A, xp.ones(3)])
xp.vstack(xp.ones((2, 3, 4)))
xp.dstack([V, V])
xp.dstack([A, A])
xp.dstack([1, 2])
xp.column_stack([V, V])
xp.column_stack([xp.ones(3), A])
xp.column_stack([1, 2])
xp.column_stack([V, A])
xp.append(V, V)
xp.append(A, A)
xp.append(A, A, axis=0)
xp.append(V, 3)
xp.append(A, V, axis=0)
xp.block([[A, xp.ones((3, 1))], [xp.zeros((1, 5))]])
xp.block([V, V])
xp.block([[V], [V]])
xp.block([1, 2, V])
xp.block(A)
xp.block([[[1]], [[2]]])
xp.block([[1, 2], [3]])
xp.block([[1, 2], 3])
xp.block((1, 2))
xp.block([])
xp.block([[1], []])
xp.split(V, 2)
xp.split(V, 3)
xp.split(V, [1, 3])
xp.split(V, [3, 1])
xp.split(V, [-1])
xp.split(V, [7])
xp.split(A, 2, axis=1)
xp.split(A, xp.array([1]), axis=-1)
xp.split(V, -1)
xp.split(V, [1.5])
xp.array_split(V, 3)
xp.array_split(V, 9)
xp.array_split(A, 2, axis=0)
xp.array_split(V, 0)
xp.array_split(V, [2])
xp.hsplit(V, 2)
xp.hsplit(A, 2)
xp.hsplit(3, 1)
xp.vsplit(A, 3)
xp.vsplit(V, 2)
xp.dsplit(xp.ones((1, 2, 4)), 2)
xp.dsplit(A, 2)
xp.unstack(A)
xp.unstack(A, axis=1)
xp.unstack(A, axis=2)
xp.unstack(xp.ones((0, 2)))
xp.unstack(xp.array(3))
"""

REPEATING = """
xp.tile(V, 2)
xp.tile(V, (2, 1))
xp.tile(A, 2)
xp.tile(A, (2, 2))
xp.tile(A, (2, 1, 2))
xp.tile(A, ())
xp.tile(3, 2)
xp.tile(V, (1, 0, 2))
xp.tile(V, -1)
xp.tile(V, 1.5)
xp.tile([True, False], 2)
xp.repeat(V, 2)
xp.repeat(A, 2)
xp.repeat(A, 2, axis=0)
xp.repeat(A, 3, axis=-1)
xp.repeat(A, 0, axis=1)
xp.repeat(3, 4)
xp.repeat(V, [1, 0, 2, 3])
xp.repeat(A, [1, 0, 2], axis=0)
xp.repeat(V, [2])
xp.repeat(V, [0, 0, 0, 0])
xp.repeat(V, [1, 2])
xp.repeat(V, -1)
xp.repeat(V, [1, -1, 1, 1])
xp.repeat(A, 2, axis=2)
xp.repeat(xp.ones(0), 2)
A.repeat(2)
A.repeat(2, axis=1)
"""

PADDING = """
xp.pad(V, 1)
xp.pad(V, (1, 2))
xp.pad(V, ((0, 3),))
xp.pad(A, ((1, 2), (0, 3)))
xp.pad(A, 1, constant_values=7)
xp.pad(A, 1, constant_values=(1, 2))
xp.pad(A, 1, constant_values=((1, 2), (3, 4)))
xp.pad(xp.arange(1, 5).reshape(2, 2), 1, constant_values=(1, 2))
xp.pad(xp.arange(4), 1, constant_values=1.7)
xp.pad(A, {0: (1, 2)})
xp.pad(A, {-1: 2})
xp.pad(A, {5: 2})
xp.pad(A, ((1,), (2,)))
xp.pad(A, 0)
xp.pad(xp.ones(0), 2)
xp.pad(xp.array(5), 2)
xp.pad(V, 3, "edge")
xp.pad(A, 2, mode="edge")
xp.pad(xp.ones(0), 1, mode="edge")
xp.pad(xp.ones((0, 2)), ((0, 0), (1, 1)), mode="edge")
xp.pad(V, 3, "linear_ramp")
xp.pad(V, (2, 3), "linear_ramp", end_values=(1, 9))
xp.pad(A, 2, "linear_ramp", end_values=((1, 9), (-3, 5)))
xp.pad(xp.arange(1, 4), (3, 5), "linear_ramp", end_values=-7)
xp.pad(V, 2, "maximum")
xp.pad(A, 2, "maximum", stat_length=2)
xp.pad(A, 2, "minimum", stat_length=((1, 2), (3, 1)))
xp.pad(V, 2, "minimum")
xp.pad(A, 2, "mean")
xp.pad(xp.array([1, 2, 2]), 1, "mean")
xp.pad(xp.array([2, 3]), 1, "mean")
xp.pad(xp.array([1, 2]), 1, "mean", stat_length=(1, 2))
xp.pad(V, 1, "maximum", stat_length=0)
xp.pad(V, 1, "mean", stat_length=-1)
xp.pad(V, 2, "reflect")
xp.pad(V, (7, 11), "reflect")
xp.pad(A, ((2, 3), (5, 1)), "reflect")
xp.pad(V, 2, "reflect", reflect_type="odd")
xp.pad(V, (7, 11), "reflect", reflect_type="odd")
xp.pad(xp.array([5]), 2, "reflect")
xp.pad(xp.array([5]), 2, "reflect", reflect_type="odd")
xp.pad(xp.array([250, 251], "uint8"), 3, "reflect", reflect_type="odd")
xp.pad(V, 2, "symmetric")
xp.pad(V, (7, 11), "symmetric")
xp.pad(A, ((2, 3), (5, 1)), "symmetric")
xp.pad(V, (7, 11), "symmetric", reflect_type="odd")
xp.pad(xp.array([5]), 2, "symmetric", reflect_type="odd")
xp.pad(V, 2, "wrap")
xp.pad(V, (7, 11), "wrap")
xp.pad(A, ((2, 3), (5, 1)), "wrap")
xp.pad(xp.array([True, False]), 2, "reflect")
xp.pad(xp.array([1 + 2j, 3]), 2, "linear_ramp")
xp.pad(V, 1, "foo")
xp.pad(V, 1, None)
xp.pad(V, 1, "edge", constant_values=3)
xp.pad(V, 1, "constant", end_values=3)
xp.pad(V, -1)
xp.pad(V, 1.5)
xp.pad(V, "a")
xp.pad(V, ((1, 2), (3, 4)))
"""


@pytest.mark.parametrize("program", (JOINING + REPEATING + PADDING).strip().splitlines())
def test_as_numpy(program):
    check(program)


EDITING = """
xp.insert(V, 1, 9)
xp.insert(V, [1, 1, 3], [7, 8, 9])
xp.insert(V, [1], [7, 8, 9])
xp.insert(V, 1, [7, 8, 9])
xp.insert(A, 1, 7)
xp.insert(A, 1, V, axis=0)
xp.insert(A, 1, [7, 8, 9], axis=1)
xp.insert(A, [1], [7, 8], axis=1)
xp.insert(A, [1], [[7], [8], [9]], axis=1)
xp.insert(A, [1, 3], [[7], [8], [9]], axis=1)
xp.insert(A, 1, [[7], [8], [9]], axis=1)
xp.insert(A, 0, A, axis=1)
xp.insert(V, slice(0, 2), 9)
xp.insert(V, slice(None, None, 2), 9)
xp.insert(V, -1, 9)
xp.insert(V, [-1, 0], [8, 9])
xp.insert(V, 4, 9)
xp.insert(V, xp.array([True, False, True, False]), 9)
xp.insert(V, [], [])
xp.insert(V, 1, [])
xp.insert(xp.arange(3), 1, 9.7)
xp.insert(V, 5, 9)
xp.insert(V, [5, 1], 9)
xp.insert(V, [0, 2], [1, 2, 3])
xp.insert(A, 1, [7, 8], axis=1)
xp.insert(A, 1, 7, axis=2)
xp.insert(V, [[1]], 9)
xp.delete(V, 1)
xp.delete(V, -1)
xp.delete(V, [1, 1, -1])
xp.delete(V, 4)
xp.delete(V, [5])
xp.delete(V, slice(1, 4, 2))
xp.delete(V, slice(3, 0, -2))
xp.delete(V, xp.array([True, False, True, False]))
xp.delete(V, [True, False])
xp.delete(V, [])
xp.delete(V, 1.0)
xp.delete(A, [0, 4])
xp.delete(A, 1, axis=1)
xp.delete(A, [0, 2], axis=0)
xp.delete(A, 1, axis=2)
xp.trim_zeros(xp.array([0, 0, 1, 0, 2, 0]))
xp.trim_zeros(xp.array([0, 0, 1, 0, 2, 0]), "f")
xp.trim_zeros(xp.array([0, 0, 1, 0, 2, 0]), "B")
xp.trim_zeros(xp.array([0, 0]))
xp.trim_zeros(xp.array([0, 0]), "b")
xp.trim_zeros(xp.array([nan, 0.0, -0.0]))
xp.trim_zeros(xp.array([0, 1]), "x")
"""
NEW_IN_NUMPY_2_2 = """
xp.trim_zeros(xp.array([[0, 0], [0, 1]]))
xp.trim_zeros(xp.array([[0, 0], [0, 1]]), axis=0)
xp.trim_zeros(xp.array([[0, 0], [0, 0]]), "f", axis=1)
"""

BITS = """
xp.packbits(xp.array([1, 0, 1]))
xp.packbits(xp.array([[1, 0, 1]] * 9), axis=0)
xp.packbits(xp.array([[1, 0, 1]] * 9), axis=-1)
xp.packbits(xp.array([[1, 0, 1]] * 9))
xp.packbits(xp.array([2, 0, 1]), bitorder="little")
xp.packbits(xp.array([True] * 17))
xp.packbits(xp.array([1.0, 0.0]))
xp.packbits(xp.array([1]), bitorder="x")
xp.packbits(xp.array([1]), axis=1)
xp.packbits(xp.zeros(0, bool))
xp.unpackbits(xp.array([160, 7], "uint8"))
xp.unpackbits(xp.array([160, 7], "uint8"), bitorder="little")
xp.unpackbits(xp.array([[160], [7]], "uint8"), axis=0)
xp.unpackbits(xp.array([[160], [7]], "uint8"), axis=1, count=3)
xp.unpackbits(xp.array([160], "uint8"), count=-3)
xp.unpackbits(xp.array([160], "uint8"), count=10)
xp.unpackbits(xp.array([160], "uint8"), count=0)
xp.unpackbits(xp.array([160], "uint8"), count=-10)
xp.unpackbits(xp.array([160]))
xp.unpackbits(xp.array(160, "uint8"))
"""


@pytest.mark.parametrize("program", (EDITING + BITS).strip().splitlines())
def test_editing_as_numpy(program):
    # Which elements are taken out must be known: no jit for masks, index arrays, values.
    traced = "mask" not in program and "trim" not in program and "xp.array([True" not in program
    check(program, jit=traced)


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.2.0", reason="trim_zeros was for vectors"
)
@pytest.mark.parametrize("program", NEW_IN_NUMPY_2_2.strip().splitlines())
def test_trim_zeros_of_matrices_as_numpy(program):
    check(program, jit=False)


def test_what_is_joined_is_named_in_errors():
    with pytest.raises(ValueError, match=r"f32\[2,3\], has size 3 .* f32\[2,2\], has size 2"):
        jnp.concatenate([jnp.ones((2, 3)), jnp.ones((2, 2))])
    with pytest.raises(ValueError, match=r"stack: .*f32\[2\], f32\[3\]"):
        jnp.stack([jnp.ones(2), jnp.ones(3)])


def test_python_numbers_are_weak_when_joined():
    assert jnp.append(jnp.ones(2, jnp.bfloat16), 3).dtype == jnp.bfloat16
    assert jnp.stack([1, 2]).weak_type
    assert jnp.stack([jnp.int8(1), 2]).dtype == np.int8


def test_repeat_of_traced_counts_needs_their_sum():
    counts = jnp.array([1, 0, 3])
    x = jnp.array([5, 6, 7])
    with pytest.raises(errors.ConcretizationTypeError, match="total_repeat_length"):
        jit(jnp.repeat)(x, counts)
    for n in (0, 2, 4, 6):
        known = jnp.repeat(x, counts, total_repeat_length=n)
        traced = jit(partial(jnp.repeat, total_repeat_length=n))(x, counts)
        expected = (np.repeat([5, 6, 7], [1, 0, 3]).tolist() + [7] * 9)[:n]
        assert known.tolist() == traced.tolist() == expected


def test_insert_and_delete_at_traced_places():
    v, rng = np.arange(5), np.random.default_rng(0)
    for _ in range(10):
        places = rng.integers(-5, 6, size=3)
        made = jit(lambda p: jnp.insert(v, p, jnp.array([7, 8, 9])))(places)
        assert made.tolist() == np.insert(v, places, [7, 8, 9]).tolist()
        one = int(places[0])
        assert jit(lambda p: jnp.insert(v, p, 9))(one).tolist() == np.insert(v, one, 9).tolist()
        one = int(rng.integers(-5, 5))
        assert jit(lambda p: jnp.delete(v, p))(one).tolist() == np.delete(v, one).tolist()
    two = jit(lambda p: jnp.delete(v, p, assume_unique_indices=True))(jnp.array([4, -4]))
    assert two.tolist() == [0, 2, 3]
    with pytest.raises(errors.ConcretizationTypeError, match="obj"):
        jit(lambda p: jnp.delete(v, p))(jnp.array([1, 2]))


def test_pad_by_a_function():
    def ends(vector, widths, axis, kwargs):
        before, after = widths
        at = jnp.arange(vector.size)
        inside = (at >= before) & (at < vector.size - after)
        return jnp.where(inside, vector, kwargs["value"] + axis)

    x = jnp.ones((1, 2))
    made = jnp.pad(x, 1, ends, value=5)
    assert made.tolist() == [[6, 5, 5, 6], [6, 1, 1, 6], [6, 5, 5, 6]]


def test_pad_with_traced_values():
    made = jit(lambda x, c: jnp.pad(x, 1, constant_values=c))(jnp.ones(2), 3)
    assert made.tolist() == [3, 1, 1, 3]
    slope = hloom.grad(
        lambda x: (jnp.pad(x, 1, "reflect", reflect_type="odd") * jnp.arange(5.0)).sum()
    )
    assert slope(jnp.ones(3)).tolist() == [1.0, 2.0 - 0 - 4.0, 3.0 + 8.0]


def test_pad_empty_gives_zeros():
    assert jnp.pad(jnp.ones(1), 1, "empty").tolist() == [0, 1, 0]


def test_integers_that_do_not_fit_are_not_put_in():
    with pytest.raises(OverflowError, match="300"):
        jnp.insert(jnp.zeros(2, jnp.uint8), 0, 300)


def test_gradients_pass_through_what_is_joined_and_cut():
    def f(x):
        left, right = jnp.split(x, 2)
        return (
            jnp.concatenate([right, left, jnp.repeat(x, jnp.array([2, 0, 1, 0]))]) * jnp.arange(7.0)
        ).sum()

    assert hloom.grad(f)(jnp.ones(4)).tolist() == [2 + 4 + 5, 3, 0 + 6, 1]


@pytest.mark.parametrize("dtype", ["int2", "uint2", "int4", "uint4", "float4_e2m1fn", "bool"])
def test_elements_narrower_than_a_byte_are_joined_padded_and_multiplied(dtype):
    """XLA CPU aborts the process where it has to move a quarter of a byte."""
    value = np.array([1, 0, 1, 1, 0, 1, 1])
    x = jnp.asarray(value).astype(dtype)
    for made, want in [
        (jnp.concatenate([x, x]), np.concatenate([value, value])),
        (jnp.stack([x, x], axis=1), np.stack([value, value], axis=1)),
        (jnp.pad(x, (1, 2), constant_values=1), np.pad(value, (1, 2), constant_values=1)),
        (jnp.tile(x, 3), np.tile(value, 3)),
        (jit(lambda x: jnp.append(x, x))(x), np.append(value, value)),
        (jnp.outer(x, x) @ jnp.ones(7, dtype).at[:6].set(0), value),
        (jnp.convolve(x, jnp.ones(1, dtype)), value),
    ]:
        assert made.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(made).astype(int), want)
