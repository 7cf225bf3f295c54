"""Matrices as products of triangular ones: Cholesky and LU; and how such a factor is updated."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import Primitive
from hloom.core.support.strict import strict
from hloom.errors import ShapeError
from hloom.ops.common.elementwise import types_text
from hloom.ops.common.linear import batch_first
from hloom.ops.linalg import definitions
from hloom.ops.linalg import lapack_calls as lapack
from hloom.ops.linalg.matrix_functions import (
    INT32,
    MatrixFunction,
    adjoint,
    check_batch,
    check_dtype,
    check_matrix,
    conjugated,
    like,
    matmul,
    real_part,
    scale_rows,
    take_rows,
    transposed,
    unit_lower,
    where_placed,
)
from hloom.ops.linalg.triangular import triangular_solve
from hloom.ops.pointwise.arithmetic import add, div, mul, sub
from hloom.ops.pointwise.compare import eq, gt, le
from hloom.ops.pointwise.unary import sqrt
from hloom.ops.reductions.cumulative import cumsum
from hloom.ops.shapes.shape import expand_dims, reshape
from hloom.ops.shapes.slicing import concatenate, slice_in_dim


# ---- Cholesky -----------------------------------------------------------------------------------
class Cholesky(MatrixFunction):
    """f32[5,2,2] --> f32[5,2,2].  The lower factor; only the lower triangle is read."""

    def infer(self, a: ShapedArray) -> ShapedArray:
        check_matrix("cholesky", a, square=True)
        return a.strong()

    def one(self, a: Any) -> Any:
        return np.linalg.cholesky(definitions.mirrored(a))

    def emit(self, block: Any, out: ShapedArray, a: Any) -> Any:
        if not out.size:
            return block.constant(0, out)
        info = ShapedArray(out.shape[:-2], INT32)
        # The upper factor of the transposed matrix is the lower factor, transposed.
        factor, info = lapack.call(
            block, "potrf", [a], [out, info],
            batch=info.ndim, alias=[(0, 0)], by_rows=True, uplo="U",
        )  # fmt: skip
        ok = lapack.succeeded(block, info)
        return lapack.nan_unless(block, ok, lapack.keep_triangle(block, factor, lower=True))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """I. Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10."""
        factor = self(*primals)
        half = _lower_half(tangents[0])
        inner = triangular_solve(factor, add(half, adjoint(half)), left_side=True, lower=True)
        inner = triangular_solve(factor, inner, lower=True, transpose_a=True, conjugate_a=True)
        return factor, matmul(factor, _lower_half(inner))


def _lower_half(x: Any) -> Any:
    """The triangle that, with its adjoint added, makes a Hermitian matrix of `x`."""
    return where_placed(gt, x, where_placed(eq, mul(x, 0.5)))


cholesky_p = Cholesky("cholesky")


def symmetrize(x: Any) -> Any:
    """The Hermitian part of every matrix."""
    return mul(add(x, adjoint(x)), 0.5)


@strict
def cholesky(a: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangular L with positive diagonal and `L @ L.T.conj() = a`.

    Takes `[.., n, n]` Hermitian positive definite matrices of float32 or a wider dtype.  They are
    made Hermitian first; without `symmetrize_input` only the lower triangle is read.  A matrix that
    is not positive definite gives NaN.  Raises TypeError for other dtypes, ValueError for other
    shapes.  Differs from NumPy: NaN where NumPy raises LinAlgError.

    >>> lax.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 10.0]]))
    Array([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    a = as_array(a)
    check_matrix("cholesky", a.aval, square=True)
    return cholesky_p(symmetrize(a) if symmetrize_input else a)


@strict
def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """The upper Cholesky factor of `R.T.conj() @ R + outer(w, w.conj())`, from the factor R.

    Takes `[.., n, n]` and `[.., n]` of one dtype, float32 or wider.  Costs n**2 operations, where a
    new factorization would cost n**3.  Raises TypeError for other dtypes, ValueError for shapes
    that do not fit.

    >>> r = jnp.array([[2.0, 1.0], [0.0, 3.0]])
    >>> r1 = lax.linalg.cholesky_update(r, jnp.array([1.0, 2.0]))
    >>> (r1.T @ r1).round(3)
    Array([[ 5.,  4.],
           [ 4., 14.]], dtype=float32)
    """
    r, w = convert_operands("cholesky_update", (r_matrix, w_vector))
    check_dtype("cholesky_update", (r.aval, w.aval))
    check_batch("cholesky_update", (r.aval, w.aval), (2, 1))
    if len({*r.aval.shape[-2:], w.aval.shape[-1]}) > 1:
        raise ShapeError(
            "cholesky_update takes square matrices and vectors of their size; got "
            f"{types_text((r.aval, w.aval))}"
        )
    # P. Gill, G. Golub, W. Murray, M. Saunders, "Methods for modifying matrix factorizations"
    # (1974): R' = M R, where M is the factor of I + p p^H, known in closed form from sums of |p|^2.
    axis = r.aval.ndim - 2
    column = expand_dims(w, (axis + 1,))
    p = triangular_solve(r, column, left_side=True, transpose_a=True, conjugate_a=True)
    p = reshape(p, w.aval.shape)
    squares = real_part(mul(p, conjugated(p)))
    after = add(cumsum(squares, axis=axis), 1.0)
    before = sub(after, squares)
    weighted = scale_rows(r, conjugated(p))
    below = sub(cumsum(weighted, axis=axis, reverse=True), weighted)
    share = div(p, like(sqrt(mul(after, before)), p))
    return add(scale_rows(r, sqrt(div(after, before))), scale_rows(below, share))


# ---- LU -----------------------------------------------------------------------------------------
class Lu(MatrixFunction):
    """f32[3,2] -- columns=False --> [f32[3,2], i32[2], i32[3]].  Both factors, pivots, permutation.

    With `columns`, columns are exchanged instead of rows, and the upper factor is the one with
    ones on its diagonal: the factors of the transposed matrix, transposed.
    """

    multiple = True

    def infer(self, a: ShapedArray, *, columns: bool) -> list[ShapedArray]:
        check_matrix("lu", a)
        *batch, m, n = a.shape
        pivots = ShapedArray((*batch, min(m, n)), INT32)
        return [a.strong(), pivots, ShapedArray((*batch, n if columns else m), INT32)]

    def one(self, a: Any, *, columns: bool) -> list[Any]:
        factors, pivots = definitions.lu(a.T if columns else a)
        order = definitions.permutation(pivots, len(factors))
        return [factors.T if columns else factors, pivots, order]

    def emit(self, block: Any, out: Sequence[ShapedArray], a: Any, *, columns: bool) -> list[Any]:
        if not a.aval.size:
            places = block.iota(out[2], out[2].ndim - 1)
            return [*[block.constant(0, aval) for aval in out[:2]], places]
        info = ShapedArray(a.aval.shape[:-2], INT32)
        factors, pivots, _ = lapack.call(
            block, "getrf", [a], [*out[:2], info],
            batch=info.ndim, alias=[(0, 0)], by_rows=columns,
        )  # fmt: skip
        pivots = block.sub(pivots, 1)
        return [factors, pivots, write_permutation(block, pivots, out[2])]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, columns: bool
    ) -> tuple[Any, Any]:
        """F. de Hoog, R. Anderssen, M. Lukas, "Differentiation of matrix functionals using
        triangular factorization" (2011); what a longer side adds follows from the product rule."""
        factors, pivots, permutation = self(*primals, columns=columns)
        turn = transposed if columns else lambda x: x
        moved = take_rows(turn(tangents[0]), permutation)
        return [factors, pivots, permutation], [turn(_lu_tangent(turn(factors), moved)), None, None]


