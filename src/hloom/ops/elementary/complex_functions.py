"""Elementary functions of complex numbers, with NumPy's branch cuts, infinities and signed zeros.

XLA's own lose the sign of zero, so that what lies on a branch cut lands on its wrong side, and lose
infinities beside NaN.  Most formulas here are in real arithmetic; the inverse functions fold their
operand into the first quadrant, where XLA's are right, and restore the signs by bits.
"""

from __future__ import annotations

import math

from hloom.ops.common.expression import (
    FLOAT32,
    FLOAT64,
    Term,
    chlo,
    complex_of,
    copysign,
    divide_complex,
    flip,
    is_finite,
    is_inf,
    is_nan,
    is_negative,
    is_zero,
    maximum,
    rounded,
    sign_of,
    where,
)
from hloom.ops.elementary import real_f32, real_f64, real_functions


def _times_exp(x: Term, factor: Term) -> Term:
    """exp(x) * factor, also where exp(x) overflows and the product does not."""
    half = real_functions.exp(x * 0.5)
    return where(x > real_functions.large(x), half * factor * half, real_functions.exp(x) * factor)


def exp(z: Term) -> Term:
    x, y = z.real, z.imag
    size = real_functions.exp(x)
    cos, sin = real_functions.cos(y), real_functions.sin(y)
    real, imag = _times_exp(x, cos), _times_exp(x, sin)
    bounded = is_finite(y)
    # exp(-inf + iy) is a zero, exp(inf + iy) of an infinite or NaN y is (inf, nan).
    shrunk = is_inf(x) & is_negative(x)
    real = where(shrunk, where(bounded, copysign(size, cos), size), real)
    imag = where(shrunk, copysign(size, where(bounded, sin, y)), imag)
    grown = is_inf(x) & ~is_negative(x) & ~bounded
    real = where(grown, math.inf, real)
    imag = where(grown, math.nan, imag)
    straight = is_zero(y)
    return complex_of(where(straight, size, real), where(straight, y, imag))


def hypot(x: Term, y: Term) -> Term:
    """The length of (x, y); an infinite part wins over a NaN.  In f64, where nothing overflows."""
    if x.dtype == FLOAT32:
        a, b = x.to(FLOAT64), y.to(FLOAT64)
        length = (a * a + b * b).sqrt().to(FLOAT32)
    else:
        length = abs(complex_of(x, y))
    return where(is_inf(x) | is_inf(y), math.inf, length)


def log(z: Term) -> Term:
    x, y = z.real, z.imag
    if x.dtype == FLOAT32:
        length = real_f32.log_length(x, y)
    else:  # XLA's own logarithm has the accurate log |z|
        length = real_functions.in_vectors(z, lambda z: z.apply("log")).real
    size = where(is_inf(x) | is_inf(y), math.inf, length)
    return complex_of(size, real_functions.atan2(y, x))


def log1p(z: Term) -> Term:
    """The logarithm of the length of 1 + z, near 1 by what it exceeds 1; and its direction."""
    x, y = z.real, z.imag
    if x.dtype == FLOAT32:
        length = where(is_inf(x) | is_inf(y), math.inf, real_f32.log1p_length(x, y))
        return complex_of(length, real_functions.atan2(y, x + 1.0))
    # NumPy's has no digit of a small z.
    near = real_functions.log1p(rounded(x * (x + 2.0)) + y * y) * 0.5
    far = real_functions.log(hypot(x + 1.0, y))
    is_near = (abs(x) < 0.5) & (abs(y) < 0.5)
    return complex_of(where(is_near, near, far), real_functions.atan2(y, x + 1.0))


def expm1(z: Term) -> Term:
    """As NumPy: expm1(x) cos(y) - 2 sin(y/2)**2, and exp(x) sin(y)."""
    x, y = z.real, z.imag
    half = real_functions.sin(y * 0.5)
    real = rounded(real_functions.expm1(x) * real_functions.cos(y)) - half * half * 2.0
    return complex_of(real, real_functions.exp(x) * real_functions.sin(y))


