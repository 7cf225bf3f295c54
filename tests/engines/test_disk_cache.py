from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hloom.engines import disk_cache, jaxlib_compat
from hloom.engines.disk_cache import DiskCache, default_folder, open_default
from hloom.engines.xla import XlaEngine
from hloom.errors import CacheWarning
from tests.engines.programs import SOURCES, aval, double, run

ENTRY = "0123456789abcdef0123456789abcdef01234567"
OTHER = "f" * 40


def compile_and_run(size: int = 5) -> None:
    """What a new process does: a new engine, a program, a right answer."""
    engine = XlaEngine()
    x = np.arange(size, dtype="f4")
    program = engine.compile_text(double(size), [aval((size,))], [aval((size,))], tier="fast")
    np.testing.assert_array_equal(run(engine, program, x)[0], x + x)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fills with the text of each program that the compiler is given."""
    seen: list[str] = []
    original = jaxlib_compat.compile_text

    def compile_text(text: str, options: object) -> object:
        seen.append(text)
        return original(text, options)

    monkeypatch.setattr(jaxlib_compat, "compile_text", compile_text)
    return seen


def entry(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


# ---- entries -----------------------------------------------------------------------------------


def test_what_is_stored_is_loaded(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    assert cache.load(ENTRY) is None
    cache.store(ENTRY, b"program")
    assert cache.load(ENTRY) == b"program"
    assert DiskCache(tmp_path).load(ENTRY) == b"program"
    cache.remove(ENTRY)
    cache.remove(ENTRY)
    assert cache.load(ENTRY) is None


def test_a_second_process_does_not_compile(folder: Path, compilations: list[str]) -> None:
    compile_and_run()
    compile_and_run()
    assert len(compilations) == 1


def damage(path: Path, how: str) -> None:
    whole = path.read_bytes()
    changed = {
        "flipped": whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:],
        "short": whole[:-1],
        "long": whole + b"\0",
        "empty": b"",
        "foreign": b"#!/bin/sh\necho hello\n",
        "older": whole.replace(b"hloom 1", b"hloom 0", 1),
    }[how]
    path.write_bytes(changed)


@pytest.mark.parametrize("how", ["flipped", "short", "long", "empty", "foreign", "older"])
def test_a_damaged_entry_is_replaced(folder: Path, compilations: list[str], how: str) -> None:
    compile_and_run()
    whole = entry(folder).read_bytes()
    damage(entry(folder), how)
    compile_and_run()
    assert len(compilations) == 2
    compile_and_run()
    assert len(compilations) == 2
    assert len(entry(folder).read_bytes()) == pytest.approx(len(whole), abs=64)


NOT_FILES: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to an entry": lambda path: path.symlink_to(path.with_name(OTHER + ".xla")),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a file that the group may write to": lambda path: path.chmod(0o660),
    "a file that all may write to": lambda path: path.chmod(0o602),
}


@pytest.mark.parametrize("kind", NOT_FILES)
def test_what_is_no_file_of_this_user_alone_is_replaced(tmp_path: Path, kind: str) -> None:
    cache = DiskCache(tmp_path)
    cache.store(OTHER, b"program")
    cache.store(ENTRY, b"program")
    path = tmp_path / f"{ENTRY}.xla"
    if not kind.startswith("a file"):
        path.unlink()
    NOT_FILES[kind](path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.load(ENTRY) is None
    assert not path.is_symlink() and not path.exists()
    cache.store(ENTRY, b"anew")
    assert cache.load(ENTRY) == b"anew"
    assert cache.load(OTHER) == b"program"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_an_entry_of_another_user_is_not_run(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    cache.store(ENTRY, b"program")
    os.chown(tmp_path / f"{ENTRY}.xla", 65534, 65534)
    assert cache.load(ENTRY) is None


def test_an_entry_under_the_name_of_another_is_not_taken(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    cache.store(ENTRY, b"program")
    os.rename(tmp_path / f"{ENTRY}.xla", tmp_path / f"{OTHER}.xla")
    assert cache.load(OTHER) is None
    assert not list(tmp_path.iterdir())


def test_a_whole_entry_that_xla_does_not_take_is_replaced(
    folder: Path, compilations: list[str]
) -> None:
    compile_and_run()
    DiskCache(folder).store(entry(folder).stem, b"not a program")
    compile_and_run()
    compile_and_run()
    assert len(compilations) == 2


def test_an_entry_depends_on_text_options_and_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = {disk_cache.key(text, options) for text in "ab" for options in ([], [("x", 1)])}
    monkeypatch.setattr(disk_cache, "ENVIRONMENT", b"another jaxlib, another processor")
    keys.add(disk_cache.key("a", []))
    assert len(keys) == 5
    assert all(len(key) == 40 for key in keys)


def test_the_environment_names_jaxlib_and_processor() -> None:
    assert jaxlib_compat.VERSION.encode() in disk_cache.ENVIRONMENT
    if Path("/proc/cpuinfo").exists() and "flags" in Path("/proc/cpuinfo").read_text():
        assert b"flags\t" in disk_cache.ENVIRONMENT
        assert b"cpu MHz" not in disk_cache.ENVIRONMENT


# ---- bounds ------------------------------------------------------------------------------------


def test_trimming_removes_what_was_used_longest_ago(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, capacity=10_000)
    keys = [f"{i:040x}" for i in range(20)]
    for age, key in enumerate(keys):
        cache.store(key, bytes(1000))
        os.utime(tmp_path / f"{key}.xla", (1_000_000 + age, 1_000_000 + age))
    assert cache.load(keys[0])  # now it is the one used last
    cache.trim()
    left = {path.stem for path in tmp_path.iterdir()}
    assert keys[0] in left and keys[-1] in left and keys[1] not in left
    assert cache.size() <= 8_000
    cache.trim()
    assert {path.stem for path in tmp_path.iterdir()} == left
    cache.clear()
    assert cache.size() == 0


def test_writing_asks_for_a_trim_now_and_then(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    asked = [cache.store(f"{i:08x}" + "0" * 32, b"") for i in range(320)]
    assert sum(asked) == 10
    assert DiskCache(tmp_path, capacity=100).store(OTHER, bytes(10))


def test_an_engine_keeps_to_the_capacity(folder: Path) -> None:
    engine = XlaEngine()
    assert engine.cache is not None
    engine.cache.capacity = 30_000
    for size in range(3, 23):
        engine.compile_text(double(size), [aval((size,))], [aval((size,))], tier="fast")
    engine.worker.end()
    engine.cache.trim()
    assert 0 < engine.cache.size() <= 30_000


def test_what_an_ended_process_left_unfinished_is_removed(tmp_path: Path) -> None:
    old, new = tmp_path / f".{ENTRY}-1-0", tmp_path / f".{ENTRY}-2-0"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    DiskCache(tmp_path).trim()
    assert not old.exists() and new.exists()


def test_files_of_others_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    others = [tmp_path / name for name in (".bashrc", "notes.xla", f".{ENTRY}", f"{ENTRY}.xla.bak")]
    for path in others:
        path.write_bytes(b"mine")
        os.utime(path, (1, 1))
    cache = DiskCache(tmp_path, capacity=1)
    cache.store(ENTRY, b"program")
    assert [Path(path).name for _, _, path in cache.entries()] == [f"{ENTRY}.xla"]
    cache.trim()
    cache.clear()
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_processes_may_share_a_folder(folder: Path) -> None:
    program = """
