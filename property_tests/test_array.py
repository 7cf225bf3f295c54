"""Arrays against NumPy: made of lists, of ranges, converted, copied, taken apart."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hloom
import hloom.numpy as jnp
from hloom import dtypes, jit

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
NAMES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "uint8",
    "uint16",
    "uint32",
    "float16",
    "float32",
    "complex64",
]
OURS = [*NAMES, "bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"]


def elements(name):
    """Values of a dtype, the odd ones too."""
    match np.dtype(name).kind:
        case "f":
            return st.floats(width=8 * np.dtype(name).itemsize)
        case "c":
            return st.complex_numbers(width=64, allow_nan=False, allow_infinity=False)
        case _:
            return None


@st.composite
def ndarrays(draw, names=NAMES, shapes=SHAPES):
    name = draw(st.sampled_from(names))
    return draw(hnp.arrays(name, draw(shapes), elements=elements(name)))


@given(ndarrays())
def test_an_array_is_the_ndarray_it_was_made_of(value):
    x = jnp.asarray(value)
    assert (x.shape, x.dtype) == (value.shape, value.dtype)
    assert np.asarray(x).tobytes() == value.tobytes()  # NaN's bits, signs of zeros
    for made in [jnp.array(x), pickle.loads(pickle.dumps(x)), copy.deepcopy(x)]:
        assert made.aval is x.aval and np.asarray(made).tobytes() == value.tobytes()
    if value.ndim:
        turned = value[::-1].T
        assert np.asarray(jnp.asarray(turned)).tobytes() == turned.tobytes()


@given(ndarrays())
def test_lists_give_back_what_they_were_made_of(value):
    x = jnp.asarray(value)
    again = jnp.array(x.tolist(), dtype=x.dtype)
    if value.size:
        assert again.aval is x.aval
        np.testing.assert_array_equal(again, value)
    if value.ndim:
        parts = list(x)
        assert len(parts) == len(value)
        for part, want in zip(parts, value):
            assert part.aval == x.aval.update(shape=value.shape[1:])
            np.testing.assert_array_equal(part, want)
        if parts:
            assert jnp.array(parts).aval is x.aval
            np.testing.assert_array_equal(jnp.array(parts), value)
            np.testing.assert_array_equal(jit(lambda x: jnp.array(list(x)))(x), value)


NUMBERS = st.one_of(
    st.booleans(),
    st.integers(-(2**31), 2**31 - 1),
    st.floats(width=32),
    st.complex_numbers(width=64, allow_nan=False),
)


@given(st.recursive(NUMBERS, lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=8))
def test_nested_lists_are_read_as_numpy_reads_them(value):
    try:
        want = np.array(value)
    except ValueError:
        want = None
    if want is None or want.dtype == object:
        with np.testing.assert_raises((ValueError, OverflowError)):
            jnp.array(value)
        return
    got = jnp.array(value)
    assert (got.shape, got.dtype) == (want.shape, dtypes.canonicalize(want.dtype, False))
    np.testing.assert_array_equal(got, want.astype(got.dtype))


@given(st.data(), st.sampled_from(OURS), st.sampled_from(OURS))
def test_astype_on_the_device_is_the_conversion_on_the_host(data, source, target):
    """The device's convert, the host's and the primitive's NumPy rule are the same function."""
    value = data.draw(hnp.arrays("float32", (5,), elements=st.floats(-300, 300, width=32)))
    x = jnp.asarray(value).astype(source)
    assume(not (source == "complex64" and target not in ("complex64", "bool")))
    on_device = np.asarray(x.astype(target))
    on_host = np.asarray(jnp.asarray(np.asarray(x), dtype=target))
    assert on_device.dtype == jnp.dtype(target)
    np.testing.assert_array_equal(on_device.astype(np.complex64), on_host.astype(np.complex64))


WHOLE = st.integers(-30, 30)
REAL = st.one_of(WHOLE, st.floats(-30, 30, width=16))


