"""Arrays into the device's memory and back; the base of every engine.

The two functions that matter, `put` and `get`, run at each conversion, so they do little: 3.5 us
and 1 us, nearly all of it in jaxlib.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from jaxlib import _jax, xla_client

from hloom.core.aval import ShapedArray
from hloom.engines import faults, jaxlib_compat, memory
from hloom.engines.base import Engine
from hloom.errors import DeletedArrayError

NDArray = np.ndarray[Any, Any]
Buffer = Any  # jaxlib's ArrayImpl, which cannot be subclassed

_device_put = _jax.batched_device_put
_LARGE = memory.LARGE // 16  # elements, of 16 bytes at most
_COPY = xla_client.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_ALIAS = xla_client.HostBufferSemantics.ZERO_COPY


def put(value: NDArray, aval: ShapedArray, semantics: Any = _COPY) -> Buffer:
    """A buffer with a copy of `value`, which has the aval's dtype and shape.

    Raises TypeError where it has not: jaxlib would take its bytes as if they fitted.
    """
    if value.dtype != aval.dtype or value.shape != aval.shape:
        raise _misfit(value, aval)
    if aval.size >= _LARGE:
        memory.require(value.nbytes, aval)
    client = jaxlib_compat.started or jaxlib_compat.runtime()
    try:
        return _device_put(
            aval,
            client.sharding,
            [value],
            client.devices,
            host_buffer_semantics=semantics,  # the default aliases NumPy's memory where aligned
            enable_x64=True,  # else 64-bit values are narrowed
        )
    except jaxlib_compat.RuntimeFault as fault:
        raise faults.translate(fault, aval) from None


def put_owned(value: NDArray, aval: ShapedArray) -> Buffer:
    """The same without a copy where memory is aligned: nobody may write to `value` any more."""
    return put(value, aval, _ALIAS)


def _misfit(value: NDArray, aval: ShapedArray) -> TypeError:
    given = f"{value.dtype.name}[{','.join(map(str, value.shape))}]"
    return TypeError(f"{given} was given for a buffer of {aval}: convert it to that type before")


def get(buffer: Buffer, aval: ShapedArray) -> NDArray:
    """The buffer's values, read-only, without a copy where NumPy has the dtype; waits for them.

    The view keeps its memory alive, even when the buffer is deleted or donated afterwards.
    Raises DeletedArrayError when the buffer is gone, EngineError when its computation failed.
    """
    if aval.dtype.isbuiltin == 1:
        try:
            # np.asarray(buffer) would give a 0-d object array where memoryview raises.
            value: NDArray = np.asarray(memoryview(buffer))
            return value
        except BufferError:
            wait(buffer, aval)
            raise
    try:
        return _get_copy(buffer, aval)
    except jaxlib_compat.RuntimeFault as fault:
        raise faults.translate(fault, aval) from None


def wait(buffer: Buffer, what: object = "an array") -> None:
    """Return when the buffer's values are computed; raises what `get` raises."""
    if buffer.is_deleted():
        raise DeletedArrayError.of(what)
    try:
        buffer.block_until_ready()
    except jaxlib_compat.RuntimeFault as fault:
        raise faults.translate(fault, what) from None


def delete(buffer: Buffer) -> None:
    """Give the buffer's memory back now; NumPy views of it keep what they show."""
    buffer.delete()


@lru_cache(maxsize=256)
def _bytes_program(size: int) -> tuple[Any, list[Any]]:
    """A program that copies `size` bytes, and its handlers."""
    text = f"""module @bytes {{
  func.func public @main(%arg0: tensor<{size}xui8>) -> tensor<{size}xui8> {{
    return %arg0 : tensor<{size}xui8>
  }}
}}"""
    loaded = jaxlib_compat.compile_text(text, jaxlib_compat.compile_options([]))
    aval = ShapedArray((size,), np.dtype(np.uint8))
    return loaded, [jaxlib_compat.result_handler(aval)]


def _get_copy(buffer: Buffer, aval: ShapedArray) -> NDArray:
    """A copy, for the dtypes that the buffer protocol has no letter for: bfloat16, float8, int4.

    A program is only asked for operands of the right size in bytes, so one that copies bytes reads
    any buffer (6 ms for a new size, then 5 us).  Every call of jaxlib that gives the values of such
    an array, or its address, tries to import jax; those that copy (`clone`,
    `batched_copy_array_to_devices_with_sharding`) end the process on a deleted buffer in 0.10.
    """
    if buffer.is_deleted():
        raise DeletedArrayError.of(aval)
    bits = aval.bits
    size = (aval.size * bits + 7) // 8
    stored = np.empty(0, np.uint8)
    if size:
        loaded, handlers = _bytes_program(size)
        (copied,) = loaded.execute_sharded([buffer]).consume_with_handlers(handlers)
        copied.block_until_ready()
        stored = np.asarray(memoryview(copied))
    if bits < 8:
        stored = _unpack(stored, bits, aval)
    value: NDArray = stored.view(aval.dtype).reshape(aval.shape)
    value.flags.writeable = False
    return value


def _unpack(stored: NDArray, bits: int, aval: ShapedArray) -> NDArray:
    """A byte for each element of what the device packs into bytes, lowest bits first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    fields: NDArray = (stored[:, None] >> shifts) & (2**bits - 1)
    return fields.reshape(-1)[: aval.size]


class BufferEngine(Engine):
    """An engine whose arrays are XLA buffers: all of them are."""

    jaxlib_version = jaxlib_compat.VERSION

    put = staticmethod(put)
    put_owned = staticmethod(put_owned)
    get = staticmethod(get)
    wait = staticmethod(wait)
    delete = staticmethod(delete)
    explain = staticmethod(faults.translate)

    def devices(self) -> list[Any]:
        """The devices that arrays can live on."""
        return list(jaxlib_compat.runtime().devices)
