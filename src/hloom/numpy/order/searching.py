"""Where values belong in a sorted array."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.errors import ArgumentError
from hloom.numpy.common import eager
from hloom.numpy.common.operands import array_like
from hloom.numpy.common.reducing import cast_exactly, default_int, flat, kind_of
from hloom.ops.order import searching as lax
from hloom.ops.shapes.shape import reshape


def comparable(*xs: Any) -> list[Any]:
    """Arrays in one dtype that compares them as NumPy does, 64 bits wide if it must be.

    What they are promoted to may be too narrow: i32 and f32 compare as f64.
    """
    given = [x.aval.dtype for x in xs]
    if all(map(dtypes.is_numpy, given)):
        dtype = np.result_type(*given)
    else:
        dtype = dtypes.join(tuple([(d, False) for d in given]), True)[0]
    return [cast_exactly(x, dtype) for x in xs]


def find(a: Any, v: Any, side: str) -> Any:
    """Where the values `v` belong in the sorted 1-d array `a`, in the default integer dtype."""
    a, v = comparable(a, v)
    found = lax.searchsorted(a, flat(v), side, index_dtype=default_int())
    return reshape(found, v.aval.shape)


@eager.function(static=("side", "method"))
def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Any:
    """Where values would have to be put into the sorted array `a`, f32[n], to keep it sorted.

    Before equal elements if `side` is "left", behind them if "right"; NaN is last.  `sorter` holds
    the places that sort `a`.  The result has the shape of `v`, in the default integer dtype.
    Raises ValueError unless `a` has one axis, and for another side.

    >>> jnp.searchsorted(jnp.array([1, 3, 5]), jnp.array([0, 3, 9]))
    Array([0, 1, 3], dtype=int32)
    """
    a, v = array_like("searchsorted", a), array_like("searchsorted", v, 1)
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right' (got {side!r})")
    if a.aval.ndim != 1:
        raise ValueError(f"searchsorted: a must be 1-dimensional; got {a.aval}")
    if sorter is not None:
        a = _in_order(a, array_like("searchsorted", sorter, 3))
    return find(a, v, side)


def _in_order(a: Any, sorter: Any) -> Any:
    if kind_of(sorter) not in ("signed", "unsigned"):
        raise ArgumentError(f"searchsorted: sorter must only contain integers; got {sorter.aval}")
    if sorter.aval.shape != a.aval.shape:
        raise ValueError(
            f"searchsorted: sorter.size must equal len(a); got {sorter.aval} for {a.aval}"
        )
    return lax.taken(a, sorter)
