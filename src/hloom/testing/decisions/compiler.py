"""Decisions on what a compiler may do: rewriting, fused rounding, subnormal numbers."""

from __future__ import annotations

import numpy as np

from hloom.testing.decisions.record import (
    EXACT,
    SAME,
    WHOLE,
    ByVersion,
    Decision,
    Departure,
    Plain,
    f32,
    f64,
)

INF, NAN = np.inf, np.nan
REPAIRS = "hloom.engines.settings.REPAIRS"
FLUSHED = (
    "XLA's CPU backend runs with subnormal numbers flushed to zero, in operands and results, "
    "and no "
    "option turns that off; the other two engines keep them."
)
CONTRACTED = (
    "XLA's CPU backend makes one rounding of a product and a sum. `hloom.exact()` compiles without."
)

REWRITES = (
    Decision(
        "A logarithm of an exponential overflows",
        "lax.log(lax.exp(x))",
        (f32(1e4, 1.5),),
        f32(INF, 1.5),
        "What the program says. XLA's algebraic simplifier makes `x` of it.",
        asks="np.log(np.exp(x))",
        plain=Plain("the same operations", lambda x: x.apply("exponential").apply("log")),
        settings="stock",
        lowering=REPAIRS,
        ulp=1,
        xla=ByVersion(f32(1e4, 1.5), SAME),
    ),
    Decision(
        "Products of exponentials are not sums of exponents",
        "lax.mul(lax.exp(x), lax.exp(lax.neg(x)))",
        (f32(200.0, 0.0),),
        f32(NAN, 1.0),
        "inf times 0; XLA's simplifier makes 1 of it.",
        asks="np.exp(x) * np.exp(-x)",
        plain=Plain(
            "the same operations",
            lambda x: x.apply("exponential") * (-x).apply("exponential"),
        ),
        settings="stock",
        lowering=REPAIRS,
        xla=ByVersion(f32(1.0, 1.0), SAME),
    ),
    Decision(
        "The root of a square overflows",
        "lax.sqrt(lax.mul(x, x))",
        (f32(1e30, -3.0),),
        f32(INF, 3.0),
        "XLA's simplifier makes the absolute value of it.",
        asks="np.sqrt(x * x)",
        plain=Plain("the same operations", lambda x: (x * x).sqrt()),
        settings="stock",
        lowering=REPAIRS,
        xla=ByVersion(f32(1e30, 3.0), SAME),
    ),
    Decision(
        "Constants are added one after the other",
        "lax.sub(lax.add(x, np.float32(1)), np.float32(1))",
        (f32(1e-9, 0.3),),
        f32(0.0, 0.29999995),
        "XLA's simplifier adds the constants first.",
        asks="(x + np.float32(1)) - np.float32(1)",
        plain=Plain("the same operations", lambda x: (x + 1.0) - 1.0),
        settings="stock",
        lowering=REPAIRS,
        xla=ByVersion(f32(1e-9, 0.3), SAME),
    ),
    Decision(
        "A division by a constant is a division",
        "lax.div(x, np.float32(3))",
        (f32(5.0, 7.0, 11.0, 25.0),),
        f32(5.0, 7.0, 11.0, 25.0) / np.float32(3),
        "XLA's simplifier multiplies by the rounded reciprocal: a third of the results are off.",
        asks="x / np.float32(3)",
        plain=Plain("the same operations", lambda x: x / 3.0),
        settings="stock",
        lowering=REPAIRS,
        xla=f32(1.6666667, 2.3333335, 3.6666667, 8.333334),
    ),
    Decision(
        "A division of a quotient is a division",
        "lax.div(lax.div(x, y), z)",
        (f32(1.0, 1e-30), f32(3.0, 1e-25), f32(7.0, 1e-25)),
        f32(1, 1e-30) / f32(3, 1e-25) / f32(7, 1e-25),
        "XLA's simplifier divides by the product, which may vanish.",
        asks="x / y / z",
        plain=Plain("the same operations", lambda x, y, z: x / y / z),
        settings="stock",
        lowering=REPAIRS,
        xla=f32(0.04761905, INF),
    ),
    Decision(
        "One by a root is a division",
        "lax.div(np.float32(1), lax.sqrt(x))",
        (f32(0.027385, 5.4146123),),
        np.float32(1) / np.sqrt(f32(0.027385, 5.4146123)),
        "Two roundings; XLA's simplifier makes `rsqrt` of it, which has an error of its own.",
        asks="np.float32(1) / np.sqrt(x)",
        plain=Plain("the same operations", lambda x: 1.0 / x.sqrt()),
        settings="stock",
        lowering=REPAIRS,
        xla=f32(6.0428753, 0.42975044),
    ),
    Decision(
        "What cancels, cancels exactly",
        "lax.sub(lax.div(lax.mul(x, y), y), lax.mul(x, np.float32(0)))",
        (f32(3.0, INF, 1.0), f32(7.0, 1.0, 0.0)),
        f32(3.0, NAN, NAN),
        "`x * y / y`, `x * 0`, `x - x` and `x / x` stay as they are, for NaN and infinity.",
        asks="x * y / y - x * np.float32(0)",
        plain=Plain("the same operations", lambda x, y: x * y / y - x * 0.0),
        settings="stock",
    ),
    Decision(
        "A product and a sum round twice",
        "lax.add(lax.mul(x, y), z)",
        (f32(1 + 2**-12), f32(1 + 2**-12), f32(-1 - 2**-11)),
        f32(0.0),
        "NumPy's answer, operation by operation, and that of `hloom.exact()` in one program. "
        "(Level 0 of optimization does not suffice for that: it leaves fused products and sums in "
        "programs of one element on jaxlib 0.12, and of two on both. So nothing is fused at all.)",
        asks="x * y + z",
        plain=Plain("the same operations", lambda x, y, z: x * y + z),
        lowering="hloom.engines.settings.SETTINGS",
        departures={WHOLE: Departure(f32(2**-24), CONTRACTED)},
        xla=f32(2**-24),
    ),
    Decision(
        "Where products overflow, so does their difference",
        "lax.sub(lax.mul(x, z), lax.mul(y, z))",
        (f64(3.0), f64(2.0), f64(1e308)),
        f64(NAN),
        "inf minus inf.",
        asks="x * z - y * z",
        plain=Plain("the same operations", lambda x, y, z: x * z - y * z),
        lowering="hloom.engines.settings.SETTINGS",
        departures={WHOLE: Departure(f64(-INF), CONTRACTED)},
        xla=f64(-INF),
    ),
    Decision(
        "A zero is added",
        "lax.add(x, np.float32(0))",
        (f32(-0.0, 1.0),),
        f32(0.0, 1.0),
        "IEEE 754: -0.0 + 0.0 is 0.0.",
        asks="x + np.float32(0)",
        plain=Plain("the same operation", lambda x: x + 0.0),
        xla=f32(-0.0, 1.0),
        departures={
            WHOLE: Departure(
                f32(-0.0, 1.0), "XLA drops the zero where it is a constant of the program."
            ),
            EXACT: Departure(f32(-0.0, 1.0), "The same: no option turns it off."),
        },
    ),
)


