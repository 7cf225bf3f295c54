"""Formulas in lowerings: a `Term` is an operand that knows Python's operators.

`x * x + 1` writes a multiply and an add into the block that `x` belongs to.  The functions below
are used by lowerings throughout this package: bit tests that are right for NaN, signed zeros and
flushed subnormal numbers, and polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray

BOOL, INT32, INT64 = map(np.dtype, ("bool", "int32", "int64"))
FLOAT32, FLOAT64 = map(np.dtype, ("float32", "float64"))

# float dtype: the signed integer of its width, and the bits of infinity
_LAYOUT = {
    np.dtype("float16"): (np.dtype("int16"), 0x7C00),
    dtypes.as_dtype("bfloat16"): (np.dtype("int16"), 0x7F80),
    FLOAT32: (INT32, 0x7F800000),
    FLOAT64: (INT64, 0x7FF0000000000000),
}

_WITHOUT_NEGATIVE_ZERO = frozenset(row.dtype for row in dtypes.TABLE if row.name.endswith("fnuz"))


class Term:
    """An operand of a block with Python's operators; scalars beside it become constants.

    `>>` is floor division by a power of two: arithmetic for signed integers, logical for others.
    """

    __slots__ = ("block", "operand")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, block: Any, operand: Any):
        self.block = block
        self.operand = operand

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.operand.aval.dtype
        return dtype

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.operand.aval.shape
        return shape

    @property
    def kind(self) -> str:
        kind: str = self.operand.aval.kind
        return kind

    @property
    def width(self) -> int:
        """How many bits an element has."""
        width: int = self.operand.aval.bits
        return width

    @property
    def size(self) -> int:
        size: int = self.operand.aval.size
        return size

    def apply(self, name: str, *others: Any) -> Term:
        """A StableHLO operation of one type: `x.apply("power", y)`."""
        return Term(self.block, self.block.elementwise(name, self.operand, *map(_plain, others)))

    def _after(self, name: str, other: Any) -> Term:
        return Term(self.block, self.block.elementwise(name, other, self.operand))

    def __add__(self, other: Any) -> Term:
        return self.apply("add", other)

    def __sub__(self, other: Any) -> Term:
        return self.apply("subtract", other)

    def __mul__(self, other: Any) -> Term:
        if self.dtype.kind == "c":
            return _multiply_complex(self, other)
        return self.apply("multiply", other)

    def __truediv__(self, other: Any) -> Term:
        return self.apply("divide", other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Term:
        return self._after("subtract", other)

    def __rtruediv__(self, other: Any) -> Term:
        return self._after("divide", other)

    def __neg__(self) -> Term:
        return self.apply("negate")

    def __abs__(self) -> Term:
        return Term(self.block, self.block.abs(self.operand))

    def __and__(self, other: Any) -> Term:
        return self.apply("and", other)

    def __or__(self, other: Any) -> Term:
        return self.apply("or", other)

    def __xor__(self, other: Any) -> Term:
        return self.apply("xor", other)

    def __invert__(self) -> Term:
        return self.apply("not")

    def __lshift__(self, other: Any) -> Term:
        return self.apply("shift_left", other)

    def __rshift__(self, other: Any) -> Term:
        signed = self.kind == "signed"
        return self.apply("shift_right_arithmetic" if signed else "shift_right_logical", other)

    def compare(self, direction: str, other: Any) -> Term:
        """`direction` is EQ, NE, LT, LE, GT or GE."""
        return Term(self.block, self.block.compare(self.operand, direction, _plain(other)))

    def __eq__(self, other: Any) -> Term:  # type: ignore[override]
        return self.compare("EQ", other)

    def __ne__(self, other: Any) -> Term:  # type: ignore[override]
        return self.compare("NE", other)

    def __lt__(self, other: Any) -> Term:
        return self.compare("LT", other)

    def __le__(self, other: Any) -> Term:
        return self.compare("LE", other)

    def __gt__(self, other: Any) -> Term:
        return self.compare("GT", other)

    def __ge__(self, other: Any) -> Term:
        return self.compare("GE", other)

    def to(self, dtype: Any) -> Term:
        """Converted, by value."""
        x = _ready_for_8_bits(self, np.dtype(dtype)) if dtypes.bits(dtype) == 8 else self
        return Term(x.block, x.block.convert(x.operand, dtype))

    def bits(self) -> Term:
        """The bits of a float as a signed integer."""
        return self.cast(_LAYOUT[self.dtype][0])

    def cast(self, dtype: Any) -> Term:
        """The same bits in another dtype of this width."""
        if self.dtype == dtype:
            return self
        return Term(self.block, self.block.bitcast(self.operand, dtype))

    @property
    def real(self) -> Term:
        return Term(self.block, self.block.real(self.operand))

    @property
    def imag(self) -> Term:
        return Term(self.block, self.block.imag(self.operand))

    def sqrt(self) -> Term:
        return self.apply("sqrt")

    def floor(self) -> Term:
        return self.apply("floor")

    def nearest(self) -> Term:
        """The nearest whole number, ties to even."""
        return self.apply("round_nearest_even")

    def full(self, value: Any) -> Term:
        """A constant of this type."""
        return Term(self.block, self.block.constant(value, self.operand.aval))


def _ready_for_8_bits(x: Term, dtype: np.dtype[Any]) -> Term:
    """What XLA converts rightly to an 8-bit float; other dtypes as they are."""
    if dtypes.kind(dtype) != "float" or x.kind != "float":
        return x
    if x.width == 16:
        x = x.to(FLOAT32)  # f16 to f8_e5m2fnuz loses its subnormal numbers on jaxlib 0.10
    if dtype in _WITHOUT_NEGATIVE_ZERO:
        # The bits of -0.0 are NaN there, and XLA gives them to what is too small.
        smallest = float(dtypes.finfo(dtype).smallest_subnormal)
        return where(abs(x) > smallest / 2, x, where(x == x, x.full(0.0), x))
    if dtype.name == "float8_e4m3fn":
        return where(abs(x) > 464.0, math.nan, x)  # 496 gives -0.0 on jaxlib 0.10
    return x


def _plain(x: Any) -> Any:
    return x.operand if x.__class__ is Term else x


def where(predicate: Term, x: Any, y: Any) -> Term:
    """`x` where the predicate holds, else `y`; one of the two may be a scalar."""
    block = predicate.block
    return Term(block, block.select(predicate.operand, _plain(x), _plain(y)))


def maximum(x: Term, y: Any) -> Term:
    """The larger one; NaN if either is."""
    return x.apply("maximum", y)


def minimum(x: Term, y: Any) -> Term:
    """The smaller one; NaN if either is."""
    return x.apply("minimum", y)


def clip(low: Any, x: Term, high: Any) -> Term:
    """`x` held between two scalars; NaN stays."""
    return minimum(maximum(x, low), high)


def complex_of(real: Term, imag: Any) -> Term:
    """`real + 1j * imag`, part by part."""
    return Term(real.block, real.block.complex(real.operand, _plain(imag)))


def chlo(name: str, *xs: Term) -> Term:
    """An operation of the CHLO dialect, which XLA expands."""
    operands = [x.operand for x in xs]
    head = f"chlo.{name} {', '.join(map(str, operands))}"
    return Term(xs[0].block, xs[0].block.op(head, operands, operands[0].aval))


# ---- bit tests: exact for NaN, signed zeros and subnormals, which XLA's CPU flushes --------------
def sign_mask(dtype: np.dtype[Any]) -> int:
    """The integer with only the sign bit set."""
    return -(1 << (dtypes.bits(dtype) - 1))


def magnitude(x: Term) -> Term:
    """The bits of a float without the sign; they order as the absolute values do."""
    return x.bits() & ~sign_mask(x.dtype)


def is_nan(x: Term) -> Term:
    return magnitude(x) > _LAYOUT[x.dtype][1]


def is_inf(x: Term) -> Term:
    return magnitude(x) == _LAYOUT[x.dtype][1]


def is_finite(x: Term) -> Term:
    return magnitude(x) < _LAYOUT[x.dtype][1]


def is_zero(x: Term) -> Term:
    """Whether no bit but the sign is set, as in no subnormal number.

    LLVM makes a comparison of floats of `magnitude(x) == 0`, and that one takes subnormal numbers
    for zeros; through a product it does not see.
    """
    return magnitude(x).to(FLOAT64) * 0.5 == 0.0


def is_negative(x: Term) -> Term:
    """Whether the sign bit is set; that of -0.0 is."""
    return x.bits() < 0


def is_tiny(x: Term) -> Term:
    """Whether the number is zero or subnormal: the same whether or not those are flushed."""
    return magnitude(x) < 1 << int(np.finfo(x.dtype).nmant)


def sign_of(x: Term) -> Term:
    """The sign bit alone, as an integer."""
    return x.bits() & sign_mask(x.dtype)


def flip(x: Term, sign: Term) -> Term:
    """`x` with its sign bit flipped where `sign`, an integer from `sign_of`, has it set."""
    return (x.bits() ^ sign).cast(x.dtype)


def copysign(x: Term, y: Term) -> Term:
    """The magnitude of `x` with the sign of `y`."""
    return (magnitude(x) | sign_of(y)).cast(x.dtype)


def rounded(product: Term) -> Term:
    """A product that is not fused with the sum it goes into.

    Where two products are added XLA fuses either, and which one is a matter of what else there is:
    of the two only one may be left to it.
    """
    return where(product == product, product, math.nan)


def _multiply_complex(x: Term, y: Any) -> Term:
    """Part by part: which product XLA's own fuses with the sum differs between executables."""
    y = y if y.__class__ is Term else x.full(y)
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if y.operand is x.operand:
        # No product goes into a sum, and of sizes the factor of a zero is not negative: it is 0.0.
        return complex_of((abs(a) - abs(b)) * (abs(a) + abs(b)), a * b * 2.0)
    return complex_of(rounded(a * c) - b * d, rounded(a * d) + b * c)


