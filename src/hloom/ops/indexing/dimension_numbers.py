"""What gathers and scatters share: dimension numbers, modes, checks, and indices in StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.errors import ArgumentError, ShapeError

Axes = tuple[int, ...]


class GatherDimensionNumbers(NamedTuple):
    """How the axes of operand, indices and result of a gather belong together: see `ops.gather`."""

    offset_dims: Axes
    collapsed_slice_dims: Axes
    start_index_map: Axes
    operand_batching_dims: Axes = ()
    start_indices_batching_dims: Axes = ()


class ScatterDimensionNumbers(NamedTuple):
    """How the axes of operand, indices and updates of a scatter belong together."""

    update_window_dims: Axes
    inserted_window_dims: Axes
    scatter_dims_to_operand_dims: Axes
    operand_batching_dims: Axes = ()
    scatter_indices_batching_dims: Axes = ()

    def as_gather(self) -> GatherDimensionNumbers:
        """Those of the gather that reads the windows which this scatter writes."""
        return GatherDimensionNumbers(*self)


class GatherScatterMode(Enum):
    """What happens to a window that does not lie inside the operand.

    `CLIP`: it is moved inside.  `FILL_OR_DROP`: gather gives a fill value for all of it, scatter
    leaves it out.  `PROMISE_IN_BOUNDS`: there is none; if there is, any of the above may happen.
    """

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise_in_bounds"

    @staticmethod
    def from_any(mode: Any) -> GatherScatterMode:
        """The mode for its name ("drop" is "fill"), None (the default, "fill") or a mode.

        >>> lax.GatherScatterMode.from_any("drop")
        <GatherScatterMode.FILL_OR_DROP: 'fill'>
        """
        if isinstance(mode, GatherScatterMode):
            return mode
        name = {None: "fill", "drop": "fill"}.get(mode, mode)
        try:
            return GatherScatterMode(name)
        except ValueError:
            raise ValueError(
                f'mode is "fill", "drop", "clip" or "promise_in_bounds"; got {mode!r}'
            ) from None


def mode_name(mode: Any) -> str:
    """The mode as a parameter of the primitive."""
    return GatherScatterMode.from_any(mode).value


# ---- checks that gather and scatter share ---------------------------------------------------
def check_mode(text: str, mode: str) -> None:
    """Raise unless the mode is one that primitives take."""
    if mode not in ("clip", "fill", "promise_in_bounds"):
        raise ValueError(f'{text}: mode is "clip", "fill" or "promise_in_bounds"; got {mode!r}')


def check_axes(text: str, name: str, axes: Axes, bound: int, *, ordered: bool = True) -> None:
    """Raise unless `axes` are distinct, below `bound` and, if `ordered`, increasing."""
    if len(set(axes)) != len(axes) or any(not 0 <= a < bound for a in axes):
        raise ShapeError(f"{text}: {name} must be distinct axes from 0 to {bound - 1}; got {axes}")
    if ordered and list(axes) != sorted(axes):
        raise ShapeError(f"{text}: {name} must be increasing; got {axes}")


def check_windows(
    text: str,
    operand: ShapedArray,
    indices: ShapedArray,
    numbers: GatherDimensionNumbers,
    slice_sizes: Axes,
    out_ndim: int,
) -> None:
    """The constraints on dimension numbers; labels are those of StableHLO's gather."""
    windows, collapsed, index_map, batching, index_batching = numbers
    if not dtypes.in_domain(indices.dtype, "integer"):
        raise ArgumentError(f"{text}: indices must be integers; got {indices}")
    if not indices.ndim:  # C2
        raise ShapeError(f"{text}: the last axis of the indices holds index vectors; got {indices}")
    if len(index_map) != indices.shape[-1]:  # C3
        raise ShapeError(
            f"{text}: index vectors have {indices.shape[-1]} elements for "
            f"{len(index_map)} operand axes, {index_map}"
        )
    check_axes(text, "window axes of the result", windows, out_ndim)  # C4, C5
    check_axes(text, "collapsed axes", collapsed, operand.ndim)  # C7, C8
    check_axes(text, "operand_batching_dims", batching, operand.ndim)  # C10, C11
    check_axes(text, "collapsed and batching axes", collapsed + batching, operand.ndim,
               ordered=False)  # C6  # fmt: skip
    check_axes(text, "batching axes of the indices", index_batching, indices.ndim - 1,
               ordered=False)  # C13, C14, C15  # fmt: skip
    check_axes(text, "indexed and batching axes", index_map + batching, operand.ndim,
               ordered=False)  # C18, C19  # fmt: skip
    if len(batching) != len(index_batching) or any(
        operand.shape[a] != indices.shape[b] for a, b in zip(batching, index_batching)
    ):  # C16, C17
        raise ShapeError(
            f"{text}: batching axes {batching} of {operand} and {index_batching} of {indices} "
            "must pair up, with equal sizes"
        )
    if len(windows) + len(collapsed) + len(batching) != operand.ndim:  # C1
        raise ShapeError(
            f"{text}: each of the {operand.ndim} operand axes must be a window axis, collapsed or "
            f"batching; got {len(windows)}, {len(collapsed)} and {len(batching)}"
        )
    if len(slice_sizes) != operand.ndim or any(
        not 0 <= s <= n for s, n in zip(slice_sizes, operand.shape)
    ):  # C20, C21
        raise ShapeError(
            f"{text}: windows need a size for each operand axis, at most that of {operand}; "
            f"got {slice_sizes}"
        )
    if any(slice_sizes[a] != 1 for a in collapsed + batching):  # C9, C12
        raise ShapeError(f"{text}: collapsed and batching axes have size 1; got {slice_sizes}")


