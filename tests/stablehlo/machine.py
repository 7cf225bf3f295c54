"""The shortest way from StableHLO text to numbers: jaxlib's CPU client with nothing of hloom's.

The engines are tested by what they do; what is tested here is the text, so nothing stands between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jaxlib._jax as runtime
import numpy as np
from jaxlib import xla_client

from hloom.core.aval import ShapedArray
from hloom.stablehlo import Function, Module, Vocabulary


class Sharding(xla_client.SingleDeviceSharding):
    memory_kind = None

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return xla_client.HloSharding.replicate()


@cache
def client() -> Any:
    return xla_client.make_cpu_client()


@cache
def skip_checks() -> tuple[bool, ...]:
    """jaxlib 0.10 has a fourth parameter, which must be set; 0.12 has three."""
    return (True,) if "skip_checks" in (runtime.array_result_handler.__doc__ or "") else ()


def aval(shape: Sequence[int], dtype: Any) -> ShapedArray:
    return ShapedArray(tuple(shape), np.dtype(dtype))


def program(avals: Sequence[ShapedArray], body: Callable[..., Any], **options: Any) -> Module:
    """A module whose `main` is what `body(block, *operands)` writes."""
    module = Module(**options)
    module.functions["main"] = Function(Vocabulary(module), avals).write(body)
    return module


def run(text: str, operands: Sequence[np.ndarray], outs: Sequence[ShapedArray]) -> list[Any]:
    """Compile and run; results as ndarrays with the very bits that XLA made."""
    device = client().local_devices()[0]
    sharding = Sharding(device)
    semantics = xla_client.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
    devices = xla_client.DeviceList((device,))
    executable = client().compile_and_load(text.encode(), devices, xla_client.CompileOptions())
    buffers = [
        runtime.batched_device_put(
            aval(x.shape, x.dtype), sharding, [x], [device],
            host_buffer_semantics=semantics, enable_x64=True,
        )
        for x in operands
    ]  # fmt: skip
    handlers = [runtime.array_result_handler(a, sharding, True, *skip_checks()) for a in outs]
    results = executable.execute_sharded(buffers).consume_with_handlers(handlers)
    return [_view(buffer, a) for buffer, a in zip(results, outs)]


class _Memory:
    """Raw memory in NumPy's array interface, which every whole-byte dtype fits."""

    def __init__(self, buffer: Any, shape: Sequence[int], itemsize: int):
        self.buffer = buffer
        self.__array_interface__ = {
            "shape": tuple(shape),
            "typestr": f"|V{itemsize}",
            "version": 3,
            "data": (buffer.unsafe_buffer_pointer(), True),
        }


def _view(buffer: Any, out: ShapedArray) -> Any:
    buffer.block_until_ready()
    if not out.size:
        return np.zeros(out.shape, out.dtype)
    raw = np.asarray(_Memory(buffer, out.shape, out.dtype.itemsize))
    return raw.copy().view(out.dtype)


def bits(array: Any) -> bytes:
    return np.ascontiguousarray(array).tobytes()
