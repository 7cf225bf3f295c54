"""Ragged products: rows come in groups of any size, and each group has a matrix of its own.

Two primitives, which are one another's transposes, work on rows that lie in one axis; the public
functions bring the axes of their operands into that shape.  The programs, and how groups are laid
out, are in `ragged_kernels`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import Primitive, is_linear
from hloom.core.support.strict import refuse_sharding, strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.elementwise import accumulator, check_domain, check_same_dtype
from hloom.ops.common.linear import (
    batch_first,
    broadcast_in_dim,
    constant,
    full,
    move,
    plus,
    transpose,
)
from hloom.ops.pointwise.compare import ne
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.products import ragged_kernels as programs
from hloom.ops.products.dot import (
    Axes,
    DotDimensionNumbers,
    Numbers,
    accumulation_dtype,
    canonical_numbers,
    check_axes,
    dot_general_p,
    free_axes,
    of_one_dtype,
    rounded_dtype,
)
from hloom.ops.products.precision import (
    canonical_precision,
    check_algorithm,
    precision_of_derivative,
)
from hloom.ops.products.ragged_kernels import INT32
from hloom.ops.shapes.shape import integers, reshape


# ---- the primitives -----------------------------------------------------------------------------
def _numpy_runs(
    rows: int, sizes: Any, first: Any, count: int, outer: int
) -> Iterator[tuple[slice, int]]:
    """The rows of each group that has a matrix, and which one of all matrices it is."""
    for i, (stretch, offset) in enumerate(zip(sizes, first)):
        start, end = i * (rows // len(sizes)), (i + 1) * (rows // len(sizes))
        for j, size in enumerate(stretch):
            stop = min(start + max(int(size), 0), end)
            if 0 <= j - int(offset) < count:
                yield slice(start, stop), i // outer * count + j - int(offset)
            start = stop


class Ragged(Primitive):
    """Both primitives: sizes i[s,g] and first i32[s] say which rows and matrices go together.

    The r rows are s stretches of equal length, each of which starts with g groups.  `outer`
    stretches after one another share their matrices; group j of stretch i has number j - first[i]
    of those, and its rows belong nowhere if there is no such one.

    Rules that apply the primitive again take keywords, and give them as they came: a precision
    only where there was one.
    """

    def check(self, avals: Sequence[ShapedArray], agree: bool, p: Any) -> None:
        """Raise unless operands fit together; `agree` says whether the floats do."""
        x, y, sizes, first = avals
        outer, out = p.outer, p.preferred_element_type
        check_domain(self.name, (x, y), "number")
        check_same_dtype(self.name, (x, y))
        check_algorithm(self.name, p.precision, x, y)
        if not dtypes.in_domain(out, "number"):
            raise ArgumentError(f"{self.name} gives numbers; got preferred_element_type {out}")
        text = f"{self.name} of {x}, {y}, {sizes} and {first}"
        for dtype in (x.dtype, out):
            if np.zeros((), np.float32).astype(dtype) != 0:
                raise ArgumentError(
                    f"{text}: {dtype.name} has no zero, which rows of no group give. Convert "
                    "first: lax.convert_element_type(x, 'bfloat16')."
                )
        if x.ndim != 4 or y.ndim != 4 or sizes.ndim != 2 or not agree:
            raise ShapeError(f"{text} needs operands as its docstring shows them")
        check_domain(self.name, (sizes, first), "integer")
        stretches = sizes.shape[0]
        if first.dtype != np.int32:
            raise ArgumentError(f"{text}: each stretch's first group is told in i32; got {first}")
        if outer < 1:
            raise ShapeError(f"{text}: outer must be positive; got {outer}")
        if x.shape[0] >= 2**31:
            raise ShapeError(f"{text}: rows are counted in i32")
        if first.shape != (stretches,) or x.shape[0] % max(stretches, 1) or stretches % outer:
            raise ShapeError(
                f"{text}: the stretches must divide the rows, outer={outer} the stretches"
            )

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        (x, y, *groups), (dx, dy, *_) = primals, tangents
        of_x = None if dx is None else self(dx, y, *groups, **params)
        of_y = None if dy is None else self(x, dy, *groups, **params)
        return self(*primals, **params), plus(of_x, of_y)

    def fold(self, size: int, operands: Sequence[Any], axes: Sequence[Any], **params: Any) -> Any:
        """Examples with groups of their own: their stretches, rows and matrices in a row."""
        examples = batch_first(size, operands, axes)
        one = [x.aval.update(shape=x.aval.shape[1:]) for x in examples]
        folded = [reshape(x, (size * a.shape[0], *a.shape[1:])) for x, a in zip(examples, one)]
        shape = self.infer(*one, **params).shape
        return reshape(self(*folded, **params), (size, *shape)), 0


def _into(x: Any, axis: int, target: int) -> tuple[Any, int]:
    """The batch axis merged into the axis `target` (counted without it), which had this size."""
    x = move(x, axis, target)
    shape = x.aval.shape
    merged = (*shape[:target], shape[target] * shape[target + 1], *shape[target + 2 :])
    return reshape(x, merged), shape[target + 1]


def _out_of(x: Any, target: int, size: int, rest: int) -> tuple[Any, int]:
    """The batch axis, at `target`, taken out again of an axis that it was merged into."""
    shape = x.aval.shape
    return reshape(x, (*shape[:target], size, rest, *shape[target + 1 :])), target


class RaggedDotParameters(NamedTuple):
    """How many stretches share matrices, how these lie, and in what the products are computed."""

    outer: int
    transposed: bool
    preferred_element_type: np.dtype[Any]
    precision: Any = None


class RaggedDot(Ragged):
    """(f32[r,b,i,k], f32[e,b,k,n], i32[s,g], i32[s]) -- outer=1, .. --> f32[r,b,i,n].

    Each row times the matrix of its group; zeros for rows that belong nowhere.  Where `transposed`
    the matrices are f32[e,b,n,k].  For the last two operands and `outer` see `Ragged`.
    """

    parameters = RaggedDotParameters

    def infer(
        self,
        rows: ShapedArray,
        matrices: ShapedArray,
        sizes: ShapedArray,
        first: ShapedArray,
        p: RaggedDotParameters,
    ) -> ShapedArray:
        across = (*matrices.shape[:2], *matrices.shape[:1:-1]) if p.transposed else matrices.shape
        agree = rows.shape[1:2] + rows.shape[3:] == across[1:3]
        self.check((rows, matrices, sizes, first), agree, p)
        return ShapedArray((*rows.shape[:3], across[3]), p.preferred_element_type)

    def numpy(
        self, rows: Any, matrices: Any, sizes: Any, first: Any, p: RaggedDotParameters
    ) -> Any:
        matrices = matrices.swapaxes(2, 3) if p.transposed else matrices
        r, b, i, _ = rows.shape
        out = np.zeros((r, b, i, matrices.shape[3]), p.preferred_element_type)
        count = len(matrices) // max(len(sizes) // p.outer, 1)
        for part, e in _numpy_runs(r, sizes, first, count, p.outer):
            found = dot_general_p.numpy(
                rows[part], matrices[e], dimension_numbers=(((3,), (1,)), ((1,), (0,))),
                preferred_element_type=p.preferred_element_type, precision=p.precision,
            )  # fmt: skip
            out[part] = np.moveaxis(found, 0, 1)
        return out

    def emit(self, block: Any, out: ShapedArray, *operands: Any, p: RaggedDotParameters) -> Any:
        rows, matrices, sizes, _ = operands
        if not (out.size and rows.aval.size and matrices.aval.size and sizes.aval.size):
            return block.constant(0, out)
        return programs.by_run(block, out, operands, p)

    def transpose(self, ct: Any, *operands: Any, p: RaggedDotParameters) -> list[Any]:
        rows, matrices, sizes, first = operands
        dtype = ct.aval.dtype
        params = _params(dtype, precision_of_derivative(p.precision), outer=p.outer)
        if is_linear(rows):
            other = convert_element_type(matrices, dtype)
            found = ragged_dot_p(ct, other, sizes, first, transposed=not p.transposed, **params)
            return [convert_element_type(found, rows.aval.dtype), None, None, None]
        count = matrices.aval.shape[0] // max(sizes.aval.shape[0] // p.outer, 1)
        other = convert_element_type(rows, dtype)
        sides = (ct, other) if p.transposed else (other, ct)
        found = ragged_sum_p(*sides, sizes, first, count=count, **params)
        return [None, convert_element_type(found, matrices.aval.dtype), None, None]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], **params: Any
    ) -> tuple[Any, int]:
        rows, matrices, *groups = operands
        x_axis, y_axis, *others = batch_axes
        if others != [None, None]:
            return self.fold(size, operands, batch_axes, **params)  # type: ignore[no-any-return]
        if y_axis is None:
            x, rest = _into(rows, x_axis, 2)
            return _out_of(self(x, matrices, *groups, **params), 2, size, rest)
        if x_axis is None:
            y, rest = _into(matrices, y_axis, 2 if params["transposed"] else 3)
            return _out_of(self(rows, y, *groups, **params), 3, size, rest)
        (x, rest), (y, _) = _into(rows, x_axis, 1), _into(matrices, y_axis, 1)
        return _out_of(self(x, y, *groups, **params), 1, size, rest)


class RaggedSumParameters(NamedTuple):
    """How many stretches share results, how many results, and in what they are computed."""

    outer: int
    count: int
    preferred_element_type: np.dtype[Any]
    precision: Any = None


class RaggedSum(Ragged):
    """(f32[r,b,c,m], f32[r,b,c,n], i32[s,g], i32[s]) -- outer=1, count=4, .. --> f32[e,b,m,n].

    For each group the product of the two over its rows and c.  There are `count` results for each
    `outer` stretches; for the last two operands see `Ragged`.
    """

    parameters = RaggedSumParameters

    def infer(
        self,
        lhs: ShapedArray,
        rhs: ShapedArray,
        sizes: ShapedArray,
        first: ShapedArray,
        p: RaggedSumParameters,
    ) -> ShapedArray:
        if p.count < 0:
            raise ShapeError(f"ragged_sum takes a count of 0 or more; got {p.count} for {sizes}")
        self.check((lhs, rhs, sizes, first), lhs.shape[:3] == rhs.shape[:3], p)
        shape = (sizes.shape[0] // p.outer * p.count, lhs.shape[1], lhs.shape[3], rhs.shape[3])
        return ShapedArray(shape, p.preferred_element_type)

    def numpy(self, lhs: Any, rhs: Any, sizes: Any, first: Any, p: RaggedSumParameters) -> Any:
        wide = accumulator(p.preferred_element_type)
        shape = (len(sizes) // p.outer * p.count, lhs.shape[1], lhs.shape[3], rhs.shape[3])
        out = np.zeros(shape, wide)
        for part, e in _numpy_runs(len(lhs), sizes, first, p.count, p.outer):
            out[e] += dot_general_p.numpy(
                lhs[part], rhs[part], dimension_numbers=(((0, 2), (0, 2)), ((1,), (1,))),
                preferred_element_type=wide, precision=p.precision,
            )  # fmt: skip
        return out.astype(p.preferred_element_type)

    def emit(self, block: Any, out: ShapedArray, *operands: Any, p: RaggedSumParameters) -> Any:
        lhs, _, sizes, _ = operands
        if not (out.size and lhs.aval.size and sizes.aval.size):
            return block.constant(0, out)
        return programs.per_run(block, out, operands, p)

    def transpose(self, ct: Any, *operands: Any, p: RaggedSumParameters) -> list[Any]:
        lhs, rhs, sizes, first = operands
        dtype = ct.aval.dtype
        params = _params(dtype, precision_of_derivative(p.precision), outer=p.outer)
        if is_linear(lhs):
            other = convert_element_type(rhs, dtype)
            found = ragged_dot_p(other, ct, sizes, first, transposed=True, **params)
            return [convert_element_type(found, lhs.aval.dtype), None, None, None]
        other = convert_element_type(lhs, dtype)
        found = ragged_dot_p(other, ct, sizes, first, transposed=False, **params)
        return [None, convert_element_type(found, rhs.aval.dtype), None, None]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], **params: Any
    ) -> tuple[Any, int]:
        lhs, rhs, *groups = operands
        x_axis, y_axis, *others = batch_axes
        if others != [None, None]:
            return self.fold(size, operands, batch_axes, **params)  # type: ignore[no-any-return]
        if y_axis is None:
            x, rest = _into(lhs, x_axis, 3)
            return _out_of(self(x, rhs, *groups, **params), 2, size, rest)
        if x_axis is None:
            y, rest = _into(rhs, y_axis, 3)
            return _out_of(self(lhs, y, *groups, **params), 3, size, rest)
        (x, rest), (y, _) = _into(lhs, x_axis, 1), _into(rhs, y_axis, 1)
        return _out_of(self(x, y, *groups, **params), 1, size, rest)


def _params(dtype: np.dtype[Any], precision: Any, **params: Any) -> dict[str, Any]:
    """Parameters of both primitives; without a precision where none was asked for."""
    params["preferred_element_type"] = dtype
    return params if precision is None else {**params, "precision": precision}


ragged_dot_p = RaggedDot("ragged_dot")
ragged_sum_p = RaggedSum("ragged_sum")


# ---- as users write it ------------------------------------------------------------------------
@dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """Which axes a ragged product contracts, batches, cuts into groups, and has groups along.

    `dot_dimension_numbers` are those of `dot_general`; `lhs_ragged_dimensions` holds the one axis
    of lhs that comes in groups, `rhs_group_dimensions` the axis of rhs with a matrix for each
    group, or nothing.

    >>> lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0]).lhs_ragged_dimensions
    (0,)
    """

    dot_dimension_numbers: DotDimensionNumbers
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]

    def __post_init__(self) -> None:
        name = "RaggedDotDimensionNumbers"
        numbers = canonical_numbers(name, self.dot_dimension_numbers)
        object.__setattr__(self, "dot_dimension_numbers", numbers)
        for field in ("lhs_ragged_dimensions", "rhs_group_dimensions"):
            object.__setattr__(self, field, integers(name, field, getattr(self, field)))


class _Layout(NamedTuple):
    """The axes of lhs and rhs by their part in the product.  `outer` and `inner` are before and
    behind the ragged axis of lhs, among those of its kind: free, contracted or batch."""

    numbers: Numbers
    ragged: int
    outer: Axes
    inner: Axes
    group: Axes

    @property
    def is_contracting(self) -> bool:
        return self.ragged in self.numbers[0][0]

    @property
    def is_batch(self) -> bool:
        return self.ragged in self.numbers[1][0]


def _layout(name: str, lhs: ShapedArray, rhs: ShapedArray, numbers: Any) -> _Layout:
    """The axes of the product; raises for those that don't go together."""
    if not isinstance(numbers, RaggedDotDimensionNumbers):
        raise ArgumentError(f"{name} takes lax.RaggedDotDimensionNumbers(...); got {numbers!r:.80}")
    text = f"{name} of {lhs} and {rhs}"
    pairs: Any = numbers.dot_dimension_numbers
    check_axes(text, lhs, rhs, pairs)
    (contract, _), (batch, _) = pairs
    rows, group = tuple(numbers.lhs_ragged_dimensions), tuple(numbers.rhs_group_dimensions)
    if len(rows) != 1 or not 0 <= rows[0] < lhs.ndim:
        raise ShapeError(
            f"{text}: lhs_ragged_dimensions holds one axis of lhs, from 0 to {lhs.ndim - 1}; "
            f"got {rows}"
        )
    kinds = {
        "contracted": contract, "batch": batch, "free": free_axes(lhs.ndim, contract, batch),
    }  # fmt: skip
    kind, axes = next(item for item in kinds.items() if rows[0] in item[1])
    _check_group_axis(text, rhs, pairs, rows[0], kind, group)
    at = axes.index(rows[0])
    return _Layout(pairs, rows[0], axes[:at], axes[at + 1 :], group)


