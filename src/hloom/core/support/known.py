"""The value of an operand if it is known, `known(x)`, and whether it is, `is_known(x)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.core.array import Array


def known(x: Array) -> np.ndarray[Any, Any] | None:
    """The array's value, or None where only its type is: inside jit, and of what vmap batches.

    It waits until the value is computed.

    >>> from hloom.core.support.known import known
    >>> known(jnp.arange(3))
    array([0, 1, 2], dtype=int32)
    >>> hloom.jit(lambda x: 0 if known(x) is None else 1)(3.0)
    Array(0, dtype=int32, weak_type=True)
    """
    concrete = x.concrete()
    return None if concrete is None else concrete._value()


def is_known(x: Any) -> bool:
    """Whether an argument has a value: all but traced arrays do, and those whose value is there."""
    return not isinstance(x, Array) or x.concrete() is not None
