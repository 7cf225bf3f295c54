"""Every elementwise function against NumPy: any dtypes, shapes that broadcast, Python scalars."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hloom
import hloom.numpy as jnp
from hloom import dtypes
from hloom.core import ShapedArray
from hloom.testing import corners
from tests.numpy.pointwise.elementwise_cases import BINARY, UFUNCS, Ufunc, check

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own

# Each example compiles a program, so that a quarter of the profile's number fills the minute.
FEW = settings(max_examples=max(settings().max_examples // 4, 2))

# These don't round an integer to the narrow float beside it, as NumPy doesn't.
LOSSLESS = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "float_power",
}  # fmt: skip

SCALARS = st.one_of(
    st.booleans(),
    st.sampled_from([0, 1, -1, 2, 3, 100, 127, 128, 300, -129, 2**31 - 1, 2**31, 2**40, -(2**63)]),
    st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e30, np.inf, -np.inf, np.nan]),
    st.sampled_from([1j, 2.0 - 0.5j]),
)


def elements(dtype: np.dtype) -> st.SearchStrategy:
    """Corner values of a dtype, and what hypothesis thinks of; no subnormals, which XLA flushes."""
    grid = corners(dtype)
    match dtypes.kind(dtype):
        case "complex":
            return st.sampled_from(list(grid[np.isfinite(grid)]))
        case "float":
            tiny = float(dtypes.finfo(dtype).smallest_normal)
            floats = st.floats(width=32, allow_subnormal=False).map(dtype.type)
            normal = floats.filter(lambda x: x == 0 or not abs(float(x)) < tiny)
            return st.one_of(st.sampled_from(list(grid)), normal)
        case "bool":
            return st.booleans()
        case _:
            info = dtypes.iinfo(dtype)
            whole = st.integers(int(info.min), int(info.max)).map(dtype.type)
            return st.one_of(st.sampled_from(list(grid)), whole)


@st.composite
def arrays(draw, name: str, shape: tuple[int, ...]) -> np.ndarray:
    dtype = dtypes.as_dtype(name)
    size = int(np.prod(shape))
    values = draw(st.lists(elements(dtype), min_size=size, max_size=size))
    return np.array(values, dtype).reshape(shape)


def shapes(number: int) -> st.SearchStrategy:
    made = hnp.mutually_broadcastable_shapes(
        num_shapes=number, min_side=0, max_side=3, min_dims=0, max_dims=3
    )
    return made.map(lambda found: found.input_shapes)


def compare(ufunc: Ufunc, operands: list, promoted: list[np.ndarray]) -> None:
    """Our result for the operands as they are is NumPy's for those of one dtype, or both refuse."""
    function = getattr(jnp, ufunc.name)
    kind = dtypes.kind(promoted[0].dtype)
    if kind not in map(dtypes.kind, ufunc.takes):
        with pytest.raises(TypeError):
            function(*operands)
        return
    if ufunc.name == "power" and kind in ("bool", "signed", "unsigned"):
        if np.any(promoted[1] < 0):
            with pytest.raises(ValueError, match="negative integer powers"):
                function(*operands)
            return
        if np.any(promoted[1] > 63):
            return  # the table's oracle stops there
    results = function(*operands)
    check(ufunc, promoted, results)
    typed = hloom.eval_shape(lambda: function(*operands))
    got = [r.aval for r in (results if isinstance(results, tuple) else (results,))]
    traced = [ShapedArray(t.shape, t.dtype, t.weak_type) for t in hloom.tree.leaves(typed)]
    assert got == traced


@pytest.mark.parametrize("ufunc", UFUNCS, ids=str)
@FEW
@given(data=st.data())
def test_arrays_of_any_dtypes_and_shapes(ufunc, data):
    names = [data.draw(st.sampled_from(ufunc.takes)) for _ in range(ufunc.arity)]
    found = data.draw(shapes(ufunc.arity))
    xs = [data.draw(arrays(name, shape)) for name, shape in zip(names, found)]
    dtype = dtypes.result_type(*[x.dtype for x in xs])
    kinds = {dtypes.kind(x.dtype) for x in xs}
    if ufunc.name in LOSSLESS and "float" in kinds and kinds & {"signed", "unsigned"}:
        dtype = np.dtype(np.float64)
    with hloom.enable_x64(), np.errstate(all="ignore"):
        compare(ufunc, xs, [x.astype(dtype) for x in xs])


@pytest.mark.parametrize("ufunc", BINARY, ids=str)
@FEW
@given(data=st.data())
def test_python_scalars_beside_arrays(ufunc, data):
    name = data.draw(st.sampled_from(ufunc.takes))
    x = data.draw(arrays(name, (3,)))
    scalar = data.draw(SCALARS)
    swapped = data.draw(st.booleans())
    with hloom.enable_x64(), np.errstate(all="ignore"):
        dtype = dtypes.result_type(x.dtype, scalar)
        operands = [scalar, x] if swapped else [x, scalar]
        try:
            beside = np.asarray(scalar).astype(dtype)
            if type(scalar) is int and dtypes.kind(dtype) in ("signed", "unsigned"):
                beside = np.array(scalar, dtype)  # raises where it does not fit
        except OverflowError:
            return out_of_bounds(ufunc, operands)
        promoted = [x.astype(dtype), np.broadcast_to(beside, x.shape).copy()]
        compare(ufunc, operands, promoted[::-1] if swapped else promoted)
    return None


def out_of_bounds(ufunc: Ufunc, operands: list) -> None:
    """An integer that the array beside it does not hold: what has another dtype takes it."""
    function = getattr(jnp, ufunc.name)
    if ufunc.gives == "bool":
        np.testing.assert_array_equal(function(*operands), ufunc.numpy(*operands))
    elif ufunc.gives in ("float", "inexact", "wide"):
        floats = [np.asarray(x, np.float64) for x in operands]
        check(ufunc, np.broadcast_arrays(*floats), function(*operands))
    else:
        with pytest.raises((OverflowError, ValueError), match="out of bounds|negative integer"):
            function(*operands)
