"""Matrices as products with orthogonal ones: QR, Hessenberg, tridiagonal.

LAPACK gives an orthogonal matrix as a product of reflections `H_j = I - tau_j v_j v_j^H`.  Vector j
lies below the diagonal of column j, with a one on it that is not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import is_linear
from hloom.core.support.strict import strict
from hloom.errors import ShapeError
from hloom.ops.common.elementwise import types_text
from hloom.ops.common.linear import plus, zeros
from hloom.ops.linalg import definitions
from hloom.ops.linalg import lapack_calls as lapack
from hloom.ops.linalg.matrix_functions import (
    INT32,
    MatrixFunction,
    adjoint,
    along_rows,
    check_batch,
    check_dtype,
    check_matrix,
    conjugated,
    matmul,
    no_derivative,
    real_aval,
    scale_rows,
    take_rows,
    transposed,
    unit_lower,
    where_placed,
)
from hloom.ops.linalg.triangular import triangular_solve
from hloom.ops.pointwise.arithmetic import add, neg, sub
from hloom.ops.pointwise.compare import eq, gt, le, lt
from hloom.ops.pointwise.complex import complex, imag
from hloom.ops.shapes.slicing import slice_in_dim


# ---- products of reflections --------------------------------------------------------------------
def _check_reflections(name: str, a: ShapedArray, taus: ShapedArray) -> None:
    rows, columns = a.shape[-2:]
    if taus.shape[-1] > min(rows, columns):
        raise ShapeError(
            f"{name} takes at most as many factors as a has rows and columns; got "
            f"{types_text((a, taus))}"
        )


class _Reflections:
    """`H_1 H_2 .. = I - V T V^H` and its tangent, as matrices V and T.

    R. Schreiber and C. Van Loan, "A storage-efficient WY representation for products of Householder
    transformations" (1989); T is (I + D S)^-1 D, with S what lies above the diagonal of V^H V.
    """

    def __init__(self, a: Any, taus: Any, da: Any, dtaus: Any):
        count, axis = taus.aval.shape[-1], a.aval.ndim - 1
        da = zeros(a.aval) if da is None else da
        dtaus = zeros(taus.aval) if dtaus is None else dtaus
        self.v = unit_lower(slice_in_dim(a, 0, count, axis=axis))
        self.dv = where_placed(gt, slice_in_dim(da, 0, count, axis=axis))
        gram = matmul(adjoint(self.v), self.v)
        moved = matmul(adjoint(self.dv), self.v)
        moved = add(moved, adjoint(moved))
        above = scale_rows(gram, taus)
        self.t = _unit_upper_solve(above, _diagonal_matrix(taus))
        change = add(scale_rows(gram, dtaus), scale_rows(moved, taus))
        change = matmul(where_placed(lt, change), self.t)
        self.dt = _unit_upper_solve(above, sub(_diagonal_matrix(dtaus), change))

    def tangent(self, product: Any) -> Any:
        """The tangent of `-product(V, T, V)`."""
        first, second = product(self.dv, self.t, self.v), product(self.v, self.dt, self.v)
        return neg(add(add(first, second), product(self.v, self.t, self.dv)))


def _unit_upper_solve(above: Any, b: Any) -> Any:
    return triangular_solve(above, b, left_side=True, unit_diagonal=True)


def _diagonal_matrix(v: Any) -> Any:
    shape = (*v.aval.shape, v.aval.shape[-1])
    return where_placed(eq, along_rows(v, shape))


def _write_product(block: Any, a: Any, taus: Any) -> Any:
    name = "orgqr" if a.aval.dtype.kind == "f" else "ungqr"
    batch = a.aval.ndim - 2
    return lapack.call(block, name, [a, taus], [a.aval], batch=batch, alias=[(0, 0)])[0]


class HouseholderProduct(MatrixFunction):
    """(f32[3,2], f32[1]) --> f32[3,2].  The first columns of `H_1 H_2 ..`."""

    ranks = (2, 1)

    def infer(self, a: ShapedArray, taus: ShapedArray) -> ShapedArray:
        check_dtype("householder_product", (a, taus))
        check_batch("householder_product", (a, taus), self.ranks)
        rows, columns = a.shape[-2:]
        if rows < columns:
            raise ShapeError(
                f"householder_product takes no more columns than rows; got {types_text((a, taus))}"
            )
        _check_reflections("householder_product", a, taus)
        return a.strong()

    def one(self, a: Any, taus: Any) -> Any:
        return definitions.product_of_reflections(a, taus, a.shape[1])

    def emit(self, block: Any, out: ShapedArray, a: Any, taus: Any) -> Any:
        if not a.aval.size or not taus.aval.size:
            return lapack.eye(block, out)
        return _write_product(block, a, taus)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        columns, axis = primals[0].aval.shape[-1], primals[0].aval.ndim - 2

        def product(left: Any, t: Any, right: Any) -> Any:
            return matmul(left, t, adjoint(slice_in_dim(right, 0, columns, axis=axis)))

        return self(*primals), _Reflections(*primals, *tangents).tangent(product)


householder_product_p = HouseholderProduct("householder_product")


@strict
def householder_product(a: Any, taus: Any) -> Any:
    """The first n columns of the product of reflections `I - tau_j v_j v_j^H`.

    Takes `[.., m, n]`, m >= n, with vector j below the diagonal of column j, and `[.., k]`, of one
    dtype, float32 or wider.  Raises TypeError for other dtypes, ValueError for shapes that do not
    fit.

    >>> lax.linalg.householder_product(jnp.array([[0.0], [1.0]]), jnp.array([1.0]))
    Array([[ 0.],
           [-1.]], dtype=float32)
    """
    return householder_product_p(a, taus)


class Ormqr(MatrixFunction):
    """(f32[3,2], f32[2], f32[3,5]) -- left=True, transpose=False --> f32[3,5].  `Q c`, or `c Q`."""

    ranks = (2, 1, 2)

    def infer(
        self, a: ShapedArray, taus: ShapedArray, c: ShapedArray, *, left: bool, transpose: bool
    ) -> ShapedArray:
        check_dtype("ormqr", (a, taus, c))
        check_batch("ormqr", (a, taus, c), self.ranks)
        _check_reflections("ormqr", a, taus)
        if c.shape[-2 if left else -1] != a.shape[-2]:
            what = "rows" if left else "columns"
            raise ShapeError(
                f"ormqr needs as many {what} of c as a has rows; got {types_text((a, taus, c))}"
            )
        return c.strong()

    def one(self, a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
        return definitions.apply_reflections(a, taus, c, left, transpose)

    def emit(
        self, block: Any, out: ShapedArray, *operands: Any, left: bool, transpose: bool
    ) -> Any:
        a, taus, c = operands
        if not out.size or not taus.aval.size:
            return c
        count = taus.aval.shape[-1]
        limits = (*a.aval.shape[:-1], count)
        a = a if a.aval.shape == limits else block.slice(a, [0] * len(limits), limits)
        name = "ormqr" if out.dtype.kind == "f" else "unmqr"
        return lapack.call(
            block, name, [a, taus, c], [out],
            batch=out.ndim - 2, alias=[(2, 0)], left=left, transpose=transpose,
        )[0]  # fmt: skip

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        (a, taus, c), (da, dtaus, dc) = primals, tangents
        out = self(a, taus, c, **params)
        through = None if dc is None else self(a, taus, dc, **params)
        if da is None and dtaus is None:
            return out, through

        def product(left: Any, t: Any, right: Any) -> Any:
            if params["transpose"]:
                left, t, right = right, adjoint(t), left
            if params["left"]:
                return matmul(left, t, matmul(adjoint(right), c))
            return matmul(c, left, t, adjoint(right))

        return out, plus(through, _Reflections(a, taus, da, dtaus).tangent(product))

    def transpose(self, ct: Any, a: Any, taus: Any, c: Any, **params: Any) -> list[Any]:
        if is_linear(a) or is_linear(taus):
            return super().transpose(ct, a, taus, c, **params)
        params["transpose"] = not params["transpose"]  # Q^T is the conjugate of the adjoint
        return [None, None, conjugated(self(a, taus, conjugated(ct), **params))]


ormqr_p = Ormqr("ormqr")


@strict
def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """`Q @ c`, or `c @ Q` if not `left`, Q a product of reflections; or with its adjoint.

    Takes `[.., m, n]` with vector j below the diagonal of column j, `[.., k]`, and `[.., m, p]`
    (`[.., p, m]` if not `left`), of one dtype, float32 or wider.  Q itself is never made.  Raises
    TypeError for other dtypes, ValueError for shapes that do not fit.

    >>> lax.linalg.ormqr(jnp.array([[0.0], [1.0]]), jnp.array([1.0]), jnp.array([[3.0], [4.0]]))
    Array([[-4.],
           [-3.]], dtype=float32)
    """
    a, taus, c = convert_operands("ormqr", (a, taus, c))
    return ormqr_p(a, taus, c, left=bool(left), transpose=bool(transpose))


# ---- QR -----------------------------------------------------------------------------------------
class Qr(MatrixFunction):
    """f32[3,2] -- full_matrices=False, pivoting=False --> [f32[3,2], f32[2,2]].

    With pivoting a third result, the order of columns, i32[2].
    """

    multiple = True

    def infer(self, a: ShapedArray, *, full_matrices: bool, pivoting: bool) -> list[ShapedArray]:
        check_matrix("qr", a)
        *batch, rows, columns = a.shape
        count = rows if full_matrices else min(rows, columns)
        outs = [
            ShapedArray((*batch, rows, count), a.dtype),
            ShapedArray((*batch, count, columns), a.dtype),
        ]
        return [*outs, ShapedArray((*batch, columns), INT32)] if pivoting else outs

    def one(self, a: Any, *, full_matrices: bool, pivoting: bool) -> list[Any]:
        if not pivoting:
            return list(np.linalg.qr(a, "complete" if full_matrices else "reduced"))
        packed, taus, order = definitions.pivoted_qr(a)
        count = len(a) if full_matrices else min(a.shape)
        q = definitions.product_of_reflections(packed, taus, count)
        return [q, np.triu(packed[:count]), order]

    def emit(
        self, block: Any, out: Sequence[ShapedArray], a: Any, *, full_matrices: bool, pivoting: bool
    ) -> list[Any]:
        if not a.aval.size:
            made = [lapack.eye(block, out[0]), block.constant(0, out[1])]
            return [*made, *[block.iota(aval, aval.ndim - 1) for aval in out[2:]]]
        batch, (rows, columns) = a.aval.ndim - 2, a.aval.shape[-2:]
        taus = ShapedArray((*a.aval.shape[:-2], min(rows, columns)), a.aval.dtype)
        order = []
        if pivoting:
            packed, places, taus = lapack.call(
                block, "geqp3", [a, block.constant(0, out[2])], [a.aval, out[2], taus],
                batch=batch, alias=[(0, 0), (1, 1)],
            )  # fmt: skip
            order = [block.sub(places, 1)]
        else:
            packed, taus = lapack.call(
                block, "geqrf", [a], [a.aval, taus], batch=batch, alias=[(0, 0)]
            )
        q = _write_product(block, _fitted(block, packed, out[0]), taus)
        r = lapack.keep_triangle(block, _fitted(block, packed, out[1]), lower=False)
        return [q, r, *order]

    def jvp(
        self,
        primals: Sequence[Any],
        tangents: Sequence[Any],
        *,
        full_matrices: bool,
        pivoting: bool,
    ) -> tuple[Any, Any]:
        """S. Walter, L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010);
        wide matrices: D. Roberts, L. Roberts, "QR and LQ decomposition matrix backpropagation
        algorithms for square, wide, and deep matrices" (2020)."""
        (a,), (da,) = primals, tangents
        *_, rows, columns = a.aval.shape
        if full_matrices and rows > columns:
            raise no_derivative(
                "qr",
                f"the last {rows - columns} columns of Q, which complete it, are not determined by "
                "the matrix. Pass full_matrices=False.",
            )
        q, r, *order = self(a, full_matrices=full_matrices, pivoting=pivoting)
        if pivoting:
            da = transposed(take_rows(transposed(da), order[0]))
        dq, dr = _qr_tangents(q, r, da)
        return [q, r, *order], [dq, dr, *[None for _ in order]]


