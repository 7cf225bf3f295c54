"""Elementwise operations, conversions and choices: domains, oracles and error budgets.

A budget is in ulp of each element.  Exact operations have none: all engines give the oracle's bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from hloom import dtypes
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
from hloom.ops.pointwise.compare import select, select_n
from hloom.ops.pointwise.convert import (
    bitcast_convert_type,
    convert_element_type,
    reduce_precision,
)
from hloom.ops.pointwise.euclid import gcd, hypot
from hloom.testing.case import Case, Elements
from hloom.testing.comparison import wider
from hloom.testing.operands import COMPLEX, FLOATS, INEXACT, ORDERED, SINGLE

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


# ---- oracles -----------------------------------------------------------------------------------
def by_integers(fun: Callable[..., int]) -> Callable[..., Any]:
    """An oracle in Python's integers, `fun(bits, *numbers)`; results wrap around."""

    def oracle(*operands: Any) -> Any:
        dtype, arrays = operands[0].dtype, np.broadcast_arrays(*operands)
        bits = dtypes.bits(dtype)
        numbers = zip(*[x.ravel().tolist() for x in arrays])
        results = [fun(bits, *row) % 2**bits for row in numbers]
        return np.array(results, f"u{dtype.itemsize}").view(dtype).reshape(arrays[0].shape)

    return oracle


def by_kind(integers: Callable[..., int], floats: Callable[..., Any]) -> Callable[..., Any]:
    """The first of integers, by Python's; the second of floats."""
    return lambda *xs: (by_integers(integers) if xs[0].dtype.kind in "iu" else floats)(*xs)


def by_floats(fun: Callable[[float], float]) -> Callable[..., Any]:
    """An oracle in Python's floats, for finite numbers; all others are their own results."""

    def oracle(x: Any) -> Any:
        wide = x.astype(np.float64)
        results = [fun(v) if np.isfinite(v) else v for v in wide.ravel().tolist()]
        return np.array(results, np.float64).reshape(x.shape).astype(x.dtype)

    return oracle


def largest(x: Any, y: Any) -> Any:
    """NumPy's maximum; of two zeros the positive one, which NumPy leaves open."""
    signed = x.dtype.kind not in "biuc"
    zeros = (x == 0) & (y == 0) & signed
    return np.where(zeros, np.where(np.signbit(x) if signed else x, y, x), np.maximum(x, y))


def smallest(x: Any, y: Any) -> Any:
    """NumPy's minimum; of two zeros the negative one."""
    signed = x.dtype.kind not in "biuc"
    zeros = (x == 0) & (y == 0) & signed
    return np.where(zeros, np.where(np.signbit(x) if signed else x, x, y), np.minimum(x, y))


def _clamped(low: Any, x: Any, high: Any) -> Any:
    return smallest(largest(low, x), high)


def _quotient(bits: int, x: int, y: int) -> int:
    """Rounded towards zero; 0 where the divisor is."""
    return (x // y if (x < 0) == (y < 0) else -(-x // y)) if y else 0


def _remainder(bits: int, x: int, y: int) -> int:
    return x - y * _quotient(bits, x, y) if y else 0


def _power(bits: int, x: int, y: int) -> int:
    """Negative powers are truncated: only 1 and -1 have any."""
    if y >= 0:
        return int(pow(x, y, 2**bits))
    return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)


def _of_parts(x: Any, y: Any) -> Any:
    parts = np.stack(np.broadcast_arrays(x, y), -1)
    return parts.view(f"c{2 * x.itemsize}")[..., 0]


def _half_away_from_zero(x: float) -> float:
    return math.copysign(float(Decimal(x).to_integral_value(ROUND_HALF_UP)), x)


def rounded_to(exponent_bits: int, mantissa_bits: int) -> Callable[..., Any]:
    """Rounded to the normal numbers of a float format, ties to even."""
    reach = 2 ** (exponent_bits - 1)

    def rounded(x: float) -> float:
        mantissa, exponent = math.frexp(x)
        digits = mantissa_bits + 1
        near = math.ldexp(round(math.ldexp(mantissa, digits)), min(exponent, reach + 1) - digits)
        if abs(near) < 2.0 ** (2 - reach):
            near = 0.0
        return math.copysign(math.inf if abs(near) >= 2.0**reach else abs(near), x)

    return by_floats(rounded)


def _bytes(x: Any) -> Any:
    return x.view(np.uint8).reshape(*x.shape, *[x.itemsize][: x.itemsize > 1])


