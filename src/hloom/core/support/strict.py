"""`@strict`: what goes wrong in a public function names it, and the argument at fault.

Only flags are checked ahead, since anything is true or false.  After an error the arguments are
compared with the function's annotations, and the first that is not what its annotation says is
reported; so right calls cost no more.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter, signature
from re import match, search
from typing import Any, TypeVar

import numpy as np

from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.operands import NotAnArray
from hloom.core.support.annotations import LENIENT, LIMIT, shown, test_of, words_of
from hloom.core.support.calls import from_users, plain, retold
from hloom.core.support.frames import hide
from hloom.core.support.source import is_ours
from hloom.errors import ArgumentError, UnsupportedError
from hloom.errors.kinds import KINDS

FEW = 2**16  # more numbers in an array are data, and no axes or sizes

F = TypeVar("F", bound=Callable[..., Any])

# The kinds that tell a user what is wrong with an argument; others are made ArgumentErrors.
_PLAIN = (IndexError, OverflowError, ZeroDivisionError, ValueError, NotImplementedError, TypeError)
_KINDS = (*KINDS, *_PLAIN)


def strict(fun: F) -> F:
    """The function, with errors that name it."""
    named = [name for name, hint in fun.__annotations__.items() if hint == "bool"]
    places = fun.__code__.co_varnames[: fun.__code__.co_argcount]
    flags = [(name, places.index(name) if name in places else LIMIT) for name in named]

    @wraps(fun)
    def called(*args: Any, **kwargs: Any) -> Any:
        for name, place in flags:
            value = args[place] if place < len(args) else kwargs.get(name, False)
            if value is not True and value is not False:
                _check_flag(fun, name, value)
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            if is_ours(sys._getframe(1).f_code.co_filename):
                raise  # the function that the user called will name itself
            better = _explained(fun, args, kwargs, error)
            if better is None:
                hide(error)
                raise
            hide(better)
            raise better from better.__cause__

    return typing.cast(F, called)


def refuse_sharding(name: str, out_sharding: Any) -> typing.NoReturn:
    """The error for an `out_sharding` that is not None, which programs written for JAX may give."""
    raise UnsupportedError(
        f"{name}: results lie on the one device that there is, so that out_sharding is None; got "
        f"{shown(out_sharding)}. Leave it out."
    )


def _check_flag(fun: Callable[..., Any], name: str, value: Any) -> None:
    """Raise ArgumentError for what is neither a bool, nor a 0-d array of one, nor 0 or 1."""
    if isinstance(value, (np.bool_, Array)) or value.__class__ is int and value in (0, 1):
        return
    raise ArgumentError(_unfit(fun, name, "True or False", value))


def _explained(
    fun: Callable[..., Any], args: Any, kwargs: dict[str, Any], error: Exception
) -> Exception | None:
    """A better error, or None where there is none: it is the user's own, or says enough."""
    name = fun.__name__
    is_explained = type(error).__module__ == "hloom.errors" and not isinstance(error, KINDS)
    if is_explained or from_users(error.__traceback__):
        return None
    if isinstance(error, NotImplementedError) and "\n  at " in str(error):
        return None  # an operation in a function of the user's has no rule: its line is in the text
    try:
        bound = signature(fun).bind(*args, **kwargs).arguments
    except TypeError:
        return retold(fun, name, args, kwargs, error)
    kind = next((kind for kind in _KINDS if isinstance(error, kind)), None)
    if kind is not None and match(rf"{name}\b(?! indices)", str(error)):
        return None  # "slice indices must be integers" is Python's
    if isinstance(error, NotAnArray):
        return ArgumentError(_no_array(name, bound, error))
    hints = typing.get_type_hints(fun)
    for argument, value in _each(fun, bound):
        if argument in hints and not test_of(hints[argument], LENIENT)(value):
            return ArgumentError(_unfit(fun, argument, words_of(hints[argument]), value))
    if kind is not None and search(rf"\b{name}\b", str(error).split("\n", 1)[0]):
        return None
    given = ", ".join(f"{argument}={shown(value)}" for argument, value in bound.items())
    better = (kind or ArgumentError)(f"{name}({given}): {str(error) or type(error).__name__}")
    better.__cause__ = error  # it may be a fault of ours: the traceback tells
    return better


def _each(fun: Callable[..., Any], bound: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Parameters and values; `*args` and `**kwargs` have an annotation for each of theirs."""
    for argument, value in bound.items():
        kind = signature(fun).parameters[argument].kind
        if kind is Parameter.VAR_POSITIONAL:
            yield from ((argument, x) for x in value)
        elif kind is Parameter.VAR_KEYWORD:
            yield from ((argument, x) for x in value.values())
        else:
            yield argument, value


def _unfit(fun: Callable[..., Any], argument: str, words: str, value: Any) -> str:
    name = fun.__name__
    return (
        f"{name} takes {argument} as {words}; got {shown(value)}. "
        f"It is called as {name}{plain(signature(fun))}."
    )


def _no_array(name: str, bound: dict[str, Any], error: NotAnArray) -> str:
    where = "an argument"
    for argument, value in bound.items():
        if value is error.value or any(leaf is error.value for leaf in _leaves(value)):
            where = argument
    kind = type(error.value).__name__
    return (
        f"{name} takes arrays and numbers; {where} is the {kind} {error.value!r:.80}. "
        "Make an array of it with hloom.numpy.asarray(...)."
    )


def _leaves(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def refuse_data(name: str, what: str, values: Any) -> None:
    """Raise ArgumentError for a long array where axes or sizes should be, without looking into it.

    A billion elements would be listed one by one before the first of them is found wrong.
    """
    if isinstance(values, (np.ndarray, Array)) and values.size > FEW:
        aval = ShapedArray(values.shape, values.dtype)
        raise ArgumentError(f"{name} takes {what} as a sequence of integers; got {aval}")
