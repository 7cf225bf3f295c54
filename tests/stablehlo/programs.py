"""A handful of primitives with only the rules that lowering needs, and Jaxprs made of them.

Lowering is tested without `hloom.ops`, so that a golden text changes only when lowering does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom.core.array import host_array
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr
from hloom.core.primitive import Primitive
from hloom.core.record import trace_to_jaxpr
from tests.stablehlo.machine import aval


class Pointwise(Primitive):
    """Result of the first operand's type that has any axes."""

    def __init__(self, name: str, hlo: str):
        super().__init__(name)
        self.hlo = hlo

    def infer(self, *avals: ShapedArray) -> ShapedArray:
        return max(avals, key=lambda a: a.ndim)

    def emit(self, block: Any, out: ShapedArray, *operands: Any) -> Any:
        return block.pointwise(self.hlo, operands, out)


class Halves(Primitive):
    """f32[2,3] --> (f32[1,3], f32[1,3]): two results."""

    multiple = True

    def infer(self, x: ShapedArray) -> list[ShapedArray]:
        return [x.update(shape=(x.shape[0] // 2, *x.shape[1:]))] * 2

    def emit(self, block: Any, outs: Sequence[ShapedArray], x: Any) -> Any:
        size, rest = x.aval.shape[0] // 2, x.aval.shape[1:]
        zeros = [0] * len(rest)
        return [
            block.slice(x, (i * size, *zeros), ((i + 1) * size, *rest)) for i in range(len(outs))
        ]


class Call(Primitive):
    """A Jaxpr as a function of its own."""

    multiple = True

    def infer(self, *avals: ShapedArray, jaxpr: Jaxpr, name: str) -> list[ShapedArray]:
        return jaxpr.out_avals

    def emit(self, block: Any, outs: Any, *operands: Any, jaxpr: Jaxpr, name: str) -> Any:
        return block.call(jaxpr, operands, name)


class Cube(Primitive):
    """Lowered by a function of primitives."""

    def infer(self, x: ShapedArray) -> ShapedArray:
        return x

    def emit(self, block: Any, out: ShapedArray, x: Any) -> Any:
        return block.trace(cubed, x)


class Repeat(Primitive):
    """`jaxpr` of one operand applied `times` times."""

    def infer(self, x: ShapedArray, *, jaxpr: Jaxpr, times: int) -> ShapedArray:
        return x

    def emit(self, block: Any, out: ShapedArray, x: Any, *, jaxpr: Jaxpr, times: int) -> Any:
        count = block.constant(times, aval((), "int32"))
        return block.while_loop(
            lambda b, i, x: b.compare(i, "GT", 0),
            lambda b, i, x: [b.sub(i, 1), *b.inline(jaxpr, [x])],
            [count, x],
        )[1]


class Lying(Primitive):
    """Its emit rule does not give what its infer rule promises."""

    def infer(self, x: ShapedArray) -> ShapedArray:
        return x.update(shape=())

    def emit(self, block: Any, out: ShapedArray, x: Any) -> Any:
        return x


add = Pointwise("add", "add")
mul = Pointwise("mul", "multiply")
sin = Pointwise("sin", "sine")
halves = Halves("halves")
call = Call("call")
cube = Cube("cube")
repeat = Repeat("repeat")
lying = Lying("lying")
unwritten = Primitive("unwritten")


def cubed(x: Any) -> Any:
    return mul(mul(x, x), x)


def number(value: float, dtype: str = "float32", weak: bool = False) -> Any:
    """A 0-d value on the host, which Jaxprs hold as a literal."""
    return host_array(value, ShapedArray((), np.dtype(dtype), weak))


def jaxpr_of(fun: Callable[..., Any], *shapes: tuple[int, ...]) -> Jaxpr:
    """The Jaxpr of a function of f32 arrays."""
    return trace_to_jaxpr(fun, [aval(shape, "float32") for shape in shapes])[0]
