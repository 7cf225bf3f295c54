"""Strategies of hypothesis: operands for a case, with shapes and edge values from its domain.

Apart from the rest of `hloom.testing`, this module needs hypothesis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from hloom import dtypes
from hloom.testing.case import Case, Elements
from hloom.testing.comparison import flushed
from hloom.testing.operands import NDArray, corners

# Shapes of elementwise operands.  They are few, so that programs are compiled once for many draws.
SHAPES = ((), (1,), (5,), (0,), (2, 3), (3, 0, 2))


def elements(
    dtype: Any, low: float, high: float, *, edges: bool = True
) -> st.SearchStrategy[complex]:
    """Python numbers from an interval, and the edge values of a dtype.

    Complex numbers have their real part in the interval and an imaginary part of either sign.
    Subnormal numbers are not drawn: XLA's CPU takes them for zeros.

    >>> from hloom.testing import strategies
    >>> strategies.elements("int8", 0, 9, edges=False)
    integers(min_value=0, max_value=9)
    """
    dtype = dtypes.as_dtype(dtype)
    made: st.SearchStrategy[complex]
    match dtypes.kind(dtype):
        case "bool":
            return st.booleans()
        case "signed" | "unsigned":
            info = dtypes.iinfo(dtype)
            made = st.integers(max(int(np.ceil(low)), int(info.min)), min(int(high), int(info.max)))
        case "complex":
            side = min(abs(high), 4.0)
            made = st.builds(complex, st.floats(low, high), st.floats(-side, side))
        case _:
            made = st.floats(low, high)
    return st.one_of(made, st.sampled_from(corners(dtype).tolist())) if edges else made


@st.composite
def arrays(
    draw: Any, dtype: Any, shape: tuple[int, ...], low: float, high: float, edges: bool
) -> NDArray:
    """Arrays of a dtype and shape, with such elements.

    >>> from hloom.testing import strategies
    >>> strategies.arrays("float16", (2, 3), -1, 1, edges=False)
    arrays(dtype='float16', shape=(2, 3), low=-1, high=1, edges=False)
    """
    dtype = dtypes.as_dtype(dtype)
    size = int(np.prod(shape))
    # Many elements that differ cost hypothesis much and tell little: large arrays repeat a few.
    few = min(size, 12)
    one = elements(dtype, low, high, edges=edges)
    values = draw(st.lists(one, min_size=few, max_size=few))
    with np.errstate(over="ignore"):
        return flushed(np.resize(np.array(values, dtype), shape))


@st.composite
def operands(draw: Any, case: Case, dtype: Any) -> list[NDArray]:
    """Operands for a case in one of its dtypes.

    Those of an elementwise case have one of a few shapes, some are 0-d beside it.  Edge values are
    among them where the case says so (`corners`) and its results are exact for them: a sum of
    extremes has no digits.

    >>> from hloom import testing
    >>> from hloom.testing import strategies
    >>> strategies.operands(testing.FAMILIES["dot"][0], "int8")
    operands(case=Case(...), dtype='int8')
    """
    if case.generic:
        return case.draw(dtype, seed=draw(st.integers(0, 999)))
    kind = dtypes.kind(dtypes.as_dtype(dtype))
    exact = case.exact or kind in ("bool", "signed", "unsigned")
    edges = case.corners and (case.elementwise or exact)
    common = draw(st.sampled_from(SHAPES))
    made = []
    for operand in case.operands:
        if isinstance(operand, Elements):
            shape = draw(st.sampled_from([common, common, ()]))
            made.append(draw(arrays(dtype, shape, operand.low, operand.high, edges)))
        elif isinstance(operand, tuple):
            made.append(draw(arrays(dtype, operand, case.low, case.high, edges)))
        else:
            made.append(np.asarray(operand))
    return made
