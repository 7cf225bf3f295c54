"""Elementwise operations beside the table of cases: scalars beside arrays, and many elements."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import hloom
from hloom import lax, testing
from hloom.ops.common.elementwise import Elementwise
from hloom.ops.pointwise import arithmetic, binary, special, trigonometric
from hloom.testing import Case, drawn, evaluate, same_bits, show, ulps, wider

CASES = testing.FAMILIES["elementwise"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.dtypes[-1]}")
def test_a_scalar_goes_with_any_shape(case: Case) -> None:
    xs = case.draw(case.dtypes[-1], shape=(2, 2))
    for scalar in range(len(xs)):
        mixed = [x[0, 0] if i == scalar else x for i, x in enumerate(xs)]
        whole = [np.full_like(xs[0], x) if np.ndim(x) == 0 else x for x in mixed]
        got = evaluate("xla", case.fun, *mixed)
        want = evaluate("xla", case.fun, *whole)
        if len(xs) == 1:
            want = want[0, 0]
        assert got.shape == want.shape
        if case.exact:
            assert same_bits(got, want).all()
        else:  # vector and scalar code may round differently
            np.testing.assert_allclose(got, want, rtol=1e-12)


def test_vmap_of_scalars_beside_arrays() -> None:
    xs, ys = np.arange(3.0, dtype=np.float32), np.ones((3, 2), np.float32)
    got = hloom.vmap(arithmetic.sub)(xs, ys)
    np.testing.assert_array_equal(got, xs[:, None] - ys)


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


def test_the_upper_half_of_a_product_of_two_numbers() -> None:
    x, y = np.uint64(2), np.uint64(2**64 - 1)
    for engine in testing.ENGINES:
        assert int(evaluate(engine, binary.mulhi, x, y)) == 1, engine


def test_the_public_function_of_a_row_is_a_function_with_its_own_signature() -> None:
    public = [getattr(lax, name) for name in lax.__all__]
    callables = [fun for fun in public if callable(fun) and not isinstance(fun, type)]
    functions = [fun for fun in callables if ".pointwise." in fun.__module__]
    assert len(functions) > 80
    for fun in functions:
        assert inspect.isfunction(fun) and fun.__doc__ in inspect.getsource(fun)
        assert pickle.loads(pickle.dumps(fun)) is fun
        row = getattr(inspect.getmodule(fun), f"{fun.__name__}_p", None)
        formal = inspect.signature(fun).parameters.values()
        needed = [p.name for p in formal if p.default is p.empty]
        if type(row) is Elementwise:
            assert len(needed) == row.arity and row.__name__ == row.name
    assert lax.sub(y=2.0, x=5.0) == 3.0 and lax.sign(x=-2) == -1
