"""Fills `Array` with operators and NumPy's methods: the one place where they are attached."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from hloom import numpy
from hloom.core.array import Array
from hloom.numpy import eager, promotion
from hloom.ops import arithmetic, binary, compare

# ---- temporary: chapters are written in parallel; those that are there are attached ----------
CHAPTERS = [m.name for m in iter_modules(numpy.__path__) if m.name not in ("operators", "eager", "promotion")]
_modules = [import_module(f"hloom.numpy.{name}") for name in CHAPTERS]


def _find(name: str, tables: bool = False) -> Any:
    for module in _modules:
        found = getattr(module, name, None)
        if found is not None and found.__module__ == module.__name__ and (not tables or hasattr(found, "tables")):
            return found
    if name in _PLAIN:
        return eager.binary(_plain(name, _PLAIN[name]))
    return None


def _plain(name: str, op: Any) -> Any:
    def fun(x: Any, y: Any) -> Any:
        return op(*promotion.promote(name, x, y))

    fun.__name__ = name
    return fun


_PLAIN = {
    "add": arithmetic.add, "subtract": arithmetic.sub, "multiply": arithmetic.mul,
    "true_divide": lambda x, y: arithmetic.div(*promotion.promote_inexact("divide", x, y)),
    "power": binary.pow, "floor_divide": binary.floor_divide, "remainder": binary.mod,
    "equal": compare.eq, "not_equal": compare.ne, "less": compare.lt, "less_equal": compare.le,
    "greater": compare.gt, "greater_equal": compare.ge,
}  # fmt: skip


BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}

for _name, _function in BINARY.items():
    _fun = _find(_function, True)
    if _fun is not None:
        _forward, _reflected = eager.operators(_fun)
        setattr(Array, f"__{_name}__", _forward)
        setattr(Array, f"__r{_name}__", _reflected)
for _name, _function in COMPARISONS.items():
    _fun = _find(_function, True)
    if _fun is not None:
        setattr(Array, f"__{_name}__", eager.operators(_fun)[0])
for _name, _function in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    _fun = _find(_function)
    if _fun is not None:
        setattr(Array, f"__{_name}__", (lambda f: lambda self: f(self))(_fun))
for _name in ["sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "reshape", "astype", "ravel", "transpose", "cumsum", "cumprod", "argmax", "argmin", "sort", "argsort", "dot", "round", "squeeze", "take", "clip", "swapaxes"]:
    _fun = _find(_name)
    if _fun is not None:
        setattr(Array, _name, _fun)
_getitem = _find("getitem")
if _getitem is not None:
    Array.__getitem__ = lambda self, index: _getitem(self, index)
_At = _find("At")
if _At is not None:
    Array.at = property(_At)
