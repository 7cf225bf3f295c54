"""Reductions: sums, products, extremes and their places, truth of all and any; counts.

Each takes `axis` (None: all, an integer, or a tuple), `keepdims`, and where NumPy has them `dtype`,
`initial` and `where`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from hloom.numpy.common import eager
from hloom.numpy.common.arguments import count_argument, dtype_argument, refuse_out
from hloom.numpy.common.operands import array_like
from hloom.numpy.common.reducing import (
    BOOL,
    along,
    cast,
    count,
    default_int,
    fit_initial,
    initial_argument,
    is_inexact,
    keep,
    kind_of,
    mask_argument,
    masked,
    reduced_axes,
    total_dtype,
)
from hloom.numpy.indexing.index_arrays import diagonals, matrices_of
from hloom.ops.common.linear import full, reduce_sum, reduce_sum_signed
from hloom.ops.pointwise.arithmetic import add, mul, sub
from hloom.ops.pointwise.binary import bitwise_and, bitwise_or
from hloom.ops.pointwise.binary import max as larger
from hloom.ops.pointwise.binary import min as smaller
from hloom.ops.reductions import reduce as lax
from hloom.ops.shapes.shape import reshape


# ---- sum and product ----------------------------------------------------------------------------
class Fold(NamedTuple):
    """A reduction with an identity: of numbers, and of bools, where `dtype=bool` asks for those."""

    identity: int
    numbers: tuple[Callable[..., Any], Callable[..., Any]]
    bools: tuple[Callable[..., Any], Callable[..., Any]]


SUM = Fold(0, (reduce_sum, add), (lax.reduce_or, bitwise_or))
PROD = Fold(1, (lax.reduce_prod, mul), (lax.reduce_and, bitwise_and))


def fold(
    name: str, how: Fold, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any,
    where: Any, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """The body of `sum` and `prod`."""
    refuse_out(name, out)
    a = array_like(name, a)
    axes = reduced_axes(name, axis, a.aval.ndim)
    shape = a.aval.shape
    if dtype is not None:
        wanted = dtype_argument(name, dtype)
    else:
        wanted = total_dtype(a.aval.dtype) if promote_integers else a.aval.dtype
    a = cast(a, wanted)
    signed = initial is not None and how is SUM and is_inexact(a)  # -0.0 and -0.0 are -0.0
    if where is not None:
        zero = complex(-0.0, -0.0) if kind_of(a) == "complex" else -0.0
        a = masked(a, mask_argument(name, where, shape), zero if signed else how.identity)
    reduce, combine = how.bools if wanted == BOOL else how.numbers
    found = reduce_sum_signed(a, axes) if signed else reduce(a, axes)
    if initial is not None:
        found = combine(found, initial_argument(name, initial, found))
    return keep(found, shape, axes, keepdims)


@eager.reduction
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False,
    initial: Any = None, where: Any = None, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """The sum over `axis`.

    Without `dtype`, bools and narrow integers are summed in the default integer, narrow floats in
    float32.  `initial` is added, `where` chooses elements.  Raises AxisError for an axis that is
    not there, ValueError for one given twice.  Differs from NumPy: the default integer is int32
    while 64-bit types are off.

    >>> jnp.sum(jnp.array([[1, 2], [3, 4]]), axis=0)
    Array([4, 6], dtype=int32)
    >>> jnp.sum(jnp.array([1.0, 2.0, 4.0]), where=jnp.array([True, False, True]))
    Array(5., dtype=float32)
    """
    return fold("sum", SUM, a, axis, dtype, out, keepdims, initial, where, promote_integers)


@eager.reduction
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False,
    initial: Any = None, where: Any = None, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """The product over `axis`.

    Parameters, dtypes and errors are those of `sum`.

    >>> jnp.prod(jnp.array([[1, 2], [3, 4]]), axis=1)
    Array([ 2, 12], dtype=int32)
    """
    return fold("prod", PROD, a, axis, dtype, out, keepdims, initial, where, promote_integers)


# ---- extremes -----------------------------------------------------------------------------------
class Extreme(NamedTuple):
    """A reduction without an identity; `worst(dtype)` is what no element is beyond."""

    ufunc: str
    reduce: Callable[..., Any]
    combine: Callable[..., Any]
    worst: Callable[..., Any]


MAX = Extreme("maximum", lax.reduce_max, larger, lax.lowest)
MIN = Extreme("minimum", lax.reduce_min, smaller, lax.highest)


def check_extreme(name: str, how: Extreme, shape: Any, axes: Any, initial: Any, where: Any) -> None:
    """Raise ValueError where there may be no element to take."""
    if initial is not None:
        return
    if where is not None:
        raise ValueError(
            f"{name}: reduction operation '{how.ufunc}' does not have an identity, so to use a "
            "where mask one has to "
            f"specify 'initial': jnp.{name}(x, where=mask, initial=0)"
        )
    if not count(shape, axes):
        raise ValueError(
            f"{name}: zero-size array to reduction operation {how.ufunc} which has no identity; "
            "pass initial="
        )


def extreme(
    name: str, how: Extreme, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    """The body of `max` and `min`."""
    refuse_out(name, out)
    a = array_like(name, a)
    shape = a.aval.shape
    axes = reduced_axes(name, axis, a.aval.ndim)
    check_extreme(name, how, shape, axes, initial, where)
    a = cast(a, a.aval.dtype)
    if where is not None:
        a = masked(a, mask_argument(name, where, shape), how.worst(a.aval.dtype))
    found = how.reduce(a, axes)
    if initial is not None:
        found = lax.with_initial(how.combine, found, initial_argument(name, initial, found))
    return keep(found, shape, axes, keepdims)


fitted_reduction = partial(eager.reduction, prepare=fit_initial)


@fitted_reduction
def max(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """The largest element over `axis`; NaN if there is one.

    Complex numbers compare by real, then by imaginary part.  `initial` is one more element, `where`
    chooses elements.  Raises ValueError over no elements without `initial`, AxisError for an axis
    that is not there.

    >>> jnp.max(jnp.array([[1, 2], [4, 3]]), axis=1)
    Array([2, 4], dtype=int32)
    """
    return extreme("max", MAX, a, axis, out, keepdims, initial, where)


@fitted_reduction
def min(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None,
    where: Any = None,
) -> Any:  # fmt: skip
    """The smallest element over `axis`; NaN if there is one.

    Parameters and errors are those of `max`.

    >>> jnp.min(jnp.array([[1, 2], [4, 3]]), axis=1)
    Array([1, 3], dtype=int32)
    """
    return extreme("min", MIN, a, axis, out, keepdims, initial, where)


amax = max
amin = min


@eager.reduction
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The range over `axis`: the largest element less the smallest; integers may wrap around.

    Raises ValueError over no elements, TypeError for bools.

    >>> jnp.ptp(jnp.array([[1, 5], [4, 2]]), axis=1)
    Array([4, 2], dtype=int32)
    """
    a = array_like("ptp", a)
    if kind_of(a) == "bool":
        raise TypeError(
            f"ptp: numpy boolean subtract is not supported; got {a.aval}. Convert: x.astype(int)."
        )
    largest = extreme("ptp", MAX, a, axis, out, keepdims, None, None)
    return sub(largest, extreme("ptp", MIN, a, axis, out, keepdims, None, None))


