"""What an array can be asked beside arithmetic: dtype and bits, parts, axes, elements.

Each function becomes a method or property of `Array`, attached in `operators`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from hloom import dtypes, errors
from hloom.control.devices import check_device
from hloom.core.array import Array, HostArray, _slot
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.support import source
from hloom.core.support.known import is_known
from hloom.core.support.tables import Tables
from hloom.core.trace import Tracer
from hloom.errors.rewriting import attribute_code, method_code
from hloom.errors.texts import explain
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import check_order, dtype_argument
from hloom.numpy.common.operands import array_like
from hloom.numpy.creation.creation import array
from hloom.numpy.indexing import indexing
from hloom.ops.common.linear import transpose
from hloom.ops.pointwise.complex import complex as lax_complex
from hloom.ops.pointwise.complex import imag as lax_imag
from hloom.ops.pointwise.complex import real as lax_real
from hloom.ops.pointwise.convert import bitcast_convert_type_p, convert_element_type
from hloom.ops.shapes.shape import reshape, rev
from hloom.ops.shapes.slicing import index_in_dim, stack

UINT8 = np.dtype("uint8")
_new = object.__new__
get = current.get


# ---- dtype and bits -----------------------------------------------------------------------------
_casts = Tables()


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Any:
    """The array converted to `dtype`: rounded to the nearest, floats to integers towards zero.

    None means the default float dtype.  An array that has the dtype already is returned as it is,
    unless `copy`.

    Raises TypeError for what is no dtype.  Differs from NumPy: a float out of an integer dtype's
    range becomes its nearest integer, NaN 0.

    >>> jnp.astype(jnp.array([1.7, -1.7]), int)
    Array([ 1, -1], dtype=int32)
    """
    if not isinstance(x, Array):
        x = array_like("astype", x)
    return method_astype(x, dtype, copy=copy, device=device)


def method_astype(
    self: Array,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = False,
    *,
    device: Any = None,
) -> Array:
    """The array converted to `dtype`; see `hloom.numpy.astype`.

    Raises TypeError when NumPy's rule `casting` does not allow the conversion.

    >>> jnp.arange(3).astype(float)
    Array([0., 1., 2.], dtype=float32)
    """
    if casting == "unsafe" and self.__class__ is Array and device is None:
        try:
            return _casts[get().key][self.aval, dtype]([self._buf])  # type: ignore[no-any-return]
        except (KeyError, RuntimeError, TypeError):
            pass
    return _astype(self, dtype, casting, copy, device)


def _astype(self: Array, dtype: Any, casting: str, copy: bool, device: Any) -> Array:
    """The general way of `astype`."""
    check_device("astype", device)
    wanted = (
        dtypes.default_float(get().config.enable_x64)
        if dtype is None
        else dtype_argument("astype", dtype)
    )
    if casting != "unsafe" and not dtypes.can_cast(self.aval.dtype, wanted, casting):
        raise TypeError(
            f"astype: Cannot cast array data from {self.aval.dtype!r} to {wanted!r} according to "
            f"the rule {casting!r}"
        )
    if self.aval.dtype == wanted and not self.aval.weak_type:
        return array(self) if copy else self
    if get().key is None or self.aval.kind == "complex":  # which warns each time
        return convert_element_type(self, wanted)  # type: ignore[no-any-return]

    def body(x: Any) -> Any:
        return convert_element_type(x, wanted)

    return eager.run(body, _casts, "astype", (self,), (_spelling(dtype, wanted),))  # type: ignore[no-any-return]


def _spelling(dtype: Any, wanted: np.dtype[Any]) -> Any:
    """What an executable is found by: the dtype as the user wrote it, unless that has to warn."""
    if dtype is None or dtype is int or dtype is float or dtype is complex:
        return dtype
    if isinstance(dtype, (str, type, np.dtype)) and dtypes.as_dtype(dtype) == wanted:
        return dtype
    return wanted


@eager.function(static=("dtype",))
def _view(x: Any, *, dtype: Any) -> Any:
    aval, old, new = x.aval, x.aval.bits, dtypes.bits(dtype)
    if old == new or not aval.ndim:
        return bitcast_convert_type_p(x, new_dtype=dtype)
    last = aval.shape[-1]
    if new > old:
        x = reshape(x, (*aval.shape[:-1], last * old // new, new // old))
        return bitcast_convert_type_p(x, new_dtype=dtype)
    return reshape(
        bitcast_convert_type_p(x, new_dtype=dtype), (*aval.shape[:-1], last * old // new)
    )


def view(self: Array, dtype: Any = None, type: Any = None) -> Array:
    """The same bits read as another dtype; the last axis shrinks or grows with the elements' width.

    Raises ValueError where the last axis can't.  Differs from NumPy: not the same memory.

    >>> jnp.array([1.0, -2.0]).view("uint32")
    Array([1065353216, 3221225472], dtype=uint32)
    """
    if type is not None:
        raise NotImplementedError(
            "view: there are no subclasses of arrays, so type= has no meaning"
        )
    if dtype is None:
        return self
    wanted = dtype_argument("view", dtype)
    if self.aval.dtype == wanted:
        return self
    _check_view(self.aval, wanted)
    kinds = {self.aval.kind, dtypes.kind(wanted)}
    made: Array = (_view_of_parts if kinds & {"bool", "complex"} else _view)(self, dtype=wanted)
    return made


@eager.function(static=("dtype",))
def _view_of_parts(x: Any, *, dtype: Any) -> Any:
    """bool is uint8 of 0 and 1; a complex number is two floats, the real part first."""
    if x.aval.kind == "complex":
        parts = stack([lax_real(x), lax_imag(x)], x.aval.ndim)
        return reshape(parts, (*x.aval.shape[:-1], 2 * x.aval.shape[-1]))
    if dtypes.kind(dtype) == "complex":
        pairs = reshape(x, (*x.aval.shape[:-1], x.aval.shape[-1] // 2, 2))
        last = pairs.aval.ndim - 1
        return lax_complex(*[index_in_dim(pairs, i, last, keepdims=False) for i in (0, 1)])
    if dtypes.kind(dtype) == "bool":
        return convert_element_type(_view(x, dtype=UINT8), dtype)
    return _view(convert_element_type(x, UINT8), dtype=dtype)


def _check_view(aval: ShapedArray, wanted: np.dtype[Any]) -> None:
    """Raise ValueError or TypeError where the bits can't be read as `wanted`."""
    old, new = (8 if d == np.bool_ else dtypes.bits(d) for d in (aval.dtype, wanted))
    kinds = [aval.kind, dtypes.kind(wanted)]
    if "complex" in kinds:
        part = {64: "float32", 128: "float64"}[old if kinds[0] == "complex" else new]
        if (wanted if kinds[0] == "complex" else aval.dtype).name != part:
            raise TypeError(
                f"view: {aval} can't be read as {wanted.name}: complex numbers are read as, and "
                "made of, floats of half their width"
            )
    elif wanted == np.bool_ and old != 8 and aval.size:
        raise TypeError(
            f"view: {aval} can't be read as bool: bytes of it are neither 0 nor 1; compare: x != 0"
        )
    if old != new and not aval.ndim:
        raise ValueError(
            "view: Changing the dtype of a 0d array is only supported if the itemsize is "
            f"unchanged; got {aval} and {wanted.name}"
        )
    if new > old and aval.shape[-1] * old % new:
        raise ValueError(
            "view: When changing to a larger dtype, its size must be a divisor of the total size "
            f"in bytes of the last axis of the array; got {aval} and {wanted.name}"
        )


