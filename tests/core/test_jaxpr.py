"""The IR: recording, checking, printing, evaluating, and where equations come from."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core import Equation, Jaxpr, ShapedArray, Var, check_jaxpr, eval_jaxpr, trace_to_jaxpr
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
