"""Cumulative sum, product, largest, smallest and logsumexp along an axis, in NumPy's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.primitive import Primitive
from hloom.core.support.strict import strict
from hloom.errors import ShapeError
from hloom.ops.common.elementwise import check_domain, is_narrow
from hloom.ops.common.linear import full, zeros
from hloom.ops.pointwise.arithmetic import add, mul, neg, sub
from hloom.ops.pointwise.binary import max as max_
from hloom.ops.pointwise.binary import min as min_
from hloom.ops.pointwise.compare import eq, numpy_max, numpy_min, select_n
from hloom.ops.pointwise.exponential import exp, log1p
from hloom.ops.pointwise.unary import abs as abs_
from hloom.ops.reductions.recurrence import linear_recurrence_p, previous
from hloom.ops.reductions.running_totals import AlongAxis, running
from hloom.ops.shapes.shape import rev_p
from hloom.ops.shapes.slicing import cut, joined

Combine = Callable[..., Any]


# ---- derivatives ----------------------------------------------------------------------------
def _carried(combine: Combine, x: Any, t: Any, p: AlongAxis) -> Any:
    """The tangent of the element that each prefix has for its extreme; of equals, the last.

    By doubling: tangents are selected here, never added, so that the order changes nothing.
    """
    if p.reverse:
        x, t = [rev_p(z, dimensions=(p.axis,)) for z in (x, t)]
        return rev_p(_carried(combine, x, t, p._replace(reverse=False)), dimensions=(p.axis,))
    size, step = x.aval.shape[p.axis], 1
    while step < size:
        low = [cut(z, 0, size - step, p.axis) for z in (x, t)]
        high = [cut(z, step, size, p.axis) for z in (x, t)]
        first = [cut(z, 0, step, p.axis) for z in (x, t)]
        out = combine(low[0], high[0])
        moved = out, select_n(eq(out, low[0]), high[1], low[1])
        x, t = [joined(pair, p.axis) for pair in zip(first, moved)]
        step *= 2
    return t


def _logaddexp(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)) without overflow."""
    largest, difference = max_(x, y), sub(x, y)
    equal = eq(x, y)  # also where both are infinite, and their difference is NaN
    gap = neg(abs_(select_n(equal, difference, zeros(x.aval))))
    return add(largest, log1p(exp(gap)))


def _share(x: Any, total: Any) -> Any:
    """exp(x - total): 1 where both are infinite, but the total of nothing, -inf, has no shares."""
    nothing = eq(total, full(total.aval.shape, float("-inf"), total.aval.dtype))
    gap = select_n(eq(x, total), sub(x, total), zeros(total.aval))
    return exp(select_n(nothing, gap, total))


# ---- the family -----------------------------------------------------------------------------
class Cumulative(Primitive):
    """f32[2,3] -- axis=1, reverse=False --> f32[2,3].  Each element, combined with those before it.

    `reverse` starts from the end.  `numpy` is the ufunc whose `accumulate` is the definition.
    Narrow floats are combined in f32.
    """

    parameters = AlongAxis
    unroll = 8  # elements that a step of the loop takes, see `running_totals`
    identity: Any = None  # of an operation whose order makes no difference

    def __init__(self, name: str, *, combine: Combine, numpy: Combine, domain: str):
        super().__init__(name)
        self.combine = combine
        self.function = numpy
        self.domain = domain

    def infer(self, x: ShapedArray, p: AlongAxis) -> ShapedArray:
        check_domain(self.name, [x], self.domain)
        if not 0 <= p.axis < x.ndim:
            raise ShapeError(f"{self.name}: {x} has no axis {p.axis}")
        return x

    def numpy(self, x: Any, p: AlongAxis) -> Any:
        turned = np.flip(x, p.axis) if p.reverse else x
        rows = np.moveaxis(turned.astype(np.float32) if is_narrow(x.dtype) else turned, p.axis, 0)
        out = np.array(rows)
        with np.errstate(all="ignore"):
            for i in range(1, len(out)):
                out[i] = self.function(out[i - 1], rows[i])
        out = np.moveaxis(out, 0, p.axis).astype(x.dtype, copy=False)
        return np.flip(out, p.axis) if p.reverse else out

    def emit(self, block: Any, out: ShapedArray, x: Any, p: AlongAxis) -> Any:
        x = block.convert(x, np.dtype(np.float32) if is_narrow(out.dtype) else out.dtype)
        found = running(block, [x], p, self.combine, unroll=self.unroll, identity=self.identity)
        return block.convert(found, out.dtype)

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: AlongAxis
    ) -> tuple[Any, int]:
        (x,), (axis,) = operands, batch_axes
        return self(x, axis=p.axis + (p.axis >= axis), reverse=p.reverse), axis


