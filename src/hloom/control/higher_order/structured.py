"""`Structured`: what primitives with Jaxprs inside have in common: how they are run eagerly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import Config, current
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Equation, Jaxpr, Var
from hloom.core.primitive import Primitive
from hloom.core.support import executable, results


class Structured(Primitive):
    """A primitive with Jaxprs among its parameters; `main` names the one its programs live with."""

    multiple = True

    def main(self, params: dict[str, Any]) -> Jaxpr:
        """The Jaxpr that keeps what is compiled."""
        raise NotImplementedError

    def evaluate(self, operands: Sequence[Array], params: dict[str, Any]) -> list[Array]:
        """Run the whole as one program; it lives as long as the Jaxpr inside."""
        config = current.get().config
        programs = self.main(params).cache
        key = (self, config, *[x.aval for x in operands], *params.items())
        buffers = [x._buf for x in operands]  # a tracer in here has leaked; it says so now
        run = programs.get(key)
        if run is None:
            run = programs[key] = results.many(self.compile(operands, params, config))
        try:
            return run(buffers)  # type: ignore[no-any-return]
        except RuntimeError as error:
            raise executable.explain(error, self.name, operands) from None

    def compile(
        self, operands: Sequence[Array], params: dict[str, Any], config: Config
    ) -> executable.Executable:
        inputs = [Var(x.aval) for x in operands]
        outputs = list(map(Var, self.infer(*[x.aval for x in operands], **params)))
        equation = Equation(self, list(inputs), outputs, params)
        jaxpr = Jaxpr(list(inputs), [equation], list(outputs))
        return executable.compile_jaxpr(jaxpr, config, name=self.name)


def takes(name: str, avals: Sequence[ShapedArray], jaxpr: Jaxpr) -> None:
    """Raise TypeError unless operands of these types are what the Jaxpr takes."""
    wanted = jaxpr.in_avals
    if len(avals) != len(wanted) or any(
        a.shape != w.shape or a.dtype != w.dtype for a, w in zip(avals, wanted)
    ):
        given, taken = (", ".join(map(str, xs)) or "nothing" for xs in (avals, wanted))
        raise TypeError(f"{name}: the Jaxpr inside takes {taken}; got {given}")


class Solved(Structured):
    """A primitive whose value is that of its Jaxpr `solve`; other Jaxprs say how it is derived."""

    def main(self, params: dict[str, Any]) -> Jaxpr:
        return params["solve"]  # type: ignore[no-any-return]

    def numpy(self, *values: Any, **params: Any) -> list[Any]:
        return evaluate(params["solve"], values)

    def emit(
        self, block: Any, out: Sequence[ShapedArray], *operands: Any, **params: Any
    ) -> list[Any]:
        return list(block.inline(params["solve"], operands))
