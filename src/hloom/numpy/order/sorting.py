"""Sorting: sort, argsort, lexsort, partition, and the few largest or smallest."""

from __future__ import annotations

from operator import index
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axis_argument
from hloom.numpy.common.operands import array_like
from hloom.numpy.common.reducing import INT32, cast, default_int, flat, is_inexact
from hloom.ops.common.linear import constant
from hloom.ops.order import sorting as lax
from hloom.ops.pointwise.arithmetic import neg, sub
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import broadcasted_iota, reshape, rev
from hloom.ops.shapes.slicing import slice_in_dim, unstack

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _check(name: str, kind: Any, order: Any) -> None:
    """Raise ValueError for arguments that NumPy refuses; every sort here is stable."""
    if kind not in _KINDS:
        raise ValueError(
            f"{name}: sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})"
        )
    if order is not None:
        raise ValueError(
            f"{name}: cannot specify order when the array has no fields; got order={order!r:.60}"
        )


def _operand(name: str, a: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis to sort along; the flat array if `axis` is None."""
    a = array_like(name, a)
    if axis is None:
        return flat(a), 0
    return a, axis_argument(name, axis, a.aval.ndim)


@eager.function
def sort(
    a: Any, axis: Any = -1, kind: str | None = None, order: None = None, *,
    stable: bool | None = None,
    descending: bool = False,
) -> Any:  # fmt: skip
    """The elements in ascending order along `axis`, or all of them if it is None; NaN comes last.

    `descending` gives the reverse.  Raises AxisError for an axis that is not there.  Differs from
    NumPy: always stable, so that `kind` and `stable` say nothing; `descending` is an addition.

    >>> jnp.sort(jnp.array([[3, 1, 2], [9, 7, 8]]))
    Array([[1, 2, 3],
           [7, 8, 9]], dtype=int32)
    >>> jnp.sort(jnp.array([1.0, jnp.nan, 0.5]), descending=True)
    Array([nan, 1. , 0.5], dtype=float32)
    """
    _check("sort", kind, order)
    a, axis = _operand("sort", a, axis)
    found = lax.sort(a, axis)
    return rev(found, (axis,)) if descending else found


@eager.function
def argsort(
    a: Any, axis: Any = -1, kind: str | None = None, order: None = None, *,
    stable: bool | None = None,
    descending: bool = False, dtype: Any = None,
) -> Any:  # fmt: skip
    """The places of the elements in ascending order along `axis`; of equals the first comes first.

    The result is of the default integer dtype, unless `dtype` is given.  Parameters, errors and
    differences are those of `sort`.

    >>> jnp.argsort(jnp.array([3, 1, 2, 1]))
    Array([1, 3, 2, 0], dtype=int32)
    >>> jnp.argsort(jnp.array([3, 1, 2, 1]), descending=True)
    Array([0, 2, 1, 3], dtype=int32)
    """
    _check("argsort", kind, order)
    a = array_like("argsort", a)
    a, axis = _operand("argsort", a if a.aval.shape else reshape(a, (1,)), axis)
    wanted = default_int() if dtype is None else dtypes.as_dtype(dtype)
    return _places(a, axis, wanted, descending)


def _places(a: Any, axis: int, dtype: Any, descending: bool) -> Any:
    """Stable also where descending: the reversed array is sorted, and read from its end."""
    if not descending:
        return convert_element_type(lax.argsort(a, axis), dtype)
    last = constant(a.aval.shape[axis] - 1, INT32)
    found = sub(last, rev(lax.argsort(rev(a, (axis,)), axis), (axis,)))
    return convert_element_type(found, dtype)


@eager.function(static=("axis",), sequences=("keys",))
def lexsort(keys: Any, axis: Any = -1) -> Any:
    """The places in the order of several keys along `axis`; the last key decides first.

    `keys` is a sequence of arrays of one shape, or an array, whose first axis counts them.  Stable,
    NaN last.  Raises TypeError for no keys, ValueError when shapes differ.

    >>> jnp.lexsort((jnp.array([1, 0, 1, 0]), jnp.array([5, 5, 2, 9])))
    Array([2, 1, 0, 3], dtype=int32)
    """
    arrays = _keys(keys)
    if not arrays:
        raise TypeError("lexsort: need sequence of keys with len > 0")
    shape = arrays[0].aval.shape
    if any(x.aval.shape != shape for x in arrays):
        raise ValueError(
            "lexsort: all keys need to be the same shape; got "
            f"{', '.join(str(x.aval) for x in arrays)}"
        )
    if not shape:
        return constant(0, default_int())
    axis = axis_argument("lexsort", axis, len(shape))
    places = broadcasted_iota(INT32, shape, axis)
    *_, order = lax.sort((*arrays[::-1], places), axis, num_keys=len(arrays))
    return cast(order, default_int())


def _keys(keys: Any) -> list[Any]:
    if isinstance(keys, (list, tuple)):
        return [array_like("lexsort", key, i) for i, key in enumerate(keys)]
    keys = array_like("lexsort", keys)
    if not keys.aval.shape:
        raise TypeError(f"lexsort: need sequence of keys; got {keys.aval}")
    return list(unstack(keys))


# ---- partitions ---------------------------------------------------------------------------------
def _check_kth(name: str, kth: Any, aval: ShapedArray, axis: int) -> None:
    """Raise ValueError for a place that is not there, TypeError for what is no integer.

    Arrays without elements have every place, as in NumPy.
    """
    size = aval.shape[axis]
    for k in kth if isinstance(kth, (list, tuple)) else [kth]:
        try:
            place = index(k)
        except TypeError:
            raise TypeError(f"{name}: partition index must be integer; got {k!r:.60}") from None
        if aval.size and not -size <= place < size:
            raise ValueError(f"{name}: kth(={place}) out of bounds ({size})")


@eager.function(static=("kth", "axis", "kind", "order"))
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: None = None
) -> Any:
    """The elements along `axis`, none larger before the place `kth`, and none smaller after it.

    Raises ValueError for a place that is not there.  Differs from NumPy: both sides are sorted.

    >>> jnp.partition(jnp.array([7, 1, 5, 3]), 1)
    Array([1, 3, 5, 7], dtype=int32)
    """
    a, axis = _operand("partition", a, axis)
    _check_kth("partition", kth, a.aval, axis)
    return lax.sort(a, axis)


@eager.function(static=("kth", "axis", "kind", "order"))
def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: None = None
) -> Any:
    """The places of the elements in the order that `partition` gives them.

    Errors and differences are those of `partition`.

    >>> jnp.argpartition(jnp.array([7, 1, 5, 3]), 1)
    Array([1, 3, 2, 0], dtype=int32)
    """
    a, axis = _operand("argpartition", a, axis)
    _check_kth("argpartition", kth, a.aval, axis)
    return _places(a, axis, default_int(), False)


# ---- others -------------------------------------------------------------------------------------
@eager.function
def sort_complex(a: Any) -> Any:
    """The elements in ascending order along the last axis, as complex numbers.

    Complex numbers are ordered by real part, then by imaginary part.  Raises AxisError for a 0-d
    array.

    >>> jnp.sort_complex(jnp.array([2 - 1j, 1 + 5j, 2 - 3j]))
    Array([1.+5.j, 2.-3.j, 2.-1.j], dtype=complex64)
    """
    a, axis = _operand("sort_complex", a, -1)
    part = dtypes.to_inexact(a.aval.dtype, default_int().itemsize == 8)
    return cast(lax.sort(a, axis), dtypes.promote_types(part, np.complex64))


class TopK(NamedTuple):
    """What `top_k` gives."""

    values: Any
    indices: Any


def top_k(a: Any, k: int, /, *, axis: int = -1, mode: str = "largest", sorted: bool = True) -> TopK:
    """The `k` largest elements along `axis`, in descending order, and their places.

    With the mode "smallest", the smallest, in ascending order.  NaN comes last either way; of
    equals the first comes first.  Raises ValueError for fewer than `k` elements or another mode.

    >>> values, places = jnp.top_k(jnp.array([1.0, 4.0, 3.0]), 2)
    >>> values, places
    (Array([4., 3.], dtype=float32), Array([1, 2], dtype=int32))
    """
    if mode not in ("largest", "smallest"):
        raise ValueError(f"top_k: mode is 'largest' or 'smallest'; got {mode!r}")
    return TopK(*_top_k(a, index(k), axis, mode))


@eager.function(static=("k", "axis", "mode"))
def _top_k(a: Any, k: int, axis: int, mode: str) -> tuple[Any, Any]:
    a, axis = _operand("top_k", a, axis)
    if not 0 <= k <= a.aval.shape[axis]:
        raise ValueError(f"top_k: k must be from 0 to the size of axis {axis} of {a.aval}; got {k}")
    places = _few(a, k, axis, mode)
    return lax.take_along(a, places, axis), cast(places, default_int())


def _few(a: Any, k: int, axis: int, mode: str) -> Any:
    """The places of the first `k` in order."""
    if mode == "smallest":
        return slice_in_dim(lax.argsort(a, axis), 0, k, 1, axis)
    if is_inexact(a):  # the smallest negatives, so that NaN is last
        return slice_in_dim(lax.argsort(neg(a), axis), 0, k, 1, axis)
    return lax.top_k(a, k, axis=axis)[1]
