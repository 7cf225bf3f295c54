"""Docstrings as reStructuredText.

hloom's docstrings are plain text: names and code are in `backticks`, examples start with `>>>`,
lists with `- `, code is indented or fenced.  Sphinx would read `x_` as a link and `**` as bold
type; `rst` keeps every character as it was written.

    python -m docs.markup hloom.numpy.sum     prints the docstring of one name
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator

Link = Callable[[str], str | None]  # the text of a name -> the public name that it means, if any

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LITERAL = re.compile(r"``?([^`]+)``?")
SPECIAL = re.compile(r"([\\*_|])")
ITEM = re.compile(r"- |\d+\. ")
SHIFT = "    "


def rst(text: str, link: Link = lambda name: None) -> list[str]:
    """The lines of a docstring, without its indentation, as Sphinx takes them.

    >>> rst("Sums of `x_`, 2**n of them.\\n\\n    f32[3] -> f32[]")
    ['Sums of ``x_``, 2\\\\*\\\\*n of them.', '', '::', '', '    f32[3] -> f32[]', '']
    """
    lines: list[str] = []
    for kind, block in blocks(text):
        lines += written(kind, block, link)
        lines.append("")
    return lines


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """What empty lines part, each with its kind: example, list, text, code or a language."""
    end = 0
    for fence in FENCE.finditer(text):
        yield from parted(text[end : fence.start()])
        yield fence[1] or "code", fence[2].rstrip()
        end = fence.end()
    yield from parted(text[end:])


def parted(text: str) -> Iterator[tuple[str, str]]:
    """The same for text without fences; code goes on over empty lines, if it is indented."""
    code: list[str] = []
    for block in re.split(r"\n[ ]*\n", text.strip("\n")):
        if block.startswith("    "):
            code.append(block)
            continue
        if code:
            yield "code", inspect.cleandoc("\n" + "\n\n".join(code))
            code = []
        if block.strip():
            yield kind_of(block), block.strip()
    if code:
        yield "code", inspect.cleandoc("\n" + "\n\n".join(code))


def kind_of(block: str) -> str:
    if block.startswith(">>>"):
        return "example"
    return "list" if ITEM.match(block) else "text"


def written(kind: str, block: str, link: Link) -> list[str]:
    """The lines of one block."""
    if kind == "example":
        return block.splitlines()
    if kind in ("list", "text"):
        return inline(block, link).splitlines()
    head = "::" if kind == "code" else f".. code-block:: {kind}"
    return [head, "", *(SHIFT + line if line else "" for line in block.splitlines())]


def inline(text: str, link: Link) -> str:
    """Text with its names marked as code or links, and all else taken as it is."""
    parts = []
    end = 0
    for literal in LITERAL.finditer(text):
        before, name = text[end : literal.start()], literal[1]
        end = literal.end()
        target = link(name)
        marked = f":py:obj:`{name} <{target}>`" if target else f"``{name.strip()}``"
        glued_before = before[-1:].isalnum()
        glued_after = text[end : end + 1].isalnum()
        parts += [escaped(before), "\\ " * glued_before, marked, "\\ " * glued_after]
    return "".join([*parts, escaped(text[end:])])


def escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, in one line.

    >>> first_sentence("The sum, i.e. `x + y`.  Bools\\nare added by `or`.")
    'The sum, i.e. `x + y`.'
    """
    paragraph = " ".join(text.partition("\n\n")[0].split("\n"))
    return re.split(r"(?<=[^.][^.][.])(?:  | (?=[A-Z]))", paragraph, maxsplit=1)[0]


if __name__ == "__main__":
    print("\n".join(rst(inspect.getdoc(pkgutil.resolve_name(sys.argv[1])))))
