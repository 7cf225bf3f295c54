"""Programs of nested branches and loops, drawn at random: compiled, they are what Python computes.

Every program is run twice: with hloom's control flow, and with Python's own on concrete values.
Under each transformation both agree.  The engine is NumPy's, and once the reference interpreter:
what transformations make of control flow does not depend on it, and nothing has to be compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core import check_jaxpr
from tests.control.loops import loops_in_python


class Flow(NamedTuple):
    """Who steers."""

    cond: Callable[..., Any]
    fori_loop: Callable[..., Any]
    scan: Callable[..., Any]
    while_loop: Callable[..., Any]


def choose(pred: Any, true_fun: Any, false_fun: Any, *operands: Any) -> Any:
    return true_fun(*operands) if pred else false_fun(*operands)


COMPILED = Flow(lax.cond, lax.fori_loop, lax.scan, lax.while_loop)
PYTHON = Flow(choose, loops_in_python.fori_loop, loops_in_python.scan, loops_in_python.while_loop)

# A program maps a state (a, b) and a weight w, all f64[], to a state.
STEPS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, w: (a + b, b),
    "swap": lambda a, b, w: (b, a),
    "sin": lambda a, b, w: (jnp.sin(a), b * 0.5),
    "weigh": lambda a, b, w: (a * w, b - w),
    "mix": lambda a, b, w: (a * 0.5 + b * w, a),
    "stop": lambda a, b, w: (a, lax.stop_gradient(b)),
    "keep": lambda a, b, w: (a, b),
    "forget": lambda a, b, w: (1.0 + 0 * a, b),
}
leaves = st.sampled_from(sorted(STEPS))


def compound(programs: Any) -> Any:
    small = st.integers(0, 3)
    return st.one_of(
        st.tuples(st.just("then"), programs, programs),
        st.tuples(st.just("cond"), st.floats(-1, 1), programs, programs),
        st.tuples(st.just("fori"), small, programs),
        st.tuples(st.just("scan"), small, st.booleans(), programs),
    )


PROGRAMS = st.recursive(leaves, compound, max_leaves=5)
VALUES = st.floats(-1.5, 1.5).map(lambda x: round(x, 3))


def run(program: Any, flow: Flow, state: Any, w: Any) -> Any:
    """Interpret a program."""
    if isinstance(program, str):
        a, b = state
        return STEPS[program](a, b, w)
    match program:
        case ("then", first, second):
            return run(second, flow, run(first, flow, state, w), w)
        case ("cond", limit, one, other):
            return flow.cond(
                state[0] > limit,
                lambda s: run(one, flow, s, w), lambda s: run(other, flow, s, w), state,
            )  # fmt: skip
        case ("fori", count, body):
            return flow.fori_loop(
                0, count, lambda i, s: run(body, flow, (s[0] + i * w, s[1]), w), state
            )
        case ("scan", count, reverse, body):
            return scanned(count, reverse, body, flow, state, w)
    raise AssertionError(program)


def scanned(count: int, reverse: bool, body: Any, flow: Flow, state: Any, w: Any) -> Any:
    xs = jnp.arange(1.0, count + 1) * w

    def step(s: Any, x: Any) -> Any:
        a, b = run(body, flow, (s[0] * x, s[1]), w)
        return (a, b), a * b

    if not count:
        return flow.scan(step, state, xs)[0] if flow is COMPILED else state
    (a, b), ys = flow.scan(step, state, xs, reverse=reverse)
    return a + ys[0], b + ys.sum()


def function(program: Any, flow: Flow) -> Callable[..., Any]:
    """The program as a function of three numbers that gives one."""

    def f(a: Any, b: Any, w: Any) -> Any:
        x, y = run(program, flow, (a, b), w)
        return x + 0.5 * y

    return f


def agree(got: Any, want: Any) -> None:
    loops_in_python.agree(got, want, 1e-9)


def both(
    program: Any, args: tuple[float, ...], make: Callable[..., Any], engine: str = "numpy"
) -> None:
    """What `make` makes of the function gives the same for both flows."""
    with hloom.enable_x64(), hloom.engine(engine):
        values = [jnp.float64(x) for x in args]
        want = make(function(program, PYTHON))(*values)
        agree(make(function(program, COMPILED))(*values), want)
        agree(hloom.jit(make(function(program, COMPILED)))(*values), want)
        agree(make(hloom.jit(function(program, COMPILED)))(*values), want)


ALL = (0, 1, 2)


@given(PROGRAMS, st.tuples(VALUES, VALUES, VALUES))
def test_values(program, args):
    both(program, args, lambda f: f)


@given(PROGRAMS, st.tuples(VALUES, VALUES, VALUES))
def test_gradients(program, args):
    both(program, args, lambda f: hloom.value_and_grad(f, ALL))


@settings(max_examples=10)
@given(PROGRAMS, st.tuples(VALUES, VALUES, VALUES))
def test_gradients_of_what_is_written_as_stablehlo(program, args):
    both(program, args, lambda f: hloom.value_and_grad(f, ALL), "reference")


@given(PROGRAMS, st.tuples(VALUES, VALUES, VALUES))
def test_forward_mode(program, args):
    both(program, args, lambda f: lambda *xs: hloom.jvp(f, xs, (1.0, 0.5, -0.3)))


@given(PROGRAMS, st.tuples(VALUES, VALUES, VALUES))
def test_second_derivatives(program, args):
    def hessian_product(f: Any) -> Any:
        return lambda *xs: hloom.jvp(hloom.grad(f, ALL), xs, (1.0, 0.5, -0.3))[1]

    both(program, args, hessian_product)


@given(PROGRAMS, st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=3))
def test_batches_of_gradients(program, rows):
    with hloom.enable_x64(), hloom.engine("numpy"):
        columns = [jnp.array(column) for column in zip(*rows)]
        gradient = hloom.grad(function(program, PYTHON), ALL)
        want = [jnp.stack(column) for column in zip(*[gradient(*row) for row in rows])]
        f = function(program, COMPILED)
        agree(list(hloom.vmap(hloom.grad(f, ALL))(*columns)), want)
        agree(list(hloom.grad(lambda *xs: hloom.vmap(f)(*xs).sum(), ALL)(*columns)), want)


@given(PROGRAMS)
def test_jaxprs_are_well_formed(program):
    f = function(program, COMPILED)
    check_jaxpr(hloom.make_jaxpr(hloom.grad(f, ALL))(1.0, 0.5, -0.5).jaxpr)
    batch = np.ones(2, np.float32)
    check_jaxpr(hloom.make_jaxpr(hloom.vmap(hloom.grad(f, ALL)))(batch, batch, batch).jaxpr)


@given(st.lists(st.integers(-5, 60), min_size=1, max_size=4), st.integers(1, 4), st.integers(0, 9))
def test_while_loops_of_a_batch_end_each_on_their_own(starts, divisor, limit):
    def f(flow: Flow, n: Any) -> Any:
        def step(state: Any) -> Any:
            n, count = state
            inner = flow.while_loop(lambda m: m > limit, lambda m: m - divisor, n)
            return n - 7, count + inner

        return flow.while_loop(lambda s: s[0] > limit, step, (n, jnp.int32(0)))

    with hloom.engine("numpy"):
        want = [f(PYTHON, jnp.int32(n)) for n in starts]
        got = hloom.vmap(lambda n: f(COMPILED, n))(jnp.array(starts))
        agree([list(map(int, column)) for column in got], [list(map(int, c)) for c in zip(*want)])
