"""Counting: how often values occur, or fall into bins."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

import numpy as np

from hloom import errors
from hloom.core.array import Array
from hloom.core.operands import from_numpy
from hloom.core.support.known import is_known, known
from hloom.core.support.strict import refuse_sharding
from hloom.core.trace import Tracer
from hloom.numpy.common import eager
from hloom.numpy.common.operands import array_like, promote_inexact
from hloom.numpy.common.reducing import (
    FLOAT64,
    INT32,
    cast,
    cast_exactly,
    default_int,
    flat,
    kind_of,
    mean_dtype,
)
from hloom.numpy.order.searching import comparable, find
from hloom.numpy.reductions.differences import step
from hloom.ops.common.linear import broadcast_in_dim, constant, full, reduce_sum, spread_scalar
from hloom.ops.indexing.dimension_numbers import ScatterDimensionNumbers
from hloom.ops.indexing.gather import scatter_add
from hloom.ops.pointwise.arithmetic import add, div, mul, sub
from hloom.ops.pointwise.binary import bitwise_and, bitwise_or
from hloom.ops.pointwise.binary import max as larger
from hloom.ops.pointwise.compare import eq, ge, le, lt, select, select_n
from hloom.ops.reductions.reduce import reduce_max, reduce_min
from hloom.ops.shapes.shape import iota, reshape, rev
from hloom.ops.shapes.slicing import concatenate, index_in_dim, slice_in_dim, unstack


# ---- bincount -----------------------------------------------------------------------------------
def bincount(
    x: Any,
    weights: Any = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: None = None,
) -> Any:
    """How often each of 0, 1, 2, .. occurs in `x`, i32[n]; with weights, the sums of these.

    The result has `minlength` elements, or one more than the largest number.  Under a trace
    `length` must be given, and decides alone: larger numbers are left out, negative ones count as
    0.  Counts are of the default integer dtype, sums floats.  Raises ValueError for known negative
    numbers without `length`, for another number of axes, and weights of another shape; TypeError
    for what is no integers.

    >>> jnp.bincount(jnp.array([1, 3, 1]))
    Array([0, 2, 0, 1], dtype=int32)
    >>> jnp.bincount(jnp.array([1, 3, 1]), weights=jnp.array([0.5, 1.0, 2.0]))
    Array([0. , 2.5, 0. , 1. ], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("bincount", out_sharding)
    x = array_like("bincount", x)
    if isinstance(x, Array) and not x.aval.size and kind_of(x) == "float":
        x = cast(x, INT32)
    if kind_of(x) not in ("signed", "unsigned", "bool"):
        raise TypeError(f"bincount: x must be integers; got {x.aval}. Convert them: x.astype(int).")
    if x.aval.ndim != 1:
        raise ValueError(f"bincount: x must have one axis; got {x.aval}")
    if index(minlength) < 0:
        raise ValueError(f"bincount: 'minlength' must not be negative; got {minlength}")
    return _bincount(x, weights, length=_length(x, index(minlength), length))


def _length(x: Any, minlength: int, length: Any) -> int:
    if length is not None:
        return index(length)
    value = known(x)
    if value is None:
        raise errors.ConcretizationTypeError.parameter(
            "jnp.bincount(x, length=n)", "length", x.traced()
        )
    if not value.size:
        return minlength
    if int(value.min()) < 0:
        raise ValueError(
            f"bincount: 'list' argument must have no negative elements; got {value.min()}"
        )
    return max(int(value.max()) + 1, minlength)


@eager.function(static=("length",))
def _bincount(x: Any, weights: Any, length: int) -> Any:
    x = cast(x, INT32 if kind_of(x) == "bool" else x.aval.dtype)
    x = larger(x, constant(0, x.aval.dtype))
    if weights is None:
        return counted(x, full(x.aval.shape, 1, default_int()), length)
    weights = array_like("bincount", weights, 1)
    if weights.aval.shape != x.aval.shape:
        raise ValueError(
            f"bincount: the weights and list don't have the same length: {weights.aval}, {x.aval}"
        )
    return counted(x, cast(weights, mean_dtype(weights.aval.dtype)), length)


def counted(places: Any, weights: Any, length: int) -> Any:
    """The sum of the weights at each place from 0 to `length` - 1; others are left out."""
    zeros = full((length,), 0, weights.aval.dtype)
    if not places.aval.size or not length:
        return zeros
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    return scatter_add(zeros, reshape(places, (places.aval.size, 1)), weights, numbers, mode="drop")


# ---- digitize -----------------------------------------------------------------------------------
def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Any:
    """Into which bin each number falls: 0 is before the first edge, len(bins) behind the last.

    Edges ascend or descend.  `right` bins contain their upper edge, others their lower one.  The
    result has the shape of `x` and the default integer dtype.  Raises ValueError for known edges in
    no order, TypeError for complex numbers.

    >>> jnp.digitize(jnp.array([0.2, 6.4, 3.0]), jnp.array([0.0, 1.0, 2.5, 4.0]))
    Array([1, 4, 3], dtype=int32)
    """
    x, bins = array_like("digitize", x), array_like("digitize", bins, 1)
    if kind_of(x) == "complex":
        raise TypeError(f"digitize: x may not be complex; got {x.aval}")
    if bins.aval.ndim != 1:
        raise ValueError(f"digitize: bins must have one axis; got {bins.aval}")
    value = known(bins)
    if value is not None:
        apart = np.diff(value.astype(np.float64))
        if not (np.all(apart >= 0) or np.all(apart <= 0)):
            raise ValueError("digitize: bins must be monotonically increasing or decreasing")
    return _digitize(x, bins, side="left" if right else "right")


@eager.function(static=("side",))
def _digitize(x: Any, bins: Any, side: str) -> Any:
    n = bins.aval.size
    if not n:
        return full(x.aval.shape, 0, default_int())
    first, last = (index_in_dim(bins, i, keepdims=False) for i in (0, n - 1))
    falling = sub(constant(n, default_int()), find(rev(bins, (0,)), x, side))
    return select(spread_scalar(lt(last, first), x.aval.shape), falling, find(bins, x, side))


# ---- edges --------------------------------------------------------------------------------------
def _outer(name: str, a: Any, bounds: Any) -> tuple[Any, Any] | None:
    """The given bounds of all bins; None where they are those of the data.  Checks known ones."""
    if bounds is None:
        _check_finite(name, a)
        return None
    first, last = bounds
    if isinstance(first, Tracer) or isinstance(last, Tracer):
        return first, last
    first, last = float(first), float(last)
    if first > last:
        raise ValueError(f"{name}: max must be larger than min in range parameter; got {bounds}")
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError(f"{name}: supplied range of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _real(name: str, x: Any) -> Any:
    """The numbers or edges; raises TypeError for complex ones, which have no order."""
    if kind_of(x) == "complex":
        raise TypeError(
            f"{name}: complex numbers have no order to be counted in; got {x.aval}. Take a part or "
            "the size: x.real, x.imag or abs(x)."
        )
    return x


def _check_finite(name: str, a: Any) -> None:
    if not is_known(a) or kind_of(a) != "float" or not a.aval.size:
        return
    value = known(a).astype(np.float64)
    low, high = value.min(), value.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(
            f"{name}: autodetected range of [{low}, {high}] is not finite; pass range=(low, high)"
        )


def _bins_argument(
    name: str, a: Any, bins: Any, bounds: Any, weights: Any
) -> tuple[int | None, Any]:
    """The number of bins, or their edges."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(
                f"{name}: Automated estimation of the number of bins is not supported for weighted "
                "data; pass a number"
            )
        value = known(a)
        if value is None:
            raise errors.ConcretizationTypeError.parameter(
                f"jnp.{name}(a, bins={bins!r})", "a", a.traced()
            )
        return len(np.histogram_bin_edges(value, bins, bounds)) - 1, None
    edges = _real(name, array_like(name, bins, 1))
    if not edges.aval.shape:
        try:
            number = index(bins)
        except TypeError:
            raise TypeError(
                f"{name}: `bins` must be an integer, a string, or an array; got {bins!r:.60}"
            ) from None
        if number < 1:
            raise ValueError(f"{name}: `bins` must be positive, when an integer; got {number}")
        return number, None
    if edges.aval.ndim != 1:
        raise ValueError(f"{name}: `bins` must be 1d, when an array; got {edges.aval}")
    value = known(edges)
    if value is not None and np.any(value[:-1] > value[1:]):
        raise ValueError(f"{name}: `bins` must increase monotonically, when an array")
    return None, edges


def _even_edges(a: Any, outer: Sequence[Any], number: int) -> Any:
    """Edges of bins of one width, as NumPy computes them: of integers in float64.

    `outer` are the first and the last; where it is empty, those of the data.
    """
    exact = FLOAT64 if kind_of(a) != "float" else a.aval.dtype
    if not outer and a.aval.size:
        axes = tuple(range(a.aval.ndim))
        low, high = (cast_exactly(f(a, axes), exact) for f in (reduce_min, reduce_max))
        half = constant(0.5, exact)
        flat_range = eq(low, high)
        low, high = (
            select(flat_range, sub(low, half), low),
            select(flat_range, add(high, half), high),
        )
    else:
        low, high = outer or (0.0, 1.0)
        low, high = (cast_exactly(array_like("histogram", x), FLOAT64) for x in (low, high))
    dtype = low.aval.dtype
    width = div(sub(high, low), constant(number, dtype))
    places = mul(cast_exactly(iota(INT32, number + 1), dtype), width)
    places = select_n(eq(places, places), constant(float("nan"), dtype), places)  # no multiply-add
    edges = add(places, low)
    edges = concatenate([slice_in_dim(edges, 0, number), reshape(high, (1,))], 0)
    return cast_exactly(edges, exact)


# ---- histogram ----------------------------------------------------------------------------------
def _exactly(bounds: tuple[Any, Any] | None) -> list[Any]:
    """The bounds as operands, Python floats in float64 whatever x64 says; none for None."""
    return [
        from_numpy(np.asarray(x, np.float64), True) if isinstance(x, float) else x
        for x in bounds or ()
    ]


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins that `histogram` counts in.

    `bins` is their number, the edges themselves, or the name of one of NumPy's rules ("auto"),
    which needs known data.  `range` is from where to where, by default all data.  Raises ValueError
    for edges in no order, and ranges that are not finite.

    >>> jnp.histogram_bin_edges(jnp.array([0.0, 1.0, 4.0]), bins=4)
    Array([0., 1., 2., 3., 4.], dtype=float32)
    """
    a = _real("histogram_bin_edges", array_like("histogram_bin_edges", a))
    number, edges = _bins_argument("histogram_bin_edges", a, bins, range, weights)
    if number is None:
        return edges
    bounds = _outer("histogram_bin_edges", a, range)
    return _edges(a, number=number, outer=_exactly(bounds))


@eager.function(static=("number",), sequences=("outer",))
def _edges(a: Any, number: int, outer: Sequence[Any]) -> Any:
    edges = _even_edges(a, outer, number)
    return cast(edges, mean_dtype(edges.aval.dtype))


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, Any]:
    """How many numbers fall into each bin, and the edges of the bins.

    A bin contains its lower edge, the last one both.  `bins` and `range` are those of
    `histogram_bin_edges`.  Counts are of the default integer dtype; with weights they are sums of
    these, with `density` floats: the area under all bins is 1.  Raises ValueError for weights of
    another shape, and what `histogram_bin_edges` raises.  Differs from NumPy, which sorts complex
    numbers by their real parts, in that these are a TypeError.

    >>> jnp.histogram(jnp.array([1, 2, 1, 4]), bins=3)
    (Array([2, 1, 1], dtype=int32), Array([1., 2., 3., 4.], dtype=float32))
    """
    a = _real("histogram", array_like("histogram", a))
    if weights is not None:
        weights = array_like("histogram", weights, 4)
        if weights.aval.shape != a.aval.shape:
            raise ValueError(
                f"histogram: weights should have the same shape as a; got {weights.aval} and "
                f"{a.aval}"
            )
    number, edges = _bins_argument("histogram", a, bins, range, weights)
    bounds = _outer("histogram", a, range) if edges is None else None
    outer = _exactly(bounds)
    found, made = _histogram(a, edges, weights, number=number, density=bool(density), outer=outer)
    return found, made


@eager.function(static=("number", "density"), sequences=("outer",))
def _histogram(
    a: Any, edges: Any, weights: Any, number: int | None, density: bool, outer: Sequence[Any]
) -> tuple[Any, Any]:
    given = edges
    if edges is None:
        edges = _even_edges(a, outer, number)  # type: ignore[arg-type]
    count = edges.aval.size - 1
    x = flat(cast(a, a.aval.dtype if kind_of(a) != "bool" else INT32))
    places = _bins_of(x, edges)
    if weights is None:
        weights = full(x.aval.shape, 1, default_int())
    found = counted(places, flat(cast(weights, weights.aval.dtype)), count)
    if density:
        widths = step(edges, 0)
        found, widths = promote_inexact("histogram", found, cast(widths, mean_dtype(INT32)))
        total = reduce_sum(found, (0,))
        found = div(div(found, widths), spread_scalar(total, found.aval.shape))
    return found, given if given is not None else cast(edges, mean_dtype(edges.aval.dtype))


def _bins_of(x: Any, edges: Any) -> Any:
    """The bin of each number, or one beyond the last bin for those in none; NaN is in none."""
    n = edges.aval.size
    number = constant(n - 1, default_int())
    place = sub(find(edges, x, "right"), constant(1, default_int()))
    x, last = comparable(x, index_in_dim(edges, n - 1))
    last = spread_scalar(reshape(last, ()), x.aval.shape)
    place = select(eq(x, last), full(x.aval.shape, n - 2, default_int()), place)
    inside = bitwise_and(ge(place, constant(0, default_int())), le(x, last))
    return select(inside, place, spread_scalar(number, x.aval.shape))


# ---- in several dimensions ----------------------------------------------------------------------
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    """How many points fall into each cell of a grid, and the edges of the bins along each axis.

    `sample` is f32[n,d], or a sequence of d arrays of coordinates.  `bins` is a number for all
    axes, or a sequence of numbers and edges, one for each; `range` a sequence of bounds or None.
    Counts are floats.  Raises ValueError where there are not as many bins or ranges as axes, and
    what `histogram` raises.

    >>> counts, edges = jnp.histogramdd(jnp.array([[0.0, 0.0], [1.0, 2.0], [1.0, 1.0]]), bins=2)
    >>> counts
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    columns = [_real("histogramdd", x) for x in _coordinates(sample)]
    d = len(columns)
    each = _for_each("bins", bins, d)
    bounds = [None] * d if range is None else _for_each("range", range, d)
    edges, axes, outer = [], [], []
    for x, b, r in zip(columns, each, bounds):
        number, given = _bins_argument("histogramdd", x, b, r, None)
        pair = _exactly(_outer("histogramdd", x, r) if given is None else None)
        edges.append(given)
        axes.append((number, len(pair)))
        outer += pair
    found, *made = _histogramdd(
        *columns, *edges, weights, axes=tuple(axes), density=bool(density), outer=outer
    )
    return found, made


def _coordinates(sample: Any) -> list[Any]:
    """The coordinates of all points along each axis."""
    if isinstance(sample, (list, tuple)):
        columns = [array_like("histogramdd", x) for x in sample]
    else:
        sample = array_like("histogramdd", sample)
        if sample.aval.ndim == 1:
            return [sample]
        if sample.aval.ndim != 2:
            raise ValueError(
                f"histogramdd: sample must have two axes, points and coordinates; got {sample.aval}"
            )
        columns = list(unstack(sample, 1))
    if any(x.aval.ndim != 1 or x.aval.shape != columns[0].aval.shape for x in columns):
        raise ValueError(
            "histogramdd: coordinates must be vectors of one length; got "
            f"{', '.join(str(x.aval) for x in columns)}"
        )
    return columns


def _for_each(what: str, given: Any, d: int) -> Sequence[Any]:
    """One for each axis."""
    if (
        isinstance(given, str)
        or not hasattr(given, "__len__")
        or getattr(given, "shape", None) == ()
    ):
        return [given] * d
    if len(given) != d:
        words = (
            "The dimension of bins must be equal to the dimension of the sample x."
            if what == "bins"
            else ("range argument must have one entry per dimension")
        )
        raise ValueError(f"histogramdd: {words} Got {len(given)} for {d} axes.")
    return list(given)


@eager.function(static=("axes", "density"), sequences=("outer",))
def _histogramdd(
    *given: Any, axes: tuple[tuple[int | None, int], ...], density: bool, outer: Sequence[Any]
) -> tuple[Any, ...]:
    """`axes`: for each the number of bins, None for given edges, and of its bounds in `outer`."""
    d, bounds = len(axes), iter(outer)
    columns, edges, weights = given[:d], list(given[d : 2 * d]), given[2 * d]
    for i, (number, bounded) in enumerate(axes):
        if number is not None:
            pair = [next(bounds) for _ in [None] * bounded]
            edges[i] = _even_edges(columns[i], pair, number)
    shape = tuple([e.aval.size - 1 for e in edges])
    n = columns[0].aval.size
    place = full((n,), 0, default_int())
    outside = full((n,), False, np.dtype(bool))
    for x, e, size in zip(columns, edges, shape):
        one = _bins_of(cast(x, x.aval.dtype), e)
        outside = bitwise_or(outside, eq(one, constant(size, default_int())))
        place = add(mul(place, constant(size, default_int())), one)
    cells = prod(shape)
    place = select(outside, full((n,), cells, default_int()), place)
    if weights is None:
        weights = full((n,), 1, mean_dtype(INT32))
    weights = array_like("histogramdd", weights)
    found = reshape(counted(place, cast(weights, mean_dtype(weights.aval.dtype)), cells), shape)
    made = [
        e if number is None else cast(e, mean_dtype(e.aval.dtype))
        for e, (number, _) in zip(edges, axes)
    ]
    return _dense(found, edges) if density else found, *made


def _dense(found: Any, edges: Sequence[Any]) -> Any:
    """Counts over their sum and the size of each cell."""
    total = reduce_sum(found, tuple(range(found.aval.ndim)))
    for i, e in enumerate(edges):
        widths = cast(step(e, 0), found.aval.dtype)
        found = div(found, broadcast_in_dim(widths, found.aval.shape, (i,)))
    return div(found, spread_scalar(total, found.aval.shape))


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Any, Any, Any]:
    """How many points fall into each cell of a grid, and the edges along both axes.

    `bins` is a number, edges for both axes, or a pair of numbers or edges.  Counts are floats.
    Raises ValueError when `x` and `y` differ in length, and what `histogramdd` raises.

    >>> x, y = jnp.array([0.0, 1.0, 1.0]), jnp.array([0.0, 2.0, 1.0])
    >>> counts, _, _ = jnp.histogram2d(x, y, bins=2)
    >>> counts
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    x, y = array_like("histogram2d", x), array_like("histogram2d", y, 1)
    if x.aval.shape != y.aval.shape:
        raise ValueError(
            f"histogram2d: x and y must have the same length; got {x.aval} and {y.aval}"
        )
    if hasattr(bins, "__len__") and not isinstance(bins, str) and len(bins) not in (1, 2):
        bins = [array_like("histogram2d", bins, 2)] * 2
    found, (first, second) = histogramdd([x, y], bins, range, density, weights)
    return found, first, second
