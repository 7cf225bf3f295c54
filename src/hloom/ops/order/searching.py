"""Finding: where values belong in a sorted array, and the element of a given rank without sorting.

Both compare integer keys that order as the values do (`hloom.ops.order.sorting`): NaN is last, and
-0.0 equals 0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.primitive import Primitive
from hloom.core.support.strict import strict
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common.elementwise import check_countable, is_narrow
from hloom.ops.common.expression import INT32, INT64, Term, maximum, minimum, sign_mask, where
from hloom.ops.common.linear import batch_first, broadcast_in_dim, constant, full, move
from hloom.ops.indexing.dimension_numbers import GatherDimensionNumbers
from hloom.ops.indexing.gather import windows_at
from hloom.ops.order.sorting import from_key, sort_key, sort_keys, sort_p
from hloom.ops.pointwise.arithmetic import add
from hloom.ops.pointwise.binary import bitwise_and, bitwise_or
from hloom.ops.pointwise.compare import eq, le, lt, select_n
from hloom.ops.shapes.shape import array_dtype, canonical_axis, counting, reshape, reshape_p

UINT32, UINT64 = np.dtype(np.uint32), np.dtype(np.uint64)

# A sorted array up to this size is compared with as a whole: its elements stay in registers.
FEW = 32


# ---- searchsorted ---------------------------------------------------------------------------
class SearchParameters(NamedTuple):
    """Which elements are counted ("left": those less than a value), and the dtype of the count."""

    side: str
    index_dtype: np.dtype[Any]


class SearchSorted(Primitive):
    """(f32[b,n], f32[b,m]) -- side="left", index_dtype=int32 --> i32[b,m].

    How many elements of a sorted row are less than each value ("left"), or not greater ("right").
    """

    parameters = SearchParameters

    def infer(self, x: ShapedArray, values: ShapedArray, p: SearchParameters) -> ShapedArray:
        if x.dtype != values.dtype:
            raise ArgumentError(f"searchsorted takes operands of one dtype; got {x} and {values}")
        if not x.ndim or x.ndim != values.ndim or x.shape[:-1] != values.shape[:-1]:
            raise ShapeError(f"searchsorted takes as many rows of values; got {x} and {values}")
        if p.side not in ("left", "right"):
            raise ValueError(f'searchsorted takes side "left" or "right"; got {p.side!r}')
        if not dtypes.in_domain(p.index_dtype, "integer"):
            raise ArgumentError(f"searchsorted takes an integer index_dtype; got {p.index_dtype}")
        check_countable("searchsorted", x, x.ndim - 1, p.index_dtype, more=1)
        return ShapedArray(values.shape, p.index_dtype)

    def numpy(self, x: Any, values: Any, p: SearchParameters) -> Any:
        if is_narrow(x.dtype) or dtypes.bits(x.dtype) < 8:
            x, values = x.astype(np.float32), values.astype(np.float32)
        out = np.zeros(values.shape, p.index_dtype)
        for row in np.ndindex(x.shape[:-1]):
            out[row] = np.searchsorted(x[row], values[row], p.side)  # type: ignore[call-overload]
        return out

    def emit(self, block: Any, out: ShapedArray, x: Any, values: Any, p: SearchParameters) -> Any:
        n = x.aval.shape[-1]
        if not n or not out.size:
            return block.constant(0, out)
        keys, wanted = sort_keys(Term(block, x)), sort_keys(Term(block, values))
        place = INT64 if n >= 2**31 else INT32
        find = _compare_all if n <= FEW and len(keys) == 1 else _halve
        found = find(block, [k.operand for k in keys], [k.operand for k in wanted], p.side, place)
        return block.convert(found, p.index_dtype)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        return self(*primals, **params), None

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], **params: Any
    ) -> tuple[Any, int]:
        return self(*batch_first(size, operands, batch_axes), **params), 0


def _compare_all(block: Any, keys: Any, wanted: Any, side: str, place: np.dtype[Any]) -> Any:
    (keys,), (wanted,) = keys, wanted
    shape, n = wanted.aval.shape, keys.aval.shape[-1]
    total = Term(block, block.constant(0, ShapedArray(shape, place)))
    for j in range(n):
        starts, limits = [0] * len(shape), list(keys.aval.shape)
        starts[-1], limits[-1] = j, j + 1
        column = block.reshape(block.slice(keys, starts, limits), shape[:-1])
        each = Term(block, block.broadcast(column, shape, range(len(shape) - 1)))
        value = Term(block, wanted)
        total = total + (each < value if side == "left" else each <= value).to(place)
    return total.operand


def _halve(block: Any, keys: Any, wanted: Any, side: str, place: np.dtype[Any]) -> Any:
    """Add 2^k, 2^(k-1), .. 1 to the answer, where the element before it still belongs before."""
    shape, n = wanted[0].aval.shape, keys[0].aval.shape[-1]
    rows = prod(shape[:-1])
    lists = [[block.reshape(x, (rows, x.aval.shape[-1])) for x in xs] for xs in (keys, wanted)]
    inner = ShapedArray((rows, shape[-1]), place)
    carry = [
        block.constant(1 << (n.bit_length() - 1), ShapedArray((), place)),
        block.constant(0, inner),
        *lists[0],
        *lists[1],
    ]
    count = len(keys)

    def go_on(b: Any, step: Any, *rest: Any) -> Any:
        return b.compare(step, "GT", 0)

    def body(b: Any, step: Any, found: Any, *operands: Any) -> list[Any]:
        found = b.trace(_STEPS[side, count], step, found, *operands)
        return [b.shift_right_logical(step, 1), found, *operands]

    return block.reshape(block.while_loop(go_on, body, carry)[1], shape)


class _Steps(dict[tuple[str, int], Any]):
    """One step of the search as one function for each (side, number of keys)."""

    def __missing__(self, key: tuple[str, int]) -> Any:
        side, count = key

        def advance(step: Any, found: Any, *operands: Any) -> Any:
            keys, wanted = operands[:count], operands[count:]
            n, dtype = keys[0].aval.shape[-1], found.aval.dtype
            longer = add(found, step)
            before = [_take_rows(k, add(longer, constant(-1, dtype))) for k in keys]
            belongs = bitwise_and(le(longer, constant(n, dtype)), _ordered(before, wanted, side))
            return select_n(belongs, found, longer)

        self[key] = advance
        return advance


_STEPS = _Steps()


def _ordered(xs: Sequence[Any], ys: Sequence[Any], side: str) -> Any:
    """Whether the keys `xs` come before `ys`; "right": or are equal."""
    found = (lt if side == "left" else le)(xs[-1], ys[-1])
    for x, y in zip(xs[-2::-1], ys[-2::-1]):
        found = bitwise_or(lt(x, y), bitwise_and(eq(x, y), found))
    return found


def _take_rows(x: Any, places: Any) -> Any:
    """`x[i, places[i]]`, with places beyond the end moved inside."""
    numbers = GatherDimensionNumbers((), (1,), (1,), (0,), (0,))
    return windows_at(x, _vectors(places), numbers, (1, 1))


def _vectors(places: Any) -> Any:
    """Places as index vectors of one element."""
    return reshape_p(places, new_sizes=(*places.aval.shape, 1))


searchsorted_p = SearchSorted("searchsorted")


@strict
def searchsorted(
    sorted_array: Any, values: Any, side: str = "left", index_dtype: Any = np.int32
) -> Any:
    """Where values belong in a sorted array, along the last axis; NaN is last.

    `sorted_array` is f32[n] and the values of any shape, or both have the same leading axes.
    Raises TypeError for different dtypes, ValueError for other shapes or sides.

    >>> hloom.ops.order.searching.searchsorted(jnp.array([1, 3, 5]), jnp.array([3, 4]), "right")
    Array([2, 2], dtype=int32)
    """
    x, values = as_array(sorted_array), as_array(values)
    params = {"side": side, "index_dtype": array_dtype(index_dtype)}
    if x.aval.ndim != 1 or values.aval.ndim == 1:
        return searchsorted_p(x, values, **params)
    found = searchsorted_p(x, reshape(values, (values.aval.size,)), **params)
    return reshape(found, values.aval.shape)


def taken(x: Any, places: Any) -> Any:
    """The elements of a 1-d array at these places, which are moved inside."""
    numbers = GatherDimensionNumbers((), (0,), (0,))
    return windows_at(x, _vectors(places), numbers, (1,))


# ---- the element of a rank ------------------------------------------------------------------
# From here on, and for a few ranks, counting beats sorting: 3 against 42 ms for 1e6.
MANY = 1 << 16
FEW_RANKS = 4


class OrderStatistics(Primitive):
    """(f32[7,b], i32[k,b]) -- axis=0 --> [f32[k,b], f32[k,b]].

    Along an axis, the element of each rank (0 is the smallest) and the one after it: of the next
    rank, or itself if it is the largest.
    """

    multiple = True

    def infer(self, x: ShapedArray, ranks: ShapedArray, *, axis: int) -> list[ShapedArray]:
        if not 0 <= axis < x.ndim or not x.shape[axis]:
            raise ShapeError(f"order_statistics: {x} has no elements along axis {axis}")
        rest = (*x.shape[:axis], *x.shape[axis + 1 :])
        check_countable("order_statistics", x, axis, INT32, more=1)
        if ranks.dtype != INT32 or ranks.ndim != x.ndim or ranks.shape[1:] != rest:
            raise ShapeError(
                f"order_statistics of {x} takes ranks i32[k,..] with axes {rest}; got {ranks}"
            )
        return [x.update(shape=ranks.shape)] * 2

    def numpy(self, x: Any, ranks: Any, *, axis: int) -> list[Any]:
        (rows,) = sort_p.numpy(np.moveaxis(x, axis, 0), dimension=0, is_stable=True, num_keys=1)
        last = len(rows) - 1
        ranks = np.clip(ranks, 0, last)
        after = np.minimum(ranks + 1, last)
        return [np.take_along_axis(rows, i, 0) for i in (ranks, after)]

    def emit(
        self, block: Any, out: Sequence[ShapedArray], x: Any, ranks: Any, *, axis: int
    ) -> list[Any]:
        aval = x.aval
        simple = aval.kind != "complex" and aval.shape[axis] >= 256
        if aval.size < MANY or ranks.aval.shape[0] > FEW_RANKS or not simple:
            return list(block.trace(_SORTED[axis], x, ranks))
        return _Counting(block, x, axis).run(out[0], ranks)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], *, axis: int) -> tuple[Any, Any]:
        (x, ranks), (t, _) = primals, tangents
        places = counting(INT32, x.aval.shape, axis)
        _, order = sort_p(x, places, dimension=axis, is_stable=True, num_keys=1)
        at = _taken_pair(order, ranks, axis)
        return [_taken(x, i, axis) for i in at], [_taken(t, i, axis) for i in at]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], *, axis: int
    ) -> tuple[Any, Any]:
        x, ranks = batch_first(size, operands, batch_axes)
        return self(x, move(ranks, 0, 1), axis=axis + 1), [1, 1]


order_statistics_p = OrderStatistics("order_statistics")


@strict
def order_statistics(operand: Any, ranks: Any, axis: int = -1) -> tuple[Any, Any]:
    """The elements of given ranks along an axis, and the ones after them.

    `ranks`, i32[k], are the same for all slices, or they have the operand's other axes behind the
    first.  Results have the shape k, then the operand's other axes.  A rank out of range is moved
    inside.  Raises ValueError for an axis without elements.

    >>> hloom.ops.order.searching.order_statistics(jnp.array([3, 9, 1, 4]), jnp.array([0, 3]))
    (Array([1, 9], dtype=int32), Array([3, 9], dtype=int32))
    """
    x, ranks = as_array(operand), as_array(ranks)
    axis = canonical_axis("order_statistics", axis, x.aval.ndim)
    shape = (ranks.aval.shape[0], *x.aval.shape[:axis], *x.aval.shape[axis + 1 :])
    if ranks.aval.ndim == 1:
        ranks = broadcast_in_dim(ranks, shape, (0,))
    value, after = order_statistics_p(x, ranks, axis=axis)
    return value, after


# ---- by sorting -----------------------------------------------------------------------------
class _Sorted(dict[int, Any]):
    """The lowering by a sort, as one function for each axis."""

    def __missing__(self, axis: int) -> Any:
        def by_sorting(x: Any, ranks: Any) -> list[Any]:
            (rows,) = sort_p(x, dimension=axis, is_stable=True, num_keys=1)
            return _taken_pair(rows, ranks, axis)

        self[axis] = by_sorting
        return by_sorting


_SORTED = _Sorted()


def _taken_pair(rows: Any, ranks: Any, axis: int) -> list[Any]:
    """The elements at `ranks` along an axis, and those after them."""
    zero = constant(0, INT32)
    after = add(select_n(lt(ranks, zero), ranks, zero), constant(1, INT32))
    return [_taken(rows, ranks, axis), _taken(rows, after, axis)]


def _taken(rows: Any, places: Any, axis: int) -> Any:
    if not rows.aval.size:
        return full(places.aval.shape, 0, rows.aval.dtype)
    others = tuple(i for i in range(rows.aval.ndim) if i != axis)
    batching = tuple(range(1, len(others) + 1))
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, batching)
    return windows_at(rows, _vectors(places), numbers, (1,) * rows.aval.ndim)


# ---- by counting ----------------------------------------------------------------------------
COLUMNS = 64  # so many slices side by side keep a kernel busy
ROWS = 1023  # counts up to here fit into 10 bits


class _Counting:
    """Digit by digit: of 3 thresholds the largest with no more elements below it than the rank.

    The keys are [a, r, b], and a reduction over r, of at most 1023 rows, counts below the three
    thresholds at once, 10 bits each.  Either the slices are side by side along b (`columns`), or a.
    """

    def __init__(self, block: Any, x: Any, axis: int):
        self.block = block
        self.dtype = x.aval.dtype
        self.size = x.aval.shape[axis]
        key = _unsigned(sort_key(Term(block, x), ties=False))
        shape = x.aval.shape
        before, behind = prod(shape[:axis]), prod(shape[axis + 1 :])
        self.slices = before * behind
        self.columns = self.slices >= COLUMNS
        self.keys = self._arranged(key.operand, before, behind)
        self.others = 0 if self.columns else 2  # the axis summed over after the rows
        self.word = key.dtype

    def _arranged(self, key: Any, before: int, behind: int) -> Any:
        block, n = self.block, self.size
        key = block.reshape(key, (before, n, behind))
        if self.columns:
            key = self._turned(key, (1, 0, 2), (n, self.slices))
            groups = -(-n // ROWS)
            rows = -(-n // groups)
            return block.reshape(self._filled(key, 0, groups * rows), (groups, rows, self.slices))
        key = self._turned(key, (0, 2, 1), (self.slices, n))
        rows = min(1000, isqrt(n))
        columns = -(-n // rows)
        return block.reshape(self._filled(key, 1, rows * columns), (self.slices, rows, columns))

    def _turned(self, key: Any, permutation: Sequence[int], shape: Sequence[int]) -> Any:
        return self.block.reshape(self.block.transpose(key, permutation), shape)

    def _filled(self, key: Any, axis: int, size: int) -> Any:
        """Keys that nothing is above, up to this size."""
        shape = list(key.aval.shape)
        shape[axis] = size - shape[axis]
        if not shape[axis]:
            return key
        most = int(np.iinfo(key.aval.dtype).max)
        rest = self.block.constant(most, ShapedArray(tuple(shape), key.aval.dtype))
        return self.block.concatenate([key, rest], axis)

    def _spread(self, block: Any, x: Any) -> Term:
        """A number for each slice, beside the keys."""
        return Term(block, block.broadcast(x, self.keys.aval.shape, [2 if self.columns else 0]))

    def _summed(self, block: Any, x: Term, over_rows: bool = False) -> Term:
        axis = 1 if over_rows else (0 if self.columns else 1)
        return Term(block, block.reduce(x.operand, 0, "add", (axis,)))

    def run(self, out: ShapedArray, ranks: Any) -> list[Any]:
        block, count = self.block, ranks.aval.shape[0]
        flat = block.reshape(ranks, (count, self.slices))
        each = [_row(block, flat, i) for i in range(count)]
        last = self.size - 1
        each = [maximum(minimum(Term(block, r), last), 0).operand for r in each]
        zero = block.constant(0, ShapedArray((self.slices,), self.word))
        first = block.constant(8 * self.word.itemsize - 2, ShapedArray((), INT32))

        def go_on(b: Any, shift: Any, *rest: Any) -> Any:
            return b.compare(shift, "GE", 0)

        def body(b: Any, shift: Any, keys: Any, *rest: Any) -> list[Any]:
            lows, wanted = rest[:count], rest[count:]
            new = [self._digit(b, shift, keys, low, r) for low, r in zip(lows, wanted)]
            return [b.sub(shift, 2), keys, *new, *wanted]

        found = block.while_loop(go_on, body, [first, self.keys, *[zero] * count, *each])
        lows = found[2 : 2 + count]
        after = [self._after(block, low, r) for low, r in zip(lows, each)]
        return [self._result(values, out) for values in (lows, after)]

    def _digit(self, block: Any, shift: Any, keys: Any, low: Any, rank: Any) -> Any:
        """`low` with its next two bits."""
        key, best = Term(block, keys), Term(block, low)
        step = block.shift_left(
            block.constant(1, ShapedArray((), self.word)), block.convert(shift, self.word)
        )
        step = Term(block, block.broadcast(step, (self.slices,), ()))
        limits = [best + step * j for j in (1, 2, 3)]
        below = [
            (key < self._spread(block, t.operand)).to(INT32) << 10 * j for j, t in enumerate(limits)
        ]
        packed = self._summed(block, below[0] + below[1] + below[2], over_rows=True)
        packed = Term(block, block.barrier(packed.operand))
        for j, limit in enumerate(limits):
            number = self._summed(block, (packed >> 10 * j) & 1023)
            best = where(number <= Term(block, rank), limit, best)
        return best.operand

    def _after(self, block: Any, low: Any, rank: Any) -> Any:
        """The key of the next rank."""
        key, value = Term(block, self.keys), Term(block, low)
        spread = self._spread(block, low)
        not_above = self._summed(
            block, self._summed(block, (key <= spread).to(INT32), over_rows=True)
        )
        most = int(np.iinfo(self.word).max)
        above = where(key > spread, key, most)
        next_key = Term(block, block.reduce(above.operand, most, "min", (1,)))
        next_key = Term(
            block, block.reduce(next_key.operand, most, "min", (0 if self.columns else 1,))
        )
        same = (not_above > Term(block, rank) + 1) | (Term(block, rank) == self.size - 1)
        return where(same, value, next_key).operand

    def _result(self, rows: Sequence[Any], out: ShapedArray) -> Any:
        block = self.block
        rows = [block.reshape(r, (1, self.slices)) for r in rows]
        joined = Term(block, block.concatenate(rows, 0) if len(rows) > 1 else rows[0])
        return block.reshape(_from_unsigned(joined, self.dtype).operand, out.shape)


def _row(block: Any, x: Any, i: int) -> Any:
    size = x.aval.shape[1]
    return block.reshape(block.slice(x, (i, 0), (i + 1, size)), (size,))


def _unsigned(key: Term) -> Term:
    """A key as an unsigned integer of 32 or 64 bits that orders as it does."""
    wide = key.width == 64
    if key.kind == "unsigned":
        return key if wide else key.to(UINT32)
    key = key.to(INT64 if wide else INT32)
    return (key ^ sign_mask(key.dtype)).cast(UINT64 if wide else UINT32)


def _from_unsigned(key: Term, dtype: np.dtype[Any]) -> Term:
    """The value of this key."""
    if dtypes.kind(dtype) == "unsigned" and dtypes.bits(dtype) >= 8:
        return key.to(dtype)
    signed = key.cast(INT64 if key.width == 64 else INT32)
    signed = signed ^ sign_mask(signed.dtype)
    if dtypes.kind(dtype) == "float" and dtypes.bits(dtype) == 16:
        signed = signed.to(np.int16)
    return from_key(signed, dtype)
