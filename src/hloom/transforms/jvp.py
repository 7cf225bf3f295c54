"""Forward mode: every value carries its tangent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom.core.array import Array
from hloom.core.context import Context, current
from hloom.core.primitive import Primitive
from hloom.core.trace import Origin, Trace, Tracer, tracing
from hloom.errors import Traced

_new = object.__new__


class JvpTracer(Tracer):
    """A primal with its tangent; both belong to the parent trace."""

    __slots__ = ("primal", "tangent")

    primal: Array
    tangent: Array

    def concrete(self) -> Array | None:
        return self.primal.concrete()

    def depends_on(self) -> list[int]:
        tangent = self.tangent  # under grad it is recorded, and knows
        ours = isinstance(tangent, Tracer) and tangent.owner.origin is self.owner.origin
        return tangent.depends_on() if ours else []  # type: ignore[attr-defined]

    def made_at(self) -> list[tuple[str, str, int, str]]:
        return self.primal.made_at() if isinstance(self.primal, Tracer) else []

    def traced(self) -> Traced:
        return self.primal.traced() if isinstance(self.primal, Tracer) else super().traced()


class Jvp(Trace):
    """Opens operands into (primal, tangent), runs the jvp rule in the parent, wraps the results."""

    parent: Trace

    def open(self, x: Any) -> tuple[Any, Any]:
        """Primal and tangent of an operand; what another trace made is a constant here."""
        return (x.primal, x.tangent) if x.__class__ is JvpTracer and x.owner is self else (x, None)

    def wrap(self, primal: Any, tangent: Any) -> Any:
        """A tracer of the pair, or the primal alone when its tangent is zero."""
        if tangent is None:
            return primal
        made: JvpTracer = _new(JvpTracer)
        made.owner = self
        made.aval = primal.aval
        made.primal = primal
        made.tangent = tangent
        return made

    def process(
        self, primitive: Primitive, operands: Sequence[Array], params: dict[str, Any]
    ) -> Any:
        pairs = [self.open(x) for x in operands]
        primals = [p for p, _ in pairs]
        tangents = [t for _, t in pairs]
        token = current.set(Context(self.parent, current.get().config))
        try:
            if not any(t is not None for t in tangents):
                return primitive.apply(primals, params)
            out, tangent = primitive.jvp(primals, tangents, **params)
        finally:
            current.reset(token)
        if primitive.multiple:
            return list(map(self.wrap, out, tangent))
        return self.wrap(out, tangent)


def jvp_flat(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    origin: Origin,
    parent: Trace | None = None,
) -> tuple[list[Any], list[Any]]:
    """Results and tangents (None: zero) of a function of arrays that returns a list of arrays."""
    trace = Jvp(origin, parent or current.get().trace)
    with tracing(trace):
        pairs = [trace.open(out) for out in fun(*map(trace.wrap, primals, tangents))]
    return [p for p, _ in pairs], [t for _, t in pairs]
