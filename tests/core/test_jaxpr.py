"""The IR: recording, checking, printing, evaluating, and where equations come from."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.core import (
    Equation,
    Jaxpr,
    Literal,
    Origin,
    ShapedArray,
    Trace,
    Var,
    active,
    check_jaxpr,
    current_trace,
    eval_jaxpr,
    trace_to_jaxpr,
)
from hloom.core.support.source import resolve
from hloom.errors import JaxprTypeError
from hloom.ops.pointwise.arithmetic import add_p

F3 = ShapedArray((3,), np.dtype("float32"))


def test_avals_are_interned_and_print_as_in_jaxprs():
    assert ShapedArray((3,), np.dtype("float32")) is F3
    assert str(F3) == "f32[3]" and repr(F3) == "ShapedArray(float32[3])"
    assert ShapedArray((3,), np.dtype("float32"), True) is not F3
    assert repr(ShapedArray((), np.dtype("int32"), True)) == "ShapedArray(int32[], weak_type=True)"
    assert F3.update(shape=(2, 3)) is ShapedArray((2, 3), np.dtype("float32"))


def test_recording_captures_arrays_and_inlines_scalars():
    w, s = jnp.ones(3), jnp.float32(2.5)
    jaxpr, captured = trace_to_jaxpr(lambda x: lax.mul(lax.add(x, w), s), [F3])
    assert captured == [w] or captured[0] is w
    assert str(jaxpr) == (
        "{ lambda a:f32[3]; b:f32[3]. let\n    c:f32[3] = add b a\n    d:f32[3] = mul c 2.5\n  in "
        "(d,) }"
    )
    check_jaxpr(jaxpr)
    np.testing.assert_array_equal(eval_jaxpr(jaxpr, [w, jnp.zeros(3)])[0], 2.5)


def test_unused_results_are_underscores_and_long_parameters_break():
    def f(x, y):
        lax.sin(x)
        return lax.dot_general(x, y, (((0,), (0,)), ((), ())))

    assert str(hloom.make_jaxpr(f)(jnp.ones(3), jnp.ones(3))) == (
        "{ lambda ; a:f32[3] b:f32[3]. let\n    _:f32[3] = sin a\n    c:f32[] = dot_general[\n"
        "      dimension_numbers=(([0], [0]), ([], []))\n      preferred_element_type=float32\n"
        "    ] a b\n  in (c,) }"
    )


def test_names_go_on_after_z():
    def f(x):
        for _ in range(30):
            x = lax.neg(x)
        return x

    lines = str(hloom.make_jaxpr(f)(1.0)).splitlines()
    assert lines[1].strip() == "b:f32[] = neg a" and lines[26].strip() == "ba:f32[] = neg z"


def test_the_checker_finds_what_is_wrong():
    a, b, c = Var(F3), Var(F3), Var(ShapedArray((2,), np.dtype("float32")))
    good = Jaxpr([a], [Equation(add_p, [a, a], [b], {})], [b])
    check_jaxpr(good)
    for bad, words in [
        (Jaxpr([a], [Equation(add_p, [a, b], [c], {})], [c]), "uses"),
        (Jaxpr([a, a], [], [a]), "second time"),
        (Jaxpr([a], [Equation(add_p, [a, a], [c], {})], [c]), r"infers f32\[3\].*f32\[2\]"),
        (Jaxpr([a], [], [b]), "outputs"),
    ]:
        with pytest.raises(JaxprTypeError, match=words):
            check_jaxpr(bad)


def test_an_equation_knows_the_users_line():
    def f(x):
        return jnp.sin(x) + 1  # this line

    jaxpr = hloom.make_jaxpr(f)(1.0).jaxpr
    for equation in jaxpr.equations:
        place = resolve(equation.source)
        assert place.file == __file__ and place.line == f.__code__.co_firstlineno + 1
        assert place.function.endswith("f") and place.column > 1


def test_evaluating_a_jaxpr_under_a_trace_writes_its_equations():
    inner = hloom.make_jaxpr(lambda x: lax.sin(x))(1.0).jaxpr
    outer = hloom.make_jaxpr(lambda x: eval_jaxpr(inner, [x])[0])(1.0)
    assert "sin a" in str(outer)


def test_a_zero_a_nan_and_an_infinity_are_exact_literals():
    for value in (-0.0, 0.0, np.inf, -np.inf, np.nan, 1e-45):
        got = np.float32(hloom.jit(lambda x, v=value: lax.mul(x, v))(1.0))
        want = (
            np.float32(value) if abs(value) != 1e-45 else np.float32(0)
        )  # XLA flushes subnormal results
        assert got.tobytes() == want.tobytes() or np.isnan(value) and np.isnan(got)


# ---- a Jaxpr is data ----------------------------------------------------------------------------
W = np.arange(1.0, 4.0, dtype=np.float32)


def program(x, n):
    """A function with something of every kind: a capture, a literal, control flow, two results."""
    w = jnp.asarray(W)
    total, rows = lax.scan(lambda c, row: (c + row * w, hloom.jit(jnp.sin)(c)), w, x)
    last = lax.while_loop(lambda c: c[0] < 2.5, lambda c: c + 0.5, total)
    return {"a": lax.cond(n > 1, lambda y: y * 2, lambda y: y + w, last), "b": rows[0]}


X = np.ones((4, 3), np.float32)


def test_names_of_jax_read_the_same_things():
    w = jnp.ones(3)
    closed = hloom.make_jaxpr(lambda x: lax.mul(x, w) * 2.0)(w)
    jaxpr = closed.jaxpr
    assert closed.eqns is closed.equations is jaxpr.eqns is jaxpr.equations
    assert jaxpr.constvars + jaxpr.invars == jaxpr.inputs == closed.constvars + closed.inputs
    assert jaxpr.outvars is jaxpr.outputs is closed.outvars is closed.outputs
    assert closed.invars == closed.inputs == jaxpr.inputs[1:]
    assert closed.literals is closed.consts and closed.consts[0] is w
    for equation in closed.eqns:
        assert equation.invars is equation.inputs and equation.outvars is equation.outputs
        assert equation.primitive.multiple_results is equation.primitive.multiple
    assert isinstance(closed.eqns[1].invars[1], Literal) and closed.eqns[1].invars[1].val == 2


def test_an_equation_prints_as_a_line_of_its_jaxpr():
    closed = hloom.make_jaxpr(lambda x: jnp.sum(x, axis=1) * 2)(jnp.ones((2, 3)))
    assert repr(closed.eqns) == "[b:f32[2] = reduce_sum[axes=(1,)] a, b:f32[2] = mul a 2.0]"


@pytest.mark.parametrize("engine", ["xla", "numpy", "reference"])
def test_a_closed_jaxpr_is_called_as_its_function(engine):
    with hloom.engine(engine):
        closed = hloom.make_jaxpr(program)(X, 2)
        for n in (0, 2):
            want = hloom.tree.leaves(program(X, n))
            for got in (closed(X, n), hloom.jit(closed)(X, n)):
                assert isinstance(got, list) and len(got) == len(closed.out_avals) == 2
                for x, y, aval in zip(got, want, closed.out_avals):
                    np.testing.assert_allclose(x, y, rtol=1e-6)
                    assert (x.shape, x.dtype) == (aval.shape, aval.dtype)


def test_a_closed_jaxpr_is_transformed_as_its_function():
    closed = hloom.make_jaxpr(program)(X, 2)
    stack = np.stack([X, 2 * X])
    got, want = (
        hloom.vmap(lambda x, f=f: hloom.tree.leaves(f(x, 2)), 0)(stack) for f in (closed, program)
    )
    assert all(np.array_equal(x, y) for x, y in zip(got, want, strict=True))
    got, want = (
        hloom.jvp(lambda x, f=f: hloom.tree.leaves(f(x, 2)), (X,), (X,)) for f in (closed, program)
    )
    for x, y in zip(hloom.tree.leaves(got), hloom.tree.leaves(want), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)
    f = hloom.make_jaxpr(lambda x: jnp.sum(jnp.sin(x) * W))(W)
    np.testing.assert_allclose(hloom.grad(lambda x: f(x)[0])(W), np.cos(W) * W, rtol=1e-6)


def test_a_closed_jaxpr_takes_what_it_was_traced_for():
    closed = hloom.make_jaxpr(lambda x, n: x * n)(W, 2)
    np.testing.assert_array_equal(closed(W, np.int64(3))[0], W * 3)
    took = r"takes \(f32\[3\], i32\[\]\); got"
    for args, words in [
        ((W,), rf"{took} \(f32\[3\]\)\. Trace .*make_jaxpr"),
        ((W, 2, 2), took),
        ((W[:2], 2), rf"{took} \(f32\[2\], i32\[\]\)"),
        ((W, 2.0), rf"{took} \(f32\[3\], f32\[\]\)"),
        ((W, "2"), "operand 1 is the str '2'"),
        (([W, 2],), "not pytrees; got a list. Pass the leaves: closed.*hloom.tree.leaves"),
    ]:
        with pytest.raises(TypeError, match=words):
            closed(*args)


def test_operands_of_eval_jaxpr_come_as_one_list_or_as_consts_and_arguments():
    w = jnp.asarray(W)
    closed = hloom.make_jaxpr(lambda x: x * w)(w)
    for given in ([[*closed.consts, w]], [closed.consts, w], [(), w, w]):
        np.testing.assert_array_equal(eval_jaxpr(closed.jaxpr, *given)[0], W * W)
    with pytest.raises(TypeError, match="takes 2 operands, 1 of them for what it captured; got 1"):
        eval_jaxpr(closed.jaxpr, [w])


class Parts(NamedTuple):
    first: Jaxpr
    rest: tuple


def test_inner_jaxprs_are_found_however_deep_in_tuples():
    closed = [hloom.make_jaxpr(f)(1.0) for f in (lax.sin, lax.cos, lax.tan, lax.exp)]
    sin, cos, tan, _ = (c.jaxpr for c in closed)
    params = {"n": 1, "parts": Parts(sin, ((cos, "text"), (), None)), "t": tan, "c": closed[3]}
    found = list(Equation(add_p, [], [], params).inner_jaxprs())
    assert [x.equations[0].primitive.name for x in found] == ["sin", "cos", "tan", "exp"]
    assert list(Equation(add_p, [], [], {"axes": (0, 1)}).inner_jaxprs()) == []


def primitives_in(jaxpr):
    names = Counter(e.primitive.name for e in jaxpr.equations)
    for equation in jaxpr.equations:
        for inner in equation.inner_jaxprs():
            names += primitives_in(inner)
    return names


@pytest.mark.parametrize(
    "fun",
    [
        hloom.jit(lax.sin),
        lambda x: lax.cond(x > 0, lax.sin, lax.cos, x),
        lambda x: lax.switch(1, [lax.cos, lambda x: hloom.jit(lax.sin)(x), lax.exp], x),
        lambda x: lax.fori_loop(0, 3, lambda i, c: lax.sin(c), x),
        lambda x: lax.while_loop(lambda c: lax.sin(c) < 0, lambda c: c + 1, x),
        lambda x: lax.scan(lambda c, _: (lax.sin(c), c), x, None, 3),
        lambda x: lax.map(lax.sin, jnp.stack([x, x])),
        lambda x: lax.custom_root(lambda y: lax.sin(y) - x, x, lambda f, y: y, lambda g, y: y),
        lambda x: lax.custom_linear_solve(lambda v: v * lax.sin(x), x, lambda f, b: b),
        lambda x: lax.composite(lax.sin, "my.sin")(x),
        hloom.grad(hloom.jit(lambda x: lax.cond(x > 0, lax.cos, lax.exp, x))),
        hloom.vmap(lambda n: lax.cond(n > 0, lax.sin, lax.cos, n)),
    ],
    ids="jit cond switch fori while scan map root solve composite grad vmap".split(),
)
def test_every_function_that_holds_a_jaxpr_shows_it(fun, request):
    x = np.ones(2, np.float32) if "vmap" in request.node.name else 1.0
    assert primitives_in(hloom.make_jaxpr(fun)(x).jaxpr)["sin"] >= 1


def test_an_interpreter_written_for_jax_runs():
    """The one of JAX's page on custom interpreters."""

    def interpret(jaxpr, consts, *args):
        env = {}

        def read(var):
            return var.val if type(var) is Literal else env[var]

        env.update(zip(jaxpr.invars, args, strict=True))
        env.update(zip(jaxpr.constvars, consts, strict=True))
        for eqn in jaxpr.eqns:
            outs = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
            outs = outs if eqn.primitive.multiple_results else [outs]
            env.update(zip(eqn.outvars, outs, strict=True))
        return [read(v) for v in jaxpr.outvars]

    w = jnp.asarray(W)
    closed = hloom.make_jaxpr(lambda x, n: (program(x, n), w * 2, 1.0))(X, 2)
    got = interpret(closed.jaxpr, closed.literals, X, jnp.int32(2))
    for x, y in zip(got, closed(X, 2), strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_trace_of_a_users_own_counts_what_runs_inside_others():
    class Count(Trace):
        def process(self, primitive, operands, params):
            counts[primitive.name] += 1
            with active(self.parent):
                return primitive.apply(operands, params)

    x, counts = jnp.asarray(W), Counter()
    with active(Count(Origin("count"), current_trace())):
        got = hloom.grad(lambda x: jnp.sum(hloom.vmap(jnp.sin)(x)))(x)
    np.testing.assert_allclose(got, np.cos(W), rtol=1e-6)
    assert counts["sin"] == counts["cos"] == counts["reduce_sum"] == 1 and counts["mul"] >= 1
    counts.clear()

    def counted(x):
        with active(Count(Origin("count"), current_trace())):
            return jnp.sin(x)

    assert "sin" in str(hloom.make_jaxpr(counted)(x)) and counts == {"sin": 1}


def test_a_closed_jaxpr_of_nothing_of_literals_and_of_the_leaves_of_pytrees():
    make = hloom.make_jaxpr
    assert [float(x) for x in make(lambda: (3.0, jnp.float32(2)))()()] == [3, 2]
    x, y = make(lambda x, y: (y, x))(1.0, jnp.arange(2))(5, np.arange(2))
    assert x.tolist() == [0, 1] and float(y) == 5 and y.dtype == np.float32
    args = ({"b": 2.0, "a": 3.0}, [4.0])
    closed = make(lambda d, xs: d["a"] - d["b"] * xs[0])(*args)
    assert float(closed(*hloom.tree.leaves(args))[0]) == 3 - 2 * 4
    with hloom.enable_x64():
        wide = make(lambda x: x * 2)(np.float64(0.5))
    assert wide.in_avals[0].dtype == np.float64


def test_the_closed_jaxpr_of_every_case_computes_what_its_function_does():
    """On the NumPy engine, where one equation after the other is what the engine does too."""
    with hloom.engine("numpy"), hloom.enable_x64():
        for case in (case for family in testing.FAMILIES.values() for case in family):
            operands = case.draw(case.dtypes[0])
            closed = hloom.make_jaxpr(case.fun)(*operands)
            got, want = closed(*hloom.tree.leaves(operands)), case.fun(*operands)
            for x, y in zip(got, hloom.tree.leaves(want), strict=True):
                np.testing.assert_array_equal(x, y, strict=True, err_msg=case.name)
