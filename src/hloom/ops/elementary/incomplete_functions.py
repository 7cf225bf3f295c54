"""Lowerings of the incomplete gamma and beta functions, in f64 throughout; f32 is rounded once.

Of the two tails that add to 1, the one that does not hold the mean is computed, as its density at
`x` times an integral that needs no cancellation.  With `t = x exp(s)` in DLMF 8.2.2, and
`t/(1-t) = x/(1-x) exp(-s)` in DLMF 8.17.1, the integrands are `exp(-E(s))` with a convex E that
starts at 0: close to half of a normal distribution, whatever the size of the parameters, so that
Gauss and Legendre's rule of 32 points, up to where E is 40, gives all digits.  Series and continued
fractions, which take as many steps as the largest parameter's root, are left to small parameters.

Errors are a few ulp for each unit of the result's logarithm: exp passes on that of its operand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.ops.common.expression import (
    FLOAT32,
    FLOAT64,
    INT32,
    Term,
    clip,
    holds_anywhere,
    is_negative,
    maximum,
    minimum,
    polynomial,
    rounded,
    where,
)
from hloom.ops.elementary import real_f32, real_f64, real_functions
from hloom.ops.elementary.special_functions import (
    LONG,
    STIRLING,
    STIRLING_SLOPE,
    digamma_of_positive,
    lgamma1p,
)


class Grade(NamedTuple):
    """How much is computed: points and end of an integral, terms of series, for f64 or f32."""

    points: int
    decay: float
    series: int
    step: float


LONGER = Grade(points=32, decay=40.0, series=46, step=4e-16)
SHORTER = Grade(points=16, decay=23.0, series=28, step=1e-15)
_AT_ONCE = 2  # points in each turn of a loop: one takes twice the time, four no less
_FEW = 8.0  # parameters of fewer than this have series and continued fractions


def _grade(x: Term) -> Grade:
    return SHORTER if x.dtype == FLOAT32 else LONGER


# ---- pieces ------------------------------------------------------------------------------------
def _weight(z: Term) -> tuple[Term, Term]:
    """`z**z exp(-z) / gamma(z)` for positive z, as a factor and the logarithm of another one.

    It is about the root of z / (2 pi), by DLMF 5.11.1.

    Below 10 it is that of y = z + 10 by DLMF 5.5.1, whose ten factors are z (z + 5) and, in pairs,
    (z + k) (y - k).
    """
    low = z < 10.0
    y, v = where(low, z + 10.0, z), where(low, z, 1.0)
    inverse = 1.0 / y
    series = inverse * polynomial(inverse * inverse, *STIRLING)
    product, square = v * y, y * y
    factors = v * (v + 5.0) / square
    for pair in (9.0, 16.0, 21.0, 24.0):
        factors = factors * ((product + pair) / square)
    lost = (y - 10.0) - v  # in rounding y, which counts once
    log = v * real_f64.log_of_normal(v / y) + lost
    root = (y * (0.5 / math.pi)).sqrt()
    return where(low, factors * (root * math.exp(10)), root), where(low, log, 0.0) - series


def _scaled_log1pmx(a: Term, d: Term, ratio: Term) -> Term:
    """`a (log(1 + u) - u)` for `u = d/a`, where `ratio` is 1 + u."""
    return rounded(a * real_f64.log1pmx(d / a, minimum(ratio, 1e308)))


def _once(*xs: Term) -> list[Term]:
    """The same, computed once: XLA computes what is cheap anew for each use, a quotient never."""
    return [x / 1.0 for x in xs]


def _integrals(
    end: Term, slope: Term | None, count: int, grade: Grade, cost: Callable[..., Term], *given: Term
) -> list[Term]:
    """Integrals from 0 to `end` of `exp(-cost)`, and of `s` times it: so many as `count` says.

    `cost` is a function of `s` and of what is given.  A loop over the points, two each turn, which
    are rows of one kernel.  If the cost's slope at the end is given, the first turn is a step of
    Newton's: the cost is convex, so it leads to where it is `decay`, or beyond.
    """
    block, size, rows = end.block, len(given) + 1, (_AT_ONCE, *end.shape)
    held = [end, *given] if slope is None else [end, *given, slope]
    nodes, weights = _rule(grade.points, slope is not None)

    def body(inner: Any, k: Any, *values: Any) -> list[Any]:
        node, weight = (_points(inner, x, k, rows) for x in (nodes, weights))
        axes, kept = range(1, len(rows)), list(values[: len(held)])
        end, *terms = [Term(inner, inner.broadcast(v, rows, axes)) for v in values[:size]]
        s = end * node
        (price,) = _once(cost(s, *terms))
        value = real_functions.exp(-price)
        made = (value * weight, value * s * weight)[:count]
        sums = [Term(inner, v) + x for v, x in zip(values[len(held) :], made)]
        if slope is not None:
            kept[0] = _stepped(k, price, Term(inner, kept[0]), Term(inner, kept[-1]), grade)
        return [inner.add(k, _AT_ONCE), *kept, *[x.operand for x in sums]]

    first = block.constant(0, ShapedArray((), INT32))
    zeros = [block.constant(0.0, ShapedArray(rows, FLOAT64))] * count
    state = [first, *[x.operand for x in held], *zeros]
    more = lambda inner, k, *_: inner.compare(k, "LT", len(nodes))  # noqa: E731
    results = block.while_loop(more, body, state)
    end, sums = Term(block, results[1]), results[len(state) - count :]
    return [Term(block, block.reduce(x, 0.0, "add", (0,))) * end for x in sums]


def _stepped(k: Any, price: Term, end: Term, slope: Term, grade: Grade) -> Any:
    """The end, in the first turn nearer to where the cost is `decay`; `price` is its cost."""
    block, shape = end.block, end.shape
    first = block.slice(price.operand, (0,) * (len(shape) + 1), (1, *shape))
    over = Term(block, block.reshape(first, shape)) - grade.decay
    at_first = Term(block, block.broadcast(block.compare(k, "EQ", 0), shape, ()))
    return where(at_first, end - over / slope, end).operand


def _rule(points: int, with_end: bool) -> tuple[Any, Any]:
    """Gauss and Legendre's points from 0 to 1 and their weights; before them, if asked, the end."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    end = _AT_ONCE * with_end
    return np.append(np.ones(end), (nodes + 1) / 2), np.append(np.zeros(end), weights / 2)


