"""Running sums and products are NumPy's, bit for bit, in whatever order digits cancel or overflow.

NumPy's `accumulate` adds from the first element to the last.  Any other order loses digits or
makes infinities that the running total has not, so equality is exact: of complex products too,
but for what one fused multiply-add rounds less.  Subnormal numbers, which XLA takes for zero, are
kept out.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hloom
import hloom.numpy as jnp
from hloom import lax

SEED = np.random.SeedSequence(20261201)
# Every length up to 2,000 takes a minute of compiling: the longer profile has the patience.
LENGTHS = (
    list(range(1, 2001))
    if os.environ.get("HYPOTHESIS_PROFILE") == "explore"
    else [*range(1, 50), *range(50, 2001, 61), 2000]
)
FLOATS = ["float32", "float64"]


def cancelling(rng: Any, n: int, dtype: Any) -> np.ndarray:
    """Huge numbers, each taken away again by the next, and small ones in between."""
    x = rng.normal(size=n)
    places = rng.permutation(n)[: 2 * (n // 4)].reshape(2, -1)
    first, second = np.minimum(*places), np.maximum(*places)
    huge = 10.0 ** rng.integers(6, 30, len(first))
    x[first], x[second] = huge, -huge
    return x.astype(dtype)


def overflowing(rng: Any, n: int, dtype: Any) -> np.ndarray:
    """Two thirds of the largest number, with both signs: sums stay finite in one order only."""
    return (rng.choice([-1.0, 1.0], n) * (np.finfo(dtype).max * 0.66)).astype(dtype)


def huge_then_small(rng: Any, n: int, dtype: Any) -> np.ndarray:
    """From the largest to the smallest."""
    return (np.sort(10.0 ** rng.uniform(-30, 30, n))[::-1] * rng.choice([-1, 1])).astype(dtype)


RECIPES = [cancelling, overflowing, huge_then_small]


def same_bits(got: Any, want: np.ndarray) -> None:
    got = np.asarray(got)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want, strict=True)
    is_number = want == want
    assert (np.signbit(got) == np.signbit(want))[is_number].all()


def total(function: Any, x: np.ndarray, axis: int = 0, reverse: bool = False) -> np.ndarray:
    with np.errstate(all="ignore"):
        turned = np.flip(x, axis) if reverse else x
        out = function.accumulate(turned, axis, dtype=x.dtype)
    return np.flip(out, axis) if reverse else out


def test_sums_of_every_length_are_the_running_total():
    rng = np.random.default_rng(SEED)
    for n in LENGTHS:
        for recipe in RECIPES:
            x = recipe(rng, n, np.float32)
            same_bits(jnp.cumsum(jnp.asarray(x)), total(np.add, x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("reverse", [False, True])
def test_sums_of_a_million_are_the_running_total(dtype, recipe, reverse):
    x = recipe(np.random.default_rng(SEED), 1_000_000, np.dtype(dtype))
    with hloom.enable_x64():
        same_bits(lax.cumsum(jnp.asarray(x), reverse=reverse), total(np.add, x, 0, reverse))


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_of_many_sizes_are_the_running_product(dtype):
    rng = np.random.default_rng(SEED)
    with hloom.enable_x64():
        for n in (2, 3, 5, 8, 9, 17, 64, 100, 1000):
            # Powers of two, up and down between the smallest and the largest, and some zeros.
            size = 100 if dtype == "float32" else 900
            steps = rng.integers(-size, size + 1, n)
            exponents = np.clip(np.cumsum(steps), -size, size)
            x = np.exp2(np.diff(exponents, prepend=0)).astype(dtype)
            x[rng.random(n) < 0.5 / n] = 0
            same_bits(jnp.cumprod(jnp.asarray(x)), total(np.multiply, x))
            same_bits(lax.cumprod(x[::-1], reverse=True), total(np.multiply, x[::-1], 0, True))


@given(
    st.sampled_from([*FLOATS, "complex64", "complex128", "int8", "int32", "uint16", "int64"]),
    st.lists(st.integers(0, 9), min_size=1, max_size=3).filter(lambda s: max(s) > 0),
    st.integers(0, 2**32 - 1), st.sampled_from(RECIPES), st.booleans(), st.data(),
)  # fmt: skip
def test_sums_along_any_axis_are_the_running_total(dtype, shape, seed, recipe, reverse, data):
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    n = int(np.prod(shape))
    if dtype.kind in "iu":
        x = rng.integers(0, 100, n).astype(dtype)
    elif dtype.kind == "c":
        part = np.zeros(0, dtype).real.dtype
        x = (recipe(rng, n, part) + 1j * recipe(rng, n, part).astype(dtype)).astype(dtype)
    else:
        x = recipe(rng, n, dtype)
    x = x.reshape(shape)
    axis = data.draw(st.integers(0, len(shape) - 1))
    with hloom.enable_x64():
        want = total(np.add, x, axis, reverse)
        got = hloom.jit(lambda x: lax.cumsum(x, axis, reverse))(x)
        np.testing.assert_array_equal(np.asarray(got), want, strict=True)
        if shape[0]:
            got = hloom.vmap(lambda x: jnp.cumsum(x), out_axes=0)(x)
            want = total(np.add, x.reshape(shape[0], -1), 1)
            narrow = dtype.kind in "iu" and dtype.itemsize < 8
            np.testing.assert_array_equal(np.asarray(got).astype(dtype) if narrow else got, want)


def test_what_was_lost_or_overflowed_before():
    same_bits(jnp.cumsum(jnp.float32([1e8, -1e8, 1])), np.float32([1e8, 0, 1]))
    same_bits(jnp.cumsum(jnp.float32([-3e38, 3e38, 3e38])), np.float32([-3e38, 0, 3e38]))
    same_bits(jnp.cumprod(jnp.float32([0, 1e30, 1e30])), np.float32([0, 0, 0]))
    up = np.float32([1e-30, 1e30, 1e30])
    same_bits(jnp.cumprod(jnp.asarray(up)), np.cumprod(up))
    same_bits(jnp.cumulative_sum(jnp.float32([1e8, -1e8, 1])), np.float32([1e8, 0, 1]))
    same_bits(jnp.nancumsum(jnp.float32([1e8, np.nan, -1e8, 1])), np.float32([1e8, 1e8, 0, 1]))
    same_bits(jnp.nancumprod(jnp.float32([0, np.nan, 1e30, 1e30])), np.float32([0, 0, 0, 0]))
    same_bits(jnp.cumsum(jnp.float32([-0.0, -0.0])), np.float32([-0.0, -0.0]))


@pytest.mark.parametrize("engine", ["xla", "numpy", "reference"])
def test_engines_agree_on_the_order(engine):
    rng = np.random.default_rng(SEED)
    with hloom.engine(engine):
        for recipe in RECIPES:
            x = recipe(rng, 37, np.float32)
            same_bits(jnp.cumsum(jnp.asarray(x)), total(np.add, x))
            rows = recipe(rng, 60, np.float32).reshape(4, 5, 3)
            same_bits(lax.cumsum(rows, 1, True), total(np.add, rows, 1, True))


# ---- derivatives ----------------------------------------------------------------------------
def test_gradients_of_products_with_zeros_are_products_without_the_element():
    def slopes(values: list[float]) -> list[float]:
        return np.asarray(hloom.grad(lambda x: jnp.cumprod(x).sum())(jnp.array(values))).tolist()

    assert slopes([2.0, 0.0, 3.0, 4.0]) == [1, 32, 0, 0]
    assert slopes([2.0, 0.0, 0.0, 3.0]) == [1, 2, 0, 0]
    assert slopes([0.0, 2.0, 3.0]) == [9, 0, 0]
    assert slopes([0.0, 1e30, 1e30])[1:] == [0, 0]  # not 0 times the infinite 1e30 * 1e30


@pytest.mark.parametrize("function", [lax.cumprod, lax.cumlogsumexp])
@pytest.mark.parametrize("reverse", [False, True])
def test_jacobians_of_prefixes_equal_those_of_reductions(function, reverse):
    with hloom.enable_x64():
        x = jnp.asarray(np.random.default_rng(SEED).uniform(0.5, 2, 11))

        def one(x: Any, i: int) -> Any:
            part = x[i:] if reverse else x[: i + 1]
            if function is lax.cumprod:
                return jnp.prod(part)
            return jnp.log(jnp.sum(jnp.exp(part)))

        weights = jnp.arange(1.0, 12.0)
        whole = lambda x: (function(x, 0, reverse) * weights).sum()  # noqa: E731
        parts = lambda x: sum(one(x, i) * weights[i] for i in range(11))  # noqa: E731
        np.testing.assert_allclose(hloom.grad(whole)(x), hloom.grad(parts)(x), rtol=1e-12)
        twice = [
            hloom.grad(lambda x, f=f: (hloom.grad(f)(x) * weights).sum())(x) for f in (whole, parts)
        ]
        np.testing.assert_allclose(*twice, rtol=1e-11)


def test_logsumexp_of_nothing_and_of_everything():
    inf = np.inf
    x = jnp.float32([-inf, -inf, 0, -inf, 1000, inf, 3])
    want = np.float32([-inf, -inf, 0, 0, 1000, inf, inf])
    np.testing.assert_array_equal(lax.cumlogsumexp(x), want)
    slopes = hloom.grad(lambda x: lax.cumlogsumexp(x)[4])(x)
    np.testing.assert_array_equal(slopes, np.float32([0, 0, 0, 0, 1, 0, 0]))
    assert np.isfinite(hloom.grad(lambda x: lax.cumlogsumexp(x)[-1])(x)).all()
    long = np.random.default_rng(SEED).normal(size=5000) * 50
    with hloom.enable_x64():
        got = lax.cumlogsumexp(jnp.asarray(long))
    np.testing.assert_allclose(got, np.logaddexp.accumulate(long), rtol=1e-13, atol=1e-13)
