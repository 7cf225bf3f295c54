"""Arrays as sets: unique elements, unions, intersections, differences, membership.

The shape of a result depends on values.  Where they are known the host finds the places of its
elements, and nothing is compiled; under a trace `size=` must say how many are wanted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.array import Array, from_ndarray
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axis_argument
from hloom.numpy.common.operands import array_like, broadcast_to, promote_dtypes
from hloom.numpy.common.reducing import BOOL, INT32, cast, cast_into, default_int, flat, is_inexact
from hloom.numpy.indexing.nonzero import first_places, positions, required_value, size_argument
from hloom.numpy.indexing.taking import at_host_places, take_at
from hloom.numpy.order.searching import comparable, find
from hloom.ops.common.linear import constant, full, move
from hloom.ops.indexing.dimension_numbers import ScatterDimensionNumbers
from hloom.ops.indexing.gather import scatter_add
from hloom.ops.indexing.scatter import scatter
from hloom.ops.order import sorting as lax
from hloom.ops.order.searching import taken
from hloom.ops.pointwise.arithmetic import sub
from hloom.ops.pointwise.binary import bitwise_and, bitwise_or, bitwise_xor
from hloom.ops.pointwise.binary import min as smaller
from hloom.ops.pointwise.compare import eq, lt, ne, select
from hloom.ops.reductions.cumulative import cumsum
from hloom.ops.reductions.reduce import reduce_or
from hloom.ops.shapes.shape import iota, reshape
from hloom.ops.shapes.slicing import concatenate, index_in_dim, slice_in_dim, unstack

NDArray = np.ndarray[Any, Any]


# ---- unique -------------------------------------------------------------------------------------
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:  # fmt: skip
    """The different elements in ascending order, or the different slices along `axis`.

    The `return_` flags ask for more: the place where each is first, for each element which of the
    unique ones it is, and how often each occurs.  All NaN are one, unless `equal_nan` is False; in
    slices they differ.  Under a trace `size` must be given: only so many are kept, and where there
    are fewer, `fill_value` (by default the first) fills up.  Raises AxisError for an axis that is
    not there, ConcretizationTypeError for a traced array without `size`.

    >>> jnp.unique(jnp.array([3, 1, 3, 2]))
    Array([1, 2, 3], dtype=int32)
    >>> jnp.unique(jnp.array([3, 1, 3]), return_counts=True, size=3, fill_value=0)
    (Array([1, 3, 0], dtype=int32), Array([1, 2, 0], dtype=int32))
    """
    ar = array_like("unique", ar)
    if axis is not None:
        axis = axis_argument("unique", axis, ar.aval)
    wanted = (True, bool(return_index), bool(return_inverse), bool(return_counts))
    if size is None:
        found = _host_unique(ar, axis, wanted, bool(equal_nan))
    else:
        found = _sized_unique(ar, axis, fill_value, size_argument("unique", size), bool(equal_nan))
    results = [x for x, asked in zip(found, wanted) if asked]
    return results[0] if len(results) == 1 else tuple(results)


def key_of(value: NDArray) -> NDArray:
    """Values that NumPy orders as these; it can't order those of ml_dtypes."""
    if dtypes.is_numpy(value.dtype):
        return value
    return value.astype(np.float32 if dtypes.kind(value.dtype) == "float" else np.int8)


def _host_unique(ar: Any, axis: int | None, wanted: Any, equal_nan: bool) -> list[Any]:
    """Values, places, inverse, counts, as far as they are wanted."""
    value = required_value("unique", ar)
    own = ar.__class__ is Array and dtypes.is_numpy(value.dtype)
    if axis is not None and not value.shape[axis]:
        return [ar, *[positions(np.zeros(0, np.int32))] * 3]
    _, index, inverse, counts = wanted
    made = np.unique(
        key_of(value), return_index=index or not own, return_inverse=inverse, return_counts=counts,
        axis=axis, equal_nan=equal_nan,
    )  # fmt: skip
    found = iter(made if isinstance(made, tuple) else (made,))
    values = next(found)
    places = next(found) if index or not own else None
    if own:
        result = from_ndarray(values, ar.aval.update(values.shape))
    else:
        result = at_host_places(
            "unique", *((flat(ar), places, 0) if axis is None else (ar, places, axis))
        )
    of_all = None
    if inverse:
        of_all = positions(next(found).reshape(value.shape if axis is None else value.shape[axis]))
    return [
        result,
        None if places is None else positions(places),
        of_all,
        positions(next(found)) if counts else None,
    ]


