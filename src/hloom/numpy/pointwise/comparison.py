"""Comparisons and truth: equal, less, and, or, not; whether whole arrays are the same."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array
from hloom.core.operands import as_array
from hloom.core.support.tables import Tables
from hloom.numpy.common import eager
from hloom.numpy.common.operands import (
    array_like,
    broadcast,
    broadcast_shapes,
    promote,
    promote_inexact,
    result_dtype,
)
from hloom.numpy.common.python_integers import TRUTHS, comparable, default_integer
from hloom.numpy.common.ufunc_operands import is_complex, kind_of
from hloom.ops.pointwise import arithmetic, binary, compare, unary
from hloom.ops.pointwise.complex import imag, real
from hloom.ops.pointwise.convert import convert_element_type_p
from hloom.ops.reductions.reduce import reduce_and

Rule = Callable[[Any, Any], Any]
FLOAT32, FLOAT64 = np.dtype("float32"), np.dtype("float64")


# ---- comparisons -------------------------------------------------------------------------------
def _run(body: Any, tables: Tables, name: str, operands: Sequence[Any]) -> Any:
    """The general way of comparisons, which take Python integers of any size."""
    return eager.run(body, tables, name, comparable(operands))


def _compare(name: str, strict: Rule, python: Rule, x1: Any, x2: Any) -> Any:
    """The lax comparison `strict` of promoted operands; `python` compares Python integers alike."""
    if isinstance(x1, Array) and isinstance(x2, Array) and _mixed_signs(x1, x2):
        return _compare_mixed(name, strict, python, x1, x2)
    wide = _wide_enough(x1, x2)
    if wide is not None:
        return strict(*broadcast(name, [_converted(x, wide) for x in (x1, x2)]))
    return strict(*promote(name, x1, x2))


def _wide_enough(x1: Any, x2: Any) -> np.dtype[Any] | None:
    """A float dtype that holds an integer and a float operand, where their common dtype does not.

    An int16 beside a float16 is promoted to float16: 2049 would become 2048, and equal it.
    """
    if not isinstance(x1, Array) or not isinstance(x2, Array):
        return None
    integer, other = (x1, x2) if kind_of(x2) == "float" else (x2, x1)
    if kind_of(integer) not in ("signed", "unsigned") or kind_of(other) != "float":
        return None
    # Python's numbers take the dtype beside them.
    if integer.aval.weak_type or other.aval.weak_type:
        return None
    common, _ = result_dtype((integer, other))
    digits = integer.aval.bits - (kind_of(integer) == "signed")
    if digits <= dtypes.finfo(common).nmant + 1:
        return None
    return FLOAT32 if digits <= 24 and dtypes.bits(common) < 64 else FLOAT64


def _mixed_signs(x1: Array, x2: Array) -> bool:
    """Whether the operands are a signed and an unsigned integer that no one dtype holds both."""
    kinds = (kind_of(x1), kind_of(x2))
    if kinds != ("signed", "unsigned") and kinds != ("unsigned", "signed"):
        return False
    unsigned = x1 if kinds[0] == "unsigned" else x2
    dtype, _ = result_dtype((x1, x2))
    return dtypes.kind(dtype) != "signed" or dtypes.bits(dtype) <= unsigned.aval.bits


def _compare_mixed(name: str, strict: Rule, python: Rule, x1: Array, x2: Array) -> Any:
    """Exact, as in NumPy 2: both as unsigned integers, unless the signed one is negative."""
    x1, x2 = broadcast(name, (x1, x2))
    negative = compare.lt(x1 if kind_of(x1) == "signed" else x2, 0)
    unsigned = np.dtype(f"u{max(x1.aval.dtype.itemsize, x2.aval.dtype.itemsize)}")
    result = strict(*[_converted(x, unsigned) for x in (x1, x2)])
    if python(-1, 0) if kind_of(x1) == "signed" else python(0, -1):
        return binary.bitwise_or(negative, result)
    return binary.bitwise_and(unary.bitwise_not(negative), result)


def _converted(x: Array, dtype: np.dtype[Any]) -> Any:
    if x.aval.dtype == dtype:
        return x
    return convert_element_type_p(x, new_dtype=dtype, weak_type=False)


comparison = partial(eager.binary, general=_run)


@comparison
def equal(x1: Any, x2: Any, /) -> Any:
    """Whether the elements are equal; NaN equals nothing, -0.0 equals 0.0.

    The operands are promoted and broadcast; integers of any dtypes compare exactly.

    >>> jnp.equal(jnp.array([1.0, 2.0, jnp.nan]), jnp.array([1, 3, 2]))
    Array([ True, False, False], dtype=bool)
    """
    return _compare("equal", compare.eq, operator.eq, x1, x2)


@comparison
def not_equal(x1: Any, x2: Any, /) -> Any:
    """Whether the elements differ; NaN differs from everything, itself included.

    The operands are promoted and broadcast; integers of any dtypes compare exactly.

    >>> jnp.not_equal(jnp.array([1.0, 2.0, jnp.nan]), jnp.array([1, 3, 2]))
    Array([False,  True,  True], dtype=bool)
    """
    return _compare("not_equal", compare.ne, operator.ne, x1, x2)


@comparison
def less(x1: Any, x2: Any, /) -> Any:
    """Whether `x1 < x2`; with a NaN it is False.

    The operands are promoted and broadcast; integers of any dtypes compare exactly, complex numbers
    by real part, then by imaginary part.

    >>> jnp.less(jnp.array([1, 2, 3], dtype="uint8"), 300)
    Array([ True,  True,  True], dtype=bool)
    """
    return _compare("less", compare.lt, operator.lt, x1, x2)


@comparison
def less_equal(x1: Any, x2: Any, /) -> Any:
    """Whether `x1 <= x2`; with a NaN it is False.

    The operands are promoted and broadcast; integers of any dtypes compare exactly, complex numbers
    by real part, then by imaginary part.

    >>> jnp.less_equal(jnp.array([1, 2, 3]), 2)
    Array([ True,  True, False], dtype=bool)
    """
    return _compare("less_equal", compare.le, operator.le, x1, x2)


@comparison
def greater(x1: Any, x2: Any, /) -> Any:
    """Whether `x1 > x2`; with a NaN it is False.

    The operands are promoted and broadcast; integers of any dtypes compare exactly, complex numbers
    by real part, then by imaginary part.

    >>> jnp.greater(jnp.array([1, 2, 3]), 2)
    Array([False, False,  True], dtype=bool)
    """
    return _compare("greater", compare.gt, operator.gt, x1, x2)


@comparison
def greater_equal(x1: Any, x2: Any, /) -> Any:
    """Whether `x1 >= x2`; with a NaN it is False.

    The operands are promoted and broadcast; integers of any dtypes compare exactly, complex numbers
    by real part, then by imaginary part.

    >>> jnp.greater_equal(jnp.array([1, 2, 3]), 2)
    Array([False,  True,  True], dtype=bool)
    """
    return _compare("greater_equal", compare.ge, operator.ge, x1, x2)


# ---- logic -------------------------------------------------------------------------------------
def truth(name: str, x: Any) -> Any:
    """Whether the elements are not zero, as a bool array."""
    if x.__class__ in (int, float, complex):
        return as_array(bool(x))
    x = array_like(name, x)
    return x if kind_of(x) == "bool" else compare.ne(x, 0)


logical = partial(eager.binary, general=partial(eager.run, fitting=TRUTHS))


def _truths(name: str, x1: Any, x2: Any) -> list[Array]:
    return broadcast(name, (truth(name, x1), truth(name, x2)))


@logical
def logical_and(x1: Any, x2: Any, /) -> Any:
    """Whether both elements are not zero.

    The operands, of any dtypes, broadcast; the result is bool.

    >>> jnp.logical_and(jnp.array([0, 1, 2]), jnp.array([1.0, 0.0, jnp.nan]))
    Array([False, False,  True], dtype=bool)
    """
    return binary.bitwise_and(*_truths("logical_and", x1, x2))


@logical
def logical_or(x1: Any, x2: Any, /) -> Any:
    """Whether one of the elements, or both, is not zero.

    The operands, of any dtypes, broadcast; the result is bool.

    >>> jnp.logical_or(jnp.array([0, 1, 2]), jnp.array([0.0, 0.0, 1.0]))
    Array([False,  True,  True], dtype=bool)
    """
    return binary.bitwise_or(*_truths("logical_or", x1, x2))


@logical
def logical_xor(x1: Any, x2: Any, /) -> Any:
    """Whether just one of the elements is not zero.

    The operands, of any dtypes, broadcast; the result is bool.

    >>> jnp.logical_xor(jnp.array([0, 1, 2]), jnp.array([0.0, 0.0, 1.0]))
    Array([False,  True, False], dtype=bool)
    """
    return binary.bitwise_xor(*_truths("logical_xor", x1, x2))


@eager.unary
def logical_not(x: Any, /) -> Any:
    """Whether the element is zero.

    Takes any dtype; the result is bool.

    >>> jnp.logical_not(jnp.array([0.0, 1.0, jnp.nan]))
    Array([ True, False, False], dtype=bool)
    """
    x = array_like("logical_not", x)
    return unary.bitwise_not(x) if kind_of(x) == "bool" else compare.eq(x, 0)


# ---- closeness ---------------------------------------------------------------------------------
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Whether `abs(a - b) <= atol + rtol * abs(b)`, or the elements are equal.

    The operands are promoted and broadcast; the result is bool.  Infinities are close to themselves
    only; NaN to NaN if `equal_nan`.

    >>> jnp.isclose(jnp.array([1.0, jnp.inf, jnp.nan]), jnp.array([1.000001, jnp.inf, jnp.nan]))
    Array([ True,  True, False], dtype=bool)
    """
    return _isclose(*_near(a, b), rtol, atol, equal_nan=bool(equal_nan))


