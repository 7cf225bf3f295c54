"""`pad`: the array with elements added around it, in every mode NumPy has.

Axes are padded one after the other, each over the whole of what is there by then: in the corners
the last axis decides.  Modes that repeat elements of the array (edge, reflect, symmetric, wrap) ask
NumPy, on the host, which places they repeat; the data moves by slices and reversals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.errors import UnsupportedError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import count_argument
from hloom.numpy.common.operands import array_like, broadcast_to
from hloom.numpy.common.reducing import cast_into, weak_as
from hloom.numpy.indexing.insert_delete_repeat import pick
from hloom.numpy.reductions import quantiles, reductions, statistics
from hloom.numpy.shapes.vectorize import apply_along_axis
from hloom.ops.common.linear import broadcast_in_dim, constant
from hloom.ops.pointwise.arithmetic import add, div, mul, sub
from hloom.ops.pointwise.convert import convert_element_type, convert_element_type_p
from hloom.ops.pointwise.unary import RoundingMethod, floor, round
from hloom.ops.shapes.shape import broadcasted_iota, reshape, rev
from hloom.ops.shapes.slicing import concatenate, slice_in_dim
from hloom.ops.shapes.slicing import pad as lax_pad

Pair = tuple[int, int]
RUNS = 16  # so many slices at most; beyond, a gather


class Plan(NamedTuple):
    """What is static: `lengths` are None where a statistic takes in the whole axis."""

    mode: str
    widths: tuple[Pair, ...]
    lengths: tuple[Pair, ...] | None = None
    odd: bool = False


# Mode: what may be given beside it.
OPTIONS = {
    "constant": "constant_values", "edge": None, "empty": None, "linear_ramp": "end_values",
    "maximum": "stat_length", "mean": "stat_length", "median": "stat_length",
    "minimum": "stat_length", "reflect": "reflect_type", "symmetric": "reflect_type", "wrap": None,
}  # fmt: skip


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """The array with `pad_width` elements added before and after it, along every axis.

    `pad_width` is one number, a pair (before, after), a pair for each axis, or a dict of pairs by
    axis.  What is added depends on `mode`: "constant" (`constant_values`), "edge", "empty",
    "linear_ramp" (`end_values`), "maximum", "mean", "median", "minimum" (`stat_length`),
    "reflect", "symmetric" (`reflect_type`) or "wrap".  A function as `mode` is given each vector,
    padded with zeros, its pair of widths, the axis and the other arguments, and returns the vector
    to put in its place.

    Raises ValueError for an unknown mode, arguments that it does not take and negative widths,
    TypeError for widths that are no integers.  Differs from NumPy: "empty" gives zeros; a function
    can't change the vector that it is given.

    >>> jnp.pad(jnp.array([1, 2]), (1, 2), constant_values=9)
    Array([9, 1, 2, 9, 9], dtype=int32)
    >>> jnp.pad(jnp.array([1, 2, 3]), 2, mode="reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    x = array_like("pad", array)
    widths = _widths(pad_width, x.aval)
    if callable(mode):
        return _pad_by(x, widths, mode, kwargs)
    if not isinstance(mode, str) or mode not in OPTIONS:
        raise UnsupportedError(
            f"pad: mode {mode!r:.60} is not supported; there are {', '.join(OPTIONS)}"
        )
    others = set(kwargs) - {OPTIONS[mode]}
    if others:
        raise ValueError(f"pad: unsupported keyword arguments for mode {mode!r}: {others}")
    if mode not in ("constant", "empty"):
        for axis, (n, pair) in enumerate(zip(x.aval.shape, widths)):
            if not n and any(pair):
                raise ValueError(
                    f"pad: can't extend empty axis {axis} of {x.aval} using modes other than "
                    "'constant' or 'empty'"
                )
    given = [x]
    if kwargs and mode in ("constant", "linear_ramp"):
        given.append(array_like("pad", kwargs[OPTIONS[mode]], 1))
    lengths = kwargs.get("stat_length")
    plan = Plan(
        mode,
        widths,
        None if lengths is None else _pairs("stat_length", lengths, x.aval.ndim),
        kwargs.get("reflect_type", "even") == "odd",
    )
    return _pad(given, plan)


def _widths(pad_width: Any, x: ShapedArray) -> tuple[Pair, ...]:
    if isinstance(pad_width, dict):
        whole: list[Any] = [(0, 0)] * x.ndim
        for axis, pair in pad_width.items():
            place = count_argument("pad", "axis", axis)
            if not -x.ndim <= place < x.ndim:
                raise IndexError(f"pad: pad_width names axis {place}, and {x} has {x.ndim} axes")
            whole[place] = _pairs("pad_width", pair, 1)[0]
        return tuple(whole)
    return _pairs("pad_width", pad_width, x.ndim)


def _pairs(name: str, given: Any, ndim: int) -> tuple[Pair, ...]:
    """A pair of counts for each axis; raises what NumPy raises."""
    if given.__class__ is int and given >= 0:
        return ((given, given),) * ndim
    value = np.asarray(given)
    if value.dtype.kind not in "iu":
        if name == "pad_width" or value.dtype.kind not in "f":
            raise TypeError(f"pad: `{name}` must be of integral type; got {given!r:.60}")
        value = np.round(value).astype(int)
    try:
        pairs = np.broadcast_to(value, (ndim, 2)).tolist()
    except ValueError:
        raise ValueError(
            f"pad: {name} of shape {value.shape} can't be broadcast to a pair for each of "
            f"{ndim} axes, {(ndim, 2)}"
        ) from None
    if value.size and value.min() < 0:
        raise ValueError(f"pad: {name}: index can't contain negative values; got {given!r:.60}")
    return tuple([(before, after) for before, after in pairs])


def _pad_by(x: Array, widths: tuple[Pair, ...], function: Any, kwargs: Any) -> Array:
    """Padding by the user's function of vectors."""
    x = _pad([x], Plan("constant", widths))
    for axis, pair in enumerate(widths):
        made = apply_along_axis(function, axis, x, pair, axis, kwargs)
        if made.aval.shape != x.aval.shape:
            raise ValueError(
                f"pad: the function given as mode must return a vector of the length it was given, "
                f"{x.aval.shape[axis]}, on axis {axis}"
            )
        x = made
    return x


@eager.planned_sequence
def _pad(xs: Sequence[Any], plan: Plan) -> Any:
    x = xs[0]
    ndim = x.aval.ndim
    value = xs[1] if len(xs) > 1 else constant(0, np.dtype("int32"), True)
    if plan.mode in ("constant", "empty"):
        value = cast_into(value, x)
        if not value.aval.ndim:
            return lax_pad(x, value, [(before, after, 0) for before, after in plan.widths])
    values = _value_pairs(value, ndim)
    for axis, pair in enumerate(plan.widths):
        if any(pair):
            x = _MODES[plan.mode](x, axis, pair, plan, values[axis])
    return x


def _value_pairs(value: Any, ndim: int) -> list[tuple[Any, Any]]:
    """A pair of 0-d values for each axis."""
    shape = (ndim, 2)
    try:
        np.broadcast_to(np.empty(value.aval.shape, bool), shape)
    except ValueError:
        raise ValueError(
            f"pad: values of type {value.aval} can't be broadcast to a pair for each of {ndim} axes"
        ) from None
    whole = broadcast_to(value, shape)

    def at(i: int, j: int) -> Any:
        row = slice_in_dim(slice_in_dim(whole, i, i + 1, 1, 0), j, j + 1, 1, 1)
        return reshape(row, ())

    return [(at(i, 0), at(i, 1)) for i in range(ndim)]


# ---- modes: an axis of x, padded ----------------------------------------------------------------
def _constant(x: Any, axis: int, pair: Pair, plan: Plan, values: tuple[Any, Any]) -> Any:
    for side, width in enumerate(pair):
        config = [(0, 0, 0)] * x.aval.ndim
        config[axis] = (0, width, 0) if side else (width, 0, 0)
        x = lax_pad(x, values[side], config)
    return x


def _repeated(x: Any, axis: int, pair: Pair, plan: Plan, values: Any) -> Any:
    """Modes whose every element is one of the array: NumPy says which."""
    size = x.aval.shape[axis]
    return at_places(x, np.pad(np.arange(size), pair, mode=plan.mode), axis)


def at_places(x: Any, places: Any, axis: int) -> Any:
    """The slices of `x` at places known on the host, put together from runs where there are few."""
    parts, start = [], 0
    while start < len(places):
        step = int(places[start + 1] - places[start]) if start + 1 < len(places) else 1
        end = start + 1
        if abs(step) <= 1:
            while end < len(places) and places[end] - places[end - 1] == step:
                end += 1
        parts.append(_run(x, int(places[start]), end - start, step if end > start + 1 else 1, axis))
        start = end
        if len(parts) > RUNS:
            return pick(x, array_like("pad", places.astype(np.int32)), axis)
    return concatenate(parts, axis)


def _run(x: Any, first: int, count: int, step: int, axis: int) -> Any:
    if step == 1:
        return slice_in_dim(x, first, first + count, 1, axis)
    if step == -1:
        return rev(slice_in_dim(x, first - count + 1, first + 1, 1, axis), (axis,))
    return _widened(slice_in_dim(x, first, first + 1, 1, axis), axis, count)


def _widened(x: Any, axis: int, count: int) -> Any:
    """An axis of size 1 repeated."""
    shape = [count if i == axis else n for i, n in enumerate(x.aval.shape)]
    return broadcast_in_dim(x, shape, range(x.aval.ndim))


def _reflected(x: Any, axis: int, pair: Pair, plan: Plan, values: Any) -> Any:
    size = x.aval.shape[axis]
    if not plan.odd:
        return _repeated(x, axis, pair, plan, values)
    if size == 1 and plan.mode == "reflect":
        return at_places(x, np.pad(np.arange(1), pair, mode="edge"), axis)
    # Odd: turned round the edge element.  What is longer than the array is made in several goes.
    skip = int(plan.mode == "reflect")
    before, after = pair
    while before or after:
        now = x.aval.shape[axis]
        most = (now - skip) // (size - skip) * (size - skip)
        low, high = min(before, most), min(after, most)
        left = rev(slice_in_dim(x, skip, skip + low, 1, axis), (axis,))
        right = rev(slice_in_dim(x, now - skip - high, now - skip, 1, axis), (axis,))
        x = concatenate([_turned(x, 0, left, axis), x, _turned(x, now - 1, right, axis)], axis)
        before, after = before - low, after - high
    return x


def _turned(x: Any, edge: int, part: Any, axis: int) -> Any:
    """2 * edge - part"""
    at = _widened(slice_in_dim(x, edge, edge + 1, 1, axis), axis, part.aval.shape[axis])
    return sub(mul(constant(2, x.aval.dtype, True), at), part)


def _ramp(x: Any, axis: int, pair: Pair, plan: Plan, values: tuple[Any, Any]) -> Any:
    """Evenly from the end value to the edge, in double precision, as NumPy does."""
    kind = x.aval.kind
    wide = np.dtype("complex128" if kind == "complex" else "float64")
    size, sides = x.aval.shape[axis], []
    for side, width in enumerate(pair):
        place = size - 1 if side else 0
        edge = _exactly(slice_in_dim(x, place, place + 1, 1, axis), wide)
        end = broadcast_in_dim(_exactly(values[side], wide), edge.aval.shape, ())
        step = _widened(div(sub(edge, end), constant(max(width, 1), wide)), axis, width)
        shape = step.aval.shape
        position = _exactly(broadcasted_iota(np.int32, shape, axis), wide)
        made = add(mul(position, step), _widened(end, axis, width))
        made = floor(made) if kind in ("signed", "unsigned") else made
        sides.append(weak_as(convert_element_type(made, x.aval.dtype), x, values[side]))
    return concatenate([sides[0], x, rev(sides[1], (axis,))], axis)


def _exactly(x: Any, wide: np.dtype[Any]) -> Any:
    """The array in a 64-bit dtype, also while those are off."""
    return convert_element_type_p(x, new_dtype=wide, weak_type=False)


def _statistic(x: Any, axis: int, pair: Pair, plan: Plan, values: Any) -> Any:
    size, sides = x.aval.shape[axis], []
    for side, width in enumerate(pair):
        length = size if plan.lengths is None else min(plan.lengths[axis][side], size)
        if not length and plan.mode in ("maximum", "minimum"):
            raise ValueError("pad: stat_length of 0 yields no value for padding")
        part = slice_in_dim(x, size - length if side else 0, size if side else length, 1, axis)
        found = _STATISTICS[plan.mode](part, axis=axis, keepdims=True)
        if dtypes.in_domain(x.aval.dtype, "integer") and plan.mode in ("mean", "median"):
            found = round(found, RoundingMethod.TO_NEAREST_EVEN)
        found = weak_as(convert_element_type(found, x.aval.dtype), x)
        sides.append(_widened(found, axis, width))
    return concatenate([sides[0], x, sides[1]], axis)


_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": reductions.max,
    "mean": statistics.mean,
    "median": quantiles.median,
    "minimum": reductions.min,
}
_MODES: dict[str, Callable[..., Any]] = {
    "constant": _constant,
    "edge": _repeated,
    "linear_ramp": _ramp,
    "maximum": _statistic,
    "mean": _statistic,
    "median": _statistic,
    "minimum": _statistic,
    "reflect": _reflected,
    "symmetric": _reflected,
    "wrap": _repeated,
}
