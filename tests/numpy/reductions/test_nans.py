"""NaN and derivatives: it stays where it belongs, and both modes say the same."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax

NAN = np.nan

# ---- reductions that select: the derivative at a NaN that is selected is NaN, in both modes ------
TWO, FAR = np.array([0, 1]), np.array([0, 7, 1])
SELECTIONS = {
    "max": jnp.max,
    "min": jnp.min,
    "ptp": jnp.ptp,
    "largest and smallest": lambda x: jnp.stack([jnp.max(x), jnp.min(x)]),
    "max along an axis": lambda x: jnp.max(jnp.stack([x, x * 2]), axis=1),
    "max with initial": lambda x: jnp.max(x, initial=1.5),
    "min with initial": lambda x: jnp.min(x, initial=1.5),
    "max where": lambda x: jnp.max(x, where=np.array([True, True, False]), initial=0.0),
    "min where": lambda x: jnp.min(x, where=np.array([False, True, True]), initial=9.0),
    "nanmax": jnp.nanmax,
    "nanmin with initial": lambda x: jnp.nanmin(x, initial=1.5),
    "norm(inf)": lambda x: jnp.linalg.norm(x, np.inf),
    "norm(-inf)": lambda x: jnp.linalg.norm(x, -np.inf),
    "lax.reduce": lambda x: lax.reduce(x, np.array(0, x.dtype), lax.max, (0,)),
    "at.max into": lambda x: x.at[TWO].max(1.5),
    "at.max of": lambda x: jnp.ones(3, x.dtype).at[np.array([0, 1, 1])].max(x),
    "at.min into": lambda x: x.at[TWO].min(jnp.array([1.5, 9.0], x.dtype)),
    "at.min beyond the end": lambda x: jnp.ones(3, x.dtype).at[FAR].min(x, mode="drop"),
    "windows": lambda x: lax.reduce_window(x, x.dtype.type(-np.inf), lax.max, (2,), (1,), "SAME"),
    "cummax": lax.cummax,
    "cummin": lambda x: lax.cummin(x, reverse=True),
    "sort": jnp.sort,
    "top_k": lambda x: lax.top_k(x, 2)[0],
    "median": jnp.median,
    "maximum": lambda x: jnp.maximum(x, x[::-1]),
    "at the argmax": lambda x: x[jnp.argmax(x)],
    "clip": lambda x: jnp.clip(x, 0, 1.5),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("name", SELECTIONS)
def test_cotangents_and_tangents_of_nan_agree(name: str, dtype: str) -> None:
    """<ct, J t> is <J^T ct, t>, NaN included; what is no NaN gets no NaN back."""
    rng = np.random.default_rng(0)
    fun = SELECTIONS[name]
    with hloom.enable_x64(), hloom.engine("xla" if dtype == "float32" else "numpy"):
        for places in product([False, True], repeat=3):
            x = np.array([1, 3, 2], dtype)
            x[np.array(places)] = NAN
            t = rng.normal(size=3).astype(dtype)
            out, tangent = hloom.jvp(fun, (x,), (t,))
            ct = rng.normal(size=out.shape).astype(dtype)
            (back,) = hloom.vjp(fun, x)[1](ct)
            assert not np.isnan(back)[~np.array(places)].any(), (places, back)
            np.testing.assert_allclose(
                np.sum(ct * tangent, dtype=float), np.sum(back * t, dtype=float),
                rtol=1e-2 if dtype == "float16" else 1e-5, err_msg=str(places),
            )  # fmt: skip


def test_the_gradient_at_a_nan_that_is_the_extreme_is_nan() -> None:
    x = np.array([1, NAN, 2, NAN], np.float32)
    for fun in (jnp.max, jnp.min, jnp.ptp, lambda x: jnp.linalg.norm(x, np.inf)):
        for grad in (hloom.grad(fun), hloom.jit(hloom.grad(fun))):
            np.testing.assert_array_equal(grad(x), [0, NAN, 0, NAN])
    rows = hloom.vmap(hloom.grad(jnp.max))(np.stack([x, np.arange(4, dtype=np.float32)]))
    np.testing.assert_array_equal(rows, [[0, NAN, 0, NAN], [0, 0, 0, 1]])


def test_an_element_that_no_update_goes_to_keeps_its_derivative() -> None:
    x = np.array([NAN, NAN, 3], np.float32)
    (back,) = hloom.vjp(lambda x: x.at[np.array([1])].max(2.0), x)[1](np.ones(3, np.float32))
    np.testing.assert_array_equal(back, [1, NAN, 1])


def test_complex_nan_is_an_extreme_as_well() -> None:
    x = np.array([1 + 1j, complex(2, NAN), 3], np.complex64)
    (back,) = hloom.vjp(jnp.max, x)[1](np.complex64(1))
    np.testing.assert_array_equal(np.isnan(back), [False, True, False])


# ---- reductions that leave elements out: those get 0, the others what they get without them ------
LEFT_OUT = {
    "nansum": (jnp.nansum, jnp.sum),
    "nanprod": (jnp.nanprod, jnp.prod),
    "nanmean": (jnp.nanmean, jnp.mean),
    "nanvar": (jnp.nanvar, jnp.var),
    "nanvar, ddof": (lambda x: jnp.nanvar(x, ddof=1), lambda x: jnp.var(x, ddof=1)),
    "nanstd": (jnp.nanstd, jnp.std),
    "nanmax": (jnp.nanmax, jnp.max),
    "nanmin": (jnp.nanmin, jnp.min),
    "nanmedian": (jnp.nanmedian, jnp.median),
    "nanquantile": (lambda x: jnp.nanquantile(x, 0.3), lambda x: jnp.quantile(x, 0.3)),
    "nanpercentile": (lambda x: jnp.nanpercentile(x, 60), lambda x: jnp.percentile(x, 60)),
}
MASKED: dict[str, Any] = {
    "sum": jnp.sum, "prod": jnp.prod, "mean": jnp.mean, "var": jnp.var, "std": jnp.std,
    "max": lambda x, **w: jnp.max(x, **w, **({"initial": -9} if w else {})),
    "min": lambda x, **w: jnp.min(x, **w, **({"initial": 9} if w else {})),
}  # fmt: skip
KEPT = np.array([True, False, True, True, False])


def _second(fun: Any, x: Any, t: Any) -> Any:
    """A product with the second derivative."""
    return hloom.jvp(hloom.grad(fun), (x,), (t,))[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", [*LEFT_OUT, *[f"{name} where" for name in MASKED]])
def test_what_is_left_out_has_no_part_in_derivatives(name: str, dtype: str) -> None:
    if name in LEFT_OUT:
        fun, plain = LEFT_OUT[name]
    else:
        plain = MASKED[name.split()[0]]

        def fun(x: Any) -> Any:
            return plain(x, where=KEPT)

    # Roundings of intermediate results in the operand's own type.
    rtol = {"float16": 2e-2, "bfloat16": 8e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    # The rules are the same for all dtypes; XLA compiles them for one.
    with hloom.enable_x64(), hloom.engine("xla" if dtype == "float32" else "numpy"):
        whole = np.array([1.5, NAN, -2, 0.5, NAN]).astype(hloom.dtypes.as_dtype(dtype))
        part, t = whole[KEPT], np.arange(1, 6).astype(whole.dtype)
        want = np.zeros(5, whole.dtype)
        want[KEPT] = hloom.grad(plain)(part)
        for grad in (hloom.grad(fun), hloom.jit(hloom.grad(fun))):
            np.testing.assert_allclose(
                np.asarray(grad(whole), float), want.astype(float), rtol, rtol
            )
        rows = hloom.vmap(hloom.grad(fun))(np.stack([whole, whole]))[1]
        np.testing.assert_allclose(np.asarray(rows, float), want.astype(float), rtol, rtol)
        pairs = [
            (hloom.jvp(fun, (whole,), (t,))[1], hloom.jvp(plain, (part,), (t[KEPT],))[1]),
            (_second(fun, whole, t)[KEPT], _second(plain, part, t[KEPT])),
            (_second(fun, whole, t)[~KEPT], np.zeros(2)),
        ]
        for got, expected in pairs:
            np.testing.assert_allclose(
                np.asarray(got, float), np.asarray(expected, float), 5 * rtol, 5 * rtol
            )


def test_a_row_of_nan_leaves_the_gradients_of_the_others_alone() -> None:
    x = np.array([[1, 2, NAN, 4], [NAN] * 4, [3, NAN, 5, 9]], np.float32)
    for fun, _ in list(LEFT_OUT.values())[:8]:
        rows = np.asarray(hloom.grad(lambda x, fun=fun: sum(map(fun, x[::2])))(x))
        assert np.isfinite(rows).all() and not rows[np.isnan(x)].any()


def test_the_gradient_of_nanvar_of_complex_numbers() -> None:
    x = np.array([1 + 2j, NAN, 3 - 1j, complex(0, NAN)], np.complex64)
    (got,) = hloom.vjp(jnp.nanvar, x)[1](np.float32(1))
    (want,) = hloom.vjp(jnp.var, x[::2])[1](np.float32(1))
    np.testing.assert_allclose(got, [want[0], 0, want[1], 0], rtol=1e-6)


def test_a_definition_of_piecewise_leaves_the_elements_of_others_alone() -> None:
    x = np.array([-1, 0, 4, 9], np.float32)

    def fun(x: Any) -> Any:
        return jnp.piecewise(x, [x > 0, x > 5], [jnp.sqrt, lambda x: x / (x - 4), lambda x: -x])

    for grad in (hloom.grad(lambda x: fun(x).sum()), hloom.vmap(hloom.grad(fun))):
        np.testing.assert_allclose(grad(x), [-1, -1, 0.25, -4 / 25], rtol=1e-6)
    np.testing.assert_allclose(fun(x), hloom.jit(fun)(x))


@pytest.mark.parametrize("x", [np.inf, -np.inf, NAN])
def test_both_modes_agree_on_i0_far_out(x: float) -> None:
    (tangent,) = hloom.jvp(jnp.i0, (np.float32(x),), (np.float32(1),))[1:]
    np.testing.assert_array_equal(hloom.grad(jnp.i0)(np.float32(x)), tangent)
    np.testing.assert_array_equal(tangent, x)
