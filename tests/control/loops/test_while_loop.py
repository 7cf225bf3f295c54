"""`while_loop`, `fori_loop`: values on three engines, derivatives, batches, errors."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core import check_jaxpr
from tests.control.loops.loops_in_python import agree, gradient_is_right, on_engines
from tests.control.loops.loops_in_python import fori_loop as python_fori
from tests.control.loops.loops_in_python import while_loop as python_while


def collatz(n):
    def step(state):
        n, count = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]


def newton(a):
    """The square root, by as many steps as it takes."""

    def going(state):
        x, before = state
        return jnp.abs(x - before) > 1e-12

    return lax.while_loop(going, lambda s: (0.5 * (s[0] + a / s[0]), s[0]), (a, a * 0.0))[0]


# ---- while --------------------------------------------------------------------------------------
def test_while_on_three_engines():
    on_engines(collatz, jnp.int32(7))
    assert int(collatz(7)) == 16 and int(collatz(1)) == 0


def test_while_over_a_tree_with_closures():
    limit, w = jnp.float32(10), jnp.ones(3)

    def going(s):
        return s["x"].sum() < limit

    def step(s):
        return {"x": s["x"] + w, "n": [s["n"][0] + 1]}

    init = {"x": jnp.zeros(3), "n": [jnp.int32(0)]}
    agree(lax.while_loop(going, step, init), python_while(going, step, init))
    f = hloom.jit(lambda limit, w: lax.while_loop(lambda s: s.sum() < limit, lambda s: s + w, w))
    assert f(10.0, w).tolist() == [4, 4, 4]


def test_no_carry_and_no_steps():
    assert lax.while_loop(lambda _: False, lambda x: x, ()) == ()
    assert int(lax.while_loop(lambda n: n < 0, lambda n: n + 1, 5)) == 5


def test_forward_mode_through_while():
    with hloom.enable_x64():
        value, slope = hloom.jvp(newton, (2.0,), (1.0,))
        agree((value, slope), (np.sqrt(2), 0.5 / np.sqrt(2)), 1e-10)
        agree(hloom.jit(lambda x: hloom.jvp(newton, (x,), (1.0,)))(2.0), (value, slope), 1e-10)
        _, derivative = hloom.linearize(newton, 2.0)
        agree(derivative(2.0), 2 * slope, 1e-10)
        _, second = hloom.jvp(lambda x: hloom.jvp(newton, (x,), (1.0,))[1], (2.0,), (1.0,))
        agree(second, -0.25 * 2.0**-1.5, 1e-8)


def test_constants_of_the_body_have_tangents_too():
    def f(w):
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * w), (0, 1.0))[1]

    agree(hloom.jvp(f, (2.0,), (1.0,)), (np.float32(8), np.float32(12)))


def test_reverse_mode_says_what_to_use_instead():
    def f(x):
        return lax.while_loop(lambda x: x < 10, lambda x: x * x, x)

    for g in (hloom.grad(f), hloom.jit(hloom.grad(f)), hloom.grad(hloom.jit(f))):
        with pytest.raises(ValueError) as caught:
            g(2.0)
        text = str(caught.value)
        assert "Reverse-mode" in text and "test_while_loop.py:" in text
        assert "lax.fori_loop(" in text and "lax.scan(" in text


def test_a_loop_that_nothing_is_differentiated_through_may_stand_in_grad():
    def f(x):
        n = lax.while_loop(lambda n: n < 5, lambda n: n + 1, 0)
        steps = lax.while_loop(lambda s: s[0] < 3.0, lambda s: (s[0] * 2, s[1] + 1), (1.0, 0))[1]
        return x * n + steps

    assert float(hloom.grad(f)(1.0)) == 5
    assert float(hloom.grad(hloom.jit(f))(1.0)) == 5


# ---- batches ------------------------------------------------------------------------------------
@pytest.mark.parametrize("wrap", [lambda f: f, hloom.jit])
def test_examples_of_a_batch_end_at_different_steps(wrap):
    ns = jnp.array([1, 7, 6, 27])
    assert wrap(hloom.vmap(collatz))(ns).tolist() == [int(collatz(n)) for n in ns]
    nested = wrap(hloom.vmap(hloom.vmap(collatz)))(ns.reshape(2, 2))
    assert nested.tolist() == [[0, 16], [8, 111]]


def test_a_batched_limit_or_constant_alone():
    def f(limit, w):
        return lax.while_loop(lambda s: s[0] < limit, lambda s: (s[0] + 1, s[1] * w), (0, 1.0))

    limits, ws = jnp.array([0, 2, 5]), jnp.array([1.0, 2.0, 3.0])
    i, x = hloom.vmap(f, (0, None))(limits, 2.0)
    assert (i.tolist(), x.tolist()) == ([0, 2, 5], [1, 4, 32])
    i, x = hloom.vmap(f, (None, 0))(3, ws)
    assert (i.tolist(), x.tolist()) == ([3, 3, 3], [1, 8, 27])
    jaxpr = str(hloom.make_jaxpr(hloom.vmap(f, (None, 0)))(3, ws))
    assert "reduce_or" not in jaxpr


def test_what_ends_early_is_not_touched_by_later_steps():
    def f(x):
        return lax.while_loop(lambda x: x > 0, lambda x: jnp.log(x), x)

    xs = jnp.array([0.5, 100.0, -1.0])
    agree(hloom.vmap(f)(xs), jnp.stack([f(x) for x in xs]))


def test_forward_mode_of_a_batch_and_batch_of_forward_mode():
    xs = jnp.array([2.0, 9.0])
    with hloom.enable_x64():
        xs = xs.astype(float)
        want = 0.5 / np.sqrt(xs)
        agree(hloom.jvp(hloom.vmap(newton), (xs,), (np.ones(2),))[1], want, 1e-9)
        agree(hloom.vmap(lambda x: hloom.jvp(newton, (x,), (1.0,))[1])(xs), want, 1e-9)


# ---- fori ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("lower, upper", [(0, 0), (0, 1), (2, 7), (-3, 2), (5, 2)])
def test_fori_is_the_loop(lower, upper):
    def f(i, x):
        return x * 0.5 + i

    want = python_fori(lower, upper, f, jnp.float32(1))
    agree(lax.fori_loop(lower, upper, f, jnp.float32(1)), want)
    agree(hloom.jit(lambda x: lax.fori_loop(lower, upper, f, x))(jnp.float32(1)), want)
    agree(hloom.jit(lambda n, m, x: lax.fori_loop(n, m, f, x))(lower, upper, jnp.float32(1)), want)
    agree(lax.fori_loop(lower, upper, f, jnp.float32(1), unroll=3), want)
    agree(lax.fori_loop(lower, upper, f, jnp.float32(1), unroll=True), want)


def test_fori_on_three_engines():
    on_engines(lambda x: lax.fori_loop(0, 5, lambda i, x: x.at[i].add(i), x), jnp.zeros(4))


def test_the_counter_has_the_type_of_the_bounds():
    assert lax.fori_loop(0, 3, lambda i, x: i, 0).weak_type
    assert lax.fori_loop(jnp.uint8(0), 3, lambda i, x: i, jnp.uint8(0)).dtype == "uint8"
    assert lax.fori_loop(0, np.int16(3), lambda i, x: i, np.int16(0)).dtype == "int16"
    with hloom.enable_x64():
        far = 2**40
        assert int(lax.fori_loop(far, far + 3, lambda i, x: x + i, 0)) == 3 * far + 3
        g = hloom.grad(lambda x: lax.fori_loop(far, far + 3, lambda i, x: x * 2, x))
        assert float(g(1.0)) == 8


def test_known_bounds_can_be_differentiated():
    def f(w, x):
        return lax.fori_loop(1, 4, lambda i, x: jnp.sin(x * w) + i * x, x).sum()

    gradient_is_right(f, 0.3, np.arange(3.0))


def test_bounds_known_under_grad_alone_are_known():
    def f(x, n):
        return lax.fori_loop(0, n, lambda i, x: x * 2, x)

    assert float(hloom.grad(f)(1.0, 3)) == 8
    assert float(hloom.grad(f)(1.0, jnp.int32(4))) == 16
    with pytest.raises(ValueError, match="Reverse-mode"):
        hloom.jit(hloom.grad(f))(1.0, 3)
    assert float(hloom.jit(hloom.grad(f), static_argnums=1)(1.0, 3)) == 8


def test_an_eager_loop_is_compiled_once_for_all_bounds(monkeypatch):
    compiled = []
    engine = hloom.core.support.executable.ENGINES["xla"]
    compile_text = engine.compile_text
    monkeypatch.setattr(
        engine, "compile_text", lambda *a, **k: (compiled.append(1), compile_text(*a, **k))[1]
    )
    x = jnp.ones(7)
    for n in range(6):
        lax.fori_loop(0, n, lambda i, x: x + i, x)
    assert len(compiled) == 1


def test_vmap_over_bounds_and_state():
    def f(n, x):
        return lax.fori_loop(0, n, lambda i, x: x * 2 + i, x)

    ns, xs = jnp.array([0, 1, 4]), jnp.array([1.0, 2.0, 3.0])
    want = jnp.stack([f(n, x) for n, x in zip(ns, xs)])
    agree(hloom.vmap(f)(ns, xs), want)
    agree(hloom.jit(hloom.vmap(f))(ns, xs), want)


def test_jaxprs_of_loops_check():
    jaxprs = [
        hloom.make_jaxpr(hloom.vmap(collatz))(jnp.arange(3)),
        hloom.make_jaxpr(lambda x: hloom.jvp(newton, (x,), (x,)))(2.0),
        hloom.make_jaxpr(lambda n: lax.fori_loop(0, n, lambda i, x: x + i, n))(2),
    ]
    for closed in jaxprs:
        check_jaxpr(closed.jaxpr)
        assert "while[" in str(closed)


# ---- without compiling --------------------------------------------------------------------------
def test_disable_jit_runs_loops_in_python():
    with hloom.disable_jit():
        assert lax.while_loop(lambda s: len(s) < 3, lambda s: s + "a", "") == "aaa"
        assert lax.fori_loop(0, 3, lambda i, s: s + str(i), "") == "012"


# ---- errors -------------------------------------------------------------------------------------
def add(i, x):
    return x + i


@pytest.mark.parametrize(
    "kind, fun, pattern",
    [
        (TypeError, lambda: lax.while_loop(lambda x: x, lambda x: x, 3), r"int32\[\]"),
        (TypeError, lambda: lax.while_loop(lambda x: x < 1, add, np.zeros(2)), r"add|argument"),
        (TypeError, lambda: lax.while_loop(lambda x: x < 3, lambda x: x, np.zeros(2)), "any"),
        (TypeError, lambda: lax.while_loop(lambda x: (x < 3,), lambda x: x, 0), "tree"),
        (TypeError, lambda: lax.while_loop(lambda x: None, lambda x: x, 0), "nothing"),
        (TypeError, lambda: lax.while_loop(3, lambda x: x, 0), "cond_fun as a function"),
        (TypeError, lambda: lax.while_loop(lambda x: True, "f", 0), "body_fun as a function"),
        (TypeError, lambda: lax.while_loop(lambda x: x < 3, lambda x: (x, x), 0), "tuple of 2"),
        (
            TypeError,
            lambda: lax.while_loop(
                lambda x: x[0] < 3, lambda x: (x[0] + 0.5, x[1]), np.array([1, 2])
            ),
            "tree",
        ),
        (
            TypeError,
            lambda: lax.while_loop(lambda x: x < 3, lambda x: x + 0.5, np.int32(0)),
            r"carry: int32\[\] in, float32\[\] out",
        ),
        (TypeError, lambda: lax.fori_loop(0.0, 3.0j, add, 0), "0-d integers or floats"),
        (TypeError, lambda: lax.fori_loop(0, np.arange(2), add, 0), "0-d integers"),
        (TypeError, lambda: lax.fori_loop(0, "a", add, 0), "not an array"),
        (TypeError, lambda: lax.fori_loop(np.uint8(0), np.int32(3), add, 0), "one dtype"),
        (TypeError, lambda: lax.fori_loop(0, 3, 3, 0), "body_fun as a function"),
        (TypeError, lambda: lax.fori_loop(0, 3, add, 0, unroll="a"), "unroll"),
        (
            TypeError,
            lambda: lax.fori_loop(0, 3, lambda i, x: [x[0], x[1] * 1.5], [0, np.int32(1)]),
            r"carry\[1\]: int32\[\] in, float32\[\] out",
        ),
        (
            ValueError,
            lambda: hloom.jit(lambda n: lax.fori_loop(0, n, add, 0, unroll=2))(3),
            "unroll",
        ),
    ],
)
def test_bad_arguments(kind, fun, pattern):
    with pytest.raises(kind) as caught:
        fun()
    assert re.search(pattern, str(caught.value)), str(caught.value)
