"""The primitive `while`: a Jaxpr repeated as long as another one says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hloom.control.higher_order.derive import (
    Flags,
    TransformedJaxpr,
    batched,
    derived,
    either,
    fixpoint,
    forward,
    merge,
    partial_eval,
    permuted,
    pick,
    place,
    same_type,
    sections,
)
from hloom.control.higher_order.examples import may_not_end, meant_for
from hloom.control.higher_order.primitive import HigherOrder, takes
from hloom.control.jit.primitive import jit_p
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr, Var, eval_jaxpr
from hloom.core.record import Partial, trace_to_jaxpr
from hloom.core.trace import Origin, active
from hloom.errors import JaxprTypeError
from hloom.errors.texts import explain
from hloom.ops.common import linear
from hloom.ops.common.linear import move
from hloom.ops.pointwise.compare import select_n_p
from hloom.ops.reductions.reduce import reduce_or

BOOL = np.dtype(bool)


class WhileParameters(NamedTuple):
    """The parameters of `while`: two Jaxprs, and how many constants each takes before the carry."""

    body_jaxpr: Jaxpr
    body_nconsts: int
    cond_jaxpr: Jaxpr
    cond_nconsts: int

    def parts(self, values: Sequence[Any]) -> list[list[Any]]:
        """Constants of the condition, those of the body, and the carry."""
        return sections(values, self.cond_nconsts, self.body_nconsts)


class Loop(NamedTuple):
    """A loop made of a loop; `found` has a flag for each carry of that one.

    The first `tests` of what was captured are constants of the condition, the others of the body.
    `start`, if there is one, computes a first predicate for each example.
    """

    parameters: WhileParameters
    captured: list[Array]
    tests: int
    found: Flags
    start: TransformedJaxpr | None = None

    def operands(self, tests: Sequence[Any], consts: Sequence[Any], carry: Sequence[Any]) -> Any:
        """The operands, captures put in their places."""
        held = self.captured[: self.tests], self.captured[self.tests :]
        return [*held[0], *tests, *held[1], *consts, *carry]


class While(HigherOrder):
    """(f32[3], i32[]) -- body_jaxpr=.., body_nconsts=1, cond_jaxpr=.., .. --> [i32[]].

    Operands are the constants of the condition, those of the body, and the carry, which the body
    takes and gives.
    """

    parameters = WhileParameters

    def owner(self, params: dict[str, Any]) -> Jaxpr:
        return params["body_jaxpr"]  # type: ignore[no-any-return]

    def infer(self, *avals: ShapedArray, p: WhileParameters) -> list[ShapedArray]:
        cond_consts, body_consts, carry = p.parts(avals)
        takes("while", [*cond_consts, *carry], p.cond_jaxpr)
        takes("while", [*body_consts, *carry], p.body_jaxpr)
        outs = p.body_jaxpr.out_avals
        if len(outs) != len(carry) or not all(map(same_type, outs, carry)):
            given, taken = (", ".join(map(str, xs)) for xs in (outs, carry))
            raise JaxprTypeError(
                f"while: the body must give the carry it takes, {taken}; it gives {given}"
            )
        if [(a.shape, a.dtype) for a in p.cond_jaxpr.out_avals] != [((), BOOL)]:
            given = ", ".join(map(str, p.cond_jaxpr.out_avals))
            raise JaxprTypeError(f"while: the condition must give bool[]; it gives {given}")
        return outs

    def numpy(self, *values: Any, p: WhileParameters) -> list[Any]:
        cond_consts, body_consts, carry = p.parts(values)
        while evaluate(p.cond_jaxpr, [*cond_consts, *carry])[0]:
            carry = evaluate(p.body_jaxpr, [*body_consts, *carry])
        return carry

    def emit(
        self, block: Any, out: list[ShapedArray], *operands: Any, p: WhileParameters
    ) -> list[Any]:
        cond_consts, body_consts, carry = p.parts(operands)
        if not carry:
            return []
        return list(
            block.while_loop(
                lambda b, *xs: b.inline(p.cond_jaxpr, [*cond_consts, *xs]),
                lambda b, *xs: b.inline(p.body_jaxpr, [*body_consts, *xs]),
                carry,
            )
        )

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], p: WhileParameters
    ) -> tuple[list[Any], list[Any]]:
        cond_consts, consts, carry = p.parts(primals)
        _, const_dots, carry_dots = p.parts(tangents)
        live = _flags(const_dots), _flags(carry_dots)
        loop = _derived(p, ("jvp", *live), lambda: _forward(*live, p))
        found = loop.found
        moving = [
            linear.zeros(x.aval) if t is None else linear.spread_scalar(t, x.aval.shape)
            for x, t in pick(list(zip(carry, carry_dots)), found)
        ]
        consts += pick(const_dots, live[0])
        outs = while_p(
            *loop.operands(cond_consts, consts, [*carry, *moving]), **loop.parameters._asdict()
        )
        return outs[: len(carry)], place(outs[len(carry) :], found)

    def batch(
        self,
        size: int,
        operands: Sequence[Any],
        batch_axes: Sequence[int | None],
        p: WhileParameters,
    ) -> tuple[list[Any], list[int | None]]:
        moved = [x if a is None else move(x, a, 0) for x, a in zip(operands, batch_axes)]
        cond_consts, consts, carry = p.parts(moved)
        flags = list(map(_flags, p.parts(batch_axes)))
        loop = _derived(p, ("batch", size, *flags), lambda: _batched(size, *flags, p))
        places = [0 if f else None for f in loop.found]
        carry = [
            linear.spread(x, 0, size) if f and not was else x
            for x, f, was in zip(carry, loop.found, flags[2])
        ]
        if loop.start is None:
            return while_p(
                *loop.operands(cond_consts, consts, carry), **loop.parameters._asdict()
            ), places
        first = [*loop.start.captured, *cond_consts, *carry]
        (going,) = jit_p.apply(first, {"name": "cond", "jaxpr": loop.start.jaxpr})
        operands = loop.operands([], [*cond_consts, *consts], [going, *carry])
        return while_p(*operands, **loop.parameters._asdict())[1:], places

    def partial_eval(
        self, trace: Partial, operands: Sequence[Any], p: WhileParameters
    ) -> list[Any]:
        """Run the part of the carry that is known now; record the whole for the rest."""
        unknown = tuple(map(trace.owns, operands))
        loop = _derived(p, ("known", unknown), lambda: _known(unknown, p))
        found = loop.found
        if all(found):
            return list(trace.record(self, operands, p._asdict()))
        parts = p.parts(operands)
        known = [pick(xs, flags, False) for xs, flags in zip(parts, p.parts(unknown))]
        known[2] = pick(parts[2], found, False)
        with active(trace.parent):
            values = while_p(*loop.operands(*known), **loop.parameters._asdict())
        rest = pick(trace.record(self, operands, p._asdict()), found) if any(found) else []
        return merge(found, values, rest)

    def transpose(self, cts: Sequence[Any], *operands: Any, p: WhileParameters) -> list[Any]:
        rule = (
            "Reverse-mode differentiation (grad, vjp) does not work for lax.while_loop, nor for "
            "lax.fori_loop with bounds that are not known while tracing: it would have to keep "
            "what each step computed, for a number of steps that nobody knows."
        )
        ways = [
            ("lax.fori_loop(0, 10, body, x)", "bounds that are Python ints, or static arguments"),
            ("lax.scan(body, x, None, length=10)", "a number of steps that is known"),
            ("hloom.jvp(f, (x,), (t,))", "forward mode works"),
        ]
        raise ValueError(explain(rule, ways=ways))


def _flags(values: Sequence[Any]) -> Flags:
    return tuple(x is not None for x in values)


def _derived(p: WhileParameters, key: tuple[Any, ...], make: Callable[[], Loop]) -> Loop:
    key = ("while", p.cond_jaxpr, p.cond_nconsts, *key)
    return derived(p.body_jaxpr, key, make)


# ---- loops made of loops ------------------------------------------------------------------------
def _forward(consts: Flags, carry: Flags, p: WhileParameters) -> Loop:
    """Constants, their tangents, carry, its tangents: the loop that gives carry and tangents."""
    body, cond, count = p.body_jaxpr, p.cond_jaxpr, len(consts)
    carry = fixpoint(carry, lambda flags: forward(body, (*consts, *flags)).found)
    new, captured, _ = forward(body, (*consts, *carry), carry)
    held, c, x, dots = sections(new.inputs, len(captured), count, len(carry))
    c_dots, x_dots = sections(dots, sum(consts))
    wider = permuted(cond, [*cond.inputs, *[Var(v.aval) for v in x_dots]])
    made = permuted(new, [*held, *c, *c_dots, *x, *x_dots])
    count = len(captured) + count + sum(consts)
    return Loop(WhileParameters(made, count, wider, p.cond_nconsts), captured, 0, carry)


def _batched(size: int, tests: Flags, consts: Flags, carry: Flags, p: WhileParameters) -> Loop:
    cond, body = p.cond_jaxpr, p.body_jaxpr
    carry = fixpoint(carry, lambda flags: batched(body, size, (*consts, *flags)).found)
    test = batched(cond, size, (*tests, *carry))
    if test.found == (True,):
        kept = body.inputs[len(consts) :]
        changes = tuple(out is not var for out, var in zip(body.outputs, kept))
        return _masked(size, tests, consts, either(carry, changes), p)
    step = batched(body, size, (*consts, *carry), carry)
    counts = len(tests) + len(test.captured), len(consts) + len(step.captured)
    changed = WhileParameters(step.jaxpr, counts[1], test.jaxpr, counts[0])
    return Loop(changed, [*test.captured, *step.captured], len(test.captured), carry)


def _masked(size: int, tests: Flags, consts: Flags, carry: Flags, p: WhileParameters) -> Loop:
    """The loop whose carry begins with a predicate for each example; it ends when none holds.

    An example whose predicate does not hold any more keeps its carry; a loop in the body, which
    might not end for it, gets an example that goes on in its place.
    """
    test = batched(p.cond_jaxpr, size, (*tests, *carry), (True,))
    step = batched(p.body_jaxpr, size, (*consts, *carry), carry)
    held = [*test.captured, *step.captured]
    nested = may_not_end(step.jaxpr)

    def run(*values: Any) -> list[Any]:
        test_held, step_held, test_consts, step_consts, (going, *old) = sections(
            values, len(test.captured), len(step.captured), len(tests), len(consts)
        )
        given = [*step_consts, *old]
        if nested:
            _, given = meant_for(going, given, (*consts, *carry))
        new = eval_jaxpr(step.jaxpr, [*step_held, *given])
        kept = [_where(going, x, y) if f else x for x, y, f in zip(new, old, carry)]
        return [*eval_jaxpr(test.jaxpr, [*test_held, *test_consts, *kept]), *kept]

    going = ShapedArray((size,), BOOL)
    test_avals, old = sections(test.jaxpr.in_avals[len(test.captured) :], len(tests))
    step_avals = step.jaxpr.in_avals[len(step.captured) :][: len(consts)]
    avals = [*[x.aval for x in held], *test_avals, *step_avals, going, *old]
    body, more = trace_to_jaxpr(run, avals, Origin("vmap"))
    cond, _ = trace_to_jaxpr(
        lambda going, *_: reduce_or(going, (0,)), [going, *old], Origin("vmap")
    )
    constants = len(more) + len(held) + len(tests) + len(consts)
    changed = WhileParameters(body, constants, cond, 0)
    return Loop(changed, [*more, *held], 0, carry, test)


def _where(going: Any, new: Any, old: Any) -> Any:
    """`going` has one axis, the first of the others."""
    return select_n_p(linear.broadcast_in_dim(going, new.aval.shape, (0,)), old, new)


def _known(unknown: Flags, p: WhileParameters) -> Loop:
    """The loop of that part of the carry that is known; none is if the condition is not."""
    body, cond = p.body_jaxpr, p.cond_jaxpr
    tests, consts, carry = map(tuple, p.parts(unknown))
    carry = fixpoint(carry, lambda flags: partial_eval(body, (*consts, *flags)).found)
    test, step = partial_eval(cond, (*tests, *carry)), partial_eval(body, (*consts, *carry), carry)
    if test.found == (True,):
        return Loop(p, [], 0, (True,) * len(carry))
    outputs = step.known.outputs[: carry.count(False)]  # no residuals
    changed = WhileParameters(
        permuted(step.known, step.known.inputs, outputs),
        consts.count(False) + len(step.captured),
        test.known,
        tests.count(False) + len(test.captured),
    )
    return Loop(changed, [*test.captured, *step.captured], len(test.captured), carry)


while_p = While("while")
