"""StableHLO written by hand, and what the tests of engines share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.support.executable import Executable
from hloom.engines.base import Engine

SOURCES = str(Path(__file__).resolve().parents[2] / "src")


def aval(shape: tuple[int, ...], dtype: Any = "float32") -> ShapedArray:
    return ShapedArray(shape, np.dtype(dtype))


def tensor(size: int, element: str = "f32") -> str:
    return f"tensor<{size}x{element}>"


def main(signature: str, *lines: str) -> str:
    return "\n".join([f"func.func public @main{signature} {{", *lines, "}"])


def double(size: int) -> str:
    t = tensor(size)
    return main(f"(%x: {t}) -> {t}", f"%0 = stablehlo.add %x, %x : {t}", f"return %0 : {t}")


def multiply_add(size: int) -> str:
    t = tensor(size)
    return main(
        f"(%x: {t}, %y: {t}, %z: {t}) -> {t}",
        f"%0 = stablehlo.multiply %x, %y : {t}",
        f"%1 = stablehlo.add %0, %z : {t}",
        f"return %1 : {t}",
    )


def count_down(size: int) -> str:
    t = tensor(size, "i32")
    return main(
        f"(%x: {t}) -> {t}",
        "%zero = stablehlo.constant dense<0> : tensor<i32>",
        "%one = stablehlo.constant dense<1> : tensor<i32>",
        "%three = stablehlo.constant dense<3> : tensor<i32>",
        f"%r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, {t}",
        "cond {",
        "  %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        "  stablehlo.return %c : tensor<i1>",
        "} do {",
        "  %j = stablehlo.add %i, %one : tensor<i32>",
        f"  %w = stablehlo.add %y, %y : {t}",
        f"  stablehlo.return %j, %w : tensor<i32>, {t}",
        "}",
        f"return %r#1 : {t}",
    )


def filled(shape: str) -> str:
    t = f"tensor<{shape}xf32>"
    return main(f"() -> {t}", f"%0 = stablehlo.constant dense<1.0> : {t}", f"return %0 : {t}")


def run(engine: Engine, executable: Executable, *values: Any) -> list[Any]:
    buffers = [engine.put(v, ShapedArray(v.shape, v.dtype)) for v in map(np.asarray, values)]
    results = executable.execute(buffers).consume_with_handlers(executable.handlers)
    return [engine.get(x, out) for x, out in zip(results, executable.outs)]


def python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in another interpreter; it may not fail, nor say anything on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": SOURCES} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done
