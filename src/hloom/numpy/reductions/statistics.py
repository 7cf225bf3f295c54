"""Means, variances, and how samples vary together."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.support.known import known
from hloom.errors import ArgumentError, ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axis_argument, dtype_argument, refuse_out
from hloom.numpy.common.operands import (
    array_like,
    broadcast_shapes,
    broadcast_to,
    promote_inexact,
    result_dtype,
)
from hloom.numpy.common.reducing import (
    Axes,
    cast,
    count,
    is_inexact,
    keep,
    kind_of,
    mask_argument,
    masked,
    mean_dtype,
    real_dtype,
    reduced_axes,
    wide_dtype,
)
from hloom.ops.common.linear import broadcast_in_dim, constant, reduce_sum, transpose
from hloom.ops.pointwise.arithmetic import div, mul, neg, sub
from hloom.ops.pointwise.binary import bitwise_and
from hloom.ops.pointwise.binary import max as larger
from hloom.ops.pointwise.compare import clamp, eq, gt
from hloom.ops.pointwise.complex import complex as complex_of
from hloom.ops.pointwise.complex import conj, imag, real
from hloom.ops.pointwise.unary import sqrt
from hloom.ops.products.dot import dot_general
from hloom.ops.shapes.shape import broadcasted_iota, reshape
from hloom.ops.shapes.slicing import concatenate


# ---- mean ---------------------------------------------------------------------------------------
def dtypes_of_mean(name: str, a: Any, dtype: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The dtype to sum in, and that of the mean."""
    result = mean_dtype(a.aval.dtype) if dtype is None else dtype_argument(name, dtype)
    return wide_dtype(result), result


def mean_over(x: Any, mask: Any, axes: Axes) -> Any:
    """The mean over axes, which are kept with size 1, in the dtype of `x`; of integers a float."""
    shape = x.aval.shape
    total = reduce_sum(x if mask is None else masked(x, mask, 0), axes)
    if not is_inexact(total):
        total = cast(total, mean_dtype(total.aval.dtype))
    return keep(div(total, number_of(shape, mask, axes, total.aval.dtype)), shape, axes, True)


def number_of(shape: Axes, mask: Any, axes: Axes, dtype: np.dtype[Any]) -> Any:
    """How many elements each result is made of, a number of the dtype."""
    if mask is None:
        return constant(count(shape, axes), dtype)
    return reduce_sum(cast(mask, dtype), axes)


def mean_of(
    name: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, where: Any, skip_nan: bool
) -> Any:
    """The body of `mean` and `nanmean`."""
    refuse_out(name, out)
    a = array_like(name, a)
    shape = a.aval.shape
    axes = reduced_axes(name, axis, a.aval.ndim)
    wide, result = dtypes_of_mean(name, a, dtype)
    mask = chosen(name, a, where, skip_nan)
    found = cast(mean_over(cast(a, wide), mask, axes), result)
    return found if keepdims else reshape(found, [n for i, n in enumerate(shape) if i not in axes])


def chosen(name: str, a: Any, where: Any, skip_nan: bool) -> Any:
    """Which elements count; None where all do."""
    mask = None if where is None else mask_argument(name, where, a.aval.shape)
    if not skip_nan or not is_inexact(a):
        return mask
    numbers = eq(a, a)
    return numbers if mask is None else bitwise_and(numbers, mask)


@eager.reduction
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *,
    where: Any = None,
) -> Any:  # fmt: skip
    """The mean over `axis`; NaN over no elements.

    Bools and integers become the default float; narrow floats are summed in float32.  `where`
    chooses elements.  Raises AxisError for an axis that is not there.

    >>> jnp.mean(jnp.array([[1, 2], [3, 5]]), axis=0)
    Array([2. , 3.5], dtype=float32)
    """
    return mean_of("mean", a, axis, dtype, out, keepdims, where, False)


@eager.reduction
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *,
    where: Any = None,
) -> Any:  # fmt: skip
    """The mean over `axis` of the elements that are not NaN; NaN where there are none.

    Dtypes and errors are those of `mean`.

    >>> jnp.nanmean(jnp.array([1.0, jnp.nan, 3.0]))
    Array(2., dtype=float32)
    """
    return mean_of("nanmean", a, axis, dtype, out, keepdims, where, True)


