"""Functions of two operands: extremes, powers, remainders, bits and shifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.support.strict import strict
from hloom.ops.common.elementwise import Elementwise, common_shape, flat, types_text
from hloom.ops.common.expression import (
    INT64,
    Term,
    copysign,
    is_nan,
    is_negative,
    magnitude,
    sign_mask,
    where,
)
from hloom.ops.elementary import complex_functions, real_functions
from hloom.ops.pointwise.arithmetic import div, mul, neg, nonzero_divisor, sub
from hloom.ops.pointwise.compare import eq, larger, numpy_max, numpy_min, pick, smaller
from hloom.ops.pointwise.convert import convert_element_type_p
from hloom.ops.pointwise.exponential import log
from hloom.ops.pointwise.unary import round_p, to_unsigned


# ---- max, min --------------------------------------------------------------------------------
def _share_of_extreme(t: Any, out: Any, x: Any, y: Any) -> Any:
    """All of the tangent where `x` is the result, half of it where `y` is too."""
    return pick(eq(x, out), pick(eq(y, out), mul(t, 0.5), t), 0)


_EXTREME_JVP = [
    lambda t, out, x, y: _share_of_extreme(t, out, x, y),
    lambda t, out, x, y: _share_of_extreme(t, out, y, x),
]

max_p = Elementwise(
    "max",
    hlo="maximum",
    formula={"complex": larger},
    numpy=numpy_max,
    jvp=_EXTREME_JVP,
    domain="any",
)


def max(x: Any, y: Any) -> Any:
    """The larger of two numbers; NaN if either is.

    Takes two operands of one dtype and one rank, or one of them 0-d.  Complex numbers compare by
    real part, then by imaginary part, and 0.0 is larger than -0.0.  Raises TypeError otherwise.
    Differs from NumPy: no promotion, no new axes.

    >>> lax.max(jnp.array([1.0, 5.0]), 2.0)
    Array([2., 5.], dtype=float32)
    """
    return max_p(x, y)


min_p = Elementwise(
    "min",
    hlo="minimum",
    formula={"complex": smaller},
    numpy=numpy_min,
    jvp=_EXTREME_JVP,
    domain="any",
)


def min(x: Any, y: Any) -> Any:
    """The smaller of two numbers; NaN if either is.

    Takes two operands of one dtype and one rank, or one of them 0-d.  Complex numbers compare by
    real part, then by imaginary part, and -0.0 is smaller than 0.0.  Raises TypeError otherwise.
    Differs from NumPy: no promotion, no new axes.

    >>> lax.min(jnp.array([1.0, 5.0]), 2.0)
    Array([1., 2.], dtype=float32)
    """
    return min_p(x, y)


# ---- pow -------------------------------------------------------------------------------------
def _pow_of_integers(x: Term, y: Term) -> Term:
    """By squares, in a loop: XLA's own is wrong for exponents beyond 63."""
    block = x.block

    def more(inner: Any, exponent: Any, *rest: Any) -> Any:
        left = Term(inner, exponent) != 0
        axes = tuple(range(len(left.shape)))
        return inner.reduce(left.operand, False, "or_", axes) if axes else left.operand

    def step(inner: Any, *state: Any) -> list[Any]:
        exponent, base, total = (Term(inner, s) for s in state)
        total = where((exponent & 1) != 0, total * base, total)
        shifted = exponent.apply("shift_right_logical", 1)
        return [shifted.operand, (base * base).operand, total.operand]

    negative = y < 0
    exponent = where(negative, y.full(0), y)
    start = [exponent.operand, x.operand, x.full(1).operand]
    power = Term(block, block.while_loop(more, step, start)[2])
    if dtypes.kind(y.dtype) == "unsigned":
        return power
    # The true value of a negative power, truncated: 1 and -1 to themselves, all else to 0.
    unit = where((y & 1) != 0, x, x.full(1))
    return where(negative, where((x == 1) | (x == -1), unit, x.full(0)), power)


