"""dot_general: products summed over pairs of axes; matrix products are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import Primitive, is_linear
from hloom.core.support.strict import refuse_sharding, strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.elementwise import check_domain, check_same_dtype
from hloom.ops.common.linear import broadcast_in_dim, inverse, move, plus, transpose
from hloom.ops.common.reduction_layouts import fold
from hloom.ops.pointwise.arithmetic import mul
from hloom.ops.pointwise.convert import (
    convert_element_type,
    convert_element_type_p,
    reduce_precision_p,
)
from hloom.ops.products.precision import (
    DotAlgorithm,
    DotAlgorithmPreset,
    algorithm_of,
    canonical_precision,
    check_algorithm,
    format_of,
    precision_of_derivative,
    working_dtype,
)
from hloom.ops.shapes.shape import array_dtype, integers, reshape

Axes = tuple[int, ...]
Numbers = tuple[tuple[Axes, Axes], tuple[Axes, Axes]]
Precisions = tuple[str, str] | DotAlgorithm | DotAlgorithmPreset | None

#: Which axes `dot_general` sums over and which it keeps apart: `((lhs contracted, rhs contracted),
#: (lhs batch, rhs batch))`.
DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]


def accumulation_dtype(name: str, dtype: np.dtype[Any], preferred: Any) -> np.dtype[Any]:
    """The result's dtype: the operands', or a preferred one of their kind that is not narrower."""
    if preferred is None:
        return dtype
    wanted = array_dtype(preferred)
    kinds = {dtypes.kind(dtype), dtypes.kind(wanted)}
    same = len(kinds) == 1 or kinds == {"signed", "unsigned"} or "bool" in kinds
    integer_to_float = dtypes.in_domain(dtype, "integer") and dtypes.in_domain(wanted, "float")
    if not (same or integer_to_float) or dtypes.bits(wanted) < dtypes.bits(dtype):
        raise ArgumentError(
            f"{name}: preferred_element_type must be of the operands' kind and not narrower; "
            f"got {wanted.name} for operands of {dtype.name}"
        )
    return wanted


_RANKS = {"bool": 0, "unsigned": 1, "signed": 1, "float": 2, "complex": 3}


def _rank(x: Any) -> tuple[int, int, bool]:
    """Of two dtypes of one kind the wider is higher; at one width bfloat16, and the signed one."""
    dtype = x.aval.dtype
    kind = dtypes.kind(dtype)
    return _RANKS[kind], dtypes.bits(dtype), dtype.name != "float16" and kind != "unsigned"


def of_one_dtype(lhs: Any, rhs: Any) -> tuple[Any, Any]:
    """The operands of a product, converted to the higher of their dtypes."""
    if lhs.aval.dtype == rhs.aval.dtype:
        return lhs, rhs
    dtype = max(lhs, rhs, key=_rank).aval.dtype
    lhs, rhs = [
        x if x.aval.dtype == dtype
        else convert_element_type_p(x, new_dtype=dtype, weak_type=x.aval.weak_type)
        for x in (lhs, rhs)
    ]  # fmt: skip
    return lhs, rhs


def rounded_dtype(dtype: np.dtype[Any], preferred: Any) -> np.dtype[Any] | None:
    """A preferred float narrower than the operands': the sum is rounded to it once, at the end."""
    if preferred is None:
        return None
    wanted = array_dtype(preferred)
    floats = dtypes.kind(dtype) == dtypes.kind(wanted) == "float"
    return wanted if floats and dtypes.bits(wanted) < dtypes.bits(dtype) else None


def free_axes(ndim: int, contract: Axes, batch: Axes) -> Axes:
    """The axes that are neither contracted nor batch axes."""
    return tuple(i for i in range(ndim) if i not in contract and i not in batch)


