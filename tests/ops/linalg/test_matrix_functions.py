"""What matrix functions give: NumPy's results, and the identities that define them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.errors import EngineUnsupported
from hloom.ops.linalg.factorizations import lu_p
from hloom.testing import evaluate
from hloom.testing import normal as drawn
from tests.ops.linalg.matrices import (
    BATCHES,
    DTYPES,
    ENGINES,
    adjoint,
    assert_close,
    assert_unitary,
    positive,
)

linalg = lax.linalg
SQUARE = [(0, 0), (1, 1), (4, 4), (3, 4, 4), (0, 2, 2), (2, 0, 0), (2, 1, 3, 3)]
SHAPES = [
    (0, 3), (3, 0), (1, 1), (4, 4), (5, 3), (3, 5), (2, 4, 4), (2, 1, 5, 3), (0, 3, 5), (3, 0, 4),
]  # fmt: skip

everywhere = pytest.mark.parametrize("engine", ENGINES)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def rows_in_order(a: Any, order: Any) -> Any:
    return np.take_along_axis(a, order[..., None], -2) if a.size else a


# ---- triangular ---------------------------------------------------------------------------------
@everywhere
@each_dtype
@pytest.mark.parametrize("batch", BATCHES)
def test_triangular_solve_solves(batch: tuple[int, ...], dtype: str, engine: str) -> None:
    for left, lower, transpose, conjugate, unit in product((False, True), repeat=5):
        full = drawn((*batch, 4, 4), dtype) + 3 * np.eye(4, dtype=dtype)
        a = np.tril(full) if lower else np.triu(full)
        if unit:
            a = a * (1 - np.eye(4, dtype=dtype)) + np.eye(4, dtype=dtype)
        b = drawn((*batch, 4, 2) if left else (*batch, 2, 4), dtype)
        x = evaluate(
            engine, linalg.triangular_solve, full, b, left_side=left, lower=lower,
            transpose_a=transpose, conjugate_a=conjugate, unit_diagonal=unit,
        )  # fmt: skip
        op = a.conj() if conjugate else a
        op = np.swapaxes(op, -1, -2) if transpose else op
        assert_close(op @ x if left else x @ op, b, (left, lower, transpose, conjugate, unit))


@everywhere
@pytest.mark.parametrize("shapes", [((0, 0), (0, 3)), ((3, 3), (3, 0)), ((2, 0, 0), (2, 0, 0))])
def test_triangular_solve_of_nothing(shapes: Any, engine: str) -> None:
    a, b = (np.ones(shape, np.float32) for shape in shapes)
    x = evaluate(engine, linalg.triangular_solve, a, b, left_side=True)
    assert x.shape == b.shape


@everywhere
def test_a_zero_on_the_diagonal_gives_infinities(engine: str) -> None:
    a, b = np.array([[0.0]], np.float32), np.array([[1.0]], np.float32)
    assert evaluate(engine, linalg.triangular_solve, a, b).item() == np.inf


# ---- Cholesky -----------------------------------------------------------------------------------
@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky_is_numpys(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = positive(drawn(shape, dtype))
    factor = evaluate(engine, linalg.cholesky, a)
    assert factor.dtype == a.dtype
    assert np.array_equal(factor, np.tril(factor))
    assert_close(factor, np.linalg.cholesky(a))


@everywhere
@each_dtype
def test_cholesky_reads_one_triangle_or_the_hermitian_part(dtype: str, engine: str) -> None:
    a = positive(drawn((3, 3), dtype))
    below = np.tril(a) + np.triu(np.full((3, 3), np.nan, dtype), 1)
    got = evaluate(engine, linalg.cholesky, below, symmetrize_input=False)
    assert_close(got, np.linalg.cholesky(a))
    skew = drawn((3, 3), dtype)
    assert_close(evaluate(engine, linalg.cholesky, a + skew - adjoint(skew)), got)


@everywhere
@each_dtype
def test_cholesky_of_what_is_not_positive_is_nan_and_the_rest_is_not(
    dtype: str, engine: str
) -> None:
    a = np.stack([np.eye(2), -np.eye(2), np.full((2, 2), np.nan)]).astype(dtype)
    factor = evaluate(engine, linalg.cholesky, a)
    assert np.isfinite(factor[0]).all()
    assert np.isnan(factor[1:, [0, 1, 1], [0, 0, 1]]).all()


@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky_update_adds_an_outer_product(
    shape: tuple[int, ...], dtype: str, engine: str
) -> None:
    r = adjoint(np.linalg.cholesky(positive(drawn(shape, dtype))))
    w = drawn(shape[:-1], dtype, seed=1)
    updated = evaluate(engine, linalg.cholesky_update, r, w)
    assert np.array_equal(updated, np.triu(updated))
    want = adjoint(r) @ r + w[..., :, None] * w[..., None, :].conj()
    assert_close(adjoint(updated) @ updated, want)


@everywhere
@each_dtype
def test_symmetric_product(dtype: str, engine: str) -> None:
    a, c = drawn((2, 3, 4), dtype), drawn((2, 3, 3), dtype)
    c = c + np.swapaxes(c, -1, -2)

    got = evaluate(
        engine, linalg.symmetric_product, a, c, alpha=2.0, beta=0.5, symmetrize_output=True
    )
    assert_close(got, 2 * a @ np.swapaxes(a, -1, -2) + 0.5 * c)
    assert np.array_equal(got, np.swapaxes(got, -1, -2))


# ---- LU and systems -----------------------------------------------------------------------------
@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [False, True])
def test_lu_factors_give_the_matrix(
    columns: bool, shape: tuple[int, ...], dtype: str, engine: str
) -> None:
    a = drawn(shape, dtype)
    factors, pivots, order = evaluate(engine, lu_p, a, columns=columns)
    if columns:
        a, factors = (np.swapaxes(x, -1, -2) for x in (a, factors))
    m, n = a.shape[-2:]
    k = min(m, n)
    lower = np.tril(factors[..., :k], -1) + np.eye(m, k, dtype=dtype)
    assert_close(lower @ np.triu(factors[..., :k, :]), rows_in_order(a, order))
    assert np.abs(np.tril(factors, -1)).max(initial=0) <= 1 + 1e-6 or dtype.startswith("c")
    again = evaluate(engine, linalg.lu_pivots_to_permutation, pivots, m)
    np.testing.assert_array_equal(again, order)
    np.testing.assert_array_equal(np.sort(order, -1), np.broadcast_to(np.arange(m), order.shape))


@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_both_engines_exchange_the_same_rows(batch: tuple[int, ...]) -> None:
    a = drawn((*batch, 6, 6))
    for x, y in zip(evaluate("xla", linalg.lu, a), evaluate("numpy", linalg.lu, a)):
        assert_close(x, y)


@everywhere
def test_permutation_by_pivots_that_repeat(engine: str) -> None:
    pivots = np.array([[2, 2, 4], [0, 1, 2]], np.int32)
    got = evaluate(engine, linalg.lu_pivots_to_permutation, pivots, 5)
    np.testing.assert_array_equal(got, [[2, 0, 4, 3, 1], [0, 1, 2, 3, 4]])


@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SQUARE)
def test_solve_and_lu_solve(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = drawn(shape, dtype) + 2 * np.eye(shape[-1], dtype=dtype)
    b = drawn((*shape[:-1], 3), dtype)
    assert_close(evaluate(engine, linalg.solve, a, b), np.linalg.solve(a, b))
    factors, _, order = evaluate(engine, linalg.lu, a)
    turned = np.swapaxes(a, -1, -2)
    for trans, op in enumerate((a, turned, turned.conj())):
        x = evaluate(engine, linalg.lu_solve, factors, order, b, trans=trans)
        assert_close(x, np.linalg.solve(op, b), trans)


def test_a_singular_system_has_no_finite_solution() -> None:
    x = linalg.solve(np.zeros((2, 2), np.float32), np.ones((2, 1), np.float32))
    assert not np.isfinite(np.asarray(x)).any()


@everywhere
@each_dtype
@pytest.mark.parametrize("shape", [(0, 2), (1, 1), (4, 3), (3, 4, 2), (2, 1, 5, 0)])
def test_tridiagonal_solve(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    *batch, n, _ = shape
    dl, d, du = (drawn((*batch, n), dtype, seed=i) for i in range(3))
    d = d + 4
    dl[..., :1], du[..., -1:] = np.nan, np.nan  # which nobody reads
    b = drawn(shape, dtype)
    matrix = np.zeros((*batch, n, n), dtype)
    i = np.arange(n)
    matrix[..., i, i] = d
    matrix[..., i[1:], i[:-1]] = dl[..., 1:]
    matrix[..., i[:-1], i[1:]] = du[..., :-1]
    assert_close(matrix @ evaluate(engine, linalg.tridiagonal_solve, dl, d, du, b), b)


@everywhere
def test_a_singular_tridiagonal_system_is_nan(engine: str) -> None:
    zeros, b = np.zeros((2, 3), np.float32), np.ones((2, 3, 1), np.float32)
    d = np.array([[1, 1, 1], [0, 0, 0]], np.float32)
    x = evaluate(engine, linalg.tridiagonal_solve, zeros, d, zeros, b)
    np.testing.assert_array_equal(x[..., 0], [[1, 1, 1], [np.nan] * 3])


# ---- QR and what is orthogonal ------------------------------------------------------------------
@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pivoting", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_qr(full: bool, pivoting: bool, shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = drawn(shape, dtype)
    q, r, *order = evaluate(engine, linalg.qr, a, pivoting=pivoting, full_matrices=full)
    *batch, m, n = shape
    k = m if full else min(m, n)
    assert (q.shape, r.shape) == ((*batch, m, k), (*batch, k, n))
    assert_unitary(q)
    assert np.array_equal(r, np.triu(r))
    if pivoting:
        a = np.swapaxes(rows_in_order(np.swapaxes(a, -1, -2), order[0]), -1, -2)
        sizes = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
        assert (np.diff(sizes) <= 1e-5).all()
    assert_close(q @ r, a)
    if not pivoting and a.size:
        for got, want in zip((q, r), np.linalg.qr(a, "complete" if full else "reduced")):
            assert_close(got, want)


def product_of_reflections(a: Any, taus: Any) -> Any:
    """By the definition, one after another."""
    q = np.eye(len(a), dtype=a.dtype)
    for j, tau in enumerate(taus):
        v = a[:, j].copy()
        v[:j], v[j] = 0, 1
        q = q @ (np.eye(len(a)) - tau * np.outer(v, v.conj()))
    return q


@everywhere
@each_dtype
def test_householder_product_and_ormqr_are_products_of_reflections(dtype: str, engine: str) -> None:
    a, taus = drawn((2, 5, 3), dtype), drawn((2, 2), dtype)
    q = np.stack([product_of_reflections(x, t) for x, t in zip(a, taus)])
    got = evaluate(engine, linalg.householder_product, a, taus)
    assert_close(got, q[..., :3])
    for left, transpose in product((False, True), repeat=2):
        c = drawn((2, 5, 4) if left else (2, 4, 5), dtype)
        op = adjoint(q) if transpose else q
        got = evaluate(engine, linalg.ormqr, a, taus, c, left=left, transpose=transpose)
        assert_close(got, op @ c if left else c @ op, (left, transpose))


@everywhere
@pytest.mark.parametrize("shape", [(3, 0), (0, 0), (3, 2), (2, 0, 0)])
def test_householder_product_of_no_reflection_is_the_identity(shape: Any, engine: str) -> None:
    a, taus = np.ones(shape, np.float32), np.ones((*shape[:-2], 0), np.float32)
    got = evaluate(engine, linalg.householder_product, a, taus)
    np.testing.assert_array_equal(got, np.broadcast_to(np.eye(*shape[-2:]), shape))


@everywhere
@each_dtype
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (2, 2), (5, 5), (3, 4, 4), (0, 3, 3)])
def test_hessenberg_is_similar(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = drawn(shape, dtype)
    packed, taus = evaluate(engine, linalg.hessenberg, a)
    n = shape[-1]
    assert taus.shape == (*shape[:-2], max(n - 1, 0))
    for place in np.ndindex(shape[:-2] if n else (0,)):
        q = np.eye(n, dtype=dtype)
        q[1:, 1:] = product_of_reflections(packed[place][1:, :-1], taus[place])
        assert_close(q @ np.triu(packed[place], -1) @ adjoint(q), a[place])


@everywhere
@each_dtype
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (2, 2), (5, 5), (3, 4, 4), (0, 3, 3)])
def test_tridiagonal_has_the_eigenvalues(
    shape: tuple[int, ...], lower: bool, dtype: str, engine: str
) -> None:
    a = drawn(shape, dtype)
    a = a + adjoint(a)
    one_triangle = np.tril(a) if lower else np.triu(a)
    packed, d, e, taus = evaluate(engine, linalg.tridiagonal, one_triangle, lower=lower)
    assert d.dtype.kind == e.dtype.kind == "f"
    assert (packed.shape, taus.shape) == (a.shape, e.shape)
    n = shape[-1]
    for place in np.ndindex(shape[:-2] if n else (0,)):
        t = np.diag(d[place]) + np.diag(e[place], 1) + np.diag(e[place], -1)
        assert_close(np.linalg.eigvalsh(t), np.linalg.eigvalsh(a[place]))
        if lower:
            q = np.eye(n, dtype=dtype)
            q[1:, 1:] = product_of_reflections(packed[place][1:, :-1], taus[place])
            assert_close(q @ t.astype(dtype) @ adjoint(q), a[place])


# ---- singular values ----------------------------------------------------------------------------
@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("algorithm", [None, linalg.SvdAlgorithm.QR])
def test_svd(algorithm: Any, shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = drawn(shape, dtype)
    *batch, m, n = shape
    k = min(m, n)
    for full in (False, True):
        u, s, vh = evaluate(engine, linalg.svd, a, full_matrices=full, algorithm=algorithm)
        sizes = (m, n) if full else (k, k)
        assert (u.shape, vh.shape) == ((*batch, m, sizes[0]), (*batch, sizes[1], n))
        assert_unitary(u)
        assert_unitary(adjoint(vh))
        assert_close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a)
        assert_close(s, np.linalg.svd(a, compute_uv=False))
        assert s.dtype == a.real.dtype
    alone = evaluate(engine, linalg.svd, a, compute_uv=False, algorithm=algorithm)
    assert_close(alone, s)


@everywhere
def test_a_subset_of_singular_values(engine: str) -> None:
    a = drawn((2, 5, 4))
    u, s, vh = evaluate(engine, linalg.svd, a, full_matrices=False)
    some = evaluate(engine, linalg.svd, a, full_matrices=False, subset_by_index=(1, 3))
    for got, want in zip(some, (u[..., 1:3], s[..., 1:3], vh[..., 1:3, :])):
        assert_close(got, want)


@everywhere
@each_dtype
@pytest.mark.parametrize("shape", [(0, 0), (4, 0), (1, 1), (4, 4), (5, 3), (2, 4, 2), (0, 3, 3)])
def test_polar_and_qdwh(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = drawn(shape, dtype)
    u, h = evaluate(engine, linalg.polar, a)
    assert_unitary(u)
    assert_close(u @ h, a)
    assert_close(h, adjoint(h))
    assert (np.linalg.eigvalsh(h) > -1e-4).all()
    again = evaluate(engine, linalg.qdwh, a)
    assert_close(again[0], u)
    assert (again[2], again[3]) == (0, True)


# ---- eigenvalues --------------------------------------------------------------------------------
@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SQUARE)
def test_eigh(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = drawn(shape, dtype)
    a = a + adjoint(a)
    v, w = evaluate(engine, linalg.eigh, a)
    assert (v.dtype, w.dtype) == (a.dtype, a.real.dtype)
    assert_unitary(v)
    assert_close(a @ v, v * w[..., None, :])
    assert_close(w, np.linalg.eigvalsh(a))
    below = np.tril(a) + np.triu(np.full_like(a, np.nan), 1)
    for given, lower in ((below, True), (np.swapaxes(below.conj(), -1, -2), False)):
        _, again = evaluate(engine, linalg.eigh, given, lower=lower, symmetrize_input=False)
        assert_close(again, w)


@everywhere
def test_a_subset_of_eigenvalues(engine: str) -> None:
    a = positive(drawn((2, 5, 5)))
    v, w = evaluate(engine, linalg.eigh, a)
    some = evaluate(engine, linalg.eigh, a, subset_by_index=(1, 3))
    assert_close(some[0], v[..., 1:3])
    assert_close(some[1], w[..., 1:3])


@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SQUARE)
def test_eig(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = drawn(shape, dtype)
    w, vl, vr = evaluate(engine, linalg.eig, a)
    assert w.dtype == vl.dtype == vr.dtype == np.result_type(dtype, "complex64")
    assert_close(a @ vr, vr * w[..., None, :])
    assert_close(adjoint(vl) @ a, w[..., :, None] * adjoint(vl))
    ones = np.ones(w.shape, w.real.dtype)
    for v in (vl, vr):
        assert_close(np.linalg.norm(v, axis=-2), ones)
    for left, right in product((False, True), repeat=2):
        wanted = {"compute_left_eigenvectors": left, "compute_right_eigenvectors": right}
        found = evaluate(engine, linalg.eig, a, **wanted)
        assert len(found) == 1 + left + right
        assert_close(found[0], w)


def test_eigenvectors_on_both_engines_have_a_real_largest_element() -> None:
    a = drawn((3, 4, 4), "complex128")
    for x, y in zip(evaluate("xla", linalg.eig, a), evaluate("numpy", linalg.eig, a)):
        assert_close(x, y)


@everywhere
@each_dtype
@pytest.mark.parametrize("shape", SQUARE)
def test_schur(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    a = drawn(shape, dtype)
    t, z = evaluate(engine, linalg.schur, a)
    assert t.dtype == z.dtype == a.dtype
    assert_unitary(z)
    assert_close(z @ t @ adjoint(z), a)
    assert np.array_equal(t, np.triu(t, 0 if a.dtype.kind == "c" else -1))
    (alone,) = evaluate(engine, linalg.schur, a, compute_schur_vectors=False)
    assert_close(np.abs(np.diagonal(alone, axis1=-2, axis2=-1)).sum(-1),
                 np.abs(np.diagonal(t, axis1=-2, axis2=-1)).sum(-1))  # fmt: skip


def test_schur_by_numpy_of_a_defective_matrix() -> None:
    a = np.diag(np.ones(4), 1) + 2 * np.eye(5)
    t, z = evaluate("numpy", linalg.schur, a)
    assert_close(z @ t @ z.T, a)


@everywhere
@each_dtype
def test_factors_of_matrices_close_to_the_smallest_and_largest_numbers(
    dtype: str, engine: str
) -> None:
    info = np.finfo(dtype)
    # XLA's threads flush subnormal numbers, also those that LAPACK makes on its way.
    for size in (info.tiny / info.eps if engine == "xla" else info.tiny * 16, info.max / 4096):
        a = drawn((5, 5), dtype) * size
        a = (a + adjoint(a)) / 2
        q, r, order = evaluate(engine, linalg.qr, a, pivoting=True)
        found = [(q @ (r / size), (a / size)[:, order])]
        t, z = evaluate(engine, linalg.schur, a)
        found.append((z @ (t / size) @ adjoint(z), a / size))
        for form, taus in (
            evaluate(engine, linalg.hessenberg, a), evaluate(engine, linalg.tridiagonal, a)[::3]
        ):  # fmt: skip
            q = np.eye(5, dtype=dtype)
            q[1:, 1:] = evaluate(engine, linalg.householder_product, form[1:, :-1], taus)
            # Both are the tridiagonal matrix, as `a` is Hermitian; of one only half is in place.
            beside = np.diag(np.diag(form, -1) / size, -1)
            middle = np.diag(np.diag(form).real / size) + beside + adjoint(beside)
            found.append((q @ middle @ adjoint(q), a / size))
        for got, want in found:
            assert_close(got, want)


def test_left_eigenvectors_by_numpy_of_a_defective_matrix() -> None:
    a = np.array([[2.0, 1.0], [0.0, 2.0]])
    w, left, right = evaluate("numpy", linalg.eig, a)
    assert_close(adjoint(left) @ a, w[:, None] * adjoint(left))
    assert_close(a @ right, right * w)


# ---- what has no result -------------------------------------------------------------------------
ITERATIVE = {
    "eigh": linalg.eigh,
    "eig": linalg.eig,
    "schur": linalg.schur,
    "svd": linalg.svd,
    "svd by QR": lambda a: linalg.svd(a, algorithm=linalg.SvdAlgorithm.QR),
    "singular values": lambda a: [linalg.svd(a, compute_uv=False)],
    "polar": linalg.polar,
}


@everywhere
@each_dtype
@pytest.mark.parametrize("name", ITERATIVE)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_gives_nan_and_the_others_do_not_notice(
    bad: float, name: str, dtype: str, engine: str
) -> None:
    for n in (2, 7, 100) if (engine, dtype) == ("xla", "float32") else (7,):
        a = drawn((2, n, n), dtype)
        a[1, n // 2, n // 3] = bad
        for out in evaluate(engine, ITERATIVE[name], a):
            assert np.isfinite(out[0]).all()
            assert np.isnan(out[1]).all()


# ---- engines ------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["cholesky", "lu", "qr", "svd", "eigh", "eig", "schur"])
def test_the_interpreter_has_no_lapack_and_says_so(name: str) -> None:
    with pytest.raises(EngineUnsupported, match="custom_call"), hloom.engine("reference"):
        getattr(linalg, name)(np.eye(2, dtype=np.float32))


def test_the_interpreter_solves_no_system() -> None:
    a, v = np.eye(2, dtype=np.float32), np.ones(2, np.float32)
    for call in (
        lambda: linalg.solve(a, a),
        lambda: linalg.triangular_solve(a, a),
        lambda: linalg.tridiagonal_solve(v, v, v, a),
        lambda: linalg.householder_product(a, v),
        lambda: linalg.ormqr(a, v, a),
        lambda: linalg.hessenberg(a),
        lambda: linalg.tridiagonal(a),
    ):
        with pytest.raises(EngineUnsupported, match="custom_call"), hloom.engine("reference"):
            call()


# ---- what is refused ----------------------------------------------------------------------------
F32 = np.float32
M23, M22, V2, V3 = (np.ones(shape, F32) for shape in ((2, 3), (2, 2), (2,), (3,)))
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "half precision": (
        lambda: linalg.cholesky(np.eye(2, dtype=np.float16)), TypeError,
        r"got f16\[2,2\].*no float16.*convert_element_type\(x, 'float32'\)",
    ),
    "bfloat16": (
        lambda: linalg.qr(jnp.eye(2, dtype="bfloat16")), TypeError, r"bf16\[2,2\].*bfloat16"
    ),
    "integers": (lambda: linalg.svd(np.eye(2, dtype=np.int32)), TypeError, r"svd.*i32\[2,2\]"),
    "bool": (lambda: linalg.lu(np.eye(2, dtype=bool)), TypeError, r"lu.*bool\[2,2\]"),
    "a vector": (lambda: linalg.svd(V2), ValueError, r"f32\[2\].*expand_dims"),
    "a number": (lambda: linalg.lu(F32(1)), ValueError, r"f32\[\]"),
    "what is not square": (lambda: linalg.eigh(M23), ValueError, r"square.*f32\[2,3\]"),
    "cholesky of what is not square": (lambda: linalg.cholesky(M23), ValueError, "square"),
    "a tall triangular matrix": (
        lambda: linalg.triangular_solve(np.ones((3, 2), F32), M23), ValueError, "square matrix a"
    ),
    "b of other rows": (
        lambda: linalg.triangular_solve(M22, np.ones((3, 2), F32), left_side=True), ValueError,
        r"f32\[2,2\] and f32\[3,2\].*2 rows",
    ),
    "b on the other side": (
        lambda: linalg.triangular_solve(M22, M23), ValueError, "left_side=True"
    ),
    "b with two axes less": (
        lambda: linalg.triangular_solve(np.stack([M22] * 2), V2), ValueError, r"a matrix.*f32\[2\]"
    ),
    "batches that differ": (
        lambda: linalg.solve(np.ones((3, 2, 2), F32), M22), ValueError, "broadcast_in_dim"
    ),
    "two dtypes": (
        lambda: linalg.solve(M22, M22.astype(np.complex64)), TypeError, r"f32\[2,2\] and c64\[2,2\]"
    ),
    "solve with too many rows": (
        lambda: linalg.solve(M22, np.ones((3, 1), F32)), ValueError, r"f32\[3,1\]"
    ),
    "no permutation": (
        lambda: linalg.lu_solve(M22, np.zeros(3, np.int32), M22), ValueError, r"i32\[3\]"
    ),
    "an unknown trans": (
        lambda: linalg.lu_solve(M22, np.zeros(2, np.int32), M22, trans=3), ValueError, "trans=0"
    ),
    "float pivots": (
        lambda: linalg.lu_pivots_to_permutation(V2, 2), TypeError, r"f32\[2\]"
    ),
    "too many pivots": (
        lambda: linalg.lu_pivots_to_permutation(np.zeros(3, np.int32), 2), ValueError, "3 pivots"
    ),
    "diagonals of two lengths": (
        lambda: linalg.tridiagonal_solve(V2, V3, V3, np.ones((3, 1), F32)), ValueError,
        "of one length",
    ),
    "a wide product of reflections": (
        lambda: linalg.householder_product(M23, V2), ValueError, "columns than rows"
    ),
    "too many reflections": (
        lambda: linalg.householder_product(M22, V3), ValueError, r"f32\[2,2\] and f32\[3\]"
    ),
    "ormqr of other rows": (
        lambda: linalg.ormqr(M22, V2, np.ones((3, 2), F32)), ValueError, "rows"
    ),
    "a wide polar": (lambda: linalg.polar(M23), ValueError, "adjoint"),
    "a subset out of range": (
        lambda: linalg.eigh(M22, subset_by_index=(1, 3)), ValueError, "within the 2"
    ),
    "a subset of nothing": (
        lambda: linalg.eigh(M22, subset_by_index=(1, 1)), ValueError, "within"
    ),
    "a subset that is no pair": (
        lambda: linalg.svd(M22, subset_by_index=1), TypeError, "pair of integers"
    ),
    "a subset of full matrices": (
        lambda: linalg.svd(M23, subset_by_index=(0, 1)), ValueError, "full_matrices=False"
    ),
    "an algorithm of GPUs": (
        lambda: linalg.svd(M22, algorithm=linalg.SvdAlgorithm.JACOBI), ValueError, "LAPACK"
    ),
    "eigh by another": (
        lambda: linalg.eigh(M22, implementation=linalg.EighImplementation.QDWH), ValueError, "QR"
    ),
    "eig by another": (
        lambda: linalg.eig(M22, implementation=linalg.EigImplementation.MAGMA), ValueError, "LAPACK"
    ),
    "sorted Schur": (
        lambda: linalg.schur(M22, sort_eig_vals=True), NotImplementedError, "does not sort"
    ),
    "dynamic shapes": (
        lambda: linalg.qdwh(M22, dynamic_shape=(1, 1)), NotImplementedError, "slice"
    ),
    "symmetric_product of other sizes": (
        lambda: linalg.symmetric_product(M23, np.ones((3, 3), F32)), ValueError, "2 by 2"
    ),
    "cholesky_update of other sizes": (
        lambda: linalg.cholesky_update(M22, V3), ValueError, "vectors of their size"
    ),
    "a list": (lambda: linalg.cholesky([[1.0]]), TypeError, "list"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    call, error, text = REFUSED[what]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "wrap", [hloom.jit, hloom.grad, lambda f: lambda x: hloom.vmap(f)(x[None])]
)
def test_refused_in_the_same_words_everywhere(wrap: Any) -> None:
    with pytest.raises(ValueError, match="svd takes matrices"):
        wrap(linalg.svd)(V2)
