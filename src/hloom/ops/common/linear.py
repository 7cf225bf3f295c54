"""The linear core: the few ops that the rules of all other ops use.

`add_any` (the sum of tangents), `transpose`, `broadcast_in_dim` and `reduce_sum` are one another's
transposes, which is why they share a file.  Below them are the small helpers that rules use to
move a batch axis or to sum a cotangent down.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.array import HostArray
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array, scalar
from hloom.core.primitive import Primitive, is_linear
from hloom.core.support.strict import refuse_data, refuse_sharding, strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.reduction_layouts import fold


class Linear(Primitive):
    """An op that is linear in its one operand: the tangent goes through the op itself."""

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        return self(*primals, **params), self(*tangents, **params)


class AddAny(Primitive):
    """(f32[2], f32[2]) --> f32[2].  The sum of two tangents or cotangents of one value."""

    def infer(self, x: ShapedArray, y: ShapedArray) -> ShapedArray:
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            raise TypeError(f"add_any adds two tangents of one type; got {x} and {y}")
        return x if x.weak_type == y.weak_type else x.strong()

    def numpy(self, x: Any, y: Any) -> Any:
        return np.add(x, y)

    def emit(self, block: Any, out: ShapedArray, x: Any, y: Any) -> Any:
        return block.op(f"stablehlo.add {x}, {y}", (x, y), out)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self(*primals), plus(*tangents)

    def transpose(self, ct: Any, x: Any, y: Any) -> list[Any]:
        return [ct if is_linear(x) else None, ct if is_linear(y) else None]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None]
    ) -> tuple[Any, int]:
        axis = next(a for a in batch_axes if a is not None)
        pairs = zip(operands, batch_axes)
        x, y = [spread(x, axis, size) if a is None else move(x, a, axis) for x, a in pairs]
        return self(x, y), axis


add_any_p = AddAny("add_any")


def add_any(x: Any, y: Any) -> Any:
    """The sum of two tangents of one type.

    >>> hloom.ops.common.linear.add_any(jnp.ones(2), jnp.ones(2))
    Array([2., 2.], dtype=float32)
    """
    return add_any_p(x, y)


class Transpose(Linear):
    """f32[2,3] -- permutation=(1, 0) --> f32[3,2].  Result axis i is axis permutation[i]."""

    def infer(self, x: ShapedArray, *, permutation: tuple[int, ...]) -> ShapedArray:
        if sorted(permutation) != list(range(x.ndim)):
            raise ShapeError(
                f"transpose takes a permutation of the axes {tuple(range(x.ndim))} of {x}; got "
                f"{permutation}"
            )
        return x.update(shape=tuple(x.shape[i] for i in permutation))

    def numpy(self, x: Any, *, permutation: tuple[int, ...]) -> Any:
        return np.transpose(x, permutation)

    def emit(self, block: Any, out: ShapedArray, x: Any, *, permutation: tuple[int, ...]) -> Any:
        return block.op(f"stablehlo.transpose {x}, dims = {list(permutation)}", (x,), out)

    def transpose(self, ct: Any, x: Any, *, permutation: tuple[int, ...]) -> list[Any]:
        return [self(ct, permutation=inverse(permutation))]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], permutation: Any
    ) -> tuple[Any, int]:
        (x,), (axis,) = operands, batch_axes
        return self(x, permutation=(axis, *[i + (i >= axis) for i in permutation])), 0


transpose_p = Transpose("transpose")


@strict
def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Reorder the axes: axis i of the result is axis `permutation[i]` of the operand.

    Raises TypeError when `permutation` does not name every axis once.

    >>> lax.transpose(jnp.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    refuse_data("transpose", "permutation", permutation)
    permutation = tuple(map(index, permutation))
    operand = as_array(operand)
    if permutation == tuple(range(operand.aval.ndim)):
        return operand
    return transpose_p(operand, permutation=permutation)


class BroadcastParameters(NamedTuple):
    """The shape of the result, and the axis in it of each axis of the operand."""

    shape: tuple[int, ...]
    broadcast_dimensions: tuple[int, ...]


class BroadcastInDim(Linear):
    """f32[2] -- shape=(3, 2), broadcast_dimensions=(1,) --> f32[3,2].

    Operand axis i becomes result axis broadcast_dimensions[i]; a size of 1 is repeated.
    """

    parameters = BroadcastParameters

    def infer(self, x: ShapedArray, p: BroadcastParameters) -> ShapedArray:
        shape, dims = p
        where = f"broadcast_in_dim of {x} to shape {shape} with broadcast_dimensions {dims}"
        if len(dims) != x.ndim:
            raise ShapeError(
                f"{where}: one result axis is needed for each of the {x.ndim} operand axes"
            )
        if any(n < 0 for n in shape):
            raise ShapeError(f"{where}: sizes must not be negative")
        if list(dims) != sorted(set(dims)) or any(not 0 <= d < len(shape) for d in dims):
            raise ShapeError(
                f"{where}: result axes must be distinct, from 0 on, and below {len(shape)}"
            )
        for axis, dim in enumerate(dims):
            if x.shape[axis] not in (1, shape[dim]):
                raise ShapeError(
                    f"{where}: axis {axis} has size {x.shape[axis]}, "
                    f"which is neither 1 nor {shape[dim]}"
                )
        return x.update(shape=shape)

    def numpy(self, x: Any, p: BroadcastParameters) -> Any:
        full = [1] * len(p.shape)
        for axis, dim in enumerate(p.broadcast_dimensions):
            full[dim] = x.shape[axis]
        return np.broadcast_to(x.reshape(full), p.shape)

    def emit(self, block: Any, out: ShapedArray, x: Any, p: BroadcastParameters) -> Any:
        dims = list(p.broadcast_dimensions)
        return block.op(f"stablehlo.broadcast_in_dim {x}, dims = {dims}", (x,), out)

    def transpose(self, ct: Any, x: Any, p: BroadcastParameters) -> list[Any]:
        sizes, dims = x.aval.shape, p.broadcast_dimensions
        stretched = {d for n, d in zip(sizes, dims) if n == 1 != p.shape[d]}
        new = {d for d in range(len(p.shape)) if d not in dims}
        total = sum_over(ct, tuple(sorted(new | stretched)))
        rest = tuple(a for a, d in enumerate(dims) if d not in stretched)
        return [broadcast_to(total, sizes, rest)]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: BroadcastParameters
    ) -> tuple[Any, int]:
        x = move(operands[0], batch_axes[0], 0)
        dims = (0, *[d + 1 for d in p.broadcast_dimensions])
        return broadcast_to(x, (size, *p.shape), dims), 0


broadcast_in_dim_p = BroadcastInDim("broadcast_in_dim")


@strict
def broadcast_in_dim(
    operand: Any,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: None = None,
) -> Any:
    """Repeat the operand to `shape`; its axis i becomes axis `broadcast_dimensions[i]`.

    Axes may be named in any order.  Raises ShapeError, a TypeError and a ValueError, when a size is
    neither 1 nor the result's, or an axis is named twice.

    >>> lax.broadcast_in_dim(jnp.arange(2), (3, 2), (1,))
    Array([[0, 1],
           [0, 1],
           [0, 1]], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("broadcast_in_dim", out_sharding)
    operand = as_array(operand)
    refuse_data("broadcast_in_dim", "a shape", shape)
    refuse_data("broadcast_in_dim", "broadcast_dimensions", broadcast_dimensions)
    shape, dims = tuple(map(index, shape)), tuple(map(index, broadcast_dimensions))
    if len(dims) == operand.aval.ndim and list(dims) != sorted(dims):
        operand, dims = transpose(operand, inverse(dims)), tuple(sorted(dims))
    return broadcast_to(operand, shape, dims)


class ReduceSum(Linear):
    """f32[2,3] -- axes=(1,) --> f32[2].  `axes` is sorted, without repeats.

    Starts from `zero`: 0.0, or -0.0, with which nothing but -0.0 adds up to -0.0.
    """

    def __init__(self, name: str, zero: float):
        super().__init__(name)
        self.zero = zero

    def infer(self, x: ShapedArray, *, axes: tuple[int, ...]) -> ShapedArray:
        if not dtypes.in_domain(x.dtype, "number"):
            raise ArgumentError(
                f"reduce_sum takes number operands; got {x}. Convert it, or use lax.reduce_or."
            )
        return x.update(shape=reduced_shape("reduce_sum", x, axes))

    def numpy(self, x: Any, *, axes: tuple[int, ...]) -> Any:
        # f16 and bf16 are summed in f32: in their own type a long sum stops growing.
        narrow = x.dtype.itemsize <= 2 and dtypes.kind(x.dtype) == "float"
        wide = np.dtype(np.float32) if narrow else x.dtype
        total = np.sum(x, axis=axes, dtype=wide, initial=self._start(x.dtype))
        return np.asarray(total).astype(x.dtype, copy=False)

    def _start(self, dtype: np.dtype[Any]) -> Any:
        return complex(self.zero, self.zero) if dtypes.kind(dtype) == "complex" else self.zero

    def emit(self, block: Any, out: ShapedArray, x: Any, *, axes: tuple[int, ...]) -> Any:
        if out.kind == "float" and out.bits <= 16:
            wide = fold(block, block.convert(x, np.dtype("float32")), self.zero, "add", axes)
            return block.convert(wide, out.dtype)
        return fold(block, x, self._start(out.dtype), "add", axes)

    def transpose(self, ct: Any, x: Any, *, axes: tuple[int, ...]) -> list[Any]:
        rest = [i for i in range(x.aval.ndim) if i not in axes]
        return [broadcast_to(ct, x.aval.shape, rest)]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], axes: tuple[int, ...]
    ) -> tuple[Any, int]:
        (x,), (axis,) = operands, batch_axes
        return self(move(x, axis, 0), axes=tuple(a + 1 for a in axes)), 0


