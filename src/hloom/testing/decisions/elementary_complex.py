"""Decisions on functions of complex numbers: branch cuts, infinities, zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.testing.decisions.record import Decision, NDArray, Plain, c64, c128, chlo_op, op

INF, NAN = np.inf, np.nan
PI = np.pi
CUTS = "NumPy's answer, C99's Annex G."
FOLDED = (
    CUTS + " CHLO's expansion loses the sign of zero. hloom folds the operand into the first "
    "quadrant, where CHLO's is right, and restores the signs by bits."
)


def z(real: float, imag: float) -> complex:
    """`complex` of parts, zeros with their signs."""
    return complex(real, imag)


def of(function: Any, x: NDArray) -> NDArray:
    """NumPy's values; each is looked at by hand below."""
    with np.errstate(all="ignore"):
        return np.asarray(function(x))


BEYOND = c128(z(2, 0.0), z(2, -0.0), z(-2, 0.0), z(-2, -0.0))
UPPER = c128(z(2, 0.0), z(2, 0.0), z(-2, 0.0), z(-2, 0.0))  # what is left of them without signs
ABOVE = c128(z(0.0, 2), z(-0.0, 2), z(0.0, -2), z(-0.0, -2))
RIGHT = c128(z(0.0, 2), z(0.0, 2), z(0.0, -2), z(0.0, -2))
AXES = c128(z(-0.0, 2), z(1, 0.0), z(0.0, NAN), z(-0.0, INF))
TURNED = c128(z(2, -0.0), z(-0.0, 1), z(1, NAN), z(INF, -0.0))

