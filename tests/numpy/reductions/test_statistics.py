"""Means, variances, quantiles, histograms, differences mean what they mean in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.numpy.reductions.quantiles import METHODS
from tests.numpy import oracle
from tests.numpy.oracle import each

N = "xp.where(A > 4, xp.nan, A)"
AXES = ["", ", 0", ", axis=-1", ", axis=(0, 1)", ", axis=(1, 0), keepdims=True", ", keepdims=True"]
MEANS = ["mean", "var", "std", "nanmean", "nanvar", "nanstd"]
SPREADS = ["var", "std", "nanvar", "nanstd"]
MIDDLES = ["median", "nanmedian"]
BINS = ["[0.0, 2.0, 5.5]", "[5.5, 2, 0]", "[1.0, 1.0]", "[3.0]"]

PROGRAMS = [
    *each("xp.{}(A{})", MEANS + MIDDLES, AXES),
    *each(f"xp.{{}}({N}{{}})", MEANS + MIDDLES, ["", ", 0", ", 1"]),
    *each("xp.{}(A, axis={})", MEANS + MIDDLES, ["2", "(0, 0)", "1.5"]),
    *each("xp.{}(xp.zeros((0, 3)){})", MEANS + MIDDLES, ["", ", 0", ", 1"]),
    *each("xp.{}(xp.array({}))", MEANS + MIDDLES, ["3.5", "[1, 2, 4]", "[True, False]",
        "[1 + 2j, 3]"]),
    *each("xp.{}(A, where=A > 1, axis=1)", MEANS),
    *each("xp.{}(A, where=A > 100)", MEANS),
    *each("xp.{}(A{})", SPREADS, [", ddof=1", ", 0, ddof=3", ", 0, ddof=5", ", correction=1.5"]),
    "xp.var(A, ddof=1, correction=1)",
    "xp.var(A, mean=xp.mean(A, 1, keepdims=True), axis=1)",
    "xp.mean(xp.array([1, 2]), dtype=int), xp.mean(A, dtype='float32')",
    "xp.std(xp.array([1, 2, 4]), dtype=int)",
    *each("xp.average(A{})", [
        "", ", 1", ", axis=(0, 1), keepdims=True", ", weights=xp.abs(A)", ", 0, weights=[1, 2, 3]",
        ", 1, weights=xp.abs(A)", ", 1, xp.array([1.0, 0.0, 2.0, 1.0]), returned=True",
        ", weights=[1, 2, 3]", ", axis=0, weights=[1, 2, 3, 4]",
    ]),
    "xp.average(xp.array([1, 2, 4]), returned=True)",
    *each("xp.cov({})", [
        "A", "V", "A, rowvar=False", "A, A[::-1]", "A, bias=True", "A, ddof=0", "A, ddof=9",
        "A, ddof=1.5",
        "A, fweights=xp.array([1, 2, 0, 3])", "A, aweights=[0.5, 1, 2, 3]", "A + 1j * A[::-1]",
        "A, fweights=xp.array([1, 2, 0, 3]), aweights=[0.5, 1, 2, 3], ddof=0",
        "xp.zeros((0, 3))", "xp.ones((2, 2, 2))", "A, fweights=xp.array([1, 2])",
    ]),
    *each("xp.corrcoef({})", ["A", "A + 1j * A[::-1]", "V, V[::-1]", "V", "A, rowvar=False"]),
    # quantiles
    *each("xp.{}{})", ["quantile(A, 0.3", "nanquantile(A, 0.3", "percentile(A, [20, 75]"], AXES),
    *each("xp.nanpercentile(A, xp.array([[0, 50], [99.5, 100]]){})", AXES),
    *each(f"xp.{{}}({N}, 0.3{{}})", ["quantile", "nanquantile"], ["", ", 0", ", 1"]),
    *each("xp.{}(A, [0.0, 0.3, 0.5, 1.0], 1, method='{}')", ["quantile", "nanquantile"], METHODS),
    *each("xp.quantile(xp.arange(11), xp.arange(11) / 10, method='{}')", METHODS),
    *each("xp.percentile(xp.arange(101), [5, 30, 45, 95], method='{}')", METHODS),
    *each("xp.quantile(A, {})", [
        "0.4, axis=1, weights=xp.abs(A), method='inverted_cdf'",
        "[0.0, 0.4, 1.0], axis=1, weights=[0, 2, 1, 0], method='inverted_cdf'",
        "0.4, weights=xp.abs(A)", "1.5", "-0.5", "xp.nan", "0.5, method='best'",
    ]),
    *each("xp.quantile({}, 0.5)", ["xp.zeros(0)", "xp.array([1j])", "xp.array([True])"]),
    "xp.percentile(A, -1)",
    "xp.median(xp.array([xp.inf, xp.inf, xp.inf])), xp.median(xp.array([-xp.inf, xp.inf]))",
    "xp.percentile(xp.full(279, 0.5675805163876734), 45) == 0.5675805163876734",
    "xp.nanpercentile(xp.nanmean(xp.array([[5.5, 7.25, xp.nan]] * 2), 0, keepdims=True), 10, 1)",
    # counting
    "xp.bincount(xp.array([], 'int32')), xp.bincount(xp.array([], 'int32'), minlength=2)",
    "xp.digitize(xp.arange(4), xp.array([], 'float32'))",
    *each("xp.digitize(A, xp.array({}), right={})", BINS, ["False", "True"]),
    "xp.digitize(A, xp.array([1.0, 3.0, 2.0]))",
    "xp.digitize(xp.array([1j]), V)",
    *each("xp.histogram(A, {})", [
        "4", "3, range=(0, 5)", "[0, 1, 2.5]", "4, density=True", "4, weights=xp.abs(A)", "1",
        "[-8, 0, 9], density=True", "3, range=(1, 1)", "0", "[2, 1]", "3, range=(2, 1)", "1.5",
        "3, range=(0, xp.inf)", "3, weights=V", "[[1, 2]]",
    ]),
    *each("xp.histogram({})", ["xp.array([]), bins=3", "xp.arange(20), bins=40",
        "xp.array([1, 1, 1])"]),
    *each("xp.histogram_bin_edges(A, {})", ["5", "[1, 2]", "2, (0, 1)"]),
    "xp.histogramdd(A, [2, 1, 3, 2])",
    *each("xp.histogramdd(A[:, :2], {})", [
        "[2, [-10, 0, 10]], density=True", "2, range=[(0, 5), (-5, 5)], weights=A[:, 2]",
        "[2, 2, 2]",
    ]),
    *each("xp.histogram2d(A[0], A[1], {})", ["3", "[0, 1, 5]", "[2, 3]"]),
    "xp.histogram2d(A[0], A[1, :2])",
    # differences
    *each("xp.diff(A{})", [
        "", ", 2", ", axis=0", ", n=9", ", n=0", ", n=-1", ", axis=2", ", prepend=0.0",
        ", append=A",
    ]),
    "xp.diff(xp.array([True, False])), xp.diff(xp.array([3, 1], 'uint8')), xp.diff(xp.zeros(0))",
    "xp.diff(xp.array(3))",
    *each("xp.ediff1d({})", [
        "A", "V, to_end=xp.array([1.0, 2.0]), to_begin=0.0", "xp.zeros(0)",
        "xp.arange(3), to_begin=1.5",
    ]),
    *each("xp.gradient({})", [
        "V", "A", "A, 2.0", "A, 2.0, 0.5", "A, axis=0", "A, axis=(1, 0)", "A, edge_order=2",
        "V, xp.array([0.0, 1.0, 3.0, 3.5])", "A, xp.array([0.0, 1.0, 5.0]), 2.0, edge_order=2",
        "xp.arange(5) ** 2", "A, 1, 2, 3", "A, xp.ones(2), 1.0", "V[:1]", "A, axis=2",
        "A, edge_order=3",
    ]),
    *each("xp.trapezoid({})", [
        "V", "A", "A, dx=0.5", "A, axis=0", "V, xp.array([0.0, 1.0, 3.0, 3.5])", "A, A",
        "xp.arange(4)",
    ]),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_numpy(program: str) -> None:
    oracle.check(program, rtol=2e-13)


VALUE_DEPENDENT = [
    "xp.bincount(xp.array([1, 3, 1])), xp.bincount(xp.array([1, 3, 1]), minlength=9)",
    "xp.bincount(xp.array([1, 3, 1]), weights=xp.array([0.5, 1.0, 2.0]))",
    "xp.bincount(xp.array([1, -3, 1]))",
    "xp.bincount(xp.array([[1]]))",
    "xp.bincount(xp.array([1.5]))",
    "xp.bincount(xp.array([1]), minlength=-1)",
    "xp.bincount(xp.array([1]), weights=xp.array([1.0, 2.0]))",
    "xp.average(A, weights=xp.zeros_like(A))",
    "xp.quantile(A, 0.4, weights=-xp.abs(A), method='inverted_cdf')",
    "xp.histogram(A, 'auto'), xp.histogram(A, 'sturges', range=(0, 3))",
    "xp.histogram(A, 'best')",
    "xp.histogram(A, 'auto', weights=A)",
    "xp.histogram(xp.array([xp.nan, 1.0]))",
]


@pytest.mark.parametrize("program", VALUE_DEPENDENT)
def test_as_numpy_on_known_values(program: str) -> None:
    oracle.check(program, jit=False, rtol=1e-13)


# ---- dtypes with 64-bit types off ---------------------------------------------------------------
TYPES = [
    ("mean", "int8", "float32"), ("mean", "float16", "float16"), ("mean", "bfloat16", "bfloat16"),
    ("var", "complex64", "float32"), ("std", "int32", "float32"), ("median", "int8", "float32"),
    ("median", "float16", "float16"), ("nanmean", "bool", "float32"), ("average", "uint8",
    "float32"),
    ("cov", "int32", "float32"), ("gradient", "int8", "float32"), ("trapezoid", "int8", "float32"),
    ("diff", "uint8", "uint8"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "wanted"), TYPES)
def test_dtypes(name: str, given: str, wanted: str) -> None:
    found = getattr(jnp, name)(jnp.ones(4, given))
    assert found.dtype.name == wanted
    assert not found.weak_type


def test_a_number_q_does_not_widen_the_data() -> None:
    x = jnp.array([1.0, 2.0], jnp.float16)
    assert jnp.quantile(x, 0.5).dtype == jnp.float16
    assert jnp.quantile(x, [0.5]).dtype == jnp.float32
    assert jnp.percentile(jnp.array([1, 2, 4]), 50, method="nearest").dtype == jnp.int32


# ---- precision ----------------------------------------------------------------------------------
def test_means_of_float16_do_not_overflow() -> None:
    assert jnp.mean(jnp.full(300, 500, jnp.float16)) == 500
    x = jnp.array([300.0, -300.0] * 50, jnp.float16)
    assert jnp.std(x) == 300


def test_variances_of_near_equal_numbers() -> None:
    x = jnp.array([-0.8212978, -0.8214609], jnp.float32)
    assert abs(float(jnp.std(x)) - 8.155e-05) < 1e-7


def test_between_equal_infinities_lies_that_infinity() -> None:
    x = jnp.array([jnp.inf, jnp.inf, 1.0])
    assert jnp.percentile(x, 75) == jnp.inf and jnp.percentile(x, 0) == 1.0


@pytest.mark.parametrize("size", [1, 15, 16, 4095, 4096, 5000, 70000])
def test_nan_at_every_size(size: int) -> None:
    x = np.random.default_rng(size).normal(size=size).astype(np.float32)
    for f in ("mean", "var", "median"):
        np.testing.assert_allclose(getattr(jnp, f)(x), getattr(np, f)(x), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(jnp.median(x), np.median(x))
    x[size // 2] = np.nan
    assert jnp.isnan(jnp.mean(x)) and jnp.isnan(jnp.median(x)) and jnp.isnan(jnp.percentile(x, 0))
    if size > 1:
        np.testing.assert_array_equal(jnp.nanmedian(x), np.nanmedian(x))
        np.testing.assert_allclose(
            jnp.nanpercentile(x, 30), np.nanpercentile(x, 30), rtol=1e-6, atol=1e-7
        )


# ---- transformations ----------------------------------------------------------------------------
X = jnp.array([[3.0, 1.0, 2.0, 8.0], [0.5, 4.0, -1.0, 5.0]])


def test_derivatives() -> None:
    grad = lambda f: np.asarray(hloom.grad(f)(X))
    np.testing.assert_allclose(grad(jnp.mean), np.full((2, 4), 1 / 8))
    x = np.asarray(X)
    np.testing.assert_allclose(grad(jnp.var), (x - x.mean()) / 4, rtol=1e-5)
    np.testing.assert_allclose(
        grad(lambda x: jnp.sum(jnp.median(x, 1))), [[0.5, 0, 0.5, 0], [0.5, 0.5, 0, 0]]
    )
    np.testing.assert_allclose(
        grad(lambda x: jnp.quantile(x[0], 0.25)), [[0, 0.25, 0.75, 0], [0] * 4]
    )
    slope = hloom.grad(lambda q: jnp.quantile(X[0], q))(0.25)
    np.testing.assert_allclose(slope, 3.0, rtol=1e-6)
    np.testing.assert_allclose(
        grad(lambda x: jnp.nanmean(x.at[0, 0].set(jnp.nan))), [[0] + [1 / 7] * 3, [1 / 7] * 4]
    )


def test_vmap_is_a_loop() -> None:
    functions = [
        jnp.mean, jnp.std, jnp.median, jnp.nanmedian, lambda x: jnp.quantile(x,
        jnp.array([0.2, 0.7])),
        lambda x: jnp.histogram(x, 3)[0], lambda x: jnp.digitize(x, X[0, 1:3]), jnp.diff,
        jnp.gradient,
        lambda x: jnp.average(x, weights=x * x),
    ]  # fmt: skip
    for f in functions:
        np.testing.assert_allclose(hloom.vmap(f)(X), np.stack([f(row) for row in X]), rtol=1e-6)


def test_jit_takes_a_traced_q() -> None:
    f = hloom.jit(lambda x, q: jnp.percentile(x, q, axis=1))
    np.testing.assert_allclose(f(X, 30.0), np.percentile(np.asarray(X), 30.0, axis=1), rtol=1e-6)
    assert f(X, jnp.array([10.0, 90.0])).shape == (2, 2)


# ---- under a trace ------------------------------------------------------------------------------
def test_bincount_needs_a_length() -> None:
    x = jnp.array([1, -3, 7, 1])
    assert hloom.jit(lambda x: jnp.bincount(x, length=3))(x).tolist() == [1, 2, 0]
    with pytest.raises(hloom.errors.ConcretizationTypeError, match="length"):
        hloom.jit(jnp.bincount)(x)
    with pytest.raises(hloom.errors.ConcretizationTypeError, match="bins='auto'"):
        hloom.jit(lambda x: jnp.histogram(x, "auto"))(x)
