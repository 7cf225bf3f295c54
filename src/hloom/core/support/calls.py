"""Wrong calls of public functions: a keyword that is not there, sizes that are not in one tuple.

`told` costs a call of a function and no more; what an error takes is spent when there is one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from itertools import islice
from types import FunctionType, TracebackType
from typing import Any, TypeVar, cast

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.support import source
from hloom.core.support.frames import entries, hide, is_said
from hloom.core.support.width import DEEPEST, holds_wide, wide
from hloom.errors import ArgumentError
from hloom.errors.rewriting import grouped, renamed
from hloom.errors.texts import explain

F = TypeVar("F", bound=Callable[..., Any])

# What other libraries call a parameter, and what NumPy does: tried before likeness.
_OTHER_NAMES = {
    "axes": "axis in_axes", "axis": "axes in_axes", "dim": "axis in_axes", "dims": "axes in_axes",
    "dimension": "axis", "dimensions": "axes", "keepdim": "keepdims", "keep_dims": "keepdims",
    "argnum": "argnums", "type": "dtype", "newshape": "shape", "descend": "descending",
    "reverse": "descending",
}  # fmt: skip
# Parameters that take one tuple, where a call may have its elements side by side.
_TUPLES = ("shape", "newshape", "new_shape", "reps", "axes", "axis", "A_reps")
_LISTS = ("arrays", "tup")  # first parameters that take a list of arrays
_OF_NUMBERS = ("array", "asarray")  # functions that take one list, of numbers too


def told(fun: F, name: str = "") -> F:
    """The function, called `name`, with errors for wrong calls that say how it is called."""
    return _wrapped(fun, name or fun.__name__, operands=False)


def public(fun: F, name: str = "") -> F:
    """A function of `hloom.numpy` as users call it.

    Errors for wrong calls say how it is called, and 64-bit types are on in it if one of its
    arguments is a 64-bit Array (`hloom.core.support.width`).
    """
    return _wrapped(fun, name or fun.__name__, operands=True)


def _wrapped(fun: F, name: str, operands: bool) -> F:
    """One wrapper for both, since each would cost a call; `operands`: the arguments are arrays."""
    get = current.get

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if operands and (holds_wide(args) or (kwargs and holds_wide(kwargs.values()))):
                if not get().config.enable_x64:
                    with wide():
                        return fun(*args, **kwargs)
            return fun(*args, **kwargs)
        except Exception as error:
            better = retold(fun, name, args, kwargs, error)
            hide(better or error)
            if better is None:
                raise
            raise better from None

    return cast(F, call)


def publish(namespace: dict[str, Any], module: str) -> None:
    """Make the functions of a module `public`, but for those whose decorator has done it.

    Inside the package they are imported from where they are defined, and called directly.
    """
    made: dict[FunctionType, Any] = {}  # two names of one function stay so
    for name, fun in list(namespace.items()):
        if not name.startswith("_") and is_plain(fun):
            if fun not in made:
                made[fun] = public(fun)
                made[fun].__module__ = module  # pickle finds it there
            namespace[name] = made[fun]


def is_plain(fun: Any) -> bool:
    """Whether it is a function of hloom's, and not made by a decorator that makes it public."""
    ours = isinstance(fun, FunctionType) and fun.__module__.startswith("hloom.")
    return ours and not hasattr(fun, "is_public")


def retold(
    fun: Callable[..., Any], name: str, args: Any, kwargs: dict[str, Any], error: Exception
) -> Exception | None:
    """The error for a call that does not fit the function, or one that names the function.

    What the function raised says less: it speaks of the argument that got the wrong value.  None
    where it says enough.
    """
    try:
        signature = inspect.signature(fun)
    except (ValueError, TypeError):
        return None
    try:
        signature.bind(*args, **kwargs)
        fits = ""
    except TypeError as wrong:
        fits = str(wrong)
    if isinstance(error, _MISTAKEN):
        told = _one_list(signature, name, args) or _one_tuple(fun, name, args, kwargs)
        if told is not None:
            return told
    if not fits:
        return named(name, signature.bind(*args, **kwargs).arguments, error)
    unknown = [word for word in kwargs if word not in signature.parameters]
    if unknown:
        return _unknown_keyword(signature, name, unknown[0], len(args))
    said = str(error) if re.match(rf"{name}\(\) ", str(error)) else f"{name}() {_words(fits)}"
    return TypeError(f"{said}. It is called as {name}{plain(signature)}.")


_MISTAKEN = (TypeError, ValueError)


# ---- what Python says of an argument, of which it does not know whose it is ---------------------

# What tells a user what is wrong with an argument; the others are made ArgumentErrors.
_KEPT = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)
_BARE = (*_KEPT, AttributeError, KeyError, AssertionError, UnboundLocalError)


def named(name: str, bound: dict[str, Any], error: Exception) -> Exception | None:
    """The error with the function's name and what was given, where Python or NumPy raised it.

    None for what hloom raised, which says more, and for what comes out of the user's functions.
    """
    if from_users(error.__traceback__):
        return None
    name = name.strip("_")
    if error.__class__ is RecursionError and any(map(is_too_deep, bound.values())):
        return ValueError(f"{name}: {TOO_DEEP}")
    first = str(error).split("\n", 1)[0]
    if error.__class__ not in _BARE or is_said(error) or re.search(rf"\b{name}\b", first):
        return None
    given = ", ".join([f"{argument}={_given(x)}" for argument, x in bound.items()])
    kind = error.__class__ if error.__class__ in _KEPT else ArgumentError
    return kind(f"{name}({given}): {str(error) or error.__class__.__name__}")


