"""`python -m hloom`: versions, engines, devices, and the cache of compiled programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import hloom
from hloom import config
from hloom.engines import ENGINES, NAMES, disk_cache, memory


def main() -> None:
    """Print the facts, one a line."""
    for name, value in facts():
        print(f"{name:10}{value}")


def facts() -> Iterator[tuple[str, str]]:
    """Names and values of what a report of a fault should contain."""
    yield "hloom", f"{hloom.__version__}, {os.path.dirname(hloom.__file__)}"
    yield "python", f"{platform.python_version()}, {platform.platform()}"
    for package in ("jaxlib", "numpy", "ml_dtypes", "opt_einsum", "platformdirs"):
        yield package, _version(package)
    yield "engines", ", ".join(f"{name} (default)" if name == _default() else name for name in NAMES)
    devices = ENGINES["xla"].devices()
    yield "devices", ", ".join(f"{device} ({os.cpu_count()} processors)" for device in devices)
    free = memory.available()
    yield "memory", "unknown" if free is None else f"{free / 2**30:.1f} GiB free"
    yield "cache", cache_fact()


def cache_fact() -> str:
    """Where compiled programs are kept, how many and how large."""
    folder = disk_cache.default_folder()
    if folder is None:
        return "none (HLOOM_CACHE=0)"
    cache = ENGINES["xla"].cache
    if cache is None:
        return f"none ({folder} cannot be used)"
    sizes = [size for _, size, _ in cache.entries()]
    limit = cache.capacity / 2**20
    return f"{folder}, {len(sizes):,} programs, {sum(sizes) / 2**20:.1f} of {limit:,.0f} MiB"


def _default() -> str:
    return config.HOME.config.engine


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
