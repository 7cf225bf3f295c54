"""The strict layer: what `hloom.lax` exports, and that it never does what NumPy's layer does."""

from __future__ import annotations

import inspect

import pytest

import hloom.numpy as jnp
from hloom import lax


@pytest.mark.parametrize("module", [lax, lax.linalg], ids=["lax", "linalg"])
def test_every_exported_name_is_there_once_and_documented(module: object) -> None:
    names = module.__all__  # type: ignore[attr-defined]
    assert len(set(names)) == len(names)
    without = [n for n in names if not inspect.getdoc(getattr(module, n))]
    assert not without
    assert not [n for n in names if n.startswith("_")]


def test_dtypes_are_not_promoted_and_ranks_not_broadcast() -> None:
    whole, floats = jnp.arange(3), jnp.ones((2, 3))
    for fun in (lax.add, lax.mul, lax.max, lax.lt):
        with pytest.raises(TypeError, match="hloom.numpy"):
            fun(whole, jnp.ones(3))
        with pytest.raises(ValueError, match="one rank"):
            fun(jnp.ones(3), floats)
