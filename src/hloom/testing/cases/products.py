"""Sums of products: dots, also of groups of rows and of scaled blocks, convolutions and patches,
Fourier transforms, polynomials.

The oracles are the definitions: an einsum, a loop over groups, or what each window sees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from hloom.ops.pointwise.arithmetic import one_minus_square, polynomial
from hloom.ops.products.convolution import (
    conv,
    conv_general_dilated,
    conv_transpose,
    conv_with_general_padding,
)
from hloom.ops.products.dot import batch_matmul, dot, dot_general, scaled_dot
from hloom.ops.products.fft import fft
from hloom.ops.products.patches import conv_general_dilated_local, conv_general_dilated_patches
from hloom.ops.products.precision import DotAlgorithm, DotAlgorithmPreset
from hloom.ops.products.ragged import RaggedDotDimensionNumbers, ragged_dot, ragged_dot_general
from hloom.testing.case import Case
from hloom.testing.cases.pointwise import rounded_to
from hloom.testing.cases.reductions import pads_of, views
from hloom.testing.comparison import wider
from hloom.testing.operands import COMPLEX, MOVED, NUMBERS, SINGLE

THREE = ("int32", "float32", "float64")
TWO = ("int32", "float64")  # for one layout of many: other rows of its family try all dtypes
FEW = (*THREE, "bfloat16", "complex64")


# ---- dot_general -----------------------------------------------------------------------------
LETTERS = "abcdefgh"


def by_einsum(numbers: Any) -> Any:
    """dot_general as an einsum of NumPy's."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers

    def run(x: Any, y: Any) -> Any:
        left, right = list(LETTERS[: x.ndim]), list(LETTERS[::-1][: y.ndim])
        for a, b in zip(lhs_contract + lhs_batch, rhs_contract + rhs_batch):
            right[b] = left[a]
        out = [left[a] for a in lhs_batch]
        out += [c for i, c in enumerate(left) if i not in lhs_contract + lhs_batch]
        out += [c for i, c in enumerate(right) if i not in rhs_contract + rhs_batch]
        formula = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
        return np.einsum(formula, wider(x), wider(y))

    return run


def _dot(numbers: Any, **options: Any) -> Any:
    return lambda x, y: dot_general(x, y, numbers, **options)


LAYOUTS = {
    "matrices": ((((1,), (0,)), ((), ())), (2, 3), (3, 4)),
    "vectors": ((((0,), (0,)), ((), ())), (5,), (5,)),
    "outer": ((((), ()), ((), ())), (2,), (3,)),
    "scalars": ((((), ()), ((), ())), (), ()),
    "matrix and vector": ((((1,), (0,)), ((), ())), (2, 3), (3,)),
    "transposed": ((((0,), (1,)), ((), ())), (3, 2), (4, 3)),
    "batch": ((((2,), (1,)), ((0,), (0,))), (5, 2, 3), (5, 3, 4)),
    "batch in the middle": ((((0,), (2,)), ((1,), (0,))), (3, 5, 2), (5, 4, 3)),
    "two contracted, crossed": ((((2, 0), (0, 1)), ((), ())), (3, 2, 4), (4, 3, 5)),
    "all batch": ((((), ()), ((0, 1), (1, 0))), (2, 3), (3, 2)),
    "nothing contracted": ((((1,), (0,)), ((), ())), (2, 0), (0, 4)),
    "empty result": ((((1,), (0,)), ((), ())), (0, 3), (3, 4)),
    "four axes": ((((3, 1), (2, 0)), ((0,), (3,))), (2, 3, 4, 5), (3, 4, 5, 2)),
}
SUM = "a sum of products in any order"
DOT = [
    Case(name, _dot(numbers), (lhs, rhs), by_einsum(numbers), NUMBERS, 40, SUM, low=-2, high=2)
    for name, (numbers, lhs, rhs) in LAYOUTS.items()
] + [
    Case("dot", dot, ((2, 3), (3,)), lambda x, y: wider(x) @ wider(y),
         NUMBERS, 40, SUM),
    Case("batch_matmul", batch_matmul, ((2, 3, 4, 5), (2, 3, 5, 2)),
         lambda x, y: wider(x) @ wider(y), NUMBERS, 40, SUM, low=-2, high=2),
    Case("of bool", dot, ((2, 3), (3, 2)), lambda x, y: x @ y, ("bool",)),
    Case("highest", _dot((((1,), (0,)), ((), ())), precision="highest"), ((2, 3), (3, 4)),
         lambda x, y: x @ y, ("float32", "float64"), 40, SUM),
    Case("wider", _dot((((1,), (0,)), ((), ())), preferred_element_type="float32"),
         ((2, 3), (3, 4)), lambda x, y: wider(x) @ wider(y), ("bfloat16", "float16"), 40, SUM),
]  # fmt: skip


