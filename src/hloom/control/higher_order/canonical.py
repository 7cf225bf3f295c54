"""One Jaxpr for all that are equal, so that a function made anew each call is compiled once.

`lambda c, x: ...` in a loop is another function each time round, and traced each time; what it
traces to is the same, and so are its executable and its derivatives, which are cached with it.
"""

from __future__ import annotations

from typing import Any

from hloom.core.jaxpr import Equation, Jaxpr, Literal, Var
from hloom.core.support.tables import Table

_known = Table()


def canonical(jaxpr: Jaxpr) -> Jaxpr:
    """The first Jaxpr met that equals this one, in its equations and their places in the source."""
    key = _structure(jaxpr)
    try:
        found: Jaxpr | None = _known.get(key)
    except TypeError:  # somebody's primitive has a parameter that can't be hashed
        return jaxpr
    if found is None:
        found = _known.store(key, jaxpr)
    return found


def _structure(jaxpr: Jaxpr) -> tuple[Any, ...]:
    """All that makes a Jaxpr what it is, variables numbered."""
    numbers: dict[Var, int] = {var: i for i, var in enumerate(jaxpr.inputs)}

    def atom(x: Any) -> Any:
        return numbers[x] if x.__class__ is Var else _literal(x)

    rows: list[Any] = [jaxpr.captured, tuple(jaxpr.in_avals)]
    for equation in jaxpr.equations:
        inputs = tuple([atom(x) for x in equation.inputs])
        rows.append((*_operation(equation), inputs, tuple([v.aval for v in equation.outputs])))
        for var in equation.outputs:
            numbers[var] = len(numbers)
    return (*rows, tuple([atom(x) for x in jaxpr.outputs]))


def _literal(x: Literal) -> tuple[Any, ...]:
    return x.aval, x.value.tobytes()


def _operation(equation: Equation) -> tuple[Any, ...]:
    """Primitive, parameters and place.  The cached Jaxpr keeps the code alive, so its id unique."""
    source = equation.source
    place = (id(source[0]), source[1]) if source is not None else None
    params = [(name, _param(value)) for name, value in equation.params.items()]
    return equation.primitive, place, tuple(params)


def _param(value: Any) -> Any:
    if isinstance(value, Jaxpr):
        return canonical(value)
    if isinstance(value, tuple):
        return tuple([_param(x) for x in value])
    return value.__class__, value  # True, 1 and 1.0 are equal keys
