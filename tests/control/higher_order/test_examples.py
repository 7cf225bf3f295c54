"""Choices and loops under vmap do what they do one example at a time: no NaN, no endless loop from
what an example does not choose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing

F32 = np.float32
W = F32(1.5)
M = F32([[1, 2], [0.5, -1]])


def _nested(w: Any, x: Any) -> Any:
    small = lambda: lax.cond(x > 0, lambda: w * jnp.sqrt(x), lambda: x * w)  # noqa: E731
    return lax.cond(x < 1, small, lambda: 1 / (x - 1) ** 0.5)


def _in_scan(w: Any, x: Any) -> Any:
    def step(c: Any, k: Any) -> Any:
        c = lax.cond(c > 0, lambda: c - w * jnp.log(c), lambda: c + k)
        return c, c * w

    c, ys = lax.scan(step, x, jnp.arange(3.0))
    return c + ys.sum()


def _in_loop(w: Any, x: Any) -> Any:
    step = lambda i, c: lax.cond(c > 0.5, lambda: c * w * c**0.5, lambda: c - w)  # noqa: E731
    return lax.fori_loop(0, 3, step, x)


# Each is a function of a number that all examples share and one of the example.  Where the other
# branch is chosen, a value or a slope of the first is infinite or NaN.
CHOICES: dict[str, Any] = {
    "log": lambda w, x: lax.cond(x > 0, jnp.log, lambda x: 0.0 * x, x),
    "shared log": lambda w, x: lax.cond(x > 0, lambda: w * jnp.log(x), lambda: w + x),
    "shared sqrt": lambda w, x: lax.cond(x > 0, lambda: jnp.sqrt(w * x), lambda: w * w),
    "shared in both": lambda w, x: lax.cond(x > 0, lambda: w / x, lambda: w * jnp.sqrt(1 - x)),
    "sqrt to sqrt": lambda w, x: jnp.sqrt(lax.cond(x > 0, lambda: x**0.5, lambda: w - x)),
    "power": lambda w, x: lax.cond(x > 0, lambda: x**w, lambda: -(w**2) * x),
    "switch": lambda w, x: lax.switch(
        (x > 0).astype(int) + (x > 1), [lambda: w * x, lambda: w * jnp.log(x), lambda: x**-w]
    ),
    "vectors": lambda w, x: lax.cond(
        x > 0, lambda: (jnp.log(x) * (w * M) @ F32([1, 2])).sum(), lambda: w * x
    ),
    "never": lambda w, x: lax.cond(x > 99, lambda: w * jnp.log(x - 99), lambda: x * w),
    "nested": _nested,
    "in scan": _in_scan,
    "in fori": _in_loop,
}
POINTS = F32([0, -1, 2, 0.25, 0, -3, 0.5])


def _one_by_one(fun: Any, *shared: Any) -> list[Any]:
    return [fun(*shared, jnp.asarray(x)) for x in POINTS]


def _close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", CHOICES)
def test_derivatives_are_those_of_a_loop_over_examples(name: str) -> None:
    fun = CHOICES[name]
    every = hloom.vmap(fun, (None, 0))

    def total(w: Any, x: Any) -> Any:
        return every(w, x).sum()

    _close(every(W, POINTS), _one_by_one(fun, W))
    pairs = _one_by_one(hloom.grad(fun, (0, 1)), W)
    by_w, by_x = np.sum([p[0] for p in pairs], axis=0), [p[1] for p in pairs]
    assert np.isfinite(by_w) and np.isfinite(by_x).all()
    for grad in (hloom.grad(total, (0, 1)), hloom.jit(hloom.grad(total, (0, 1)))):
        got = grad(W, POINTS)
        _close(got[0], by_w)
        _close(got[1], by_x)
    jitted = hloom.grad(hloom.jit(total), (0, 1))(W, POINTS)
    _close(jitted[0], by_w)
    each = hloom.vmap(hloom.grad(fun, (0, 1)), (None, 0))(W, POINTS)
    _close(each[0].sum(), by_w)
    _close(each[1], by_x)
    _close(hloom.jvp(total, (W, POINTS), (F32(1), POINTS))[1], by_w + POINTS @ np.array(by_x))
    _close(hloom.linearize(total, W, POINTS)[1](F32(1), POINTS), by_w + POINTS @ np.array(by_x))


@pytest.fixture
def by_numpy() -> Iterator[None]:
    """Where the rules are tested and not the programs: this engine compiles nothing."""
    with hloom.engine("numpy"):
        yield


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("name", CHOICES)
def test_second_derivatives_are_those_of_a_loop_over_examples(name: str) -> None:
    fun = CHOICES[name]

    def total(w: Any, x: Any) -> Any:
        return hloom.vmap(fun, (None, 0))(w, x).sum()

    want = np.sum(_one_by_one(hloom.grad(hloom.grad(fun)), W), axis=0)
    mixed = _one_by_one(hloom.grad(hloom.grad(fun), 1), W)
    _close(hloom.grad(hloom.grad(total))(W, POINTS), want)
    _close(hloom.jvp(hloom.grad(total), (W, POINTS), (F32(1), 0 * POINTS))[1], want)
    along_w = lambda w, x: hloom.jvp(lambda w: total(w, x), (w,), (F32(1),))[1]  # noqa: E731
    _close(hloom.grad(along_w)(W, POINTS), want)
    _close(hloom.grad(hloom.grad(total), 1)(W, POINTS), mixed)


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("name", CHOICES)
def test_vmap_of_vmap(name: str) -> None:
    fun = CHOICES[name]
    ws = F32([0.5, 1, 2])

    def total(ws: Any, x: Any) -> Any:
        return hloom.vmap(hloom.vmap(fun, (None, 0)), (0, None))(ws, x).sum()

    pairs = [_one_by_one(hloom.grad(fun, (0, 1)), w) for w in ws]
    by_w = [np.sum([p[0] for p in row], axis=0) for row in pairs]
    by_x = np.sum([[p[1] for p in row] for row in pairs], axis=0)
    got = hloom.grad(total, (0, 1))(ws, POINTS)
    _close(got[0], by_w)
    _close(got[1], by_x)
    rows = np.stack([POINTS, POINTS[::-1] - 4])
    by_w = hloom.grad(lambda w: hloom.vmap(hloom.vmap(fun, (None, 0)), (None, 0))(w, rows).sum())(W)
    want = sum(hloom.grad(fun)(W, x) for x in rows.ravel())
    _close(by_w, want)


def test_no_example_chooses_the_branch() -> None:
    fun = CHOICES["shared log"]
    for points in (F32([-1, -2, 0]), F32([1, 2, 3]), F32([-1]), np.zeros(0, np.float32)):
        total = lambda w, x: hloom.vmap(fun, (None, 0))(w, x).sum()  # noqa: E731
        want = sum((hloom.grad(fun)(W, x) for x in points), F32(0))
        _close(hloom.grad(total)(W, points), want)


@pytest.mark.parametrize("engine", testing.ENGINES)
def test_on_three_engines(engine: str) -> None:
    for name in ("shared log", "switch", "nested"):
        every = hloom.vmap(CHOICES[name], (None, 0))
        (got,) = testing.results(
            engine, hloom.grad(lambda w, x, every=every: every(w, x).sum()), W, POINTS
        )
        _close(got, sum(_one_by_one(hloom.grad(CHOICES[name]), W)))


def test_nothing_is_moved_where_nothing_is_differentiated() -> None:
    """The forward program has no more than the branches and the choice."""
    text = hloom.jit(hloom.vmap(CHOICES["shared log"], (None, 0))).lower(W, POINTS).as_text()
    assert "dynamic_slice" not in text and "reduce" not in text


def test_public_reports() -> None:
    """jax-ml/jax#5658, #20601, #39219."""
    f = lambda x: lax.cond(x > 0, jnp.log, lambda x: 0.0 * x, x)  # noqa: E731
    assert hloom.vmap(hloom.grad(f))(jnp.array([1.0, 0.0])).tolist() == [1, 0]
    assert hloom.grad(lambda x: hloom.vmap(f)(x).sum())(jnp.array([1.0, 0.0])).tolist() == [1, 0]
    s = lambda x: lax.switch((x > 0).astype(int), [lambda x: x, jnp.sqrt], x)  # noqa: E731
    assert hloom.grad(lambda x: hloom.vmap(s)(x).sum())(jnp.array([4.0, 0])).tolist() == [0.25, 1]
    c = lambda p, x: lax.cond(p, lambda: x, lambda: 2 * x)  # noqa: E731
    lin = lambda p, x: hloom.linearize(lambda y: c(p, y), 1.0)[1](x)  # noqa: E731
    p = jnp.array([True, False])
    _, pull = hloom.vjp(lambda x: hloom.vmap(lin)(p, x), jnp.ones(2))
    assert pull(jnp.ones(2))[0].tolist() == [1, 2]


