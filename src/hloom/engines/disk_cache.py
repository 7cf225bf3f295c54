"""Compiled programs on disk, so that a second process loads in 1 ms what took 10 to 50 to compile.

An entry is one file: a magic number, a checksum, and the program as XLA serializes it.  Its name is
the hash of all that the program depends on: the StableHLO, the compile options, the jaxlib version,
the processor.  XLA itself checks none of that: it loads programs with flipped bits, and those
of another version.  Whoever can write to the folder has code run here, so a folder that others may
write to is not used, nor is an entry that another user owns or may write to.

Files appear by renaming, so that processes may share a folder; what is damaged, not a file (a link,
a pipe, a device: one might wait for it for ever) or not ours is removed and its program compiled
anew.  A folder that can't be written to is not read either: what is used would not stay.

Only `engines.xla` imports this module, when the first program is compiled: platformdirs and hashlib
cost 9 ms to import.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import stat
import time
import warnings
from collections.abc import Sequence
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from hloom.engines import jaxlib_compat
from hloom.errors import CacheWarning

CAPACITY = 1 << 29  # bytes; at 5 to 20 kB a program that is some 50,000 of them

_MAGIC = b"hloom 1\n"
_CHECKSUM = 16  # bytes
_SUFFIX = ".xla"
# The folder may be one with other files in it, the user's home say: only these are ever removed.
_ENTRY = re.compile(r"[0-9a-f]{40}\.xla")
_UNFINISHED = re.compile(r"\.[0-9a-f]{40}-\d+-\d+")
_TRIM_ONE_IN = 32  # writes; a look at 10,000 files takes 30 ms
_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_STALE = 3600  # seconds after which an unfinished file belongs to nobody


class DiskCache:
    """A folder of compiled programs, bounded by `capacity` bytes."""

    def __init__(self, folder: Path, capacity: int = CAPACITY):
        self.folder = folder
        self.capacity = capacity
        self._root = str(folder)
        self._numbers = count()

    def load(self, key: str) -> bytes | None:
        """The program stored under `key`; a file that is not whole is removed."""
        path = self._path(key)
        try:
            entry = _read_own(path)
        except FileNotFoundError:
            return None
        except OSError as fault:
            if fault.errno not in _NO_FILE:
                self._warn(fault)
                return None
            entry = b""
        start = len(_MAGIC) + _CHECKSUM
        blob = entry[start:]
        if entry[:start] != _MAGIC + _checksum(key, blob):
            self.remove(key)
            return None
        try:
            os.utime(path)  # what is used stays; see trim
        except OSError:
            pass  # another process has just removed it
        return blob

    def store(self, key: str, blob: bytes) -> bool:
        """Keep a program; answers whether this is a time to call `trim`."""
        start = _MAGIC + _checksum(key, blob)
        unfinished = os.path.join(self._root, f".{key}-{os.getpid()}-{next(self._numbers)}")
        try:
            handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "wb") as file:
                file.write(start + blob)
            os.replace(unfinished, self._path(key))
        except OSError as fault:
            self._warn(fault)
            _unlink(unfinished)
            return False
        return int(key[:8], 16) % _TRIM_ONE_IN == 0 or len(blob) * _TRIM_ONE_IN > self.capacity

    def remove(self, key: str) -> None:
        """Forget a program."""
        _unlink(self._path(key))

    def entries(self) -> list[tuple[float, int, str]]:
        """Time of last use, size in bytes and path of every program."""
        found = []
        with os.scandir(self._root) as files:
            for file in files:
                try:
                    status = file.stat(follow_symlinks=False)
                except OSError:
                    continue
                if _ENTRY.fullmatch(file.name):
                    found.append((status.st_mtime, status.st_size, file.path))
                elif _UNFINISHED.fullmatch(file.name) and status.st_mtime < time.time() - _STALE:
                    _unlink(file.path)
        return found

    def size(self) -> int:
        """Bytes of all programs."""
        return sum(size for _, size, _ in self.entries())

    def trim(self) -> None:
        """Remove what was used longest ago, down to 4/5 of the capacity, if that is exceeded."""
        try:
            entries = sorted(self.entries())
        except OSError:
            return
        total = sum(size for _, size, _ in entries)
        if total <= self.capacity:
            return
        for _, size, path in entries:
            _unlink(path)
            total -= size
            if total <= self.capacity * 4 // 5:
                return

    def clear(self) -> None:
        """Remove every program."""
        for _, _, path in self.entries():
            _unlink(path)

    def _path(self, key: str) -> str:
        return os.path.join(self._root, key + _SUFFIX)

    def _warn(self, fault: OSError) -> None:
        _warn_once(self.folder, f"{fault.strerror or fault}")


# What opening something else than a file fails with: a link, a socket, a device without a driver.
_NO_FILE = {errno.ELOOP, errno.ENXIO, errno.ENODEV}


def _read_own(path: str) -> bytes:
    """The bytes of a file that only this user may have written; none of anything else."""
    # Without O_NONBLOCK a pipe is waited for until somebody opens its other end.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    handle = os.open(path, flags)
    try:
        status = os.fstat(handle)
        own = status.st_uid == os.geteuid() and not status.st_mode & _WRITTEN_BY_OTHERS
        if not own or not stat.S_ISREG(status.st_mode):
            return b""
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _checksum(key: str, blob: bytes) -> bytes:
    # The key is in it, so that an entry under another's name is found out too.
    return blake2b(blob, digest_size=_CHECKSUM, key=key.encode()).digest()


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # gone already, or not ours to remove


# ---- which folder -----------------------------------------------------------------------------
def default_folder() -> Path | None:
    """`HLOOM_CACHE_DIR`, or the user's cache folder; None with `HLOOM_CACHE=0`."""
    if os.environ.get("HLOOM_CACHE", "1").lower() in ("0", "false", "off", "no"):
        return None
    named = os.environ.get("HLOOM_CACHE_DIR")
    folder = os.path.expanduser(named) if named else platformdirs.user_cache_dir("hloom")
    return Path(folder) if folder.startswith("~") else Path(os.path.abspath(folder))


