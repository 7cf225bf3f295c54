"""Sums of products: dot_general, convolutions, Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.ops.products.convolution import (
    conv,
    conv_general_dilated,
    conv_transpose,
    conv_with_general_padding,
)
from hloom.ops.products.dot import batch_matmul, dot, dot_general
from hloom.ops.products.fft import fft
from hloom.testing.case import Case
from hloom.testing.comparison import wider
from hloom.testing.operands import COMPLEX, NUMBERS, SINGLE

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
         ((2, 3), (3, 4)), None, ("bfloat16", "float16"), 40, SUM),
]  # fmt: skip


# ---- convolution -----------------------------------------------------------------------------
FEW = ("int32", "float32", "float64", "bfloat16", "complex64")


def _conv(*args: Any, **options: Any) -> Any:
    return lambda x, k: conv_general_dilated(x, k, *args, **options)


def _case(name: str, lhs: Any, rhs: Any, *args: Any, **options: Any) -> Case:
    dtypes = options.pop("dtypes", FEW)
    return Case(name, _conv(*args, **options), (lhs, rhs), None, dtypes, 40, SUM, low=-2, high=2)


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
    _case("2-D", (2, 3, 5, 6), (4, 3, 2, 3), (1, 2), [(1, 0), (2, 1)]),
    _case("2-D, channels last", (2, 5, 6, 3), (2, 3, 3, 4), (1, 2), "SAME",
          dimension_numbers=("NHWC", "HWIO", "NHWC")),
    _case("2-D, axes anyhow", (6, 3, 5, 2), (3, 4, 2, 3), (1, 2), [(0, 1), (2, 0)], (1, 2), (2, 1),
          dimension_numbers=("WCHN", "WOHI", "CNWH")),
    _case("3-D", (1, 2, 3, 4, 3), (2, 2, 2, 2, 2), (1, 1, 2), "VALID"),
    _case("no spatial axes", (2, 3), (4, 3), (), []),
    _case("feature groups", (2, 6, 7), (4, 3, 3), (2,), [(1, 2)], feature_group_count=2),
    _case("depthwise", (2, 3, 7), (6, 1, 3), (1,), "SAME", (1,), (2,), feature_group_count=3),
    _case("batch groups", (6, 2, 7), (4, 2, 3), (2,), [(1, 2)], batch_group_count=2),
    _case("feature groups, 2-D", (2, 5, 4, 6), (3, 2, 2, 3), (1, 2), "VALID", None, (2, 1),
          dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=3, dtypes=FEW[:3]),
    _case("no features", (2, 0, 7), (4, 0, 3), (1,), "VALID"),
    _case("no examples", (0, 3, 7), (4, 3, 3), (1,), "VALID"),
    _case("too small", (2, 3, 2), (4, 3, 3), (1,), "VALID"),
    _case("no input", (2, 3, 0), (4, 3, 3), (1,), [(2, 2)]),
    Case("conv", lambda x, k: conv(x, k, (2,), "SAME"), ((1, 2, 7), (3, 2, 2)), None,
         FEW, 40, SUM),
    Case("conv_with_general_padding", lambda x, k: conv_with_general_padding(
        x, k, (2,), [(1, 1)], (2,), (2,)), ((1, 2, 7), (3, 2, 2)), None, FEW, 40, SUM),
    Case("conv_transpose", lambda x, k: conv_transpose(x, k, (2, 3), "SAME"),
         ((1, 3, 4, 2), (3, 2, 2, 3)), None, FEW, 40, SUM),
    Case("conv_transpose of a kernel", lambda x, k: conv_transpose(
        x, k, (2,), [(1, 2)], transpose_kernel=True), ((1, 4, 3), (3, 2, 3)), None, FEW, 40, SUM),
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