@eager.unary
def byteswap(self: Any) -> Any:
    """The elements with their bytes in reverse order."""
    size = self.aval.dtype.itemsize
    if size == 1:
        return self
    parts = bitcast_convert_type_p(self, new_dtype=np.dtype("uint8"))
    return bitcast_convert_type_p(rev(parts, (parts.aval.ndim - 1,)), new_dtype=self.aval.dtype)


# ---- parts and axes -----------------------------------------------------------------------------
@eager.unary
def _reversed_axes(x: Any) -> Any:
    return transpose(x, tuple(range(x.aval.ndim))[::-1])


@eager.unary
def _matrices_transposed(x: Any) -> Any:
    axes = list(range(x.aval.ndim))
    return transpose(x, (*axes[:-2], axes[-1], axes[-2]))


def T(self: Array) -> Array:
    """The array with its axes in reverse order.

    >>> jnp.ones((2, 3)).T.shape
    (3, 2)
    """
    found: Array = _reversed_axes(self) if self.aval.ndim > 1 else self
    return found


def mT(self: Array) -> Array:
    """The array with its last two axes swapped.

    Raises ValueError for fewer than two axes.

    >>> jnp.ones((4, 2, 3)).mT.shape
    (4, 3, 2)
    """
    if self.aval.ndim < 2:
        raise ValueError(f"matrix transpose with ndim < 2 is undefined; got {self.aval}")
    found: Array = _matrices_transposed(self)
    return found


@eager.unary
def _flat(x: Any) -> Any:
    return reshape(x, (x.aval.size,))


def flatten(self: Array, order: str = "C") -> Array:
    """The elements in row-major order (column-major for order "F"), as a 1-d array.

    >>> jnp.array([[1, 2], [3, 4]]).flatten("F")
    Array([1, 3, 2, 4], dtype=int32)
    """
    check_order("flatten", order)
    found: Array = _flat(T(self) if order == "F" else self)
    return found


def flat(self: Array) -> Array:
    """The elements in row-major order, as a 1-d array to index or iterate over.

    Differs from NumPy: an array, not an iterator.

    >>> jnp.array([[1, 2], [3, 4]]).flat[2]
    Array(3, dtype=int32)
    """
    found: Array = _flat(self)
    return found


def base(self: Array) -> None:
    """None: arrays share no memory that could be seen."""


