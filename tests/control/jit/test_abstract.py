"""Types in place of arrays, and keyword parameters that programs written for JAX pass."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import ShapeDtypeStruct, eval_shape, jit, make_jaxpr


class Lazy:
    """What some libraries have in place of an array that is not loaded yet."""

    shape = (3,)
    dtype = "float32"


KNOWN_BY_TYPE = [
    Lazy(), SimpleNamespace(shape=(3,), dtype=np.dtype("f4")),
    SimpleNamespace(shape=[3], dtype=jnp.float32), ShapeDtypeStruct((3,), "float32"),
    hloom.typeof(jnp.ones(3)), np.ones(3), np.ones(3, "f"), jnp.ones(3),
]  # fmt: skip


def double(x: Any) -> Any:
    return {"twice": x * 2, "sum": x.sum()}


WANT = {"twice": ShapeDtypeStruct((3,), "float32"), "sum": ShapeDtypeStruct((), "float32")}


@pytest.mark.parametrize("x", KNOWN_BY_TYPE, ids=lambda x: type(x).__name__)
def test_arguments_known_by_shape_and_dtype_only(x: Any) -> None:
    assert eval_shape(double, x) == WANT
    assert eval_shape(jit(double), x) == WANT
    assert jit(double).eval_shape(x) == WANT
    assert jit(double).lower(x).out_info == WANT
    assert jit(double).trace(x).out_info == WANT
    assert make_jaxpr(double, return_shape=True)(x)[1] == WANT
    assert eval_shape(lambda p: double(p["x"][0]), {"x": [x]}) == WANT
    compiled = jit(double).lower(x).compile()
    assert compiled(jnp.ones(3))["twice"].tolist() == [2.0, 2.0, 2.0]


def test_64_bit_types_are_narrowed_as_those_of_arrays() -> None:
    x = SimpleNamespace(shape=(2,), dtype=np.dtype("i8"))
    assert eval_shape(lambda x: x, x).dtype == np.int32
    with hloom.enable_x64():
        assert eval_shape(lambda x: x, x).dtype == np.int64


def test_weak_types_of_structs() -> None:
    weak = ShapeDtypeStruct((), "float32", weak_type=True)
    assert eval_shape(lambda x: x * jnp.ones(2, "float16"), weak).dtype == np.float16
    assert eval_shape(lambda x: x, 1.0) == weak
    assert repr(weak) == "ShapeDtypeStruct(shape=(), dtype=float32, weak_type=True)"


@pytest.mark.parametrize("x", ["text", None.__class__, SimpleNamespace(shape=(2,))])
def test_what_has_no_type_is_refused(x: Any) -> None:
    for call in (eval_shape, lambda f, x: jit(f).lower(x), lambda f, x: make_jaxpr(f)(x)):
        with pytest.raises(TypeError, match="is not an array"):
            call(lambda x: x, x)
    with pytest.raises(TypeError, match="no dates"):
        eval_shape(lambda x: x, SimpleNamespace(shape=(2,), dtype=np.dtype("M8[s]")))


@pytest.mark.parametrize("x", KNOWN_BY_TYPE[:4], ids=lambda x: type(x).__name__)
def test_what_has_a_type_but_no_values_is_not_computed_with(x: Any) -> None:
    for call in (jit(jnp.sin), hloom.grad(jnp.sum), hloom.vmap(jnp.sin)):
        with pytest.raises(TypeError, match="is not an array"):
            call(x)


# ---- where arrays are ---------------------------------------------------------------------------
def test_structs_and_types_say_where_arrays_are() -> None:
    there = jnp.ones(2).sharding
    assert hloom.typeof(jnp.ones(2)).sharding == there
    assert hloom.typeof(1.0).sharding == there
    struct = ShapeDtypeStruct((2,), "float32", sharding=there)
    assert struct.sharding == there
    assert struct != ShapeDtypeStruct((2,), "float32")
    assert hash(struct) == hash(ShapeDtypeStruct((2,), "float32", sharding=there))
    assert "sharding=SingleDeviceSharding(" in repr(struct)
    assert struct.update(shape=(4,)) == ShapeDtypeStruct((4,), "float32", sharding=there)
    assert eval_shape(lambda x: x, struct) == ShapeDtypeStruct((2,), "float32")
    with pytest.raises(ValueError, match="ShapeDtypeStruct: no device 'gpu'"):
        ShapeDtypeStruct((2,), "float32", sharding="gpu")


# ---- keyword parameters -------------------------------------------------------------------------
def test_jit_takes_shardings_of_the_device_there_is() -> None:
    there = jnp.ones(2).sharding
    for shardings in (None, there, (there, None), {"x": there}):
        f = jit(lambda x: x + 1, in_shardings=shardings, out_shardings=shardings)
        assert float(f(1.0)) == 2.0
    assert float(jit(in_shardings=None)(lambda x: x + 1)(1.0)) == 2.0
    for keywords in ({"in_shardings": "gpu"}, {"out_shardings": (None, "gpu")}):
        with pytest.raises(ValueError, match="_shardings: no device 'gpu'"):
            jit(jnp.sin, **keywords)
        with pytest.raises(ValueError, match="no device"):
            jit(**keywords)(jnp.sin)


def test_options_that_nothing_here_could_heed_are_refused() -> None:
    assert float(jit(lambda x: x, compiler_options={})(1.0)) == 1.0
    with pytest.raises(NotImplementedError, match="compiler_options="):
        jit(jnp.sin, compiler_options={"xla_backend_optimization_level": 0})
    assert make_jaxpr(jnp.sin, axis_env=None)(1.0)
    with pytest.raises(NotImplementedError, match="axis_env="):
        make_jaxpr(jnp.sin, axis_env=[("i", 2)])


def test_x64_enabled_is_another_name_of_the_option() -> None:
    assert not hloom.config.x64_enabled
    with hloom.enable_x64():
        assert hloom.config.x64_enabled


# ---- positions among *args ----------------------------------------------------------------------
def test_negative_positions_among_args_count_from_the_end_of_the_call() -> None:
    f = jit(lambda *xs: (xs[:-1], type(xs[-1]).__name__), static_argnums=-1)
    g = jit(lambda *xs: xs[0] if xs[-1] == "first" else xs[1], static_argnums=(-1,))
    assert int(g(1, 2, "first")) == 1
    assert int(g(1, 2, 3, "other")) == 2
    assert int(g(7, "first")) == 7
    with pytest.raises(TypeError, match="must return arrays"):
        f(1, 2)
    donating = jit(lambda *xs: xs[0] + xs[-1], donate_argnums=-1)
    x, y = jnp.ones(2), jnp.ones(2)
    assert donating(x, y).tolist() == [2.0, 2.0]
    assert y.is_deleted()
    assert not x.is_deleted()


def test_a_position_before_all_arguments_is_told_by_the_call() -> None:
    f = jit(lambda *a: 1, static_argnums=(0, -999))
    with pytest.raises(ValueError, match="static_argnums has -999, but the call has 2 positional"):
        f(1, 2)
    with pytest.raises(ValueError, match="static_argnums=-3 has -3, but the function takes 2"):
        jit(lambda a, b: a, static_argnums=-3)


def test_eval_shape_of_a_function_that_passes_types_to_a_jitted_one() -> None:
    struct = ShapeDtypeStruct((3,), "float32")
    inner = jit(lambda x, y: {"x": x * y})
    want = {"x": ShapeDtypeStruct((3,), "float32")}
    assert eval_shape(lambda y: inner(struct, y), 2.0) == want
    assert eval_shape(lambda y: inner(Lazy(), y), 2.0) == want
    assert eval_shape(jit(lambda y: inner(struct, y)), 2.0) == want
    slope = hloom.grad(lambda y: inner(struct, y)["x"].sum())
    assert eval_shape(slope, 2.0).shape == ()
    rows = np.ones(3, "f")
    mixed = lambda s: inner(s, rows)["x"] * inner(rows, 2)["x"].sum()  # noqa: E731
    assert eval_shape(lambda y: mixed(struct) * y, 2.0) == want["x"]
    outer = jit(lambda y: inner(struct, y))
    with pytest.raises(TypeError, match=r"the type f32\[3\] in place of an array"):
        outer(2.0)
    with pytest.raises(TypeError, match="is not an array"):
        inner(struct, 2.0)
    assert inner(jnp.ones(3), 2.0)["x"].tolist() == [2.0, 2.0, 2.0]
