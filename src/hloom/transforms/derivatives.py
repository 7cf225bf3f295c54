"""The public transformations: `grad`, `value_and_grad`, `jvp`, `vjp`, `linearize`, `vmap`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes, tree
from hloom.core.array import Array
from hloom.core.operands import as_array
from hloom.core.support import float0
from hloom.core.support.calls import told
from hloom.core.support.float0 import aval_of
from hloom.core.support.frames import concise
from hloom.core.support.signature import (
    LeafNames,
    argument_name,
    called,
    check_function,
    name_of,
    positional_names,
    wraps,
)
from hloom.core.trace import Origin
from hloom.errors import ArgumentError, TangentError
from hloom.errors.texts import explain
from hloom.ops.common import linear
from hloom.transforms.batch import batch_flat, to_axis
from hloom.transforms.jvp import jvp_flat
from hloom.transforms.linearize import Derivative, Linearized, PullBack, linearize_flat
from hloom.transforms.tangents import moves, tangent, zero


class Flat:
    """A function of pytrees as a function of a list of arrays that returns a list.

    `args` are all positional arguments; those at `positions` are given as the arrays.  What the
    last call returned is described by `out_tree`, and by `aux` when the function returns a pair.
    A leaf whose entry of `in_axes` is None need not be an array: nothing is done with it.
    """

    def __init__(
        self, fun: Callable[..., Any], transform: str, args: Sequence[Any], kwargs: dict[str, Any],
        positions: Sequence[int], has_aux: bool = False, in_axes: Sequence[Any] = (),
        origin: Origin | None = None,
    ):  # fmt: skip
        check_function(transform, fun)
        self.fun, self.args, self.kwargs, self.positions, self.has_aux = (
            fun,
            list(args),
            kwargs,
            positions,
            has_aux,
        )
        leaves, self.treedef = tree.flatten((tuple(args[i] for i in positions), {}))
        self.origin = origin or Origin(transform, fun, LeafNames(fun, self.treedef, positions))
        self.leaves = [self._array(x, i, in_axes) for i, x in enumerate(leaves)]
        self.out_tree: Any = None
        self.aux_tree: Any = None

    def _array(self, x: Any, index: int, in_axes: Sequence[Any]) -> Any:
        if isinstance(x, Array):
            return x
        try:
            return x if float0.is_float0(x) else as_array(x)
        except TypeError as error:
            if in_axes and in_axes[index] is None:
                return x
            raise TypeError(
                f"{self.origin}: argument `{self.origin.arguments[index]}` is {error}. Pass an "
                "array or a number, "
                "or leave it out of what is transformed (argnums, in_axes, a closure)."
            ) from None

    def __call__(self, *leaves: Any) -> list[Any]:
        args = list(self.args)
        picked, _ = tree.unflatten(self.treedef, leaves)
        for i, value in zip(self.positions, picked):
            args[i] = value
        out = self.fun(*args, **self.kwargs)
        aux_leaves: list[Any] = []
        if self.has_aux:
            if not isinstance(out, tuple) or len(out) != 2:
                raise self._no_pair(out)
            out, aux = out
            aux_leaves, self.aux_tree = tree.flatten(aux)
        out_leaves, self.out_tree = tree.flatten(out)
        return [*map(self._result, out_leaves), *aux_leaves]

    def _no_pair(self, out: Any) -> TypeError:
        shown = str(out.aval) if isinstance(out, Array) else type(out).__name__
        returned = "None: did you forget `return`?" if out is None else shown
        rule = (
            f"{self.origin} with has_aux=True: {called(self.fun)} must return a pair (result, "
            f"aux); it returned {returned}"
        )
        transform = self.origin.transform
        ways = [("return result, aux", "two values")]
        if out is not None and transform in ("grad", "value_and_grad"):
            ways.append((f"{transform}({_code_name(self.fun)})", "without has_aux"))
        return TypeError(explain(rule, ways=ways))

    def _result(self, x: Any) -> Any:
        if isinstance(x, Array):
            return x
        try:
            return x if float0.is_float0(x) else as_array(x)
        except TypeError:
            raise TypeError(
                f"{self.origin}: {called(self.fun)} must return arrays and numbers; it returned "
                f"the {type(x).__name__} {x!r:.60}"
            ) from None

    @property
    def count(self) -> int:
        """How many of the arrays last returned are results; aux follows."""
        return int(self.out_tree.num_leaves)

    def results(self, leaves: Sequence[Any]) -> Any:
        """Results as the function returned them."""
        return tree.unflatten(self.out_tree, leaves[: self.count])

    def aux(self, leaves: Sequence[Any]) -> Any:
        """The second of the pair as the function returned it."""
        return tree.unflatten(self.aux_tree, leaves[self.count :])


def _positions(transform: str, argnums: int | Sequence[int], args: Sequence[Any]) -> list[int]:
    """`argnums` as distinct, non-negative positions."""
    wanted = [argnums] if isinstance(argnums, int) else list(argnums)
    found = []
    for n in wanted:
        if not isinstance(n, int) or isinstance(n, bool):
            raise TypeError(
                f"{transform} takes argnums as an int or a tuple of ints; got {argnums!r}"
            )
        if not -len(args) <= n < len(args):
            raise TypeError(
                f"{transform} with argnums={argnums!r} needs at least {n + 1 if n >= 0 else -n} "
                "positional arguments; "
                f"the function was called with {len(args)}. Pass them by position, not by keyword."
            )
        found.append(n % len(args))
    if len(set(found)) != len(found):
        raise ValueError(f"{transform} takes each argument once; got argnums={argnums!r}")
    return found


def _check_input(flat: Flat, transform: str, holomorphic: bool, allow_int: bool) -> None:
    for i, x in enumerate(flat.leaves):
        aval = aval_of(x)
        if not moves(aval):
            if not allow_int:
                raise TypeError(_of_integer(transform, flat.origin.arguments[i], aval))
        elif holomorphic and aval.kind != "complex":
            raise TypeError(
                f"{transform} with holomorphic=True takes complex inputs; "
                f"`{flat.origin.arguments[i]}` is {aval}"
            )


def _of_integer(transform: str, name: str, aval: Any) -> str:
    return (
        f"{transform} takes float or complex inputs; `{name}` is {aval}. Pass {name}.astype(float) "
        "or a number such as 1.0, choose other arguments with argnums=, or pass allow_int=True: "
        f"the gradient by `{name}` is then of dtype float0, without values."
    )


def _check_scalar(flat: Flat, outs: Sequence[Any], transform: str, holomorphic: bool) -> None:
    avals = [aval_of(x) for x in outs[: flat.count]]
    if len(avals) != 1 or avals[0].shape or avals[0].dtype == dtypes.float0:
        raise _not_scalar(flat, avals, transform)
    kind = avals[0].kind
    if kind == "complex" and not holomorphic:
        raise TypeError(
            f"{transform}: {called(flat.fun)} must return a real value; it returned {avals[0]}. "
            "For a holomorphic function of complex inputs pass holomorphic=True; else take the "
            "gradients of its real and imaginary parts."
        )
    if kind != ("complex" if holomorphic else "float"):
        raise TypeError(
            f"{transform}: {called(flat.fun)} must return a "
            f"{'complex' if holomorphic else 'real float'} value; it returned {avals[0]}"
        )


class _Spelled:
    """A leaf in the text of a pytree: it prints as the type."""

    def __init__(self, aval: Any):
        self.aval = aval

    def __repr__(self) -> str:
        return str(self.aval)


def _not_scalar(flat: Flat, avals: Sequence[Any], transform: str) -> TypeError:
    """For a function that returns nothing, an array, or a pytree where `grad` takes one value."""
    fun, has_aux = _code_name(flat.fun), flat.has_aux
    returned = tree.unflatten(flat.out_tree, map(_Spelled, avals))
    what = f"{returned!r:.200}" + (", aux" if has_aux else "")
    ways = []
    if returned is None:
        what += ": did you forget `return`?"
    elif isinstance(returned, tuple) and len(returned) == 2 and not has_aux:
        ways = [(f"{transform}({fun}, has_aux=True)", "for a pair of a value and something else")]
    elif returned.__class__ is _Spelled and not has_aux:
        arguments = ", ".join(positional_names(flat.fun)[0]) or "*args"
        total = f"{transform}(lambda {arguments}: {fun}({arguments}).sum())"
        ways = [(total, "of the sum; hloom.vjp takes a cotangent instead")]
    rule = (
        f"{transform} is of functions that return one 0-d value; {called(flat.fun)} returned {what}"
    )
    return TypeError(explain(rule, ways=ways))


def _code_name(fun: Any) -> str:
    """What a function is called in code; `f` where it has no name of that kind."""
    name = name_of(fun)
    is_ours = str(getattr(fun, "__module__", "")).startswith("hloom.")
    return name if name.isidentifier() and not is_ours else "f"


@told
def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that returns the value of `fun` and its gradient by the arguments at `argnums`.

    `fun` returns a 0-d float, or a pair (that, anything) with `has_aux`.  The gradient has the
    shapes and dtypes of those arguments; see `grad`.  Raises TypeError for integer inputs or a
    result that is not 0-d.

    >>> hloom.value_and_grad(lambda x: x * x)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """

    check_function("value_and_grad", fun)

    @wraps(fun)
    @concise
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        return _value_and_grad(
            fun, "value_and_grad", args, kwargs, argnums, has_aux, holomorphic, allow_int
        )

    return value_and_gradient


