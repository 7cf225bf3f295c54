"""Reductions that leave NaN out; means are in `statistics`, percentiles in `quantiles`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hloom.core.trace import Tracer
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import refuse_out
from hloom.numpy.common.operands import array_like
from hloom.numpy.common.reducing import (
    along,
    cast,
    initial_argument,
    is_inexact,
    keep,
    mask_argument,
    masked,
    reduced_axes,
)
from hloom.numpy.reductions import cumulative, reductions
from hloom.ops.pointwise.binary import bitwise_and
from hloom.ops.pointwise.compare import eq
from hloom.ops.reductions import reduce as lax
from hloom.ops.shapes.shape import reshape


def _without(name: str, a: Any, otherwise: float) -> Any:
    """The array with another number in place of NaN."""
    a = array_like(name, a)
    return masked(a, eq(a, a), otherwise) if is_inexact(a) else a


@eager.reduction
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False,
    initial: Any = None, where: Any = None,
) -> Any:  # fmt: skip
    """The sum over `axis` of the elements that are not NaN; 0 where there are none.

    Parameters, dtypes and errors are those of `sum`.

    >>> jnp.nansum(jnp.array([[1.0, jnp.nan], [3.0, 4.0]]), axis=0)
    Array([4., 4.], dtype=float32)
    """
    a = _without("nansum", a, 0)
    return reductions.fold("nansum", reductions.SUM, a, axis, dtype, out, keepdims, initial, where)


@eager.reduction
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False,
    initial: Any = None, where: Any = None,
) -> Any:  # fmt: skip
    """The product over `axis` of the elements that are not NaN; 1 where there are none.

    Parameters, dtypes and errors are those of `sum`.

    >>> jnp.nanprod(jnp.array([2.0, jnp.nan, 4.0]))
    Array(8., dtype=float32)
    """
    a = _without("nanprod", a, 1)
    return reductions.fold(
        "nanprod", reductions.PROD, a, axis, dtype, out, keepdims, initial, where
    )


@eager.function
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """The sum of each element and all before it along `axis`, with NaN as 0.

    Dtypes and errors are those of `cumsum`.

    >>> jnp.nancumsum(jnp.array([1.0, jnp.nan, 3.0]))
    Array([1., 1., 4.], dtype=float32)
    """
    refuse_out("nancumsum", out)
    return cumulative.scan("nancumsum", cumulative.SUM, _without("nancumsum", a, 0), axis, dtype)


@eager.function
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """The product of each element and all before it along `axis`, with NaN as 1.

    Dtypes and errors are those of `cumsum`.

    >>> jnp.nancumprod(jnp.array([2.0, jnp.nan, 3.0]))
    Array([2., 2., 6.], dtype=float32)
    """
    refuse_out("nancumprod", out)
    return cumulative.scan("nancumprod", cumulative.PROD, _without("nancumprod", a, 1), axis, dtype)


# ---- extremes -----------------------------------------------------------------------------------
def _extreme(
    name: str,
    how: reductions.Extreme,
    a: Any,
    axis: Any,
    out: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
) -> Any:
    a = array_like(name, a)
    if not is_inexact(a):
        return reductions.extreme(name, how, a, axis, out, keepdims, initial, where)
    refuse_out(name, out)
    shape = a.aval.shape
    axes = reduced_axes(name, axis, a.aval.ndim)
    reductions.check_extreme(name, how, shape, axes, initial, where)
    a = cast(a, a.aval.dtype)
    numbers = eq(a, a)
    if where is not None:
        numbers = bitwise_and(numbers, mask_argument(name, where, shape))
    found = how.reduce(masked(a, numbers, how.worst(a.aval.dtype)), axes)
    if initial is not None:
        found = how.combine(found, initial_argument(name, initial, found))
    else:
        found = masked(found, lax.reduce_or(numbers, axes), float("nan"))
    return keep(found, shape, axes, keepdims)


@reductions.fitted_reduction
def nanmax(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """The largest element over `axis` that is not NaN; NaN where there is none.

    Parameters and errors are those of `max`.  Differs from NumPy: no warning where all are NaN.

    >>> jnp.nanmax(jnp.array([[1.0, jnp.nan], [3.0, 4.0]]), axis=1)
    Array([1., 4.], dtype=float32)
    """
    return _extreme("nanmax", reductions.MAX, a, axis, out, keepdims, initial, where)


@reductions.fitted_reduction
def nanmin(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """The smallest element over `axis` that is not NaN; NaN where there is none.

    Parameters and errors are those of `max`.  Differs from NumPy: no warning where all are NaN.

    >>> jnp.nanmin(jnp.array([[1.0, jnp.nan], [3.0, 4.0]]), axis=1)
    Array([1., 3.], dtype=float32)
    """
    return _extreme("nanmin", reductions.MIN, a, axis, out, keepdims, initial, where)


# ---- places -------------------------------------------------------------------------------------
@eager.function
def _nanargmax(a: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    return _place("nanargmax", lax.argmax, lax.lowest, a, axis, out, keepdims)


@eager.function
def _nanargmin(a: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    return _place("nanargmin", lax.argmin, lax.highest, a, axis, out, keepdims)


def _place(
    name: str,
    find: Callable[..., Any],
    worst: Callable[..., Any],
    a: Any,
    axis: Any,
    out: Any,
    keepdims: Any,
) -> Any:
    a = array_like(name, a)
    if not is_inexact(a):
        return reductions.place(name, find, a, axis, out, keepdims)
    numbers = eq(a, a)
    found = reductions.place(
        name, find, masked(a, numbers, worst(a.aval.dtype)), axis, out, keepdims
    )
    numbers, along_axis = along(name, numbers, axis)
    some = lax.reduce_or(numbers, (along_axis,))
    if keepdims:
        some = keep(some, numbers.aval.shape, (along_axis,), True)
        some = some if axis is not None else reshape(some, found.aval.shape)
    return masked(found, some, -1)


def _checked(found: Any) -> Any:
    """The places; raises ValueError for one that is known not to be there."""
    if not isinstance(found, Tracer) and np.any(found._value() < 0):
        raise ValueError("All-NaN slice encountered: nanargmax and nanargmin need a number in each")
    return found


def nanargmax(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The place of the largest element along `axis`, or in the flat array, that is not NaN.

    Raises ValueError where all are NaN; traced, it gives -1 there.  Other errors and the dtype are
    those of `argmax`.

    >>> jnp.nanargmax(jnp.array([1.0, jnp.nan, 3.0]))
    Array(2, dtype=int32)
    """
    return _checked(_nanargmax(a, axis, out, keepdims))


def nanargmin(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The place of the smallest element along `axis`, or in the flat array, that is not NaN.

    Raises ValueError where all are NaN; traced, it gives -1 there.  Other errors and the dtype are
    those of `argmax`.

    >>> jnp.nanargmin(jnp.array([jnp.nan, 3.0, 1.0]))
    Array(2, dtype=int32)
    """
    return _checked(_nanargmin(a, axis, out, keepdims))
