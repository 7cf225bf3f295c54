"""The NumPy engine: a Jaxpr evaluated by its primitives' `numpy` rules, the living definition.

Nothing is compiled.  What a rule returns is held to what the primitive's `infer` rule promised, so
that a run on this engine checks both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.executable import Executable
from hloom.core.jaxpr import Equation, Jaxpr, Literal, Var
from hloom.engines import faults
from hloom.engines.base import HostResults, OnUpgrade, handlers_of
from hloom.engines.buffers import BufferEngine

NDArray = np.ndarray[Any, Any]


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
        on_upgrade: OnUpgrade | None = None,
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


def evaluate(jaxpr: Jaxpr, operands: Sequence[NDArray]) -> list[NDArray]:
    """The Jaxpr's results for these operands, all ndarrays; captures lead the operands.

    Raises EngineError, naming the primitive, where a rule does not give what `infer` promised.
    """
    values: dict[Var, NDArray] = dict(zip(jaxpr.inputs, operands, strict=True))

    def read(atom: Any) -> NDArray:
        return atom.value if atom.__class__ is Literal else values[atom]

    with np.errstate(all="ignore"):  # the other engines give inf and nan without a word
        for equation in jaxpr.equations:
            inputs = [read(atom) for atom in equation.inputs]
            values.update(zip(equation.outputs, apply(equation, inputs)))
    return [read(atom) for atom in jaxpr.outputs]


def apply(equation: Equation, inputs: list[NDArray]) -> list[NDArray]:
    """The results of one equation, each a C-contiguous ndarray of the promised type."""
    primitive = equation.primitive
    results = primitive.numpy(*inputs, **equation.params)
    given = list(results) if primitive.multiple else [results]
    promised = [var.aval for var in equation.outputs]
    if len(given) != len(promised):
        raise faults.misbehaved(primitive.name, "numpy", f"{len(given)} results", len(promised))
    # NumPy's own functions give scalars where arrays of no axis are meant.
    arrays = [np.asarray(x) for x in given]
    for array, aval in zip(arrays, promised):
        if array.shape != aval.shape or array.dtype != aval.dtype:
            gave = f"{array.dtype.name}[{','.join(map(str, array.shape))}]"
            raise faults.misbehaved(primitive.name, "numpy", gave, aval)
    return arrays