# ---- algorithms of dots ----------------------------------------------------------------------
def dot_by(precision: Any, **options: Any) -> Any:
    """dot by an algorithm."""
    return lambda x, y: dot(x, y, precision=precision, **options)


def _of_rounded(name: str) -> Any:
    """The product of operands rounded as the algorithm's name says; X3 and more don't round."""
    rounding = {
        "F16": lambda x: x.astype(np.float16), "BF16": lambda x: x.astype(bfloat16),
        "TF32": rounded_to(8, 10),
    }.get(name.split("_")[0], np.asarray)  # fmt: skip
    round_ = np.asarray if "_X" in name else rounding
    return lambda x, y: wider(round_(x)) @ wider(round_(y))


_SIDES = (3, 40), (40, 2)
ALGORITHMS = [
    Case(p.name, dot_by(p), _SIDES, _of_rounded(p.name), ("float16", "bfloat16", "float32"), 40,
         SUM)
    for p in DotAlgorithmPreset
    if "F8" not in p.name
] + [
    Case("of two types", dot_by(DotAlgorithm("bfloat16", "tf32", "float32")), _SIDES,
         lambda x, y: wider(x.astype(bfloat16)) @ rounded_to(8, 10)(y).astype(np.float64),
         ("float32",), 40, SUM),
    Case("in f64", dot_by("F64_F64_F64"), _SIDES, _of_rounded("F64"), ("float64",), 40, SUM),
    Case("of integers", dot_by(DotAlgorithm("int8", "int8", "int32"),
                               preferred_element_type="int32"),
         _SIDES, lambda x, y: x.astype("i4") @ y.astype("i4"), ("int8",)),
    Case("a pair", dot_by(("high", None)), _SIDES, _of_rounded("F32"), ("float32",), 40, SUM),
]  # fmt: skip


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
    among = tuple(contract) if row in contract else free
    outer = (*batch, *among[: among.index(row)])
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


def _ragged(name: str, numbers: Any, lhs: Any, rhs: Any, sizes: Any, types: Any = TWO) -> Case:
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
    _ragged("many rows", PLAIN, (300, 4), (5, 4, 3), [100, 3, 0, 77, 64], ("float32", "float64")),
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
    _ragged("contracted, many rows", CONTRACTED, (300, 4), (300, 3), [100, 3, 0, 77, 64],
            ("float32", "float64")),
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


# ---- convolution -----------------------------------------------------------------------------


def patches_by_hand(
    x: Any, kernel: Any, strides: Any, pads: Any, base: Any = None, inner: Any = None
) -> Any:
    """What each window sees, for axes NC.., OI.., NC..."""
    count = len(kernel)
    whole = [(1, 1, *(sizes or (1,) * count)) for sizes in (kernel, strides, base, inner)]
    held = views(x, 0, whole[0], whole[1], [(0, 0), (0, 0), *pads], whole[2], whole[3])
    places = held.shape[2 : 2 + count]
    out = held.reshape(*held.shape[:2], *places, *kernel)
    out = np.moveaxis(out, range(2, 2 + count), range(2 + count, 2 + 2 * count))
    return out.reshape(x.shape[0], x.shape[1] * int(np.prod(kernel)), *places)


def _one_group(x: Any, k: Any, strides: Any, pads: Any, base: Any, inner: Any) -> Any:
    held = patches_by_hand(x, k.shape[2:], strides, pads, base, inner)
    return np.einsum("nf...,of->no...", held, k.reshape(len(k), held.shape[1]))


def _in_groups(x: Any, k: Any, features: int, batches: int, *geometry: Any) -> Any:
    axis, count = (0, batches) if batches > 1 else (1, features)
    pairs = zip(np.split(x, count, axis), np.split(k, count, 0))
    return np.concatenate([_one_group(*pair, *geometry) for pair in pairs], 1)


