"""The whole table: every case on three engines, its derivatives, its batch rule."""

from __future__ import annotations

import pytest

from hloom import testing
from hloom.testing import CASES, Case

TYPED = [pytest.param(case, dtype, id=f"{case}-{dtype}") for case in CASES for dtype in case.dtypes]
SMOOTH = [
    pytest.param(case, dtype, id=f"{case}-{dtype}")
    for case in CASES
    for dtype in case.differentiated
]
TWICE = [case for case in CASES if case.differentiated and case.twice]


@pytest.mark.parametrize(("case", "dtype"), TYPED)
def test_value(case: Case, dtype: str) -> None:
    testing.check_value(case, dtype)


@pytest.mark.parametrize(("case", "dtype"), SMOOTH)
def test_derivative(case: Case, dtype: str) -> None:
    testing.check_jvp(case, dtype)
    if case.reverse:
        testing.check_adjoint(case, dtype)


@pytest.mark.parametrize("case", TWICE, ids=str)
def test_second_derivative(case: Case) -> None:
    testing.check_second(case, case.differentiated[0])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_batch(case: Case) -> None:
    testing.check_batch(case)
