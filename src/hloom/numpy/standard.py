"""What the namespace says about itself by the array API standard.

A library that takes any array asks `x.__array_namespace__()` for functions, and
`xp.__array_namespace_info__()` for what they can do.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from hloom import dtypes as types
from hloom.control.devices import check_device
from hloom.control.devices import devices as all_devices
from hloom.core.context import current

VERSION = "2024.12"
NAMESPACES = (None, "2021.12", "2022.12", "2023.12", VERSION)

# The standard's kinds of dtypes, with the dtypes in its order.
KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
UNIONS: dict[str, tuple[str, ...]] = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}


def namespace(api_version: str | None = None) -> Any:
    """The module whose functions take arrays, by the array API standard's protocol.

    Raises ValueError for a version of the standard that is not known.

    >>> jnp.ones(2).__array_namespace__() is jnp
    True
    """
    if api_version not in NAMESPACES:
        raise ValueError(
            f"__array_namespace__: no version {api_version!r} of the array API standard is known; "
            f"the known ones are {', '.join(map(repr, NAMESPACES[1:]))}"
        )
    return sys.modules["hloom.numpy"]


class NamespaceInfo:
    """Answers about `hloom.numpy`: what it can do, its devices and dtypes.

    >>> jnp.__array_namespace_info__().devices()
    [CpuDevice(id=0)]
    """

    def capabilities(self) -> dict[str, Any]:
        """What is supported: boolean indexing and shapes that depend on values, eagerly.

        >>> jnp.__array_namespace_info__().capabilities()["boolean indexing"]
        True
        """
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": None,
        }

    def default_device(self) -> Any:
        """The device that new arrays live on.

        >>> jnp.__array_namespace_info__().default_device()
        CpuDevice(id=0)
        """
        return all_devices()[0]

    def devices(self) -> list[Any]:
        """All devices."""
        return all_devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """The dtypes that arrays have when none is asked for; they follow `enable_x64`.

        >>> jnp.__array_namespace_info__().default_dtypes()["real floating"]
        dtype('float32')
        """
        check_device("default_dtypes", device)
        x64 = current.get().config.enable_x64
        integer = types.canonicalize(np.dtype("int64"), x64)
        return {
            "real floating": types.default_float(x64),
            "complex floating": types.canonicalize(np.dtype("complex128"), x64),
            "integral": integer,
            "indexing": integer,
        }

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """The standard's dtypes that arrays can have now, by name; of one or several kinds.

        Those of 64 bits are there while `enable_x64` is on.

        Raises ValueError for a kind that the standard does not name.

        >>> jnp.__array_namespace_info__().dtypes(kind="real floating")
        {'float32': dtype('float32')}
        """
        check_device("dtypes", device)
        x64 = current.get().config.enable_x64
        asked = tuple(KINDS) if kind is None else (kind,) if isinstance(kind, str) else tuple(kind)
        found: dict[str, np.dtype[Any]] = {}
        for each in asked:
            if each not in KINDS and each not in UNIONS:
                known = ", ".join(map(repr, [*KINDS, *UNIONS]))
                raise ValueError(f"dtypes: unknown kind {each!r}; the kinds are {known}")
            for name in [n for k in UNIONS.get(each, (each,)) for n in KINDS[k]]:
                dtype = np.dtype(name)
                if types.canonicalize(dtype, x64) is dtype:
                    found[name] = dtype
        return found


def __array_namespace_info__() -> NamespaceInfo:
    """What the namespace says about itself: capabilities, devices, dtypes.

    >>> jnp.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int32')
    """
    return NamespaceInfo()
