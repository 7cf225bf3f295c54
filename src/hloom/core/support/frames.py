"""What a user sees of an error: the line at fault, what was being traced, and no frame of ours.

An error that leaves a traced function passes `tell`, one that leaves the package `hide`.  Neither
runs unless something was raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import wraps
from inspect import unwrap
from opcode import opmap
from types import TracebackType
from typing import Any, TypeVar, cast

from hloom.core.context import current
from hloom.core.support.source import Source, capture, is_ours, is_users, resolve, text_of
from hloom.errors import AxisError, ConcretizationTypeError
from hloom.errors.texts import element_update, explain, source_line

F = TypeVar("F", bound=Callable[..., Any])

_RAISE = opmap["RAISE_VARARGS"]


def entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """A traceback's entries, the innermost last."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


# ---- the line and the chain ---------------------------------------------------------------------
_PLACED = re.compile(r"^  at .+:\d+ \(", re.MULTILINE)
_CHAINED = re.compile(r"^ *while tracing ", re.MULTILINE)


def tell(error: Exception, trace: Any) -> None:
    """Say where an error that leaves the function of `trace` arose, and what was being traced.

    It is added once, by the innermost trace of a function that the user gave.  What the user's own
    code raised stays as it is: the traceback shows its line.
    """
    place, ours = whereabouts(error)
    if _function(trace) is None:
        return
    _tell_of_size(error)
    if not ours:
        _tell_of_ndarray(error, place)
        return
    text = _all_text(error)
    if _CHAINED.search(text):
        return
    links = chain(trace)
    # A tracer's own text names the function that made it.
    known = len(links) == 1 and "while tracing the function" in text
    told = [] if known else [f"while tracing {', '.join(links)}"]
    _append(error, [*_place(text, place), *told])


def _tell_of_ndarray(error: Exception, place: Source | None) -> None:
    """NumPy's error for `h[0] = x`, an ndarray that is to take a traced value, says what that is.

    NumPy asks for a float, and then speaks of a sequence.
    """
    cause = error.__cause__
    text = str(error)
    if isinstance(cause, ConcretizationTypeError) and text.startswith("setting an array element"):
        at = resolve(place)
        rule = f"{text} A traced value can't be put into an ndarray, which NumPy keeps."
        update = element_update(source_line(at), "jnp.asarray({})")
        ways = [(update[1], f"in place of {update[0]}")] if update else []
        error.args = (explain(rule, ways=ways, at=at),)


# The last error text of a tracer that was asked for an integer.
asked: ContextVar[str] = ContextVar("hloom_asked", default="")


def _tell_of_size(error: Exception) -> None:
    """NumPy's error for `np.zeros(n)` of a traced `n` says what the tracer did.

    NumPy keeps no TypeError of a size, of whatever subclass, and raises its own.
    """
    text = str(error)
    if text.startswith("expected a sequence of integers or a single integer, got 'Traced<"):
        if asked.get() not in text:
            error.args = (f"{text}\n{asked.get()}",)


def locate(error: Exception, place: Source | None) -> None:
    """Say where the operation was written that cannot be transformed or evaluated later.

    That line is in no traceback: it belongs to a function that has returned.
    """
    if place is not None and not any(_is_users(entry) for entry in entries(error.__traceback__)):
        _append(error, _place(str(error), place))


def whereabouts(error: Exception) -> tuple[Source | None, bool]:
    """The user's line at which the error was raised, and whether the package raised it.

    The traceback begins where the error is looked at; without a user's frame in it, the user's
    innermost call is what called the package.
    """
    place, ours = None, False
    for entry in entries(error.__traceback__):
        code = entry.tb_frame.f_code
        if is_ours(code.co_filename):
            ours = True
        elif is_users(code.co_filename):
            place, ours = (code, entry.tb_lasti), False
    return place or capture(), ours


def chain(trace: Any) -> list[str]:
    """The functions being traced and what for: `["loss for grad", "for jit"]`, innermost first."""
    links: list[str] = []
    origin = last = None
    while trace is not None:
        function = _function(trace)
        if function is not None and trace.origin is not origin:
            origin = trace.origin
            inside = "inside " if links else ""
            name = "" if function is last else f"{inside}{origin.described()} "
            links.append(f"{name}for {origin.transform}")
            last = function
        trace = trace.within or trace.parent
    return links if len(links) <= 8 else [*links[:4], "..", *links[-3:]]


def _function(trace: Any) -> Any:
    """The function that the user gave: `loss`, for `jit(grad(loss))` as for `grad(loss)`."""
    fun = unwrap(trace.origin.fun) if callable(trace.origin.fun) else None
    code = getattr(fun, "__code__", None)
    # What the package defines within a function is a step of its own.
    internal = code is not None and "<locals>" in code.co_qualname and is_ours(code.co_filename)
    return None if internal else fun


