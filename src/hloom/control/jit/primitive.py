"""The primitive `jit`: a Jaxpr applied as one operation.

Its rules transform the Jaxpr inside and apply the result, again as one operation.  A transformed
Jaxpr is cached with the one that it was made from, so it is traced and compiled once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom.control.higher_order.derive import (
    backward,
    batched,
    forward,
    merge,
    partial_eval,
    pick,
    place,
)
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr
from hloom.core.primitive import Primitive, is_linear
from hloom.core.record import Partial
from hloom.core.support import executable, results
from hloom.core.trace import active
from hloom.ops.common.linear import move


def compiled(jaxpr: Jaxpr, name: str, **options: Any) -> executable.Executable:
    """The executable of the Jaxpr for the configuration in force, compiled once."""
    config = current.get().config
    key = ("executable", config, *options.items())
    found: executable.Executable | None = jaxpr.cache.get(key)
    if found is None:
        found = jaxpr.cache[key] = executable.compile_jaxpr(jaxpr, config, name=name, **options)
    return found


class Jit(Primitive):
    """(f32[3], f32[]) -- jaxpr=.., name=f --> [f32[3]].  Applies the Jaxpr to the operands."""

    multiple = True

    def infer(self, *avals: ShapedArray, jaxpr: Jaxpr, name: str) -> list[ShapedArray]:
        if len(avals) != len(jaxpr.inputs) or any(
            a.shape != v.aval.shape or a.dtype != v.aval.dtype for a, v in zip(avals, jaxpr.inputs)
        ):
            raise TypeError(
                f"jit({name}) takes {', '.join(map(str, jaxpr.in_avals))}; got "
                f"{', '.join(map(str, avals))}"
            )
        return jaxpr.out_avals

    def numpy(self, *values: Any, jaxpr: Jaxpr, name: str) -> list[Any]:
        return evaluate(jaxpr, values)

    def emit(
        self, block: Any, out: list[ShapedArray], *operands: Any, jaxpr: Jaxpr, name: str
    ) -> list[Any]:
        return list(block.call(jaxpr, operands, name))

    def runner(self, operands: Sequence[Array], params: dict[str, Any]) -> Callable[..., Any]:
        cache, key = params["jaxpr"].cache, ("run", current.get().config)
        found: Callable[..., Any] | None = cache.get(key)
        if found is None:
            found = cache[key] = results.many(compiled(**params))
        return found

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Jaxpr, name: str
    ) -> tuple[list[Any], list[Any]]:
        live = tuple(t is not None for t in tangents)
        new, captured, found = forward(jaxpr, live)
        outs = self.apply(
            [*captured, *primals, *pick(tangents, live)], {"name": name, "jaxpr": new}
        )
        count = len(jaxpr.outputs)
        return outs[:count], place(outs[count:], found)

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], *,
        jaxpr: Jaxpr, name: str,
    ) -> tuple[list[Any], list[int | None]]:  # fmt: skip
        moved = [x if a is None else move(x, a, 0) for x, a in zip(operands, batch_axes)]
        new, captured, found = batched(jaxpr, size, tuple(a is not None for a in batch_axes))
        outs = self.apply([*captured, *moved], {"name": name, "jaxpr": new})
        return outs, [0 if f else None for f in found]

    def partial_eval(
        self, trace: Partial, operands: Sequence[Any], *, jaxpr: Jaxpr, name: str
    ) -> list[Any]:
        """Split into a Jaxpr of what is known, run now, and one of the rest, recorded."""
        unknown = tuple(map(trace.owns, operands))
        first, captured, rest, found = partial_eval(jaxpr, unknown)
        with active(trace.parent):
            values = self.apply(
                [*captured, *pick(operands, unknown, False)], {"name": name, "jaxpr": first}
            )
        count = found.count(False)
        late = [*values[count:], *pick(operands, unknown)]
        recorded = trace.record(self, late, {"name": name, "jaxpr": rest}) if any(found) else []
        return merge(found, values, recorded)

    def transpose(self, cts: Sequence[Any], *operands: Any, jaxpr: Jaxpr, name: str) -> list[Any]:
        lin = tuple(map(is_linear, operands))
        live = tuple(ct is not None for ct in cts)
        new, captured, found = backward(jaxpr, lin, live)
        known = pick(operands, lin, False)
        outs = self.apply([*captured, *known, *pick(cts, live)], {"name": name, "jaxpr": new})
        return merge(lin, [None] * len(known), place(outs, found))


jit_p = Jit("jit")
