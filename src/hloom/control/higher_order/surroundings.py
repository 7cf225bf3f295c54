"""What a function refers to besides its arguments: what it closes over, and globals.

It says when a loop body, traced before, need not be traced again, and which 0-d arrays must stay
operands.  Two rows of `benchmarks` need it: "cond, eager" takes 3.6 times as long if its branches
are traced at every call (51 us for 14), "scan of 1,000 scalars, eager" 2.2 times (50 us for 23).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from hloom.core.array import Array
from hloom.core.trace import Tracer

# What can't change: the object is the value.
_FIXED = (
    bool, int, float, complex, str, bytes, type(None), type, ModuleType, BuiltinFunctionType,
    np.dtype, np.generic, np.ufunc,
)  # fmt: skip
_MANY = 100  # surroundings that are worth looking at
_MISSING: Any = object()


class Seen(NamedTuple):
    """One thing a function refers to: in a cell, or by name in its globals."""

    where: CellType | dict[str, Any]
    name: str
    value: Any

    def holds(self) -> bool:
        """Whether the same is there now."""
        if isinstance(self.where, CellType):
            try:
                return self.where.cell_contents is self.value
            except ValueError:  # emptied
                return False
        return self.where.get(self.name, _MISSING) is self.value


class Surroundings(NamedTuple):
    """All that a function refers to; `fixed` if none of it changes without being another object."""

    seen: list[Seen]
    fixed: bool

    def hold(self) -> bool:
        """Whether all is as it was."""
        return all(seen.holds() for seen in self.seen)

    def arrays(self) -> Iterator[Array]:
        """Arrays referred to, those in lists, tuples and dicts too."""
        pending = [seen.value for seen in self.seen]
        while pending:
            value = pending.pop()
            if isinstance(value, Array):
                yield value
            elif value.__class__ in (list, tuple, dict) and len(value) <= _MANY:
                pending += value.values() if value.__class__ is dict else value


def look(fun: Any) -> Surroundings:
    """What a function refers to, and what the functions among that do."""
    seen: list[Seen] = []
    fixed = True
    while isinstance(fun, (partial, MethodType)):
        fixed = False
        if isinstance(fun, partial):
            seen += [Seen({}, "", x) for x in (*fun.args, *fun.keywords.values())]
        fun = fun.func if isinstance(fun, partial) else fun.__func__
    if fun.__class__ is not FunctionType:
        return Surroundings(seen, fixed=False)
    pending, known = [fun], {id(fun)}
    while pending and len(seen) <= _MANY:
        here = pending.pop()
        if _is_pure(here):
            continue
        for found in _references(here):
            value = found.value
            if value is fun:  # it would keep itself alive
                continue
            seen.append(found)
            if value.__class__ is not FunctionType:
                fixed = fixed and _is_fixed(value)
            elif id(value) not in known:
                known.add(id(value))
                pending.append(value)
        fixed = fixed and all(map(_is_fixed, _defaults(here)))
    return Surroundings(seen, fixed and not pending)


def _references(fun: FunctionType) -> Iterator[Seen]:
    for cell, name in zip(fun.__closure__ or (), fun.__code__.co_freevars):
        try:
            yield Seen(cell, name, cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    names = _names(fun.__code__)
    yield from [Seen(fun.__globals__, n, fun.__globals__[n]) for n in names if n in fun.__globals__]


def _names(code: CodeType) -> set[str]:
    """Names that the code, and the functions defined in it, look up."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _defaults(fun: FunctionType) -> Sequence[Any]:
    return [*(fun.__defaults__ or ()), *(fun.__kwdefaults__ or {}).values()]


def _is_pure(fun: FunctionType) -> bool:
    """Functions of this package, and those that are jitted, which are asked to be pure."""
    return hasattr(fun, "jitted") or (fun.__module__ or "").partition(".")[0] == "hloom"


def _is_fixed(value: Any) -> bool:
    if isinstance(value, Array):
        return not isinstance(value, Tracer)
    if isinstance(value, tuple):
        return all(map(_is_fixed, value))
    return isinstance(value, _FIXED) or value.__class__ is FunctionType and _is_pure(value)
