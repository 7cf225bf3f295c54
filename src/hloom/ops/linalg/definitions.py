"""Decompositions that NumPy lacks, of one matrix, by LAPACK: the definition of those of XLA's CPU.

XLA calls the same LAPACK, through jaxlib, so that both engines exchange the same rows, reflect to
the same signs and order eigenvalues alike, where mathematics leaves the choice.  What both could
have wrong, the tests find by multiplying the factors.  Residuals, in the precision of the largest
element: 2 for LU and reflections, 20 for Schur's form, of 20 rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.core.support.lazy import LazyModule

NDArray = np.ndarray[Any, Any]

scipy_linalg = LazyModule("scipy.linalg")  # 0.3 s, which only this engine and the tests need
scipy_lapack = LazyModule("scipy.linalg.lapack")


def lapack(name: str, *operands: Any, **settings: Any) -> list[Any]:
    """What LAPACK's function for the operands' dtype gives, but for how it ended."""
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    (function,) = scipy_lapack.get_lapack_funcs((name,), arrays)
    *results, _ = function(*operands, **settings)
    return results


def mirrored(a: NDArray, lower: bool = True) -> NDArray:
    """The Hermitian matrix with this triangle of `a`."""
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    return half + half.conj().T + np.diag(np.diag(a).real)


# ---- LU -----------------------------------------------------------------------------------------
def lu(a: NDArray) -> tuple[NDArray, NDArray]:
    """Both triangles in one matrix, and with which row each row was exchanged."""
    if not a.size:
        return a, np.zeros(0, np.int32)
    factors, pivots = lapack("getrf", a)
    return factors, pivots


def permutation(pivots: NDArray, size: int) -> NDArray:
    """The order of rows after all exchanges."""
    order = np.arange(size, dtype=pivots.dtype)
    for i, p in enumerate(pivots):
        order[[i, p]] = order[[p, i]]
    return order


# ---- Householder reflections --------------------------------------------------------------------
def pivoted_qr(a: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """R with the reflections below it, their factors tau, and the columns' order."""
    if not a.size:
        return a, np.zeros(0, a.dtype), np.arange(a.shape[1], dtype=np.int32)
    packed, order, taus, _ = lapack("geqp3", a)
    return packed, taus, order - 1


def product_of_reflections(a: NDArray, taus: NDArray, columns: int) -> NDArray:
    """The first columns of `H_1 H_2 ..`, whose vectors lie below the diagonal of `a`."""
    if not taus.size:
        return np.eye(len(a), columns, dtype=a.dtype)
    vectors = np.zeros((len(a), columns), a.dtype)
    vectors[:, : len(taus)] = a[:, : len(taus)]
    product, _ = lapack("orgqr", vectors, taus)
    return product


def apply_reflections(a: NDArray, taus: NDArray, c: NDArray, left: bool, adjoint: bool) -> NDArray:
    """`Q c`, or `c Q`, where Q is `H_1 H_2 ..` or its adjoint."""
    if not taus.size or not c.size:
        return c
    side, adjoints = "L" if left else "R", "C" if c.dtype.kind == "c" else "T"
    vectors, work = a[:, : len(taus)], max(c.shape)
    product, _ = lapack("ormqr", side, adjoints if adjoint else "N", vectors, taus, c, work)
    return product


# ---- Hessenberg, tridiagonal, Schur -------------------------------------------------------------
def hessenberg(a: NDArray) -> tuple[NDArray, NDArray]:
    """The Hessenberg matrix, the reflections below its subdiagonal; and their factors tau."""
    if len(a) < 2:
        return a, np.zeros(0, a.dtype)
    packed, taus = lapack("gehrd", a)
    return packed, taus


def tridiagonal(a: NDArray, lower: bool) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Reflections outside the diagonals; diagonal, off-diagonal, factors tau."""
    if len(a) < 2:
        return a, np.diag(a).real, np.zeros(0, a.real.dtype), np.zeros(0, a.dtype)
    packed, diagonal, beside, taus = lapack(
        "hetrd" if a.dtype.kind == "c" else "sytrd", a, lower=lower
    )
    return packed, diagonal, beside, taus


def schur(a: NDArray) -> tuple[NDArray, NDArray]:
    """(T, Z) with `a = Z T Z^H`; T of a real matrix has 2 by 2 blocks."""
    if not a.size:
        return a, a
    form, basis = scipy_linalg.schur(
        a, "complex" if a.dtype.kind == "c" else "real", check_finite=False
    )
    return form, basis


def eig(a: NDArray, left: bool, right: bool) -> list[NDArray]:
    """Eigenvalues; left and right vectors of length 1 whose largest element is real."""
    if not a.size:
        return [a[0:0].reshape(0), *[a] * (left + right)]
    found = scipy_linalg.eig(a, left=left, right=right, check_finite=False)
    return list(found) if left or right else [found]
