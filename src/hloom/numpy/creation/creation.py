"""Arrays from numbers, lists, NumPy arrays, buffers and files; arrays of one value.

What the user's values say is put together on the host and sent to the device in one piece, which
compiles nothing; only arrays of one value that are large are made on the device, by a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.control.devices import check_device
from hloom.core.array import Array, HostArray, host_array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import as_array, narrow, unmasked, weak_aval
from hloom.core.support import executable
from hloom.core.support.frames import hidden
from hloom.core.support.strict import refuse_sharding
from hloom.errors import ArgumentError, ShapeError
from hloom.numpy.common.arguments import check_order, dtype_argument, shape_argument
from hloom.numpy.common.operands import array_like, broadcast_to
from hloom.numpy.common.sequences import NUMBERS, from_sequence, plain_value, put, unfit
from hloom.ops.common.linear import constant, spread_scalar
from hloom.ops.pointwise.convert import convert_element_type_p, numpy_convert
from hloom.ops.pointwise.convert import copy as copy_on_device
from hloom.ops.shapes.shape import reshape

NDArray = np.ndarray[Any, Any]
_new = object.__new__
get = current.get

# Bytes up to which an array of static values is made on the host: a program has to be compiled.
ON_HOST = 1 << 18

_FLOAT32_MAX = 3.4028235677973366e38  # from here on a float rounds to infinity


# ---- from values ------------------------------------------------------------------------------
def array(
    object: Any,
    dtype: Any = None,
    copy: bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """An array of numbers, (nested) lists, a NumPy array or another array; always a copy.

    Without `dtype`, it is the one the elements promote to, 64-bit types narrowed while those are
    off; a lone Python number stays weakly typed.  `ndmin` puts axes of size 1 in front.

    Raises TypeError for what holds no numbers, ValueError for ragged lists, OverflowError for
    integers that don't fit.  Differs from NumPy: `order` says nothing, all arrays are row-major.

    >>> jnp.array([[1, 2], [3, 4]])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    >>> jnp.array([1, jnp.float16(2.5)])
    Array([1. , 2.5], dtype=float16)
    """
    if out_sharding is not None:
        refuse_sharding("array", out_sharding)
    if order != "K":
        check_order("array", order)
    made = _convert("array", object, dtype, device, copy)
    if ndmin and made.aval.ndim < ndmin:
        made = reshape(made, (1,) * (ndmin - made.aval.ndim) + made.aval.shape)
    return made


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """The same as `array`, but an array that is one already, of that dtype, is returned as it is.

    A NumPy array is copied: to change it later does not change the result.  With `copy=True`
    arrays are copied too, with `copy=False` what needs a copy raises ValueError.

    >>> x = jnp.ones(2)
    >>> jnp.asarray(x) is x
    True
    >>> jnp.asarray([1, 2], dtype=float)
    Array([1., 2.], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("asarray", out_sharding)
    if dtype is None and copy is None and a.__class__ is Array and device is None:
        made: Array = a
        return made
    if order is not None:
        check_order("asarray", order)
    return _convert("asarray", a, dtype, device, copy)


def _convert(name: str, x: Any, dtype: Any, device: Any, copy: bool | None) -> Array:
    """Any value as an Array of `dtype`; the order of the cases is that of their frequency."""
    if device is not None:
        check_device(name, device)
    if dtype is not None:
        dtype = dtype_argument(name, dtype)
    if x.__class__ is np.ndarray:
        if copy is False:
            raise _needs_copy(name, x)
        return _from_ndarray(name, x, dtype)
    if isinstance(x, Array):
        return _from_array(name, x, dtype, copy)
    if x.__class__ in NUMBERS:
        return number(name, x, dtype)
    if isinstance(x, (list, tuple)):
        return from_sequence(name, x, dtype)
    return _from_other(name, x, dtype, copy)


@hidden
def of_dtype(name: str, x: Any, dtype: np.dtype[Any]) -> Array:
    """What `jnp.float32(x)` gives: an array that is one already, of that dtype, is not copied."""
    return _convert(name, x, dtype, None, None)


def _from_ndarray(name: str, value: NDArray, dtype: np.dtype[Any] | None) -> Array:
    """A copy on the device; asked for by dtype, values convert as `x.astype(dtype)` would."""
    if dtype is None:
        try:
            dtype = dtypes.canonicalize(value.dtype, get().config.enable_x64)
        except TypeError as error:
            raise ArgumentError(f"{name}: {error}") from None
        if dtype != value.dtype:
            value = narrow(value, dtype)
    elif dtype != value.dtype:
        if not dtypes.is_supported(value.dtype):
            dtypes.as_dtype(value.dtype)
        value = np.asarray(numpy_convert(value, dtype))
    return put(value)


def _from_array(name: str, x: Array, dtype: np.dtype[Any] | None, copy: bool | None) -> Array:
    if dtype is not None and (x.aval.dtype != dtype or x.aval.weak_type):
        if copy is False and x.aval.dtype != dtype:
            raise _needs_copy(name, x)
        return convert_element_type_p(x, new_dtype=dtype, weak_type=False)
    if not copy:
        return x
    if isinstance(x, HostArray):
        return host_array(x._value(), x.aval)
    copied: Array = copy_on_device(x)
    return copied


def number(name: str, x: bool | int | float | complex, dtype: np.dtype[Any] | None) -> HostArray:
    """A Python number as a 0-d array, weakly typed without `dtype`; sent when it is first used."""
    if dtype is None:
        aval = weak_aval(x.__class__, get().config.enable_x64)
    else:
        aval = ShapedArray((), dtype)
        if dtype.isbuiltin != 1:
            return host_array(plain_value(name, x, dtype), aval)
    if x.__class__ is float and abs(x) > _FLOAT32_MAX and x == x and abs(x) != inf:
        return host_array(plain_value(name, x, None), aval)  # which warns
    try:
        return host_array(x, aval)
    except (OverflowError, ValueError, TypeError) as error:
        raise unfit(name, x, aval.dtype, error) from None


def _from_other(name: str, x: Any, dtype: np.dtype[Any] | None, copy: bool | None) -> Array:
    """NumPy scalars, buffers, pandas columns, enum members, and what is no array at all."""
    if isinstance(x, np.generic):
        return _from_ndarray(name, np.asarray(x), dtype)
    if hasattr(x, "__hloom_array__") or hasattr(x, "__jax_array__"):
        return _from_array(name, as_array(x), dtype, copy)
    if isinstance(x, (int, float, complex)) and dtype is None:
        return as_array(x)
    if hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        return _from_ndarray(name, unmasked(x), dtype)
    if isinstance(x, (bytearray, memoryview, range)) or _is_buffer(x):
        return _from_ndarray(name, np.asarray(x), dtype)
    if (
        hasattr(x, "__len__")
        and hasattr(x, "__getitem__")
        and not isinstance(x, (str, bytes, dict))
    ):
        return from_sequence(name, list(x), dtype)
    return put(plain_value(name, x, dtype))


def _is_buffer(x: Any) -> bool:
    if isinstance(x, (str, bytes)):
        return False
    try:
        memoryview(x)
    except TypeError:
        return False
    return True


def _needs_copy(name: str, x: Any) -> ValueError:
    return ValueError(
        f"{name}: a {type(x).__name__} can't become an array without a copy; leave copy=False out"
    )


def asanyarray(
    a: Any, dtype: Any = None, order: str | None = None, *, copy: bool | None = None
) -> Array:
    """The same as `asarray`: there are no subclasses of arrays.

    >>> jnp.asanyarray([1, 2])
    Array([1, 2], dtype=int32)
    """
    return asarray(a, dtype, order, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None) -> Array:
    """An array with at least one axis; all arrays are contiguous.

    >>> jnp.ascontiguousarray(3.0)
    Array([3.], dtype=float32, weak_type=True)
    """
    return _at_least_1d(asarray(a, dtype))


def asfortranarray(a: Any, dtype: Any = None) -> Array:
    """The same as `ascontiguousarray`.  Differs from NumPy: all arrays are row-major.

    >>> jnp.asfortranarray([[1, 2]])
    Array([[1, 2]], dtype=int32)
    """
    return _at_least_1d(asarray(a, dtype))


def _at_least_1d(x: Array) -> Array:
    return x if x.aval.shape else reshape(x, (1,))


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> Array:
    """An array without NaN and infinity.

    Raises ValueError when there are any.  It looks at values, so it can't be traced.

    >>> jnp.asarray_chkfinite([1.0, 2.0])
    Array([1., 2.], dtype=float32)
    """
    made = asarray(a, dtype, order)
    if made.aval.kind in ("float", "complex") and not np.isfinite(np.asarray(made)).all():
        raise ValueError("array must not contain infs or NaNs: replace them, jnp.nan_to_num(x)")
    return made


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Array:
    """An array of `dtype`; all arrays are contiguous, aligned, and own their memory.

    Raises ValueError for the requirements "W", since arrays are immutable, and "F".

    >>> jnp.require([1, 2], float, "C")
    Array([1., 2.], dtype=float32)
    """
    wanted = {str(each).upper()[:1] for each in requirements or ()}
    if "W" in wanted:
        raise ValueError("require: arrays are immutable, so none is writeable; use np.array(x)")
    if "F" in wanted:
        raise ValueError("require: all arrays are row-major; transpose instead, x.T")
    return asarray(a, dtype)


def copy(a: Any, order: str | None = None, subok: bool = False) -> Array:
    """A copy, with a buffer of its own.

    >>> jnp.copy(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    check_order("copy", order)
    return array(a)


# ---- of one value -----------------------------------------------------------------------------
def static(aval: ShapedArray, on_host: Callable[[], NDArray], body: Callable[[], Array]) -> Array:
    """An array that depends on static values only: sent from the host, or made by a program.

    Traced, or too large to be sent, `body` makes it with lax functions.
    """
    key = get().key
    if key is not None and aval.size * aval.dtype.itemsize <= ON_HOST:
        made: Array = _new(Array)
        made._buf = executable.put(on_host(), aval)
        made.aval = aval
        return made
    return body()


def _filled(name: str, aval: ShapedArray, value: bool | int | float | complex) -> Array:
    if get().key is not None and aval.size * aval.dtype.itemsize <= ON_HOST:
        made: Array = _new(Array)
        made._buf = executable.put(np.full(aval.shape, value, aval.dtype), aval)
        made.aval = aval
        return made
    return spread_scalar(constant(value, aval.dtype, aval.weak_type), aval.shape)


def _default_float() -> np.dtype[Any]:
    return dtypes.default_float(get().config.enable_x64)


def zeros(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """An array of zeros; the default dtype is float32 (float64 when 64-bit types are on).

    Raises TypeError for a shape that is not of integers, ValueError for negative sizes, MemoryError
    for more than the memory holds.

    >>> jnp.zeros((2, 3), dtype=int)
    Array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("zeros", out_sharding)
    return _constant("zeros", shape, 0, dtype, device)


def ones(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """An array of ones; the default dtype is float32 (float64 when 64-bit types are on).

    Raises what `zeros` raises.

    >>> jnp.ones(3)
    Array([1., 1., 1.], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("ones", out_sharding)
    return _constant("ones", shape, 1, dtype, device)


def empty(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """An array of zeros: there is no uninitialised memory.

    >>> jnp.empty(2)
    Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("empty", out_sharding)
    return _constant("empty", shape, 0, dtype, device)


def _constant(name: str, shape: Any, value: int, dtype: Any, device: Any) -> Array:
    if device is not None:
        check_device(name, device)
    shape = shape_argument(name, shape)
    dtype = _default_float() if dtype is None else dtype_argument(name, dtype)
    return _filled(name, ShapedArray(shape, dtype), value)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """An array filled with `fill_value`, a number or an array that broadcasts to `shape`.

    Without `dtype` it is that of the value; a Python number gives a weakly typed array.

    Raises ValueError when the value does not broadcast, OverflowError for an integer that `dtype`
    does not hold.

    >>> jnp.full((2, 2), [1.0, 2.0])
    Array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    if out_sharding is not None:
        refuse_sharding("full", out_sharding)
    check_device("full", device)
    return _full("full", shape_argument("full", shape), fill_value, dtype)


def _full(name: str, shape: tuple[int, ...], fill_value: Any, dtype: Any) -> Array:
    if dtype is not None:
        dtype = dtype_argument(name, dtype)
    value = _convert(name, fill_value, dtype, None, None)
    aval = value.aval
    if aval.shape != (shape[len(shape) - aval.ndim :] if aval.ndim else ()):
        _check_broadcast(name, aval.shape, shape)
    if isinstance(value, HostArray):
        filled = aval.update(shape=shape)
        held = value._value()
        return static(
            filled, lambda: np.full(shape, held, aval.dtype), lambda: spread_scalar(value, shape)
        )
    if aval.shape == shape:
        return value
    return broadcast_to(value, shape)


def _check_broadcast(name: str, given: tuple[int, ...], shape: tuple[int, ...]) -> None:
    fits = len(given) <= len(shape) and all(a in (1, b) for a, b in zip(given[::-1], shape[::-1]))
    if not fits:
        raise ShapeError(
            f"{name}: could not broadcast input array from shape {given} into shape {shape}. Axes "
            "are matched from the last one, and must be equal or 1."
        )


def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """Zeros of the shape and dtype of `a`, unless they are given.

    >>> jnp.zeros_like(jnp.arange(3))
    Array([0, 0, 0], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("zeros_like", out_sharding)
    return _constant_like("zeros_like", a, 0, dtype, shape, device)


def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """Ones of the shape and dtype of `a`, unless they are given.

    >>> jnp.ones_like(jnp.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("ones_like", out_sharding)
    return _constant_like("ones_like", a, 1, dtype, shape, device)


def empty_like(
    prototype: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """Zeros of the shape and dtype of `prototype`, unless they are given.

    >>> jnp.empty_like(jnp.arange(3))
    Array([0, 0, 0], dtype=int32)
    """
    return _constant_like("empty_like", prototype, 0, dtype, shape, device)


def _aval_like(name: str, a: Any, dtype: Any, shape: Any) -> ShapedArray:
    if hasattr(a, "shape") and hasattr(a, "dtype"):  # also a ShapeDtypeStruct: values don't matter
        found = dtypes.canonicalize(a.dtype, get().config.enable_x64)
        aval = ShapedArray(tuple(a.shape), found, bool(getattr(a, "weak_type", False)))
    else:
        aval = array_like(name, a).aval
    if dtype is not None:
        aval = aval.update(dtype=dtype_argument(name, dtype), weak_type=False)
    return aval if shape is None else aval.update(shape=shape_argument(name, shape))


def _constant_like(name: str, a: Any, value: int, dtype: Any, shape: Any, device: Any) -> Array:
    check_device(name, device)
    return _filled(name, _aval_like(name, a, dtype, shape), value)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """An array filled with one value, of the shape and dtype of `a`, unless they are given.

    Raises ValueError when the value does not broadcast.

    >>> jnp.full_like(jnp.arange(3), 7)
    Array([7, 7, 7], dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("full_like", out_sharding)
    check_device("full_like", device)
    aval = _aval_like("full_like", a, dtype, shape)
    if fill_value.__class__ in NUMBERS:
        value = plain_value("full_like", fill_value, aval.dtype)
        filled = host_array(value, ShapedArray((), aval.dtype, aval.weak_type))
        return _full("full_like", aval.shape, filled, None)
    return _full("full_like", aval.shape, fill_value, aval.dtype)


# ---- from buffers, iterators and functions ----------------------------------------------------
def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """The elements that lie in a buffer (bytes, memoryview, ..), as a 1-d array.

    Raises ValueError when the buffer's size does not fit the dtype.  Differs from NumPy: a copy,
    and 64-bit elements are narrowed while 64-bit types are off.

    >>> jnp.frombuffer(b"\\x01\\x00\\x02\\x00", dtype="int16")
    Array([1, 2], dtype=int16)
    """
    return asarray(np.frombuffer(buffer, dtypes.as_dtype(dtype), count, offset))


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1) -> Array:
    """The numbers that an iterator gives, as a 1-d array; the iterator is used up.

    Raises TypeError and OverflowError as `array` does.

    >>> jnp.fromiter((i * i for i in range(4)), dtype=int)
    Array([0, 1, 4, 9], dtype=int32)
    """
    values = list(iter)
    if count >= 0:
        if len(values) < count:
            raise ValueError(
                f"iterator too short: expected {count} but iterator had only {len(values)} items"
            )
        values = values[:count]
    return array(values, dtype)
