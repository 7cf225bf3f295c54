"""Lowerings of special functions, in f64 throughout; f32 is rounded once.

XLA's own expansions lose all digits near the zeros of `lgamma` and `digamma`, and two in the tail
of `erfc`.  For 1e6 elements of f32 they take 5.6, 7.0 and 1.0 ms; the programs below take 2.7, 2.6
and 0.8.  Errors are in ulp of f64; those of f32 are 0.5.

A table of coefficients says which equation they are for, where, how they were made and the
relative error: `docs/fits` makes each anew and measures it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.ops.common.expression import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT64,
    Term,
    chlo,
    clip,
    copysign,
    holds_anywhere,
    is_negative,
    minimum,
    polynomial,
    replaced_if,
    where,
)
from hloom.ops.elementary import real_f32, real_f64, real_functions

# ---- error functions ---------------------------------------------------------------------------
# exp(x*x) erfc(x) = P((x - 4)/(x + 4) + 1/8) / (1 + 2x), x from 0 to 28: Chebyshev's series, in
# powers, to 8e-10 for f32 and 6e-17 for f64.
_ERFC_SHORT = (
    1.250527262949538, -0.13935699687115377, -0.021728384843391207, 0.13620053832680998,
    -0.1780065371802092, 0.1576056107258943, -0.10679328450948743, 0.056364028810345156,
    -0.02233185617325037, 0.005718157532944154, -0.000271688674478806, -0.0004255167498074506,
    0.00012301653157516314,
)  # fmt: skip
_ERFC = (
    1.2505272632390394, -0.13935699030454549, -0.021728422111116245, 0.13620030141160167,
    -0.17800575240473823, 0.15760803746367763, -0.10679950081508278, 0.05635350270829027,
    -0.022308280855401465, 0.005739762806411546, -0.00031808655996892776, -0.0004451236181265776,
    0.00016952930690675752, 3.798425672423782e-06, -2.026688818385592e-05, 3.35844257269758e-06,
    2.0082847898764492e-06, -6.807453411246679e-07, -2.0447465733415257e-07,
    1.0565126620873704e-07, 2.3968098638807107e-08, -1.4088256316672236e-08,
    -3.058186451321704e-09, 1.230616140167745e-09, 2.811176622204561e-10,
)  # fmt: skip


# erf(x) = x p(x*x) / q(x*x), x from 0 to 4, where the last five are those of q after its 1: by
# Lawson's steps, to 2.1e-09.
_ERF = (
    1.1283791693884573, 0.18520120588266975, 0.05431826711393464, 0.003849743697109991,
    0.0003796781922224071, 4.6866531121376154e-06, -1.3211697391679055e-08,
    0.4974637094447564, 0.11395902042549196, 0.015462590862538176, 0.0013076906746014375,
    6.312844526644831e-05,
)  # fmt: skip


def erf(x: Term) -> Term:
    """0.6 ulp of f32, in f64; XLA's own is off by 5, and which 5 is a matter of the program."""
    if x.dtype != FLOAT32:
        return chlo("erf", x)
    d = clip(-4.0, x.to(FLOAT64), 4.0)
    z = d * d
    return (d * polynomial(z, *_ERF[:7]) / polynomial(z, 1.0, *_ERF[7:])).to(FLOAT32)


def _scaled_erfc(a: Term, coefficients: tuple[float, ...]) -> Term:
    """exp(a*a) erfc(a), for a from 0 to 28."""
    z = (a - 4.0) / (a + 4.0) + 0.125
    return polynomial(z, *coefficients) / (1.0 + (a + a))


def erfc(x: Term) -> Term:
    """3 ulp."""
    single = x.dtype == FLOAT32
    a = minimum(abs(x).to(FLOAT64), 28.0)
    if single:
        tail = _scaled_erfc(a, _ERFC_SHORT) * real_f32.exp2_wide(a * a * (-1 / math.log(2)))
    else:
        # The square in two parts, the first one exact: an error in it counts hundredfold.
        head = (a.cast(INT64) & -(1 << 27)).cast(FLOAT64)
        rest = (head - a) * (head + a)
        tail = (
            _scaled_erfc(a, _ERFC) * real_functions.exp(rest) * real_functions.exp(-(head * head))
        )
    return where(x < 0.0, 2.0 - tail, tail).to(x.dtype)


