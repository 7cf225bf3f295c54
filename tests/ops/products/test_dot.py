"""dot_general in every layout."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.testing.cases.products import by_einsum
from hloom.testing.operands import EVERYTHING


def _dot(numbers: Any) -> Any:
    return lambda x, y: lax.dot_general(x, y, numbers)


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_every_order_of_axes(order: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 5, (2, 3, 4)).astype(np.float64)
    for other in permutations(range(3)):
        y = rng.integers(-5, 5, [(2, 3, 4)[i] for i in other]).astype(np.float64)
        place = [other.index(i) for i in range(3)]
        a, b, c = order
        for numbers in (
            (((a,), (place[a],)), ((b,), (place[b],))),
            (((a, b), (place[a], place[b])), ((c,), (place[c],))),
            (((a,), (place[a],)), ((b, c), (place[b], place[c]))),
        ):
            with hloom.enable_x64():
                got = np.asarray(lax.dot_general(x, y, numbers))
                np.testing.assert_array_equal(got, by_einsum(numbers)(x, y))
            testing.check_adjoint(testing.Case("", _dot(numbers), (x.shape, y.shape)))


def test_narrow_floats_are_summed_in_f32() -> None:
    for dtype in ("float16", "bfloat16"):
        x = np.full(5000, 0.25).astype(hloom.dtypes.as_dtype(dtype))
        for engine in testing.ENGINES:
            (got,) = testing.results(engine, lax.dot, x, x)
            assert float(got) == pytest.approx(312.5, rel=0.01), (dtype, engine)


def test_integers_wrap() -> None:
    for dtype in ("int8", "uint8", "int32", "uint32", "int64"):
        x = np.full((3, 4), np.iinfo(dtype).max, dtype)
        with np.errstate(all="ignore"):
            want = x @ x.T
        for engine in testing.ENGINES:
            (got,) = testing.results(engine, lax.dot, x, x.T)
            np.testing.assert_array_equal(got, want, engine)


@pytest.mark.parametrize(
    ("numbers", "lhs", "rhs"),
    [
        ((((0,), (0,)), ((), ())), (200_003,), (200_003,)),
        ((((1, 0), (0, 2)), ((2,), (1,))), (300, 200, 3), (200, 3, 300)),
        ((((1,), (0,)), ((2, 0), (1, 2))), (30, 2000, 3), (2000, 3, 30)),
        ((((1,), (0,)), ((), ())), (60, 70), (70, 80)),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "int32", "int64"])
def test_larger_products(numbers: Any, lhs: Any, rhs: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-99, 99, shape).astype(dtype) for shape in (lhs, rhs))
    (got,) = testing.results("xla", _dot(numbers), x, y)
    with np.errstate(all="ignore"):
        want = by_einsum(numbers)(x.astype("int64"), y.astype("int64"))
    if dtype.startswith("float"):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-2)
    else:
        np.testing.assert_array_equal(got, want.astype(dtype))


def test_the_text_of_the_seed() -> None:
    text = str(hloom.make_jaxpr(lambda x, y: lax.dot(x, y))(jnp.ones((3, 4)), jnp.ones((4, 5))))
    assert "dimension_numbers=(([1], [0]), ([], []))" in text
    assert "preferred_element_type=float32" in text
    assert "precision" not in text


@pytest.mark.parametrize("dtype", EVERYTHING)
def test_derivatives_with_a_wider_result(dtype: str) -> None:
    if dtype not in ("float16", "bfloat16"):
        return
    x = jnp.asarray(np.ones((2, 3)), dtype)
    fun = lambda x: lax.reduce_sum(lax.dot(x, x.T, preferred_element_type="float32"), (0, 1))
    assert hloom.grad(fun)(x).dtype == x.dtype


X, Y = jnp.ones((2, 3)), jnp.ones((4, 3))
MATMUL = (((1,), (0,)), ((), ()))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.dot_general(X, Y, MATMUL), TypeError, "axis 1 of lhs f32[2,3] with axis 0 of"),
        (lambda: lax.dot_general(X, Y, MATMUL), TypeError, "rhs f32[4,3], but 3 != 4"),
        (lambda: lax.dot_general(X, Y, (((1,), ()), ((), ()))), TypeError, "pair up"),
        (lambda: lax.dot_general(X, Y, (((2,), (0,)), ((), ()))), ValueError, "from 0 to 1"),
        (lambda: lax.dot_general(X, Y, (((1,), (1,)), ((1,), (1,)))), ValueError, "once"),
        (lambda: lax.dot_general(X, Y, 3), TypeError, "dimension_numbers as"),
        (lambda: lax.dot_general(X, X.T, MATMUL, "some"), ValueError, "precision is one of"),
        (lambda: lax.dot_general(X, X.T, MATMUL, None, "int16"), TypeError, "narrower"),
        (lambda: lax.dot_general(X, X.T, MATMUL, None, "int32"), TypeError, "kind"),
        (lambda: lax.dot(X, 2.0), TypeError, "vectors and matrices"),
        (lambda: lax.dot(X, Y), TypeError, "3 != 4"),
        (lambda: lax.batch_matmul(X, jnp.ones(3)), TypeError, "one rank"),
    ],
)
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)
