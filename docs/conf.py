"""Sphinx settings.  `make docs` builds the pages into build/docs."""

import inspect
import sys
from pathlib import Path

from sphinx.addnodes import pending_xref

import hloom

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from docs import markup, public, reference  # noqa: E402

project = "hloom"
author = "The hloom authors"
copyright = author
version = release = hloom.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

add_module_names = False
toc_object_entries_show_parents = "hide"

smartquotes = False  # "drop" is a value as often as a word

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"hloom {version}"


# ---- the API reference: pages from docs/reference.py, text and signatures from the package -------
def write_reference(app):
    reference.write(DOCS / "api")


def document(app, what, name, obj, options, lines):
    """The docstring of a name, as reStructuredText."""
    entry = public.entries().get(name)
    if name.startswith("hloom.Array."):  # of a slot Sphinx passes a mark
        obj = inspect.getattr_static(hloom.Array, name.rpartition(".")[2])
    text = public.text_of(entry) if entry else public.text_of_member(name, obj)
    lines[:] = markup.rst(text, public.linked(name, obj))


def call(app, what, name, obj, options, signature, returns):
    """How a function is called, with its annotations as they are written."""
    if what in ("function", "method", "class"):
        return public.signature(obj, bound=what == "method"), ""


def source_of(app, module, name):
    """The module that defines a public name, for the link to its source."""
    entry = public.entries().get(f"{module}.{name}")
    return entry and entry.home


def name_types(app, tree):
    """Let a type in a signature be hloom's only where hloom has it: `bool` there is Python's."""
    for type_ in [*tree.findall(pending_xref)]:
        if type_["reftype"] == "class":
            path = public.types().get(type_["reftarget"])
            if path:
                type_["reftarget"] = path
            else:
                type_.replace_self(type_.children)


def setup(app):
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", document)
    app.connect("autodoc-process-signature", call)
    app.connect("doctree-read", name_types)
    app.connect("viewcode-follow-imported", source_of)
