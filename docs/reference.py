"""The pages of the API reference, written from the package itself.

    python -m docs.reference docs/api

`docs/conf.py` writes them before each build.  No list of names is kept by hand: a public name is
one that a public module has, its page and section follow from the module that defines it, and its
text is its docstring.  `hloom.numpy.sin` is imported from `hloom.numpy.pointwise.trigonometric`, so
it is in the section "Trigonometric" of the page `numpy/pointwise`.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from enum import EnumType
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ForwardRef, NamedTuple, get_origin

import hloom
from docs import markup
from hloom.core.context import OPTIONS
from hloom.errors.absent import Absent
from hloom.numpy.operators import BINARY, COMPARISONS, REFLECTED

#: Public module -> what it is.  The ones that have a page for each family are `PARTED`.
MODULES = {
    "hloom": "transformations, control of compilation, devices, options",
    "hloom.numpy": "NumPy's functions, which promote and broadcast their operands",
    "hloom.numpy.linalg": "linear algebra with NumPy's names",
    "hloom.lax": "strict operations, which neither promote nor broadcast; control flow",
    "hloom.lax.linalg": "factorizations of matrices",
    "hloom.tree": "nested containers of arrays",
    "hloom.tree_util": "the same by JAX's longer names, and the registration of classes",
    "hloom.dtypes": "the table of dtypes, and promotion",
    "hloom.core": "Jaxprs, their parts, traces and primitives",
    "hloom.engines": "who runs a program: XLA, the StableHLO interpreter, NumPy",
    "hloom.errors": "exceptions and warnings",
    "hloom.testing": "one function on several engines; derivatives and batches checked",
}
PARTED = ("hloom", "hloom.numpy", "hloom.lax")

#: Where the names of a module are, if not on the page of the family that defines them: the longest
#: beginning of a place decides.
PLACES = {
    "hloom": {
        "hloom.transforms": "transformations",
        "hloom.control": "transformations",
        "hloom.control.devices": "devices",
        "hloom.config": "options",
        "hloom.core.trace": "options",
        "hloom.core.array": "arrays",
        "hloom.dtypes": "transformations",
    },
    "hloom.numpy": {
        "hloom.core.array": "creation",
        "hloom.numpy.creation.dtype_functions": "dtypes",
        "hloom.numpy.creation.scalars": "dtypes",
        "hloom.numpy.attributes": "dtypes",
        "hloom.numpy.padding": "shapes",
        "hloom.numpy.common.printing": "settings",
        "numpy": "settings",
    },
    "hloom.lax": {
        "hloom.control": "control_flow",
        "hloom.ops.common.linear.add_any": "pointwise",
        "hloom.ops.common.linear.broadcast_in_dim": "shapes",
        "hloom.ops.common.linear.reduce_sum": "reductions",
        "hloom.ops.common.linear.transpose": "shapes",
    },
}

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
SPELLED = {"fft": "FFT", "ieee": "IEEE", "jit": "Compilation", "nans": "NaN", "numpy": "NumPy"}


# ---- names --------------------------------------------------------------------------------------
class Entry(NamedTuple):
    """A public name: `hloom.numpy.sin`, and what is known of it."""

    module: str  # the public module that has it
    name: str
    value: Any
    home: str  # the module that defines it
    order: int  # its place in the source of `home`
    same: str | None  # the public name that the value had before

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def page(self) -> str:
        return page_of(self.module, self.home, self.name)


def page_of(module: str, home: str, name: str) -> str:
    """The page of a name: `numpy/pointwise`.

    >>> page_of("hloom.numpy", "hloom.numpy.pointwise.trigonometric", "sin")
    'numpy/pointwise'
    >>> page_of("hloom", "hloom.control.jit.decorator", "jit")
    'hloom/transformations'
    """
    stem = module.removeprefix("hloom.").replace(".", "/")
    if module not in PARTED:
        return stem
    place = f"{home}.{name}".split(".")
    for length in range(len(place), 0, -1):
        family = PLACES[module].get(".".join(place[:length]))
        if family:
            return f"{stem}/{family}"
    return f"{stem}/{place[2]}"


def names(module: ModuleType) -> list[str]:
    """The public names of a module, modules left out.

    Without `__all__` those that it defines, or if it defines none, those that it imports.
    """
    listed = getattr(module, "__all__", None)
    if listed is None:
        defined = [name for name in definitions(module.__name__) if is_public(name)]
        listed = defined or [name for name in imports(module) if is_public(name)]
    return [name for name in listed if not inspect.ismodule(getattr(module, name))]


def is_public(name: str) -> bool:
    return not name.startswith("_") and not name.isupper()


def imports(module: ModuleType) -> dict[str, tuple[str, str]]:
    """Name -> the module it is imported from, and its name there."""
    return {
        alias.asname or alias.name: (str(statement.module), alias.name)
        for statement in ast.parse(inspect.getsource(module)).body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


@cache
def definitions(module: str) -> dict[str, int]:
    """Name -> the line of its definition, for those that the source of a module defines."""
    found: dict[str, int] = {}
    for statement in ast.parse(inspect.getsource(import_module(module))).body:
        for name in defined(statement):
            found.setdefault(name, statement.lineno)
    return found


def defined(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (x.id for x in ast.walk(target) if isinstance(x, ast.Name))


@cache
def entries() -> dict[str, Entry]:
    """All public names, module by module, each module in the order of its source."""
    found: dict[str, Entry] = {}
    first: dict[int, str] = {}
    for name in MODULES:
        for entry in entries_of(import_module(name)):
            shared = callable(entry.value) and is_ours(entry)
            same = first.setdefault(id(inspect.unwrap(entry.value)), entry.path) if shared else None
            found[entry.path] = entry._replace(same=same if same != entry.path else None)
    return found


@cache
def functions() -> dict[int, str]:
    """The identity of a function, without what is wrapped around it -> its public name."""
    own = [x for x in entries().values() if inspect.isroutine(x.value) and not x.same]
    return {id(inspect.unwrap(entry.value)): entry.path for entry in own}


def entries_of(module: ModuleType) -> list[Entry]:
    imported = imports(module)
    found = []
    for name in names(module):
        home, original = imported.get(name, (module.__name__, name))
        while home.startswith("hloom") and original not in definitions(home):
            home, original = imports(import_module(home))[original]
        order = definitions(home)[original] if home.startswith("hloom") else 0
        found.append(Entry(module.__name__, name, getattr(module, name), home, order, None))
    return sorted(found, key=lambda entry: (entry.home, entry.order, entry.name))


def is_ours(entry: Entry) -> bool:
    """Whether hloom defines it: some names are NumPy's own objects."""
    made = str(getattr(entry.value, "__module__", ""))
    return entry.home.startswith("hloom") and not made.startswith("numpy")


