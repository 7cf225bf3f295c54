"""Windows, one axis after the other, as elementwise operations on shifted slices.

XLA's CPU backend runs a window's elements one by one: 4,800 us for the maxima of 3 by 3 in 1e6 f32,
and it loses NaN.  Shifted slices are fused and vectorised, 300 us, and NaN stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom.core.aval import ShapedArray
from hloom.ops.common.reduction_layouts import fold
from hloom.ops.shapes.slicing import write_pad

# combine(block, left, right): for the operands at earlier and at later places of a window.
Combine = Callable[[Any, list[Any], list[Any]], list[Any]]

SHORT = 8  # up to here a window is combined place by place, else by doubling


def slide(
    block: Any,
    xs: Sequence[Any],
    fills: Sequence[Any],
    window: Any,
    combine: Combine,
    *,
    repeats: bool,
    op: str = "",
) -> list[Any]:
    """What each window holds, combined: the last axis first, in the order of its elements.

    `fills` is what padding holds.  `repeats`: an element may be combined twice (max, not sum).
    `op` names the operation of a single operand, for windows that take a whole axis.
    """
    config = [(low, high, d - 1) for (low, high), d in zip(window.padding, window.base_dilation)]
    scalars = [block.constant(f, ShapedArray((), x.aval.dtype)) for x, f in zip(xs, fills)]
    made = [write_pad(block, x, s, config) for x, s in zip(xs, scalars)]
    for axis in reversed(range(len(config))):
        size, stride = window.window_dimensions[axis], window.window_strides[axis]
        step = window.window_dilation[axis]
        if size == made[0].aval.shape[axis] > SHORT and op:
            shape = list(made[0].aval.shape)
            shape[axis] = 1
            made = [block.reshape(fold(block, made[0], fills[0], op, (axis,)), shape)]
        elif size > SHORT:
            made = _doubled(block, made, axis, size, step, combine, repeats)
            made = [_places(block, x, axis, 0, None, stride) for x in made]
        else:
            made = _placed(block, made, axis, size, step, stride, combine)
    return made


def _places(block: Any, x: Any, axis: int, start: int, count: int | None, stride: int) -> Any:
    """`count` elements along an axis, every `stride`-th; None are as many as there are."""
    shape = x.aval.shape
    limit = shape[axis] if count is None else start + (count - 1) * stride + 1
    if start == 0 and limit == shape[axis] and stride == 1:
        return x
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], limits[axis], strides[axis] = start, limit, stride
    return block.slice(x, starts, limits, strides)


def _placed(
    block: Any, xs: list[Any], axis: int, size: int, step: int, stride: int, combine: Combine
) -> list[Any]:
    """The elements at the first place of each window, combined with the second, and so on."""
    count = (xs[0].aval.shape[axis] - (size - 1) * step - 1) // stride + 1
    out = [_places(block, x, axis, 0, count, stride) for x in xs]
    for i in range(1, size):
        out = combine(block, out, [_places(block, x, axis, i * step, count, stride) for x in xs])
    return out


def _doubled(
    block: Any, xs: list[Any], axis: int, size: int, step: int, combine: Combine, repeats: bool
) -> list[Any]:
    """Windows of 1, 2, 4, .. places, stride 1, put together to `size`."""
    total = xs[0].aval.shape[axis]
    count = total - (size - 1) * step

    def part(made: list[Any], start: int, amount: int) -> list[Any]:
        return [_places(block, x, axis, start * step, amount, 1) for x in made]

    powers, width, made = [], 1, list(xs)
    while True:
        powers.append((width, made))
        if 2 * width > size:
            break
        amount = made[0].aval.shape[axis] - width * step
        made = combine(block, part(made, 0, amount), part(made, width, amount))
        made = block.barrier(*made) if len(made) > 1 else [block.barrier(*made)]
        width *= 2
    out, covered = part(made, 0, count), width
    if repeats:
        return combine(block, out, part(made, size - width, count)) if covered < size else out
    for width, made in reversed(powers):
        if covered + width <= size:
            out = combine(block, out, part(made, covered, count))
            covered += width
    return out
