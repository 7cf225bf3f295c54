"""The family of elementwise operations: one result element per operand element."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.aval import ShapedArray
from hloom.core.primitive import Primitive, UndefinedPrimal, is_linear
from hloom.ops.common import linear
from hloom.ops.common.expression import FLOAT32, Term

Partials = Sequence[Callable[..., Any] | None]
Formula = Callable[..., Term]

_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))

# For error texts: a dtype of each domain, and the lenient function for a strict one.
_EXAMPLES = {
    "complex": "complex64", "integer": "int32", "signed": "int32", "unsigned": "uint32",
    "bits": "int32", "bool": "bool",
}  # fmt: skip
_NUMPY_NAMES = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "rem": "fmod",
    "floor_divide": "floor_divide", "mod": "mod", "pow": "power", "max": "maximum",
    "min": "minimum",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "shift_left": "left_shift", "shift_right_arithmetic": "right_shift",
    "shift_right_logical": "right_shift", "atan2": "arctan2", "nextafter": "nextafter",
    "select": "where", "select_n": "where", "clamp": "clip", "dot_general": "matmul",
}  # fmt: skip


def _lenient(name: str) -> str:
    """For an error text: the hloom.numpy function that does what the strict one refuses to."""
    lenient = _NUMPY_NAMES.get(name)
    return f"use hloom.numpy.{lenient}, which does, or " if lenient else ""


def types_text(avals: Sequence[ShapedArray]) -> str:
    """Operand types for an error text: `f32[2,3] and i32[]`."""
    texts = list(map(str, avals))
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def check_domain(name: str, avals: Sequence[ShapedArray], domain: str) -> None:
    """Raise TypeError unless every operand's dtype lies in the domain."""
    if all(aval.dtype in dtypes.DOMAINS[domain] for aval in avals):
        return
    raise TypeError(
        f"{name} takes {domain} operands; got {types_text(avals)}. "
        f"Convert first: lax.convert_element_type(x, {_EXAMPLES.get(domain, 'float32')!r})."
    )


def check_countable(name: str, aval: ShapedArray, axis: int, dtype: Any, more: int = 0) -> None:
    """Raise ShapeError for an axis whose places, and `more`, are too many for a dtype."""
    if aval.shape[axis] - 1 + more > dtypes.iinfo(dtype).max:
        places = dtypes.short_name(dtype)
        raise errors.ShapeError(
            f"{name} counts positions in {places}; axis {axis} of {aval} is longer"
        )