def open_default() -> DiskCache | None:
    """The cache of this user, or None where there is none to use; says why not, once."""
    folder = default_folder()
    if folder is None:
        return None
    try:
        if folder.is_absolute():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        why = _fault_of(folder)
    except OSError as fault:
        why = fault.strerror or str(fault)
    if why:
        _warn_once(folder, why)
        return None
    return DiskCache(folder)


def _fault_of(folder: Path) -> str:
    """Why the folder can't be used, or nothing."""
    if not folder.is_absolute():
        return "this user has no home folder"
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if hasattr(os, "geteuid"):
        if status.st_uid != os.geteuid():
            return "it belongs to another user"
        if status.st_mode & _WRITTEN_BY_OTHERS:
            return "others may write to it"
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return "it is not writable"
    return ""


_warned: set[Path] = set()


def _warn_once(folder: Path, why: str) -> None:
    if not _warned:
        _warned.add(folder)
        warnings.warn(CacheWarning.of(folder, why), stacklevel=2)


# ---- what an entry depends on -----------------------------------------------------------------
def key(text: str, overrides: Sequence[tuple[str, Any]]) -> str:
    """The name of the entry for this StableHLO, compiled with these options, here."""
    hashed = blake2b(ENVIRONMENT, digest_size=20)
    hashed.update(repr(overrides).encode())
    hashed.update(text.encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()


# Lines of /proc/cpuinfo that tell which instructions there are, and how fast; clock rates vary.
_CPU_FIELDS = {
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",
}  # fmt: skip


def _processor() -> str:
    """What the generated code depends on: the kind of processor."""
    known = [platform.machine(), platform.system()]
    features = getattr(np._core._multiarray_umath, "__cpu_features__", {})  # type: ignore[attr-defined]
    known += [name for name, present in features.items() if present]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(8192).partition("\n\n")[0]
    except OSError:
        return " ".join([*known, platform.processor()])
    return " ".join(known + [x for x in first.splitlines() if x.split("\t")[0] in _CPU_FIELDS])


ENVIRONMENT = "\n".join(
    [
        f"jaxlib {jaxlib_compat.VERSION}",
        f"XLA_FLAGS {os.environ.get('XLA_FLAGS', '')}",
        f"{os.cpu_count()} processors",  # loops are split by how many there are
        _processor(),
    ]
).encode()
