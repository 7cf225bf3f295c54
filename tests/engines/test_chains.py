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


def nested(times: int) -> Any:
    """So many jitted functions inside one another, each a step after the one before."""
    f = lambda x: x + 1
    for i in range(times):
        f = hloom.jit(lambda x, g=f: g(x) + 1)
        if i % 40 == 0:
            hloom.make_jaxpr(f)(jnp.float32(0))  # the next is traced from here on
    return f


def branches(times: int) -> Any:
    f = lambda x: x + 1
    for _ in range(times):
        f = lambda x, g=f: lax.cond(x > 0, g, lambda x: x, x)
    return f


def test_functions_nested_too_deep_for_the_compiler_are_an_error() -> None:
    assert nested(150)(jnp.float32(0)) == 151
    with pytest.raises(EngineError, match=r"more than 150 functions .*are nested.*fori_loop"):
        nested(152)(jnp.float32(0))
    with hloom.engine("numpy"):
        assert nested(152)(jnp.float32(0)) == 153


@pytest.mark.parametrize(
    ("fun", "name"),
    [(branches(300), "jit"), (lambda x: endless(x), "jit"), (branches(300), "grad")],
)
def test_more_traces_than_python_allows_are_an_error_with_their_number(fun: Any, name: str) -> None:
    transformed = getattr(hloom, name)(fun)
    with pytest.raises(RecursionError, match=rf"{name}\(.*: \d+ traced functions are nested"):
        transformed(jnp.float32(1))
    assert hloom.jit(lambda x: x + 1)(jnp.float32(1)) == 2


def endless(x: Any) -> Any:
    return hloom.jit(endless)(x)


def test_the_users_own_recursion_is_pythons_error() -> None:
    def own(x: Any) -> Any:
        return own(x + 1)

    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        hloom.jit(own)(jnp.float32(1))
