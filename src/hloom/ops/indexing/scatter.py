"""Scatters other than scatter_add: overwrite, multiply, smallest, largest, apply a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr
from hloom.core.operands import as_array
from hloom.core.primitive import is_linear
from hloom.core.record import trace_to_jaxpr
from hloom.core.support.strict import strict
from hloom.core.trace import Origin
from hloom.errors import ArgumentError
from hloom.ops.common.linear import constant, full, plus, spread_scalar, zeros
from hloom.ops.indexing.dimension_numbers import ScatterDimensionNumbers
from hloom.ops.indexing.gather import (
    ScatterLike,
    gather_windows,
    scatter_add_p,
    scatter_operands,
    scatter_params,
)
from hloom.ops.pointwise.arithmetic import add, div, mul, neg
from hloom.ops.pointwise.binary import bitwise_or
from hloom.ops.pointwise.binary import max as max_
from hloom.ops.pointwise.binary import min as min_
from hloom.ops.pointwise.compare import eq, ne, numpy_max, numpy_min, select_n
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import iota, reshape

_Params = dict[str, Any]


class Scatter(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- update_window_dims=(1,), .. --> f32[5,3].

    Of several updates of one element the last stands.
    """

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        operand, indices, updates = primals
        t, _, t_updates = tangents
        t = zeros(operand.aval) if t is None else t
        t_updates = zeros(updates.aval) if t_updates is None else t_updates
        return self(*primals, **params), self(t, indices, t_updates, **params)

    def transpose(self, ct: Any, operand: Any, indices: Any, updates: Any, **params: Any) -> Any:
        aval = updates.aval
        cts: list[Any] = [None, None, None]
        if is_linear(operand):
            cts[0] = self(ct, indices, zeros(aval), **params)
        if is_linear(updates):
            cts[2] = gather_windows(ct, indices, aval, **params)
            if not params["unique_indices"]:
                won = _won(ct.aval, indices, aval, params)
                cts[2] = select_n(won, constant(0, ct.aval.dtype), cts[2])
        return cts


def _won(operand: ShapedArray, indices: Any, updates: ShapedArray, params: _Params) -> Any:
    """Which elements of the updates stand in the result: none came after them."""
    numbers = reshape(iota(np.dtype(np.int32), updates.size), updates.shape)
    written = scatter_p(full(operand.shape, -1, numbers.aval.dtype), indices, numbers, **params)
    return eq(gather_windows(written, indices, updates, **params), numbers)


