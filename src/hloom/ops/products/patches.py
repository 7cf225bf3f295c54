"""The windows of a convolution as they are: patches, kernels of their own, and shapes.

`conv_general_dilated_patches` gives what a kernel would be multiplied with at each place, and
`conv_general_dilated_local` multiplies it with another kernel at each place.  The shape functions
say what a convolution's result looks like, without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from hloom.core.aval import ShapedArray
from hloom.core.operands import convert as convert_operands
from hloom.core.support.strict import strict
from hloom.errors import ShapeError
from hloom.ops.common.elementwise import check_same_dtype
from hloom.ops.common.expression import FLOAT32
from hloom.ops.common.linear import constant, full, inverse, transpose
from hloom.ops.indexing.gather import default_zero
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.products.convolution import (
    TRANSPOSE_NUMBERS,
    Axes,
    ConvDimensionNumbers,
    conv_dimension_numbers,
    conv_general_dilated_p,
    named_padding,
    spatial_sizes,
    transposed_padding,
)
from hloom.ops.products.dot import accumulation_dtype, dot_general
from hloom.ops.products.precision import pair_precision
from hloom.ops.reductions.windows import Window, pairs, window_of
from hloom.ops.shapes.shape import canonical_shape, integers, reshape
from hloom.ops.shapes.slicing import pad, stack
from hloom.ops.shapes.slicing import slice as slice_


def _window(
    name: str, lhs: ShapedArray, kernel: Axes, numbers: ConvDimensionNumbers, strides: Any,
    padding: Any, lhs_dilation: Any, rhs_dilation: Any,
) -> Window:  # fmt: skip
    """The sliding window, checked, of a kernel with these spatial sizes."""
    for spec in numbers:
        if sorted(spec) != list(range(lhs.ndim)):  # StableHLO convolution C13, C18, C20
            raise ShapeError(
                f"{name} of {lhs}: dimension_numbers must name each axis once; got {spec}"
            )
    ones = (1,) * len(kernel)
    steps = integers(name, "window_strides", strides)
    base = integers(name, "lhs_dilation", ones if lhs_dilation is None else lhs_dilation)
    inner = integers(name, "rhs_dilation", ones if rhs_dilation is None else rhs_dilation)
    none = ((0, 0),) * len(kernel)
    sizes = ShapedArray(spatial_sizes(lhs, numbers.lhs_spec), lhs.dtype)
    Window(kernel, steps, none, base, inner).check(name, sizes)
    if isinstance(padding, str):
        shape = [1] * lhs.ndim
        for axis, size in zip(numbers.rhs_spec[2:], kernel):
            shape[axis] = size
        rhs = ShapedArray(tuple(shape), lhs.dtype)
        padding = named_padding(lhs, rhs, numbers, steps, padding, base, inner)
    window = Window(kernel, steps, pairs(name, padding), base, inner)
    window.check(name, sizes)
    return window


def _numbers_of(
    name: str, lhs: ShapedArray, kernel: Axes, dimension_numbers: Any
) -> ConvDimensionNumbers:
    if lhs.ndim < 2 or len(kernel) != lhs.ndim - 2:
        raise ShapeError(
            f"{name} takes an input with a batch and a feature axis, and filter_shape with a size "
            f"for each other axis; got {lhs} and filter_shape={kernel}"
        )
    return conv_dimension_numbers(lhs.shape, (1, 1, *kernel), dimension_numbers)


# ---- patches ----------------------------------------------------------------------------------
def _patches(x: Any, window: Window) -> Any:
    """[n,c,*spatial] --> [n,c,*kernel,*places]: what each window sees, zeros in padding and holes.

    Axis by axis, so that a kernel of k x k takes 2 k slices and not k * k.
    """
    counts = window.shape(ShapedArray(x.aval.shape[2:], x.aval.dtype))
    if not all(counts) or not x.aval.size:
        return full(x.aval.shape[:2] + window.window_dimensions + counts, 0, x.aval.dtype)
    config = [(low, high, base - 1) for (low, high), base in zip(window.padding, window[3])]
    zero = constant(default_zero(x.aval.dtype), x.aval.dtype)
    x = pad(x, zero, [(0, 0, 0), (0, 0, 0), *config])
    for i, (size, stride, inner) in enumerate(zip(window[0], window.window_strides, window[4])):
        axis = 2 + 2 * i  # behind the kernel's axes that are there already
        parts = [_strided(x, axis, place * inner, counts[i], stride) for place in range(size)]
        x = stack(parts, 2 + i)
    return x


def _strided(x: Any, axis: int, start: int, count: int, stride: int) -> Any:
    """So many elements along an axis, from `start` on."""
    starts, limits, steps = [0] * x.aval.ndim, list(x.aval.shape), [1] * x.aval.ndim
    starts[axis], limits[axis], steps[axis] = start, start + (count - 1) * stride + 1, stride
    return slice_(x, starts, limits, steps)


@strict
def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """What a kernel of this shape would see at each place, as features of the result.

    Arguments are those of `conv_general_dilated`, the kernel's spatial sizes in place of a kernel.
    The result's features are the input's, each with its window in the order of the kernel's axes:
    `C * prod(filter_shape)` of them.  Takes any dtype, and gives it or `preferred_element_type`.
    Raises TypeError or ValueError where sizes don't go together.  Differs from a convolution with
    kernels of ones and zeros: elements are copied, so that NaN and infinity stay where they are,
    and `precision` makes no difference.

    >>> x = jnp.arange(4.0).reshape(1, 1, 4)
    >>> lax.conv_general_dilated_patches(x, (2,), (1,), "VALID")
    Array([[[0., 1., 2.],
            [1., 2., 3.]]], dtype=float32)
    """
    name = "conv_general_dilated_patches"
    (lhs,) = convert_operands(name, (lhs,))
    kernel = integers(name, "filter_shape", filter_shape)
    numbers = _numbers_of(name, lhs.aval, kernel, dimension_numbers)
    window = _window(
        name, lhs.aval, kernel, numbers, window_strides, padding, lhs_dilation, rhs_dilation
    )
    pair_precision(name, precision)
    dtype = accumulation_dtype(name, lhs.aval.dtype, preferred_element_type)
    found = _patches(transpose(lhs, numbers.lhs_spec), window)
    examples, features, *rest = found.aval.shape
    found = reshape(found, (examples, features * prod(kernel), *rest[len(kernel) :]))
    found = transpose(found, inverse(numbers.out_spec))
    return found if dtype == lhs.aval.dtype else convert_element_type(found, dtype)


# ---- a kernel for each place ------------------------------------------------------------------
@strict
def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Any:
    """A convolution with another kernel at each place: a locally connected layer.

    Arguments are those of `conv_general_dilated`.  The spatial axes of `rhs` are those of the
    result, and its input features are those of `conv_general_dilated_patches`: for each input
    feature a window of `filter_shape`.  Raises TypeError or ValueError where sizes or dtypes don't
    go together.

    >>> x, kernels = jnp.arange(4.0).reshape(1, 1, 4), jnp.arange(6.0).reshape(1, 2, 3)
    >>> lax.conv_general_dilated_local(x, kernels, (1,), "VALID", (2,))
    Array([[[ 3.,  9., 19.]]], dtype=float32)
    """
    name = "conv_general_dilated_local"
    lhs, rhs = convert_operands(name, (lhs, rhs))
    check_same_dtype(name, (lhs.aval, rhs.aval))
    kernel = integers(name, "filter_shape", filter_shape)
    numbers = _numbers_of(name, lhs.aval, kernel, dimension_numbers)
    patches = conv_general_dilated_patches(
        lhs, kernel, window_strides, padding, lhs_dilation, rhs_dilation, numbers
    )
    rhs_spec, out_spec = numbers.rhs_spec, numbers.out_spec
    places = spatial_sizes(patches.aval, out_spec)
    features = patches.aval.shape[out_spec[1]]
    sizes = tuple(rhs.aval.shape[a] for a in rhs_spec[1:]) if rhs.aval.ndim == lhs.aval.ndim else ()
    if sizes != (features, *places):
        raise ShapeError(
            f"{name} of {lhs.aval} takes kernels with {features} input features (features of the "
            f"input times filter_shape={kernel}) for each of the places {places}; got {rhs.aval}, "
            f"whose axes are {rhs_spec}: output features, input features, places"
        )
    # All places are batch axes: result axes are places, output features, examples.
    pairs_of_axes = ((rhs_spec[1],), (out_spec[1],)), (rhs_spec[2:], out_spec[2:])
    out = dot_general(rhs, patches, pairs_of_axes, precision)
    count = len(places)
    back = inverse(out_spec)
    return transpose(transpose(out, (count + 1, count, *range(count))), back)


# ---- shapes -------------------------------------------------------------------------------------
def _placed(spec: Axes, sizes: Sequence[int]) -> tuple[int, ...]:
    """A shape with these sizes on the axes of the spec."""
    return tuple(int(sizes[i]) for i in inverse(spec))


@strict
def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of `conv_general_dilated` of these shapes, without dilation and groups.

    Raises TypeError or ValueError where ranks or sizes don't go together.

    >>> lax.conv_general_shape_tuple(
    ...     (1, 8, 8, 3), (3, 3, 3, 4), (2, 1), "VALID", ("NHWC", "HWIO", "NHWC"))
    (1, 3, 6, 4)
    """
    name = "conv_general_shape_tuple"
    lhs, rhs = _of_shape(name, lhs_shape), _of_shape(name, rhs_shape)
    numbers = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    kernel = spatial_sizes(rhs, numbers.rhs_spec)
    window = _window(name, lhs, kernel, numbers, window_strides, padding, None, None)
    places = window.shape(ShapedArray(spatial_sizes(lhs, numbers.lhs_spec), lhs.dtype))
    examples, outputs = lhs.shape[numbers.lhs_spec[0]], rhs.shape[numbers.rhs_spec[0]]
    return _placed(numbers.out_spec, (examples, outputs, *places))


