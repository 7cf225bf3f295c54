"""What a call costs besides its arithmetic: ten elements at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, cycle
from typing import Any

import numpy as np

from benchmarks.library import Library
from benchmarks.rows import Calls, Row, closure


def operands(library: Library) -> dict[str, Any]:
    """What the programs of the table below may mention."""
    draw = np.random.default_rng(0)
    floats = draw.standard_normal((4, 10)).astype(np.float32)
    return {
        "xp": library.xp,
        "np": np,
        "a": library.array(floats[0]),
        "b": library.array(floats[1]),
        "m": library.array(floats),
        "v": library.array(floats[2]),
        "ndarray": floats[3],
        "many": library.array(np.arange(2000, dtype=np.float32)),
        "index": library.array(np.array([1, 7, 3])),
        "ordered": library.array(np.arange(10, dtype=np.float32)),
        "mask": library.array(floats[0] > 0),
        "positions": cycle(range(2000)),
        "numbers": count(0.5),
        "put": put,
    }


def put(x: np.ndarray, index: int, value: float) -> np.ndarray:
    """NumPy's nearest to `x.at[index].set(value)`."""
    x = x.copy()
    x[index] = value
    return x


def eager(
    program: str,
    target: float | None = None,
    name: str | None = None,
    for_numpy: str | None = None,
) -> Row:
    """A row from the text of its program, in which `xp` is hloom.numpy, jax.numpy or numpy."""

    def setup(library: Library) -> Calls:
        text = for_numpy if for_numpy and library.name == "numpy" else program
        return Calls(closure(text, operands(library)))

    return Row(name or program.replace("xp.", ""), setup, target)


def two_arrays(library: Library) -> Callable[[], Any]:
    given = operands(library)
    f, a, b = library.jit(lambda x, y: x * y + x), given["a"], given["b"]
    return lambda: f(a, b)


def fifty_leaves(library: Library) -> Callable[[], Any]:
    f = library.jit(lambda tree: {name: leaf + 1 for name, leaf in tree.items()})
    tree = {f"w{i}": library.array(np.full(10, i, np.float32)) for i in range(50)}
    return lambda: f(tree)


def eager_add(library: Library) -> Callable[[], Any]:
    return closure("a + b", operands(library))


def jitted(name: str, make: Callable[[Library], Callable[[], Any]], target: float) -> Row:
    return Row(name, lambda library: Calls(make(library)), target, only=("hloom", "jax"))


def in_x64(outside: str, make: Callable[[Library], Callable[[], Any]]) -> Row:
    """The same call inside `with enable_x64():`, against hloom's own figure outside."""

    def setup(library: Library) -> Calls:
        return Calls(make(library), within=library.x64)

    name = f"{outside}, in enable_x64"
    return Row(name, setup, 1.1, against=("hloom", outside), only=("hloom", "jax"))


ROWS = [
    eager("a + b", 0.75),
    eager("a + 1", 0.75),
    eager("a * 2.5", 0.75),
    eager("a * next(numbers)", name="a * s, s new every time"),
    eager("xp.where(a > 0, a, 0.)", 0.75),
    eager("a.sum()", 0.85),
    eager("m.mean(0)", 0.85),
    eager("m @ v", 0.85),
    eager("xp.sin(a)", 0.95),
    eager("a.reshape(2, 5)", 0.5),
    eager("xp.concatenate([a, b])", 0.5),
    eager("xp.zeros((3, 4))", 0.5),
    eager("xp.arange(10)", 0.5),
    eager("xp.asarray(ndarray)", 0.5),
    eager("xp.array([1, 2, 3])", 0.5),
    eager("m.T", 0.5),
    eager("a.astype(xp.int32)", 0.5),
    eager("list(a)", 0.5),
    eager("float(a.sum())", 0.5),
    eager("np.asarray(a + b)"),
    eager("xp.linspace(0, 1, 50)"),
    eager("a[0]", 0.25),
    eager("a[2:5]", 0.25),
    eager("many[next(positions)]", 0.25, name="a[i], i over 2,000"),
    eager("a[index]", 0.25),
    eager("a[mask]", 0.25),
    eager("a.at[0].set(1.)", 0.25, for_numpy="put(a, 0, 1.)"),
    eager("xp.take(a, index)"),
    eager("xp.take_along_axis(a, index, 0)"),
    eager("xp.digitize(a, ordered)"),
    eager("xp.average(a, weights=ordered)"),
    eager("xp.roll(a, 1)"),
    eager("xp.isclose(a, b)"),
    eager("xp.divmod(a, b)"),
    eager("xp.cumsum(a)"),
    jitted("jit, two arrays", two_arrays, 1.0),
    jitted("jit, dict of 50", fifty_leaves, 0.9),
    in_x64("jit, two arrays", two_arrays),
    in_x64("jit, dict of 50", fifty_leaves),
    in_x64("a + b", eager_add),
]
