"""Linear algebra by LAPACK, which the interpreter has not.

What is not unique is compared in a form that is: vectors up to their phase, factors multiplied.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, product
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
    oracle: Callable[..., Any],
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


# ---- oracles, in NumPy ------------------------------------------------------------------------
def _h(x: Any) -> Any:
    """The adjoint."""
    return x.swapaxes(-1, -2).conj()


def _positive(x: Any) -> Any:
    return x @ _h(x) + np.eye(x.shape[-1])


def _each(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of matrices, of stacks of them."""

    def each(x: Any) -> Any:
        if x.ndim == 2:
            return fun(x)
        return [np.stack(parts) for parts in zip(*map(fun, x))]

    return each


@_each
def _lu(x: Any) -> Any:
    """Gauss's elimination with partial pivoting; LAPACK's size of a complex number is |a| + |b|."""
    x, order = x.copy(), np.arange(len(x)).astype(I32)
    pivots = np.zeros(min(x.shape), I32)
    for k in range(min(x.shape)):
        pivots[k] = i = k + np.argmax(np.abs(x[k:, k].real) + np.abs(x[k:, k].imag))
        swap, back = np.array([k, i]), np.array([i, k])
        x[swap], order[swap] = x[back], order[back]
        x[k + 1 :, k] /= x[k, k]
        x[k + 1 :, k + 1 :] -= np.outer(x[k + 1 :, k], x[k, k + 1 :])
    return [x, pivots, order]


def _lu_by_columns(x: Any) -> Any:
    factors, pivots, order = _lu(x.T)
    return [factors.T, pivots, order]


def _pivoted_qr(x: Any) -> Any:
    """The next column is the longest, without what those before it span."""
    order: list[int] = []
    for _ in range(x.shape[1]):
        q = np.linalg.qr(x[:, order])[0]
        sizes = np.linalg.norm(x - q @ (_h(q) @ x), axis=0)
        sizes[order] = -1
        order.append(int(np.argmax(sizes)))
    return [*np.linalg.qr(x[:, order]), np.array(order, I32)]


def _reflections(a: Any, taus: Any) -> Any:
    """The product of `I - tau v v^H`."""
    q = np.eye(len(a), dtype=a.dtype)
    for j, tau in enumerate(taus):
        v = np.concatenate([np.zeros(j), [1], a[j + 1 :, j]])
        q = q - tau * np.outer(q @ v, v.conj())
    return q


def _reflected(left: bool, transpose: bool) -> Callable[..., Any]:
    def reflected(a: Any, taus: Any, c: Any) -> Any:
        q = _reflections(a, taus)
        q = _h(q) if transpose else q
        return q @ c if left else c @ q

    return reflected


def _triangular(left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool,
                unit_diagonal: bool) -> Callable[..., Any]:  # fmt: skip
    def solved(a: Any, b: Any) -> Any:
        a = a + 5 * np.eye(3)
        a = np.tril(a) if lower else np.triu(a)
        if unit_diagonal:
            np.fill_diagonal(a, 1)
        a = a.T if transpose_a else a
        a = a.conj() if conjugate_a else a
        return np.linalg.solve(a, b) if left_side else np.linalg.solve(a.T, b.T).T

    return solved


def _by_factors(x: Any, b: Any) -> Any:
    return np.linalg.solve((np.tril(x, -1) + np.eye(4)) @ np.triu(x), b[ORDER])


def _by_diagonals(dl: Any, d: Any, du: Any, b: Any) -> Any:
    return np.linalg.solve(np.diag(d + 5) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1), b)


