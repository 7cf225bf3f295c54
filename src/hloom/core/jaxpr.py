"""The IR: a `Jaxpr` is a typed list of equations, each one application of a primitive.

The classes are plain data for programs to read; docs/a_jaxpr_is_data.md shows what that is good
for.  JAX's names for the same things are there too: `eqns`, `invars`, `outvars`, `constvars`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, NoReturn

import numpy as np

from hloom import errors
from hloom.core.array import Array, HostArray, host_array
from hloom.core.aval import ShapedArray
from hloom.core.operands import operand
from hloom.core.support.frames import hidden, locate
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

    @property
    def val(self) -> np.ndarray[Any, Any]:
        """JAX's name for `value`."""
        return self.value

    def __repr__(self) -> str:
        return str(self.value[()])


#: What an equation takes: a variable, or a constant in its place.
Atom = Var | Literal


class Equation:
    """`outputs = primitive[params] inputs`, and the user's line it comes from.

    `params` is a dict of what is static: axes, dtypes, Jaxprs.  Its values can be hashed.

    >>> (equation,) = hloom.make_jaxpr(lambda x: jnp.sum(x, axis=1))(jnp.ones((2, 3))).equations
    >>> equation.primitive.name, equation.params, equation.inputs[0].aval
    ('reduce_sum', {'axes': (1,)}, ShapedArray(float32[2,3]))
    """

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

    @property
    def invars(self) -> list[Atom]:
        """JAX's name for `inputs`."""
        return self.inputs

    @property
    def outvars(self) -> list[Var]:
        """JAX's name for `outputs`."""
        return self.outputs

    def __repr__(self) -> str:
        return Printer(Jaxpr([], [self], list(self.outputs))).equation(self, "")

    def inner_jaxprs(self) -> Iterator[Jaxpr]:
        """The Jaxprs among the parameters, those in tuples too, however deep.

        They are what `jit`, `cond`, `scan` and `while` apply.  An equation hands over all that
        these Jaxprs capture, so that for `jit` the equation's `inputs` pair with `inner.inputs`.

        >>> closed = hloom.make_jaxpr(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x))(1.0)
        >>> [inner.equations for inner in closed.equations[-1].inner_jaxprs()]
        [[b:f32[] = cos a], [b:f32[] = sin a]]
        """
        return iter(_jaxprs_in(self.params.values(), []))


def _jaxprs_in(values: Iterable[Any], found: list[Jaxpr]) -> list[Jaxpr]:
    """Parameters can be hashed, so that the only containers among them are tuples."""
    for value in values:
        if value.__class__ is Jaxpr:
            found.append(value)
        elif value.__class__ is ClosedJaxpr:
            found.append(value.jaxpr)
        elif isinstance(value, tuple):
            _jaxprs_in(value, found)
    return found


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
        """JAX's name for `equations`."""
        return self.equations

    @property
    def constvars(self) -> list[Var]:
        """JAX's name for those of the `inputs` that are captured values."""
        return self.inputs[: self.captured]

    @property
    def invars(self) -> list[Var]:
        """JAX's name for the other `inputs`: the arguments."""
        return self.inputs[self.captured :]

    @property
    def outvars(self) -> list[Atom]:
        """JAX's name for `outputs`."""
        return self.outputs

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
    """A Jaxpr with the arrays that it captured, `consts`; what `make_jaxpr` returns.

    >>> w = jnp.arange(3.0)
    >>> closed = hloom.make_jaxpr(lambda x: jnp.sin(x) * w)(w)
    >>> closed.consts, closed.in_avals, closed.equations[0].primitive
    ([Array([0., 1., 2.], dtype=float32)], [ShapedArray(float32[3])], sin)
    """

    __slots__ = ("jaxpr", "consts")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Array]):
        self.jaxpr = jaxpr
        self.consts = list(consts)

    @property
    def inputs(self) -> list[Var]:
        """The arguments' variables; those of `consts` come before them in `jaxpr.inputs`."""
        return self.jaxpr.inputs[self.jaxpr.captured :]

    @property
    def outputs(self) -> list[Atom]:
        """The results."""
        return self.jaxpr.outputs

    @property
    def equations(self) -> list[Equation]:
        """The equations, in order."""
        return self.jaxpr.equations

    @property
    def in_avals(self) -> list[ShapedArray]:
        """Types of the arguments."""
        return self.jaxpr.in_avals[self.jaxpr.captured :]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """Types of the results."""
        return self.jaxpr.out_avals

    eqns = equations
    invars = inputs
    outvars = outputs

    @property
    def constvars(self) -> list[Var]:
        """JAX's name for the variables of `consts`."""
        return self.jaxpr.constvars

    @property
    def literals(self) -> list[Array]:
        """JAX's other name for `consts`."""
        return self.consts

    @hidden
    def __call__(self, *args: Any) -> list[Any]:
        """The list of results for one array or number for each of `in_avals`.

        The equations are applied one by one in the trace in force: so it can be traced, and
        `hloom.jit(closed)` is one program.  Raises TypeError for arguments of other types.

        >>> closed = hloom.make_jaxpr(lambda x: jnp.sin(x) * 2)(1.0)
        >>> closed(0.5)
        [Array(0.9588511, dtype=float32)]
        """
        for x in args:
            if isinstance(x, (dict, list, tuple)):
                raise TypeError(
                    f"a Jaxpr takes arrays, not pytrees; got a {type(x).__name__}. Pass the "
                    "leaves: closed(*hloom.tree.leaves(args))"
                )
        taken = self.in_avals
        dtypes = [aval.dtype for aval in taken[: len(args)]]
        operands = [
            operand("a Jaxpr", i, x, dtype)
            for i, (x, dtype) in enumerate(zip_longest(args, dtypes))
        ]
        if [(x.aval.shape, x.aval.dtype) for x in operands] != [(a.shape, a.dtype) for a in taken]:
            raise TypeError(
                f"this Jaxpr takes ({', '.join(map(str, taken))}); got "
                f"({', '.join([str(x.aval) for x in operands])}). Trace the function for these "
                "arguments: hloom.make_jaxpr(f)(...)"
            )
        return eval_jaxpr(self.jaxpr, self.consts, *operands)

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Apply the Jaxpr's equations, in order, in the trace in force.

    The operands are `consts`, the values that the Jaxpr captured, then `args`; they may all be
    in the one list.  Raises TypeError unless they are as many as `jaxpr.inputs`.

    >>> from hloom.core import eval_jaxpr
    >>> closed = hloom.make_jaxpr(lambda x: jnp.sin(x) * 2)(1.0)
    >>> eval_jaxpr(closed.jaxpr, closed.consts, jnp.float32(0.5))
    [Array(0.9588511, dtype=float32)]
    """
    operands = (*consts, *args)
    if len(operands) != len(jaxpr.inputs):
        raise TypeError(
            f"eval_jaxpr: the Jaxpr takes {len(jaxpr.inputs)} operands, {jaxpr.captured} of them "
            f"for what it captured; got {len(operands)}. Of a ClosedJaxpr: "
            "eval_jaxpr(closed.jaxpr, closed.consts, *args)"
        )
    env: dict[Var, Any] = dict(zip(jaxpr.inputs, operands))

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
