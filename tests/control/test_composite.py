"""`composite`: its text, its attributes, what it does under transformations, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core import check_jaxpr
from tests.control.loops.loops_in_python import agree, on_engines

tangent = lax.composite(lambda x: lax.sin(x) / lax.cos(x), name="my.tangent", version=2)


def scaled(x: Any, y: Any = 1.0, *, axis: Any = None, factor: Any = 2.0, kind: Any = None) -> Any:
    return {"a": x * 2, "b": (x + y,)}


def text(fun: Any, *args: Any) -> str:
    return str(hloom.jit(fun).lower(*args).as_text())


def test_on_three_engines() -> None:
    x = jnp.linspace(0, 1, 4)
    on_engines(tangent, x)
    agree(tangent(x), np.tan(np.linspace(0, 1, 4)))
    on_engines(lambda x: lax.composite(scaled, "my.scaled")(x, axis=1), x)
    check_jaxpr(hloom.make_jaxpr(tangent)(x).jaxpr)


def test_it_is_written_with_its_decomposition() -> None:
    made = text(tangent, 1.0)
    assert (
        '%0 = stablehlo.composite "my.tangent" %arg0 {decomposition = @my.tangent, version = 2 : '
        "i32} : (tensor<f32>) -> tensor<f32>"
    ) in made
    assert "func.func private @my.tangent(%arg0: tensor<f32>) -> tensor<f32>" in made


ATTRIBUTES = {
    "True": (True, "true"),
    "bool": (np.bool_(False), "false"),
    "int": (1, "1 : i64"),
    "float": (1.0, "1.0 : f64"),
    "infinity": (np.inf, "0x7FF0000000000000 : f64"),
    "u8": (np.uint8(200), "200 : ui8"),
    "f32": (np.float32(0.1), "0.1 : f32"),
    "text": ('say "é"', r'"say \22\C3\A9\22"'),
    "list": ([1, "a"], '[1 : i64, "a"]'),
    "tuple": ((2.5,), "[2.5 : f64]"),
    "dict": ({"n": 1, "a b": [True]}, '{"a b" = [true], "n" = 1 : i64}'),
    "array": (np.array([[1, 2]], np.int32), "dense<[[1, 2]]> : tensor<1x2xi32>"),
    "0-d": (np.array(3, np.int8), "3 : i8"),
}


@pytest.mark.parametrize("what", ATTRIBUTES)
def test_keyword_arguments_are_attributes(what: str) -> None:
    value, spelled = ATTRIBUTES[what]
    f = lax.composite(scaled, name="my.scaled")
    made = text(lambda x: f(x, axis=value, kind=None), 1.0)
    assert f'{{composite_attributes = {{"axis" = {spelled}}}, decomposition' in made
    on_engines(lambda x: f(x, axis=value), jnp.float32(1))


def test_equal_keywords_of_other_types_are_other_programs() -> None:
    given = []

    def decomposition(x: Any, *, n: Any) -> Any:
        given.append(n)
        return x + 1 if n is True else x + 2 if isinstance(n, int) else x + 3

    f = lax.composite(decomposition, "my.f")
    assert [float(f(0.0, n=n)) for n in (True, 1, 1.0)] == [1, 2, 3]
    assert [type(n) for n in given] == [bool, int, float]


def test_it_can_close_over_arrays_and_traced_values() -> None:
    y = jnp.arange(3.0)

    def f(x: Any, z: Any) -> Any:
        return lax.composite(lambda x: x * y + z, "my.line")(x)

    on_engines(f, jnp.float32(2), jnp.float32(1))
    agree(hloom.jit(f)(2.0, 1.0), np.array([1.0, 3.0, 5.0]))


def test_vmap_maps_the_decomposition() -> None:
    x = jnp.linspace(0, 1, 6).reshape(2, 3)
    agree(hloom.vmap(tangent, 1, 1)(x), np.tan(np.asarray(x)))
    f = hloom.vmap(lambda x, y: lax.composite(scaled, "my.scaled")(x, y), (0, None))
    agree(f(x, jnp.ones(3)), {"a": x * 2, "b": (x + 1,)})
    assert "stablehlo.composite" not in text(hloom.vmap(tangent), x)


def test_it_has_no_derivative() -> None:
    for f in (tangent, hloom.jit(tangent)):
        with pytest.raises(NotImplementedError, match=r"composite my\.tangent has no derivative"):
            hloom.grad(f)(1.0)
    assert float(hloom.grad(lambda x: x * tangent(lax.stop_gradient(x)))(0.0)) == 0


def test_arguments_and_results_are_trees() -> None:
    f = lax.composite(lambda pair: {"sum": pair[0] + pair[1]}, "my.sum")
    agree(f((1.0, 2.0)), {"sum": 3.0})
    assert lax.composite(lambda: 3.0, "my.constant")() == 3
    assert lax.composite(lambda x: None, "my.nothing")(1.0) is None
    assert hloom.jit(lax.composite(lambda x: (), "my.nothing"))(1.0) == ()


identity = lambda x, **attributes: x  # noqa: E731
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "no namespace": (lambda: lax.composite(identity, "f")(1.0), ValueError, "such as 'my.f'"),
    "no name": (lambda: lax.composite(identity, "")(1.0), ValueError, "got ''"),
    "a name of another type": (lambda: lax.composite(identity, 3), TypeError, "as a str; got 3"),
    "a negative version": (lambda: lax.composite(identity, "a.b", -1)(1.0), ValueError, "got -1"),
    "a large version": (lambda: lax.composite(identity, "a.b", 2**31)(1.0), ValueError, "2147483"),
    "a bool as version": (lambda: lax.composite(identity, "a.b", True), TypeError, "as an int"),
    "no function": (lambda: lax.composite(3, "a.b"), TypeError, "decomposition as a function"),
    "an array by keyword": (
        lambda: lax.composite(identity, "a.b")(1.0, k=jnp.ones(2)), TypeError, "k is Array"
    ),
    "a complex number by keyword": (
        lambda: lax.composite(identity, "a.b")(1.0, k=1j), TypeError, "k is complex 1j"
    ),
    "a long int by keyword": (
        lambda: lax.composite(identity, "a.b")(1.0, k=2**64), TypeError, "more than 64 bits"
    ),
    "no array": (lambda: lax.composite(identity, "a.b")("x"), TypeError, "composite a.b takes"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    call, error, words = REFUSED[what]
    with pytest.raises(error, match=words):
        call()
