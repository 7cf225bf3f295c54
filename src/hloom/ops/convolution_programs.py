"""Faster programs for convolutions with one channel and one spatial axis, as `convolve` has them.

XLA's CPU backend sends them to a routine made for images: 3,340 us for 1e5 by 100, where NumPy
takes 1,000.  Short kernels escape it by an attribute, long ones become a matrix product (400 us).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray

SHORT = 8  # up to here the kernel is marked as reversed, which sends it to another routine
WORTH = 20_000  # products of input and kernel sizes below this are left alone
LARGEST_MATRIX = 4_000_000


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
    shifted = [
        block.slice(blocks, (0, i, 0), (rows, i + count, size)) for i in range(pieces)
    ]
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
