"""The elementwise functions of `hloom.numpy` as one table: what they take, how exact they are.

`test_elementwise` tries each on corner values of every dtype, the property tests on whatever
hypothesis draws.  NumPy's function of the same name is the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.testing import flushed, same_bits, show, ulps, wider

INTEGERS = ("int8", "int32", "int64", "uint8", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
BITS = ("bool", *INTEGERS)
REAL = ("bool", *INTEGERS, *FLOATS)
NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)
ALL = ("bool", *NUMBERS)

NDArray = np.ndarray[Any, Any]


class Ufunc(NamedTuple):
    """One function.

    `takes`: the dtypes that NumPy's function takes; it refuses the others with TypeError, and so
    must ours.  `gives`: one of RESULTS, or a dtype; a tuple for several results.  `ulp` is what
    results may differ by from NumPy's in a wider dtype: (f32, f64, complex), and 1 for narrower
    floats; 0 means NumPy's bits.  `why` says what that is spent on.  `narrow`: 16-bit floats are
    compared with NumPy's function of them, not with that of float32 rounded.  `signs`: zeros have
    NumPy's signs.
    """

    name: str
    arity: int
    takes: tuple[str, ...]
    gives: str | tuple[str, ...]
    ulp: tuple[float, float, float] = (0, 0, 0)
    why: str = "exact"
    narrow: bool = False
    signs: bool = True
    oracle: Callable[..., Any] | None = None

    def __str__(self) -> str:
        return self.name

    def numpy(self, *operands: NDArray) -> Any:
        """NumPy's result."""
        with np.errstate(all="ignore"):
            return (self.oracle or getattr(np, self.name))(*operands)

    def dtypes(self, operand: np.dtype[Any]) -> list[np.dtype[Any]]:
        """The dtypes of the results, 64-bit types on."""
        rules = (self.gives,) if isinstance(self.gives, str) else self.gives
        return [RESULTS[rule](operand) if rule in RESULTS else np.dtype(rule) for rule in rules]

    def budget(self, operand: np.dtype[Any]) -> float:
        """How many ulp the results for operands of this dtype may be off."""
        single, double, complex_ = self.ulp
        match dtypes.kind(operand):
            case "complex":
                return complex_
            case "float" if dtypes.bits(operand) < 32:
                return 1.0 if single else 0.0
            case _:
                return single if operand == np.float32 else double


