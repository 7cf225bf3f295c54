"""Elementwise functions: NumPy's values for corner values of every dtype; jit, vmap, names.

Derivatives, Python scalars, refusals and public parity cases: `test_elementwise_claims`.
"""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import dtypes
from hloom.testing import combinations, corners, drawn
from tests.numpy.pointwise.elementwise_cases import ALIASES, ALL, UFUNCS, Ufunc, check


def operands(ufunc: Ufunc, name: str) -> list[np.ndarray]:
    """Every combination of corner values, and some random ones."""
    dtype = dtypes.as_dtype(name)
    grid = corners(dtype)
    if dtype.kind == "c":
        grid = grid[np.isfinite(grid)]  # the rest is in the tests of the operations
    random = [drawn(dtype, -9, 9, 40, seed) for seed in range(ufunc.arity)]
    made = [np.concatenate(both) for both in zip(combinations([grid] * ufunc.arity), random)]
    if ufunc.name == "power" and dtype.kind in "iu":
        made[1] = made[1] & dtype.type(63)  # not negative
    return made


pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")

TAKEN = [(ufunc, dtype) for ufunc in UFUNCS for dtype in ufunc.takes]
REFUSED = [(ufunc, dtype) for ufunc in UFUNCS for dtype in ALL if dtype not in ufunc.takes]


@pytest.mark.parametrize(("ufunc", "dtype"), TAKEN, ids=str)
def test_values_are_numpys(ufunc, dtype):
    xs = operands(ufunc, dtype)
    with hloom.enable_x64():
        check(ufunc, xs, getattr(jnp, ufunc.name)(*xs))


@pytest.mark.parametrize(("ufunc", "dtype"), REFUSED, ids=str)
def test_what_numpy_refuses_raises_type_error(ufunc, dtype):
    xs = [np.ones(2, dtypes.as_dtype(dtype))] * ufunc.arity
    if dtype != "bfloat16":
        with pytest.raises(TypeError):
            getattr(np, ufunc.name)(*xs)
    with hloom.enable_x64(), pytest.raises(TypeError, match=ufunc.name):
        getattr(jnp, ufunc.name)(*xs)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=str)
def test_empty_arrays_stay_empty(ufunc):
    xs = [np.empty((2, 0), dtypes.as_dtype(ufunc.takes[1]))] * ufunc.arity
    results = getattr(jnp, ufunc.name)(*xs)
    for result in results if isinstance(results, tuple) else (results,):
        assert result.shape == (2, 0)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=str)
def test_lists_and_numbers_are_arrays_too(ufunc):
    name = "float32" if "float32" in ufunc.takes else "int32"
    one = [1.0] if name == "float32" else [1]
    function = getattr(jnp, ufunc.name)
    for given in (one * ufunc.arity, [one] * ufunc.arity):
        got = function(*given)
        want = function(*[np.array(x, name) for x in given])
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


@pytest.mark.parametrize("ufunc", UFUNCS, ids=str)
def test_jit_gives_what_an_eager_call_gives(ufunc):
    dtype = next(d for d in ("float32", "int32") if d in ufunc.takes)
    xs = operands(ufunc, dtype)
    function = getattr(jnp, ufunc.name)
    eager, jitted = function(*xs), hloom.jit(function)(*xs)
    if not isinstance(eager, tuple):
        eager, jitted = (eager,), (jitted,)
    for one, other in zip(eager, jitted):
        assert one.aval is other.aval
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-37)  # FMA, and flushed numbers


@pytest.mark.parametrize("ufunc", UFUNCS, ids=str)
def test_vmap_maps(ufunc):
    dtype = next(d for d in ("float32", "int32") if d in ufunc.takes)
    xs = [x[:12].reshape(3, 4) for x in operands(ufunc, dtype)]
    function = getattr(jnp, ufunc.name)
    whole, mapped = function(*xs), hloom.vmap(function)(*xs)
    np.testing.assert_allclose(whole, mapped, rtol=1e-6)
    if ufunc.arity == 2:
        outer = hloom.vmap(function, in_axes=(0, None))(xs[0], xs[1][0])
        np.testing.assert_allclose(outer, function(xs[0], xs[1][:1]), rtol=1e-6)


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_other_names_are_the_same_functions(alias, name):
    assert getattr(jnp, alias) is getattr(jnp, name)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=str)
def test_out_and_where_are_refused_with_a_way_out(ufunc):
    if ufunc.name in ("real", "imag", "angle", "nan_to_num"):
        return  # no ufuncs in NumPy either
    x = np.ones(2, dtypes.as_dtype(ufunc.takes[1]))
    function, xs = getattr(jnp, ufunc.name), [x] * ufunc.arity
    with pytest.raises(TypeError, match=rf"{ufunc.name} can't write to `out`.*out = {ufunc.name}"):
        function(*xs, out=x)
    with pytest.raises(TypeError, match=rf"hloom.numpy.where\(mask, {ufunc.name}"):
        function(*xs, where=x > 0)
    function(*xs, where=True)