def _points(block: Any, row: Any, k: Any, shape: tuple[int, ...]) -> Term:
    """The rule's next numbers, each repeated along its row."""
    table = block.constant(row, ShapedArray(row.shape, FLOAT64))
    part = block.dynamic_slice(table, [k], [shape[0]])
    return Term(block, block.broadcast(part, shape, (0,)))


# ---- gamma -------------------------------------------------------------------------------------
class Tail(NamedTuple):
    """`density` times `sum` is one of the two tails, the lower where `upper` does not hold.

    `density` is `x**a exp(-x) / gamma(a)`; `slope` times it is the tail's derivative by a.
    """

    upper: Term
    density: Term
    sum: Term
    slope: Term


def _tail(a: Term, x: Term, grade: Grade, *, slopes: bool = False) -> Tail:
    """The smaller tail, roughly, for positive and finite a and x; its slope only if asked for."""
    near = (a < _FEW) & (x < maximum(a, 1.5))
    density = _gamma_front(a, x)
    total, slope = _series(where(near, a, 1.0), where(near, x, 1.0), grade)
    upper = (x >= a) & ~near
    far = where(near, 1.0, a), where(near, 1.5, x)
    area, *moments = _gamma_integrals(*far, grade, slopes)
    if not slopes:
        return Tail(upper, density, where(near, total / a, area), area)
    (moment,), pull = moments, _pull(a, x)
    by_series = (slope + pull * total) / a
    by_integral = (pull + 1.0 / a) * area + where(upper, moment, -moment)
    return Tail(upper, density, where(near, total / a, area), where(near, by_series, by_integral))


