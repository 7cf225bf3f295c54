from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hloom import errors
from hloom.core.jaxpr import Equation, Jaxpr, Literal, Var
from hloom.core.primitive import Primitive
from hloom.engines import ENGINES
from hloom.engines.numpy import NumpyEngine, evaluate
from tests.engines.programs import aval, run


class Rule(Primitive):
    """A primitive with just a NumPy rule."""

    def __init__(self, rule: Any, multiple: bool = False):
        super().__init__("toy")
        self.rule = rule
        self.multiple = multiple

    def numpy(self, *values: Any, **params: Any) -> Any:
        return self.rule(*values, **params)


def applied(rule: Any, *outs: Any, multiple: bool = False, **params: Any) -> Jaxpr:
    x = Var(aval((3,)))
    results = [Var(out) for out in outs]
    equation = Equation(Rule(rule, multiple), [x], list(results), params)
    return Jaxpr([x], [equation], list(results))


@pytest.fixture
def engine() -> NumpyEngine:
    found: NumpyEngine = ENGINES["numpy"]
    return found


def test_a_program_runs_by_its_numpy_rules(engine: NumpyEngine) -> None:
    x, y, z = Var(aval((3,))), Var(aval((3,))), Var(aval(()))
    two = Literal(np.float32(2).reshape(()), aval(()))
    jaxpr = Jaxpr(
        [x],
        [
            Equation(Rule(lambda a, b: a * b), [x, two], [y], {}),
            Equation(Rule(lambda a, *, axis: a.sum(axis)), [y], [z], {"axis": 0}),
        ],
        [z, y, x, two],
    )
    program = engine.compile(jaxpr, name="f", tier="fast", donated=(0,))
    results = run(engine, program, np.arange(3, dtype="f4"))
    assert [r.tolist() for r in results] == [6, [0, 2, 4], [0, 1, 2], 2]
    assert [out.shape for out in program.outs] == [(), (3,), (3,), ()]


def test_a_rule_with_several_results(engine: NumpyEngine) -> None:
    jaxpr = applied(lambda x: (x, x.sum()), aval((3,)), aval(()), multiple=True)
    assert run(engine, engine.compile(jaxpr), np.ones(3, "f4"))[1] == 3


def test_scalars_of_numpy_are_arrays_without_axes() -> None:
    (result,) = evaluate(applied(np.max, aval(())), [np.ones(3, "f4")])
    assert isinstance(result, np.ndarray) and result.shape == ()


@pytest.mark.parametrize(
    "rule, gave",
    [
        (lambda x: x.astype("f8"), r"float64\[3\]"),
        (lambda x: x[None], r"float32\[1,3\]"),
        (lambda x: x.sum(), r"float32\[\]"),
        (lambda x: list(x), r"float32\[3\]"),
        (lambda x: None, r"object\[\]"),
    ],
)
def test_a_rule_that_breaks_its_promise_is_named(rule: Any, gave: str) -> None:
    jaxpr = applied(rule, aval((3,), "float16"))
    with pytest.raises(errors.EngineError, match=rf"primitive toy gave {gave} .* f16\[3\]"):
        evaluate(jaxpr, [np.ones(3, "f4")])


def test_a_rule_with_too_few_results_is_named() -> None:
    jaxpr = applied(lambda x: [x], aval((3,)), aval((3,)), multiple=True)
    with pytest.raises(errors.EngineError, match="primitive toy gave 1 results"):
        evaluate(jaxpr, [np.ones(3, "f4")])


def test_numpy_does_not_warn_of_what_the_other_engines_accept(
    recwarn: pytest.WarningsRecorder,
) -> None:
    (result,) = evaluate(applied(lambda x: x / 0 + np.log(x), aval((3,))), [np.zeros(3, "f4")])
    assert np.isnan(result).all() and not recwarn


def test_a_result_is_not_the_operands_memory(engine: NumpyEngine) -> None:
    jaxpr = applied(lambda x: x, aval((3,)))
    buffer = engine.put(np.ones(3, "f4"), aval((3,)))
    program = engine.compile(jaxpr)
    (result,) = program.execute([buffer]).consume_with_handlers(program.handlers)
    engine.delete(buffer)
    assert engine.get(result, aval((3,))).tolist() == [1, 1, 1]


def test_results_can_be_waited_for_as_those_of_xla(engine: NumpyEngine) -> None:
    program = engine.compile(applied(lambda x: x, aval((3,))))
    results = program.execute([engine.put(np.ones(3, "f4"), aval((3,)))], True)
    results.consume_token().block_until_ready()
    assert len(results.consume_with_handlers(program.handlers)) == 1


def test_a_deleted_operand_is_named_as_such(engine: NumpyEngine) -> None:
    program = engine.compile(applied(lambda x: x, aval((3,))))
    buffer = engine.put(np.ones(3, "f4"), aval((3,)))
    engine.delete(buffer)
    with pytest.raises(errors.DeletedArrayError):
        program.execute([buffer])
