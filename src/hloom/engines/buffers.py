"""Arrays into the device's memory and back; the base of every engine.

The two functions that matter, `put` and `get`, run at each conversion, so they do little: 3.5 us
and 1 us, nearly all of it in jaxlib.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxlib import _jax, xla_client

from hloom import dtypes
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


class _Memory:
    """Bytes at an address, in the form that NumPy reads; keeps their owner alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Buffer, size: int):
        self.owner = owner
        self.__array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (owner.unsafe_buffer_pointer(), True),
            "version": 3,
        }


def _get_copy(buffer: Buffer, aval: ShapedArray) -> NDArray:
    """A copy, for the dtypes that the buffer protocol has no letter for: bfloat16, float8, int4.

    A view by address would not survive `delete`, so the runtime copies into a buffer that nobody
    else knows, and the view is of that one.  (jaxlib's own ways to copy, `clone` and
    `batched_copy_array_to_devices_with_sharding`, end the process on a deleted buffer in 0.10.)
    """
    client = jaxlib_compat.runtime()
    private = _device_put(
        aval, client.sharding, [buffer], client.devices, force_copy=True, enable_x64=True
    )
    private.block_until_ready()
    bits = dtypes.bits(aval.dtype)
    size = (aval.size * bits + 7) // 8
    stored = np.asarray(_Memory(private, size)) if size else np.empty(0, np.uint8)
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
