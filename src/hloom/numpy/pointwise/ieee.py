"""What IEEE floats are made of: NaN, infinities, signs, exponents, neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.errors import ArgumentError
from hloom.numpy.common import eager, ufunc_operands
from hloom.numpy.common.arguments import warn_if_dropped
from hloom.numpy.common.operands import array_like, broadcast
from hloom.numpy.common.reducing import cast, weak_as
from hloom.numpy.common.ufunc_operands import is_complex, kind_of
from hloom.numpy.pointwise.rounding import trunc
from hloom.ops.common import linear
from hloom.ops.pointwise import arithmetic, binary, compare, unary
from hloom.ops.pointwise.complex import complex as complex_of
from hloom.ops.pointwise.complex import imag, real
from hloom.ops.pointwise.convert import (
    bitcast_convert_type_p,
    convert_element_type_p,
    stop_gradient,
)

BOOL, INT32, INT64 = np.dtype("bool"), np.dtype("int32"), np.dtype("int64")
FLOAT16, FLOAT32, FLOAT64 = map(np.dtype, ("float16", "float32", "float64"))
INFINITY, NAN = float("inf"), float("nan")


def _always(x: Any, answer: bool) -> Any:
    return linear.full(x.aval.shape, answer, BOOL)


def _converted(x: Any, dtype: np.dtype[Any]) -> Any:
    if x.aval.dtype == dtype:
        return x
    return convert_element_type_p(x, new_dtype=dtype, weak_type=False)


# ---- NaN and infinity --------------------------------------------------------------------------
@eager.unary
def isnan(x: Any, /) -> Any:
    """Whether the number is NaN, or either part of a complex number is; of integers it is False.

    >>> jnp.isnan(jnp.array([1.0, jnp.nan, jnp.inf]))
    Array([False,  True, False], dtype=bool)
    """
    x = array_like("isnan", x)
    return compare.ne(x, x) if kind_of(x) in ("float", "complex") else _always(x, False)


@eager.unary
def isfinite(x: Any, /) -> Any:
    """Whether the number is neither infinite nor NaN; of complex numbers, both parts.

    >>> jnp.isfinite(jnp.array([1.0, jnp.nan, jnp.inf]))
    Array([ True, False, False], dtype=bool)
    """
    return _is_finite(array_like("isfinite", x))


def _is_finite(x: Any) -> Any:
    match kind_of(x):
        case "float":
            return unary.is_finite(x)
        case "complex":
            return binary.bitwise_and(_is_finite(real(x)), _is_finite(imag(x)))
        case _:
            return _always(x, True)


@eager.unary
def isinf(x: Any, /) -> Any:
    """Whether the number is infinite, or either part of a complex number is.

    >>> jnp.isinf(jnp.array([1.0, jnp.nan, -jnp.inf]))
    Array([False, False,  True], dtype=bool)
    """
    return _is_infinite(array_like("isinf", x))


def _is_infinite(x: Any) -> Any:
    match kind_of(x):
        case "float":
            return compare.eq(unary.abs(x), INFINITY)
        case "complex":
            return binary.bitwise_or(_is_infinite(real(x)), _is_infinite(imag(x)))
        case _:
            return _always(x, False)


def _is_infinity(name: str, x: Any, infinity: float) -> Any:
    x = array_like(name, x)
    if is_complex(x):
        raise ArgumentError(
            f"{name}: This operation is not supported for {x.aval.dtype.name} values because it "
            "would be ambiguous; take jnp.real(x) or jnp.imag(x)."
        )
    return compare.eq(x, infinity) if kind_of(x) == "float" else _always(x, False)


@eager.unary
def isposinf(x: Any, /) -> Any:
    """Whether the number is positive infinity.

    Raises TypeError for complex numbers.

    >>> jnp.isposinf(jnp.array([jnp.inf, -jnp.inf, jnp.nan]))
    Array([ True, False, False], dtype=bool)
    """
    return _is_infinity("isposinf", x, INFINITY)


@eager.unary
def isneginf(x: Any, /) -> Any:
    """Whether the number is negative infinity.

    Raises TypeError for complex numbers.

    >>> jnp.isneginf(jnp.array([jnp.inf, -jnp.inf, jnp.nan]))
    Array([False,  True, False], dtype=bool)
    """
    return _is_infinity("isneginf", x, -INFINITY)


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """The array with finite numbers for NaN and infinities: `nan`, `posinf` and `neginf`.

    The last two are the largest and the smallest finite number where they are None.  Of complex
    numbers each part is replaced; integers stay.  `copy` is ignored, since arrays are immutable.

    >>> jnp.nan_to_num(jnp.array([jnp.nan, jnp.inf, 1.0]), posinf=9.0)
    Array([0., 9., 1.], dtype=float32)
    """
    if not copy:
        warn_if_dropped("jnp.nan_to_num(x, copy=False)")
    return _nan_to_num(x, nan, posinf, neginf)


@eager.function(static=())
def _nan_to_num(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    x = array_like("nan_to_num", x)
    match kind_of(x):
        case "float":
            return _finite(x, nan, posinf, neginf)
        case "complex":
            return complex_of(*[_finite(part, nan, posinf, neginf) for part in (real(x), imag(x))])
        case _:
            return x


def _finite(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    limits = dtypes.finfo(x.aval.dtype)
    replaced = [
        (compare.ne(x, x), nan),
        (compare.eq(x, INFINITY), float(limits.max) if posinf is None else posinf),
        (compare.eq(x, -INFINITY), float(limits.min) if neginf is None else neginf),
    ]
    for found, value in replaced:
        value = _converted(array_like("nan_to_num", value), x.aval.dtype)
        found, value, x = broadcast("nan_to_num", (found, value, x), True)
        x = compare.select(found, value, x)
    return x


# ---- signs -------------------------------------------------------------------------------------
@eager.unary
def signbit(x: Any, /) -> Any:
    """Whether the number is negative; of floats, whether the sign bit is set, as of -0.0 it is.

    Raises TypeError for complex numbers.

    >>> jnp.signbit(jnp.array([-1.0, 0.0, -0.0]))
    Array([ True, False,  True], dtype=bool)
    """
    (x,) = ufunc_operands.reals("signbit", x)
    match kind_of(x):
        case "float":
            return _is_negative(x)
        case "signed":
            return compare.lt(x, 0)
        case _:
            return _always(x, False)


def _is_negative(x: Any) -> Any:
    """By the sign bit."""
    if x.aval.bits < 8:
        x = _converted(x, FLOAT32)
    return compare.lt(_bits(x), 0)


def _bits(x: Any) -> Any:
    """A float's bits as a signed integer."""
    return bitcast_convert_type_p(x, new_dtype=np.dtype(f"int{x.aval.bits}"))


