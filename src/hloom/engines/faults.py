"""What went wrong in the runtime, in hloom's words and classes."""

from __future__ import annotations

import os
import re
import tempfile

from hloom.errors import DeletedArrayError, DeviceMemoryError, EngineError

_ALLOCATING = re.compile(r"allocating (\d+) bytes")
_POSITION = re.compile(r'"?-"?:(\d+):\d+: (?:error: )?(.*)')
_OPERATION = re.compile(r"'((?:stablehlo|chlo|func|sdy|mhlo)\.\w+)'")


def translate(fault: BaseException, what: object = "the results") -> Exception:
    """The hloom exception for one of jaxlib's; `what` is a type, or names the program that ran."""
    if isinstance(fault, (EngineError, DeletedArrayError)):
        return fault  # in hloom's words already
    said = str(fault)
    if said.startswith("RESOURCE_EXHAUSTED"):
        size = _ALLOCATING.search(said)
        return DeviceMemoryError.allocation(what, int(size[1]) if size else None, said)
    if "deleted or donated" in said or "has been deleted" in said or "0 shards" in said:
        return DeletedArrayError.of(what)
    return EngineError.of("xla", "run", said)


def refused(fault: BaseException, text: str, name: str, engine: str = "xla") -> EngineError:
    """For a program that does not compile: hloom wrote it, so the fault is hloom's."""
    said = str(fault)
    if said.startswith("RESOURCE_EXHAUSTED"):
        return DeviceMemoryError.allocation(f"program {name!r}", None, said)
    position = _POSITION.search(said)
    reason = position[2] if position else said.splitlines()[0][:300]
    operation = _OPERATION.search(reason)
    line = _line(text, int(position[1])) if position else ""
    what = f"{operation[1]} of program" if operation else "program"
    parts = [
        f"{what} {name!r} was refused: {reason}",
        f"  in: {line}" if line else "",
        f"This is a fault of hloom. Please report it with the module, {_save(text, name)}",
    ]
    return EngineError.of(engine, "compile", "\n".join(filter(None, parts)))


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return line if len(line) <= 200 else line[:200] + " ..."


def _save(text: str, name: str) -> str:
    """Where the module was written to, for a report."""
    plain = re.sub(r"\W+", "-", name).strip("-") or "program"
    try:
        handle, path = tempfile.mkstemp(prefix=f"hloom-{plain[:40]}-", suffix=".mlir")
        with os.fdopen(handle, "w") as file:
            file.write(text)
    except OSError as fault:
        return f"which could not be saved ({fault})"
    return path
