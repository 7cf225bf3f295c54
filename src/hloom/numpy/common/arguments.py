"""Arguments that are no arrays: dtypes, shapes, counts; what is wrong, in NumPy's words."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, NoReturn

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.support import source
from hloom.core.support.known import is_known
from hloom.core.support.source import warn as warn
from hloom.core.trace import Tracer
from hloom.errors import ArgumentError, ShapeError
from hloom.errors.rewriting import changed, kept, nested
from hloom.errors.texts import explain

Axes = tuple[int, ...]
_LIMIT = 2**63 - 1


# What `dtype_argument` has answered without a warning, with 64-bit types off and on.
_answered: tuple[dict[Any, np.dtype[Any]], dict[Any, np.dtype[Any]]] = ({}, {})


def dtype_argument(name: str, dtype: Any) -> np.dtype[Any]:
    """The canonical dtype that an argument `dtype=` asks for.

    A 64-bit dtype asked for by name while those are off is narrowed, with a TruncationWarning;
    Python's `int`, `float` and `complex` mean the default dtypes, and say nothing.
    """
    x64 = current.get().config.enable_x64
    try:
        return _answered[x64][dtype]
    except (KeyError, TypeError):  # TypeError: not hashable, an array
        pass
    wanted = dtypes.as_dtype(dtype)
    given = dtypes.canonicalize(wanted, x64)
    if given is not wanted and not (dtype is int or dtype is float or dtype is complex):
        warn(errors.TruncationWarning.dtype(wanted, given, name, at=source.here()))
    elif isinstance(dtype, (str, type, np.dtype)) and len(_answered[x64]) < 1000:
        _answered[x64][dtype] = given
    return given


def warn_if_dropped(call: str, depth: int = 4) -> None:
    """Warn where a user's statement is nothing but `call`, which NumPy would do in place.

    `depth` is that of the user's frame: what they call is `told`, and calls this.
    """
    place = source.dropped(depth)
    if place is not None:
        warn(errors.DroppedUpdateWarning.changed(call, at=source.resolve(place)))


def refuse_inplace(name: str, call: str, error: type[Exception]) -> NoReturn:
    """Raise for a function that NumPy has write into its argument; `call` are its arguments."""
    code = changed(source.here(), inplace=False)
    rule = (
        f"{name}: arrays are immutable, so it can't write into its argument; take the changed copy "
        f"that it returns: x = jnp.{name}({call}, inplace=False)"
    )
    raise error(explain(rule, ways=[(code, "")] if code else []))


FEW = 128  # two numbers for each of the 64 axes that an array may have


def refuse_data(name: str, parameter: str, x: Any) -> None:
    """Raise TypeError for an array where a number, or a few of them, should be.

    It is not looked into: `sum(x, weights)` says so at once, however long `weights` are.
    """
    if not isinstance(x, (np.ndarray, Array)) or isinstance(x, Tracer) or not x.ndim:
        return
    if x.size > FEW or x.ndim > 2 or not dtypes.in_domain(x.dtype, "integer"):
        aval = ShapedArray(x.shape, x.dtype)
        raise TypeError(
            f"{name}: `{parameter}` takes a number or a few of them, not an array; got {aval}"
        )


def shape_argument(name: str, shape: Any) -> tuple[int, ...]:
    """A shape, given as one size or as a sequence of them.

    Raises TypeError for what is no integer, ValueError for a negative or an enormous size.
    """
    sizes = sizes_argument(name, shape)
    for n in sizes:
        if n < 0:
            raise ShapeError(f"{name}: negative dimensions are not allowed; got shape {sizes}")
        if n > _LIMIT:
            raise ValueError(f"{name}: maximum allowed dimension exceeded; got shape {sizes}")
    return sizes


def sizes_argument(name: str, shape: Any) -> tuple[int, ...]:
    """The integers of a shape, whatever they are; raises TypeError for what is no integer."""
    refuse_data(name, "shape", shape)
    try:
        return (
            tuple([index(n) for n in shape]) if isinstance(shape, (tuple, list)) else _sizes(shape)
        )
    except errors.TracerIntegerConversionError:
        raise _traced_shape(shape) from None
    except TypeError:
        if isinstance(shape, Tracer):
            raise _traced_shape(shape) from None
        raise ArgumentError(
            f"{name} takes a shape, an integer or a sequence of integers; got {shape!r:.60}"
        ) from None


def _sizes(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (str, bytes, bool)):
        raise TypeError
    try:
        return (index(shape),)
    except errors.TracerIntegerConversionError:
        raise
    except TypeError:
        return tuple([index(n) for n in shape])


def _traced_shape(shape: Any) -> Exception:
    sizes = shape if isinstance(shape, (tuple, list)) else [shape]
    first, *others = [n.traced() for n in sizes if isinstance(n, Tracer)]
    for other in others:
        first = first.beside(other)
    return errors.ConcretizationTypeError.shape(shape, first)


def count_argument(name: str, parameter: str, value: Any) -> int:
    """An integer argument; raises TypeError for what is none, naming the parameter."""
    if not is_known(value):
        raise errors.ConcretizationTypeError.parameter(name, parameter, value.traced())
    try:
        return index(value)
    except TypeError:
        raise ArgumentError(
            f"{name} takes an integer {parameter}; got {value!r:.60} ({type(value).__name__})"
        ) from None


def check_order(name: str, order: Any) -> None:
    """Raise ValueError for an unknown memory order; the known ones all mean row-major here."""
    if order not in (None, "K", "A", "C", "F"):
        raise ValueError(f"{name}: order must be one of 'C', 'F', 'A', or 'K'; got {order!r:.60}")


def refuse_out(name: str, out: Any, *, nests: bool = False) -> None:
    """Raise TypeError for an `out=` array: arrays are immutable.

    A function of two arrays `nests` where it is given three.
    """
    if out is not None:
        place = source.here()
        code = kept(place, "out") or (nested(place) if nests else "")
        raise errors.ImmutableArrayError.output(name, code, at=place)


def without_arrays(values: Sequence[Any]) -> bool:
    """Whether none of the values is an Array: they are numbers, or NumPy's, known on the host."""
    return not any(isinstance(x, Array) or hasattr(x, "__jax_array__") for x in values)


