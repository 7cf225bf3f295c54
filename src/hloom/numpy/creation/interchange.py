"""Where an array lives, and how files and other libraries get at it.

Each function becomes a method or property of `Array`, attached in `operators`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hloom.control.devices import PLATFORM, SingleDeviceSharding, check_device, devices
from hloom.core.array import Array
from hloom.core.operands import unmasked
from hloom.numpy.creation.creation import array


# ---- files --------------------------------------------------------------------------------------
def tofile(self: Array, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Write the elements to a file, as NumPy does."""
    np.asarray(self).tofile(fid, sep, format)


def dumps(self: Array) -> bytes:
    """The array pickled, as NumPy pickles it."""
    return np.array(self).dumps()


def dump(self: Array, file: Any) -> None:
    """Pickle the array to a file, as NumPy does."""
    np.array(self).dump(file)


# ---- where it lives -----------------------------------------------------------------------------
class Shard(NamedTuple):
    """The part of an array that one device holds: all of it."""

    device: Any
    index: tuple[slice, ...]
    replica_id: int
    data: Any


def device(self: Array) -> Any:
    """The device the array lives on.

    >>> jnp.ones(2).device
    CpuDevice(id=0)
    """
    return devices()[0]


def device_set(self: Array) -> set[Any]:
    """The devices the array lives on.

    >>> jnp.ones(2).devices()
    {CpuDevice(id=0)}
    """
    return set(devices())


def sharding(self: Array) -> SingleDeviceSharding:
    """How the array is spread over devices: all of it on one."""
    return SingleDeviceSharding(devices()[0])


def to_device(self: Array, device: Any, /, *, stream: Any = None) -> Array:
    """The array on that device: itself.

    Raises ValueError for another device.

    >>> x = jnp.ones(2)
    >>> x.to_device(x.device) is x
    True
    """
    check_device("to_device", device)
    return self


def platform(self: Array) -> str:
    """The name of the platform the array lives on."""
    return PLATFORM


def addressable_shards(self: Array) -> list[Shard]:
    """The parts of the array on this process's devices: one."""
    return [Shard(devices()[0], (slice(None),) * self.aval.ndim, 0, self)]


def addressable_data(self: Array, index: int) -> Array:
    """The array on device number `index`.

    Raises IndexError for another number than 0.
    """
    return (self,)[index]


def yes(self: Array) -> bool:
    """True: the array is whole, and in this process."""
    return True


def committed(self: Array) -> bool:
    """Whether the array was put on a device by name: there is one, so no."""
    return False


def copy_to_host_async(self: Array) -> None:
    """Start copying to the host: on a CPU there is nothing to copy."""


def on_device_size_in_bytes(self: Array) -> int:
    """Bytes of the array's buffer."""
    return int(self._buf.on_device_size_in_bytes())


def unsafe_buffer_pointer(self: Array) -> int:
    """The address of the array's buffer, good while the array lives."""
    if self.aval.dtype.isbuiltin == 1:  # the buffer's own answer looks for the jax package
        return int(np.asarray(self).__array_interface__["data"][0])
    return int(self._buf.unsafe_buffer_pointer())


# ---- other libraries ----------------------------------------------------------------------------
CPU = (1, 0)  # kDLCPU


def dlpack_device(self: Array) -> tuple[int, int]:
    """The DLPack name of the device: (1, 0), the CPU."""
    return CPU


def dlpack(
    self: Array,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule, for `torch.from_dlpack(x)` and the like.

    It shares memory, read-only, with libraries that know read-only (DLPack 1.0); others get a copy.

    Raises BufferError for another device, and for a copy that is needed but not allowed.
    """
    if stream not in (None, -1):
        raise BufferError(f"DLPack: a CPU has no streams; got stream={stream!r}")
    if dl_device is not None and tuple(dl_device) != CPU:
        raise BufferError(
            f"DLPack: the array is on device {CPU}; got dl_device={dl_device!r}. Move it yourself."
        )
    value = np.asarray(self)
    if value.dtype.isbuiltin != 1:
        raise BufferError(
            f"DLPack: NumPy has no capsule for {self.aval}; send its bits, "
            f"x.view('uint{8 * value.itemsize}')"
        )
    knows_read_only = max_version is not None and max_version[0] >= 1
    if copy or not knows_read_only:
        if copy is False:
            raise BufferError(
                "DLPack: without max_version=(1, 0) arrays are sent as copies; leave copy=False out"
            )
        value = value.copy()
    return value.__dlpack__(max_version=max_version) if max_version else value.__dlpack__()


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array with the values of another library's, by way of DLPack; always a copy.

    Raises TypeError for what has no `__dlpack__`, ValueError for another device.

    >>> jnp.from_dlpack(np.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(
            "from_dlpack takes an object with __dlpack__ and __dlpack_device__; got "
            f"{type(x).__name__}. For other values use jnp.asarray(x)."
        )
    check_device("from_dlpack", device)
    if isinstance(x, Array):
        return array(x) if copy else x
    if copy is False:
        raise ValueError("from_dlpack: values of other libraries are copied; leave copy=False out")
    return array(np.from_dlpack(unmasked(x) if isinstance(x, np.ndarray) else x))
