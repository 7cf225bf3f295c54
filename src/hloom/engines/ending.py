"""When Python ends while a daemon thread is in jaxlib, the process would end in SIGABRT.

Python stops such a thread by an unwinding that C++ does not let through.  So, before that, daemon
threads that look for a program are parked, and calls that are under way are waited for.  Nothing of
this is on the path of a call: what is exchanged is the key that tables of programs are asked for.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from types import FrameType
from typing import Any

from hloom.core.context import HOME
from hloom.core.support.source import is_ours

PATIENCE = 5.0  # seconds that a call under way in a daemon thread is waited for
LOOKS = 5  # in a row that must find no call under way
_forever = threading.Event()


class Closing:
    """A key that equals the configuration, and holds up any daemon thread that asks with it."""

    def __init__(self, config: Any):
        self.config = config

    def __hash__(self) -> int:
        if threading.current_thread().daemon:
            _forever.wait()
        return hash(self.config)

    def __eq__(self, other: object) -> bool:
        return self.config is other


def close() -> None:
    """Park daemon threads at their next call; return when none is under way, or after PATIENCE."""
    if HOME.key is not None:
        HOME.key = Closing(HOME.config)  # type: ignore[assignment]
    here = threading.current_thread()
    threads = [t for t in threading.enumerate() if t.daemon and t is not here and t.name != "hloom"]
    latest, quiet = time.monotonic() + PATIENCE, 0
    # One look may fall between two calls, the first of which needs no program.
    while threads and quiet < LOOKS and time.monotonic() < latest:
        time.sleep(0.002)
        quiet = 0 if _busy(threads) else quiet + 1


def _busy(threads: list[threading.Thread]) -> bool:
    """Whether a thread is in this package, and not parked."""
    frames = sys._current_frames()
    return any(_under_way(frames.get(thread.ident or 0)) for thread in threads)


def _under_way(frame: FrameType | None) -> bool:
    ours = False
    while frame is not None:
        if frame.f_code is Closing.__hash__.__code__:
            return False
        ours = ours or is_ours(frame.f_code.co_filename)
        frame = frame.f_back
    return ours


def register() -> None:
    """Have `close` called when Python ends."""
    atexit.unregister(close)
    atexit.register(close)