def _gamma_front(a: Term, x: Term) -> Term:
    """`x**a exp(-x) / gamma(a)`."""
    factor, log = _weight(a)
    log = _scaled_log1pmx(a, x - a, x / a) + log
    low = log < -600.0  # the exponential alone would be flushed before the factor does
    raised = real_functions.exp(where(low, log + 40.0, log))
    return raised * where(low, factor * math.exp(-40), factor)


def _pull(a: Term, x: Term) -> Term:
    """`log(x) - digamma(a + 1)`: how the density's logarithm moves with a, but for 1/a."""
    far = a >= _FEW
    inverse = 1.0 / where(far, a, _FEW)
    gap = inverse * inverse * polynomial(inverse * inverse, *STIRLING_SLOPE) - inverse * 0.5
    near = real_functions.log(x) - digamma_of_positive(where(far, 1.0, a + 1.0), LONG)
    return where(far, real_functions.log(maximum(x * inverse, 1e-300)) + gap, near)


def _series(a: Term, x: Term, grade: Grade) -> tuple[Term, Term]:
    """DLMF 8.7.1: the sum of `x**n / ((a+1) .. (a+n))`, and its derivative by a; Horner."""
    total, slope = x.full(1.0), x.full(0.0)
    for n in range(grade.series, 0, -1):
        inverse = 1.0 / (a + float(n))
        factor = x * inverse
        slope = factor * (slope - total * inverse)
        total = factor * total + 1.0
    return total, slope


def _gamma_integrals(a: Term, x: Term, grade: Grade, moment: bool) -> list[Term]:
    """The upper tail over the density where x >= a, else the lower one, and its first moment."""
    upper = x >= a
    sign, c, decay = where(upper, x.full(1.0), -1.0), abs(x - a), grade.decay
    above = _end(c, x, decay)
    above = minimum(above, real_functions.log1p(decay / x + above))
    below = _end(c - decay / 2, a, decay)

    def cost(s: Term, sign: Term, c: Term, x: Term) -> Term:
        return rounded(c * s) + x * real_f64.expm1mx(s * sign)

    end = where(upper, above, below)
    return _integrals(end, None, 1 + moment, grade, cost, sign, c, x)


def _end(c: Term, v: Term, decay: float) -> Term:
    """The positive s where `c s + v s**2 / 2` is `decay`; no square overflows."""
    root = v.sqrt()
    steep = c / root * 0.5
    return decay / (root * (steep + (steep * steep + decay / 2).sqrt()))


def _upper_near_zero(a: Term, x: Term) -> Term:
    """Q for a < 1 and x < 3/2, by DLMF 8.7.3, whose first two terms are one expm1."""
    total = x.full(0.0)
    for n in range(24, 0, -1):
        total = (total + 1.0 / (a + float(n))) * x * (-1.0 / n)
    # The terms are (-x)**n / (n! (a + n)).
    log = a * real_functions.log(x) - lgamma1p(a)
    return -real_functions.expm1(log) - real_functions.exp(log) * a * total


def _inside(a: Term, x: Term) -> tuple[Term, Term, Term, Term]:
    """Where both are positive and finite; they there, 1 elsewhere; and a over the a given here.

    XLA's CPU flushes what is subnormal.  Below 1e-290, Q is in proportion to a, and P' constant.
    Above 1e290, where only x = a is neither far above nor below, both are made smaller, exactly.
    """
    inside = (a > 0.0) & (x > 0.0) & (a < math.inf) & (x < math.inf)
    a, x = where(inside, a, 1.0), where(inside, x, 1.0)
    scale = where(a > 1e290, a.full(2.0**-100), 1.0)
    held = maximum(a, 1e-290)
    return inside, held * scale, x * scale, a / held


