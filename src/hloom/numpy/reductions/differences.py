"""Differences of neighbours, slopes, and areas under a curve."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axes_argument, axis_argument
from hloom.numpy.common.operands import array_like, broadcast_to, promote_dtypes, promote_inexact
from hloom.numpy.common.reducing import cast, cast_into, flat, is_inexact, kind_of, mean_dtype
from hloom.ops.common.linear import reduce_sum
from hloom.ops.pointwise.arithmetic import sub
from hloom.ops.pointwise.compare import ne
from hloom.ops.shapes.shape import reshape
from hloom.ops.shapes.slicing import concatenate, slice_in_dim


# ---- differences --------------------------------------------------------------------------------
def step(x: Any, axis: int) -> Any:
    """Each element less the one before it; of bools, whether they differ."""
    n = x.aval.shape[axis]
    if not n:
        return x
    later, earlier = slice_in_dim(x, 1, n, 1, axis), slice_in_dim(x, 0, n - 1, 1, axis)
    return ne(later, earlier) if kind_of(x) == "bool" else sub(later, earlier)


@eager.function(static=("n", "axis"))
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along `axis`, taken `n` times; each time one element less.

    `prepend` and `append` are put before and behind first: arrays, or one number.  Of bools it says
    whether neighbours differ.  Raises ValueError for a negative `n` or a 0-d array, AxisError for
    an axis that is not there.

    >>> jnp.diff(jnp.array([1, 4, 9, 16])), jnp.diff(jnp.array([1, 4, 9, 16]), n=2)
    (Array([3, 5, 7], dtype=int32), Array([2, 2], dtype=int32))
    """
    n = index(n)
    if n < 0:
        raise ValueError(f"diff: order must be non-negative but got {n}")
    a = array_like("diff", a)
    if n == 0:
        return a
    if not a.aval.shape:
        raise ValueError("diff requires input that is at least one dimensional; got a 0-d array")
    axis = axis_argument("diff", axis, a.aval)
    a = _extended(a, axis, prepend, append)
    for _ in range(n):
        a = step(a, axis)
    return a


def _extended(a: Any, axis: int, prepend: Any, append: Any) -> Any:
    given = [x if x is a else array_like("diff", x) for x in (prepend, a, append) if x is not None]
    one = tuple([1 if i == axis else n for i, n in enumerate(a.aval.shape)])
    parts = promote_dtypes("diff", *given)
    parts = [x if x.aval.shape else broadcast_to(x, one) for x in parts]
    return concatenate(parts, axis)


@eager.function(static=())
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours in the flat array, between `to_begin` and `to_end` if given.

    Raises TypeError when these don't fit the array's kind of dtype.

    >>> jnp.ediff1d(jnp.array([1, 4, 9]), to_begin=0)
    Array([0, 3, 5], dtype=int32)
    """
    ary = flat(array_like("ediff1d", ary))
    if kind_of(ary) == "bool":
        raise TypeError(
            f"ediff1d: bools can't be subtracted; got {ary.aval}. Convert: x.astype(int)."
        )
    parts = [step(ary, 0)]
    for name, given, at in (("to_begin", to_begin, 0), ("to_end", to_end, len(parts) + 1)):
        if given is None:
            continue
        given = array_like("ediff1d", given)
        if not np.can_cast(given.aval.dtype, ary.aval.dtype, "same_kind"):
            raise TypeError(
                f"ediff1d: dtype of `{name}` must be compatible with input `ary` under the "
                "`same_kind` rule; got "
                f"{given.aval} for {ary.aval}"
            )
        parts.insert(at, flat(cast_into(given, ary)))
    return concatenate(parts, 0)


# ---- slopes -------------------------------------------------------------------------------------
@eager.function(static=("axis", "edge_order"))
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slopes of samples along each axis: an array, or a tuple of one for each axis.

    Inside, second order differences of both neighbours; at the ends one-sided ones of `edge_order`
    1 or 2.  `varargs` are distances: one for all axes, or one for each, a number or the
    coordinates.  Integers become the default float.  Raises ValueError for too few elements,
    TypeError for another number of distances and for bools.

    >>> jnp.gradient(jnp.array([1.0, 2.0, 4.0, 7.0]))
    Array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """
    f = array_like("gradient", f)
    if kind_of(f) == "bool":
        raise TypeError(
            f"gradient: bools can't be subtracted; got {f.aval}. Convert: x.astype(int)."
        )
    (f,) = promote_inexact("gradient", f)
    axes = _axes(f, axis)
    distances = _distances(f, axes, varargs)
    order = 1 if edge_order is None else index(edge_order)
    if order not in (1, 2):
        raise ValueError(f"gradient: 'edge_order' must be 1 or 2; got {order}")
    slopes = []
    for i, d in zip(axes, distances):
        n = f.aval.shape[i]
        if n < order + 1:
            raise ValueError(
                "gradient: Shape of array too small to calculate a numerical gradient, at least "
                f"(edge_order + 1) elements are required; got {n} along axis {i} of {f.aval}"
            )
        slopes.append(_slopes(f, i, d, order))
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _axes(f: Any, axis: Any) -> list[int]:
    """The axes, in the order that they were given."""
    if axis is None:
        return list(range(f.aval.ndim))
    return list(axes_argument("gradient", axis, f.aval))