@eager.function
def minmax(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> tuple[Any, Any]:
    """The smallest and the largest element over `axis`, at once.

    Raises ValueError over no elements.

    >>> jnp.minmax(jnp.array([3, 1, 2]))
    (Array(1, dtype=int32), Array(3, dtype=int32))
    """
    smallest = extreme("minmax", MIN, a, axis, out, keepdims, None, None)
    return smallest, extreme("minmax", MAX, a, axis, out, keepdims, None, None)


# ---- truth --------------------------------------------------------------------------------------
def truth(
    name: str,
    reduce: Callable[..., Any],
    identity: bool,
    a: Any,
    axis: Any,
    out: Any,
    keepdims: Any,
    where: Any,
) -> Any:
    """The body of `any` and `all`."""
    refuse_out(name, out)
    a = array_like(name, a)
    shape = a.aval.shape
    axes = reduced_axes(name, axis, a.aval.ndim)
    a = cast(a, BOOL)
    if where is not None:
        a = masked(a, mask_argument(name, where, shape), identity)
    return keep(reduce(a, axes), shape, axes, keepdims)


@eager.reduction
def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Whether any element over `axis` is true: not zero; NaN is true.

    Over no elements it is False.  Raises AxisError for an axis that is not there.

    >>> jnp.any(jnp.array([[0, 0], [0, 2]]), axis=1)
    Array([False,  True], dtype=bool)
    """
    return truth("any", lax.reduce_or, False, a, axis, out, keepdims, where)


@eager.reduction
def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Any:
    """Whether all elements over `axis` are true: not zero; NaN is true.

    Over no elements it is True.  Raises AxisError for an axis that is not there.

    >>> jnp.all(jnp.array([[1, 0], [1, 2]]), axis=1)
    Array([False,  True], dtype=bool)
    """
    return truth("all", lax.reduce_and, True, a, axis, out, keepdims, where)


@eager.reduction
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements over `axis` are not zero; NaN counts.

    Raises AxisError for an axis that is not there.

    >>> jnp.count_nonzero(jnp.array([[1, 0], [1, 2]]), axis=1)
    Array([1, 2], dtype=int32)
    """
    a = array_like("count_nonzero", a)
    shape = a.aval.shape
    axes = reduced_axes("count_nonzero", axis, a.aval.ndim)
    counted = reduce_sum(cast(cast(a, BOOL), default_int()), axes)
    return keep(counted, shape, axes, keepdims)


# ---- places -------------------------------------------------------------------------------------
def place(name: str, find: Callable[..., Any], a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    """The body of `argmax` and `argmin`."""
    refuse_out(name, out)
    a = array_like(name, a)
    shape = a.aval.shape
    a, along_axis = along(name, a, axis)
    reduced = a.aval.shape
    others = [n for i, n in enumerate(reduced) if i != along_axis]
    if not reduced[along_axis]:
        raise ValueError(
            f"attempt to get {name} of an empty sequence: axis {axis} of shape {shape}"
        )
    dtype = default_int()
    found = full(others, 0, dtype) if 0 in others else find(a, along_axis, dtype)
    if not keepdims:
        return found
    return reshape(
        found, [1 if axis is None or i == along_axis else n for i, n in enumerate(shape)]
    )


@eager.reduction
def argmax(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The place of the largest element along `axis`, or in the flat array; the first of equals.

    NaN is largest.  The result is of the default integer dtype.  Raises ValueError over no
    elements, AxisError for an axis that is not there.

    >>> jnp.argmax(jnp.array([[1, 7], [4, 3]]), axis=1), jnp.argmax(jnp.array([1.0, jnp.nan, 9.0]))
    (Array([1, 0], dtype=int32), Array(1, dtype=int32))
    """
    return place("argmax", lax.argmax, a, axis, out, keepdims)


@eager.reduction
def argmin(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The place of the smallest element along `axis`, or in the flat array; the first of equals.

    The first NaN is taken where there is one.  Raises what `argmax` raises.

    >>> jnp.argmin(jnp.array([[1, 7], [4, 3]]), axis=1)
    Array([0, 1], dtype=int32)
    """
    return place("argmin", lax.argmin, a, axis, out, keepdims)


@eager.function(static=("offset", "axis1", "axis2", "dtype", "out"))
def trace(
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """The sum along a diagonal of the matrices that two axes span.

    Narrow integers are summed in the default integer dtype, unless `dtype` is given.

    Raises what `diagonal` raises.

    >>> jnp.trace(jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    refuse_out("trace", out)
    x = matrices_of("trace", a, axis1, axis2)
    found = diagonals(x, count_argument("trace", "offset", offset))
    return sum(found, axis=-1, dtype=dtype)
