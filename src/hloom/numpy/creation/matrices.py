"""Matrices made of few numbers: identities, triangles, diagonals, Vandermonde.

Diagonals are moved by padding and slicing the flattened matrix: entry (i, i) of an n by n matrix is
every (n + 1)th element.  That is exact for every value, and as cheap as it gets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.control.devices import check_device
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.support.known import is_known
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import count_argument, dtype_argument
from hloom.numpy.common.operands import array_like
from hloom.numpy.creation.creation import static
from hloom.numpy.creation.ranges import iota
from hloom.ops.common.linear import broadcast_in_dim, constant, spread_scalar
from hloom.ops.pointwise.arithmetic import add, mul, sub
from hloom.ops.pointwise.compare import clamp, eq, ge, select
from hloom.ops.pointwise.convert import convert_element_type, convert_element_type_p
from hloom.ops.shapes.shape import reshape
from hloom.ops.shapes.slicing import concatenate, pad
from hloom.ops.shapes.slicing import slice as lax_slice

INT32 = np.dtype("int32")


def _sizes(name: str, rows: Any, columns: Any, k: Any) -> tuple[tuple[int, int], Any]:
    n = count_argument(name, "N", rows)
    m = n if columns is None else count_argument(name, "M", columns)
    if n < 0 or m < 0:
        raise ValueError(f"{name}: negative dimensions are not allowed; got shape {(n, m)}")
    return (n, m), _diagonal(name, k, n, m)


def _diagonal(name: str, k: Any, n: int, m: int) -> Any:
    """The number of a diagonal of an n by m matrix, an int or a traced i32; -n or m beyond it."""
    if not is_known(k) and dtypes.in_domain(k.aval.dtype, "integer"):
        if not k.aval.shape:
            return clamp(constant(-n, INT32), convert_element_type(k, INT32), constant(m, INT32))
    return max(min(count_argument(name, "k", k), m), -n)


def _dtype(name: str, dtype: Any) -> np.dtype[Any]:
    return (
        dtypes.default_float(current.get().config.enable_x64)
        if dtype is None
        else dtype_argument(name, dtype)
    )


def _distance(shape: tuple[int, ...], k: Any) -> tuple[Any, Any]:
    """Row + k and column of every element of a matrix."""
    row, column = iota(INT32, shape, len(shape) - 2), iota(INT32, shape, len(shape) - 1)
    if isinstance(k, Array):
        return add(row, k), column
    return (add(row, constant(k, INT32)) if k else row), column


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
) -> Array:
    """An N by M matrix with ones on its k-th diagonal and zeros elsewhere; M is N by default.

    `k` may be traced.  Raises TypeError for sizes that are no integers, ValueError for negative
    ones.

    >>> jnp.eye(2, 3, k=1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    check_device("eye", device)
    shape, k = _sizes("eye", N, M, k)
    found = _dtype("eye", dtype)

    def traced() -> Array:
        return convert_element_type_p(eq(*_distance(shape, k)), new_dtype=found, weak_type=False)

    return static(ShapedArray(shape, found), lambda: np.eye(*shape, k).astype(found), traced)


def identity(n: int, dtype: Any = None) -> Array:
    """The n by n identity matrix.

    Raises what `eye` raises.

    >>> jnp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """An N by M matrix with ones at and below its k-th diagonal and zeros above.

    Raises what `eye` raises.

    >>> jnp.tri(3, dtype=int)
    Array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]], dtype=int32)
    """
    shape, k = _sizes("tri", N, M, k)
    found = _dtype("tri", dtype)

    def traced() -> Array:
        return convert_element_type_p(ge(*_distance(shape, k)), new_dtype=found, weak_type=False)

    return static(ShapedArray(shape, found), lambda: np.tri(*shape, k).astype(found), traced)


def _matrix(name: str, x: Any, k: Any) -> tuple[Array, Any]:
    x = array_like(name, x)
    if x.aval.ndim < 2:
        raise ValueError(
            f"{name} takes an array of at least 2 axes; got {x.aval}. For a vector use jnp.diag(x)."
        )
    return x, _diagonal(name, k, x.aval.shape[-2] + 1, x.aval.shape[-1])


@eager.function(static=("k",))
def tril(m: Any, k: int = 0) -> Any:
    """The lower triangle of a matrix (of the last two axes): zeros above the k-th diagonal.

    Raises ValueError for fewer than two axes.

    >>> jnp.tril(jnp.ones((2, 3)))
    Array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    m, k = _matrix("tril", m, k)
    shape = m.aval.shape
    inside = _spread(ge(*_distance(shape[-2:], k)), shape)
    return select(inside, m, spread_scalar(_zero(m), shape))