def exp2(z: Term) -> Term:
    return exp(_scaled(z, math.log(2)))


def log2(z: Term) -> Term:
    return _scaled(log(z), 1 / math.log(2))


def log10(z: Term) -> Term:
    return _scaled(log(z), 1 / math.log(10))


def _scaled(z: Term, factor: float) -> Term:
    return complex_of(z.real * factor, z.imag * factor)


def sqrt(z: Term) -> Term:
    x, y = z.real, z.imag
    a, b = abs(x), abs(y)
    # Scaled by a power of two, so that neither the length nor its half overflows.
    size = maximum(a, b)
    small = size < 1e-20
    factor = where(small, x.full(2.0**60), x.full(2.0**-4))
    back = where(small, x.full(2.0**-30), x.full(4.0))
    scaled = ((a * factor + abs(complex_of(x * factor, y * factor))) * 0.5).sqrt()
    large = scaled * back
    small_part = b / (large * 2.0)
    zero = is_zero(x) & is_zero(y)
    large, small_part = where(zero, x.full(0.0), large), where(zero, x.full(0.0), small_part)
    real, imag = where(is_negative(x), small_part, large), where(is_negative(x), large, small_part)
    # sqrt(inf + iy) = inf + i0, sqrt(-inf + iy) = 0 + i inf, sqrt(x + i inf) = inf + i inf
    endless, nan = is_inf(x), is_nan(y)
    real = where(endless, where(is_negative(x), where(nan, y, x.full(0.0)), a), real)
    imag = where(endless, where(is_negative(x), a, where(nan, y, x.full(0.0))), imag)
    real, imag = where(is_inf(y), math.inf, real), where(is_inf(y), math.inf, imag)
    return complex_of(real, copysign(imag, y))


def reciprocal(z: Term) -> Term:
    """1 / z by Smith's algorithm, with the signs of zero that NumPy's has; of 0 all NaN."""
    x, y = z.real, z.imag
    real_wins = abs(x) >= abs(y)
    large, small = where(real_wins, x, y), where(real_wins, y, x)
    ratio = small / large
    length = large + rounded(small * ratio)
    one, rest = x.full(1.0) / length, ratio / length
    return complex_of(where(real_wins, one, rest), where(real_wins, -rest, -one))


def rsqrt(z: Term) -> Term:
    """1 / sqrt(z); 0 where a part is infinite."""
    root = divide_complex(z.full(1.0), sqrt(z))
    endless = is_inf(z.real) | is_inf(z.imag)
    zero = root.real.full(0.0)
    real = where(endless, zero, root.real)
    return complex_of(real, where(endless, copysign(zero, -z.imag), root.imag))


def sinh(z: Term) -> Term:
    x, y = z.real, z.imag
    cos, sin = real_functions.cos(y), real_functions.sin(y)
    big, a = abs(x) > real_functions.large(x), abs(x) - math.log(2)
    real = where(big, flip(_times_exp(a, cos), sign_of(x)), real_functions.sinh(x) * cos)
    imag = where(big, _times_exp(a, sin), real_functions.cosh(x) * sin)
    bounded = is_finite(y)
    real = where(is_zero(x) & ~bounded, x, real)
    real = where(is_inf(x) & ~bounded, math.inf, real)
    imag = where(is_inf(x) & ~bounded, math.nan, imag)
    straight = is_zero(y)
    return complex_of(where(straight, real_functions.sinh(x), real), where(straight, y, imag))