def saturated(dtype: str) -> Callable[..., Any]:
    """Truncated floats, the nearest that an integer dtype has; NaN is 0."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def one(v: float) -> int:
        return 0 if v != v else int(min(max(v, low), high))

    return lambda x: np.array([one(float(v)) for v in x.ravel()], dtype).reshape(x.shape)


def _cube(x: Any) -> Any:
    return x * x * x


def _inverse_cube(x: Any) -> Any:
    return 1 / _cube(x)


CASES = [
    # arithmetic
    row("neg", arithmetic.neg, NUMBERS, WIDE, WIDE, np.negative),
    row("add", arithmetic.add, NUMBERS, PAIR, PAIR, np.add),
    row("sub", arithmetic.sub, NUMBERS, PAIR, PAIR, np.subtract),
    row("mul", arithmetic.mul, REAL, PAIR, PAIR, np.multiply),
    row("mul", arithmetic.mul, COMPLEX, PAIR, PAIR, np.multiply, (0, 0, 4), ROUNDED),
    row("div", arithmetic.div, REAL, PAIR, ((-9, 9), (0.5, 9)), by_kind(_quotient, np.divide)),
    row("div", arithmetic.div, COMPLEX, PAIR, PAIR, np.divide, (0, 0, 6), ROUNDED),
    row("square", unary.square, REAL, WIDE, WIDE, np.square),
    row("square", unary.square, COMPLEX, WIDE, WIDE, np.square, (0, 0, 4), ROUNDED),
    row("rem", binary.rem, REAL, PAIR, ((1, 2), (3, 4)), by_kind(_remainder, np.fmod)),
    row("floor_divide", binary.floor_divide, REAL, PAIR,
        oracle=by_kind(lambda bits, x, y: x // y if y else 0, np.floor_divide)),
    row("mod", binary.mod, REAL, PAIR, ((4, 5), (3, 3.9)),
        by_kind(lambda bits, x, y: x % y if y else 0, np.remainder)),
    # comparison and choice
    row("eq", compare.eq, EVERYTHING, PAIR, oracle=np.equal),
    row("ne", compare.ne, EVERYTHING, PAIR, oracle=np.not_equal),
    row("lt", compare.lt, EVERYTHING, PAIR, oracle=np.less),
    row("le", compare.le, EVERYTHING, PAIR, oracle=np.less_equal),
    row("gt", compare.gt, EVERYTHING, PAIR, oracle=np.greater),
    row("ge", compare.ge, EVERYTHING, PAIR, oracle=np.greater_equal),
    row("max", binary.max, EVERYTHING, PAIR, PAIR, largest),
    row("min", binary.min, EVERYTHING, PAIR, PAIR, smallest),
    row("clamp", compare.clamp, ("bool",), ((0, 1), (0, 1), (0, 1)), oracle=_clamped),
    row("clamp", compare.clamp, REAL, ((-9, 0), (-20, 20), (1, 9)), ((-9, 0), (-20, 20), (1, 9)),
        _clamped),
    # sign, size and rounding
    row("sign", unary.sign, REAL, WIDE, AWAY, lambda x: np.sign(wider(x))),
    row("sign", unary.sign, COMPLEX, WIDE, WIDE, np.sign, (0, 0, 4), ROUNDED),
    row("abs", unary.abs, REAL, WIDE, AWAY, np.abs),
    row("abs", unary.abs, COMPLEX, WIDE, WIDE, np.abs, (2, 2, 0), XLA),
    row("floor", unary.floor, FLOATS, WIDE, oracle=np.floor),
    row("ceil", unary.ceil, FLOATS, WIDE, oracle=np.ceil),
    row("round", unary.round, FLOATS, WIDE, oracle=by_floats(_half_away_from_zero)),
    row("round_even", lambda x: unary.round(x, unary.RoundingMethod(1)), FLOATS, WIDE,
        oracle=np.rint),
    row("is_finite", unary.is_finite, FLOATS, WIDE, oracle=np.isfinite),
    row("nextafter", binary.nextafter, FLOATS, PAIR,
        oracle=lambda x, y: np.where(x == y, y, np.nextafter(x, y))),
    # bits
    row("not", unary.bitwise_not, BITS, WIDE, oracle=np.invert),
    row("and", binary.bitwise_and, BITS, PAIR, oracle=np.bitwise_and),
    row("or", binary.bitwise_or, BITS, PAIR, oracle=np.bitwise_or),
    row("xor", binary.bitwise_xor, BITS, PAIR, oracle=np.bitwise_xor),
    row("population_count", unary.population_count, INTEGERS, WIDE,
        oracle=by_integers(lambda bits, x: (x % 2**bits).bit_count())),
    row("clz", unary.clz, INTEGERS, WIDE,
        oracle=by_integers(lambda bits, x: bits - (x % 2**bits).bit_length())),
    row("shift_left", binary.shift_left, INTEGERS, SHIFT,
        oracle=by_integers(lambda bits, x, y: x << y if 0 <= y < bits else 0)),
    row("shift_right_arithmetic", binary.shift_right_arithmetic, INTEGERS, SHIFT,
        oracle=by_integers(lambda bits, x, y: x >> (y if 0 <= y < bits else bits))),
    row("shift_right_logical", binary.shift_right_logical, INTEGERS, SHIFT,
        oracle=by_integers(lambda bits, x, y: x % 2**bits >> y if 0 <= y < bits else 0)),
    row("mulhi", binary.mulhi, INTEGERS, PAIR,
        oracle=by_integers(lambda bits, x, y: x * y >> bits)),
    # complex numbers and their parts
    row("complex", complex.complex, SINGLE, PAIR, PAIR, _of_parts),
    row("real", complex.real, COMPLEX, WIDE, WIDE, np.real),
    row("imag", complex.imag, COMPLEX, WIDE, WIDE, np.imag),
    row("conj", complex.conj, COMPLEX, WIDE, WIDE, np.conj),
    # powers and roots
    row("pow", binary.pow, INTEGERS, ((-9, 9), (-3, 99)), oracle=by_integers(_power)),
    row(
        "pow", binary.pow, FLOATS, ((0.1, 9), (-5, 5)), ((0.5, 4), (-3, 3)), np.power, (1.5, 1, 0),
        XLA
    ),
    row(
        "pow", binary.pow, COMPLEX, ((0.1, 9), (-4, 4)), ((0.5, 4), (-3, 3)), np.power, (0, 0, 60),
        "NumPy's too is exp(y log x): the error of the logarithm grows", corners=False,
    ),
    row("cube", lambda x: unary.integer_pow(x, 3), INTEGERS, WIDE, oracle=_cube),
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
    row("reduce_precision", lambda x: reduce_precision(x, 5, 2), FLOATS, WIDE,
        oracle=rounded_to(5, 2)),
    row("hypot", hypot, FLOATS, PAIR, ((1, 9), (1, 9)), np.hypot, (0.6, 2, 0), OURS),
    row("gcd", gcd, INTEGERS, PAIR, oracle=np.gcd),
]  # fmt: skip


# ---- conversions -------------------------------------------------------------------------------
CONVERSIONS = [
    Case("to bool", lambda x: convert_element_type(x, "bool"), ((9,),), lambda x: x != 0,
         EVERYTHING),
    Case("to int32", lambda x: convert_element_type(x, "int32"), ((9,),),
         lambda x: x.astype(np.int32), ORDERED, corners=False),
    Case("to int8", lambda x: convert_element_type(x, "int8"), ((9,),),
         lambda x: x.astype(np.int8), ORDERED, corners=False),
    Case("to uint64", lambda x: convert_element_type(x, "uint64"), ((9,),),
         lambda x: x.astype(np.uint64), ORDERED, low=0, corners=False),
    # Floats out of an integer's range saturate; C and NumPy leave the result undefined.
    Case("to int32, saturated", lambda x: convert_element_type(x, "int32"), ((25,),),
         saturated("int32"), FLOATS, low=-3e38, high=3e38, moving=()),
    Case("to uint8, saturated", lambda x: convert_element_type(x, "uint8"), ((25,),),
         saturated("uint8"), FLOATS, low=-999, high=999, moving=()),
    Case("to bfloat16", lambda x: convert_element_type(x, "bfloat16"), ((9,),),
         lambda x: x.astype(bfloat16), ORDERED, moving=()),
    Case("to float16", lambda x: convert_element_type(x, "float16"), ((9,),),
         lambda x: x.astype(np.float16), ORDERED, moving=()),
    Case("to float32", lambda x: convert_element_type(x, "float32"), ((9,),),
         lambda x: x.astype(np.float32), ORDERED, moving=()),
    Case("to float64", lambda x: convert_element_type(x, "float64"), ((9,),),
         lambda x: x.astype(np.float64), ORDERED),
    Case("to complex128", lambda x: convert_element_type(x, "complex128"), ((9,),),
         lambda x: x.astype(np.complex128), EVERYTHING),
    Case("bits as bytes", lambda x: bitcast_convert_type(x, "uint8"), ((3, 2),),
         _bytes, (*INTEGERS, *FLOATS), moving=()),
    Case("bits of bytes", lambda x: bitcast_convert_type(x, "float32"), ((3, 4),),
         lambda x: x.view(np.float32)[..., 0], ("uint8",), moving=()),
]  # fmt: skip

SMALL = [
    Case("reduce_precision of small floats", lambda x: reduce_precision(x, 4, 1), ((20,),),
         rounded_to(4, 1), ("float8_e5m2", "float8_e4m3fn"), moving=()),
    Case("reduce_precision of floats that the interpreter lacks",
         lambda x: reduce_precision(x, 4, 1), ((20,),), rounded_to(4, 1),
         ("float4_e2m1fn", "float8_e8m0fnu"), moving=(), engines=("xla", "numpy")),
]  # fmt: skip

# ---- choice ------------------------------------------------------------------------------------
CHOICES = [
    Case("select", select, (np.array([True, False, True]), (3,), (3,)), np.where),
    Case("select by one bool", select, (np.bool_(False), (2, 3), (2, 3)), lambda p, x, y: y),
    Case("select_n", select_n, (np.array([2, 0, 1], np.int32), (3,), (3,), (3,)),
         lambda i, *xs: np.choose(i, xs)),
    Case("select_n beyond the last", select_n, (np.array([5, -1], np.int32), (2,), (2,), (2,)),
         lambda i, *xs: np.choose(i, xs, mode="clip")),
]  # fmt: skip
