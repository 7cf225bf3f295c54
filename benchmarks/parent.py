"""The parent: starts the workers and asks them in turn."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from benchmarks.rows import Row

ROOT = Path(__file__).resolve().parent.parent
# Settings of the caller that would make the libraries anything but what a user installs.
# OpenBLAS's two make NumPy slower or faster than its own choice.  Without bytecode on disk an
# import would be a compilation.
DROPPED_PREFIXES = ("HLOOM_", "JAX_", "XLA_")
DROPPED = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE"}


def environment(scratch: Path) -> dict[str, str]:
    """The worker's environment: defaults everywhere, the CPU, and an empty disk cache."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in DROPPED and not name.startswith(DROPPED_PREFIXES)
    }
    path = [str(ROOT / "src"), *filter(None, [kept.get("PYTHONPATH")])]
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(path),
        "JAX_PLATFORMS": "cpu",
        "HLOOM_CACHE_DIR": mkdtemp(dir=scratch),
    }


class WorkerFailed(Exception):
    """The worker died, or took longer than its timeout."""


class Worker:
    """One library in a process of its own; started when first asked, again after a crash."""

    def __init__(self, library: str, python: str, scratch: Path, timeout: float) -> None:
        self.library = library
        self.python = python
        self.scratch = scratch
        self.timeout = timeout  # seconds per answer
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> dict[str, Any]:
        """Starts the process and returns its greeting: `versions`, or an `error`."""
        self.process = subprocess.Popen(
            [self.python, "-m", "benchmarks.worker", self.library],
            cwd=ROOT,
            env=environment(self.scratch),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self.read()

    def ask(self, row: str, seconds: float) -> dict[str, Any]:
        """One round of one row; a crash or a timeout becomes an `error` too."""
        try:
            if self.process is None:
                self.start()
            assert self.process is not None and self.process.stdin is not None
            print(json.dumps({"row": row, "seconds": seconds}), file=self.process.stdin, flush=True)
            return self.read()
        except (WorkerFailed, BrokenPipeError) as error:
            self.stop()
            return {"error": str(error) or "the worker died"}

    def read(self) -> dict[str, Any]:
        assert self.process is not None and self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(self.timeout):
                raise WorkerFailed(f"no answer within {self.timeout:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise WorkerFailed(f"the worker died with status {self.process.wait()}")
        return json.loads(line)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
        self.process = None


@dataclass
class Measured:
    """What one library answered for one row: batches of microseconds per call, round by round."""

    rounds: list[list[float]] = field(default_factory=list)
    digest: list[Any] | None = None
    error: str | None = None


Results = dict[tuple[str, str], Measured]  # by library and row


def turns(rows: list[Row], workers: list[Worker], rounds: int) -> Iterator[tuple[int, Row, Worker]]:
    """Who is asked what, in order; odd rounds ask the libraries in the opposite order."""
    for turn in range(rounds + 1):
        for row in rows:
            for worker in workers if turn % 2 else reversed(workers):
                if worker.library in row.only:
                    yield turn, row, worker


def run(
    rows: list[Row],
    workers: list[Worker],
    rounds: int,
    seconds: float,
    progress: Callable[[str], None],
) -> Results:
    """Measures every row, `rounds` times after a round that compiles and is thrown away."""
    results: Results = {}
    for turn, row, worker in turns(rows, workers, rounds):
        measured = results.setdefault((worker.library, row.name), Measured())
        if measured.error:
            continue
        progress(f"round {turn}/{rounds}  {worker.library:5}  {row.name}")
        reply = worker.ask(row.name, seconds)
        measured.error = reply.get("error")
        measured.digest = reply.get("digest") or measured.digest
        if turn and not measured.error:
            measured.rounds.append(reply["batches"])
    return results