def window_axes(numbers: GatherDimensionNumbers, ndim: int) -> list[int]:
    """Operand axes that are axes of the window in the result."""
    dropped = numbers.collapsed_slice_dims + numbers.operand_batching_dims
    return [a for a in range(ndim) if a not in dropped]


def starts_of_windows(
    operand: Any, indices: Any, numbers: GatherDimensionNumbers, slice_sizes: Axes, mode: str
) -> Any:
    """For the NumPy rules: (place among the windows, slices of the operand or None if outside)."""
    limits = [n - s for n, s in zip(operand.shape, slice_sizes)]
    for place in product(*map(range, indices.shape[:-1])):
        starts = [0] * operand.ndim
        for axis, i in zip(numbers.start_index_map, indices[place].tolist()):
            starts[axis] = i
        inside = all(0 <= a <= b for a, b in zip(starts, limits))
        starts = [min(max(a, 0), b) for a, b in zip(starts, limits)]
        for axis, i in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims):
            starts[axis] = place[i]
        slices = tuple(slice(a, a + n) for a, n in zip(starts, slice_sizes))
        yield place, slices if inside or mode == "clip" else None


# ---- indices in StableHLO -------------------------------------------------------------------
def signed_indices(block: Any, indices: Any, sizes: Sequence[int] = ()) -> Any:
    """Indices as i32 or i64.  The interpreter reads the top bit of unsigned ones as a sign."""
    dtype, wide = indices.aval.dtype, max(sizes, default=0) > 2**31 - 1
    if dtype == np.uint64:
        indices = block.min(indices, 2**63 - 1)
    if dtype in (np.uint32, np.uint64, np.int64) or wide:
        return block.convert(indices, np.dtype(np.int64))
    return block.convert(indices, np.dtype(np.int32))


def _limits(block: Any, indices: Any, operand: ShapedArray, index_map: Axes, sizes: Axes) -> Any:
    """The largest index that keeps a window inside, of the shape of the indices."""
    values = np.array([operand.shape[a] - sizes[a] for a in index_map], indices.aval.dtype)
    vector = block.constant(values, ShapedArray(values.shape, values.dtype))
    return block.broadcast(vector, indices.aval.shape, [indices.aval.ndim - 1])


def inside(block: Any, indices: Any, operand: ShapedArray, index_map: Axes, sizes: Axes) -> Any:
    """A bool for each index vector: whether its window lies inside the operand."""
    limits = _limits(block, indices, operand, index_map, sizes)
    each = block.and_(block.compare(indices, "GE", 0), block.compare(indices, "LE", limits))
    return block.reduce(each, True, "and", (indices.aval.ndim - 1,))


def clipped(block: Any, indices: Any, operand: ShapedArray, index_map: Axes, sizes: Axes) -> Any:
    """The indices moved so that windows lie inside the operand."""
    limits = _limits(block, indices, operand, index_map, sizes)
    return block.min(block.max(indices, 0), limits)
