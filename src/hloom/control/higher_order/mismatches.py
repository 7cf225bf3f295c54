"""Error texts of control flow: what a body changed in its carry, where branches differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom import tree
from hloom.control.higher_order.functions import Body
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr
from hloom.core.support import source
from hloom.core.support.signature import called, check_function
from hloom.errors.texts import explain

Ways = Sequence[tuple[str, str]]
NOTHING = tree.structure(None)


def spelled(aval: ShapedArray) -> str:
    """`float32[2,3]`: the type, with the dtype as the user writes it."""
    return f"{aval.dtype.name}[{','.join(map(str, aval.shape))}]"


def _made_at(jaxpr: Jaxpr, index: int) -> str:
    """The operation and line that gave an output, where there is one."""
    atom = jaxpr.outputs[index]
    for equation in jaxpr.equations:
        if atom in equation.outputs:
            place = source.resolve(equation.source)
            return f"   # {equation.primitive.name} at {place}" if place else ""
    return ""


def returned_nothing(who: str, role: str, fun: Any) -> TypeError:
    """For a function that returned None: it has most likely no `return`."""
    rule = f"{who}: the {role} {called(fun)} returned None: did you forget `return`?"
    return TypeError(explain(rule, at=source.here()))


def structure_changed(who: str, fun: Any, taken: Any, given: Any) -> TypeError | None:
    """For a carry that comes back as another tree, or None if it does not."""
    if taken == given:
        return None
    if given == NOTHING:
        return returned_nothing(who, "body", fun)
    names = ("the carry it takes", "the carry it gives")
    difference = tree.mismatch(f"{who}: the body {called(fun)}", taken, given, names, exact=True)
    if difference is None:
        return None
    rule = f"{difference}\nA carry keeps its tree from one step to the next."
    return TypeError(explain(rule, at=source.here()))


def types_changed(
    who: str, fun: Any, treedef: Any, taken: Sequence[ShapedArray], body: Body, changed: list[int]
) -> TypeError:
    """For leaves of a carry that come back with another type."""
    paths = tree.paths(treedef)
    lines = [
        f"  carry{tree.keystr(paths[i])}: {spelled(taken[i])} in, {spelled(body.out_avals[i])} out"
        f"{_made_at(body.jaxpr, i)}"
        for i in changed
    ]
    rule = (
        f"{who}: a carry keeps its types from one step to the next, "
        f"but the body {called(fun)} changes them:\n" + "\n".join(lines)
    )
    first = changed[0]
    ways = _ways(tree.keystr(paths[first]), taken[first], body.out_avals[first])
    return TypeError(explain(rule, ways=ways, at=source.here()))


def _ways(path: str, taken: ShapedArray, given: ShapedArray) -> Ways:
    """`path` is where the leaf is in the carry."""
    if taken.dtype != given.dtype:
        # asarray, since both may be Python numbers
        init = f"jnp.asarray(init{path}, {given.dtype.name!r})"
        new = f"jnp.asarray(new{path}, {taken.dtype.name!r})"
        return [
            (init, "start with the type that the body gives"),
            (new, "or give back the type that it took"),
        ]
    ways = [(f"new{path}.reshape({taken.shape})", "give back the shape that it took")]
    return ways if taken.size == given.size else []


def branches_differ(
    who: str, names: Sequence[str], funs: Sequence[Any], bodies: Sequence[Body]
) -> None:
    """Raise TypeError unless all branches give the same tree of the same types."""
    first = bodies[0]
    for name, fun, body in zip(names, funs, bodies):
        if body.out_tree != first.out_tree or _differing(first, body):
            here = f"{names[0]} {called(funs[0])}", f"{name} {called(fun)}"
            raise _branches_differ(who, (names[0], name), here, first, body)


def _differing(first: Body, body: Body) -> list[int]:
    """The results that are of another type."""
    pairs = enumerate(zip(first.out_avals, body.out_avals))
    return [i for i, (x, y) in pairs if x.shape != y.shape or x.dtype != y.dtype]


def _branches_differ(
    who: str, names: tuple[str, str], described: tuple[str, str], first: Body, body: Body
) -> TypeError:
    for name, each in zip(described, (first, body)):
        if each.out_tree == NOTHING:
            rule = f"{who}: {name} returned None, the other did not: did you forget `return`?"
            return TypeError(explain(rule, at=source.here()))
    difference = tree.mismatch(who, first.out_tree, body.out_tree, described, exact=True)
    if difference is not None:
        rule = f"{difference}\nAll branches give the same tree of the same types."
        return TypeError(explain(rule, at=source.here()))
    paths, differing = tree.paths(first.out_tree), _differing(first, body)
    lines = [
        f"  result{tree.keystr(paths[i])}: {spelled(first.out_avals[i])} from {names[0]}, "
        f"{spelled(body.out_avals[i])} from {names[1]}{_made_at(body.jaxpr, i)}"
        for i in differing
    ]
    rule = f"{who}: all branches give the same types, but {' and '.join(described)} differ:"
    wanted, given = (b.out_avals[differing[0]] for b in (first, body))
    ways = []
    if wanted.dtype != given.dtype:
        ways = [(f"jnp.asarray(result, {wanted.dtype.name!r})", f"in {names[1]}")]
    return TypeError(explain("\n".join([rule, *lines]), ways=ways, at=source.here()))


def check_callable(who: str, **functions: Callable[..., Any]) -> None:
    """Raise TypeError for one that is not a function."""
    for name, fun in functions.items():
        check_function(who, fun, name)


def not_boolean(fun: Any, body: Body) -> TypeError:
    """For a condition that gives something else than bool[]."""
    if body.out_tree == NOTHING:
        return returned_nothing("while_loop", "condition", fun)
    given = ", ".join(spelled(a) for a in body.out_avals) or "nothing"
    single = len(body.out_avals) == 1 and not body.out_tree.children()
    what = given if single else f"a tree {str(body.out_tree)[10:-1]} of {given}"
    rule = f"while_loop: the condition {called(fun)} must give bool[]; it gives {what}"
    ways = [("x != 0", "for a number"), ("x.any() or x.all()", "for an array of bools")]
    return TypeError(explain(rule, ways=ways, at=source.here()))
