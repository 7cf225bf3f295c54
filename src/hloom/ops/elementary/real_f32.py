"""Elementary functions of f32, as short polynomials that XLA's CPU vectorises.

XLA calls the C library for most of these, one element at a time: 4 to 12 ms for 1e6 elements, where
the kernels below take 0.25 to 1.  Nearly all work in f64, where a polynomial of relative error
1e-9 loses nothing, and round once: 0.5 to 0.6 ulp.  None relies on fused multiply-adds.

A table of coefficients says which equation they are for, where, how they were made and the
relative error: `docs/fits` makes each anew and measures it.
"""

from __future__ import annotations

import math

from hloom.ops.common.expression import (
    FLOAT32,
    FLOAT64,
    INT32,
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

LN2 = math.log(2)

# ---- sine, cosine, tangent -------------------------------------------------------------------
#: Beyond this the reduction by pi/2 in two parts is no longer exact.
REDUCIBLE = 1e6

# sin(r) = r + r**3 P(r**2), |r| < 1.001 pi/4: interpolation at Chebyshev's nodes, to 2e-11.
_SIN = (
    -0.16666666663832763, 0.0083333318659594147, -0.00019840082012765537,
    2.7249314054698804e-06,
)  # fmt: skip
# cos(r) = 1 - r**2/2 + r**4 P(r**2), |r| < 1.001 pi/4: interpolation, to 1.1e-09.
_COS = (0.041666664647457378, -0.0013888300696903899, 2.45474372101932e-05)


def _reduced(d: Term) -> tuple[Term, Term, Term]:
    """Sine and cosine of d >= 0 less a multiple of pi/2, in f64, and that multiple as an i32."""
    k = (d * (2 / math.pi)).nearest()
    # The first part of pi/2 has 33 bits, so that its product with k is exact: as in fdlibm.
    r = (d - k * 1.5707963267341256) - k * 6.0771005065061922e-11
    z = r * r
    sin = r + r * z * polynomial(z, *_SIN)
    cos = (1.0 - z * 0.5) + z * z * polynomial(z, *_COS)
    return sin, cos, k.to(INT32)


def sin(x: Term) -> Term:
    """For |x| < REDUCIBLE, and NaN for NaN and infinities."""
    s, c, q = _reduced(abs(x).to(FLOAT64))
    value = where((q & 1) != 0, c, s).to(FLOAT32)
    return flip(flip(value, (q & 2) << 30), sign_of(x))


def cos(x: Term) -> Term:
    """For |x| < REDUCIBLE, and NaN for NaN and infinities."""
    s, c, q = _reduced(abs(x).to(FLOAT64))
    value = where((q & 1) != 0, s, c).to(FLOAT32)
    return flip(value, ((q + 1) & 2) << 30)


def tan(x: Term) -> Term:
    """For |x| < REDUCIBLE, and NaN for NaN and infinities."""
    s, c, q = _reduced(abs(x).to(FLOAT64))
    odd = (q & 1) != 0
    quotient = where(odd, -c, s) / where(odd, s, c)
    return flip(quotient.to(FLOAT32), sign_of(x))


def sin_wide(d: Term) -> Term:
    """The sine of an f64 from 0 to pi/2, to 1.1e-09."""
    s, c, q = _reduced(d)
    return where((q & 1) != 0, c, s)


def tan_wide(d: Term) -> Term:
    """The tangent of an f64 from -pi/2 to pi/2, to 1.1e-9."""
    s, c, q = _reduced(abs(d))
    odd = (q & 1) != 0
    return flip(where(odd, -c, s) / where(odd, s, c), sign_of(d))


# ---- inverse trigonometric functions, in f32 ---------------------------------------------------
HALF_PI = (1.57079637050628662, -4.37113883e-08)  # rounded to f32, and what is left
PI = 3.14159274101257324

# atan(x) = x + x**3 P(x**2), |x| <= 1: interpolation, to 3e-10, and 2.4e-08 rounded to f32.
_ATAN = (
    -0.33333333293301176, 0.19999990275947271, -0.14285317963907304, 0.1110470678864422,
    -0.090367423420707818, 0.074174969643005101, -0.057607160831281173, 0.038327445983064846,
    -0.019261081322765883, 0.0062072545337800503, -0.0009362994719496015,
)  # fmt: skip

# asin(x) = x + x**3 P(x**2), |x| <= 1/2: interpolation, to 6e-11, and 1e-09 rounded to f32.
_ASIN = (
    0.16666666686085643, 0.074999924044018382, 0.044647663888134848, 0.030269138728589183,
    0.023611817008891752, 0.010574415516912909, 0.030974540371355073,
)  # fmt: skip


def _atan_rest(a: Term) -> Term:
    """atan(a) - a, for a from 0 to 1; an exact 1 gives an exact pi/4."""
    z = a * a
    return where(a == 1.0, math.pi / 4 - 1.0, a * z * polynomial(z, *_ATAN))


def atan(x: Term) -> Term:
    """1.2 ulp."""
    t = abs(x)
    steep = t > 1.0
    a = where(steep, 1.0 / t, t)
    r = a + _atan_rest(a)
    r = where(steep, HALF_PI[0] - (r - HALF_PI[1]), r)
    return flip(r, sign_of(x))


def atan2(y: Term, x: Term) -> Term:
    """1.5 ulp."""
    u, v = abs(x), abs(y)
    steep = v > u
    a, b = where(steep, u, v), where(steep, v, u)
    t = where(a == 0.0, a, where(a == b, a.full(1.0), a / b))
    q = _atan_rest(t)
    left = is_negative(x)
    base = where(steep, HALF_PI[0], where(left, x.full(PI), x.full(0.0)))
    rest = rounded(base * -2.7827534e-08)  # what both bases lack, as they are rounded to f32
    back = steep ^ left
    r = base + (where(back, -t, t) + (where(back, -q, q) + rest))
    r = where(x == x, where(y == y, r, y), x)
    return flip(r, sign_of(y))


def _asin_parts(x: Term) -> tuple[Term, Term, Term]:
    """s and q with asin(s) = s + q, for s = |x| up to 1/2, and sqrt((1 - |x|)/2) beyond."""
    a = abs(x)
    big = a > 0.5
    half = (1.0 - a) * 0.5
    s = where(big, half.sqrt(), a)
    z = where(big, half, a * a)
    return big, s, s * z * polynomial(z, *_ASIN)


def asin(x: Term) -> Term:
    """1.7 ulp."""
    big, s, q = _asin_parts(x)
    r = where(big, HALF_PI[0] - (s + (q - HALF_PI[1] * 0.5)) * 2.0, s + q)
    return flip(r, sign_of(x))


def acos(x: Term) -> Term:
    """1.1 ulp."""
    big, s, q = _asin_parts(x)
    left = is_negative(x)
    near = where(left, PI - (s + (q - HALF_PI[1])) * 2.0, (s + q) * 2.0)
    far = HALF_PI[0] - (flip(s, sign_of(x)) + (flip(q, sign_of(x)) - HALF_PI[1]))
    return where(big, near, far)


# ---- logarithms --------------------------------------------------------------------------------
# log(1 + f) = f + f**2 P(f), 1 + f from sqrt(1/2) to sqrt(2): interpolation, to 6e-12.
_LOG = (
    -0.4999999999883053, 0.33333333366870366, -0.25000000854622706, 0.19999993219563941,
    -0.1666656227870221, 0.14286047739585878, -0.12504756814100329, 0.11106873335263091,
    -0.099019692651431748, 0.090401104923023376, -0.092249750027348601, 0.090680954561938185,
    -0.048596161290904709,
)  # fmt: skip


def wide(x: Term) -> Term:
    """|x| as an f64, in which no subnormal number is lost."""
    return where(is_tiny(x), magnitude(x).to(FLOAT64) * 2.0**-149, abs(x).to(FLOAT64))


def _log_split(d: Term) -> tuple[Term, Term]:
    """k and f with d = 2**k (1 + f), 1 + f from sqrt(1/2) to sqrt(2), of a positive f64."""
    bits = d.cast(INT64)
    k = (bits - 0x3FE6A09E00000000) >> 52
    return k.to(FLOAT64), (bits - (k << 52)).cast(FLOAT64) - 1.0


def _log_parts(d: Term, less_one: Term | None = None) -> tuple[Term, Term]:
    """k and p with log(d) = k ln2 + p, of a positive f64; `less_one` is d - 1, if it is known."""
    k, f = _log_split(d)
    if less_one is not None:
        f = where(k == 0.0, less_one, f)
    return k, f + f * f * polynomial(f, *_LOG)


def log_wide(d: Term, less_one: Term | None = None) -> Term:
    """log(d) of a positive f64, to 1e-11; `less_one` is d - 1, if it is known."""
    k, p = _log_parts(d, less_one)
    return k * LN2 + p


def half_log(square: Term, less_one: Term) -> Term:
    """log(square) / 2 as f32, of an f64 that is not negative; `less_one` is square - 1."""
    value = log_wide(square, less_one) * 0.5
    value = where(square == 0.0, -math.inf, where(square < math.inf, value, square))
    return value.to(FLOAT32)


def log_length(x: Term, y: Term) -> Term:
    """The logarithm of the length of (x, y).  The squares are exact, so that 1 may be taken off."""
    u, v = wide(x), wide(y)
    large, small = maximum(u, v), minimum(u, v)
    large, small = large * large, small * small
    return half_log(large + small, (large - 1.0) + small)


def log1p_length(x: Term, y: Term) -> Term:
    """The logarithm of the length of (1 + x, y)."""
    u, v = x.to(FLOAT64), wide(y)
    above = u + 1.0
    return half_log(above * above + v * v, (u * u + v * v) + (u + u))


def _logarithm(x: Term, value: Term) -> Term:
    """`value` for the positive finite; log of the others."""
    others = where(is_zero(x), x.full(-math.inf), where(x == math.inf, x, x.full(math.nan)))
    return where(is_finite(x) & (x.bits() > 0), value.to(FLOAT32), others)


def log2(x: Term) -> Term:
    k, p = _log_parts(wide(x))
    return _logarithm(x, k + p * (1 / LN2))


def log10(x: Term) -> Term:
    k, p = _log_parts(wide(x))
    return _logarithm(x, rounded(k * math.log10(2)) + p * (1 / math.log(10)))


def log1p(x: Term) -> Term:
    d = x.to(FLOAT64)
    u = 1.0 + d
    value = log_wide(u, d).to(FLOAT32)
    others = where(x == -1.0, x.full(-math.inf), where(x == math.inf, x, x.full(math.nan)))
    return where(is_tiny(x), x, where((x > -1.0) & (x < math.inf), value, others))


def asinh(x: Term) -> Term:
    t = abs(x).to(FLOAT64)
    value = log_wide(t + (t * t + 1.0).sqrt())
    value = where(t < 1e-3, t - t * t * t * (1 / 6), value)
    return flip(where(t < math.inf, value, t).to(FLOAT32), sign_of(x))


def acosh(x: Term) -> Term:
    t = x.to(FLOAT64)
    u = (t - 1.0) + ((t - 1.0) * (t + 1.0)).sqrt()
    value = log_wide(1.0 + u, u)
    value = where(t < math.inf, value, t)
    return where(t >= 1.0, value, math.nan).to(FLOAT32)


def atanh(x: Term) -> Term:
    t = abs(x).to(FLOAT64)
    q = (t + t) / (1.0 - t)
    value = log_wide(1.0 + q, q) * 0.5
    value = where(t < 1.0, value, where(t == 1.0, t.full(math.inf), t.full(math.nan)))
    return flip(value.to(FLOAT32), sign_of(x))


# ---- exponentials ------------------------------------------------------------------------------
# exp(r) - 1 = r + r**2 P(r), |r| < 1.01 ln2/2: interpolation, to 6e-10.
_EXPM1 = (
    0.50000000142862233, 0.16666666682534356, 0.041666456809677878, 0.0083333100242252919,
    0.0013934541928270264, 0.0001989198131397769,
)  # fmt: skip
# 2**r = 1 + r P(r), |r| <= 1/2: interpolation, to 1.2e-10.
_EXP2 = (
    0.69314718055994529, 0.24022650922288757, 0.055504108839096185, 0.0096180566785246373,
    0.001333350238616277, 0.00015461444698569129, 1.5297323760701075e-05,
)  # fmt: skip
# sinh(r) = r + r**3 P(r**2), |r| < 1.01 ln2/2: the odd part of _EXPM1, to 2e-11.
_SINH = _EXPM1[1::2]
# cosh(r) = 1 + r**2 P(r**2), |r| < 1.01 ln2/2: interpolation, to 6e-14.
_COSH = (
    0.49999999999951383, 0.041666666793628057, 0.0013888837087667207, 2.4869204166523371e-05,
)  # fmt: skip


def power_of_two(k: Term) -> Term:
    """2**k as f64, for a whole f64."""
    return ((k.to(INT64) + 1023) << 52).cast(FLOAT64)


def _split(d: Term) -> tuple[Term, Term]:
    """k and r with d = k ln2 + r, of an f64 clamped to where f32 is neither 0 nor infinite."""
    d = clip(-100.0, d, 100.0)
    k = (d * (1 / LN2)).nearest()
    return k, d - k * LN2


def expm1(x: Term) -> Term:
    k, r = _split(x.to(FLOAT64))
    scale = power_of_two(k)
    value = (r + r * r * polynomial(r, *_EXPM1)) * scale + (scale - 1.0)
    return copysign(value.to(FLOAT32), x)


def exp2_wide(d: Term) -> Term:
    """2**d, of an f64, to 1e-10; d is clamped to [-200, 200]."""
    d = clip(-200.0, d, 200.0)
    k = d.nearest()
    r = d - k
    return (1.0 + r * polynomial(r, *_EXP2)) * power_of_two(k)


def exp2(x: Term) -> Term:
    return exp2_wide(x.to(FLOAT64)).to(FLOAT32)


def _hyperbolic(x: Term) -> tuple[Term, Term, Term, Term]:
    """sinh r, cosh r, 2**(k-1) and 2**(-k-1), where x = k ln2 + r."""
    k, r = _split(x.to(FLOAT64))
    z = r * r
    s = r + r * z * polynomial(z, *_SINH)
    c = 1.0 + z * polynomial(z, *_COSH)
    return s, c, power_of_two(k - 1.0), power_of_two(-k - 1.0)


def sinh(x: Term) -> Term:
    s, c, a, b = _hyperbolic(x)
    return copysign((rounded((a - b) * c) + (a + b) * s).to(FLOAT32), x)


def cosh(x: Term) -> Term:
    s, c, a, b = _hyperbolic(x)
    return (rounded((a + b) * c) + (a - b) * s).to(FLOAT32)


# ---- power -------------------------------------------------------------------------------------
# As _LOG: Chebyshev's series, in powers of f, to 3e-14: an error in it counts up to 128 times.
_LOG_OF_POWER = (
    -0.5000000000000543, 0.3333333333348756, -0.24999999994381378, 0.1999999994120655,
    -0.16666667586495934, 0.14285721135327678, -0.12499945910368619, 0.11110747154544287,
    -0.10001388675494588, 0.09100960296958271, -0.08319273138962634, 0.07545290664995055,
    -0.07122464254346628, 0.07701300286049578, -0.07529661408688954, 0.03756223865727686,
)  # fmt: skip


def power(x: Term, y: Term) -> Term:
    """0.6 ulp, and C99's special values."""
    d = abs(x)
    k, f = _log_split(wide(x))
    logarithm = k + (f + f * f * polynomial(f, *_LOG_OF_POWER)) * (1 / LN2)
    value = exp2_wide(y.to(FLOAT64) * logarithm).to(FLOAT32)
    # The exponent's parity; from 2**24 on every float is even, and infinities count as even.
    half = y * 0.5
    whole = y.floor() == y
    odd = whole & (half.floor() != half)
    endless = abs(y) == math.inf
    # 0 and infinity as a base, and the limits for an infinite exponent.
    limit = where((d > 1.0) ^ (y < 0.0), x.full(math.inf), x.full(0.0))
    value = where(is_zero(x) | (d == math.inf) | endless, limit, value)
    value = where(odd & is_negative(x), -value, value)
    negative = is_negative(x) & ~is_zero(x)
    value = where(negative & ~whole & (d != math.inf), math.nan, value)
    value = where((x == x) & (y == y), value, math.nan)
    value = where((d == 1.0) & endless, 1.0, value)
    return where(is_zero(y) | (x == 1.0), 1.0, value)


# ---- cube root ---------------------------------------------------------------------------------
#: A guess for 1 / cbrt(d) is this less a third of the upper half of d's bits.  It is off by 0.0342
#: either way, which no other integer betters; after each step by 2e-4 and 4e-11.
GUESS = 0x553EF0FF


def cbrt(x: Term) -> Term:
    """By two steps of third order towards 1 / cbrt(x), from a guess on the bits."""
    d = wide(x)
    high = d.cast(INT64) >> 32
    y = ((GUESS - ((high * 0x55555556) >> 32)) << 32).cast(FLOAT64)
    for _ in range(2):
        e = 1.0 - d * y * y * y
        y = y + y * e * (e * (2 / 9) + 1 / 3)
    # (copysign here would be miscompiled for many bf16 on jaxlib 0.10.)
    root = flip((d * y * y).to(FLOAT32), sign_of(x))
    return where(abs(x) < math.inf, root, x)
