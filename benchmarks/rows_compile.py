"""What comes before the first result: import, tracing, the text, the compiler, the disk cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from benchmarks.library import IMPORTS, Library
from benchmarks.rows import Figures, Fresh, Row

# What a child process runs; it prints microseconds.
IMPORT = """
import time, numpy
start = time.perf_counter()
{imports}
print(1e6 * (time.perf_counter() - start))
"""
FIRST_CALLS = """
import time, numpy, hloom.numpy

def first_call(size):
    x = hloom.numpy.asarray(numpy.ones(size, numpy.float32)).block_until_ready()
    start = time.perf_counter()
    (x + 1.0).block_until_ready()
    return 1e6 * (time.perf_counter() - start)

first_call(3)  # starts the client
print(*[first_call(size) for size in range(1001, 1009)])
"""


def child(code: str, **environment: str) -> list[float]:
    """Runs a program in a new process and returns the figures it prints."""
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        reason = run.stderr.strip().splitlines()[-1:] or [f"status {run.returncode}"]
        raise RuntimeError(f"in a child process: {reason[0]}")
    return [float(word) for word in run.stdout.split()]


def import_time(library: Library) -> Figures:
    return Figures(partial(child, IMPORT.format(imports=IMPORTS[library.name])))


def new_shape(library: Library) -> Fresh:
    """`x + 1.0` for a length that this process (and its empty disk cache) has never seen."""
    sizes = count(1001)
    return Fresh(
        prepare=lambda: library.array(np.ones(next(sizes), np.float32)),
        call=lambda x: x + 1.0,
    )


def first_call(function: Callable[[Library, Any], Any]) -> Callable[[Library], Fresh]:
    """A task: a function of an array of a length that this process has never seen."""

    def setup(library: Library) -> Fresh:
        sizes = count(1001)
        return Fresh(
            prepare=lambda: library.array(np.linspace(0.1, 0.9, next(sizes), dtype=np.float32)),
            call=partial(function, library),
        )

    return setup


FIRST_CALLS_OF: dict[str, Callable[[Library, Any], Any]] = {
    "sin(x)": lambda library, x: library.xp.sin(x),
    "x.std()": lambda library, x: library.xp.std(x),
    "betainc(x, x, x)": lambda library, x: library.root.lax.betainc(x, x, x),
    "lgamma(x)": lambda library, x: library.root.lax.lgamma(x),
    "interp(x, x, x)": lambda library, x: library.xp.interp(x, x, x),
    "percentile(x, 30)": lambda library, x: library.xp.percentile(x, 30),
    "convolve(x, x)": lambda library, x: library.xp.convolve(x, x),
    "x[x > 0.5] + 1": lambda library, x: x[x > 0.5] + 1,
}


def new_shape_from_disk(library: Library) -> Figures:
    """The same in a new process, after another one has left its executables in the disk cache."""
    folder = mkdtemp(dir=os.environ["HLOOM_CACHE_DIR"])
    child(FIRST_CALLS, HLOOM_CACHE_DIR=folder)
    if not any(path.is_file() for path in Path(folder).rglob("*")):
        raise RuntimeError(f"no executable was written to HLOOM_CACHE_DIR={folder}")
    return Figures(partial(child, FIRST_CALLS, HLOOM_CACHE_DIR=folder))


def chain(library: Library) -> Callable[[Any], Any]:
    """A new function of 1,500 equations: libraries remember the ones they have traced."""

    def function(x: Any) -> Any:
        for _ in range(300):
            x = library.xp.sin(x) * 0.5 + x * x - 0.25
        return x

    return function


def chain_gradient(library: Library) -> Callable[[Any], Any]:
    function = chain(library)
    return library.root.grad(lambda x: function(x).sum())


def text_of(make: Callable[[Library], Callable[[Any], Any]]) -> Callable[[Library], Fresh]:
    """A task: trace a new function from `make` and write its StableHLO text."""

    def setup(library: Library) -> Fresh:
        x = library.array(np.ones(10, np.float32))
        return Fresh(prepare=partial(make, library), call=lambda f: library.text(f, x))

    return setup


NEW_SHAPE = "x + 1.0, new shape"
COMPILED = ("hloom", "jax")
ROWS = [
    Row("import, above NumPy", import_time, 0.4, only=COMPILED),
    Row(NEW_SHAPE, new_shape, 0.5, only=COMPILED),
    Row(
        f"{NEW_SHAPE}, from the disk cache",
        new_shape_from_disk,
        0.1,
        against=("jax", NEW_SHAPE),
        only=("hloom",),
    ),
    *[
        Row(f"{name}, new shape", first_call(function), only=COMPILED)
        for name, function in FIRST_CALLS_OF.items()
    ],
    Row("text of a 1,500-equation chain", text_of(chain), 0.15, only=COMPILED),
    Row("text of the chain's gradient", text_of(chain_gradient), only=COMPILED),
]
