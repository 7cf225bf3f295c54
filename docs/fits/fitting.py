"""Polynomials close to a function: by interpolation, by Chebyshev's series, and the closest one.

Coefficients are mpmath's numbers, the lowest order first.  A function is one of mpmath's numbers;
where it is a quotient that has only a limit at 0, it is asked beside 0 instead.

    >>> [round(float(c), 9) for c in interpolation(lambda t: 8 * t**3 + t**2 + 2, (-1, 1), 3)]
    [2.0, 6.0, 1.0]
    >>> fit = minimax(mp.exp, (-1, 1), degree=1)
    >>> [round(float(c), 3) for c in fit.numerator], round(float(fit.error), 3)
    ([1.264, 1.175], 0.279)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mpmath import mp, mpf

Function = Callable[[Any], Any]
Interval = tuple[Any, Any]

mp.dps = 80  # a quotient beside 0 loses half of them
_BESIDE_ZERO = mpf("1e-30")


def one(t: Any) -> Any:
    """The weight of an absolute error."""
    return mpf(1)


def sampled(function: Function, points: Sequence[Any]) -> list[Any]:
    """The values of a function; at 0, those beside it."""
    return [function(t if abs(t) > _BESIDE_ZERO else _BESIDE_ZERO) for t in points]


def nodes(interval: Interval, count: int) -> list[Any]:
    """Chebyshev's nodes, the zeros of T_count, from the least to the largest."""
    low, high = map(mpf, interval)
    turns = [mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in reversed(range(count))]
    return [(low + high) / 2 + (high - low) / 2 * turn for turn in turns]


def polynomial(coefficients: Sequence[Any], t: Any) -> Any:
    """The sum of c[k] t**k, by Horner's scheme."""
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * t + c
    return total


def chebyshev(coefficients: Sequence[Any], t: Any) -> Any:
    """The sum of c[k] T_k(t), the first one halved, by Clenshaw's recurrence."""
    before, last = mpf(0), mpf(0)
    for c in reversed(coefficients[1:]):
        before, last = last, 2 * t * last - before + c
    return t * last - before + mpf(coefficients[0]) / 2


# ---- interpolation, and Chebyshev's series ------------------------------------------------------
def interpolation(function: Function, interval: Interval, count: int) -> list[Any]:
    """The polynomial of `count` coefficients that is equal to the function at Chebyshev's nodes."""
    points = nodes(interval, count)
    powers = mp.matrix([[t**k for k in range(count)] for t in points])
    return list(mp.lu_solve(powers, mp.matrix(sampled(function, points))))


def quotient(
    function: Function, interval: Interval, degree: int, denominator: int
) -> tuple[list[Any], list[Any]]:
    """The quotient p/q with a small relative error; q begins with 1.

    Least squares, in which points of large errors count more from step to step (Lawson), and q is
    that of the step before where it divides: 12 steps, of which the best is taken.
    """
    points = nodes(interval, 160)[::-1]
    values = sampled(function, points)
    emphasis, below = [mpf(1)] * len(points), [mpf(1)] * len(points)
    steps = []
    for step in range(12):
        scales = [e / v / b for e, v, b in zip(emphasis, values, below)]
        rows = [
            [s * t**k for k in range(degree + 1)]
            + [-s * v * t**k for k in range(1, denominator + 1)]
            for t, v, s in zip(points, values, scales)
        ]
        right = [s * v for v, s in zip(values, scales)]
        made = list(mp.lu_solve(mp.matrix(rows), mp.matrix(right)))
        p, q = made[: degree + 1], [mpf(1), *made[degree + 1 :]]
        below = [polynomial(q, t) for t in points]
        errors = [polynomial(p, t) / b / v - 1 for t, v, b in zip(points, values, below)]
        worst = max(map(abs, errors))
        steps.append((worst, p, q))
        if step > 2:
            emphasis = [
                e * (mpf("0.3") + abs(error) / worst) ** mpf("0.5")
                for e, error in zip(emphasis, errors)
            ]
    return min(steps, key=lambda found: found[0])[1:]


def expansion(function: Function, interval: Interval, count: int) -> list[Any]:
    """The first coefficients of Chebyshev's series, the first one to be halved.

    Sums over Chebyshev's nodes give them with some of the later ones added: of so many nodes, with
    those that are below 1e-25 for all functions in `tables`.
    """
    many = 2 * count + 60
    values = sampled(function, nodes(interval, many))[::-1]
    return [
        2 * mp.fsum(v * mp.cos(j * mp.pi * (2 * k + 1) / (2 * many)) for k, v in enumerate(values))
        / many
        for j in range(count)
    ]  # fmt: skip


