"""Conversions: by value, by bits, and to fewer digits within a dtype."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from hloom import dtypes, tree
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import as_array
from hloom.core.primitive import Primitive
from hloom.core.support.source import warn
from hloom.core.support.strict import strict
from hloom.ops.common import linear
from hloom.ops.common.elementwise import Elementwise, Pointwise, part_dtype
from hloom.ops.common.expression import FLOAT32, FLOAT64, Term, complex_of, magnitude, where
from hloom.ops.common.linear import (
    Linear,
)


# ---- by value --------------------------------------------------------------------------------
def _to_odd_float32(x: Term) -> Term:
    """f64 in f32, rounded to odd: a second rounding, to 16 bits, then rounds as the only one would.

    What f32 can't hold is truncated, and its last bit set.
    """
    near = x.to(FLOAT32)
    inexact = near.to(FLOAT64) != x
    too_far = magnitude(near.to(FLOAT64)) > magnitude(x)
    bits = near.bits()
    truncated = where(too_far, bits - 1, bits) | 1
    return where(inexact & (x == x), truncated, bits).cast(FLOAT32)


def convert(x: Term, dtype: np.dtype[Any]) -> Term:
    """The lowering of `convert_element_type`."""
    source, target = dtypes.kind(x.dtype), dtypes.kind(dtype)
    if target == "bool":
        if source == "float" and dtypes.bits(x.dtype) <= 8:
            x = x.to(FLOAT32)  # float8_e8m0fnu has no zero to compare with
        return x if source == "bool" else x != 0
    if source == "complex" and target != "complex":
        return convert(x.real, dtype)
    if target == "complex" and source != "complex":
        return complex_of(convert(x, part_dtype(dtype)), 0.0)
    if x.dtype == FLOAT64 and target == "float" and dtypes.bits(dtype) == 16:
        return _to_odd_float32(x).to(dtype)  # XLA rounds twice, through f32
    return x.to(dtype)


def numpy_convert(x: Any, dtype: np.dtype[Any]) -> Any:
    """The definition of `convert_element_type`: NumPy's `astype`, but floats saturate in integers.

    bfloat16 and float8, which ml_dtypes before 0.7 reaches from f64 by two roundings, are rounded
    to once; integers go to bfloat16 by way of f32, as in XLA.
    """
    source, target = dtypes.kind(x.dtype), dtypes.kind(dtype)
    if target == "bool":
        return x != np.zeros((), x.dtype)
    if source == "complex" and target != "complex":
        return numpy_convert(x.real, dtype)
    if source == "float" and dtypes.bits(x.dtype) < 32:
        x = x.astype(np.float32)  # exact
    elif dtypes.bits(x.dtype) < 8 and source != "bool":
        x = x.astype(np.int8)  # exact; ml_dtypes does not convert its integers into one another
    if source == "float" and target in ("signed", "unsigned"):
        return _saturated(x, dtype)
    if x.dtype == FLOAT64 and target == "float" and dtypes.bits(dtype) <= 16:
        x = _numpy_to_odd(x) if dtype != np.float16 else x
    if source in ("signed", "unsigned") and dtype.name == "bfloat16":
        x = x.astype(np.float32)
    return np.asarray(x.astype(dtype))


def _saturated(x: Any, dtype: np.dtype[Any]) -> Any:
    """Float to integer: truncated, clamped to the range of the dtype, NaN to 0."""
    info = dtypes.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    whole = np.trunc(x)
    inside = (whole >= low) & (whole < float(high) + 1) & (x == x)
    wide = np.where(inside, whole, 0).astype(np.uint64 if low == 0 else np.int64)
    result = wide.astype(dtype)
    result = np.where(whole >= float(high) + 1, np.array(high).astype(dtype), result)
    return np.where(whole < low, np.array(low).astype(dtype), result)


def _numpy_to_odd(x: Any) -> Any:
    near = x.astype(np.float32)
    bits = near.view(np.int32) if near.ndim else near[None].view(np.int32)[0]
    truncated = (bits - (abs(near.astype(np.float64)) > abs(x))) | 1
    inexact = (near.astype(np.float64) != x) & (x == x)
    return np.asarray(np.where(inexact, truncated, bits).astype(np.int32)).view(np.float32)


class ConvertElementType(Pointwise):
    """f32[3] -- new_dtype=int32, weak_type=False --> i32[3].  Converts by value."""

    def infer(self, x: ShapedArray, *, new_dtype: np.dtype[Any], weak_type: bool) -> ShapedArray:
        return ShapedArray(x.shape, new_dtype, weak_type)

    def numpy(self, x: Any, *, new_dtype: np.dtype[Any], weak_type: bool) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(numpy_convert(x, new_dtype))

    def emit(
        self, block: Any, out: ShapedArray, x: Any, *, new_dtype: np.dtype[Any], weak_type: bool
    ) -> Any:
        return convert(Term(block, x), new_dtype).operand

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        out = self(*primals, **params)
        differentiable = out.aval.dtype in dtypes.DOMAINS["inexact"]
        return out, self(*tangents, **params) if differentiable else None

    def transpose(self, ct: Any, x: Any, **params: Any) -> list[Any]:
        # Between real and complex this takes, or makes, the real part: what the pairing asks for.
        return [self(ct, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type)]


convert_element_type_p = ConvertElementType("convert_element_type")


@strict
def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """The same values in another dtype: rounded to the nearest, ties to even; float to integer
    rounded towards zero.

    Takes and gives any dtype, a 64-bit one only while those are on.  Complex to real drops the
    imaginary part, with a ComplexWarning.  Differs from NumPy: a float beyond the range of an
    integer dtype becomes its nearest integer, and NaN 0.

    >>> lax.convert_element_type(jnp.array([-1.5, 2.7, 1e10, jnp.nan]), "int32")
    Array([        -1,          2, 2147483647,          0], dtype=int32)
    """
    dtype = dtypes.canonicalize(new_dtype, current.get().config.enable_x64)
    if operand.__class__ is int and dtypes.in_domain(dtype, "inexact"):
        operand = float(operand)  # of any size
    operand = as_array(operand)
    if operand.aval.dtype == dtype and not operand.aval.weak_type:
        return operand
    complex_lost = dtypes.kind(dtype) not in ("complex", "bool")
    if operand.aval.kind == "complex" and complex_lost:
        warn(
            f"convert_element_type of {operand.aval} to {dtype.name} discards the imaginary part; "
            "take lax.real(x) first",
            np.exceptions.ComplexWarning,
        )
    return convert_element_type_p(operand, new_dtype=dtype, weak_type=False)


# ---- by bits ---------------------------------------------------------------------------------
class BitcastConvertType(Primitive):
    """f32[3] -- new_dtype=int32 --> i32[3].  The same bits in another dtype.

    A narrower dtype adds a last axis, the least significant part first; a wider one takes it.
    """

    def infer(self, x: ShapedArray, *, new_dtype: np.dtype[Any]) -> ShapedArray:
        if x.dtype == new_dtype:
            return x.strong()
        for dtype in (x.dtype, new_dtype):
            if dtypes.kind(dtype) in ("bool", "complex"):
                raise TypeError(
                    f"bitcast_convert_type takes and gives integers and floats; got {x} to "
                    f"{new_dtype.name}. Convert by value: lax.convert_element_type."
                )
        old, new = dtypes.bits(x.dtype), dtypes.bits(new_dtype)
        if old == new:
            return ShapedArray(x.shape, new_dtype)
        if any(dtypes.kind(d) == "float" and dtypes.bits(d) < 8 for d in (x.dtype, new_dtype)):
            raise TypeError(  # XLA's bitcast of a 4-bit float to another width does not compile
                f"bitcast_convert_type of 4-bit floats takes and gives 4 bits; got {x} to "
                f"{new_dtype.name}. Convert by value: lax.convert_element_type."
            )
        if new < old:
            return ShapedArray((*x.shape, old // new), new_dtype)
        if x.shape[-1:] != (new // old,):
            raise ValueError(
                f"bitcast_convert_type of {x} to {new_dtype.name} joins {new // old} elements, so "
                "the last axis must have that size. Make one: "
                f"lax.reshape(x, (.., {new // old}))."
            )
        return ShapedArray(x.shape[:-1], new_dtype)

    def numpy(self, x: Any, *, new_dtype: np.dtype[Any]) -> Any:
        out = self.infer(ShapedArray(x.shape, x.dtype), new_dtype=new_dtype)
        if min(dtypes.bits(x.dtype), dtypes.bits(new_dtype)) < 8:
            return _fields(np.ascontiguousarray(x), new_dtype).reshape(out.shape)
        return np.ascontiguousarray(x).reshape(-1).view(new_dtype).reshape(out.shape)

    def emit(self, block: Any, out: ShapedArray, x: Any, *, new_dtype: np.dtype[Any]) -> Any:
        return x if x.aval.dtype == new_dtype else block.bitcast(x, new_dtype)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        return self(*primals, **params), None

    def transpose(self, ct: Any, x: Any, **params: Any) -> list[Any]:
        return [None]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], **params: Any
    ) -> tuple[Any, int]:
        return self(linear.move(operands[0], batch_axes[0] or 0, 0), **params), 0


def _fields(x: Any, new_dtype: np.dtype[Any]) -> Any:
    """The bits in another dtype where either has fewer than 8, which NumPy keeps in a byte each."""
    old, new = dtypes.bits(x.dtype), dtypes.bits(new_dtype)
    count = max(old, new) // min(old, new)
    shifts = np.arange(count, dtype=np.uint64) * np.uint64(min(old, new))
    bits = x.reshape(-1).view(f"u{x.dtype.itemsize}").astype(np.uint64)
    if new < old:
        bits = bits[:, None] >> shifts
    elif new > old:
        bits = ((bits & np.uint64(2**old - 1)).reshape(-1, count) << shifts).sum(1)
    return (bits & np.uint64(2**new - 1)).astype(f"u{new_dtype.itemsize}").view(new_dtype)


bitcast_convert_type_p = BitcastConvertType("bitcast_convert_type")


@strict
def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The same bits in another dtype.

    Takes and gives integers and floats.  A narrower dtype adds a last axis, the least significant
    part first; a wider one joins the elements of the last axis.  Raises TypeError for bool and
    complex, ValueError where the last axis does not fit.  It has no derivative.

    >>> lax.bitcast_convert_type(jnp.array([1.0, -0.0]), "uint32")
    Array([1065353216, 2147483648], dtype=uint32)
    """
    operand = as_array(operand)
    dtype = dtypes.canonicalize(new_dtype, current.get().config.enable_x64)
    return bitcast_convert_type_p(operand, new_dtype=dtype)


