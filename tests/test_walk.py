"""docs/walk.md shows what docs/walk.py finds in the source today."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGE = (DOCS / "walk.md").read_text(encoding="utf-8")
LISTING = re.compile(r"^<!-- calls (\w+)[^\n]* -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURES = ("layers.svg", "traces.svg")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the program fills, in a process where nothing was called before."""
    folder = tmp_path_factory.mktemp("walk")
    done = subprocess.run(
        [sys.executable, str(DOCS / "walk.py"), str(folder)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder


def drawn(picture: Path) -> tuple[list[str], int]:
    """Texts of an SVG, and how many lines and boxes: the digits are matplotlib's own."""
    text = picture.read_text(encoding="utf-8")
    return re.findall(r"<text[^>]*>(.*?)</text>", text, re.DOTALL), text.count("<path")


def test_the_page_is_what_the_program_makes_now(made: Path) -> None:
    assert (made / "walk.md").read_text(encoding="utf-8") == PAGE, "run `make walk`"


@pytest.mark.parametrize("name", PICTURES)
def test_the_drawings_are_what_the_program_makes_now(made: Path, name: str) -> None:
    now = drawn(made / "pictures" / name)
    assert now == drawn(DOCS / "pictures" / name), "run `make walk`"
    assert len(now[0]) > 10 and now[1] > 10


def test_a_known_call_is_a_look_up_and_a_run() -> None:
    listings = dict(LISTING.findall(PAGE))
    for name, entry in (("second", "reduction.call"), ("jitted", "_entry_1.call")):
        assert listings[name].split()[::2] == [entry, "one.run"]


def test_every_function_that_is_listed_is_explained() -> None:
    listed = {line.split()[0] for _, text in LISTING.findall(PAGE) for line in text.splitlines()}
    prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(listed) > 35
    assert sorted(listed - set(re.findall(r"`([\w.]+)`", prose))) == []
