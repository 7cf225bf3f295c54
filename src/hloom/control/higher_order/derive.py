"""Transformed Jaxprs: forward (jvp), batched, partial_eval and backward (transpose).

The rules of higher-order primitives are written with these four.  Each takes a flag for each input
(has it a tangent, a batch axis, ..) and returns the new Jaxpr, the arrays that it captured, which
are its leading inputs, and a flag for each output.

The carry of a loop must have the same tangents (or batch axes) going in and coming out.  `wanted`
asks for outputs that would not be there otherwise, and `fixpoint` finds the least flags that do not
change from the carry that goes in to the carry that comes out.

A transformed Jaxpr is cached with the Jaxpr that it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.jaxpr import Jaxpr, Var, eval_jaxpr
from hloom.core.record import Partial, trace_to_jaxpr
from hloom.core.trace import Origin, Tracer, active
from hloom.ops.common import linear
from hloom.transforms.batch import batch_flat, to_axis
from hloom.transforms.jvp import jvp_flat
from hloom.transforms.transpose import transpose_jaxpr

Flags = tuple[bool, ...]
T = TypeVar("T", bound=tuple[Any, ...])


class TransformedJaxpr(NamedTuple):
    """A Jaxpr and its captures; `found` has a flag for each output of the Jaxpr it is made from."""

    jaxpr: Jaxpr
    captured: list[Array]
    found: Flags


class PartialEval(NamedTuple):
    """A Jaxpr in two: `known` gives its known outputs and `residuals`; `late` takes those.

    `found` has a flag for each output of the whole: whether it is `late` that gives it.
    """

    known: Jaxpr
    captured: list[Array]
    late: Jaxpr
    found: Flags


# ---- flags and lists ------------------------------------------------------------------------
def fixpoint(flags: Flags, step: Callable[[Flags], Sequence[bool]]) -> Flags:
    """The least flags, from these on, for which `step(flags)` adds none."""
    while True:
        found = tuple(a or b for a, b in zip(flags, step(flags)))
        if found == flags:
            return flags
        flags = found


def either(*flags: Sequence[bool]) -> Flags:
    """Where one of them is set."""
    return tuple(map(any, zip(*flags)))


def pick(values: Sequence[Any], flags: Sequence[bool], where: bool = True) -> list[Any]:
    """The values whose flag is set (or is not)."""
    return [x for x, flag in zip(values, flags) if flag == where]


def place(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values in the places whose flag is set, None in the others."""
    given = iter(values)
    return [next(given) if flag else None for flag in flags]


def merge(flags: Sequence[bool], unset: Sequence[Any], is_set: Sequence[Any]) -> list[Any]:
    """One list of two: from `is_set` where the flag is set, else from `unset`."""
    sources = iter(unset), iter(is_set)
    return [next(sources[flag]) for flag in flags]


def sections(values: Sequence[Any], *sizes: int) -> list[list[Any]]:
    """The values cut into lists of these sizes and one of the rest."""
    made, start = [], 0
    for size in sizes:
        made.append(list(values[start : start + size]))
        start += size
    return [*made, list(values[start:])]


def permuted(jaxpr: Jaxpr, inputs: Sequence[Any], outputs: Sequence[Any] | None = None) -> Jaxpr:
    """The same equations with inputs (some may be new) and outputs in another order."""
    outputs = jaxpr.outputs if outputs is None else outputs
    return Jaxpr(list(inputs), jaxpr.equations, list(outputs), 0, jaxpr.origin)


def joined(transformed: Sequence[tuple[Jaxpr, Sequence[Array]]]) -> tuple[list[Jaxpr], list[Array]]:
    """Jaxprs that take each other's captures too, in one order, and those captures.

    Each Jaxpr comes with its own captures, which are its leading inputs.
    """
    union = {id(x): x for _, captured in transformed for x in captured}
    jaxprs = []
    for jaxpr, captured in transformed:
        own = dict(zip(map(id, captured), jaxpr.inputs))
        if list(own) == list(union):
            jaxprs.append(jaxpr)
            continue
        leading = [own.get(key) or Var(x.aval) for key, x in union.items()]
        jaxprs.append(permuted(jaxpr, [*leading, *jaxpr.inputs[len(captured) :]]))
    return jaxprs, list(union.values())


def same_type(x: ShapedArray, y: ShapedArray) -> bool:
    """Whether two types differ in nothing but weak type."""
    return x is y or (x.shape == y.shape and x.dtype == y.dtype)


# ---- the four -------------------------------------------------------------------------------
def forward(jaxpr: Jaxpr, live: Flags, wanted: Flags = ()) -> TransformedJaxpr:
    """Inputs, and tangents of the `live` ones, to outputs, and tangents of those `found`."""

    def make() -> TransformedJaxpr:
        found: list[bool] = []

        def run(*values: Any) -> list[Any]:
            primals, tangents = values[: len(live)], place(values[len(live) :], live)
            outs, dots = jvp_flat(
                lambda *xs: eval_jaxpr(jaxpr, xs), primals, tangents, Origin("jvp")
            )
            found[:] = [t is not None for t in dots]
            if wanted:
                found[:] = either(found, wanted)
            return outs + [_tangent(*pair) for pair in pick(list(zip(outs, dots)), found)]

        avals = jaxpr.in_avals
        new, captured = trace_to_jaxpr(run, avals + pick(avals, live), Origin("jvp"))
        return TransformedJaxpr(new, captured, tuple(found))

    return derived(jaxpr, ("forward", live, wanted), make)