# ---- axes as users write them -------------------------------------------------------------------
def axis_argument(name: str, axis: Any, x: ShapedArray | int, parameter: str = "axis") -> int:
    """An axis of an array of this type (or of so many axes), counted from the front.

    Raises AxisError when there is no such axis, TypeError for what is no integer, or a bool.
    """
    ndim = x if isinstance(x, int) else x.ndim
    if not is_known(axis):
        raise errors.ConcretizationTypeError.parameter(name, parameter, axis.traced())
    try:
        found = index(None if isinstance(axis, bool) else axis)
    except TypeError:
        raise TypeError(f"{name} takes an integer {parameter}; got {axis!r:.60}") from None
    if not -ndim <= found < ndim:
        where = f"{name}, {parameter}" if isinstance(x, int) else f"{name} of {x}, {parameter}"
        raise errors.AxisError(found, ndim, where)
    return found % ndim


def axes_argument(name: str, axes: Any, x: ShapedArray | int, parameter: str = "axis") -> Axes:
    """One axis or several, counted from the front, in the order given.

    Raises as `axis_argument`, and ValueError for an axis given twice.
    """
    refuse_data(name, parameter, axes)
    many = axes if isinstance(axes, (tuple, list)) else _listed(axes)
    found = tuple([axis_argument(name, axis, x, parameter) for axis in many])
    if len(set(found)) != len(found):
        raise ShapeError(f"{name}: repeated axis in {parameter}, duplicate value in {tuple(many)}")
    return found


def _listed(axes: Any) -> list[Any]:
    if isinstance(axes, (np.ndarray, Array)) and axes.ndim == 1 and not isinstance(axes, Tracer):
        return list(axes)
    return [axes]
