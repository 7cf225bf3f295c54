"""`ShapedArray`: what is known of an array before it has values."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from hloom import dtypes


class OversizedError(ValueError, MemoryError):
    """There is no array of 2**63 bytes or of 65 axes; `infer` rules say who would make one.

    NumPy raises ValueError for arrays that cannot be, and MemoryError for those that don't fit.
    """


class ShapedArray:
    """Shape, dtype and weak type of an array; interned, so equality is identity.

    A value is *weakly typed* when it stems from Python scalars only: it then takes the dtype of
    what it meets (JEP 9263).  `str` gives the jaxpr spelling.

    >>> hloom.core.ShapedArray((2, 3), np.dtype("float32"))
    ShapedArray(float32[2,3])
    >>> print(hloom.core.ShapedArray((2, 3), np.dtype("float32")))
    f32[2,3]
    """

    __slots__ = ("shape", "dtype", "weak_type", "ndim", "size", "kind", "bits", "is_wide", "_text")
    _interned: dict[tuple[Any, ...], ShapedArray] = {}

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool
    ndim: int
    size: int
    kind: str  # as `dtypes.kind` says; "float0" for float0
    bits: int  # of an element: `dtypes.bits`
    is_wide: bool  # of a 64-bit type: one that new values don't have while `enable_x64` is off
    _text: str
    sharding: Any  # where arrays of this type are, set by `control.devices`

    def __new__(
        cls, shape: tuple[int, ...], dtype: np.dtype[Any], weak_type: bool = False
    ) -> ShapedArray:
        key = (shape, dtype, weak_type)
        found = cls._interned.get(key)
        if found is None:
            found = cls._interned.setdefault(
                key, cls._make(tuple(shape), np.dtype(dtype), bool(weak_type))
            )
        return found

    @classmethod
    def _make(cls, shape: tuple[int, ...], dtype: np.dtype[Any], weak_type: bool) -> ShapedArray:
        self = object.__new__(cls)
        self.shape = tuple(map(int, shape))
        is_still = dtype == dtypes.float0
        # unpickled dtypes are equal, but other objects
        self.dtype = dtypes.float0 if is_still else dtypes.as_dtype(dtype)
        self.weak_type = weak_type
        self.ndim = len(shape)
        self.size = prod(shape)
        self.kind = "float0" if is_still else dtypes.kind(dtype)
        self.bits = 0 if is_still else dtypes.bits(dtype)
        self.is_wide = not is_still and dtypes.canonicalize(dtype, False) != dtype
        if len(shape) > 64:
            raise OversizedError(f"arrays have 64 axes at most, as in NumPy; got {len(shape)}")
        if prod(n or 1 for n in shape) * dtype.itemsize >= 2**63:  # so too where NumPy has none
            sizes = ",".join(map(str, self.shape))
            raise OversizedError(f"{dtype.name}[{sizes}] is of more bytes than 2**63 - 1")
        name = "float0" if is_still else dtypes.short_name(dtype)
        self._text = f"{name}[{','.join(map(str, self.shape))}]"
        return self

    def update(
        self, shape: Any = None, dtype: Any = None, weak_type: bool | None = None
    ) -> ShapedArray:
        """The aval that differs from this one in what is given."""
        return ShapedArray(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.weak_type if weak_type is None else weak_type,
        )

    def strong(self) -> ShapedArray:
        """The same without weak type."""
        return ShapedArray(self.shape, self.dtype) if self.weak_type else self

    def str_short(self) -> str:
        """The jaxpr spelling, `f32[2,3]`."""
        return self._text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        name = "float0" if self.dtype == dtypes.float0 else self.dtype.name
        return f"ShapedArray({name}[{','.join(map(str, self.shape))}]{weak})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ShapedArray, (self.shape, self.dtype, self.weak_type)