def _qr_tangents(q: Any, r: Any, da: Any) -> tuple[Any, Any]:
    count, axis = r.aval.shape[-2], r.aval.ndim - 1
    square = slice_in_dim(r, 0, count, axis=axis)
    scaled = triangular_solve(square, slice_in_dim(da, 0, count, axis=axis))
    inner = matmul(adjoint(q), scaled)
    # What turns Q: skew-Hermitian, such that R stays upper triangular with a real diagonal.
    below = where_placed(gt, inner)
    turn = sub(below, adjoint(below))
    if inner.aval.dtype.kind == "c":
        turn = add(turn, where_placed(eq, complex(0.0, imag(inner))))
    dq = add(scaled, matmul(q, sub(turn, inner)))
    dr = sub(matmul(adjoint(q), da), matmul(turn, r))
    return dq, where_placed(le, dr)


def _fitted(block: Any, x: Any, out: ShapedArray) -> Any:
    """The matrices cut, or filled up with columns of zeros, to the shape of `out`."""
    shape = x.aval.shape
    kept = (*shape[:-2], out.shape[-2], min(shape[-1], out.shape[-1]))
    x = x if shape == kept else block.slice(x, [0] * len(kept), kept)
    more = out.shape[-1] - kept[-1]
    if not more:
        return x
    columns = block.constant(0, ShapedArray((*kept[:-1], more), out.dtype))
    return block.concatenate([x, columns], len(kept) - 1)


