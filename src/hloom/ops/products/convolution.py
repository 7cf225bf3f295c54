"""Convolution, as machine learning has it: correlation of a batch of inputs with a kernel.

Axes are given by strings, `("NCHW", "OIHW", "NCHW")` for input, kernel and result: N batch, C
feature, O and I the kernel's output and input features, any other letter a spatial axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from operator import index
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import Primitive, is_linear
from hloom.core.support.strict import refuse_sharding, strict
from hloom.errors import ShapeError, UnsupportedError
from hloom.ops.common.elementwise import accumulator, check_domain, check_same_dtype
from hloom.ops.common.linear import full, move, plus, zeros
from hloom.ops.pointwise.convert import convert_element_type
from hloom.ops.products import convolution_kernels as kernels
from hloom.ops.products.dot import accumulation_dtype
from hloom.ops.products.precision import pair_precision
from hloom.ops.reductions.windows import Window, dilated, padtype_to_pads, pairs
from hloom.ops.shapes.shape import canonical_shape, integers, reshape, rev

Axes = tuple[int, ...]


class ConvDimensionNumbers(NamedTuple):
    """Which axis is what: for input and result (batch, feature, spatial ..), for the kernel
    (output feature, input feature, spatial ..)."""

    lhs_spec: Axes
    rhs_spec: Axes
    out_spec: Axes


#: How the axes of lhs, rhs and result are given: by letters (`("NCHW", "OIHW", "NCHW")`), by
#: number, or as they are for None.
ConvGeneralDilatedDimensionNumbers = None | ConvDimensionNumbers | tuple[str, str, str]


@strict
def conv_general_permutations(
    dimension_numbers: Sequence[str],
) -> tuple[Axes, Axes, Axes]:
    """The axes (batch or output feature, feature, spatial ..) for three strings.

    Raises ValueError unless they have the letters of one kind of convolution.

    >>> lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    lhs, rhs, out = dimension_numbers
    spatial = [c for c in rhs if c not in "OI"]
    letters = (("N", "C"), ("O", "I"), ("N", "C"))
    specs = []
    for spec, first in zip((lhs, rhs, out), letters):
        wanted = [*first, *spatial]
        if sorted(spec) != sorted(wanted) or len(set(spec)) != len(spec):
            raise ShapeError(
                "dimension_numbers are strings such as ('NCHW', 'OIHW', 'NCHW'), with the same "
                f"spatial letters in each; got {tuple(dimension_numbers)}"
            )
        specs.append(tuple(spec.index(c) for c in wanted))
    return specs[0], specs[1], specs[2]


