"""Functions that choose elements by positions or conditions, and those that search and sort."""

import numpy as np

from tests.numpy.functions.entries import Entry

SHAPE = "the shape depends on values"
FREE = "beyond the k-th the order is free; K is sorted"

INDEXING = {
    "argwhere": Entry("A; B; O; E", traced=False, why=SHAPE),
    "choose": Entry("I, [V, V + 1, V + 2, V + 3], mode='wrap'; [0, 5, 1, -1], [V, K], mode='clip'"),
    "compress": Entry("[True, False, True], A, axis=0; [True, True, False, True], V",
                      traced=False, why=SHAPE),
    "diag_indices": Entry("3; 2, 3"),
    "diag_indices_from": Entry("S"),
    "diagonal": Entry("A; A, 1; A, -1; xp.reshape(A, (3, 2, 2)), 0, 0, 2"),
    "extract": Entry("B, A; V > 0, V", traced=False, why=SHAPE),
    "flatnonzero": Entry("A; B; E", traced=False, why=SHAPE),
    "ix_": Entry("[0, 2], [1, 3]; I, I", mapped=False),
    "mask_indices": Entry("3, xp.triu; 4, xp.tril, -1", traced=False, why=SHAPE),
    "nonzero": Entry("A; B; V; E", traced=False, why=SHAPE),
    "ravel_multi_index": Entry("(I, I), (4, 5), mode='clip'; ([1, 2], [7, 0]), (3, 4), 'clip'; "
                               "([1, 5], [0, 3]), (3, 4), 'wrap'; (I, I), (4, 5), 'wrap', 'F'"),
    "select": Entry("[V > 0, V < -5], [V, V * 2]; [P, V > 3], [I, V], 7.5"),
    "take": Entry("V, I; A, [0, 2], axis=1; A, I[:2] % 2, axis=0; V, 9, mode='clip'; "
                  "V, [5, -7], mode='wrap'; A, -1; V, [[0, 1], [2, 3]]"),
    "take_along_axis": Entry("A, xp.argsort(A, axis=1), axis=1; V, I, axis=0; "
                             "A, xp.argmax(A, axis=0, keepdims=True), axis=0; V, I, None"),
    "tril_indices": Entry("3; 3, 1; 2, 0, 4; 4, -1"),
    "tril_indices_from": Entry("A; S, 1"),
    "triu_indices": Entry("3; 3, 1; 2, 0, 4; 4, -1"),
    "triu_indices_from": Entry("A; S, 1"),
    "unravel_index": Entry("I, (2, 3); 5, (2, 3); I, (3, 2), order='F'"),
    "where": Entry("B, A, 0.0; V > 0, V, I; P, Z, V; True, V, K; B, J, A"),
    "piecewise": Entry("V, [V < 0, V > 2], [lambda x: -x, lambda x: x * 2]; V, [V > 0], [1, 2]"),
}  # fmt: skip

ORDER = {
    "argmax": Entry("A; A, axis=0; A, -1; X; J; B; C; A, axis=1, keepdims=True"),
    "argmin": Entry("A; A, axis=0; A, -1; X; J; B; C; A, axis=1, keepdims=True"),
    "argpartition": Entry("K, 1; K, 0; [3.0, 1.0], 0", why=FREE,
                          mapped=False),
    "argsort": Entry("A; A, axis=0; V; X, kind='stable'; J, None, kind='stable'; E"),
    "count_nonzero": Entry("A; B, axis=0; J, -1; X; A, axis=1, keepdims=True; E"),
    "digitize": Entry("V, K; A, K, right=True; 2.0, K; J, K"),
    "intersect1d": Entry("V, K; I, J; [1, 1, 2], [2, 2, 1]", traced=False, why=SHAPE),
    "isin": Entry("V, K; J, I; A, V, invert=True; J, []"),
    "lexsort": Entry("(V, I); A; (I, P)"),
    "nanargmax": Entry("N; N, axis=0; N, -1; A"),
    "nanargmin": Entry("N; N, axis=0; N, -1; A"),
    "partition": Entry("K, 1; K, 3; [3.0, 1.0], 0", why=FREE,
                       mapped=False),
    "searchsorted": Entry("K, V; K, 1.0; K, 1.0, side='right'; K, A; K, V, 'right'"),
    "setdiff1d": Entry("V, K; J, I; [3, 1, 1], [2]", traced=False, why=SHAPE),
    "setxor1d": Entry("V, K; J, I; [3, 1, 1], [2, 3]", traced=False, why=SHAPE),
    "sort": Entry("A; A, axis=0; A, None; X; J; B; Z; E; Q"),
    "sort_complex": Entry("Z; V; J"),
    "union1d": Entry("V, K; J, I; [3, 1, 1], [2, 3]", traced=False, why=SHAPE),
    "unique": Entry("J; A, return_index=True, return_inverse=True, return_counts=True; J, axis=1; "
                    "X; B; E", traced=False, why=SHAPE),
    "unique_all": Entry("J; V", traced=False, why=SHAPE),
    "unique_counts": Entry("J; B", traced=False, why=SHAPE),
    "unique_inverse": Entry("J; V", traced=False, why=SHAPE),
    "unique_values": Entry("[3, 1, 2]; J", traced=False, why=SHAPE + "; NumPy's order is free",
                           oracle=lambda x: np.sort(np.unique_values(x))),
}  # fmt: skip
