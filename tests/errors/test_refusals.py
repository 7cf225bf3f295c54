"""Calls without a meaning are refused; calls that NumPy gives one are taken, as the docs say."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax

o = np.ones


def registered_twice():
    pair = dataclasses.make_dataclass("Pair", ["a", "b"])
    hloom.tree_util.register_dataclass(pair, ["a", "b"], ["a"])


def top_of(length):
    shape = hloom.ShapeDtypeStruct((length,), "int8")
    return hloom.eval_shape(lambda x: lax.top_k(x, 1), shape)[1].dtype


REFUSED = [
    (lambda: lax.pad(o(3, "f"), np.zeros(2, "f"), [(0, 0, 0)]), ValueError, "one value"),
    (lambda: jnp.size(o((2, 3)), (0, 0)), ValueError, "repeated axis"),
    (lambda: jnp.size(o((2, 3)), (0, -2)), ValueError, "repeated axis"),
    (lambda: jnp.size(o((2, 3)), (0, 2)), ValueError, "out of bounds"),
    (lambda: jnp.var(o(2, "F"), dtype="float32"), ValueError, "drop the imaginary parts"),
    (lambda: jnp.nanvar(o(2, "F"), dtype="float32"), ValueError, "drop the imaginary parts"),
    (lambda: jnp.std(o(2, "F"), dtype=int), TypeError, "drop the imaginary parts"),
    (lambda: jnp.vectorize(lambda x: x, excluded="x"), TypeError, "excluded={'x'}"),
    (lambda: hloom.device_put([1, 2], [hloom.devices()[0]]), ValueError, "prefix"),
    (registered_twice, ValueError, r"\['a'\] in both"),
    (lambda: top_of(2**31 + 1), ValueError, "i32"),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED)
def test_what_has_no_meaning_is_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_what_is_like_it_and_has_a_meaning_is_taken():
    assert jnp.size(o((2, 3)), (0, 1)) == 6
    assert jnp.size(o((2, 3)), ()) == 1
    assert top_of(2**31) == np.int32
    assert hloom.device_put([1, 2]) == [1, 2]
    assert hloom.device_put([1, 2], [hloom.devices()[0], None]) == [1, 2]
    assert jnp.var(o(2, "F")) == 0
    assert lax.pad(o(3, "f"), 0.0, [(0, 0, 0)]).shape == (3,)


# ---- what lax takes as JAX does ---------------------------------------------------------------
def highest(x, y):
    """The dtype of a product of two dtypes, as a table of kinds, widths and ties."""
    names = ["bool", "uint8", "int8", "int16", "uint32", "int32", "float16", "bfloat16", "float32",
             "complex64"]  # fmt: skip
    return max(x, y, key=names.index)


DTYPES = ["bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "bfloat16", "float32",
          "complex64"]  # fmt: skip


@pytest.mark.parametrize("lhs", DTYPES)
def test_dot_of_two_dtypes_is_in_the_higher(lhs):
    for rhs in DTYPES:
        x, y = jnp.ones(3, lhs), jnp.ones((3, 2), rhs)
        out = lax.dot(x, y)
        assert out.dtype == jnp.dtype(highest(lhs, rhs))
        assert out.tolist() == ([1, 1] if lhs == rhs == "bool" else [3, 3])
        general = lax.dot_general(x, y, (((0,), (0,)), ((), ())))
        assert general.dtype == out.dtype


def test_products_of_two_dtypes_elsewhere():
    rows, matrices = jnp.ones((4, 3)), jnp.ones((2, 3, 6), "bfloat16")
    assert lax.ragged_dot(rows, matrices, jnp.array([2, 2])).dtype == np.float32
    assert lax.batch_matmul(jnp.ones((2, 4, 3)), matrices).dtype == np.float32
    gradient = hloom.grad(lambda x: lax.dot(x, jnp.ones((3, 2), int)).sum())(jnp.ones(3, "f2"))
    assert gradient.dtype == np.float16
    assert gradient.tolist() == [2, 2, 2]


@pytest.mark.parametrize("engine", ["xla", "reference", "numpy"])
def test_a_narrower_preferred_float_is_rounded_to_once(engine):
    with hloom.engine(engine):
        x = jnp.array([1.0, 2.0**-9, 2.0**-9])  # in bfloat16 each step would be lost
        out = lax.dot(x, jnp.ones(3), preferred_element_type="bfloat16")
        assert out.dtype == jnp.bfloat16
        assert float(out) == float(jnp.float32(1 + 2.0**-8).astype("bfloat16"))
        assert jnp.dot(x, x, preferred_element_type="bfloat16").dtype == jnp.bfloat16
        assert jnp.einsum("i,i", x, x, preferred_element_type="float16").dtype == np.float16
    slope = hloom.grad(
        lambda x: lax.dot(x, x, preferred_element_type="bfloat16").astype("float32")
    )(x)
    assert slope.dtype == np.float32
    with pytest.raises(TypeError, match="not narrower"):
        lax.dot(jnp.arange(3), jnp.arange(3), preferred_element_type="int8")


def add(i, total):
    return total + i


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (1.0, 3.0, 3.0), (1, 3.0, 3.0), (0.5, 3, 4.5), (0.0, 2.5, 3.0), (3.0, 1.0, 0.0),
        (0.0, float("nan"), 0.0), (np.float32(1), np.float32(3), 3.0), (-1.5, 1.0, -1.5),
    ],
)  # fmt: skip
def test_fori_loop_counts_floats_by_one(lower, upper, expected):
    def loop(lower, upper):
        return lax.fori_loop(lower, upper, add, 0.0)

    assert float(loop(lower, upper)) == expected
    assert float(hloom.jit(loop)(lower, upper)) == expected
    assert float(hloom.jit(lambda: loop(lower, upper))()) == expected
    assert float(hloom.vmap(loop)(o(2) * lower, o(2) * upper)[1]) == expected
    with hloom.disable_jit():
        assert float(loop(lower, upper)) == expected


def test_fori_loop_of_floats_is_differentiated():
    cube = hloom.grad(lambda x: lax.fori_loop(0.0, 3.0, lambda i, c: c * x, 1.0))
    assert float(cube(2.0)) == 12.0


@pytest.mark.parametrize("swap", [False, True])
def test_a_weak_bound_takes_the_dtype_of_the_other(swap):
    def loop(n):
        bounds = (n, np.int16(5)) if swap else (np.int16(0), n)
        return lax.fori_loop(*bounds, lambda i, c: c + i, np.int16(0))

    result = hloom.jit(loop)(0 if swap else 5)
    assert (result.dtype, int(result)) == (np.int16, 10)
    with pytest.raises(TypeError, match="one dtype"):
        hloom.jit(loop)(np.int32(5))


def test_fori_loop_without_an_end_is_an_overflow():
    with pytest.raises(OverflowError, match="never end"):
        lax.fori_loop(0.0, float("inf"), add, 0.0)


def test_broadcast_in_dim_takes_axes_in_any_order():
    x = np.arange(12, dtype="int32").reshape(3, 2, 2)
    made = lax.broadcast_in_dim(x, (2, 3, 2), (1, 2, 0))
    np.testing.assert_array_equal(made, x.transpose(2, 0, 1))
    thin = lax.broadcast_in_dim(x[:, :1, 0], (2, 3, 4), (1, 0))
    np.testing.assert_array_equal(thin, np.broadcast_to(x[:, 0, 0][:, None], (2, 3, 4)))
    weights = np.arange(6.0, dtype="float32").reshape(2, 3)
    slope = hloom.grad(lambda x: (lax.broadcast_in_dim(x, (2, 3), (1, 0)) * weights).sum())
    np.testing.assert_array_equal(slope(o((3, 2), "f")), weights.T)
    for dims in [(1, 1), (0, 5), (-1, 0)]:
        with pytest.raises(ValueError, match="distinct"):
            lax.broadcast_in_dim(o((3, 3)), (3, 3), dims)


def test_fft_over_no_axes_is_the_operand():
    x = jnp.array([1 + 2j, 3])
    for kind in ("FFT", "IFFT", "IRFFT"):
        np.testing.assert_array_equal(lax.fft(x, kind, ()), x)
    np.testing.assert_array_equal(lax.fft(x.real, "RFFT", ()), x.real)
    with pytest.raises(TypeError, match="over no axes"):
        lax.fft(x, "RFFT", ())


@pytest.mark.parametrize("left_side", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_triangular_solve_takes_vectors(left_side, transpose_a):
    rng = np.random.default_rng(0)
    a = np.tril(rng.uniform(1, 2, (2, 3, 3))).astype("float32")
    b = rng.uniform(-1, 1, (2, 3)).astype("float32")
    how = {"left_side": left_side, "transpose_a": transpose_a, "lower": True}
    matrix = a if left_side != transpose_a else a.transpose(0, 2, 1)
    wanted = np.linalg.solve(matrix, b[..., None])
    np.testing.assert_allclose(lax.linalg.triangular_solve(a, b, **how), wanted[..., 0], rtol=1e-5)
    one = lax.linalg.triangular_solve(a[0], b[0], **how)
    np.testing.assert_allclose(one, wanted[0, :, 0], rtol=1e-5)
    slope = hloom.grad(lambda b: lax.linalg.triangular_solve(a[0], b, **how).sum())(b[0])
    assert slope.shape == (3,)


def test_composite_takes_dtypes_and_leaves_none_out():
    def call(x):
        return lax.composite(lambda x, **_: x, "my.op")(x, dtype=np.dtype("f4"), omit=None)

    text = hloom.jit(call).lower(1.0).as_text()
    assert '"dtype" = f32' in text
    assert "omit" not in text
    for kind in (NotImplementedError, ValueError):
        with pytest.raises(kind, match="no derivative"):
            hloom.grad(call)(1.0)


def test_static_positions_and_names_together_are_taken_as_they_say():
    seen = []

    def spy(x, y):
        seen.append((type(x) is int, type(y) is int))
        return 0

    both = hloom.jit(spy, static_argnums=0, static_argnames="y")
    both(1, 2)
    both(1, y=2)
    both(x=1, y=2)
    hloom.jit(spy, static_argnums=0)(x=1, y=2)
    hloom.jit(spy, static_argnames="y")(1, 2)
    hloom.jit(spy, static_argnums=0, static_argnames=())(x=1, y=2)
    assert seen == [
        (True, False), (True, True), (False, True), (True, False), (False, True), (False, False),
    ]  # fmt: skip


def test_donations_that_no_result_can_use_are_told():
    with pytest.warns(UserWarning, match=r"Some donated buffers were not usable: f32\[3\]") as told:
        hloom.jit(lambda x: x.sum(), donate_argnums=0)(jnp.ones(3))
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match=r"f32\[3\]"):
        hloom.jit(lambda x, y: x + y, donate_argnums=(0, 1))(jnp.ones(3), jnp.ones(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hloom.jit(lambda x: x * 2, donate_argnums=0)(jnp.ones(3))
        hloom.jit(lambda x: x.reshape(1, 3) * 2, donate_argnums=0)(jnp.ones(3))
        hloom.jit(lambda x, y: x * 2, donate_argnums=1)(jnp.ones(3), jnp.ones(2))


TAKEN = [
    lambda: jnp.where(o(3) > 0, o((3, 3)), 1.0),
    lambda: jnp.where(o((3, 3)) > 0, o(3), 2.0),
    lambda: jnp.choose(o(3, int), [o((3, 3)), 2.0]),
    lambda: jnp.select([o(3) > 0], [o((2, 3))], 0.0),
    lambda: jnp.put_along_axis(o((3, 3)), np.zeros((3, 1), int), 1.0, 1, inplace=False),
    lambda: jnp.trapezoid(o((2, 3)), dx=o(2)),
    lambda: jnp.nan_to_num(o((2, 3)), nan=o(3)),
    lambda: jnp.interp(o((2, 3)), o(3), o(3), left=0.0),
    lambda: jnp.ones((2, 3)) + 1.0,
]


@pytest.mark.parametrize("call", TAKEN)
def test_rank_promotion_is_not_asked_where_the_user_broadcast_nothing(call):
    plain = call()
    for mode in ("raise", "warn"):
        with hloom.numpy_rank_promotion(mode), warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(call(), plain)


@pytest.mark.parametrize(
    "call",
    [
        lambda: jnp.ones((2, 3)) + jnp.ones(3),
        lambda: jnp.vectorize(lambda x, y: x + y)(o((2, 3)), o(3)),
        lambda: jnp.vectorize(lambda x, y: x + y, signature="(n),(n)->(n)")(o((2, 3)), o(3)),
    ],
)
def test_rank_promotion_is_asked_where_operands_are_spread(call):
    with hloom.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="different rank"):
        call()
    with hloom.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="different rank"):
        call()
