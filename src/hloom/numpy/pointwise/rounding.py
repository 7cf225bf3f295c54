"""Whole numbers near a number."""

from __future__ import annotations

import builtins
from typing import Any

from hloom import dtypes
from hloom.numpy.common import eager, ufunc_operands
from hloom.numpy.common.arguments import count_argument
from hloom.numpy.common.operands import array_like, promote_inexact
from hloom.numpy.common.ufunc_operands import kind_of
from hloom.ops.pointwise import arithmetic, binary, compare, unary
from hloom.ops.pointwise.complex import complex as complex_of
from hloom.ops.pointwise.complex import imag, real
from hloom.ops.pointwise.convert import convert_element_type_p
from hloom.ops.pointwise.unary import RoundingMethod


@eager.unary
def floor(x: Any, /) -> Any:
    """The largest whole number that is not larger; integers and bools stay as they are.

    Raises TypeError for complex numbers.

    >>> jnp.floor(jnp.array([-1.5, 0.5, 2.0]))
    Array([-2.,  0.,  2.], dtype=float32)
    """
    (x,) = ufunc_operands.reals("floor", x)
    return unary.floor(x) if kind_of(x) == "float" else x


@eager.unary
def ceil(x: Any, /) -> Any:
    """The smallest whole number that is not smaller; integers and bools stay as they are.

    Raises TypeError for complex numbers.

    >>> jnp.ceil(jnp.array([-1.5, 0.5, 2.0]))
    Array([-1.,  1.,  2.], dtype=float32)
    """
    (x,) = ufunc_operands.reals("ceil", x)
    return unary.ceil(x) if kind_of(x) == "float" else x


@eager.unary
def trunc(x: Any, /) -> Any:
    """The whole number next to `x` on the way to 0; integers and bools stay as they are.

    Raises TypeError for complex numbers.

    >>> jnp.trunc(jnp.array([-1.5, 0.5, 2.0]))
    Array([-1.,  0.,  2.], dtype=float32)
    """
    return _towards_zero(*ufunc_operands.reals("trunc", x))


def _towards_zero(x: Any) -> Any:
    if kind_of(x) != "float":
        return x
    return compare.select(compare.lt(x, 0), unary.ceil(x), unary.floor(x))


@eager.unary
def fix(x: Any, /) -> Any:
    """The whole number next to `x` on the way to 0: `trunc` by another name.

    Raises TypeError for complex numbers.

    >>> jnp.fix(jnp.array([-1.5, 0.5, 2.0]))
    Array([-1.,  0.,  2.], dtype=float32)
    """
    return _towards_zero(*ufunc_operands.reals("fix", x))


@eager.unary
def rint(x: Any, /) -> Any:
    """The nearest whole number; halves go to the even one.  Complex numbers by their parts.

    Integers and bools become the default float.

    >>> jnp.rint(jnp.array([0.5, 1.5, -1.7]))
    Array([ 0.,  2., -2.], dtype=float32)
    """
    return _nearest(*promote_inexact("rint", x))


def _nearest(x: Any) -> Any:
    if ufunc_operands.is_complex(x):
        return complex_of(_nearest(real(x)), _nearest(imag(x)))
    return unary.round(x, RoundingMethod.TO_NEAREST_EVEN)


# ---- to a number of decimals ---------------------------------------------------------------------
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Rounded to so many decimals, halves to the even digit; negative ones count before the point.

    Integers stay integers; complex numbers are rounded by their parts.  Raises TypeError for
    `decimals` that are no integer.  Differs from NumPy: integers are rounded exactly, and where
    10**decimals is beyond the dtype, the result is `a`, or 0, and not NaN.

    >>> jnp.round(jnp.array([0.5, 1.25, -2.345]), 1)
    Array([ 0.5,  1.2, -2.3], dtype=float32)
    >>> jnp.round(jnp.array([15, 25, 35]), -1)
    Array([20, 20, 40], dtype=int32)
    """
    eager.refuse("round", out, None)
    return _round(a, count_argument("round", "decimals", decimals))


around = round


@eager.planned
def _round(a: Any, decimals: int) -> Any:
    x = array_like("round", a)
    match kind_of(x):
        case "bool":
            return _nearest(*promote_inexact("round", x))
        case "signed" | "unsigned":
            return x if decimals >= 0 else _round_integer(x, -decimals)
        case "complex":
            return complex_of(_round_float(real(x), decimals), _round_float(imag(x), decimals))
        case _:
            return _round_float(x, decimals)


def _round_float(x: Any, decimals: int) -> Any:
    """As NumPy: scaled, rounded and scaled back, in the dtype itself."""
    if decimals == 0:
        return _nearest(x)
    scale = _power_of_ten(builtins.abs(decimals))
    if scale > float(dtypes.finfo(x.aval.dtype).max):
        return x if decimals > 0 else arithmetic.mul(x, 0)
    if decimals > 0:
        return arithmetic.div(_nearest(arithmetic.mul(x, scale)), scale)
    return arithmetic.mul(_nearest(arithmetic.div(x, scale)), scale)


def _power_of_ten(exponent: int) -> float:
    """By products, as NumPy has it: beyond 1e22 not the nearest float."""
    power = 1.0
    for _ in range(builtins.min(exponent, 400)):
        power *= 10.0
    return power


def _round_integer(x: Any, digits: int) -> Any:
    """To a multiple of 10**digits."""
    step = 10 ** builtins.min(digits, 20)  # more than any integer dtype holds
    if step > int(dtypes.iinfo(x.aval.dtype).max):
        return arithmetic.mul(x, 0)
    quotient, rest, half = binary.floor_divide(x, step), binary.mod(x, step), step // 2
    odd = compare.ne(binary.bitwise_and(quotient, 1), 0)
    up = binary.bitwise_or(compare.gt(rest, half), binary.bitwise_and(compare.eq(rest, half), odd))
    up = convert_element_type_p(up, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type)
    return arithmetic.mul(arithmetic.add(quotient, up), step)
