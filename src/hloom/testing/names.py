"""Which public names of NumPy and jax hloom has: what docs/names.md shows.

    python -m hloom.testing.names docs/names.md README.md docs/index.md

`names.txt` beside this file lists the names of the others; each is looked up in hloom.  A name that
is found may still lack an argument or a dtype: that is what the other tests are about.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

LISTS = Path(__file__).with_suffix(".txt")


class Module(NamedTuple):
    """The names that the others have in a module (or in the class Array), parted by hloom."""

    name: str
    there: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.there) + len(self.missing)


def lists(text: str) -> dict[str, list[str]]:
    """Module -> names: a module is in brackets, its names follow it.

    >>> from hloom.testing.names import lists
    >>> lists("# a comment\\n[hloom]\\ngrad jit\\nvmap\\n[hloom.ops]\\nsegment_sum")
    {'hloom': ['grad', 'jit', 'vmap'], 'hloom.ops': ['segment_sum']}
    """
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            names = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            names += line.split()
    return found


def has(place: Any, name: str) -> bool:
    """Whether a dotted name leads anywhere from here.

    >>> import hloom
    >>> from hloom.testing.names import has
    >>> has(hloom, "numpy.linalg.norm"), has(hloom, "numpy.linalg.nrom")
    (True, False)
    """
    for part in name.split("."):
        if not hasattr(place, part):
            return False
        place = getattr(place, part)
    return True


def module(name: str, names: Sequence[str]) -> Module:
    """The names of a module, looked up in hloom's module of that name."""
    path, _, last = name.rpartition(".")
    try:
        place = getattr(import_module(path), last) if last[0].isupper() else import_module(name)
    except ModuleNotFoundError:
        return Module(name, (), tuple(names))
    there = tuple(x for x in names if has(place, x))
    return Module(name, there, tuple(x for x in names if x not in there))


def modules() -> list[Module]:
    """All that is listed, in the order of the list."""
    return [module(*item) for item in lists(LISTS.read_text(encoding="utf-8")).items()]


# ---- the page --------------------------------------------------------------------------------
HEAD = """# Names

hloom keeps the names of NumPy and of jax: a program written for either runs with its imports
changed, if the names that it uses are there.

{counts}

The page is made by looking each name up: `make names`.

The names are those of jax 0.10.2, and a few that later versions have, and what NumPy 2 has for
arrays: without dates, text, records and matrices. Left out are the primitives of jax (`add_p`) and
its modules `experimental`, `extend`, `example_libraries`, `ffi`, `interpreters` and `ref`. Of these
hloom has what `extend.core` offers to programs that read Jaxprs, in `hloom.core`:
[A Jaxpr is data](a_jaxpr_is_data.md). A name that is there may lack an argument or a dtype that the
other has; methods that change an array in place (`fill`, `put`) are there to say what to use
instead. Where an answer is another, [Differences](numpy_differences.md) says so.

| module | has names of | there | missing |
| --- | --- | --- | --- |"""

# Where the names of a module come from, if not from the module of jax of the same name.
SOURCES = {
    "hloom.Array": "`numpy.ndarray`, `jax.Array`",
    "hloom.numpy": "`numpy`, `jax.numpy`",
    "hloom.numpy.fft": "`numpy.fft`",
    "hloom.numpy.linalg": "`numpy.linalg`",
}

# A sentence names these modules, and so many of those that are missing.
SHOWN = ("hloom", "hloom.numpy", "hloom.lax")
FEW = 6


def counts(found: Sequence[Module]) -> str:
    """How much is there, in two sentences that README.md and docs/index.md have too.

    >>> from hloom.testing.names import Module, counts
    >>> absent = [Module("hloom.nn", (), ("elu",)), Module("hloom.random", (), ("key", "bits"))]
    >>> counts([Module("hloom", ("jit",), ("pmap",)), *absent])
    '1 of 5 names are there: 1 of 2 in `hloom`. Missing as a whole: `random`, `nn`.'
    """
    there, size = sum(len(x.there) for x in found), sum(x.size for x in found)
    parts = [f"{len(x.there)} of {x.size} in `{x.name}`" for x in found if x.name in SHOWN]
    whole = f"{there:,} of {size:,} names are there: {', '.join(parts)}."
    absent = sorted((x for x in found if not x.there), key=lambda x: -x.size)
    names = [f"`{x.name.removeprefix('hloom.')}`" for x in absent]
    more = f" and {len(names) - FEW} smaller modules" if len(names) > FEW else ""
    return f"{whole} Missing as a whole: {', '.join(names[:FEW])}{more}." if names else whole


def row(found: Module) -> str:
    """A line of the table of modules."""
    source = SOURCES.get(found.name, f"`{found.name.replace('hloom', 'jax', 1)}`")
    return f"| `{found.name}` | {source} | {len(found.there)} | {len(found.missing)} |"


def section(found: Module) -> Iterator[str]:
    """The names of a module: those that are missing first, since they are what is looked for."""
    yield f"\n## {found.name}"
    for word, names in (("Missing", found.missing), ("There", found.there)):
        if names:
            yield f"\n{word}:\n"
            yield wrapped(" ".join(f"`{x}`" for x in names))


def wrapped(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def page(found: Sequence[Module]) -> str:
    """The page, as MyST."""
    sections = [line for x in found for line in section(x)]
    parts = [HEAD.format(counts=wrapped(counts(found))), *map(row, found), *sections]
    return "\n".join(parts) + "\n"


PARAGRAPH = re.compile(r"^[\d,]+ of [\d,]+ names are there: .*(?:\n.+)*", re.MULTILINE)


def main(written: str, *amended: str) -> None:
    """Write the page anew; of other files only the paragraph that is `counts`."""
    found = modules()
    Path(written).write_text(page(found), encoding="utf-8")
    for path in map(Path, amended):
        text = path.read_text(encoding="utf-8")
        path.write_text(PARAGRAPH.sub(wrapped(counts(found)), text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
