"""Special functions in NumPy, in f64: the definitions that the lowerings are checked against."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

# Chebyshev coefficients of exp(-x) I_n(x) / x**n on [0, 8], and of exp(-x) sqrt(x) I_n(x) beyond.
BESSEL = (
    (
        (
            0.6767952744094761, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764,
            0.04930528423967071, -0.02373741480589947, 0.010546460394594998,
            -0.004324309995050576, 0.0016394756169413357, -0.0005763755745385824,
            0.00018850288509584165, -5.754195010082104e-05, 1.6448448070728896e-05,
            -4.4167383584587505e-06, 1.1173875391201037e-06, -2.670793853940612e-07,
            6.046995022541919e-08, -1.300025009986248e-08, 2.6598237246823866e-09,
            -5.189795601635263e-10, 9.675809035373237e-11, -1.726826291441556e-11,
            2.95505266312964e-12, -4.856446783111929e-13, 7.676185498604936e-14,
            -1.1685332877993451e-14, 1.715391285555133e-15, -2.431279846547955e-16,
            3.3307945188222384e-17, -4.4153416464793395e-18,
        ),
        (
            0.8044904110141088, 0.0033691164782556943, 6.889758346916825e-05,
            2.8913705208347567e-06, 2.0489185894690638e-07, 2.266668990498178e-08,
            3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11,
            -3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12,
            7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14,
            -4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15,
            1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16,
            3.461222867697461e-17, 4.46562142029676e-17, -4.830504485944182e-18,
            -7.233180487874754e-18, 9.921475412173699e-19, 1.193650890845982e-18,
        ),
    ),
    (
        (
            0.25258718644363365, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499,
            0.024726449030626516, -0.010564084894626197, 0.004156422944312888,
            -0.0015135724506312532, 0.0005122859561685758, -0.00016176081582589674,
            4.781565107550054e-05, -1.3273163656039436e-05, 3.4702513081376785e-06,
            -8.568720264695455e-07, 2.0032947535521353e-07, -4.445059128796328e-08,
            9.381537386495773e-09, -1.8872497517228294e-09, 3.625590281552117e-10,
            -6.663489723502027e-11, 1.1736186298890901e-11, -1.9839743977649436e-12,
            3.223793365945575e-13, -5.042185504727912e-14, 7.600684294735408e-15,
            -1.1055969477353862e-15, 1.5536319577362005e-16, -2.111421214358166e-17,
            2.7779141127610464e-18,
        ),
        (
            0.7785762350182801, -0.009761097491361469, -0.00011058893876262371,
            -3.882564808877691e-06, -2.512236237870209e-07, -2.6314688468895196e-08,
            -3.835380385964237e-09, -5.589743462196584e-10, -1.8974958123505413e-11,
            3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
            -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14,
            4.272440016711951e-14, 1.0420276984128802e-14, -3.8144030724370075e-15,
            -1.8803547755107825e-15, 3.3082023109209285e-16, 2.96262899764595e-16,
            -3.209525921993424e-17, -4.6503053684893586e-17, 4.414348323071708e-18,
            7.517296310842105e-18, -9.314178867326884e-19, -1.242193275194891e-18,
        ),
    ),
)  # fmt: skip


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of one Python float, over an array."""

    def over(x: Any) -> Any:
        wide = np.asarray(x, np.float64)
        flat = [function(v) for v in wide.ravel().tolist()]
        return np.array(flat, np.float64).reshape(wide.shape).astype(x.dtype)

    return over


erf = _each(math.erf)
erfc = _each(math.erfc)


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # a pole, or beyond f64
        return math.inf


lgamma = _each(_lgamma)


def _erf_inv(x: float) -> float:
    """Newton's steps on erfc from a starting point by Winitzki."""
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


def _digamma(x: float) -> float:
    if x == 0.0:
        return math.copysign(math.inf, -x)
    if x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    if x < 0:  # reflection; the tangent's argument is reduced first
        return _digamma(1 - x) - math.pi / math.tan(math.pi * (x - round(x)))
    total = 0.0
    while x < 10:
        total -= 1 / x
        x += 1
    z = 1 / (x * x)
    series = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
    tail = 0.0
    for c in reversed(series):
        tail = z * (c + tail)
    return total + (math.log(x) - 0.5 / x - tail)


