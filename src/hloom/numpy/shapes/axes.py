"""Axes: which one is meant, and the functions that reorder, reverse and rotate along them.

All of them but `roll` end in one of two programs, a transposition or a reversal, after what they
were asked for is worked out on the host.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array
from hloom.core.support.known import is_known
from hloom.errors import ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import (
    _listed,
    axes_argument,
    axis_argument,
    count_argument,
    refuse_data,
)
from hloom.numpy.common.operands import array_like
from hloom.ops.common.linear import constant, spread_scalar
from hloom.ops.common.linear import transpose as lax_transpose
from hloom.ops.indexing.dynamic_slicing import dynamic_slice_in_dim, dynamic_update_slice_in_dim
from hloom.ops.pointwise.arithmetic import add, sub
from hloom.ops.pointwise.binary import mod
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import reshape, rev
from hloom.ops.shapes.slicing import concatenate, slice_in_dim

Axes = tuple[int, ...]
INT32 = np.dtype("int32")


# ---- order of axes ------------------------------------------------------------------------------
@eager.planned
def _transpose(x: Any, permutation: Axes) -> Any:
    return lax_transpose(x, permutation)


def transpose(a: Any, axes: Any = None) -> Array:
    """The array with its axes in the order `axes`, or reversed.

    Raises ValueError unless `axes` names every axis once, AxisError for one that is not there.

    >>> jnp.transpose(jnp.ones((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    x = array_like("transpose", a)
    if axes is None:
        return _transpose(x, tuple(range(x.aval.ndim))[::-1])
    refuse_data("transpose", "axes", axes)
    many = axes if isinstance(axes, (tuple, list)) else _listed(axes)
    if len(many) != x.aval.ndim:
        raise ShapeError(
            f"transpose: axes don't match array: {tuple(many)} for {x.aval}, which has "
            f"{x.aval.ndim} axes"
        )
    return _transpose(x, axes_argument("transpose", many, x.aval, "axes"))


def method_transpose(self: Array, *axes: Any) -> Array:
    """The array with its axes in another order; see `hloom.numpy.transpose`.

    >>> jnp.ones((2, 3)).transpose(1, 0).shape
    (3, 2)
    """
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        return transpose(self, axes[0])
    return transpose(self, axes or None)


def permute_dims(a: Any, /, axes: Any) -> Array:
    """The array with its axes in the order `axes`.

    Raises what `transpose` raises.

    >>> jnp.permute_dims(jnp.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return transpose(a, axes)


def matrix_transpose(x: Any, /) -> Array:
    """The array with its last two axes swapped.

    Raises ValueError for fewer than two axes.

    >>> jnp.matrix_transpose(jnp.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    x = array_like("matrix_transpose", x)
    ndim = x.aval.ndim
    if ndim < 2:
        raise ValueError(
            f"matrix_transpose: input array must be at least 2-dimensional, but it is {x.aval}"
        )
    return _transpose(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def swapaxes(a: Any, axis1: Any, axis2: Any) -> Array:
    """The array with two of its axes swapped.

    Raises AxisError for an axis that is not there.

    >>> jnp.swapaxes(jnp.ones((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    x = array_like("swapaxes", a)
    i = axis_argument("swapaxes", axis1, x.aval, "axis1")
    j = axis_argument("swapaxes", axis2, x.aval, "axis2")
    order = list(range(x.aval.ndim))
    order[i], order[j] = j, i
    return _transpose(x, tuple(order))


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """The array with the axes `source` at the places `destination`; the others keep their order.

    Raises AxisError for an axis that is not there, ValueError for one given twice, or when there
    are not as many places as axes.

    >>> jnp.moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = array_like("moveaxis", a)
    taken = axes_argument("moveaxis", source, x.aval, "source")
    places = axes_argument("moveaxis", destination, x.aval, "destination")
    if len(taken) != len(places):
        raise ValueError(
            "moveaxis: `source` and `destination` arguments must have the same number of elements; "
            f"got {source} and {destination}"
        )
    order = [i for i in range(x.aval.ndim) if i not in taken]
    for place, axis in sorted(zip(places, taken)):
        order.insert(place, axis)
    return _transpose(x, tuple(order))


def rollaxis(a: Any, axis: Any, start: Any = 0) -> Array:
    """The array with `axis` moved back until it comes before the axis `start`.

    Raises AxisError for an axis that is not there.  `moveaxis` is easier to read.

    >>> jnp.rollaxis(jnp.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = array_like("rollaxis", a)
    ndim = x.aval.ndim
    taken = axis_argument("rollaxis", axis, x.aval)
    place = count_argument("rollaxis", "start", start)
    if not -ndim <= place <= ndim:
        raise errors.AxisError(
            f"'start' arg requires {-ndim} <= start < {ndim + 1}, but {place} was passed in"
        )
    place += ndim if place < 0 else 0
    order = [i for i in range(ndim) if i != taken]
    order.insert(place - (taken < place), taken)
    return _transpose(x, tuple(order))


# ---- order of elements --------------------------------------------------------------------------
@eager.planned
def _flip(x: Any, axes: Axes) -> Any:
    return rev(x, axes)


def flip(m: Any, axis: Any = None) -> Array:
    """The array with the order of its elements reversed, along all axes or those in `axis`.

    Raises AxisError for an axis that is not there, ValueError for one given twice.

    >>> jnp.flip(jnp.array([[1, 2], [3, 4]]), 1)
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    x = array_like("flip", m)
    if axis is None:
        return _flip(x, tuple(range(x.aval.ndim)))
    return _flip(x, axes_argument("flip", axis, x.aval))


def _of_rank(name: str, a: Any, ndim: int) -> Array:
    x = array_like(name, a)
    if x.aval.ndim < ndim:
        raise ValueError(f"{name}: Input must be >= {ndim}-d; got {x.aval}")
    return x


def fliplr(m: Any) -> Array:
    """The array with its columns (axis 1) in reverse order.

    Raises ValueError for fewer than two axes.

    >>> jnp.fliplr(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return _flip(_of_rank("fliplr", m, 2), (1,))


def flipud(m: Any) -> Array:
    """The array with its rows (axis 0) in reverse order.

    Raises ValueError for a 0-d array.

    >>> jnp.flipud(jnp.array([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return _flip(_of_rank("flipud", m, 1), (0,))


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Array:
    """The array turned by 90 degrees `k` times, from the first of the two `axes` to the second.

    Raises ValueError unless there are two different axes.

    >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    x = array_like("rot90", m)
    if len(axes) != 2:
        raise ValueError(f"rot90: len(axes) must be 2; got {tuple(axes)}")
    i, j = (axis_argument("rot90", axis, x.aval, "axes") for axis in axes)
    if i == j:
        raise ValueError(f"rot90: Axes must be different; got {tuple(axes)}")
    return _turn(x, (count_argument("rot90", "k", k) % 4, i, j))


@eager.planned
def _turn(x: Any, plan: tuple[int, int, int]) -> Any:
    quarters, i, j = plan
    if quarters in (0, 2):
        return rev(x, (i, j)) if quarters else x
    order = list(range(x.aval.ndim))
    order[i], order[j] = j, i
    if quarters == 1:
        return lax_transpose(rev(x, (j,)), order)
    return rev(lax_transpose(x, order), (j,))


# ---- roll ---------------------------------------------------------------------------------------
def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """The array with its elements moved by `shift` places; what leaves at the end enters in front.

    Without `axis` the array is rolled as if it were flat.  Several axes may be given, with a shift
    each or one for all.  Shifts may be traced.

    Raises AxisError for an axis that is not there, TypeError for shifts that are no integers,
    ValueError when there are not as many shifts as axes.

    >>> jnp.roll(jnp.arange(5), 2)
    Array([3, 4, 0, 1, 2], dtype=int32)
    """
    x = array_like("roll", a)
    refuse_data("roll", "shift", shift)
    refuse_data("roll", "axis", axis)
    shifts = _shifts(shift)
    if axis is None:
        return _roll(x, _total(x, shifts, x.aval.size), axes=None)
    axes = axis if isinstance(axis, (tuple, list)) else _listed(axis)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(
            f"roll: shape mismatch: {len(shifts)} shifts for {len(axes)} axes; give one for each"
        )
    count = max(len(shifts), len(axes)) if shifts and axes else 0
    axes, shifts = ([*z] * (count // max(len(z), 1)) for z in (axes, shifts))
    each: dict[int, list[Any]] = {}
    for one, amount in zip(axes, shifts):
        each.setdefault(axis_argument("roll", one, x.aval), []).append(amount)
    totals = [_total(x, amounts, x.aval.shape[i]) for i, amounts in each.items()]
    return _roll(x, *totals, axes=tuple(each))


def _shifts(shift: Any) -> list[Any]:
    """Python integers, and traced 0-d ones."""
    if isinstance(shift, (tuple, list)):
        return [s for each in shift for s in _shifts(each)]
    if isinstance(shift, (np.ndarray, Array)) and shift.ndim:
        if shift.ndim > 1:
            raise ValueError("roll: 'shift' and 'axis' should be scalars or 1D sequences")
        return [s for i in range(shift.shape[0]) for s in _shifts(shift[i])]
    if not is_known(shift):
        if dtypes.in_domain(shift.aval.dtype, "integer"):
            return [shift]
        raise TypeError(f"roll shifts by integers; got {shift.aval}; use shift.astype(int)")
    try:
        return [index(shift)]
    except TypeError:
        raise TypeError(f"roll shifts by integers; got {shift!r:.60}") from None


def _total(x: Array, shifts: list[Any], size: int) -> Any:
    """The sum of shifts along one axis, within its size where it is known."""
    known = sum(s for s in shifts if isinstance(s, int)) % max(size, 1)
    traced = [_within(s, size) for s in shifts if not isinstance(s, int)]
    if not traced:
        return known
    total = constant(known, INT32)
    for s in traced:
        total = add(total, s)
    return total


def _within(shift: Any, size: int) -> Any:
    """A traced shift as an int32 from 0 to size - 1."""
    if shift.aval.dtype.itemsize < 4:  # the size may not fit the shift's own dtype
        shift = convert_element_type(shift, INT32)
    return convert_element_type(mod(shift, constant(max(size, 1), shift.aval.dtype)), INT32)


@eager.function(static=("axes",))
def _roll(x: Any, *shifts: Any, axes: Axes | None) -> Any:
    if axes is None:
        return reshape(_roll(reshape(x, (x.aval.size,)), *shifts, axes=(0,)), x.aval.shape)
    for axis, shift in zip(axes, shifts):
        size = x.aval.shape[axis]
        if isinstance(shift, int):
            x = _moved_on(x, shift, axis) if shift else x
        elif size:
            # An operand: a loop over shifts compiles once.
            start = sub(constant(size, INT32), _within(shift, size))
            x = dynamic_slice_in_dim(concatenate([x, x], axis), start, size, axis)
    return x


def _moved_on(x: Any, shift: int, axis: int) -> Any:
    """The two parts written into a fresh array: of 1e6 elements 53 us, by concatenation 231."""
    aval, cut = x.aval, x.aval.shape[axis] - shift
    zero = constant(False if aval.kind == "bool" else 0, aval.dtype, aval.weak_type)
    fresh = spread_scalar(zero, aval.shape)
    front, back = (slice_in_dim(x, *ends, 1, axis) for ends in ((cut, None), (0, cut)))
    fresh = dynamic_update_slice_in_dim(fresh, front, 0, axis)
    return dynamic_update_slice_in_dim(fresh, back, shift, axis)