def cosh(z: Term) -> Term:
    x, y = z.real, z.imag
    cos, sin = real_functions.cos(y), real_functions.sin(y)
    big, a = abs(x) > real_functions.large(x), abs(x) - math.log(2)
    real = where(big, _times_exp(a, cos), real_functions.cosh(x) * cos)
    imag = where(big, flip(_times_exp(a, sin), sign_of(x)), real_functions.sinh(x) * sin)
    bounded = is_finite(y)
    imag = where(is_zero(x) & ~bounded, x.full(0.0), imag)
    real = where(is_inf(x) & ~bounded, math.inf, real)
    imag = where(is_inf(x) & ~bounded, math.nan, imag)
    straight = is_zero(y)
    level = where(is_nan(x), y, flip(y, sign_of(x)))
    return complex_of(where(straight, real_functions.cosh(x), real), where(straight, level, imag))


def cos(z: Term) -> Term:
    """cos(z) = cosh(iz)."""
    return cosh(complex_of(-z.imag, z.real))


def sin(z: Term) -> Term:
    """sin(z) = -i sinh(iz)."""
    turned = sinh(complex_of(-z.imag, z.real))
    endless = is_inf(z.imag) & ~is_finite(z.real)  # this infinity may have either sign
    return complex_of(turned.imag, where(endless, math.inf, -turned.real))


def _in_first_quadrant(name: str, z: Term) -> Term:
    """An inverse function of the operand's image in the first quadrant."""
    folded = complex_of(abs(z.real), abs(z.imag))
    return real_functions.in_vectors(folded, lambda z: chlo(name, z))


def _unknown(z: Term, part: Term) -> Term:
    """NaN beside a finite part leaves nothing to know of an inverse function's size."""
    x, y = z.real, z.imag
    return where((is_nan(x) & is_finite(y)) | (is_nan(y) & is_finite(x)), math.nan, part)


def asin(z: Term) -> Term:
    x, y = z.real, z.imag
    w = _in_first_quadrant("asin", z)
    real = where(is_zero(x) & is_nan(y), x, copysign(w.real, x))
    return complex_of(real, copysign(_unknown(z, w.imag), y))


def asinh(z: Term) -> Term:
    """asinh(z) = i asin(-iz)."""
    turned = asin(complex_of(z.imag, -z.real))
    return complex_of(-turned.imag, turned.real)


def acos(z: Term) -> Term:
    x, y = z.real, z.imag
    w = real_functions.in_vectors(complex_of(x, abs(y)), lambda z: chlo("acos", z))
    real = where(is_zero(x) & is_nan(y), math.pi / 2, w.real)
    return complex_of(real, -copysign(_unknown(z, w.imag), y))


def acosh(z: Term) -> Term:
    """acosh(z) is i acos(z) or -i acos(z), whichever has no negative real part."""
    x, y = z.real, z.imag
    w = real_functions.in_vectors(complex_of(x, abs(y)), lambda z: chlo("acosh", z))
    imag = where(is_zero(x) & is_nan(y), math.pi / 2, w.imag)
    return complex_of(_unknown(z, w.real), copysign(imag, y))


def _atanh_in_first_quadrant(z: Term) -> tuple[Term, Term]:
    """The parts of atanh of the operand's image there, in f64; no product is left to be fused."""
    single = z.real.dtype == FLOAT32
    x, y = (real_f32.wide(part) if single else abs(part) for part in (z.real, z.imag))
    far = (x > 1e150) | (y > 1e150)
    u, v = where(far, 0.0, x), where(far, 0.0, y)
    less, square = 1.0 - u, rounded(v * v)
    ratio = (u * 4.0) / (rounded(less * less) + square)
    pole = ratio == math.inf  # close to 1 the square may be flushed: the root of the ratio serves
    ratio = where(pole, 2.0 / v, ratio)
    size = real_f32.log_wide(1.0 + ratio, ratio) if single else real_f64.log1p(ratio)
    size = where(ratio == math.inf, ratio, size * where(pole, ratio.full(0.5), 0.25))
    angle = real_f64.atan2(v + v, rounded(less * (1.0 + u)) - square) * 0.5
    u, v = x * 2.0**-520, y * 2.0**-520
    distant = u / (rounded(u * u) + rounded(v * v)) * 2.0**-520
    distant = where((x == math.inf) | (y == math.inf), 0.0, distant)
    dtype = z.real.dtype
    return where(far, distant, size).to(dtype), where(far, math.pi / 2, angle).to(dtype)