@strict
def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Dimension numbers from None (batch and features lead), three strings, or themselves.

    >>> lax.conv_dimension_numbers((1, 3, 8), (4, 3, 2), None)
    ConvDimensionNumbers(lhs_spec=(0, 1, 2), rhs_spec=(0, 1, 2), out_spec=(0, 1, 2))
    """
    lhs_shape = canonical_shape("conv_dimension_numbers", lhs_shape)
    rhs_shape = canonical_shape("conv_dimension_numbers", rhs_shape)
    if len(lhs_shape) != len(rhs_shape):
        raise ShapeError(
            "convolution takes an input and a kernel of one rank; got shapes "
            f"{tuple(lhs_shape)} and {tuple(rhs_shape)}"
        )
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return ConvDimensionNumbers(*map(tuple, dimension_numbers))
    if dimension_numbers is None:
        axes = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(axes, axes, axes)
    specs = tuple(dimension_numbers)
    if len(specs) != 3:
        raise ValueError(f"dimension_numbers takes three strings; got {dimension_numbers!r}")
    if all(isinstance(s, str) for s in specs):
        if any(len(s) != len(lhs_shape) for s in specs):
            raise ShapeError(
                f"dimension_numbers {specs} need a letter for each of the {len(lhs_shape)} axes"
            )
        specs = conv_general_permutations(specs)
    return ConvDimensionNumbers(*(integers("convolution", "axes", s) for s in specs))


class Conv(NamedTuple):
    """The parameters of a convolution, in the order of a Jaxpr."""

    window_strides: Axes
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: Axes
    rhs_dilation: Axes
    dimension_numbers: ConvDimensionNumbers
    feature_group_count: int
    batch_group_count: int
    preferred_element_type: np.dtype[Any]
    precision: tuple[str, str] | None = None

    def given(self) -> dict[str, Any]:
        """The parameters as a call gives them: precision only where there is one."""
        return {name: x for name, x in self._asdict().items() if x is not None}

    def window(self, kernel: Sequence[int]) -> Window:
        """The sliding window of a kernel with these spatial sizes."""
        return Window(
            tuple(kernel), self.window_strides, self.padding, self.lhs_dilation, self.rhs_dilation
        )


def spatial_sizes(x: Any, spec: Axes) -> Axes:
    """The sizes of the spatial axes, in the order of the spec."""
    return tuple(x.shape[a] for a in spec[2:])


class ConvGeneralDilated(Primitive):
    """(f32[1,3,8], f32[4,3,2]) -- window_strides=(1,), padding=((0, 0),), .. --> f32[1,4,7]."""

    parameters = Conv

    def infer(self, lhs: ShapedArray, rhs: ShapedArray, p: Conv) -> ShapedArray:
        self._check(lhs, rhs, p)
        lhs_spec, rhs_spec, out_spec = p.dimension_numbers
        sizes = [lhs.shape[lhs_spec[0]] // p.batch_group_count, rhs.shape[rhs_spec[0]]]
        spatial = ShapedArray(spatial_sizes(lhs, lhs_spec), lhs.dtype)
        sizes += p.window(spatial_sizes(rhs, rhs_spec)).shape(spatial)
        shape = [0] * lhs.ndim
        for axis, size in zip(out_spec, sizes):
            shape[axis] = size
        weak = lhs.weak_type and rhs.weak_type and p.preferred_element_type == lhs.dtype
        return ShapedArray(tuple(shape), p.preferred_element_type, weak)

    def _check(self, lhs: ShapedArray, rhs: ShapedArray, conv: Conv) -> None:
        check_domain("conv_general_dilated", (lhs, rhs), "number")
        check_same_dtype("conv_general_dilated", (lhs, rhs))
        text = f"conv_general_dilated of {lhs} with kernel {rhs}"
        if lhs.ndim != rhs.ndim or lhs.ndim < 2:  # StableHLO convolution C1
            raise ShapeError(f"{text}: both need one rank, 2 or more")
        for spec in conv.dimension_numbers:
            if sorted(spec) != list(range(lhs.ndim)):  # C13, C18, C20
                raise ShapeError(f"{text}: dimension_numbers must name each axis once; got {spec}")
        lhs_spec, rhs_spec, _ = conv.dimension_numbers
        kernel = spatial_sizes(rhs, rhs_spec)
        window = conv.window(kernel)
        window.check(text, ShapedArray(kernel, lhs.dtype))  # C2 to C9
        ShapedArray(window.padded(spatial_sizes(lhs, lhs_spec)), lhs.dtype)  # raises if too large
        groups, batch_groups = conv.feature_group_count, conv.batch_group_count
        if groups < 1 or batch_groups < 1 or (groups > 1 and batch_groups > 1):  # C21 to C23
            raise ShapeError(
                f"{text}: group counts must be positive and one of them 1; got "
                f"feature_group_count={groups}, batch_group_count={batch_groups}"
            )
        features, outputs = lhs.shape[lhs_spec[1]], rhs.shape[rhs_spec[0]]
        if features != rhs.shape[rhs_spec[1]] * groups:  # C14
            raise ShapeError(
                f"{text}: the input's features, {features} on axis {lhs_spec[1]}, must be the "
                f"kernel's input features, {rhs.shape[rhs_spec[1]]} on axis {rhs_spec[1]}, times "
                f"feature_group_count={groups}"
            )
        if outputs % groups or outputs % batch_groups:  # C15, C16
            raise ShapeError(f"{text}: the group count must divide the output features, {outputs}")
        accumulation_dtype(text, lhs.dtype, conv.preferred_element_type)  # C27
        if lhs.shape[lhs_spec[0]] % batch_groups:  # C10
            raise ShapeError(f"{text}: batch_group_count={batch_groups} must divide the batch size")

    def numpy(self, lhs: Any, rhs: Any, p: Conv) -> Any:
        lhs_spec, rhs_spec, out_spec = p.dimension_numbers
        out_dtype = p.preferred_element_type
        wide = accumulator(out_dtype)
        if dtypes.bits(wide) < 8:  # einsum takes no int4; what is cut off does not come back
            wide = np.dtype(np.int8)
        x = lhs.transpose(lhs_spec).astype(wide)
        kernel = rhs.transpose(rhs_spec).astype(wide)
        groups, batch_groups = p.feature_group_count, p.batch_group_count
        n, c = x.shape[:2]
        o, i = kernel.shape[:2]
        count = max(groups, batch_groups)
        x = x.reshape(batch_groups, n // batch_groups, groups, c // groups, *x.shape[2:])
        kernel = kernel.reshape(count, o // count, i, *kernel.shape[2:])
        sizes = (1, 1, 1, 1, *kernel.shape[3:])
        lead = ((1,) * 4, ((0, 0),) * 4)
        strides, padding = lead[0] + p.window_strides, lead[1] + p.padding
        window = Window(sizes, strides, padding, lead[0] + p.lhs_dilation, lead[0] + p.rhs_dilation)
        spatial = window.shape(x)[4:]
        out = np.zeros((n // batch_groups, count, o // count, *spatial), wide)
        letters = "bncixyzuvw"[: 4 + len(spatial)]
        group = "b" if batch_groups > 1 else "c"
        formula = f"{letters},{group}oi->n{group}o{letters[4:]}"
        with np.errstate(all="ignore"):
            for place, part in zip(product(*map(range, sizes[4:])), window.parts(x, 0)):
                out += np.einsum(formula, part, kernel[(slice(None),) * 3 + place])
        out = out.reshape(n // batch_groups, o, *spatial)
        return out.transpose(np.argsort(out_spec)).astype(out_dtype, copy=False)

    def emit(self, block: Any, out: ShapedArray, lhs: Any, rhs: Any, p: Conv) -> Any:
        if not rhs.aval.size or not lhs.aval.size or not out.size:
            return block.constant(0, out)  # the interpreter aborts on an empty contraction
        wide = accumulator(out.dtype)
        lhs, rhs = block.convert(lhs, wide), block.convert(rhs, wide)
        write = _write if block.platform == "reference" else _writer(block, lhs, rhs, p)
        return block.convert(write(block, lhs, rhs, p, out.shape), out.dtype)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        (x, y), (dx, dy) = primals, tangents
        first = None if dx is None else self(dx, y, **params)
        second = None if dy is None else self(x, dy, **params)
        return self(x, y, **params), plus(first, second)

    def transpose(self, ct: Any, lhs: Any, rhs: Any, p: Conv) -> list[Any]:
        target, wide = (lhs if is_linear(lhs) else rhs), ct.aval.dtype
        if not ct.aval.size or not lhs.aval.size or not rhs.aval.size:
            found = zeros(target.aval)
        elif is_linear(lhs):
            found = _lhs_cotangent(ct, lhs.aval, convert_element_type(rhs, wide), p)
        else:
            found = _rhs_cotangent(ct, convert_element_type(lhs, wide), rhs.aval, p)
        found = convert_element_type(found, target.aval.dtype)
        return [found if x is target else None for x in (lhs, rhs)]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: Conv
    ) -> tuple[Any, int]:
        return _batch(size, *operands, *batch_axes, p)


def _write(block: Any, lhs: Any, rhs: Any, conv: Conv, shape: Axes, mirrored: bool = False) -> Any:
    """The StableHLO convolution; `mirrored` says that the kernel is the other way round."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    order = list(range(len(shape)))
    if out_spec[0] > out_spec[1]:
        # The interpreter aborts on a result with features before the batch.
        order[out_spec[0]], order[out_spec[1]] = out_spec[1], out_spec[0]
        out_spec = (out_spec[1], out_spec[0], *out_spec[2:])
    numbers = (
        f"[{_letters(lhs_spec, 'bf')}]x[{_letters(rhs_spec, 'oi')}]->[{_letters(out_spec, 'bf')}]"
    )
    pads = ", ".join(f"[{low}, {high}]" for low, high in conv.padding)
    window = (
        f"stride = {list(conv.window_strides)}, pad = [{pads}], "
        f"lhs_dilate = {list(conv.lhs_dilation)}, rhs_dilate = {list(conv.rhs_dilation)}"
    ) + ", reverse = [true]" * mirrored
    attributes = (
        f"batch_group_count = {conv.batch_group_count} : i64, "
        f"feature_group_count = {conv.feature_group_count} : i64"
    )
    if conv.precision:
        names = ", ".join(f"#stablehlo<precision {name}>" for name in conv.precision)
        attributes += f", precision_config = [{names}]"
    head = (
        f"stablehlo.convolution({lhs}, {rhs}) dim_numbers = {numbers}, "
        f"window = {{{window}}} {{{attributes}}}"
    )
    out = ShapedArray(tuple(shape[i] for i in order), lhs.aval.dtype)
    found = block.op(head, (lhs, rhs), out)
    return found if order == sorted(order) else block.transpose(found, order)