def _at_ends(value: Term, inside: Term, a: Term, x: Term, none: float, all: float) -> Term:
    """The values where x or a is 0 or infinite: `none` of the distribution is below x, or all."""
    none_below = ((x == 0.0) & (a > 0.0)) | ((a == math.inf) & (x >= 0.0) & (x < math.inf))
    all_below = ((a == 0.0) & (x > 0.0)) | ((x == math.inf) & (a >= 0.0) & (a < math.inf))
    ends = where(none_below, value.full(none), where(all_below, value.full(all), math.nan))
    return where(inside, where(value == 0.0, 0.0, value), ends)  # never -0.0


def _wide(*xs: Term) -> list[Term]:
    return [_widened(x) for x in xs]


def _widened(x: Term) -> Term:
    """As f64.  Whether a subnormal f32 is 0 to XLA is a matter of what its comparisons become."""
    if x.dtype != FLOAT32:
        return x
    size = real_f32.wide(x)
    return where(is_negative(x), -size, size)


def igamma(a: Term, x: Term) -> Term:
    """The lower tail P."""
    grade, (wide_a, wide_x) = _grade(x), _wide(a, x)
    inside, b, y, _ = _inside(wide_a, wide_x)
    tail = _tail(b, y, grade)
    value = tail.density * tail.sum
    value = clip(0.0, where(tail.upper, 1.0 - value, value), 1.0)
    return _at_ends(value, inside, wide_a, wide_x, 0.0, 1.0).to(x.dtype)


def igammac(a: Term, x: Term) -> Term:
    """The upper tail Q."""
    grade, (wide_a, wide_x) = _grade(x), _wide(a, x)
    inside, b, y, small_a = _inside(wide_a, wide_x)
    tail = _tail(b, y, grade)
    value = tail.density * tail.sum
    small = (b < 1.0) & (y < 1.5)
    value = where(tail.upper, value, 1.0 - value)
    value = where(small, _upper_near_zero(where(small, b, 0.5), where(small, y, 1.0)), value)
    value = clip(0.0, value * small_a, 1.0)
    return _at_ends(value, inside, wide_a, wide_x, 1.0, 0.0).to(x.dtype)


def _lower_slope(tail: Tail) -> Term:
    """The derivative of P by a, over the density."""
    return where(tail.upper, -tail.slope, tail.slope)


def igamma_grad_a(a: Term, x: Term) -> Term:
    """dP/da."""
    grade, (wide_a, wide_x) = _grade(x), _wide(a, x)
    inside, b, y, _ = _inside(wide_a, wide_x)
    tail = _tail(b, y, grade, slopes=True)
    value = tail.density * _lower_slope(tail) * where(wide_a > 1e290, y.full(2.0**-50), 1.0)
    ends = _at_ends(value, inside, wide_a, wide_x, 0.0, 0.0)
    return where(wide_a == 0.0, math.nan, ends).to(x.dtype)


def random_gamma_grad(a: Term, x: Term) -> Term:
    """-dP/da over dP/dx; the density, which may underflow, is in neither."""
    grade, (wide_a, wide_x) = _grade(x), _wide(a, x)
    inside, b, y, small_a = _inside(wide_a, wide_x)
    value = -_lower_slope(_tail(b, y, grade, slopes=True)) * (y / small_a)
    ends = _at_ends(value, inside, wide_a, wide_x, 0.0, math.inf)
    return where((wide_a == 0.0) | (wide_a == math.inf), math.nan, ends).to(x.dtype)


def gamma_density(a: Term, x: Term) -> Term:
    """dP/dx."""
    (wide_a, wide_x), zero = _wide(a, x), x.to(FLOAT64).full(0.0)
    inside, b, y, small_a = _inside(wide_a, wide_x)
    value = _gamma_front(b, y)
    value = value / where(y == 0.0, 1.0, y)  # it may be flushed: a is huge then
    value = value * where(wide_a > 1e290, y.full(2.0**-50), small_a)
    at_zero = where(wide_a < 1.0, math.inf, where(wide_a == 1.0, y.full(1.0), 0.0))
    valid = (wide_a >= 0.0) & (wide_x >= 0.0) & ((wide_a > 0.0) | (wide_x > 0.0))
    ends = where(valid, where((wide_x == 0.0) & (wide_a < math.inf), at_zero, zero), math.nan)
    return where(inside, value, ends).to(x.dtype)


