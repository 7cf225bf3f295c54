"""Vectorisation: every value carries the axis along which its examples lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom.core.array import Array
from hloom.core.context import Context, current
from hloom.core.primitive import Primitive
from hloom.core.trace import Origin, Trace, Tracer, tracing
from hloom.ops.common import linear

_new = object.__new__


class BatchTracer(Tracer):
    """One example's value; `value` holds all examples along `axis`."""

    __slots__ = ("value", "axis")

    value: Array
    axis: int

    def depends_on(self) -> list[int]:
        return list(range(len(self.owner.origin.arguments)))


class Batch(Trace):
    """Opens operands into (value, axis), runs the batch rule in the parent, wraps the results."""

    parent: Trace

    def __init__(self, origin: Origin, parent: Trace, size: int):
        super().__init__(origin, parent)
        self.size = size

    def open(self, x: Any) -> tuple[Any, int | None]:
        """The value of all examples and its batch axis; None for what is the same in all."""
        return (x.value, x.axis) if x.__class__ is BatchTracer and x.owner is self else (x, None)

    def wrap(self, value: Any, axis: int | None) -> Any:
        """A tracer for one example, or the value itself when it has no batch axis."""
        if axis is None:
            return value
        made: BatchTracer = _new(BatchTracer)
        made.owner = self
        shape = value.aval.shape
        made.aval = value.aval.update(shape=shape[:axis] + shape[axis + 1 :])
        made.value = value
        made.axis = axis
        return made

    def process(
        self, primitive: Primitive, operands: Sequence[Array], params: dict[str, Any]
    ) -> Any:
        pairs = [self.open(x) for x in operands]
        values = [v for v, _ in pairs]
        axes = [a for _, a in pairs]
        batched = any(a is not None for a in axes)
        aval = None
        if batched:  # so that errors speak of one example's types, as without vmap
            aval = primitive.infer(*[x.aval for x in operands], **params)
        token = current.set(Context(self.parent, current.get().config))
        try:
            if not batched:
                return primitive.apply(values, params)
            if not self.size and not primitive.multiple:
                return self.wrap(_no_examples(aval), 0)
            out, axis = primitive.batch(self.size, values, axes, **params)
        finally:
            current.reset(token)
        if primitive.multiple:
            return list(map(self.wrap, out, axis))
        return self.wrap(out, axis)


def _no_examples(aval: Any) -> Any:
    """The results of no examples, one of which would be of type `aval`: there is no value to find.

    So no batch rule is asked for windows of size 1 along an axis of size 0.
    """
    zero = linear.constant(0, aval.dtype, aval.weak_type)
    return linear.spread_scalar(zero, (0, *aval.shape))


def batch_flat(
    fun: Callable[..., Sequence[Any]],
    operands: Sequence[Any],
    axes: Sequence[int | None],
    size: int,
    origin: Origin,
) -> tuple[list[Any], list[int | None]]:
    """Values and batch axes (None: not batched) of the results of a function on every example."""
    trace = Batch(origin, current.get().trace, size)
    with tracing(trace):
        pairs = [trace.open(out) for out in fun(*map(trace.wrap, operands, axes))]
    return [v for v, _ in pairs], [a for _, a in pairs]


def to_axis(value: Any, axis: int | None, target: int, size: int) -> Any:
    """A result with its examples along axis `target`; what has no batch axis is repeated."""
    if axis is None:
        return linear.spread(value, target, size)
    return linear.move(value, axis, target)
