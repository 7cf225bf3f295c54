"""Functions of vectors or elements, applied along axes: apply_along_axis, vectorize.

The user's function is called once, with tracers, and vectorised by `vmap`: it must be written for
hloom's arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod
from typing import Any

from hloom.core.array import Array
from hloom.core.support.signature import wraps
from hloom.errors import ArgumentError, ShapeError
from hloom.numpy.common.arguments import axes_argument, axis_argument, dtype_argument
from hloom.numpy.common.operands import array_like, check_ranks
from hloom.numpy.shapes.axes import moveaxis
from hloom.numpy.shapes.manipulation import common_shape, expand_dims, reshape
from hloom.ops.pointwise.convert import convert_element_type
from hloom.transforms.derivatives import vmap


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Array:
    """`func1d(vector, *args, **kwargs)` for every vector of the array along an axis.

    The axis is replaced by those of the function's result.

    Raises AxisError for an axis that is not there.  Differs from NumPy: `func1d` is traced once,
    so it must be written with functions of hloom.

    >>> jnp.apply_along_axis(lambda v: v[-1] - v[0], 1, jnp.array([[1, 5], [2, 9]]))
    Array([4, 7], dtype=int32)
    """
    x = array_like("apply_along_axis", arr)
    place = axis_argument("apply_along_axis", axis, x.aval)
    moved = moveaxis(x, place, -1)
    *others, size = moved.aval.shape
    rows = reshape(moved, (prod(others), size))

    @wraps(func1d)
    def along(vector: Any) -> Any:
        return array_like("func1d", func1d(vector, *args, **kwargs))

    found = vmap(along)(rows)
    kept = found.aval.shape[1:]
    whole = reshape(found, (*others, *kept))
    first = len(others)
    return moveaxis(whole, range_of(first, len(kept)), range_of(place, len(kept)))


def range_of(start: int, count: int) -> tuple[int, ...]:
    """`count` numbers from `start`."""
    return tuple(range(start, start + count))


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> Array:
    """`func(array, axis)` for one axis after the other, each on the result of the last.

    Axes that the function takes away are kept with size 1.

    Raises AxisError for an axis that is not there, ValueError for a result of another rank.

    >>> jnp.apply_over_axes(jnp.sum, jnp.ones((2, 3, 4)), [0, 2]).shape
    (1, 3, 1)
    """
    x = array_like("apply_over_axes", a)
    for axis in axes_argument("apply_over_axes", axes, x.aval):
        made = array_like("apply_over_axes", func(x, axis))
        if made.aval.ndim == x.aval.ndim - 1:
            made = expand_dims(made, axis)
        if made.aval.ndim != x.aval.ndim:
            raise ShapeError(
                "apply_over_axes: function is not returning an array of the correct shape: "
                f"{made.aval} from {x.aval} along axis {axis}"
            )
        x = made
    return x


# ---- vectorize ----------------------------------------------------------------------------------
Core = tuple[str, ...]
_CORE = re.compile(r"\(\s*((?:\w+\s*,\s*)*(?:\w+\s*)?)\)")


def parse_signature(signature: str) -> tuple[list[Core], list[Core]]:
    """The core axes of each argument and result of `"(m,n),(n)->(m)"`.

    Raises ValueError for what is no signature.
    """
    sides = signature.split("->")
    parsed = [[_names(core) for core in _CORE.findall(side)] for side in sides]
    rest = [re.sub(r"[\s,]", "", _CORE.sub("", side)) for side in sides]
    if len(sides) != 2 or any(rest) or not all(parsed):
        raise ValueError(f"vectorize: not a valid gufunc signature: {signature!r:.80}")
    return parsed[0], parsed[1]


def _names(core: str) -> Core:
    return tuple([name.strip() for name in core.split(",") if name.strip()])


def vectorize(
    pyfunc: Callable[..., Any] | None = None,
    otypes: Any = None,
    doc: str | None = None,
    excluded: Iterable[int | str] | None = None,
    cache: bool = False,
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function that applies `pyfunc` to every element of its arguments, which are broadcast.

    With a `signature` such as `"(m,n),(n)->(m)"` it applies to vectors or matrices: the last axes
    of each argument.  Arguments in `excluded`, by position or name, and None are passed as they
    are.  `otypes` are the results' dtypes, `doc` is the docstring; `cache` has no meaning here.
    Also a decorator.

    Raises ValueError for arguments that don't fit the signature.  Differs from NumPy: `pyfunc` is
    traced once, so it must be written with functions of hloom.

    >>> dot = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
    >>> dot(jnp.ones((2, 3)), jnp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    if pyfunc is None:
        return partial(
            vectorize, otypes=otypes, doc=doc, excluded=excluded, cache=cache, signature=signature
        )
    if not callable(pyfunc):
        raise TypeError(f"vectorize takes a function; got {pyfunc!r:.60}")
    fun = pyfunc
    if isinstance(excluded, str):
        raise ArgumentError(f"vectorize takes excluded as a set; write excluded={{{excluded!r}}}")
    left_out = frozenset(excluded or ())
    cores = None if signature is None else parse_signature(signature)
    types = None if otypes is None else list(otypes)

    @wraps(fun)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        names = [*range(len(args)), *kwargs]
        values = dict(zip(names, [*args, *kwargs.values()]))
        mapped = [n for n in names if n not in left_out and values[n] is not None]
        arrays = [array_like(_name_of(fun), values[n], i) for i, n in enumerate(mapped)]
        wanted = [()] * len(mapped) if cores is None else cores[0]
        if len(wanted) != len(mapped):
            raise TypeError(
                f"vectorize: wrong number of positional arguments: {_name_of(fun)} takes "
                f"{len(wanted)} by its signature {signature}, and got {len(mapped)}"
            )

        def call(*xs: Any) -> Any:
            given = {**values, **dict(zip(mapped, xs))}
            positional = [given[i] for i in range(len(args))]
            made = fun(*positional, **{name: given[name] for name in kwargs})
            return _checked(made, xs, cores, _name_of(fun))

        return _with_types(_mapped(call, arrays, wanted, _name_of(fun)), types)

    if doc is not None:
        vectorized.__doc__ = doc
    return vectorized


def _name_of(fun: Any) -> str:
    return str(getattr(fun, "__name__", type(fun).__name__))


def _with_types(made: Any, types: Sequence[Any] | None) -> Any:
    if types is None:
        return made
    wanted = [dtype_argument("vectorize", t) for t in types]
    if isinstance(made, tuple):
        return tuple([convert_element_type(x, t) for x, t in zip(made, wanted, strict=True)])
    return convert_element_type(made, wanted[0])


def _mapped(
    call: Callable[..., Any], arrays: Sequence[Array], cores: Sequence[Core], name: str
) -> Any:
    """The call on every combination of the axes before the core ones, which are broadcast."""
    loops = []
    for i, (x, core) in enumerate(zip(arrays, cores)):
        if x.aval.ndim < len(core):
            raise ShapeError(
                f"vectorize: argument {i} of {name}, {x.aval}, does not have enough dimensions for "
                f"its core axes ({','.join(core)})"
            )
        loops.append(x.aval.shape[: x.aval.ndim - len(core)])
    shape = common_shape(f"vectorize, arguments of {name}", loops)
    spread = [loop for x, loop in zip(arrays, loops) if x.aval.ndim]
    check_ranks(f"vectorize, arguments of {name}", spread)
    # Axes of size 1 are taken out where others are longer, and are not mapped over.
    squeezed = []
    for x, loop in zip(arrays, loops):
        whole = shape[len(shape) - len(loop) :]
        kept = [n for n, m in zip(loop, whole) if n == m]
        squeezed.append(reshape(x, (*kept, *x.aval.shape[len(loop) :])))
    for axis in range(1, len(shape) + 1):  # the last one innermost
        mapped = [len(loop) >= axis and loop[-axis] == shape[-axis] for loop in loops]
        call = vmap(call, in_axes=tuple([0 if m else None for m in mapped]))
    return call(*squeezed)


def _checked(
    made: Any, xs: Sequence[Any], cores: tuple[list[Core], list[Core]] | None, name: str
) -> Any:
    """The function's results, with as many axes and of the sizes that the signature says."""
    results = tuple(made) if isinstance(made, (tuple, list)) else (made,)
    arrays = [array_like(name, x, i) for i, x in enumerate(results)]
    if cores is not None:
        sizes: dict[str, int] = {}
        for x, core in zip(xs, cores[0]):
            _match(sizes, core, x.aval, f"argument of {name}")
        if len(arrays) != len(cores[1]):
            raise ShapeError(
                f"vectorize: wrong number of results: {name} gives {len(arrays)}, its signature "
                f"says {len(cores[1])}"
            )
        for x, core in zip(arrays, cores[1]):
            _match(sizes, core, x.aval, f"result of {name}")
    return tuple(arrays) if isinstance(made, (tuple, list)) else arrays[0]


def _match(sizes: dict[str, int], core: Core, aval: Any, what: str) -> None:
    """Note the sizes of core axes; raises ValueError where one differs from what it was."""
    if aval.ndim != len(core):
        raise ShapeError(
            f"vectorize: an {what} is {aval}, which does not have the axes ({','.join(core)})"
        )
    for name, n in zip(core, aval.shape):
        expected = int(name) if name.isdigit() else sizes.setdefault(name, n)
        if expected != n:
            raise ShapeError(
                f"vectorize: inconsistent size for core dimension {name!r}: {n} in an {what}, "
                f"{aval}, and {expected} before"
            )