# ---- variance -----------------------------------------------------------------------------------
def variance(
    name: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: Any, where: Any,
    mean: Any,
    correction: Any, *, root: bool = False, skip_nan: bool = False,
) -> Any:  # fmt: skip
    """The body of `var`, `std` and of those that skip NaNs."""
    refuse_out(name, out)
    if correction is not None and ddof:
        raise ValueError(
            f"{name}: ddof and correction can't be provided simultaneously; they mean the same"
        )
    a = array_like(name, a)
    skip_nan = skip_nan and is_inexact(a)
    shape = a.aval.shape
    axes = reduced_axes(name, axis, a.aval.ndim)
    wide, result = dtypes_of_mean(name, a, dtype)
    if a.aval.kind == "complex" and dtypes.kind(result) != "complex":
        raise ArgumentError(
            f"{name}: dtype {result.name} would drop the imaginary parts of {a.aval}; take "
            f"jnp.{name}(x.real), or give a complex dtype"
        )
    mask = chosen(name, a, where, skip_nan)
    x = cast(a, wide)
    center = mean_over(x, mask, axes) if mean is None else _given_mean(name, mean, shape)
    apart = sub(x, broadcast_to(cast(center, x.aval.dtype), shape))
    apart = apart if mask is None else masked(apart, mask, 0)  # squared NaN: 0 * NaN, backwards
    total = reduce_sum(squares(apart), axes)
    if not is_inexact(total):
        total = cast(total, mean_dtype(total.aval.dtype))
    freedom = sub(
        number_of(shape, mask, axes, total.aval.dtype), _number(correction, ddof, total.aval.dtype)
    )
    found = div(total, freedom if skip_nan else larger(freedom, constant(0, total.aval.dtype)))
    if skip_nan:
        found = masked(found, gt(freedom, constant(0, freedom.aval.dtype)), float("nan"))
    found = cast(sqrt(found) if root else found, real_dtype(result) if dtype is None else result)
    return keep(found, shape, axes, keepdims)


def _number(correction: Any, ddof: Any, dtype: np.dtype[Any]) -> Any:
    return constant(float(ddof if correction is None else correction), dtype)


def _given_mean(name: str, mean: Any, shape: Axes) -> Any:
    mean = array_like(name, mean)
    if broadcast_shapes(name, [mean.aval.shape, shape]) != shape:
        raise ShapeError(
            f"{name}: `mean` must have a shape as mean(x, axis, keepdims=True) has; got "
            f"{mean.aval} for {shape}"
        )
    return mean


def squares(x: Any) -> Any:
    """The squared absolute values, real numbers."""
    if kind_of(x) != "complex":
        return mul(x, x)
    return real(mul(x, conj(x)))


