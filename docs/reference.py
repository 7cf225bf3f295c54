"""The pages of the API reference.

    python -m docs.reference docs/api

`docs/conf.py` writes them before each build, from the names that `docs/public.py` finds.  The
sections of a page are the modules that define its names: `hloom.numpy.sin` is imported from
`hloom.numpy.pointwise.trigonometric`, so it is in the section "Trigonometric" of the page
`numpy/pointwise`.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import hloom
from docs import markup
from docs.public import (
    MODULES,
    PARTED,
    RESULTS,
    Entry,
    entries,
    is_hlooms,
    is_ours,
    linked,
    text_of,
    text_of_member,
)
from hloom.core.context import OPTIONS
from hloom.errors.absent import Absent
from hloom.numpy.operators import BINARY, COMPARISONS, REFLECTED

#: Page of a family -> its title.
TITLES = {
    "arrays": "arrays",
    "control_flow": "control flow",
    "creation": "making arrays",
    "devices": "devices",
    "dtypes": "dtypes",
    "indexing": "indexing",
    "linalg": "linear algebra",
    "options": "options",
    "order": "sorting, searching, sets",
    "pointwise": "pointwise functions",
    "products": "products",
    "random_bits": "random bits",
    "reductions": "reductions",
    "shapes": "shapes and axes",
    "settings": "constants, printing, settings",
    "transformations": "transformations",
}


#: Last part of a module -> its title, if not the same with a large letter.
SPELLED = {
    "fft": "FFT",
    "ieee": "IEEE",
    "jit": "Compilation",
    "nans": "NaN",
    "numpy": "NumPy",
    "table": "Dtypes",
}


def pages() -> dict[str, str]:
    """Page -> its text."""
    found: dict[str, list[Entry]] = {}
    for entry in entries().values():
        found.setdefault(entry.page, []).append(entry)
    texts = {page: text_of_page(page, found[page]) for page in sorted(found)}
    for module in PARTED:
        texts[f"{stem_of(module)}/index"] = index_of(module, found)
    texts["index"] = contents()
    return texts


def stem_of(module: str) -> str:
    return module.removeprefix("hloom.").replace(".", "/")


def text_of_page(page: str, entries: list[Entry]) -> str:
    """A page: tables of its names, then each with its docstring."""
    module = min((entry.module for entry in entries), key=len)
    sections: dict[str, list[Entry]] = {}
    for entry in entries:
        sections.setdefault(section_of(entry), []).append(entry)
    parts = [heading(title_of(page, module), "="), *intro_of(page, module)]
    for section, members in sections.items():
        rows = [(entry.path, entry.value, text_of(entry)) for entry in members]
        parts += [f".. rubric:: {words(section)}", table(rows)]
    for section, members in sections.items():
        package, _, last = section.rpartition(".")
        about = () if last in folders(package) else sentence_of(section)
        parts += [heading(words(section), "-"), *about]
        parts += [directive(entry) for entry in members]
    parts += MORE_OF[page]() if page in MORE_OF else ()
    parts += [result(path) for path in RESULTS.get(page, ())]
    return "\n\n".join(parts) + "\n"


def title_of(page: str, module: str) -> str:
    family = page.rpartition("/")[2]
    parent = module if module in PARTED else ""
    return f"{parent}: {TITLES.get(family, words(family).lower())}" if parent else module


def intro_of(page: str, module: str) -> list[str]:
    """What the page is about, by the docstring of the package that has its family."""
    family = page.replace("/", ".").replace("lax.", "ops.")
    about = module if module not in PARTED else f"hloom.{family}"
    known = module not in PARTED or page.rpartition("/")[2] in folders(about.rpartition(".")[0])
    kind = "currentmodule" if module in PARTED else "module"
    return [f".. py:{kind}:: {module}", *(sentence_of(about) if known else ())]


def folders(package: str) -> list[str]:
    """The packages in a package."""
    paths = import_module(package).__path__ if package in sys.modules else ()
    return [found.name for found in pkgutil.iter_modules(paths) if found.ispkg]


def heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def words(place: str) -> str:
    """The title of a section.

    >>> words("hloom.numpy.pointwise.complex_parts"), words("hloom.ops.products.fft")
    ('Complex parts', 'FFT')
    """
    last = place.rpartition(".")[2]
    return SPELLED.get(last) or upper(last.replace("_", " "))


def upper(text: str) -> str:
    return text[0].upper() + text[1:]


def section_of(entry: Entry) -> str:
    """The module that defines a name; of `hloom.control`, the folder that does, and NumPy."""
    depth = {"hloom.control": 3, "numpy": 1}
    most = next((n for place, n in depth.items() if entry.home.startswith(place)), None)
    return ".".join(entry.home.split(".")[:most])


def sentence_of(module: str) -> list[str]:
    """The first line of a module's docstring."""
    doc = import_module(module).__doc__ if module.startswith("hloom") else None
    return ["\n".join(markup.rst(doc.partition("\n")[0])[:-1])] if doc else []


