"""Elementary functions of f64, as polynomials that XLA's CPU vectorises.

As in `real_f32`, but without a wider type: sums that matter have two parts, high and low.  Errors
of 0.6 to 2.6 ulp, at a third to a tenth of the time of XLA's own.  None relies on fused
multiply-adds.

A table of coefficients says which equation they are for, where, how they were made and the
relative error: `docs/fits` makes each anew and measures it.
"""

from __future__ import annotations

import math

from hloom.ops.common.expression import (
    FLOAT64,
    INT64,
    Term,
    clip,
    copysign,
    flip,
    is_finite,
    is_negative,
    is_tiny,
    is_zero,
    magnitude,
    maximum,
    minimum,
    polynomial,
    rounded,
    sign_of,
    where,
)
from hloom.ops.elementary.real_f32 import GUESS

LN2 = math.log(2)
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # as in fdlibm

# ---- sine and cosine ---------------------------------------------------------------------------
#: Beyond this the reduction by pi/2 in four parts is no longer exact.
REDUCIBLE = 1e6

# sin(r) = r + r**3 P(r**2), |r| < 1.001 pi/4: interpolation at Chebyshev's nodes, to 3e-17.
_SIN = (
    -0.16666666666666666, 0.0083333333333309254, -0.00019841269836722418,
    2.7557316083816358e-06, -2.5051127944014188e-08, 1.5917848524808262e-10,
)  # fmt: skip
# cos(r) = 1 - r**2/2 + r**4 P(r**2), |r| < 1.001 pi/4: interpolation, to 2e-18.
_COS = (
    0.041666666666666664, -0.0013888888888887382, 2.480158729874307e-05,
    -2.7557317260008837e-07, 2.0876143827993133e-09, -1.1382456778061306e-11,
)  # fmt: skip


def _reduced(x: Term) -> tuple[Term, Term, Term]:
    """Sine and cosine of |x| less a multiple of pi/2, and that multiple as an i64."""
    d = abs(x)
    k = (d * (2 / math.pi)).nearest()
    # pi/2 in four parts, as in fdlibm's e_rem_pio2.c.
    head = d - k * 1.5707963267341256  # exact: 33 bits
    w = k * 6.077100506303966e-11
    s = head - w
    low = ((head - s) - w) - k * (2.0222662487111665e-21 + 8.4784276603688996e-32)
    r = s + low
    tail = (s - r) + low
    z = r * r
    sin = r + (rounded(r * z * polynomial(z, *_SIN)) + tail * (1.0 - z * 0.5))
    half = z * 0.5
    one = 1.0 - half
    cos = one + (((1.0 - one) - half) + (rounded(z * z * polynomial(z, *_COS)) - r * tail))
    return sin, cos, k.to(INT64)


def sin(x: Term) -> Term:
    """For |x| < REDUCIBLE, and NaN for NaN and infinities."""
    s, c, q = _reduced(x)
    return flip(flip(where((q & 1) != 0, c, s), (q & 2) << 62), sign_of(x))


def cos(x: Term) -> Term:
    """For |x| < REDUCIBLE, and NaN for NaN and infinities."""
    s, c, q = _reduced(x)
    return flip(where((q & 1) != 0, s, c), ((q + 1) & 2) << 62)


def tan(x: Term) -> Term:
    """For |x| < REDUCIBLE, and NaN for NaN and infinities; 2.3 ulp."""
    s, c, q = _reduced(x)
    odd = (q & 1) != 0
    return flip(where(odd, -c, s) / where(odd, s, c), sign_of(x))


# ---- inverse trigonometric functions -----------------------------------------------------------
HALF_PI = (math.pi / 2, 6.123233995736766e-17)  # rounded, and what is left

# atan(t) = t + t**3 P(t**2), |t| < 1.0001 tan(pi/8): interpolation, to 5e-18.
_ATAN = (
    -0.33333333333333331, 0.19999999999999993, -0.14285714285711512, 0.11111111110754082,
    -0.090909090669713144, 0.076923067346423027, -0.066666419899289175, 0.058819248144534424,
    -0.052580373028164366, 0.04719367881728647, -0.041043265590528302, 0.030633162241949809,
    -0.013915657148793118,
)  # fmt: skip
# asin(x) = x + x**3 P(x**2), |x| <= 1/2: interpolation, to 6e-18.
_ASIN = (
    0.16666666666666669, 0.074999999999984329, 0.044642857146355429, 0.030381944138531247,
    0.022372172942149889, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906,
    0.010322814350185779, 0.0054575067186403581, 0.017400879442694021, -0.014851887071247204,
    0.028757851367421566,
)  # fmt: skip