# ---- loops --------------------------------------------------------------------------------------
def _down(x: Any) -> Any:
    """Ends for x > 0 only; jax-ml/jax#2947."""
    return lax.while_loop(lambda y: (y <= 0) | (y > 1e-3), lambda y: y * 0.1, x)


def _up(x: Any) -> Any:
    return lax.while_loop(lambda y: y < -1e-3, lambda y: y * 0.1, x)


def _either(x: Any) -> Any:
    return lax.cond(x >= 0, _down, _up, x)


@pytest.mark.parametrize("points", [[3, -3], [3, 0.5], [-3, -4], [-1, 2, -2, 1, 0.0004]], ids=str)
def test_a_loop_in_a_branch_ends_under_vmap(points: Any) -> None:
    points = F32(points)
    want = [_either(x) for x in points]
    assert hloom.vmap(_either)(points).tolist() == want
    assert hloom.jit(hloom.vmap(_either))(points).tolist() == want
    assert hloom.vmap(hloom.vmap(_either))(np.stack([points, points]))[1].tolist() == want
    out, tangent = hloom.jvp(hloom.vmap(_either), (points,), (points,))
    assert out.tolist() == want
    _close(tangent, [hloom.jvp(_either, (x,), (x,))[1] for x in points])
    assert hloom.vmap(_either)(np.zeros(0, np.float32)).shape == (0,)


