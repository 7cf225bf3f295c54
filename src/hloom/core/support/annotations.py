"""What an annotation says of a value: a test of it, and the words for an error text.

One walk serves rules and public functions.  They differ in what they take for an int, a tuple and
an instance of a class, which is a `Reading` each: `EXACT` for the parameters of a primitive, which
are in canonical form, and `LENIENT` for what users write.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS, Parameter, signature
from itertools import islice
from operator import index
from types import NoneType, UnionType
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.aval import OversizedError, ShapedArray
from hloom.errors.texts import article

LEAST, LIMIT = -(2**63), 2**63  # sizes, axes and counts are i64 in StableHLO

Test = Callable[[Any], bool]

_UNIONS = (typing.Union, UnionType)
_SEQUENCES = (tuple, list, Sequence, Iterable)


class Reading(NamedTuple):
    """How strictly values are compared with annotations.

    - `leaves`: the tests of annotations that are not looked into, by annotation or by its origin.
    - `parts`: the elements of a value that is a sequence, else None.  It is also given the class
      that the value is to be of, or None for an annotation that takes any length; for a class it
      returns them as a sequence.
    - `others`: the test of a class that is not among the leaves.
    """

    leaves: Mapping[Any, Test]
    parts: Callable[[Any, type | None], Any]
    others: Callable[[Any], Test]


def test_of(hint: Any, reading: Reading) -> Test:
    """A function that tells whether a value is what the annotation says."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    leaf = reading.leaves.get(hint) or reading.leaves.get(origin)
    if leaf is not None:
        return leaf
    if origin in _UNIONS:
        ways = [test_of(part, reading) for part in arguments]
        return lambda value: any(way(value) for way in ways)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _test_of_fields(tuple, arguments, reading)
    if origin in _SEQUENCES:
        return _test_of_elements(arguments[0], reading)
    return reading.others(hint)


def _test_of_elements(hint: Any, reading: Reading) -> Test:
    each, parts_of = test_of(hint, reading), reading.parts
    if each is _anything:  # elements of an array need not be listed
        return lambda value: parts_of(value, None) is not None
    return lambda value: (parts := parts_of(value, None)) is not None and all(map(each, parts))


def _test_of_fields(cls: type, hints: Sequence[Any], reading: Reading) -> Test:
    tests, parts_of = [test_of(hint, reading) for hint in hints], reading.parts
    return lambda value: (
        (parts := parts_of(value, cls)) is not None
        and len(parts) == len(tests)
        and all(test(part) for test, part in zip(tests, parts))
    )


# ---- the parameters of a primitive ----------------------------------------------------------
def _anything(value: Any) -> bool:
    return True


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


def _parts_of_tuple(value: Any, cls: type | None) -> Sequence[Any] | None:
    fits = isinstance(value, tuple) if cls is None else value.__class__ is cls
    return value if fits else None


def _test_of_class(cls: Any) -> Test:
    if hasattr(cls, "_fields"):
        return _test_of_fields(cls, tuple(typing.get_type_hints(cls).values()), EXACT)
    return lambda value: isinstance(value, cls)


EXACT = Reading(
    leaves={Any: _anything, int: is_integer, tuple[int, ...]: are_integers, np.dtype: _is_dtype},
    parts=_parts_of_tuple,
    others=_test_of_class,
)


