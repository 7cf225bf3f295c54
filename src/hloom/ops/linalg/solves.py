"""Systems of linear equations: tridiagonal ones, and general ones by LU."""

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
from hloom.ops.common.linear import plus
from hloom.ops.linalg import lapack_calls as lapack
from hloom.ops.linalg.factorizations import lu_p
from hloom.ops.linalg.matrix_functions import (
    INT32,
    MatrixFunction,
    check_batch,
    check_dtype,
    matmul,
    scale_rows,
    take_rows,
    transposed,
)
from hloom.ops.linalg.triangular import triangular_solve
from hloom.ops.order.sorting import argsort
from hloom.ops.pointwise.arithmetic import neg
from hloom.ops.pointwise.convert import stop_gradient
from hloom.ops.shapes.slicing import pad


# ---- tridiagonal --------------------------------------------------------------------------------
class TridiagonalSolve(MatrixFunction):
    """(f32[3], f32[3], f32[3], f32[3,2]) --> f32[3,2].

    Element i of the first three is in row i of the matrix: before, on and behind its diagonal.
    """

    ranks = (1, 1, 1, 2)

    def infer(
        self, dl: ShapedArray, d: ShapedArray, du: ShapedArray, b: ShapedArray
    ) -> ShapedArray:
        avals = (dl, d, du, b)
        check_dtype("tridiagonal_solve", avals)
        check_batch("tridiagonal_solve", avals, self.ranks)
        if len({dl.shape, d.shape, du.shape, b.shape[:-1]}) > 1:
            raise ShapeError(
                "tridiagonal_solve takes three diagonals of one length n, of which dl[0] and "
                f"du[-1] are not read, and b of n rows; got {types_text(avals)}"
            )
        return b.strong()

    def one(self, dl: Any, d: Any, du: Any, b: Any) -> Any:
        return np.linalg.solve(np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1), b)

    def emit(self, block: Any, out: ShapedArray, *operands: Any) -> Any:
        if not out.size:
            return block.constant(0, out)
        info = ShapedArray(out.shape[:-2], INT32)
        avals = [x.aval for x in operands]
        *_, x, info = lapack.call(
            block, "gtsv", operands, [*avals[:3], out, info],
            batch=info.ndim, alias=[(i, i) for i in range(4)],
        )  # fmt: skip
        return lapack.nan_unless(block, lapack.succeeded(block, info), x)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        *diagonals, b = primals
        x = self(*diagonals, b)
        below, on, above, moved = tangents
        for tangent, shift in ((below, 1), (on, 0), (above, -1)):
            if tangent is not None:
                share = neg(scale_rows(shifted(x, shift), tangent))
                moved = plus(moved, share)
        return x, self(*diagonals, moved)

    def transpose(self, ct: Any, dl: Any, d: Any, du: Any, b: Any) -> list[Any]:
        if any(map(is_linear, (dl, d, du))):
            return super().transpose(ct, dl, d, du, b)
        axis = d.aval.ndim - 1
        return [None, None, None, self(shifted(du, 1, axis), d, shifted(dl, -1, axis), ct)]


def shifted(x: Any, by: int, axis: int | None = None) -> Any:
    """Each element moved by so many places along an axis, of rows by default; zeros come in."""
    axis = x.aval.ndim - 2 if axis is None else axis
    config = [(0, 0, 0)] * x.aval.ndim
    config[axis] = (by, -by, 0)
    return pad(x, 0, config)


tridiagonal_solve_p = TridiagonalSolve("tridiagonal_solve")


@strict
def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any) -> Any:
    """The x of `T @ x = b` for the matrix T with diagonal d, dl before and du behind it.

    Takes diagonals `[.., n]`, where `dl[0]` and `du[-1]` are not read, and b `[.., n, m]`, of one
    dtype, float32 or wider.  A singular matrix gives NaN.  Raises TypeError for other dtypes,
    ValueError for shapes that do not fit.

    >>> d = jnp.array([2.0, 2.0])
    >>> lax.linalg.tridiagonal_solve(jnp.zeros(2), d, jnp.zeros(2), jnp.array([[2.0], [4.0]]))
    Array([[1.],
           [2.]], dtype=float32)
    """
    return tridiagonal_solve_p(*convert_operands("tridiagonal_solve", (dl, d, du, b)))


