"""Joining arrays along an axis, and cutting them apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.trace import Tracer
from hloom.errors import ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import axis_argument, count_argument, dtype_argument, refuse_out
from hloom.numpy.common.operands import array_like, promote_dtypes
from hloom.numpy.shapes.manipulation import shape_1d, shape_2d, shape_3d
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import reshape
from hloom.ops.shapes.slicing import concatenate as lax_concatenate
from hloom.ops.shapes.slicing import slice_in_dim
from hloom.ops.shapes.slicing import stack as lax_stack
from hloom.ops.shapes.slicing import unstack as lax_unstack

Axes = tuple[int, ...]


# ---- concatenate --------------------------------------------------------------------------------
@eager.planned_sequence
def _concatenate(xs: Sequence[Any], plan: tuple[int | None, Any]) -> Any:
    axis, cast = plan
    arrays = _of_one_dtype("concatenate", xs, cast)
    if axis is None:
        return lax_concatenate([reshape(x, (x.aval.size,)) for x in arrays], 0)
    return _joined("concatenate", arrays, axis)


Cast = tuple[np.dtype[Any], str] | None


def _cast(name: str, dtype: Any, casting: str) -> Cast:
    """The dtype asked for, and NumPy's rule for what may be converted to it.

    An array is none, though it has one: it is one of those to join, given beside the list.
    """
    if isinstance(dtype, (Array, np.ndarray)):
        raise TypeError(f"{name} takes a dtype; got an array of shape {dtype.shape}")
    return None if dtype is None else (dtype_argument(name, dtype), casting)


def _of_one_dtype(name: str, xs: Sequence[Any], cast: Cast) -> list[Any]:
    if cast is None:
        return promote_dtypes(name, *xs)
    dtype, casting = cast
    arrays = [array_like(name, x, i) for i, x in enumerate(xs)]
    for x in arrays:
        if not dtypes.can_cast(x.aval.dtype, dtype, casting):
            raise TypeError(
                f"{name}: Cannot cast array data from {x.aval.dtype!r} to {dtype!r} according to "
                f"the rule {casting!r}; give casting='unsafe', or convert the array first"
            )
    return [convert_element_type(x, dtype) for x in arrays]


def _joined(name: str, arrays: Sequence[Any], axis: int) -> Any:
    """Arrays of one dtype, one behind the other; raises ValueError where their shapes differ."""
    first = arrays[0].aval
    if not all(x.aval.ndim for x in arrays):
        raise ShapeError(
            f"{name}: zero-dimensional arrays cannot be concatenated: {_types(arrays)}. "
            "Stack them: jnp.stack(arrays)."
        )
    if any(x.aval.ndim != first.ndim for x in arrays):
        raise ShapeError(
            f"{name}: all the input arrays must have same number of dimensions; "
            f"got {_types(arrays)}"
        )
    axis = axis_argument(name, axis, first)
    for number, x in enumerate(arrays):
        for i, (n, m) in enumerate(zip(first.shape, x.aval.shape)):
            if n != m and i != axis:
                raise ShapeError(
                    f"{name}: all the input array dimensions except for the concatenation axis, "
                    f"{axis}, must match exactly, but along axis {i} the array at index 0, "
                    f"{first}, has size {n} and the array at index {number}, {x.aval}, has size {m}"
                )
    return lax_concatenate(arrays, axis)


def _types(arrays: Sequence[Any]) -> str:
    shown = [str(x.aval) for x in arrays[:6]]
    return ", ".join(shown) + (", .." if len(arrays) > 6 else "")


def members(name: str, arrays: Any) -> Sequence[Any]:
    """The arrays of a sequence; of an array, its rows.

    Raises TypeError for what is no sequence, ValueError for an empty one.
    """
    if not isinstance(arrays, (list, tuple)):
        if not isinstance(arrays, (Array, np.ndarray)) and not hasattr(arrays, "__jax_array__"):
            raise TypeError(
                f"{name} takes a sequence of arrays, a list or a tuple; got "
                f"{type(arrays).__name__} {arrays!r:.60}"
            )
        whole = array_like(name, arrays)
        if not whole.aval.ndim:
            raise ShapeError(f"{name} takes a sequence of arrays; got one 0-d array, {whole.aval}")
        arrays = unstack(whole)
    if not arrays:
        raise ValueError(f"{name}: need at least one array to join; got an empty sequence")
    made = enumerate(arrays)
    return [array_like(name, x, i) if isinstance(x, (list, tuple)) else x for i, x in made]


def concatenate(
    arrays: Any,
    /,
    axis: int | None = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Array:
    """The arrays one behind the other along an axis, or flattened where `axis` is None.

    Their dtypes are promoted; or they are converted to `dtype`, as far as NumPy's rule `casting`
    allows.

    Raises ValueError when they differ on another axis, AxisError for an axis that is not there.

    >>> jnp.concatenate([jnp.array([[1, 2]]), jnp.array([[3, 4]])], axis=1)
    Array([[1, 2, 3, 4]], dtype=int32)
    """
    if out is not None:
        refuse_out("concatenate", out)
    if axis.__class__ is not int and axis is not None:
        axis = count_argument("concatenate", "axis", axis)
    cast = None if dtype is None else _cast("concatenate", dtype, casting)
    return _concatenate(members("concatenate", arrays), (axis, cast))


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """The arrays one behind the other along an axis: `concatenate`, by its name in the standard.

    >>> jnp.concat([jnp.arange(2), jnp.arange(2)])
    Array([0, 1, 0, 1], dtype=int32)
    """
    return concatenate(arrays, axis)


# ---- stack --------------------------------------------------------------------------------------
@eager.planned_sequence
def _stack(xs: Sequence[Any], plan: tuple[int, Any]) -> Any:
    axis, cast = plan
    arrays = _of_one_dtype("stack", xs, cast)
    first = arrays[0].aval
    if any(x.aval.shape != first.shape for x in arrays):
        raise ShapeError(f"stack: all input arrays must have the same shape; got {_types(arrays)}")
    return lax_stack(arrays, axis_argument("stack", axis, first.ndim + 1))


def stack(
    arrays: Any,
    axis: int = 0,
    out: Any = None,
    dtype: Any = None,
    *,
    casting: str = "same_kind",
) -> Array:
    """The arrays, all of one shape, along a new axis of the result.

    Raises ValueError when their shapes differ, AxisError for an axis that is not there.

    >>> jnp.stack([jnp.arange(2), jnp.arange(2)], axis=1)
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    refuse_out("stack", out)
    plan = count_argument("stack", "axis", axis), _cast("stack", dtype, casting)
    return _stack(members("stack", arrays), plan)


