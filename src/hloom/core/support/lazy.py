"""Modules that are imported when they are first used, since importing them takes long."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """A module that is imported when one of its names is first asked for.

    >>> from hloom.core.support.lazy import LazyModule
    >>> LazyModule("math").gcd(12, 18)
    6
    """

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by tools that look at every object
            raise AttributeError(name)
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)  # from now on it is found without a call
        return value