@pytest.mark.parametrize("engine", testing.ENGINES)
def test_a_loop_in_a_branch_on_three_engines(engine: str) -> None:
    points = F32([3, -3, 1])
    (got,) = testing.results(engine, hloom.vmap(_either), points)
    _close(got, [_either(x) for x in points])


def test_loops_deeper_inside() -> None:
    def inside(x: Any) -> Any:
        return lax.scan(lambda c, _: (hloom.jit(_either)(c) * -2, None), x, None, length=2)[0]

    fun = lambda x: lax.switch(jnp.int32(x), [lambda x: x, _down, inside], x)  # noqa: E731
    points = F32([0, 1, 2, 1, 0])
    assert hloom.vmap(fun)(points).tolist() == [fun(x) for x in points]


def test_a_loop_in_a_loop_that_has_ended_for_some_examples() -> None:
    """The inner loop does not end for the carry that the outer one has ended with."""

    def fun(count: Any) -> Any:
        def body(state: Any) -> Any:
            i, _, goal = state
            y = lax.while_loop(lambda y: y != goal, lambda y: y + 1, 0)
            return i + 1, y, jnp.where(i + 1 < count, goal + 1, -1)

        return lax.while_loop(lambda s: s[0] < count, body, (0, 0, 5))

    counts = np.array([1, 3, 0])
    want = [fun(n) for n in counts]
    for got, column in zip(hloom.vmap(fun)(counts), zip(*want)):
        assert got.tolist() == list(column)


def test_no_branch_that_loops_is_run_without_an_example() -> None:
    endless = lambda x: lax.while_loop(lambda y: y == y, lambda y: y, x)  # noqa: E731
    fun = hloom.vmap(lambda x: lax.cond(x > 0, endless, lambda x: x, x))
    assert fun(F32([-1, -2])).tolist() == [-1, -2]
    assert fun(F32([])).tolist() == []


# ---- what is the same for all examples stays so -------------------------------------------------
def test_a_result_that_branches_only_forward_is_not_batched() -> None:
    def both(f: Any, g: Any) -> Any:
        return hloom.vmap(
            lambda x, y: lax.cond(x < 2, lambda x, y: (f(x), y), lambda x, y: (g(x), y), x, y),
            in_axes=(0, None), out_axes=(0, None),
        )  # fmt: skip

    for run in (both(lambda x: x * 2, lambda x: x * 3), hloom.jit(both(abs, lambda x: x))):
        assert run(jnp.arange(3), jnp.array(3.0))[1].shape == ()
    loop = lambda x, y: lax.fori_loop(0, 2, lambda i, c: (c[0] * 2, c[1]), (x, y))  # noqa: E731
    assert hloom.vmap(loop, (0, None), (0, None))(F32([1, 2]), F32(3))[1] == 3
    with pytest.raises(ValueError, match="differs between examples"):
        hloom.vmap(
            lambda x, y: lax.cond(x < 2, lambda: y, lambda: y + 1), (0, None), None
        )(jnp.arange(3), 3.0)  # fmt: skip


# ---- without jit --------------------------------------------------------------------------------
def test_control_flow_under_vmap_without_jit() -> None:
    points = F32([0, 1, 2, -3])
    funs = {
        "while": lambda x: lax.while_loop(lambda y: y < 10, lambda y: y + 1, x),
        "predicate known for a while": lambda x: lax.while_loop(
            lambda s: s[0] < 10, lambda s: (s[0] + 1 + s[1], x * x), (F32(0), F32(0))
        ),
        "fori": lambda x: lax.fori_loop(0, jnp.int32(x), lambda i, c: c + i, 0),
        "cond": lambda x: lax.cond(x > 1, jnp.sin, jnp.cos, x),
        "switch": lambda x: lax.switch(jnp.int32(x), [jnp.sin, jnp.cos], x),
        "scan": lambda x: lax.scan(lambda c, k: (c + k, c), x, jnp.arange(3.0)),
        "map": lambda x: lax.map(lambda k: k * x, jnp.arange(3.0)),
        "loop in a branch": lambda x: _either(x + 0.5),
    }
    for name, fun in funs.items():
        want = hloom.vmap(fun)(points)
        with hloom.disable_jit():
            got = hloom.vmap(fun)(points)
            both = zip(hloom.tree_util.tree_leaves(got), hloom.tree_util.tree_leaves(want))
        for x, y in both:
            np.testing.assert_allclose(x, y, rtol=1e-6, err_msg=name)


def test_without_jit_a_body_can_not_write_into_what_it_is_given() -> None:
    def add(x: Any) -> Any:
        x += 1
        return x

    with hloom.disable_jit():
        v = np.array(1.0, np.float32)
        results = [
            lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, add(c[1])), (v, v))[1] - 1,
            lax.fori_loop(0, 1, lambda i, c: add(c), v),
            lax.scan(lambda c, _: (add(c), None), v, None, length=1)[0],
            lax.cond(True, add, add, v),
            lax.switch(0, [add, add], v),
        ]
    assert v == 1
    assert [float(x) for x in results] == [2] * 5
