"""Errors of two kinds: `except` clauses written for NumPy's kind and for JAX's both catch them."""

from __future__ import annotations

import builtins
import pickle

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, lax
from hloom.errors import kinds

o = np.ones
POINTS = np.zeros((2, 1), "int32")
ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
INTO = lax.ScatterDimensionNumbers((1,), (0,), (0,))
GROUPS = np.array([2, 2], "int32")


class Unequal:
    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise RuntimeError("no answer")


def ragged(rows, groups):
    numbers = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), rows, groups)
    return lax.ragged_dot_general(o((4, 3), "f"), o((2, 3, 6), "f"), GROUPS, numbers)


def conv(lhs, rhs, **how):
    return lax.conv_general_dilated(o(lhs, "f"), o(rhs, "f"), (1,), "SAME", **how)


def transposed():
    structure = hloom.tree_util.tree_structure
    inner = structure((1, 1))
    return hloom.tree_util.tree_transpose(structure([1, 1]), inner, [(1, 2), (3,)])


def pulled(cotangent):
    return hloom.vjp(jnp.sin, o(3, "f"))[1](cotangent)


def traced(fun, *args):
    return hloom.jit(fun)(*(args or (2,)))


VALUE, TYPE, INDEX = ValueError, TypeError, IndexError
TABLE = [
    # shapes: NumPy's ValueError, often JAX's TypeError
    (lambda: lax.gather(o((3, 4)), POINTS, ROWS, (2, 4)), VALUE, TYPE),
    (lambda: lax.gather(o((3, 4)), POINTS, ROWS, (1,)), VALUE, TYPE),
    (lambda: lax.gather(o((3, 4)), POINTS, ROWS, (1, 5)), VALUE, TYPE),
    (lambda: lax.gather(o((3, 4)), o((2, 1)), ROWS, (1, 4)), VALUE, TYPE),
    (lambda: lax.scatter(o((3, 4)), POINTS, o((2, 5)), INTO), VALUE, TYPE),
    (lambda: lax.scatter(o((3, 4)), POINTS, o(2), INTO), VALUE, TYPE),
    (lambda: lax.scatter_add(o((3, 4)), POINTS, o((5, 4)), INTO), VALUE, TYPE),
    (lambda: ragged((0, 1), (0,)), VALUE, TYPE),
    (lambda: ragged((0,), (9,)), VALUE, TYPE),
    (lambda: ragged((0,), ()), VALUE, TYPE),
    (lambda: lax.broadcast_in_dim(o(3), (2, 3), (5,)), VALUE, TYPE),
    (lambda: lax.broadcast_in_dim(o((3, 3)), (3, 3), (0, 0)), VALUE, TYPE),
    (lambda: lax.broadcast_in_dim(o(3), (-2, 3), (1,)), VALUE, TYPE),
    (lambda: lax.broadcast_in_dim(o(3), (2, 3), (0,)), VALUE, TYPE),
    (lambda: lax.broadcast_shapes((-1,)), VALUE, TYPE),
    (lambda: jnp.broadcast_shapes((-1,)), VALUE, TYPE),
    (lambda: lax.reduce_window(o(3), 0.0, lax.add, (0,), (1,), "VALID"), VALUE, TYPE),
    (lambda: lax.reduce_window(o(3), 0.0, lax.add, (2,), (0,), "VALID"), VALUE, TYPE),
    (lambda: jnp.ones((-1, 1)), VALUE, TYPE),
    (lambda: jnp.full((2, -3), 1.0), VALUE, TYPE),
    (lambda: lax.iota("float32", -1), VALUE, TYPE),
    (lambda: jnp.dot(o((2, 3)), o(2)), VALUE, TYPE),
    (lambda: jnp.matmul(o((2, 3)), o((2, 4))), VALUE, TYPE),
    (lambda: jnp.ones(3) @ jnp.ones(4), VALUE, TYPE),
    (lambda: jnp.inner(o((2, 3)), o((2, 4))), VALUE, TYPE),
    (lambda: jnp.vdot(o(2), o(3)), VALUE, TYPE),
    (lambda: jnp.tensordot(o((2, 3)), o((2, 4)), 3), VALUE, TYPE),
    (lambda: jnp.tensordot(o((2, 3)), o((2, 4)), ([0, 1], [0])), VALUE, TYPE),
    (lambda: jnp.einsum("ij,jk", o((2, 3)), o((2, 4))), VALUE, TYPE),
    (lambda: lax.dot(o(3), o(4)), TYPE, VALUE),
    (lambda: lax.dot(o((2, 3, 4)), o((2, 3))), TYPE, VALUE),
    (lambda: lax.dot_general(o((2, 3)), o((2, 3)), (((5,), (0,)), ((), ()))), VALUE, TYPE),
    (lambda: lax.batch_matmul(o((2, 3)), o((2, 3, 4))), TYPE, VALUE),
    (lambda: jnp.ones(3) + jnp.ones(4), VALUE, TYPE),
    (lambda: jnp.ones(3) < jnp.ones(4), VALUE, TYPE),
    (lambda: jnp.clip(o(3), o(4)), VALUE, TYPE),
    (lambda: lax.add(o(3), o(4)), TYPE, VALUE),
    (lambda: lax.select(o(3) > 0, o(4), o(4)), TYPE, VALUE),
    (lambda: jnp.concatenate([o(3), o((3, 3))]), VALUE, TYPE),
    (lambda: jnp.vstack([o(3), o(4)]), VALUE, TYPE),
    (lambda: jnp.transpose(o((2, 3)), (0, 0)), VALUE, TYPE),
    (lambda: lax.slice(o(3), (0,), (4,)), VALUE, TYPE),
    (lambda: lax.slice(o(3), (0, 0), (1, 1)), TYPE, VALUE),
    (lambda: lax.dynamic_slice(o(3), (0,), (4,)), VALUE, TYPE),
    (lambda: lax.dynamic_slice(o(3), (0, 0), (1,)), TYPE, VALUE),
    (lambda: lax.reshape(o(3), (2,)), TYPE, VALUE),
    (lambda: lax.rev(o(3), (0, 0)), VALUE, TYPE),
    (lambda: lax.pad(o(3), 0.0, [(0, 0, 0), (1, 1, 1)]), TYPE, VALUE),
    (lambda: lax.linalg.cholesky(o((2, 3))), VALUE, TYPE),
    (lambda: lax.linalg.qr(o(3)), VALUE, TYPE),
    (lambda: conv((1, 1, 4), (1, 1, 2, 2)), TYPE, VALUE),
    (lambda: conv((1, 2, 4), (1, 3, 2)), TYPE, VALUE),
    (lambda: conv((1, 2, 4), (1, 2, 2), rhs_dilation=(1, 1)), TYPE, VALUE),
    (lambda: lax.conv_general_dilated_patches(o((1, 2, 4)), (2,), (1,), (3, 3)), TYPE, VALUE),
    (lambda: lax.reduce((o(3), o(3)), (0.0,), lambda x, y: x, (0,)), TYPE, VALUE),
    (lambda: lax.reduce(o(3), o(2), lax.add, (0,)), TYPE, VALUE),
    (lambda: jnp.vectorize(lambda x: (x, x), signature="()->()")(o(3)), VALUE, TYPE),
    (transposed, VALUE, TYPE),
    # what is not taken: NumPy's TypeError, JAX's ValueError
    (lambda: jnp.sum(o(3), where=o(3)), TYPE, VALUE),
    (lambda: jnp.nanmax(o(3), where=np.array([1, 0, 1]), initial=0), TYPE, VALUE),
    (lambda: jnp.arange(1j), TYPE, VALUE),
    (lambda: jnp.arange(0, 3, 1j), TYPE, VALUE),
    (lambda: jnp.array(None), TYPE, VALUE),
    (lambda: jnp.asarray([1, None]), TYPE, VALUE),
    (lambda: jnp.hypot(1j, 2), TYPE, VALUE),
    (lambda: jnp.i0(1j), TYPE, VALUE),
    (lambda: jnp.isposinf(1j), TYPE, VALUE),
    (lambda: jnp.cov(o((2, 3)), dtype=int), TYPE, VALUE),
    (lambda: jnp.corrcoef(o((2, 3)), dtype=int), TYPE, VALUE),
    (lambda: jnp.average(o(3), weights=o(4)), TYPE, VALUE),
    (lambda: jnp.vectorize(lambda x: x)(None), TYPE, VALUE),
    (lambda: pulled(o(4, "f")), TYPE, VALUE),
    (lambda: pulled((o(3, "f"),)), TYPE, VALUE),
    (lambda: hloom.linearize(jnp.sin, o(3, "f"))[1](o(4, "f")), TYPE, VALUE),
    (lambda: hloom.jvp(jnp.sin, (o(3, "f"),), (o(4, "f"),)), TYPE, VALUE),
    # indices
    (lambda: jnp.ones(3)[1.5], INDEX, TYPE),
    (lambda: jnp.ones(3)["a"], INDEX, TYPE),
    (lambda: jnp.ones(3)[np.array([1.5])], INDEX, TYPE),
    (lambda: jnp.ones(3).at[1.5].set(0), INDEX, TYPE),
    (lambda: jnp.take_along_axis(o(3), np.array([0.0, 1.0]), 0), INDEX, TYPE),
    (lambda: jnp.take(o(3), np.array([0.5])), TYPE, VALUE),
    (lambda: traced(lambda i: jnp.ones(3)[:i]), errors.ConcretizationTypeError, INDEX),
    (lambda: traced(lambda i: jnp.ones(3)[i : i + 1]), errors.ConcretizationTypeError, INDEX),
    (lambda: traced(lambda i: jnp.ones(3).at[:i].set(1)), errors.ConcretizationTypeError, INDEX),
    # values that are not there yet
    (lambda: traced(lambda x: x.tolist(), o(3)), errors.TracerArrayConversionError,
     errors.ConcretizationTypeError),
    (lambda: traced(lambda x: x.tobytes(), o(3)), errors.TracerArrayConversionError,
     errors.ConcretizationTypeError),
    (lambda: traced(lambda n: lax.scan(lambda c, x: (c, x), 0.0, None, length=n)), TYPE,
     errors.ConcretizationTypeError),
    (lambda: traced(lambda n: lax.scan(lambda c, x: (c, x), 0.0, o(3), unroll=n)), TYPE,
     errors.ConcretizationTypeError),
    # the rest
    (lambda: jnp.pad(o(3), 1, mode="no such"), VALUE, NotImplementedError),
    (lambda: lax.conv(o((1, 1, 4)), o((1, 1, 2)), (1,), "NO SUCH"), VALUE, RuntimeError),
    (lambda: hloom.jit(jnp.add, donate_argnums=0)(*[jnp.ones(3)] * 2), VALUE, RuntimeError),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(TABLE)))
