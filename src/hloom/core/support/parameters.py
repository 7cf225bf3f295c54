"""What the signature of an `infer` rule says is checked before the rule runs.

Annotations of keyword parameters are taken at their word: `axes: tuple[int, ...]` refuses `[0]`,
`(True,)`, `(1.5,)` and `(2**70,)`, under any transformation, in the same words.  A rule is left to
check values.  Elementwise operations without parameters count their operands themselves, faster.

A rule that names an argument `p` gets all parameters as one tuple, `primitive.parameters`, whose
annotations are then the ones that are checked.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS, Parameter, signature
from types import NoneType, UnionType
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import OversizedError, ShapedArray
from hloom.errors.texts import article

LEAST, LIMIT = -(2**63), 2**63  # sizes, axes and counts are i64 in StableHLO

Test = Callable[[Any], bool]


def takes_tuple(rule: Callable[..., Any], parameters: Any) -> bool:
    """Whether a rule gets its parameters as one tuple, `p`; then the primitive names its class."""
    code = rule.__code__
    formal = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return parameters is not None and "p" in formal


def with_tuple(rule: Callable[..., Any], parameters: Any) -> Callable[..., Any]:
    """The rule for callers that pass each parameter by keyword, or the tuple as `p`."""
    if not takes_tuple(rule, parameters):
        return rule

    @wraps(rule)
    def opened(self: Any, *args: Any, **params: Any) -> Any:
        if "p" in params:
            return rule(self, *args, **params)
        return rule(self, *args, p=self.parameters(**params))

    return opened


def checked(infer: Callable[..., Any], parameters: Any) -> Callable[..., Any]:
    """The rule, preceded by a check of the number of operands and of each parameter."""
    code = infer.__code__  # the whole package's signatures would take 5 ms of its import
    bundled = takes_tuple(infer, parameters)
    least = code.co_argcount - 1 - (bundled and "p" in code.co_varnames[: code.co_argcount])
    listed = not code.co_flags & CO_VARKEYWORDS
    most = LIMIT if code.co_flags & CO_VARARGS else least
    if not least and not code.co_kwonlyargcount and most and not listed and parameters is None:
        return infer  # takes whatever is given: the rule of a family that checks by itself
    optional = parameters._field_defaults if bundled else infer.__kwdefaults__ or ()
    tests: dict[str, Test] | None = None  # made at the first call: hints may name later classes

    def unlisted(primitive: Any) -> bool:
        return not listed and primitive.parameters is None

    @wraps(infer)
    def rule(self: Any, *avals: ShapedArray, **params: Any) -> Any:
        nonlocal tests
        if bundled and "p" in params:
            params = params["p"]._asdict()
        if not least <= len(avals) <= most:
            raise TypeError(_miscounted(self, infer, avals))
        if tests is None:
            tests = {name: test_of(hint) for name, hint in hints_of(self, infer).items()}
        for name, value in params.items():
            if name in tests:
                if tests[name](value):
                    continue
            elif unlisted(self):
                continue
            raise TypeError(_refused(self, infer, name, value))
        if len(params) < len(tests):
            missing = [name for name in tests if name not in params and name not in optional]
            if missing:
                raise TypeError(_incomplete(self, missing))
        given = {"p": self.parameters(**params)} if bundled else params
        try:
            return infer(self, *avals, **given)
        except OversizedError as error:
            raise OversizedError(f"{self.name}: {error}") from None

    return rule


def hints_of(primitive: Any, infer: Callable[..., Any]) -> dict[str, Any]:
    """The annotation of each parameter; `p` and `**params` are fields of `primitive.parameters`."""
    if takes_tuple(infer, primitive.parameters):
        return typing.get_type_hints(primitive.parameters)
    hints = typing.get_type_hints(infer)
    found: dict[str, Any] = {}
    for parameter in signature(infer).parameters.values():
        if parameter.kind is Parameter.KEYWORD_ONLY:
            found[parameter.name] = hints.get(parameter.name, Any)
        elif parameter.kind is Parameter.VAR_KEYWORD and primitive.parameters is not None:
            found.update(typing.get_type_hints(primitive.parameters))
    return found


# ---- annotations as tests --------------------------------------------------------------------
def is_integer(value: Any) -> bool:
    """Whether a value is an int that fits 64 bits, and no bool."""
    return isinstance(value, int) and value.__class__ is not bool and LEAST <= value < LIMIT


def are_integers(value: Any) -> bool:
    """Whether a value is a tuple of such ints."""
    if value.__class__ is not tuple:
        return False
    for part in value:  # a third of the time of all(map(is_integer, value))
        if part.__class__ is not int or not LEAST <= part < LIMIT:
            if not is_integer(part):
                return False
    return True


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype) and value in dtypes.DOMAINS["any"]


def test_of(hint: Any) -> Test:
    """A function that tells whether a value is what the annotation says."""
    if hint is Any:
        return lambda value: True
    if hint is int:
        return is_integer
    if hint == tuple[int, ...]:
        return are_integers
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is np.dtype:
        return _is_dtype
    if origin in (typing.Union, UnionType):
        ways = [test_of(part) for part in arguments]
        return lambda value: any(way(value) for way in ways)
    if origin is tuple:
        return _test_of_tuple(tuple, arguments)
    if hasattr(hint, "_fields"):
        return _test_of_tuple(hint, tuple(typing.get_type_hints(hint).values()))
    return lambda value: isinstance(value, hint)


def _test_of_tuple(cls: type, parts: tuple[Any, ...]) -> Test:
    if parts[-1] is Ellipsis:
        each = test_of(parts[0])
        return lambda value: isinstance(value, tuple) and all(map(each, value))
    tests = [test_of(part) for part in parts]
    return lambda value: (
        isinstance(value, tuple)
        and value.__class__ is cls
        and len(value) == len(tests)
        and all(test(part) for test, part in zip(tests, value))
    )


# ---- annotations as words --------------------------------------------------------------------
_WORDS = {
    Any: "a value", Callable: "a function", int: "an int", bool: "True or False", str: "a str",
    NoneType: "None",
}  # fmt: skip


def words_of(hint: Any) -> str:
    """An annotation for an error text: `a tuple of ints`."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is np.dtype:
        return "a dtype"
    if origin in (typing.Union, UnionType):
        return " or ".join(map(words_of, arguments))
    if origin in (list, Sequence, Iterable):
        return f"a sequence of {_plural(words_of(arguments[0]))}"
    if origin is tuple and arguments[-1] is Ellipsis:
        return f"a tuple of {_plural(words_of(arguments[0]))}"
    if origin is tuple:
        return f"({', '.join(map(words_of, arguments))})"
    if hasattr(hint, "_fields"):
        parts = dict.fromkeys(map(words_of, typing.get_type_hints(hint).values()))
        return f"{article(hint.__name__)} of {', '.join(map(_plural, parts))}"
    return _WORDS.get(origin or hint) or article(hint.__name__)


