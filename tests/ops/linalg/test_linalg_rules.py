"""What rules of matrix functions refuse, and how LAPACK is reached, beside the table of cases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hloom
from hloom import lax, testing
from hloom.testing import normal as drawn

linalg = lax.linalg


@pytest.mark.parametrize("seed", range(3))
def test_rules_of_eigenvectors_whose_length_and_phase_lapack_fixes(seed: int) -> None:
    matrix = drawn((4, 4), "complex128", seed)
    testing.assert_jvp(linalg.eig, [matrix])
    testing.assert_adjoint(linalg.eig, [matrix])


def test_rules_of_eigenvectors_of_a_real_matrix() -> None:
    rotation = np.array([[1.0, 2.0, 0.1], [-2.0, 1.0, 0.3], [0.2, 0.4, 5.0]])
    testing.assert_jvp(lambda x: linalg.eig(x)[0], [rotation])
    testing.assert_adjoint(lambda x: linalg.eig(x)[0], [rotation])


@pytest.mark.parametrize("name", ["hessenberg", "tridiagonal", "schur"])
def test_forms_without_a_derivative_say_what_to_do(name: str) -> None:
    fun = getattr(linalg, name)
    with pytest.raises(NotImplementedError, match=f"{name} has no derivative here.*stop_gradient"):
        hloom.jvp(fun, (np.eye(2),), (np.eye(2),))
    stacked = np.stack([drawn((3, 3)), drawn((3, 3), seed=1)], 1)
    with hloom.enable_x64():
        for out, first in zip(hloom.vmap(fun, in_axes=1)(stacked), fun(stacked[:, 0])):
            np.testing.assert_allclose(out[0], first, atol=1e-12)


@pytest.mark.parametrize("fun", [linalg.qr, linalg.svd])
def test_full_matrices_have_no_derivative(fun: Any) -> None:
    with pytest.raises(NotImplementedError, match="Pass full_matrices=False"):
        hloom.grad(lambda x: fun(x)[0].sum())(np.ones((3, 2), np.float32))


def test_what_is_not_linear_is_not_transposed() -> None:
    with pytest.raises(TypeError, match="cholesky is not linear"):
        linalg.cholesky_p.transpose(None)


def test_pivots_have_no_derivative() -> None:
    def fun(x: Any) -> Any:
        _, pivots, order = linalg.lu(x)
        more = linalg.lu_pivots_to_permutation(pivots, 2)
        return x.sum() + (order + more).sum()

    np.testing.assert_array_equal(hloom.grad(fun)(np.eye(2, dtype=np.float32)), np.ones((2, 2)))


def test_permutations_of_a_batch() -> None:
    pivots = np.array([[1, 1], [2, 1], [0, 2]], np.int32)
    got = hloom.vmap(lambda p: linalg.lu_pivots_to_permutation(p, 3), in_axes=0)(pivots)
    want = [linalg.lu_pivots_to_permutation(p, 3) for p in pivots]
    np.testing.assert_array_equal(got, np.stack(want))


def test_one_matrix_for_many_right_sides_is_one_call() -> None:
    a, b = np.eye(3, dtype=np.float32), np.ones((5, 3, 2), np.float32)

    def fun(b: Any) -> Any:
        return hloom.vmap(lambda b: linalg.triangular_solve(a, b, left_side=True))(b)

    text = hloom.jit(fun).lower(b).as_text()
    assert "tensor<10x3xf32>" in text  # by rows: LAPACK's b with 10 columns


def test_solve_factorizes_once_for_value_and_gradient() -> None:
    def loss(a: Any, b: Any) -> Any:
        return (linalg.solve(a, b) ** 2).sum()

    a, b = drawn((3, 3), "float32"), drawn((3, 1), "float32")
    text = hloom.jit(hloom.value_and_grad(loss, (0, 1))).lower(a, b).as_text()
    assert text.count("@lapack_sgetrf_ffi") == 1


# ---- how LAPACK is reached ----------------------------------------------------------------------
PROGRAM = """
import sys
import numpy as np
import hloom
from hloom import lax, testing
lax.add(1.0, 2.0).block_until_ready()
assert "scipy" not in sys.modules, "LAPACK was loaded for an addition"
print(lax.linalg.cholesky(np.eye(2, dtype=np.float32) * 4)[0, 0].item())
assert "scipy" in sys.modules
assert "jax" not in sys.modules
"""


def test_lapack_is_loaded_by_the_first_program_that_calls_it(tmp_path: Path) -> None:
    source = str(Path(hloom.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source, "HLOOM_CACHE_DIR": str(tmp_path)}
    for _ in range(2):  # compiled, then loaded from disk
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip
        assert done.stdout == "2.0\n", done.stderr
