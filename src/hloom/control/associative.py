"""`associative_scan`: all prefixes combined, in a number of steps that grows with the logarithm."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from hloom import tree
from hloom.control.higher_order.canonical import canonical
from hloom.control.higher_order.functions import arrays_of, recording
from hloom.control.higher_order.mismatches import check_callable
from hloom.control.jit.primitive import jit_p
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.record import trace_to_jaxpr
from hloom.core.support import source
from hloom.core.support.signature import call_with, called, name_of
from hloom.core.support.strict import strict
from hloom.core.trace import Origin
from hloom.errors.texts import explain
from hloom.ops.shapes.shape import reshape, rev
from hloom.ops.shapes.slicing import concatenate, slice_in_dim


@strict
def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Element i of the result combines elements 0 to i, by an associative function.

    `fn(a, b)` combines arrays of elements, whose axis `axis` may be of any size: it works element
    by element, as under `vmap`.  `elems` and what `fn` takes and gives are pytrees of one
    structure; shapes and dtypes are kept.  `reverse` combines elements i to the last one.  Compiled
    to about 2 log2(n) applications of `fn`, with 2 n combinations in all, neighbours first: sums of
    floats may lose digits or overflow where a running total doesn't (`lax.cumsum` is one).

    Raises ValueError for an axis out of range or of sizes that differ, TypeError where `fn` changes
    structure or types.  Differs from `ufunc.accumulate`: any associative function.

    >>> lax.associative_scan(jnp.maximum, jnp.array([3, 1, 4, 1, 5]))
    Array([3, 3, 4, 4, 5], dtype=int32)
    """
    check_callable("associative_scan", fn=fn)
    leaves, treedef = arrays_of("associative_scan", "elems", elems)
    if not leaves:
        return elems
    axis = _axis(leaves, treedef, axis)
    combine = _Combination(fn, treedef, [x.aval for x in leaves], axis)
    size = leaves[0].aval.shape[axis]

    def whole(*xs: Any) -> list[Any]:
        values = [rev(x, (axis,)) for x in xs] if reverse else list(xs)
        values = _scan(combine, values, size, axis) if size > 1 else values
        return [rev(x, (axis,)) for x in values] if reverse else values

    if recording() or current.get().config.disable_jit:
        return tree.unflatten(treedef, whole(*leaves))
    origin = Origin("associative_scan", fn)
    jaxpr, captured = trace_to_jaxpr(whole, [x.aval for x in leaves], origin)
    jaxpr.origin = None
    params = {"name": name_of(fn), "jaxpr": canonical(jaxpr)}
    return tree.unflatten(treedef, jit_p.apply([*captured, *leaves], params))


def _axis(leaves: Sequence[Array], treedef: Any, axis: Any) -> int:
    """The axis counted from the front, for all leaves; it has one size."""
    try:
        wanted = operator.index(axis)
    except TypeError:
        raise TypeError(f"associative_scan takes axis as an int; got {axis!r:.80}") from None
    names = [f"elems{tree.keystr(path)}" for path in tree.paths(treedef)]
    for name, x in zip(names, leaves):
        if not -x.aval.ndim <= wanted < x.aval.ndim:
            raise ValueError(
                f"associative_scan: axis {axis} is out of bounds for {name}, which is {x.aval}"
            )
    places = {wanted % x.aval.ndim for x in leaves}
    sizes = {x.aval.shape[wanted] for x in leaves}
    if len(sizes) > 1 or len(places) > 1:
        shown = "\n".join(f"  {name}: {x.aval}" for name, x in zip(names, leaves))
        rule = f"associative_scan takes arrays with one size along axis {axis}:\n{shown}"
        if len(sizes) == 1:
            rule = f"associative_scan takes arrays that have axis {axis} in one place:\n{shown}"
        raise ValueError(explain(rule, at=source.here()))
    return places.pop()


class _Combination:
    """`fn` on lists of leaves, which must keep their tree and types."""

    def __init__(self, fn: Any, treedef: Any, avals: Sequence[ShapedArray], axis: int):
        self.fn = fn
        self.treedef = treedef
        self.avals = avals
        self.axis = axis

    def __call__(self, xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
        pair = tree.unflatten(self.treedef, xs), tree.unflatten(self.treedef, ys)
        out = call_with("associative_scan", self.fn, pair)
        leaves, treedef = arrays_of("associative_scan", "the result", out)
        difference = tree.mismatch(
            f"associative_scan: {called(self.fn)}", self.treedef, treedef,
            ("what it takes", "what it gives"), exact=True,
        )  # fmt: skip
        if difference is not None:
            raise TypeError(explain(str(difference), at=source.here()))
        for x, given in zip(xs, leaves):
            if x.aval.shape != given.aval.shape or x.aval.dtype != given.aval.dtype:
                rule = (
                    f"associative_scan: {called(self.fn)} must keep the type of what it combines; "
                    f"it made {given.aval} of {x.aval}"
                )
                raise TypeError(explain(rule, at=source.here()))
        return leaves


def _scan(combine: _Combination, xs: list[Any], size: int, axis: int) -> list[Any]:
    """Pairs are combined, their prefixes found in the same way: those end at 1, 3, 5, ..

    Prefixes that end at 2, 4, .. are the one before and one element more.
    """
    half = size // 2
    first = _strided(xs, 0, 2 * half, axis)
    second = _strided(xs, 1, 2 * half, axis)
    odd = combine(first, second)
    if half > 1:
        odd = _scan(combine, odd, half, axis)
    start = [slice_in_dim(x, 0, 1, 1, axis) for x in xs]
    more = size - half - 1  # prefixes that end at 2, 4, ..
    if more:
        before = [slice_in_dim(x, 0, more, 1, axis) for x in odd]
        even = combine(before, _strided(xs, 2, size, axis))
        start = [concatenate([x, y], axis) for x, y in zip(start, even)]
    return [_interleaved(x, y, axis) for x, y in zip(start, odd)]


def _strided(xs: Sequence[Any], start: int, limit: int, axis: int) -> list[Any]:
    """Every second element."""
    return [slice_in_dim(x, start, limit, 2, axis) for x in xs]


def _interleaved(x: Any, y: Any, axis: int) -> Any:
    """x[0], y[0], x[1], y[1], ..; there may be one x more."""
    size = y.aval.shape[axis]
    rest = x.aval.shape[axis] - size
    last = slice_in_dim(x, size, size + rest, 1, axis)
    x = slice_in_dim(x, 0, size, 1, axis)
    shape = y.aval.shape
    split = (*shape[: axis + 1], 1, *shape[axis + 1 :])
    joined = concatenate([reshape(x, split), reshape(y, split)], axis + 1)
    merged = reshape(joined, (*shape[:axis], 2 * size, *shape[axis + 1 :]))
    return concatenate([merged, last], axis) if rest else merged


__all__ = ["associative_scan"]