reduce_sum_p = ReduceSum("reduce_sum", 0)
reduce_sum_signed_p = ReduceSum("reduce_sum_signed", -0.0)


@strict
def reduce_sum(operand: Any, axes: Sequence[int], *, out_sharding: None = None) -> Any:
    """Sum over `axes`; the dtype stays.

    Raises ValueError for an axis out of range or given twice, TypeError for bool operands.

    >>> lax.reduce_sum(jnp.ones((2, 3)), (1,))
    Array([3., 3.], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("reduce_sum", out_sharding)
    operand = as_array(operand)
    refuse_data("reduce_sum", "axes", axes)
    return sum_over(operand, tuple(axes))


def reduce_sum_signed(operand: Any, axes: tuple[int, ...]) -> Any:
    """The sum of floats that an initial value, which may be -0.0, is added to."""
    return reduce_sum_signed_p(operand, axes=axes) if axes else operand


# ---- helpers of rules -----------------------------------------------------------------------
def reduced_shape(name: str, x: ShapedArray, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape without `axes`, which must be in range and not repeat."""
    if len(set(axes)) != len(axes) or any(not 0 <= a < x.ndim for a in axes):
        raise ShapeError(
            f"{name} takes distinct axes of {x}, each from 0 to {x.ndim - 1}; got {tuple(axes)}"
        )
    return tuple(n for i, n in enumerate(x.shape) if i not in axes)


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes this one."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def plus(x: Any, y: Any) -> Any:
    """The sum of two tangents, where None is zero; a 0-d one is spread to the other's shape."""
    if x is None or y is None:
        return y if x is None else x
    if x.aval.shape != y.aval.shape:
        x, y = (spread_scalar(z, (x.aval.shape or y.aval.shape)) for z in (x, y))
    return add_any_p(x, y)