def flushed(why: str = FLUSHED, **gives: np.ndarray) -> dict[str, Departure]:
    """What XLA gives for subnormal numbers."""
    return {"xla": Departure(gives["xla"], why)}


SUBNORMALS = (
    Decision(
        "Subnormal numbers are numbers: arithmetic",
        "lax.mul(lax.add(x, y), np.float32(2))",
        (f32(1e-40, 1e-38), f32(1e-40, 0.0)),
        (f32(1e-40, 1e-38) + f32(1e-40, 0.0)) * np.float32(2),
        "IEEE 754, and NumPy's answer.",
        asks="(x + y) * np.float32(2)",
        departures=flushed(xla=f32(0.0, 0.0)),
    ),
    Decision(
        "Subnormal numbers are numbers: comparison",
        "lax.gt(x, y)",
        (f32(1e-40), f32(0.0)),
        np.array([True]),
        "As above.",
        asks="x > y",
        departures=flushed("As above.", xla=np.array([False])),
    ),
    Decision(
        "Subnormal numbers are numbers: functions",
        "lax.log(x)",
        (f32(1e-40),),
        np.log(f32(1e-40)),
        "As above.",
        asks="np.log(x)",
        ulp=4,
        departures=flushed("As above.", xla=f32(-INF)),
    ),
    Decision(
        "Subnormal numbers are numbers: rounding",
        "lax.ceil(x)",
        (f32(1e-40, -1e-40),),
        f32(1.0, -0.0),
        "As above.",
        asks="np.ceil(x)",
        departures=flushed("As above.", xla=f32(0.0, -0.0)),
    ),
    Decision(
        "Subnormal numbers are numbers: conversion",
        "lax.convert_element_type(x, 'float32')",
        (f64(1e-40, -1e-40),),
        f32(1e-40, -1e-40),
        "As above; between f16 and f32, and within f16, XLA keeps them.",
        asks="x.astype(np.float32)",
        departures=flushed("As above.", xla=f32(0.0, -0.0)),
    ),
    Decision(
        "Subnormal numbers are numbers: powers",
        "lax.pow(x, np.float32(0.5))",
        (f32(4e-45),),
        np.sqrt(f32(4e-45)),
        "NumPy's answer, on XLA too: hloom's own programs read the bits of their operand. Of f64 "
        "powers are XLA's own.",
        asks="np.power(x, np.float32(0.5))",
        ulp=1,
    ),
    Decision(
        "Subnormal numbers are numbers: logarithms",
        "jnp.log2(x)",
        (f64(5e-324, 1e-310),),
        np.log2(f64(5e-324, 1e-310)),
        "As above; so are `log10`, and `log` and `log1p` of f64.",
        asks="np.log2(x)",
        ulp=1,
    ),
    Decision(
        "Subnormal numbers are numbers: cube roots",
        "lax.cbrt(x)",
        (f32(3e-45, -1e-40),),
        np.cbrt(f32(3e-45, -1e-40)),
        "As above.",
        asks="np.cbrt(x)",
        ulp=1,
    ),
    Decision(
        "Subnormal numbers are told apart",
        "jnp.unique(x, size=3)",
        (f32(1e-40, 0.0, 1e-40, 2e-40),),
        f32(0.0, 1e-40, 2e-40),
        "NumPy's answer. Without `size` the host looks for neighbours that differ, and gives it on "
        "every engine.",
        asks="np.unique(x)",
        departures=flushed("Neighbours are compared, as above.", xla=f32(0.0, 0.0, 0.0)),
        rows=False,
    ),
    Decision(
        "Subnormal numbers are moved as they are",
        "lax.neg(lax.abs(lax.rev(x, (0,))))",
        (f32(1e-40, -3e-45),),
        f32(-3e-45, -1e-40),
        "What only moves bits keeps them, on XLA too: `neg`, `abs`, `select`, `sort` and all "
        "that "
        "changes shapes.",
        asks="-np.abs(x[::-1])",
    ),
)
