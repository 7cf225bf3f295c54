"""The places of the elements that are not zero.

The shape of `nonzero(x)` depends on values.  Where they are known the host works it out; under a
trace `size=` must say how many are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from hloom import errors
from hloom.core.array import Array
from hloom.core.operands import from_numpy
from hloom.core.support.known import known
from hloom.errors import ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.operands import array_like
from hloom.numpy.common.reducing import BOOL, INT32, cast, default_int, flat
from hloom.ops.common.linear import constant, full, reduce_sum, spread_scalar
from hloom.ops.indexing.dimension_numbers import ScatterDimensionNumbers
from hloom.ops.indexing.scatter import scatter
from hloom.ops.pointwise.arithmetic import sub
from hloom.ops.pointwise.binary import floor_divide, mod
from hloom.ops.pointwise.compare import lt, select
from hloom.ops.reductions.cumulative import cumsum
from hloom.ops.shapes.shape import iota, reshape
from hloom.ops.shapes.slicing import index_in_dim, stack


def required_value(name: str, x: Any) -> np.ndarray[Any, Any]:
    """The value of an array on which a result's shape depends.

    Raises ConcretizationTypeError under a trace, where it is not known.
    """
    value = known(x)
    if value is None:
        raise errors.ConcretizationTypeError.size(f"jnp.{name}", x.traced())
    return value


def positions(found: np.ndarray[Any, Any]) -> Array:
    """Places that the host found, as an array of the default integer dtype."""
    return from_numpy(np.asarray(found, default_int()), True)


def size_argument(name: str, size: Any) -> int:
    """The argument `size`; raises TypeError or ValueError for what is no number of elements."""
    try:
        wanted = index(size)
    except TypeError:
        raise TypeError(f"{name}: size must be an integer; got {size!r:.60}") from None
    if wanted < 0:
        raise ShapeError(f"{name}: size must not be negative; got {wanted}")
    return wanted


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Any, ...]:
    """The places of the elements that are not zero: an array for each axis.

    Under a trace `size` must be given: only so many places are kept, and where there are fewer,
    `fill_value` (0; or a tuple, one for each axis) fills up.  Raises ValueError for a 0-d array,
    ConcretizationTypeError for a traced one without `size`.  Differs from NumPy, which has neither.

    >>> jnp.nonzero(jnp.array([0, 7, 0, 9]))
    (Array([1, 3], dtype=int32),)
    >>> jnp.nonzero(jnp.array([0, 7, 0, 9]), size=3, fill_value=-1)
    (Array([ 1,  3, -1], dtype=int32),)
    """
    a = array_like("nonzero", a)
    if not a.aval.shape:
        raise ValueError(
            "nonzero: Calling nonzero on 0d arrays is not allowed. Use "
            "jnp.atleast_1d(scalar).nonzero() instead."
        )
    if size is None:
        return tuple([positions(i) for i in (required_value("nonzero", a) != 0).nonzero()])
    fills = _fills("nonzero", fill_value, a.aval.ndim)
    return tuple(_nonzero(a, *fills, size=size_argument("nonzero", size)))


def _fills(name: str, fill_value: Any, ndim: int) -> Sequence[Any]:
    """A fill value for each axis."""
    if isinstance(fill_value, (tuple, list)):
        given = list(fill_value)
    else:
        given = [0 if fill_value is None else fill_value] * ndim
    if len(given) != ndim:
        raise ValueError(
            f"{name}: fill_value must be a number, or one for each of {ndim} axes; got {fill_value}"
        )
    return given


@eager.function(static=("size",))
def _nonzero(a: Any, *fills: Any, size: int) -> tuple[Any, ...]:
    shape = a.aval.shape
    found, number = first_places(cast(flat(a), BOOL), size)
    valid = lt(iota(INT32, size), number)
    results = []
    for n, fill in zip(shape[::-1], list(fills)[::-1]):
        divisor = constant(max(n, 1), INT32)
        place = cast(mod(found, divisor), default_int())
        found = floor_divide(found, divisor)
        fill = cast(array_like("nonzero", fill), default_int())
        results.append(select(valid, place, full_like(fill, (size,))))
    return tuple(results[::-1])


def full_like(x: Any, shape: tuple[int, ...]) -> Any:
    """A 0-d array repeated; raises ValueError for others."""
    if x.aval.shape:
        raise ValueError(f"fill_value must be a number; got {x.aval}")
    return spread_scalar(x, shape)


def first_places(mask: Any, size: int) -> tuple[Any, Any]:
    """The first `size` places where a 1-d mask holds, i32, then zeros; and how many hold, 0-d."""
    n = mask.aval.shape[0]
    places = full((size,), 0, INT32)
    if not n or not size:
        return places, reduce_sum(cast(mask, INT32), (0,))
    rank = cumsum(cast(mask, INT32))
    number = index_in_dim(rank, n - 1, keepdims=False)
    # What does not hold goes beyond the end, where scatter leaves it out.
    target = select(mask, sub(rank, constant(1, INT32)), full((n,), size, INT32))
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    found = scatter(places, reshape(target, (n, 1)), iota(INT32, n), numbers, mode="drop")
    return found, number


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The places in the flat array of the elements that are not zero.

    `size`, `fill_value` and errors are those of `nonzero`.

    >>> jnp.flatnonzero(jnp.array([[0, 7], [8, 0]]))
    Array([1, 2], dtype=int32)
    """
    a = flat(array_like("flatnonzero", a))
    return nonzero(a, size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The places of the elements that are not zero, a row for each.

    `size`, `fill_value` and errors are those of `nonzero`, but a 0-d array has one place, a row of
    no numbers, or none.

    >>> jnp.argwhere(jnp.array([[0, 7], [8, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    a = array_like("argwhere", a)
    if size is None:
        return positions(np.argwhere(required_value("argwhere", a) != 0))
    if not a.aval.shape:
        return full((size_argument("argwhere", size), 0), 0, default_int())
    return stack(list(nonzero(a, size=size, fill_value=fill_value)), 1)
