from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from hloom import errors
from hloom.core.jaxpr import Equation, Jaxpr, Var
from hloom.engines import ENGINES, buffers, jaxlib_compat, memory
from hloom.engines.xla import GuardedRun, XlaEngine, check_sizes
from tests.engines.programs import (
    aval,
    count_down,
    double,
    filled,
    main,
    multiply_add,
    python,
    run,
    tensor,
)

# ---- compiling and running ---------------------------------------------------------------------


@pytest.mark.parametrize("tier", ["default", "fast", "exact"])
def test_each_tier_gives_the_right_answer(xla: XlaEngine, tier: str) -> None:
    for size in (3, 100_000):
        x = np.arange(size, dtype="f4")
        program = xla.compile_text(double(size), [aval(x.shape)], [aval(x.shape)], tier=tier)
        np.testing.assert_array_equal(run(xla, program, x)[0], x + x)


def test_an_unknown_tier_is_an_error(xla: XlaEngine) -> None:
    with pytest.raises(ValueError, match="default, fast, exact"):
        xla.compile_text(double(3), [aval((3,))], [aval((3,))], tier="turbo")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 600])
def test_exact_rounds_each_operation_as_numpy_does(xla: XlaEngine, size: int) -> None:
    x, y, z = np.random.default_rng(0).standard_normal((3, size), dtype="f4")
    z = -x * y + z * np.float32(1e-7)  # what a fused product and sum rounds otherwise
    kinds = [aval((size,))] * 3
    program = xla.compile_text(multiply_add(size), kinds, kinds[:1], tier="exact")
    np.testing.assert_array_equal(run(xla, program, x, y, z)[0], x * y + z)


@pytest.mark.parametrize("tier", ["default", "fast", "exact"])
def test_no_pass_rewrites_a_division_into_a_product(xla: XlaEngine, tier: str) -> None:
    t = tensor(512)
    text = main(
        f"(%x: {t}) -> {t}",
        f"%c = stablehlo.constant dense<3.0> : {t}",
        f"%0 = stablehlo.divide %x, %c : {t}",
        f"return %0 : {t}",
    )
    x = np.linspace(0.1, 9, 512, dtype="f4")
    program = xla.compile_text(text, [aval((512,))], [aval((512,))], tier=tier)
    np.testing.assert_array_equal(run(xla, program, x)[0], x / np.float32(3))


@pytest.mark.parametrize("tier", ["default", "fast", "exact"])
def test_a_maximum_over_many_elements_keeps_its_nan(xla: XlaEngine, tier: str) -> None:
    text = main(
        f"(%x: {tensor(5000)}) -> tensor<f32>",
        "%i = stablehlo.constant dense<0xFF800000> : tensor<f32>",
        "%0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0]"
        f" : ({tensor(5000)}, tensor<f32>) -> tensor<f32>",
        "return %0 : tensor<f32>",
    )
    x = np.ones(5000, "f4")
    x[4321] = np.nan
    program = xla.compile_text(text, [aval((5000,))], [aval(())], tier=tier)
    assert np.isnan(run(xla, program, x)[0])


def test_a_program_may_have_no_results_or_several(xla: XlaEngine) -> None:
    t = tensor(3)
    none = xla.compile_text(main(f"(%x: {t})", "return"), [aval((3,))], [])
    assert run(xla, none, np.zeros(3, "f4")) == []
    text = main(f"(%x: {t}) -> ({t}, {t})", f"return %x, %x : {t}, {t}")
    two = xla.compile_text(text, [aval((3,))], [aval((3,))] * 2)
    x = np.arange(3, dtype="f4")
    np.testing.assert_array_equal(run(xla, two, x), [x, x])


def test_a_run_can_be_waited_for_by_its_token(xla: XlaEngine) -> None:
    for size in (3, 1 << 19):  # jaxlib's own execute, and ours for much memory
        kind = aval((size,))
        program = xla.compile_text(double(size), [kind], [kind])
        results = program.execute([buffers.put(np.ones(size, "f4"), kind)], True)
        results.consume_token().block_until_ready()
        (buffer,) = results.consume_with_handlers(program.handlers)
        assert buffer.is_ready()


def test_a_donated_operand_is_gone(xla: XlaEngine) -> None:
    t, kind = tensor(3), aval((3,))
    text = main(
        f"(%x: {t} {{tf.aliasing_output = 0 : i32}}) -> {t}",
        f"%0 = stablehlo.add %x, %x : {t}",
        f"return %0 : {t}",
    )
    program = xla.compile_text(text, [kind], [kind])
    buffer = buffers.put(np.ones(3, "f4"), kind)
    program.execute([buffer]).consume_with_handlers(program.handlers)
    with pytest.raises(errors.DeletedArrayError):
        buffers.get(buffer, kind)
    with pytest.raises(jaxlib_compat.RuntimeFault) as caught:
        program.execute([buffer])
    explained = xla.explain(caught.value, kind)
    assert isinstance(explained, errors.DeletedArrayError)
    assert xla.explain(explained, kind) is explained


