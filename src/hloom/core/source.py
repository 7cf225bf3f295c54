"""The user's line: captured cheaply while tracing, resolved late.

A source is `(code, lasti)`: the code object of the innermost frame outside this package and the
offset of the instruction it stands at.  Line and column are looked up only when a text needs them.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from itertools import islice
from opcode import opname
from types import CodeType, FrameType
from typing import NamedTuple

Source = tuple[CodeType, int]

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Location(NamedTuple):
    """A place in a user's program; lines and columns count from 1, the end is behind the last."""

    file: str
    line: int
    column: int
    function: str
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class _Ours(dict[str, bool]):
    """Does this file belong to the package?  Asked once for each file name."""

    def __missing__(self, filename: str) -> bool:
        ours = self[filename] = filename.startswith((PACKAGE, "<frozen "))
        return ours


_ours = _Ours()


def is_ours(filename: str) -> bool:
    """Whether the file belongs to the package."""
    return _ours[filename]


def frame(depth: int = 1) -> FrameType | None:
    """The innermost frame that is not the package's."""
    here: FrameType | None = sys._getframe(depth)
    while here is not None and _ours[here.f_code.co_filename]:
        here = here.f_back
    return here


def warn(message: Warning | str, category: type[Warning] | None = None) -> None:
    """Warn at the user's line, however deep in the package the fault was found."""
    user = frame()
    here, level = sys._getframe(), 1
    while here is not user and here.f_back is not None:
        here, level = here.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def capture(depth: int = 1) -> Source | None:
    """Where the user is now; the innermost `depth` frames are known to be the package's."""
    here: FrameType | None = sys._getframe(depth)
    while here is not None:
        code = here.f_code
        if not _ours[code.co_filename]:
            return code, here.f_lasti
        here = here.f_back
    return None


def resolve(source: Source | None) -> Location | None:
    """File, line, column and function of a captured source."""
    if source is None:
        return None
    code, lasti = source
    line, last, column, end = next(
        islice(code.co_positions(), lasti // 2, None), (None, None, None, None)
    )
    name = code.co_qualname if hasattr(code, "co_qualname") else code.co_name
    place = code.co_filename, line or code.co_firstlineno, (column or 0) + 1
    return Location(*place, name, last or 0, end or 0)


def here() -> Location | None:
    """Where the user's program stands now."""
    return resolve(capture())


# The code is kept: else another may come to have its id.
_seen: dict[tuple[int, int], CodeType] = {}


def dropped(depth: int = 3) -> Source | None:
    """Where the user's program throws away what this call gives, told once for each place.

    A call that stands alone as a statement is followed by the instruction POP_TOP.  It has to be
    the user's own: the caller at that depth, as a rule the one of what calls what calls this.
    """
    place = capture()
    if place is None or (id(place[0]), place[1]) in _seen:
        return None
    if sys._getframe(depth).f_code is not place[0]:
        return None
    if len(_seen) >= 4096:
        _seen.clear()
    code, call = place
    _seen[id(code), call] = code
    instructions = code.co_code[call + 2 :: 2]
    following = next((op for op in instructions if opname[op] != "CACHE"), None)
    return place if following is not None and opname[following] == "POP_TOP" else None


def of_function(fun: object) -> Location | None:
    """Where a function is defined, if it is a Python function or wraps one."""
    fun = inspect.unwrap(fun) if callable(fun) else fun
    while not hasattr(fun, "__code__"):
        inner = getattr(fun, "func", None) or getattr(fun, "__func__", None)
        if inner is None:
            method = vars(type(fun)).get("__call__")  # a callable object
            inner = method if hasattr(method, "__code__") else None
        if inner is None or inner is fun:
            return None
        fun = inspect.unwrap(inner)
    code: CodeType = fun.__code__
    return Location(code.co_filename, code.co_firstlineno, 1, code.co_name)
