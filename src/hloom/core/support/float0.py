"""float0: the type of tangents of integers and bools, which can't move.

An array of it is an ndarray of no bytes: it has a shape and nothing else.  So it never reaches a
device: where arrays are traced it belongs to the structure of a tree, as None does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hloom import tree
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.dtypes import float0


class Held:
    """The place of a float0 array in a structure; where the tree is rebuilt the array is back."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape


tree.register_node(Held, lambda x: ((), x.shape), lambda shape, _: zeros(shape))


def zeros(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The float0 array of this shape."""
    return np.zeros(shape, float0)


def is_float0(x: Any) -> bool:
    """Whether `x` is a float0 array (or a scalar of one)."""
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype == float0


def aval_of(x: Any) -> ShapedArray:
    """The type of an array, or of a float0 array."""
    return x.aval if isinstance(x, Array) else ShapedArray(x.shape, float0)


def flatten(values: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree and its structure, which keeps the float0 arrays among them."""
    leaves, treedef = tree.flatten(values)
    if any(map(is_float0, leaves)):
        held = [Held(x.shape) if is_float0(x) else x for x in leaves]
        leaves, treedef = tree.flatten(tree.unflatten(treedef, held))
    return leaves, treedef


def reshaped(values: Any, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Any:
    """The tree with the shapes of its float0 arrays changed: one axis less, or one more."""
    leaves, treedef = tree.flatten(values)
    if not any(map(is_float0, leaves)):
        return values
    return tree.unflatten(treedef, [zeros(change(x.shape)) if is_float0(x) else x for x in leaves])