def _check_group_axis(
    text: str, rhs: ShapedArray, pairs: Numbers, row: int, kind: str, group: Axes
) -> None:
    if len(group) != (kind == "free"):
        raise ShapeError(
            f"{text}: where the ragged axis is a {kind} one, as axis {row} of lhs is, "
            f"rhs_group_dimensions holds {'one axis' if kind == 'free' else 'none'}; got {group}"
        )
    busy = pairs[0][1] + pairs[1][1]
    if any(not 0 <= a < rhs.ndim or a in busy for a in group):
        raise ShapeError(
            f"{text}: rhs_group_dimensions holds an axis of rhs, from 0 to {rhs.ndim - 1}, that is "
            f"neither contracted nor a batch axis; got {group}"
        )


def _check_sizes(name: str, lhs: ShapedArray, sizes: ShapedArray, layout: _Layout) -> None:
    if not dtypes.in_domain(sizes.dtype, "integer"):
        raise ArgumentError(f"{name} takes group_sizes that are integers; got {sizes}")
    axes = layout.outer if layout.is_batch else layout.numbers[1][0] + layout.outer
    leading = tuple(lhs.shape[a] for a in axes)
    if sizes.ndim != 1 and (not sizes.ndim or sizes.shape[:-1] != leading):
        raise ShapeError(
            f"{name} of lhs {lhs} takes group_sizes of shape (groups,) or "
            f"{(*leading, 'groups')}: a size for each place outside the ragged axis "
            f"{layout.ragged}; got {sizes}"
        )


