"""Indexing: what is compiled, what is refused, and in whose words."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import jit, make_jaxpr
from hloom.errors import ConcretizationTypeError, NonConcreteBooleanIndexError
from hloom.numpy.indexing import indexing


def programs() -> int:
    """How many indexing programs are held."""
    return sum(
        len(t)
        for tables in (indexing._tables, indexing._row_tables, indexing._rows_tables)
        for t in tables.values()
    )


def test_a_loop_over_positions_compiles_once():
    x = jnp.arange(77.0)
    x[0]
    before = programs()
    assert [float(x[i]) for i in range(-77, 77)] == [*range(77)] * 2
    x[3:6]
    held = programs()
    for i in range(70):
        np.testing.assert_array_equal(x[i : i + 3], [i, i + 1, i + 2])
    assert programs() == held and held == before + 1


def test_static_indices_are_slices_not_gathers():
    x = jnp.zeros((4, 5))
    for index in [0, (slice(1, 3), -1), (slice(None, None, -2), None), (..., 2)]:
        text = str(make_jaxpr(lambda x, i=index: x[i])(x))
        assert "gather" not in text and "dynamic" not in text
    assert "gather" not in str(make_jaxpr(lambda x, i: x[i])(x, 1))
    assert "dynamic_slice" in str(make_jaxpr(lambda x, i: x[i])(x, 1))
    assert "gather" in str(make_jaxpr(lambda x, i: x[i])(x, jnp.arange(2)))


def test_a_masked_update_inside_jit_is_a_select():
    x = jnp.arange(-3.0, 3.0).reshape(2, 3)
    text = str(make_jaxpr(lambda x: x.at[x < 0].set(0))(x))
    assert "select_n" in text and "scatter" not in text
    np.testing.assert_array_equal(jit(lambda x: x.at[x < 0].set(0))(x), np.maximum(x, 0))
    mask = jnp.array([True, False, True])
    got = jit(lambda x, m: x.at[:1, m].add(10.0))(x, mask)
    want = np.asarray(x).copy()
    want[:1, np.asarray(mask)] += 10
    np.testing.assert_array_equal(got, want)
    with pytest.raises(NonConcreteBooleanIndexError):
        jit(lambda x, m: x.at[0, m].set(jnp.arange(2.0)))(x, mask)


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (5, "index 5 is out of bounds for axis 0 with size 4"),
        (-5, "index -5 is out of bounds for axis 0 with size 4"),
        ((0, 3), "index 3 is out of bounds for axis 1 with size 3"),
        ((0, 0, 0), "too many indices for array: array is 2-dimensional, but 3 were indexed"),
        (np.array([0, 9]), "index 9 is out of bounds for axis 0 with size 4"),
        (jnp.array([0, -9]), "index -9 is out of bounds for axis 0 with size 4"),
        ([1, 7], "index 7 is out of bounds for axis 0 with size 4"),
        (np.zeros(3, bool), "boolean index did not match indexed array along axis 0"),
        (np.zeros((4, 2), bool), "boolean index did not match indexed array along axis 1"),
        (1.0, "only integers, slices"),
        (np.array([np.nan]), "integer .or boolean. type"),
        (jnp.array([1.5]), r"integer .or boolean. type.*f32\[1\]"),
        ("a", "only integers, slices"),
        ((..., ...), "single ellipsis"),
        ((np.arange(2), np.arange(3)), r"shape mismatch.*\(2,\) \(3,\)"),
    ],
)
def test_wrong_indices_are_refused_in_numpys_words(index, words):
    x = jnp.zeros((4, 3))
    for use in (lambda: x[index], lambda: x.at[index].set(0), lambda: jit(lambda x: x[index])(x)):
        with pytest.raises(IndexError, match=words):
            use()


@pytest.mark.parametrize(
    ("use", "error", "words"),
    [
        (lambda x: x[::0], ValueError, "slice step cannot be zero"),
        (lambda x: x["a":], TypeError, "slice indices must be integers"),
        (
            lambda x: x.at[0].set(jnp.zeros(5)),
            ValueError,
            r"could not broadcast input array from shape \(5,\)",
        ),
        (lambda x: x.at[0].set(1, mode="wrap"), ValueError, "'wrap'"),
        (lambda x: x.at[0].set(1j), TypeError, "complex"),
        (lambda x: x.astype(int).at[0].add(0.5), TypeError, "astype"),
        (lambda x: x.astype(jnp.int8).at[0].set(300), OverflowError, "300"),
        (lambda x: x.astype(int).at[0].set(np.nan), ValueError, "float nan to integer"),
        (lambda x: x.astype(int).at[0].set(-np.inf), OverflowError, "float -inf to integer"),
        (lambda x: x.astype(bool).at[0].add(2), TypeError, r"x.astype\(int\)"),
        (lambda x: x.astype(bool).at[0].subtract(True), TypeError, "bool"),
        (lambda x: x.at[0].set("text"), TypeError, "str"),
        (lambda x: jit(lambda x, n: x[:n])(x, 2), ConcretizationTypeError, "dynamic_slice"),
        (
            lambda x: jit(lambda x: x[x > 0])(x),
            NonConcreteBooleanIndexError,
            r"jnp.where\(x > 0, x, 0\)",
        ),
    ],
)
def test_wrong_uses_say_what_to_write(use, error, words):
    with pytest.raises(error, match=words):
        use(jnp.zeros((4, 3)))


@pytest.mark.parametrize(
    ("use", "want"),
    [
        (lambda x: x.at[9].get(mode="fill"), np.nan),
        (lambda x: x.at[9].get(mode="fill", fill_value=7), 7),
        (lambda x: x.at[-9].get(mode="clip"), 0),
        (lambda x: x.at[np.array([1, 9, -9])].get(mode="fill", fill_value=-1), [1, -1, -1]),
        (lambda x: x.at[np.array([1, 9, -9])].get(mode="clip"), [1, 2, 0]),
        (lambda x: x.at[-1].get(mode="clip", wrap_negative_indices=False), 0),
        (lambda x: x.at[-1].get(mode="fill", wrap_negative_indices=False), np.nan),
        (lambda x: x.at[np.int8(-1)].set(5, mode="drop", wrap_negative_indices=False), [0, 1, 2]),
        (lambda x: x.at[9].set(5, mode="drop"), [0, 1, 2]),
        (lambda x: x.at[9].set(5, mode="clip"), [0, 1, 5]),
        (lambda x: x.at[np.array([0, 9])].add(5, mode="drop"), [5, 1, 2]),
        (lambda x: x[:0].at[0].get(mode="fill", fill_value=3), 3),
        (lambda x: x[:0].at[np.array([0, 1])].get(mode="fill"), [np.nan, np.nan]),
    ],
)
def test_a_mode_that_was_asked_for_holds_for_known_positions_too(use, want):
    x = jnp.arange(3.0)
    np.testing.assert_array_equal(use(x), want)
    np.testing.assert_array_equal(jit(use)(x), want)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (3, 0), (0, 0)])
def test_a_mask_with_an_empty_axis_selects_nothing(shape):
    value, mask = np.ones((3, 5), np.float32), np.zeros(shape, bool)
    x = jnp.asarray(value)
    assert x[mask].shape == x[jnp.asarray(mask)].shape == value[mask].shape
    assert x[..., mask].shape == value[..., mask].shape
    np.testing.assert_array_equal(x.at[mask].set(7), value)
    np.testing.assert_array_equal(x.at[jnp.asarray(mask), None].add(7), value)
    with pytest.raises(IndexError, match="size of axis is 5 but size of corresponding"):
        x[np.zeros((0, 4), bool)]


@pytest.mark.parametrize(
    "index",
    [
        np.s_[:, 0, ..., np.array([0, 1])],  # the ellipsis is no axis, and keeps the arrays apart
        np.s_[:, np.array([0, 1]), ..., np.array([1, 2])],
        np.s_[..., np.array([0, 1]), np.array([1, 2])],
        np.s_[:, np.array([0, 1]), np.array([1, 2]), ...],
        np.s_[:, 0, ..., 1],
        np.s_[np.array([9]), np.zeros(0, int)],  # no element, so no position out of bounds
        np.s_[np.array([[9], [-9]]), :, np.zeros(0, int)],
        np.s_[[9], np.zeros(3, bool)],
    ],
    ids=str,
)
def test_arrays_kept_apart_and_arrays_of_nothing(index):
    value = np.arange(60.0, dtype=np.float32).reshape(5, 3, 4)
    x, want = jnp.asarray(value), value[index]
    updated = value.copy()
    updated[index] = -1
    for read in (lambda x: x[index], jit(lambda x: x[index])):
        assert read(x).shape == want.shape
        np.testing.assert_array_equal(read(x), want)
    np.testing.assert_array_equal(x.at[index].set(-1), updated)
    np.testing.assert_array_equal(x.at[index].set(-jnp.ones(want.shape)), updated)


def test_numbers_that_fit_can_be_stored_whatever_their_size():
    assert int(jnp.zeros(1, "uint32").at[0].set(2**32 - 1)[0]) == 2**32 - 1
    with hloom.enable_x64():
        assert int(jnp.zeros(1, "uint64").at[0].set(2**64 - 1)[0]) == 2**64 - 1
    for value in (-1, 2**32):
        with pytest.raises(OverflowError, match=f"{value} out of bounds for uint32"):
            jnp.zeros(1, "uint32").at[0].set(value)


def test_updates_count_every_occurrence():
    x = jnp.ones(3)
    i = jnp.array([0, 0, 2])
    np.testing.assert_array_equal(x.at[i].add(1.0), [3, 1, 2])
    np.testing.assert_array_equal(x.at[i].multiply(3.0), [9, 1, 3])
    np.testing.assert_array_equal(x.at[i].set(jnp.array([5.0, 6.0, 7.0])), [6, 1, 7])


def test_sums_and_products_of_bools_are_or_and_and():
    value = np.array([True, False, False, True])
    x, i = jnp.asarray(value), np.array([1, 1, 3])
    for name, ufunc in [("add", np.add), ("multiply", np.multiply), ("max", np.maximum)]:
        for y in (True, np.array([False, True, False])):
            want = value.copy()
            ufunc.at(want, i, y)
            got = getattr(x.at[i], name)(y)
            assert got.dtype == bool
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint8", "int16", "uint32", "float16", "bfloat16", "float32", "complex64"],
)
def test_every_dtype_reads_and_updates(dtype):
    x = jnp.arange(6).astype(dtype).reshape(2, 3)
    value = np.asarray(x)
    np.testing.assert_array_equal(np.asarray(x[1, ::-1]), value[1, ::-1])
    np.testing.assert_array_equal(np.asarray(x[jnp.array([1, 0])]), value[[1, 0]])
    want = value.copy()
    want[1] = 1
    assert x.at[1].set(1).dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(x.at[1].set(1)), want)
    np.testing.assert_array_equal(np.asarray(x[np.asarray(x) != 0]), value[value != 0])


def test_special_values_pass_unchanged():
    x = jnp.array([-0.0, np.nan, np.inf, 1.0])
    assert np.signbit(float(x[0])) and np.isnan(float(x[1]))
    np.testing.assert_array_equal(
        np.signbit(np.asarray(x.at[3].set(-0.0))), [True, False, False, True]
    )


def test_unsigned_index_arrays_with_the_top_bit_clamp_high():
    x = jnp.arange(300.0)
    np.testing.assert_array_equal(
        jit(lambda x, i: x[i])(x, np.array([200, 255], np.uint8)), [200, 255]
    )
    assert float(jit(lambda x, i: x[i])(x, np.uint32(2**31))) == 299


def test_a_full_slice_is_the_array_itself():
    x = jnp.ones((2, 3))
    assert x[:] is x and x[...] is x and x[()] is x


def test_indexing_differentiates_and_batches():
    x = jnp.arange(6.0).reshape(2, 3)
    i = jnp.array([[0, 2], [1, 1]])
    np.testing.assert_array_equal(
        hloom.vmap(lambda r, i: r[i])(x, i), np.take_along_axis(np.asarray(x), np.asarray(i), 1)
    )
    np.testing.assert_array_equal(hloom.vmap(lambda i: x[0][i])(jnp.array([2, 0])), [2, 0])
    grads = hloom.grad(lambda x: (x.at[0].set(5.0) * x).sum())(x)
    np.testing.assert_array_equal(grads, np.array([[5, 5, 5], [6, 8, 10]]))
    np.testing.assert_array_equal(hloom.grad(lambda v: x.at[0, 1].set(v).sum())(2.0), 1.0)
