"""A Jaxpr as text, in the seed's format."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.core import jaxpr as ir
from hloom.core.jaxpr import Equation, Jaxpr, Literal, Var

WIDTH = 80


def _name(index: int) -> str:
    """a, b, .. z, ba, bb, ..: the number in base 26, letters for digits."""
    letters = chr(ord("a") + index % 26)
    while index := index // 26:
        letters = chr(ord("a") + index % 26) + letters
    return letters


class Printer:
    """Names variables in the order they are met, and writes."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.names: dict[Var, str] = {}
        self.used = {a for e in jaxpr.equations for a in e.inputs if isinstance(a, Var)}
        self.used.update(a for a in jaxpr.outputs if isinstance(a, Var))

    def atom(self, atom: Any) -> str:
        if isinstance(atom, Literal):
            return str(atom.value[()])
        if atom not in self.names:
            self.names[atom] = _name(len(self.names))
        return self.names[atom]

    def binder(self, var: Var, *, output: bool = False) -> str:
        if output and var not in self.used:
            return f"_:{var.aval}"
        return f"{self.atom(var)}:{var.aval}"

    def equation(self, equation: Equation, indent: str) -> str:
        tail = "".join(f" {self.atom(x)}" for x in equation.inputs)
        head = " ".join(self.binder(v, output=True) for v in equation.outputs)
        params = [
            f"{name}={param(value, indent + '  ')}" for name, value in equation.params.items()
        ]
        if not params:
            return f"{indent}{head} = {equation.primitive.name}{tail}"
        line = f"{indent}{head} = {equation.primitive.name}[{' '.join(params)}]{tail}"
        if len(line) <= WIDTH and "\n" not in line:
            return line
        inner = "".join(f"\n{indent}  {p}" for p in params)
        return f"{indent}{head} = {equation.primitive.name}[{inner}\n{indent}]{tail}"


def param(value: Any, indent: str = "") -> str:
    """One parameter's value: dtypes by name, axis pairs as lists, nested Jaxprs indented."""
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, Jaxpr):
        return text(value, indent)
    if isinstance(value, tuple) and value and all(isinstance(v, Jaxpr) for v in value):
        inner = "".join(f"\n{indent}  {text(v, indent + '  ')}" for v in value)
        return f"({inner}\n{indent})"
    if isinstance(value, tuple) and value and all(isinstance(v, tuple) for v in value):
        return "(" + ", ".join(map(_nested, value)) + ("," if len(value) == 1 else "") + ")"
    return str(value)


def _nested(value: Any) -> str:
    """Tuples of axes inside a tuple of pairs are shown as lists: `(([1], [0]), ([], []))`."""
    if isinstance(value, tuple) and all(isinstance(v, tuple) for v in value):
        return "(" + ", ".join(str(list(v)) for v in value) + ")"
    return str(value)


def text(jaxpr: Jaxpr, indent: str = "") -> str:
    """The whole Jaxpr, one equation a line."""
    printer = Printer(jaxpr)
    captured = " ".join(printer.binder(v) for v in jaxpr.inputs[: jaxpr.captured])
    inputs = " ".join(printer.binder(v) for v in jaxpr.inputs[jaxpr.captured :])
    head = f"{{ lambda {captured}; {inputs}. let"
    body = "".join("\n" + printer.equation(e, indent + "    ") for e in jaxpr.equations)
    outputs = ", ".join(printer.atom(x) for x in jaxpr.outputs) + (
        "," if len(jaxpr.outputs) == 1 else ""
    )
    return f"{head}{body}\n{indent}  in ({outputs}) }}"


ir._printers.append(text)
