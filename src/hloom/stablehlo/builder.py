"""Module > Function > Block > Operand: StableHLO text, written line by line.

A `Module` holds functions, a `Function` holds one `Block`, a block holds lines, and every line
defines `Operand`s.  All that a block knows of operations is how a line is put together;
`vocabulary` adds a method for each of the common ones.

No line is ever taken back: text that was handed out (a region, a head) is final.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Self, overload

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.support.source import Source, resolve
from hloom.stablehlo import spelling
from hloom.stablehlo.spelling import TENSOR_TYPES, NDArray

# Called with the text of every module, once per text: `EMITTED.append(verify)` in a test session
# has every module of the run verified.  Empty by default.
EMITTED: list[Callable[[str], object]] = []

# A location ends its line, where no string attribute can: those close with a quote or bracket.
_LOCATION = re.compile(r" loc\(#loc\d+\)$", re.MULTILINE)

# Operations whose operands and result have one type; it is then written once, not as a signature.
_ONE_TYPE = frozenset(
    f"stablehlo.{name}"
    for name in """
    add subtract multiply divide remainder power atan2 maximum minimum and or xor not
    shift_left shift_right_arithmetic shift_right_logical
    abs cbrt ceil cosine count_leading_zeros exponential exponential_minus_one floor log
    log_plus_one logistic negate popcnt round_nearest_afz round_nearest_even rsqrt sign sine
    sqrt tan tanh
    """.split()
)


class Operand:
    """An SSA value: its name in the text, `%3` or `%4#1`, and its type."""

    __slots__ = ("name", "aval")

    def __init__(self, name: str, aval: ShapedArray):
        self.name = name
        self.aval = aval

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{self.name}: {self.aval}"


class Constant(Operand):
    """A constant; its line is written when its name is first asked for.

    So a scalar that is only ever broadcast, which makes another constant, leaves no line behind.
    """

    __slots__ = ("value", "raw", "_block", "_name")

    def __init__(self, value: NDArray, raw: bytes, aval: ShapedArray, block: Block):
        self.value = value  # of the aval's shape, or 0-d and the same everywhere
        self.raw = raw  # its bytes
        self.aval = aval
        self._block = block
        self._name = ""

    @property
    def name(self) -> str:  # type: ignore[override]
        if not self._name:
            text = spelling.dense(self.value) if self.aval.size else "dense<>"
            line = f"stablehlo.constant {text} : {TENSOR_TYPES[self.aval]}"
            self._name = self._block.write(line, self.aval).name
        return self._name


Results = ShapedArray | Sequence[ShapedArray]
Value = Any  # an Operand, or a Python scalar, which becomes a constant
Body = Callable[..., "Operand | Sequence[Operand]"]


class Module:
    """One StableHLO module: `main`, the functions it calls, and the places in the user's program.

    `platform` and `exact` are what lowerings may ask for.  `str(module)` is the text.
    """

    __slots__ = (
        "name",
        "platform",
        "exact",
        "located",
        "functions",
        "bodies",
        "locations",
        "places",
        "shared",
        "_texts",
    )

    def __init__(
        self,
        name: str = "main",
        *,
        platform: str = "cpu",
        exact: bool = False,
        locations: bool = True,
    ):
        self.name = name
        self.platform = platform
        self.exact = exact
        self.located = locations
        self.functions: dict[str, str] = {"main": ""}  # name: all that follows it
        self.bodies: dict[str, str] = {}  # the same without locations: name
        self.locations: dict[str, str] = {}  # location: the alias that ends its lines
        self.places: dict[tuple[int, int], str] = {}  # the same, by id of the code and offset
        self.shared: dict[Any, Any] = {}  # what lowering has made for this module already
        self._texts: dict[bool, str] = {}

    def define(self, name: str, body: str) -> str:
        """Add a private function and return its name; one whose text is there already is shared."""
        key = _LOCATION.sub("", body)
        if key not in self.bodies:
            free = (f"{name}_{i}" if i else name for i in count())
            self.bodies[key] = next(n for n in free if n not in self.functions)
            self.functions[self.bodies[key]] = body
        return self.bodies[key]

    def place(self, source: Source) -> str:
        """What ends the lines that come from this source: ` loc(#loc2)`, or nothing."""
        key = id(source[0]), source[1]
        if not self.located:
            return self.places.setdefault(key, "")
        place = resolve(source)
        text = spelling.location(place.file, place.line, place.column) if place else ""
        alias = f" loc(#loc{len(self.locations) + 1})" if text else ""
        return self.places.setdefault(key, self.locations.setdefault(text, alias))

    def text(self, *, locations: bool = True) -> str:
        """The module as text; without locations, programs that differ in them only are equal."""
        locations = locations and self.located
        if locations not in self._texts:
            text = "\n".join(self._parts()) + "\n"
            if not locations and self.located:
                text = _LOCATION.sub("", text[: text.rindex("\n}\n") + 3])
            self._texts[locations] = text
            for hook in EMITTED:
                hook(text)
        return self._texts[locations]

    def _parts(self) -> Iterator[str]:
        yield f"module {spelling.symbol(self.name)} {{"
        for name, body in self.functions.items():
            visibility = "public" if name == "main" else "private"
            yield f"  func.func {visibility} {spelling.symbol(name)}{body}"
        yield "}"
        for place, alias in self.locations.items():
            if alias:
                yield f"{alias[5:-1]} = {place}"

    def __str__(self) -> str:
        return self.text()


class Function:
    """A function: its arguments, and the block that is its body.

    `attributes` maps an argument's position to what is written after its type.
    """

    __slots__ = ("block", "arguments", "attributes")

    def __init__(
        self,
        block: Block,
        in_avals: Sequence[ShapedArray],
        attributes: Mapping[int, str] | None = None,
    ):
        self.block = block
        self.arguments = [Operand(f"%arg{i}", aval) for i, aval in enumerate(in_avals)]
        self.attributes = attributes or {}

    def write(self, body: Body) -> str:
        """All that follows the function's name; it returns what `body(block, *arguments)` does."""
        results = _listed(body(self.block, *self.arguments))
        self.block.finish("return", results)
        arguments = [
            f"{x}: {TENSOR_TYPES[x.aval]}"
            + (f" {self.attributes[i]}" if i in self.attributes else "")
            for i, x in enumerate(self.arguments)
        ]
        arrow = f" -> {spelling.results([x.aval for x in results])}" if results else ""
        return "\n".join([f"({', '.join(arguments)}){arrow} {{", *self.block.lines, "  }"])


