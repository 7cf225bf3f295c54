"""convolve and correlate: every mode, dtype and length."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import jit
from hloom.numpy.products import signal
from tests.numpy.oracle import check

PROGRAMS = """
xp.convolve([1, 2, 1], xp.ones(10))
xp.convolve(V, [1, 2, 3])
xp.convolve(V, [1, 2, 3], "same")
xp.convolve(V, [1, 2, 3], "valid")
xp.convolve([1, 2, 3], V, "valid")
xp.convolve([1, 2, 3, 4, 5, 6], [1, 2], "same")
xp.convolve([1, 2, 3, 4], [1, 2, 3, 4], "same")
xp.convolve(3, [1, 2])
xp.convolve([True, False], [True, True])
xp.convolve(xp.array([100, 3], "int8"), xp.array([2, 1], "int8"))
xp.convolve([1j, 2], [3, 4j])
xp.convolve([inf, 1], [1, 1])
xp.convolve([1, 2, 3.0], [inf, 1])
xp.convolve([nan, 1, 2, 3], [1, 2])
xp.convolve(V, [])
xp.convolve([], V)
xp.convolve(A, V)
xp.convolve(V, V, "foo")
xp.correlate([1, 2, 3], [0, 1, 2])
xp.correlate([1, 2, 3], [0, 1, 0.5], "same")
xp.correlate([1, 2, 3], [0, 1, 0.5], "full")
xp.correlate([0, 1, 2], [1, 2, 3, 4], "same")
xp.correlate([1, 2, 3, 4], [0, 1], "same")
xp.correlate([0, 1], [1, 2, 3, 4], "same")
xp.correlate([0, 1], [1, 2, 3, 4], "full")
xp.correlate([0, 1], [1, 2, 3, 4], "valid")
xp.correlate([1, 2, 3], [1j, 2], "full")
xp.correlate([1j, 2], [1, 2, 3j], "full")
xp.correlate([1j, 2], [1, 2, 3j], "same")
xp.correlate(V, [])
xp.correlate(A, V)
"""


@pytest.mark.parametrize("program", PROGRAMS.strip().splitlines())
def test_as_numpy(program):
    check(program, rtol=4 * 2.0**-53)


LENGTHS = [(1, 1), (5, 3), (16, 16), (40, 16), (40, 17), (17, 17), (100, 33), (7, 100)]


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("n, k", LENGTHS)
@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64", "bool"])
def test_short_and_long_kernels_as_numpy(n, k, dtype, mode):
    rng = np.random.default_rng(n * k)
    a, v = (rng.integers(-9, 10, size=size) for size in (n, k))
    if dtype == "complex64":
        a, v = a + 1j * a[::-1], v - 2j * v[::-1]
    a, v = a.astype(dtype), v.astype(dtype)  # small whole numbers: sums are exact
    for name in ("convolve", "correlate"):
        expected = getattr(np, name)(a, v, mode)
        made = getattr(jnp, name)(a, v, mode)
        assert made.dtype == expected.dtype and np.array_equal(made, expected)


@pytest.mark.parametrize("k", [3, 20])
def test_what_is_not_finite_stays_where_numpy_leaves_it(k):
    rng = np.random.default_rng(k)
    a, v = rng.normal(size=50).astype("float32"), rng.normal(size=k).astype("float32")
    v[1], a[7] = np.inf, np.nan
    for mode in ("full", "same", "valid"):
        np.testing.assert_allclose(jnp.convolve(a, v, mode), np.convolve(a, v, mode), rtol=1e-4)


def test_traced_as_eager():
    a, v = jnp.arange(40.0), jnp.arange(20.0)
    for mode in ("full", "same", "valid"):
        for name in ("convolve", "correlate"):
            f = getattr(jnp, name)
            assert np.array_equal(jit(f, static_argnums=2)(a, v, mode), f(a, v, mode))


def test_a_very_long_kernel():
    a, v = np.arange(5000) % 7, np.arange(signal.LONGEST + 5) % 5
    assert np.array_equal(jnp.convolve(a, v), np.convolve(a, v))


def test_narrow_floats_are_summed_in_f32():
    for k in (10, 40):
        made = jnp.convolve(
            jnp.ones(300, jnp.bfloat16), jnp.full(k, 1.0078125, jnp.bfloat16), "valid"
        )
        exact = np.float32(k) * np.float32(1.0078125)
        assert made.dtype == jnp.bfloat16
        assert np.asarray(made[0], np.float32) == exact.astype(jnp.bfloat16)


def test_preferred_element_type():
    x = jnp.full(20, 100, jnp.int8)
    for k in (3, 20):
        assert (
            int(jnp.convolve(x, x[:k], "valid", preferred_element_type=jnp.int32)[0]) == 10000 * k
        )


def test_the_tours_row():
    made = jnp.convolve(jnp.array([1, 2, 1]), jnp.ones(10))
    assert repr(made) == "Array([1., 3., 4., 4., 4., 4., 4., 4., 4., 4., 3., 1.], dtype=float32)"


def test_convolution_under_grad_and_vmap():
    a, v = jnp.arange(1.0, 31.0), jnp.arange(1.0, 21.0)
    for kernel in (v, v[:3]):
        weights = jnp.arange(float(a.size + kernel.size - 1))
        da, dv = hloom.grad(lambda a, v, w: (jnp.convolve(a, v) * w).sum(), (0, 1))(
            a, kernel, weights
        )
        assert np.array_equal(da, np.correlate(weights, kernel, "valid"))
        assert np.array_equal(dv, np.correlate(weights, a, "valid"))
    rows = hloom.vmap(jnp.convolve)(jnp.stack([a, a + 1]), jnp.stack([v, v * 2]))
    assert np.array_equal(rows[1], np.convolve(np.asarray(a) + 1, np.asarray(v) * 2))
