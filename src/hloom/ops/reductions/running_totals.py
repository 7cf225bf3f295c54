"""Running totals as loops, in NumPy's order: bit for bit what `ufunc.accumulate` computes.

Any other order loses digits, or overflows, where the running total does not: of `[1e8, -1e8, 1]`
the last two together are -1e8.  XLA compiles a loop whose steps touch less than a kilobyte into one
function, in which a step costs 3 ns, not the 300 of a loop that starts a kernel for each operation;
a million float32 take 0.9 ms, where XLA's own way, a window of the whole axis, takes 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt, prod
from typing import Any, NamedTuple

import numpy as np

from hloom.core.aval import ShapedArray

Combine = Callable[..., Any]  # the total so far, the next element of each operand -> the next total

LONG = 2000  # a longer axis is cut into blocks, where that is allowed


class AlongAxis(NamedTuple):
    """The axis of a running total, and whether it starts from the end: parameters of primitives."""

    axis: int
    reverse: bool


def running(
    block: Any,
    operands: Sequence[Any],
    p: AlongAxis,
    combine: Combine,
    *,
    unroll: int,
    identity: Any = None,
) -> Any:
    """Along an axis, `combine(total, *elements)`; the first total is the last operand's element.

    `unroll`: how many elements of f32 a step may take.  `identity`, of an operation whose order
    makes no difference, allows to cut a long axis.
    """
    axis, reverse = p
    aval = operands[-1].aval
    shape, size = aval.shape, aval.shape[axis]
    if size <= 1 or not aval.size:
        return operands[-1]
    before, behind = prod(shape[:axis]), prod(shape[axis + 1 :])
    rows = [block.reshape(x, (before, size, behind)) for x in operands]
    if before * behind > 1:
        out = _by_rows(block, rows, combine, reverse)
    elif identity is not None and size > LONG:
        out = _blocked(block, rows[0], combine, reverse, identity)
    else:
        unroll = unroll // 2 if aval.kind == "complex" else unroll
        out = _one_by_one(block, rows, combine, reverse, max(1, unroll))
    return block.reshape(out, shape)


def _counter(size: int) -> ShapedArray:
    return ShapedArray((), np.dtype(np.int32 if size < 2**31 else np.int64))


def _by_rows(block: Any, operands: Sequence[Any], combine: Combine, reverse: bool) -> Any:
    """[P, N, C] along N: a step for each of N, on rows [P, 1, C]."""
    p, n, c = operands[-1].aval.shape
    sizes = (p, 1, c)
    first = n - 1 if reverse else 0
    initial = block.slice(operands[-1], (0, first, 0), (p, first + 1, c))
    counter = _counter(n)

    def go_on(b: Any, i: Any, *_: Any) -> Any:
        return b.compare(i, "LT", n)

    def step(b: Any, i: Any, total: Any, out: Any, *sources: Any) -> list[Any]:
        place = (b.constant(0, counter), b.sub(n - 1, i) if reverse else i, b.constant(0, counter))
        total = b.trace(combine, total, *[b.dynamic_slice(x, place, sizes) for x in sources])
        return [b.add(i, 1), total, b.dynamic_update_slice(out, total, place), *sources]

    carry = [block.constant(1, counter), initial, operands[-1], *operands]
    return block.while_loop(go_on, step, carry)[2]


def _blocked(block: Any, x: Any, combine: Combine, reverse: bool, identity: Any) -> Any:
    """[1, N, 1] along N, cut into blocks that are run side by side, then the blocks' totals."""
    n = x.aval.size
    length = min(LONG, isqrt(n - 1) + 1)
    count = -(-n // length)
    filled = _filled_up(block, x, count * length, reverse)
    blocks = _by_rows(block, [block.reshape(filled, (count, length, 1))], combine, reverse)
    last = 0 if reverse else length - 1
    totals = block.slice(blocks, (0, last, 0), (count, last + 1, 1))
    totals, order = block.reshape(totals, (count,)), AlongAxis(0, reverse)
    totals = running(block, [totals], order, combine, unroll=1, identity=identity)
    none = block.constant(identity, ShapedArray((1,), x.aval.dtype))
    start = 1 if reverse else 0
    others = block.slice(totals, (start,), (start + count - 1,))
    earlier = block.concatenate([others, none] if reverse else [none, others], 0)
    earlier = block.broadcast(earlier, blocks.aval.shape, (0,))
    out = block.trace(combine, earlier, blocks)
    return _cut_back(block, block.reshape(out, (1, count * length, 1)), n, reverse)


def _one_by_one(
    block: Any, operands: Sequence[Any], combine: Combine, reverse: bool, unroll: int
) -> Any:
    """[1, N, 1] along N, in steps that take `unroll` elements, one after another."""
    n = operands[-1].aval.size
    count = -(-n // unroll)
    length = -(-n // count)  # elements in a step
    filled = [_filled_up(block, x, count * length, reverse) for x in operands]
    rows = [block.reshape(x, (count * length,)) for x in filled]
    if count == 1:
        out = block.concatenate(_totals(block, None, rows, combine, reverse), 0)
    else:
        out = _chained(block, rows, combine, reverse, length)
    return _cut_back(block, block.reshape(out, (1, count * length, 1)), n, reverse)


def _filled_up(block: Any, x: Any, size: int, reverse: bool) -> Any:
    """Axis 1 lengthened to `size`, at the end where the totals stop."""
    p, n, c = x.aval.shape
    if size == n:
        return x
    rest = block.constant(0, ShapedArray((p, size - n, c), x.aval.dtype))
    return block.concatenate([rest, x] if reverse else [x, rest], 1)


def _cut_back(block: Any, x: Any, size: int, reverse: bool) -> Any:
    """The `size` elements of axis 1 that `_filled_up` was given."""
    p, n, c = x.aval.shape
    start = n - size if reverse else 0
    return block.slice(x, (0, start, 0), (p, start + size, c)) if n != size else x


def _chained(
    block: Any, operands: Sequence[Any], combine: Combine, reverse: bool, length: int
) -> Any:
    """[N] along N, `length` in a step."""
    aval = operands[-1].aval
    counter = _counter(aval.size)

    def go_on(b: Any, at: Any, *_: Any) -> Any:
        return b.compare(at, "LT", aval.size)

    def step(b: Any, at: Any, total: Any, out: Any, *sources: Any) -> list[Any]:
        place = [b.sub(aval.size - length, at) if reverse else at]
        taken = [b.dynamic_slice(x, place, (length,)) for x in sources]
        begins = b.broadcast(b.compare(at, "EQ", 0), (1,), ())
        totals = _totals(b, (begins, total), taken, combine, reverse)
        out = b.dynamic_update_slice(out, b.concatenate(totals, 0), place)
        return [b.add(at, length), totals[0 if reverse else -1], out, *sources]

    start = block.constant(0, counter), block.constant(0, ShapedArray((1,), aval.dtype))
    return block.while_loop(go_on, step, [*start, operands[-1], *operands])[2]


def _totals(
    block: Any, before: Any, operands: Sequence[Any], combine: Combine, reverse: bool
) -> list[Any]:
    """The totals, of shape [1] each, of [K] elements.

    `before`, if there is something before: whether to begin anew, and the total so far.
    """
    size = operands[-1].aval.size
    totals: list[Any] = []
    for i in range(size)[:: -1 if reverse else 1]:
        taken = [block.slice(x, (i,), (i + 1,)) for x in operands]
        if totals:
            total = block.trace(combine, totals[-1], *taken)
        elif before is None:
            total = taken[-1]
        else:
            begins, so_far = before
            total = block.select(begins, taken[-1], block.trace(combine, so_far, *taken))
        totals.append(total)
    return totals[::-1] if reverse else totals
