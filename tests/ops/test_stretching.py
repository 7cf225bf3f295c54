"""Axes of size 1: the elementwise functions of lax repeat them beside operands of their rank."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, lax
from hloom.core.primitive import UndefinedPrimal
from hloom.ops.pointwise.arithmetic import mul_p

FLOATS = [
    "add", "sub", "mul", "div", "max", "min", "pow", "rem", "floor_divide", "mod", "atan2", "hypot",
    "nextafter", "igamma", "igammac", "igamma_grad_a", "random_gamma_grad", "polygamma", "zeta",
    "complex", "betainc", "eq", "ne", "lt", "le", "gt", "ge",
]  # fmt: skip
INTEGERS = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right_arithmetic",
    "shift_right_logical", "mulhi", "gcd", "add", "pow",
]  # fmt: skip
SMOOTH = ["add", "sub", "mul", "div", "max", "min", "pow", "atan2", "hypot", "complex", "rem"]
SHAPES = [((3, 4), (3, 1)), ((3, 1), (1, 4)), ((1, 1), (3, 4)), ((1,), (0,)), ((2, 0), (2, 1))]


def operands(name, shapes, dtype="float32"):
    rng = np.random.default_rng(len(name))
    shapes = (*shapes, shapes[0]) if name == "betainc" else shapes
    if dtype == "int32":
        return [rng.integers(0, 9, shape).astype(dtype) for shape in shapes]
    return [rng.uniform(0.1, 0.9, shape).astype(dtype) for shape in shapes]


def spread(arrays):
    """The operands as they are after NumPy's broadcasting: what a strict function always took."""
    return [np.array(x) for x in np.broadcast_arrays(*arrays)]


CALLS = [(n, "float32") for n in FLOATS] + [(n, "int32") for n in INTEGERS]


# What repeats an operand never looks at the function: it alone is tried with every layout.
LAYOUTS = [(*CALLS[0], shapes) for shapes in SHAPES] + [(*call, SHAPES[1]) for call in CALLS[1:]]


@pytest.mark.parametrize(("name", "dtype", "shapes"), LAYOUTS, ids=str)
def test_axes_of_size_one_go_with_any_size(name, dtype, shapes):
    fun, arrays = getattr(lax, name), operands(name, shapes, dtype)
    expected = fun(*spread(arrays))
    assert expected.shape == np.broadcast_shapes(*shapes)
    np.testing.assert_array_equal(fun(*arrays), expected)
    np.testing.assert_array_equal(hloom.jit(fun)(*arrays), hloom.jit(fun)(*spread(arrays)))


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize(("name", "dtype"), CALLS)
def test_other_engines_say_the_same(name, dtype, engine):
    fun, arrays = getattr(lax, name), operands(name, ((3, 1), (1, 4)), dtype)
    with hloom.engine(engine):
        np.testing.assert_array_equal(fun(*arrays), fun(*spread(arrays)))


def total(fun):
    return lambda *xs: jnp.sum(jnp.abs(fun(*xs) * jnp.arange(12.0).reshape(3, 4)))


@pytest.mark.parametrize("shapes", SHAPES[:3], ids=str)
@pytest.mark.parametrize("name", SMOOTH)
def test_cotangents_are_summed_back(name, shapes):
    fun, arrays = getattr(lax, name), operands(name, shapes)
    places = tuple(range(len(arrays)))
    given = hloom.grad(total(fun), places)(*arrays)
    wanted = hloom.grad(lambda *xs: total(fun)(*jnp.broadcast_arrays(*xs)), places)(*arrays)
    for ours, theirs, x in zip(given, wanted, arrays):
        assert ours.shape == x.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)  # two orders of one sum


@pytest.mark.parametrize("name", SMOOTH)
def test_tangents_are_spread(name):
    fun, arrays = getattr(lax, name), operands(name, ((3, 1), (1, 4)))
    for given in [(0,), (1,), (0, 1)]:
        tangents = [np.full_like(x, i in given) for i, x in enumerate(arrays)]
        out = hloom.jvp(fun, arrays, tangents)
        wanted = hloom.jvp(fun, spread(arrays), spread(tangents))
        for ours, theirs in zip(out, wanted):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("in_axes", [(0, None), (None, 1), (0, 1), (2, 0), (1, 2)])
@pytest.mark.parametrize("name", ["add", "max", "lt", "pow", "complex"])
def test_vmap_is_a_loop(name, in_axes):
    fun = getattr(lax, name)
    full = operands(name, ((3, 1), (1, 4)))
    stacked = [
        x if a is None else np.stack([x + i for i in range(5)], a) for x, a in zip(full, in_axes)
    ]
    together = hloom.vmap(fun, in_axes)(*stacked)
    for i in range(5):
        one = [x if a is None else x.take(i, a) for x, a in zip(stacked, in_axes)]
        np.testing.assert_array_equal(together[i], fun(*one))


def test_vmap_of_scalars_beside_an_array_with_an_axis_of_size_one():
    x, scalars = jnp.arange(3.0).reshape(3, 1), jnp.arange(2.0)
    result = hloom.vmap(lambda s: lax.add(lax.mul(x, s), jnp.ones((1, 4))))(scalars)
    np.testing.assert_array_equal(result, [x * s + np.ones((1, 4)) for s in (0.0, 1.0)])


def test_an_eager_call_is_one_program():
    x, y = jnp.ones((3, 1)), jnp.ones((1, 4))
    text = hloom.jit(lax.add).lower(x, y).as_text()
    assert text.count("stablehlo.broadcast_in_dim") == 2
    assert str(hloom.make_jaxpr(lax.add)(x, y)).count("broadcast") == 0


def test_a_linear_transpose_sums():
    c, ct = jnp.arange(12.0).reshape(3, 4), jnp.ones((3, 4))
    for x, kept in [(jnp.ones((3, 1)), (1,)), (jnp.ones((1, 4)), (0,)), (jnp.ones(()), (0, 1))]:
        back, _ = mul_p.transpose(ct, UndefinedPrimal(x.aval), c)
        np.testing.assert_array_equal(back, c.sum(kept).reshape(x.shape))


o = np.ones
REFUSED = [
    (lambda: lax.add(o((2, 4)), o((3, 4))), "along axis 0 the sizes 2 and 3"),
    (lambda: lax.add(o(2), o(0)), "the sizes 0 and 2"),
    (lambda: lax.add(o(4), o((3, 4))), "hloom.numpy.add"),
    (lambda: lax.pow(o(4), o((3, 4), int)), "hloom.numpy.power"),
    (lambda: lax.betainc(o(4), o((1, 4)), o(4)), "one rank"),
    (lambda: lax.select(o((3, 4), bool), o((3, 1)), o((3, 4))), "hloom.numpy.where"),
    (lambda: lax.select(o((3, 1), bool), o((3, 4)), o((3, 4))), "hloom.numpy.where"),
    (lambda: lax.clamp(o((3, 1)), o((3, 4)), o((3, 1))), "hloom.numpy.clip"),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_other_sizes_and_ranks_are_refused(call, text):
    for run in (call, hloom.jit(call)):
        with pytest.raises(errors.ShapeError, match=text) as caught:
            run()
        assert isinstance(caught.value, TypeError)
        assert isinstance(caught.value, ValueError)