def _float(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtypes.kind(dtype) in ("float", "complex") else np.dtype("float64")


def _part(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype


# What a function gives: the dtype of its result from that of its operands.
RESULTS: dict[str, Callable[[np.dtype[Any]], np.dtype[Any]]] = {
    "same": lambda dtype: dtype,
    "number": lambda dtype: np.dtype("int8") if dtype.kind == "b" else dtype,
    "part": _part,
    "inexact": _float,
    "float": lambda dtype: _part(_float(dtype)),
    "wide": lambda dtype: np.dtype("complex128" if dtype.kind == "c" else "float64"),
}


def _reciprocal(x: NDArray) -> NDArray:
    """NumPy's of the integer 0 is what the processor leaves."""
    if x.dtype.kind in "iub":
        return np.where(x == 0, 0, np.reciprocal(np.where(x == 0, 1, x)))
    return np.reciprocal(x)


def _power(x: NDArray, y: NDArray) -> NDArray:
    """Integers to powers of at most 6 bits, so that none is negative."""
    return np.power(x, y if y.dtype.kind not in "iub" else y & 63)


def _i0(x: NDArray) -> NDArray:
    """NumPy's has no limit at infinity."""
    return np.where(np.isinf(x), np.inf, np.i0(np.where(np.isinf(x), 0, x)))


def _spacing(x: NDArray) -> NDArray:
    """NumPy's knows no bfloat16."""
    if x.dtype.kind == "f":
        return np.spacing(x)
    size = np.abs(x)
    return np.where(x < 0, -1, 1).astype(x.dtype) * (
        np.nextafter(size, size.dtype.type(np.inf)) - size
    )


def _nan_to_num(x: NDArray) -> NDArray:
    """NumPy's leaves bfloat16 as it is."""
    if x.dtype.kind in "fciub":
        return np.nan_to_num(x)
    limits = dtypes.finfo(x.dtype)
    return np.where(np.isnan(x), x.dtype.type(0), np.clip(x, limits.min, limits.max))


XLA = "XLA's function; complex: products of several"
OURS = "our program; complex: products of several"
SUMS = "complex: sums of rounded products"
CANCELS = "complex: the real part cancels"
SIGNS = "exact; 0.0 is larger than -0.0 here, in NumPy that depends on their order"

UNARY = [
    Ufunc("negative", 1, NUMBERS, "same"),
    Ufunc("positive", 1, NUMBERS, "same"),
    Ufunc("absolute", 1, ALL, "part", (0, 0, 2), SUMS),
    Ufunc("fabs", 1, REAL, "float"),
    Ufunc("sign", 1, NUMBERS, "same", (0, 0, 4), SUMS),
    Ufunc("conjugate", 1, ALL, "same"),
    Ufunc("real", 1, ALL, "part"),
    Ufunc("imag", 1, ALL, "part"),
    Ufunc("angle", 1, ALL, "float", (3, 2, 3), OURS),
    # powers and roots
    Ufunc("square", 1, ALL, "number", (0, 0, 4), SUMS),
    Ufunc("reciprocal", 1, ALL, "number", (0, 0, 9), SUMS, oracle=_reciprocal),
    Ufunc("sqrt", 1, ALL, "inexact", (0, 0, 6), SUMS),
    Ufunc("cbrt", 1, REAL, "float", (2, 0.7, 0), OURS),
    # exponentials and logarithms
    Ufunc("exp", 1, ALL, "inexact", (3, 2, 9), XLA),
    Ufunc("exp2", 1, ALL, "inexact", (2, 1, 90), "complex: as exp(x ln2)"),
    Ufunc("expm1", 1, ALL, "inexact", (3, 1.5, 99), CANCELS),
    Ufunc("log", 1, ALL, "inexact", (3, 1, 9), XLA),
    Ufunc("log2", 1, ALL, "inexact", (2, 1, 9), OURS),
    Ufunc("log10", 1, ALL, "inexact", (3, 1, 9), OURS),
    Ufunc("log1p", 1, ALL, "inexact", (2, 1, 99), CANCELS),
    Ufunc("i0", 1, REAL, "float", (3, 9, 0), "a product with exp, twice", oracle=_i0),
    # circular and hyperbolic functions
    Ufunc("sin", 1, ALL, "inexact", (2, 1, 12), XLA),
    Ufunc("cos", 1, ALL, "inexact", (2, 1, 12), XLA),
    Ufunc("tan", 1, ALL, "inexact", (3, 2.5, 30), XLA),
    Ufunc("arcsin", 1, ALL, "inexact", (3, 2, 20), OURS),
    Ufunc("arccos", 1, ALL, "inexact", (2, 2, 20), OURS),
    Ufunc("arctan", 1, ALL, "inexact", (3, 2, 20), OURS),
    Ufunc("sinh", 1, ALL, "inexact", (2, 2, 20), OURS),
    Ufunc("cosh", 1, ALL, "inexact", (3, 2, 20), OURS),
    Ufunc("tanh", 1, ALL, "inexact", (5, 7, 20), XLA),
    Ufunc("arcsinh", 1, ALL, "inexact", (1, 2, 20), OURS),
    Ufunc("arccosh", 1, ALL, "inexact", (1.5, 3, 20), OURS),
    Ufunc("arctanh", 1, ALL, "inexact", (1.5, 2, 20), OURS),
    Ufunc("deg2rad", 1, REAL, "float", (1.5, 1.5, 0), "the factor is rounded, and the product"),
    Ufunc("rad2deg", 1, REAL, "float", (1.5, 1.5, 0), "the factor is rounded, and the product"),
    # rounding
    Ufunc("floor", 1, REAL, "same"),
    Ufunc("ceil", 1, REAL, "same"),
    Ufunc("trunc", 1, REAL, "same"),
    Ufunc("fix", 1, REAL, "same"),
    Ufunc("rint", 1, ALL, "inexact"),
    # what floats are made of
    Ufunc("isnan", 1, ALL, "bool"),
    Ufunc("isinf", 1, ALL, "bool"),
    Ufunc("isfinite", 1, ALL, "bool"),
    Ufunc("isposinf", 1, REAL, "bool"),
    Ufunc("isneginf", 1, REAL, "bool"),
    Ufunc("signbit", 1, REAL, "bool"),
    Ufunc("spacing", 1, REAL, "float", narrow=True, oracle=_spacing),
    Ufunc("frexp", 1, REAL, ("float", "int32"), narrow=True),
    Ufunc("modf", 1, REAL, ("float", "float")),
    Ufunc("nan_to_num", 1, ALL, "same", narrow=True, oracle=_nan_to_num),
    Ufunc("iscomplex", 1, ALL, "bool"),
    Ufunc("isreal", 1, ALL, "bool"),
    # truth and bits
    Ufunc("logical_not", 1, ALL, "bool"),
    Ufunc("invert", 1, BITS, "same"),
    Ufunc("bitwise_count", 1, BITS, "uint8"),
]

BINARY = [
    Ufunc("add", 2, ALL, "same"),
    Ufunc("subtract", 2, NUMBERS, "same"),
    Ufunc("multiply", 2, ALL, "same", (0, 0, 4), SUMS),
    Ufunc("divide", 2, ALL, "inexact", (0, 0, 6), SUMS),
    Ufunc("floor_divide", 2, REAL, "number"),
    Ufunc("remainder", 2, REAL, "number"),
    Ufunc("fmod", 2, REAL, "number"),
    Ufunc("divmod", 2, REAL, ("number", "number")),
    Ufunc("power", 2, ALL, "number", (1.5, 1, 60), XLA, oracle=_power),
    Ufunc("float_power", 2, ALL, "wide", (1.5, 1, 60), XLA),
    Ufunc("hypot", 2, REAL, "float", (1, 2, 0), OURS),
    Ufunc("arctan2", 2, REAL, "float", (3, 2, 0), OURS),
    Ufunc("maximum", 2, ALL, "same", why=SIGNS, signs=False),
    Ufunc("minimum", 2, ALL, "same", why=SIGNS, signs=False),
    Ufunc("fmax", 2, ALL, "same", why=SIGNS, signs=False),
    Ufunc("fmin", 2, ALL, "same", why=SIGNS, signs=False),
    Ufunc("copysign", 2, REAL, "float"),
    Ufunc(
        "nextafter", 2, REAL, "float", why="exact, but 0 to -0 in float16", narrow=True, signs=False
    ),
    Ufunc("heaviside", 2, REAL, "float"),
    # comparisons and truth
    Ufunc("equal", 2, ALL, "bool"),
    Ufunc("not_equal", 2, ALL, "bool"),
    Ufunc("less", 2, ALL, "bool"),
    Ufunc("less_equal", 2, ALL, "bool"),
    Ufunc("greater", 2, ALL, "bool"),
    Ufunc("greater_equal", 2, ALL, "bool"),
    Ufunc("logical_and", 2, ALL, "bool"),
    Ufunc("logical_or", 2, ALL, "bool"),
    Ufunc("logical_xor", 2, ALL, "bool"),
    # bits and number theory
    Ufunc("bitwise_and", 2, BITS, "same"),
    Ufunc("bitwise_or", 2, BITS, "same"),
    Ufunc("bitwise_xor", 2, BITS, "same"),
    Ufunc("left_shift", 2, BITS, "number"),
    Ufunc("right_shift", 2, BITS, "number"),
    Ufunc("gcd", 2, INTEGERS, "same"),
    Ufunc("lcm", 2, INTEGERS, "same"),
]

UFUNCS = UNARY + BINARY

# The same function by another name.
ALIASES = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atanh": "arctanh", "atan2": "arctan2", "around": "round",
    "bitwise_invert": "invert", "bitwise_not": "invert", "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift", "conj": "conjugate", "degrees": "rad2deg",
    "radians": "deg2rad", "mod": "remainder", "pow": "power", "true_divide": "divide",
}  # fmt: skip


# ---- comparison --------------------------------------------------------------------------------
def expected(ufunc: Ufunc, operands: list[NDArray]) -> list[NDArray]:
    """NumPy's results, wider than ours where ours may be some ulp off."""
    dtype = operands[0].dtype
    result = ufunc.dtypes(dtype)[0]
    if dtypes.kind(dtype) != "complex" and dtypes.kind(result) == "float":
        operands = [x.astype(result) for x in operands]
        if ufunc.budget(dtype):
            operands = [wider(x) for x in operands]
        elif dtypes.bits(result) < 32 and not ufunc.narrow:
            operands = [x.astype(np.float32) for x in operands]
    found = ufunc.numpy(*operands)
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def wrong(ufunc: Ufunc, operand: np.dtype[Any], got: NDArray, want: NDArray) -> NDArray:
    """Where a result is not what the table allows; subnormal numbers count as zeros."""
    kind, budget = dtypes.kind(got.dtype), ufunc.budget(operand)
    with np.errstate(all="ignore"):
        if kind == "complex":
            near = np.abs(got - want) <= budget * np.finfo(got.dtype).eps * np.abs(want)
            return ~(near | same_bits(got, want.astype(got.dtype)))
        if kind != "float":
            return np.asarray(got != want)
        rounded = flushed(want.astype(got.dtype))
        same = same_bits(flushed(got), rounded)
        if not ufunc.signs:
            same |= got == rounded
        zeros = (flushed(got) == 0) & (rounded == 0)
        return ~same if budget == 0 else ~same & ((ulps(got, want) > budget) | zeros)


def check(ufunc: Ufunc, operands: list[NDArray], results: Any) -> None:
    """Assert that results are NumPy's, in shape, dtype and values."""
    results = results if isinstance(results, tuple) else (results,)
    wants = expected(ufunc, operands)
    assert len(results) == len(wants)
    for result, want, dtype in zip(results, wants, ufunc.dtypes(operands[0].dtype)):
        got = np.asarray(result)
        assert (got.shape, got.dtype) == (want.shape, dtype)
        bad = wrong(ufunc, operands[0].dtype, got, want)
        arrays = [np.broadcast_to(x, got.shape).ravel() for x in operands]
        assert not bad.any(), show(bad.ravel(), arrays, got.ravel(), want.ravel())
