"""Files: NumPy's formats, read into arrays and written from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from hloom.core.array import Array
from hloom.numpy.common.operands import array_like
from hloom.numpy.creation.creation import array

NDArray = np.ndarray[Any, Any]

# The format has no name for bfloat16, and writes "two bytes of anything".
_BFLOAT16 = (np.dtype("V2"), np.dtype(ml_dtypes.bfloat16))


def _host(name: str, x: Any) -> NDArray:
    """The values of an array, a number or a list."""
    return np.asarray(array_like(name, x))


def _array(value: NDArray) -> Array:
    return array(value.view(_BFLOAT16[1]) if value.dtype == _BFLOAT16[0] else value)


class Archive(Mapping[str, Array]):
    """The arrays of an .npz file by name, each read when it is asked for."""

    def __init__(self, file: Any):
        self._file = file

    def __getitem__(self, name: str) -> Array:
        return _array(self._file[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.files)

    def __len__(self) -> int:
        return len(self._file.files)

    @property
    def files(self) -> list[str]:
        """The names."""
        return list(self._file.files)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Archive({', '.join(self.files)})"


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array in an .npy file, or a mapping of those in an .npz file.

    The arguments are those of `np.load`.  Raises what it raises, and TypeError for values that are
    no numbers.  Differs from NumPy: 64-bit values are narrowed while 64-bit types are off.

    >>> import io
    >>> buffer = io.BytesIO()
    >>> jnp.save(buffer, jnp.arange(3))
    >>> _ = buffer.seek(0)
    >>> jnp.load(buffer)
    Array([0, 1, 2], dtype=int32)
    """
    found = np.load(file, *args, **kwargs)
    return _array(found) if isinstance(found, np.ndarray) else Archive(found)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to an .npy file.

    >>> import io
    >>> jnp.save(io.BytesIO(), jnp.arange(3))
    """
    np.save(file, _host("save", arr), allow_pickle)


def _named(name: str, args: Any, kwargs: Any) -> tuple[list[NDArray], dict[str, NDArray]]:
    return [_host(name, x) for x in args], {k: _host(name, x) for k, x in kwargs.items()}


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to an .npz file, under `arr_0, arr_1, ..` or the keywords' names.

    >>> import io
    >>> buffer = io.BytesIO()
    >>> jnp.savez(buffer, x=jnp.arange(2))
    >>> _ = buffer.seek(0)
    >>> jnp.load(buffer)["x"]
    Array([0, 1], dtype=int32)
    """
    arrays, named = _named("savez", args, kwds)
    np.savez(file, *arrays, **named)


def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to a compressed .npz file, as `savez` does.

    >>> import io
    >>> jnp.savez_compressed(io.BytesIO(), x=jnp.arange(2))
    """
    arrays, named = _named("savez_compressed", args, kwds)
    np.savez_compressed(file, *arrays, **named)


def savetxt(fname: Any, X: Any, *args: Any, **kwargs: Any) -> None:
    """Write an array to a text file; the arguments are those of `np.savetxt`.

    >>> import io
    >>> text = io.StringIO()
    >>> jnp.savetxt(text, jnp.arange(2), fmt="%d")
    >>> text.getvalue()
    '0\\n1\\n'
    """
    np.savetxt(fname, _host("savetxt", X), *args, **kwargs)


def loadtxt(fname: Any, *args: Any, **kwargs: Any) -> Array:
    """The numbers of a text file; the arguments are those of `np.loadtxt`.

    >>> import io
    >>> jnp.loadtxt(io.StringIO("1 2\\n3 4"))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return array(np.loadtxt(fname, *args, **kwargs))


def genfromtxt(fname: Any, *args: Any, **kwargs: Any) -> Array:
    """The numbers of a text file, gaps filled; the arguments are those of `np.genfromtxt`.

    >>> import io
    >>> jnp.genfromtxt(io.StringIO("1,,3"), delimiter=",")
    Array([ 1., nan,  3.], dtype=float32)
    """
    return array(np.genfromtxt(fname, *args, **kwargs))


def fromfile(file: Any, *args: Any, **kwargs: Any) -> Array:
    """The numbers of a file without a format; the arguments are those of `np.fromfile`.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     jnp.arange(3).tofile(os.path.join(folder, "x"))
    ...     jnp.fromfile(os.path.join(folder, "x"), dtype="int32")
    Array([0, 1, 2], dtype=int32)
    """
    return array(np.fromfile(file, *args, **kwargs))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Array:
    """The numbers in a text, which `sep` separates.

    Raises ValueError for an empty `sep`: for bytes there is `frombuffer`.

    >>> jnp.fromstring("1 2 3", sep=" ")
    Array([1., 2., 3.], dtype=float32)
    """
    if not sep:
        raise ValueError("fromstring takes numbers apart at sep; for bytes use jnp.frombuffer")
    return array(np.fromstring(string, dtype, count, sep=sep))
