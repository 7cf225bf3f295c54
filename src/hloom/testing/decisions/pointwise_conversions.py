"""Decisions on conversions between dtypes."""

from __future__ import annotations

import numpy as np
from ml_dtypes import bfloat16, float8_e4m3fn, float8_e4m3fnuz

from hloom.testing.decisions.record import (
    SAME,
    ByVersion,
    Decision,
    Departure,
    NDArray,
    Plain,
    bf16,
    c64,
    f16,
    f32,
    f64,
    i32,
    truth,
    u8,
)

I32 = np.iinfo(np.int32)
INF, NAN = np.inf, np.nan


def plainly(dtype: object) -> Plain:
    """`stablehlo.convert`, and nothing else."""
    return Plain("`stablehlo.convert`", lambda x: x.block.convert(x.operand, dtype))


def e4m3fn(*values: float) -> NDArray:
    return np.array(values, float8_e4m3fn)


CONVERSIONS = (
    Decision(
        "Floats saturate in integers, and NaN is zero",
        "lax.convert_element_type(x, 'int32')",
        (f32(NAN, INF, -INF, 3e9, -3e9, 1.9, -1.9),),
        i32(0, I32.max, I32.min, I32.max, I32.min, 1, -1),
        "On x86 NumPy's answer is the most negative integer, or wraps. XLA and "
        "the "
        "interpreter agree on this.",
        numpy="undefined",
        plain=plainly(np.dtype(np.int32)),
    ),
    Decision(
        "Negative floats are zero in unsigned integers",
        "lax.convert_element_type(x, 'uint8')",
        (f32(-1.0, -INF, 300.0, 254.9),),
        u8(0, 0, 255, 254),
        "As above.",
        numpy="undefined",
        plain=plainly(np.dtype(np.uint8)),
    ),
    Decision(
        "Evenly spaced integers saturate too",
        "jnp.linspace(x[0], x[1], 3, dtype='int32')",
        (f64(0, 3e9),),
        i32(0, 1500000000, I32.max),
        "What is known on the host and what is traced agree. NumPy's wrap.",
        numpy="undefined",
    ),
    Decision(
        "Any part makes a complex number true",
        "lax.convert_element_type(x, 'bool')",
        (c64(3j, 0, 1, complex(0, NAN)),),
        truth(True, False, True, True),
        "NumPy's answer; a plain conversion looks at the real part only.",
        asks="x.astype(bool)",
        plain=plainly(np.dtype(bool)),
        lowering="hloom.ops.pointwise.convert.convert",
        xla=truth(False, False, True, False),
        reference=truth(False, False, True, False),
    ),
    Decision(
        "Complex numbers become integers by their real part",
        "lax.convert_element_type(lax.real(x), 'int32')",
        (c64(2.5 + 9j, complex(NAN, 1), 3e9),),
        i32(2, 0, I32.max),
        "As floats do. `lax.convert_element_type` of the complex number itself does the same "
        "and "
        "warns that it drops a part.",
        numpy="undefined",
        plain=plainly(np.dtype(np.int32)),
    ),
    Decision(
        "f64 to f16 is rounded once",
        "lax.convert_element_type(x, 'float16')",
        (f64(1 + 2**-11 + 2**-40, 1 - 2**-12 - 2**-40),),
        f16(1 + 2**-10, 1 - 2**-11),
        "NumPy's answer. XLA goes by way of f32: the first rounding makes a tie of what lies "
        "just "
        "beside one. hloom rounds to f32 by truncation with a sticky last bit, which the "
        "second "
        "rounding can't mistake for a tie.",
        asks="x.astype(np.float16)",
        plain=plainly(np.dtype(np.float16)),
        lowering="hloom.ops.pointwise.convert._to_odd_float32",
        xla=f16(1.0, 1.0),
    ),
    Decision(
        "f64 to bf16 is rounded once",
        "lax.convert_element_type(x, 'bfloat16')",
        (f64(1 + 2**-8 + 2**-40),),
        bf16(1 + 2**-7),
        "As above. ml_dtypes, which gives NumPy its bfloat16, rounds once from version 0.7 on.",
        asks="x.astype(ml_dtypes.bfloat16)",
        plain=plainly(np.dtype(bfloat16)),
        lowering="hloom.ops.pointwise.convert._to_odd_float32",
        xla=bf16(1.0),
    ),
    Decision(
        "f64 to a float of 8 bits is rounded once",
        "lax.convert_element_type(x, 'float8_e4m3fn')",
        (f64(1 + 2**-4 + 2**-30),),
        e4m3fn(1.125),
        "Both engines do. ml_dtypes rounded twice before 0.7, so the NumPy rule rounds to odd "
        "first.",
        asks="x.astype(ml_dtypes.float8_e4m3fn)",
        plain=plainly(np.dtype(float8_e4m3fn)),
    ),
    Decision(
        "Integers go to bf16 by way of f32",
        "lax.convert_element_type(x, 'bfloat16')",
        (i32(2**25 + 2**17 + 1, 2**25 + 2**17),),
        bf16(2.0**25, 2.0**25),
        "Two roundings, a step off where the first makes a tie: XLA's answer. ml_dtypes rounds "
        "once from version 0.7 on.",
        asks="x.astype(ml_dtypes.bfloat16)",
        plain=plainly(np.dtype(bfloat16)),
        numpy=bf16(2.0**25 + 2**18, 2.0**25),
        reference=bf16(2.0**25 + 2**18, 2.0**25),
        departures={
            "reference": Departure(
                bf16(2.0**25 + 2**18, 2.0**25),
                "The interpreter rounds once, as the specification says.",
            )
        },
    ),
    Decision(
        "f32 beyond f16 is infinite",
        "lax.convert_element_type(x, 'float16')",
        (f32(65504.0, 65519.0, 65520.0),),
        f16(65504.0, 65504.0, INF),
        "",
        asks="x.astype(np.float16)",
        plain=plainly(np.dtype(np.float16)),
    ),
    Decision(
        "A number taken through f16 is rounded there, in one program too",
        "lax.convert_element_type(lax.convert_element_type(x, 'float16'), 'float32')",
        (f32(1 + 2**-11, 1 / 3),),
        f32(1.0, 0.33325195),
        "No pass takes the pair of conversions away.",
        asks="x.astype(np.float16).astype(np.float32)",
        plain=Plain(
            "`stablehlo.convert`, twice",
            lambda x: x.block.convert(x.block.convert(x.operand, np.float16), np.float32),
        ),
    ),
    Decision(
        "What is beyond float8_e4m3fn is NaN",
        "lax.convert_element_type(x, 'float8_e4m3fn')",
        (f32(448.0, 464.0, 465.0, 496.0, 1e9),),
        e4m3fn(448.0, 448.0, NAN, NAN, NAN),
        "The format has no infinity. XLA of jaxlib 0.10 gives -0.0 for 496 in programs that "
        "are compiled fast (0.12, and the default settings of 0.10, are right).",
        asks="x.astype(ml_dtypes.float8_e4m3fn)",
        plain=plainly(np.dtype(float8_e4m3fn)),
        lowering="hloom.ops.common.expression._ready_for_8_bits",
        settings="fast",
        xla=ByVersion(e4m3fn(448.0, 448.0, NAN, -0.0, NAN), SAME),
    ),
    Decision(
        "What is too small for float8_e4m3fnuz is zero",
        "lax.convert_element_type(lax.convert_element_type(x, 'float8_e4m3fnuz'), 'float32')",
        (f32(-1e-6, 1e-6, -0.0, 2.0**-10),),
        f32(0.0, 0.0, 0.0, 2.0**-10),
        "The format has no -0.0: its bits are NaN there, and XLA gives them to what is "
        "negative "
        "and too small, on jaxlib 0.10 where it compiles fast.",
        asks="x.astype(ml_dtypes.float8_e4m3fnuz).astype(np.float32)",
        plain=Plain(
            "`stablehlo.convert`, twice",
            lambda x: x.block.convert(
                x.block.convert(x.operand, np.dtype(float8_e4m3fnuz)), np.float32
            ),
        ),
        lowering="hloom.ops.common.expression._ready_for_8_bits",
        settings="fast",
        xla=ByVersion(f32(NAN, 0.0, 0.0, 2.0**-10), SAME),
    ),
)
