"""Creation: NumPy's values, our dtypes, what is refused and in whose words."""

from __future__ import annotations

import enum
import warnings

import ml_dtypes
import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import jit, make_jaxpr
from hloom.errors import ConcretizationTypeError, TruncationWarning


class Level(enum.IntEnum):
    HIGH = 3


# value, dtype, weak type
ARRAYS = [
    (1, "int32", True),
    (1.5, "float32", True),
    (True, "bool", False),
    (1j, "complex64", True),
    (Level.HIGH, "int32", True),
    ([1, 2, 3], "int32", False),
    ((1, 2.5), "float32", False),
    ([True, 2], "int32", False),
    ([1j, 2], "complex64", False),
    ([], "float32", False),
    ([[], []], "float32", False),
    ([[1, 2], (3, 4)], "int32", False),
    (range(3), "int32", False),
    (bytearray(b"abc"), "uint8", False),
    (memoryview(b"abc"), "uint8", False),
    (np.float64(2), "float32", False),
    (np.int8(2), "int8", False),
    (np.arange(3), "int32", False),
    (np.ones((2, 3)), "float32", False),
    (np.ones(2, ml_dtypes.bfloat16), "bfloat16", False),
    (np.array(3, ">i2"), "int16", False),
    (np.arange(6).reshape(2, 3).T[::-1], "int32", False),
    ([np.int8(1), 2], "int8", False),
    ([np.int8(1), 2.5], "float32", False),
    ([np.float16(1), 2.5], "float16", False),
    ([np.ones(2), [3, 4]], "float32", False),
]


@pytest.mark.parametrize(
    "value, dtype, weak", ARRAYS, ids=lambda x: f"{x!r:.30}".split(" at 0x")[0]
)
def test_array_has_numpys_values_and_the_dtype_its_elements_promote_to(value, dtype, weak):
    for made in [jnp.array(value), jnp.asarray(value)]:
        assert isinstance(made, hloom.Array)
        assert (made.dtype, made.weak_type) == (np.dtype(dtype), weak)
        np.testing.assert_array_equal(np.asarray(made), np.array(value).astype(made.dtype))


# Lists that hold arrays: value, dtype.
STACKS = [
    (lambda x: [x, x], "float32"),
    (lambda x: [x, 1], "float32"),
    (lambda x: [[x, 1], [2, x]], "float32"),
    (lambda x: [jnp.arange(2), [x, 3]], "float32"),
    (lambda x: [jnp.float16(1), 2.5], "float16"),
    (lambda x: [np.int8(1), x], "float32"),
    (lambda x: [jnp.ones((2, 2)), [[x, x], [1, 2]]], "float32"),
]


@pytest.mark.parametrize("make, dtype", STACKS)
def test_lists_may_hold_arrays_and_tracers(make, dtype):
    x = jnp.float32(7)

    def plain(value):
        return [plain(v) for v in value] if isinstance(value, list) else np.asarray(value)

    want = np.array(plain(make(x))).astype(dtype)
    for got in [jnp.array(make(x)), jit(lambda x: jnp.array(make(x)))(x)]:
        assert got.dtype == np.dtype(dtype) and not got.weak_type
        np.testing.assert_array_equal(got, want)


def test_a_gradient_flows_through_a_list_of_tracers():
    slope = hloom.grad(lambda x: jnp.array([x, 2 * x, 1.0])[1])(3.0)
    assert float(slope) == 2.0


