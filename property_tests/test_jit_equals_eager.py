"""`jit(f)(*args)` is `f(*args)`: in value, shape, dtype and weak type, or both raise the same.

Operands are of every kind: Arrays, weakly typed ones, NumPy's arrays and scalars, Python's numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom
import hloom.numpy as jnp
from hloom import dtypes

# ---- operands ------------------------------------------------------------------------------------
NARROW = """
    bool int4 uint4 int8 uint8 int16 int32 uint32 float8_e4m3fn float8_e5m2 float16 bfloat16
    float32 complex64
""".split()
WIDE = ["int64", "uint64", "float64", "complex128"]
SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (0, 3)]
NUMBERS = st.one_of(
    st.booleans(),
    st.integers(0, 100),
    st.sampled_from([0.0, -0.0, 0.5, 2.0, -3.25, float("inf"), float("nan")]),
    st.sampled_from([1j, complex(2.0, -0.5)]),
)


@st.composite
def values(draw: Any, names: list[str]) -> np.ndarray[Any, Any]:
    """Small whole numbers, as an ndarray: sums and products of them are exact."""
    shape = draw(st.sampled_from(SHAPES))
    drawn = draw(st.lists(st.integers(0, 6), min_size=6, max_size=6))
    flat = np.array(drawn[: int(np.prod(shape))], np.float64)
    return flat.reshape(shape).astype(dtypes.as_dtype(draw(st.sampled_from(names))))


@st.composite
def operands(draw: Any, x64: bool) -> Any:
    """A recipe: called with 64-bit types on or off, it makes the operand."""
    value = draw(values(NARROW + WIDE * x64))
    number = draw(NUMBERS)
    match draw(st.sampled_from(["Array", "Array", "weak", "ndarray", "scalar", "number"])):
        case "Array":
            return lambda: jnp.asarray(value)
        case "weak":
            return lambda: jnp.broadcast_to(number, value.shape)
        case "ndarray":
            return lambda: value
        case "scalar":
            return lambda: value.reshape(-1)[0] if value.size else value
        case _:
            return lambda: number


# ---- the table -----------------------------------------------------------------------------------
UNARY = """
    abs positive negative sign square sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan
    arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint round fix
    isnan isinf isfinite signbit logical_not invert conj real imag angle reciprocal deg2rad
    rad2deg fabs sinc i0 nan_to_num modf frexp bitwise_count spacing isreal iscomplex sum prod
    mean std var any all cumsum cumprod count_nonzero median nansum nanprod nanmean nanstd
    nanmedian nancumsum sort argsort ravel flip transpose squeeze atleast_1d atleast_2d
    atleast_3d zeros_like ones_like copy diff ediff1d trapezoid asarray array sort_complex max
    min argmax argmin ptp nanmax nanmin diag diagflat tril triu vander
""".split()
BINARY = """
    add subtract multiply divide floor_divide remainder fmod divmod power float_power maximum
    minimum fmax fmin arctan2 hypot logaddexp logaddexp2 copysign nextafter ldexp heaviside gcd
    lcm bitwise_and bitwise_or bitwise_xor left_shift right_shift logical_and logical_or
    logical_xor equal not_equal less less_equal greater greater_equal isclose allclose
    array_equal dot matmul inner outer vdot kron convolve append searchsorted isin clip
