"""Operations that move elements: shapes, slices, and the linear core of derivatives."""

from __future__ import annotations

import numpy as np

from hloom.ops.common.linear import (
    add_any,
    broadcast_in_dim,
    reduce_sum,
    reduce_sum_signed,
    transpose,
)
from hloom.ops.indexing.dynamic_slicing import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
    index_take,
)
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.pointwise.convert import copy, stop_gradient
from hloom.ops.shapes import slicing
from hloom.ops.shapes.shape import (
    broadcast,
    broadcast_like,
    broadcast_to_rank,
    broadcasted_iota,
    collapse,
    expand_dims,
    full,
    iota,
    optimization_barrier,
    reshape,
    rev,
    squeeze,
)
from hloom.ops.shapes.slicing import (
    concatenate,
    index_in_dim,
    pad,
    slice_in_dim,
    split,
    stack,
    tile,
    unstack,
)
from hloom.testing.case import Case
from hloom.testing.comparison import wider
from hloom.testing.operands import INEXACT, NUMBERS

I32 = np.int32


# ---- linear ----------------------------------------------------------------------------------
LINEAR = [
    Case("add_any", lambda x: add_any(x, x), ((2, 3, 4),), lambda x: x + x, NUMBERS),
    Case("add of axes of size 1", add, ((3, 1), (1, 4)), np.add, NUMBERS),
    Case("mul of axes of size 1", mul, ((3, 4), (3, 1)), np.multiply, ("int32", "float32")),
    Case("transpose", lambda x: transpose(x, (2, 0, 1)), ((2, 3, 4),),
         lambda x: x.transpose(2, 0, 1)),
    Case("broadcast_in_dim", lambda x: broadcast_in_dim(x, (5, 2, 3, 4), (1, 2, 3)),
         ((2, 3, 4),), lambda x: np.broadcast_to(x, (5, 2, 3, 4))),
    Case("broadcast_in_dim of size 1",
         lambda x: broadcast_in_dim(x, (2, 3, 4, 2), (0, 1, 2)), ((1, 3, 4),),
         lambda x: np.broadcast_to(x[..., None], (2, 3, 4, 2))),
    Case("reduce_sum", lambda x: reduce_sum(x, (0, 2)), ((2, 3, 4),),
         lambda x: wider(x).sum((0, 2)), NUMBERS, 16, "a sum in any order"),
    Case("reduce_sum with an initial value", lambda x: reduce_sum_signed(x, (0, 2)), ((2, 3, 4),),
         lambda x: wider(x).sum((0, 2)), INEXACT, 16, "a sum in any order"),
    Case("reduce_sum over no axes", lambda x: reduce_sum(x, ()), ((2, 3, 4),),
         lambda x: x, NUMBERS),
]  # fmt: skip

# ---- shape -----------------------------------------------------------------------------------
SHAPE = [
    Case("reshape", lambda x: reshape(x, (3, 4)), ((2, 6),), lambda x: x.reshape(3, 4)),
    Case("reshape of a permutation", lambda x: reshape(x, (6, 2), (1, 0)), ((2, 6),),
         lambda x: x.T.reshape(6, 2)),
    Case("reshape to 0-d", lambda x: reshape(x, ()), ((1, 1),), lambda x: x.reshape(())),
    Case("reshape of nothing", lambda x: reshape(x, (0, 5)), ((2, 0),),
         lambda x: x.reshape(0, 5)),
    Case("squeeze", lambda x: squeeze(x, (0, -1)), ((1, 3, 1),), lambda x: x.reshape(3)),
    Case("expand_dims", lambda x: expand_dims(x, (0, -1)), ((3, 2),),
         lambda x: x.reshape(1, 3, 2, 1)),
    Case("broadcast", lambda x: broadcast(x, (2, 1)), ((3,),),
         lambda x: np.broadcast_to(x, (2, 1, 3))),
    Case("broadcast_to_rank", lambda x: broadcast_to_rank(x, 3), ((3,),),
         lambda x: x.reshape(1, 1, 3)),
    Case("broadcast_like", broadcast_like, ((2, 1), (3, 2, 4)),
         lambda x, y: np.broadcast_to(x, y.shape), moving=(0,)),
    Case("broadcast_like a scalar", broadcast_like, ((), (2, 0)),
         lambda x, y: np.broadcast_to(x, y.shape), moving=(0,)),
    Case("collapse", lambda x: collapse(x, 1, 3), ((2, 3, 4),), lambda x: x.reshape(2, 12)),
    Case("rev", lambda x: rev(x, (0, 2)), ((2, 3, 4),), lambda x: np.flip(x, (0, 2))),
    Case("full", lambda x: full((2, 3), x), ((),), lambda x: np.full((2, 3), x)),
    Case("copy", copy, ((2, 3),), lambda x: x),
    Case("optimization_barrier", lambda x, y: optimization_barrier((x, y)), ((2,), (3,)),
         lambda x, y: (x, y)),
    Case("iota", lambda x: add(x, iota(x.dtype, 6)), ((6,),),
         lambda x: x + np.arange(6).astype(x.dtype), NUMBERS),
    Case("broadcasted_iota", lambda x: add(x, broadcasted_iota(x.dtype, (2, 3), 1)), ((2, 3),),
         lambda x: x + np.arange(3).astype(x.dtype), NUMBERS),
    Case("stop_gradient", stop_gradient, ((2, 3),), lambda x: x, moving=()),
]  # fmt: skip


