"""Functions of one operand: sign and size, rounding, bits, powers and roots."""

from __future__ import annotations

import builtins
import enum
from operator import index
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.support.strict import strict
from hloom.ops.common import linear
from hloom.ops.common.elementwise import Elementwise, flat, part_dtype
from hloom.ops.common.expression import BOOL, FLOAT32, FLOAT64, Term, divide_complex, where
from hloom.ops.elementary import complex_functions, real_functions
from hloom.ops.pointwise.accuracy import check_accuracy
from hloom.ops.pointwise.arithmetic import div, mul, neg
from hloom.ops.pointwise.compare import eq, ge, pick
from hloom.ops.pointwise.complex import complex, conj_p, imag, real


def is_complex(x: Any) -> bool:
    """Whether the array holds complex numbers."""
    return x.aval.kind == "complex"


# ---- sign, abs -------------------------------------------------------------------------------
def _sign_tangent(t: Any, out: Any, x: Any) -> Any:
    """None for real numbers; for complex ones the turning of x, at a right angle to it."""
    if not is_complex(x):
        return None
    size = abs(x)
    turn = div(imag(mul(conj_p(out), t)), pick(eq(size, 0), 1, size))
    return mul(out, complex(0.0, turn))


sign_p = Elementwise(
    "sign",
    hlo="sign",
    formula={
        "float": lambda x: where(x == 0.0, x.full(0.0), x.apply("sign")),  # XLA keeps -0.0
        "unsigned": lambda x: (x != 0).to(x.dtype),  # StableHLO's takes none
        "complex": complex_functions.sign,
    },
    numpy=np.sign,
    jvp=[_sign_tangent],
)


def sign(x: Any) -> Any:
    """-1, 0 or 1 by the sign; of complex numbers `x / |x|`.

    Takes and gives any number dtype; NaN stays, -0.0 gives 0.0.  Raises TypeError for bool.

    >>> lax.sign(jnp.array([-2.5, 0.0, 7.0]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    return sign_p(x)


def _abs_complex(x: Term) -> Term:
    return complex_functions.hypot(x.real, x.imag)


def _abs_tangent(t: Any, out: Any, x: Any) -> Any:
    """The part of the tangent along x; at 0 it is `t` for real numbers, 0 for complex ones."""
    if is_complex(x):
        return real(mul(conj_p(sign(x)), t))
    return pick(ge(x, 0), t, neg(t))


abs_p = Elementwise(
    "abs",
    hlo="abs",
    formula={
        "float": Term.__abs__,
        "signed": Term.__abs__,
        "unsigned": lambda x: x,
        "complex": _abs_complex,
    },
    numpy=np.abs,
    jvp=[_abs_tangent],
    result=part_dtype,
    narrow=True,
)


def abs(x: Any) -> Any:
    """The absolute value.

    Takes any number dtype and gives the same, of complex numbers the dtype of their parts.  The
    most negative integer stays as it is, as in NumPy.  Raises TypeError for bool.

    >>> lax.abs(jnp.array([-2.5, 0.0, 7.0]))
    Array([2.5, 0. , 7. ], dtype=float32)
    >>> lax.abs(jnp.array([3 + 4j]))
    Array([5.], dtype=float32)
    """
    return abs_p(x)


# ---- rounding --------------------------------------------------------------------------------
floor_p = Elementwise("floor", hlo="floor", numpy=np.floor, jvp=[flat], domain="float")


def floor(x: Any) -> Any:
    """The largest whole number that is not larger.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.floor(jnp.array([-1.5, 0.5, 2.0]))
    Array([-2.,  0.,  2.], dtype=float32)
    """
    return floor_p(x)


ceil_p = Elementwise("ceil", hlo="ceil", numpy=np.ceil, jvp=[flat], domain="float")


def ceil(x: Any) -> Any:
    """The smallest whole number that is not smaller.

    Takes and gives floats.  Raises TypeError for other dtypes.

    >>> lax.ceil(jnp.array([-1.5, 0.5, 2.0]))
    Array([-1.,  1.,  2.], dtype=float32)
    """
    return ceil_p(x)


class RoundingMethod(enum.IntEnum):
    """What `round` does with a number half-way between two whole ones.

    >>> lax.round(jnp.array([0.5, 1.5]), lax.RoundingMethod.TO_NEAREST_EVEN)
    Array([0., 2.], dtype=float32)
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def _numpy_round(x: Any, *, rounding_method: int) -> Any:
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x).astype(x.dtype), whole)


_ROUNDINGS = ("round_nearest_afz", "round_nearest_even")


class Round(Elementwise):
    """f32[3] -- rounding_method=0 --> f32[3].  Halves go away from zero (0), or to even (1)."""

    def infer(self, x: ShapedArray, *, rounding_method: int) -> ShapedArray:
        if rounding_method not in (0, 1):
            raise ValueError(
                "round takes rounding_method 0, away from zero, or 1, to even, as in "
                f"lax.RoundingMethod; got {rounding_method} for {x}"
            )
        return super().infer(x)


