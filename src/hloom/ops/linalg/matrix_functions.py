"""Linear algebra's common ground: the class of matrix functions, and the words of their rules.

A matrix function works on the last two axes; those before them count matrices.  So its batch rule
is one more leading axis.  The functions themselves are in `factorizations` (Cholesky, LU),
`orthogonal` (QR, Hessenberg, tridiagonal), `singular` (SVD, polar), `eigen` and `solves`; how
LAPACK is called, in `lapack_calls`.

Derivatives are those of M. B. Giles, "Collected matrix derivative results for forward and reverse
mode algorithmic differentiation" (2008), where a rule names no other source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.primitive import Primitive
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.elementwise import part_dtype, types_text
from hloom.ops.common.linear import (
    batch_first,
    broadcast_in_dim,
    constant,
    full,
    reduce_sum,
    transpose,
)
from hloom.ops.indexing.dimension_numbers import GatherDimensionNumbers
from hloom.ops.indexing.gather import gather_p
from hloom.ops.linalg.lapack_calls import LETTERS
from hloom.ops.pointwise.arithmetic import mul, sub
from hloom.ops.pointwise.compare import eq, gt, ne, pick
from hloom.ops.pointwise.complex import conj, real
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.pointwise.unary import reciprocal
from hloom.ops.products.dot import dot_general_p
from hloom.ops.shapes.shape import broadcasted_iota, expand_dims

INT32 = np.dtype("int32")


class MatrixFunction(Primitive):
    """A function of each of a batch of matrices, not linear in them.

    `ranks` says how many axes one example of each operand has.  A subclass has `one`, which is the
    NumPy rule for one example; like a rule it gets keywords, or `p` where `parameters` is set.
    """

    ranks: Sequence[int] = (2,)

    def one(self, *operands: Any, **params: Any) -> Any:
        """The result, or results, for one example; LinAlgError where there is none."""
        raise NotImplementedError

    def numpy(self, *values: Any, **params: Any) -> Any:
        if self.parameters is not None:
            params = {"p": self.parameters(**params)}
        avals = self.infer(*[ShapedArray(x.shape, x.dtype) for x in values], **params)
        outs = [_nothing(aval) for aval in (avals if self.multiple else [avals])]
        batch = values[0].shape[: values[0].ndim - self.ranks[0]]
        for place in np.ndindex(batch):
            try:
                found = self.one(*[x[place] for x in values], **params)
            except np.linalg.LinAlgError:
                continue
            for out, result in zip(outs, found if self.multiple else [found]):
                out[place] = result
        return outs if self.multiple else outs[0]

    def transpose(self, ct: Any, *operands: Any, **params: Any) -> list[Any]:
        raise TypeError(
            f"{self.name} is not linear in its operands, so it cannot be transposed; "
            "hloom.vjp differentiates it first"
        )

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        outs = self(*batch_first(size, operands, batch_axes), **params)
        return outs, [0] * len(outs) if self.multiple else 0


def _nothing(aval: ShapedArray) -> Any:
    """NaN, what a matrix without a result has; zeros for integers."""
    out = np.zeros(aval.shape, aval.dtype)
    if aval.dtype.kind in "fc":
        out[...] = complex(np.nan, np.nan) if aval.dtype.kind == "c" else np.nan
    return out


def no_derivative(name: str, why: str) -> NotImplementedError:
    """For a jvp rule that cannot be: `why` ends with what can be done instead."""
    return NotImplementedError(f"{name} has no derivative here: {why}")


# ---- checks -----------------------------------------------------------------------------------
def check_dtype(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise TypeError unless LAPACK has the dtype, one for all operands."""
    for aval in avals:
        if aval.dtype not in LETTERS:
            narrow = dtypes.in_domain(aval.dtype, "float")
            why = f"LAPACK has no {aval.dtype.name}" if narrow else "LAPACK has no others"
            raise ArgumentError(
                f"{name} takes float32, float64, complex64 or complex128 operands; got "
                f"{types_text(avals)}. {why}: convert first, "
                "lax.convert_element_type(x, 'float32')."
            )
        if aval.dtype != avals[0].dtype:
            raise ArgumentError(
                f"{name} needs operands of one dtype; got {types_text(avals)}. lax never "
                "promotes: convert one with lax.convert_element_type."
            )


def check_matrix(name: str, x: ShapedArray, square: bool = False) -> None:
    """Raise TypeError for a dtype that LAPACK lacks, ValueError for what is no matrix."""
    check_dtype(name, [x])
    if x.ndim < 2:
        raise ShapeError(
            f"{name} takes matrices, in the last two axes of an array; got {x}. "
            "A vector becomes a column: lax.expand_dims(x, (1,))."
        )
    if square and x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"{name} takes square matrices, in the last two axes; got {x}")


def check_finite(a: Any) -> None:
    """Raise LinAlgError for an ndarray with NaN or infinities."""
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("the matrix has NaN or infinities")


