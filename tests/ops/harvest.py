"""Valid applications of every primitive, and valid calls of every public function.

The first come from the Jaxprs of the table of cases, traced as they are, differentiated and
batched; the second from the examples in docstrings.
"""

from __future__ import annotations

import doctest
from collections.abc import Callable, Iterator
from functools import cache, wraps
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import hloom
import hloom.lax
import hloom.lax.linalg
import hloom.numpy
from hloom import dtypes, testing
from hloom.core import Primitive, ShapedArray
from hloom.core.jaxpr import Jaxpr
from hloom.core.record import trace_to_jaxpr

MOST = 12  # applications kept of one primitive


class Application(NamedTuple):
    """A primitive, its operands (types, or what is no operand) and its parameters."""

    primitive: Primitive
    operands: tuple[Any, ...]
    params: dict[str, Any]

    def __str__(self) -> str:
        params = ", ".join(f"{name}={value!r:.60}" for name, value in self.params.items())
        operands = ", ".join(map(str, self.operands))
        return f"{self.primitive.name}({operands}; {params})".replace("\n", " ")


class Call(NamedTuple):
    """A public function and its arguments."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}{self.args!r:.200}{self.kwargs!r:.80}".replace("\n", " ")


# ---- primitives -------------------------------------------------------------------------------
def _equations(jaxpr: Jaxpr) -> Iterator[Application]:
    for equation in jaxpr.equations:
        operands = tuple(atom.aval for atom in equation.inputs)
        yield Application(equation.primitive, operands, equation.params)
        for inner in equation.inner_jaxprs():
            yield from _equations(inner)


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (list, tuple)) else [results]


def _of_case(case: testing.Case, dtype: str) -> Iterator[Application]:
    """What stands in the case's Jaxpr and in that of its derivative."""
    operands = case.draw(dtype, shape=(2, 3))
    avals = [ShapedArray(x.shape, x.dtype) for x in operands]
    yield from _equations(trace_to_jaxpr(case.fun, avals)[0])
    if dtype in case.differentiated:
        fun, primals = case.moved(dtype)

        def pushed(*xs: Any) -> list[Any]:
            half = len(primals)
            outs, tangents = hloom.jvp(fun, tuple(xs[:half]), tuple(xs[half:]))
            moved = [t for t in _listed(tangents) if isinstance(t, hloom.Array)]  # no float0
            return _listed(outs) + moved

        avals = [ShapedArray(x.shape, x.dtype) for x in primals]
        yield from _equations(trace_to_jaxpr(pushed, avals * 2)[0])


@cache
def applications() -> dict[str, list[Application]]:
    """Some different ones of each primitive."""
    found: dict[str, dict[Any, Application]] = {name: {} for name in testing.primitives()}
    with hloom.enable_x64():
        for case in testing.CASES:
            for dtype in dict.fromkeys((case.dtypes[0], *case.differentiated, case.dtypes[-1])):
                for each in _of_case(case, dtype):
                    if all(aval.size < 5000 for aval in each.operands):
                        key = each.operands, str(each.params)
                        found.setdefault(each.primitive.name, {}).setdefault(key, each)
    return {
        name: list(each.values())[:: -(-len(each) // MOST) or 1] for name, each in found.items()
    }


# ---- public functions -------------------------------------------------------------------------
FACADES = {"": hloom.lax, "linalg.": hloom.lax.linalg}


def public(module: ModuleType) -> dict[str, FunctionType]:
    """The functions of a facade."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and not name.startswith("_")
    }


@cache
def calls() -> dict[str, list[Call]]:
    """The calls of `hloom.lax` in the examples of its own docstrings."""
    found = _called("lax", FACADES)
    _add_those_without(found)
    return found


@cache
def numpy_calls() -> dict[str, list[Call]]:
    """The calls of `hloom.numpy` in the examples of its own docstrings."""
    return _called("jnp", {"": hloom.numpy, "linalg.": hloom.numpy.linalg})


def _called(spelling: str, facades: dict[str, ModuleType]) -> dict[str, list[Call]]:
    """The calls of a facade and of its `linalg` in the examples of their docstrings."""
    found: dict[str, list[Call]] = {}

    def spy(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            found.setdefault(name, []).append(Call(name, function, args, kwargs))
            return function(*args, **kwargs)

        return called

    def spied(prefix: str) -> SimpleNamespace:
        module = facades[prefix]
        spies = {name: spy(prefix + name, value) for name, value in public(module).items()}
        return SimpleNamespace(**{**vars(module), **spies})

    facade = spied("")
    facade.linalg = spied("linalg.")
    names = {"hloom": hloom, "jnp": hloom.numpy, "lax": hloom.lax, "np": np, spelling: facade}
    runner = doctest.DocTestRunner(verbose=False)
    with hloom.engine("numpy"):
        for module in facades.values():
            for name, function in public(module).items():
                for example in doctest.DocTestFinder(recurse=False).find(
                    function, name, globs=names
                ):
                    runner.run(example, out=lambda text: None)
    return found


def _add_those_without(found: dict[str, list[Call]]) -> None:
    """Calls of the functions whose examples show them elsewhere."""
    x, whole = hloom.numpy.array([3.0, 1.0, 2.0]), hloom.numpy.array([6, 4, 9])
    for name, args in {
        "add_any": (x, x), "argsort": (x,), "floor_divide": (x, x), "gcd": (whole, whole),
        "hypot": (x, x), "log10": (x,), "mod": (x, x), "order_statistics": (x, whole),
        "searchsorted": (x, x),
    }.items():  # fmt: skip
        if name not in found:
            found[name] = [Call(name, getattr(hloom.lax, name), args, {})]


def is_inexact(aval: ShapedArray) -> bool:
    """Whether there is a derivative by values of this type."""
    return dtypes.in_domain(aval.dtype, "inexact") and aval.dtype.itemsize > 1
