"""searchsorted and order statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.ops import searching
from hloom.ops.searching import order_statistics, searchsorted
from tests.ops import machine, structured
from tests.ops.structured import EVERYTHING, ORDERED, Case

I32 = np.int32
RANKS = np.array([0, 3, 6], I32)
EACH = np.array([[0, 3, 6], [6, 2, 1]], I32)


def _sorted_first(side: str) -> Any:
    return lambda x, v: searchsorted(hloom.lax.sort(x), v, side)


def _numpy_found(side: str) -> Any:
    def found(x: Any, v: Any) -> Any:
        x, v = np.sort(machine.wider(x)), machine.wider(v)
        return np.stack([np.searchsorted(a, b, side) for a, b in zip(x, v)]).astype(I32)

    return found


def _ranked(axis: int) -> Any:
    def ranked(x: Any, ranks: Any) -> Any:
        rows = np.moveaxis(np.sort(machine.wider(x), axis), axis, 0)
        after = np.minimum(ranks + 1, len(rows) - 1)
        if ranks.ndim == 1:
            return [rows[ranks], rows[after]]
        return [np.take_along_axis(rows, i, 0) for i in (ranks, after)]

    return ranked


CASES = [
    Case("left of few", _sorted_first("left"), ((2, 9), (2, 30)), _numpy_found("left"),
         moving=(), low=-5, high=5),
    Case("right of few", _sorted_first("right"), ((2, 9), (2, 30)), _numpy_found("right"),
         moving=(), low=-5, high=5),
    Case("left of many", _sorted_first("left"), ((2, 50), (2, 30)), _numpy_found("left"),
         moving=(), low=-5, high=5),
    Case("right of many", _sorted_first("right"), ((2, 64), (2, 30)), _numpy_found("right"),
         moving=(), low=-5, high=5),
    Case("values of two axes", lambda x, v: searchsorted(hloom.lax.sort(x), v), ((40,), (3, 4)),
         moving=()),
    Case("in nothing", lambda x, v: searchsorted(x, v), ((0,), (3,)), moving=()),
    Case("of nothing", lambda x, v: searchsorted(x, v), ((3,), (0,)), moving=()),
    Case("ranks", lambda x, r: order_statistics(x, r), ((7,), RANKS), _ranked(0), moving=(0,)),
    Case("ranks of columns", lambda x, r: order_statistics(x, r, 0), ((7, 3), RANKS), _ranked(0),
         moving=(0,)),
    Case("ranks of nothing", lambda x, r: order_statistics(x, r, 0), ((3, 0), RANKS), moving=()),
    Case("ranks of rows", lambda x, r: order_statistics(x, r, 1), ((3, 9), EACH), _ranked(1),
         moving=(0,)),
]  # fmt: skip


@pytest.mark.parametrize(("case", "dtype"), structured.values(CASES), ids=str)
def test_value(case: Case, dtype: str) -> None:
    structured.check_value(case, dtype)


@pytest.mark.parametrize("case", structured.smooth(CASES), ids=str)
def test_derivative(case: Case) -> None:
    structured.check_jvp(case)
    structured.check_adjoint(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_batch(case: Case) -> None:
    structured.check_batch(case)


@pytest.mark.parametrize("dtype", EVERYTHING)
@pytest.mark.parametrize("count", [1, 5])
def test_corners_are_found_where_numpy_finds_them(dtype: str, count: int) -> None:
    x = machine.corners(hloom.dtypes.as_dtype(dtype))
    rows = np.tile(x, count)
    for side in ("left", "right"):
        want = np.searchsorted(np.sort(machine.wider(rows)), machine.wider(x), side)
        for engine in machine.ENGINES:
            (got,) = structured.evaluate(engine, _sorted_first(side), rows, x)
            np.testing.assert_array_equal(got, want, f"{engine} {side}")


LAYOUTS = [((5000,), 0), ((3, 1500), 1), ((1500, 3), 0), ((300, 100), 0), ((100, 300), 1),
           ((2, 2100, 50), 1), ((2, 900, 2), 1)]  # fmt: skip


@pytest.mark.parametrize("dtype", ORDERED)
def test_counting_equals_sorting(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MANY", 1)
    for number, (shape, axis) in enumerate(LAYOUTS):
        size = int(np.prod(shape))
        x = machine.drawn(hloom.dtypes.as_dtype(dtype), -99, 99, size, number)
        corners = machine.corners(x.dtype)
        x[: len(corners)] = corners
        x = x.reshape(shape)
        ranks = np.array([0, shape[axis] // 3, shape[axis] - 1, -7], I32)
        call = lambda x, r, axis=axis: order_statistics(x, r, axis)
        got = structured.evaluate("xla", call, x, ranks)
        want = structured.evaluate("numpy", call, x, ranks)
        for g, w in zip(got, want, strict=True):
            assert (machine.same_bits(g, w) | (g == w)).all(), (shape, axis)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: searchsorted(jnp.ones(3), jnp.arange(2)), TypeError, "dtype"),
        (lambda: searchsorted(jnp.ones((2, 3)), jnp.ones((3, 1))), ValueError, "rows"),
        (lambda: searchsorted(jnp.ones(3), jnp.ones(2), "middle"), ValueError, "side"),
        (lambda: searchsorted(jnp.ones(3), jnp.ones(2), index_dtype="float32"), TypeError, "index"),
        (lambda: order_statistics(jnp.ones((0, 3)), RANKS, 0), ValueError, "no elements"),
        (lambda: order_statistics(jnp.ones((4, 3)), EACH[:, :2], 0), TypeError, "ranks"),
        (lambda: order_statistics(jnp.ones(3), RANKS, 2), ValueError, "out of bounds"),
    ],
)
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)
