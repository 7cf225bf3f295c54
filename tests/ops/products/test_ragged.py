"""Ragged products in their three modes, against a loop over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, testing
from hloom.lax import RaggedDotDimensionNumbers
from hloom.ops.products import ragged_kernels
from hloom.testing.cases.products import CONTRACTED, PLAIN, ragged_numbers


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint32"])
def test_sizes_of_any_integer_dtype(dtype: str) -> None:
    x = np.arange(400, dtype=np.float32).reshape(400, 1)
    y = np.array([1, 10, 100], np.float32).reshape(3, 1, 1)
    sizes = np.array([100, 120, 90], dtype)
    want = x.ravel() * np.repeat([1, 10, 100, 0], [100, 120, 90, 90])
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, lax.ragged_dot, x, y, sizes)
        np.testing.assert_array_equal(got.ravel(), want, engine)


@pytest.mark.parametrize("offset", [-1, 0, 1, 2, 4])
@pytest.mark.parametrize("count", [1, 3])
def test_group_offset_says_which_matrices_are_here(offset: int, count: int) -> None:
    x = np.arange(1, 9, dtype=np.float32).reshape(8, 1)
    y = np.arange(1, count + 1, dtype=np.float32).reshape(count, 1, 1)
    sizes = np.array([2, 1, 4])
    group = np.array([0, 0, 1, 2, 2, 2, 2, 9]) - offset
    is_here = (group >= 0) & (group < count) & (np.arange(8) < 7)
    want = np.where(is_here, x.ravel() * (group + 1), 0)
    for engine in testing.ENGINES:
        run = lambda x, y, s: lax.ragged_dot(x, y, s, group_offset=np.array([offset]))
        (got,) = testing.results(engine, run, x, y, sizes)
        np.testing.assert_array_equal(got.ravel(), want, engine)


def test_parts_of_the_matrices_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(0)
    x, y = jnp.asarray(rng.normal(size=(20, 3))), jnp.asarray(rng.normal(size=(4, 3, 2)))
    sizes = jnp.array([5, 0, 7, 6])
    parts = [lax.ragged_dot(x, y[i : i + 2], sizes, group_offset=jnp.array([i])) for i in (0, 2)]
    np.testing.assert_array_equal(parts[0] + parts[1], lax.ragged_dot(x, y, sizes))


@pytest.mark.parametrize("engine", testing.ENGINES)
def test_what_is_not_finite_stays_in_its_group(engine: str) -> None:
    x, y = np.ones((5, 2), np.float32), np.ones((3, 2, 2), np.float32)
    y[1], x[4] = np.nan, np.inf
    (got,) = testing.results(engine, lax.ragged_dot, x, y, np.array([2, 1, 1]))
    np.testing.assert_array_equal(got[:, 0], [2, 2, np.nan, 2, 0])
    with hloom.engine(engine):
        slopes = hloom.grad(lambda y: jnp.sum(lax.ragged_dot(x, y, np.array([2, 1, 1]))))(y)
        np.testing.assert_array_equal(slopes[:, 0, 0], [2, 1, 1])
    (got,) = testing.results(
        engine, lambda x, s: lax.ragged_dot_general(x, x, s, CONTRACTED), x, np.array([2, 1, 1])
    )
    np.testing.assert_array_equal(got[:, 0, 0], [2, 1, 1])


@pytest.mark.parametrize("engine", testing.ENGINES)
def test_products_of_bool_are_any(engine: str) -> None:
    x = np.array([[1, 0], [0, 1], [0, 0], [1, 1]], bool)
    y = np.array([[[1], [0]], [[0], [1]]], bool)
    (got,) = testing.results(engine, lax.ragged_dot, x, y, np.array([2, 2]))
    np.testing.assert_array_equal(got.ravel(), [True, False, False, True])
    (got,) = testing.results(
        engine, lambda x, s: lax.ragged_dot_general(x, x, s, CONTRACTED), x, np.array([3, 1])
    )
    np.testing.assert_array_equal(got, [[[1, 0], [0, 1]], [[1, 1], [1, 1]]])
    assert got.dtype == bool


@pytest.mark.parametrize(
    ("lhs", "rhs", "sizes"),
    [((0, 3), (2, 3, 2), [0, 0]), ((4, 0), (2, 0, 2), [2, 2]), ((4, 3), (2, 3, 0), [2, 2]),
     ((4, 3), (0, 3, 2), []), ((4, 3), (1, 3, 2), [0])],
    ids=str,
)  # fmt: skip
def test_empty_operands(lhs: Any, rhs: Any, sizes: Any) -> None:
    for engine in testing.ENGINES:
        (got,) = testing.results(
            engine, lax.ragged_dot, np.ones(lhs), np.ones(rhs), np.array(sizes, np.int32)
        )
        np.testing.assert_array_equal(got, np.zeros((lhs[0], rhs[2])))
    total = lambda x, y: jnp.sum(lax.ragged_dot(x, y, np.array(sizes, np.int32)))
    grads = hloom.grad(total, (0, 1))(jnp.ones(lhs), jnp.ones(rhs))
    assert [g.shape for g in grads] == [lhs, rhs]


@pytest.mark.parametrize("shape", [(0, 2, 3), (2, 0, 3), (2, 5, 0)], ids=str)
def test_empty_places_with_sizes_of_their_own(shape: Any) -> None:
    x, y = np.ones((*shape, 2)), np.ones((2, 2, 4))
    sizes = np.ones((*shape[:2], 2), np.int32)
    numbers = ragged_numbers(((3,), (1,)), ((), ()), 2, 0)
    run = lambda x, y, s: lax.ragged_dot_general(x, y, s, numbers)
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, run, x, y, sizes)
        assert got.shape == (*shape, 4)
    assert hloom.grad(lambda x: jnp.sum(run(x, y, sizes)))(jnp.asarray(x)).shape == x.shape
    inner = ragged_numbers(((0, 1, 2), (0, 1, 2)), ((), ()), 2)
    run = lambda x, s: lax.ragged_dot_general(x, x, s, inner)
    for engine in testing.ENGINES:
        (got,) = testing.results(engine, run, x, sizes)
        np.testing.assert_array_equal(got, np.full((2, 2, 2), got[0, 0, 0]))
    assert hloom.grad(lambda x: jnp.sum(run(x, sizes)))(jnp.asarray(x)).shape == x.shape


def test_vmap_over_everything_and_over_nothing() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3, 6, 2)), rng.normal(size=(3, 2, 2, 4))
    sizes, offset = rng.integers(0, 4, (3, 3)), np.array([[-1], [0], [1]])
    run = lambda x, y, s, o: lax.ragged_dot(x, y, s, group_offset=o)
    with hloom.enable_x64():
        got = hloom.vmap(run)(x, y, sizes, offset)
        want = [run(*example) for example in zip(x, y, sizes, offset)]
        np.testing.assert_allclose(got, np.stack(want), rtol=1e-14)
        got = hloom.vmap(run, (None, None, None, 0))(x[0], y[0], sizes[0], offset)
        np.testing.assert_allclose(
            got, np.stack([run(x[0], y[0], sizes[0], o) for o in offset]), rtol=1e-14
        )
    for axes in ((0, 0, 0, 0), (0, None, None, None), (None, 0, None, None), (None, None, 0, None)):
        given = [z[:0] if a == 0 else z[0] for z, a in zip((x, y, sizes, offset), axes)]
        assert hloom.vmap(run, axes)(*given).shape == (0, 6, 4)
        total = lambda x, s: lax.ragged_dot_general(x, x, s, CONTRACTED)
        if axes[0] == 0 or axes[2] == 0:
            pair = hloom.vmap(total, (axes[0], axes[2]))
            assert pair(given[0], given[2]).shape == (0, 3, 2, 2)


def test_a_product_is_one_equation_and_its_derivatives_another() -> None:
    x, y, sizes = jnp.ones((6, 3)), jnp.ones((2, 3, 4)), jnp.array([2, 4])
    assert str(hloom.make_jaxpr(lax.ragged_dot)(x, y, sizes)).count("= ragged_dot[") == 1
    grads = hloom.grad(lambda x, y: jnp.sum(lax.ragged_dot(x, y, sizes)), (0, 1))
    text = str(hloom.make_jaxpr(grads)(x, y))
    assert text.count("= ragged_dot[") == 2 and text.count("= ragged_sum[") == 1


def test_narrow_floats_are_summed_in_f32() -> None:
    x = jnp.full((5000, 1), 0.25, "bfloat16")
    got = lax.ragged_dot_general(x, x, jnp.array([5000]), CONTRACTED)
    assert got.dtype == x.dtype and float(got[0, 0, 0]) == 312
    wide = lax.ragged_dot_general(
        x, x, jnp.array([5000]), CONTRACTED, preferred_element_type="float32"
    )
    assert float(wide[0, 0, 0]) == 312.5


def test_jit_takes_sizes_as_values() -> None:
    run = hloom.jit(lax.ragged_dot)
    x, y = jnp.ones((6, 1)), jnp.array([1.0, 10.0]).reshape(2, 1, 1)
    for sizes in ([1, 5], [6, 0], [0, 2]):
        want = np.repeat([1, 10, 0], [*sizes, 6 - sum(sizes)])
        np.testing.assert_array_equal(run(x, y, jnp.array(sizes)).ravel(), want)


def test_precision_reaches_the_products() -> None:
    x, y = jnp.full((3, 1), 1.0001), jnp.ones((2, 1, 1))
    got = lax.ragged_dot(x, y, jnp.array([1, 2]), precision="BF16_BF16_F32")
    np.testing.assert_array_equal(got, np.ones((3, 1)))


@pytest.mark.parametrize(("rows", "runs"), [(1, 1), (5, 8), (512, 8), (64, 64), (1000, 1)])
def test_there_are_enough_tiles_for_any_sizes(rows: int, runs: int) -> None:
    size, tiles = ragged_kernels.tile_size(rows, runs, 1)
    rng = np.random.default_rng(0)
    for _ in range(50):
        sizes = rng.multinomial(rows, rng.dirichlet(np.ones(runs) * 0.3))
        assert np.ceil(sizes / size).sum() <= tiles


def test_sizes_whose_sum_int32_does_not_hold() -> None:
    rows = 40_000
    x, y = jnp.ones((rows, 1)), jnp.ones((70_000, 1, 1))
    sizes = jnp.zeros(70_000, int).at[jnp.array([5, 69_999])].set(rows)
    np.testing.assert_array_equal(lax.ragged_dot(x, y, sizes), np.ones((rows, 1)))


X, Y, SIZES = jnp.ones((6, 3)), jnp.ones((2, 3, 4)), jnp.array([2, 4])
DOT = ((1,), (1,)), ((), ())


def _general(numbers: Any, lhs: Any = X, rhs: Any = Y, sizes: Any = SIZES, **options: Any) -> Any:
    return lambda: lax.ragged_dot_general(lhs, rhs, sizes, numbers, **options)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.ragged_dot(X, Y[0], SIZES), TypeError, "matrices [g,k,n]; got f32[6,3] and"),
        (lambda: lax.ragged_dot(X, jnp.ones((2, 4, 4)), SIZES), TypeError, "3 != 4"),
        (lambda: lax.ragged_dot(X, Y, jnp.array([1.0, 2.0])), TypeError, "that are integers"),
        (lambda: lax.ragged_dot(X, Y, 3), TypeError, "shape (groups,)"),
        (lambda: lax.ragged_dot(X, Y, jnp.array([1, 2, 3])), TypeError, "3 are in group_sizes"),
        (lambda: lax.ragged_dot(X, Y, SIZES[None]), TypeError, "shape (groups,)"),
        (lambda: lax.ragged_dot(X, Y, SIZES, group_offset=1.0), TypeError, "integer of shape (1,)"),
        (lambda: lax.ragged_dot(X, Y, SIZES, group_offset=SIZES), TypeError, "shape (1,)"),
        (lambda: lax.ragged_dot(X, Y, SIZES, "some"), ValueError, "precision is one of"),
        (lambda: lax.ragged_dot(X, Y, SIZES, None, "int16"), TypeError, "narrower"),
        (lambda: lax.ragged_dot(X, Y, SIZES, "ANY_F8_ANY_F8_F32"), TypeError, "8-bit float"),
        (lambda: lax.ragged_dot(X.astype("float8_e8m0fnu"), Y.astype("float8_e8m0fnu"), SIZES),
         TypeError, "float8_e8m0fnu has no zero"),
        (lambda: lax.ragged_dot(X, Y, [[1], 2]), TypeError, "takes arrays and numbers"),
        (_general(None), TypeError, "takes lax.RaggedDotDimensionNumbers"),
        (_general(RaggedDotDimensionNumbers(DOT, [], [0])), ValueError, "one axis of lhs"),
        (_general(RaggedDotDimensionNumbers(DOT, [0, 1], [0])), ValueError, "one axis of lhs"),
        (_general(RaggedDotDimensionNumbers(DOT, [2], [0])), ValueError, "from 0 to 1; got (2,)"),
        (_general(RaggedDotDimensionNumbers(DOT, [-2], [0])), ValueError, "got (-2,)"),
        (_general(RaggedDotDimensionNumbers(DOT, [0], [])), ValueError, "a free one"),
        (_general(RaggedDotDimensionNumbers(DOT, [1], [0])), ValueError, "a contracted one"),
        (_general(RaggedDotDimensionNumbers(DOT, [0], [1])), ValueError, "neither contracted"),
        (_general(RaggedDotDimensionNumbers(DOT, [0], [3])), ValueError, "from 0 to 2"),
        (_general(RaggedDotDimensionNumbers((((1, 1), (1, 2)), ((), ())), [0], [0])), TypeError,
         "3 != 4"),
        (_general(CONTRACTED, rhs=X, group_offset=[0]), TypeError, "arrays and numbers"),
        (_general(CONTRACTED, rhs=X, group_offset=jnp.array([0])), ValueError, "only where rhs"),
        (lambda: RaggedDotDimensionNumbers(3, [0], [0]), TypeError, "dimension_numbers as"),
        (lambda: RaggedDotDimensionNumbers(DOT, 0, [0]), TypeError, "lhs_ragged_dimensions"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)


def test_dimension_numbers_are_values() -> None:
    numbers = RaggedDotDimensionNumbers(([[1], [1]], [[], []]), [0], [0])
    assert numbers == PLAIN and hash(numbers) == hash(PLAIN)
    assert "lhs_ragged_dimensions=(0,)" in repr(numbers)
