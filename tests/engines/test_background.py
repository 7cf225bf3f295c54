from __future__ import annotations

import threading
import time

import pytest

from hloom.engines.background import Worker


def test_jobs_run_in_order_on_one_thread() -> None:
    worker, seen, done = Worker(), [], threading.Event()
    for i in range(20):
        worker.submit(lambda i=i: seen.append((i, threading.current_thread().name)))
    worker.submit(done.set)
    assert done.wait(10)
    assert seen == [(i, "hloom") for i in range(20)]


def test_no_thread_starts_without_a_job() -> None:
    before = threading.active_count()
    worker = Worker()
    worker.end()
    assert threading.active_count() == before


def test_a_failing_job_warns_and_the_next_one_runs(recwarn: pytest.WarningsRecorder) -> None:
    worker, done = Worker(), threading.Event()
    worker.submit(lambda: 1 / 0)
    worker.submit(done.set)
    assert done.wait(10)
    assert any("division by zero" in str(warning.message) for warning in recwarn)


def test_the_end_waits_for_the_job_in_hand_and_drops_the_rest() -> None:
    worker, started, seen = Worker(), threading.Event(), []

    def job() -> None:
        started.set()
        time.sleep(0.1)
        seen.append("in hand")

    worker.submit(job)
    worker.submit(lambda: seen.append("in line"))
    assert started.wait(10)
    worker.end()
    worker.submit(lambda: seen.append("too late"))
    assert seen == ["in hand"]
