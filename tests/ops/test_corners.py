"""What zeros, NaN, infinities, overflow and rounding give, on three engines: one row a decision.

The oracle here is written out, or is NumPy itself where NumPy has an answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16

import hloom
from hloom.ops import arithmetic, binary, compare, convert, special, trigonometric, unary
from hloom.testing import ENGINES, evaluate, same_bits, show

INF, NAN = np.inf, np.nan
I32 = np.iinfo(np.int32)


def array(values: Any, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.array(values, dtype)


def ints(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


def converted(dtype: Any) -> Any:
    wanted = np.dtype(dtype)
    return lambda x: convert.convert_element_type_p(x, new_dtype=wanted, weak_type=False)


# claim: (function, operands, expected)
ROWS: dict[str, tuple[Any, list[Any], Any]] = {
    # ---- integers
    "division by zero is zero": (arithmetic.div, [ints(5, -5, 0), ints(0, 0, 0)], ints(0, 0, 0)),
    "remainder by zero is zero": (binary.rem, [ints(5, -5, 0), ints(0, 0, 0)], ints(0, 0, 0)),
    "division rounds towards zero": (
        arithmetic.div, [ints(-7, 7, -7), ints(2, -2, -2)], ints(-3, -3, 3)
    ),
    "the most negative by -1 wraps": (arithmetic.div, [ints(I32.min), ints(-1)], ints(I32.min)),
    "its remainder is zero": (binary.rem, [ints(I32.min), ints(-1)], ints(0)),
    "floor division by zero is zero": (binary.floor_divide, [ints(5, -5), ints(0, 0)], ints(0, 0)),
    "modulo by zero is zero": (binary.mod, [ints(5, -5), ints(0, 0)], ints(0, 0)),
    "floor division rounds down": (
        binary.floor_divide, [ints(-7, 7, -7), ints(2, -2, -2)], ints(-4, -4, 3)
    ),
    "modulo has the divisor's sign": (
        binary.mod, [ints(-7, 7, -7), ints(3, -3, -3)], ints(2, -2, -1)
    ),
    "unsigned division by zero is zero": (
        arithmetic.div, [array([5, 200], np.uint8), array([0, 7], np.uint8)],
        array([0, 28], np.uint8)
    ),
    "powers beyond 63 wrap": (
        binary.pow,
        [array([3, 2, 0, 5, -3], np.int64), array([64, 64, 64, 100, 77], np.int64)],
        array([3**64, 2**64, 0, 5**100, (-3) ** 77], object).astype(object) % 2**64,
    ),
    "negative powers are truncated": (
        binary.pow, [ints(1, -1, -1, 3, 0, -2), ints(-3, -3, -2, -1, -1, -2)],
        ints(1, -1, 1, 0, 0, 0)
    ),
    "unsigned numbers shift in zeros": (
        binary.shift_right_arithmetic, [array([200], np.uint8), array([1], np.uint8)],
        array([100], np.uint8)
    ),
    "shifts beyond the width": (
        binary.shift_left, [ints(1, 1, 1), ints(32, 40, -1)], ints(0, 0, 0)
    ),
    "right shifts beyond the width spread the sign": (
        binary.shift_right_arithmetic, [ints(-5, 5, -5), ints(32, 40, -1)], ints(-1, 0, -1)
    ),
    "the most negative has no absolute value": (unary.abs, [ints(I32.min)], ints(I32.min)),
    "unsigned numbers have a sign": (
        unary.sign, [array([0, 7], np.uint8)], array([0, 1], np.uint8)
    ),
    # ---- conversions
    "floats saturate in integers": (
        converted("int32"), [array([NAN, INF, -INF, 3e9, -3e9, 1.9, -1.9])],
        ints(0, I32.max, I32.min, I32.max, I32.min, 1, -1),
    ),
    "negative floats are zero when unsigned": (
        converted("uint8"), [array([-1.0, -INF, 300.0, 254.9])], array([0, 0, 255, 254], np.uint8)
    ),
    "any part makes a complex number true": (
        converted("bool"), [array([3j, 0, 1, complex(0, NAN)], np.complex64)],
        array([1, 0, 1, 1], bool)
    ),
    "f64 to f16 is rounded once": (
        converted("float16"), [array([1 + 2**-11 + 2**-40, 1 - 2**-12 - 2**-40], np.float64)],
        array([1 + 2**-10, 1 - 2**-11], np.float16),
    ),
    "f64 to bf16 is rounded once": (
        converted(bfloat16), [array([1 + 2**-8 + 2**-40], np.float64)], array([1 + 2**-7], bfloat16)
    ),
    "f32 to f16 overflows to infinity": (
        converted("float16"), [array([65504.0, 65519.0, 65520.0])],
        array([65504, 65504, INF], np.float16)
    ),
    # ---- order and sign
    "max takes the positive zero": (
        binary.max, [array([0.0, -0.0]), array([-0.0, 0.0])], array([0.0, 0.0])
    ),
    "min takes the negative zero": (
        binary.min, [array([0.0, -0.0]), array([-0.0, 0.0])], array([-0.0, -0.0])
    ),
    "NaN wins in max": (binary.max, [array([NAN, 1.0]), array([1.0, NAN])], array([NAN, NAN])),
    "NaN stays in clamp": (compare.clamp, [array([0.0]), array([NAN]), array([1.0])], array([NAN])),
    "the upper bound wins in clamp": (
        compare.clamp, [array([2.0]), array([9.0]), array([1.0])], array([1.0])
    ),
    "the sign of -0.0 is 0.0": (
        unary.sign, [array([-0.0, 0.0, -5.0, NAN])], array([0.0, 0.0, -1.0, NAN])
    ),
    "zeros are equal": (compare.eq, [array([0.0]), array([-0.0])], array([True], bool)),
    "NaN is not less": (
        compare.lt, [array([NAN, 1.0]), array([1.0, NAN])], array([False, False], bool)
    ),
    "complex numbers compare lexicographically": (
        compare.lt,
        [array([1 + 1j, 1 + 2j, 2], np.complex64), array([1 + 2j, 1 + 1j, 1 + 9j], np.complex64)],
        array([True, False, False], bool),
    ),
    "NaN wins in a complex max": (
        binary.max,
        [
            array([complex(NAN, 1), 1, 1 + 1j], np.complex64),
            array([5, complex(1, NAN), 1 + 2j], np.complex64),
        ],
        array([complex(NAN, 1), complex(1, NAN), 1 + 2j], np.complex64),
    ),
    "an infinite part wins over NaN in abs": (
        unary.abs, [array([complex(INF, NAN), complex(NAN, -INF)], np.complex64)], array([INF, INF])
    ),
    "complex signs": (
        unary.sign,
        [array([3 - 4j, 0, complex(INF, 5), complex(2, -INF), complex(INF, INF)], np.complex64)],
        array([0.6 - 0.8j, 0, 1, -1j, complex(NAN, NAN)], np.complex64),
    ),
    # ---- functions
    "atan2 at the origin": (
        trigonometric.atan2, [array([0.0, -0.0, 0.0, -0.0]), array([0.0, 0.0, -0.0, -0.0])],
        array([0.0, -0.0, np.pi, -np.pi]),
    ),
    "the root of -1 - 0i lies below": (
        unary.sqrt, [array([complex(-1, -0.0)], np.complex64)],
        array([complex(0, -1)], np.complex64)
    ),
    "the logarithm of -1 - 0i lies below": (
        unary.log, [array([complex(-1, -0.0)], np.complex128)],
        array([complex(0, -np.pi)], np.complex128)
    ),
    "tiny arcsines": (
        trigonometric.asin, [array([2e-38, -2e-38, -0.0])], array([2e-38, -2e-38, -0.0])
    ),
    "complex division by zero": (
        arithmetic.div, [array([1 + 1j, 0], np.complex64), array([0, 0], np.complex64)],
        array([complex(INF, INF), complex(NAN, NAN)], np.complex64),
    ),
    "complex reciprocals keep the signs of zero": (
        unary.reciprocal,
        [array([0, complex(0, -1), complex(-0.0, 2), 4, complex(-4, -0.0)], np.complex64)],
        array(
            [complex(NAN, NAN), 1j, complex(-0.0, -0.5), complex(0.25, -0.0), complex(-0.25, 0.0)],
            np.complex64,
        ),
    ),
    "of NaN beside a large part no arcsine is known": (
        trigonometric.asin, [array([complex(1e30, NAN), complex(NAN, -1e30)], np.complex64)],
        array([complex(NAN, NAN), complex(NAN, NAN)], np.complex64),
    ),
    "nor an inverse hyperbolic cosine": (
        trigonometric.acosh, [array([complex(-1e30, NAN), complex(NAN, 1e30)], np.complex64)],
        array([complex(NAN, NAN), complex(NAN, NAN)], np.complex64),
    ),
    "the root's power is not the root": (
        binary.pow, [array([-0.0, -INF]), array([0.5, 0.5])], array([0.0, INF])
    ),
    "zero to the zero": (
        binary.pow, [array([0, 0, 0], np.complex64), array([0, 1 + 1j, -1], np.complex64)],
        array([1, 0, complex(NAN, NAN)], np.complex64),
    ),
    "whole powers of complex numbers are products": (
        binary.pow,
        [array([1j, 1 + 1j, 2j, 1j, -3], np.complex64), array([2, 4, -2, -1, 7], np.complex64)],
        array([-1, -4, complex(-0.25, -0.0), complex(0, -1), -2187], np.complex64),
    ),
    "gamma has no logarithm at 1 and 2": (
        special.lgamma, [array([1.0, 2.0, -INF, 0.0])], array([0.0, 0.0, INF, INF])
    ),
    "digamma at zero": (special.digamma, [array([0.0, -0.0, -1.0])], array([-INF, INF, NAN])),
    "erf_inv at the ends": (
        special.erf_inv, [array([1.0, -1.0, -0.0, 1.5])], array([INF, -INF, -0.0, NAN])
    ),
    "the next float is exact": (
        binary.nextafter, [array([0.0, -0.0, 1.0, NAN, -1e-45]), array([1.0, 0.0, 2.0, 1.0, 1.0])],
        array([1e-45, 0.0, 1 + 2**-23, NAN, -0.0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("claim", ROWS)
def test_corner(claim: str, engine: str) -> None:
    fun, operands, want = ROWS[claim]
    got = evaluate(engine, fun, *operands)
    if want.dtype == object:
        got, want = got.astype(object) % 2**64, want
        bad = np.asarray(got != want)
    elif got.dtype.kind in "fc" and fun not in (unary.sign, trigonometric.atan2, unary.log):
        bad = ~same_bits(got, want)
    else:
        near = np.isclose(got.astype(want.dtype), want, rtol=1e-6, atol=1e-7)
        bad = ~(same_bits(got, want) | near)
    assert got.dtype == want.dtype or want.dtype == object
    assert not bad.any(), show(bad, operands, got, want)


# ---- integer division by constants: the compiler may evaluate it ---------------------------------
@pytest.mark.parametrize("fun", [arithmetic.div, binary.rem, binary.floor_divide, binary.mod])
def test_a_constant_by_a_constant_zero(fun: Any) -> None:
    five, zero = np.int32(5), np.int32(0)
    assert hloom.jit(lambda x: arithmetic.add(fun(five, zero), x))(np.int32(1)) == 1


# ---- float floor division, to the sign of zero ---------------------------------------------------
SIGNED = [0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 0.5, -6.0, INF, -INF, NAN, 3e4, -7.25, 0.1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("fun", "definition"),
    [(binary.floor_divide, np.floor_divide), (binary.mod, np.remainder)],
    ids=["floor_divide", "mod"],
)
def test_float_floor_division_is_numpys(fun: Any, definition: Any, dtype: str, engine: str) -> None:
    values = np.array(SIGNED).astype(bfloat16 if dtype == "bfloat16" else dtype)
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        wide = [v.astype(np.float32) if v.dtype.itemsize == 2 else v for v in (x, y)]
        want = definition(*wide).astype(x.dtype)
    got = evaluate(engine, fun, x, y)
    bad = ~same_bits(got, want)
    assert not bad.any(), show(bad, [x, y], got, want)


# ---- conversions between all dtypes ------------------------------------------------------------
NAMES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip
VALUES = [
    0.0, -0.0, 1.0, -1.0, 1.5, 2.5, 0.1, 127.0, 128.0, -129.0, 255.0, 256.0, 65504.0, 65520.0,
    448.0, 464.0, 2.0**31, -(2.0**31) - 1, 2.0**32, 2.0**63, 1e19, 1e300, INF, -INF, NAN,
    1 + 2**-8 + 2**-40,
]  # fmt: skip


@pytest.mark.parametrize("engine", ["xla", "reference"])
@pytest.mark.parametrize("source", NAMES)
def test_every_conversion_is_its_numpy_rule(source: str, engine: str) -> None:
    from_dtype = convert.dtypes.as_dtype(source)
    x = evaluate("numpy", converted(from_dtype), np.array(VALUES))
    for target in NAMES:
        to = converted(convert.dtypes.as_dtype(target))
        got, want = evaluate(engine, to, x), evaluate("numpy", to, x)
        bad = ~same_bits(got, want)
        assert not bad.any(), f"to {target}: " + show(bad, [x], got, want)


# ---- floats of 8 bits ------------------------------------------------------------------------
EIGHT = [
    "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz",
]  # fmt: skip


@pytest.mark.parametrize("dtype", EIGHT)
@pytest.mark.parametrize("fun", [arithmetic.add, arithmetic.sub, arithmetic.mul, binary.max])
def test_eight_bits_are_computed_in_f32(fun: Any, dtype: str) -> None:
    every = np.arange(256, dtype=np.uint8).view(convert.dtypes.as_dtype(dtype))
    x, y = (v.ravel() for v in np.meshgrid(every, every))
    got, want = (evaluate(engine, fun, x, y).astype(np.float32) for engine in ("xla", "numpy"))
    bad = ~same_bits(got, want)
    assert not bad.any(), show(bad, [x, y], got, want)


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("dtype", EIGHT)
def test_eight_bits_are_rounded_to_once(dtype: str, source: str) -> None:
    scales = np.exp2(np.arange(-18.0, 11.0))
    x = np.outer(scales, np.arange(-32.0, 33.0)).ravel().astype(convert.dtypes.as_dtype(source))
    to = converted(convert.dtypes.as_dtype(dtype))
    got, want = (evaluate(engine, to, x).astype(np.float32) for engine in ("xla", "numpy"))
    bad = ~same_bits(got, want)
    assert not bad.any(), show(bad, [x], got, want)
