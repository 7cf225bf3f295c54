"""The context that every hloom call runs in: the trace in force, and the options.

`Config` is one immutable, interned set of option values, so that a table of executables can
be looked up by the identity of a configuration.  `Context` pairs it with the trace in force.  One
context variable, `current`, holds the context: per thread and per async task.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any


def _one_of(*values: str) -> Callable[[str, Any], Any]:
    def check(name: str, value: Any) -> Any:
        if value not in values:
            raise ValueError(
                f"config option {name} takes one of {', '.join(map(repr, values))}; got {value!r}"
            )
        return value

    return check


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, int)) or value not in (0, 1):
        raise TypeError(f"config option {name} takes True or False; got {value!r}")
    return bool(value)


# name: (default, check, what it does)
OPTIONS: dict[str, tuple[Any, Callable[[str, Any], Any], str]] = {
    "enable_x64": (False, _flag, "64-bit integers and floats exist; off, they become 32-bit"),
    "engine": ("xla", _one_of("xla", "numpy", "reference"), "who evaluates primitives"),
    "exact": (
        False,
        _flag,
        "compile so that float results equal NumPy's op by op (no fused multiply-add)",
    ),
    "numpy_dtype_promotion": (
        "standard",
        _one_of("standard", "strict"),
        "strict: mixed dtypes are an error",
    ),
    "numpy_rank_promotion": (
        "allow",
        _one_of("allow", "warn", "raise"),
        "what broadcasting of ranks does",
    ),
    "disable_jit": (False, _flag, "run jitted functions as plain Python"),
    "tracebacks": (
        "auto",
        _one_of("auto", "on", "off"),
        "whether jaxlib records a traceback per array",
    ),
    "traceback_filtering": (
        "auto",
        _one_of("auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"),
        "which of hloom's own frames an error shows: auto none, off all",
    ),
}


class Config:
    """One set of option values; interned, so equal configurations are the same object."""

    __slots__ = (*OPTIONS, "_values")
    _interned: dict[tuple[Any, ...], Config] = {}

    enable_x64: bool
    engine: str
    exact: bool
    numpy_dtype_promotion: str
    numpy_rank_promotion: str
    disable_jit: bool
    tracebacks: str
    traceback_filtering: str
    _values: tuple[Any, ...]

    def __new__(cls, values: tuple[Any, ...]) -> Config:
        found = cls._interned.get(values)
        if found is None:
            found = object.__new__(cls)
            for name, value in zip(OPTIONS, values):
                setattr(found, name, value)
            found._values = values
            found = cls._interned.setdefault(values, found)
        return found

    def replace(self, **changes: Any) -> Config:
        """The configuration that differs from this one by `changes`."""
        return Config(tuple(changes.get(name, value) for name, value in zip(OPTIONS, self._values)))

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{n}={v!r}" for n, v in zip(OPTIONS, self._values)) + ")"


class Context:
    """The trace that interprets primitives now, and the options in force.

    `key` is the key to the tables of eager executables: the configuration while primitives are
    evaluated, None while they are being traced, so that no executable is found during a trace.
    """

    __slots__ = ("trace", "config", "key")

    def __init__(self, trace: Any, config: Config):
        self.trace = trace
        self.config = config
        self.key = config if trace is None or trace.evaluates else None


def _from_environment(name: str) -> Any:
    default, check, _ = OPTIONS[name]
    text = os.environ.get(f"HLOOM_{name.upper()}")
    if text is None:
        return default
    if isinstance(default, bool):
        return check(
            name,
            {"1": True, "true": True, "0": False, "false": False, "": False}.get(
                text.lower(), text
            ),
        )
    return check(name, text)


# The context outside of all `with` blocks; `core.trace` gives it the trace that evaluates.
HOME = Context(None, Config(tuple(map(_from_environment, OPTIONS))))
current: ContextVar[Context] = ContextVar("hloom_context", default=HOME)


def _current() -> ContextVar[Context]:
    return current


def _reduce(variable: ContextVar[Any]) -> tuple[Any, ...]:
    """How a context variable is pickled: ours by name, others, as ever, not at all.

    A jitted function looks at `current`, and cloudpickle writes functions with all they look at.
    """
    if variable is not current:
        raise TypeError("cannot pickle '_contextvars.ContextVar' object")
    return _current, ()


copyreg.pickle(ContextVar, _reduce)
