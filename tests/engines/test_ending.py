"""Processes end when they should: with daemon threads in a call, by Ctrl-C, by a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from tests.engines.programs import SOURCES

HEAD = """
import atexit, os, signal, sys, threading, time
import hloom, hloom.numpy as jnp
from hloom import lax

def eager():
    while True:
        jnp.sin(jnp.ones(10) + 1)

def compile():
    for i in range(10**6):
        hloom.jit(lambda x: x * i)(jnp.ones(i % 100 + 1))

def endless():
    with hloom.engine("reference"):
        hloom.jit(lambda x: lax.while_loop(lambda c: c > -1, lambda c: c * 0, x))(jnp.int32(1))

def later(f):
    threading.Thread(target=f, daemon=True).start()
"""


def start(program: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=os.environ | {"PYTHONPATH": SOURCES} | environment,
    )  # fmt: skip


@pytest.mark.parametrize("work", ["eager", "compile", "endless"])
def test_a_daemon_thread_in_a_call_does_not_end_python_in_a_crash(work: str) -> None:
    process = start(
        "print(jnp.ones(2) + 1)\n"
        "atexit.register(lambda: print(jnp.ones(3) * 2))\n"
        f"later({work}); time.sleep(1); print('leaving')\n"
    )
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert "leaving" in out and "FATAL" not in err


def test_an_exit_function_may_still_compute() -> None:
    program = "atexit.register(lambda: print(jnp.arange(3) * 2)); jnp.ones(2) + 1; later(eager)"
    process = start(program)
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (0, "[0 2 4]\n"), err


def test_ctrl_c_ends_a_call_of_the_reference_engine() -> None:
    process = start(
        "jnp.ones(1)\n"
        "threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    endless()\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        "with hloom.engine('reference'):\n    print(jnp.ones(2) + 1)\n"
    )
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (0, "interrupted\n[2. 2.]\n"), err


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")
def test_the_interpreter_does_not_outlive_hloom() -> None:
    mark = f"mark-{uuid4()}"
    process = start("print('ready', flush=True); endless()", HLOOM_TEST_MARK=mark)
    assert process.stdout is not None and process.stdout.readline()
    wait_for(lambda: len(marked(mark)) >= 3)  # hloom, the interpreter's process and its child
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=100)
    wait_for(lambda: not marked(mark))


def marked(mark: str) -> list[str]:
    """Running processes that have the mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:
            pass  # it has ended, or belongs to somebody else
    return found


def wait_for(condition: object) -> None:
    latest = time.monotonic() + 60
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < latest
        time.sleep(0.05)
