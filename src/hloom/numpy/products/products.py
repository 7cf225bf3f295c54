"""Products of vectors and matrices: dot, matmul, vdot, tensordot, cross."""

from __future__ import annotations

from typing import Any

from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.support.strict import refuse_sharding
from hloom.errors import ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axes_argument, axis_argument, count_argument, refuse_out
from hloom.numpy.common.operands import broadcast_to, promote_dtypes
from hloom.numpy.products.contraction import contract, operands_of, product
from hloom.numpy.shapes.manipulation import common_shape
from hloom.ops.common.linear import move
from hloom.ops.pointwise.arithmetic import neg, sub
from hloom.ops.pointwise.complex import conj
from hloom.ops.shapes.shape import reshape
from hloom.ops.shapes.slicing import index_in_dim, stack

# Labels of axes: rows of the left operand, the axis that is summed, columns of the right one.
# Broadcast axes are numbers, counted from the last.
N, K, M = "n", "k", "m"


def _conjugate(x: Any) -> Any:
    return conj(x) if x.aval.kind == "complex" else x


def _mismatch(name: str, x: ShapedArray, y: ShapedArray, axes: tuple[int, int]) -> ValueError:
    """The error for axes that meet with different sizes."""
    i, j = axes
    n, m = x.shape[i], y.shape[j]
    ways = []
    if x.ndim == y.ndim == 2:
        if x.shape[1] == y.shape[1]:
            ways.append("x @ y.T")
        if x.shape[0] == y.shape[0]:
            ways.append("x.T @ y")
        if x.shape[0] == y.shape[1]:
            ways.append("y @ x")
    way = f" Shapes that fit: {' or '.join(ways)}." if ways else ""
    return ShapeError(
        f"{name}: shapes {x} and {y} are not aligned: axis {i % x.ndim} of the first has size {n}, "
        f"axis {j % y.ndim} of the second has size {m}, and their products are summed, so that "
        f"{n} must be {m}.{way}"
    )


# ---- matrix products ----------------------------------------------------------------------------
def _gufunc(name: str, x: Any, y: Any, left: Any, right: Any, **how: Any) -> Any:
    """The product of the last axes, `left` of x and `right` of y; those before are broadcast."""
    for i, (z, core) in enumerate(((x, left), (y, right))):
        if z.aval.ndim < len(core):
            raise ShapeError(
                f"{name} of {x.aval} and {y.aval}: input operand {i} does not have enough "
                f"dimensions (has {z.aval.ndim}, requires {len(core)})"
            )
    i, j = left.index(K) - len(left), right.index(K) - len(right)
    if x.aval.shape[i] != y.aval.shape[j]:
        raise _mismatch(name, x.aval, y.aval, (i, j))
    batches = [z.aval.shape[: z.aval.ndim - len(c)] for z, c in ((x, left), (y, right))]
    shape = common_shape(f"{name} of {x.aval} and {y.aval}: the leading axes", batches)
    before, behind = ([*range(len(b))[::-1]] for b in batches)
    kept = [*range(len(shape))[::-1], *[c for c in (*left, *right) if c != K]]
    return contract(x, [*before, *left], y, [*behind, *right], kept, **how)


def _matmul_of(x: Any, y: Any, **how: Any) -> Any:
    if not x.aval.ndim or not y.aval.ndim:
        raise ShapeError(
            f"matmul of {x.aval} and {y.aval}: an operand does not have enough dimensions (has 0, "
            "requires 1). To multiply by a number use x * y."
        )
    left = (N, K) if x.aval.ndim > 1 else (K,)
    right = (K, M) if y.aval.ndim > 1 else (K,)
    return _gufunc("matmul", x, y, left, right, **how)


def _matmul(a: Any, b: Any) -> Any:
    return _matmul_of(*operands_of("matmul", a, b))


_matmul.__name__ = "matmul"
matmul_operator = eager.binary(_matmul)  # what `x @ y` runs


@eager.function(static=("precision", "preferred_element_type"))
def _matmul_with(a: Any, b: Any, precision: Any, preferred_element_type: Any) -> Any:
    arrays = operands_of("matmul", a, b, preferred=preferred_element_type)
    return _matmul_of(*arrays, precision=precision, preferred=preferred_element_type)