@eager.binary_floats
def copysign(x1: Any, x2: Any, /) -> Any:
    """The magnitude of `x1` with the sign of `x2`, a float.

    The operands are promoted, integers and bools to the default float, and broadcast.  Raises
    TypeError for complex numbers.

    >>> jnp.copysign(jnp.array([1.0, -2.0, 3.0]), jnp.array([-1.0, 0.0, -0.0]))
    Array([-1.,  2., -3.], dtype=float32)
    """
    magnitude, sign = ufunc_operands.floats("copysign", x1, x2)
    if not sign.aval.weak_type:
        magnitude = cast(magnitude, sign.aval.dtype)
    return _copysign(magnitude, sign)


def _copysign(x: Any, y: Any) -> Any:
    """By choice, not by bits, so that it has a derivative."""
    differ = compare.ne(_is_negative(x), _is_negative(y))
    return compare.select(differ, arithmetic.neg(x), x)


@eager.binary_floats
def heaviside(x1: Any, x2: Any, /) -> Any:
    """The step function: 0 where `x1` is negative, 1 where it is positive, and `x2` where it is 0.

    The operands are promoted, integers and bools to the default float, and broadcast.  Raises
    TypeError for complex numbers.

    >>> jnp.heaviside(jnp.array([-1.5, 0.0, 2.0, jnp.nan]), 0.5)
    Array([0. , 0.5, 1. , nan], dtype=float32)
    """
    x1, x2 = ufunc_operands.floats("heaviside", x1, x2)
    one = linear.constant(1, x1.aval.dtype, True)
    step = compare.select(compare.lt(x1, 0), 0, compare.select(compare.gt(x1, 0), one, x1))
    return compare.select(compare.eq(x1, 0), x2, step)


