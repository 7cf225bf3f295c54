"""The IR: a `Jaxpr` is a typed list of equations, each one application of a primitive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from hloom import errors
from hloom.core.array import Array, HostArray, host_array
from hloom.core.aval import ShapedArray
from hloom.core.support.frames import locate
from hloom.core.support.source import Source, replayed


class Var:
    """A name for one value; two variables are the same only if they are the same object."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval}"


class Literal:
    """A 0-d constant written in an equation itself."""

    __slots__ = ("value", "aval")

    def __init__(self, value: np.ndarray[Any, Any], aval: ShapedArray):
        self.value = value
        self.aval = aval

    def array(self) -> HostArray:
        """The constant as an array."""
        return host_array(self.value, self.aval)

    def __repr__(self) -> str:
        return str(self.value[()])


Atom = Var | Literal


class Equation:
    """`outputs = primitive[params] inputs`, and the user's line it comes from."""

    __slots__ = ("primitive", "inputs", "outputs", "params", "source")

    def __init__(
        self,
        primitive: Any,
        inputs: list[Atom],
        outputs: list[Var],
        params: dict[str, Any],
        source: Source | None = None,
    ):
        self.primitive = primitive
        self.inputs = inputs
        self.outputs = outputs
        self.params = params
        self.source = source

    def inner_jaxprs(self) -> Iterator[Jaxpr]:
        """The Jaxprs among the parameters, those in tuples too."""
        for param in self.params.values():
            for value in param if param.__class__ is tuple else (param,):
                if value.__class__ is Jaxpr:
                    yield value


class Jaxpr:
    """A function of arrays as data: inputs, equations in order, outputs.

    The first `captured` inputs are what the traced function closed over.  `cache` keeps what is
    made from this Jaxpr (programs, derivatives), so that it lives as long as the Jaxpr does.
    """

    __slots__ = ("inputs", "equations", "outputs", "captured", "origin", "cache", "__weakref__")

    def __init__(
        self,
        inputs: list[Var],
        equations: list[Equation],
        outputs: list[Atom],
        captured: int = 0,
        origin: Any = None,
    ):
        self.inputs = inputs
        self.equations = equations
        self.outputs = outputs
        self.captured = captured
        self.origin = origin
        self.cache: dict[Any, Any] = {}

    @property
    def in_avals(self) -> list[ShapedArray]:
        """Types of all inputs."""
        return [v.aval for v in self.inputs]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """Types of the outputs."""
        return [v.aval for v in self.outputs]

    @property
    def eqns(self) -> list[Equation]:
        """The equations, by their short name."""
        return self.equations

    def __copy__(self) -> Jaxpr:
        return self  # nothing changes a Jaxpr

    def __deepcopy__(self, memo: Any) -> Jaxpr:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Jaxpr can't be pickled: its primitives hold functions. Pickle the function it was "
            "traced from and trace it again (a lambda with cloudpickle), or keep the text of the "
            "program: jit(f).lower(x).as_text()"
        )

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__


class ClosedJaxpr:
    """A Jaxpr with the arrays that it closed over; what `make_jaxpr` returns."""

    __slots__ = ("jaxpr", "consts")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Array]):
        self.jaxpr = jaxpr
        self.consts = list(consts)

    @property
    def in_avals(self) -> list[ShapedArray]:
        """Types of the arguments."""
        return self.jaxpr.in_avals[self.jaxpr.captured :]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """Types of the results."""
        return self.jaxpr.out_avals

    @property
    def eqns(self) -> list[Equation]:
        """The equations."""
        return self.jaxpr.equations

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__