def convolved(
    x: Any, k: Any, strides: Any, padding: Any, base: Any = None, inner: Any = None, *,
    dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1,
) -> Any:  # fmt: skip
    """conv_general_dilated: kernels times what each window sees, in groups of features."""
    places = "WHD"[: len(strides)]
    lhs, rhs, out = dimension_numbers or (f"NC{places}", f"OI{places}", f"NC{places}")
    places = "".join(letter for letter in rhs if letter not in "OI")
    x, k = [z.astype(np.int64) if z.dtype.itemsize == 1 else wider(z) for z in (x, k)]
    x = x.transpose([lhs.index(letter) for letter in "NC" + places])
    k = k.transpose([rhs.index(letter) for letter in "OI" + places])
    sizes = [max((n - 1) * b + 1, 0) for n, b in zip(x.shape[2:], base or (1,) * 9)]
    window = [(n - 1) * i + 1 for n, i in zip(k.shape[2:], inner or (1,) * 9)]
    pads = pads_of(padding.upper() if isinstance(padding, str) else padding, sizes, window, strides)
    made = _in_groups(x, k, feature_group_count, batch_group_count, strides, pads, base, inner)
    return made.transpose([("NC" + places).index(letter) for letter in out])


def _conv(*args: Any, **options: Any) -> Any:
    return lambda x, k: conv_general_dilated(x, k, *args, **options)


def _case(name: str, lhs: Any, rhs: Any, *args: Any, **options: Any) -> Case:
    dtypes = options.pop("dtypes", TWO)
    oracle = lambda x, k: convolved(x, k, *args, **options)
    return Case(name, _conv(*args, **options), (lhs, rhs), oracle, dtypes, 40, SUM, low=-2, high=2)


CONVOLUTION = [
    _case("1-D", (2, 3, 8), (4, 3, 3), (1,), "VALID", dtypes=NUMBERS),
    _case("1-D of small integers", (2, 3, 8), (4, 3, 3), (1,), "VALID", dtypes=("int4", "uint4")),
    _case("1-D, full", (1, 1, 6), (1, 1, 3), (1,), [(2, 2)], dtypes=NUMBERS),
    _case("strided", (2, 3, 9), (4, 3, 2), (3,), [(1, 2)]),
    _case("cut", (2, 3, 9), (4, 3, 2), (2,), [(-1, -2)]),
    _case("holes in the input", (2, 3, 4), (4, 3, 3), (2,), [(2, 1)], (3,)),
    _case("holes in the kernel", (2, 3, 9), (4, 3, 3), (2,), [(2, 1)], None, (2,)),
    _case("all at once", (2, 3, 7), (4, 3, 3), (2,), [(3, 1)], (2,), (3,)),
    _case("same", (1, 2, 5), (3, 2, 4), (2,), "SAME"),
    _case("same, lower", (1, 2, 5), (3, 2, 4), (2,), "same_lower"),
    _case("2-D", (2, 3, 5, 6), (4, 3, 2, 3), (1, 2), [(1, 0), (2, 1)],
          dtypes=FEW),
    _case("2-D, channels last", (2, 5, 6, 3), (2, 3, 3, 4), (1, 2), "SAME",
          dimension_numbers=("NHWC", "HWIO", "NHWC")),
    _case("2-D, axes anyhow", (6, 3, 5, 2), (3, 4, 2, 3), (1, 2), [(0, 1), (2, 0)], (1, 2), (2, 1),
          dimension_numbers=("WCHN", "WOHI", "CNWH")),
    _case("3-D", (1, 2, 3, 4, 3), (2, 2, 2, 2, 2), (1, 1, 2), "VALID"),
    _case("no spatial axes", (2, 3), (4, 3), (), []),
    _case("feature groups", (2, 6, 7), (4, 3, 3), (2,), [(1, 2)], feature_group_count=2,
          dtypes=FEW),
    _case("depthwise", (2, 3, 7), (6, 1, 3), (1,), "SAME", (1,), (2,), feature_group_count=3,
          dtypes=FEW),
    _case("batch groups", (6, 2, 7), (4, 2, 3), (2,), [(1, 2)], batch_group_count=2,
          dtypes=FEW),
    _case("feature groups, 2-D", (2, 5, 4, 6), (3, 2, 2, 3), (1, 2), "VALID", None, (2, 1),
          dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=3),
    _case("no features", (2, 0, 7), (4, 0, 3), (1,), "VALID"),
    _case("no examples", (0, 3, 7), (4, 3, 3), (1,), "VALID"),
    _case("too small", (2, 3, 2), (4, 3, 3), (1,), "VALID"),
    _case("no input", (2, 3, 0), (4, 3, 3), (1,), [(2, 2)]),
    Case("conv", lambda x, k: conv(x, k, (2,), "SAME"), ((1, 2, 7), (3, 2, 2)),
         lambda x, k: convolved(x, k, (2,), "SAME"), FEW, 40, SUM),
    Case("conv_with_general_padding", lambda x, k: conv_with_general_padding(
        x, k, (2,), [(1, 1)], (2,), (2,)), ((1, 2, 7), (3, 2, 2)),
         lambda x, k: convolved(x, k, (2,), [(1, 1)], (2,), (2,)), FEW, 40, SUM),
    Case("conv_transpose", lambda x, k: conv_transpose(x, k, (2, 3), "SAME"),
         ((1, 3, 4, 2), (3, 2, 2, 3)), lambda x, k: convolved(
             x, k, (1, 1), [(2, 1), (1, 2)], (2, 3),
             dimension_numbers=("NHWC", "HWIO", "NHWC")), FEW, 40, SUM),
    Case("conv_transpose of a kernel", lambda x, k: conv_transpose(
        x, k, (2,), [(1, 2)], transpose_kernel=True), ((1, 4, 3), (3, 2, 3)),
         lambda x, k: convolved(x, k[::-1].swapaxes(1, 2), (1,), [(1, 2)], (2,),
                                dimension_numbers=("NWC", "WIO", "NWC")), FEW, 40, SUM),
]  # fmt: skip


