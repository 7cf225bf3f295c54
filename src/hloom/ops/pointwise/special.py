"""Special functions: error functions, the logarithm of gamma and its derivatives, Bessel."""

from __future__ import annotations

import math
from functools import cache
from math import factorial
from typing import Any

from hloom.ops.common.elementwise import Elementwise
from hloom.ops.common.expression import FLOAT32
from hloom.ops.elementary import special_definitions, special_functions
from hloom.ops.pointwise.arithmetic import add, div, mul, neg, polynomial, sub
from hloom.ops.pointwise.compare import eq, gt, lt, pick
from hloom.ops.pointwise.exponential import exp
from hloom.ops.pointwise.partials import gaussian, in_float32
from hloom.ops.pointwise.unary import abs, sign, square

# ---- error function --------------------------------------------------------------------------
erf_p = Elementwise(
    "erf",
    formula=special_functions.erf,
    numpy=special_definitions.erf,
    jvp=[in_float32(lambda t, out, x: mul(t, mul(gaussian(x), 2 / math.sqrt(math.pi))))],
    domain="float",
)


def erf(x: Any) -> Any:
    """The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to `x`.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.erf(jnp.array([0.0, 1.0]))
    Array([0.       , 0.8427008], dtype=float32)
    """
    return erf_p(x)


erfc_p = Elementwise(
    "erfc",
    formula=special_functions.erfc,
    numpy=special_definitions.erfc,
    jvp=[in_float32(lambda t, out, x: mul(t, mul(gaussian(x), -2 / math.sqrt(math.pi))))],
    domain="float",
)


def erfc(x: Any) -> Any:
    """`1 - erf(x)`, accurate where erf is close to 1.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.erfc(jnp.array([0.0, 5.0]))
    Array([1.0000000e+00, 1.5374598e-12], dtype=float32)
    """
    return erfc_p(x)


erf_inv_p = Elementwise(
    "erf_inv",
    formula=special_functions.erf_inv,
    numpy=special_definitions.erf_inv,
    jvp=[in_float32(lambda t, out, x: mul(t, mul(exp(square(out)), math.sqrt(math.pi) / 2)))],
    domain="float",
)


def erf_inv(x: Any) -> Any:
    """The number whose `erf` is `x`; infinite at -1 and 1, NaN beyond.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.erf_inv(jnp.array([0.0, 0.5]))
    Array([0.        , 0.47693628], dtype=float32)
    """
    return erf_inv_p(x)


# ---- gamma -----------------------------------------------------------------------------------
lgamma_p = Elementwise(
    "lgamma",
    formula=special_functions.lgamma,
    numpy=special_definitions.lgamma,
    jvp=[in_float32(lambda t, out, x: mul(t, digamma(x)))],
    domain="float",
)


def lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function.

    Takes and gives floats; infinite at 0 and the negative whole numbers.  Raises TypeError for
    other dtypes.

    >>> lax.lgamma(jnp.array([1.0, 5.0]))
    Array([0.       , 3.1780539], dtype=float32)
    """
    return lgamma_p(x)


digamma_p = Elementwise(
    "digamma",
    formula=special_functions.digamma,
    numpy=special_definitions.digamma,
    jvp=[in_float32(lambda t, out, x: mul(t, zeta(2.0, x)))],
    domain="float",
)


def digamma(x: Any) -> Any:
    """The derivative of `lgamma`; NaN at the negative whole numbers.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.digamma(jnp.array([1.0, 2.0]))
    Array([-0.5772157 ,  0.42278433], dtype=float32)
    """
    return digamma_p(x)


polygamma_p = Elementwise(
    "polygamma",
    formula=special_functions.polygamma,
    numpy=special_definitions.polygamma,
    jvp=[None, lambda t, out, n, x: mul(t, polygamma(add(n, 1), x))],
    domain="float",
)


def polygamma(m: Any, x: Any) -> Any:
    """The `m`-th derivative of `digamma`, for whole `m` >= 0; NaN for other `m`.

    Takes two operands of one float dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise, and NotImplementedError when differentiated by `m`.

    >>> lax.polygamma(1.0, jnp.array([1.0, 2.0]))
    Array([1.644934  , 0.64493406], dtype=float32)
    """
    return polygamma_p(m, x)


zeta_p = Elementwise(
    "zeta",
    formula=special_functions.zeta,
    numpy=special_definitions.zeta,
    jvp=[None, lambda t, out, x, q: neg(mul(t, mul(x, zeta(add(x, 1), q))))],
    domain="float",
)


def zeta(x: Any, q: Any) -> Any:
    """Hurwitz' zeta function, the sum of `(q + k)**-x` over k = 0, 1, 2, ...

    NaN for `x` below 1; infinite at 1 and where `q` is 0 or a negative whole number.  Other
    negative `q` take whole `x`.
    Takes two operands of one float dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise, and NotImplementedError when differentiated by `x`.

    >>> lax.zeta(jnp.array([2.0, 4.0]), 1.0)
    Array([1.644934 , 1.0823232], dtype=float32)
    """
    return zeta_p(x, q)


# ---- Bessel ------------------------------------------------------------------------------------
# 1 - I1(x) / I0(x) in powers of 1/x, from its Riccati equation: the two are alike where x is large.
_FAR = 30.0


@cache
def _excess_coefficients(terms: int) -> tuple[float, ...]:
    c = [0.0, 0.5]
    for k in range(1, terms):
        c.append(((k - 1) * c[k] + sum(c[i] * c[k + 1 - i] for i in range(1, k + 1))) / 2)
    return tuple(c)


def _excess(x: Any, i0e: Any, i1e: Any) -> Any:
    """sign(x) * i0e(x) - i1e(x)."""
    far = gt(abs(x), _FAR)
    inverse = div(1, pick(far, x, _FAR))
    series = polynomial(mul(inverse, sign(x)), _excess_coefficients(8 if _is_single(x) else 20))
    return pick(far, mul(mul(sign(x), i0e), series), sub(mul(sign(x), i0e), i1e))


def _is_single(x: Any) -> bool:
    return bool(x.aval.dtype == FLOAT32)


def _i1_over_x(x: Any) -> Any:
    """I1(x) / x, where abs(x) < 1."""
    terms = 7 if _is_single(x) else 10
    series = [2.0 ** (-2 * k - 1) / (factorial(k) * factorial(k + 1)) for k in range(terms)]
    return polynomial(square(x), series)


bessel_i0e_p = Elementwise(
    "bessel_i0e",
    formula=lambda x: special_functions.bessel(x, 0),
    numpy=special_definitions.bessel_i0e,
    jvp=[in_float32(lambda t, out, x: neg(mul(t, _excess(x, out, bessel_i1e(x)))))],
    domain="float",
)


def bessel_i0e(x: Any) -> Any:
    """`exp(-abs(x))` times the modified Bessel function of the first kind of order 0.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.bessel_i0e(jnp.array([0.0, 1.0]))
    Array([1.       , 0.4657596], dtype=float32)
    """
    return bessel_i0e_p(x)


def _i1e_tangent(t: Any, out: Any, x: Any) -> Any:
    """i0e(x) - sign(x) * i1e(x) - i1e(x) / x."""
    near = lt(abs(x), 1)
    small, large = pick(near, x, 0), pick(near, 1, x)
    near_ratio = mul(exp(neg(mul(small, sign(small)))), _i1_over_x(small))
    ratio = pick(near, near_ratio, div(out, large))
    i0e = bessel_i0e(x)
    rest = pick(eq(x, 0), i0e, mul(sign(x), _excess(x, i0e, out)))
    return mul(t, sub(rest, ratio))


bessel_i1e_p = Elementwise(
    "bessel_i1e",
    formula=lambda x: special_functions.bessel(x, 1),
    numpy=special_definitions.bessel_i1e,
    jvp=[in_float32(_i1e_tangent)],
    domain="float",
)


def bessel_i1e(x: Any) -> Any:
    """`exp(-abs(x))` times the modified Bessel function of the first kind of order 1.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.bessel_i1e(jnp.array([0.0, 1.0]))
    Array([0.        , 0.20791042], dtype=float32)
    """
    return bessel_i1e_p(x)


def _bessel_i1(x: Any) -> Any:
    """The modified Bessel function of order 1, with all its derivatives."""
    near, infinite = lt(abs(x), 1), eq(abs(x), math.inf)
    small, large = pick(near, x, 0), pick(near, 1, pick(infinite, 1, x))
    half = exp(mul(abs(large), 0.5))
    far = pick(infinite, x, mul(mul(half, bessel_i1e(large)), half))
    return pick(near, mul(small, _i1_over_x(small)), far)


bessel_i0_p = Elementwise(
    "bessel_i0",
    formula=special_functions.i0,
    numpy=special_definitions.i0,
    jvp=[in_float32(lambda t, out, x: mul(t, _bessel_i1(x)))],
    domain="float",
)


def bessel_i0(x: Any) -> Any:
    """The modified Bessel function of the first kind of order 0.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> hloom.ops.pointwise.special.bessel_i0(jnp.array([0.0, 1.0]))
    Array([1.       , 1.2660658], dtype=float32)
    """
    return bessel_i0_p(x)
