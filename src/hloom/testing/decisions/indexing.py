"""Decisions on indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.testing.decisions.record import Decision, Plain, f32, i32, u8, u32

TABLE = np.arange(300, dtype=np.float32)


def _sliced(x: Any, start: Any) -> Any:
    head = f"stablehlo.dynamic_slice {x.operand}, {start.operand}, sizes = [1]"
    return x.block.op(head, [x.operand, start.operand], x.operand.aval.update(shape=(1,)))


def _gathered(x: Any, indices: Any) -> Any:
    columns = x.block.reshape(indices.operand, (indices.size, 1))
    attributes = (
        "dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = "
        "[0], "
        "index_vector_dim = 1>, slice_sizes = array<i64: 1>"
    )
    head = f'"stablehlo.gather"({x.operand}, {columns}) <{{{attributes}}}>'
    out = x.operand.aval.update(shape=indices.shape)
    return x.block.op(head, [x.operand, columns], out)


def _scattered(x: Any, indices: Any, updates: Any) -> Any:
    scalar = x.operand.aval.update(shape=())
    region = x.block.region([scalar, scalar], lambda b, old, new: new)
    attributes = (
        "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0]>"
    )
    operands = [x.operand, indices.operand, updates.operand]
    names = ", ".join(map(str, operands))
    head = f'"stablehlo.scatter"({names}) <{{{attributes}}}> {region}'
    return x.block.op(head, operands, x.operand.aval)


GATHER = Plain("`stablehlo.gather`", _gathered)
SCATTER = Plain("`stablehlo.scatter`", _scattered)
SLICE = Plain("`stablehlo.dynamic_slice`", _sliced)

INDEXING = (
    Decision(
        "A slice that starts outside is moved inside",
        "lax.dynamic_slice(x, (y,), (2,))",
        (f32(0, 1, 2, 3, 4), np.asarray(9, np.int32)),
        f32(3, 4),
        "As StableHLO specifies, and all agree; an index that is known is checked by NumPy's "
        "rules "
        "in `x[i]`.",
        numpy="raises",
    ),
    Decision(
        "Unsigned indices have no sign",
        "lax.dynamic_slice(x, (y,), (1,))",
        (TABLE, np.asarray(200, np.uint8)),
        f32(200),
        "The interpreter reads the top bit as a sign, and 200 becomes the first element.",
        asks="x[y:y + 1]",
        plain=SLICE,
        lowering="hloom.ops.indexing.gather.signed_indices",
        shown=("0, 1, .., 299", "200 of u8"),
        reference=f32(0),
    ),
    Decision(
        "Not even those beyond the signed ones",
        "jnp.take(x, y, mode='clip')",
        (TABLE, u32(2**31, 2**32 - 1, 7)),
        f32(299, 299, 7),
        "They are moved inside from above.",
        asks="np.take(x, y, mode='clip')",
        lowering="hloom.ops.indexing.gather.signed_indices",
        shown=("0, 1, .., 299", ""),
        plain=GATHER,
        reference=f32(0, 0, 7),
    ),
    Decision(
        "Of updates of one place the last one stays",
        "jnp.asarray(x).at[y].set(z)",
        (f32(0, 0, 0), i32(1, 1, 0), f32(5, 6, 7)),
        f32(7, 6, 0),
        "NumPy's answer.",
        numpy=f32(7, 6, 0),
        rows=False,
    ),
    Decision(
        "Sums into one place are made in order",
        "jnp.asarray(x).at[y].add(z)",
        (f32(0, 0), i32(0, 0, 0), f32(1e8, 1, -1e8)),
        f32(0, 0),
        "As `np.add.at`.",
        numpy=f32(0, 0),
    ),
    Decision(
        "Updates outside are dropped",
        "jnp.asarray(x).at[y].set(z, mode='drop')",
        (f32(0, 0, 0), i32(5, 0, -2), f32(5, 6, 7)),
        f32(6, 7, 0),
        "Inside a program there is nobody to raise to. (An index that is known "
        "and outside is an IndexError, unless the mode is named.)",
        numpy="raises",
        rows=False,
    ),
    Decision(
        "A window that is partly outside is dropped as a whole",
        "lax.scatter(x, y, z, lax.ScatterDimensionNumbers((0,), (), (0,)), mode='fill')",
        (f32(0, 0, 0), i32(2), f32(5, 6)),
        f32(0, 0, 0),
        "XLA's answer; StableHLO's specification, and the interpreter, write what lies inside. "
        "hloom masks such windows.",
        numpy="has none",
        lowering="hloom.ops.indexing.gather.inside",
        plain=SCATTER,
        reference=f32(0, 0, 5),
    ),
    Decision(
        "Elements outside are filled, if they are read so",
        "jnp.take(x, y, mode='fill')",
        (f32(1, 2, 3), i32(0, 3, -1)),
        f32(1, np.nan, 3),
        "Negative indices count from the end.",
        numpy="raises",
        lowering="hloom.ops.indexing.gather.inside",
        plain=GATHER,
        xla=f32(1, 3, 1),
        reference=f32(1, 3, 1),
        rows=False,
    ),
    Decision(
        "Places in small integers wrap",
        "lax.iota('uint8', 300)[y]",
        (u8(), i32(255, 256, 299)),
        u8(255, 0, 43),
        "",
        asks="np.arange(300).astype(np.uint8)[y]",
        shown=("", ""),
    ),
)