def erf_inv(x: Term) -> Term:
    """8 ulp; XLA's own f64 is off by 5e5 close to 1, which a Newton step on erfc corrects."""
    near = chlo("erf_inv", x)
    if x.dtype == FLOAT32:
        return near
    size, a = minimum(abs(near), 6.0), abs(x)
    excess = where(a > 0.5, (1.0 - a) - erfc(size), chlo("erf", size) - a)
    slope = real_functions.exp(-(size * size)) * (2 / math.sqrt(math.pi))
    better = copysign(size - excess / slope, x)
    return where((a < 1.0) & (a > 1e-8), better, near)


# ---- gamma -------------------------------------------------------------------------------------
# lgamma(x) = (x - 1)(x - 2) P(x - 3/2), digamma(x) = (x - root) P(x - 3/2), x from 1 to 2:
# Chebyshev's series, in powers, to 7e-17 and 2e-16.
_LGAMMA = (
    0.4831289505409809, -0.14595989591430594, 0.06291140107456437, -0.03130848750105415,
    0.016797098631275844, -0.009425622444767518, 0.005446457839039636, -0.003212074222602009,
    0.001922916315044322, -0.0011644113425479958, 0.0007115190337726783, -0.0004380355151925843,
    0.00027131404604478673, -0.00016856961232463447, 0.00010535339176160404,
    -6.794532539113437e-05, 4.303358406992273e-05, -2.1471686472038385e-05,
    1.3174891373031416e-05, -1.85413105778364e-05, 1.2148922431734838e-05,
)  # fmt: skip
_DIGAMMA = (
    0.951055876031833, -0.4236274212814572, 0.2405424842407739, -0.1484049230548794,
    0.09498872445498366, -0.0619221331892193, 0.04076083381023946, -0.02697580007767358,
    0.017907252496345213, -0.011908145672170784, 0.007926943794456376, -0.0052809116593940525,
    0.0035190141649363805, -0.002337499646304059, 0.0015565879761797945, -0.001077880610440127,
    0.0007234757252061551, -0.0003543744160632095, 0.00022695205071257896,
    -0.0003787189650984702, 0.0002599100450715037,
)  # fmt: skip
# The same for f32, to 1.6e-11 and 1.2e-10.
_LGAMMA_SHORT = (
    0.48312895054214, -0.14595989572768947, 0.06291140062373497, -0.031308508200036764,
    0.01679712718710599, -0.009424968971210727, 0.005445782302960364, -0.003220857408549642,
    0.0019304727379901752, -0.001107779496625604, 0.000668737873313046, -0.0006075277504860307,
    0.0003871930974173682,
)  # fmt: skip
_DIGAMMA_SHORT = (
    0.9510558760498402, -0.42362741856424435, 0.24054247724345762, -0.14840522406207005,
    0.09498916711445615, -0.0619126468295663, 0.04075038012134311, -0.027102974854724293,
    0.018023884622986798, -0.011091655135248906, 0.007269435907259108, -0.007703459882210802,
    0.005284585840456127,
)  # fmt: skip
# The zero of digamma, rounded, and what is left.
_DIGAMMA_ROOT = (1.4616321449683622, 9.5499954299656977e-17)

# Stirling's series, B_2k / (2k (2k-1)) and B_2k / 2k, in powers of 1 / x**2: DLMF 5.11.1, 5.11.2.
# From 8 on, of lgamma to 1e-16, of digamma to 1e-15.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
STIRLING_SLOPE = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_FAR = 8  # from here on the asymptotic series are exact enough