# ---- beta --------------------------------------------------------------------------------------
def _beta_density(a: Term, b: Term, x: Term, y: Term) -> Term:
    """`x**a y**b / B(a, b)`, where y is 1 - x."""
    n, d = a + b, b * x - rounded(a * y)
    ((log_x, log_y),) = _rows(
        lambda *xs: [_scaled_log1pmx(*xs)], (a, b), (d, -d), (x / a * n, y / b * n)
    )
    (of_a, of_b, of_n), (log_a, log_b, log_n) = _rows(_weight, (a, b, n))
    return of_a * of_b / of_n * real_functions.exp((log_x + log_y) + (log_a + log_b - log_n))


def _rows(function: Callable[..., Sequence[Term]], *operands: Sequence[Term]) -> list[list[Term]]:
    """A function of several rows, written once for all of them: it takes as long to compile."""
    block, shape, count = operands[0][0].block, operands[0][0].shape, len(operands[0])
    joined = [
        Term(block, block.concatenate([block.reshape(x.operand, (1, *shape)) for x in xs], 0))
        for xs in operands
    ]
    rest, sizes = [0] * len(shape), list(shape)

    def row(x: Any, i: int) -> Term:
        return Term(block, block.reshape(block.slice(x, [i, *rest], [i + 1, *sizes]), shape))

    return [[row(x.operand, i) for i in range(count)] for x in function(*joined)]


def _beta_integral(grade: Grade, a: Term, b: Term, x: Term, y: Term) -> Term:
    """The lower tail over the density, for x below the mean and parameters that are not small.

    E(s) is `a s + n log(y + x exp(-s))`, n = a + b; its part of first order is taken out, and the
    logarithm is of `1 + p (exp(r) - 1)`, where p is x or y, the smaller one.
    """
    n, c, decay = a + b, rounded(a * y) - b * x, grade.decay
    p, sign = minimum(x, y), where(x <= y, x.full(-1.0), 1.0)

    def cost(s: Term, sign: Term, p: Term, n: Term, c: Term) -> Term:
        r = s * sign
        (more,) = _once(real_f64.expm1mx(r))
        d = p * (more + r)
        return rounded(c * s) + n * (real_f64.log1pmx(d, d + 1.0) + p * more)

    end = _end(c, n * x * y, decay)
    less = real_f64.expm1mx(-end) - end  # exp(-end) - 1
    slope = (c - b * x * less) / (less * x + 1.0)
    return _integrals(end, slope, 1, grade, cost, sign, p, n, c)[0]


def _beta_fraction(grade: Grade, a: Term, b: Term, x: Term, y: Term) -> Term:
    """The lower tail over the density for `a y - b x > -1`, by Lentz's algorithm: up to 40 turns.

    The fraction is the even part of DLMF 8.17.22: A. R. Didonato, A. H. Morris, Algorithm 708
    (1992), eq. 9.  Unlike the whole it loses no digits where x is close to 1.
    """
    block = x.block

    def step(
        n: Term, f: Term, c: Term, d: Term, a: Term, b: Term, x: Term, first: Term
    ) -> list[Term]:
        odd, more = a + (n + n - 1.0), n * (b - n) * x
        top = (a + (n - 1.0)) / odd * ((a + b + (n - 1.0)) / odd) * more * x
        part = n + more / odd + (a + n) / (odd + 2.0) * (first + n * (2.0 - x))
        d, c = 1.0 / (d * top + part), top / c + part
        change = c * d
        moved = (abs(change - 1.0) > grade.step) & (minimum(a, b) < _FEW)  # others are not asked
        f = where(moved, f * change, f)  # a factor of 1, but for its rounding, is none
        return [n + 1.0, f, c, d, holds_anywhere(moved & (n < 1000.0))]

    def body(inner: Any, n: Any, f: Any, c: Any, d: Any, moved: Any, *xs: Any) -> list[Any]:
        made = step(*[Term(inner, v) for v in (n, f, c, d, *xs)])
        return [*[v.operand for v in made], *xs]

    first = maximum(rounded(a * y) - b * x + 1.0, 1e-16)
    d = (a + 1.0) / (a * first)
    state = [x.full(1.0), d, x.full(1e300), d, holds_anywhere(x == x), a, b, x, first]
    results = block.while_loop(lambda inner, *xs: xs[4], body, [v.operand for v in state])
    return Term(block, results[1])


