"""A worker process: measures rows in one library, as the parent asks over a pipe.

    python -m benchmarks.worker hloom

Each line in is a request `{"row": name, "seconds": 0.05}`, each line out the answer:
`{"batches": [microseconds per call, ...]}`, `{"error": text}`.  The first answer to a row, which
holds the compilation and the choice of the batch size, also has `"digest"`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from time import perf_counter_ns
from typing import Any

from benchmarks import catalog
from benchmarks.library import Library, digest, load, versions
from benchmarks.rows import Calls, Figures, Fresh, Task

BATCHES = 5


def elapsed(call: Callable[[], Any], wait: Callable[[Any], Any] | None, count: int) -> float:
    """Microseconds per call over `count` calls, each waited for."""
    turns = repeat(None, count)
    if wait is None:
        start = perf_counter_ns()
        for _ in turns:
            call()
        return (perf_counter_ns() - start) / count / 1000
    start = perf_counter_ns()
    for _ in turns:
        wait(call())
    return (perf_counter_ns() - start) / count / 1000


@dataclass
class Prepared:
    """A task that has run once, with its batch size."""

    task: Task
    digest: list[Any] | None = None
    wait: Callable[[Any], Any] | None = None
    count: int = 1
    batches: int = BATCHES


def prepare(library: Library, task: Task, seconds: float) -> Prepared:
    """Runs the task once and fits BATCHES batches into `seconds`."""
    if not isinstance(task, Calls):
        return Prepared(task)
    with task.within():
        result = task.call()
        prepared = Prepared(task, digest(result), library.waiter(result))
        batch = 1e6 * seconds / BATCHES
        while (each := elapsed(task.call, prepared.wait, prepared.count)) * prepared.count < batch:
            prepared.count *= 2
    if prepared.count == 1:
        prepared.batches = max(1, min(BATCHES, int(1e6 * seconds / each)))
    return prepared


def measure(library: Library, prepared: Prepared, seconds: float) -> list[float]:
    """Microseconds per call, batch by batch."""
    match prepared.task:
        case Calls(call, within):
            with within():
                turns = range(prepared.batches)
                return [elapsed(call, prepared.wait, prepared.count) for _ in turns]
        case Fresh():
            figures = [measure_fresh(library, prepared.task)]
            while len(figures) < BATCHES and sum(figures) < 1e6 * seconds:
                figures.append(measure_fresh(library, prepared.task))
            return figures
        case Figures(take):
            return take()


def measure_fresh(library: Library, task: Fresh) -> float:
    operand = task.prepare()
    settle(library, operand)
    start = perf_counter_ns()
    settle(library, task.call(operand))
    return (perf_counter_ns() - start) / 1000


def settle(library: Library, result: Any) -> None:
    wait = library.waiter(result)
    if wait is not None:
        wait(result)


def answer(
    library: Library, known: dict[str, Prepared], name: str, seconds: float
) -> dict[str, Any]:
    """One reply; a row that fails says why and the worker goes on."""
    first = name not in known
    try:
        if first:
            known[name] = prepare(library, catalog.row(name).setup(library), seconds)
        reply: dict[str, Any] = {"batches": measure(library, known[name], seconds)}
    except Exception as error:  # whatever a row of a half-built library raises
        return {"error": f"{type(error).__name__}: {error}"}
    if first:
        reply["digest"] = known[name].digest
    return reply


def answers(name: str) -> Iterator[dict[str, Any]]:
    """The greeting, then a reply to each request on standard input."""
    try:
        library = load(name)
    except Exception as error:  # whatever the import of a half-built library raises
        yield {"error": f"{type(error).__name__}: {error}"}
        return
    yield {"versions": versions(library)}
    known: dict[str, Prepared] = {}
    for line in sys.stdin:
        request = json.loads(line)
        yield answer(library, known, request["row"], request["seconds"])


def main(name: str) -> None:
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)  # what a library prints must not end up among the answers
        for reply in answers(name):
            print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
