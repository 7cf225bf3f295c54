"""Functions that are solved for: an operator handed to the user's solver, and what must match.

`custom_linear_solve` and `custom_root` take functions of one tree to a tree like it.  Each is
traced once, and handed on as an `Operator`, which applies what was traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom import dtypes, tree
from hloom.control.higher_order.derive import pick
from hloom.control.higher_order.functions import Body, arrays_of
from hloom.control.higher_order.mismatches import spelled
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr, eval_jaxpr
from hloom.core.support import source
from hloom.core.support.signature import called
from hloom.errors.texts import explain
from hloom.ops.pointwise.convert import convert_element_type


class Operator:
    """A traced function of one tree, as a function again.

    `apply` maps the leaves to those of the result.  Numbers, and integers, are taken in the type
    of the leaf that they replace.
    """

    def __init__(
        self, who: str, name: str, treedef: Any, avals: Sequence[ShapedArray],
        apply: Callable[[list[Any]], list[Any]],
    ):  # fmt: skip
        self.who = who
        self.__name__ = name
        self.treedef = treedef
        self.avals = avals
        self.apply = apply

    @classmethod
    def of(
        cls, who: str, name: str, treedef: Any, jaxpr: Jaxpr, captured: Sequence[Array]
    ) -> Operator:
        """The operator that a Jaxpr is, beside what it captured."""
        return cls(
            who, name, treedef, jaxpr.in_avals[len(captured) :],
            lambda leaves: eval_jaxpr(jaxpr, [*captured, *leaves]),
        )  # fmt: skip

    def __call__(self, x: Any) -> Any:
        leaves, treedef = arrays_of(f"{self.who}: {self.__name__}", "its argument", x)
        _same_tree(f"{self.who}: {self.__name__}", self.treedef, treedef, ("it takes", "the call"))
        made = [_taken(x, aval) for x, aval in zip(leaves, self.avals)]
        pairs = list(zip(made, self.avals))
        wrong = [x.aval.shape != a.shape or x.aval.dtype != a.dtype for x, a in pairs]
        if any(wrong):
            paths = [tree.keystr(p) for p in pick(tree.paths(treedef), wrong)]
            lines = [
                f"  argument{path}: takes {spelled(a)}, got {spelled(x.aval)}"
                for path, (x, a) in zip(paths, pick(pairs, wrong))
            ]
            rule = f"{self.who}: {self.__name__} takes what it was made for:\n" + "\n".join(lines)
            raise TypeError(explain(rule, at=source.here()))
        return tree.unflatten(self.treedef, self.apply(made))

    def __repr__(self) -> str:
        return f"<{self.__name__} of {', '.join(map(str, self.avals))}>"


def _exact(aval: ShapedArray) -> bool:
    """Whether a type gives way to the one it is computed with."""
    return aval.weak_type or aval.kind in ("bool", "signed", "unsigned")


def _taken(x: Array, aval: ShapedArray) -> Any:
    """An argument in the dtype that is taken, if no kind of number is lost."""
    if x.aval.dtype == aval.dtype or not _exact(x.aval):
        return x
    dtype, _ = dtypes.join([(x.aval.dtype, x.aval.weak_type), (aval.dtype, False)])
    return convert_element_type(x, dtype) if dtype == aval.dtype else x


def promoted(leaves: Sequence[Array], *given: Sequence[ShapedArray]) -> list[Any]:
    """Integers and weakly typed numbers in the types of what is computed from them."""
    made = []
    for x, *avals in zip(leaves, *given):
        for aval in avals:
            if aval.shape == x.aval.shape and _exact(x.aval):
                pair = [(x.aval.dtype, x.aval.weak_type), (aval.dtype, aval.weak_type)]
                dtype, weak = dtypes.join(pair)
                if dtype != x.aval.dtype or weak != x.aval.weak_type:
                    x = convert_element_type(x, dtype)
        made.append(x)
    return made


# ---- what must match ------------------------------------------------------------------------
def _same_tree(who: str, first: Any, second: Any, names: tuple[str, str]) -> None:
    error = None if first == second else tree.mismatch(who, first, second, names, exact=True)
    if error is not None:
        raise TypeError(explain(str(error), at=source.here()))


def solution(
    who: str, role: str, fun: Any, body: Body, what: str, treedef: Any, has_aux: bool = False
) -> tuple[list[ShapedArray], Any]:
    """The types of a result's leaves, and the tree of what comes beside it.

    Raises TypeError unless the result, with `has_aux` the first of a pair, has the tree `treedef`.
    """
    given, aux = body.out_tree, None
    described = f"{who}: {role} {called(fun)}"
    if has_aux:
        parts = given.children() if given.num_nodes else []
        if given.node_data() is None or given.node_data()[0] is not tuple or len(parts) != 2:
            rule = f"{described} with has_aux=True must return a pair (solution, aux); got {given}"
            raise TypeError(explain(rule, at=source.here()))
        given, aux = parts
    _same_tree(described, treedef, given, (what, "what it gives"))
    return body.out_avals[: treedef.num_leaves], aux


def check_types(
    who: str, role: str, fun: Any, what: str, treedef: Any,
    taken: Sequence[ShapedArray], given: Sequence[ShapedArray],
) -> None:  # fmt: skip
    """Raise TypeError, naming the leaves, unless what is given has the types of what is taken."""
    wrong = [a.shape != b.shape or a.dtype != b.dtype for a, b in zip(taken, given)]
    if not any(wrong):
        return
    rows = pick(list(zip(tree.paths(treedef), taken, given)), wrong)
    lines = [
        f"  {what}{tree.keystr(path)}: {spelled(a)}, but {role} gives {spelled(b)}"
        for path, a, b in rows
    ]
    rule = f"{who}: {role} {called(fun)} must give the types of {what}:\n" + "\n".join(lines)
    path, a, b = rows[0]
    ways = []
    if a.shape == b.shape:
        leaf = tree.keystr(path)
        ways = [(f"{what}{leaf}.astype({b.dtype.name!r})", "start with the type that it gives")]
    raise TypeError(explain(rule, ways=ways, at=source.here()))
