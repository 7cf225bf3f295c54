"""`HigherOrder`: what primitives with Jaxprs among their parameters have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr
from hloom.core.primitive import Primitive


class HigherOrder(Primitive):
    """A primitive with Jaxprs among its parameters; one of them caches the executables."""

    multiple = True
    tier = "default"

    def owner(self, params: dict[str, Any]) -> Jaxpr:
        """The Jaxpr whose cache holds the executables."""
        raise NotImplementedError

    def runner(self, operands: Sequence[Array], params: dict[str, Any]) -> Callable[..., Any]:
        config = current.get().config
        cache = self.owner(params).cache
        key = (self, config, *[x.aval for x in operands], *params.items())
        found: Callable[..., Any] | None = cache.get(key)
        if found is None:
            found = cache[key] = self.compiled(operands, params, config)
        return found


def takes(name: str, avals: Sequence[ShapedArray], jaxpr: Jaxpr) -> None:
    """Raise TypeError unless operands of these types are what the Jaxpr takes."""
    wanted = jaxpr.in_avals
    if len(avals) != len(wanted) or any(
        a.shape != w.shape or a.dtype != w.dtype for a, w in zip(avals, wanted)
    ):
        given, taken = (", ".join(map(str, xs)) or "nothing" for xs in (avals, wanted))
        raise TypeError(f"{name}: the Jaxpr inside takes {taken}; got {given}")


class Solved(HigherOrder):
    """A primitive whose value is that of its Jaxpr `solve`; other Jaxprs say how it is derived."""

    def owner(self, params: dict[str, Any]) -> Jaxpr:
        return params["solve"]  # type: ignore[no-any-return]

    def numpy(self, *values: Any, **params: Any) -> list[Any]:
        return evaluate(params["solve"], values)

    def emit(
        self, block: Any, out: Sequence[ShapedArray], *operands: Any, **params: Any
    ) -> list[Any]:
        return list(block.inline(params["solve"], operands))
