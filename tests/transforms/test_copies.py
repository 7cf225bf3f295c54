"""A copy has a buffer of its own, and is a new value under transformations too."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import grad, jit, jvp, lax, linearize, make_jaxpr, vjp, vmap

COPIES: dict[str, Callable[[Any], Any]] = {
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "x.copy": lambda x: x.copy(),
    "x.clone": lambda x: x.clone(),
    "jnp.copy": jnp.copy,
    "jnp.array": jnp.array,
    "jnp.array(copy=True)": lambda x: jnp.array(x, copy=True),
    "jnp.asarray(copy=True)": lambda x: jnp.asarray(x, copy=True),
    "x.astype(copy=True)": lambda x: x.astype(x.dtype, copy=True),
    "lax.copy": lax.copy,
    "device_put": lambda x: hloom.device_put(x, may_alias=False),
    "device_put of a tree": lambda x: hloom.device_put({"x": x}, may_alias={"x": False})["x"],
}
DTYPES = ["float32", "bfloat16", "float8_e4m3fn", "int8", "int4", "bool", "complex64"]


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_outlives_what_it_was_copied_from(name: str) -> None:
    for dtype in DTYPES:
        x = jnp.ones((2, 3), dtype)
        y = COPIES[name](x)
        x.delete()
        assert y.dtype == dtype
        assert np.asarray(y).tolist() == np.ones((2, 3), y.dtype).tolist()
    x = jnp.ones(3)
    y = COPIES[name](x)
    jit(lambda x: x * 2, donate_argnums=0)(x)
    assert x.is_deleted()
    assert (y + 1).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_a_new_value_under_transformations(name: str) -> None:
    fun, x = COPIES[name], jnp.arange(3.0)
    for given, made in (
        (x, jvp(fun, (x,), (x,))[0]),
        (x, jvp(fun, (x,), (x,))[1]),
        (x, vmap(fun)(x)),
        (x, vjp(fun, x)[0]),
        (x, linearize(fun, x)[0]),
        (x, jit(fun)(x)),
        (x, grad(lambda x: fun(x) @ x / 2)(x)),
    ):
        assert made is not given
        assert made.unsafe_buffer_pointer() != given.unsafe_buffer_pointer()
        assert made.tolist() == [0.0, 1.0, 2.0]
    assert [e.primitive.name for e in make_jaxpr(fun)(x).eqns] == ["copy"]


def test_a_copy_of_a_weakly_typed_array_is_one() -> None:
    for x in (jnp.asarray(2.0), jnp.asarray(2.0) * 1):
        for y in (copy.copy(x), copy.deepcopy(x), jnp.copy(x), x.copy()):
            assert y.weak_type
            assert float(y) == 2.0


def test_copies_in_a_program_that_donates() -> None:
    f = jit(lambda x: (copy.copy(x), x + 1, jnp.array(x)), donate_argnums=0)
    one, two, three = f(jnp.arange(3.0))
    assert one.tolist() == three.tolist() == [0.0, 1.0, 2.0]
    assert len({x.unsafe_buffer_pointer() for x in (one, two, three)}) == 3


def test_lists_are_copied_deeply_and_pickles_are_copies() -> None:
    x = jnp.ones(2)
    deep, shallow = copy.deepcopy([x, x]), copy.copy([x])
    again = pickle.loads(pickle.dumps(x))
    assert deep[0] is deep[1]
    assert shallow[0] is x
    x.delete()
    assert deep[0].tolist() == again.tolist() == [1.0, 1.0]
    assert float(grad(lambda x: copy.deepcopy(x) ** 2 + copy.copy(x))(3.0)) == 7.0


def test_device_put_keeps_arrays_unless_told() -> None:
    x = jnp.ones(2)
    assert hloom.device_put(x) is x
    assert hloom.device_put(x, may_alias=True) is x
    kept, copied = hloom.device_put([x, x], may_alias=[True, False])
    assert kept is x
    assert copied is not x
    assert hloom.device_put({"a": None, "b": 1}, may_alias=False) == {"a": None, "b": 1}
