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

from hloom.config import HOME
from hloom.core.source import is_ours

PATIENCE = 5.0  # seconds that a call under way in a daemon thread is waited for
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
    latest = time.monotonic() + PATIENCE
    while _busy() and time.monotonic() < latest:
        time.sleep(0.001)


def _busy() -> bool:
    """Whether a daemon thread is in this package, and not parked."""
    here = threading.current_thread()
    frames = sys._current_frames()
    threads = [t for t in threading.enumerate() if t.daemon and t is not here and t.name != "hloom"]
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
