"""Choice, conversion and bits; what is refused; derivatives where a function has a corner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
from hloom import lax
from hloom.ops.pointwise import binary, unary
from hloom.testing import ENGINES, evaluate, same_bits

F32 = np.float32


def f32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, F32)


# ---- select ----------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ENGINES)
def test_select_n_by_int_holds_the_index_to_the_cases(engine: str) -> None:
    which = np.array([-5, 0, 1, 2, 3, 99], np.int32)
    cases = [np.arange(6, dtype=F32) + 10 * i for i in range(3)]
    got = evaluate(engine, lax.select_n, which, *cases)
    np.testing.assert_array_equal(got, [0, 1, 12, 23, 24, 25])


@pytest.mark.parametrize("engine", ENGINES)
def test_select_by_one_bool_or_by_many(engine: str) -> None:
    x, y = f32(1, 2), f32(10, 20)
    np.testing.assert_array_equal(evaluate(engine, lax.select, np.bool_(True), x, y), x)
    mixed = evaluate(engine, lax.select, np.array([False, True]), x, y)
    np.testing.assert_array_equal(mixed, [10, 2])


def test_select_takes_python_scalars_of_the_array_beside_them() -> None:
    assert lax.select(np.array([True, False]), f32(1, 2), 0).dtype == F32


def test_select_passes_cotangents_to_what_was_chosen() -> None:
    chosen = np.array([True, False, True])
    _, pull = hloom.vjp(lambda x, y: lax.select(chosen, x, y), f32(1, 2, 3), f32(4, 5, 6))
    left, right = pull(f32(1, 1, 1))
    np.testing.assert_array_equal(left, [1, 0, 1])
    np.testing.assert_array_equal(right, [0, 1, 0])


def test_select_is_batched_over_a_predicate_of_each_example() -> None:
    chosen, x, y = np.array([True, False]), np.ones((2, 3), F32), np.zeros((2, 3), F32)
    got = hloom.vmap(lax.select)(chosen, x, y)
    np.testing.assert_array_equal(got, [[1, 1, 1], [0, 0, 0]])


# ---- conversions -----------------------------------------------------------------------------
def test_conversion_is_differentiated_between_inexact_dtypes_only() -> None:
    x = f32(1.5, 2.5)
    value, tangent = hloom.jvp(lambda x: lax.convert_element_type(x, "float16"), (x,), (x,))
    assert tangent.dtype == np.float16
    assert same_bits(np.asarray(value), np.asarray(tangent)).all()
    grad = hloom.grad(lambda x: lax.reduce_sum(lax.mul(x, _through_int(x)), (0,)))(x)
    np.testing.assert_array_equal(grad, [1, 2])


def _through_int(x: Any) -> Any:
    return lax.convert_element_type(lax.convert_element_type(x, "int32"), "float32")


def test_conversion_to_real_warns_and_drops_the_imaginary_part() -> None:
    with pytest.warns(np.exceptions.ComplexWarning, match=r"c64\[1\] to float32"):
        got = lax.convert_element_type(np.array([1 + 2j], np.complex64), "float32")
    assert got.item() == 1.0


def test_conversion_between_real_and_complex_is_transposed() -> None:
    def fun(x: Any) -> Any:
        return lax.real(lax.mul(lax.convert_element_type(x, "complex64"), 2 - 3j))

    assert hloom.grad(fun)(F32(5)) == 2.0


def test_conversion_makes_a_weak_type_strong() -> None:
    weak = hloom.typeof(lax.add(1, 1))
    assert weak.weak_type
    assert not hloom.typeof(lax.convert_element_type(lax.add(1, 1), "int32")).weak_type


@pytest.mark.parametrize("engine", ENGINES)
def test_bitcast_splits_and_joins(engine: str) -> None:
    x = f32(1.0, -2.5)
    halves = evaluate(engine, lambda x: lax.bitcast_convert_type(x, "uint16"), x)
    np.testing.assert_array_equal(halves, x.view(np.uint16).reshape(2, 2))
    back = evaluate(engine, lambda h: lax.bitcast_convert_type(h, "float32"), halves)
    np.testing.assert_array_equal(back, x)


def test_bitcast_is_batched() -> None:
    x = np.arange(6, dtype=F32).reshape(2, 3)
    got = hloom.vmap(lambda x: lax.bitcast_convert_type(x, "uint16"), in_axes=1)(x)
    np.testing.assert_array_equal(got, x.T.copy().view(np.uint16).reshape(3, 2, 2))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("format", [(5, 10), (8, 7), (4, 3), (5, 2), (2, 1), (8, 23), (11, 52)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_reduce_precision(dtype: str, format: tuple[int, int], engine: str) -> None:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(200) * np.exp2(rng.uniform(-14, 14, 200))).astype(dtype)
    x = np.concatenate([x, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)])
    got = evaluate(engine, lambda x: lax.reduce_precision(x, *format), x)
    want = evaluate("numpy", lambda x: lax.reduce_precision(x, *format), x)
    assert same_bits(got, want).all()
    if format == (5, 10) and dtype == "float32":
        with np.errstate(all="ignore"):
            half = x.astype(np.float16).astype(F32)
        normal = np.abs(half) >= 2**-14
        np.testing.assert_array_equal(got[normal], half[normal])


# ---- what is refused --------------------------------------------------------------------------
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "two dtypes": (lambda: lax.add(1, 1.0), TypeError, r"i32\[\] and f32\[\].*hloom.numpy.add"),
    "two shapes": (
        lambda: lax.mul(np.ones((2, 3), F32), f32(1, 2, 3)), TypeError, r"f32\[2,3\] and f32\[3\]"
    ),
    "bool sums": (lambda: lax.add(True, False), TypeError, "add takes number operands"),
    "bool differences": (lambda: lax.sub(True, False), TypeError, "sub takes number"),
    "bool negation": (lambda: lax.neg(True), TypeError, "neg takes number"),
    "bool powers": (lambda: lax.pow(True, True), TypeError, "pow takes number"),
    "the sine of an integer": (
        lambda: lax.sin(1), TypeError, r"sin takes inexact operands; got i32\[\]"
    ),
    "the floor of a complex number": (lambda: lax.floor(1j), TypeError, "floor takes float"),
    "bits of floats": (lambda: lax.bitwise_and(1.0, 2.0), TypeError, "and takes bits"),
    "shifts of bool": (lambda: lax.shift_left(True, True), TypeError, "shift_left takes integer"),
    "complex remainders": (lambda: lax.rem(1j, 2j), TypeError, "rem takes real"),
    "the real part of a real": (lambda: lax.real(1.0), TypeError, "real takes complex"),
    "complex parts of f16": (
        lambda: lax.complex(np.float16(1), np.float16(1)), TypeError, "float32 or float64"
    ),
    "negative integer powers": (lambda: lax.integer_pow(2, -1), ValueError, "no negative powers"),
    "a float predicate": (lambda: lax.select_n(1.0, 1.0, 2.0), TypeError, "bool or int32"),
    "bool among three": (lambda: lax.select_n(True, 1.0, 2.0, 3.0), TypeError, "got 3 cases"),
    "no case": (lambda: lax.select_n(True), TypeError, "at least one case"),
    "cases of two dtypes": (lambda: lax.select(True, 1, 2.0), TypeError, "hloom.numpy.where"),
    "a predicate of another shape": (
        lambda: lax.select(np.array([True]), f32(1, 2), f32(1, 2)), TypeError, r"bool\[1\]"
    ),
    "bits of bool": (
        lambda: lax.bitcast_convert_type(True, "int8"), TypeError, "integers and floats"
    ),
    "joined bits that don't fit": (
        lambda: lax.bitcast_convert_type(np.zeros(3, np.int16), "int32"), ValueError,
        "last axis must have that size"
    ),
    "no exponent": (lambda: lax.reduce_precision(1.0, 0, 3), ValueError, "exponent_bits=0"),
    "an unknown dtype": (
        lambda: lax.convert_element_type(1.0, "flaot32"), TypeError, "did you mean"
    ),
    "an unknown rounding": (lambda: lax.round(1.0, 7), ValueError, "7"),
    "text": (lambda: lax.exp("a"), TypeError, "'a'"),
    "a list": (lambda: lax.add([1, 2], 3), TypeError, "hloom.numpy.asarray"),
    "none": (lambda: lax.neg(None), TypeError, "NoneType"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    call, error, text = REFUSED[what]
    with pytest.raises(error, match=text):
        call()


def test_jit_and_vmap_refuse_in_the_same_words() -> None:
    x, y = f32(1, 2), np.array([1, 2], np.int32)
    said = []
    for call in (lax.add, hloom.jit(lax.add), hloom.vmap(lax.add)):
        with pytest.raises(TypeError) as caught:
            call(x, y)
        # A traced call says on further lines where it stands.
        said.append(str(caught.value).partition("\n")[0].replace("[2]", "[]"))
    assert said[0] == said[1] == said[2]


# ---- derivatives at corners -------------------------------------------------------------------
def slopes(fun: Any, *xs: float) -> tuple[float, ...]:
    grads = hloom.grad(fun, tuple(range(len(xs))))(*[F32(x) for x in xs])
    return tuple(float(g) for g in grads)


NAN, INF = np.nan, np.inf
SLOPES: dict[str, tuple[Any, tuple[float, ...], tuple[float, ...]]] = {
    "abs at 0 goes up": (unary.abs, (0.0,), (1.0,)),
    "sign is flat": (unary.sign, (3.0,), (0.0,)),
    "floor is flat": (unary.floor, (3.5,), (0.0,)),
    "a tie of max is shared": (binary.max, (2.0, 2.0), (0.5, 0.5)),
    "a tie of min is shared": (binary.min, (2.0, 2.0), (0.5, 0.5)),
    "x**2 at 0": (binary.pow, (0.0, 2.0), (0.0, 0.0)),
    "x**1 at 0": (binary.pow, (0.0, 1.0), (1.0, 0.0)),
    "x**0 at 0 is flat in x": (binary.pow, (0.0, 0.0), (0.0, 0.0)),
    "x**0.5 at 0": (binary.pow, (0.0, 0.5), (INF, 0.0)),
    "x**0": (binary.pow, (2.0, 0.0), (0.0, float(np.log(F32(2))))),
    "a negative base": (binary.pow, (-1.0, 2.0), (-2.0, NAN)),
    "sqrt at 0": (unary.sqrt, (0.0,), (INF,)),
    "cbrt at 0": (unary.cbrt, (0.0,), (INF,)),
    "rem": (binary.rem, (5.5, -2.0), (1.0, 2.0)),
    "mod": (binary.mod, (5.5, -2.0), (1.0, 3.0)),
    "clamp inside": (lax.clamp, (0.0, 0.5, 1.0), (0.0, 1.0, 0.0)),
    "clamp below": (lax.clamp, (0.0, -1.0, 1.0), (1.0, 0.0, 0.0)),
    "clamp above": (lax.clamp, (0.0, 2.0, 1.0), (0.0, 0.0, 1.0)),
    "clamp at the bound": (lax.clamp, (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
    "i1e at 0": (lax.bessel_i1e, (0.0,), (0.5,)),
    "erf at 0": (lax.erf, (0.0,), (float(2 / np.sqrt(np.pi)),)),
}  # fmt: skip


@pytest.mark.parametrize("claim", SLOPES)
def test_slope(claim: str) -> None:
    fun, at, want = SLOPES[claim]
    np.testing.assert_allclose(slopes(fun, *at), want, rtol=1e-6)


def test_x_to_a_power_that_is_an_integer_array() -> None:
    x, n = f32(2, 0, -3), np.array([3, 0, 2], np.int32)
    np.testing.assert_array_equal(lax.pow(x, n), [8, 1, 9])
    grad = hloom.grad(lambda x: lax.reduce_sum(lax.pow(x, n), (0,)))(x)
    np.testing.assert_array_equal(grad, [12, 0, -6])


def test_complex_abs_has_no_slope_at_zero() -> None:
    _, pull = hloom.vjp(unary.abs, np.complex64(0))
    assert pull(F32(1))[0] == 0


def test_functions_of_smooth_ones_have_second_derivatives() -> None:
    for fun in (lax.sin, lax.exp, lax.tanh, lax.log1p, lax.logistic, lax.erf, lax.lgamma, lax.sqrt):
        with hloom.enable_x64():
            x, h = np.float64(0.7), 1e-5
            second = hloom.grad(hloom.grad(fun))(x)
            slope = (hloom.grad(fun)(x + h) - hloom.grad(fun)(x - h)) / (2 * h)
        np.testing.assert_allclose(second, slope, rtol=1e-6, err_msg=fun.__name__)