def _down(x: Term) -> tuple[Term, Term, Term]:
    """t, p, s that reduce 0 < x < 8 to t, from 1 to 2.

    gamma(x) = p gamma(t), and digamma(x) = s / p + digamma(t): x is t + n, where n is -1 to 6.
    """
    low = x < 1.0
    steps = x.floor() - 1.0
    t = where(low, x + 1.0, x - steps)
    product, slope = x.full(1.0), x.full(0.0)
    for k in range(1, _FAR - 1):
        factor = x - float(k)
        more = steps >= float(k)
        slope = where(more, slope * factor + product, slope)
        product = where(more, product * factor, product)
    return t, product, slope


class Precision(NamedTuple):
    """The coefficients of the kernels below: long enough for f64, or short, for f32."""

    lgamma: tuple[float, ...]
    digamma: tuple[float, ...]
    log: Callable[[Term], Term]
    sin: Callable[[Term], Term]
    tan: Callable[[Term], Term]


LONG = Precision(_LGAMMA, _DIGAMMA, real_f64.log, real_f64.sin, real_f64.tan)
SHORT = Precision(
    _LGAMMA_SHORT,
    _DIGAMMA_SHORT,
    real_f32.log_wide,
    real_f32.sin_wide,
    real_f32.tan_wide,
)


def _mirrored(x: Term, right: Callable[[Term], Term], everywhere: Callable[[Term], Term]) -> Term:
    """`everywhere(x)`; of many numbers, if all are positive, `right(x)`, which costs half."""
    if x.size < real_functions.MANY:
        return everywhere(x)
    return replaced_if(holds_anywhere(x <= 0.0), x, right(x), lambda x, _: everywhere(x))


def lgamma_of_positive(x: Term, made: Precision) -> Term:
    far = x >= float(_FAR)
    near = where(far, 1.5, x)
    t, product, _ = _down(near)
    low = near < 1.0
    zeros = where(low, near * (near - 1.0), (t - 1.0) * (t - 2.0))  # t is rounded where low
    value = zeros * polynomial(t - 1.5, *made.lgamma)
    log = made.log(where(far, x, where(low, near, product)))
    y = where(far, x, float(_FAR))
    inverse = 1.0 / y
    series = inverse * polynomial(inverse * inverse, *STIRLING)
    stirling = (y - 0.5) * (log - 1.0) + (series + (math.log(2 * math.pi) - 1) / 2)
    value = where(far, stirling, where(low, value - log, value + log))
    return where(x < math.inf, value, x)


def lgamma1p(a: Term) -> Term:
    """lgamma(1 + a) to the last digits of a, which is from 0 to 1."""
    return a * (a - 1.0) * polynomial(a - 0.5, *_LGAMMA)


def lgamma(x: Term) -> Term:
    """4 ulp; of negative numbers, near zeros, 1e-15 of the larger summand, in f32 1e-9."""
    made = SHORT if x.dtype == FLOAT32 else LONG

    def right(x: Term) -> Term:
        return lgamma_of_positive(x.to(FLOAT64), made).to(x.dtype)

    def everywhere(x: Term) -> Term:
        wide = x.to(FLOAT64)
        a = abs(wide)
        value = lgamma_of_positive(a, made)
        # gamma(x) gamma(-x) = -pi / (x sin(pi x)); for tiny x this is 1/x**2, and may overflow.
        sine = made.sin(abs(wide - wide.nearest()) * math.pi)
        left = made.log(math.pi / (minimum(a, 1e300) * sine)) - value
        left = where(a < 1e-100, value, where((sine == 0.0) | (a == math.inf), math.inf, left))
        value = where(is_negative(wide), left, value)
        return where(a == 0.0, math.inf, value).to(x.dtype)

    return _mirrored(x, right, everywhere)


def digamma_of_positive(x: Term, made: Precision) -> Term:
    far = x >= float(_FAR)
    near = where(far, 1.5, x)
    t, product, slope = _down(near)
    value = ((t - _DIGAMMA_ROOT[0]) - _DIGAMMA_ROOT[1]) * polynomial(t - 1.5, *made.digamma)
    low = near < 1.0
    value = where(low, value - 1.0 / near, value + slope / product)
    y = where(far, x, float(_FAR))
    inverse = 1.0 / y
    square = inverse * inverse
    series = inverse * 0.5 + square * polynomial(square, *STIRLING_SLOPE)
    value = where(far, made.log(y) - series, value)
    return where(x < math.inf, value, x)


