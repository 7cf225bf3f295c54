"""`cond` and `switch`: one of several functions, chosen by a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes, tree
from hloom.control.cond.primitive import cond_p
from hloom.control.higher_order.canonical import canonical
from hloom.control.higher_order.derive import Flags, derived, joined
from hloom.control.higher_order.functions import Body, arrays_of, held, recording, trace
from hloom.control.higher_order.mismatches import branches_differ, check_callable
from hloom.control.jit.primitive import jit_p
from hloom.core.array import Array
from hloom.core.context import current
from hloom.core.jaxpr import Equation, Jaxpr, Var
from hloom.core.operands import as_array
from hloom.core.support import source
from hloom.core.support.signature import name_of
from hloom.core.support.strict import strict
from hloom.errors.texts import explain
from hloom.ops.common import linear
from hloom.ops.pointwise.compare import clamp, ne
from hloom.ops.pointwise.convert import convert_element_type, convert_element_type_p

_MISSING: Any = object()
INT32 = np.dtype(np.int32)


@strict
def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _MISSING,
) -> Any:
    """`true_fun(*operands)` where the predicate holds, else `false_fun(*operands)`; one is run.

    `pred` is a 0-d bool or number.  Operands and results are pytrees, and both functions give the
    same tree of the same types.  Both are traced.  Under `vmap` with a predicate that differs
    between examples both are run, and results are chosen; derivatives and loops are those of a run
    for each example: no NaN comes from what is not chosen.  `operand` gives one operand by keyword.

    Raises TypeError for a predicate that is not 0-d, or functions that give different types.
    Differs from `hloom.numpy.where`: what is not chosen is not computed.

    >>> lax.cond(jnp.float32(-2) > 0, lambda x: x, lambda x: -x, jnp.float32(-2))
    Array(2., dtype=float32)
    """
    if operand is not _MISSING:
        if operands:
            raise TypeError("cond takes operands by position or one as operand=; got both")
        operands = (operand,)
    if not callable(true_fun) and len(operands) == 2 and callable(false_fun):
        return _cond_of_two_operands(pred, true_fun, false_fun, *operands)
    check_callable("cond", true_fun=true_fun, false_fun=false_fun)
    index = _predicate(pred)
    known = index.concrete()
    chosen = None if known is None else int(bool(known))
    funs, names = (false_fun, true_fun), ("false_fun", "true_fun")
    return _choose("cond", index, chosen, funs, names, operands)


def _cond_of_two_operands(pred: Any, x: Any, true_fun: Any, y: Any, false_fun: Any) -> Any:
    """The signature of old: an operand before each function."""
    return cond(pred, lambda x, y: true_fun(x), lambda x, y: false_fun(y), x, y)


def _predicate(pred: Any) -> Array:
    """A predicate as bool[]; numbers hold unless they are 0."""
    try:
        index = as_array(pred)
    except TypeError as error:
        rule = f"cond takes a 0-d bool or number as predicate; it is {error}"
        raise TypeError(explain(rule, at=source.here())) from None
    if index.aval.shape:
        rule = f"cond takes a 0-d predicate, which chooses for all; got {index.aval}"
        ways = [
            ("jnp.where(p, a, b)", "choose element by element"),
            ("p.any() or p.all()", "one truth value"),
            ("hloom.vmap(lambda p, x: lax.cond(p, f, g, x))(p, x)", "one cond for each element"),
        ]
        raise TypeError(explain(rule, ways=ways, at=source.here()))
    if index.aval.kind == "bool":
        return index
    return ne(index, linear.constant(0, index.aval.dtype))  # type: ignore[no-any-return]


@strict
def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = _MISSING,
) -> Any:
    """`branches[index](*operands)`; an index out of range takes the nearest branch.

    `index` is a 0-d integer.  Operands and results are pytrees, and all branches give the same tree
    of the same types.  Raises TypeError for another index, or where branches differ; ValueError for
    no branches.  Differs from a list in Python: negative indices don't count from the end.

    >>> lax.switch(2, [lambda x: x, lambda x: x * x, lambda x: -x], 3)
    Array(-3, dtype=int32, weak_type=True)
    """
    if operand is not _MISSING:
        if operands:
            raise TypeError("switch takes operands by position or one as operand=; got both")
        operands = (operand,)
    branches = list(branches)
    if not branches:
        raise ValueError("switch takes at least one branch; got none")
    check_callable("switch", **{f"branches[{i}]": fun for i, fun in enumerate(branches)})
    number = _index(index)
    if len(branches) == 1:
        return branches[0](*operands)
    last = min(len(branches) - 1, int(dtypes.iinfo(number.aval.dtype).max))
    known = number.concrete()
    chosen = None if known is None else min(max(int(known), 0), last)
    if chosen is None or recording():
        low, high = (linear.constant(n, number.aval.dtype) for n in (0, last))
        held = clamp(low, number, high)
        number = held if held.aval.dtype == INT32 else convert_element_type(held, INT32)
    names = [f"branches[{i}]" for i in range(len(branches))]
    return _choose("switch", number, chosen, branches, names, operands)


def _index(index: Any) -> Array:
    try:
        number = as_array(index)
    except TypeError as error:
        raise TypeError(f"switch takes a 0-d integer as index; it is {error}") from None
    if number.aval.shape or number.aval.kind not in ("signed", "unsigned"):
        rule = f"switch takes a 0-d integer as index; got {number.aval}"
        kind = number.aval.kind
        ways = [("lax.cond(p, true_fun, false_fun, x)", "for a bool")] if kind == "bool" else []
        raise TypeError(explain(rule, ways=ways, at=source.here()))
    return number


# ---- the choice -------------------------------------------------------------------------------
def _choose(
    who: str,
    index: Array,
    chosen: int | None,
    funs: Sequence[Callable[..., Any]],
    names: Sequence[str],
    operands: tuple[Any, ...],
) -> Any:
    """Trace all branches; apply the chosen one, or the primitive where that is not known yet."""
    if chosen is not None and current.get().config.disable_jit:
        return funs[chosen](*held(operands))
    leaves, treedef = arrays_of(who, "operands", operands)
    avals = [x.aval for x in leaves]
    bodies = [trace(who, fun, treedef, avals) for fun in funs]
    order = -1 if who == "cond" else 1  # true_fun first, as the user wrote them
    branches_differ(who, names[::order], funs[::order], bodies[::order])
    weak = [all(x.weak_type for x in column) for column in zip(*[b.out_avals for b in bodies])]
    jaxprs = [_strong(b.jaxpr, weak) for b in bodies]
    if chosen is not None and not recording():
        params = {"name": name_of(funs[chosen]), "jaxpr": jaxprs[chosen]}
        outs = jit_p.apply([*bodies[chosen].captured, *leaves], params)
    else:
        wide, captured = joined([(j, b.captured) for j, b in zip(jaxprs, bodies)])
        outs = cond_p(index, *captured, *leaves, branches=tuple(map(canonical, wide)))
    return tree.unflatten(bodies[0].out_tree, outs)


def _strong(jaxpr: Jaxpr, weak: Sequence[bool]) -> Jaxpr:
    """The Jaxpr with strongly typed outputs, but for those that are weak in all branches."""
    flags: Flags = tuple(v.aval.weak_type and not w for v, w in zip(jaxpr.outputs, weak))
    if not any(flags):
        return jaxpr

    def make() -> tuple[Jaxpr, list[Array]]:
        equations, outputs = list(jaxpr.equations), list(jaxpr.outputs)
        for i, flag in enumerate(flags):
            if flag:
                atom = outputs[i]
                outputs[i] = made = Var(atom.aval.strong())
                params = {"new_dtype": atom.aval.dtype, "weak_type": False}
                equations.append(Equation(convert_element_type_p, [atom], [made], params))
        return Jaxpr(jaxpr.inputs, equations, outputs, jaxpr.captured), []

    return derived(jaxpr, ("strong", flags), make)[0]  # type: ignore[no-any-return]


__all__ = ["Body", "cond", "switch"]