qr_p = Qr("qr")


@strict
def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: Any = None
) -> tuple[Any, ...]:
    """`x = Q @ R`: Q with orthonormal columns, R upper triangular; `x[:, p] = Q @ R` if `pivoting`.

    Takes `[.., m, n]` of float32 or a wider dtype.  Gives Q `[.., m, m]` and R `[.., m, n]`; with
    `full_matrices=False`, Q `[.., m, k]` and R `[.., k, n]`, k the smaller of m and n; then, with
    `pivoting`, the columns' order p, which makes the diagonal of R decrease.  `use_magma` is for
    GPUs.  Raises TypeError for other dtypes, ValueError for arrays of fewer than two axes.
    Differs from NumPy: the full Q by default.

    >>> q, r = lax.linalg.qr(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> r.round(3)
    Array([[-5. , -2.2],
           [ 0. ,  0.4]], dtype=float32)
    """
    x = as_array(x)
    check_matrix("qr", x.aval)
    rows, columns = x.aval.shape[-2:]
    whole = bool(full_matrices) and rows > columns
    return tuple(qr_p(x, full_matrices=whole, pivoting=bool(pivoting)))


# ---- Hessenberg, tridiagonal --------------------------------------------------------------------
class Hessenberg(MatrixFunction):
    """f32[3,3] --> [f32[3,3], f32[2]].  The Hessenberg matrix with the reflections below it."""

    multiple = True

    def infer(self, a: ShapedArray) -> list[ShapedArray]:
        check_matrix("hessenberg", a, square=True)
        taus = (*a.shape[:-2], max(a.shape[-1] - 1, 0))
        return [a.strong(), ShapedArray(taus, a.dtype)]

    def one(self, a: Any) -> Any:
        return definitions.hessenberg(a)

    def emit(self, block: Any, out: Sequence[ShapedArray], a: Any) -> list[Any]:
        if not out[1].size:
            return [a, block.constant(0, out[1])]
        batch = a.aval.ndim - 2
        info = ShapedArray(a.aval.shape[:-2], INT32)
        packed, taus, _ = lapack.call(
            block, "gehrd", [a], [*out, info],
            batch=batch, alias=[(0, 0)], low=1, high=a.aval.shape[-1],
        )  # fmt: skip
        return [packed, taus]

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        raise no_derivative("hessenberg", _DIFFERENTIATE)


