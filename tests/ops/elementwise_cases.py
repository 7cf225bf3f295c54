"""The elementwise operations as one table: where they are looked at, what they are, how exactly.

Each case is tried on three engines, differentiated and batched by `test_elementwise`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hloom.ops import (
    arithmetic,
    binary,
    compare,
    complex,
    special,
    special_numpy,
    trigonometric,
    unary,
)

FLOATS = ("float16", "bfloat16", "float32", "float64")
SINGLE = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "int32", "int64", "uint8", "uint32", "uint64")
BITS = ("bool", *INTEGERS)
REAL = INTEGERS + FLOATS
INEXACT = FLOATS + COMPLEX
NUMBERS = INTEGERS + INEXACT
EVERYTHING = ("bool", *NUMBERS)

Interval = tuple[float, float]


class Case(NamedTuple):
    """One operation.

    `fun` is the public function.  `domain` is an interval for each operand, where random operands
    come from, and `smooth` one where it is differentiated (None: it is not).  `ulp` is what its
    results may differ by from `oracle`, a function of wider NumPy arrays: for f32, f64 and complex
    numbers, and 1 for narrower floats; `why` says what that is spent on.  Without an oracle it is
    exact: the bits of its NumPy rule.  `corners`: whether extreme values and NaN are tried too.
    """

    name: str
    fun: Callable[..., Any]
    dtypes: tuple[str, ...]
    domain: tuple[Interval, ...]
    smooth: tuple[Interval, ...] | None = None
    oracle: Callable[..., Any] | None = None
    ulp: tuple[float, float, float] = (0.0, 0.0, 0.0)
    why: str = "exact"
    corners: bool = True

    def __str__(self) -> str:
        return self.name

    def budget(self, dtype: np.dtype[Any]) -> float:
        """How many ulp a result of this dtype may be off."""
        single, double, complex_ = self.ulp
        if dtype.kind == "c":
            return complex_
        return {"float32": single, "float64": double}.get(dtype.name, 1.0 if single else 0.0)


WIDE = ((-50.0, 50.0),)
SOME = ((-4.0, 4.0),)
POSITIVE = ((0.1, 50.0),)
INSIDE = ((-0.95, 0.95),)
PAIR = ((-20.0, 20.0), (-20.0, 20.0))
SHIFT = ((-99.0, 99.0), (-3.0, 70.0))
AWAY = ((1.0, 9.0),)

ROUNDED = "correctly rounded; complex: sums of rounded products"
XLA = "XLA's function; complex: products of several"
OURS = "our program; complex: products of several"


def _cube(x: Any) -> Any:
    return x * x * x


def _inverse_cube(x: Any) -> Any:
    return 1 / _cube(x)


CASES = [
    # arithmetic
    Case("neg", arithmetic.neg, NUMBERS, WIDE, WIDE),
    Case("add", arithmetic.add, NUMBERS, PAIR, PAIR),
    Case("sub", arithmetic.sub, NUMBERS, PAIR, PAIR),
    Case("mul", arithmetic.mul, REAL, PAIR, PAIR),
    Case("mul", arithmetic.mul, COMPLEX, PAIR, PAIR, np.multiply, (0, 0, 4), ROUNDED),
    Case("div", arithmetic.div, REAL, PAIR, ((-9, 9), (0.5, 9))),
    Case("div", arithmetic.div, COMPLEX, PAIR, PAIR, np.divide, (0, 0, 6), ROUNDED),
    Case("square", unary.square, REAL, WIDE, WIDE),
    Case("square", unary.square, COMPLEX, WIDE, WIDE, np.square, (0, 0, 4), ROUNDED),
    Case("rem", binary.rem, REAL, PAIR, ((1, 2), (3, 4))),
    Case("floor_divide", binary.floor_divide, REAL, PAIR),
    Case("mod", binary.mod, REAL, PAIR, ((4, 5), (3, 3.9))),
    # comparison and choice
    Case("eq", compare.eq, EVERYTHING, PAIR),
    Case("ne", compare.ne, EVERYTHING, PAIR),
    Case("lt", compare.lt, EVERYTHING, PAIR),
    Case("le", compare.le, EVERYTHING, PAIR),
    Case("gt", compare.gt, EVERYTHING, PAIR),
    Case("ge", compare.ge, EVERYTHING, PAIR),
    Case("max", binary.max, EVERYTHING, PAIR, PAIR),
    Case("min", binary.min, EVERYTHING, PAIR, PAIR),
    Case("clamp", compare.clamp, REAL, ((-9, 0), (-20, 20), (1, 9)), ((-9, 0), (-20, 20), (1, 9))),
    # sign, size and rounding
    Case("sign", unary.sign, REAL, WIDE, AWAY),
    Case("sign", unary.sign, COMPLEX, WIDE, WIDE, np.sign, (0, 0, 4), ROUNDED),
    Case("abs", unary.abs, REAL, WIDE, AWAY),
    Case("abs", unary.abs, COMPLEX, WIDE, WIDE, np.abs, (2, 2, 0), XLA),
    Case("floor", unary.floor, FLOATS, WIDE),
    Case("ceil", unary.ceil, FLOATS, WIDE),
    Case("round", unary.round, FLOATS, WIDE),
    Case("round_even", lambda x: unary.round(x, unary.RoundingMethod(1)), FLOATS, WIDE),
    Case("is_finite", unary.is_finite, FLOATS, WIDE),
    Case("nextafter", binary.nextafter, FLOATS, PAIR),
    # bits
    Case("not", unary.bitwise_not, BITS, WIDE),
    Case("and", binary.bitwise_and, BITS, PAIR),
    Case("or", binary.bitwise_or, BITS, PAIR),
    Case("xor", binary.bitwise_xor, BITS, PAIR),
    Case("population_count", unary.population_count, INTEGERS, WIDE),
    Case("clz", unary.clz, INTEGERS, WIDE),
    Case("shift_left", binary.shift_left, INTEGERS, SHIFT),
    Case("shift_right_arithmetic", binary.shift_right_arithmetic, INTEGERS, SHIFT),
    Case("shift_right_logical", binary.shift_right_logical, INTEGERS, SHIFT),
    Case("mulhi", binary.mulhi, INTEGERS, PAIR),
    # complex numbers and their parts
    Case("complex", complex.complex, SINGLE, PAIR, PAIR),
    Case("real", complex.real, COMPLEX, WIDE, WIDE),
    Case("imag", complex.imag, COMPLEX, WIDE, WIDE),
    Case("conj", complex.conj, COMPLEX, WIDE, WIDE),
    # powers and roots
    Case("pow", binary.pow, INTEGERS, ((-9, 9), (-3, 99))),
    Case(
        "pow", binary.pow, FLOATS, ((0.1, 9), (-5, 5)), ((0.5, 4), (-3, 3)), np.power, (1.5, 1, 0),
        XLA
    ),
    Case(
        "pow", binary.pow, COMPLEX, ((0.1, 9), (-4, 4)), ((0.5, 4), (-3, 3)), np.power, (0, 0, 60),
        "NumPy's too is exp(y log x): the error of the logarithm grows", corners=False,
    ),
    Case("cube", lambda x: unary.integer_pow(x, 3), INTEGERS, WIDE),
    Case("cube", lambda x: unary.integer_pow(x, 3), INEXACT, SOME, SOME, _cube, (2, 2, 9), ROUNDED),
    Case(
        "x**-3", lambda x: unary.integer_pow(x, -3), INEXACT, POSITIVE, AWAY, _inverse_cube,
        (1, 4, 9), ROUNDED
    ),
    Case(
        "reciprocal", unary.reciprocal, INEXACT, POSITIVE, AWAY, np.reciprocal, (0.6, 0.6, 9),
        ROUNDED
    ),
    Case("sqrt", unary.sqrt, INEXACT, POSITIVE, POSITIVE, np.sqrt, (0.6, 0.6, 6), ROUNDED),
    Case("rsqrt", unary.rsqrt, INEXACT, POSITIVE, POSITIVE, unary.numpy_rsqrt, (2, 2, 9), XLA),
    Case("cbrt", unary.cbrt, FLOATS, WIDE, AWAY, np.cbrt, (2, 0.7, 0), OURS),
    # exponentials and logarithms
    Case("exp", unary.exp, INEXACT, WIDE, SOME, np.exp, (3, 2, 9), XLA),
    Case(
        "exp2", unary.exp2, INEXACT, WIDE, SOME, np.exp2, (2, 1, 90), "as exp(x ln2) where complex"
    ),
    Case("expm1", unary.expm1, INEXACT, WIDE, SOME, np.expm1, (3, 1.5, 99), "real part cancels"),
    Case("log", unary.log, INEXACT, POSITIVE, POSITIVE, np.log, (3, 1, 9), XLA),
    Case("log2", unary.log2, INEXACT, POSITIVE, POSITIVE, np.log2, (2, 1, 9), OURS),
    Case("log10", unary.log10, INEXACT, POSITIVE, POSITIVE, np.log10, (3, 1, 9), OURS),
    Case("log1p", unary.log1p, INEXACT, POSITIVE, POSITIVE, np.log1p, (2, 1, 9), OURS),
    Case("logistic", unary.logistic, INEXACT, WIDE, SOME, unary.numpy_logistic, (3, 3, 20), XLA),
    # trigonometric and hyperbolic functions
    Case("sin", trigonometric.sin, INEXACT, WIDE, SOME, np.sin, (2, 1, 12), XLA),
    Case("cos", trigonometric.cos, INEXACT, WIDE, SOME, np.cos, (2, 1, 12), XLA),
    Case("tan", trigonometric.tan, INEXACT, SOME, INSIDE, np.tan, (3, 2.5, 30), XLA),
    Case("asin", trigonometric.asin, INEXACT, INSIDE, INSIDE, np.arcsin, (3, 2, 20), OURS),
    Case("acos", trigonometric.acos, INEXACT, INSIDE, INSIDE, np.arccos, (2, 2, 20), OURS),
    Case("atan", trigonometric.atan, INEXACT, WIDE, SOME, np.arctan, (3, 2, 20), OURS),
    Case("atan2", trigonometric.atan2, FLOATS, PAIR, ((1, 9), (1, 9)), np.arctan2, (3, 2, 0), OURS),
    Case("sinh", trigonometric.sinh, INEXACT, WIDE, SOME, np.sinh, (2, 2, 20), OURS),
    Case("cosh", trigonometric.cosh, INEXACT, WIDE, SOME, np.cosh, (3, 2, 20), OURS),
    Case("tanh", trigonometric.tanh, INEXACT, SOME, SOME, np.tanh, (5, 7, 20), XLA),
    Case("asinh", trigonometric.asinh, INEXACT, WIDE, SOME, np.arcsinh, (1, 2, 20), OURS),
    Case(
        "acosh", trigonometric.acosh, INEXACT, ((1, 50),), ((2, 9),), np.arccosh, (1.5, 3, 20), OURS
    ),
    Case("atanh", trigonometric.atanh, INEXACT, INSIDE, INSIDE, np.arctanh, (1.5, 2, 20), OURS),
    # special functions
    Case(
        "erf", special.erf, FLOATS, SOME, SOME, special_numpy.erf, (30, 3, 0),
        "XLA's, or the interpreter's expansion",
    ),
    Case("erfc", special.erfc, FLOATS, SOME, SOME, special_numpy.erfc, (1, 5, 0), OURS),
    Case(
        "erf_inv", special.erf_inv, FLOATS, INSIDE, INSIDE, special_numpy.erf_inv, (65, 8, 0), XLA
    ),
    Case(
        "lgamma", special.lgamma, FLOATS, ((2.5, 50),), ((2.5, 9),), special_numpy.lgamma,
        (1, 80, 0), "math.lgamma's own error"
    ),
    Case(
        "digamma", special.digamma, FLOATS, ((2.5, 50),), ((2.5, 9),), special_numpy.digamma,
        (1, 16, 0), OURS
    ),
    Case(
        "bessel_i0e", special.bessel_i0e, FLOATS, WIDE, AWAY, special_numpy.bessel_i0e, (1, 4, 0),
        OURS
    ),
    Case(
        "bessel_i1e", special.bessel_i1e, FLOATS, WIDE, AWAY, special_numpy.bessel_i1e, (1, 6, 0),
        OURS
    ),
    Case(
        "polygamma", special.polygamma, SINGLE, ((1, 1), (1, 9)), None, special_numpy.polygamma,
        (99, 99, 0), XLA, False
    ),
    Case(
        "zeta", special.zeta, SINGLE, ((2, 9), (1, 9)), None, special_numpy.zeta, (99, 99, 0), XLA,
        False
    ),
]  # fmt: skip
