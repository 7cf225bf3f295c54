"""Traces and tracers: one context variable decides who interprets the next primitive.

`Eager` is at the bottom of every chain and evaluates.  Every transformation is one more `Trace`
with a single method, `process`, and one kind of `Tracer` that it alone opens.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from hloom import errors
from hloom.core.array import Array
from hloom.core.context import HOME, Context, current
from hloom.core.support import frames, source
from hloom.errors.texts import explain


class Origin:
    """What a trace was started for; error texts are made from it.

    `transform` is its public name ("jit", "grad"), `fun` the user's function, `arguments` the name
    of each leaf that becomes a tracer (`"x"`, `"params['w']"`).
    """

    __slots__ = ("transform", "fun", "arguments")

    def __init__(self, transform: str, fun: Any = None, arguments: Sequence[str] = ()):
        self.transform = transform
        self.fun = fun
        self.arguments = arguments

    @property
    def name(self) -> str:
        fun = self.fun
        while isinstance(fun, partial):
            fun = fun.func
        return str(getattr(fun, "__name__", None) or type(fun).__name__)

    def __str__(self) -> str:
        return f"{self.transform}({self.name})" if self.fun is not None else self.transform

    def described(self) -> str:
        """The function's name; where it is defined, too, if it has none of its own."""
        place = None if self.name.isidentifier() else source.of_function(self.fun)
        return f"{self.name} ({place.short})" if place else self.name

    def where(self) -> errors.Where:
        """Function, file and line, for an error text."""
        place = source.of_function(self.fun) if self.fun is not None else None
        return errors.Where(
            self.name if self.fun is not None else self.transform,
            place.file if place else None,
            place.line if place else None,
            self.transform,
        )


