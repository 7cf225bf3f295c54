"""`Primitive`: one operation and its six rules.

A primitive is called with arrays (or tracers) and with parameters, which are static.  Who answers
is decided by the trace in force: `Eager` runs an executable of this one operation, every other
trace uses one of the rules below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hloom import errors
from hloom.core import operands as conversion
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import Config, current
from hloom.core.jaxpr import Equation, Jaxpr, Var
from hloom.core.support import executable, results
from hloom.core.support.annotations import checked, with_tuple
from hloom.core.support.frames import hide
from hloom.core.support.tables import Table


class UndefinedPrimal:
    """A linear operand during transposition: only its type is known."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval})"


def is_linear(x: Any) -> bool:
    """Whether a transpose rule is asked for this operand's cotangent."""
    return x.__class__ is UndefinedPrimal


_OTHER_RULES = {"numpy", "emit", "jvp", "transpose", "batch", "partial_eval"}  # but infer


class Primitive:
    """An operation on arrays.  `multiple`: its results come as a list.

    The rules, with parameters by keyword, or as one tuple `p` of the class `parameters`:

    - `infer(*avals)`: the result's type; every check of operands and parameters is here.  What its
      annotations say is checked before it runs (`core.support.annotations`).
    - `numpy(*ndarrays)`: the result by NumPy, the living definition.
    - `emit(block, out, *operands)`: the StableHLO.
    - `jvp(primals, tangents)`: result and its tangent; a tangent None is zero.
    - `transpose(ct, *operands)`: a cotangent, or None, for each operand; linear operands arrive as
      `UndefinedPrimal`.
    - `batch(size, operands, batch_axes)`: result and its batch axis; None means not batched.
    """

    multiple = False
    elementwise = False  # and computed: XLA, folding constants, may round in another way
    partial_eval: Any = None  # how a primitive with Jaxprs in it splits into known and unknown
    tier = "fast"  # what it is compiled at when it is evaluated by itself
    parameters: Any = None  # a NamedTuple class; rules with an argument `p` get one of these

    def __init__(self, name: str):
        self.name = self.__name__ = name
        self.executables = Table()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        rules = vars(cls)
        if "infer" in rules:
            cls.infer = checked(cls.infer, cls.parameters)  # type: ignore[method-assign]
        if cls.parameters is not None:
            for name in _OTHER_RULES & rules.keys():
                setattr(cls, name, with_tuple(rules[name], cls.parameters))

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *operands: Any, **params: Any) -> Any:
        for x in operands:
            if not isinstance(x, Array):
                operands = tuple(conversion.convert(self.name, operands))
                break
        try:
            return current.get().trace.process(self, operands, params)
        except Exception as error:
            fault = self.fault(operands, params)
            hide(fault or error)
            if fault is None:
                raise
            raise fault from None

    def bind(self, *operands: Any, **params: Any) -> Any:
        """JAX's name for a call."""
        return self(*operands, **params)

    @property
    def multiple_results(self) -> bool:
        """JAX's name for `multiple`."""
        return self.multiple

    def apply(self, operands: Sequence[Array], params: dict[str, Any]) -> Any:
        """A call with operands that are Arrays already."""
        try:
            return current.get().trace.process(self, operands, params)
        except Exception:
            fault = self.fault(operands, params)
            if fault is None:
                raise
            raise fault from None

    def fault(self, operands: Sequence[Array], params: dict[str, Any]) -> Exception | None:
        """The error that `infer` raises for this call, or None: it says more than the first one."""
        try:
            self.infer(*[x.aval for x in operands], **params)
        except Exception as error:
            return error
        return None

    # ---- eager evaluation -------------------------------------------------------------------
    def evaluate(self, operands: Sequence[Array], params: dict[str, Any]) -> Any:
        """Run the executable for these types and parameters."""
        buffers = [x._buf for x in operands]  # a tracer in here has leaked; it says so now
        run = self.runner(operands, params)
        try:
            return run(buffers)
        except RuntimeError as error:
            raise executable.explain(error, params.get("name", self.name), operands) from None

    def runner(self, operands: Sequence[Array], params: dict[str, Any]) -> Callable[..., Any]:
        """The executable as a function of buffers, compiled once.

        A primitive with Jaxprs in it caches it with one of them.
        """
        config = current.get().config
        key = (config, *[x.aval for x in operands], *params.items())
        found: Callable[..., Any] | None = self.executables.get(key)
        if found is None:
            found = self.executables.store(key, self.compiled(operands, params, config))
        return found

    def compiled(
        self, operands: Sequence[Array], params: dict[str, Any], config: Config
    ) -> Callable[..., Any]:
        """An executable of this one operation, as a function of buffers."""
        made = self.compile(operands, params, config)
        return results.many(made) if self.multiple else results.one(made)

    def compile(
        self, operands: Sequence[Array], params: dict[str, Any], config: Config
    ) -> executable.Executable:
        """An executable of this one operation."""
        inputs = [Var(x.aval) for x in operands]
        outs = self.infer(*[x.aval for x in operands], **params)
        outputs = list(map(Var, outs if self.multiple else [outs]))
        jaxpr = Jaxpr(list(inputs), [Equation(self, list(inputs), outputs, params)], list(outputs))
        return executable.compile_jaxpr(jaxpr, config, name=self.name, tier=self.tier)

    # ---- the rules --------------------------------------------------------------------------
    def infer(self, *avals: ShapedArray, **params: Any) -> Any:
        raise errors.missing_rule(self.name, "infer")

    def numpy(self, *values: Any, **params: Any) -> Any:
        raise errors.missing_rule(self.name, "numpy")

    def emit(self, block: Any, out: Any, *operands: Any, **params: Any) -> Any:
        raise errors.missing_rule(self.name, "emit")

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        raise errors.missing_rule(self.name, "jvp")

    def transpose(self, ct: Any, *operands: Any, **params: Any) -> Sequence[Any]:
        raise errors.missing_rule(self.name, "transpose")

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], **params: Any
    ) -> tuple[Any, Any]:
        raise errors.missing_rule(self.name, "batch")
