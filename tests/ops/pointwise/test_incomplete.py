"""Incomplete gamma and beta functions: exact values, identities, ends, slopes, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hloom
from hloom import lax
from hloom.ops.common.elementwise import Elementwise
from hloom.ops.elementary import incomplete_definitions, real_f64
from hloom.stablehlo import lower
from hloom.testing import ENGINES, drawn, evaluate

INF, NAN = np.inf, np.nan

# a, x, P(a, x), Q(a, x), by SciPy 1.17, whose own error is up to 1e-13; closed forms agree.
GAMMA = (
    (0.5, 0.25, 0.5204998778130465, 0.4795001221869535),
    (0.5, 2.0, 0.9544997361036415, 0.04550026389635857),
    (1.0, 1.0, 0.6321205588285577, 0.36787944117144245),
    (2.5, 1.0, 0.15085496391539038, 0.8491450360846096),
    (2.5, 9.0, 0.9970535954121197, 0.0029464045878802923),
    (10.0, 10.0, 0.5420702855281478, 0.4579297144718523),
    (30.0, 20.0, 0.021818217525557418, 0.9781817824744425),
    (200.0, 210.0, 0.7639696745011542, 0.23603032549884584),
    (10000.0, 10000.0, 0.5013298083399552, 0.4986701916600448),
    (10000.0, 9800.0, 0.02220754381396969, 0.9777924561860303),
    (1000000.0, 1001000.0, 0.8413447863683402, 0.15865521363165971),
    (0.001, 0.01, 0.9959694030335132, 0.004030596966486843),
    (1e-08, 0.5, 0.9999999944022632, 5.5977359770995834e-09),
    (0.25, 30.0, 0.999999999999998, 1.965822147357059e-15),
)
# a, b, x, I_x(a, b), by the same.
BETA = (
    (0.5, 0.5, 0.25, 1 / 3),
    (1.0, 3.0, 0.2, 0.488),
    (2.0, 3.0, 0.5, 0.6875),
    (10.0, 10.0, 0.4, 0.18609202141541176),
    (50.0, 2.0, 0.95, 0.2693074134684962),
    (0.1, 8.0, 0.01, 0.8067817141617238),
    (3000.0, 4000.0, 0.43, 0.5958415156690128),
    (1000000.0, 1000000.0, 0.4995, 0.07864957758091215),
    (0.001, 2.0, 0.3, 0.9994959094063248),
    (20.0, 100000.0, 0.0001, 0.0034597573543206517),
)


def columns(rows: tuple[tuple[float, ...], ...]) -> list[Any]:
    return list(np.array(rows).T)


# ---- values -------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ENGINES)
def test_gamma_has_these_values(engine: str) -> None:
    a, x, lower, upper = columns(GAMMA)
    np.testing.assert_allclose(evaluate(engine, lax.igamma, a, x), lower, rtol=3e-13)
    np.testing.assert_allclose(evaluate(engine, lax.igammac, a, x), upper, rtol=3e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_beta_has_these_values(engine: str) -> None:
    a, b, x, lower = columns(BETA)
    np.testing.assert_allclose(evaluate(engine, lax.betainc, a, b, x), lower, rtol=3e-12)


def _parameters(seed: int) -> tuple[Any, Any]:
    """Of sizes from 1e-6 to 1e6, and half of them close to each other."""
    a, b = (10 ** drawn(np.dtype(np.float64), -6, 6, 400, seed + i) for i in (0, 1))
    near = a * (1 + drawn(np.dtype(np.float64), -4, 4, 400, seed + 2) / (1 + np.sqrt(a)) / 5)
    return a, np.where(np.arange(400) % 2, near, b)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_tails_of_gamma_add_to_1(engine: str) -> None:
    a, x = _parameters(0)
    total = evaluate(engine, lambda a, x: lax.add(lax.igamma(a, x), lax.igammac(a, x)), a, x)
    np.testing.assert_allclose(total, 1, rtol=1e-15)


@pytest.mark.parametrize("engine", ENGINES)
def test_beta_is_the_same_from_the_other_side(engine: str) -> None:
    a, b = _parameters(5)
    x = np.round(drawn(np.dtype(np.float64), 0, 1, 400, 9), 9)
    x = np.where(np.arange(400) % 3, x, np.round(a / (a + b) * 2**20) / 2**20)  # 1 - x is exact
    here = evaluate(engine, lax.betainc, a, b, x)
    there = evaluate(engine, lax.betainc, b, a, 1 - x)
    # x is rounded: with parameters of 1e6 that moves the result by 1e-13.
    np.testing.assert_allclose(here + there, 1, rtol=2e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_recurrences_and_closed_forms(engine: str) -> None:
    x = drawn(np.dtype(np.float64), 0.01, 30.0, 60, 1)
    np.testing.assert_allclose(
        evaluate(engine, lax.igammac, np.float64(1), x), np.exp(-x), rtol=2e-14
    )
    erfc = np.array([math.erfc(math.sqrt(v)) for v in x])
    np.testing.assert_allclose(
        evaluate(engine, lax.igammac, np.float64(0.5), x), erfc, rtol=1e-14 * 30
    )
    u = x / 31
    np.testing.assert_allclose(
        evaluate(engine, lax.betainc, np.float64(3), np.float64(1), u), u**3, rtol=2e-14
    )


@pytest.mark.parametrize("engine", ["xla", "reference"])
def test_integrals_agree_with_series_and_fractions(engine: str) -> None:
    """The programs integrate, the NumPy rules don't; at all sizes, and at whole numbers."""
    a, x = _parameters(20)
    a[:20], x[:20] = np.arange(1, 21), np.arange(20, 0, -1)
    for name in ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"):
        got = evaluate(engine, getattr(lax, name), a, x)
        want = getattr(incomplete_definitions, name)(a, x)
        # exp passes on its operand's error; that of x/a is multiplied by the root of a.
        units = 3 + np.abs(np.log(np.maximum(np.abs(want), 1e-300))) + np.sqrt(a) / 10
        ok = np.abs(got - want) <= 3e-14 * units * np.abs(want) + 1e-300
        assert ok.all(), (name, a[~ok], x[~ok], got[~ok], want[~ok])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_narrow_floats_are_rounded_once(dtype: str) -> None:
    dt = hloom.dtypes.as_dtype(dtype)
    a, x = (np.clip(v, 1e-4, 6e4).astype(dt) for v in _parameters(30))
    keep = np.isfinite(a.astype(float)) & np.isfinite(x.astype(float)) & (a > 0) & (x > 0)
    a, x = a[keep], x[keep]
    want = incomplete_definitions.igamma(a.astype(np.float64), x.astype(np.float64))
    got = evaluate("xla", lax.igamma, a, x)
    assert got.dtype == dt
    small = float(hloom.dtypes.finfo(dt).smallest_normal)
    near = np.abs(got.astype(float) - want) <= 0.6 * float(hloom.dtypes.finfo(dt).eps) * want
    assert (near | (want < small)).all()


