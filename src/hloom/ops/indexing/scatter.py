"""Scatters other than scatter_add: overwrite, multiply, smallest, largest, apply a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr
from hloom.core.operands import as_array
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import is_linear
from hloom.core.record import trace_to_jaxpr
from hloom.core.support.strict import strict
from hloom.core.trace import Origin
from hloom.errors import ArgumentError
from hloom.ops.common.expression import INT32
from hloom.ops.common.linear import constant, full, plus, spread_scalar, zeros
from hloom.ops.indexing.dimension_numbers import ScatterDimensionNumbers
from hloom.ops.indexing.gather import (
    ScatterLike,
    ScatterParameters,
    gather_windows,
    scatter_add_p,
    scatter_by_numpy,
    scatter_parameters,
    scattered,
)
from hloom.ops.pointwise.arithmetic import add, div, mul, neg
from hloom.ops.pointwise.binary import bitwise_or
from hloom.ops.pointwise.binary import max as max_
from hloom.ops.pointwise.binary import min as min_
from hloom.ops.pointwise.compare import eq, ne, numpy_max, numpy_min, select_n
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import counting, reshaped


class Scatter(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- update_window_dims=(1,), .. --> f32[5,3].

    Of several updates of one element the last is written.
    """

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: Any) -> tuple[Any, Any]:
        operand, indices, updates = primals
        t, _, t_updates = tangents
        t = zeros(operand.aval) if t is None else t
        t_updates = zeros(updates.aval) if t_updates is None else t_updates
        return self(*primals, **p._asdict()), self(t, indices, t_updates, **p._asdict())

    def transpose(self, ct: Any, operand: Any, indices: Any, updates: Any, p: Any) -> Any:
        aval = updates.aval
        cts: list[Any] = [None, None, None]
        if is_linear(operand):
            cts[0] = self(ct, indices, zeros(aval), **p._asdict())
        if is_linear(updates):
            cts[2] = gather_windows(ct, indices, aval, p)
            if not p.unique_indices:
                won = _won(ct.aval, indices, aval, p)
                cts[2] = select_n(won, constant(0, ct.aval.dtype), cts[2])
        return cts


def _won(operand: ShapedArray, indices: Any, updates: ShapedArray, p: ScatterParameters) -> Any:
    """Which elements of the updates are in the result: those that no later one overwrites."""
    numbers = numbered(updates.shape)
    written = scatter_p(full(operand.shape, -1, INT32), indices, numbers, **p._asdict())
    return eq(gather_windows(written, indices, updates, p), numbers)


def numbered(shape: tuple[int, ...]) -> Any:
    """An i32 array of this shape whose elements are numbered in row-major order."""
    return reshaped(counting(INT32, (prod(shape),), 0), shape)