def test_a_changed_source_never_changes_the_array():
    for size in [1, 7, 64, 1000]:
        for make in [jnp.array, jnp.asarray, hloom.device_put]:
            whole = np.zeros(size + 16, np.float32)
            start = (-whole.ctypes.data // 4) % 16  # a slice that starts at a multiple of 64 bytes
            for source in [whole[start : start + size], whole[:size]]:
                made = make(source)
                source[:] = 1
                np.testing.assert_array_equal(made, np.zeros(size))
                source[:] = 0


def test_array_copies_and_asarray_does_not():
    x = jnp.arange(3.0)
    assert jnp.asarray(x) is x and jnp.asarray(x, dtype=jnp.float32) is x
    for copied in [jnp.array(x), jnp.copy(x), x.copy(), jnp.asarray(x, copy=True)]:
        assert copied is not x
        assert copied.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    assert jnp.array(x, copy=False) is x
    with pytest.raises(ValueError, match="copy"):
        jnp.asarray(np.ones(2), copy=False)


def test_ndmin_puts_axes_in_front():
    assert jnp.array([1, 2], ndmin=3).shape == (1, 1, 2)
    assert jnp.array(5, ndmin=1).shape == (1,)
    assert jnp.array([[1]], ndmin=1).shape == (1, 1)


def test_array_protocols_are_asked():
    class Own:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    class Ours:
        def __hloom_array__(self):
            return jnp.arange(3)

    class Listlike:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return [4, 5][i]

    np.testing.assert_array_equal(jnp.array(Own()), [0, 1, 2])
    assert jnp.asarray(Ours()).dtype == np.int32
    np.testing.assert_array_equal(jnp.asarray(Listlike()), [4, 5])


# ---- what is refused ----------------------------------------------------------------------------
REFUSED = [
    (lambda: jnp.array([[1, 2], [3]]), ValueError, "inhomogeneous"),
    (lambda: jnp.array([jnp.ones(2), jnp.ones(3)]), ValueError, "equal lengths"),
    (lambda: jnp.array([1, [2, 3]]), ValueError, "inhomogeneous"),
    (lambda: jnp.array("a"), TypeError, "text 'a'"),
    (lambda: jnp.array(["a", "b"]), TypeError, "text 'a'"),
    (lambda: jnp.array(["1", "2"], dtype=float), TypeError, "text '1'"),
    (lambda: jnp.array(b"abc"), TypeError, "text b'abc'"),
    (lambda: jnp.array(None), TypeError, "None"),
    (lambda: jnp.array([1.0, None]), TypeError, "None"),
    (lambda: jnp.array([1.0, None], dtype=float), TypeError, "None"),
    (lambda: jnp.array(object()), TypeError, "object"),
    (lambda: jnp.array({1, 2}), TypeError, "list"),
    (lambda: jnp.array({"a": 1}), TypeError, "dict"),
    (lambda: jnp.array(i for i in range(3)), TypeError, "list"),
    (lambda: jnp.array(np.array([object()])), TypeError, "object"),
    (lambda: jnp.array(np.array(["a"])), TypeError, "text"),
    (lambda: jnp.array(np.array(["2020"], "datetime64[Y]")), TypeError, "dates"),
    (lambda: jnp.array(2**40), OverflowError, "out of bounds for int32"),
    (lambda: jnp.array([1, 2**40]), OverflowError, "1099511627776 out of bounds for int32"),
    (lambda: jnp.array(2**70), OverflowError, "out of bounds"),
    (lambda: jnp.array([2**70]), OverflowError, "too large"),
    (lambda: jnp.array(np.array([2**40])), OverflowError, "1099511627776"),
    (lambda: jnp.array(300, "uint8"), OverflowError, "out of bounds for uint8"),
    (lambda: jnp.array([-1], "uint8"), OverflowError, "out of bounds for uint8"),
    (lambda: jnp.array(100, "int4"), OverflowError, "out of bounds for int4"),
    (lambda: jnp.array([np.int8(1), 300]), OverflowError, "300 out of bounds for int8"),
    (lambda: jnp.array(float("nan"), int), ValueError, "nan to integer"),
    (lambda: jnp.array([float("inf")], int), OverflowError, "inf to integer"),
    (lambda: jnp.array(1j, float), TypeError, "complex"),
    (lambda: jnp.array([1], dtype="flaot32"), TypeError, "did you mean 'float32'"),
    (lambda: jnp.array([1], order="Z"), ValueError, "order"),
    (lambda: jnp.array([1], device="gpu"), ValueError, "no device"),
    (lambda: jnp.zeros(-1), ValueError, "negative dimensions"),
    (lambda: jnp.zeros((2, -1)), ValueError, "negative dimensions"),
    (lambda: jnp.zeros(2.0), TypeError, "shape"),
    (lambda: jnp.zeros((2, 1.0)), TypeError, "shape"),
    (lambda: jnp.zeros("ab"), TypeError, "shape"),
    (lambda: jnp.zeros(True), TypeError, "shape"),
    (lambda: jnp.zeros(None), TypeError, "shape"),
    (lambda: jnp.zeros(2**70), ValueError, "maximum allowed dimension"),
    (lambda: jnp.zeros(10**15), MemoryError, ""),
    (lambda: jnp.zeros((10**10, 10**10)), MemoryError, ""),
    (lambda: jnp.ones(2, "U4"), TypeError, "text"),
    (lambda: jnp.full((2, 2), [1, 2, 3]), ValueError, "broadcast"),
    (lambda: jnp.full(2, jnp.ones((1, 2))), ValueError, "broadcast"),
    (lambda: jnp.full(2, 300, "uint8"), OverflowError, "uint8"),
    (lambda: jnp.arange(0, 5, 0), ZeroDivisionError, "step"),
    (lambda: jnp.arange(1j), TypeError, "real"),
    (lambda: jnp.arange("a"), TypeError, "real"),
    (lambda: jnp.arange(None), TypeError, "number"),
    (lambda: jnp.arange(jnp.arange(3)), ValueError, "shape"),
    (lambda: jnp.arange(float("nan")), ValueError, "NaN"),
    (lambda: jnp.arange(float("inf")), OverflowError, "infinity"),
    (lambda: jnp.arange(2**40, 2**40 + 3), OverflowError, "int32"),
    (lambda: jnp.arange(300, dtype="uint8"), OverflowError, "uint8"),
    (lambda: jnp.arange(2**80, dtype=float), ValueError, "Maximum allowed size"),
    (lambda: jnp.linspace(0, 1, -1), ValueError, "non-negative"),
    (lambda: jnp.linspace(0, 1, 2.5), TypeError, "num"),
    (lambda: jnp.linspace(0, 1, 3, axis=2), np.exceptions.AxisError, "axis 2"),
    (lambda: jnp.geomspace(0, 10, 3), ValueError, "zero"),
    (lambda: jnp.eye(-1), ValueError, "negative dimensions"),
    (lambda: jnp.eye(2.0), TypeError, "integer N"),
    (lambda: jnp.tril(jnp.ones(3)), ValueError, "2 axes"),
    (lambda: jnp.diag(jnp.ones((2, 2, 2))), ValueError, "1- or 2-d"),
    (lambda: jnp.diag(1), ValueError, "1- or 2-d"),
    (lambda: jnp.vander(jnp.ones((2, 2))), ValueError, "one-dimensional"),
    (lambda: jnp.meshgrid([1], indexing="zz"), ValueError, "indexing"),
    (lambda: jnp.meshgrid(jnp.ones((2, 2))), ValueError, "f32[2,2]"),
    (lambda: jnp.fromiter([1], int, count=2), ValueError, "too short"),
    (lambda: jnp.frombuffer(b"abc", "int32"), ValueError, "buffer size"),
    (lambda: jnp.asarray_chkfinite([1.0, float("nan")]), ValueError, "NaNs"),
    (lambda: jnp.from_dlpack(3), TypeError, "__dlpack__"),
    (lambda: jnp.r_[()], ValueError, "at least one"),
]  # fmt: skip


@pytest.mark.parametrize("make, error, text", REFUSED, ids=lambda x: getattr(x, "__name__", str(x)))
def test_bad_input_raises_errors_of_numpys_kind(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)
    assert jnp.arange(2).tolist() == [0, 1]  # the process goes on


def test_a_traced_size_is_refused_with_the_shape_it_stood_in():
    for make in [
        jnp.zeros,
        lambda n: jnp.ones((2, n)),
        jnp.arange,
        lambda n: jnp.linspace(0, 1, n),
    ]:
        with pytest.raises((ConcretizationTypeError, TypeError), match="n"):
            jit(make)(3)


# ---- dtypes -------------------------------------------------------------------------------------
def test_a_64_bit_dtype_asked_for_by_name_warns_at_the_users_line():
    for dtype in ["float64", np.float64, jnp.int64, "complex128", np.dtype("uint64")]:
        for make in [
            lambda d: jnp.zeros(2, dtype=d),
            lambda d: jnp.array([1, 2], dtype=d),
            lambda d: jnp.full_like(1, 2, dtype=d),
            lambda d: jnp.arange(2).astype(d),
            lambda d: jnp.linspace(0, 1, 3, dtype=d),
            lambda d: jnp.eye(2, dtype=d),
        ]:
            for _ in range(2):  # the second time it comes from a table
                with pytest.warns(TruncationWarning) as caught:
                    make(dtype)
                assert caught[0].filename == __file__


def test_pythons_types_mean_the_default_dtypes_and_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jnp.zeros(2, float).dtype == np.float32
        assert jnp.array([1.5], int).dtype == np.int32
        assert jnp.ones(2, complex).dtype == np.complex64
        assert jnp.arange(3).astype(float).dtype == np.float32
        assert jnp.arange(2, dtype=bool).tolist() == [False, True]


def test_with_64_bit_types_on_the_defaults_are_numpys():
    with hloom.enable_x64():
        for ours, theirs in [
            (jnp.array([1]), np.array([1])),
            (jnp.zeros(2), np.zeros(2)),
            (jnp.arange(3), np.arange(3)),
            (jnp.linspace(0, 1, 7), np.linspace(0, 1, 7)),
            (jnp.array(2**40), np.array(2**40)),
            (jnp.asarray(np.arange(3.0)), np.arange(3.0)),
        ]:
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)