class ScatterMul(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- update_window_dims=(1,), .. --> f32[5,3]."""

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        operand, indices, updates = primals
        t, _, t_updates = tangents
        tangent = None if t is None else self(t, indices, updates, **params)
        if t_updates is not None:
            others = _product_of_others(operand, indices, updates, params)
            none = zeros(operand.aval)
            tangent = plus(tangent, scatter_add_p(none, indices, mul(t_updates, others), **params))
        return self(*primals, **params), tangent

    def transpose(self, ct: Any, operand: Any, indices: Any, updates: Any, **params: Any) -> Any:
        return [self(ct, indices, updates, **params), None, None]


def _product_of_others(operand: Any, indices: Any, updates: Any, params: _Params) -> Any:
    """For each update: the product of the element it goes to and of all other updates of it."""
    if params["unique_indices"]:
        return gather_windows(operand, indices, updates.aval, **params)
    one = constant(1, updates.aval.dtype)
    is_zero = eq(updates, constant(0, updates.aval.dtype))
    rest = select_n(is_zero, updates, one)
    counts = scatter_add_p(
        full(operand.aval.shape, 0, np.dtype(np.int32)), indices,
        convert_element_type(is_zero, np.int32), **params,
    )  # fmt: skip
    zero_count = gather_windows(counts, indices, updates.aval, **params)
    product = scatter_mul_p(operand, indices, rest, **params)  # of all that are not zero
    without = div(gather_windows(product, indices, updates.aval, **params), rest)
    others_zero = ne(zero_count, convert_element_type(is_zero, np.int32))
    return select_n(others_zero, without, constant(0, updates.aval.dtype))


class ScatterExtreme(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- update_window_dims=(1,), .. --> f32[5,3].

    The tangent is that of the element or update that stands in the result; where several are equal,
    their mean; NaN where they are.
    """

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        operand, indices, updates = primals
        t, _, t_updates = tangents
        out = self(*primals, **params)
        standing = gather_windows(out, indices, updates.aval, **params)
        # Where NaN stands, all that is NaN does; their number is NaN, and so is the derivative.
        kept = bitwise_or(eq(operand, out), ne(operand, operand))
        won = bitwise_or(eq(updates, standing), ne(updates, updates))
        zero, none = constant(0, out.aval.dtype), zeros(out.aval)
        winners = select_n(won, zero, full(updates.aval.shape, 1, out.aval.dtype))
        winners = select_n(eq(standing, standing), standing, winners)
        count = add(
            select_n(kept, zero, full(out.aval.shape, 1, out.aval.dtype)),
            scatter_add_p(none, indices, winners, **params),
        )
        tangent = None if t is None else select_n(kept, zero, t)
        if t_updates is not None:
            share = select_n(won, zero, t_updates)
            tangent = plus(tangent, scatter_add_p(none, indices, share, **params))
        return out, div(tangent, count)


class ScatterApply(ScatterLike):
    """(f32[5,3], i32[2,1], f32[2,3]) -- function={..}, update_window_dims=(1,), .. --> f32[5,3].

    The Jaxpr `function` is applied to each element that an update goes to, as often as there are
    updates; their values are not looked at.
    """

    def infer(  # type: ignore[override]
        self, operand: ShapedArray, indices: ShapedArray, updates: ShapedArray, *, function: Jaxpr,
        dimension_numbers: ScatterDimensionNumbers, mode: str, indices_are_sorted: bool,
        unique_indices: bool,
    ) -> ShapedArray:  # fmt: skip
        element = ShapedArray((), operand.dtype)
        if [x.strong() for x in (*function.in_avals, *function.out_avals)] != [element, element]:
            raise ArgumentError(
                f"scatter_apply into {operand} takes a function from {element} to {element}; got "
                f"one from {', '.join(map(str, function.in_avals))} to "
                f"{', '.join(map(str, function.out_avals))}"
            )
        return super().infer(
            operand, indices, updates, dimension_numbers=dimension_numbers, mode=mode,
            indices_are_sorted=indices_are_sorted, unique_indices=unique_indices,
        )  # fmt: skip

    def numpy(self, *values: Any, function: Jaxpr, **params: Any) -> Any:  # type: ignore[override]
        def apply(old: Any, new: Any) -> Any:
            scalars = [evaluate(function, [np.asarray(x)])[0] for x in np.ravel(old)]
            return np.reshape(np.array(scalars, old.dtype), old.shape)

        plain = ScatterLike(self.name, self.combine, apply)
        return plain.numpy(*values, **params)

    def body(self, *, function: Jaxpr) -> Callable[..., Any]:  # type: ignore[override]
        return lambda inner, old, new: inner.inline(function, [old])

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        if tangents[0] is None:
            return self(*primals, **params), None
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

    Of several updates of one element the last stands.  `mode` is "fill" or "drop" (the default: a
    window not inside the operand is left out), "clip" (it is moved inside) or
    "promise_in_bounds".  Raises ValueError or TypeError for dimension numbers that don't fit.
    Differs from NumPy's `x[i] = y`: returns a new array.

    >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter(jnp.zeros(3), jnp.array([[1], [5]]), jnp.array([2.0, 3.0]), numbers)
    Array([0., 2., 0.], dtype=float32)
    """
    params = scatter_params(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scatter_p(*scatter_operands("scatter", operand, scatter_indices, updates), **params)


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
    params = scatter_params(dimension_numbers, indices_are_sorted, unique_indices, mode)
    operand, indices, updates = scatter_operands("scatter_sub", operand, scatter_indices, updates)
    return scatter_add_p(operand, indices, neg(updates), **params)


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
    params = scatter_params(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scatter_mul_p(
        *scatter_operands("scatter_mul", operand, scatter_indices, updates), **params
    )


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
    params = scatter_params(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scatter_min_p(
        *scatter_operands("scatter_min", operand, scatter_indices, updates), **params
    )


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
    params = scatter_params(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scatter_max_p(
        *scatter_operands("scatter_max", operand, scatter_indices, updates), **params
    )


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
    params = scatter_params(dimension_numbers, indices_are_sorted, unique_indices, mode)
    return scatter_apply_p(operand, indices, updates, function=function, **params)
