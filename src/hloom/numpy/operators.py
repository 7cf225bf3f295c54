"""Fills `Array` with operators and NumPy's methods: the one place where they are attached.

An operator looks in the same table of executables as the function it stands for; a method is the
function, with the array as its first argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hloom import errors
from hloom.core.array import Array
from hloom.core.support import source
from hloom.core.support.calls import is_plain, public
from hloom.core.support.width import keeps_width
from hloom.errors.absent import OF_ARRAYS, Absent
from hloom.errors.rewriting import method_code
from hloom.numpy import attributes, standard, ufuncs
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import warn_if_dropped
from hloom.numpy.creation import interchange
from hloom.numpy.indexing import (
    index_arrays,
    indexing,
    insert_delete_repeat,
    nonzero,
    selection,
    taking,
)
from hloom.numpy.indexing.updates import At
from hloom.numpy.order import searching, sorting
from hloom.numpy.pointwise import arithmetic, bitwise, comparison, complex_parts, powers, rounding
from hloom.numpy.products import products
from hloom.numpy.reductions import cumulative, reductions, statistics
from hloom.numpy.shapes import axes, manipulation

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


# What Python asks the operand on the right, where ours has no answer.
REFLECTED = {
    "+": "__radd__", "-": "__rsub__", "*": "__rmul__", "/": "__rtruediv__", "//": "__rfloordiv__",
    "%": "__rmod__", "&": "__rand__", "|": "__ror__", "^": "__rxor__", "<<": "__rlshift__",
    ">>": "__rrshift__", "@": "__rmatmul__", "==": "__eq__", "!=": "__ne__", "<": "__gt__",
    "<=": "__ge__", ">": "__lt__", ">=": "__le__",
}  # fmt: skip


_SYMBOLS = {method: symbol for symbol, method in REFLECTED.items()}


def _no_list(symbol: str) -> Function:
    """An operator's answer to what is no operand: NotImplemented, but not to a list or a tuple.

    Python would repeat the list, take NotImplemented for False, or not say what to do.  A subclass
    with an operator of its own is asked.
    """
    reflected = REFLECTED[symbol]
    of_lists = (getattr(list, reflected, None), getattr(tuple, reflected, None))

    def stranger(self: Any, other: Any) -> Any:
        of_other = getattr(type(other), reflected, None)
        if isinstance(other, (list, tuple)) and of_other in of_lists:
            raise TypeError(
                f"unsupported operand type(s) for {symbol}: 'Array' and {type(other).__name__!r}. "
                f"Make an array of the {type(other).__name__}: jnp.array(..)"
            )
        return NotImplemented

    return stranger


def _no_repetition(self: Any, other: Any) -> Any:
    """`x * [1, 2]`: Python would repeat the list, which only a single integer may tell it to."""
    return _no_list("*")(self, other) if self.aval.shape else NotImplemented


SPECIAL: dict[str, Any] = {
    "__array_ufunc__": ufuncs.array_ufunc,
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
    "__dlpack__": interchange.dlpack,
    "__copy__": attributes.shallow_copy,
    "__deepcopy__": attributes.deep_copy,
    "__dlpack_device__": interchange.dlpack_device,
}

PROPERTIES: dict[str, Function] = {
    "T": attributes.T,
    "addressable_shards": interchange.addressable_shards,
    "at": At,
    "base": attributes.base,
    "committed": interchange.committed,
    "ctypes": attributes.ctypes,
    "data": attributes.data,
    "device": interchange.device,
    "flags": attributes.flags,
    "flat": attributes.flat,
    "global_shards": interchange.addressable_shards,
    "imag": complex_parts.imaginary_part,
    "is_fully_addressable": interchange.yes,
    "is_fully_replicated": interchange.yes,
    "mT": attributes.mT,
    "real": complex_parts.real_part,
    "sharding": interchange.sharding,
    "strides": attributes.strides,
}


def _compress(self: Any, condition: Any, axis: Any = None, **options: Any) -> Any:
    """The slices along `axis` for which `condition` holds: `hloom.numpy.compress`.

    >>> jnp.array([7, 8, 9]).compress(jnp.array([True, False, True]))
    Array([7, 9], dtype=int32)
    """
    return taking.compress(condition, self, axis, **options)


def _byteswap(self: Any, inplace: bool = False) -> Any:
    """The elements with their bytes in reverse order.

    Differs from NumPy: `inplace=True` raises ImmutableArrayError, for arrays do not change.

    >>> jnp.array([1], jnp.int16).byteswap()
    Array([256], dtype=int16)
    """
    if inplace:
        way = method_code(source.here(), "{x} = {x}.byteswap()", ())
        raise errors.ImmutableArrayError.method("byteswap(inplace=True)", way)
    return attributes.byteswap(self)


def _sort(
    self: Any,
    axis: Any = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> Any:
    """The elements in ascending order along `axis`: `hloom.numpy.sort`.

    Differs from NumPy, which sorts in place: arrays are immutable, so take what it returns.

    >>> x = jnp.array([3, 1, 2])
    >>> x.sort()
    Array([1, 2, 3], dtype=int32)
    """
    warn_if_dropped("x.sort()")
    if kind is order is stable is None and not descending:
        return sorting.sort(self, axis)
    return sorting.sort(self, axis, kind, order, stable=stable, descending=descending)


METHODS: dict[str, Function] = {
    "addressable_data": interchange.addressable_data,
    "all": reductions.all,
    "any": reductions.any,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "argpartition": sorting.argpartition,
    "argsort": sorting.argsort,
    "astype": attributes.method_astype,
    "byteswap": _byteswap,
    "choose": selection.choose,
    "clip": selection.clip,
    "clone": attributes.copy,
    "compress": _compress,
    "conj": complex_parts.conjugate,
    "conjugate": complex_parts.conjugate,
    "copy": attributes.copy,
    "copy_to_host_async": interchange.copy_to_host_async,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "devices": interchange.device_set,
    "diagonal": index_arrays.diagonal,
    "dot": products.dot,
    "dump": interchange.dump,
    "dumps": interchange.dumps,
    "flatten": attributes.flatten,
    "max": reductions.max,
    "mean": statistics.mean,
    "min": reductions.min,
    "nonzero": nonzero.nonzero,
    "on_device_size_in_bytes": interchange.on_device_size_in_bytes,
    "platform": interchange.platform,
    "prod": reductions.prod,
    "ptp": reductions.ptp,
    "ravel": manipulation.ravel,
    "repeat": insert_delete_repeat.repeat,
    "reshape": manipulation.method_reshape,
    "round": rounding.round,
    "searchsorted": searching.searchsorted,
    "sort": _sort,
    "squeeze": manipulation.squeeze,
    "std": statistics.std,
    "sum": reductions.sum,
    "swapaxes": axes.swapaxes,
    "take": taking.take,
    "to_device": interchange.to_device,
    "tofile": interchange.tofile,
    "trace": reductions.trace,
    "transpose": axes.method_transpose,
    "unsafe_buffer_pointer": interchange.unsafe_buffer_pointer,
    "var": statistics.var,
    "view": attributes.view,
}


def attach() -> None:
    """Fill the class."""
    for name, function in BINARY.items():
        stranger = _no_repetition if name == "mul" else _no_list(_SYMBOLS[f"__r{name}__"])
        forward, reflected = eager.operators(function, stranger)
        setattr(Array, f"__{name}__", forward)
        setattr(Array, f"__r{name}__", reflected)
    for name, (symbol, function) in COMPARISONS.items():
        setattr(Array, f"__{name}__", eager.operators(function, _no_list(symbol))[0])
    for name, function in SPECIAL.items():
        setattr(Array, name, keeps_width(function) if is_plain(function) else function)
    for name, function in METHODS.items():
        setattr(Array, name, public(function, name) if is_plain(function) else function)
    for name, function in PROPERTIES.items():
        setattr(Array, name, property(function, doc=function.__doc__))
    for name, way in attributes.ASSIGNED.items():
        setter = attributes.unassigned(name, way)
        setattr(Array, name, vars(Array)[name].setter(setter))
    for name, (way, names) in attributes.REFUSED.items():
        setattr(Array, name, attributes.refused(name, way, names))
    for name, code in OF_ARRAYS.items():
        setattr(Array, name, made := Absent(code))
        made.__set_name__(Array, name)
    Array.namespace = staticmethod(standard.namespace)


attach()
