"""Diagonals, and arrays of positions: of diagonals, triangles, masks and grids."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array
from hloom.core.context import current
from hloom.core.support.known import known
from hloom.core.trace import Tracer, ensure_compile_time_eval
from hloom.errors import ArgumentError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import (
    axis_argument,
    count_argument,
    refuse_inplace,
    shape_argument,
    warn_if_dropped,
)
from hloom.numpy.common.operands import array_like, broadcast
from hloom.numpy.common.reducing import cast_into, check_put
from hloom.numpy.indexing.insert_delete_repeat import pick
from hloom.numpy.indexing.nonzero import size_argument
from hloom.numpy.shapes import manipulation
from hloom.ops.common.linear import broadcast_in_dim, constant, transpose
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.pointwise.binary import bitwise_and, floor_divide, mod
from hloom.ops.pointwise.compare import clamp, eq, lt, select
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import iota, reshape
from hloom.ops.shapes.slicing import slice as lax_slice

INT32 = np.dtype("int32")
NDArray = np.ndarray[Any, Any]


# ---- diagonals ----------------------------------------------------------------------------------
def diagonals(x: Any, offset: int) -> Any:
    """f32[.., n, m] --> f32[.., min(n, m)], for offset 0: every (m + 1)th element of a matrix."""
    *lead, rows, columns = x.aval.shape
    ndim = len(lead)
    first_row, first_column = max(-offset, 0), max(offset, 0)
    count = max(min(rows - first_row, columns - first_column), 0)
    width = max(columns - first_column, 0)
    starts = [0] * ndim + [min(first_row, rows), min(first_column, columns)]
    part = lax_slice(x, starts, [*lead, starts[-2] + count, columns])
    flat = reshape(part, (*lead, count * width))
    end = (count - 1) * (width + 1) + 1 if count else 0
    return lax_slice(flat, [0] * (ndim + 1), [*lead, end], [1] * ndim + [width + 1])


def matrices_of(name: str, a: Any, axis1: Any, axis2: Any) -> Any:
    """The array with these two axes last."""
    x = array_like(name, a)
    if x.aval.ndim < 2:
        raise ValueError(f"{name} requires an array of at least two dimensions; got {x.aval}")
    i = axis_argument(name, axis1, x.aval, "axis1")
    j = axis_argument(name, axis2, x.aval, "axis2")
    if i == j:
        raise ValueError(f"{name}: axis1 and axis2 cannot be the same; both are {i}")
    return transpose(x, [*[k for k in range(x.aval.ndim) if k not in (i, j)], i, j])


@eager.function(static=("offset", "axis1", "axis2"))
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonals of the matrices that two axes span, along a new last axis.

    A positive `offset` is a diagonal above the main one, a negative one below.

    Raises ValueError for fewer than two axes, or one axis given twice.

    >>> jnp.diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    x = matrices_of("diagonal", a, axis1, axis2)
    return diagonals(x, count_argument("diagonal", "offset", offset))


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Array:
    """The array with `val` on its main diagonal, where all positions are equal.

    `val` is a number, or elements that are repeated along the diagonal.  `wrap` goes on with
    another diagonal below the first, in a matrix that is higher than wide.

    Raises ValueError for fewer than two axes, or unequal sizes of more than two.  Differs from
    NumPy: arrays are immutable, so `inplace=False` must be given.

    >>> jnp.fill_diagonal(jnp.zeros((2, 2)), 5, inplace=False)
    Array([[5., 0.],
           [0., 5.]], dtype=float32)
    """
    if inplace:
        refuse_inplace("fill_diagonal", "x, val", NotImplementedError)
    warn_if_dropped("jnp.fill_diagonal(x, val, inplace=False)")
    a = array_like("fill_diagonal", a)
    check_put("fill_diagonal", val, a.aval)
    return _fill_diagonal(a, val, wrap=bool(wrap))


@eager.function(static=("wrap",))
def _fill_diagonal(a: Any, val: Any, wrap: bool) -> Any:
    x = array_like("fill_diagonal", a)
    shape = x.aval.shape
    if len(shape) < 2:
        raise ValueError(f"fill_diagonal: array must be at least 2-d; got {x.aval}")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise ValueError(
            f"fill_diagonal: all dimensions of input must be of equal length: {x.aval}"
        )
    step = shape[1] + 1 if len(shape) == 2 else sum(shape[0] ** i for i in range(len(shape)))
    size = x.aval.size
    end = size if wrap or len(shape) > 2 else min(shape[1] * shape[1], size)
    given = cast_into(array_like("fill_diagonal", val, 1), x)
    if not given.aval.size or not size:
        return x
    place = iota(INT32, size)
    number, rest = floor_divide(place, _int(step)), mod(place, _int(step))
    flat = reshape(given, (given.aval.size,))
    if given.aval.size == 1:
        values = broadcast_in_dim(flat, (size,), (0,))
    else:
        values = pick(flat, mod(number, _int(given.aval.size)), 0)
    chosen = bitwise_and(eq(rest, _int(0)), lt(place, _int(end)))
    return reshape(select(chosen, values, reshape(x, (size,))), shape)


def _int(value: int) -> Any:
    return constant(value, INT32)


# ---- positions of diagonals, triangles, masks ---------------------------------------------------
def _sent(*values: NDArray) -> tuple[Array, ...]:
    """Positions known on the host, as arrays of the default integer dtype."""
    dtype = dtypes.default_int(current.get().config.enable_x64)
    return tuple([array_like("positions", v.astype(dtype)) for v in values])


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The positions of the main diagonal of an array with `ndim` axes of size `n`.

    >>> jnp.diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    count = count_argument("diag_indices", "ndim", ndim)
    return _sent(np.arange(count_argument("diag_indices", "n", n))) * count


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """The positions of the main diagonal of an array.

    Raises ValueError for fewer than two axes or axes of unequal size.

    >>> jnp.diag_indices_from(jnp.ones((2, 2)))
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    aval = array_like("diag_indices_from", arr).aval
    if aval.ndim < 2:
        raise ValueError(f"diag_indices_from: input array must be at least 2-d; got {aval}")
    if len(set(aval.shape)) > 1:
        raise ValueError(
            f"diag_indices_from: All dimensions of input must be of equal length; got {aval}"
        )
    return diag_indices(aval.shape[0], aval.ndim)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Rows and columns of the elements at and below the k-th diagonal of an n by m matrix.

    >>> jnp.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns, k = _triangle("tril_indices", n, k, m)
    return _sent(*np.tril_indices(rows, k, columns))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """Rows and columns of the elements at and above the k-th diagonal of an n by m matrix.

    >>> jnp.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns, k = _triangle("triu_indices", n, k, m)
    return _sent(*np.triu_indices(rows, k, columns))


def _triangle(name: str, n: Any, k: Any, m: Any) -> tuple[int, int, int]:
    rows = count_argument(name, "n", n)
    columns = rows if m is None else count_argument(name, "m", m)
    if min(rows, columns) < 0:
        raise ValueError(f"{name}: negative dimensions are not allowed; got {(rows, columns)}")
    return rows, columns, count_argument(name, "k", k)


def _matrix_shape(name: str, arr: Any) -> tuple[int, int]:
    aval = array_like(name, arr).aval
    if aval.ndim != 2:
        raise ValueError(f"{name}: input array must be 2-d; got {aval}")
    return aval.shape[0], aval.shape[1]


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Rows and columns of the elements at and below the k-th diagonal of a matrix.

    Raises ValueError for other than two axes.

    >>> jnp.tril_indices_from(jnp.ones((2, 2)), -1)
    (Array([1], dtype=int32), Array([0], dtype=int32))
    """
    n, m = _matrix_shape("tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """Rows and columns of the elements at and above the k-th diagonal of a matrix.

    Raises ValueError for other than two axes.

    >>> jnp.triu_indices_from(jnp.ones((2, 2)), 1)
    (Array([0], dtype=int32), Array([1], dtype=int32))
    """
    n, m = _matrix_shape("triu_indices_from", arr)
    return triu_indices(n, k, m)


def mask_indices(
    n: int, mask_func: Callable[..., Any], k: Any = 0, *, size: int | None = None
) -> tuple[Array, ...]:
    """The positions of the elements of an n by n matrix that `mask_func(matrix, k)` leaves nonzero.

    With `size` there are as many: the first ones, and zeros behind the last.

    >>> jnp.mask_indices(2, jnp.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    side = count_argument("mask_indices", "n", n)
    with ensure_compile_time_eval():
        mask = mask_func(array_like("mask_indices", np.ones((side, side), np.int32)), k)
    found = np.nonzero(np.asarray(mask))
    if size is not None:
        wanted = size_argument("mask_indices", size)
        found = tuple([np.pad(p[:wanted], (0, max(wanted - p.size, 0))) for p in found])
    return _sent(*found)


def ix_(*args: Any) -> tuple[Array, ...]:
    """Vectors of positions as arrays that index the grid they span: one axis each.

    A vector of truth values stands for the positions where it is True; it can't be traced.

    Raises ValueError for other than vectors.

    >>> jnp.arange(6).reshape(2, 3)[jnp.ix_(jnp.array([0, 1]), jnp.array([0, 2]))]
    Array([[0, 2],
           [3, 5]], dtype=int32)
    """
    made = []
    for i, given in enumerate(args):
        x = array_like("ix_", given, i)
        if x.aval.ndim != 1:
            raise ValueError(f"ix_: Cross index must be 1 dimensional; argument {i} is {x.aval}")
        if not x.aval.size and isinstance(given, (list, tuple)):
            x = _sent(np.zeros(0, np.int32))[0]
        if x.aval.kind == "bool":
            value = known(x)
            if value is None:
                assert isinstance(x, Tracer)
                raise errors.NonConcreteBooleanIndexError.of(x.traced())
            x = _sent(np.flatnonzero(value))[0]
        shape = [1] * len(args)
        shape[i] = x.aval.size
        made.append(manipulation.reshape(x, tuple(shape)))
    return tuple(made)


# ---- positions in a grid and in the flattened array ---------------------------------------------
def _strides(name: str, shape: tuple[int, ...], order: str) -> list[int]:
    """How many elements apart neighbours along each axis are."""
    if order not in ("C", "F"):
        raise ValueError(f"{name}: order must be 'C' or 'F'; got {order!r:.60}")
    if order == "F":
        return [prod(shape[:i]) for i in range(len(shape))]
    return [prod(shape[i + 1 :]) for i in range(len(shape))]


def _integers(name: str, given: Any, position: int = 0) -> Array:
    x = array_like(name, given, position)
    if not dtypes.in_domain(x.aval.dtype, "integer"):
        raise ArgumentError(f"{name}: only int indices permitted; got {x.aval}")
    return x


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """The positions along each axis of elements that are given by their place in the flat array.

    They have the dtype of `indices`, if that is signed and can count along every axis, else the
    default integer.  Raises ValueError for a known place out of range; traced ones are clipped.

    >>> jnp.unravel_index(5, (2, 3))
    (Array(1, dtype=int32), Array(2, dtype=int32))
    """
    x = _integers("unravel_index", indices)
    sizes = shape_argument("unravel_index", shape)
    size, value = prod(sizes), known(x)
    if value is not None and value.size:
        for each in (int(value.min()), int(value.max())):
            if not 0 <= each < size:
                raise ValueError(
                    f"unravel_index: index {each} is out of bounds for array with size {size}, "
                    f"shape {sizes}"
                )
    return _unravel(x, shape=sizes, order=order)


def _default_int(x: Any) -> Any:
    dtype = dtypes.default_int(current.get().config.enable_x64)
    return convert_element_type(x, dtype)


@eager.function(static=("shape", "order"))
def _unravel(x: Any, shape: tuple[int, ...], order: str) -> Any:
    own = x.aval.dtype
    x = _default_int(x)
    dtype = x.aval.dtype
    x = clamp(constant(0, dtype), x, constant(max(prod(shape) - 1, 0), dtype))
    found = [
        mod(floor_divide(x, constant(max(step, 1), dtype)), constant(max(n, 1), dtype))
        for step, n in zip(_strides("unravel_index", shape, order), shape)
    ]
    signed = dtypes.kind(own) == "signed"
    fits = signed and max(shape, default=1) - 1 <= int(dtypes.iinfo(own).max)
    return tuple([convert_element_type(i, own) if fits else i for i in found])


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """The places in the flat array of elements that are given by their positions along each axis.

    `mode` says what happens to positions out of range, for all axes or each: "raise", "wrap" or
    "clip".

    Raises ValueError for positions out of range in mode "raise", which traced ones can't be
    checked for.

    >>> jnp.ravel_multi_index((jnp.array([0, 1]), jnp.array([1, 2])), (2, 3))
    Array([1, 5], dtype=int32)
    """
    name = "ravel_multi_index"
    sizes = shape_argument(name, dims)
    if len(multi_index) != len(sizes):
        raise ValueError(
            f"{name}: parameter multi_index must be a sequence of length {len(sizes)}; "
            f"its length is {len(multi_index)}"
        )
    modes = (mode,) * len(sizes) if isinstance(mode, str) else tuple(mode)
    positions = [_integers(name, p, i) for i, p in enumerate(multi_index)]
    for p, n, how in zip(positions, sizes, modes, strict=True):
        if how not in ("raise", "wrap", "clip"):
            raise ValueError(
                f"{name}: mode must be one of 'clip', 'raise', or 'wrap' (got {how!r:.60})"
            )
        if how == "raise":
            _check_within(p, n)
    return _ravel_multi(positions, dims=sizes, mode=modes, order=order)


def _check_within(x: Array, size: int) -> None:
    value = known(x)
    if value is None:
        assert isinstance(x, Tracer)
        raise errors.ConcretizationTypeError.parameter(
            "ravel_multi_index with mode 'raise' (not 'wrap' or 'clip')", "multi_index", x.traced()
        )
    if value.size and not (0 <= value.min() and value.max() < size):
        raise ValueError(
            f"ravel_multi_index: invalid entry in coordinates array: {value.min()} to "
            f"{value.max()} on an axis of size {size}"
        )


@eager.function(static=("dims", "mode", "order"), sequences=("positions",))
def _ravel_multi(positions: Any, dims: tuple[int, ...], mode: Any, order: str) -> Any:
    whole = broadcast("ravel_multi_index", [_default_int(p) for p in positions])
    total = None
    for x, n, how, step in zip(whole, dims, mode, _strides("ravel_multi_index", dims, order)):
        dtype = x.aval.dtype
        if how == "wrap":
            x = mod(x, constant(max(n, 1), dtype))
        elif how == "clip":
            x = clamp(constant(0, dtype), x, constant(max(n - 1, 0), dtype))
        x = mul(x, constant(step, dtype))
        total = x if total is None else add(total, x)
    return total
