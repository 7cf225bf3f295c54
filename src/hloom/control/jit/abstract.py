"""What a function does, without running it: `make_jaxpr`, `eval_shape`, `typeof`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hloom import dtypes, tree
from hloom.control.devices import check_device
from hloom.control.jit.dispatch import Jitted, Signature
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import ClosedJaxpr
from hloom.core.operands import abstract, is_abstract
from hloom.core.support import float0
from hloom.core.support.calls import told
from hloom.core.support.frames import concise, hidden
from hloom.core.support.signature import check_function, wraps


class ShapeDtypeStruct:
    """A shape and a dtype in place of an array, for `eval_shape`, `make_jaxpr` and `jit(f).lower`.

    `sharding` may name the device that there is.  Raises ValueError for another.

    >>> hloom.ShapeDtypeStruct((2, 3), jnp.float32)
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("shape", "dtype", "sharding", "weak_type")

    def __init__(
        self, shape: Iterable[int], dtype: Any, *, sharding: Any = None, weak_type: bool = False
    ):
        check_device("ShapeDtypeStruct", sharding)
        if dtype is None:
            raise ValueError("ShapeDtypeStruct needs a dtype, such as hloom.numpy.float32")
        self.shape = tuple(map(int, shape))
        still = dtype == dtypes.float0
        self.dtype: np.dtype[Any] = dtypes.float0 if still else dtypes.as_dtype(dtype)
        self.sharding = sharding
        self.weak_type = weak_type

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """The struct that differs from this one in what is given."""
        return ShapeDtypeStruct(**{name: getattr(self, name) for name in self.__slots__} | changes)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=object))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object: the shape is ()")
        return self.shape[0]

    def __repr__(self) -> str:
        name = "float0" if self.dtype == dtypes.float0 else self.dtype.name
        where = "" if self.sharding is None else f", sharding={self.sharding!r}"
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={name}{where}{weak})"

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.sharding, self.weak_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeDtypeStruct):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@hidden
def typeof(x: Any) -> ShapedArray:
    """The abstract value of an array or number: shape, dtype, weak type; `sharding` says where.

    Raises TypeError for what has no shape and dtype.

    >>> hloom.typeof(jnp.ones((2, 3)))
    ShapedArray(float32[2,3])
    """
    return float0.aval_of(x) if float0.is_float0(x) else abstract(x)


def trace_abstract(state: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Trace a jitted function's state for arguments that may be types alone."""
    dynamic, statics, positions = state.split(args, kwargs)
    leaves, treedef = float0.flatten(dynamic)
    avals = [abstract(x) for x in state.arrays(leaves, treedef, positions, keep=is_abstract)]
    return state.trace(Signature(treedef, tuple(avals), statics), args, kwargs)


@told
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Iterable[int] = (),
    return_shape: bool = False,
    *,
    static_argnames: str | Iterable[str] = (),
    axis_env: Any = None,
) -> Callable[..., Any]:
    """A function that returns the Jaxpr of `fun` for arguments of given shapes and dtypes.

    Arguments may be arrays, numbers, whatever has a shape and a dtype, such as a
    `ShapeDtypeStruct`, or pytrees of them.  With `return_shape` the result is a pair: the Jaxpr,
    and the results' shapes and dtypes as `fun` returns them.

    >>> hloom.make_jaxpr(lambda x: lax.sin(x) * 2)(1.0)
    { lambda ; a:f32[]. let
        b:f32[] = sin a
        c:f32[] = mul b 2.0
      in (c,) }
    """
    check_function("make_jaxpr", fun)
    if axis_env:
        raise NotImplementedError(
            f"make_jaxpr: axis_env={axis_env!r} names axes for collective operations, and there "
            "are none here; leave it out"
        )
    state = Jitted(fun, static_argnums, static_argnames, None, None, False, "make_jaxpr")

    @wraps(fun)
    @concise
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        call = trace_abstract(state, args, kwargs)
        closed = ClosedJaxpr(call.jaxpr, call.captured)
        return (closed, shapes_of(call)) if return_shape else closed

    return jaxpr_of


def shapes_of(call: Any) -> Any:
    """Shapes and dtypes of a traced call's results, as the function returns them."""
    structs = [
        ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in call.jaxpr.out_avals
    ]
    return tree.map(_struct_of_float0, tree.unflatten(call.out_tree, structs))


def _struct_of_float0(x: Any) -> Any:
    return ShapeDtypeStruct(x.shape, x.dtype) if float0.is_float0(x) else x


@hidden
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of the results of `fun`, without computing anything.

    Arguments may be arrays and numbers, or whatever has a shape and a dtype, such as a
    `ShapeDtypeStruct`.

    >>> hloom.eval_shape(lambda x: x @ x.T, hloom.ShapeDtypeStruct((2, 3), jnp.float32))
    ShapeDtypeStruct(shape=(2, 2), dtype=float32)
    """
    check_function("eval_shape", fun)
    state = getattr(fun, "jitted", None)
    state = state or Jitted(fun, None, None, None, None, False, "eval_shape")
    return shapes_of(trace_abstract(state, args, kwargs))