""".split()
OTHERS: dict[str, Any] = {
    "where": lambda x, y: jnp.where(x, y, x),
    "select": lambda x, y: jnp.select([jnp.asarray(x) > 0], [y], x),
    "full_like": lambda x, y: jnp.full_like(x, 3, shape=jnp.shape(y)),
    "concatenate": lambda x, y: jnp.concatenate([jnp.ravel(x), jnp.ravel(y)]),
    "stack": lambda x, y: jnp.stack([x, y]),
    "hstack": lambda x, y: jnp.hstack([x, y]),
    "array of both": lambda x, y: jnp.array([jnp.ravel(x)[:1], jnp.ravel(y)[:1]]),
    "operators": lambda x, y: (jnp.asarray(x) + y) * 2 - y / (jnp.asarray(x) + 1.5),
    "reflected": lambda x, y: 2 - jnp.asarray(x) + (1.5 * jnp.asarray(y)),
    "power of two": lambda x, y: jnp.asarray(x) ** 2 + jnp.asarray(y) ** 2.0,
    "comparison": lambda x, y: (jnp.asarray(x) < y, 1 == jnp.asarray(y)),
    "astype": lambda x, y: (jnp.asarray(x).astype(float), jnp.asarray(y).astype("int32")),
    "sum with dtype": lambda x, y: jnp.sum(x, dtype="float32") + jnp.sum(y, axis=-1, keepdims=True),
    "at": lambda x, y: jnp.asarray(x).at[...].set(y),
    "at add": lambda x, y: jnp.asarray(x).at[..., :1].add(2),
    "index": lambda x, y: (jnp.ravel(x)[0], jnp.ravel(y)[:2], jnp.asarray(x)[None]),
    "take": lambda x, y: jnp.take(x, jnp.array([0, 0])),
    "pad": lambda x, y: jnp.pad(x, 1, constant_values=3),
    "linspace": lambda x, y: jnp.linspace(x, y, 4),
    "interp": lambda x, y: jnp.interp(x, jnp.array([0.0, 4.0]), jnp.array([1.0, 2.0])),
    "einsum": lambda x, y: jnp.einsum("...,...->...", x, y),
    "tensordot": lambda x, y: jnp.tensordot(x, y, axes=0),
    "round to 1": lambda x, y: jnp.round(x, 1),
    "quantile": lambda x, y: jnp.quantile(x, 0.25),
    "result_type": lambda x, y: jnp.zeros((), jnp.result_type(x, y)),
    "grad": lambda x, y: hloom.grad(lambda a: jnp.sum(jnp.sin(a) * jnp.real(y)))(x),
    "vmap": lambda x, y: hloom.vmap(lambda a: a * y)(jnp.atleast_1d(x)),
}  # fmt: skip
TABLE: dict[str, Any] = {
    **{name: getattr(jnp, name) for name in UNARY},
    **{name: getattr(jnp, name) for name in BINARY},
    **OTHERS,
}


# ---- the claim -----------------------------------------------------------------------------------
def outcome(fun: Any, args: tuple[Any, ...]) -> Any:
    """The results in a list, or the exception."""
    try:
        return hloom.tree.leaves(fun(*args))
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        return error


def compare(name: str, args: tuple[Any, ...], eager: Any, jitted: Any) -> None:
    told = f"{name}{args}: {eager!r} eagerly, {jitted!r} jitted"
    if isinstance(eager, Exception) or isinstance(jitted, Exception):
        assert type(eager) is type(jitted), told
        return
    assert len(eager) == len(jitted), told
    for one, other in zip(eager, jitted):
        one = jnp.asarray(one)  # a Python bool, of array_equal
        assert one.aval is other.aval, f"{told}: {one.aval!r} and {other.aval!r}"
        x, y = np.asarray(one), np.asarray(other)
        if dtypes.kind(x.dtype) in ("bool", "signed", "unsigned"):
            np.testing.assert_array_equal(x, y, err_msg=told)
        else:
            wide = np.complex128 if x.dtype.kind == "c" else np.float64
            eps = 8 * float(dtypes.finfo(x.dtype).eps)  # where XLA contracts a product and a sum
            np.testing.assert_allclose(
                x.astype(wide), y.astype(wide), rtol=eps, atol=eps, err_msg=told
            )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TABLE)
@given(data=st.data(), x64=st.booleans())
@settings(max_examples=max(4, settings().max_examples // 20))  # of 183 functions each
def test_jit_gives_what_an_eager_call_gives(name: str, data: Any, x64: bool) -> None:
    recipes = [data.draw(operands(x64))]
    if name in BINARY or name in OTHERS:
        recipes.append(data.draw(operands(x64)))
    with hloom.enable_x64(x64):
        args = tuple([make() for make in recipes])
        fun = TABLE[name]
        compare(name, args, outcome(fun, args), outcome(hloom.jit(lambda *xs: fun(*xs)), args))