def move(x: Any, source: int, target: int) -> Any:
    """The array with axis `source` moved to `target`."""
    if source == target:
        return x
    permutation = [i for i in range(x.aval.ndim) if i != source]
    permutation.insert(target, source)
    return transpose_p(x, permutation=tuple(permutation))


def spread(x: Any, axis: int, size: int) -> Any:
    """The array repeated `size` times along a new axis."""
    shape = (*x.aval.shape[:axis], size, *x.aval.shape[axis:])
    return broadcast_in_dim_p(
        x, shape=shape, broadcast_dimensions=tuple(i + (i >= axis) for i in range(x.aval.ndim))
    )


def spread_scalar(x: Any, shape: tuple[int, ...]) -> Any:
    """A 0-d array repeated to `shape`; others as they are."""
    return x if x.aval.shape == shape else broadcast_to(x, shape, ())


def broadcast_to(x: Any, shape: tuple[int, ...], dimensions: Sequence[int]) -> Any:
    """`broadcast_in_dim` for rules: the axes are in order; an array that is right already stays."""
    dims = tuple(dimensions)
    if x.aval.shape == shape and dims == tuple(range(len(shape))):
        return x
    return broadcast_in_dim_p(x, shape=shape, broadcast_dimensions=dims)


def sum_over(x: Any, axes: tuple[int, ...]) -> Any:
    """`reduce_sum` for rules: the axes are in order; over none of them the array stays."""
    return reduce_sum_p(x, axes=axes) if axes else x


def sum_all(x: Any) -> Any:
    """The sum over all axes."""
    return sum_over(x, tuple(range(x.aval.ndim)))


def batch_first(size: int, operands: Sequence[Any], axes: Sequence[int | None]) -> list[Any]:
    """All operands with the batch axis leading, those without one repeated."""
    return [spread(x, 0, size) if a is None else move(x, a, 0) for x, a in zip(operands, axes)]


def constant(
    value: bool | int | float | complex, dtype: np.dtype[Any], weak_type: bool = False
) -> HostArray:
    """A 0-d constant of the dtype."""
    return scalar(value, ShapedArray((), dtype, weak_type))


def full(shape: tuple[int, ...], value: bool | int | float | complex, dtype: np.dtype[Any]) -> Any:
    """An array filled with one number."""
    return spread_scalar(constant(value, dtype), tuple(shape))


def zeros(aval: ShapedArray) -> Any:
    """Zeros of a type, where a rule needs a zero tangent as an array."""
    return full(aval.shape, 0, aval.dtype)
