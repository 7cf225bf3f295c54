"""Elementary functions of f32 and f64, as lowerings and complex formulas use them.

XLA's own operations serve where they are right and fast; elsewhere the programs of `programs_f32`
and `programs_f64`.  Each is a function of `Term`s of one dtype.
"""

from __future__ import annotations

import math
from types import ModuleType

from hloom.ops import programs_f32, programs_f64
from hloom.ops.formula import (
    FLOAT32,
    Term,
    holds_anywhere,
    replaced_if,
    where,
)


def _programs(x: Term) -> ModuleType:
    return programs_f32 if x.dtype == FLOAT32 else programs_f64


# ---- exponentials and logarithms ---------------------------------------------------------------
def exp(x: Term) -> Term:
    return x.apply("exponential")


def large(x: Term) -> float:
    """Beyond this exp(x) may overflow; above -large(x), it is never subnormal."""
    return 80.0 if x.dtype == FLOAT32 else 700.0


def exp2(x: Term) -> Term:
    """0.5 ulp; as exp(x ln2) it would be 68 in f32, 594 in f64."""
    if x.dtype == FLOAT32:
        return programs_f32.exp2(x)
    return x.full(2.0).apply("power", x)


def expm1(x: Term) -> Term:
    return _programs(x).expm1(x)


def log(x: Term) -> Term:
    return x.apply("log") if x.dtype == FLOAT32 else programs_f64.log(x)


def log2(x: Term) -> Term:
    return _programs(x).log2(x)


def log10(x: Term) -> Term:
    return _programs(x).log10(x)


def log1p(x: Term) -> Term:
    return _programs(x).log1p(x)


def cbrt(x: Term) -> Term:
    return _programs(x).cbrt(x)


# ---- powers and trigonometric functions --------------------------------------------------------
#: From so many elements on a long program is faster than XLA's own operation.  Below, it is slower
#: by the 7 us of another thread: XLA runs a program in line only up to 1000 floating-point
#: operations, among which it does not count its own functions.
MANY = 8192


def power(x: Term, y: Term) -> Term:
    if x.dtype == FLOAT32 and x.size >= MANY and x.block.platform == "cpu":
        return programs_f32.power(x, y)
    return x.apply("power", y)


def _periodic(x: Term, name: str, own: str) -> Term:
    """The program `name`, and XLA's `own` operation for few elements, or for those too large."""
    if x.size < MANY or x.block.platform != "cpu":
        return x.apply(own)
    programs = _programs(x)
    fast = getattr(programs, name)(x)
    limit = programs.REDUCIBLE

    def mended(x: Term, fast: Term) -> Term:
        return where(abs(x) < limit, fast, x.apply(own))

    too_large = holds_anywhere((abs(x) >= limit) & (abs(x) < math.inf))
    return replaced_if(too_large, x, fast, mended)


def sin(x: Term) -> Term:
    return _periodic(x, "sin", "sine")


def cos(x: Term) -> Term:
    return _periodic(x, "cos", "cosine")


def tan(x: Term) -> Term:
    return _periodic(x, "tan", "tan")


def asin(x: Term) -> Term:
    return _programs(x).asin(x)


def acos(x: Term) -> Term:
    return _programs(x).acos(x)


def atan(x: Term) -> Term:
    return _programs(x).atan(x)


def atan2(y: Term, x: Term) -> Term:
    return _programs(x).atan2(y, x)


# ---- hyperbolic functions ----------------------------------------------------------------------
def sinh(x: Term) -> Term:
    return _programs(x).sinh(x)


def cosh(x: Term) -> Term:
    return _programs(x).cosh(x)


def tanh(x: Term) -> Term:
    return x.apply("tanh")


def asinh(x: Term) -> Term:
    return _programs(x).asinh(x)


def acosh(x: Term) -> Term:
    return _programs(x).acosh(x)


def atanh(x: Term) -> Term:
    return _programs(x).atanh(x)
