"""Incomplete gamma and beta functions: the distributions of Gamma and Beta."""

from __future__ import annotations

import math
from typing import Any

from hloom.ops.common.elementwise import Elementwise
from hloom.ops.elementary import incomplete_definitions, incomplete_functions
from hloom.ops.pointwise.arithmetic import add, div, mul, neg, sub
from hloom.ops.pointwise.compare import eq, pick
from hloom.ops.pointwise.exponential import log, log1p
from hloom.ops.pointwise.partials import in_float32
from hloom.ops.pointwise.special import digamma


# ---- gamma -------------------------------------------------------------------------------------
def _gamma_density_tangent(t: Any, out: Any, a: Any, x: Any) -> Any:
    """The density times (a - 1)/x - 1, which is -1 for the exponential and at infinity."""
    plain = pick(eq(x, math.inf), True, eq(a, 1))
    slope = div(sub(sub(a, 1), x), pick(plain, 1, x))
    return mul(t, mul(out, pick(plain, -1, slope)))


gamma_density_p = Elementwise(
    "gamma_density",
    formula=incomplete_functions.gamma_density,
    numpy=incomplete_definitions.gamma_density,
    jvp=[
        in_float32(lambda t, out, a, x: mul(t, _times_pull(out, a, x))),
        in_float32(_gamma_density_tangent),
    ],
    domain="float",
)


def gamma_density(a: Any, x: Any) -> Any:
    """The derivative of `igamma(a, x)` by `x`: `x**(a-1) exp(-x) / gamma(a)`; at 0 its limit.

    Takes two operands of one float dtype and one shape, or one of them 0-d; NaN where one is
    negative or both are 0.  Raises TypeError otherwise.

    >>> hloom.ops.pointwise.incomplete.gamma_density(2.0, jnp.array([0.0, 1.0, 5.0]))
    Array([0.        , 0.36787945, 0.03368973], dtype=float32)
    """
    return gamma_density_p(a, x)


def _times_pull(density: Any, a: Any, x: Any) -> Any:
    """The derivative of the density by a."""
    return pick(eq(density, 0), 0, mul(density, _pull(a, x)))


igamma_p = Elementwise(
    "igamma",
    formula=incomplete_functions.igamma,
    numpy=incomplete_definitions.igamma,
    jvp=[
        lambda t, out, a, x: mul(t, igamma_grad_a(a, x)),
        lambda t, out, a, x: mul(t, gamma_density(a, x)),
    ],
    domain="float",
)


def igamma(a: Any, x: Any) -> Any:
    """The lower incomplete gamma function, regularised: P(a, x), from 0 at x = 0 to 1.

    It is the integral of `t**(a-1) exp(-t)` from 0 to `x`, over `gamma(a)`: the probability that a
    Gamma variable of shape `a` is below `x`.  Takes two operands of one float dtype and one rank,
    or one of them 0-d; NaN where one is negative or both are 0.  Raises TypeError otherwise.
    Source: DLMF 8.2.4, 8.7.1.

    >>> lax.igamma(2.0, jnp.array([0.0, 1.0, 5.0]))
    Array([0.        , 0.26424113, 0.9595723 ], dtype=float32)
    """
    return igamma_p(a, x)


igammac_p = Elementwise(
    "igammac",
    formula=incomplete_functions.igammac,
    numpy=incomplete_definitions.igammac,
    jvp=[
        lambda t, out, a, x: neg(mul(t, igamma_grad_a(a, x))),
        lambda t, out, a, x: neg(mul(t, gamma_density(a, x))),
    ],
    domain="float",
)


def igammac(a: Any, x: Any) -> Any:
    """The upper incomplete gamma function, regularised: `1 - igamma(a, x)`, accurate when small.

    Takes two operands of one float dtype and one rank, or one of them 0-d; NaN where one is
    negative or both are 0.  Raises TypeError otherwise.  Source: DLMF 8.2.4, 8.9.2.

    >>> lax.igammac(2.0, jnp.array([0.0, 1.0, 30.0]))
    Array([1.0000000e+00, 7.3575890e-01, 2.9008631e-12], dtype=float32)
    """
    return igammac_p(a, x)


def _pull(a: Any, x: Any) -> Any:
    """How the logarithm of the density moves with a."""
    return sub(log(x), digamma(a))


igamma_grad_a_p = Elementwise(
    "igamma_grad_a",
    formula=incomplete_functions.igamma_grad_a,
    numpy=incomplete_definitions.igamma_grad_a,
    jvp=[None, lambda t, out, a, x: mul(t, _times_pull(gamma_density(a, x), a, x))],
    domain="float",
)


