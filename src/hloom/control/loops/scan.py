"""The primitive `scan`: a Jaxpr applied to each slice of arrays; a carry goes along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hloom.control.higher_order.derive import (
    Divided,
    Flags,
    backward,
    batched,
    derived,
    divided,
    forward,
    grow,
    led,
    merge,
    permuted,
    pick,
    place,
    same_type,
    sections,
)
from hloom.control.higher_order.structured import HigherOrder, takes
from hloom.control.jit.primitive import jit_p
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr, Literal, eval_jaxpr
from hloom.core.primitive import is_linear
from hloom.core.record import Partial, trace_to_jaxpr
from hloom.core.trace import Origin, active
from hloom.errors import JaxprTypeError
from hloom.ops.common import linear
from hloom.ops.common.linear import move, plus

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


class Steps(NamedTuple):
    """The parameters of a scan, but for its Jaxpr."""

    length: int
    num_carry: int
    num_consts: int
    reverse: bool
    unroll: int

    @classmethod
    def of(cls, params: dict[str, Any]) -> Steps:
        """From the parameters of the primitive."""
        return cls(*[params[name] for name in cls._fields])

    def parts(self, values: Sequence[Any]) -> list[list[Any]]:
        """Constants, carry and what is scanned."""
        return sections(values, self.num_consts, self.num_carry)

    def outs(self, values: Sequence[Any]) -> list[list[Any]]:
        """Carry and what is stacked."""
        return sections(values, self.num_carry)

    def with_(self, jaxpr: Jaxpr, consts: int, carry: int, reverse: bool | None = None) -> Any:
        """The parameters with another Jaxpr."""
        changes = {"num_consts": consts, "num_carry": carry}
        if reverse is not None:
            changes["reverse"] = reverse
        return {"jaxpr": jaxpr, **self._replace(**changes)._asdict()}


class Scan(HigherOrder):
    """(f32[], f32[5,2]) -- jaxpr=.., length=5, num_consts=0, num_carry=1, .. --> [f32[], f32[5,3]].

    Operands are constants, the carry, and arrays that give one slice of their first axis to each
    step; the Jaxpr takes these three and gives the carry and slices of the results.  `reverse`: the
    last slice comes first.  `unroll` steps are written one after another in the compiled loop.
    """

    def owner(self, params: dict[str, Any]) -> Jaxpr:
        return params["jaxpr"]  # type: ignore[no-any-return]

    parameters = Steps

    def infer(self, *avals: ShapedArray, jaxpr: Jaxpr, **params: Any) -> list[ShapedArray]:
        steps = Steps.of(params)
        if min(steps.length, steps.num_carry, steps.num_consts) < 0 or steps.unroll < 1:
            raise ValueError(
                f"scan takes counts of 0 or more, and unrolls 1 step or more; got {steps}"
            )
        consts, carry, xs = steps.parts(avals)
        for x in xs:
            if not x.shape or x.shape[0] != steps.length:
                raise JaxprTypeError(f"scan of {steps.length} steps takes as long arrays; got {x}")
        takes("scan", [*consts, *carry, *[x.update(shape=x.shape[1:]) for x in xs]], jaxpr)
        carry_out, ys = steps.outs(jaxpr.out_avals)
        if len(carry_out) != len(carry) or not all(map(same_type, carry_out, carry)):
            given, taken = (", ".join(map(str, types)) for types in (carry_out, carry))
            raise JaxprTypeError(
                f"scan: the body must give the carry it takes, {taken}; it gives {given}"
            )
        return [*carry_out, *[led(y, steps.length) for y in ys]]

    def numpy(self, *values: Any, jaxpr: Jaxpr, **params: Any) -> list[Any]:
        steps = Steps.of(params)
        consts, carry, xs = steps.parts(values)
        ys = [np.zeros((steps.length, *a.shape), a.dtype) for a in steps.outs(jaxpr.out_avals)[1]]
        order = range(steps.length)
        for i in reversed(order) if steps.reverse else order:
            outs = evaluate(jaxpr, [*consts, *carry, *[np.asarray(x[i]) for x in xs]])
            carry, made = steps.outs(outs)
            for y, slice_ in zip(ys, made):
                y[i] = slice_
        return [*carry, *ys]

    def emit(
        self, block: Any, out: list[ShapedArray], *operands: Any, jaxpr: Jaxpr, **params: Any
    ) -> list[Any]:
        steps = Steps.of(params)
        return emit_scan(block, out, operands, jaxpr, steps) if out else []

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Jaxpr, **params: Any
    ) -> tuple[list[Any], list[Any]]:
        self.infer(*[x.aval for x in primals], jaxpr=jaxpr, **params)
        steps = Steps.of(params)
        live = tuple(t is not None for t in tangents)
        made = derived(jaxpr, ("scan_jvp", steps, live), lambda: _forward(jaxpr, steps, live))
        values, dots = steps.parts(primals), steps.parts(tangents)
        moving = [pick(t, flags) for t, flags in zip(dots, steps.parts(live))]
        moving[1] = [
            linear.zeros(x.aval) if t is None else linear.spread_scalar(t, x.aval.shape)
            for x, t in pick(list(zip(values[1], dots[1])), made.found[: steps.num_carry])
        ]
        operands = [x for pair in zip(values, moving) for xs in pair for x in xs]
        outs = scan_p(*made.captured, *operands, **made.params)
        counts = steps.num_carry, len(made.found) - steps.num_carry
        moved = sum(made.found[: counts[0]])
        carry, carry_dots, ys, y_dots = sections(outs, counts[0], moved, counts[1])
        return [*carry, *ys], place([*carry_dots, *y_dots], made.found)

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], *, jaxpr: Jaxpr,
        **params: Any,
    ) -> tuple[list[Any], list[int | None]]:  # fmt: skip
        steps = Steps.of(params)
        flags = tuple(a is not None for a in batch_axes)
        made = derived(
            jaxpr, ("scan_batch", steps, size, flags), lambda: _batched(jaxpr, steps, size, flags)
        )
        scanned = len(operands) - steps.num_consts - steps.num_carry
        targets = [0] * (steps.num_consts + steps.num_carry) + [1] * scanned
        moved = [
            x if a is None else move(x, a, t) for x, a, t in zip(operands, batch_axes, targets)
        ]
        for i, found in enumerate(made.found[: steps.num_carry], steps.num_consts):
            if found and batch_axes[i] is None:
                moved[i] = linear.spread(moved[i], 0, size)
        outs = scan_p(*made.captured, *moved, **made.params)
        targets = [0] * steps.num_carry + [1] * (len(outs) - steps.num_carry)
        return outs, [t if f else None for t, f in zip(targets, made.found)]

    def partial_eval(self, trace: Partial, operands: Sequence[Any], **params: Any) -> list[Any]:
        """Scan what is known now, stacking what the rest needs; record a scan of the rest."""
        unknown = tuple(map(trace.owns, operands))
        halves = _halves(params["jaxpr"], Steps.of(params), unknown)
        with active(trace.parent):
            values, late = halves.apply(operands)
        rest = trace.record(self, late, halves.late) if any(halves.found) else []
        return merge(halves.found, values, rest)

    def transpose(
        self, cts: Sequence[Any], *operands: Any, jaxpr: Jaxpr, **params: Any
    ) -> list[Any]:
        steps = Steps.of(params)
        lin = tuple(map(is_linear, operands))
        consts, carry, xs = steps.parts(lin)
        whole = grow(
            tuple(carry),
            lambda flags: divided(jaxpr, (*consts, *flags, *xs)).found[: steps.num_carry],
        )
        if not all(whole):  # a counter and the like: run that first
            halves = _halves(jaxpr, steps, lin)
            _, late = halves.apply(operands)
            found = self.transpose(pick(cts, halves.found), *late, **halves.late)
            return halves.back(lin, found)
        live = tuple(ct is not None for ct in cts)
        lin = (*consts, *whole, *xs)
        made = derived(
            jaxpr, ("scan_transpose", steps, lin, live), lambda: _backward(jaxpr, steps, lin, live)
        )
        return _pull_back(made, steps, cts, operands, lin)


class Scanned(NamedTuple):
    """A scan made of a scan: parameters, captured constants, and flags that its rule explains."""

    params: dict[str, Any]
    captured: list[Array]
    found: Flags


# ---- StableHLO ----------------------------------------------------------------------------------
def emit_scan(
    block: Any, out: list[ShapedArray], operands: Sequence[Any], jaxpr: Jaxpr, steps: Steps
) -> list[Any]:
    """A while loop that counts, and reads and writes slices in place."""
    consts, carry, xs = steps.parts(operands)
    # All of them are written over; float8_e8m0fnu has no zero.
    blanks = [(0 if np.zeros((), a.dtype) == 0 else 1, a) for a in out[steps.num_carry :]]
    ys = [block.constant(value, aval) for value, aval in blanks]
    rounds, rest = divmod(steps.length, steps.unroll)
    if rounds == 1:
        rounds, rest = 0, steps.length
    dtype = INT32 if steps.length < 2**31 else INT64
    zero = block.constant(0, ShapedArray((), dtype))

    def step(b: Any, at: Any, state: Sequence[Any]) -> list[Any]:
        """Step `at`: `state` is the carry and the stacked results."""
        carry, ys = sections(state, steps.num_carry)
        outs = b.inline(jaxpr, [*consts, *carry, *[_read(b, x, at) for x in xs]])
        carry, made = sections(outs, steps.num_carry)
        return [*carry, *[_write(b, y, at, slice_) for y, slice_ in zip(ys, made)]]

    def body(b: Any, i: Any, *state: Any) -> list[Any]:
        values = list(state)
        for k in range(steps.unroll):
            at = b.add(i, k) if k else i
            values = step(b, b.sub(steps.length - 1, at) if steps.reverse else at, values)
        return [b.add(i, steps.unroll), *values]

    state = [*carry, *ys]
    if rounds:
        limit = rounds * steps.unroll
        _, *state = block.while_loop(
            lambda b, i, *_: b.compare(i, "LT", limit), body, [zero, *state]
        )
    for k in range(steps.length - rest, steps.length):
        at = steps.length - 1 - k if steps.reverse else k
        state = step(block, block.constant(at, zero.aval), state)
    return state


def _read(b: Any, x: Any, i: Any) -> Any:
    """Slice `i` of an operand."""
    shape = x.aval.shape
    starts = [i, *[b.constant(0, i.aval)] * (len(shape) - 1)]
    names = ", ".join(map(str, (x, *starts)))
    head = f"stablehlo.dynamic_slice {names}, sizes = {[1, *shape[1:]]}"
    return b.reshape(b.op(head, (x, *starts), x.aval.update(shape=(1, *shape[1:]))), shape[1:])


def _write(b: Any, y: Any, i: Any, slice_: Any) -> Any:
    """The stacked results with slice `i` written."""
    row = b.reshape(slice_, (1, *slice_.aval.shape))
    starts = [i, *[b.constant(0, i.aval)] * slice_.aval.ndim]
    names = ", ".join(map(str, (y, row, *starts)))
    return b.op(f"stablehlo.dynamic_update_slice {names}", (y, row, *starts), y.aval)


# ---- scans made of scans ------------------------------------------------------------------------
def _forward(jaxpr: Jaxpr, steps: Steps, live: Flags) -> Scanned:
    """Each of constants, carry, xs and ys is followed by its tangents."""
    consts, carry, xs = steps.parts(live)
    carry = grow(
        tuple(carry),
        lambda flags: forward(jaxpr, (*consts, *flags, *xs)).found[: steps.num_carry],
    )
    wanted = (*carry, *[False] * (len(jaxpr.outputs) - steps.num_carry))
    new, captured, found = forward(jaxpr, (*consts, *carry, *xs), wanted)
    held, inputs, dots = sections(new.inputs, len(captured), len(jaxpr.inputs))
    parts = steps.parts(inputs)
    moving = sections(dots, sum(consts), sum(carry))
    ordered = [*held, *[v for pair in zip(parts, moving) for vs in pair for v in vs]]
    outs = steps.outs(new.outputs[: len(jaxpr.outputs)])
    out_dots = sections(new.outputs[len(jaxpr.outputs) :], sum(carry))
    ordered_outs = [x for pair in zip(outs, out_dots) for xs in pair for x in xs]
    params = steps.with_(
        permuted(new, ordered, ordered_outs), len(held) + len(consts) + sum(consts),
        len(carry) + sum(carry),
    )  # fmt: skip
    return Scanned(params, captured, found)


def _batched(jaxpr: Jaxpr, steps: Steps, size: int, flags: Flags) -> Scanned:
    consts, carry, xs = steps.parts(flags)
    carry = grow(
        tuple(carry),
        lambda flags: batched(jaxpr, size, (*consts, *flags, *xs)).found[: steps.num_carry],
    )
    wanted = (*carry, *[False] * (len(jaxpr.outputs) - steps.num_carry))
    new, captured, found = batched(jaxpr, size, (*consts, *carry, *xs), wanted)
    params = steps.with_(new, len(captured) + len(consts), len(carry))
    return Scanned(params, captured, found)


# ---- in two halves ------------------------------------------------------------------------------
class Halves(NamedTuple):
    """A scan in two: `known` runs first; `late` takes what that stacked.

    A residual that does not change from step to step is computed once, by `fixed`, and one that is
    a slice of an operand is not stacked again.
    """

    known: dict[str, Any]
    captured: list[Array]
    fixed: Jaxpr | None
    late: dict[str, Any]
    found: Flags  # outputs of the whole that `late` gives
    steps: Steps
    unknown: Flags  # operands of the whole
    carry: Flags  # the carry that is unknown, at the latest after some steps
    kinds: tuple[int, ...]  # of each residual: the position of an operand that it is, or one of

    FIXED, STACKED = -1, -2

    def apply(self, operands: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Known outputs, and the operands of `late`."""
        consts, carry, xs = self.steps.parts(operands)
        flags = self.steps.parts(self.unknown)
        known = [*self.captured, *pick(consts, flags[0], False)]
        values: list[Any] = []
        inputs = [*known, *pick(carry, self.carry, False), *pick(xs, flags[2], False)]
        if self.found.count(False) or self.STACKED in self.kinds:
            values = scan_p(*inputs, **self.known)
        once: list[Any] = []
        if self.fixed is not None:
            once = jit_p.apply(known, {"name": "fixed", "jaxpr": self.fixed})
        count = self.found.count(False)
        stacked = iter(values[count:])
        fixed = iter(once)
        leading, scanned = [], []
        for kind in self.kinds:
            if kind == self.FIXED:
                leading.append(next(fixed))
            elif kind == self.STACKED:
                scanned.append(next(stacked))
            else:
                (leading if kind < len(known) else scanned).append(inputs[kind])
        late = [*leading, *pick(consts, flags[0]), *pick(carry, self.carry), *scanned]
        return values[:count], [*late, *pick(xs, flags[2])]

    def back(self, lin: Flags, found: Sequence[Any]) -> list[Any]:
        """Cotangents of the operands of the whole, from those of `late`."""
        steps = Steps.of(self.late)
        consts, carry, xs = steps.parts(found)
        flags = self.steps.parts(self.unknown)
        parts = [
            place(consts[len(consts) - sum(flags[0]) :], flags[0]),
            place(carry, self.carry),
            place(xs[len(xs) - sum(flags[2]) :], flags[2]),
        ]
        return [ct if is_lin else None for ct, is_lin in zip(sum(parts, []), lin)]