def test_pieces_keep_all_digits() -> None:
    """Of log(1 + u) - u and exp(x) - 1 - x, which are small near 0."""
    log1pmx = Elementwise("log1pmx", formula=real_f64.log1pmx, numpy=np.add, domain="float")
    expm1mx = Elementwise("expm1mx", formula=real_f64.expm1mx, numpy=np.exp, domain="float")
    size = 10 ** drawn(np.dtype(np.float64), -8, 0, 300, 40)
    u = np.concatenate([size, -size * 0.999, size * 50])
    got = evaluate("xla", log1pmx, u, 1 + u)
    np.testing.assert_allclose(
        got, _less_first(np.log1p, u, (-1 / 2, 1 / 3, -1 / 4, 1 / 5, -1 / 6)), rtol=3e-15
    )
    x = np.concatenate([size, -size, size * 30, -size * 30])
    want = _less_first(np.expm1, x, (1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720))
    np.testing.assert_allclose(evaluate("xla", expm1mx, x), want, rtol=2e-15)


def _less_first(function: Any, x: Any, series: tuple[float, ...]) -> Any:
    """The function less x: by its series below 1e-3, beyond it in long double."""
    wide = x.astype(np.longdouble)
    near = wide**2 * np.polynomial.polynomial.polyval(wide, np.array(series, np.longdouble))
    return np.where(abs(x) < 1e-3, near, function(wide) - wide).astype(np.float64)


@pytest.mark.parametrize(("name", "lines"), [("betainc", 710), ("igamma", 730)])
def test_programs_stay_small(name: str, lines: int) -> None:
    """The first call compiles them: a line of StableHLO takes from 0.2 to 0.7 ms."""
    xs = [np.ones(10, "f4")] * (3 if name == "betainc" else 2)
    jaxpr = hloom.make_jaxpr(getattr(lax, name))(*xs).jaxpr
    assert lower(jaxpr, locations=False).text(locations=False).count("\n") < lines


