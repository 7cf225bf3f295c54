"""The whole table: every case on three engines, its derivatives, its batch rule.

An item is a case and a check; it tries all of the case's dtypes and tells those that fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

import hloom
from hloom import testing
from hloom.testing import CASES, Case

every_case = pytest.mark.parametrize("case", CASES, ids=str)
smooth = pytest.mark.parametrize("case", [c for c in CASES if c.differentiated], ids=str)


def in_each(dtypes: Iterable[str], check: Callable[[str], object]) -> None:
    """Fail with what the check says of every dtype for which it raises."""
    faults = []
    for dtype in dtypes:
        try:
            check(dtype)
        except Exception as error:
            faults.append(f"{dtype}: {type(error).__name__}: {error}")
    assert not faults, "\n\n".join(faults)


@every_case
def test_value(case: Case) -> None:
    in_each(case.dtypes, lambda dtype: testing.check_value(case, dtype))


@smooth
def test_derivative(case: Case) -> None:
    """The first dtype on XLA; NumPy, which compiles nothing, has the others and the second."""

    def check(dtype: str) -> None:
        with hloom.engine("xla" if dtype == case.differentiated[0] else "numpy"):
            testing.check_jvp(case, dtype)
            if case.reverse:
                testing.check_adjoint(case, dtype)

    in_each(case.differentiated, check)
    if case.twice:
        with hloom.engine("numpy"):
            testing.check_second(case, case.differentiated[0])


@every_case
def test_batch(case: Case) -> None:
    testing.check_batch(case)


def test_every_case_has_an_oracle_or_says_why_not() -> None:
    without = {str(case): case.no_oracle for case in CASES if case.oracle is None}
    assert without == {
        f"random: {name}": "tests/ops/test_random_bits.py has the published answers of the cipher"
        for name in ("philox", "threefry", "threefry of wide words")
    }
    assert not [str(case) for case in CASES if case.oracle and case.no_oracle]
