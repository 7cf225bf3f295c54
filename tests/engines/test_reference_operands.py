"""The reference interpreter keeps the operands of an operation as they were.

Its own scatter writes its result into the operand: a value that is used twice would change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing


@pytest.mark.parametrize("case", testing.CASES, ids=str)
def test_operands_are_as_they_were_after_each_operation(case: testing.Case) -> None:
    """Of every case: arguments, and values made in the program, that are used once more."""
    dtype = "float32" if "float32" in case.dtypes else case.dtypes[0]
    operands = case.draw(dtype)

    def program(flag: Any, *xs: Any) -> Any:
        made = [lax.select(jnp.broadcast_to(flag, x.shape), x, x) for x in xs]
        return case.fun(*xs), case.fun(*made), xs, made

    with hloom.engine("reference"), hloom.enable_x64():
        try:
            *_, given, made = hloom.jit(program)(True, *operands)
        except hloom.errors.EngineUnsupported:
            assert "reference" not in case.engines
            return
        for want, *kept in zip(operands, given, made):
            assert all(np.asarray(x).tobytes() == want.tobytes() for x in kept)


def rows(x: Any) -> Any:
    return lax.scan(lambda c, i: (c + 1, x.at[i].set(9.0)), 0.0, jnp.arange(3))[1]


def carried(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, c: c.at[i].add(1.0), x), x + 0


def both(x: Any) -> Any:
    return x.at[jnp.array([0, 1])].multiply(5.0), x


@pytest.mark.parametrize("program", [rows, carried, both])
def test_updates_in_loops_go_into_a_copy(program: Any) -> None:
    x = jnp.arange(4.0)
    want = hloom.jit(program)(x)
    with hloom.engine("reference"):
        got = hloom.jit(program)(x)
    for g, w in zip(hloom.tree.leaves(got), hloom.tree.leaves(want)):
        np.testing.assert_array_equal(np.asarray(g), np.asarray(w))