def _lu_tangent(factors: Any, moved: Any) -> Any:
    """The tangent of the factors, from that of the matrix with its rows in their order."""
    ndim, (rows, columns) = factors.aval.ndim, factors.aval.shape[-2:]
    count, row, column = min(rows, columns), ndim - 2, ndim - 1
    head = slice_in_dim(slice_in_dim(factors, 0, count, axis=row), 0, count, axis=column)
    inner = slice_in_dim(slice_in_dim(moved, 0, count, axis=row), 0, count, axis=column)
    lower, upper = unit_lower(head), where_placed(le, head)
    inner = triangular_solve(head, inner, left_side=True, lower=True, unit_diagonal=True)
    inner = triangular_solve(head, inner)
    lower_tangent = matmul(lower, where_placed(gt, inner))
    upper_tangent = matmul(where_placed(le, inner), upper)
    tangent = where_placed(gt, lower_tangent, upper_tangent)
    if rows > count:
        below = slice_in_dim(factors, count, rows, axis=row)
        rest = sub(slice_in_dim(moved, count, rows, axis=row), matmul(below, upper_tangent))
        return concatenate([tangent, triangular_solve(head, rest)], row)
    if columns > count:
        beside = slice_in_dim(factors, count, columns, axis=column)
        rest = slice_in_dim(moved, count, columns, axis=column)
        rest = sub(rest, matmul(lower_tangent, beside))
        rest = triangular_solve(head, rest, left_side=True, lower=True, unit_diagonal=True)
        return concatenate([tangent, rest], column)
    return tangent


