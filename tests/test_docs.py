"""Every python block of README.md and of the pages under docs/ runs.

The blocks of a page run in order and share their names. A block that starts with `>>>` is checked
against the output it shows; any other block must run through, unless its first line is

    # raises: ErrorName

and then it must raise exactly that. Pages under docs/errors show each failing block with a fixed
one after it.
"""

from __future__ import annotations

import doctest
import io
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
ERRORS = ROOT / "docs" / "errors"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ERROR_PAGES = [page for page in PAGES if page.parent == ERRORS and page.name != "index.md"]

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RAISES = re.compile(r"# raises: (\w+)\n")


class Block(NamedTuple):
    code: str
    line: int  # of the page, counted from 1, where the code starts

    @property
    def error(self) -> str | None:
        match = RAISES.match(self.code)
        return match and match[1]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], text.count("\n", 0, match.start(1)) + 1) for match in FENCE.finditer(text)
    ]


def check_output(block: Block, page: Path, scope: dict[str, Any]) -> None:
    example = doctest.DocTestParser().get_doctest(
        block.code, scope, page.name, str(page), block.line - 1
    )
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    failed = runner.run(example, out=report.write, clear_globs=False).failed
    scope.update(example.globs)
    if failed:
        pytest.fail(report.getvalue(), pytrace=False)


def run(block: Block, page: Path, scope: dict[str, Any]) -> None:
    if block.code.startswith(">>>"):
        check_output(block, page, scope)
        return
    # Blank lines in front make tracebacks, and hloom's own errors, name the line of the page.
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    if block.error is None:
        exec(code, scope)
        return
    with pytest.raises(Exception) as caught:
        exec(code, scope)
    assert caught.type.__name__ == block.error


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name)
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        run(block, page, scope)


LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def test_links_lead_to_files() -> None:
    """Anchors and references are checked where the pages are built: `make docs`."""
    for page in PAGES:
        for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            assert (page.parent / link).exists(), f"{name(page)}: {link}"


@pytest.mark.parametrize("page", ERROR_PAGES, ids=name)
def test_error_page_follows_each_failing_block_with_a_fixed_one(page: Path) -> None:
    fails = [block.error is not None for block in blocks(page)]
    assert True in fails
    for this, following in zip(fails, [*fails[1:], True]):
        assert not (this and following)


def test_a_block_knows_its_error_and_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# title\n\n```python\n# raises: ValueError\nint('x')\n```\n")
    assert blocks(page) == [Block("# raises: ValueError\nint('x')\n", 4)]
    assert blocks(page)[0].error == "ValueError"
    run(blocks(page)[0], page, {})


@pytest.mark.parametrize("code", ["# raises: KeyError\nint('x')\n", ">>> 1 + 1\n3\n", "1 / 0\n"])
def test_a_block_that_is_wrong_fails(code: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ZeroDivisionError, pytest.fail.Exception)):
        run(Block(code, 1), tmp_path / "page.md", {})
