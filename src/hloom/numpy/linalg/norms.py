"""The part of `numpy.linalg` that needs no decomposition: norms, powers, chains of products.

What needs one says so: the spectral and nuclear norms, and powers with negative exponents.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from operator import index
from typing import Any

import numpy as np

from hloom import errors
from hloom.core.array import Array
from hloom.core.support.known import is_known
from hloom.core.support.strict import refuse_sharding
from hloom.errors import ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import (
    axes_argument,
    axis_argument,
)
from hloom.numpy.common.operands import array_like, promote_dtypes, promote_inexact
from hloom.numpy.indexing.index_arrays import diagonal as plain_diagonal
from hloom.numpy.products import products
from hloom.numpy.reductions.reductions import trace as plain_trace
from hloom.ops.common.linear import constant, reduce_sum, spread_scalar
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.pointwise.binary import pow
from hloom.ops.pointwise.compare import eq, ne, select
from hloom.ops.pointwise.complex import imag, real
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.pointwise.unary import abs, sqrt
from hloom.ops.reductions.reduce import reduce_max, reduce_min
from hloom.ops.shapes.shape import broadcasted_iota, reshape

LinAlgError = np.linalg.LinAlgError
Axes = tuple[int, ...]


# ---- norms --------------------------------------------------------------------------------------
def _squares(x: Any) -> Any:
    if x.aval.kind == "complex":
        re, im = real(x), imag(x)
        return add(mul(re, re), mul(im, im))
    return mul(x, x)


def _where_nonzero(root: Callable[[Any], Any], total: Any) -> Any:
    """The root of a total, and 0 where that is 0: there its derivative is 0, as that of hypot."""
    zero = eq(total, 0)
    return select(zero, 0, root(select(zero, 1, total)))


def _vector_norm(x: Any, order: Any, axes: Axes) -> Any:
    """The norm over these axes taken together, which the result lacks."""
    if order is None or order == 2:
        return _where_nonzero(sqrt, reduce_sum(_squares(x), axes))
    if isinstance(order, str):
        raise ValueError(f"norm: Invalid norm order {order!r} for vectors")
    size = abs(x)
    if order == inf:
        return _extreme(size, axes, largest=True)
    if order == -inf:
        return _extreme(size, axes, largest=False)
    dtype = size.aval.dtype
    zero = constant(0, dtype)
    if order == 0:
        there = ne(size, spread_scalar(zero, size.aval.shape))
        return reduce_sum(convert_element_type(there, dtype), axes)
    if order == 1:
        return reduce_sum(size, axes)
    total = reduce_sum(pow(size, constant(float(order), dtype)), axes)
    exponent = constant(1.0 / float(order), dtype)
    root = lambda total: pow(total, exponent)  # noqa: E731
    return _where_nonzero(root, total) if order > 0 else root(total)


def _extreme(size: Any, axes: Axes, largest: bool) -> Any:
    """The largest or smallest size; of none the largest is 0, the smallest an error."""
    if prod(size.aval.shape[i] for i in axes):
        return (reduce_max if largest else reduce_min)(size, axes)
    if not largest:
        raise ValueError(
            f"norm of order -inf or -1 of {size.aval}: zero-size array to reduction operation "
            "minimum which has no identity"
        )
    return reduce_sum(size, axes)


def _matrix_norm(x: Any, order: Any, axes: Axes) -> Any:
    """The norm of the matrices that these two axes span, which the result lacks."""
    rows, columns = axes
    if order in (None, "fro", "f"):
        return _where_nonzero(sqrt, reduce_sum(_squares(x), tuple(sorted(axes))))
    if order in (1, -1, inf, -inf):
        summed, other = (rows, columns) if order in (1, -1) else (columns, rows)
        sums = reduce_sum(abs(x), (summed,))
        return _extreme(sums, (other - (other > summed),), largest=order > 0)
    if order in (2, -2, "nuc"):
        raise NotImplementedError(
            f"norm: ord={order!r} of a matrix needs its singular values, which hloom does not "
            "compute yet; ord='fro', 1 and inf do without"
        )
    raise ValueError(
        f"norm: Invalid norm order {order!r} for matrices; it is None, 'fro', 'nuc', 1, -1, 2, -2, "
        "inf or -inf"
    )


def _kept(found: Any, shape: Axes, axes: Axes, keepdims: bool) -> Any:
    return (
        reshape(found, [1 if i in axes else n for i, n in enumerate(shape)]) if keepdims else found
    )


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """The norm of a vector or matrix, or of those along one or two axes.

    Without `ord` it is the square root of the sum of squares, over all axes unless `axis` is
    given.  Of vectors: inf and -inf (largest and smallest size), 0 (how many are not zero) and any
    other p.  Of matrices: "fro", 1 and -1 (largest and smallest sum of a column), inf and -inf (of
    a row).

    Raises ValueError for another order or number of axes, AxisError for an axis that is not there,
    NotImplementedError for the orders 2, -2 and "nuc" of matrices.

    >>> jnp.linalg.norm(jnp.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    x = array_like("norm", x)
    axes = None if axis is None else _norm_axes(axis, x.aval)
    if ord.__class__ not in (int, float, str):
        ord = _order(ord)
    return _norm(x, (ord, axes, bool(keepdims)))


def _order(order: Any) -> Any:
    """An order that is no Python number: NumPy's, or an array's."""
    if order is None or isinstance(order, str):
        return order
    if not is_known(order):
        raise errors.ConcretizationTypeError.parameter("norm", "ord", order.traced())
    try:
        return float(order)
    except (TypeError, ValueError):
        raise ValueError(
            f"norm: Invalid norm order {order!r:.60}; it is a number or a name"
        ) from None


@eager.planned
def _norm(x: Any, plan: tuple[Any, Axes | None, bool]) -> Any:
    ord, axes, keepdims = plan
    (x,) = promote_inexact("norm", x)
    shape, ndim = x.aval.shape, x.aval.ndim
    whole = axes is None and ord is None
    axes = tuple(range(ndim)) if axes is None else axes
    if len(axes) == 1 or whole:
        found = _vector_norm(x, ord, axes)
    elif len(axes) == 2:
        found = _matrix_norm(x, ord, axes)
    else:
        raise ShapeError(
            f"norm: Improper number of dimensions to norm: {len(axes)} axes of {x.aval}. Norms are "
            "of vectors or matrices: give one axis or two, or flatten the array."
        )
    return _kept(found, shape, axes, keepdims)


def _norm_axes(axis: Any, x: Any) -> Axes:
    if isinstance(axis, (str, float)):
        raise TypeError(
            f"norm: 'axis' must be None, an integer or a tuple of integers; got {axis!r}"
        )
    try:
        return axes_argument("norm", axis, x)
    except np.exceptions.AxisError:
        raise
    except ValueError as error:
        raise ValueError(f"norm: Duplicate axes given. {error}") from None


@eager.function(static=("axis", "keepdims", "ord"))
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of the vectors along an axis, or along several axes (or all) taken as one.

    Raises ValueError for an order that is no number, AxisError for an axis that is not there.

    >>> jnp.linalg.vector_norm(jnp.array([[3.0, 4.0], [6.0, 8.0]]), axis=1)
    Array([ 5., 10.], dtype=float32)
    """
    (x,) = promote_inexact("vector_norm", x)
    axes = range(x.aval.ndim) if axis is None else axes_argument("vector_norm", axis, x.aval)
    if not axes and x.aval.ndim:
        return abs(x)
    found = _vector_norm(x, ord, tuple(sorted(axes)))
    return _kept(found, x.aval.shape, tuple(axes), keepdims)


@eager.function(static=("keepdims", "ord"))
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of the matrices in the last two axes.

    Raises as `norm`.

    >>> jnp.linalg.matrix_norm(jnp.array([[3.0, 0.0], [0.0, 4.0]]))
    Array(5., dtype=float32)
    """
    (x,) = promote_inexact("matrix_norm", x)
    axes = tuple([axis_argument("matrix_norm", axis, x.aval) for axis in (-2, -1)])
    return _kept(_matrix_norm(x, ord, axes), x.aval.shape, axes, keepdims)


# ---- powers and chains --------------------------------------------------------------------------
def _square(name: str, a: Any) -> Array:
    x = array_like(name, a)
    if x.aval.ndim < 2:
        raise LinAlgError(
            f"{name}: {x.aval.ndim}-dimensional array given. Array must be at least "
            f"two-dimensional: {x.aval}"
        )
    if x.aval.shape[-1] != x.aval.shape[-2]:
        raise LinAlgError(f"{name}: Last 2 dimensions of the array must be square: {x.aval}")
    return x


def matrix_power(a: Any, n: int) -> Array:
    """The matrix (the last two axes) multiplied by itself, `n` factors; the identity for 0.

    Raises LinAlgError, a ValueError, for matrices that are not square, TypeError for an `n` that
    is no integer, NotImplementedError for a negative one.

    >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [0, 1]]), 5)
    Array([[1, 5],
           [0, 1]], dtype=int32)
    """
    x = _square("matrix_power", a)
    try:
        power = index(n)
    except TypeError:
        raise TypeError(f"matrix_power: exponent must be an integer; got {n!r:.60}") from None
    if power < 0:
        raise NotImplementedError(
            "matrix_power: a negative exponent needs the inverse, which hloom does not compute yet"
        )
    return _matrix_power(x, power)


@eager.planned
def _matrix_power(x: Any, power: int) -> Any:
    if power == 0:
        shape = x.aval.shape
        row, column = (broadcasted_iota(np.int32, shape, len(shape) - i) for i in (2, 1))
        return convert_element_type(eq(row, column), x.aval.dtype)
    found = None
    while power:  # by squares
        if power & 1:
            found = x if found is None else products.matmul(found, x)
        power >>= 1
        x = products.matmul(x, x) if power else x
    return found


@eager.function(static=("precision",), sequences=("arrays",))
def multi_dot(arrays: Any, *, precision: Any = None) -> Any:
    """The product of a chain of matrices, in the order that takes the fewest multiplications.

    The first and the last may be vectors.

    Raises ValueError for less than two arrays or sizes that don't go together.

    >>> jnp.linalg.multi_dot([jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones(4)])
    Array([12., 12.], dtype=float32)
    """
    if len(arrays) < 2:
        raise ValueError("multi_dot: Expecting at least two arrays.")
    chain = promote_dtypes("multi_dot", *arrays)
    last = len(chain) - 1
    for i, x in enumerate(chain):
        if x.aval.ndim != 2 and not (x.aval.ndim == 1 and i in (0, last)):
            raise LinAlgError(
                f"multi_dot: {x.aval.ndim}-dimensional array given. Array must be two-dimensional: "
                f"{x.aval}; the first and last may be vectors"
            )
    sizes = [1 if chain[0].aval.ndim == 1 else chain[0].aval.shape[0]]
    sizes += [x.aval.shape[0 if i else -1] for i, x in enumerate(chain)][1:]
    sizes += [1 if chain[last].aval.ndim == 1 else chain[last].aval.shape[-1]]
    splits = _best_splits(sizes)

    def product(first: int, end: int) -> Any:
        if first == end:
            return chain[first]
        cut = splits[first, end]
        how = {"precision": precision}
        return products.dot(product(first, cut), product(cut + 1, end), **how)

    return product(0, last)


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Behind which matrix to cut the chain from i to j; matrix i is sizes[i] by sizes[i + 1]."""
    count = len(sizes) - 1
    costs = {(i, i): 0 for i in range(count)}
    splits = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            choices = [
                (costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            costs[i, j], splits[i, j] = min(choices)
    return splits


# ---- by the names of the standard ---------------------------------------------------------------
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum along a diagonal of the matrices in the last two axes.

    Raises ValueError for fewer than two axes.

    >>> jnp.linalg.trace(jnp.ones((2, 3, 3)))
    Array([3., 3.], dtype=float32)
    """
    return plain_trace(x, offset, -2, -1, dtype)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """A diagonal of the matrices in the last two axes, along a new last axis.

    Raises ValueError for fewer than two axes.

    >>> jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return plain_diagonal(x, offset, -2, -1)


def outer(x1: Any, x2: Any, /) -> Array:
    """The products of each element of one vector with each of the other.

    Raises ValueError for other than vectors.

    >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    x, y = array_like("outer", x1), array_like("outer", x2, 1)
    if x.aval.ndim != 1 or y.aval.ndim != 1:
        raise ShapeError(
            f"outer: Input arrays must be one-dimensional; they are {x.aval} and {y.aval}"
        )
    return products.outer(x, y)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """The cross products of vectors with 3 elements along an axis.

    Raises ValueError for another length.

    >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    x, y = array_like("cross", x1), array_like("cross", x2, 1)
    for z in (x, y):
        if z.aval.shape[axis_argument("cross", axis, z.aval)] != 3:
            raise ShapeError(
                "cross: Both input arrays must be (arrays of) 3-dimensional vectors; they are "
                f"{x.aval} and {y.aval}"
            )
    return products.cross(x, y, axis=axis)


def vecdot(
    x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """The products of vectors along `axis`, the first conjugated; see `hloom.numpy.vecdot`.

    >>> jnp.linalg.vecdot(jnp.array([1, 2]), jnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    return products.vecdot(
        x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type
    )


def tensordot(
    x1: Any, x2: Any, /, *, axes: Any = 2, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: None = None,
) -> Array:  # fmt: skip
    """The products of two arrays summed over pairs of axes; see `hloom.numpy.tensordot`.

    >>> jnp.linalg.tensordot(jnp.ones((2, 3)), jnp.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    if out_sharding is not None:
        refuse_sharding("tensordot", out_sharding)
    return products.tensordot(
        x1, x2, axes, precision=precision, preferred_element_type=preferred_element_type
    )
