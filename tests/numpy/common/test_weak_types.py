"""Weak types: a result is weak only if all operands are; what moves elements keeps it.

The rule is checked for the examples of every public function of `hloom.numpy` and `hloom.lax`, with
operands weak and strong in all combinations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import dtypes, tree
from hloom.ops.pointwise.convert import convert_element_type_p
from tests.ops import harvest

pytestmark = pytest.mark.filterwarnings("ignore")

FUNCTIONS = {
    **{f"jnp.{name}": calls for name, calls in harvest.numpy_calls().items()},
    **{f"lax.{name}": calls for name, calls in harvest.calls().items()},
}

# Functions whose results have a type of their own: totals, statistics, counts, places, and the
# factors of matrices.  They are strong whatever the operands are.
OWN = set(
    """
    jnp.sum jnp.prod jnp.max jnp.min jnp.amax jnp.amin jnp.ptp jnp.minmax jnp.mean jnp.std jnp.var
    jnp.average jnp.median jnp.percentile jnp.quantile jnp.cov jnp.corrcoef jnp.trapezoid
    jnp.nansum jnp.nanprod jnp.nanmax jnp.nanmin jnp.nanmean jnp.nanstd jnp.nanvar jnp.nanmedian
    jnp.nanpercentile jnp.nanquantile jnp.cumsum jnp.cumprod jnp.cumulative_sum jnp.cumulative_prod
    jnp.nancumsum jnp.nancumprod jnp.trace jnp.linalg.trace jnp.apply_over_axes
    jnp.count_nonzero jnp.bincount jnp.bitwise_count jnp.digitize jnp.searchsorted jnp.histogram
    jnp.histogram2d jnp.histogramdd jnp.histogram_bin_edges jnp.packbits jnp.unpackbits
    jnp.argmax jnp.argmin jnp.nanargmax jnp.nanargmin jnp.argsort jnp.argpartition jnp.argwhere
    jnp.lexsort jnp.nonzero jnp.flatnonzero jnp.tril_indices_from jnp.triu_indices_from
    jnp.diag_indices_from jnp.ravel_multi_index jnp.unravel_index jnp.sort_complex jnp.astype
    lax.argmax lax.argmin lax.argsort lax.searchsorted lax.bitcast_convert_type
    lax.convert_element_type lax.fft lax.ragged_dot lax.ragged_dot_general lax.scaled_dot
    lax.rng_bit_generator lax.rng_uniform lax.select_and_scatter_add
    """.split()
)

# Arguments that choose, place or shape, and whose values are not in the result: the n-th operand.
NOT_IN_RESULT = {
    "jnp.take": {1}, "jnp.take_along_axis": {1}, "jnp.put": {1}, "jnp.put_along_axis": {1},
    "jnp.choose": {0}, "jnp.repeat": {1}, "jnp.delete": {1}, "jnp.insert": {1}, "jnp.ldexp": {1},
    "jnp.setdiff1d": {1}, "lax.broadcast_like": {1}, "lax.gather": {1}, "lax.scatter": {1},
    "lax.scatter_add": {1}, "lax.scatter_sub": {1}, "lax.scatter_mul": {1}, "lax.scatter_min": {1},
    "lax.scatter_max": {1}, "lax.scatter_apply": {1}, "lax.dynamic_slice_in_dim": {1},
    "lax.dynamic_index_in_dim": {1}, "lax.dynamic_update_slice_in_dim": {2}, "lax.select_n": {0},
    "lax.dynamic_update_index_in_dim": {1}, "lax.index_take": {1, 2}, "lax.dynamic_slice": {1},
    "lax.order_statistics": {1},
}  # fmt: skip

# Functions whose n-th result is made of the n-th operand alone.
EACH = {"jnp.meshgrid", "jnp.broadcast_arrays", "jnp.ix_", "lax.sort", "lax.sort_key_val"}

# What these give is the business of the functions that they are given, or of a loop's carry.
OF_FUNCTIONS = {
    "jnp.piecewise", "lax.associative_scan", "lax.composite", "lax.cond", "lax.custom_linear_solve",
    "lax.custom_root", "lax.fori_loop", "lax.map", "lax.platform_dependent", "lax.reduce",
    "lax.reduce_window", "lax.scan", "lax.switch", "lax.while_loop",
}  # fmt: skip


def _is_operand(x: Any) -> bool:
    return isinstance(x, (hloom.Array, np.ndarray)) and x.dtype != bool


def _operands(call: harvest.Call) -> list[Any]:
    return [x for x in tree.leaves((call.args, call.kwargs)) if _is_operand(x)]


def _is_traced(call: harvest.Call) -> bool:
    return any(isinstance(x, hloom.core.Tracer) for x in tree.leaves((call.args, call.kwargs)))


def _weak(x: Any) -> Any:
    x = jnp.asarray(x)
    return convert_element_type_p(x, new_dtype=x.dtype, weak_type=True)


def _with(call: harvest.Call, weak: tuple[bool, ...], dtype: Any) -> tuple[Any, list[Any]]:
    """The call's results with these operands weak, and the operands."""
    leaves, structure = tree.flatten((call.args, call.kwargs))
    flags, operands = iter(weak), []
    for i, x in enumerate(leaves):
        if _is_operand(x):
            x = np.asarray(x) if dtype is None else np.asarray(x).astype(dtype)
            leaves[i] = _weak(x) if next(flags) else jnp.asarray(x)
            operands.append(leaves[i])
    args, kwargs = tree.unflatten(structure, leaves)
    return call.function(*args, **kwargs), operands


