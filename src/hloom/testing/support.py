"""Which primitive runs on which engine, for which dtypes: what docs/engines.md shows.

    python -m hloom.testing.support > docs/engines.md

Nothing on the page is a claim: each primitive's smallest case is traced with every dtype, and run
on every engine with those that it takes.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import numpy as np

from hloom import dtypes
from hloom.config import enable_x64
from hloom.control.jit.abstract import make_jaxpr
from hloom.engines.jaxlib_compat import VERSION
from hloom.errors import EngineUnsupported
from hloom.testing.case import Case
from hloom.testing.cases import CASES
from hloom.testing.comparison import ENGINES, results
from hloom.testing.primitives import equations_in, primitives

# A word for the dtypes of a kind, in the order in which they are shown.
KINDS = {
    "bool": ("bool",),
    "integers": tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "small integers": ("int2", "int4", "uint2", "uint4"),
    "floats": ("float16", "bfloat16", "float32", "float64"),
    "small floats": tuple(x.name for x in dtypes.TABLE if x.kind == "float" and x.bits < 16),
    "complex": ("complex64", "complex128"),
}
DTYPES = tuple(name for names in KINDS.values() for name in names)
NUMBERS = DTYPES[1:]


class Row(NamedTuple):
    """What a primitive takes, what of that each engine runs, and why it does not run the rest."""

    name: str
    takes: tuple[str, ...]
    runs: dict[str, tuple[str, ...]]
    reasons: list[tuple[str, str]]  # dtype, what the engine says


# ---- cases -----------------------------------------------------------------------------------
def _touched(case: Case, dtype: str) -> list[str]:
    """The primitives of a case, each applied to or giving the dtype; none if it is not taken."""
    if dtype not in case.dtypes and all(isinstance(x, np.ndarray) for x in case.operands):
        return []
    try:
        with enable_x64(), _quiet():
            closed = make_jaxpr(case.fun)(*case.draw(dtype, shape=(2,)))
    except (TypeError, ValueError):
        return []
    return [
        equation.primitive.name
        for equation in equations_in(closed.jaxpr)
        if any(x.aval.dtype.name == dtype for x in (*equation.inputs, *equation.outputs))
    ]


@cache
def _smallest() -> dict[tuple[str, str], Case]:
    """Primitive, dtype: the case that is made of this one and of the fewest others."""
    found: dict[tuple[str, str], tuple[int, Case]] = {}
    for case in CASES:
        for dtype in DTYPES:
            names = _touched(case, dtype)
            for name in set(names):
                key = (name, dtype)
                if key not in found or len(names) < found[key][0]:
                    found[key] = (len(names), case)
    return {key: case for key, (_, case) in found.items()}


def taken(name: str) -> tuple[str, ...]:
    """The dtypes that a primitive takes, found by tracing.

    >>> from hloom.testing.support import taken
    >>> taken("complex")
    ('float32', 'float64')
    """
    return tuple(dtype for dtype in DTYPES if (name, dtype) in _smallest())


# ---- running ---------------------------------------------------------------------------------
def support(name: str) -> Row:
    """What a primitive takes and where it runs, found by running it.

    >>> from hloom.testing.support import support
    >>> row = support("population_count")
    >>> row.takes[:3], row.runs["xla"] == row.takes
    (('int8', 'int16', 'int32'), True)
    """
    takes = taken(name)
    runs: dict[str, tuple[str, ...]] = {}
    reasons: list[tuple[str, str]] = []
    for engine in ENGINES:
        cannot = {dtype: _why_not(_smallest()[name, dtype], dtype, engine) for dtype in takes}
        runs[engine] = tuple(dtype for dtype, why in cannot.items() if why is None)
        reasons += [(dtype, why) for dtype, why in cannot.items() if why is not None]
    return Row(name, takes, runs, reasons)


@cache
def _why_not(case: Case, dtype: str, engine: str) -> str | None:
    """None if the engine runs the case, else what it says."""
    try:
        with _quiet():
            results(engine, case.fun, *case.draw(dtype, shape=(2,)))
    except EngineUnsupported as error:
        return str(error).splitlines()[0]
    return None


@contextmanager
def _quiet() -> Iterator[None]:
    """Overflow and dropped imaginary parts are no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ---- the page --------------------------------------------------------------------------------
HEAD = f"""# Engines and dtypes

Which primitive runs on which engine, and for which dtypes. The page is made by running each
primitive's smallest case in the table `hloom.testing.CASES` on every engine, here with jaxlib
{VERSION}:

    python -m hloom.testing.support > docs/engines.md

The words mean these dtypes; "numbers" are all of them but bool.

| word | dtypes |
| --- | --- |"""


def words(names: Collection[str], among: Collection[str] = DTYPES) -> str:
    """Dtypes in few words: a kind by its name, if all of `among` that are of it are there.

    >>> from hloom.testing.support import words
    >>> words({"bool", "complex64", "complex128", "float32"})
    'bool, float32, complex'
    """
    for word, members in (("all", DTYPES), ("numbers", NUMBERS), ("none", ())):
        if set(names) == set(members):
            return word
    texts: list[str] = []
    for word, members in KINDS.items():
        there = [name for name in members if name in names]
        whole = len(there) > 1 and there == [name for name in members if name in among]
        texts += [word] if whole else there
    return ", ".join(texts)


def line(row: Row) -> str:
    """A primitive's line in the table: what it takes, and what of that each engine runs."""
    cells = []
    for engine in ENGINES:
        missing = set(row.takes) - set(row.runs[engine])
        left = words(row.runs[engine], row.takes)
        less = f"all but {words(missing, row.takes)}"
        cells.append("all" if not missing else min(left, less, key=len))
    return f"| `{row.name}` | {words(row.takes)} | {' | '.join(cells)} |"


def why(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each reason that engines give: the dtypes, the primitives."""
    by_reason: dict[str, tuple[set[str], dict[str, None]]] = {}
    for row in rows:
        for dtype, reason in row.reasons:
            reason = re.sub(r" in program '.*?'| of type tensor<.*?>+", "", reason)
            reason = re.sub(r"^The (\w+) engine cannot run (\S+): ", r"\1, `\2`: ", reason)
            found, names = by_reason.setdefault(reason, (set(), {}))
            found.add(dtype)
            names[f"`{row.name}`"] = None
    for reason, (found, names) in by_reason.items():
        few = list(names)[:15]
        more = f" and {len(names) - len(few)} more" if len(names) > len(few) else ""
        yield f"- {reason} For {words(found)}: {', '.join(few)}{more}."


def page(rows: Sequence[Row]) -> str:
    """The page, as MyST."""
    kinds = [f"| {word} | {', '.join(members)} |" for word, members in KINDS.items()]
    head = [f"| primitive | takes | {' | '.join(ENGINES)} |", "| --- " * (2 + len(ENGINES)) + "|"]
    parts = [
        HEAD, *kinds, "\n## Primitives\n", *head, *map(line, rows), "\n## Why not\n", *why(rows)
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(list(map(support, primitives()))))
