"""What goes wrong with the arguments of the functions of trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def no_structure(who: str, given: Any) -> TypeError:
    """The error of the function `who`, which was given something else for a structure."""
    return TypeError(
        f"{who} takes a structure first, got {_shown(given)}: pass hloom.tree.structure(tree)"
    )


def no_function(who: str, given: Any) -> TypeError:
    """The error of a function of `hloom.tree` that applies another, and was given none."""
    return TypeError(f"hloom.tree.{who} takes a function first, then trees; got {_shown(given)}")


def check_predicate(is_leaf: Any) -> None:
    """Raise TypeError for an `is_leaf` that can't be asked."""
    if is_leaf is not None and not callable(is_leaf):
        raise TypeError(f"hloom.tree takes is_leaf as a function or None; got {_shown(is_leaf)}")


def check_class(cls: Any) -> None:
    """Raise TypeError for what is no class, and so can't be registered."""
    if not isinstance(cls, type):
        raise TypeError(
            f"a class is registered as a node; got {_shown(cls)}. Register type(x), not x"
        )


def elements(who: str, what: str, given: Any) -> Iterator[Any]:
    """The elements of an argument; a TypeError of the function `who` where it has none."""
    try:
        return iter(given)
    except TypeError:
        raise TypeError(f"{who} takes {what}; got {_shown(given)}, which has no elements") from None


def _shown(given: Any) -> str:
    return f"{type(given).__name__} {given!r:.60}"