def _tangent(out: Any, tangent: Any) -> Any:
    """A tangent of the shape of what it is the tangent of."""
    if tangent is None:
        return linear.zeros(out.aval)
    return linear.spread_scalar(tangent, out.aval.shape)


def batched(jaxpr: Jaxpr, size: int, flags: Flags, wanted: Flags = ()) -> TransformedJaxpr:
    """The Jaxpr on `size` examples: flagged inputs, and outputs `found`, have them on axis 0."""

    def make() -> TransformedJaxpr:
        found: list[bool] = []

        def run(*values: Any) -> list[Any]:
            outs, axes = batch_flat(
                lambda *xs: eval_jaxpr(jaxpr, xs), values, [0 if f else None for f in flags], size,
                Origin("vmap"),
            )  # fmt: skip
            found[:] = [axis is not None for axis in axes]
            if wanted:
                found[:] = either(found, wanted)
            pairs = zip(outs, axes, found)
            return [to_axis(out, axis, 0, size) if f else out for out, axis, f in pairs]

        avals = [
            with_leading_axis(v.aval, size) if f else v.aval for v, f in zip(jaxpr.inputs, flags)
        ]
        new, captured = trace_to_jaxpr(run, avals, Origin("vmap"))
        return TransformedJaxpr(new, captured, tuple(found))

    return derived(jaxpr, ("batched", size, flags, wanted), make)


def with_leading_axis(aval: ShapedArray, size: int) -> ShapedArray:
    """The type with one more axis in front."""
    return aval.update(shape=(size, *aval.shape))


def partial_eval(jaxpr: Jaxpr, unknown: Flags, wanted: Flags = ()) -> PartialEval:
    """The Jaxpr in two: what depends on the unknown inputs (or is wanted so), and the rest.

    `known` takes the known inputs and gives the known outputs, then the residuals; `late` takes the
    residuals, then the unknown inputs, and gives the outputs that are `found` unknown.  It is run
    again rather than cut by equation: an equation with a Jaxpr inside may be known in part.
    """

    def make() -> PartialEval:
        late: list[Any] = []

        def early(*values: Any) -> list[Any]:
            partial = Partial(Origin("linearize"), current.get().trace)
            given = iter(values)
            inputs = [
                partial.argument(v.aval) if u else next(given)
                for v, u in zip(jaxpr.inputs, unknown)
            ]
            try:
                with active(partial):
                    outs = eval_jaxpr(jaxpr, inputs)
                found = tuple(map(partial.owns, outs))
                if wanted:
                    found = either(found, wanted)
                rest, residuals = partial.close(pick(inputs, unknown), pick(outs, found))
            finally:
                partial.done = True
            late[:] = [rest, found]
            return pick(outs, found, False) + residuals

        avals = pick(jaxpr.in_avals, unknown, False)
        return PartialEval(*trace_to_jaxpr(early, avals, Origin("linearize")), *late)

    return derived(jaxpr, ("partial_eval", unknown, wanted), make)


def backward(jaxpr: Jaxpr, lin: Flags, live: Flags, wanted: Flags = ()) -> TransformedJaxpr:
    """From the inputs that are not linear, and cotangents of the `live` outputs, to cotangents.

    These are of the linear inputs; `found` has a flag for each of them.
    """

    def make() -> TransformedJaxpr:
        found: list[bool] = []
        known = pick(jaxpr.inputs, lin, False)
        ordered = permuted(jaxpr, known + pick(jaxpr.inputs, lin))

        def run(*values: Any) -> list[Any]:
            cts = place(values[len(known) :], live)
            outs = transpose_jaxpr(ordered, values[: len(known)], cts)
            found[:] = [ct is not None for ct in outs]
            if wanted:
                found[:] = either(found, wanted)
            pairs = list(zip(ordered.inputs[len(known) :], outs))
            return [_tangent(*pair) for pair in pick(pairs, found)]

        avals = [v.aval for v in known] + pick(jaxpr.out_avals, live)
        new, captured = trace_to_jaxpr(run, avals, Origin("grad"))
        return TransformedJaxpr(new, captured, tuple(found))

    return derived(jaxpr, ("backward", lin, live, wanted), make)


def derived(jaxpr: Jaxpr, key: Any, make: Callable[[], T]) -> T:
    """The result of `make`, cached with the Jaxpr for each key and configuration.

    What is cached must not hold a tracer: the second item of the result is the captured arrays.
    """
    key = (*key, current.get().config)
    found: Any = jaxpr.cache.get(key)
    if found is None:
        found = make()
        if not any(isinstance(x, Tracer) for x in found[1]):
            jaxpr.cache[key] = found
    return found  # type: ignore[no-any-return]
