"""`custom_root`: derivatives of a root, batches, closures, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core import check_jaxpr
from tests.control.loops.loops_in_python import agree, gradient_is_right, on_engines

NAME = "custom_root"


def bisect(f: Any, x: Any) -> Any:
    """Of an increasing function, between 0 and 8; nothing in it has a derivative."""

    def halve(_: Any, ends: Any) -> Any:
        low, high = ends
        middle = (low + high) / 2
        up = f(middle) < 0
        return jnp.where(up, middle, low), jnp.where(up, high, middle)

    low, high = lax.fori_loop(0, 60, halve, (jnp.zeros_like(x), jnp.full_like(x, 8)))
    return (low + high) / 2


def by_division(g: Any, y: Any) -> Any:
    return y / g(1.0)


def by_columns(g: Any, y: Any) -> Any:
    matrix = hloom.vmap(g)(jnp.eye(y.shape[0], dtype=y.dtype)).T
    return lax.linalg.solve(matrix, y[:, None])[:, 0]


def root(a: Any, guess: Any = 1.0) -> Any:
    """The x of x**3 + x = a."""
    return lax.custom_root(lambda x: x**3 + x - a, guess, bisect, by_division)


# ---- values -------------------------------------------------------------------------------------
def test_it_is_what_the_solver_gives() -> None:
    on_engines(root, jnp.float32(10))
    assert float(root(10.0)) == 2
    check_jaxpr(hloom.make_jaxpr(root)(10.0).jaxpr)


def test_what_comes_beside_has_no_derivative() -> None:
    def f(a: Any) -> Any:
        solver = lambda f, x: (bisect(f, x), {"steps": 60, "last": f(x)})  # noqa: E731
        return lax.custom_root(lambda x: x * x - a, 1.0, solver, by_division, has_aux=True)

    on_engines(f, jnp.float32(4))
    (x, aux), (dx, daux) = hloom.jvp(f, (4.0,), (1.0,))
    agree((x, dx), (2.0, 0.25))
    assert daux.pop("steps").dtype == hloom.float0
    agree((aux, daux), ({"steps": 60, "last": -3.0}, {"last": 0.0}))


# ---- derivatives --------------------------------------------------------------------------------
def test_the_slope_is_that_of_a_root() -> None:
    gradient_is_right(lambda a: jnp.sin(root(a)), np.float32(3))
    agree(hloom.grad(root)(10.0), 1 / 13)


def test_slopes_of_every_order() -> None:
    f, want = root, []
    # x' = 1/(3x^2 + 1), and by the chain rule on.
    for g in (lambda x: x, lambda x: 1 / 13, lambda x: -12 / 13**3, lambda x: 354 / 13**5):
        want.append(g(2.0))
    got = []
    for _ in range(4):
        got.append(float(f(10.0)))
        f = hloom.grad(f)
    np.testing.assert_allclose(got, want, rtol=2e-5)


def test_the_guess_has_none() -> None:
    assert float(hloom.grad(lambda g: root(10.0, g))(1.0)) == 0


def system(p: Any, q: Any) -> Any:
    """Of several equations, in a tree."""

    def f(x: Any) -> Any:
        u, v = x["u"], x["v"]
        return {"u": u * 3 + jnp.sin(v) - p, "v": v * 2 + 0.5 * jnp.cos(u) * u - q.sum()}

    def solver(f: Any, x: Any) -> Any:
        step = lambda _, x: {k: x[k] - 0.3 * f(x)[k] for k in x}  # noqa: E731
        return lax.fori_loop(0, 150, step, x)

    def tangent(g: Any, y: Any) -> Any:
        step = lambda _, x: {k: x[k] - 0.3 * (g(x)[k] - y[k]) for k in x}  # noqa: E731
        return lax.fori_loop(0, 150, step, y)

    start = {"u": jnp.zeros(2, p.dtype), "v": jnp.zeros((), p.dtype) + jnp.zeros(2, p.dtype)}
    return lax.custom_root(f, start, solver, tangent)


def test_trees() -> None:
    p, q = np.array([0.3, 1.2], np.float32), np.array([0.5, 0.1, 0.2], np.float32)
    on_engines(system, jnp.asarray(p), jnp.asarray(q))
    gradient_is_right(lambda p, q: jnp.sum(system(p, q)["u"] * system(p, q)["v"]), p, q)

    def slope(p: Any, q: Any) -> Any:
        return jnp.sum(hloom.grad(lambda p: jnp.sum(system(p, q)["v"] ** 2))(p))

    gradient_is_right(slope, p, q)


def test_a_matrix_of_slopes() -> None:
    def f(a: Any) -> Any:
        return lax.custom_root(
            lambda x: x**3 + a * jnp.sum(x) - a, jnp.ones(3, a.dtype), newton, by_columns
        )

    def newton(f: Any, x: Any) -> Any:
        def step(_: Any, x: Any) -> Any:
            matrix = hloom.vmap(lambda t: hloom.jvp(f, (x,), (t,))[1])(jnp.eye(3, dtype=x.dtype)).T
            return x - lax.linalg.solve(matrix, f(x)[:, None])[:, 0]

        return lax.fori_loop(0, 30, step, x)

    gradient_is_right(lambda a: jnp.sum(f(a) ** 2), np.array([1.0, 2.0, 0.5], np.float32))


# ---- batches and closures -----------------------------------------------------------------------
def test_vmap_is_a_loop() -> None:
    a = jnp.array([2.0, 10.0, 30.0])
    for fun in (root, hloom.grad(root), hloom.grad(hloom.grad(root))):
        want = np.stack([np.asarray(fun(x)) for x in a])
        agree(hloom.vmap(fun)(a), want)
        agree(hloom.jit(hloom.vmap(fun))(a), want)
    agree(hloom.grad(lambda a: jnp.sum(hloom.vmap(root)(a)))(a), hloom.vmap(hloom.grad(root))(a))
    agree(hloom.vmap(lambda g: root(10.0, g))(a), np.full(3, 2.0))


def test_closures_over_every_kind_of_value() -> None:
    known = jnp.float32(1.5)

    def f(a: Any, b: Any) -> Any:
        def inner(t: Any) -> Any:
            tangent = lambda g, y: y / g(1.0) * (b / b)  # noqa: E731
            return lax.custom_root(lambda x: x**3 * known + x * t - a * b, 1.0, bisect, tangent)

        return hloom.grad(inner)(b) + inner(a)

    gradient_is_right(f, np.float32(2), np.float32(1.2))


def test_numbers_and_integers_take_the_type_of_the_result() -> None:
    assert root(np.float32(10), 1).dtype == np.float32
    made = lax.custom_root(lambda x: x - 2, 1, lambda f, x: x + 1, lambda g, y: y)
    assert made.dtype == np.int32


# ---- what is refused ----------------------------------------------------------------------------
def call(f: Any = lambda x: x - 2, guess: Any = 1.0, solve: Any = bisect, **rest: Any) -> Any:
    return lax.custom_root(f, guess, solve, rest.pop("tangent", by_division), **rest)


REFUSED: dict[str, tuple[Any, str]] = {
    "another tree": (lambda: call(lambda x: (x,)), "f .*tuple of 1 at its root, where initial"),
    "another shape": (
        lambda: call(lambda x: jnp.stack([x, x])),
        r"initial_guess: float32\[\], but f gives float32\[2\]",
    ),
    "a leaf of another shape": (
        lambda: call(lambda x: [x[0], x[1][:1]], [1.0, jnp.ones(2)]),
        r"initial_guess\[1\]: float32\[2\], but f gives float32\[1\]",
    ),
    "another tree of the root": (lambda: call(solve=lambda f, x: {"x": x}), "solve .*dict"),
    "another shape of the root": (
        lambda: call(solve=lambda f, x: jnp.stack([x, x])), r"but solve gives float32\[2\]"
    ),
    "another dtype of the root": (
        lambda: call(guess=jnp.float32(1), solve=lambda f, x: x.astype("float16")), "float16"
    ),
    "no pair": (lambda: call(has_aux=True), r"has_aux=True must return a pair \(solution, aux\)"),
    "no function": (lambda: call(tangent=None), "takes tangent_solve as a function; got NoneType"),
    "an operator applied to another shape": (
        lambda: call(solve=lambda f, x: f(jnp.ones(2))), r"argument: takes float32\[\], got float32"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    run, words = REFUSED[what]
    for fun in (run, hloom.jit(run)):
        with pytest.raises(TypeError, match=words) as raised:
            fun()
        assert NAME in str(raised.value)


@pytest.mark.parametrize(
    ("tangent", "words"),
    [
        (lambda g, y: (y,), "tangent_solve .*tuple of 1"),
        (lambda g, y: jnp.stack([y, y]), r"root: float32\[\], but tangent_solve gives float32"),
    ],
)
def test_a_tangent_that_does_not_match_is_refused(tangent: Any, words: str) -> None:
    def f(a: Any) -> Any:
        return call(lambda x: x - a, tangent=tangent)

    assert float(f(2.0)) == 2  # nobody asks for a derivative
    with pytest.raises(TypeError, match=words):
        hloom.grad(f)(2.0)