def _sized_unique(
    ar: Any, axis: int | None, fill_value: Any, size: int, equal_nan: bool
) -> list[Any]:
    count = ar.aval.size if axis is None else ar.aval.shape[axis]
    if not count and size and fill_value is None:
        raise ValueError(
            "unique: for zero-sized input with nonzero size argument, fill_value must be specified"
        )
    return list(_unique(ar, fill_value, axis=axis, size=size, equal_nan=equal_nan))


class Groups(NamedTuple):
    """Rows in order: the places they come from, where a new one begins, and the number of each."""

    rows: Any
    order: Any
    begins: Any
    number: Any


def groups_of(rows: Any, equal_nan: bool) -> Groups:
    """Equal rows, [n] or [n, m], brought together; NaN equals NaN if `equal_nan`."""
    n = rows.aval.shape[0]
    columns = [rows] if rows.aval.ndim == 1 else list(unstack(rows, 1))
    if len(columns) == 1:
        order = lax.argsort(columns[0], 0)
    elif columns:
        *_, order = lax.sort((*columns, iota(INT32, n)), 0, num_keys=len(columns))
    else:
        order = iota(INT32, n)
    rows = take_at(rows, order)
    if n < 2:
        begins = full((n,), True, BOOL)
    else:
        later, before = slice_in_dim(rows, 1, n), slice_in_dim(rows, 0, n - 1)
        differ = ne(later, before)
        if equal_nan and is_inexact(rows):
            differ = bitwise_and(differ, bitwise_or(eq(later, later), eq(before, before)))
        begins = concatenate(
            [full((1,), True, BOOL), reduce_or(differ, range(1, differ.aval.ndim))], 0
        )
    number = sub(cumsum(cast(begins, INT32)), constant(1, INT32)) if n else cast(begins, INT32)
    return Groups(rows, order, begins, number)


