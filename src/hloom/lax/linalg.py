"""`hloom.lax.linalg`: strict linear algebra, by LAPACK.

Beside JAX's names there are `lu_solve`, `polar` and `solve`.  Names ending in `_p` are primitives.
"""

from hloom.errors.absent import absent as _absent
from hloom.ops.linalg.eigen import (
    EighImplementation,
    EigImplementation,
    eig,
    eig_p,
    eigh,
    eigh_p,
    schur,
    schur_p,
)
from hloom.ops.linalg.factorizations import (
    cholesky,
    cholesky_p,
    cholesky_update,
    lu,
    lu_p,
    lu_pivots_to_permutation,
    lu_pivots_to_permutation_p,
    symmetric_product,
)
from hloom.ops.linalg.orthogonal import (
    hessenberg,
    hessenberg_p,
    householder_product,
    householder_product_p,
    ormqr,
    ormqr_p,
    qr,
    qr_p,
    tridiagonal,
    tridiagonal_p,
)
from hloom.ops.linalg.singular import SvdAlgorithm, polar, polar_p, qdwh, svd, svd_p
from hloom.ops.linalg.solves import lu_solve, solve, solve_p, tridiagonal_solve, tridiagonal_solve_p
from hloom.ops.linalg.triangular import triangular_solve, triangular_solve_p

__getattr__ = _absent(__name__)

__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "cholesky_p",
    "cholesky_update",
    "eig",
    "eig_p",
    "eigh",
    "eigh_p",
    "hessenberg",
    "hessenberg_p",
    "householder_product",
    "householder_product_p",
    "lu",
    "lu_p",
    "lu_pivots_to_permutation",
    "lu_pivots_to_permutation_p",
    "lu_solve",
    "ormqr",
    "ormqr_p",
    "polar",
    "polar_p",
    "qdwh",
    "qr",
    "qr_p",
    "schur",
    "schur_p",
    "solve",
    "solve_p",
    "svd",
    "svd_p",
    "symmetric_product",
    "triangular_solve",
    "triangular_solve_p",
    "tridiagonal",
    "tridiagonal_p",
    "tridiagonal_solve",
    "tridiagonal_solve_p",
]
