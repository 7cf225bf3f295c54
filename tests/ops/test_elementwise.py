"""Every elementwise operation: its values on three engines, its derivatives, its batch rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
from hloom import dtypes
from hloom.core.primitive import Primitive
from hloom.ops import arithmetic, binary, compare, complex, convert, special, trigonometric, unary
from hloom.ops.elementwise import Pointwise
from tests.ops.elementwise_cases import CASES, Case
from tests.ops.machine import (
    ENGINES,
    corners,
    drawn,
    evaluate,
    flushed,
    pairs,
    same_bits,
    show,
    ulps,
    wider,
)

TYPED = [(case, dtype) for case in CASES for dtype in case.dtypes]
SMOOTH = [case for case in CASES if case.smooth is not None]


def operands(case: Case, dtype: str) -> list[np.ndarray[Any, Any]]:
    """Random ones from the domain, after every combination of corners."""
    kind = dtypes.as_dtype(dtype)
    random = [drawn(kind, low, high, 60, i) for i, (low, high) in enumerate(case.domain)]
    if not case.corners:
        return random
    grid = corners(kind)
    if len(case.domain) > 1 and kind.kind == "c":
        grid = grid[::3]
    if len(case.domain) > 2:
        grid = grid[::3]
    extreme = pairs([grid] * len(case.domain))
    return [np.concatenate([e, r]) for e, r in zip(extreme, random)]


def wrong(case: Case, got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> Any:
    """Where a result is further from the wider `want` than the case allows."""
    budget = case.budget(got.dtype)
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        if got.dtype.kind != "c":
            zero = (got == 0) & (rounded == 0) & ~same_bits(got, rounded)
            return (ulps(got, want) > budget) | zero
        # A part may be as wrong as the whole number's size allows; what is not finite is exact.
        size = np.where(np.isfinite(rounded), np.abs(rounded), 0)
        return wrong_part(got.real, rounded.real, size, budget) | wrong_part(
            got.imag, rounded.imag, size, budget
        )


def wrong_part(got: Any, want: Any, size: Any, budget: float) -> Any:
    info = np.finfo(got.dtype)
    near = np.abs(got - want) <= budget * info.eps * np.maximum(size, np.abs(want)) + info.tiny
    signed = (got != 0) | (want != 0) | (np.signbit(got) == np.signbit(want))
    return ~np.where(np.isfinite(got) & np.isfinite(want), near & signed, same_bits(got, want))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("case", "dtype"), TYPED, ids=lambda x: str(x))
def test_value(case: Case, dtype: str, engine: str) -> None:
    xs = operands(case, dtype)
    got = evaluate(engine, case.fun, *xs)
    if case.oracle is None:
        want = evaluate("numpy", case.fun, *xs)
        bad = ~same_bits(flushed(got), flushed(want))
    else:
        with np.errstate(all="ignore"):
            want = np.asarray(case.oracle(*map(wider, xs)))
        bad = wrong(case, got, want)
    assert not bad.any(), show(bad, xs, got, want)


# ---- derivatives -----------------------------------------------------------------------------
def smooth_operands(case: Case, dtype: str) -> list[np.ndarray[Any, Any]]:
    assert case.smooth is not None
    kind = np.dtype(dtype)
    return [drawn(kind, low, high, 12, 7 + i) for i, (low, high) in enumerate(case.smooth)]


def directions(xs: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    return [drawn(x.dtype, -1.0, 1.0, x.size, 70 + i) for i, x in enumerate(xs)]


WIDEST = [
    (case, dtype)
    for case in SMOOTH
    for dtype in ("float64", "complex128")
    if dtype in case.dtypes
]


@pytest.mark.parametrize(("case", "dtype"), WIDEST, ids=lambda x: str(x))
def test_jvp_is_the_slope_of_a_small_step(case: Case, dtype: str) -> None:
    xs = smooth_operands(case, dtype)
    ts = directions(xs)
    with hloom.enable_x64():
        value, tangent = hloom.jvp(case.fun, tuple(xs), tuple(ts))
        step = 1e-6
        ahead = evaluate("xla", case.fun, *[x + step * t for x, t in zip(xs, ts)])
        behind = evaluate("xla", case.fun, *[x - step * t for x, t in zip(xs, ts)])
    assert same_bits(np.asarray(value), evaluate("xla", case.fun, *xs)).all()
    slope = (ahead - behind) / (2 * step)
    # Half a digit of f64 is lost to the step itself.
    np.testing.assert_allclose(tangent, slope, rtol=2e-7, atol=2e-7)


@pytest.mark.parametrize(("case", "dtype"), WIDEST, ids=lambda x: str(x))
def test_vjp_is_the_adjoint_of_jvp(case: Case, dtype: str) -> None:
    xs = smooth_operands(case, dtype)
    ts = directions(xs)
    with hloom.enable_x64():
        value, tangent = hloom.jvp(case.fun, tuple(xs), tuple(ts))
        ct = drawn(value.dtype, -1.0, 1.0, value.size, 99)
        _, pull = hloom.vjp(case.fun, *xs)
        cts = pull(ct)
        across = np.sum(ct * np.asarray(tangent)).real
        back = sum(np.sum(np.asarray(c) * t).real for c, t in zip(cts, ts))
    np.testing.assert_allclose(across, back, rtol=1e-10)


# ---- batching --------------------------------------------------------------------------------
def layouts(operands: int) -> list[tuple[Any, ...]]:
    """Batch axes to try, for each operand; None is shared by all examples."""
    if operands == 1:
        return [(0,), (1,)]
    mixed = [(0, 1), (None, 0), (1, None)]
    return [layout + (None,) * (operands - 2) for layout in mixed]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case}-{case.dtypes[-1]}")
def test_vmap_is_a_loop(case: Case) -> None:
    dtype = dtypes.as_dtype(case.dtypes[-1])
    flat = [drawn(dtype, low, high, 9, i) for i, (low, high) in enumerate(case.domain)]
    squares = [x.reshape(3, 3) for x in flat]
    with hloom.engine("numpy"), hloom.enable_x64():
        for axes in layouts(len(squares)):
            xs = [x[0] if a is None else x for x, a in zip(squares, axes)]
            got = np.asarray(hloom.vmap(case.fun, in_axes=axes)(*xs))
            rows = [
                case.fun(*[x if a is None else np.take(x, i, a) for x, a in zip(xs, axes)])
                for i in range(3)
            ]
            assert same_bits(got, np.stack(rows)).all(), axes


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case}-{case.dtypes[-1]}")
def test_a_scalar_goes_with_any_shape(case: Case) -> None:
    dtype = dtypes.as_dtype(case.dtypes[-1])
    xs = [drawn(dtype, low, high, 4, i).reshape(2, 2) for i, (low, high) in enumerate(case.domain)]
    for scalar in range(len(xs)):
        mixed = [x[0, 0] if i == scalar else x for i, x in enumerate(xs)]
        whole = [np.full_like(xs[0], x) if np.ndim(x) == 0 else x for x in mixed]
        got = evaluate("xla", case.fun, *mixed)
        want = evaluate("xla", case.fun, *whole)
        if len(xs) == 1:
            want = want[0, 0]
        assert got.shape == want.shape
        if case.oracle is None:
            assert same_bits(got, want).all()
        else:  # vector and scalar code may round differently
            np.testing.assert_allclose(got, want, rtol=1e-12)


def test_vmap_of_scalars_beside_arrays() -> None:
    xs, ys = np.arange(3.0, dtype=np.float32), np.ones((3, 2), np.float32)
    got = hloom.vmap(arithmetic.sub)(xs, ys)
    np.testing.assert_array_equal(got, xs[:, None] - ys)


# ---- the table itself ------------------------------------------------------------------------
def test_every_primitive_has_a_case() -> None:
    modules = (arithmetic, binary, compare, complex, convert, special, trigonometric, unary)
    elsewhere = {"select_n", "convert_element_type", "bitcast_convert_type", "reduce_precision"}
    primitives = {
        value.name
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Primitive) and isinstance(value, Pointwise)
    }
    cases = {case.name for case in CASES} | {"integer_pow"}  # cube, x**-3, reciprocal
    assert primitives - cases - elsewhere == set()


# ---- programs for many elements ----------------------------------------------------------------
MANY = [
    ("sin", trigonometric.sin, np.sin, (0.6, 1.1)),
    ("cos", trigonometric.cos, np.cos, (0.6, 1.1)),
    ("tan", trigonometric.tan, np.tan, (1.3, 2.5)),
    ("lgamma", special.lgamma, special.lgamma_p.numpy, (1.0, 1e5)),
    ("digamma", special.digamma, special.digamma_p.numpy, (2.0, 1e5)),
]


@pytest.mark.parametrize("engine", ["xla", "reference"])
@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize("double", [False, True], ids=["f32", "f64"])
@pytest.mark.parametrize("row", MANY, ids=lambda row: row[0])
def test_many_elements(row: Any, double: bool, wild: bool, engine: str) -> None:
    """From 8192 elements on other programs run, with a way out for what they can't do."""
    _, fun, oracle, budgets = row
    x = drawn(np.dtype(np.float64 if double else np.float32), 0.5, 50.0, 8192 + 7, 3)
    if wild:
        x[::999] = [1e7, -1e9, np.inf, np.nan, -0.0, 0.0, -3.5, 1e30, -np.inf]
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64) if not double or "gamma" in row[0] else wider(x)
        want = np.asarray(oracle(wide))
    got = evaluate(engine, fun, x)
    # Near a zero of digamma or lgamma the wider values differ by themselves.
    near = np.isclose(got, want.astype(np.float64), rtol=1e-13, atol=1e-14)
    bad = (ulps(got, want) > budgets[double]) & ~near
    assert not bad.any(), show(bad, [x], got, want)


def test_powers_of_many_elements() -> None:
    rng = np.random.default_rng(0)
    special_ = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -3.0, 0.5, 1e30]
    x, y = (v.ravel() for v in np.meshgrid(special_, special_))
    x = np.concatenate([x, rng.uniform(0, 9, 9000)]).astype(np.float32)
    y = np.concatenate([y, rng.uniform(-9, 9, 9000)]).astype(np.float32)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), y.astype(np.float64))
    got = evaluate("xla", binary.pow, x, y)
    bad = ulps(got, want) > 0.51
    assert not bad.any(), show(bad, [x, y], got, want)