def _check_groups(name: str, rhs: ShapedArray, groups: int, layout: _Layout, offset: Any) -> Any:
    """The group to start from; raises unless there is a matrix for each group."""
    if offset is None:
        axis = layout.group[0] if layout.group else None
        if axis is not None and rhs.shape[axis] != groups:
            raise ShapeError(
                f"{name} takes a matrix for each group: {groups} are in group_sizes, but axis "
                f"{axis} of rhs {rhs} has size {rhs.shape[axis]}"
            )
        return constant(0, INT32)
    (offset,) = convert_operands(name, (offset,))
    if not dtypes.in_domain(offset.aval.dtype, "integer") or offset.aval.size != 1:
        raise ShapeError(
            f"{name} takes group_offset as an integer of shape (1,); got {offset.aval}"
        )
    if not layout.group:
        raise ShapeError(
            f"{name} takes a group_offset only where rhs has groups, in rhs_group_dimensions; "
            "leave out the first of group_sizes, and their rows, instead"
        )
    return reshape(convert_element_type(offset, INT32), ())


def _shape(x: Any, axes: Sequence[int]) -> Axes:
    return tuple(x.aval.shape[a] for a in axes)


def _size(x: Any, axes: Sequence[int]) -> int:
    return prod(_shape(x, axes))


