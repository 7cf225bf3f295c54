"""Special functions: error functions, the logarithm of gamma and its derivatives, Bessel."""

from __future__ import annotations

import math
from typing import Any

from hloom.ops import special_numpy, special_programs
from hloom.ops.arithmetic import add, div, mul, neg, sub
from hloom.ops.compare import eq, select
from hloom.ops.elementwise import Elementwise
from hloom.ops.exponential import exp
from hloom.ops.formula import Term, chlo, where
from hloom.ops.unary import sign, square

# ---- error function --------------------------------------------------------------------------
erf_p = Elementwise(
    "erf",
    formula=lambda x: chlo("erf", x),
    numpy=special_numpy.erf,
    jvp=[lambda t, out, x: mul(t, mul(exp(neg(square(x))), 2 / math.sqrt(math.pi)))],
    domain="float",
)


def erf(x: Any) -> Any:
    """The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to `x`.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.erf(jnp.array([0.0, 1.0]))
    Array([0.        , 0.84270084], dtype=float32)
    """
    return erf_p(x)


erfc_p = Elementwise(
    "erfc",
    formula=special_programs.erfc,
    numpy=special_numpy.erfc,
    jvp=[lambda t, out, x: mul(t, mul(exp(neg(square(x))), -2 / math.sqrt(math.pi)))],
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
    formula=special_programs.erf_inv,
    numpy=special_numpy.erf_inv,
    jvp=[lambda t, out, x: mul(t, mul(exp(square(out)), math.sqrt(math.pi) / 2))],
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
    formula=special_programs.lgamma,
    numpy=special_numpy.lgamma,
    jvp=[lambda t, out, x: mul(t, digamma(x))],
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
    formula=special_programs.digamma,
    numpy=special_numpy.digamma,
    jvp=[lambda t, out, x: mul(t, polygamma(1.0, x))],
    domain="float",
)


def digamma(x: Any) -> Any:
    """The derivative of `lgamma`; NaN at the negative whole numbers.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.digamma(jnp.array([1.0, 2.0]))
    Array([-0.5772157 ,  0.42278433], dtype=float32)
    """
    return digamma_p(x)


def _zero_at_infinity(value: Term, x: Term) -> Term:
    """XLA's own is NaN there."""
    return where(x == math.inf, where(value == value, value, value.full(0.0)), value)


polygamma_p = Elementwise(
    "polygamma",
    formula=lambda n, x: _zero_at_infinity(chlo("polygamma", n, x), x),
    numpy=special_numpy.polygamma,
    jvp=[None, lambda t, out, n, x: mul(t, polygamma(add(n, 1), x))],
    domain="float",
)


def polygamma(m: Any, x: Any) -> Any:
    """The `m`-th derivative of `digamma`, for whole `m` >= 0 and positive `x`.

    Takes two operands of one float dtype and one shape, or one of them 0-d.  Raises TypeError
    otherwise, and NotImplementedError when differentiated by `m`.

    >>> lax.polygamma(1.0, jnp.array([1.0, 2.0]))
    Array([1.644934  , 0.64493406], dtype=float32)
    """
    return polygamma_p(m, x)


zeta_p = Elementwise(
    "zeta",
    formula=lambda x, q: _zero_at_infinity(chlo("zeta", x, q), q),
    numpy=special_numpy.zeta,
    jvp=[None, lambda t, out, x, q: neg(mul(t, mul(x, zeta(add(x, 1), q))))],
    domain="float",
)


def zeta(x: Any, q: Any) -> Any:
    """Hurwitz' zeta function, the sum of `(q + k)**-x` over k = 0, 1, 2, ...

    Takes two operands of one float dtype and one shape, or one of them 0-d.  Raises TypeError
    otherwise, and NotImplementedError when differentiated by `x`.

    >>> lax.zeta(jnp.array([2.0, 4.0]), 1.0)
    Array([1.644934 , 1.0823234], dtype=float32)
    """
    return zeta_p(x, q)


# ---- Bessel ----------------------------------------------------------------------------------
bessel_i0e_p = Elementwise(
    "bessel_i0e",
    formula=lambda x: special_programs.bessel(x, 0),
    numpy=special_numpy.bessel_i0e,
    jvp=[lambda t, out, x: mul(t, sub(bessel_i1e(x), mul(sign(x), out)))],
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
    """i0e(x) - i1e(x) * (sign(x) + 1/x), which is 1/2 at 0."""
    origin = eq(x, 0)
    safe = select(origin, 1, x)
    slope = sub(bessel_i0e(x), mul(out, add(sign(x), div(1, safe))))
    return mul(t, select(origin, 0.5, slope))


bessel_i1e_p = Elementwise(
    "bessel_i1e",
    formula=lambda x: special_programs.bessel(x, 1),
    numpy=special_numpy.bessel_i1e,
    jvp=[_i1e_tangent],
    domain="float",
)


def bessel_i1e(x: Any) -> Any:
    """`exp(-abs(x))` times the modified Bessel function of the first kind of order 1.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.bessel_i1e(jnp.array([0.0, 1.0]))
    Array([0.        , 0.20791042], dtype=float32)
    """
    return bessel_i1e_p(x)
