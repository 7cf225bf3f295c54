"""The primitive `scan`: a Jaxpr applied to each slice of arrays; a carry goes along."""

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
    fixpoint,
    forward,
    merge,
    partial_eval,
    permuted,
    pick,
    place,
    same_type,
    sections,
    with_leading_axis,
)
from hloom.control.higher_order.primitive import HigherOrder, takes
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


class ScanParameters(NamedTuple):
    """The parameters of a scan; the body `jaxpr` takes constants, carry and one slice of each x."""

    jaxpr: Jaxpr
    length: int
    num_carry: int
    num_consts: int
    reverse: bool
    unroll: int

    def parts(self, values: Sequence[Any]) -> list[list[Any]]:
        """Constants, carry and what is scanned."""
        return sections(values, self.num_consts, self.num_carry)

    def outs(self, values: Sequence[Any]) -> list[list[Any]]:
        """Carry and what is stacked."""
        return sections(values, self.num_carry)

    def with_body(self, jaxpr: Jaxpr, num_consts: int, num_carry: int) -> ScanParameters:
        """The same steps of another body."""
        return self._replace(jaxpr=jaxpr, num_consts=num_consts, num_carry=num_carry)


class Scan(HigherOrder):
    """(f32[], f32[5,2]) -- jaxpr=.., length=5, num_consts=0, num_carry=1, .. --> [f32[], f32[5,3]].

    Operands are constants, the carry, and arrays that give one slice of their first axis to each
    step; the Jaxpr takes these three and gives the carry and slices of the results.  `reverse`: the
    last slice comes first.  `unroll` steps are written one after another in the compiled loop.
    """

    parameters = ScanParameters

    def owner(self, params: dict[str, Any]) -> Jaxpr:
        return params["jaxpr"]  # type: ignore[no-any-return]

    def infer(self, *avals: ShapedArray, p: ScanParameters) -> list[ShapedArray]:
        if min(p.length, p.num_carry, p.num_consts) < 0 or p.unroll < 1:
            given = ", ".join(f"{name}={value}" for name, value in list(p._asdict().items())[1:])
            raise ValueError(
                f"scan takes counts of 0 or more, and unrolls 1 step or more; got {given}"
            )
        consts, carry, xs = p.parts(avals)
        for x in xs:
            if not x.shape or x.shape[0] != p.length:
                raise JaxprTypeError(f"scan of {p.length} steps takes as long arrays; got {x}")
        takes("scan", [*consts, *carry, *[x.update(shape=x.shape[1:]) for x in xs]], p.jaxpr)
        carry_out, ys = p.outs(p.jaxpr.out_avals)
        if len(carry_out) != len(carry) or not all(map(same_type, carry_out, carry)):
            given, taken = (", ".join(map(str, types)) for types in (carry_out, carry))
            raise JaxprTypeError(
                f"scan: the body must give the carry it takes, {taken}; it gives {given}"
            )
        return [*carry_out, *[with_leading_axis(y, p.length) for y in ys]]

    def numpy(self, *values: Any, p: ScanParameters) -> list[Any]:
        consts, carry, xs = p.parts(values)
        ys = [np.zeros((p.length, *a.shape), a.dtype) for a in p.outs(p.jaxpr.out_avals)[1]]
        order = range(p.length)
        for i in reversed(order) if p.reverse else order:
            outs = evaluate(p.jaxpr, [*consts, *carry, *[np.asarray(x[i]) for x in xs]])
            carry, made = p.outs(outs)
            for y, slice_ in zip(ys, made):
                y[i] = slice_
        return [*carry, *ys]

    def emit(
        self, block: Any, out: list[ShapedArray], *operands: Any, p: ScanParameters
    ) -> list[Any]:
        return emit_scan(block, out, operands, p) if out else []

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], p: ScanParameters
    ) -> tuple[list[Any], list[Any]]:
        self.infer(*[x.aval for x in primals], p=p)
        live = tuple(t is not None for t in tangents)
        made = derived(p.jaxpr, ("scan_jvp", p[1:], live), lambda: _forward(p, live))
        values, dots = p.parts(primals), p.parts(tangents)
        moving = [pick(t, flags) for t, flags in zip(dots, p.parts(live))]
        moving[1] = [
            linear.zeros(x.aval) if t is None else linear.spread_scalar(t, x.aval.shape)
            for x, t in pick(list(zip(values[1], dots[1])), made.found[: p.num_carry])
        ]
        operands = [x for pair in zip(values, moving) for xs in pair for x in xs]
        outs = scan_p(*made.captured, *operands, **made.parameters._asdict())
        counts = p.num_carry, len(made.found) - p.num_carry
        moved = sum(made.found[: counts[0]])
        carry, carry_dots, ys, y_dots = sections(outs, counts[0], moved, counts[1])
        return [*carry, *ys], place([*carry_dots, *y_dots], made.found)

    def batch(
        self,
        size: int,
        operands: Sequence[Any],
        batch_axes: Sequence[int | None],
        p: ScanParameters,
    ) -> tuple[list[Any], list[int | None]]:
        flags = tuple(a is not None for a in batch_axes)
        made = derived(
            p.jaxpr, ("scan_batch", p[1:], size, flags), lambda: _batched(p, size, flags)
        )
        scanned = len(operands) - p.num_consts - p.num_carry
        targets = [0] * (p.num_consts + p.num_carry) + [1] * scanned
        moved = [
            x if a is None else move(x, a, t) for x, a, t in zip(operands, batch_axes, targets)
        ]
        for i, found in enumerate(made.found[: p.num_carry], p.num_consts):
            if found and batch_axes[i] is None:
                moved[i] = linear.spread(moved[i], 0, size)
        outs = scan_p(*made.captured, *moved, **made.parameters._asdict())
        targets = [0] * p.num_carry + [1] * (len(outs) - p.num_carry)
        return outs, [t if f else None for t, f in zip(targets, made.found)]

    def partial_eval(self, trace: Partial, operands: Sequence[Any], p: ScanParameters) -> list[Any]:
        """Scan what is known now, stacking what the rest needs; record a scan of the rest."""
        unknown = tuple(map(trace.owns, operands))
        halves = _halves(p, unknown)
        with active(trace.parent):
            values, late = halves.apply(p, operands)
        rest = trace.record(self, late, halves.late._asdict()) if any(halves.found) else []
        return merge(halves.found, values, rest)

    def transpose(self, cts: Sequence[Any], *operands: Any, p: ScanParameters) -> list[Any]:
        lin = tuple(map(is_linear, operands))
        consts, carry, xs = p.parts(lin)
        whole = fixpoint(
            tuple(carry),
            lambda flags: partial_eval(p.jaxpr, (*consts, *flags, *xs)).found[: p.num_carry],
        )
        if not all(whole):  # a counter and the like: run that first
            halves = _halves(p, lin)
            _, late = halves.apply(p, operands)
            found = self.transpose(pick(cts, halves.found), *late, p=halves.late)
            return halves.back(p, lin, found)
        live = tuple(ct is not None for ct in cts)
        lin = (*consts, *whole, *xs)
        made = derived(
            p.jaxpr, ("scan_transpose", p[1:], lin, live), lambda: _backward(p, lin, live)
        )
        return _pull_back(made, p, cts, operands, lin)