@eager.reduction
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0,
    keepdims: bool = False, *,
    where: Any = None, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The variance over `axis`: the mean squared distance from the mean.

    The sum of squares is divided by the number of elements less `ddof` (or `correction`, its other
    name); NaN where nothing is left.  `mean`, with kept axes, saves computing it.  Bools and
    integers become the default float; the variance of complex numbers is real unless `dtype` says
    otherwise.  Raises AxisError
    for an axis that is not there.  Differs from NumPy: narrow floats are computed in float32.

    >>> jnp.var(jnp.array([1, 2, 3, 4])), jnp.var(jnp.array([1, 2, 3, 4]), ddof=1)
    (Array(1.25, dtype=float32), Array(1.6666666, dtype=float32))
    """
    return variance("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@eager.reduction
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0,
    keepdims: bool = False, *,
    where: Any = None, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The standard deviation over `axis`: the square root of the variance.

    Parameters, dtypes and errors are those of `var`.

    >>> jnp.std(jnp.array([[1.0, 3.0], [2.0, 8.0]]), axis=1)
    Array([1., 3.], dtype=float32)
    """
    return variance("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction, root=True)


@eager.reduction
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0,
    keepdims: bool = False, *,
    where: Any = None, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The variance over `axis` of the elements that are not NaN.

    NaN where no more than `ddof` are left.  Parameters, dtypes and errors are those of `var`.

    >>> jnp.nanvar(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    return variance(
        "nanvar", a, axis, dtype, out, ddof, keepdims, where, mean, correction, skip_nan=True
    )


@eager.reduction
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0,
    keepdims: bool = False, *,
    where: Any = None, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The standard deviation over `axis` of the elements that are not NaN.

    Parameters, dtypes and errors are those of `nanvar`.

    >>> jnp.nanstd(jnp.array([1.0, jnp.nan, 5.0]))
    Array(2., dtype=float32)
    """
    return variance(
        "nanstd",
        a,
        axis,
        dtype,
        out,
        ddof,
        keepdims,
        where,
        mean,
        correction,
        root=True,
        skip_nan=True,
    )


# ---- weighted mean ------------------------------------------------------------------------------
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """The mean over `axis`, each element counted as often as its weight says.

    `weights` has the shape of `a`, or that of its axes `axis`.  With `returned` the sum of the
    weights comes second.  Raises ZeroDivisionError when known weights sum to zero, TypeError or
    ValueError for weights of another shape.

    >>> jnp.average(jnp.array([1.0, 2.0, 3.0]), weights=jnp.array([3, 1, 0]))
    Array(1.25, dtype=float32)
    """
    found, total = _average(a, axis, weights, keepdims)
    value = known(total) if weights is not None and isinstance(total, Array) else None
    if value is not None and not np.all(value):
        raise ZeroDivisionError("average: weights sum to zero, can't be normalized")
    return (found, total) if returned else found


@eager.function(static=("axis", "keepdims"))
def _average(a: Any, axis: Any, weights: Any, keepdims: bool) -> tuple[Any, Any]:
    a = array_like("average", a)
    axes = reduced_axes("average", axis, a.aval.ndim)
    if weights is None:
        found = mean_of("average", a, axis, None, None, keepdims, None, False)
        number = constant(count(a.aval.shape, axes), found.aval.dtype)
        return found, broadcast_to(number, found.aval.shape)
    weights = array_like("average", weights)
    if weights.aval.shape != a.aval.shape:
        weights = _spread_weights(a, weights, axis)
    a, weights = promote_inexact("average", a, weights)
    result = a.aval.dtype
    a, weights = (broadcast_to(cast(x, wide_dtype(result)), a.aval.shape) for x in (a, weights))
    total = reduce_sum(weights, axes)
    found = div(reduce_sum(mul(a, weights), axes), total)
    found, total = (keep(cast(x, result), a.aval.shape, axes, keepdims) for x in (found, total))
    return found, total


def _spread_weights(a: Any, weights: Any, axis: Any) -> Any:
    """Weights for some axes, with axes of size 1 in the place of the others."""
    shape = a.aval.shape
    if axis is None:
        raise ArgumentError(
            f"average: axis must be specified when shapes of a and weights differ; got {a.aval} "
            f"and {weights.aval}"
        )
    given = [axis] if not isinstance(axis, (tuple, list)) else axis
    axes = [axis_argument("average", i, len(shape)) for i in given]
    if weights.aval.shape != tuple([shape[i] for i in axes]):
        raise ShapeError(
            "average: shape of weights must be consistent with shape of a along specified axis; "
            "got "
            f"{weights.aval} for axis {axis} of {a.aval}"
        )
    weights = transpose(weights, sorted(range(len(axes)), key=axes.__getitem__))
    return broadcast_to(
        reshape(weights, [n if i in axes else 1 for i, n in enumerate(shape)]), shape
    )


# ---- covariance ---------------------------------------------------------------------------------
@eager.function(static=("rowvar", "bias", "ddof", "dtype"))
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """The covariances of variables, a square matrix; of a single variable its variance, 0-d.

    Each row of `m` (each column, unless `rowvar`) holds the samples of one variable; `y` has more
    of them.  Sums are divided by the number of samples less `ddof`, which is 1, or 0 if `bias`.
    `fweights`, integers, say how often each sample was seen; `aweights` how much it counts.  Raises
    ValueError for more than two axes, RuntimeError for weights of another length.

    >>> jnp.cov(jnp.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"cov: ddof must be integer; got {ddof}")
    x, result = _samples(m, y, rowvar, dtype)
    if not x.aval.shape[0]:
        return reshape(cast(x, result), (0, 0))
    ddof = (0 if bias else 1) if ddof is None else ddof
    x, other, freedom = _centered(x, *_sample_weights(x, fweights, aweights), ddof)
    other = conj(other) if kind_of(x) == "complex" else other
    found = dot_general(x, other, (((1,), (1,)), ((), ())))
    share = div(constant(1, freedom.aval.dtype), freedom)
    found = cast(mul(found, cast(share, x.aval.dtype)), result)
    return reshape(found, [n for n in found.aval.shape if n != 1])


def _centered(x: Any, weights: Any, counted: Any, ddof: int) -> tuple[Any, Any, Any]:
    """Samples less their means; the same weighted; what the sum of products is divided by."""
    part = real_dtype(x.aval.dtype)
    if weights is None:
        x = sub(x, broadcast_to(mean_over(x, None, (1,)), x.aval.shape))
        return x, x, constant(max(x.aval.shape[1] - ddof, 0), part)
    total = reduce_sum(weights, (0,))
    freedom = sub(total, mul(constant(ddof, part), cast(counted, part)))
    weights = broadcast_to(cast(weights, x.aval.dtype), x.aval.shape)
    center = div(reduce_sum(mul(x, weights), (1,)), cast(total, x.aval.dtype))
    x = sub(x, broadcast_in_dim(center, x.aval.shape, (0,)))
    return x, mul(x, weights), larger(freedom, constant(0, part))


def _samples(m: Any, y: Any, rowvar: bool, dtype: Any) -> tuple[Any, np.dtype[Any]]:
    """The variables as rows, in the dtype to compute in; and the dtype of the result."""
    given = [array_like("cov", x) for x in ((m,) if y is None else (m, y))]
    if any(x.aval.ndim > 2 for x in given):
        raise ShapeError(
            f"cov: samples have at most 2 axes; got {', '.join(str(x.aval) for x in given)}"
        )
    rows = [_as_rows(x, rowvar) for x in given]
    if len(rows) == 2 and rows[0].aval.shape[1] != rows[1].aval.shape[1]:
        raise ShapeError(
            f"cov: both arrays need the same number of samples; got {given[0].aval} and "
            f"{given[1].aval}"
        )
    common = result_dtype(rows)[0]
    result = mean_dtype(common) if dtype is None else dtype_argument("cov", dtype)
    if not dtypes.in_domain(result, "inexact"):
        raise ArgumentError(
            f"cov: dtype is float or complex, since it divides; got {result.name}. Round what it "
            f"gives: jnp.round(jnp.cov(m)).astype({result.name!r})."
        )
    rows = [cast(x, wide_dtype(result)) for x in rows]
    return concatenate(rows, 0), result


def _as_rows(x: Any, rowvar: bool) -> Any:
    if x.aval.ndim < 2:
        return reshape(x, (1, x.aval.size))
    return x if rowvar else transpose(x, (1, 0))


def _sample_weights(x: Any, fweights: Any, aweights: Any) -> tuple[Any, Any]:
    """The weight of each sample or None, and what one degree of freedom counts."""
    part = real_dtype(x.aval.dtype)
    made = []
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            made.append(None)
            continue
        given = array_like("cov", given)
        if given.aval.ndim > 1:
            raise RuntimeError(f"cov: cannot handle multidimensional {name}; got {given.aval}")
        if given.aval.shape != x.aval.shape[1:]:
            raise RuntimeError(
                f"cov: incompatible numbers of samples and {name}: {x.aval.shape[1]} and "
                f"{given.aval}"
            )
        made.append(cast(given, part))
    counts, shares = made
    if shares is None:
        return counts, constant(1, part)
    weights = shares if counts is None else mul(counts, shares)
    return weights, div(reduce_sum(mul(weights, shares), (0,)), reduce_sum(weights, (0,)))


@eager.function(static=("rowvar", "dtype"))
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlations of variables, from -1 to 1: their covariances over their deviations.

    Parameters and errors are those of `cov`.

    >>> jnp.corrcoef(jnp.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    found = cov(x, y, rowvar, dtype=dtype)
    if not found.aval.shape:
        return div(found, found)
    size = found.aval.shape[0]
    places = broadcasted_iota(np.int32, (size, size), 0)
    diagonal = eq(places, broadcasted_iota(np.int32, (size, size), 1))
    deviations = cast(
        sqrt(real_part(reduce_sum(masked(found, diagonal, 0), (1,)))), found.aval.dtype
    )
    found = div(found, broadcast_in_dim(deviations, (size, size), (0,)))
    found = div(found, broadcast_in_dim(deviations, (size, size), (1,)))
    one = constant(1, real_dtype(found.aval.dtype))
    if kind_of(found) != "complex":
        return clamp(neg(one), found, one)
    return complex_of(clamp(neg(one), real(found), one), clamp(neg(one), imag(found), one))


def real_part(x: Any) -> Any:
    """The real part; real numbers as they are."""
    return real(x) if kind_of(x) == "complex" else x
