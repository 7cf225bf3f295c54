"""Elementwise programs over many short rows, written over one long row.

XLA's CPU compiler unrolls a short row and vectorises over the rows.  Of what it unrolls jaxlib 0.12
fuses the products and sums of some elements and not those of others: the last digit of an element
would be a matter of the column that it is in.
"""

from __future__ import annotations

import math
from typing import Any

from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Equation, Jaxpr, Var

SHORT = 16  # elements of a row that is unrolled, less than
MANY = 64  # elements in all, from where on rows are vectorised


def in_one_row(jaxpr: Jaxpr) -> Jaxpr | None:
    """The same program of arrays with one axis; None if it is not elementwise, or rows are long."""
    shape = max((aval.shape for aval in jaxpr.out_avals), key=len, default=())
    if len(shape) < 2 or shape[-1] >= SHORT or math.prod(shape) < MANY:
        return None
    if not all(equation.primitive.elementwise for equation in jaxpr.equations):
        return None
    variables = [*jaxpr.inputs, *(var for e in jaxpr.equations for var in e.outputs)]
    if any(var.aval.shape not in ((), shape) for var in variables):
        return None
    size = (math.prod(shape),)
    flat: dict[Any, Var] = {
        var: Var(var.aval.update(shape=size) if var.aval.shape else var.aval) for var in variables
    }

    def renamed(atoms: Any) -> list[Any]:
        return [flat.get(atom, atom) for atom in atoms]

    equations = [
        Equation(e.primitive, renamed(e.inputs), renamed(e.outputs), e.params, e.source)
        for e in jaxpr.equations
    ]
    return Jaxpr(renamed(jaxpr.inputs), equations, renamed(jaxpr.outputs))


def reshaped(block: Any, xs: Any, avals: list[ShapedArray]) -> list[Any]:
    """The operands in these shapes, behind barriers: XLA would move a reshape past a sum."""
    return [
        x if x.aval.shape == aval.shape else _reshaped(block, x, aval.shape)
        for x, aval in zip(xs, avals)
    ]


def _reshaped(block: Any, x: Any, shape: tuple[int, ...]) -> Any:
    if len(shape) == 1:
        return block.barrier(block.reshape(x, shape))
    return block.reshape(block.barrier(x), shape)
