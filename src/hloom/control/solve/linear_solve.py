"""`custom_linear_solve`: a system of linear equations that the user's function solves.

The derivative is that of the solution, not that of the steps which led to it: from `A x = b`
follows `A dx = db - dA x`, which the same function solves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from hloom import dtypes, tree
from hloom.control.higher_order.canonical import canonical
from hloom.control.higher_order.derive import (
    Flags,
    TransformedJaxpr,
    backward,
    batched,
    derived,
    forward,
    joined,
    partial_eval,
    pick,
    place,
)
from hloom.control.higher_order.functions import Body, arrays_of, trace, trace_holding
from hloom.control.higher_order.mismatches import check_callable
from hloom.control.higher_order.primitive import Solved, takes
from hloom.control.jit.primitive import jit_p
from hloom.control.solve.linear_operators import Operator, check_types, promoted, solution
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr, eval_jaxpr
from hloom.core.primitive import is_linear
from hloom.core.record import trace_to_jaxpr
from hloom.core.support import source
from hloom.core.support.signature import called
from hloom.core.support.strict import strict
from hloom.core.trace import Origin
from hloom.errors.texts import explain
from hloom.ops.common import linear
from hloom.ops.common.linear import move
from hloom.ops.pointwise.arithmetic import neg
from hloom.transforms.batch import to_axis

WHO = "custom_linear_solve"


class System(NamedTuple):
    """The Jaxprs of a system; all take the same constants, then the `num_leaves` leaves of b or x.

    Those of the transposed system are None where nothing is known of it.
    """

    matvec: Jaxpr
    vecmat: Jaxpr | None
    solve: Jaxpr
    transpose_solve: Jaxpr | None
    num_leaves: int

    def transposed(self) -> System:
        """The system of the transposed matrix."""
        if self.vecmat is None or self.transpose_solve is None:
            rule = (
                f"{WHO} is transposed by solving the transposed system: reverse-mode derivatives "
                "need transpose_solve, or symmetric=True"
            )
            way = "transpose_solve=lambda vecmat, b: ..", "x with vecmat(x) = b"
            raise TypeError(explain(rule, ways=[way], at=source.here()))
        return System(self.vecmat, self.matvec, self.transpose_solve, self.solve, self.num_leaves)


Traced = tuple[Jaxpr, Sequence[Array]]


def _system(parts: Sequence[Traced | None], num_leaves: int) -> tuple[System, list[Array]]:
    """The system of four Jaxprs, each with its own captures; and all captures, its constants."""
    jaxprs, captured = joined([x for x in parts if x is not None])
    rest = iter(map(canonical, jaxprs))
    matvec, vecmat, solve, back = [None if x is None else next(rest) for x in parts]
    assert matvec is not None and solve is not None
    return System(matvec, vecmat, solve, back, num_leaves), captured


class LinearSolve(Solved):
    """(f32[2,2], f32[2]) -- solve=.. num_leaves=1 --> [f32[2]].

    The last `num_leaves` operands are the right-hand side, the others constants of the Jaxprs.  The
    results are the solution, then what else the solver tells.
    """

    parameters = System

    def infer(self, *avals: ShapedArray, p: System) -> list[ShapedArray]:
        takes(WHO, avals, p.solve)
        return p.solve.out_avals

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], p: System
    ) -> tuple[list[Any], list[Any]]:
        size = len(primals) - p.num_leaves
        consts, live = primals[:size], tuple(t is not None for t in tangents[:size])
        outs, moved = self(*primals, **p._asdict()), list(tangents[size:])
        x = outs[: p.num_leaves]
        if any(live):
            made = forward(p.matvec, live + (False,) * p.num_leaves)
            given = [*made.captured, *consts, *x, *pick(tangents[:size], live)]
            results = jit_p.apply(given, {"name": "matvec", "jaxpr": made.jaxpr})
            turned = place(results[p.num_leaves :], made.found)
            moved = [t if d is None else linear.plus(t, neg(d)) for t, d in zip(moved, turned)]
        none = [None] * len(outs)
        if all(t is None for t in moved):
            return outs, none
        full = [linear.zeros(v.aval) if t is None else t for t, v in zip(moved, primals[size:])]
        dots = self(*consts, *full, **p._asdict())[: p.num_leaves]
        kept = [t if dtypes.in_domain(t.aval.dtype, "inexact") else None for t in dots]
        return outs, kept + none[p.num_leaves :]

    def transpose(self, cts: Sequence[Any], *operands: Any, p: System) -> list[Any]:
        size = len(operands) - p.num_leaves
        if any(map(is_linear, operands[:size])):
            raise TypeError(f"{WHO} is linear in b only, not in what matvec closes over")
        avals = p.solve.out_avals[: p.num_leaves]
        given = [linear.zeros(a) if ct is None else ct for ct, a in zip(cts, avals)]
        back = p.transposed()
        outs = self(*operands[:size], *given, **back._asdict())[: p.num_leaves]
        right = [ct if is_linear(v) else None for ct, v in zip(outs, operands[size:])]
        return [None] * size + right

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], p: System
    ) -> tuple[list[Any], list[int]]:
        consts = len(operands) - p.num_leaves
        flags: Flags = tuple(a is not None for a in batch_axes[:consts]) + (True,) * p.num_leaves
        moved = [x if a is None else move(x, a, 0) for x, a in zip(operands[:consts], batch_axes)]
        right = [to_axis(x, a, 0, size) for x, a in zip(operands[consts:], batch_axes[consts:])]

        parts: list[Traced | None] = []
        for jaxpr in (p.matvec, p.vecmat, p.solve, p.transpose_solve):
            made = jaxpr and batched(jaxpr, size, flags, (True,) * len(jaxpr.outputs))
            parts.append((made.jaxpr, made.captured) if made else None)
        new, captured = _system(parts, p.num_leaves)
        outs = self(*captured, *moved, *right, **new._asdict())
        return outs, [0] * len(outs)


linear_solve_p = LinearSolve("custom_linear_solve")


# ---- the transposed function ------------------------------------------------------------------
def _transposed(matvec: Any, body: Body) -> TransformedJaxpr:
    """The transpose of a traced function, which must be linear.

    It is that of its derivative at 0: a function that is not linear is noticed by a derivative
    that depends on where it is taken.
    """
    consts, count = len(body.captured), len(body.jaxpr.inputs) - len(body.captured)
    live = (False,) * consts + (True,) * count

    def make() -> TransformedJaxpr:
        made = forward(body.jaxpr, live, (True,) * count)
        known = (False,) * (len(made.captured) + consts)
        found = partial_eval(made.jaxpr, known + (True,) * count + (False,) * count).found
        if any(found[count:]):
            rule = f"{WHO}: matvec {called(matvec)} is not linear in its argument"
            raise TypeError(explain(rule, at=source.here()))
        avals = body.jaxpr.in_avals

        def derivative(*values: Any) -> list[Any]:
            zeros = list(map(linear.zeros, avals[consts:]))
            given = [*made.captured, *values[:consts], *zeros, *values[consts:]]
            return eval_jaxpr(made.jaxpr, given)[count:]

        jaxpr, captured = trace_to_jaxpr(derivative, avals, Origin("transpose"))
        whole = (False,) * len(captured) + live
        back = backward(jaxpr, whole, (True,) * count, (True,) * count)
        return TransformedJaxpr(back.jaxpr, [*back.captured, *captured], back.found)

    return derived(body.jaxpr, ("vecmat", consts), make)


# ---- the public function ----------------------------------------------------------------------
@strict
def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """`solve(matvec, b)`, the x of `matvec(x) = b`, with the derivatives of the solution.

    `matvec` is a linear function of a pytree like `b`, and may close over arrays, traced ones too:
    derivatives by those, and by `b`, solve further systems with `solve`, whose steps are not
    differentiated.  Reverse mode needs `transpose_solve(vecmat, b)`, with the transpose of
    `matvec`, or `symmetric=True`.  With `has_aux` solvers return a pair, whose second part comes
    beside the solution and has no derivative.  Numbers and integers in `b` take the dtype that
    they have in the result.

    Raises TypeError, naming the leaf, where trees or types of `b` and results differ, where
    `matvec` is found not to be linear, and for `grad` without a way to transpose.

    >>> A = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    >>> solve = lambda matvec, b: lax.linalg.solve(A, b[:, None])[:, 0]
    >>> f = lambda b: lax.custom_linear_solve(lambda x: A @ x, b, solve, symmetric=True)
    >>> f(jnp.array([1.0, 2.0]))
    Array([0.09090909, 0.6363636 ], dtype=float32)
    >>> hloom.grad(lambda b: f(b)[0])(jnp.array([1.0, 2.0]))
    Array([ 0.27272728, -0.09090909], dtype=float32)
    """
    check_callable(WHO, matvec=matvec, solve=solve)
    if transpose_solve is not None:
        check_callable(WHO, transpose_solve=transpose_solve)
    leaves, treedef = arrays_of(WHO, "b", b)
    args = tree.treedef_tuple([treedef])
    while True:
        avals = [x.aval for x in leaves]
        apply = trace(WHO, matvec, args, avals)
        images, _ = solution(WHO, "matvec", matvec, apply, "b", treedef)
        settled = promoted(leaves, images)
        if all(x is y for x, y in zip(settled, leaves)):
            check_types(WHO, "matvec", matvec, "b", treedef, avals, images)
            operator = Operator.of(WHO, "matvec", treedef, apply.jaxpr, apply.captured)
            solved = trace_holding(WHO, partial(solve, operator), args, avals, apply.captured)
            found, aux = solution(WHO, "solve", solve, solved, "b", treedef, has_aux)
            settled = promoted(leaves, found)
        if all(x is y for x, y in zip(settled, leaves)):
            break
        leaves = settled
    check_types(WHO, "solve", solve, "b", treedef, avals, found)
    parts = _both_ways(matvec, transpose_solve, symmetric, has_aux, treedef, apply, solved)
    system, consts = _system(parts, len(leaves))
    outs = linear_solve_p(*consts, *leaves, **system._asdict())
    x = tree.unflatten(treedef, outs[: len(leaves)])
    return (x, tree.unflatten(aux, outs[len(leaves) :])) if has_aux else x


def _both_ways(
    matvec: Any, transpose_solve: Any, symmetric: bool, has_aux: bool, treedef: Any, apply: Body,
    solved: Body,
) -> list[Traced | None]:  # fmt: skip
    """Jaxprs and captures of matvec, vecmat, solve and transpose_solve."""
    there: Traced = apply.jaxpr, apply.captured
    solve: Traced = solved.jaxpr, solved.captured
    if transpose_solve is None:
        return [there, there, solve, solve] if symmetric else [there, None, solve, None]
    back = there
    if not symmetric:
        made = _transposed(matvec, apply)
        back = made.jaxpr, [*made.captured, *apply.captured]
    operator = Operator.of(WHO, "vecmat", treedef, *back)
    args, avals = tree.treedef_tuple([treedef]), operator.avals
    turned = trace_holding(WHO, partial(transpose_solve, operator), args, avals, back[1])
    found, _ = solution(WHO, "transpose_solve", transpose_solve, turned, "b", treedef, has_aux)
    check_types(WHO, "transpose_solve", transpose_solve, "b", treedef, avals, found)
    return [there, back, solve, (turned.jaxpr, turned.captured)]
