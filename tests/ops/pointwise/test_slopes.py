"""Derivatives of elementwise functions: which are zero, which are refused, and the digits of all
others: over the whole range in which the true derivative is a normal number, in both widths."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import dtypes, lax, testing
from hloom.ops.common.elementwise import Elementwise, flat
from hloom.ops.pointwise import special
from hloom.testing import ENGINES

INF = np.inf
LONG = np.longdouble
F32 = np.float32

# ---- which partials there are ------------------------------------------------------------------
# Zero wherever they exist: the result moves in steps.
FLAT = {"ceil": (0,), "floor": (0,), "floor_divide": (0, 1), "round": (0,)}
# There is one, but it is not known here.
UNKNOWN = {
    "betainc": (0, 1), "igamma_grad_a": (0,), "nextafter": (0, 1), "polygamma": (0,),
    "random_gamma_grad": (0,), "zeta": (0,),
}  # fmt: skip


def _elementwise() -> dict[str, Elementwise]:
    return {n: p for n, p in testing.primitives().items() if isinstance(p, Elementwise)}


def _moves(primitive: Elementwise) -> bool:
    """Whether it takes floats and gives what is no bool."""
    takes = {dtypes.kind(dtype) for dtype in primitive.dtypes} & {"float", "complex"}
    return bool(takes) and primitive.result != np.dtype(bool)


def test_every_operand_has_a_partial_or_is_listed() -> None:
    found: dict[Any, dict[str, tuple[int, ...]]] = {flat: {}, None: {}}
    for name, primitive in _elementwise().items():
        assert len(primitive.partials) == primitive.arity, name
        for kind, names in found.items():
            places = tuple(i for i, p in enumerate(primitive.partials) if p is kind)
            if places and _moves(primitive):
                names[name] = places
    assert found == {flat: FLAT, None: UNKNOWN}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_tangent_that_is_not_known_is_refused(name: str) -> None:
    primitive, point = _elementwise()[name], [2.0, 3.0, 0.75]
    operands = [F32(x) for x in point[: primitive.arity]]
    for i in range(primitive.arity):
        by_one = partial(_by_one, primitive, operands, i)
        if i in UNKNOWN[name]:
            text = rf"{name} of f32\[\].* has no derivative by operand {i}\. .*lax\.stop_gradient"
            for transform in (hloom.grad(by_one), lambda x, f=by_one: hloom.jvp(f, (x,), (x,))):
                with pytest.raises(NotImplementedError, match=text):
                    transform(operands[i])
            hold = lambda x, f=by_one: x * 2 + f(lax.stop_gradient(x))
            assert hloom.grad(hold)(operands[i]) == 2
        else:
            assert np.isfinite(hloom.grad(by_one)(operands[i]))


@pytest.mark.parametrize("name", FLAT)
def test_a_flat_function_has_a_slope_of_zero(name: str) -> None:
    primitive = _elementwise()[name]
    function = partial(primitive, rounding_method=0) if name == "round" else primitive
    operands = [F32(7.3), F32(2.0)][: primitive.arity]
    for i in range(primitive.arity):
        assert hloom.grad(partial(_by_one, function, operands, i))(operands[i]) == 0


def _by_one(function: Callable[..., Any], operands: Any, i: int, x: Any) -> Any:
    """A function of one of its operands."""
    return function(*operands[:i], x, *operands[i + 1 :])


ALONE = [
    case
    for case in testing.FAMILIES["elementwise"]
    if case.differentiated and len(case.operands) > 1
]


@pytest.mark.parametrize("case", ALONE, ids=str)
def test_each_partial_alone_is_the_slope(case: testing.Case) -> None:
    for dtype in case.differentiated:
        (fun, operands), ulp = case.moved(dtype), case.budget(dtype)
        for i, operand in enumerate(operands):
            by_one = partial(_by_one, fun, operands, i)
            with hloom.engine("numpy"):  # the rules are tested, and it compiles nothing
                testing.assert_jvp(by_one, [operand], f"{case}, operand {i}", ulp=ulp)


def test_a_missing_transpose_is_an_error_and_no_zero() -> None:
    linear = Elementwise(
        "half", formula=lambda x: x * 0.5, numpy=lambda x: x / 2, jvp=[lambda t, out, x: linear(t)]
    )
    assert hloom.jvp(linear, (3.0,), (1.0,))[1] == 0.5
    with pytest.raises(NotImplementedError, match="half has no transpose rule"):
        hloom.grad(linear)(3.0)


# ---- digits over the whole range ---------------------------------------------------------------
class Slope(NamedTuple):
    """A function, its derivatives in closed form, where, and how many ulp they may be off."""

    function: Callable[[Any], Any]
    first: Callable[[Any], Any]
    second: Callable[[Any], Any] | None
    low: float = -INF
    high: float = INF
    ulp: float = 6.0


def _sech(x: Any) -> Any:
    e = np.exp(-np.abs(x))
    return 2 * e / (1 + e * e)


def _gaussian(x: Any) -> Any:
    """In parts, so that the square is exact: x has 53 digits, a long double 64."""
    head = x.astype(np.float32).astype(x.dtype)
    return np.exp(-head * head) * np.exp(-(x - head) * (x + head)) * (2 / np.sqrt(LONG(np.pi)))


def _one_less_square(x: Any) -> Any:
    return (1 - x) * (1 + x)


LN2, LN10 = np.log(LONG(2)), np.log(LONG(10))
# Second derivatives that are differences have no relative bound where they cross zero: None.
SLOPES = {
    "exp": Slope(jnp.exp, np.exp, np.exp),
    "exp2": Slope(jnp.exp2, lambda x: np.exp2(x) * LN2, lambda x: np.exp2(x) * LN2 * LN2),
    "expm1": Slope(jnp.expm1, np.exp, np.exp),
    "log": Slope(jnp.log, lambda x: 1 / x, lambda x: -1 / x / x, 0),
    "log2": Slope(jnp.log2, lambda x: 1 / x / LN2, lambda x: -1 / x / x / LN2, 0),
    "log10": Slope(jnp.log10, lambda x: 1 / x / LN10, lambda x: -1 / x / x / LN10, 0),
    "log1p": Slope(jnp.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) / (1 + x), -1),
    "logistic": Slope(lax.logistic, lambda x: _sech(x / 2) ** 2 / 4, None),
    "tanh": Slope(jnp.tanh, lambda x: _sech(x) ** 2, lambda x: -2 * _sech(x) ** 2 * np.tanh(x)),
    "sinh": Slope(jnp.sinh, np.cosh, np.sinh),
    "cosh": Slope(jnp.cosh, np.sinh, np.cosh),
    "arcsin": Slope(
        jnp.arcsin, lambda x: _one_less_square(x) ** LONG(-0.5),
        lambda x: x * _one_less_square(x) ** LONG(-1.5), -1, 1,
    ),
    "arccos": Slope(
        jnp.arccos, lambda x: -(_one_less_square(x) ** LONG(-0.5)),
        lambda x: -x * _one_less_square(x) ** LONG(-1.5), -1, 1,
    ),
    "arctan": Slope(
        jnp.arctan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) / (1 + x * x)
    ),
    "arcsinh": Slope(
        jnp.arcsinh, lambda x: 1 / np.hypot(1, x), lambda x: -x / np.hypot(1, x) ** 3
    ),
    "arccosh": Slope(
        jnp.arccosh, lambda x: 1 / np.sqrt(x - 1) / np.sqrt(x + 1),
        lambda x: -x / (x - 1) / np.sqrt(x - 1) / (x + 1) / np.sqrt(x + 1), 1,
    ),
    "arctanh": Slope(
        jnp.arctanh, lambda x: 1 / _one_less_square(x),
        lambda x: 2 * x / _one_less_square(x) ** 2, -1, 1,
    ),
    "sqrt": Slope(jnp.sqrt, lambda x: 0.5 / np.sqrt(x), lambda x: -0.25 / np.sqrt(x) / x, 0),
    "rsqrt": Slope(
        lax.rsqrt, lambda x: -0.5 / np.sqrt(x) / x, lambda x: 0.75 / np.sqrt(x) / x / x, 0
    ),
    "cbrt": Slope(
        jnp.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2), lambda x: -2 / (9 * np.cbrt(x) ** 2 * x)
    ),
    "reciprocal": Slope(jnp.reciprocal, lambda x: -1 / x / x, lambda x: 2 / x / x / x),
    "erf": Slope(lax.erf, _gaussian, lambda x: -2 * x * _gaussian(x)),
    "erfc": Slope(lax.erfc, lambda x: -_gaussian(x), lambda x: 2 * x * _gaussian(x)),
    "logaddexp": Slope(lambda x: jnp.logaddexp(x, 0.0), lambda x: 1 / (1 + np.exp(-x)), None),
    "logaddexp2": Slope(  # the distance times log(2) is rounded, and may be 700
        lambda x: jnp.logaddexp2(x, 0.0), lambda x: 1 / (1 + np.exp2(-x)), None, ulp=600
    ),
}  # fmt: skip


def _everywhere(low: float, high: float, dtype: Any) -> Any:
    """Points of every size, more of them about 1 and at the ends of the interval."""
    limits, rng = np.finfo(dtype), np.random.default_rng(3)
    least, most = math.log10(limits.tiny) + 1, math.log10(limits.max) - 1
    sizes = [rng.uniform(least, most, 400), rng.uniform(-3, 3, 300), rng.uniform(-7, 0, 100)]
    x = 10.0 ** np.concatenate(sizes)
    x = np.concatenate([x, rng.uniform(0, 110 if dtype == F32 else 750, 300)])
    ends = [end + step for end in (low, high) for step in (*x[700:800], *-x[700:800])]
    x = np.concatenate([x, -x, ends]).astype(dtype)
    return np.unique(x[np.isfinite(x) & (np.abs(x) > limits.tiny) & (x > low) & (x < high)])


def _derivative(function: Callable[[Any], Any], order: int) -> Callable[[Any], Any]:
    for _ in range(order):
        function = lambda x, f=function: hloom.jvp(f, (x,), (jnp.ones_like(x),))[1]
    return hloom.jit(function)


@pytest.mark.parametrize("dtype", [F32, np.float64])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", SLOPES)
def test_a_derivative_keeps_its_digits(name: str, order: int, dtype: Any) -> None:
    slope = SLOPES[name]
    exact = slope.first if order == 1 else slope.second
    if exact is None:
        return
    x, limits = _everywhere(slope.low, slope.high, dtype), np.finfo(dtype)
    with hloom.enable_x64(), np.errstate(all="ignore"):
        got = np.asarray(_derivative(slope.function, order)(x))
        want = exact(x.astype(LONG))
        # A factor of what is beside the derivative may be subnormal, or overflow, before it does.
        normal = (np.abs(want) > 64 * limits.tiny) & (np.abs(want) < limits.max / 64)
        normal &= (order == 1) | (np.abs(x) > 1e8 * limits.tiny)
        off = np.abs(got - want) / np.abs(want) / limits.eps
    bad = normal & ~(off <= slope.ulp * order)
    assert normal.sum() > 200
    assert not bad.any(), [(x[i], got[i], want[i], off[i]) for i in np.flatnonzero(bad)[:5]]


@pytest.mark.parametrize("dtype", [F32, np.float64])
@pytest.mark.parametrize("name", SLOPES)
def test_second_derivatives_are_finite_at_zero_and_far_from_it(name: str, dtype: Any) -> None:
    slope = SLOPES[name]
    x = np.array([0.0, -1e-30, 1e-30, 1e-3, -40.0, 100.0, -1e4, 1e30], dtype)
    x = x[(x > slope.low) & (x < slope.high)]
    with hloom.enable_x64():
        value, got = hloom.jit(slope.function)(x), _derivative(slope.function, 2)(x)
    pole = ((x == 0) | (np.abs(x) == F32(1e-30))) & (name in ("reciprocal", "cbrt", "sqrt"))
    pole |= np.array([name in ("log", "log2", "log10", "rsqrt", "sqrt")]) & (np.abs(x) < 1e-20)
    assert not np.isnan(np.asarray(got)[np.isfinite(value) & ~pole]).any(), (x, got)


# Values by 40 digits of arithmetic, at operands that f32 holds.
RECORDED = {
    "trigamma": (special.digamma, 4, [
        (0.0010000000474974513, 1000001.5475382999), (0.30000001192092896, 12.245363648789223),
        (1.4616321325302124, 0.9676722564619307), (2.5, 0.49035775610023485),
        (7.900000095367432, 0.13493078172294945), (8.100000381469727, 0.13139024000065344),
        (10000.0, 0.00010000500016666666), (9.999999562023526e24, 1.0000000437976494e-25),
        (-0.5, 8.934802200544679), (-3.25, 19.474085068082154), (-20.5, 9.82199434464988),
        (-1000.75, 19.73821005070119),
    ]),
    "tetragamma": (hloom.grad(special.digamma), 8, [
        (0.0010000000474974513, -1999999717.4129515), (0.30000001192092896, -75.27252772978655),
        (1.5, -0.82879664423432), (2.5, -0.2362040516417274),
        (7.900000095367432, -0.018179004371863528), (8.100000381469727, -0.017238825232936628),
        (10000.0, -1.000100005e-08), (10000000000.0, -1.0000000001e-20),
        (-3.25, 123.95521103942203), (-20.25, 124.02278552474384), (-1000.75, -124.02510771870371),
    ]),
    # Up to 30 as a difference of what is 60 times larger.
    "i0e": (special.bessel_i0e, 120, [
        (9.999999974752427e-07, -0.9999985000012538), (0.5, -0.4886144672642784),
        (-0.9900000095367432, 0.2609500745578972), (1.0099999904632568, -0.2547940713487251),
        (7.5, -0.0102746185288413), (-20.0, 0.0022740897015373564), (29.0, -0.00129435028283722),
        (31.0, -0.0011701038625981527), (1000.0, -6.310198962627116e-06),
        (-1000000.0, 1.9947121500246404e-10), (999999995904.0, -1.9947114142634183e-19),
    ]),
    "i1e": (special.bessel_i1e, 120, [
        (9.999999974752427e-07, 0.49999900000094), (0.5, 0.17577286089453498),
        (-0.9900000095367432, 0.05145160339560185), (1.25, 0.02033100058456377),
        (7.5, -0.00813087634429926), (-20.0, -0.002101221407627077),
        (29.0, -0.0012267917150727238), (31.0, -0.0011130055836723533),
        (1000.0, -6.300731294301514e-06), (-1000000.0, -1.9947091579556673e-10),
        (999999995904.0, -1.9947114142604264e-19),
    ]),
    "i0": (jnp.i0, 10, [
        (9.999999974752427e-07, 4.999999987376838e-07), (0.5, 0.2578943053908963),
        (-0.9900000095367432, -0.5581714231215167), (1.0099999904632568, 0.5721897262251129),
        (7.5, 249.58436542268814), (-20.0, -42454973.38512777), (60.0, 5.844751588390468e24),
        (-80.0, -2.459659579567541e33),
    ]),
    # exp passes on the error of its operand, the square of a value that is 70 ulp off in f32.
    "erf_inv": (special.erf_inv, 2000, [
        (9.999999682655225e-21, 0.886226925452758), (0.10000000149011612, 0.8932517255164802),
        (-0.5, 1.1125848189719498), (0.8999999761581421, 3.428042159711315),
        (0.9990000128746033, 198.94188892962987), (-0.9999899864196777, 15269.796195584824),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [F32, np.float64])
@pytest.mark.parametrize("name", RECORDED)
def test_a_special_functions_derivative_is_the_recorded_one(name: str, dtype: Any) -> None:
    function, ulp, rows = RECORDED[name]
    x, want = np.array(rows).T
    with hloom.enable_x64():
        got = hloom.vmap(hloom.grad(function))(x.astype(dtype))
    np.testing.assert_allclose(got, want, rtol=ulp * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", sorted(SLOPES))
def test_a_derivative_of_16_bits_is_that_of_f32_rounded(name: str, dtype: str) -> None:
    """To 8 ulp: operands such as the result may be rounded before."""
    x = jnp.array([-6.0, -2.5, -0.75, -0.1, 0.1, 0.3, 0.9, 1.25, 3.0, 6.0]).astype(dtype)
    x = x[(x > SLOPES[name].low) & (x < SLOPES[name].high)]
    got = np.asarray(_derivative(SLOPES[name].function, 1)(x)).astype(F32)
    want = np.asarray(_derivative(SLOPES[name].function, 1)(x.astype("float32")))
    np.testing.assert_allclose(got, want, rtol=8 * float(dtypes.finfo(dtype).eps), atol=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_in_the_tails(engine: str) -> None:
    rows = [
        (jnp.tanh, 12.0, 1.5100538e-10), (lax.logistic, 40.0, 4.2483543e-18),
        (jnp.expm1, -30.0, 9.3576230e-14), (jnp.arcsinh, 1e22, 1e-22), (jnp.i0, 0.0, 0.0),
        (lax.erf, 6.0, 2.6173012e-16),
        (lax.digamma, -20.5, 9.8219943), (jnp.sinc, 1e-4, -3.2898681e-4),
    ]  # fmt: skip
    with hloom.engine(engine):
        for function, x, want in rows:
            np.testing.assert_allclose(hloom.grad(function)(F32(x)), want, rtol=3e-6)


def test_densities_keep_their_digits_where_parameters_are_large() -> None:
    """Recorded with 50 digits, at operands that f32 holds; the derivatives of the two cdfs."""
    gamma = [
        (0.5, 0.25, 0.8787825789354448),
        (8.5, 9.0, 0.12617531789534264),
        (1024.0, 1000.0, 0.009592607341814307),
        (702559.0, 704732.5, 1.6561666076554216e-05),
    ]
    beta = [
        (0.5, 0.5, 0.125, 0.9624786270806683),
        (4.0, 5000.0, 0.0009765625, 734.783869045273),
        (702559.0, 43494.25, 0.94171, 1470.0260033929778),
    ]
    with hloom.enable_x64():
        for dtype, rtol in ((F32, 1e-6), (np.float64, 1e-14)):
            for *operands, want in gamma:
                for function, sign in ((lax.igamma, 1), (lax.igammac, -1)):
                    got = hloom.grad(function, argnums=1)(*map(dtype, operands))
                    np.testing.assert_allclose(got, sign * want, rtol=rtol)
            for *operands, want in beta:
                got = hloom.grad(lax.betainc, argnums=2)(*map(dtype, map(F32, operands)))
                np.testing.assert_allclose(got, want, rtol=rtol)


# ---- corners -----------------------------------------------------------------------------------
SCALES = {jnp.logaddexp: 1.0, jnp.logaddexp2: math.log(2)}


@pytest.mark.parametrize("function", SCALES)
def test_shares_of_a_sum_of_exponentials_at_ties_and_infinities(function: Any) -> None:
    for x, y, want in [
        (0.0, 0.0, (0.5, 0.5)), (700.0, 700.0, (0.5, 0.5)), (-INF, 3.0, (0, 1)),
        (3.0, -INF, (1, 0)), (INF, 3.0, (1, 0)), (3.0, INF, (0, 1)),
        (-INF, INF, (0, 1)), (INF, INF, (0.5, 0.5)),
        (-INF, -INF, (0.5, 0.5)),
    ]:  # fmt: skip
        got = hloom.grad(function, argnums=(0, 1))(x, y)
        assert tuple(map(float, got)) == want, (x, y)


@pytest.mark.parametrize(("function", "scale"), SCALES.items())
def test_second_derivatives_of_a_sum_of_exponentials(function: Any, scale: float) -> None:
    by_first = hloom.grad(hloom.grad(function))
    mixed = hloom.grad(hloom.grad(function), argnums=1)
    for x, y, want in [(0.0, 0.0, 0.25), (-INF, 3.0, 0), (500.0, 0.0, 0), (INF, INF, 0)]:
        np.testing.assert_allclose(by_first(x, y), want * scale, rtol=1e-6)
        np.testing.assert_allclose(mixed(x, y), -want * scale, rtol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_sums_of_complex_exponentials(engine: str) -> None:
    x = np.array([1j, 3 + 4j, 1 + 10j, -INF, INF, -1000 + 3j, -INF])
    y = np.array([2, 3 - 4j, 2 + 20j, 1j, 1 + 1j, -1000 + 3.1j, -INF])
    half = np.log(np.exp(3j) + np.exp(3.1j)) - 1000
    want = [2.07617148205 + 0.10572524668j, 3.26795418228 + np.pi * 1j,
            np.log(np.exp(1 + 10j) + np.exp(2 + 20j)), 1j, INF, half, -INF]  # fmt: skip
    with hloom.enable_x64(), hloom.engine(engine):
        np.testing.assert_allclose(jnp.logaddexp(x, y), want, rtol=1e-11)
        by_2 = jnp.logaddexp2(x[:3] / math.log(2), y[:3] / math.log(2)) * math.log(2)
        np.testing.assert_allclose(by_2, want[:3], rtol=1e-11)
    single = jnp.logaddexp(np.complex64(1j), 2)
    assert single.dtype == np.complex64
    np.testing.assert_allclose(single, want[0], rtol=1e-6)


@pytest.mark.parametrize("function", SCALES)
def test_sums_of_complex_exponentials_have_shares_that_add_to_one(function: Any) -> None:
    both = hloom.grad(function, argnums=(0, 1), holomorphic=True)
    for x, y in [(1j, 2 + 0j), (1e4 + 1j, 1e4 + 2j), (-INF + 0j, 1j), (-300 + 1j, 300 - 1j)]:
        first, second = both(np.complex64(x), np.complex64(y))
        np.testing.assert_allclose(first + second, 1, rtol=1e-6)
    first, want = both(1j, 2 + 0j)[0], 1 / (1 + np.exp((2 - 1j) * SCALES[function]))
    np.testing.assert_allclose(first, want, rtol=1e-5)


def test_reduce_precision_passes_derivatives_on_rounded() -> None:
    function = lambda x: lax.reduce_precision(x, exponent_bits=8, mantissa_bits=7)
    assert hloom.grad(function)(np.pi) == 1
    (cotangent,) = hloom.vjp(function, 1.0)[1](F32(np.pi))
    assert cotangent == 3.140625
    assert hloom.jvp(function, (F32(2),), (F32(np.pi),))[1] == 3.140625
    narrow = hloom.grad(lambda x: lax.reduce_precision(x, 5, 10))(F32(3))
    through = hloom.grad(lambda x: x.astype("float16").astype("float32"))(F32(3))
    assert narrow == through == 1
    rows = hloom.vmap(hloom.grad(function))(np.ones(3, F32))
    np.testing.assert_array_equal(rows, [1, 1, 1])


def test_sinc_has_a_derivative_at_every_number() -> None:
    grad = hloom.grad
    assert 0 < abs(float(grad(jnp.sinc)(F32(1e20)))) <= 1.1e-20
    assert abs(float(grad(grad(jnp.sinc))(F32(1e20)))) <= 3.2e-20
    with hloom.enable_x64():
        assert abs(float(grad(jnp.sinc)(1e200))) <= 1.1e-200
    for x in (1e-6, 1e-4, -1e-3, 1e-2, 0.05):
        want = -(np.pi**2) * x / 3 + np.pi**4 * x**3 / 30 - np.pi**6 * x**5 / 840
        np.testing.assert_allclose(grad(jnp.sinc)(x), want, rtol=1e-6)
    x = np.array([0.1, 0.25, 0.31, 0.32, 0.5, 1.7])
    want = np.cos(np.pi * x) / x - np.sin(np.pi * x) / (np.pi * x * x)
    np.testing.assert_allclose(hloom.vmap(grad(jnp.sinc))(x.astype(F32)), want, rtol=3e-6)
    fourth = grad(grad(grad(grad(jnp.sinc))))
    np.testing.assert_allclose(fourth(0.0), np.pi**4 / 5, rtol=1e-6)


def test_i0_has_its_series_at_zero_and_is_infinite_at_infinity() -> None:
    function, series = jnp.i0, [1, 0, 1 / 2, 0, 3 / 8, 0, 5 / 16]
    for want in series:
        np.testing.assert_allclose(function(0.0), want, rtol=1e-6)
        function = hloom.grad(function)
    assert hloom.grad(jnp.i0)(INF) == hloom.jvp(jnp.i0, (INF,), (1.0,))[1] == INF
    assert hloom.grad(jnp.i0)(-INF) == -INF
    with hloom.enable_x64():
        testing.assert_second(jnp.i0, [np.array([-9.0, -1.5, -0.4, 0.0, 0.9, 1.1, 12.0])])


@pytest.mark.parametrize("function", [special.bessel_i0e, special.bessel_i1e])
def test_scaled_bessel_functions_have_second_derivatives(function: Any) -> None:
    points = np.array([-40.0, -7.0, -1.5, -0.4, 0.3, 0.99, 1.01, 12.0, 29.0, 31.0])
    testing.assert_second(function, [points])
    x = np.array([0.0, 1e-30, 1e-6, -1e-6, INF], F32)
    second = hloom.vmap(hloom.grad(hloom.grad(function)))(x)
    assert np.isfinite(second).all()


def test_powers_have_derivatives_where_a_factor_is_zero() -> None:
    grad = hloom.grad
    for p, want in [(0.0, 0.0), (1.0, 0.0), (2.0, 2.0), (3.0, 0.0)]:
        assert grad(grad(jnp.power))(0.0, p) == want
    for x, y, want in [(0.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.5, 0.0), (INF, -1.0, 0.0),
                       (1e-30, 3.0, 0.0), (2.0, 0.0, math.log(2))]:  # fmt: skip
        np.testing.assert_allclose(grad(jnp.power, argnums=1)(x, y), want, rtol=1e-6)
    for n in (-3, -1, 0, 1, 2, 5):
        got = grad(grad(lambda x, n=n: x**n))(2.0)
        np.testing.assert_allclose(got, n * (n - 1) * 2.0 ** (n - 2), rtol=1e-6)


def test_lengths_and_angles_of_tiny_and_huge_sides() -> None:
    for size in (1e-37, 1e-30, 1e-10, 1e10, 1e30, 1e38):
        for a, b in [(3.0, 4.0), (-1.0, 1e-3), (1e-3, 1.0), (0.6, -0.6)]:
            x, y, r = a * size, b * size, math.hypot(a, b)
            if size == 1e38:
                x, y = x / 10, y / 10
            scale = size if size < 1e38 else size / 10
            if scale * min(abs(a), abs(b)) < 2e-37:
                continue
            lengths = hloom.grad(jnp.hypot, argnums=(0, 1))(F32(x), F32(y))
            np.testing.assert_allclose(lengths, (a / r, b / r), rtol=1e-5)
            if 1e-37 < scale < 1e35:
                angles = hloom.grad(jnp.arctan2, argnums=(0, 1))(F32(y), F32(x))
                want = (a / r / r / scale, -b / r / r / scale)
                np.testing.assert_allclose(angles, want, rtol=1e-5)


@pytest.mark.parametrize("order", [None, 2, 1.5, 3, 1, INF])
def test_a_norm_has_a_finite_gradient_at_zero_as_a_length_has(order: Any) -> None:
    norm = lambda x: jnp.linalg.norm(x, order)
    gradient = np.asarray(hloom.grad(norm)(np.zeros(3, F32)))
    assert np.isfinite(gradient).all()
    if order not in (1, INF):
        np.testing.assert_array_equal(gradient, 0)
    np.testing.assert_array_equal(norm(np.zeros(3, F32)), 0)
    testing.assert_second(norm, [np.array([1.0, -2.5, 0.5])])


COMPLEX = {
    "exp": (jnp.exp, np.exp), "expm1": (jnp.expm1, np.exp), "log": (jnp.log, lambda z: 1 / z),
    "log1p": (jnp.log1p, lambda z: 1 / (1 + z)), "sqrt": (jnp.sqrt, lambda z: 0.5 / np.sqrt(z)),
    "rsqrt": (lax.rsqrt, lambda z: -0.5 / np.sqrt(z) / z),
    "tan": (jnp.tan, lambda z: 1 / np.cos(z) ** 2),
    "tanh": (jnp.tanh, lambda z: 1 / np.cosh(z) ** 2),
    "arcsin": (jnp.arcsin, lambda z: 1 / np.sqrt(1 - z) / np.sqrt(1 + z)),
    "arccos": (jnp.arccos, lambda z: -1 / np.sqrt(1 - z) / np.sqrt(1 + z)),
    "arctan": (jnp.arctan, lambda z: 1 / (1 - 1j * z) / (1 + 1j * z)),
    "arcsinh": (jnp.arcsinh, lambda z: 1 / np.sqrt(1 - 1j * z) / np.sqrt(1 + 1j * z)),
    "arccosh": (jnp.arccosh, lambda z: 1 / np.sqrt(z - 1) / np.sqrt(z + 1)),
    "arctanh": (jnp.arctanh, lambda z: 1 / (1 - z) / (1 + z)),
    "logistic": (lax.logistic, lambda z: 0.25 / np.cosh(z / 2) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_a_complex_derivative_keeps_its_digits(name: str) -> None:
    """To 100 ulp of c64, since cosh passes on the error of its operand where that is large."""
    function, exact = COMPLEX[name]
    rng = np.random.default_rng(5)
    sizes = 10.0 ** np.concatenate([rng.uniform(-20, 30, 60), rng.uniform(-2, 1.6, 60)])
    z = (sizes * np.exp(1j * rng.uniform(-3.1, 3.1, 120))).astype(np.complex64)
    near = np.repeat([1, -1, 1j, -1j], 10) * (1 + 10.0 ** rng.uniform(-5, -1, 40))
    z = np.concatenate([z, near * np.exp(0.1j * rng.uniform(-1, 1, 40))]).astype(np.complex64)
    with np.errstate(all="ignore"):
        got = np.asarray(_derivative(function, 1)(z))
        want = exact(z.astype(np.clongdouble))
        normal = (np.abs(want) > 1e-35) & (np.abs(want) < 1e35)
        off = np.abs(got - want) / np.abs(want) / np.finfo(F32).eps
    bad = normal & ~(off <= 100)
    assert not bad.any(), [(z[i], got[i], want[i]) for i in np.flatnonzero(bad)[:5]]


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions_have_second_derivatives(name: str) -> None:
    function, _ = COMPLEX[name]
    points = np.array([0.3 + 0.4j, -1.2 + 0.5j, 2 - 3j, -0.1 - 0.7j])
    with hloom.engine("numpy"):
        testing.assert_second(function, [points])
    if name not in ("log", "sqrt", "rsqrt"):
        assert np.isfinite(_derivative(function, 2)(np.zeros(1, np.complex64))).all()


def test_the_length_and_direction_of_complex_numbers() -> None:
    length = lambda x, y: jnp.abs(lax.complex(x, y))
    for x, y, want in [(3.0, 4.0, (0.6, 0.8)), (0.0, 0.0, (0, 0)), (1e-45, 0.0, (0, 0)),
                       (3e30, 4e30, (0.6, 0.8)), (-3e-30, 4e-30, (-0.6, 0.8))]:  # fmt: skip
        got = hloom.grad(length, argnums=(0, 1))(F32(x), F32(y))
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)
    testing.assert_second(jnp.sign, [np.array([3 + 4j, -0.1 + 0.2j, 9 - 20j])])
