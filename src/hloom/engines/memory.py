"""How much memory there is: a program that needs more is refused before the system kills somebody.

Linux grants memory that it has not got and ends a process when the pages are touched.  So what a
large program allocates is compared with what is free, in the machine and in the process's control
group, and `DeviceMemoryError` is raised in its place.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hloom.core.aval import ShapedArray
from hloom.errors import DeviceMemoryError

LARGE = 1 << 26  # bytes; below, the look costs more than it can save

# A tensor with more bytes than an address has bits for: XLA's size arithmetic overflows, and 0.10
# ends the process.  No machine holds half of it.
ADDRESSABLE = 1 << 47


def require(size: int, what: object, largest: ShapedArray | None = None) -> None:
    """Raise DeviceMemoryError, naming `what`, unless `size` bytes are free.

    `largest` is the type of the largest array among the results.
    """
    if size < LARGE:
        return
    free = available()
    if free is not None and size > free:
        bytes_of_one = largest.size * largest.dtype.itemsize if largest is not None else 0
        named = largest if bytes_of_one > size // 2 else None  # most of it is one array
        hopeless = bytes_of_one > free
        raise DeviceMemoryError.allocation(what, size, free=free, array=named, hopeless=hopeless)


def available() -> int | None:
    """Bytes that can be allocated; None where the system doesn't say."""
    free = _machine()
    if free is None:
        return None
    return min([free, *[_left(*group) for group in _limited_groups()]])


def _machine() -> int | None:
    wanted = {"MemAvailable", "SwapFree"}
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    fields = [line.split() for line in lines if line.partition(":")[0] in wanted]
    return sum(int(size) for _, size, *_ in fields) * 1024 if fields else None


# Controllers, as /proc/self/cgroup names them (none in version 2): folder, what is used, the limit.
_GROUPS = {
    "": ("/sys/fs/cgroup", "memory.current", "memory.max"),
    "memory": ("/sys/fs/cgroup/memory", "memory.usage_in_bytes", "memory.limit_in_bytes"),
}


@cache
def _limited_groups() -> list[tuple[Path, Path]]:
    """Files of use and limit, for each control group that limits this process's memory."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    groups: list[tuple[Path, Path]] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in _GROUPS:
            continue
        root, used, limit = _GROUPS[controllers]
        lowest = Path(root, path.lstrip("/"))
        folders = [folder for folder in (lowest, *lowest.parents) if folder.is_relative_to(root)]
        groups += [(f / used, f / limit) for f in folders if _number(f / limit) is not None]
    return groups


def _left(used: Path, limit: Path) -> int:
    """What a group may still allocate; its file cache goes when memory is short."""
    cached = 0
    try:
        for line in (used.parent / "memory.stat").read_text().splitlines():
            name, _, size = line.partition(" ")
            if name in ("inactive_file", "total_inactive_file"):
                cached = int(size)
    except OSError:
        pass
    return (_number(limit) or 0) - (_number(used) or 0) + cached


def _number(file: Path) -> int | None:
    """The number in a file, or None where there is none ("max") or it is no limit at all."""
    try:
        number = int(file.read_text())
    except (OSError, ValueError):
        return None
    return number if number < ADDRESSABLE * 1024 else None
