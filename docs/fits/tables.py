"""A row for each table of coefficients in `hloom.ops`: what it approximates, where, made how.

A row is an equation.  `Table(name, "atan(x)", "x + x**3 * P(x**2)", "sqrt(t)", "0", "1", ..)`
says: for x from 0 to 1, atan(x) is nearly `x + x**3 * P(x**2)`, where P is the polynomial with the
table's coefficients; "sqrt(t)" gives x back from P's variable t.  The expressions are in mpmath's
names and are evaluated: what is fitted and measured is what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

from docs.fits import fitting
from hloom.ops.elementary import incomplete_definitions, real_f32, real_f64, special_functions

MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (real_f32, real_f64, special_functions, incomplete_definitions)
}


class Way(NamedTuple):
    """How coefficients are made by a function, an interval and their number, and summed to P."""

    name: str
    make: Callable[[fitting.Function, fitting.Interval, int], list[Any]] | None
    total: Callable[[Sequence[Any], Any], Any] = fitting.polynomial
    closest: bool = True  # whether the closest polynomial is worth comparing with


class Table(NamedTuple):
    """Coefficients, the equation that they are for, and the relative error that is claimed."""

    name: str
    function: str
    approximation: str
    x: str
    low: str
    high: str
    way: Way
    claim: float
    dtype: str = "float64"  # in which the coefficients are used

    @property
    def coefficients(self) -> list[float]:
        """Those in the source."""
        module, name = self.name.split(".")
        return list(getattr(MODULES[module], name))

    @property
    def interval(self) -> fitting.Interval:
        """That of P's variable."""
        ends = [self.parts(_value(end))[0] for end in (self.low, self.high)]
        return min(ends), max(ends)

    def parts(self, x: Any) -> tuple[Any, Any, Any]:
        """t, base and factor of the approximation, which is `base + factor * P(t)`."""
        variables: list[Any] = []
        base = _value(self.approximation, x=x, P=lambda t: variables.append(t) or mpf(0))
        return variables[0], base, _value(self.approximation, x=x, P=lambda t: mpf(1)) - base

    def target(self, t: Any) -> Any:
        """What P is to be."""
        x = _value(self.x, t=t)
        _, base, factor = self.parts(x)
        return (_value(self.function, x=x) - base) / factor

    def weight(self, t: Any) -> Any:
        """The relative error of the function for an error of 1 in P."""
        x = _value(self.x, t=t)
        return self.parts(x)[2] / _value(self.function, x=x)

    def error(self) -> Any:
        """The largest relative error in exact arithmetic, with coefficients as they are used."""
        used = [mpf(float(np.dtype(self.dtype).type(c))) for c in self.coefficients]

        def error(t: Any) -> Any:
            return self.weight(t) * (self.target(t) - self.way.total(used, t))

        points = fitting.nodes(self.interval, 40 * (len(used) + 1))
        return max(map(abs, fitting.sampled(error, points)))

    def made_anew(self) -> list[float] | None:
        """The coefficients that the table's way gives; None if they are somebody else's."""
        if self.way.make is None:
            return None
        made = self.way.make(self.target, self.interval, len(self.coefficients))
        return [float(c) for c in made]

    def least_error(self) -> Any:
        """The largest relative error of the polynomial of this degree that has the least of all."""
        degree = len(self.coefficients) - 1
        return fitting.minimax(self.target, self.interval, degree, self.weight).error


@cache
def _code(expression: str) -> CodeType:
    return compile(expression, expression, "eval")


def _value(expression: str, **names: Any) -> Any:
    return mpf(eval(_code(expression), NAMES | names))


# ---- ways --------------------------------------------------------------------------------------
def _bernoulli(divisor: Callable[[int], int]) -> Callable[..., list[Any]]:
    """B_2, B_4, .. over their divisors."""

    def make(function: fitting.Function, interval: fitting.Interval, count: int) -> list[Any]:
        return [mp.bernoulli(k) / divisor(k) for k in range(2, 2 * count + 1, 2)]

    return make


def _euler_maclaurin(coefficients: Sequence[Any], x: Any) -> Any:
    """The sum of c[k] x (x + 1) .. (x + 2k) / 11**(2k + 1)."""
    terms = [c * mp.rf(x, 2 * k + 1) / mpf(11) ** (2 * k + 1) for k, c in enumerate(coefficients)]
    return mp.fsum(terms)


