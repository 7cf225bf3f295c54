"""Running sums and products along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axis_argument, dtype_argument, refuse_out
from hloom.numpy.common.operands import array_like
from hloom.numpy.common.reducing import BOOL, along, cast, is_inexact, masked, total_dtype
from hloom.ops.common.linear import full
from hloom.ops.pointwise.compare import eq
from hloom.ops.reductions import cumulative as lax
from hloom.ops.shapes.shape import reshape
from hloom.ops.shapes.slicing import concatenate


class Scan(NamedTuple):
    """A running total: of numbers, and of bools, where `dtype=bool` asks for those."""

    identity: int
    numbers: Callable[..., Any]
    bools: Callable[..., Any]


SUM = Scan(0, lax.cumsum, lax.cummax)
PROD = Scan(1, lax.cumprod, lax.cummin)


def scan(name: str, how: Scan, a: Any, axis: Any, dtype: Any, *, skip_nan: bool = False) -> Any:
    """The running total of an array along an axis, or of the flat array."""
    a, axis = along(name, array_like(name, a), axis)
    if skip_nan and is_inexact(a):
        a = masked(a, is_number(a), how.identity)
    a = cast(a, total_dtype(a.aval.dtype) if dtype is None else dtype_argument(name, dtype))
    return (how.bools if a.aval.dtype == BOOL else how.numbers)(a, axis)


def is_number(x: Any) -> Any:
    """Where the elements are not NaN."""
    return eq(x, x)


@eager.function
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """The sum of each element and all before it along `axis`, or of the flat array.

    Without `dtype`, bools and narrow integers are summed in the default integer; with `dtype=bool`
    it says whether any was true so far.  Raises AxisError for an axis that is not there.

    >>> jnp.cumsum(jnp.array([[1, 2], [3, 4]]), axis=1)
    Array([[1, 3],
           [3, 7]], dtype=int32)
    """
    refuse_out("cumsum", out)
    return scan("cumsum", SUM, a, axis, dtype)


@eager.function
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """The product of each element and all before it along `axis`, or of the flat array.

    Dtypes and errors are those of `cumsum`.

    >>> jnp.cumprod(jnp.array([1, 2, 3, 4]))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    refuse_out("cumprod", out)
    return scan("cumprod", PROD, a, axis, dtype)


def _cumulative(
    name: str, how: Scan, x: Any, axis: Any, dtype: Any, out: Any, include_initial: Any
) -> Any:
    refuse_out(name, out)
    x = array_like(name, x)
    if x.aval.ndim > 1 and axis is None:
        raise ValueError(
            f"{name}: for arrays which have more than one dimension `axis` is required; "
            f"got {x.aval}"
        )
    if not x.aval.shape:
        x = reshape(x, (1,))
    axis = 0 if axis is None else axis_argument(name, axis, x.aval.ndim)
    found = scan(name, how, x, axis, dtype)
    if not include_initial:
        return found
    first = full(
        [1 if i == axis else n for i, n in enumerate(found.aval.shape)],
        how.identity,
        found.aval.dtype,
    )
    return concatenate([first, found], axis)


@eager.function
def cumulative_sum(
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    include_initial: bool = False,
) -> Any:
    """The sum of each element and all before it along `axis`, after a zero if `include_initial`.

    Raises ValueError for an array of several axes without `axis`.

    >>> jnp.cumulative_sum(jnp.array([1, 2, 3]), include_initial=True)
    Array([0, 1, 3, 6], dtype=int32)
    """
    return _cumulative("cumulative_sum", SUM, x, axis, dtype, out, include_initial)


@eager.function
def cumulative_prod(
    x: Any,
    /,
    *,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    include_initial: bool = False,
) -> Any:
    """The product of each element and all before it along `axis`, after a one if `include_initial`.

    Raises ValueError for an array of several axes without `axis`.

    >>> jnp.cumulative_prod(jnp.array([2, 3, 4]), include_initial=True)
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    return _cumulative("cumulative_prod", PROD, x, axis, dtype, out, include_initial)
