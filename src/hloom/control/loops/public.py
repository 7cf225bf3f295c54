"""`while_loop`, `fori_loop`, `scan`, `map`: loops over pytrees; a carry keeps its types."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes, errors, tree
from hloom.control.higher_order.derive import derived, same_type
from hloom.control.higher_order.functions import Body, arrays_of, held, recording, trace, unknown
from hloom.control.higher_order.mismatches import (
    NOTHING,
    check_callable,
    not_boolean,
    returned_nothing,
    structure_changed,
    types_changed,
)
from hloom.control.loops.scan import scan_p
from hloom.control.loops.while_loop import while_p
from hloom.core.array import Array, HostArray, host_array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.jaxpr import Equation, Jaxpr, Literal, Var
from hloom.core.operands import convert as convert_operands
from hloom.core.support import float0, source
from hloom.core.support.signature import called
from hloom.core.support.strict import strict
from hloom.core.trace import EAGER, Tracer, current_trace
from hloom.errors.texts import explain
from hloom.ops.pointwise.arithmetic import add_p
from hloom.ops.pointwise.compare import lt_p
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.shapes.shape import reshape
from hloom.ops.shapes.slicing import concatenate, index_in_dim, slice_in_dim
from hloom.transforms.derivatives import vmap

BOOL = np.dtype(bool)


# ---- the carry ----------------------------------------------------------------------------------
class Carry:
    """The state of a loop: leaves, as arrays, and their tree; `body` is what keeps its types.

    A leaf that is weakly typed (a Python number) takes the type that the body gives it.
    """

    def __init__(self, who: str, init: Any):
        self.who = who
        self.leaves, self.treedef = arrays_of(who, "init", init)

    @property
    def avals(self) -> list[ShapedArray]:
        """The leaves' types."""
        return [x.aval for x in self.leaves]

    def settle(
        self,
        fun: Any,
        args: Any,
        before: Sequence[ShapedArray] = (),
        after: Sequence[ShapedArray] = (),
        tree_of: Callable[[Any], Any] = lambda out_tree: out_tree,
    ) -> Body:
        """Trace the body, converting weakly typed leaves, until it gives the types it takes.

        `args` is the tree of its arguments, of which `before` and `after` are beside the carry;
        `tree_of` finds the tree of the new carry, which comes first, in that of the results.
        Raises TypeError, naming the leaves, where trees or types differ.
        """
        while True:
            body = trace(self.who, fun, args, [*before, *self.avals, *after])
            error = structure_changed(self.who, fun, self.treedef, tree_of(body.out_tree))
            if error is not None:
                raise error
            given = body.out_avals[: len(self.leaves)]
            settled = [
                self._promoted(x, y) if x.aval.weak_type and x.aval is not y else x
                for x, y in zip(self.leaves, given)
            ]
            if all(x is y for x, y in zip(settled, self.leaves)):
                break
            self.leaves = settled
        wrong = [i for i, pair in enumerate(zip(self.avals, given)) if not same_type(*pair)]
        if wrong:
            raise types_changed(self.who, fun, self.treedef, self.avals, body, wrong)
        return body

    @staticmethod
    def _promoted(x: Array, given: ShapedArray) -> Array:
        """A weakly typed leaf in the strong type that it and the body's result have in common."""
        if x.aval.shape != given.shape:
            return x
        dtype, weak = dtypes.join([(x.aval.dtype, True), (given.dtype, given.weak_type)])
        if dtype == x.aval.dtype and weak:
            return x
        if x.__class__ is HostArray:
            return host_array(x._value().astype(dtype), ShapedArray((), dtype))
        return convert_element_type(x, dtype)  # type: ignore[no-any-return]

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """A carry as the user's functions take it."""
        return tree.unflatten(self.treedef, leaves)


def _disabled() -> bool:
    return current.get().config.disable_jit and not recording()


