"""Transposition of a linear Jaxpr: from cotangents of its results to cotangents of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hloom.core.jaxpr import Atom, Jaxpr, Literal, Var
from hloom.core.primitive import UndefinedPrimal
from hloom.core.support.frames import locate
from hloom.ops.common.linear import plus


def transpose_jaxpr(jaxpr: Jaxpr, known: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """Cotangents (None: zero) of the linear inputs, which follow the first `len(known)` inputs.

    Equations without a linear operand are evaluated first, in order; then the rest is walked
    backwards, each primitive's transpose rule giving to its linear operands.
    """
    values: dict[Var, Any] = dict(zip(jaxpr.inputs, known))
    linear = set(jaxpr.inputs[len(known) :])
    cts: dict[Var, Any] = {}

    def read(atom: Atom) -> Any:
        if isinstance(atom, Literal):
            return atom.array()
        return UndefinedPrimal(atom.aval) if atom in linear else values[atom]

    def give(atom: Atom, ct: Any) -> None:
        if ct is not None and isinstance(atom, Var) and atom in linear:
            cts[atom] = plus(cts.get(atom), ct)

    for equation in jaxpr.equations:
        if any(x in linear for x in equation.inputs):
            linear.update(equation.outputs)
        else:
            results = equation.primitive.apply([read(x) for x in equation.inputs], equation.params)
            values.update(
                zip(equation.outputs, results if equation.primitive.multiple else [results])
            )
    for atom, ct in zip(jaxpr.outputs, cotangents):
        give(atom, ct)
    for equation in reversed(jaxpr.equations):
        if not any(x in linear for x in equation.inputs):
            continue
        out_cts = [cts.pop(v, None) for v in equation.outputs]
        if all(ct is None for ct in out_cts):
            continue
        multiple = equation.primitive.multiple
        operands = [read(x) for x in equation.inputs]
        try:
            in_cts = equation.primitive.transpose(
                out_cts if multiple else out_cts[0], *operands, **equation.params
            )
        except Exception as error:
            locate(error, equation.source)
            raise
        for atom, ct in zip(equation.inputs, in_cts):
            give(atom, ct)
    return [cts.get(v) for v in jaxpr.inputs[len(known) :]]