def matmul(
    a: Any,
    b: Any,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: None = None,
) -> Array:
    """The matrix product of the last two axes; those before are broadcast.  The same as `a @ b`.

    A vector is a row on the left, a column on the right, and leaves no axis.  Products of f16 and
    bf16 are summed in f32; truth values are summed by `or`; integers wrap.
    `preferred_element_type` is the dtype to sum and answer in.

    Raises ValueError when the sizes don't go together, or an operand is 0-d.

    >>> jnp.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("matmul", out_sharding)
    if precision is None and preferred_element_type is None:
        return matmul_operator(a, b)
    return _matmul_with(a, b, precision, preferred_element_type)


def _dot_of(x: Any, y: Any, **how: Any) -> Any:
    if not x.aval.ndim or not y.aval.ndim:
        left, right = _names(x, "a"), _names(y, "b")
        return contract(x, left, y, right, [*left, *right], **how)
    j = max(y.aval.ndim - 2, 0)
    if x.aval.shape[-1] != y.aval.shape[j]:
        raise _mismatch("dot", x.aval, y.aval, (-1, j))
    left, right = _names(x, "a"), _names(y, "b")
    left[-1] = right[j] = K
    return contract(x, left, y, right, [c for c in (*left, *right) if c != K], **how)


def _names(x: Any, letter: str) -> list[Any]:
    return [(letter, i) for i in range(x.aval.ndim)]


def _dot(a: Any, b: Any) -> Any:
    return _dot_of(*operands_of("dot", a, b))


_dot.__name__ = "dot"
_dot_operator = eager.binary(_dot)


@eager.function(static=("precision", "preferred_element_type"))
def _dot_with(a: Any, b: Any, precision: Any, preferred_element_type: Any) -> Any:
    arrays = operands_of("dot", a, b, preferred=preferred_element_type)
    return _dot_of(*arrays, precision=precision, preferred=preferred_element_type)


def dot(
    a: Any,
    b: Any,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out: Any = None,
    out_sharding: None = None,
) -> Array:
    """The last axis of `a` against the last but one of `b` (its only one for a vector), summed.

    For vectors the inner product, for matrices the matrix product, for 0-d arrays the product.
    `preferred_element_type` is the dtype to sum and answer in.

    Raises ValueError when the two sizes differ.

    >>> jnp.dot(jnp.array([1, 2]), jnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("dot", out_sharding)
    refuse_out("dot", out)
    if precision is None and preferred_element_type is None:
        return _dot_operator(a, b)
    return _dot_with(a, b, precision, preferred_element_type)


@eager.function(static=("precision", "preferred_element_type"))
def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The sum of the products of all elements; those of `a` are conjugated first.

    Raises ValueError when the numbers of elements differ.

    >>> jnp.vdot(jnp.array([1j, 2]), jnp.array([1j, 3]))
    Array(7.+0.j, dtype=complex64)
    """
    x, y = operands_of("vdot", a, b, preferred=preferred_element_type)
    if x.aval.size != y.aval.size:
        raise ShapeError(
            f"vdot: {x.aval} and {y.aval} must have the same number of elements; they have "
            f"{x.aval.size} and {y.aval.size}"
        )
    flat = [reshape(z, (z.aval.size,)) for z in (_conjugate(x), y)]
    how = {"precision": precision, "preferred": preferred_element_type}
    return contract(flat[0], [K], flat[1], [K], [], **how)


@eager.function(static=("precision", "preferred_element_type"))
def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The last axes of both, multiplied and summed; nothing is conjugated.

    Raises ValueError when the two sizes differ.

    >>> jnp.inner(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x, y = operands_of("inner", a, b, preferred=preferred_element_type)
    how = {"precision": precision, "preferred": preferred_element_type}
    left, right = _names(x, "a"), _names(y, "b")
    if left and right:
        if x.aval.shape[-1] != y.aval.shape[-1]:
            raise _mismatch("inner", x.aval, y.aval, (-1, -1))
        left[-1] = right[-1] = K
    return contract(x, left, y, right, [c for c in (*left, *right) if c != K], **how)


@eager.function(static=("out",))
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """The products of each element of `a` with each of `b`; both are flattened.

    >>> jnp.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    refuse_out("outer", out)
    x, y = [reshape(z, (z.aval.size,)) for z in promote_dtypes("outer", a, b)]
    return contract(x, [N], y, [M], [N, M])


@eager.function(static=("axis", "precision", "preferred_element_type"))
def vecdot(
    x1: Any,
    x2: Any,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The products of vectors along `axis`, the first conjugated; the other axes are broadcast.

    Raises ValueError when the vectors differ in length or other axes can't be broadcast.

    >>> jnp.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x, y = operands_of("vecdot", x1, x2, preferred=preferred_element_type)
    x, y = (
        move(z, axis_argument("vecdot", axis, z.aval), z.aval.ndim - 1) if z.aval.ndim else z
        for z in (_conjugate(x), y)
    )
    how = {"precision": precision, "preferred": preferred_element_type}
    return _gufunc("vecdot", x, y, (K,), (K,), **how)


@eager.binary
def matvec(x1: Any, x2: Any) -> Any:
    """The products of matrices (the last two axes of `x1`) and vectors (the last of `x2`).

    Raises ValueError when the sizes don't go together.

    >>> jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 0], [0, 1]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return _gufunc("matvec", *operands_of("matvec", x1, x2), (N, K), (K,))


@eager.binary
def vecmat(x1: Any, x2: Any) -> Any:
    """The products of conjugated vectors (last axis of `x1`) and matrices (last two of `x2`).

    Raises ValueError when the sizes don't go together.

    >>> jnp.vecmat(jnp.array([1, 1]), jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    x, y = operands_of("vecmat", x1, x2)
    return _gufunc("vecmat", _conjugate(x), y, (K,), (K, M))


# ---- products of more axes ----------------------------------------------------------------------
def _tensordot_axes(x: ShapedArray, y: ShapedArray, axes: Any) -> tuple[Any, Any]:
    """The axes of both that are summed in pairs."""
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ValueError(f"tensordot: axes is a number or a pair of axes; got {axes!r:.60}")
        first, second = (axes_argument("tensordot", a, z) for a, z in zip(axes, (x, y)))
    else:
        count = count_argument("tensordot", "axes", axes)
        if count > min(x.ndim, y.ndim):
            raise ShapeError(f"tensordot: axes={count} is more than {x} and {y} have")
        first = tuple(range(x.ndim - max(count, 0), x.ndim))
        second = tuple(range(max(count, 0)))
    if len(first) != len(second):
        raise ShapeError(
            f"tensordot: shape-mismatch for sum: {len(first)} axes of {x}, {len(second)} of {y}"
        )
    for i, j in zip(first, second):
        if x.shape[i] != y.shape[j]:
            raise _mismatch("tensordot, shape-mismatch for sum", x, y, (i, j))
    return first, second


@eager.function(static=("axes", "precision", "preferred_element_type", "out_sharding"))
def tensordot(
    a: Any,
    b: Any,
    axes: Any = 2,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: None = None,
) -> Any:
    """The products of two arrays, summed over pairs of axes; the other axes of `a`, then of `b`.

    `axes` is how many of the last axes of `a` and the first of `b`, or a pair (axes of a, of b).

    Raises ValueError when paired sizes differ, AxisError for an axis that is not there.

    >>> jnp.tensordot(jnp.ones((2, 3, 4)), jnp.ones((4, 3)), axes=([2, 1], [0, 1]))
    Array([12., 12.], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("tensordot", out_sharding)
    x, y = operands_of("tensordot", a, b, preferred=preferred_element_type)
    first, second = _tensordot_axes(x.aval, y.aval, axes)
    left, right = _names(x, "a"), _names(y, "b")
    for i, j in zip(first, second):
        left[i] = right[j] = (K, i)
    out = [c for c in (*left, *right) if c[0] != K]
    return contract(x, left, y, right, out, precision=precision, preferred=preferred_element_type)


@eager.binary
def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: every element of `a` times the whole of `b`, block by block.

    >>> jnp.kron(jnp.array([[1, 2]]), jnp.array([[1], [1]]))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    x, y = promote_dtypes("kron", a, b)
    ndim = max(x.aval.ndim, y.aval.ndim)
    sizes = [(1,) * (ndim - z.aval.ndim) + z.aval.shape for z in (x, y)]
    x, y = (reshape(z, n) for z, n in zip((x, y), sizes))
    left, right = _names(x, "a"), _names(y, "b")
    found = contract(x, left, y, right, [c for pair in zip(left, right) for c in pair])
    return reshape(found, [n * m for n, m in zip(*sizes)])


@eager.function(static=("axisa", "axisb", "axisc", "axis"))
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The cross products of vectors with 3 (or 2) elements along an axis; the others are broadcast.

    A vector with 2 elements has 0 for its third; of two such only the third element of the result
    is given.  `axis` stands for `axisa`, `axisb` and `axisc` together.

    Raises ValueError for other lengths, AxisError for an axis that is not there.

    >>> jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = promote_dtypes("cross", a, b)
    if not x.aval.ndim or not y.aval.ndim:
        raise ShapeError(f"cross of {x.aval} and {y.aval}: at least one array has zero dimension")
    parts = []
    for z, at in ((x, axisa), (y, axisb)):
        i = axis_argument("cross", at, z.aval)
        if z.aval.shape[i] not in (2, 3):
            raise ShapeError(
                f"cross of {x.aval} and {y.aval}: incompatible dimensions for cross product "
                f"(dimension must be 2 or 3); axis {i} of {z.aval} has size {z.aval.shape[i]}"
            )
        parts.append([index_in_dim(z, k, i, keepdims=False) for k in range(z.aval.shape[i])])
    shape = common_shape("cross", [p[0].aval.shape for p in parts])
    p, q = ([broadcast_to(each, shape) for each in part] for part in parts)
    if len(p) == len(q) == 2:
        return sub(product(p[0], q[1]), product(p[1], q[0]))
    made = [_minor(p, q, 1, 2), _minor(p, q, 2, 0), _minor(p, q, 0, 1)]
    place = axis_argument("cross", axisc, len(shape) + 1, "axisc")
    return stack(made, place)


def _minor(p: list[Any], q: list[Any], i: int, j: int) -> Any:
    """p[i] q[j] - p[j] q[i], where a third element that is not there is 0."""
    first = product(p[i], q[j]) if i < len(p) and j < len(q) else None
    second = product(p[j], q[i]) if j < len(p) and i < len(q) else None
    if first is None:
        return neg(second)
    return first if second is None else sub(first, second)