class Block:
    """Lines of StableHLO: operations, constants, regions."""

    __slots__ = ("module", "indent", "ending", "lines", "constants", "_numbers")

    def __init__(self, module: Module):
        self.module = module
        self.indent = "    "
        self.ending = ""  # the location of the equation that is being written
        self.lines: list[str] = []
        self.constants: dict[tuple[ShapedArray, bytes], Constant] = {}
        self._numbers = count()

    @property
    def platform(self) -> str:
        """What the module is for: "cpu"."""
        return self.module.platform

    @property
    def exact(self) -> bool:
        """Whether float results must equal NumPy's op by op, at the price of speed."""
        return self.module.exact

    # ---- lines ------------------------------------------------------------------------------
    @overload
    def op(
        self, head: str, operands: Sequence[Operand], out: ShapedArray, *, types: str | None = None
    ) -> Operand: ...
    @overload
    def op(
        self,
        head: str,
        operands: Sequence[Operand],
        out: Sequence[ShapedArray],
        *,
        types: str | None = None,
    ) -> list[Operand]: ...
    def op(
        self, head: str, operands: Sequence[Operand], out: Results, *, types: str | None = None
    ) -> Any:
        """Write `%4 = <head> : <operand types and result types>` and return what it defines.

        `head` is everything up to the colon.  `out` is the result's aval, or a list of avals, and
        then a list is returned.  `types` replaces the types after the colon.
        """
        if types is None:
            types = _signature(head, operands, out)
        if out.__class__ is ShapedArray:  # `write`, spelled out: most lines of a program pass here
            name = f"%{next(self._numbers)}"
            self.lines.append(f"{self.indent}{name} = {head} : {types}{self.ending}")
            return Operand(name, out)
        return self.write(f"{head} : {types}", out)

    def pointwise(self, name: str, operands: Sequence[Operand], out: ShapedArray) -> Operand:
        """Write `stablehlo.<name>`, all of one type; operands fill the result's shape first."""
        shape = out.shape
        names = [x.name if x.aval.shape == shape else self._filled(x, out).name for x in operands]
        result = f"%{next(self._numbers)}"
        text = f"{self.indent}{result} = stablehlo.{name} {', '.join(names)} : {TENSOR_TYPES[out]}"
        self.lines.append(text + self.ending)
        return Operand(result, out)

    @overload
    def write(self, text: str, out: ShapedArray) -> Operand: ...
    @overload
    def write(self, text: str, out: Sequence[ShapedArray]) -> list[Operand]: ...
    @overload
    def write(self, text: str, out: Results) -> Operand | list[Operand]: ...
    def write(self, text: str, out: Results) -> Operand | list[Operand]:
        """Write an operation whose text is complete, and name its results."""
        if isinstance(out, ShapedArray):
            name = f"%{next(self._numbers)}"
            self.lines.append(f"{self.indent}{name} = {text}{self.ending}")
            return Operand(name, out)
        if not out:
            self.lines.append(f"{self.indent}{text}{self.ending}")
            return []
        if len(out) == 1:
            return [self.write(text, out[0])]
        name = f"%{next(self._numbers)}"
        self.lines.append(f"{self.indent}{name}:{len(out)} = {text}{self.ending}")
        return [Operand(f"{name}#{i}", aval) for i, aval in enumerate(out)]

    def finish(self, terminator: str, results: Sequence[Operand]) -> None:
        """The last line of a block."""
        types = f" {join(results)} : {spelling.types([x.aval for x in results])}" if results else ""
        self.lines.append(f"{self.indent}{terminator}{types}{self.ending}")

    # ---- constants --------------------------------------------------------------------------
    def constant(self, value: Any, aval: ShapedArray) -> Constant:
        """`value`, exactly: a scalar that fills the aval's shape, or an ndarray of that shape.

        Raises OverflowError for a value that the aval's dtype does not hold, TypeError for a
        complex value of a real one, ValueError for another shape.
        """
        array = _exactly(value, aval.dtype)
        if array.ndim and array.shape != aval.shape:
            raise ValueError(f"a constant of shape {list(array.shape)} was given for {aval}")
        return self._constant(array, array.tobytes(), aval)

    def _constant(self, array: NDArray, raw: bytes, aval: ShapedArray) -> Constant:
        """The one Constant of this block with these bits."""
        key = aval, raw
        found = self.constants.get(key)
        if found is None:
            found = self.constants[key] = Constant(array, raw, aval, self)
        return found

    def _filled(self, x: Operand, out: ShapedArray) -> Operand:
        """A 0-d operand repeated over a shape, or one along its axes of size 1.

        A constant is just written anew.
        """
        if isinstance(x, Constant) and not x.value.ndim:
            return self._constant(x.value, x.raw, out)
        axes = list(range(x.aval.ndim))
        return self.op(f"stablehlo.broadcast_in_dim {x}, dims = {axes}", [x], out)

    def operands(self, *values: Value) -> list[Operand]:
        """The values as operands: scalars become constants of the type of the first that is one."""
        aval = next((x.aval for x in values if isinstance(x, Operand)), None)
        if aval is None:
            raise TypeError(
                f"a constant takes its type from the operand beside it; got only {values}"
            )
        return [x if isinstance(x, Operand) else self.constant(x, aval) for x in values]

    # ---- regions ----------------------------------------------------------------------------
    def region(self, avals: Sequence[ShapedArray], body: Body) -> str:
        """The text `({ ^bb0(...): ... stablehlo.return ... })`, for an operation with one region.

        `body(block, *operands)` writes into the inner block and returns an Operand or a list.
        """
        return self.regions((avals, body))

    def regions(self, *bodies: tuple[Sequence[ShapedArray], Body]) -> str:
        """The text `({ ... }, { ... })`, for an operation with several regions."""
        texts = []
        for avals, body in bodies:
            arguments = self.arguments(avals)
            types = ", ".join([f"{x}: {TENSOR_TYPES[x.aval]}" for x in arguments])
            header = f"\n{self.indent}^bb0({types}):" if arguments else ""
            texts.append(f"{{{header}\n{self.inside(arguments, body)}\n{self.indent}}}")
        return f"({', '.join(texts)})"

    def arguments(self, avals: Sequence[ShapedArray]) -> list[Operand]:
        """Names for the arguments of a region."""
        return [Operand(f"%{next(self._numbers)}", aval) for aval in avals]

    def inside(self, arguments: Sequence[Operand], body: Body) -> str:
        """The lines of a region: what `body` writes, and the return of its results."""
        inner = self.nested()
        inner.finish("stablehlo.return", _listed(body(inner, *arguments)))
        return "\n".join(inner.lines)

    def nested(self) -> Self:
        """An empty block one level further in; it numbers on, and shares no constants."""
        inner = type(self)(self.module)
        inner.indent = self.indent + "  "
        inner.ending = self.ending
        inner._numbers = self._numbers
        return inner


