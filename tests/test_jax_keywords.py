"""Keyword parameters that programs written for JAX name, and which cost no more than that."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, lax

o = np.ones
SUM, ROWS = lambda x, y: x + y, lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
KEY = np.arange(4, dtype="uint32")
RAGGED = (o((4, 3), "f"), o((2, 3, 6), "f"), np.array([2, 2]))

SHARDED = [
    (jnp.arange, (3,)), (jnp.array, ([1, 2],)), (jnp.asarray, ([1, 2],)),
    (jnp.bincount, ([0, 1],)), (jnp.broadcast_to, (o(3), (2, 3))), (jnp.dot, (o(3), o(3))),
    (jnp.einsum, ("i,i", o(3), o(3))), (jnp.empty, (3,)), (jnp.full, (3, 1.0)),
    (jnp.full_like, (o(3), 2.0)), (jnp.matmul, (o(3), o(3))), (jnp.ones, (3,)),
    (jnp.ones_like, (o(3),)), (jnp.percentile, (o(3), 50.0)), (jnp.ravel, (o((2, 3)),)),
    (jnp.repeat, (o(3), 2)), (jnp.reshape, (o(6), (2, 3))), (jnp.tensordot, (o(3), o(3), 1)),
    (jnp.zeros, (3,)), (jnp.zeros_like, (o(3),)), (jnp.linalg.tensordot, (o((2, 3)), o((2, 3)))),
    (lax.broadcast, (o(3), (2,))), (lax.broadcast_in_dim, (o(3), (2, 3), (1,))),
    (lax.broadcasted_iota, ("int32", (2, 3), 0)),
    (lax.conv_general_dilated, (o((1, 1, 4), "f"), o((1, 1, 2), "f"), (1,), "SAME")),
    (lax.dot, (o(3), o(3))), (lax.dot_general, (o(3), o(3), (((0,), (0,)), ((), ())))),
    (lax.empty, ((3,), "float32")), (lax.ragged_dot, RAGGED),
    (lax.ragged_dot_general, (*RAGGED, ROWS)), (lax.reduce, (o(3), 0.0, SUM, (0,))),
    (lax.reduce_sum, (o(3), (0,))), (lax.reshape, (o(6), (2, 3))),
    (lax.rng_bit_generator, (KEY, (2,))),
]  # fmt: skip


@pytest.mark.parametrize(("fun", "args"), SHARDED, ids=lambda x: getattr(x, "__name__", ""))
def test_out_sharding_is_none(fun, args):
    assert "out_sharding" in inspect.signature(fun).parameters
    plain, named = fun(*args), fun(*args, out_sharding=None)
    for x, y in zip(hloom.tree.leaves(plain), hloom.tree.leaves(named)):
        np.testing.assert_array_equal(x, y)
    for kind in (NotImplementedError, ValueError, errors.UnsupportedError):
        with pytest.raises(kind, match=rf"{fun.__name__}: .*out_sharding is None; got 'x'"):
            fun(*args, out_sharding="x")


def test_linalg_takes_precision_and_element_type():
    x = jnp.ones((2, 3))
    how = {"precision": "highest", "preferred_element_type": "float16"}
    assert jnp.linalg.vecdot(x, x, **how).dtype == np.float16
    assert jnp.linalg.tensordot(x, x, axes=2, **how).dtype == np.float16


def test_mul_converts_its_operands_to_out_dtype():
    hundreds = jnp.full(2, 100, "int8")
    product = lax.mul(hundreds, hundreds, out_dtype="int32")
    assert (product.dtype, product.tolist()) == (np.int32, [10000, 10000])
    assert lax.mul(jnp.ones(2), 2.0, out_dtype="bfloat16").dtype == jnp.bfloat16
    assert lax.mul(jnp.ones(2, int), jnp.ones(2), out_dtype="float32").dtype == np.float32
    slope = hloom.grad(lambda x: lax.mul(x, x, out_dtype="float16").astype("float32"))(3.0)
    assert float(slope) == 6


def test_mask_indices_of_a_size():
    rows, columns = jnp.mask_indices(3, jnp.triu, size=8)
    assert rows.tolist() == [0, 0, 0, 1, 1, 2, 0, 0]
    assert columns.tolist() == [0, 1, 2, 1, 2, 2, 0, 0]
    assert jnp.mask_indices(3, jnp.triu, size=2)[1].tolist() == [0, 1]
    assert [x.shape for x in jnp.mask_indices(3, jnp.triu, size=0)] == [(0,), (0,)]


def test_names_of_parameters():
    with hloom.numpy_dtype_promotion(new_val="strict"), pytest.raises(TypeError):
        jnp.ones(2) + jnp.ones(2, int)
    with hloom.numpy_rank_promotion(new_val="raise"), pytest.raises(ValueError):
        jnp.ones((2, 3)) + jnp.ones(3)
    path = hloom.tree.leaves_with_path({"w": [7]})[0][0]
    assert hloom.tree_util.keystr(keys=path) == "['w'][0]"


def test_the_program_is_given_as_an_object_too():
    lowered = hloom.jit(lambda x: jnp.sin(x).sum()).lower(jnp.ones(3))
    assert str(lowered.compiler_ir()) == str(lowered.compiler_ir("stablehlo")) == lowered.as_text()
    hlo = lowered.compiler_ir(dialect="hlo")
    assert "sine" in hlo.as_hlo_text()
    assert "digraph" in hlo.as_hlo_dot_graph()
    with pytest.raises(ValueError, match='"stablehlo" or "hlo"; got \'mhlo\''):
        lowered.compiler_ir("mhlo")