def table(rows: Iterable[tuple[str, Any, str]]) -> str:
    """Names, each with the first sentence of its docstring."""
    lines = [".. list-table::\n   :class: names\n"]
    for path, value, text in rows:
        said = markup.inline(markup.first_sentence(text), linked(path, value))
        lines += [f"   * - :py:obj:`~{path}`", f"     - {said}"]
    return "\n".join(lines)


PAGES_OF_ERRORS = Path(__file__).parent / "errors"
MORE = "\n\n   Code that fails, and the same mended: :doc:`/errors/{}`."


def directive(entry: Entry) -> str:
    """What tells Sphinx to write an entry."""
    value = entry.value
    alias = inspect.isclass(value) and (entry.same or value.__name__ != entry.name)
    if not is_ours(entry) or is_data(value) or alias:
        option = "" if isinstance(value, float) else "\n   :no-value:"
        return f".. autodata:: {entry.name}{option}"
    if not inspect.isclass(value):
        return f".. autofunction:: {entry.name}"
    if issubclass(value, BaseException):
        paged = (PAGES_OF_ERRORS / f"{entry.name}.md").exists()
        return f".. autoexception:: {entry.name}{MORE.format(entry.name) if paged else ''}"
    listed = "" if value is hloom.Array else members_of(value)
    return f".. autoclass:: {entry.name}{listed}"


def members_of(kind: type) -> str:
    """The option that lists what a class defines beside its fields."""
    fields = (*getattr(kind, "_fields", ()), *getattr(kind, "__members__", ()))
    own = [x for x, value in vars(kind).items() if x[0] != "_" and inspect.getdoc(value)]
    chosen = [name for name in own if name not in fields]
    return f"\n   :members: {', '.join(chosen)}" * bool(chosen)


def is_data(value: Any) -> bool:
    """Whether a value is neither a function nor a class of hloom's."""
    if inspect.isclass(value):
        return not is_hlooms(value) or is_hlooms(type(value))
    return not callable(value) or not hasattr(value, "__name__")


def members_of_array() -> list[str]:
    """The attributes and methods of `Array`, with a table of each."""
    found = {x: inspect.getattr_static(hloom.Array, x) for x in sorted(vars(hloom.Array))}
    there = {x: value for x, value in found.items() if x[0] != "_" and hasattr(hloom.Array, x)}
    parts = []
    for title, is_one, form in (
        ("Attributes", inspect.isdatadescriptor, "autoattribute"),
        ("Methods", inspect.isroutine, "automethod"),
    ):
        chosen = {f"hloom.Array.{x}": value for x, value in there.items() if is_one(value)}
        rows = [(path, value, text_of_member(path, value)) for path, value in chosen.items()]
        parts += [heading(title, "-"), table(rows)]
        parts += [f".. {form}:: Array.{x}" for x, value in there.items() if is_one(value)]
    absent = {x: value for x, value in found.items() if isinstance(value, Absent)}
    parts += operators_of_array()
    return [*parts, heading("Of other arrays", "-"), *elsewhere(absent)]


#: Operators that are no rows of `BINARY` or `COMPARISONS`.
OTHER_OPERATORS = {
    "x ** y": "power",
    "divmod(x, y)": "divmod",
    "-x": "negative",
    "+x": "positive",
    "~x": "invert",
    "abs(x)": "absolute",
    "round(x)": "round",
}


