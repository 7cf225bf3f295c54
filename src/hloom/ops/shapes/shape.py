"""Shape without arithmetic: reshape, reverse, make, pass through.

What moves axes or repeats elements is in `linear`; what cuts and joins, in `slicing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes, tree
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import as_array
from hloom.core.primitive import Primitive
from hloom.core.support.strict import refuse_data, refuse_sharding, strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.linear import (
    Linear,
    broadcast_in_dim,
    constant,
    move,
    spread_scalar,
    transpose,
)
from hloom.ops.pointwise.convert import convert_element_type


# ---- shapes and axes as users write them ----------------------------------------------------
def integers(name: str, what: str, values: Any) -> tuple[int, ...]:
    """`values` as ints; raises TypeError for what is not a sequence of integers."""
    refuse_data(name, what, values)
    try:
        if isinstance(values, (str, bytes, dict, set)):
            raise TypeError("no sequence of integers")
        return tuple(map(index, values))
    except TypeError as error:
        if "tracer" in type(error).__name__.lower():
            raise  # it says more than this could
        raise ArgumentError(
            f"{name} takes {what} as a sequence of integers; got {values!r:.80}"
        ) from error


def canonical_shape(name: str, shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of sizes; raises ValueError for a negative one."""
    sizes = integers(name, "a shape", shape)
    if sizes and min(sizes) < 0:
        raise ShapeError(f"{name} takes a shape of non-negative sizes; got {sizes}")
    return sizes


def canonical_axis(name: str, axis: Any, ndim: int) -> int:
    """An axis counted from the front; a negative one counts from the end.

    Raises ValueError when there is no such axis, TypeError for what is no integer, or a bool.
    """
    try:
        found = index(None if isinstance(axis, bool) else axis)
    except TypeError as error:
        raise ArgumentError(f"{name} takes an integer axis; got {axis!r:.80}") from error
    if not -ndim <= found < ndim:
        raise ShapeError(
            f"{name}: axis {found} is out of bounds for an array of dimension {ndim}; "
            + (f"axes run from {-ndim} to {ndim - 1}" if ndim else "it has no axes")
        )
    return found % ndim


def canonical_axes(name: str, axes: Iterable[Any], ndim: int) -> tuple[int, ...]:
    """Axes counted from the front, in the order given; raises ValueError for one given twice."""
    refuse_data(name, "axes", axes)
    found = tuple(canonical_axis(name, axis, ndim) for axis in axes)
    if len(set(found)) != len(found):
        raise ShapeError(f"{name} takes each axis once; got {tuple(axes)}")
    return found


def array_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype that an array asked to be `dtype` gets under the options in force."""
    return dtypes.canonicalize(dtype, current.get().config.enable_x64)


# ---- reshape --------------------------------------------------------------------------------
class Reshape(Linear):
    """f32[2,3] -- new_sizes=(6,) --> f32[6].  Elements keep their row-major order."""

    def infer(self, x: ShapedArray, *, new_sizes: tuple[int, ...]) -> ShapedArray:
        if new_sizes and min(new_sizes) < 0:
            raise ShapeError(
                f"reshape takes a shape of non-negative sizes; got {new_sizes} for {x}. "
                "hloom.numpy.reshape works out a size of -1."
            )
        out = x.update(shape=new_sizes)
        if out.size != x.size:
            raise ShapeError(
                f"reshape keeps the number of elements; {x} has {x.size}, shape {new_sizes} "
                f"has {out.size}"
            )
        return out

    def numpy(self, x: Any, *, new_sizes: tuple[int, ...]) -> Any:
        return np.reshape(x, new_sizes)

    def emit(self, block: Any, out: ShapedArray, x: Any, *, new_sizes: tuple[int, ...]) -> Any:
        return block.op(f"stablehlo.reshape {x}", (x,), out)

    def transpose(self, ct: Any, x: Any, *, new_sizes: tuple[int, ...]) -> list[Any]:
        return [self(ct, new_sizes=x.aval.shape)]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], new_sizes: Any
    ) -> tuple[Any, int]:
        return self(move(operands[0], batch_axes[0], 0), new_sizes=(size, *new_sizes)), 0


reshape_p = Reshape("reshape")


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """A reshape, for rules: the array itself if it has that shape."""
    return x if x.aval.shape == shape else reshape_p(x, new_sizes=shape)


@strict
def reshape(
    operand: Any,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: None = None,
) -> Any:
    """The same elements, in row-major order, as an array of shape `new_sizes`.

    With `dimensions` the axes are put in that order first.  Raises TypeError when the number of
    elements would change.  Differs from NumPy: no size may be -1; use `hloom.numpy.reshape`.

    >>> lax.reshape(jnp.arange(4), (2, 2))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("reshape", out_sharding)
    operand = as_array(operand)
    sizes = integers("reshape", "a shape", new_sizes)
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    return reshaped(operand, sizes)


