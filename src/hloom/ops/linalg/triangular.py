"""Systems of linear equations with a triangular matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import is_linear
from hloom.core.support.strict import strict
from hloom.errors import ShapeError
from hloom.ops.common.elementwise import types_text
from hloom.ops.common.linear import batch_first, move, plus
from hloom.ops.linalg import lapack_calls as lapack
from hloom.ops.linalg.matrix_functions import (
    MatrixFunction,
    adjoint,
    check_batch,
    check_dtype,
    conjugated,
    matmul,
    transposed,
    where_placed,
)
from hloom.ops.pointwise.arithmetic import neg
from hloom.ops.pointwise.compare import ge, gt
from hloom.ops.shapes.shape import expand_dims, reshape, squeeze


class TriangularSolveParameters(NamedTuple):
    """The side of x that the matrix is on, the triangle that is read, and what `op` does to it."""

    left_side: bool
    lower: bool
    transpose_a: bool
    conjugate_a: bool
    unit_diagonal: bool


class TriangularSolve(MatrixFunction):
    """(f32[2,2], f32[2,3]) -- left_side=True, lower=True, .. --> f32[2,3].

    The x of `op(a) x = b`, or of `x op(a) = b` if not `left_side`.  Only one triangle of `a` is
    read, and not its diagonal if `unit_diagonal`.
    """

    parameters = TriangularSolveParameters
    ranks = (2, 2)

    def infer(self, a: ShapedArray, b: ShapedArray, p: TriangularSolveParameters) -> ShapedArray:
        check_dtype("triangular_solve", (a, b))
        check_batch("triangular_solve", (a, b), self.ranks)
        if a.shape[-1] != a.shape[-2]:
            raise ShapeError(f"triangular_solve takes a square matrix a; got {types_text((a, b))}")
        axis = -2 if p.left_side else -1
        if b.shape[axis] != a.shape[-1]:
            what, say = ("rows", "") if p.left_side else ("columns", "; or pass left_side=True")
            raise ShapeError(
                f"triangular_solve of {types_text((a, b))}: b needs {a.shape[-1]} {what}, as many "
                f"as a has{say}"
            )
        return b.strong()

    def one(self, a: Any, b: Any, p: TriangularSolveParameters) -> Any:
        lower = p.lower
        a = np.tril(a) if lower else np.triu(a)
        if p.unit_diagonal:
            np.fill_diagonal(a, 1)
        a = a.conj() if p.conjugate_a else a
        if p.transpose_a != (not p.left_side):
            a, lower = a.T, not lower
        b = b.copy() if p.left_side else b.T.copy()
        with np.errstate(all="ignore"):
            for i in range(len(a)) if lower else reversed(range(len(a))):
                b[i] /= a[i, i]
                rest = slice(i + 1, None) if lower else slice(i)
                b[rest] -= np.outer(a[rest, i], b[i])
        return b if p.left_side else b.T

    def emit(
        self, block: Any, out: ShapedArray, a: Any, b: Any, p: TriangularSolveParameters
    ) -> Any:
        if not out.size:
            return block.constant(0, out)
        operation = ("C" if p.conjugate_a else "T") if p.transpose_a else "N"
        if p.conjugate_a and not p.transpose_a:
            a = block.complex(block.real(a), block.neg(block.imag(a)))
        # By rows, LAPACK solves the transposed equation, with the other triangle.
        (x,) = lapack.call(
            block, "trsm", [a, b], [out],
            batch=out.ndim - 2, alias=[(1, 0)], by_rows=True,
            side="R" if p.left_side else "L", uplo="U" if p.lower else "L",
            trans_x=operation, diag="U" if p.unit_diagonal else "N",
        )  # fmt: skip
        return x

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], p: TriangularSolveParameters
    ) -> tuple[Any, Any]:
        (a, b), (da, db) = primals, tangents
        x = self(a, b, **p._asdict())
        first = None if db is None else self(a, db, **p._asdict())
        if da is None:
            return x, first
        da = _operated(_read_triangle(da, p), p)
        moved = matmul(da, x) if p.left_side else matmul(x, da)
        return x, plus(first, self(a, neg(moved), **p._asdict()))

    def transpose(self, ct: Any, a: Any, b: Any, p: TriangularSolveParameters) -> list[Any]:
        if is_linear(a):
            return super().transpose(ct, a, b, p=p)
        turned = p._replace(transpose_a=not p.transpose_a)
        return [None, self(a, ct, **turned._asdict())]

    def batch(
        self,
        size: int,
        operands: Sequence[Any],
        batch_axes: Sequence[Any],
        p: TriangularSolveParameters,
    ) -> tuple[Any, int]:
        (a, b), (a_axis, b_axis) = operands, batch_axes
        if a_axis is not None or a.aval.ndim > 2:
            return self(*batch_first(size, operands, batch_axes), **p._asdict()), 0
        # One matrix for all: the examples are more columns (or rows) of b.
        if p.left_side:
            b = move(b, b_axis, 1)
            n, _, k = b.aval.shape
            x = self(a, reshape(b, (n, size * k)), **p._asdict())
            return reshape(x, (n, size, k)), 1
        b = move(b, b_axis, 0)
        x = self(a, reshape(b, (size * b.aval.shape[1], b.aval.shape[2])), **p._asdict())
        return reshape(x, b.aval.shape), 0


def _read_triangle(a: Any, p: TriangularSolveParameters) -> Any:
    """The elements of `a` that are read, and zeros."""
    compare = gt if p.unit_diagonal else ge
    return where_placed(compare if p.lower else lambda i, j: compare(j, i), a)


def _operated(a: Any, p: TriangularSolveParameters) -> Any:
    """`op(a)`"""
    if p.conjugate_a:
        return adjoint(a) if p.transpose_a else conjugated(a)
    return transposed(a) if p.transpose_a else a


triangular_solve_p = TriangularSolve("triangular_solve")


@strict
def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """The x of `x op(a) = b`, or with `left_side` of `op(a) x = b`, for a triangular matrix a.

    Takes `[.., n, n]` and `[.., m, n]` (`[.., n, m]` with `left_side`) of one dtype, float32 or
    wider; b with an axis less than a is a vector, `[.., n]`, and so is x.  `op` transposes or
    conjugates, as asked.  Only the upper triangle is read, or the `lower` one; with
    `unit_diagonal` its diagonal counts as ones.  A zero on the diagonal gives infinities.  Raises
    TypeError for other dtypes, ValueError where shapes do not fit.

    >>> a = jnp.array([[2.0, 0.0], [1.0, 4.0]])
    >>> lax.linalg.triangular_solve(a, jnp.array([[2.0], [9.0]]), left_side=True, lower=True)
    Array([[1.],
           [2.]], dtype=float32)
    """
    a, b = convert_operands("triangular_solve", (a, b))
    if b.aval.ndim == a.aval.ndim - 1 and b.aval.ndim:
        axis = b.aval.ndim if left_side else b.aval.ndim - 1
        matrix = triangular_solve(
            a, expand_dims(b, (axis,)), left_side=left_side, lower=lower,
            transpose_a=transpose_a, conjugate_a=conjugate_a, unit_diagonal=unit_diagonal,
        )  # fmt: skip
        return squeeze(matrix, (axis,))
    is_complex = a.aval.kind == "complex"
    return triangular_solve_p(
        a, b,
        left_side=bool(left_side), lower=bool(lower), transpose_a=bool(transpose_a),
        conjugate_a=bool(conjugate_a) and is_complex, unit_diagonal=bool(unit_diagonal),
    )  # fmt: skip
