"""The primitive `cond`: one of several Jaxprs, chosen by a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hloom.control.higher_order.derive import (
    Flags,
    PartialEval,
    backward,
    batched,
    derived,
    either,
    forward,
    joined,
    merge,
    partial_eval,
    permuted,
    pick,
    place,
    same_type,
    sections,
)
from hloom.control.higher_order.examples import harmless, may_not_end, meant_for
from hloom.control.higher_order.primitive import HigherOrder, takes
from hloom.control.jit.primitive import jit_p
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr, Var, eval_jaxpr
from hloom.core.primitive import is_linear
from hloom.core.record import Partial, trace_to_jaxpr
from hloom.core.trace import Origin, active
from hloom.errors import JaxprTypeError
from hloom.ops.common import linear
from hloom.ops.common.linear import move
from hloom.ops.pointwise.compare import eq, select_n_p
from hloom.ops.pointwise.unary import bitwise_not

BOOL, INT32 = np.dtype(bool), np.dtype(np.int32)
Branches = tuple[Jaxpr, ...]


class Joined(NamedTuple):
    """Branches made of branches; `found` has a flag for each output (or input) of those."""

    branches: Branches
    captured: list[Array]
    found: Flags


class Cond(HigherOrder):
    """(bool[], f32[3]) -- branches=(.., ..) --> [f32[3]].

    The first operand chooses a branch, which gets the others: False the first and True the second
    of two, or an i32 any of them; the last one if out of range.
    """

    def owner(self, params: dict[str, Any]) -> Jaxpr:
        return params["branches"][0]  # type: ignore[no-any-return]

    def infer(
        self, index: ShapedArray, *operands: ShapedArray, branches: Branches
    ) -> list[ShapedArray]:
        if index.shape or not (index.dtype == INT32 or index.dtype == BOOL and len(branches) == 2):
            raise JaxprTypeError(
                f"cond of {len(branches)} branches takes i32[] to choose one, or bool[] if there "
                f"are two; got {index}"
            )
        if not branches:
            raise JaxprTypeError("cond takes a branch at least; got none")
        outs = branches[0].out_avals
        for branch in branches:
            takes("cond", operands, branch)
            given = branch.out_avals
            if len(given) != len(outs) or not all(map(same_type, given, outs)):
                listed = " and ".join(
                    ", ".join(map(str, b.out_avals)) for b in (branches[0], branch)
                )
                raise JaxprTypeError(f"cond: all branches give the same types; got {listed}")
        weak = [
            all(x.weak_type for x in column) for column in zip(*[b.out_avals for b in branches])
        ]
        return [out if w else out.strong() for out, w in zip(outs, weak)]

    def numpy(self, index: Any, *values: Any, branches: Branches) -> list[Any]:
        chosen = int(index)
        inside = 0 <= chosen < len(branches)
        return evaluate(branches[chosen if inside else -1], values)

    def emit(
        self, block: Any, out: list[ShapedArray], index: Any, *operands: Any, branches: Branches
    ) -> list[Any]:
        if not out:
            return []
        if len(branches) == 1:
            return list(block.inline(branches[0], operands))
        bodies = [lambda b, jaxpr=jaxpr: b.inline(jaxpr, operands) for jaxpr in branches]
        if index.aval.dtype == BOOL:
            return list(block.if_(index, bodies[1], bodies[0], out))
        return list(block.case(index, bodies, out))

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, branches: Branches
    ) -> tuple[list[Any], list[Any]]:
        index, *operands = primals
        live = tuple(t is not None for t in tangents[1:])

        def make() -> Joined:
            found = either(*[forward(b, live).found for b in branches])
            made = [forward(b, live, found) for b in branches]
            return _join(made, found)

        new, captured, found = _derived(branches, ("jvp", live), make)
        count = len(branches[0].outputs)
        moving = pick(tangents[1:], live)
        outs = cond_p(index, *captured, *operands, *moving, branches=new)
        return outs[:count], place(outs[count:], found)

    def batch(
        self,
        size: int,
        operands: Sequence[Any],
        batch_axes: Sequence[int | None],
        *,
        branches: Branches,
    ) -> tuple[list[Any], list[int | None]]:
        moved = [x if a is None else move(x, a, 0) for x, a in zip(operands, batch_axes)]
        flags = tuple(a is not None for a in batch_axes)
        if flags[0]:
            jaxpr, captured = _selected(branches, size, flags, moved[0].aval)
            outs = jit_p.apply([*captured, *moved], {"name": "cond", "jaxpr": jaxpr})
            same = {j: moved[1 + i] for j, i in _forwarded(branches) if not flags[1 + i]}
            outs = [same.get(j, out) for j, out in enumerate(outs)]
            return outs, [None if j in same else 0 for j in range(len(outs))]

        def make() -> Joined:
            found = either(*[batched(b, size, flags[1:]).found for b in branches])
            made = [batched(b, size, flags[1:], found) for b in branches]
            return _join(made, found)

        new, captured, found = _derived(branches, ("batch", size, flags), make)
        outs = cond_p(moved[0], *captured, *moved[1:], branches=new)
        return outs, [0 if f else None for f in found]

    def partial_eval(
        self, trace: Partial, operands: Sequence[Any], *, branches: Branches
    ) -> list[Any]:
        """Each branch split into what is known, run now, and the rest, recorded."""
        index, *rest = operands
        if trace.owns(index):
            return list(trace.record(self, operands, {"branches": branches}))
        unknown = tuple(map(trace.owns, rest))
        known, captured, found, late = _derived(
            branches, ("partial_eval", unknown), lambda: _partial_eval(branches, unknown)
        )
        values: list[Any] = []
        if known[0].outputs:
            with active(trace.parent):
                values = cond_p(index, *captured, *pick(rest, unknown, False), branches=known)
        count = found.count(False)
        residuals = [*values[count:], *pick(rest, unknown)]
        recorded = trace.record(self, [index, *residuals], {"branches": late}) if any(found) else []
        return merge(found, values[:count], recorded)

    def transpose(
        self, cts: Sequence[Any], index: Any, *operands: Any, branches: Branches
    ) -> list[Any]:
        lin = tuple(map(is_linear, operands))
        live = tuple(ct is not None for ct in cts)

        def make() -> Joined:
            found = either(*[backward(b, lin, live).found for b in branches])
            made = [backward(b, lin, live, found) for b in branches]
            return _join(made, found)

        new, captured, found = _derived(branches, ("transpose", lin, live), make)
        known = pick(operands, lin, False)
        outs = cond_p(index, *captured, *known, *pick(cts, live), branches=new)
        return [None, *merge(lin, [None] * len(known), place(outs, found))]


def _derived(branches: Branches, key: tuple[Any, ...], make: Any) -> Any:
    return derived(branches[0], ("cond", branches[1:], *key), make)


def _join(made: Sequence[Any], found: Flags) -> Joined:
    jaxprs, captured = joined([(m.jaxpr, m.captured) for m in made])
    return Joined(tuple(jaxprs), captured, found)


def _selected(
    branches: Branches, size: int, flags: Flags, index: ShapedArray
) -> tuple[Jaxpr, list[Array]]:
    """All branches, and for each example the results of the one it chooses."""

    def make() -> tuple[Jaxpr, list[Array]]:
        made = [batched(b, size, flags[1:], (True,) * len(b.outputs)) for b in branches]
        jaxprs, captured = joined([(m.jaxpr, m.captured) for m in made])

        def run(*values: Any) -> list[Any]:
            held, (which, *operands) = sections(values, len(captured))
            cases = []
            for number, jaxpr in enumerate(jaxprs):
                cases.append(_run_for(_is(which, number), jaxpr, held, operands, flags[1:]))
            return [_select(which, *xs) for xs in zip(*cases)]

        avals = [v.aval for v in made[0].jaxpr.inputs[len(made[0].captured) :]]
        inside = [*[x.aval for x in captured], index, *avals]
        jaxpr, more = trace_to_jaxpr(run, inside, Origin("vmap"))
        return jaxpr, [*more, *captured]

    selected: tuple[Jaxpr, list[Array]] = _derived(branches, ("select", size, flags, index), make)
    return selected


def _is(which: Any, number: int) -> Any:
    """Which examples take the branch of that number."""
    if which.aval.dtype != BOOL:
        return eq(which, number)
    return which if number else bitwise_not(which)


def _run_for(
    taken: Any, jaxpr: Jaxpr, held: Sequence[Any], operands: Sequence[Any], flags: Flags
) -> list[Any]:
    """The results for examples that are taken; anything for the others.

    A loop is not run where there is no example that is taken.
    """
    if not jaxpr.equations:
        return eval_jaxpr(jaxpr, [*held, *operands])
    if not may_not_end(jaxpr):
        return eval_jaxpr(jaxpr, [*held, *harmless(taken, jaxpr, operands, flags)])

    def nothing(*_: Any) -> list[Any]:
        return [linear.zeros(aval) for aval in jaxpr.out_avals]

    empty, _ = derived(
        jaxpr, ("nothing",), lambda: trace_to_jaxpr(nothing, jaxpr.in_avals, Origin("vmap"))
    )
    some, given = meant_for(taken, operands, flags)
    return cond_p(some, *held, *given, branches=(empty, jaxpr))  # type: ignore[no-any-return]


def _forwarded(branches: Branches) -> list[tuple[int, int]]:
    """The positions of results for which all branches give one operand, and of that operand."""
    places = [{var: i for i, var in enumerate(b.inputs)} for b in branches]
    columns = zip(*[[p.get(x, -1) for x in b.outputs] for p, b in zip(places, branches)])
    found = [(j, column[0]) for j, column in enumerate(columns) if len(set(column)) == 1]
    return [(j, i) for j, i in found if i >= 0]


def _select(which: Any, *cases: Any) -> Any:
    """`which` has one axis, the first of the cases."""
    shape = cases[0].aval.shape
    spread = linear.broadcast_in_dim(which, shape, (0,))
    return select_n_p(spread, *cases)


def _partial_eval(
    branches: Branches, unknown: Flags
) -> tuple[Branches, list[Array], Flags, Branches]:
    """Known and late branches; all give and take residuals in one list of slots."""
    found = either(*[partial_eval(b, unknown).found for b in branches])
    parts = [partial_eval(b, unknown, found) for b in branches]
    count = found.count(False)
    slots: list[ShapedArray] = []
    positions = [_slots_of([x.aval for x in p.known.outputs[count:]], slots) for p in parts]
    filled = [_filled(p, count, position, slots) for p, position in zip(parts, positions)]
    jaxprs, captured = joined(filled)
    late = [_with_slots(p.late, position, slots) for p, position in zip(parts, positions)]
    return tuple(jaxprs), captured, found, tuple(late)


def _slots_of(avals: Sequence[ShapedArray], slots: list[ShapedArray]) -> list[int]:
    """A slot of its type for each residual; slots that are missing are added."""
    free = dict(enumerate(slots))
    positions = []
    for aval in avals:
        position = next((i for i, slot in free.items() if same_type(slot, aval)), None)
        if position is None:
            position = len(slots)
            slots.append(aval)
        free.pop(position, None)
        positions.append(position)
    return positions


def _filled(
    part: PartialEval, count: int, positions: Sequence[int], slots: Sequence[ShapedArray]
) -> tuple[Jaxpr, list[Array]]:
    """The known part, with zeros in the slots that it does not use."""

    def run(*values: Any) -> list[Any]:
        outs = eval_jaxpr(part.known, values)
        used = dict(zip(positions, outs[count:]))
        fill = [used[i] if i in used else linear.zeros(aval) for i, aval in enumerate(slots)]
        return outs[:count] + fill

    jaxpr, more = trace_to_jaxpr(run, part.known.in_avals, Origin("cond"))
    return jaxpr, [*more, *part.captured]


def _with_slots(late: Jaxpr, positions: Sequence[int], slots: Sequence[ShapedArray]) -> Jaxpr:
    """The late part, taking all slots."""
    own = dict(zip(positions, late.inputs))
    leading = [own.get(i) or Var(aval) for i, aval in enumerate(slots)]
    return permuted(late, [*leading, *late.inputs[len(positions) :]])


cond_p = Cond("cond")
