"""Elementary functions of f32 and f64, where XLA's own operation is inaccurate or slow.

Each is a function of `Term`s of one float dtype.  Errors are in ulp, over the whole range, on XLA's
CPU; what XLA's own operation has is in parentheses.
"""

from __future__ import annotations

import math

from hloom.ops.formula import (
    FLOAT32,
    Term,
    chlo,
    copysign,
    is_negative,
    is_zero,
    where,
)


def exp(x: Term) -> Term:
    return x.apply("exponential")


def log(x: Term) -> Term:
    return x.apply("log")


def sin(x: Term) -> Term:
    return x.apply("sine")


def cos(x: Term) -> Term:
    return x.apply("cosine")


def tan(x: Term) -> Term:
    return x.apply("tan")


def tanh(x: Term) -> Term:
    return x.apply("tanh")


def expm1(x: Term) -> Term:
    return x.apply("exponential_minus_one")


def log1p(x: Term) -> Term:
    """2.2 ulp (f64: 128 near -0.41 and 0.41 on jaxlib 0.10)."""
    u = x + 1.0
    corrected = log(u) * (x / (u - 1.0))
    return where(u == 1.0, x, where(u == math.inf, u, corrected))


def exp2(x: Term) -> Term:
    """0.51 ulp (as exp(x ln2): 68 in f32, 594 in f64)."""
    return x.full(2.0).apply("power", x)


def log2(x: Term) -> Term:
    return log(x) * (1 / math.log(2))


def log10(x: Term) -> Term:
    return log(x) * (1 / math.log(10))


def cbrt(x: Term) -> Term:
    return x.apply("cbrt")


def sinh(x: Term) -> Term:
    """4.9 ulp (f32: 24, f64: 459)."""
    a = abs(x)
    u = expm1(a)
    half = exp(a * 0.5)
    beyond = half * 0.5 * half
    return copysign(where(a > large(x), beyond, (u + u / (u + 1.0)) * 0.5), x)


def cosh(x: Term) -> Term:
    """1.7 ulp (f32: 24, f64: 451)."""
    a = abs(x)
    e = exp(a)
    half = exp(a * 0.5)
    return where(a > large(x), half * 0.5 * half, e * 0.5 + 0.5 / e)


def large(x: Term) -> float:
    """Beyond this exp(x) may overflow where sinh(x) does not yet."""
    return 80.0 if x.dtype == FLOAT32 else 700.0


def asin(x: Term) -> Term:
    """2.1 ulp; XLA's own f32 gives 0 near 2e-38 on jaxlib 0.10."""
    return where(abs(x) < 1e-4, x, chlo("asin", x))


def acos(x: Term) -> Term:
    return chlo("acos", x)


def atan(x: Term) -> Term:
    return chlo("atan", x)


def atan2(y: Term, x: Term) -> Term:
    """XLA folds atan2 to NaN where it proves both operands zero, so those are answered here."""
    at_origin = copysign(where(is_negative(x), math.pi, x.full(0.0)), y)
    return where(is_zero(x) & is_zero(y), at_origin, y.apply("atan2", x))


def asinh(x: Term) -> Term:
    return chlo("asinh", x)


def acosh(x: Term) -> Term:
    return chlo("acosh", x)


def atanh(x: Term) -> Term:
    """2.4 ulp (f64: 129 on jaxlib 0.10)."""
    a = abs(x)
    return copysign(log1p(2.0 * a / (1.0 - a)) * 0.5, x)


def power(x: Term, y: Term) -> Term:
    return x.apply("power", y)
