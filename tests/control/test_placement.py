"""`platform_dependent`, `stage`, `with_sharding_constraint`: one device, of one kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from tests.control.loops.loops_in_python import agree, on_engines


def never(x: Any) -> Any:
    raise AssertionError("this is for another platform")


def test_the_function_for_the_platform_is_chosen() -> None:
    def f(x: Any) -> Any:
        return lax.platform_dependent({"x": x}, cpu=lambda d: d["x"] ** 2, tpu=never)

    on_engines(f, jnp.float32(3))
    assert float(hloom.grad(f)(3.0)) == 6
    agree(hloom.vmap(f)(jnp.arange(3.0)), np.array([0.0, 1.0, 4.0]))
    assert float(lax.platform_dependent(3.0, default=lambda x: x + 1, tpu=never)) == 4
    assert float(lax.platform_dependent(3.0, default=never, cpu=lambda x: x)) == 3
    assert lax.platform_dependent(default=lambda: 1) == 1


def test_a_platform_that_is_not_there_is_refused() -> None:
    for fun in (lax.platform_dependent, hloom.jit(lambda x, **k: lax.platform_dependent(x))):
        with pytest.raises(NotImplementedError, match="programs run on 'cpu' here; got functions"):
            fun(1.0)
    with pytest.raises(NotImplementedError, match="functions for tpu, cuda"):
        lax.platform_dependent(1.0, tpu=never, cuda=never)
    with pytest.raises(TypeError, match="takes tpu as a function"):
        lax.platform_dependent(1.0, tpu=3, default=lambda x: x)


def test_stage_makes_arrays_and_traced_values() -> None:
    assert isinstance(lax.stage(3.0), hloom.Array)
    assert lax.stage(3).weak_type
    assert lax.stage(np.ones(2)).shape == (2,)
    seen = []

    @hloom.jit
    def f() -> Any:
        seen.append(lax.stage(np.float32(2)))
        return seen[0] + 1

    assert float(f()) == 3
    assert "Traced" in repr(seen[0])
    assert float(hloom.grad(lambda x: x * lax.stage(x))(3.0)) == 6
    with pytest.raises(TypeError, match="stage takes an array or a number"):
        lax.stage([1, 2])


def test_a_sharding_constraint_is_checked_and_holds() -> None:
    (device,) = hloom.devices()
    x = {"a": jnp.arange(3), "b": (jnp.float32(1), 2.0)}
    for shardings in (None, device, {"a": device, "b": None}, {"a": None, "b": (device, device)}):
        made = lax.with_sharding_constraint(x, shardings)
        agree(made, x)
        assert made["a"] is x["a"]
    f = hloom.jit(lambda x: lax.with_sharding_constraint(x * 2, x0))
    x0 = jnp.ones(2).sharding
    agree(f(jnp.ones(2)), np.array([2.0, 2.0]))
    assert float(hloom.grad(lambda x: lax.with_sharding_constraint(x, device) ** 2)(3.0)) == 6
    with pytest.raises(ValueError, match="no device 'tpu:3'"):
        lax.with_sharding_constraint(x, "tpu:3")
    with pytest.raises(ValueError, match="with_sharding_constraint: x has"):
        lax.with_sharding_constraint(x, (device, device))
    with pytest.raises(TypeError):
        lax.with_sharding_constraint("text", device)