def test_a_float_too_large_for_its_dtype_warns():
    for make in [lambda: jnp.array(1e50), lambda: jnp.array([1e50, 1.0])]:
        with pytest.warns(TruncationWarning):
            assert np.isinf(np.asarray(make())).any()


# ---- of one value -------------------------------------------------------------------------------
SHAPES = [(), 3, (0,), (2, 3), [2, 0, 4], np.int64(2), np.array([2, 2])]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_constants_are_numpys(shape):
    pairs = [
        (jnp.zeros(shape), np.zeros(shape)),
        (jnp.ones(shape, int), np.ones(shape, int)),
        (jnp.empty(shape), np.zeros(shape)),
        (jnp.full(shape, 2.5), np.full(shape, 2.5)),
        (jnp.full(shape, True), np.full(shape, True)),
        (jnp.full(shape, -0.0), np.full(shape, -0.0)),
        (jit(lambda: jnp.ones(shape))(), np.ones(shape)),
    ]
    for ours, theirs in pairs:
        assert ours.shape == theirs.shape
        assert ours.dtype.kind == theirs.dtype.kind
        np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))
        np.testing.assert_array_equal(ours, theirs)


def test_shapes_may_be_arrays_and_large_constants_are_made_by_programs():
    assert jnp.zeros(jnp.array([2, 3])).shape == (2, 3)
    large = jnp.full((300, 1000), 7, "int32")
    assert large.shape == (300, 1000) and bool((large == 7).all())
    assert int(jnp.arange(300_000)[-1]) == 299_999
    np.testing.assert_array_equal(jnp.eye(600, k=-2), np.eye(600, k=-2))
    np.testing.assert_array_equal(jnp.tri(300, 301, k=3), np.tri(300, 301, k=3))
    np.testing.assert_array_equal(jnp.indices((300, 300)), np.indices((300, 300)))


