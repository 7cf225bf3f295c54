"""Diagonals, positions, functions along axes: each line means the same to NumPy and to hloom."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, jit
from tests.numpy.oracle import check

POSITIONS = """
xp.diagonal(A)
xp.diagonal(A, 1)
xp.diagonal(A, -2)
xp.diagonal(A, 9)
xp.diagonal(A, -9)
xp.diagonal(xp.arange(24).reshape(2, 3, 4))
xp.diagonal(xp.arange(24).reshape(2, 3, 4), 1, 2, 0)
xp.diagonal(xp.arange(24).reshape(2, 3, 4), -1, axis1=-1, axis2=1)
xp.diagonal(xp.ones((0, 3)))
xp.diagonal(xp.ones((3, 0)))
xp.diagonal(V)
xp.diagonal(A, axis1=0, axis2=0)
xp.diagonal(A, axis1=0, axis2=2)
A.diagonal(1)
xp.trace(A)
xp.trace(A, 1)
xp.trace(A, -5)
xp.trace(xp.arange(24).reshape(2, 3, 4), axis1=1, axis2=2)
xp.trace(xp.ones((2, 2), "int8"))
xp.trace(xp.ones((2, 2), "int8"), dtype="int16")
xp.trace(xp.ones((2, 2), bool))
A.trace()
xp.trace(V)
xp.diag_indices(3)
xp.diag_indices(2, 3)
xp.diag_indices(0)
xp.diag_indices_from(xp.ones((3, 3)))
xp.diag_indices_from(A)
xp.diag_indices_from(V)
xp.tril_indices(3)
xp.tril_indices(3, -1)
xp.tril_indices(3, 1, 4)
xp.triu_indices(3)
xp.triu_indices(3, -1, 5)
xp.tril_indices_from(A)
xp.triu_indices_from(A, 1)
xp.triu_indices_from(V)
xp.mask_indices(3, xp.triu, 1)
xp.ix_([0, 1], [2, 3])
xp.ix_([0, 1], xp.array([True, False, True]))
xp.ix_([])
xp.ix_()
xp.ix_([[0, 1]])
A[xp.ix_([0, 2], [1, 3])]
xp.unravel_index([22, 41, 37], (7, 6))
xp.unravel_index([22, 41, 37], (7, 6), order="F")
xp.unravel_index([[22, 41]], (7, 6))
xp.unravel_index(3, 7)
xp.unravel_index(xp.array([3], "uint8"), (2, 4))
xp.unravel_index(42, (7, 6))
xp.unravel_index(-1, (7, 6))
xp.unravel_index(1.5, (7, 6))
xp.unravel_index(1, (7, 6), order="X")
xp.unravel_index(0, ())
xp.ravel_multi_index(([3, 6, 6], [4, 5, 1]), (7, 6))
xp.ravel_multi_index(([3, 6, 6], [4, 5, 1]), (7, 6), order="F")
xp.ravel_multi_index(([3, 6, 6], [4, 5, 1]), (4, 6), mode="clip")
xp.ravel_multi_index(([3, 6, -1], [4, 5, 1]), (4, 6), mode="wrap")
xp.ravel_multi_index(([3, 6, 6], [4, 5, 1]), (4, 6), mode=("clip", "wrap"))
xp.ravel_multi_index((3, [1, 2]), (4, 6))
xp.ravel_multi_index(xp.array([[3, 1], [1, 1]]), (4, 6))
xp.ravel_multi_index(([3, 6, 6], [4, 5, 1]), (4, 6))
xp.ravel_multi_index((3,), (4, 6))
xp.ravel_multi_index((3.5, 1), (4, 6))
xp.ravel_multi_index((3, 1), (4, 6), mode="x")
"""

APPLYING = """
xp.apply_along_axis(lambda v: v.sum(), 0, A)
xp.apply_along_axis(lambda v: v[::-1], 1, A)
xp.apply_along_axis(lambda v: v[:2, None] * v[None, :2], 0, A)
xp.apply_along_axis(lambda v, k: v * k, -1, A, 3)
xp.apply_along_axis(lambda v: v.max(), 1, xp.arange(24).reshape(2, 3, 4))
xp.apply_along_axis(lambda v: v.max(), 2, A)
xp.apply_over_axes(xp.sum, A, [0, 1])
xp.apply_over_axes(xp.sum, xp.ones((2, 3, 4)), [0, -1])
xp.apply_over_axes(xp.sum, A, 1)
xp.apply_over_axes(xp.sum, A, 2)
xp.apply_over_axes(lambda a, axis: a.ravel(), A, 1)
xp.vectorize(lambda a, b: a + 2 * b)(A, V)
xp.vectorize(lambda a, b: (a + b, a - b))(A, 1.0)
xp.vectorize(lambda a: a.sum(), signature="(n)->()")(A)
xp.vectorize(lambda a, b: a @ b, signature="(m,n),(n)->(m)")(xp.ones((2, 3, 4)), V)
xp.vectorize(lambda a, b: (a.sum(), b[::-1]), signature="(m),(n)->(),(n)")(A, xp.ones((2, 1, 5)))
xp.vectorize(lambda a: a, otypes=["float32"])(A)
xp.vectorize(lambda a, b=1: a * b)(A, b=V)
xp.vectorize(lambda a, k: a * k["x"], excluded=[1])(A, {"x": 2.0})
xp.vectorize(lambda a, k: a * k["x"], excluded=["k"])(A, k={"x": 2.0})
xp.vectorize(lambda a: a, signature="(n)->(n)")(3.0)
xp.vectorize(lambda a: a, signature="(n,m)->(n)")(A)
xp.vectorize(lambda a, b: a, signature="(n),(n)->(n)")(V, V[:2])
xp.vectorize(lambda a: a, signature="n->n")
xp.vectorize(lambda a: a, signature="(n)->(n)")(V, V)
xp.vectorize(lambda a, b: a + b)(A, xp.ones(3))
"""


@pytest.mark.parametrize("program", (POSITIONS + APPLYING).strip().splitlines())
def test_as_numpy(program):
    # Known positions are checked, and masks counted: traced ones can't be.
    traced = not any(name in program for name in ("unravel", "multi_index", "[True"))
    check(program, jit=traced)


def filled(shape, val, wrap=False):
    x = np.zeros(shape)
    np.fill_diagonal(x, val, wrap)
    return x


@pytest.mark.parametrize(
    "shape", [(3, 3), (2, 5), (5, 2), (7, 2), (3, 3, 3), (2, 2, 2, 2), (0, 3), (1, 1)]
)
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("val", [5, [1, 2], [[1.5, 2], [3, 4]], []], ids=str)
def test_fill_diagonal_as_numpy(shape, wrap, val):
    made = jnp.fill_diagonal(jnp.zeros(shape), val, wrap, inplace=False)
    assert made.tolist() == filled(shape, val, wrap).tolist()


def test_fill_diagonal_cannot_work_in_place():
    with pytest.raises(NotImplementedError, match="inplace=False"):
        jnp.fill_diagonal(jnp.zeros((2, 2)), 1)
    with pytest.raises(ValueError, match="equal length"):
        jnp.fill_diagonal(jnp.zeros((2, 3, 2)), 1, inplace=False)
    with pytest.raises(ValueError, match="2-d"):
        jnp.fill_diagonal(jnp.zeros(2), 1, inplace=False)


def test_traced_positions_are_clipped():
    rows, columns = jit(lambda i: jnp.unravel_index(i, (2, 3)))(jnp.array([-4, 4, 99]))
    assert rows.tolist() == [0, 1, 1] and columns.tolist() == [0, 1, 2]
    assert jit(lambda i: jnp.ravel_multi_index((i, i), (2, 3), mode="clip"))(5) == 5
    with pytest.raises(errors.ConcretizationTypeError, match="'wrap' or 'clip'"):
        jit(lambda i: jnp.ravel_multi_index((i, i), (2, 3)))(1)
    with pytest.raises(errors.NonConcreteBooleanIndexError):
        jit(jnp.ix_)(jnp.array([True, False]))


def test_vectorize_calls_the_function_once_for_one_example():
    seen = []

    @jnp.vectorize
    def f(a, b):
        """Doc."""
        seen.append((a.shape, b.shape))
        return a + b

    assert f(jnp.ones((2, 3)), jnp.ones(3)).shape == (2, 3)
    assert seen == [((), ())] and f.__doc__ == "Doc." and f.__name__ == "f"


def test_vectorize_is_a_decorator_with_arguments():
    @jnp.vectorize(signature="(n)->()", doc="The last.")
    def last(v):
        return v[-1]

    assert last(jnp.arange(6).reshape(2, 3)).tolist() == [2, 5] and last.__doc__ == "The last."


def test_vectorize_passes_none_on():
    f = jnp.vectorize(lambda a, b=None: a if b is None else a + b)
    assert f(jnp.arange(2), None).tolist() == [0, 1]


def test_vectorize_says_what_does_not_fit():
    f = jnp.vectorize(lambda a: a.sum(), signature="(n)->(n)")
    with pytest.raises(ValueError, match=r"result of .* f32\[\].*\(n\)"):
        f(jnp.ones((2, 3)))
    g = jnp.vectorize(lambda a: (a, a), signature="(n)->(n)")
    with pytest.raises(ValueError, match="2, its signature says 1"):
        g(jnp.ones((2, 3)))


def test_vectorized_functions_are_differentiable():
    f = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
    x = jnp.arange(6.0).reshape(2, 3)
    assert hloom.grad(lambda x: f(x, x).sum())(x).tolist() == (2 * np.asarray(x)).tolist()


def test_gradient_of_a_diagonal():
    back = hloom.grad(lambda x: (jnp.diagonal(x, 1) * jnp.arange(1.0, 3.0)).sum())(jnp.ones((2, 3)))
    assert back.tolist() == [[0, 1, 0], [0, 0, 2]]
