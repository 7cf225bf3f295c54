"""Jaxpr to StableHLO: each equation's primitive is asked to `emit`, equal sub-functions are shared.

`lower(jaxpr)` gives a `Module`, and `str` of it is the text:

>>> from hloom.stablehlo import lower
>>> print(lower(hloom.make_jaxpr(lax.neg)(jnp.ones(3)).jaxpr, locations=False))
module @main {
  func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.config import enable_x64
from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Equation, Jaxpr, Literal
from hloom.core.record import trace_to_jaxpr
from hloom.stablehlo import rows, spelling
from hloom.stablehlo.builder import EMITTED, Function, Module, Operand, join
from hloom.stablehlo.vocabulary import Vocabulary

__all__ = ["EMITTED", "Lowering", "lower"]


def lower(
    jaxpr: Jaxpr,
    *,
    name: str = "main",
    platform: str = "cpu",
    exact: bool = False,
    donated: Collection[int] = (),
    locations: bool = True,
) -> Module:
    """The StableHLO module whose `main` computes the Jaxpr.

    `name` is the module's name, which profiles show.  `donated` holds positions of inputs whose
    memory the results may take.  `locations=False` leaves the user's lines out, so that equal
    programs have equal texts.  Raises NotImplementedError for a primitive without an `emit` rule.
    """
    module = Module(name, platform=platform, exact=exact, locations=locations)
    main = Function(Lowering(module), jaxpr.in_avals, _donations(jaxpr, donated))
    row = rows.in_one_row(jaxpr) if platform == "cpu" else None

    def body(block: Lowering, *xs: Operand) -> list[Operand]:
        if row is None:
            return block.inline(jaxpr, xs)
        flat = rows.reshaped(block, xs, row.in_avals)
        return rows.reshaped(block, block.inline(row, flat), jaxpr.out_avals)

    module.functions["main"] = main.write(body)
    return module


def _donations(jaxpr: Jaxpr, donated: Collection[int]) -> dict[int, str]:
    """Argument attributes: a donated input goes to the first free result of its type."""
    free = [spelling.tensor_type(aval) for aval in jaxpr.out_avals]
    attributes = {}
    for position in sorted(donated):
        wanted = spelling.tensor_type(jaxpr.inputs[position].aval)
        if wanted in free:
            attributes[position] = f"{{tf.aliasing_output = {free.index(wanted)} : i32}}"
            free[free.index(wanted)] = ""
        else:
            attributes[position] = "{jax.buffer_donor = true}"
    return attributes


# The integers of their width, for floats whose constants may be subnormal.
_SUBNORMAL = {np.dtype(f"float{width}"): np.dtype(f"int{width}") for width in (16, 32, 64)}


class Lowering(Vocabulary):
    """A block that Jaxprs are written into: in line, or as a call of a function of their own."""

    __slots__ = ()

    def inline(
        self, jaxpr: Jaxpr, operands: Sequence[Operand], *, located: bool = True
    ) -> list[Operand]:
        """Write the Jaxpr's equations here; captures lead the operands.

        Every line gets the location of its equation, or, if not `located`, the one in force.
        """
        env: dict[Any, Operand] = dict(zip(jaxpr.inputs, operands, strict=True))
        known: set[Any] = set()  # variables whose values a compiler could compute
        ending = self.ending
        places = self.module.places if located else None
        for equation in jaxpr.equations:
            if places is not None and equation.source is not None:
                # A code object hashes by value, which is slow; the Jaxpr keeps its id good.
                code, offset = equation.source
                place = places.get((id(code), offset))
                self.ending = self.module.place(equation.source) if place is None else place
            inputs = [env.get(atom) or self._literal(atom) for atom in equation.inputs]
            primitive, outputs = equation.primitive, equation.outputs
            if all(atom.__class__ is Literal or atom in known for atom in equation.inputs):
                if primitive.elementwise:
                    inputs = [self._hidden(x) for x in inputs]
                else:
                    known.update(outputs)
            if primitive.multiple:
                avals = [var.aval for var in outputs]
                made = primitive.emit(self, avals, *inputs, **equation.params)
                _check(equation, made, avals)
                env.update(zip(outputs, made))
            else:
                (var,) = outputs
                env[var] = made = primitive.emit(self, var.aval, *inputs, **equation.params)
                if made.__class__ is not Operand or made.aval is not var.aval:
                    _check(equation, [made], [var.aval])
        self.ending = ending
        return [env.get(atom) or self._literal(atom) for atom in jaxpr.outputs]

    def _hidden(self, x: Operand) -> Operand:
        """A known operand of a function, which the compiler is not to evaluate.

        Its answers for constants are others than the program's: subnormal numbers are not flushed,
        and exp, tanh and other functions are those of the C library.
        """
        kind, width = x.aval.kind, x.aval.bits
        if kind == "complex":
            return self.complex(self._hidden(self.real(x)), self._hidden(self.imag(x)))
        if kind != "float" or width < 16:
            return x
        bits = self._hidden_bits("xor", self.bitcast(x, np.dtype(f"int{width}")))
        return self.bitcast(bits, x.aval.dtype)

    def _hidden_bits(self, combine: str, bits: Operand) -> Operand:
        """Integers, combined with a zero that the compiler does not see through.

        It is an element of an array behind a barrier; what is the same all over is seen through,
        and so are two `xor`s.
        """
        aval = bits.aval.update(shape=(2,))
        zeros = self.barrier(self.constant(np.arange(2, dtype=aval.dtype), aval))
        zero = self.reshape(self.slice(zeros, (0,), (1,)), ())
        shape = bits.aval.shape
        return self.elementwise(combine, bits, self.broadcast(zero, shape, ()) if shape else zero)

    def _literal(self, atom: Any) -> Operand:
        if atom.__class__ is not Literal:
            raise ValueError(
                f"{atom!r} is used before an equation defines it; hloom.core.check_jaxpr says where"
            )
        integer = _SUBNORMAL.get(atom.aval.dtype)
        if integer is not None and not atom.aval.shape:
            value = np.asarray(atom.value, atom.aval.dtype).reshape(())
            if 0 < abs(value) < dtypes.finfo(value.dtype).tiny:
                # XLA takes all subnormal constants for one.
                bits = self.constant(value.view(integer), atom.aval.update(dtype=integer))
                return self.bitcast(self._hidden_bits("or", bits), atom.aval.dtype)
        return self.constant(atom.value, atom.aval)

    def call(self, jaxpr: Jaxpr, operands: Sequence[Operand], name: str = "call") -> list[Operand]:
        """Call the Jaxpr as a function, written once per module however often it is called.

        Jaxprs that differ as objects but give the same text share their function too.
        """
        head = f"func.call {self._function(jaxpr, name)}({join(operands)})"
        return self.op(head, operands, jaxpr.out_avals)

    def composite(
        self, jaxpr: Jaxpr, operands: Sequence[Operand], name: str, version: int,
        attributes: Mapping[str, str],
    ) -> list[Operand]:  # fmt: skip
        """`stablehlo.composite` with the Jaxpr as its decomposition; attributes are spelled out."""
        function = self._function(jaxpr, name)
        parts = [f"decomposition = {function}", f"version = {version} : i32"]
        if attributes:
            written = [f"{spelling.string(k)} = {text}" for k, text in attributes.items()]
            parts.insert(0, f"composite_attributes = {{{', '.join(written)}}}")
        head = f"stablehlo.composite {spelling.string(name)} {join(operands)}"
        return self.op(f"{head} {{{', '.join(parts)}}}", operands, jaxpr.out_avals)

    def _function(self, jaxpr: Jaxpr, name: str) -> str:
        """The symbol of the Jaxpr's function in this module."""
        shared = self.module.shared
        if jaxpr not in shared:
            function = Function(type(self)(self.module), jaxpr.in_avals)
            body = function.write(lambda block, *xs: block.inline(jaxpr, xs))
            shared[jaxpr] = self.module.define(name, body)
        return spelling.symbol(shared[jaxpr])

    def trace(self, fun: Callable[..., Any], *operands: Operand) -> Any:
        """Write what `fun`, a function written with lax, does with these operands; Operand or list.

        All dtypes exist while it is traced, whatever the user's x64 switch says.
        """
        avals = tuple([x.aval for x in operands])
        key = fun, avals
        if key not in self.module.shared:
            self.module.shared[key] = _trace(fun, avals)
        jaxpr, captured, listed = self.module.shared[key]
        constants = [self.constant(np.asarray(x), x.aval) for x in captured]
        results = self.inline(jaxpr, [*constants, *operands], located=False)
        return results if listed else results[0]


def _trace(fun: Callable[..., Any], avals: Sequence[ShapedArray]) -> tuple[Jaxpr, list[Any], bool]:
    """The Jaxpr of `fun`, what it captured, and whether it returned a list."""
    listed = False

    def traced(*xs: Any) -> Any:
        nonlocal listed
        results = fun(*xs)
        listed = isinstance(results, (list, tuple))
        return results

    with enable_x64():
        jaxpr, captured = trace_to_jaxpr(traced, avals)
    return jaxpr, captured, listed


def _check(equation: Equation, made: Any, avals: Sequence[ShapedArray]) -> None:
    """Raise TypeError unless an `emit` rule gave what `infer` promised, but for weak types."""
    given = [x.aval if isinstance(x, Operand) else type(x).__name__ for x in made]
    if [_type(aval) for aval in given] != [_type(aval) for aval in avals]:
        raise TypeError(
            f"the emit rule of {equation.primitive.name} gave {', '.join(map(str, given))} "
            f"where its infer rule promised {', '.join(map(str, avals))}. "
            "Return operands of the avals that emit receives as `out`."
        )


def _type(aval: Any) -> str:
    return spelling.tensor_type(aval) if isinstance(aval, ShapedArray) else ""
