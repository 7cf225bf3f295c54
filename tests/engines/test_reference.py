from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

from hloom import errors
from hloom.engines import ENGINES, jaxlib_compat
from hloom.engines.reference import ReferenceEngine
from tests.engines.programs import aval, count_down, double, main, multiply_add, python, run, tensor


@pytest.fixture(scope="module")
def engine() -> ReferenceEngine:
    found: ReferenceEngine = ENGINES["reference"]
    return found


X3 = f"(%x: {tensor(3)}) -> {tensor(3)}"


def unary(operation: str, size: int, element: str, to: str | None = None) -> str:
    t, out = tensor(size, element), tensor(size, to or element)
    types = t if to is None else f"({t}) -> {out}"
    return main(f"(%x: {t}) -> {out}", f"%0 = {operation} %x : {types}", f"return %0 : {out}")


ELEMENTS = {
    "i1": np.bool_, "i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "i8": np.int8, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64, "f16": np.float16,
    "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16,
    "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}  # fmt: skip


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_dtype_goes_in_and_out(engine: ReferenceEngine, element: str) -> None:
    dtype = np.dtype(ELEMENTS[element])
    for shape in [(), (3,), (0, 2), (2, 2)]:
        t = f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"
        x = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
        kind = aval(shape, dtype)
        program = engine.compile_text(main(f"(%x: {t}) -> {t}", f"return %x : {t}"), [kind], [kind])
        np.testing.assert_array_equal(run(engine, program, x)[0], x)


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_dtype_adds(engine: ReferenceEngine, element: str) -> None:
    dtype = np.dtype(ELEMENTS[element])
    t, kind = tensor(3, element), aval((3,), dtype)
    text = main(f"(%x: {t}) -> {t}", f"%0 = stablehlo.add %x, %x : {t}", f"return %0 : {t}")
    x = np.array([0, 1, 0]).astype(dtype)
    program = engine.compile_text(text, [kind], [kind])
    np.testing.assert_array_equal(run(engine, program, x)[0], x + x)


def test_signs_and_not_a_numbers_survive(engine: ReferenceEngine) -> None:
    for element in ["f32", "bf16", "complex<f32>"]:
        dtype = np.dtype(ELEMENTS[element])
        x = np.array([-0.0, np.nan, -np.inf, 1e-40]).astype(dtype)
        t, kind = tensor(4, element), aval((4,), dtype)
        program = engine.compile_text(main(f"(%x: {t}) -> {t}", f"return %x : {t}"), [kind], [kind])
        assert run(engine, program, x)[0].tobytes() == x.tobytes()


def test_nothing_is_fused(engine: ReferenceEngine) -> None:
    x, y, z = np.random.default_rng(0).standard_normal((3, 100), dtype="f4")
    kinds = [aval((100,))] * 3
    program = engine.compile_text(multiply_add(100), kinds, kinds[:1])
    np.testing.assert_array_equal(run(engine, program, x, y, z)[0], x * y + z)


def test_loops_run(engine: ReferenceEngine) -> None:
    kinds = [aval((3,), "int32")]
    program = engine.compile_text(count_down(3), kinds, kinds)
    assert run(engine, program, np.arange(3, dtype="i4"))[0].tolist() == [0, 8, 16]


def test_chlo_is_made_stablehlo(engine: ReferenceEngine) -> None:
    t = tensor(3)
    text = main(X3, f"%0 = chlo.erf %x : {t} -> {t}", f"return %0 : {t}")
    program = engine.compile_text(text, [aval((3,))], [aval((3,))])
    assert run(engine, program, np.array([0, 0.5, 9], "f4"))[0] == pytest.approx([0, 0.5204999, 1])


def test_complex_functions_run(engine: ReferenceEngine) -> None:
    x = np.array([1 + 2j, -3j, 0], "c8")
    text = unary("stablehlo.exponential", 3, "complex<f32>")
    kinds = [aval((3,), "c8")]
    result = run(engine, engine.compile_text(text, kinds, kinds), x)[0]
    np.testing.assert_allclose(result, np.exp(x), rtol=1e-6)


def test_results_may_mix_types(engine: ReferenceEngine) -> None:
    b, c = tensor(2, "bf16"), tensor(2, "complex<f32>")
    text = main(
        f"(%x: {b}, %y: {c}) -> ({c}, {b}, {c}, tensor<i1>)",
        "%t = stablehlo.constant dense<true> : tensor<i1>",
        f"return %y, %x, %y, %t : {c}, {b}, {c}, tensor<i1>",
    )
    x, y = np.array([1, 2], ml_dtypes.bfloat16), np.array([1j, 2], "c8")
    outs = [aval((2,), y.dtype), aval((2,), x.dtype), aval((2,), y.dtype), aval((), "bool")]
    results = run(engine, engine.compile_text(text, [outs[1], outs[0]], outs), x, y)
    assert [r.tolist() for r in results] == [y.tolist(), x.tolist(), y.tolist(), True]


# ---- what the interpreter can't do -------------------------------------------------------------

UNSUPPORTED = {
    "stablehlo.custom_call": main(
        "(%x: tensor<f32>) -> tensor<f32>",
        "%0 = stablehlo.custom_call @f(%x) : (tensor<f32>) -> tensor<f32>",
        "return %0 : tensor<f32>",
    ),
    "stablehlo.cholesky": main(
        "(%x: tensor<2x2xf32>) -> tensor<2x2xf32>",
        "%0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>",
        "return %0 : tensor<2x2xf32>",
    ),
    "stablehlo.rng_bit_generator": main(
        "(%x: tensor<2xui64>) -> tensor<3xui32>",
        "%0:2 = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY :"
        " (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)",
        "return %0#1 : tensor<3xui32>",
    ),
    "stablehlo.convert": unary("stablehlo.convert", 3, "f32", "i4"),
    "stablehlo.compare": main(
        "(%x: tensor<complex<f32>>) -> tensor<i1>",
        "%0 = stablehlo.compare LT, %x, %x :"
        " (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<i1>",
        "return %0 : tensor<i1>",
    ),
    "stablehlo.dot_general": main(
        "(%x: tensor<2x0xf32>) -> tensor<2x2xf32>",
        "%0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] :"
        " (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x2xf32>",
        "return %0 : tensor<2x2xf32>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("operation", UNSUPPORTED)
def test_an_operation_it_lacks_is_named_before_it_runs(
    engine: ReferenceEngine, operation: str
) -> None:
    with pytest.raises(errors.EngineUnsupported, match=f"cannot run {operation} in program 'f'"):
        engine.compile_text(UNSUPPORTED[operation], [aval((3,))], [aval((3,))], name="f")
    assert engine.process.ask(double(3), None) == ("done", [])


def test_conversions_that_it_gets_wrong_are_refused(engine: ReferenceEngine) -> None:
    kinds = [aval((3,), np.float32), aval((3,), ml_dtypes.float8_e8m0fnu)]
    text = unary("stablehlo.convert", 3, "f32", "f8E8M0FNU")
    with pytest.raises(errors.EngineUnsupported, match="convert.*f8E8M0FNU"):
        engine.compile_text(text, kinds[:1], kinds[1:])


def divide_by(size: int) -> str:
    t = tensor(size, "i32")
    quotient = f"%0 = stablehlo.divide %x, %y : {t}"
    return main(f"(%x: {t}, %y: {t}) -> {t}", quotient, f"return %0 : {t}")


def test_a_division_by_zero_ends_the_interpreter_and_nothing_else(engine: ReferenceEngine) -> None:
    kinds = [aval((3,), "int32")] * 2
    program = engine.compile_text(divide_by(3), kinds, kinds[:1])
    x, zero = np.array([4, 5, 6], "i4"), np.zeros(3, "i4")
    for _ in range(3):
        with pytest.raises(errors.EngineUnsupported, match="divides an integer by zero"):
            run(engine, program, x, zero)
        assert run(engine, program, x, zero + 2)[0].tolist() == [2, 2, 3]


TRANSFORM = main(
    "(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>",
    "%0 = stablehlo.fft %x, type = FFT, length = [4] :"
    " (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>",
    "return %0 : tensor<4xcomplex<f32>>",
)


@pytest.mark.skipif(not jaxlib_compat.BEFORE_0_12, reason="repaired in jaxlib 0.12")
def test_what_would_abort_is_screened_and_told_with_its_reason(engine: ReferenceEngine) -> None:
    kinds = [aval((4,), "c8")]
    for _ in range(2):
        with pytest.raises(errors.EngineUnsupported, match="stablehlo.fft.*double precision"):
            engine.compile_text(TRANSFORM, kinds, kinds, name="f")
    assert engine.process.ask(double(3), None) == ("done", [])


def test_text_that_does_not_parse_is_a_fault_of_hloom(engine: ReferenceEngine) -> None:
    with pytest.raises(errors.EngineError, match="a fault of hloom") as caught:
        engine.compile_text(main(X3, f"return %y : {tensor(3)}"), [aval((3,))], [aval((3,))])
    assert not isinstance(caught.value, errors.EngineUnsupported)
    os.unlink(str(caught.value).split("module, ")[1].split()[0])


def test_operands_of_another_type_are_refused(engine: ReferenceEngine) -> None:
    program = engine.compile_text(double(3), [aval((4,))], [aval((3,))], name="f")
    with pytest.raises(errors.EngineError, match="program 'f'"):
        run(engine, program, np.ones(4, "f4"))


# ---- the process -------------------------------------------------------------------------------


def test_a_process_that_was_killed_is_started_again() -> None:
    engine = ReferenceEngine()
    program = engine.compile_text(double(3), [aval((3,))], [aval((3,))])
    process = engine.process._process
    assert process is not None
    process.kill()
    process.wait()
    assert run(engine, program, np.ones(3, "f4"))[0].tolist() == [2, 2, 2]
    engine.process._stop()


def test_an_interruption_does_not_mix_up_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ReferenceEngine()
    program = engine.compile_text(double(3), [aval((3,))], [aval((3,))])
    with monkeypatch.context() as patch:

        def interrupted(file: object) -> object:
            raise KeyboardInterrupt

        patch.setattr("hloom.engines.reference.marshal.load", interrupted, raising=True)
        with pytest.raises(KeyboardInterrupt):
            run(engine, program, np.ones(3, "f4"))
    assert run(engine, program, np.full(3, 7, "f4"))[0].tolist() == [14, 14, 14]
    engine.process._stop()


def test_threads_take_turns(engine: ReferenceEngine) -> None:
    program = engine.compile_text(double(3), [aval((3,))], [aval((3,))])

    def work(number: int) -> bool:
        x = np.full(3, number, "f4")
        return all((run(engine, program, x)[0] == 2 * x).all() for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_the_interpreter_ends_with_its_process() -> None:
    done = python(
        """
from hloom.core.aval import ShapedArray
from hloom.engines import ENGINES
engine = ENGINES["reference"]
engine.compile_text("func.func @main() { return }", [], [])
import sys
assert not [name for name in sys.modules if name.startswith("jaxlib.mlir")]
print(engine.process._process.pid)
"""
    )
    pid = int(done.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the interpreter is still there")


def test_no_thread_is_started() -> None:
    before = threading.active_count()
    engine = ReferenceEngine()
    engine.compile_text(double(3), [aval((3,))], [aval((3,))])
    assert threading.active_count() == before
    engine.process._stop()
