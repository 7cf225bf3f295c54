"""Elementwise functions: `elementwise_cases` says what they take; the rest is written out."""

from __future__ import annotations

import numpy as np

from tests.numpy.functions.entries import Entry
from tests.numpy.pointwise.elementwise_cases import ALIASES, UFUNCS, Ufunc

# An operand of each kind.  Small integers and truth values give float16 in NumPy, and the default
# float here: only functions that keep the dtype, or give truth values, are called with them.
LETTERS = {"float64": "AUXEO", "int64": "J", "complex128": "Z", "float32": "F"}
SMALL = {"bool": "B", "uint8": "Q"}


def entry(ufunc: Ufunc) -> Entry:
    """Calls with an operand of each kind that the function takes."""
    kept = ufunc.gives in ("same", "bool") and ufunc.name != "conjugate"
    letters = LETTERS | SMALL if kept else LETTERS
    taken = [letter for dtype in ufunc.takes for letter in letters.get(dtype, "")]
    calls = [", ".join(letter * ufunc.arity) for letter in taken]
    if ufunc.arity == 2 and "float64" in ufunc.takes:
        calls += ["A, V", "A + 2, 3", "2.5, V", "X, 2.0"]
    if ufunc.arity == 2 and "int64" in ufunc.takes:
        calls += ["abs(J), I + 1", "I + 1, abs(J)"]
    # Two more than there: NumPy works in the same width here.
    ulp = max(ufunc.ulp) and max(ufunc.ulp) + 2
    return Entry("; ".join(calls), ulp, ufunc.why, oracle=ufunc.oracle)


POINTWISE = {ufunc.name: entry(ufunc) for ufunc in UFUNCS}
POINTWISE |= {
    "power": Entry("A, V; X, 2.0; J, I; Z, Z; F, F; 2.0, V", 62, "complex: products of several"),
    "nextafter": Entry(
        "X, X; A, A; J, J; F, F[::-1]", why="the neighbour of a number depends on the width"
    ),
    "spacing": Entry("F", why="it depends on the width"),
    "nan_to_num": Entry("A; N; J; C; B; X, True, 1, 2, 3", why="the largest depends on the width"),
    "round": Entry("A; A / 8, 1; J, -1; X; C"),
    "clip": Entry("A, -1, 3; J, 0, None; A, V - 2, V; X, 0, 1; V, max=2"),
    "sinc": Entry("A; X; J; 0.0", 6, "a quotient of a sine"),
    "logaddexp": Entry("A, V; X, X; J, I", 4, "the logarithm of a sum of exponentials"),
    "logaddexp2": Entry("A, V; X, X; J, I", 4, "the logarithm of a sum of exponentials"),
    "ldexp": Entry("V, I; X, 2; 1.5, I"),
    "unwrap": Entry("V; A; A, axis=0; V, period=4", 8, "sums of multiples of the period"),
    "interp": Entry("A, K, V; [-9.0, 2.0, 9.0], K, V, left=0; V, K, V, right=7", 4, "a line"),
    "real_if_close": Entry("V", why="the dtype depends on values", traced=False),
    "allclose": Entry("A, A; A, A + 1e-9; A, V; X, X; X, X, equal_nan=True; J, J"),
    "isclose": Entry("A, A; A, A + 1e-9; A, V; X, X; X, X, equal_nan=True; A, A + 1, atol=2"),
    "array_equal": Entry("A, A; A, V; A, A * (1 + 2**-20); X, X; X, X, equal_nan=True; J, J"),
    "array_equiv": Entry("A, A; A, V; A, A * (1 + 2**-20); [V, V], V; J, J"),
    "packbits": Entry("B; B, axis=1; P, bitorder='little'"),
    "unpackbits": Entry("Q; Q, bitorder='little'; Q, count=13"),
}
POINTWISE["equal"] = Entry(POINTWISE["equal"].calls + "; A, A * (1 + 2**-20)")
POINTWISE |= {alias: POINTWISE[name] for alias, name in ALIASES.items()}
POINTWISE["fix"] = POINTWISE["fix"]._replace(oracle=np.trunc)
