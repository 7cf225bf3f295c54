"""How operations are tried: on an engine, with operands that leave out no corner, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import hloom
from hloom import dtypes

ENGINES = ("xla", "reference", "numpy")

NDArray = np.ndarray[Any, Any]


def evaluate(engine: str, fun: Callable[..., Any], *operands: Any) -> NDArray:
    """The result of an eager call on one engine, 64-bit types on."""
    with hloom.engine(engine), hloom.enable_x64():
        return np.asarray(fun(*operands))


# ---- operands --------------------------------------------------------------------------------
def corners(dtype: np.dtype[Any]) -> NDArray:
    """The values where operations go wrong.  Subnormals are left out: XLA's CPU flushes them."""
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
    info = dtypes.finfo(dtype)
    small, large = float(info.smallest_normal), float(info.max)
    positive = [0.0, small, 1e-3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 100.0, large, np.inf]
    return np.array([v * s for v in positive for s in (1, -1)] + [np.nan]).astype(dtype)


def drawn(dtype: np.dtype[Any], low: float, high: float, size: int, seed: int) -> NDArray:
    """Random values of an interval; complex ones of the square over it and under it."""
    rng = np.random.default_rng(seed)
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if kind in ("signed", "unsigned"):
        low = max(low, int(dtypes.iinfo(dtype).min))
        return rng.integers(int(np.ceil(low)), int(high), size, endpoint=True).astype(dtype)
    values = rng.uniform(low, high, size)
    if kind == "complex":
        return (values + 1j * rng.uniform(-min(high, 4.0), min(high, 4.0), size)).astype(dtype)
    return values.astype(dtype)


def pairs(grids: Sequence[NDArray]) -> list[NDArray]:
    """Every combination of the grids' values, an array for each operand."""
    return [np.ravel(x).copy() for x in np.meshgrid(*grids, indexing="ij")]


# ---- comparison ------------------------------------------------------------------------------
def wider(x: NDArray) -> NDArray:
    """In a dtype of more digits, for an oracle."""
    kind = dtypes.kind(x.dtype)
    if kind == "float":
        return x.astype(np.float64 if dtypes.bits(x.dtype) <= 32 else np.longdouble)
    if kind == "complex":
        return x.astype(np.complex128 if x.dtype == np.complex64 else np.clongdouble)
    return x


def ulps(got: NDArray, want: NDArray) -> NDArray:
    """How many steps of its dtype `got` is away from a wider `want`; complex ones by their size.

    What is subnormal counts as zero, and where both overflow or are NaN there is no distance.
    """
    info = dtypes.finfo(got.dtype)
    tiny, eps = float(info.smallest_normal), float(info.eps)
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        values = wider(got)
        size = np.maximum(np.abs(want), tiny)
        step = np.exp2(np.floor(np.log2(size))) * eps
        distance = np.abs(values - want) / step
        same = (rounded == got) | (np.isnan(rounded) & np.isnan(got))
        flushed = (np.abs(values) <= tiny) & (np.abs(want) <= tiny)
        distance = np.where(same | flushed, 0, distance)
    return np.where(np.isnan(distance), np.inf, distance)


def same_bits(got: NDArray, want: NDArray) -> NDArray:
    """Where two arrays hold the same: NaN is NaN, zeros have signs."""
    if dtypes.kind(got.dtype) == "complex":
        return same_bits(got.real, want.real) & same_bits(got.imag, want.imag)
    if dtypes.kind(got.dtype) != "float":
        return np.asarray(got == want)
    alike = (got == want) & (np.signbit(got) == np.signbit(want))
    return np.asarray(alike | (np.isnan(got) & np.isnan(want)))


def flushed(x: NDArray) -> NDArray:
    """With zeros for subnormal numbers, as XLA's CPU has them."""
    if dtypes.kind(x.dtype) != "float":
        return x
    with np.errstate(invalid="ignore"):
        small = np.abs(x) < dtypes.finfo(x.dtype).smallest_normal
    return np.where(small, np.copysign(np.zeros_like(x), x), x)


def show(bad: NDArray, operands: Sequence[NDArray], got: NDArray, want: NDArray) -> str:
    """The first few places that differ, for a failing test."""
    places = np.flatnonzero(bad)
    lines = [f"{len(places)} of {bad.size} differ"]
    for i in places[:6]:
        given = ", ".join(repr(x[i]) for x in operands)
        lines.append(f"  at {given}: got {got[i]!r}, expected {want[i]!r}")
    return "\n".join(lines)
