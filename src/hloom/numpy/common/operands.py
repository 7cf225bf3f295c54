"""Array-likes, promotion and broadcasting: what every function of this layer starts with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import Config, current
from hloom.core.operands import as_array, from_numpy, overflow, scalar, weak_aval
from hloom.core.support.source import warn
from hloom.errors import ArgumentError, ShapeError
from hloom.numpy.common.sequences import from_sequence as sequence
from hloom.ops.common.linear import broadcast_in_dim
from hloom.ops.pointwise.convert import convert_element_type_p

_SCALARS = (bool, int, float, complex)


def array_like(name: str, x: Any, position: int = 0) -> Array:
    """An argument as an Array: arrays, numbers, NumPy arrays and (nested) sequences of numbers.

    Raises TypeError for anything else, naming the function.
    """
    if isinstance(x, Array):
        return x
    if isinstance(x, (list, tuple)):
        return sequence(name, x)
    try:
        return as_array(x)
    except TypeError as error:
        if hasattr(x, "__array__"):
            return from_numpy(np.asarray(x), current.get().config.enable_x64)
        raise ArgumentError(
            f"{name} takes arrays and numbers; argument {position} is {error}"
        ) from None
    except OverflowError as error:
        raise OverflowError(f"{name}, argument {position}: {error}") from None


_plans: dict[Any, tuple[np.dtype[Any], bool]] = {}


def _pair(x: Any, config: Config) -> tuple[np.dtype[Any], bool]:
    aval = x.aval if isinstance(x, Array) else weak_aval(x.__class__, config.enable_x64)
    return aval.dtype, aval.weak_type


def result_dtype(xs: Sequence[Any]) -> tuple[np.dtype[Any], bool]:
    """The common dtype of arrays and Python scalars, and whether it is weak."""
    config = current.get().config
    key = (config, *[x.aval if isinstance(x, Array) else x.__class__ for x in xs])
    found = _plans.get(key)
    if found is None:
        pairs = tuple([_pair(x, config) for x in xs])
        found = dtypes.join(pairs, config.enable_x64, config.numpy_dtype_promotion)
        if len(_plans) < 4096:
            _plans[key] = found
    return found


def _prepare(name: str, xs: Sequence[Any]) -> list[Any]:
    """Arrays as Arrays; Python scalars stay, they take the common dtype exactly."""
    return [
        x if isinstance(x, Array) or x.__class__ in _SCALARS else array_like(name, x, i)
        for i, x in enumerate(xs)
    ]


def _cast(name: str, xs: Sequence[Any], dtype: np.dtype[Any], weak: bool) -> list[Array]:
    made: list[Array] = []
    for x in xs:
        if isinstance(x, Array):
            made.append(
                convert_element_type_p(x, new_dtype=dtype, weak_type=weak)
                if x.aval.dtype is not dtype
                else x
            )
        else:
            made.append(_number(name, x, ShapedArray((), dtype, weak)))
    return made


def _number(name: str, x: Any, aval: ShapedArray) -> Array:
    try:
        return scalar(x, aval)
    except OverflowError:
        raise overflow(int(x.real), aval.dtype, after=f", in {name}") from None


def promote_dtypes(name: str, *xs: Any) -> list[Array]:
    """The operands as Arrays of their common dtype."""
    prepared = _prepare(name, xs)
    dtype, weak = result_dtype(prepared)
    return _cast(name, prepared, dtype, weak)


def promote_inexact(name: str, *xs: Any, wide: bool = False) -> list[Array]:
    """The operands as Arrays of their common float or complex dtype.

    Integers become the default float; `wide`: narrower floats too.
    """
    prepared = _prepare(name, xs)
    dtype, weak = result_dtype(prepared)
    x64 = current.get().config.enable_x64
    if dtypes.kind(dtype) not in ("float", "complex"):
        dtype = dtypes.default_float(x64)
    elif wide:
        default = dtypes.default_float if dtypes.kind(dtype) == "float" else dtypes.default_complex
        dtype = max(dtype, default(x64), key=dtypes.bits)
    return broadcast(name, _cast(name, prepared, dtype, weak))


def promote(name: str, *xs: Any) -> list[Array]:
    """The operands as Arrays of their common dtype, broadcast against each other."""
    if len(xs) == 2:
        known = _nothing_to_do(*xs)
        if known is not None:
            return known
    return broadcast(name, promote_dtypes(name, *xs))


def _nothing_to_do(x: Any, y: Any) -> list[Array] | None:
    """The commonest pairs, met at every step of a trace: equal types, or a number beside floats."""
    if not isinstance(x, Array):
        found = _nothing_to_do(y, x) if isinstance(y, Array) else None
        return found if found is None else found[::-1]
    aval = x.aval
    if isinstance(y, Array):
        return [x, y] if y.aval is aval else None
    if aval.dtype.kind == "f" and (y.__class__ is float or y.__class__ is int):
        return [x, scalar(y, ShapedArray((), aval.dtype, aval.weak_type))]
    return None


def broadcast(name: str, xs: Sequence[Array], any_rank: bool = False) -> list[Array]:
    """Arrays of one shape by NumPy's rules; 0-d ones stay, strict ops take them.

    `any_rank`: `numpy_rank_promotion` is not asked, as for what only chooses among elements.
    """
    shapes = [x.aval.shape for x in xs if x.aval.shape]
    if len(shapes) < 2 or all(s == shapes[0] for s in shapes):
        return list(xs)
    shape = broadcast_shapes(name, shapes)
    if not any_rank:
        check_ranks(name, shapes)
    return [broadcast_to(x, shape) if x.aval.shape else x for x in xs]


def broadcast_shapes(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that all broadcast to; raises ValueError with NumPy's words."""
    ndim = max(map(len, shapes))
    padded = [(1,) * (ndim - len(s)) + tuple(s) for s in shapes]
    result = []
    for sizes in zip(*padded):
        distinct = {n for n in sizes if n != 1}
        if len(distinct) > 1:
            raise ShapeError(
                f"{name}: operands could not be broadcast together with shapes "
                f"{' '.join(map(str, shapes))}. Axes are "
                "matched from the last one, and sizes must be equal or 1; insert axes with x[:, "
                "None]."
            )
        result.append(distinct.pop() if distinct else 1)
    return tuple(result)


def check_ranks(name: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """What `numpy_rank_promotion` says to shapes of two ranks: nothing, a warning or an error."""
    mode = current.get().config.numpy_rank_promotion
    if mode != "allow" and len({len(s) for s in shapes}) > 1:
        listed = " ".join(map(str, shapes))
        text = f"{name}: operands of different rank, with shapes {listed}, are broadcast"
        if mode == "raise":
            raise ShapeError(f"{text}, and numpy_rank_promotion is 'raise'")
        warn(text)


def broadcast_to(x: Array, shape: tuple[int, ...]) -> Array:
    """The array repeated to `shape` by NumPy's rules; the caller has checked that it can be."""
    if x.aval.shape == shape:
        return x
    first = len(shape) - x.aval.ndim
    return broadcast_in_dim(x, shape, tuple(range(first, len(shape))))
