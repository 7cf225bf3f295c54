"""Products, einsum, norms and convolution against NumPy: any dtype, shapes that go together.

Elements are small whole numbers, so that sums are exact in every order and in every dtype, and
results can be compared bit for bit; norms, which take roots, have a budget.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hloom
import hloom.numpy as jnp
from hloom import dtypes

NAMES = [
    "bool", "int8", "int32", "int64", "uint8", "uint32", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
]  # fmt: skip
Draw = Callable[..., Any]
dtype_names = st.sampled_from(NAMES)
sides = st.integers(0, 4)


def whole(draw: Draw, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Whole numbers from -3 to 3 (0 to 3 without sign) of a dtype."""
    dtype = dtypes.as_dtype(name)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    low = 0 if dtypes.kind(dtype) in ("bool", "unsigned") else -3
    values = rng.integers(low, 2 if name == "bool" else 4, shape)
    if dtypes.kind(dtype) == "complex":
        values = values + 1j * rng.integers(-3, 4, shape)
    return np.asarray(values).astype(dtype)


def wide(x: np.ndarray) -> np.ndarray:
    """The operand in a dtype that NumPy multiplies well: it has no bfloat16 of its own."""
    return x.astype(np.float32) if dtypes.kind(x.dtype) == "float" else x


def same(program: Callable[[Any, Any], Any], *operands: np.ndarray, dtype: Any = None) -> None:
    """The same values, shape and dtype from both, and from both ways to run ours."""
    expected = np.asarray(program(np, [wide(x) for x in operands]))
    if dtype is None:
        dtype = np.result_type(*operands) if operands[0].dtype.isbuiltin == 1 else operands[0].dtype
    with hloom.enable_x64():
        made = program(jnp, [jnp.asarray(x) for x in operands])
    assert made.shape == expected.shape and made.dtype == dtype
    np.testing.assert_array_equal(np.asarray(made).astype(expected.dtype), expected)