# ---- ends ---------------------------------------------------------------------------------------
# a, x: P, Q, dP/da, dx/da.  P and Q as SciPy has them; slopes are limits, NaN where there is none.
ENDS = (
    (0.0, 0.0, NAN, NAN, NAN, NAN),
    (0.0, 1.0, 1.0, 0.0, NAN, NAN),
    (0.0, INF, 1.0, 0.0, NAN, NAN),
    (2.5, 0.0, 0.0, 1.0, 0.0, 0.0),
    (2.5, -0.0, 0.0, 1.0, 0.0, 0.0),
    (2.5, INF, 1.0, 0.0, 0.0, INF),
    (INF, 2.5, 0.0, 1.0, 0.0, NAN),
    (INF, INF, NAN, NAN, NAN, NAN),
    (-1.0, 1.0, NAN, NAN, NAN, NAN),
    (1.0, -1.0, NAN, NAN, NAN, NAN),
    (NAN, 1.0, NAN, NAN, NAN, NAN),
    (1.0, NAN, NAN, NAN, NAN, NAN),
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ends_of_gamma(dtype: str, engine: str) -> None:
    a, x, *wanted = (c.astype(dtype) for c in columns(ENDS))
    names = ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad")
    for name, want in zip(names, wanted):
        got = evaluate(engine, getattr(lax, name), a, x)
        np.testing.assert_array_equal(got, want, err_msg=name)


# a, b and I at x = 0, 1/2 and 1, as SciPy has them.
BETA_ENDS = (
    (0.0, 0.0, NAN, NAN, NAN),
    (0.0, 1.0, 0.0, 1.0, 1.0),
    (0.0, INF, 0.0, 1.0, 1.0),
    (1.0, 0.0, 0.0, 0.0, 1.0),
    (1.0, 1.0, 0.0, 0.5, 1.0),
    (1.0, INF, 0.0, 1.0, 1.0),
    (INF, 1.0, 0.0, 0.0, 1.0),
    (INF, INF, NAN, NAN, NAN),
    (-1.0, 1.0, NAN, NAN, NAN),
    (1.0, -1.0, NAN, NAN, NAN),
    (NAN, 1.0, NAN, NAN, NAN),
)


@pytest.mark.parametrize("engine", ENGINES)
def test_ends_of_beta(engine: str) -> None:
    a, b, *wanted = columns(BETA_ENDS)
    for x, want in zip((0.0, 0.5, 1.0), wanted):
        got = evaluate(engine, lax.betainc, a, b, np.full_like(a, x))
        np.testing.assert_allclose(got, want, rtol=1e-15)
    for x in (-0.1, 1.1, NAN, INF):
        assert np.isnan(evaluate(engine, lax.betainc, np.float64(2), np.float64(3), np.float64(x)))


@pytest.mark.parametrize("engine", ["xla", "numpy"])
def test_parameters_of_every_size(engine: str) -> None:
    """Nothing overflows, and nothing that is flushed on the way counts."""
    sizes = np.array([1e-300, 1e-20, 1e-5, 0.5, 7.99, 8.0, 1e4, 1e10, 1e100, 1e300])
    a, x = (v.ravel() for v in np.meshgrid(sizes, sizes))
    for fun in (lax.igamma, lax.igammac):
        made = evaluate(engine, fun, a, x)
        assert ((made >= 0) & (made <= 1)).all()
        assert (made[a > 1e3 * x] == (0 if fun is lax.igamma else 1)).sum() >= 6
    assert np.isfinite(evaluate(engine, lax.igamma_grad_a, a, x)).all()
    for place in (1e-300, 1e-20, 0.3, 1 - 2**-53):
        made = evaluate(engine, lax.betainc, a, x, np.full_like(a, place))
        assert ((made >= 0) & (made <= 1)).all()
        even = evaluate(engine, lax.betainc, sizes, sizes, np.full_like(sizes, 0.5))
        np.testing.assert_allclose(even, 0.5, rtol=1e-14)
        tiny = sizes < 1e-10  # all is at 0 or 1, in proportion to b and a
        want = sizes[1] / (sizes[tiny] + sizes[1])
        b = np.full_like(want, sizes[1])
        got = evaluate(engine, lax.betainc, sizes[tiny], b, np.full_like(b, place))
        np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (2, 3)])