def _by_singular_vectors(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    s = s[..., None]
    return [u @ _h(u), _h(vh) @ (s * vh), u @ (np.sin(s) * vh)]


def _polar(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return [u @ vh, _h(vh) @ (s[..., None] * vh)]


def _by_eigenvectors(x: Any) -> Any:
    w, v = np.linalg.eigh(x + _h(x))
    return [w, v @ (np.exp(w / 4)[..., None] * _h(v))]


def _exp(x: Any) -> Any:
    """The exponential of a matrix, by its series."""
    one = np.eye(x.shape[-1]) + 0 * x
    return sum(accumulate(range(1, 40), lambda term, k: term @ x / k, initial=one))


def _of_eigenvalues(x: Any) -> Any:
    traces = [np.trace(z, axis1=-2, axis2=-1) for z in (x, x @ x, _exp(x / 4))]
    return [z.astype(np.result_type(x, np.complex64)) for z in traces]


def _upright(vectors: Any) -> Any:
    return vectors * np.sign(vectors[..., :1, :])


# ---- the table -------------------------------------------------------------------------------
PIVOTS = np.array([[2, 2, 4], [0, 1, 2]], I32)
ORDER = np.array([2, 0, 3, 1], I32)

FACTORS = [
    row("cholesky", lambda x: cholesky(positive(x)), (3, 3),
        oracle=lambda x: np.linalg.cholesky(_positive(x))),
    row("cholesky of a batch", lambda x: cholesky(positive(x)), (2, 3, 3),
        oracle=lambda x: np.linalg.cholesky(_positive(x))),
    row("cholesky of a triangle", lambda x: cholesky(
        9 * jnp.eye(3, dtype=x.dtype) + x, symmetrize_input=False), (3, 3),
        oracle=lambda x: np.linalg.cholesky(9 * np.eye(3) + x)),
    row("cholesky_update", lambda x, w: cholesky_update(adjoint(cholesky(positive(x))), w),
        (3, 3), (3,),
        oracle=lambda x, w: _h(np.linalg.cholesky(_positive(x) + np.outer(w, w.conj())))),
    row("symmetric_product", lambda x, y: symmetric_product(x, y, alpha=2.0, beta=3.0),
        (3, 2), (3, 3), oracle=lambda x, y: 2 * x @ x.T + 3 * y),
    row("lu", lu, (4, 4), oracle=_lu),
    row("lu of a high matrix", lu, (5, 3), oracle=_lu),
    row("lu of a wide matrix", lu, (2, 3, 5), oracle=_lu),
    row("lu by columns", lambda x: lu_p(jnp.asarray(x), columns=True), (3, 5),
        oracle=_lu_by_columns),
    row("lu of nothing", lu, (0, 3), oracle=_lu),
    Case("lu_pivots_to_permutation", lambda p: lu_pivots_to_permutation(p, 5), (PIVOTS,),
         lambda p: np.array([[2, 0, 4, 3, 1], [0, 1, 2, 3, 4]], I32), ("int32",), moving=()),
    row("qr", lambda x: qr(x, full_matrices=False), (4, 4), oracle=np.linalg.qr),
    row("qr of a high matrix", lambda x: qr(x, full_matrices=False), (2, 5, 3),
        oracle=np.linalg.qr),
    row("qr of a wide matrix", lambda x: qr(x, full_matrices=False), (3, 5),
        oracle=np.linalg.qr),
    row("qr with pivoting", lambda x: qr(x, full_matrices=False, pivoting=True), (5, 3),
        oracle=_pivoted_qr),
    row("householder_product", householder_product, (5, 3), (2,),
        oracle=lambda a, taus: _reflections(a, taus)[:, :3]),
    row("hessenberg", of_hessenberg, (4, 4), oracle=lambda x: x, moving=()),
    row("tridiagonal", of_tridiagonal, (4, 4), moving=(),
        oracle=lambda x: np.sum(np.abs(x + x.conj().T) ** 2)),
]  # fmt: skip
FACTORS += [
    row(f"ormqr, left={left}, transpose={transpose}",
        lambda a, taus, c, o=(left, transpose): ormqr(a, taus, c, left=o[0], transpose=o[1]),
        (4, 3), (2,), (4, 2) if left else (2, 4), oracle=_reflected(left, transpose))
    for left, transpose in product((False, True), repeat=2)
]  # fmt: skip

SYSTEMS = [
    row("solve", solve, (4, 4), (4, 2), oracle=np.linalg.solve, ulp=5000),
    row("solve of a batch", solve, (2, 4, 4), (2, 4, 2), oracle=np.linalg.solve, ulp=5000),
    row("solve of nothing", solve, (0, 0), (0, 2), oracle=np.linalg.solve),
    row("lu_solve", lambda x, b: lu_solve(x, ORDER, b), (4, 4), (4, 2),
        oracle=_by_factors, ulp=5000),
    row("tridiagonal_solve", lambda dl, d, du, b: tridiagonal_solve(dl, d + 5, du, b),
        (4,), (4,), (4,), (4, 2), oracle=_by_diagonals),
]  # fmt: skip
SYSTEMS += [
    row("triangular_solve, " + ", ".join(k for k, on in params.items() if on),
        lambda a, b, p=params: triangular_solve(a + 5 * jnp.eye(3, dtype=a.dtype), b, **p),
        (3, 3), (3, 2) if params["left_side"] else (2, 3), oracle=_triangular(**params))
    for params in (
        dict(zip(("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal"), flags))
        for flags in product((False, True), repeat=5)
    )
]  # fmt: skip

SPECTRA = [
    row("singular values", lambda x: svd(x, compute_uv=False), (2, 4, 3),
        oracle=lambda x: np.linalg.svd(x, compute_uv=False)),
    row("svd", of_singular_vectors, (4, 4), oracle=_by_singular_vectors),
    row("svd of a high matrix", of_singular_vectors, (2, 5, 3), oracle=_by_singular_vectors),
    row("svd of a wide matrix", of_singular_vectors, (3, 5), oracle=_by_singular_vectors),
    row("svd of nothing", lambda x: svd(x, compute_uv=False), (0, 3),
        oracle=lambda x: np.zeros(0)),
    row("svd, vectors", lambda x: upright(thin_svd(x)[0]), (4, 4), dtypes=REAL,
        oracle=lambda x: _upright(np.linalg.svd(x)[0])),
    row("polar", polar, (3, 3), oracle=_polar),
    row("polar of a high matrix", polar, (2, 5, 3), oracle=_polar),
    row("eigh", of_eigenvectors, (4, 4), oracle=_by_eigenvectors),
    row("eigh of a batch", of_eigenvectors, (2, 3, 3), oracle=_by_eigenvectors),
    row("eigh of the upper triangle", lambda x: eigh(x, lower=False, symmetrize_input=False)[1],
        (4, 4), oracle=lambda x: np.linalg.eigvalsh(x, "U")),
    row("some of eigh", lambda x: eigh(x, subset_by_index=(1, 3))[1], (4, 4),
        oracle=lambda x: np.linalg.eigvalsh(x + _h(x))[1:3] / 2),
    row("eigh, vectors", lambda x: upright(eigh(hermitian(x))[0]), (4, 4), dtypes=REAL,
        oracle=lambda x: _upright(np.linalg.eigh(x + _h(x))[1])),
    row("eigenvalues", of_eigenvalues, (2, 4, 4), oracle=_of_eigenvalues, ulp=5000),
    row("eig", of_eig, (4, 4), oracle=lambda x: [_exp(x / 4).T, _exp(x / 4)], ulp=50_000),
    row("schur", of_schur_vectors, (4, 4), oracle=lambda x: x, moving=()),
]  # fmt: skip