@told
def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that returns the gradient of `fun` by the arguments at `argnums`.

    `fun` returns a 0-d float (with `has_aux` a pair of that and anything: the result is then the
    pair of gradient and aux).  Python control flow on values works: primals are computed as `fun`
    runs.  By a complex argument the gradient is d/dx - i d/dy, what `vjp` gives for a cotangent of
    1; only a complex result needs `holomorphic`.  With `allow_int`, gradients by integers are zeros
    of dtype float0.  Raises TypeError for integer inputs without it, or a result that is not 0-d.

    >>> hloom.grad(lambda x: x * x if x > 0 else -x)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """

    check_function("grad", fun)

    @wraps(fun)
    @concise
    def gradient(*args: Any, **kwargs: Any) -> Any:
        out, gradients = _value_and_grad(
            fun, "grad", args, kwargs, argnums, has_aux, holomorphic, allow_int
        )
        return (gradients, out[1]) if has_aux else gradients

    return gradient


def _value_and_grad(
    fun: Any,
    transform: str,
    args: Any,
    kwargs: Any,
    argnums: Any,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
) -> Any:
    positions = _positions(transform, argnums, args)
    flat = Flat(fun, transform, args, kwargs, positions, has_aux)
    _check_input(flat, transform, holomorphic, allow_int)
    outs, linearized, residuals = linearize_flat(flat)
    _check_scalar(flat, outs, transform, holomorphic)
    seed = linear.constant(1, outs[0].aval.dtype, outs[0].aval.weak_type)
    cts = linearized.pull(residuals, [seed])
    gradients, _ = tree.unflatten(flat.treedef, cts)
    value = flat.results(outs)
    if has_aux:
        value = value, flat.aux(outs)
    return value, gradients[0] if isinstance(argnums, int) else gradients


@told
def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """The value of `fun` at `primals` and its directional derivative along `tangents`.

    Both are tuples of pytrees with equal structure, shapes and dtypes; the tangent of an integer or
    a bool is of dtype float0, which has no values.  Raises TangentError where they differ.

    >>> hloom.jvp(lambda x: x * x, (3.0,), (1.0,))
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    for name, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"jvp takes {name} as a tuple; got {type(value).__name__}: write ({name},)"
            )
    flat = Flat(fun, "jvp", primals, {}, range(len(primals)), has_aux)
    leaves, treedef = tree.flatten((tuple(tangents), {}))
    if treedef != flat.treedef:
        raise TangentError(
            f"jvp takes primals and tangents of one structure; got {flat.treedef} and {treedef}"
        )
    given = [
        tangent(aval_of(x), t, f"jvp: the tangent of `{flat.origin.arguments[i]}`")
        for i, (x, t) in enumerate(zip(flat.leaves, leaves))
    ]
    outs, out_tangents = jvp_flat(flat, flat.leaves, given, flat.origin)
    pairs = zip(outs[: flat.count], out_tangents)
    made = [zero(aval_of(o)) if t is None else t for o, t in pairs]
    result = flat.results(outs), flat.results(made)
    return (*result, flat.aux(outs)) if has_aux else result


