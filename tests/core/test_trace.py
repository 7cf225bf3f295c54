"""Traces: who interprets a primitive, and when that ends."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core.context import current
from hloom.core.trace import EAGER, Origin, Trace, active, current_trace, tracing


class Spy(Trace):
    """Writes down what it interprets, and lets its parent do it."""

    def __init__(self, parent: Trace):
        super().__init__(Origin("spy"), parent)
        self.seen: list[str] = []

    def process(self, primitive: Any, operands: Any, params: Any) -> Any:
        self.seen.append(primitive.name)
        with active(self.parent):
            return primitive.apply(operands, params)


def test_a_trace_interprets_with_one_method() -> None:
    spy = Spy(EAGER)
    with active(spy):
        assert float(lax.mul(lax.sin(jnp.float32(0)), jnp.float32(2))) == 0
    assert spy.seen == ["sin", "mul"]


def test_what_a_rule_calls_is_interpreted_by_the_parent() -> None:
    spy = Spy(EAGER)
    with active(spy):  # the jvp rule of sin calls sin, cos and mul
        value, slope = hloom.jvp(lax.sin, (jnp.float32(0),), (jnp.float32(1),))
    assert (float(value), float(slope)) == (0, 1)
    assert {"sin", "cos", "mul"} <= set(spy.seen)


def test_the_trace_before_is_in_force_again_after_an_error() -> None:
    inside: list[Trace] = []

    @hloom.jit
    def f(x: Any) -> Any:
        inside.append(current_trace())
        raise KeyError("the user's own")

    with pytest.raises(KeyError):
        f(1.0)
    assert current_trace() is EAGER and inside[0] is not EAGER
    assert inside[0].done and inside[0].within is None


def test_each_thread_has_a_trace_of_its_own() -> None:
    seen: list[Trace] = []

    def f(x: Any) -> Any:
        thread = threading.Thread(target=lambda: seen.append(current_trace()))
        thread.start()
        thread.join()
        return x

    hloom.make_jaxpr(f)(1.0)
    assert seen == [EAGER]


def test_no_table_answers_while_a_trace_is_in_force() -> None:
    keys: list[Any] = []
    hloom.make_jaxpr(lambda x: keys.append(current.get().key) or x)(1.0)
    assert keys == [None] and current.get().key is current.get().config


def test_a_tracer_that_is_used_after_its_trace_has_leaked() -> None:
    spy = Spy(EAGER)
    with tracing(spy):
        pass
    assert spy.done
    kept: list[Any] = []
    hloom.vmap(lambda x: kept.append(x) or x)(jnp.ones(2))
    with pytest.raises(hloom.errors.UnexpectedTracerError, match="had returned"):
        kept[0] + 1


def test_what_depends_on_no_tracer_is_evaluated_at_once_where_that_is_asked_for() -> None:
    def f(x: Any) -> Any:
        with hloom.ensure_compile_time_eval():
            known, traced = jnp.arange(3).sum(), jnp.sin(x)
        return traced * int(known)

    text = str(hloom.make_jaxpr(f)(jnp.float32(1)))
    assert "sin" in text and "reduce_sum" not in text and "3.0" in text
