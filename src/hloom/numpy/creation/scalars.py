"""Scalar types: `jnp.float32` and the others.  Each is a dtype to pass and a function to call.

`jnp.float32` may be given wherever a dtype is asked for (`np.dtype(jnp.float32)` works), and called
it makes an array of that dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.numpy.creation.creation import of_dtype


class ScalarType(type):
    """The class of `jnp.float32` and the other scalar types.

    Differs from NumPy's scalar types: a call makes an `Array`, and values are no instances.

    >>> jnp.float32(2), jnp.int8([1, 2])
    (Array(2., dtype=float32), Array([1, 2], dtype=int8))
    >>> np.dtype(jnp.bfloat16), jnp.float32 == np.float32
    (dtype(bfloat16), True)
    """

    dtype: np.dtype[Any]

    def __call__(cls, x: Any = 0, /) -> Array:
        return of_dtype(cls.__name__, x, cls.dtype)

    def __eq__(cls, other: object) -> bool:
        if cls is other:
            return True
        if isinstance(other, (ScalarType, np.dtype)):
            return cls.dtype == getattr(other, "dtype", other)
        return isinstance(other, type) and issubclass(other, np.generic) and cls.dtype.type is other

    def __hash__(cls) -> int:
        return hash(cls.dtype)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'hloom.numpy.{cls.__name__}'>"


def _scalar_type(name: str) -> Any:
    dtype = dtypes.as_dtype(name)
    doc = f"The dtype {dtype.name}, and a function that makes arrays of it."
    return ScalarType(dtype.name, (), {"dtype": dtype, "__doc__": doc, "__module__": "hloom.numpy"})


bool_ = _scalar_type("bool")
int2 = _scalar_type("int2")
int4 = _scalar_type("int4")
int8 = _scalar_type("int8")
int16 = _scalar_type("int16")
int32 = _scalar_type("int32")
int64 = _scalar_type("int64")
uint2 = _scalar_type("uint2")
uint4 = _scalar_type("uint4")
uint8 = _scalar_type("uint8")
uint16 = _scalar_type("uint16")
uint32 = _scalar_type("uint32")
uint64 = _scalar_type("uint64")
float4_e2m1fn = _scalar_type("float4_e2m1fn")
float8_e3m4 = _scalar_type("float8_e3m4")
float8_e4m3 = _scalar_type("float8_e4m3")
float8_e4m3b11fnuz = _scalar_type("float8_e4m3b11fnuz")
float8_e4m3fn = _scalar_type("float8_e4m3fn")
float8_e4m3fnuz = _scalar_type("float8_e4m3fnuz")
float8_e5m2 = _scalar_type("float8_e5m2")
float8_e5m2fnuz = _scalar_type("float8_e5m2fnuz")
float8_e8m0fnu = _scalar_type("float8_e8m0fnu")
float16 = _scalar_type("float16")
bfloat16 = _scalar_type("bfloat16")
float32 = _scalar_type("float32")
float64 = _scalar_type("float64")
complex64 = _scalar_type("complex64")
complex128 = _scalar_type("complex128")

# Other names of the same, as in NumPy: int_ and its like are the 64-bit types.
bool = bool_
int_ = int64
uint = uint64
half = float16
single = float32
double = float64
float_ = float64
csingle = complex64
cdouble = complex128
complex_ = complex128

# Groups of dtypes, for `issubdtype`: NumPy's own classes.
generic = np.generic
number = np.number
integer = np.integer
signedinteger = np.signedinteger
unsignedinteger = np.unsignedinteger
inexact = np.inexact
floating = np.floating
complexfloating = np.complexfloating
flexible = np.flexible
character = np.character
object_ = np.object_