# ---- to fewer digits -------------------------------------------------------------------------
def _mantissa_bits(dtype: np.dtype[Any]) -> int:
    return int(dtypes.finfo(dtype).nmant)


def _numpy_reduce_precision(x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    """XLA's definition, on the bits: round the mantissa to even, then bring the exponent in."""
    if dtypes.bits(x.dtype) < 16:  # whose bits have exceptions
        params = {"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits}
        return _numpy_reduce_precision(x.astype(np.float32), **params).astype(x.dtype)
    width, digits = dtypes.bits(x.dtype), _mantissa_bits(x.dtype)
    exponent_bits = min(exponent_bits, width)
    bits = np.ascontiguousarray(x).view(f"u{width // 8}").astype(np.uint64).reshape(x.shape)
    sign, rest = bits & np.uint64(1 << (width - 1)), bits & np.uint64((1 << (width - 1)) - 1)
    infinity = ((1 << (width - 1 - digits)) - 1) << digits
    dropped = digits - mantissa_bits
    if dropped > 0:
        last = (rest >> np.uint64(dropped)) & np.uint64(1)
        rest = rest + last + np.uint64((1 << (dropped - 1)) - 1)
        rest = rest & np.uint64(~((1 << dropped) - 1) & (2**64 - 1))
    bias = (1 << (width - 2 - digits)) - 1
    reach = (1 << (exponent_bits - 1)) - 1
    if reach < bias:
        exponent = rest & np.uint64(infinity)
        rest = np.where(exponent > np.uint64((bias + reach) << digits), np.uint64(infinity), rest)
        rest = np.where(exponent <= np.uint64((bias - reach) << digits), np.uint64(0), rest)
    reduced = (rest | sign).astype(f"u{width // 8}")
    return np.where(x == x, np.asarray(reduced).view(x.dtype), x)


def _write_reduce_precision(x: Term, *, exponent_bits: int, mantissa_bits: int) -> Term:
    head = f"stablehlo.reduce_precision {x.operand}, format = e{exponent_bits}m{mantissa_bits}"
    operand = x.operand
    return Term(x.block, x.block.op(head, [operand], operand.aval))


class ReducePrecision(Elementwise):
    """f32[3] -- exponent_bits=5, mantissa_bits=10 --> f32[3].  Rounds as a narrower float would."""

    def infer(self, x: ShapedArray, *, exponent_bits: int, mantissa_bits: int) -> ShapedArray:
        if not (1 <= exponent_bits < 2**31 and 0 <= mantissa_bits < 2**31):
            raise ValueError(
                "reduce_precision needs at least 1 exponent bit and 0 mantissa bits, as i32; got "
                f"exponent_bits={exponent_bits}, mantissa_bits={mantissa_bits}"
            )
        return super().infer(x)


reduce_precision_p = ReducePrecision(
    "reduce_precision",
    formula=_write_reduce_precision,
    numpy=_numpy_reduce_precision,
    jvp=[lambda t, out, x, **params: reduce_precision_p(t, **params)],
    transpose=[lambda ct, x, **params: reduce_precision_p(ct, **params)],
    domain="float",
    narrow=True,
)


@strict
def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """The value rounded as a float of so many exponent and mantissa bits would hold it.

    Takes and gives floats; beyond the exponent's range lie infinity and zero.  Raises TypeError
    for other dtypes, ValueError for fewer than 1 exponent bit or 0 mantissa bits.

    >>> lax.reduce_precision(jnp.array([1.2345678, 1e6]), exponent_bits=5, mantissa_bits=10)
    Array([1.234375,      inf], dtype=float32)
    """
    return reduce_precision_p(
        operand, exponent_bits=index(exponent_bits), mantissa_bits=index(mantissa_bits)
    )


# ---- pass through ---------------------------------------------------------------------------
class Copy(Linear):
    """f32[2] --> f32[2].  The same values."""

    def infer(self, x: ShapedArray) -> ShapedArray:
        return x

    def numpy(self, x: Any) -> Any:
        return np.array(x)

    def emit(self, block: Any, out: ShapedArray, x: Any) -> Any:
        return x

    def transpose(self, ct: Any, x: Any) -> list[Any]:
        return [ct]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any]
    ) -> tuple[Any, int]:
        return self(operands[0]), batch_axes[0]


class StopGradient(Copy):
    """f32[2] --> f32[2].  The same values, with a zero tangent."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        return self(*primals, **params), None  # applied again: it stops derivatives of every order


copy_p = Copy("copy")


stop_gradient_p = StopGradient("stop_gradient")


@strict
def copy(x: Any) -> Any:
    """The same values in a buffer of their own.

    >>> lax.copy(jnp.arange(2))
    Array([0, 1], dtype=int32)
    """
    return copy_p(x)


@strict
def stop_gradient(x: Any) -> Any:
    """The same values, through which no derivative flows; `x` may be a pytree of arrays.

    >>> hloom.grad(lambda x: x * lax.stop_gradient(x))(jnp.float32(3))
    Array(3., dtype=float32)
    """
    return tree.map(_stop_gradient, x)


def _stop_gradient(x: Any) -> Any:
    x = as_array(x)
    return stop_gradient_p(x) if dtypes.in_domain(x.aval.dtype, "inexact") else x
