"""The tour: NumPy code on immutable arrays, traced, written as StableHLO, compiled and run.

`make demo` runs it.  Every step prints the program and what it gives; the plot of the first step is
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

console = Console(width=100)
PICTURE = Path("build/tour.png")


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
                Syntax(body, "python", background_color="default"), title=title, title_align="left"
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
    plt.plot(x, y)
    PICTURE.parent.mkdir(exist_ok=True)
    plt.savefig(PICTURE)
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
        seconds = min(timeit.repeat(lambda f=f: f(X).block_until_ready(), number=20, repeat=5)) / 20
        print(f"{name}: {seconds * 1e6:.0f} us")


@step("6. A shape that depends on values works outside jit only")
def masks() -> None:
    def get_negatives(x: hloom.Array) -> hloom.Array:
        return x[x < 0]

    x = jnp.array(np.random.RandomState(0).randn(10))
    print(repr(get_negatives(x)))
    fails(lambda: jit(get_negatives)(x))


@step("7. What tracing is: the function runs once per signature, on tracers")
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


@step("9. Python control flow needs values: traced ones are refused, static ones work")
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


@step("11. The same program on three engines that share no code")
def engines() -> None:
    def f(x: hloom.Array) -> hloom.Array:
        return jnp.sin(x).sum() + jnp.max(x)

    for name in ("xla", "reference", "numpy"):
        with hloom.engine(name):
            print(f"{name:9}", f(jnp.arange(5.0)))


@step("12. And it differentiates and vectorises")
def transforms() -> None:
    def f(x: hloom.Array) -> hloom.Array:
        return jnp.sin(x) * jnp.exp(x) if x.ndim else jnp.sin(x)

    print(hloom.grad(f)(1.0), hloom.grad(hloom.grad(f))(1.0))
    print(hloom.vmap(hloom.grad(f))(jnp.arange(3.0)))


console.print(f"\nThe plot of step 1 is in {PICTURE.resolve()}", highlight=False, soft_wrap=True)
