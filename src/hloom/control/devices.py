"""Devices and processes, and moving pytrees of arrays to the device and back.

Arrays live on one CPU device of one process; functions that choose among several are here so that
programs written for more run on one.
"""

from __future__ import annotations

import gc
import platform
import sys
from typing import Any

import numpy as np

from hloom import tree
from hloom.core.array import Array, HostArray, host_array, wait_for_all
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import as_array, weak_aval
from hloom.core.support import tables
from hloom.core.support.executable import ENGINES
from hloom.core.support.float0 import is_float0
from hloom.core.support.frames import hidden
from hloom.core.trace import Tracer
from hloom.engines import NAMES
from hloom.errors import ArgumentError
from hloom.ops.pointwise.convert import copy

_NUMBERS = (bool, int, float, complex)
PLATFORM = "cpu"


# ---- what there is ------------------------------------------------------------------------------
def devices(backend: str | None = None) -> list[Any]:
    """All devices.

    Raises RuntimeError for another `backend` than "cpu".

    >>> hloom.devices()
    [CpuDevice(id=0)]
    """
    if backend not in (None, PLATFORM):
        raise RuntimeError(
            f"Unknown backend: {backend!r} requested, but the only platform present is {PLATFORM!r}"
        )
    found: list[Any] = ENGINES["xla"].devices()
    return found


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """The devices of this process: all.

    Raises ValueError for another process than 0, RuntimeError for another `backend` than "cpu".

    >>> hloom.local_devices()
    [CpuDevice(id=0)]
    """
    index = host_id if process_index is None else process_index
    if index not in (None, 0):
        raise ValueError(f"Unknown process_index {index}: there is one process, 0")
    return devices(backend)


def device_count(backend: str | None = None) -> int:
    """How many devices there are.

    >>> hloom.device_count()
    1
    """
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """How many devices this process has.

    >>> hloom.local_device_count()
    1
    """
    return len(devices(backend))


def default_backend() -> str:
    """The name of the platform that arrays live on.

    >>> hloom.default_backend()
    'cpu'
    """
    return PLATFORM


def process_index(backend: str | None = None) -> int:
    """The number of this process: 0.

    >>> hloom.process_index()
    0
    """
    return 0