def eval_jaxpr(jaxpr: Jaxpr, operands: Sequence[Any]) -> list[Any]:
    """Apply the Jaxpr's equations, in order, in the trace in force; captures lead the operands."""
    env: dict[Var, Any] = dict(zip(jaxpr.inputs, operands, strict=True))

    def read(atom: Atom) -> Any:
        return atom.array() if type(atom) is Literal else env[atom]  # type: ignore[index]

    before = replayed.set(None)
    try:
        for equation in jaxpr.equations:
            replayed.set(equation.source)
            results = equation.primitive.apply([read(x) for x in equation.inputs], equation.params)
            env.update(zip(equation.outputs, results if equation.primitive.multiple else [results]))
    except Exception as error:
        locate(error, replayed.get())
        raise
    finally:
        replayed.reset(before)
    return [read(x) for x in jaxpr.outputs]


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Raise JaxprTypeError unless variables are bound once, before use, with inferred types."""
    bound: set[Var] = set()

    def bind(var: Var, where: str) -> None:
        if var in bound:
            raise errors.JaxprTypeError(f"{where} binds {var} a second time")
        bound.add(var)

    def use(atom: Atom, where: str) -> None:
        if isinstance(atom, Var) and atom not in bound:
            raise errors.JaxprTypeError(f"{where} uses {atom}, which nothing has bound before")

    for var in jaxpr.inputs:
        bind(var, "the list of inputs")
    for number, equation in enumerate(jaxpr.equations):
        where = f"equation {number} ({equation.primitive.name})"
        for atom in equation.inputs:
            use(atom, where)
        inferred = equation.primitive.infer(*[x.aval for x in equation.inputs], **equation.params)
        inferred = list(inferred) if equation.primitive.multiple else [inferred]
        if [v.aval for v in equation.outputs] != inferred:
            raise errors.JaxprTypeError(
                f"{where} infers {', '.join(map(str, inferred))}, but its outputs are "
                f"{', '.join(str(v.aval) for v in equation.outputs)}"
            )
        for inner in equation.inner_jaxprs():
            check_jaxpr(inner)
        for var in equation.outputs:
            bind(var, where)
    for atom in jaxpr.outputs:
        use(atom, "the list of outputs")


# ---- as text --------------------------------------------------------------------------------
WIDTH = 80


def _name(index: int) -> str:
    """a, b, .. z, ba, bb, ..: the number in base 26, letters for digits."""
    letters = chr(ord("a") + index % 26)
    while index := index // 26:
        letters = chr(ord("a") + index % 26) + letters
    return letters


class Printer:
    """Names variables in the order they are met, and writes."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.names: dict[Var, str] = {}
        self.used = {a for e in jaxpr.equations for a in e.inputs if isinstance(a, Var)}
        self.used.update(a for a in jaxpr.outputs if isinstance(a, Var))

    def atom(self, atom: Any) -> str:
        if isinstance(atom, Literal):
            return str(atom.value[()])
        if atom not in self.names:
            self.names[atom] = _name(len(self.names))
        return self.names[atom]

    def binder(self, var: Var, *, output: bool = False) -> str:
        if output and var not in self.used:
            return f"_:{var.aval}"
        return f"{self.atom(var)}:{var.aval}"

    def equation(self, equation: Equation, indent: str) -> str:
        tail = "".join(f" {self.atom(x)}" for x in equation.inputs)
        head = " ".join(self.binder(v, output=True) for v in equation.outputs)
        params = [
            f"{name}={param(value, indent + '  ')}" for name, value in equation.params.items()
        ]
        if not params:
            return f"{indent}{head} = {equation.primitive.name}{tail}"
        line = f"{indent}{head} = {equation.primitive.name}[{' '.join(params)}]{tail}"
        if len(line) <= WIDTH and "\n" not in line:
            return line
        inner = "".join(f"\n{indent}  {p}" for p in params)
        return f"{indent}{head} = {equation.primitive.name}[{inner}\n{indent}]{tail}"


def param(value: Any, indent: str = "") -> str:
    """One parameter's value: dtypes by name, axis pairs as lists, nested Jaxprs indented."""
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, Jaxpr):
        return text(value, indent)
    if isinstance(value, tuple) and value and all(isinstance(v, Jaxpr) for v in value):
        inner = "".join(f"\n{indent}  {text(v, indent + '  ')}" for v in value)
        return f"({inner}\n{indent})"
    if isinstance(value, tuple) and value and all(isinstance(v, tuple) for v in value):
        return "(" + ", ".join(map(_nested, value)) + ("," if len(value) == 1 else "") + ")"
    return str(value)


def _nested(value: Any) -> str:
    """Tuples of axes inside a tuple of pairs are shown as lists: `(([1], [0]), ([], []))`."""
    if isinstance(value, tuple) and all(isinstance(v, tuple) for v in value):
        return "(" + ", ".join(str(list(v)) for v in value) + ")"
    return str(value)


def text(jaxpr: Jaxpr, indent: str = "") -> str:
    """The whole Jaxpr, one equation a line."""
    printer = Printer(jaxpr)
    captured = " ".join(printer.binder(v) for v in jaxpr.inputs[: jaxpr.captured])
    inputs = " ".join(printer.binder(v) for v in jaxpr.inputs[jaxpr.captured :])
    head = f"{{ lambda {captured}; {inputs}. let"
    body = "".join("\n" + printer.equation(e, indent + "    ") for e in jaxpr.equations)
    outputs = ", ".join(printer.atom(x) for x in jaxpr.outputs) + (
        "," if len(jaxpr.outputs) == 1 else ""
    )
    return f"{head}{body}\n{indent}  in ({outputs}) }}"