def igamma_grad_a(a: Any, x: Any) -> Any:
    """The derivative of `igamma(a, x)` by `a`.

    Takes two operands of one float dtype and one rank, or one of them 0-d; NaN where x is negative
    or a is not positive.  Raises TypeError otherwise, and NotImplementedError when differentiated
    by `a` once more.  Source: R. J. Moore, Algorithm AS 187 (1982).

    >>> lax.igamma_grad_a(2.0, jnp.array([1.0, 5.0]))
    Array([-0.27619603, -0.0558599 ], dtype=float32)
    """
    return igamma_grad_a_p(a, x)


def _sample_tangent(t: Any, out: Any, a: Any, x: Any) -> Any:
    """That of the quotient of dP/da and dP/dx, which is the density."""
    slope = sub(div(sub(a, 1), x), 1)
    return neg(mul(t, add(_pull(a, x), mul(out, slope))))


random_gamma_grad_p = Elementwise(
    "random_gamma_grad",
    formula=incomplete_functions.random_gamma_grad,
    numpy=incomplete_definitions.random_gamma_grad,
    jvp=[None, _sample_tangent],
    domain="float",
)


def random_gamma_grad(a: Any, x: Any) -> Any:
    """How a sample `x` of a Gamma variable moves with its shape `a`, at its place in the order.

    That is dx/da where `igamma(a, x)` stays the same.  Takes two operands of one float dtype and
    one rank, or one of them 0-d; NaN where x is negative or a is not positive.  Raises TypeError
    otherwise, and NotImplementedError when differentiated by `a`.  Source: M. Figurnov, S. Mohamed,
    A. Mnih, Implicit Reparameterization Gradients (2018).

    >>> lax.random_gamma_grad(2.0, jnp.array([1.0, 5.0]))
    Array([0.7507787, 1.6580688], dtype=float32)
    """
    return random_gamma_grad_p(a, x)


# ---- beta --------------------------------------------------------------------------------------
def _beta_density_tangent(t: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    """The density times (a - 1)/x - (b - 1)/(1 - x); a parameter of 1 has no part in it."""
    flat_a, flat_b, y = eq(a, 1), eq(b, 1), sub(1, x)
    near = pick(flat_a, 0, div(sub(a, 1), pick(flat_a, 1, x)))
    far = pick(flat_b, 0, div(sub(b, 1), pick(flat_b, 1, y)))
    return mul(t, mul(out, sub(near, far)))


def _beta_density_by(t: Any, out: Any, a: Any, b: Any, log: Any) -> Any:
    """The tangent by a; `log` is the logarithm of x."""
    pull = add(log, sub(digamma(add(a, b)), digamma(a)))
    return mul(t, pick(eq(out, 0), 0, mul(out, pull)))


beta_density_p = Elementwise(
    "beta_density",
    formula=incomplete_functions.beta_density,
    numpy=incomplete_definitions.beta_density,
    jvp=[
        in_float32(lambda t, out, a, b, x: _beta_density_by(t, out, a, b, log(x))),
        in_float32(lambda t, out, a, b, x: _beta_density_by(t, out, b, a, log1p(neg(x)))),
        in_float32(_beta_density_tangent),
    ],
    domain="float",
)


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """The derivative of `betainc(a, b, x)` by `x`: `x**(a-1) (1-x)**(b-1) / B(a, b)`.

    Takes three operands of one float dtype and one shape, or some of them 0-d; NaN where a or b is
    negative, or x is not between 0 and 1, where it has its limits.  Raises TypeError otherwise.

    >>> hloom.ops.pointwise.incomplete.beta_density(2.0, 3.0, jnp.array([0.0, 0.5, 1.0]))
    Array([0. , 1.5, 0. ], dtype=float32)
    """
    return beta_density_p(a, b, x)


betainc_p = Elementwise(
    "betainc",
    formula=incomplete_functions.betainc,
    numpy=incomplete_definitions.betainc,
    jvp=[None, None, lambda t, out, a, b, x: mul(t, beta_density(a, b, x))],
    domain="float",
)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The incomplete beta function, regularised: I_x(a, b), from 0 at x = 0 to 1 at x = 1.

    It is the integral of `t**(a-1) (1-t)**(b-1)` from 0 to `x`, over that to 1: the probability
    that a Beta variable is below `x`.  Takes three operands of one float dtype and one rank, or
    some of them 0-d; NaN where a or b is negative, or x is not between 0 and 1.  Raises TypeError
    otherwise, and NotImplementedError when differentiated by `a` or `b`.  Where `b` is tiny and `x`
    close to 1 the result, of the size of `b`, has an absolute error of 1e-15.  Source: DLMF 8.17.2,
    8.17.22.

    >>> lax.betainc(2.0, 3.0, jnp.array([0.0, 0.5, 1.0]))
    Array([0.    , 0.6875, 1.    ], dtype=float32)
    """
    return betainc_p(a, b, x)
