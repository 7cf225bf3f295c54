"""Where a program runs, for programs written for more than one platform and device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hloom import tree
from hloom.control.devices import PLATFORM, check_device
from hloom.control.higher_order.functions import arrays_of, recording
from hloom.control.higher_order.mismatches import check_callable
from hloom.core.operands import as_array
from hloom.core.support import source
from hloom.core.support.strict import strict
from hloom.errors.texts import explain
from hloom.ops.pointwise.convert import copy


@strict
def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """The function that is given for the platform in use, "cpu", applied to pytrees of arrays.

    Without one for it, `default` is applied.  Raises NotImplementedError where there is neither,
    TypeError for what is not a function.  Differs from JAX: the platform is known when a program
    is traced, so functions for other platforms are not traced.

    >>> lax.platform_dependent(2.0, cpu=lambda x: x + 1, tpu=lambda x: x + 2)
    Array(3., dtype=float32, weak_type=True)
    """
    given = per_platform if default is None else {**per_platform, "default": default}
    check_callable("platform_dependent", **given)
    chosen = given.get(PLATFORM, default)
    if chosen is None:
        named = ", ".join(per_platform) or "no platform"
        rule = f"platform_dependent: programs run on {PLATFORM!r} here; got functions for {named}"
        ways = [(f"{PLATFORM}=lambda x: ..", ""), ("default=lambda x: ..", "for all others")]
        raise NotImplementedError(explain(rule, ways=ways, at=source.here()))
    leaves, treedef = arrays_of("platform_dependent", "arguments", args)
    return chosen(*tree.unflatten(treedef, leaves))


@strict
def stage(x: Any, /) -> Any:
    """A number or NumPy array as an Array; inside `jit` as a value of the traced program.

    Raises TypeError for what is neither an array nor a number.

    >>> lax.stage(3.0)
    Array(3., dtype=float32, weak_type=True)
    """
    try:
        made = as_array(x)
    except TypeError as error:
        raise TypeError(f"stage takes an array or a number; {error}") from None
    return copy(made) if recording() else made


@strict
def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """The pytree `x` itself: there is one device, and arrays lie on it.

    `shardings` is a device, a sharding or None, or a tree of them that is a prefix of `x`.  Raises
    ValueError for another device than the one there is, or another tree; TypeError for a leaf of
    `x` that is no array or number.

    >>> lax.with_sharding_constraint(jnp.arange(3), hloom.devices()[0])
    Array([0, 1, 2], dtype=int32)
    """
    wanted, prefix = tree.flatten(shardings, is_leaf=lambda s: s is None)
    for each in wanted:
        check_device("with_sharding_constraint", each)
    error = tree.mismatch("with_sharding_constraint", prefix, tree.structure(x), ("shardings", "x"))
    if error is not None:
        raise ValueError(explain(str(error), at=source.here()))
    return tree.map(as_array, x)