# ---- general ------------------------------------------------------------------------------------
@strict
def lu_solve(lu: Any, permutation: Any, b: Any, *, trans: int = 0) -> Any:
    """The x of `a @ x = b`, from the first and last result of `lu(a)`.

    Takes factors `[.., n, n]` and b `[.., n, m]` of one dtype, float32 or wider, and a permutation
    `[.., n]`.  `trans=1` solves with the transpose of a, `trans=2` with its adjoint.  Raises
    TypeError for other dtypes, ValueError for shapes that do not fit.

    >>> factors, _, permutation = lax.linalg.lu(jnp.array([[0.0, 2.0], [4.0, 0.0]]))
    >>> lax.linalg.lu_solve(factors, permutation, jnp.array([[2.0], [8.0]]))
    Array([[2.],
           [1.]], dtype=float32)
    """
    lu, b = convert_operands("lu_solve", (lu, b))
    permutation = as_array(permutation)
    check_system("lu_solve", lu.aval, b.aval)
    if permutation.aval.shape != b.aval.shape[:-1] or permutation.aval.dtype != INT32:
        raise ShapeError(
            f"lu_solve takes the permutation that lu gives, i32[.., n]; got {permutation.aval} "
            f"beside {lu.aval}"
        )
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve takes trans=0, 1 (transpose) or 2 (adjoint); got {trans!r}")
    lower = {"left_side": True, "lower": True, "unit_diagonal": True}
    if trans == 0:
        x = triangular_solve(lu, take_rows(b, permutation), **lower)
        return triangular_solve(lu, x, left_side=True)
    turned = {"transpose_a": True, "conjugate_a": trans == 2}
    x = triangular_solve(lu, b, left_side=True, **turned)
    x = triangular_solve(lu, x, **lower, **turned)
    return take_rows(x, argsort(permutation))


def check_system(name: str, a: ShapedArray, b: ShapedArray) -> None:
    """Raise unless a holds square matrices and b as many rows."""
    check_dtype(name, (a, b))
    batch = check_batch(name, (a, b), (2, 2))
    n = b.shape[-2]
    if a.shape != (*batch, n, n):
        raise ShapeError(
            f"{name} takes n by n matrices a and b of n rows; got {types_text((a, b))}"
        )


class Solve(MatrixFunction):
    """(f32[2,2], f32[2,2], i32[2], f32[2,3]) -- transpose=False --> f32[2,3].

    The x of `a x = b`, or `a^T x = b`.  The second and third operand are the factors of a, by
    exchange of columns, and their order: derivatives, which know of a only, use them again.
    """

    ranks = (2, 2, 1, 2)

    def infer(
        self,
        a: ShapedArray,
        factors: ShapedArray,
        order: ShapedArray,
        b: ShapedArray,
        *,
        transpose: bool,
    ) -> ShapedArray:
        check_system("solve", a, b)
        wanted = ShapedArray(a.shape, a.dtype), ShapedArray(a.shape[:-1], INT32)
        if (factors.strong(), order) != wanted:
            raise ShapeError(
                f"solve takes the factors of {a} and the order of its columns, {wanted[0]} and "
                f"{wanted[1]}; got {factors} and {order}"
            )
        return b.strong()

    def one(self, a: Any, factors: Any, order: Any, b: Any, *, transpose: bool) -> Any:
        return np.linalg.solve(a.T if transpose else a, b)

    def emit(self, block: Any, out: ShapedArray, *operands: Any, transpose: bool) -> Any:
        program = _solve_transposed if transpose else _solve_plain
        return block.trace(program, *operands[1:])

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, transpose: bool
    ) -> tuple[Any, Any]:
        (a, factors, order, _), (da, _, _, moved) = primals, tangents
        x = self(*primals, transpose=transpose)
        if da is not None:
            moved = plus(moved, neg(matmul(transposed(da) if transpose else da, x)))
        if moved is None:
            return x, None
        return x, self(a, factors, order, moved, transpose=transpose)

    def transpose(
        self, ct: Any, a: Any, factors: Any, order: Any, b: Any, *, transpose: bool
    ) -> list[Any]:
        if is_linear(a):
            return super().transpose(ct, a, factors, order, b)
        return [None, None, None, self(a, factors, order, ct, transpose=not transpose)]


def _solve_plain(factors: Any, order: Any, b: Any) -> Any:
    """`a[:, order] = L U` with ones on the diagonal of U."""
    x = triangular_solve(factors, b, left_side=True, lower=True)
    x = triangular_solve(factors, x, left_side=True, unit_diagonal=True)
    return take_rows(x, argsort(order))


def _solve_transposed(factors: Any, order: Any, b: Any) -> Any:
    b = take_rows(b, order)
    x = triangular_solve(factors, b, left_side=True, transpose_a=True, unit_diagonal=True)
    return triangular_solve(factors, x, left_side=True, lower=True, transpose_a=True)


solve_p = Solve("solve")


@strict
def solve(a: Any, b: Any) -> Any:
    """The x of `a @ x = b`, by LU with partial pivoting; derivatives use its factors again.

    Takes `[.., n, n]` and `[.., n, m]` of one dtype, float32 or wider.  A singular matrix gives
    infinities or NaN.  Raises TypeError for other dtypes, ValueError for shapes that do not fit.
    Differs from NumPy: no LinAlgError, no broadcasting, b is never a vector.

    >>> lax.linalg.solve(jnp.array([[0.0, 2.0], [4.0, 0.0]]), jnp.array([[2.0], [8.0]]))
    Array([[2.],
           [1.]], dtype=float32)
    """
    a, b = convert_operands("solve", (a, b))
    check_system("solve", a.aval, b.aval)
    factors, _, order = lu_p(stop_gradient(a), columns=True)  # LAPACK need not turn the matrix
    return solve_p(a, factors, order, b, transpose=False)