def _arranged(x: Any, *parts: Sequence[int]) -> Any:
    """Transposed and reshaped so that the axes of each part are one axis."""
    moved = transpose(x, tuple(a for part in parts for a in part))
    return reshape(moved, tuple(_size(x, part) for part in parts))


def _free_mode(lhs: Any, rhs: Any, sizes: Any, layout: _Layout, first: Any, params: Any) -> Any:
    """The ragged axis is a free one of lhs: each row times the matrix of its group."""
    (contract, rhs_contract), (batch, rhs_batch) = layout.numbers
    columns = free_axes(rhs.aval.ndim, rhs_contract + layout.group, rhs_batch)
    row, outer, inner = (layout.ragged,), layout.outer, layout.inner
    # Matrices that lie the other way round are taken as they lie.
    params["transposed"] = rhs_contract > columns
    sides = (columns, rhs_contract) if rhs_contract > columns else (rhs_contract, columns)
    if sizes.aval.ndim == 1:  # the same groups everywhere: what is outside goes along
        x = _arranged(lhs, row, batch, outer + inner, contract)
        matrices = _arranged(rhs, layout.group, rhs_batch, *sides)
        order, stretches, params["outer"] = (*row, *batch, *outer, *inner), 1, 1
    else:  # other groups in each place: the rows of all places one after the other
        x = _arranged(lhs, batch + outer + row, (), inner, contract)
        matrices = _arranged(rhs, rhs_batch + layout.group, (), *sides)
        order, stretches = (*batch, *outer, *row, *inner), _size(lhs, batch + outer)
        params["outer"] = max(_size(lhs, outer), 1)
    table = reshape(sizes, (stretches, sizes.aval.shape[-1]))
    out = ragged_dot_p(x, matrices, table, broadcast_in_dim(first, (stretches,), ()), **params)
    out = reshape(out, _shape(lhs, order) + _shape(rhs, columns))
    wanted = batch + free_axes(lhs.aval.ndim, contract, batch)
    moved = tuple(order.index(a) for a in wanted)
    return transpose(out, moved + tuple(range(len(order), out.aval.ndim)))


