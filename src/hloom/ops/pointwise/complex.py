"""Complex numbers and their parts: `complex`, `real`, `imag`, `conj`.

Cotangents of complex values pair with tangents without conjugation, `<ct, t> = Re(ct * t)`, so
`real` gives back `ct`, `imag` gives back `-1j * ct`, and `conj` is its own transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.core.operands import as_array
from hloom.core.support.strict import strict
from hloom.ops.common.elementwise import Elementwise, part_dtype
from hloom.ops.common.expression import complex_of
from hloom.ops.pointwise.arithmetic import neg

_COMPLEX = {np.dtype("float32"): np.dtype("complex64"), np.dtype("float64"): np.dtype("complex128")}


def _complex_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype not in _COMPLEX:
        raise TypeError(
            f"complex takes parts of float32 or float64; got {dtype.name}. Convert them first: "
            "lax.convert_element_type(x, 'float32')."
        )
    return _COMPLEX[dtype]


def numpy_complex(x: Any, y: Any) -> Any:
    result = np.empty(np.broadcast_shapes(x.shape, y.shape), np.result_type(x, np.complex64))
    result.real = x
    result.imag = y
    return result


complex_p = Elementwise(
    "complex",
    formula=complex_of,
    numpy=numpy_complex,
    jvp=[
        lambda t, out, x, y: complex(t, 0.0),
        lambda t, out, x, y: complex(0.0, t),
    ],
    transpose=[lambda ct, x, y: real(ct), lambda ct, x, y: neg(imag(ct))],
    domain="float",
    result=_complex_dtype,
    narrow=True,
)


def complex(x: Any, y: Any) -> Any:
    """The complex number `x + 1j * y`, part by part: no NaN or sign of zero spreads to the other.

    Takes two operands of float32, or two of float64, of one rank or one of them 0-d; gives
    complex64 or complex128.  Raises TypeError otherwise.

    >>> lax.complex(jnp.array([1.0, 2.0]), 3.0)
    Array([1.+3.j, 2.+3.j], dtype=complex64)
    """
    return complex_p(x, y)


real_p = Elementwise(
    "real",
    hlo="real",
    numpy=np.real,
    jvp=[lambda t, out, x: real(t)],
    transpose=[lambda ct, x: complex(ct, 0.0)],
    domain="complex",
    result=part_dtype,
)


def real(x: Any) -> Any:
    """The real part of complex numbers.

    Takes complex64 or complex128; gives float32 or float64.  Raises TypeError for other dtypes:
    `hloom.numpy.real` takes those too.

    >>> lax.real(jnp.array([1 + 2j, 3 - 4j]))
    Array([1., 3.], dtype=float32)
    """
    return real_p(x)


imag_p = Elementwise(
    "imag",
    hlo="imag",
    numpy=np.imag,
    jvp=[lambda t, out, x: imag(t)],
    transpose=[lambda ct, x: complex(0.0, neg(ct))],
    domain="complex",
    result=part_dtype,
)


def imag(x: Any) -> Any:
    """The imaginary part of complex numbers.

    Takes complex64 or complex128; gives float32 or float64.  Raises TypeError for other dtypes:
    `hloom.numpy.imag` takes those too.

    >>> lax.imag(jnp.array([1 + 2j, 3 - 4j]))
    Array([ 2., -4.], dtype=float32)
    """
    return imag_p(x)


conj_p = Elementwise(
    "conj",
    formula=lambda x: complex_of(x.real, -x.imag),
    numpy=np.conj,
    jvp=[lambda t, out, x: conj_p(t)],
    transpose=[lambda ct, x: conj_p(ct)],
    domain="complex",
)


@strict
def conj(x: Any) -> Any:
    """The complex conjugate; float32 and float64 become complex numbers first.

    Takes floats or complex numbers; gives complex64 or complex128.  Raises TypeError for other
    dtypes.  Differs from NumPy: real operands give complex results.

    >>> lax.conj(jnp.array([1 + 2j, 3 - 4j]))
    Array([1.-2.j, 3.+4.j], dtype=complex64)
    """
    x = as_array(x)
    return conj_p(complex(x, 0.0) if x.aval.dtype in _COMPLEX else x)
