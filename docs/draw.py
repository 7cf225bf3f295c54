"""Draws the pictures of the pages, as SVG.

    python -m docs.draw docs/pictures             draws them anew: make pictures
    python -m docs.draw measure docs/pictures     times the calls of `calls.json` anew, then draws

A picture carries the numbers it was drawn from, in its description, and its words as text: the
tests compare both with what is drawn now.  Colours are chosen to be seen on white and on black.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

import hloom
import hloom.numpy as jnp
from hloom.dtypes import lattice

INK = "#7b7b7b"
KINDS = {
    "bool": "#a07cc5",
    "integer": "#3f8fc0",
    "float": "#d07c2c",
    "complex": "#4f9a55",
}
HIGH = "#cf5a6c"

matplotlib.rcParams.update({
    "svg.fonttype": "none",  # words stay words
    "svg.hashsalt": "hloom",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
})  # fmt: skip

Place = tuple[float, float]
Drawing = tuple[Figure, dict[str, Any]]  # and the numbers in it


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure with one empty place to draw at, in inches."""
    figure = Figure((width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal")
    return figure, axes


def box(axes: Axes, place: Place, text: str, color: str, width: float = 0.78) -> Rectangle:
    """A word in a box around a place."""
    x, y = place
    edge = Rectangle((x - width / 2, y - 0.24), width, 0.48, fill=False, ec=color, lw=1.6)
    axes.add_patch(edge)
    axes.text(x, y, text, ha="center", va="center", color=color, family="monospace")
    return edge


def arrow(axes: Axes, start: Rectangle, end: Rectangle) -> None:
    """An arrow from box to box."""
    line = FancyArrowPatch(
        start.get_center(), end.get_center(), patchA=start, patchB=end, shrinkA=1, shrinkB=2,
        arrowstyle="->", mutation_scale=9, color=INK, lw=1,
    )  # fmt: skip
    axes.add_patch(line)


# ---- the promotion lattice ----------------------------------------------------------------------
#: Node -> where it is drawn.  The storage dtypes share a box for each kind.
PLACES = {
    "bool": (0, 0),
    "i*": (1.2, 0),
    **{f"u{8 << i}": (2.4 + 1.2 * i, 0.6) for i in range(4)},
    **{f"i{8 << i}": (2.4 + 1.2 * i, -0.6) for i in range(4)},
    "f*": (7.2, 0),
    "f16": (8.4, 0.6),
    "bf16": (8.4, -0.6),
    "f32": (9.6, 0),
    "f64": (10.8, 0.6),
    "c*": (8.4, -1.6),
    "c64": (10.8, -1.0),
    "c128": (12, -0.2),
}
NARROW = {
    "u2 u4 i2 i4": (lattice.NARROW_INTEGERS, (1.2, -1.6)),
    "f4_* f8_*": (lattice.NARROW_FLOATS, (8.4, 1.6)),
}


def kind_of(node: str) -> str:
    """The kind of a node of the lattice.

    >>> kind_of("bf16"), kind_of("i*"), kind_of("c64")
    ('float', 'integer', 'complex')
    """
    if node == "bool":
        return node
    return {"f": "float", "b": "float", "c": "complex"}.get(node[0], "integer")


def promotion() -> Drawing:
    """The arrows of `hloom.dtypes.lattice.STANDARD`."""
    figure, axes = canvas(9.6, 3.3)
    boxes = {node: box(axes, at, node, KINDS[kind_of(node)]) for node, at in PLACES.items()}
    for text, (nodes, place) in NARROW.items():
        shared = box(axes, place, text, KINDS[kind_of(nodes[0])], width=1.7)
        boxes |= dict.fromkeys(nodes, shared)
    arrows = [(a, b) for a, above in lattice.STANDARD.arrows.items() for b in above]
    for start, end in dict.fromkeys((boxes[a], boxes[b]) for a, b in arrows):
        arrow(axes, start, end)
    axes.set(xlim=(-0.5, 12.5), ylim=(-1.95, 1.95))
    return figure, {"arrows": arrows}


# ---- a function and its gradient ----------------------------------------------------------------
def hill(p: jnp.ndarray) -> jnp.ndarray:
    x, y = p
    return jnp.sin(x) * jnp.cos(y) - 0.1 * (x**2 + y**2)


def gradient() -> Drawing:
    """`hill` by its levels, and `vmap(grad(hill))` as arrows."""
    x, y = np.meshgrid(np.linspace(-3, 3, 61), np.linspace(-2, 2, 41))
    levels = hloom.vmap(hill)(np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)
    points = np.stack([x[4::8, 6::8].ravel(), y[4::8, 6::8].ravel()], axis=1)
    slopes = np.asarray(hloom.vmap(hloom.grad(hill))(points))
    figure = Figure((6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    shades = LinearSegmentedColormap.from_list("height", [KINDS["integer"], KINDS["float"]])
    drawn = axes.contour(x, y, np.asarray(levels), 12, cmap=shades, linewidths=1.2)
    axes.quiver(*points.T, *slopes.T, color=HIGH, width=0.005, scale=14, scale_units="width")
    figure.colorbar(drawn, label="height")
    axes.set(xlabel="x", ylabel="y", aspect="equal")
    return figure, {"points": points.round(3).tolist(), "slopes": slopes.round(3).tolist()}


# ---- the axes of vmap ---------------------------------------------------------------------------
def axes_of_vmap() -> Drawing:
    """Which axis of an operand `in_axes=1` takes, and where `out_axes=0` puts it."""
    operand = np.arange(12).reshape(3, 4)
    result = np.asarray(hloom.vmap(lambda column: column[::-1], in_axes=1, out_axes=0)(operand))
    colors = [*KINDS.values()]
    figure, axes = canvas(8.2, 2.6)
    grid(axes, 0, operand, lambda row, column: colors[column])
    for i in range(4):
        grid(axes, 5.4 + 1.3 * i, operand[:, i : i + 1], lambda row, column, i=i: colors[i])
    grid(axes, 11.6, result, lambda row, column: colors[row])
    words = (
        (2, "x: i32[3,4]"),
        (7.85, "f gets i32[3], 4 columns at once"),
        (13.1, "result: i32[4,3]"),
    )
    for x, text in words:
        axes.text(x, 2.5, text, ha="center", family="monospace")
    for x, text in ((4.7, "in_axes=1"), (10.9, "out_axes=0")):
        axes.text(x, -2.4, text, ha="center", family="monospace", color=HIGH)
        axes.annotate(
            "", (x + 0.5, 0), (x - 0.5, 0), arrowprops={"arrowstyle": "->", "color": HIGH}
        )
    axes.set(xlim=(-0.2, 15), ylim=(-2.7, 2.9))
    return figure, {"operand": operand.tolist(), "result": result.tolist()}


def grid(axes: Axes, left: float, values: Any, color: Callable[[int, int], str]) -> None:
    """The elements of a matrix in squares, from `left` to the right, around height 0."""
    rows, columns = values.shape
    for (row, column), value in np.ndenumerate(values):
        shade = color(row, column)
        corner = (left + column, rows / 2 - row - 1)
        axes.add_patch(Rectangle(corner, 0.94, 0.94, color=shade, alpha=0.28, lw=0))
        x, y = corner
        axes.text(x + 0.47, y + 0.45, str(value), ha="center", va="center", color=shade)


# ---- where the time of a first call goes --------------------------------------------------------
#: Run in a process of its own; prints stage -> microseconds.
STAGES = """
import json, statistics, time
import hloom, hloom.numpy as jnp
x = jnp.ones((64, 64)).block_until_ready()
f = hloom.jit(lambda x: jnp.sum(jnp.tanh(x @ x) * x, axis=1))
spent, last = {}, time.perf_counter()
def done(stage):
    global last
    spent[stage] = 1e6 * (time.perf_counter() - last)
    last = time.perf_counter()
traced = f.trace(x); done("trace")
lowered = traced.lower(); done("write StableHLO")
compiled = lowered.compile(); done("compile")
compiled(x).block_until_ready(); done("first run")
f(x).block_until_ready()
def call():
    start = time.perf_counter()
    f(x).block_until_ready()
    return 1e6 * (time.perf_counter() - start)
spent["a later call"] = statistics.median(call() for _ in range(1000))
print(json.dumps(spent))
"""


def measure(folder: Path, processes: int = 15) -> None:
    """Write `calls.json`: medians of processes without and with programs on disk, in turn."""
    with tempfile.TemporaryDirectory() as cache:
        spent(HLOOM_CACHE_DIR=cache)  # puts the program there
        pairs = [(spent(HLOOM_CACHE="0"), spent(HLOOM_CACHE_DIR=cache)) for _ in range(processes)]
    cold, warm = zip(*pairs)
    found = {"nothing kept": middle(cold), "program on disk": middle(warm)}
    (folder / "calls.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def spent(**environment: str) -> dict[str, float]:
    """Stage -> microseconds, in a process of its own."""
    command = [sys.executable, "-c", STAGES]
    run = subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)
    return json.loads(run.stdout)


def middle(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {stage: round(statistics.median(run[stage] for run in runs), 1) for stage in runs[0]}


def calls() -> Drawing:
    """The stages of a first call, as multiples of a later call, on a logarithmic scale."""
    found = json.loads((Path(__file__).parent / "pictures" / "calls.json").read_text("utf-8"))
    figure = Figure((7.6, 3), layout="constrained")
    axes = figure.subplots()
    names = [*next(iter(found.values()))][::-1]
    unit = statistics.mean(stages[names[0]] for stages in found.values())
    for (label, stages), up, color in zip(found.items(), (0.19, -0.19), (HIGH, KINDS["integer"])):
        heights = np.arange(len(names)) + up
        ratios = [stages[name] / unit for name in names]
        axes.barh(heights, ratios, height=0.34, color=color, label=label)
        for height, ratio in zip(heights, ratios):
            axes.text(ratio * 1.15, height, multiple(ratio), va="center", fontsize=9)
    axes.set_xscale("log")
    axes.set(yticks=range(len(names)), yticklabels=names, xlim=(0.3, 1e5))
    axes.set_xticks([], [])
    axes.set_xticks([], [], minor=True)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right", labelcolor=INK)
    return figure, {"microseconds": found}


def multiple(ratio: float) -> str:
    """A ratio with about two digits.

    >>> multiple(1.04), multiple(17.2), multiple(1234.0)
    ('1.0', '17', '1,200')
    """
    return f"{ratio:.1f}" if ratio < 10 else f"{round(ratio, 1 - int(np.log10(ratio))):,.0f}"


# ---- files --------------------------------------------------------------------------------------
DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "promotion": promotion,
    "gradient": gradient,
    "axes_of_vmap": axes_of_vmap,
    "calls": calls,
}


def save(name: str, folder: Path) -> None:
    figure, numbers = DRAWINGS[name]()
    description = json.dumps(numbers)
    metadata = {"Date": None, "Creator": None, "Description": description}
    figure.savefig(folder / f"{name}.svg", transparent=True, metadata=metadata)


if __name__ == "__main__":
    target = Path(sys.argv[-1])
    if sys.argv[1] == "measure":
        measure(target)
    for name in DRAWINGS:
        save(name, target)
