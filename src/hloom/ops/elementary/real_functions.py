"""Elementary functions of f32 and f64, as lowerings and complex formulas use them.

XLA's own operations are used where they are right and fast, elsewhere the kernels of `real_f32`
and `real_f64`.  Each is a function of `Term`s of one dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType

from hloom.core.aval import ShapedArray
from hloom.ops.common.expression import FLOAT32, FLOAT64, Term, holds_anywhere, replaced_if, where
from hloom.ops.elementary import real_f32, real_f64


def _kernels(x: Term) -> ModuleType:
    return real_f32 if x.dtype == FLOAT32 else real_f64


# ---- exponentials and logarithms ---------------------------------------------------------------
#: Below so many elements XLA computes those one by one that fill no vector, some with another
#: program: exp and log of f32 (jaxlib 0.10), tanh (0.12).
FEW = 64


def in_vectors(x: Term, function: Callable[[Term], Term]) -> Term:
    """XLA's own function; of few elements with others beside them that fill the vectors."""
    block, size = x.block, x.size
    vectors = -(-size // 16) * 16
    if size >= FEW or size in (0, 1, 2, 4, 8, vectors):
        return function(x)
    flat = block.reshape(x.operand, (size,))
    rest = block.constant(0, ShapedArray((vectors - size,), x.dtype))
    filled = Term(block, block.barrier(block.concatenate([flat, rest], 0)))
    result = block.barrier(function(filled).operand)
    return Term(block, block.reshape(block.slice(result, (0,), (size,)), x.shape))


def exp(x: Term) -> Term:
    if x.dtype == FLOAT32:
        return in_vectors(x, lambda x: x.apply("exponential"))
    return x.apply("exponential")


def large(x: Term) -> float:
    """Beyond this exp(x) may overflow; above -large(x), it is never subnormal."""
    return 80.0 if x.dtype == FLOAT32 else 700.0


def exp2(x: Term) -> Term:
    """0.5 ulp; as exp(x ln2) it would be 68 in f32, 594 in f64."""
    if x.dtype == FLOAT32:
        return real_f32.exp2(x)
    return x.full(2.0).apply("power", x)


def expm1(x: Term) -> Term:
    return _kernels(x).expm1(x)


def log(x: Term) -> Term:
    if x.dtype == FLOAT32:
        return in_vectors(x, lambda x: x.apply("log"))
    return real_f64.log(x)


def log2(x: Term) -> Term:
    return _kernels(x).log2(x)


def log10(x: Term) -> Term:
    return _kernels(x).log10(x)


def log1p(x: Term) -> Term:
    return _kernels(x).log1p(x)


def cbrt(x: Term) -> Term:
    return _kernels(x).cbrt(x)


# ---- powers and trigonometric functions --------------------------------------------------------
def power(x: Term, y: Term) -> Term:
    if x.dtype == FLOAT32 and x.block.platform == "cpu":
        return real_f32.power(x, y)
    return x.apply("power", y)


#: From so many elements on it is worth while to look first whether any needs the slower way.
MANY = 8192


def _periodic(x: Term, name: str, own: Callable[[Term], Term]) -> Term:
    """The kernel `name`, and XLA's `own` operation for what is too large for it.

    The same code for every size, so that no element depends on the number of others.
    """
    if x.block.platform != "cpu":
        return own(x)
    kernels = _kernels(x)
    fast, limit = getattr(kernels, name)(x), kernels.REDUCIBLE

    def corrected(x: Term, fast: Term) -> Term:
        return where(abs(x) < limit, fast, own(x))

    if x.size < MANY:
        return corrected(x, fast)
    too_large = holds_anywhere((abs(x) >= limit) & (abs(x) < math.inf))
    return replaced_if(too_large, x, fast, corrected)


def _own_tan(x: Term) -> Term:
    """By the sine and cosine of f64: XLA's own differs between its emitters."""
    wide = x.to(FLOAT64)
    return (wide.apply("sine") / wide.apply("cosine")).to(x.dtype)


def sin(x: Term) -> Term:
    return _periodic(x, "sin", lambda x: x.apply("sine"))


def cos(x: Term) -> Term:
    return _periodic(x, "cos", lambda x: x.apply("cosine"))


def tan(x: Term) -> Term:
    return _periodic(x, "tan", _own_tan)


def asin(x: Term) -> Term:
    return _kernels(x).asin(x)


def acos(x: Term) -> Term:
    return _kernels(x).acos(x)


def atan(x: Term) -> Term:
    return _kernels(x).atan(x)


def atan2(y: Term, x: Term) -> Term:
    return _kernels(x).atan2(y, x)


# ---- hyperbolic functions ----------------------------------------------------------------------
def sinh(x: Term) -> Term:
    return _kernels(x).sinh(x)


def cosh(x: Term) -> Term:
    return _kernels(x).cosh(x)


def tanh(x: Term) -> Term:
    return in_vectors(x, lambda x: x.apply("tanh"))


def asinh(x: Term) -> Term:
    return _kernels(x).asinh(x)


def acosh(x: Term) -> Term:
    return _kernels(x).acosh(x)


def atanh(x: Term) -> Term:
    return _kernels(x).atanh(x)