def _angle(y: Term, x: Term, steep: Term, left: Term) -> Term:
    """The angle of a point by 0 <= y <= x, the lesser and the larger of its coordinates.

    `steep`: they were exchanged; `left`: the point lies to the left of the origin.
    """
    scale = where(x > 1e300, x.full(2.0**-60), where(x < 1e-290, x.full(2.0**60), x.full(1.0)))
    y, x = y * scale, x * scale
    outer = y > x * math.tan(math.pi / 8)
    t = where(outer, y - x, y) / where(outer, y + x, x)
    t = where(y == 0.0, y, t)
    z = t * t
    q = t * z * polynomial(z, *_ATAN)
    # The angle is n pi/4 + t; each mirror turns n around and t over.
    n = where(outer, x.full(1.0), x.full(0.0))
    n, t, q = where(steep, 2.0 - n, n), where(steep, -t, t), where(steep, -q, q)
    n, t, q = where(left, 4.0 - n, n), where(left, -t, t), where(left, -q, q)
    return rounded(n * (math.pi / 4)) + (t + (q + rounded(n * 3.061616997868383e-17)))


def atan2(y: Term, x: Term) -> Term:
    """1.8 ulp."""
    u, v = abs(x), abs(y)
    steep = v > u
    a, b = where(steep, u, v), where(steep, v, u)
    both = a == math.inf  # inf / inf counts as 1
    r = _angle(where(both, a.full(1.0), a), where(both, b.full(1.0), b), steep, is_negative(x))
    return flip(where(x == x, where(y == y, r, y), x), sign_of(y))


def atan(x: Term) -> Term:
    """1.8 ulp."""
    t = abs(x)
    steep = t > 1.0
    a, b = minimum(t, 1.0), where(t < math.inf, maximum(t, 1.0), 1e300)
    r = _angle(a, b, steep, steep & ~steep)
    return flip(where(t == t, r, t), sign_of(x))


def _asin_parts(x: Term) -> tuple[Term, Term, Term]:
    """s and q with asin(s) = s + q, for s = |x| up to 1/2, and sqrt((1 - |x|)/2) beyond."""
    a = abs(x)
    big = a > 0.5
    half = (1.0 - a) * 0.5
    s = where(big, half.sqrt(), a)
    z = where(big, half, a * a)
    return big, s, s * z * polynomial(z, *_ASIN)


def asin(x: Term) -> Term:
    """1.6 ulp."""
    big, s, q = _asin_parts(x)
    r = where(big, HALF_PI[0] - (s + (q - HALF_PI[1] * 0.5)) * 2.0, s + q)
    return flip(r, sign_of(x))


def acos(x: Term) -> Term:
    """1.1 ulp."""
    big, s, q = _asin_parts(x)
    near = where(is_negative(x), math.pi - (s + (q - HALF_PI[1])) * 2.0, (s + q) * 2.0)
    far = HALF_PI[0] - (flip(s, sign_of(x)) + (flip(q, sign_of(x)) - HALF_PI[1]))
    return where(big, near, far)


# ---- logarithms --------------------------------------------------------------------------------
# 2 atanh(s) = 2 s + s**3 P(s**2), |s| <= 3 - 2 sqrt(2): fdlibm's e_log.c, by Remez, to 1.3e-18.
_LG = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
    2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
    1.479819860511658591e-01,
)  # fmt: skip


def _log_parts(d: Term) -> tuple[Term, Term]:
    """k and f with d = 2**k (1 + f), 1 + f from sqrt(1/2) to sqrt(2), of a positive number."""
    # The bits of a subnormal number, taken as an integer, are the number times 2**1074.
    k, f = _normal_parts(where(is_tiny(d), d.bits().to(FLOAT64), d))
    return where(is_tiny(d), k - 1074.0, k), f


def _normal_parts(d: Term) -> tuple[Term, Term]:
    """The same of a positive normal number."""
    bits = d.bits()
    k = (bits - 0x3FE6A09E00000000) >> 52
    return k.to(FLOAT64), (bits - (k << 52)).cast(FLOAT64) - 1.0


