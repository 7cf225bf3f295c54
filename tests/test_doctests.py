"""Every `>>>` example in a public docstring runs, and prints what it says it prints."""

from __future__ import annotations

import doctest
import importlib
import io
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.lax
import hloom.numpy

# What a docstring may use without an import.
GLOBALS = {"hloom": hloom, "jnp": hloom.numpy, "lax": hloom.lax, "np": np}

FACADES = [hloom, hloom.numpy, hloom.lax, hloom.lax.linalg]


def modules() -> Iterator[ModuleType]:
    """The facades first, so that an example is named the way a user writes it."""
    yield from FACADES
    for found in pkgutil.walk_packages(hloom.__path__, "hloom."):
        if not found.name.rpartition(".")[2].startswith("_"):
            yield importlib.import_module(found.name)


def is_ours(value: Any) -> bool:
    """Not re-exported from elsewhere, and with a docstring that is not merely its class's."""
    doc = getattr(value, "__doc__", None)
    home = getattr(value, "__module__", None)
    return (
        isinstance(doc, str)
        and isinstance(home, str)
        and home.split(".")[0] == "hloom"
        and doc != type(value).__doc__
    )


def members(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, type):
        for key, member in vars(value).items():
            if isinstance(getattr(member, "__doc__", None), str) and not key.startswith("__"):
                yield f"{name}.{key}", member


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for key, value in vars(module).items():
        if not key.startswith("_") and is_ours(value):
            yield f"{module.__name__}.{key}", value


def examples() -> Iterator[doctest.DocTest]:
    finder = doctest.DocTestFinder(recurse=False)
    seen: set[int] = set()
    for module in modules():
        objects = [(module.__name__, module)]
        for name, value in public(module):
            objects += members(name, value)
        for name, value in objects:
            if id(value) not in seen:
                seen.add(id(value))
                yield from finder.find(value, name, module, globs=GLOBALS)


EXAMPLES = [example for example in examples() if example.examples]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example(example: doctest.DocTest) -> None:
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    result = runner.run(example, out=report.write, clear_globs=False)
    if result.failed:
        pytest.fail(report.getvalue(), pytrace=False)


@pytest.mark.parametrize("facade", FACADES, ids=lambda module: module.__name__)
def test_every_public_function_has_an_example(facade: ModuleType) -> None:
    documented = {name for name, value in public(facade) if ">>>" in value.__doc__}
    functions = {
        f"{facade.__name__}.{key}"
        for key, value in vars(facade).items()
        if callable(value)
        and not isinstance(value, type)
        and not key.startswith("_")
        and not key.endswith("_p")  # a primitive: its public function stands beside it
        and str(getattr(value, "__module__", "")).split(".")[0] == "hloom"
    }
    assert sorted(functions - documented) == []
