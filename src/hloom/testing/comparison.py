"""One program on several engines, and how far apart two results are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.config import options
from hloom.testing.operands import NDArray

#: The engines that a function is compared on; the first is the default one.
ENGINES = ("xla", "reference", "numpy")


# ---- running ---------------------------------------------------------------------------------
def results(engine: str, fun: Callable[..., Any], *operands: Any, **params: Any) -> list[NDArray]:
    """The results of a call on one engine, 64-bit types on, as a list of ndarrays.

    Raises EngineUnsupported if the engine cannot run the program.

    >>> from hloom import testing
    >>> testing.results("reference", lax.top_k, np.array([3.0, 1.0, 2.0]), 2)
    [array([3., 2.]), array([0, 2], dtype=int32)]
    """
    with options(engine=engine, enable_x64=True):
        return listed(fun(*operands, **params))


def evaluate(engine: str, fun: Callable[..., Any], *operands: Any, **params: Any) -> Any:
    """The same as an ndarray, or as a list of them where the function gives several.

    >>> from hloom import testing
    >>> [testing.evaluate(engine, lax.sqrt, 4.0).item() for engine in testing.ENGINES]
    [2.0, 2.0, 2.0]
    """
    with options(engine=engine, enable_x64=True):
        made = fun(*operands, **params)
        found = listed(made)
    return found if isinstance(made, (list, tuple)) else found[0]


def listed(made: Any) -> list[NDArray]:
    """A result, or a list or tuple of them, as a list of ndarrays.

    >>> from hloom import testing
    >>> testing.listed((jnp.float32(1), jnp.arange(2)))
    [array(1., dtype=float32), array([0, 1], dtype=int32)]
    """
    return [np.asarray(x) for x in (made if isinstance(made, (list, tuple)) else [made])]


# ---- distances -------------------------------------------------------------------------------
def wider(x: NDArray) -> NDArray:
    """The same values in a dtype of more digits, for an oracle; bools and integers as they are.

    >>> from hloom import testing
    >>> testing.wider(np.float32([0.1])).dtype
    dtype('float64')
    """
    kind = dtypes.kind(x.dtype)
    if kind == "float":
        return x.astype(np.float64 if dtypes.bits(x.dtype) <= 32 else np.longdouble)
    if kind == "complex":
        return x.astype(np.complex128 if x.dtype == np.complex64 else np.clongdouble)
    return x


def ulps(got: NDArray, want: NDArray) -> NDArray:
    """How many steps of its dtype `got` is away from a wider `want`; complex ones by their size.

    What is subnormal counts as zero, and where both overflow or are NaN there is no distance.

    >>> from hloom import testing
    >>> testing.ulps(np.float32([1.0, np.nan]), np.array([1 + 2**-23, np.nan]))
    array([1., 0.])
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
        small = (np.abs(values) <= tiny) & (np.abs(want) <= tiny)
        distance = np.where(same | small, 0, distance)
    return np.where(np.isnan(distance), np.inf, distance)


def same_bits(got: NDArray, want: NDArray) -> NDArray:
    """Where two arrays of one dtype hold the same: NaN is NaN, zeros have signs.

    >>> from hloom import testing
    >>> testing.same_bits(np.array([0.0, np.nan, 1.0]), np.array([-0.0, np.nan, 1.0]))
    array([False,  True,  True])
    """
    if dtypes.kind(got.dtype) == "complex":
        return same_bits(got.real, want.real) & same_bits(got.imag, want.imag)
    if dtypes.kind(got.dtype) != "float":
        return np.asarray(got == want)
    alike = (got == want) & (np.signbit(got) == np.signbit(want))
    return np.asarray(alike | (np.isnan(got) & np.isnan(want)))


