"""The living definition: a Jaxpr evaluated by its primitives' `numpy` rules.

The NumPy engine runs programs this way, and so do the NumPy rules of primitives that hold a Jaxpr.
The types of what a rule returns are compared with what the primitive's `infer` rule promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom import errors
from hloom.core.jaxpr import Equation, Jaxpr, Literal, Var

NDArray = np.ndarray[Any, Any]
_NUMPY_DIMENSIONS = 32  # for functions that take NumPy's older iterators: sort, where, tile


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
    try:
        results = primitive.numpy(*inputs, **equation.params)
    except RuntimeError as error:
        raise unsupported(equation, error) or error from None
    given = list(results) if primitive.multiple else [results]
    promised = [var.aval for var in equation.outputs]
    if len(given) != len(promised):
        raise misbehaved(primitive.name, f"{len(given)} results", len(promised))
    # NumPy's own functions give scalars where arrays of no axis are meant.
    arrays = [np.asarray(x) for x in given]
    for array, aval in zip(arrays, promised):
        if array.shape != aval.shape or array.dtype != aval.dtype:
            gave = f"{array.dtype.name}[{','.join(map(str, array.shape))}]"
            raise misbehaved(primitive.name, gave, aval)
    return arrays


def unsupported(equation: Equation, error: RuntimeError) -> errors.EngineError | None:
    """For an array of more dimensions than a function of NumPy's takes; None for other errors."""
    atoms = [*equation.inputs, *equation.outputs]
    most = max(atoms, key=lambda atom: atom.aval.ndim).aval
    if error.__class__ is not RuntimeError or most.ndim <= _NUMPY_DIMENSIONS:
        return None
    why = f"NumPy's function takes up to {_NUMPY_DIMENSIONS} dimensions; {most} has {most.ndim}"
    return errors.EngineUnsupported.operation("numpy", equation.primitive.name, why)


def misbehaved(primitive: str, gave: Any, promised: Any) -> errors.EngineError:
    """For a NumPy rule that does not give what the primitive's `infer` rule promised."""
    reason = (
        f"the numpy rule of primitive {primitive} gave {gave} where its infer rule promised "
        f"{promised}. This is a fault of hloom, or of the primitive's author"
    )
    return errors.EngineError.of("numpy", "run", reason)
