"""The command `python -m benchmarks`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import benchmarks
from benchmarks import catalog, report
from benchmarks.parent import ROOT, Worker, WorkerFailed, run
from benchmarks.rows import LIBRARIES


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=benchmarks.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rows", nargs="*", help="parts of the names of rows; none means all")
    parser.add_argument("--group", action="append", default=[], choices=list(catalog.GROUPS))
    parser.add_argument("--library", action="append", default=[], choices=LIBRARIES)
    parser.add_argument("--rounds", type=int, default=9, help="times the table is gone through")
    parser.add_argument("--seconds", type=float, default=0.05, help="per row, library and round")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one answer")
    parser.add_argument("--jax-python", default=os.environ.get("HLOOM_BENCH_JAX_PYTHON"))
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "benchmarks.json")
    parser.add_argument("--strict", action="store_true", help="fail if a target is missed")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    return parser.parse_args()


def python_of(library: str, jax_python: str | None) -> str | None:
    """The interpreter for a library; None if there is none."""
    if library == "jax" and jax_python:
        return jax_python
    return None if library == "jax" and not find_spec("jax") else sys.executable


def start_workers(
    options: argparse.Namespace, scratch: Path
) -> tuple[list[Worker], dict[str, dict[str, str]]]:
    """The workers that could import their library, and what each said about its versions."""
    workers, versions = [], {}
    for library in options.library or LIBRARIES:
        python = python_of(library, options.jax_python)
        if python is None:
            print(f"without {library}: not installed here, and no --jax-python", file=sys.stderr)
            continue
        worker = Worker(library, python, scratch, options.timeout)
        try:
            hello = worker.start()
        except (OSError, WorkerFailed) as error:
            hello = {"error": str(error)}
        if "error" in hello:
            print(f"without {library}: {hello['error']}", file=sys.stderr)
            worker.stop()
            continue
        versions[library] = hello["versions"]
        workers.append(worker)
    return workers, versions


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:72.72}", end="", file=sys.stderr, flush=True)


def describe(versions: dict[str, dict[str, str]]) -> str:
    """`hloom 0.1, jaxlib 0.10.2, python 3.11.7; jax 0.10.2, ...`."""
    shown = {"hloom": ("hloom", "jaxlib", "python"), "jax": ("jax", "jaxlib"), "numpy": ("numpy",)}
    parts = []
    for library, found in versions.items():
        parts.append(", ".join(f"{name} {found.get(name, '?')}" for name in shown[library]))
    return "; ".join(parts)


def main() -> int:
    options = arguments()
    load = os.getloadavg()[0]
    rows = catalog.select(options.group, options.rows)
    if options.list or not rows:
        print(*[row.name for row in rows], sep="\n")
        return 0 if rows else 2
    with TemporaryDirectory(prefix="hloom-benchmarks-") as scratch:
        workers, versions = start_workers(options, Path(scratch))
        try:
            results = run(rows, workers, options.rounds, options.seconds, progress)
        finally:
            for worker in workers:
                worker.stop()
    progress("")
    lines = [report.line(row, results) for row in rows]
    cores = os.cpu_count()
    report.show(lines, f"{describe(versions)}; load {load:.1f} before, {cores} cores")
    about = {
        "versions": versions,
        "machine": platform.machine(),
        "cores": cores,
        "load": load,
        "rounds": options.rounds,
        "seconds": options.seconds,
    }
    report.write_json(options.json, lines, results, about)
    print(f"raw figures: {options.json}")
    return 1 if options.strict and any(line.met is False for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