def _odd_part(function: fitting.Function, interval: fitting.Interval, count: int) -> list[Any]:
    """The odd coefficients of the polynomial for exp(r) - 1."""
    expm1 = next(table for table in TABLES if table.name == "real_f32._EXPM1")
    return fitting.interpolation(expm1.target, expm1.interval, 2 * count)[1::2]


def _quotient(function: fitting.Function, interval: fitting.Interval, count: int) -> list[Any]:
    """p, then q without its 1; p has one or two coefficients more."""
    degree = count // 2
    p, q = fitting.quotient(function, interval, degree, count - degree - 1)
    return [*p, *q[1:]]


def _total_of_quotient(coefficients: Sequence[Any], t: Any) -> Any:
    terms = len(coefficients) // 2 + 1
    below = fitting.polynomial([mpf(1), *coefficients[terms:]], t)
    return fitting.polynomial(coefficients[:terms], t) / below


INTERPOLATION = Way("interpolation", fitting.interpolation)
SERIES = Way("Chebyshev's series in powers", fitting.series)
QUOTIENT = Way("quotient by Lawson's steps", _quotient, _total_of_quotient, closest=False)
EXPANSION = Way("Chebyshev's series", fitting.expansion, fitting.chebyshev)
ODD_PART = Way("odd part of _EXPM1", _odd_part)
FDLIBM = Way("fdlibm, e_log.c", None)
STIRLING = Way("DLMF 5.11.1", _bernoulli(lambda k: k * (k - 1)), closest=False)
STIRLING_SLOPE = Way("DLMF 5.11.2", _bernoulli(lambda k: k), closest=False)
EULER_MACLAURIN = Way("DLMF 25.11.28", _bernoulli(mp.factorial), _euler_maclaurin, closest=False)

# ---- tables ------------------------------------------------------------------------------------
NAMES = {name: getattr(mp, name) for name in (
    "pi", "inf", "sqrt", "exp", "expm1", "log", "ln", "log1p", "sin", "cos", "tan", "asin", "atan",
    "sinh", "cosh", "atanh", "erf", "erfc", "loggamma", "digamma", "zeta", "besseli", "fsum", "mpf",
)}  # fmt: skip
NAMES["digamma_root"] = mp.findroot(mp.digamma, 1.46)

# After a multiple of ln 2 or pi/2 is taken off, rounded, a little more may be left than half of it.
HALF_LN2 = ("-1.01*ln(2)/2", "1.01*ln(2)/2")
TO_HALF_LN2 = ("0", "1.01*ln(2)/2")
TO_QUARTER_PI = ("0", "1.001*pi/4")
MANTISSA = ("sqrt(0.5) - 1", "sqrt(2) - 1")

SIN = ("sin(x)", "x + x**3 * P(x**2)", "sqrt(t)", *TO_QUARTER_PI)
COS = ("cos(x)", "1 - x**2/2 + x**4 * P(x**2)", "sqrt(t)", *TO_QUARTER_PI)
ATAN = ("atan(x)", "x + x**3 * P(x**2)", "sqrt(t)")
ASIN = ("asin(x)", "x + x**3 * P(x**2)", "sqrt(t)", "0", "0.5")
SINH = ("sinh(x)", "x + x**3 * P(x**2)", "sqrt(t)")
LOG1P = ("log1p(x)", "x + x**2 * P(x)", "t", *MANTISSA)
EXPM1 = ("expm1(x)", "x + x**2 * P(x)", "t", *HALF_LN2)
ERFC = (
    "exp(x**2) * erfc(x)", "P((x - 4) / (x + 4) + 0.125) / (1 + 2*x)",
    "4 * (t + 0.875) / (1.125 - t)", "0", "28",
)  # fmt: skip
LGAMMA = ("loggamma(x)", "(x - 1) * (x - 2) * P(x - 1.5)", "t + 1.5", "1", "2")
DIGAMMA = ("digamma(x)", "(x - digamma_root) * P(x - 1.5)", "t + 1.5", "1", "2")
NEAR, FAR = ("4 * t + 4", "0", "8"), ("16 / (t + 1)", "8", "inf")

