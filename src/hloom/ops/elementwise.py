"""The family of elementwise operations: one result element per operand element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.primitive import Primitive, UndefinedPrimal, is_linear
from hloom.ops import linear

Partials = Sequence[Callable[..., Any] | None]


def types_text(avals: Sequence[ShapedArray]) -> str:
    """Operand types for an error text: `f32[2,3] and i32[]`."""
    texts = list(map(str, avals))
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def check_domain(name: str, avals: Sequence[ShapedArray], domain: str) -> None:
    """Raise TypeError unless every operand's dtype lies in the domain."""
    for aval in avals:
        if not dtypes.in_domain(aval.dtype, domain):
            raise TypeError(
                f"{name} takes {domain} operands; got {types_text(avals)}. "
                f"Convert first: lax.convert_element_type(x, {dtypes.example(domain)!r})."
            )


def check_same_dtype(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise TypeError unless all operands have one dtype: lax never promotes."""
    if any(aval.dtype != avals[0].dtype for aval in avals):
        raise TypeError(
            f"{name} needs operands of one dtype; got {types_text(avals)}. lax never promotes: use "
            f"{numpy_name(name)}, which does, or convert one with lax.convert_element_type."
        )


_NUMPY_NAMES = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "rem": "remainder", "max": "maximum", "min": "minimum",
    "pow": "power", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "atan2": "arctan2",
    "select_n": "where", "clamp": "clip", "dot_general": "matmul",
}  # fmt: skip


def numpy_name(name: str) -> str:
    """The hloom.numpy function that does leniently what the lax function does strictly."""
    return f"hloom.numpy.{_NUMPY_NAMES.get(name, name)}"


def common_shape(name: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The operands' one shape; 0-d operands go with any."""
    shapes = {aval.shape for aval in avals if aval.shape}
    if len(shapes) > 1:
        raise TypeError(
            f"{name} needs operands of one shape (or 0-d); got {types_text(avals)}. lax never broadcasts: use "
            f"{numpy_name(name)}, which does, or lax.broadcast_in_dim."
        )
    return shapes.pop() if shapes else ()


class Elementwise(Primitive):
    """One result element per operand element; 0-d operands go with any shape.

    `hlo` is the StableHLO operation.  `jvp[i]` maps the tangent of operand i to its share of the
    result's tangent: `lambda t, out, *primals`; None where the operand has no derivative.
    `transpose[i]` maps the cotangent back to operand i: `lambda ct, *operands`; only ops that are
    linear in an operand have it.  `domain` names the dtypes taken, `result` the dtype given (a
    fixed one, or a function of the operand dtype).
    """

    def __init__(
        self,
        name: str,
        *,
        hlo: str | None = None,
        numpy: Callable[..., Any],
        jvp: Partials = (),
        transpose: Partials = (),
        domain: str = "number",
        result: np.dtype[Any] | Callable[[np.dtype[Any]], np.dtype[Any]] | None = None,
        emit: Callable[..., Any] | None = None,
    ):
        super().__init__(name)
        self.hlo = hlo
        self.function = numpy
        self.partials = jvp
        self.adjoints = transpose
        self.domain = domain
        self.result = result
        self.lowering = emit

    def infer(self, *avals: ShapedArray) -> ShapedArray:
        first = avals[0]
        if not dtypes.in_domain(first.dtype, self.domain):
            check_domain(self.name, avals, self.domain)
        shape, weak, dtype = first.shape, first.weak_type, first.dtype
        for aval in avals[1:]:
            if aval.dtype is not dtype:
                check_same_dtype(self.name, avals)
            if aval.shape != shape:
                shape = common_shape(self.name, avals)
            weak = weak and aval.weak_type
        if self.result is not None:
            dtype = self.result if isinstance(self.result, np.dtype) else self.result(dtype)
            weak = False if isinstance(self.result, np.dtype) else weak
        return ShapedArray(shape, dtype, weak)

    def numpy(self, *values: Any) -> Any:
        dtype = self.infer(*[ShapedArray(v.shape, v.dtype) for v in values]).dtype
        with np.errstate(all="ignore"):
            return np.asarray(self.function(*values)).astype(dtype, copy=False)

    def emit(self, block: Any, out: ShapedArray, *operands: Any) -> Any:
        operands = tuple(block.broadcast(x, out.shape, ()) if x.aval.shape != out.shape else x for x in operands)
        if self.lowering is not None:
            return self.lowering(block, out, *operands)
        return block.op(f"stablehlo.{self.hlo} {', '.join(map(str, operands))}", operands, out)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out = self(*primals)
        total = None
        for tangent, partial in zip(tangents, self.partials):
            if tangent is not None and partial is not None:
                total = linear.plus(total, partial(tangent, out, *primals))
        if total is not None and total.aval.shape != out.aval.shape:
            total = linear.spread_scalar(total, out.aval.shape)
        return out, total

    def transpose(self, ct: Any, *operands: Any) -> list[Any]:
        cts: list[Any] = [None] * len(operands)
        for i, x in enumerate(operands):
            adjoint = self.adjoints[i] if i < len(self.adjoints) else None
            if is_linear(x) and adjoint is not None:
                cts[i] = _like_operand(adjoint(ct, *operands), x)
        return cts

    def batch(self, size: int, operands: Sequence[Any], axes: Sequence[int | None]) -> tuple[Any, int]:
        ranks = [x.aval.ndim - (a is not None) for x, a in zip(operands, axes)]
        full = ranks.index(max(ranks))  # an operand of the result's rank tells its shape
        x, axis = operands[full], axes[full]
        if axis is None:
            axis, shape = 0, x.aval.shape
        else:
            shape = x.aval.shape[:axis] + x.aval.shape[axis + 1 :]
        whole = (*shape[:axis], size, *shape[axis:])
        return self(*[_align(x, a, axis, whole) for x, a in zip(operands, axes)]), axis


def _align(x: Any, a: int | None, axis: int, whole: tuple[int, ...]) -> Any:
    """An operand with its batch axis at `axis`; what is the same scalar for all examples stays 0-d."""
    if a is None:
        return x if x.aval.ndim == 0 else linear.spread(x, axis, whole[axis])
    if x.aval.ndim == len(whole):
        return linear.move(x, a, axis)
    return linear.broadcast_in_dim(x, whole, (axis,))  # a scalar for each example, beside arrays


def _like_operand(ct: Any, x: UndefinedPrimal) -> Any:
    """Sum a cotangent down to a 0-d operand that went with an array."""
    if ct is not None and ct.aval.shape != x.aval.shape:
        return linear.sum_all(ct)
    return ct
