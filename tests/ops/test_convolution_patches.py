"""Patches against the definition and the convolution, kernels of their own, and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from tests.ops import machine, structured
from tests.ops.structured import EVERYTHING, Case

SUM = "a sum of products in any order"
FEW = ("int32", "float32", "float64", "complex64")


def _window(n: int, k: int, stride: int, pad: Any, base: int, inner: int) -> Any:
    """[places, k]: the input element that each place of each window sees, -1 for none."""
    low, high = pad
    held = np.full(low + (n - 1) * base + 1 + high, -1)
    held[[low + i * base for i in range(n)]] = range(n)
    reach = (k - 1) * inner
    starts = range(0, len(held) - reach, stride)
    return np.array([[held[s + j * inner] for j in range(k)] for s in starts]).reshape(-1, k)


def _patches_by_hand(
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


def _patches(*args: Any, **options: Any) -> Any:
    return lambda x: lax.conv_general_dilated_patches(x, *args, **options)


def _by_hand(*args: Any) -> Any:
    return lambda x: _patches_by_hand(x, *args)


def _case(name: str, shape: Any, *args: Any) -> Case:
    return Case(name, _patches(*args), (shape,), _by_hand(*args), EVERYTHING)


CASES = [
    _case("1-D", (2, 3, 8), (3,), (1,), [(0, 0)]),
    _case("strided and padded", (2, 3, 9), (2,), (3,), [(1, 2)]),
    _case("holes in the input", (2, 2, 4), (3,), (2,), [(2, 1)], (3,)),
    _case("holes in the window", (2, 2, 9), (3,), (2,), [(2, 1)], None, (2,)),
    _case("2-D", (2, 3, 5, 6), (2, 3), (1, 2), [(1, 0), (2, 1)], (1, 2), (2, 1)),
    _case("no spatial axes", (2, 3), (), (), []),
    _case("no examples", (0, 3, 7), (3,), (1,), [(0, 0)]),
]
CASES += [
    Case("same", _patches((2,), (1,), "SAME"), ((1, 2, 4),), _by_hand((2,), (1,), [(0, 1)]),
         ("float32", "float64")),
    Case("axes anyhow", _patches((3, 2), (2, 1), [(1, 0), (0, 2)],
                                 dimension_numbers=("WCHN", "WOHI", "CNWH")),
         ((6, 3, 5, 2),),
         lambda x: _patches_by_hand(x.transpose(3, 1, 0, 2), (3, 2), (2, 1), [(1, 0), (0, 2)])
         .transpose(1, 0, 2, 3), ("float32", "float64")),
    Case("windows that don't fit", _patches((3,), (1,), "VALID"), ((2, 3, 2),),
         lambda x: np.zeros((2, 9, 0)), ("float32", "float64")),
    Case("cut", _patches((2,), (1,), [(-1, -2)]), ((2, 3, 7),),
         lambda x: _patches_by_hand(x[:, :, 1:-2], (2,), (1,), [(0, 0)]), ("float32", "float64")),
    Case("wider", _patches((2,), (1,), "VALID", preferred_element_type="float32"), ((2, 3, 7),),
         lambda x: _patches_by_hand(x, (2,), (1,), [(0, 0)]), ("bfloat16",)),
]  # fmt: skip


def _local(*args: Any, **options: Any) -> Any:
    return lambda x, k: lax.conv_general_dilated_local(x, k, *args, **options)


def _local_by_hand(x: Any, kernels: Any, *args: Any) -> Any:
    patches = _patches_by_hand(machine.wider(x), *args)
    return np.einsum("nip,oip->nop", patches.reshape(*patches.shape[:2], -1),
                     machine.wider(kernels).reshape(*kernels.shape[:2], -1)).reshape(
        patches.shape[0], kernels.shape[0], *patches.shape[2:])  # fmt: skip


LOCAL = [
    Case("local, 1-D", _local((1,), "VALID", (2,)), ((2, 3, 5), (4, 6, 4)),
         lambda x, k: _local_by_hand(x, k, (2,), (1,), [(0, 0)]), FEW, 40, SUM, low=-2, high=2),
    Case("local, 2-D", _local((1, 2), [(1, 0), (2, 1)], (2, 3), (1, 2), (2, 1)),
         ((2, 3, 5, 4), (4, 18, 4, 4)),
         lambda x, k: _local_by_hand(
             x, k, (2, 3), (1, 2), [(1, 0), (2, 1)], (1, 2), (2, 1)), FEW, 40, SUM, low=-2, high=2),
    Case("local, channels last", _local(
        (1,), "VALID", (2,), dimension_numbers=("NHC", "HIO", "NHC")), ((2, 5, 3), (4, 6, 2)),
         lambda x, k: _local_by_hand(
             x.transpose(0, 2, 1), k.transpose(2, 1, 0), (2,), (1,), [(0, 0)]).transpose(0, 2, 1),
         FEW, 40, SUM, low=-2, high=2),
    Case("local, no spatial axes", _local((), [], ()), ((2, 3), (4, 3)),
         lambda x, k: machine.wider(x) @ machine.wider(k).T, FEW, 40, SUM, low=-2, high=2),
    Case("local, empty", _local((1,), "VALID", (2,)), ((2, 3, 1), (4, 6, 0)),
         lambda x, k: np.zeros((2, 4, 0)), FEW),
]  # fmt: skip


@pytest.mark.parametrize(("case", "dtype"), structured.values(CASES + LOCAL), ids=str)
def test_value(case: Case, dtype: str) -> None:
    structured.check_value(case, dtype)


@pytest.mark.parametrize("case", structured.smooth(CASES + LOCAL), ids=str)
def test_derivative(case: Case) -> None:
    structured.check_jvp(case)
    structured.check_adjoint(case)


@pytest.mark.parametrize("case", [c for c in CASES + LOCAL if "float32" in c.dtypes], ids=str)
def test_batch(case: Case) -> None:
    structured.check_batch(case)


def test_a_kernel_over_patches_is_the_convolution() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 5, (2, 7, 6, 3)).astype(np.float32)
    kernel = rng.integers(-5, 5, (2, 3, 3, 4)).astype(np.float32)
    numbers = ("NHWC", "HWIO", "NHWC")
    want = lax.conv_general_dilated(x, kernel, (2, 1), "SAME", dimension_numbers=numbers)
    patches = lax.conv_general_dilated_patches(
        x, (2, 3), (2, 1), "SAME", dimension_numbers=numbers
    )
    flat = kernel.transpose(2, 0, 1, 3).reshape(18, 4)
    np.testing.assert_array_equal(patches @ flat, want)


def test_one_kernel_everywhere_is_the_convolution() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 5, (2, 3, 7)).astype(np.float32)
    kernel = rng.integers(-5, 5, (4, 3, 2)).astype(np.float32)
    same = np.broadcast_to(kernel.reshape(4, 6, 1), (4, 6, 6))
    got = lax.conv_general_dilated_local(x, same, (1,), "VALID", (2,))
    np.testing.assert_array_equal(got, lax.conv(x, kernel, (1,), "VALID"))


@pytest.mark.parametrize("engine", machine.ENGINES)
def test_what_is_not_finite_stays_where_it_is(engine: str) -> None:
    x = np.array([[[1, np.inf, 2, np.nan, 3]]], np.float32)
    (got,) = structured.evaluate(engine, _patches((2,), (1,), "VALID"), x)
    np.testing.assert_array_equal(got[0], [x[0, 0, :-1], x[0, 0, 1:]])


SHAPES = [
    ((1, 3, 8, 8), (4, 3, 3, 3), (1, 1), "SAME", ("NCHW", "OIHW", "NCHW")),
    ((1, 8, 9, 3), (3, 2, 3, 4), (2, 1), "VALID", ("NHWC", "HWIO", "NHWC")),
    ((1, 8, 9, 3), (3, 2, 3, 4), (2, 1), [(0, 1), (1, 0)], ("NHWC", "HWIO", "CWHN")),
    ((1, 3, 2, 2), (4, 3, 3, 3), (2, 1), "VALID", None),
    ((2, 3, 5), (4, 3, 3), (2,), "SAME_LOWER", lax.ConvDimensionNumbers(*[(0, 1, 2)] * 3)),
]


@pytest.mark.parametrize("given", SHAPES, ids=str)
def test_the_shape_of_a_convolution(given: Any) -> None:
    lhs, rhs, strides, padding, numbers = given
    found = lax.conv_general_shape_tuple(*given)
    conv = lambda x, k: lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=numbers)
    assert found == hloom.eval_shape(conv, jnp.ones(lhs), jnp.ones(rhs)).shape
    assert all(type(n) is int for n in found)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 1), (2, 1)]], ids=str)
@pytest.mark.parametrize("strides", [(1, 1), (2, 3), (4, 3)], ids=str)
@pytest.mark.parametrize("numbers", [None, ("NHWC", "HWIO", "CNWH")], ids=str)
def test_the_shape_of_a_transposed_convolution(padding: Any, strides: Any, numbers: Any) -> None:
    lhs, rhs = (1, 8, 7, 3), (3, 2, 3, 4)
    conv = lambda x, k: lax.conv_transpose(x, k, strides, padding, dimension_numbers=numbers)
    found = lax.conv_transpose_shape_tuple(lhs, rhs, strides, padding, numbers)
    assert found == hloom.eval_shape(conv, jnp.ones(lhs), jnp.ones(rhs)).shape


X = jnp.ones((1, 2, 4))
NHWC = ("NHWC", "HWIO", "NHWC")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: _patches((2, 2), (1,), "SAME")(X), TypeError, "a size for each other axis"),
        (lambda: _patches((2,), (1,), "SAME")(X[0, 0]), TypeError, "got f32[4]"),
        (lambda: _patches((2,), (1, 1), "SAME")(X), TypeError, "one entry for each axis"),
        (lambda: _patches((0,), (1,), "SAME")(X), ValueError, "must be positive"),
        (lambda: _patches((2,), (0,), "SAME")(X), ValueError, "must be positive"),
        (lambda: _patches((2,), (1,), "FULL")(X), ValueError, 'padding is "SAME"'),
        (lambda: _patches((2,), (1,), [1])(X), TypeError, "pair (low, high)"),
        (lambda: _patches((2,), (1,), "SAME", (2,))(X), ValueError, "lhs_dilation (2,)"),
        (lambda: _patches(2, (1,), "SAME")(X), TypeError, "filter_shape as a sequence"),
        (lambda: _patches((2,), (1,), "SAME", precision="some")(X), ValueError, "precision is one"),
        (lambda: _patches((2,), (1,), "SAME", precision="F32_F32_F32")(X), ValueError, "algorithm"),
        (lambda: _patches((2,), (1,), "SAME", preferred_element_type="float16")(X), TypeError,
         "narrower"),
        (lambda: _patches((2,), (1,), "SAME", dimension_numbers=("NCH", "OIH", "NCW"))(X),
         ValueError, "spatial letters"),
        (lambda: _patches((2,), (1,), "SAME", dimension_numbers=lax.ConvDimensionNumbers(
            (0, 1, 1), (0, 1, 2), (0, 1, 2)))(X), ValueError, "each axis once"),
        (lambda: _local((1,), "VALID", (2,))(X, jnp.ones((3, 5, 3))), TypeError, "4 input"),
        (lambda: _local((1,), "VALID", (2,))(X, jnp.ones((3, 4, 2))), TypeError, "places (3,)"),
        (lambda: _local((1,), "VALID", (2,))(X, jnp.ones((3, 4))), TypeError, "f32[3,4]"),
        (lambda: _local((1,), "VALID", (2,))(X, jnp.ones((3, 4, 3), int)), TypeError, "one dtype"),
        (lambda: lax.conv_general_shape_tuple((1, 8, 3), (3, 3, 3, 4), (2, 1), "VALID", NHWC),
         TypeError, "one rank"),
        (lambda: lax.conv_general_shape_tuple((1, -8, 8, 3), (3, 3, 3, 4), (2, 1), "VALID", NHWC),
         ValueError, "non-negative"),
        (lambda: lax.conv_general_shape_tuple((8,), (3,), (), "VALID", None), TypeError, "2 axes"),
        (lambda: lax.conv_transpose_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2,), "SAME", NHWC),
         TypeError, "one entry for each axis"),
        (lambda: lax.conv_transpose_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2, 1), "FULL", NHWC),
         ValueError, '"SAME", "VALID"'),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
