"""Executables as functions of buffers, what is known of an operand, and 64-bit operands."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.core.array import wait_for_all
from hloom.core.context import current
from hloom.core.record import trace_to_jaxpr
from hloom.core.support import results
from hloom.core.support.executable import compile_jaxpr
from hloom.core.support.known import is_known, known
from hloom.core.support.width import holds_wide

X, Y = jnp.arange(3.0), jnp.ones(3)


def compiled(function):
    jaxpr, _ = trace_to_jaxpr(function, [X.aval, Y.aval])
    return compile_jaxpr(jaxpr, current.get().config)


@pytest.mark.parametrize("engine", ["xla", "numpy"])
def test_captured_buffers_come_before_those_that_are_given(engine):
    with hloom.engine(engine):
        difference = compiled(lambda x, y: [x - y])
        both = compiled(lambda x, y: [x - y, y])
    given, first = [Y._buf], [X._buf]
    assert results.one(difference)(first + given).tolist() == [-1, 0, 1]
    assert results.one(difference, first)(given).tolist() == [-1, 0, 1]
    for how in (results.many, results.together):
        for found in (how(both)(first + given), how(both, first)(given)):
            assert [x.tolist() for x in found] == [[-1, 0, 1], [1, 1, 1]]
            assert [x.aval for x in found] == [X.aval] * 2
            wait_for_all(found)
    assert first == [X._buf] and given == [Y._buf]


def test_an_executable_of_two_results_is_not_run_for_one():
    with pytest.raises(ValueError, match="unpack"):
        results.one(compiled(lambda x, y: [x, y]))


def test_what_is_known():
    seen = []

    def look(x):
        seen.append((is_known(x), known(x)))
        return x.sum()

    look(X)
    hloom.grad(look)(X)
    np.testing.assert_array_equal([value for _, value in seen], [X, X])
    assert all(flag for flag, _ in seen)
    hloom.jit(look)(X)
    hloom.vmap(look)(X[None])
    hloom.jit(hloom.grad(look))(X)
    assert seen[2:] == [(False, None)] * 3
    assert is_known(3) and is_known([X]) and is_known(None)


def test_64_bit_arrays_are_found_wherever_an_operand_may_hold_them():
    with hloom.enable_x64():
        wide = jnp.arange(3)
    pair = namedtuple("pair", "sign value")
    ragged: list = [1.0]
    ragged.append(ragged)
    for operand in (wide, [wide], (0.5, [X, (wide,)]), pair(X, wide), [0.5] * 40 + [wide]):
        assert holds_wide([X, operand])
    hloom.jit(lambda x: pytest.fail() if not holds_wide([[x]]) else x)(wide)
    for operand in (
        X,
        2**40,
        np.float64(1),
        np.arange(3),
        [X, 0.5],
        [0.5] * 40,
        ragged,
        None,
        "ij",
    ):
        assert not holds_wide([operand])
