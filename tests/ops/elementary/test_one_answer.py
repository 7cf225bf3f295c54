"""An elementary function gives one answer for one operand, to the bit.

However many elements stand beside it, eagerly or alone under `jit`, and of a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import dtypes, lax

UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
    "arccosh arctanh sqrt square reciprocal sinc i0 cbrt rint sign deg2rad"
).split()
STRICT = "logistic rsqrt erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e integer_pow".split()
BINARY = "power arctan2 hypot logaddexp logaddexp2 fmod floor_divide divide".split()
COMPLEX = (
    "exp exp2 expm1 log log10 log1p sin cos tan arcsin arctan sinh tanh arcsinh arctanh sqrt "
    "square abs angle reciprocal power divide multiply logistic rsqrt integer_pow"
).split()

# On both sides of what fills a vector, of "small" programs and of `programs.MANY`; 0: all operands.
SIZES = (1, 3, 10, 15, 0, 9001)


def function(name: str) -> Callable[..., Any]:
    if name == "integer_pow":
        return lambda x: lax.integer_pow(x, 7)
    return getattr(lax if name in STRICT else jnp, name)


def reals(dtype: Any, seed: int) -> np.ndarray:
    """Corners, subnormal numbers, every exponent, and the usual numbers, shuffled."""
    draw, info = np.random.default_rng(seed), dtypes.finfo(dtype)
    tiny, least, most = map(float, (info.tiny, info.smallest_subnormal, info.max))
    corners = [0.0, np.inf, np.nan, most, tiny, least, 3 * least, tiny / 3, 1, 0.5, 1e3, 1e6, 88.5]
    with np.errstate(all="ignore"):
        spread = np.exp(draw.uniform(np.log(tiny), np.log(most), 150))
        below = np.exp(draw.uniform(np.log(least), np.log(tiny), 40))
        near = np.concatenate([draw.normal(size=200), draw.uniform(-20, 20, 150)])
        x = np.concatenate([corners, spread, below, near])
        x = (x * draw.choice([-1, 1], x.size)).astype(dtype)
    draw.shuffle(x)
    return x


def operands(dtype: Any, count: int) -> list[np.ndarray]:
    if np.dtype(dtype).kind != "c":
        return [reals(dtype, seed) for seed in range(count)]
    part = np.dtype(dtype).type(0).real.dtype
    return [
        np.stack([reals(part, seed), reals(part, seed + 5)], 1).view(dtype)[:, 0]
        for seed in range(count)
    ]


def bits(x: Any) -> np.ndarray:
    """The bits of each element as a row; all NaNs alike."""
    x = np.ascontiguousarray(x).reshape(-1, 1)
    if x.dtype.kind == "c":
        x = x.view(x.real.dtype)
    nan = x != x
    return np.where(nan, -1, x.view(f"i{x.dtype.itemsize}"))


def check(name: str, dtype: Any, sizes: tuple[int, ...] = SIZES[2:]) -> None:
    call, count = function(name), 2 if name in (*BINARY, "multiply") else 1
    xs = operands(dtype, count)
    want = bits(call(*map(jnp.asarray, xs)))
    jitted = hloom.jit(lambda *xs: call(*xs))
    draw = np.random.default_rng(1)
    for size in sizes:
        places = (np.arange(size or len(want)) + draw.integers(len(want))) % len(want)
        given = [jnp.asarray(x[places]) for x in xs]
        for how, f in (("eagerly", call), ("under jit", jitted)):
            got = bits(f(*given))
            wrong = np.flatnonzero((got != want[places]).any(1))
            assert not wrong.size, f"{size} elements {how}, at {xs[0][places[wrong[0]]]!r}"


@pytest.mark.parametrize("name", [*UNARY, *STRICT, *BINARY])
def test_f32(name: str) -> None:
    check(name, np.float32, SIZES)


@pytest.mark.parametrize("name", [*UNARY, *STRICT, *BINARY])
def test_f64(name: str) -> None:
    with hloom.enable_x64():
        check(name, np.float64)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sin", "log2", "cbrt", "power", "logistic"])
def test_narrow(name: str, dtype: str) -> None:
    check(name, dtypes.as_dtype(dtype))


@pytest.mark.parametrize("name", ["cbrt", "log2", "exp", "sin", "expm1", "sinh", "arctan", "tan"])
def test_many_bf16_are_those_of_f32_rounded(name: str) -> None:
    x = jnp.asarray(np.linspace(-30, 30, 200), "bfloat16")
    wide = function(name)(x.astype("float32")).astype("bfloat16")
    np.testing.assert_array_equal(bits(function(name)(x)), bits(wide))


@pytest.mark.parametrize("name", COMPLEX)
def test_c64(name: str) -> None:
    check(name, np.complex64)


@pytest.mark.parametrize("name", [*UNARY, *STRICT])
def test_a_constant_is_not_evaluated_by_the_compiler(name: str) -> None:
    call = function(name)
    corners = np.float32([1e-45, -3e-42, 1e-38, 0.3, -1.7, 5.5, 130.25, 2e-20])
    want = bits(call(jnp.asarray(corners)))
    scalars = hloom.jit(lambda: [call(np.float32(x)) for x in corners])()
    np.testing.assert_array_equal(bits(np.stack([np.asarray(x) for x in scalars])), want)
    filled = hloom.jit(lambda: [call(jnp.full(3, np.float32(x))) for x in corners])()
    np.testing.assert_array_equal(bits(np.stack([np.asarray(x)[1] for x in filled])), want)


# ---- one call in many surroundings --------------------------------------------------------------
Call = Callable[..., Any]


def reversed_and_back(f: Call) -> Call:
    return lambda *xs: f(*[x[::-1] for x in xs])[::-1]


# What moves elements or turns signs is exact, and fused with the function.
SURROUNDINGS: dict[str, Callable[[Call], Call]] = {
    "of a negated operand": lambda f: lambda *xs: f(*[-x for x in xs]),
    "backwards": reversed_and_back,
    "chosen": lambda f: lambda *xs: f(*[jnp.where(x == 12345, 0, x) for x in xs]),
    "vectorised": lambda f: hloom.vmap(lambda *xs: f(*xs)),
}


def fused(name: str, dtype: Any) -> None:
    """As in all surroundings, so in rows of 3 elements."""
    call, count = function(name), 2 if name in (*BINARY, "multiply") else 1
    xs = operands(dtype, count)
    want = bits(call(*map(jnp.asarray, xs)))
    for how, around in SURROUNDINGS.items():
        given = [-x for x in xs] if "negated" in how else xs
        got = bits(hloom.jit(around(call))(*map(jnp.asarray, given)))
        wrong = np.flatnonzero((got != want).any(1))
        assert not wrong.size, f"{how}, at {[x[wrong[0]] for x in xs]!r}"
    size = len(xs[0]) // 3 * 3
    rows = [jnp.asarray(x[:size].reshape(-1, 3)) for x in xs]
    for how, f in (("eagerly", call), ("under jit", hloom.jit(lambda *xs: call(*xs)))):
        wrong = np.flatnonzero((bits(f(*rows)) != want[:size]).any(1))
        assert not wrong.size, f"in rows, {how}, at {[x[wrong[0]] for x in xs]!r}"


@pytest.mark.parametrize("name", ["arctan", "arctan2", "i0", "logistic", "erf", "erf_inv", "power"])
def test_f32_in_other_surroundings(name: str) -> None:
    fused(name, np.float32)


@pytest.mark.parametrize("name", ["arctan", "log1p", "square", "power", "divide", "integer_pow"])
def test_c64_in_other_surroundings(name: str) -> None:
    fused(name, np.complex64)


@pytest.mark.parametrize("name", ["arctan", "multiply", "divide", "square", "angle", "log"])
def test_c128(name: str) -> None:
    with hloom.enable_x64():
        check(name, np.complex128)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_subnormal_number_is_no_zero_to_a_power(dtype: str) -> None:
    """LLVM made a comparison of floats of one of bits in some programs, and not in others."""
    with hloom.enable_x64():
        tiny = np.finfo(dtype).smallest_subnormal
        base = jnp.full(990, 1.5 + 2j, dtype)
        exponent = jnp.asarray(np.full(990, complex(5, 3 * tiny), dtype))
        near = np.asarray(base ** jnp.full(990, 5 + 1e-30j, dtype))[0]
        back = hloom.jit(lambda x, y: x[::-1] ** y[::-1])
        for got in (base**exponent, hloom.jit(jnp.power)(base, exponent), back(base, exponent)):
            np.testing.assert_array_equal(np.asarray(got).real, near.real)


def test_a_subnormal_shape_of_a_gamma_variable_is_no_zero() -> None:
    shape, sample = jnp.asarray(np.float32([6e-45, 1e-40])), jnp.ones(2)
    for call in (lax.random_gamma_grad, hloom.jit(lax.random_gamma_grad)):
        assert not np.isnan(np.asarray(call(shape, sample))).any()


def excess(x: Fraction, y: Fraction) -> float:
    """How far x*x + y*y is above 1, rounded once."""
    return float(x * x + y * y - 1)


REAL_PARTS: dict[str, Callable[[Fraction, Fraction], float]] = {
    "log": lambda x, y: np.log1p(excess(x, y)) / 2,
    "log1p": lambda x, y: np.log1p(excess(1 + x, y)) / 2,
    "arctanh": lambda x, y: np.log1p(float(4 * x / ((1 - x) ** 2 + y * y))) / 4,
}


@pytest.mark.parametrize("name", REAL_PARTS)
def test_c64_has_all_digits_where_others_cancel(name: str) -> None:
    draw = np.random.default_rng(0)
    turn = np.exp(1j * draw.uniform(0, 2 * np.pi, 300))
    z = turn * (1 + 1e-6 * draw.normal(size=300)) - (1 if name == "log1p" else 0)
    z = z.astype(np.complex64)
    got = np.asarray(getattr(jnp, name)(jnp.asarray(z))).real
    true = [REAL_PARTS[name](Fraction(float(x.real)), Fraction(float(x.imag))) for x in z]
    np.testing.assert_array_max_ulp(got, np.float32(true), maxulp=1)  # half an ulp, from f64


# log of f32 and powers of f64 are XLA's own, which take subnormal numbers for zeros.
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, dtype) for name in ("log2", "log10", "cbrt", "log1p") for dtype in ("f4", "f8")),
        ("power", "f4"),
        ("log", "f8"),
    ],
)
def test_subnormal_operands_have_their_own_answers(name: str, dtype: str) -> None:
    info = np.finfo(dtype)
    x = np.array([1, 3, 1e5, 2**20], dtype) * info.smallest_subnormal
    more = (np.array([0.5, -0.5, 0.7, 0.25], dtype),) if name == "power" else ()
    with hloom.enable_x64():
        got = np.asarray(function(name)(jnp.asarray(x), *map(jnp.asarray, more)))
    want = getattr(np, name)(x, *more)
    np.testing.assert_allclose(got, want, rtol=4 * info.eps, atol=0)


def test_exact_programs_do_not_depend_on_what_stands_beside() -> None:
    """Fused products and sums are all that `jit` may change, and `exact` has none."""
    x, y = reals(np.float32, 1)[:300], reals(np.float32, 2)[:300]

    def chain(x: Any, y: Any) -> tuple[Any, ...]:
        a = jnp.log2(x) * y + jnp.sin(y)
        b = jnp.cbrt(a) - a * x
        return a, b, jnp.arctan2(a, b) * 3 + y, jnp.tanh(x * y - 1)

    with hloom.exact():
        whole = hloom.jit(chain)(x, y)
        parts = chain(jnp.asarray(x), jnp.asarray(y))
    for one, other in zip(whole, parts):
        np.testing.assert_array_equal(bits(one), bits(other))
