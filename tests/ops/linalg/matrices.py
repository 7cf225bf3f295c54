"""What tests of matrix functions share: where they run, on what, and what is near enough."""

from __future__ import annotations

from typing import Any

import numpy as np

ENGINES = ("xla", "numpy")  # the interpreter has no custom calls
DTYPES = ("float32", "float64", "complex64", "complex128")
BATCHES = ((), (3,), (0,), (2, 1))

NDArray = np.ndarray[Any, Any]


# ---- matrices -----------------------------------------------------------------------------------
def adjoint(x: NDArray) -> NDArray:
    return np.conj(np.swapaxes(x, -1, -2))


def positive(x: NDArray) -> NDArray:
    """A well-conditioned positive definite matrix made of a square one."""
    made: NDArray = x @ adjoint(x) + np.eye(x.shape[-1], dtype=x.dtype)
    return made


def tolerance(dtype: Any) -> float:
    """A few hundred units of precision: the matrices here are small and not ill-conditioned."""
    return 500 * float(np.finfo(dtype).eps)


def assert_close(got: Any, want: Any, what: object = "") -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: {got.shape} and {want.shape}"
    if got.dtype.kind not in "fc":
        assert np.array_equal(got, want), f"{what}:\n{got}\n{want}"
        return
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    error = float(np.abs(got - want).max(initial=0))
    assert error <= tolerance(got.dtype) * scale, f"{what}: off by {error}\n{got}\n{want}"


def assert_unitary(q: NDArray, what: object = "") -> None:
    """Its columns are orthonormal."""
    eye = np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), (*q.shape[:-2], *[q.shape[-1]] * 2))
    assert_close(adjoint(q) @ q, eye, what)
