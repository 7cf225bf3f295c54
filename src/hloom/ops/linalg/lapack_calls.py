"""LAPACK in StableHLO: how a custom call is written, and what is common to the programs around it.

LAPACK stores matrices by columns, we by rows.  A call says of each matrix how it is to lie, and XLA
moves what lies otherwise.  Where the transposed matrix serves as well (a symmetric one is its own),
the call is `by_rows`: the bytes stay where they are, and LAPACK takes them for the transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray

BOOL, INT32 = np.dtype(bool), np.dtype("int32")

LETTERS = {
    np.dtype("float32"): "s", np.dtype("float64"): "d",
    np.dtype("complex64"): "c", np.dtype("complex128"): "z",
}  # fmt: skip


def call(
    block: Any,
    function: str,
    operands: Sequence[Any],
    outs: Sequence[ShapedArray],
    *,
    batch: int,
    alias: Sequence[tuple[int, int]] = (),
    by_rows: bool = False,
    **attributes: str | int | bool,
) -> list[Any]:
    """Call LAPACK's `function`, named without its first letter, for each of a batch of matrices.

    `batch` is how many axes lead the matrices.  `alias` holds pairs (operand, result) that lie in
    one place.  `by_rows`: LAPACK sees the transpose of every matrix, and nothing has to be moved.
    Attributes are single letters, integers or bool, as LAPACK's own arguments are.
    """
    letter = LETTERS[operands[0].aval.dtype]
    wanted = outs
    if by_rows:
        operands = [_shaped(block, x, _turned(x.aval.shape, batch)) for x in operands]
        outs = [x.update(shape=_turned(x.shape, batch)) for x in outs]
    settings = ", ".join(f"{name} = {_attribute(x)}" for name, x in attributes.items())
    layouts = [
        ", ".join(_layout(x.ndim, batch, by_rows) for x in avals)
        for avals in ([x.aval for x in operands], outs)
    ]
    pairs = ", ".join(_alias(i, o, len(outs)) for i, o in alias)
    head = (
        f"stablehlo.custom_call @lapack_{letter}{function}_ffi({', '.join(map(str, operands))}) "
        f"{{api_version = 4 : i32, backend_config = {{{settings}}}, "
        f"operand_layouts = [{layouts[0]}], result_layouts = [{layouts[1]}], "
        f"output_operand_aliases = [{pairs}]}}"
    )
    results = block.op(head, operands, outs)
    return [_shaped(block, x, aval.shape) for x, aval in zip(results, wanted)]


def _turned(shape: tuple[int, ...], batch: int) -> tuple[int, ...]:
    """Rows and columns in each other's place; the bytes stay as they are."""
    if len(shape) - batch != 2:
        return shape
    return (*shape[:-2], shape[-1], shape[-2])


def _shaped(block: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return x if x.aval.shape == shape else block.reshape(x, shape)


def _attribute(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{ord(value)} : ui8" if isinstance(value, str) else f"{value} : i32"


def _layout(ndim: int, batch: int, by_rows: bool) -> str:
    """The axes from the one that runs fastest to the slowest."""
    axes = list(reversed(range(ndim)))
    if ndim - batch == 2 and not by_rows:
        axes[:2] = axes[1], axes[0]
    return f"dense<{axes if axes else ''}> : tensor<{ndim}xindex>"


def _alias(operand: int, result: int, count: int) -> str:
    place = [result] if count > 1 else []
    return (
        f"#stablehlo.output_operand_alias<output_tuple_indices = {place}, "
        f"operand_index = {operand}, operand_tuple_indices = []>"
    )


# ---- around a call ----------------------------------------------------------------------------
def succeeded(block: Any, info: Any) -> Any:
    """Of each matrix, whether LAPACK found a result."""
    return block.compare(info, "EQ", 0)


def all_finite(block: Any, x: Any) -> Any:
    """Of each matrix, whether it is without NaN and infinities.

    LAPACK's iterations may never end on others, or write complaints to stdout.
    """
    parts = [block.real(x), block.imag(x)] if x.aval.dtype.kind == "c" else [x]
    aval = ShapedArray(x.aval.shape, BOOL)
    finite = [block.op(f"stablehlo.is_finite {part}", (part,), aval) for part in parts]
    both = finite[0] if len(finite) == 1 else block.and_(*finite)
    return block.reduce(both, True, "and_", [x.aval.ndim - 2, x.aval.ndim - 1])


def unless(block: Any, ok: Any, x: Any, other: Any) -> Any:
    """The results of those matrices for which `ok` holds, and a number for the others."""
    aval, whole = x.aval, ok
    if aval.shape != ok.aval.shape:
        whole = block.broadcast(ok, aval.shape, range(ok.aval.ndim))
    return block.select(whole, x, block.constant(other, aval))


def nan_unless(block: Any, ok: Any, x: Any) -> Any:
    """The same with NaN for the others."""
    nan = complex(np.nan, np.nan) if x.aval.dtype.kind == "c" else np.nan
    return unless(block, ok, x, nan)


def triangle(block: Any, shape: tuple[int, ...], lower: bool, k: int = 0) -> Any:
    """Where elements lie at or below the k-th diagonal of each matrix; not `lower`: at or above."""
    index = ShapedArray(shape, INT32)
    row, column = block.iota(index, len(shape) - 2), block.iota(index, len(shape) - 1)
    return block.compare(block.add(row, k) if k else row, "GE" if lower else "LE", column)


def keep_triangle(block: Any, x: Any, lower: bool, k: int = 0) -> Any:
    """The matrices with zeros on the other side of the diagonal."""
    return block.select(triangle(block, x.aval.shape, lower, k), x, block.constant(0, x.aval))


def eye(block: Any, out: ShapedArray) -> Any:
    """Matrices with ones on their diagonal."""
    index = ShapedArray(out.shape, INT32)
    row, column = block.iota(index, out.ndim - 2), block.iota(index, out.ndim - 1)
    return block.convert(block.compare(row, "EQ", column), out.dtype)
