"""Ranges of numbers: arange, linspace, logspace, geomspace.

Of numbers known on the host NumPy's own function makes the values, in double precision where it
does, so that they are NumPy's to the last bit; traced, the same formula is written in lax.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.control.devices import check_device
from hloom.core.array import Array, from_ndarray
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.operands import scalar, unmasked
from hloom.core.support.known import is_known
from hloom.core.support.strict import refuse_sharding
from hloom.errors import ArgumentError, ConcretizationTypeError, ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import count_argument, dtype_argument, without_arrays
from hloom.numpy.common.operands import array_like, broadcast, broadcast_to, result_dtype
from hloom.numpy.common.python_integers import check_bounds
from hloom.numpy.common.sequences import put
from hloom.numpy.creation.creation import static
from hloom.ops.common.linear import move, spread_scalar
from hloom.ops.pointwise.arithmetic import add, div, mul, sub
from hloom.ops.pointwise.binary import pow
from hloom.ops.pointwise.compare import eq, select
from hloom.ops.pointwise.convert import convert_element_type_p, numpy_convert
from hloom.ops.pointwise.exponential import exp, log
from hloom.ops.pointwise.unary import floor, sign
from hloom.ops.shapes.shape import iota_p

NDArray = np.ndarray[Any, Any]
get = current.get


REAL = {int, float}
SHORT = 1 << 15  # numbers that are sent from the host without a second look


def iota(dtype: np.dtype[Any], shape: tuple[int, ...], axis: int) -> Array:
    """Each element its own position along `axis`, in any dtype, 64-bit ones too."""
    found: Array = iota_p(dtype=dtype, shape=shape, dimension=axis)
    return found


# ---- arange -----------------------------------------------------------------------------------
def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    out_sharding: None = None,
) -> Array:
    """Numbers from `start` up to `stop`, without it, in steps of `step`; 0 up to a lone `start`.

    Without `dtype` it is the one that the arguments promote to.  All of them decide the result's
    shape, so they can't be traced.

    Raises ZeroDivisionError for a step of 0, ValueError for NaN and for too many numbers, TypeError
    for what is not a real number.  Differs from NumPy: the default dtypes are 32-bit.

    >>> jnp.arange(5), jnp.arange(1, 2, 0.25)
    (Array([0, 1, 2, 3, 4], dtype=int32), Array([1.  , 1.25, 1.5 , 1.75], dtype=float32))
    """
    if out_sharding is not None:
        refuse_sharding("arange", out_sharding)
    if device is not None:
        check_device("arange", device)
    if start.__class__ is int and dtype is None is step is stop and 0 <= start < SHORT:
        context = get()
        if context.key is not None:  # the commonest call by far
            found = dtypes.default_int(context.config.enable_x64)
            return from_ndarray(np.arange(start, dtype=found), ShapedArray((start,), found))
    return _numbers(start, stop, step, dtype)


def _numbers(start: Any, stop: Any, step: Any, dtype: Any) -> Array:
    """The general way of `arange`."""
    names = ("start", "stop", "step") if stop is not None else ("stop", "stop", "step")
    first, last, by = map(_bound, names, (start, stop, step))
    given = [x for x in (first, last, by) if x is not None]
    if first is None:
        raise TypeError("arange takes at least one number; got start=None")
    target = _arange_dtype(given) if dtype is None else dtype_argument("arange", dtype)
    if last is None:
        first, last = 0, first
    if by is None:
        by = 1
    if by == 0:
        raise ZeroDivisionError("arange: the step is 0")
    whole = all(isinstance(x, (int, np.integer)) for x in (first, last, by))
    if whole and dtypes.kind(target) in ("signed", "unsigned"):
        return _integers(int(first), int(last), int(by), target)
    return _arange(first, last, by, target, None if dtype is None else target)


def _bound(parameter: str, x: Any) -> Any:
    """One argument of `arange` as a Python or NumPy number."""
    if x is None or x.__class__ in (int, float):
        return x
    if not is_known(x):
        raise ConcretizationTypeError.parameter("arange", parameter, x.traced())
    value = unmasked(x)
    if value.ndim:
        raise ShapeError(
            f"arange takes numbers; {parameter} has shape {value.shape}. Take one element, x[0]."
        )
    if not dtypes.is_supported(value.dtype) or dtypes.kind(value.dtype) == "complex":
        raise ArgumentError(f"arange takes real numbers; got {parameter}={x!r:.60}")
    if isinstance(x, (bool, int, float)):
        return x
    return value[()]


def _arange_dtype(given: list[Any]) -> np.dtype[Any]:
    config = get().config
    pairs = []
    for x in given:
        if isinstance(x, (bool, int, float)) and not isinstance(x, np.generic):
            pairs.append((dtypes.scalar_dtype(type(x), config.enable_x64), not isinstance(x, bool)))
        else:
            pairs.append((dtypes.canonicalize(x.dtype, config.enable_x64), False))
    dtype = dtypes.join(tuple(pairs), config.enable_x64, config.numpy_dtype_promotion)[0]
    return dtypes.default_int(config.enable_x64) if dtypes.kind(dtype) == "bool" else dtype


def _integers(start: int, stop: int, step: int, dtype: np.dtype[Any]) -> Array:
    """Integers, all of which must be of the dtype."""
    numbers = range(start, stop, step)
    count = max((stop - start + step - (1 if step > 0 else -1)) // step, 0)
    if count > 2**63 - 1:
        raise ValueError(f"arange: Maximum allowed size exceeded; {numbers} are {count} numbers")
    if count:
        check_bounds("arange", numbers[0], dtype)
        check_bounds("arange", numbers[-1], dtype)

    def traced() -> Array:
        made = iota(dtype, (count,), 0)
        if step != 1:
            made = mul(made, scalar(step, ShapedArray((), dtype)))
        return made if start == 0 else add(made, scalar(start, ShapedArray((), dtype)))

    return static(
        ShapedArray((count,), dtype), lambda: np.arange(start, stop, step).astype(dtype), traced
    )


def _arange(
    start: Any, stop: Any, step: Any, dtype: np.dtype[Any], asked: np.dtype[Any] | None
) -> Array:
    """Any real numbers, as NumPy makes them: in the dtype asked for, else in its own."""
    length = np.ceil(np.true_divide(np.subtract(stop, start, dtype=float), float(step)))
    if not np.isfinite(length):
        what = "NaN" if np.isnan(length) else "infinity"
        kind = ValueError if np.isnan(length) else OverflowError
        raise kind(
            f"arange: cannot convert float {what} to a length; got {start!r}, {stop!r}, {step!r}"
        )
    if length >= 2**31:
        raise ValueError(
            f"arange: Maximum allowed size exceeded; from {start!r} to {stop!r} are {length:.0f}"
        )
    count = max(int(length), 0)

    def traced() -> Array:
        wide = np.dtype("complex128" if dtypes.kind(dtype) == "complex" else "float64")
        made = iota(wide, (count,), 0)
        made = add(
            mul(made, scalar(float(step), ShapedArray((), wide))),
            scalar(float(start), ShapedArray((), wide)),
        )
        return convert_element_type_p(made, new_dtype=dtype, weak_type=False)

    def on_host() -> NDArray:
        values = np.arange(start, stop, step, dtype=asked)
        return numpy_convert(values, dtype) if values.dtype != dtype else values

    return static(ShapedArray((count,), dtype), on_host, traced)


# ---- linspace, logspace, geomspace --------------------------------------------------------------
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` numbers evenly spaced from `start` to `stop`, which is left out without `endpoint`.

    `start` and `stop` may be arrays, which broadcast; numbers then run along the new axis `axis`.
    With `retstep` the result is a pair with the step.

    Raises ValueError for a negative `num`, TypeError for one that is no integer.

    >>> jnp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    check_device("linspace", device)
    spacing = _spacing("linspace", (start, stop), num, endpoint, dtype, axis)
    usual = spacing.on_host and not (retstep or dtype or axis)
    if usual and {start.__class__, stop.__class__} <= REAL:
        return spacing.sent(_even_numbers(float(start), float(stop), spacing))
    if spacing.on_host:
        values, step = np.linspace(
            start, stop, spacing.num, spacing.endpoint, retstep=True, dtype=spacing.asked, axis=axis
        )
        if dtypes.in_domain(spacing.dtype, "integer"):
            values = np.floor(values)
        made = spacing.sent(values)
        return (made, put(numpy_convert(np.asarray(step), spacing.inexact))) if retstep else made
    return _linspace(*spacing.operands(start, stop), spacing=spacing, retstep=bool(retstep))


def _even_numbers(start: float, stop: float, spacing: Spacing) -> NDArray:
    """`np.linspace` of two Python numbers, its arithmetic step by step, in a third of its time."""
    numbers = np.arange(spacing.num, dtype=np.float64)
    parts = spacing.num - spacing.endpoint
    step = (stop - start) / parts if parts > 0 else 0.0
    if step:
        numbers *= step
    else:  # there is none, or it underflows
        numbers /= max(parts, 1)
        numbers *= stop - start
    numbers += start
    if spacing.endpoint and spacing.num > 1:
        numbers[-1] = stop
    return numbers


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """`num` numbers from `base**start` to `base**stop` whose logarithms are evenly spaced.

    Raises what `linspace` raises.

    >>> jnp.logspace(0, 3, 4)
    Array([   1.,   10.,  100., 1000.], dtype=float32)
    """
    spacing = Spacing("logspace", (start, stop, base), num, endpoint, dtype, axis)
    if spacing.on_host:
        asked = spacing.asked
        return spacing.sent(
            np.logspace(start, stop, spacing.num, spacing.endpoint, base, asked, axis)
        )
    made: Array = _logspace(*spacing.operands(start, stop, base), spacing=spacing)
    return made


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """`num` numbers from `start` to `stop`, each the same multiple of the one before.

    Raises ValueError for a zero among values known on the host (elsewhere the result is NaN), and
    what `linspace` raises.

    >>> jnp.geomspace(1, 1000, 4)
    Array([   1.,   10.,  100., 1000.], dtype=float32)
    """
    spacing = Spacing("geomspace", (start, stop), num, endpoint, dtype, axis)
    if spacing.on_host:
        return spacing.sent(
            np.geomspace(start, stop, spacing.num, spacing.endpoint, spacing.asked, axis)
        )
    made: Array = _geomspace(*spacing.operands(start, stop), spacing=spacing)
    return made


class Spacing:
    """What the three share: how many numbers, of which dtype, and whether the host makes them."""

    __slots__ = ("num", "endpoint", "axis", "dtype", "inexact", "work", "asked", "on_host")

    def __init__(
        self, name: str, values: tuple[Any, ...], num: Any, endpoint: Any, dtype: Any, axis: Any
    ):
        self.num = count_argument(name, "num", num)
        if self.num < 0:
            raise ShapeError(f"{name}: Number of samples, {self.num}, must be non-negative.")
        self.endpoint = bool(endpoint)
        self.axis = count_argument(name, "axis", axis)
        x64 = get().config.enable_x64
        known = without_arrays(values)
        arrays = [
            x if x.__class__ in (bool, int, float, complex) else array_like(name, x) for x in values
        ]
        common, weak = result_dtype(arrays)
        self.inexact = (
            common if dtypes.kind(common) in ("float", "complex") else dtypes.default_float(x64)
        )
        self.dtype = self.inexact if dtype is None else dtype_argument(name, dtype)
        # NumPy's integers wrap: it is asked for floats, which saturate.
        known_to_numpy = dtypes.in_domain(self.dtype, "inexact") and self.dtype.isbuiltin == 1
        self.asked = self.dtype if dtype is not None and known_to_numpy else None
        # Numbers known while tracing are worked with in double precision, as NumPy does.
        wide = np.dtype("complex128" if dtypes.kind(common) == "complex" else "float64")
        self.work = wide if known else self.inexact
        self.on_host = known and get().key is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spacing) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.num, self.endpoint, self.axis, self.dtype, self.inexact, self.work

    def sent(self, values: NDArray) -> Array:
        """Values made on the host, as an array of the result's dtype."""
        if values.dtype != self.dtype:
            if self.dtype.isbuiltin == 1 and self.dtype.kind in "fc" and values.dtype.kind in "fc":
                values = values.astype(self.dtype)  # as `numpy_convert` does, in half the time
            else:
                values = np.asarray(numpy_convert(values, self.dtype))
        return put(values)

    def operands(self, *values: Any) -> list[Array]:
        """The ends, as arrays of the dtype that is worked in."""
        return [
            put(np.asarray(x, self.work))
            if self.work.itemsize > self.inexact.itemsize or not isinstance(x, Array)
            else _converted(x, self.work)
            for x in values
        ]

    def result(self, made: Any) -> Any:
        """The numbers, first axis first, in the result's dtype and order of axes."""
        axis = self.axis if self.axis >= 0 else self.axis + made.aval.ndim
        if not 0 <= axis < made.aval.ndim:
            raise errors.AxisError(self.axis, made.aval.ndim)
        return _converted(move(made, 0, axis), self.dtype)

    def positions(self, ndim: int) -> Any:
        """0, 1, .. along the first of `ndim` axes, and where the last one is."""
        return iota(self.work, (self.num,) + (1,) * (ndim - 1), 0)