class Scanned(NamedTuple):
    """A scan made of a scan: parameters, captured constants, and flags that its rule explains."""

    parameters: ScanParameters
    captured: list[Array]
    found: Flags


# ---- StableHLO ----------------------------------------------------------------------------------
def emit_scan(
    block: Any, out: list[ShapedArray], operands: Sequence[Any], p: ScanParameters
) -> list[Any]:
    """A while loop that counts, and reads and writes slices in place."""
    consts, carry, xs = p.parts(operands)
    # All of them are written over; float8_e8m0fnu has no zero.
    blanks = [(0 if np.zeros((), a.dtype) == 0 else 1, a) for a in out[p.num_carry :]]
    ys = [block.constant(value, aval) for value, aval in blanks]
    rounds, rest = divmod(p.length, p.unroll)
    if rounds == 1:
        rounds, rest = 0, p.length
    dtype = INT32 if p.length < 2**31 else INT64
    zero = block.constant(0, ShapedArray((), dtype))

    def step(b: Any, at: Any, state: Sequence[Any]) -> list[Any]:
        """Step `at`: `state` is the carry and the stacked results."""
        carry, ys = sections(state, p.num_carry)
        outs = b.inline(p.jaxpr, [*consts, *carry, *[_read(b, x, at) for x in xs]])
        carry, made = sections(outs, p.num_carry)
        return [*carry, *[_write(b, y, at, slice_) for y, slice_ in zip(ys, made)]]

    def body(b: Any, i: Any, *state: Any) -> list[Any]:
        values = list(state)
        for k in range(p.unroll):
            at = b.add(i, k) if k else i
            values = step(b, b.sub(p.length - 1, at) if p.reverse else at, values)
        return [b.add(i, p.unroll), *values]

    state = [*carry, *ys]
    if rounds:
        limit = rounds * p.unroll
        _, *state = block.while_loop(
            lambda b, i, *_: b.compare(i, "LT", limit), body, [zero, *state]
        )
    for k in range(p.length - rest, p.length):
        at = p.length - 1 - k if p.reverse else k
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
def _forward(p: ScanParameters, live: Flags) -> Scanned:
    """Each of constants, carry, xs and ys is followed by its tangents."""
    consts, carry, xs = p.parts(live)
    carry = fixpoint(
        tuple(carry),
        lambda flags: forward(p.jaxpr, (*consts, *flags, *xs)).found[: p.num_carry],
    )
    wanted = (*carry, *[False] * (len(p.jaxpr.outputs) - p.num_carry))
    new, captured, found = forward(p.jaxpr, (*consts, *carry, *xs), wanted)
    held, inputs, dots = sections(new.inputs, len(captured), len(p.jaxpr.inputs))
    parts = p.parts(inputs)
    moving = sections(dots, sum(consts), sum(carry))
    ordered = [*held, *[v for pair in zip(parts, moving) for vs in pair for v in vs]]
    outs = p.outs(new.outputs[: len(p.jaxpr.outputs)])
    out_dots = sections(new.outputs[len(p.jaxpr.outputs) :], sum(carry))
    ordered_outs = [x for pair in zip(outs, out_dots) for xs in pair for x in xs]
    parameters = p.with_body(
        permuted(new, ordered, ordered_outs), len(held) + len(consts) + sum(consts),
        len(carry) + sum(carry),
    )  # fmt: skip
    return Scanned(parameters, captured, found)


