"""Operands of ufuncs: promoted, broadcast, and refused where NumPy has no loop for them.

Each function takes the ufunc's name and its operands, and gives Arrays of one dtype and shape (0-d
ones may stay 0-d).  They differ in the dtypes that come out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.support import source
from hloom.errors import ArgumentError
from hloom.errors.rewriting import precedence
from hloom.errors.texts import explain
from hloom.numpy.common.operands import promote, promote_inexact
from hloom.ops.pointwise.convert import convert_element_type_p

INT8, FLOAT32 = np.dtype("int8"), np.dtype("float32")


def kind_of(x: Array) -> str:
    """The kind of an array's dtype: bool, signed, unsigned, float or complex."""
    return x.aval.kind


def is_complex(x: Array) -> bool:
    return kind_of(x) == "complex"


def unsupported(name: str, xs: Sequence[Array], way_out: str) -> TypeError:
    """NumPy's error for dtypes that a ufunc has no loop for."""
    types = " and ".join([str(x.aval) for x in xs])
    return ArgumentError(f"ufunc '{name}' not supported for the input types {types}; {way_out}")


def _bits_only(name: str, xs: Sequence[Array]) -> TypeError:
    """The error for bits of floats: most likely two conditions, joined without parentheses."""
    way = "convert first: x.astype(int)"
    if name not in ("bitwise_and", "bitwise_or"):
        return unsupported(name, xs, way)
    symbol = "&" if name == "bitwise_and" else "|"
    rule = f"{unsupported(name, xs, way)}. Two conditions take parentheses: {symbol} comes first"
    ways = precedence(source.here()) or [(f"(x > 0) {symbol} (x < 2)", "not x > 0 & x < 2")]
    return ArgumentError(explain(rule, ways=ways))


def numbers(name: str, *xs: Any) -> list[Array]:
    """Any number dtype; bools become int8, as in NumPy."""
    promoted = promote(name, *xs)
    if kind_of(promoted[0]) == "bool":
        return [convert_element_type_p(x, new_dtype=INT8, weak_type=False) for x in promoted]
    return promoted


def not_bools(name: str, *xs: Any) -> list[Array]:
    """Any number dtype; raises TypeError for bools."""
    promoted = promote(name, *xs)
    if kind_of(promoted[0]) == "bool":
        raise unsupported(name, promoted, "convert first: x.astype(int)")
    return promoted


def _refuse_complex(name: str, xs: list[Array]) -> list[Array]:
    if is_complex(xs[0]):
        raise unsupported(name, xs, "take jnp.real(x), jnp.imag(x) or jnp.abs(x)")
    return xs


def real_numbers(name: str, *xs: Any) -> list[Array]:
    """Integers or floats; bools become int8.  Raises TypeError for complex numbers."""
    return _refuse_complex(name, numbers(name, *xs))


def reals(name: str, *xs: Any) -> list[Array]:
    """Anything but complex numbers, for which it raises TypeError."""
    return _refuse_complex(name, promote(name, *xs))


def floats(name: str, *xs: Any) -> list[Array]:
    """Floats; other real numbers become the default float.  Raises TypeError for complex ones."""
    return _refuse_complex(name, promote_inexact(name, *xs))


def bits(name: str, *xs: Any) -> list[Array]:
    """Integers or bools.  Raises TypeError for others."""
    promoted = promote(name, *xs)
    if kind_of(promoted[0]) not in ("bool", "signed", "unsigned"):
        raise _bits_only(name, promoted)
    return promoted


def integers(name: str, *xs: Any) -> list[Array]:
    """Integers; bools become int8.  Raises TypeError for others."""
    promoted = numbers(name, *xs)
    if kind_of(promoted[0]) not in ("signed", "unsigned"):
        raise unsupported(name, promoted, "convert first: x.astype(int)")
    return promoted


def in_float32(rule: Callable[..., Any], *xs: Array) -> Any:
    """`rule` of the operands; of floats with fewer than 32 bits in float32, and rounded once.

    What is composed of several operations is as accurate in 16 bits as a single one then.
    """
    dtype = xs[0].aval.dtype
    if kind_of(xs[0]) != "float" or dtypes.bits(dtype) >= 32:
        return rule(*xs)
    wide = [convert_element_type_p(x, new_dtype=FLOAT32, weak_type=False) for x in xs]
    return convert_element_type_p(rule(*wide), new_dtype=dtype, weak_type=False)