def test_fill_values_may_be_arrays_and_tracers():
    np.testing.assert_array_equal(jnp.full((2, 2), jnp.arange(2)), [[0, 1], [0, 1]])
    got = jit(lambda x: jnp.full((2, 3), x))(1.5)
    np.testing.assert_array_equal(got, np.full((2, 3), 1.5))
    assert jnp.full(2, 1).weak_type and not jnp.full(2, 1, int).weak_type


def test_like_functions_keep_shape_dtype_and_weak_type():
    x = jnp.arange(6, dtype=jnp.int8).reshape(2, 3)
    for make in [
        jnp.zeros_like,
        jnp.ones_like,
        jnp.empty_like,
        lambda *a, **k: jnp.full_like(a[0], 7, **k),
    ]:
        assert make(x).aval is x.aval
        assert make(x, dtype=float).dtype == np.float32
        assert make(x, shape=(4,)).shape == (4,)
        assert make([[1.0, 2.0]]).shape == (1, 2)
        assert make(2.0).weak_type
    assert jnp.zeros_like(hloom.ShapeDtypeStruct((2,), "int16")).dtype == np.int16
    np.testing.assert_array_equal(jnp.full_like(x, 2.9), np.full((2, 3), 2))


# ---- ranges -------------------------------------------------------------------------------------
ARANGES = [
    (10,),
    (0,),
    (-3,),
    (2.0,),
    (2, 7),
    (7, 2),
    (2, 7, 2),
    (7, 2, -2),
    (0, 1, 0.1),
    (1, 0, -0.3),
    (0.5, 3),
    (np.int8(5),),
    (True,),
]


