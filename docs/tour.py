"""The tour: NumPy code on immutable arrays, traced, written as StableHLO, compiled and run.

`make demo` runs it.  Every step prints the program and what it gives; what steps 1 and 12 plot is
written to build/tour.png.
"""

from __future__ import annotations

import inspect
import textwrap
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib
import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax

import hloom
import hloom.numpy as jnp
from hloom import jit, lax, make_jaxpr

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  (the backend is chosen first)

console = Console()  # as wide as the terminal; 80 columns where there is none
PICTURE = Path("build/tour.png")
figure, axes = plt.subplots(figsize=(9, 4.5), dpi=150, layout="constrained")
BLUE, ORANGE = "#0072b2", "#d55e00"  # also told apart by who sees no red or no green


def step(title: str) -> Callable[[Callable[[], None]], None]:
    """Show a function's program under its title, then run it."""

    def show(fun: Callable[[], None]) -> None:
        lines = inspect.getsource(fun).splitlines()
        body = textwrap.dedent(
            "\n".join(line for line in lines if not line.startswith(("@step", "def ")))
        )
        console.print()
        console.print(
            Panel(
                # Plain code is left in the terminal's own colour, be it dark or light.
                Syntax(body, "python", theme="ansi_dark", word_wrap=True),
                title=title,
                title_align="left",
            )
        )
        fun()

    return show


def fails(call: Callable[[], object]) -> None:
    """Print the error that a program ends with."""
    try:
        call()
    except Exception as error:
        console.print(f"[bold red]{type(error).__name__}[/]", highlight=False)
        console.print(str(error), highlight=False, soft_wrap=True, markup=False)
    else:
        raise AssertionError("this step should have raised")


@step("1. NumPy code, on our arrays; they plot like NumPy's")
def plot() -> None:
    x = jnp.linspace(0, 10, 1000)
    y = 2 * jnp.sin(x) * jnp.cos(x)
    axes.plot(x, y, color=BLUE, label="f(x) = 2 sin(x) cos(x)")
    print(type(x), type(y))


@step("2. Arrays are immutable")
def immutable() -> None:
    x = jnp.arange(10)

    def assign() -> None:
        x[0] = 10

    fails(assign)
    y = x.at[0].set(10)
    print(x)
    print(y)


@step("3. hloom.numpy promotes, hloom.lax is strict")
def strict() -> None:
    print(repr(jnp.add(1, 1.0)))
    fails(lambda: lax.add(1, 1.0))
    print(repr(lax.add(jnp.float32(1), 1.0)))


@step("4. A NumPy function is made of strict operations")
def convolve() -> None:
    x, y = jnp.array([1, 2, 1]), jnp.ones(10)
    print(repr(jnp.convolve(x, y)))
    result = lax.conv_general_dilated(
        x.reshape(1, 1, 3).astype(float),  # explicit promotion
        y.reshape(1, 1, 10),
        window_strides=(1,),
        padding=[(len(y) - 1, len(y) - 1)],
    )
    print(repr(result[0, 0]))


@step("5. jit compiles a whole function")
def compiled() -> None:
    def norm(X: hloom.Array) -> hloom.Array:
        X = X - X.mean(0)
        return X / X.std(0)

    norm_compiled = jit(norm)
    X = jnp.array(np.random.RandomState(1701).rand(10000, 10))
    print("equal:", np.allclose(norm(X), norm_compiled(X), atol=1e-6))
    for name, f in [("norm", norm), ("norm_compiled", norm_compiled)]:
        timer = timeit.Timer(lambda f=f: f(X).block_until_ready())
        print(f"{name}: {min(timer.repeat(5, number=20)) / 20 * 1e6:.0f} us")


@step("6. Shapes that depend on values: outside jit only")
def masks() -> None:
    def get_negatives(x: hloom.Array) -> hloom.Array:
        return x[x < 0]

    x = jnp.array(np.random.RandomState(0).randn(10))
    print(repr(get_negatives(x)))
    fails(lambda: jit(get_negatives)(x))


@step("7. Tracing: the function runs once per signature")
def tracing() -> None:
    @jit
    def f(x: hloom.Array, y: hloom.Array) -> hloom.Array:
        print("Running f():")
        print(f"  x = {x}")
        print(f"  y = {y}")
        result = jnp.dot(x + 1, y + 1)
        print(f"  result = {result}")
        return result

    rng = np.random.RandomState(0)
    print(repr(f(rng.randn(3, 4), rng.randn(4))))
    print(repr(f(rng.randn(3, 4), rng.randn(4))))


@step("8. What was recorded: a jaxpr, then StableHLO")
def stages() -> None:
    def f(x: hloom.Array, y: hloom.Array) -> hloom.Array:
        return jnp.dot(x + 1, y + 1)

    x, y = np.zeros((3, 4)), np.zeros(4)
    print(make_jaxpr(f)(x, y))
    print(jit(f).lower(x, y).as_text())


@step("9. Python's `if` takes static values, not traced ones")
def static() -> None:
    def f(x: hloom.Array, neg: bool) -> hloom.Array:
        return -x if neg else x

    fails(lambda: jit(f)(1, True))
    f_static = partial(jit, static_argnums=(1,))(f)
    print(repr(f_static(1, True)))
    print(repr(f_static(1, False)))


@step("10. Shapes are static: compute them with NumPy")
def shapes() -> None:
    @jit
    def f(x: hloom.Array) -> hloom.Array:
        return x.reshape(jnp.array(x.shape).prod())

    @jit
    def g(x: hloom.Array) -> hloom.Array:
        print(f"x = {x}")
        print(f"x.shape = {x.shape}")
        print(f"jnp.array(x.shape).prod() = {jnp.array(x.shape).prod()}")
        return x.reshape((np.prod(x.shape),))

    fails(lambda: f(jnp.ones((2, 3))))
    print(repr(g(jnp.ones((2, 3)))))


@step("11. One program on three engines that share no code")
def engines() -> None:
    def f(x: hloom.Array) -> hloom.Array:
        return jnp.sin(x).sum() + jnp.max(x)

    for name in ("xla", "reference", "numpy"):
        with hloom.engine(name):
            print(f"{name:9}", f(jnp.arange(5.0)))


@step("12. It differentiates and vectorises: slopes of step 1")
def transforms() -> None:
    def f(x: hloom.Array) -> hloom.Array:
        return 2 * jnp.sin(x) * jnp.cos(x)

    print(f(1.0), hloom.grad(f)(1.0), hloom.grad(hloom.grad(f))(1.0))

    slope = jit(hloom.vmap(hloom.grad(f)))  # of one x, of many, compiled
    print(slope(jnp.arange(3.0)))
    x = jnp.linspace(0, 10, 1000)
    axes.plot(x, slope(x), "--", color=ORANGE, label="jit(vmap(grad(f)))(x)")

    points, reach = jnp.arange(0.5, 10)[:, None], jnp.array([-0.3, 0.3])
    tangents = f(points) + slope(points[:, 0])[:, None] * reach
    axes.plot((points + reach).T, tangents.T, color="black")
    axes.plot(points, f(points), "k.", label="tangents of that slope")


axes.set(title="A function, and what grad, vmap and jit make of it", xlim=(0, 10))
axes.set(xlabel="x", ylabel="value and slope")
axes.axhline(0, color="grey", linewidth=0.5)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, frameon=False)
PICTURE.parent.mkdir(exist_ok=True)
figure.savefig(PICTURE)
console.print(f"\nThe picture is in {PICTURE.resolve()}", highlight=False, soft_wrap=True)
