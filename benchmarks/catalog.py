"""All rows, by group."""

from __future__ import annotations

from benchmarks import rows_compile, rows_dispatch, rows_kernels, rows_linalg, rows_loops
from benchmarks.rows import Row

GROUPS: dict[str, list[Row]] = {
    "dispatch": rows_dispatch.ROWS,
    "compile": rows_compile.ROWS,
    "kernels": rows_kernels.ROWS,
    "linalg": rows_linalg.ROWS,
    "loops": rows_loops.ROWS,
}
ROWS: dict[str, Row] = {row.name: row for rows in GROUPS.values() for row in rows}


def row(name: str) -> Row:
    return ROWS[name]


def select(groups: list[str], texts: list[str]) -> list[Row]:
    """Rows of these groups (all if none is given) whose name holds one of these texts.

    A row whose reference is another row brings that row along, so that the ratio can be taken.
    """
    pool = [row for group in groups or GROUPS for row in GROUPS[group]]
    chosen = {row.name for row in pool if not texts or any(text in row.name for text in texts)}
    chosen |= {ROWS[name].reference[1] for name in chosen}
    return [row for row in ROWS.values() if row.name in chosen]
