"""Fills `Array` with operators and NumPy's methods: the one place where they are attached.

An operator goes to the same table of programs as the function it stands for; a method is the
function, with the array as its first argument.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from hloom.core.array import Array
from hloom.numpy import arithmetic, attributes, eager, indexing, powers, rounding
from hloom.numpy.updates import At
from hloom.ops import binary as ops_binary
from hloom.ops import compare as ops_compare
from hloom.numpy import promotion

Function = Callable[..., Any]

# ---- temporary: stand-ins for chapters that are being written ---------------------------------
def _stand_in(name: str, op: Any) -> Any:
    def fun(x: Any, y: Any) -> Any:
        return op(*promotion.promote(name, x, y))

    fun.__name__ = name
    return eager.binary(fun)


_equal = _stand_in("equal", ops_compare.eq)
_not_equal = _stand_in("not_equal", ops_compare.ne)
_less = _stand_in("less", ops_compare.lt)
_less_equal = _stand_in("less_equal", ops_compare.le)
_greater = _stand_in("greater", ops_compare.gt)
_greater_equal = _stand_in("greater_equal", ops_compare.ge)

# ---- operators ----------------------------------------------------------------------------------
# Operator: the function, which is decorated by `eager.binary`.
BINARY: dict[str, Function] = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.divide,
    "floordiv": arithmetic.floor_divide,
    "mod": arithmetic.remainder,
}
COMPARISONS: dict[str, tuple[str, Function]] = {
    "eq": ("==", _equal),
    "ne": ("!=", _not_equal),
    "lt": ("<", _less),
    "le": ("<=", _less_equal),
    "gt": (">", _greater),
    "ge": (">=", _greater_equal),
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
    """The answer of a comparison to what is no operand: Python would take NotImplemented for False."""

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
    "__neg__": lambda self: arithmetic.negative(self),
    "__pos__": lambda self: arithmetic.positive(self),
    "__abs__": lambda self: arithmetic.absolute(self),
    "__round__": _round,
    "__iter__": attributes.iterate,
    "__contains__": attributes.contains,
    "__getitem__": indexing.getitem,
    "__hash__": attributes.unhashable,
    "__dlpack__": attributes.dlpack,
    "__dlpack_device__": attributes.dlpack_device,
}

PROPERTIES: dict[str, Function] = {
    "T": attributes.T,
    "mT": attributes.mT,
    "at": At,
    "base": attributes.base,
    "committed": attributes.committed,
    "data": attributes.data,
    "device": attributes.device,
    "flags": attributes.flags,
    "flat": attributes.flat,
    "imag": attributes.imag,
    "is_fully_addressable": attributes.yes,
    "is_fully_replicated": attributes.yes,
    "real": attributes.real,
    "sharding": attributes.sharding,
    "addressable_shards": attributes.addressable_shards,
    "global_shards": attributes.addressable_shards,
    "strides": attributes.strides,
}

METHODS: dict[str, Function] = {
    "addressable_data": attributes.addressable_data,
    "astype": attributes.method_astype,
    "byteswap": lambda self, inplace=False: attributes.byteswap(self),
    "clone": attributes.copy,
    "copy": attributes.copy,
    "copy_to_host_async": attributes.copy_to_host_async,
    "devices": attributes.device_set,
    "dump": attributes.dump,
    "dumps": attributes.dumps,
    "flatten": attributes.flatten,
    "on_device_size_in_bytes": attributes.on_device_size_in_bytes,
    "platform": attributes.platform,
    "round": rounding.round,
    "to_device": attributes.to_device,
    "tofile": attributes.tofile,
    "unsafe_buffer_pointer": attributes.unsafe_buffer_pointer,
    "view": attributes.view,
}


def namespace(api_version: str | None = None) -> Any:
    """The module whose functions take arrays, by the array API standard's protocol."""
    if api_version not in attributes.NAMESPACES:
        raise ValueError(f"__array_namespace__: no version {api_version!r} of the array API standard is known")
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
