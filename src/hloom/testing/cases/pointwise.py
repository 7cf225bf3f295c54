"""Elementwise operations: where they are looked at, what they are, how exactly.

Accuracy is that of each element.  Without an oracle an operation is exact: all engines give the
bits of its NumPy rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hloom.ops.elementary import incomplete_definitions as incomplete_
from hloom.ops.elementary import special_definitions as definitions
from hloom.ops.pointwise import (
    arithmetic,
    binary,
    compare,
    complex,
    exponential,
    incomplete,
    special,
    trigonometric,
    unary,
)
from hloom.testing.case import Case, Elements
from hloom.testing.operands import COMPLEX, FLOATS, INEXACT, SINGLE

INTEGERS = ("int8", "int32", "int64", "uint8", "uint32", "uint64")
BITS = ("bool", *INTEGERS)
REAL = INTEGERS + FLOATS
NUMBERS = INTEGERS + INEXACT
EVERYTHING = ("bool", *NUMBERS)

Interval = tuple[float, float]


def row(
    name: str,
    fun: Callable[..., Any],
    dtypes: tuple[str, ...],
    domain: tuple[Interval, ...],
    smooth: tuple[Interval, ...] | None = None,
    oracle: Callable[..., Any] | None = None,
    ulp: tuple[float, float, float] = (0.0, 0.0, 0.0),
    why: str = "exact",
    corners: bool = True,
    moving: tuple[int, ...] | None = None,
    twice: bool = True,
) -> Case:
    """A case of an elementwise operation.

    `smooth`: where it is differentiated, None: nowhere; `moving`: by which operands, None: by all;
    `twice`: whether its derivative has one.
    """
    return Case(
        name, fun, tuple(Elements(*x) for x in domain), oracle, dtypes, ulp, why,
        moving=() if smooth is None else moving or tuple(range(len(domain))),
        smooth=None if smooth is None else tuple(Elements(*x) for x in smooth),
        corners=corners, twice=twice,
    )  # fmt: skip


WIDE = ((-50.0, 50.0),)
SOME = ((-4.0, 4.0),)
POSITIVE = ((0.1, 50.0),)
INSIDE = ((-0.95, 0.95),)
PAIR = ((-20.0, 20.0), (-20.0, 20.0))
SHIFT = ((-99.0, 99.0), (-3.0, 70.0))
AWAY = ((1.0, 9.0),)
GAMMA = ((0.1, 50.0), (0.1, 50.0))
SHAPES = ((0.5, 9.0), (0.5, 9.0))

ROUNDED = "correctly rounded; complex: sums of rounded products"
XLA = "XLA's function; complex: products of several"
OURS = "our program; complex: products of several"
CANCELS = "one operand and what is above it may nearly cancel"
TAIL = "exp passes on the error of its operand, which is as large as the result's logarithm"


def _cube(x: Any) -> Any:
    return x * x * x


def _inverse_cube(x: Any) -> Any:
    return 1 / _cube(x)


CASES = [
    # arithmetic
    row("neg", arithmetic.neg, NUMBERS, WIDE, WIDE),
    row("add", arithmetic.add, NUMBERS, PAIR, PAIR),
    row("sub", arithmetic.sub, NUMBERS, PAIR, PAIR),
    row("mul", arithmetic.mul, REAL, PAIR, PAIR),
    row("mul", arithmetic.mul, COMPLEX, PAIR, PAIR, np.multiply, (0, 0, 4), ROUNDED),
    row("div", arithmetic.div, REAL, PAIR, ((-9, 9), (0.5, 9))),
    row("div", arithmetic.div, COMPLEX, PAIR, PAIR, np.divide, (0, 0, 6), ROUNDED),
    row("square", unary.square, REAL, WIDE, WIDE),
    row("square", unary.square, COMPLEX, WIDE, WIDE, np.square, (0, 0, 4), ROUNDED),
    row("rem", binary.rem, REAL, PAIR, ((1, 2), (3, 4))),
    row("floor_divide", binary.floor_divide, REAL, PAIR),
    row("mod", binary.mod, REAL, PAIR, ((4, 5), (3, 3.9))),
    # comparison and choice
    row("eq", compare.eq, EVERYTHING, PAIR),
    row("ne", compare.ne, EVERYTHING, PAIR),
    row("lt", compare.lt, EVERYTHING, PAIR),
    row("le", compare.le, EVERYTHING, PAIR),
    row("gt", compare.gt, EVERYTHING, PAIR),
    row("ge", compare.ge, EVERYTHING, PAIR),
    row("max", binary.max, EVERYTHING, PAIR, PAIR),
    row("min", binary.min, EVERYTHING, PAIR, PAIR),
    row("clamp", compare.clamp, ("bool",), ((0, 1), (0, 1), (0, 1))),
    row("clamp", compare.clamp, REAL, ((-9, 0), (-20, 20), (1, 9)), ((-9, 0), (-20, 20), (1, 9))),
    # sign, size and rounding
    row("sign", unary.sign, REAL, WIDE, AWAY),
    row("sign", unary.sign, COMPLEX, WIDE, WIDE, np.sign, (0, 0, 4), ROUNDED),
    row("abs", unary.abs, REAL, WIDE, AWAY),
    row("abs", unary.abs, COMPLEX, WIDE, WIDE, np.abs, (2, 2, 0), XLA),
    row("floor", unary.floor, FLOATS, WIDE),
    row("ceil", unary.ceil, FLOATS, WIDE),
    row("round", unary.round, FLOATS, WIDE),
    row("round_even", lambda x: unary.round(x, unary.RoundingMethod(1)), FLOATS, WIDE),
    row("is_finite", unary.is_finite, FLOATS, WIDE),
    row("nextafter", binary.nextafter, FLOATS, PAIR),
    # bits
    row("not", unary.bitwise_not, BITS, WIDE),
    row("and", binary.bitwise_and, BITS, PAIR),
    row("or", binary.bitwise_or, BITS, PAIR),
    row("xor", binary.bitwise_xor, BITS, PAIR),
    row("population_count", unary.population_count, INTEGERS, WIDE),
    row("clz", unary.clz, INTEGERS, WIDE),
    row("shift_left", binary.shift_left, INTEGERS, SHIFT),
    row("shift_right_arithmetic", binary.shift_right_arithmetic, INTEGERS, SHIFT),
    row("shift_right_logical", binary.shift_right_logical, INTEGERS, SHIFT),
    row("mulhi", binary.mulhi, INTEGERS, PAIR),
    # complex numbers and their parts
    row("complex", complex.complex, SINGLE, PAIR, PAIR),
    row("real", complex.real, COMPLEX, WIDE, WIDE),
    row("imag", complex.imag, COMPLEX, WIDE, WIDE),
    row("conj", complex.conj, COMPLEX, WIDE, WIDE),
    # powers and roots
    row("pow", binary.pow, INTEGERS, ((-9, 9), (-3, 99))),
    row(
        "pow", binary.pow, FLOATS, ((0.1, 9), (-5, 5)), ((0.5, 4), (-3, 3)), np.power, (1.5, 1, 0),
        XLA
    ),
    row(
        "pow", binary.pow, COMPLEX, ((0.1, 9), (-4, 4)), ((0.5, 4), (-3, 3)), np.power, (0, 0, 60),
        "NumPy's too is exp(y log x): the error of the logarithm grows", corners=False,
    ),
    row("cube", lambda x: unary.integer_pow(x, 3), INTEGERS, WIDE),
    row("cube", lambda x: unary.integer_pow(x, 3), INEXACT, SOME, SOME, _cube, (2, 2, 9), ROUNDED),
    row(
        "x**-3", lambda x: unary.integer_pow(x, -3), INEXACT, POSITIVE, AWAY, _inverse_cube,
        (1, 4, 9), ROUNDED
    ),
    row(
        "reciprocal", unary.reciprocal, INEXACT, POSITIVE, AWAY, np.reciprocal, (0.6, 0.6, 9),
        ROUNDED
    ),
    row("sqrt", unary.sqrt, INEXACT, POSITIVE, POSITIVE, np.sqrt, (0.6, 0.6, 6), ROUNDED),
    row("rsqrt", unary.rsqrt, INEXACT, POSITIVE, POSITIVE, unary.numpy_rsqrt, (2, 2, 9), XLA),
    row("cbrt", unary.cbrt, FLOATS, WIDE, AWAY, np.cbrt, (2, 0.7, 0), OURS),
    # exponentials and logarithms
    row("exp", exponential.exp, INEXACT, WIDE, SOME, np.exp, (3, 2, 9), XLA),
    row(
        "exp2", exponential.exp2, INEXACT, WIDE, SOME, np.exp2, (2, 1, 90),
        "as exp(x ln2) where complex",
    ),
    row(
        "expm1", exponential.expm1, INEXACT, WIDE, SOME, np.expm1, (3, 1.5, 99), "real part cancels"
    ),
    row("log", exponential.log, INEXACT, POSITIVE, POSITIVE, np.log, (3, 1, 9), XLA),
    row("log2", exponential.log2, INEXACT, POSITIVE, POSITIVE, np.log2, (2, 1, 9), OURS),
    row("log10", exponential.log10, INEXACT, POSITIVE, POSITIVE, np.log10, (3, 1, 9), OURS),
    row("log1p", exponential.log1p, INEXACT, POSITIVE, POSITIVE, np.log1p, (2, 1, 9), OURS),
    row(
        "logistic", exponential.logistic, INEXACT, WIDE, SOME, exponential.numpy_logistic,
        (3, 3, 20), XLA,
    ),
    row(
        "logaddexp", exponential.logaddexp, INEXACT, PAIR, PAIR, exponential.numpy_logaddexp,
        (3, 2, 20), CANCELS,
        corners=False,
    ),
    row(
        "logaddexp2", exponential.logaddexp2, INEXACT, PAIR, PAIR, exponential.numpy_logaddexp2,
        (3, 2, 20), CANCELS,
        corners=False,
    ),
    # trigonometric and hyperbolic functions
    row("sin", trigonometric.sin, INEXACT, WIDE, SOME, np.sin, (2, 1, 12), XLA),
    row("cos", trigonometric.cos, INEXACT, WIDE, SOME, np.cos, (2, 1, 12), XLA),
    row("tan", trigonometric.tan, INEXACT, SOME, INSIDE, np.tan, (3, 2.5, 30), XLA),
    row("asin", trigonometric.asin, INEXACT, INSIDE, INSIDE, np.arcsin, (3, 2, 20), OURS),
    row("acos", trigonometric.acos, INEXACT, INSIDE, INSIDE, np.arccos, (2, 2, 20), OURS),
    row("atan", trigonometric.atan, INEXACT, WIDE, SOME, np.arctan, (3, 2, 20), OURS),
    row("atan2", trigonometric.atan2, FLOATS, PAIR, ((1, 9), (1, 9)), np.arctan2, (3, 2, 0), OURS),
    row("sinh", trigonometric.sinh, INEXACT, WIDE, SOME, np.sinh, (2, 2, 20), OURS),
    row("cosh", trigonometric.cosh, INEXACT, WIDE, SOME, np.cosh, (3, 2, 20), OURS),
    row("tanh", trigonometric.tanh, INEXACT, SOME, SOME, np.tanh, (5, 7, 20), XLA),
    row("asinh", trigonometric.asinh, INEXACT, WIDE, SOME, np.arcsinh, (1, 2, 20), OURS),
    row(
        "acosh", trigonometric.acosh, INEXACT, ((1, 50),), ((2, 9),), np.arccosh, (1.5, 3, 20), OURS
    ),
    row("atanh", trigonometric.atanh, INEXACT, INSIDE, INSIDE, np.arctanh, (1.5, 2, 20), OURS),
    # special functions
    row(
        "erf", special.erf, FLOATS, SOME, SOME, definitions.erf, (30, 3, 0),
        "XLA's, or the interpreter's expansion",
    ),
    row("erfc", special.erfc, FLOATS, SOME, SOME, definitions.erfc, (1, 5, 0), OURS),
    row(
        "erf_inv", special.erf_inv, FLOATS, INSIDE, INSIDE, definitions.erf_inv, (65, 8, 0), XLA
    ),
    row(
        "lgamma", special.lgamma, FLOATS, ((0.1, 50),), ((0.1, 9),), definitions.lgamma,
        (1, 24, 0), "SciPy's own error, near 1.8 and 2.2"
    ),
    row(
        "digamma", special.digamma, FLOATS, ((0.1, 50),), ((0.1, 9),), definitions.digamma,
        (1, 8, 0), OURS
    ),
    row(
        "bessel_i0", special.bessel_i0, FLOATS, WIDE, SOME, definitions.i0, (3, 9, 0),
        "a product with exp, twice"
    ),
    row(
        "bessel_i0e", special.bessel_i0e, FLOATS, WIDE, AWAY, definitions.bessel_i0e, (1, 4, 0),
        OURS
    ),
    row(
        "bessel_i1e", special.bessel_i1e, FLOATS, WIDE, AWAY, definitions.bessel_i1e, (1, 6, 0),
        OURS
    ),
    row(
        "polygamma", special.polygamma, SINGLE, ((1, 1), (1, 9)), ((1, 1), (1, 9)),
        definitions.polygamma, (1, 10, 0), OURS, False, (1,)
    ),
    row(
        "zeta", special.zeta, SINGLE, ((2, 9), (1, 9)), ((2, 9), (1, 9)), definitions.zeta,
        (1, 10, 0), OURS, False, (1,)
    ),
    row(
        "igamma", incomplete.igamma, FLOATS, GAMMA, SHAPES, incomplete_.igamma, (1, 400, 0),
        TAIL, twice=False
    ),
    row(
        "igammac", incomplete.igammac, FLOATS, GAMMA, SHAPES, incomplete_.igammac,
        (1, 400, 0), TAIL, moving=(1,)
    ),
    row(
        "igamma_grad_a", incomplete.igamma_grad_a, FLOATS, GAMMA, SHAPES,
        incomplete_.igamma_grad_a, (1, 600, 0), TAIL, moving=(1,)
    ),
    row(
        "random_gamma_grad", incomplete.random_gamma_grad, FLOATS, GAMMA, SHAPES,
        incomplete_.random_gamma_grad, (1, 600, 0), TAIL, False, (1,)
    ),
    row(
        "betainc", incomplete.betainc, FLOATS, (*GAMMA, (0, 1)), (*SHAPES, (0.1, 0.9)),
        incomplete_.betainc, (1, 600, 0), TAIL, moving=(2,)
    ),
    row(
        "gamma_density", incomplete.gamma_density, FLOATS, GAMMA, SHAPES,
        incomplete_.gamma_density, (1, 400, 0), TAIL
    ),
    row(
        "beta_density", incomplete.beta_density, FLOATS, (*GAMMA, (0, 1)), (*SHAPES, (0.1, 0.9)),
        incomplete_.beta_density, (1, 600, 0), TAIL
    ),
]  # fmt: skip
