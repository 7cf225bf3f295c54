"""Any index NumPy takes, read and updated, gives NumPy's result: eagerly and under jit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hloom
import hloom.numpy as jnp

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def positions(size: int) -> st.SearchStrategy[int]:
    return st.integers(-size, size - 1)


@st.composite
def integer_arrays(draw, size):
    """An array of valid positions into an axis; an empty one where the axis is empty."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=3)) if size else (0,)
    dtype = draw(st.sampled_from([np.int32, np.int64, np.int8]))
    flat = (
        draw(st.lists(positions(size), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        if size
        else []
    )
    return np.array(flat, dtype).reshape(shape)


@st.composite
def items(draw, shape):
    """Items for the leading axes of a shape: each takes one axis, but new axes and masks."""
    made, axis = [], 0
    while axis < len(shape):
        size = shape[axis]
        kind = draw(
            st.sampled_from(["int", "slice", "array", "mask", "new", "stop", "slice", "list"])
        )
        if kind == "stop":
            break
        if kind == "new":
            made.append(None)
            continue
        if kind == "int" and size:
            made.append(draw(positions(size)))
        elif kind == "array":
            made.append(draw(integer_arrays(size)))
        elif kind == "list" and size:
            made.append(draw(st.lists(positions(size), min_size=1, max_size=3)))
        elif kind == "mask":
            ndim = draw(st.integers(1, min(2, len(shape) - axis)))
            made.append(draw(hnp.arrays(bool, shape[axis : axis + ndim])))
            axis += ndim - 1
        else:
            made.append(draw(st.slices(size)))
        axis += 1
    if draw(st.booleans()):
        made.insert(draw(st.integers(0, len(made))), Ellipsis)
    return tuple(made)


@st.composite
def cases(draw):
    """An array, an index that NumPy takes into it, and what NumPy reads."""
    shape = draw(SHAPES)
    x = np.arange(-3, int(np.prod(shape)) - 3, dtype=np.int32).reshape(shape)
    index = draw(items(shape))
    if len(index) == 1 and draw(st.booleans()):
        (index,) = index
    try:
        want = x[index]
    except IndexError:  # index arrays that don't broadcast; an ellipsis beside a mask too many
        want = None
    return x, index, want


@given(cases())
def test_reading(case):
    x, index, want = case
    if want is None:
        with pytest.raises(IndexError):
            jnp.asarray(x)[index]
        return
    got = jnp.asarray(x)[index]
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@given(cases())
def test_reading_under_jit(case):
    x, index, want = case
    if want is not None:
        np.testing.assert_array_equal(hloom.jit(lambda x: x[index])(x), want)


UPDATES = {
    "set": None, "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "min": np.minimum,
    "max": np.maximum,
}  # fmt: skip


@given(cases(), st.sampled_from(sorted(UPDATES)), st.booleans(), st.booleans(), st.data())
def test_updating(case, name, scalar, jitted, data):
    x, index, found = case
    if found is None:
        return
    shape = () if scalar else found.shape
    values = np.asarray(data.draw(hnp.arrays(np.int32, shape, elements=st.integers(-5, 5))))
    want = x.copy()
    if UPDATES[name] is None:
        want[index] = values
    else:
        UPDATES[name].at(want, index, values)

    def update(x, values):
        return getattr(x.at[index], name)(values)

    got = (hloom.jit(update) if jitted else update)(jnp.asarray(x), jnp.asarray(values))
    np.testing.assert_array_equal(got, want)


@given(cases())
def test_applying_dividing_and_raising_to_a_power(case):
    x, index, found = case
    if found is None:
        return
    x = x.astype(np.float32)
    ones = np.zeros(x.shape, np.int32)
    np.add.at(ones, index, 1)  # how often each element is named
    np.testing.assert_array_equal(jnp.asarray(x).at[index].divide(2.0), x / 2.0**ones)
    with np.errstate(over="ignore"):
        want = (x ** (2.0**ones)).astype(np.float32)
    np.testing.assert_array_equal(jnp.asarray(x).at[index].power(2.0), want)
    np.testing.assert_array_equal(jnp.asarray(x).at[index].apply(lambda v: v + 1), x + ones)


@given(SHAPES.filter(lambda s: len(s) and min(s) > 0), st.data())
def test_traced_positions_clip_drop_and_fill(shape, data):
    x = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    n = shape[0]
    i = data.draw(st.integers(-2 * n - 2, 2 * n + 2))
    inside = -n <= i < n
    row = i % n if inside else (0 if i < 0 else n - 1)
    np.testing.assert_array_equal(hloom.jit(lambda x, i: x[i])(x, i), x[row])
    np.testing.assert_array_equal(hloom.jit(lambda x, i: x.at[i].get(mode="clip"))(x, i), x[row])
    filled = hloom.jit(lambda x, i: x.at[i].get(mode="fill", fill_value=-1.0))(x, i)
    np.testing.assert_array_equal(filled, x[row] if inside else np.full(shape[1:], -1.0))
    for mode in ("drop", "clip"):
        want = x.copy()
        if inside or mode == "clip":
            want[row] = 7
        np.testing.assert_array_equal(
            hloom.jit(lambda x, i, m=mode: x.at[i].set(7.0, mode=m))(x, i), want
        )


@given(cases())
def test_the_derivative_of_reading_counts_how_often_an_element_is_read(case):
    x, index, found = case
    if found is None or not found.size:
        return
    want = np.zeros(x.shape, np.float32)
    np.add.at(want, index, 1)
    got = hloom.grad(lambda x: x[index].sum())(x.astype(np.float32))
    np.testing.assert_array_equal(got, want)


@given(cases(), st.integers(1, 3))
def test_reading_under_vmap_reads_every_example(case, size):
    x, index, found = case
    if found is None:
        return
    batch = np.stack([x + i for i in range(size)])
    got = hloom.vmap(lambda x: x[index])(batch)
    np.testing.assert_array_equal(got, np.stack([b[index] for b in batch]))
