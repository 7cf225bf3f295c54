"""Products, convolutions, traces, and functions that apply others."""

from tests.numpy.functions.entries import Entry

SUM = "a sum of products in another order"

PRODUCTS = {
    "convolve": Entry("V, W; V, W, 'same'; V, W, 'valid'; I, I; Z, W", 8, SUM),
    "correlate": Entry("V, W; V, W, 'same'; V, W, 'full'; I, I; Z, Z[:2]", 8, SUM),
    "cross": Entry("W, W[::-1]; A[:, :3], W; S, S.T, axis=0", 8, SUM),
    "dot": Entry("V, V; A, V; S, A; 2.0, A; I, I; Z, Z; O, O; B, P", 8, SUM),
    "einsum": Entry("'ij,j', A, V; 'ij->ji', A; 'ii', S; 'i,j->ij', V, W; 'ij,kj', A, A", 8, SUM),
    "inner": Entry("V, V; A, A; A, V; Z, Z; 2.0, V", 8, SUM),
    "kron": Entry("V, W; A, S; I, I"),
    "matmul": Entry("A, V; S, A; V, V; J, I; C, S; P, P; "
                    "xp.stack([S, S]), xp.stack([S, S])", 8, SUM),
    "matvec": Entry("A, V; S, W; xp.stack([S, S]), A.T[:2]", 8, SUM),
    "outer": Entry("V, W; A, V; I, Z"),
    "tensordot": Entry("A, A; A, A, ((0, 1), (0, 1)); A, V, 1; V, W, 0; A, S, (0, 1)", 8, SUM),
    "trace": Entry("A; A, 1; S, -1; J; xp.reshape(A, (3, 2, 2)), 0, 1, 2", 4, SUM),
    "vdot": Entry("V, V; Z, Z; A, A; I, V", 8, SUM),
    "vecdot": Entry("V, V; A, V; Z, Z; A, A, axis=0", 8, SUM),
    "vecmat": Entry("W, A; W, S; A.T[:2], xp.stack([S, S])", 8, SUM),
}  # fmt: skip

APPLYING = {
    "apply_along_axis": Entry("xp.sum, 0, A; lambda x: x * 2, 1, A", 4, SUM),
    "apply_over_axes": Entry("xp.sum, A, [0, 1]; xp.max, A, 0", 4, SUM),
}
