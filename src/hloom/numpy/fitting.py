"""Python integers beside arrays: each must fit the dtype that it will take, as in NumPy 2.

A Python integer has no dtype of its own.  Where an array stands beside it, it takes the array's,
and raises OverflowError if it can't; where a float does, it becomes a float.  Comparisons answer
for every integer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, inf
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.config import current
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.operands import scalar, weak_aval

_TYPED = (Array, np.ndarray, np.generic, bool, float, complex)


def fit(name: str, operands: Sequence[Any]) -> Sequence[Any]:
    """The operands of an eager function, with Python integers in a form that loses nothing.

    Raises OverflowError, in NumPy's words, for an integer out of bounds for the dtype beside it.
    """
    for x in operands:
        if x.__class__ is int and not 0 <= x <= 127:  # what fits any integer dtype is left alone
            return [_fitted(name, y, operands) if y.__class__ is int else y for y in operands]
    return operands


def _fitted(name: str, value: int, operands: Sequence[Any]) -> Any:
    dtype = common_dtype(operands)
    if dtype is None or dtypes.kind(dtype) == "bool":
        return value
    if dtypes.kind(dtype) in ("float", "complex"):
        return float(value)
    check_bounds(name, value, dtype)
    default = weak_aval(int, current.get().config.enable_x64)
    return value if _holds(default.dtype, value) else scalar(value, ShapedArray((), dtype, True))


def common_dtype(operands: Sequence[Any]) -> np.dtype[Any] | None:
    """The dtype that the operands other than Python integers are promoted to, if there are any."""
    config = current.get().config
    typed = [x for x in operands if x.__class__ is not int and isinstance(x, _TYPED)]
    if not typed:
        return None
    pairs = tuple([dtypes.pair_of(x, config.enable_x64) for x in typed])
    return dtypes.join(pairs, config.enable_x64)[0]


def check_bounds(name: str, value: int, dtype: np.dtype[Any]) -> None:
    """Raise OverflowError if the integer dtype does not hold the value."""
    if not _holds(dtype, value):
        raise OverflowError(
            f"Python integer {value} out of bounds for {dtype.name}, in {name}; "
            "convert the array first: x.astype(...), or use np.int64(...)"
        )


def _holds(dtype: np.dtype[Any], value: int) -> bool:
    info = dtypes.iinfo(dtype)
    return int(info.min) <= value <= int(info.max)


def comparable(operands: Sequence[Any]) -> Sequence[Any]:
    """The two operands of a comparison, with Python integers of any size in a form that compares.

    One beyond the bounds of the integers beside it compares as an infinity; two that no default
    integer holds are replaced by others in the same order.
    """
    x1, x2 = operands
    first, second = x1.__class__ is int, x2.__class__ is int
    default = weak_aval(int, current.get().config.enable_x64).dtype
    if first and second:
        fits = _holds(default, x1) and _holds(default, x2)
        return operands if fits else ((x1 > x2) - (x1 < x2), 0)
    if not first and not second:
        return operands
    dtype = common_dtype(operands)
    if dtype is None or dtypes.kind(dtype) == "bool":
        dtype = default
    if dtypes.kind(dtype) in ("float", "complex"):
        return operands
    return [_bounded(x, dtype) if x.__class__ is int else x for x in operands]


def _bounded(value: int, dtype: np.dtype[Any]) -> int | float:
    return value if _holds(dtype, value) else copysign(inf, value)
