"""Transformations of jitted functions: what they make has none of the jitted function's stages."""

from __future__ import annotations

from typing import Any

import pytest

import hloom
import hloom.numpy as jnp

double = hloom.jit(lambda x: x * 2)
MADE: dict[str, Any] = {
    "vmap": hloom.vmap(double, in_axes=1),
    "grad": hloom.grad(lambda x: double(x).sum()),
    "grad of jit": hloom.grad(hloom.jit(lambda x: (x * x).sum())),
    "value_and_grad": hloom.value_and_grad(hloom.jit(lambda x: (x * x).sum())),
    "vectorize": jnp.vectorize(double, signature="(n)->(n)"),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_a_jitted_function_is_not_that_function(name: str) -> None:
    for stage in ("jitted", "lower", "trace", "eval_shape", "cache_info", "clear_cache"):
        assert not hasattr(MADE[name], stage)


@pytest.mark.parametrize("shape", [(3, 0), (3, 4)])
def test_types_of_what_is_made_of_a_jitted_function_are_its_own(shape: tuple[int, int]) -> None:
    x = jnp.zeros(shape)
    mapped = hloom.vmap(double, in_axes=1)
    assert hloom.eval_shape(mapped, x).shape == mapped(x).shape == shape[::-1]
    value, slope = hloom.eval_shape(MADE["value_and_grad"], x)
    assert (value.shape, slope.shape) == ((), shape)


def test_attributes_of_the_users_own_are_kept() -> None:
    def f(x: Any) -> Any:
        return x * 2

    f.units = "m"  # type: ignore[attr-defined]
    assert hloom.vmap(f).units == "m"  # type: ignore[attr-defined]
