"""Complex numbers: their parts, conjugates and angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array
from hloom.core.support.known import is_known
from hloom.numpy.common import eager
from hloom.numpy.common.operands import array_like, promote_inexact
from hloom.numpy.common.ufunc_operands import is_complex
from hloom.ops.common import linear
from hloom.ops.pointwise import arithmetic, compare, trigonometric, unary
from hloom.ops.pointwise.complex import conj as lax_conj
from hloom.ops.pointwise.complex import imag as lax_imag
from hloom.ops.pointwise.complex import real as lax_real
from hloom.ops.reductions.reduce import reduce_and
from hloom.ops.shapes.shape import full_like

BOOL = np.dtype("bool")


# ---- properties of arrays -----------------------------------------------------------------------
_real_part = eager.unary(lax_real)
_imaginary_part = eager.unary(lax_imag)


@eager.unary
def _zeros(x: Any) -> Any:
    return full_like(x, False if x.aval.kind == "bool" else 0)


def real_part(self: Array) -> Array:
    """The real part.

    >>> jnp.array([1 + 2j]).real
    Array([1.], dtype=float32)
    """
    return _real_part(self) if is_complex(self) else self


def imaginary_part(self: Array) -> Array:
    """The imaginary part; zeros for real numbers.

    >>> jnp.array([1 + 2j]).imag
    Array([2.], dtype=float32)
    """
    found: Array = _imaginary_part(self) if is_complex(self) else _zeros(self)
    return found


# ---- functions ----------------------------------------------------------------------------------


def real(val: Any, /) -> Any:
    """The real part; real numbers are returned as they are.

    >>> jnp.real(jnp.array([1 + 2j, 3 - 4j]))
    Array([1., 3.], dtype=float32)
    """
    return real_part(array_like("real", val))


def imag(val: Any, /) -> Any:
    """The imaginary part; of real numbers, zeros of their dtype.

    >>> jnp.imag(jnp.array([1 + 2j, 3 - 4j])), jnp.imag(jnp.array([1, 2]))
    (Array([ 2., -4.], dtype=float32), Array([0, 0], dtype=int32))
    """
    return imaginary_part(array_like("imag", val))


@eager.unary
def conjugate(x: Any, /) -> Any:
    """The complex conjugate; real numbers stay as they are.

    >>> jnp.conjugate(jnp.array([1 + 2j, 3 - 4j]))
    Array([1.-2.j, 3.+4.j], dtype=complex64)
    """
    x = array_like("conjugate", x)
    return lax_conj(x) if is_complex(x) else x


conj = conjugate


def angle(z: Any, deg: bool = False) -> Any:
    """The angle of complex numbers with the positive real axis, in radians or, if `deg`, degrees.

    From -pi to pi; of positive numbers it is 0, of negative ones pi.  Integers and bools become the
    default float.

    >>> jnp.angle(jnp.array([1j, -1.0])), jnp.angle(1 + 1j, deg=True)
    (Array([1.5707964, 3.1415927], dtype=float32), Array(45., dtype=float32, weak_type=True))
    """
    return _angle(z, deg=bool(deg))


@eager.function(static=("deg",))
def _angle(z: Any, *, deg: bool) -> Any:
    (z,) = promote_inexact("angle", z)
    if is_complex(z):
        found = trigonometric.atan2(lax_imag(z), lax_real(z))
    else:
        found = trigonometric.atan2(linear.constant(0, z.aval.dtype, z.aval.weak_type), z)
    return arithmetic.mul(found, 180 / math.pi) if deg else found


@eager.unary
def iscomplex(x: Any, /) -> Any:
    """Whether the imaginary part is not 0; of real numbers it is False.

    >>> jnp.iscomplex(jnp.array([1 + 0j, 1j]))
    Array([False,  True], dtype=bool)
    """
    x = array_like("iscomplex", x)
    if is_complex(x):
        return compare.ne(lax_imag(x), 0)
    return linear.full(x.aval.shape, False, BOOL)


@eager.unary
def isreal(x: Any, /) -> Any:
    """Whether the imaginary part is 0; of real numbers it is True.

    >>> jnp.isreal(jnp.array([1 + 0j, 1j]))
    Array([ True, False], dtype=bool)
    """
    x = array_like("isreal", x)
    if is_complex(x):
        return compare.eq(lax_imag(x), 0)
    return linear.full(x.aval.shape, True, BOOL)


def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real part, if all imaginary parts are close to 0; else the array as it is.

    Close is below `tol`, or, if `tol` is above 1, below so many machine epsilons.  Raises
    ConcretizationTypeError while tracing, since the dtype depends on values.

    >>> jnp.real_if_close(jnp.array([1 + 1e-9j, 2 + 0j]))
    Array([1., 2.], dtype=float32)
    """
    a = array_like("real_if_close", a)
    if not is_complex(a):
        return a
    if not is_known(a):
        raise errors.ConcretizationTypeError.parameter("real_if_close", "a", a.traced())
    bound = float(dtypes.finfo(a.aval.dtype).eps) * tol if tol > 1 else float(tol)
    return real(a) if bool(_is_nearly_real(a, bound)) else a


@eager.function(static=())
def _is_nearly_real(x: Any, bound: Any) -> Any:
    part = unary.abs(lax_imag(x))
    return reduce_and(compare.lt(part, bound), tuple(range(x.aval.ndim)))
