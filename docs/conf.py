"""Sphinx settings.  `make docs` builds the pages into build/docs."""

import hloom

project = "hloom"
author = "The hloom authors"
copyright = author
version = release = hloom.__version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"hloom {version}"