def _moderate(a: Term, b: Term) -> tuple[Term, Term]:
    """Parameters of the same distribution, nearly, that neither overflow nor are flushed.

    Where both are tiny, only their ratio counts, and so it does where they are huge; below 1e-200
    one of the tails is 1.
    """
    most = maximum(a, b)
    scale = where(most < 1e-100, 1e-100 / most, where(most > 1e300, most.full(1e-10), 1.0))
    return maximum(a * scale, 1e-200), maximum(b * scale, 1e-200)


def betainc(a: Term, b: Term, x: Term) -> Term:
    """The lower tail I."""
    grade, (a, b, x), dtype = _grade(x), _wide(a, b, x), x.dtype
    inside = (a > 0.0) & (b > 0.0) & (a < math.inf) & (b < math.inf) & (x > 0.0) & (x < 1.0)
    t = where(inside, x, 0.5)
    p, q, u = *_moderate(where(inside, a, 1.0), where(inside, b, 1.0)), 1.0 - t
    large = minimum(p, q) >= _FEW
    flip = where(large, q * t > p * u, (q + 1.0) * t > (p + 1.0) * u)
    sides = where(flip, q, p), where(flip, p, q), where(flip, u, t), where(flip, t, u)
    sides = _once(*sides)
    large = minimum(*sides[:2]) >= _FEW
    # Each is computed everywhere; where the other one is used it may be anything, NaN too.
    integral, fraction = _beta_integral(grade, *sides), _beta_fraction(grade, *sides)
    value = rounded(_beta_density(*sides) * where(large, integral, fraction))
    value = clip(0.0, where(flip, 1.0 - value, value), 1.0)
    valid = (a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0)
    valid = valid & ((a > 0.0) | (b > 0.0)) & ((a < math.inf) | (b < math.inf))
    ends = where(x == 0.0, x.full(0.0), where(x == 1.0, x.full(1.0), where(
        (a == 0.0) | (b == math.inf), x.full(1.0), 0.0)))  # fmt: skip
    return where(inside, value, where(valid, ends, math.nan)).to(dtype)


def beta_density(a: Term, b: Term, x: Term) -> Term:
    """dI/dx; with parameters below 1e-290 or above 1e290, 0."""
    (a, b, x), dtype = _wide(a, b, x), x.dtype
    inside = (x > 0.0) & (x < 1.0)
    for parameter in (a, b):
        inside = inside & (parameter > 1e-290) & (parameter < 1e290)
    p, q = where(inside, a, 1.0), where(inside, b, 1.0)
    t = where(inside, x, 0.5)
    u = 1.0 - t
    value = _beta_density(p, q, t, u) / t / u
    near, far = where(x == 0.0, a, b), where(x == 0.0, b, a)
    at_ends = where(near < 1.0, math.inf, where(near == 1.0, far, 0.0))
    regular = (a > 0.0) & (a < math.inf) & (b > 0.0) & (b < math.inf)
    ends = where(regular & ((x == 0.0) | (x == 1.0)), at_ends, 0.0)
    valid = (a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0)
    return where(inside, value, where(valid, ends, math.nan)).to(dtype)
