"""Arrays of `numpy.ma`: refused where something is masked, by every function and transformation."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax, tree
from hloom.errors import MaskedArrayError
from tests.ops import harvest

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])

# Functions that look at types and shapes only.
NOT_READ = """
    jnp.zeros_like jnp.ones_like jnp.empty_like jnp.full_like jnp.shape jnp.size jnp.ndim
    jnp.result_type jnp.iscomplexobj jnp.isrealobj jnp.diag_indices_from jnp.tril_indices_from
    jnp.triu_indices_from jnp.shares_memory jnp.may_share_memory jnp.iterable jnp.isfortran
    jnp.common_type lax.broadcast_like lax.full_like
""".split()


def _readers():
    for facade, calls in (("jnp", harvest.numpy_calls()), ("lax", harvest.calls())):
        for name, found in calls.items():
            leaves = tree.leaves((found[0].args, found[0].kwargs))
            own = any(isinstance(x, hloom.Array) and x.size for x in leaves)
            traced = any(isinstance(x, hloom.core.Tracer) for x in leaves)
            if own and not traced and f"{facade}.{name}" not in NOT_READ:
                yield pytest.param(found[0], id=f"{facade}.{name}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", _readers())
def test_every_function_refuses_them(call):
    """Of the operands of its example, one after the other is masked."""
    leaves, structure = tree.flatten((call.args, call.kwargs))
    for i, x in enumerate(leaves):
        if not isinstance(x, hloom.Array) or not x.size:
            continue
        masked = np.ma.array(np.asarray(x), mask=np.arange(x.size).reshape(x.shape) == 0)
        args, kwargs = tree.unflatten(structure, [*leaves[:i], masked, *leaves[i + 1 :]])
        with hloom.engine("numpy"), pytest.raises(MaskedArrayError):
            call.function(*args, **kwargs)


PROGRAMS = """
    jnp.ones(3) + m; m + jnp.ones(3); jnp.ones(3) @ m; jnp.ones(3) < m; jnp.ones(3).dot(m)
    jnp.ones(3) + np.ma.masked; jnp.array(m, dtype="float32"); jnp.asarray([m, m]); jnp.stack([m])
    jnp.arange(3)[m.astype(int)]; jnp.arange(3)[m > 1]; jnp.arange(3.0).at[:].set(m)
    jnp.arange(3).at[m.astype(int)].add(1); jnp.arange(3).at[m > 1].set(0); jnp.float32(m)
    hloom.jit(jnp.sin)(m); hloom.grad(jnp.sum)(m); hloom.vmap(jnp.sin)(m)
    hloom.jit(lambda x: x + m)(1.0); hloom.vmap(lambda x: x * m)(jnp.ones((2, 3)))
    hloom.jvp(jnp.sin, (m,), (m,)); hloom.device_put({"a": m}); jnp.array([1.0, m[1]])
    lax.add(m, 1.0); lax.cond(True, jnp.sin, jnp.cos, m); lax.scan(lambda c, x: (c, x), 0.0, m)
    jnp.percentile(jnp.ones(3), m); jnp.repeat(jnp.arange(3), m.astype(int)); jnp.from_dlpack(m)
    jnp.delete(jnp.arange(3), m.astype(int)); jnp.linspace(0, m, 2); jnp.arange(m[1])
"""


@pytest.mark.parametrize(
    "program", [each.strip() for line in PROGRAMS.split("\n") for each in line.split(";") if each]
)
def test_so_does(program):
    if program.strip():
        with pytest.raises(MaskedArrayError):
            eval(program, {"jnp": jnp, "hloom": hloom, "lax": lax, "np": np, "m": MASKED})


def test_it_says_what_is_masked_and_the_ways_out():
    with pytest.raises(ValueError, match=r"1 of 3 elements of this masked f64\[3\] are") as caught:
        jnp.sum(MASKED)
    assert "test_masked_arrays.py" in str(caught.value)
    for way in ("x.filled(0)", "jnp.where(x.mask, 0, x.data)", "jnp.sum(x.data, where=~x.mask)"):
        assert way in str(caught.value)
        total = jnp.sum(eval(way, {"jnp": jnp, "x": MASKED}))
        assert float(total) == float(MASKED.sum())


def test_where_nothing_is_masked_it_is_a_plain_array():
    for mask in (np.ma.nomask, False, [False, False]):
        x = np.ma.array([1.0, 2.0], mask=mask)
        assert float(jnp.sum(x)) == float(hloom.jit(jnp.sum)(x)) == 3
        assert (jnp.ones(2) + x).tolist() == [2, 3]
        assert jnp.arange(3)[x.astype(int)].tolist() == [1, 2]


def test_other_subclasses_are_read_as_ever():
    assert jnp.sum(np.matrix([[1, 2]])).tolist() == 3

    class Tagged(np.ndarray):
        def mask(self):
            return True

    assert jnp.sum(np.arange(3).view(Tagged)).tolist() == 3
