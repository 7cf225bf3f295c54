"""Reductions and running totals mean what they mean in NumPy; dtypes, corners, derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from tests.numpy import oracle
from tests.numpy.oracle import each

N = "xp.where(A > 4, xp.nan, A)"
FOLDS = [
    "sum", "prod", "max", "min", "any", "all", "count_nonzero", "ptp", "nansum", "nanprod",
    "nanmax",
    "nanmin",
]  # fmt: skip
PLACES = ["argmax", "argmin", "nanargmax", "nanargmin"]
SCANS = ["cumsum", "cumprod", "nancumsum", "nancumprod"]
ONE = ["", ", 0", ", axis=-1"]

PROGRAMS = [
    *each("xp.{}(A{})", FOLDS, [*ONE, ", axis=(0, 1)", ", keepdims=True"]),
    *each("xp.{}(A, axis=(1,), keepdims=True)", FOLDS),
    *each(f"xp.{{}}({N}, axis=0)", FOLDS + PLACES[:2] + SCANS),
    *each("xp.{}(A{})", PLACES, [*ONE, ", axis=1, keepdims=True", ", keepdims=True"]),
    *each("xp.{}(A{})", SCANS, ONE),
    *each("xp.{}(xp.zeros((0, 3)){})", FOLDS + PLACES, ["", ", 0", ", 1"]),
    *each("xp.{}(xp.array(3.5){})", FOLDS + PLACES + SCANS, ["", ", 0", ", -1", ", 1"]),
    *each("xp.{}(A, axis={})", FOLDS + PLACES + SCANS, ["2", "-3", "1.5", "'a'"]),
    *each("xp.{}(A, axis=(0, 0))", FOLDS),
    *each("xp.{}(A, axis=())", [f for f in FOLDS if f != "count_nonzero"]),
    *each("xp.{}(A, where=A > 1, initial=2.0)", ["sum", "prod", "max", "min", "nansum", "nanmax"]),
    *each("xp.{}(A, 1, where=xp.array([True, False, True, False]))", ["sum", "prod", "any",
        "all"]),
    *each("xp.{}(A, where=A > 1)", ["max", "min", "nanmax"]),
    *each("xp.sum(A, where={})", [
        "xp.ones(2, bool)", "xp.ones((2, 3, 4), bool)", "xp.array([1, 0, 1, 0])",
    ]),
    "xp.max(xp.zeros(0), initial=3.0)",
    "xp.sum(A, initial=1j)",
    "xp.sum(xp.array([1, 2]), initial=0.5)",
    "xp.max(xp.array([1, 2]), initial=2.5)",
    "xp.max(xp.array([1, 2], 'int8'), initial=300)",
    *each("xp.{}(xp.array({}))", FOLDS + PLACES[:2] + SCANS, [
        "[1, 2, 250], 'uint8'", "[True, False, True]", "[1 + 2j, 1 - 1j, 0]",
    ]),
    *each("xp.{}(xp.array([-1, 0, 1]), dtype=bool)", ["sum", "prod", "cumsum", "cumprod"]),
    *each("xp.{}(xp.array([1.5, 2.5]), dtype=int)", ["sum", "prod", "cumsum", "cumprod"]),
    "xp.sum(xp.array([10000, 10000], 'int16'), dtype='int16')",
    "xp.sum(xp.array([1 + 2j]), dtype=float)",
    "xp.cumulative_sum(V, include_initial=True)",
    "xp.cumulative_prod(A, axis=1, include_initial=True)",
    "xp.cumulative_sum(A)",
    "xp.cumulative_sum(xp.array(3.0))",
    "xp.cumsum(A, axis=(0, 1))",
    "xp.sum(['a'])",
    "xp.sum([[1, 2], [3, 4]], axis=0)",
    "xp.max(xp.array([xp.nan, xp.inf])), xp.min(xp.array([-0.0, 0.0, -xp.inf]))",
    # what the public reports are about
    "xp.argmax(xp.array([0.0, 1.0, xp.nan]))",
    "xp.argmax(xp.array([]))",
    "xp.prod(xp.zeros((2, 0, 0))), xp.sum(xp.zeros((2, 0, 0)))",
    "xp.cumprod(xp.array([10000, 10000, 10000], 'int32'))",
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_numpy(program: str) -> None:
    oracle.check(program, rtol=1e-14)


# ---- dtypes with 64-bit types off ---------------------------------------------------------------
TYPES = [
    ("sum", "int8", "int32"), ("sum", "uint8", "uint32"), ("sum", "bool", "int32"),
    ("sum", "float16", "float16"), ("sum", "bfloat16", "bfloat16"), ("prod", "int16", "int32"),
    ("cumsum", "int8", "int32"), ("cumprod", "uint16", "uint32"), ("max", "int8", "int8"),
    ("min", "bool", "bool"), ("argmax", "float32", "int32"), ("count_nonzero", "float32", "int32"),
    ("any", "float32", "bool"), ("ptp", "uint8", "uint8"), ("nansum", "int8", "int32"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "wanted"), TYPES)
def test_dtypes(name: str, given: str, wanted: str) -> None:
    found = getattr(jnp, name)(jnp.ones((2, 3), given))
    assert found.dtype.name == wanted
    assert not found.weak_type


def test_results_of_weakly_typed_arrays_are_strong() -> None:
    weak = jnp.full(3, 2.0)
    assert weak.weak_type
    for f in (jnp.sum, jnp.max, jnp.prod, jnp.cumsum):
        assert not f(weak).weak_type


# ---- NaN at every size --------------------------------------------------------------------------
SIZES = [1, 15, 16, 4095, 4096, 5000]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_nan_is_never_lost(size: int, dtype: str) -> None:
    for place in {0, size // 2, size - 1}:
        x = np.ones(size, np.float32)
        x[place] = np.nan
        x = jnp.asarray(x, dtype)
        for f in (jnp.max, jnp.min, jnp.sum, jnp.prod, jnp.ptp):
            assert jnp.isnan(f(x)), (f, place)
        assert jnp.argmax(x) == jnp.argmin(x) == place
        assert bool(jnp.any(x)) and bool(jnp.all(x)) and jnp.count_nonzero(x) == size
        assert jnp.isnan(jnp.nanmax(x)) == (size == 1)
        assert jnp.nansum(x) == jnp.asarray(size - 1, dtype)
        two = jnp.stack([x, jnp.ones(size, dtype)])
        np.testing.assert_array_equal(jnp.isnan(jnp.max(two, axis=1)), [True, False])
        assert jnp.isnan(jnp.max(two, axis=0)[place])
        assert np.isnan(np.asarray(jnp.cumsum(x)).astype(np.float32)).sum() == size - place


@pytest.mark.parametrize("size", SIZES)
def test_all_nan(size: int) -> None:
    x = jnp.full(size, jnp.nan)
    assert jnp.isnan(jnp.nanmax(x)) and jnp.isnan(jnp.nanmin(x)) and jnp.nansum(x) == 0
    with pytest.raises(ValueError, match="All-NaN"):
        jnp.nanargmax(x)
    assert hloom.jit(jnp.nanargmin)(x) == -1


@pytest.mark.parametrize("size", SIZES)
def test_the_first_of_equals(size: int) -> None:
    x = jnp.arange(size) % 7
    assert jnp.argmax(x) == np.argmax(np.arange(size) % 7)
    assert jnp.argmin(x) == 0
    assert jnp.argmax(jnp.zeros(size)) == 0


# ---- precision ----------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_long_sums_of_narrow_floats_do_not_stop_growing(dtype: str) -> None:
    ones = jnp.ones(30000, dtype)
    assert jnp.sum(ones) == jnp.asarray(30000.0, dtype)
    assert jnp.cumsum(ones)[-1] == jnp.asarray(30000.0, dtype)
    assert jnp.prod(jnp.full(2000, 1.001, dtype)).dtype == dtype


# ---- transformations ----------------------------------------------------------------------------
X = jnp.array([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]])


def test_derivatives() -> None:
    grad = lambda f: np.asarray(hloom.grad(f)(X))
    np.testing.assert_array_equal(grad(lambda x: jnp.sum(x)), np.ones((2, 3)))
    np.testing.assert_array_equal(grad(lambda x: jnp.max(x)), [[0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(grad(lambda x: jnp.sum(jnp.min(x, 1))), [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(grad(lambda x: jnp.sum(jnp.cumsum(x, 1))), [[3, 2, 1]] * 2)
    np.testing.assert_allclose(grad(lambda x: jnp.prod(x)), np.prod(X) / np.asarray(X), rtol=1e-6)
    np.testing.assert_array_equal(grad(lambda x: jnp.sum(x, where=x > 1)), np.asarray(X) > 1)
    with_nan = X.at[0, 0].set(jnp.nan)
    np.testing.assert_array_equal(hloom.grad(jnp.nansum)(with_nan), [[0, 1, 1], [1, 1, 1]])


def test_vmap_is_a_loop() -> None:
    for f in (jnp.sum, jnp.max, jnp.argmin, jnp.cumprod, jnp.any, jnp.nanmax, jnp.ptp):
        np.testing.assert_array_equal(hloom.vmap(f)(X), np.stack([f(row) for row in X]), str(f))


# ---- arguments ----------------------------------------------------------------------------------
def test_out_is_refused() -> None:
    for f in (jnp.sum, jnp.max, jnp.argmax, jnp.cumsum, jnp.any, jnp.nansum):
        with pytest.raises(TypeError, match="immutable"):
            f(X, out=np.zeros(()))


def test_a_traced_axis_is_named() -> None:
    with pytest.raises(hloom.errors.ConcretizationTypeError, match="`axis`"):
        hloom.jit(lambda x, axis: jnp.sum(x, axis))(X, 0)


def test_equal_keys_are_told_apart() -> None:
    x = jnp.arange(6).reshape(2, 3)
    assert jnp.sum(x, axis=1).shape == (2,)
    assert jnp.sum(x, axis=(0, 1)).shape == ()
    assert jnp.sum(x, axis=0).shape == (3,)
    assert jnp.sum(x, 0, keepdims=True).shape == (1, 3)


def test_methods_are_the_functions() -> None:
    assert X.sum() == 9.5 and X.max(axis=0).tolist() == [3.0, 4.0, 2.0] and X.argmin() == 5
    assert X.any() and X.all(where=X > 5)
    assert X.cumsum(axis=1).shape == (2, 3) and X.ptp() == 5.0 and X.prod() == -12.0


def test_minmax() -> None:
    low, high = jnp.minmax(X, axis=1, keepdims=True)
    assert low.tolist() == [[1.0], [-1.0]] and high.tolist() == [[3.0], [4.0]]


@pytest.mark.parametrize("name", ["max", "min", "any", "all", "count_nonzero", "argmax"])
@pytest.mark.parametrize(
    "dtype", ["float8_e8m0fnu", "float8_e4m3fn", "float8_e5m2", "float8_e3m4", "float4_e2m1fn"]
)
def test_storage_floats(name, dtype):
    """float8_e8m0fnu has neither zero nor negative numbers to start from."""
    x = jnp.array([[2, 1, 4], [4, 2, 2]], dtype=dtype)
    got = np.asarray(getattr(jnp, name)(x, axis=1)).astype(np.float32)
    expected = getattr(np, name)(np.asarray(x).astype(np.float32), axis=1)
    np.testing.assert_array_equal(got, expected)


ZEROS = [[-0.0], [-0.0, -0.0], [0.0, -0.0], [], [-0.0] * 5000]


@pytest.mark.parametrize("engine", testing.ENGINES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_negative_zeros_with_a_negative_zero_as_initial_value(dtype, engine):
    minus = np.array(complex(-0.0, -0.0) if dtype == "complex64" else -0.0, dtype)
    for zeros in ZEROS[: 4 if engine == "reference" else 5]:
        x = np.array([minus if np.signbit(z) else z for z in zeros], dtype)
        wants = [
            (lambda x: jnp.sum(x, initial=minus), np.sum(x, initial=minus)),
            (lambda x: jnp.sum(x[None], axis=1, initial=minus), np.sum(x, initial=minus)[None]),
            (lambda x: jnp.sum(x, initial=0.0), np.sum(x, initial=0.0)),
            (lambda x: jnp.sum(x), np.sum(x)),
            (lambda x: lax.reduce(x, minus, lax.add, (0,)), np.sum(x, initial=minus)),
            (lambda x: jnp.sum(x + 1, where=jnp.zeros(x.shape, bool), initial=minus), minus),
        ]
        for i, (fun, want) in enumerate(wants):
            (got,) = testing.results(engine, fun, x)
            for part in (np.real, np.imag):
                assert np.signbit(part(got)) == np.signbit(part(want)), (i, zeros[:3], got, want)
