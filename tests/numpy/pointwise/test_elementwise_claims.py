"""What the docstrings of elementwise functions claim: types, scalars, derivatives, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own


def equal(got, want):
    """Equal to the bit, tuples element by element; NaN is NaN and zeros have signs."""
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            equal(g, w)
        return
    got, want = np.asarray(got), np.asarray(want)
    np.testing.assert_array_equal(got, want)
    if got.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


# ---- types -------------------------------------------------------------------------------------
F16 = np.ones(2, np.float16)
F32 = np.ones(2, np.float32)
I8 = np.ones(2, np.int8)
I32 = np.ones(2, np.int32)
U8 = np.ones(2, np.uint8)
BOOL = np.array([True, False])

TYPES = [
    (lambda: jnp.add(1, 1.0), "float32", True),
    (lambda: jnp.add(1, 2), "int32", True),
    (lambda: jnp.add(I8, 1), "int8", False),
    (lambda: jnp.add(I8, 1.0), "float32", True),
    (lambda: jnp.add(F16, 1.0), "float16", False),
    (lambda: jnp.add(F16, I32), "float16", False),
    (lambda: jnp.add(F32, 1j), "complex64", False),
    (lambda: jnp.add(BOOL, 1), "int32", True),
    (lambda: jnp.add(BOOL, BOOL), "bool", False),
    (lambda: jnp.add(U8, I8), "int16", False),
    (lambda: jnp.divide(1, 2), "float32", True),
    (lambda: jnp.divide(I8, I8), "float32", False),
    (lambda: jnp.divide(F16, I32), "float16", False),
    (lambda: jnp.floor_divide(BOOL, BOOL), "int8", False),
    (lambda: jnp.sin(1), "float32", True),
    (lambda: jnp.sin(I8), "float32", False),
    (lambda: jnp.sqrt(F16), "float16", False),
    (lambda: jnp.power(2, 3), "int32", True),
    (lambda: jnp.power(2.0, 3), "float32", True),
    (lambda: jnp.power(I8, 2), "int8", False),
    (lambda: jnp.power(F16, I32), "float16", False),
    (lambda: jnp.power(BOOL, 2), "int32", True),
    (lambda: jnp.float_power(F16, 2), "float32", False),
    (lambda: jnp.square(BOOL), "int8", False),
    (lambda: jnp.absolute(np.ones(2, np.complex64)), "float32", False),
    (lambda: jnp.less(1, 2.0), "bool", False),
    (lambda: jnp.logical_and(1, 0), "bool", False),
    (lambda: jnp.where(True, 1, 2), "int32", True),
    (lambda: jnp.where(True, 1, 2.0), "float32", True),
    (lambda: jnp.where(BOOL, I8, 2), "int8", False),
    (lambda: jnp.clip(1, 0, 2), "int32", True),
    (lambda: jnp.clip(I8, 0, 2), "int8", False),
    (lambda: jnp.clip(I8, 0.5, None), "float32", True),
    (lambda: jnp.select([BOOL], [1], 2), "int32", True),
    (lambda: jnp.choose(I8, [F32, F32]), "float32", False),
    (lambda: jnp.round(I8), "int8", False),
    (lambda: jnp.rint(I8), "float32", False),
    (lambda: jnp.bitwise_count(I32), "uint8", False),
    (lambda: jnp.frexp(F16)[1], "int32", False),
    (lambda: jnp.angle(I8), "float32", False),
    (lambda: jnp.imag(F16), "float16", False),
    (lambda: jnp.isclose(1, 1.0), "bool", False),
    (lambda: jnp.maximum(1, 2.0), "float32", True),
]


@pytest.mark.parametrize(("call", "dtype", "weak"), TYPES)
def test_dtype_and_weak_type_of_results(call, dtype, weak):
    result = call()
    assert (result.dtype.name, result.aval.weak_type) == (dtype, weak)
    traced = hloom.jit(call)()
    assert traced.aval is result.aval


FLOATS, INTEGERS = np.float32([1, 2, 3]), np.int32([1, 2, 3])

PROGRAMS = [
    (lambda x, i: x + 1, "add a 1.0"),
    (lambda x, i: 2 * x, "mul 2.0 a"),
    (lambda x, i: -x, "neg a"),
    (lambda x, i: x / 2, "div a 2.0"),
    (lambda x, i: x // 2, "floor_divide a 2.0"),
    (lambda x, i: x % 2, "mod a 2.0"),
    (lambda x, i: x**2, "integer_pow[y=2] a"),
    (lambda x, i: x**-1, "integer_pow[y=-1] a"),
    (lambda x, i: x**0.5, "pow a 0.5"),
    (lambda x, i: x**i, "pow a b"),
    (lambda x, i: 2.0**x, "pow 2.0 a"),
    (lambda x, i: i**i, "pow b b"),
    (lambda x, i: i & 1, "and b 1"),
    (lambda x, i: i << 1, "shift_left b 1"),
    (lambda x, i: i >> 1, "shift_right_arithmetic b 1"),
    (lambda x, i: ~i, "not b"),
    (lambda x, i: x < 1, "lt a 1.0"),
    (lambda x, i: i == i, "eq b b"),
    (lambda x, i: jnp.maximum(x, 0), "max a 0.0"),
    (lambda x, i: jnp.square(x), "square a"),
    (lambda x, i: jnp.sin(x), "sin a"),
    (lambda x, i: jnp.log10(x), "log10 a"),
    (lambda x, i: jnp.hypot(x, 1), "hypot a 1.0"),
    (lambda x, i: jnp.isnan(x), "ne a a"),
    (lambda x, i: jnp.gcd(i, 6), "gcd b 6"),
    (lambda x, i: jnp.where(i > 1, x, 0), "select_n c 0.0 a"),
    (lambda x, i: jnp.clip(x, 0, 1), "min c 1.0"),
    (lambda x, i: jnp.logical_not(x), "eq a 0.0"),
    (lambda x, i: jnp.round(x), "round[rounding_method=1] a"),
]


@pytest.mark.parametrize(("function", "text"), PROGRAMS, ids=lambda p: p if type(p) is str else "")
def test_programs_have_no_spurious_operations(function, text):
    jaxpr = str(hloom.make_jaxpr(function)(FLOATS, INTEGERS))
    assert f" = {text}\n" in jaxpr
    assert "convert_element_type" not in jaxpr and "broadcast" not in jaxpr


def test_integers_beside_floats_are_converted_once():
    jaxpr = str(hloom.make_jaxpr(lambda x, i: x * i)(FLOATS, INTEGERS))
    assert jaxpr.count("convert_element_type") == 1


# ---- Python integers ---------------------------------------------------------------------------
@pytest.mark.parametrize("value", [300, -1, 2**40, -(2**70)])
def test_an_integer_that_does_not_fit_the_array_raises(value):
    for call in (
        lambda: jnp.add(U8, value),
        lambda: value * jnp.asarray(U8),
        lambda: jnp.maximum(U8, value),
        lambda: jnp.where(BOOL, U8, value),
        lambda: hloom.jit(lambda x: x + value)(U8),
    ):
        with pytest.raises(OverflowError, match=f"{value} out of bounds for uint8"):
            call()


def test_an_integer_that_fits_is_exact():
    equal(jnp.add(np.uint32([5]), 2**32 - 6), np.uint32([2**32 - 1]))
    equal(jnp.asarray(U8) + 200, np.uint8([201, 201]))
    equal(jnp.add(F32, 10**12), np.float32([1e12, 1e12]))
    x = jnp.asarray(np.float32([1, 2]))
    for value in (-1, 1000, -1, 5, 1000):  # the second time by the fast path
        equal(x * value, np.float32([value, 2 * value]))
        equal(value - x, np.float32([value - 1, value - 2]))


@pytest.mark.parametrize("value", [300, -1, 2**40, -(2**70), 5])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint32", "bool"])
def test_comparisons_answer_for_every_integer(value, dtype):
    if dtype == "bool" and value == -(2**70):
        return  # here NumPy answers with an OverflowError
    xs = np.array([0, 1, 5, 100]).astype(dtype)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        ours, numpys = getattr(jnp, name), getattr(np, name)
        equal(ours(xs, value), numpys(xs, value))
        equal(ours(value, xs), numpys(value, xs))
        equal(hloom.jit(lambda x, f=ours: f(x, value))(xs), numpys(xs, value))


def test_comparisons_of_two_huge_integers():
    assert bool(jnp.less(2**40, 2**50)) and not bool(jnp.less(2**50, 2**40))
    assert bool(jnp.equal(2**70, 2**70))


@pytest.mark.parametrize("signed", ["int8", "int32", "int64"])
@pytest.mark.parametrize("unsigned", ["uint8", "uint32", "uint64"])
def test_signed_and_unsigned_integers_compare_exactly(signed, unsigned):
    a, b = np.iinfo(signed), np.iinfo(unsigned)
    xs = np.array([a.min, -1, 0, 1, a.max], signed)[:, None]
    ys = np.array([0, 1, b.max // 2, b.max // 2 + 1, b.max], unsigned)
    for x64 in (True, False):
        if not x64 and "64" in signed + unsigned:
            continue
        with hloom.enable_x64(x64):
            for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
                ours, numpys = getattr(jnp, name), getattr(np, name)
                equal(ours(xs, ys), numpys(xs, ys))
                equal(ours(ys, xs), numpys(ys, xs))


# ---- powers ------------------------------------------------------------------------------------
@pytest.mark.parametrize("base", [2, I32, True])
@pytest.mark.parametrize("exponent", [-1, np.int32([1, -1]), -100, np.int8(-1)])
def test_integers_to_negative_powers_raise(base, exponent):
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        jnp.power(base, exponent)
    if not isinstance(exponent, np.ndarray):
        with pytest.raises(ValueError, match="Integers to negative integer powers"):
            hloom.jit(lambda x: x**exponent)(jnp.asarray(base))


def test_traced_negative_powers_of_integers_are_truncated():
    got = hloom.jit(jnp.power)(np.int32([1, -1, -1, 2, 0]), np.int32([-3, -3, -2, -1, -1]))
    equal(got, np.int32([1, -1, 1, 0, 0]))


def test_a_literal_power_is_not_confused_with_one_that_is_an_operand():
    x = jnp.asarray(np.float32([3, -2]))
    equal(x**100, np.float32([3, 2]) ** np.float32(100))
    equal(x**3, np.float32([27, -8]))
    equal(jnp.power(x, 3), np.float32([27, -8]))
    equal(x**2.0, np.float32([9, 4]))
    equal(x**True, np.float32([3, -2]))


def test_float_exponents_tell_odd_from_even_beyond_their_digits():
    equal(jnp.power(np.float32(-1), np.int32(2**24 + 1)), np.float32(-1))


# ---- derivatives -------------------------------------------------------------------------------
INF = np.inf

DERIVATIVES = [
    (lambda x: x**2, 3.0, 6.0),
    (lambda x: x**2, 0.0, 0.0),
    (lambda x: x**1, 0.0, 1.0),
    (lambda x: x**0, 0.0, 0.0),
    (lambda x: x**-1, 2.0, -0.25),
    (lambda x: jnp.power(x, 2.0), 0.0, 0.0),
    (lambda x: jnp.power(x, 3.0), -2.0, 12.0),
    (lambda x: 2.0**x, 1.0, 2 * np.log(2)),
    (lambda x: jnp.power(0.0, x), 2.0, 0.0),
    (lambda x: (x ** jnp.array([0, 1])).sum(), 1.0, 1.0),
    (jnp.sqrt, 4.0, 0.25),
    (jnp.sqrt, 0.0, INF),
    (jnp.abs, -2.0, -1.0),
    (jnp.fabs, -2.0, -1.0),
    (jnp.sign, 2.0, 0.0),
    (jnp.floor, 1.5, 0.0),
    (jnp.round, 1.5, 0.0),
    (lambda x: jnp.round(x, 1), 1.55, 0.0),
    (lambda x: jnp.maximum(x, 1.0), 2.0, 1.0),
    (lambda x: jnp.maximum(x, 1.0), 1.0, 0.5),
    (lambda x: jnp.minimum(x, 1.0), 2.0, 0.0),
    (lambda x: jnp.fmax(x, jnp.nan), 2.0, 1.0),
    (lambda x: jnp.where(x > 1, x * 3, x), 2.0, 3.0),
    (lambda x: jnp.where(x > 1, x * 3, x), 0.0, 1.0),
    (lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1)), 0), 0.0, 0.0),
    (lambda x: jnp.clip(x, 0, 1), 0.5, 1.0),
    (lambda x: jnp.clip(x, 0, 1), 2.0, 0.0),
    (lambda x: jnp.clip(2.0, 0.0, x), 1.0, 1.0),
    (lambda x: jnp.select([x > 1], [x * x], x), 3.0, 6.0),
    (lambda x: jnp.choose(1, [x, x * x]), 3.0, 6.0),
    (lambda x: jnp.piecewise(x, [x > 1], [lambda x: x * x, 5.0]), 3.0, 6.0),
    (lambda x: jnp.fmod(7.0, x), 3.0, -2.0),
    (lambda x: jnp.mod(x, 3.0), 7.0, 1.0),
    (lambda x: jnp.mod(-7.0, x), 3.0, 3.0),
    (lambda x: jnp.divmod(x, 3.0)[1], 7.0, 1.0),
    (lambda x: jnp.hypot(x, 4.0), 3.0, 0.6),
    (lambda x: jnp.hypot(x, 0.0), 0.0, 0.0),
    (lambda x: jnp.arctan2(x, 2.0), 1.0, 0.4),
    (lambda x: jnp.logaddexp(x, x), 1.0, 1.0),
    (lambda x: jnp.logaddexp(x, -INF), -INF, 0.5),
    (lambda x: jnp.logaddexp2(x, 0.0), 0.0, 0.5),
    (jnp.sinc, 0.0, 0.0),
    (hloom.grad(jnp.sinc), 0.0, -(np.pi**2) / 3),
    (jnp.sinc, 0.5, -4 / np.pi),
    (jnp.i0, 0.0, 0.0),
    (jnp.deg2rad, 3.0, np.pi / 180),
    (lambda x: jnp.copysign(x, -1.0), 2.0, -1.0),
    (lambda x: jnp.copysign(2.0, x), 2.0, 0.0),
    (lambda x: jnp.ldexp(x, 3), 1.0, 8.0),
    (lambda x: jnp.frexp(x)[0], 6.0, 0.125),
    (lambda x: jnp.modf(x)[0], 6.5, 1.0),
    (lambda x: jnp.modf(x)[1], 6.5, 0.0),
    (jnp.nan_to_num, 1.0, 1.0),
    (jnp.reciprocal, 2.0, -0.25),
    (jnp.angle, 2.0, 0.0),
    (lambda x: jnp.real(x * 2j * 1j), 1.0, -2.0),
    (lambda x: jnp.abs(x + 4j), 3.0, 0.6),
    (lambda x: jnp.heaviside(x, 0.5), 1.0, 0.0),
]


@pytest.mark.parametrize(("function", "at", "slope"), DERIVATIVES)
def test_derivatives(function, at, slope):
    np.testing.assert_allclose(hloom.grad(function)(at), slope, rtol=2e-6)
    np.testing.assert_allclose(hloom.jvp(function, (at,), (1.0,))[1], slope, rtol=2e-6)
    np.testing.assert_allclose(hloom.jit(hloom.grad(function))(at), slope, rtol=2e-6)


# ---- refusals in NumPy's words -------------------------------------------------------------------
REFUSALS = [
    (lambda: jnp.subtract(BOOL, BOOL), TypeError, "numpy boolean subtract, the `-` operator"),
    (lambda: jnp.negative(BOOL), TypeError, "The numpy boolean negative, the `-` operator"),
    (lambda: -jnp.asarray(BOOL), TypeError, "boolean negative"),
    (lambda: jnp.add(np.ones(2), np.ones(3)), ValueError, r"with shapes \(2,\) \(3,\)"),
    (lambda: jnp.add("a", 1), TypeError, "add takes arrays and numbers"),
    (lambda: jnp.add(None, 1), TypeError, "add"),
    (lambda: jnp.sin([[1], [2, 3]]), ValueError, "sin"),
    (lambda: jnp.sin({}), TypeError, "sin"),
    (lambda: jnp.floor(1j), TypeError, "ufunc 'floor' not supported for the input types c64"),
    (lambda: jnp.isposinf(1j), TypeError, "would be ambiguous"),
    (lambda: jnp.i0(1j), TypeError, "i0 not supported for complex values"),
    (lambda: jnp.ldexp(1.0, 1.5), TypeError, "ufunc 'ldexp'"),
    (lambda: jnp.round(1.5, 0.5), TypeError, "decimals"),
    (lambda: jnp.where(BOOL, F32), ValueError, "either both or neither of x and y"),
    (lambda: jnp.where(BOOL, np.ones(3), 1), ValueError, "where: operands could not be broadcast"),
    (lambda: jnp.clip(), ValueError, "clip needs an array"),
    (lambda: jnp.clip(U8, 300), OverflowError, "300 out of bounds for uint8"),
    (lambda: jnp.select([], []), ValueError, "empty condition list"),
    (lambda: jnp.select([BOOL], []), ValueError, "same length as list of conditions"),
    (lambda: jnp.select([F32], [F32]), TypeError, "invalid entry 0 in condlist"),
    (lambda: jnp.choose([0, 2], [[1], [2]]), ValueError, "invalid entry in choice array"),
    (lambda: jnp.choose([0.5], [[1], [2]]), TypeError, "integers"),
    (lambda: jnp.choose([0], [[1]], mode="x"), ValueError, "mode"),
    (lambda: jnp.piecewise(F32, [BOOL], [1, 2, 3]), ValueError, "with 1 condition"),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSALS)
def test_refusals(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize(
    "function", [lambda x: jnp.choose(x, [[1, 2], [3, 4]]), lambda x: jnp.real_if_close(x * 1j)]
)
def test_what_depends_on_values_is_refused_while_tracing(function):
    with pytest.raises(hloom.errors.ConcretizationTypeError):
        hloom.jit(function)(np.int32([0, 1]))


# ---- rounding ----------------------------------------------------------------------------------
@pytest.mark.parametrize("decimals", [0, 1, 2, 5, -1, -2, 40, -40])
@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "complex64", "int8", "uint8", "int32"]
)
def test_round_is_numpys(decimals, dtype):
    xs = np.array([0, 0.25, 1.25, -2.5, 15, 25, -35.5, 99, 120], "float64")
    xs = np.abs(xs).astype(dtype) if dtype == "uint8" else xs.astype(dtype)
    with np.errstate(all="ignore"):
        want = np.round(xs, decimals)
    if dtype[0] in "fc":  # where 10**decimals is beyond the dtype, NumPy gives NaN
        want = np.where(np.isnan(want), xs if decimals > 0 else xs * 0, want).astype(dtype)
    with hloom.enable_x64():
        equal(jnp.round(xs, decimals), want)
        equal(jnp.asarray(xs).round(decimals), want)


def test_integers_are_rounded_exactly():
    with hloom.enable_x64():
        equal(jnp.round(np.int64([2**60 + 25, -(2**62) - 5]), -1), [2**60 + 24, -(2**62) - 6])


# ---- choices -----------------------------------------------------------------------------------
def test_clip_takes_numpys_names_and_bounds_beyond_the_dtype():
    x = np.array([-3, 0, 7], np.int8)
    equal(jnp.clip(x, -500, 5), np.clip(x, -500, 5))
    equal(jnp.clip(x, 0, 300), np.clip(x, 0, 300))
    equal(jnp.clip(x, a_min=0, a_max=5), np.clip(x, 0, 5))
    equal(jnp.clip(x, min=0), np.clip(x, 0, None))
    equal(jnp.asarray(x).clip(max=2), np.clip(x, None, 2))
    equal(jnp.clip(x), x)
    equal(jnp.clip(x, 5, 2), np.clip(x, 5, 2))
    equal(jnp.clip([1.0, np.nan], np.nan, 2.0), np.clip([1.0, np.nan], np.nan, 2.0))


def test_select_choose_and_piecewise_are_numpys():
    x = np.arange(-3, 4)
    conditions, choices = [x < -1, x > 1], [x * 10, x * 100]
    equal(jnp.select(conditions, choices, 7), np.select(conditions, choices, 7))
    equal(jnp.select([[[True], [False]]], [x]), np.select([[[True], [False]]], [x]))
    a, cs = np.array([[0], [2], [1]]), [x, x + 1, x * 2]
    equal(jnp.choose(a, cs), np.choose(a, cs))
    equal(jnp.choose(a - 5, cs, mode="wrap"), np.choose(a - 5, cs, mode="wrap"))
    equal(jnp.choose(a * 5 - 1, cs, mode="clip"), np.choose(a * 5 - 1, cs, mode="clip"))
    equal(jnp.asarray(a).choose(np.array(cs)), np.choose(a, cs))
    functions = [lambda x: -x, lambda x, k=1: x * k, 5]
    for condlist in ([x < 0, x < 2], x < 0):
        for functions in ([lambda x: -x, 7], [lambda x: -x, lambda x: x * x, 5]):
            try:
                want = np.piecewise(x, condlist, functions)
            except ValueError:
                continue
            equal(jnp.piecewise(x, condlist, functions), want)
    equal(jnp.piecewise(x, [x > 0], [lambda x, k: x * k], 3), np.where(x > 0, x * 3, 0))


def test_real_if_close_is_numpys():
    for x in ([1 + 1e-14j, 2], [1 + 1e-5j], [1.0, 2.0], [1j]):
        with hloom.enable_x64():
            got, want = jnp.real_if_close(x), np.real_if_close(x)
            equal(got, want)
            assert got.dtype == want.dtype


# ---- closeness ---------------------------------------------------------------------------------
def test_isclose_is_numpys():
    a = np.array([1.0, 1.0, np.inf, np.inf, np.nan, 0.0, 1e-9, np.nan])
    b = np.array([1.000001, 1.1, np.inf, -np.inf, np.nan, 1e-9, 0.0, 1.0])
    for equal_nan in (False, True):
        for rtol, atol in ((1e-5, 1e-8), (0.2, 0), (0, 0)):
            want = np.isclose(a, b, rtol, atol, equal_nan)
            equal(jnp.isclose(a, b, rtol, atol, equal_nan), want)
            equal(jnp.allclose(a[:2], b[:2], rtol, atol), np.allclose(a[:2], b[:2], rtol, atol))
    equal(jnp.isclose(np.int32(2**30), np.int32(2**30 + 1), 0, 0), False)
    equal(jnp.isclose(np.uint8(0), np.uint8(255), 0, 1), False)
    equal(jnp.isclose([[1.0], [2.0]], [1.0, 2.0]), np.eye(2, dtype=bool))
    equal(jnp.isclose(1 + 1j, 1 + 1.000001j), True)
    equal(jnp.isclose([1.0, 2.0], [1.1, 2.5], np.array([0.2, 0.1])), [True, False])


def test_whole_arrays_compare():
    equal(jnp.array_equal([1, 2], [1, 2]), True)
    equal(jnp.array_equal([1, 2], [1, 3]), False)
    equal(jnp.array_equal([1, 2], [[1, 2]]), False)
    equal(jnp.array_equal([np.nan], [np.nan]), False)
    equal(jnp.array_equal([np.nan], [np.nan], equal_nan=True), True)
    equal(jnp.array_equal([1], "a"), False)
    equal(jnp.array_equiv([1, 2], [[1, 2], [1, 2]]), True)
    equal(jnp.array_equiv([1, 2], [1, 2, 3]), False)
    equal(jnp.array_equal(np.ones((0, 3)), np.ones((0, 3))), True)


# ---- floats ------------------------------------------------------------------------------------
def test_subnormal_numbers_split():
    x = np.array([np.finfo(np.float32).smallest_subnormal, 1e-40, -3e-39], np.float32)
    equal(jnp.frexp(x), np.frexp(x))
    with hloom.enable_x64():
        equal(jnp.frexp(5e-324), np.frexp(5e-324))


def test_ldexp_is_numpys():
    xs = np.array([0.0, -0.0, 1.0, -1.5, 3e38, np.inf, np.nan], np.float32)[:, None]
    ns = np.array([0, 1, -1, 10, 126, 200, -200, 300, 2**31 - 1, -(2**31)], np.int32)
    with np.errstate(all="ignore"):
        want = np.ldexp(xs, ns)
        equal(jnp.ldexp(xs, ns), np.where(np.abs(want) < 1e-37, want * 0, want))
        equal(jnp.ldexp(np.float16(1), -24), np.ldexp(np.float16(1), -24))
    with hloom.enable_x64():
        equal(jnp.ldexp(3.0, np.array([1000, -1000, 1023])), np.ldexp(3.0, [1000, -1000, 1023]))


def test_spacing_of_every_float16_is_numpys():
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        equal(jnp.spacing(x), np.spacing(x))
    equal(jnp.spacing(np.array([-5.0], np.float16)), np.float16([2.0**-8]))
    equal(jnp.spacing(np.array([-5.0], np.float32)), np.float32([-(2.0**-21)]))


def test_sums_of_exponentials():
    x = np.array([-np.inf, -1000, -0.5, 0, 1, 1000, np.inf, np.nan])
    a, b = x[:, None], x[None]
    with hloom.enable_x64():
        np.testing.assert_allclose(jnp.logaddexp(a, b), np.logaddexp(a, b), rtol=1e-15)
        np.testing.assert_allclose(jnp.logaddexp2(a, b), np.logaddexp2(a, b), rtol=1e-15)


def test_sinc_is_one_formula_everywhere():
    x = np.concatenate([np.linspace(-4, 4, 41), [1e-30, 0.0159, 0.016, np.inf, np.nan]])
    with hloom.enable_x64(), np.errstate(all="ignore"):
        np.testing.assert_allclose(jnp.sinc(x), np.sinc(x), rtol=1e-15, atol=2e-16)
        z = x[:41] + 1j
        np.testing.assert_allclose(jnp.sinc(z), np.sinc(z), rtol=2e-15)


# ---- public parity cases -------------------------------------------------------------------------
# Programs of public bug reports, with NumPy's answers (32-bit types).
PARITY = {
    "O16": (
        lambda: 1 / jnp.remainder(jnp.array([-1.0, -4, 0, 4]), jnp.array([1.0, 2, -3, -2])),
        np.float32([INF, INF, -INF, -INF]),
    ),
    "O17": (
        lambda: 1 / jnp.floor_divide(jnp.array([-0.0, 0.0]), jnp.array([3.0, 3.0])),
        np.float32([-INF, INF]),
    ),
    "O18": (lambda: jnp.array([2, -2]) // jnp.array([0, 0]), np.int32([0, 0])),
    "O19": (lambda: (2401 // jnp.array(49), 2401.0 // jnp.array(49.0)), (49, np.float32(49))),
    "O20": (lambda: jnp.mod(jnp.array([1.0, -1.0]), jnp.array(INF)), np.float32([1, INF])),
    "O21": (lambda: jnp.right_shift(np.uint8(0b10000000), np.uint8(2)), np.uint8(32)),
    "O22": (lambda: jnp.power(np.int8([2]), np.int8([64])), np.int8([0])),
    "O27": (lambda: jnp.clip(jnp.array([np.nan, 5.0]), -1, 1), np.float32([np.nan, 1])),
    "O32": (lambda: jnp.ldexp(1, 1), np.float32(2)),
    "O33": (
        lambda: jnp.frexp(jnp.array(np.finfo(np.float16).smallest_subnormal)),
        (np.float16(0.5), np.int32(-23)),
    ),
    "O34": (lambda: jnp.round(jnp.array([15, 25, 35]), -1), np.int32([20, 20, 40])),
    "O49": (lambda: jnp.log1p(np.complex64(1e-5)), np.complex64(9.99995e-06)),
    "O66": (
        lambda: hloom.jit(lambda t: jnp.angle(jnp.logical_xor(t, t)))(jnp.arange(4)),
        np.float32([0, 0, 0, 0]),
    ),
}


@pytest.mark.parametrize("case", PARITY)
def test_public_parity_case(case):
    call, want = PARITY[case]
    equal(call(), want)


def test_public_parity_case_o28_bounds_broadcast():
    assert jnp.clip(jnp.ones((3, 1)), jnp.array([0.0, 2.0]), jnp.array([3.0, 3.0])).shape == (3, 2)


def test_public_parity_case_o31_bfloat16_stays():
    assert (jnp.ones(2, "bfloat16") + float("nan")).dtype == "bfloat16"


def test_public_parity_cases_o50_o51_branch_cuts():
    tan = jnp.tan(np.complex64(-1 - 45j))
    np.testing.assert_allclose(tan, -1j, atol=1e-38)
    np.testing.assert_allclose(
        jnp.arccos(np.complex64(-1 - 4500j)), 1.5710186 + 9.1049795j, rtol=1e-6
    )
    got = jnp.arctan(jnp.array([complex(0.0, -2.0), complex(-0.0, -2.0)]))
    np.testing.assert_allclose(np.asarray(got).real, [np.pi / 2, -np.pi / 2], rtol=1e-6)


def test_public_parity_case_o56_log1p_in_float64():
    with hloom.enable_x64():
        np.testing.assert_allclose(jnp.log1p(-0.4141892), np.log1p(-0.4141892), rtol=5e-16)


def test_public_parity_case_o68_arctan_of_many():
    for size in (3, 49, 50, 200, 1000):
        x = np.linspace(-3, 3, size).astype(np.float32)
        np.testing.assert_allclose(jnp.arctan(x), np.arctan(x), atol=1e-6)


def test_no_function_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jnp.divide(jnp.array([1.0]), 0.0)
        jnp.log(jnp.array([-1.0, 0.0]))
        jnp.power(jnp.array([-1.0]), 0.5)


# ---- integers beside narrow floats ---------------------------------------------------------------
WHOLE = {"int16": 2049, "uint16": 65535, "int32": 2**24 + 1, "uint32": 2**32 - 1}


@pytest.mark.parametrize("narrow", ["float16", "bfloat16", "float32", "float8_e5m2"])
@pytest.mark.parametrize("integer", WHOLE)
def test_an_integer_does_not_equal_the_float_it_would_be_rounded_to(integer, narrow):
    x = jnp.array([WHOLE[integer], 1], integer)
    y = x.astype(narrow)
    wide = [np.asarray(v).astype(np.float64) for v in (x, y)]
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        want = getattr(np, name)(*wide)
        np.testing.assert_array_equal(getattr(jnp, name)(x, y), want)
        np.testing.assert_array_equal(hloom.jit(getattr(jnp, name))(x, y), want)
        np.testing.assert_array_equal(getattr(jnp, name)(y, x), getattr(np, name)(*wide[::-1]))


def test_float_power_loses_nothing_of_its_operands():
    base, exponent = np.array([2**31 - 1, 3], np.int32), np.array([1.0, 2.0], np.float16)
    with hloom.enable_x64():
        np.testing.assert_array_equal(jnp.float_power(base, exponent), [2**31 - 1, 9])
    np.testing.assert_array_equal(jnp.float_power(base, exponent), np.float32([2**31, 9]))
    eighth = jnp.array([2, 3], "float8_e4m3fn")
    assert jnp.float_power(eighth, eighth).dtype == np.float32
    assert jnp.float_power(base, 1j).dtype == np.complex64
