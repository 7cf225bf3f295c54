"""vmap over a batch of size 0, of whatever reads or writes at computed places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import grad, jit, lax, vmap
from hloom.testing import ENGINES

ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
INTO = lax.ScatterDimensionNumbers((1,), (0,), (0,))
MODES = ["fill", "clip", "promise_in_bounds"]

# One example is x: f32[5,3], i: i32[], v: i32[2], u: f32[2,3].
CASES: dict[str, Callable[..., Any]] = {
    "x[i]": lambda x, i, v, u: x[i],
    "x[:, i]": lambda x, i, v, u: x[:, i],
    "x[v]": lambda x, i, v, u: x[v],
    "x[v, i]": lambda x, i, v, u: x[v, i],
    "x[::2, i]": lambda x, i, v, u: x[::2, i],
    "x[..., None, v, :]": lambda x, i, v, u: x[..., None, v, :],
    "where": lambda x, i, v, u: jnp.where(x > i, x, 0),
    "take": lambda x, i, v, u: jnp.take(x, v, axis=0),
    "take fill": lambda x, i, v, u: jnp.take(x, v, axis=1, mode="fill"),
    "take clip": lambda x, i, v, u: jnp.take(x, v, mode="clip"),
    "take wrap": lambda x, i, v, u: jnp.take(x, v, mode="wrap"),
    "take_along_axis": lambda x, i, v, u: jnp.take_along_axis(x, v[:, None], axis=0),
    "choose": lambda x, i, v, u: jnp.choose(v, [u[:, 0], u[:, 1]], mode="clip"),
    "set": lambda x, i, v, u: x.at[i].set(1.0),
    "set rows": lambda x, i, v, u: x.at[v].set(u),
    "add": lambda x, i, v, u: x.at[v].add(u),
    "add at two axes": lambda x, i, v, u: x.at[v, i].add(1.0),
    "multiply": lambda x, i, v, u: x.at[v].multiply(u),
    "min": lambda x, i, v, u: x.at[v].min(u),
    "max": lambda x, i, v, u: x.at[i, v].max(2.0),
    "apply": lambda x, i, v, u: x.at[i].apply(jnp.sin),
    "get": lambda x, i, v, u: x.at[v].get(mode="fill", fill_value=i * 1.0),
    "set drop": lambda x, i, v, u: x.at[v].set(u, mode="drop"),
    "set clip": lambda x, i, v, u: x.at[v].set(u, mode="clip"),
    "put_along_axis": lambda x, i, v, u: jnp.put_along_axis(
        x, v[:, None], 1.0, axis=0, inplace=False
    ),
    "dynamic_slice": lambda x, i, v, u: lax.dynamic_slice(x, (i, i), (2, 3)),
    "dynamic_slice_in_dim": lambda x, i, v, u: lax.dynamic_slice_in_dim(x, i, 2, 1),
    "dynamic_index_in_dim": lambda x, i, v, u: lax.dynamic_index_in_dim(x, i, 1),
    "dynamic_update_slice": lambda x, i, v, u: lax.dynamic_update_slice(x, u, (i, 0)),
    "dynamic_update_index": lambda x, i, v, u: lax.dynamic_update_index_in_dim(x, u[0], i, 0),
    "index_take": lambda x, i, v, u: lax.index_take(x, (v,), (1,)),
    "roll": lambda x, i, v, u: jnp.roll(x, i, axis=0),
    "searchsorted": lambda x, i, v, u: jnp.searchsorted(x[:, 0], u),
    "bincount": lambda x, i, v, u: jnp.bincount(v, u[:, 0], length=4),
    "argmax": lambda x, i, v, u: x[jnp.argmax(x[:, 0])],
    "sort": lambda x, i, v, u: jnp.sort(x, axis=0)[i],
    "scan": lambda x, i, v, u: lax.scan(lambda c, r: (c + r[i], c[v]), x[0], x),
    "cond": lambda x, i, v, u: lax.cond(i > 1, lambda: x[v], lambda: u),
    "fori_loop": lambda x, i, v, u: lax.fori_loop(0, i, lambda j, x: x.at[j].set(x[i]), x),
    "while_loop": lambda x, i, v, u: lax.while_loop(lambda j: j < 3, lambda j: j + 1 + v[0], i),
    "nested vmap": lambda x, i, v, u: vmap(lambda j: x.at[j].set(u[0]))(v),
    "nothing nested": lambda x, i, v, u: vmap(lambda j: x[j])(v[:0]),
    "inner jit": lambda x, i, v, u: jit(lambda x, v: x[v] + x[v[0]])(x, v),
    "gradient": lambda x, i, v, u: grad(lambda x: x[v].sum() + x[i, 0])(x),
}
for mode in MODES:
    CASES[f"gather {mode}"] = lambda x, i, v, u, mode=mode: lax.gather(
        x, v[:, None], ROWS, (1, 3), mode=mode
    )
    for name in ("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max"):
        CASES[f"{name} {mode}"] = lambda x, i, v, u, name=name, mode=mode: getattr(lax, name)(
            x, v[:, None], u, INTO, mode=mode
        )

EXAMPLE = [np.ones((5, 3), "f"), np.int32(1), np.array([0, 2], "i"), np.ones((2, 3), "f")]
AXES = [
    (0, 0, 0, 0), (2, 0, 1, 1), (0, None, None, None), (None, 0, None, None),
    (None, None, 1, None), (1, 0, None, 2), (None, None, None, 0), (2, None, 1, None),
]  # fmt: skip


def stacked(axes: tuple[int | None, ...], count: int) -> list[Any]:
    return [
        jnp.asarray(x if a is None else np.stack([x] * 2, a).take(range(count), a))
        for x, a in zip(EXAMPLE, axes)
    ]


@pytest.mark.parametrize("name", CASES)
def test_no_example_gives_nothing_of_the_shape_of_some(name: str) -> None:
    fun = CASES[name]
    for axes in AXES:
        mapped = vmap(fun, in_axes=axes)
        types = hloom.eval_shape(mapped, *stacked(axes, 2))
        want = hloom.tree.map(lambda a: (0, *a.shape[1:], a.dtype, a.weak_type), types)
        none = hloom.eval_shape(mapped, *stacked(axes, 0))
        assert hloom.tree.map(lambda a: (*a.shape, a.dtype, a.weak_type), none) == want, axes
    for call in (mapped, jit(mapped)):
        for leaf in hloom.tree.leaves(call(*stacked(axes, 0))):
            assert np.asarray(leaf).shape[0] == 0


def test_on_every_engine() -> None:
    for engine in ENGINES:
        with hloom.engine(engine):
            for name in ("x[v, i]", "set rows", "dynamic_slice", "scatter_add clip", "sort"):
                assert len(jit(vmap(CASES[name]))(*stacked((0, 0, 0, 0), 0))) == 0


def test_gradients_through_no_example() -> None:
    i = jnp.zeros(0, int)
    for transform in (lambda f: f, jit):
        by_batched = transform(grad(lambda x: vmap(lambda x, i: x[i])(x, i).sum()))
        assert by_batched(jnp.zeros((0, 5))).shape == (0, 5)
        by_shared = transform(grad(lambda x: vmap(lambda i: x[i])(i).sum()))
        assert by_shared(jnp.ones(5)).tolist() == [0.0] * 5
        by_update = transform(grad(lambda u: vmap(lambda i: jnp.ones(5).at[i].set(u))(i).sum()))
        assert float(by_update(2.0)) == 0.0
        each = transform(vmap(grad(lambda x, i: x[i] ** 2)))
        assert each(jnp.zeros((0, 5)), i).shape == (0, 5)


def test_what_all_examples_share_stays_unbatched() -> None:
    mapped = vmap(jit(lambda x, y: (x[0], y * 2)), in_axes=(0, None), out_axes=(0, None))
    _, shared = mapped(jnp.zeros((0, 3)), 2.0)
    assert float(shared) == 4.0


# ---- axes of size 0 that are read or written ----------------------------------------------------
@pytest.mark.parametrize(
    "read",
    [
        lambda: jnp.zeros(0).at[jnp.array([0])].set(1.0),
        lambda: jnp.zeros(0).at[0].add(1.0),
        lambda: jnp.zeros((0, 3)).at[jnp.array([0]), 1].add(1.0),
        lambda: jnp.zeros(0)[jnp.array([0])],
        lambda: jit(lambda i: jnp.zeros((2, 0))[0, i])(1),
        lambda: jit(lambda i: jnp.zeros((2, 0))[i, 0])(1),
        lambda: jit(lambda i: jnp.zeros((2, 0))[:, i])(1),
        lambda: jit(lambda i: jnp.zeros((2, 0))[0, i])(jnp.array([1])),
        lambda: vmap(lambda i: jnp.zeros((2, 0))[0, i])(jnp.arange(3)),
        lambda: jnp.take(jnp.zeros(0), 0),
        lambda: jnp.take(jnp.zeros(0), jnp.array([0]), mode="clip"),
        lambda: jnp.take(jnp.zeros(0), jnp.array([0]), mode="wrap"),
        lambda: jnp.take_along_axis(jnp.zeros((2, 0)), jnp.zeros((2, 1), int), 1, mode="clip"),
    ],
)
def test_there_is_no_place_on_an_axis_of_size_0(read: Any) -> None:
    with pytest.raises(IndexError, match="size 0|empty axes"):
        read()


def test_what_is_filled_or_dropped_needs_no_place() -> None:
    assert np.isnan(jnp.take(jnp.zeros(0), jnp.array([0]), mode="fill")).all()
    assert np.isnan(jit(lambda i: jnp.take(jnp.zeros(0), i))(jnp.array([0]))).all()
    assert jnp.take(jnp.zeros(0, "i2"), jnp.array([0]), mode="fill").tolist() == [-(2**15)]
    assert jnp.zeros(0).at[jnp.array([0])].get(mode="fill", fill_value=3).tolist() == [3.0]
    assert jnp.zeros(0).at[jnp.array([0])].set(1.0, mode="drop").shape == (0,)
    assert jit(lambda i: jnp.zeros((2, 0)).at[0, i].set(1.0))(1).shape == (2, 0)
    assert jnp.take(jnp.zeros(0), jnp.zeros(0, int), mode="clip").shape == (0,)
