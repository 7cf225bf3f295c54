"""Medians, percentiles and quantiles, by all of NumPy's methods.

The places that a quantile falls between are computed in float64, or in the dtype of an array `q`,
as NumPy does; the elements there are found by `order_statistics`, without sorting where that is
faster.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.context import current
from hloom.core.operands import from_numpy, unmasked
from hloom.core.support.known import known
from hloom.core.support.strict import refuse_sharding
from hloom.core.trace import Tracer
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axis_argument, refuse_out
from hloom.numpy.common.operands import array_like, broadcast_to
from hloom.numpy.common.reducing import (
    BOOL,
    FLOAT64,
    INT32,
    Axes,
    cast,
    cast_exactly,
    is_inexact,
    kind_of,
    masked,
    mean_dtype,
    reduced_axes,
    wide_dtype,
)
from hloom.numpy.common.sequences import leaves
from hloom.ops.common.linear import broadcast_in_dim, constant, full, reduce_sum, transpose
from hloom.ops.order.searching import order_statistics, searchsorted_p
from hloom.ops.order.sorting import argsort, take_along
from hloom.ops.pointwise.arithmetic import add, div, mul, sub
from hloom.ops.pointwise.binary import bitwise_and, bitwise_or, rem, shift_right_arithmetic
from hloom.ops.pointwise.binary import max as larger
from hloom.ops.pointwise.binary import min as smaller
from hloom.ops.pointwise.compare import eq, ge, lt, ne, select, select_n
from hloom.ops.pointwise.unary import RoundingMethod, ceil, floor
from hloom.ops.pointwise.unary import round as lax_round
from hloom.ops.reductions.cumulative import cumsum
from hloom.ops.reductions.reduce import reduce_or
from hloom.ops.shapes.shape import reshape
from hloom.ops.shapes.slicing import index_in_dim

# From so many elements on places are computed in float64: float32 has no half between them.
LARGE = 1 << 16


# ---- NumPy's methods ----------------------------------------------------------------------------
class Method(NamedTuple):
    """Where the quantile `q` of `n` elements lies, counted from 0; both floats of one dtype.

    A `discrete` method gives the place of an element.  For others the place may lie between two,
    and `weight(fraction)` is the share of the second.
    """

    place: Callable[[Any, Any], Any]
    weight: Callable[[Any], Any] = lambda fraction: fraction
    discrete: bool = False


def _number(value: float, like: Any) -> Any:
    return constant(value, like.aval.dtype)


def _times(x: Any, y: Any) -> Any:
    """The product rounded on its own: XLA would fuse it into the addition that follows."""
    product = mul(x, y)
    return select_n(eq(product, product), _number(float("nan"), x), product)


def _plus(x: Any, value: float) -> Any:
    return add(x, _number(value, x))


def _linear(n: Any, q: Any) -> Any:
    return _times(_plus(n, -1), q)


def _plotting(alpha: float, beta: float) -> Callable[[Any, Any], Any]:
    """The place by Hyndman and Fan's two parameters."""

    def place(n: Any, q: Any) -> Any:
        offset = _plus(_times(q, full(q.aval.shape, 1 - alpha - beta, q.aval.dtype)), alpha)
        return _plus(add(_times(n, q), offset), -1)

    return place


def _inverted(n: Any, q: Any) -> Any:
    return _plus(_times(n, q), -1)


def _not_below(place: Any) -> Any:
    """The place itself if it is whole, else the next one."""
    below = floor(place)
    return select(eq(place, below), below, _plus(below, 1))


def _closest(n: Any, q: Any) -> Any:
    place = _plus(_inverted(n, q), -0.5)
    below = floor(place)
    odd = eq(rem(below, _number(2, below)), _number(1, below))
    return select(bitwise_and(eq(place, below), odd), below, _plus(below, 1))


def _middle(n: Any, q: Any) -> Any:
    place = _linear(n, q)
    return mul(_number(0.5, place), add(floor(place), ceil(place)))


def _if_whole(then: float, otherwise: float) -> Callable[[Any], Any]:
    """A weight for places that are whole, and one for others."""

    def weight(fraction: Any) -> Any:
        shape, dtype = fraction.aval.shape, fraction.aval.dtype
        whole = eq(fraction, _number(0, fraction))
        return select(whole, full(shape, then, dtype), full(shape, otherwise, dtype))

    return weight


