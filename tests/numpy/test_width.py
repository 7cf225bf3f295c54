"""64-bit Arrays where 64-bit types are off: they, and what is computed from them, keep 64 bits."""

import operator

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp

BIG = 2**40 + 1
FLOATS = np.array([[1 / 3, -2e100, 0.0], [-0.0, np.inf, 1e-200]])
INTEGERS = np.array([[BIG, -BIG, 3], [0, 7, 2**62]])
SIGNED_ZERO = np.array([1e300, -0.0, 1 / 3])


def wide(x):
    """An Array made where 64-bit types are on, used where they are off."""
    with hloom.enable_x64():
        return jnp.asarray(x)


def same(got, expected):
    got, expected = hloom.tree.leaves(got), [np.asarray(x) for x in hloom.tree.leaves(expected)]
    for x, y in zip(got, expected, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_max_ulp(np.asarray(x), y, 4) if y.dtype.kind == "f" else (
            np.testing.assert_array_equal(np.asarray(x), y)
        )


OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, divmod,
]  # fmt: skip


@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("other", [3, BIG, np.int64(BIG)], ids=["int", "large", "int64"])
def test_operators_of_integers(f, other):
    """A Python or NumPy integer of any size beside a 64-bit array, on either side."""
    x = INTEGERS[:1]
    same(f(wide(x), other), f(x, other))
    same(f(other, wide(x)), f(other, x))
    same(hloom.jit(f)(wide(x), wide(other)), f(x, np.int64(other)))
    same(hloom.jit(lambda y: f(y, other))(wide(x)), f(x, other))


@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
def test_operators_of_floats(f):
    with np.errstate(all="ignore"):
        same(f(wide(FLOATS), 0.1), f(FLOATS, 0.1))
        same(f(0.1, wide(FLOATS)), f(0.1, FLOATS))
        same(f(wide(FLOATS), wide(INTEGERS)), f(FLOATS, INTEGERS))
        same(f(wide(FLOATS), jnp.float32(0.5)), f(FLOATS, 0.5))


NAMES = (
    "add negative absolute sign sqrt exp sin maximum minimum sum prod mean std var max min argmax "
    "cumsum cumprod sort argsort median unique ravel transpose flip diff isfinite isnan floor rint "
    "zeros_like ones_like concatenate stack hstack where clip power dot matmul outer nansum ptp "
    "union1d intersect1d setdiff1d trace tile repeat roll round percentile average"
).split()
MORE = {
    "add": (1,), "maximum": (2,), "minimum": (2,), "power": (2,), "clip": (0, BIG), "tile": (2,),
    "repeat": (2,), "roll": (1,), "percentile": (25,),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("x", [np.array([[3.0, 1 / 3], [2e100, 0.25]]), INTEGERS[:, :2]], ids="fi")
def test_functions(name, x):
    """One function of every kind; only the index dtypes differ from NumPy's, which are as wide."""
    f, expected = getattr(jnp, name), getattr(np, name)
    arguments = MORE.get(name, ())
    with np.errstate(all="ignore"):
        same(*_both(name, f, expected, x, arguments))


def _both(name, f, expected, x, arguments):
    """What hloom and NumPy give."""
    if name in ("concatenate", "stack", "hstack"):
        return f([wide(x), wide(x)]), expected([x, x])
    if name == "where":
        return f(x > 1, wide(x), 0), expected(x > 1, x, 0)
    if name in ("dot", "matmul", "outer", "union1d", "intersect1d", "setdiff1d"):
        return f(wide(x), wide(x)), expected(x, x)
    return f(wide(x), *arguments), expected(x, *arguments)


def test_sequences_and_like():
    same(jnp.array([wide(1 / 3), wide(0.1)]), np.array([1 / 3, 0.1]))
    same(jnp.full_like(wide(INTEGERS), BIG), np.full_like(INTEGERS, BIG))
    same(jnp.insert(wide(INTEGERS[0]), 1, BIG), np.insert(INTEGERS[0], 1, BIG))


def test_ranges():
    big, third = wide(BIG), wide(1 / 3)
    same(jnp.arange(big, big + 3), np.arange(BIG, BIG + 3))
    same(jnp.linspace(third, 2, 5), np.linspace(1 / 3, 2, 5))
    same(jnp.geomspace(third, 2, 5), np.geomspace(1 / 3, 2, 5))
    same(hloom.lax.full_like(big, BIG + 1), np.array(BIG + 1))
    assert jnp.array_equal(big, BIG) and jnp.allclose(big, BIG)


def test_updates_and_reading():
    x = wide(INTEGERS)
    expected = INTEGERS.copy()
    expected[0, 1] = BIG + 5
    same(x.at[0, 1].set(BIG + 5), expected)
    same(x.at[:, 0].add(1)[:, 0], INTEGERS[:, 0] + 1)
    same(wide(BIG)[None].at[0].add(2**50), np.array([BIG + 2**50]))
    same(x[x > 5], INTEGERS[INTEGERS > 5])
    assert int(x[0, 0]) == BIG and x[0, 0] == BIG and BIG in x


def test_transformed():
    x = wide(SIGNED_ZERO)
    same(hloom.grad(lambda v: (v * v).sum())(x), 2 * SIGNED_ZERO)
    same(hloom.vmap(lambda v: v + 0.1)(x), SIGNED_ZERO + 0.1)
    same(
        hloom.jit(lambda v: jnp.where(v > 0, v / 3, 0.1))(x),
        np.where(SIGNED_ZERO > 0, SIGNED_ZERO / 3, 0.1),
    )
    same(hloom.jit(hloom.vmap(hloom.grad(lambda v: v * 0.1)))(x), np.full(3, 0.1))


def test_the_switch_still_rules_new_values():
    assert jnp.asarray(INTEGERS % 5).dtype == np.int32
    assert wide(FLOATS).astype(jnp.int32).dtype == np.int32
    assert wide(FLOATS).astype("float64").dtype == np.float64  # what it has
    assert (jnp.ones(2) + 1).dtype == np.float32
