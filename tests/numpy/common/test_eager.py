"""One eager call is one executable: what selects it, and what does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.core.support import executable
from hloom.numpy.common import eager

X = jnp.arange(5.0)  # of a shape that no other test here has


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of what is compiled while a test runs."""
    seen: list[str] = []
    original = executable.compile_jaxpr

    def spy(jaxpr: Any, *args: Any, name: str, **kwargs: Any) -> Any:
        seen.append(name)
        return original(jaxpr, *args, name=name, **kwargs)

    monkeypatch.setattr(executable, "compile_jaxpr", spy)
    yield seen


def test_types_select_the_program_and_values_do_not(compiled: list[str]) -> None:
    twice = eager.unary(lambda x: jnp.sin(x) * 2)
    for x in (X, X + 1, X[:2], X.astype(jnp.int32)):
        twice(x)
    assert len([name for name in compiled if "lambda" in name]) == 3


def test_python_scalars_are_operands_and_not_constants(compiled: list[str]) -> None:
    add = eager.binary(lambda x, y: jnp.add(x, y) + 1)
    results = [float(add(X, y)[0]) for y in (1.0, 2.5, -3.0, np.float32(4))]
    assert results == [2, 3.5, -2, 5]
    # A Python float is weak and a float32 is not: two programs, not four.
    assert len([name for name in compiled if "lambda" in name]) == 2


@pytest.mark.parametrize("other", [0.0, -0.0, float("nan"), True, 1, 1.0, 1 + 0j, 10**6, -1])
def test_equal_scalars_of_other_types_and_signs_are_not_mixed_up(other: Any) -> None:
    for x in (X, X.astype(jnp.int32), X > 1):
        for _ in range(2):  # found by the general way, then by the fast one
            got, want = x * other, np.multiply(np.asarray(x), other)
            np.testing.assert_array_equal(np.signbit(got.real), np.signbit(want.real))
            np.testing.assert_allclose(got, want, rtol=1e-6)
            assert got.dtype == jnp.result_type(x, other)


def test_static_arguments_select_the_program(compiled: list[str]) -> None:
    def rolled(x: Any, axis: Any = None) -> Any:
        return jnp.roll(x, 1, axis)

    fun = eager.function(rolled, static=("axis",))
    y = jnp.ones((2, 3))
    for axis in (0, [0], (0,), 1, 0, None):
        fun(y, axis=axis)
    assert compiled.count("rolled") == 4  # 0, (0,), 1, None


def test_options_select_the_program(compiled: list[str]) -> None:
    fun = eager.unary(lambda x: jnp.cos(x) + 1)
    fun(X)
    with hloom.engine("numpy"):
        fun(X)
    with hloom.enable_x64():
        fun(X)
    fun(X)
    assert len([name for name in compiled if "lambda" in name]) == 3


def test_a_trace_inlines_the_function_and_fills_no_table(compiled: list[str]) -> None:
    fun = eager.unary(lambda x: jnp.sin(x) * 2)
    text = str(hloom.make_jaxpr(fun)(X))
    assert "sin" in text and "mul" in text and not compiled


def test_a_deleted_operand_and_a_leaked_one_are_told_by_the_general_way() -> None:
    gone = jnp.arange(5.0)
    gone.delete()
    with pytest.raises(hloom.errors.DeletedArrayError):
        jnp.sin(gone)
    kept: list[Any] = []
    hloom.make_jaxpr(lambda x: kept.append(x) or x)(X)
    with pytest.raises(hloom.errors.UnexpectedTracerError):
        jnp.sin(kept[0])


def test_the_table_of_scalars_is_bounded() -> None:
    scalars = eager.Scalars(float, False)
    for i in range(3 * eager.Scalars.CAPACITY):
        scalars[i + 0.5]
    assert 0 < len(scalars) <= eager.Scalars.CAPACITY
    assert scalars[float("nan")][0] is scalars[0.0][0] and float("nan") not in scalars


def test_a_function_may_close_over_arrays_and_give_a_tree() -> None:
    held = jnp.ones(5)
    fun = eager.function(lambda x: {"sum": x + held, "both": (x, held)})
    for _ in range(2):
        made = fun(X)
        assert made["sum"].tolist() == [1, 2, 3, 4, 5] and made["both"][1].tolist() == [1] * 5


def test_what_cannot_be_hashed_is_named() -> None:
    fun = eager.function(lambda x, axis=None: x, static=("axis",))
    with pytest.raises(ValueError, match="axis"):
        fun(X, axis={})
