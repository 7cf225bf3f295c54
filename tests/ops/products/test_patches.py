"""Patches against the definition and the convolution, kernels of their own, and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.testing.cases.products import local, patches


def test_a_kernel_over_patches_is_the_convolution() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 5, (2, 7, 6, 3)).astype(np.float32)
    kernel = rng.integers(-5, 5, (2, 3, 3, 4)).astype(np.float32)
    numbers = ("NHWC", "HWIO", "NHWC")
    want = lax.conv_general_dilated(x, kernel, (2, 1), "SAME", dimension_numbers=numbers)
    seen = lax.conv_general_dilated_patches(x, (2, 3), (2, 1), "SAME", dimension_numbers=numbers)
    flat = kernel.transpose(2, 0, 1, 3).reshape(18, 4)
    np.testing.assert_array_equal(seen @ flat, want)


def test_one_kernel_everywhere_is_the_convolution() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 5, (2, 3, 7)).astype(np.float32)
    kernel = rng.integers(-5, 5, (4, 3, 2)).astype(np.float32)
    same = np.broadcast_to(kernel.reshape(4, 6, 1), (4, 6, 6))
    got = lax.conv_general_dilated_local(x, same, (1,), "VALID", (2,))
    np.testing.assert_array_equal(got, lax.conv(x, kernel, (1,), "VALID"))


@pytest.mark.parametrize("engine", testing.ENGINES)
def test_what_is_not_finite_stays_where_it_is(engine: str) -> None:
    x = np.array([[[1, np.inf, 2, np.nan, 3]]], np.float32)
    (got,) = testing.results(engine, patches((2,), (1,), "VALID"), x)
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
        (lambda: patches((2, 2), (1,), "SAME")(X), TypeError, "a size for each other axis"),
        (lambda: patches((2,), (1,), "SAME")(X[0, 0]), TypeError, "got f32[4]"),
        (lambda: patches((2,), (1, 1), "SAME")(X), TypeError, "one entry for each axis"),
        (lambda: patches((0,), (1,), "SAME")(X), ValueError, "must be positive"),
        (lambda: patches((2,), (0,), "SAME")(X), ValueError, "must be positive"),
        (lambda: patches((2,), (1,), "FULL")(X), ValueError, 'padding is "SAME"'),
        (lambda: patches((2,), (1,), [1])(X), TypeError, "pair (low, high)"),
        (lambda: patches((2,), (1,), "SAME", (2,))(X), ValueError, "lhs_dilation (2,)"),
        (lambda: patches(2, (1,), "SAME")(X), TypeError, "filter_shape as a sequence"),
        (lambda: patches((2,), (1,), "SAME", precision="some")(X), ValueError, "precision is one"),
        (lambda: patches((2,), (1,), "SAME", precision="F32_F32_F32")(X), ValueError, "algorithm"),
        (lambda: patches((2,), (1,), "SAME", preferred_element_type="float16")(X), TypeError,
         "narrower"),
        (lambda: patches((2,), (1,), "SAME", dimension_numbers=("NCH", "OIH", "NCW"))(X),
         ValueError, "spatial letters"),
        (lambda: patches((2,), (1,), "SAME", dimension_numbers=lax.ConvDimensionNumbers(
            (0, 1, 1), (0, 1, 2), (0, 1, 2)))(X), ValueError, "each axis once"),
        (lambda: local((1,), "VALID", (2,))(X, jnp.ones((3, 5, 3))), TypeError, "4 input"),
        (lambda: local((1,), "VALID", (2,))(X, jnp.ones((3, 4, 2))), TypeError, "places (3,)"),
        (lambda: local((1,), "VALID", (2,))(X, jnp.ones((3, 4))), TypeError, "f32[3,4]"),
        (lambda: local((1,), "VALID", (2,))(X, jnp.ones((3, 4, 3), int)), TypeError, "one dtype"),
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