class Trace:
    """One interpretation of primitives.  Whatever its rules call is interpreted by `parent`.

    Once the transformed function has returned, `done` is set: a tracer that is used after that has
    leaked.
    """

    parent: Any = None
    within: Trace | None = None  # the trace in force when this one began, while it runs
    done = False
    evaluates = False  # whether primitives are evaluated, and compiled programs may answer

    def __init__(self, origin: Origin, parent: Trace | None = None):
        self.origin = origin
        self.parent = parent

    def process(self, primitive: Any, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        """Interpret one application of a primitive."""
        raise NotImplementedError


class Eager(Trace):
    """The bottom of every chain: primitives are evaluated, by the engine in force."""

    evaluates = True

    def process(self, primitive: Any, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        return primitive.evaluate(operands, params)


EAGER = Eager(Origin("eager"))
HOME.trace = EAGER


MOST_NAMES = 3  # arguments that a printed tracer names


class Tracer(Array):
    """Represents a value while a trace runs; only the trace that made it looks inside.

    A tracer is an `Array` without a buffer: to ask for one is how a leak is found.
    """

    __slots__ = ("owner",)

    owner: Trace

    def __init_subclass__(cls) -> None:
        cls.__name__ = cls.__qualname__ = Array.__name__  # a user is to see one type
        cls.__module__ = "hloom"

    @property
    def _buf(self) -> Any:
        raise self.leaked()

    @_buf.setter
    def _buf(self, value: Any) -> None:
        raise AttributeError("a tracer has no buffer")

    def leaked(self) -> errors.UnexpectedTracerError:
        """The error for a use outside the trace that made this tracer."""
        return errors.UnexpectedTracerError.leaked(
            self.aval,
            self.owner.origin.where(),
            self.made_at(),
            finished=self.owner.done,
            at=source.here(),
        )

    def traced(self) -> errors.Traced:
        """What is known of this value, for an error text."""
        arguments = self.owner.origin.arguments
        leaves = [i for i in self.depends_on() if i < len(arguments)]
        place = getattr(arguments, "place", lambda index: None)
        places = [p for p in map(place, leaves) if p is not None]
        numbers = getattr(arguments, "numbers", None)
        return errors.Traced(
            self.aval,
            self.owner.origin.where(),
            [arguments[i] for i in leaves],
            self.made_at(),
            places,
            source.here(),
            numbers is None or all(numbers[i] for i in leaves),
        )

    def _not_concrete(self, wanted: str) -> Exception:
        """The error for asking Python for the value."""
        if self.owner.done:
            return self.leaked()
        if wanted == "bool":
            return errors.TracerBoolConversionError.of(self.traced())
        if wanted == "index":
            return errors.TracerIntegerConversionError.of(self.traced())
        if wanted == "array":
            return errors.TracerArrayConversionError.of(self.traced())
        if wanted in ("tolist", "tobytes"):
            return errors.TracerArrayConversionError.method(self.traced(), wanted)
        return errors.ConcretizationTypeError.conversion(self.traced(), wanted)

    def __index__(self) -> int:
        try:
            return super().__index__()
        except TypeError as error:
            frames.asked.set(str(error))  # NumPy has words of its own for a TypeError
            raise

    def made_at(self) -> list[tuple[str, str, int, str]]:
        """The operation and user's line that made this tracer: (text, file, line, function)."""
        return []

    def depends_on(self) -> list[int]:
        """Positions among the trace's arguments of those that this value depends on."""
        return []

    def concrete(self) -> Array | None:
        """The value, where the transformation knows it (grad outside jit does)."""
        return None

    def __repr__(self) -> str:
        """`Traced<ShapedArray(float32[3])> in jit(f) from x`, with its value where it is known."""
        origin = self.owner.origin
        names = [origin.arguments[i] for i in self.depends_on() if i < len(origin.arguments)]
        more = ", .." if len(names) > MOST_NAMES else ""
        source = f" from {', '.join(names[:MOST_NAMES])}{more}" if names else ""
        concrete = None if self.owner.done else self.concrete()
        value = "" if concrete is None else f", value {concrete}"
        if "\n" in value:
            value = ""
        return f"Traced<{self.aval!r}> in {origin}{source}{value}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        concrete = self.concrete()
        if concrete is None:
            raise self._not_concrete("format")
        return format(concrete, spec)

    def block_until_ready(self) -> Array:
        """The tracer itself: while tracing there is nothing to wait for."""
        if self.owner.done:
            raise self.leaked()
        return self


@contextmanager
def active(trace: Trace) -> Iterator[None]:
    """Let `trace` interpret the primitives of the body."""
    token = current.set(Context(trace, current.get().config))
    try:
        yield
    finally:
        current.reset(token)


@contextmanager
def tracing(trace: Trace) -> Iterator[None]:
    """Interpret the body with `trace`, then close it for good.

    An error that leaves the body names the user's line, and what was being traced.
    """
    before = current.get()
    token = current.set(Context(trace, before.config))
    written = source.replayed.get()
    # A function of the user's has lines of its own.
    lines = source.replayed.set(None if trace.origin.fun is not None else written)
    trace.within = before.trace
    try:
        yield
    except RecursionError as error:
        levels = error.levels = getattr(error, "levels", 0) + 1  # type: ignore[attr-defined]
        if before.trace is EAGER:  # on the way out the stack has space for a message
            if levels >= _NESTED:
                raise _nested(trace.origin, levels) from None
            frames.tell(error, trace)
        raise
    except Exception as error:
        frames.tell(error, trace)
        raise
    finally:
        current.reset(token)
        source.replayed.reset(lines)
        trace.within = None
        trace.done = True


_NESTED = 20  # traces inside one another that are the cause when Python's limit is reached


def _nested(origin: Origin, levels: int) -> RecursionError:
    """The error for traced functions inside one another, more than Python's stack takes."""
    limit = sys.getrecursionlimit()
    rule = (
        f"{origin}: {levels} traced functions are nested in one another, which takes more than the "
        f"{limit} calls that Python allows."
    )
    ways = [
        ("lax.fori_loop(0, n, lambda i, x: f(x), x)", "a loop in place of nested functions"),
        (f"sys.setrecursionlimit({2 * limit})", "for up to 150, which the xla engine compiles"),
    ]
    return RecursionError(explain(rule, ways=ways))


def current_trace() -> Trace:
    """The trace that interprets the next primitive."""
    trace: Trace = current.get().trace
    return trace


class CompileTime(Trace):
    """Evaluates at once what has no tracer among its operands; the rest goes its way."""

    def process(self, primitive: Any, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        is_traced = any(isinstance(x, Tracer) for x in operands)
        trace: Trace = self.parent if is_traced else EAGER
        with active(trace):
            return trace.process(primitive, operands, params)


def ensure_compile_time_eval() -> Any:
    """Evaluate what does not depend on tracers at once, in the body of a `with` statement.

    What does depend on them is traced as it would be without.

    >>> @hloom.jit
    ... def f(x):
    ...     with hloom.ensure_compile_time_eval():
    ...         n = int(jnp.sum(jnp.arange(4)))
    ...         return x * n
    >>> f(jnp.float32(1))
    Array(6., dtype=float32)
    """
    trace = current_trace()
    return active(
        trace if trace is EAGER else CompileTime(Origin("ensure_compile_time_eval"), trace)
    )