def digamma(x: Term) -> Term:
    """4 ulp; of negative numbers, near zeros, 1e-15 of the larger summand, in f32 1e-9."""
    made = SHORT if x.dtype == FLOAT32 else LONG

    def right(x: Term) -> Term:
        return digamma_of_positive(x.to(FLOAT64), made).to(x.dtype)

    def everywhere(x: Term) -> Term:
        wide = x.to(FLOAT64)
        negative = is_negative(wide)
        value = digamma_of_positive(where(negative, 1.0 - wide, wide), made)
        part = wide - wide.nearest()
        left = where(part == 0.0, math.nan, value - math.pi / made.tan(part * math.pi))
        value = where(negative, left, value)
        return where(wide == 0.0, copysign(wide.full(math.inf), -wide), value).to(x.dtype)

    return _mirrored(x, right, everywhere)


# ---- zeta --------------------------------------------------------------------------------------
# B_2k / (2k)!: DLMF 25.11.28.  After ten terms, of zeta to 1e-18.
_BERNOULLI = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000,
    1 / 74724249600, -3617 / 10670622842880000,
)  # fmt: skip


def _zeta_of_positive(x: Term, q: Term, unit: Term, terms: int) -> Term:
    """The sum of `((q + k) / unit)**-x` for q > 0, x > 1: Euler and Maclaurin, after some terms."""
    total = (q / unit).apply("power", -x)
    for k in range(1, terms):
        total = total + ((q + float(k)) / unit).apply("power", -x)
    a = q + float(terms)
    z = 1.0 / (a * a)
    series = x.full(0.0)
    for k in reversed(range(len(_BERNOULLI))):
        rising = (x + float(2 * k - 1)) * (x + float(2 * k)) if k else x
        series = rising * z * (series + _BERNOULLI[k])
    scale = (a / unit).apply("power", 1.0 - x) * unit
    rest = scale * (1.0 / (x - 1.0) + 0.5 / a + series)
    # A series of infinite x is NaN, and so is the rest of an infinite sum.
    return where((scale > 0.0) & (total < math.inf), total + rest, total)


def _zeta_of_negative(x: Term, q: Term, unit: Term, mirrored: Term, terms: int) -> Term:
    """For whole x, from `mirrored`, the sum for 1 - q, and that over all k, which has period 1."""
    part, odd = q - q.nearest(), is_odd(x)
    first = (abs(part) / unit).apply("power", -x)
    first = where(odd & (part < 0.0), -first, first)
    above, below = _pair(
        lambda *xs: _zeta_of_positive(*xs, terms), (x, 1.0 + part, unit), (x, 1.0 - part, unit)
    )
    rest = below - mirrored
    value = where(abs(first) == math.inf, first, first + above + where(odd, -rest, rest))
    return where(odd & (abs(part) == 0.5), mirrored, value)  # the sum over all k is 0


def _pair(function: Callable[..., Term], *calls: tuple[Term, ...]) -> list[Term]:
    """Two calls of a function in one, of operands side by side: half the code."""
    block, size, shape = calls[0][0].block, calls[0][0].size, calls[0][0].shape
    flat = [[block.reshape(x.operand, (size,)) for x in call] for call in calls]
    both = function(*[Term(block, block.concatenate(list(xs), 0)) for xs in zip(*flat)])
    halves = [block.slice(both.operand, (i * size,), ((i + 1) * size,)) for i in range(2)]
    return [Term(block, block.reshape(half, shape)) for half in halves]


def is_odd(x: Term) -> Term:
    """Whether a whole number is odd."""
    half = x * 0.5
    return half != half.floor()


def zeta(x: Term, q: Term) -> Term:
    """4 ulp, of negative q 1e-15 of the largest summand; XLA's own is wrong where q < -9."""
    x, q, dtype = x.to(FLOAT64), q.to(FLOAT64), x.dtype
    return _scaled_zeta(x, q, x.full(1.0), 4 if dtype == FLOAT32 else 10).to(dtype)


