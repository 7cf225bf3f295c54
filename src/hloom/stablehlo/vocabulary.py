"""The words that lowerings are written in: a method for each common operation.

Each writes one operation, in the pretty form that StableHLO prints itself, and returns its result.
Operands are of one type unless the method says otherwise; a Python scalar beside an operand becomes
a constant of its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.stablehlo import spelling
from hloom.stablehlo.builder import Block, Body, Operand, Results, Value, join
from hloom.stablehlo.spelling import TENSOR_TYPES

# `reduce` takes the names of the methods too; what they are called in StableHLO.
_LONG = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "rem": "remainder", "neg": "negate",
    "max": "maximum", "min": "minimum", "and_": "and", "or_": "or", "not_": "not",
}  # fmt: skip

_COMPARISON = {
    "bool": "UNSIGNED", "unsigned": "UNSIGNED", "signed": "SIGNED", "float": "FLOAT",
    "complex": "FLOAT",
}  # fmt: skip

BOOL = np.dtype(bool)


class Vocabulary(Block):
    """A block with a method for each common operation."""

    __slots__ = ()

    # ---- elementwise ------------------------------------------------------------------------
    def elementwise(self, name: str, *values: Value) -> Operand:
        """An operation of one type by its StableHLO name: `block.elementwise("exponential", x)`."""
        xs = self.operands(*values)
        return self.op(f"stablehlo.{name} {join(xs)}", xs, xs[0].aval)

    def add(self, x: Value, y: Value) -> Operand:
        return self.elementwise("add", x, y)

    def sub(self, x: Value, y: Value) -> Operand:
        return self.elementwise("subtract", x, y)

    def mul(self, x: Value, y: Value) -> Operand:
        return self.elementwise("multiply", x, y)

    def div(self, x: Value, y: Value) -> Operand:
        return self.elementwise("divide", x, y)

    def rem(self, x: Value, y: Value) -> Operand:
        return self.elementwise("remainder", x, y)

    def max(self, x: Value, y: Value) -> Operand:
        return self.elementwise("maximum", x, y)

    def min(self, x: Value, y: Value) -> Operand:
        return self.elementwise("minimum", x, y)

    def and_(self, x: Value, y: Value) -> Operand:
        return self.elementwise("and", x, y)

    def or_(self, x: Value, y: Value) -> Operand:
        return self.elementwise("or", x, y)

    def xor(self, x: Value, y: Value) -> Operand:
        return self.elementwise("xor", x, y)

    def shift_left(self, x: Value, y: Value) -> Operand:
        return self.elementwise("shift_left", x, y)

    def shift_right_logical(self, x: Value, y: Value) -> Operand:
        return self.elementwise("shift_right_logical", x, y)

    def shift_right_arithmetic(self, x: Value, y: Value) -> Operand:
        return self.elementwise("shift_right_arithmetic", x, y)

    def neg(self, x: Operand) -> Operand:
        return self.elementwise("negate", x)

    def not_(self, x: Operand) -> Operand:
        return self.elementwise("not", x)

    def floor(self, x: Operand) -> Operand:
        return self.elementwise("floor", x)

    def sqrt(self, x: Operand) -> Operand:
        return self.elementwise("sqrt", x)

    def sign(self, x: Operand) -> Operand:
        return self.elementwise("sign", x)

    def abs(self, x: Operand) -> Operand:
        """Of the real type where `x` is complex."""
        return self.op(
            f"stablehlo.abs {x}", [x], ShapedArray(x.aval.shape, _real_dtype(x.aval.dtype))
        )

    def real(self, x: Operand) -> Operand:
        return self.op(
            f"stablehlo.real {x}", [x], ShapedArray(x.aval.shape, _real_dtype(x.aval.dtype))
        )

    def imag(self, x: Operand) -> Operand:
        return self.op(
            f"stablehlo.imag {x}", [x], ShapedArray(x.aval.shape, _real_dtype(x.aval.dtype))
        )

    def complex(self, x: Value, y: Value) -> Operand:
        """`x + 1j*y`, part by part."""
        xs = self.operands(x, y)
        out = ShapedArray(xs[0].aval.shape, np.result_type(xs[0].aval.dtype, np.complex64))
        return self.op(f"stablehlo.complex {join(xs)}", xs, out, types=TENSOR_TYPES[out])

    def compare(self, x: Value, direction: str, y: Value) -> Operand:
        """`direction` is EQ, NE, LT, LE, GT or GE; floats compare by value, -0.0 equals 0.0."""
        xs = self.operands(x, y)
        how = _COMPARISON[xs[0].aval.kind]
        out = ShapedArray(xs[0].aval.shape, BOOL)
        return self.op(f"stablehlo.compare {direction}, {join(xs)}, {how}", xs, out)

    def select(self, predicate: Operand, x: Value, y: Value) -> Operand:
        """`x` where the predicate holds, else `y`; a 0-d predicate chooses for all."""
        xs = self.operands(x, y)
        types = spelling.types([predicate.aval, xs[0].aval])
        return self.op(f"stablehlo.select {predicate}, {join(xs)}", xs, xs[0].aval, types=types)

    def convert(self, x: Operand, dtype: Any) -> Operand:
        """The same values in another dtype: floats saturate in integers, NaN is 0."""
        out = ShapedArray(x.aval.shape, np.dtype(dtype))
        return x if out.dtype == x.aval.dtype else self.op(f"stablehlo.convert {x}", [x], out)

    def bitcast(self, x: Operand, dtype: Any) -> Operand:
        """The same bits in another dtype; a narrower one adds a last axis, a wider one takes it."""
        new, shape = np.dtype(dtype), x.aval.shape
        old_bits, new_bits = x.aval.bits, dtypes.bits(new)
        if new_bits < old_bits:
            shape = (*shape, old_bits // new_bits)
        elif new_bits > old_bits:
            shape = shape[:-1]
        return self.op(f"stablehlo.bitcast_convert {x}", [x], ShapedArray(shape, new))

    # ---- shape ------------------------------------------------------------------------------
    def broadcast(self, x: Operand, shape: Sequence[int], axes: Sequence[int]) -> Operand:
        """Axis i of `x` becomes axis `axes[i]` of the result; an axis of size 1 is repeated."""
        out = ShapedArray(tuple(shape), x.aval.dtype)
        if not axes:
            return self._filled(x, out)
        return self.op(f"stablehlo.broadcast_in_dim {x}, dims = {list(axes)}", [x], out)

    def reshape(self, x: Operand, shape: Sequence[int]) -> Operand:
        return self.op(f"stablehlo.reshape {x}", [x], ShapedArray(tuple(shape), x.aval.dtype))

    def transpose(self, x: Operand, permutation: Sequence[int]) -> Operand:
        """Axis `permutation[i]` of `x` becomes axis i."""
        out = ShapedArray(tuple([x.aval.shape[i] for i in permutation]), x.aval.dtype)
        return self.op(f"stablehlo.transpose {x}, dims = {list(permutation)}", [x], out)

    def iota(self, aval: ShapedArray, axis: int) -> Operand:
        """Each element is its own position along `axis`."""
        return self.op(f"stablehlo.iota dim = {axis}", [], aval, types=TENSOR_TYPES[aval])

    def slice(
        self,
        x: Operand,
        starts: Sequence[int],
        limits: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> Operand:
        strides = strides or [1] * len(starts)
        out = ShapedArray(
            tuple([-(-(n - a) // s) for a, n, s in zip(starts, limits, strides)]), x.aval.dtype
        )
        ranges = [
            f"{a}:{n}" + (f":{s}" if s != 1 else "") for a, n, s in zip(starts, limits, strides)
        ]
        return self.op(f"stablehlo.slice {x} [{', '.join(ranges)}]", [x], out)

    def concatenate(self, xs: Sequence[Operand], axis: int) -> Operand:
        dtype = xs[0].aval.dtype
        whole = dtypes.addressable(dtype)
        if whole != dtype:
            return self.convert(self.concatenate([self.convert(x, whole) for x in xs], axis), dtype)
        shape = list(xs[0].aval.shape)
        shape[axis] = sum([x.aval.shape[axis] for x in xs])
        out = ShapedArray(tuple(shape), dtype)
        return self.op(f"stablehlo.concatenate {join(xs)}, dim = {axis}", xs, out)

    def dynamic_slice(self, x: Operand, starts: Sequence[Operand], sizes: Sequence[int]) -> Operand:
        """`x[start : start + size]` on each axis, starts being 0-d integers."""
        head = f"stablehlo.dynamic_slice {x}, {join(starts)}, sizes = {list(sizes)}"
        return self.op(head, (x, *starts), ShapedArray(tuple(sizes), x.aval.dtype))

    def dynamic_update_slice(
        self, x: Operand, update: Operand, starts: Sequence[Operand]
    ) -> Operand:
        """`x` with `update` in it, which begins at the starts, 0-d integers."""
        head = f"stablehlo.dynamic_update_slice {x}, {update}, {join(starts)}"
        return self.op(head, (x, update, *starts), x.aval)

    # ---- the rest ---------------------------------------------------------------------------
    def reduce(self, x: Operand, init: Value, op_name: str, axes: Sequence[int]) -> Operand:
        """Fold `axes` with an operation of two operands: `block.reduce(x, 0, "add", (0,))`."""
        if not isinstance(init, Operand):
            init = self.constant(init, ShapedArray((), x.aval.dtype))
        out = ShapedArray(
            tuple([n for i, n in enumerate(x.aval.shape) if i not in axes]), x.aval.dtype
        )
        applies = (
            f"applies stablehlo.{_LONG.get(op_name, op_name)} across dimensions = {list(axes)}"
        )
        return self.op(f"stablehlo.reduce({x} init: {init}) {applies}", [x, init], out)

    def barrier(self, *xs: Operand) -> Any:
        """The operands themselves, out of the optimiser's sight: one, or a list of several."""
        avals = [x.aval for x in xs]
        held = self.op(
            f"stablehlo.optimization_barrier {join(xs)}", xs, avals, types=spelling.types(avals)
        )
        return held[0] if len(held) == 1 else held

    # ---- control --------------------------------------------------------------------------------
    def while_loop(self, cond: Body, body: Body, operands: Sequence[Operand]) -> list[Operand]:
        """Repeat `body(block, *operands)` while `cond(block, *operands)`, an `i1`, holds."""
        avals = [x.aval for x in operands]
        names = self.arguments(avals)
        pairs = ", ".join([f"{name} = {x}" for name, x in zip(names, operands)])
        return self.write(
            f"stablehlo.while({pairs}) : {spelling.types(avals)} "
            f"cond {{\n{self.inside(names, cond)}\n{self.indent}}} "
            f"do {{\n{self.inside(names, body)}\n{self.indent}}}",
            avals,
        )

    def if_(self, predicate: Operand, then: Body, otherwise: Body, out: Results) -> Any:
        """`then(block)` or `otherwise(block)`; both give results of type `out`."""
        return self.op(
            f'"stablehlo.if"({predicate}) {self.regions(((), then), ((), otherwise))}',
            [predicate],
            out,
        )

    def case(self, index: Operand, branches: Sequence[Body], out: Results) -> Any:
        """`branches[index](block)`; the last one for an i32 index out of range."""
        regions = self.regions(*[((), branch) for branch in branches])
        return self.op(f'"stablehlo.case"({index}) {regions}', [index], out)


def _real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype
