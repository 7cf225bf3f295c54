"""Sphinx settings.  `make docs` builds the pages into build/docs."""

import builtins
import sys
from pathlib import Path

import hloom
from sphinx.addnodes import pending_xref

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import markup  # noqa: E402
import reference  # noqa: E402

project = "hloom"
author = "The hloom authors"
copyright = author
version = release = hloom.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = False
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"hloom {version}"


# ---- the API reference: pages from docs/reference.py, text and signatures from the package -------
def write_reference(app):
    reference.write(DOCS / "api")


def document(app, what, name, obj, options, lines):
    """The docstring of a name, as reStructuredText."""
    entry = reference.entries().get(name)
    text = reference.text_of(entry) if entry else reference.text_of_member(name, obj, lines)
    lines[:] = markup.rst(text, reference.linked(name, obj))


def call(app, what, name, obj, options, signature, returns):
    """How a function is called, with its annotations as they are written."""
    if what in ("function", "method", "class"):
        return reference.signature(obj, bound=what == "method"), ""


def source_of(app, module, name):
    """The module that defines a public name, for the link to its source."""
    entry = reference.entries().get(f"{module}.{name}")
    return entry and entry.home


def unlink_builtins(app, tree):
    """Let `bool` in a signature be Python's, where Sphinx would take it for `hloom.numpy.bool`."""
    for reference in [*tree.findall(pending_xref)]:
        if reference["reftype"] == "class" and hasattr(builtins, reference["reftarget"]):
            reference.replace_self(reference.children)


def setup(app):
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-process-docstring", document)
    app.connect("autodoc-process-signature", call)
    app.connect("doctree-read", unlink_builtins)
    app.connect("viewcode-follow-imported", source_of)
