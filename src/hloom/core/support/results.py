"""An executable as a function from buffers to Arrays: `one` for a single result, `many` for a list.

This and the engines are where jaxlib's calling convention is known.  Tables keep these functions:
a call of one costs less than the same lines written out, which unpack what the function holds (sin
of an array: 2.72 us against 2.78, medians of 2,500 interleaved batches).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom.core.array import Array, from_buffer, from_buffers
from hloom.core.support.executable import Executable

Buffers = list[Any]


def one(executable: Executable, captured: Sequence[Any] = ()) -> Callable[[Buffers], Array]:
    """Runs an executable with one result; `captured` are buffers before those that are given."""
    new, execute, handlers = object.__new__, _closed(executable, captured), executable.handlers
    (aval,) = executable.outs

    def run(buffers: Buffers) -> Array:
        made: Array = new(Array)
        (made._buf,) = execute(buffers).consume_with_handlers(handlers)
        made.aval = aval
        return made

    return run


def many(executable: Executable, captured: Sequence[Any] = ()) -> Callable[[Buffers], list[Array]]:
    """Runs an executable; `captured` are buffers before those that are given."""
    execute, handlers, avals = _closed(executable, captured), executable.handlers, executable.outs

    def run(buffers: Buffers) -> list[Array]:
        return list(map(from_buffer, execute(buffers).consume_with_handlers(handlers), avals))

    return run


def together(
    executable: Executable, captured: Sequence[Any] = ()
) -> Callable[[Buffers], list[Array]]:
    """As `many`, with one token to wait for all results: of eight or more that costs less."""
    execute, handlers, avals = executable
    first = list(captured)

    def run(buffers: Buffers) -> list[Array]:
        found = execute(first + buffers, True)  # type: ignore[call-arg]
        token = found.consume_token()
        return from_buffers(found.consume_with_handlers(handlers), avals, token)

    return run


def _closed(executable: Executable, captured: Sequence[Any]) -> Callable[[Buffers], Any]:
    """The executable's `execute`, given the captured buffers."""
    execute, first = executable.execute, list(captured)
    return (lambda buffers: execute(first + buffers)) if first else execute
