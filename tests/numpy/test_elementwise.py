"""Elementwise functions: NumPy's values on corner values of every dtype, and what else they claim."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import dtypes
from tests.numpy.elementwise_cases import ALIASES, ALL, UFUNCS, Ufunc, check
from tests.ops.machine import corners, drawn, pairs


def operands(ufunc: Ufunc, name: str) -> list[np.ndarray]:
    """Every combination of corner values, and some random ones."""
    dtype = dtypes.as_dtype(name)
    grid = corners(dtype)
    if dtype.kind == "c":
        grid = grid[np.isfinite(grid)]  # the rest is in the tests of the operations
    random = [drawn(dtype, -9, 9, 40, seed) for seed in range(ufunc.arity)]
    return [np.concatenate(both) for both in zip(pairs([grid] * ufunc.arity), random)]


TAKEN = [(ufunc, dtype) for ufunc in UFUNCS for dtype in ufunc.takes]
REFUSED = [(ufunc, dtype) for ufunc in UFUNCS for dtype in ALL if dtype not in ufunc.takes]


@pytest.mark.parametrize(("ufunc", "dtype"), TAKEN, ids=str)
def test_values_are_numpys(ufunc, dtype):
    xs = operands(ufunc, dtype)
    if ufunc.name == "power" and xs[0].dtype.kind in "iub":
        xs[1] = xs[1] & xs[1].dtype.type(63)
    with hloom.enable_x64():
        check(ufunc, xs, getattr(jnp, ufunc.name)(*xs))