def check_batch(name: str, avals: Sequence[ShapedArray], ranks: Sequence[int]) -> tuple[int, ...]:
    """The axes that lead all operands; operand i has `ranks[i]` more.  Raises ValueError."""
    fits = all(aval.ndim >= rank for aval, rank in zip(avals, ranks))
    leading = {aval.shape[: aval.ndim - rank] for aval, rank in zip(avals, ranks)}
    if not fits or len(leading) > 1:
        what = ", ".join("a matrix" if rank == 2 else "a vector" for rank in ranks)
        raise ShapeError(
            f"{name} takes {what} with equal axes before them; got {types_text(avals)}. lax never "
            "broadcasts: spread one with lax.broadcast_in_dim."
        )
    return leading.pop()


# ---- words --------------------------------------------------------------------------------------
def transposed(x: Any) -> Any:
    """Every matrix transposed."""
    ndim = x.aval.ndim
    return transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def conjugated(x: Any) -> Any:
    """The complex conjugate; real arrays are their own."""
    return conj(x) if x.aval.kind == "complex" else x


def adjoint(x: Any) -> Any:
    """Every matrix transposed and conjugated."""
    return transposed(conjugated(x))


def real_part(x: Any) -> Any:
    """The real part; real arrays are their own."""
    return real(x) if x.aval.kind == "complex" else x


def matmul(x: Any, *others: Any) -> Any:
    """The product of matrices, from left to right."""
    for y in others:
        n = x.aval.ndim
        batch = tuple(range(n - 2))
        numbers = ((n - 1,), (n - 2,)), (batch, batch)
        x = dot_general_p(x, y, dimension_numbers=numbers, preferred_element_type=x.aval.dtype)
    return x


def _compared(shape: tuple[int, ...], compare: Callable[..., Any]) -> Any:
    """`compare(row, column)` at each element of the matrices."""
    ndim = len(shape)
    row, column = (broadcasted_iota(INT32, shape, axis) for axis in (ndim - 2, ndim - 1))
    return compare(row, column)


def where_placed(compare: Callable[..., Any], x: Any, other: Any = None) -> Any:
    """`x` where `compare(row, column)` holds; elsewhere `other`, or zero."""
    other = constant(0, x.aval.dtype) if other is None else other
    return pick(_compared(x.aval.shape, compare), x, other)


def along_rows(v: Any, shape: tuple[int, ...]) -> Any:
    """Matrices with the vector as each of their rows: element (i, j) is `v[j]`."""
    ndim = len(shape)
    return broadcast_in_dim(v, shape, (*range(ndim - 2), ndim - 1))


def along_columns(v: Any, shape: tuple[int, ...]) -> Any:
    """Matrices with the vector as each of their columns: element (i, j) is `v[i]`."""
    return broadcast_in_dim(v, shape, range(len(shape) - 1))


def scale_columns(x: Any, v: Any) -> Any:
    """Column j of every matrix times `v[j]`."""
    return mul(x, along_rows(like(v, x), x.aval.shape))


def scale_rows(x: Any, v: Any) -> Any:
    """Row i of every matrix times `v[i]`."""
    return mul(x, along_columns(like(v, x), x.aval.shape))


def like(v: Any, x: Any) -> Any:
    """`v` in the dtype of `x`."""
    return convert_element_type(v, x.aval.dtype)


def gaps(v: Any) -> Any:
    """Element (i, j) is `v[j] - v[i]`."""
    shape = (*v.aval.shape, v.aval.shape[-1])
    return sub(along_rows(v, shape), along_columns(v, shape))


def inverse_gaps(differences: Any) -> Any:
    """The reciprocals, with zeros on the diagonal; infinite where two values are equal."""
    one = constant(1, differences.aval.dtype)
    return where_placed(ne, reciprocal(where_placed(ne, differences, one)))


def eye(aval: ShapedArray) -> Any:
    """Identity matrices of a type."""
    return where_placed(eq, full(aval.shape, 1, aval.dtype))


def unit_lower(x: Any) -> Any:
    """The triangles below the diagonal, with ones on it."""
    return where_placed(gt, x, eye(x.aval))


def diagonal(x: Any) -> Any:
    """The diagonals of square matrices."""
    return reduce_sum(where_placed(eq, x), (x.aval.ndim - 1,))


def take_rows(x: Any, order: Any) -> Any:
    """Row i of every matrix is its row `order[i]`, for a permutation."""
    if not x.aval.size:
        return x
    ndim = x.aval.ndim
    batch = tuple(range(ndim - 2))
    numbers = GatherDimensionNumbers((ndim - 1,), (ndim - 2,), (ndim - 2,), batch, batch)
    return gather_p(
        x, expand_dims(order, (ndim - 1,)), dimension_numbers=numbers,
        slice_sizes=(*[1] * (ndim - 1), x.aval.shape[-1]),
        indices_are_sorted=False, unique_indices=True, mode="promise_in_bounds",
    )  # fmt: skip


def real_aval(x: ShapedArray, shape: tuple[int, ...]) -> ShapedArray:
    """A type of the dtype of the absolute values of `x`."""
    return ShapedArray(shape, part_dtype(x.dtype))
