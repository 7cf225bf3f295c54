"""Many short sorts side by side: Batcher's bitonic network on whole rows, without a comparator.

A row of the array is compared with another by min and max, which are vectorised: 4,600 us for the
rows of 1000 by 1000, where XLA's sort takes 22,000 and NumPy 5,400.  It takes a second to compile,
so it is kept for arrays that take long to sort.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray

WORTH = 2**19  # elements from which on a longer compilation pays
LONGEST = 4096  # the network of a longer axis has too many stages
WIDE = 128  # so many sorts side by side

# The shortest network for eight.
_EIGHT = (
    (0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (1, 2), (5, 6), (0, 4), (3, 7),
    (1, 5), (2, 6), (1, 4), (3, 6), (2, 4), (3, 5), (3, 4),
)  # fmt: skip


def pays(x: ShapedArray, axis: int) -> bool:
    """Whether to sort this array by the network."""
    size = x.shape[axis]
    return x.size >= WORTH and 32 <= size <= LONGEST and x.size // size >= WIDE


def sort_integers(block: Any, x: Any, axis: int) -> Any:
    """The integers in ascending order along an axis."""
    shape = x.aval.shape
    before, behind = list(range(axis)), list(range(axis + 1, len(shape)))
    order = [axis, *before, *behind]
    turned = block.transpose(block.barrier(x), order) if before else x
    size, count = shape[axis], prod(shape) // shape[axis]
    padded = 1 << (size - 1).bit_length()
    rows = block.barrier(block.reshape(turned, (size, count)))
    if padded != size:
        largest = int(np.iinfo(x.aval.dtype).max)
        rest = block.constant(largest, ShapedArray((padded - size, count), x.aval.dtype))
        rows = block.concatenate([rows, rest], 0)
    rows = block.slice(_network(block, rows), (0, 0), (size, count))
    out = block.barrier(block.reshape(rows, [shape[i] for i in order]))
    if not before:
        return out
    return block.barrier(block.transpose(out, np.argsort(order).tolist()))


def _network(block: Any, x: Any) -> Any:
    """[M, L] along M, a power of two: sorted runs of 8, then of 16, 32, .."""
    parts = _view(block, x, 8, 1)
    for i, j in _EIGHT:
        parts[i], parts[j] = block.min(parts[i], parts[j]), block.max(parts[i], parts[j])
    x, run = _join(block, parts), 8
    while run < x.aval.shape[0]:
        # Two runs, the second one backwards, are bitonic: halve the distance until all is sorted.
        distance, first = run, True
        while distance >= 2:
            x = _two_stages(block, x, distance // 2, first)
            distance, first = distance // 4, False
        if distance == 1:
            low, high = _view(block, x, 2, 1)
            x = _join(block, [block.min(low, high), block.max(low, high)])
        run *= 2
    return x


def _two_stages(block: Any, x: Any, half: int, first: bool) -> Any:
    """Compare rows at distance 2 * half, then at half, in one kernel."""
    a, b, c, d = _view(block, x, 4, half)
    if first:
        c, d = _backwards(block, d), _backwards(block, c)
    low, low2 = block.min(a, c), block.min(b, d)
    high, high2 = block.max(a, c), block.max(b, d)
    pairs = ((low, low2), (high, high2))
    return _join(block, [f(*pair) for pair in pairs for f in (block.min, block.max)])


def _view(block: Any, x: Any, count: int, size: int) -> list[Any]:
    """Rows in groups of `count` runs of `size`: the first run of all groups, the second, .."""
    m, width = x.aval.shape
    groups = m // (count * size)
    grouped = block.reshape(x, (groups, count, size, width))
    return [block.slice(grouped, (0, i, 0, 0), (groups, i + 1, size, width)) for i in range(count)]


def _join(block: Any, parts: list[Any]) -> Any:
    groups, _, size, width = parts[0].aval.shape
    joined = block.concatenate(parts, 1)
    return block.barrier(block.reshape(joined, (groups * len(parts) * size, width)))


def _backwards(block: Any, x: Any) -> Any:
    return block.op(f'"stablehlo.reverse"({x}) <{{dimensions = array<i64: 2>}}>', (x,), x.aval)