@told
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `fun` and the function that maps a cotangent of it to cotangents of `primals`.

    With `has_aux`, `fun` returns a pair and aux comes third.  The returned function gives a tuple,
    one entry for each primal; that of an integer or a bool is zeros of dtype float0, which has no
    values.  It is a pytree: `jit` takes it and may return it.  Raises TangentError for a cotangent
    that is not of the result's structure and types.

    >>> y, pull_back = hloom.vjp(lambda x: x * x, 3.0)
    >>> pull_back(1.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    flat = Flat(fun, "vjp", primals, {}, range(len(primals)), has_aux)
    outs, linearized, residuals = linearize_flat(flat)
    pull_back = PullBack(Linearized(linearized, flat.treedef, flat.out_tree), residuals)
    result = flat.results(outs), pull_back
    return (*result, flat.aux(outs)) if has_aux else result


@told
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `fun` and its derivative at `primals`, a linear function of tangents.

    The function is traced once; applying the derivative does not run it again.  With `has_aux`,
    `fun` returns a pair and aux comes third.  Tangents have the primals' types; that of an integer
    is a float0 array.  The derivative is a pytree: `jit` takes it and may return it.

    >>> y, derivative = hloom.linearize(lambda x: x * x, 3.0)
    >>> derivative(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    flat = Flat(fun, "linearize", primals, {}, range(len(primals)), has_aux)
    outs, linearized, residuals = linearize_flat(flat)
    derivative = Derivative(Linearized(linearized, flat.treedef, flat.out_tree), residuals)
    result = flat.results(outs), derivative
    return (*result, flat.aux(outs)) if has_aux else result


@told
def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: None = None,
) -> Callable[..., Any]:
    """A function that maps `fun` over an axis of its arguments, as one vectorised program.

    `in_axes` and `out_axes` are ints, None (not mapped) or pytrees of them, one entry for each
    argument or result; keyword arguments are mapped over axis 0.  What is not mapped may be
    anything, a function too.  Raises ValueError when mapped axes differ in size, naming the
    arguments, and NotImplementedError for an `spmd_axis_name`: there is no mesh to name axes of.

    >>> hloom.vmap(lambda x, y: x * y, in_axes=(0, None))(jnp.arange(3.0), 2.0)
    Array([0., 2., 4.], dtype=float32)
    """
    check_function("vmap", fun)
    if spmd_axis_name is not None:
        raise NotImplementedError(
            f"vmap: spmd_axis_name={spmd_axis_name!r} names an axis of a mesh of devices, and "
            "there is none here; leave it out"
        )
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)

    @wraps(fun)
    @concise
    def mapped(*args: Any, **kwargs: Any) -> Any:
        names = sorted(kwargs)
        values = (*args, *[kwargs[k] for k in names])

        def positional(*given: Any) -> Any:
            return fun(*given[: len(args)], **dict(zip(names, given[len(args) :])))

        origin = Origin("vmap", fun, LeafNames(fun, tree.flatten((args, kwargs))[1]))
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise _not_as_many(origin, in_axes, args)
        wanted = (*in_axes, *[0] * len(names)) if isinstance(in_axes, tuple) else in_axes
        axes = _spread_axes(origin, "in_axes", wanted, values)
        flat = Flat(positional, "vmap", values, {}, range(len(values)), in_axes=axes, origin=origin)
        axes = [_canonical_axis(flat, i, axis) for i, axis in enumerate(axes)]
        size = _axis_size(flat, axes, axis_size)
        leaves, axes = _examples(flat.leaves, axes)
        outs, found = batch_flat(flat, leaves, axes, size, flat.origin)
        targets = _spread_axes(flat.origin, "out_axes", out_axes, flat.results(outs))
        return flat.results(
            [_to_out_axis(flat.origin, *x, size) for x in zip(outs, found, targets)]
        )

    return mapped


