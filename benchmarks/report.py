"""From raw figures to the table, its notes and the JSON file."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.parent import Measured, Results
from benchmarks.rows import LIBRARIES, Row

if find_spec("rich"):
    from rich.console import Console
    from rich.table import Table

TOLERANCE = 0.01  # float32 running sums and products of a million numbers differ this much
HEADER = ["row", *LIBRARIES, "ratio", "quartiles", "target", "", "/numpy"]


@dataclass(frozen=True)
class Ratio:
    """hloom's figure over the reference's, round by round: median and quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """One row with everything that was found out about it.  Figures are in microseconds."""

    row: Row
    figures: dict[str, float]
    ratio: Ratio | None
    to_numpy: Ratio | None
    notes: list[str]

    @property
    def met(self) -> bool | None:
        if self.row.target is None or self.ratio is None:
            return None
        return self.ratio.median <= self.row.target

    def cells(self) -> list[str]:
        target = "" if self.row.target is None else f"{self.row.target:.2f}"
        verdict = {True: "met", False: "MISSED", None: "" if not target else "-"}[self.met]
        return [
            self.row.name,
            *[duration(self.figures.get(library)) for library in LIBRARIES],
            f"{self.ratio.median:.2f}" if self.ratio else "-",
            f"{self.ratio.low:.2f} to {self.ratio.high:.2f}" if self.ratio else "",
            target,
            verdict,
            f"{self.to_numpy.median:.2f}" if self.to_numpy else "",
        ]


def duration(microseconds: float | None) -> str:
    """Three digits and a unit.

    >>> [duration(x) for x in (4.8234, 238_000, 1_234_567, None)]
    ['4.82 us', '238 ms', '1.23 s', '-']
    """
    if microseconds is None:
        return "-"
    value, unit = microseconds, "us"
    for larger in ("ms", "s"):
        if value >= 1000:
            value, unit = value / 1000, larger
    digits = max(0, 2 - math.floor(math.log10(max(value, 0.01))))
    return f"{value:.{min(digits, 2)}f} {unit}"


def ratio(over: Measured | None, under: Measured | None) -> Ratio | None:
    """The ratios of the rounds that both have."""
    if over is None or under is None:
        return None
    paired = [min(a) / min(b) for a, b in zip(over.rounds, under.rounds)]
    if not paired:
        return None
    if len(paired) < 4:
        return Ratio(statistics.median(paired), min(paired), max(paired))
    low, median, high = statistics.quantiles(paired, n=4, method="inclusive")
    return Ratio(median, low, high)


def disagreement(digests: dict[str, list[Any]]) -> list[str]:
    """A note for each library whose result differs from NumPy's, or from jax's."""
    expected = digests.get("numpy") or digests.get("jax")
    notes = []
    for library, digest in digests.items():
        shape, *sums = digest
        size = max(1.0, abs(expected[1])) if expected else 1.0
        close = expected and all(
            math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE * size)
            for a, b in zip(sums, expected[1:], strict=True)
        )
        if expected and (shape != expected[0] or not close):
            notes.append(f"{library}'s result {digest} differs from {expected}")
    return notes


def line(row: Row, results: Results) -> Line:
    measured = {name: results[name, row.name] for name in LIBRARIES if (name, row.name) in results}
    figures = {
        name: statistics.median(min(batches) for batches in found.rounds)
        for name, found in measured.items()
        if found.rounds and not found.error
    }
    notes = [f"{name}: {found.error}" for name, found in measured.items() if found.error]
    notes += disagreement({name: found.digest for name, found in measured.items() if found.digest})
    hloom = measured.get("hloom")
    to_numpy = ratio(hloom, measured.get("numpy"))
    return Line(row, figures, ratio(hloom, results.get(row.reference)), to_numpy, notes)


def summary(lines: list[Line]) -> str:
    targets = [line for line in lines if line.row.target is not None]
    met, missed, open_ = ([x for x in targets if x.met is y] for y in (True, False, None))
    return f"{len(met)} targets met, {len(missed)} missed, {len(open_)} not measured"


def show(lines: list[Line], title: str) -> None:
    """Prints the table: with rich where it is installed, plain otherwise."""
    cells = [line.cells() for line in lines]
    if find_spec("rich"):
        show_rich(cells, title)
    else:
        show_plain(cells, title)
    for note, names in notes(lines).items():
        print(f"{note}: {'; '.join(names)}")
    print(summary(lines))


def notes(lines: list[Line]) -> dict[str, list[str]]:
    """What has to be said about rows, each thing once, with the names of its rows."""
    found: dict[str, list[str]] = {}
    for line in lines:
        about = list(line.notes)
        if line.row.against:
            library, name = line.row.against
            about.append(f"the ratio is to {library}'s figure for `{name}`")
        for note in about:
            found.setdefault(note, []).append(line.row.name)
    return found


def show_rich(cells: list[list[str]], title: str) -> None:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for position, name in enumerate(HEADER):
        table.add_column(name, justify="left" if position == 0 else "right", no_wrap=True)
    for row in cells:
        style = "bold red" if "MISSED" in row else None
        table.add_row(*[cell.replace("[", r"\[") for cell in row], style=style)
    # A pipe has no width of its own, and a table cut to 80 columns is no table.
    console = Console()
    if not console.is_terminal:
        console.width = 140
    console.print(table)


def show_plain(cells: list[list[str]], title: str) -> None:
    widths = [max(map(len, column)) for column in zip(HEADER, *cells, strict=True)]
    print(title)
    for row in [HEADER, *cells]:
        first = row[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([first, *rest]).rstrip())


def write_json(path: Path, lines: list[Line], results: Results, about: dict[str, Any]) -> None:
    """Everything, with every batch, so that another statistic can be taken later."""
    rows = [
        {
            "name": line.row.name,
            "target": line.row.target,
            "reference": line.row.reference,
            "met": line.met,
            "microseconds": line.figures,
            "ratio": asdict(line.ratio) if line.ratio else None,
            "to_numpy": asdict(line.to_numpy) if line.to_numpy else None,
            "notes": line.notes,
            "rounds": {library: results[library, line.row.name].rounds for library in line.figures},
        }
        for line in lines
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")