def _batched(p: ScanParameters, size: int, flags: Flags) -> Scanned:
    consts, carry, xs = p.parts(flags)
    carry = fixpoint(
        tuple(carry),
        lambda flags: batched(p.jaxpr, size, (*consts, *flags, *xs)).found[: p.num_carry],
    )
    wanted = (*carry, *[False] * (len(p.jaxpr.outputs) - p.num_carry))
    new, captured, found = batched(p.jaxpr, size, (*consts, *carry, *xs), wanted)
    parameters = p.with_body(new, len(captured) + len(consts), len(carry))
    return Scanned(parameters, captured, found)


# ---- in two halves ------------------------------------------------------------------------------
class Halves(NamedTuple):
    """A scan in two: `known` runs first; `late` takes what that stacked.

    A residual that does not change from step to step is computed once, by `fixed`, and one that is
    a slice of an operand is not stacked again.
    """

    known: ScanParameters
    captured: list[Array]
    fixed: Jaxpr | None
    late: ScanParameters
    found: Flags  # outputs of the whole that `late` gives
    unknown: Flags  # operands of the whole
    carry: Flags  # the carry that is unknown, at the latest after some steps
    kinds: tuple[int, ...]  # of each residual: the position of an operand that it is, or one of

    FIXED, STACKED = -1, -2

    def apply(self, p: ScanParameters, operands: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Known outputs, and the operands of `late`."""
        consts, carry, xs = p.parts(operands)
        flags = p.parts(self.unknown)
        known = [*self.captured, *pick(consts, flags[0], False)]
        values: list[Any] = []
        inputs = [*known, *pick(carry, self.carry, False), *pick(xs, flags[2], False)]
        if self.found.count(False) or self.STACKED in self.kinds:
            values = scan_p(*inputs, **self.known._asdict())
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

    def back(self, p: ScanParameters, lin: Flags, found: Sequence[Any]) -> list[Any]:
        """Cotangents of the operands of the whole, from those of `late`."""
        consts, carry, xs = self.late.parts(found)
        flags = p.parts(self.unknown)
        parts = [
            place(consts[len(consts) - sum(flags[0]) :], flags[0]),
            place(carry, self.carry),
            place(xs[len(xs) - sum(flags[2]) :], flags[2]),
        ]
        return [ct if is_lin else None for ct, is_lin in zip(sum(parts, []), lin)]


def _halves(p: ScanParameters, unknown: Flags) -> Halves:
    key = ("scan_halves", p[1:], unknown)
    return derived(p.jaxpr, key, lambda: _make_halves(p, unknown))


def _make_halves(p: ScanParameters, unknown: Flags) -> Halves:
    consts, carry, xs = p.parts(unknown)
    carry = fixpoint(
        tuple(carry),
        lambda flags: partial_eval(p.jaxpr, (*consts, *flags, *xs)).found[: p.num_carry],
    )
    wanted = (*carry, *[False] * (len(p.jaxpr.outputs) - p.num_carry))
    part = partial_eval(p.jaxpr, (*consts, *carry, *xs), wanted)
    num_known = len(part.captured) + consts.count(False)
    count = part.found.count(False)
    kinds, fixed = _residuals(part, count, num_known, carry.count(False))
    residuals = part.known.outputs[count:]
    stacked = [x for x, kind in zip(residuals, kinds) if kind == Halves.STACKED]
    known = permuted(part.known, part.known.inputs, [*part.known.outputs[:count], *stacked])
    late, num_late = _late(part.late, kinds, num_known, consts, carry)
    return Halves(
        p.with_body(known, num_known, carry.count(False)), part.captured, fixed,
        p.with_body(late, num_late, sum(carry)), part.found, unknown, carry, kinds,
    )  # fmt: skip


def _residuals(
    part: PartialEval, count: int, num_consts: int, num_carry: int
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
    """The scan of cotangents: parameters, captures, and flags of its operands and results."""

    parameters: ScanParameters
    captured: list[Array]
    consts: Flags  # linear constants that get a cotangent, summed in the carry
    carry: Flags  # carries that have a cotangent, at the latest after some steps
    xs: Flags  # linear xs that get a cotangent


def _backward(p: ScanParameters, lin: Flags, live: Flags) -> Backward:
    """Takes residuals | sums, cotangents of the carry | cotangents of ys, residual xs."""
    consts, carry, xs = p.parts(lin)
    ct_carry, ct_ys = map(tuple, p.outs(live))
    num = sum(consts)

    def found_in(flags: Flags, wanted: Flags = ()) -> Any:
        return backward(p.jaxpr, lin, (*flags, *ct_ys), wanted)

    ct_carry = fixpoint(ct_carry, lambda flags: found_in(flags).found[num : num + len(carry)])
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
    sums = pick(pick(p.jaxpr.in_avals[: len(consts)], consts), to_consts)
    cts, ys = sections(cts, sum(ct_carry))
    new, captured = trace_to_jaxpr(step, [*held, *res, *sums, *cts, *ys, *slices], Origin("grad"))
    parameters = p.with_body(
        new, len(captured) + len(held) + len(res), len(sums) + len(cts)
    )._replace(reverse=not p.reverse)
    return Backward(parameters, [*captured, *made.captured], to_consts, ct_carry, to_xs)


def _pull_back(
    made: Backward, p: ScanParameters, cts: Sequence[Any], operands: Sequence[Any], lin: Flags
) -> list[Any]:
    """Apply the scan of cotangents: a cotangent, or None, for each operand."""
    consts, carry, xs = p.parts(lin)
    const_operands, carry_operands, x_operands = p.parts(operands)
    carry_cts, y_cts = p.outs(cts)
    sums = [linear.zeros(x.aval) for x in pick(pick(const_operands, consts), made.consts)]
    started = [
        linear.zeros(x.aval) if ct is None else ct
        for ct, x in pick(list(zip(carry_cts, carry_operands)), made.carry)
    ]
    residuals = pick(const_operands, consts, False)
    slices = [*[ct for ct in y_cts if ct is not None], *pick(x_operands, xs, False)]
    operands = [*made.captured, *residuals, *sums, *started, *slices]
    outs = scan_p(*operands, **made.parameters._asdict())
    to_consts, to_carry, to_xs = sections(outs, len(sums), len(started))
    return [
        *merge(consts, [None] * consts.count(False), place(to_consts, made.consts)),
        *place(to_carry, made.carry),
        *merge(xs, [None] * xs.count(False), place(to_xs, made.xs)),
    ]


scan_p = Scan("scan")
