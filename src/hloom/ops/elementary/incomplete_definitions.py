"""Incomplete gamma and beta functions in NumPy, in f64: series and continued fractions.

These are the definitions that the lowerings, which integrate, are checked against.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from hloom.ops.elementary.special_definitions import digamma, zeta

_TINY, _STEP = 1e-300, 4e-16
# B_2k / (2k (2k-1)): DLMF 5.11.1.  From 8 on, of lgamma to 1e-16.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def _each(function: Callable[..., float]) -> Callable[..., Any]:
    """A function of Python floats, over arrays that fill one shape."""

    @wraps(function)  # whose signature says how many operands there are
    def over(*xs: Any) -> Any:
        wide = np.broadcast_arrays(*[x.astype(np.float64) for x in xs])
        flat = [function(*values) for values in zip(*[w.ravel().tolist() for w in wide])]
        return np.array(flat, np.float64).reshape(wide[0].shape).astype(xs[0].dtype)

    return over


# ---- pieces ------------------------------------------------------------------------------------
def _log1pmx(u: float) -> float:
    """log(1 + u) - u."""
    if not -0.4 < u < 0.6:
        return math.log1p(u) - u
    t = u / (2 + u)
    return t * (sum(2 / (2 * k + 3) * t ** (2 * k + 2) for k in range(15)) - u)


def _weight(z: float) -> float:
    """z**z exp(-z) / gamma(z)."""
    if z < 8:
        return z * math.exp(z * math.log(z) - z - math.lgamma(z + 1))
    series = sum(c * (1 / z) ** (2 * k + 1) for k, c in enumerate(_STIRLING))
    return math.sqrt(z / (2 * math.pi)) * math.exp(-series)


def _scaled(a: float, d: float, ratio: float) -> float:
    """`a (log(ratio) - d/a)`, where ratio is `1 + d/a`."""
    if ratio == 0:  # it has underflowed
        return -math.inf
    return a * _log1pmx(d / a) if -0.4 < d / a < 0.6 else a * math.log(min(ratio, 1e308)) - d


def _gamma_density(a: float, x: float) -> float:
    """x**a exp(-x) / gamma(a)."""
    return _weight(a) * math.exp(_scaled(a, x - a, x / a))


# ---- gamma -------------------------------------------------------------------------------------
def _series(a: float, x: float) -> tuple[float, float]:
    """DLMF 8.7.1: P over the density and times a, and its derivative by a."""
    term = total = 1.0
    decay = slope = 0.0  # `decay` is the sum of 1 / (a + k)
    n = 0
    while term > 1e-17 * total:
        n += 1
        term *= x / (a + n)
        decay += 1 / (a + n)
        total += term
        slope -= term * decay
    return total, slope


def _fraction(a: float, x: float) -> tuple[float, float]:
    """DLMF 8.9.2: Q over the density, and its derivative by a; Lentz's algorithm.

    The derivative is summed term by term, as in Moore (1982), AS 187.
    """
    b = x + 1 - a
    f = d = 1 / b
    c, dc = 1 / _TINY, 0.0
    df = dd = f * f  # db/da is -1
    n, change = 0, 0.0
    moved = 1.0
    # Where a is a whole number the fraction ends, but its derivative does not.
    while (abs(change - 1) > _STEP or abs(moved * f) > _STEP * abs(df)) and n < 100_000:
        n += 1
        part, slope = n * (a - n), float(n)
        b += 2
        dd = slope * d + part * dd - 1
        d = part * d + b
        dc = -1 + (slope - part * dc / c) / c
        c = b + part / c
        d, dd = 1 / d, -dd / (d * d)
        change, moved = c * d, dc * d + c * dd
        f, df = f * change, df * change + f * moved
    return f, df


def _integral(a: float, x: float) -> tuple[float, float]:
    """The smaller tail over the density, and its first moment, where series have many terms."""
    c = abs(x - a)
    root = math.sqrt(max(a, x))
    end = 96 / (root * (c / root + math.sqrt(c / root * (c / root) + 96)))
    nodes, weights = np.polynomial.legendre.leggauss(80)
    s = (nodes + 1) / 2 * end
    turned = s if x >= a else -s
    series = turned * turned * sum(turned**k / math.factorial(k + 2) for k in range(16))
    value = np.exp(-(c * s + x * series)) * weights * (end / 2)
    return float(value.sum()), float((value * s).sum())


def _tails(a: float, x: float) -> tuple[bool, float, float]:
    """Whether P is what is computed; that tail over the density, and its slope over it."""
    pull = _pull(a, x)
    if a > 1e5 and a / 2 < x < a * 2:
        total, moment = _integral(a, x)
        return x < a, total, (pull + 1 / a) * total + math.copysign(moment, x - a)
    if x >= max(a, 1.5):
        total, slope = _fraction(a, x)
        return False, total, slope + (pull + 1 / a) * total
    total, slope = _series(a, x)
    return True, total / a, (slope + pull * total) / a


def _pull(a: float, x: float) -> float:
    """log(x) - digamma(a + 1)."""
    if a < 8:
        return math.log(x) - float(digamma(np.float64(a + 1)))
    gap = sum(c * (2 * k + 1) * (1 / a) ** (2 * k + 2) for k, c in enumerate(_STIRLING))
    return math.log(max(x / a, 1e-300)) + gap - 1 / (2 * a)


def _at_ends(a: float, x: float, none: float, all: float) -> float | None:
    """The value where x or a is 0, infinite or invalid: all is below x, or nothing is."""
    if not (a >= 0 and x >= 0) or (a == 0 and x == 0) or (a == math.inf and x == math.inf):
        return math.nan
    if x == 0 or a == math.inf or (x < a * 1e-3 and a > 4000):
        return none
    return all if a == 0 or x == math.inf or x > 20 * a + 4000 else None


def _held(value: float) -> float:
    """A probability clamped to [0, 1], which rounding errors may leave."""
    return min(max(value, 0.0), 1.0)


def _igamma(a: float, x: float) -> float:
    ends = _at_ends(a, x, 0.0, 1.0)
    if ends is not None:
        return ends
    lower, total, _ = _tails(a, x)
    value = _gamma_density(a, x) * total
    return _held(value if lower else 1 - value)


def _igammac(a: float, x: float) -> float:
    ends = _at_ends(a, x, 1.0, 0.0)
    if ends is not None:
        return ends
    if a < 1 and x < 1.5:
        return _held(_upper_near_zero(a, x))
    lower, total, _ = _tails(a, x)
    value = _gamma_density(a, x) * total
    return _held(1 - value if lower else value)


def _upper_near_zero(a: float, x: float) -> float:
    """DLMF 8.7.3, whose first two terms are one expm1."""
    log = a * math.log(x) - _lgamma1p(a)
    terms = [(-x) ** n / (math.factorial(n) * (a + n)) for n in range(1, 30)]
    return -math.expm1(log) - math.exp(log) * a * math.fsum(terms)


@cache
def _zetas() -> list[float]:
    """zeta(2) - 1, zeta(3) - 1, .."""
    found: list[float] = zeta(np.arange(2.0, 60.0), np.array(2.0)).tolist()
    return found


def _lgamma1p(a: float) -> float:
    """lgamma(1 + a) for a < 1, to its last digits where a is small: DLMF 5.7.3."""
    series = sum(z * (-a) ** k / k for k, z in enumerate(_zetas(), 2))
    return (1 - 0.5772156649015329) * a - math.log1p(a) + float(series)


def _igamma_grad_a(a: float, x: float) -> float:
    ends = math.nan if a == 0 else _at_ends(a, x, 0.0, 0.0)
    if ends is not None:
        return ends
    a = max(a, 1e-290)  # below it is constant, but for what overflows on the way
    lower, _, slope = _tails(a, x)
    return 0.0 + (slope if lower else -slope) * _gamma_density(a, x)


def _random_gamma_grad(a: float, x: float) -> float:
    if not (0 < a < math.inf and x >= 0):
        return math.nan
    if x in (0.0, math.inf):
        return abs(x)
    held = max(a, 1e-290)
    lower, _, slope = _tails(held, x)
    return (-slope if lower else slope) * (x / (a / held))


def _gamma_slope(a: float, x: float) -> float:
    if not (a >= 0 and x >= 0) or (a == 0 and x == 0):
        return math.nan
    if math.inf in (a, x) or a == 0:
        return 0.0
    if x == 0:
        return math.inf if a < 1 else 1.0 if a == 1 else 0.0
    return _over(_gamma_density(a, x), x)


def _over(density: float, x: float) -> float:
    """A density over dx/x, as one over dx, which may be larger than any float."""
    return density / x if density < sys.float_info.max * x else math.inf


igamma, igammac, gamma_density = _each(_igamma), _each(_igammac), _each(_gamma_slope)
igamma_grad_a, random_gamma_grad = _each(_igamma_grad_a), _each(_random_gamma_grad)


# ---- beta --------------------------------------------------------------------------------------
def _beta_density(a: float, b: float, x: float, y: float) -> float:
    """x**a y**b / B(a, b), where y is 1 - x."""
    n, d = a + b, b * x - a * y
    log = _scaled(a, d, x / a * n) + _scaled(b, -d, y / b * n)
    return _weight(a) * _weight(b) / _weight(n) * math.exp(log)


def _beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """I over the density: the even part of DLMF 8.17.22, by Lentz's algorithm.

    From A. R. Didonato, A. H. Morris, Algorithm 708 (1992), eq. 9.
    """
    first = max(a * y - b * x + 1, 1e-16)
    f = d = (a + 1) / (a * first)
    c, n, change = 1 / _TINY, 0, 0.0
    while abs(change - 1) > _STEP and n < 1_000_000:
        n += 1
        odd = a + 2 * n - 1
        more = n * (b - n) * x
        top = (a + (n - 1)) / odd * ((a + b + (n - 1)) / odd * x) * more
        part = n + more / odd + (a + n) / (odd + 2) * (first + n * (2 - x))
        d, c = 1 / (part + top * d), part + top / c
        change = c * d
        f *= change
    return f


def _beta_integral(a: float, b: float, x: float, y: float) -> float:
    """The same for x below the mean, where the fraction has many terms."""
    n, c = a + b, a * y - b * x
    v = math.sqrt(n * x * y)
    end = 96 / (v * (c / v + math.sqrt(c / v * (c / v) + 96)))
    nodes, weights = np.polynomial.legendre.leggauss(80)
    s = (nodes + 1) / 2 * end
    p, turned = (x, -s) if x < y else (y, s)
    more = turned * turned * sum(turned**k / math.factorial(k + 2) for k in range(16))
    u = p * (more + turned)
    small = -u * u * sum((-u) ** k / (k + 2) for k in range(16))  # log(1 + u) - u
    value = np.exp(-(c * s + n * (small + p * more)))
    return float((value * weights).sum() * end / 2)


def _betainc(a: float, b: float, x: float) -> float:
    if not (a >= 0 and b >= 0 and 0 <= x <= 1) or a == b == 0 or a == b == math.inf:
        return math.nan
    if x in (0.0, 1.0):
        return abs(x)
    if a == 0 or b == 0 or math.inf in (a, b):
        return 1.0 if a == 0 or b == math.inf else 0.0
    y, most = 1 - x, max(a, b)
    # Where both are tiny, only their ratio counts, and so it does where they are huge.
    scale = 1e-100 / most if most < 1e-100 else 1e-10 if most > 1e300 else 1.0
    a, b = max(a * scale, 1e-200), max(b * scale, 1e-200)
    many = min(a, b) > 1e5
    tail = _beta_integral if many else _beta_fraction
    if (b * x > a * y) if many else (b + 1) * x > (a + 1) * y:
        value = 1 - _beta_density(a, b, x, y) * tail(b, a, y, x)
    else:
        value = _beta_density(a, b, x, y) * tail(a, b, x, y)
    return _held(value)


def _beta_slope(a: float, b: float, x: float) -> float:
    if not (a >= 0 and b >= 0 and 0 <= x <= 1):
        return math.nan
    if not (0 < a < math.inf and 0 < b < math.inf):
        return 0.0
    if x in (0.0, 1.0):
        near, far = (a, b) if x == 0 else (b, a)
        return math.inf if near < 1 else far if near == 1 else 0.0
    return _over(_over(_beta_density(a, b, x, 1 - x), x), 1 - x)


betainc, beta_density = _each(_betainc), _each(_beta_slope)