_DIFFERENTIATE = (
    "differentiate what it is used for (lax.linalg.eigh, eig or solve), or stop here with "
    "lax.stop_gradient(x)."
)
hessenberg_p = Hessenberg("hessenberg")


@strict
def hessenberg(a: Any) -> tuple[Any, Any]:
    """The Hessenberg form of `a`: `Q.T.conj() @ a @ Q`, zero below the first subdiagonal.

    Takes `[.., n, n]` of float32 or a wider dtype.  Gives the form, with the vectors of Q's
    reflections below its subdiagonal, and their factors `[.., n - 1]`:
    `householder_product(out[1:, :-1], taus)` is Q without its first row and column.  Raises
    TypeError for other dtypes, ValueError for other shapes.

    >>> packed, taus = lax.linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> packed
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    packed, taus = hessenberg_p(a)
    return packed, taus


class Tridiagonal(MatrixFunction):
    """f32[3,3] -- lower=True --> [f32[3,3], f32[3], f32[2], f32[2]].  Reflections, diagonals."""

    multiple = True

    def infer(self, a: ShapedArray, *, lower: bool) -> list[ShapedArray]:
        check_matrix("tridiagonal", a, square=True)
        *batch, _, n = a.shape
        less = (*batch, max(n - 1, 0))
        diagonals = [real_aval(a, (*batch, n)), real_aval(a, less)]
        return [a.strong(), *diagonals, ShapedArray(less, a.dtype)]

    def one(self, a: Any, *, lower: bool) -> Any:
        return definitions.tridiagonal(a, lower)

    def emit(self, block: Any, out: Sequence[ShapedArray], a: Any, *, lower: bool) -> list[Any]:
        if not out[0].size:
            return [a, *[block.constant(0, aval) for aval in out[1:]]]
        batch = a.aval.ndim - 2
        info = ShapedArray(a.aval.shape[:-2], INT32)
        if not out[2].size:
            diagonal = block.reshape(a, out[1].shape)
            diagonal = block.real(diagonal) if a.aval.dtype.kind == "c" else diagonal
            return [a, diagonal, *[block.constant(0, aval) for aval in out[2:]]]
        name = "sytrd" if a.aval.dtype.kind == "f" else "hetrd"
        return lapack.call(
            block, name, [a], [*out, info],
            batch=batch, alias=[(0, 0)], uplo="L" if lower else "U",
        )[:4]  # fmt: skip

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, lower: bool
    ) -> tuple[Any, Any]:
        raise no_derivative("tridiagonal", _DIFFERENTIATE)


tridiagonal_p = Tridiagonal("tridiagonal")


@strict
def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Any, Any, Any, Any]:
    """The real tridiagonal form of a Hermitian matrix: `Q.T.conj() @ a @ Q`.

    Takes `[.., n, n]` of float32 or a wider dtype, of which only the lower triangle is read, or the
    upper one.  Gives a matrix with the vectors of Q's reflections, the form's diagonal `[.., n]`
    and off-diagonal `[.., n - 1]`, and the reflections' factors `[.., n - 1]`.  Raises TypeError
    for other dtypes, ValueError for other shapes.

    >>> _, d, e, _ = lax.linalg.tridiagonal(jnp.array([[1.0, 2.0], [2.0, 4.0]]))
    >>> d, e
    (Array([1., 4.], dtype=float32), Array([2.], dtype=float32))
    """
    packed, diagonal, off_diagonal, taus = tridiagonal_p(as_array(a), lower=bool(lower))
    return packed, diagonal, off_diagonal, taus
