"""Functions known at points: interpolation between them, jumps of an angle taken out."""

from __future__ import annotations

import math
from typing import Any

from hloom.numpy.common import eager, ufunc_operands
from hloom.numpy.common.operands import (
    array_like,
    broadcast,
    broadcast_to,
    promote,
    promote_dtypes,
    promote_inexact,
)
from hloom.numpy.common.reducing import axis_argument
from hloom.numpy.common.ufunc_operands import kind_of
from hloom.numpy.pointwise.arithmetic import divide, remainder
from hloom.ops.order.searching import searchsorted, taken
from hloom.ops.order.sorting import sort
from hloom.ops.pointwise import arithmetic, binary, compare, unary
from hloom.ops.reductions.cumulative import cumsum
from hloom.ops.shapes.slicing import concatenate, index_in_dim, slice_in_dim


# ---- interp ------------------------------------------------------------------------------------
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """The function that is `fp` at the points `xp` and linear between them, at the points `x`.

    `xp`, f32[n], must increase; `fp`, f32[n] or c64[n], has its length; `x` has any shape, and the
    result has it too.  Below the first point the result is `left`, or `fp[0]`, above the last one
    `right`, or `fp[-1]`; the string "extrapolate" continues the outer lines.  With a `period` the
    function repeats, and `xp` may be in any order.  Integers become the default float.  Raises
    ValueError for no points, points with more than one axis, unequal lengths, a period of 0.

    >>> jnp.interp(jnp.array([1.5, 0.0, 9.0]), jnp.array([1, 2, 3]), jnp.array([3, 2, 0]))
    Array([2.5, 3. , 0. ], dtype=float32)
    """
    x, xp, fp = (array_like("interp", a, i) for i, a in enumerate((x, xp, fp)))
    if xp.aval.ndim != 1 or fp.aval.ndim != 1:
        raise ValueError(f"interp: Data points must be 1-D sequences; got {xp.aval} and {fp.aval}")
    if xp.aval.shape != fp.aval.shape:
        raise ValueError(
            f"interp: fp and xp are not of the same length; got {fp.aval} and {xp.aval}"
        )
    if xp.aval.shape == (0,):
        raise ValueError("interp: array of sample points is empty")
    if period is not None:
        if isinstance(period, (int, float)) and period == 0:
            raise ValueError("interp: period must be a non-zero value")
        return _interp_periodic(x, xp, fp, period)
    ends = [end if isinstance(end, str) else None for end in (left, right)]
    if any(end not in (None, "extrapolate") for end in ends):
        raise ValueError(f"interp: left and right are numbers or 'extrapolate'; got {ends}")
    left, right = (None if isinstance(end, str) else end for end in (left, right))
    return _interp(x, xp, fp, left, right, extrapolate=tuple(end is not None for end in ends))


@eager.function(static=("extrapolate",))
def _interp(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, *, extrapolate: tuple[bool, bool]
) -> Any:
    x, xp = _same_floats(x, xp)
    (fp,) = promote_inexact("interp", fp)
    below = compare.lt(x, _end(xp, 0))
    above = compare.gt(x, _end(xp, -1))
    found = _between(x, xp, fp)
    for outside, value, index, line in (
        (below, left, 0, extrapolate[0]),
        (above, right, -1, extrapolate[1]),
    ):
        if not line:
            value = _end(fp, index) if value is None else value
            value, found = promote_dtypes("interp", value, found)
            found = compare.select(*broadcast("interp", (outside, value, found), True))
    return found


def _same_floats(*xs: Any) -> list[Any]:
    """Floats of one dtype; not broadcast, for the points have axes of their own."""
    promoted = [ufunc_operands.floats("interp", x)[0] for x in xs]
    return promote_dtypes("interp", *promoted)


def _end(x: Any, index: int) -> Any:
    """The first (0) or the last (-1) element of a 1-d array, without axes."""
    return index_in_dim(x, index, keepdims=False)


