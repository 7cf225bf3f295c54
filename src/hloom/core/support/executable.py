"""What core knows of the engines: what an executable is, and which engine compiles it.

core imports no engine.  `hloom.engines` fills `ENGINES` when the package is imported, and the rest
of core asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hloom import errors
from hloom.core.aval import ShapedArray
from hloom.core.context import Config
from hloom.core.support import source


class Executable(NamedTuple):
    """A compiled Jaxpr, in jaxlib's calling convention: `results.one` and `results.many` run it.

    `execute(buffers).consume_with_handlers(handlers)` gives buffers of the types `outs`.
    """

    execute: Callable[[list[Any]], Any]
    handlers: list[Any]
    outs: list[ShapedArray]


class Engines(dict[str, Any]):
    """Engines by name; `load` makes one when it is first asked for."""

    load: Callable[[str], Any]

    def __missing__(self, name: str) -> Any:
        engine = self[name] = self.load(name)
        return engine


ENGINES = Engines()


def compile_jaxpr(jaxpr: Any, config: Config, **options: Any) -> Executable:
    """Compile with the engine that `config` names."""
    if config.exact:
        options["tier"] = "exact"
    executable: Executable = ENGINES[config.engine].compile(jaxpr, **options)
    return executable


def put(value: Any, aval: ShapedArray) -> Any:
    """A device buffer that holds a copy of the NumPy value."""
    return ENGINES["xla"].put(value, aval)


def get(buffer: Any, aval: ShapedArray) -> Any:
    """The buffer's value as a read-only ndarray; waits until it is computed."""
    return ENGINES["xla"].get(buffer, aval)


def explain(
    error: RuntimeError, name: str, arrays: Sequence[Any], captured: Sequence[Any] = ()
) -> Exception:
    """The error for a failed execution: a deleted operand, memory, or an engine's fault.

    `captured` are buffers of the arrays that the function closes over.
    """
    for x in arrays:
        if x.is_deleted():
            return errors.DeletedArrayError.of(x.aval, at=source.here())
    for buffer in captured:
        if buffer.is_deleted():
            return errors.DeletedArrayError.captured(buffer.aval, name, at=source.here())
    explained: Exception = ENGINES["xla"].explain(error, name)
    return explained
