"""The user's functions for error texts: is it one, what does it take, its arguments' names.

But for `check_function`, worked out only when an error needs it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from hloom import tree
from hloom.core.array import Array
from hloom.core.support import source
from hloom.errors.rewriting import applied
from hloom.errors.texts import explain


def check_function(who: str, fun: Any, name: str = "fun") -> None:
    """Raise TypeError for what cannot be called; `name` is the parameter of `who` it is given as.

    An array is what a function's result, or one of its arguments, is taken for.
    """
    if callable(fun):
        return
    shown = str(fun.aval) if isinstance(fun, Array) else f"{fun!r:.60}"
    what = f"{who} takes a function" if name == "fun" else f"{who} takes {name} as a function"
    rule = f"{what}; got {type(fun).__name__} {shown}"
    ways = []
    if who in ("jit", "grad", "value_and_grad", "vmap", "make_jaxpr") and isinstance(fun, Array):
        code = applied(source.here()) or f"{who}(f)(x)"
        ways = [(code, "first the function, then its arguments")]
    raise TypeError(explain(rule, ways=ways, at=source.here()))


def name_of(fun: Any) -> str:
    """A function's name, or that of its class."""
    while isinstance(fun, partial):
        fun = fun.func
    return str(getattr(fun, "__name__", None) or type(fun).__name__)


def called(fun: Any) -> str:
    """A function by its name and place: "`step` (train.py:12)"."""
    place = source.of_function(fun)
    known = place is not None and not source.is_ours(place.file)
    return f"`{name_of(fun)}`" + (f" ({place})" if known else "")


# What the functions of control flow are called with.
_GIVEN = {
    "associative_scan": ("a", "b"), "fori_loop": ("i", "x"), "map": ("x",), "scan": ("carry", "x"),
    "while_loop": ("x",),
}  # fmt: skip


def call_with(who: str, fun: Any, arguments: Sequence[Any]) -> Any:
    """What a function given to `who` returns; TypeError tells of one with other parameters."""
    try:
        return fun(*arguments)
    except TypeError as error:
        ours = error.__traceback__
        if ours is None or ours.tb_next is not None:
            raise  # out of the function, not about its call
        raise _called_otherwise(who, fun, arguments, error) from None


def _called_otherwise(who: str, fun: Any, arguments: Sequence[Any], error: TypeError) -> TypeError:
    count = len(arguments)
    names = _GIVEN.get(who, ())
    if len(names) != count:
        names = ("x", "y", "z")[:count] if count <= 3 else tuple(f"x{i}" for i in range(count))
    try:
        takes = f"takes {inspect.signature(fun)}"
    except (ValueError, TypeError):
        takes = f"does not: {error}"
    plural = "" if count == 1 else "s"
    listed = ", ".join(names)
    rule = f"{who} calls {called(fun)} with {count} argument{plural}, ({listed}); it {takes}"
    name = name_of(fun)
    head = f"def {name}({listed}):" if name.isidentifier() else f"lambda {listed}: ..."
    if not names:
        head = head.replace(" :", ":")
    ways = [(head, "what else it needs, it can close over")]
    return TypeError(explain(rule, ways=ways, at=source.here()))


def parameters(fun: Callable[..., Any]) -> list[inspect.Parameter]:
    """The function's parameters, or none where Python cannot tell (some builtins)."""
    try:
        return list(inspect.signature(fun).parameters.values())
    except (ValueError, TypeError):
        return []


def positional_names(fun: Callable[..., Any]) -> tuple[list[str], str | None]:
    """Names of the positional parameters, and of the one that takes the rest (`*args`)."""
    names, rest = [], None
    for parameter in parameters(fun):
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter.name
    return names, rest


def argument_name(fun: Callable[..., Any], position: int) -> str:
    """The name of the positional argument at `position`."""
    names, rest = positional_names(fun)
    if position < len(names):
        return names[position]
    return f"{rest}[{position - len(names)}]" if rest else f"argument {position}"


class LeafNames(Sequence[str]):
    """The name of every leaf of `(args, kwargs)`: `x`, `params['w']`, in flattening order.

    `positions` gives each entry of `args` its place in the call; `numbers` says of each leaf
    whether it was a number, which may be static, and not an array.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        treedef: Any,
        positions: Sequence[int] | None = None,
        numbers: Sequence[bool] | None = None,
    ):
        self.fun = fun
        self.treedef = treedef
        self.positions = positions
        self.numbers = numbers
        self._names: list[str] | None = None
        self._places: list[int | None] = []

    def _all(self) -> list[str]:
        if self._names is None:
            found = list(map(self._named, leaf_paths(self.treedef)))
            self._names = [name for name, _ in found]
            self._places = [place for _, place in found]
        return self._names

    def _named(self, path: tree.KeyPath) -> tuple[str, int | None]:
        """Name and place of the leaf at this path of `(args, kwargs)`."""
        kind, key, *rest = path
        if kind.idx:  # a keyword argument
            return key.key + tree.keystr(tuple(rest)), None
        place = key.idx if self.positions is None else self.positions[key.idx]
        return argument_name(self.fun, place) + tree.keystr(tuple(rest)), place

    def place(self, index: int) -> int | None:
        """The position in the call of the argument that a leaf belongs to; None for a keyword."""
        self._all()
        return self._places[index]

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __len__(self) -> int:
        return int(self.treedef.num_leaves)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())


def leaf_paths(treedef: Any) -> Sequence[tree.KeyPath]:
    """The path of each leaf, with the keys that classes with keys of their own give.

    Those are only known of an object, and a class may refuse to be built of numbers.
    """
    count = treedef.num_leaves
    try:
        pairs, again = tree.flatten_with_path(tree.unflatten(treedef, range(count)))
    except Exception:  # whatever the user's class raises
        return tree.paths(treedef)
    is_rebuilt = again == treedef and all(x.__class__ is int for _, x in pairs)
    return [path for path, _ in pairs] if is_rebuilt else tree.paths(treedef)


def wraps(fun: Callable[..., Any]) -> Callable[[Any], Any]:
    """`functools.wraps`, without the stages of a jitted function: `vmap(jit(f))` has none of them.

    Else `vmap(jit(f)).lower(x)` would lower `f`.
    """
    jitted = hasattr(fun, "jitted")
    return functools.wraps(fun, updated=() if jitted else functools.WRAPPER_UPDATES)
