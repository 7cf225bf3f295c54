"""Decompositions that NumPy lacks, in NumPy: the living definition of LAPACK's.

Each takes one matrix.  They are textbook algorithms (G. Golub and C. Van Loan, "Matrix
computations", 4th edition, the section is named), a column at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]


def mirrored(a: NDArray, lower: bool = True) -> NDArray:
    """The Hermitian matrix with this triangle of `a`."""
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    return half + half.conj().T + np.diag(np.diag(a).real)


# ---- LU: 3.4 ------------------------------------------------------------------------------------
def lu(a: NDArray) -> tuple[NDArray, NDArray]:
    """Both triangles in one matrix, and with which row each row was exchanged."""
    a = a.copy()
    count = min(a.shape)
    pivots = np.zeros(count, np.int32)
    for j in range(count):
        size = np.abs(a[j:, j].real) + np.abs(a[j:, j].imag)  # as LAPACK measures complex numbers
        pivots[j] = p = j + int(np.argmax(size))
        a[[j, p]] = a[[p, j]]
        if a[j, j] != 0:
            a[j + 1 :, j] /= a[j, j]
        a[j + 1 :, j + 1 :] -= np.outer(a[j + 1 :, j], a[j, j + 1 :])
    return a, pivots


def permutation(pivots: NDArray, size: int) -> NDArray:
    """The order of rows after all exchanges."""
    order = np.arange(size, dtype=pivots.dtype)
    for i, p in enumerate(pivots):
        order[[i, p]] = order[[p, i]]
    return order


# ---- Householder reflections: 5.1, 5.2 ----------------------------------------------------------
def reflector(x: NDArray) -> tuple[NDArray, Any, Any]:
    """(v, tau, beta) with `(I - tau v v^H)^H x = beta e_1`, beta real and v[0] = 1."""
    v = x.copy()
    v[0] = 1
    rest = np.linalg.norm(x[1:])
    if rest == 0 and x[0].imag == 0:
        return v, x.dtype.type(0), x[0]
    beta = -np.copysign(np.hypot(np.abs(x[0]), rest), x[0].real)
    v[1:] = x[1:] / (x[0] - beta)
    return v, (beta - x[0]) / beta, beta


def reflect(a: NDArray, v: NDArray, tau: Any) -> None:
    """Replace `a` by `(I - tau v v^H) a`."""
    a -= tau * np.outer(v, v.conj() @ a)


def _reflect_column(a: NDArray, taus: NDArray, j: int) -> None:
    v, taus[j], a[j, j] = reflector(a[j:, j])
    a[j + 1 :, j] = v[1:]
    reflect(a[j:, j + 1 :], v, np.conj(taus[j]))


def pivoted_qr(a: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """5.4.2: the same with, at each step, the column first that has most left; and their order."""
    a = a.copy()
    taus = np.zeros(min(a.shape), a.dtype)
    order = np.arange(a.shape[1], dtype=np.int32)
    for j in range(len(taus)):
        p = j + int(np.argmax(np.linalg.norm(a[j:, j:], axis=0)))
        a[:, [j, p]] = a[:, [p, j]]
        order[[j, p]] = order[[p, j]]
        _reflect_column(a, taus, j)
    return a, taus, order


def product_of_reflections(a: NDArray, taus: NDArray, columns: int) -> NDArray:
    """The first columns of `H_1 H_2 ..`, whose vectors lie below the diagonal of `a`."""
    return apply_reflections(a, taus, np.eye(a.shape[0], columns, dtype=a.dtype))


def apply_reflections(a: NDArray, taus: NDArray, c: NDArray, adjoint: bool = False) -> NDArray:
    """`H_1 H_2 .. c`, or `.. H_2^H H_1^H c`."""
    c = c.copy()
    order = range(len(taus))
    for j in order if adjoint else reversed(order):
        v = a[j:, j].copy()
        v[0] = 1
        reflect(c[j:], v, np.conj(taus[j]) if adjoint else taus[j])
    return c


# ---- Hessenberg: 7.4.3, tridiagonal: 8.3.1 ------------------------------------------------------
def hessenberg(a: NDArray) -> tuple[NDArray, NDArray]:
    """The Hessenberg matrix, the reflections below its subdiagonal; and their factors tau."""
    a = a.copy()
    taus = np.zeros(max(len(a) - 1, 0), a.dtype)
    for j in range(len(taus)):
        v, taus[j], beta = reflector(a[j + 1 :, j])
        reflect(a[j + 1 :, j + 1 :], v, np.conj(taus[j]))
        a[:, j + 1 :] -= taus[j] * np.outer(a[:, j + 1 :] @ v, v.conj())
        a[j + 1 :, j] = v
        a[j + 1, j] = beta
    return a, taus


def tridiagonal(a: NDArray, lower: bool) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Reflections outside the diagonals; diagonal, off-diagonal, factors tau."""
    if not lower:
        # LAPACK starts at the other end there.
        flipped = tridiagonal(a[::-1, ::-1], True)
        return flipped[0][::-1, ::-1], *[x[::-1] for x in flipped[1:]]
    given = a
    a, taus = hessenberg(mirrored(a))
    packed = np.where(np.tri(len(a), dtype=bool), a, given)
    return packed, np.diag(a).real, np.diag(a, -1).real, taus


# ---- Schur: 7.1.3 -------------------------------------------------------------------------------
def schur(a: NDArray) -> tuple[NDArray, NDArray]:
    """(T, Z) with `a = Z T Z^H`, by deflation; T of a real matrix has 2 by 2 blocks."""
    a = a.copy()
    z = np.eye(len(a), dtype=a.dtype)
    start = 0
    while start < len(a):
        basis = _invariant(a[start:, start:])
        stop = start + basis.shape[1]
        q = np.linalg.qr(basis, mode="complete")[0]
        a[start:] = q.conj().T @ a[start:]
        a[:, start:] = a[:, start:] @ q
        z[:, start:] = z[:, start:] @ q
        if stop - start == 2:
            _standardize(a, z, start)
        a[stop:, start:stop] = 0
        start = stop
    return a, z


def _invariant(a: NDArray) -> NDArray:
    """An eigenvector, or real and imaginary part of a complex one of a real matrix."""
    values, vectors = np.linalg.eig(a)
    v = vectors[:, 0]
    if a.dtype.kind == "f" and values[0].imag != 0:
        return np.stack([v.real, v.imag], 1).astype(a.dtype)
    return v[:, None].real.astype(a.dtype) if a.dtype.kind == "f" else v[:, None]


def _standardize(a: NDArray, z: NDArray, i: int) -> None:
    """Rotate so that the 2 by 2 block at i has equal elements on its diagonal, as LAPACK does."""
    (p, b), (c, q) = a[i : i + 2, i : i + 2]
    angle = 0.5 * np.arctan2(q - p, b + c)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], a.dtype)
    rows = slice(i, i + 2)
    a[rows] = rotation.T @ a[rows]
    a[:, rows] = a[:, rows] @ rotation
    z[:, rows] = z[:, rows] @ rotation


# ---- eigenvectors -------------------------------------------------------------------------------
def normalized(vectors: NDArray) -> NDArray:
    """Columns of length 1 whose largest element is real, as LAPACK gives them."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(0)[None], 0)
    phase = largest / np.where(largest == 0, 1, np.abs(largest))
    return vectors / np.where(phase == 0, 1, phase) / np.linalg.norm(vectors, axis=0)
