"""Names of arguments for error texts, worked out only when an error needs them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hloom import tree


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
            args, kwargs = tree.unflatten(self.treedef, range(self.treedef.num_leaves))
            positions = self.positions if self.positions is not None else range(len(args))
            named: list[tuple[str, int | None, Any]] = [
                (argument_name(self.fun, p), p, a) for p, a in zip(positions, args)
            ]
            named += [(name, None, a) for name, a in kwargs.items()]
            leaves: dict[int, tuple[str, int | None]] = {}
            for name, place, value in named:
                for path, number in tree.flatten_with_path(value)[0]:
                    leaves[number] = name + tree.keystr(path), place
            self._names = [leaves[i][0] for i in range(len(leaves))]
            self._places = [leaves[i][1] for i in range(len(leaves))]
        return self._names

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
