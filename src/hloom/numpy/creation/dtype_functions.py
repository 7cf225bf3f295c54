"""What dtypes are and become: promotion, limits, questions; and the questions about shapes.

Unlike those of `hloom.dtypes`, the functions here follow the options in force: with 64-bit types
off their answers are 32-bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.context import current
from hloom.numpy.common.arguments import axes_argument
from hloom.numpy.common.operands import array_like

can_cast = dtypes.can_cast
finfo = dtypes.finfo
iinfo = dtypes.iinfo
isdtype = dtypes.isdtype
issubdtype = dtypes.issubdtype


def promote_types(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype that arrays of two dtypes are promoted to together.

    Python's `int`, `float` and `complex` stand for Python scalars, which never widen an array.

    Raises TypeError for a pair without a common dtype.  Differs from NumPy: an integer dtype never
    widens a float one.

    >>> jnp.promote_types("int32", "float16")
    dtype('float16')
    """
    config = current.get().config
    return dtypes.promote_types(a, b, config.enable_x64, config.numpy_dtype_promotion)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype that arrays, numbers and dtypes are promoted to together.

    None means the default float.  Raises ValueError without arguments.  Differs from NumPy as
    `promote_types` does.

    >>> jnp.result_type(jnp.int8(1), 2.5)
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is required")
    config = current.get().config
    given = [np.asarray(x) if isinstance(x, (list, tuple)) else x for x in arrays_and_dtypes]
    given = [dtypes.default_float(config.enable_x64) if x is None else x for x in given]
    return dtypes.result_type(*given, x64=config.enable_x64, mode=config.numpy_dtype_promotion)


def explain_promotion(a: Any, b: Any) -> str:
    """How two operands find their common dtype: their ways through the lattice, and why.

    `a` and `b` are arrays, numbers or dtypes.

    >>> print(jnp.explain_promotion("int16", "uint16"))
    int16 + uint16 -> int32
      int16   i16 > i32
      uint16  u16 > i32
    why: the smallest signed dtype that holds every value of both
    """
    config = current.get().config
    return dtypes.explain(a, b, config.enable_x64, config.numpy_dtype_promotion)


def common_type(*arrays: Any) -> np.dtype[Any]:
    """The float or complex dtype that arrays share; integers count as the default float.

    Raises TypeError for bools, as NumPy does.

    >>> jnp.common_type(jnp.arange(2), jnp.ones(2, "float16"))
    dtype('float32')
    """
    config = current.get().config
    found = [_dtype_of(x) for x in arrays]
    if any(dtypes.kind(each) == "bool" for each in found):
        raise TypeError(
            "common_type: can't get common type for non-numeric array; convert it: x.astype(float)"
        )
    inexact = [dtypes.to_inexact(each, config.enable_x64) for each in found]
    return dtypes.result_type(*inexact, x64=config.enable_x64) if inexact else np.dtype("float16")


def min_scalar_type(a: Any) -> np.dtype[Any]:
    """The smallest dtype that holds a number; an array's own dtype.  It looks at the value.

    >>> jnp.min_scalar_type(300), jnp.min_scalar_type(jnp.arange(2))
    (dtype('uint16'), dtype('int32'))
    """
    if isinstance(a, Array) and a.aval.shape:
        return a.aval.dtype
    return np.min_scalar_type(np.asarray(a))


def _dtype_of(x: Any) -> np.dtype[Any]:
    """The dtype of an array, a number, a list or a dtype."""
    if hasattr(x, "dtype"):
        return dtypes.as_dtype(x)
    if isinstance(x, type) or isinstance(x, str):
        return dtypes.as_dtype(x)
    return array_like("dtype", x).aval.dtype


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex, whatever the values are.

    >>> jnp.iscomplexobj(jnp.array([1 + 0j])), jnp.iscomplexobj(1.0)
    (True, False)
    """
    return dtypes.kind(_dtype_of(x)) == "complex"


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex, whatever the values are.

    >>> jnp.isrealobj(jnp.array([1 + 0j])), jnp.isrealobj(1.0)
    (False, True)
    """
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether `element` is one number or a 0-d array.

    Differs from NumPy: 0-d arrays count, since there are no other scalars.

    >>> jnp.isscalar(1.0), jnp.isscalar(jnp.array(1)), jnp.isscalar([1])
    (True, True, False)
    """
    if isinstance(element, (Array, np.ndarray)):
        return element.ndim == 0
    return bool(np.isscalar(element))


def isfortran(a: Any) -> bool:
    """False: all arrays are row-major.

    >>> jnp.isfortran(jnp.ones((2, 2)))
    False
    """
    return False


def iterable(y: Any) -> bool:
    """Whether one can iterate over `y`; not over 0-d arrays.

    >>> jnp.iterable(jnp.ones(2)), jnp.iterable(jnp.float32(1))
    (True, False)
    """
    if isinstance(y, Array):
        return bool(y.aval.shape)
    return bool(np.iterable(y))


def shape(a: Any) -> tuple[int, ...]:
    """Sizes of the axes, of an array or of nested lists.

    >>> jnp.shape([[1, 2, 3]])
    (1, 3)
    """
    found = getattr(a, "shape", None)
    return tuple(found) if isinstance(found, tuple) else array_like("shape", a).aval.shape


def ndim(a: Any) -> int:
    """The number of axes, of an array or of nested lists.

    >>> jnp.ndim([[1, 2, 3]])
    2
    """
    return len(shape(a))


def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, in all or along some axes.

    Raises AxisError for an axis there is not, ValueError for one that is named twice.

    >>> jnp.size(jnp.ones((2, 3))), jnp.size(jnp.ones((2, 3)), 1)
    (6, 3)
    """
    sizes = shape(a)
    axes = range(len(sizes)) if axis is None else axes_argument("size", axis, len(sizes))
    return math.prod([sizes[each] for each in axes])


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether the two are the same array: no others share memory that could be seen.

    >>> x = jnp.ones(2)
    >>> jnp.shares_memory(x, x), jnp.shares_memory(x, x + 0)
    (True, False)
    """
    if isinstance(a, Array) or isinstance(b, Array):
        return a is b
    return bool(np.shares_memory(a, b))


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """The same as `shares_memory`.

    >>> jnp.may_share_memory(jnp.ones(2), jnp.ones(2))
    False
    """
    return shares_memory(a, b)
