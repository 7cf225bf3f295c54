"""`python -m hloom`: what runs here, for a bug report or a look around, and the cache on disk."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import warnings
from collections.abc import Collection

import numpy as np

import hloom
from hloom.engines import NAMES, disk_cache, jaxlib_compat

HOW = """\
HLOOM_CACHE_DIR=FOLDER moves it, HLOOM_CACHE=0 switches it off,
`python -m hloom cache clear` empties it"""


def amount(sizes: Collection[int]) -> str:
    """How much programs of these sizes in bytes are: `2 programs, 3.1 MiB`."""
    size = sum(sizes)
    text = f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{size / 2**10:.0f} KiB"
    return f"{len(sizes)} program{'s' * (len(sizes) != 1)}, {text}"


def opened() -> disk_cache.DiskCache | str:
    """The cache on disk, or why there is none."""
    if disk_cache.default_folder() is None:
        return f"off, since HLOOM_CACHE={os.environ['HLOOM_CACHE']}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cache = disk_cache.open_default()
    return cache or "\n".join(str(warning.message) for warning in caught)


# ---- commands --------------------------------------------------------------------------------
def cache_text() -> str:
    """Where compiled programs are kept, how many and how large, and how to change that."""
    cache = opened()
    if isinstance(cache, str):
        return cache
    used = amount([size for _, size, _ in cache.entries()])
    return f"{cache.folder} ({used} of at most {cache.capacity >> 20} MiB)\n{HOW}"


def info() -> str:
    """Name and text of what a bug report should say."""
    default = hloom.config.engine
    facts = {
        "hloom": hloom.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "jaxlib": jaxlib_compat.VERSION,
        "numpy": np.__version__,
        "engines": ", ".join(f"{name} (default)" if name == default else name for name in NAMES),
        "devices": ", ".join(map(str, jaxlib_compat.runtime().devices)),
        "cache": cache_text(),
    }
    lines = [f"{name:<8} {text}" for name, text in facts.items()]
    return "\n".join(line.replace("\n", "\n" + " " * 9) for line in lines)


def clear() -> str:
    """Empty the cache on disk; says what it held."""
    cache = opened()
    if isinstance(cache, str):
        sys.exit(f"Nothing to clear: {cache}")
    before = cache.entries()
    cache.clear()
    left = {path for _, _, path in cache.entries()}
    gone = [size for _, size, path in before if path not in left]
    return f"removed {amount(gone)} from {cache.folder}"


def parser() -> argparse.ArgumentParser:
    """The commands, `info` where none is named."""
    whole = argparse.ArgumentParser(
        prog="python -m hloom",
        description="What hloom runs on here, and its cache of compiled programs.",
    )
    version = f"hloom {hloom.__version__}"
    about = "show the version and exit"
    whole.add_argument("--version", action="version", version=version, help=about)
    whole.set_defaults(run=info)
    commands = whole.add_subparsers(title="commands", metavar="COMMAND")
    commands.add_parser("info", help="versions, engines, devices, cache (the default)")
    cache = commands.add_parser("cache", help="the cache of compiled programs on disk")
    cache.set_defaults(run=cache_text)
    actions = cache.add_subparsers(title="commands", metavar="COMMAND")
    actions.add_parser("info", help="where it is and how large (the default)")
    actions.add_parser("clear", help="empty it").set_defaults(run=clear)
    return whole


def main() -> None:
    sys.stdout.write(f"{parser().parse_args().run()}\n")  # at once, for `| head`


if __name__ == "__main__":
    main()