digamma = _each(_digamma)

# B_2k / (2k)!
BERNOULLI = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000,
    1 / 74724249600, -3617 / 10670622842880000,
)  # fmt: skip


def _zeta(x: float, q: float) -> float:
    """Euler and Maclaurin's summation, after ten terms of the sum itself."""
    if x == 1.0:
        return math.inf
    if x < 1.0 or x != x or q != q:
        return math.nan
    if q <= 0.0:
        if q == -math.inf or q == math.floor(q):
            return math.inf
        return _zeta_of_negative(x, q) if x == math.inf or x == math.floor(x) else math.nan
    if math.inf in (x, q):
        return 0.0 if q > 1.0 else 1.0 if q == 1.0 else math.inf
    total = math.fsum(_power(q + k, -x) for k in range(10))
    a = q + 10
    factor, scale, square = x, _power(a, 1 - x), 1 / a / a
    total += scale * (1 / (x - 1) + 0.5 / a)
    for k, bernoulli in enumerate(BERNOULLI):
        scale *= square
        if scale == 0.0:
            break
        total += bernoulli * factor * scale
        factor *= (x + 2 * k + 1) * (x + 2 * k + 2)
    return total


def _zeta_of_negative(x: float, q: float) -> float:
    """For whole x, from zeta(x, 1 - q) and the sum over all k, which has period 1."""
    if x == math.inf:
        return math.inf
    part, sign = q - round(q), -1.0 if x % 2 else 1.0
    below = _zeta(x, 1 - part) - _zeta(x, 1 - q)
    return _power(part, -x) + _zeta(x, 1 + part) + sign * below


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def zeta(x: Any, q: Any) -> Any:
    """Hurwitz' zeta function."""
    result = np.frompyfunc(_zeta, 2, 1)(x.astype(np.float64), q.astype(np.float64))
    return np.asarray(result).astype(np.result_type(x, q))


def _polygamma(n: float, x: float) -> float:
    if n == 0.0:
        return _digamma(x)
    if not 0.0 <= n < math.inf or n != math.floor(n):
        return math.nan
    sign = 1.0 if n % 2 else -1.0
    return sign * math.exp(math.lgamma(n + 1)) * _zeta(n + 1, x)


def polygamma(n: Any, x: Any) -> Any:
    """The n-th derivative of digamma."""
    result = np.frompyfunc(_polygamma, 2, 1)(n.astype(np.float64), x.astype(np.float64))
    return np.asarray(result).astype(np.result_type(n, x))


def _bessel(x: Any, order: int) -> Any:
    small, large = BESSEL[order]
    a = np.abs(x.astype(np.float64))
    near = _chebyshev(np.minimum(a, 8) / 4 - 1, small) * a**order
    far = _chebyshev(16 / np.maximum(a, 8) - 1, large) / np.sqrt(np.maximum(a, 8))
    size = np.where(a > 8, far, near)
    return (np.copysign(size, x) if order else size).astype(x.dtype)


def _chebyshev(t: Any, coefficients: tuple[float, ...]) -> Any:
    """The sum of c[k] T_k(t), the first one halved."""
    return np.polynomial.chebyshev.chebval(t, (coefficients[0] / 2, *coefficients[1:]))


def bessel_i0e(x: Any) -> Any:
    """exp(-|x|) I_0(x)."""
    return _bessel(x, 0)


def bessel_i1e(x: Any) -> Any:
    """exp(-|x|) I_1(x)."""
    return _bessel(x, 1)


def i0(x: Any) -> Any:
    """I_0(x)."""
    half = np.exp(np.abs(x.astype(np.float64)) / 2)
    finite = half * _bessel(x.astype(np.float64), 0) * half
    return np.where(np.isinf(x), np.inf, finite).astype(x.dtype)
