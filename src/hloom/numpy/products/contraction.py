"""Sums of products over labelled axes: what matrix products and einsum are made of.

Each axis carries a label, any hashable value.  Axes of the two operands that share a label are
multiplied element by element; labels that the result lacks are summed.  `contract` writes that as
one `dot_general`, or as a product where nothing is summed over a pair.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.numpy.common.operands import promote_dtypes
from hloom.ops.common.linear import broadcast_in_dim, constant, reduce_sum, transpose
from hloom.ops.pointwise.arithmetic import mul
from hloom.ops.pointwise.binary import bitwise_and
from hloom.ops.pointwise.compare import ne
from hloom.ops.pointwise.convert import convert_element_type, convert_element_type_p
from hloom.ops.products.dot import dot_general
from hloom.ops.reductions.reduce import reduce_or
from hloom.ops.shapes.shape import array_dtype, reshape

Labels = Sequence[Hashable]
F32 = np.dtype("float32")


def is_bool(x: Any) -> bool:
    """Whether the elements are truth values, whose sum is `or` and whose product is `and`."""
    return x.aval.kind == "bool"


def product(x: Any, y: Any) -> Any:
    """The product of two arrays of one dtype; that of truth values is `and`."""
    return bitwise_and(x, y) if is_bool(x) else mul(x, y)


def total(x: Any, axes: Sequence[int]) -> Any:
    """The sum over axes, in the array's dtype; that of truth values is `or`."""
    return reduce_or(x, tuple(axes)) if is_bool(x) else reduce_sum(x, tuple(axes))


def operands_of(name: str, *xs: Any, preferred: Any = None) -> list[Any]:
    """Arrays of their common dtype, or of `preferred_element_type` where products need it.

    A product of another kind (integers into floats) starts from converted operands.
    """
    arrays = promote_dtypes(name, *xs)
    if preferred is not None:
        wanted = array_dtype(preferred)
        if dtypes.kind(wanted) != arrays[0].aval.kind:
            arrays = [convert_element_type(x, wanted) for x in arrays]
    return arrays


def contract(
    x: Any,
    left: Labels,
    y: Any,
    right: Labels,
    out: Labels,
    *,
    precision: Any = None,
    preferred: Any = None,
) -> Any:
    """Products of two arrays of one dtype, summed over the labels that `out` lacks.

    `left` and `right` label the axes of `x` and `y`, each label once; every label in `out` is in
    one of them.  An axis of size 1 is repeated to its partner's size.  The caller has checked that
    sizes agree otherwise.
    """
    x, left = _without_repeated(x, left, y, right)
    y, right = _without_repeated(y, right, x, left)
    x, left = _summed(x, left, {*right, *out})
    y, right = _summed(y, right, {*left, *out})
    shared = [label for label in left if label in right]
    summed = [label for label in shared if label not in out]
    if not summed:
        return _multiplied(x, left, y, right, out, preferred)
    kept = [label for label in shared if label in out]
    free = [a for a in left if a not in shared], [a for a in right if a not in shared]
    if [*kept, *free[0], *free[1]] != [*out] == [*kept, *free[1], *free[0]]:
        # The other way round it needs no transposition.
        x, left, y, right, free = y, right, x, left, free[::-1]
    numbers = (
        ([left.index(c) for c in summed], [right.index(c) for c in summed]),
        ([left.index(b) for b in kept], [right.index(b) for b in kept]),
    )
    made = [*kept, *free[0], *free[1]]
    found = _dot(x, y, numbers, precision, preferred)
    return transpose(found, [made.index(label) for label in out])


def _without_repeated(x: Any, own: Labels, other: Any, its: Labels) -> tuple[Any, list[Hashable]]:
    """`x` without the axes of size 1 that are paired with a longer one of the other operand."""
    sizes = dict(zip(its, other.aval.shape))
    shape = x.aval.shape
    kept = [i for i, label in enumerate(own) if shape[i] != 1 or sizes.get(label, 1) == 1]
    if len(kept) == len(shape):
        return x, list(own)
    return reshape(x, [shape[i] for i in kept]), [own[i] for i in kept]


def _summed(x: Any, labels: Labels, needed: set[Hashable]) -> tuple[Any, list[Hashable]]:
    """The array summed over the axes that nothing else has."""
    gone = [i for i, label in enumerate(labels) if label not in needed]
    kept = [label for label in labels if label in needed]
    return (total(x, gone) if gone else x), kept


def _multiplied(x: Any, left: Labels, y: Any, right: Labels, out: Labels, preferred: Any) -> Any:
    """The product, element by element, with the axes as in `out`."""
    sizes = dict(zip(left, x.aval.shape)) | dict(zip(right, y.aval.shape))
    shape = tuple([sizes[label] for label in out])
    x, y = spread_to(x, left, out, shape), spread_to(y, right, out, shape)
    if preferred is not None:
        x, y = (convert_element_type(z, preferred) for z in (x, y))
    return product(x, y)


def spread_to(x: Any, labels: Labels, out: Labels, shape: tuple[int, ...]) -> Any:
    """The array with its axes in the order of `out`, repeated along the labels it lacks."""
    order = [label for label in out if label in labels]
    moved = transpose(x, [list(labels).index(label) for label in order])
    return broadcast_in_dim(moved, shape, [list(out).index(label) for label in order])


def _dot(x: Any, y: Any, numbers: Any, precision: Any, preferred: Any) -> Any:
    if not is_bool(x):
        wanted = x.aval.dtype if preferred is None else preferred
        return dot_general(x, y, numbers, precision, wanted)
    # `or` of `and`: a sum of zeros and ones in floats, which never comes back to zero.
    ones = [convert_element_type_p(z, new_dtype=F32, weak_type=False) for z in (x, y)]
    return ne(dot_general(*ones, numbers, precision, F32), constant(0, F32))
