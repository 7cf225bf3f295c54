"""What a row of the benchmarks is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.library import Library

LIBRARIES = ("hloom", "jax", "numpy")


@dataclass(frozen=True)
class Calls:
    """`call()` is timed in batches, inside the context manager that `within()` returns."""

    call: Callable[[], Any]
    within: Callable[[], AbstractContextManager[Any]] = nullcontext


@dataclass(frozen=True)
class Fresh:
    """`call(prepare())` is timed once for each `prepare()`, which is not timed.

    For what happens only the first time: a new shape, a new function.
    """

    prepare: Callable[[], Any]
    call: Callable[[Any], Any]


@dataclass(frozen=True)
class Figures:
    """`measure()` returns microseconds that it took itself, as a child process has to."""

    measure: Callable[[], list[float]]


Task = Calls | Fresh | Figures


@dataclass(frozen=True)
class Row:
    """One line of the table.

    name     what is measured, in one line
    setup    given a Library, makes the Task; runs once in each worker, not timed
    target   the highest ratio of hloom's figure to the reference that counts as met, or None
    against  the reference, (library, name of a row); None means jax, the same row
    only     the libraries in which the row makes sense
    """

    name: str
    setup: Callable[[Library], Task]
    target: float | None = None
    against: tuple[str, str] | None = None
    only: tuple[str, ...] = field(default=LIBRARIES)

    @property
    def reference(self) -> tuple[str, str]:
        return self.against or ("jax", self.name)


def closure(program: str, operands: dict[str, Any], parameters: tuple[str, ...] = ()) -> Any:
    """`lambda <parameters>: <program>`, with the operands it mentions as local variables.

    A row can so be written as the text of the program it measures, and no call pays for a lookup
    of a global name.

    >>> closure("x + y", {"x": 1, "z": 9}, ("y",))(2)
    3
    """
    code = compile(program, program, "eval")
    used = [name for name in code.co_names if name in operands]
    maker = f"lambda {', '.join(used)}: lambda {', '.join(parameters)}: {program}"
    return eval(maker)(*[operands[name] for name in used])
