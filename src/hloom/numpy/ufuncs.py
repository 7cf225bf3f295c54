"""NumPy's ufuncs, given arrays: `np.sin(x)`, `np.add(a, b, out=x)`, and `a + x` of an ndarray `a`.

NumPy asks the class of every operand for `__array_ufunc__`, and calls it in place of the ufunc.  It
does so for `a + x` too, which is `np.add(a, x)` to it: there the array's own operator answers.
Otherwise the ufunc computes, with the arrays' values.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from functools import partial
from opcode import opmap
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from hloom import errors
from hloom.core.array import Array
from hloom.core.support import source
from hloom.core.support.frames import hide
from hloom.core.support.known import known
from hloom.core.trace import Tracer
from hloom.errors.ufuncs import UfuncCall

# What `a + x` asks of x, where x is ours and a is NumPy's.
REFLECTED: dict[np.ufunc, str] = {
    np.add: "__radd__", np.subtract: "__rsub__", np.multiply: "__rmul__",
    np.divide: "__rtruediv__", np.floor_divide: "__rfloordiv__", np.remainder: "__rmod__",
    np.divmod: "__rdivmod__", np.power: "__rpow__", np.matmul: "__rmatmul__",
    np.bitwise_and: "__rand__", np.bitwise_or: "__ror__", np.bitwise_xor: "__rxor__",
    np.left_shift: "__rlshift__", np.right_shift: "__rrshift__",
    np.equal: "__eq__", np.not_equal: "__ne__", np.less: "__gt__", np.less_equal: "__ge__",
    np.greater: "__lt__", np.greater_equal: "__le__",
}  # fmt: skip

_OPERATOR = opmap["BINARY_OP"]
_CALLS = [opmap[name] for name in ("CALL", "PRECALL") if name in opmap]


class OfClass(property):
    """`__array_ufunc__`, which the class has and an array has not.

    NumPy's ufuncs ask the class.  `numpy.ma`, pandas and others ask the array whether it has one,
    and leave an operator to one that has none.
    """

    def __call__(
        self, x: Array, ufunc: np.ufunc, method: str, /, *operands: Any, **options: Any
    ) -> Any:
        left = operands[0]
        reflected = REFLECTED.get(ufunc) if left is not x and method == "__call__" else None
        try:
            if reflected is not None and _is_numpys(left):
                if not options:
                    return getattr(x, reflected)(left)
                if _assigns(left, options, sys._getframe(1)):
                    return getattr(operator, reflected.replace("r", "", 1))(left, x)
            return _of_values(ufunc, method, operands, options)
        except Exception as error:
            hide(error)
            raise


@OfClass
def array_ufunc(self: Array) -> NoReturn:
    """What asks an array, and not its class, is told that there is none."""
    raise AttributeError("'Array' object has no attribute '__array_ufunc__'")


def _is_numpys(x: Any) -> bool:
    """Whether an operand is NumPy's; a subclass with an `__array_ufunc__` of its own is not."""
    if isinstance(x, np.ndarray):
        return type(x).__array_ufunc__ is np.ndarray.__array_ufunc__
    return isinstance(x, np.generic)


def _assigns(left: Any, options: dict[str, Any], frame: FrameType) -> bool:
    """Whether the caller executes `a += x`, and not `np.add(a, x, out=a)`.

    The first is `a = a + x`, which may be traced; the second writes into `a`.
    """
    if options.get("out", (None,))[0] is not left:
        return False
    instruction, argument = frame.f_code.co_code[frame.f_lasti :][:2]
    # `operator.iadd(a, x)` is a call with two arguments, `np.add(a, x, out=a)` one with three.
    return instruction == _OPERATOR or (instruction in _CALLS and argument == 2)


def _of_values(
    ufunc: np.ufunc, method: str, operands: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What the ufunc makes of the arrays' values."""
    outs = options.get("out", ())
    written = operands[:1] if method == "at" else outs
    if written and any(isinstance(x, Array) for x in written):
        raise errors.ImmutableArrayError.ufunc(_call(ufunc, method, options))
    others = [x for x in (*operands, *outs) if not isinstance(x, Array)]
    if others and any(map(_is_foreign, others)):
        return NotImplemented  # the other library was asked before, or is asked next
    call = partial(_call, ufunc, method, options)
    values = [x._value() if x.__class__ is Array else _value(x, call) for x in operands]
    if options:
        options = {name: _value(x, call) for name, x in options.items()}
    result = _computed(ufunc, method, values, options)
    for x in operands:
        if isinstance(x, Tracer) and _is_inexact(result):
            raise errors.TracerArrayConversionError.differentiated(x.aval, call())
    return result


def _call(ufunc: np.ufunc, method: str, options: dict[str, Any]) -> UfuncCall:
    """What an error is told of a call."""
    return UfuncCall(ufunc, method, source.here(), options.get("axis", 0))


def _is_foreign(x: Any) -> bool:
    """Whether an operand is of another library, which says itself what a ufunc does with it."""
    numpys = isinstance(x, (np.ndarray, np.generic))
    return not numpys and hasattr(type(x), "__array_ufunc__")


def _value(x: Any, call: Callable[[], UfuncCall]) -> Any:
    """The value of an array; anything else as it is."""
    if not isinstance(x, Array):
        return x
    value = known(x)
    if value is not None:
        return value
    assert isinstance(x, Tracer)
    raise x.leaked() if x.owner.done else errors.TracerArrayConversionError.of(x.traced(), call())


def _is_inexact(result: Any) -> bool:
    results = result if isinstance(result, tuple) else (result,)
    return any(np.asarray(each).dtype.kind in "fc" for each in results)


def _computed(ufunc: np.ufunc, method: str, values: Sequence[Any], options: dict[str, Any]) -> Any:
    """The result, with NumPy's warnings at the user's line: they would be at this one."""
    run = ufunc if method == "__call__" else getattr(ufunc, method)
    modes = np.geterr()
    is_numpys = vars(np).get(ufunc.__name__) is ufunc  # else it may run code of the user's
    taken = modes.values()
    if not is_numpys or "call" in taken or "log" in taken:
        return run(*values, **options)

    def warn(kind: str, flag: int) -> None:
        doing = ufunc.__name__ if method == "__call__" else method
        source.warn(f"{kind} encountered in {doing}", RuntimeWarning)

    with np.errstate(call=warn, **{kind: "call" for kind, mode in modes.items() if mode == "warn"}):
        return run(*values, **options)