def _halves(jaxpr: Jaxpr, steps: Steps, unknown: Flags) -> Halves:
    key = ("scan_halves", steps, unknown)
    return derived(jaxpr, key, lambda: _make_halves(jaxpr, steps, unknown))  # type: ignore[no-any-return]


def _make_halves(jaxpr: Jaxpr, steps: Steps, unknown: Flags) -> Halves:
    consts, carry, xs = steps.parts(unknown)
    carry = grow(
        tuple(carry),
        lambda flags: divided(jaxpr, (*consts, *flags, *xs)).found[: steps.num_carry],
    )
    wanted = (*carry, *[False] * (len(jaxpr.outputs) - steps.num_carry))
    part = divided(jaxpr, (*consts, *carry, *xs), wanted)
    num_known = len(part.captured) + consts.count(False)
    count = part.found.count(False)
    kinds, fixed = _residuals(part, count, num_known, carry.count(False))
    residuals = part.known.outputs[count:]
    stacked = [x for x, kind in zip(residuals, kinds) if kind == Halves.STACKED]
    known = permuted(part.known, part.known.inputs, [*part.known.outputs[:count], *stacked])
    late, num_late = _late(part.late, kinds, num_known, consts, carry)
    return Halves(
        steps.with_(known, num_known, carry.count(False)), part.captured, fixed,
        steps.with_(late, num_late, sum(carry)), part.found, steps, unknown, carry, kinds,
    )  # fmt: skip