def _distances(f: Any, axes: list[int], given: Any) -> list[Any]:
    """The distance for each axis: 0-d, or those between neighbours, along their axis."""
    if not given:
        return [array_like("gradient", 1.0)] * len(axes)
    made = [array_like("gradient", d, i + 1) for i, d in enumerate(given)]
    if len(made) == 1 and not made[0].aval.shape:
        made = made * len(axes)
    if len(made) != len(axes):
        raise TypeError(
            f"gradient: invalid number of arguments: {len(made)} distances for {len(axes)} axes"
        )
    return [_distance(f, i, d) for i, d in zip(axes, made)]


def _distance(f: Any, axis: int, d: Any) -> Any:
    d = cast_into(d, f)
    if not d.aval.shape:
        return d
    if d.aval.ndim > 1:
        raise ValueError(f"gradient: distances must be either scalars or 1d; got {d.aval}")
    if d.aval.size != f.aval.shape[axis]:
        raise ValueError(
            "gradient: when 1d, distances must match the length of the corresponding dimension; "
            "got "
            f"{d.aval} for axis {axis} of {f.aval}"
        )
    apart = step(d, 0)
    return reshape(apart, [apart.aval.size if i == axis else 1 for i in range(f.aval.ndim)])


def _slopes(f: Any, axis: int, d: Any, order: int) -> Any:
    n = f.aval.shape[axis]

    def cut(x: Any, start: int, stop: int) -> Any:
        return slice_in_dim(x, start, stop, 1, axis)

    uniform = not d.aval.shape
    before, behind = (
        (d, d) if uniform else (cut(d, 0, n - 2), cut(d, 1, n - 1)) if n > 2 else (None, None)
    )
    parts = [_edge(cut, f, d, n, order, first=True)]
    if n > 2:
        low, middle, high = cut(f, 0, n - 2), cut(f, 1, n - 1), cut(f, 2, n)
        if uniform:
            parts.append((high - low) / (2.0 * d))
        else:
            both = before + behind
            parts.append(
                -behind / (before * both) * low
                + (behind - before) / (before * behind) * middle
                + before / (behind * both) * high
            )
    parts.append(_edge(cut, f, d, n, order, first=False))
    return concatenate([cast_into(x, f) for x in parts], axis)


def _edge(cut: Any, f: Any, d: Any, n: int, order: int, *, first: bool) -> Any:
    """The slope at one end, from there inwards."""
    at = [0, 1, 2] if first else [n - 1, n - 2, n - 3]
    gaps = [0, 1] if first else [n - 2, n - 3]
    values = [cut(f, i, i + 1) for i in at[: order + 1]]
    near, far = [d if not d.aval.shape else cut(d, i, i + 1) for i in gaps[:order]] + [None] * (
        2 - order
    )
    if order == 1:
        return (values[1] - values[0] if first else values[0] - values[1]) / near
    both = near + far
    terms = [
        (2.0 * near + far) / (near * both) * values[0],
        both / (near * far) * values[1],
        near / (far * both) * values[2],
    ]
    return -terms[0] + terms[1] - terms[2] if first else terms[2] - terms[1] + terms[0]


# ---- areas --------------------------------------------------------------------------------------
@eager.function(static=("axis",))
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The area under samples along `axis`, by the trapezoidal rule.

    They lie at the coordinates `x`, along the axis or of the shape of `y`, or `dx` apart.  Bools
    and integers become the default float.  Raises AxisError for an axis that is not there.

    >>> jnp.trapezoid(jnp.array([1.0, 2.0, 3.0])), jnp.trapezoid(jnp.array([1.0, 2.0, 3.0]), dx=2.0)
    (Array(4., dtype=float32), Array(8., dtype=float32))
    """
    y = array_like("trapezoid", y)
    axis = axis_argument("trapezoid", axis, y.aval)
    if not is_inexact(y):
        y = cast(y, mean_dtype(y.aval.dtype))
    n = y.aval.shape[axis]
    if x is None:
        width = array_like("trapezoid", dx, 2)
        if 0 < width.aval.ndim < y.aval.ndim:  # an array of widths is along the last axes
            new = (1,) * (y.aval.ndim - width.aval.ndim)
            width = reshape(width, new + width.aval.shape)
    else:
        x = array_like("trapezoid", x, 1)
        if x.aval.ndim == 1:
            width = step(x, 0)
            width = reshape(
                width, [width.aval.size if i == axis else 1 for i in range(y.aval.ndim)]
            )
        else:
            width = step(x, axis_argument("trapezoid", axis, x.aval))
    heights = slice_in_dim(y, min(1, n), n, 1, axis) + slice_in_dim(y, 0, max(n - 1, 0), 1, axis)
    areas = width * heights / 2.0
    total = reduce_sum(areas, (axis,))
    return cast(total, total.aval.dtype)
