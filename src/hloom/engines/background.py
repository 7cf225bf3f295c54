"""Work that can wait: one daemon thread, which starts when it is first given something to do."""

from __future__ import annotations

import atexit
import threading
import warnings
from collections import deque
from collections.abc import Callable

LONGEST = 64  # jobs in line; then the oldest is dropped, for what was asked for last is in use

Job = Callable[[], object]


class Worker:
    """Runs jobs one after another.

    A jaxlib call that is under way when Python ends would crash it, so the worker is ended first: a
    job in hand is waited for, jobs in line are dropped.
    """

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque(maxlen=LONGEST)
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._ended = False

    def submit(self, job: Job) -> None:
        """Run `job` some time later; an exception of it becomes a warning."""
        with self._changed:
            if self._ended:
                return
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hloom", daemon=True)
                self._thread.start()
                atexit.register(self.end)
            self._changed.notify_all()

    def end(self) -> None:
        """Take no more jobs, drop those in line, wait for the one in hand."""
        with self._changed:
            self._ended = True
            self._jobs.clear()
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            except Exception as fault:
                text = f"hloom's background work failed: {fault}"
                warnings.warn(text, RuntimeWarning, stacklevel=1)

    def _next(self) -> Job | None:
        """The next job; None at the end."""
        with self._changed:
            while not self._ended:
                if self._jobs:
                    return self._jobs.popleft()
                self._changed.wait()
        return None