# ---- while --------------------------------------------------------------------------------------
@strict
def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """`body_fun` applied to a carry as long as `cond_fun` of it holds; the last carry.

    The carry is a pytree that keeps its structure, shapes and dtypes; `cond_fun` gives a 0-d bool.
    Under `vmap` all examples run until the last one ends.  Forward-mode derivatives work;
    reverse mode (`grad`) does not, since the number of steps is not known: use `fori_loop` with
    bounds that are Python ints, or `scan`.

    Raises TypeError where the carry's types change, naming the leaf.

    >>> lax.while_loop(lambda n: n < 100, lambda n: n * 2, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    check_callable("while_loop", cond_fun=cond_fun, body_fun=body_fun)
    if _disabled():
        init_val = held(init_val)
        while not unknown(going := cond_fun(init_val)):
            if not going:
                return init_val
            init_val = body_fun(init_val)
    carry = Carry("while_loop", init_val)
    args = tree.treedef_tuple([carry.treedef])
    body = carry.settle(body_fun, args)
    test = trace("while_loop", cond_fun, args, carry.avals)
    if [(a.shape, a.dtype) for a in test.out_avals] != [((), BOOL)] or test.out_tree != LEAF:
        raise not_boolean(cond_fun, test)
    outs = while_p(
        *test.captured, *body.captured, *carry.leaves,
        body_jaxpr=body.jaxpr, body_nconsts=len(body.captured),
        cond_jaxpr=test.jaxpr, cond_nconsts=len(test.captured),
    )  # fmt: skip
    return carry.unflatten(outs)


LEAF = tree.structure(0)


# ---- fori ---------------------------------------------------------------------------------------
@strict
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """`x = body_fun(i, x)` for i from `lower` on, by 1, while it is below `upper`; the last x.

    `x` starts as `init_val`.  Bounds are 0-d integers, or 0-d floats, of one dtype; a weak one, as
    Python numbers are, takes the dtype of the other.  `x` is a pytree that keeps its structure and
    types.  Where the bounds are known, this is a `scan`, which reverse mode can differentiate;
    where they are computed inside `jit`, it is a `while_loop`, which it can't, and which takes no
    `unroll`.

    Raises TypeError for other bounds, or where types of `x` change.

    >>> lax.fori_loop(0, 5, lambda i, x: x * 2 + i, 1)
    Array(58, dtype=int32, weak_type=True)
    """
    check_callable("fori_loop", body_fun=body_fun)
    first, last = _bounds(lower, upper)
    length = _times(first, last)
    if _disabled() and length is not None:
        init_val, start = held(init_val), first.concrete()._value()
        for i in range(length):
            init_val = body_fun((start + np.array(i, start.dtype))[()], init_val)
        return init_val
    carry = Carry("fori_loop", init_val)
    args = tree.treedef_tuple([LEAF, carry.treedef])
    body = carry.settle(body_fun, args, before=[first.aval])
    if length is None and unroll:
        raise ValueError("fori_loop takes unroll= only with bounds that are known while tracing")
    if length is None or not unroll and current_trace() is EAGER:  # one executable for all bounds
        return carry.unflatten(_counted(body, first, last, carry.leaves))
    outs = scan_p(
        *body.captured, first, *carry.leaves, jaxpr=_stepping(body), length=length,
        num_carry=1 + len(carry.leaves), num_consts=len(body.captured), reverse=False,
        unroll=_unroll("fori_loop", 1 if unroll is None else unroll, length),
    )  # fmt: skip
    return carry.unflatten(outs[1:])


def _bounds(lower: Any, upper: Any) -> list[Array]:
    """Both as 0-d numbers of one type; a weak one takes the type of the other."""
    try:
        bounds = convert_operands("fori_loop", (lower, upper))
    except TypeError:
        bounds = [x for b in (lower, upper) for x in arrays_of("fori_loop", "bound", b)[0]]
    shown = " and ".join(str(x.aval) for x in bounds)
    real = all(x.aval.kind in ("signed", "unsigned", "float") for x in bounds)
    if len(bounds) != 2 or any(x.aval.shape for x in bounds) or not real:
        ways = [("int(n)", "for another number that is known")]
        rule = f"fori_loop takes bounds that are 0-d integers or floats; got {shown}"
        raise TypeError(explain(rule, ways=ways, at=source.here()))
    bounds = _adapted(*bounds)
    if bounds[0].aval.dtype != bounds[1].aval.dtype:
        rule = f"fori_loop takes bounds of one dtype; got {shown}"
        ways = [(f"upper.astype({bounds[0].aval.dtype.name!r})", "")]
        raise TypeError(explain(rule, ways=ways, at=source.here()))
    return bounds


def _adapted(lower: Array, upper: Array) -> list[Array]:
    """A weak bound in the dtype of the other one, if that is no integer where it is a float."""
    weak, other = (lower, upper) if lower.aval.weak_type else (upper, lower)
    if not weak.aval.weak_type or weak.aval.dtype == other.aval.dtype:
        return [lower, upper]
    if weak.aval.kind == "float" and other.aval.kind != "float":
        if not other.aval.weak_type:
            return [lower, upper]
        weak, other = other, weak
    made = convert_element_type(weak, other.aval.dtype)
    return [made, upper] if weak is lower else [lower, made]


def _times(lower: Array, upper: Array) -> int | None:
    """How many numbers by 1 from `lower` on are below `upper`; None where that is not known."""
    if lower.concrete() is None or upper.concrete() is None:
        return None
    if lower.aval.kind != "float":
        return max(int(upper) - int(lower), 0)
    distance = float(upper) - float(lower)
    if distance == math.inf:
        raise OverflowError(f"fori_loop from {float(lower)} to {float(upper)} would never end")
    return math.ceil(distance) if distance > 0 else 0


def _stepping(body: Body) -> Jaxpr:
    """The body with its counter in the carry: constants, i, x to i + 1, x."""

    def make() -> tuple[Jaxpr, list[Array]]:
        jaxpr, count = body.jaxpr, len(body.captured)
        i = jaxpr.inputs[count]
        one = Literal(np.array(1, i.aval.dtype), i.aval)
        following = Var(i.aval)
        equations = [*jaxpr.equations, Equation(add_p, [i, one], [following], {})]
        return Jaxpr(jaxpr.inputs, equations, [following, *jaxpr.outputs], count), []

    return derived(body.jaxpr, ("stepping", len(body.captured)), make)[0]  # type: ignore[no-any-return]


def _counted(body: Body, first: Array, last: Array, leaves: Sequence[Array]) -> list[Any]:
    """The same as a while loop; the last bound is a constant of its condition."""
    stepping = _stepping(body)

    def make() -> tuple[Jaxpr, list[Array]]:
        end, *state = [Var(a) for a in (last.aval, *stepping.out_avals)]
        going = Var(ShapedArray((), BOOL))
        return Jaxpr([end, *state], [Equation(lt_p, [state[0], end], [going], {})], [going]), []

    cond = derived(stepping, ("counted", last.aval), make)[0]
    outs = while_p(
        last, *body.captured, first, *leaves, body_jaxpr=stepping,
        body_nconsts=len(body.captured), cond_jaxpr=cond, cond_nconsts=1,
    )  # fmt: skip
    return list(outs[1:])


# ---- scan ---------------------------------------------------------------------------------------
@strict
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """`carry, y = f(carry, x)` for each x along the first axis of `xs`; (last carry, ys stacked).

    `init`, `xs` and what `f` returns are pytrees; the carry keeps its structure and types.  `xs`
    None scans over nothing, `length` times.  `reverse` starts with the last slice, and stacks
    results in the order of `xs`.  `unroll` writes that many steps into one step of the compiled
    loop; True writes all.  Compiled once, however long; both modes can differentiate it.

    Raises ValueError where lengths differ or are missing, TypeError where types of the carry
    change, naming the leaf.  Differs from a Python loop: `f` is traced once.

    >>> lax.scan(lambda total, x: (total + x, total), 0, jnp.arange(1, 5))
    (Array(10, dtype=int32), Array([0, 1, 3, 6], dtype=int32))
    """
    check_callable("scan", f=f)
    leaves, x_tree = arrays_of("scan", "xs", float0.reshaped(xs, lambda shape: shape[1:]))
    count = _length("scan", leaves, x_tree, length)
    unroll = _unroll("scan", unroll, count)
    if _disabled() and count:
        return _python_scan(f, init, leaves, x_tree, count, reverse)
    carry = Carry("scan", init)
    args = tree.treedef_tuple([carry.treedef, x_tree])
    slices = [x.aval.update(shape=x.aval.shape[1:]) for x in leaves]
    body = carry.settle(f, args, after=slices, tree_of=lambda t: _pair(f, t)[0])
    outs = scan_p(
        *body.captured, *carry.leaves, *leaves, jaxpr=body.jaxpr, length=count,
        num_carry=len(carry.leaves), num_consts=len(body.captured), reverse=bool(reverse),
        unroll=unroll,
    )  # fmt: skip
    kept, y_tree = len(carry.leaves), _pair(f, body.out_tree)[1]
    return carry.unflatten(outs[:kept]), _stacked(y_tree, outs[kept:], count)


def _stacked(y_tree: Any, outs: Sequence[Any], length: int) -> Any:
    """The results of all steps; float0 arrays among them are in the structure of one step's."""
    return float0.reshaped(tree.unflatten(y_tree, outs), lambda shape: (length, *shape))