@given(REAL, REAL, REAL)
def test_arange_is_numpys(start, stop, step):
    assume(step and abs((stop - start) / step) < 300)
    want = np.arange(start, stop, step)
    for got in [jnp.arange(start, stop, step), jit(lambda: jnp.arange(start, stop, step))()]:
        assert got.dtype == dtypes.canonicalize(want.dtype, False)
        np.testing.assert_array_equal(got, want.astype(got.dtype))


ENDS = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)


@given(ENDS, ENDS, st.integers(0, 60), st.booleans())
def test_linspace_is_numpys_and_holds_its_ends(start, stop, num, endpoint):
    want = np.linspace(start, stop, num, endpoint).astype(np.float32)
    np.testing.assert_array_equal(jnp.linspace(start, stop, num, endpoint), want)
    # Arrays are worked with in single precision: a few roundings of the larger end, and steps
    # below 1e-38 are zero.
    got = np.asarray(jnp.linspace(jnp.float32(start), jnp.float32(stop), num, endpoint))
    atol = 4e-7 * max(abs(start), abs(stop)) + 1e-36
    np.testing.assert_allclose(got, want, atol=atol, rtol=0)
    if num:
        assert got[0] == np.float32(start)
        assert not endpoint or num == 1 or got[-1] == np.float32(stop)


@given(ndarrays(shapes=hnp.array_shapes(min_dims=2, max_dims=3, max_side=4)), st.integers(-5, 5))
def test_triangles_and_diagonals_are_numpys(value, k):
    x = jnp.asarray(value)
    np.testing.assert_array_equal(jnp.tril(x, k), np.tril(value, k))
    np.testing.assert_array_equal(jnp.triu(x, k), np.triu(value, k))
    np.testing.assert_array_equal(jnp.diag(x.reshape(-1), k), np.diag(value.reshape(-1), k))
    if value.ndim == 2:
        np.testing.assert_array_equal(jnp.diag(x, k), np.diag(value, k))


@given(ndarrays(NAMES[1:]), st.sampled_from(NAMES[1:]))
def test_views_are_numpys(value, target):
    try:
        want = value.view(target)
    except (ValueError, TypeError):
        with np.testing.assert_raises((ValueError, TypeError)):
            jnp.asarray(value).view(target)
        return
    if "complex64" in (target, value.dtype.name) and {target, value.dtype.name} - {
        "complex64",
        "float32",
    }:
        return  # refused: complex numbers have parts, not bits
    got = jnp.asarray(value).view(target)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(got, want)


@given(
    st.lists(hnp.array_shapes(max_dims=1, max_side=4), min_size=1, max_size=3),
    st.sampled_from(["xy", "ij"]),
)
def test_meshgrid_is_numpys(shapes, indexing):
    vectors = [np.arange(s[0]) * 2 for s in shapes]
    for a, b in zip(
        jnp.meshgrid(*vectors, indexing=indexing), np.meshgrid(*vectors, indexing=indexing)
    ):
        assert a.shape == b.shape
        np.testing.assert_array_equal(a, b)


@given(ndarrays(["float32", "int32", "bool"], hnp.array_shapes(min_dims=0, max_dims=2, min_side=0)))
def test_texts_are_numpys(value):
    x = jnp.asarray(value)
    assert str(x) == str(value)
    if value.size:
        assert repr(x).startswith(
            "Array(" + np.array2string(value, prefix="Array(", separator=", ", suffix=",")
        )
    assert repr(x).endswith(f"dtype={value.dtype})")


@given(ndarrays(["float32", "int32"]), st.sampled_from([1, 2.5, True, np.float32(3), np.int8(4)]))
def test_ndarrays_numbers_and_arrays_mix_in_any_order(value, other):
    x = jnp.asarray(value)
    with np.errstate(all="ignore"):
        want = (value + other) - (other - value)
    for got in [(x + other) - (other - x), (value + jnp.asarray(other)) - (other - x)]:
        assert isinstance(got, hloom.Array)
        np.testing.assert_allclose(got, want.astype(got.dtype), rtol=1e-5, atol=1e-5)
