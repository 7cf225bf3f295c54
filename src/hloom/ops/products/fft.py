"""Discrete Fourier transforms over the last axes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.support.strict import strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.elementwise import part_dtype
from hloom.ops.common.linear import Linear, move
from hloom.ops.pointwise.arithmetic import mul
from hloom.ops.pointwise.compare import eq, pick
from hloom.ops.pointwise.complex import conj, real
from hloom.ops.shapes.shape import broadcasted_iota, integers
from hloom.ops.shapes.slicing import pad


class FftType(Enum):
    """Kinds of Fourier transform: forward and inverse, of complex numbers and from or to real ones.

    >>> lax.FftType.RFFT
    FftType.RFFT
    """

    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"

    def __repr__(self) -> str:
        return f"FftType.{self.name}"


FFT, IFFT, RFFT, IRFFT = (kind.value for kind in FftType)
MOST_AXES = 3  # XLA's limit

_NUMPY = {FFT: np.fft.fftn, IFFT: np.fft.ifftn, RFFT: np.fft.rfftn, IRFFT: np.fft.irfftn}


class Fft(Linear):
    """c64[5,8] -- fft_type="FFT", fft_lengths=(8,) --> c64[5,8].

    RFFT takes f32[5,8] and gives c64[5,5], the half that is not the conjugate of the rest; IRFFT
    the other way.  The inverses divide by the number of points.
    """

    def infer(self, x: ShapedArray, *, fft_type: str, fft_lengths: tuple[int, ...]) -> ShapedArray:
        where = f"fft of type {fft_type} over lengths {fft_lengths}"
        if fft_type not in _NUMPY:
            raise ValueError(f"fft takes fft_type {', '.join(_NUMPY)}; got {fft_type!r} for {x}")
        _check_dtype(where, x, fft_type)
        if not 1 <= len(fft_lengths) <= MOST_AXES or len(fft_lengths) > x.ndim:
            raise ShapeError(
                f"{where}: it takes 1 to {MOST_AXES} of the last axes; got {x}. For more axes do "
                "it again, with the others moved to the end."
            )
        if min(fft_lengths) < 1:
            raise ShapeError(f"{where}: a transform has at least one point")
        *rest, last = fft_lengths
        half = (*rest, last // 2 + 1)
        given = half if fft_type == IRFFT else fft_lengths
        leading = x.shape[: x.ndim - len(given)]
        if x.shape[len(leading) :] != given:
            raise ShapeError(
                f"{where}: the last axes need sizes {given}; got {x}. Cut it, or fill it up, with "
                "lax.slice or lax.pad."
            )
        if fft_type == RFFT:
            return ShapedArray((*leading, *half), np.result_type(x.dtype, np.complex64))
        if fft_type == IRFFT:
            return ShapedArray((*leading, *fft_lengths), part_dtype(x.dtype))
        return x.strong()

    def numpy(self, x: Any, *, fft_type: str, fft_lengths: tuple[int, ...]) -> Any:
        axes = range(-len(fft_lengths), 0)
        return _NUMPY[fft_type](x, fft_lengths, axes)

    def emit(
        self, block: Any, out: ShapedArray, x: Any, *, fft_type: str, fft_lengths: tuple[int, ...]
    ) -> Any:
        if not out.size:
            return block.constant(0, out)
        head = f"stablehlo.fft {x}, type = {fft_type}, length = {list(fft_lengths)}"
        return block.op(head, (x,), out)

    def transpose(
        self, ct: Any, x: Any, *, fft_type: str, fft_lengths: tuple[int, ...]
    ) -> list[Any]:
        if fft_type == RFFT:
            return [_transposed_rfft(ct, fft_lengths)]
        if fft_type == IRFFT:
            return [_transposed_irfft(ct, fft_lengths)]
        return [self(ct, fft_type=fft_type, fft_lengths=fft_lengths)]  # a symmetric matrix

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], **params: Any
    ) -> tuple[Any, int]:
        return self(move(operands[0], batch_axes[0], 0), **params), 0


def _check_dtype(where: str, x: ShapedArray, fft_type: str) -> None:
    takes = "float" if fft_type == RFFT else "complex"
    if dtypes.kind(x.dtype) == takes and dtypes.bits(x.dtype) >= 32:
        return
    wanted = ("float32", "float64") if fft_type == RFFT else ("complex64", "complex128")
    raise ArgumentError(
        f"{where}: it takes {' or '.join(wanted)}; got {x}. Convert first: "
        f"lax.convert_element_type(x, {wanted[0]!r})."
    )


def _transposed_rfft(ct: Any, fft_lengths: tuple[int, ...]) -> Any:
    """What was cut off gets zeros; and what is imaginary had no part in it."""
    ndim, last = ct.aval.ndim, fft_lengths[-1]
    config = [(0, 0, 0)] * (ndim - 1) + [(0, last - ct.aval.shape[-1], 0)]
    return real(fft_p(pad(ct, 0, config), fft_type=FFT, fft_lengths=fft_lengths))


def _transposed_irfft(ct: Any, fft_lengths: tuple[int, ...]) -> Any:
    """Each point but the first, and the middle one, counts for itself and its conjugate."""
    spectrum = conj(fft_p(ct, fft_type=RFFT, fft_lengths=fft_lengths))
    last, share = fft_lengths[-1], 1 / prod(fft_lengths)
    shape = spectrum.aval.shape
    place = broadcasted_iota(np.dtype("int32"), shape, len(shape) - 1)
    once, twice = mul(spectrum, share), mul(spectrum, 2 * share)
    made = pick(eq(place, 0), once, twice)
    return made if last % 2 else pick(eq(place, last // 2), once, made)


fft_p = Fft("fft")


@strict
def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
    """The discrete Fourier transform over the last axes, at most three, which have `fft_lengths`.

    `fft_type` is `lax.FftType.FFT`, `IFFT`, `RFFT` or `IRFFT`, or its name.  FFT and IFFT take and
    give complex64 or complex128; RFFT takes floats and gives n // 2 + 1 complex numbers along its
    last axis; IRFFT the other way, `fft_lengths` being those of its result.  The inverses divide by
    the number of points.  Over no axes the operand is the result.  Raises TypeError for other
    dtypes, ValueError for an unknown type and for sizes that do not fit.

    >>> lax.fft(jnp.array([1.0, 2.0, 1.0, 0.0]), lax.FftType.RFFT, (4,))
    Array([4.+0.j, 0.-2.j, 0.+0.j], dtype=complex64)
    """
    name = fft_type.value if isinstance(fft_type, FftType) else str(fft_type).upper()
    if name not in _NUMPY:
        raise ValueError(f"fft takes one of {list(FftType)} or its name; got {fft_type!r}")
    lengths = integers("fft", "fft_lengths", fft_lengths)
    operand = as_array(x)
    if not lengths:
        _check_dtype("fft over no axes", operand.aval, FFT if name == IRFFT else name)
        return operand
    return fft_p(operand, fft_type=name, fft_lengths=lengths)
