"""The two drawings of docs/walk.md, as SVG that is readable on a light and on a dark page.

`layers` draws the contract that `make lint` enforces, with the imports that there are; `traces`
draws the traces that were found in force in a function.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt  # noqa: E402  (the backend is chosen first)
from matplotlib.patches import FancyBboxPatch  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "hloom"

# Text is kept as text, and ids depend on nothing but the drawing.
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "hloom", "font.family": "sans-serif"}
INK, LINE = "#14213d", "#7d7d7d"  # the first is in boxes only, the second seen on white and black
BLUE, SAND = "#cfe2f3", "#f6e3c5"

# What each group does, the second line in its box; the lowest have no space for one.
ROLES = {
    "testing": "cases, three engines side by side",
    "lax": "the strict functions",
    "tree_util": "functions of trees",
    "numpy": "convert, promote, broadcast",
    "control": "jit, cond, scan, while",
    "engines": "XLA, interpreter, NumPy",
    "transforms": "grad, vmap",
    "ops": "primitives and their rules",
    "stablehlo": "the program as text",
    "core": "arrays, Jaxprs, traces, primitives",
    "config": "options, and with-statements",
    "errors": "", "dtypes": "", "tree": "",
}  # fmt: skip


class Box(NamedTuple):
    """A box around its centre, with one or two lines of text."""

    x: float
    y: float
    width: float
    lines: tuple[str, ...]
    colour: str

    HEIGHT = 0.62

    @property
    def top(self) -> float:
        return self.y + Box.HEIGHT / 2

    @property
    def bottom(self) -> float:
        return self.y - Box.HEIGHT / 2


def draw(axes: Any, box: Box) -> None:
    corner = box.x - box.width / 2, box.bottom
    look = {"facecolor": box.colour, "edgecolor": LINE, "linewidth": 0.8, "zorder": 3}
    rounded = "round,pad=0,rounding_size=0.08"
    axes.add_patch(FancyBboxPatch(corner, box.width, Box.HEIGHT, rounded, **look))
    for i, line in enumerate(box.lines):
        y = box.y + (0.13 - 0.27 * i if len(box.lines) > 1 else 0)
        font = {"size": 8.5} if i else {"size": 11, "weight": "bold"}
        axes.text(box.x, y, line, color=INK, ha="center", va="center", zorder=4, **font)


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], bend: float = 0) -> None:
    look = {"arrowstyle": "-|>", "color": LINE, "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look | {"connectionstyle": f"arc3,rad={bend}"})


def down(axes: Any, upper: Box, lower: Box, bend: float = 0) -> None:
    """An arrow from the bottom of a box to the top of another."""
    arrow(axes, (upper.x, upper.bottom), (lower.x, lower.top), bend)


def note(axes: Any, x: float, y: float, text: str) -> None:
    axes.text(x, y, text, color=LINE, size=8.5, style="italic", ha="center", va="center")


def picture(width: float, height: float) -> tuple[Any, Any]:
    figure = plt.figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(figure)


# ---- the layers ---------------------------------------------------------------------------------
WIDTH, MAIN, STEP = 7.0, 5.5, 0.95  # inches: of the drawing, of its main part, from row to row


def contract() -> list[list[str]]:
    """The layers of setup.cfg, the highest first, without groups that are not there yet."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = config["importlinter:contract:layers"]["layers"].strip().splitlines()
    rows = [re.findall(r"\w+", line) for line in lines]
    there = [[name for name in row if is_there(name)] for row in rows]
    return [row for row in there if row]


def is_there(group: str) -> bool:
    return (PACKAGE / group).is_dir() or (PACKAGE / f"{group}.py").is_file()


def imports(group: str) -> set[str]:
    """The names after `hloom.` of what the modules of a group import."""
    files = sorted((PACKAGE / group).rglob("*.py")) or [PACKAGE / f"{group}.py"]
    names: list[str] = []
    for node in (x for file in files for x in ast.walk(ast.parse(file.read_text("utf-8")))):
        if isinstance(node, ast.Import):
            names += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{name.name}" for name in node.names]
    return {name.split(".")[1] for name in names if name.startswith("hloom.")}