@eager.planned_sequence
def _shaped_and_joined(xs: Sequence[Any], plan: tuple[str, Any]) -> Any:
    """hstack and its like: each array is given the axes it lacks first."""
    name, cast = plan
    arrays = _of_one_dtype(name, xs, cast)
    shaped = [reshape(x, _SHAPES[name](x.aval.shape)) for x in arrays]
    axis = 0 if name == "vstack" or (name == "hstack" and shaped[0].aval.ndim == 1) else 1
    return _joined(name, shaped, 2 if name == "dstack" else axis)


def _column(shape: Axes) -> Axes:
    return shape if len(shape) > 1 else ((*shape, 1) if shape else (1, 1))


_SHAPES = {"hstack": shape_1d, "vstack": shape_2d, "dstack": shape_3d, "column_stack": _column}


def _join(name: str, arrays: Any, dtype: Any, casting: str = "same_kind") -> Array:
    return _shaped_and_joined(members(name, arrays), (name, _cast(name, dtype, casting)))


def hstack(tup: Any, dtype: Any = None, *, casting: str = "same_kind") -> Array:
    """The arrays side by side: along axis 1, vectors along their only axis.

    Raises ValueError when their shapes don't go together.

    >>> jnp.hstack([jnp.array([1, 2]), jnp.array([3])])
    Array([1, 2, 3], dtype=int32)
    """
    return _join("hstack", tup, dtype, casting)


