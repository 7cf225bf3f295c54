"""The primitive `jit`: a Jaxpr applied as one operation.

Its rules transform the Jaxpr inside and apply the result, again as one operation.  What a rule
makes is kept with the Jaxpr, so that a transformed jitted function is traced and compiled once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hloom.control.higher_order.derive import derived
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr, eval_jaxpr
from hloom.core.primitive import Primitive, is_linear
from hloom.core.record import Partial, trace_to_jaxpr
from hloom.core.support import executable, results
from hloom.core.trace import Origin, active
from hloom.transforms.batch import batch_flat
from hloom.transforms.jvp import jvp_flat
from hloom.transforms.transpose import transpose_jaxpr


def compiled(jaxpr: Jaxpr, name: str, **options: Any) -> executable.Executable:
    """The Jaxpr's program for the configuration in force, compiled once."""
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

    def evaluate(self, operands: Sequence[Array], params: dict[str, Any]) -> list[Array]:
        buffers = [x._buf for x in operands]
        cache, key = params["jaxpr"].cache, ("run", current.get().config)
        run = cache.get(key)
        if run is None:
            run = cache[key] = results.many(compiled(**params))
        try:
            return run(buffers)  # type: ignore[no-any-return]
        except RuntimeError as error:
            raise executable.explain(error, params["name"], operands) from None

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Jaxpr, name: str
    ) -> tuple[list[Any], list[Any]]:
        live = tuple(i for i, t in enumerate(tangents) if t is not None)
        count = len(jaxpr.outputs)

        def make() -> Any:
            self.infer(*[x.aval for x in primals], jaxpr=jaxpr, name=name)
            alive: list[int] = []

            def forward(*values: Any) -> list[Any]:
                given: list[Any] = [None] * len(primals)
                for i, t in zip(live, values[len(primals) :]):
                    given[i] = t
                inputs = values[: len(primals)]
                outs, dots = jvp_flat(lambda *x: eval_jaxpr(jaxpr, x), inputs, given, Origin("jvp"))
                alive[:] = [i for i, t in enumerate(dots) if t is not None]
                return outs + [dots[i] for i in alive]

            avals = [x.aval for x in primals] + [tangents[i].aval for i in live]
            return *trace_to_jaxpr(forward, avals, Origin("jvp", arguments=())), alive

        new, captured, alive = derived(jaxpr, ("jvp", live, *_avals(primals)), make)
        outs = jit_p.apply(
            [*captured, *primals, *[tangents[i] for i in live]], {"name": name, "jaxpr": new}
        )
        dots: list[Any] = [None] * count
        for i, t in zip(alive, outs[count:]):
            dots[i] = t
        return outs[:count], dots

    def batch(
        self,
        size: int,
        operands: Sequence[Any],
        batch_axes: Sequence[int | None],
        *,
        jaxpr: Jaxpr,
        name: str,
    ) -> tuple[list[Any], list[int | None]]:
        def make() -> Any:
            found: list[int | None] = []

            def batched(*values: Any) -> list[Any]:
                outs, found[:] = batch_flat(
                    lambda *x: eval_jaxpr(jaxpr, x), values, batch_axes, size, Origin("vmap")
                )
                return outs

            return *trace_to_jaxpr(batched, [x.aval for x in operands], Origin("vmap")), found

        new, captured, found = derived(jaxpr, ("batch", size, *batch_axes, *_avals(operands)), make)
        return jit_p.apply([*captured, *operands], {"name": name, "jaxpr": new}), found

    def partial_eval(
        self, trace: Partial, operands: Sequence[Any], params: dict[str, Any]
    ) -> list[Any]:
        """Split into a Jaxpr of what is known, run now, and one of the rest, recorded."""
        jaxpr, name = params["jaxpr"], params["name"]
        unknown = tuple(trace.owns(x) for x in operands)
        known = [x for x, u in zip(operands, unknown) if not u]

        def make() -> Any:
            late: list[Any] = []

            def early(*values: Any) -> list[Any]:
                given = iter(values)
                partial = Partial(trace.origin, current.get().trace)
                inputs = [
                    partial.argument(x.aval) if u else next(given)
                    for x, u in zip(operands, unknown)
                ]
                try:
                    with active(partial):
                        outs = eval_jaxpr(jaxpr, inputs)
                    is_known = tuple(not partial.owns(x) for x in outs)
                    rest, residuals = partial.close(
                        [x for x, u in zip(inputs, unknown) if u],
                        [x for x, k in zip(outs, is_known) if not k],
                    )
                finally:
                    partial.done = True
                late[:] = [rest, is_known]
                return [x for x, k in zip(outs, is_known) if k] + residuals

            return *trace_to_jaxpr(early, [x.aval for x in known], Origin("jit")), *late

        first, captured, rest, is_known = derived(jaxpr, ("partial", unknown, *_avals(known)), make)
        with active(trace.parent):
            values = jit_p.apply([*captured, *known], {"name": name, "jaxpr": first})
        count = sum(is_known)
        late = [*values[count:], *[x for x, u in zip(operands, unknown) if u]]
        recorded = iter(trace.record(self, late, {"name": name, "jaxpr": rest}))
        now = iter(values[:count])
        return [next(now) if k else next(recorded) for k in is_known]

    def transpose(self, cts: Sequence[Any], *operands: Any, jaxpr: Jaxpr, name: str) -> list[Any]:
        lin = tuple(map(is_linear, operands))
        live = tuple(i for i, ct in enumerate(cts) if ct is not None)
        known = [x for x, linear in zip(operands, lin) if not linear]
        given = [cts[i] for i in live]

        def make() -> Any:
            alive: list[int] = []

            def backward(*values: Any) -> list[Any]:
                full: list[Any] = [None] * len(cts)
                for i, ct in zip(live, values[len(known) :]):
                    full[i] = ct
                ordered = [v for v, linear in zip(jaxpr.inputs, lin) if not linear]
                ordered += [v for v, linear in zip(jaxpr.inputs, lin) if linear]
                outs = transpose_jaxpr(
                    Jaxpr(ordered, jaxpr.equations, jaxpr.outputs), values[: len(known)], full
                )
                alive[:] = [i for i, x in enumerate(outs) if x is not None]
                return [outs[i] for i in alive]

            return *trace_to_jaxpr(
                backward, [x.aval for x in (*known, *given)], Origin("grad")
            ), alive

        new, captured, alive = derived(
            jaxpr, ("transpose", lin, live, *_avals([*known, *given])), make
        )
        outs = dict(
            zip(alive, jit_p.apply([*captured, *known, *given], {"name": name, "jaxpr": new}))
        )
        numbers: Iterator[int] = iter(range(len(lin)))
        return [outs.get(next(numbers)) if linear else None for linear in lin]


def _avals(values: Sequence[Any]) -> list[ShapedArray]:
    return [x.aval for x in values]


jit_p = Jit("jit")