@strict
def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: Any,
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The shape of `conv` of these shapes.

    >>> lax.conv_shape_tuple((1, 1, 4), (1, 1, 2), (2,), "VALID")
    (1, 1, 2)
    """
    numbers = conv_dimension_numbers(lhs_shape, rhs_shape, None)
    lhs, rhs = (ShapedArray(tuple(shape), FLOAT32) for shape in (lhs_shape, rhs_shape))
    window = window_of(
        "conv_shape_tuple", ShapedArray(lhs.shape[2:], lhs.dtype), rhs.shape[2:], strides, pads,
        None, None,
    )  # fmt: skip
    ones = (1,) * len(strides)
    out = conv_general_dilated_p.infer(
        lhs, rhs, window_strides=window.window_strides, padding=window.padding, lhs_dilation=ones,
        rhs_dilation=ones, dimension_numbers=numbers, feature_group_count=1,
        batch_group_count=batch_group_count, preferred_element_type=lhs.dtype,
    )  # fmt: skip
    return out.shape


@strict
def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of `conv_transpose` of these shapes, without dilation of the kernel.

    Raises TypeError or ValueError where ranks or sizes don't go together.

    >>> lax.conv_transpose_shape_tuple((1, 8, 3), (3, 3, 4), (2,), "SAME", ("NHC", "HIO", "NHC"))
    (1, 16, 4)
    """
    name = "conv_transpose_shape_tuple"
    lhs, rhs = _of_shape(name, lhs_shape), _of_shape(name, rhs_shape)
    if dimension_numbers is None:
        dimension_numbers = TRANSPOSE_NUMBERS.get(lhs.ndim)
    numbers = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    kernel = spatial_sizes(rhs, numbers.rhs_spec)
    strides = integers(name, "window_strides", window_strides)
    if isinstance(padding, str):
        ones = (1,) * len(kernel)
        _window(name, lhs, kernel, numbers, strides, [(0, 0)] * len(kernel), ones, ones)
        padding = [transposed_padding(k, s, padding.upper()) for k, s in zip(kernel, strides)]
    window = _window(name, lhs, kernel, numbers, (1,) * len(kernel), padding, strides, None)
    places = window.shape(ShapedArray(spatial_sizes(lhs, numbers.lhs_spec), lhs.dtype))
    examples, outputs = lhs.shape[numbers.lhs_spec[0]], rhs.shape[numbers.rhs_spec[0]]
    return _placed(numbers.out_spec, (examples, outputs, *places))


def _of_shape(name: str, shape: Any) -> ShapedArray:
    sizes = canonical_shape(name, shape)
    if len(sizes) < 2:
        raise ShapeError(f"{name} takes shapes with 2 axes or more; got {sizes}")
    return ShapedArray(sizes, FLOAT32)
