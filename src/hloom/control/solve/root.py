"""`custom_root`: a root that the user's function finds, with the derivative of a root.

Where `f(x, a) = 0` holds for every a, `f_x dx + f_a da = 0`: the derivative needs the solution of
a linear system, and nothing of the steps that led to the root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from hloom import dtypes, tree
from hloom.control.higher_order.canonical import canonical
from hloom.control.higher_order.derive import batched, forward, joined, pick, place
from hloom.control.higher_order.functions import Body, arrays_of, trace, trace_holding
from hloom.control.higher_order.mismatches import check_callable
from hloom.control.higher_order.primitive import Solved, takes
from hloom.control.jit.primitive import jit_p
from hloom.control.solve.linear_operators import Operator, check_types, promoted, solution
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr, eval_jaxpr
from hloom.core.support.signature import name_of
from hloom.core.support.strict import strict
from hloom.core.trace import EAGER, current_trace
from hloom.ops.common import linear
from hloom.ops.common.linear import move
from hloom.ops.pointwise.arithmetic import neg
from hloom.transforms.batch import to_axis

WHO = "custom_root"


class Equations(NamedTuple):
    """The Jaxprs of a root; all take the same constants first.

    `solve` then takes the `num_leaves` leaves of the guess, `function` those of a place, and
    `tangent_solve` those of the root and of what the linearised function is to give there; None
    where no derivative can be asked for.
    """

    solve: Jaxpr
    function: Jaxpr
    tangent_solve: Jaxpr | None
    num_leaves: int


class Root(Solved):
    """(f32[], f32[3]) -- solve=.. num_leaves=1 --> [f32[3]].

    The last `num_leaves` operands are the guess, the others constants of the Jaxprs.  The results
    are the root, then what else the solver tells.
    """

    parameters = Equations

    def infer(self, *avals: ShapedArray, p: Equations) -> list[ShapedArray]:
        takes(WHO, avals, p.solve)
        return p.solve.out_avals

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], p: Equations
    ) -> tuple[list[Any], list[Any]]:
        size, count = len(primals) - p.num_leaves, p.num_leaves
        consts, live = primals[:size], tuple(t is not None for t in tangents[:size])
        outs, none = self(*primals, **p._asdict()), [None] * len(primals[size:])
        x, rest = outs[:count], [None] * (len(outs) - count)
        made = forward(p.function, live + (False,) * count)
        if not any(made.found) or p.tangent_solve is None:
            return outs, none + rest
        given = [*made.captured, *consts, *x, *pick(tangents[:size], live)]
        results = jit_p.apply(given, {"name": "function", "jaxpr": made.jaxpr})
        moved = place(results[count:], made.found)
        y = [linear.zeros(v.aval) if t is None else t for t, v in zip(moved, results)]
        inside = {"name": "tangent_solve", "jaxpr": p.tangent_solve}
        dots = jit_p.apply([*consts, *x, *y], inside)
        kept = [neg(t) if dtypes.in_domain(t.aval.dtype, "inexact") else None for t in dots]
        return outs, kept + rest

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], p: Equations
    ) -> tuple[list[Any], list[int]]:
        consts = len(operands) - p.num_leaves
        flags = tuple(a is not None for a in batch_axes[:consts])
        moved = [x if a is None else move(x, a, 0) for x, a in zip(operands[:consts], batch_axes)]
        guess = [to_axis(x, a, 0, size) for x, a in zip(operands[consts:], batch_axes[consts:])]
        transformed = []
        for jaxpr in p[:3]:
            if jaxpr is not None:
                rest = (True,) * (len(jaxpr.inputs) - consts)
                made = batched(jaxpr, size, flags + rest, (True,) * len(jaxpr.outputs))
                transformed.append((made.jaxpr, made.captured))
        new, captured = _system(transformed, p.num_leaves)
        outs = self(*captured, *moved, *guess, **new._asdict())
        return outs, [0] * len(outs)


root_p = Root("custom_root")


def _system(
    transformed: Sequence[tuple[Jaxpr, Sequence[Array]]], num_leaves: int
) -> tuple[Equations, list[Array]]:
    """Two or three Jaxprs with one row of constants."""
    jaxprs, captured = joined(transformed)
    made: list[Jaxpr | None] = [*map(canonical, jaxprs), None]
    solve, function, tangent_solve = made[:3]
    assert solve is not None and function is not None
    return Equations(solve, function, tangent_solve, num_leaves), captured


# ---- the public function ----------------------------------------------------------------------
@strict
def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> Any:
    """`solve(f, initial_guess)`, a root of `f`, with the derivatives of a root.

    `f` maps a pytree to one of the same types, and may close over arrays, traced ones too:
    derivatives are by those, and none by the guess.  The steps of `solve` are not differentiated;
    `tangent_solve(g, y)` gives the x of `g(x) = y`, where g, a linear function, is the derivative
    of `f` at the root.  For numbers that is `lambda g, y: y / g(1.0)`.  It is used, and itself
    differentiated, for all derivatives.  With `has_aux`, `solve` returns a pair, whose second part
    comes beside the root and has no derivative.  Numbers and integers in the guess take the dtype
    that they have in the result.

    Raises TypeError, naming the leaf, where trees or types of guess, image and root differ.

    >>> def newton(f, x):
    ...     return lax.fori_loop(0, 20, lambda _, x: x - f(x) / (2 * x), x)
    >>> def sqrt(a):
    ...     return lax.custom_root(lambda x: x * x - a, a, newton, lambda g, y: y / g(1.0))
    >>> hloom.value_and_grad(sqrt)(4.0)
    (Array(2., dtype=float32, weak_type=True), Array(0.25, dtype=float32, weak_type=True))
    """
    check_callable(WHO, f=f, solve=solve, tangent_solve=tangent_solve)
    what = "initial_guess"
    leaves, treedef = arrays_of(WHO, what, initial_guess)
    args = tree.treedef_tuple([treedef])
    while True:
        avals = [x.aval for x in leaves]
        apply = trace(WHO, f, args, avals)
        images, _ = solution(WHO, "f", f, apply, what, treedef)
        settled = promoted(leaves, images)
        if all(x is y for x, y in zip(settled, leaves)):
            check_types(WHO, "f", f, what, treedef, avals, images)
            operator = Operator.of(WHO, "f", treedef, apply.jaxpr, apply.captured)
            solved = trace_holding(WHO, partial(solve, operator), args, avals, apply.captured)
            found, aux = solution(WHO, "solve", solve, solved, what, treedef, has_aux)
            settled = promoted(leaves, found)
        if all(x is y for x, y in zip(settled, leaves)):
            break
        leaves = settled
    check_types(WHO, "solve", solve, what, treedef, avals, found)
    bodies = [solved, apply]
    if current_trace() is not EAGER:  # else nobody can ask for a derivative
        bodies.append(_tangent(tangent_solve, treedef, apply, found, images))
    system, consts = _system([(x.jaxpr, x.captured) for x in bodies], len(leaves))
    outs = root_p(*consts, *leaves, **system._asdict())
    x = tree.unflatten(treedef, outs[: len(leaves)])
    return (x, tree.unflatten(aux, outs[len(leaves) :])) if has_aux else x


def _tangent(
    tangent_solve: Any, treedef: Any, apply: Body, root: list[ShapedArray], image: list[ShapedArray]
) -> Body:
    """`tangent_solve`, traced as a function of the root and of what the derivative is to give."""
    count, captured = len(root), apply.captured
    live = (False,) * len(captured) + (True,) * count
    made = forward(apply.jaxpr, live, (True,) * count)

    def of_root(x: Any, y: Any) -> Any:
        place = tree.leaves(x)

        def derivative(v: list[Any]) -> list[Any]:
            return eval_jaxpr(made.jaxpr, [*made.captured, *captured, *place, *v])[count:]

        return tangent_solve(Operator(WHO, "the derivative of f", treedef, root, derivative), y)

    of_root.__name__ = name_of(tangent_solve)
    args = tree.treedef_tuple([treedef, treedef])
    body = trace_holding(WHO, of_root, args, [*root, *image], [*captured, *made.captured])
    found, _ = solution(WHO, "tangent_solve", tangent_solve, body, "the root", treedef)
    check_types(WHO, "tangent_solve", tangent_solve, "root", treedef, root, found)
    return body
