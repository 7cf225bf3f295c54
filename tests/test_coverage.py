"""Every primitive is whole: six rules, a docstring with a type arrow, cases that try them."""

from __future__ import annotations

from typing import Any

import pytest

import hloom
from hloom import testing
from hloom.core.jaxpr import Var
from hloom.core.primitive import Primitive
from hloom.ops.common.elementwise import Elementwise
from hloom.ops.linalg.matrix_functions import MatrixFunction

PRIMITIVES = testing.primitives()

# Their results are integers or bools, or flat wherever they are not broken.
FLAT = {
    "and", "argmax", "argmin", "bitcast_convert_type", "ceil", "clz", "floor", "floor_divide",
    "gcd", "is_finite", "le", "lu_pivots_to_permutation", "mulhi", "ne", "not", "or",
    "population_count", "reduce_and", "reduce_or", "reduce_xor", "rng_bit_generator", "round",
    "searchsorted", "shift_left", "shift_right_arithmetic", "shift_right_logical", "xor",
}  # fmt: skip
# What their derivative is by convention is no slope; their own tests say what it is.
BY_CONVENTION = {"rng_uniform", "reduce_precision", "stop_gradient"}
# Their jvp rules say why there is no derivative, and what to do.
REFUSED = {"composite", "hessenberg", "nextafter", "schur", "scatter_apply", "tridiagonal"}


def own(primitive: Primitive, rule: str) -> bool:
    """Whether the rule is not one that says that it is missing."""
    missing = (getattr(Primitive, rule), MatrixFunction.transpose)
    return getattr(type(primitive), rule) not in missing


def applied_to_tangents(case: testing.Case) -> set[str]:
    """The primitives that a case's jvp rules apply to tangents: reverse mode transposes these."""
    fun, primals = case.moved(case.differentiated[0])

    def pushed(xs: Any, tangents: Any) -> list[Any]:
        moved = hloom.tree.leaves(hloom.jvp(fun, xs, tangents)[1])
        return [t for t in moved if isinstance(t, hloom.Array)]  # and not float0

    with hloom.enable_x64():
        jaxpr = hloom.make_jaxpr(pushed)(tuple(primals), tuple(primals)).jaxpr
    linear, names = set(jaxpr.inputs[-len(primals) :]), set()
    for equation in jaxpr.equations:
        if not linear.isdisjoint(x for x in equation.inputs if isinstance(x, Var)):
            linear.update(equation.outputs)
            names.add(equation.primitive.name)
    return names


@pytest.fixture(scope="module")
def linear() -> set[str]:
    """What reverse mode transposes, in any case."""
    cases = [case for case in testing.CASES if case.differentiated and case.reverse]
    return set().union(*map(applied_to_tangents, cases))


@pytest.fixture(scope="module")
def used() -> dict[testing.Case, set[str]]:
    """The primitives of each case, found by tracing it in every one of its dtypes."""
    return {
        case: set().union(*[testing.used(case, dtype) for dtype in case.dtypes])
        for case in testing.CASES
    }


def test_there_are_primitives() -> None:
    assert len(PRIMITIVES) > 100


@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_primitive_has_its_rules(name: str, linear: set[str]) -> None:
    rules = ["infer", "numpy", "emit", "jvp", "batch", *["transpose"] * (name in linear)]
    missing = [rule for rule in rules if not own(PRIMITIVES[name], rule)]
    assert not missing, f"{name} has no rule {missing}"


def test_only_what_is_applied_to_tangents_has_a_transpose(linear: set[str]) -> None:
    structured = {name for name, p in PRIMITIVES.items() if not isinstance(p, Elementwise)}
    transposed = {name for name in structured if own(PRIMITIVES[name], "transpose")}
    # iota has no operand, and the transpose of while says what to do instead.
    assert transposed - linear - FLAT - BY_CONVENTION == {"iota", "while"}


@pytest.mark.parametrize("name", [n for n, p in PRIMITIVES.items() if type(p) is not Elementwise])
def test_a_structured_primitive_shows_its_types_in_an_arrow(name: str) -> None:
    kind = type(PRIMITIVES[name])
    assert "-->" in (kind.__doc__ or ""), f"{kind.__name__} has no arrow"


def test_every_primitive_is_in_the_jaxpr_of_a_case(used: dict[testing.Case, set[str]]) -> None:
    without = set(PRIMITIVES) - set().union(*used.values())
    assert not without, f"hloom.testing.CASES has no case for {sorted(without)}"


def test_every_primitive_that_has_a_derivative_is_in_a_case_that_is_differentiated(
    used: dict[testing.Case, set[str]],
) -> None:
    tried = set().union(*[names for case, names in used.items() if case.differentiated])
    without = set(PRIMITIVES) - tried
    assert without - FLAT - BY_CONVENTION - REFUSED == set()
    assert (FLAT | BY_CONVENTION | REFUSED) - set(PRIMITIVES) == set()


def test_a_case_that_is_not_exact_says_why() -> None:
    for case in testing.CASES:
        assert case.exact == (case.why == "exact"), f"{case}: ulp {case.ulp}, because {case.why!r}"


def test_cases_are_told_apart_by_name_and_dtype() -> None:
    names = [(str(case), dtype) for case in testing.CASES for dtype in case.dtypes]
    assert len(names) == len(set(names))