# ---- neighbours --------------------------------------------------------------------------------
@eager.binary_floats
def nextafter(x1: Any, x2: Any, /) -> Any:
    """The float next to `x1` in the direction of `x2`.

    The operands are promoted, integers and bools to the default float, and broadcast.  Raises
    TypeError for complex numbers and 8-bit floats, NotImplementedError when differentiated.

    >>> jnp.nextafter(jnp.array([1.0, 0.0]), jnp.array([2.0, 0.0]))
    Array([1.0000001, 0.       ], dtype=float32)
    """
    return binary.nextafter(*ufunc_operands.floats("nextafter", x1, x2))


@eager.unary
def spacing(x: Any, /) -> Any:
    """The distance to the next float away from 0, with the sign of `x`; NaN of infinities.

    Integers and bools become the default float.  Of float16, as in NumPy, it is the distance to the
    next larger float, never negative.  Raises TypeError for complex numbers and 8-bit floats.

    >>> jnp.spacing(jnp.array([1.0, -1.0, 1e10]))
    Array([ 1.1920929e-07, -1.1920929e-07,  1.0240000e+03], dtype=float32)
    """
    (x,) = ufunc_operands.floats("spacing", x)
    if x.aval.bits < 16:
        raise ufunc_operands.unsupported("spacing", [x], "convert first: x.astype('float32')")
    if x.aval.dtype == FLOAT16:
        return weak_as(compare.select(unary.is_finite(x), _distance_upwards(x), NAN), x)
    limits = dtypes.finfo(x.aval.dtype)
    digits, infinity = int(limits.nmant), int(limits.maxexp) - int(limits.minexp) + 1
    bits = _bits(x)
    magnitude = _magnitude(bits)
    exponent = binary.shift_right_logical(magnitude, digits)
    # 2**(exponent - digits), normal or subnormal.  By bits, since XLA flushes the latter.
    normal = binary.shift_left(arithmetic.sub(exponent, digits), digits)
    one = linear.constant(1, bits.aval.dtype)
    subnormal = binary.shift_left(one, binary.max(arithmetic.sub(exponent, 1), 0))
    size = compare.select(compare.gt(exponent, digits), normal, subnormal)
    largest = (infinity << digits) - 1
    size = compare.select(compare.eq(magnitude, largest), largest + 1, size)
    sign = compare.select(compare.eq(magnitude, 0), 0, binary.bitwise_xor(bits, magnitude))
    distance = bitcast_convert_type_p(binary.bitwise_or(size, sign), new_dtype=x.aval.dtype)
    return weak_as(compare.select(unary.is_finite(x), distance, NAN), x)


def _distance_upwards(x: Any) -> Any:
    """From a float16 to the next larger one, by way of float32, in which none is subnormal."""
    x = stop_gradient(x)
    above = binary.nextafter(x, linear.constant(INFINITY, FLOAT16))
    return _converted(arithmetic.sub(_converted(above, FLOAT32), _converted(x, FLOAT32)), FLOAT16)


def _magnitude(bits: Any) -> Any:
    """A float's bits without the sign."""
    return binary.bitwise_and(bits, int(dtypes.iinfo(bits.aval.dtype).max))


# ---- exponents ---------------------------------------------------------------------------------
def ldexp(x1: Any, x2: Any, /, out: Any = None, where: Any = None) -> Any:
    """`x1 * 2**x2`, exactly.

    `x1` is a float (integers and bools become the default float), `x2` an integer; they broadcast.
    Raises TypeError for complex `x1` and for an `x2` that is no integer.

    >>> jnp.ldexp(jnp.array([1.0, 0.75]), jnp.array([3, -2]))
    Array([8.    , 0.1875], dtype=float32)
    """
    eager.refuse("ldexp", out, where)
    return _ldexp(x1, x2)


@eager.function(static=())
def _ldexp(x1: Any, x2: Any) -> Any:
    (x,) = ufunc_operands.floats("ldexp", x1)
    (n,) = ufunc_operands.bits("ldexp", x2)
    return weak_as(_scaled(*broadcast("ldexp", (x, _converted(n, INT64)))), x)


