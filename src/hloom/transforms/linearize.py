"""Linearisation: run the primals now, record the tangents' computation, which is linear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hloom.config import current
from hloom.core.jaxpr import Jaxpr
from hloom.core.record import Partial
from hloom.core.trace import Origin
from hloom.transforms.jvp import jvp_flat


class Linearized(NamedTuple):
    """The linear map from input tangents to the tangents of some results.

    `jaxpr` takes `residuals`, then the input tangents; it gives the tangents of the results at the
    positions `live`.  All other results have a zero tangent.
    """

    jaxpr: Jaxpr
    residuals: list[Any]
    live: list[int]


def linearize_flat(
    fun: Callable[..., Sequence[Any]], primals: Sequence[Any], origin: Origin
) -> tuple[list[Any], Linearized]:
    """The results of `fun` at `primals`, and its derivative there.

    The jvp trace's parent is a `Partial`, whose parent is the caller's trace: what does not depend
    on a tangent is computed at once, so Python control flow on values works under eager `grad`.
    """
    partial = Partial(origin, current.get().trace)
    try:
        tangents = [partial.argument(x.aval) for x in primals]
        outs, out_tangents = jvp_flat(fun, primals, tangents, origin, parent=partial)
    finally:
        partial.done = True
    live = [i for i, t in enumerate(out_tangents) if t is not None]
    jaxpr, residuals = partial.close(tangents, [out_tangents[i] for i in live])
    return outs, Linearized(jaxpr, residuals, live)
