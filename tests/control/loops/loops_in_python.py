"""The same control flow in Python: what the compiled one is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hloom
import hloom.numpy as jnp
from hloom import tree

ENGINES = ("xla", "numpy", "reference")


def scan(
    f: Callable[..., Any], init: Any, xs: Any = None, length: int | None = None,
    reverse: bool = False,
) -> Any:  # fmt: skip
    """`lax.scan` as a Python loop."""
    leaves, treedef = tree.flatten(xs)
    length = leaves[0].shape[0] if leaves else length
    rows = []
    carry = init
    for i in reversed(range(length)) if reverse else range(length):
        carry, y = f(carry, tree.unflatten(treedef, [x[i] for x in leaves]))
        rows.append(y)
    if reverse:
        rows.reverse()
    return carry, tree.map(lambda *ys: jnp.stack(ys), *rows)


def while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], carry: Any) -> Any:
    """`lax.while_loop` as a Python loop."""
    while cond_fun(carry):
        carry = body_fun(carry)
    return carry


def fori_loop(lower: int, upper: int, body_fun: Callable[..., Any], x: Any) -> Any:
    """`lax.fori_loop` as a Python loop."""
    for i in range(lower, upper):
        x = body_fun(i, x)
    return x


def agree(got: Any, want: Any, tolerance: float = 2e-5) -> None:
    """Both trees hold the same, to a relative tolerance that allows for another order of sums."""
    assert tree.structure(got) == tree.structure(want)
    for x, y in zip(tree.leaves(got), tree.leaves(want)):
        x, y = np.asarray(x), np.asarray(y)
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def on_engines(fun: Callable[..., Any], *args: Any) -> None:
    """Eager and jitted, the function gives the same on all engines."""
    want = fun(*args)
    for engine in ENGINES:
        with hloom.engine(engine):
            agree(fun(*args), want)
            agree(hloom.jit(fun)(*args), want)


def gradient_is_right(fun: Callable[..., Any], *args: Any) -> None:
    """Reverse mode, forward mode and a finite difference agree along one direction, in f64."""
    with hloom.enable_x64():
        rng = np.random.default_rng(0)
        args = tuple(np.asarray(x, np.float64) for x in args)
        along = tuple(rng.normal(size=x.shape) for x in args)
        numbers = tuple(range(len(args)))
        _, forward = hloom.jvp(fun, args, along)
        step = 1e-6
        ahead = fun(*[x + step * t for x, t in zip(args, along)])
        behind = fun(*[x - step * t for x, t in zip(args, along)])
        agree(forward, (ahead - behind) / (2 * step), 1e-6)
        for gradient in (hloom.grad(fun, numbers), hloom.jit(hloom.grad(fun, numbers))):
            pairs = zip(gradient(*args), along)
            agree(sum(np.sum(np.asarray(g) * t) for g, t in pairs), forward, 1e-9)
        gradient = hloom.grad(hloom.jit(fun), numbers)
        agree(sum(np.sum(np.asarray(g) * t) for g, t in zip(gradient(*args), along)), forward, 1e-9)