def _numpy_pow_of_integers(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    exponent, base, total = np.where(y < 0, 0, y), x, np.ones_like(x)
    while exponent.any():
        total = np.where(exponent & 1, total * base, total)
        base, exponent = base * base, exponent >> 1
    unit = np.where(np.abs(x) == 1, np.where(y & 1, x, 1), 0)
    return np.where(y < 0, unit, total)


def _pow(x: Term, y: Term) -> Term:
    kind = dtypes.kind(x.dtype)
    if kind in ("signed", "unsigned"):
        return _pow_of_integers(x, y)
    if kind == "complex":
        return complex_functions.power(x, y.to(x.dtype) if y.dtype != x.dtype else y)
    if y.dtype == x.dtype:
        return real_functions.power(x, y)
    # An integer exponent may be too large for the float to tell whether it is odd.
    odd = (y & 1) != 0
    size = real_functions.power(abs(x), y.to(x.dtype))
    return where(odd & is_negative(x), -size, size)


def _numpy_pow(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu" or dtypes.kind(x.dtype) in ("signed", "unsigned"):
        return _numpy_pow_of_integers(x, y)
    if x.dtype.kind == "c" or y.dtype == x.dtype:
        return np.power(x, y.astype(x.dtype))
    size = np.power(np.abs(x), y.astype(x.dtype))
    return np.where((y & 1).astype(bool) & np.signbit(x), -size, size)


class Pow(Elementwise):
    """f32[3], f32[3] --> f32[3], and f32[3], i32[3] --> f32[3]."""

    def infer(self, x: ShapedArray, y: ShapedArray) -> ShapedArray:
        inexact, integer = dtypes.DOMAINS["inexact"], dtypes.DOMAINS["integer"]
        if x.dtype in inexact and y.dtype in integer:
            return ShapedArray(common_shape("pow", (x, y)), x.dtype, x.weak_type)
        return super().infer(x, y)


def _pow_base_tangent(t: Any, out: Any, x: Any, y: Any) -> Any:
    """t * y * x**(y - 1), and 0 where y is 0, whatever x is."""
    if y.aval.dtype == x.aval.dtype:
        factor = y
    else:
        factor = convert_element_type_p(y, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type)
    still = eq(y, 0)
    slope = mul(factor, pow(x, pick(still, 1, sub(y, 1))))
    return mul(t, pick(still, 0, slope))


def _pow_exponent_tangent(t: Any, out: Any, x: Any, y: Any) -> Any:
    """t * x**y * log(x), and 0 where x**y is, or where x is 0 and y is."""
    still = or_p(eq(out, 0), eq(x, 0))
    return mul(t, mul(out, log(pick(still, 1, x))))


pow_p = Pow(
    "pow",
    formula=_pow,
    numpy=_numpy_pow,
    jvp=[_pow_base_tangent, _pow_exponent_tangent],
)


def pow(x: Any, y: Any) -> Any:
    """`x` to the power `y`.

    Takes two operands of one number dtype, or a float or complex `x` and an integer `y`, of one
    rank or one of them 0-d.  Integers wrap around; their negative powers are 0 but for 1 and -1.
    Raises TypeError otherwise.  Differs from NumPy: no promotion, no new axes.

    >>> lax.pow(jnp.array([2.0, 3.0]), jnp.array([0.5, 2.0]))
    Array([1.4142135, 9.       ], dtype=float32)
    >>> lax.pow(jnp.array([2, 3]), jnp.array([10, 40]))
    Array([     1024, 689956897], dtype=int32)
    """
    return pow_p(x, y)


# ---- remainders ------------------------------------------------------------------------------
def _remainder_of_integers(x: Term, y: Term) -> Term:
    divisor = nonzero_divisor(y)
    rest = x - x.apply("divide", divisor) * divisor
    return where(y == 0, y.full(0), rest)


rem_p = Elementwise(
    "rem",
    hlo="remainder",
    formula={"signed": _remainder_of_integers, "unsigned": _remainder_of_integers},
    numpy=np.fmod,
    jvp=[
        lambda t, out, x, y: t,
        lambda t, out, x, y: neg(mul(t, round_p(div(sub(x, out), y), rounding_method=0))),
    ],
    domain="real",
)


def rem(x: Any, y: Any) -> Any:
    """The remainder of `x / y` rounded towards zero; it has the sign of `x`.

    Takes two operands of one real dtype and one rank, or one of them 0-d.  An integer remainder by
    0 is 0.  Raises TypeError otherwise.  Differs from NumPy's `remainder`, which has the sign of
    `y`: this is its `fmod`.

    >>> lax.rem(jnp.array([7, -7]), 3)
    Array([ 1, -1], dtype=int32)
    """
    return rem_p(x, y)


def _integer_floor(x: Term, y: Term) -> tuple[Term, Term]:
    """Quotient rounded down and its remainder, as Python has them; both 0 for a divisor of 0."""
    divisor = nonzero_divisor(y)
    quotient = x.apply("divide", divisor)
    rest = x - quotient * divisor
    if dtypes.kind(x.dtype) == "signed":
        low = (rest != 0) & ((rest < 0) ^ (divisor < 0))
        quotient = where(low, quotient - 1, quotient)
        rest = where(low, rest + divisor, rest)
    return where(y == 0, y.full(0), quotient), where(y == 0, y.full(0), rest)


def _float_floor(x: Term, y: Term) -> tuple[Term, Term]:
    """The same of floats, with NumPy's signs of zero."""
    rest = x.apply("remainder", y)
    quotient = (x - rest) / y
    low = (rest != 0.0) & ((y < 0.0) ^ (rest < 0.0))
    modulus = where(rest != 0.0, where(low, rest + y, rest), copysign(y.full(0.0), y))
    quotient = where(low, quotient - 1.0, quotient)
    whole = quotient.floor()
    whole = where(quotient - whole > 0.5, whole + 1.0, whole)
    whole = where(quotient != 0.0, whole, copysign(y.full(0.0), x / y))
    return where(y == 0.0, x / y, whole), where(y == 0.0, rest, modulus)


def _floor_and_modulus(x: Term, y: Term) -> tuple[Term, Term]:
    return _float_floor(x, y) if dtypes.kind(x.dtype) == "float" else _integer_floor(x, y)


floor_divide_p = Elementwise(
    "floor_divide",
    formula=lambda x, y: _floor_and_modulus(x, y)[0],
    numpy=np.floor_divide,
    jvp=[flat, flat],
    domain="real",
)


def floor_divide(x: Any, y: Any) -> Any:
    """The quotient rounded down; of integers, 0 where the divisor is 0.

    Takes two operands of one real dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.  Its values are NumPy's, to the sign of zero.

    >>> hloom.ops.pointwise.binary.floor_divide(jnp.array([7, -7, 7]), jnp.array([2, 2, 0]))
    Array([ 3, -4,  0], dtype=int32)
    """
    return floor_divide_p(x, y)


mod_p = Elementwise(
    "mod",
    formula=lambda x, y: _floor_and_modulus(x, y)[1],
    numpy=np.remainder,
    jvp=[
        lambda t, out, x, y: t,
        lambda t, out, x, y: neg(mul(t, floor_divide(x, y))),
    ],
    domain="real",
)


def mod(x: Any, y: Any) -> Any:
    """The remainder of `x / y` rounded down; it has the sign of `y`.  Of integers by 0, 0.

    Takes two operands of one real dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.  Its values are those of NumPy's `remainder`, to the sign of zero.

    >>> hloom.ops.pointwise.binary.mod(jnp.array([7, -7]), 3)
    Array([1, 2], dtype=int32)
    """
    return mod_p(x, y)


# ---- nextafter -------------------------------------------------------------------------------
def _nextafter(x: Term, y: Term) -> Term:
    """One step along the integers that order as the floats do; no float operation flushes it."""
    negative = is_negative(x)
    start = where(negative, -magnitude(x), magnitude(x))
    goal = where(is_negative(y), -magnitude(y), magnitude(y))
    there = start + where(goal > start, x.bits().full(1), x.bits().full(-1))
    size = where(there < 0, -there, there)
    sign = where((there < 0) | ((there == 0) & negative), sign_mask(x.dtype), size.full(0))
    stepped = (size | sign).cast(x.dtype)
    return where(is_nan(x), x, where(is_nan(y) | (goal == start), y, stepped))


_STEPPED = frozenset(dtypes.as_dtype(n) for n in ("float16", "bfloat16", "float32", "float64"))


class NextAfter(Elementwise):
    """f32[3], f32[3] --> f32[3]."""

    def infer(self, x: ShapedArray, y: ShapedArray) -> ShapedArray:
        if x.dtype not in _STEPPED:
            raise TypeError(
                "nextafter takes operands of float16, bfloat16, float32 or float64; got "
                f"{types_text((x, y))}. Convert first: lax.convert_element_type(x, 'float32')."
            )
        return super().infer(x, y)


nextafter_p = NextAfter(
    "nextafter",
    formula=_nextafter,
    numpy=lambda x, y: np.where(x == y, y, np.nextafter(x, y)),  # NumPy's own of f16 gives x
    jvp=[None, None],  # a step by y, and by x the identity only between powers of two
    domain="float",
    narrow=True,
)


def nextafter(x: Any, y: Any) -> Any:
    """The float next to `x` in the direction of `y`; `y` itself where they are equal.

    Takes two operands of one dtype among float16, bfloat16, float32 and float64, and of one rank
    or one of them 0-d.  Raises TypeError otherwise, and NotImplementedError when differentiated.

    >>> lax.nextafter(jnp.array([1.0, 0.0]), jnp.array([2.0, 0.0]))
    Array([1.0000001, 0.       ], dtype=float32)
    """
    return nextafter_p(x, y)


# ---- bits ------------------------------------------------------------------------------------
and_p = Elementwise("and", hlo="and", numpy=np.bitwise_and, domain="bits")


@strict
def bitwise_and(x: Any, y: Any) -> Any:
    """The bits set in both; of bool, whether both hold.

    Takes two operands of one integer dtype or of bool, of one rank or one of them 0-d.  Raises
    TypeError otherwise.

    >>> lax.bitwise_and(jnp.array([12, 10]), 6)
    Array([4, 2], dtype=int32)
    """
    return and_p(x, y)


or_p = Elementwise("or", hlo="or", numpy=np.bitwise_or, domain="bits")


@strict
def bitwise_or(x: Any, y: Any) -> Any:
    """The bits set in either; of bool, whether one of them holds.

    Takes two operands of one integer dtype or of bool, of one rank or one of them 0-d.  Raises
    TypeError otherwise.

    >>> lax.bitwise_or(jnp.array([12, 10]), 6)
    Array([14, 14], dtype=int32)
    """
    return or_p(x, y)


xor_p = Elementwise("xor", hlo="xor", numpy=np.bitwise_xor, domain="bits")


@strict
def bitwise_xor(x: Any, y: Any) -> Any:
    """The bits set in just one; of bool, whether just one holds.

    Takes two operands of one integer dtype or of bool, of one rank or one of them 0-d.  Raises
    TypeError otherwise.

    >>> lax.bitwise_xor(jnp.array([12, 10]), 6)
    Array([10, 12], dtype=int32)
    """
    return xor_p(x, y)


shift_left_p = Elementwise("shift_left", hlo="shift_left", numpy=np.left_shift, domain="integer")


def shift_left(x: Any, y: Any) -> Any:
    """The bits of `x` moved up by `y` places; 0 where `y` is negative or at least the width.

    Takes two operands of one integer dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.

    >>> lax.shift_left(jnp.array([1, 3]), 2)
    Array([ 4, 12], dtype=int32)
    """
    return shift_left_p(x, y)


shift_right_arithmetic_p = Elementwise(
    "shift_right_arithmetic",
    hlo="shift_right_arithmetic",
    formula={"unsigned": lambda x, y: x >> y},  # XLA's own would spread the top bit
    numpy=np.right_shift,
    domain="integer",
)


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """`x` divided by the `y`-th power of two, rounded down: the sign bit is spread.

    Takes two operands of one integer dtype and one rank, or one of them 0-d; unsigned integers
    have no sign to spread.  Raises TypeError otherwise.

    >>> lax.shift_right_arithmetic(jnp.array([8, -8]), 1)
    Array([ 4, -4], dtype=int32)
    """
    return shift_right_arithmetic_p(x, y)


def _numpy_shift_right_logical(x: Any, y: Any) -> Any:
    return np.right_shift(to_unsigned(x), to_unsigned(y)).astype(x.dtype)


shift_right_logical_p = Elementwise(
    "shift_right_logical",
    hlo="shift_right_logical",
    numpy=_numpy_shift_right_logical,
    domain="integer",
)


def shift_right_logical(x: Any, y: Any) -> Any:
    """The bits of `x` moved down by `y` places, zeros after them, whatever the sign.

    Takes two operands of one integer dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.  Differs from NumPy for negative numbers, whose sign it spreads.

    >>> lax.shift_right_logical(jnp.array([8, -8]), 1)
    Array([         4, 2147483644], dtype=int32)
    """
    return shift_right_logical_p(x, y)


# ---- mulhi -----------------------------------------------------------------------------------
_UINT64 = np.dtype("uint64")


def _mulhi(x: Term, y: Term) -> Term:
    bits = dtypes.bits(x.dtype)
    if bits < 64:
        wide = INT64 if dtypes.kind(x.dtype) == "signed" else _UINT64
        return ((x.to(wide) * y.to(wide)) >> bits).to(x.dtype)
    high = _mulhi_unsigned(x.cast(_UINT64), y.cast(_UINT64)).cast(x.dtype)
    if dtypes.kind(x.dtype) == "unsigned":
        return high
    return high - where(x < 0, y, y.full(0)) - where(y < 0, x, x.full(0))


def _mulhi_unsigned(x: Term, y: Term) -> Term:
    """From the four products of 32-bit halves."""
    low = (1 << 32) - 1
    a, b, c, d = x >> 32, x & low, y >> 32, y & low
    middle = a * d + ((b * d) >> 32)
    other = b * c + (middle & low)
    return a * c + (middle >> 32) + (other >> 32)


def _numpy_mulhi(x: Any, y: Any) -> Any:
    upper = (x.astype(object) * y.astype(object)) >> dtypes.bits(x.dtype)
    return np.asarray(upper, object).astype(x.dtype)  # of 0-d arrays it is a Python int


mulhi_p = Elementwise("mulhi", formula=_mulhi, numpy=_numpy_mulhi, domain="integer")


def mulhi(x: Any, y: Any) -> Any:
    """The upper half of the product of two integers, which has twice as many bits.

    Takes two operands of one integer dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.

    >>> lax.mulhi(jnp.array([2**30, -1]), 8)
    Array([ 2, -1], dtype=int32)
    """
    return mulhi_p(x, y)
