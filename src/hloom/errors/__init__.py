"""Every exception and warning of hloom.  The docstring of each is its help page.

A page says what the error means, shows a program that fails and programs that work; the same text
is in docs/errors, and the tests run both.  Classes that JAX has too keep JAX's name and bases,
so that `except` clauses written for it go on working.

The classmethods build an instance from facts (`Traced`, `Where`, a type, a line), so that the
wording is here and not at the place that found the fault.
"""

from __future__ import annotations

from hloom.errors.kinds import (
    ArgumentError,
    DonatedTwiceError,
    IndexKindError,
    ShapeError,
    TangentError,
    TracedSliceError,
    UnsupportedError,
)
from hloom.errors.running import (
    AxisError,
    CacheWarning,
    DeletedArrayError,
    DeviceMemoryError,
    DroppedUpdateWarning,
    EngineError,
    EngineUnsupported,
    ImmutableArrayError,
    JaxprTypeError,
    JaxRuntimeError,
    MaskedArrayError,
    TruncationWarning,
    missing_rule,
    unhashable_static,
)
from hloom.errors.texts import Traced, Where
from hloom.errors.tracing import (
    ConcretizationTypeError,
    InconclusiveDimensionOperation,
    JAXIndexError,
    JAXTypeError,
    KeyReuseError,
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)

__all__ = [
    "ArgumentError",
    "AxisError",
    "CacheWarning",
    "ConcretizationTypeError",
    "DeletedArrayError",
    "DeviceMemoryError",
    "DonatedTwiceError",
    "DroppedUpdateWarning",
    "EngineError",
    "EngineUnsupported",
    "ImmutableArrayError",
    "InconclusiveDimensionOperation",
    "IndexKindError",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
    "JaxprTypeError",
    "KeyReuseError",
    "MaskedArrayError",
    "NonConcreteBooleanIndexError",
    "ShapeError",
    "TangentError",
    "Traced",
    "TracedSliceError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TruncationWarning",
    "UnexpectedTracerError",
    "UnsupportedError",
    "Where",
    "missing_rule",
    "unhashable_static",
]

# A traceback and help() name each class as the user reaches it.
for _name in __all__:
    globals()[_name].__module__ = __name__
