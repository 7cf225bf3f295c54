"""MLIR has the last word on what is StableHLO: parse and verify a text with jaxlib's bindings.

To have every module of a test session verified, put the fixture below into a conftest:

    from tests.stablehlo.verify import every_emitted_module_is_valid  # noqa: F401
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

from hloom.stablehlo import EMITTED

_one_at_a_time = threading.Lock()


@cache
def context() -> ir.Context:
    """One MLIR context for the process, with the dialects a module may use."""
    made, registry = ir.Context(), ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    made.append_dialect_registry(registry)
    made.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(made)
    return made


def parse(text: str) -> Any:
    """The parsed module.  Raises `ir.MLIRError`, with MLIR's own words, for an invalid text."""
    with _one_at_a_time, context():
        return ir.Module.parse(text)


def verify(text: str) -> None:
    """Raise AssertionError, with the text, unless it is valid."""
    try:
        parse(text)
    except ir.MLIRError as error:
        lines = enumerate(text.splitlines(), 1)
        numbered = "\n".join(f"{i:4} {line[:300]}" for i, line in lines)
        raise AssertionError(f"{error}\n{numbered}") from None


@pytest.fixture(autouse=True, scope="session")
def every_emitted_module_is_valid() -> Iterator[None]:
    """While it is in force, a module whose text is invalid fails the test that emitted it."""
    EMITTED.append(verify)
    yield
    EMITTED.remove(verify)