@eager.function(static=("k",))
def triu(m: Any, k: int = 0) -> Any:
    """The upper triangle of a matrix (of the last two axes): zeros below the k-th diagonal.

    Raises ValueError for fewer than two axes.

    >>> jnp.triu(jnp.ones((2, 3)))
    Array([[1., 1., 1.],
           [0., 1., 1.]], dtype=float32)
    """
    m, k = _matrix("triu", m, k)
    shape = m.aval.shape
    before = sub(k, constant(1, INT32)) if isinstance(k, Array) else k - 1
    below = _spread(ge(*_distance(shape[-2:], before)), shape)
    return select(below, spread_scalar(_zero(m), shape), m)


def _spread(mask: Any, shape: tuple[int, ...]) -> Any:
    return (
        mask if len(shape) == 2 else broadcast_in_dim(mask, shape, (len(shape) - 2, len(shape) - 1))
    )


def _zero(x: Any) -> Any:
    return constant(False if x.aval.kind == "bool" else 0, x.aval.dtype, x.aval.weak_type)


@eager.function(static=("k",))
def diag(v: Any, k: int = 0) -> Any:
    """The k-th diagonal of a matrix, or the matrix that has the vector `v` on its k-th diagonal.

    Raises ValueError for other than 1 or 2 axes.

    >>> jnp.diag(jnp.array([1, 2]), k=1)
    Array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]], dtype=int32)
    >>> jnp.diag(jnp.arange(4).reshape(2, 2))
    Array([0, 3], dtype=int32)
    """
    v = array_like("diag", v)
    if v.aval.ndim == 1:
        return with_diagonal(v, k)
    if v.aval.ndim == 2:
        return diagonal_of(v, k)
    raise ValueError(
        f"diag: Input must be 1- or 2-d; got {v.aval}. For more use jnp.diagonal(x, k)."
    )


@eager.function(static=("k",))
def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix that has the elements of `v`, in row-major order, on its k-th diagonal.

    >>> jnp.diagflat(jnp.array([[1, 2]]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    v = array_like("diagflat", v)
    return with_diagonal(reshape(v, (v.aval.size,)), k)


def with_diagonal(v: Any, k: int) -> Any:
    """f32[n] --> f32[n+|k|, n+|k|]"""
    size = v.aval.size + abs(k)
    first = k if k >= 0 else -k * size
    if not v.aval.size:
        return spread_scalar(_zero(v), (size, size))
    spaced = (v.aval.size - 1) * (size + 1) + 1
    flat = pad(v, _zero(v), [(first, size * size - first - spaced, size)])
    return reshape(flat, (size, size))


def diagonal_of(x: Any, k: int) -> Any:
    """f32[n,m] --> f32[min(n, m)], for k = 0"""
    rows, columns = x.aval.shape
    first_row, first_column = max(-k, 0), max(k, 0)
    count = min(rows - first_row, columns - first_column)
    if count <= 0:
        return lax_slice(reshape(x, (x.aval.size,)), (0,), (0,))
    part = lax_slice(x, (first_row, first_column), (first_row + count, columns))
    width = columns - first_column
    flat = reshape(part, (count * width,))
    return lax_slice(flat, (0,), ((count - 1) * (width + 1) + 1,), (width + 1,))


@eager.function(static=("N", "increasing"))
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix of powers of the vector `x`, highest first unless `increasing`: N columns.

    Bools and integers narrower than the default integer become it, as powers are large.  Raises
    ValueError for other than 1 axis or a negative N.

    >>> jnp.vander(jnp.array([1, 2, 3]))
    Array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    x = array_like("vander", x)
    if x.aval.ndim != 1:
        raise ValueError(f"vander: x must be a one-dimensional array or sequence; got {x.aval}")
    whole = dtypes.default_int(current.get().config.enable_x64)
    if dtypes.in_domain(x.aval.dtype, "bits") and x.aval.bits < dtypes.bits(whole):
        x = convert_element_type_p(x, new_dtype=whole, weak_type=False)
    size = x.aval.size
    count = size if N is None else count_argument("vander", "N", N)
    if count < 0:
        raise ValueError(f"vander: N must be nonnegative; got {count}")
    one = constant(1, x.aval.dtype, x.aval.weak_type)
    if count == 0:
        return (
            reshape(lax_slice(x, (0,), (0,)), (size, 0))
            if size == 0
            else spread_scalar(one, (size, 0))
        )
    powers = [spread_scalar(one, (size,))]
    while len(powers) < count:  # one product after the other: NumPy's values
        powers.append(mul(powers[-1], x) if len(powers) > 1 else x)
    columns = [broadcast_in_dim(p, (size, 1), (0,)) for p in powers]
    return concatenate(columns if increasing else columns[::-1], 1)