@pytest.mark.parametrize("args", ARANGES, ids=repr)
def test_arange_has_numpys_values(args):
    want = np.arange(*args)
    for got in [jnp.arange(*args), jit(lambda: jnp.arange(*args))()]:
        assert got.dtype.kind in (want.dtype.kind, "i")
        np.testing.assert_array_equal(got, want.astype(got.dtype))
    for dtype in ["float32", "int8", "bfloat16", "complex64"]:
        if all(isinstance(a, int) for a in args):
            np.testing.assert_array_equal(
                jnp.arange(*args, dtype=dtype), np.arange(*args).astype(dtype)
            )


def test_arange_takes_keywords_and_arrays():
    assert jnp.arange(1, stop=4).tolist() == [1, 2, 3]
    assert jnp.arange(start=1, stop=4, step=2).tolist() == [1, 3]
    assert jnp.arange(jnp.array(3)).tolist() == [0, 1, 2]
    assert jnp.arange(jnp.float32(2)).dtype == np.float32
    assert jnp.arange(np.float16(3)).dtype == np.float16


SPACES = [
    ("linspace", (0, 1), {}),
    ("linspace", (0, 10), {"num": 1000}),
    ("linspace", (0, 1), {"num": 5, "endpoint": False}),
    ("linspace", (0, 1), {"num": 1}),
    ("linspace", (0, 1), {"num": 1, "endpoint": False}),
    ("linspace", (0, 1), {"num": 0}),
    ("linspace", (3, 3), {"num": 4}),
    ("linspace", (5, -5), {"num": 7}),
    ("linspace", (0, 10), {"num": 4, "dtype": int}),
    ("linspace", (-10, 10), {"num": 6, "dtype": "int8"}),
    ("linspace", (0, 1j), {"num": 3}),
    ("linspace", ([0, 1], [1, 5]), {"num": 4}),
    ("linspace", ([0, 1], [1, 5]), {"num": 4, "axis": 1}),
    ("linspace", ([0, 1], [1, 5]), {"num": 4, "axis": -1}),
    ("linspace", ([[0], [1]], [1, 5]), {"num": 4, "axis": 1}),
    ("logspace", (0, 3), {"num": 4}),
    ("logspace", (0, 3), {"num": 4, "base": 2.0}),
    ("logspace", (0, 3), {"num": 4, "endpoint": False}),
    ("geomspace", (1, 1000), {"num": 4}),
    ("geomspace", (-1, -1000), {"num": 4}),
    ("geomspace", (1, 256), {"num": 9, "endpoint": False}),
    ("geomspace", ([1, 2], [8, 4]), {"num": 3}),
    ("geomspace", (1, 1j), {"num": 3}),
]


