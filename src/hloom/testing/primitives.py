"""All primitives, and which of them a case is made of."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from hloom import control, ops
from hloom.config import enable_x64
from hloom.control.jit.abstract import make_jaxpr
from hloom.core.jaxpr import Equation, Jaxpr
from hloom.core.primitive import Primitive
from hloom.testing.case import Case


def _modules() -> Iterator[ModuleType]:
    for package in (ops, control):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(info.name)


@cache
def primitives() -> dict[str, Primitive]:
    """Every primitive, by name.

    >>> from hloom import testing
    >>> testing.primitives()["sin"]
    sin
    """
    found = [x for module in _modules() for x in vars(module).values() if isinstance(x, Primitive)]
    return {primitive.name: primitive for primitive in sorted(found, key=lambda p: p.name)}


def used(case: Case, dtype: Any) -> set[str]:
    """The names of the primitives in the case's jaxpr, also of those in jaxprs inside.

    >>> from hloom import testing
    >>> sorted(testing.used(testing.FAMILIES["sorting"][0], "float32"))
    ['sort']
    """
    with enable_x64():
        closed = make_jaxpr(case.fun)(*case.draw(dtype))
    return {equation.primitive.name for equation in equations_in(closed.jaxpr)}


def equations_in(jaxpr: Jaxpr) -> Iterator[Equation]:
    """The equations of a jaxpr, and of those inside it.

    >>> from hloom import testing
    >>> jaxpr = hloom.make_jaxpr(hloom.jit(lambda x: x + 1))(2.0).jaxpr
    >>> [equation.primitive for equation in testing.equations_in(jaxpr)]
    [jit, add]
    """
    for equation in jaxpr.equations:
        yield equation
        for inner in equation.inner_jaxprs():
            yield from equations_in(inner)
