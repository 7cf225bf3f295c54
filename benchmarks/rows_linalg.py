"""Linear algebra: one matrix of 512 rows and columns in float32, under jit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.library import Library
from benchmarks.rows import Calls, Row

TARGET = 1.05
SIZE = 512


@cache
def matrix() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((SIZE, SIZE)).astype(np.float32)


def positive() -> np.ndarray:
    """A symmetric matrix, all of whose eigenvalues are positive."""
    return matrix() @ matrix().T / SIZE + np.eye(SIZE, dtype=np.float32)


def solve(library: Library) -> Callable[[Any], Any]:
    """Of one right side.  hloom's strict layer has `solve`; jax has it in its NumPy layer."""
    if library.name == "hloom":
        return lambda a: library.root.lax.linalg.solve(a, a[:, :1])
    return lambda a: library.xp.linalg.solve(a, a[:, :1])


def strict(name: str) -> Callable[[Library], Callable[[Any], Any]]:
    """The function of `lax.linalg`; NumPy's of the same name."""

    def of(library: Library) -> Callable[[Any], Any]:
        module = library.xp.linalg if library.name == "numpy" else library.root.lax.linalg
        function: Callable[[Any], Any] = getattr(module, name)
        return function

    return of


def row(
    name: str, of: Callable[[Library], Callable[[Any], Any]], operand: Callable[[], np.ndarray]
) -> Row:
    def setup(library: Library) -> Calls:
        call, a = library.jit(of(library)), library.array(operand())
        return Calls(lambda: call(a))

    return Row(f"{name} of {SIZE}", setup, TARGET)


ROWS = [
    row("matmul", lambda library: lambda a: a @ a, matrix),
    row("cholesky", strict("cholesky"), positive),
    row("solve", solve, matrix),
    row("svd", strict("svd"), matrix),
    row("eigh", strict("eigh"), positive),
]
