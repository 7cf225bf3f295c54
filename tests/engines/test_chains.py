"""Programs that are deep: refused, with the way out, where XLA would end the process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.engines import jaxlib_compat
from hloom.errors import EngineError

LIMIT = 300


def repeated(times: int) -> Any:
    def f(x: Any) -> Any:
        for _ in range(times):
            x = x * 1.5 - 0.5
        return x

    return f


def test_a_chain_too_long_for_the_compiler_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxlib_compat, "LONGEST_CHAIN", LIMIT)
    with pytest.raises(EngineError, match=r"302 operations one after another.*lax\.fori_loop"):
        hloom.jit(repeated(151))(jnp.float32(1))
    assert hloom.jit(repeated(150))(jnp.float32(1)) == 1
    with hloom.engine("numpy"):
        assert hloom.jit(repeated(151))(jnp.float32(1)) == 1
    loop = hloom.jit(lambda x: lax.fori_loop(0, 1000, lambda i, x: x * 1.5 - 0.5, x))
    assert loop(jnp.float32(1)) == 1


def test_operations_side_by_side_are_no_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxlib_compat, "LONGEST_CHAIN", LIMIT)
    xs = np.arange(400, dtype=np.float32)
    got = hloom.jit(lambda xs: [x + 1 for x in xs])(list(xs))
    np.testing.assert_array_equal(np.asarray(got), xs + 1)