def operators_of_array() -> list[str]:
    """Which function an operator is."""
    symbols = {method: symbol for symbol, method in REFLECTED.items()}
    found = {f"x {symbols[f'__r{name}__']} y": fun.__name__ for name, fun in BINARY.items()}
    found |= {f"x {symbol} y": fun.__name__ for symbol, fun in COMPARISONS.values()}
    rows = [
        f"   * - ``{operator}``\n     - :py:obj:`hloom.numpy.{name}`"
        for operator, name in (found | OTHER_OPERATORS).items()
    ]
    return [heading("Operators", "-"), ".. list-table::\n   :class: names\n\n" + "\n".join(rows)]


def elsewhere(absent: dict[str, Absent]) -> list[str]:
    """What other libraries' arrays have, and what to write for it."""
    rows = [f"   * - ``x.{name}``\n     - ``{value.code}``" for name, value in absent.items()]
    return [
        "What arrays of NumPy and of other libraries have, and what to write here:",
        ".. list-table::\n   :class: names\n\n" + "\n".join(rows),
    ]


def all_options() -> list[str]:
    """What `hloom.config` holds."""
    rows = [
        f"   * - ``{name}``\n     - ``{default!r}``\n     - {about}"
        for name, (default, _, about) in OPTIONS.items()
    ]
    return [
        heading("All options", "-"),
        "An option is an attribute of :py:obj:`hloom.config`, and has a variable in the "
        "environment: ``HLOOM_EXACT=1``. The second column has what holds without either.",
        ".. list-table::\n   :class: names\n\n" + "\n".join(rows),
    ]


#: Page -> what makes the sections that follow from a table of the source.
MORE_OF = {"hloom/arrays": members_of_array, "hloom/options": all_options}


def result(path: str) -> str:
    module, _, name = path.rpartition(".")
    listed = members_of(getattr(import_module(module), name))
    return f"{heading(words(path), '-')}\n\n.. autoclass:: {path}{listed}"


def index_of(module: str, found: dict[str, list[Entry]]) -> str:
    """The page of a module that has a page for each family: all its names."""
    stem = stem_of(module)
    doc = inspect.cleandoc(import_module(module).__doc__ or "")
    titles = {}
    rows = [".. list-table::\n   :class: names\n"]
    for page in sorted(page for page in found if page.startswith(f"{stem}/")):
        family = page.rpartition("/")[2]
        titles[family] = upper(TITLES.get(family, words(family)))
        listed = [f":py:obj:`~{entry.path}`" for entry in found[page]]
        rows += [f"   * - :doc:`{titles[family]} <{family}>`", f"     - {' '.join(listed)}"]
    hidden = [f"   {title} <{family}>" for family, title in titles.items()]
    return "\n".join([
        heading(module, "="),
        f"\n.. py:module:: {module}\n",
        *markup.rst(doc),
        *rows,
        "\n.. toctree::\n   :hidden:\n",
        *hidden,
    ]) + "\n"  # fmt: skip


CONTENTS = """
Every public name, with how it is called and an example that the tests run. The examples take these
imports for granted:

.. code-block:: python

   import hloom
   import hloom.numpy as jnp
   import numpy as np
   from hloom import lax

:ref:`All names in one list <genindex>`.
"""


def contents() -> str:
    """The first page of the reference: the modules, and what each is."""
    rows = [f"   * - :doc:`{m} <{first_page(m)}>`\n     - {MODULES[m]}" for m in MODULES]
    nested = [m for m in MODULES if m.rpartition(".")[0] in PARTED[1:]]  # their parent lists them
    listed = "\n".join(f"   {m} <{first_page(m)}>" for m in MODULES if m not in nested)
    return "\n".join([
        heading("API reference", "="),
        CONTENTS,
        ".. list-table::\n   :widths: 1 3\n",
        *rows,
        f"\n.. toctree::\n   :hidden:\n\n{listed}\n",
    ])  # fmt: skip


def first_page(module: str) -> str:
    return stem_of(module) + "/index" * (module in PARTED)


def write(folder: Path) -> None:
    """Write the pages into a folder, those that are another now, and take away what is none."""
    texts = {folder / f"{page}.rst": text for page, text in pages().items()}
    for path in {*folder.rglob("*.rst")} - {*texts}:
        path.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
