"""Convolution with every kind of window, group and layout."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import testing
from hloom.ops.products import convolution
from hloom.ops.products.convolution import conv_general_dilated


def _conv(*args: Any, **options: Any) -> Any:
    return lambda x, k: conv_general_dilated(x, k, *args, **options)


def _by_hand(x: Any, k: Any, stride: Any, pad: Any, base: Any, inner: Any, groups: int) -> Any:
    """The definition, element by element, for NC.., OI.. and feature groups."""
    n, c = x.shape[:2]
    o, i = k.shape[:2]
    sizes = [
        max((lo + (s - 1) * b + 1 + hi - (w - 1) * d - 1) // t + 1, 0)
        for s, w, t, (lo, hi), b, d in zip(x.shape[2:], k.shape[2:], stride, pad, base, inner)
    ]
    out = np.zeros((n, o, *sizes), x.dtype)
    for place in np.ndindex(out.shape):
        group = place[1] // (o // groups)
        for f, *w in product(range(i), *map(range, k.shape[2:])):
            at = [
                p * t + a * d - lo for p, t, a, d, (lo, _) in zip(place[2:], stride, w, inner, pad)
            ]
            if all(a % b == 0 and 0 <= a // b < s for a, b, s in zip(at, base, x.shape[2:])):
                source = (place[0], group * i + f, *(a // b for a, b in zip(at, base)))
                out[place] += x[source] * k[(place[1], f, *w)]
    return out


@pytest.mark.parametrize(
    "window",
    [
        ((1, 1), [(0, 0), (0, 0)], (1, 1), (1, 1), 1),
        ((2, 1), [(1, 2), (-1, 1)], (2, 3), (1, 2), 1),
        ((1, 3), [(3, 0), (2, 2)], (1, 2), (3, 1), 2),
    ],
    ids=str,
)
def test_a_convolution_is_what_the_definition_says(window: Any) -> None:
    stride, pad, base, inner, groups = window
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 5, (2, 4, 5, 4)).astype(np.float32)
    k = rng.integers(-5, 5, (6, 4 // groups, 2, 3)).astype(np.float32)
    want = _by_hand(x, k, stride, pad, base, inner, groups)
    for engine in testing.ENGINES:
        (got,) = testing.results(
            engine, _conv(stride, pad, base, inner, feature_group_count=groups), x, k
        )
        np.testing.assert_array_equal(got, want, engine)


def test_batch_groups_are_convolutions_of_parts() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 5, (6, 2, 7)).astype(np.float32)
    k = rng.integers(-5, 5, (4, 2, 3)).astype(np.float32)
    parts = [_by_hand(x[3 * g : 3 * g + 3], k[2 * g : 2 * g + 2], (1,), [(0, 0)], (1,), (1,), 1)
             for g in range(2)]  # fmt: skip
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, _conv((1,), "VALID", batch_group_count=2), x, k)
        np.testing.assert_array_equal(got, np.concatenate(parts, 1), engine)


@pytest.mark.parametrize(
    ("n", "k", "padding"),
    [(5000, 3, (2, 2)), (1000, 20, (19, 19)), (3000, 100, (99, 99)), (700, 600, (10, 0)),
     (2000, 64, (-3, 5)), (2000, 65, (0, -7)), (40_000, 9, (8, 8))],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("spec", [("NCH", "OIH", "NCH"), ("HNC", "IHO", "CHN")], ids=str)
def test_long_rows(n: int, k: int, padding: tuple[int, int], spec: tuple[str, str, str]) -> None:
    rng = np.random.default_rng(0)
    x, kernel = rng.normal(size=(2, 1, n)), rng.normal(size=(1, 1, k))
    low, high = padding
    wide = np.pad(x, ((0, 0), (0, 0), (max(low, 0), max(high, 0))))
    wide = wide[..., max(-low, 0) : wide.shape[-1] - max(-high, 0)]
    want = np.stack([np.correlate(row[0], kernel[0, 0], "valid") for row in wide])
    axes = [["NCH".index(c) for c in spec[0]], ["OIH".index(c) for c in spec[1]]]
    fun = hloom.jit(_conv((1,), [padding], dimension_numbers=spec))
    args = [z.transpose(a).astype(np.float32) for z, a in zip((x, kernel), axes)]
    got = np.asarray(fun(*args)).transpose([spec[2].index(c) for c in "NCH"])[:, 0]
    np.testing.assert_allclose(got, want, atol=2e-6 * k)


def test_long_rows_that_are_not_finite() -> None:
    x, kernel = np.ones((1, 1, 3000), np.float32), np.ones((1, 1, 50), np.float32)
    x[0, 0, 700], x[0, 0, 900] = np.inf, np.nan
    got = np.asarray(hloom.jit(_conv((1,), "VALID"))(x, kernel))[0, 0]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got, np.correlate(x[0, 0], kernel[0, 0], "valid"))


# (groups, input features of each, output features of each, examples)
GROUPS = [(2, 1, 1, 1), (3, 1, 2, 2), (2, 3, 1, 1), (2, 3, 2, 2)]


@pytest.mark.parametrize("spoilt", [np.nan, np.inf])
@pytest.mark.parametrize("kind", ["feature_group_count", "batch_group_count"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_what_is_not_finite_stays_in_its_group(dtype: str, kind: str, spoilt: float) -> None:
    """XLA widens depthwise kernels, and those of batch groups, with zeros; 0 * inf is NaN."""
    rng = np.random.default_rng(0)
    with hloom.enable_x64():
        for (g, i, o, n), spatial in product(GROUPS, [(), (5,), (4, 3)]):
            features = kind == "feature_group_count"
            lead = (n, g * i) if features else (g * n, i)
            x = rng.normal(size=(*lead, *spatial)).astype(dtype)
            k = rng.normal(size=(g * o, i, *[2] * len(spatial))).astype(dtype)
            f = _conv((1,) * len(spatial), "VALID", **{kind: g})
            for spoils_x, spoils_k in ((True, False), (False, True)):
                bad, worse = x.copy(), k.copy()
                bad.flat[0] = spoilt if spoils_x else bad.flat[0]
                worse.flat[0] = spoilt if spoils_k else worse.flat[0]
                clean, got = np.asarray(hloom.jit(f)(x, k)), np.asarray(hloom.jit(f)(bad, worse))
                assert not np.isfinite(got[:, :o]).all()
                np.testing.assert_array_equal(got[:, o:], clean[:, o:])


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_an_example_that_is_not_finite_leaves_the_others_alone(dtype: str) -> None:
    """Under vmap examples become groups; so they do in the gradients."""
    rng = np.random.default_rng(1)
    with hloom.enable_x64():
        x = rng.normal(size=(3, 1, 2, 6)).astype(dtype)
        k = rng.normal(size=(3, 2, 2, 2)).astype(dtype)
        ct = np.ones((1, 2, 5), dtype)

        def run(x: Any, k: Any) -> Any:
            out, pull = hloom.vjp(_conv((1,), "VALID"), x, k)
            return out, *pull(ct)

        for spoilt in (0, 1):
            args = [x.copy(), k.copy()]
            args[spoilt][1].flat[0] = np.nan
            together = hloom.vmap(run)(*args)
            for example in range(3):
                for got, want in zip(together, run(args[0][example], args[1][example])):
                    np.testing.assert_allclose(
                        np.asarray(got)[example], want, rtol=2e-6 if dtype == "f4" else 1e-14
                    )


@pytest.mark.parametrize("sizes", [(3,), (5, 4), (200,), (13, 11)], ids=str)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16", "i4"])
def test_depthwise_with_every_kind_of_window(dtype: str, sizes: Any) -> None:
    """The last two kernels are longer than what is written out: a loop goes through them."""
    rng = np.random.default_rng(2)
    count = len(sizes)
    with hloom.enable_x64():
        x = rng.integers(-3, 4, (2, 3, *[s + 7 for s in sizes])).astype(dtype)
        k = rng.integers(-3, 4, (6, 1, *sizes)).astype(dtype)
        for stride, pad, base, inner in [(1, (0, 0), 1, 1), (2, (3, -1), 2, 1), (3, (5, 9), 1, 2)]:
            window = (stride,) * count, [pad] * count, (base,) * count, (inner,) * count
            f = _conv(*window, feature_group_count=3)
            with hloom.engine("numpy"):
                want = np.asarray(f(x, k))
            np.testing.assert_array_equal(np.asarray(hloom.jit(f)(x, k)), want)


def test_the_tour() -> None:
    x, y = np.array([[[1, 2, 1]]], np.float32), np.ones((1, 1, 10), np.float32)
    got = conv_general_dilated(x, y, window_strides=(1,), padding=[(9, 9)])
    assert np.asarray(got).ravel().tolist() == [1, 3, 4, 4, 4, 4, 4, 4, 4, 4, 3, 1]


def test_a_transposed_convolution_is_the_gradient_of_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 8, 2)).astype(np.float32)
    kernel = rng.normal(size=(3, 2, 5)).astype(np.float32)
    numbers = ("NHC", "HIO", "NHC")
    forward = lambda x: conv_general_dilated(x, kernel, (2,), [(1, 0)], None, None, numbers)
    y, pull = hloom.vjp(forward, x)
    ct = rng.normal(size=y.shape).astype(np.float32)
    got = convolution.conv_transpose(
        ct, kernel, (2,), [(1, 0)], transpose_kernel=True, use_consistent_padding=True
    )
    np.testing.assert_allclose(np.asarray(pull(ct)[0]), np.asarray(got), atol=1e-5)


X, K = jnp.ones((2, 3, 8)), jnp.ones((4, 3, 2))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: _conv((1,), "VALID")(X, jnp.ones((4, 2, 2))), TypeError, "features"),
        (lambda: _conv((1,), "VALID")(X, jnp.ones((4, 3))), TypeError, "one rank"),
        (lambda: _conv((1,), "VALID")(X, jnp.ones((4, 3, 2), int)), TypeError, "dtype"),
        (lambda: _conv((1,), "VALID")(X > 0, K > 0), TypeError, "bool"),
        (lambda: _conv((0,), "VALID")(X, K), ValueError, "positive"),
        (lambda: _conv((1, 1), "VALID")(X, K), TypeError, "each axis"),
        (lambda: _conv((1,), "VALID")(X, jnp.ones((4, 3, 0))), ValueError, "positive"),
        (lambda: _conv((1,), "HALF")(X, K), ValueError, "SAME"),
        (lambda: _conv((1,), 3)(X, K), TypeError, "pair"),
        (lambda: _conv((1,), "SAME", (2,))(X, K), ValueError, "conv_transpose"),
        (lambda: _conv((1,), "VALID", dimension_numbers=("NCH", "OIW", "NCH"))(X, K), ValueError,
         "spatial letters"),
        (lambda: _conv((1,), "VALID", dimension_numbers=("NC", "OI", "NC"))(X, K), ValueError,
         "a letter for each"),
        (lambda: _conv((1,), "VALID", feature_group_count=2)(X, K), TypeError, "features"),
        (lambda: _conv((1,), "VALID", batch_group_count=3)(X, K), ValueError, "divide"),
        (lambda: _conv((1,), "VALID", feature_group_count=0)(X, K), ValueError, "positive"),
        (lambda: _conv((1,), "VALID", precision="some")(X, K), ValueError, "precision"),
    ],
)  # fmt: skip
def test_errors(call: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()  # type: ignore[operator]
    assert words in str(raised.value)