def series(function: Function, interval: Interval, count: int) -> list[Any]:
    """Chebyshev's series up to `count` terms, in powers of t."""
    low, high = map(mpf, interval)
    slope, start = 2 / (high - low), -(low + high) / (high - low)

    def times_argument(p: list[Any]) -> list[Any]:
        pairs = zip([*p, 0], [0, *p])
        return [start * same + slope * below for same, below in pairs]

    first, *rest = expansion(function, interval, count)
    total = [first / 2] + [mpf(0)] * (count - 1)
    before, last = [mpf(1)], times_argument([mpf(1)])
    for c in rest:
        total = [a + c * b for a, b in zip(total, last + [0] * count)]
        doubled = [2 * v for v in times_argument(last)]
        before, last = last, [a - b for a, b in zip(doubled, before + [0] * count)]
    return total


# ---- the closest polynomial, or quotient of two -------------------------------------------------
class Fit(NamedTuple):
    """A quotient of two polynomials, and how far it is from its function at most."""

    numerator: list[Any]
    denominator: list[Any]
    error: Any


def minimax(
    function: Function,
    interval: Interval,
    degree: int,
    weight: Function = one,
    denominator: int = 0,
) -> Fit:
    """The quotient of two polynomials whose largest weighted error is least: Remez' exchange.

    Of the weight only the size counts: what alternates is the sign of function less quotient.  The
    extrema are looked for on a grid, of 40 points for each: that misses 0.1 % of the error.
    """
    size = degree + denominator + 2  # extrema of equal height and alternating sign
    points = nodes(interval, 40 * size)
    values, weights = sampled(function, points), [abs(w) for w in sampled(weight, points)]
    chosen = [40 * k + 20 for k in range(size)]
    level = mpf(0)
    for _ in range(40):
        reference = [(points[k], values[k], weights[k]) for k in chosen]
        p, q, level = _levelled(reference, degree, denominator, level)
        quotients = [polynomial(p, t) / polynomial(q, t) for t in points]
        errors = [w * (v - r) for v, w, r in zip(values, weights, quotients)]
        worst = max(map(abs, errors))
        if worst <= abs(level) * mpf("1.0001"):
            return Fit(p, q, worst)
        chosen = _exchanged(errors, size)
    raise ArithmeticError("the exchange does not end; a denominator may have a zero there")


def _levelled(
    reference: Sequence[tuple[Any, Any, Any]], degree: int, denominator: int, level: Any
) -> tuple[list[Any], list[Any], Any]:
    """p and q with `w (v - p/q)` of one height at all points of a reference, and that height.

    With a denominator the equations are not linear: `level` is a guess that is improved.
    """
    for _ in range(30 if denominator else 1):
        rows, right = [], []
        for k, (t, v, w) in enumerate(reference):
            share = (-1) ** k / w
            lifted = v - share * level
            below = [-lifted * t**j for j in range(1, denominator + 1)]
            rows.append([t**j for j in range(degree + 1)] + below + [share])
            right.append(v)
        solution = list(mp.lu_solve(mp.matrix(rows), mp.matrix(right)))
        level = solution[-1]
    return solution[: degree + 1], [mpf(1), *solution[degree + 1 : -1]], level


def _exchanged(errors: Sequence[Any], size: int) -> list[int]:
    """Where the error has its extrema, one for each change of sign, and the largest among them."""
    extrema: list[int] = []
    for k, error in enumerate(errors):
        if not extrema or (errors[extrema[-1]] > 0) != (error > 0):
            extrema.append(k)
        elif abs(error) > abs(errors[extrema[-1]]):
            extrema[-1] = k
    if len(extrema) < size:
        raise ArithmeticError(f"the error changes its sign {len(extrema) - 1} times of {size - 1}")
    while len(extrema) > size:
        ends = abs(errors[extrema[0]]) < abs(errors[extrema[-1]])
        if len(extrema) == size + 1:
            del extrema[0 if ends else -1]
        else:
            heights = [abs(errors[k]) for k in extrema]
            pairs = [max(pair) for pair in zip(heights, heights[1:])]
            first = pairs.index(min(pairs))
            del extrema[first : first + 2]
    return extrema
