"""Linearisation: run the primals now, record the tangents' computation, which is linear.

What it gives is a linear map that can be applied forwards, to tangents, and backwards, to
cotangents.  `Derivative` and `PullBack` are the two as functions of pytrees; both are pytrees
themselves, whose leaves are the residuals: so they can be passed to `jit` and returned from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from hloom import tree
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.jaxpr import Jaxpr, eval_jaxpr
from hloom.core.record import Partial
from hloom.core.support.float0 import aval_of
from hloom.core.trace import Origin
from hloom.errors import TangentError
from hloom.transforms.jvp import jvp_flat
from hloom.transforms.tangents import cotangent, moves, tangent, zero
from hloom.transforms.transpose import transpose_jaxpr


class LinearJaxpr(NamedTuple):
    """A linear map from the tangents of all inputs to those of all results, None standing for zero.

    `jaxpr` takes the residuals, then the tangents of the inputs that can move: floats and complex
    numbers.  It gives the tangents of the results at the positions `live`; the others are zero.
    """

    jaxpr: Jaxpr
    live: tuple[int, ...]
    ins: tuple[ShapedArray, ...]
    outs: tuple[ShapedArray, ...]

    def push(self, residuals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """Tangents of the results."""
        moving = [t for t, aval in zip(tangents, self.ins) if moves(aval)]
        found = dict(zip(self.live, eval_jaxpr(self.jaxpr, [*residuals, *moving])))
        return [found[i] if i in found else zero(aval) for i, aval in enumerate(self.outs)]

    def pull(self, residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of the inputs."""
        given = [cotangents[i] for i in self.live]
        found = iter(transpose_jaxpr(self.jaxpr, residuals, given))
        cts = [next(found) if moves(aval) else None for aval in self.ins]
        return [zero(aval) if ct is None else ct for ct, aval in zip(cts, self.ins)]


class FlatFunction(Protocol):
    """A function of a list of arrays; `count` of what it returned are results, the rest is aux."""

    leaves: list[Any]
    origin: Origin

    @property
    def count(self) -> int: ...

    def __call__(self, *leaves: Any) -> list[Any]: ...


def linearize_flat(flat: FlatFunction) -> tuple[list[Any], LinearJaxpr, list[Any]]:
    """What `flat` returns at its leaves, its derivative there, and the residuals of that.

    The jvp trace's parent is a `Partial`, whose parent is the caller's trace: what does not depend
    on a tangent is computed at once, so Python control flow on values works under eager `grad`.
    """
    ins = tuple(map(aval_of, flat.leaves))
    partial = Partial(flat.origin, current.get().trace)
    try:
        tangents = [partial.argument(aval) if moves(aval) else None for aval in ins]
        outs, out_tangents = jvp_flat(flat, flat.leaves, tangents, flat.origin, parent=partial)
    finally:
        partial.done = True
    live = tuple(i for i, t in enumerate(out_tangents[: flat.count]) if t is not None)
    moving = [t for t in tangents if t is not None]
    jaxpr, residuals = partial.close(moving, [out_tangents[i] for i in live])
    return outs, LinearJaxpr(jaxpr, live, ins, tuple(map(aval_of, outs[: flat.count]))), residuals


# ---- as functions of pytrees -------------------------------------------------------------------
class Linearized(NamedTuple):
    """A linear map, and the structures of what it maps: (tangents, {}) and the result."""

    linear: LinearJaxpr
    in_tree: Any
    out_tree: Any


class LinearFunction:
    """A pytree whose leaves are the residuals; the structure holds the rest."""

    __slots__ = ("linearized", "residuals")

    def __init__(self, linearized: Linearized, residuals: Sequence[Any]):
        self.linearized = linearized
        self.residuals = residuals

    def __repr__(self) -> str:
        ins, outs = (", ".join(map(str, avals)) for avals in self.linearized.linear[2:])
        return f"<{type(self).__name__} of a function from ({ins}) to ({outs})>"


class Derivative(LinearFunction):
    """What `linearize` returns: tangents of the arguments to tangents of the result."""

    __slots__ = ()

    def __call__(self, *tangents: Any) -> Any:
        linear, in_tree, out_tree = self.linearized
        leaves, treedef = tree.flatten((tangents, {}))
        if treedef != in_tree:
            raise TangentError(
                f"linearize: tangents must have the primals' structure {in_tree}; got {treedef}"
            )
        what = "linearize: a tangent"
        given = [tangent(aval, t, what) for aval, t in zip(linear.ins, leaves)]
        return tree.unflatten(out_tree, linear.push(self.residuals, given))


class PullBack(LinearFunction):
    """What `vjp` returns: a cotangent of the result to the tuple of those of the arguments."""

    __slots__ = ()

    def __call__(self, ct: Any) -> Any:
        linear, in_tree, out_tree = self.linearized
        leaves, treedef = tree.flatten(ct)
        if treedef != out_tree:
            raise TangentError(
                f"vjp: the cotangent must have the result's structure {out_tree}; got {treedef}"
            )
        what = "vjp: the cotangent"
        cts = [cotangent(aval, x, what) for aval, x in zip(linear.outs, leaves)]
        return tree.unflatten(in_tree, linear.pull(self.residuals, cts))[0]


tree.register_node(
    Derivative, lambda f: (f.residuals, f.linearized), lambda static, xs: Derivative(static, xs)
)
tree.register_node(
    PullBack, lambda f: (f.residuals, f.linearized), lambda static, xs: PullBack(static, xs)
)