def _scaled(x: Any, n: Any) -> Any:
    """`x * 2**n`, n an i64, rounded once: f32 by way of f64, f64 in three steps."""
    if x.aval.dtype != FLOAT64:
        wide = arithmetic.mul(_converted(x, FLOAT64), _power_of_two(n))
        return _converted(wide, x.aval.dtype)
    third = binary.floor_divide(compare.clamp(-3000, n, 3000), 3)
    rest = arithmetic.sub(n, arithmetic.mul(third, 2))
    for part in (third, third, rest):
        x = arithmetic.mul(x, _power_of_two(part))
    return x


def _power_of_two(n: Any) -> Any:
    """2**n in f64, n held between -1000 and 1000."""
    biased = arithmetic.add(compare.clamp(-1000, n, 1000), 1023)
    return bitcast_convert_type_p(binary.shift_left(biased, 52), new_dtype=FLOAT64)


@eager.function(static=())
def _frexp(x: Any) -> tuple[Any, Any]:
    (x,) = ufunc_operands.floats("frexp", x)
    if x.aval.bits < 32:
        mantissa, exponent = _split(_converted(x, FLOAT32))
        return _converted(mantissa, x.aval.dtype), exponent
    mantissa, exponent = _split(x)
    return weak_as(mantissa, x), exponent


def frexp(x: Any, /, out: Any = None, where: Any = None) -> tuple[Any, Any]:
    """The mantissa, from 0.5 to 1, and the exponent: `x == mantissa * 2**exponent`.

    Integers and bools become the default float; the exponent is int32.  Of 0, infinities and NaN
    the mantissa is the number itself, the exponent 0.  Raises TypeError for complex numbers.

    >>> jnp.frexp(jnp.array([8.0, -0.75]))
    (Array([ 0.5 , -0.75], dtype=float32), Array([4, 0], dtype=int32))
    """
    eager.refuse("frexp", out, where)
    return _frexp(x)


def _split(x: Any) -> tuple[Any, Any]:
    """Of f32 or f64; subnormals by their bits, since XLA flushes them."""
    limits = dtypes.finfo(x.aval.dtype)
    digits, bias = int(limits.nmant), 1 - int(limits.minexp)
    bits = _bits(x)
    magnitude = _magnitude(bits)
    field = binary.shift_right_logical(magnitude, digits)
    shift = arithmetic.sub(unary.clz(magnitude), x.aval.bits - 1 - digits)
    subnormal = compare.eq(field, 0)
    field = compare.select(subnormal, arithmetic.sub(1, shift), field)
    exponent = arithmetic.sub(field, bias - 1)
    fraction = binary.bitwise_and(binary.shift_left(magnitude, shift), (1 << digits) - 1)
    sign = binary.bitwise_xor(bits, magnitude)
    small = binary.bitwise_or(binary.bitwise_or(sign, fraction), (bias - 1) << digits)
    small = bitcast_convert_type_p(small, new_dtype=x.aval.dtype)
    scaled = _scaled(x, _converted(arithmetic.neg(exponent), INT64))
    mantissa = compare.select(subnormal, small, scaled)
    special = binary.bitwise_or(compare.eq(magnitude, 0), unary.bitwise_not(unary.is_finite(x)))
    exponent = _converted(compare.select(special, 0, exponent), INT32)
    return compare.select(special, x, mantissa), exponent


@eager.function(static=())
def _modf(x: Any) -> tuple[Any, Any]:
    (x,) = ufunc_operands.floats("modf", x)
    whole = trunc(x)
    rest = compare.select(_is_infinite(x), 0, arithmetic.sub(x, whole))
    return _copysign(rest, x), whole


def modf(x: Any, /, out: Any = None, where: Any = None) -> tuple[Any, Any]:
    """The part after the point and the whole number before it, both with the sign of `x`.

    Integers and bools become the default float.  Raises TypeError for complex numbers.

    >>> jnp.modf(jnp.array([2.5, -0.25]))
    (Array([ 0.5 , -0.25], dtype=float32), Array([ 2., -0.], dtype=float32))
    """
    eager.refuse("modf", out, where)
    return _modf(x)
