"""That the checks can fail: each finds the rule that is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hloom.numpy as jnp
from hloom import errors, lax, testing
from hloom.core.primitive import Primitive
from hloom.ops.common.elementwise import Elementwise
from hloom.testing import Case, Elements


class Twice(Primitive):
    """f32[3] --> f32[3], with rules that are right until one is replaced."""

    def infer(self, x: Any) -> Any:
        return x

    def numpy(self, x: Any) -> Any:
        return x + x

    def emit(self, block: Any, out: Any, x: Any) -> Any:
        return block.op(f"stablehlo.add {x}, {x}", [x, x], out)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self(*primals), self(*tangents)

    def transpose(self, ct: Any, x: Any) -> Any:
        return [self(ct)]

    def batch(self, size: int, operands: Any, batch_axes: Any) -> Any:
        return self(*operands), batch_axes[0]


def case_of(**rules: Any) -> Case:
    """A case of `Twice` with other rules."""
    primitive = type("Wrong", (Twice,), rules)("wrong")
    return Case("twice", lambda x: primitive(x), ((3,),), lambda x: 2 * x, ("float32", "float64"))


def everything(case: Case) -> None:
    testing.check_value(case, "float32")
    testing.check_jvp(case)
    testing.check_adjoint(case)
    testing.check_second(case)
    testing.check_batch(case)


def test_right_rules_pass() -> None:
    everything(case_of())


WRONG: dict[str, tuple[dict[str, Any], Callable[[Case], None]]] = {
    "numpy": ({"numpy": lambda self, x: x + 1}, lambda c: testing.check_value(c, "float32")),
    "emit": ({"emit": lambda self, block, out, x: x}, lambda c: testing.check_value(c, "float32")),
    "jvp": ({"jvp": lambda self, xs, ts: (self(*xs), ts[0])}, testing.check_jvp),
    "value of jvp": ({"jvp": lambda self, xs, ts: (xs[0], self(*ts))}, testing.check_jvp),
    "transpose": ({"transpose": lambda self, ct, x: [ct]}, testing.check_adjoint),
    "batch": ({"batch": lambda self, n, xs, axes: (xs[0], axes[0])}, testing.check_batch),
}  # fmt: skip


@pytest.mark.parametrize("rule", WRONG)
def test_a_wrong_rule_is_found(rule: str) -> None:
    rules, check = WRONG[rule]
    with pytest.raises(AssertionError, match="twice"):
        check(case_of(**rules))


def test_a_batch_axis_that_is_not_where_the_rule_says_is_found() -> None:
    case = case_of(batch=lambda self, n, xs, axes: (self(*xs), 1 - axes[0]))
    with pytest.raises(AssertionError, match="batched at"):
        testing.check_batch(case)


def test_a_derivative_that_stops_at_the_first_is_found() -> None:
    with pytest.raises(AssertionError, match="derivative of the derivative"):
        testing.assert_second(lambda x: x * lax.stop_gradient(x), [np.ones(3)])


def test_a_result_beyond_its_budget_is_found_and_shown() -> None:
    case = Case("sin", lax.sin, (Elements(-4, 4),), np.sin, ("float32",), (0.01, 0.01, 0), "none")
    with pytest.raises(AssertionError, match="differ\n  at "):
        testing.check_value(case, "float32")
    testing.check_value(replace(case, ulp=(2.0, 1.0, 0.0)), "float32")


def test_the_sign_of_zero_and_nan_count_where_a_case_is_exact() -> None:
    for shown in (0.0, np.nan):
        case = Case("x", lambda x: x, ((1,),), lambda x, y=shown: np.full_like(x, y), ("float32",))
        for given in (-0.0, 1.0):
            with pytest.raises(AssertionError):
                testing.check_value(case, "float32", operands=[np.array([given], np.float32)])


def test_a_case_without_an_oracle_has_its_budget_too() -> None:
    case = Case("sin", lax.sin, (Elements(-4, 4),), None, ("float64",), (2, 2, 2), "XLA's function")
    x = np.linspace(-4, 4, 1000)
    by_numpy, by_xla = (testing.results(e, lax.sin, x)[0] for e in ("numpy", "xla"))
    assert (by_numpy != by_xla).any()
    testing.check_value(case, "float64", operands=[x])
    with pytest.raises(AssertionError, match="differ"):
        testing.check_value(replace(case, ulp=0.0), "float64", operands=[x])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int4", "int32"])
def test_an_elementwise_numpy_rule_that_gives_another_dtype_is_found(dtype: str) -> None:
    wrong = Elementwise("wrong", hlo="add", numpy=lambda x, y: np.add(x, y).astype(np.float64))
    case = Case("wrong", lambda x: wrong(x, x), ((3,),), lambda x: x + x, (dtype,), low=0, high=1)
    with pytest.raises(errors.EngineError, match="wrong gave float64.* promised"):
        testing.check_value(case, dtype)


def test_an_oracle_of_another_shape_is_found() -> None:
    case = Case("sum", lax.neg, (Elements(-4, 4),), lambda x: -x[:1], ("float32",))
    with pytest.raises(AssertionError, match="shape"):
        testing.check_value(case, "float32")


def test_an_engine_may_say_that_it_cannot_only_where_the_case_lets_it() -> None:
    case = next(case for case in testing.FAMILIES["factors"] if case.name == "cholesky")
    testing.check_value(case, "float32")
    with pytest.raises(errors.EngineUnsupported, match="custom_call"):
        testing.check_value(replace(case, engines=testing.ENGINES), "float32")


def test_what_a_check_does_inside_is_not_blamed_on_its_caller() -> None:
    case = next(case for case in testing.FAMILIES["factors"] if case.name == "hessenberg")
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.DroppedUpdateWarning)
        testing.check_value(case, "float32")  # uses .at[].set


def test_a_function_of_the_users_is_checked_alike() -> None:
    operands: Sequence[Any] = [np.linspace(0.1, 1, 6).reshape(2, 3), np.ones(3)]
    fun = lambda x, y: jnp.log(x) @ y
    testing.assert_jvp(fun, operands)
    testing.assert_adjoint(fun, operands)
    testing.assert_second(fun, operands)
    testing.assert_batch(fun, operands, ulp=4)