round_p = Round(
    "round",
    formula=lambda x, rounding_method: x.apply(_ROUNDINGS[rounding_method]),
    numpy=_numpy_round,
    jvp=[flat],
    domain="float",
    narrow=True,
)


@strict
def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """The nearest whole number; halves go away from zero, or to the even neighbour.

    Takes and gives floats.  Raises TypeError for other dtypes, ValueError for an unknown method.
    Differs from NumPy, whose `round` goes to even.

    >>> lax.round(jnp.array([0.5, 1.5, -0.5]))
    Array([ 1.,  2., -1.], dtype=float32)
    """
    try:
        method = int(RoundingMethod(rounding_method))
    except ValueError:
        raise ValueError(
            "round takes rounding_method as lax.RoundingMethod.AWAY_FROM_ZERO or TO_NEAREST_EVEN; "
            f"got {rounding_method!r:.80}"
        ) from None
    return round_p(x, rounding_method=method)


is_finite_p = Elementwise(
    "is_finite", hlo="is_finite", numpy=np.isfinite, domain="float", result=BOOL
)


def is_finite(x: Any) -> Any:
    """Whether the number is neither infinite nor NaN.

    Takes floats, gives bool.  Raises TypeError for other dtypes: `hloom.numpy.isfinite` takes those
    too.

    >>> lax.is_finite(jnp.array([1.0, jnp.inf, jnp.nan]))
    Array([ True, False, False], dtype=bool)
    """
    return is_finite_p(x)


# ---- bits ------------------------------------------------------------------------------------
not_p = Elementwise("not", hlo="not", numpy=np.invert, domain="bits")


@strict
def bitwise_not(x: Any) -> Any:
    """All bits inverted; of bool, the other truth value.

    Takes and gives integers or bool.  Raises TypeError for other dtypes.

    >>> lax.bitwise_not(jnp.array([0, 5]))
    Array([-1, -6], dtype=int32)
    """
    return not_p(x)


def to_unsigned(x: Any) -> Any:
    """Integers as unsigned ones of the same bits; int4 and uint4 in a byte."""
    if dtypes.bits(x.dtype) < 8:
        return x.astype(np.int8).astype(np.uint8) & np.uint8((1 << dtypes.bits(x.dtype)) - 1)
    return x.astype(f"u{x.dtype.itemsize}")


def _numpy_clz(x: Any) -> Any:
    width = dtypes.bits(x.dtype)
    rest, used = to_unsigned(x), np.zeros(x.shape, np.int64)
    for _ in range(width):
        used += rest != 0
        rest = rest >> 1
    return (width - used).astype(x.dtype)


def _population_count(x: Term) -> Term:
    """XLA counts the bits of int4 in the byte that holds it."""
    width = dtypes.bits(x.dtype)
    if width >= 8:
        return x.apply("popcnt")
    return (x.to(np.dtype("int8")) & ((1 << width) - 1)).apply("popcnt")


population_count_p = Elementwise(
    "population_count",
    formula=_population_count,
    numpy=lambda x: np.bitwise_count(to_unsigned(x)).astype(x.dtype),
    domain="integer",
)


def population_count(x: Any) -> Any:
    """How many bits are set, negative numbers in two's complement.

    Takes and gives integers.  Raises TypeError for other dtypes.  Differs from NumPy, whose
    `bitwise_count` counts those of the absolute value.

    >>> lax.population_count(jnp.array([0, 7, -1]))
    Array([ 0,  3, 32], dtype=int32)
    """
    return population_count_p(x)


clz_p = Elementwise("clz", hlo="count_leading_zeros", numpy=_numpy_clz, domain="integer")


def clz(x: Any) -> Any:
    """How many bits are unset above the highest one that is set.

    Takes and gives integers; 0 gives their width.  Raises TypeError for other dtypes.

    >>> lax.clz(jnp.array([1, 0, -1]))
    Array([31, 32,  0], dtype=int32)
    """
    return clz_p(x)


# ---- powers and roots ------------------------------------------------------------------------
square_p = Elementwise(
    "square",
    formula=lambda x: x * x,
    numpy=np.square,
    jvp=[lambda t, out, x: mul(t, mul(x, 2))],
    narrow=True,
)


def square(x: Any) -> Any:
    """`x * x`; integers wrap around.

    Takes and gives any number dtype.  Raises TypeError for bool.

    >>> lax.square(jnp.array([1.5, -2.0]))
    Array([2.25, 4.  ], dtype=float32)
    """
    return square_p(x)


def _by_squares(x: Any, n: int) -> Any:
    """`x ** n` for n >= 1, by repeated squares."""
    result = None
    while n:
        if n & 1:
            result = x if result is None else result * x
        n >>= 1
        x = x * x if n else x
    return result