def _place(text: str, place: Source | None) -> list[str]:
    """The line that says where, unless the text says it already."""
    found = resolve(place)
    if found is None or place is None or _PLACED.search(text):
        return []
    written = text_of(place)
    return [f"at {found.short} ({found.function})" + (f": {written}" if written else "")]


def _append(error: BaseException, lines: list[str]) -> None:
    """Lines added to the text of an error; as notes where the text is not simply its argument."""
    text = str(error)
    if not lines:
        return
    if len(error.args) == 1 and error.args[0] is text:
        error.args = ("\n  ".join([text, *lines]),)
    elif isinstance(error, AxisError):
        error.told += "".join([f"\n  {line}" for line in lines])
    else:
        _note(error, lines)


def _note(error: BaseException, lines: list[str]) -> None:
    # Not by add_note: a class may refuse that attributes are set (a frozen dataclass).
    vars(error).setdefault("__notes__", []).extend(lines)


def _all_text(error: Exception) -> str:
    return "\n".join([str(error), *map(str, vars(error).get("__notes__", ()))])


# ---- frames -------------------------------------------------------------------------------------
def hide(error: Exception) -> None:
    """Take the package's frames out of what is printed of an error, as `traceback_filtering` says.

    While a trace runs nothing is taken: the error is not out of the package yet.
    """
    context = current.get()
    mode = context.config.traceback_filtering
    if context.key is not None and mode != "off":
        if error.__class__.__module__ == "builtins":
            error._said = is_said(error)  # type: ignore[attr-defined]  # no frame will tell
        _FILTERS[mode](error)


def is_said(error: BaseException) -> bool:
    """Whether a `raise` of the package's made the error, and not an operation of Python's."""
    known: bool | None = getattr(error, "_said", None)
    *_, last = [None, *entries(error.__traceback__)]
    if known is not None or last is None:
        return bool(known)
    code = last.tb_frame.f_code
    return is_ours(code.co_filename) and code.co_code[last.tb_lasti] == _RAISE


def hidden(fun: F) -> F:
    """Decorate a public function that takes its time: its errors show no frame of the package."""
    return cast(F, wraps(fun)(concise(fun)))


def concise(fun: F) -> F:
    """The same, for a function that gets its name from another: copying it costs 1 us."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            hide(error)
            raise

    return cast(F, call)


def _is_users(entry: TracebackType) -> bool:
    return is_users(entry.tb_frame.f_code.co_filename)


def _shown(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """The entries that are not the package's, nor of a library that the package called."""
    inside = False
    for entry in entries(traceback):
        file = entry.tb_frame.f_code.co_filename
        inside = is_ours(file) or (inside and not is_users(file))
        if not inside:
            yield entry


def _relinked(kept: Iterable[TracebackType]) -> TracebackType | None:
    """A traceback of these entries; the old one stays as it was, for those who hold it."""
    made = None
    for entry in reversed(list(kept)):
        made = TracebackType(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made


def _remove(error: BaseException, seen: frozenset[int] = frozenset()) -> None:
    """Relink the traceback, and those of the errors that this one came from."""
    _forget_internal(error)
    error.with_traceback(_relinked(_shown(error.__traceback__)))
    for earlier in (error.__cause__, error.__context__):
        if earlier is not None and id(earlier) not in seen:
            _remove(earlier, seen | {id(error)})


def _forget_internal(error: BaseException) -> None:
    """Drop the errors that arose and were dealt with inside the package."""
    # The class may refuse that attributes are set, as a frozen dataclass does.
    if _is_internal(error.__cause__):
        BaseException.__setattr__(error, "__cause__", None)
    context = error.__context__
    while _is_internal(context):
        context = context.__context__  # type: ignore[union-attr]
    if context is not error.__context__:
        BaseException.__setattr__(error, "__context__", context)


def _is_internal(error: BaseException | None) -> bool:
    traceback = error.__traceback__ if error is not None else None
    return traceback is not None and not any(map(_is_users, entries(traceback)))


def _remove_and_say(error: BaseException) -> None:
    before = len(list(entries(error.__traceback__)))
    _remove(error)
    removed = before - len(list(entries(error.__traceback__)))
    if removed:
        _note(
            error,
            [f"{removed} frames of hloom are not shown; HLOOM_TRACEBACK_FILTERING=off shows them."],
        )


def _mark(error: BaseException) -> None:
    """What pytest and IPython ask of a frame that they are not to show."""
    for entry in entries(error.__traceback__):
        if is_ours(entry.tb_frame.f_code.co_filename):
            entry.tb_frame.f_locals["__tracebackhide__"] = True


_FILTERS: dict[str, Callable[[BaseException], None]] = {
    "auto": _remove,
    "quiet_remove_frames": _remove,
    "remove_frames": _remove_and_say,
    "tracebackhide": _mark,
}
