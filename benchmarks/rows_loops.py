"""Loops and branches of `lax`: a thousand scalar steps, a recurrent network, eager calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.library import Library
from benchmarks.rows import Calls, Row

COMPILED = ("hloom", "jax")
STEPS = 1000


def line(carry: Any, x: Any) -> tuple[Any, Any]:
    """The body of the scalar scan."""
    return carry * 0.5 + x, carry


def scan(lax: Any, x: Any, xs: Any) -> Any:
    return lax.scan(line, x, xs)[1]


def while_loop(lax: Any, x: Any) -> Any:
    state = (0, x)
    return lax.while_loop(lambda s: s[0] < STEPS, lambda s: (s[0] + 1, s[1] * 0.5 + 1), state)[1]


def fori_loop(lax: Any, x: Any) -> Any:
    return lax.fori_loop(0, STEPS, lambda i, x: x * 0.5 + i, x)


def recurrent(library: Library, w: Any, xs: Any) -> Any:
    def step(c: Any, x: Any) -> tuple[Any, Any]:
        return library.xp.tanh(w @ c) + x, c.sum()

    return library.root.lax.scan(step, xs[0], xs)[1].sum()


def scalar(program: Any, *, jitted: bool = True) -> Any:
    """Rows of programs of one number, and of a thousand."""

    def setup(library: Library) -> Calls:
        lax = library.root.lax
        xs = library.array(np.linspace(0, 1, STEPS, dtype=np.float32))
        given = [library.array(np.float32(1)), xs][: program.__code__.co_argcount - 1]

        def function(*xs: Any) -> Any:
            return program(lax, *xs)

        call = library.jit(function) if jitted else function
        return Calls(lambda: call(*given))

    return setup


def network(transform: Any) -> Any:
    def setup(library: Library) -> Calls:
        draw = np.random.default_rng(0).standard_normal((STEPS + 64, 64)).astype(np.float32)
        w, xs = library.array(draw[:64] / 10), library.array(draw[64:])
        call = library.jit(transform(library, lambda w, xs: recurrent(library, w, xs)))
        return Calls(lambda: call(w, xs))

    return setup


def prefix_sums(library: Library) -> Calls:
    """Running sums of 100,000 numbers by `associative_scan`."""
    lax, x = library.root.lax, library.array(np.linspace(0, 1, 100_000, dtype=np.float32))
    call = library.jit(lambda x: lax.associative_scan(lambda a, b: a + b, x))
    return Calls(lambda: call(x))


def choice(jitted: bool) -> Any:
    def setup(library: Library) -> Calls:
        lax, x = library.root.lax, library.array(np.float32(1))
        positive = x > 0

        def up(x: Any) -> Any:
            return x * 2

        def down(x: Any) -> Any:
            return x - 1

        def function(p: Any, x: Any) -> Any:
            return lax.cond(p, up, down, x)

        call = library.jit(function) if jitted else function
        return Calls(lambda: call(positive, x))

    return setup


ROWS = [
    Row("scan of 1,000 scalars", scalar(scan), 1.05, only=COMPILED),
    Row("while_loop of 1,000 steps", scalar(while_loop), 1.05, only=COMPILED),
    Row("fori_loop of 1,000 steps", scalar(fori_loop), 1.05, only=COMPILED),
    Row("scan of 1,000 scalars, eager", scalar(scan, jitted=False), 1.05, only=COMPILED),
    Row("recurrent network of 64, 1,000 steps", network(lambda _, f: f), 1.05, only=COMPILED),
    Row(
        "gradient of the recurrent network",
        network(lambda library, f: library.root.grad(f)),
        1.05,
        only=COMPILED,
    ),
    Row("associative_scan of 100,000", prefix_sums, only=COMPILED),
    Row("cond, jit", choice(True), 1.05, only=COMPILED),
    Row("cond, eager", choice(False), 1.05, only=COMPILED),
]
