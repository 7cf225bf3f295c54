"""Programs for convolutions that XLA's CPU backend does slowly, or wrong.

With one channel and one spatial axis, as `convolve` has them, it takes a routine made for images:
3,340 us for 1e5 by 100, where NumPy takes 1,000.  Short kernels escape it by an attribute, long
ones become a matrix product (400 us).

Depthwise ones, where each input feature has kernels of its own, take it 4 to 1,000 times as long
as `depthwise`; other types than f32 get a kernel widened with zeros there, so that a NaN or
infinity in one feature makes the others NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.ops.reductions.windows import Window, dilated

INT32 = np.dtype(np.int32)

SHORT = 8  # up to here the kernel is marked as reversed, which sends it to another routine
WORTH = 20_000  # products of input and kernel sizes below this are left alone
LARGEST_MATRIX = 4_000_000
UNROLLED = 128  # kernels with more places are gone through by a loop: they compile too slowly


def block_size(n: int, k: int) -> int:
    """Rows of the Toeplitz matrix; 0 where the matrix does not pay."""
    size = max(16, min(k, 100), k // 16)
    width = -(-(size + k - 1) // size) * size
    return size if SHORT < k <= n and n * k >= WORTH and size * width <= LARGEST_MATRIX else 0


def correlate(
    block: Any, x: Any, kernel: Any, padding: tuple[int, int], plain: Callable[..., Any]
) -> Any:
    """f32[N,n], f32[k] --> f32[N,m]: rows of x against the kernel, by a product of matrices.

    `plain(block, x, kernel)` is the ordinary program.  It serves where something is not finite:
    zeros of the matrix times infinity are NaN.
    """
    fast = _by_matrix(block, x, kernel, padding)
    doubt = block.add(_not_finite(block, x), _not_finite(block, kernel))
    found = block.compare(doubt, "NE", doubt)

    # A loop of one step or none; under `if` XLA would run its branches on one core.
    def again(b: Any, doubtful: Any, out: Any, x: Any, kernel: Any) -> Any:
        return doubtful

    def step(b: Any, doubtful: Any, out: Any, x: Any, kernel: Any) -> list[Any]:
        return [b.constant(False, doubtful.aval), plain(b, x, kernel), x, kernel]

    return block.while_loop(again, step, [found, fast, x, kernel])[1]


def _not_finite(block: Any, x: Any) -> Any:
    """0, or NaN if an element is NaN or infinite."""
    zeros = block.mul(x, 0.0)
    rows = block.reduce(zeros, 0.0, "add", (0,)) if x.aval.ndim > 1 else zeros
    return block.reduce(rows, 0.0, "add", (0,))


def _by_matrix(block: Any, x: Any, kernel: Any, padding: tuple[int, int]) -> Any:
    rows, n = x.aval.shape
    (k,) = kernel.aval.shape
    low, high = padding
    m = n + low + high - k + 1
    size = block_size(n, k)
    pieces = -(-(size + k - 1) // size)  # how many blocks of the input a block of results needs
    count = -(-m // size)
    padded = _resized(block, x, low, (count + pieces - 1) * size)
    blocks = block.barrier(block.reshape(padded, (rows, count + pieces - 1, size)))
    shifted = [block.slice(blocks, (0, i, 0), (rows, i + count, size)) for i in range(pieces)]
    windows = block.barrier(block.concatenate(shifted, 2))
    matrix = _toeplitz(block, kernel, size, pieces * size)
    out = block.op(
        f"stablehlo.dot_general {windows}, {matrix}, contracting_dims = [2] x [1]",
        (windows, matrix),
        ShapedArray((rows, count, size), np.dtype(x.aval.dtype)),
    )
    return block.slice(block.reshape(out, (rows, count * size)), (0, 0), (rows, m))


def _resized(block: Any, x: Any, low: int, size: int) -> Any:
    """Rows with `low` zeros before (or elements less), and as many behind as make `size`."""
    rows, n = x.aval.shape
    if low < 0:
        x, n, low = block.slice(x, (0, -low), (rows, n)), n + low, 0
    if low + n > size:
        x, n = block.slice(x, (0, 0), (rows, size - low)), size - low
    zero = block.constant(0, ShapedArray((), x.aval.dtype))
    return block.op(
        f"stablehlo.pad {x}, {zero}, low = [0, {low}], high = [0, {size - n - low}], "
        "interior = [0, 0]",
        (x, zero),
        ShapedArray((rows, size), x.aval.dtype),
    )


def _toeplitz(block: Any, kernel: Any, size: int, width: int) -> Any:
    """[B, W]: row i is the kernel, i places to the right, in zeros.

    One row with zeros on both sides, repeated and cut up an element short: each row is one further.
    """
    (k,) = kernel.aval.shape
    length = width + size - 1
    line = _resized(block, block.reshape(kernel, (1, k)), size - 1, length)
    lines = block.broadcast(block.reshape(line, (length,)), (size, length), (1,))
    flat = block.reshape(block.barrier(lines), (size * length,))
    start = size - 1
    cut = block.slice(flat, (start,), (start + size * (length - 1),))
    rows = block.reshape(cut, (size, length - 1))
    return block.barrier(block.slice(rows, (0, 0), (size, width)))


# ---- depthwise ----------------------------------------------------------------------------------
def depthwise(block: Any, x: Any, kernel: Any, window: Window) -> Any:
    """[n,g,*spatial], [g*o,1,*kernel] --> [n,g*o,*places]: for each place of the kernel a product.

    The places are added in the order in which the definition adds them.
    """
    n, groups, *spatial = x.aval.shape
    features, _, *sizes = kernel.aval.shape
    counts = window.shape(ShapedArray(tuple(spatial), x.aval.dtype))
    shape = (n, groups, features // groups, *counts)
    x = _padded(block, x, window)
    weights = block.reshape(kernel, (groups, features // groups, prod(sizes)))
    weights = block.transpose(weights, (2, 0, 1))

    def share(b: Any, x: Any, weights: Any, number: Any, place: Sequence[Any]) -> Any:
        seen = b.broadcast(_seen(b, x, place, counts, window), shape, (0, 1, *range(3, len(shape))))
        weight = _slice_at(b, weights, [number, 0, 0], (1, *shape[1:3]))
        return b.mul(seen, b.broadcast(b.reshape(weight, shape[1:3]), shape, (1, 2)))

    total = None
    if prod(sizes) <= UNROLLED:
        for number, place in enumerate(product(*map(range, sizes))):
            part = share(block, x, weights, number, place)
            total = part if total is None else block.add(total, part)
    else:
        total = _looped(block, x, weights, sizes, shape, share)
    return block.reshape(total, (n, features, *counts))


def _padded(block: Any, x: Any, window: Window) -> Any:
    """With zeros around it and in its holes."""
    lows, highs = ([0, 0, *[pair[i] for pair in window.padding]] for i in (0, 1))
    inside = [0, 0, *[d - 1 for d in window.base_dilation]]
    sizes = [
        low + dilated(size, hole + 1) + high
        for size, low, hole, high in zip(x.aval.shape, lows, inside, highs)
    ]
    zero = block.constant(0, ShapedArray((), x.aval.dtype))
    return block.op(
        f"stablehlo.pad {x}, {zero}, low = {lows}, high = {highs}, interior = {inside}",
        (x, zero), ShapedArray(tuple(sizes), x.aval.dtype),
    )  # fmt: skip


def _seen(block: Any, x: Any, place: Sequence[Any], counts: Sequence[int], window: Window) -> Any:
    """The elements that one place of the kernel meets: [n,g,*counts]."""
    starts = [
        at * inner if isinstance(at, int) else block.mul(at, inner)
        for at, inner in zip(place, window.window_dilation)
    ]
    strides = (1, 1, *window.window_strides)
    reach = [(m - 1) * step + 1 for m, step in zip((*x.aval.shape[:2], *counts), strides)]
    found = _slice_at(block, x, [0, 0, *starts], reach)
    return block.slice(found, [0] * len(reach), reach, strides)


def _slice_at(block: Any, x: Any, starts: Sequence[Any], sizes: Sequence[int]) -> Any:
    """A part of an operand, that starts at numbers or i32 operands."""
    if all(isinstance(start, int) for start in starts):
        return block.slice(x, starts, [a + n for a, n in zip(starts, sizes)])
    scalar = ShapedArray((), INT32)
    starts = [block.constant(a, scalar) if isinstance(a, int) else a for a in starts]
    names = ", ".join(map(str, (x, *starts)))
    head = f"stablehlo.dynamic_slice {names}, sizes = {list(sizes)}"
    return block.op(head, (x, *starts), ShapedArray(tuple(sizes), x.aval.dtype))


def _looped(
    block: Any, x: Any, weights: Any, sizes: Sequence[int], shape: Sequence[int],
    share: Callable[..., Any],
) -> Any:  # fmt: skip
    """The sum of the shares of all places of a kernel."""

    def going(b: Any, number: Any, total: Any, x: Any, weights: Any) -> Any:
        return b.compare(number, "LT", prod(sizes))

    def step(b: Any, number: Any, total: Any, x: Any, weights: Any) -> list[Any]:
        behind = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
        place = [b.rem(b.div(number, k), size) for k, size in zip(behind, sizes)]
        part = share(b, x, weights, number, place)
        return [b.add(number, 1), b.add(total, part), x, weights]

    zero = block.constant(0, ShapedArray((), INT32))
    total = block.constant(0, ShapedArray(tuple(shape), x.aval.dtype))
    return block.while_loop(going, step, [zero, total, x, weights])[1]