def _log_rest(f: Term) -> tuple[Term, Term]:
    """h and r with log(1 + f) = f - h + r, where h is f*f/2: fdlibm's polynomial."""
    s = f / (2.0 + f)
    z = s * s
    h = f * f * 0.5
    return h, rounded(s * (h + z * polynomial(z, *_LG)))


def _logarithm(x: Term, value: Term) -> Term:
    """`value` for the positive finite; log of the others."""
    others = where(is_zero(x), x.full(-math.inf), where(x == math.inf, x, x.full(math.nan)))
    return where(is_finite(x) & (x.bits() > 0), value, others)


def log(x: Term) -> Term:
    """0.8 ulp."""
    k, f = _log_parts(x)
    h, r = _log_rest(f)
    return _logarithm(x, k * LN2_HIGH - ((h - (r + k * LN2_LOW)) - f))


def log_of_normal(x: Term) -> Term:
    """The same for positive numbers that are neither subnormal nor infinite: half the code."""
    k, f = _normal_parts(x)
    h, r = _log_rest(f)
    return k * LN2_HIGH - ((h - (r + k * LN2_LOW)) - f)


def log1pmx(u: Term, w: Term) -> Term:
    """log(1 + u) - u, where `w` is 1 + u, normal: of `u` from -0.6 to 1.8, elsewhere of `w`."""
    k, f = _normal_parts(w)
    scale = _power_of_two(-k, 0)
    f = where(abs(k) < 2.0, u * scale + (scale - 1.0), f)
    h, r = _log_rest(f)
    return (k * LN2_HIGH + (f - u)) - (h - (r + k * LN2_LOW))


def log1p(x: Term) -> Term:
    """0.8 ulp."""
    u = 1.0 + x
    back = u - x
    lost = (x - (u - back)) + (1.0 - back)
    k, f = _log_parts(u)
    f = where(k == 0.0, x, f)
    lost = where(k == 0.0, 0.0, lost / u)
    h, r = _log_rest(f)
    value = k * LN2_HIGH - ((h - (r + (k * LN2_LOW + lost))) - f)
    others = where(x == -1.0, x.full(-math.inf), where(x == math.inf, x, x.full(math.nan)))
    return where(is_tiny(x), x, where((x > -1.0) & (x < math.inf), value, others))


def _log_to_base(x: Term, high: float, low: float, step: tuple[float, float]) -> Term:
    """f - h + r times `high + low`, and k times `step`, both in two parts, as in fdlibm."""
    k, f = _log_parts(x)
    h, r = _log_rest(f)
    head = ((f - h).cast(INT64) & -(1 << 32)).cast(FLOAT64)
    tail = (f - head) - h + r
    whole, main = k * step[0], head * high
    rest = rounded(k * step[1]) + (tail + head) * low + tail * high
    total = whole + main
    return _logarithm(x, (rest + ((whole - total) + main)) + total)


def log2(x: Term) -> Term:
    """0.8 ulp."""
    return _log_to_base(x, 1.44269504072144627571, 1.67517131648865118353e-10, (1.0, 0.0))


def log10(x: Term) -> Term:
    """0.7 ulp."""
    step = (3.01029995663611771306e-01, 3.69423907715893078616e-13)
    return _log_to_base(x, 4.34294481878168880939e-01, 2.50829467116452752298e-11, step)


def asinh(x: Term) -> Term:
    """1.7 ulp."""
    t = abs(x)
    big = t > 1e8  # log(2t), as t*t may overflow
    s = where(big, 1.0, t)
    less_one = where(big, t - 1.0, s + s * s / (1.0 + (1.0 + s * s).sqrt()))
    return flip(log1p(less_one) + where(big, x.full(LN2), x.full(0.0)), sign_of(x))


def acosh(x: Term) -> Term:
    """2.6 ulp."""
    big = x > 1e8
    t = x - 1.0
    s = where(big, 1.0, t)
    less_one = where(big, t, s + (s * (s + 2.0)).sqrt())
    value = log1p(less_one) + where(big, x.full(LN2), x.full(0.0))
    return where(x >= 1.0, value, math.nan)


