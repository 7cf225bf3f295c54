"""Fills `Array` with operators and NumPy's methods: the one place where they are attached.

An operator goes to the same table of programs as the function it stands for; a method is the
function, with the array as its first argument.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from hloom.core.array import Array
from hloom.numpy import (
    arithmetic,
    attributes,
    axes,
    bitwise,
    comparison,
    complex_parts,
    cumulative,
    eager,
    editing,
    exchange,
    indexing,
    manipulation,
    positions,
    powers,
    products,
    reductions,
    rounding,
    selection,
    sorting,
    statistics,
)
from hloom.numpy.updates import At

Function = Callable[..., Any]


# ---- operators ----------------------------------------------------------------------------------
# Operator: the function, which is decorated by `eager.binary`.
BINARY: dict[str, Function] = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.divide,
    "floordiv": arithmetic.floor_divide,
    "mod": arithmetic.remainder,
    "and": bitwise.bitwise_and,
    "or": bitwise.bitwise_or,
    "xor": bitwise.bitwise_xor,
    "lshift": bitwise.left_shift,
    "rshift": bitwise.right_shift,
    "matmul": products.matmul_operator,
}
COMPARISONS: dict[str, tuple[str, Function]] = {
    "eq": ("==", comparison.equal),
    "ne": ("!=", comparison.not_equal),
    "lt": ("<", comparison.less),
    "le": ("<=", comparison.less_equal),
    "gt": (">", comparison.greater),
    "ge": (">=", comparison.greater_equal),
}


def _divmod(self: Any, other: Any) -> Any:
    return arithmetic.divmod(self, other) if eager.is_operand(other) else NotImplemented


def _divmod_reflected(self: Any, other: Any) -> Any:
    return arithmetic.divmod(other, self) if eager.is_operand(other) else NotImplemented


def _round(self: Any, ndigits: int | None = None) -> Any:
    """`round(x)`: an integer for a single number, as in Python; arrays keep their dtype."""
    if ndigits is None and not self.aval.shape:
        found = rounding.round(self)
        return attributes.astype(found, int)
    return rounding.round(self, 0 if ndigits is None else ndigits)


def _no_list(symbol: str) -> Function:
    """A comparison's answer to what is no operand: Python would take NotImplemented for False."""

    def stranger(self: Any, other: Any) -> Any:
        if isinstance(other, (list, tuple)):
            raise TypeError(
                f"unsupported operand type(s) for {symbol}: 'Array' and {type(other).__name__!r}. "
                f"Make an array of it: x {symbol} jnp.array(..)"
            )
        return NotImplemented

    return stranger


SPECIAL: dict[str, Function] = {
    "__pow__": powers.power_operators[0],
    "__rpow__": powers.power_operators[1],
    "__divmod__": _divmod,
    "__rdivmod__": _divmod_reflected,
    "__neg__": arithmetic.negative,
    "__pos__": arithmetic.positive,
    "__abs__": arithmetic.absolute,
    "__invert__": bitwise.invert,
    "__round__": _round,
    "__iter__": attributes.iterate,
    "__contains__": attributes.contains,
    "__getitem__": indexing.getitem,
    "__hash__": attributes.unhashable,
    "__dlpack__": exchange.dlpack,
    "__dlpack_device__": exchange.dlpack_device,
}

PROPERTIES: dict[str, Function] = {
    "T": attributes.T,
    "mT": attributes.mT,
    "at": At,
    "base": attributes.base,
    "committed": exchange.committed,
    "ctypes": attributes.ctypes,
    "data": attributes.data,
    "device": exchange.device,
    "flags": attributes.flags,
    "flat": attributes.flat,
    "imag": attributes.imag,
    "is_fully_addressable": exchange.yes,
    "is_fully_replicated": exchange.yes,
    "real": attributes.real,
    "sharding": exchange.sharding,
    "addressable_shards": exchange.addressable_shards,
    "global_shards": exchange.addressable_shards,
    "strides": attributes.strides,
}

METHODS: dict[str, Function] = {
    "diagonal": positions.diagonal,
    "dot": products.dot,
    "ravel": manipulation.ravel,
    "reshape": manipulation.method_reshape,
    "repeat": editing.repeat,
    "squeeze": manipulation.squeeze,
    "swapaxes": axes.swapaxes,
    "trace": positions.trace,
    "transpose": axes.method_transpose,
    "all": reductions.all,
    "any": reductions.any,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "max": reductions.max,
    "min": reductions.min,
    "prod": reductions.prod,
    "ptp": reductions.ptp,
    "mean": statistics.mean,
    "std": statistics.std,
    "var": statistics.var,
    "sort": sorting.sort,
    "argsort": sorting.argsort,
    "argpartition": sorting.argpartition,
    "sum": reductions.sum,
    "addressable_data": exchange.addressable_data,
    "astype": attributes.method_astype,
    "byteswap": lambda self, inplace=False: attributes.byteswap(self),
    "choose": selection.choose,
    "clip": selection.clip,
    "clone": attributes.copy,
    "conj": complex_parts.conjugate,
    "conjugate": complex_parts.conjugate,
    "copy": attributes.copy,
    "copy_to_host_async": exchange.copy_to_host_async,
    "devices": exchange.device_set,
    "dump": exchange.dump,
    "dumps": exchange.dumps,
    "flatten": attributes.flatten,
    "on_device_size_in_bytes": exchange.on_device_size_in_bytes,
    "platform": exchange.platform,
    "round": rounding.round,
    "to_device": exchange.to_device,
    "tofile": exchange.tofile,
    "unsafe_buffer_pointer": exchange.unsafe_buffer_pointer,
    "view": attributes.view,
}


def namespace(api_version: str | None = None) -> Any:
    """The module whose functions take arrays, by the array API standard's protocol."""
    if api_version not in exchange.NAMESPACES:
        raise ValueError(
            f"__array_namespace__: no version {api_version!r} of the array API standard is known"
        )
    return sys.modules["hloom.numpy"]


def attach() -> None:
    """Fill the class."""
    for name, function in BINARY.items():
        forward, reflected = eager.operators(function)
        setattr(Array, f"__{name}__", forward)
        setattr(Array, f"__r{name}__", reflected)
    for name, (symbol, function) in COMPARISONS.items():
        setattr(Array, f"__{name}__", eager.operators(function, _no_list(symbol))[0])
    for name, function in {**SPECIAL, **METHODS}.items():
        setattr(Array, name, function)
    for name, function in PROPERTIES.items():
        setattr(Array, name, property(function, doc=function.__doc__))
    for name, way in attributes.REFUSED.items():
        setattr(Array, name, attributes.refused(name, way))
    Array.namespace = staticmethod(namespace)


attach()