def _writer(block: Any, lhs: Any, rhs: Any, conv: Conv) -> Callable[..., Any]:
    """The decomposition that is fast on XLA, and that keeps a NaN in its own group."""
    one_feature = rhs.aval.shape[conv.dimension_numbers.rhs_spec[1]] == 1
    if conv.feature_group_count > 1 and one_feature:
        return _write_depthwise
    if conv.batch_group_count > 1 and (lhs.aval.dtype == np.float32 or not one_feature):
        return _write_batch_groups
    return _write_rows if _is_plain_row(block, lhs, rhs, conv) else _write


def _write_batch_groups(block: Any, lhs: Any, rhs: Any, conv: Conv, shape: Axes) -> Any:
    """Groups of features in place of those of the batch, which take XLA up to 100 times as long in
    f32, and there let a NaN in the kernel of one group into the others."""
    groups = conv.batch_group_count
    x = block.transpose(lhs, conv.dimension_numbers.lhs_spec)
    n, c, *spatial = x.aval.shape
    x = block.reshape(x, (groups, n // groups, c, *spatial))
    x = block.transpose(x, (1, 0, *range(2, x.aval.ndim)))
    x = block.reshape(x, (n // groups, groups * c, *spatial))
    numbers = conv.dimension_numbers._replace(lhs_spec=tuple(range(lhs.aval.ndim)))
    grouped = conv._replace(feature_group_count=groups, batch_group_count=1)
    grouped = grouped._replace(dimension_numbers=numbers)
    return _write(block, x, rhs, grouped, shape)


def _write_depthwise(block: Any, lhs: Any, rhs: Any, conv: Conv, shape: Axes) -> Any:
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    x, kernel = block.transpose(lhs, lhs_spec), block.transpose(rhs, rhs_spec)
    found = kernels.depthwise(block, x, kernel, conv.window(kernel.aval.shape[2:]))
    return block.transpose(found, np.argsort(out_spec).tolist())


def _is_plain_row(block: Any, lhs: Any, rhs: Any, conv: Conv) -> bool:
    """Whether this is a correlation of rows: one channel, one spatial axis, f32, no dilation."""
    steps = (conv.window_strides, conv.lhs_dilation, conv.rhs_dilation)
    kernel = spatial_sizes(rhs.aval, conv.dimension_numbers[1])
    one_channel = len(kernel) == 1 and rhs.aval.size == kernel[0]
    plain = one_channel and steps == ((1,),) * 3 and conv.batch_group_count == 1
    return plain and lhs.aval.dtype == np.float32 and not block.exact


def _write_rows(block: Any, lhs: Any, rhs: Any, conv: Conv, shape: Axes) -> Any:
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    n, k = spatial_sizes(lhs.aval, lhs_spec)[0], spatial_sizes(rhs.aval, rhs_spec)[0]
    if kernels.block_size(n, k):
        rows = block.reshape(block.transpose(lhs, lhs_spec), (lhs.aval.size // n, n))
        standard = conv._replace(dimension_numbers=ConvDimensionNumbers(*((0, 1, 2),) * 3))
        size = shape[out_spec[2]]

        def plain(b: Any, x: Any, kernel: Any) -> Any:
            x, kernel = b.reshape(x, (x.aval.shape[0], 1, n)), b.reshape(kernel, (1, 1, k))
            out = _write(b, x, kernel, standard, (x.aval.shape[0], 1, size))
            return b.reshape(out, (x.aval.shape[0], size))

        kernel = block.reshape(rhs, (k,))
        found = kernels.correlate(block, rows, kernel, conv.padding[0], plain)
        found = block.reshape(found, (found.aval.shape[0], 1, size))
        return block.transpose(found, np.argsort(out_spec).tolist())
    if k <= kernels.SHORT:
        axes = f"array<i64: {rhs_spec[2]}>"
        rhs = block.op(f'"stablehlo.reverse"({rhs}) <{{dimensions = {axes}}}>', (rhs,), rhs.aval)
        return _write(block, lhs, rhs, conv, shape, mirrored=True)
    return _write(block, lhs, rhs, conv, shape)


def _letters(spec: Axes, first: str) -> str:
    """Dimension numbers as StableHLO writes them: `b, 0, 1, f`."""
    names = [*first, *map(str, range(len(spec) - 2))]
    return ", ".join(names[spec.index(axis)] for axis in range(len(spec)))


conv_general_dilated_p = ConvGeneralDilated("conv_general_dilated")


# ---- transposes -----------------------------------------------------------------------------
def _lhs_cotangent(ct: Any, lhs: ShapedArray, rhs: Any, conv: Conv) -> Any:
    """Each result element gives back to the input elements it was made from: the kernel, turned
    round and with its features swapped, over the cotangents with holes where strides were."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    kernel = spatial_sizes(rhs.aval, rhs_spec)
    padding = []
    for n, m, k, stride, (low, _), base, inner in zip(
        spatial_sizes(lhs, lhs_spec), spatial_sizes(ct.aval, out_spec), *conv.window(kernel)
    ):
        reach = (k - 1) * inner
        before = reach - low
        padding.append((before, (n - 1) * base + reach + 1 - dilated(m, stride) - before))
    groups = max(conv.feature_group_count, conv.batch_group_count)
    flipped = rev(rhs, rhs_spec[2:])
    # Output features (g, o) and input features i become output (g, i) and input o.
    swapped = _insert(_extract(flipped, rhs_spec[0], groups), rhs_spec[1], 1)
    numbers = ConvDimensionNumbers(out_spec, (rhs_spec[1], rhs_spec[0], *rhs_spec[2:]), lhs_spec)
    back = conv._replace(
        window_strides=conv.lhs_dilation, padding=tuple(padding), lhs_dilation=conv.window_strides,
        dimension_numbers=numbers, feature_group_count=groups, batch_group_count=1,
        preferred_element_type=ct.aval.dtype,
    )  # fmt: skip
    out = conv_general_dilated_p(ct, swapped, **back.given())
    if conv.batch_group_count > 1:  # features (g, i) to batch (g, n)
        out = _insert(_extract(out, lhs_spec[1], groups), lhs_spec[0], 1)
    return out


def _rhs_cotangent(ct: Any, lhs: Any, rhs: ShapedArray, conv: Conv) -> Any:
    """The input, batch and features swapped, against the cotangents as kernel."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    kernel = spatial_sizes(rhs, rhs_spec)
    padding = []
    for n, m, k, stride, (low, _), base, inner in zip(
        spatial_sizes(lhs.aval, lhs_spec), spatial_sizes(ct.aval, out_spec), *conv.window(kernel)
    ):
        behind = (k - 1) * inner + (m - 1) * stride + 1 - dilated(n, base) - low
        padding.append((low, behind))
    numbers = ConvDimensionNumbers(
        (lhs_spec[1], lhs_spec[0], *lhs_spec[2:]),
        (out_spec[1], out_spec[0], *out_spec[2:]),
        (rhs_spec[1], rhs_spec[0], *rhs_spec[2:]),
    )
    back = conv._replace(
        window_strides=conv.rhs_dilation, padding=tuple(padding), rhs_dilation=conv.window_strides,
        dimension_numbers=numbers, feature_group_count=conv.batch_group_count,
        batch_group_count=conv.feature_group_count, preferred_element_type=ct.aval.dtype,
    )  # fmt: skip
    return conv_general_dilated_p(lhs, ct, **back.given())


# ---- batching -------------------------------------------------------------------------------
def _extract(x: Any, axis: int, size: int, groups: int = 1) -> Any:
    """The factor `size` of an axis of size groups * size * rest, as a new leading axis."""
    shape = x.aval.shape
    rest = shape[axis] // (size * groups)
    split = reshape(x, (*shape[:axis], groups, size, rest, *shape[axis + 1 :]))
    leading = move(split, axis + 1, 0)
    return reshape(leading, (size, *shape[:axis], groups * rest, *shape[axis + 1 :]))


def _insert(x: Any, axis: int, groups: int) -> Any:
    """The leading axis merged into an axis (counted without it), behind the first `groups`."""
    size, *shape = x.aval.shape
    rest = shape[axis] // groups
    split = reshape(x, (size, *shape[:axis], groups, rest, *shape[axis + 1 :]))
    moved = move(split, 0, axis + 1)
    return reshape(moved, (*shape[:axis], groups * size * rest, *shape[axis + 1 :]))


def _batch(
    size: int, lhs: Any, rhs: Any, lhs_axis: Any, rhs_axis: Any, conv: Conv
) -> tuple[Any, int]:
    """Examples become one more factor of the batch, of the output features, or more groups."""
    lhs_spec, rhs_spec, out_spec = conv.dimension_numbers
    groups, batch_groups = conv.feature_group_count, conv.batch_group_count
    lhs = lhs if lhs_axis is None else move(lhs, lhs_axis, 0)
    rhs = rhs if rhs_axis is None else move(rhs, rhs_axis, 0)
    if not size:
        one = [
            x.aval if axis is None else x.aval.update(shape=x.aval.shape[1:])
            for x, axis in ((lhs, lhs_axis), (rhs, rhs_axis))
        ]
        out = conv_general_dilated_p.infer(*one, **conv._asdict())
        return full((0, *out.shape), 0, out.dtype), 0
    if rhs_axis is None:
        lhs = _insert(lhs, lhs_spec[0], batch_groups)
        out = conv_general_dilated_p(lhs, rhs, **conv.given())
        return _extract(out, out_spec[0], size), 0
    if lhs_axis is None:
        many = max(groups, batch_groups)
        rhs = _insert(rhs, rhs_spec[0], many)
        out = conv_general_dilated_p(lhs, rhs, **conv.given())
        return _extract(out, out_spec[1], size, many), 0
    if batch_groups > 1:
        lhs = _insert(lhs, lhs_spec[0], 1)
        conv = conv._replace(batch_group_count=size * batch_groups)
    else:
        lhs = _insert(lhs, lhs_spec[1], 1)
        conv = conv._replace(feature_group_count=size * groups)
    out = conv_general_dilated_p(lhs, _insert(rhs, rhs_spec[0], 1), **conv.given())
    return _extract(out, out_spec[1], size), 0


# ---- public functions -----------------------------------------------------------------------
@strict
def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: None = None,
) -> Any:
    """The correlation of a batch of inputs with a kernel that slides over the spatial axes.

    `padding` is "SAME", "SAME_LOWER", "VALID" or a pair (low, high) for each spatial axis;
    `lhs_dilation` puts holes between the input's elements (a transposed convolution),
    `rhs_dilation` between the kernel's.  `dimension_numbers` are three strings, or None for
    ("NC..", "OI..", "NC..").  Groups of features, or of the batch, are convolved apart.  Raises
    TypeError or ValueError where sizes don't go together.  Differs from `numpy.convolve`: the
    kernel is not turned round.

    >>> x, kernel = jnp.arange(4.0).reshape(1, 1, 4), jnp.ones((1, 1, 2))
    >>> lax.conv_general_dilated(x, kernel, (1,), "VALID")
    Array([[[1., 3., 5.]]], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("conv_general_dilated", out_sharding)
    name = "conv_general_dilated"
    lhs, rhs = convert_operands(name, (lhs, rhs))
    numbers = conv_dimension_numbers(lhs.aval.shape, rhs.aval.shape, dimension_numbers)
    count = max(lhs.aval.ndim - 2, 0)
    strides, base, inner = (
        integers(name, what, (1,) * count if value is None else value)
        for what, value in (
            ("window_strides", window_strides),
            ("lhs_dilation", lhs_dilation),
            ("rhs_dilation", rhs_dilation),
        )
    )
    if isinstance(padding, str):
        padding = named_padding(lhs.aval, rhs.aval, numbers, strides, padding, base, inner)
    names = pair_precision(name, precision)
    conv = Conv(
        strides, pairs(name, padding), base, inner, numbers, index(feature_group_count),
        index(batch_group_count), accumulation_dtype(name, lhs.aval.dtype, preferred_element_type),
        names,
    )  # fmt: skip
    return conv_general_dilated_p(lhs, rhs, **conv.given())


def named_padding(
    lhs: ShapedArray, rhs: ShapedArray, numbers: ConvDimensionNumbers, strides: Axes, padding: str,
    base: Axes, inner: Axes,
) -> list[tuple[int, int]]:  # fmt: skip
    """The pairs that a padding's name means."""
    if any(d != 1 for d in base):
        raise ValueError(
            f"padding={padding!r} is not defined for an input with lhs_dilation {base}; give pairs "
            "(low, high), or use lax.conv_transpose"
        )
    kernel = [dilated(k, d) for k, d in zip(spatial_sizes(rhs, numbers.rhs_spec), inner)]
    return padtype_to_pads(spatial_sizes(lhs, numbers.lhs_spec), kernel, strides, padding)


@strict
def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv_general_dilated` without dilations and groups, for axes "NC..", "OI..".

    >>> lax.conv(jnp.ones((1, 1, 4)), jnp.ones((1, 1, 2)), (2,), "VALID")
    Array([[[2., 2.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


@strict
def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv_general_dilated` without groups, for axes "NC..", "OI..".

    >>> x, kernel = jnp.ones((1, 1, 4)), jnp.ones((1, 1, 2))
    >>> lax.conv_with_general_padding(x, kernel, (1,), [(0, 0)], (2,), None)
    Array([[[1., 1., 1., 1., 1., 1.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


TRANSPOSE_NUMBERS = {
    2: ("NC", "IO", "NC"), 3: ("NHC", "HIO", "NHC"), 4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}  # fmt: skip


def transposed_padding(size: int, stride: int, padding: str) -> tuple[int, int]:
    """Padding that gives n * stride elements ("SAME"), or n * stride + max(size - stride, 0)."""
    if padding == "SAME":
        total = size + stride - 2
        low = size - 1 if stride > size - 1 else -(-total // 2)
    elif padding == "VALID":
        total = size + stride - 2 + max(size - stride, 0)
        low = size - 1
    else:
        raise UnsupportedError(
            f'conv_transpose: padding is "SAME", "VALID" or pairs; got {padding!r}'
        )
    return low, total - low


@strict
def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Any,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """The transposed ("fractionally strided") convolution: the input gets holes, strides - 1 wide.

    Axes are "NHWC", "HWIO" unless told otherwise.  `padding` is "SAME", "VALID" or pairs, which
    with `use_consistent_padding` are those of the convolution that this one transposes.  With
    `transpose_kernel` the kernel is turned round and its features swapped: the gradient of a
    convolution.

    >>> lax.conv_transpose(jnp.ones((1, 2, 1)), jnp.ones((2, 1, 1)), (2,), "SAME").shape
    (1, 4, 1)
    """
    lhs, rhs = convert_operands("conv_transpose", (lhs, rhs))
    ndim = lhs.aval.ndim
    if dimension_numbers is None:
        if ndim not in TRANSPOSE_NUMBERS:
            raise ValueError(f"conv_transpose of {lhs.aval} needs dimension_numbers")
        dimension_numbers = TRANSPOSE_NUMBERS[ndim]
    numbers = conv_dimension_numbers(lhs.aval.shape, rhs.aval.shape, dimension_numbers)
    inner = (1,) * (ndim - 2) if rhs_dilation is None else tuple(rhs_dilation)
    kernel = [dilated(k, d) for k, d in zip(spatial_sizes(rhs.aval, numbers.rhs_spec), inner)]
    if isinstance(padding, str):
        pads = [transposed_padding(k, s, padding.upper()) for k, s in zip(kernel, strides)]
    elif use_consistent_padding:
        pads = [(k - 1 - low, k - 1 - high) for k, (low, high) in zip(kernel, padding)]
    else:
        pads = list(padding)
    if transpose_kernel:
        spec = numbers.rhs_spec
        rhs = rev(rhs, spec[2:])
        numbers = numbers._replace(rhs_spec=(spec[1], spec[0], *spec[2:]))
    return conv_general_dilated(
        lhs, rhs, (1,) * (ndim - 2), pads, strides, inner, numbers, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip
