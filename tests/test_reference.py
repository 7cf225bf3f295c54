"""The API reference: every public name is on one page, with words, and with how it is called."""

from __future__ import annotations

import collections
import doctest
import inspect
import re

import pytest

import hloom
import hloom.numpy as jnp
from docs import markup, public, reference
from hloom import lax
from hloom.core.context import OPTIONS

ENTRY = re.compile(r"^\.\. auto(?:function|class|exception|data):: (\S+)$", re.MULTILINE)
MODULE = re.compile(r"^\.\. py:(?:current)?module:: (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages()


def names(text: str) -> list[str]:
    """The full names of the entries on a page."""
    module = MODULE.search(text)
    return [f"{module[1]}.{name}" for name in ENTRY.findall(text)] if module else []


@pytest.mark.parametrize("module", [hloom, jnp, lax], ids=["hloom", "numpy", "lax"])
def test_every_public_name_is_on_exactly_one_page(module: object, pages: dict[str, str]) -> None:
    listed = collections.Counter(name for text in pages.values() for name in names(text))
    there = [x for x in getattr(module, "__all__", dir(module)) if not x.startswith("_")]
    places = {
        name: listed[f"{module.__name__}.{name}"]
        for name in there
        if not inspect.ismodule(getattr(module, name))
    }
    assert len(places) > 30
    assert {name: count for name, count in places.items() if count != 1} == {}


def test_every_public_module_has_a_page() -> None:
    modules = {f"hloom.{x}" for x in hloom.__all__ if inspect.ismodule(getattr(hloom, x))}
    assert modules <= {*public.MODULES}


def test_every_entry_says_something() -> None:
    silent = [path for path, entry in public.entries().items() if not public.text_of(entry)]
    assert silent == []


def test_every_row_of_the_tables_says_something(pages: dict[str, str]) -> None:
    rows = [row.rstrip() for text in pages.values() for row in text.splitlines()]
    assert len([row for row in rows if row.startswith("     - ")]) > 900
    assert "     -" not in rows


def test_all_options_are_listed(pages: dict[str, str]) -> None:
    for name in OPTIONS:
        assert f"``{name}``" in pages["hloom/options"]


def test_array_has_its_attributes_methods_and_updates(pages: dict[str, str]) -> None:
    text = pages["hloom/arrays"]
    members = ("autoattribute:: Array.T", "automethod:: Array.sum", "AtIndex", "``x.cpu``")
    for listed in (*members, "``x @ y``\n     - :py:obj:`hloom.numpy.matmul`"):
        assert listed in text


def test_a_new_function_is_on_the_page_of_the_family_that_defines_it() -> None:
    entry = public.Entry("hloom.numpy", "new", None, "hloom.numpy.pointwise.powers", 1, None)
    assert (entry.page, reference.section_of(entry)) == ("numpy/pointwise", entry.home)


def test_pages_name_only_places_that_there_are() -> None:
    """A row of `PLACES` that decides about nothing is a row of a module that is gone."""
    homes = [f"{x.module} {x.home}.{x.name}." for x in public.entries().values()]
    rows = [f"{module} {place}." for module, at in public.PLACES.items() for place in at]
    assert [row for row in rows if not any(home.startswith(row) for home in homes)] == []


def test_signatures_are_those_of_the_decorated_functions() -> None:
    assert public.signature(jnp.sin) == "(x, /)"
    assert public.signature(lax.sin) == "(x, *, accuracy=None)"
    assert "where=None" in str(public.signature(jnp.sum))
    assert "static_argnums: int | Iterable[int] | None = None" in str(public.signature(hloom.jit))
    wrapped = [
        entry.path
        for entry in public.entries().values()
        if inspect.isroutine(entry.value) and public.is_ours(entry)
        if public.signature(entry.value) in (None, "(*args, **kwargs)")
    ]
    assert wrapped == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("`x_` to the 2**n, |y|", [r"``x_`` to the 2\*\*n, \|y\|", ""]),
        ("many `x`s", [r"many ``x``\ s", ""]),
        (">>> 1 + 1\n2", [">>> 1 + 1", "2", ""]),
        (
            "As in\n\n    f32[3] -> f32[]\n\n    more",
            ["As in", "", "::", "", "    f32[3] -> f32[]"],
        ),
        ("```python\nx = *y\n```", [".. code-block:: python", "", "    x = *y", ""]),
    ],
)
def test_docstrings_keep_their_characters(text: str, lines: list[str]) -> None:
    assert markup.rst(text)[: len(lines)] == lines


def test_docstrings_are_what_the_pages_take() -> None:
    """Names in pairs of backticks; indented are code and what goes on in a list, nothing else."""
    wrong = []
    for path, entry in public.entries().items():
        for kind, block in markup.blocks(public.text_of(entry)):
            indented = [line for line in block.splitlines()[1:] if line.startswith(" ")]
            listed = [line for line in block.splitlines() if markup.ITEM.match(line)]
            if kind == "text" and (indented or block.count("`") % 2):
                wrong.append((path, block))
            if kind == "list" and len(indented) + len(listed) != len(block.splitlines()):
                wrong.append((path, block))
    assert wrong == []


def test_names_of_public_functions_are_links_but_not_those_of_parameters() -> None:
    link = public.linked("hloom.numpy.take", jnp.take)
    assert link("where") == "hloom.numpy.where"
    assert link("lax.gather") == "hloom.lax.gather"
    assert link("indices") is None  # a parameter of `take`, and a function beside it
    assert link("numpy.ndarray") is None


@pytest.mark.parametrize(
    "module", [markup, public, reference], ids=["markup", "public", "reference"]
)
def test_examples(module: object) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(module, optionflags=options).failed == 0
