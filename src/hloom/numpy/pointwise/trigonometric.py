"""Circular and hyperbolic functions, their inverses, angles."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from hloom.numpy.common import eager, ufunc_operands
from hloom.numpy.common.operands import promote_inexact
from hloom.numpy.common.ufunc_operands import is_complex
from hloom.ops.pointwise import arithmetic, compare, trigonometric, unary


# ---- circular ----------------------------------------------------------------------------------
@eager.unary
def sin(x: Any, /) -> Any:
    """The sine of an angle in radians.

    Integers and bools become the default float.

    >>> jnp.sin(jnp.array([0.0, jnp.pi / 2]))
    Array([0., 1.], dtype=float32)
    """
    return trigonometric.sin(*promote_inexact("sin", x))


@eager.unary
def cos(x: Any, /) -> Any:
    """The cosine of an angle in radians.

    Integers and bools become the default float.

    >>> jnp.cos(jnp.array([0.0, jnp.pi]))
    Array([ 1., -1.], dtype=float32)
    """
    return trigonometric.cos(*promote_inexact("cos", x))


@eager.unary
def tan(x: Any, /) -> Any:
    """The tangent of an angle in radians.

    Integers and bools become the default float.

    >>> jnp.tan(jnp.array([0.0, 0.5]))
    Array([0.       , 0.5463025], dtype=float32)
    """
    return trigonometric.tan(*promote_inexact("tan", x))


@eager.unary
def arcsin(x: Any, /) -> Any:
    """The angle in radians, from -pi/2 to pi/2, whose sine is `x`; NaN for floats beyond 1.

    Integers and bools become the default float; complex numbers have branch cuts on the real axis
    beyond -1 and 1.

    >>> jnp.arcsin(jnp.array([0.0, 1.0, 2.0]))
    Array([0.       , 1.5707964,       nan], dtype=float32)
    """
    return trigonometric.asin(*promote_inexact("arcsin", x))


asin = arcsin


@eager.unary
def arccos(x: Any, /) -> Any:
    """The angle in radians, from 0 to pi, whose cosine is `x`; NaN for floats beyond 1.

    Integers and bools become the default float; complex numbers have branch cuts on the real axis
    beyond -1 and 1.

    >>> jnp.arccos(jnp.array([1.0, 0.0, 2.0]))
    Array([0.       , 1.5707964,       nan], dtype=float32)
    """
    return trigonometric.acos(*promote_inexact("arccos", x))


acos = arccos


@eager.unary
def arctan(x: Any, /) -> Any:
    """The angle in radians, from -pi/2 to pi/2, whose tangent is `x`.

    Integers and bools become the default float; complex numbers have branch cuts on the imaginary
    axis beyond -1j and 1j.

    >>> jnp.arctan(jnp.array([0.0, jnp.inf, -jnp.inf]))
    Array([ 0.       ,  1.5707964, -1.5707964], dtype=float32)
    """
    return trigonometric.atan(*promote_inexact("arctan", x))


atan = arctan


@eager.binary_floats
def arctan2(x1: Any, x2: Any, /) -> Any:
    """The angle in radians, from -pi to pi, of the point with height `x1` and width `x2`.

    The operands are promoted, integers and bools to the default float, and broadcast.  Raises
    TypeError for complex numbers.

    >>> jnp.arctan2(jnp.array([1.0, -1.0]), jnp.array([-1.0, 0.0]))
    Array([ 2.3561945, -1.5707964], dtype=float32)
    """
    return trigonometric.atan2(*ufunc_operands.floats("arctan2", x1, x2))


atan2 = arctan2


# ---- hyperbolic --------------------------------------------------------------------------------
@eager.unary
def sinh(x: Any, /) -> Any:
    """The hyperbolic sine.

    Integers and bools become the default float.

    >>> jnp.sinh(jnp.array([0.0, 1.0]))
    Array([0.       , 1.1752012], dtype=float32)
    """
    return trigonometric.sinh(*promote_inexact("sinh", x))


@eager.unary
def cosh(x: Any, /) -> Any:
    """The hyperbolic cosine.

    Integers and bools become the default float.

    >>> jnp.cosh(jnp.array([0.0, jnp.inf]))
    Array([ 1., inf], dtype=float32)
    """
    return trigonometric.cosh(*promote_inexact("cosh", x))


@eager.unary
def tanh(x: Any, /) -> Any:
    """The hyperbolic tangent.

    Integers and bools become the default float.

    >>> jnp.tanh(jnp.array([0.0, 100.0]))
    Array([0., 1.], dtype=float32)
    """
    return trigonometric.tanh(*promote_inexact("tanh", x))


@eager.unary
def arcsinh(x: Any, /) -> Any:
    """The number whose hyperbolic sine is `x`.

    Integers and bools become the default float.

    >>> jnp.arcsinh(jnp.array([0.0, 1.0]))
    Array([0.       , 0.8813736], dtype=float32)
    """
    return trigonometric.asinh(*promote_inexact("arcsinh", x))


asinh = arcsinh


@eager.unary
def arccosh(x: Any, /) -> Any:
    """The number, not negative, whose hyperbolic cosine is `x`; NaN for floats below 1.

    Integers and bools become the default float; complex numbers have a branch cut on the real axis
    below 1.

    >>> jnp.arccosh(jnp.array([1.0, 0.0]))
    Array([ 0., nan], dtype=float32)
    """
    return trigonometric.acosh(*promote_inexact("arccosh", x))


acosh = arccosh


@eager.unary
def arctanh(x: Any, /) -> Any:
    """The number whose hyperbolic tangent is `x`; NaN for floats beyond 1.

    Integers and bools become the default float; complex numbers have branch cuts on the real axis
    beyond -1 and 1.

    >>> jnp.arctanh(jnp.array([0.0, 1.0, 2.0]))
    Array([ 0., inf, nan], dtype=float32)
    """
    return trigonometric.atanh(*promote_inexact("arctanh", x))


atanh = arctanh


# ---- angles ------------------------------------------------------------------------------------
@eager.unary
def deg2rad(x: Any, /) -> Any:
    """Degrees in radians.

    Integers and bools become the default float.  Raises TypeError for complex numbers.

    >>> jnp.deg2rad(jnp.array([0, 90, 180]))
    Array([0.       , 1.5707964, 3.1415927], dtype=float32)
    """
    scaled = partial(arithmetic.mul, math.pi / 180)
    return ufunc_operands.in_float32(scaled, *ufunc_operands.floats("deg2rad", x))


radians = deg2rad


@eager.unary
def rad2deg(x: Any, /) -> Any:
    """Radians in degrees.

    Integers and bools become the default float.  Raises TypeError for complex numbers.

    >>> jnp.rad2deg(jnp.array([0.0, jnp.pi]))
    Array([  0., 180.], dtype=float32)
    """
    scaled = partial(arithmetic.mul, 180 / math.pi)
    return ufunc_operands.in_float32(scaled, *ufunc_operands.floats("rad2deg", x))


degrees = rad2deg


@eager.unary
def sinc(x: Any, /) -> Any:
    """`sin(pi x) / (pi x)`, and 1 at 0, where all derivatives are right too.

    Integers and bools become the default float.

    >>> jnp.sinc(jnp.array([0.0, 0.5, 1.0]))
    Array([ 1.0000000e+00,  6.3661975e-01, -2.7827534e-08], dtype=float32)
    """
    return ufunc_operands.in_float32(_sinc, *promote_inexact("sinc", x))


def _sinc(x: Any) -> Any:
    y = arithmetic.mul(x, math.pi)
    near = compare.lt(unary.abs(y), 1.0)  # there its series: the derivatives of a quotient cancel
    small = compare.select(near, y, 0.0)  # what is not chosen must have a derivative too
    far = compare.select(near, 1.0, y)
    return compare.select(near, _sinc_series(small), arithmetic.div(trigonometric.sin(far), far))


def _sinc_series(y: Any) -> Any:
    """The sum of (-y*y)**k / (2k + 1)!, up to what is below 1 ulp where abs(y) < 1."""
    terms = 7 if y.aval.bits == (64 if is_complex(y) else 32) else 10
    square = unary.square(y)
    total: Any = 0.0
    for k in reversed(range(terms)):
        total = arithmetic.add(arithmetic.mul(square, total), (-1) ** k / math.factorial(2 * k + 1))
    return total
