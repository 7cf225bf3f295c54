"""interp and unwrap: NumPy's values, derivatives, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own

RNG = np.random.default_rng(7)


def points(count):
    """Sample points, values, and places at, between and beyond them."""
    xp, fp = np.sort(RNG.normal(size=count)), RNG.normal(size=count)
    x = np.concatenate([RNG.normal(size=(2, 9)).ravel() * 2, xp, [np.nan, np.inf, -np.inf]])
    return x, xp, fp


@pytest.mark.parametrize("count", [1, 2, 5, 40])
@pytest.mark.parametrize(
    "options", [{}, {"left": -9.0}, {"right": 7}, {"period": 1.5}, {"period": -2}], ids=str
)
def test_interp_is_numpys(count, options):
    x, xp, fp = points(count)
    with hloom.enable_x64():
        for values in (fp, fp + 1j * fp[::-1]):
            want = np.interp(x, xp, values, **options)
            np.testing.assert_allclose(jnp.interp(x, xp, values, **options), want, rtol=1e-12)


def test_interp_is_exact_at_the_points():
    x, xp, fp = points(40)
    with hloom.enable_x64():
        np.testing.assert_array_equal(jnp.interp(xp, xp, fp), fp)


@pytest.mark.parametrize(
    ("x", "xp", "fp"),
    [
        ([1, 2, 3, np.nan], [1, 2, 2, 3], [0, 1, np.inf, 3]),
        ([2.5], [1, 2, 3], [1, np.inf, np.inf]),
        ([1.0, 1.5], [1.0, 2.0], [-np.inf, 3]),
        ([0.5, 1, 2], [1, 1, 1], [1, 2, 3]),
        ([[]], [1.0], [2.0]),
    ],
)
def test_interp_between_infinities_and_equal_points(x, xp, fp):
    np.testing.assert_array_equal(jnp.interp(x, xp, fp), np.interp(x, xp, fp))


def test_interp_extrapolates():
    xp, fp = [1, 2, 3], [1, 4, 9]
    np.testing.assert_allclose(jnp.interp(5.0, xp, fp, right="extrapolate"), 19)
    np.testing.assert_allclose(jnp.interp(0.0, xp, fp, left="extrapolate"), -2)
    np.testing.assert_allclose(jnp.interp(0.0, xp, fp, right="extrapolate"), 1)


def test_interp_has_derivatives():
    xp, fp = np.float32([1, 2, 3]), np.float32([3, 2, 0])
    slope = hloom.vmap(hloom.grad(jnp.interp), in_axes=(0, None, None))
    np.testing.assert_allclose(slope(np.float32([1.5, 2, 2.5, 3, 9]), xp, fp), [-1, -2, -2, -2, 0])
    np.testing.assert_allclose(hloom.grad(jnp.interp, 2)(1.25, xp, fp), [0.75, 0.25, 0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1.5, [], []), "array of sample points is empty"),
        ((1.5, [1, 2], [1]), "fp and xp are not of the same length"),
        ((1.5, [[1]], [[2]]), "Data points must be 1-D sequences"),
        ((1.5, [1], [2], None, None, 0), "period must be a non-zero value"),
        ((1.5, [1], [2], "elsewhere"), "'extrapolate'"),
    ],
)
def test_interp_refuses(arguments, words):
    with pytest.raises(ValueError, match=words):
        jnp.interp(*arguments)


ANGLES = [RNG.normal(size=30) * 6, RNG.normal(size=(4, 7)) * 9, np.zeros(1), np.arange(12.0) % 3]


@pytest.mark.parametrize("p", ANGLES, ids=lambda p: str(p.shape))
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("options", [{}, {"discont": 4.0}, {"period": 3.0}, {"period": 4}], ids=str)
def test_unwrap_is_numpys(p, axis, options):
    with hloom.enable_x64():
        want = np.unwrap(p, axis=axis, **options)
        np.testing.assert_allclose(jnp.unwrap(p, axis=axis, **options), want, rtol=1e-12)


@pytest.mark.parametrize("period", [4, 5, 360])
def test_unwrap_of_integers(period):
    p = RNG.integers(-9, 9, 30)
    with hloom.enable_x64():
        got, want = jnp.unwrap(p, period=period), np.unwrap(p, period=period)
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


def test_unwrap_refuses_an_axis_that_is_not_there():
    with pytest.raises(np.exceptions.AxisError):
        jnp.unwrap(np.zeros(3), axis=1)


def test_unwrap_moves_angles_as_a_whole():
    jacobian = hloom.vmap(hloom.grad(lambda p, i: jnp.unwrap(p)[i]), in_axes=(None, 0))
    np.testing.assert_allclose(jacobian(jnp.array([0.0, 5, 9]), jnp.arange(3)), np.eye(3))


def test_where_of_a_condition_alone_is_nonzero():
    (places,) = jnp.where([0, 3, 0, 5])
    np.testing.assert_array_equal(places, [1, 3])
    (places,) = hloom.jit(lambda x: jnp.where(x, size=3, fill_value=9))(np.int32([0, 3, 0, 5]))
    np.testing.assert_array_equal(places, [1, 3, 9])
    with pytest.raises(ValueError, match="size"):
        jnp.where([True], 1, 2, size=3)