def from_users(traceback: TracebackType | None) -> bool:
    """Whether an error comes out of a function that the user gave."""
    inner = islice(entries(traceback), 1, None)
    return any(source.is_users(entry.tb_frame.f_code.co_filename) for entry in inner)


TOO_DEEP = f"lists are nested deeper than the {DEEPEST} dimensions of an array, or hold themselves"


def is_too_deep(x: Any) -> bool:
    """Whether lists are nested deeper than arrays can be; so are those that hold themselves."""
    level = [x]
    for _ in range(DEEPEST + 1):
        inner = [each for each in level if each.__class__ is list or each.__class__ is tuple]
        level = [each for outer in inner[:DEEPEST] for each in outer[:DEEPEST]]
        if not inner:
            return False
    return True


def _given(x: Any) -> str:
    return _type(x) if _is_array(x) else f"{x!r:.60}"


def unknown_keyword(fun: Callable[..., Any], name: str, wrong: dict[str, Any]) -> TypeError:
    """The error for keywords of which the function does not have all."""
    signature = inspect.signature(fun)
    unknown = next(word for word in wrong if word not in signature.parameters)
    return _unknown_keyword(signature, name, unknown, 0)


def _words(said: str) -> str:
    """`bind` says "missing a required argument: 'x'", a call that it is missing that."""
    return f"is called wrongly: {said}" if not said.startswith(("missing", "got")) else said


def plain(signature: inspect.Signature) -> str:
    """A signature without its annotations."""
    formal = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=formal, return_annotation=signature.empty))
    return re.sub(r"<object object at \w+>", "...", text)  # the default that means "not given"


def _unknown_keyword(signature: inspect.Signature, name: str, word: str, given: int) -> TypeError:
    """`given` parameters have their argument by position."""
    formal = list(signature.parameters.values())[given:]
    known = [p.name for p in formal if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    near = [name for name in _OTHER_NAMES.get(word, "").split() if name in known]
    near = near or get_close_matches(word, known, 1)
    guess = f"; did you mean {near[0]!r}?" if near else "."
    rule = f"{name}() got an unexpected keyword argument {word!r}{guess}"
    code = renamed(source.here(), word, near[0]) if near else ""
    ways = [(code, "")] if code else []
    return TypeError(explain(f"{rule} It is called as {name}{plain(signature)}.", ways=ways))


def _one_list(signature: inspect.Signature, name: str, args: tuple[Any, ...]) -> TypeError | None:
    """For `concatenate(x, y)`: arrays side by side where one parameter takes a list of them."""
    kinds = (Array, np.ndarray, int, float) if name in _OF_NUMBERS else (Array, np.ndarray)
    count = next((i for i, x in enumerate(args) if not isinstance(x, kinds)), len(args))
    listing = name in _OF_NUMBERS or next(iter(signature.parameters), "") in _LISTS
    if not listing or count < 2:
        return None
    names = ("x", "y", "z")[:count] if count <= 3 else [f"x{i}" for i in range(count)]
    rest = [f"{x!r:.40}" for x in args[count:]]
    one = f"[{', '.join(names)}]"
    code = grouped(source.here(), len(rest), count, "list")
    code = code or f"jnp.{name}({', '.join([one, *rest])})"
    given = ", ".join([*map(_given, args[:count]), *rest])
    what = "numbers" if name in _OF_NUMBERS else "arrays"
    rule = f"{name} takes the {what} as one list; got {name}({given})"
    return TypeError(explain(rule, ways=[(code, "")]))


def _is_array(x: Any) -> bool:
    return isinstance(x, (Array, np.ndarray))


def _type(x: Any) -> str:
    if isinstance(x, np.ndarray) and not dtypes.is_supported(x.dtype):
        return f"{x.dtype}[{','.join(map(str, x.shape))}]"
    return str(getattr(x, "aval", None) or ShapedArray(x.shape, x.dtype))


def _one_tuple(
    fun: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> TypeError | None:
    """For `zeros(2, 3)`: integers side by side where one parameter takes a tuple of them."""
    signature = inspect.signature(fun)
    tuples = [
        i for i, p in enumerate(signature.parameters.values())
        if p.name in _TUPLES and p.kind is not p.VAR_POSITIONAL
    ]  # fmt: skip
    first = tuples[0] if tuples else len(args)
    last = len(args) - ("fill_value" in signature.parameters)
    sizes = args[first:last]
    if len(sizes) < 2 or not all(x.__class__ is int for x in sizes):
        return None
    rest = args[last:]
    parameter = list(signature.parameters)[first]
    try:
        signature.bind(*args[:first], sizes, *rest, **kwargs)
        if parameter != "shape":  # which might make something large
            fun(*args[:first], sizes, *rest, **kwargs)
    except Exception:
        return None
    before = [str(x.aval) if isinstance(x, Array) else f"{x!r:.40}" for x in args[:first]]
    given = ", ".join([*before, *map(str, sizes), *[f"{x!r:.40}" for x in rest]])
    shown = ", ".join(["x"] * first + [str(sizes)] + [f"{x!r:.40}" for x in rest])
    code = grouped(source.here(), len(rest), len(sizes), "tuple") or f"jnp.{name}({shown})"
    rule = f"{name} takes the {parameter} as one tuple; got {name}({given})"
    return TypeError(explain(rule, ways=[(code, "")]))