@strict
def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """The array without the axes `dimensions`, each of size 1.

    Raises ValueError for an axis of another size, out of range or given twice.

    >>> lax.squeeze(jnp.ones((1, 3, 1)), (0,)).shape
    (3, 1)
    """
    array = as_array(array)
    axes = canonical_axes("squeeze", dimensions, array.aval.ndim)
    if any(array.aval.shape[a] != 1 for a in axes):
        raise ShapeError(
            f"squeeze takes axes of size 1; got axes {tuple(dimensions)} of {array.aval}"
        )
    return reshape(array, [n for i, n in enumerate(array.aval.shape) if i not in axes])


@strict
def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """The array with new axes of size 1 at the positions `dimensions` of the result.

    Raises ValueError for a position out of range or given twice.

    >>> lax.expand_dims(jnp.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    array = as_array(array)
    refuse_data("expand_dims", "dimensions", dimensions)
    dimensions = tuple(dimensions)
    ndim = array.aval.ndim + len(dimensions)
    new = canonical_axes("expand_dims", dimensions, ndim)
    old = [i for i in range(ndim) if i not in new]
    shape = [1] * ndim
    for i, size in zip(old, array.aval.shape):
        shape[i] = size
    return broadcast_in_dim(array, shape, old)


@strict
def broadcast(operand: Any, sizes: Sequence[int], *, out_sharding: None = None) -> Any:
    """The operand repeated along new leading axes of the given sizes.

    Raises ValueError for a negative size.

    >>> lax.broadcast(jnp.arange(2), (2,))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("broadcast", out_sharding)
    operand = as_array(operand)
    sizes = canonical_shape("broadcast", sizes)
    axes = range(len(sizes), len(sizes) + operand.aval.ndim)
    return broadcast_in_dim(operand, (*sizes, *operand.aval.shape), axes)


@strict
def broadcast_to_rank(x: Any, rank: int) -> Any:
    """The array with leading axes of size 1 until it has `rank` axes.

    Raises ValueError when it has more already.

    >>> lax.broadcast_to_rank(jnp.ones(3), 3).shape
    (1, 1, 3)
    """
    x = as_array(x)
    if not x.aval.ndim <= index(rank) <= 64:
        raise ShapeError(
            f"broadcast_to_rank takes a rank from {x.aval.ndim} to 64 for {x.aval}; got {rank}. "
            "To take axes away, use lax.squeeze or lax.reshape."
        )
    return broadcast(x, (1,) * (rank - x.aval.ndim))