def _plural(words: str) -> str:
    """`an int` to `ints`; what is in brackets as it is."""
    first, _, rest = words.partition(" ")
    noun, of, parts = rest.partition(" of ")
    return f"{noun}s{of}{parts}" if first in ("a", "an") else words


def _example(primitive: Any) -> str:
    """The type arrow in the primitive's docstring, which shows every parameter."""
    lines = (type(primitive).__doc__ or "").splitlines()
    arrow = next((line.strip() for line in lines if "-->" in line), "")
    return f" As in: {arrow.partition('.  ')[0].rstrip('.')}" if arrow else ""


def _miscounted(primitive: Any, infer: Callable[..., Any], avals: Sequence[ShapedArray]) -> str:
    formal = list(signature(infer).parameters.values())[1:]
    bundled = takes_tuple(infer, primitive.parameters)
    formal = [x for x in formal if not (bundled and x.name == "p")]
    names = [x.name for x in formal if x.kind is Parameter.POSITIONAL_OR_KEYWORD]
    names += [f"any number of {x.name}" for x in formal if x.kind is Parameter.VAR_POSITIONAL]
    given = ", ".join(map(str, avals)) or "none"
    wanted = ", ".join(names) or "none"
    return f"{primitive.name} takes as operands: {wanted}; got {given}.{_example(primitive)}"


def _refused(primitive: Any, infer: Callable[..., Any], name: str, value: Any) -> str:
    hints = hints_of(primitive, infer)
    if name not in hints:
        known = ", ".join(hints) or "none"
        return f"{primitive.name} has no parameter {name}; it has {known}.{_example(primitive)}"
    return (
        f"{primitive.name} takes {name} as {words_of(hints[name])}; got {value!r:.80}."
        f"{_example(primitive)}"
    )


def _incomplete(primitive: Any, missing: Sequence[str]) -> str:
    return f"{primitive.name} needs the parameters {', '.join(missing)} too.{_example(primitive)}"
