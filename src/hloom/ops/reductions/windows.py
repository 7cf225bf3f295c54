"""Reductions over sliding windows: sum, largest, smallest, and the way back from the largest.

A window is described by five tuples with an entry for each axis: its size, the stride between
windows, the padding (low, high) of the operand, and dilations: `base_dilation` puts holes between
the operand's elements, `window_dilation` between the window's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from operator import index
from typing import Any, NamedTuple

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import Primitive
from hloom.core.support.strict import strict
from hloom.errors import ArgumentError, ShapeError, UnsupportedError
from hloom.ops.common.elementwise import check_domain, check_same_dtype, is_narrow
from hloom.ops.common.expression import Term, where
from hloom.ops.common.linear import batch_first, constant, full, zeros
from hloom.ops.indexing.dimension_numbers import ScatterDimensionNumbers
from hloom.ops.indexing.gather import ScatterParameters, scatter_add_p
from hloom.ops.indexing.scatter import numbered
from hloom.ops.pointwise.compare import (
    complex_at_least,
    complex_at_most,
    larger,
    numpy_max,
    numpy_min,
    smaller,
)
from hloom.ops.reductions.reduce import highest, lowest
from hloom.ops.reductions.window_kernels import slide
from hloom.ops.shapes.shape import canonical_shape, integers, reshaped
from hloom.ops.shapes.slicing import padded

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


# ---- the arithmetic of windows; convolution has the same ---------------------------------------
def dilated(size: int, dilation: int) -> int:
    """The size of an axis with `dilation` - 1 holes between each two elements."""
    return (size - 1) * dilation + 1 if size else 0


def count_windows(size: int, window: int, stride: int) -> int:
    """How many windows fit into an axis; all sizes are with padding and dilation."""
    return (size - window) // stride + 1 if size >= window else 0


@strict
def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
) -> list[tuple[int, int]]:
    """The (low, high) padding of each axis that a padding's name stands for.

    "VALID" is none; "SAME" makes ceil(size / stride) windows, an odd element of padding behind;
    "SAME_LOWER" puts it before.  Raises ValueError for another name.

    >>> lax.padtype_to_pads((5,), (2,), (1,), "SAME")
    [(0, 1)]
    """
    name = str(padding).upper()
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise UnsupportedError(
            f'padding is "SAME", "SAME_LOWER", "VALID" or pairs; got {padding!r}'
        )
    columns = [
        integers("padtype_to_pads", "sizes", xs) for xs in (in_shape, window_shape, window_strides)
    ]
    if len(set(map(len, columns))) > 1 or min(columns[2], default=1) < 1:
        raise ValueError(
            "padtype_to_pads takes a size, a window and a positive stride for each axis; got "
            f"{columns[0]}, {columns[1]} and {columns[2]}"
        )
    pads = []
    for size, window, stride in zip(*columns):
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        less, more = total // 2, total - total // 2
        pads.append((more, less) if name == "SAME_LOWER" else (less, more))
    return pads


class Window(NamedTuple):
    """The five tuples, the parameters of the primitives."""

    window_dimensions: Sizes
    window_strides: Sizes
    padding: Pads
    base_dilation: Sizes
    window_dilation: Sizes

    def check(self, text: str, x: ShapedArray) -> None:
        """Raise unless there is an entry for each axis, and sizes are positive."""
        if any(len(column) != x.ndim for column in self):  # StableHLO reduce_window C4, C6, ..
            raise ShapeError(f"{text} of {x} takes one entry for each axis; got {self.text()}")
        positive = self.window_dimensions + self.window_strides + self[3] + self[4]
        if positive and min(positive) < 1:  # C5, C7, C9, C11
            raise ShapeError(
                f"{text} of {x}: sizes, strides and dilations must be positive; got {self.text()}"
            )
        ShapedArray(self.padded(x.shape), x.dtype)  # raises if there is no array of that size
        ShapedArray(tuple(map(dilated, self.window_dimensions, self.window_dilation)), x.dtype)

    def padded(self, sizes: Sequence[int]) -> Sizes:
        """The sizes of an operand with its dilation and padding, where padding adds to it."""
        return tuple(
            dilated(n, base) + max(low, 0) + max(high, 0)
            for n, (low, high), base in zip(sizes, self.padding, self.base_dilation)
        )

    def text(self) -> str:
        """For an error text."""
        return ", ".join(f"{name}={value}" for name, value in self._asdict().items())

    def shape(self, x: Any) -> Sizes:
        """How many windows there are along each axis of an operand."""
        return tuple(
            count_windows(low + dilated(n, base) + high, dilated(w, inner), stride)
            for n, w, stride, (low, high), base, inner in zip(x.shape, *self)
        )

    def with_axis(self, axis: int) -> Window:
        """The same for an operand with one more axis, along which windows have size 1."""
        entries = (1, 1, (0, 0), 1, 1)
        return Window(*((*c[:axis], e, *c[axis:]) for c, e in zip(self, entries)))

    def is_dilated(self) -> bool:
        """Whether there are holes anywhere."""
        return any(d != 1 for d in self.base_dilation + self.window_dilation)

    def attributes(self) -> str:
        """As attributes of a StableHLO operation."""
        names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
        columns = (self[0], self[1], self[3], self[4])
        lists = [
            f"{name} = array<i64: {', '.join(map(str, column))}>"
            for name, column in zip(names, columns)
        ]
        pads = ", ".join(f"[{low}, {high}]" for low, high in self.padding)
        return ", ".join([*lists, f"padding = dense<[{pads}]> : tensor<{len(self[0])}x2xi64>"])

    def parts(self, x: Any, fill: Any) -> Iterator[Any]:
        """For NumPy rules: for each place in the window, what all windows have there."""
        for axis, (n, (low, high), base) in enumerate(zip(x.shape, self.padding, self[3])):
            shape = (*x.shape[:axis], dilated(n, base), *x.shape[axis + 1 :])
            spread = np.full(shape, fill, x.dtype)
            spread[(*[slice(None)] * axis, slice(None, None, base))] = x
            widths = [(0, 0)] * x.ndim
            widths[axis] = max(low, 0), max(high, 0)
            x = np.pad(spread, widths, constant_values=fill)
            x = x[(*[slice(None)] * axis, slice(max(-low, 0), x.shape[axis] - max(-high, 0)))]
        plain = self._replace(padding=((0, 0),) * x.ndim, base_dilation=(1,) * x.ndim)
        counts = plain.shape(x)
        for place in product(*map(range, self.window_dimensions)):
            starts = [i * inner for i, inner in zip(place, self.window_dilation)]
            yield x[
                tuple(
                    slice(a, a + (m - 1) * s + 1, s) if m else slice(0, 0)
                    for a, m, s in zip(starts, counts, self.window_strides)
                )
            ]


def window_of(
    name: str,
    x: ShapedArray,
    dimensions: Any,
    strides: Any,
    padding: Any,
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Window:
    """A window as the user wrote it: None is 1 everywhere, padding may be a name."""
    ones = (1,) * x.ndim
    sizes = integers(name, "window_dimensions", dimensions)
    steps = integers(name, "window_strides", ones if strides is None else strides)
    base = integers(name, "base_dilation", ones if base_dilation is None else base_dilation)
    inner = integers(name, "window_dilation", ones if window_dilation is None else window_dilation)
    none = ((0, 0),) * x.ndim
    Window(sizes, steps, none, base, inner).check(name, x)
    if isinstance(padding, str):
        padding = padtype_to_pads(
            list(map(dilated, x.shape, base)), list(map(dilated, sizes, inner)), steps, padding
        )
    return Window(sizes, steps, pairs(name, padding), base, inner)


def pairs(name: str, padding: Any) -> Pads:
    """Padding as pairs of integers."""
    try:
        return tuple((index(low), index(high)) for low, high in padding)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name} takes padding as a name or as a pair (low, high) for each axis; "
            f"got {padding!r:.80}"
        ) from None


# ---- reduce_window --------------------------------------------------------------------------
class ReduceWindow(Primitive):
    """f32[4] -- window_dimensions=(2,), window_strides=(2,), .. --> f32[2].

    Padding and holes count as the identity of the operation.
    """

    parameters = Window

    def __init__(
        self,
        name: str,
        *,
        hlo: str,
        combine: Callable[[Term, Term], Term],
        numpy: Any,
        identity: Callable[[np.dtype[Any]], Any],
        domain: str,
    ):
        super().__init__(name)
        self.hlo = hlo
        self.combine = combine
        self.function = numpy
        self.identity = identity
        self.domain = domain

    def infer(self, x: ShapedArray, p: Window) -> ShapedArray:
        check_domain(self.name, [x], self.domain)
        p.check(self.name, x)
        return x.update(shape=p.shape(x))

    def numpy(self, x: Any, p: Window) -> Any:
        wide = x.astype(np.float32) if is_narrow(x.dtype) else x
        first = np.asarray(self.identity(wide.dtype)).astype(wide.dtype)
        out = np.full(p.shape(x), first)
        with np.errstate(all="ignore"):
            for part in p.parts(wide, first):
                out = self.function(out, part)
        return out.astype(x.dtype, copy=False)

    def emit(self, block: Any, out: ShapedArray, x: Any, p: Window) -> Any:
        if not x.aval.ndim:
            return x
        wide = np.dtype(np.float32) if is_narrow(out.dtype) else out.dtype
        if not out.size or not x.aval.size:
            return block.constant(np.asarray(self.identity(out.dtype)).astype(out.dtype), out)
        op, repeats = "" if out.kind == "complex" else self.hlo, self.hlo != "add"
        xs, fills = [block.convert(x, wide)], [self.identity(wide)]
        (found,) = slide(block, xs, fills, p, self._combine, repeats=repeats, op=op)
        return block.convert(found, out.dtype)

    def _combine(self, block: Any, left: list[Any], right: list[Any]) -> list[Any]:
        return [self.combine(Term(block, left[0]), Term(block, right[0])).operand]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: Window
    ) -> tuple[Any, int]:
        (x,), (axis,) = operands, batch_axes
        return self(x, **p.with_axis(axis)._asdict()), axis


def write_windows(
    block: Any, window: Window, xs: Sequence[Any], inits: Sequence[Any], shape: Sizes, region: str
) -> list[Any]:
    """One StableHLO reduce_window of several operands."""
    outs = [ShapedArray(shape, x.aval.dtype) for x in xs]
    names = ", ".join(map(str, (*xs, *inits)))
    head = f'"stablehlo.reduce_window"({names}) <{{{window.attributes()}}}> {region}'
    windows: list[Any] = block.op(head, (*xs, *inits), outs)
    return windows


class ReduceWindowSum(ReduceWindow):
    """f32[4] -- window_dimensions=(2,), window_strides=(2,), .. --> f32[2]."""

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        return self(*primals, **params), self(*tangents, **params)

    def transpose(self, ct: Any, x: Any, p: Window) -> list[Any]:
        if not ct.aval.size or not x.aval.size:
            return [zeros(x.aval)]
        config = []
        for n, m, w, stride, (low, _), base, inner in zip(x.aval.shape, ct.aval.shape, *p):
            reach = (w - 1) * inner
            before = reach - low
            behind = (n - 1) * base + reach + 1 - dilated(m, stride) - before
            config.append((before, behind, stride - 1))
        # What a window summed, it now gives: the same windows over the cotangents, spread out.
        spread = padded(ct, constant(0, ct.aval.dtype), tuple(config))
        none, ones = ((0, 0),) * len(config), (1,) * len(config)
        back = Window(p.window_dimensions, p.base_dilation, none, ones, p.window_dilation)
        return [self(spread, **back._asdict())]


class ReduceWindowExtreme(ReduceWindow):
    """f32[4] -- window_dimensions=(2,), window_strides=(2,), .. --> f32[2].

    NaN where a window has one.  The tangent is that of the first extreme element.
    """

    def __init__(self, name: str, *, pick: WindowPick, **rules: Any):
        super().__init__(name, domain="any", **rules)
        self.pick = pick

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        return self(x, **params), self.pick(x, t, **params)


# ---- the value at the extreme of each window ---------------------------------------------------
def _zero(dtype: np.dtype[Any]) -> Any:
    return np.zeros((), dtype)


class WindowPick(Primitive):
    """(f32[4], f32[4]) -- window_dimensions=(2,), .. --> f32[2].

    The value at the place where the key is largest (or smallest) in each window; the first of
    equals, zero in a window of padding only.
    """

    parameters = Window

    def __init__(self, name: str, *, largest: bool):
        super().__init__(name)
        self.largest = largest
        self.identity = lowest if largest else highest

    def infer(self, keys: ShapedArray, values: ShapedArray, p: Window) -> ShapedArray:
        p.check(self.name, keys)
        if keys.shape != values.shape:
            raise ShapeError(f"{self.name}: keys and values need one shape; got {keys}, {values}")
        return values.update(shape=p.shape(keys))

    def numpy(self, keys: Any, values: Any, p: Window) -> Any:
        first = np.asarray(self.identity(keys.dtype)).astype(keys.dtype)
        best = np.full(p.shape(keys), first)
        out = np.zeros(best.shape, values.dtype)
        zero = np.zeros((), values.dtype)
        for key, value in zip(p.parts(keys, first), p.parts(values, zero)):
            ahead = best >= key if self.largest else best <= key
            left = ahead | (best != best)
            best, out = np.where(left, best, key), np.where(left, out, value)
        return out

    def emit(self, block: Any, out: ShapedArray, keys: Any, values: Any, p: Window) -> Any:
        if not out.ndim:
            return values
        if not out.size or not keys.aval.size:
            return block.constant(_zero(out.dtype), out)
        fills = [self.identity(keys.aval.dtype), _zero(values.aval.dtype)]
        return slide(block, [keys, values], fills, p, self._better, repeats=True)[1]

    def _better(self, block: Any, left: list[Any], right: list[Any]) -> list[Any]:
        (x, a), (y, b) = [[Term(block, z) for z in side] for side in (left, right)]
        if x.kind == "complex":
            ahead = (complex_at_least if self.largest else complex_at_most)(x, y)
        else:
            ahead = x.compare("GE" if self.largest else "LE", y)
        first = ahead | (x != x)
        return [where(first, x, y).operand, where(first, a, b).operand]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        keys, _ = primals
        t = None if tangents[1] is None else self(keys, tangents[1], **params)
        return self(*primals, **params), t

    def transpose(self, ct: Any, keys: Any, values: Any, **params: Any) -> list[Any]:
        aval = values.aval
        if not aval.size or not ct.aval.size:
            return [None, zeros(aval)]
        # Number the elements, see which ones were picked, and add to those: 8 to 60 times as fast
        # as StableHLO's select_and_scatter.
        picked = self(keys, numbered(aval.shape), **params)
        none, count = full((aval.size,), 0, aval.dtype), ct.aval.size
        p = ScatterParameters(ScatterDimensionNumbers((), (0,), (0,)), False, False, "fill")
        flat = scatter_add_p(
            none, reshaped(picked, (count, 1)), reshaped(ct, (count,)), **p._asdict()
        )
        return [None, reshaped(flat, aval.shape)]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: Window
    ) -> tuple[Any, int]:
        keys, values = batch_first(size, operands, batch_axes)
        return self(keys, values, **p.with_axis(0)._asdict()), 0


class SelectAndScatterParameters(NamedTuple):
    """Which element of a window is selected ("ge": the largest), and the windows."""

    select: str
    window_dimensions: Sizes
    window_strides: Sizes
    padding: Pads

    def window(self) -> Window:
        """The windows, which have no holes."""
        ones = (1,) * len(self.window_dimensions)
        return Window(self.window_dimensions, self.window_strides, self.padding, ones, ones)


class SelectAndScatterAdd(Primitive):
    """(f32[2], f32[4]) -- select=ge, window_dimensions=(2,), window_strides=(2,), .. --> f32[4].

    Each source element is added where the operand's window has its largest ("le": smallest).
    """

    parameters = SelectAndScatterParameters

    def infer(
        self, source: ShapedArray, operand: ShapedArray, p: SelectAndScatterParameters
    ) -> ShapedArray:
        check_same_dtype(self.name, (source, operand))
        check_domain(self.name, (source, operand), "real")
        if np.zeros((), operand.dtype) != 0:
            raise ShapeError(f"{self.name} starts at zero, which {operand} does not have")
        window = p.window()
        window.check(self.name, operand)
        if p.select not in ("ge", "le"):
            raise ValueError(f'{self.name}: select is "ge" or "le"; got {p.select!r}')
        if source.shape != window.shape(operand):  # StableHLO select_and_scatter C2
            raise ShapeError(
                f"{self.name} takes a source element for each window of {operand}, shape "
                f"{window.shape(operand)}; got {source}"
            )
        return operand.strong()

    def numpy(self, source: Any, operand: Any, p: SelectAndScatterParameters) -> Any:
        numbers = np.arange(1, operand.size + 1).reshape(operand.shape)
        places = _PICKS[p.select].numpy(operand, numbers, p=p.window())
        wide = np.float32 if is_narrow(operand.dtype) else operand.dtype
        out = np.zeros(operand.size + 1, wide)
        np.add.at(out, places.ravel(), source.ravel().astype(wide))
        return out[1:].reshape(operand.shape).astype(operand.dtype)

    def emit(self, block: Any, out: ShapedArray, source: Any, operand: Any, p: Any) -> Any:
        if not out.ndim:
            return source
        scalar = ShapedArray((), out.dtype)
        pads = ", ".join(f"[{low}, {high}]" for low, high in p.padding)
        attributes = (
            f"window_dimensions = array<i64: {', '.join(map(str, p.window_dimensions))}>, "
            f"window_strides = array<i64: {', '.join(map(str, p.window_strides))}>, "
            f"padding = dense<[{pads}]> : tensor<{out.ndim}x2xi64>"
        )
        regions = block.regions(
            ([scalar] * 2, lambda b, x, y: _keeps(b, p.select, x, y)),
            ([scalar] * 2, lambda b, x, y: b.add(x, y)),
        )
        zero = block.constant(0, scalar)
        xs = (operand, source, zero)
        names = ", ".join(map(str, xs))
        return block.op(
            f'"stablehlo.select_and_scatter"({names}) <{{{attributes}}}> {regions}', xs, out
        )

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        source, operand = primals
        t = None if tangents[0] is None else self(tangents[0], operand, **params)
        return self(source, operand, **params), t

    def transpose(
        self, ct: Any, source: Any, operand: Any, p: SelectAndScatterParameters
    ) -> list[Any]:
        return [_PICKS[p.select](operand, ct, **p.window()._asdict()), None]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: Any
    ) -> tuple[Any, int]:
        source, operand = batch_first(size, operands, batch_axes)
        window = p.window().with_axis(0)
        p = SelectAndScatterParameters(p.select, *window[:3])
        return self(source, operand, **p._asdict()), 0


def _keeps(block: Any, select: str, left: Any, right: Any) -> Any:
    """Whether the first of two elements is selected; NaN is."""
    x, y = Term(block, left), Term(block, right)
    return (x.compare(select.upper(), y) | (x != x)).operand


pick_max_p = WindowPick("reduce_window_pick_max", largest=True)
pick_min_p = WindowPick("reduce_window_pick_min", largest=False)
_PICKS = {"ge": pick_max_p, "le": pick_min_p}
select_and_scatter_add_p = SelectAndScatterAdd("select_and_scatter_add")
reduce_window_sum_p = ReduceWindowSum(
    "reduce_window_sum", hlo="add", combine=lambda x, y: x + y, numpy=np.add,
    identity=lambda dtype: 0, domain="number",
)  # fmt: skip
reduce_window_max_p = ReduceWindowExtreme(
    "reduce_window_max", combine=larger, hlo="maximum", numpy=numpy_max, identity=lowest,
    pick=pick_max_p,
)  # fmt: skip
reduce_window_min_p = ReduceWindowExtreme(
    "reduce_window_min", combine=smaller, hlo="minimum", numpy=numpy_min, identity=highest,
    pick=pick_min_p,
)  # fmt: skip


@strict
def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of a `reduce_window` with these parameters.

    >>> lax.reduce_window_shape_tuple((5,), (2,), (2,), "VALID")
    (2,)
    """
    name = "reduce_window_shape_tuple"
    aval = ShapedArray(canonical_shape(name, operand_shape), np.dtype(np.float32))
    holes = base_dilation, window_dilation
    return window_of(name, aval, window_dimensions, window_strides, padding, *holes).shape(aval)


