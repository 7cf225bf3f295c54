"""Reductions, scans, means, quantiles against NumPy: any dtype, shape, axes, NaN and infinities.

64-bit types are on, so that dtypes are NumPy's too.  What compares or counts is exact.  Sums are
taken in another order than NumPy's: the budget is the number of elements times the precision, of
the sum of their absolute values.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hloom
import hloom.numpy as jnp
from hloom.numpy.reductions.quantiles import METHODS

DTYPES = [
    "bool",
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint32",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
REAL = [d for d in DTYPES if not d.startswith("complex")]
EXACT = ["max", "min", "any", "all", "count_nonzero", "nanmax", "nanmin"]
SUMS = ["sum", "prod", "nansum", "nanprod", "mean", "nanmean", "var", "std", "nanvar", "nanstd"]
SCANS = ["cumsum", "cumprod", "nancumsum", "nancumprod"]
VALUES = {
    "b": [False, True],
    "i": [0, 1, -1, 2, -3, 7, 100],
    "u": [0, 1, 2, 3, 7, 100],
    "f": [0.0, -0.0, 1.0, -1.0, 2.5, -3.25, 7.0, 0.125],
    "c": [0j, 1 + 0j, 1j, 2 - 1j, -3.5 + 2j, 1 - 1j],
}
SPECIAL = {
    "f": [np.nan, np.inf, -np.inf],
    "c": [complex(np.nan, 0), complex(1, np.nan), complex(np.inf, 0)],
}


@st.composite
def arrays(
    draw: Any, names: list[str] = DTYPES, shape: Any = None, special: bool = True
) -> np.ndarray:
    """A small array of few values, so that there are ties; in half of them NaN and infinities."""
    dtype = np.dtype(draw(st.sampled_from(names)))
    if shape is None:
        shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    values = list(VALUES[dtype.kind])
    if special and draw(st.booleans()):
        values += SPECIAL.get(dtype.kind, [])
    size = int(np.prod(shape))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return np.array(values, dtype)[rng.integers(0, len(values), size)].reshape(shape)


@st.composite
def axes(draw: Any, ndim: int) -> Any:
    """None, one axis, or a tuple of different ones."""
    one = st.integers(-ndim, ndim - 1) if ndim else st.none()
    some = st.lists(st.integers(0, max(ndim - 1, 0)), max_size=ndim, unique=True).map(tuple)
    return draw(st.none() | one | some)


def outcome(call: Any) -> Any:
    """What a call gives, or the kind of its error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (ValueError, TypeError, IndexError) as error:
            return type(error)


def agree(xp_call: Any, budget: Any = 0.0) -> None:
    """NumPy and hloom give the same: dtype, shape and values, within an absolute budget."""
    want = outcome(lambda: xp_call(np))
    with hloom.enable_x64():
        got = outcome(lambda: xp_call(jnp))
    if isinstance(want, type):
        assert isinstance(got, type) and issubclass(got, (want, ValueError)), (want, got)
        return
    assert not isinstance(got, type), (got, want)
    wants, gots = ([x] if not isinstance(x, (tuple, list)) else list(x) for x in (want, got))
    for w, g in zip(map(np.asarray, wants), map(np.asarray, gots), strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape, (g.dtype, w.dtype, g.shape, w.shape)
        with np.errstate(all="ignore"):
            same = (g == w) | ((g != g) & (w != w)) | (np.abs(g - w) <= budget if budget else False)
        assert np.all(same), f"\n{g}\nexpected\n{w}"


def precision(x: np.ndarray) -> float:
    return float(np.finfo(x.dtype).eps) if x.dtype.kind in "fc" else float(np.finfo(np.float64).eps)


def spread_of(x: np.ndarray) -> float:
    """The sum of the absolute values, those that are finite; at least 1."""
    wide = np.abs(x.astype(np.complex128))
    return float(wide[np.isfinite(wide)].sum()) + 1


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_exact(name: str, data: Any) -> None:
    x = data.draw(arrays())
    axis, keepdims = data.draw(axes(x.ndim)), data.draw(st.booleans())
    if name == "count_nonzero" and axis == ():
        return  # NumPy counts all
    agree(lambda xp: getattr(xp, name)(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", SUMS)
@given(data=st.data())
def test_sums(name: str, data: Any) -> None:
    x = data.draw(arrays())
    if x.dtype == np.float16 and name.endswith(("var", "std")):
        return  # NumPy computes these in float16
    axis, keepdims = data.draw(axes(x.ndim)), data.draw(st.booleans())
    if axis == () and name.startswith("nan"):
        return
    scale = spread_of(x) ** 2 if "prod" not in name else 8.0**x.size
    budget = 4 * (x.size + 1) * precision(x) * scale
    budget = max(budget, budget**0.5) if name.endswith("std") else budget
    agree(lambda xp: getattr(xp, name)(x, axis=axis, keepdims=keepdims), budget)


@pytest.mark.parametrize("name", SCANS)
@given(data=st.data())
def test_scans(name: str, data: Any) -> None:
    x = data.draw(arrays())
    if x.dtype == np.float16:
        return  # NumPy rounds to float16 at each step
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.none())
    scale = spread_of(x) if "sum" in name else 8.0**x.size
    agree(lambda xp: getattr(xp, name)(x, axis=axis), 4 * (x.size + 1) * precision(x) * scale)


@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax", "nanargmin"])
@given(data=st.data())
def test_places(name: str, data: Any) -> None:
    x = data.draw(arrays())
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.none())
    if name.startswith("nan") and np.isinf(x.astype(np.complex128)).any():
        return  # NumPy puts an infinity in place of NaN, and may find it first
    agree(lambda xp: getattr(xp, name)(x, axis=axis, keepdims=data.draw(st.just(True))))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "mean"])
