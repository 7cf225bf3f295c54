"""searchsorted and order statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import testing
from hloom.ops.order import searching
from hloom.ops.order.searching import order_statistics, searchsorted
from hloom.testing.operands import EVERYTHING, ORDERED

I32 = np.int32
RANKS = np.array([0, 3, 6], I32)
EACH = np.array([[0, 3, 6], [6, 2, 1]], I32)


def _sorted_first(side: str) -> Any:
    return lambda x, v: searchsorted(hloom.lax.sort(x), v, side)


@pytest.mark.parametrize("dtype", EVERYTHING)
@pytest.mark.parametrize("count", [1, 5])
def test_corners_are_found_where_numpy_finds_them(dtype: str, count: int) -> None:
    x = testing.corners(hloom.dtypes.as_dtype(dtype))
    rows = np.tile(x, count)
    for side in ("left", "right"):
        want = np.searchsorted(np.sort(testing.wider(rows)), testing.wider(x), side)
        for engine in testing.ENGINES:
            (got,) = testing.results(engine, _sorted_first(side), rows, x)
            np.testing.assert_array_equal(got, want, f"{engine} {side}")


LAYOUTS = [((5000,), 0), ((3, 1500), 1), ((1500, 3), 0), ((300, 100), 0), ((100, 300), 1),
           ((2, 2100, 50), 1), ((2, 900, 2), 1)]  # fmt: skip


@pytest.mark.parametrize("dtype", ORDERED)
def test_counting_equals_sorting(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MANY", 1)
    # A dtype is in the keys alone, which all layouts share.
    layouts = LAYOUTS if dtype == "float32" else LAYOUTS[-1:]
    for number, (shape, axis) in enumerate(layouts):
        size = int(np.prod(shape))
        x = testing.drawn(hloom.dtypes.as_dtype(dtype), -99, 99, size, number)
        corners = testing.corners(x.dtype)
        x[: len(corners)] = corners
        x = x.reshape(shape)
        ranks = np.array([0, shape[axis] // 3, shape[axis] - 1, -7], I32)
        call = lambda x, r, axis=axis: order_statistics(x, r, axis)
        got = testing.results("xla", call, x, ranks)
        want = testing.results("numpy", call, x, ranks)
        for g, w in zip(got, want, strict=True):
            assert (testing.same_bits(g, w) | (g == w)).all(), (shape, axis)


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