def _cases(calls: list[harvest.Call]) -> Iterator[tuple[harvest.Call, tuple[bool, ...], Any]]:
    for call in [each for each in calls if not _is_traced(each)][:3]:
        count = len(_operands(call))
        if 0 < count <= 4 and all(x.size < 5000 for x in _operands(call)):
            for weak in itertools.product((False, True), repeat=count):
                for dtype in (None, "float32", "int32"):
                    yield call, weak, dtype


def _fault(name: str, results: Any, operands: list[Any]) -> str | None:
    """What is wrong with the results' weak types."""
    counted = [x for i, x in enumerate(operands) if i not in NOT_IN_RESULT.get(name, ())]
    for place, result in enumerate(tree.leaves(results)):
        if not isinstance(result, hloom.Array):
            continue
        kind = dtypes.kind(result.dtype)
        if name in EACH and place >= len(operands):
            continue  # of a number
        sources = [operands[place]] if name in EACH else counted
        if kind == "bool" or name in OWN:
            allowed = {False}
        elif all(x.weak_type for x in sources):
            allowed = {True} if place == 0 else {True, False}  # places and counts come later
        elif any(not x.weak_type and dtypes.kind(x.dtype) == kind for x in sources):
            allowed = {False}
        else:
            allowed = {True, False}  # of another kind: the lattice decides
        if result.weak_type not in allowed:
            shown = ", ".join(f"{x.aval}{'*' * x.weak_type}" for x in operands)
            return f"{name}({shown}): {result.aval}{'*' * result.weak_type}"
    return None


@pytest.mark.parametrize(
    "name",
    sorted(name for name in FUNCTIONS if name not in OF_FUNCTIONS and "lax.linalg" not in name),
)
def test_the_rule_for(name):
    faults = []
    with hloom.engine("numpy"):
        for call, weak, dtype in _cases(FUNCTIONS[name]):
            try:
                found = _with(call, weak, dtype)
            except Exception:
                if dtype is None:
                    raise
                continue  # it takes no such dtype
            faults.append(_fault(name, *found))
    faults = [x for x in faults if x]
    assert not faults, "\n".join(faults)