def _write_integer_pow(x: Term, *, y: int) -> Term:
    kind = dtypes.kind(x.dtype)
    if y == -1 and kind == "complex":
        return complex_functions.reciprocal(x)
    if y < 0 and kind == "complex":
        return divide_complex(x.full(1.0), _by_squares(x, -y))
    if x.dtype == FLOAT32 and not -1 <= y <= 4:
        return _write_integer_pow(x.to(FLOAT64), y=y).to(FLOAT32)  # nothing is lost, or flushed
    return _by_squares(1.0 / x if y < 0 else x, builtins.abs(y))


def _numpy_integer_pow(x: Any, *, y: int) -> Any:
    if x.dtype.kind == "f":
        return np.power(x, y)
    if y == -1:
        return np.reciprocal(x)
    power = _by_squares(x, builtins.abs(y))
    return 1 / power if y < 0 else power


class IntegerPow(Elementwise):
    """f32[3] -- y=2 --> f32[3].  `y` is not 0; only inexact numbers have negative powers."""

    def infer(self, x: ShapedArray, *, y: int) -> ShapedArray:
        if y == 0:
            raise ValueError(f"integer_pow takes no power 0, which is lax.full_like(x, 1); got {x}")
        if y < 0 and x.dtype not in dtypes.DOMAINS["inexact"]:
            raise ValueError(
                f"integer_pow: integers have no negative powers; got {x} to the power {y}. "
                "Convert first: lax.convert_element_type(x, 'float32')."
            )
        return super().infer(x)


def _power(x: Any, y: int) -> Any:
    if y == 1:
        return x
    return integer_pow_p(x, y=y) if y else linear.full(x.aval.shape, 1, x.aval.dtype)


integer_pow_p = IntegerPow(
    "integer_pow",
    formula=_write_integer_pow,
    numpy=_numpy_integer_pow,
    jvp=[lambda t, out, x, y: mul(t, mul(_power(x, y - 1), y))],
)


@strict
def integer_pow(x: Any, y: int) -> Any:
    """`x ** y` for a Python integer `y`, by repeated products.

    Takes and gives any number dtype; integers wrap around.  Raises TypeError for bool, ValueError
    for integers and a negative `y`.

    >>> lax.integer_pow(jnp.array([1.5, -2.0]), 3)
    Array([ 3.375, -8.   ], dtype=float32)
    """
    return _power(as_array(x), index(y))


@strict
def reciprocal(x: Any) -> Any:
    """`1 / x`.

    Takes and gives floats or complex numbers.  Raises ValueError for integers.

    >>> lax.reciprocal(jnp.array([2.0, -4.0]))
    Array([ 0.5 , -0.25], dtype=float32)
    """
    return _power(as_array(x), -1)


sqrt_p = Elementwise(
    "sqrt",
    hlo="sqrt",
    formula={"complex": complex_functions.sqrt},
    numpy=np.sqrt,
    jvp=[lambda t, out, x: div(mul(t, 0.5), out)],
    domain="inexact",
)


def sqrt(x: Any, *, accuracy: Any = None) -> Any:
    """The square root; of a negative float it is NaN.

    Takes and gives floats or complex numbers; the branch cut lies along the negative reals.
    Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.sqrt(jnp.array([4.0, 2.25]))
    Array([2. , 1.5], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("sqrt", accuracy, x)
    return sqrt_p(x)


def numpy_rsqrt(x: Any) -> Any:
    root = 1 / np.sqrt(x)
    if x.dtype.kind == "c":
        root = np.asarray(root)
        root[np.isinf(x)] = 0
        root.imag = np.where(np.isinf(x), np.copysign(0, -x.imag), root.imag)
    return root


rsqrt_p = Elementwise(
    "rsqrt",
    formula={
        "float": lambda x: x.apply("rsqrt"),  # a formula, since f16 must be computed in f32
        "complex": complex_functions.rsqrt,
    },
    numpy=numpy_rsqrt,
    jvp=[lambda t, out, x: mul(t, mul(-0.5, div(out, x)))],
    domain="inexact",
)


def rsqrt(x: Any, *, accuracy: Any = None) -> Any:
    """`1 / sqrt(x)`.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.rsqrt(jnp.array([4.0, 0.25]))
    Array([0.5, 2. ], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("rsqrt", accuracy, x)
    return rsqrt_p(x)


cbrt_p = Elementwise(
    "cbrt",
    formula=real_functions.cbrt,
    numpy=np.cbrt,
    jvp=[lambda t, out, x: mul(t, div(1 / 3, square(out)))],
    domain="float",
)


def cbrt(x: Any, *, accuracy: Any = None) -> Any:
    """The cube root, with the sign of `x`.

    Takes and gives floats.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.cbrt(jnp.array([27.0, -8.0]))
    Array([ 3., -2.], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("cbrt", accuracy, x)
    return cbrt_p(x)