@eager.function(static=("axis", "size", "equal_nan"))
def _unique(
    ar: Any, fill_value: Any, axis: int | None, size: int, equal_nan: bool
) -> tuple[Any, ...]:
    if axis is None or ar.aval.ndim == 1:
        rows, rest, shape = flat(ar), (), ar.aval.shape
    else:
        moved = move(ar, axis, 0)
        shape, rest = moved.aval.shape[:1], moved.aval.shape[1:]
        rows = reshape(moved, (*shape, moved.aval.size // max(shape[0], 1)))
        equal_nan = False
    groups = groups_of(rows, equal_nan)
    n = rows.aval.shape[0]
    at, count = first_places(groups.begins, size)
    values = _filled_up(groups.rows, at, count, fill_value)
    if rest:
        values = move(reshape(values, (size, *rest)), 0, axis)
    inverse = cast(_scattered(groups.order, groups.number, n), default_int())
    counts = cast(_counted(groups.number, size), default_int())
    first = take_at(groups.order, at) if n else at
    return values, cast(first, default_int()), reshape(inverse, shape), counts


def _filled_up(rows: Any, at: Any, count: Any, fill_value: Any) -> Any:
    """The rows at these places; beyond `count` of them `fill_value`, or the first row."""
    n, size, rest = rows.aval.shape[0], at.aval.shape[0], rows.aval.shape[1:]
    zero = constant(0, rows.aval.dtype, rows.aval.weak_type)
    found = take_at(rows, at) if n else broadcast_to(zero, (size, *rest))
    if fill_value is None:
        return found
    filling = broadcast_to(cast_into(array_like("unique", fill_value), rows), found.aval.shape)
    valid = lt(iota(INT32, size), count)
    return select(
        broadcast_to(reshape(valid, (size, *[1] * len(rest))), found.aval.shape), found, filling
    )


NUMBERS = ScatterDimensionNumbers((), (0,), (0,))


def _scattered(places: Any, values: Any, n: int) -> Any:
    """The values at these places, which are all different."""
    if not n:
        return values
    return scatter(
        full((n,), 0, values.aval.dtype),
        reshape(places, (n, 1)),
        values,
        NUMBERS,
        unique_indices=True,
    )


def _counted(number: Any, size: int) -> Any:
    """How often each number below `size` occurs."""
    n = number.aval.shape[0]
    zeros = full((size,), 0, INT32)
    if not n or not size:
        return zeros
    return scatter_add(zeros, reshape(number, (n, 1)), full((n,), 1, INT32), NUMBERS, mode="drop")


# ---- the array API's four -----------------------------------------------------------------------
class UniqueAll(NamedTuple):
    """What `unique_all` gives."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What `unique_counts` gives."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What `unique_inverse` gives."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """The different elements, where each is first, which each one is, how often each occurs.

    Each NaN differs from all others.  `size`, `fill_value` and errors are those of `unique`.

    >>> jnp.unique_all(jnp.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    return UniqueAll(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """The different elements, and how often each occurs.

    Each NaN differs from all others.  `size`, `fill_value` and errors are those of `unique`.

    >>> jnp.unique_counts(jnp.array([3, 1, 3])).values
    Array([1, 3], dtype=int32)
    """
    return UniqueCounts(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """The different elements, and which of them each element is.

    Each NaN differs from all others.  `size`, `fill_value` and errors are those of `unique`.

    >>> jnp.unique_inverse(jnp.array([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    return UniqueInverse(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements.

    Each NaN differs from all others.  `size`, `fill_value` and errors are those of `unique`.

    >>> jnp.unique_values(jnp.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


# ---- two sets -----------------------------------------------------------------------------------
def _two(name: str, ar1: Any, ar2: Any) -> tuple[Any, Any]:
    """The two flat arrays in their common dtype, weak only if both are."""
    x1, x2 = promote_dtypes(name, array_like(name, ar1), array_like(name, ar2, 1))
    if x1.aval.weak_type != x2.aval.weak_type:
        x1, x2 = (cast(x, x.aval.dtype) for x in (x1, x2))
    return flat(x1), flat(x2)


def _keys(name: str, x1: Any, x2: Any) -> tuple[NDArray, NDArray]:
    return key_of(required_value(name, x1)), key_of(required_value(name, x2))


@eager.function(static=())
def _joined(x1: Any, x2: Any) -> Any:
    return concatenate([x1, x2], 0)


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """The different elements of both arrays, in ascending order.

    `size`, `fill_value` and errors are those of `unique`.

    >>> jnp.union1d(jnp.array([3, 1]), jnp.array([2, 3]))
    Array([1, 2, 3], dtype=int32)
    """
    return unique(_joined(*_two("union1d", ar1, ar2)), size=size, fill_value=fill_value)


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False, *,
    size: int | None = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    """The elements that are in both arrays, in ascending order.

    With `return_indices` also the places where each is first, in the one and in the other.  With
    `size`, `fill_value` (by default the first, or 0) fills up, and the sizes of the arrays are
    used for places.  Errors are those of `unique`.

    >>> jnp.intersect1d(jnp.array([3, 1, 2]), jnp.array([2, 3, 5]))
    Array([2, 3], dtype=int32)
    """
    x1, x2 = _two("intersect1d", ar1, ar2)
    if size is not None:
        found = _intersect(x1, x2, fill_value, size=size_argument("intersect1d", size))
    else:
        k1, k2 = _keys("intersect1d", x1, x2)
        _, at1, at2 = np.intersect1d(k1, k2, assume_unique=assume_unique, return_indices=True)
        found = at_host_places("intersect1d", x1, at1, 0), positions(at1), positions(at2)
    return tuple(found) if return_indices else found[0]


@eager.function(static=("size",))
def _intersect(x1: Any, x2: Any, fill_value: Any, size: int) -> tuple[Any, ...]:
    n1, n2 = x1.aval.size, x2.aval.size
    if not n1 or not n2:
        filling = (
            constant(0, x1.aval.dtype, x1.aval.weak_type)
            if fill_value is None
            else cast_into(array_like("", fill_value), x1)
        )
        return (
            broadcast_to(filling, (size,)),
            full((size,), n1, default_int()),
            full((size,), n2, default_int()),
        )
    groups = groups_of(x1, False)
    order = lax.argsort(x2, 0)
    rows = taken(x2, order)
    where = smaller(cast(find(rows, groups.rows, "left"), INT32), constant(n2 - 1, INT32))
    both = bitwise_and(groups.begins, eq(taken(rows, where), groups.rows))
    at, count = first_places(both, size)
    values = _filled_or_first(groups.rows, at, count, fill_value)
    valid = lt(iota(INT32, size), count)
    at1 = select(valid, take_at(groups.order, at), full((size,), n1, INT32))
    at2 = select(valid, taken(order, take_at(where, at)), full((size,), n2, INT32))
    return values, cast(at1, default_int()), cast(at2, default_int())


def _filled_or_first(rows: Any, at: Any, count: Any, fill_value: Any) -> Any:
    """The elements at these places; beyond `count` a filling: the first of them, or 0."""
    size = at.aval.shape[0]
    if fill_value is None and size:
        some = lt(constant(0, INT32), count)
        first = taken(rows, index_in_dim(at, 0, keepdims=False))
        fill_value = select(some, first, constant(0, rows.aval.dtype))
    return _filled_up(rows, at, count, fill_value)


def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The elements of `ar1` that are not in `ar2`, in ascending order; the dtype is that of `ar1`.

    With `assume_unique` they stay in the order of `ar1`.  With `size`, `fill_value` (0) fills up.
    Errors are those of `unique`.

    >>> jnp.setdiff1d(jnp.array([3, 1, 2]), jnp.array([2, 5]))
    Array([1, 3], dtype=int32)
    """
    x1, x2 = (flat(array_like("setdiff1d", x, i)) for i, x in enumerate((ar1, ar2)))
    if size is not None:
        wanted = size_argument("setdiff1d", size)
        return _setdiff(
            x1,
            x2,
            0 if fill_value is None else fill_value,
            size=wanted,
            keep_order=bool(assume_unique),
        )
    k1, k2 = _keys("setdiff1d", x1, x2)
    if assume_unique:
        places = np.flatnonzero(~np.isin(k1, k2))
    else:
        values, places = np.unique(k1, return_index=True)
        places = places[~np.isin(values, k2)]
    return at_host_places("setdiff1d", x1, places, 0)


@eager.function(static=("size", "keep_order"))
def _setdiff(x1: Any, x2: Any, fill_value: Any, size: int, keep_order: bool) -> Any:
    rows = x1
    stays = full((x1.aval.size,), True, BOOL)
    if not keep_order:
        rows, _, stays, _ = groups_of(rows, True)
    stays = bitwise_and(stays, bitwise_xor(_is_in(*comparable(rows, x2)), constant(True, BOOL)))
    at, count = first_places(stays, size)
    return _filled_up(rows, at, count, fill_value)


def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The elements that are in one of the two arrays only, in ascending order.

    With `size`, `fill_value` (by default the first, or 0) fills up.  Errors are those of `unique`.

    >>> jnp.setxor1d(jnp.array([3, 1, 2]), jnp.array([2, 5]))
    Array([1, 3, 5], dtype=int32)
    """
    x1, x2 = _two("setxor1d", ar1, ar2)
    if size is not None:
        return _setxor(x1, x2, fill_value, size=size_argument("setxor1d", size))
    k1, k2 = _keys("setxor1d", x1, x2)
    u1, at1 = np.unique(k1, return_index=True)
    u2, at2 = np.unique(k2, return_index=True)
    alone1, alone2 = ~np.isin(u1, u2), ~np.isin(u2, u1)
    places = np.concatenate([at1[alone1], len(k1) + at2[alone2]])
    order = np.argsort(np.concatenate([u1[alone1], u2[alone2]]), kind="stable")
    return at_host_places("setxor1d", _joined(x1, x2), places[order], 0)


@eager.function(static=("size",))
def _setxor(x1: Any, x2: Any, fill_value: Any, size: int) -> Any:
    n1, n2 = x1.aval.size, x2.aval.size
    rows, order, begins, number = groups_of(concatenate([x1, x2], 0), False)
    second = cast(lt(constant(n1 - 1, INT32), order), INT32)
    per_group = _sums(second, number), _counted(number, n1 + n2)
    seconds, all_ = (taken(x, number) if n1 + n2 else x for x in per_group)
    alone = bitwise_and(begins, bitwise_or(eq(seconds, constant(0, INT32)), eq(seconds, all_)))
    at, count = first_places(alone, size)
    return (
        _filled_or_first(rows, at, count, fill_value)
        if n1 + n2
        else _filled_up(rows, at, count, fill_value)
    )


def _sums(values: Any, number: Any) -> Any:
    """The sum of the values of each group."""
    n = number.aval.shape[0]
    if not n:
        return values
    return scatter_add(full((n,), 0, values.aval.dtype), reshape(number, (n, 1)), values, NUMBERS)


# ---- membership ---------------------------------------------------------------------------------
FEW = 32  # up to so many elements are compared with each


@eager.function(static=("assume_unique", "invert", "kind", "method"))
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    kind: str | None = None, method: str = "auto",
) -> Any:  # fmt: skip
    """Whether each element is among `test_elements`; with `invert`, whether it is not.

    The result has the shape of `element`.  NaN is in nothing.  `assume_unique`, `kind` and `method`
    say nothing.

    >>> jnp.isin(jnp.array([1, 2, 3, 4]), jnp.array([4, 2]))
    Array([False,  True, False,  True], dtype=bool)
    """
    element, test = comparable(array_like("isin", element), array_like("isin", test_elements, 1))
    found = reshape(_is_in(flat(element), flat(test)), element.aval.shape)
    return bitwise_xor(found, full(found.aval.shape, True, BOOL)) if invert else found


def _is_in(element: Any, test: Any) -> Any:
    """The same for flat arrays of one dtype."""
    n = test.aval.size
    if n > FEW:
        rows = lax.sort(test)
        where = smaller(cast(find(rows, element, "left"), INT32), constant(n - 1, INT32))
        return eq(taken(rows, where), element)
    found = full(element.aval.shape, False, BOOL)
    for i in range(n):
        found = bitwise_or(found, eq(element, index_in_dim(test, i, keepdims=False)))
    return found