STRONG_32 = np.arange(1, 4, dtype=np.float32)
KEPT = """
    w[0]; w[:2]; w[jnp.array([0, 1])]; w[w > 1]; w.T; w.ravel(); w.sort(); w.take(0); w.real; w.imag
    w.at[0].set(1.5); w.at[:2].set(w[0]); w.at[jnp.array([0, 1])].add(2); w.at[w > 1].multiply(w[0])
    w.at[0].divide(3); w.at[jnp.array([0, 0])].power(2); w.at[0].apply(jnp.sin); w.at[0].get()
    w.at[jnp.array([0])].apply(jnp.sin); -w; abs(w); w + 1; 2 - w; w**2; 2**w; w @ w; w // 2; w % 2
    jnp.full((2,), 1.5); jnp.full_like(w, 2); jnp.array(1.5); jnp.array(w); lax.full_like(w, 2)
    jnp.where(w > 1, 1.0, 2.0); jnp.pad(w, 1, mode="mean"); jnp.pad(w, 1, mode="linear_ramp")
    jnp.pad(w, 3, mode="reflect", reflect_type="odd"); jnp.unique(w, size=2); jnp.unique(w, axis=0)
    jnp.take(w, 9, mode="fill"); jnp.take(w, 0, fill_value=1.0); jnp.diff(w, prepend=0.0)
    jnp.gradient(w, 0.5); jnp.insert(w, 0, 1.0); jnp.append(w, 1.0); jnp.union1d(w, 1.0)
    jnp.extract(w > 1, w, size=2); jnp.apply_along_axis(jnp.sort, 0, w); jnp.r_[w, w]
"""
STRENGTHENED = """
    w + s; s * w; w @ s; jnp.copysign(1.5, s); jnp.copysign(w, s); jnp.copysign(s, w)
    w.at[0].set(s[0]); w.at[jnp.array([0])].add(s[0]); w.at[w > 1].set(s[0]); s.at[0].set(w[0])
    jnp.where(w > 1, w, s); jnp.clip(w, s); jnp.clip(s, 0, w); jnp.interp(s, w, w)
    jnp.pad(w, 1, constant_values=s[0]); jnp.insert(w, 0, s[0]); jnp.append(w, s); jnp.append(s, w)
    jnp.union1d(w, s); jnp.intersect1d(w, s); jnp.gradient(w, s); jnp.diff(w, append=s)
    jnp.stack([w, s]); jnp.select([w > 1], [w], s[0]); jnp.put(w, 0, s[0], inplace=False)
    jnp.full((2,), s[0]); lax.full_like(w, s[0]); lax.full((2,), w[0], jnp.float32)
    w.astype(jnp.float32); jnp.array([w, w]); jnp.array([1.5]); jnp.arange(3.0); jnp.sum(w)
    jnp.linspace(w, 1, 3); jnp.mean(w); jnp.max(w); w.cumsum(); jnp.heaviside(w, s)
"""


def _expressions(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(";")]


@pytest.mark.parametrize(
    ("expression", "weak"),
    [(each, True) for each in _expressions(KEPT)]
    + [(each, False) for each in _expressions(STRENGTHENED)],
)
def test_the_result_of(expression, weak):
    names = {"jnp": jnp, "lax": hloom.lax, "s": jnp.asarray(STRONG_32), "w": _weak(STRONG_32)}
    result = eval(expression, names)
    assert result.dtype == np.float32
    assert result.weak_type is weak
    # and so beside narrower floats: a weak result adopts their dtype
    half = jnp.ones((), jnp.float16)
    assert (result + half).dtype == (np.float16 if weak else np.float32)


PAIRS = (
    "copysign maximum minimum fmax fmin hypot nextafter arctan2 fmod heaviside logaddexp "
    "logaddexp2 power float_power add subtract multiply divide remainder"
).split()


@pytest.mark.parametrize("name", PAIRS)
def test_a_strong_float_beside_a_weak_one_decides(name):
    """A float32 result stays float32 beside float16 unless both operands were weak."""
    function, strong, weak = getattr(jnp, name), jnp.ones(3), jnp.asarray(1.5)
    for operands in [(weak, strong), (strong, weak), (2.0, strong), (strong, 2.0)]:
        for result in (function(*operands), hloom.jit(function)(*operands)):
            assert result.dtype == np.float32 and not result.weak_type
    assert function(weak, 2.0).weak_type


@pytest.mark.parametrize("expression", ["jnp.pad(w, 1, constant_values=w[0])", "w.at[0].set(w[1])"])
def test_transformations_keep_it(expression):
    def program(w):
        return eval(expression, {"jnp": jnp, "w": w})

    w = _weak(STRONG_32)
    assert hloom.jit(program)(w).weak_type
    assert hloom.vmap(program)(jnp.stack([w, w])).weak_type
    assert not hloom.vmap(program)(jnp.ones((2, 3))).weak_type
    carried = hloom.lax.fori_loop(0, 3, lambda i, c: c.at[i].set(1.0), w)
    assert carried.weak_type and carried.tolist() == [1, 1, 1]
    strong = hloom.lax.fori_loop(0, 3, lambda i, c: c.at[i].set(jnp.float32(1)), w)
    assert not strong.weak_type