def arrows(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The imports from one layer into a lower one, without those that follow from others."""
    level = {name: i for i, row in enumerate(rows) for name in row}
    direct = {name: {x for x in imports(name) if level.get(x, -1) > level[name]} for name in level}
    reached: dict[str, set[str]] = {}
    for name in sorted(level, key=lambda x: -level[x]):
        reached[name] = direct[name].union(*(reached[x] for x in direct[name]))
    for name in level:
        for target in sorted(direct[name]):
            if not any(target in reached[x] for x in direct[name]):
                yield name, target


def placed(rows: Sequence[Sequence[str]], found: Sequence[tuple[str, str]]) -> dict[str, Box]:
    """The groups' boxes: each below the groups that import it, so that few arrows cross.

    What imports only groups far below is at the side, out of the way of its arrows.
    """
    level = {name: i for i, row in enumerate(rows) for name in row}
    near = {a for a, b in found if level[b] - level[a] < 3}.union(rows[-1])
    inner = [[name for name in row if name in near] for row in rows]
    beside = [False, *[beside_one_another(a, b, found) for a, b in zip(inner, inner[1:])], False]
    boxes: dict[str, Box] = {}

    def wanted(name: str) -> float:
        places = [boxes[a].x for a, b in found if b == name]
        return sum(places) / len(places) if places else MAIN / 2

    for i, row in enumerate(rows):
        y, wide = STEP * (len(rows) - i - 0.5), 2.3 if ROLES[row[0]] else 1.15
        ordered = sorted(inner[i], key=wanted)
        for name, x in zip(ordered, spread([wanted(x) for x in ordered], wide + 0.2)):
            x += (beside[i] - beside[i + 1]) * (wide + 0.2) / 2
            boxes[name] = Box(x, y, wide, lines_of(name), BLUE)
        for name in (x for x in row if x not in near):
            boxes[name] = Box(WIDTH - 0.65, y, 1.2, lines_of(name), BLUE)
    return boxes


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Places at least `gap` apart, in the order of those wanted and around their mean."""
    places: list[float] = []
    for x in wanted:
        places.append(max(x, places[-1] + gap) if places else x)
    shift = (sum(wanted) - sum(places)) / len(places)
    return [x + shift for x in places]


def beside_one_another(upper: Sequence[str], lower: Sequence[str], found: Sequence[Any]) -> bool:
    """Whether two rows are a box each with no arrow between them."""
    return len(upper) == len(lower) == 1 and (upper[0], lower[0]) not in found


def lines_of(name: str) -> tuple[str, ...]:
    return (name, ROLES[name]) if ROLES[name] else (name,)


def layers(path: Path) -> None:
    """Draw the layers of the package, and who imports whom."""
    rows = contract()
    found = list(arrows(rows))
    boxes = placed(rows, found)
    with plt.rc_context(STYLE):
        figure, axes = picture(WIDTH, STEP * len(rows))
        for upper, lower in found:
            bend = -0.12 if boxes[upper].x > MAIN else 0  # around the main part
            down(axes, boxes[upper], boxes[lower], bend)
        for box in boxes.values():
            draw(axes, box)
        save(figure, path)


# ---- the traces ---------------------------------------------------------------------------------
class Row(NamedTuple):
    """A trace, and the value that it alone opens: a name and a line of text of each."""

    trace: tuple[str, str]
    value: tuple[str, str]


def traces(path: Path, rows: Sequence[Row], links: Sequence[tuple[int, int, str]]) -> None:
    """Draw traces, innermost first, each above its parent, beside the values that they open.

    `links` are (row, lower row, name): the value of one row holds that of another by this name.
    """
    step, wide = 1.15, 2.5
    heights = [step * (len(rows) - i - 0.5) for i in range(len(rows))]
    left = [Box(1.45, y, wide, row.trace, BLUE) for row, y in zip(rows, heights)]
    right = [Box(4.95, y, wide, row.value, SAND) for row, y in zip(rows, heights)]
    with plt.rc_context(STYLE):
        figure, axes = picture(WIDTH, step * len(rows))
        for trace, value in zip(left, right):
            opens = "opens" if trace is not left[-1] else "computes"
            arrow(axes, (trace.x + wide / 2, trace.y), (value.x - wide / 2, value.y))
            note(axes, (trace.x + value.x) / 2, trace.y + 0.13, opens)
        for trace, parent in zip(left, left[1:]):
            down(axes, trace, parent)
            note(axes, trace.x + 0.33, trace.y - step / 2, "parent")
        for upper, lower, name in links:
            holder, held = right[upper], right[lower]
            if lower == upper + 1:
                down(axes, holder, held)
                note(axes, held.x + 0.36, held.y + step / 2, name)
            else:  # around what is between them
                edge = held.x + wide / 2
                arrow(axes, (edge, holder.y), (edge, held.y), bend=-0.28)
                note(axes, edge - 0.1, held.y + step / 2, name)
        for box in left + right:
            draw(axes, box)
        save(figure, path)
