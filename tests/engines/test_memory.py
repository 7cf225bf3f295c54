from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hloom import errors
from hloom.engines import memory


def test_what_is_free_is_known_on_linux() -> None:
    if Path("/proc/meminfo").exists():
        free = memory.available()
        assert free is not None and free > 1 << 20


def test_more_than_is_free_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 1 << 28)
    memory.require(1 << 27, "x")
    with pytest.raises(errors.DeviceMemoryError, match="cannot hold x"):
        memory.require(1 << 29, "x")


def test_nothing_is_refused_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_machine", lambda: None)
    memory.require(1 << 60, "x")


def test_the_limit_of_a_control_group_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    used, limit = tmp_path / "memory.current", tmp_path / "memory.max"
    used.write_text("3000000\n")
    limit.write_text("5000000\n")
    (tmp_path / "memory.stat").write_text("anon 1000\ninactive_file 1000000\n")
    monkeypatch.setattr(memory, "_limited_groups", lambda: [(used, limit)])
    monkeypatch.setattr(memory, "_machine", lambda: 1 << 40)
    assert memory.available() == 3_000_000


def test_max_is_no_limit(tmp_path: Path) -> None:
    for text in ["max\n", "9223372036854771712\n", ""]:
        (tmp_path / "limit").write_text(text)
        assert memory._number(tmp_path / "limit") is None


MANY_PROGRAMS = """
from hloom.core.support import tables
tables.LIMIT = 64
import hloom.numpy as jnp

def maps():
    return len(open("/proc/self/maps").readlines())

for length in range(1, 241):
    jnp.zeros(length) + 1.0
    if length in (40, 120, 240):
        print(maps())
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="Linux tells of memory maps")
def test_programs_that_are_forgotten_give_their_memory_maps_back() -> None:
    """A program takes 3 to 4 maps, of which Linux allows a process 65,530."""
    run = subprocess.run([sys.executable, "-c", MANY_PROGRAMS], capture_output=True, text=True)
    few, bounded, many = map(int, run.stdout.split())
    assert few < bounded < few + 200
    assert many < bounded + 120  # 120 more programs, which would have been 400 maps
