"""64-bit Arrays where 64-bit types are off: they, and what is computed from them, keep 64 bits.

The switch `enable_x64` says what *new* values become.  An Array made where it was on stays as it
is elsewhere, and a function of `hloom.numpy` that is given one computes as if it were on.  All of
them pass through `calls.public`, or through `keeps_width` where they have a fast path before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from hloom.core.array import Array
from hloom.core.context import Context, current
from hloom.core.support.frames import hide

F = TypeVar("F", bound=Callable[..., Any])

DEEPEST = 64  # the dimensions that an array has at most
_PLAIN = frozenset({bool, int, float, complex, str, type, type(None)})  # hold no Array


def holds_wide(operands: Iterable[Any], depth: int = 0) -> bool:
    """Whether there is a 64-bit Array among the operands, or in sequences of them.

    Lists that are deeper than an array, or hold themselves, are an error of another place.
    """
    for x in operands:
        cls = x.__class__
        if cls is Array:
            if x.aval.is_wide:
                return True
        elif cls in _PLAIN:
            pass
        elif isinstance(x, (list, tuple)):
            # A long list is most often one of numbers, each of which costs 10 ns to find out.
            plain = len(x) > 32 and _PLAIN.issuperset(map(type, x))
            if not plain and depth < DEEPEST and holds_wide(x, depth + 1):
                return True
        elif isinstance(x, Array) and x.aval.is_wide:  # a Tracer, or on the host
            return True
    return False


@contextmanager
def wide() -> Iterator[None]:
    """64-bit types are on in the body of the `with` statement."""
    context = current.get()
    config = context.config.replace(enable_x64=True)
    token = current.set(Context(context.trace, config))
    try:
        yield
    finally:
        current.reset(token)


def keeps_width(general: F) -> F:
    """Decorate a function: 64-bit types are on in it if one of its operands is a 64-bit Array."""

    @wraps(general)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            wide_operand = holds_wide(args) or (kwargs and holds_wide(kwargs.values()))
            if wide_operand and not current.get().config.enable_x64:
                with wide():
                    return general(*args, **kwargs)
            return general(*args, **kwargs)
        except Exception as error:
            hide(error)
            raise

    return cast(F, call)