lu_p = Lu("lu")


@strict
def lu(x: Any) -> tuple[Any, Any, Any]:
    """`x[permutation] = L @ U`, by partial pivoting: L unit lower, U upper triangular.

    Takes `[.., m, n]` of float32 or a wider dtype.  Gives L below and U above the diagonal of one
    matrix like x; pivots `[.., min(m, n)]`, where row i was exchanged with row `pivots[i]`; and the
    permutation `[.., m]` that comes of it.  Raises TypeError for other dtypes, ValueError for
    arrays of fewer than two axes.

    >>> factors, pivots, permutation = lax.linalg.lu(jnp.array([[1.0, 3.0], [2.0, 4.0]]))
    >>> factors
    Array([[2. , 4. ],
           [0.5, 1. ]], dtype=float32)
    >>> permutation
    Array([1, 0], dtype=int32)
    """
    factors, pivots, permutation = lu_p(as_array(x), columns=False)
    return factors, pivots, permutation


# ---- pivots -------------------------------------------------------------------------------------
def write_permutation(block: Any, pivots: Any, out: ShapedArray) -> Any:
    """The permutation of `out` that exchanges i with `pivots[i]`, for each i in turn."""
    order = block.iota(out, out.ndim - 1)
    count = pivots.aval.shape[-1]
    if not pivots.aval.size:
        return order
    step = _exchange_one if out.ndim == 1 else _exchange_many

    def go_on(b: Any, i: Any, order: Any, pivots: Any) -> Any:
        return b.compare(i, "LT", count)

    def body(b: Any, i: Any, order: Any, pivots: Any) -> list[Any]:
        return [b.add(i, 1), step(b, i, order, pivots), pivots]

    start = block.constant(0, ShapedArray((), INT32))
    return block.while_loop(go_on, body, [start, order, pivots])[1]


def _exchange_one(b: Any, i: Any, order: Any, pivots: Any) -> Any:
    """The loop's body for one permutation: two numbers change places."""
    j = b.reshape(b.dynamic_slice(pivots, [i], [1]), ())
    mine, other = b.dynamic_slice(order, [i], [1]), b.dynamic_slice(order, [j], [1])
    return b.dynamic_update_slice(b.dynamic_update_slice(order, other, [i]), mine, [j])


