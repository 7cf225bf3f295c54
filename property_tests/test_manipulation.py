"""Every function that only moves elements, against NumPy: any dtype, shape and axes, bit for bit.

Elements are arbitrary bits, so that a NaN's payload or a zero's sign that got lost would show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hloom
import hloom.numpy as jnp
from hloom import dtypes

DTYPES = [
    "bool", "int8", "int32", "int64", "uint8", "uint16", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "float8_e4m3fn",
]  # fmt: skip
Draw = Callable[..., Any]
Call = Callable[[Any, Any], Any]


@st.composite
def arrays(draw: Draw, shape: Any = None, dtype: np.dtype | None = None) -> np.ndarray:
    """An array of random bits."""
    if shape is None:
        shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    if dtype is None:
        dtype = dtypes.as_dtype(draw(st.sampled_from(DTYPES)))
    size = int(np.prod(shape))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    if dtypes.kind(dtype) == "bool":
        return rng.integers(0, 2, size).astype(bool).reshape(shape)
    return np.frombuffer(rng.bytes(size * dtype.itemsize), dtype).reshape(shape)


def axis_of(draw: Draw, ndim: int) -> int:
    return draw(st.integers(-ndim, ndim - 1))


def some_axes(draw: Draw, ndim: int, count: int | None = None) -> tuple[int, ...]:
    """Different axes, some of them counted from the end."""
    least, most = (0, ndim) if count is None else (count, count)
    axes = draw(st.lists(st.integers(0, ndim - 1), min_size=least, max_size=most, unique=True))
    return tuple(a - ndim if draw(st.booleans()) else a for a in axes)


# ---- one line for each function: what is drawn, and the call ------------------------------------
def reshape(draw: Draw, x: np.ndarray) -> Call:
    sizes, left = [], x.size
    while left > 1:
        n = draw(st.sampled_from([d for d in range(1, left + 1) if left % d == 0]))
        sizes.append(n)
        left //= n if n > 1 else 1
        if len(sizes) > 4:
            sizes.append(left)
            left = 1
    sizes = [0, *sizes] if not x.size else sizes
    order = draw(st.sampled_from("CFA"))
    if sizes and x.size and draw(st.booleans()):
        sizes[draw(st.integers(0, len(sizes) - 1))] = -1
    return lambda xp, x: xp.reshape(x, tuple(sizes), order=order)


def transpose(draw: Draw, x: np.ndarray) -> Call:
    axes = draw(st.none() | st.permutations(range(x.ndim)))
    return lambda xp, x: xp.transpose(x, axes)


def moveaxis(draw: Draw, x: np.ndarray) -> Call:
    source = some_axes(draw, x.ndim)
    destination = some_axes(draw, x.ndim, len(source))
    return lambda xp, x: xp.moveaxis(x, source, destination)


def swapaxes(draw: Draw, x: np.ndarray) -> Call:
    i, j = axis_of(draw, x.ndim), axis_of(draw, x.ndim)
    return lambda xp, x: xp.swapaxes(x, i, j)


def rollaxis(draw: Draw, x: np.ndarray) -> Call:
    axis, start = axis_of(draw, x.ndim), draw(st.integers(-x.ndim, x.ndim))
    return lambda xp, x: xp.rollaxis(x, axis, start)


def expand_dims(draw: Draw, x: np.ndarray) -> Call:
    count = draw(st.integers(1, 2))
    axes = some_axes(draw, x.ndim + count, count)
    return lambda xp, x: xp.expand_dims(x, axes)


def squeeze(draw: Draw, x: np.ndarray) -> Call:
    ones = [i for i, n in enumerate(x.shape) if n == 1]
    axis = draw(st.none() | st.just(tuple(ones)))
    return lambda xp, x: xp.squeeze(x, axis)


def broadcast_to(draw: Draw, x: np.ndarray) -> Call:
    more = draw(st.lists(st.integers(0, 3), max_size=2))
    shape = (*more, *[draw(st.integers(0, 3)) if n == 1 else n for n in x.shape])
    return lambda xp, x: xp.broadcast_to(x, shape)


def flip(draw: Draw, x: np.ndarray) -> Call:
    axis = draw(st.none() | st.just(some_axes(draw, x.ndim) if x.ndim else ()))
    return lambda xp, x: xp.flip(x, axis)


def rot90(draw: Draw, x: np.ndarray) -> Call:
    axes, k = some_axes(draw, x.ndim, 2), draw(st.integers(-5, 5))
    return lambda xp, x: xp.rot90(x, k, axes)


def roll(draw: Draw, x: np.ndarray) -> Call:
    axes = draw(st.none() | st.just(some_axes(draw, x.ndim) if x.ndim else None))
    many = draw(st.booleans()) and axes is not None
    shift = [draw(st.integers(-9, 9)) for _ in axes] if many else draw(st.integers(-9, 9))
    return lambda xp, x: xp.roll(x, shift, axes)


def resize(draw: Draw, x: np.ndarray) -> Call:
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=7))
    return lambda xp, x: xp.resize(x, shape)


def tile(draw: Draw, x: np.ndarray) -> Call:
    reps = draw(st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=4))
    return lambda xp, x: xp.tile(x, reps)


def repeat(draw: Draw, x: np.ndarray) -> Call:
    axis = axis_of(draw, x.ndim) if x.ndim and draw(st.booleans()) else None
    size = x.size if axis is None else x.shape[axis]
    counts = draw(st.integers(0, 3) | st.lists(st.integers(0, 3), min_size=size, max_size=size))
    if counts == []:
        counts = np.zeros(0, int)
    return lambda xp, x: xp.repeat(x, counts, axis)


def joined(name: str) -> Callable[[Draw, np.ndarray], Call]:
    def drawn(draw: Draw, x: np.ndarray) -> Call:
        count = draw(st.integers(1, 3))
        along = name in ("stack", "concatenate")
        args = (axis_of(draw, x.ndim + (name == "stack")),) if along else ()
        return lambda xp, x: getattr(xp, name)([x] * count, *args)

    return drawn


def append(draw: Draw, x: np.ndarray) -> Call:
    axis = axis_of(draw, x.ndim) if x.ndim and draw(st.booleans()) else None
    return lambda xp, x: xp.append(x, x[:1] if axis == 0 else x, axis)


def block(draw: Draw, x: np.ndarray) -> Call:
    rows, columns = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    return lambda xp, x: xp.block([[x] * columns] * rows)


def array_split(draw: Draw, x: np.ndarray) -> Call:
    axis = axis_of(draw, x.ndim)
    how = draw(st.integers(1, 5) | st.lists(st.integers(-6, 6), max_size=3))
    return lambda xp, x: xp.array_split(x, how, axis)


def unstack(draw: Draw, x: np.ndarray) -> Call:
    axis = axis_of(draw, x.ndim)
    return lambda xp, x: xp.unstack(x, axis=axis)


def places(draw: Draw, size: int) -> Any:
    one = st.integers(-size, size - 1)
    start, stop, step = (draw(st.none() | st.integers(-6, 6)) for _ in range(3))
    masks = st.lists(st.booleans(), min_size=size, max_size=size).map(np.array)
    return draw(one | st.lists(one, max_size=3) | st.just(slice(start, stop, step or None)) | masks)


def delete(draw: Draw, x: np.ndarray) -> Call:
    axis = axis_of(draw, x.ndim) if draw(st.booleans()) else None
    where = places(draw, x.size if axis is None else x.shape[axis])
    return lambda xp, x: xp.delete(x, where, axis)


def insert(draw: Draw, x: np.ndarray) -> Call:
    axis = axis_of(draw, x.ndim) if draw(st.booleans()) else None
    where = places(draw, x.size if axis is None else x.shape[axis])
    value = draw(arrays((), x.dtype))
    return lambda xp, x: xp.insert(x, where, xp.asarray(value), axis)


def pad(draw: Draw, x: np.ndarray) -> Call:
    modes = ["constant", "edge", "reflect", "symmetric", "wrap"]
    mode = draw(st.sampled_from(modes if x.size else modes[:1]))
    pair = st.tuples(st.integers(0, 9), st.integers(0, 9))
    widths = [draw(pair) for _ in x.shape] or 0
    return lambda xp, x: xp.pad(x, widths, mode)


def diagonal(draw: Draw, x: np.ndarray) -> Call:
    (i, j), k = some_axes(draw, x.ndim, 2), draw(st.integers(-5, 5))
    return lambda xp, x: xp.diagonal(x, k, i, j)


def plain(name: str) -> Callable[[Draw, np.ndarray], Call]:
    return lambda draw, x: lambda xp, x: getattr(xp, name)(x)


# Function: the fewest axes it takes, and how it is called.
MOVES: dict[str, tuple[int, Callable[[Draw, np.ndarray], Call]]] = {
    "append": (0, append),
    "array_split": (1, array_split),
    "atleast_1d": (0, plain("atleast_1d")),
    "atleast_2d": (0, plain("atleast_2d")),
    "atleast_3d": (0, plain("atleast_3d")),
    "block": (0, block),
    "broadcast_to": (0, broadcast_to),
    "column_stack": (0, joined("column_stack")),
    "concatenate": (1, joined("concatenate")),
    "delete": (1, delete),
    "diagonal": (2, diagonal),
    "dstack": (0, joined("dstack")),
    "expand_dims": (0, expand_dims),
    "flip": (0, flip),
    "fliplr": (2, plain("fliplr")),
    "flipud": (1, plain("flipud")),
    "hstack": (0, joined("hstack")),
    "insert": (1, insert),
    "matrix_transpose": (2, plain("matrix_transpose")),
    "moveaxis": (1, moveaxis),
    "pad": (0, pad),
    "ravel": (0, plain("ravel")),
    "repeat": (0, repeat),
    "reshape": (0, reshape),
    "resize": (0, resize),
    "roll": (0, roll),
    "rollaxis": (1, rollaxis),
    "rot90": (2, rot90),
    "squeeze": (0, squeeze),
    "stack": (0, joined("stack")),
    "swapaxes": (1, swapaxes),
    "tile": (0, tile),
    "transpose": (0, transpose),
    "unstack": (1, unstack),
    "vstack": (0, joined("vstack")),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
@given(data=st.data())
def test_moves_bits_as_numpy_does(name, data):
    ndim, drawn = MOVES[name]
    sides = 1 if name in ("insert", "delete") else 0
    shape = data.draw(hnp.array_shapes(min_dims=ndim, max_dims=3, min_side=sides, max_side=4))
    x = data.draw(arrays(shape))
    call = drawn(data.draw, x)
    expected = call(np, x)
    with hloom.enable_x64():
        made = call(jnp, jnp.asarray(x))
    if not isinstance(expected, (list, tuple)):
        expected, made = [expected], [made]
    assert len(made) == len(expected)
    for a, b in zip(expected, made):
        assert b.shape == a.shape and b.dtype == a.dtype
        if a.dtype.itemsize < 4 and dtypes.kind(a.dtype) == "float":
            # XLA moves some narrow floats by way of f32, where every NaN becomes the same one.
            assert np.array_equal(np.isnan(b), np.isnan(a))
            a, b = (np.where(np.isnan(x), np.zeros_like(x), x) for x in (a, b))
        assert b.tobytes() == np.ascontiguousarray(a).tobytes()


@given(data=st.data())
def test_axes_out_of_range_are_refused(data):
    ndim = data.draw(st.integers(0, 3))
    axis = data.draw(st.integers(ndim, ndim + 3) | st.integers(-ndim - 4, -ndim - 1))
    x = jnp.zeros((1,) * ndim)
    calls = [
        lambda: jnp.flip(x, axis),
        lambda: jnp.squeeze(x, axis),
        lambda: jnp.concatenate([x, x], axis) if ndim else jnp.flip(x, axis),
        lambda: jnp.moveaxis(x, axis, 0),
        lambda: jnp.swapaxes(x, 0, axis),
        lambda: jnp.roll(x, 1, axis),
        lambda: jnp.unstack(x, axis=axis) if ndim else jnp.flip(x, axis),
        lambda: jnp.repeat(x, 2, axis),
    ]
    for call in calls:
        with pytest.raises(np.exceptions.AxisError):
            call()


@given(data=st.data())
def test_packed_bits_come_out_as_they_went_in(data):
    shapes = hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=20)
    bits = data.draw(hnp.arrays(bool, shapes))
    axis, order = axis_of(data.draw, bits.ndim), data.draw(st.sampled_from(["big", "little"]))
    packed = jnp.packbits(jnp.asarray(bits), axis, order)
    assert packed.tolist() == np.packbits(bits, axis, order).tolist()
    out = jnp.unpackbits(packed, axis, count=bits.shape[axis], bitorder=order)
    assert np.array_equal(out, bits)


@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=4, max_side=5),
    order=st.sampled_from("CF"),
    data=st.data(),
)
def test_unravel_and_ravel_are_inverse(shape, order, data):
    size = int(np.prod(shape))
    flat = data.draw(hnp.arrays(np.int32, 3, elements=st.integers(0, size - 1)))
    found = jnp.unravel_index(flat, shape, order)
    assert [x.tolist() for x in found] == [x.tolist() for x in np.unravel_index(flat, shape, order)]
    assert jnp.ravel_multi_index(found, shape, order=order).tolist() == flat.tolist()


@given(data=st.data())
def test_statistics_that_pad_as_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=5))
    whole = st.integers(-9, 9)
    dtype = data.draw(st.sampled_from(["int32", "float32", "float64"]))
    x = data.draw(hnp.arrays(dtype, shape, elements=whole))
    mode = data.draw(st.sampled_from(["maximum", "minimum", "mean", "median", "linear_ramp"]))
    widths = [data.draw(st.tuples(st.integers(0, 4), st.integers(0, 4))) for _ in shape]
    options: dict[str, Any] = {}
    if mode == "linear_ramp":
        options["end_values"] = data.draw(whole | st.tuples(whole, whole))
    elif data.draw(st.booleans()):
        options["stat_length"] = data.draw(st.integers(1, 6))
    expected = np.pad(x, widths, mode, **options)
    made = np.asarray(jnp.pad(x, widths, mode, **options))
    assert made.shape == expected.shape
    if x.dtype.kind == "i":
        assert np.abs(made - expected).max(initial=0) <= (mode == "mean")  # halves by f32 or f64
    np.testing.assert_allclose(made, expected, rtol=1e-6, atol=1e-6)