def _check_pairs(text: str, what: str, lhs: Any, rhs: Any, pairs: tuple[Axes, Axes]) -> None:
    lhs_axes, rhs_axes = pairs
    if len(lhs_axes) != len(rhs_axes):  # StableHLO dot_general C1, C2
        raise ShapeError(f"{text}: {what} axes must pair up; got {lhs_axes} and {rhs_axes}")
    for name, aval, axes in (("lhs", lhs, lhs_axes), ("rhs", rhs, rhs_axes)):
        if any(not 0 <= a < aval.ndim for a in axes):  # C5 to C8
            raise ShapeError(
                f"{text}: {what} axes of {name} {aval} run from 0 to {aval.ndim - 1}; got {axes}"
            )
    for a, b in zip(lhs_axes, rhs_axes):
        if lhs.shape[a] != rhs.shape[b]:  # C9, C10
            raise ShapeError(
                f"{text} pairs {what} axis {a} of lhs {lhs} with axis {b} of rhs {rhs}, but "
                f"{lhs.shape[a]} != {rhs.shape[b]}."
            )


def check_axes(name: str, lhs: ShapedArray, rhs: ShapedArray, numbers: Numbers) -> None:
    """Raise unless axes pair up, with equal sizes, and none is named twice."""
    _check_pairs(name, "contracted", lhs, rhs, numbers[0])
    _check_pairs(name, "batch", lhs, rhs, numbers[1])
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    for side, axes in (("lhs", lhs_contract + lhs_batch), ("rhs", rhs_contract + rhs_batch)):
        if len(set(axes)) != len(axes):  # StableHLO dot_general C3, C4
            raise ShapeError(
                f"{name} takes each axis of {side} once, contracted or batch; got {axes}"
            )


class DotParameters(NamedTuple):
    """The parameters of `dot_general`, in the order of a Jaxpr."""

    dimension_numbers: Numbers
    preferred_element_type: np.dtype[Any]
    precision: Precisions = None

    def given(self) -> dict[str, Any]:
        """The parameters as a call gives them: precision only where there is one."""
        return {name: x for name, x in self._asdict().items() if x is not None}


class DotGeneral(Primitive):
    """(f32[2,3], f32[3,4]) -- dimension_numbers=(([1], [0]), ([], [])), .. --> f32[2,4].

    dimension_numbers is ((contracted axes of lhs, of rhs), (batch axes of lhs, of rhs)).  The
    result's axes: batch, free ones of lhs, free ones of rhs.
    """

    parameters = DotParameters

    def infer(self, lhs: ShapedArray, rhs: ShapedArray, p: DotParameters) -> ShapedArray:
        check_same_dtype("dot_general", (lhs, rhs))
        check_algorithm("dot_general", p.precision, lhs, rhs)
        check_axes("dot_general", lhs, rhs, p.dimension_numbers)
        (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = p.dimension_numbers
        shape = [lhs.shape[i] for i in lhs_batch]
        shape += [lhs.shape[i] for i in free_axes(lhs.ndim, lhs_contract, lhs_batch)]
        shape += [rhs.shape[i] for i in free_axes(rhs.ndim, rhs_contract, rhs_batch)]
        weak = lhs.weak_type and rhs.weak_type and p.preferred_element_type == lhs.dtype
        return ShapedArray(tuple(shape), p.preferred_element_type, weak)

    def numpy(self, lhs: Any, rhs: Any, p: DotParameters) -> Any:
        (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = p.dimension_numbers
        lhs_free = free_axes(lhs.ndim, lhs_contract, lhs_batch)
        rhs_free = free_axes(rhs.ndim, rhs_contract, rhs_batch)
        out = p.preferred_element_type
        wide = working_dtype(p.precision, out)
        lhs, rhs = (_numpy_rounded(x, p.precision, i) for i, x in enumerate((lhs, rhs)))
        batch = [lhs.shape[i] for i in lhs_batch]
        size = prod(lhs.shape[i] for i in lhs_contract)
        rows, columns = [lhs.shape[i] for i in lhs_free], [rhs.shape[i] for i in rhs_free]
        left = lhs.transpose(lhs_batch + lhs_free + lhs_contract).reshape(*batch, prod(rows), size)
        right = rhs.transpose(rhs_batch + rhs_contract + rhs_free).reshape(
            *batch, size, prod(columns)
        )
        with np.errstate(all="ignore"):
            found = np.matmul(left.astype(wide), right.astype(wide))
        return found.reshape((*batch, *rows, *columns)).astype(out, copy=False)

    def emit(self, block: Any, out: ShapedArray, lhs: Any, rhs: Any, p: DotParameters) -> Any:
        precision = p.precision
        if not lhs.aval.size or not rhs.aval.size:
            return block.constant(0, out)  # the interpreter aborts on an empty contraction
        # Narrow floats are summed in f32; in their own type a long sum stops growing.
        wide = working_dtype(precision, out.dtype)
        if algorithm_of(precision) is not None:
            lhs, rhs = (_write_rounded(block, x, precision, i) for i, x in enumerate((lhs, rhs)))
            precision = None
        if wide != lhs.aval.dtype:
            lhs, rhs = block.convert(lhs, wide), block.convert(rhs, wide)
        target = out.update(dtype=wide)
        found = write_product(block, target, lhs, rhs, p.dimension_numbers, precision)
        return block.convert(found, out.dtype)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        (x, y), (dx, dy) = primals, tangents
        first = None if dx is None else self(dx, y, **params)
        second = None if dy is None else self(x, dy, **params)
        return self(x, y, **params), plus(first, second)

    def transpose(self, ct: Any, x: Any, y: Any, p: DotParameters) -> list[Any]:
        (cx, cy), (bx, by) = p.dimension_numbers
        fx = free_axes(x.aval.ndim, cx, bx)
        fy = free_axes(y.aval.ndim, cy, by)
        batch = tuple(range(len(bx)))
        if is_linear(x):
            of_y = tuple(range(ct.aval.ndim - len(fy), ct.aval.ndim))
            numbers = (of_y, fy), (batch, by)
            left = [cx[i] for i in np.argsort(cy)]  # in the order in which y's axes are left
            return [_adjoint(ct, y, x.aval, numbers, (*bx, *fx, *left), p), None]
        of_x = tuple(range(len(bx), len(bx) + len(fx)))
        numbers = (of_x, fx), (batch, bx)
        left = [cy[i] for i in np.argsort(cx)]
        return [None, _adjoint(ct, x, y.aval, numbers, (*by, *fy, *left), p)]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: DotParameters
    ) -> tuple[Any, int]:
        (x, y), (x_axis, y_axis) = operands, batch_axes
        (cx, cy), (bx, by) = p.dimension_numbers
        if x_axis is not None and y_axis is not None:
            x, y = move(x, x_axis, 0), move(y, y_axis, 0)
            contract = _past(cx, 0), _past(cy, 0)
            numbers: Numbers = contract, ((0, *_past(bx, 0)), (0, *_past(by, 0)))
            return self(x, y, **p._replace(dimension_numbers=numbers).given()), 0
        # One operand's batch axis is just one more free axis: a larger product, not many.
        if x_axis is not None:
            contract, batch = (_past(cx, x_axis), cy), (_past(bx, x_axis), by)
            place = free_axes(x.aval.ndim, contract[0], batch[0]).index(x_axis)
        else:
            contract, batch = (cx, _past(cy, y_axis)), (bx, _past(by, y_axis))
            place = free_axes(y.aval.ndim, contract[1], batch[1]).index(y_axis)
            place += len(free_axes(x.aval.ndim, cx, bx))
        out = self(x, y, **p._replace(dimension_numbers=(contract, batch)).given())
        return out, len(bx) + place


def _numpy_rounded(x: Any, precision: Any, operand: int) -> Any:
    """An operand with the digits that the algorithm leaves it."""
    form = format_of(precision, operand, x.dtype)
    if form is None:
        return x
    return reduce_precision_p.numpy(x, exponent_bits=form[0], mantissa_bits=form[1])


def _write_rounded(block: Any, x: Any, precision: Any, operand: int) -> Any:
    """The same by an operation that XLA keeps, as it does not a conversion there and back."""
    form = format_of(precision, operand, x.aval.dtype)
    if form is None:
        return x
    return block.op(f"stablehlo.reduce_precision {x}, format = e{form[0]}m{form[1]}", (x,), x.aval)


# ---- programs -------------------------------------------------------------------------------
LARGE = 100_000  # multiplications from which on a program of our own pays


def write_product(
    block: Any, out: ShapedArray, lhs: Any, rhs: Any, numbers: Numbers, precision: Any
) -> Any:
    """The product by the fastest way that XLA's CPU backend has for it."""
    kind, bits = dtypes.kind(out.dtype), dtypes.bits(out.dtype)
    (lhs_contract, _), (lhs_batch, _) = numbers
    size = prod(lhs.aval.shape[i] for i in lhs_contract)
    if size == 1 and kind not in ("bool", "complex"):
        return _outer(block, out, lhs, rhs, numbers)
    if out.size * size >= LARGE and not block.exact:
        if not free_axes(lhs.aval.ndim, lhs_contract, lhs_batch) and kind != "bool":
            if len(lhs_contract) + len(lhs_batch) == rhs.aval.ndim:
                return _inner(block, lhs, rhs, numbers)
        if kind in ("signed", "unsigned") and bits <= 16 and size < 2 ** (53 - 2 * bits):
            return _through_f64(block, out, lhs, rhs, numbers)
    return _write(block, out, lhs, rhs, numbers, precision)


def _write(
    block: Any, out: ShapedArray, lhs: Any, rhs: Any, numbers: Numbers, precision: Any = None
) -> Any:
    """StableHLO's dot_general."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    batching = f"batching_dims = {list(lhs_batch)} x {list(rhs_batch)}, " if lhs_batch else ""
    contracting = f"contracting_dims = {list(lhs_contract)} x {list(rhs_contract)}"
    names = f", precision = [{', '.join(precision)}]" if precision else ""
    head = f"stablehlo.dot_general {lhs}, {rhs}, {batching}{contracting}{names}"
    return block.op(head, (lhs, rhs), out)


def _outer(block: Any, out: ShapedArray, lhs: Any, rhs: Any, numbers: Numbers) -> Any:
    """One product an element: fused with what comes next, where a matrix product is a call.

    A loop that adds a 64 x 64 one at each step: 1.2 against 8 us a step.
    """
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    lhs_free = free_axes(lhs.aval.ndim, lhs_contract, lhs_batch)
    rhs_free = free_axes(rhs.aval.ndim, rhs_contract, rhs_batch)
    batch = tuple(range(len(lhs_batch)))
    rows = len(batch) + len(lhs_free)

    def spread(x: Any, kept: Axes, contract: Axes, places: Axes) -> Any:
        order = kept + contract
        x = x if order == tuple(sorted(order)) else block.transpose(x, order)
        x = block.reshape(x, [out.shape[i] for i in places]) if contract else x
        return block.broadcast(x, out.shape, places)

    left = spread(lhs, lhs_batch + lhs_free, lhs_contract, tuple(range(rows)))
    columns = batch + tuple(range(rows, out.ndim))
    return block.mul(left, spread(rhs, rhs_batch + rhs_free, rhs_contract, columns))


def _inner(block: Any, lhs: Any, rhs: Any, numbers: Numbers) -> Any:
    """Inner products: multiply and sum, which is vectorised (137 against 1,100 us for 1e6)."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    pairs = dict(zip(lhs_contract + lhs_batch, rhs_contract + rhs_batch))
    order = [pairs[axis] for axis in range(lhs.aval.ndim)]
    if order != sorted(order):
        rhs = block.transpose(rhs, order)
    found = fold(block, block.mul(lhs, rhs), 0, "add", lhs_contract)
    left = sorted(lhs_batch)
    order = [left.index(axis) for axis in lhs_batch]
    return found if order == sorted(order) else block.transpose(found, order)


def _through_f64(block: Any, out: ShapedArray, lhs: Any, rhs: Any, numbers: Numbers) -> Any:
    """Narrow integers, whose sums f64 holds exactly: integers are multiplied one by one."""
    wide, long = np.dtype(np.float64), np.dtype(np.int64)
    exact = _write(
        block, out.update(dtype=wide), block.convert(lhs, wide), block.convert(rhs, wide), numbers
    )
    return block.convert(block.convert(exact, long), out.dtype)


def _past(axes: Axes, axis: int) -> Axes:
    """The axes after one more was put in at `axis`."""
    return tuple(a + (a >= axis) for a in axes)


def _adjoint(
    ct: Any, other: Any, aval: ShapedArray, numbers: Numbers, order: Axes, p: DotParameters
) -> Any:
    """The cotangent of the operand with this aval, whose axes the product gives in `order`."""
    precision = None if p.precision is None else precision_of_derivative(p.precision)
    other = convert_element_type(other, ct.aval.dtype)
    product = DotParameters(numbers, ct.aval.dtype, precision)
    out = dot_general_p(ct, other, **product.given())
    return convert_element_type(transpose(out, inverse(order)), aval.dtype)


dot_general_p = DotGeneral("dot_general")


def canonical_numbers(name: str, dimension_numbers: Any) -> Numbers:
    """Dimension numbers as tuples of integers; raises TypeError for what is none."""
    try:
        (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name} takes dimension_numbers as ((lhs contracted, rhs contracted), "
            f"(lhs batch, rhs batch)); got {dimension_numbers!r}"
        ) from None
    axes = [
        integers(name, "dimension_numbers", a)
        for a in (lhs_contract, rhs_contract, lhs_batch, rhs_batch)
    ]
    return (axes[0], axes[1]), (axes[2], axes[3])


@strict
def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: None = None,
) -> Any:
    """Products of the two operands, summed over pairs of contracted axes.

    `dimension_numbers` is `((lhs contracted, rhs contracted), (lhs batch, rhs batch))`, each a
    sequence of axes.  The result has the batch axes, then the other axes of lhs, then those of
    rhs, and the operands' dtype or `preferred_element_type`.  Of operands of two dtypes the lower
    is converted: integers to the float, a float16 to the bfloat16.  `precision` is a `Precision`,
    a pair of them or a name, which CPUs ignore, or a `DotAlgorithm` or a preset, which is done on
    every engine.  Raises ShapeError, a TypeError, where paired axes differ in size, and TypeError
    where an algorithm is not for the operands' dtype.

    >>> lax.dot_general(jnp.ones((2, 3)), jnp.ones((3, 4)), (((1,), (0,)), ((), ()))).shape
    (2, 4)
    """
    if out_sharding is not None:
        refuse_sharding("dot_general", out_sharding)
    lhs, rhs = of_one_dtype(*convert_operands("dot_general", (lhs, rhs)))
    rounded = rounded_dtype(lhs.aval.dtype, preferred_element_type)
    if rounded is not None:
        product = dot_general(lhs, rhs, dimension_numbers, precision)
        return convert_element_type(product, rounded)
    numbers = canonical_numbers("dot_general", dimension_numbers)
    dtype = accumulation_dtype("dot_general", lhs.aval.dtype, preferred_element_type)
    names = canonical_precision(precision)
    extra = {} if names is None else {"precision": names}
    return dot_general_p(lhs, rhs, dimension_numbers=numbers, preferred_element_type=dtype, **extra)


@strict
def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: None = None,
) -> Any:
    """The product of vectors or matrices: the last axis of lhs against the first of rhs.

    With `dimension_numbers` it is `dot_general`, and operands of two dtypes are taken as there.
    Raises ShapeError, a TypeError and a ValueError, unless both have one or two axes and the
    contracted sizes agree.

    >>> lax.dot(jnp.array([1, 2]), jnp.array([3, 4]))
    Array(11, dtype=int32)
    >>> lax.dot(jnp.array([0.5, 1.5]), jnp.array([2, 4]))
    Array(7., dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("dot", out_sharding)
    lhs, rhs = convert_operands("dot", (lhs, rhs))
    if dimension_numbers is None:
        if not (1 <= lhs.aval.ndim <= 2 and 1 <= rhs.aval.ndim <= 2):
            raise ShapeError(
                f"dot takes vectors and matrices; got {lhs.aval} and {rhs.aval}. For more axes use "
                "lax.dot_general or hloom.numpy.matmul."
            )
        dimension_numbers = (((lhs.aval.ndim - 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)


@strict
def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """The matrix product over the last two axes; all axes before are batch axes.

    Raises TypeError when those differ, or the operands have fewer than two axes.

    >>> lax.batch_matmul(jnp.ones((5, 2, 3)), jnp.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    lhs, rhs = convert_operands("batch_matmul", (lhs, rhs))
    ndim = lhs.aval.ndim
    if ndim < 2 or rhs.aval.ndim != ndim:
        raise ShapeError(
            f"batch_matmul takes operands of one rank, 2 or more; got {lhs.aval} and {rhs.aval}"
        )
    batch = tuple(range(ndim - 2))
    return dot_general(lhs, rhs, (((ndim - 1,), (ndim - 2,)), (batch, batch)), precision)


# ---- with scales ------------------------------------------------------------------------------
def _check_scale(text: str, side: str, x: ShapedArray, scale: ShapedArray, contract: Axes) -> None:
    """Raise unless a scale has the operand's axes, and divides the contracted ones."""
    if scale.ndim != x.ndim:
        raise ShapeError(f"{text}: {side}_scale {scale} needs the rank of {side}, {x.ndim}")
    for axis, (size, count) in enumerate(zip(x.shape, scale.shape)):
        if axis not in contract:
            if size != count:
                raise ShapeError(
                    f"{text}: {side}_scale {scale} needs size {size} on axis {axis}, which is not "
                    "contracted"
                )
        elif size and (not count or size % count or size == count):
            raise ShapeError(
                f"{text}: {side}_scale {scale} has size {count} on the contracted axis {axis}, "
                f"where a divisor of {size} below it is needed: a scale for each block of 2 or more"
            )


def _scaled(x: Any, scale: Any, contract: Axes, dtype: np.dtype[Any]) -> Any:
    """`x * scale` in the dtype, where each scale along a contracted axis is for a block."""
    x = convert_element_type(x, dtype)
    if scale is None:
        return x
    scale = convert_element_type(scale, dtype)
    for axis in contract:
        size, count = x.aval.shape[axis], scale.aval.shape[axis]
        shape = scale.aval.shape
        block = (*shape[: axis + 1], size // max(count, 1), *shape[axis + 1 :])
        places = tuple(i + (i > axis) for i in range(scale.aval.ndim))
        spread = broadcast_in_dim(scale, block, places)
        scale = reshape(spread, (*shape[:axis], size, *shape[axis + 1 :]))
    return mul(x, scale)


def _default_numbers(lhs: ShapedArray) -> Numbers:
    if lhs.ndim < 2:
        raise ShapeError(
            f"scaled_dot takes operands with 2 axes or more; got {lhs}. For vectors give "
            "dimension_numbers=(((0,), (0,)), ((), ()))."
        )
    batch = tuple(range(lhs.ndim - 2))
    return ((lhs.ndim - 1,), (lhs.ndim - 2,)), (batch, batch)


@strict
def scaled_dot(
    lhs: Any,
    rhs: Any,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`(lhs * lhs_scale) @ (rhs * rhs_scale)`, where a scale is for a block of contracted elements.

    A scale has its operand's shape, but along contracted axes a divisor of the size: block
    scaling as for 8-bit and 4-bit floats.  Operands and scales are integers or floats of any
    dtypes.  They are multiplied, and products summed, in `preferred_element_type`, a float of 16
    bits or more that the result has too: bfloat16 unless given.  `dimension_numbers` are those of
    `dot_general`; without them axes before the last two are batch axes.  Raises TypeError where
    shapes or dtypes don't go together.

    >>> x, scale = jnp.ones((1, 4)), jnp.array([[1.0, 10.0]])
    >>> lax.scaled_dot(x, jnp.ones((4, 1)), lhs_scale=scale, preferred_element_type="float32")
    Array([[22.]], dtype=float32)
    """
    name = "scaled_dot"
    lhs, rhs, *scales = (
        x if x is None else convert_operands(name, (x,))[0]
        for x in (lhs, rhs, lhs_scale, rhs_scale)
    )
    dtype = array_dtype("bfloat16" if preferred_element_type is None else preferred_element_type)
    if dtypes.kind(dtype) != "float" or dtypes.bits(dtype) < 16:
        raise ArgumentError(
            f"{name}: preferred_element_type is a float of 16 bits or more; got {dtype.name}"
        )
    if lhs.aval.ndim != rhs.aval.ndim:
        raise ShapeError(f"{name} takes operands of one rank; got {lhs.aval} and {rhs.aval}")
    given = dimension_numbers is not None
    numbers = canonical_numbers(name, dimension_numbers) if given else _default_numbers(lhs.aval)
    text = f"{name} of {lhs.aval} and {rhs.aval}"
    check_axes(text, lhs.aval, rhs.aval, numbers)
    check_domain(name, [x.aval for x in (lhs, rhs, *scales) if x is not None], "real")
    made = []
    for side, x, scale, contract in zip(("lhs", "rhs"), (lhs, rhs), scales, numbers[0]):
        if scale is not None:
            _check_scale(text, side, x.aval, scale.aval, contract)
        made.append(_scaled(x, scale, contract, dtype))
    return dot_general_p(*made, dimension_numbers=numbers, preferred_element_type=dtype)