# ---- windows as features ---------------------------------------------------------------------
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
    return Case(name, patches(*args), (shape,), _by_hand(*args), MOVED)


def _local(name: str, run: Any, shapes: Any, oracle: Any) -> Case:
    types = (*THREE, "complex64")
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


# ---- Fourier transforms ----------------------------------------------------------------------
def _fft(kind: str, shape: tuple[int, ...], lengths: tuple[int, ...]) -> Case:
    """The transform over the last axes.  jaxlib's interpreter has some of them only."""
    transform = getattr(np.fft, kind.lower() + "n")
    dtypes = SINGLE if kind == "RFFT" else COMPLEX
    return Case(
        f"{kind} of {shape} over {lengths}", lambda x: fft(x, kind, lengths), (shape,),
        lambda x: transform(wider(x), lengths, range(-len(lengths), 0)),
        dtypes, 40, SUM, engines=("xla", "numpy"),
    )  # fmt: skip


FFT = [
    _fft(kind, (*shape[:-1], shape[-1] // 2 + 1) if kind == "IRFFT" else shape, lengths)
    for kind in ("FFT", "IFFT", "RFFT", "IRFFT")
    for shape, lengths in (
        ((1,), (1,)), ((7,), (7,)), ((2, 8), (8,)), ((2, 3, 4), (3, 4)), ((3, 5), (3, 5)),
        ((2, 3, 4), (2, 3, 4)), ((0, 6), (6,)),
    )
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
         THREE, 2, ROUNDED),
    Case("cubic", lambda x, *c: polynomial(x, c), ((2, 3), (), (), (), ()), _horner,
         (*THREE, "bfloat16", "complex64", "complex128"), 8, ROUNDED, low=-2, high=2),
    Case("coefficients of its shape", lambda x, *c: polynomial(x, c), ((2, 1), (1, 3), (2, 3), ()),
         _horner, THREE, 8, ROUNDED, low=-2, high=2),
    Case("constant", lambda x, c: polynomial(x, [c]), ((2, 3), ()), _horner, THREE,
         corners=False),  # Horner multiplies even the infinite by zero
    Case("of a scalar", lambda x, *c: polynomial(x, c), ((), (3,), ()), _horner, THREE, 8, ROUNDED),
]  # fmt: skip