@pytest.mark.parametrize("name, args, kwargs", SPACES, ids=repr)
def test_spaced_numbers_are_numpys(name, args, kwargs):
    ours, theirs = getattr(jnp, name), getattr(np, name)
    want = theirs(*args, **kwargs)
    got = ours(*args, **kwargs)
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want.astype(got.dtype))
    # In a trace the formula runs in double precision, fused: a unit of the 24 bits at most.
    near = {"rtol": 2e-7, "atol": 1e-7 * np.max(np.abs(want), initial=0)}
    np.testing.assert_allclose(jit(lambda: ours(*args, **kwargs))(), want.astype(got.dtype), **near)
    # Of arrays it runs in their own precision: errors grow with the logarithms of the ends.
    arrays = [jnp.asarray(a, got.dtype if got.dtype.kind in "fc" else float) for a in args]
    loose = {"rtol": 2e-5, "atol": 2e-6 * np.max(np.abs(want), initial=0)}
    np.testing.assert_allclose(ours(*arrays, **kwargs), want.astype(got.dtype), **loose)


def test_linspace_ends_exactly_and_gives_its_step():
    x, step = jnp.linspace(0, 10, 4, retstep=True)
    assert float(step) == np.float32(10 / 3)
    for stop in [0.1, 1 / 3, 1e-30, 12345.678]:
        ends = [jnp.linspace(0, stop, 50)[-1], jnp.linspace(0, jnp.float32(stop), 50)[-1]]
        assert [float(e) for e in ends] == [np.float32(stop)] * 2


def test_linspace_has_derivatives():
    slopes = hloom.grad(lambda a, b: jnp.linspace(a, b, 5)[1], argnums=(0, 1))(1.0, 2.0)
    np.testing.assert_allclose(slopes, [0.75, 0.25])


# ---- matrices and grids -------------------------------------------------------------------------
def test_identities_and_triangles_are_numpys():
    for args in [(3,), (2, 4), (4, 2), (0,), (3, 0)]:
        for k in [-5, -1, 0, 1, 5]:
            np.testing.assert_array_equal(jnp.eye(*args, k=k), np.eye(*args, k=k))
            np.testing.assert_array_equal(
                jit(lambda a=args, k=k: jnp.eye(*a, k=k))(), np.eye(*args, k=k)
            )
            np.testing.assert_array_equal(jnp.tri(*args, k=k), np.tri(*args, k=k))
            np.testing.assert_array_equal(
                jit(lambda a=args, k=k: jnp.tri(*a, k=k))(), np.tri(*args, k=k)
            )
    np.testing.assert_array_equal(jnp.identity(3, int), np.identity(3, int))


def test_triangles_of_matrices_keep_special_values():
    x = np.array([[np.nan, -0.0, 1], [np.inf, 2, -0.0]], np.float32)
    stacked = np.stack([x, -x])
    for value in [x, stacked, x > 0, x.astype(complex)]:
        for k in [-3, -1, 0, 1, 3]:
            for name in ["tril", "triu"]:
                want = getattr(np, name)(value, k)
                got = np.asarray(getattr(jnp, name)(jnp.asarray(value), k))
                np.testing.assert_array_equal(got, want.astype(got.dtype))


def test_diagonals_are_moved_exactly():
    v = np.array([np.nan, -0.0, np.inf], np.float32)
    m = np.arange(12, dtype=np.float32).reshape(3, 4)
    m[1, 1], m[0, 0] = np.nan, -0.0
    for k in [-4, -2, -1, 0, 1, 2, 3, 5]:
        for value in [v, m, m.T, v[:0], m[:0]]:
            want = np.diag(value, k)
            got = np.asarray(jnp.diag(jnp.asarray(value), k))
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
        np.testing.assert_array_equal(jnp.diagflat(m, k), np.diagflat(m, k))


