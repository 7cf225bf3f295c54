"""Errors of public functions name the function, and the argument that is not what it must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax

X = jnp.ones((2, 3))


@pytest.mark.parametrize(
    ("kind", "fun", "text"),
    [
        (TypeError, lambda: lax.reshape(X, 6), r"^reshape takes a shape as a sequence of integers"),
        (TypeError, lambda: lax.transpose(X, ("1", 0)),
         r"^transpose takes permutation as a sequence of ints; got \('1', 0\). It is called as "
         r"transpose\(operand, permutation\)"),
        (TypeError, lambda: lax.transpose("x", (0,)),
         r"^transpose takes arrays and numbers; operand is the str 'x'"),
        (TypeError, lambda: lax.stack([X, None]),
         r"^stack takes arrays and numbers; operand 1 is the NoneType None"),
        (TypeError, lambda: lax.sort(X, is_stable="x"),
         r"^sort takes is_stable as True or False; got 'x'"),
        (TypeError, lambda: lax.reduce_max(X, "01"), r"^reduce_max takes axes as a sequence"),
        (TypeError, lambda: lax.reduce_max(X, {0: 1}), r"^reduce_max takes axes as a sequence"),
        (ValueError, lambda: lax.reduce_max(X, (5,)), r"^reduce_max .*f32\[2,3\]"),
        (OverflowError, lambda: lax.add(jnp.ones(2, "int8"), 300), r"^add, operand 1: .*int8"),
        (TypeError, lambda: lax.switch(0, 3), r"^switch takes branches as a sequence"),
        (ValueError, lambda: lax.round(X, None), r"^round takes rounding_method as lax.Rounding"),
        (ValueError, lambda: lax.approx_min_k(X, -1), r"^approx_min_k takes k from 0 to 3"),
        (ValueError, lambda: lax.slice(jnp.ones(4), (0,), (4,), (0,)), r"^slice of f32\[4\]"),
        (TypeError, lambda: lax.slice(jnp.ones(4), (0,), (4,), ()), r"^slice of f32\[4\]"),
        (ValueError, lambda: lax.padtype_to_pads((5,), (2,), (), "SAME"), "^padtype_to_pads takes"),
        (ValueError, lambda: lax.conv_shape_tuple((1, 1, -4), (1, 1, 2), (2,), "VALID"),
         "conv_shape_tuple"),
    ],
)  # fmt: skip
def test_the_error_names_the_function(
    kind: type[Exception], fun: Callable[[], Any], text: str
) -> None:
    with pytest.raises(kind, match=text):
        fun()
    with pytest.raises(kind, match=text):
        hloom.jit(fun)()


def test_the_users_own_errors_pass_unchanged() -> None:
    def fails(carry: Any, x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="^'mine'$"):
        lax.scan(fails, 0.0, jnp.ones(3))


def test_what_python_says_of_a_wrong_call_is_enough() -> None:
    with pytest.raises(TypeError, match=r"reshape\(\) missing 1 required positional argument"):
        lax.reshape(X)  # type: ignore[call-arg]


def test_flags_may_be_numpys_or_0_or_1() -> None:
    for flag in (np.True_, 1, jnp.array(True)):
        assert lax.index_in_dim(X, 0, keepdims=flag).shape == (1, 3)  # type: ignore[arg-type]


def test_tracers_are_told_as_tracers() -> None:
    with pytest.raises(hloom.errors.TracerBoolConversionError):
        hloom.jit(lambda flag: lax.index_in_dim(X, 0, keepdims=flag))(True)
    with pytest.raises(hloom.errors.TracerIntegerConversionError):
        hloom.jit(lambda n: lax.iota("int32", n))(3)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, data: lax.reduce_sum(x, data),
        lambda x, data: lax.reduce_max(x, data),
        lambda x, data: lax.transpose(x, data),
        lambda x, data: lax.broadcast_in_dim(x, data, (0,)),
        lambda x, data: lax.broadcast_in_dim(x, (3,), data),
        lambda x, data: lax.reshape(x, data),
        lambda x, data: lax.rev(x, data),
        lambda x, data: lax.full(data, 1.0),
        lambda x, data: lax.slice(x, data, (3,)),
        lambda x, data: lax.dynamic_slice(x, (0,), data),
        lambda x, data: lax.squeeze(x, data),
        lambda x, data: lax.expand_dims(x, data),
        lambda x, data: lax.index_take(x, (0,), data),
    ],
)
def test_an_array_of_a_billion_axes_is_refused_unlisted(call):
    data = np.broadcast_to(1, 10**9)
    with pytest.raises(TypeError, match=r"as a sequence of integers; got i64\[1000000000\]"):
        call(jnp.ones(3), data)
