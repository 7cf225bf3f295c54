"""Corners of types and arguments that programs met: what comes out, where it once did not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import jit, lax

ENGINES = ("xla", "numpy", "reference")


def same(got, expected):
    """Equal in value, shape and dtype, 64-bit ones halved."""
    expected = np.asarray(expected)
    assert got.dtype == hloom.dtypes.canonicalize(expected.dtype, False)
    np.testing.assert_array_equal(np.asarray(got), expected)
    assert got.shape == expected.shape


# ---- powers and nearness of integers -------------------------------------------------------------
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, "f4"])
def test_vander_does_not_wrap_where_numpy_does_not(dtype):
    x = np.array([100, 3, 0]).astype(dtype)
    for keywords in ({}, {"N": 4}, {"increasing": True}, {"N": 1}):
        expected = np.vander(x, **keywords)
        found = jnp.vander(x, **keywords)
        assert found.dtype == (np.float32 if dtype == "f4" else np.int32)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "arguments",
    [
        (0, 2**64, 1), (2**64, 0, 1), (2**64, 2**64), (2**64, 2**64 + 1), (2**64, 2**65),
        (0, 2**64), (0.0, 2**64, 1), (np.int8(1), 2**40), (np.arange(2), 2**64, 1),
        (np.arange(2), -(2**64), 1), (np.float32(2**64), 2**64), (300, np.int8(3)),
        (np.uint8(255), -1, 0, 256.0),
    ],
)  # fmt: skip
def test_isclose_of_python_integers_of_any_size(arguments):
    expected = np.isclose(*[float(x) if type(x) is int else x for x in arguments])
    assert np.array_equal(jnp.isclose(*arguments), expected)
    assert bool(jnp.allclose(*arguments)) == bool(np.all(expected))


# ---- what has no order, and what does not fit ----------------------------------------------------
@pytest.mark.parametrize(
    "count",
    [
        lambda z: jnp.histogram(z),
        lambda z: jnp.histogram(z.real, bins=z),
        lambda z: jnp.histogram_bin_edges(z),
        lambda z: jnp.histogram2d(z, z.real),
        lambda z: jnp.histogramdd([z.real, z]),
        lambda z: jit(lambda x: jnp.histogram(x, 3))(z),
    ],
)
def test_histograms_refuse_complex_numbers(count):
    with pytest.raises(TypeError, match=r"no order.*x\.real"):
        count(jnp.array([1 + 1j, 2]))


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
def test_evenly_spaced_integers_saturate_known_or_traced(name, dtype):
    """As every float that becomes an integer; NumPy's wrap."""
    f, expected = getattr(jnp, name), getattr(np, name)
    ends = {"linspace": (1, 3e9), "logspace": (0, 12), "geomspace": (1, 1e12)}[name]
    limits = np.iinfo(dtype)
    whole = np.clip(np.trunc(expected(*ends, 4)), float(limits.min), float(limits.max))
    known = f(*ends, 4, dtype=dtype)
    assert known.dtype == dtype
    np.testing.assert_array_equal(known, whole.astype(dtype))
    traced = jit(lambda a, b: f(a, b, 4, dtype=dtype))(*ends)
    np.testing.assert_allclose(np.float64(traced), whole, rtol=1e-6)


def test_linspace_of_integers_rounds_down_and_nan_is_zero():
    same(jnp.linspace(-1.5, 1.5, 4, dtype="int32"), np.array([-2, -1, 0, 1], np.int32))
    same(jnp.linspace(np.nan, 1, 3, dtype="int32"), np.array([0, 0, 1], np.int32))
    same(jnp.linspace(0, -5, 3, dtype="uint8"), np.array([0, 0, 0], np.uint8))
    same(jnp.geomspace(-1, -1000, 4, dtype="int32"), np.geomspace(-1, -1000, 4, dtype="int32"))


@pytest.mark.parametrize("num", [0, 1, 2])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("shape", [(), (2, 2)])
def test_the_step_of_too_few_numbers_is_one_nan(num, endpoint, shape):
    a, b = np.zeros(shape, np.float32), np.ones(shape, np.float32)
    expected = np.linspace(a, b, num, endpoint, retstep=True)
    for x, y in [(a, b), (jnp.asarray(a), jnp.asarray(b))]:
        for f in (jnp.linspace, jit(jnp.linspace, static_argnums=(2, 3, 4))):
            for got, want in zip(f(x, y, num, endpoint, True), expected):
                np.testing.assert_array_equal(got, want)
                assert got.shape == np.shape(want) and got.dtype == np.float32


# ---- traced arguments ----------------------------------------------------------------------------
@pytest.mark.parametrize("f", [jnp.nonzero, jnp.where, jnp.flatnonzero, jnp.argwhere])
@pytest.mark.parametrize("fill", [9, 0, -1])
def test_a_fill_value_may_be_traced(f, fill):
    x = jnp.array([0, 1, 2])
    eager = f(x, size=5, fill_value=fill)
    traced = jit(lambda x, fill: f(x, size=5, fill_value=fill))(x, fill)
    for got in (eager, traced):
        assert np.ravel(np.asarray(hloom.tree.leaves(got)[0])).tolist() == [1, 2, *[fill] * 3]