def _not_as_many(origin: Origin, in_axes: tuple[Any, ...], args: Sequence[Any]) -> ValueError:
    """For `in_axes` of another length than the positional arguments; those beyond are not cut."""
    count, fun = len(args), origin.fun
    names = [f"`{argument_name(fun, i)}`" for i in range(count)]
    rule = (
        f"{origin}: in_axes has {len(in_axes)} entr{'y' if len(in_axes) == 1 else 'ies'} for "
        f"{count} positional argument{'' if count == 1 else 's'}: {', '.join(names)}"
    )
    rest = [0 if all(np.ndim(x) for x in tree.leaves(arg)) else None for arg in args]
    entries = (*in_axes[:count], *rest[len(in_axes) :])
    ways = [(f"vmap({_code_name(fun)}, in_axes={entries})", "one entry for each; None: not mapped")]
    return ValueError(explain(rule, ways=ways))


def _spread_axes(origin: Origin, what: str, axes: Any, full: Any) -> list[int | None]:
    """One axis for each leaf of `full`, from a prefix tree of axes."""
    prefix, treedef = tree.flatten(axes, is_leaf=lambda x: x is None)
    try:
        subtrees = treedef.flatten_up_to(full)
    except (ValueError, TypeError):
        is_alone = what == "in_axes" and not isinstance(axes, tuple)
        raise ArgumentError(
            f"{origin}: {what}={axes!r} must be an int, None, or a tree that is a prefix of the "
            f"{'arguments' if what == 'in_axes' else 'results'}, {tree.structure(full)}."
            + (f" It has one entry for each argument: in_axes=({axes!r},)." if is_alone else "")
        ) from None
    for axis in prefix:
        if axis is not None and (not isinstance(axis, (int, np.integer)) or isinstance(axis, bool)):
            raise ArgumentError(f"{origin}: {what} takes ints and None; got {axis!r}")
    return [axis for axis, sub in zip(prefix, subtrees) for _ in tree.leaves(sub)]