def test_threads_may_compile_and_run_at_once(xla: XlaEngine) -> None:
    def work(size: int) -> bool:
        x = np.arange(size, dtype="f4")
        program = xla.compile_text(double(size), [aval(x.shape)], [aval(x.shape)], tier="fast")
        return all((run(xla, program, x)[0] == 2 * x).all() for _ in range(50))

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, [5, 6, 7, 5, 6, 7, 5, 6, 7]))


def test_what_was_compiled_can_be_looked_at(xla: XlaEngine) -> None:
    for size in (4, 1 << 19):
        program = xla.compile_text(double(size), [aval((size,))], [aval((size,))])
        assert xla.loaded_of(program).execute_sharded
        assert xla.optimized_text(program).startswith("HloModule")
        assert xla.cost_analysis(program)["flops"] == size
        assert xla.memory_analysis(program).output_size_in_bytes == 4 * size
    other = ENGINES["numpy"].compile(Jaxpr([], [], []))
    with pytest.raises(errors.EngineUnsupported, match="only programs of the xla engine"):
        xla.optimized_text(other)


def test_a_refused_program_names_operation_and_line_and_is_saved(xla: XlaEngine) -> None:
    text = main(
        f"(%x: {tensor(3)}) -> {tensor(3)}",
        f'%0 = "stablehlo.add"(%x, %x) : ({tensor(3)}, {tensor(3)}) -> {tensor(4)}',
        f"return %0 : {tensor(4)}",
    )
    with pytest.raises(errors.EngineError) as caught:
        xla.compile_text(text, [aval((3,))], [aval((4,))], name="my add")
    said = str(caught.value)
    assert "stablehlo.add of program 'my add' was refused" in said
    assert "%0 =" in said and "a fault of hloom" in said
    assert len(said) < 1000
    saved = Path(said.split("module, ")[1].split()[0])
    assert saved.read_text() == text
    saved.unlink()


# ---- settings ----------------------------------------------------------------------------------


class Recorder(XlaEngine):
    """Notes how each program is compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.settings: list[str] = []

    def load(self, text: str, setting: str, name: str) -> object:
        self.settings.append(setting)
        return super().load(text, setting, name)


def kinds(size: int, dtype: str = "float32") -> tuple[list, list]:
    return [aval((size,), dtype)], [aval((size,), dtype)]


def test_a_fast_program_is_compiled_by_its_text_and_types(folder: Path) -> None:
    engine = Recorder()
    for _ in range(2):  # with nothing on disk, and with all of it
        engine.compile_text(double(10), *kinds(10), tier="fast")
        engine.compile_text(double(5000), *kinds(5000), tier="fast")
        engine.compile_text(double(1 << 19), *kinds(1 << 19), tier="fast")
        engine.compile_text(count_down(10), *kinds(10, "int32"), tier="fast")  # a loop
        engine.compile_text(multiply_add(10), kinds(10)[0] * 3, kinds(10)[1], tier="fast")
        engine.compile_text(double(10), *kinds(10))
    assert engine.settings == ["small", "fast", "fast", "fast", "fast", "default"] * 2


# ---- memory ------------------------------------------------------------------------------------


def test_results_beyond_memory_are_refused_and_the_process_goes_on(xla: XlaEngine) -> None:
    size = 1 << 44
    program = xla.compile_text(filled(str(size)), [], [aval((size,))], name="ones")
    assert isinstance(program.execute, GuardedRun)
    with pytest.raises(MemoryError, match="program 'ones'") as caught:
        program.execute([])
    assert isinstance(caught.value, errors.DeviceMemoryError)
    small = xla.compile_text(filled("3"), [], [aval((3,))])
    assert run(xla, small)[0].tolist() == [1, 1, 1]


def test_what_xla_says_of_memory_is_understood(
    xla: XlaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: None)
    size = 1 << 44
    program = xla.compile_text(filled(str(size)), [], [aval((size,))], name="ones")
    with pytest.raises(errors.DeviceMemoryError, match="RESOURCE_EXHAUSTED"):
        program.execute([])


def test_a_program_is_not_started_on_memory_that_is_not_free(
    xla: XlaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 1 << 25
    program = xla.compile_text(filled(str(size)), [], [aval((size,))], name="ones")
    monkeypatch.setattr(memory, "available", lambda: 1 << 26)
    with pytest.raises(errors.DeviceMemoryError, match="134,217,728 bytes; 67,108,864 are free"):
        program.execute([])


@pytest.mark.parametrize("shape", [(1 << 61,), (1 << 40, 1 << 40), (1 << 40, 0, 1 << 40)])
def test_there_is_no_type_of_more_bytes_than_xla_can_count(shape: tuple[int, ...]) -> None:
    with pytest.raises(MemoryError, match=r"f.*is of more bytes than 2\*\*63") as caught:
        aval(shape)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("shape", [(1 << 46,), (1 << 30, 1 << 20), (1 << 30, 0, 1 << 20)])
def test_a_type_beyond_all_memory_is_refused_before_xla_sees_it(shape: tuple[int, ...]) -> None:
    var = Var(aval(shape))
    inner = Jaxpr([], [Equation(None, [], [var], {})], [])
    outer = Jaxpr([], [Equation(None, [], [], {"body": inner})], [])
    for jaxpr in [inner, outer, Jaxpr([var], [], [])]:
        with pytest.raises(errors.DeviceMemoryError, match="cannot hold f32"):
            check_sizes(jaxpr)


@pytest.mark.parametrize("shape", [(), (0,), (0, 1 << 30), (1 << 40,)])
def test_types_that_xla_can_count_pass(shape: tuple[int, ...]) -> None:
    check_sizes(Jaxpr([Var(aval(shape))], [], []))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_is_told_so_and_does_not_hang() -> None:
    python(
        """
