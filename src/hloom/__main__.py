"""`python -m hloom`: what runs here, for a bug report or a look around."""

from __future__ import annotations

import platform

import numpy as np

import hloom
from hloom.engines import NAMES, disk_cache, jaxlib_compat


def cache() -> str:
    """Where compiled programs are kept, and how many bytes they take."""
    folder = disk_cache.default_folder()
    if folder is None:
        return "off"
    opened = disk_cache.open_default()
    if opened is None:
        return f"{folder} (not usable)"
    entries = opened.entries()
    size = sum(size for _, size, _ in entries)
    return f"{folder} ({len(entries)} programs, {size / 2**20:.1f} of {opened.capacity >> 20} MiB)"


def facts() -> dict[str, str]:
    """Name and text of each line, in the order shown."""
    default = hloom.config.engine
    return {
        "hloom": hloom.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "jaxlib": jaxlib_compat.VERSION,
        "numpy": np.__version__,
        "engines": ", ".join(f"{name} (default)" if name == default else name for name in NAMES),
        "devices": ", ".join(map(str, jaxlib_compat.runtime().devices)),
        "cache": cache(),
    }


def main() -> None:
    for name, text in facts().items():
        print(f"{name:<8} {text}")


if __name__ == "__main__":
    main()
