"""Reductions by a function of the user's: `reduce`, `reduce_window`.

The function is traced on scalars.  If it is one of the operations that have a reduction of their
own (sum, product, largest, ..), that one is used; else it becomes a parameter of a primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from hloom import dtypes, tree
from hloom.control.higher_order.primitive import takes
from hloom.core.aval import ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr, eval_jaxpr
from hloom.core.operands import as_array
from hloom.core.operands import convert as convert_operands
from hloom.core.primitive import Primitive
from hloom.core.record import trace_to_jaxpr
from hloom.core.support.strict import refuse_sharding, strict
from hloom.core.trace import Origin
from hloom.errors import ArgumentError, ShapeError
from hloom.ops.common import linear
from hloom.ops.common.elementwise import types_text
from hloom.ops.pointwise import arithmetic, binary
from hloom.ops.reductions import reduce as reductions
from hloom.ops.reductions import windows
from hloom.ops.reductions.windows import Window, dilated, window_of
from hloom.ops.shapes import slicing
from hloom.ops.shapes.shape import integers, reshape
from hloom.transforms.batch import batch_flat, to_axis
from hloom.transforms.jvp import jvp_flat

# Primitive: (its reduction, its reduction over windows).
_MONOIDS: dict[Primitive, tuple[Callable[..., Any], Any]] = {
    arithmetic.add_p: (linear.reduce_sum, windows.reduce_window_sum_p),
    arithmetic.mul_p: (reductions.reduce_prod, None),
    binary.max_p: (reductions.reduce_max, windows.reduce_window_max_p),
    binary.min_p: (reductions.reduce_min, windows.reduce_window_min_p),
    binary.and_p: (reductions.reduce_and, None),
    binary.or_p: (reductions.reduce_or, None),
    binary.xor_p: (reductions.reduce_xor, None),
}


# ---- computations ---------------------------------------------------------------------------
def _trace(name: str, computation: Callable[..., Any], xs: Sequence[Any], treedef: Any) -> Jaxpr:
    """The Jaxpr of `computation(x, y)`, where both have the tree of the operands."""
    scalars = [ShapedArray((), x.aval.dtype) for x in xs]
    structure: Any = None

    def flat(*leaves: Any) -> list[Any]:
        nonlocal structure
        x, y = leaves[: len(xs)], leaves[len(xs) :]
        out = computation(tree.unflatten(treedef, x), tree.unflatten(treedef, y))
        leaves_out, structure = tree.flatten(out)
        return list(map(as_array, leaves_out))

    jaxpr, captured = trace_to_jaxpr(flat, scalars * 2, Origin(name, computation))
    if captured:
        raise TypeError(
            f"{name}: the computation closes over {len(captured)} arrays or traced values. It may "
            "use its two arguments and Python numbers only."
        )
    if structure != treedef or [(a.shape, a.dtype) for a in jaxpr.out_avals] != [
        (a.shape, a.dtype) for a in scalars
    ]:
        raise TypeError(
            f"{name}: the computation must map two values {types_text(scalars)} to one of the same "
            f"type; it gave {', '.join(map(str, jaxpr.out_avals))}"
        )
    return jaxpr


def _monoid(jaxpr: Jaxpr) -> Primitive | None:
    """The primitive that the computation consists of, if it is just one of `_MONOIDS`."""
    if len(jaxpr.equations) != 1 or len(jaxpr.inputs) != 2:
        return None
    (equation,) = jaxpr.equations
    known = equation.primitive in _MONOIDS and jaxpr.outputs == equation.outputs
    return equation.primitive if known and set(equation.inputs) == set(jaxpr.inputs) else None


def _vectorised(jaxpr: Jaxpr, xs: Sequence[Any]) -> list[Any]:
    """A Jaxpr of scalars applied to arrays of one shape, element by element."""
    shape = xs[0].aval.shape
    size = prod(shape)
    rows = [reshape(x, (size,)) for x in xs]
    outs, axes = batch_flat(
        lambda *scalars: eval_jaxpr(jaxpr, scalars), rows, [0] * len(rows), size, Origin("vmap")
    )
    return [reshape(to_axis(out, axis, 0, size), shape) for out, axis in zip(outs, axes)]


def _numpy_combine(jaxpr: Jaxpr, xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
    """The same for the NumPy rules."""
    out = [np.array(x) for x in xs]
    for place in np.ndindex(out[0].shape):
        scalars = [np.asarray(z[place]) for z in (*xs, *ys)]
        for z, value in zip(out, evaluate(jaxpr, scalars)):
            z[place] = value
    return out


def _halves(xs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Operands and initial values, or their tangents."""
    count = len(xs) // 2
    return list(xs[:count]), list(xs[count:])