@strict
def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together under NumPy's broadcasting.

    Raises ValueError when there is none.

    >>> lax.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    # NumPy's own function takes 32 dimensions at most.
    sizes = [canonical_shape("broadcast_shapes", shape) for shape in shapes]
    ndim = max(map(len, sizes), default=0)
    columns = zip(*[(1,) * (ndim - len(shape)) + shape for shape in sizes])
    distinct = [sorted({*column} - {1}) for column in columns]
    if any(len(column) > 1 for column in distinct):
        raise ValueError(
            "broadcast_shapes: shape mismatch: objects cannot be broadcast to a single shape: "
            f"{', '.join(map(str, sizes))}"
        )
    return tuple([column[0] if column else 1 for column in distinct])


@strict
def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """The array repeated to the shape of another, by NumPy's broadcasting; its dtype stays.

    Raises ValueError where that would change the other's shape.

    >>> lax.broadcast_like(jnp.arange(2), jnp.zeros((2, 2)))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    x, like = as_array(arr), as_array(like_arr)
    shape, old = like.aval.shape, x.aval.shape
    first = len(shape) - len(old)
    if first < 0 or any(n not in (1, m) for n, m in zip(old, shape[max(first, 0) :])):
        raise ShapeError(f"broadcast_like cannot repeat {x.aval} to the shape of {like.aval}")
    return broadcast_in_dim(x, shape, range(first, len(shape)))


@strict
def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """The array with the axes from `start_dimension` up to `stop_dimension` merged into one.

    Negative positions count from the end.  Raises ValueError unless start lies before stop.

    >>> lax.collapse(jnp.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    operand = as_array(operand)
    shape, ndim = operand.aval.shape, operand.aval.ndim
    start, stop, _ = slice(start_dimension, stop_dimension).indices(ndim)
    if stop <= start:
        raise ShapeError(
            f"collapse takes a range of axes; from {start_dimension} to {stop_dimension} there "
            f"is none in {operand.aval}"
        )
    return reshape(operand, (*shape[:start], int(np.prod(shape[start:stop])), *shape[stop:]))


# ---- reverse --------------------------------------------------------------------------------
class Rev(Linear):
    """f32[2,3] -- dimensions=(1,) --> f32[2,3].  Elements in reverse order along these axes."""

    def infer(self, x: ShapedArray, *, dimensions: tuple[int, ...]) -> ShapedArray:
        # StableHLO reverse C2, C3: distinct axes in range
        if len(set(dimensions)) != len(dimensions) or any(not 0 <= d < x.ndim for d in dimensions):
            raise ShapeError(
                f"rev takes distinct axes of {x}, each from 0 to {x.ndim - 1}; got {dimensions}"
            )
        return x

    def numpy(self, x: Any, *, dimensions: tuple[int, ...]) -> Any:
        return np.flip(x, dimensions)

    def emit(self, block: Any, out: ShapedArray, x: Any, *, dimensions: tuple[int, ...]) -> Any:
        if not dimensions:
            return x
        axes = f"array<i64: {', '.join(map(str, dimensions))}>"
        return block.op(f'"stablehlo.reverse"({x}) <{{dimensions = {axes}}}>', (x,), out)

    def transpose(self, ct: Any, x: Any, *, dimensions: tuple[int, ...]) -> list[Any]:
        return [self(ct, dimensions=dimensions)]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], dimensions: Any
    ) -> tuple[Any, int]:
        (x,), (axis,) = operands, batch_axes
        return self(x, dimensions=tuple(d + (d >= axis) for d in dimensions)), axis


rev_p = Rev("rev")


@strict
def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """The operand with the order of its elements reversed along the axes `dimensions`.

    Raises ValueError for an axis out of range or given twice.

    >>> lax.rev(jnp.arange(3), (0,))
    Array([2, 1, 0], dtype=int32)
    """
    operand = as_array(operand)
    axes = integers("rev", "dimensions", dimensions)
    return rev_p(operand, dimensions=axes) if axes else operand