def _pair(f: Any, out_tree: Any) -> list[Any]:
    """The trees of the carry and of y."""
    node = out_tree.node_data()
    children = out_tree.children()
    if node is None or node[0] is not tuple or len(children) != 2:
        if out_tree == NOTHING:
            raise returned_nothing("scan", "body", f)
        what = "an array" if node is None else f"{node[0].__name__} of {len(children)}"
        rule = f"scan: the body {called(f)} must return a pair (carry, y); it returned {what}"
        ways = [("return carry, None", "where nothing is to be stacked")]
        raise TypeError(explain(rule, ways=ways, at=source.here()))
    return children  # type: ignore[no-any-return]


def _length(who: str, leaves: Sequence[Array], treedef: Any, length: Any) -> int:
    """The number of steps, on which all agree."""
    names = [f"xs{tree.keystr(path)}" for path in tree.paths(treedef)]
    sizes = {}
    for name, x in zip(names, leaves):
        if not x.aval.shape:
            rule = f"{who} takes arrays with an axis to go along; {name} is {x.aval}"
            ways = [("lambda carry, _: ..", "what is the same in all steps, f can close over")]
            raise ValueError(explain(rule, ways=ways, at=source.here()))
        sizes[name] = x.aval.shape[0]
    if length is not None:
        sizes["length="] = _steps(who, "length", length)
    if not sizes:
        rule = f"{who} has nothing to go along: xs has no arrays"
        ways = [("lax.scan(f, init, None, length=10)", "so many steps")]
        raise ValueError(explain(rule, ways=ways, at=source.here()))
    if len(set(sizes.values())) > 1:
        shown = [f"  {n}: {x.aval}" for n, x in zip(names, leaves)]
        shown += [f"  length={length}"] if length is not None else []
        rule = f"{who} takes arrays whose first axes have one size:\n" + "\n".join(shown)
        raise ValueError(explain(rule, at=source.here()))
    return next(iter(sizes.values()))