def _canonical_axis(flat: Flat, index: int, axis: Any) -> int | None:
    if axis is None:
        return None
    aval = aval_of(flat.leaves[index])
    if not -aval.ndim <= axis < aval.ndim:
        raise ValueError(
            f"{flat.origin}: in_axes maps axis {axis} of argument "
            f"`{flat.origin.arguments[index]}`, which is {aval}"
            + ". Use None in in_axes for what is not mapped."
        )
    return axis % aval.ndim


def _examples(
    leaves: Sequence[Any], axes: Sequence[int | None]
) -> tuple[Sequence[Any], Sequence[int | None]]:
    """Values and axes to batch; of a float0 array it is the part of one example, and no axis."""
    places = [i for i, x in enumerate(leaves) if not isinstance(x, Array) and axes[i] is not None]
    if not places:
        return leaves, axes
    leaves, axes = list(leaves), list(axes)
    for i in places:
        axis, shape = axes[i], leaves[i].shape
        leaves[i], axes[i] = float0.zeros(shape[:axis] + shape[axis + 1 :]), None
    return leaves, axes


def _axis_size(flat: Flat, axes: Sequence[int | None], axis_size: int | None) -> int:
    sizes = {
        flat.origin.arguments[i]: flat.leaves[i].shape[axis]
        for i, axis in enumerate(axes)
        if axis is not None
    }
    if axis_size is not None:
        sizes["axis_size"] = axis_size
    if not sizes:
        raise ValueError(
            f"{flat.origin} maps no argument: in_axes has only None. Give axis_size= or an axis."
        )
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"`{name}` has {size}" for name, size in sizes.items())
        raise ValueError(
            f"{flat.origin}: mapped axes must have one size, but {listed}. Use None in in_axes for "
            "what is not mapped, or another axis."
        )
    return next(iter(sizes.values()))


def _to_out_axis(origin: Origin, value: Any, axis: int | None, target: Any, size: int) -> Any:
    if target is None:
        if axis is not None:
            raise ValueError(
                f"{origin}: out_axes=None for a result that differs between examples; give an axis"
            )
        return value
    ndim = value.ndim + (axis is None)
    if not -ndim <= target < ndim:
        raise ValueError(
            f"{origin}: out_axes={target} is out of range for a result with {ndim} axes"
        )
    target %= ndim
    if not isinstance(value, Array):
        return float0.zeros((*value.shape[:target], size, *value.shape[target:]))
    return to_axis(value, axis, target, size)
