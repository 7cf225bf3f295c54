"""The user's functions that control flow is given: traced, once for each signature where possible.

What a function of pytrees traces to is remembered with the function.  It depends on more than the
arguments' types: on what the function closes over, and on globals.  So these are looked at too: a
function is traced again when one of them is another object, and every time when one of them can
change without becoming another object (a list, an instance of a class).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from hloom import tree
from hloom.config import current
from hloom.control.canonical import canonical
from hloom.core import source
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Atom, Jaxpr, Var
from hloom.core.operands import as_array
from hloom.core.record import Partial, Record
from hloom.core.signature import LeafNames
from hloom.core.tables import Table
from hloom.core.trace import Origin, Tracer, current_trace, tracing
from hloom.errors.texts import explain

# What can't change: the object is the value.
_FIXED = (
    bool, int, float, complex, str, bytes, type(None), type, ModuleType, BuiltinFunctionType,
    np.dtype, np.generic, np.ufunc,
)  # fmt: skip
_MANY = 100  # surroundings that are worth looking at


class Body(NamedTuple):
    """What tracing a function of pytrees gave; `captured` are the operands for leading inputs."""

    jaxpr: Jaxpr
    captured: list[Array]
    out_tree: Any

    @property
    def out_avals(self) -> list[ShapedArray]:
        """Types of the results' leaves."""
        return self.jaxpr.out_avals


class Seen(NamedTuple):
    """One thing a function refers to: in a cell, or by name in its globals."""

    where: CellType | dict[str, Any]
    name: str
    value: Any

    def holds(self) -> bool:
        """Whether the same is there now."""
        if isinstance(self.where, CellType):
            return self.where.cell_contents is self.value
        return self.where.get(self.name, _MISSING) is self.value


_MISSING: Any = object()


class Remembered(NamedTuple):
    """A traced function, and what it referred to then."""

    body: Body
    seen: list[Seen]


_traced: WeakKeyDictionary[FunctionType, Table] = WeakKeyDictionary()


def trace(who: str, fun: Callable[..., Any], treedef: Any, avals: Sequence[ShapedArray]) -> Body:
    """Trace `fun(*args)`, where args are a tuple of structure `treedef` with leaves of these types.

    `who` is the public function that was given `fun`, for error texts.
    """
    table = None
    key = (who, treedef, *avals, current.get().config)
    if fun.__class__ is FunctionType:
        table = _traced.get(fun)
        if table is None:
            table = _traced[fun] = Table()
        found: Remembered | None = table.get(key)
        if found is not None and all(seen.holds() for seen in found.seen):
            return found.body
    seen: list[Seen] = []
    fixed = _look(fun, seen)
    body = _trace(who, fun, treedef, avals, seen)
    if table is not None and fixed and not any(isinstance(x, Tracer) for x in body.captured):
        table.store(key, Remembered(body, seen))
    return body


def _trace(
    who: str, fun: Callable[..., Any], treedef: Any, avals: Sequence[ShapedArray], seen: list[Seen]
) -> Body:
    whole = tree.treedef_tuple([treedef, tree.structure({})])
    record = Closure(Origin(who, fun, LeafNames(fun, whole)), {id(x) for x in _arrays(seen)})
    with tracing(record):
        inputs = [record.argument(aval) for aval in avals]
        out = fun(*tree.unflatten(treedef, inputs))
        leaves, out_tree = tree.flatten(out)
        result = partial(_result, who, fun, out_tree)
        jaxpr, captured = record.close(inputs, [result(x, i) for i, x in enumerate(leaves)])
    jaxpr.origin = None  # it holds the function, and with it whatever that closes over
    return Body(canonical(jaxpr), captured, out_tree)


def _result(who: str, fun: Any, out_tree: Any, x: Any, index: int) -> Array:
    try:
        return as_array(x)
    except TypeError as error:
        path = tree.keystr(tree.paths(out_tree)[index])
        raise TypeError(
            f"{who}: `{name_of(fun)}` must return arrays and numbers; its result{path} is {error}"
        ) from None


def name_of(fun: Any) -> str:
    """A function's name, or that of its class."""
    while isinstance(fun, partial):
        fun = fun.func
    return str(getattr(fun, "__name__", None) or type(fun).__name__)


class Closure(Record):
    """A record that captures the arrays that its function closes over, 0-d ones too.

    As literals they would give each of their values a program of its own: a step size that is an
    array and another one each time.
    """

    def __init__(self, origin: Origin, held: set[int]):
        super().__init__(origin)
        self.held = held

    def atom(self, x: Array) -> Atom:
        if id(x) in self.held and not isinstance(x, Tracer):
            found = self.captured.get(id(x))
            if found is None:
                found = self.captured[id(x)] = (Var(x.aval), x)
            return found[0]
        return super().atom(x)


# ---- what a function refers to ----------------------------------------------------------------
def _look(fun: Any, seen: list[Seen]) -> bool:
    """List what a function refers to, and what functions in there do; False: it may change."""
    if fun.__class__ is not FunctionType:
        return False
    pending, known = [fun], {id(fun)}
    fixed = True
    while pending:
        here = pending.pop()
        for found in _references(here):
            if found.value is fun:  # it would keep itself alive
                continue
            if len(seen) >= _MANY:
                return False
            seen.append(found)
            value = found.value
            if value.__class__ is FunctionType and not _is_pure(value):
                if id(value) not in known:
                    known.add(id(value))
                    pending.append(value)
            elif not _is_fixed(value):
                fixed = False
        defaults = [*(here.__defaults__ or ()), *(here.__kwdefaults__ or {}).values()]
        fixed = fixed and all(map(_is_fixed, defaults))
    return fixed


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


def _is_pure(fun: FunctionType) -> bool:
    """Functions of this package, and those that are jitted, which are asked to be pure."""
    return hasattr(fun, "jitted") or (fun.__module__ or "").partition(".")[0] == "hloom"


def _is_fixed(value: Any) -> bool:
    if isinstance(value, Array):
        return not isinstance(value, Tracer)
    if isinstance(value, tuple):
        return all(map(_is_fixed, value))
    return isinstance(value, _FIXED) or value.__class__ is FunctionType and _is_pure(value)


def _arrays(seen: Sequence[Seen]) -> Iterator[Array]:
    """Arrays referred to, those in lists, tuples and dicts too."""
    pending = [found.value for found in seen]
    while pending:
        value = pending.pop()
        if isinstance(value, Array):
            yield value
        elif value.__class__ in (list, tuple, dict) and len(value) <= _MANY:
            pending += value.values() if value.__class__ is dict else value


# ---- operands -----------------------------------------------------------------------------------
def arrays_of(who: str, what: str, values: Any) -> tuple[list[Array], Any]:
    """The leaves of an argument as Arrays, and its tree; TypeError names a leaf that is none."""
    leaves, treedef = tree.flatten(values)
    arrays = []
    for i, x in enumerate(leaves):
        try:
            arrays.append(x if isinstance(x, Array) else as_array(x))
        except TypeError as error:
            path = tree.keystr(tree.paths(treedef)[i])
            rule = f"{who}: {what}{path} is {error}. It takes arrays and numbers."
            raise TypeError(explain(rule, at=source.here())) from None
    return arrays, treedef


def recording() -> bool:
    """Whether what is computed now is being written down, by `jit` or the like, to run later."""
    trace: Any = current_trace()
    while trace is not None:
        if isinstance(trace, Record) and not isinstance(trace, Partial):
            return True
        trace = trace.parent
    return False
