"""Primitives: their rules, who is asked first, and the programs that they keep."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.core.aval import ShapedArray
from hloom.core.primitive import Primitive
from hloom.core.support import executable

X = jnp.arange(3.0)
RULES = ("infer", "numpy", "emit", "jvp", "transpose", "batch")


class Pair(Primitive):
    """f32[3] -- times=2 --> [f32[3], f32[3]].  The operand, and a multiple of it."""

    multiple = True

    def infer(self, x: ShapedArray, *, times: int) -> list[ShapedArray]:
        if not x.ndim:
            raise ValueError(f"pair takes arrays with axes; got {x}")
        return [x, x]

    def numpy(self, x: Any, *, times: int) -> list[Any]:
        return [x, x * x.dtype.type(times)]

    def emit(self, block: Any, out: Any, x: Any, *, times: int) -> list[Any]:
        return [x, block.mul(x, times)]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_missing_is_named(rule: str) -> None:
    with pytest.raises(NotImplementedError, match=f"toy.*{rule}"):
        rule_ = getattr(Primitive("toy"), rule)
        rule_(*[0] * len(list(signature(rule_).parameters)[:-1]))


def test_a_primitive_of_several_results_gives_a_list() -> None:
    for engine in ("xla", "numpy"):
        with hloom.engine(engine):
            first, second = Pair("pair")(X, times=2)
        assert first.tolist() == [0, 1, 2] and second.tolist() == [0, 2, 4]


def test_what_is_no_array_is_converted() -> None:
    assert Pair("pair")(np.ones(2, "f4"), times=3)[1].tolist() == [3, 3]


def test_a_program_is_compiled_once_for_types_parameters_and_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[Any] = []
    original = executable.compile_jaxpr

    def spy(jaxpr: Any, *args: Any, **kwargs: Any) -> Any:
        compiled.extend(e for e in jaxpr.equations if e.primitive is pair)
        return original(jaxpr, *args, **kwargs)

    pair = Pair("pair")
    monkeypatch.setattr(executable, "compile_jaxpr", spy)
    for times, x in ((2, X), (2, X + 1), (3, X), (2, X[:2]), (3, X)):
        pair(x, times=times)
    assert len(compiled) == 3
    with hloom.engine("numpy"):
        pair(X, times=2)
    assert len(compiled) == 4


def test_infer_is_asked_before_any_other_rule_and_says_the_same_everywhere() -> None:
    pair = Pair("pair")
    run = lambda x: pair(x, times=2)
    for call in (run, hloom.jit(run), lambda x: hloom.vmap(run)(jnp.stack([x, x]))):
        with pytest.raises(ValueError, match=r"pair takes arrays with axes; got f32\[\]"):
            call(jnp.float32(1))
    with pytest.raises(TypeError, match="times"):
        pair(X, times="two")