def atanh(z: Term) -> Term:
    x, y = z.real, z.imag
    size, angle = _atanh_in_first_quadrant(z)
    # Beside a NaN only an infinite part, or a real part of zero, leaves something to know.
    unknown = is_nan(x) | is_nan(y)
    vanishes = (is_inf(x) & is_nan(y)) | (is_nan(x) & is_inf(y)) | (is_zero(x) & is_nan(y))
    real = where(unknown, where(vanishes, x.full(0.0), x.full(math.nan)), size)
    imag = where(unknown & ~is_inf(y), math.nan, angle)
    return complex_of(copysign(real, x), copysign(imag, y))


def atan(z: Term) -> Term:
    """atan(z) = i atanh(-iz)."""
    turned = atanh(complex_of(z.imag, -z.real))
    return complex_of(-turned.imag, turned.real)


def tanh(z: Term) -> Term:
    x, y = z.real, z.imag
    w = real_functions.in_vectors(complex_of(abs(x), abs(y)), lambda z: z.apply("tanh"))
    real, imag = flip(w.real, sign_of(x)), flip(w.imag, sign_of(y))
    real = where(is_zero(x) & ~is_finite(y), x, real)
    return complex_of(real, where(is_nan(x) & is_zero(y), y, imag))


def tan(z: Term) -> Term:
    """tan(z) = i tanh(-iz)."""
    turned = tanh(complex_of(z.imag, -z.real))
    return complex_of(-turned.imag, turned.real)


def sign(z: Term) -> Term:
    """z / |z|; 0 where that is 0, or flushed; an infinite part alone points along its axis."""
    x, y = z.real, z.imag
    size = abs(z)
    zero = size == 0.0
    divisor = where(zero, x.full(1.0), size)
    real, imag = x / divisor, y / divisor
    only_x, only_y = is_inf(x) & ~is_inf(y), is_inf(y) & ~is_inf(x)
    one = x.full(1.0)
    real = where(only_x, copysign(one, x), where(only_y | zero, x.full(0.0), real))
    imag = where(only_y, copysign(one, y), where(only_x | zero, y.full(0.0), imag))
    both = is_inf(x) & is_inf(y)
    return complex_of(where(both, math.nan, real), where(both, math.nan, imag))


def logistic(z: Term) -> Term:
    """1 / (1 + exp(-z)), with an exponential that can't overflow."""
    left = z.real < 0.0
    e = exp(where(left, z, -z))
    return divide_complex(where(left, e, e.full(1.0)), e + 1.0)


def _whole_power(z: Term, n: Term) -> Term:
    """z to a whole power n, not beyond 127 either way, by repeated squares."""
    left, square = abs(n), z
    half = (left * 0.5).floor()
    begun = left != half * 2.0
    product = where(begun, z, z.full(1.0))
    for _ in range(6):
        left, square = half, square * square
        half = (left * 0.5).floor()
        odd = left != half * 2.0
        # The first factor is not multiplied by 1: that makes NaN beside an infinity.
        product = where(odd, where(begun, product * square, square), product)
        begun = begun | odd
    return where(n < 0.0, divide_complex(z.full(1.0), product), product)


def power(z: Term, w: Term) -> Term:
    """exp(w log z), whole powers by repeated squares, as NumPy.

    0 to the power w is 1, 0 or NaN, as w is 0, has a positive real part or not.
    """
    x, y = w.real, w.imag
    whole = is_zero(y) & (x == x.floor()) & (abs(x) < 100.0)
    result = where(whole, _whole_power(z, where(whole, x, x.full(1.0))), exp(log(z) * w))
    of_zero = where(x > 0.0, w.full(0.0), w.full(complex(math.nan, math.nan)))
    return where(w == 0.0, w.full(1.0), where(z == 0.0, of_zero, result))
