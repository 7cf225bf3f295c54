"""`cond`, `switch`: the choice on three engines, derivatives, batches, closures, types, errors."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core import check_jaxpr
from tests.control.loops.loops_in_python import agree, gradient_is_right, on_engines

X = np.linspace(-1, 1, 4, dtype=np.float32)


def up(x):
    return {"a": x * 2, "b": (jnp.sin(x).sum(),)}


def down(x):
    return {"a": -x, "b": (jnp.cos(x).sum(),)}


def choose(p, x):
    return lax.cond(p, up, down, x)


# ---- values -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "pred", [True, False, 1, 0, 2.5, -0.0, np.nan, np.True_, np.float32(0), np.uint8(3), 1j]
)
def test_a_predicate_is_true_as_in_python(pred):
    want = (up if pred else down)(jnp.asarray(X))
    agree(choose(pred, X), want)
    agree(hloom.jit(choose)(pred, X), want)
    agree(choose(jnp.asarray(pred), X), want)
    agree(hloom.jit(lambda x: choose(pred, x))(X), want)


def test_on_three_engines():
    on_engines(choose, jnp.bool_(True), jnp.asarray(X))
    on_engines(choose, jnp.float32(0), jnp.asarray(X))
    on_engines(lambda i, x: lax.switch(i, [up, down, lambda x: up(-x)], x), 2, jnp.asarray(X))


@pytest.mark.parametrize("index", [-(2**31), -1, 0, 1, 2, 3, 2**31 - 1])
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int8", "uint8", "int64"])
def test_switch_takes_the_nearest_branch(index, dtype):
    branches = [lambda: 10, lambda: 20, lambda: 30]
    with hloom.enable_x64():
        info = np.iinfo(dtype)
        index = np.array(min(max(index, info.min), info.max), dtype)
        want = [10, 20, 30][min(max(int(index), 0), 2)]
        assert int(lax.switch(index, branches)) == want
        assert int(hloom.jit(lambda i: lax.switch(i, branches))(index)) == want
        batched = hloom.vmap(lambda i: lax.switch(i, branches))(index[None])
        assert batched.tolist() == [want]


def test_a_switch_of_many_and_of_one():
    many = [lambda x, k=k: x + k for k in range(200)]
    f = hloom.jit(lambda i, x: lax.switch(i, many, x))
    assert [int(f(np.int8(i), 0)) for i in (-3, 5, 127)] == [0, 5, 127]
    assert int(f(199, 0)) == 199
    assert lax.switch(7, [lambda x: x], 3) == 3


def test_operands_by_keyword_and_the_signature_of_old():
    assert float(lax.cond(True, lambda x: x, lambda x: -x, operand=2.0)) == 2
    assert float(lax.cond(False, lambda _: 1.0, lambda _: 2.0, operand=None)) == 2
    assert float(lax.cond(True, 3.0, lambda x: x, 4.0, lambda x: -x)) == 3
    assert float(lax.cond(False, 3.0, lambda x: x, 4.0, lambda x: -x)) == -4
    assert float(lax.switch(1, [lambda x: x, lambda x: -x], operand=2.0)) == -2
    assert float(lax.cond(True, lambda: 1.0, lambda: 2.0)) == 1


def test_only_the_chosen_branch_runs():
    def f(n):
        never = lambda n: lax.while_loop(lambda n: n > -1, lambda n: n, n)  # noqa: E731
        return lax.cond(n > 0, never, lambda n: n, n)

    assert int(f(jnp.int32(-1))) == -1
    assert int(hloom.jit(f)(jnp.int32(-1))) == -1


@pytest.mark.parametrize("p", [True, False])
def test_weak_results_become_strong_beside_strong_ones(p):
    def mixed(p):
        return lax.cond(p, lambda: 1.0, lambda: jnp.float32(2))

    assert not mixed(p).weak_type and not hloom.jit(mixed)(p).weak_type
    assert lax.cond(p, lambda: 1.0, lambda: 2.0).weak_type


def test_branches_without_results():
    assert lax.cond(True, lambda x: None, lambda x: None, 1.0) is None
    assert hloom.jit(lambda p: lax.cond(p, lambda: (), lambda: ()))(True) == ()


def test_an_eager_choice_compiles_only_what_is_chosen():
    jaxpr = hloom.make_jaxpr(lambda x: lax.cond(True, jnp.sin, jnp.cos, x))(1.0).jaxpr
    assert [e.primitive.name for e in jaxpr.equations] == ["cond"]
    check_jaxpr(jaxpr)


# ---- derivatives --------------------------------------------------------------------------------
def loss(x, w):
    def one(x):
        return jnp.sin(x) * w

    def two(x):
        return x * x

    y = lax.cond(x.sum() > 0, one, two, x)
    z = lax.switch((x[0] * 0 + 1).astype(int), [two, one, lambda x: w * x.sum() * x], y * w)
    return (z * jnp.arange(4.0)).sum()


@pytest.mark.parametrize("shift", [0.5, -0.5])
def test_derivatives_by_operands_and_closures(shift):
    gradient_is_right(loss, X + shift, np.float64(0.7))


def test_a_branch_without_a_derivative_gives_zero():
    def f(x):
        return lax.cond(x > 0, lambda x: (x * x, 3), lambda x: (1.0, 4), x)[0]

    for g in (hloom.grad(f), hloom.jit(hloom.grad(f)), hloom.grad(hloom.jit(f))):
        assert float(g(3.0)) == 6
        assert float(g(-3.0)) == 0


def test_second_derivatives():
    def f(x):
        return lax.cond(x > 0, lambda x: x**3, lambda x: jnp.cos(x), x)

    for x, want in ((2.0, 12.0), (-1.0, -np.cos(1.0))):
        agree(hloom.grad(hloom.grad(f))(x), np.float32(want))
        agree(hloom.jit(hloom.grad(hloom.grad(f)))(x), np.float32(want))
        agree(hloom.grad(hloom.jit(hloom.grad(hloom.jit(f))))(x), np.float32(want))
        agree(hloom.jvp(hloom.grad(f), (x,), (1.0,))[1], np.float32(want))


def test_the_gradient_does_not_pass_what_was_not_chosen():
    def f(x):
        return lax.cond(x > 0, lambda x: jnp.sqrt(x), lambda x: x * 0, x)

    assert float(hloom.jit(hloom.grad(f))(0.0)) == 0


# ---- batches ------------------------------------------------------------------------------------
def test_vmap_with_predicates_that_differ_chooses_each():
    ps = jnp.array([True, False, True])
    xs = jnp.arange(12.0).reshape(3, 4)
    got = hloom.vmap(choose)(ps, xs)
    want = [choose(p, x) for p, x in zip(ps, xs)]
    agree(got, hloom.tree.map(lambda *ys: jnp.stack(ys), *want))
    got = hloom.vmap(choose, (0, None))(ps, xs[0])
    want = [choose(p, xs[0]) for p in ps]
    agree(got, hloom.tree.map(lambda *ys: jnp.stack(ys), *want))


@pytest.mark.parametrize("wrap", [lambda f: f, hloom.jit])
def test_vmap_with_one_predicate_stays_a_cond(wrap):
    f = wrap(lambda p, x: hloom.vmap(lambda x: lax.cond(p, lambda x: x, lambda x: 1.0, x))(x))
    assert f(True, jnp.arange(3.0)).tolist() == [0, 1, 2]
    assert f(False, jnp.arange(3.0)).tolist() == [1, 1, 1]
    jaxpr = str(hloom.make_jaxpr(f)(True, jnp.arange(3.0)))
    assert "cond[" in jaxpr and "select_n" not in jaxpr


def test_vmap_of_switch_and_its_gradient():
    branches = [lambda x: x, lambda x: x * x, lambda x: jnp.sin(x)]

    def f(i, x):
        return lax.switch(i, branches, x)

    i, x = jnp.array([0, 1, 2, 5]), jnp.array([1.0, 2.0, 3.0, 4.0])
    want = [branches[min(int(a), 2)](b) for a, b in zip(i, x)]
    agree(hloom.vmap(f)(i, x), jnp.stack(want))
    slopes = jnp.stack([hloom.grad(f, 1)(a, b) for a, b in zip(i, x)])
    agree(hloom.vmap(hloom.grad(f, 1))(i, x), slopes)
    agree(hloom.grad(lambda x: hloom.vmap(f)(i, x).sum())(x), slopes)


# ---- without compiling --------------------------------------------------------------------------
def test_disable_jit_runs_the_branch_in_python():
    with hloom.disable_jit():
        assert lax.cond(True, lambda x: "any", lambda x: 1, 2) == "any"
        assert lax.switch(9, [lambda: 1, lambda: "last"]) == "last"


# ---- errors -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "kind, fun, pattern",
    [
        (TypeError, lambda: lax.cond(X > 0, up, down, X), r"0-d predicate.*bool\[4\]"),
        (TypeError, lambda: lax.cond("yes", up, down, X), "str 'yes'"),
        (TypeError, lambda: lax.cond(None, up, down, X), "NoneType"),
        (TypeError, lambda: lax.cond(True, 3, 4), "true_fun as a function; got int 3"),
        (TypeError, lambda: lax.cond(True, up, 4), "false_fun as a function"),
        (TypeError, lambda: lax.cond(True, up, down, 1, operand=2), "operand="),
        (TypeError, lambda: lax.cond(True, up, down, {"k": "a"}), r"operands\[0\]\['k'\]"),
        (TypeError, lambda: lax.cond(True, lambda: "a", lambda: 1), "not an array: str"),
        (
            TypeError,
            lambda: lax.cond(True, lambda x: (x, x), lambda x: (x, x.astype(int)), 1.0),
            r"result\[1\]: float32\[\] from true_fun, int32\[\] from false_fun",
        ),
        (TypeError, lambda: lax.cond(True, lambda: 1, lambda: 1.0), r"int32\[\] from true_fun"),
        (TypeError, lambda: lax.cond(True, lambda: (1,), lambda: 1), "a leaf"),
        (TypeError, lambda: lax.cond(True, lambda: None, lambda: 1), "None"),
        (
            TypeError,
            lambda: lax.switch(0, [lambda: X, lambda: X, lambda: X[:2]]),
            r"float32\[4\] from branches\[0\], float32\[2\] from branches\[2\]",
        ),
        (ValueError, lambda: lax.switch(0, []), "at least one branch"),
        (TypeError, lambda: lax.switch(1.0, [up, down], X), r"0-d integer as index; got f32\[\]"),
        (TypeError, lambda: lax.switch(True, [up, down], X), r"lax\.cond"),
        (TypeError, lambda: lax.switch("a", [up, down], X), "str 'a'"),
        (TypeError, lambda: lax.switch(np.arange(2), [up, down], X), r"i32\[2\]"),
        (TypeError, lambda: lax.switch(0, [up, 3], X), r"branches\[1\] as a function"),
    ],
)
def test_bad_arguments(kind, fun, pattern):
    with pytest.raises(kind) as caught:
        fun()
    assert re.search(pattern, str(caught.value)), str(caught.value)


def test_a_mismatch_is_found_whatever_is_chosen_and_names_lines():
    def f(p, x):
        return lax.cond(p, lambda x: x, lambda x: x[:2], x)

    for g in (f, hloom.jit(f), lambda p, x: hloom.grad(lambda x: f(p, x).sum())(x)):
        for p in (True, False):
            with pytest.raises(TypeError) as caught:
                g(p, X)
            text = str(caught.value)
            assert "result: float32[4] from true_fun, float32[2] from false_fun" in text
            assert text.count("test_cond.py:") >= 3


def test_a_captured_tracer_leaks_as_anywhere():
    kept = []

    def f(x):
        return lax.cond(True, lambda x: kept.append(x) or x, lambda x: x, x)

    f(1.0)
    with pytest.raises(hloom.errors.UnexpectedTracerError):
        kept[0] + 1
