"""Exponentials and logarithms."""

from __future__ import annotations

from typing import Any

from hloom.errors import ArgumentError
from hloom.numpy.common import eager, ufunc_operands
from hloom.numpy.common.operands import array_like, promote_inexact
from hloom.ops.pointwise import exponential, special


@eager.unary
def exp(x: Any, /) -> Any:
    """The exponential, e to the power `x`.

    Integers and bools become the default float.

    >>> jnp.exp(jnp.array([0, 1]))
    Array([1.       , 2.7182817], dtype=float32)
    """
    return exponential.exp(*promote_inexact("exp", x))


@eager.unary
def exp2(x: Any, /) -> Any:
    """2 to the power `x`.

    Integers and bools become the default float.

    >>> jnp.exp2(jnp.array([0, 10, -1]))
    Array([1.000e+00, 1.024e+03, 5.000e-01], dtype=float32)
    """
    return exponential.exp2(*promote_inexact("exp2", x))


@eager.unary
def expm1(x: Any, /) -> Any:
    """`exp(x) - 1`, accurate near 0.

    Integers and bools become the default float.

    >>> jnp.expm1(jnp.array([0.0, 1e-10]))
    Array([0.e+00, 1.e-10], dtype=float32)
    """
    return exponential.expm1(*promote_inexact("expm1", x))


@eager.unary
def log(x: Any, /) -> Any:
    """The natural logarithm; of 0 it is -inf, of a negative float NaN.

    Integers and bools become the default float; the branch cut of complex numbers lies along the
    negative reals.

    >>> jnp.log(jnp.array([1.0, 10.0, 0.0, -1.0]))
    Array([0.       , 2.3025851,      -inf,       nan], dtype=float32)
    """
    return exponential.log(*promote_inexact("log", x))


@eager.unary
def log2(x: Any, /) -> Any:
    """The logarithm to base 2; of 0 it is -inf, of a negative float NaN.

    Integers and bools become the default float.

    >>> jnp.log2(jnp.array([1.0, 1024.0, 0.25]))
    Array([ 0., 10., -2.], dtype=float32)
    """
    return exponential.log2(*promote_inexact("log2", x))


@eager.unary
def log10(x: Any, /) -> Any:
    """The logarithm to base 10; of 0 it is -inf, of a negative float NaN.

    Integers and bools become the default float.

    >>> jnp.log10(jnp.array([1.0, 1000.0]))
    Array([0., 3.], dtype=float32)
    """
    return exponential.log10(*promote_inexact("log10", x))


@eager.unary
def log1p(x: Any, /) -> Any:
    """`log(1 + x)`, accurate near 0.

    Integers and bools become the default float.

    >>> jnp.log1p(jnp.array([0.0, 1e-10]))
    Array([0.e+00, 1.e-10], dtype=float32)
    """
    return exponential.log1p(*promote_inexact("log1p", x))


# ---- sums of exponentials, as logarithms ---------------------------------------------------------
@eager.binary_floats
def logaddexp(x1: Any, x2: Any, /) -> Any:
    """`log(exp(x1) + exp(x2))`, without overflow.

    The operands are promoted, integers and bools to the default float, and broadcast.  Differs from
    NumPy, which takes no complex numbers: here the imaginary part is between -pi and pi.

    >>> jnp.logaddexp(jnp.array([0.0, 1e4]), jnp.array([-jnp.inf, 0.0]))
    Array([    0., 10000.], dtype=float32)
    """
    return exponential.logaddexp(*promote_inexact("logaddexp", x1, x2))


@eager.binary_floats
def logaddexp2(x1: Any, x2: Any, /) -> Any:
    """`log2(2**x1 + 2**x2)`, without overflow.

    The operands are promoted, integers and bools to the default float, and broadcast.  Differs from
    NumPy, which takes no complex numbers: here the imaginary part is between -pi and pi, divided by
    log(2).

    >>> jnp.logaddexp2(jnp.array([1000.0, 0.0]), jnp.array([1000.0, -jnp.inf]))
    Array([1001.,    0.], dtype=float32)
    """
    return exponential.logaddexp2(*promote_inexact("logaddexp2", x1, x2))


# ---- Bessel ------------------------------------------------------------------------------------
@eager.unary
def i0(x: Any, /) -> Any:
    """The modified Bessel function of the first kind, of order 0.

    Integers and bools become the default float.  Raises TypeError for complex numbers.

    >>> jnp.i0(jnp.array([0.0, 1.0]))
    Array([1.       , 1.2660658], dtype=float32)
    """
    if ufunc_operands.is_complex(array_like("i0", x)):
        raise ArgumentError("i0 not supported for complex values; take jnp.abs(x) or jnp.real(x)")
    return special.bessel_i0(*ufunc_operands.floats("i0", x))
