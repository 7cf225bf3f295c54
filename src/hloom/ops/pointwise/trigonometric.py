"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hloom.ops.common.elementwise import Elementwise
from hloom.ops.elementary import complex_functions, real_functions
from hloom.ops.pointwise.accuracy import check_accuracy
from hloom.ops.pointwise.arithmetic import add, div, mul, neg, one_minus_square, sub
from hloom.ops.pointwise.compare import gt, pick
from hloom.ops.pointwise.complex import real
from hloom.ops.pointwise.euclid import hypot
from hloom.ops.pointwise.exponential import exp
from hloom.ops.pointwise.partials import in_float32
from hloom.ops.pointwise.unary import abs, is_complex, rsqrt, square

# ---- of angles -------------------------------------------------------------------------------
sin_p = Elementwise(
    "sin",
    formula={"float": real_functions.sin, "complex": complex_functions.sin},
    numpy=np.sin,
    jvp=[lambda t, out, x: mul(t, cos(x))],
    domain="inexact",
)


def sin(x: Any, *, accuracy: Any = None) -> Any:
    """The sine, of an angle in radians.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.sin(jnp.array([0.0, 1.0]))
    Array([0.        , 0.84147096], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("sin", accuracy, x)
    return sin_p(x)


cos_p = Elementwise(
    "cos",
    formula={"float": real_functions.cos, "complex": complex_functions.cos},
    numpy=np.cos,
    jvp=[lambda t, out, x: neg(mul(t, sin(x)))],
    domain="inexact",
)


def cos(x: Any, *, accuracy: Any = None) -> Any:
    """The cosine, of an angle in radians.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.cos(jnp.array([0.0, 1.0]))
    Array([1.       , 0.5403023], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("cos", accuracy, x)
    return cos_p(x)


def _sech_squared(x: Any, tanh: Any) -> Any:
    """1 - tanh**2, which cancels where tanh is close to 1; near 0 and the poles it does not."""
    side = real(x) if is_complex(x) else x
    e = exp(mul(pick(gt(side, 0), x, neg(x)), -2))
    far = div(mul(e, 4), square(add(e, 1)))
    return pick(gt(abs(side), 1), far, one_minus_square(tanh))


def _tan_tangent(t: Any, out: Any, x: Any) -> Any:
    if is_complex(x):
        return mul(t, _sech_squared(mul(x, 1j), mul(out, 1j)))
    return mul(t, add(1, square(out)))


tan_p = Elementwise(
    "tan",
    formula={"float": real_functions.tan, "complex": complex_functions.tan},
    numpy=np.tan,
    jvp=[in_float32(_tan_tangent)],
    domain="inexact",
)


def tan(x: Any, *, accuracy: Any = None) -> Any:
    """The tangent, of an angle in radians.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.tan(jnp.array([0.0, 1.0]))
    Array([0.       , 1.5574077], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("tan", accuracy, x)
    return tan_p(x)


def _inverse_root(x: Any, root: Callable[[Any], Any], out: Any) -> Any:
    """1 / sqrt(1 - x*x), which is `1 / root(out)` too: of large complex numbers that is taken."""
    if not is_complex(x):
        return rsqrt(one_minus_square(x))
    far = gt(abs(x), 2)
    return pick(far, div(1, root(out)), rsqrt(one_minus_square(pick(far, 0, x))))


_LARGE = 2.0**32  # 1 - x*x is -x*x from here on


def _inverse(x: Any) -> Any:
    """1 / (1 - x*x); of large complex numbers the square may be NaN."""
    if not is_complex(x):
        return div(1, one_minus_square(x))
    far = gt(abs(x), _LARGE)
    distant = neg(square(div(1, pick(far, x, 1))))
    return pick(far, distant, div(1, one_minus_square(pick(far, 0, x))))


asin_p = Elementwise(
    "asin",
    formula={"float": real_functions.asin, "complex": complex_functions.asin},
    numpy=np.arcsin,
    jvp=[in_float32(lambda t, out, x: mul(t, _inverse_root(x, cos, out)))],
    domain="inexact",
)


def asin(x: Any) -> Any:
    """The inverse sine, in radians from -pi/2 to pi/2; NaN for floats beyond -1 and 1.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.asin(jnp.array([0.0, 0.5]))
    Array([0.       , 0.5235988], dtype=float32)
    """
    return asin_p(x)


acos_p = Elementwise(
    "acos",
    formula={"float": real_functions.acos, "complex": complex_functions.acos},
    numpy=np.arccos,
    jvp=[in_float32(lambda t, out, x: neg(mul(t, _inverse_root(x, sin, out))))],
    domain="inexact",
)


def acos(x: Any) -> Any:
    """The inverse cosine, in radians from 0 to pi; NaN for floats beyond -1 and 1.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.acos(jnp.array([1.0, 0.5]))
    Array([0.       , 1.0471976], dtype=float32)
    """
    return acos_p(x)


def _atan_tangent(t: Any, out: Any, x: Any) -> Any:
    if is_complex(x):
        return mul(t, _inverse(mul(x, 1j)))  # exact near the poles
    return div(t, add(1, square(x)))


atan_p = Elementwise(
    "atan",
    formula={"float": real_functions.atan, "complex": complex_functions.atan},
    numpy=np.arctan,
    jvp=[in_float32(_atan_tangent)],
    domain="inexact",
)


def atan(x: Any) -> Any:
    """The inverse tangent, in radians from -pi/2 to pi/2.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.atan(jnp.array([0.0, 1.0]))
    Array([0.       , 0.7853982], dtype=float32)
    """
    return atan_p(x)


def _atan2_share(t: Any, y: Any, x: Any, numerator: Any) -> Any:
    """t * numerator / (x*x + y*y), without overflow; numerator is x or -y."""
    length = hypot(x, y)
    return mul(t, div(div(numerator, length), length))


atan2_p = Elementwise(
    "atan2",
    formula=real_functions.atan2,
    numpy=np.arctan2,
    jvp=[
        in_float32(lambda t, out, y, x: _atan2_share(t, y, x, x)),
        in_float32(lambda t, out, y, x: _atan2_share(t, y, x, neg(y))),
    ],
    domain="float",
)


def atan2(x: Any, y: Any) -> Any:
    """The angle of the point with abscissa `y` and ordinate `x`, in radians from -pi to pi.

    Takes two operands of one float dtype and one rank, or one of them 0-d.  The signs of zeros
    tell the quadrant, as in NumPy's `arctan2`.  Raises TypeError otherwise.

    >>> lax.atan2(jnp.array([1.0, -1.0]), jnp.array([0.0, -0.0]))
    Array([ 1.5707964, -1.5707964], dtype=float32)
    """
    return atan2_p(x, y)


# ---- hyperbolic ------------------------------------------------------------------------------
sinh_p = Elementwise(
    "sinh",
    formula={"float": real_functions.sinh, "complex": complex_functions.sinh},
    numpy=np.sinh,
    jvp=[lambda t, out, x: mul(t, cosh(x))],
    domain="inexact",
)


def sinh(x: Any) -> Any:
    """The hyperbolic sine.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.sinh(jnp.array([0.0, 1.0]))
    Array([0.       , 1.1752012], dtype=float32)
    """
    return sinh_p(x)


cosh_p = Elementwise(
    "cosh",
    formula={"float": real_functions.cosh, "complex": complex_functions.cosh},
    numpy=np.cosh,
    jvp=[lambda t, out, x: mul(t, sinh(x))],
    domain="inexact",
)


def cosh(x: Any) -> Any:
    """The hyperbolic cosine.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.cosh(jnp.array([0.0, 1.0]))
    Array([1.       , 1.5430807], dtype=float32)
    """
    return cosh_p(x)


tanh_p = Elementwise(
    "tanh",
    formula={"float": real_functions.tanh, "complex": complex_functions.tanh},
    numpy=np.tanh,
    jvp=[in_float32(lambda t, out, x: mul(t, _sech_squared(x, out)))],
    domain="inexact",
)


def tanh(x: Any, *, accuracy: Any = None) -> Any:
    """The hyperbolic tangent.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.tanh(jnp.array([0.0, 1.0]))
    Array([0.       , 0.7615942], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("tanh", accuracy, x)
    return tanh_p(x)


def _asinh_tangent(t: Any, out: Any, x: Any) -> Any:
    """t / sqrt(1 + x*x), without overflow."""
    if is_complex(x):
        return mul(t, _inverse_root(mul(x, 1j), cosh, out))
    return div(t, hypot(x, 1))


asinh_p = Elementwise(
    "asinh",
    formula={"float": real_functions.asinh, "complex": complex_functions.asinh},
    numpy=np.arcsinh,
    jvp=[in_float32(_asinh_tangent)],
    domain="inexact",
)


def asinh(x: Any) -> Any:
    """The inverse hyperbolic sine.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.asinh(jnp.array([0.0, 1.0]))
    Array([0.       , 0.8813736], dtype=float32)
    """
    return asinh_p(x)


acosh_p = Elementwise(
    "acosh",
    formula={"float": real_functions.acosh, "complex": complex_functions.acosh},
    numpy=np.arccosh,
    jvp=[in_float32(lambda t, out, x: mul(t, mul(rsqrt(sub(x, 1)), rsqrt(add(x, 1)))))],
    domain="inexact",
)


def acosh(x: Any) -> Any:
    """The inverse hyperbolic cosine; NaN for floats below 1.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.acosh(jnp.array([1.0, 2.0]))
    Array([0.      , 1.316958], dtype=float32)
    """
    return acosh_p(x)


atanh_p = Elementwise(
    "atanh",
    formula={"float": real_functions.atanh, "complex": complex_functions.atanh},
    numpy=np.arctanh,
    jvp=[in_float32(lambda t, out, x: mul(t, _inverse(x)))],
    domain="inexact",
)


def atanh(x: Any) -> Any:
    """The inverse hyperbolic tangent; NaN for floats beyond -1 and 1, which give -inf and inf.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.atanh(jnp.array([0.0, 0.5]))
    Array([0.        , 0.54930615], dtype=float32)
    """
    return atanh_p(x)
