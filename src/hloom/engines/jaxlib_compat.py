"""jaxlib, as hloom uses it: the client, compiling, and all that differs from version to version.

Together with `buffers` and `interpreter` this is all of hloom that calls jaxlib (but for `tree`).
What was measured of jaxlib and is documented nowhere is noted where it is used.

Many calls of jaxlib `import jax` behind the caller's back: reading an array through its Python
methods, result handlers in Python, `disassemble_into_single_device_arrays`, importing from DLPack.
None of them is used; `batched_device_put`, `execute_sharded`, C++ result handlers and the buffer
protocol don't.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import jaxlib.version
from jaxlib import _jax, xla_client

from hloom.core.aval import ShapedArray
from hloom.errors import EngineError

Loaded = Any  # jaxlib's LoadedExecutable

hlo_of = _jax.mlir.mlir_module_to_xla_computation

RuntimeFault: type[RuntimeError] = _jax.JaxRuntimeError  # what jaxlib raises

VERSION: str = jaxlib.version.__version__
BEFORE_0_12: bool = jaxlib.version.__version_info__ < (0, 12)

# Without fusion emitters a program compiles in half the time; 0.12 has no other emitter.
NO_FUSION_EMITTERS: list[tuple[str, Any]] = (
    [("xla_cpu_use_fusion_emitters", False)] if BEFORE_0_12 else []
)
# Operations one after another: 0.10 fuses them recursively, on a stack of 2 MB, and ends the
# process at about 21,000.
LONGEST_CHAIN = 20_000 if BEFORE_0_12 else 1 << 60
# 0.10 asks a class of the jax package to verify each result unless told to skip that.
_SKIP_CHECKS = (True,) if BEFORE_0_12 else ()


class SingleDeviceSharding(xla_client.SingleDeviceSharding):  # type: ignore[misc]
    """All of an array on one device: the base class and the two names that jaxlib asks for."""

    memory_kind = None

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return xla_client.HloSharding.replicate()


class Runtime(NamedTuple):
    """The client and the one device that arrays live on."""

    client: Any
    devices: list[Any]
    device_list: Any
    sharding: SingleDeviceSharding


started: Runtime | None = None
_starting = threading.Lock()


def runtime() -> Runtime:
    """The client, started by the first call (2 to 10 ms)."""
    global started
    if started is None:
        with _starting:
            if started is None:
                started = _start()
    return started


def _start() -> Runtime:
    client: Any = xla_client.make_cpu_client()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_set_forked)
    devices = client.local_devices()[:1]
    return Runtime(
        client, devices, xla_client.DeviceList(tuple(devices)), SingleDeviceSharding(devices[0])
    )


_forked = False


def _set_forked() -> None:
    global _forked
    _forked = True


def check_process() -> None:
    """Raise EngineError in a process that was forked after the client had started.

    XLA's threads are not in it, and whatever waits for one of them waits for ever.  Values can
    still be read, and small programs, which need no thread, run.
    """
    if _forked:
        raise EngineError.of(
            "xla",
            "run",
            "this process was forked from one in which XLA was running. Fork before the first "
            'array is made, or start processes afresh: multiprocessing.get_context("spawn")',
        )


# ---- programs ---------------------------------------------------------------------------------
def compile_options(overrides: Sequence[tuple[str, Any]]) -> Any:
    """Options with these debug options set; one that jaxlib does not know fails at compilation.

    (In `XLA_FLAGS` it would end the process.)
    """
    options = xla_client.CompileOptions()
    options.env_option_overrides = list(overrides)
    return options


def compile_text(text: str, options: Any) -> Loaded:
    """Compile a StableHLO module; the GIL is free meanwhile.  Raises RuntimeFault."""
    there = runtime()
    return there.client.compile_and_load(text, there.device_list, options)


def serialize(loaded: Loaded) -> bytes:
    """The compiled program as bytes, for another process on this machine."""
    blob: bytes = runtime().client.serialize_executable(loaded)
    return blob


def deserialize(blob: bytes, options: Any) -> Loaded:
    """The program in `blob`.

    Raises RuntimeFault for junk, but not for a blob with one bit changed or of another jaxlib: the
    caller sees to that.
    """
    there = runtime()
    return there.client.deserialize_executable(blob, there.device_list, options)


def result_handler(aval: ShapedArray) -> Any:
    """What `consume_with_handlers` needs to make a buffer of a result.

    It is C++: a Python callable in its place costs 100 us and imports jax.
    """
    return _jax.array_result_handler(aval, runtime().sharding, True, *_SKIP_CHECKS)


def memory_needed(loaded: Loaded) -> int:
    """Bytes that a run allocates: scratch, and results not in a donated operand's place."""
    stats = loaded.get_compiled_memory_stats()
    needed = stats.output_size_in_bytes + stats.temp_size_in_bytes - stats.alias_size_in_bytes
    return int(needed)


# ---- tracebacks -------------------------------------------------------------------------------
_turned_off = False


def configure_tracebacks(mode: str) -> None:
    """Whether jaxlib records a Python traceback with every array: "on", "off" or "auto".

    A traceback costs 0.5 to 2.5 us an array, by stack depth, and the switch is one for the process.
    "auto" turns them off while jax is not imported, and back on when it is: jax shows them.
    """
    global _turned_off
    if mode == "auto":
        wanted = "jax" in sys.modules
        if wanted and not _turned_off:
            return  # jax, or its user, has set them
    else:
        wanted = mode == "on"
    if _jax.tracebacks_enabled() != wanted:
        _jax.set_tracebacks_enabled(wanted)
    _turned_off = not wanted