def _check_pairs(
    name: str, avals: Sequence[ShapedArray], computation: Jaxpr | None = None
) -> tuple[list[Any], list[Any]]:
    xs, inits = _halves(avals)
    if not xs or len(avals) % 2:
        raise ShapeError(
            f"{name} takes operands and as many initial values; got "
            f"{', '.join(map(str, avals)) or 'none'}"
        )
    if any(x.shape != xs[0].shape for x in xs):
        raise ShapeError(f"{name} takes operands of one shape; got {types_text(xs)}")
    for x, init in zip(xs, inits):
        if init.shape or init.dtype != x.dtype:
            raise ShapeError(
                f"{name} takes an initial value, 0-d and of the operand's dtype; got {init} for {x}"
            )
    if computation is None:
        return xs, inits
    scalars = [ShapedArray((), x.dtype) for x in xs]
    takes(name, scalars * 2, computation)
    if [out.strong() for out in computation.out_avals] != scalars:
        raise TypeError(
            f"{name}: the computation must give {types_text(scalars)}; it gives "
            f"{', '.join(map(str, computation.out_avals)) or 'nothing'}"
        )
    return xs, inits


class Computed(Primitive):
    """What the two reductions share: tangents and batches come from a decomposition into lax."""

    multiple = True

    def decomposition(self, *operands: Any, **params: Any) -> list[Any]:
        """The same reduction, written with other primitives."""
        raise NotImplementedError

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        self.infer(*[x.aval for x in primals], **params)
        return jvp_flat(
            lambda *xs: self.decomposition(*xs, **params), primals, tangents, Origin(self.name)
        )

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        xs, inits = _halves(operands)
        x_axes, init_axes = _halves(batch_axes)
        if any(axis is not None for axis in init_axes):
            return batch_flat(
                lambda *zs: self.decomposition(*zs, **params),
                operands,
                batch_axes,
                size,
                Origin(self.name),
            )
        xs = linear.batch_first(size, xs, x_axes)
        return self(*xs, *inits, **self.batched(params)), [0] * len(xs)

    def batched(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters for operands with a leading batch axis."""
        raise NotImplementedError


# ---- reduce ---------------------------------------------------------------------------------
class Reduce(Computed):
    """(f32[2,3], f32[]) -- computation={..}, axes=(1,) --> [f32[2]].  Operands, initial values."""

    def infer(
        self, *avals: ShapedArray, computation: Jaxpr, axes: tuple[int, ...]
    ) -> list[ShapedArray]:
        xs, _ = _check_pairs("reduce", avals, computation)
        shape = linear.reduced_shape("reduce", xs[0], axes)
        return [ShapedArray(shape, x.dtype) for x in xs]

    def numpy(self, *values: Any, computation: Jaxpr, axes: Any) -> list[Any]:
        xs, inits = _halves(values)
        kept = [a for a in range(xs[0].ndim) if a not in axes]
        shape = tuple(xs[0].shape[a] for a in kept)
        size = prod(xs[0].shape[a] for a in axes)
        rows = [np.transpose(x, [*axes, *kept]).reshape((size, *shape)) for x in xs]
        out = [np.full(shape, init) for init in inits]
        for i in range(size):
            out = _numpy_combine(computation, out, [row[i] for row in rows])
        return out

    def emit(
        self, block: Any, out: Sequence[ShapedArray], *operands: Any, computation: Jaxpr, axes: Any
    ) -> list[Any]:
        scalars = [ShapedArray((), x.aval.dtype) for x in _halves(operands)[0]]
        region = block.region(scalars * 2, lambda b, *xs: b.inline(computation, xs))
        names = ", ".join(map(str, operands))
        dimensions = f"array<i64{': ' * bool(axes)}{', '.join(map(str, axes))}>"
        head = f'"stablehlo.reduce"({names}) <{{dimensions = {dimensions}}}> {region}'
        made: list[Any] = block.op(head, operands, list(out))
        return made

    def decomposition(self, *operands: Any, computation: Jaxpr, axes: Any) -> list[Any]:
        """By halving: the first half combined with the second, until one element is left."""
        xs, inits = _halves(operands)
        kept = [a for a in range(xs[0].aval.ndim) if a not in axes]
        shape = tuple(xs[0].aval.shape[a] for a in kept)
        size = prod(xs[0].aval.shape[a] for a in axes)
        rows = [reshape(linear.transpose(x, [*axes, *kept]), (size, *shape)) for x in xs]
        total = [linear.spread_scalar(init, shape) for init in inits]
        while size > 1:
            half = size // 2
            low = [slicing.slice_in_dim(row, 0, half) for row in rows]
            high = [slicing.slice_in_dim(row, half, 2 * half) for row in rows]
            rest = [slicing.slice_in_dim(row, 2 * half, size) for row in rows]
            joined = zip(_vectorised(computation, [*low, *high]), rest)
            rows = [slicing.concatenate([a, b], 0) for a, b in joined]
            size = size - half
        if not size:
            return total
        return _vectorised(computation, [*total, *[reshape(row, shape) for row in rows]])

    def batched(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**params, "axes": tuple(a + 1 for a in params["axes"])}


reduce_p = Reduce("reduce")


@strict
def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    *,
    out_sharding: None = None,
) -> Any:
    """The elements of an array over `dimensions`, combined by an associative function.

    `computation(x, y)` takes and gives scalars of the operand's dtype; `init_values` is combined
    with the result.  Operands may be a pytree of arrays of one shape: initial values, arguments
    and results then are such trees.  In which order elements are combined is not defined.  Raises
    TypeError where types don't go together.  Differs from `ufunc.reduce`: any function, over
    several arrays at once.

    >>> lax.reduce(jnp.arange(5), 10, lambda x, y: x + y, (0,))
    Array(20, dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("reduce", out_sharding)
    leaves, treedef = tree.flatten(operands)
    init_leaves, init_treedef = tree.flatten(init_values)
    if init_treedef != treedef or not leaves:
        raise ArgumentError(
            f"reduce takes one initial value for each operand; got {treedef} and {init_treedef}"
        )
    pairs = [convert_operands("reduce", pair) for pair in zip(leaves, init_leaves)]
    xs, inits = [x for x, _ in pairs], [init for _, init in pairs]
    _check_pairs("reduce", [x.aval for x in (*xs, *inits)])
    axes = integers("reduce", "dimensions", dimensions)
    jaxpr = _trace("reduce", computation, xs, treedef)
    monoid = _monoid(jaxpr)
    if monoid is arithmetic.add_p and dtypes.in_domain(xs[0].aval.dtype, "inexact"):
        out = [monoid(inits[0], linear.reduce_sum_signed(xs[0], axes))]
    elif monoid is not None:
        out = [reductions.with_initial(monoid, _MONOIDS[monoid][0](xs[0], axes), inits[0])]
    elif not axes:  # XLA would leave out the initial value
        starts = [linear.spread_scalar(init, x.aval.shape) for init, x in zip(inits, xs)]
        out = _vectorised(jaxpr, [*starts, *xs])
    else:
        out = reduce_p(*xs, *inits, computation=jaxpr, axes=axes)
    return tree.unflatten(treedef, out)


# ---- reduce_window --------------------------------------------------------------------------
class ReduceWindow(Computed):
    """(f32[4], f32[]) -- computation={..}, window_dimensions=(2,), .. --> [f32[3]]."""

    parameters = Window

    def infer(self, *avals: ShapedArray, computation: Jaxpr, **params: Any) -> list[ShapedArray]:
        xs, _ = _check_pairs("reduce_window", avals, computation)
        window = Window(**params)
        window.check("reduce_window", xs[0])
        shape = window.shape(xs[0])
        return [ShapedArray(shape, x.dtype) for x in xs]

    def numpy(self, *values: Any, computation: Jaxpr, **params: Any) -> list[Any]:
        xs, inits = _halves(values)
        window = Window(**params)
        out = [np.full(window.shape(x), init) for x, init in zip(xs, inits)]
        for parts in zip(*[window.parts(x, init) for x, init in zip(xs, inits)]):
            out = _numpy_combine(computation, out, parts)
        return out

    def emit(
        self, block: Any, out: Sequence[ShapedArray], *operands: Any, computation: Jaxpr,
        **params: Any,
    ) -> list[Any]:  # fmt: skip
        xs, inits = _halves(operands)
        if not out[0].ndim:  # one window, of one element
            return list(block.inline(computation, [*inits, *xs]))
        scalars = [ShapedArray((), x.aval.dtype) for x in xs]
        region = block.region(scalars * 2, lambda b, *zs: b.inline(computation, zs))
        xs, window = _write_padded(block, xs, inits, Window(**params))
        return windows.write_windows(block, window, xs, inits, out[0].shape, region)

    def decomposition(self, *operands: Any, computation: Jaxpr, **params: Any) -> list[Any]:
        """Place by place of the window: what all windows have there, combined with the rest."""
        xs, inits = _halves(operands)
        window = Window(**params)
        shape = window.shape(xs[0].aval)
        config = [(low, high, d - 1) for (low, high), d in zip(window[2], window[3])]
        padded = [slicing.pad(x, init, config) for x, init in zip(xs, inits)]
        out = [linear.spread_scalar(init, shape) for init in inits]
        if not prod(shape):
            return out
        steps = window.window_strides
        for place in product(*map(range, window.window_dimensions)):
            starts = [i * d for i, d in zip(place, window.window_dilation)]
            limits = [a + dilated(m, s) for a, m, s in zip(starts, shape, steps)]
            parts = [slicing.slice(x, starts, limits, steps) for x in padded]
            out = _vectorised(computation, [*out, *parts])
        return out

    def batched(self, params: dict[str, Any]) -> dict[str, Any]:
        window = {name: value for name, value in params.items() if name != "computation"}
        batched = Window(**window).with_axis(0)._asdict()
        return {"computation": params["computation"], **batched}


def _write_padded(
    block: Any, xs: Sequence[Any], inits: Sequence[Any], window: Window
) -> tuple[Sequence[Any], Window]:
    """Operands with padding and holes in them, and the window without.

    XLA's own adds the initial value once to a window, however many of its places are holes.
    """
    ones = (1,) * xs[0].aval.ndim
    bare = window._replace(padding=((0, 0),) * len(ones), base_dilation=ones)
    if window == bare:
        return xs, window
    config = [(low, high, d - 1) for (low, high), d in zip(window.padding, window.base_dilation)]
    return [slicing.write_pad(block, x, init, config) for x, init in zip(xs, inits)], bare


reduce_window_p = ReduceWindow("reduce_window")


@strict
def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """The elements of each window that slides over an array, combined by an associative function.

    `computation(x, y)` takes and gives scalars; `init_value` must be its identity: it is what
    padding and holes hold.  `padding` is "VALID", "SAME", "SAME_LOWER" or a pair (low, high) for
    each axis; dilations put holes between the operand's or the window's elements.  Pytrees are
    taken as by `reduce`.  Raises TypeError or ValueError where sizes and types don't go together.

    >>> lax.reduce_window(jnp.arange(5), 0, lax.add, (2,), (1,))
    Array([1, 3, 5, 7], dtype=int32)
    """
    leaves, treedef = tree.flatten(operand)
    init_leaves, init_treedef = tree.flatten(init_value)
    if init_treedef != treedef or not leaves:
        raise ArgumentError(
            "reduce_window takes one initial value for each operand; got trees "
            f"{treedef} and {init_treedef}"
        )
    pairs = [convert_operands("reduce_window", pair) for pair in zip(leaves, init_leaves)]
    xs, inits = [x for x, _ in pairs], [init for _, init in pairs]
    _check_pairs("reduce_window", [x.aval for x in (*xs, *inits)])
    window = window_of(
        "reduce_window", xs[0].aval, window_dimensions, window_strides, padding, base_dilation,
        window_dilation,
    )  # fmt: skip
    jaxpr = _trace("reduce_window", computation, xs, treedef)
    monoid = _monoid(jaxpr)
    found = _MONOIDS[monoid][1] if monoid is not None else None
    if found is not None and _is_identity(inits[0], found):
        out = [found(xs[0], **window._asdict())]
    else:
        out = reduce_window_p(*xs, *inits, computation=jaxpr, **window._asdict())
    return tree.unflatten(treedef, out)


def _is_identity(init: Any, primitive: windows.ReduceWindow) -> bool:
    """Whether an initial value is known to be the operation's identity."""
    value = init.concrete()
    wanted = np.asarray(primitive.identity(init.aval.dtype)).astype(init.aval.dtype)
    return value is not None and bool(np.asarray(value) == wanted)
