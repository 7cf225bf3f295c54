"""Elements repeated, put in and taken out: tile, repeat, insert, delete, trim_zeros.

Where a result's shape depends on values (how often each element is repeated, which are taken out)
these are read on the host, and give the place in the array that each element of the result comes
from; the data moves on the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array
from hloom.core.operands import as_array, unmasked
from hloom.core.support.known import known
from hloom.core.support.strict import refuse_sharding
from hloom.core.trace import Tracer
from hloom.errors import IndexKindError, ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axes_argument, axis_argument, count_argument, refuse_data
from hloom.numpy.common.operands import array_like, broadcast_to
from hloom.numpy.common.reducing import cast_into, check_put
from hloom.numpy.indexing.indexing import getitem
from hloom.numpy.shapes.manipulation import ravel
from hloom.ops.common.linear import broadcast_in_dim, constant, full, move
from hloom.ops.indexing.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from hloom.ops.indexing.gather import gather, scatter_add
from hloom.ops.order.sorting import argsort
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.pointwise.compare import eq, lt, select
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.reductions.cumulative import cumsum
from hloom.ops.reductions.reduce import reduce_or
from hloom.ops.shapes.shape import iota, reshape
from hloom.ops.shapes.slicing import concatenate, slice_in_dim
from hloom.ops.shapes.slicing import tile as lax_tile

INT32 = np.dtype("int32")
NDArray = np.ndarray[Any, Any]


# ---- moving data --------------------------------------------------------------------------------
def pick(x: Any, places: Any, axis: int) -> Any:
    """The slices of `x` along an axis at these places, a vector of integers within bounds."""
    places = as_array(places)
    ndim, count = x.aval.ndim, places.aval.size
    if not x.aval.shape[axis]:
        return reshape(x, [count if i == axis else n for i, n in enumerate(x.aval.shape)])
    windows = tuple(i for i in range(ndim) if i != axis)
    sizes = [1 if i == axis else n for i, n in enumerate(x.aval.shape)]
    numbers = GatherDimensionNumbers(windows, (axis,), (axis,))
    return gather(x, reshape(places, (count, 1)), numbers, sizes, mode="promise_in_bounds")


@eager.function(static=("axis",))
def _pick(x: Any, places: Any, axis: int) -> Any:
    return pick(x, places, axis)


def _known(x: Any) -> NDArray | None:
    """The value of an argument that selects places, or None where it is traced."""
    if isinstance(x, Tracer):
        return known(x)
    if isinstance(x, (list, tuple)) and any(isinstance(each, Tracer) for each in x):
        return None
    return unmasked(x)


def _flattened(name: str, a: Any, axis: Any) -> tuple[Array, int]:
    """The array and the axis to work on: of the flattened array where none is given."""
    if axis is None:
        return ravel(a), 0
    x = array_like(name, a)
    return x, axis_argument(name, axis, x.aval)


# ---- tile and repeat ----------------------------------------------------------------------------
@eager.planned
def _tile(x: Any, counts: tuple[int, ...]) -> Any:
    ndim = max(len(counts), x.aval.ndim)
    x = reshape(x, (1,) * (ndim - x.aval.ndim) + x.aval.shape)
    return lax_tile(x, (1,) * (ndim - len(counts)) + counts)


def tile(A: Any, reps: Any) -> Array:
    """The whole array repeated along each axis; more counts than axes make new leading axes.

    Raises ValueError for a negative count, TypeError for one that is no integer.

    >>> jnp.tile(jnp.array([1, 2]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    refuse_data("tile", "reps", reps)
    many = reps if isinstance(reps, (tuple, list)) or getattr(reps, "ndim", 0) else (reps,)
    counts = tuple([count_argument("tile", "reps", n) for n in many])
    if min(counts, default=0) < 0:
        raise ShapeError(f"tile: negative dimensions are not allowed; got reps {counts}")
    return _tile(array_like("tile", A), counts)


@eager.planned
def _repeat(x: Any, plan: tuple[int, int | None]) -> Any:
    count, axis = plan
    if axis is None:
        x, axis = reshape(x, (x.aval.size,)), 0
    shape = x.aval.shape
    longer = (*shape[: axis + 1], count, *shape[axis + 1 :])
    kept = [i for i in range(len(longer)) if i != axis + 1]
    made = broadcast_in_dim(x, longer, kept)
    return reshape(made, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


def repeat(
    a: Any,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: None = None,
) -> Array:
    """Each element (each slice along `axis`) so many times; without `axis` the array is flattened.

    `repeats` is one count, or one for each element.  The sum of traced counts must be given, as
    `total_repeat_length`; where the counts give more the rest is left out, where they give less
    the last element is repeated.

    Raises ValueError for negative counts, or when there are not as many as elements.

    >>> jnp.repeat(jnp.array([1, 2]), 2)
    Array([1, 1, 2, 2], dtype=int32)
    >>> jnp.repeat(jnp.array([1, 2]), jnp.array([0, 3]))
    Array([2, 2, 2], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("repeat", out_sharding)
    if repeats.__class__ is int and total_repeat_length is None and repeats >= 0:
        x = array_like("repeat", a)
        place = None if axis is None else axis_argument("repeat", axis, x.aval)
        return _repeat(x, (repeats, place))
    x, place = _flattened("repeat", a, axis)
    if not x.aval.ndim:
        x = ravel(x)
    size = x.aval.shape[place]
    known = _known(repeats)
    if known is None:
        return _repeat_traced(x, place, array_like("repeat", repeats, 1), total_repeat_length)
    counts = _counts(known, size, x)
    if total_repeat_length is None and counts.size == 1:
        return _repeat(x, (int(counts[0]), place))
    places = np.repeat(np.arange(size, dtype=np.int32), counts)
    if total_repeat_length is not None:
        wanted = count_argument("repeat", "total_repeat_length", total_repeat_length)
        places = np.pad(places[:wanted], (0, max(wanted - len(places), 0)), mode="edge")
    return _pick(x, places, axis=place)


def _counts(value: NDArray, size: int, x: Array) -> NDArray:
    """How often each element is repeated; raises what NumPy raises."""
    if value.ndim > 1:
        raise ValueError(
            f"repeat: repeats must be a number or a vector; it has shape {value.shape}"
        )
    if value.dtype.kind not in "biu":
        raise TypeError(f"repeat takes integers for repeats; got {value.dtype.name}")
    counts = np.atleast_1d(value).astype(np.int64)
    if counts.size not in (1, size):
        raise ShapeError(
            f"repeat: operands could not be broadcast together with shape ({size},) "
            f"({counts.size},): {x.aval} needs a count for each of its {size} elements"
        )
    if counts.size and counts.min() < 0:
        raise ShapeError("repeat: repeats may not contain negative values")
    return counts


def _repeat_traced(x: Array, axis: int, repeats: Array, length: int | None) -> Array:
    if length is None:
        assert isinstance(repeats, Tracer)
        if not repeats.aval.shape:
            raise errors.ConcretizationTypeError.parameter("repeat", "repeats", repeats.traced())
        raise errors.ConcretizationTypeError.size("repeat", repeats.traced(), "total_repeat_length")
    size = x.aval.shape[axis]
    counts = convert_element_type(repeats, INT32)
    if counts.aval.ndim > 1 or counts.aval.size not in (1, size):
        raise ShapeError(f"repeat: {x.aval} needs one count, or {size}; got {repeats.aval}")
    total = count_argument("repeat", "total_repeat_length", length)
    if not size or not total:
        return reshape(slice_in_dim(x, 0, 0, 1, axis), _resized(x, axis, total))
    # A one where an element begins; their running sum is the number of the element.
    ends = cumsum(broadcast_to(reshape(counts, (counts.aval.size,)), (size,)), 0)
    begins = slice_in_dim(ends, 0, size - 1, 1, 0)
    ones = full((size - 1,), 1, INT32)
    marked = scatter_add(
        full((total,), 0, INT32),
        reshape(begins, (size - 1, 1)),
        ones,
        ScatterDimensionNumbers((), (0,), (0,)),
        mode="drop",
    )
    return pick(x, cumsum(marked, 0), axis)


def _resized(x: Array, axis: int, size: int) -> list[int]:
    return [size if i == axis else n for i, n in enumerate(x.aval.shape)]


# ---- insert -------------------------------------------------------------------------------------
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """The array with `values` put in before the places `obj` along an axis.

    Without `axis` the array is flattened.  `obj` is an integer, a sequence of them, a slice or a
    mask; the places are those in the array before anything is put in.  `values` are converted to
    the array's dtype and broadcast.  Integer places may be traced, where out-of-range ones are
    clipped.

    Raises IndexError for a known place out of range, ValueError for values that don't fit.

    >>> jnp.insert(jnp.array([1, 2, 3]), 1, 9)
    Array([1, 9, 2, 3], dtype=int32)
    >>> jnp.insert(jnp.array([1, 2, 3]), jnp.array([0, 3]), jnp.array([8, 9]))
    Array([8, 1, 2, 3, 9], dtype=int32)
    """
    x, place = _flattened("insert", arr, axis)
    if not x.aval.ndim:
        raise errors.AxisError(0, 0, "insert")
    check_put("insert", values, x.aval)
    given = array_like("insert", values, 2)
    size = x.aval.shape[place]
    known = _places(obj, size)
    places = array_like("insert", obj, 1) if known is None else known
    if places.ndim > 1:
        raise ShapeError(
            "insert: index array argument obj must be one dimensional or scalar; its shape is "
            f"{places.shape}"
        )
    scalar, count = not places.ndim, places.size
    if count == 1:
        lengths = (1,) * (x.aval.ndim - given.aval.ndim) + given.aval.shape
        count = lengths[0 if scalar else place]
    how = {"axis": place, "count": count, "scalar": scalar}
    if known is None:
        return _insert(x, places, given, **how)
    moved = np.insert(np.arange(size), known, size + np.arange(count))
    return _insert_at(x, moved.astype(np.int32), given, **how)


def _places(obj: Any, size: int) -> NDArray | None:
    """The places as an array of integers, or None where they are traced.

    Raises IndexError for what are no integers.
    """
    if isinstance(obj, slice):
        return np.arange(size)[obj]
    value = _known(obj)
    if value is None:
        return None
    if value.size and value.dtype.kind not in "biu":
        raise IndexKindError(
            f"arrays used as indices must be of integer (or boolean) type; got {value.dtype.name}"
        )
    if value.dtype.kind == "b" and value.ndim == 1:
        return np.flatnonzero(value)
    return value.astype(np.int64)


def _inserted(x: Any, values: Any, axis: int, count: int, scalar: bool) -> Any:
    """`values` in the array's dtype and in the shape in which they are put in."""
    values = cast_into(values, x)
    shape = tuple(_resized(x, axis, count))
    values = reshape(values, (1,) * (x.aval.ndim - values.aval.ndim) + values.aval.shape)
    if scalar:
        values = move(values, 0, axis)
    if values.aval.ndim > len(shape) or any(
        n not in (1, m) for n, m in zip(values.aval.shape, shape)
    ):
        raise ShapeError(
            f"insert: could not broadcast values of shape {values.aval.shape} into shape {shape}, "
            f"the place for them in {x.aval}"
        )
    return broadcast_to(values, shape)


@eager.function(static=("axis", "count", "scalar"))
def _insert_at(x: Any, source: Any, values: Any, axis: int, count: int, scalar: bool) -> Any:
    return pick(concatenate([x, _inserted(x, values, axis, count, scalar)], axis), source, axis)


@eager.function(static=("axis", "count", "scalar"))
def _insert(x: Any, places: Any, values: Any, axis: int, count: int, scalar: bool) -> Any:
    """With traced places: a stable sort puts each new element before the one at its place."""
    if not dtypes.in_domain(places.aval.dtype, "integer"):
        raise IndexKindError(f"insert takes places as integers; got {places.aval}")
    size = x.aval.shape[axis]
    places = convert_element_type(places, INT32)
    wrapped = select(lt(places, constant(0, INT32)), add(places, constant(size, INT32)), places)
    new = broadcast_to(reshape(wrapped, (wrapped.aval.size,)), (count,))
    two = constant(2, INT32)
    old = add(mul(iota(INT32, size), two), constant(1, INT32))
    order = argsort(concatenate([mul(new, two), old], 0), 0)
    return pick(concatenate([_inserted(x, values, axis, count, scalar), x], axis), order, axis)


# ---- delete -------------------------------------------------------------------------------------
def delete(
    arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Array:
    """The array without the slices at the places `obj` along an axis.

    Without `axis` the array is flattened.  `obj` is an integer, a sequence of them, a slice or a
    mask.  An integer may be traced; several may where `assume_unique_indices` says that none is
    given twice.

    Raises IndexError for a known place out of range.

    >>> jnp.delete(jnp.array([1, 2, 3, 4]), jnp.array([0, -1]))
    Array([2, 3], dtype=int32)
    """
    x, place = _flattened("delete", arr, axis)
    if not x.aval.ndim:
        raise errors.AxisError(0, 0, "delete")
    size = x.aval.shape[place]
    if not isinstance(obj, slice) and _known(obj) is None:
        gone = array_like("delete", obj, 1)
        if gone.aval.ndim and not assume_unique_indices:
            assert isinstance(gone, Tracer)
            raise errors.ConcretizationTypeError.parameter("delete", "obj", gone.traced())
        return _delete(x, gone, axis=place)
    if isinstance(obj, (list, tuple)) and not len(obj):
        obj = np.zeros(0, np.int64)
    kept = np.delete(
        np.arange(size, dtype=np.int32), obj if isinstance(obj, slice) else _known(obj)
    )
    return _pick(x, kept, axis=place)


@eager.function(static=("axis",))
def _delete(x: Any, places: Any, axis: int) -> Any:
    """With traced places: what is taken out is sorted behind the rest, and cut off."""
    if not dtypes.in_domain(places.aval.dtype, "integer"):
        raise IndexKindError(f"delete takes places as integers; got {places.aval}")
    size, count = x.aval.shape[axis], places.aval.size
    shape = (size, count)
    places = convert_element_type(reshape(places, (count,)), INT32)
    wrapped = select(lt(places, constant(0, INT32)), add(places, constant(size, INT32)), places)
    each = broadcast_in_dim(iota(INT32, size), shape, (0,))
    gone = reduce_or(eq(each, broadcast_in_dim(wrapped, shape, (1,))), (1,))
    order = argsort(convert_element_type(gone, INT32), 0)
    return pick(x, slice_in_dim(order, 0, max(size - count, 0), 1, 0), axis)


# ---- trim_zeros ---------------------------------------------------------------------------------
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """The array without leading ("f") and trailing ("b") zeros, along all axes or those in `axis`.

    The result's shape depends on the values, so they can't be traced.

    Raises ValueError for another `trim`.  Differs from NumPy: a list gives an array.

    >>> jnp.trim_zeros(jnp.array([0, 0, 1, 0, 2, 0]))
    Array([1, 0, 2], dtype=int32)
    """
    x = array_like("trim_zeros", filt)
    sides = trim.lower() if isinstance(trim, str) else "?"
    if not set(sides) <= set("fb"):
        raise ValueError(f"trim_zeros: unexpected character(s) in `trim`: {trim!r}")
    value = _known(x)
    if value is None:
        assert isinstance(x, Tracer)
        raise errors.ConcretizationTypeError.parameter("trim_zeros", "filt", x.traced())
    axes = range(x.aval.ndim) if axis is None else axes_argument("trim_zeros", axis, x.aval)
    found = np.nonzero(value)
    cut: list[slice] = [slice(None)] * x.aval.ndim
    for i in axes:
        size = x.aval.shape[i]
        low, high = size, 0
        if found[i].size:
            low, high = int(found[i].min()), int(found[i].max()) + 1
        cut[i] = slice(low if "f" in sides else 0, high if "b" in sides else size)
    return getitem(x, tuple(cut))