def _residuals(
    part: Divided, count: int, num_consts: int, num_carry: int
) -> tuple[tuple[int, ...], Jaxpr | None]:
    """What each residual is, and the Jaxpr of those that constants alone give."""
    known = part.known
    same = set(known.inputs[:num_consts])
    equations = []
    for equation in known.equations:
        if all(isinstance(x, Literal) or x in same for x in equation.inputs):
            same.update(equation.outputs)
            equations.append(equation)
    positions = {var: i for i, var in enumerate(known.inputs)}
    kinds, fixed = [], []
    for atom in known.outputs[count:]:
        position = positions.get(atom, -1)
        if 0 <= position < num_consts or position >= num_consts + num_carry:
            kinds.append(position)
        elif isinstance(atom, Literal) or atom in same:
            kinds.append(Halves.FIXED)
            fixed.append(atom)
        else:
            kinds.append(Halves.STACKED)
    if not fixed:
        return tuple(kinds), None
    return tuple(kinds), Jaxpr(known.inputs[:num_consts], equations, fixed)


def _late(
    late: Jaxpr, kinds: tuple[int, ...], num_known: int, consts: Flags, carry: Flags
) -> tuple[Jaxpr, int]:
    """Its inputs as constants, carry and xs, each residual among the first or the last."""
    residuals, c, x, rest = sections(late.inputs, len(kinds), sum(consts), sum(carry))
    leading = [kind == Halves.FIXED or 0 <= kind < num_known for kind in kinds]
    first = [*pick(residuals, leading), *c]
    return permuted(late, [*first, *x, *pick(residuals, leading, False), *rest]), len(first)


