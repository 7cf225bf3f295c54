"""Special functions on the host, in f64: the definitions that the lowerings are checked against.

They are Python's or SciPy's where those are right, which is measured against mpmath: over the range
and at zeros, infinities, NaN, poles and subnormal numbers.  A function of our own says what is
wrong with SciPy's.  Nothing here is shared with `special_functions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from hloom.core.support.lazy import LazyModule

special = LazyModule("scipy.special")  # 0.3 s, which only this engine and the tests need


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of one Python float, over an array."""

    def over(x: Any) -> Any:
        wide = np.asarray(x, np.float64)
        flat = [function(v) for v in wide.ravel().tolist()]
        return np.array(flat, np.float64).reshape(wide.shape).astype(x.dtype)

    return over


def _whole(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of an f64 array, over an array of any float dtype."""

    def over(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(function(np.asarray(x, np.float64))).astype(x.dtype)

    return over


# ---- error functions ---------------------------------------------------------------------------
# 0.7 and 2 ulp.  SciPy's erf has 1.7 ulp, its erfc 450 in the tail, and no digit near 27.
erf = _each(math.erf)
erfc = _each(math.erfc)


def _erf_inv(x: float) -> float:
    """Halley's steps on erfc from Winitzki's approximation: 1.3 ulp.

    SciPy's has 2.4 ulp, and loses the sign of zero.
    """
    a = abs(x)
    if a == 0.0 or a != a:
        return x
    if a >= 1.0:
        return math.copysign(math.inf, x) if a == 1.0 else math.nan
    tail = math.log1p(-a) + math.log1p(a)
    middle = 2 / (math.pi * 0.147) + tail / 2
    y = math.sqrt(max(math.sqrt(middle * middle - tail / 0.147) - middle, 0.0))
    y = y or a * math.sqrt(math.pi) / 2
    for _ in range(4):
        excess = (1 - a) - math.erfc(y) if a > 0.5 else math.erf(y) - a
        step = excess / (2 / math.sqrt(math.pi) * math.exp(-y * y))
        y -= step / (1 + y * step)  # Halley's correction
    return math.copysign(y, x)


erf_inv = _each(_erf_inv)


# ---- gamma -------------------------------------------------------------------------------------
@_whole
def lgamma(x: Any) -> Any:
    """SciPy's, whose series about the zeros at 1 and 2 are in `loggamma` alone: 20 ulp.

    Of negative numbers near their zeros 1e-15 of the larger summand.  `gammaln` and `math.lgamma`
    have no digit next to 1 and 2.  SciPy's is infinite at subnormal numbers, and -inf at -inf.
    """
    near_zero = np.minimum(abs(x - 1), abs(x - 2)) < 0.2
    value = np.where(near_zero, special.loggamma(x + 0j).real, special.gammaln(x))
    value = np.where(abs(x) < 1e-300, -np.log(abs(x)), value)
    return np.where(np.isinf(x), np.inf, value + 0.0)  # -0.0 at 1


@_whole
def digamma(x: Any) -> Any:
    """SciPy's, 2 ulp; of negative numbers by reflection.

    SciPy's own reflection has no digit next to a pole: it rounds `pi x` before it takes the
    tangent.  Here a period is taken off first.
    """
    part = x - np.round(x)
    reflected = special.digamma(1 - x) - np.pi / np.tan(np.pi * part)
    left = np.where(part == 0, np.nan, reflected)
    return np.where(x < 0, left, special.digamma(x))


# ---- zeta --------------------------------------------------------------------------------------
@cache
def _bernoulli() -> list[float]:
    """B_2k / (2k)!."""
    numbers = special.bernoulli(16)[2::2].tolist()
    return [b / math.factorial(2 * k) for k, b in enumerate(numbers, 1)]


def _zeta(x: float, q: float) -> float:
    """Hurwitz' zeta function, 6 ulp.

    SciPy's has 4, but is NaN where x is infinite or 1e308, and adds every term where q is negative.
    """
    if x == 1.0:
        return math.inf
    if x < 1.0 or x != x or q != q:
        return math.nan
    if q <= 0.0:
        if q == -math.inf or q == math.floor(q):
            return math.inf
        whole = x == math.inf or x % 1 == 0
        return _zeta_of_negative(x, q, 1.0) if whole else math.nan
    if math.inf in (x, q):
        return 0.0 if q > 1.0 else 1.0 if q == 1.0 else math.inf
    return _sum_of_powers(x, q, 1.0)


def _sum_of_powers(x: float, q: float, unit: float) -> float:
    """The sum of `((q + k) / unit)**-x`: Euler and Maclaurin, after ten of its terms."""
    total = math.fsum(_power((q + k) / unit, -x) for k in range(10))
    if total == math.inf:
        return total
    a = q + 10
    factor, scale, square = x, unit * _power(a / unit, 1 - x), 1 / a / a
    total += scale * (1 / (x - 1) + 0.5 / a)
    for k, bernoulli in enumerate(_bernoulli()):
        scale *= square
        if scale == 0.0:
            break
        total += bernoulli * factor * scale
        factor *= (x + 2 * k + 1) * (x + 2 * k + 2)
    return total


def _zeta_of_negative(x: float, q: float, unit: float) -> float:
    """The same for whole x, by the sum from 1 - q on and the one over all k, which has period 1."""
    if x == math.inf:
        return math.inf
    part, sign = q - round(q), -1.0 if x % 2 else 1.0
    if abs(part) == 0.5 and sign < 0.0:  # the sum over all k is 0
        return _sum_of_powers(x, 1 - q, unit)
    nearest = _power(part / unit, -x)
    if math.isinf(nearest):
        return nearest
    below = _sum_of_powers(x, 1 - part, unit) - _sum_of_powers(x, 1 - q, unit)
    return nearest + _sum_of_powers(x, 1 + part, unit) + sign * below


def _power(base: float, exponent: float) -> float:
    """A power of a whole exponent, or of a positive base, that may be infinite."""
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):  # that of zero is a ValueError
        return math.copysign(math.inf, base) if exponent % 2 else math.inf


def zeta(x: Any, q: Any) -> Any:
    """Hurwitz' zeta function."""
    result = np.frompyfunc(_zeta, 2, 1)(x.astype(np.float64), q.astype(np.float64))
    return np.asarray(result).astype(np.result_type(x, q))


def _polygamma(n: float, x: float) -> float:
    """n! zeta(n + 1, x), 6 ulp; SciPy's is NaN or infinite for n > 170."""
    value = _zeta(n + 1, x)
    if not math.isfinite(x) or (x <= 0.0 and x == math.floor(x)):
        return value  # 0, infinite or NaN
    if n <= 170.0 and not abs(value) < 1e-290:
        return math.gamma(n + 1) * value
    # A factor is too large or too small for a float: n! is taken into the terms.
    unit = math.exp(math.lgamma(n + 1) / (n + 1)) if n < 1e300 else n / math.e
    return (_sum_of_powers if x > 0.0 else _zeta_of_negative)(n + 1, x, unit)


def _signed_polygamma(n: float, x: float) -> float:
    if not 0.0 <= n < math.inf or n != math.floor(n):
        return math.nan
    if n == 0.0:
        return float(digamma(np.float64(x)))
    return _polygamma(n, x) if n % 2 else -_polygamma(n, x)


def polygamma(n: Any, x: Any) -> Any:
    """The n-th derivative of digamma."""
    made = np.frompyfunc(_signed_polygamma, 2, 1)(n.astype(np.float64), x.astype(np.float64))
    return np.asarray(made).astype(np.result_type(n, x))


# ---- Bessel ------------------------------------------------------------------------------------
@_whole
def bessel_i0e(x: Any) -> Any:
    """exp(-|x|) I_0(x): SciPy's, 5 ulp."""
    return special.i0e(x)


@_whole
def bessel_i1e(x: Any) -> Any:
    """exp(-|x|) I_1(x): SciPy's, 7 ulp, but for the sign of zero."""
    return np.copysign(special.i1e(x), x)


@_whole
def i0(x: Any) -> Any:
    """I_0(x), 5 ulp; SciPy's overflows from 710 on instead of 714, and is NaN at infinity."""
    half = np.exp(np.abs(x) / 2)
    return np.where(np.isinf(x), np.inf, half * special.i0e(x) * half)