def _contracting_mode(lhs: Any, rhs: Any, sizes: Any, layout: _Layout, params: Any) -> Any:
    """The ragged axis is contracted: a product for each group, over its part of the axis."""
    (contract, rhs_contract), (batch, rhs_batch) = layout.numbers
    row, outer, inner = (layout.ragged,), layout.outer, layout.inner
    free = free_axes(lhs.aval.ndim, contract, batch)
    columns = free_axes(rhs.aval.ndim, rhs_contract, rhs_batch)
    groups = sizes.aval.shape[-1]
    sides = _shape(lhs, free) + _shape(rhs, columns)
    if not lhs.aval.size:
        shape = (groups, *_shape(lhs, batch), *sides)
        return full(shape, 0, params["preferred_element_type"])
    there = dict(zip(contract, rhs_contract))

    def across(axes: Axes) -> Axes:
        return tuple(there[a] for a in axes)

    if sizes.aval.ndim == 1:
        x = _arranged(lhs, row, batch, outer + inner, free)
        y = _arranged(rhs, across(row), rhs_batch, across(outer + inner), columns)
        stretches, params["outer"] = 1, 1
    else:
        x = _arranged(lhs, batch + outer + row, (), inner, free)
        y = _arranged(rhs, rhs_batch + across(outer + row), (), across(inner), columns)
        stretches, params["outer"] = _size(lhs, batch + outer), max(_size(lhs, outer), 1)
    table = reshape(sizes, (stretches, groups))
    out = ragged_sum_p(x, y, table, full((stretches,), 0, INT32), count=groups, **params)
    if sizes.aval.ndim == 1:
        return reshape(out, (groups, *_shape(lhs, batch), *sides))
    return move(reshape(out, (*_shape(lhs, batch), groups, *sides)), len(batch), 0)