# ---- numbers ---------------------------------------------------------------------------------
def polynomial(x: Term, *coefficients: float) -> Term:
    """Horner's scheme, the lowest order first: `c[0] + x * (c[1] + x * (...))`."""
    total: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = x * total + c
    return total


# ---- conditions ------------------------------------------------------------------------------
_COLUMNS = 512


def holds_anywhere(predicate: Term) -> Term:
    """Whether any element holds, 0-d."""
    block, size = predicate.block, predicate.size
    flat = block.reshape(predicate.operand, (size,))
    rows = size // _COLUMNS
    if rows > 1:
        # XLA's CPU vectorises a reduction of bool along the first axis only; the barrier keeps it
        # from merging the two reductions again: 108 us for 1e6 elements, against 172.
        main = block.slice(flat, (0,), (rows * _COLUMNS,))
        columns = block.reduce(block.reshape(main, (rows, _COLUMNS)), False, "or_", (0,))
        if rows * _COLUMNS < size:
            rest = block.slice(flat, (rows * _COLUMNS,), (size,))
            columns = block.concatenate([columns, rest], 0)
        flat = block.barrier(columns)
    return Term(block, block.reduce(flat, False, "or_", (0,)))


def replaced_if(
    condition: Term, x: Term, value: Term, function: Callable[[Term, Term], Term]
) -> Term:
    """`value`, or `function(x, value)` instead if the 0-d condition holds.

    A loop of at most one turn: XLA's CPU runs its body in parallel, the branches of an `if` not.
    """
    block = x.block

    def again(inner: Any, again: Any, x: Any, value: Any) -> Any:
        return again

    def replace(inner: Any, again: Any, x: Any, value: Any) -> list[Any]:
        done = inner.constant(False, ShapedArray((), BOOL))
        return [done, x, function(Term(inner, x), Term(inner, value)).operand]

    state = [condition.operand, x.operand, value.operand]
    return Term(block, block.while_loop(again, replace, state)[2])


def divide_complex(x: Term, y: Term) -> Term:
    """Smith's algorithm as NumPy has it; XLA's own has C99's recovery of infinities.

    Of two sums side by side, of which one is a difference, XLA may fuse both products or none.
    """
    a, b, c, d = x.real, x.imag, y.real, y.imag
    real_wins = abs(c) >= abs(d)
    zero = (abs(c) == 0) & (abs(d) == 0)
    large, small = where(real_wins, c, d), where(real_wins, d, c)
    ratio = small / large
    scale = 1.0 / (large + rounded(small * ratio))
    left, right = rounded(a * ratio), rounded(b * ratio)
    real = where(real_wins, a + right, left + b) * scale
    imag = where(real_wins, b - left, right - a) * scale
    return complex_of(where(zero, a / abs(c), real), where(zero, b / abs(c), imag))
