"""Shapes: the same elements under another shape, or repeated to one by broadcasting."""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.support.strict import refuse_sharding
from hloom.errors import ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axes_argument, check_order, shape_argument, sizes_argument
from hloom.numpy.common.operands import array_like
from hloom.numpy.common.operands import broadcast_to as broadcast
from hloom.ops.common.linear import constant, spread_scalar, transpose
from hloom.ops.shapes.shape import reshape as lax_reshape
from hloom.ops.shapes.slicing import slice as lax_slice
from hloom.ops.shapes.slicing import tile

Sizes = tuple[int, ...]


# ---- reshape ------------------------------------------------------------------------------------
@eager.planned
def _reshape(x: Any, sizes: Sizes) -> Any:
    return lax_reshape(x, _whole_shape(x.aval, sizes))


@eager.planned
def _reshape_columns_first(x: Any, sizes: Sizes) -> Any:
    backwards = _whole_shape(x.aval, sizes)[::-1]
    return _reversed_axes(lax_reshape(_reversed_axes(x), backwards))


def _reversed_axes(x: Any) -> Any:
    return transpose(x, range(x.aval.ndim)[::-1])


def _whole_shape(x: ShapedArray, sizes: Sizes) -> Sizes:
    """The shape with the size -1 worked out; raises ValueError where it does not fit."""
    unknown = [i for i, n in enumerate(sizes) if n < 0]
    known = prod(n for n in sizes if n >= 0)
    if len(unknown) > 1:
        raise ValueError(f"reshape: can only specify one unknown dimension; got shape {sizes}")
    if known * bool(unknown) and x.size % known == 0:
        place = unknown[0]
        return (*sizes[:place], x.size // known, *sizes[place + 1 :])
    if unknown or known != x.size:
        fits = " A size of -1 is worked out: x.reshape(-1)." if not unknown else ""
        raise ShapeError(
            f"reshape: cannot reshape array of size {x.size} into shape {sizes}: {x} keeps its "
            f"number of elements.{fits}"
        )
    return sizes


def reshape(
    a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None, out_sharding: None = None
) -> Array:
    """The same elements, in the same order, as an array of another shape.

    One size may be -1: it is worked out from the others.  With `order="F"` elements are read and
    placed with the first axis changing fastest.

    Raises ValueError when the number of elements would change, TypeError for sizes that are no
    integers; sizes can't be traced.  Differs from NumPy: never a view, so `copy=False` raises
    ValueError.

    >>> jnp.reshape(jnp.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("reshape", out_sharding)
    if order == "C" and copy is None and a.__class__ is Array:
        try:
            sizes = tuple(map(index, shape)) if shape.__class__ is tuple else (index(shape),)
        except TypeError:
            sizes = sizes_argument("reshape", shape)
        return _reshape(a, sizes)
    if order not in ("C", "F", "A"):
        check_order("reshape", order)
        raise ValueError(f"reshape: order {order!r} is not permitted for reshaping; use 'C' or 'F'")
    if copy is False:
        raise ValueError("reshape: arrays share no memory, so copy=False can't be had")
    program = _reshape_columns_first if order == "F" else _reshape
    return program(array_like("reshape", a), sizes_argument("reshape", shape))


def method_reshape(self: Array, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
    """The same elements as an array of another shape; see `hloom.numpy.reshape`.

    The shape is one tuple, or a size for each argument.

    >>> jnp.arange(4).reshape(2, 2)
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    return reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def ravel(a: Any, order: str = "C", *, out_sharding: None = None) -> Array:
    """The elements as a 1-d array, row by row (column by column with `order="F"`).

    Raises ValueError for an unknown order.

    >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]), order="F")
    Array([1, 3, 2, 4], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("ravel", out_sharding)
    if order == "C" and a.__class__ is Array:
        return _reshape(a, (-1,)) if a.size else _reshape(a, (0,))
    check_order("ravel", order)
    x = array_like("ravel", a)
    return (_reshape_columns_first if order == "F" else _reshape)(x, (x.aval.size,))


# ---- axes of size 1 -----------------------------------------------------------------------------
def expand_dims(a: Any, axis: Any) -> Array:
    """The array with new axes of size 1 at the places `axis` of the result.

    Raises AxisError for a place out of range, ValueError for one given twice.

    >>> jnp.expand_dims(jnp.ones(3), (0, -1)).shape
    (1, 3, 1)
    """
    x = array_like("expand_dims", a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = axes_argument("expand_dims", axis, x.aval.ndim + count)
    sizes = iter(x.aval.shape)
    whole = range(x.aval.ndim + count)
    return _reshape(x, tuple([1 if i in new else next(sizes) for i in whole]))


def squeeze(a: Any, axis: Any = None) -> Array:
    """The array without its axes of size 1, or without those in `axis`.

    Raises ValueError for an axis of another size, AxisError for one that is not there.

    >>> jnp.squeeze(jnp.ones((1, 3, 1))).shape
    (3,)
    """
    x = array_like("squeeze", a)
    shape = x.aval.shape
    if axis is None:
        return _reshape(x, tuple([n for n in shape if n != 1]))
    gone = axes_argument("squeeze", axis, x.aval)
    for i in gone:
        if shape[i] != 1:
            raise ShapeError(
                "squeeze: cannot select an axis to squeeze out which has size not equal to one; "
                f"axis {i} of {x.aval} has size {shape[i]}"
            )
    return _reshape(x, tuple([n for i, n in enumerate(shape) if i not in gone]))


def _at_least(name: str, arys: tuple[Any, ...], shape_of: Any) -> Any:
    arrays = [array_like(name, x, i) for i, x in enumerate(arys)]
    made = [_reshape(x, shape_of(x.aval.shape)) for x in arrays]
    return made[0] if len(made) == 1 else tuple(made)


def shape_1d(shape: Sizes) -> Sizes:
    return shape or (1,)


def shape_2d(shape: Sizes) -> Sizes:
    return (1,) * (2 - len(shape)) + shape


def shape_3d(shape: Sizes) -> Sizes:
    if len(shape) >= 3:
        return shape
    return (1, *(shape or (1,)), 1) if len(shape) < 2 else (*shape, 1)


def atleast_1d(*arys: Any) -> Any:
    """The array, or each of a tuple of arrays, with at least one axis.

    >>> jnp.atleast_1d(1.0)
    Array([1.], dtype=float32, weak_type=True)
    """
    return _at_least("atleast_1d", arys, shape_1d)


def atleast_2d(*arys: Any) -> Any:
    """The array, or each of a tuple of arrays, with at least two axes: new ones lead.

    >>> jnp.atleast_2d(jnp.arange(3)).shape
    (1, 3)
    """
    return _at_least("atleast_2d", arys, shape_2d)


def atleast_3d(*arys: Any) -> Any:
    """The array, or each of a tuple of arrays, with at least three axes: (n,) becomes (1, n, 1).

    >>> jnp.atleast_3d(jnp.arange(3)).shape
    (1, 3, 1)
    """
    return _at_least("atleast_3d", arys, shape_3d)


# ---- broadcasting -------------------------------------------------------------------------------
@eager.planned
def _broadcast_to(x: Any, shape: Sizes) -> Any:
    return broadcast(x, shape)


def broadcast_shapes(*args: Any) -> Sizes:
    """The shape that arrays of these shapes have together: sizes are equal, or 1.

    Raises ValueError when there is none.

    >>> jnp.broadcast_shapes((2, 1), (3,), 1)
    (2, 3)
    """
    shapes = [shape_argument("broadcast_shapes", shape) for shape in args]
    return common_shape("broadcast_shapes", shapes)


def common_shape(name: str, shapes: list[Sizes]) -> Sizes:
    """The shape that all broadcast to; raises ValueError with NumPy's words."""
    ndim = max(map(len, shapes), default=0)
    whole = [1] * ndim
    culprit = [0] * ndim
    for number, shape in enumerate(shapes):
        for i, n in enumerate(shape, ndim - len(shape)):
            if n == 1 or n == whole[i]:
                continue
            if whole[i] != 1:
                raise ShapeError(
                    f"{name}: shape mismatch: objects cannot be broadcast to a single shape.  "
                    f"Mismatch is between arg {culprit[i]} with shape {shapes[culprit[i]]} and "
                    f"arg {number} with shape {shape}.  Sizes are matched from the last axis, and "
                    "must be equal or 1."
                )
            whole[i], culprit[i] = n, number
    return tuple(whole)


def broadcast_to(array: Any, shape: Any, *, out_sharding: None = None) -> Array:
    """The array repeated to `shape`, along new leading axes and axes of size 1.

    Raises ValueError when that can't be.  Differs from NumPy: a copy, not a read-only view.

    >>> jnp.broadcast_to(jnp.arange(3), (2, 3))
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("broadcast_to", out_sharding)
    x = array_like("broadcast_to", array)
    sizes = shape_argument("broadcast_to", shape)
    old = x.aval.shape
    extra = len(sizes) - len(old)
    if extra < 0:
        raise ShapeError(f"broadcast_to: {x.aval} has more dimensions than the shape {sizes}")
    if any(n not in (1, m) for n, m in zip(old, sizes[extra:])):
        raise ShapeError(
            f"broadcast_to: operands could not be broadcast together: {x.aval} and requested shape "
            f"{sizes}. Axes are matched from the last one; insert others with x[:, None]."
        )
    return _broadcast_to(x, sizes)


def broadcast_arrays(*args: Any) -> tuple[Array, ...]:
    """The arrays, each repeated to the shape they have together.

    Raises ValueError when there is none.  Differs from NumPy: copies, not views.

    >>> jnp.broadcast_arrays(jnp.array([[1], [2]]), 0)[1]
    Array([[0],
           [0]], dtype=int32, weak_type=True)
    """
    arrays = [array_like("broadcast_arrays", x, i) for i, x in enumerate(args)]
    shape = common_shape("broadcast_arrays", [x.aval.shape for x in arrays])
    return tuple([_broadcast_to(x, shape) for x in arrays])


# ---- resize -------------------------------------------------------------------------------------
def resize(a: Any, new_shape: Any) -> Array:
    """The elements in row-major order, cut off or repeated from the beginning to fill `new_shape`.

    Raises ValueError for a negative size.

    >>> jnp.resize(jnp.arange(3), (2, 2))
    Array([[0, 1],
           [2, 0]], dtype=int32)
    """
    x = array_like("resize", a)
    return _resize(x, shape_argument("resize", new_shape))


@eager.planned
def _resize(x: Any, shape: Sizes) -> Any:
    wanted, size = prod(shape), x.aval.size
    flat = lax_reshape(x, (size,))
    if not size:  # NumPy fills with zeros
        zero = constant(False if x.aval.kind == "bool" else 0, x.aval.dtype)
        return spread_scalar(zero, shape)
    if wanted > size:
        flat = tile(flat, (-(-wanted // size),))
    return lax_reshape(lax_slice(flat, (0,), (wanted,)), shape)