def _scaled_zeta(x: Term, q: Term, unit: Term, terms: int) -> Term:
    """zeta(x, q) times `unit**x`, which is in each of its terms: neither may be a float alone."""
    value = _zeta_of_positive(x, where(q > 0.0, q, 1.0 - q), unit, terms)
    value = _zeta_where_negative(x, q, unit, value, terms)
    value = where((q <= 0.0) & (x != x.floor()), math.nan, value)
    value = where((q <= 0.0) & (q == q.floor()), math.inf, value)
    value = where((q == math.inf) & (x == x), 0.0, value)
    return where(x == 1.0, math.inf, where(x > 1.0, value, math.nan))


def _zeta_where_negative(x: Term, q: Term, unit: Term, value: Term, terms: int) -> Term:
    """Of many numbers only if one is negative, in a loop of at most one turn: see `replaced_if`."""

    def again(inner: Any, again: Any, *state: Any) -> Any:
        return again

    def turn(inner: Any, again: Any, *state: Any) -> list[Any]:
        x, q, unit, value = (Term(inner, s) for s in state)
        value = where(q > 0.0, value, _zeta_of_negative(x, q, unit, value, terms))
        return [inner.constant(False, ShapedArray((), BOOL)), *state[:-1], value.operand]

    if q.size < real_functions.MANY:
        return where(q > 0.0, value, _zeta_of_negative(x, q, unit, value, terms))
    state = [holds_anywhere((q < 0.0) & (q != q.floor())), x, q, unit, value]
    return Term(q.block, q.block.while_loop(again, turn, [s.operand for s in state])[-1])


def polygamma(n: Term, x: Term) -> Term:
    """(-1)**(n+1) n! zeta(n + 1, x), and digamma for n = 0.

    From n = 20 on n! is taken into the terms, since one factor may overflow and the other vanish.
    """
    dtype, made = n.dtype, SHORT if n.dtype == FLOAT32 else LONG
    order = n.to(FLOAT64)
    whole = (order >= 0.0) & (order < math.inf) & (order == order.floor())
    safe = where(whole, order, 1.0)
    many, log = safe >= 20.0, lgamma_of_positive(safe + 1.0, made)
    factor = real_functions.exp(where(many, log / (safe + 1.0), log))
    size = _scaled_zeta(safe + 1.0, x.to(FLOAT64), where(many, factor, 1.0), 10)
    size = size * where(many, x.full(1.0).to(FLOAT64), factor)
    value = where(is_odd(safe), size, -size).to(dtype)
    return where(order == 0.0, digamma(x), where(whole, value, math.nan))


