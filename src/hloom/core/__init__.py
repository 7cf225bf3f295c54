"""The whole mechanism: types, arrays, the IR, traces and primitives.

Read in this order: `aval`, `array`, `jaxpr`, `trace`, `primitive`, `record`.
"""

from hloom.core.array import Array, HostArray
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import ClosedJaxpr, Equation, Jaxpr, Literal, Var, check_jaxpr, eval_jaxpr
from hloom.core.primitive import Primitive, UndefinedPrimal
from hloom.core.record import trace_to_jaxpr
from hloom.core.trace import Trace, Tracer

# Loaded for its effect: it teaches Jaxprs to print.
from hloom.core import printing  # noqa: E402  # isort: skip

__all__ = [
    "Array", "ClosedJaxpr", "Equation", "HostArray", "Jaxpr", "Literal", "Primitive",
    "ShapedArray", "Trace", "Tracer", "UndefinedPrimal", "Var", "check_jaxpr", "eval_jaxpr",
    "printing", "trace_to_jaxpr",
]  # fmt: skip
