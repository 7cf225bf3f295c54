"""hloom works in a process that has imported jax too (`make beside-jax`: jax is needed for it).

Importing jax replaces methods of jaxlib's arrays and its 64-bit switch, so the order matters.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.test_house import PROGRAM, python

# It cannot be there in the environment of `make test`: test_house would prove nothing beside it.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="needs jax: run `make beside-jax`"
)

JAX = """
import jax
assert float(jax.jit(jax.grad(lambda x: jax.numpy.sin(x) ** 2))(1.0)) > 0.9
"""


@pytest.mark.parametrize(
    "program",
    [JAX + PROGRAM, PROGRAM + JAX, PROGRAM + JAX + PROGRAM + JAX],
    ids=["jax first", "hloom first", "in turn"],
)
def test_both_work_in_one_process(program: str, tmp_path: Path) -> None:
    python("-c", program, cwd=tmp_path)


def test_each_reads_the_arrays_of_the_other(tmp_path: Path) -> None:
    exchange = """
import jax, numpy as np
import hloom.numpy as jnp
there = np.arange(3, dtype=np.float32)
assert (np.asarray(jnp.asarray(jax.numpy.asarray(there))) == there).all()
assert (np.asarray(jax.numpy.asarray(jnp.asarray(there))) == there).all()
"""
    python("-c", exchange, cwd=tmp_path)
