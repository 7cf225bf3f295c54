"""The mechanism: types, arrays, the IR, traces and primitives.

docs/walk.md follows a call through it.  The files in the order to read them: `aval`, `array`,
`jaxpr`, `context`, `trace`, `primitive`, `record`, `interpret`.  `operands` makes arrays of what
users give; `support` holds what a first reading can do without: the user's lines, signatures,
checks, tables of executables.
"""

from hloom.core.array import Array, HostArray
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    Equation,
    Jaxpr,
    Literal,
    Var,
    check_jaxpr,
    eval_jaxpr,
)
from hloom.core.primitive import Primitive, UndefinedPrimal
from hloom.core.record import trace_to_jaxpr
from hloom.core.trace import (
    Origin,
    Trace,
    Tracer,
    active,
    current_trace,
    ensure_compile_time_eval,
)

__all__ = [
    "Array", "Atom", "ClosedJaxpr", "Equation", "HostArray", "Jaxpr", "Literal", "Origin",
    "Primitive", "ShapedArray", "Trace", "Tracer", "UndefinedPrimal", "Var", "active",
    "check_jaxpr", "current_trace", "ensure_compile_time_eval", "eval_jaxpr", "trace_to_jaxpr",
]  # fmt: skip