@given(data=st.data())
def test_where_and_initial(name: str, data: Any) -> None:
    x = data.draw(arrays(special=False))
    axis = data.draw(axes(x.ndim))
    mask = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 2, x.shape).astype(bool)
    more = {"initial": x.dtype.type(1)} if name in ("sum", "prod", "max", "min") else {}
    if axis == () and name == "mean":
        return
    scale = 8.0**x.size if name == "prod" else spread_of(x)
    budget = 4 * (x.size + 1) * precision(x) * scale if name in ("sum", "prod", "mean") else 0.0
    agree(lambda xp: getattr(xp, name)(x, axis=axis, where=mask, **more), budget)


# ---- order statistics ---------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["median", "nanmedian"])
@given(data=st.data())
def test_medians(name: str, data: Any) -> None:
    x = data.draw(arrays(REAL))
    axis, keepdims = data.draw(axes(x.ndim)), data.draw(st.booleans())
    if axis == () or (x.size == 0 and name == "nanmedian"):
        return
    agree(lambda xp: getattr(xp, name)(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@given(data=st.data())
def test_quantiles(name: str, data: Any) -> None:
    x = data.draw(arrays([d for d in REAL if d not in ("bool", "float16")], special=False))
    if x.dtype.kind == "f" and data.draw(st.booleans()) and x.size:
        x.flat[0] = np.nan
    method = data.draw(st.sampled_from(sorted(METHODS)))
    axis = data.draw(axes(x.ndim))
    if axis == () or not x.size:
        return
    if x.dtype == np.int8 or x.dtype.kind == "u":
        x = x.astype(np.int64)  # NumPy's difference of neighbours wraps around
    q = data.draw(
        st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.1, 0.7, 1 / 3]) | st.just([0.0, 0.3, 0.9])
    )
    budget = 16 * precision(x) * 128
    if isinstance(q, list) and x.dtype == np.float32:
        x = x.astype(np.float64)
    agree(lambda xp: getattr(xp, name)(x, q, axis=axis, method=method), budget)


# ---- sizes at which programs change -------------------------------------------------------------
SIZES = [1, 2, 15, 16, 17, 255, 256, 257, 1023, 1024, 4095, 4096, 4097, 5000]


@given(data=st.data())
def test_sizes(data: Any) -> None:
    size = data.draw(st.sampled_from(SIZES))
    x = data.draw(arrays(["float32", "float64", "int32", "bool", "complex64"], shape=(size,)))
    name = data.draw(
        st.sampled_from(
            ["max", "min", "argmax", "argmin", "any", "count_nonzero", "nanmax", "median", "cumsum"]
        )
    )
    if (name == "median" and x.dtype.kind == "c") or (
        name == "cumsum" and x.dtype.kind not in "bi"
    ):
        return
    agree(lambda xp: getattr(xp, name)(x))
