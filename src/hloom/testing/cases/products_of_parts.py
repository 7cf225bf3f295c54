"""Products of parts: groups of rows, blocks with scales, algorithms of dots, windows as features,
and polynomials.

The oracles are the definitions: a loop over groups, over elements, or one einsum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.ops.pointwise.arithmetic import one_minus_square, polynomial
from hloom.ops.products.dot import dot, scaled_dot
from hloom.ops.products.patches import conv_general_dilated_local, conv_general_dilated_patches
from hloom.ops.products.precision import DotAlgorithm, DotAlgorithmPreset
from hloom.ops.products.ragged import RaggedDotDimensionNumbers, ragged_dot, ragged_dot_general
from hloom.testing.case import Case
from hloom.testing.cases.products import SUM, by_einsum
from hloom.testing.comparison import wider
from hloom.testing.operands import EVERYTHING, NUMBERS, SINGLE

FEW = ("int32", "float32", "float64")


# ---- rows in groups --------------------------------------------------------------------------
def ragged_numbers(
    contract: Any, batch: Any, row: int, group: int | None = None
) -> RaggedDotDimensionNumbers:
    """Dimension numbers with one ragged axis and, perhaps, one group axis."""
    return RaggedDotDimensionNumbers((contract, batch), [row], [] if group is None else [group])


def _group_of_rows(sizes: Any, rows: int) -> Any:
    """The group of each row by counting, -1 for rows behind the last."""
    held = [j for j, size in enumerate(sizes) for _ in range(max(int(size), 0))]
    return np.array((held + [-1] * rows)[:rows])


def _masks(lhs: Any, sizes: Any, numbers: RaggedDotDimensionNumbers) -> Any:
    """bool [g, *lhs.shape]: which elements of lhs belong to a group."""
    (contract, _), (batch, _) = numbers.dot_dimension_numbers
    (row,) = numbers.lhs_ragged_dimensions
    free = tuple(a for a in range(lhs.ndim) if a not in (*contract, *batch))
    kin = tuple(contract) if row in contract else free
    outer = (*batch, *kin[: kin.index(row)])
    masks = np.zeros((sizes.shape[-1], *lhs.shape), bool)
    for place in np.ndindex(lhs.shape):
        at = () if sizes.ndim == 1 else tuple(place[a] for a in outer)
        group = _group_of_rows(sizes[at], lhs.shape[row])[place[row]]
        if group >= 0:
            masks[(group, *place)] = True
    return masks


def _without(axis: int, axes: Any) -> Any:
    """The axes after that one was taken away."""
    return tuple(a - (a > axis) for a in axes)


def by_group(numbers: RaggedDotDimensionNumbers) -> Any:
    """The sum, or the stack, over groups of the product of what belongs to each."""
    (contract, rhs_contract), (batch, rhs_batch) = numbers.dot_dimension_numbers
    (row,), group = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions

    def run(x: Any, y: Any, sizes: Any) -> Any:
        if row in batch:
            return by_einsum(numbers.dot_dimension_numbers)(x, y)
        parts = []
        for j, mask in enumerate(_masks(x, sizes, numbers)):
            matrix, plain = y, numbers.dot_dimension_numbers
            if group:
                matrix = np.take(y, j, group[0])
                plain = ((contract, _without(group[0], rhs_contract)),
                         (batch, _without(group[0], rhs_batch)))  # fmt: skip
            zero = np.zeros((), x.dtype)
            parts.append(by_einsum(plain)(np.where(mask, x, zero), matrix))
        return np.stack(parts) if row in contract else sum(parts[1:], parts[0])

    return run


def _ragged(name: str, numbers: Any, lhs: Any, rhs: Any, sizes: Any, types: Any = FEW) -> Case:
    def run(x: Any, y: Any, s: Any) -> Any:
        return ragged_dot_general(x, y, s, numbers)

    operands = (lhs, rhs, np.array(sizes, np.int32))
    return Case(name, run, operands, by_group(numbers), types, 40, SUM, low=-2, high=2)


PLAIN = ragged_numbers(((1,), (1,)), ((), ()), 0, 0)
CONTRACTED = ragged_numbers(((0,), (0,)), ((), ()), 0)
_TURNED = ragged_numbers(((1,), (2,)), ((), ()), 0, 0)
_BATCHED = ragged_numbers(((2,), (2,)), ((0,), (1,)), 1, 0)
_ANYHOW = ragged_numbers(((0,), (3,)), ((3,), (0,)), 2, 2)
_OUTER = ragged_numbers(((3,), (1,)), ((), ()), 1, 0)
_CONTRACTED_BATCH = ragged_numbers(((1,), (0,)), ((2,), (1,)), 1)
_CONTRACTED_TWO = ragged_numbers(((2, 1), (0, 2)), ((0,), (1,)), 1)
_CONTRACTED_INNER = ragged_numbers(((1, 2), (2, 0)), ((0,), (1,)), 1)
_ROWS = (7, 3), (3, 3, 2)
RAGGED = [
    Case("plain", ragged_dot, (*_ROWS, np.array([2, 1, 4])), by_group(PLAIN), NUMBERS, 40, SUM,
         low=-2, high=2),
    _ragged("rows left over", PLAIN, *_ROWS, [2, 0, 3]),
    _ragged("too many rows", PLAIN, *_ROWS, [5, 9, 3]),
    _ragged("all in one group", PLAIN, *_ROWS, [0, 7, 0]),
    _ragged("no rows in a group", PLAIN, *_ROWS, [0, 0, 0]),
    _ragged("negative sizes", PLAIN, *_ROWS, [2, -3, 4]),
    _ragged("more groups than rows", PLAIN, (3, 2), (8, 2, 4), [0, 1, 0, 0, 1, 0, 1, 0]),
    _ragged("many rows", PLAIN, (300, 4), (5, 4, 3), [100, 3, 0, 77, 64], FEW[1:]),
    _ragged("one group", PLAIN, (7, 3), (1, 3, 2), [5]),
    _ragged("matrices the other way round", _TURNED, (7, 3), (3, 2, 3), [2, 1, 3]),
    _ragged("batch, same sizes", _BATCHED, (2, 6, 3), (3, 2, 3, 2), [2, 1, 3]),
    _ragged("batch, own sizes", _BATCHED, (2, 6, 3), (3, 2, 3, 2), [[2, 1, 3], [1, 0, 2]]),
    _ragged("axes anyhow", _ANYHOW, (3, 2, 6, 2), (2, 4, 3, 3), [2, 1, 3]),
    _ragged("axes anyhow, own sizes", _ANYHOW, (3, 2, 6, 2), (2, 4, 3, 3),
            np.arange(12).reshape(2, 2, 3) % 4),
    _ragged("outer and inner axes", _OUTER, (2, 5, 3, 2), (2, 2, 3), [2, 2]),
    _ragged("outer and inner axes, own sizes", _OUTER, (2, 5, 3, 2), (2, 2, 3), [[2, 2], [1, 4]]),
    _ragged("contracted", CONTRACTED, (7, 3), (7, 2), [2, 1, 4], NUMBERS),
    _ragged("contracted, left over", CONTRACTED, (7, 3), (7, 2), [2, 0, 1, 1]),
    _ragged("contracted, many rows", CONTRACTED, (300, 4), (300, 3), [100, 3, 0, 77, 64], FEW[1:]),
    _ragged("contracted, batch", _CONTRACTED_BATCH, (2, 6, 3), (6, 3, 4), [2, 1, 2]),
    _ragged("contracted, batch, own sizes", _CONTRACTED_BATCH, (2, 6, 3), (6, 3, 4),
            [[2, 1], [1, 0], [3, 3]]),
    _ragged("two contracted, same sizes", _CONTRACTED_TWO, (2, 6, 3, 4), (3, 2, 6, 2), [2, 1, 3]),
    _ragged("two contracted, own sizes", _CONTRACTED_TWO, (2, 6, 3, 4), (3, 2, 6, 2),
            np.arange(18).reshape(2, 3, 3) % 4),
    _ragged("two contracted, inner", _CONTRACTED_INNER, (2, 6, 3, 4), (3, 2, 6, 2),
            [[2, 1, 3], [1, 0, 2]]),
    _ragged("batch axis", ragged_numbers(((2,), (1,)), ((0,), (0,)), 0), (4, 2, 3), (4, 3, 2),
            [2, 1, 1]),
]  # fmt: skip


# ---- blocks with scales ----------------------------------------------------------------------
def spread_scale(x: Any, scale: Any) -> Any:
    """`x` times its scales, each repeated over its block, in f64."""
    x, scale = x.astype(np.float64), scale.astype(np.float64)
    for axis, (size, count) in enumerate(zip(x.shape, scale.shape)):
        scale = np.repeat(scale, size // count, axis)
    return x * scale


def both_scaled(x: Any, y: Any, s: Any, t: Any) -> Any:
    """The matrix product of operands with scales, in f64."""
    return np.matmul(spread_scale(x, s), spread_scale(y, t))


def scaled(preferred: Any, numbers: Any = None) -> Any:
    """scaled_dot as a function of operands and scales."""
    return lambda x, y, s, t: scaled_dot(
        x, y, lhs_scale=s, rhs_scale=t, preferred_element_type=preferred, dimension_numbers=numbers
    )


def _scaled(name: str, run: Any, shapes: Any, oracle: Any, few: int = 4) -> Case:
    types = ("int8", "bfloat16", "float32", "float64")[:few]
    return Case(name, run, shapes, oracle, types, 40, SUM, low=-3, high=3)


_MATRICES = (3, 8), (8, 2)
SCALED = [
    _scaled("matrices", scaled("float32"), (*_MATRICES, (3, 2), (4, 2)), both_scaled, 3),
    _scaled("in f64", scaled("float64"), (*_MATRICES, (3, 2), (4, 2)), both_scaled),
    _scaled("one scale", scaled("float64"), (*_MATRICES, (3, 1), (1, 2)), both_scaled),
    _scaled("batch", scaled("float64"), ((4, 3, 8), (4, 8, 2), (4, 3, 2), (4, 4, 2)), both_scaled),
    _scaled("two batch axes", scaled("float64"),
            ((2, 2, 3, 4), (2, 2, 4, 2), (2, 2, 3, 2), (2, 2, 1, 2)), both_scaled),
    _scaled("transposed", scaled("float64", (((0,), (1,)), ((), ()))),
            ((8, 3), (2, 8), (2, 3), (2, 4)), lambda x, y, s, t: both_scaled(x.T, y.T, s.T, t.T)),
    _scaled("vectors", scaled("float64", (((0,), (0,)), ((), ()))), ((8,), (8,), (2,), (4,)),
            both_scaled),
    _scaled("two contracted axes", scaled("float64", (((1, 2), (2, 0)), ((), ()))),
            ((3, 4, 6), (6, 2, 4), (3, 2, 3), (1, 2, 2)),
            lambda x, y, s, t: np.einsum("akl,lbk->ab", spread_scale(x, s), spread_scale(y, t))),
    _scaled("only lhs scaled", lambda x, y, s: scaled_dot(
        x, y, lhs_scale=s, preferred_element_type="float64"), (*_MATRICES, (3, 2)),
            lambda x, y, s: spread_scale(x, s) @ y.astype(np.float64)),
    _scaled("only rhs scaled", lambda x, y, s: scaled_dot(
        x, y, rhs_scale=s, preferred_element_type="float64"), (*_MATRICES, (2, 2)),
            lambda x, y, s: x.astype(np.float64) @ spread_scale(y, s)),
    _scaled("nothing contracted", scaled("float64"), ((3, 0), (0, 2), (3, 0), (0, 2)),
            lambda x, y, s, t: np.zeros((3, 2))),
]  # fmt: skip


# ---- algorithms of dots ----------------------------------------------------------------------
def dot_by(precision: Any, **options: Any) -> Any:
    """dot by an algorithm."""
    return lambda x, y: dot(x, y, precision=precision, **options)


_SIDES = (3, 40), (40, 2)
ALGORITHMS = [
    Case(p.name, dot_by(p), _SIDES, None, ("float16", "bfloat16", "float32"), 40, SUM)
    for p in DotAlgorithmPreset
    if "F8" not in p.name
] + [
    Case("of two types", dot_by(DotAlgorithm("bfloat16", "tf32", "float32")), _SIDES, None,
         ("float32",), 40, SUM),
    Case("in f64", dot_by("F64_F64_F64"), _SIDES, None, ("float64",), 40, SUM),
    Case("of integers", dot_by(DotAlgorithm("int8", "int8", "int32"),
                               preferred_element_type="int32"),
         _SIDES, lambda x, y: x.astype("i4") @ y.astype("i4"), ("int8",)),
    Case("a pair", dot_by(("high", None)), _SIDES, None, ("float32",), 40, SUM),
]  # fmt: skip


# ---- windows as features ---------------------------------------------------------------------
def _window(n: int, k: int, stride: int, pad: Any, base: int, inner: int) -> Any:
    """[places, k]: the input element that each place of each window sees, -1 for none."""
    low, high = pad
    held = np.full(low + (n - 1) * base + 1 + high, -1)
    held[[low + i * base for i in range(n)]] = range(n)
    reach = (k - 1) * inner
    starts = range(0, len(held) - reach, stride)
    return np.array([[held[s + j * inner] for j in range(k)] for s in starts]).reshape(-1, k)


def patches_by_hand(
    x: Any, kernel: Any, strides: Any, pads: Any, base: Any = None, inner: Any = None
) -> Any:
    """The definition, element by element, for axes NC.., OI.., NC.."""
    count = len(kernel)
    base, inner = base or (1,) * count, inner or (1,) * count
    tables = [
        _window(n, *rest) for n, *rest in zip(x.shape[2:], kernel, strides, pads, base, inner)
    ]
    out = np.zeros((*x.shape[:2], *kernel, *[len(t) for t in tables]), x.dtype)
    for w in np.ndindex(*kernel):
        for p in np.ndindex(*[len(t) for t in tables]):
            at = tuple(t[i, j] for t, i, j in zip(tables, p, w))
            if min(at, default=0) >= 0:
                out[(slice(None), slice(None), *w, *p)] = x[(slice(None), slice(None), *at)]
    features = x.shape[1] * int(np.prod(kernel))
    return out.reshape(x.shape[0], features, *[len(t) for t in tables])


def patches(*args: Any, **options: Any) -> Any:
    """conv_general_dilated_patches as a function of the input."""
    return lambda x: conv_general_dilated_patches(x, *args, **options)


def local(*args: Any, **options: Any) -> Any:
    """conv_general_dilated_local as a function of input and kernels."""
    return lambda x, k: conv_general_dilated_local(x, k, *args, **options)


def _by_hand(*args: Any) -> Any:
    return lambda x: patches_by_hand(x, *args)


def _local_by_hand(x: Any, kernels: Any, *args: Any) -> Any:
    seen = patches_by_hand(wider(x), *args)
    flat = [z.reshape(*z.shape[:2], -1) for z in (seen, wider(kernels))]
    out = np.einsum("nip,oip->nop", *flat)
    return out.reshape(seen.shape[0], kernels.shape[0], *seen.shape[2:])


def _patch(name: str, shape: Any, *args: Any) -> Case:
    return Case(name, patches(*args), (shape,), _by_hand(*args), EVERYTHING)


def _local(name: str, run: Any, shapes: Any, oracle: Any) -> Case:
    types = (*FEW, "complex64")
    return Case(name, run, shapes, oracle, types, 40, SUM, low=-2, high=2)


PATCHES = [
    _patch("1-D", (2, 3, 8), (3,), (1,), [(0, 0)]),
    _patch("strided and padded", (2, 3, 9), (2,), (3,), [(1, 2)]),
    _patch("holes in the input", (2, 2, 4), (3,), (2,), [(2, 1)], (3,)),
    _patch("holes in the window", (2, 2, 9), (3,), (2,), [(2, 1)], None, (2,)),
    _patch("2-D", (2, 3, 5, 6), (2, 3), (1, 2), [(1, 0), (2, 1)], (1, 2), (2, 1)),
    _patch("no spatial axes", (2, 3), (), (), []),
    _patch("no examples", (0, 3, 7), (3,), (1,), [(0, 0)]),
    Case("same", patches((2,), (1,), "SAME"), ((1, 2, 4),), _by_hand((2,), (1,), [(0, 1)]), SINGLE),
    Case("axes anyhow", patches((3, 2), (2, 1), [(1, 0), (0, 2)],
                                dimension_numbers=("WCHN", "WOHI", "CNWH")), ((6, 3, 5, 2),),
         lambda x: patches_by_hand(x.transpose(3, 1, 0, 2), (3, 2), (2, 1), [(1, 0), (0, 2)])
         .transpose(1, 0, 2, 3), SINGLE),
    Case("windows that don't fit", patches((3,), (1,), "VALID"), ((2, 3, 2),),
         lambda x: np.zeros((2, 9, 0)), SINGLE),
    Case("cut", patches((2,), (1,), [(-1, -2)]), ((2, 3, 7),),
         lambda x: patches_by_hand(x[:, :, 1:-2], (2,), (1,), [(0, 0)]), SINGLE),
    Case("wider", patches((2,), (1,), "VALID", preferred_element_type="float32"), ((2, 3, 7),),
         lambda x: patches_by_hand(x, (2,), (1,), [(0, 0)]), ("bfloat16",)),
    _local("local, 1-D", local((1,), "VALID", (2,)), ((2, 3, 5), (4, 6, 4)),
           lambda x, k: _local_by_hand(x, k, (2,), (1,), [(0, 0)])),
    _local("local, 2-D", local((1, 2), [(1, 0), (2, 1)], (2, 3), (1, 2), (2, 1)),
           ((2, 3, 5, 4), (4, 18, 4, 4)),
           lambda x, k: _local_by_hand(x, k, (2, 3), (1, 2), [(1, 0), (2, 1)], (1, 2), (2, 1))),
    _local("local, channels last", local(
        (1,), "VALID", (2,), dimension_numbers=("NHC", "HIO", "NHC")), ((2, 5, 3), (4, 6, 2)),
           lambda x, k: _local_by_hand(
               x.transpose(0, 2, 1), k.transpose(2, 1, 0), (2,), (1,), [(0, 0)]
           ).transpose(0, 2, 1)),
    _local("local, no spatial axes", local((), [], ()), ((2, 3), (4, 3)),
           lambda x, k: wider(x) @ wider(k).T),
    _local("local, empty", local((1,), "VALID", (2,)), ((2, 3, 1), (4, 6, 0)),
           lambda x, k: np.zeros((2, 4, 0))),
]  # fmt: skip


# ---- polynomials -----------------------------------------------------------------------------
def _horner(x: Any, *coeffs: Any) -> Any:
    total = wider(coeffs[-1]) + 0 * wider(x)
    for c in coeffs[-2::-1]:
        total = total * wider(x) + wider(c)
    return total


ROUNDED = "a rounding for each product and sum"
POLYNOMIALS = [
    Case("one_minus_square", one_minus_square, ((2, 3),), lambda x: (1 - wider(x)) * (1 + wider(x)),
         FEW, 2, ROUNDED),
    Case("cubic", lambda x, *c: polynomial(x, c), ((2, 3), (), (), (), ()), _horner,
         (*FEW, "bfloat16", "complex64", "complex128"), 8, ROUNDED, low=-2, high=2),
    Case("coefficients of its shape", lambda x, *c: polynomial(x, c), ((2, 1), (1, 3), (2, 3), ()),
         _horner, FEW, 8, ROUNDED, low=-2, high=2),
    Case("constant", lambda x, c: polynomial(x, [c]), ((2, 3), ()), _horner, FEW,
         corners=False),  # Horner multiplies even the infinite by zero
    Case("of a scalar", lambda x, *c: polynomial(x, c), ((), (3,), ()), _horner, FEW, 8, ROUNDED),
]  # fmt: skip
