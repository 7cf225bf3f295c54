"""Bits of integers, and number theory: shifts, counts, greatest common divisors."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.numpy.common import eager, ufunc_operands
from hloom.numpy.common.operands import promote
from hloom.numpy.common.ufunc_operands import kind_of
from hloom.ops.pointwise import arithmetic, binary, euclid, unary
from hloom.ops.pointwise.convert import convert_element_type_p

UINT8 = np.dtype("uint8")


@eager.binary
def bitwise_and(x1: Any, x2: Any, /) -> Any:
    """The bits set in both; of bools, whether both hold.

    The operands are promoted and broadcast.  Raises TypeError for floats and complex numbers.

    >>> jnp.bitwise_and(jnp.array([12, 10]), 6)
    Array([4, 2], dtype=int32)
    """
    return binary.bitwise_and(*ufunc_operands.bits("bitwise_and", x1, x2))


@eager.binary
def bitwise_or(x1: Any, x2: Any, /) -> Any:
    """The bits set in either; of bools, whether one of them holds.

    The operands are promoted and broadcast.  Raises TypeError for floats and complex numbers.

    >>> jnp.bitwise_or(jnp.array([12, 10]), 6)
    Array([14, 14], dtype=int32)
    """
    return binary.bitwise_or(*ufunc_operands.bits("bitwise_or", x1, x2))


@eager.binary
def bitwise_xor(x1: Any, x2: Any, /) -> Any:
    """The bits set in just one; of bools, whether just one holds.

    The operands are promoted and broadcast.  Raises TypeError for floats and complex numbers.

    >>> jnp.bitwise_xor(jnp.array([12, 10]), 6)
    Array([10, 12], dtype=int32)
    """
    return binary.bitwise_xor(*ufunc_operands.bits("bitwise_xor", x1, x2))


@eager.unary
def invert(x: Any, /) -> Any:
    """All bits inverted; of bools, the other truth value.

    Raises TypeError for floats and complex numbers.

    >>> jnp.invert(jnp.array([0, 5])), jnp.invert(jnp.array([True, False]))
    (Array([-1, -6], dtype=int32), Array([False,  True], dtype=bool))
    """
    return unary.bitwise_not(*ufunc_operands.bits("invert", x))


bitwise_invert = bitwise_not = invert


@eager.binary
def left_shift(x1: Any, x2: Any, /) -> Any:
    """The bits of `x1` moved up by `x2` places; 0 where `x2` is negative or at least the width.

    The operands are promoted and broadcast; bools become int8.  Raises TypeError for floats and
    complex numbers.

    >>> jnp.left_shift(jnp.array([1, 3]), 2)
    Array([ 4, 12], dtype=int32)
    """
    return binary.shift_left(*ufunc_operands.integers("left_shift", x1, x2))


bitwise_left_shift = left_shift


@eager.binary
def right_shift(x1: Any, x2: Any, /) -> Any:
    """The bits of `x1` moved down by `x2` places; the sign of a signed integer is spread.

    The operands are promoted and broadcast; bools become int8.  Raises TypeError for floats and
    complex numbers.

    >>> jnp.right_shift(jnp.array([8, -8]), 1)
    Array([ 4, -4], dtype=int32)
    """
    x1, x2 = ufunc_operands.integers("right_shift", x1, x2)
    if kind_of(x1) == "unsigned":
        return binary.shift_right_logical(x1, x2)
    return binary.shift_right_arithmetic(x1, x2)


bitwise_right_shift = right_shift


@eager.unary
def bitwise_count(x: Any, /) -> Any:
    """How many bits of the absolute value are set, as uint8.

    Raises TypeError for floats and complex numbers.

    >>> jnp.bitwise_count(jnp.array([0, 7, -1]))
    Array([0, 3, 1], dtype=uint8)
    """
    (x,) = ufunc_operands.integers("bitwise_count", x)
    count = unary.population_count(unary.abs(x))
    return convert_element_type_p(count, new_dtype=UINT8, weak_type=False)


# ---- number theory -----------------------------------------------------------------------------
def _whole_numbers(name: str, x1: Any, x2: Any) -> list[Any]:
    promoted = promote(name, x1, x2)
    if kind_of(promoted[0]) not in ("signed", "unsigned"):
        raise ufunc_operands.unsupported(name, promoted, "convert first: x.astype(int)")
    return promoted


@eager.binary
def gcd(x1: Any, x2: Any, /) -> Any:
    """The greatest common divisor of the absolute values; of 0 and 0 it is 0.

    The operands are promoted and broadcast.  Raises TypeError for all but integers.

    >>> jnp.gcd(jnp.array([12, -18, 0]), 8)
    Array([4, 2, 8], dtype=int32)
    """
    return euclid.gcd(*_whole_numbers("gcd", x1, x2))


@eager.binary
def lcm(x1: Any, x2: Any, /) -> Any:
    """The least common multiple of the absolute values; with a 0 it is 0.

    The operands are promoted and broadcast; what the dtype does not hold wraps around.  Raises
    TypeError for all but integers.

    >>> jnp.lcm(jnp.array([12, -18, 0]), 8)
    Array([24, 72,  0], dtype=int32)
    """
    x1, x2 = _whole_numbers("lcm", x1, x2)
    divisor = euclid.gcd(x1, x2)
    share = arithmetic.div(unary.abs(x1), divisor)  # of 0 by 0 it is 0
    return arithmetic.mul(share, unary.abs(x2))