@pytest.mark.parametrize("k", [-5, -1, 0, 1, 2, 7])
def test_a_diagonal_may_be_traced(k):
    x = np.arange(1, 13.0, dtype=np.float32).reshape(3, 4)
    for dtype in ("int8", "int32", "uint8") if k >= 0 else ("int8", "int32"):
        place = jnp.asarray(np.array(k, dtype))
        same(jit(lambda k: jnp.eye(3, 4, k=k))(place), np.eye(3, 4, k=k, dtype=np.float32))
        same(jit(lambda k: jnp.tri(3, 4, k=k))(place), np.tri(3, 4, k=k, dtype=np.float32))
        same(jit(lambda k: jnp.tril(x, k))(place), np.tril(x, k))
        same(jit(lambda k: jnp.triu(x, k))(place), np.triu(x, k))
    many = hloom.vmap(lambda k: jnp.eye(3, k=k, dtype=int))(jnp.arange(-1, 2))
    same(many, np.stack([np.eye(3, k=k, dtype=int) for k in (-1, 0, 1)]))
    with pytest.raises(TypeError):
        jit(lambda k: jnp.eye(3, k=k))(1.5)


def test_a_traced_index_into_an_axis_of_size_0_is_out_of_bounds():
    for f in (lambda i: jnp.ones((2, 0))[0, i], lambda i: jnp.ones((0, 2))[i]):
        for run in (f, jit(f), lambda i, f=f: hloom.vmap(f)(jnp.stack([i, i]))):
            with pytest.raises(IndexError, match="out of bounds for axis [01] with size 0"):
                run(jnp.array(1))
    assert jit(lambda i: jnp.ones((0, 2))[i, jnp.zeros(0, int)])(1).shape == (0,)


def test_length_decides_alone_in_bincount():
    x = np.array([0, 1, 2, 2])
    same(jnp.bincount(x, minlength=20, length=8), np.bincount(x, minlength=8))
    same(jit(lambda x: jnp.bincount(x, minlength=20, length=2))(x), np.array([1, 1]))
    same(jnp.bincount(np.array([-3, 1, 2]), length=3), np.array([1, 1, 1]))


# ---- dtypes of results ---------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd", "mean"])
def test_a_complex_dtype_is_given_where_it_is_asked_for(name):
    for x in (np.float32([1, 2, 4]), np.complex64([1j, 2])):
        expected = getattr(np, name)(x, dtype="complex64")
        got = getattr(jnp, name)(x, dtype="complex64")
        assert got.dtype == expected.dtype == np.complex64
        np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_unwrap_has_one_dtype_for_axes_of_all_sizes(size):
    x = np.zeros((3, size), np.int32)
    assert jnp.unwrap(x, axis=1).dtype == np.float32
    assert jnp.unwrap(x, axis=1, period=4).dtype == np.int32
    assert jnp.unwrap(x, axis=1, period=4.0).dtype == np.float32
    assert jnp.unwrap(x.astype(np.float16), axis=1).dtype == np.float16


def test_spacing_is_positive_in_float16_alone_as_in_numpy():
    x = np.array([-5, 5, 0, 1e-7, -1e-7, np.inf, -np.inf, np.nan, -65504, 65504, -1, 1, -2, -6e-8])
    for dtype in (np.float16, np.float32):
        with np.errstate(all="ignore"):
            expected = np.spacing(x.astype(dtype))
        for engine in ENGINES:
            with hloom.engine(engine):
                np.testing.assert_array_equal(jnp.spacing(x.astype(dtype)), expected)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
def test_unravel_index_keeps_a_signed_dtype_that_holds_the_positions(dtype):
    places = np.array([3, 1], dtype)
    for got, want in zip(jnp.unravel_index(places, (2, 2)), np.unravel_index(places, (2, 2))):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)
    wide = jnp.unravel_index(np.int8([3, 1]), (2, 200))
    assert wide[1].dtype == np.int32 and wide[1].tolist() == [3, 1]


def test_result_type_of_none_is_the_default_float():
    assert jnp.result_type(None) == jnp.result_type(None, "int8") == np.float32
    with hloom.enable_x64():
        assert jnp.result_type(None, "float16") == np.result_type(None, "float16") == np.float64


# ---- grids ---------------------------------------------------------------------------------------
def test_grids_of_nothing():
    for key in ((), slice(None)):
        same(jnp.mgrid[key], np.mgrid[key])
    assert jnp.ogrid[()] == np.ogrid[()] == ()
    same(jnp.ogrid[:], np.ogrid[:])
    with pytest.raises(ValueError, match="needs a stop"):
        jnp.mgrid[2:]


@pytest.mark.filterwarnings("ignore:.*matrix")
@pytest.mark.parametrize("directive", ["r", "c"])
@pytest.mark.parametrize("parts", [([1, 2],), ([1, 2], 3), ([[1, 2]], [[3, 4]])])
def test_rows_and_columns(directive, parts):
    for ours, numpys in ((jnp.r_, np.r_), (jnp.c_, np.c_)):
        try:
            expected = numpys[(directive, *parts)]
        except ValueError:
            continue  # NumPy's own c_ takes no mixture
        same(ours[(directive, *parts)], np.asarray(expected))


