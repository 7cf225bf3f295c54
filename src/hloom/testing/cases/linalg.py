"""Linear algebra by LAPACK, which the interpreter has not.

What is not unique is compared in a form that is: vectors up to their phase, factors multiplied.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

import hloom.numpy as jnp
from hloom.ops.linalg.eigen import eig, eigh, schur
from hloom.ops.linalg.factorizations import (
    cholesky,
    cholesky_update,
    lu,
    lu_p,
    lu_pivots_to_permutation,
    symmetric_product,
)
from hloom.ops.linalg.matrix_functions import adjoint, matmul, scale_columns, scale_rows
from hloom.ops.linalg.orthogonal import hessenberg, householder_product, ormqr, qr, tridiagonal
from hloom.ops.linalg.singular import polar, svd
from hloom.ops.linalg.solves import lu_solve, solve, tridiagonal_solve
from hloom.ops.linalg.triangular import triangular_solve
from hloom.testing.case import Case

REAL = ("float32", "float64")
DTYPES = (*REAL, "complex64", "complex128")
HOST = ("xla", "numpy")
LAPACK = "sums in any order, times the condition of small random matrices"
I32 = np.int32


def row(
    name: str,
    fun: Callable[..., Any],
    *shapes: Any,
    oracle: Callable[..., Any] | None = None,
    dtypes: tuple[str, ...] = DTYPES,
    ulp: float = 500,
    **options: Any,
) -> Case:
    """A case of a matrix function."""
    return Case(
        name, fun, shapes, oracle, dtypes, ulp, LAPACK, engines=HOST, low=-2, high=2,
        generic=True, **options,
    )  # fmt: skip


# ---- functions whose results are unique ------------------------------------------------------
def positive(x: Any) -> Any:
    """A well-conditioned positive definite matrix."""
    x = jnp.asarray(x)
    return matmul(x, adjoint(x)) + jnp.eye(x.shape[-1], dtype=x.dtype)


def hermitian(x: Any) -> Any:
    """A hermitian matrix."""
    x = jnp.asarray(x)
    return x + adjoint(x)


def thin_svd(x: Any) -> Any:
    return svd(x, full_matrices=False)


def of_singular_vectors(x: Any) -> list[Any]:
    """What does not depend on their phases."""
    u, s, vh = thin_svd(x)
    left, right = matmul(u, adjoint(u)), matmul(adjoint(vh), scale_rows(vh, s))
    return [left, right, matmul(scale_columns(u, jnp.sin(s)), vh)]


def of_eigenvectors(x: Any) -> list[Any]:
    v, w = eigh(hermitian(x))
    return [w, matmul(scale_columns(v, jnp.exp(w / 4)), adjoint(v))]


def upright(vectors: Any) -> Any:
    """Real vectors, as columns, with a positive first element."""
    return vectors * jnp.sign(vectors[..., :1, :])


def of_schur_vectors(x: Any) -> Any:
    t, z = schur(x)
    return matmul(matmul(z, t), adjoint(z))


def of_hessenberg(x: Any) -> Any:
    """The matrix made of its form again."""
    packed, taus = hessenberg(x)
    n = x.shape[-1]
    inner = householder_product(packed[..., 1:, :-1], taus)
    q = jnp.eye(n, dtype=x.dtype).at[1:, 1:].set(inner)
    return matmul(matmul(q, jnp.triu(packed, -1)), adjoint(q))


def of_tridiagonal(x: Any) -> Any:
    """The sum of the squares of its eigenvalues."""
    _, d, e, _ = tridiagonal(hermitian(x))
    return (d**2).sum() + 2 * (e**2).sum()


def of_eigenvalues(x: Any) -> list[Any]:
    """What does not depend on their order."""
    w = eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]
    return [w.sum(-1), (w * w).sum(-1), jnp.exp(w / 4).sum(-1)]


def of_eig(x: Any) -> list[Any]:
    """A function of a matrix, by its eigenvectors from the right and from the left."""
    w, left, right = eig(x)
    by_right = solve(jnp.swapaxes(right, -1, -2), jnp.swapaxes(right * jnp.exp(w / 4), -1, -2))
    by_left = solve(adjoint(left), jnp.exp(w / 4)[:, None] * adjoint(left))
    return [by_right, by_left]


# ---- the table -------------------------------------------------------------------------------
PIVOTS = np.array([[2, 2, 4], [0, 1, 2]], I32)
ORDER = np.array([2, 0, 3, 1], I32)

FACTORS = [
    row("cholesky", lambda x: cholesky(positive(x)), (3, 3),
        oracle=lambda x: np.linalg.cholesky(x @ x.conj().T + np.eye(3))),
    row("cholesky of a batch", lambda x: cholesky(positive(x)), (2, 3, 3)),
    row("cholesky of a triangle", lambda x: cholesky(
        9 * jnp.eye(3, dtype=x.dtype) + x, symmetrize_input=False), (3, 3)),
    row("cholesky_update", lambda x, w: cholesky_update(adjoint(cholesky(positive(x))), w),
        (3, 3), (3,)),
    row("symmetric_product", lambda x, y: symmetric_product(x, y, alpha=2.0, beta=3.0),
        (3, 2), (3, 3)),
    row("lu", lu, (4, 4)),
    row("lu of a high matrix", lu, (5, 3)),
    row("lu of a wide matrix", lu, (2, 3, 5)),
    row("lu by columns", lambda x: lu_p(jnp.asarray(x), columns=True), (3, 5)),
    row("lu of nothing", lu, (0, 3)),
    Case("lu_pivots_to_permutation", lambda p: lu_pivots_to_permutation(p, 5), (PIVOTS,),
         lambda p: np.array([[2, 0, 4, 3, 1], [0, 1, 2, 3, 4]], I32), ("int32",), moving=()),
    row("qr", lambda x: qr(x, full_matrices=False), (4, 4)),
    row("qr of a high matrix", lambda x: qr(x, full_matrices=False), (2, 5, 3)),
    row("qr of a wide matrix", lambda x: qr(x, full_matrices=False), (3, 5)),
    row("qr with pivoting", lambda x: qr(x, full_matrices=False, pivoting=True), (5, 3)),
    row("householder_product", householder_product, (5, 3), (2,)),
    row("hessenberg", of_hessenberg, (4, 4), oracle=lambda x: x, moving=()),
    row("tridiagonal", of_tridiagonal, (4, 4), moving=(),
        oracle=lambda x: np.sum(np.abs(x + x.conj().T) ** 2)),
]  # fmt: skip
FACTORS += [
    row(f"ormqr, left={left}, transpose={transpose}",
        lambda a, taus, c, o=(left, transpose): ormqr(a, taus, c, left=o[0], transpose=o[1]),
        (4, 3), (2,), (4, 2) if left else (2, 4))
    for left, transpose in product((False, True), repeat=2)
]  # fmt: skip

SYSTEMS = [
    row("solve", solve, (4, 4), (4, 2), oracle=np.linalg.solve, ulp=5000),
    row("solve of a batch", solve, (2, 4, 4), (2, 4, 2), oracle=np.linalg.solve, ulp=5000),
    row("solve of nothing", solve, (0, 0), (0, 2), oracle=np.linalg.solve),
    row("lu_solve", lambda x, b: lu_solve(x, ORDER, b), (4, 4), (4, 2), ulp=5000),
    row("tridiagonal_solve", lambda dl, d, du, b: tridiagonal_solve(dl, d + 5, du, b),
        (4,), (4,), (4,), (4, 2)),
]  # fmt: skip
SYSTEMS += [
    row("triangular_solve, " + ", ".join(k for k, on in params.items() if on),
        lambda a, b, p=params: triangular_solve(a + 5 * jnp.eye(3, dtype=a.dtype), b, **p),
        (3, 3), (3, 2) if params["left_side"] else (2, 3))
    for params in (
        dict(zip(("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal"), flags))
        for flags in product((False, True), repeat=5)
    )
]  # fmt: skip

SPECTRA = [
    row("singular values", lambda x: svd(x, compute_uv=False), (2, 4, 3),
        oracle=lambda x: np.linalg.svd(x, compute_uv=False)),
    row("svd", of_singular_vectors, (4, 4)),
    row("svd of a high matrix", of_singular_vectors, (2, 5, 3)),
    row("svd of a wide matrix", of_singular_vectors, (3, 5)),
    row("svd of nothing", lambda x: svd(x, compute_uv=False), (0, 3)),
    row("svd, vectors", lambda x: upright(thin_svd(x)[0]), (4, 4), dtypes=REAL),
    row("polar", polar, (3, 3)),
    row("polar of a high matrix", polar, (2, 5, 3)),
    row("eigh", of_eigenvectors, (4, 4)),
    row("eigh of a batch", of_eigenvectors, (2, 3, 3)),
    row("eigh of the upper triangle", lambda x: eigh(x, lower=False, symmetrize_input=False)[1],
        (4, 4)),
    row("some of eigh", lambda x: eigh(x, subset_by_index=(1, 3))[1], (4, 4)),
    row("eigh, vectors", lambda x: upright(eigh(hermitian(x))[0]), (4, 4), dtypes=REAL),
    row("eigenvalues", of_eigenvalues, (2, 4, 4), ulp=5000),
    row("eig", of_eig, (4, 4), ulp=50_000),
    row("schur", of_schur_vectors, (4, 4), oracle=lambda x: x, moving=()),
]  # fmt: skip
