"""Python integers beside arrays: each must fit the dtype that it will take, as in NumPy 2.

A Python integer has no dtype of its own.  Beside an array it takes the array's,
and raises OverflowError if it can't; where a float does, it becomes a float.  Comparisons answer
for every integer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign, inf
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import overflow, scalar, weak_aval

_TYPED = (Array, np.ndarray, np.generic, bool, float, complex)


def is_large(x: Any) -> bool:
    """Whether an operand is a Python integer that not every integer dtype holds."""
    return x.__class__ is int and not 0 <= x <= 127


def fit(name: str, operands: Sequence[Any]) -> Sequence[Any]:
    """The operands of an eager function, with Python integers in a form that loses nothing.

    Raises OverflowError, in NumPy's words, for an integer out of bounds for the dtype beside it.
    """
    for x in operands:
        if x.__class__ is int and not 0 <= x <= 127:
            return [_fitted(name, y, operands) if is_large(y) else y for y in operands]
    return operands


def _fitted(name: str, value: int, operands: Sequence[Any]) -> Any:
    dtype = common_dtype(operands)
    kind = "bool" if dtype is None else dtypes.kind(dtype)
    if dtype is not None and kind in ("signed", "unsigned"):
        check_bounds(name, value, dtype)
    if kind == "bool" or _holds(default_integer(), value):
        return value
    if kind in ("float", "complex"):
        return float(value)
    return scalar(value, ShapedArray((), dtype, True))  # type: ignore[arg-type]


def holds_integers(operands: Sequence[Any]) -> bool:
    """Whether the operands are promoted to a dtype in which no default integer is out of bounds."""
    dtype = common_dtype(operands)
    if dtype is None:
        return False
    return dtypes.kind(dtype) in ("float", "complex") or dtype == default_integer()


class Fitting(NamedTuple):
    """How a function takes Python integers.

    `fit(name, operands)` replaces those that the common dtype does not hold; `holds(operands)`:
    whether every value of the default integer dtype fits beside these operands.
    """

    fit: Callable[[str, Sequence[Any]], Sequence[Any]]
    holds: Callable[[Sequence[Any]], bool]


def _fit_floats(name: str, operands: Sequence[Any]) -> Sequence[Any]:
    default = default_integer()
    return [float(x) if is_large(x) and not _holds(default, x) else x for x in operands]


PROMOTED = Fitting(fit, holds_integers)  # they take the dtype beside them
FLOATS = Fitting(_fit_floats, lambda operands: True)  # they become floats, as all operands do
TRUTHS = Fitting(lambda name, xs: [bool(x) if is_large(x) else x for x in xs], lambda xs: False)
FITTED = Fitting(lambda name, xs: xs, lambda xs: False)  # they have been fitted already
CASES = Fitting(  # PROMOTED, but for the first operand
    lambda name, xs: [xs[0], *fit(name, xs[1:])], lambda xs: holds_integers(xs[1:])
)


def default_integer() -> np.dtype[Any]:
    """The dtype of a Python integer with no array beside it."""
    return weak_aval(int, current.get().config.enable_x64).dtype


def common_dtype(operands: Sequence[Any]) -> np.dtype[Any] | None:
    """The dtype that the operands other than Python integers are promoted to, if there are any."""
    config = current.get().config
    typed = [x for x in operands if x.__class__ is not int and isinstance(x, _TYPED)]
    if not typed:
        return None
    pairs = tuple([_pair(x, config.enable_x64) for x in typed])
    return dtypes.join(pairs, config.enable_x64)[0]


def _pair(x: Any, x64: bool) -> tuple[np.dtype[Any], bool]:
    if isinstance(x, Array):
        return x.aval.dtype, x.aval.weak_type
    return dtypes.pair_of(x, x64)


def check_bounds(name: str, value: int, dtype: np.dtype[Any]) -> None:
    """Raise OverflowError if the integer dtype does not hold the value."""
    if not _holds(dtype, value):
        raise overflow(value, dtype, after=f", in {name}")


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
    if not first and not second:
        return operands
    default = default_integer()
    if first and second:
        fits = _holds(default, x1) and _holds(default, x2)
        return operands if fits else ((x1 > x2) - (x1 < x2), 0)
    dtype = common_dtype(operands)
    if dtype is None or dtypes.kind(dtype) == "bool":
        dtype = default
    if dtypes.kind(dtype) in ("float", "complex"):
        return operands
    value = x1 if first else x2
    if _holds(dtype, value):
        return operands
    beyond = copysign(inf, value)
    return (beyond, x2) if first else (x1, beyond)