def window_reduction(
    primitive: ReduceWindow,
    operand: Any,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Apply one of the `reduce_window_*_p` with parameters as the user writes them."""
    operand, holes = as_array(operand), (base_dilation, window_dilation)
    entries = window_dimensions, window_strides, padding, *holes
    return primitive(operand, **window_of(primitive.name, operand.aval, *entries)._asdict())


@strict
def select_and_scatter_add(
    source: Any,
    operand: Any,
    select: str,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Any = "VALID",
) -> Any:
    """Each source element added at the largest element of its window of the operand.

    `select` is "ge", or "le" for the smallest.  The derivative of pooling by the largest.  Raises
    TypeError unless the source has one element for each window.

    >>> x = jnp.array([1.0, 3.0, 4.0, 2.0])
    >>> lax.select_and_scatter_add(jnp.array([10.0, 20.0]), x, "ge", (2,), (2,))
    Array([ 0., 10., 20.,  0.], dtype=float32)
    """
    source, operand = convert_operands("select_and_scatter_add", (source, operand))
    name = "select_and_scatter_add"
    window = window_of(name, operand.aval, window_dimensions, window_strides, padding)
    p = SelectAndScatterParameters(select, *window[:3])
    return select_and_scatter_add_p(source, operand, **p._asdict())