METHODS = {
    "inverted_cdf": Method(lambda n, q: _not_below(_inverted(n, q)), discrete=True),
    "averaged_inverted_cdf": Method(_inverted, _if_whole(0.5, 1.0)),
    "closest_observation": Method(_closest, discrete=True),
    "interpolated_inverted_cdf": Method(_plotting(0, 1)),
    "hazen": Method(_plotting(0.5, 0.5)),
    "weibull": Method(_plotting(0, 0)),
    "linear": Method(_linear),
    "median_unbiased": Method(_plotting(1 / 3, 1 / 3)),
    "normal_unbiased": Method(_plotting(3 / 8, 3 / 8)),
    "lower": Method(lambda n, q: floor(_linear(n, q)), discrete=True),
    "higher": Method(lambda n, q: ceil(_linear(n, q)), discrete=True),
    "midpoint": Method(_middle, _if_whole(0.0, 0.5)),
    "nearest": Method(
        lambda n, q: lax_round(_linear(n, q), RoundingMethod.TO_NEAREST_EVEN), discrete=True
    ),
}


# ---- the slices that are reduced ----------------------------------------------------------------
class Slices(NamedTuple):
    """An array and the axis of it that is reduced; `shape` and `axes` are those it had before."""

    x: Any
    axis: int
    shape: Axes
    axes: Axes

    @property
    def size(self) -> int:
        size: int = self.x.aval.shape[self.axis]
        return size

    @property
    def rest(self) -> Axes:
        """The axes that stay."""
        return tuple([n for i, n in enumerate(self.x.aval.shape) if i != self.axis])

    def have_nan(self) -> Any:
        """Which slices have a NaN in them."""
        return reduce_or(ne(self.x, self.x), (self.axis,))

    def numbers(self) -> Any:
        """How many elements of each slice are not NaN, i32."""
        return reduce_sum(cast(eq(self.x, self.x), INT32), (self.axis,))

    def finished(self, values: Any, leading: Axes, keepdims: bool) -> Any:
        """Results of shape (k, *rest), with axes `leading` in place of the first."""
        kept = [1 if i in self.axes else n for i, n in enumerate(self.shape)]
        return reshape(values, (*leading, *(kept if keepdims else self.rest)))


def slices_of(name: str, a: Any, axis: Any) -> Slices:
    """The slices over some axes, made one."""
    shape = a.aval.shape
    axes = reduced_axes(name, axis, a.aval.ndim)
    if len(axes) == 1:
        return Slices(a, axes[0], shape, axes)
    others = [i for i in range(a.aval.ndim) if i not in axes]
    rest = [shape[i] for i in others]
    x = reshape(transpose(a, [*others, *axes]), (*rest, prod(shape[i] for i in axes)))
    return Slices(x, len(rest), shape, axes)


# ---- median -------------------------------------------------------------------------------------
def _median(name: str, a: Any, axis: Any, out: Any, keepdims: bool, skip_nan: bool) -> Any:
    refuse_out(name, out)
    a = array_like(name, a)
    result = mean_dtype(a.aval.dtype)
    slices = slices_of(name, cast(a, a.aval.dtype), axis)
    if not slices.size:
        return slices.finished(full((1, *slices.rest), float("nan"), result), (), keepdims)
    shape = (1, *slices.rest)
    if skip_nan and is_inexact(a):
        n = reshape(slices.numbers(), shape)
        bad = eq(n, constant(0, INT32))
    else:
        n = full(shape, slices.size, INT32)
        bad = reshape(slices.have_nan(), shape) if is_inexact(a) else None
    one = constant(1, INT32)
    ranks = shift_right_arithmetic(sub(n, one), one)
    low, high = order_statistics(slices.x, ranks, slices.axis)
    low, high = (cast(x, wide_dtype(result)) for x in (low, high))
    odd = eq(bitwise_and(n, one), one)
    found = select(odd, low, div(add(low, high), constant(2, low.aval.dtype)))
    if bad is not None:
        found = select(bad, full(shape, float("nan"), found.aval.dtype), found)
    return slices.finished(cast(found, result), (), keepdims)