def is_hlooms(kind: type) -> bool:
    return kind.__module__.startswith("hloom")


# ---- what is said of a name ---------------------------------------------------------------------
def text_of(entry: Entry) -> str:
    """The docstring of a name; of a name that has none, what it is."""
    if entry.same:
        return f"The same as `{entry.same.removeprefix(entry.module + '.')}`."
    noted = comment(entry)
    if noted or not is_ours(entry):
        return noted or f"NumPy's own `numpy.{entry.name}`, as it is."
    doc, kind = entry.value.__doc__, get_origin(entry.value) or type(entry.value)
    if not isinstance(doc, str) or doc == kind.__doc__ and not is_hlooms(kind):
        return ""
    about = inspect.cleandoc(doc).partition("\n\nFails:")[0]  # the page of an error has the rest
    members = [f"`{name}`" for name in getattr(entry.value, "__members__", ())]
    return f"{about}\n\nIts members: {', '.join(members)}." if members else about


def text_of_member(path: str, value: Any) -> str:
    """The docstring of an attribute or a method; of a method that is a function, its name."""
    function = functions().get(id(inspect.unwrap(value))) if inspect.isroutine(value) else None
    if function and path.startswith("hloom.Array."):
        return f"The same as `{function}`, of this array."
    return inspect.getdoc(value) or ""


def comment(entry: Entry) -> str:
    """The `#:` lines above a definition, which say what a table or a type is."""
    if not entry.order:
        return ""
    lines = inspect.getsource(import_module(entry.home)).splitlines()[: entry.order - 1]
    found: list[str] = []
    while lines and lines[-1].startswith("#:"):
        found.insert(0, lines.pop().removeprefix("#:").strip())
    return "\n".join(found)


def signature(value: Any, bound: bool = False) -> str | None:
    """How a function is called, without what says nothing: `Any`, and objects for "not given".

    >>> signature(hloom.grad)
    '(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, ...
    """
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    if isinstance(value, EnumType):  # the one of Enum itself
        return None
    parameters = [shown(p) for p in found.parameters.values()][bound:]
    result = found.empty if inspect.isclass(value) else found.return_annotation
    ending = "" if result in (found.empty, "Any", Any) else f" -> {spelled(result)}"
    return str(found.replace(parameters=parameters, return_annotation=found.empty)) + ending


@cache
def types() -> dict[str, str]:
    """The name of a class, or of a type alias, in a signature -> where it is documented."""
    own = [x for x in entries().values() if is_ours(x) and x.module != "hloom.numpy"]
    found = {x.name: x.path for x in reversed(own) if not inspect.isroutine(x.value)}
    results = [path for paths in RESULTS.values() for path in paths]
    return found | {path.rpartition(".")[2]: path for path in results}


def shown(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter as it is written in a signature."""
    annotation, default = parameter.annotation, parameter.default
    if annotation in ("Any", Any):
        annotation = parameter.empty
    elif annotation is not parameter.empty:
        annotation = Words(spelled(annotation))
    if default is not parameter.empty and repr(default).startswith("<"):
        default = Words(getattr(default, "__name__", "..."))
    return parameter.replace(annotation=annotation, default=default)


class Words(str):
    """Text that a signature shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


def spelled(annotation: Any) -> str:
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


#: How examples call the modules.
SHORT = {"jnp": "hloom.numpy", "lax": "hloom.lax"}


def linked(path: str, value: Any) -> markup.Link:
    """What the names in a docstring mean: those of other public functions, that is.

    >>> linked("hloom.numpy.sin", hloom.numpy.sin)("lax.cos")
    'hloom.lax.cos'
    """
    module = path.rpartition(".")[0]
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        parameters = {}

    def link(name: str) -> str | None:
        first, _, rest = name.partition(".")
        for full in (f"{SHORT.get(first, first)}.{rest}", f"{module}.{name}"):
            entry = entries().get(full)
            known = entry and full != path and name not in parameters and callable(entry.value)
            if known and first != "numpy":  # `numpy.ndarray` is NumPy's
                return full
        return None

    return link


# ---- pages --------------------------------------------------------------------------------------
#: What users get from a function and have no public name for, on the page of that function.
RESULTS = {
    "hloom/arrays": ["hloom.numpy.indexing.updates.AtIndex"],
    "hloom/options": ["hloom.config.Options"],
    "hloom/transformations": [
        "hloom.control.jit.stages.Traced",
        "hloom.control.jit.stages.Lowered",
        "hloom.control.jit.stages.Compiled",
    ],
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
