"""Updating by index: `x.at[i].set(y)` and the other methods return a changed copy.

An update undoes what reading does, in reverse: the slices and integers are cut out, index arrays
are scattered into the cut, and the cut is put back.  A mask becomes `select` where the new values
are the same whatever the rank of an element among those that the mask selects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NamedTuple, NoReturn

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import as_array, scalar, weak_aval
from hloom.core.support import source
from hloom.core.support.calls import unknown_keyword
from hloom.core.support.frames import hidden
from hloom.core.support.tables import Tables
from hloom.core.support.width import keeps_width
from hloom.errors import ShapeError
from hloom.errors.rewriting import at_place
from hloom.errors.texts import explain, index_text, value_text
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import warn
from hloom.numpy.common.operands import array_like, broadcast_to
from hloom.numpy.common.python_integers import FITTED, fit
from hloom.numpy.common.reducing import cast_into, check_put
from hloom.numpy.common.sequences import from_sequence, unfit
from hloom.numpy.indexing.index_plans import Layout, Outside, check_mask, parse, scalar_masks
from hloom.numpy.indexing.indexing import (
    Basic,
    bounds_of,
    broadcast_indices,
    cut_static,
    cut_traced,
    getitem_mode,
    index_vectors,
    result_order,
    reversed_axes,
    starts_of,
    steps,
)
from hloom.ops.common.linear import constant, full, spread_scalar, transpose
from hloom.ops.indexing.dimension_numbers import ScatterDimensionNumbers
from hloom.ops.indexing.dynamic_slicing import dynamic_update_slice
from hloom.ops.indexing.gather import scatter_add
from hloom.ops.indexing.scatter import (
    scatter,
    scatter_apply,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from hloom.ops.pointwise.arithmetic import add, div, mul, sub
from hloom.ops.pointwise.binary import bitwise_and
from hloom.ops.pointwise.binary import max as lax_max
from hloom.ops.pointwise.binary import min as lax_min
from hloom.ops.pointwise.binary import pow as lax_pow
from hloom.ops.pointwise.compare import ge, le, select_n
from hloom.ops.shapes.shape import broadcast_shapes, reshape, rev
from hloom.ops.shapes.slicing import pad

_WRITE_MODES = {
    None: "drop",
    "drop": "drop",
    "fill": "drop",
    "clip": "clip",
    "promise_in_bounds": "promise_in_bounds",
}
_READ_MODES = {
    None: "clip",
    "clip": "clip",
    "fill": "fill",
    "drop": "fill",
    "promise_in_bounds": "promise_in_bounds",
}
_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "set": lambda x, y: y, "add": add, "subtract": sub, "multiply": mul, "divide": div,
    "power": lax_pow, "min": lax_min, "max": lax_max,
}  # fmt: skip
_SCATTER: dict[str, Callable[..., Any]] = {
    "set": scatter, "add": scatter_add, "subtract": scatter_sub, "multiply": scatter_mul,
    "min": scatter_min, "max": scatter_max,
}  # fmt: skip
_OF_BOOLS = {"add": "max", "multiply": "min"}  # or, and


class How(NamedTuple):
    """The static part of an update: what is done, and what is promised."""

    name: str
    function: Callable[[Any], Any] | None = None  # of `apply`
    indices_are_sorted: bool = False
    unique_indices: bool = False
    wrap_negative_indices: bool = True


def how(name: str, function: Callable[[Any], Any] | None = None, /, **promises: bool) -> How:
    """What the method `name` does, with the promises that a call makes."""
    try:
        return How(name, function, **promises)
    except TypeError:
        raise unknown_keyword(_told_of, name, promises) from None


def _told_of(
    values: Any, *, mode: str | None = None, indices_are_sorted: bool = False,
    unique_indices: bool = False, wrap_negative_indices: bool = True,
) -> None:  # fmt: skip
    """How the methods of `x.at[i]` are called, for error texts."""


class At:
    """`x.at`: index it, then choose what to do there.

    >>> jnp.zeros(3).at[1].set(5.0)
    Array([0., 5., 0.], dtype=float32)
    """

    __slots__ = ("array",)

    def __init__(self, array: Any):
        self.array = array

    def __getitem__(self, index: Any) -> AtIndex:
        return AtIndex(self.array, index)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        code = f"x = x.at[{index_text(index)}].set({value_text(value)})"
        rule = "x.at[...] = y changes nothing: arrays are immutable, and set(y) gives a copy"
        raise TypeError(explain(rule, ways=[(code, "")]))

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        index = index_text(args if len(args) != 1 else args[0])
        rule = ".at takes an index in brackets, then says what to do there"
        raise TypeError(explain(rule, ways=[(f"x.at[{index}].get()", "or set, add, ..")]))

    def __getattr__(self, name: str) -> NoReturn:
        rule = f"'At' object has no attribute {name!r}"
        ways = []
        if not name.startswith("_") and callable(getattr(AtIndex, name, None)):
            rule = f"x.at.{name}: .at takes an index before {name!r}"
            ways = [(f"x.at[:].{name}{'()' if name == 'get' else '(y)'}", "for all elements")]
        raise AttributeError(explain(rule, ways=ways), name=name, obj=self)

    def __repr__(self) -> str:
        return f"At({self.array!r})"


class AtIndex:
    """`x.at[index]`: the methods return `x` with the elements at `index` changed.

    Every method takes `mode`, which decides about positions out of bounds: "drop" (left out),
    "clip" (moved inside), "promise_in_bounds" (there are none).  Without a mode traced ones are
    dropped, and known ones raise IndexError.  With `wrap_negative_indices=False` negative positions
    are out of bounds too.  An element that is named twice is updated twice, unlike in NumPy's `x[i]
    += y`; of two `set`s the last counts.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any):
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"At({self.array!r})[{self.index!r}]"

    @hidden
    def get(
        self, *, indices_are_sorted: bool = False, unique_indices: bool = False,
        mode: str | None = None,
        fill_value: Any = None, wrap_negative_indices: bool = True,
    ) -> Any:  # fmt: skip
        """The elements: `x[index]`, with a mode "clip", "fill" or "promise_in_bounds".

        Without a mode traced positions out of bounds are clipped, and known ones raise IndexError.

        >>> jnp.arange(3).at[2].get()
        Array(2, dtype=int32)
        >>> jnp.arange(3).at[5].get(mode="fill", fill_value=-1)
        Array(-1, dtype=int32)
        """
        outside = _outside(_READ_MODES, mode, wrap_negative_indices)
        return _read(self.array, self.index, outside, fill_value)

    def set(self, values: Any, *, mode: str | None = None, **promises: bool) -> Any:
        """`x[index] = values`.

        >>> jnp.zeros(4).at[1:3].set(jnp.array([1.0, 2.0]))
        Array([0., 1., 2., 0.], dtype=float32)
        """
        return update(self.array, self.index, values, mode, how("set", **promises))

    def add(self, values: Any, *, mode: str | None = None, **promises: bool) -> Any:
        """`x[index] += values`, every occurrence of a position counted.

        >>> jnp.zeros(3).at[jnp.array([0, 0, 2])].add(1.0)
        Array([2., 0., 1.], dtype=float32)
        """
        return update(self.array, self.index, values, mode, how("add", **promises))

    def subtract(self, values: Any, *, mode: str | None = None, **promises: bool) -> Any:
        """`x[index] -= values`, every occurrence of a position counted.

        >>> jnp.ones(2).at[0].subtract(3.0)
        Array([-2.,  1.], dtype=float32)
        """
        return update(self.array, self.index, values, mode, how("subtract", **promises))

    def multiply(self, values: Any, *, mode: str | None = None, **promises: bool) -> Any:
        """`x[index] *= values`, every occurrence of a position counted.

        >>> jnp.ones(2).at[0].multiply(3.0)
        Array([3., 1.], dtype=float32)
        """
        return update(self.array, self.index, values, mode, how("multiply", **promises))

    mul = multiply

    def divide(self, values: Any, *, mode: str | None = None, **promises: bool) -> Any:
        """`x[index] /= values`, every occurrence of a position counted.

        >>> jnp.ones(2).at[0].divide(2.0)
        Array([0.5, 1. ], dtype=float32)
        """
        return update(self.array, self.index, values, mode, how("divide", **promises))

    def power(self, values: Any, *, mode: str | None = None, **promises: bool) -> Any:
        """`x[index] **= values`, every occurrence of a position counted.

        >>> jnp.array([2.0, 3.0]).at[0].power(3.0)
        Array([8., 3.], dtype=float32)
        """
        return update(self.array, self.index, values, mode, how("power", **promises))

    def min(self, values: Any, *, mode: str | None = None, **promises: bool) -> Any:
        """`x[index] = minimum(x[index], values)`.

        >>> jnp.array([2.0, 3.0]).at[:].min(2.5)
        Array([2. , 2.5], dtype=float32)
        """
        return update(self.array, self.index, values, mode, how("min", **promises))

    def max(self, values: Any, *, mode: str | None = None, **promises: bool) -> Any:
        """`x[index] = maximum(x[index], values)`.

        >>> jnp.array([2.0, 3.0]).at[:].max(2.5)
        Array([2.5, 3. ], dtype=float32)
        """
        return update(self.array, self.index, values, mode, how("max", **promises))

    def apply(
        self, func: Callable[[Any], Any], *, mode: str | None = None, **promises: bool
    ) -> Any:
        """`func` applied to the elements, once for every occurrence of a position.

        >>> jnp.array([4.0, 9.0]).at[1].apply(jnp.sqrt)
        Array([4., 3.], dtype=float32)
        """
        return update(self.array, self.index, 0, mode, how("apply", func, **promises))


# Operators of values, which `x.at[i]` is not: the symbol, and the update of that kind.
_OPERATORS = {
    "add": ("+", "add"), "sub": ("-", "subtract"), "mul": ("*", "multiply"),
    "truediv": ("/", "divide"), "pow": ("**", "power"), "floordiv": ("//", ""), "mod": ("%", ""),
    "matmul": ("@", ""), "and": ("&", ""), "or": ("|", ""), "xor": ("^", ""), "lt": ("<", ""),
    "le": ("<=", ""), "gt": (">", ""), "ge": (">=", ""),
}  # fmt: skip


def _no_value(symbol: str, method: str) -> Callable[..., NoReturn]:
    """An operator of `x.at[i]`: it raises, and says how the element is read, or updated."""

    def operator(self: AtIndex, other: Any) -> NoReturn:
        index, value = index_text(self.index), value_text(other)
        rule = f"x.at[{index}] {symbol} {value}: .at[...] is a place to update, and no value"
        general = [(f"x[{index}] {symbol} {value}", "the element is read without .at")]
        if method:
            general.insert(0, (f"x.at[{index}].{method}({value})", "a copy, updated there"))
        raise TypeError(explain(rule, ways=at_place(source.here(), method) or general))

    return operator


for _name, (_symbol, _method) in _OPERATORS.items():
    for _form in (f"__{_name}__", f"__i{_name}__", f"__r{_name}__"):
        setattr(AtIndex, _form, _no_value(_symbol, _method))


def _outside(modes: dict[str | None, str], mode: str | None, wrap: bool) -> Outside:
    if mode not in modes:
        raise ValueError(f".at[] takes mode {', '.join(repr(m) for m in modes if m)}; got {mode!r}")
    return Outside(modes[mode], mode not in (None, "promise_in_bounds"), wrap)


_tables = Tables()
_read = keeps_width(getitem_mode)


def update(x: Any, index: Any, values: Any, mode: str | None, how: How) -> Any:
    """A copy of `x` with the elements at `index` updated; warns where nobody takes it."""
    made = _updated(x, index, values, mode, how)
    place = source.dropped()
    if place is not None:
        warn(errors.DroppedUpdateWarning.of(how.name, at=source.resolve(place)))
    return made


@keeps_width
def _updated(x: Any, index: Any, values: Any, mode: str | None, how: How) -> Any:
    outside = _outside(_WRITE_MODES, mode, how.wrap_negative_indices)
    if not isinstance(values, Array) and values.__class__ not in (bool, int, float, complex):
        values = array_like(f".at[].{how.name}", values)
    _check_cast(x, values, how.name)
    if x.aval.dtype == np.bool_:
        how = how._replace(name=_OF_BOOLS.get(how.name, how.name))
    (_, values) = fit(f".at[].{how.name}", (x, values))
    eagerly = current.get().key is not None
    shape, index = scalar_masks(x.aval.shape, index)
    if shape != x.aval.shape:
        return reshape(_updated(reshape(x, shape), index, values, mode, how), x.aval.shape)
    mask = _selecting_mask(x, index, values)
    if mask is not None:
        position, mask, index = mask
    else:
        position = None
    layout, operands = parse(x.aval.shape, index, positions_are_operands=eagerly, outside=outside)
    if position is not None:
        operands = [mask, *operands]

    def body(x: Any, values: Any, *operands: Any) -> Any:
        y = _cast(values, x)
        if position is not None:
            return _write_masked(x, layout, operands[1:], y, how, position, operands[0])
        return write(x, layout, operands, y, how)

    return eager.run(
        body, _tables, f"at_{how.name}", (x, values, *operands), (layout, how, position),
        fitting=FITTED,
    )  # fmt: skip


def _check_cast(x: Any, values: Any, name: str) -> None:
    """Raise as NumPy does: complex into real, float arithmetic on integers, NaN into an integer."""
    rank = {"bool": 0, "signed": 1, "unsigned": 1, "float": 2, "complex": 3}
    ours = rank[x.aval.kind]
    x64 = current.get().config.enable_x64
    given = values.aval if isinstance(values, Array) else weak_aval(values.__class__, x64)
    theirs = rank[dtypes.kind(given.dtype)]
    if theirs == 3 and ours < 3:
        raise TypeError(
            f".at[].{name}: can't put complex values, {given}, into {x.aval}; take values.real"
        )
    if name != "set" and ours < 2 and (theirs == 2 or name == "divide"):
        raise TypeError(
            f".at[].{name}: the result would be float, and can't be put into {x.aval}; use "
            f"x.astype(float).at[...].{name}(...)"
        )
    if name not in ("set", "apply") and ours == 0 and theirs:
        raise TypeError(
            f".at[].{name}: the result would be an integer, and can't be put into {x.aval}; use "
            f"x.astype(int).at[...].{name}(...)"
        )
    if name == "set" and ours == 1:
        check_put(f".at[].{name}", values, x.aval)
    if ours == 1 and values.__class__ is float and not isfinite(values):
        raise unfit(f".at[].{name}", values, x.aval.dtype, ValueError("not finite"))


def _cast(values: Any, x: Any) -> Any:
    dtype = x.aval.dtype
    if isinstance(values, Array):
        return cast_into(values, x)
    if isinstance(values, float) and dtypes.kind(dtype) in ("signed", "unsigned"):
        values = int(values)
    return scalar(values, ShapedArray((), dtype, True))


# ---- by slices, integers and index arrays -------------------------------------------------------
def write(x: Any, layout: Layout, operands: Sequence[Any], y: Any, how: How) -> Any:
    """`x` updated, as a program in lax."""
    basics, items = steps(x.aval.shape, layout, operands)
    cut, rest = cut_traced(x, basics, layout.checked)
    inner = cut_static(cut, rest)
    arrays = [what for kind, what in items if kind == "array"]
    if arrays:
        kept = [axis for axis, basic in enumerate(basics) if basic.keep]
        squeezed = reshape(inner, [inner.aval.shape[axis] for axis in kept])
        place = {axis: i for i, axis in enumerate(kept)}
        indices = broadcast_indices([i for _, i in arrays])
        axes = [place[axis] for axis, _ in arrays]
        new = reshape(_scatter(squeezed, axes, indices, items, layout, y, how), inner.aval.shape)
    else:
        shape = [
            1 if kind == "new" else inner.aval.shape[axis] for kind, axis in items if kind != "int"
        ]
        y = reshape(_spread(y, shape, how.name), inner.aval.shape)
        new = _apply(how, inner, y)
    if not layout.checked and layout.mode == "drop":
        new = _kept_inside(x, basics, inner, new)
    return _put_back(x, cut, basics, rest, new, layout.checked)


def _apply(how: How, x: Any, y: Any) -> Any:
    if how.function is not None:
        return cast_into(as_array(how.function(x)), x)
    return _ELEMENTWISE[how.name](x, y)


def _spread(y: Any, shape: Sequence[int], name: str) -> Any:
    """The values repeated to the shape of what is updated; leading axes of size 1 may be more."""
    shape = tuple(shape)
    given = y.aval.shape
    if len(given) > len(shape) and all(n == 1 for n in given[: len(given) - len(shape)]):
        y = reshape(y, given[len(given) - len(shape) :])
    try:
        fits = broadcast_shapes(y.aval.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"could not broadcast input array from shape {given} into shape {shape}: .at[].{name} "
            "takes values that broadcast to the indexed part"
        )
    return broadcast_to(y, shape)


def _kept_inside(x: Any, basics: Sequence[Basic], old: Any, new: Any) -> Any:
    """The old values where a traced integer is out of bounds: nothing is updated then."""
    starts = starts_of(x, basics, False)
    inside = None
    for start, n in zip(starts, x.aval.shape):
        if isinstance(start, Array):
            dtype = start.aval.dtype
            here = le(start, constant(n - 1, dtype))
            if dtypes.kind(dtype) == "signed":
                here = bitwise_and(here, ge(start, constant(0, dtype)))
            inside = here if inside is None else bitwise_and(inside, here)
    return new if inside is None else select_n(inside, old, new)


def _put_back(
    x: Any, cut: Any, basics: Sequence[Basic], rest: Sequence[Basic], new: Any, checked: bool
) -> Any:
    """The cut's new values in their place."""
    new = _write_static(cut, rest, new)
    if cut is x:
        return new
    return dynamic_update_slice(x, new, starts_of(x, basics, checked), allow_negative_indices=False)


def _write_static(x: Any, basics: Sequence[Basic], new: Any) -> Any:
    low, limits, stride = bounds_of(basics)
    if not new.aval.size:
        return x
    backwards = reversed_axes(basics)
    if backwards:
        new = rev(new, backwards)
    if new.aval.shape == x.aval.shape:
        return new
    if all(s == 1 for s in stride):
        return dynamic_update_slice(x, new, low)
    config = [(a, n - b, s - 1) for a, b, s, n in zip(low, limits, stride, x.aval.shape)]
    written = pad(
        full(new.aval.shape, True, np.dtype(bool)), constant(False, np.dtype(bool)), config
    )
    return select_n(written, x, pad(new, constant(0, x.aval.dtype, True), config))


def _scatter(
    x: Any,
    axes: Sequence[int],
    indices: Sequence[Any],
    items: Sequence[Any],
    layout: Layout,
    y: Any,
    how: How,
) -> Any:
    """Index arrays: the values in the order of a scatter's windows, then scattered."""
    batch = indices[0].aval.shape
    rest = [a for a in range(x.aval.ndim) if a not in axes]
    order = result_order(items, len(batch))
    windows = (*batch, *[x.aval.shape[a] for a in rest])
    first, last = iter(batch), iter(windows[len(batch) :])
    target = [
        1 if kind == "new" else next(first) if kind == "batch" else next(last)
        for kind in order.axes
    ]
    y = _spread(y, target, how.name)
    y = reshape(y, [n for n, kind in zip(target, order.axes) if kind != "new"])
    if not order.first:
        n, before = len(batch), order.before
        y = transpose(
            y, [*range(before, before + n), *range(before), *range(before + n, y.aval.ndim)]
        )
    if not x.aval.size or not y.aval.size:
        return x
    numbers = ScatterDimensionNumbers(
        tuple(range(len(batch), y.aval.ndim)), tuple(sorted(axes)), tuple(axes)
    )
    vectors = index_vectors(x, axes, indices, layout.checked)
    options: dict[str, Any] = {
        "indices_are_sorted": how.indices_are_sorted, "unique_indices": how.unique_indices,
        "mode": "promise_in_bounds" if layout.checked else layout.mode,
    }  # fmt: skip
    if how.function is not None:
        return scatter_apply(
            x, vectors, how.function, numbers, update_shape=y.aval.shape, **options
        )
    if how.name in ("divide", "power"):
        ones = spread_scalar(constant(1, x.aval.dtype, True), x.aval.shape)
        factors = scatter_mul(ones, vectors, y, numbers, **options)
        return _ELEMENTWISE[how.name](x, factors)
    return _SCATTER[how.name](x, vectors, y, numbers, **options)


# ---- by a mask ----------------------------------------------------------------------------------
def _selecting_mask(x: Any, index: Any, values: Any) -> tuple[int, Any, tuple[Any, ...]] | None:
    """The first axis of the one mask of an index, the mask, and the index with slices in its place.

    None when the index has no mask, or integer arrays beside it, or when the values differ along
    the mask's elements: then positions are needed.
    """
    items = index if isinstance(index, tuple) else (index,)
    items = tuple([from_sequence("index", i) if isinstance(i, list) and i else i for i in items])
    masks = [i for i, item in enumerate(items) if _mask_ndim(item)]
    plain = (int, np.integer, slice, type(None), type(Ellipsis))
    if len(masks) != 1 or not all(
        isinstance(item, plain) for i, item in enumerate(items) if i not in masks
    ):
        return None
    (at,) = masks
    mask = array_like("index", items[at])
    ndim = mask.aval.ndim
    others = [0 if i is None or i is Ellipsis else 1 for i in items[:at] + items[at + 1 :]]
    spare = x.aval.ndim - ndim - sum(others)
    if spare < 0 or any(isinstance(i, (int, np.integer)) for i in items):
        return None
    ellipsis_first = Ellipsis in [i for i in items[:at] if i is None or i is Ellipsis]
    axis = sum(others[:at]) + (spare if ellipsis_first else 0)
    check_mask(mask.aval, x.aval.shape, axis)
    if mask.aval.shape != x.aval.shape[axis : axis + ndim]:
        return None  # it selects nothing, having an axis of size 0
    after = sum(i is not Ellipsis for i in items[at + 1 :]) + (0 if ellipsis_first else spare)
    shape = np.shape(values)
    if len(shape) > after and shape[len(shape) - after - 1] != 1:
        return None
    return after, mask, (*items[:at], *[slice(None)] * ndim, *items[at + 1 :])


def _mask_ndim(item: Any) -> int:
    """Number of axes of a boolean array in an index; 0 for everything else."""
    if isinstance(item, (np.ndarray, Array)) and item.dtype == np.bool_:
        return item.ndim
    return 0


def _write_masked(
    x: Any, layout: Layout, operands: Sequence[Any], y: Any, how: How, after: int, mask: Any
) -> Any:
    """The elements of a slice where the mask holds; `after` result axes follow the mask's."""
    basics, items = steps(x.aval.shape, layout, operands)
    cut, rest = cut_traced(x, basics, layout.checked)
    inner = cut_static(cut, rest)
    shape = [1 if kind == "new" else inner.aval.shape[axis] for kind, axis in items]
    target = reshape(inner, shape)
    ndim = mask.aval.ndim
    if (
        y.aval.ndim > after
    ):  # its axis of size 1 for the mask's elements becomes one for each mask axis
        given = y.aval.shape
        y = reshape(
            y, (*given[: len(given) - after], *[1] * (ndim - 1), *given[len(given) - after :])
        )
    y = _spread(y, shape, how.name)
    ours = broadcast_to(reshape(mask, (*mask.aval.shape, *[1] * after)), tuple(shape))
    new = select_n(ours, target, _apply(how, target, y))
    return _put_back(x, cut, basics, rest, reshape(new, inner.aval.shape), layout.checked)
