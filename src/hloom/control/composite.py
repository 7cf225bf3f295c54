"""`composite`: an operation with a name, for compilers that know it, and with a decomposition."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes, tree
from hloom.control.higher_order.derive import batched
from hloom.control.higher_order.functions import arrays_of, trace
from hloom.control.higher_order.mismatches import check_callable
from hloom.control.higher_order.primitive import HigherOrder, takes
from hloom.control.jit.primitive import jit_p
from hloom.core.aval import ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr
from hloom.core.support import source
from hloom.core.support.signature import wraps
from hloom.errors import UnsupportedError
from hloom.errors.texts import explain
from hloom.ops.common.linear import move
from hloom.stablehlo import spelling

# StableHLO composite: the name is that of an operation in a namespace.
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+\Z")


class CompositeParameters(NamedTuple):
    """The parameters of a composite: its decomposition, the Jaxpr, and what a compiler reads."""

    jaxpr: Jaxpr
    name: str
    version: int
    attributes: tuple[tuple[str, str], ...]


class Composite(HigherOrder):
    """f32[3] -- jaxpr=.. name=my.op version=0 attributes=(('axis', '0 : i64'),) --> [f32[3]].

    The results of the Jaxpr, under a name that a compiler may know.  Attributes are spelled as they
    are written out, so that 1, 1.0 and True are three.
    """

    parameters = CompositeParameters

    def owner(self, params: dict[str, Any]) -> Jaxpr:
        return params["jaxpr"]  # type: ignore[no-any-return]

    def infer(self, *avals: ShapedArray, p: CompositeParameters) -> list[ShapedArray]:
        if not _NAME.match(p.name):
            raise ValueError(
                f"composite takes a name in a namespace, such as 'my.{p.name or 'op'}': letters, "
                f"digits and _, with dots between; got {p.name!r}"
            )
        if not 0 <= p.version < 2**31:
            raise ValueError(f"composite takes a version from 0 to 2**31 - 1; got {p.version}")
        takes(f"composite {p.name}", avals, p.jaxpr)
        return p.jaxpr.out_avals

    def numpy(self, *values: Any, p: CompositeParameters) -> list[Any]:
        return evaluate(p.jaxpr, values)

    def emit(
        self, block: Any, out: Sequence[ShapedArray], *operands: Any, p: CompositeParameters
    ) -> list[Any]:
        if not out:
            return []
        return list(block.composite(p.jaxpr, operands, p.name, p.version, dict(p.attributes)))

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], p: CompositeParameters
    ) -> tuple[list[Any], list[Any]]:
        rule = (
            f"composite {p.name} has no derivative: the compiler may put another program in place "
            "of its decomposition"
        )
        ways = [
            ("decomposition(x)", "differentiate the function that it is made of"),
            ("lax.stop_gradient(x)", "hold its operands, if it is not to be differentiated"),
        ]
        raise UnsupportedError(explain(rule, ways=ways, at=source.here()))

    def batch(
        self,
        size: int,
        operands: Sequence[Any],
        batch_axes: Sequence[int | None],
        p: CompositeParameters,
    ) -> tuple[list[Any], list[int | None]]:
        """The decomposition's; under the name a compiler expects operands of one example."""
        moved = [x if a is None else move(x, a, 0) for x, a in zip(operands, batch_axes)]
        made = batched(p.jaxpr, size, tuple(a is not None for a in batch_axes))
        given = [*made.captured, *moved]
        outs = jit_p.apply(given, {"name": p.name, "jaxpr": made.jaxpr})
        return outs, [0 if f else None for f in made.found]


composite_p = Composite("composite")


# ---- attributes -------------------------------------------------------------------------------
def _spelled(value: Any) -> str:
    """A Python value as an attribute of MLIR; raises TypeError for what is none."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return spelling.string(value)
    if isinstance(value, np.dtype):
        return _element_type(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{spelling.dense(value)} : {_tensor_type(value)}"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise TypeError(f"the int {value}, which takes more than 64 bits")
    if isinstance(value, (int, float, np.generic, np.ndarray)):
        number = np.asarray(value)
        if dtypes.kind(dtypes.as_dtype(number.dtype)) in ("signed", "unsigned", "float"):
            return f"{spelling.element(number[()])} : {_element_type(number.dtype)}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_spelled, value))}]"
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        items = [f"{spelling.string(key)} = {_spelled(x)}" for key, x in sorted(value.items())]
        return f"{{{', '.join(items)}}}"
    raise TypeError(f"{type(value).__name__} {value!r:.60}")


def _tensor_type(value: Any) -> str:
    return spelling.tensor_type(ShapedArray(value.shape, dtypes.as_dtype(value.dtype)))


def _element_type(dtype: Any) -> str:
    scalar = spelling.tensor_type(ShapedArray((), dtypes.as_dtype(dtype)))
    return scalar.removeprefix("tensor<").removesuffix(">")


def _attribute(name: str, key: str, value: Any) -> tuple[str, str]:
    try:
        return key, _spelled(value)
    except (TypeError, OverflowError) as error:
        rule = (
            f"composite {name}: what is given by keyword are its attributes: numbers, bools, "
            f"strings, dtypes, NumPy arrays, lists and dicts of them; {key} is {error}"
        )
        way = f"f(.., {key})", "give arrays by position"
        raise TypeError(explain(rule, ways=[way], at=source.here())) from None


# ---- the public function ----------------------------------------------------------------------
def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """A function that does what `decomposition` does, as one operation called `name`.

    A compiler that knows the name and version may put a program of its own there; the others, and
    all engines of hloom, run the decomposition.  Positional arguments are pytrees of arrays, the
    operands; keyword arguments become attributes (None is left out of them): numbers, bools,
    strings, dtypes, NumPy arrays, lists and dicts.  What the decomposition closes over comes first
    among the operands.  `vmap` maps the decomposition, without the name.

    Raises ValueError for a name without a namespace, TypeError for other attributes, and
    UnsupportedError (a NotImplementedError and a ValueError) when differentiated.  Source:
    StableHLO specification, composite.

    >>> tangent = lax.composite(lambda x: lax.sin(x) / lax.cos(x), name="my.tangent")
    >>> tangent(jnp.float32(0.5))
    Array(0.5463025, dtype=float32)
    >>> 'stablehlo.composite "my.tangent"' in hloom.jit(tangent).lower(0.5).as_text()
    True
    """
    check_callable("composite", decomposition=decomposition)
    if not isinstance(name, str):
        raise TypeError(f"composite takes its name as a str; got {name!r:.60}")
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"composite takes its version as an int; got {version!r:.60}")

    @wraps(decomposition)
    def compound(*args: Any, **attributes: Any) -> Any:
        leaves, treedef = arrays_of(f"composite {name}", "its arguments", args)
        given = {k: v for k, v in attributes.items() if v is not None}
        texts = tuple(_attribute(name, k, v) for k, v in sorted(given.items()))
        fun = partial(decomposition, **attributes) if attributes else decomposition
        body = trace("composite", fun, treedef, [x.aval for x in leaves])
        outs = composite_p(
            *body.captured, *leaves, jaxpr=body.jaxpr, name=name, version=version, attributes=texts
        )
        return tree.unflatten(body.out_tree, outs)

    return compound
