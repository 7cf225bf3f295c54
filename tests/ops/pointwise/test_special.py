"""Special functions against mpmath, on XLA and by their definitions: the range, and its ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from mpmath import mp, mpf

from hloom import lax
from hloom.ops.pointwise import special
from hloom.testing import evaluate

INF, NAN = np.inf, np.nan
ENGINES = ("xla", "numpy")

rng = np.random.default_rng(7)
POSITIVE = np.concatenate([rng.uniform(0, 12, 60), 10 ** rng.uniform(-200, 200, 30)])
NEXT_TO_1_AND_2 = np.concatenate(
    [n + s * 10.0 ** -np.arange(1, 15) for n in (1, 2) for s in (1, -1)]
)
REAL = np.concatenate([rng.uniform(-20, 20, 60), 10 ** rng.uniform(-200, 0, 20)])


class Claim(NamedTuple):
    """A function, what it is in mpmath, where, and how many ulp XLA and the definition have."""

    function: Callable[..., Any]
    exact: Callable[[Any], Any]
    x: Any
    xla: float
    numpy: float


CLAIMS = {
    "erf": Claim(lax.erf, mp.erf, rng.uniform(-6, 6, 80), 30, 1),
    "erfc": Claim(lax.erfc, mp.erfc, rng.uniform(-6, 26, 80), 4, 2.5),
    "lgamma": Claim(
        lax.lgamma, mp.loggamma, np.concatenate([POSITIVE, NEXT_TO_1_AND_2]), 6, 20
    ),
    "digamma": Claim(
        lax.digamma, mp.digamma, np.concatenate([POSITIVE, 1.4616321449683622 + REAL / 1e4]), 6, 3
    ),
    "i0e": Claim(lax.bessel_i0e, lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), REAL, 5, 5),
    "i1e": Claim(lax.bessel_i1e, lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), REAL, 9, 8),
    "i0": Claim(special.bessel_i0, lambda x: mp.besseli(0, x), rng.uniform(-713, 713, 60), 9, 5),
}  # fmt: skip


def ulp(got: Any, exact: list[Any]) -> Any:
    """How far results are from numbers of mpmath, in f64's units in the last place."""
    spacing = np.spacing(np.abs(np.array(exact, np.float64)))
    return np.array([float(abs(mpf(g) - e) / s) for g, e, s in zip(got.tolist(), exact, spacing)])


@pytest.mark.parametrize("name", CLAIMS)
def test_error_in_ulp(name: str) -> None:
    function, exact, x, *budgets = CLAIMS[name]
    with mp.workdps(40):
        wanted = [exact(mpf(v)) for v in x.tolist()]
        for engine, budget in zip(ENGINES, budgets):
            off = ulp(evaluate(engine, function, x), wanted)
            assert off.max() <= budget, (engine, x[off.argmax()], off.max())


def exact_polygamma(n: int, x: float) -> Any:
    with mp.workdps(80 + int((n + 1) * max(0.0, np.log10(x)))):
        return (-1) ** (n + 1) * mp.factorial(n) * mp.zeta(n + 1, mpf(x))


def test_polygamma_of_any_order_is_neither_infinite_nor_nan() -> None:
    orders = np.array([1, 2, 9, 19, 20, 60, 170, 171, 200, 300, 170, 171, 99])
    x = np.array([0.3, 7.0, 2.5, 40.0, 40.0, 90.0, 70.0, 1.5, 75.0, 300.0, 300.0, 2.0, 2000.0])
    wanted = [exact_polygamma(int(n), v) for n, v in zip(orders, x)]
    for engine in ENGINES:
        got = evaluate(engine, lax.polygamma, orders.astype(np.float64), x)
        # An error in the logarithm of n! counts as it is, one in a base n-fold.
        assert (ulp(got, wanted) <= 10 + 12 * orders).all(), engine
    single = evaluate("xla", lax.polygamma, np.float32(200), np.float32(75))
    assert single == np.float32(float(wanted[8]))


ENDS = (
    (lax.erf_inv, -0.0, -0.0), (lax.erf_inv, 1.0, INF), (lax.erf_inv, 1.1, NAN),
    (lax.lgamma, 1.0, 0.0), (lax.lgamma, 2.0, 0.0), (lax.lgamma, 0.0, INF), (lax.lgamma, -INF, INF),
    (lax.lgamma, -3.0, INF), (lax.lgamma, 1e-305, 702.288453363184),
    (lax.digamma, 0.0, -INF), (lax.digamma, -0.0, INF), (lax.digamma, -2.0, NAN),
    (lax.digamma, -INF, NAN), (lax.digamma, INF, INF),
    (lax.digamma, -1 + 2.0**-53, -9007199254740992.0),
    (lax.bessel_i1e, -0.0, -0.0), (lax.bessel_i1e, INF, 0.0), (lax.bessel_i1e, -INF, -0.0),
    (lax.bessel_i0e, -INF, 0.0), (special.bessel_i0, -INF, INF), (special.bessel_i0, 714.5, INF),
)  # fmt: skip
PAIRS = (
    (lax.zeta, INF, 2.0, 0.0), (lax.zeta, INF, -0.5, INF), (lax.zeta, 1e308, 2.0, 0.0),
    (lax.zeta, 3.0, -2.0, INF), (lax.zeta, 2.5, -0.5, NAN), (lax.zeta, 1.0, 2.0, INF),
    # The sum over all k is 0 for odd powers of halves: what is left is zeta(x, 1 - q).
    (lax.zeta, 171.0, -1.5, 8.958978968711217e-69), (lax.zeta, 3.0, -1e10 - 0.5, 4.999999999e-21),
    (lax.polygamma, 300.0, INF, -0.0), (lax.polygamma, 171.0, 0.0, INF),
    (lax.polygamma, 170.0, -1.5, -6.501903386474072e238), (lax.polygamma, 2.5, 1.0, NAN),
    (lax.polygamma, 100001.0, -0.4999, INF), (lax.zeta, 100001.0, -0.4999, -INF),
    (lax.polygamma, 400.0, NAN, NAN),
)  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_values_at_poles_infinities_and_zeros(engine: str) -> None:
    for function, *operands, wanted in (*ENDS, *PAIRS):
        got = evaluate(engine, function, *map(np.float64, operands))
        what = f"{function.__name__}{tuple(operands)}"
        np.testing.assert_allclose(got, wanted, rtol=1e-12, err_msg=what)
        assert wanted != 0.0 or np.signbit(got) == np.signbit(wanted), what


def test_the_definitions_keep_subnormal_numbers() -> None:
    for function, x, wanted in (
        (lax.erfc, 26.6, 1.088512588544227e-309), (lax.bessel_i1e, 1e-310, 5e-311),
        (lax.lgamma, 5e-324, 744.4400719213812),
    ):  # fmt: skip
        np.testing.assert_allclose(evaluate("numpy", function, np.float64(x)), wanted, rtol=1e-14)
