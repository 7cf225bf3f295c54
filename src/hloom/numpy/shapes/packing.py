"""Bits packed into bytes, and taken out of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axis_argument, count_argument
from hloom.numpy.common.operands import array_like
from hloom.ops.common.linear import broadcast_in_dim, constant, move, reduce_sum, spread_scalar
from hloom.ops.pointwise.binary import bitwise_and, shift_left, shift_right_logical
from hloom.ops.pointwise.compare import ne
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import broadcasted_iota, reshape, rev
from hloom.ops.shapes.slicing import pad, slice_in_dim

BYTE = np.dtype("uint8")


def _checked(name: str, a: Any, axis: Any, bitorder: Any) -> tuple[Array, int]:
    """The array, flat where no axis is given, and the axis."""
    if bitorder not in ("big", "little"):
        raise ValueError(f"{name}: bitorder must be either 'little' or 'big'; got {bitorder!r:.60}")
    x = array_like(name, a)
    if axis is None or not x.aval.ndim:
        return reshape(x, (x.aval.size,)), 0
    return x, axis_argument(name, axis, x.aval)


def _places(shape: tuple[int, ...], bitorder: str) -> Any:
    """How far each of 8 bits, along the last axis, is from the lowest."""
    places = broadcasted_iota(BYTE, shape, len(shape) - 1)
    return places if bitorder == "little" else rev(places, (len(shape) - 1,))


@eager.function(static=("axis", "bitorder"))
def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    """Each 8 elements along an axis as the bits of a byte: nonzero is 1; the last is filled with 0.

    Without `axis` the array is flattened.  The first element is the highest bit, or the lowest
    with `bitorder="little"`.

    Raises TypeError for other than integers and bools.

    >>> jnp.packbits(jnp.array([1, 0, 1]))
    Array([160], dtype=uint8)
    """
    x, place = _checked("packbits", a, axis, bitorder)
    if not dtypes.in_domain(x.aval.dtype, "bits"):
        raise TypeError(
            f"packbits: expected an input array of integer or boolean data type; got {x.aval}. "
            "Compare first: x != 0."
        )
    zero = constant(False if x.aval.kind == "bool" else 0, x.aval.dtype)
    bits = move(ne(x, spread_scalar(zero, x.aval.shape)), place, x.aval.ndim - 1)
    *rest, size = bits.aval.shape
    count = -(-size // 8)
    config = [(0, 0, 0)] * len(rest) + [(0, count * 8 - size, 0)]
    bits = reshape(pad(bits, constant(False, np.dtype(bool)), config), (*rest, count, 8))
    worth = shift_left(convert_element_type(bits, BYTE), _places(bits.aval.shape, bitorder))
    return move(reduce_sum(worth, (len(rest) + 1,)), len(rest), place)


@eager.function(static=("axis", "count", "bitorder"))
def unpackbits(
    a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    """The bits of bytes, as 8 elements 0 or 1 for each, along an axis.

    Without `axis` the array is flattened.  `count` is how many to give; beyond the last there are
    zeros; a negative one is how many to leave out at the end.

    Raises TypeError for other than uint8, ValueError for leaving out more than there are.

    >>> jnp.unpackbits(jnp.array([160], jnp.uint8), count=4)
    Array([1, 0, 1, 0], dtype=uint8)
    """
    x, place = _checked("unpackbits", a, axis, bitorder)
    if x.aval.dtype != BYTE:
        raise TypeError(
            f"unpackbits: expected an input array of unsigned byte data type; got {x.aval}. "
            "Convert it: x.astype(jnp.uint8)."
        )
    x = move(x, place, x.aval.ndim - 1)
    shape = (*x.aval.shape, 8)
    each = broadcast_in_dim(x, shape, range(x.aval.ndim))
    shifted = shift_right_logical(each, _places(shape, bitorder))
    bits = bitwise_and(shifted, spread_scalar(constant(1, BYTE), shape))
    size = shape[-2] * 8
    bits = reshape(bits, (*shape[:-2], size))
    if count is not None:
        wanted = count_argument("unpackbits", "count", count)
        wanted += size if wanted < 0 else 0
        if wanted < 0:
            raise ValueError(f"unpackbits: -count larger than number of elements: {count}, {size}")
        bits = slice_in_dim(bits, 0, min(wanted, size), 1, len(shape) - 2)
        more = [(0, 0, 0)] * (len(shape) - 2) + [(0, max(wanted - size, 0), 0)]
        bits = pad(bits, constant(0, BYTE), more)
    return move(bits, len(shape) - 2, place)
