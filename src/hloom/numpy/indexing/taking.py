"""Elements by their places along an axis, and writing them: take, put and their like.

Places that are known must be within the array, as in NumPy; what happens to traced ones outside
says `mode`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.core.array import Array, from_ndarray
from hloom.core.context import current
from hloom.core.support.known import known
from hloom.errors import ArgumentError, IndexKindError, ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axis_argument, refuse_inplace, refuse_out, warn_if_dropped
from hloom.numpy.common.operands import array_like, broadcast_shapes, broadcast_to
from hloom.numpy.common.reducing import BOOL, INT32, cast, cast_into, check_put, flat, kind_of
from hloom.numpy.indexing.indexing import wrap_traced
from hloom.numpy.indexing.nonzero import first_places, positions, required_value, size_argument
from hloom.ops.common.linear import broadcast_in_dim, constant
from hloom.ops.indexing.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from hloom.ops.indexing.gather import default_fill, gather
from hloom.ops.indexing.scatter import scatter
from hloom.ops.pointwise.arithmetic import sub
from hloom.ops.pointwise.binary import mod
from hloom.ops.pointwise.compare import clamp, lt, select
from hloom.ops.reductions.cumulative import cumsum
from hloom.ops.shapes.shape import iota, reshape

MODES = (None, "raise", "fill", "drop", "clip", "wrap", "promise_in_bounds")


# ---- places -------------------------------------------------------------------------------------
def _places(
    name: str, indices: Any, size: int, axis: int, mode: Any, error: type[Exception]
) -> tuple[Any, str]:
    """The places as integers, and the mode with which to read or write there.

    Raises IndexError for known places outside, in the default mode and in "raise".
    """
    if mode not in MODES:
        raise ValueError(
            f"{name}: mode must be one of {', '.join(repr(m) for m in MODES if m)}; got {mode!r}"
        )
    if isinstance(indices, (list, tuple)) and not indices:
        indices = np.zeros(0, np.int32)
    indices = array_like(name, indices, 1)
    if kind_of(indices) not in ("signed", "unsigned"):
        if kind_of(indices) != "bool" or error is IndexKindError:
            raise error(
                f"{name}: indices must be integers; got {indices.aval}. Convert them: "
                "i.astype(int)."
            )
        indices = cast(indices, INT32)
    if mode not in (None, "raise"):
        if mode in ("clip", "wrap") and not size and indices.aval.size:
            raise _from_nothing()
        return indices, "fill" if mode == "drop" else mode
    value = known(indices)
    if value is not None:
        _check_bounds(value, size, axis)
        return indices, "promise_in_bounds"
    if mode == "raise":
        raise NotImplementedError(
            f"{name}: mode='raise' needs places that are known, and a traced {indices.aval} is "
            "not; take mode='fill', "
            "'clip' or 'wrap'"
        )
    return indices, "fill"


def _from_nothing() -> IndexError:
    return IndexError("cannot do a non-empty take from an empty axes.")


def _check_bounds(value: np.ndarray[Any, Any], size: int, axis: int) -> None:
    if not value.size:
        return
    if not size:
        raise _from_nothing()
    low, high = int(value.min()), int(value.max())
    if low < -size or high >= size:
        outside = low if low < -size else high
        raise IndexError(f"index {outside} is out of bounds for axis {axis} with size {size}")


def _within(indices: Any, size: int, mode: str) -> tuple[Any, str]:
    """Places counted from the start, and a mode that gather and scatter know."""
    if indices.aval.dtype.itemsize < 4:  # the size may not fit the index's own dtype
        indices = cast(indices, INT32)
    dtype = indices.aval.dtype
    if mode == "wrap":
        return mod(indices, constant(max(size, 1), dtype)), "promise_in_bounds"
    if mode == "clip":
        return clamp(
            constant(0, dtype), indices, constant(max(size - 1, 0), dtype)
        ), "promise_in_bounds"
    return wrap_traced(indices, size, False), mode


def _flat_if_none(a: Any, axis: Any) -> tuple[Any, Any]:
    return (flat(a), 0) if axis is None else (a, axis)


# ---- take ---------------------------------------------------------------------------------------
def take(
    a: Any, indices: Any, axis: Any = None, out: None = None, mode: str | None = None,
    unique_indices: bool = False, indices_are_sorted: bool = False, fill_value: Any = None,
) -> Any:  # fmt: skip
    """The elements, or slices, at the places `indices` along `axis`, or in the flat array.

    Negative places count from the end.  Known places outside raise IndexError; traced ones give
    `fill_value` (by default NaN, the smallest signed or largest unsigned integer, or True).  Other
    modes are NumPy's "clip" (the nearest, negative ones the first) and "wrap", and "fill" for known
    places too.  Raises TypeError for places that are no integers, AxisError for an axis that is not
    there.

    >>> jnp.take(jnp.array([[1, 2, 3], [4, 5, 6]]), jnp.array([0, -1]), axis=1)
    Array([[1, 3],
           [4, 6]], dtype=int32)
    """
    refuse_out("take", out)
    a = array_like("take", a)
    along = 0 if axis is None else axis_argument("take", axis, a.aval)
    size = a.aval.size if axis is None else a.aval.shape[along]
    if fill_value is not None and mode is None:
        mode = "fill"
    indices, mode = _places("take", indices, size, along, mode, ArgumentError)
    if mode != "fill":
        fill_value = None
    hints = (bool(unique_indices), bool(indices_are_sorted))
    return _take(
        a, indices, fill_value, axis=None if axis is None else along, mode=mode, hints=hints
    )


@eager.function(static=("axis", "mode", "hints"))
def _take(
    a: Any, indices: Any, fill_value: Any, axis: int | None, mode: str, hints: tuple[bool, bool]
) -> Any:
    a, axis = _flat_if_none(a, axis)
    shape, batch = a.aval.shape, indices.aval.ndim
    before = tuple(range(axis))
    behind = tuple(range(axis + batch, len(shape) - 1 + batch))
    filling = None if fill_value is None else _scalar("take", fill_value, a)
    if not shape[axis]:
        return _nothing(a, (*shape[:axis], *indices.aval.shape, *shape[axis + 1 :]), filling)
    places, mode = _within(indices, shape[axis], mode)
    numbers = GatherDimensionNumbers((*before, *behind), (axis,), (axis,))
    sizes = [1 if i == axis else n for i, n in enumerate(shape)]
    return gather(
        a, reshape(places, (*places.aval.shape, 1)), numbers, sizes, mode=mode, fill_value=filling,
        unique_indices=hints[0], indices_are_sorted=hints[1],
    )  # fmt: skip


def _scalar(name: str, value: Any, like: Any) -> Any:
    """A number in the dtype of an array."""
    value = array_like(name, value)
    if value.aval.shape:
        raise ValueError(f"{name}: fill_value must be a number; got {value.aval}")
    return cast_into(value, like)


def _nothing(a: Any, shape: tuple[int, ...], filling: Any) -> Any:
    """What is read from an axis of size 0."""
    if filling is None:
        filling = constant(default_fill(a.aval.dtype), a.aval.dtype, a.aval.weak_type)
    return broadcast_to(filling, shape)


# ---- along an axis ------------------------------------------------------------------------------
def take_along_axis(
    arr: Any, indices: Any, axis: Any = -1, mode: str | None = None, fill_value: Any = None, *,
    wrap_negative_indices: bool | None = None,
) -> Any:  # fmt: skip
    """For each slice along `axis`, the elements at the places that `indices` has in its slice.

    `arr` and `indices` broadcast along the other axes.  With `axis=None` the flat array is read, at
    1-d `indices`.  Known places outside raise IndexError; traced ones give `fill_value`, or what
    `mode` says, as in `take`, but that "clip" counts negative ones from the end.  Raises ValueError
    for another number of axes, IndexError for places that are no integers.

    >>> x = jnp.array([[30, 10, 20], [5, 6, 4]])
    >>> jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)
    Array([[10, 20, 30],
           [ 4,  5,  6]], dtype=int32)
    """
    arr = array_like("take_along_axis", arr)
    axis, size, shape = _along("take_along_axis", arr, indices, axis)
    if fill_value is not None and mode is None:
        mode = "fill"
    along = 0 if axis is None else axis
    indices, mode = _places("take_along_axis", indices, size, along, mode, IndexKindError)
    if mode != "fill":
        fill_value = None
    wrap = wrap_negative_indices is None or bool(wrap_negative_indices)
    return _take_along_axis(arr, indices, fill_value, axis=axis, mode=mode, rest=(shape, wrap))


def _along(name: str, arr: Any, indices: Any, axis: Any) -> tuple[Any, int, tuple[int, ...]]:
    """The axis, its size, and the shape of what is read or written."""
    given = array_like(name, indices, 1).aval
    if axis is None:
        if given.ndim != 1:
            raise ShapeError(
                f"{name}: when axis=None, `indices` must have a single dimension; got {given}"
            )
        return None, arr.aval.size, given.shape
    if given.ndim != arr.aval.ndim:
        raise ShapeError(
            f"{name}: `indices` and `arr` must have the same number of dimensions; got {given} for "
            f"{arr.aval}"
        )
    axis = axis_argument(name, axis, arr.aval)
    ones = [
        tuple([1 if i == axis else n for i, n in enumerate(x.shape)]) for x in (given, arr.aval)
    ]
    try:
        common = list(broadcast_shapes(name, ones))
    except ValueError:
        raise IndexError(
            f"{name}: shape mismatch: indexing arrays could not be broadcast together with shapes "
            f"{given.shape} "
            f"{arr.aval.shape}, but for axis {axis}"
        ) from None
    common[axis] = given.shape[axis]
    return axis, arr.aval.shape[axis], tuple(common)


@eager.function(static=("axis", "mode", "rest"))
def _take_along_axis(
    a: Any, indices: Any, fill_value: Any, axis: int | None, mode: str, rest: Any
) -> Any:
    shape, wrap = rest
    a, axis = _flat_if_none(a, axis)
    filling = None if fill_value is None else _scalar("take_along_axis", fill_value, a)
    size = a.aval.shape[axis]
    if not size:
        return _nothing(a, shape, filling)
    a = broadcast_to(a, tuple([size if i == axis else n for i, n in enumerate(shape)]))
    if wrap and mode == "clip":  # from the end first: NumPy has no modes here, and JAX has this
        indices = wrap_traced(indices, size, False)
    places, mode = _within(broadcast_to(indices, shape), size, mode) if wrap else (indices, mode)
    others = tuple([i for i in range(len(shape)) if i != axis])
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    places = reshape(broadcast_to(places, shape), (*shape, 1))
    return gather(a, places, numbers, (1,) * len(shape), mode=mode, fill_value=filling)


def _in_place(name: str, call: str, inplace: bool) -> None:
    """Raise ValueError for a change in place; warn where the changed copy is not taken."""
    if inplace:
        refuse_inplace(name, call, ValueError)
    warn_if_dropped(f"jnp.{name}({call}, inplace=False)", 5)


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: Any, inplace: bool = True, *, mode: str | None = None
) -> Any:
    """A copy of `arr` with `values` at the places that `indices` has in each slice along `axis`.

    `values` broadcast to the places; of two for one place the last counts.  Known places outside
    raise IndexError; traced ones are left out.  `inplace=False` must be given: arrays are
    immutable, and ValueError says so otherwise.

    >>> x = jnp.array([[30, 10, 20], [5, 6, 4]])
    >>> jnp.put_along_axis(x, jnp.array([[1], [0]]), 0, axis=1, inplace=False)
    Array([[30,  0, 20],
           [ 0,  6,  4]], dtype=int32)
    """
    _in_place("put_along_axis", "x, indices, values, axis", inplace)
    arr = array_like("put_along_axis", arr)
    check_put("put_along_axis", values, arr.aval)
    axis, size, shape = _along("put_along_axis", arr, indices, axis)
    along = 0 if axis is None else axis
    indices, mode = _places("put_along_axis", indices, size, along, mode, IndexKindError)
    return _put_along_axis(arr, indices, values, axis=axis, mode=mode, shape=shape)


@eager.function(static=("axis", "mode", "shape"))
def _put_along_axis(
    a: Any, indices: Any, values: Any, axis: int | None, mode: str, shape: tuple[int, ...]
) -> Any:
    before = a.aval.shape
    a, axis = _flat_if_none(a, axis)
    size = a.aval.shape[axis]
    values = cast_into(array_like("put_along_axis", values, 2), a)
    if broadcast_shapes("put_along_axis", [values.aval.shape, shape]) != shape:
        raise ShapeError(
            f"put_along_axis: could not broadcast values of shape {values.aval.shape} to {shape}"
        )
    target = tuple([size if i == axis else n for i, n in enumerate(shape)])
    if target != a.aval.shape:
        raise ShapeError(
            f"put_along_axis: indices of shape {shape} are too many for axis {axis} of {a.aval}"
        )
    if not size:
        return reshape(a, before)
    places, mode = _within(broadcast_to(indices, shape), size, mode)
    others = tuple([i for i in range(len(shape)) if i != axis])
    numbers = ScatterDimensionNumbers((), (axis,), (axis,), others, others)
    values = broadcast_to(values, shape)
    return reshape(scatter(a, reshape(places, (*shape, 1)), values, numbers, mode=mode), before)


# ---- put and place ------------------------------------------------------------------------------
def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """A copy of `a` with the values `v`, repeated as needed, at the places `ind` of the flat array.

    Of two values for one place the last counts.  Known places outside raise IndexError; traced ones
    are left out, unless `mode` is "clip" or "wrap".  `inplace=False` must be given: arrays are
    immutable, and ValueError says so otherwise.

    >>> jnp.put(jnp.zeros(4), jnp.array([1, -1]), jnp.array([5.0, 6.0]), inplace=False)
    Array([0., 5., 0., 6.], dtype=float32)
    """
    _in_place("put", "x, ind, v", inplace)
    a = array_like("put", a)
    check_put("put", v, a.aval)
    indices, mode = _places("put", ind, a.aval.size, 0, mode, ArgumentError)
    return _put(a, indices, v, mode=mode)


@eager.function(static=("mode",))
def _put(a: Any, indices: Any, v: Any, mode: str) -> Any:
    indices, values = flat(indices), flat(cast_into(array_like("put", v, 2), a))
    count, size = indices.aval.size, a.aval.size
    if not count or not size or not values.aval.size:
        return a
    places, mode = _within(indices, size, mode)
    numbers = ScatterDimensionNumbers((), (0,), (0,))
    updates = _repeated(values, iota(INT32, count))
    return reshape(
        scatter(flat(a), reshape(places, (count, 1)), updates, numbers, mode=mode), a.aval.shape
    )


def _repeated(values: Any, ranks: Any) -> Any:
    """The values of these ranks, starting again behind the last."""
    count = values.aval.size
    if count == 1:
        return broadcast_in_dim(values, ranks.aval.shape, (0,))
    ranks = mod(ranks, constant(count, INT32))
    numbers = GatherDimensionNumbers((), (0,), (0,))
    return gather(
        values, reshape(ranks, (*ranks.aval.shape, 1)), numbers, (1,), mode="promise_in_bounds"
    )


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """A copy of `arr` with the first elements of `vals`, repeated as needed, where the mask holds.

    Raises ValueError when the mask has another size, or there are no values.  `inplace=False` must
    be given: arrays are immutable, and ValueError says so otherwise.

    >>> x = jnp.array([1, 2, 3, 4])
    >>> jnp.place(x, x > 1, jnp.array([10, 20]), inplace=False)
    Array([ 1, 10, 20, 10], dtype=int32)
    """
    _in_place("place", "x, mask, vals", inplace)
    arr = array_like("place", arr)
    check_put("place", vals, arr.aval)
    return _place(arr, mask, vals)


@eager.function(static=())
def _place(arr: Any, mask: Any, vals: Any) -> Any:
    arr, mask, vals = (array_like("place", x, i) for i, x in enumerate((arr, mask, vals)))
    if mask.aval.size != arr.aval.size:
        raise ValueError(
            f"place: mask and data must be the same size; got {mask.aval} for {arr.aval}"
        )
    if not arr.aval.size:
        return arr
    if not vals.aval.size:
        raise ValueError("place: Cannot insert from an empty array!")
    mask, values = flat(cast(mask, BOOL)), flat(cast_into(vals, arr))
    ranks = sub(cumsum(cast(mask, INT32)), constant(1, INT32))
    return reshape(select(mask, _repeated(values, ranks), flat(arr)), arr.aval.shape)


def take_at(x: Any, places: Any) -> Any:
    """The slices along the first axis at these places, a vector of integers within bounds."""
    return _take(x, places, None, axis=0, mode="promise_in_bounds", hints=(False, False))


# ---- by a mask ----------------------------------------------------------------------------------
def at_host_places(name: str, x: Any, places: np.ndarray[Any, Any], axis: int) -> Any:
    """The slices at places that the host found: nothing is compiled for each new number of them."""
    if x.__class__ is Array and current.get().key is not None:
        found = np.take(x._value(), places, axis)
        return from_ndarray(found, x.aval.update(found.shape))
    hints = (False, False)
    return _take(x, positions(places), None, axis=axis, mode="promise_in_bounds", hints=hints)


def compress(
    condition: Any, a: Any, axis: Any = None, *, size: int | None = None, fill_value: Any = 0,
    out: None = None,
) -> Any:  # fmt: skip
    """The slices along `axis`, or elements of the flat array, for which the 1-d condition holds.

    Under a trace `size` must be given: only so many are kept, and `fill_value` fills up.  Raises
    ValueError for a condition that is not 1-d, IndexError for one that holds beyond the end,
    ConcretizationTypeError for a traced one without `size`.

    >>> jnp.compress(jnp.array([True, False, True]), jnp.array([7, 8, 9]))
    Array([7, 9], dtype=int32)
    """
    refuse_out("compress", out)
    a = array_like("compress", a, 1)
    condition = array_like("compress", condition)
    if condition.aval.ndim != 1:
        raise ValueError(f"compress: condition must be a 1-d array; got {condition.aval}")
    if axis is None:
        a, axis = flat(a), 0
    axis = axis_argument("compress", axis, a.aval)
    return chosen("compress", condition, a, axis, size, fill_value)


def chosen(name: str, condition: Any, a: Any, axis: int, size: Any, fill_value: Any) -> Any:
    """The slices for which a 1-d condition holds."""
    if size is None:
        places = np.flatnonzero(required_value(name, condition))
        _check_bounds(places, a.aval.shape[axis], axis)
        return at_host_places(name, a, places, axis)
    wanted = size_argument(name, size)
    if condition.aval.size > a.aval.shape[axis]:
        condition = condition[: a.aval.shape[axis]]
    return _chosen(condition, a, fill_value, axis=axis, size=wanted)


@eager.function(static=("axis", "size"))
def _chosen(condition: Any, a: Any, fill_value: Any, axis: int, size: int) -> Any:
    places, number = first_places(cast(condition, BOOL), size)
    filling = _scalar("compress", fill_value, a)
    found = _take(a, places, None, axis=axis, mode="promise_in_bounds", hints=(False, False))
    valid = broadcast_in_dim(lt(iota(INT32, size), number), found.aval.shape, (axis,))
    return select(valid, found, broadcast_to(filling, found.aval.shape))


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The elements for which the condition holds, in the order of the flat array.

    `size`, `fill_value` and errors are those of `compress`.

    >>> x = jnp.array([[1, 2], [3, 4]])
    >>> jnp.extract(x % 2 == 0, x)
    Array([2, 4], dtype=int32)
    """
    condition, arr = flat(array_like("extract", condition)), flat(array_like("extract", arr, 1))
    return chosen("extract", condition, arr, 0, size, fill_value)