def process_count(backend: str | None = None) -> int:
    """How many processes work together: 1.

    >>> hloom.process_count()
    1
    """
    return 1


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes.

    >>> hloom.process_indices()
    [0]
    """
    return [0]


# The names these had before, which older programs use.
host_id = process_index
host_count = process_count
host_ids = process_indices


def check_device(who: str, device: Any) -> None:
    """Raise ValueError unless `device` is None, or names the one there is, as a sharding may."""
    if device is None or device == PLATFORM:
        return
    there = set(devices())
    wanted = getattr(device, "device_set", None) or {getattr(device, "device", device)}
    try:
        known = set(wanted) <= there
    except TypeError:
        known = False
    if not known:
        raise ValueError(f"{who}: no device {device!r:.80}; there is {', '.join(map(str, there))}")


class SingleDeviceSharding:
    """All of an array on one device: what `x.sharding` says.

    >>> jnp.ones(2).sharding
    SingleDeviceSharding(device=CpuDevice(id=0))
    """

    __slots__ = ("device",)

    def __init__(self, device: Any, *, memory_kind: str | None = None):
        check_device("SingleDeviceSharding", device)
        self.device = device

    @property
    def device_set(self) -> set[Any]:
        """The devices that hold a part."""
        return {self.device}

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process can read all of it."""
        return True

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device holds all of it."""
        return True

    @property
    def memory_kind(self) -> str:
        """The kind of memory: "device"."""
        return "device"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self.device!r})"


# `typeof(x).sharding`: a type is where all arrays are.
ShapedArray.sharding = property(lambda aval: SingleDeviceSharding(devices()[0]))


# ---- moving -------------------------------------------------------------------------------------
@hidden
def device_put(
    x: Any, device: Any = None, *, src: Any = None, donate: Any = False, may_alias: Any = None
) -> Any:
    """The pytree `x` with every NumPy array and number as an Array, on the device already.

    Arrays stay the same objects, or are copied with `may_alias=False`.  NumPy arrays are copied:
    changing one later changes nothing.  `src` and `donate` are accepted for programs written for
    JAX, and change nothing.

    Raises TypeError for leaves that are no numbers, ValueError for another device, or for a tree of
    devices that `x` does not begin with.

    >>> hloom.device_put({"a": np.arange(2), "b": 1.5})
    {'a': Array([0, 1], dtype=int32), 'b': Array(1.5, dtype=float32, weak_type=True)}
    """
    for each in tree.leaves(device):
        check_device("device_put", each)
    where = tree.structure(device, lambda each: each is None)
    if where != tree.structure(0):
        try:
            where.flatten_up_to(x)
        except ValueError as error:
            raise ArgumentError(f"device_put: device must be a prefix of x: {error}") from None
    aliases = tree.broadcast_leaves(may_alias, x, is_leaf=lambda a: a is None)
    leaves, treedef = tree.flatten(x)
    made = [_put(leaf, alias is not False) for leaf, alias in zip(leaves, aliases)]
    return tree.unflatten(treedef, made)


def _put(x: Any, may_alias: bool) -> Any:
    if is_float0(x):
        return x  # of no bytes, there is nothing to put
    if isinstance(x, Array):
        made = x if may_alias else copy(x)
    elif x.__class__ in _NUMBERS:
        made = host_array(
            as_array(x)._value(), weak_aval(x.__class__, current.get().config.enable_x64)
        )
    else:
        made = as_array(x)
    if isinstance(made, HostArray):
        made._buf  # noqa: B018  (this puts it)
    return made


def device_get(x: Any) -> Any:
    """The pytree `x` with every Array as a NumPy array, read-only where that saves a copy.

    Raises TracerArrayConversionError for traced values.

    >>> hloom.device_get([jnp.arange(2), 3])
    [array([0, 1], dtype=int32), 3]
    """
    return tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, Array) else leaf, x)


def block_until_ready(x: Any) -> Any:
    """Wait until every array of the pytree is computed, and return the pytree.

    Raises what a computation raised.

    >>> hloom.block_until_ready([jnp.ones(2), 1])
    [Array([1., 1.], dtype=float32), 1]
    """
    others = wait_for_all(x.values() if x.__class__ is dict else tree.leaves(x))
    if others:
        for leaf in tree.leaves(others):
            if not isinstance(leaf, Tracer) and hasattr(leaf, "block_until_ready"):
                leaf.block_until_ready()
    return x


def copy_to_host_async(x: Any) -> Any:
    """Start copying to the host, and return the pytree: on a CPU there is nothing to copy.

    >>> hloom.copy_to_host_async(jnp.arange(2))
    Array([0, 1], dtype=int32)
    """
    return x


def live_arrays(platform: str | None = None) -> list[Array]:
    """All arrays that hold a buffer now.  It asks the garbage collector, so it is slow.

    >>> x = jnp.arange(3) + 1
    >>> any(y is x for y in hloom.live_arrays())
    True
    """
    devices(platform)
    found = [
        x
        for x in gc.get_objects()
        if isinstance(x, Array) and not isinstance(x, (Tracer, HostArray))
    ]
    return [x for x in found if hasattr(x, "_buf") and not x.is_deleted()]


def clear_caches() -> None:
    """Forget all executables and traces; the cache on disk stays.

    >>> hloom.clear_caches()
    """
    tables.clear()


def effects_barrier() -> None:
    """Wait until all side effects of programs have happened: they happen at once.

    >>> hloom.effects_barrier()
    """


def print_environment_info(return_string: bool = False) -> str | None:
    """Print (or return) versions and devices, for a bug report.

    >>> "jaxlib" in hloom.print_environment_info(return_string=True)
    True
    """
    facts = {
        "hloom": getattr(sys.modules["hloom"], "__version__", "?"),
        "python": sys.version,
        "platform": platform.platform(),
        "jaxlib": ENGINES["xla"].jaxlib_version,
        "numpy": np.__version__,
        "engines": ", ".join(NAMES),
        "devices": ", ".join(map(str, devices())),
        "process_count": str(process_count()),
    }
    text = "\n".join(f"{name + ':':<15}{fact}" for name, fact in facts.items())
    if return_string:
        return text
    print(text)
    return None