def test_either_kind_catches(row):
    call, *wanted = TABLE[row]
    for kind in wanted:
        with pytest.raises(kind):
            call()


def test_a_static_argument_that_cannot_be_compared_is_a_value_error():
    first = hloom.jit(lambda x, y: x, static_argnums=1)
    first(1.0, Unequal())
    with pytest.raises(ValueError, match="__eq__ raised RuntimeError: no answer") as caught:
        first(1.0, Unequal())
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(ValueError, match="__eq__"):
        hloom.grad(lambda x: first(x, Unequal()) + first(x, Unequal()))(1.0)


def test_the_table_of_kinds_is_the_classes():
    rows = [line for line in kinds.__doc__.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [
        "ShapeError", "ArgumentError", "IndexKindError", "UnsupportedError", "TracedSliceError",
        "DonatedTwiceError", "TangentError",
    ]  # fmt: skip
    for row in rows:
        cls, *bases = [cell.strip(" `") for cell in row.split("|")[1:4]]
        for base in bases:
            kind = getattr(errors, base, None) or getattr(builtins, base)
            assert issubclass(getattr(errors, cls), kind)


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_a_kind_is_raised_and_pickled_as_any_exception(kind):
    error = pickle.loads(pickle.dumps(kind("text")))
    assert type(error) is kind
    assert str(error) == "text"


def test_a_strict_function_keeps_the_kind_when_it_names_itself():
    with pytest.raises(errors.ShapeError, match="^broadcasted_iota"):
        lax.broadcasted_iota("float32", (2, -1), 0)
    with pytest.raises(errors.ArgumentError, match="dimension_numbers"):
        lax.dot_general(o(2), o(2), 3)