class CumSum(Cumulative):
    """f32[2,3] -- axis=1, reverse=False --> f32[2,3]."""

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        return self(*primals, **params), self(*tangents, **params)

    def transpose(self, ct: Any, x: Any, p: AlongAxis) -> list[Any]:
        return [self(ct, axis=p.axis, reverse=not p.reverse)]


class CumProd(Cumulative):
    """f32[2,3] -- axis=1, reverse=False --> f32[2,3]."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: AlongAxis) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        out = self(x, **p._asdict())
        return out, linear_recurrence_p(x, mul(t, previous(out, 1, p)), **p._asdict())


class CumExtreme(Cumulative):
    """f32[2,3] -- axis=1, reverse=False --> f32[2,3].  NaN stays from its place on."""

    def emit(self, block: Any, out: ShapedArray, x: Any, p: AlongAxis) -> Any:
        # A comparison of complex numbers takes too many operations to unroll.
        unroll = 1 if out.kind == "complex" else self.unroll
        return running(block, [x], p, self.combine, unroll=unroll)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: AlongAxis) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        return self(x, **p._asdict()), _carried(self.combine, x, t, p)


class CumLogSumExp(Cumulative):
    """f32[2,3] -- axis=1, reverse=False --> f32[2,3].  Nothing cancels, so long axes are cut."""

    unroll = 1
    identity = float("-inf")

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: AlongAxis) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        out = self(x, **p._asdict())
        earlier = _share(previous(out, float("-inf"), p), out)
        return out, linear_recurrence_p(earlier, mul(t, _share(x, out)), **p._asdict())


cumsum_p = CumSum("cumsum", combine=add, numpy=np.add, domain="number")
cumprod_p = CumProd("cumprod", combine=mul, numpy=np.multiply, domain="number")
cummax_p = CumExtreme("cummax", combine=max_, numpy=numpy_max, domain="any")
cummin_p = CumExtreme("cummin", combine=min_, numpy=numpy_min, domain="any")
cumlogsumexp_p = CumLogSumExp(
    "cumlogsumexp", combine=_logaddexp, numpy=np.logaddexp, domain="float"
)


@strict
def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The sum of each element and all before it along an axis; after it, if `reverse`.

    Shape and dtype stay.  Added in order, as NumPy does; f16 and bf16 are added in f32.  Raises
    ValueError for an axis out of range, TypeError for bool.

    >>> lax.cumsum(jnp.array([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    return cumsum_p(as_array(operand), axis=axis, reverse=bool(reverse))


@strict
def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The product of each element and all before it along an axis; after it, if `reverse`.

    Shape and dtype stay.  Multiplied in order, as NumPy does; f16 and bf16 in f32.  Raises
    ValueError for an axis out of range, TypeError for bool.

    >>> lax.cumprod(jnp.array([1, 2, 3]), reverse=True)
    Array([6, 6, 3], dtype=int32)
    """
    return cumprod_p(as_array(operand), axis=axis, reverse=bool(reverse))


@strict
def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The largest of each element and all before it along an axis; after it, if `reverse`.

    NaN stays from its place on.  Raises ValueError for an axis out of range.

    >>> lax.cummax(jnp.array([1, 3, 2]))
    Array([1, 3, 3], dtype=int32)
    """
    return cummax_p(as_array(operand), axis=axis, reverse=bool(reverse))


@strict
def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The smallest of each element and all before it along an axis; after it, if `reverse`.

    NaN stays from its place on.  Raises ValueError for an axis out of range.

    >>> lax.cummin(jnp.array([3, 1, 2]))
    Array([3, 1, 1], dtype=int32)
    """
    return cummin_p(as_array(operand), axis=axis, reverse=bool(reverse))


@strict
def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """log of the sum of exp of each element and all before it along an axis, without overflow.

    Takes floats.  Raises ValueError for an axis out of range, TypeError for other dtypes.

    >>> lax.cumlogsumexp(jnp.zeros(3))
    Array([0.       , 0.6931472, 1.0986123], dtype=float32)
    """
    return cumlogsumexp_p(as_array(operand), axis=axis, reverse=bool(reverse))
