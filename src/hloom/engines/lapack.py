"""LAPACK for XLA's CPU backend: jaxlib brings the calls, SciPy the library.

jaxlib takes LAPACK's functions out of SciPy's Cython modules, and importing those costs 0.25 s.  So
they are registered when a program that calls one is first compiled, or loaded from disk.
"""

from __future__ import annotations

import threading

from jaxlib import xla_client
from jaxlib.cpu import _lapack  # type: ignore[attr-defined]

MARK = "@lapack_"  # in the text of every module that needs them

registered = False
_registering = threading.Lock()


def require(text: str) -> None:
    """Register LAPACK's functions if the StableHLO text calls one of them."""
    if not registered and MARK in text:
        with _registering:
            if not registered:
                _register()


def _register() -> None:
    global registered
    _lapack.initialize()  # imports SciPy; to import _lapack itself does not
    for name, capsule in _lapack.registrations().items():
        xla_client.register_custom_call_target(name, capsule, platform="cpu", api_version=1)
    registered = True
