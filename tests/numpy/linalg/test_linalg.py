"""Products, einsum, norms: each line means the same to NumPy and to hloom."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import jit, make_jaxpr
from tests.numpy.oracle import check

# Sums of up to 6 products in another order, and fused: 6 roundings of half an ulp.
CLOSE = 6 * 2.0**-53

PRODUCTS = """
A @ A.T
A @ V
xp.ones(3) @ A
V @ V
xp.ones((5, 3, 4)) @ xp.ones((4, 2))
xp.ones((3, 4)) @ xp.ones((5, 4, 2))
xp.ones((5, 1, 3, 4)) @ xp.ones((6, 4, 2))
xp.arange(24).reshape(2, 3, 4) @ xp.arange(24).reshape(2, 4, 3)
xp.arange(24).reshape(2, 1, 3, 4) @ xp.arange(48).reshape(1, 4, 4, 3)
xp.arange(24).reshape(2, 3, 4) @ xp.arange(4)
xp.arange(3) @ xp.arange(24).reshape(2, 3, 4)
xp.matmul(A, A)
xp.matmul(A, 2)
xp.matmul(A, V[:3])
xp.matmul(xp.ones((5, 2, 3)), xp.ones((4, 3, 2)))
xp.ones((3, 0)) @ xp.ones((0, 2))
xp.ones((0, 3)) @ xp.ones((3, 2))
xp.ones((0, 3, 4)) @ xp.ones((4, 2))
xp.array([100, 100], "int8") @ xp.array([2, 3], "int8")
xp.array([True, False]) @ xp.array([[True, False], [True, True]])
xp.zeros((2, 0), bool) @ xp.zeros((0, 2), bool)
xp.array([1j, 2]) @ xp.array([3, 4j])
A.dot(V)
xp.dot(A, A.T)
xp.dot(A, 2)
xp.dot(2, 3)
xp.dot(True, xp.array([True, False]))
xp.dot(xp.ones((2, 3, 4)), xp.ones((5, 4, 6)))
xp.dot(xp.ones((2, 3, 4)), V)
xp.dot(V, xp.ones((5, 4, 6)))
xp.dot(A, A)
xp.dot(V, xp.ones(3))
xp.dot(xp.ones((2, 4)), xp.ones((2, 4)))
xp.dot(xp.array([2**62, 2**62]), xp.array([2, 3]))
xp.vdot(A, A)
xp.vdot(xp.array([1j, 2]), xp.array([1j, 3]))
xp.vdot(A, V)
xp.inner(A, A)
xp.inner(A, V)
xp.inner(A, 3)
xp.inner(xp.ones((2, 4)), xp.ones((2, 3)))
xp.outer(V, [1, 2])
xp.outer(A, V)
xp.outer(3, 4)
xp.tensordot(A, A)
xp.tensordot(A, A.T, axes=1)
xp.tensordot(A, A, axes=0)
xp.tensordot(A, A, axes=([0, 1], [0, 1]))
xp.tensordot(A, A, axes=(0, 0))
xp.tensordot(A, A, axes=((1,), (-1,)))
xp.tensordot(xp.ones((2, 3, 4)), xp.ones((4, 3)), axes=([2, 1], [0, 1]))
xp.tensordot(A, V)
xp.tensordot(A, A.T)
xp.tensordot(A, A, axes=([0, 1], [0]))
xp.kron(A, [1, 2])
xp.kron(A, A)
xp.kron([1, 2], [[1], [3]])
xp.kron(3, V)
xp.kron(xp.ones((1, 2, 1)), A)
xp.cross([1, 2, 3], [4, 5, 6])
xp.cross(A[:, :3], [1, 2, 3])
xp.cross(A[:, :3], A[:, 1:])
xp.cross(A, A[::-1], axis=0)
xp.cross(A, A[:, :3], axisa=0, axisb=1)
xp.cross(A, A[:, :3], axisa=0, axisb=1, axisc=0)
xp.cross(V, V)
xp.cross(xp.ones((2, 3)), xp.ones((4, 3)))
xp.cross(1, [1, 2, 3])
"""
NEW_IN_NUMPY_2_2 = """
xp.vecdot(A, V)
xp.vecdot(A, A, axis=0)
xp.vecdot(xp.array([1j, 2]), xp.array([1j, 3]))
xp.vecdot(V, xp.ones(3))
xp.vecdot(A, xp.ones((2, 4)))
xp.matvec(A, V)
xp.matvec(xp.ones((5, 1, 3, 4)), xp.ones((6, 4)))
xp.matvec(A, xp.ones(3))
xp.vecmat(xp.ones(3), A)
xp.vecmat(xp.array([1j, 2]), xp.array([[1j, 3], [4, 5]]))
xp.vecmat(V, A)
xp.matvec(V, V)
"""

EINSUM = """
xp.einsum("ij,jk", A, A.T)
xp.einsum("ij,jk->ki", A, A.T)
xp.einsum("ij->ji", A)
xp.einsum("ba", A)
xp.einsum("aB", A)
xp.einsum("ij->i", A)
xp.einsum("ij->", A)
xp.einsum("ij->j", A)
xp.einsum("ii->i", xp.arange(9.0).reshape(3, 3))
xp.einsum("ii", xp.arange(9.0).reshape(3, 3))
xp.einsum("iij->j", xp.arange(18).reshape(3, 3, 2))
xp.einsum("iji->ij", xp.arange(18).reshape(3, 2, 3))
xp.einsum("iii->i", xp.arange(27).reshape(3, 3, 3))
xp.einsum("ijij->ij", xp.arange(36).reshape(2, 3, 2, 3))
xp.einsum("sa,shb->shab", xp.ones((2, 1)), xp.ones((2, 3, 4)))
xp.einsum("i,i", V, V)
xp.einsum("i,i->i", V, V)
xp.einsum("i,j", V, V)
xp.einsum("i,j->ji", V, V)
xp.einsum("i,i,i", V, V, V)
xp.einsum("ij,jk,kl->il", A, A.T, A)
xp.einsum("ij,jk,kl->il", A, A.T, A, optimize=True)
xp.einsum("ij,jk,kl->il", A, A.T, A, optimize="optimal")
xp.einsum("ij,jk,kl->il", A, A.T, A, optimize=["einsum_path", (1, 2), (0, 1)])
xp.einsum("ij,jk,kl,lm", A, A.T, A, A.T, optimize=False)
xp.einsum("i,ij,ij,j->", xp.ones(3), A, A, V)
xp.einsum("...i", A)
xp.einsum("i...", A)
xp.einsum("i...->...", A)
xp.einsum("...i,...i->...", A, A)
xp.einsum("...ij,...jk->...ik", xp.ones((5, 3, 4)), A.T)
xp.einsum("...ij,...jk", xp.ones((5, 1, 3, 4)), xp.ones((2, 4, 3)))
xp.einsum("b...,a...", A, xp.ones((4, 5, 4)))
xp.einsum("i->i...", V)
xp.einsum("ij,...", A, 2.0)
xp.einsum("i,i", xp.ones(1), V)
xp.einsum("ij,jk", xp.ones((2, 1)), xp.ones((3, 4)))
xp.einsum(" i j , j k -> i k ", A, A.T)
xp.einsum("", 3.0)
xp.einsum("->", 3.0)
xp.einsum(",->", 3.0, 2.0)
xp.einsum(",i->i", 3.0, V)
xp.einsum(A, [0, 1], A, [0, 1])
xp.einsum(A, [0, 1], V, [1])
xp.einsum(A, [0, 1], A, [2, 1], [2, 0])
xp.einsum(A, [30, 1], [1, 30])
xp.einsum(A, [30, 1])
xp.einsum(A, [Ellipsis, 1], A, [Ellipsis, 1], [Ellipsis])
xp.einsum("ij->", xp.array([[True, False]]))
xp.einsum("ij,j->i", xp.array([[True, False]]), xp.array([True, True]))
xp.einsum("i,i", xp.array([100, 100], "int8"), xp.array([2, 3], "int8"))
xp.einsum("ij,j", xp.arange(6).reshape(2, 3), xp.ones(3))
xp.einsum("ij,jk", xp.ones((2, 0)), xp.ones((0, 3)))
xp.einsum("i,i->i", xp.ones(0), xp.ones(0))
xp.einsum("i,i", xp.arange(3), xp.arange(3), dtype="float64")
xp.einsum("ii", A)
xp.einsum("ii", xp.ones((1, 3)))
xp.einsum("i,i", xp.ones(2), xp.ones(3))
xp.einsum("ij", V)
xp.einsum("i", A)
xp.einsum("ij->k", A)
xp.einsum("ij->ii", A)
xp.einsum("i,j->ij", V)
xp.einsum("i", V, V)
xp.einsum("i.j", A)
xp.einsum("i!", A)
xp.einsum("...i->i", A)
xp.einsum("i....->i", A)
"""

NORMS = """
xp.linalg.norm(V)
xp.linalg.norm(A)
xp.linalg.norm(xp.ones((2, 3, 4)))
xp.linalg.norm(3.0)
xp.linalg.norm([3, 4])
xp.linalg.norm([True, False])
xp.linalg.norm(xp.array([3j, 4]))
xp.linalg.norm(V, 1)
xp.linalg.norm(V, 0)
xp.linalg.norm(V, 3)
xp.linalg.norm(V, 0.5)
xp.linalg.norm(V, -1)
xp.linalg.norm(V, inf)
xp.linalg.norm(V, -inf)
xp.linalg.norm(xp.array([3j, 4]), 1)
xp.linalg.norm(A, "fro")
xp.linalg.norm(A, 1)
xp.linalg.norm(A, -1)
xp.linalg.norm(A, inf)
xp.linalg.norm(A, -inf)
xp.linalg.norm(A, axis=0)
xp.linalg.norm(A, 1, axis=-1)
xp.linalg.norm(A, axis=(0, 1))
xp.linalg.norm(A, 1, axis=(1, 0))
xp.linalg.norm(xp.ones((2, 3, 4)), 1, axis=(0, 2))
xp.linalg.norm(xp.ones((2, 3, 4)), inf, axis=(2, 0), keepdims=True)
xp.linalg.norm(A, keepdims=True)
xp.linalg.norm(A, 1, keepdims=True)
xp.linalg.norm(A, axis=1, keepdims=True)
xp.linalg.norm(xp.zeros((2, 0)))
xp.linalg.norm(xp.zeros((2, 0)), 1)
xp.linalg.norm(xp.zeros((0, 2)), inf)
xp.linalg.norm(xp.zeros((2, 0)), -1)
xp.linalg.norm(xp.zeros(0), inf)
xp.linalg.norm(xp.zeros(0), -inf)
xp.linalg.norm(xp.zeros((0, 2)), inf, axis=0)
xp.linalg.norm(xp.array([nan, 1.0]), inf)
xp.linalg.norm(xp.ones((2, 2, 2)), 1)
xp.linalg.norm(V, "fro")
xp.linalg.norm(A, "foo")
xp.linalg.norm(A, 3)
xp.linalg.norm(A, 0)
xp.linalg.norm(A, 1, axis=(0, 0))
xp.linalg.norm(xp.ones((2, 2, 2)), 1, axis=(0, 1, 2))
xp.linalg.norm(A, 1, axis=5)
xp.linalg.norm(A, 1, axis="a")
xp.linalg.vector_norm(A)
xp.linalg.vector_norm(A, axis=0, ord=1)
xp.linalg.vector_norm(A, axis=(0, 1), keepdims=True)
xp.linalg.vector_norm(xp.ones((2, 3, 4)), axis=(0, 2), keepdims=True, ord=3)
xp.linalg.matrix_norm(A)
xp.linalg.matrix_norm(xp.ones((2, 3, 4)), ord=1, keepdims=True)
xp.linalg.matrix_norm(V)
xp.linalg.matrix_power(xp.array([[1, 1], [0, 1]]), 5)
xp.linalg.matrix_power(xp.array([[1, 1], [0, 1]]), 0)
xp.linalg.matrix_power(A[:, :3], 3)
xp.linalg.matrix_power(xp.ones((5, 2, 2)), 2)
xp.linalg.matrix_power(A, 2)
xp.linalg.matrix_power(V, 2)
xp.linalg.matrix_power(A[:, :3], 1.5)
xp.linalg.multi_dot([A, A.T])
xp.linalg.multi_dot([A, A.T, A])
xp.linalg.multi_dot([xp.ones(3), A, V])
xp.linalg.multi_dot([xp.ones((2, 9)), xp.ones((9, 3)), xp.ones((3, 8)), xp.ones((8, 4))])
xp.linalg.multi_dot([A])
xp.linalg.multi_dot([A, A])
xp.linalg.multi_dot([A, xp.ones((4, 2, 2)), A])
xp.linalg.outer(V, V)
xp.linalg.outer(A, V)
xp.linalg.trace(xp.ones((2, 3, 4)))
xp.linalg.trace(xp.ones((2, 3, 4)), offset=1)
xp.linalg.diagonal(xp.arange(24).reshape(2, 3, 4), offset=1)
xp.linalg.diagonal(xp.arange(24).reshape(2, 3, 4), offset=-5)
xp.linalg.cross([1, 2, 3], [4, 5, 6])
xp.linalg.cross([1, 2], [4, 5])
xp.linalg.vecdot(A, A)
xp.linalg.tensordot(A, A, axes=1)
xp.linalg.tensordot(A, A, axes=2)
xp.linalg.matmul(A, A.T)
xp.linalg.matrix_transpose(A)
"""


@pytest.mark.parametrize("program", (PRODUCTS + EINSUM + NORMS).strip().splitlines())
def test_as_numpy(program):
    check(program, rtol=CLOSE)


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="new in NumPy 2.2")
@pytest.mark.parametrize("program", NEW_IN_NUMPY_2_2.strip().splitlines())
def test_newer_products_as_numpy(program):
    check(program, rtol=CLOSE)


def test_the_seeds_jaxpr():
    x, y = jnp.ones((2, 3)), jnp.ones((3, 4))
    text = str(make_jaxpr(lambda x, y: jnp.dot(x + 1, y + 1))(jnp.ones((3, 2)), jnp.ones(2)))
    assert "dimension_numbers=(([1], [0]), ([], []))\n      preferred_element_type=float32" in text
    for product in (jnp.matmul, jnp.dot, lambda x, y: jnp.einsum("ij,jk", x, y)):
        assert len(make_jaxpr(product)(x, y).eqns) == 1
    assert len(make_jaxpr(jnp.matmul)(jnp.ones((5, 2, 3)), y).eqns) == 1
    # An order of axes that swapping the operands gives needs no transposition.
    assert len(make_jaxpr(lambda x, y: jnp.einsum("ij,jk->ki", x, y))(x, y).eqns) == 1


def test_mismatch_shows_both_types_and_the_way_out():
    with pytest.raises(ValueError) as caught:
        jnp.ones((2, 4)) @ jnp.ones((2, 4))
    text = str(caught.value)
    assert text.count("f32[2,4]") == 2 and "x @ y.T" in text and "x.T @ y" in text
    with pytest.raises(ValueError, match=r"f32\[3\].*f32\[2\]"):
        jit(jnp.dot)(jnp.ones(3), jnp.ones(2))
    with pytest.raises(
        ValueError, match=r"'j' has size 3 in operand 0, f32\[2,3\], and 2 in operand 1"
    ):
        jnp.einsum("ij,jk", jnp.ones((2, 3)), jnp.ones((2, 3)))


def test_a_number_has_no_matrix_product():
    with pytest.raises(ValueError, match=r"x \* y"):
        jnp.ones((2, 2)) @ 2
    with pytest.raises(TypeError):
        jnp.ones((2, 2)) @ "a"


def test_numpy_arrays_on_either_side():
    x = np.ones((2, 3), np.float32)
    assert isinstance(x @ jnp.ones((3, 2)), hloom.Array)
    assert isinstance(jnp.ones((2, 3)) @ x.T, hloom.Array)


def test_narrow_floats_are_summed_in_f32():
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = jnp.ones(5000, dtype)
        assert float(x @ x) == (5000 if dtype is np.float16 else 4992)
        assert (x @ x).dtype == dtype
        assert jnp.einsum("i->", x) == x @ x


def test_preferred_element_type():
    x = jnp.array([100, 100], jnp.int8)
    for product in (jnp.dot, jnp.matmul, jnp.vdot, jnp.inner, jnp.vecdot):
        made = product(x, x, preferred_element_type=jnp.int32)
        assert made.dtype == np.int32 and made == 20000
    assert jnp.tensordot(x, x, 1, preferred_element_type=np.int16) == 20000
    assert jnp.einsum("i,i", x, x, preferred_element_type=np.int32) == 20000
    assert jnp.einsum("i,i,i", x, x, x, preferred_element_type=np.int32) == 2000000
    assert jnp.dot(x, x, preferred_element_type=np.float32).dtype == np.float32
    half = jnp.ones(3, jnp.bfloat16)
    assert jnp.matmul(half, half, preferred_element_type=np.float32).dtype == np.float32


def test_out_is_refused_and_says_why():
    for call in (jnp.dot, jnp.outer, lambda x, y, out: jnp.einsum("i,i", x, y, out=out)):
        with pytest.raises(TypeError, match="immutable"):
            call(jnp.ones(2), jnp.ones(2), out=np.ones(2))


def test_einsum_path_is_numpys_kind_of_answer():
    x = jnp.ones((2, 2))
    path, text = jnp.einsum_path("ij,jk,kl->il", x, x, x)
    assert path[0] == "einsum_path" and "Largest intermediate" in text
    expected = np.einsum_path("ij,jk,kl->il", *[np.ones((2, 2))] * 3, optimize="greedy")[0]
    assert path == expected
    assert jnp.einsum("ij,jk,kl->il", x, x, x, optimize=path)[0, 0] == 4
    assert jnp.einsum_path(x, [0, 1], x, [1, 2])[0] == ["einsum_path", (0, 1)]
    assert jnp.einsum_path("...ij,jk", jnp.ones((3, 2, 2)), x, optimize=True)[0][1:] == [(0, 1)]
    with pytest.raises(ValueError, match="greedy"):
        jnp.einsum("i,i,i", *[jnp.ones(2)] * 3, optimize="no such way")


def test_norms_that_need_a_decomposition_say_so():
    for order in (2, -2, "nuc"):
        with pytest.raises(NotImplementedError, match="singular values"):
            jnp.linalg.norm(jnp.ones((2, 2)), order)
    with pytest.raises(NotImplementedError, match="inverse"):
        jnp.linalg.matrix_power(jnp.eye(2), -1)


def test_cross_products_in_the_plane():
    # NumPy 2.5 has given them up.
    assert jnp.cross([1, 2], [3, 4]).tolist() == -2
    assert jnp.cross([1, 2], [3, 4, 5]).tolist() == [10, -5, -2]
    assert jnp.cross([3, 4, 5], [1, 2]).tolist() == [-10, 5, 2]


def test_products_under_grad_and_vmap():
    x, y = jnp.arange(6.0).reshape(2, 3), jnp.arange(12.0).reshape(3, 4)
    dx, dy = hloom.grad(lambda x, y: (x @ y).sum(), (0, 1))(x, y)
    assert np.array_equal(dx, np.tile(np.asarray(y).sum(1), (2, 1)))
    assert np.array_equal(dy, np.tile(np.asarray(x).sum(0)[:, None], (1, 4)))
    trace = hloom.grad(lambda x: jnp.einsum("ii", x @ x.T))(x)
    assert np.array_equal(trace, 2 * np.asarray(x))
    rows = hloom.vmap(jnp.dot)(x, x)
    assert np.array_equal(rows, (np.asarray(x) ** 2).sum(1))
    assert hloom.vmap(jnp.outer, (None, 0))(x[0], x).shape == (2, 3, 3)
    slope = hloom.grad(jnp.linalg.norm)(jnp.array([3.0, 4.0]))
    np.testing.assert_allclose(slope, [0.6, 0.8], rtol=2e-7)  # two roundings


def test_issue_uint64_with_int64_is_a_float():
    with hloom.enable_x64(), warnings.catch_warnings():
        assert jnp.outer(jnp.ones(2, "uint64"), jnp.ones(2, "int64")).dtype == np.float64