def _ragged(
    name: str,
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    numbers: Any,
    precision: Any,
    preferred: Any,
    group_offset: Any,
) -> Any:
    """`ragged_dot_general` for a function of this name."""
    lhs, rhs = of_one_dtype(*convert_operands(name, (lhs, rhs)))
    (sizes,) = convert_operands(name, (group_sizes,))
    rounded = rounded_dtype(lhs.aval.dtype, preferred)
    if rounded is not None:
        out = _ragged(name, lhs, rhs, sizes, numbers, precision, None, group_offset)
        return convert_element_type(out, rounded)
    layout = _layout(name, lhs.aval, rhs.aval, numbers)
    _check_sizes(name, lhs.aval, sizes.aval, layout)
    first = _check_groups(name, rhs.aval, sizes.aval.shape[-1], layout, group_offset)
    dtype = accumulation_dtype(name, lhs.aval.dtype, preferred)
    algorithm = canonical_precision(precision)
    check_algorithm(name, algorithm, lhs.aval, rhs.aval)
    params = _params(dtype, algorithm)
    if layout.is_batch:  # every product is there whatever its group is
        return dot_general_p(lhs, rhs, dimension_numbers=layout.numbers, **params)
    if lhs.aval.kind == "bool":  # counted, since or is no sum
        lhs, rhs = convert_element_type(lhs, INT32), convert_element_type(rhs, INT32)
    if is_bool := dtypes.kind(dtype) == "bool":
        params["preferred_element_type"] = INT32
    if layout.is_contracting:
        out = _contracting_mode(lhs, rhs, sizes, layout, params)
    else:
        out = _free_mode(lhs, rhs, sizes, layout, first, params)
    return ne(out, 0) if is_bool else out


