"""What a Jaxpr under vmap computes for the examples that it is not meant for.

Where the choice differs between examples, every branch of a `cond` is run on all of them, and so
is the body of a `while_loop` on those that have ended.  What comes out for them is dropped, but it
must not do harm on the way: a loop might not end for them, and a derivative that is infinite or NaN
stays NaN when it is multiplied with the 0 that flows back from what is dropped.  On the way to
their own operands that can be stopped, but what all examples share gets the sum.

So they are given the operands of an example that the Jaxpr is meant for.  Then nothing is computed
that would not be computed one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.control.higher_order.derive import Flags, derived, pick
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr
from hloom.core.primitive import Primitive
from hloom.core.trace import Origin
from hloom.ops.common import linear
from hloom.ops.indexing.dynamic_slicing import dynamic_index_in_dim
from hloom.ops.pointwise.compare import select_n
from hloom.ops.pointwise.convert import stop_gradient
from hloom.ops.reductions.reduce import reduce_min
from hloom.ops.shapes.shape import iota
from hloom.transforms.batch import batch_flat

INT32 = np.dtype(np.int32)


def meant_for(taken: Any, operands: Sequence[Any], flags: Flags) -> tuple[Any, list[Any]]:
    """Whether there is an example that is taken, and the operands with those of the first such one
    in the place of all that are not taken.

    `taken` is bool[size]; flagged operands have examples on axis 0, the others are shared by all.
    No derivative flows back from an example that is not taken, nor to what is shared if none is.
    """
    size = taken.aval.shape[0]
    if not size:
        return linear.constant(False, taken.aval.dtype), list(operands)
    last = linear.full((size,), size - 1, INT32)
    first = reduce_min(select_n(taken, last, iota(INT32, size)), (0,))
    some = _at(taken, first)
    given = [
        _where(taken, x, linear.spread(_at(stop_gradient(x), first), 0, size)) if flag
        else select_n(some, stop_gradient(x), x)
        for x, flag in zip(operands, flags)
    ]  # fmt: skip
    return some, given


def _at(x: Any, place: Any) -> Any:
    """The example at a place that is inside."""
    return dynamic_index_in_dim(x, place, 0, False, allow_negative_indices=False)


def _where(taken: Any, x: Any, otherwise: Any) -> Any:
    """`taken` has one axis, the first of the others."""
    return select_n(linear.broadcast_in_dim(taken, x.aval.shape, (0,)), otherwise, x)


def harmless(taken: Any, jaxpr: Jaxpr, operands: Sequence[Any], flags: Flags) -> Sequence[Any]:
    """The operands of a Jaxpr without loops that is run for examples that are taken or not.

    Costs nothing until it is differentiated: XLA drops a choice between two that are the same.
    """
    used = {x for equation in jaxpr.equations for x in equation.inputs}
    shared = [
        var in used and not flag and dtypes.in_domain(var.aval.dtype, "inexact")
        for var, flag in zip(jaxpr.inputs[-len(flags) :], flags)
    ]
    if any(shared):
        return taken_only_p(taken, *operands, flags=flags)  # type: ignore[no-any-return]
    return [_where(taken, x, stop_gradient(x)) if f else x for x, f in zip(operands, flags)]


class TakenOnly(Primitive):
    """(bool[4], f32[4,3], f32[2]) -- flags=(True, False) --> [f32[4,3], f32[2]].

    The operands; but where one of those that all examples share has a tangent, then what
    `meant_for` makes of them.
    """

    multiple = True

    def infer(self, taken: ShapedArray, *xs: ShapedArray, flags: Flags) -> list[ShapedArray]:
        if len(flags) != len(xs) or any(x.shape[:1] != taken.shape for x in pick(xs, flags)):
            raise TypeError(f"taken_only takes operands for {taken} examples; got {xs}")
        return list(xs)

    def numpy(self, taken: Any, *xs: Any, flags: Flags) -> list[Any]:
        return list(xs)

    def emit(self, block: Any, out: Any, taken: Any, *xs: Any, flags: Flags) -> list[Any]:
        return list(xs)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, flags: Flags
    ) -> tuple[list[Any], list[Any]]:
        (taken, *xs), (_, *dots) = primals, tangents
        some: Any = None
        if any(t is not None for t in pick(dots, flags, False)):
            some, xs = meant_for(taken, xs, flags)
        outs = self(taken, *xs, flags=flags)  # again: for derivatives of a higher order
        full = [t if t is None else linear.spread_scalar(t, x.aval.shape) for t, x in zip(dots, xs)]
        return outs, [
            t if t is None
            else _where(taken, t, linear.zeros(t.aval)) if flag
            else select_n(some, linear.zeros(t.aval), t)
            for t, flag in zip(full, flags)
        ]  # fmt: skip

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], *, flags: Flags
    ) -> tuple[list[Any], list[int | None]]:
        return batch_flat(
            lambda taken, *xs: meant_for(taken, xs, flags)[1],
            operands,
            batch_axes,
            size,
            Origin("vmap"),
        )


taken_only_p = TakenOnly("taken_only")


# ---- loops whose end depends on values ----------------------------------------------------------
def may_not_end(jaxpr: Jaxpr) -> bool:
    """Whether there is a `while` in the Jaxpr, or in one inside it."""

    def make() -> tuple[bool, list[Array]]:
        found = any(
            equation.primitive.name == "while" or any(map(may_not_end, equation.inner_jaxprs()))
            for equation in jaxpr.equations
        )
        return found, []

    return derived(jaxpr, ("may_not_end",), make)[0]  # type: ignore[no-any-return]
