"""`accuracy=`: what is accepted, and that what is promised is kept."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.lax import AccuracyMode, Tolerance
from hloom.ops.pointwise.accuracy import ULPS

# The same functions of wider NumPy numbers.
ORACLES: dict[str, Callable[..., Any]] = {
    "cbrt": np.cbrt, "cos": np.cos, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log1p": np.log1p, "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh,
}  # fmt: skip
FUNCTIONS = {name: getattr(lax, name) for name in ULPS}


def _arguments(dtype: str, size: int = 4000) -> Any:
    """Small and large numbers, all exponents, neighbours of 1 and of multiples of pi / 2."""
    rng = np.random.default_rng(0)
    reach = 37 if dtype == "float32" else 300
    turns = rng.integers(-1000, 1000, size) * (np.pi / 2)
    near = turns * (1 + rng.integers(-3, 3, size) * 2.0**-23)
    return np.concatenate([
        rng.uniform(-1, 1, size), rng.normal(size=size) * 10, rng.uniform(-700, 700, size),
        np.sign(rng.normal(size=size)) * 10.0 ** rng.uniform(-reach, reach, size),
        1 + rng.normal(size=size) * 1e-3, near, 10.0 ** rng.uniform(-8, 4, size),
    ]).astype(dtype)  # fmt: skip


@pytest.mark.parametrize("name", ULPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_are_as_exact_as_the_table_says(name: str, dtype: str) -> None:
    x = _arguments(dtype)
    with np.errstate(all="ignore"):
        want = ORACLES[name](testing.wider(x))
    got = testing.evaluate("xla", FUNCTIONS[name], x)
    info = np.finfo(dtype)
    size = np.abs(want)
    told = (size >= info.smallest_normal) & (size <= info.max / 2)
    off = testing.ulps(got[told], want[told])
    assert off.max() <= ULPS[name][dtype == "float64"]


def test_the_table_has_every_function_that_takes_an_accuracy() -> None:
    takes = {n for n in lax.__all__ if "accuracy" in str(getattr(lax, n).__doc__)}
    assert {n for n in takes if n[0].islower()} == set(ULPS) == set(ORACLES)


@pytest.mark.parametrize("name", ULPS)
def test_complex_results_are_as_exact_as_other_tests_see(name: str) -> None:
    cases = [c for c in testing.FAMILIES["elementwise"] if c.name == name]
    budgets = [c.budget("complex64") for c in cases if "complex64" in c.dtypes]
    assert max(budgets, default=0) <= ULPS[name][2]


@pytest.mark.parametrize("name", ULPS)
@pytest.mark.parametrize(
    "accuracy",
    [None, AccuracyMode.DEFAULT, AccuracyMode.HIGHEST, Tolerance(1e-3), Tolerance(rtol=1e-5),
     Tolerance(ulps=8), Tolerance(1e-30, ulps=8), Tolerance(np.float32(1e-3), np.float64(0.1)),
     Tolerance(atol=float("inf"))],
    ids=str,
)  # fmt: skip
def test_what_is_kept_is_accepted_and_changes_nothing(name: str, accuracy: Any) -> None:
    fun, x = FUNCTIONS[name], jnp.array([0.25, 0.5])
    run = lambda x: fun(x, accuracy=accuracy)
    np.testing.assert_array_equal(run(x), fun(x))
    np.testing.assert_array_equal(hloom.jit(run)(x), hloom.jit(fun)(x))
    np.testing.assert_array_equal(hloom.vmap(run)(x), fun(x))
    slope = hloom.jvp(run, (x,), (x,))[1]
    np.testing.assert_array_equal(slope, hloom.jvp(fun, (x,), (x,))[1])
    if not isinstance(accuracy, Tolerance) and name != "cbrt":
        np.testing.assert_array_equal(run(x + 1j), fun(x + 1j))


@pytest.mark.parametrize("name", ULPS)
def test_a_finer_tolerance_is_refused(name: str) -> None:
    fun = FUNCTIONS[name]
    for x in (jnp.ones(2), jnp.ones(2, "bfloat16"), 0.5, np.ones(2, np.float16)):
        with pytest.raises(ValueError) as raised:
            fun(x, accuracy=Tolerance(rtol=1e-9))
        assert f"{name} of " in str(raised.value) and "asks for more" in str(raised.value)
    with hloom.enable_x64():
        x = jnp.ones(2, "float64")
        assert fun(x, accuracy=Tolerance(rtol=1e-9)).dtype == np.float64
        with pytest.raises(ValueError, match="float64"):
            fun(x, accuracy=Tolerance(atol=1e-17))


@pytest.mark.parametrize("accuracy", ["HIGHEST", 1, 1e-3, "highest", lax.Precision.HIGHEST])
def test_what_is_no_accuracy_is_refused(accuracy: Any) -> None:
    with pytest.raises(TypeError, match="exp takes accuracy as a lax.Tolerance"):
        lax.exp(jnp.ones(2), accuracy=accuracy)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({}, ValueError, "needs one of"),
        ({"atol": -1.0}, ValueError, "not negative"),
        ({"ulps": -1}, ValueError, "not negative"),
        ({"rtol": float("nan")}, ValueError, "not negative"),
        ({"rtol": 1e-3, "ulps": 2}, ValueError, "rtol or ulps"),
        ({"atol": "a"}, TypeError, "takes numbers"),
        ({"ulps": 1.5}, TypeError, "an integer"),
    ],
    ids=str,
)
def test_tolerances_that_make_no_sense(given: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        Tolerance(**given)


def test_tolerances_are_values() -> None:
    given = Tolerance(1e-3, ulps=2)
    assert given == Tolerance(1e-3, 0, 2) and hash(given) == hash(Tolerance(1e-3, 0, 2))
    assert pickle.loads(pickle.dumps(given)) == given
    assert (given.atol, given.rtol, given.ulps) == (1e-3, 0.0, 2)


def test_operands_of_other_kinds_are_told_so() -> None:
    with pytest.raises(TypeError, match="exp takes inexact operands"):
        lax.exp(jnp.arange(3), accuracy=Tolerance(ulps=9))
