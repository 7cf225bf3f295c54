"""The NumPy engine: programs are not compiled but interpreted, by `hloom.core.interpret`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from hloom.core.aval import ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr
from hloom.core.support.executable import Executable
from hloom.engines.base import HostResults, handlers_of
from hloom.engines.buffers import BufferEngine


class NumpyEngine(BufferEngine):
    """Runs programs equation by equation, in NumPy."""

    name = "numpy"

    def compile(
        self,
        jaxpr: Jaxpr,
        *,
        name: str = "main",
        donated: Collection[int] = (),
        tier: str = "default",
    ) -> Executable:
        """The program of `jaxpr`; nothing is donated here, and there is one tier."""
        outs = jaxpr.out_avals
        return Executable(Evaluated(jaxpr, outs), handlers_of(outs), outs)


class Evaluated:
    """`execute` for a program that NumPy runs."""

    __slots__ = ("jaxpr", "in_avals", "outs")

    def __init__(self, jaxpr: Jaxpr, outs: list[ShapedArray]):
        self.jaxpr = jaxpr
        self.in_avals = jaxpr.in_avals
        self.outs = outs

    def __call__(self, buffers: Sequence[Any], with_tokens: bool = False) -> HostResults:
        operands = list(map(NumpyEngine.get, buffers, self.in_avals))
        results = evaluate(self.jaxpr, operands)
        # A copy: a rule may return its operand, or a view of it.
        return HostResults(list(map(NumpyEngine.put, results, self.outs)))