def _near(a: Any, b: Any) -> list[Any]:
    """The operands, Python integers that don't fit the dtype beside them as floats."""
    most = int(dtypes.iinfo(default_integer()).max)
    return [
        float(x) if x.__class__ is int and (y is not x or abs(x) > most) else y
        for x, y in zip((a, b), comparable((a, b)))
    ]


@eager.function(static=("equal_nan",))
def _isclose(a: Any, b: Any, rtol: Any, atol: Any, *, equal_nan: bool) -> Any:
    return _close(a, b, rtol, atol, equal_nan)


def _close(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    a, b = promote("isclose", a, b)
    same = compare.eq(a, b)
    distance = None if kind_of(a) in ("float", "complex") else _integer_distance(a, b)
    a, b = promote_inexact("isclose", a, b)
    if distance is None:
        distance = unary.abs(arithmetic.sub(a, b))
    size, rtol, atol = promote_inexact("isclose", unary.abs(b), rtol, atol)
    bound = arithmetic.add(atol, arithmetic.mul(rtol, size))
    close = compare.le(*promote("isclose", distance, bound))
    close, same, finite = broadcast("isclose", (close, same, _is_finite(b)))
    if equal_nan:
        both = binary.bitwise_and(compare.ne(a, a), compare.ne(b, b))
        same = binary.bitwise_or(same, both)
    return binary.bitwise_or(binary.bitwise_and(close, finite), same)


def _integer_distance(a: Any, b: Any) -> Any:
    """`abs(a - b)` of integers as a float: 0 only where they are equal."""
    if kind_of(a) == "bool":
        a, b = (_converted(x, np.dtype("int8")) for x in (a, b))
    distance = arithmetic.sub(binary.max(a, b), binary.min(a, b))
    unsigned = _converted(distance, np.dtype(f"u{distance.aval.dtype.itemsize}"))
    return promote_inexact("isclose", unsigned)[0]


def _is_finite(x: Any) -> Any:
    if is_complex(x):
        return binary.bitwise_and(unary.is_finite(real(x)), unary.is_finite(imag(x)))
    return unary.is_finite(x)


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Whether all elements are close, as `isclose` says.

    The operands are promoted and broadcast; the result is a bool array without axes.

    >>> jnp.allclose(jnp.array([1.0, 2.0]), jnp.array([1.0, 2.000001]))
    Array(True, dtype=bool)
    """
    a, b = _near(a, b)
    return _allclose(a, b, rtol, atol, equal_nan=bool(equal_nan))


@eager.function(static=("equal_nan",))
def _allclose(a: Any, b: Any, rtol: Any, atol: Any, *, equal_nan: bool) -> Any:
    return _all(_close(a, b, rtol, atol, equal_nan))


def _all(x: Any) -> Any:
    return reduce_and(x, tuple(range(x.aval.ndim)))


# ---- whole arrays ------------------------------------------------------------------------------
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether the arrays have one shape and equal elements; NaN equals NaN if `equal_nan`.

    The result is a bool array without axes; it is False too where an argument is no array.

    >>> jnp.array_equal(jnp.array([1, 2]), [1, 2]), jnp.array_equal(jnp.ones(2), jnp.ones(3))
    (Array(True, dtype=bool), Array(False, dtype=bool))
    """
    try:
        a1, a2 = [array_like("array_equal", a) for a in comparable((a1, a2))]
    except errors.MaskedArrayError:
        raise
    except (TypeError, ValueError):
        return as_array(False)
    if a1.aval.shape != a2.aval.shape:
        return as_array(False)
    return _array_equal(a1, a2, equal_nan=bool(equal_nan))


@eager.function(static=("equal_nan",))
def _array_equal(a1: Any, a2: Any, *, equal_nan: bool) -> Any:
    same = equal(a1, a2)
    if equal_nan:
        both = binary.bitwise_and(compare.ne(a1, a1), compare.ne(a2, a2))
        same = binary.bitwise_or(same, both)
    return _all(same)


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether the arrays broadcast to one shape and have equal elements.

    The result is a bool array without axes; it is False too where an argument is no array.

    >>> jnp.array_equiv(jnp.array([1, 2]), jnp.array([[1, 2], [1, 2]]))
    Array(True, dtype=bool)
    """
    try:
        a1, a2 = [array_like("array_equiv", a) for a in comparable((a1, a2))]
        broadcast_shapes("array_equiv", [a1.aval.shape, a2.aval.shape])
    except errors.MaskedArrayError:
        raise
    except (TypeError, ValueError):
        return as_array(False)
    return _array_equiv(a1, a2)


@eager.function(static=())
def _array_equiv(a1: Any, a2: Any) -> Any:
    return _all(equal(a1, a2))
