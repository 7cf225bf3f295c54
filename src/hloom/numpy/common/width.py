"""64-bit Arrays where 64-bit types are off: they keep their width.

The switch `enable_x64` says what *new* values become.  An Array that has 64 bits, made where they
were on, keeps them elsewhere, and lends them to what is computed from it: nothing is narrowed
unless `astype` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from hloom.config import enable_x64
from hloom.core.array import Array
from hloom.core.context import current
from hloom.core.support.calls import DEEPEST
from hloom.core.support.frames import hide


def holds_wide(operands: Iterable[Any], depth: int = 0) -> bool:
    """Whether there is a 64-bit Array among the operands, or in sequences of them.

    Lists that are deeper than an array, or hold themselves, are an error of another place.
    """
    for x in operands:
        if isinstance(x, Array):
            if x.aval.is_wide:
                return True
        elif (x.__class__ is list or x.__class__ is tuple) and depth < DEEPEST:
            if holds_wide(x, depth + 1):
                return True
    return False


def keeps_width(general: Callable[..., Any], exact: Iterable[str] = ()) -> Callable[..., Any]:
    """Decorate a function: 64-bit types are on in it if one of its operands is a 64-bit Array.

    Those given by a keyword in `exact` don't count: they have 64 bits whatever the operands have.
    """
    uncounted = frozenset(exact)

    @wraps(general)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if not current.get().config.enable_x64:
                counted = kwargs.values()
                if uncounted:
                    counted = [x for name, x in kwargs.items() if name not in uncounted]
                if holds_wide(args) or holds_wide(counted):
                    with enable_x64():
                        return general(*args, **kwargs)
            return general(*args, **kwargs)
        except Exception as error:
            hide(error)
            raise

    return call