def flushed(x: NDArray) -> NDArray:
    """With zeros for subnormal numbers, as XLA's CPU has them; it keeps those of 8-bit floats.

    >>> from hloom import testing
    >>> testing.flushed(np.float32([1e-40, 1.0]))
    array([0., 1.], dtype=float32)
    """
    if dtypes.kind(x.dtype) == "complex":
        parts = np.stack([flushed(x.real), flushed(x.imag)], -1)
        return parts.view(x.dtype).reshape(x.shape)
    if dtypes.kind(x.dtype) != "float" or dtypes.bits(x.dtype) < 16:
        return x
    with np.errstate(invalid="ignore"):
        small = np.abs(x) < dtypes.finfo(x.dtype).smallest_normal
    return np.where(small, np.copysign(np.zeros_like(x), x), x)


# ---- verdicts --------------------------------------------------------------------------------
def differing(got: NDArray, want: NDArray, budget: float) -> NDArray:
    """Where elements are more than `budget` ulp from a wider `want`, or zeros of another sign.

    A part of a complex number may be as wrong as the whole number's size allows; what is not
    finite is exact.

    >>> from hloom import testing
    >>> testing.differing(np.float32([0.0, 1.0, 1.1]), np.array([-0.0, 1.0, 1.0]), budget=2)
    array([ True, False,  True])
    """
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        if dtypes.kind(got.dtype) != "complex":
            zero = (got == 0) & (rounded == 0) & ~same_bits(got, rounded)
            return np.asarray((ulps(got, want) > budget) | zero)
        size = np.where(np.isfinite(rounded), np.abs(rounded), 0)
        real = _differing_part(got.real, rounded.real, want.real == 0, size, budget)
        imag = _differing_part(got.imag, rounded.imag, want.imag == 0, size, budget)
        return np.asarray(real | imag)


def _differing_part(
    got: NDArray, want: NDArray, zero: NDArray, size: NDArray, budget: float
) -> NDArray:
    info = np.finfo(got.dtype)
    near = np.abs(got - want) <= budget * info.eps * np.maximum(size, np.abs(want)) + info.tiny
    # A difference of products that underflow is zero of either sign.
    signed = ~zero | (got != 0) | (np.signbit(got) == np.signbit(want))
    finite = np.isfinite(got) & np.isfinite(want)
    return np.asarray(~np.where(finite, near & signed, same_bits(got, want)))


def assert_close(got: NDArray, want: NDArray, ulp: float, what: object = "") -> None:
    """Raise AssertionError unless both are equal to the bit (NaN is NaN), or nearly so.

    `ulp` is counted in the precision of the largest finite element: what a sum of them may lose.

    >>> from hloom import testing
    >>> testing.assert_close(np.float32([1e8, 1]), np.float32([1e8, 2]), ulp=1)
    """
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, expected {want.dtype}"
    same = same_bits(got, want)
    if ulp and dtypes.kind(got.dtype) in ("float", "complex"):
        wide, wanted = wider(got), wider(want)
        finite = np.abs(wanted[np.isfinite(wanted)])
        scale = float(finite.max(initial=0)) * float(dtypes.finfo(got.dtype).eps)
        with np.errstate(all="ignore"):
            same |= np.abs(wide - wanted) <= ulp * scale
    assert same.all(), f"{what}:\n{got}\nexpected\n{want}"


def show(bad: NDArray, operands: Sequence[NDArray], got: NDArray, want: NDArray) -> str:
    """The first few places where `bad` is true, with operands and results, for a failing test.

    >>> from hloom import testing
    >>> x = np.array([1, 2])
    >>> print(testing.show(x > 1, [x], x, x + 1))
    1 of 2 differ
      at np.int64(2): got np.int64(2), expected np.int64(3)
    """
    places = np.flatnonzero(bad)
    lines = [f"{len(places)} of {bad.size} differ"]
    flat, wanted = np.ravel(got), np.ravel(want)
    for i in places[:6]:
        given = ", ".join(repr(np.ravel(x)[i if np.size(x) > 1 else 0]) for x in operands)
        lines.append(f"  at {given}: got {flat[i]!r}, expected {wanted[i]!r}")
    return "\n".join(lines)
