"""Shapes and axes: each line means the same to NumPy and to hloom."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, jit
from tests.numpy.oracle import check

SHAPES = """
xp.reshape(xp.arange(6), (2, 3))
xp.reshape(xp.arange(6), (2, -1))
xp.reshape(xp.arange(6), -1)
xp.reshape(xp.arange(6), [3, 2])
xp.reshape(A, (2, 6), order="F")
xp.reshape(A, (2, -1), order="F")
xp.reshape(A, (2, 6), order="A")
xp.reshape(A, (2, 6), order="K")
xp.reshape(A, (2, 6), order="Z")
xp.reshape(xp.zeros((0, 3)), (3, -1))
xp.reshape(xp.zeros((0, 3)), (-1, 0))
xp.reshape(xp.zeros((0, 3)), (0, -1))
xp.reshape(xp.zeros((0, 3)), (5, 0, 2))
xp.reshape(3.0, (1, 1))
xp.reshape(A, ())
xp.reshape(xp.arange(1), ())
xp.reshape(A, (5, 2))
xp.reshape(A, (5, -1))
xp.reshape(A, (-1, -1))
xp.reshape(A, (2.0, 6))
xp.reshape(A, "ab")
xp.reshape(A, (2, None))
A.reshape(4, 3)
A.reshape((4, 3))
A.reshape(-1)
A.reshape(6, -1, order="F")
A.reshape(4, 4)
xp.ravel(A)
xp.ravel(A, order="F")
xp.ravel(3)
xp.ravel(A, "Q")
xp.ravel(xp.zeros((2, 0)))
A.ravel()
A.flatten()
A.flatten("F")
xp.expand_dims(A, 0)
xp.expand_dims(A, (0, -1))
xp.expand_dims(A, (1, 2))
xp.expand_dims(A, 3)
xp.expand_dims(A, -4)
xp.expand_dims(A, (0, 0))
xp.squeeze(xp.ones((1, 3, 1)))
xp.squeeze(xp.ones((1, 3, 1)), 0)
xp.squeeze(xp.ones((1, 3, 1)), (0, -1))
xp.squeeze(xp.ones((1, 3, 1)), 1)
xp.squeeze(xp.ones((1, 3, 1)), (0, 0))
xp.squeeze(xp.ones((1, 3, 1)), 3)
xp.ones((1, 3, 1)).squeeze(axis=2)
xp.atleast_1d(3.0)
xp.atleast_1d(3.0, A)
xp.atleast_2d(V)
xp.atleast_2d(A, V, 1)
xp.atleast_3d(V)
xp.atleast_3d(A)
xp.atleast_3d(2, xp.ones((1, 2, 3, 4)))
xp.broadcast_to(V, (3, 4))
xp.broadcast_to(3, (2, 2))
xp.broadcast_to(V, 4)
xp.broadcast_to(V[:, None], (2, 4, 3))
xp.broadcast_to(V, (4, 3))
xp.broadcast_to(A, (4,))
xp.broadcast_to(V, (-1, 4))
xp.broadcast_to(xp.ones((1, 0)), (3, 0))
xp.broadcast_arrays(V, A[:, :1])
xp.broadcast_arrays(1, V)
xp.broadcast_arrays(V, xp.ones(3))
xp.broadcast_shapes((2, 1), (3,), 1)
xp.broadcast_shapes()
xp.broadcast_shapes((2,), (3,))
xp.broadcast_shapes((0,), (1,))
xp.broadcast_shapes((0,), (2,))
xp.resize(V, (2, 3))
xp.resize(V, 3)
xp.resize(V, (3, 3))
xp.resize(xp.ones(0), (2,))
xp.resize(V, (0,))
xp.resize(V, (-1, 2))
"""

AXES = """
xp.transpose(A)
xp.transpose(A, (1, 0))
xp.transpose(A, [-1, 0])
xp.transpose(xp.arange(24).reshape(2, 3, 4), (2, 0, 1))
xp.transpose(A, (0,))
xp.transpose(A, (0, 0))
xp.transpose(A, (0, 2))
xp.transpose(A, 0)
xp.transpose(V, 0)
xp.transpose(3.0)
A.transpose()
A.transpose(1, 0)
A.transpose((1, 0))
A.transpose(None)
A.T
xp.permute_dims(A, (1, 0))
xp.matrix_transpose(xp.arange(24).reshape(2, 3, 4))
xp.matrix_transpose(V)
A.mT
xp.swapaxes(A, 0, 1)
xp.swapaxes(A, 0, -3)
A.swapaxes(-1, 0)
xp.moveaxis(xp.ones((2, 3, 4)), 0, -1)
xp.moveaxis(xp.ones((2, 3, 4)), (0, 1), (-1, 0))
xp.moveaxis(xp.ones((2, 3, 4)), [2, 0], [0, 1])
xp.moveaxis(A, (0, 1), (0,))
xp.moveaxis(A, (0, 0), (0, 1))
xp.moveaxis(A, 0, 5)
xp.moveaxis(A, 5, 0)
xp.rollaxis(xp.ones((2, 3, 4)), 2)
xp.rollaxis(xp.ones((2, 3, 4)), 0, 3)
xp.rollaxis(xp.ones((2, 3, 4)), 0, -1)
xp.rollaxis(A, 0, 5)
xp.flip(A)
xp.flip(A, 0)
xp.flip(A, (0, -1))
xp.flip(A, ())
xp.flip(A, (0, 0))
xp.flip(A, 2)
xp.fliplr(A)
xp.fliplr(V)
xp.flipud(A)
xp.flipud(3)
xp.rot90(A)
xp.rot90(A, 2)
xp.rot90(A, 3)
xp.rot90(A, -1)
xp.rot90(A, 4)
xp.rot90(xp.arange(24).reshape(2, 3, 4), 1, (1, 2))
xp.rot90(xp.arange(24).reshape(2, 3, 4), 1, (2, 0))
xp.rot90(A, axes=(0,))
xp.rot90(A, axes=(0, -2))
xp.roll(V, 1)
xp.roll(V, -1)
xp.roll(V, 11)
xp.roll(A, 5)
xp.roll(A, 1, axis=0)
xp.roll(A, 1, axis=-1)
xp.roll(A, (1, 2), axis=(0, 1))
xp.roll(A, 1, axis=(0, 1))
xp.roll(A, (1, 1), axis=0)
xp.roll(A, (1, 2))
xp.roll(A, (1, 2), axis=(0, 0))
xp.roll(A, (1, 2, 3), axis=(0, 1))
xp.roll(A, 1, axis=2)
xp.roll(xp.array(3), 1)
xp.roll(xp.zeros((0, 2)), 1)
xp.roll(xp.zeros((0, 2)), 1, axis=1)
xp.roll(V, xp.array(2))
xp.roll(A, xp.array([1, 2]), axis=(0, 1))
xp.roll(V, xp.array(200, "uint8"))
xp.roll(V, xp.array(-100, "int8"))
"""


@pytest.mark.parametrize("program", (SHAPES + AXES).strip().splitlines())
def test_as_numpy(program):
    # Traced, the shape's sizes are still numbers: only arrays are traced.
    check(program)


def test_a_traced_size_is_refused_in_the_seeds_words():
    @jit
    def f(x):
        return x.reshape(jnp.array(x.shape).prod())

    with pytest.raises(
        TypeError, match="Shapes must be 1D sequences of concrete values of integer type"
    ) as caught:
        f(jnp.ones((2, 3)))
    assert isinstance(caught.value, errors.ConcretizationTypeError)
    text = str(caught.value)
    assert "np.prod(x.shape)" in text and "reduce_prod" in text and __file__ in text


def test_a_size_worked_out_by_numpy_is_fine_while_tracing():
    made = jit(lambda x: x.reshape((np.prod(x.shape),)))(jnp.ones((2, 3)))
    assert repr(made) == "Array([1., 1., 1., 1., 1., 1.], dtype=float32)"


def test_sizes_may_be_arrays():
    x = jnp.arange(6)
    assert x.reshape(np.int64(2), jnp.int32(3)).shape == (2, 3)
    assert jnp.reshape(x, np.array([3, 2])).shape == (3, 2)
    assert jnp.reshape(x, jnp.array([3, 2])).shape == (3, 2)


def test_equal_sizes_of_another_class_are_not_found_in_the_table():
    x = jnp.arange(6)
    assert x.reshape((2, 3)).shape == (2, 3)
    with pytest.raises(TypeError):
        x.reshape((2.0, 3.0))
    assert jnp.arange(1).reshape(1, 1).shape == (1, 1)
    assert jnp.arange(1).reshape(True, True).shape == (1, 1)  # as NumPy has it


def test_reshape_has_a_buffer_of_its_own():
    x = jnp.arange(6)
    y, z = x.reshape(2, 3), x.reshape(6)
    x.delete()
    assert y.tolist() == [[0, 1, 2], [3, 4, 5]] and z.tolist() == [0, 1, 2, 3, 4, 5]


def test_copy_false_is_refused():
    with pytest.raises(ValueError, match="share no memory"):
        jnp.reshape(jnp.arange(6), (2, 3), copy=False)


def test_reshape_says_what_was_given():
    with pytest.raises(ValueError, match=r"size 6 into shape \(4,\).*i32\[2,3\]"):
        jnp.arange(6).reshape(2, 3).reshape(4)


def test_axis_errors_name_function_and_array():
    with pytest.raises(np.exceptions.AxisError, match=r"swapaxes of f32\[2,3\].* 5 ") as caught:
        jnp.swapaxes(jnp.ones((2, 3)), 0, 5)
    assert caught.value.axis == 5 and caught.value.ndim == 2


def test_a_traced_axis_names_the_argument():
    with pytest.raises(errors.ConcretizationTypeError, match="`i`"):
        jit(lambda x, i: jnp.flip(x, i))(jnp.ones(3), 0)


def test_roll_by_a_traced_shift_compiles_once():
    x = jnp.arange(5)
    traced = []

    @jit
    def f(x, s):
        traced.append(s)
        return jnp.roll(x, s)

    for s in (-7, -1, 0, 2, 12):
        assert f(x, s).tolist() == np.roll(np.arange(5), s).tolist()
    assert len(traced) == 1


def test_roll_shifts_by_integers():
    with pytest.raises(TypeError, match="integers"):
        jnp.roll(jnp.arange(3), 1.5)
    with pytest.raises(TypeError, match="shift.astype"):
        jit(jnp.roll)(jnp.arange(3), 1.5)


def test_weak_types_pass_through():
    x = jnp.asarray(2.0).reshape(1, 1)
    assert jnp.broadcast_to(1.0, (2,)).weak_type
    assert jnp.ravel(x).dtype == np.float32


def test_shapes_under_grad_and_vmap():
    weights = jnp.arange(6.0)
    f = lambda x: (jnp.flip(jnp.roll(x.T.reshape(2, 3), 1), 1).ravel() * weights).sum()
    back = hloom.grad(f)(jnp.ones((3, 2)))
    place = np.arange(6).reshape(3, 2)
    moved = np.flip(np.roll(place.T.reshape(2, 3), 1), 1).ravel()
    expected = np.empty(6)
    expected[moved] = np.arange(6)
    assert back.ravel().tolist() == expected.tolist()
    batch = hloom.vmap(partial(jnp.roll, shift=1))(jnp.arange(6).reshape(2, 3))
    assert batch.tolist() == [[2, 0, 1], [5, 3, 4]]
