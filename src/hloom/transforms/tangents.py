"""Tangents and cotangents as users give and get them: of which type, and which are zero."""

from __future__ import annotations

from typing import Any

from hloom import dtypes, errors
from hloom.core.array import Array, HostArray, host_array
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.support import float0
from hloom.ops.common import linear
from hloom.ops.pointwise.convert import convert_element_type


def moves(x: Any) -> bool:
    """Whether a value, or one of this type, can change by a little: a float or complex number."""
    return x.dtype in dtypes.DOMAINS["inexact"]


def zero(aval: ShapedArray) -> Any:
    """The zero tangent of a value of this type; float0 for what can't move."""
    if not moves(aval):
        return float0.zeros(aval.shape)
    return linear.spread_scalar(linear.constant(0, aval.dtype, aval.weak_type), aval.shape)


def tangent(aval: ShapedArray, given: Any, what: str) -> Any:
    """A tangent as an array of the value's type; None for the float0 of what can't move.

    Raises TangentError for another type, and for any number along an integer: it would be dropped.
    """
    if moves(aval):
        return _fitted(aval, given, what)
    still, got = ShapedArray(aval.shape, dtypes.float0), _type(given, what)
    if got != still:
        raise errors.TangentError(
            f"{what} must be {still}, since {aval} cannot move; got {got}. Use "
            f"np.zeros({aval.shape}, hloom.float0), or differentiate a function of the other "
            "arguments alone."
        )
    return None


def cotangent(aval: ShapedArray, given: Any, what: str) -> Any:
    """A cotangent as an array of the result's type; None for a result that can't move.

    Along such a result nothing comes back: float0 is its cotangent, and an array of its shape is
    taken too, so that a tree of ones serves results of all types.
    """
    if moves(aval):
        return _fitted(aval, given, what)
    got = _type(given, what)
    if got.shape != aval.shape:
        raise errors.TangentError(f"{what} must have the shape of {aval}; got {got}")
    return None


def _fitted(aval: ShapedArray, given: Any, what: str) -> Array:
    made = _array(given, what)
    if not isinstance(made, Array):
        raise errors.TangentError(f"{what} must be {aval}; got {float0.aval_of(made)}")
    if made.aval.shape == aval.shape and made.aval.dtype != aval.dtype and _adapts(made):
        made = _as_type(made, aval)
    if made.aval.shape != aval.shape or made.aval.dtype != aval.dtype:
        raise errors.TangentError(f"{what} must be {aval}, as the value is; got {made.aval}")
    return made


def _adapts(made: Array) -> bool:
    """Whether it stems from real Python numbers, which take the type of what they meet."""
    return made.aval.weak_type and made.aval.kind != "complex"


def _as_type(made: Array, aval: ShapedArray) -> Array:
    if isinstance(made, HostArray):  # nothing to compile
        return host_array(made._value(), aval)
    converted: Array = convert_element_type(made, aval.dtype)
    return converted


def _type(given: Any, what: str) -> ShapedArray:
    return float0.aval_of(_array(given, what))


def _array(given: Any, what: str) -> Any:
    """An array, or a float0 array as it is."""
    if isinstance(given, Array) or float0.is_float0(given):
        return given
    try:
        return as_array(given)
    except TypeError as error:
        raise TypeError(f"{what} is {error}") from None