def strides(self: Array) -> tuple[int, ...]:
    """Bytes from one element to the next along each axis, row-major.

    >>> jnp.ones((2, 3)).strides
    (12, 4)
    """
    step, found = self.aval.dtype.itemsize, []
    for n in reversed(self.aval.shape):
        found.append(step)
        step *= max(n, 1)
    return tuple(reversed(found))


def flags(self: Array) -> Any:
    """The flags of the NumPy array that shows this one: contiguous, not writeable."""
    return np.asarray(self).flags


def data(self: Array) -> memoryview:
    """The elements as a read-only buffer."""
    return np.asarray(self).data


def ctypes(self: Array) -> Any:
    """What passes the elements to C, for reading: `ctypes` of the NumPy array behind."""
    return np.asarray(self).ctypes


def copy(self: Array, order: str = "C") -> Array:
    """A copy, with a buffer of its own.

    >>> jnp.arange(2).copy()
    Array([0, 1], dtype=int32)
    """
    check_order("copy", order)
    return array(self)


def shallow_copy(self: Array) -> Array:
    """`copy.copy(x)`: elements are no objects, so it is `x.copy()`, traced too.

    On the device: once the host has looked at an array's memory it is not donated any more.
    """
    return array(self)


def deep_copy(self: Array, memo: Any) -> Array:
    """`copy.deepcopy(x)`, which is the same."""
    return array(self)


# ---- as a sequence ------------------------------------------------------------------------------
KEPT = 1 << 16  # bytes that one element of a list may keep alive


def iterate(self: Array) -> Iterator[Array]:
    """Elements of a 1-d array come from the host, all at once; other rows are indexed in turn."""
    if not self.aval.shape:
        raise TypeError("iteration over a 0-d array")
    if isinstance(self, Tracer):
        return iter([index_in_dim(self, i, 0, keepdims=False) for i in range(self.aval.shape[0])])
    if self.aval.ndim == 1:
        return iter(_elements(self))
    return (indexing.getitem(self, i) for i in range(self.aval.shape[0]))


def _elements(self: Array) -> list[Array]:
    value = self._value()
    aval = ShapedArray((), self.aval.dtype, self.aval.weak_type)
    if value.nbytes > KEPT:
        held = [np.array(each, dtype=value.dtype) for each in value]
    else:
        held = [value[i, ...] for i in range(len(value))]
    set_value = _slot.__set__
    made = []
    for each in held:
        element: Any = _new(HostArray)
        set_value(element, each)
        element.aval = aval
        made.append(element)
    return made


def contains(self: Array, value: Any) -> bool:
    """Whether any element equals `value`: `value in x`; nothing that is no number does."""
    equal: Any = self == value
    if isinstance(equal, bool):  # Python's answer for what no array compares with
        return equal and self.aval.size > 0
    return bool(equal.any())


def unhashable(self: Array) -> NoReturn:
    """Arrays have no hash."""
    if not is_known(self):
        raise self._not_concrete("hash")
    raise TypeError(
        f"unhashable type: 'hloom.Array' ({self.aval}): == compares element by element, so an "
        "array can't be a key. For a value use x.item() or tuple(x.tolist()); for the object id(x)."
    )


# ---- what NumPy does in place -------------------------------------------------------------------
def refused(name: str, way: str, names: tuple[str, ...]) -> Any:
    """A method that would change the array: it raises, and shows the way out.

    `way` is code that has `x` and the arguments, called `names`, in braces.
    """

    def method(self: Array, *args: Any, **kwargs: Any) -> NoReturn:
        place = source.here()
        raise errors.ImmutableArrayError.method(name, method_code(place, way, names), at=place)

    method.__name__ = name
    method.__doc__ = f"Arrays are immutable: use `{method_code(None, way, names)}`."
    return method


REFUSED = {
    "fill": ("{x} = jnp.full_like({x}, {value})", ("value",)),
    "put": ("{x} = jnp.put({x}, {indices}, {values}, inplace=False)", ("indices", "values")),
    "partition": ("{x} = jnp.partition({x}, {kth})", ("kth",)),
    "resize": ("{x} = jnp.resize({x}, {new_shape})", ("new_shape",)),
    "setfield": ("{x} = {x}.at[...].set({value})", ("value",)),
    "setflags": ("y = np.array({x})", ()),
}


def unassigned(name: str, way: str) -> Callable[[Array, Any], NoReturn]:
    """The setter of an attribute that NumPy lets be assigned; `way` is code without it."""

    def setter(self: Array, value: Any) -> NoReturn:
        place = source.here()
        rule = f"{name!r} of an Array can't be assigned: arrays are immutable"
        raise AttributeError(explain(rule, ways=[(attribute_code(place, way), "")]))

    return setter


ASSIGNED = {
    "shape": "{x} = {x}.reshape({value})",
    "dtype": "{x} = {x}.view({value})",
    "flat": "{x} = jnp.resize({value}, {x}.shape)",
}
