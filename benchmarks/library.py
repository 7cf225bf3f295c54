"""One face for the three libraries, so that a row is written once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module, metadata
from operator import methodcaller
from platform import python_version
from types import ModuleType
from typing import Any

import numpy as np

IMPORTS = {"hloom": "import hloom, hloom.numpy", "jax": "import jax, jax.numpy", "numpy": ""}


@dataclass(frozen=True)
class Library:
    """`root` is hloom, jax or numpy; `xp` is the module that looks like NumPy."""

    name: str
    root: ModuleType
    xp: ModuleType

    def array(self, value: Any) -> Any:
        return self.xp.asarray(value)

    def jit(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function if self.name == "numpy" else self.root.jit(function)

    def x64(self) -> AbstractContextManager[Any]:
        return self.root.enable_x64(True)

    def text(self, function: Callable[..., Any], *operands: Any) -> str:
        """Traces `function` and returns its StableHLO text."""
        return self.root.jit(function).lower(*operands).as_text()

    def waiter(self, result: Any) -> Callable[[Any], Any] | None:
        """The function that waits for a result like this one; None if there is no need."""
        if hasattr(result, "block_until_ready"):
            return methodcaller("block_until_ready")
        if isinstance(result, (list, tuple, dict)) and self.name != "numpy":
            return self.root.block_until_ready
        return None


def load(name: str) -> Library:
    """Imports one library; the worker's process never sees another."""
    root = import_module(name)
    xp = root if name == "numpy" else import_module(f"{name}.numpy")
    if root.__file__ is None:
        raise ImportError(f"{name} is a folder without an __init__.py")
    if name == "hloom" and "jax" in sys.modules:
        raise ImportError("import hloom has imported jax, so the two can't be compared")
    return Library(name, root, xp)


def versions(library: Library) -> dict[str, str]:
    """Versions of the library and of what it is built on."""
    found = {library.name: library.root.__version__, "python": python_version()}
    if library.name != "numpy":
        found["jaxlib"] = metadata.version("jaxlib")
    return {**found, "numpy": np.__version__}


def digest(result: Any) -> list[Any] | None:
    """Shape and sums of a result: enough to notice that two libraries disagree."""
    if isinstance(result, dict):
        result = list(result.values())
    try:
        values = np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    weights = np.cos(np.arange(values.size)).reshape(values.shape)
    return [list(values.shape), float(abs(values).sum()), float((values * weights).sum())]
