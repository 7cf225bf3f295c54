"""The public names of hloom, found in the package itself: where each is defined, and what it says.

No list of names is kept by hand.  A public name is one that a public module has, its page follows
from the module that defines it, and its text is its docstring.  `docs/reference.py` makes pages of
them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from enum import EnumType
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, ForwardRef, NamedTuple, get_origin

from docs import markup

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

    >>> import hloom
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

    >>> import hloom
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
