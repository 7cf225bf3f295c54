"""A jitted function by stages: `jit(f).trace(x)`, `.lower(x)`, `.compile()`, each printable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from hloom.control.jit.abstract import shapes_of, trace_abstract
from hloom.control.jit.dispatch import Entry, Jitted
from hloom.control.jit.primitive import compiled
from hloom.core.context import current
from hloom.core.jaxpr import ClosedJaxpr
from hloom.core.operands import as_array
from hloom.core.support import executable, float0
from hloom.core.support.frames import concise, hidden
from hloom.stablehlo.builder import Module
from hloom.stablehlo.lower import lower


class Traced:
    """A function traced for given argument types: its Jaxpr, before anything is lowered."""

    def __init__(self, state: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self._state = state
        self._call = trace_abstract(state, args, kwargs)
        self._in_tree = float0.flatten(state.split(args, kwargs)[0])[1]
        self._donated = tuple(state.donated_leaves(args, kwargs)) if state.donates else ()
        self.jaxpr = ClosedJaxpr(self._call.jaxpr, self._call.captured)
        self.fun_name = state.name

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"what {self.fun_name} was traced, lowered or compiled to can't be pickled. Pickle the "
            "jitted function (a lambda with cloudpickle), and lower it again; or keep the text: "
            "lowered.as_text()"
        )

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the results, as the function returns them."""
        return shapes_of(self._call)

    def lower(self) -> Lowered:
        """Write the Jaxpr as StableHLO."""
        return Lowered(self)


class Lowered:
    """A function written as StableHLO for given argument types."""

    def __init__(self, traced: Traced):
        self._traced = traced
        self._module = self._write(locations=False)

    def _write(self, locations: bool) -> Module:
        traced = self._traced
        count = len(traced.jaxpr.consts)
        return lower(
            traced.jaxpr.jaxpr,
            name=traced.fun_name,
            exact=current.get().config.exact,
            donated=[count + i for i in traced._donated],
            locations=locations,
        )

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The StableHLO text, with the user's lines when `debug_info`.

        Raises ValueError for another dialect than "stablehlo".

        >>> text = hloom.jit(lambda x: x + 1).lower(jnp.ones(3)).as_text()
        >>> "stablehlo.add" in text
        True
        """
        if dialect not in (None, "stablehlo"):
            raise ValueError(f'as_text takes dialect="stablehlo"; got {dialect!r}')
        return str(self._write(locations=True) if debug_info else self._module)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The program as an object: hloom's module of StableHLO, or with "hlo" XLA's own of HLO.

        The second is not optimised, and has `as_hlo_text`, `as_hlo_dot_graph` and others.  Raises
        ValueError for another dialect.

        >>> hlo = hloom.jit(lambda x: x + 1).lower(jnp.ones(3)).compiler_ir(dialect="hlo")
        >>> "add(" in hlo.as_hlo_text()
        True
        """
        if dialect == "hlo":
            return executable.ENGINES["xla"].hlo_of(str(self._module))
        if dialect not in (None, "stablehlo"):
            raise ValueError(f'compiler_ir takes dialect "stablehlo" or "hlo"; got {dialect!r}')
        return self._module

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the results, as the function returns them."""
        return self._traced.out_info

    @property
    def in_tree(self) -> Any:
        """The structure of (positional, keyword) arguments."""
        return self._traced._in_tree

    @property
    def out_tree(self) -> Any:
        """The structure of the results."""
        return self._traced._call.out_tree

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates of the program: floating point operations, bytes accessed, .."""
        return self.compile().cost_analysis()

    def compile(self) -> Compiled:
        """Compile for this machine."""
        return Compiled(self._traced)


class Compiled:
    """A compiled function, to call with arguments of the types it was compiled for."""

    def __init__(self, traced: Traced):
        self._traced = traced
        options: dict[str, Any] = {}
        if traced._donated:
            options["donated"] = tuple(len(traced.jaxpr.consts) + i for i in traced._donated)
        self._executable = compiled(traced.jaxpr.jaxpr, traced.fun_name, **options)

    @hidden
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        state = self._traced._state
        dynamic, _, positions = state.split(args, kwargs)
        leaves, treedef = float0.flatten(dynamic)
        if treedef != self._traced._in_tree:
            raise TypeError(
                f"{self._traced.fun_name} was compiled for arguments of structure "
                f"{self._traced._in_tree}; got {treedef}"
            )
        arrays = [as_array(x) for x in leaves]
        self._check(arrays)
        call = self._traced._call
        donated = self._traced._donated
        entry = Entry.of(self._executable, call, donated)
        if donated:
            arrays = state.donatable(arrays, dynamic)
            state.check_donated(entry, arrays, treedef, positions)
        return state.run(entry, arrays)

    def _check(self, arrays: Sequence[Any]) -> None:
        for i, (x, aval) in enumerate(zip(arrays, self._traced.jaxpr.in_avals)):
            if (x.aval.shape, x.aval.dtype) != (aval.shape, aval.dtype):
                name = self._traced._call.jaxpr.origin.arguments[i]
                raise TypeError(
                    f"{self._traced.fun_name} was compiled for `{name}`: {aval}; got {x.aval}. "
                    "Call the jitted "
                    "function itself, which compiles for each type."
                )

    def as_text(self) -> str:
        """The optimised program, as HLO text."""
        return str(executable.ENGINES["xla"].optimized_text(self._executable))

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates of the program: `flops`, `transcendentals`, `bytes accessed`, .."""
        return dict(executable.ENGINES["xla"].cost_analysis(self._executable))

    def memory_analysis(self) -> Any:
        """Bytes of arguments, results, temporaries and code, as attributes."""
        return executable.ENGINES["xla"].memory_analysis(self._executable)

    def runtime_executable(self) -> Any:
        """The runtime's own object."""
        return executable.ENGINES["xla"].loaded_of(self._executable)

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the results, as the function returns them."""
        return self._traced.out_info

    @property
    def in_avals(self) -> list[Any]:
        """Types of the argument leaves."""
        return self._traced.jaxpr.in_avals


def attach(call: Any, state: Jitted) -> Any:
    """Give a jitted function its stages: `trace`, `lower`, `eval_shape`."""
    call.trace = concise(lambda *args, **kwargs: Traced(state, args, kwargs))
    call.lower = concise(lambda *args, **kwargs: Lowered(Traced(state, args, kwargs)))
    call.eval_shape = concise(
        lambda *args, **kwargs: shapes_of(trace_abstract(state, args, kwargs))
    )
    return call
