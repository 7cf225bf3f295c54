"""Cumulative sum, product, largest, smallest and logsumexp along an axis.

XLA's own way, a window of the whole axis, costs a pass for each doubling.  The programs here are
loops that carry one row: 3 to 15 times as fast, and as exact as NumPy's running total.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt, prod
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.primitive import Primitive
from hloom.ops.arithmetic import add, mul, neg, sub
from hloom.ops.binary import max as max_
from hloom.ops.binary import min as min_
from hloom.ops.compare import eq, numpy_max, numpy_min, select_n
from hloom.ops.elementwise import check_domain, is_narrow
from hloom.ops.exponential import exp, log1p
from hloom.ops.linear import full, zeros
from hloom.ops.reduce import highest, lowest
from hloom.ops.shape import rev
from hloom.ops.slicing import concatenate, slice_in_dim
from hloom.ops.strict import strict
from hloom.ops.unary import abs as abs_

Combine = Callable[..., Any]

SHORT = 16  # an axis up to here is scanned by doubling, without a loop
WIDE = 32  # rows of so many elements that lie together keep a loop's body busy
LONGEST = 2000  # a loop is not longer than this: 0.25 us a step


# ---- the scan in StableHLO ------------------------------------------------------------------
def _scan(
    block: Any, x: Any, axis: int, combine: Combine, identity: Any, reverse: bool, short: int
) -> Any:
    """All prefixes of `x` along an axis, combined; all suffixes if `reverse`."""
    shape, size = x.aval.shape, x.aval.shape[axis]
    if size <= 1 or not x.aval.size:
        return x
    if size <= short:
        return _doubling(block, x, axis, combine, reverse)
    before, behind = prod(shape[:axis]), prod(shape[axis + 1 :])
    x = block.reshape(x, (before, size, behind))
    if behind >= WIDE and size <= LONGEST:
        out = _loop(block, x, combine, reverse)
    else:
        out = _blocked(block, x, combine, identity, reverse)
    return block.reshape(out, shape)


def _doubling(block: Any, x: Any, axis: int, combine: Combine, reverse: bool) -> Any:
    """Combine with the neighbour 1, 2, 4, .. places before."""
    shape, step = x.aval.shape, 1
    size = shape[axis]
    while step < size:
        first, last = _cut(block, x, axis, 0, step), _cut(block, x, axis, size - step, size)
        low, high = _cut(block, x, axis, 0, size - step), _cut(block, x, axis, step, size)
        moved = block.trace(combine, high, low) if reverse else block.trace(combine, low, high)
        x = block.concatenate([moved, last] if reverse else [first, moved], axis)
        step *= 2
    return x


def _cut(block: Any, x: Any, axis: int, start: int, stop: int) -> Any:
    starts, limits = [0] * x.aval.ndim, list(x.aval.shape)
    starts[axis], limits[axis] = start, stop
    return block.slice(x, starts, limits)


def _loop(block: Any, x: Any, combine: Combine, reverse: bool) -> Any:
    """[P, N, C] along N: a loop that carries one [P, 1, C] and writes in place."""
    p, n, c = x.aval.shape
    row = ShapedArray((p, 1, c), x.aval.dtype)
    place = ShapedArray((), np.dtype(np.int32))
    first = n - 1 if reverse else 0

    def go_on(b: Any, i: Any, total: Any, out: Any, source: Any) -> Any:
        return b.compare(i, "LT", n)

    def step(b: Any, i: Any, total: Any, out: Any, source: Any) -> list[Any]:
        at, origin = b.sub(n - 1, i) if reverse else i, b.constant(0, place)
        starts = (origin, at, origin)
        names = ", ".join(map(str, starts))
        head = f"stablehlo.dynamic_slice {source}, {names}, sizes = [{p}, 1, {c}]"
        total = b.trace(combine, total, b.op(head, (source, *starts), row))
        head = f"stablehlo.dynamic_update_slice {out}, {total}, {names}"
        return [b.add(i, 1), total, b.op(head, (out, total, *starts), out.aval), source]

    carry = [block.constant(1, place), _cut(block, x, 1, first, first + 1), x, x]
    return block.while_loop(go_on, step, carry)[2]


def _blocked(
    block: Any, x: Any, combine: Combine, identity: Any, reverse: bool
) -> Any:
    """[P, N, C] along N, cut into R blocks that are scanned side by side: rows of P*R*C elements.

    Then each block is combined with the total of those before it, by a scan of R totals.
    """
    p, n, c = x.aval.shape
    length = n if p * c >= 256 and n <= LONGEST else min(LONGEST, isqrt(n - 1) + 1)
    count = -(-n // length)
    x = _filled_up(block, x, count * length, identity, reverse)
    # A transpose that is fused with what is around it costs 2 to 8 times as much.
    turned = block.transpose(block.reshape(x, (p, count, length, c)), (2, 0, 1, 3))
    rows = block.reshape(block.barrier(turned), (1, length, p * count * c))
    rows = _loop(block, rows, combine, reverse)
    if count > 1:
        rows = _with_totals(block, rows, (p, count, c), combine, identity, reverse)
    rows = block.barrier(block.reshape(rows, (length, p, count, c)))
    back = block.barrier(block.transpose(rows, (1, 2, 0, 3)))
    out = block.reshape(back, (p, count * length, c))
    start = count * length - n if reverse else 0
    return _cut(block, out, 1, start, start + n)


def _filled_up(block: Any, x: Any, size: int, identity: Any, reverse: bool) -> Any:
    """Axis 1 lengthened to `size`, at the end where the scan stops."""
    p, n, c = x.aval.shape
    if size == n:
        return x
    rest = block.constant(identity, ShapedArray((p, size - n, c), x.aval.dtype))
    return block.concatenate([rest, x] if reverse else [x, rest], 1)


def _with_totals(
    block: Any, rows: Any, shape: tuple[int, int, int], combine: Combine, identity: Any,
    reverse: bool,
) -> Any:  # fmt: skip
    """Rows [1, B, P*R*C] of blocks' prefixes, combined with the totals of the blocks before."""
    p, count, c = shape
    length = rows.aval.shape[1]
    last = 0 if reverse else length - 1
    totals = block.reshape(_cut(block, rows, 1, last, last + 1), shape)
    if count <= LONGEST:  # one more loop; cutting again would run faster, but compile far longer
        totals = _loop(block, totals, combine, reverse)
    else:
        totals = _blocked(block, totals, combine, identity, reverse)
    none = block.constant(identity, ShapedArray((p, 1, c), rows.aval.dtype))
    start = 1 if reverse else 0
    kept = _cut(block, totals, 1, start, start + count - 1)
    before = block.concatenate([kept, none] if reverse else [none, kept], 1)
    before = block.broadcast(block.reshape(before, (p * count * c,)), rows.aval.shape, [2])
    return block.trace(combine, before, rows)