import numpy as np
from hloom.core.aval import ShapedArray
from hloom.engines import ENGINES
engine = ENGINES["xla"]
for turn in range(3):
    for size in range(3, 13):
        kind = ShapedArray((size,), np.dtype("float32"))
        t = f"tensor<{size}xf32>"
        body = f"%0 = stablehlo.add %x, %x : {t}\\n return %0 : {t}"
        text = f"func.func @main(%x: {t}) -> {t} {{ {body} }}"
        program = engine.compile_text(text, [kind], [kind], tier="fast")
        buffers = [engine.put(np.ones(size, "f4"), kind)]
        (result,) = program.execute(buffers).consume_with_handlers(program.handlers)
        assert engine.get(result, kind).sum() == 2 * size
    if turn == 1:
        engine.cache.clear()
"""
    command = [sys.executable, "-W", "error", "-c", program]
    options = {"env": os.environ | {"PYTHONPATH": SOURCES}, "stderr": subprocess.PIPE}
    for process in [subprocess.Popen(command, **options) for _ in range(3)]:
        assert process.communicate(timeout=120)[1] == b""
        assert process.returncode == 0
    names = sorted(path.name for path in folder.iterdir())
    assert names and all(name.endswith(".xla") for name in names)


# ---- which folder ------------------------------------------------------------------------------


def test_the_folder_and_its_files_are_the_users_own(folder: Path) -> None:
    compile_and_run()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert entry(folder).stat().st_mode & 0o777 == 0o600


def test_the_environment_chooses_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLOOM_CACHE_DIR", "~/elsewhere")
    assert default_folder() == Path.home() / "elsewhere"
    monkeypatch.setenv("HLOOM_CACHE_DIR", "below")
    assert default_folder() == Path.cwd() / "below"
    monkeypatch.delenv("HLOOM_CACHE_DIR")
    usual = default_folder()
    assert usual is not None and "hloom" in usual.parts
    monkeypatch.setenv("HLOOM_CACHE", "0")
    assert default_folder() is None


def test_without_a_cache_nothing_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    monkeypatch.setenv("HLOOM_CACHE", "0")
    with warnings.catch_warnings(action="error"):
        compile_and_run()
        compile_and_run()
    assert len(compilations) == 2
    assert not folder.exists()


def ignored(why: str) -> None:
    """The cache is not used, which is said just once, and programs run."""
    with pytest.warns(CacheWarning, match=why) as caught:
        compile_and_run()
        compile_and_run()
        assert open_default() is None
    assert len(caught) == 1


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_folder_that_others_may_write_to_is_ignored(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    ignored("others may write to it")
    assert not list(folder.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_a_folder_of_another_user_is_ignored(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, -1)
    ignored("it belongs to another user")


def test_without_a_home_there_is_no_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HLOOM_CACHE_DIR")
    monkeypatch.setattr(disk_cache.platformdirs, "user_cache_dir", lambda name: f"~/.cache/{name}")
    ignored("no home folder")


def test_a_folder_that_cannot_be_made_is_ignored(folder: Path) -> None:
    folder.write_text("a file")
    ignored("File exists")


def test_a_folder_below_a_file_is_ignored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_text("a file")
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(folder / "below"))
    ignored("Not a directory")


def test_a_folder_that_is_not_writable_is_ignored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(mode=0o500)
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for a user who is not root
    ignored("it is not writable")


def test_a_folder_that_vanishes_or_fills_up_is_no_error(folder: Path) -> None:
    engine = XlaEngine()
    folder.rmdir()
    with pytest.warns(CacheWarning) as caught:
        for size in (3, 4, 3):
            engine.compile_text(double(size), [aval((size,))], [aval((size,))], tier="fast")
    assert len(caught) == 1
