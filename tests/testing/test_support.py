"""The page of engines and dtypes is what running the table gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from hloom import testing
from hloom.engines.jaxlib_compat import VERSION
from hloom.testing import support

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


LINES = {line.split("`")[1]: line for line in PAGE.read_text().splitlines() if line[:3] == "| `"}


def test_the_page_says_what_every_primitive_takes() -> None:
    takes = {name: support.words(support.taken(name)) for name in testing.primitives()}
    written = {name: line.split(" | ")[1] for name, line in LINES.items()}
    assert takes == written, "run: make engines"


# All of them take two minutes: the programs are compiled and verified.
@pytest.mark.parametrize("name", list(testing.primitives())[::11])
@pytest.mark.skipif(
    f"\n{VERSION}:\n" not in PAGE.read_text(), reason="written with another version of jaxlib"
)
def test_the_page_says_where_a_primitive_runs(name: str) -> None:
    assert support.line(support.support(name)) == LINES[name], "run: make engines"


def test_xla_and_numpy_run_all_that_a_primitive_takes() -> None:
    for name in ("sin", "gather", "lu", "scan", "reduce_precision"):
        row = support.support(name)
        assert row.runs["xla"] == row.runs["numpy"] == row.takes, name


def test_dtypes_in_words() -> None:
    words, every = support.words, support.DTYPES
    assert words(every) == "all" and words(every[1:]) == "numbers" and words(()) == "none"
    assert words({"int8", "float16", "bfloat16", "float32", "float64"}) == "int8, floats"
    assert words({"float64"}, {"float32", "float64"}) == "float64"
