"""How StableHLO spells types, literals, attributes, symbols and source locations.

Everything here is a pure function from a value to its text.  Literals are exact to the bit.

>>> from hloom.stablehlo import spelling
>>> spelling.tensor_type(hloom.core.ShapedArray((3, 4), np.dtype("float32")))
'tensor<3x4xf32>'
>>> spelling.dense(np.array([1.5, -0.0, np.inf], np.float32))
'dense<[1.5, -0.0, 0x7F800000]>'
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray

NDArray = np.ndarray[Any, Any]


# ---- types ----------------------------------------------------------------------------------
class _TensorTypes(dict[ShapedArray, str]):
    """The text of each aval's type; avals are interned, so the look-up costs one pointer's hash."""

    def __missing__(self, aval: ShapedArray) -> str:
        if len(self) >= 4096:
            self.clear()
        sizes = "".join([f"{size}x" for size in aval.shape])
        text = self[aval] = f"tensor<{sizes}{dtypes.hlo_name(aval.dtype)}>"
        return text


TENSOR_TYPES = _TensorTypes()


def tensor_type(aval: ShapedArray) -> str:
    """`f32[3,4]` is `tensor<3x4xf32>`; weak types are not StableHLO's concern."""
    return TENSOR_TYPES[aval]


def types(avals: Sequence[ShapedArray]) -> str:
    """Types separated by commas: `tensor<i1>, tensor<3xf32>`."""
    return ", ".join([TENSOR_TYPES[aval] for aval in avals])


def results(avals: Sequence[ShapedArray]) -> str:
    """Result types after an arrow: in parentheses unless there is just one."""
    return TENSOR_TYPES[avals[0]] if len(avals) == 1 else f"({types(avals)})"


# ---- literals -------------------------------------------------------------------------------
# Up to so many elements are written out one by one; more are the hex of their bytes.
LONGEST_LIST = 32


def dense(array: NDArray) -> str:
    """`dense<...>`, exact to the bit: a single element where all are equal, else a list or hex."""
    if array.size == 0:
        return "dense<>"
    raw = array.tobytes()
    if raw == raw[: array.itemsize] * array.size:
        return f"dense<{element(array.flat[0])}>"
    if array.size > LONGEST_LIST:
        # Bool and 4-bit elements take a byte each here too, as in NumPy (both jaxlib versions).
        return f'dense<"0x{raw.hex().upper()}">'
    return f"dense<{_nested(array)}>"


def _nested(array: NDArray) -> str:
    parts = map(_nested, array) if array.ndim > 1 else map(element, array)
    return f"[{', '.join(parts)}]"


def element(value: Any) -> str:
    """One element of a NumPy scalar type: `true`, `-3`, `0.5`, `0x7FC00000`, `(1.0, -0.0)`."""
    match dtypes.kind(value.dtype):
        case "bool":
            return "true" if value else "false"
        case "complex":
            return f"({_real(value.real)}, {_real(value.imag)})"
        case "float":
            return _real(value)
        case _:
            return str(int(value))


def _real(value: Any) -> str:
    """A short decimal that reads back as the same bits; the bits where there is none."""
    number = float(value)
    if not math.isfinite(number):
        return f"0x{value.tobytes()[::-1].hex().upper()}"  # infinities, and the payload of a NaN
    text, digits = (
        repr(number),
        str(value),
    )  # of the double that MLIR reads; of the value's own type
    if len(digits) < len(text) and float(np.asarray(float(digits)).astype(value.dtype)) == number:
        text = digits
    mantissa, e, exponent = text.partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent


# ---- attributes -----------------------------------------------------------------------------
def integers(values: Sequence[int]) -> str:
    """`array<i64: 0, 1>`, the generic form's list of axes or sizes."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def string(text: str) -> str:
    """A string attribute; MLIR escapes a byte as backslash and two hex digits."""
    raw = text.encode("utf-8", "surrogatepass")
    return (
        '"'
        + "".join([chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in raw])
        + '"'
    )


_PLAIN_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*\Z")


def symbol(name: str) -> str:
    """`@loss`, or `@"<lambda>"` where the name needs quotes."""
    return f"@{name}" if _PLAIN_SYMBOL.match(name) else f"@{string(name or '_')}"


# ---- locations ------------------------------------------------------------------------------
def location(file: str, line: int, column: int) -> str:
    """`loc("train.py":12:3)`: a place in the user's program."""
    return f"loc({string(file)}:{line}:{column})"
