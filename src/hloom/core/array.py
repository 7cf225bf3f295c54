"""`Array`: what user code holds.  Immutable; one runtime buffer and an abstract value.

Operators and NumPy's methods are filled in once by `hloom.numpy.operators`; here is what does
not compute: attributes, conversion to Python and NumPy, printing, pickling, life on the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct
from typing import Any, NoReturn

import numpy as np

from hloom import errors
from hloom.core.aval import ShapedArray
from hloom.core.support import executable, source
from hloom.errors.rewriting import truth
from hloom.errors.texts import explain

_new = object.__new__

# Unpacking a 0-d buffer beats np.asarray + item() by half (0.32 against 0.66 us).
_SCALARS = {
    np.dtype(name): Struct("=" + code)
    for name, code in [
        ("float32", "f"),
        ("float64", "d"),
        ("int32", "i"),
        ("int64", "q"),
        ("bool", "?"),
    ]
    + [
        ("int8", "b"),
        ("int16", "h"),
        ("uint8", "B"),
        ("uint16", "H"),
        ("uint32", "I"),
        ("uint64", "Q"),
    ]
}


class Array:
    """An immutable n-dimensional array on a device.

    Made by the functions of `hloom.numpy`; not to be called.  Inside `jit`, `grad` and `vmap` the
    same class represents traced values, so `isinstance(x, hloom.Array)` holds there too.

    Differs from `numpy.ndarray`: immutable (`x.at[i].set(y)` returns a changed copy), results are
    computed asynchronously, Python scalars are weakly typed.

    >>> jnp.arange(3) * 2
    Array([0, 2, 4], dtype=int32)
    """

    __slots__ = {
        "_buf": "The runtime's buffer.",
        "aval": "Shape, dtype and whether that is weak: `float32[2,3]`.",
        "_run": "The token of a program with many results, to wait for all of them at once.",
        "__weakref__": None,
    }
    __array_priority__ = 100  # so that `ndarray + Array` is ours
    __hash__: Any = None  # the numpy layer installs a clear error

    _buf: Any
    aval: ShapedArray
    _run: Any

    def __init__(self, *args: Any, **kwargs: Any):
        raise TypeError(
            "hloom.Array can't be called; make arrays with hloom.numpy.array(...) or asarray(...)"
        )

    # ---- attributes -------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type, a NumPy dtype."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """Whether the dtype stems from Python scalars only, and yields to other dtypes."""
        return self.aval.weak_type

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.size * self.aval.dtype.itemsize

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of unsized object: the array is 0-d")
        return self.aval.shape[0]

    # ---- to Python --------------------------------------------------------------------------
    def _value(self) -> np.ndarray[Any, Any]:
        """The value as a read-only ndarray, in the array's own dtype; waits for it."""
        value: np.ndarray[Any, Any] = executable.get(self._buf, self.aval)
        return value

    def _scalar(self, wanted: str) -> Any:
        """The only element as a Python scalar."""
        concrete = self.concrete()
        if concrete is None:
            raise self._not_concrete(wanted)
        aval = concrete.aval
        if aval.shape:
            if aval.size != 1 or wanted != "bool":
                raise TypeError(
                    f"only 0-dimensional arrays can be converted to Python scalars: {wanted}() of "
                    f"{aval}. "
                    f"Take one element, x[{', '.join('0' * aval.ndim)}], or use x.item()."
                )
            return concrete._value().reshape(()).item()
        struct = _SCALARS.get(aval.dtype)
        if struct is None or concrete.__class__ is not Array:
            return concrete._value().item()
        try:
            return struct.unpack(concrete._buf)[0]
        except BufferError:
            return concrete._value().item()

    def concrete(self) -> Array | None:
        """The array itself; a tracer answers None where its value is not known."""
        return self

    def _not_concrete(self, wanted: str) -> Exception:
        raise NotImplementedError

    def __bool__(self) -> bool:
        if self.aval.size != 1:
            raise self._ambiguous()
        return bool(self._scalar("bool"))

    def _ambiguous(self) -> ValueError:
        """The error for the truth value of an array that has not just one element."""
        if self.aval.size == 0:
            return ValueError(
                f"the truth value of an empty array, {self.aval}, is ambiguous: use `x.size > 0`"
            )
        rule = f"the truth value of an array with more than one element, {self.aval}, is ambiguous"
        place = source.here()
        if self.concrete() is None:
            names = self.traced().arguments  # type: ignore[attr-defined]
            ways = truth(place, names, many=True, traced=True)
            ways = ways or [("jnp.where(p, a, b)", "choose element by element")]
            return ValueError(explain(rule, ways=ways, at=place))
        ways = truth(place, (), many=True, traced=False)
        return ValueError(explain(rule if ways else f"{rule}: use x.any() or x.all()", ways=ways))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if self.aval.shape or self.aval.kind not in ("signed", "unsigned"):
            rule = "only integer scalar arrays can be converted to a scalar index"
            way = ". Take one element." if self.aval.shape else ". Convert it: int(x)."
            known = self.concrete() is not None
            raise TypeError(f"{rule}; got {self.aval}{way if known else ''}")
        return int(self._scalar("index"))

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None and not self.aval.shape:
            return round(self._scalar("round"))
        return self.round(ndigits or 0)  # type: ignore[attr-defined]

    def item(self, *index: Any) -> Any:
        """One element as a Python scalar: the only one, or that at `index` (flat, or one per axis).

        Raises ValueError when there is not just one element and no index.

        >>> jnp.array([1.5]).item()
        1.5
        """
        if self.concrete() is None:
            raise self._not_concrete("item")
        value = self._value_of_concrete()
        if index or value.size == 1:
            return value.item(*index)
        raise ValueError(
            f"can only convert an array of size 1 to a Python scalar; this is {self.aval}. All of "
            "its elements are x.tolist()."
        )

    def tolist(self) -> Any:
        """Nested lists of Python scalars.

        >>> jnp.array([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self._value_of_concrete("tolist").tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """The elements' bytes.

        >>> jnp.array([1, 2], jnp.uint8).tobytes()
        b'\\x01\\x02'
        """
        return self._value_of_concrete("tobytes").tobytes(order)  # type: ignore[arg-type]

    def _value_of_concrete(self, wanted: str = "array") -> np.ndarray[Any, Any]:
        concrete = self.concrete()
        if concrete is None:
            raise self._not_concrete(wanted)
        return concrete._value()

    # ---- to NumPy and others ----------------------------------------------------------------
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if dtype is None and not copy and self.__class__ is Array:
            return self._value()
        value = self._value_of_concrete()
        if dtype is not None and np.dtype(dtype) != value.dtype:
            if copy is False:
                raise ValueError(
                    f"converting {self.aval} to {np.dtype(dtype).name} needs a copy, but copy=False"
                )
            return value.astype(dtype)
        return value.copy() if copy else value

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return Array.namespace(api_version)

    namespace: Any = None  # set by hloom.numpy: api_version -> the hloom.numpy module

    # ---- printing ---------------------------------------------------------------------------
    def __repr__(self) -> str:
        return text_of(self)

    def __str__(self) -> str:
        return str(self._value())

    def __format__(self, spec: str) -> str:
        if self.aval.shape:
            if not spec:
                return str(self)
            raise TypeError(
                f"unsupported format string {spec!r} for an array, {self.aval}; format its elements"
            )
        return format(self._value_of_concrete()[()], spec)

    # ---- pickling ---------------------------------------------------------------------------
    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (np.array(self._value_of_concrete()), self.aval)

    # ---- on the device ----------------------------------------------------------------------
    def block_until_ready(self) -> Array:
        """Wait until the value is computed, and return the array.

        Raises what the computation raised.

        >>> jnp.ones(2).block_until_ready()
        Array([1., 1.], dtype=float32)
        """
        try:
            self._buf.block_until_ready()
        except RuntimeError as error:
            raise executable.explain(error, "the array", (self,)) from None
        return self

    def is_ready(self) -> bool:
        """Whether the value is computed already."""
        return bool(self._buf.is_ready())

    def delete(self) -> None:
        """Free the buffer; any later use raises.

        >>> x = jnp.ones(2)
        >>> x.delete()
        >>> x.is_deleted()
        True
        """
        buffer = self._buf
        executable.ENGINES["xla"].delete(buffer)

    def is_deleted(self) -> bool:
        """Whether the buffer was deleted or donated."""
        return bool(self._buf.is_deleted())

    # ---- what an immutable array refuses ----------------------------------------------------
    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        frame = source.frame()
        scope = frame.f_globals | frame.f_locals if frame is not None else {}
        raise errors.ImmutableArrayError.assignment(
            "Array", index, value, at=source.here(), scope=scope
        )

    def __delitem__(self, index: Any) -> NoReturn:
        raise errors.ImmutableArrayError.deletion("Array", index, at=source.here())

    def __iter__(self) -> Iterator[Array]:
        raise NotImplementedError  # filled by hloom.numpy.operators


def text_of(x: Array, **options: Any) -> str:
    """`Array([1., 2.], dtype=float32)`; `options` are those of `np.array2string`.

    Lines are broken where NumPy breaks them, before the dtype too.
    """
    kind = f"dtype={x.aval.dtype.name}" + (", weak_type=True" if x.aval.weak_type else "") + ")"
    if x.aval.size:
        text = np.array2string(x._value(), separator=", ", prefix="Array(", suffix=",", **options)
    else:
        text = f"[], shape={x.aval.shape}"
    text = f"Array({text},"
    width = options.get("max_line_width") or np.get_printoptions()["linewidth"]
    last = len(text) - (text.rfind("\n") + 1)
    gap = "\n      " if last + len(kind) + 1 > width else " "
    return f"{text}{gap}{kind}"


def _unpickle(value: np.ndarray[Any, Any], aval: ShapedArray) -> Array:
    return from_ndarray(value, aval)


_slot = Array.__dict__["_buf"]


class HostArray(Array):
    """A 0-d array whose value is still on the host: it is put on the device at first use.

    Elements of `list(x)`, Python scalars on their way into a trace, and constants are made so:
    they often never reach the device.  On first use it becomes a plain `Array`.
    """

    __slots__ = ()

    @property
    def _buf(self) -> Any:
        held = _slot.__get__(self)
        if not isinstance(held, np.ndarray):
            return held
        buffer = executable.put(held, self.aval)
        _slot.__set__(self, buffer)
        self.__class__ = Array  # type: ignore[assignment]
        return buffer

    def _value(self) -> np.ndarray[Any, Any]:
        held = _slot.__get__(self)
        return held if isinstance(held, np.ndarray) else super()._value()

    def block_until_ready(self) -> Array:
        return self  # the value is here; nothing needs to be on the device

    def is_ready(self) -> bool:
        return True


HostArray.__name__ = HostArray.__qualname__ = Array.__name__  # a user is to see one type


def host_array(value: Any, aval: ShapedArray) -> HostArray:
    """A `HostArray` of this aval; `value` is anything `np.array` takes."""
    held = np.array(value, dtype=aval.dtype)
    held.flags.writeable = False
    made: HostArray = _new(HostArray)
    _slot.__set__(made, held)
    made.aval = aval
    return made


def from_buffer(buffer: Any, aval: ShapedArray) -> Array:
    """The `Array` that wraps a runtime buffer."""
    made: Array = _new(Array)
    made._buf = buffer
    made.aval = aval
    return made


def from_buffers(
    buffers: Sequence[Any], avals: Sequence[ShapedArray], run: Any = None
) -> list[Array]:
    """The arrays that wrap the results of one program; `run` is the token of its execution."""
    made = []
    for buffer, aval in zip(buffers, avals):
        array: Array = _new(Array)
        array._buf = buffer
        array.aval = aval
        array._run = run
        made.append(array)
    return made


def wait_for_all(values: Iterable[Any]) -> list[Any]:
    """Wait for the arrays among `values`, once for each program: 12 us less for 50 results of one.

    Returns what is not a plain array.
    """
    others = []
    done = None
    for x in values:
        if x.__class__ is not Array:
            others.append(x)
            continue
        try:
            run = x._run
        except AttributeError:
            run = None
        if run is None:
            x.block_until_ready()
        elif run is not done:
            _wait_for_run(run, x)
            done = run
    return others


def _wait_for_run(run: Any, x: Array) -> None:
    try:
        run.block_until_ready()
    except RuntimeError:
        x.block_until_ready()  # raises in our words
        raise


def from_ndarray(value: np.ndarray[Any, Any], aval: ShapedArray) -> Array:
    """An `Array` with a copy of the ndarray's values, which have the aval's shape and dtype."""
    return from_buffer(executable.put(value, aval), aval)
