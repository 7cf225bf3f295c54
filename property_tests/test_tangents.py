"""Trees that mix floats, complex numbers, integers and bools, differentiated in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import hloom
import hloom.numpy as jnp
from hloom import float0, tree
from hloom.transforms.tangents import moves

DTYPES = ["bool", "int8", "uint16", "int32", "float16", "bfloat16", "float32", "complex64"]


def array(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2 if dtype == "bool" else 3, shape) + 1j * rng.integers(0, 3, shape)
    return jnp.asarray(values if dtype == "complex64" else values.real).astype(dtype)


ARRAYS = st.builds(
    array, st.sampled_from(DTYPES), st.sampled_from([(), (2,), (0,), (2, 3)]), st.integers(0, 99)
)
TREES = st.recursive(
    ARRAYS,
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from("abc"), x, max_size=3),
    max_leaves=6,
)


def energy(p: Any) -> Any:
    """A real number, and beside it what has no derivative."""
    leaves = [jnp.abs(x.astype("complex64")) ** 2 for x in tree.leaves(p)]
    return sum((x.sum() for x in leaves), jnp.float32(0)), [x > 0 for x in leaves]


def along(p: Any) -> Any:
    """A tangent: the value itself where it can move."""
    return tree.map(lambda x: x if moves(x) else np.zeros(x.shape, float0), p)


@given(TREES)
def test_tangents_and_cotangents_have_the_types_of_their_values(p: Any) -> None:
    (_, above), (slope, still) = hloom.jvp(energy, (p,), (along(p),))
    assert all(t.dtype == float0 and t.shape == x.shape for t, x in zip(still, above))
    _, pull = hloom.vjp(energy, p)
    (found,) = pull((1.0, along(above)))
    assert tree.structure(found) == tree.structure(p)
    total = 0.0
    for x, ct, t in zip(*map(tree.leaves, (p, found, along(p)))):
        assert ct.shape == x.shape
        assert ct.dtype == (x.dtype if moves(x) else float0)
        if moves(x):
            total += float((np.asarray(ct, "c16") * np.asarray(t, "c16")).real.sum())
    # halves round to three digits, and up to 36 of them are summed
    np.testing.assert_allclose(total, float(slope), rtol=0.05, atol=1e-3)
    _, derivative = hloom.linearize(energy, p)
    np.testing.assert_allclose(derivative(along(p))[0], slope, rtol=1e-5)
    grads = hloom.grad(energy, has_aux=True, allow_int=True)(p)[0]
    for one, other in zip(tree.leaves(grads), tree.leaves(found)):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)


@given(TREES)
def test_what_is_differentiated_crosses_jit_and_vmap(p: Any) -> None:
    derivative = hloom.linearize(energy, p)[1]
    want = derivative(along(p))[0]
    crossed = hloom.jit(lambda f, t: f(t))(derivative, along(p))[0]
    np.testing.assert_allclose(crossed, want, rtol=1e-5)
    stacked = tree.map(lambda x: jnp.stack([x, x]), p)
    grads = hloom.vmap(lambda p: hloom.grad(energy, has_aux=True, allow_int=True)(p)[0])
    if tree.leaves(p):
        for x, g in zip(tree.leaves(p), tree.leaves(grads(stacked))):
            assert g.shape == (2, *x.shape)
            assert g.dtype == (x.dtype if moves(x) else float0)