# ---- arrays without an operand --------------------------------------------------------------
class IotaParameters(NamedTuple):
    """The dtype and shape of the result, and the axis along which it counts."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    dimension: int


class Iota(Primitive):
    """() -- dtype=i32, shape=(2, 3), dimension=1 --> i32[2,3].

    Each element is its own place on the axis `dimension`.
    """

    parameters = IotaParameters

    def infer(self, p: IotaParameters) -> ShapedArray:
        if not dtypes.in_domain(p.dtype, "number"):
            raise ArgumentError(f"iota makes numbers; got dtype {p.dtype}")
        if p.shape and min(p.shape) < 0:
            raise ShapeError(f"iota takes a shape of non-negative sizes; got {p.shape}")
        if not 0 <= p.dimension < len(p.shape):  # StableHLO iota C1
            raise ShapeError(f"iota of shape {p.shape} takes an axis of it; got {p.dimension}")
        return ShapedArray(p.shape, p.dtype)

    def numpy(self, p: IotaParameters) -> Any:
        counts = np.arange(p.shape[p.dimension]).astype(p.dtype)
        behind = [1] * (len(p.shape) - p.dimension - 1)
        return np.broadcast_to(counts.reshape([-1, *behind]), p.shape)

    def emit(self, block: Any, out: ShapedArray, p: IotaParameters) -> Any:
        return block.iota(out, p.dimension)

    # The three rules below are never asked: there is no operand.
    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        return self(*primals, **params), None

    def transpose(self, ct: Any, *operands: Any, **params: Any) -> list[Any]:
        return []

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], **params: Any
    ) -> tuple[Any, None]:
        return self(**params), None


iota_p = Iota("iota")


def counting(dtype: np.dtype[Any], shape: tuple[int, ...], axis: int) -> Any:
    """An iota, for rules."""
    return iota_p(dtype=dtype, shape=shape, dimension=axis)


@strict
def iota(dtype: Any, size: int) -> Any:
    """The integers from 0 to `size` - 1, as numbers of `dtype`.

    Raises TypeError for bool, ValueError for a negative size.

    >>> lax.iota(jnp.float32, 3)
    Array([0., 1., 2.], dtype=float32)
    """
    return broadcasted_iota(dtype, (size,), 0)


@strict
def broadcasted_iota(
    dtype: Any, shape: Sequence[int], dimension: int, *, out_sharding: None = None
) -> Any:
    """An array in which each element is its own position along the axis `dimension`.

    Raises ValueError when `shape` has no such axis.

    >>> lax.broadcasted_iota(jnp.int32, (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("broadcasted_iota", out_sharding)
    shape = canonical_shape("iota", shape)
    return iota_p(dtype=array_dtype(dtype), shape=shape, dimension=index(dimension))


@strict
def full(shape: Sequence[int], fill_value: Any, dtype: Any = None) -> Any:
    """An array of the given shape filled with one value, a scalar.

    Without `dtype` it is that of the value.  Raises TypeError when the value is not 0-d,
    OverflowError for a Python integer that `dtype` does not hold.

    >>> lax.full((2,), 7, jnp.uint8)
    Array([7, 7], dtype=uint8)
    """
    return _full(shape, fill_value, None if dtype is None else array_dtype(dtype))


def _full(
    shape: Sequence[int], fill_value: Any, dtype: np.dtype[Any] | None, weak_type: bool = False
) -> Any:
    shape = canonical_shape("full", shape)
    if dtype is not None and isinstance(fill_value, (bool, int, float, complex)):
        return spread_scalar(constant(fill_value, dtype, weak_type), shape)
    value = as_array(fill_value)
    if value.aval.shape:
        raise ShapeError(
            f"full takes one value to fill with, 0-d; got {value.aval}. "
            "To repeat an array use lax.broadcast_in_dim."
        )
    if dtype is not None:
        value = convert_element_type(value, dtype)
    return spread_scalar(value, shape)


@strict
def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[int] | None = None
) -> Any:
    """An array filled with one value, of the shape and dtype of `x` unless they are given.

    Raises TypeError when the value is not 0-d.

    >>> lax.full_like(jnp.arange(3), 7)
    Array([7, 7, 7], dtype=int32)
    """
    aval = x if isinstance(x, ShapedArray) else as_array(x).aval
    weak = dtype is None and aval.weak_type
    dtype = aval.dtype if dtype is None else array_dtype(dtype)
    return _full(aval.shape if shape is None else shape, fill_value, dtype, weak)


@strict
def empty(shape: Sequence[int], dtype: Any, *, out_sharding: None = None) -> Any:
    """An array of zeros: there is no uninitialised memory.

    >>> lax.empty((2,), jnp.float32)
    Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("empty", out_sharding)
    return full(shape, 0, dtype)


class OptimizationBarrier(Primitive):
    """(f32[2], i32[]) --> [f32[2], i32[]].  The same values, out of the compiler's sight."""

    multiple = True

    def infer(self, *xs: ShapedArray) -> list[ShapedArray]:
        if not xs:
            raise TypeError("optimization_barrier takes at least one operand; got none")
        return list(xs)

    def numpy(self, *xs: Any) -> list[Any]:
        return list(xs)

    def emit(self, block: Any, out: Sequence[ShapedArray], *xs: Any) -> list[Any]:
        held = block.barrier(*xs)
        return [held] if len(xs) == 1 else held

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self(*primals), self._through(tangents)

    def transpose(self, ct: Sequence[Any], *xs: Any) -> list[Any]:
        return self._through(ct)

    def _through(self, xs: Sequence[Any]) -> list[Any]:
        """Tangents or cotangents, of which those that are None stay None."""
        outs = iter(self(*[x for x in xs if x is not None]))
        return [None if x is None else next(outs) for x in xs]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        return self(*operands), list(batch_axes)


optimization_barrier_p = OptimizationBarrier("optimization_barrier")


@strict
def optimization_barrier(operand: Any) -> Any:
    """The same pytree of arrays; the compiler does not move or merge work across it.

    >>> lax.optimization_barrier((1, 2.0))
    (Array(1, dtype=int32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    leaves, treedef = tree.flatten(operand)
    if not leaves:
        return operand
    return tree.unflatten(treedef, optimization_barrier_p(*map(as_array, leaves)))


# ---- what a value is, and that it counts ------------------------------------------------------
@strict
def dtype(x: Any) -> np.dtype[Any]:
    """The dtype that `x` has, or would have as an array: a value, a Python number, or a dtype.

    64-bit dtypes are halved while they are off.  Raises TypeError for anything else.  Differs from
    `hloom.numpy.dtype`, which is NumPy's class.

    >>> lax.dtype(1.0), lax.dtype("int8"), lax.dtype(np.arange(3))
    (dtype('float32'), dtype('int8'), dtype('int32'))
    """
    if isinstance(x, Array):
        return x.aval.dtype
    if isinstance(x, (bool, int, float, complex)):
        return as_array(x).aval.dtype
    found = x if isinstance(x, type) else getattr(x, "dtype", x)
    if isinstance(found, (type, str, np.dtype)):
        return array_dtype(found)
    raise ArgumentError(f"dtype takes an array, a number or a dtype; got {x!r:.80}")


@strict
def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Mark a pytree of arrays as used.

    hloom's Jaxprs keep equations that nobody uses, so that there is nothing to do; the compiler
    may still leave them out.  Raises NotImplementedError if that is to be prevented, TypeError for
    what is no array.

    >>> hloom.make_jaxpr(lambda x: lax.dce_sink(lax.sin(x)))(1.0)
    { lambda ; a:f32[]. let
        _:f32[] = sin a
      in () }
    """
    for leaf in tree.flatten(val)[0]:
        as_array(leaf)
    if prevent_mlir_dce:
        raise NotImplementedError(
            "dce_sink cannot keep XLA from leaving out what no result depends on; return the value "
            "from the compiled function instead"
        )