import os, signal, warnings
warnings.simplefilter("ignore")  # Python 3.12 warns of forking beside threads
import numpy as np
from hloom import errors
from hloom.core.aval import ShapedArray
from hloom.engines import ENGINES
engine = ENGINES["xla"]
def compiled(size):
    kinds = [ShapedArray((size,), np.dtype("float32"))]
    t = f"tensor<{size}xf32>"
    body = f"%0 = stablehlo.add %x, %x : {t} return %0 : {t}"
    return engine.compile_text(f"func.func @main(%x: {t}) -> {t} {{ {body} }}", kinds, kinds)
large = compiled(1 << 20)
value = np.ones(1 << 20, "f4")
buffer = engine.put(value, large.outs[0])
child = os.fork()
if not child:
    signal.alarm(60)
    assert (engine.get(buffer, large.outs[0]) == 1).all()
    for use in [lambda: compiled(3), lambda: large.execute([buffer])]:
        try:
            use()
        except errors.EngineError as error:
            assert "forked" in str(error)
        else:
            os._exit(1)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    )


# ---- the process -------------------------------------------------------------------------------


def test_loading_engines_starts_nothing() -> None:
    python(
        """
import sys, threading
import hloom.engines
assert "hloom.engines.jaxlib_compat" not in sys.modules
hloom.engines.ENGINES["xla"]
from hloom.engines import jaxlib_compat
assert jaxlib_compat.started is None
assert threading.active_count() == 1
"""
    )


def test_threads_start_one_client_and_one_engine() -> None:
    python(
        """
import threading
from hloom.engines import ENGINES
seen = []
def start():
    engine = ENGINES["xla"]
    seen.append((id(engine), id(engine.devices()[0])))
threads = [threading.Thread(target=start) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(seen) == 8 and len(set(seen)) == 1, seen
"""
    )


def test_nothing_here_tries_to_import_jax() -> None:
    python(
        """
import sys
class Guard:
    def find_spec(name, path=None, target=None):
        assert name.split(".")[0] != "jax"
sys.meta_path.insert(0, Guard)
import ml_dtypes, numpy as np
from hloom.core.aval import ShapedArray
from hloom.engines import ENGINES
xla = ENGINES["xla"]
t = "tensor<3xf32>"
text = f"func.func @main(%x: {t}) -> {t} {{ return %x : {t} }}"
for dtype in ["float32", ml_dtypes.bfloat16, ml_dtypes.int4]:
    kind = ShapedArray((3,), np.dtype(dtype))
    buffer = xla.put(np.ones(3, dtype), kind)
    assert xla.get(buffer, kind).sum() == 3
    if dtype == "float32":
        for _ in range(2):
            program = xla.compile_text(text, [kind], [kind])
            results = program.execute([buffer]).consume_with_handlers(program.handlers)
        xla.wait(results[0])
        memoryview(results[0])
    xla.delete(buffer)
assert "jax" not in sys.modules
"""
    )


def test_tracebacks_are_off_unless_wanted() -> None:
    python(
        """
import sys, types
from jaxlib import _jax
from hloom.engines import ENGINES, jaxlib_compat
assert _jax.tracebacks_enabled()
ENGINES["xla"]
assert not _jax.tracebacks_enabled()
jaxlib_compat.configure_tracebacks("on")
assert _jax.tracebacks_enabled()
jaxlib_compat.configure_tracebacks("off")
jaxlib_compat.configure_tracebacks("auto")
assert not _jax.tracebacks_enabled()
sys.modules["jax"] = types.ModuleType("jax")
jaxlib_compat.configure_tracebacks("auto")
assert _jax.tracebacks_enabled()
_jax.set_tracebacks_enabled(False)  # by jax's user
jaxlib_compat.configure_tracebacks("auto")
assert not _jax.tracebacks_enabled()
"""
    )
