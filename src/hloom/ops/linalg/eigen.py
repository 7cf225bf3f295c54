"""Eigenvalues: of Hermitian matrices, of general ones, and the Schur form."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from operator import index
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.support.strict import strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.linear import constant, reduce_sum
from hloom.ops.linalg import definitions
from hloom.ops.linalg import lapack_calls as lapack
from hloom.ops.linalg.factorizations import symmetrize
from hloom.ops.linalg.matrix_functions import (
    INT32,
    MatrixFunction,
    adjoint,
    along_rows,
    check_finite,
    check_matrix,
    conjugated,
    diagonal,
    gaps,
    inverse_gaps,
    like,
    matmul,
    no_derivative,
    real_aval,
    real_part,
    scale_columns,
    scale_rows,
    where_placed,
)
from hloom.ops.pointwise.arithmetic import add, div, mul, sub
from hloom.ops.pointwise.compare import eq, gt, lt, pick
from hloom.ops.pointwise.complex import complex, imag, real
from hloom.ops.pointwise.unary import square
from hloom.ops.reductions.reduce import argmax
from hloom.ops.shapes.shape import broadcasted_iota
from hloom.ops.shapes.slicing import slice_in_dim


class EighImplementation(Enum):
    """How eigenvalues of Hermitian matrices are found; LAPACK has QR (with divide and conquer)."""

    QR = "QR"
    JACOBI = "Jacobi"
    QDWH = "QDWH"


class EigImplementation(Enum):
    """Which library finds eigenvalues of general matrices: on a CPU, LAPACK."""

    LAPACK = "lapack"
    CUSOLVER = "cusolver"
    MAGMA = "magma"


def subset_of(name: str, subset: Any, size: int) -> tuple[int, int]:
    """A range of positions, from the first up to the second; raises ValueError."""
    try:
        start, stop = map(index, subset)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{name} takes subset_by_index as a pair of integers (from, up to); got {subset!r:.80}"
        ) from error
    if not 0 <= start < stop <= size:
        raise ShapeError(
            f"{name} takes subset_by_index within the {size} there are; got {(start, stop)}"
        )
    return start, stop


# ---- Hermitian ----------------------------------------------------------------------------------
class Eigh(MatrixFunction):
    """f32[5,2,2] -- lower=True --> [f32[5,2], f32[5,2,2]].  Rising eigenvalues, eigenvectors."""

    multiple = True

    def infer(self, a: ShapedArray, *, lower: bool) -> list[ShapedArray]:
        check_matrix("eigh", a, square=True)
        return [real_aval(a, a.shape[:-1]), a.strong()]

    def one(self, a: Any, *, lower: bool) -> list[Any]:
        check_finite(np.tril(a) if lower else np.triu(a))
        return list(np.linalg.eigh(a, "L" if lower else "U"))

    def emit(self, block: Any, out: Sequence[ShapedArray], a: Any, *, lower: bool) -> list[Any]:
        if not a.aval.size:
            return [block.constant(0, aval) for aval in out]
        batch, is_complex = a.aval.ndim - 2, a.aval.dtype.kind == "c"
        info = ShapedArray(a.aval.shape[:-2], INT32)
        finite = lapack.all_finite(block, lapack.keep_triangle(block, a, lower))
        a = lapack.unless(block, finite, a, other=0)
        # LAPACK sees the transpose, which is the conjugate; its vectors are conjugates too, and
        # come as rows.
        vectors, values, info = lapack.call(
            block, "heevd" if is_complex else "syevd", [a], [out[1], out[0], info],
            batch=batch, alias=[(0, 0)], by_rows=True, mode="V", uplo="U" if lower else "L",
        )  # fmt: skip
        ok = block.and_(lapack.succeeded(block, info), finite)
        vectors = block.transpose(vectors, (*range(batch), batch + 1, batch))
        if is_complex:
            vectors = block.complex(block.real(vectors), block.neg(block.imag(vectors)))
        return [lapack.nan_unless(block, ok, x) for x in (values, vectors)]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, lower: bool
    ) -> tuple[Any, Any]:
        w, v = self(*primals, lower=lower)
        half = where_placed(gt if lower else lt, tangents[0])
        half = where_placed(eq, mul(tangents[0], 0.5), half)
        inner = matmul(adjoint(v), add(half, adjoint(half)), v)
        turn = mul(like(inverse_gaps(gaps(w)), inner), inner)
        return [w, v], [real_part(diagonal(inner)), matmul(v, turn)]


eigh_p = Eigh("eigh")


@strict
def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Any, Any]:
    """Eigenvectors v and eigenvalues w of Hermitian matrices: `x @ v = v * w`, w rising.

    Takes `[.., n, n]` of float32 or a wider dtype.  They are made Hermitian first; without
    `symmetrize_input` only the lower triangle is read, or the upper one.  Gives v `[.., n, n]`, a
    vector a column, and real w `[.., n]`; with `subset_by_index=(i, j)`, those from the i-th up to
    the j-th.  Raises TypeError for other dtypes, ValueError for other shapes and for what LAPACK
    lacks.  Differs from NumPy: the vectors come first; NaN where NumPy raises LinAlgError.

    >>> v, w = lax.linalg.eigh(jnp.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> w
    Array([1., 3.], dtype=float32)
    """
    x = as_array(x)
    check_matrix("eigh", x.aval, square=True)
    if implementation not in (None, EighImplementation.QR):
        raise ValueError(
            f"eigh runs on LAPACK here, which has EighImplementation.QR; got {implementation!r}"
        )
    w, v = eigh_p(symmetrize(x) if symmetrize_input else x, lower=bool(lower))
    if subset_by_index is not None:
        start, stop = subset_of("eigh", subset_by_index, x.aval.shape[-1])
        w = slice_in_dim(w, start, stop, axis=w.aval.ndim - 1)
        v = slice_in_dim(v, start, stop, axis=v.aval.ndim - 1)
    return v, w


# ---- general ------------------------------------------------------------------------------------
class Eig(MatrixFunction):
    """f32[2,2] -- left=False, right=True --> [c64[2], c64[2,2]].  Eigenvalues, then the vectors."""

    multiple = True

    def infer(self, a: ShapedArray, *, left: bool, right: bool) -> list[ShapedArray]:
        check_matrix("eig", a, square=True)
        dtype = np.result_type(a.dtype, np.complex64)
        vectors = ShapedArray(a.shape, dtype)
        return [ShapedArray(a.shape[:-1], dtype), *[vectors] * left, *[vectors] * right]

    def one(self, a: Any, *, left: bool, right: bool) -> list[Any]:
        check_finite(a)
        return definitions.eig(a, left, right)

    def emit(
        self, block: Any, out: Sequence[ShapedArray], a: Any, *, left: bool, right: bool
    ) -> list[Any]:
        if not a.aval.size:
            return [block.constant(0, aval) for aval in out]
        values = ShapedArray(a.aval.shape[:-1], a.aval.dtype)
        vectors = ShapedArray(a.aval.shape, out[0].dtype)
        info = ShapedArray(a.aval.shape[:-2], INT32)
        modes = {
            "compute_left": "V" if left else "N",
            "compute_right": "V" if right else "N",
        }
        batch, parts = a.aval.ndim - 2, 1 if a.aval.dtype.kind == "c" else 2
        *w, vl, vr, info = lapack.call(
            block, "geev", [a], [*[values] * parts, vectors, vectors, info], batch=batch, **modes
        )  # jaxlib answers with an error, in info, for matrices with NaN or infinities
        ok = lapack.succeeded(block, info)
        found = [w[0] if parts == 1 else block.complex(*w), *[vl] * left, *[vr] * right]
        return [lapack.nan_unless(block, ok, x) for x in found]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, left: bool, right: bool
    ) -> tuple[Any, Any]:
        """Vectors: C. Boeddeker, P. Hanebrink, L. Drude, J. Heymann, R. Haeb-Umbach, "On the
        computation of complex-valued gradients with application to statistically optimum
        beamforming" (2017); here with the length and phase that LAPACK gives them."""
        (a,), (da,) = primals, tangents
        self.infer(a.aval, left=left, right=right)
        w, vl, vr = self(a, left=True, right=True)
        da = like(da, vr)
        # Row i of vl^H is a multiple of row i of vr^-1.
        inner = matmul(adjoint(vl), da, vr)
        scale = diagonal(matmul(adjoint(vl), vr))
        outs, made = [w], [div(diagonal(inner), scale)]
        if left:
            turn = adjoint(scale_columns(inner, div(constant(1, w.aval.dtype), scale)))
            outs.append(vl)
            made.append(_turned_vectors(vl, conjugated(w), turn))
        if right:
            turn = scale_rows(inner, div(constant(1, w.aval.dtype), scale))
            outs.append(vr)
            made.append(_turned_vectors(vr, w, turn))
        return outs, made


def _turned_vectors(v: Any, w: Any, inner: Any) -> Any:
    """The tangent of eigenvectors; column j of `inner` says how the matrix's tangent mixes them.

    Their length stays 1 and their largest element real, as LAPACK gives them.
    """
    shape = v.aval.shape
    moved = matmul(v, mul(inverse_gaps(gaps(w)), inner))
    along = diagonal(matmul(adjoint(v), moved))
    size = add(square(real(v)), square(imag(v)))
    rows = broadcasted_iota(INT32, shape, len(shape) - 2)
    largest = argmax(size, len(shape) - 2, INT32)
    chosen = eq(rows, along_rows(largest, shape))
    ratio = div(moved, pick(chosen, v, 1.0))
    angle = reduce_sum(pick(chosen, imag(ratio), 0.0), (len(shape) - 2,))
    return sub(moved, scale_columns(v, complex(real(along), angle)))


eig_p = Eig("eig")


@strict
def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    implementation: EigImplementation | None = None,
    use_magma: Any = None,
) -> list[Any]:
    """Eigenvalues w of general matrices, left and right eigenvectors: `x @ vr = vr * w`.

    Takes `[.., n, n]` of float32 or a wider dtype.  Gives complex w `[.., n]`, and, as asked, vl
    with `vl.T.conj() @ x = w[:, None] * vl.T.conj()`, and vr, both `[.., n, n]`, a vector a column,
    of length 1 and with a real largest element.  A matrix with NaN or infinities gives NaN.
    `use_magma` is for GPUs.  Raises TypeError for other dtypes, ValueError for other shapes and
    libraries.  Differs from NumPy: always complex; left eigenvectors too.

    >>> w, vl, vr = lax.linalg.eig(jnp.array([[0.0, 1.0], [-1.0, 0.0]]))
    >>> w
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    x = as_array(x)
    if implementation not in (None, EigImplementation.LAPACK):
        raise ValueError(f"eig runs on LAPACK here; got {implementation!r}")
    left, right = bool(compute_left_eigenvectors), bool(compute_right_eigenvectors)
    made: list[Any] = eig_p(x, left=left, right=right)
    return made


# ---- Schur --------------------------------------------------------------------------------------
class Schur(MatrixFunction):
    """f32[2,2] -- vectors=True --> [f32[2,2], f32[2,2]].  The form T, and Z with `a = Z T Z^H`."""

    multiple = True

    def infer(self, a: ShapedArray, *, vectors: bool) -> list[ShapedArray]:
        check_matrix("schur", a, square=True)
        return [a.strong()] * (1 + vectors)

    def one(self, a: Any, *, vectors: bool) -> list[Any]:
        check_finite(a)
        return list(definitions.schur(a)[: 1 + vectors])

    def emit(self, block: Any, out: Sequence[ShapedArray], a: Any, *, vectors: bool) -> list[Any]:
        if not a.aval.size:
            return [block.constant(0, aval) for aval in out]
        batch, parts = a.aval.ndim - 2, 1 if a.aval.dtype.kind == "c" else 2
        info = ShapedArray(a.aval.shape[:-2], INT32)
        values = ShapedArray(a.aval.shape[:-1], a.aval.dtype)
        finite = lapack.all_finite(block, a)
        a = lapack.unless(block, finite, a, other=0)
        form, z, *_, info = lapack.call(
            block, "gees", [a], [out[0], out[0], *[values] * parts, info, info],
            batch=batch, alias=[(0, 0)], mode="V" if vectors else "N", sort="N",
        )  # fmt: skip
        ok = block.and_(lapack.succeeded(block, info), finite)
        return [lapack.nan_unless(block, ok, x) for x in [form, z][: 1 + vectors]]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, vectors: bool
    ) -> tuple[Any, Any]:
        raise no_derivative(
            "schur",
            "differentiate what it is used for (lax.linalg.eig or solve), or stop here with "
            "lax.stop_gradient(x).",
        )


schur_p = Schur("schur")


@strict
def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Any = None,
) -> tuple[Any, ...]:
    """The Schur form T of a matrix, and the unitary Z with `x = Z @ T @ Z.T.conj()`.

    Takes `[.., n, n]` of float32 or a wider dtype.  T is upper triangular, or, of real matrices,
    has 2 by 2 blocks on its diagonal for pairs of complex eigenvalues.  Gives (T, Z), or (T,)
    without `compute_schur_vectors`.  A matrix with NaN or infinities gives NaN.  Raises TypeError
    for other dtypes, ValueError for other shapes, NotImplementedError when eigenvalues are to be
    sorted.

    >>> t, z = lax.linalg.schur(jnp.array([[3.0, 1.0], [0.0, 2.0]]))
    >>> t
    Array([[3., 1.],
           [0., 2.]], dtype=float32)
    """
    if sort_eig_vals or select_callable is not None:
        raise NotImplementedError(
            "schur does not sort eigenvalues: LAPACK would call Python for each. lax.linalg.eig "
            "gives eigenvalues to sort."
        )
    return tuple(schur_p(as_array(x), vectors=bool(compute_schur_vectors)))
