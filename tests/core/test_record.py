"""Recording: which values become inputs, literals or equations of a Jaxpr."""

from __future__ import annotations

from typing import Any

import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr, Literal
from hloom.core.record import Partial, Record, trace_to_jaxpr
from hloom.core.trace import EAGER, Origin, active

X = jnp.arange(3.0)
VECTOR = X.aval


def names(jaxpr: Jaxpr) -> list[str]:
    return [equation.primitive.name for equation in jaxpr.equations]


def test_arrays_are_captured_once_and_scalars_are_literals() -> None:
    two = jnp.float32(2)
    jaxpr, captured = trace_to_jaxpr(lambda x: lax.mul(lax.add(x, X), lax.mul(X, two)), [VECTOR])
    assert len(captured) == 1 and captured[0] is X
    assert len(jaxpr.inputs) == 2
    literals = [x for e in jaxpr.equations for x in e.inputs if isinstance(x, Literal)]
    assert [float(x.value) for x in literals] == [2]


def test_all_is_recorded_whatever_its_operands_are() -> None:
    jaxpr, _ = trace_to_jaxpr(lambda x: [x, lax.sin(X)], [VECTOR])
    assert names(jaxpr) == ["sin"] and jaxpr.outputs[0] is jaxpr.inputs[-1]


def test_a_tracer_of_an_outer_trace_is_captured() -> None:
    seen: list[Any] = []

    def outer(x: Any) -> Any:
        seen.append((x, trace_to_jaxpr(lambda y: lax.add(x, y), [VECTOR])))
        return x

    hloom.make_jaxpr(outer)(X)
    [(x, (jaxpr, captured))] = seen
    assert captured == [x] and names(jaxpr) == ["add"]


def test_types_come_from_infer_and_wrong_operands_raise_there() -> None:
    jaxpr, _ = trace_to_jaxpr(lambda x: lax.gt(x, X), [VECTOR])
    assert str(jaxpr.out_avals[0]) == "bool[3]"
    with pytest.raises(TypeError, match="add needs operands of one dtype"):
        trace_to_jaxpr(lambda x: lax.add(x, X), [ShapedArray((3,), jnp.int32.dtype)])


def test_nothing_is_recorded_after_the_end() -> None:
    record = Record(Origin("f"))
    record.done = True
    with active(record), pytest.raises(RuntimeError, match="after it had returned"):
        lax.sin(X)


def test_partial_runs_what_is_known_and_records_the_rest() -> None:
    partial = Partial(Origin("f"), EAGER)
    with active(partial):
        unknown = partial.argument(VECTOR)
        known = lax.sin(X)
        mixed = lax.mul(known, unknown)
    assert not partial.owns(known) and known.tolist() == jnp.sin(X).tolist()
    assert partial.owns(mixed)
    jaxpr, captured = partial.close([unknown], [mixed])
    assert names(jaxpr) == ["mul"] and len(captured) == 1 and captured[0] is known


def test_a_result_may_be_given_twice_and_an_argument_not_at_all() -> None:
    jaxpr, _ = trace_to_jaxpr(lambda x, y: [y, y], [VECTOR, VECTOR])
    assert jaxpr.outputs == [jaxpr.inputs[1]] * 2 and not jaxpr.equations
