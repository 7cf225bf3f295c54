"""`custom_linear_solve`: derivatives of the solution, transposes, batches, closures, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, tree
from hloom.core import check_jaxpr
from tests.control.loops.loops_in_python import agree, gradient_is_right, on_engines

A = np.array([[4.0, 1.0, 0.5], [-1.0, 3.0, 0.0], [0.0, 0.5, 2.0]], np.float32)
B = np.array([1.0, 2.0, -1.0], np.float32)
NAME = "custom_linear_solve"


def jacobi(matvec: Any, b: Any) -> Any:
    """Steps that no reverse mode could follow: a while loop, until they change nothing."""
    diagonal = tree.map(lambda x: jnp.full_like(x, 3.0), b)

    def step(state: Any) -> Any:
        i, x = state
        rest = tree.map(lambda y, r, d: (y - r) / d, b, matvec(x), diagonal)
        return i + 1, tree.map(jnp.add, x, rest)

    return lax.while_loop(lambda s: s[0] < 120, step, (0, b))[1]


def solve(a: Any, b: Any, **options: Any) -> Any:
    return lax.custom_linear_solve(lambda x: a @ x, b, jacobi, jacobi, **options)


# ---- values -------------------------------------------------------------------------------------
def test_it_is_what_the_solver_gives() -> None:
    on_engines(solve, jnp.asarray(A), jnp.asarray(B))
    agree(solve(A, B), np.linalg.solve(A, B))


def test_the_solver_is_not_run_twice() -> None:
    text = str(hloom.make_jaxpr(solve)(A, B))
    assert text.count(f"{NAME}[") == 1
    check_jaxpr(hloom.make_jaxpr(solve)(A, B).jaxpr)


def test_trees_and_what_comes_beside() -> None:
    def f(a: Any, b: Any) -> Any:
        def matvec(x: Any) -> Any:
            return {"u": a @ x["u"] + x["v"], "v": (3 * x["v"])}

        def solver(matvec: Any, b: Any) -> Any:
            return jacobi(matvec, b), ("steps", {"n": 120, "size": jnp.sum(b["u"])})[1]

        return lax.custom_linear_solve(matvec, b, solver, solver, has_aux=True)

    b = {"u": jnp.asarray(B), "v": jnp.float32(2)}
    on_engines(f, jnp.asarray(A), b)
    x, aux = f(A, b)
    agree(x, {"u": np.linalg.solve(A, B - 2 / 3), "v": np.float32(2 / 3)})
    assert int(aux["n"]) == 120
    _, (_, moved) = hloom.jvp(f, (A, b), (A, b))
    assert moved.pop("n").dtype == hloom.float0
    agree(moved, {"size": 0.0})
    gradient_is_right(lambda a, u, v: f(a, {"u": u, "v": v})[0]["u"].sum(), A, B, np.float32(2))


# ---- derivatives --------------------------------------------------------------------------------
def test_gradients_are_those_of_the_solution() -> None:
    gradient_is_right(lambda a, b: jnp.sum(jnp.sin(solve(a, b))), A, B)


def test_gradients_of_the_second_order() -> None:
    def slope(a: Any, b: Any) -> Any:
        by_a, by_b = hloom.grad(lambda a, b: jnp.sum(solve(a, b) ** 3), (0, 1))(a, b)
        return jnp.sum(by_a * A) + jnp.sum(by_b)

    gradient_is_right(slope, A, B)


def test_symmetric_needs_no_transpose() -> None:
    def f(a: Any, b: Any) -> Any:
        a = a + a.T
        x = lax.custom_linear_solve(lambda x: a @ x + 4 * x, b, jacobi2, symmetric=True)
        return jnp.sum(x * B)

    def jacobi2(matvec: Any, b: Any) -> Any:
        return lax.fori_loop(0, 200, lambda _, x: x + (b - matvec(x)) / 12, b)

    gradient_is_right(f, A, B)


def test_forward_mode_needs_no_transpose() -> None:
    def f(b: Any) -> Any:
        return lax.custom_linear_solve(lambda x: A @ x, b, jacobi)

    _, moved = hloom.jvp(f, (B,), (B,))
    agree(moved, np.linalg.solve(A, B))
    for g in (hloom.grad(lambda b: f(b).sum()), hloom.jit(hloom.grad(lambda b: f(b).sum()))):
        with pytest.raises(TypeError, match="reverse-mode derivatives need transpose_solve"):
            g(B)


def test_the_transpose_is_handed_to_its_solver() -> None:
    seen = []

    def look(vecmat: Any, b: Any) -> Any:
        seen.append(repr(vecmat))
        return lax.linalg.solve(hloom.vmap(vecmat)(jnp.eye(3)).T, b[:, None])[:, 0]

    def f(b: Any) -> Any:
        return lax.custom_linear_solve(lambda x: A @ x, b, jacobi, look)[0]

    agree(hloom.grad(f)(B), np.linalg.inv(A)[0])
    assert seen == ["<vecmat of f32[3]>"]


def test_the_right_hand_side_alone_moves() -> None:
    linear = hloom.linearize(lambda b: solve(A, b), B)[1]
    agree(linear(B), np.linalg.solve(A, B))


# ---- batches ------------------------------------------------------------------------------------
@pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None), (2, 1)])
def test_vmap_is_a_loop(axes: Any) -> None:
    a_axis, b_axis = axes
    many_a = np.stack([A, A + 0.5, A.T], a_axis or 0)
    many_b = np.stack([B, B * 2, B - 1], b_axis or 0)
    a, b = (A if a_axis is None else many_a), (B if b_axis is None else many_b)
    take = lambda x, i, axis: x if axis is None else np.take(x, i, axis)  # noqa: E731
    rows = [(take(a, i, a_axis), take(b, i, b_axis)) for i in range(3)]
    agree(hloom.vmap(solve, axes)(a, b), np.stack([np.asarray(solve(*row)) for row in rows]))
    slopes = hloom.grad(lambda a, b: solve(a, b)[0], (0, 1))
    got = hloom.jit(hloom.vmap(slopes, axes))(a, b)
    want = [slopes(*row) for row in rows]
    agree(got, tuple(np.stack([np.asarray(w[i]) for w in want]) for i in (0, 1)))


def test_nested_batches_and_gradients() -> None:
    def f(c: Any) -> Any:
        return hloom.grad(lambda t: jnp.sum(solve(A * t, B * c)))(1.0)

    got = hloom.jit(hloom.vmap(hloom.grad(f)))(jnp.arange(3.0))
    agree(got, np.full(3, -np.linalg.solve(A, B).sum()))


# ---- closures and types -------------------------------------------------------------------------
def test_closures_over_every_kind_of_value() -> None:
    scale = jnp.float32(2)

    def f(a: Any, t: Any) -> Any:
        def inner(s: Any) -> Any:
            matvec = lambda x: (a @ x) * scale * s + 0 * t * x  # noqa: E731
            return jnp.sum(lax.custom_linear_solve(matvec, B * t, steps, steps))

        def steps(matvec: Any, b: Any) -> Any:
            return lax.fori_loop(0, 300, lambda _, x: x + (b - matvec(x)) / 10, b)

        return hloom.grad(inner)(t)

    gradient_is_right(f, A, np.float32(1.1))


def test_a_number_closed_over_compiles_once() -> None:
    def f(s: Any) -> Any:
        return lax.custom_linear_solve(lambda x: x * s, 6.0, lambda matvec, b: b / matvec(1.0))

    agree([f(jnp.float32(s)) for s in (1, 2, 3)], [6.0, 3.0, 2.0])


def test_numbers_and_integers_take_the_type_of_the_result() -> None:
    x = lax.custom_linear_solve(lambda x: A @ x, np.array([1, 2, -1]), jacobi)
    assert x.dtype == np.float32
    agree(x, np.linalg.solve(A, B))
    half = lambda matvec, b: b / 2  # noqa: E731
    assert float(lax.custom_linear_solve(lambda x: 2 * x, 3, half)) == 1.5
    floor = lax.custom_linear_solve(lambda x: 2 * x, 4, lambda matvec, b: b // 2)
    assert floor.dtype == np.int32
    assert int(floor) == 2


def test_complex_systems() -> None:
    a = (A + 0.5j * A.T).astype(np.complex64)
    b = (B + 1j).astype(np.complex64)

    def f(b: Any) -> Any:
        def solved(a: Any) -> Any:
            return lambda _, b: lax.linalg.solve(a, b[:, None])[:, 0]

        # The two solvers are one program, of different constants.
        return lax.custom_linear_solve(lambda x: a @ x, b, solved(a), solved(a.T))

    for engine in ("xla", "numpy"):  # the interpreter has no LAPACK
        with hloom.engine(engine):
            agree(f(b), np.linalg.solve(a, b))
            agree(hloom.vjp(f, b)[1](b)[0], np.linalg.solve(a.T, b))


# ---- what is refused ----------------------------------------------------------------------------
def call(matvec: Any = lambda x: A @ x, b: Any = B, solve: Any = jacobi, **rest: Any) -> Any:
    return lax.custom_linear_solve(matvec, b, solve, **rest)


REFUSED: dict[str, tuple[Any, str]] = {
    "another tree": (lambda: call(lambda x: (x,)), r"matvec .*tuple of 1 at its root, where b"),
    "another shape": (lambda: call(lambda x: x[0]), r"b: float32\[3\], but matvec gives float32"),
    "another dtype": (
        lambda: call(lambda x: x.astype("float16")), r"(?s)matvec gives float16\[3\].*b.astype"
    ),
    "a leaf of another shape": (
        lambda: call(lambda x: {"p": x["p"], "q": x["q"][:1]}, {"p": 1.0, "q": B}),
        r"b\['q'\]: float32\[3\], but matvec gives float32\[1\]",
    ),
    "another tree of the solution": (lambda: call(solve=lambda f, b: [b]), "solve .*list of 1"),
    "another shape of the solution": (
        lambda: call(solve=lambda f, b: b[:2]), r"b: float32\[3\], but solve gives float32\[2\]"
    ),
    "a transposed solution of another shape": (
        lambda: call(transpose_solve=lambda f, b: b[:2]), r"but transpose_solve gives float32\[2\]"
    ),
    "no pair": (lambda: call(has_aux=True), r"has_aux=True must return a pair \(solution, aux\)"),
    "no function": (lambda: call(solve=3), "takes solve as a function; got int 3"),
    "no array": (lambda: call(b={"u": "text"}), r"b\['u'\]"),
    "a function that is not linear": (
        lambda: call(lambda x: x * x, transpose_solve=lambda f, b: b), "matvec .*is not linear"
    ),
    "an operator applied to another shape": (
        lambda: call(solve=lambda f, b: f(b[:2])), r"argument: takes float32\[3\], got float32\[2\]"
    ),
    "an operator applied to another tree": (
        lambda: call(solve=lambda f, b: f((b,))), "the call has a tuple of 1"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    run, words = REFUSED[what]
    for fun in (run, hloom.jit(run)):
        with pytest.raises(TypeError, match=words) as raised:
            fun()
        assert NAME in str(raised.value)
