"""Grids of coordinates, and the index objects `mgrid`, `ogrid`, `r_`, `c_`, `s_`."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.support.width import keeps_width
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import dtype_argument, shape_argument
from hloom.numpy.common.operands import array_like, promote_dtypes
from hloom.numpy.creation.creation import asarray, static
from hloom.numpy.creation.ranges import arange, iota, linspace
from hloom.ops.common.linear import broadcast_in_dim, move
from hloom.ops.shapes.shape import reshape
from hloom.ops.shapes.slicing import concatenate, stack


@eager.function(static=("copy", "sparse", "indexing"))
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """A tuple with one array for each vector: its coordinate at every point of the grid they span.

    With `indexing="xy"` the first two axes are swapped, so that rows follow the second vector;
    "ij" keeps them.  `sparse` leaves the other axes at size 1.

    Raises ValueError for another `indexing` and for arrays of more than one axis.

    >>> jnp.meshgrid(jnp.arange(2), jnp.arange(3))[0]
    Array([[0, 1],
           [0, 1],
           [0, 1]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"meshgrid: valid values for `indexing` are 'xy' and 'ij'; got {indexing!r:.60}"
        )
    vectors = [array_like("meshgrid", x, i) for i, x in enumerate(xi)]
    for i, x in enumerate(vectors):
        if x.aval.ndim > 1:
            raise ValueError(
                f"meshgrid takes vectors; argument {i} is {x.aval}. Flatten it: x.ravel()."
            )
    sizes = [x.aval.size for x in vectors]
    axes = list(range(len(sizes)))
    if indexing == "xy" and len(sizes) > 1:
        axes[0], axes[1] = 1, 0
    shape = [sizes[axes.index(i)] for i in range(len(sizes))]
    made = []
    for x, axis in zip(vectors, axes):
        whole = tuple(n if not sparse or i == axis else 1 for i, n in enumerate(shape))
        made.append(broadcast_in_dim(reshape(x, (x.aval.size,)), whole, (axis,)))
    return tuple(made)


def _position(shape: tuple[int, ...], axis: int, dtype: np.dtype[Any]) -> Array:
    """Each element its own position along `axis`."""
    column = np.arange(shape[axis]).astype(dtype).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    aval = ShapedArray(shape, dtype)
    return static(aval, lambda: np.broadcast_to(column, shape), lambda: iota(dtype, shape, axis))


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The positions of a grid: element [a, i, j, ..] is the position along axis a.

    With `sparse` it is a tuple of arrays that broadcast against each other instead.

    Raises what `zeros` raises.

    >>> jnp.indices((2, 2))
    Array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]], dtype=int32)
    """
    shape = shape_argument("indices", dimensions)
    found = dtype_argument("indices", dtype)
    if sparse:
        ones = [
            tuple(n if i == axis else 1 for i, n in enumerate(shape)) for axis in range(len(shape))
        ]
        return tuple(_position(each, axis, found) for axis, each in enumerate(ones))
    aval = ShapedArray((len(shape), *shape), found)

    def traced() -> Array:
        return stack([iota(found, shape, axis) for axis in range(len(shape))])

    return static(aval, lambda: np.indices(shape).astype(found), traced)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """What `function` gives for the arrays of all positions, one for each axis of `shape`.

    >>> jnp.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=int)
    Array([[ 0,  1,  2],
           [10, 11, 12]], dtype=int32)
    """
    shape = shape_argument("fromfunction", shape)
    found = dtype_argument("fromfunction", dtype)
    return function(*[_position(shape, axis, found) for axis in range(len(shape))], **kwargs)


# ---- index objects ------------------------------------------------------------------------------
def _range(item: slice) -> Array:
    """What a slice stands for: `a:b:c` is arange, `a:b:nj` is linspace with n numbers."""
    if item == slice(None):
        return arange(0)
    start = 0 if item.start is None else item.start
    if isinstance(item.step, complex):
        made: Array = linspace(start, item.stop, int(abs(item.step)))
        return made
    if item.stop is None:
        raise ValueError("a slice in mgrid, ogrid, r_ or c_ needs a stop: jnp.mgrid[0:3]")
    return arange(start, item.stop, 1 if item.step is None else item.step)


class Grid:
    """The class of `jnp.mgrid` and `jnp.ogrid`."""

    def __init__(self, name: str, sparse: bool):
        self._name = name
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _range(key)
        if not key:
            return () if self._sparse else arange(0)
        ranges = promote_dtypes(self._name, *[_range(each) for each in key])
        made = meshgrid(*ranges, indexing="ij", sparse=self._sparse)
        return tuple(made) if self._sparse else stack(made)

    def __repr__(self) -> str:
        return f"hloom.numpy.{self._name}"


#: The coordinates of a grid, each for all of its points: `jnp.mgrid[0:2, 0:3]` has shape (2, 2, 3).
#: A step with `j` counts points, and the end is one of them: `jnp.mgrid[0:1:5j]`.
mgrid = Grid("mgrid", sparse=False)
#: The same as a tuple of arrays that broadcast: `jnp.ogrid[0:2, 0:3]` has shapes (2, 1) and (1, 3).
ogrid = Grid("ogrid", sparse=True)


class Joiner:
    """The class of `jnp.r_` and `jnp.c_`: ranges, numbers and arrays joined along an axis."""

    def __init__(self, name: str, axis: int, ndmin: int, trans1d: int):
        self._name = name
        self._defaults = axis, ndmin, trans1d

    @keeps_width
    def __getitem__(self, key: Any) -> Array:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans1d = self._defaults
        directive = items.pop(0) if items and isinstance(items[0], str) else ""
        if directive not in ("", "r", "c"):
            axis, ndmin, trans1d = self._directive(directive)
        parts = [self._part(each, ndmin, trans1d) for each in items]
        if not parts:
            raise ValueError(f"{self._name} needs at least one array")
        joined: Array = concatenate(
            promote_dtypes(self._name, *parts), axis if axis >= 0 else axis + parts[0].aval.ndim
        )
        if directive in ("r", "c") and joined.aval.ndim == 1:  # NumPy's matrices: a row, a column
            size = joined.aval.size
            return reshape(joined, (1, size) if directive == "r" else (size, 1))
        return joined

    def _directive(self, text: str) -> tuple[int, int, int]:
        axis, ndmin, trans1d = self._defaults
        try:
            given = [int(each) for each in text.split(",")]
        except ValueError:
            raise ValueError(
                f"{self._name}: unknown directive {text!r}; it is 'axis,ndmin,trans1d' or a part"
            ) from None
        values = [*given, *(axis, ndmin, trans1d)[len(given) :]]
        return values[0], values[1], values[2]

    def _part(self, item: Any, ndmin: int, trans1d: int) -> Array:
        x = _range(item) if isinstance(item, slice) else asarray(item)
        own = x.aval.ndim
        if not own:
            x, own = reshape(x, (1,)), 1 if isinstance(item, slice) else 0
        missing = max(ndmin - max(own, 1), 0)
        if not missing:
            return x
        shape = x.aval.shape
        x = reshape(x, (1,) * missing + shape)
        if trans1d == -1 or own == 0:
            return x
        place = trans1d if trans1d >= 0 else trans1d + missing + 1
        for k in range(len(shape)):
            x = move(x, missing + k, place + k)
        return x

    def __repr__(self) -> str:
        return f"hloom.numpy.{self._name}"


#: Ranges, numbers and arrays joined along the first axis: `jnp.r_[0:3, 5, x]`.
r_ = Joiner("r_", axis=0, ndmin=1, trans1d=-1)
#: The same, 1-d arrays as columns side by side: `jnp.c_[x, y]` is a matrix of two columns.
c_ = Joiner("c_", axis=-1, ndmin=2, trans1d=0)
#: The index in its brackets, as it is: `jnp.s_[1:3, ...]` is a tuple.
s_ = np.s_
#: The same, always a tuple.
index_exp = np.index_exp
