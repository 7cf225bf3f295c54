"""convolve and correlate.

Both are XLA's convolution of a signal with zeros around it.  NumPy has no such zeros: an infinity
or NaN in the kernel that met one would make a result NaN where NumPy has a number.  So the ends are
made again in that case, and only then, of the products of elements that are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.control.cond.branches import cond
from hloom.numpy.common import eager
from hloom.numpy.common.reducing import weak_as
from hloom.numpy.products.contraction import is_bool, operands_of, product, total
from hloom.ops.common.linear import broadcast_in_dim, constant, spread_scalar
from hloom.ops.pointwise.binary import bitwise_or
from hloom.ops.pointwise.compare import ge, select
from hloom.ops.pointwise.complex import conj, imag, real
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.pointwise.unary import bitwise_not, is_finite
from hloom.ops.products.convolution import conv_general_dilated
from hloom.ops.reductions.reduce import reduce_or
from hloom.ops.shapes.shape import broadcasted_iota, reshape, rev
from hloom.ops.shapes.slicing import concatenate, pad, slice_in_dim

F32 = np.dtype("float32")
LONGEST = 2048  # elements of a kernel; beyond, making the ends again would take too much memory
MODES = {"valid": "valid", "same": "same", "full": "full", 0: "valid", 1: "same", 2: "full"}


def _mode(name: str, mode: Any) -> str:
    try:
        return MODES[mode]
    except (KeyError, TypeError):
        raise ValueError(
            f"{name}: Use one of 'valid', 'same', or 'full' for convolve/correlate mode; "
            f"got {mode!r:.60}"
        ) from None


def _vectors(name: str, a: Any, v: Any, preferred: Any) -> list[Any]:
    vectors = []
    for x, letter in zip(operands_of(name, a, v, preferred=preferred), "av"):
        if x.aval.ndim > 1:
            raise ValueError(f"{name}: object too deep for desired array: {letter} is {x.aval}")
        if not x.aval.size:
            raise ValueError(f"{name}: {letter} cannot be empty")
        vectors.append(reshape(x, (x.aval.size,)))
    return vectors


@eager.function(static=("mode", "precision", "preferred_element_type"))
def convolve(
    a: Any,
    v: Any,
    mode: Any = "full",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The sums of `a[i] * v[n - i]` for every n: of one vector with the other turned round.

    "full" gives every place where the two overlap, "valid" those where the shorter lies wholly
    within the longer, "same" as many as the longer has, from the middle.

    Raises ValueError for empty arrays, more than one axis, or another mode.

    >>> jnp.convolve(jnp.array([1, 2, 1]), jnp.ones(4))
    Array([1., 3., 4., 4., 3., 1.], dtype=float32)
    """
    how = _mode("convolve", mode)
    x, y = _vectors("convolve", a, v, preferred_element_type)
    if y.aval.size > x.aval.size:
        x, y = y, x
    found = _placed(x, y, how, False, precision, preferred_element_type)
    return weak_as(found, x, y) if preferred_element_type is None else found


@eager.function(static=("mode", "precision", "preferred_element_type"))
def correlate(
    a: Any,
    v: Any,
    mode: Any = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """The sums of `a[n + i] * conj(v[i])` for every n: of one vector with the other moved along.

    Modes and errors are those of `convolve`.

    >>> jnp.correlate(jnp.array([1, 2, 3]), jnp.array([0, 1, 2]), "full")
    Array([2, 5, 8, 3, 0], dtype=int32)
    """
    how = _mode("correlate", mode)
    x, y = _vectors("correlate", a, v, preferred_element_type)
    y = rev(conj(y) if y.aval.kind == "complex" else y, (0,))
    swapped = y.aval.size > x.aval.size
    if swapped:
        x, y = y, x
    found = _placed(x, y, how, swapped, precision, preferred_element_type)
    return weak_as(found, x, y) if preferred_element_type is None else found


def _placed(x: Any, y: Any, mode: str, later: bool, precision: Any, preferred: Any) -> Any:
    """The part of the convolution that a mode gives; `later`: the middle is rounded up."""
    n, k = x.aval.size, y.aval.size
    if mode == "valid":
        return _convolution(x, y, 0, precision, preferred)
    full = _convolution(x, y, k - 1, precision, preferred)
    if 1 < k <= LONGEST and dtypes.in_domain(x.aval.dtype, "inexact"):
        doubtful = reduce_or(is_not_finite(y), (0,))
        full = cond(doubtful, _with_exact_ends, lambda full, x, y: full, full, x, y)
    if mode == "full":
        return full
    start = k // 2 if later else (k - 1) // 2
    return slice_in_dim(full, start, start + n)


def _convolution(x: Any, y: Any, padding: int, precision: Any, preferred: Any) -> Any:
    """XLA's: f32[n], f32[k] --> f32[n-k+1+2*padding]"""
    if is_bool(x):
        counts = _convolution(*(convert_element_type(z, F32) for z in (x, y)), padding, None, None)
        return convert_element_type(counts, np.dtype(bool))
    signal, kernel = (reshape(z, (1, 1, z.aval.size)) for z in (x, rev(y, (0,))))
    found = conv_general_dilated(
        signal, kernel, (1,), [(padding, padding)],
        precision=precision, preferred_element_type=preferred,
    )  # fmt: skip
    return reshape(found, (found.aval.size,))


def is_not_finite(x: Any) -> Any:
    """Where elements are NaN or infinite."""
    if x.aval.kind == "complex":
        return bitwise_or(is_not_finite(real(x)), is_not_finite(imag(x)))
    return bitwise_not(is_finite(x))


def _with_exact_ends(full: Any, x: Any, y: Any) -> Any:
    """The convolution with its first and last k - 1 results made without padding."""
    m, size = y.aval.size - 1, full.aval.size
    inner = slice_in_dim(full, m, size - m)
    left = _beginning(x, y, full.aval.dtype)
    right = rev(_beginning(rev(x, (0,)), rev(y, (0,)), full.aval.dtype), (0,))
    return concatenate([left, inner, right], 0)


def _beginning(x: Any, y: Any, dtype: Any) -> Any:
    """The first k - 1 results, of the elements that are there: f32[n], f32[k] --> f32[k-1]

    Row o of a matrix is x[o], x[o - 1], ..: the same numbers, moved by one from row to row, which a
    vector repeated and cut into rows one shorter gives.
    """
    m = y.aval.size - 1
    wide = F32 if dtypes.kind(dtype) == "float" and dtypes.bits(dtype) < 32 else dtype
    x, y = (convert_element_type(slice_in_dim(z, 0, m), wide) for z in (x, y))
    zero = constant(False if is_bool(x) else 0, wide)
    backwards = rev(pad(x, zero, [(m, 0, 0)]), (0,))
    flat = reshape(broadcast_in_dim(backwards, (m, 2 * m), (1,)), (m * 2 * m,))
    width = 2 * m - 1
    rows = reshape(slice_in_dim(flat, m - 1, m - 1 + m * width), (m, width))
    products = product(slice_in_dim(rows, 0, m, 1, 1), broadcast_in_dim(y, (m, m), (1,)))
    there = ge(*[broadcasted_iota(np.int32, (m, m), axis) for axis in (0, 1)])
    chosen = select(there, products, spread_scalar(zero, (m, m)))
    return convert_element_type(total(chosen, (1,)), dtype)
