"""The user's functions that control flow is given: traced, once for each signature where possible.

What a function of pytrees traces to is remembered with the function.  It depends on more than the
arguments' types: on what the function closes over, and on globals.  So these are looked at too: a
function is traced again when one of them is another object, and every time when one of them can
change without becoming another object (a list, an instance of a class).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from hloom import tree
from hloom.control.higher_order.canonical import canonical
from hloom.control.higher_order.surroundings import Seen, Surroundings, look
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.jaxpr import Atom, Jaxpr, Var
from hloom.core.operands import as_array
from hloom.core.record import Partial, Record
from hloom.core.support import float0, source
from hloom.core.support.signature import LeafNames, call_with, name_of
from hloom.core.support.tables import Table
from hloom.core.trace import Origin, Tracer, current_trace, tracing
from hloom.errors.texts import explain


class Body(NamedTuple):
    """What tracing a function of pytrees gave; `captured` are the operands for leading inputs."""

    jaxpr: Jaxpr
    captured: list[Array]
    out_tree: Any

    @property
    def out_avals(self) -> list[ShapedArray]:
        """Types of the results' leaves."""
        return self.jaxpr.out_avals


class Remembered(NamedTuple):
    """A traced function, and what it referred to then."""

    body: Body
    surroundings: Surroundings


_traced: WeakKeyDictionary[FunctionType, Table] = WeakKeyDictionary()


def trace(who: str, fun: Callable[..., Any], treedef: Any, avals: Sequence[ShapedArray]) -> Body:
    """Trace `fun(*args)`, where args are a tuple of structure `treedef` with leaves of these types.

    `who` is the public function that was given `fun`, for error texts.
    """
    key = (who, treedef, *avals, current.get().config)
    table = _traced.get(fun) if fun.__class__ is FunctionType else None
    if table is not None:
        found: Remembered | None = table.get(key)
        if found is not None and found.surroundings.hold():
            return found.body
    surroundings = look(fun)
    body = _trace(who, fun, treedef, avals, surroundings)
    if surroundings.fixed and not any(isinstance(x, Tracer) for x in body.captured):
        if table is None:
            table = _traced[fun] = Table()
        table.store(key, Remembered(body, surroundings))
    return body


def trace_holding(
    who: str, fun: Callable[..., Any], treedef: Any, avals: Sequence[ShapedArray],
    arrays: Sequence[Array],
) -> Body:  # fmt: skip
    """The same, never remembered; `arrays` too are captured where the function comes upon them."""
    around = look(fun)
    seen = [*around.seen, *[Seen({}, "", x) for x in arrays]]
    return _trace(who, fun, treedef, avals, Surroundings(seen, False))


def _trace(
    who: str,
    fun: Callable[..., Any],
    treedef: Any,
    avals: Sequence[ShapedArray],
    around: Surroundings,
) -> Body:
    whole = tree.treedef_tuple([treedef, tree.structure({})])
    record = Closure(Origin(who, fun, LeafNames(fun, whole)), {id(x) for x in around.arrays()})
    with tracing(record):
        inputs = [record.argument(aval) for aval in avals]
        out = call_with(who, fun, tree.unflatten(treedef, inputs))
        leaves, out_tree = float0.flatten(out)
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


class Closure(Record):
    """A record that captures the arrays that its function closes over, 0-d ones too.

    As literals they would give each of their values an executable of its own: think of a step size
    that is an array, and another one each time.
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


# ---- operands -----------------------------------------------------------------------------------
def arrays_of(who: str, what: str, values: Any) -> tuple[list[Array], Any]:
    """The leaves of an argument as Arrays, and its tree; TypeError names a leaf that is none."""
    leaves, treedef = float0.flatten(values)
    arrays = []
    for i, x in enumerate(leaves):
        try:
            arrays.append(x if isinstance(x, Array) else as_array(x))
        except TypeError as error:
            path = tree.keystr(tree.paths(treedef)[i])
            rule = f"{who} takes arrays and numbers; {what}{path}: {error}"
            raise TypeError(explain(rule, at=source.here())) from None
    return arrays, treedef


def held(values: Any) -> Any:
    """The same with Arrays in place of NumPy's, which a function that is run could write into."""
    return tree.map(lambda x: as_array(x) if isinstance(x, np.ndarray) else x, values)


def unknown(x: Any) -> bool:
    """Whether Python can't look at a value, since it differs between examples or comes later."""
    return isinstance(x, Tracer) and x.concrete() is None


def recording() -> bool:
    """Whether what is computed now is being written down, by `jit` or the like, to run later."""
    trace: Any = current_trace()
    while trace is not None:
        if isinstance(trace, Record) and not isinstance(trace, Partial):
            return True
        trace = trace.parent
    return False