@pytest.mark.parametrize("engine", ENGINES)
def test_any_shape(engine: str, shape: tuple[int, ...]) -> None:
    a = np.full(shape, 2, np.float32)
    assert evaluate(engine, lax.igamma, a, np.float32(1)).shape == shape
    assert evaluate(engine, lax.random_gamma_grad, np.float32(2), a).shape == shape
    assert evaluate(engine, lax.betainc, a, np.float32(1), np.float32(0.5)).shape == shape


# ---- slopes -------------------------------------------------------------------------------------
def test_slopes_at_the_ends_are_densities() -> None:
    slope = hloom.grad(lax.igamma, 1)
    assert [float(slope(a, 0.0)) for a in (0.5, 1.0, 2.0)] == [INF, 1, 0]
    assert [float(slope(a, INF)) for a in (0.5, 1.0, 2.0)] == [0, 0, 0]
    assert float(slope(INF, 2.0)) == 0
    second = hloom.grad(lax.igamma_grad_a, 1)
    assert [float(second(a, 0.0)) for a in (0.5, 1.0, 2.0)] == [-INF, -INF, 0]
    slope = hloom.grad(lax.betainc, 2)
    assert [round(float(slope(1.0, 2.0, x)), 5) for x in (0.0, 0.5, 1.0)] == [2, 1, 0]
    assert round(float(slope(1.0, 1.0, 1.0)), 6) == 1


def test_a_sample_moves_with_its_shape() -> None:
    """dx/da holds P(a, x): the total derivative of P along it is 0."""
    with hloom.enable_x64():
        a, x = 10 ** drawn(np.dtype("f8"), -1, 3, 50, 1), drawn(np.dtype("f8"), 0.1, 2, 50, 2)
        x = x * a
        _, moved = hloom.jvp(lax.igamma, (a, x), (np.ones_like(a), lax.random_gamma_grad(a, x)))
        size = np.abs(np.asarray(lax.igamma_grad_a(a, x)))
    assert (np.abs(moved) <= 1e-11 * size + 1e-300).all()


@pytest.mark.parametrize("name", ["igamma_grad_a", "random_gamma_grad"])
def test_what_is_a_slope_by_a_has_none(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"{name} of f32\[\] and f32\[\].*operand 0"):
        hloom.grad(getattr(lax, name))(2.0, 3.0)


@pytest.mark.parametrize("position", [0, 1])
def test_beta_has_no_slope_by_its_parameters(position: int) -> None:
    def call(*xs: Any) -> Any:
        return hloom.grad(lax.betainc, position)(*xs)

    for fun in (call, hloom.jit(call)):
        with pytest.raises(NotImplementedError, match=f"betainc.*operand {position}.*stop_grad"):
            fun(2.0, 3.0, 0.5)
    held = hloom.grad(lambda t: lax.betainc(lax.stop_gradient(t), 3.0, t))(0.5)
    assert float(held) > 0


# ---- what is refused ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lax.igamma(1, 2), r"igamma takes float operands; got i32\[\] and i32\[\]"),
        (lambda: lax.igammac(1j, 2j), "igammac takes float operands"),
        (
            lambda: lax.igamma(np.float32(1), np.float16(2)),
            r"igamma needs operands of one dtype; got f32\[\] and f16\[\]",
        ),
        (
            lambda: lax.betainc(np.ones(2, "f"), np.ones(3, "f"), 0.5),
            r"betainc needs operands of one size along each axis \(or 1\); got f32\[2\], f32\[3\]",
        ),
        (lambda: lax.random_gamma_grad(1.0, "x"), "random_gamma_grad takes arrays"),
    ],
)
def test_refused(call: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_element_alone_has_the_bits_it_has_among_others(dtype: str) -> None:
    rng = np.random.default_rng(1)
    a, b = (10.0 ** rng.uniform(-2, 3, (2, 60))).astype(dtype)
    x = rng.uniform(0, 1, 60).astype(dtype)
    with hloom.enable_x64():
        for function, operands in ((lax.betainc, (a, b, x)), (lax.igamma, (a, a * x * 2))):
            many = np.asarray(function(*operands))
            assert np.asarray(hloom.jit(function)(*operands)).tobytes() == many.tobytes()
            alone = [np.asarray(function(*[z[i : i + 1] for z in operands])) for i in range(60)]
            assert np.concatenate(alone).tobytes() == many.tobytes()