# ---- the scan in lax, for derivatives ---------------------------------------------------------
def _scan_pairs(combine: Combine, x: Any, t: Any, axis: int, reverse: bool) -> Any:
    """The second part of all prefixes of pairs (value, tangent), combined by doubling."""
    if reverse:
        return rev(_scan_pairs(combine, rev(x, (axis,)), rev(t, (axis,)), axis, False), (axis,))
    size, step = x.aval.shape[axis], 1
    while step < size:
        low = [slice_in_dim(z, 0, size - step, 1, axis) for z in (x, t)]
        high = [slice_in_dim(z, step, size, 1, axis) for z in (x, t)]
        first = [slice_in_dim(z, 0, step, 1, axis) for z in (x, t)]
        moved = combine(*low, *high)
        x, t = [concatenate([a, b], axis) for a, b in zip(first, moved)]
        step *= 2
    return t


def _product_pair(x: Any, dx: Any, y: Any, dy: Any) -> tuple[Any, Any]:
    return mul(x, y), add(mul(dx, y), mul(x, dy))


def _max_pair(x: Any, dx: Any, y: Any, dy: Any) -> tuple[Any, Any]:
    out = max_(x, y)
    return out, select_n(eq(out, x), dy, dx)


def _min_pair(x: Any, dx: Any, y: Any, dy: Any) -> tuple[Any, Any]:
    out = min_(x, y)
    return out, select_n(eq(out, x), dy, dx)


