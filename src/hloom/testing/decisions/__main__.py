"""Writes the page: `python -m hloom.testing.decisions docs/semantics.md`, or to stdout."""

from __future__ import annotations

import sys
from pathlib import Path

from hloom.testing.decisions import TOPICS
from hloom.testing.decisions.page import document

if __name__ == "__main__":
    text = document(TOPICS)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