def check_same_dtype(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise TypeError unless all operands have one dtype: lax never promotes."""
    if all(aval.dtype == avals[0].dtype for aval in avals):
        return
    raise TypeError(
        f"{name} needs operands of one dtype; got {types_text(avals)}. lax never promotes: "
        f"{_lenient(name)}convert one with lax.convert_element_type."
    )


def common_shape(name: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The result's shape: axes of size 1 are repeated to any size, 0-d operands to any shape.

    Raises ShapeError for operands of two ranks, and for two sizes of one axis.
    """
    shapes = {aval.shape for aval in avals if aval.shape}
    if len({len(shape) for shape in shapes}) > 1:
        raise errors.ShapeError(
            f"{name} needs operands of one rank (or 0-d); got {types_text(avals)}. lax adds no "
            f"axes: {_lenient(name)}spread one with lax.broadcast_in_dim."
        )
    shape = []
    for axis, sizes in enumerate(zip(*shapes)):
        found = set(sizes) - {1}
        if len(found) > 1:
            raise errors.ShapeError(
                f"{name} needs operands of one size along each axis (or 1); got "
                f"{types_text(avals)}, and along axis {axis} the sizes "
                f"{' and '.join(map(str, sorted(found)))}."
            )
        shape.append(found.pop() if found else 1)
    return tuple(shape)


def same_shape(name: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The operands' one shape, apart from 0-d ones.  Raises ShapeError if there are two."""
    shapes = {aval.shape for aval in avals if aval.shape}
    if len(shapes) > 1:
        raise errors.ShapeError(
            f"{name} needs operands of one shape (or 0-d); got {types_text(avals)}. It repeats no "
            f"axes: {_lenient(name)}spread one with lax.broadcast_in_dim."
        )
    return shapes.pop() if shapes else ()


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is a float of fewer than 32 bits: its functions are evaluated in f32."""
    return dtypes.kind(dtype) == "float" and dtypes.bits(dtype) < 32


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which sums of products of this dtype are computed."""
    return np.dtype(np.float32) if is_narrow(dtype) else dtypes.addressable(dtype)


def part_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the parts: c64 -> f32, c128 -> f64; others are their own."""
    return np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype


def filled(block: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """An operand of a block repeated to the shape: a 0-d one, or along its axes of size 1."""
    return x if x.aval.shape == shape else block.broadcast(x, shape, range(x.aval.ndim))


def arity(function: Any) -> int:
    """How many operands a NumPy ufunc or a Python function takes."""
    if isinstance(function, np.ufunc):
        return function.nin
    formal = inspect.signature(function).parameters.values()
    return sum(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in formal)


def flat(tangent: Any, out: Any, *primals: Any, **params: Any) -> None:
    """The partial by an operand that moves the result nowhere, or only in steps: zero."""


class Pointwise(Primitive):
    """One result element per operand element; 0-d operands are repeated to any shape."""

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], **params: Any
    ) -> tuple[Any, int]:
        ranks = [x.aval.ndim - (a is not None) for x, a in zip(operands, batch_axes)]
        full = ranks.index(max(ranks))  # an operand of the result's rank tells its shape
        x, axis = operands[full], batch_axes[full]
        if axis is None:
            axis, shape = 0, x.aval.shape
        else:
            shape = x.aval.shape[:axis] + x.aval.shape[axis + 1 :]
        whole = (*shape[:axis], size, *shape[axis:])
        aligned = [_align(x, a, axis, whole) for x, a in zip(operands, batch_axes)]
        return self(*aligned, **params), axis


class Elementwise(Pointwise):
    """An op whose operands have one dtype and one rank, as a row of rules.

    Axes of size 1 are repeated to any size, and 0-d operands to any shape.

    - `domain`: the dtypes taken.  `result`: the dtype given, if it is another (a fixed one, or a
      function of the operand's dtype and the params).
    - `hlo`: the StableHLO operation, where that is all there is to write.  `formula`: the result
      as a function of `formula.Term`s, where it is not; one for all dtypes, or a dict of them by
      kind, and `hlo` is for the kinds that it leaves out.  Floats narrower than 32 bits come to
      a formula as f32 and are rounded once, as in NumPy.
    - `numpy`: the result as a function of ndarrays; narrow floats come as f32 here too.
    - `jvp[i]` maps the tangent of operand i to its share of the result's tangent:
      `lambda t, out, *primals`; `flat` where that is zero, None where it is not known, and there
      a tangent is refused.  Ops that take or give no floats are flat and may leave it out.
    - `transpose[i]` maps the cotangent back to operand i, for ops that are linear in it:
      `lambda ct, *operands`.
    - `narrow`: formula and NumPy function take narrow floats as they are.

    Parameters of the primitive reach all of them by keyword.
    """

    shape = staticmethod(common_shape)
    elementwise = True

    def __init__(
        self,
        name: str,
        *,
        hlo: str = "",
        formula: Formula | Mapping[str, Formula] | None = None,
        numpy: Callable[..., Any],
        jvp: Partials = (),
        transpose: Partials = (),
        domain: str = "number",
        result: np.dtype[Any] | Callable[..., np.dtype[Any]] | None = None,
        narrow: bool = False,
    ):
        super().__init__(name)
        self.hlo = hlo
        if callable(formula):
            formula = dict.fromkeys(dtypes.KINDS, formula)
        self.formulas = dict(formula or {})
        self.function = numpy
        self.arity = arity(numpy)
        self.partials = jvp or (flat if self._is_discrete(domain, result) else None,) * self.arity
        self.adjoints = transpose
        self.domain = domain
        self.dtypes = dtypes.DOMAINS[domain]
        self.result = result
        self.narrow = narrow
        self.ways: dict[Any, tuple[Any, bool]] = {}  # a dtype's formula, and whether it has 8 bits

    @staticmethod
    def _is_discrete(domain: str, result: Any) -> bool:
        """Whether no operand, or no result, can move by little."""
        takes = {dtypes.kind(dtype) for dtype in dtypes.DOMAINS[domain]}
        gives = dtypes.kind(result) if isinstance(result, np.dtype) else "float"
        return takes.isdisjoint(("float", "complex")) or gives not in ("float", "complex")

    def infer(self, *avals: ShapedArray, **params: Any) -> ShapedArray:
        count = len(avals)
        if count != self.arity or params:
            self._refuse(avals, params)
        first = avals[0]
        if first.dtype not in self.dtypes:
            check_domain(self.name, avals, self.domain)
        if self.result is None and (count == 1 or (count == 2 and avals[1] is first)):
            return first
        shape, weak, dtype = first.shape, first.weak_type, first.dtype
        for aval in avals[1:]:
            if aval.dtype is not dtype:
                check_same_dtype(self.name, avals)
            if aval.shape and aval.shape != shape:  # 0-d operands fit any
                shape = self.shape(self.name, avals) if shape else aval.shape
            weak = weak and aval.weak_type
        if self.result is not None:
            fixed = isinstance(self.result, np.dtype)
            dtype = self.result if fixed else self.result(dtype)
            weak = weak and not fixed
        return ShapedArray(shape, dtype, weak)

    def _refuse(self, avals: Sequence[ShapedArray], params: dict[str, Any]) -> None:
        """The errors for calls that no operands would make right."""
        if params:
            raise TypeError(f"{self.name} has no parameter {', '.join(params)}; it has none")
        given = types_text(avals) if avals else "none"
        operands = "1 operand" if self.arity == 1 else f"{self.arity} operands"
        raise TypeError(f"{self.name} takes {operands}; got {given}")

    def numpy(self, *values: Any, **params: Any) -> Any:
        """The function's result: wrong dtypes stay, so that an engine can tell.

        What NumPy has no arithmetic for is computed in f32 or in bytes, and converted at the end.
        """
        given = values[0].dtype
        in_f32 = not self.narrow and is_narrow(given)
        if in_f32:
            values = tuple(v.astype(np.float32) if is_narrow(v.dtype) else v for v in values)
        with np.errstate(all="ignore"):
            result = np.asarray(self.function(*values, **params))
            in_bytes = dtypes.bits(given) < 8 and result.dtype in _BYTES
            computed_in = in_bytes or (in_f32 and result.dtype == FLOAT32)
            return result.astype(given) if computed_in else result

    def emit(self, block: Any, out: ShapedArray, *operands: Any, **params: Any) -> Any:
        dtype = operands[0].aval.dtype
        way = self.ways.get(dtype)
        if way is None:
            kind = dtypes.kind(dtype)
            formula = self.formulas.get(kind) if self.formulas else None
            way = self.ways[dtype] = formula, kind == "float" and dtypes.bits(dtype) < 16
        formula, tiny = way
        if formula is None and self.result is None and not tiny:
            return block.pointwise(self.hlo, operands, out)
        operands = tuple(filled(block, x, out.shape) for x in operands)
        if formula is None and tiny:
            return self._in_f32(block, out, operands)
        if formula is None:
            return block.op(f"stablehlo.{self.hlo} {', '.join(map(str, operands))}", operands, out)
        terms = [Term(block, x) for x in operands]
        if tiny or (is_narrow(dtype) and not self.narrow):
            terms = [x.to(FLOAT32) if is_narrow(x.dtype) else x for x in terms]
        result = formula(*terms, **params)
        return result.to(out.dtype).operand

    def _in_f32(self, block: Any, out: ShapedArray, operands: Sequence[Any]) -> Any:
        """`hlo` of floats of 8 bits and fewer: XLA's own conversions around it are faulty."""
        wide = [Term(block, x).to(FLOAT32).operand for x in operands]
        dtype = FLOAT32 if self.result is None else out.dtype
        result = block.op(
            f"stablehlo.{self.hlo} {', '.join(map(str, wide))}", wide, out.update(dtype=dtype)
        )
        return Term(block, result).to(out.dtype).operand

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        out = self(*primals, **params)
        primals = [_stretched(x, out.aval.shape) for x in primals]
        total = None
        for i, (tangent, partial) in enumerate(zip(tangents, self.partials)):
            if tangent is None:
                continue
            if partial is None:
                raise self._no_derivative(primals, i)
            tangent = _stretched(tangent, out.aval.shape)
            total = linear.plus(total, partial(tangent, out, *primals, **params))
        if total is not None and total.aval.shape != out.aval.shape:
            total = linear.spread_scalar(total, out.aval.shape)
        return out, total

    def _no_derivative(self, primals: Sequence[Any], operand: int) -> NotImplementedError:
        given = types_text([x.aval for x in primals])
        return NotImplementedError(
            f"{self.name} of {given} has no derivative by operand {operand}. Hold it with "
            "lax.stop_gradient(...), if it does not depend on what you differentiate by."
        )

    def transpose(self, ct: Any, *operands: Any, **params: Any) -> list[Any]:
        cts: list[Any] = [None] * len(operands)
        for i, x in enumerate(operands):
            if is_linear(x):
                adjoint = self.adjoints[i] if i < len(self.adjoints) else None
                if adjoint is None:
                    raise errors.missing_rule(self.name, "transpose")
                cts[i] = like_operand(adjoint(ct, *operands, **params), x)
        return cts


def _align(x: Any, a: int | None, axis: int, whole: tuple[int, ...]) -> Any:
    """An operand with its batch axis at `axis`; a scalar that all examples share stays 0-d."""
    if a is None:
        return x if x.aval.ndim == 0 else linear.spread(x, axis, whole[axis])
    if x.aval.ndim == len(whole):
        return linear.move(x, a, axis)
    return linear.broadcast_to(x, whole, (axis,))  # a scalar for each example, beside arrays


def _stretched(x: Any, shape: tuple[int, ...]) -> Any:
    """An operand with its axes of size 1 repeated to the shape; a 0-d one stays."""
    if x.aval.shape == shape or not x.aval.shape:
        return x
    return linear.broadcast_to(x, shape, range(len(shape)))


def like_operand(ct: Any, x: UndefinedPrimal) -> Any:
    """Sum a cotangent down to an operand that was repeated: to 0-d, or along axes of size 1."""
    if ct is None or ct.aval.shape == x.aval.shape:
        return ct
    if not x.aval.shape:
        return linear.sum_all(ct)
    sizes = zip(ct.aval.shape, x.aval.shape)
    axes = tuple(axis for axis, (whole, size) in enumerate(sizes) if whole != size)
    kept = [axis for axis in range(x.aval.ndim) if axis not in axes]
    return linear.broadcast_to(linear.sum_over(ct, axes), x.aval.shape, kept)