def _logaddexp(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)) without overflow."""
    largest, difference = max_(x, y), sub(x, y)
    equal = eq(x, y)  # also where both are infinite, and their difference is NaN
    gap = neg(abs_(select_n(equal, difference, zeros(x.aval))))
    return add(largest, log1p(exp(gap)))


def _logsumexp_pair(x: Any, dx: Any, y: Any, dy: Any) -> tuple[Any, Any]:
    out = _logaddexp(x, y)
    return out, add(mul(dx, _share(x, out)), mul(dy, _share(y, out)))


def _share(x: Any, total: Any) -> Any:
    """exp(x - total), where the total of nothing, minus infinity, has no shares."""
    nothing = eq(total, full(total.aval.shape, float("-inf"), total.aval.dtype))
    return exp(select_n(nothing, sub(x, total), total))


# ---- the family -----------------------------------------------------------------------------
class Cumulative(Primitive):
    """f32[2,3] -- axis=1, reverse=False --> f32[2,3].  Each element, combined with those before it.

    `reverse` starts from the end.  `pair` combines (value, tangent) pairs; `numpy` is the ufunc
    whose `accumulate` is the definition.  Narrow floats are combined in f32.
    """

    def __init__(
        self, name: str, *, combine: Combine, pair: Combine | None, numpy: Combine,
        identity: Callable[[np.dtype[Any]], Any], domain: str,
    ):  # fmt: skip
        super().__init__(name)
        self.combine = combine
        self.pair = pair
        self.function = numpy
        self.identity = identity
        self.domain = domain

    def infer(self, x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        check_domain(self.name, [x], self.domain)
        if not 0 <= axis < x.ndim:
            raise ValueError(f"{self.name}: {x} has no axis {axis}")
        return x

    def numpy(self, x: Any, *, axis: int, reverse: bool) -> Any:
        turned = np.flip(x, axis) if reverse else x
        rows = np.moveaxis(turned.astype(np.float32) if is_narrow(x.dtype) else turned, axis, 0)
        out = np.array(rows)
        with np.errstate(all="ignore"):
            for i in range(1, len(out)):
                out[i] = self.function(out[i - 1], rows[i])
        out = np.moveaxis(out, 0, axis).astype(x.dtype, copy=False)
        return np.flip(out, axis) if reverse else out

    def emit(self, block: Any, out: ShapedArray, x: Any, *, axis: int, reverse: bool) -> Any:
        wide = np.dtype(np.float32) if is_narrow(out.dtype) else out.dtype
        x = block.convert(x, wide)
        # The steps of logsumexp are long programs: in a loop they stand once.
        short = 2 if self is cumlogsumexp_p else SHORT
        found = _scan(block, x, axis, self.combine, self.identity(wide), reverse, short)
        return block.convert(found, out.dtype)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, axis: int, reverse: bool
    ) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        assert self.pair is not None
        out = self(x, axis=axis, reverse=reverse)
        return out, _scan_pairs(self.pair, x, t, axis, reverse)

    def batch(
        self, size: int, operands: Sequence[Any], axes: Sequence[Any], *, axis: int, reverse: bool
    ) -> tuple[Any, int]:
        (x,), (batched,) = operands, axes
        return self(x, axis=axis + (axis >= batched), reverse=reverse), batched


class CumSum(Cumulative):
    """f32[2,3] -- axis=1, reverse=False --> f32[2,3]."""

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        return self(*primals, **params), self(*tangents, **params)

    def transpose(self, ct: Any, x: Any, *, axis: int, reverse: bool) -> list[Any]:
        return [self(ct, axis=axis, reverse=not reverse)]


cumsum_p = CumSum(
    "cumsum", combine=add, pair=None, numpy=np.add, identity=lambda dtype: 0, domain="number"
)
cumprod_p = Cumulative(
    "cumprod", combine=mul, pair=_product_pair, numpy=np.multiply, identity=lambda dtype: 1,
    domain="number",
)  # fmt: skip
cummax_p = Cumulative(
    "cummax", combine=max_, pair=_max_pair, numpy=numpy_max, identity=lowest, domain="any"
)
cummin_p = Cumulative(
    "cummin", combine=min_, pair=_min_pair, numpy=numpy_min, identity=highest, domain="any"
)
cumlogsumexp_p = Cumulative(
    "cumlogsumexp", combine=_logaddexp, pair=_logsumexp_pair, numpy=np.logaddexp, identity=lowest,
    domain="float",
)  # fmt: skip


@strict
def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The sum of each element and all before it along an axis; after it, if `reverse`.

    Shape and dtype stay.  Raises ValueError for an axis out of range, TypeError for bool.

    >>> lax.cumsum(jnp.array([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    return cumsum_p(as_array(operand), axis=axis, reverse=bool(reverse))


@strict
def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The product of each element and all before it along an axis; after it, if `reverse`.

    Shape and dtype stay.  Raises ValueError for an axis out of range, TypeError for bool.

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
