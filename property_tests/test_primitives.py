"""Every primitive on three engines: shapes, dtypes and edge values from the domain of its cases."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloom import testing
from hloom.testing import Case
from hloom.testing.strategies import operands

# Each example compiles a program, so that a part of the profile's number fills the minute.
FEW = settings(max_examples=max(settings().max_examples // 6, 2))

ELEMENTWISE = testing.FAMILIES["elementwise"]
STRUCTURED = [name for name in testing.FAMILIES if name != "elementwise"]


@pytest.mark.parametrize("case", ELEMENTWISE, ids=lambda case: f"{case.name}-{case.dtypes[-1]}")
@FEW
@given(data=st.data())
def test_an_elementwise_operation_of_any_shape(case: Case, data: Any) -> None:
    dtype = data.draw(st.sampled_from(case.dtypes))
    testing.check_value(case, dtype, operands=data.draw(operands(case, dtype)))


@pytest.mark.parametrize("family", STRUCTURED)
@given(data=st.data())
def test_a_structured_operation_of_any_elements(family: str, data: Any) -> None:
    case = data.draw(st.sampled_from(testing.FAMILIES[family]))
    dtype = data.draw(st.sampled_from(case.dtypes))
    testing.check_value(case, dtype, operands=data.draw(operands(case, dtype)))
