"""Reductions: product, largest, smallest, and, or, xor, and the place of the largest or smallest.

`reduce_sum` is in `linear`.  A reduction over no elements gives the operation's identity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.primitive import Primitive
from hloom.core.support.strict import strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.elementwise import check_countable, check_domain, is_narrow
from hloom.ops.common.expression import Term, where
from hloom.ops.common.linear import (
    broadcast_to,
    constant,
    full,
    move,
    reduced_shape,
    sum_over,
    transpose_p,
    zeros,
)
from hloom.ops.common.reduction_layouts import SMALL, first_extreme, fold
from hloom.ops.pointwise.arithmetic import add, div, mul
from hloom.ops.pointwise.binary import bitwise_or, max_p, min_p
from hloom.ops.pointwise.binary import max as max_
from hloom.ops.pointwise.binary import min as min_
from hloom.ops.pointwise.compare import complex_at_least, complex_at_most, eq, ne, select_n
from hloom.ops.shapes.shape import array_dtype, integers, reshaped
from hloom.ops.shapes.slicing import cut, padded

Axes = tuple[int, ...]


# ---- the smallest and largest value of a dtype ----------------------------------------------
def lowest(dtype: np.dtype[Any]) -> Any:
    """The value that no other is below: minus infinity where there is one."""
    return _end(dtype, -1)


def highest(dtype: np.dtype[Any]) -> Any:
    """The value that no other is above: infinity where there is one."""
    return _end(dtype, 1)


def _end(dtype: np.dtype[Any], sign: int) -> Any:
    match dtypes.kind(dtype):
        case "bool":
            return sign > 0
        case "signed" | "unsigned":
            info = dtypes.iinfo(dtype)
            return int(info.max if sign > 0 else info.min)
        case "complex":
            return complex(sign * float("inf"), sign * float("inf"))
        case _:
            infinite = np.isinf(np.array(np.inf, np.float32).astype(dtype).astype(np.float32))
            info = dtypes.finfo(dtype)  # whose min is positive for float8_e8m0fnu
            return sign * float("inf") if infinite else float(info.max if sign > 0 else info.min)


# ---- the family -----------------------------------------------------------------------------
class Reduce(Primitive):
    """f32[2,3] -- axes=(1,) --> f32[2].  `hlo` folds elements, starting from `identity(dtype)`.

    `numpy` is the ufunc whose `reduce` is the definition.  Narrow floats are folded in f32, if
    `widen` is set.
    """

    def __init__(
        self,
        name: str,
        *,
        hlo: str,
        numpy: Any,
        identity: Callable[[np.dtype[Any]], Any],
        domain: str,
        widen: bool = False,
    ):
        super().__init__(name)
        self.hlo = hlo
        self.function = numpy
        self.identity = identity
        self.domain = domain
        self.widen = widen

    def infer(self, x: ShapedArray, *, axes: Axes) -> ShapedArray:
        check_domain(self.name, [x], self.domain)
        return x.update(shape=reduced_shape(self.name, x, axes))

    def numpy(self, x: Any, *, axes: Axes) -> Any:
        wide = x.astype(np.float32) if self.widen and is_narrow(x.dtype) else x
        first = np.asarray(self.identity(wide.dtype)).astype(wide.dtype)
        if dtypes.bits(x.dtype) < 8 and not is_narrow(x.dtype):  # ufuncs reduce no int4
            wide, first = wide.astype(np.int8), first.astype(np.int8)
        with np.errstate(all="ignore"):
            folded = self.function.reduce(wide, axis=axes, initial=first, dtype=wide.dtype)
        return np.asarray(folded).astype(x.dtype, copy=False)

    def emit(self, block: Any, out: ShapedArray, x: Any, *, axes: Axes) -> Any:
        wide = np.dtype(np.float32) if self.widen and is_narrow(out.dtype) else out.dtype
        folded = self.fold(block, block.convert(x, wide), axes)
        return block.convert(folded, out.dtype)

    def fold(self, block: Any, x: Any, axes: Axes) -> Any:
        """The reduction of a block's operand, in its own dtype."""
        return fold(block, x, self.identity(x.aval.dtype), self.hlo, axes)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], axes: Axes) -> tuple[Any, Any]:
        return self(*primals, axes=axes), None  # of bits there is no derivative

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], axes: Axes
    ) -> tuple[Any, int]:
        return self(move(operands[0], batch_axes[0], 0), axes=tuple(a + 1 for a in axes)), 0


