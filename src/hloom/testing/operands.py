"""Operands: edge values of each dtype, random values, and combinations of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom import dtypes

NDArray = np.ndarray[Any, Any]

# Families of dtypes: enough of each to meet every width and every way that code is written in.
FLOATS = ("float16", "bfloat16", "float32", "float64")
SINGLE = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INEXACT = (*FLOATS, *COMPLEX)
INTEGERS = ("int8", "int32", "uint8", "uint32", "int64")
NUMBERS = (*INTEGERS, *INEXACT)
ORDERED = ("bool", *INTEGERS, *FLOATS)
EVERYTHING = ("bool", *NUMBERS)
# For what only moves elements: a dtype of each width, and of 16 bits one that NumPy lacks.
MOVED = ("bool", "int8", "float16", "bfloat16", "float32", "float64", "complex128")


def corners(dtype: Any) -> NDArray:
    """The values of a dtype where operations go wrong, as a vector.

    For floats: zeros of both signs, the smallest normal and the largest numbers, halves (where
    rounding has ties), infinities and NaN; for complex numbers every pair of such parts; for
    integers the ends of the range and what is near zero.  Subnormal numbers are left out: XLA's
    CPU takes them for zeros.

    >>> from hloom import testing
    >>> testing.corners("int8").tolist()
    [-3, -2, -1, 0, 1, 2, 3, -128, 127, 126]
    """
    dtype = dtypes.as_dtype(dtype)
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return np.array([False, True])
    if kind in ("signed", "unsigned"):
        info = dtypes.iinfo(dtype)
        near = [v for v in range(-3, 4) if v >= int(info.min)]
        return np.array([*near, int(info.min), int(info.max), int(info.max) - 1], dtype)
    if kind == "complex":
        parts = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan])
        return np.array([complex(a, b) for a in parts for b in parts], dtype)
    limits = dtypes.finfo(dtype)
    small, large = float(limits.smallest_normal), float(limits.max)
    positive = [0.0, small, 1e-3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 100.0, large, np.inf]
    return np.array([v * s for v in positive for s in (1, -1)] + [np.nan]).astype(dtype)


def drawn(dtype: Any, low: float, high: float, size: int, seed: int) -> NDArray:
    """`size` random values of an interval, as a vector; the same for the same seed.

    Integers include both ends.  Complex numbers have their real part in the interval and an
    imaginary part of either sign, not above 4 in size.

    >>> from hloom import testing
    >>> testing.drawn("int32", 0, 9, 5, seed=1)
    array([4, 5, 7, 9, 0], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    rng = np.random.default_rng(seed)
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if kind in ("signed", "unsigned"):
        info = dtypes.iinfo(dtype)
        first, last = max(int(np.ceil(low)), int(info.min)), min(int(high), int(info.max))
        return rng.integers(first, last, size, endpoint=True).astype(dtype)
    values = rng.uniform(low, high, size)
    if kind == "complex":
        return (values + 1j * rng.uniform(-min(high, 4.0), min(high, 4.0), size)).astype(dtype)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def normal(shape: tuple[int, ...], dtype: Any = "float64", seed: int = 0) -> NDArray:
    """Normally distributed numbers of a float or complex dtype; other ones for another shape.

    >>> from hloom import testing
    >>> testing.normal((2, 3), "complex64").dtype
    dtype('complex64')
    """
    dtype = dtypes.as_dtype(dtype)
    rng = np.random.default_rng((seed, *shape))
    made = rng.normal(size=shape)
    if dtypes.kind(dtype) == "complex":
        made = made + 1j * rng.normal(size=shape)
    return np.asarray(made, dtype)


def combinations(grids: Sequence[NDArray]) -> list[NDArray]:
    """Every combination of the grids' values: a vector for each operand, all of one length.

    >>> from hloom import testing
    >>> testing.combinations([np.array([1, 2]), np.array([5, 6, 7])])
    [array([1, 1, 1, 2, 2, 2]), array([5, 6, 7, 5, 6, 7])]
    """
    return [np.ravel(x).copy() for x in np.meshgrid(*grids, indexing="ij")]