def atanh(x: Term) -> Term:
    """1.9 ulp."""
    t = abs(x)
    return flip(log1p((t + t) / (1.0 - t)) * 0.5, sign_of(x))


# ---- exponentials ------------------------------------------------------------------------------
# exp(r) - 1 = r + r**2 P(r), |r| < 1.01 ln2/2: interpolation, to 2e-18.
_EXPM1 = (
    0.5, 0.16666666666666666, 0.041666666666666678, 0.0083333333333333332, 0.0013888888888878269,
    0.00019841269841262761, 2.4801587338565345e-05, 2.7557319248633827e-06, 2.7557261029343769e-07,
    2.5052069594795685e-08, 2.0918961837795778e-09, 1.6087177234380782e-10,
)  # fmt: skip
# sinh(x) = x + x**3 P(x**2), |x| <= 1: interpolation, to 1e-17.
_SINH = (
    0.16666666666666666, 0.0083333333333332985, 0.00019841269841324198, 2.7557319191381816e-06,
    2.5052117695907823e-08, 1.6057679623801638e-10, 7.7461785930188273e-13,
)  # fmt: skip


def _power_of_two(k: Term, less: int) -> Term:
    """2**(k - less), for a whole number."""
    return ((k.to(INT64) + (1023 - less)) << 52).cast(FLOAT64)


def _expm1_parts(x: Term) -> tuple[Term, Term]:
    """k and p with exp(x) = 2**k (1 + p)."""
    k = (x * (1 / LN2)).nearest()
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    c = (high - r) - low
    return k, r + (rounded(r * r * polynomial(r, *_EXPM1)) + c * (1.0 + r))


def expm1(x: Term) -> Term:
    """1.4 ulp."""
    k, p = _expm1_parts(clip(-60.0, x, 709.9))
    half = _power_of_two(k, 1)  # 2**1024 is infinite where 2**1024 (1 + p) need not be
    value = where(k == 0.0, p, (p * half + (half - 0.5)) * 2.0)  # half of p may be flushed
    return copysign(value, x)


def expm1mx(x: Term) -> Term:
    """exp(x) - 1 - x, for |x| < 700."""
    k = (x * (1 / LN2)).nearest()
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    scale = _power_of_two(k, 0)
    return ((scale - 1.0) + (scale * r - x)) + scale * (r * r * polynomial(r, *_EXPM1))


def _half_exp(x: Term) -> Term:
    """exp(x) / 2, of 0 and more; infinite where sinh(x) is."""
    k, p = _expm1_parts(minimum(x, 710.7))
    return ((p + 1.0) * _power_of_two(k, 2)) * 2.0


def cosh(x: Term) -> Term:
    """1.3 ulp."""
    e = _half_exp(abs(x))
    return e + 0.25 / e


def sinh(x: Term) -> Term:
    """1.6 ulp."""
    t = abs(x)
    e = _half_exp(t)
    z = minimum(t * t, 1.0)
    return flip(where(t < 1.0, t + t * z * polynomial(z, *_SINH), e - 0.25 / e), sign_of(x))


# ---- cube root ---------------------------------------------------------------------------------
def cbrt(x: Term) -> Term:
    """0.6 ulp: the kernel of f32, and one step more, on a root of 17 bits whose cube is exact."""
    size, tiny = abs(x), is_tiny(x)
    small = tiny | (size < 1e-280)  # or else the last correction is flushed
    # The bits of a subnormal number, taken as an integer, are the number times 2**1074.
    d = where(tiny, magnitude(x).to(FLOAT64), size * where(small, x.full(2.0**60), x.full(1.0)))
    high = d.cast(INT64) >> 32
    y = ((GUESS - ((high * 0x55555556) >> 32)) << 32).cast(FLOAT64)
    for _ in range(2):
        e = 1.0 - d * y * y * y
        y = y + y * e * (e * (2 / 9) + 1 / 3)
    r = d * y * y
    head = ((r.cast(INT64) + (1 << 34)) & -(1 << 35)).cast(FLOAT64)
    tail = r - head
    r = r + ((d - head * head * head) - 3.0 * head * tail * (head + tail)) * y * y * (1 / 3)
    r = r * where(tiny, x.full(2.0**-358), where(small, x.full(2.0**-20), x.full(1.0)))
    return where(is_zero(x) | ~is_finite(x), x, copysign(r, x))