# ---- backwards ----------------------------------------------------------------------------------
class Backward(NamedTuple):
    """The scan of cotangents: parameters, captures, and what its operands and results stand for."""

    params: dict[str, Any]
    captured: list[Array]
    consts: Flags  # linear constants that get a cotangent, summed in the carry
    carry: Flags  # carries that have a cotangent, at the latest after some steps
    xs: Flags  # linear xs that get a cotangent


def _backward(jaxpr: Jaxpr, steps: Steps, lin: Flags, live: Flags) -> Backward:
    """Takes residuals | sums, cotangents of the carry | cotangents of ys, residual xs."""
    consts, carry, xs = steps.parts(lin)
    ct_carry, ct_ys = map(tuple, steps.outs(live))
    num = sum(consts)

    def found_in(flags: Flags, wanted: Flags = ()) -> Any:
        return backward(jaxpr, lin, (*flags, *ct_ys), wanted)

    ct_carry = grow(ct_carry, lambda flags: found_in(flags).found[num : num + len(carry)])
    wanted = (*[False] * num, *ct_carry, *[False] * sum(xs))
    made = found_in(ct_carry, wanted)
    to_consts, _, to_xs = map(tuple, sections(made.found, num, len(carry)))
    res_consts, res_xs = consts.count(False), xs.count(False)

    def step(*values: Any) -> list[Any]:
        held, res, sums, cts, ys, slices = sections(
            values, len(made.captured), res_consts, sum(to_consts), sum(ct_carry), sum(ct_ys)
        )
        outs = eval_jaxpr(made.jaxpr, [*held, *res, *slices, *cts, *ys])
        more, rest = sections(outs, sum(to_consts))
        return [*map(plus, sums, more), *rest]

    avals = made.jaxpr.in_avals
    held, res, slices, cts = sections(avals, len(made.captured), res_consts, res_xs)
    sums = pick(pick(jaxpr.in_avals[: len(consts)], consts), to_consts)
    cts, ys = sections(cts, sum(ct_carry))
    new, captured = trace_to_jaxpr(step, [*held, *res, *sums, *cts, *ys, *slices], Origin("grad"))
    params = steps.with_(
        new, len(captured) + len(held) + len(res), len(sums) + len(cts), not steps.reverse
    )
    return Backward(params, [*captured, *made.captured], to_consts, ct_carry, to_xs)


def _pull_back(
    made: Backward, steps: Steps, cts: Sequence[Any], operands: Sequence[Any], lin: Flags
) -> list[Any]:
    """Apply the scan of cotangents: a cotangent, or None, for each operand."""
    consts, carry, xs = steps.parts(lin)
    const_operands, carry_operands, x_operands = steps.parts(operands)
    carry_cts, y_cts = steps.outs(cts)
    sums = [linear.zeros(x.aval) for x in pick(pick(const_operands, consts), made.consts)]
    started = [
        linear.zeros(x.aval) if ct is None else ct
        for ct, x in pick(list(zip(carry_cts, carry_operands)), made.carry)
    ]
    outs = scan_p(
        *made.captured, *pick(const_operands, consts, False), *sums, *started,
        *[ct for ct in y_cts if ct is not None], *pick(x_operands, xs, False), **made.params,
    )  # fmt: skip
    to_consts, to_carry, to_xs = sections(outs, len(sums), len(started))
    return [
        *merge(consts, [None] * consts.count(False), place(to_consts, made.consts)),
        *place(to_carry, made.carry),
        *merge(xs, [None] * xs.count(False), place(to_xs, made.xs)),
    ]


scan_p = Scan("scan")
