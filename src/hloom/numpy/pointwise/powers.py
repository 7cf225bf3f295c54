"""Powers and roots.

A Python integer as exponent is part of the executable, which multiplies; any other is an operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.context import current
from hloom.core.support.known import is_known, known
from hloom.core.support.tables import Tables
from hloom.numpy.common import eager, ufunc_operands
from hloom.numpy.common.operands import array_like, broadcast, promote_dtypes, promote_inexact
from hloom.numpy.common.python_integers import common_dtype
from hloom.numpy.common.ufunc_operands import kind_of
from hloom.ops.pointwise import arithmetic, binary, euclid, unary

get = current.get

LARGEST_LITERAL = 64  # exponents beyond it are operands: a loop over them compiles once

_literals = Tables()
_integers = Tables()


# ---- power -------------------------------------------------------------------------------------
def _run(body: Any, tables: Tables, name: str, operands: Sequence[Any]) -> Any:
    """The general way of `power`.

    Executables that the fast path must not find have tables of their own: those for literal
    exponents, and those for integers, whose exponents are looked at first.
    """
    x1, x2 = operands
    if x1.__class__ is Array and x2.__class__ is Array:
        run = _integers[get().key].get((x1.aval, x2.aval))
        if run is not None:
            _check_exponents(x2)
            return eager.finish(run, [x1._buf, x2._buf], name, (x1, x2))
    x1, x2 = [array_like(name, x) if isinstance(x, (list, tuple)) else x for x in operands]
    if x2.__class__ is int and -LARGEST_LITERAL <= x2 <= LARGEST_LITERAL:
        return eager.run(partial(_literal_power, y=x2), _literals, name, (x1,), (x2,))
    dtype = common_dtype((x1, x2))
    if dtype is None or dtypes.kind(dtype) in ("bool", "signed", "unsigned"):
        _check_exponents(x2)
        tables = _integers
    return eager.run(body, tables, name, (x1, x2))


def _check_exponents(exponents: Any) -> None:
    """Raise ValueError for a negative exponent of integers, where its value is known."""
    if isinstance(exponents, Array):
        if kind_of(exponents) != "signed" or not is_known(exponents):
            return
        exponents = known(exponents)
    if np.any(np.less(exponents, 0)):
        raise ValueError(
            "Integers to negative integer powers are not allowed.  Make a float of the base, "
            "x.astype(float), or use jnp.float_power."
        )


def _literal_power(x: Any, *, y: int) -> Any:
    x, _ = promote_dtypes("power", x, y)
    if kind_of(x) not in ("float", "complex"):
        _check_exponents(y)
    return unary.integer_pow(x, y)


def _power(x1: Any, x2: Any, /) -> Any:
    if isinstance(x2, Array) and kind_of(x2) in ("signed", "unsigned"):
        base = array_like("power", x1)
        if kind_of(base) in ("float", "complex"):  # the exponent needs no float, which may lose
            return binary.pow(*broadcast("power", (base, x2)))  # whether it is odd
    return binary.pow(*ufunc_operands.numbers("power", x1, x2))


_general = eager.binary(_power, general=_run)
_forward, _reflected = eager.operators(_general)


def power(x1: Any, x2: Any, /, out: Any = None, where: Any = None) -> Any:
    """`x1` to the power `x2`.

    The operands are promoted and broadcast.  A Python integer `x2` gives repeated products, whose
    derivatives are exact at 0.  Raises ValueError for integers to negative powers that are known,
    as NumPy does; of traced ones the result is truncated: 0, but for the bases 1 and -1.

    >>> jnp.power(jnp.array([1.5, -2.0]), 3)
    Array([ 3.375, -8.   ], dtype=float32)
    >>> jnp.power(2, jnp.arange(4))
    Array([1, 2, 4, 8], dtype=int32)
    """
    if out is None is where and x1.__class__ is Array and x2.__class__ is int:
        return raised(x1, x2)
    return _general(x1, x2, out, where)


pow = power


def raised(base: Any, exponent: Any, modulo: Any = None) -> Any:
    """The operator `base ** exponent`; for Python's `pow` with a modulo there is none."""
    if modulo is not None:
        return NotImplemented
    if exponent.__class__ is int:
        run = _literals[get().key].get((base.aval, exponent))
        if run is None:
            return _general.general(_power, _general.tables, "power", (base, exponent))
        return eager.finish(run, [base._buf], "power", (base,))
    return _forward(base, exponent)


raised.is_public = True  # type: ignore[attr-defined]
power_operators: tuple[Callable[..., Any], Callable[..., Any]] = (raised, _reflected)


@eager.binary_floats
def float_power(x1: Any, x2: Any, /) -> Any:
    """`x1` to the power `x2`, in floats at least as wide as the default.

    The operands are promoted and broadcast.  Differs from NumPy: while 64-bit types are off, the
    default is float32.

    >>> jnp.float_power(jnp.array([2, 4]), -1)
    Array([0.5 , 0.25], dtype=float32)
    """
    return binary.pow(*promote_inexact("float_power", x1, x2, wide=True))


# ---- squares and roots -------------------------------------------------------------------------
@eager.unary
def square(x: Any, /) -> Any:
    """`x * x`; integers wrap around.

    >>> jnp.square(jnp.array([1.5, -2.0]))
    Array([2.25, 4.  ], dtype=float32)
    """
    return unary.square(*ufunc_operands.numbers("square", x))


@eager.unary
def reciprocal(x: Any, /) -> Any:
    """`1 / x`; of integers an integer, rounded towards zero.

    Differs from NumPy: of the integer 0 it is 0.

    >>> jnp.reciprocal(jnp.array([2.0, -4.0, 0.0]))
    Array([ 0.5 , -0.25,   inf], dtype=float32)
    """
    (x,) = ufunc_operands.numbers("reciprocal", x)
    if kind_of(x) in ("float", "complex"):
        return unary.integer_pow(x, -1)
    return arithmetic.div(1, x)


@eager.unary
def sqrt(x: Any, /) -> Any:
    """The square root; of a negative float it is NaN.

    Integers and bools become the default float; the branch cut of complex numbers lies along the
    negative reals.

    >>> jnp.sqrt(jnp.array([4.0, 2.25, -1.0])), jnp.sqrt(jnp.array([-1 + 0j]))
    (Array([2. , 1.5, nan], dtype=float32), Array([0.+1.j], dtype=complex64))
    """
    return unary.sqrt(*promote_inexact("sqrt", x))


@eager.unary
def cbrt(x: Any, /) -> Any:
    """The cube root, with the sign of `x`.

    Integers and bools become the default float.  Raises TypeError for complex numbers.

    >>> jnp.cbrt(jnp.array([27.0, -8.0]))
    Array([ 3., -2.], dtype=float32)
    """
    return unary.cbrt(*ufunc_operands.floats("cbrt", x))


@eager.binary_floats
def hypot(x1: Any, x2: Any, /) -> Any:
    """The hypotenuse of a right triangle, `sqrt(x1**2 + x2**2)`; infinite if either side is.

    The operands are promoted, integers and bools to the default float, and broadcast.  Raises
    TypeError for complex numbers.  The derivative at the origin is 0.

    >>> jnp.hypot(jnp.array([3.0, 5e20]), jnp.array([4.0, 12e20]))
    Array([5.0e+00, 1.3e+21], dtype=float32)
    """
    return euclid.hypot(*ufunc_operands.floats("hypot", x1, x2))
