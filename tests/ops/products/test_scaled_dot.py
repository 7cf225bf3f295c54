"""scaled_dot: products of operands whose blocks have scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import dtypes, lax, testing
from hloom.testing.cases.products import both_scaled, scaled


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"])
@pytest.mark.parametrize("scale", ["float8_e8m0fnu", "float8_e4m3fn", "float32"])
def test_narrow_floats_with_scales(dtype: str, scale: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(-3, 3, s).astype(dtypes.as_dtype(dtype)) for s in ((4, 64), (64, 3)))
    s, t = (rng.uniform(0.5, 4, s).astype(dtypes.as_dtype(scale)) for s in ((4, 2), (4, 3)))
    want = both_scaled(x, y, s, t)
    # The interpreter gives numbers where float8_e8m0fnu has NaN: its conversions are screened.
    for engine in ("xla", "numpy") if scale == "float8_e8m0fnu" else testing.ENGINES:
        (got,) = testing.results(engine, scaled("float32"), x, y, s, t)
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-4, err_msg=engine)


def test_the_result_is_bfloat16_unless_told() -> None:
    x = jnp.ones((2, 4))
    assert lax.scaled_dot(x, x.T).dtype == jnp.bfloat16
    assert lax.scaled_dot(x, x.T, preferred_element_type="float16").dtype == jnp.float16


def test_operands_of_two_dtypes() -> None:
    x = jnp.ones((2, 4), "float8_e4m3fn")
    got = lax.scaled_dot(x, jnp.ones((4, 1), int), rhs_scale=jnp.full((2, 1), 3.0))
    np.testing.assert_array_equal(got, jnp.full((2, 1), 12, "bfloat16"))


X, Y = jnp.ones((3, 8)), jnp.ones((8, 2))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.scaled_dot(X, Y[:4]), TypeError, "8 != 4"),
        (lambda: lax.scaled_dot(X, Y[None]), TypeError, "one rank"),
        (lambda: lax.scaled_dot(X[0], Y[:, 0]), TypeError, "2 axes or more; got f32[8]"),
        (lambda: lax.scaled_dot(X, Y, lhs_scale=X), TypeError, "below it is needed"),
        (lambda: lax.scaled_dot(X, Y, lhs_scale=X[:, :3]), TypeError, "a divisor of 8"),
        (lambda: lax.scaled_dot(X, Y, lhs_scale=X[:, :0]), TypeError, "size 0"),
        (lambda: lax.scaled_dot(X, Y, rhs_scale=Y[:2, :1]), TypeError, "needs size 2 on axis 1"),
        (lambda: lax.scaled_dot(X, Y, rhs_scale=1.0), TypeError, "needs the rank of rhs, 2"),
        (lambda: lax.scaled_dot(X + 0j, Y), TypeError, "takes real operands; got c64[3,8]"),
        (lambda: lax.scaled_dot(X, Y, rhs_scale=Y[:2] > 0), TypeError, "bool[2,2]"),
        (lambda: lax.scaled_dot(X, Y, preferred_element_type=int), TypeError, "16 bits or more"),
        (lambda: lax.scaled_dot(X, Y, dimension_numbers=3), TypeError, "dimension_numbers as"),
        (lambda: lax.scaled_dot([1], Y), TypeError, "takes arrays and numbers"),
    ],
)
def test_errors(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)


def test_jit_and_eager_agree() -> None:
    run = lambda x, y, s: lax.scaled_dot(x, y, lhs_scale=s)
    s = jnp.arange(1.0, 7).reshape(3, 2)
    np.testing.assert_array_equal(run(X, Y, s), hloom.jit(run)(X, Y, s))