# ---- the arguments of a public function -----------------------------------------------------
def _is_index(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and LEAST <= index(value) < LIMIT
    except Exception:
        return False


_LOOKED_AT = 1000  # elements: an array may have a billion


def _parts_of_iterable(value: Any, cls: type | None) -> Any:
    if isinstance(value, (str, bytes, dict)):
        return None
    try:
        parts = islice(iter(value), _LOOKED_AT)
    except TypeError:
        return None
    return parts if cls is None else list(parts)


LENIENT = Reading(
    leaves={
        int: _is_index,
        str: lambda value: isinstance(value, str),
        NoneType: lambda value: value is None,
        Callable: callable,
    },
    parts=_parts_of_iterable,
    others=lambda cls: _anything,  # the function itself knows what it can make of a value
)


# ---- words ----------------------------------------------------------------------------------
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


def shown(value: Any) -> str:
    """A value for an error text: arrays by their types, the rest by a short repr."""
    if isinstance(value, Array):
        return str(value.aval)
    if isinstance(value, (list, tuple)) and any(isinstance(x, Array) for x in value):
        return f"[{', '.join(map(shown, value))}]"
    return f"{value!r:.80}"


# ---- the check before a rule ----------------------------------------------------------------
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
    """The `infer` rule, preceded by a check of the number of operands and of each parameter.

    `axes: tuple[int, ...]` refuses `[0]`, `(True,)`, `(1.5,)` and `(2**70,)`, with the same error
    under any transformation.  Elementwise operations without parameters count their operands
    themselves, which is faster.  A rule that names an argument `p` gets all parameters as one
    tuple, `primitive.parameters`, whose annotations are then the ones that are checked.
    """
    code = infer.__code__  # the whole package's signatures would take 5 ms of its import
    bundled = takes_tuple(infer, parameters)
    least = code.co_argcount - 1 - (bundled and "p" in code.co_varnames[: code.co_argcount])
    listed = not code.co_flags & CO_VARKEYWORDS
    most = LIMIT if code.co_flags & CO_VARARGS else least
    if not least and not code.co_kwonlyargcount and most and not listed and parameters is None:
        return infer  # takes whatever is given: the rule of a family that checks by itself
    optional = parameters._field_defaults if bundled else infer.__kwdefaults__ or ()
    tests: dict[str, Test] | None = None  # made at the first call: hints may name later classes

    @wraps(infer)
    def rule(self: Any, *avals: ShapedArray, **params: Any) -> Any:
        nonlocal tests
        if bundled and "p" in params:
            params = params["p"]._asdict()
        if not least <= len(avals) <= most:
            raise TypeError(_miscounted(self, infer, avals))
        if tests is None:
            hints = hints_of(self, infer)
            tests = {name: test_of(hint, EXACT) for name, hint in hints.items()}
        for name, value in params.items():
            if name in tests:
                if tests[name](value):
                    continue
            elif not listed and self.parameters is None:
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


def _example(primitive: Any) -> str:
    """The type arrow in the primitive's docstring, which shows every parameter."""
    lines = (type(primitive).__doc__ or "").splitlines()
    arrow = next((line.strip() for line in lines if "-->" in line), "")
    return f" As in: {arrow.partition('.  ')[0].rstrip('.')}" if arrow else ""


def _miscounted(primitive: Any, infer: Callable[..., Any], avals: Sequence[ShapedArray]) -> str:
    formal = list(signature(infer).parameters.values())[1:]
    if takes_tuple(infer, primitive.parameters):
        formal = [p for p in formal if p.name != "p"]
    names = [p.name for p in formal if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    names += [f"any number of {p.name}" for p in formal if p.kind is Parameter.VAR_POSITIONAL]
    given = ", ".join(map(str, avals)) or "none"
    wanted = ", ".join(names) or "none"
    return f"{primitive.name} takes as operands: {wanted}; got {given}.{_example(primitive)}"


def _refused(primitive: Any, infer: Callable[..., Any], name: str, value: Any) -> str:
    hints = hints_of(primitive, infer)
    if name not in hints:
        known = ", ".join(hints) or "none"
        return f"{primitive.name} has no parameter {name}; it has {known}.{_example(primitive)}"
    return (
        f"{primitive.name} takes {name} as {words_of(hints[name])}; got {shown(value)}."
        f"{_example(primitive)}"
    )


def _incomplete(primitive: Any, missing: Sequence[str]) -> str:
    return f"{primitive.name} needs the parameters {', '.join(missing)} too.{_example(primitive)}"