@st.composite
def matrices(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that matmul takes; vectors too."""
    batch = draw(
        hnp.mutually_broadcastable_shapes(
            num_shapes=2, min_dims=0, max_dims=2, min_side=0, max_side=3
        )
    ).input_shapes
    n, k, m = (draw(sides) for _ in range(3))
    left = draw(st.sampled_from([(k,), (*batch[0], n, k)]))
    right = draw(st.sampled_from([(k,), (*batch[1], k, m)]))
    return left, right


@given(shapes=matrices(), name=dtype_names, data=st.data())
def test_matmul(shapes, name, data):
    x, y = (whole(data.draw, shape, name) for shape in shapes)
    same(lambda xp, a: a[0] @ a[1], x, y)


@given(shapes=matrices(), name=dtype_names, data=st.data())
def test_dot_and_inner(shapes, name, data):
    x, y = (whole(data.draw, shape, name) for shape in shapes)
    same(lambda xp, a: xp.dot(a[0], a[1]), x, y)
    z = whole(data.draw, (2, x.shape[-1]), name)
    same(lambda xp, a: xp.inner(a[0], a[1]), x, z)


@given(first=dtype_names, second=dtype_names, data=st.data())
def test_operands_of_two_dtypes_are_promoted(first, second, data):
    n, k = data.draw(sides), data.draw(sides)
    x, y = whole(data.draw, (n, k), first), whole(data.draw, (k,), second)
    with hloom.enable_x64():
        dtype = jnp.promote_types(first, second)
    same(lambda xp, a: a[0] @ a[1], x, y, dtype=dtype)


@given(name=dtype_names, data=st.data())
def test_tensordot(name, data):
    count = data.draw(st.integers(0, 3))
    shared = [data.draw(sides) for _ in range(count)]
    shapes, axes = [], []
    for _ in range(2):
        own = data.draw(st.lists(sides, max_size=2))
        sizes = [(n, i) for i, n in enumerate(shared)] + [(n, None) for n in own]
        order = data.draw(st.permutations(sizes))
        shapes.append(tuple(n for n, _ in order))
        places = {i: p for p, (_, i) in enumerate(order)}
        axes.append([places[i] - len(order) * data.draw(st.booleans()) for i in range(count)])
    x, y = (whole(data.draw, shape, name) for shape in shapes)
    same(lambda xp, a: xp.tensordot(a[0], a[1], axes), x, y)


@given(name=dtype_names, data=st.data())
def test_outer_and_kron(name, data):
    shapes = [
        data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)) for _ in "xy"
    ]
    x, y = (whole(data.draw, shape, name) for shape in shapes)
    same(lambda xp, a: xp.outer(a[0], a[1]), x, y)
    if min(x.ndim, y.ndim) and x.size and y.size:  # NumPy's kron is odd for the others
        same(lambda xp, a: xp.kron(a[0], a[1]), x, y)


@given(name=dtype_names.filter(lambda name: name != "bool"), data=st.data())
def test_cross(name, data):
    shapes = data.draw(
        hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=0, max_dims=2, max_side=3)
    ).input_shapes
    x, y = (whole(data.draw, (*shape, 3), name) for shape in shapes)
    same(lambda xp, a: xp.cross(a[0], a[1]), x, y)


# ---- einsum -------------------------------------------------------------------------------------
@st.composite
def formulas(draw: Draw) -> tuple[str, list[tuple[int, ...]]]:
    """A formula and shapes that fit it: repeated labels, ellipses, sizes of 1, implicit results."""
    sizes = {label: draw(st.integers(0, 3)) for label in "ijkl"}
    dots = tuple(draw(st.lists(st.integers(1, 2), max_size=2)))
    terms, shapes, used = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        labels = draw(st.lists(st.sampled_from("ijkl"), max_size=3))
        shape = [sizes[x] for x in labels]
        for i, x in enumerate(labels):
            if labels.count(x) == 1 and draw(st.integers(0, 5)) == 0:
                shape[i] = 1
        used += labels
        if draw(st.integers(0, 2)) == 0:
            place = draw(st.integers(0, len(labels)))
            hidden = dots[draw(st.integers(0, len(dots))) :]
            labels = [*labels[:place], "...", *labels[place:]]
            shape = [*shape[:place], *hidden, *shape[place:]]
        terms.append("".join(labels))
        shapes.append(tuple(shape))
    formula = ",".join(terms)
    if draw(st.booleans()):
        kept = draw(st.permutations(sorted(set(used))))
        kept = kept[: draw(st.integers(0, len(kept)))]
        place = draw(st.integers(0, len(kept)))
        formula += "->" + "".join([*kept[:place], "...", *kept[place:]])
    return formula, shapes


@given(
    drawn=formulas(), name=dtype_names, data=st.data(),
    optimize=st.sampled_from(["auto", True, False, "greedy", "optimal"]),
)  # fmt: skip
def test_einsum(drawn, name, data, optimize):
    formula, shapes = drawn
    operands = [whole(data.draw, shape, name) for shape in shapes]
    try:
        expected = np.einsum(formula, *map(wide, operands))
    except ValueError:
        with pytest.raises(ValueError):
            jnp.einsum(formula, *operands)
        return
    with hloom.enable_x64():
        made = jnp.einsum(formula, *operands, optimize=optimize)
    assert made.shape == expected.shape and made.dtype == operands[0].dtype
    np.testing.assert_array_equal(np.asarray(made).astype(expected.dtype), expected)


# ---- norms --------------------------------------------------------------------------------------
@given(data=st.data())
def test_norms(data):
    name = data.draw(st.sampled_from(["int32", "float32", "float64", "complex64"]))
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    x = whole(data.draw, shape, name)
    count = data.draw(st.integers(1, min(2, x.ndim)))
    axes = data.draw(st.permutations(range(x.ndim)))[:count]
    axis = axes[0] if count == 1 else tuple(axes)
    vector = [None, 0, 1, 2, 3, 0.5, np.inf, -np.inf]
    order = data.draw(
        st.sampled_from(vector if count == 1 else [None, "fro", 1, -1, np.inf, -np.inf])
    )
    keepdims = data.draw(st.booleans())
    expected = np.linalg.norm(x, order, axis, keepdims)
    with hloom.enable_x64():
        made = jnp.linalg.norm(x, order, axis, keepdims)
    assert made.shape == expected.shape
    # A root of at most 16 terms, in f32 for the two single dtypes: 16 roundings and the root's.
    single = name in ("float32", "complex64")
    np.testing.assert_allclose(made, expected, rtol=20 * (2.0**-24 if single else 2.0**-53))


@given(size=st.integers(1, 3), power=st.integers(0, 9), name=dtype_names, data=st.data())
def test_matrix_power(size, power, name, data):
    if name in ("float16", "bfloat16"):
        power = min(power, 2)  # so that all is exact
    x = whole(data.draw, (2, size, size), name)
    same(lambda xp, a: xp.linalg.matrix_power(a[0], power), x)


@given(sizes=st.lists(st.integers(1, 4), min_size=3, max_size=5), name=dtype_names, data=st.data())
def test_multi_dot(sizes, name, data):
    name = "float32" if name in ("float16", "bfloat16") else name
    chain = [whole(data.draw, pair, name) for pair in zip(sizes, sizes[1:])]
    same(lambda xp, a: xp.linalg.multi_dot(a), *chain)


# ---- convolution --------------------------------------------------------------------------------
@given(
    n=st.integers(1, 40), k=st.integers(1, 40), name=dtype_names, data=st.data(),
    mode=st.sampled_from(["full", "same", "valid"]),
)  # fmt: skip
def test_convolve_and_correlate(n, k, name, data, mode):
    x, y = whole(data.draw, (n,), name), whole(data.draw, (k,), name)
    same(lambda xp, a: xp.convolve(a[0], a[1], mode), x, y)
    same(lambda xp, a: xp.correlate(a[0], a[1], mode), x, y)