# ---- slices ----------------------------------------------------------------------------------
def _update(x: np.ndarray, u: np.ndarray, *starts: int) -> np.ndarray:
    out = np.array(x)
    wanted = [i + n if i < 0 else i for i, n in zip(starts, x.shape)]
    places = [min(max(i, 0), n - m) for i, n, m in zip(wanted, x.shape, u.shape)]
    out[tuple(slice(i, i + m) for i, m in zip(places, u.shape))] = u
    return out


def _numpy_pad(x: np.ndarray, value: np.ndarray, config: list[tuple[int, int, int]]) -> np.ndarray:
    """Element by element."""
    shape = [lo + n + max(n - 1, 0) * mid + hi for n, (lo, hi, mid) in zip(x.shape, config)]
    out = np.full(shape, value)
    for place in np.ndindex(x.shape):
        target = tuple(lo + i * (mid + 1) for i, (lo, _, mid) in zip(place, config))
        if all(0 <= i < n for i, n in zip(target, shape)):
            out[target] = x[place]
    return out


SLICING = [
    Case("slice", lambda x: slicing.slice(x, (1, 0), (4, 2)), ((5, 3),), lambda x: x[1:4, :2]),
    Case("slice with strides", lambda x: slicing.slice(x, (1, 0), (5, 3), (2, 3)), ((5, 3),),
         lambda x: x[1:5:2, :3:3]),
    Case("empty slice", lambda x: slicing.slice(x, (2, 1), (2, 3)), ((5, 3),),
         lambda x: x[2:2, 1:3]),
    Case("slice that leaves a tail", lambda x: slicing.slice(x, (0,), (8,), (3,)), ((10,),),
         lambda x: x[0:8:3]),
    Case("slice_in_dim", lambda x: slice_in_dim(x, -4, None, 2, -2), ((5, 3),),
         lambda x: x[-4::2]),
    Case("index_in_dim", lambda x: index_in_dim(x, -1, 1, keepdims=False), ((5, 3),),
         lambda x: x[:, -1]),
    Case("pad", lambda x, v: pad(x, v, [(1, 2, 0), (0, 1, 2)]), ((2, 3), ()),
         lambda x, v: _numpy_pad(x, v, [(1, 2, 0), (0, 1, 2)])),
    Case("pad that takes away", lambda x, v: pad(x, v, [(-1, 2, 1), (3, -2, 0)]), ((4, 3), ()),
         lambda x, v: _numpy_pad(x, v, [(-1, 2, 1), (3, -2, 0)])),
    Case("pad of nothing", lambda x, v: pad(x, v, [(1, 2, 3)]), ((0,), ()),
         lambda x, v: np.full(3, v)),
    Case("pad that takes all away", lambda x, v: pad(x, v, [(-2, 3, 0)]), ((1,), ()),
         lambda x, v: np.full(2, v)),
    Case("concatenate", lambda x, y, z: concatenate([x, y, z], 1), ((2, 3), (2, 0), (2, 1)),
         lambda x, y, z: np.concatenate([x, y, z], 1)),
    Case("stack", lambda x, y: stack([x, y], -1), ((2, 3), (2, 3)),
         lambda x, y: np.stack([x, y], -1)),
    Case("stack of many in front", lambda x, y: stack([x, y, x, y, x], 0), ((2, 3), (2, 3)),
         lambda x, y: np.stack([x, y, x, y, x])),
    Case("unstack", lambda x: unstack(x, 1), ((2, 3),), lambda x: list(np.moveaxis(x, 1, 0))),
    Case("split", lambda x: split(x, (2, 0, 3), 1), ((2, 5),),
         lambda x: np.split(x, (2, 2), 1)),
    Case("tile", lambda x: tile(x, (2, 3)), ((2, 3),), lambda x: np.tile(x, (2, 3))),
    Case("tile often", lambda x: tile(x, (1, 20)), ((2, 3),), lambda x: np.tile(x, (1, 20))),
    Case("tile none", lambda x: tile(x, (0, 2)), ((2, 3),), lambda x: np.tile(x, (0, 2))),
    Case("index_take", lambda x, i: index_take(x, (i,), (1,)),
         ((2, 3, 4), np.array([2, 0, -1, 7, -5], I32)),
         lambda x, i: np.moveaxis(x[:, i % 3], 1, 0)),
    Case("index_take of elements", lambda x, i, j: index_take(x, (i, j), (2, -3)),
         ((2, 3, 4), np.array([[3, 0]], I32), np.array([[1, 0]], I32)),
         lambda x, i, j: x[j, :, i]),
    Case("index_take of one", lambda x, i: index_take(x, i.reshape(1), (0,)),
         ((5, 3), np.array(6, np.int8)), lambda x, i: x[1], moving=(0,)),
    Case("index_take of nothing", lambda x, i: index_take(x, (i,), (0,)),
         ((5, 3), np.zeros(0, I32)), lambda x, i: x[:0]),
    Case("dynamic_slice", lambda x, i, j: dynamic_slice(x, (i, j), (2, 3)),
         ((5, 4), I32(1), I32(1)), lambda x, i, j: x[1:3, 1:4]),
    Case("dynamic_slice over an edge", lambda x, i, j: dynamic_slice(x, (i, j), (2, 3)),
         ((5, 4), I32(9), I32(-1)), lambda x, i, j: x[3:5, 1:4]),
    Case("dynamic_slice of everything", lambda x, i: dynamic_slice(x, (i,), (5,)),
         ((5,), I32(3)), lambda x, i: x),
    Case("dynamic_slice of nothing", lambda x, i: dynamic_slice(x, (i,), (0,)),
         ((5,), I32(3)), lambda x, i: x[:0]),
    Case("dynamic_slice by a vector", lambda x, i: dynamic_slice(x, i, (1, 2)),
         ((5, 4), np.array([2, 1], I32)), lambda x, i: x[2:3, 1:3]),
    Case("dynamic_index_in_dim", lambda x, i: dynamic_index_in_dim(x, i, 1, keepdims=False),
         ((3, 4), I32(-2)), lambda x, i: x[:, 2]),
    Case("dynamic_update_slice", lambda x, u, i, j: dynamic_update_slice(x, u, (i, j)),
         ((5, 4), (2, 3), I32(1), I32(1)), lambda x, u, i, j: _update(x, u, 1, 1)),
    Case("dynamic_update_slice over an edge",
         lambda x, u, i, j: dynamic_update_slice(x, u, (i, j)),
         ((5, 4), (2, 3), I32(7), I32(-9)), lambda x, u, i, j: _update(x, u, 7, -9)),
    Case("dynamic_update_slice_in_dim",
         lambda x, u, i: dynamic_update_slice_in_dim(x, u, i, -1),
         ((3, 4), (3, 2), I32(1)), lambda x, u, i: _update(x, u, 0, 1)),
    Case("dynamic_update_index_in_dim",
         lambda x, u, i: dynamic_update_index_in_dim(x, u, i, 1),
         ((3, 4), (3,), I32(1)), lambda x, u, i: _update(x, u[:, None], 0, 1)),
]  # fmt: skip
