"""The page of names is what looking them up gives, and README says no more than the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from hloom.testing import names

ROOT = Path(__file__).parents[2]
FOUND = names.modules()


def test_the_page_is_current() -> None:
    written = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")
    assert names.page(FOUND) == written, "run: make names"


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_what_is_promised_is_what_is_there(name: str) -> None:
    text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
    assert names.counts(FOUND) in text, f"{name} has to say: {names.counts(FOUND)}"


def test_every_name_is_listed_once_and_counted_once() -> None:
    listed = names.lists(names.LISTS.read_text(encoding="utf-8"))
    for found in FOUND:
        assert sorted(found.there + found.missing) == sorted(set(listed[found.name])), found.name
    assert len(listed["hloom"]) == 108 and "vmap" in listed["hloom"]


def test_a_name_is_there_only_if_it_leads_somewhere() -> None:
    found = names.module("hloom.tree", ["map", "no_such_name"])
    assert found == names.Module("hloom.tree", ("map",), ("no_such_name",))
    assert names.module("hloom.Array", ["at", "nothing"]).there == ("at",)


def test_a_module_that_is_not_there_has_no_names() -> None:
    for absent in ("hloom.no_such_module", "hloom.no_such_module.inner"):
        assert names.module(absent, ["f"]) == names.Module(absent, (), ("f",))


def test_only_the_paragraph_of_the_counts_is_amended(tmp_path: Path) -> None:
    page, other = tmp_path / "names.md", tmp_path / "README.md"
    old = "1 of 2,345 names are there: 1 of 2 in `hloom.lax`.\nMissing as a whole: `nn`."
    other.write_text(f"# hloom\n\nBefore. 1 of 2 holds.\n\n{old}\n\nAfter.\n")
    names.main(str(page), str(other))
    assert page.read_text(encoding="utf-8") == names.page(FOUND)
    before, paragraph, after = other.read_text().split("\n\n", 1)[1].split("\n\n")
    assert (before, after) == ("Before. 1 of 2 holds.", "After.\n")
    assert " ".join(paragraph.split()) == names.counts(FOUND)