def _over(x: Any, shape: tuple[int, ...]) -> Any:
    """An operand beside one of this shape: 0-d ones are strict ops' to spread."""
    return broadcast_to(x, shape) if x.aval.shape else x


_spacings: dict[Any, Spacing] = {}


def _spacing(
    name: str, values: tuple[Any, ...], num: Any, endpoint: Any, dtype: Any, axis: Any
) -> Spacing:
    """The `Spacing` of these arguments, remembered for Python numbers of the default dtype."""
    if dtype is not None or num.__class__ is not int or axis != 0:
        return Spacing(name, values, num, endpoint, dtype, axis)
    context = get()
    key = (name, num, bool(endpoint), context.config, context.key is None, *map(type, values))
    found = _spacings.get(key)
    if found is None:
        found = Spacing(name, values, num, endpoint, dtype, axis)
        if {type(v) for v in values} <= {int, float} and len(_spacings) < 256:
            _spacings[key] = found
    return found


def _evenly(start: Any, stop: Any, spacing: Spacing) -> tuple[Any, Any]:
    """The numbers of `linspace`, and their step; NumPy's formula, the last number exact."""
    start, stop = broadcast("linspace", [start, stop])
    shape = start.aval.shape or stop.aval.shape
    whole = (spacing.num, *shape)
    start, stop = broadcast_to(start, shape), broadcast_to(stop, shape)
    parts = spacing.num - 1 if spacing.endpoint else spacing.num
    delta = sub(stop, start)
    undefined = _number(float("nan"), spacing.work)  # of fewer than two numbers, as in NumPy
    step = div(delta, _number(parts, spacing.work)) if parts > 0 else undefined
    if not spacing.num:
        return spread_scalar(_number(0.0, spacing.work), whole), step
    position = broadcast_to(spacing.positions(len(whole)), whole)
    made = mul(position, _over(step if parts > 0 else delta, whole))
    made = add(made, _over(start, whole))
    if spacing.endpoint and spacing.num > 1:
        is_last = eq(position, _number(spacing.num - 1, spacing.work))
        made = select(is_last, broadcast_to(stop, whole), made)
    return made, step