def _exchange_many(b: Any, i: Any, order: Any, pivots: Any) -> Any:
    """The loop's body for a batch: whole rows are compared, which XLA vectorises."""
    shape = order.aval.shape
    zero = b.constant(0, i.aval)
    starts = [*[zero] * (len(shape) - 1), i]
    sizes = [*shape[:-1], 1]

    def read(x: Any) -> Any:
        return b.broadcast(b.dynamic_slice(x, starts, sizes), shape, range(len(shape)))

    place = b.iota(order.aval, len(shape) - 1)
    at_j = b.compare(place, "EQ", read(pivots))
    other = b.reduce(b.select(at_j, order, 0), 0, "add", (len(shape) - 1,))
    other = b.broadcast(other, shape, range(len(shape) - 1))
    at_i = b.compare(place, "EQ", b.broadcast(i, shape, ()))
    return b.select(at_i, other, b.select(at_j, read(order), order))


class LuPivotsToPermutation(Primitive):
    """i32[2] -- permutation_size=3 --> i32[3].  The order after exchanges, one for each pivot."""

    def infer(self, pivots: ShapedArray, *, permutation_size: int) -> ShapedArray:
        if pivots.dtype != INT32 or not pivots.ndim:
            raise ShapeError(
                f"lu_pivots_to_permutation takes i32[.., k] as lu gives them; got {pivots}"
            )
        if pivots.shape[-1] > permutation_size:
            raise ShapeError(
                f"lu_pivots_to_permutation: {pivots.shape[-1]} pivots need a permutation of that "
                f"size at least; got {permutation_size}"
            )
        return ShapedArray((*pivots.shape[:-1], permutation_size), INT32)

    def numpy(self, pivots: Any, *, permutation_size: int) -> Any:
        out = np.empty((*pivots.shape[:-1], permutation_size), INT32)
        for place in np.ndindex(pivots.shape[:-1]):
            out[place] = definitions.permutation(pivots[place], permutation_size)
        return out

    def emit(self, block: Any, out: ShapedArray, pivots: Any, *, permutation_size: int) -> Any:
        return write_permutation(block, pivots, out)

    # Integers have neither tangents nor cotangents.
    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        return self(*primals, **params), None

    def transpose(self, ct: Any, pivots: Any, **params: Any) -> list[Any]:
        return [None]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], **params: Any
    ) -> tuple[Any, int]:
        return self(*batch_first(size, operands, batch_axes), **params), 0


lu_pivots_to_permutation_p = LuPivotsToPermutation("lu_pivots_to_permutation")


@strict
def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The permutation that comes of exchanging element i with element `pivots[i]`, for each i.

    Takes int32 pivots `[.., k]`, gives `[.., permutation_size]`.  Raises TypeError for another
    dtype, ValueError when there are more pivots than elements.

    >>> lax.linalg.lu_pivots_to_permutation(jnp.array([2, 2]), 3)
    Array([2, 0, 1], dtype=int32)
    """
    return lu_pivots_to_permutation_p(as_array(pivots), permutation_size=index(permutation_size))


# ---- products -----------------------------------------------------------------------------------
@strict
def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:
    """`alpha * a @ a.T + beta * c`, for a symmetric c.

    Takes `[.., n, m]` and `[.., n, n]` of one dtype, float32 or wider.  With `symmetrize_output`
    the result is symmetric to the bit.  Raises TypeError for other dtypes, ValueError for shapes
    that do not fit.

    >>> lax.linalg.symmetric_product(jnp.array([[1.0], [2.0]]), jnp.eye(2), beta=1.0)
    Array([[2., 2.],
           [2., 5.]], dtype=float32)
    """
    a, c = convert_operands("symmetric_product", (a_matrix, c_matrix))
    check_dtype("symmetric_product", (a.aval, c.aval))
    batch = check_batch("symmetric_product", (a.aval, c.aval), (2, 2))
    n = a.aval.shape[-2]
    if c.aval.shape != (*batch, n, n):
        raise ShapeError(
            f"symmetric_product takes {n} by {n} matrices c beside a of {n} rows; got "
            f"{types_text((a.aval, c.aval))}"
        )
    out = add(mul(matmul(a, transposed(a)), alpha), mul(c, beta))
    return where_placed(gt, out, transposed(out)) if symmetrize_output else out
