"""Singular values and what is made of them: SVD, polar decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.support.strict import strict
from hloom.errors import ShapeError
from hloom.ops.common.linear import constant
from hloom.ops.linalg import lapack_calls as lapack
from hloom.ops.linalg.eigen import eigh_p, subset_of
from hloom.ops.linalg.matrix_functions import (
    INT32,
    MatrixFunction,
    adjoint,
    along_columns,
    along_rows,
    check_finite,
    check_matrix,
    diagonal,
    inverse_gaps,
    like,
    matmul,
    no_derivative,
    real_aval,
    real_part,
    scale_columns,
    scale_rows,
    where_placed,
)
from hloom.ops.pointwise.arithmetic import add, div, mul, neg, sub
from hloom.ops.pointwise.compare import eq
from hloom.ops.pointwise.complex import complex, imag
from hloom.ops.shapes.slicing import slice_in_dim


class SvdAlgorithm(Enum):
    """How LAPACK finds singular values: DEFAULT is divide and conquer, QR is slower and steadier.

    JACOBI and POLAR are for other devices.
    """

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"


# ---- SVD ----------------------------------------------------------------------------------------
class SvdParameters(NamedTuple):
    """Which vectors are wanted, and the function of LAPACK that finds them."""

    full_matrices: bool
    compute_uv: bool
    function: str


class Svd(MatrixFunction):
    """f32[3,2] -- full_matrices=False, compute_uv=True, .. --> [f32[2], f32[3,2], f32[2,2]].

    Singular values, left vectors, right vectors; the values alone if not compute_uv.  `function` is
    LAPACK's.
    """

    multiple = True
    parameters = SvdParameters

    def infer(self, a: ShapedArray, p: SvdParameters) -> list[ShapedArray]:
        check_matrix("svd", a)
        if p.function not in ("gesdd", "gesvd"):
            raise ValueError(f'svd takes function "gesdd" or "gesvd"; got {p.function!r} for {a}')
        *batch, rows, columns = a.shape
        count = min(rows, columns)
        values = real_aval(a, (*batch, count))
        if not p.compute_uv:
            return [values]
        wide, high = (rows, columns) if p.full_matrices else (count, count)
        left = ShapedArray((*batch, rows, wide), a.dtype)
        return [values, left, ShapedArray((*batch, high, columns), a.dtype)]

    def one(self, a: Any, p: SvdParameters) -> list[Any]:
        check_finite(a)
        if not p.compute_uv:
            return [np.linalg.svd(a, compute_uv=False)]
        u, s, vh = np.linalg.svd(a, p.full_matrices)
        return [s, u, vh]

    def emit(self, block: Any, out: Sequence[ShapedArray], a: Any, p: SvdParameters) -> list[Any]:
        if not a.aval.size:
            return [block.constant(0, out[0]), *[lapack.eye(block, aval) for aval in out[1:]]]
        *batch, rows, columns = a.aval.shape
        thin = p._replace(full_matrices=False, compute_uv=True)
        values, left, right = out if p.compute_uv else self.infer(a.aval, p=thin)
        info = ShapedArray(tuple(batch), INT32)
        finite = lapack.all_finite(block, a)
        a = lapack.unless(block, finite, a, other=0)
        mode = ("A" if p.full_matrices else "S") if p.compute_uv else "N"
        # LAPACK is faster with high matrices.  It sees the transpose of wide ones, whose left
        # vectors are the conjugates of our right ones.
        wide = rows <= columns
        vectors = (right, left) if wide else (left, right)
        _, s, u, vh, info = lapack.call(
            block, p.function, [a], [a.aval, values, *vectors, info],
            batch=len(batch), alias=[(0, 0)], by_rows=wide, mode=mode,
        )  # fmt: skip
        u, vh = (vh, u) if wide else (u, vh)
        ok = block.and_(lapack.succeeded(block, info), finite)
        return [lapack.nan_unless(block, ok, x) for x in ([s, u, vh] if p.compute_uv else [s])]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], p: SvdParameters
    ) -> tuple[Any, Any]:
        """J. Townsend, "Differentiating the singular value decomposition" (2016); complex: Z. Wan,
        S. Zhang, "Automatic differentiation for complex valued SVD" (2019)."""
        (a,), (da,) = primals, tangents
        self.infer(a.aval, p=p)
        *_, rows, columns = a.aval.shape
        if p.compute_uv and p.full_matrices and rows != columns:
            raise no_derivative(
                "svd",
                "the vectors that complete the longer side are not determined by the matrix. Pass "
                "full_matrices=False.",
            )
        thin = p._replace(full_matrices=False, compute_uv=True)
        s, u, vh = self(a, **thin._asdict())
        inner = matmul(adjoint(u), da, adjoint(vh))
        ds = real_part(diagonal(inner))
        if not p.compute_uv:
            return [s], [ds]
        return [s, u, vh], [ds, *_vector_tangents(s, u, vh, da, inner)]


def _vector_tangents(s: Any, u: Any, vh: Any, da: Any, inner: Any) -> tuple[Any, Any]:
    """Tangents of u and vh; `inner` is `u^H da v`.

    The phases of complex vectors are free; here those of u and v turn by equal and opposite angles.
    """
    shape = inner.aval.shape
    across, down = along_rows(s, shape), along_columns(s, shape)
    factors = inverse_gaps(mul(sub(across, down), add(across, down)))
    factors = like(factors, inner)
    flipped = adjoint(inner)
    turn_u = mul(factors, add(scale_columns(inner, s), scale_rows(flipped, s)))
    turn_v = mul(factors, add(scale_rows(inner, s), scale_columns(flipped, s)))
    if inner.aval.dtype.kind == "c":
        angle = complex(0.0, div(mul(imag(diagonal(inner)), 0.5), s))
        turn_u = _add_diagonal(turn_u, angle)
        turn_v = _add_diagonal(turn_v, neg(angle))
    du, dvh = matmul(u, turn_u), matmul(adjoint(turn_v), vh)
    rows, columns, count = u.aval.shape[-2], vh.aval.shape[-1], shape[-1]
    inverse = div(constant(1, s.aval.dtype), s)
    if rows > count:
        outside = matmul(da, adjoint(vh))
        outside = sub(outside, matmul(u, inner))
        du = add(du, scale_columns(outside, inverse))
    if columns > count:
        outside = matmul(adjoint(u), da)
        outside = sub(outside, matmul(inner, vh))
        dvh = add(dvh, scale_rows(outside, inverse))
    return du, dvh


def _add_diagonal(x: Any, v: Any) -> Any:
    return where_placed(eq, add(x, along_rows(v, x.aval.shape)), x)


svd_p = Svd("svd")
_FUNCTIONS = {None: "gesdd", SvdAlgorithm.DEFAULT: "gesdd", SvdAlgorithm.QR: "gesvd"}


@strict
def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """`x = U @ diag(s) @ Vh`: U and V with orthonormal columns, s falling and not negative.

    Takes `[.., m, n]` of float32 or a wider dtype.  Gives U `[.., m, m]`, s `[.., k]` and Vh
    `[.., n, n]`, k the smaller of m and n; with `full_matrices=False`, U `[.., m, k]` and Vh
    `[.., k, n]`; with `compute_uv=False`, s alone.  `subset_by_index=(i, j)` gives the singular
    values from the i-th up to the j-th, and their vectors (not `full_matrices` then).  Raises
    TypeError for other dtypes, ValueError for arrays of fewer than two axes and for an algorithm
    that LAPACK lacks.  Differs from NumPy: NaN where it raises LinAlgError.

    >>> u, s, vh = lax.linalg.svd(jnp.array([[3.0, 0.0], [0.0, -4.0]]))
    >>> s
    Array([4., 3.], dtype=float32)
    """
    x = as_array(x)
    check_matrix("svd", x.aval)
    if algorithm not in _FUNCTIONS:
        raise ValueError(
            "svd runs on LAPACK here, which has SvdAlgorithm.DEFAULT (divide and conquer) and "
            f"SvdAlgorithm.QR; got {algorithm!r}"
        )
    *batch, rows, columns = x.aval.shape
    whole = bool(full_matrices) and rows != columns
    params = {"compute_uv": bool(compute_uv), "function": _FUNCTIONS[algorithm]}
    s, *vectors = svd_p(x, full_matrices=whole and bool(compute_uv), **params)
    if subset_by_index is not None:
        if whole and compute_uv:
            raise ValueError("svd gives a subset of singular values with full_matrices=False only")
        start, stop = subset_of("svd", subset_by_index, min(rows, columns))
        s = slice_in_dim(s, start, stop, axis=len(batch))
        if vectors:
            u = slice_in_dim(vectors[0], start, stop, axis=len(batch) + 1)
            vectors = [u, slice_in_dim(vectors[1], start, stop, axis=len(batch))]
    return (vectors[0], s, vectors[1]) if compute_uv else s


# ---- polar --------------------------------------------------------------------------------------
class Polar(MatrixFunction):
    """f32[3,2] --> [f32[3,2], f32[2,2]].  Orthonormal columns; a positive semidefinite matrix."""

    multiple = True

    def infer(self, a: ShapedArray) -> list[ShapedArray]:
        check_matrix("polar", a)
        rows, columns = a.shape[-2:]
        if rows < columns:
            raise ShapeError(
                f"polar takes no more columns than rows; got {a}. Take the adjoint's: "
                "a = (u @ h)^H = h @ u^H."
            )
        return [a.strong(), ShapedArray((*a.shape[:-2], columns, columns), a.dtype)]

    def one(self, a: Any) -> list[Any]:
        check_finite(a)
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return [u @ vh, (vh.conj().T * s) @ vh]

    def emit(self, block: Any, out: Sequence[ShapedArray], a: Any) -> list[Any]:
        if not a.aval.size:
            return [lapack.eye(block, aval) for aval in out]
        made: list[Any] = block.trace(_polar, a)
        return made

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """From da = du h + u dh: u^H du is the skew-Hermitian x with x h + h x = u^H da - da^H u,
        solved in the eigenvectors of h (N. Higham, "Functions of matrices" (2008), section 8)."""
        (a,), (da,) = primals, tangents
        u, h = self(a)
        w, v = eigh_p(h, lower=True)
        inner = matmul(adjoint(u), da)
        skew = matmul(adjoint(v), sub(inner, adjoint(inner)), v)
        shape = skew.aval.shape
        sums = like(add(along_rows(w, shape), along_columns(w, shape)), skew)
        turn = matmul(v, div(skew, sums), adjoint(v))
        du, dh = matmul(u, turn), sub(inner, matmul(turn, h))
        if a.aval.shape[-2] > a.aval.shape[-1]:
            outside = matmul(sub(da, matmul(u, inner)), v)
            inverse = div(constant(1, w.aval.dtype), w)
            du = add(du, matmul(scale_columns(outside, inverse), adjoint(v)))
        return [u, h], [du, dh]


def _polar(a: Any) -> list[Any]:
    s, u, vh = svd_p(a, full_matrices=False, compute_uv=True, function="gesdd")
    return [matmul(u, vh), matmul(scale_columns(adjoint(vh), s), vh)]


polar_p = Polar("polar")


@strict
def polar(x: Any) -> tuple[Any, Any]:
    """`x = u @ h`: u with orthonormal columns, h Hermitian and positive semidefinite.

    Takes `[.., m, n]`, m >= n, of float32 or a wider dtype.  Raises TypeError for other dtypes,
    ValueError for other shapes.

    >>> u, h = lax.linalg.polar(jnp.array([[0.0, -2.0], [3.0, 0.0]]))
    >>> u.round(3) + 0.0
    Array([[ 0., -1.],
           [ 1.,  0.]], dtype=float32)
    """
    u, h = polar_p(x)
    return u, h


@strict
def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Any, Any, Any, Any]:
    """The polar decomposition `x = u @ h`, and how it was found: iterations, whether it converged.

    Takes what `polar` takes.  It is made of singular values here, not by the iteration that its
    name means, so the other arguments have no effect and the number of iterations is 0.  Raises
    what `polar` raises, and NotImplementedError for `dynamic_shape`.

    >>> u, h, iterations, converged = lax.linalg.qdwh(jnp.eye(2))
    >>> bool(converged)
    True
    """
    if dynamic_shape is not None:
        raise NotImplementedError("qdwh has no dynamic shapes: slice the matrix before")
    u, h = polar_p(as_array(x))
    return u, h, constant(0, INT32), constant(True, np.dtype(bool))