def test_vander_has_numpys_values():
    x = np.array([1.1, -2.3, 3.7], np.float32)
    for n in [None, 0, 1, 2, 5]:
        for increasing in [False, True]:
            want = np.vander(x, n, increasing)
            np.testing.assert_allclose(jnp.vander(jnp.asarray(x), n, increasing), want, rtol=1e-6)
    np.testing.assert_array_equal(jnp.vander([1, 2, 3]), np.vander([1, 2, 3]))
    np.testing.assert_array_equal(jnp.vander([True, False]), np.vander([True, False]))
    assert jnp.vander(jnp.ones(0)).shape == (0, 0)


def test_meshgrid_is_numpys():
    vectors = [np.arange(2), np.array([1.5, 2.5, 3.5]), np.arange(4)]
    for count in range(4):
        for indexing in ["xy", "ij"]:
            for sparse in [False, True]:
                ours = jnp.meshgrid(*vectors[:count], indexing=indexing, sparse=sparse)
                theirs = np.meshgrid(*vectors[:count], indexing=indexing, sparse=sparse)
                assert isinstance(ours, tuple) and len(ours) == len(theirs)
                for a, b in zip(ours, theirs):
                    assert a.shape == b.shape
                    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(jnp.meshgrid(1, [2, 3])[0], np.meshgrid(1, [2, 3])[0])


def test_index_objects_are_numpys():
    pairs = [
        (jnp.mgrid[0:2, 0:3], np.mgrid[0:2, 0:3]),
        (jnp.mgrid[0:1:3j], np.mgrid[0:1:3j]),
        (jnp.mgrid[0:4:2, 0:1:0.5], np.mgrid[0:4:2, 0:1:0.5]),
        (jnp.ogrid[0:2, 0:3][1], np.ogrid[0:2, 0:3][1]),
        (jnp.r_[1, 2, 3], np.r_[1, 2, 3]),
        (jnp.r_[0:3, 5, np.array([7.5])], np.r_[0:3, 5, np.array([7.5])]),
        (jnp.r_["0,2", [1, 2], [3, 4]], np.r_["0,2", [1, 2], [3, 4]]),
        (jnp.r_["1,2,0", [1, 2], [3, 4]], np.r_["1,2,0", [1, 2], [3, 4]]),
        (jnp.r_["0,2,0", [1, 2], [[3], [4]]], np.r_["0,2,0", [1, 2], [[3], [4]]]),
        (jnp.c_[[1, 2], [3, 4]], np.c_[[1, 2], [3, 4]]),
        (jnp.c_[np.ones((2, 2)), [3, 4]], np.c_[np.ones((2, 2)), [3, 4]]),
        (jnp.indices((2, 3)), np.indices((2, 3))),
        (jnp.fromfunction(lambda i, j: i + j, (2, 3)), np.fromfunction(lambda i, j: i + j, (2, 3))),
    ]
    for ours, theirs in pairs:
        assert ours.shape == theirs.shape
        np.testing.assert_array_equal(ours, theirs)
    assert [x.shape for x in jnp.indices((2, 3), sparse=True)] == [(2, 1), (1, 3)]
    assert jnp.s_[1:2] == slice(1, 2) and jnp.index_exp[1] == (1,)


def test_buffers_iterators_and_dlpack_are_copied():
    buffer = bytearray(b"\x01\x00\x02\x00")
    x = jnp.frombuffer(buffer, "int16")
    buffer[0] = 9
    assert x.tolist() == [1, 2]
    assert jnp.fromiter((i for i in range(3)), float).dtype == np.float32
    assert jnp.fromiter([jnp.float32(1), 2], int, count=1).tolist() == [1]
    source = np.arange(3.0)
    y = jnp.from_dlpack(source)
    source[:] = 0
    assert y.tolist() == [0, 1, 2] and y.dtype == np.float32


# ---- traces -------------------------------------------------------------------------------------
def test_traced_creation_is_written_as_equations_not_as_constants():
    for make, word in [
        (lambda: jnp.zeros((2, 3)), "broadcast_in_dim"),
        (lambda: jnp.arange(5), "iota"),
        (lambda: jnp.linspace(0, 1, 5), "iota"),
        (lambda: jnp.eye(3), "eq"),
    ]:
        closed = make_jaxpr(make)()
        assert word in str(closed) and not closed.consts