class ScatterMul(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- update_window_dims=(1,), .. --> f32[5,3]."""

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: Any) -> tuple[Any, Any]:
        operand, indices, updates = primals
        t, _, t_updates = tangents
        tangent = None if t is None else self(t, indices, updates, **p._asdict())
        if t_updates is not None:
            share = mul(t_updates, _product_of_others(operand, indices, updates, p))
            added = scatter_add_p(zeros(operand.aval), indices, share, **p._asdict())
            tangent = plus(tangent, added)
        return self(*primals, **p._asdict()), tangent

    def transpose(self, ct: Any, operand: Any, indices: Any, updates: Any, p: Any) -> Any:
        return [self(ct, indices, updates, **p._asdict()), None, None]


def _product_of_others(operand: Any, indices: Any, updates: Any, p: ScatterParameters) -> Any:
    """For each update: the product of its element and of all other updates of that element."""
    if p.unique_indices:
        return gather_windows(operand, indices, updates.aval, p)
    zero, one = constant(0, updates.aval.dtype), constant(1, updates.aval.dtype)
    is_zero = eq(updates, zero)
    rest = select_n(is_zero, updates, one)
    counted = convert_element_type(is_zero, np.int32)
    none = full(operand.aval.shape, 0, INT32)
    counts = scatter_add_p(none, indices, counted, **p._asdict())
    zero_count = gather_windows(counts, indices, updates.aval, p)
    product = scatter_mul_p(operand, indices, rest, **p._asdict())  # of all that are not zero
    without = div(gather_windows(product, indices, updates.aval, p), rest)
    return select_n(ne(zero_count, counted), without, zero)


class ScatterExtreme(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- update_window_dims=(1,), .. --> f32[5,3].

    The tangent is that of the element or update that is in the result; of several equal ones, their
    mean; NaN where the result is.
    """

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: Any) -> tuple[Any, Any]:
        operand, indices, updates = primals
        t, _, t_updates = tangents
        out = self(*primals, **p._asdict())
        found = gather_windows(out, indices, updates.aval, p)
        # Where the result is NaN all that is NaN counts; the count is NaN, and so is the tangent.
        old = bitwise_or(eq(operand, out), ne(operand, operand))
        won = bitwise_or(eq(updates, found), ne(updates, updates))
        zero, none = constant(0, out.aval.dtype), zeros(out.aval)
        winners = select_n(won, zero, full(updates.aval.shape, 1, out.aval.dtype))
        winners = select_n(eq(found, found), found, winners)
        count = add(
            select_n(old, zero, full(out.aval.shape, 1, out.aval.dtype)),
            scatter_add_p(none, indices, winners, **p._asdict()),
        )
        tangent = None if t is None else select_n(old, zero, t)
        if t_updates is not None:
            share = select_n(won, zero, t_updates)
            tangent = plus(tangent, scatter_add_p(none, indices, share, **p._asdict()))
        return out, div(tangent, count)


class ScatterApplyParameters(NamedTuple):
    """The function, then what `ScatterParameters` has."""

    function: Jaxpr
    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool
    unique_indices: bool
    mode: str


