"""The user's line: captured cheaply while tracing, resolved late.

A source is `(code, lasti)`: the code object of the innermost frame outside this package and the
offset of its current instruction; Python's own library and NumPy are passed over too, since
they call what the user gave them.  Line and column are looked up only when a text needs them.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from itertools import islice
from opcode import opname
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import numpy as np

Source = tuple[CodeType, int]

PACKAGE = str(Path(__file__).absolute().parents[2]) + os.sep
PYTHON = os.path.dirname(os.__file__) + os.sep
NUMPY = os.path.dirname(np.__file__) + os.sep


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

    @property
    def short(self) -> str:
        """`layers.py:3`: the file by its name, or by its path from the current folder."""
        try:
            file = self.file.removeprefix(os.getcwd() + os.sep)
        except OSError:  # the current folder is gone
            file = self.file
        return f"{os.path.basename(file) if os.path.isabs(file) else file}:{self.line}"


class Files(dict[str, bool]):
    """What `test` says of a file name, asked once for each."""

    def __init__(self, test: Callable[[str], bool]):
        super().__init__()
        self.test = test

    def __missing__(self, filename: str) -> bool:
        answer = self[filename] = self.test(filename)
        return answer


def _is_library(filename: str) -> bool:
    python = filename.startswith(PYTHON) and "-packages" not in filename
    return python or filename.startswith(NUMPY)


_ours = Files(lambda filename: filename.startswith((PACKAGE, "<frozen ")))
_libraries = Files(_is_library)
_passed = Files(lambda filename: _ours[filename] or _libraries[filename])


def is_ours(filename: str) -> bool:
    """Whether the file belongs to the package."""
    return _ours[filename]


def is_users(filename: str) -> bool:
    """Whether the file is the user's: neither the package's, nor Python's or NumPy's own."""
    return not _passed[filename]


def frame(depth: int = 1) -> FrameType | None:
    """The user's innermost frame."""
    here: FrameType | None = sys._getframe(depth)
    while here is not None and _passed[here.f_code.co_filename]:
        here = here.f_back
    return here


def warn(message: Warning | str, category: type[Warning] | None = None) -> None:
    """Warn at the user's line, however deep in the package the fault was found."""
    user = frame()
    here, level = sys._getframe(), 1
    while here is not user and here.f_back is not None:
        here, level = here.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# The source of the operation that a transformation applies again: its line is not the one that the
# user's program is at now, but that where it was written.
replayed: ContextVar[Source | None] = ContextVar("hloom_replayed", default=None)


def capture(depth: int = 1) -> Source | None:
    """Where the user is now; the innermost `depth` frames are known to be the package's."""
    written = replayed.get()
    if written is not None:
        return written
    here: FrameType | None = sys._getframe(depth)
    while here is not None:
        code = here.f_code
        if not _passed[code.co_filename]:
            return code, here.f_lasti
        here = here.f_back
    return None


def resolve(source: Source | None) -> Location | None:
    """File, line, column and function of a captured source."""
    if source is None:
        return None
    code = source[0]
    line, last, column, end = _positions(source)
    place = code.co_filename, line or code.co_firstlineno, (column or 0) + 1
    return Location(*place, _name_of(code), last or 0, end or 0)


def _positions(source: Source) -> tuple[int | None, int | None, int | None, int | None]:
    """First line, last line, first column, last column of the expression; columns count bytes."""
    code, lasti = source
    unknown = (None, None, None, None)
    return next(islice(code.co_positions(), lasti // 2, None), unknown)


def _name_of(code: CodeType) -> str:
    """A function's name, with its class; that of the function around a comprehension."""
    name = code.co_qualname
    while name.endswith(("comp>", "genexpr>")):
        name = name.rpartition(".")[0].removesuffix(".<locals>") or "<module>"
    return name.rpartition("<locals>.")[2]


LONGEST = 100  # characters of an expression shown


def text_of(source: Source) -> str:
    """The expression at a source, on one line; "" where there is no text of it."""
    code = source[0]
    first, last, start, end = _positions(source)
    if first is None:
        return ""
    lines = [linecache.getline(code.co_filename, n) for n in range(first, (last or first) + 1)]
    if start is not None and end is not None and all(lines):
        encoded = [line.encode() for line in lines]
        encoded[-1] = encoded[-1][:end]
        encoded[0] = encoded[0][start:]
        lines = [line.decode(errors="replace") for line in encoded]
    text = " ".join([line.strip() for line in lines])
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def here() -> Location | None:
    """The line of the user's program that is running."""
    return resolve(capture())


# The table references the code objects, so that no other gets the same id.
_seen: dict[tuple[int, int], CodeType] = {}


def dropped(depth: int = 3) -> Source | None:
    """Where the user's program throws away what this call gives; each place is reported once.

    A call that is a statement by itself is followed by the instruction POP_TOP.  It has to be
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