# ---- choices -------------------------------------------------------------------------------------
def test_piecewise_takes_a_bool_for_each_function():
    x = np.arange(3.0, dtype=np.float32)
    assert jnp.piecewise(x, [False, True, False], [1, 10, 100]).tolist() == [10, 10, 10]
    assert jnp.piecewise(x, [False, False], [1, 10, 100]).tolist() == [100, 100, 100]
    # where NumPy has an answer it stays: one condition, element by element
    for condition in ([True, False, True], [[True, False, True]]):
        same(jnp.piecewise(x, condition, [1, 10]), np.piecewise(x, condition, [1, 10]))
    with pytest.raises(ValueError, match="functions are expected"):
        jnp.piecewise(x, [True, False], [1, 2, 3, 4])


def test_negative_positions_are_out_of_bounds_where_they_are_not_wrapped():
    x = jnp.arange(5.0)
    for index in (-1, jnp.array(-1)):
        assert float(x.at[index].get(wrap_negative_indices=False)) == 0
        assert np.isnan(x.at[index].get(wrap_negative_indices=False, mode="fill"))
        kept = x.at[index].set(9.0, wrap_negative_indices=False)
        assert kept.tolist() == x.tolist()
    two = jnp.array([-1, 2])
    assert x.at[two].get(wrap_negative_indices=False).tolist() == [0, 2]
    assert x.at[two].set(9.0, wrap_negative_indices=False).tolist() == [0, 1, 9, 3, 4]
    with pytest.raises(IndexError):
        x.at[7].get(wrap_negative_indices=False)


def test_clip_counts_from_the_end_first_in_take_along_axis():
    x, places = jnp.array([10, 20, 30]), jnp.array([-1, 5, -9])
    for f in (jnp.take_along_axis, jit(jnp.take_along_axis, static_argnums=(2, 3))):
        assert f(x, places, 0, "clip").tolist() == [30, 30, 10]
    assert jnp.take(x, places, mode="clip").tolist() == [10, 30, 10]


class Scale(NamedTuple):
    """A tuple that is asked for its own operators, and answers with its name."""

    factor: int

    def answer(self, other):
        return "Scale"

    __rmul__ = __radd__ = __rsub__ = __rtruediv__ = __rmatmul__ = __rpow__ = __rmod__ = answer
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = answer  # type: ignore[assignment]


@pytest.mark.parametrize("symbol", "* + - / @ ** % < <= > >= == !=".split())
def test_a_named_tuple_with_operators_is_asked(symbol):
    for x in (jnp.ones(2), jnp.float32(2)):
        assert eval(f"x {symbol} y", {"x": x, "y": Scale(2)}) == "Scale"
    with pytest.raises(TypeError):
        eval(f"x {symbol} y", {"x": jnp.ones(2), "y": (1, 2)})


# ---- bits ----------------------------------------------------------------------------------------
def test_python_integers_of_any_size_convert_to_floats():
    for dtype in ("float16", "float32", "bfloat16", "complex64"):
        got = lax.convert_element_type(2**100, dtype)
        assert got.dtype.name == dtype
        assert complex(got) == (np.inf if dtype == "float16" else 2**100)
    with pytest.raises(OverflowError):
        lax.convert_element_type(2**32, "int32")  # never silently another integer


@pytest.mark.parametrize("narrow", ["int4", "uint4", "int2", "uint2"])
@pytest.mark.parametrize("wide", ["int8", "uint16", "float32", "float16", "float8_e5m2", "uint2"])
def test_bits_of_integers_below_a_byte(narrow, wide):
    """Split and joined, the least significant part first, on the engines that have them."""
    bits, values = hloom.dtypes.bits(narrow), np.arange(32, dtype=np.uint8).reshape(2, 16)
    x = (values % 2**bits).view(hloom.dtypes.as_dtype(narrow))
    found = []
    for engine in ("xla", "numpy"):
        with hloom.engine(engine):
            joined = jnp.asarray(x).view(wide)
            assert joined.shape == (2, 16 * bits // hloom.dtypes.bits(wide))
            assert np.asarray(joined.view(narrow)).tobytes() == x.tobytes()
            found.append(np.asarray(joined).tobytes())
    assert found[0] == found[1]
    assert lax.bitcast_convert_type(np.float32(1), narrow).shape == (32 // bits,)


def test_views_of_bools():
    for shape in [(3, 4), (2, 0), (8,)]:
        x = np.arange(np.prod(shape)).reshape(shape) % 3 == 0
        for dtype in ("int8", "uint16", "int32", "float32"):
            expected = x.view(dtype)
            got = jnp.asarray(x).view(dtype)
            assert got.shape == expected.shape
            assert np.asarray(got).tobytes() == expected.tobytes()
    assert jnp.zeros((3, 0), int).view(bool).shape == (3, 0)
    with pytest.raises(TypeError, match="neither 0 nor 1"):
        jnp.ones(2).view(bool)
