"""Laws of promotion: order and grouping do not matter; NumPy agrees but for what is listed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hloom import dtypes

NAMES = [row.name for row in dtypes.TABLE]
SCALARS = {int: 1, float: 1.0, complex: 1j}

PAIRS = [(row.dtype, False) for row in dtypes.TABLE]
PAIRS += [dtypes.pair_of(scalar) for scalar in SCALARS]
# Weak arrays made before 64-bit types were switched on: their width depends on the grouping.
LEFT_OVER = [dtypes.pair_of(scalar, x64=False) for scalar in SCALARS]

pairs = st.sampled_from(PAIRS + LEFT_OVER)
modes = st.sampled_from(["standard", "strict"])


def join(*given_pairs, x64, mode="standard"):
    """The pair, or None where there is no common dtype."""
    try:
        return dtypes.join(given_pairs, x64, mode)
    except TypeError:
        return None


def promote(a, b):
    try:
        return dtypes.promote_types(a, b).name
    except TypeError:
        return "TypeError"


def numpy_promote(a, b):
    try:
        return np.promote_types(dtypes.as_dtype(a), dtypes.as_dtype(b)).name
    except TypeError:
        return "TypeError"


@given(a=pairs, x64=st.booleans(), mode=modes)
def test_idempotent(a, x64, mode):
    once = join(a, x64=x64, mode=mode)
    assert once == join(a, a, x64=x64, mode=mode)
    assert once == join(once, x64=x64, mode=mode)


@given(a=pairs, b=pairs, x64=st.booleans(), mode=modes)
def test_commutative(a, b, x64, mode):
    assert join(a, b, x64=x64, mode=mode) == join(b, a, x64=x64, mode=mode)


@pytest.mark.parametrize("mode", ["standard", "strict"])
@pytest.mark.parametrize("x64", [True, False])
def test_associative(x64, mode):
    """Exhaustive: a group has a common dtype in any grouping or in none, and it is the same one."""
    for a, b, c in product(PAIRS, repeat=3):
        left = join(a, b, x64=x64, mode=mode)
        right = join(b, c, x64=x64, mode=mode)
        left = left and join(left, c, x64=x64, mode=mode)
        right = right and join(a, right, x64=x64, mode=mode)
        assert left == right, (a, b, c)


@given(data=st.data(), x64=st.booleans(), mode=modes)
def test_many_at_once_in_any_order_are_as_two_by_two(data, x64, mode):
    many = data.draw(st.lists(pairs, min_size=1, max_size=6))
    shuffled = data.draw(st.permutations(many))
    together = join(*many, x64=x64, mode=mode)
    assert together == join(*shuffled, x64=x64, mode=mode)


@given(a=pairs, b=pairs, x64=st.booleans(), mode=modes)
def test_joining_the_result_again_changes_nothing(a, b, x64, mode):
    joined = join(a, b, x64=x64, mode=mode)
    if joined is not None:
        assert join(joined, a, x64=x64, mode=mode) == joined
        assert join(joined, b, x64=x64, mode=mode) == joined


@given(a=pairs, b=pairs)
def test_with_64_bit_types_off_no_result_has_64_bits(a, b):
    joined = join(a, b, x64=False)
    if joined is not None:
        assert joined[0].name not in ("int64", "uint64", "float64", "complex128")


@given(a=pairs, b=pairs, x64=st.booleans())
def test_strict_promotion_only_refuses(a, b, x64):
    strict = join(a, b, x64=x64, mode="strict")
    assert strict is None or strict == join(a, b, x64=x64)


@given(a=pairs, b=pairs, x64=st.booleans())
def test_the_result_is_weak_only_if_no_operand_of_its_kind_is_strong(a, b, x64):
    joined = join(a, b, x64=x64)
    if joined is not None and joined[1]:
        strong = [dtype for dtype, weak in (a, b) if not weak]
        assert all(dtypes.kind(dtype) != dtypes.kind(joined[0]) for dtype in strong)


@pytest.mark.parametrize("a", NAMES)
def test_numpy_agrees_except_for_the_listed_departures(a):
    for b in NAMES:
        ours, numpys = promote(a, b), numpy_promote(a, b)
        row = dtypes.departure(a, b)
        if row is None:
            assert ours == numpys, (a, b)
            continue
        expected = {"the float": b if dtypes.kind(b) == "float" else a}.get(row.hloom, row.hloom)
        # "wider" is ml_dtypes' answer: it depends on the pair and on its version, and may be none.
        if row.numpy == "wider":
            assert ours == expected or ours == numpys, (a, b)
        else:
            assert (ours, numpys) == (expected, row.numpy), (a, b)


def test_every_listed_departure_between_numpys_dtypes_is_one():
    for row in dtypes.DEPARTURES:
        for a, b in product(row.left, row.right):
            if dtypes.is_numpy(a) and dtypes.is_numpy(b):
                assert promote(a, b) != numpy_promote(a, b)


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("name", [name for name in NAMES if dtypes.is_numpy(name)])
def test_numpy_agrees_on_python_scalars_beside_its_dtypes(name, scalar):
    assert dtypes.promote_types(name, scalar) == np.result_type(np.dtype(name), SCALARS[scalar])
    assert dtypes.result_type(name, SCALARS[scalar]) == dtypes.promote_types(name, scalar)
