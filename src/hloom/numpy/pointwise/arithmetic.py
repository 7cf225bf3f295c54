"""Sums, products, quotients, remainders; signs; the larger and the smaller of two."""

from __future__ import annotations

from typing import Any

from hloom.numpy.common import eager, ufunc_operands
from hloom.numpy.common.operands import array_like, promote, promote_inexact
from hloom.numpy.common.python_integers import fit
from hloom.numpy.common.ufunc_operands import kind_of
from hloom.ops.pointwise import arithmetic, binary, compare, unary


# ---- sum, difference, product ------------------------------------------------------------------
@eager.binary
def add(x1: Any, x2: Any, /) -> Any:
    """The sum; of two bools, whether either holds.

    The operands are promoted and broadcast.

    >>> jnp.add(1, 1.0)
    Array(2., dtype=float32, weak_type=True)
    >>> jnp.add(jnp.arange(3), jnp.array([[0.5], [1.5]]))
    Array([[0.5, 1.5, 2.5],
           [1.5, 2.5, 3.5]], dtype=float32)
    """
    x1, x2 = promote("add", x1, x2)
    return binary.bitwise_or(x1, x2) if kind_of(x1) == "bool" else arithmetic.add(x1, x2)


@eager.binary
def subtract(x1: Any, x2: Any, /) -> Any:
    """The difference `x1 - x2`.

    The operands are promoted and broadcast.  Raises TypeError for two bools, as NumPy does.

    >>> jnp.subtract(jnp.array([1, 2, 3]), jnp.array([0.5, 1.0, 1.5]))
    Array([0.5, 1. , 1.5], dtype=float32)
    """
    x1, x2 = promote("subtract", x1, x2)
    if kind_of(x1) == "bool":
        raise TypeError(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, "
            "the `^` operator, or the logical_xor function instead."
        )
    return arithmetic.sub(x1, x2)


@eager.binary
def multiply(x1: Any, x2: Any, /) -> Any:
    """The product; of two bools, whether both hold.

    The operands are promoted and broadcast.

    >>> jnp.multiply(jnp.array([1, 2, 3]), 2)
    Array([2, 4, 6], dtype=int32)
    """
    x1, x2 = promote("multiply", x1, x2)
    return binary.bitwise_and(x1, x2) if kind_of(x1) == "bool" else arithmetic.mul(x1, x2)


# ---- quotients and remainders ------------------------------------------------------------------
@eager.binary_floats
def divide(x1: Any, x2: Any, /) -> Any:
    """The quotient, a float or complex number.

    The operands are promoted, integers and bools to the default float, and broadcast.  Differs from
    NumPy: 8- and 16-bit integers give the default float too, not a narrower one.

    >>> jnp.divide(jnp.array([1, -1, 0]), jnp.array([2, 0, 0]))
    Array([ 0.5, -inf,  nan], dtype=float32)
    """
    return arithmetic.div(*promote_inexact("divide", x1, x2))


true_divide = divide


@eager.binary
def floor_divide(x1: Any, x2: Any, /) -> Any:
    """The quotient rounded down; of integers an integer, and 0 where the divisor is 0.

    The operands are promoted and broadcast.  Raises TypeError for complex numbers.

    >>> jnp.floor_divide(jnp.array([7, -7, 7]), jnp.array([2, 2, 0]))
    Array([ 3, -4,  0], dtype=int32)
    """
    return binary.floor_divide(*ufunc_operands.real_numbers("floor_divide", x1, x2))


@eager.binary
def remainder(x1: Any, x2: Any, /) -> Any:
    """What `floor_divide` leaves: it has the sign of `x2`; of an integer by 0 it is 0.

    The operands are promoted and broadcast.  Raises TypeError for complex numbers.

    >>> jnp.remainder(jnp.array([7, -7, 7]), jnp.array([3, 3, 0]))
    Array([1, 2, 0], dtype=int32)
    """
    return binary.mod(*ufunc_operands.real_numbers("remainder", x1, x2))


mod = remainder


@eager.binary
def fmod(x1: Any, x2: Any, /) -> Any:
    """The remainder of division towards zero: it has the sign of `x1`; of an integer by 0 it is 0.

    The operands are promoted and broadcast.  Raises TypeError for complex numbers.

    >>> jnp.fmod(jnp.array([7, -7]), 3)
    Array([ 1, -1], dtype=int32)
    """
    return binary.rem(*ufunc_operands.real_numbers("fmod", x1, x2))


@eager.function(static=())
def _divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    x1, x2 = ufunc_operands.real_numbers("divmod", x1, x2)
    return binary.floor_divide(x1, x2), binary.mod(x1, x2)


def divmod(x1: Any, x2: Any, /, out: Any = None, where: Any = None) -> tuple[Any, Any]:
    """`floor_divide` and `remainder` at once.

    The operands are promoted and broadcast.  Raises TypeError for complex numbers.

    >>> jnp.divmod(jnp.array([7, -7]), 3)
    (Array([ 2, -3], dtype=int32), Array([1, 2], dtype=int32))
    """
    eager.refuse("divmod", out, where)
    return _divmod(*fit("divmod", (x1, x2)))