def vstack(tup: Any, dtype: Any = None, *, casting: str = "same_kind") -> Array:
    """The arrays one below the other: along axis 0, vectors as rows.

    Raises ValueError when their shapes don't go together.

    >>> jnp.vstack([jnp.array([1, 2]), jnp.array([3, 4])])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return _join("vstack", tup, dtype, casting)


def dstack(tup: Any, dtype: Any = None) -> Array:
    """The arrays along axis 2: vectors and matrices are given that axis first.

    Raises ValueError when their shapes don't go together.

    >>> jnp.dstack([jnp.array([1, 2]), jnp.array([3, 4])])
    Array([[[1, 3],
            [2, 4]]], dtype=int32)
    """
    return _join("dstack", tup, dtype)


def column_stack(tup: Any) -> Array:
    """Vectors as the columns of a matrix; matrices as they are, side by side.

    Raises ValueError when their shapes don't go together.

    >>> jnp.column_stack([jnp.array([1, 2]), jnp.array([3, 4])])
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return _join("column_stack", tup, None)


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """`values` behind `arr` along an axis; without `axis` both are flattened.

    Raises ValueError when their shapes don't go together.

    >>> jnp.append(jnp.array([1, 2]), 3)
    Array([1, 2, 3], dtype=int32)
    """
    return concatenate([array_like("append", arr), array_like("append", values, 1)], axis)


# ---- block --------------------------------------------------------------------------------------
def block(arrays: Any) -> Array:
    """One array of blocks: the innermost lists are joined along the last axis, and so outwards.

    Raises ValueError for empty lists, lists of unequal depth and shapes that don't go together,
    TypeError for tuples.

    >>> jnp.block([[jnp.ones((1, 2)), 0.0], [2.0, jnp.zeros((1, 2))]])
    Array([[1., 1., 0.],
           [2., 0., 0.]], dtype=float32)
    """
    leaves: list[Any] = []
    layout = _block_layout(arrays, "arrays", leaves)
    depths = set(_depths(layout, 0))
    if len(depths) > 1:
        raise ValueError(
            f"block: list depths are mismatched: there are elements at depths {sorted(depths)}"
        )
    return _block(leaves, layout)


def _block_layout(arrays: Any, where: str, leaves: list[Any]) -> Any:
    """The nested lists as nested tuples, with None for each array."""
    if isinstance(arrays, tuple):
        raise TypeError(
            f"block: {where} is a tuple. Only lists can be used to arrange blocks; write [..]."
        )
    if not isinstance(arrays, list):
        leaves.append(array_like("block", arrays, len(leaves)))
        return None
    if not arrays:
        raise ValueError(f"block: List at {where} cannot be empty")
    return tuple([_block_layout(x, f"{where}[{i}]", leaves) for i, x in enumerate(arrays)])


def _depths(layout: Any, depth: int) -> list[int]:
    return [depth] if layout is None else [d for x in layout for d in _depths(x, depth + 1)]


@eager.planned_sequence
def _block(xs: Sequence[Any], layout: Any) -> Any:
    arrays = promote_dtypes("block", *xs)
    depth = _depths(layout, 0)[0]
    ndim = max([depth, *[x.aval.ndim for x in arrays]])
    if not depth:
        return arrays[0]
    shaped = iter([reshape(x, (1,) * (ndim - x.aval.ndim) + x.aval.shape) for x in arrays])

    def build(part: Any, axis: int) -> Any:
        if part is None:
            return next(shaped)
        return _joined("block", [build(x, axis + 1) for x in part], axis)

    return build(layout, ndim - depth)