def test_creation_batches_and_differentiates_as_constants():
    x = jnp.arange(3.0)
    got = hloom.vmap(lambda x: jnp.full(2, x) + jnp.arange(2))(x)
    np.testing.assert_array_equal(got, [[0, 1], [1, 2], [2, 3]])
    assert float(hloom.grad(lambda x: (x * jnp.ones(3)).sum())(2.0)) == 3.0


def test_small_creation_compiles_nothing(monkeypatch):
    made = []
    engine = hloom.engines.load("xla")
    monkeypatch.setattr(engine, "compile", lambda *a, **k: made.append(a))
    jnp.zeros((5, 4, 3, 2)), jnp.arange(77), jnp.full((2, 9), 4.0), jnp.linspace(0, 3, 11)
    jnp.eye(7), jnp.array([[1, 2, 3]]), jnp.asarray(np.ones(13)), jnp.tri(6), jnp.indices((2, 5))
    assert not made


def test_files_of_every_format_give_back_what_was_saved(tmp_path):
    x = jnp.arange(6.0).reshape(2, 3)
    y = jnp.array([1.5, -2], jnp.bfloat16)
    for i, value in enumerate([x, y, x > 2, jnp.array(1j)]):
        jnp.save(tmp_path / f"{i}.npy", value)
        again = jnp.load(tmp_path / f"{i}.npy")
        assert again.aval is value.aval.strong()
        np.testing.assert_array_equal(np.asarray(again), np.asarray(value))
    jnp.savez(tmp_path / "all.npz", x, y=y)
    jnp.savez_compressed(tmp_path / "small.npz", x, y=y)
    for name in ["all.npz", "small.npz"]:
        with jnp.load(tmp_path / name) as found:
            assert sorted(found) == ["arr_0", "y"] and found["y"].dtype == y.dtype
            np.testing.assert_array_equal(found["arr_0"], x)
    jnp.savetxt(tmp_path / "x.txt", x)
    np.testing.assert_array_equal(jnp.loadtxt(tmp_path / "x.txt"), x)
    with pytest.raises(FileNotFoundError):
        jnp.load(tmp_path / "nowhere.npy")


def test_requirements_and_memory():
    x = jnp.ones(2)
    assert jnp.require(x) is x and jnp.shares_memory(x, x) and not jnp.may_share_memory(x, x + 0)
    for wrong in ["W", ["F"]]:
        with pytest.raises(ValueError, match="require"):
            jnp.require(x, requirements=wrong)


CORNERS = [0, 1, -3.5, 1e300, -1e300, 5e-324, 1e-310, np.inf, np.nan, 2**60, -0.0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::hloom.errors.TruncationWarning")
@pytest.mark.parametrize("num", [0, 1, 2, 5])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("start", CORNERS)
def test_linspace_of_python_numbers_is_numpys_to_the_bit(start, endpoint, num):
    for stop in CORNERS:
        expected = np.linspace(start, stop, num, endpoint=endpoint)
        with hloom.enable_x64():
            np.testing.assert_array_equal(jnp.linspace(start, stop, num, endpoint), expected)
        got = jnp.linspace(start, stop, num, endpoint)
        np.testing.assert_array_equal(got, expected.astype(np.float32))


def test_size_takes_axes_as_numpy_does() -> None:
    x = np.ones((2, 3, 4))
    for axis in (None, 0, -1, (), (0, 2), np.int8(1), np.array(1), np.array([0, -1]), [1]):
        assert jnp.size(x, axis) == np.size(x, axis)
    assert jnp.size(x, jnp.array(1)) == 3
    for wrong, kind in (((0, -3), ValueError), (3, IndexError), ("0", TypeError)):
        with pytest.raises(kind, match="^size"):
            jnp.size(x, wrong)
    with pytest.raises(TypeError, match="^size"):
        jnp.size(x, np.broadcast_to(1, 10**9))  # at once
