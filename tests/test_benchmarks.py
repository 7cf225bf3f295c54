"""The benchmark harness: its table is sound, its statistics are right, and it runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks import catalog, report
from benchmarks.parent import ROOT, Measured, Worker
from benchmarks.rows import LIBRARIES, closure


def test_row_names_are_unique():
    names = [row.name for rows in catalog.GROUPS.values() for row in rows]
    assert sorted(names) == sorted(catalog.ROWS)


@pytest.mark.parametrize("row", catalog.ROWS.values(), ids=lambda row: row.name)
def test_the_reference_of_a_row_is_measured(row):
    library, name = row.reference
    assert library in LIBRARIES and library in catalog.row(name).only


def test_a_selected_row_brings_its_reference_along():
    chosen = [row.name for row in catalog.select([], ["from the disk cache"])]
    assert chosen == ["x + 1.0, new shape", "x + 1.0, new shape, from the disk cache"]


def test_closure_reads_its_operands_once():
    operands = {"x": [1, 2], "y": 5}
    program = closure("x[i] + y", operands, ("i",))
    operands.clear()
    assert program(1) == 7


def test_a_ratio_is_the_median_over_rounds_of_the_fastest_batches():
    slow = Measured(rounds=[[4.0, 9.0], [8.0, 6.0], [50.0, 50.0]])
    fast = Measured(rounds=[[2.0, 3.0], [9.0, 2.0], [5.0, 7.0]])
    assert report.ratio(slow, fast) == report.Ratio(median=3.0, low=2.0, high=10.0)
    assert report.ratio(slow, None) is report.ratio(slow, Measured()) is None


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0.04, "0.04 us"),
        (4.8234, "4.82 us"),
        (17.5, "17.5 us"),
        (238_000, "238 ms"),
        (2e6, "2.00 s"),
    ],
)
def test_durations_have_three_digits_and_a_unit(microseconds, text):
    assert report.duration(microseconds) == text


def test_a_different_result_is_noted():
    digests = {"hloom": [[3], 6.0, 1.0], "jax": [[3], 6.01, 1.0], "numpy": [[3], 6.0, -1.0]}
    assert [note.split("'")[0] for note in report.disagreement(digests)] == ["hloom", "jax"]
    assert report.disagreement({"hloom": [[2], 6.0, 1.0]}) == []


def test_a_worker_that_dies_is_an_error_of_the_row(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho '{}'\nread request\nexit 7\n")
    python.chmod(0o700)
    worker = Worker("numpy", str(python), tmp_path, timeout=30)
    assert worker.ask("a + b", 0.01) == {"error": "the worker died with status 7"}
    assert worker.process is None


def test_a_worker_that_hangs_is_stopped(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho '{}'\nexec sleep 60\n")
    python.chmod(0o700)
    worker = Worker("numpy", str(python), tmp_path, timeout=0.2)
    assert worker.ask("a + b", 0.01) == {"error": "no answer within 0.2 s"}
    assert worker.process is None


def test_the_command_measures_numpy_and_writes_its_figures(tmp_path):
    where = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks", "a + b", "--library", "numpy", "--rounds", "1"]
    command += ["--seconds", "0.001", "--json", str(where)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "a + b" in run.stdout
    rows = {row["name"]: row for row in json.loads(where.read_text())["rows"]}
    assert rows["a + b"]["microseconds"]["numpy"] > 0
    assert rows["a + b"]["ratio"] is None