class ScatterApply(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- function={..}, update_window_dims=(1,), .. --> f32[5,3].

    The Jaxpr `function` is applied to each element that an update goes to, as often as there are
    updates; their values are not looked at.
    """

    parameters = ScatterApplyParameters

    def infer(
        self, operand: ShapedArray, indices: ShapedArray, updates: ShapedArray, p: Any
    ) -> ShapedArray:
        element, function = ShapedArray((), operand.dtype), p.function
        if [x.strong() for x in (*function.in_avals, *function.out_avals)] != [element, element]:
            raise ArgumentError(
                f"scatter_apply into {operand} takes a function from {element} to {element}; got "
                f"one from {', '.join(map(str, function.in_avals))} to "
                f"{', '.join(map(str, function.out_avals))}"
            )
        return self.result(operand, indices, updates, p)

    def numpy(self, operand: Any, indices: Any, updates: Any, p: Any) -> Any:
        def apply(old: Any, new: Any) -> Any:
            scalars = [evaluate(p.function, [np.asarray(x)])[0] for x in np.ravel(old)]
            return np.reshape(np.array(scalars, old.dtype), old.shape)

        return scatter_by_numpy(apply, operand, indices, updates, p)

    def body(self, p: Any) -> Callable[..., Any]:
        return lambda inner, old, new: inner.inline(p.function, [old])

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: Any) -> tuple[Any, Any]:
        if tangents[0] is None:
            return self(*primals, **p._asdict()), None
        raise NotImplementedError(
            "scatter_apply has no derivative: its function is known for one element only. Read the "
            "elements, apply the function to them and write them back: "
            "x.at[index].set(function(x[index]))."
        )


scatter_p = Scatter("scatter", lambda old, new: new, lambda old, new: new)
scatter_mul_p = ScatterMul("scatter_mul", mul, np.multiply, "number")
scatter_min_p = ScatterExtreme("scatter_min", min_, numpy_min)
scatter_max_p = ScatterExtreme("scatter_max", max_, numpy_max)
scatter_apply_p = ScatterApply("scatter_apply", lambda old, new: old, lambda old, new: old)


@strict
def scatter(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with `updates` written over the windows at computed places.

    Of several updates of one element the last is written.  `mode` is "fill" or "drop" (the default:
    a window not inside the operand is left out), "clip" (it is moved inside) or
    "promise_in_bounds".  Raises ValueError or TypeError for dimension numbers that don't fit.
    Differs from NumPy's `x[i] = y`: returns a new array.

    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter(jnp.zeros(3), jnp.array([[1], [5]]), jnp.array([2.0, 3.0]), numbers)
    Array([0., 2., 0.], dtype=float32)
    """
    p = scatter_parameters(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scattered(scatter_p, operand, scatter_indices, updates, p)


@strict
def scatter_sub(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with `updates` taken from the windows at computed places; see `scatter_add`.

    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_sub(jnp.zeros(3), jnp.array([[1], [1]]), jnp.array([2.0, 3.0]), numbers)
    Array([ 0., -5.,  0.], dtype=float32)
    """
    p = scatter_parameters(dimension_numbers, indices_are_sorted, unique_indices, mode)
    operand, updates = convert_operands("scatter_sub", (operand, updates))
    return scattered(scatter_add_p, operand, scatter_indices, neg(updates), p)


@strict
def scatter_mul(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with the windows at computed places multiplied by `updates`.

    All updates of one element are multiplied; `mode` is as for `scatter_add`.

    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_mul(jnp.ones(3), jnp.array([[1], [1]]), jnp.array([2.0, 3.0]), numbers)
    Array([1., 6., 1.], dtype=float32)
    """
    p = scatter_parameters(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scattered(scatter_mul_p, operand, scatter_indices, updates, p)


@strict
def scatter_min(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with the smaller of element and update in the windows at computed places.

    NaN wins; `mode` is as for `scatter_add`.

    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_min(jnp.ones(3), jnp.array([[1], [2]]), jnp.array([-2.0, 3.0]), numbers)
    Array([ 1., -2.,  1.], dtype=float32)
    """
    p = scatter_parameters(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scattered(scatter_min_p, operand, scatter_indices, updates, p)


@strict
def scatter_max(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with the larger of element and update in the windows at computed places.

    NaN wins; `mode` is as for `scatter_add`.

    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_max(jnp.ones(3), jnp.array([[1], [2]]), jnp.array([-2.0, 3.0]), numbers)
    Array([1., 1., 3.], dtype=float32)
    """
    p = scatter_parameters(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scattered(scatter_max_p, operand, scatter_indices, updates, p)


@strict
def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The operand with `func` applied to each element of the windows at computed places.

    `func` takes and gives a 0-d value of the operand's dtype; it is applied once for each time
    that an element is named.  `update_shape` is the shape that updates would have.  `mode` is as
    for `scatter_add`.  Raises TypeError when `func` gives another type, or closes over arrays.

    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_apply(jnp.arange(3.0), jnp.array([[1]]), lax.neg, numbers, update_shape=(1,))
    Array([ 0., -1.,  2.], dtype=float32)
    """
    operand, indices = as_array(operand), as_array(scatter_indices)
    scalar = operand.aval.update(shape=())
    function, captured = trace_to_jaxpr(func, [scalar], Origin("scatter_apply", func))
    if captured:
        raise TypeError(
            f"scatter_apply: the function closes over {len(captured)} traced or non-scalar arrays; "
            "use x.at[index].set(function(x[index]))"
        )
    if [(x.shape, x.dtype) for x in function.out_avals] != [((), scalar.dtype)]:
        raise TypeError(
            f"scatter_apply: the function must map {scalar} to {scalar}; it gives "
            f"{', '.join(map(str, function.out_avals))}"
        )
    zero = constant(0, scalar.dtype, function.out_avals[0].weak_type)
    updates = spread_scalar(zero, tuple(update_shape))
    p = scatter_parameters(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scatter_apply_p(operand, indices, updates, function=function, **p._asdict())
