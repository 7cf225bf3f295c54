"""Fourier transforms: NumPy's results, derivatives, batches, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from jaxlib import version

import hloom
from hloom import lax
from hloom.errors import EngineUnsupported
from hloom.testing import evaluate
from hloom.testing import normal as drawn
from tests.ops.linalg.matrices import assert_close

KINDS = ("FFT", "IFFT", "RFFT", "IRFFT")
LENGTHS = [(1,), (2,), (7,), (8,), (30,), (97,), (4, 6), (3, 5), (2, 3, 4), (3, 4, 5)]
NUMPY = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}


def operand(kind: str, lengths: tuple[int, ...], bits: int, batch: tuple[int, ...] = ()) -> Any:
    """Random numbers of the shape and dtype that the transform takes."""
    shape = (*lengths[:-1], lengths[-1] // 2 + 1) if kind == "IRFFT" else lengths
    dtype = f"float{bits}" if kind == "RFFT" else f"complex{2 * bits}"
    return drawn((*batch, *shape), dtype)


def by_numpy(kind: str, x: Any, lengths: tuple[int, ...]) -> Any:
    """In double precision, then in that of `x`."""
    wide = x.astype(np.result_type(x.dtype, np.float64))
    out = NUMPY[kind](wide, lengths, range(-len(lengths), 0))
    return out.astype(np.result_type(x.real.dtype, np.complex64) if out.dtype.kind == "c"
                      else x.real.dtype)  # fmt: skip


@pytest.mark.parametrize("engine", ["xla", "numpy"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_fft_is_numpys(kind: str, lengths: tuple[int, ...], bits: int, engine: str) -> None:
    for batch in ((), (3,), (2, 0)):
        x = operand(kind, lengths, bits, batch)
        got = evaluate(engine, lax.fft, x, kind, lengths)
        want = by_numpy(kind, x, lengths)
        assert got.dtype == want.dtype
        assert_close(got, want)


def interpreter_lacks(kind: str, lengths: tuple[int, ...], bits: int) -> bool:
    before_0_12 = version.__version_info__ < (0, 12)
    return (bits == 32 and before_0_12) or (kind == "IRFFT" and lengths[-1] % 2 == 1)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("lengths", [(1,), (2,), (7,), (8,), (4, 6), (3, 5), (2, 3, 4)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_interpreter_agrees_or_says_that_it_cannot(
    kind: str, lengths: tuple[int, ...], bits: int
) -> None:
    x = operand(kind, lengths, bits, (2,))
    if interpreter_lacks(kind, lengths, bits):
        with pytest.raises(EngineUnsupported, match="fft"):
            evaluate("reference", lax.fft, x, kind, lengths)
    else:
        got = evaluate("reference", lax.fft, x, kind, lengths)
        assert_close(got, by_numpy(kind, x, lengths))


def test_the_transpose_is_the_transposed_matrix() -> None:
    for kind in ("FFT", "IFFT"):
        matrix = np.asarray(lax.fft(np.eye(5, dtype=np.complex64), kind, (5,)))
        x = drawn((5,), "complex64")
        _, pull = hloom.vjp(lambda x, kind=kind: lax.fft(x, kind, (5,)), x)
        assert_close(pull(x)[0], matrix.T @ x)


def test_kinds_by_name_and_by_member() -> None:
    x = np.ones(4, np.complex64)
    for kind in (lax.FftType.FFT, "FFT", "fft"):
        np.testing.assert_array_equal(lax.fft(x, kind, (4,)), [4, 0, 0, 0])
    assert repr(lax.FftType.IRFFT) == "FftType.IRFFT"


def test_the_inverse_undoes_the_transform() -> None:
    z = drawn((3, 4, 6), "complex64")
    there = lax.fft(z, "FFT", (4, 6))
    assert_close(lax.fft(there, "IFFT", (4, 6)), z)
    x = drawn((3, 4, 5), "float32")
    assert_close(lax.fft(lax.fft(x, "RFFT", (4, 5)), "IRFFT", (4, 5)), x)


C4, F4 = np.ones(4, np.complex64), np.ones(4, np.float32)
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "a real operand": (lambda: lax.fft(F4, "FFT", (4,)), TypeError, r"complex64.*f32\[4\]"),
    "a complex operand": (lambda: lax.fft(C4, "RFFT", (4,)), TypeError, r"float32.*c64\[4\]"),
    "half precision": (
        lambda: lax.fft(F4.astype(np.float16), "RFFT", (4,)), TypeError, r"f16\[4\].*'float32'"
    ),
    "integers": (lambda: lax.fft(np.arange(4), "RFFT", (4,)), TypeError, "float32"),
    "another length": (lambda: lax.fft(C4, "FFT", (8,)), ValueError, r"sizes \(8,\); got c64\[4\]"),
    "the whole spectrum": (
        lambda: lax.fft(C4, "IRFFT", (4,)), ValueError, r"sizes \(3,\); got c64\[4\]"
    ),
    "four axes": (
        lambda: lax.fft(np.ones((1,) * 4, np.complex64), "FFT", (1,) * 4), ValueError, "1 to 3"
    ),
    "more axes than there are": (lambda: lax.fft(C4, "FFT", (1, 4)), ValueError, r"c64\[4\]"),
    "no point": (
        lambda: lax.fft(np.ones(0, np.complex64), "FFT", (0,)), ValueError, "at least one point"
    ),
    "a negative length": (lambda: lax.fft(C4, "FFT", (-4,)), ValueError, "at least one point"),
    "an unknown kind": (lambda: lax.fft(C4, "DCT", (4,)), ValueError, "FftType.FFT.*'DCT'"),
    "a float length": (lambda: lax.fft(C4, "FFT", (4.0,)), TypeError, "integers"),
    "one length": (lambda: lax.fft(C4, "FFT", 4), TypeError, "sequence of integers"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    call, error, text = REFUSED[what]
    with pytest.raises(error, match=text):
        call()