# ---- Bessel ------------------------------------------------------------------------------------
# exp(-x) I_0(x) = P(x/4 - 1) up to 8, and P(16/x - 1) / sqrt(x) beyond; the same of I_1, where it
# is x P(x/4 - 1).  P is Chebyshev's series, whose first coefficient is halved; to 1.2e-16, 6e-17,
# 6e-16 and 3e-17.
_I0_NEAR = (
    0.6767952744094761, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764,
    0.04930528423967071, -0.02373741480589947, 0.010546460394594998, -0.004324309995050576,
    0.0016394756169413357, -0.0005763755745385824, 0.00018850288509584165, -5.754195010082104e-05,
    1.6448448070728896e-05, -4.4167383584587505e-06, 1.1173875391201037e-06, -2.670793853940612e-07,
    6.046995022541919e-08, -1.300025009986248e-08, 2.6598237246823866e-09, -5.189795601635263e-10,
    9.675809035373237e-11, -1.726826291441556e-11, 2.95505266312964e-12, -4.856446783111929e-13,
    7.676185498604936e-14, -1.1685332877993451e-14, 1.715391285555133e-15, -2.431279846547955e-16,
    3.3307945188222384e-17, -4.4153416464793395e-18,
)  # fmt: skip
_I0_FAR = (
    0.8044904110141088, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06,
    2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09, 4.94060238822497e-10,
    1.1889147107846439e-11, -3.1499165279632416e-11, -1.3215811840447713e-11,
    -1.7941785315068062e-12, 7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14,
    -4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15,
    -3.425485619677219e-16, -2.8276239805165836e-16, 3.461222867697461e-17, 4.46562142029676e-17,
    -4.830504485944182e-18, -7.233180487874754e-18, 9.921475412173699e-19, 1.193650890845982e-18,
)  # fmt: skip
_I1_NEAR = (
    0.25258718644363365, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499,
    0.024726449030626516, -0.010564084894626197, 0.004156422944312888, -0.0015135724506312532,
    0.0005122859561685758, -0.00016176081582589674, 4.781565107550054e-05, -1.3273163656039436e-05,
    3.4702513081376785e-06, -8.568720264695455e-07, 2.0032947535521353e-07, -4.445059128796328e-08,
    9.381537386495773e-09, -1.8872497517228294e-09, 3.625590281552117e-10, -6.663489723502027e-11,
    1.1736186298890901e-11, -1.9839743977649436e-12, 3.223793365945575e-13, -5.042185504727912e-14,
    7.600684294735408e-15, -1.1055969477353862e-15, 1.5536319577362005e-16, -2.111421214358166e-17,
    2.7779141127610464e-18,
)  # fmt: skip
_I1_FAR = (
    0.7785762350182801, -0.009761097491361469, -0.00011058893876262371, -3.882564808877691e-06,
    -2.512236237870209e-07, -2.6314688468895196e-08, -3.835380385964237e-09, -5.589743462196584e-10,
    -1.8974958123505413e-11, 3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
    -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14, 4.272440016711951e-14,
    1.0420276984128802e-14, -3.8144030724370075e-15, -1.8803547755107825e-15,
    3.3082023109209285e-16, 2.96262899764595e-16, -3.209525921993424e-17, -4.6503053684893586e-17,
    4.414348323071708e-18, 7.517296310842105e-18, -9.314178867326884e-19, -1.242193275194891e-18,
)  # fmt: skip
_BESSEL = ((_I0_NEAR, _I0_FAR), (_I1_NEAR, _I1_FAR))


def _chebyshev(t: Term, coefficients: tuple[float, ...]) -> Term:
    """The sum of c[k] T_k(t), the first one halved, by Clenshaw's recurrence."""
    before, last = t.full(0.0), t.full(0.0)
    for c in coefficients[:0:-1]:
        before, last = last, t * last * 2.0 - before + c
    return t * last - before + coefficients[0] / 2


@cache
def _powers(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """The same sum to 1e-10, in powers of t: a third of the operations, digits enough for f32."""
    short = [c for c in coefficients if abs(c) > 1e-10]
    series = np.polynomial.chebyshev.cheb2poly([short[0] / 2, *short[1:]])
    return tuple(map(float, series))


def bessel(x: Term, order: int) -> Term:
    """exp(-|x|) I(x) of order 0 or 1, by one expansion up to 8 and another beyond; 4 ulp."""
    small, large = _BESSEL[order]
    a = abs(x.to(FLOAT64))
    far = a > 8.0
    beyond = where(far, a, 8.0)
    t, u = minimum(a, 8.0) * 0.25 - 1.0, 16.0 / beyond - 1.0
    if x.dtype == FLOAT32:
        near, series = polynomial(t, *_powers(small)), polynomial(u, *_powers(large))
    else:
        near, series = _chebyshev(t, small), _chebyshev(u, large)
    size = where(far, series / beyond.sqrt(), near * a if order else near)
    size = where(a == a, size, a).to(x.dtype)
    return copysign(size, x) if order else size


def i0(x: Term) -> Term:
    """The same without exp(-|x|), which is divided by in two steps: exp(|x|) may overflow alone."""
    half = real_functions.exp(abs(x) * 0.5)
    return where(abs(x) == math.inf, math.inf, half * bessel(x, 0) * half)
