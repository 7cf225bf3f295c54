"""`Record` writes every primitive down; `Partial` runs what is known and records the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Atom, Equation, Jaxpr, Literal, Var
from hloom.core.primitive import Primitive
from hloom.core.support.source import capture, resolve
from hloom.core.trace import Origin, Trace, Tracer, tracing

_new = object.__new__


class RecordTracer(Tracer):
    """Represents a variable of the Jaxpr under construction."""

    __slots__ = ("variable",)

    owner: Record
    variable: Var

    def made_at(self) -> list[tuple[str, str, int, str]]:
        for equation in self.owner.equations:
            if self.variable in equation.outputs:
                place = resolve(equation.source)
                if place is None:
                    return []
                return [(repr(equation), place.file, place.line, place.function)]
        return []

    def depends_on(self) -> list[int]:
        needed: set[Any] = {self.variable}
        for equation in reversed(self.owner.equations):
            if any(v in needed for v in equation.outputs):
                needed.update(equation.inputs)
        return [i for i, var in enumerate(self.owner.arguments) if var in needed]


class Record(Trace):
    """Writes every primitive down as an equation, whatever its operands are (omnistaging)."""

    def __init__(self, origin: Origin, parent: Trace | None = None):
        super().__init__(origin, parent)
        self.equations: list[Equation] = []
        self.arguments: list[Var] = []
        self.captured: dict[int, tuple[Var, Array]] = {}

    def tracer(self, aval: ShapedArray) -> RecordTracer:
        """A tracer for a new variable."""
        made: RecordTracer = _new(RecordTracer)
        made.owner = self
        made.aval = aval
        made.variable = Var(aval)
        return made

    def argument(self, aval: ShapedArray) -> RecordTracer:
        """A tracer for the next argument of the traced function."""
        made = self.tracer(aval)
        self.arguments.append(made.variable)
        return made

    def atom(self, x: Array) -> Atom:
        """The variable or literal that an operand is in this Jaxpr.

        0-d values that are known become literals; every other outside value is captured: it becomes
        a leading input.  This record references it, so that its id is not used again.
        """
        if isinstance(x, Tracer):
            if x.__class__ is RecordTracer and x.owner is self:
                return x.variable
            if x.owner.done:
                raise x.leaked()
        elif not x.aval.shape:
            return Literal(x._value(), x.aval)
        found = self.captured.get(id(x))
        if found is None:
            found = self.captured[id(x)] = (Var(x.aval), x)
        return found[0]

    def record(
        self, primitive: Primitive, operands: Sequence[Array], params: dict[str, Any]
    ) -> Any:
        """Write one equation, and answer with tracers for its results."""
        if self.done:
            raise RuntimeError(f"a value was computed inside {self.origin} after it had returned")
        inputs = [
            x.variable if x.__class__ is RecordTracer and x.owner is self else self.atom(x)
            for x in operands
        ]
        inferred = primitive.infer(*[x.aval for x in operands], **params)
        if primitive.multiple:
            tracers = [self.tracer(aval) for aval in inferred]
            outputs = [t.variable for t in tracers]
            self.equations.append(Equation(primitive, inputs, outputs, params, capture(3)))
            return tracers
        tracer = self.tracer(inferred)
        self.equations.append(Equation(primitive, inputs, [tracer.variable], params, capture(3)))
        return tracer

    process = record

    def close(
        self, inputs: Sequence[RecordTracer], outputs: Sequence[Array]
    ) -> tuple[Jaxpr, list[Array]]:
        """The Jaxpr, and what it closed over: the operands for its leading inputs."""
        atoms = [self.atom(x) for x in outputs]
        variables = [var for var, _ in self.captured.values()] + [t.variable for t in inputs]
        jaxpr = Jaxpr(variables, self.equations, atoms, len(self.captured), self.origin)
        return jaxpr, [x for _, x in self.captured.values()]


class Partial(Record):
    """Runs what is known in `parent` and records the rest: what has a recorded operand."""

    parent: Trace

    def owns(self, x: Any) -> bool:
        """Whether `x` is unknown: recorded here."""
        return x.__class__ is RecordTracer and x.owner is self

    def process(
        self, primitive: Primitive, operands: Sequence[Array], params: dict[str, Any]
    ) -> Any:
        if not any(x.__class__ is RecordTracer and x.owner is self for x in operands):
            return self.parent.process(primitive, operands, params)
        if primitive.partial_eval is not None:
            return primitive.partial_eval(self, operands, **params)
        return self.record(primitive, operands, params)


def trace_to_jaxpr(
    fun: Callable[..., Any], avals: Sequence[ShapedArray], origin: Origin | None = None
) -> tuple[Jaxpr, list[Array]]:
    """Trace a function of arrays that returns an array or a list of them.

    Returns the Jaxpr and the values that `fun` closed over, which are its leading inputs.
    """
    record = Record(origin or Origin("trace"))
    with tracing(record):
        inputs = [record.argument(aval) for aval in avals]
        outputs = fun(*inputs)
        return record.close(
            inputs, list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        )