TABLES = [
    Table("real_f32._SIN", *SIN, INTERPOLATION, 2e-11),
    Table("real_f32._COS", *COS, INTERPOLATION, 1.1e-9),
    Table("real_f32._ATAN", *ATAN, "0", "1", INTERPOLATION, 2.4e-8, "float32"),
    Table("real_f32._ASIN", *ASIN, INTERPOLATION, 1e-9, "float32"),
    Table("real_f32._LOG", *LOG1P, INTERPOLATION, 6e-12),
    Table("real_f32._EXPM1", *EXPM1, INTERPOLATION, 6e-10),
    Table("real_f32._EXP2", "2**x", "1 + x * P(x)", "t", "-0.5", "0.5", INTERPOLATION, 1.2e-10),
    Table("real_f32._SINH", *SINH, *TO_HALF_LN2, ODD_PART, 2e-11),
    Table(
        "real_f32._COSH", "cosh(x)", "1 + x**2 * P(x**2)", "sqrt(t)", *TO_HALF_LN2,
        INTERPOLATION, 6e-14,
    ),
    Table("real_f32._LOG_OF_POWER", *LOG1P, SERIES, 3e-14),
    Table("real_f64._SIN", *SIN, INTERPOLATION, 3e-17),
    Table("real_f64._COS", *COS, INTERPOLATION, 2e-18),
    Table("real_f64._ATAN", *ATAN, "0", "1.0001*tan(pi/8)", INTERPOLATION, 5e-18),
    Table("real_f64._ASIN", *ASIN, INTERPOLATION, 6e-18),
    Table(
        "real_f64._LG", "2*atanh(x)", "2*x + x**3 * P(x**2)", "sqrt(t)", "0", "3 - 2*sqrt(2)",
        FDLIBM, 1.3e-18,
    ),
    Table("real_f64._EXPM1", *EXPM1, INTERPOLATION, 2e-18),
    Table("real_f64._SINH", *SINH, "0", "1", INTERPOLATION, 1e-17),
    Table("special_functions._ERF", "erf(x)", "x * P(x**2)", "sqrt(t)", "0", "4", QUOTIENT, 2.1e-9),
    Table("special_functions._ERFC_SHORT", *ERFC, SERIES, 8e-10),
    Table("special_functions._ERFC", *ERFC, SERIES, 6e-17),
    Table("special_functions._LGAMMA", *LGAMMA, SERIES, 7e-17),
    Table("special_functions._DIGAMMA", *DIGAMMA, SERIES, 2e-16),
    Table("special_functions._LGAMMA_SHORT", *LGAMMA, SERIES, 1.6e-11),
    Table("special_functions._DIGAMMA_SHORT", *DIGAMMA, SERIES, 1.2e-10),
    Table(
        "special_functions.STIRLING", "loggamma(x)",
        "(x - 0.5) * log(x) - x + log(2*pi)/2 + P(1 / x**2) / x", "1 / sqrt(t)", "8", "1e9",
        STIRLING, 1e-16,
    ),
    Table(
        "special_functions.STIRLING_SLOPE", "digamma(x)",
        "log(x) - 1 / (2*x) - P(1 / x**2) / x**2", "1 / sqrt(t)", "8", "1e9", STIRLING_SLOPE, 1e-15,
    ),
    Table(
        "special_functions._BERNOULLI", "zeta(x)",
        "fsum(k**-x for k in range(1, 11)) + 11**(1 - x) / (x - 1) + 11**-x / 2 + 11**-x * P(x)",
        "t", "1.01", "40", EULER_MACLAURIN, 1e-18,
    ),
    Table(
        "special_functions._I0_NEAR", "exp(-x) * besseli(0, x)", "P(x/4 - 1)", *NEAR,
        EXPANSION, 1.2e-16,
    ),
    Table(
        "special_functions._I0_FAR", "exp(-x) * besseli(0, x)", "P(16/x - 1) / sqrt(x)", *FAR,
        EXPANSION, 6e-17,
    ),
    Table(
        "special_functions._I1_NEAR", "exp(-x) * besseli(1, x)", "x * P(x/4 - 1)", *NEAR,
        EXPANSION, 6e-16,
    ),
    Table(
        "special_functions._I1_FAR", "exp(-x) * besseli(1, x)", "P(16/x - 1) / sqrt(x)", *FAR,
        EXPANSION, 3e-17,
    ),
    Table(
        "incomplete_definitions._STIRLING", "loggamma(x)",
        "(x - 0.5) * log(x) - x + log(2*pi)/2 + P(1 / x**2) / x", "1 / sqrt(t)", "8", "1e9",
        STIRLING, 1e-16,
    ),
]  # fmt: skip
