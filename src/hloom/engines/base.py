"""`Engine`: what a compiled program and its arrays are to the rest of hloom.

Arrays live in XLA buffers on every engine, so that results of one can be given to another; an
engine differs only in how it turns a Jaxpr into an `Executable`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr
from hloom.core.support.executable import Executable

Buffer = Any
NDArray = np.ndarray[Any, Any]

TIERS = ("default", "fast", "exact")


class Engine(ABC):
    """Compiles Jaxprs.

    `tier` says what for: "default" runs fastest, "fast" is there soonest, "exact" rounds like
    NumPy, operation by operation.  An engine with one way of running takes all three alike.
    """

    name: ClassVar[str]
    put: Callable[[NDArray, ShapedArray], Buffer]
    get: Callable[[Buffer, ShapedArray], NDArray]

    @abstractmethod
    def compile(
        self,
        jaxpr: Jaxpr,
        *,
        name: str = "main",
        donated: Collection[int] = (),
        tier: str = "default",
    ) -> Executable:
        """The program of `jaxpr`: `execute(buffers).consume_with_handlers(handlers)` runs it.

        `name` is shown in error texts and profiles.  `donated` holds the positions of operands
        whose memory the results may take.  One Jaxpr at one tier gives the same bits for ever.

        Raises `EngineUnsupported` for a program that it cannot run, and `DeviceMemoryError` for one
        whose arrays no memory holds.
        """


class HostResults:
    """The results of a program that ran on the host, in the form that XLA gives its own."""

    __slots__ = ("_buffers",)

    def __init__(self, buffers: Sequence[Buffer]):
        self._buffers = list(buffers)

    def consume_with_handlers(self, handlers: Sequence[Any]) -> list[Buffer]:
        """The buffers; there is nothing to make of them."""
        return self._buffers

    def consume_token(self) -> HostResults:
        """What can be waited for."""
        return self

    def block_until_ready(self) -> None:
        """All is computed already."""


def handlers_of(out_avals: Sequence[ShapedArray]) -> list[Any]:
    """Placeholders for the result handlers of a program that runs on the host."""
    return [None] * len(out_avals)