# ---- cutting ------------------------------------------------------------------------------------
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of the array along an axis, which they no longer have.

    Raises ValueError for a 0-d array, AxisError for an axis that is not there.

    >>> jnp.unstack(jnp.array([[1, 2], [3, 4]]), axis=1)
    (Array([1, 3], dtype=int32), Array([2, 4], dtype=int32))
    """
    x = array_like("unstack", x)
    if not x.aval.ndim:
        raise ValueError(f"unstack: input array must be at least 1-d; got {x.aval}")
    return _unstack(x, axis=axis_argument("unstack", axis, x.aval))


@eager.function(static=("axis",))
def _unstack(x: Any, axis: int) -> Any:
    return lax_unstack(x, axis)


@eager.function(static=("ends", "axis"))
def _split(x: Any, ends: Axes, axis: int) -> Any:
    return [slice_in_dim(x, a, max(a, b), 1, axis) for a, b in pairwise(ends)]


def _pieces(name: str, ary: Any, sections: Any, axis: Any, equal: bool) -> list[Array]:
    x = array_like(name, ary)
    if not x.aval.ndim:
        raise ValueError(f"{name}: a 0-d array can't be split; got {x.aval}")
    axis = axis_argument(name, axis, x.aval)
    size = x.aval.shape[axis]
    if isinstance(sections, (list, tuple)) or getattr(sections, "ndim", 0):
        if isinstance(sections, Array) and not isinstance(sections, Tracer):
            sections = np.asarray(sections)  # an element of an Array is one more Array
        places = [count_argument(name, "indices_or_sections", i) for i in sections]
        places = [min(max(i + size if i < 0 else i, 0), size) for i in places]
        return _split(x, ends=(0, *places, size), axis=axis)
    count = count_argument(name, "indices_or_sections", sections)
    if count <= 0:
        raise ValueError(f"{name}: number sections must be larger than 0; got {count}")
    each, more = divmod(size, count)
    if more and equal:
        raise ValueError(
            f"{name}: array split does not result in an equal division: axis {axis} of {x.aval} "
            f"into {count} parts. For unequal parts use jnp.array_split, or give the places to cut."
        )
    ends = (0, *[(i + 1) * each + min(i + 1, more) for i in range(count)])
    return _split(x, ends=ends, axis=axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """The array cut along an axis: into so many equal parts, or before each of the given places.

    Raises ValueError when the parts would not be equal, AxisError for an axis that is not there.

    >>> jnp.split(jnp.arange(6), [1, 4])
    [Array([0], dtype=int32), Array([1, 2, 3], dtype=int32), Array([4, 5], dtype=int32)]
    """
    return _pieces("split", ary, indices_or_sections, axis, True)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """The array cut along an axis into so many parts, the first ones one longer where need be.

    Raises ValueError for less than one part, AxisError for an axis that is not there.

    >>> jnp.array_split(jnp.arange(3), 2)
    [Array([0, 1], dtype=int32), Array([2], dtype=int32)]
    """
    return _pieces("array_split", ary, indices_or_sections, axis, False)


def _split_of_rank(name: str, ary: Any, sections: Any, axis: int, ndim: int) -> list[Array]:
    x = array_like(name, ary)
    if x.aval.ndim < ndim:
        raise ShapeError(f"{name} only works on arrays of {ndim} or more dimensions; got {x.aval}")
    return _pieces(name, x, sections, axis, True)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """The array cut into columns: along axis 1, a vector along its only axis.

    Raises what `split` raises.

    >>> [part.shape for part in jnp.hsplit(jnp.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    axis = 1 if array_like("hsplit", ary).aval.ndim > 1 else 0
    return _split_of_rank("hsplit", ary, indices_or_sections, axis, 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """The array cut into rows: along axis 0.

    Raises what `split` raises, and ValueError for a vector.

    >>> [part.shape for part in jnp.vsplit(jnp.ones((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    return _split_of_rank("vsplit", ary, indices_or_sections, 0, 2)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """The array cut along axis 2.

    Raises what `split` raises, and ValueError for fewer than three axes.

    >>> [part.shape for part in jnp.dsplit(jnp.ones((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _split_of_rank("dsplit", ary, indices_or_sections, 2, 3)