# ---- signs -------------------------------------------------------------------------------------
@eager.unary
def negative(x: Any, /) -> Any:
    """The number with the other sign; unsigned integers wrap around.

    Raises TypeError for bools, as NumPy does.

    >>> jnp.negative(jnp.array([1.0, -2.0]))
    Array([-1.,  2.], dtype=float32)
    """
    x = array_like("negative", x)
    if kind_of(x) == "bool":
        raise TypeError(
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator "
            "or the logical_not function instead."
        )
    return arithmetic.neg(x)


@eager.unary
def positive(x: Any, /) -> Any:
    """The number itself.

    Raises TypeError for bools, as NumPy does.

    >>> jnp.positive(jnp.array([1.0, -2.0]))
    Array([ 1., -2.], dtype=float32)
    """
    return ufunc_operands.not_bools("positive", x)[0]


@eager.unary
def absolute(x: Any, /) -> Any:
    """The absolute value; of complex numbers the length, a float.

    The most negative integer stays as it is, as in NumPy.

    >>> jnp.absolute(jnp.array([-1.5, 2.0])), jnp.absolute(jnp.array([3 + 4j]))
    (Array([1.5, 2. ], dtype=float32), Array([5.], dtype=float32))
    """
    x = array_like("absolute", x)
    return x if kind_of(x) == "bool" else unary.abs(x)


abs = absolute


@eager.unary
def fabs(x: Any, /) -> Any:
    """The absolute value as a float.

    Integers and bools become the default float.  Raises TypeError for complex numbers.

    >>> jnp.fabs(jnp.array([-1, 2]))
    Array([1., 2.], dtype=float32)
    """
    return unary.abs(*ufunc_operands.floats("fabs", x))


@eager.unary
def sign(x: Any, /) -> Any:
    """-1, 0 or 1 by the sign; of complex numbers `x / abs(x)`.

    NaN stays.  Raises TypeError for bools, as NumPy does.

    >>> jnp.sign(jnp.array([-2.5, 0.0, 7.0])), jnp.sign(jnp.array([3 + 4j]))
    (Array([-1.,  0.,  1.], dtype=float32), Array([0.6+0.8j], dtype=complex64))
    """
    return unary.sign(*ufunc_operands.not_bools("sign", x))


# ---- the larger and the smaller one ------------------------------------------------------------
@eager.binary
def maximum(x1: Any, x2: Any, /) -> Any:
    """The larger of two numbers; NaN if either is.

    The operands are promoted and broadcast; complex numbers compare by real part, then by imaginary
    part.  Differs from NumPy: 0.0 is larger than -0.0, whatever their order.  The derivative is
    shared evenly where the two are equal.

    >>> jnp.maximum(jnp.array([1.0, 5.0, jnp.nan]), 2)
    Array([ 2.,  5., nan], dtype=float32)
    """
    return binary.max(*promote("maximum", x1, x2))


@eager.binary
def minimum(x1: Any, x2: Any, /) -> Any:
    """The smaller of two numbers; NaN if either is.

    The operands are promoted and broadcast; complex numbers compare by real part, then by imaginary
    part.  Differs from NumPy: -0.0 is smaller than 0.0, whatever their order.  The derivative is
    shared evenly where the two are equal.

    >>> jnp.minimum(jnp.array([1.0, 5.0, jnp.nan]), 2)
    Array([ 1.,  2., nan], dtype=float32)
    """
    return binary.min(*promote("minimum", x1, x2))


@eager.binary
def fmax(x1: Any, x2: Any, /) -> Any:
    """The larger of two numbers; where one is NaN, the other.

    The operands are promoted and broadcast.

    >>> jnp.fmax(jnp.array([1.0, 5.0, jnp.nan]), 2)
    Array([2., 5., 2.], dtype=float32)
    """
    x1, x2 = promote("fmax", x1, x2)
    return _unless_nan(x1, x2, binary.max(x1, x2))


@eager.binary
def fmin(x1: Any, x2: Any, /) -> Any:
    """The smaller of two numbers; where one is NaN, the other.

    The operands are promoted and broadcast.

    >>> jnp.fmin(jnp.array([1.0, 5.0, jnp.nan]), 2)
    Array([1., 2., 2.], dtype=float32)
    """
    x1, x2 = promote("fmin", x1, x2)
    return _unless_nan(x1, x2, binary.min(x1, x2))


def _unless_nan(x1: Any, x2: Any, extreme: Any) -> Any:
    """The extreme, but the other operand where one of the two is NaN."""
    if kind_of(x1) not in ("float", "complex"):
        return extreme
    other = compare.select(compare.ne(x2, x2), x1, extreme)
    return compare.select(compare.ne(x1, x1), x2, other)
