"""`python -m hloom`: what it prints, what it exits with, and what it leaves in the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hloom
from hloom.__main__ import parser

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "import hloom.numpy as jnp; jnp.sin(1.0)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cache of its own."""
    return tmp_path / "cache"


def python(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    ours = {"PYTHONPATH": str(ROOT / "src"), "HLOOM_CACHE": "1", "HLOOM_CACHE_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder.parent,
        env=os.environ | ours | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def command(folder: Path, *arguments: str, **environment: str) -> str:
    """What a command prints that does what it is told."""
    done = python(folder, "-m", "hloom", *arguments, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_without_a_command_it_says_what_runs_here(folder: Path) -> None:
    text = command(folder)
    names = ["hloom", "python", "jaxlib", "numpy", "engines", "devices", "cache"]
    assert [line.split()[0] for line in text.splitlines() if line[0] != " "] == names
    assert f"cache    {folder} (0 programs, 0 KiB of at most 512 MiB)" in text
    for way in ("HLOOM_CACHE_DIR", "HLOOM_CACHE=0", "cache clear"):
        assert way in text
    assert command(folder, "info") == text


def test_the_cache_is_counted_and_cleared(folder: Path) -> None:
    assert python(folder, "-c", PROGRAM).returncode == 0
    (folder / "notes.txt").write_text("not ours")
    entries = list(folder.glob("*.xla"))
    assert len(entries) == 1
    size = entries[0].stat().st_size
    stored = f"1 program, {size / 1024:.0f} KiB"
    assert command(folder, "cache").startswith(f"{folder} ({stored} of at most 512 MiB)\n")
    assert command(folder, "cache", "clear") == f"removed {stored} from {folder}\n"
    assert command(folder, "cache", "info").startswith(f"{folder} (0 programs, 0 KiB")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_cache_that_is_off_or_unusable_is_said_to_be(folder: Path) -> None:
    assert command(folder, "cache", HLOOM_CACHE="0") == "off, since HLOOM_CACHE=0\n"
    folder.write_text("a file")
    text = command(folder, "cache")
    assert "is not used" in text and "HLOOM_CACHE=0" in text
    done = python(folder, "-m", "hloom", "cache", "clear")
    assert (done.returncode, done.stdout) == (1, "") and "Nothing to clear" in done.stderr
    assert folder.read_text() == "a file"


def exits(capsys: pytest.CaptureFixture[str], arguments: str) -> tuple[object, str, str]:
    """Exit code and texts of arguments that end the command before it runs."""
    with pytest.raises(SystemExit) as caught:
        parser().parse_args(arguments.split())
    printed = capsys.readouterr()
    return caught.value.code, printed.out, printed.err


def test_help_names_the_commands_and_touches_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = command(folder, "--help")
    assert "usage: python -m hloom" in text and "info " in text and "cache " in text
    assert not folder.exists()
    assert "clear " in exits(capsys, "cache --help")[1]
    assert exits(capsys, "--version") == (0, f"hloom {hloom.__version__}\n", "")


def test_what_is_not_known_is_refused_with_the_usage(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = python(folder, "-m", "hloom", "inof")
    assert (done.returncode, done.stdout) == (2, "") and not folder.exists()
    assert "usage: python -m hloom" in done.stderr and "inof" in done.stderr
    for arguments in ("--cache", "cache empty", "info more"):
        code, out, err = exits(capsys, arguments)
        assert (code, out) == (2, "") and arguments.split()[-1] in err