def _unroll(who: str, unroll: Any, length: int) -> int:
    if isinstance(unroll, (bool, np.bool_)):
        return max(length, 1) if unroll else 1
    return max(_steps(who, "unroll", unroll), 1)


def _steps(who: str, name: str, given: Any) -> int:
    """A number of steps: an int that is not negative."""
    if isinstance(given, Tracer) and given.concrete() is None:
        raise errors.ConcretizationTypeError.parameter(who, name, given.traced())
    try:
        steps = operator.index(given)
    except TypeError:
        raise TypeError(f"{who} takes {name} as an int; got {given!r:.80}") from None
    if not 0 <= steps < 2**63:
        raise ValueError(f"{who} takes {name} from 0 to 2**63 - 1; got {given}")
    return steps


def _python_scan(
    f: Any, carry: Any, leaves: Sequence[Array], treedef: Any, length: int, reverse: bool
) -> tuple[Any, Any]:
    """The loop in Python, for `disable_jit`."""
    carry = held(carry)
    rows = []
    y_tree: Any = None
    for i in reversed(range(length)) if reverse else range(length):
        x = [index_in_dim(leaf, i, keepdims=False) for leaf in leaves]
        carry, y = f(carry, tree.unflatten(treedef, x))
        row, y_tree = arrays_of("scan", "y", y)
        rows.append(row)
    if reverse:
        rows.reverse()
    stacked = [
        concatenate([reshape(y, (1, *y.aval.shape)) for y in column], 0) for column in zip(*rows)
    ]
    return carry, _stacked(y_tree, stacked, length)


# ---- map ----------------------------------------------------------------------------------------
@strict
def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """`f` of each slice of `xs` along its first axis, one after another; results stacked.

    Like `vmap`, but needs the memory of one step at a time.  `batch_size` vectorises that many
    slices at once.  Takes and gives pytrees.  Raises as `scan` does.

    >>> lax.map(lambda x: x * x, jnp.arange(4))
    Array([0, 1, 4, 9], dtype=int32)
    """
    check_callable("map", f=f)
    leaves, treedef = arrays_of("map", "xs", float0.reshaped(xs, lambda shape: shape[1:]))
    count = _length("map", leaves, treedef, None)
    batch_size = _steps("map", "batch_size", batch_size) if batch_size is not None else 0
    if not batch_size:
        return _each(f, leaves, treedef, count)
    batch_size = min(batch_size, max(count, 1))
    rounds = count // batch_size
    whole = rounds * batch_size
    many = vmap(f)
    blocks = [
        reshape(slice_in_dim(x, 0, whole), (rounds, batch_size, *x.aval.shape[1:])) for x in leaves
    ]
    out = _each(many, blocks, treedef, rounds)
    out = tree.map(lambda y: reshape(y, (whole, *y.aval.shape[2:])), out)
    if whole == count:
        return out
    rest = many(tree.unflatten(treedef, [slice_in_dim(x, whole, count) for x in leaves]))
    return tree.map(lambda x, y: concatenate([x, y], 0), out, rest)


def _each(f: Any, leaves: Sequence[Array], treedef: Any, length: int) -> Any:
    """A scan without carry."""
    if _disabled() and length:
        return _python_scan(lambda _, x: (None, f(x)), None, leaves, treedef, length, False)[1]
    slices = [x.aval.update(shape=x.aval.shape[1:]) for x in leaves]
    body = trace("map", f, tree.treedef_tuple([treedef]), slices)
    outs = scan_p(
        *body.captured, *leaves, jaxpr=body.jaxpr, length=length, num_carry=0,
        num_consts=len(body.captured), reverse=False, unroll=1,
    )  # fmt: skip
    return _stacked(body.out_tree, outs, length)


__all__ = ["fori_loop", "map", "scan", "while_loop"]
