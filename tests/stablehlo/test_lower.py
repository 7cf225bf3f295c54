"""Jaxprs become modules that say the same: structure, sharing, locations, donation, errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jaxlib.mlir import ir

from hloom.config import config
from hloom.core.jaxpr import Equation, Jaxpr, Literal, Var
from hloom.stablehlo import Module, lower
from tests.stablehlo.machine import aval, run
from tests.stablehlo.programs import (
    Pointwise,
    add,
    call,
    cube,
    halves,
    jaxpr_of,
    lying,
    mul,
    number,
    repeat,
    sin,
    unwritten,
)
from tests.stablehlo.verify import parse

GOLDEN = Path(__file__).parent / "golden"
F3 = aval((3,), "float32")
x = np.array([0.5, -1, 2], np.float32)


def step(x: Any) -> Any:
    return add(sin(x), number(1.0))


def everything(x: Any, y: Any) -> list[Any]:
    low, high = halves(y)
    (x,) = call(x, jaxpr=jaxpr_of(step, (3,)), name="step")
    (x,) = call(x, jaxpr=jaxpr_of(step, (3,)), name="step")
    x = repeat(cube(x), jaxpr=jaxpr_of(step, (3,)), times=3)
    return [mul(x, number(0.1)), high]


PROGRAMS = {
    "identity": (jaxpr_of(lambda x: x, (3,)), {}),
    "constant": (jaxpr_of(lambda: number(-0.0)), {}),
    "nothing": (Jaxpr([], [], []), {}),
    "chain": (jaxpr_of(lambda x, y: step(mul(step(x), y)), (3,), (3,)), {"name": "chain"}),
    "everything": (jaxpr_of(everything, (3,), (4, 3)), {"name": "<lambda>", "donated": (0, 1)}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_is_pinned(name: str) -> None:
    """`UPDATE_GOLDEN=1` writes the files anew; read the difference before it is committed."""
    jaxpr, options = PROGRAMS[name]
    text, file = str(lower(jaxpr, locations=False, **options)), GOLDEN / f"{name}.mlir"
    if "UPDATE_GOLDEN" in os.environ:
        file.write_text(text)
    assert text == file.read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_locations_the_text_is_the_same_but_for_them(name: str) -> None:
    jaxpr, options = PROGRAMS[name]
    module = lower(jaxpr, **options)
    assert module.text(locations=False) == str(lower(jaxpr, locations=False, **options))
    assert ("loc(" in str(module)) == bool(jaxpr.equations)


def test_the_program_computes_what_it_says() -> None:
    y = np.arange(12, dtype=np.float32).reshape(4, 3)
    wanted = np.sin(np.sin(x) + 1) + 1
    wanted = wanted**3
    for _ in range(3):
        wanted = np.sin(wanted) + 1
    jaxpr, options = PROGRAMS["everything"]
    got, high = run(
        str(lower(jaxpr, **{**options, "donated": ()})), [x, y], [F3, aval((2, 3), "f4")]
    )
    np.testing.assert_allclose(got, wanted * np.float32(0.1), rtol=1e-6)
    np.testing.assert_array_equal(high, y[2:])


# ---- sub-functions --------------------------------------------------------------------------
def test_equal_functions_are_written_once_and_others_get_names_of_their_own() -> None:
    def fun(x: Any) -> Any:
        same = jaxpr_of(step, (3,))
        for jaxpr in (same, same, jaxpr_of(step, (3,)), jaxpr_of(sin, (3,)), jaxpr_of(cube, (3,))):
            (x,) = call(x, jaxpr=jaxpr, name="main")
        return x

    module = lower(jaxpr_of(fun, (3,)))
    assert list(module.functions) == ["main", "main_1", "main_2", "main_3"]
    assert str(module).count("call @main_1(") == 3
    parse(str(module))


def test_a_function_may_call_functions() -> None:
    def inner(x: Any) -> Any:
        return call(x, jaxpr=jaxpr_of(step, (3,)), name="step")[0]

    def outer(x: Any) -> Any:
        return call(inner(x), jaxpr=jaxpr_of(inner, (3,)), name="inner")[0]

    module = lower(jaxpr_of(outer, (3,)))
    assert list(module.functions) == ["main", "step", "inner"]
    (got,) = run(str(module), [x], [F3])
    np.testing.assert_allclose(got, np.sin(np.sin(x) + 1) + 1, rtol=1e-6)


def test_functions_of_no_and_of_several_results() -> None:
    def fun(y: Any) -> list[Any]:
        call(y, jaxpr=jaxpr_of(lambda y: [], (2, 3)), name="nothing")
        return call(y, jaxpr=jaxpr_of(lambda y: [*halves(y), y], (2, 3)), name="all")

    text = str(lower(jaxpr_of(fun, (2, 3))))
    assert "func.call @nothing(%arg0) : (tensor<2x3xf32>) -> () loc" in text
    assert "%0:3 = func.call @all" in text
    parse(text)


# ---- trace ----------------------------------------------------------------------------------
def test_a_traced_lowering_is_traced_once_for_each_type() -> None:
    traced = []

    def fun(x: Any) -> list[Any]:
        traced.append(x.aval)
        return [mul(x, number(2.0)), number(3.0)]

    class Traced(Pointwise):
        def emit(self, block: Any, out: Any, *operands: Any) -> Any:
            assert len(block.trace(fun, *operands)) == 2
            return block.trace(fun, *operands)[0]

    double = Traced("double", "")
    text = str(lower(jaxpr_of(lambda x: double(double(x)), (3,))))
    assert traced == [F3]
    assert text.count("stablehlo.multiply") == 4


def test_a_traced_lowering_has_64_bit_types() -> None:
    seen = []

    def fun(x: Any) -> Any:
        seen.append(config.enable_x64)
        return x

    class Traced(Pointwise):
        def emit(self, block: Any, out: Any, *operands: Any) -> Any:
            return block.trace(fun, *operands)

    lower(jaxpr_of(Traced("wide", ""), (3,)))
    assert seen == [True]
    assert not config.enable_x64


# ---- literals -------------------------------------------------------------------------------
def test_literals_are_exact_and_shared_by_their_bits() -> None:
    nan = np.array(0x7FC0_1234, np.uint32).view(np.float32)[()]

    def fun(x: Any) -> Any:
        for value in (0.0, -0.0, nan, 0.0, nan):
            x = add(x, number(value))
        return add(x, number(0.0, weak=True))

    text = str(lower(jaxpr_of(fun, (3,)), locations=False))
    assert text.count("stablehlo.constant") == 3
    assert "dense<0x7FC01234> : tensor<3xf32>" in text


# ---- locations ------------------------------------------------------------------------------
def test_every_operation_knows_the_users_line() -> None:
    here = test_every_operation_knows_the_users_line.__code__.co_firstlineno

    def fun(x: Any) -> Any:
        y = sin(x)
        return repeat(mul(y, number(2.0)), jaxpr=jaxpr_of(sin, (3,)), times=2)

    module = parse(str(lower(jaxpr_of(fun, (3,)))))
    places: dict[str, int] = {}

    def visit(op: Any) -> Any:
        if isinstance(op.location, ir.FileLineColLoc) and op.location.filename == __file__:
            places.setdefault(op.name, op.location.start_line)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    assert places["stablehlo.sine"] == here + 4
    assert places["stablehlo.multiply"] == places["stablehlo.constant"] == here + 5
    assert places["stablehlo.while"] == here + 5


def test_each_place_is_written_once() -> None:
    def fun(x: Any) -> Any:
        for _ in range(5):
            x = sin(x)
        return x

    text = str(lower(jaxpr_of(fun, (3,))))
    assert text.count("loc(#loc1)") == 5
    assert text.count(" = loc(") == 1


def test_mlir_names_the_users_line_in_its_errors() -> None:
    text = str(lower(jaxpr_of(lambda x: sin(x), (3,))))
    with pytest.raises(
        ir.MLIRError, match=r"test_lower\.py.*'stablehlo.not' op operand #0 must be"
    ):
        parse(text.replace("stablehlo.sine", "stablehlo.not"))


# ---- donation -------------------------------------------------------------------------------
def test_donated_inputs_go_to_results_of_their_type() -> None:
    jaxpr = jaxpr_of(lambda a, b, c, d: [add(c, c), add(a, b)], (3,), (3,), (2,), (3,))
    header = str(lower(jaxpr, donated=(3, 0, 2))).splitlines()[1]
    assert header == (
        "  func.func public @main(%arg0: tensor<3xf32> {tf.aliasing_output = 1 : i32}, "
        "%arg1: tensor<3xf32>, %arg2: tensor<2xf32> {tf.aliasing_output = 0 : i32}, "
        "%arg3: tensor<3xf32> {jax.buffer_donor = true}) -> (tensor<2xf32>, tensor<3xf32>) {"
    )


# ---- errors ---------------------------------------------------------------------------------
def test_a_lying_emit_rule_is_named() -> None:
    with pytest.raises(TypeError, match=r"emit rule of lying gave f32\[3\] .* promised f32\[\]"):
        lower(jaxpr_of(lying, (3,)))


def test_too_few_results_are_noticed() -> None:
    class Half(type(halves)):  # type: ignore[misc]
        def emit(self, block: Any, outs: Any, x: Any) -> Any:
            return super().emit(block, outs[:1], x)

    with pytest.raises(TypeError, match=r"emit rule of half gave f32\[1,3\] where"):
        lower(jaxpr_of(Half("half"), (2, 3)))


def test_a_primitive_without_an_emit_rule_says_so() -> None:
    out = Var(F3)
    jaxpr = Jaxpr([out], [Equation(unwritten, [out], [Var(F3)], {})], [out])
    with pytest.raises(NotImplementedError, match="unwritten"):
        lower(jaxpr)


def test_a_variable_that_nothing_defines_is_refused() -> None:
    with pytest.raises(ValueError, match="before an equation defines it"):
        lower(Jaxpr([], [], [Var(F3)]))


# ---- size and speed -------------------------------------------------------------------------
def chain(length: int) -> Jaxpr:
    first = var = Var(F3)
    equations = []
    code = chain.__code__
    for i in range(length):
        inputs = (
            [var, Literal(np.asarray(1 + i % 7, np.float32), aval((), "f4"))] if i % 3 else [var]
        )
        var, primitive = Var(F3), (sin, mul, add)[i % 3]
        equations.append(Equation(primitive, inputs, [var], {}, (code, 2 * (i % 10))))
    return Jaxpr([first], equations, [var])


def calls(fun: Any, *operands: Any) -> int:
    """How many calls of Python and C functions this takes."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        fun(*operands)
    finally:
        sys.setprofile(None)
    return count


def test_the_work_grows_with_the_length_of_a_chain_and_no_faster() -> None:
    short, long = chain(500), chain(1500)
    assert str(lower(long)).count("\n") > 1500
    assert calls(lambda: str(lower(long))) < 3.3 * calls(lambda: str(lower(short)))


def test_depth_of_calls_is_limited_by_the_interpreter_only() -> None:
    jaxpr = jaxpr_of(step, (3,))
    for _ in range(100):
        inner = jaxpr
        jaxpr = jaxpr_of(lambda x, inner=inner: sin(call(x, jaxpr=inner, name="f")[0]), (3,))
    module: Module = lower(jaxpr)
    assert len(module.functions) == 101