def _converted(x: Any, dtype: np.dtype[Any]) -> Any:
    """The array in this dtype, not weakly."""
    if x.aval.dtype == dtype and not x.aval.weak_type:
        return x
    return convert_element_type_p(x, new_dtype=dtype, weak_type=False)


def _number(value: float, dtype: np.dtype[Any]) -> Array:
    return scalar(value, ShapedArray((), dtype))


@eager.function(static=("spacing", "retstep"))
def _linspace(start: Any, stop: Any, *, spacing: Spacing, retstep: bool) -> Any:
    made, step = _evenly(start, stop, spacing)
    if dtypes.in_domain(spacing.dtype, "integer"):
        made = floor(made)
    return (
        (spacing.result(made), _converted(step, spacing.inexact))
        if retstep
        else spacing.result(made)
    )


@eager.function(static=("spacing",))
def _logspace(start: Any, stop: Any, base: Any, *, spacing: Spacing) -> Any:
    start, stop, base = broadcast("logspace", [start, stop, base])
    made, _ = _evenly(start, stop, spacing)
    base = broadcast_to(base, made.aval.shape)
    return spacing.result(pow(base, made))


@eager.function(static=("spacing",))
def _geomspace(start: Any, stop: Any, *, spacing: Spacing) -> Any:
    start, stop = broadcast("geomspace", [start, stop])
    shape = start.aval.shape or stop.aval.shape
    start, stop = broadcast_to(start, shape), broadcast_to(stop, shape)
    direction = sign(start)  # for complex numbers too: start is then real and positive
    first, last = log(div(start, direction)), log(div(stop, direction))
    made, _ = _evenly(first, last, spacing)
    whole = made.aval.shape
    made = mul(exp(made), broadcast_to(direction, whole))
    if spacing.num:
        position = broadcast_to(spacing.positions(len(whole)), whole)
        made = select(eq(position, _number(0, spacing.work)), broadcast_to(start, whole), made)
        if spacing.endpoint and spacing.num > 1:
            is_last = eq(position, _number(spacing.num - 1, spacing.work))
            made = select(is_last, broadcast_to(stop, whole), made)
    return spacing.result(made)
