"""Derivatives, transposes and batch rules of matrix functions; how LAPACK is reached."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.ops.factorizations import lu_p
from hloom.ops.linalg import adjoint, matmul, scale_columns, scale_rows
from tests.ops.matrices import check_rules, drawn

linalg = lax.linalg
NUMBERS = ("float64", "complex128")


def positive(x: Any) -> Any:
    return matmul(x, adjoint(x)) + jnp.eye(x.shape[-1], dtype=x.dtype)


def hermitian(x: Any) -> Any:
    return x + adjoint(x)


def thin_svd(x: Any) -> Any:
    return linalg.svd(x, full_matrices=False)


def of_singular_vectors(x: Any) -> list[Any]:
    """What does not depend on their phases."""
    u, s, vh = thin_svd(x)
    left, right = matmul(u, adjoint(u)), matmul(adjoint(vh), scale_rows(vh, s))
    return [left, right, matmul(scale_columns(u, jnp.sin(s)), vh)]


def of_eigenvectors(x: Any) -> list[Any]:
    v, w = linalg.eigh(hermitian(x))
    return [w, matmul(scale_columns(v, jnp.exp(w / 4)), adjoint(v))]


# Name: function, shapes.  Batches have other shapes at the front.
SMOOTH: dict[str, tuple[Any, tuple[tuple[int, ...], ...]]] = {
    "cholesky": (lambda x: linalg.cholesky(positive(x)), ((3, 3),)),
    "cholesky of a batch": (lambda x: linalg.cholesky(positive(x)), ((2, 3, 3),)),
    "cholesky of a triangle": (
        lambda x: linalg.cholesky(6 * jnp.eye(3, dtype=x.dtype) + x, symmetrize_input=False),
        ((3, 3),),
    ),
    "cholesky_update": (
        lambda x, w: linalg.cholesky_update(adjoint(linalg.cholesky(positive(x))), w),
        ((3, 3), (3,)),
    ),
    "lu": (linalg.lu, ((4, 4),)),
    "lu of a high matrix": (linalg.lu, ((5, 3),)),
    "lu of a wide matrix": (linalg.lu, ((2, 3, 5),)),
    "lu by columns": (lambda x: lu_p(jnp.asarray(x), columns=True), ((3, 5),)),
    "solve": (linalg.solve, ((4, 4), (4, 2))),
    "solve of a batch": (linalg.solve, ((2, 4, 4), (2, 4, 2))),
    "tridiagonal_solve": (
        lambda dl, d, du, b: linalg.tridiagonal_solve(dl, d + 4, du, b),
        ((4,), (4,), (4,), (4, 2)),
    ),
    "qr": (lambda x: linalg.qr(x, full_matrices=False), ((4, 4),)),
    "qr of a high matrix": (lambda x: linalg.qr(x, full_matrices=False), ((2, 5, 3),)),
    "qr of a wide matrix": (lambda x: linalg.qr(x, full_matrices=False), ((3, 5),)),
    "qr with pivoting": (
        lambda x: linalg.qr(x, full_matrices=False, pivoting=True), ((5, 3),)
    ),
    "householder_product": (linalg.householder_product, ((5, 3), (2,))),
    "singular values": (lambda x: linalg.svd(x, compute_uv=False), ((2, 4, 3),)),
    "svd": (of_singular_vectors, ((4, 4),)),
    "svd of a high matrix": (of_singular_vectors, ((2, 5, 3),)),
    "svd of a wide matrix": (of_singular_vectors, ((3, 5),)),
    "polar": (linalg.polar, ((3, 3),)),
    "polar of a high matrix": (linalg.polar, ((2, 5, 3),)),
    "eigh": (of_eigenvectors, ((4, 4),)),
    "eigh of a batch": (of_eigenvectors, ((2, 3, 3),)),
    "eigh of the upper triangle": (
        lambda x: linalg.eigh(x, lower=False, symmetrize_input=False)[1], ((4, 4),)
    ),
    "some of eigh": (lambda x: linalg.eigh(x, subset_by_index=(1, 3))[1], ((4, 4),)),
    "eigenvalues": (
        lambda x: linalg.eig(
            x, compute_left_eigenvectors=False, compute_right_eigenvectors=False
        )[0],
        ((2, 4, 4),),
    ),
    "symmetric_product": (
        lambda x, y: linalg.symmetric_product(x, y, alpha=2.0, beta=3.0), ((3, 2), (3, 3))
    ),
}  # fmt: skip
# Their results are smooth twice, and cheap enough to try it.
SECOND = ("cholesky", "solve", "singular values", "eigh", "qr", "lu", "polar")


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", SMOOTH)
def test_rules(name: str, dtype: str) -> None:
    fun, shapes = SMOOTH[name]
    operands = [drawn(shape, dtype, i) for i, shape in enumerate(shapes)]
    check_rules(fun, *operands, second=name in SECOND and dtype == "float64")


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("left", [False, True])
def test_rules_of_triangular_solve(left: bool, dtype: str) -> None:
    for lower, transpose, conjugate, unit in product((False, True), repeat=4):
        params = {
            "left_side": left, "lower": lower, "transpose_a": transpose, "conjugate_a": conjugate,
            "unit_diagonal": unit,
        }  # fmt: skip
        a = drawn((3, 3), dtype) + 3 * np.eye(3)
        b = drawn((3, 2) if left else (2, 3), dtype)
        check_rules(lambda a, b, p=params: linalg.triangular_solve(a, b, **p), a, b)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("left", "transpose"), list(product((False, True), repeat=2)))
def test_rules_of_ormqr(left: bool, transpose: bool, dtype: str) -> None:
    a, taus = drawn((4, 3), dtype), drawn((2,), dtype)
    c = drawn((4, 2) if left else (2, 4), dtype)
    check_rules(lambda *xs: linalg.ormqr(*xs, left=left, transpose=transpose), a, taus, c)


@pytest.mark.parametrize("fun", [thin_svd, lambda x: linalg.eigh(hermitian(x))])
def test_rules_of_real_vectors_which_have_no_phase(fun: Any) -> None:
    check_rules(fun, drawn((4, 4)))


@pytest.mark.parametrize("seed", range(3))
def test_rules_of_eigenvectors_whose_length_and_phase_lapack_fixes(seed: int) -> None:
    check_rules(linalg.eig, drawn((4, 4), "complex128", seed))


def test_rules_of_eigenvectors_of_a_real_matrix() -> None:
    rotation = np.array([[1.0, 2.0, 0.1], [-2.0, 1.0, 0.3], [0.2, 0.4, 5.0]])
    check_rules(lambda x: linalg.eig(x)[0], rotation)


@pytest.mark.parametrize("name", ["hessenberg", "tridiagonal", "schur"])
def test_forms_without_a_derivative_say_what_to_do(name: str) -> None:
    fun = getattr(linalg, name)
    with pytest.raises(NotImplementedError, match=f"{name} has no derivative here.*stop_gradient"):
        hloom.jvp(fun, (np.eye(2),), (np.eye(2),))
    stacked = np.stack([drawn((3, 3)), drawn((3, 3), seed=1)], 1)
    with hloom.enable_x64():
        for out, first in zip(hloom.vmap(fun, in_axes=1)(stacked), fun(stacked[:, 0])):
            np.testing.assert_allclose(out[0], first, atol=1e-12)


@pytest.mark.parametrize("fun", [linalg.qr, linalg.svd])
def test_full_matrices_have_no_derivative(fun: Any) -> None:
    with pytest.raises(NotImplementedError, match="Pass full_matrices=False"):
        hloom.grad(lambda x: fun(x)[0].sum())(np.ones((3, 2), np.float32))


def test_what_is_not_linear_is_not_transposed() -> None:
    with pytest.raises(TypeError, match="cholesky is not linear"):
        linalg.cholesky_p.transpose(None)


def test_pivots_have_no_derivative() -> None:
    def fun(x: Any) -> Any:
        _, pivots, order = linalg.lu(x)
        more = linalg.lu_pivots_to_permutation(pivots, 2)
        return x.sum() + (order + more).sum()

    np.testing.assert_array_equal(hloom.grad(fun)(np.eye(2, dtype=np.float32)), np.ones((2, 2)))


def test_permutations_of_a_batch() -> None:
    pivots = np.array([[1, 1], [2, 1], [0, 2]], np.int32)
    got = hloom.vmap(lambda p: linalg.lu_pivots_to_permutation(p, 3), in_axes=0)(pivots)
    want = [linalg.lu_pivots_to_permutation(p, 3) for p in pivots]
    np.testing.assert_array_equal(got, np.stack(want))


def test_one_matrix_for_many_right_sides_is_one_call() -> None:
    a, b = np.eye(3, dtype=np.float32), np.ones((5, 3, 2), np.float32)

    def fun(b: Any) -> Any:
        return hloom.vmap(lambda b: linalg.triangular_solve(a, b, left_side=True))(b)

    text = hloom.jit(fun).lower(b).as_text()
    assert "tensor<10x3xf32>" in text  # by rows: LAPACK's b with 10 columns


def test_solve_factorizes_once_for_value_and_gradient() -> None:
    def loss(a: Any, b: Any) -> Any:
        return (linalg.solve(a, b) ** 2).sum()

    a, b = drawn((3, 3), "float32"), drawn((3, 1), "float32")
    text = hloom.jit(hloom.value_and_grad(loss, (0, 1))).lower(a, b).as_text()
    assert text.count("@lapack_sgetrf_ffi") == 1


# ---- how LAPACK is reached ----------------------------------------------------------------------
PROGRAM = """
import sys
import numpy as np
import hloom
from hloom import lax
lax.add(1.0, 2.0).block_until_ready()
assert "scipy" not in sys.modules, "LAPACK was loaded for an addition"
print(lax.linalg.cholesky(np.eye(2, dtype=np.float32) * 4)[0, 0].item())
assert "scipy" in sys.modules
assert "jax" not in sys.modules
"""


def test_lapack_is_loaded_by_the_first_program_that_calls_it(tmp_path: Path) -> None:
    source = str(Path(hloom.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source, "HLOOM_CACHE_DIR": str(tmp_path)}
    for _ in range(2):  # compiled, then loaded from disk
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip
        assert done.stdout == "2.0\n", done.stderr