@eager.reduction
def median(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """The median over `axis`: the middle element, or the mean of the two in the middle.

    NaN where there is a NaN, and over no elements.  Bools and integers become the default float.
    Raises AxisError for an axis that is not there.

    >>> jnp.median(jnp.array([[7, 1, 3], [2, 9, 4]]), axis=1)
    Array([3., 4.], dtype=float32)
    """
    return _median("median", a, axis, out, keepdims, False)


@eager.reduction
def nanmedian(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """The median over `axis` of the elements that are not NaN; NaN where there are none.

    Dtypes and errors are those of `median`.

    >>> jnp.nanmedian(jnp.array([7.0, jnp.nan, 1.0, 3.0]))
    Array(3., dtype=float32)
    """
    return _median("nanmedian", a, axis, out, keepdims, True)


# ---- quantiles ----------------------------------------------------------------------------------
def _fractions(name: str, q: Any, whole: int) -> tuple[Any, Any]:
    """`q` as fractions, floats, and the dtype it brings along: None for a Python number.

    Numbers and lists are float64, as in NumPy.  Raises ValueError for known fractions that are not
    from 0 to `whole`.
    """
    if q.__class__ in (int, float, bool):
        return _of_number(name, q, whole), None
    if isinstance(q, (np.ndarray, np.generic)) or (isinstance(q, (list, tuple)) and _is_plain(q)):
        value = unmasked(q)
        given = from_numpy(value.astype(np.float64) if value.dtype.kind in "biu" else value, True)
    else:
        given = array_like(name, q)
    if kind_of(given) == "complex":
        raise TypeError(f"{name}: q must be real; got {given.aval}")
    own = mean_dtype(given.aval.dtype)
    if given.aval.dtype != FLOAT64:
        given = cast_exactly(given, wide_dtype(own))
    value = known(given)
    if value is not None:
        found = _checked_fractions(name, value, whole)
        if not isinstance(given, Tracer):  # whose derivative is needed
            return found, own
    return div(given, _number(whole, given)), own


@lru_cache(256)
def _of_number(name: str, q: float, whole: int) -> Array:
    return _checked_fractions(name, np.asarray(float(q)), whole)


def _checked_fractions(name: str, value: np.ndarray[Any, Any], whole: int) -> Array:
    if not np.all((value >= 0) & (value <= whole)):
        what = "Percentiles" if whole == 100 else "Quantiles"
        raise ValueError(f"{name}: {what} must be in the range [0, {whole}]; got {value}")
    return from_numpy(np.asarray(value / value.dtype.type(whole)), True)


def _is_plain(x: Any) -> bool:
    """Whether a nested list holds numbers only."""
    return not any(isinstance(each, Array) for each in leaves(x))


def _quantiles(
    name: str, whole: int, a: Any, q: Any, axis: Any, out: Any, method: Any, keepdims: Any,
    weights: Any,
    skip_nan: bool,
) -> Any:  # fmt: skip
    """The body of all four functions; what depends on values known here is checked here."""
    refuse_out(name, out)
    if method not in METHODS:
        raise ValueError(
            f"{name}: {method!r} is not a valid method. Use one of: {', '.join(METHODS)}"
        )
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"{name}: Only method 'inverted_cdf' supports weights. Got: {method}.")
        _check_weights(name, weights)
    fractions, q_dtype = _fractions(name, q, whole)
    rest = (name, q_dtype, skip_nan)
    return _quantile(a, weights, axis, keepdims, method, rest, fractions=fractions)


def _check_weights(name: str, weights: Any) -> None:
    value = known(array_like(name, weights))
    if value is None:
        return
    if np.any(value < 0):
        raise ValueError(f"{name}: Weights must be non-negative.")
    if not np.all(np.isfinite(value)) or not np.any(value):
        raise ValueError(f"{name}: Weights included NaN, inf or were all zero.")


@eager.function(static=("axis", "keepdims", "method", "rest"))
def _quantile(
    a: Any, weights: Any, axis: Any, keepdims: bool, method: str, rest: tuple[Any, ...],
    fractions: Any,
) -> Any:  # fmt: skip
    name, q_dtype, skip_nan = rest
    a = array_like(name, a)
    how = METHODS[method]
    _check_dtype(name, a, how)
    result = _result_dtype(a, q_dtype, how)
    slices = slices_of(name, cast(a, a.aval.dtype), axis)
    skip_nan = skip_nan and is_inexact(a)
    if not slices.size and not skip_nan:
        raise IndexError(
            f"{name}: a quantile of no elements: index -1 is out of bounds for axis {axis} with "
            "size 0"
        )
    count = fractions.aval.size
    shape = (count, *slices.rest)
    flat = broadcast_in_dim(reshape(fractions, (count,)), shape, (0,))
    if not slices.size:
        found = full(shape, float("nan"), result)
    elif weights is not None:
        found = _weighted(name, slices, flat, weights, skip_nan, a.aval.shape, axis)
    else:
        found = _interpolated(slices, flat, how, skip_nan, result)
    return slices.finished(cast(found, result), fractions.aval.shape, keepdims)


def _check_dtype(name: str, a: Any, how: Method) -> None:
    if kind_of(a) == "complex":
        raise TypeError(f"{name}: a must be an array of real numbers; got {a.aval}")
    if a.aval.dtype == BOOL and not how.discrete:
        raise TypeError(
            f"{name}: bools can't be interpolated; got {a.aval}. Convert them, x.astype(int), or "
            "take "
            "method='lower'."
        )


def _result_dtype(a: Any, q_dtype: Any, how: Method) -> np.dtype[Any]:
    if how.discrete:
        dtype: np.dtype[Any] = a.aval.dtype
        return dtype
    own = mean_dtype(a.aval.dtype)
    if q_dtype is None:
        return own
    return dtypes.join(((own, False), (q_dtype, False)), current.get().config.enable_x64)[0]


def _interpolated(
    slices: Slices, q: Any, how: Method, skip_nan: bool, result: np.dtype[Any]
) -> Any:
    """The quantiles, (k, *rest)."""
    shape = q.aval.shape
    if slices.size >= LARGE:
        q = cast_exactly(q, FLOAT64)
    if skip_nan:
        n = broadcast_in_dim(
            cast_exactly(slices.numbers(), q.aval.dtype), shape, range(1, len(shape))
        )
        bad = eq(n, _number(0, n))
    else:
        n = full(shape, slices.size, q.aval.dtype)
        bad = None
        if is_inexact(slices.x):
            bad = broadcast_in_dim(slices.have_nan(), shape, range(1, len(shape)))
    place = how.place(n, q)
    last = _plus(n, -1)
    below = larger(smaller(floor(place), last), _number(0, n))
    value, after = order_statistics(slices.x, cast_exactly(below, INT32), slices.axis)
    if not how.discrete:
        wide = wide_dtype(result)
        value, after = cast(value, wide), cast(after, wide)
        outside = bitwise_or(lt(place, _number(0, place)), ge(place, last))
        after = select(outside, value, after)
        weight = how.weight(sub(place, floor(place)))
        value = _lerp(value, after, cast(weight, wide))
    if bad is not None:
        value = select(bad, full(shape, float("nan"), value.aval.dtype), value)
    return value


def _lerp(a: Any, b: Any, t: Any) -> Any:
    """From `a` to `b`, exact at both ends, also if these are infinite."""
    dtype = a.aval.dtype
    gap = sub(b, a)
    from_a = add(a, mul(gap, t))
    from_b = sub(b, mul(gap, sub(constant(1, dtype), t)))
    between = select(ge(t, constant(0.5, dtype)), from_b, from_a)
    return select(bitwise_or(eq(a, b), eq(t, constant(0, dtype))), a, between)


# ---- with weights -------------------------------------------------------------------------------
def _weighted(
    name: str, slices: Slices, q: Any, weights: Any, skip_nan: bool, shape: Axes, axis: Any
) -> Any:
    """The first element at which the share of the weights up to it is at least `q`."""
    given = _spread_weights(name, array_like(name, weights), shape, axis)
    weights = cast_exactly(slices_of(name, given, axis).x, FLOAT64)
    x, along, size = slices.x, slices.axis, slices.size
    if skip_nan:
        weights = masked(weights, eq(x, x), 0)
    order = argsort(x, along)
    share = cumsum(take_along(weights, order, along), along)
    total = index_in_dim(share, size - 1, along)
    share = div(share, broadcast_in_dim(total, share.aval.shape, range(share.aval.ndim)))
    share = select(eq(share, constant(0, FLOAT64)), full(share.aval.shape, -1, FLOAT64), share)
    rows, wanted = _last(share, along), _last(cast_exactly(q, FLOAT64), 0)
    found = searchsorted_p(rows, wanted, side="left", index_dtype=INT32)
    found = smaller(found, constant(size - 1, INT32))
    ndim = found.aval.ndim
    places = transpose(found, [ndim - 1, *range(ndim - 1)])
    values, _ = order_statistics(x, places, along)
    bad = (
        reduce_or(ne(share, share), (along,))
        if skip_nan
        else slices.have_nan()
        if is_inexact(x)
        else None
    )
    if bad is None:
        return values
    bad = broadcast_in_dim(bad, values.aval.shape, range(1, ndim))
    return select(bad, full(values.aval.shape, float("nan"), values.aval.dtype), values)


def _last(x: Any, axis: int) -> Any:
    """The array with this axis last."""
    return transpose(x, [*[i for i in range(x.aval.ndim) if i != axis], axis])


def _spread_weights(name: str, weights: Any, shape: Axes, axis: Any) -> Any:
    """Weights of the data's shape; they may be given for the axis alone."""
    if weights.aval.shape == shape:
        return weights
    if axis is None:
        raise TypeError(f"{name}: Axis must be specified when shapes of a and weights differ.")
    axes = [
        axis_argument(name, i, len(shape))
        for i in (axis if isinstance(axis, (tuple, list)) else [axis])
    ]
    if weights.aval.shape != tuple([shape[i] for i in axes]):
        raise ValueError(
            f"{name}: Shape of weights must be consistent with shape of a along specified axis."
        )
    weights = transpose(weights, sorted(range(len(axes)), key=axes.__getitem__))
    return broadcast_to(
        reshape(weights, [n if i in axes else 1 for i, n in enumerate(shape)]), shape
    )


# ---- the four functions -------------------------------------------------------------------------
def quantile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The quantiles `q`, from 0 to 1, over `axis`; their axes come first.

    `method` says what to do between two elements: one of NumPy's thirteen.  `weights` count
    elements (with the method "inverted_cdf").  NaN where there is a NaN.  Raises ValueError for
    known `q` out of range, IndexError over no elements.  Differs from NumPy: between two equal
    infinities lies that infinity, not NaN; a Python number `q` does not widen float16 or bfloat16.

    >>> jnp.quantile(jnp.array([1.0, 2.0, 4.0, 8.0]), jnp.array([0.0, 0.5, 0.75]))
    Array([1., 3., 5.], dtype=float32)
    """
    return _quantiles("quantile", 1, a, q, axis, out, method, keepdims, weights, False)


def percentile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
    out_sharding: None = None,
) -> Any:  # fmt: skip
    """The percentiles `q`, from 0 to 100, over `axis`; their axes come first.

    Parameters and errors are those of `quantile`.

    >>> jnp.percentile(jnp.array([1, 2, 4, 8]), 75, method="lower")
    Array(4, dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("percentile", out_sharding)
    return _quantiles("percentile", 100, a, q, axis, out, method, keepdims, weights, False)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The quantiles `q`, from 0 to 1, over `axis`, of the elements that are not NaN.

    NaN where there are none.  Parameters and errors are those of `quantile`.

    >>> jnp.nanquantile(jnp.array([1.0, jnp.nan, 2.0, 4.0]), 0.5)
    Array(2., dtype=float32)
    """
    return _quantiles("nanquantile", 1, a, q, axis, out, method, keepdims, weights, True)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """The percentiles `q`, from 0 to 100, over `axis`, of the elements that are not NaN.

    NaN where there are none.  Parameters and errors are those of `quantile`.

    >>> jnp.nanpercentile(jnp.array([1.0, jnp.nan, 2.0, 4.0]), 25)
    Array(1.5, dtype=float32)
    """
    return _quantiles("nanpercentile", 100, a, q, axis, out, method, keepdims, weights, True)