class ReduceProd(Reduce):
    """f32[2,3] -- axes=(1,) --> f32[2]."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], axes: Axes) -> tuple[Any, Any]:
        return self(*primals, axes=axes), _product_tangent(*primals, *tangents, axes)


def _product_tangent(x: Any, t: Any, axes: Axes) -> Any:
    """The tangent of a product by halving: (p, t) * (q, u) = (p*q, t*q + p*u), also with zeros."""
    x, t = _as_rows(x, axes), _as_rows(t, axes)
    shape = x.aval.shape[:-1]
    if not x.aval.shape[-1]:
        return full(shape, 0, x.aval.dtype)
    while (size := x.aval.shape[-1]) > 1:
        if size % 2:
            config = (*[(0, 0, 0)] * len(shape), (0, 1, 0))
            x = padded(x, constant(1, x.aval.dtype), config)
            t = padded(t, constant(0, x.aval.dtype), config)
        (a, b), (da, db) = _halves(x), _halves(t)
        x, t = mul(a, b), add(mul(da, b), mul(a, db))
    return reshaped(t, shape)


def _as_rows(x: Any, axes: Axes) -> Any:
    """The reduced axes last, and merged into one."""
    order = (*[a for a in range(x.aval.ndim) if a not in axes], *axes)
    count = x.aval.ndim - len(axes)
    x = x if order == tuple(range(x.aval.ndim)) else transpose_p(x, permutation=order)
    return reshaped(x, (*x.aval.shape[:count], prod(x.aval.shape[count:])))


def _halves(x: Any) -> tuple[Any, Any]:
    *_, size = x.aval.shape
    axis, middle = x.aval.ndim - 1, (size + 1) // 2
    return cut(x, 0, middle, axis), cut(x, middle, size, axis)


class Extreme(Reduce):
    """f32[2,3] -- axes=(1,) --> f32[2].  NaN if there is one; complex numbers in NumPy's order.

    The tangent is the mean over the elements that are extreme; NaN if they are.
    """

    def __init__(self, name: str, *, combine: Callable[..., Any], **rules: Any):
        super().__init__(name, domain="any", **rules)
        self.combine = combine

    def numpy(self, x: Any, *, axes: Axes) -> Any:
        out = super().numpy(x, axes=axes)
        if dtypes.kind(x.dtype) != "float":
            return out
        # NumPy's sign of zero depends on the order; this is IEEE 754-2019's.
        largest = self.hlo == "maximum"
        winner = (x == 0) & (np.signbit(x) != largest)
        zero = np.array(0.0 if largest else -0.0).astype(x.dtype)
        return np.where((out == 0) & winner.any(axes), zero, out)

    def fold(self, block: Any, x: Any, axes: Axes) -> Any:
        # Floats: right because the engine switches off the library that loses NaN from 4,096
        # elements on (semantics of max and min); its absence costs nothing in this shape.
        scalar = ShapedArray((), x.aval.dtype)
        if x.aval.kind == "complex":
            return _variadic(
                block, [x], [self.identity(x.aval.dtype)], axes,
                block.region([scalar, scalar], lambda b, p, q: b.trace(self.combine, p, q)),
            )[0]  # fmt: skip
        everything = len(axes) == x.aval.ndim and x.aval.size >= SMALL
        if x.aval.kind == "float" and everything:
            return self._fold_all(block, x, axes)
        return super().fold(block, x, axes)

    def _fold_all(self, block: Any, x: Any, axes: Axes) -> Any:
        """All elements to one, NaN by a flag beside it: 91 us for 1e6, by rows 149."""
        value, flag = ShapedArray((), x.aval.dtype), ShapedArray((), np.dtype(bool))

        def body(b: Any, p: Any, seen: Any, q: Any, new: Any) -> list[Any]:
            return [b.elementwise(self.hlo, p, q), b.or_(seen, new)]

        region = block.region([value, flag, value, flag], body)
        inits = [self.identity(x.aval.dtype), False]
        found, nan = _variadic(block, [x, block.compare(x, "NE", x)], inits, axes, region)
        return block.select(nan, block.constant(float("nan"), found.aval), found)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], axes: Axes) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        out = self(x, axes=axes)
        if not x.aval.size:
            return out, zeros(out.aval)
        rest = [a for a in range(x.aval.ndim) if a not in axes]
        whole = broadcast_to(out, x.aval.shape, rest)
        # NaN is the extreme where there is one; the count is NaN then, and so is the derivative.
        extreme = bitwise_or(eq(x, whole), ne(x, x))
        zero, one = constant(0, x.aval.dtype), full(x.aval.shape, 1, x.aval.dtype)
        count = sum_over(select_n(extreme, zero, one), axes)
        count = select_n(eq(out, out), out, count)
        return out, div(sum_over(select_n(extreme, zero, t), axes), count)


def with_initial(combine: Callable[..., Any], found: Any, initial: Any) -> Any:
    """What was found, combined with an initial value.

    The derivative of `max` and `min` is 0 at NaN, that of a reduction NaN, which is to stay.
    """
    out = combine(initial, found)
    if combine not in (max_, min_, max_p, min_p) or not dtypes.in_domain(out.aval.dtype, "inexact"):
        return out
    return select_n(ne(found, found), out, found)


def _variadic(
    block: Any, xs: Sequence[Any], inits: Sequence[Any], axes: Axes, region: str
) -> list[Any]:
    """One reduce of several operands."""
    scalars = [block.constant(i, ShapedArray((), x.aval.dtype)) for x, i in zip(xs, inits)]
    first = xs[0].aval
    shape = tuple(n for i, n in enumerate(first.shape) if i not in axes)
    outs = [ShapedArray(shape, x.aval.dtype) for x in xs]
    names = ", ".join(map(str, (*xs, *scalars)))
    dimensions = f"array<i64{': ' * bool(axes)}{', '.join(map(str, axes))}>"
    head = f'"stablehlo.reduce"({names}) <{{dimensions = {dimensions}}}> {region}'
    folded: list[Any] = block.op(head, (*xs, *scalars), outs)
    return folded


reduce_prod_p = ReduceProd(
    "reduce_prod", hlo="multiply", numpy=np.multiply, identity=lambda dtype: 1, domain="number",
    widen=True,
)  # fmt: skip
reduce_max_p = Extreme("reduce_max", combine=max_, hlo="maximum", numpy=np.maximum, identity=lowest)
reduce_min_p = Extreme(
    "reduce_min", combine=min_, hlo="minimum", numpy=np.minimum, identity=highest
)
reduce_and_p = Reduce(
    "reduce_and", hlo="and", numpy=np.bitwise_and, domain="bits",
    identity=lambda dtype: _all_ones(dtype),
)  # fmt: skip
reduce_or_p = Reduce(
    "reduce_or", hlo="or", numpy=np.bitwise_or, domain="bits", identity=lambda dtype: 0
)
reduce_xor_p = Reduce(
    "reduce_xor", hlo="xor", numpy=np.bitwise_xor, domain="bits", identity=lambda dtype: 0
)


def _all_ones(dtype: np.dtype[Any]) -> Any:
    return -1 if dtypes.kind(dtype) == "signed" else highest(dtype)


def _reduce(primitive: Primitive, operand: Any, axes: Sequence[int]) -> Any:
    operand = as_array(operand)
    axes = integers(primitive.name, "axes", axes)
    if not axes:
        primitive.infer(operand.aval, axes=axes)
        return operand
    return primitive(operand, axes=axes)


@strict
def reduce_prod(operand: Any, axes: Sequence[int]) -> Any:
    """The product over `axes`; the dtype stays, integers wrap around.

    Raises ValueError for an axis out of range or given twice, TypeError for bool operands.

    >>> lax.reduce_prod(jnp.array([[1, 2], [3, 4]]), (1,))
    Array([ 2, 12], dtype=int32)
    """
    return _reduce(reduce_prod_p, operand, axes)


@strict
def reduce_max(operand: Any, axes: Sequence[int]) -> Any:
    """The largest element over `axes`; NaN if there is one.

    Raises ValueError for an axis out of range or given twice.  Differs from NumPy: over no
    elements it gives the smallest value of the dtype.

    >>> lax.reduce_max(jnp.array([[1, 2], [3, 4]]), (0,))
    Array([3, 4], dtype=int32)
    """
    return _reduce(reduce_max_p, operand, axes)


@strict
def reduce_min(operand: Any, axes: Sequence[int]) -> Any:
    """The smallest element over `axes`; NaN if there is one.

    Raises ValueError for an axis out of range or given twice.  Differs from NumPy: over no
    elements it gives the largest value of the dtype.

    >>> lax.reduce_min(jnp.array([[1, 2], [3, 4]]), (0,))
    Array([1, 2], dtype=int32)
    """
    return _reduce(reduce_min_p, operand, axes)


@strict
def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
    """Whether all are true over `axes`; of integers, the bits that all have.

    Raises ValueError for an axis out of range or given twice, TypeError for floats.

    >>> lax.reduce_and(jnp.array([[True, False], [True, True]]), (1,))
    Array([False,  True], dtype=bool)
    """
    return _reduce(reduce_and_p, operand, axes)


@strict
def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
    """Whether any is true over `axes`; of integers, the bits that any has.

    Raises ValueError for an axis out of range or given twice, TypeError for floats.

    >>> lax.reduce_or(jnp.array([[True, False], [False, False]]), (1,))
    Array([ True, False], dtype=bool)
    """
    return _reduce(reduce_or_p, operand, axes)


@strict
def reduce_xor(operand: Any, axes: Sequence[int]) -> Any:
    """Whether an odd number is true over `axes`; of integers, bit by bit.

    Raises ValueError for an axis out of range or given twice, TypeError for floats.

    >>> lax.reduce_xor(jnp.array([5, 3, 1]), (0,))
    Array(7, dtype=int32)
    """
    return _reduce(reduce_xor_p, operand, axes)


# ---- argmax, argmin -------------------------------------------------------------------------
def _first_complex(direction: str, block: Any, *operands: Any) -> list[Any]:
    """The better of two (complex value, place); NaN is best, and of equals the first."""
    x, i, y, j = [Term(block, operand) for operand in operands]
    at_least = complex_at_least if direction == "GT" else complex_at_most
    wins = (at_least(x, y) & (x != y)) | ((x != x) & (y == y))
    ties = (x == y) | ((x != x) & (y != y))
    left = wins | (ties & (i < j))
    return [where(left, x, y).operand, where(left, i, j).operand]


class ArgExtremeParameters(NamedTuple):
    """The one axis to search, as a tuple, and the dtype of the places."""

    axes: Axes
    index_dtype: np.dtype[Any]


class ArgExtreme(Primitive):
    """f32[2,3] -- axes=(1,), index_dtype=int32 --> i32[2].  The first of equals; the first NaN."""

    parameters = ArgExtremeParameters

    def __init__(self, name: str, *, direction: str, numpy: Any, identity: Callable[..., Any]):
        super().__init__(name)
        self.direction = direction
        self.function = numpy
        self.identity = identity

    def infer(self, x: ShapedArray, p: ArgExtremeParameters) -> ShapedArray:
        shape = reduced_shape(self.name, x, p.axes)
        if len(p.axes) != 1:
            raise ShapeError(f"{self.name} takes one axis; got {p.axes}")
        if not dtypes.in_domain(p.index_dtype, "integer"):
            raise ArgumentError(f"{self.name} takes an integer index_dtype; got {p.index_dtype}")
        (axis,) = p.axes
        if not x.shape[axis]:
            raise ShapeError(f"{self.name} of an empty sequence: axis {axis} of {x} has size 0")
        check_countable(self.name, x, axis, p.index_dtype)
        return ShapedArray(shape, p.index_dtype)

    def numpy(self, x: Any, p: ArgExtremeParameters) -> Any:
        wide = x.astype(np.float32) if is_narrow(x.dtype) else x
        return np.asarray(self.function(wide, p.axes[0])).astype(p.index_dtype)

    def emit(self, block: Any, out: ShapedArray, x: Any, p: ArgExtremeParameters) -> Any:
        (axis,) = p.axes
        if x.aval.kind != "complex":
            op = "max" if self.direction == "GT" else "min"
            if is_narrow(x.aval.dtype):
                x = block.convert(x, np.dtype(np.float32))
            found = first_extreme(block, x, self.identity(x.aval.dtype), op, axis)
            return block.convert(found, p.index_dtype)
        place = np.dtype(np.int64 if x.aval.shape[axis] > 2**31 - 1 else np.int32)
        places = block.iota(ShapedArray(x.aval.shape, place), axis)
        value, number = ShapedArray((), x.aval.dtype), ShapedArray((), place)
        body = partial(_first_complex, self.direction)
        region = block.region([value, number, value, number], body)
        inits = [self.identity(x.aval.dtype), int(np.iinfo(place).max)]
        _, found = _variadic(block, [x, places], inits, p.axes, region)
        return block.convert(found, p.index_dtype)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        return self(*primals, **params), None

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: ArgExtremeParameters
    ) -> tuple[Any, int]:
        x = move(operands[0], batch_axes[0], 0)
        return self(x, axes=tuple(a + 1 for a in p.axes), index_dtype=p.index_dtype), 0


argmax_p = ArgExtreme("argmax", direction="GT", numpy=np.argmax, identity=lowest)
argmin_p = ArgExtreme("argmin", direction="LT", numpy=np.argmin, identity=highest)


@strict
def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The place of the first largest element along an axis; of the first NaN, if there is one.

    Raises ValueError for an axis out of range or of size 0, TypeError unless `index_dtype` is an
    integer dtype.

    >>> lax.argmax(jnp.array([1, 3, 3]), 0, jnp.int32)
    Array(1, dtype=int32)
    """
    return argmax_p(as_array(operand), axes=(axis,), index_dtype=array_dtype(index_dtype))


@strict
def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The place of the first smallest element along an axis; of the first NaN, if there is one.

    Raises ValueError for an axis out of range or of size 0, TypeError unless `index_dtype` is an
    integer dtype.

    >>> lax.argmin(jnp.array([1, 0, 0]), 0, jnp.int32)
    Array(1, dtype=int32)
    """
    return argmin_p(as_array(operand), axes=(axis,), index_dtype=array_dtype(index_dtype))
