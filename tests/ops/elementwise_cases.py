"""The elementwise operations as one table: where they are looked at, what they are, how exactly.

Each case is tried on three engines, differentiated, transposed and batched by `test_elementwise`.
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
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int32", "int64")
UNSIGNED = ("uint8", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
INEXACT = FLOATS + COMPLEX
NUMBERS = INTEGERS + INEXACT
EVERYTHING = ("bool", *NUMBERS)

Interval = tuple[float, float]


class Case(NamedTuple):
    """One operation.

    `fun` is the public function, `oracle` the same in NumPy, of wider numbers.  `domain` is an
    interval for each operand, where random operands come from; `smooth` the same for derivatives.
    `ulp` is the budget: (f32, f64, complex); `why` says what it is spent on.  Narrow floats may be
    one step off.  `exact` cases have no budget.
    """

    name: str
    fun: Callable[..., Any]
    oracle: Callable[..., Any]
    dtypes: tuple[str, ...]
    domain: tuple[Interval, ...] = ((-4.0, 4.0),)
    smooth: tuple[Interval, ...] | None = None
    ulp: tuple[float, float, float] = (0.0, 0.0, 0.0)
    why: str = "exact or correctly rounded"

    def __str__(self) -> str:
        return self.name


def _sign(x: Any) -> Any:
    return np.sign(x)


def _rem(x: Any, y: Any) -> Any:
    return np.fmod(x, y)


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _truncated(x: Any, y: Any) -> Any:
    return np.divide(x, y) if x.dtype.kind in "fc" else (x - np.fmod(x, y)) // y


ALL = ((-50.0, 50.0),)
ONE = ((-4.0, 4.0),)
POSITIVE = ((0.1, 50.0),)
INSIDE = ((-0.95, 0.95),)
PAIR = ((-20.0, 20.0), (-20.0, 20.0))
LIBRARY = "the error of XLA's own function, or NumPy's, the larger"
OURS = "the program's, or NumPy's, the larger"
SQUARES = "a product and a sum of rounded squares"

CASES = [
    Case("neg", arithmetic.neg, np.negative, NUMBERS, ALL, ALL),
    Case("add", arithmetic.add, np.add, NUMBERS, PAIR, PAIR),
    Case("sub", arithmetic.sub, np.subtract, NUMBERS, PAIR, PAIR),
    Case("mul", arithmetic.mul, np.multiply, NUMBERS, PAIR, PAIR, (0, 0, 4), SQUARES),
    Case("div", arithmetic.div, _truncated, NUMBERS, PAIR, ((-9, 9), (0.5, 9)), (0, 0, 6), SQUARES),
    Case("eq", compare.eq, np.equal, EVERYTHING, PAIR),
    Case("ne", compare.ne, np.not_equal, EVERYTHING, PAIR),
    Case("lt", compare.lt, np.less, EVERYTHING, PAIR),
    Case("le", compare.le, np.less_equal, EVERYTHING, PAIR),
    Case("gt", compare.gt, np.greater, EVERYTHING, PAIR),
    Case("ge", compare.ge, np.greater_equal, EVERYTHING, PAIR),
    Case("max", binary.max, compare.numpy_max, EVERYTHING, PAIR, PAIR),
    Case("min", binary.min, compare.numpy_min, EVERYTHING, PAIR, PAIR),
    Case("sign", unary.sign, np.sign, NUMBERS, ALL, ((1.0, 9.0),), (0, 0, 4), SQUARES),
    Case("abs", unary.abs, np.abs, NUMBERS, ALL, ((1.0, 9.0),), (0, 0, 3), SQUARES),
    Case("floor", unary.floor, np.floor, FLOATS, ALL),
    Case("ceil", unary.ceil, np.ceil, FLOATS, ALL),
    Case("is_finite", unary.is_finite, np.isfinite, FLOATS, ALL),
    Case("not", unary.bitwise_not, np.invert, ("bool", *INTEGERS), ALL),
    Case("square", unary.square, np.square, NUMBERS, ALL, ALL, (0, 0, 4), SQUARES),
    Case("sqrt", unary.sqrt, np.sqrt, INEXACT, POSITIVE, POSITIVE, (0, 0, 6), SQUARES),
    Case("rsqrt", unary.rsqrt, lambda x: 1 / np.sqrt(x), INEXACT, POSITIVE, POSITIVE, (2, 2, 9), LIBRARY),
    Case("cbrt", unary.cbrt, np.cbrt, FLOATS, ALL, POSITIVE, (2, 4, 0), LIBRARY),
    Case("exp", unary.exp, np.exp, INEXACT, ALL, ONE, (3, 2, 9), LIBRARY),
    Case("exp2", unary.exp2, np.exp2, INEXACT, ALL, ONE, (2, 1, 90), "NumPy's complex one is exp(x ln2)"),
    Case("expm1", unary.expm1, np.expm1, INEXACT, ALL, ONE, (5, 5, 99), "cancels in the real part"),
    Case("log", unary.log, np.log, INEXACT, POSITIVE, POSITIVE, (3, 1, 9), LIBRARY),
    Case("log2", unary.log2, np.log2, INEXACT, POSITIVE, POSITIVE, (3, 2, 9), LIBRARY),
    Case("log10", unary.log10, np.log10, INEXACT, POSITIVE, POSITIVE, (3, 2, 9), LIBRARY),
    Case("log1p", unary.log1p, np.log1p, INEXACT, POSITIVE, POSITIVE, (3, 3, 9), LIBRARY),
    Case("logistic", unary.logistic, _logistic, INEXACT, ALL, ONE, (3, 3, 20), LIBRARY),
    Case("sin", trigonometric.sin, np.sin, INEXACT, ALL, ONE, (2, 1.1, 12), LIBRARY),
    Case("cos", trigonometric.cos, np.cos, INEXACT, ALL, ONE, (2, 1.1, 12), LIBRARY),
    Case("tan", trigonometric.tan, np.tan, INEXACT, ONE, INSIDE, (4, 2, 30), LIBRARY),
    Case("asin", trigonometric.asin, np.arcsin, INEXACT, INSIDE, INSIDE, (4, 2, 20), LIBRARY),
    Case("acos", trigonometric.acos, np.arccos, INEXACT, INSIDE, INSIDE, (2, 2, 20), LIBRARY),
    Case("atan", trigonometric.atan, np.arctan, INEXACT, ALL, ONE, (4, 4, 20), LIBRARY),
    Case("atan2", trigonometric.atan2, np.arctan2, FLOATS, PAIR, ((1, 9), (1, 9)), (4, 2, 0), LIBRARY),
    Case("sinh", trigonometric.sinh, np.sinh, INEXACT, ALL, ONE, (5, 4, 20), OURS),
    Case("cosh", trigonometric.cosh, np.cosh, INEXACT, ALL, ONE, (3, 2, 20), OURS),
    Case("tanh", trigonometric.tanh, np.tanh, INEXACT, ONE, ONE, (5, 7, 20), LIBRARY),
    Case("asinh", trigonometric.asinh, np.arcsinh, INEXACT, ALL, ONE, (3, 3, 20), LIBRARY),
    Case("acosh", trigonometric.acosh, np.arccosh, INEXACT, ((1, 50),), ((2, 9),), (4, 4, 20), LIBRARY),
    Case("atanh", trigonometric.atanh, np.arctanh, INEXACT, INSIDE, INSIDE, (3, 3, 20), LIBRARY),
    Case("pow", binary.pow, np.power, INEXACT, ((0.1, 9), (-5, 5)), ((0.5, 4), (-3, 3)), (2, 1, 60), LIBRARY),
    Case("rem", binary.rem, _rem, INTEGERS + FLOATS, PAIR, ((1, 2), (3, 4))),
    Case("floor_divide", binary.floor_divide, np.floor_divide, INTEGERS + FLOATS, PAIR),
    Case("mod", binary.mod, np.remainder, INTEGERS + FLOATS, PAIR, ((4, 5), (3, 3.9))),
    Case("nextafter", binary.nextafter, binary.nextafter_p.numpy, FLOATS, PAIR),
    Case("and", binary.bitwise_and, np.bitwise_and, ("bool", *INTEGERS), PAIR),
    Case("or", binary.bitwise_or, np.bitwise_or, ("bool", *INTEGERS), PAIR),
    Case("xor", binary.bitwise_xor, np.bitwise_xor, ("bool", *INTEGERS), PAIR),
    Case("shift_left", binary.shift_left, np.left_shift, INTEGERS, ((-99, 99), (-3, 70))),
    Case("shift_right_arithmetic", binary.shift_right_arithmetic, np.right_shift, INTEGERS, ((-99, 99), (-3, 70))),
    Case("complex", complex.complex, complex.complex_p.numpy, ("float32", "float64"), PAIR, PAIR),
    Case("real", complex.real, np.real, COMPLEX, ALL, ALL),
    Case("imag", complex.imag, np.imag, COMPLEX, ALL, ALL),
    Case("conj", complex.conj, np.conj, COMPLEX, ALL, ALL),
    Case("erf", special.erf, special_numpy.erf, FLOATS, ONE, ONE, (6, 2, 0), LIBRARY),
    Case("erfc", special.erfc, special_numpy.erfc, FLOATS, ONE, ONE, (65, 112, 0), "XLA's own tail"),
    Case("erf_inv", special.erf_inv, special_numpy.erf_inv, FLOATS, INSIDE, INSIDE, (65, 8, 0), LIBRARY),
    Case("lgamma", special.lgamma, special_numpy.lgamma, FLOATS, ((2.5, 50),), ((2.5, 9),), (30, 30, 0), LIBRARY),
    Case("digamma", special.digamma, special_numpy.digamma, FLOATS, ((2.5, 50),), ((2.5, 9),), (9, 9, 0), LIBRARY),
    Case("bessel_i0e", special.bessel_i0e, special_numpy.bessel_i0e, FLOATS, ALL, ((1, 9),), (1, 4, 0), OURS),
    Case("bessel_i1e", special.bessel_i1e, special_numpy.bessel_i1e, FLOATS, ALL, ((1, 9),), (1, 6, 0), OURS),
    Case("polygamma", special.polygamma, special_numpy.polygamma, ("float32", "float64"), ((1, 1.1), (1, 9)), None, (99, 99, 0), LIBRARY),
    Case("zeta", special.zeta, special_numpy.zeta, ("float32", "float64"), ((2, 9), (1, 9)), None, (99, 99, 0), LIBRARY),
]
