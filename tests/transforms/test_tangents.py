"""Derivatives by integers, complex numbers and trees; what `vjp` and `linearize` return."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import float0, grad, jit, jvp, lax, linearize, value_and_grad, vjp, vmap
from hloom.errors import TangentError

KINDS = ["bool", "int8", "uint8", "int32", "uint32", "int16"]


def is_still(x: Any, shape: tuple[int, ...]) -> bool:
    """Whether `x` is zeros of float0 of this shape."""
    return isinstance(x, np.ndarray) and x.dtype == float0 and x.shape == shape


def scaled(n: Any) -> Any:
    return jnp.sum(n * 2.0)


def by_integer(n: Any) -> Any:
    return grad(scaled, allow_int=True)(n)


# ---- float0: integers and bools ------------------------------------------------------------------
def test_float0_is_the_dtype_that_jax_has() -> None:
    assert float0 is hloom.dtypes.float0
    assert float0 == np.dtype([("float0", np.void, 0)])
    assert float0.itemsize == 0
    assert not jnp.issubdtype(float0, np.floating)
    assert str(hloom.typeof(np.zeros((2, 3), float0))) == "float0[2,3]"


@pytest.mark.parametrize("dtype", KINDS)
def test_a_gradient_by_integers_is_float0(dtype: str) -> None:
    n = jnp.ones((2, 3), dtype)
    assert is_still(by_integer(n), (2, 3))
    assert is_still(vjp(scaled, n)[1](1.0)[0], (2, 3))
    assert is_still(jit(by_integer)(n), (2, 3))
    assert is_still(vmap(by_integer)(n), (2, 3))
    assert is_still(vmap(by_integer, in_axes=1)(n), (3, 2))
    assert is_still(vmap(by_integer, in_axes=1, out_axes=-1)(n), (2, 3))
    assert is_still(jit(vmap(by_integer))(n), (2, 3))
    assert is_still(vmap(jit(by_integer))(n), (2, 3))
    with pytest.raises(TypeError, match="allow_int=True"):
        grad(scaled)(n)


@pytest.mark.parametrize("n", [3, True, np.int8(3), np.array(3), jnp.array(3)])
def test_numbers_of_all_makes_have_float0_gradients(n: Any) -> None:
    assert is_still(by_integer(n), ())
    assert is_still(jit(by_integer)(n), ())


def test_gradients_of_trees_that_mix_integers_floats_and_complex_numbers() -> None:
    def loss(p: Any) -> Any:
        return jnp.sum(jnp.abs(p["z"] * p["x"]) ** 2 * p["n"])

    p = {"n": jnp.array([1, 2]), "x": 2.0, "z": jnp.complex64(1j)}
    for transformed in (grad, lambda f, **k: jit(grad(f, **k))):
        found = transformed(loss, allow_int=True)(p)
        assert is_still(found["n"], (2,))
        assert float(found["x"]) == 12.0
        assert complex(found["z"]) == -24j
    value, (found,) = value_and_grad(loss, (0,), allow_int=True)(p)
    assert float(value) == 12.0
    assert is_still(found["n"], (2,))
    found, aux = grad(lambda p: (loss(p), "aux"), has_aux=True, allow_int=True)(p)
    assert aux == "aux"
    assert is_still(found["n"], (2,))


def test_the_exponent_has_no_cotangent() -> None:
    y, pull = vjp(lambda x, n: x**n, 2.0, jnp.array(3))
    by_x, by_n = pull(1.0)
    assert (float(y), float(by_x)) == (8.0, 12.0)
    assert is_still(by_n, ())
    y, pull = vjp(jnp.power, jnp.array([2.0, 3.0]), jnp.array([3, 2]))
    by_x, by_n = pull(jnp.ones(2))
    assert by_x.tolist() == [12.0, 6.0]
    assert is_still(by_n, (2,))


def test_results_that_are_integers_have_float0_tangents() -> None:
    outs, tangents = jvp(lambda x: (x, x > 0, [jnp.int32(x)]), (jnp.ones(3),), (jnp.ones(3),))
    assert is_still(tangents[1], (3,))
    assert is_still(tangents[2][0], (3,))
    _, derivative = linearize(lambda x: (x, x > 0), jnp.ones(3))
    assert is_still(derivative(jnp.ones(3))[1], (3,))


@pytest.mark.parametrize("ct", [4, 4.0, np.float32(1), np.zeros((), float0)])
def test_a_result_that_is_an_integer_takes_any_cotangent_of_its_shape(ct: Any) -> None:
    assert is_still(vjp(lambda x: x * 2, 3)[1](ct)[0], ())
    (by_x,) = vjp(lambda x: (x * 2, x > 1), 3.0)[1]((1.0, ct))
    assert float(by_x) == 2.0
    with pytest.raises(TangentError, match=r"must have the shape of i32\[\]"):
        vjp(lambda x: x * 2, 3)[1](np.zeros(3, float0))


STILL = np.zeros((), float0)


@pytest.mark.parametrize("t", [0, 1, 1.5, True, jnp.ones(7, jnp.int32), np.zeros(2, float0)])
def test_a_tangent_of_an_integer_is_float0_of_its_shape_and_nothing_else(t: Any) -> None:
    with pytest.raises(TangentError, match=r"`n` must be float0\[\], since i32\[\] cannot move"):
        jvp(lambda n, x: n * x, (3, 2.0), (t, 1.0))
    with pytest.raises(TangentError, match="cannot move"):
        linearize(lambda n, x: n * x, 3, 2.0)[1](t, 1.0)


def test_float0_tangents_are_taken_in_all_places() -> None:
    f = lambda n, x: (n * x, n)  # noqa: E731
    pushed = lambda n, t: jvp(f, (n, 2.0), (t, 1.0))[1]  # noqa: E731
    for found in (
        pushed(3, STILL),
        jit(pushed)(3, STILL),
        linearize(f, 3, 2.0)[1](STILL, 1.0),
        jit(lambda n, t: linearize(f, n, 2.0)[1](t, 1.0))(3, STILL),
    ):
        assert float(found[0]) == 3.0
        assert is_still(found[1], ())
    moved, still = vmap(pushed)(jnp.arange(3), np.zeros(3, float0))
    assert moved.tolist() == [0.0, 1.0, 2.0]
    assert is_still(still, (3,))


def test_a_float_takes_no_float0() -> None:
    for call in (
        lambda: jvp(jnp.sin, (1.0,), (STILL,)),
        lambda: vjp(jnp.sin, 1.0)[1](STILL),
        lambda: linearize(jnp.sin, 1.0)[1](STILL),
    ):
        with pytest.raises(TangentError, match=r"must be f32\[\]; got float0\[\]"):
            call()


def test_float0_is_a_value_of_functions_that_are_transformed_again() -> None:
    out, tangent = jvp(by_integer, (3,), (STILL,))
    assert is_still(out, ())
    assert is_still(tangent, ())
    assert is_still(vjp(lambda t: t, np.zeros(2, float0))[1](np.zeros(2, float0))[0], (2,))
    assert is_still(jit(lambda t: t)(np.zeros((2, 3), float0)), (2, 3))
    assert is_still(jit(by_integer).lower(3).compile()(3), ())
    assert is_still(jit(lambda x, t: (x, t), donate_argnums=0)(jnp.ones(2), STILL)[1], ())
    assert hloom.eval_shape(by_integer, jnp.ones(3, int)) == hloom.ShapeDtypeStruct((3,), float0)
    # what is differentiated again is the second derivative's to say
    assert float(grad(lambda x: grad(lambda x, n: x**n)(x, 3))(2.0)) == 12.0


def test_float0_passes_through_control_flow() -> None:
    n, still = jnp.arange(3), np.zeros((3, 2), float0)
    assert is_still(lax.cond(True, by_integer, by_integer, 3), ())
    assert is_still(lax.map(by_integer, n), (3,))
    assert is_still(lax.scan(lambda c, i: (c, by_integer(i)), 0.0, n)[1], (3,))
    assert is_still(lax.scan(lambda c, x: (c, x[1]), 0.0, (n, still))[1], (3, 2))
    assert is_still(lax.scan(lambda c, x: (c, None), (0.0, still), n)[0][1], (3, 2))
    assert is_still(lax.fori_loop(0, 3, lambda i, c: (c[0] + 1, c[1]), (0, still))[1], (3, 2))
    with hloom.disable_jit():
        assert is_still(lax.scan(lambda c, i: (c, by_integer(i)), 0.0, n)[1], (3,))


def test_what_float0_is_when_it_is_taken_for_an_array() -> None:
    with pytest.raises(TypeError, match="float0 is the type of the derivative by an integer"):
        jnp.asarray(by_integer(3))
    for same in (hloom.device_put, hloom.device_get, hloom.block_until_ready, copy.deepcopy):
        assert is_still(same({"n": by_integer(3)})["n"], ())


# ---- tangents and cotangents of the wrong type ---------------------------------------------------
def test_what_is_no_array_is_named() -> None:
    for call in (
        lambda: jvp(jnp.sin, (1.0,), ("text",)),
        lambda: vjp(jnp.sin, 1.0)[1]("text"),
        lambda: vjp(lambda n: n, 1)[1]("text"),
        lambda: linearize(jnp.sin, 1.0)[1]("text"),
    ):
        with pytest.raises(TypeError, match="tangent.* is not an array: str 'text'"):
            call()


def test_zero_tangents_are_as_weak_as_their_values() -> None:
    for x, weak in ((1.0, True), (jnp.ones(()), False)):
        _, tangent = jvp(partial(jnp.multiply, x), (3,), (STILL,))
        assert tangent.weak_type == weak
        (ct,) = vjp(lambda x: 3.0, x)[1](1.0)
        assert ct.weak_type == weak


X = jnp.ones(3)
WRONG = [jnp.ones(1), jnp.ones(()), jnp.ones((3, 1)), jnp.ones(3, int), jnp.ones(3, "f2"), 1.0]


@pytest.mark.parametrize("t", [*WRONG, (X, X), 1j * X])
def test_tangents_of_another_type_raise_what_is_a_type_error_and_a_value_error(t: Any) -> None:
    for call in (
        lambda: jvp(lambda x: x[:-1], (X,), (t,)),
        lambda: vjp(lambda x: x * 2, X)[1](t),
        lambda: linearize(lambda x: x * 2, X)[1](t),
    ):
        with pytest.raises(TypeError):
            call()
        with pytest.raises(ValueError, match=r"must|structure"):
            call()


@pytest.mark.parametrize("t", [2, 2.0, np.float32(2), jnp.asarray(2.0), jnp.asarray(2.0) * 1])
def test_python_numbers_take_the_type_of_the_value(t: Any) -> None:
    for dtype in ("float32", "float16", "bfloat16", "complex64"):
        if isinstance(t, np.float32) and dtype != "float32":
            continue
        x = jnp.ones((), dtype)
        _, tangent = jvp(lambda x: 3 * x, (x,), (t,))
        assert tangent.dtype == x.dtype
        assert complex(tangent) == 3 * complex(t)
    with pytest.raises(TangentError):
        jvp(lambda x: x, (1.0,), (2j,))


@pytest.mark.parametrize("nothing", [(), [], None, {}])
def test_grad_of_a_function_without_a_result_is_refused(nothing: Any) -> None:
    for transformed in (grad, value_and_grad, lambda f: jit(grad(f))):
        with pytest.raises(TypeError, match="one 0-d value"):
            transformed(lambda x: nothing)(1.0)
    with pytest.raises(TypeError, match="one 0-d value"):
        grad(lambda x: (nothing, x), has_aux=True)(1.0)


# ---- complex numbers ----------------------------------------------------------------------------
REAL_LOSSES = {
    "abs squared": lambda z: jnp.abs(z) ** 2,
    "real": lambda z: (z * z).real,
    "imag": lambda z: (z * z).imag,
    "angle": jnp.angle,
    "product": lambda z: (z * jnp.conj(z) * jnp.exp(z)).real,
}


@pytest.mark.parametrize("name", REAL_LOSSES)
def test_the_gradient_of_a_real_loss_is_the_cotangent_of_one(name: str) -> None:
    loss, at = REAL_LOSSES[name], 1 + 2j
    with hloom.enable_x64():
        step = 1e-6
        by_real = (loss(at + step) - loss(at - step)) / (2 * step)
        by_imag = (loss(at + step * 1j) - loss(at - step * 1j)) / (2 * step)
        slope = complex(by_real) - 1j * complex(by_imag)
        for found in (
            grad(loss)(at),
            jit(grad(loss))(at),
            value_and_grad(loss)(at)[1],
            vmap(grad(loss))(jnp.array([at]))[0],
            vjp(loss, at)[1](1.0)[0],
        ):
            assert found.dtype == np.complex128
            np.testing.assert_allclose(complex(found), slope, rtol=1e-8)


def test_of_complex_inputs_only_a_complex_result_needs_holomorphic() -> None:
    z = jnp.complex64(1 + 2j)
    at_one = complex(grad(lambda z: jnp.abs(z) ** 2)(1 + 1j))
    np.testing.assert_allclose(at_one, 2 - 2j, rtol=1e-6)  # the square of a root
    np.testing.assert_allclose(
        complex(grad(jnp.exp, holomorphic=True)(z)), np.exp(1 + 2j), rtol=1e-6
    )
    for wrong in (
        lambda: grad(lambda z: z * z)(z),
        lambda: grad(lambda x: x + 1j)(1.0),
        lambda: grad(jnp.exp, holomorphic=True)(1.0),
        lambda: grad(jnp.abs, holomorphic=True)(z),
    ):
        with pytest.raises(TypeError, match=r"holomorphic|complex"):
            wrong()


# ---- what vjp and linearize return --------------------------------------------------------------
def cube(x: Any) -> Any:
    return x * x * x


def test_derivatives_cross_jit_both_ways() -> None:
    assert float(jit(lambda x: linearize(cube, x)[1])(2.0)(3.0)) == 36.0
    assert float(jit(lambda f, x: f(x))(linearize(cube, 2.0)[1], 3.0)) == 36.0
    assert float(jit(lambda x: vjp(cube, x)[1])(2.0)(3.0)[0]) == 36.0
    assert float(jit(lambda f, x: f(x))(vjp(cube, 2.0)[1], 3.0)[0]) == 36.0
    twice = jit(lambda x: (linearize(cube, x)[1], vjp(cube, x)[1]))
    for x in (1.0, 2.0):  # the second comes from the cache
        derivative, pull = twice(x)
        assert float(derivative(1.0)) == float(pull(1.0)[0]) == 3 * x * x


def test_derivatives_cross_vmap_cond_and_scan() -> None:
    pulls = vmap(lambda x: vjp(cube, x)[1])(jnp.arange(3.0))
    assert vmap(lambda f: f(1.0)[0])(pulls).tolist() == [0.0, 3.0, 12.0]
    derivative = linearize(cube, 2.0)[1]
    assert float(lax.cond(True, lambda f: f(1.0), lambda f: 0.0, derivative)) == 12.0
    (last, _), _ = lax.scan(lambda c, _: ((c[1](c[0]), c[1]), None), (1.0, derivative), length=2)
    assert float(last) == 144.0
    assert float(grad(lambda t: derivative(t))(1.0)) == 12.0


def test_the_leaves_of_a_derivative_are_its_residuals() -> None:
    derivative = linearize(lambda x: jnp.sin(x) * X, X)[1]
    leaves, treedef = hloom.tree.flatten(derivative)
    assert leaves
    assert all(isinstance(x, hloom.Array) for x in leaves)
    doubled = hloom.tree.map(lambda x: 2 * x, linearize(lambda x: X * x, X)[1])
    assert doubled(X).tolist() == [2.0, 2.0, 2.0]
    assert hloom.tree.structure(hloom.tree.unflatten(treedef, leaves)) == treedef
    assert repr(derivative) == "<Derivative of a function from (f32[3]) to (f32[3])>"


def test_linearize_and_vjp_with_aux() -> None:
    def f(x: Any) -> Any:
        return x * x, {"n": x + 1, "text": "kept"}

    for transformed, apply in ((linearize, lambda f: f(1.0)), (vjp, lambda f: f(1.0)[0])):
        y, derivative, aux = transformed(f, 3.0, has_aux=True)
        assert (float(y), float(apply(derivative))) == (9.0, 6.0)
        assert (float(aux["n"]), aux["text"]) == (4.0, "kept")


# ---- trees ---------------------------------------------------------------------------------------
class Holder:
    """A node whose constructor makes an array of what it is given."""

    def __init__(self, a: Any):
        self.a = jnp.asarray(a)


hloom.tree_util.register_pytree_node(Holder, lambda t: ((t.a,), None), lambda _, c: Holder(*c))


def test_nodes_whose_constructor_makes_arrays_are_transformed() -> None:
    x = jnp.arange(3.0)
    assert vmap(lambda x: x)(Holder(x)).a.tolist() == [0.0, 1.0, 2.0]
    assert vmap(Holder)(x).a.tolist() == [0.0, 1.0, 2.0]
    assert jvp(lambda h: h, (Holder(x),), (Holder(x),))[1].a.tolist() == [0.0, 1.0, 2.0]
    assert linearize(lambda h: h, Holder(x))[1](Holder(x)).a.tolist() == [0.0, 1.0, 2.0]
    assert grad(lambda h: h.a.sum())(Holder(x)).a.tolist() == [1.0, 1.0, 1.0]
    assert jit(vmap(lambda h: h))(Holder(x)).a.tolist() == [0.0, 1.0, 2.0]


def test_vmap_passes_on_what_it_does_not_map() -> None:
    two = jnp.ones(2)
    want = np.sin(np.ones(2, np.float32)).tolist()
    call = lambda g, x: g(x)  # noqa: E731
    np.testing.assert_allclose(vmap(call, in_axes=(None, 0))(jnp.sin, two), want, rtol=1e-6)
    pick = lambda g, x: g["f"](x) if g["on"] == "yes" else x  # noqa: E731
    found = vmap(pick, in_axes=(None, 0))({"f": jnp.sin, "on": "yes"}, two)
    np.testing.assert_allclose(found, want, rtol=1e-6)
    found = vmap(pick, in_axes=({"f": None, "on": None}, 0))({"f": jnp.sin, "on": "yes"}, two)
    np.testing.assert_allclose(found, want, rtol=1e-6)
    with pytest.raises(TypeError, match=r"vmap\(.*\): argument `g` is not an array"):
        vmap(call)(jnp.sin, two)


def test_vmap_knows_no_mesh() -> None:
    assert vmap(jnp.sin, spmd_axis_name=None)(jnp.zeros(2)).tolist() == [0.0, 0.0]
    with pytest.raises(NotImplementedError, match="spmd_axis_name='batch'"):
        vmap(jnp.sin, spmd_axis_name="batch")


def test_errors_name_leaves_by_the_keys_that_classes_give() -> None:
    @hloom.tree_util.register_pytree_with_keys_class
    class Layer:
        def __init__(self, w: Any):
            self.w = w

        def tree_flatten_with_keys(self) -> Any:
            return ((hloom.tree_util.GetAttrKey("w"), self.w),), None

        @classmethod
        def tree_unflatten(cls, _: Any, children: Any) -> Layer:
            return cls(*children)

    for call, name in (
        (lambda: grad(lambda p: p.w)(Layer("text")), r"`p\.w`"),
        (lambda: vmap(lambda p: p)(Layer("text")), r"`p\.w`"),
        (lambda: jit(lambda p: p)(Layer("text")), r"`p\.w`"),
        (lambda: jit(lambda x: Layer("text"))(1.0), r"result\.w"),
        (lambda: jit(lambda x: [Holder(x), "text"])(1.0), r"result\[1\]"),
        (lambda: vmap(lambda h, x: x)(Holder(1.0), X), r"`h\[<flat index 0>\]`"),
    ):
        with pytest.raises((TypeError, ValueError), match=name):
            call()
