"""Valid calls made malformed, or odd: one thing is changed at a time."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from inspect import signature
from typing import Any

import numpy as np

import hloom.lax
from hloom import dtypes
from hloom.core import Array, ShapedArray
from hloom.core.jaxpr import Jaxpr
from hloom.core.record import trace_to_jaxpr
from tests.ops.harvest import Application, Call

DTYPES = [
    dtypes.as_dtype(name)
    for name in (
        "bool", "int4", "int8", "int32", "uint64", "float8_e4m3fn", "float8_e8m0fnu", "bfloat16",
        "float64", "complex64",
    )
]  # fmt: skip
HUGE = 2**40


class Opaque:
    """Nothing that anything can be done with."""

    def __repr__(self) -> str:
        return "Opaque()"


NOT_ARRAYS: tuple[Any, ...] = (
    "x", None, [1.0], Opaque(), {}, object, np.array([None, "x"]), np.array(["a"]),
    np.datetime64("2020-01-01"),
)  # fmt: skip

WRONG: tuple[Any, ...] = (
    None, -1, 0, 99, 2**31, 2**70, -(2**70), True, False, 1.5, float("nan"), "x", "", b"x",
    (), (0, 0), (-1,), (99,), (2**62,), (2**70,), ("x",), (True,), (None,), ((0, 0),), ((), ()),
    [0], {}, Opaque(), np.int64(0), (np.int64(0),), np.zeros(2), int,
    np.dtype("float32"), np.dtype("bool"), np.dtype("uint8"), np.dtype("O"),
)  # fmt: skip


# Of nothing; of one vector; of two scalars, to a truth value.
OTHER_JAXPRS = [
    trace_to_jaxpr(fun, [ShapedArray(shape, np.dtype(np.float32))] * count)[0]
    for fun, shape, count in (
        (lambda: [], (), 0), (lambda x: x, (7,), 1), (lambda x, y: hloom.lax.lt(x, y), (), 2),
    )
]  # fmt: skip


# ---- operands ---------------------------------------------------------------------------------
def types(aval: ShapedArray) -> Iterator[ShapedArray]:
    """Other ranks, one other size, other dtypes."""
    shape = aval.shape
    yield aval.update(shape=(*shape, 1))
    yield aval.update(shape=(3, *shape))
    yield aval.update(shape=())
    yield aval.update(shape=shape[1:])
    yield aval.update(shape=shape[::-1])
    yield aval.update(weak_type=not aval.weak_type)
    for axis, n in enumerate(shape):
        for size in (0, 1, n + 1, max(n - 1, 0), HUGE):
            yield aval.update(shape=(*shape[:axis], size, *shape[axis + 1 :]))
    for dtype in DTYPES:
        yield aval.update(dtype=dtype)


def operands(given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """One operand more, less, or another; all in another order."""
    yield given + given[:1]
    yield (*given, ShapedArray((), np.dtype(np.float32)))
    if given:
        yield from (given[:-1], given[1:], (), given[::-1])
    for i, aval in enumerate(given):
        for other in (*types(aval), *NOT_ARRAYS):
            yield (*given[:i], other, *given[i + 1 :])


# ---- parameters -------------------------------------------------------------------------------
def near(value: Any) -> Iterator[Any]:
    """Values of the same kind: longer, shorter, in another order, or with one part wrong."""
    if isinstance(value, bool):
        yield from (not value, int(value))
    elif isinstance(value, int):
        yield from (value + 1, value - 1, -value, float(value), str(value), (value,))
    elif isinstance(value, str):
        yield from (value.upper(), value + " ", value.encode())
    elif isinstance(value, np.dtype):
        yield from (*DTYPES, value.name, value.newbyteorder())
    elif isinstance(value, Jaxpr):
        yield from OTHER_JAXPRS
    elif isinstance(value, tuple):
        yield from _near_tuple(value)


def _near_tuple(value: tuple[Any, ...]) -> Iterator[Any]:
    fields = hasattr(value, "_fields")
    remake = (lambda parts: type(value)(*parts)) if fields else tuple
    yield from (list(value), (value,), (*value, "x"), (*value, *value[:1]), value[:-1], value[::-1])
    for i, part in enumerate(value):
        for other in (*near(part), None, "x", -1, 99, 2**62):
            yield remake([*value[:i], other, *value[i + 1 :]])


def parameters(params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One parameter more, less, or with another value."""
    yield {**params, "unknown": 1}
    for name, value in params.items():
        yield {k: v for k, v in params.items() if k != name}
        for other in (*WRONG, *near(value)):
            yield {**params, name: other}


def scalar(each: Application) -> Application:
    """Its operands 0-d and its tuples empty: of no axis, where that is meant."""
    operands = tuple(aval.update(shape=()) for aval in each.operands)
    empty = {name: () if type(v) is tuple else v for name, v in each.params.items()}
    return each._replace(operands=operands, params=empty)


# ---- whole calls ------------------------------------------------------------------------------
def sample(made: list[Any], count: int, seed: str) -> list[Any]:
    """So many of them, always the same."""
    random.Random(seed).shuffle(made)
    return made[:count]


def applications(given: Sequence[Application], count: int) -> list[Application]:
    """Malformed and odd applications of one primitive."""
    made = []
    for each in given:
        made += [each._replace(operands=others) for others in operands(each.operands)]
        made += [each._replace(params=others) for others in parameters(each.params)]
    return sample(made, count, given[0].primitive.name) + [scalar(given[0]), scalar(given[-1])]


def arguments(value: Any) -> Iterator[Any]:
    """What may be given for one argument of a public function."""
    if isinstance(value, Array):
        for aval in types(value.aval):
            if aval.size < 5000:
                yield np.ones(aval.shape, aval.dtype)
        yield from NOT_ARRAYS
    else:
        yield from near(value)
    yield from WRONG
    if isinstance(value, list):
        yield from (tuple(value), value[:-1], [*value, "x"], [])
        for i, part in enumerate(value):
            for other in arguments(part):
                yield [*value[:i], other, *value[i + 1 :]]


def calls(given: Sequence[Call], count: int) -> list[Call]:
    """Malformed and odd calls of one public function."""
    made = []
    for call in given[:4]:
        args, kwargs = call.args, call.kwargs
        made += [call._replace(args=args + args[:1]), call._replace(args=args[:-1])]
        made += [call._replace(kwargs={**kwargs, "unknown": 1})]
        for i, value in enumerate(args):
            made += [
                call._replace(args=(*args[:i], other, *args[i + 1 :])) for other in arguments(value)
            ]
        rest = list(signature(call.function).parameters.values())[len(args) :]
        named = {p.name: p.default for p in rest if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
        for name, value in {**named, **kwargs}.items():
            made += [call._replace(kwargs={**kwargs, name: v}) for v in arguments(value)]
    return sample(made, count, given[0].name)