def _between(x: Any, xp: Any, fp: Any) -> Any:
    """On the line through the two points about each `x`; exact at the points themselves."""
    last = xp.aval.size - 1
    if last == 0:
        return broadcast_to(_end(fp, 0), x.aval.shape)
    place = arithmetic.sub(searchsorted(xp, x, "right"), 1)
    place = compare.clamp(0, place, last - 1)
    after = arithmetic.add(place, 1)
    x0, x1, f0, f1 = taken(xp, place), taken(xp, after), taken(fp, place), taken(fp, after)
    width = arithmetic.sub(x1, x0)
    rise, width = promote_dtypes("interp", arithmetic.sub(f1, f0), width)
    slope = arithmetic.div(rise, compare.select(compare.eq(width, 0), 1, width))
    at_end = compare.eq(x, x1)
    start, value = compare.select(at_end, x1, x0), compare.select(at_end, f1, f0)
    found = _on_line(slope, arithmetic.sub(x, start), value)
    # NaN of infinite values: then from the other point, and what both have in common.
    found = _unless_nan(found, _on_line(slope, arithmetic.sub(x, x1), f1), x)
    exact = binary.bitwise_or(compare.eq(f0, f1), compare.eq(x, start))
    return _unless_nan(found, compare.select(exact, value, math.nan), x)


def _on_line(slope: Any, distance: Any, value: Any) -> Any:
    slope, distance, value = promote_dtypes("interp", slope, distance, value)
    return arithmetic.add(arithmetic.mul(slope, distance), value)


def _unless_nan(found: Any, other: Any, x: Any) -> Any:
    """The number, or another where it is NaN though `x` is not."""
    found, other = promote_dtypes("interp", found, other)
    undefined = binary.bitwise_and(compare.ne(found, found), compare.eq(x, x))
    return compare.select(undefined, other, found)


@eager.function(static=())
def _interp_periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    x, xp, period = _same_floats(x, xp, period)
    period = unary.abs(period)
    (fp,) = promote_inexact("interp", fp)
    xp, fp = sort((remainder(xp, period), fp))
    size = xp.aval.size
    before = arithmetic.sub(slice_in_dim(xp, size - 1, size), period)
    after = arithmetic.add(slice_in_dim(xp, 0, 1), period)
    xp = concatenate([before, xp, after], 0)
    fp = concatenate([slice_in_dim(fp, size - 1, size), fp, slice_in_dim(fp, 0, 1)], 0)
    return _between(remainder(x, period), xp, fp)


# ---- unwrap ------------------------------------------------------------------------------------
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """The angles `p` without jumps: multiples of `period` are added so that steps are small.

    Steps along `axis` of more than `discont`, or half a period, are changed by periods until they
    are at most half a one.  Integers with an integer period stay integers, otherwise they become
    the default float.  Raises AxisError for an axis that is not there.

    >>> jnp.unwrap(jnp.array([0, 3, 1, 0, 3]), period=4)
    Array([ 0, -1, -3, -4, -5], dtype=int32)
    """
    p = array_like("unwrap", p)
    axis = axis_argument("unwrap", axis, p.aval.ndim)
    return _unwrap(p, discont, period, axis=axis)


@eager.function(static=("axis",))
def _unwrap(p: Any, discont: Any, period: Any, *, axis: int) -> Any:
    p, period = ufunc_operands.real_numbers("unwrap", p, period)
    size = p.aval.shape[axis]
    if size < 2:
        return p
    later = slice_in_dim(p, 1, size, axis=axis)
    step = arithmetic.sub(later, slice_in_dim(p, 0, size - 1, axis=axis))
    correction = arithmetic.sub(_small_step(step, period), step)
    bound = divide(period, 2) if discont is None else discont
    keep = compare.lt(*promote("unwrap", unary.abs(step), bound))
    correction = compare.select(keep, 0, correction)
    unwrapped = arithmetic.add(later, cumsum(correction, axis))
    return concatenate([slice_in_dim(p, 0, 1, axis=axis), unwrapped], axis)


def _small_step(step: Any, period: Any) -> Any:
    """The step, changed by periods to lie between -period/2 and period/2.

    Where both ends are possible, it keeps its sign.
    """
    if kind_of(step) == "float":
        high = arithmetic.div(period, 2)
    else:
        high = binary.floor_divide(period, 2)
    low = arithmetic.neg(high)
    changed = arithmetic.add(remainder(arithmetic.sub(step, low), period), low)
    both = compare.eq(arithmetic.sub(high, low), period)
    positive = binary.bitwise_and(compare.eq(changed, low), compare.gt(step, 0))
    return compare.select(binary.bitwise_and(positive, both), high, changed)
