"""Who runs a program: XLA, the StableHLO reference interpreter, or NumPy.

An engine is loaded when it is first asked for, and only here: `import hloom` then costs neither the
client's start nor the modules of engines that nobody uses.  Read `base`, then the engine.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from importlib import import_module

from hloom.core.support.executable import ENGINES
from hloom.engines.base import Engine

__all__ = ["ENGINES", "NAMES", "Engine", "load"]

# jaxlib's C++ reads this once, when it is loaded; else each client prints two lines on stderr, and
# each error one that Python raises anyway, in better words (a donated array that is used again).
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

#: The name of an engine, as `hloom.engine` takes it -> its module and class.
NAMES = {
    "xla": ("hloom.engines.xla", "XlaEngine"),
    "numpy": ("hloom.engines.numpy", "NumpyEngine"),
    "reference": ("hloom.engines.reference", "ReferenceEngine"),
}

_loading = threading.RLock()


@cache
def _make(name: str) -> Engine:
    module, cls = NAMES[name]
    engine: Engine = getattr(import_module(module), cls)()
    return engine


def load(name: str) -> Engine:
    """The engine of that name, the same one at each call.  Raises KeyError for another name."""
    with _loading:
        return _make(name)


ENGINES.load = load