@strict
def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    *,
    out_sharding: None = None,
) -> Any:
    """The products of `dot_general` where one axis of lhs comes in consecutive groups.

    `group_sizes` are integers: how long each group is, `(groups,)` or with the leading axes below.
    What the ragged axis is, decides; b are batch axes, x those outside the ragged one:

    - a free axis m: `[b,x,m,k], [g,b,k,n], [b,x,g] -> [b,x,m,n]`, a matrix of rhs for each group,
      and zeros for rows behind the last group;
    - a contracted axis k: `[b,m,x,k], [b,x,k,n], [b,x,g] -> [g,b,m,n]`, a product for each group;
    - a batch axis: `[b,m,k], [b,k,n], [x,g] -> [b,m,n]`, what `dot_general` gives.

    Groups end where the axis does, and a negative size counts as 0.  With `group_offset`, an
    integer of shape (1,), rhs holds the matrices of the groups from there on, as many as it has,
    and rows of other groups give zeros.  Raises TypeError or ValueError where axes, sizes or
    dtypes don't go together.  Differs from masking: a NaN stays in its own group.

    >>> numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
    >>> x, y = jnp.arange(3.0).reshape(3, 1), jnp.ones((3, 1))
    >>> lax.ragged_dot_general(x, y, jnp.array([2, 1]), numbers).ravel()
    Array([1., 2.], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("ragged_dot_general", out_sharding)
    return _ragged(
        "ragged_dot_general", lhs, rhs, group_sizes, ragged_dot_dimension_numbers, precision,
        preferred_element_type, group_offset,
    )  # fmt: skip


_PLAIN = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


@strict
def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    *,
    out_sharding: None = None,
) -> Any:
    """The rows of a matrix, `f[m,k]`, each times the matrix of its group, `f[g,k,n]`: `f[m,n]`.

    `group_sizes`, integers of shape `(g,)`, says how many rows belong to each group, from the
    first row on; rows behind the last group give zeros.  Groups end where the rows do, and a
    negative size counts as 0.  `group_offset`, `precision` and errors are those of
    `ragged_dot_general`.

    >>> scales = jnp.array([1.0, 10.0]).reshape(2, 1, 1)
    >>> lax.ragged_dot(jnp.ones((4, 1)), scales, jnp.array([1, 2])).ravel()
    Array([ 1., 10., 10.,  0.], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("ragged_dot", out_sharding)
    lhs, rhs = convert_operands("ragged_dot", (lhs, rhs))
    if lhs.aval.ndim != 2 or rhs.aval.ndim != 3:
        raise ShapeError(
            f"ragged_dot takes rows [m,k] and matrices [g,k,n]; got {lhs.aval} and {rhs.aval}. "
            "For other axes use lax.ragged_dot_general."
        )
    return _ragged(
        "ragged_dot", lhs, rhs, group_sizes, _PLAIN, precision, preferred_element_type,
        group_offset,
    )  # fmt: skip