def join(operands: Sequence[Operand]) -> str:
    """Names separated by commas."""
    return ", ".join([x.name for x in operands])


def _listed(results: Operand | Sequence[Operand]) -> Sequence[Operand]:
    return [results] if isinstance(results, Operand) else results


def _signature(head: str, operands: Sequence[Operand], out: Results) -> str:
    """The types after the colon: one type, or a signature (without parentheses in CHLO)."""
    if isinstance(out, ShapedArray):
        result = TENSOR_TYPES[out]
        if head.partition(" ")[0] in _ONE_TYPE:
            for x in operands:
                if x.aval is not out and TENSOR_TYPES[x.aval] != result:
                    break
            else:
                return result
    else:
        result = spelling.results(out)
    types = ", ".join([TENSOR_TYPES[x.aval] for x in operands])
    return f"{types} -> {result}" if head.startswith("chlo.") else f"({types}) -> {result}"


def _exactly(value: Any, dtype: np.dtype[Any]) -> NDArray:
    """`value` as an ndarray of `dtype`; nothing but digits of a float may get lost."""
    array = np.asarray(value)
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "c" and dtypes.kind(dtype) != "complex":
        raise TypeError(f"a complex constant, {value!r}, was given for {dtypes.short_name(dtype)}")
    with np.errstate(all="ignore"):
        made = array.astype(dtype)
    if dtypes.kind(dtype) in ("float", "complex"):
        lost = np.isfinite(array.astype(np.complex128)) & ~np.isfinite(made.astype(np.complex128))
    else:
        lost = np.asarray(made.astype(object) != array.astype(object))
    if lost.any():
        raise OverflowError(f"the constant {value!r} does not fit {dtypes.short_name(dtype)}")
    return made