COMPLEX = (
    Decision(
        "The root has its cut along the negative reals, and -0i lies below it",
        "lax.sqrt(x)",
        (c64(z(-1, 0.0), z(-1, -0.0), z(-INF, NAN), z(1, INF)),),
        c64(z(0, 1), z(0, -1), z(NAN, INF), z(INF, INF)),
        CUTS + " XLA's own loses the sign of zero.",
        asks="np.sqrt(x)",
        plain=op("sqrt"),
        lowering="hloom.ops.elementary.complex_functions.sqrt",
        xla=c64(z(0, 1), z(0, 1), z(NAN, NAN), z(INF, INF)),
    ),
    Decision(
        "So has the logarithm",
        "lax.log(x)",
        (c128(z(-1, 0.0), z(-1, -0.0), z(0.0, 0.0), z(-INF, NAN)),),
        c128(z(0, PI), z(0, -PI), z(-INF, 0.0), z(INF, NAN)),
        CUTS + " XLA's own has the cut right, and loses an infinity beside NaN.",
        asks="np.log(x)",
        plain=op("log"),
        lowering="hloom.ops.elementary.complex_functions.log",
        ulp=1,
        xla=c128(z(0, PI), z(0, -PI), z(-INF, 0.0), z(NAN, NAN)),
    ),
    Decision(
        "The arcsine has its cuts beyond -1 and 1",
        "lax.asin(x)",
        (BEYOND,),
        of(np.arcsin, BEYOND),
        FOLDED,
        asks="np.arcsin(x)",
        plain=chlo_op("asin"),
        lowering="hloom.ops.elementary.complex_functions.asin",
        ulp=4,
        xla=of(np.arcsin, UPPER),
        reference=of(np.arcsin, UPPER),
    ),
    Decision(
        "So has the arccosine",
        "lax.acos(x)",
        (BEYOND,),
        of(np.arccos, BEYOND),
        FOLDED,
        asks="np.arccos(x)",
        plain=chlo_op("acos"),
        lowering="hloom.ops.elementary.complex_functions.acos",
        ulp=4,
        xla=of(np.arccos, UPPER),
        reference=of(np.arccos, UPPER),
    ),
    Decision(
        "The arctangent has its cuts beyond -i and i",
        "lax.atan(x)",
        (AXES,),
        of(np.arctan, AXES),
        FOLDED,
        asks="np.arctan(x)",
        plain=chlo_op("atan"),
        lowering="hloom.ops.elementary.complex_functions.atan",
        ulp=4,
        xla=c128(z(-PI / 2, 0.5493061443340549), z(PI / 4, -0.0), z(PI / 2, NAN), z(PI / 2, 0.0)),
        reference=c128(
            z(-PI / 2, 0.5493061443340549), z(PI / 4, -0.0), z(PI / 2, NAN), z(PI / 2, 0.0)
        ),
    ),
    Decision(
        "So has the inverse hyperbolic sine",
        "lax.asinh(x)",
        (ABOVE,),
        of(np.arcsinh, ABOVE),
        FOLDED,
        asks="np.arcsinh(x)",
        plain=chlo_op("asinh"),
        lowering="hloom.ops.elementary.complex_functions.asinh",
        ulp=4,
        xla=of(np.arcsinh, RIGHT),
        reference=of(np.arcsinh, RIGHT),
    ),
    Decision(
        "The inverse hyperbolic cosine has its cut below 1",
        "lax.acosh(x)",
        (c128(z(0.5, 0.0), z(0.5, -0.0), z(-2, 0.0), z(-2, -0.0)),),
        of(np.arccosh, c128(z(0.5, 0.0), z(0.5, -0.0), z(-2, 0.0), z(-2, -0.0))),
        FOLDED,
        asks="np.arccosh(x)",
        plain=chlo_op("acosh"),
        lowering="hloom.ops.elementary.complex_functions.acosh",
        ulp=4,
        xla=of(np.arccosh, c128(0.5, 0.5, -2, -2)),
        reference=of(np.arccosh, c128(0.5, 0.5, -2, -2)),
    ),
    Decision(
        "The inverse hyperbolic tangent has its cuts beyond -1 and 1",
        "lax.atanh(x)",
        (TURNED,),
        of(np.arctanh, TURNED),
        FOLDED,
        asks="np.arctanh(x)",
        plain=chlo_op("atanh"),
        lowering="hloom.ops.elementary.complex_functions.atanh",
        ulp=4,
        xla=c128(z(0.5493061443340549, -PI / 2), z(0.0, PI / 4), z(NAN, -PI / 2), z(0.0, PI / 2)),
        reference=c128(
            z(0.5493061443340549, -PI / 2), z(0.0, PI / 4), z(NAN, -PI / 2), z(0.0, PI / 2)
        ),
    ),
    Decision(
        "Of NaN beside a finite part no arcsine is known",
        "lax.asin(x)",
        (c64(z(1e30, NAN), z(NAN, -1e30), z(0.0, NAN)),),
        c64(z(NAN, NAN), z(NAN, NAN), z(0.0, NAN)),
        CUTS,
        asks="np.arcsin(x)",
        plain=chlo_op("asin"),
        lowering="hloom.ops.elementary.complex_functions._unknown",
        xla=c64(z(NAN, 69.7707), z(NAN, NAN), z(NAN, NAN)),
        reference=c64(z(NAN, 69.7707), z(NAN, NAN), z(NAN, NAN)),
        ulp=1,
    ),
    Decision(
        "Nor is an inverse hyperbolic cosine",
        "lax.acosh(x)",
        (c64(z(-1e30, NAN), z(NAN, 1e30)),),
        c64(z(NAN, NAN), z(NAN, NAN)),
        CUTS,
        asks="np.arccosh(x)",
        plain=chlo_op("acosh"),
        lowering="hloom.ops.elementary.complex_functions._unknown",
        xla=c64(z(69.7707, NAN), z(NAN, NAN)),
        reference=c64(z(69.7707, NAN), z(NAN, NAN)),
        ulp=1,
    ),
    Decision(
        "The exponential of minus infinity is a zero with signs, whatever the angle",
        "lax.exp(x)",
        (c128(z(-INF, 2.0), z(-INF, INF), z(INF, INF), z(1.0, -0.0)),),
        c128(z(-0.0, 0.0), z(0.0, 0.0), z(INF, NAN), z(np.e, -0.0)),
        CUTS,
        asks="np.exp(x)",
        plain=op("exponential"),
        lowering="hloom.ops.elementary.complex_functions.exp",
        ulp=1,
        xla=c128(z(-0.0, 0.0), z(NAN, NAN), z(NAN, NAN), z(np.e, 0.0)),
    ),
    Decision(
        "The hyperbolic sine keeps the zeros of its operand",
        "lax.sinh(x)",
        (c128(z(0.0, -0.0), z(-0.0, INF), z(INF, INF), z(INF, -0.0)),),
        c128(z(0.0, -0.0), z(-0.0, NAN), z(INF, NAN), z(INF, -0.0)),
        CUTS,
        asks="np.sinh(x)",
        plain=chlo_op("sinh"),
        lowering="hloom.ops.elementary.complex_functions.sinh",
        xla=c128(z(0.0, 0.0), z(NAN, NAN), z(NAN, NAN), z(INF, 0.0)),
        reference=c128(z(0.0, 0.0), z(NAN, NAN), z(INF, NAN), z(INF, 0.0)),
    ),
    Decision(
        "So does the hyperbolic cosine",
        "lax.cosh(x)",
        (c128(z(0.0, -0.0), z(0.0, INF), z(INF, INF), z(-INF, 0.0)),),
        c128(z(1.0, -0.0), z(NAN, 0.0), z(INF, NAN), z(INF, -0.0)),
        CUTS,
        asks="np.cosh(x)",
        plain=chlo_op("cosh"),
        lowering="hloom.ops.elementary.complex_functions.cosh",
        xla=c128(z(1, 0.0), z(NAN, NAN), z(NAN, NAN), z(INF, 0.0)),
        reference=c128(z(1, 0.0), z(NAN, NAN), z(INF, NAN), z(INF, 0.0)),
    ),
    Decision(
        "The sine is a turned hyperbolic sine",
        "lax.sin(x)",
        (c128(z(-0.0, 0.0), z(0.0, INF), z(2.0, INF)),),
        of(np.sin, c128(z(-0.0, 0.0), z(0.0, INF), z(2.0, INF))),
        CUTS,
        asks="np.sin(x)",
        plain=op("sine"),
        lowering="hloom.ops.elementary.complex_functions.sin",
        xla=c128(z(-0.0, 0.0), z(NAN, INF), z(INF, -INF)),
    ),
    Decision(
        "The cosine is a turned hyperbolic cosine",
        "lax.cos(x)",
        (c128(z(-0.0, 0.0), z(0.0, INF), z(2.0, INF)),),
        of(np.cos, c128(z(-0.0, 0.0), z(0.0, INF), z(2.0, INF))),
        CUTS,
        asks="np.cos(x)",
        plain=op("cosine"),
        lowering="hloom.ops.elementary.complex_functions.cos",
        xla=c128(z(1, -0.0), z(INF, NAN), z(-INF, -INF)),
    ),
    Decision(
        "The hyperbolic tangent ends at 1, with the sign of the imaginary part",
        "lax.tanh(x)",
        (c128(z(INF, 2.0), z(-INF, -2.0), z(-0.0, INF), z(NAN, -0.0)),),
        of(np.tanh, c128(z(INF, 2.0), z(-INF, -2.0), z(-0.0, INF), z(NAN, -0.0))),
        CUTS,
        asks="np.tanh(x)",
        plain=op("tanh"),
        lowering="hloom.ops.elementary.complex_functions.tanh",
        xla=c128(z(1, -0.0), z(-1, 0.0), z(NAN, NAN), z(NAN, 0.0)),
    ),
    Decision(
        "The tangent is a turned hyperbolic tangent",
        "lax.tan(x)",
        (c128(z(-0.0, 0.0), z(2.0, INF), z(-2.0, -INF)),),
        of(np.tan, c128(z(-0.0, 0.0), z(2.0, INF), z(-2.0, -INF))),
        CUTS,
        asks="np.tan(x)",
        plain=op("tan"),
        lowering="hloom.ops.elementary.complex_functions.tan",
        xla=c128(z(0.0, 0.0), z(-0.0, 1), z(0.0, -1)),
    ),
    Decision(
        "Division is Smith's, without the recovery of infinities",
        "lax.div(x, y)",
        (c64(1 + 1j, 0, 1), c64(0, 0, z(INF, INF))),
        c64(z(INF, INF), z(NAN, NAN), z(NAN, NAN)),
        "NumPy's answer. XLA and the interpreter give C99's, 0 for 1 by an infinity.",
        asks="x / y",
        plain=op("divide"),
        lowering="hloom.ops.common.expression.divide_complex",
        xla=c64(z(INF, INF), z(NAN, NAN), z(0.0, -0.0)),
        reference=c64(z(INF, INF), z(NAN, NAN), z(0.0, -0.0)),
    ),
    Decision(
        "Products are those of the parts",
        "lax.mul(x, y)",
        (c64(z(INF, NAN), 1 + 2j), c64(2, 3 - 1j)),
        c64(z(NAN, NAN), 5 + 5j),
        "There is no recovery of infinities.",
        asks="x * y",
        plain=op("multiply"),
    ),
    Decision(
        "Reciprocals keep the signs of zero",
        "lax.reciprocal(x)",
        (c64(0, z(0, -1), z(-0.0, 2), 4, z(-4, -0.0)),),
        c64(z(NAN, NAN), 1j, z(-0.0, -0.5), z(0.25, -0.0), z(-0.25, 0.0)),
        "NumPy's answer, by Smith's algorithm.",
        asks="np.reciprocal(x)",
        plain=Plain("1 by `stablehlo.divide`", lambda x: 1.0 / x),
        lowering="hloom.ops.elementary.complex_functions.reciprocal",
        xla=c64(z(INF, NAN), z(-0.0, 1), z(0.0, -0.5), z(0.25, 0.0), z(-0.25, -0.0)),
        reference=c64(z(INF, NAN), z(-0.0, 1), z(0.0, -0.5), z(0.25, 0.0), z(-0.25, -0.0)),
    ),
    Decision(
        "The reciprocal root of infinity is zero",
        "lax.rsqrt(x)",
        (c64(z(INF, 1), z(-INF, -1)),),
        c64(z(0.0, -0.0), z(0.0, 0.0)),
        "1 / sqrt, and the limit at infinity.",
        numpy="has none",
        plain=op("rsqrt"),
        lowering="hloom.ops.elementary.complex_functions.rsqrt",
        xla=c64(z(0.0, -0.0), z(-0.0, 0.0)),
        reference=c64(z(0.0, 0.0), z(-0.0, 0.0)),
    ),
    Decision(
        "The logistic function does not overflow",
        "lax.logistic(x)",
        (c64(z(-INF, INF), z(1000, 1), 0),),
        c64(0, 1, 0.5),
        "1 / (1 + exp(-x)), its exponential taken where it is small.",
        numpy="has none",
        plain=op("logistic"),
        lowering="hloom.ops.elementary.complex_functions.logistic",
        ulp=1,
        xla=c64(z(NAN, NAN), 1, 0.5),
    ),
    Decision(
        "Zero to the power zero is one, to a power with a positive real part zero",
        "lax.pow(x, y)",
        (c64(0, 0, 0), c64(0, 1 + 1j, -1)),
        c64(1, 0, z(NAN, NAN)),
        "NumPy's answer.",
        asks="np.power(x, y)",
        plain=op("power"),
        lowering="hloom.ops.elementary.complex_functions.power",
        xla=c64(1, z(NAN, NAN), z(NAN, NAN)),
        reference=c64(z(NAN, NAN), z(0.0, -0.0), z(INF, NAN)),
    ),
    Decision(
        "Whole powers are products",
        "lax.pow(x, y)",
        (c64(1j, 1 + 1j, 2j, 1j, -3), c64(2, 4, -2, -1, 7)),
        c64(-1, -4, z(-0.25, -0.0), z(0, -1), -2187),
        "NumPy's answer, and exact; exp(y log x) leaves a rounding in each part.",
        asks="np.power(x, y)",
        plain=op("power"),
        lowering="hloom.ops.elementary.complex_functions._whole_power",
        xla=c64(
            z(-1, -8.742278e-08),
            z(-3.9999998, -3.4969108e-07),
            z(-0.25, 2.1855694e-08),
            z(-4.371139e-08, -1),
            z(-2187, -0.0029026195),
        ),
        reference=c64(
            z(-1, 1.2246469e-16),
            z(-4, 4.8985874e-16),
            z(-0.25, -3.0616171e-17),
            z(6.123234e-17, -1),
            z(-2187, 1.8748117e-12),
        ),
    ),
)
