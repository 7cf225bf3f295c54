"""Arithmetic: a million float32 numbers under jit, beside NumPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks.library import Library
from benchmarks.rows import Calls, Row, closure

# Programs run under `jit`, except for NumPy.  First those in which XLA, given the obvious
# program, loses to NumPy; then those in which it is level or ahead.
JITTED = [
    "xp.sort(x)",
    "xp.sort(square, axis=1)",
    "xp.argsort(x)",
    "xp.median(x)",
    "xp.percentile(x, 30)",
    "xp.argmax(x)",
    "xp.max(x)",
    "xp.any(x > 9)",
    "xp.ptp(x)",
    "xp.cumsum(x)",
    "xp.cumsum(square, axis=0)",
    "xp.cumsum(square, axis=1)",
    "xp.cumprod(near_one)",
    "xp.sin(x)",
    "xp.cos(x)",
    "xp.tan(x)",
    "xp.cbrt(x)",
    "xp.arctan(x)",
    "xp.arctan2(x, y)",
    "xp.convolve(x[:100_000], y[:100])",
    "xp.convolve(x[:10_000], y[:1_000])",
    "xp.roll(x, 5)",
    "batch @ batch",
    "x + y",
    "x.sum()",
    "x.mean()",
    "x.std()",
    "xp.exp(x)",
    "xp.tanh(x)",
    "xp.sqrt(near_one)",
    "xp.log1p(near_one)",
    "xp.where(x > 0, x, y)",
    "xp.diff(x)",
    "square.T + 1",
    "xp.outer(x[:1_000], y[:1_000])",
    "matrix @ matrix",
    "xp.einsum('ij,kj->ik', matrix, matrix)",
    "x[places]",
    "xp.bincount(counts, length=1_000)",
    "xp.searchsorted(ordered, x)",
    "xp.interp(x, ordered, y[:1_000])",
    "xp.histogram(x, 50)[0]",
    "xp.exp(-(x * y + 1) ** 2) / (xp.abs(x) + 1) - y * 0.5 + x",
]
FOR_NUMPY = {"xp.bincount(counts, length=1_000)": "xp.bincount(counts, minlength=1_000)"}
EAGER = ["xp.unique(counts)", "x.at[places].add(1.)"]
FOR_NUMPY["x.at[places].add(1.)"] = "add_at(x, places, 1.)"

SIZE = 1_000_000


@cache
def ndarrays() -> dict[str, np.ndarray]:
    """What the programs may mention."""
    draw = np.random.default_rng(0)
    normal = draw.standard_normal((2, SIZE)).astype(np.float32)
    return {
        "x": normal[0],
        "y": normal[1],
        "near_one": 1 + normal[0] / np.float32(1e4),
        "square": normal[0].reshape(1000, 1000),
        "matrix": normal[0, : 512 * 512].reshape(512, 512),
        "batch": normal[0, : 64**3].reshape(64, 64, 64),
        "ordered": np.sort(normal[1, :1000]),
        "places": draw.integers(0, SIZE, SIZE, dtype=np.int32),
        "counts": draw.integers(0, 1000, SIZE, dtype=np.int32),
        "table": normal[0, :100_000].reshape(10_000, 10),
    }


def add_at(x: np.ndarray, places: np.ndarray, value: float) -> np.ndarray:
    """NumPy's nearest to `x.at[places].add(value)`."""
    x = x.copy()
    np.add.at(x, places, np.float32(value))
    return x


def norm(xp: Any, table: Any) -> Any:
    """Columns with mean 0 and standard deviation 1: the seed's example."""
    table = table - table.mean(0)
    return table / table.std(0)


def setup_of(program: str, jitted: bool) -> Any:
    def setup(library: Library) -> Calls:
        text = FOR_NUMPY.get(program, program) if library.name == "numpy" else program
        names = compile(text, text, "eval").co_names
        known = {name: value for name, value in ndarrays().items() if name in names}
        helpers = {"xp": library.xp, "add_at": add_at, "norm": norm}
        function = closure(text, helpers, tuple(known))
        given = [library.array(value) for value in known.values()]
        if jitted:
            function = library.jit(function)
        return Calls(lambda: function(*given))

    return setup


def kernel(program: str, jitted: bool = True) -> Row:
    return Row(program.replace("xp.", ""), setup_of(program, jitted))


def ragged_dot(gradient: bool) -> Any:
    """512 rows in 8 groups, each row times the 256 x 256 matrix of its group."""

    def setup(library: Library) -> Calls:
        lax, draw = library.root.lax, np.random.default_rng(0)
        rows = library.array(draw.standard_normal((512, 256), np.float32))
        matrices = library.array(draw.standard_normal((8, 256, 256), np.float32))
        sizes = library.array(draw.multinomial(512, np.ones(8) / 8).astype(np.int32))

        def total(rows: Any, matrices: Any) -> Any:
            return (lax.ragged_dot(rows, matrices, sizes) ** 2).sum()

        both = library.root.grad(total, (0, 1))
        function = library.jit(both if gradient else lambda x, y: lax.ragged_dot(x, y, sizes))
        return Calls(lambda: function(rows, matrices))

    return setup


NORM = "norm(table), eager"
ROWS = [
    *[kernel(program) for program in JITTED],
    *[kernel(program, jitted=False) for program in EAGER],
    Row(NORM, setup_of("norm(xp, table)", jitted=False)),
    Row("ragged_dot", ragged_dot(gradient=False), 1.0, only=("hloom", "jax")),
    Row("ragged_dot, gradients", ragged_dot(gradient=True), 1.0, only=("hloom", "jax")),
    Row("norm(table), jit", setup_of("norm(xp, table)", True), 1.0, against=("hloom", NORM)),
]
