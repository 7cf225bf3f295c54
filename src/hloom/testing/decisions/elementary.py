"""Decisions on functions of real numbers: special values, and where XLA's own lose digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hloom.testing.decisions.record import (
    SAME,
    ByVersion,
    Decision,
    Plain,
    chlo_op,
    f16,
    f32,
    f64,
    op,
)

INF, NAN = np.inf, np.nan
LONG = np.longdouble


FUNCTIONS = (
    # ---- special values
    Decision(
        "The angle at the origin is told by the signs of zero",
        "lax.atan2(x, y)",
        (f32(0.0, -0.0, 0.0, -0.0), f32(0.0, 0.0, -0.0, -0.0)),
        f32(0.0, -0.0, np.pi, -np.pi),
        "NumPy's answer, and C99's.",
        asks="np.arctan2(x, y)",
        plain=op("atan2"),
        ulp=1,
    ),
    Decision(
        "It is told so too where the compiler knows that both are zero",
        "lax.atan2(lax.convert_element_type(lax.bitwise_and(lax.bitwise_and(x, 2), 1), "
        "'float32'), "
        "lax.convert_element_type(lax.bitwise_and(lax.bitwise_and(x, 2), 1), 'float32'))",
        (np.array([3, 5], np.int32),),
        f32(0.0, 0.0),
        "XLA folds the angle of two zeros that it can prove to NaN (openxla/xla#44705). "
        "hloom's "
        "program for the angle does not call that function.",
        asks="np.arctan2(((x & 2) & 1).astype(np.float32), ((x & 2) & 1).astype(np.float32))",
        plain=Plain("`stablehlo.atan2`", lambda x: _folded(x)),
        lowering="hloom.ops.elementary.real_functions.atan2",
        xla=f32(NAN, NAN),
    ),
    Decision(
        "A power of one half is not a root",
        "lax.pow(x, y)",
        (f32(-0.0, -INF), f32(0.5, 0.5)),
        f32(0.0, INF),
        "C99's answer, which all engines give for all pairs of special values; the root of "
        "-0.0 is "
        "-0.0, of -inf NaN.",
        asks="np.power(x, y)",
        plain=op("power"),
    ),
    Decision(
        "The logarithm of gamma is zero at 1 and 2",
        "lax.lgamma(x)",
        (f32(1.0, 2.0, 0.0, -INF),),
        f32(0.0, 0.0, INF, INF),
        "C99's answer; of -inf too, where SciPy gives -inf. XLA's own is 4.8e-7 at 1.",
        numpy="has none",
        plain=chlo_op("lgamma"),
        lowering="hloom.ops.elementary.special_functions.lgamma",
        xla=f32(4.7683716e-07, 0.0, INF, INF),
        reference=f32(4.7683716e-07, 4.7683716e-07, INF, INF),
    ),
    Decision(
        "Digamma has a pole at zero, on either side of it",
        "lax.digamma(x)",
        (f32(0.0, -0.0, -1.0),),
        f32(-INF, INF, NAN),
        "SciPy's answer.",
        numpy="has none",
        plain=chlo_op("digamma"),
        lowering="hloom.ops.elementary.special_functions.digamma",
        xla=ByVersion(f32(NAN, NAN, NAN), f32(-INF, -INF, NAN)),
        reference=ByVersion(f32(NAN, NAN, NAN), f32(-INF, -INF, NAN)),
    ),
    Decision(
        "The inverse error function ends at -1 and 1, and keeps -0.0",
        "lax.erf_inv(x)",
        (f32(1.0, -1.0, -0.0, 1.5),),
        f32(INF, -INF, -0.0, NAN),
        "An odd function; SciPy gives 0.0 for -0.0.",
        numpy="has none",
        plain=chlo_op("erf_inv"),
    ),
    Decision(
        "Zeta and polygamma vanish at infinity",
        "lax.polygamma(x, y)",
        (f32(1.0, 3.0), f32(INF, INF)),
        f32(0.0, 0.0),
        "The limit, and SciPy's answer.",
        numpy="has none",
        plain=chlo_op("polygamma"),
        lowering="hloom.ops.elementary.special_functions.zeta",
        xla=f32(NAN, NAN),
        reference=f32(NAN, NAN),
    ),
    Decision(
        "Polygamma has poles at 0 and the negative whole numbers",
        "lax.polygamma(x, y)",
        (f32(0.0, 0.0, 1.0, 2.0, 2.0, 1.0, 2.0), f32(0.0, -0.0, 0.0, 0.0, -0.0, -1.0, -INF)),
        f32(-INF, INF, INF, -INF, -INF, INF, -INF),
        "SciPy's answer; from order 1 on it has the sign of the side above, and -inf counts as a "
        "whole number. Of order 0 it is digamma.",
        numpy="has none",
        plain=chlo_op("polygamma"),
        lowering="hloom.ops.elementary.special_functions.polygamma",
        xla=ByVersion(
            f32(NAN, NAN, INF, NAN, NAN, INF, NAN), f32(-INF, -INF, INF, NAN, NAN, INF, NAN)
        ),
        reference=ByVersion(
            f32(NAN, NAN, INF, NAN, NAN, INF, NAN), f32(-INF, -INF, INF, NAN, NAN, INF, NAN)
        ),
    ),
    Decision(
        "Zeta is not a number below 1, and infinite at 1 and at its poles",
        "lax.zeta(x, y)",
        (
            f32(0.0, -0.0, 0.0, -1.0, 1.0, 2.5, 2.0, 2.5, INF, INF),
            f32(0.0, -0.0, -1.0, 2.0, 2.0, 0.0, -INF, -0.5, 1.0, 2.0),
        ),
        f32(NAN, NAN, NAN, NAN, INF, INF, INF, NAN, 1.0, 0.0),
        "SciPy's answer, but for the last, which is the limit and NaN in SciPy.",
        numpy="has none",
        plain=chlo_op("zeta"),
        lowering="hloom.ops.elementary.special_functions.zeta",
        xla=f32(INF, INF, INF, NAN, INF, NAN, INF, NAN, NAN, NAN),
        reference=f32(INF, INF, INF, NAN, INF, NAN, INF, NAN, 1.0, NAN),
    ),
    Decision(
        "Zeta and polygamma of negative numbers, far from 0 too",
        "lax.zeta(x, y)",
        (f32(2.0, 2.0, 3.0), f32(-0.5, -20.5, -1000.25)),
        f32(8.934802, 9.821994, -62.01255),
        "By the sum over all whole numbers, which has period 1.",
        numpy="has none",
        plain=chlo_op("zeta"),
        lowering="hloom.ops.elementary.special_functions.zeta",
        ulp=1,
        xla=f32(8.934802, -0.047610056, 4.9925069e-07),
        reference=f32(8.934802, -0.047610056, 4.9925069e-07),
    ),
    # ---- digits
    Decision(
        "Powers of two have all their digits",
        "lax.exp2(x)",
        (f64(100.3, 1000.7, -300.1),),
        np.exp2(np.array([100.3, 1000.7, -300.1], LONG)).astype(np.float64),
        "exp(x ln 2) multiplies the rounding of its argument: up to 594 units in f64, 68 in f32.",
        asks="np.exp2(x)",
        plain=Plain("exp(x ln 2)", lambda x: (x * math.log(2)).apply("exponential")),
        lowering="hloom.ops.elementary.real_functions.exp2",
        ulp=1,
        xla=f64(1.5606609545443047e30, 1.7406708678067278e301, 4.5803461616605194e-91),
        reference=f64(1.5606609545443047e30, 1.7406708678067278e301, 4.5803461616605194e-91),
    ),
    Decision(
        "The sine of tiny arcsines is what it was",
        "lax.asin(x)",
        (f32(2e-38, -2e-38, -0.0),),
        f32(2e-38, -2e-38, -0.0),
        "CHLO's `asin` gives 0 here on jaxlib 0.10.",
        asks="np.arcsin(x)",
        plain=chlo_op("asin"),
        lowering="hloom.ops.elementary.real_functions.asin",
        xla=ByVersion(f32(0.0, -0.0, -0.0), SAME),
        reference=ByVersion(f32(1.9999999e-38, -1.9999999e-38, -0.0), SAME),
    ),
    Decision(
        "log1p has its digits near -0.414",
        "lax.log1p(x)",
        (f64(-0.4142, 0.4142, 1e-300),),
        np.log1p(np.array([-0.4142, 0.4142, 1e-300])).astype(np.float64),
        "XLA of jaxlib 0.10 is off by up to 128 units of f64 there.",
        asks="np.log1p(x)",
        plain=op("log_plus_one"),
        lowering="hloom.ops.elementary.real_functions.log1p",
        ulp=3,
        xla=ByVersion(f64(-0.5347768445884897, 0.3465640001880034, 1e-300), SAME),
    ),
    Decision(
        "atanh has its digits as well",
        "lax.atanh(x)",
        (f64(-0.41418, 0.41418),),
        np.arctanh(np.array([-0.41418, 0.41418])),
        "CHLO's `atanh` is made of `log_plus_one`.",
        asks="np.arctanh(x)",
        plain=chlo_op("atanh"),
        lowering="hloom.ops.elementary.real_functions.atanh",
        ulp=4,
        xla=ByVersion(f64(-0.4406462808214375, 0.4406462808214375), SAME),
    ),
    Decision(
        "The hyperbolic sine of large numbers has its digits",
        "lax.sinh(x)",
        (f64(700.3, -650.7, 1e-5),),
        np.sinh(np.array([700.3, -650.7, 1e-5], LONG)).astype(np.float64),
        "CHLO's `sinh` takes the exponential of x + ln(1/2): up to 459 units of f64 are lost.",
        asks="np.sinh(x)",
        plain=chlo_op("sinh"),
        lowering="hloom.ops.elementary.real_functions.sinh",
        ulp=5,
        xla=f64(6.845350360049828e303, -1.969651444006657e282, 1.0000000000166668e-5),
        reference=f64(6.845350360049828e303, -1.969651444006657e282, 1.0000000000166668e-5),
    ),
    Decision(
        "So has the hyperbolic cosine",
        "lax.cosh(x)",
        (f64(700.3, -650.7, 0.3),),
        np.cosh(np.array([700.3, -650.7, 0.3], LONG)).astype(np.float64),
        "As above.",
        asks="np.cosh(x)",
        plain=chlo_op("cosh"),
        lowering="hloom.ops.elementary.real_functions.cosh",
        ulp=3,
        xla=f64(6.845350360049828e303, 1.969651444006657e282, 1.0453385141288605),
        reference=f64(6.845350360049828e303, 1.969651444006657e282, 1.0453385141288605),
    ),
    Decision(
        "The complementary error function has its digits in the tail",
        "lax.erfc(x)",
        (f64(20.3, 26.1),),
        f64(2.985318180601636e-181, 3.0812174933145933e-298),
        "CHLO's `erfc` squares its argument in one part: 112 units are lost.",
        numpy="has none",
        plain=chlo_op("erfc"),
        lowering="hloom.ops.elementary.special_functions.erfc",
        ulp=5,
        xla=f64(2.9853181806016273e-181, 3.0812174933147103e-298),
        reference=f64(2.985318180601627e-181, 3.0812174933147107e-298),
    ),
    Decision(
        "The inverse error function has its digits near 1",
        "lax.erf_inv(x)",
        (f64(1 - 1e-8),),
        f64(4.0522372432687634),
        "A Newton step on erfc; CHLO's f64 is off by up to 5e5 units there.",
        numpy="has none",
        plain=chlo_op("erf_inv"),
        lowering="hloom.ops.elementary.special_functions.erf_inv",
        ulp=8,
        xla=f64(4.052237243334861),
        reference=f64(4.052237243334861),
    ),
    Decision(
        "The logarithm of gamma has its digits near its zeros",
        "lax.lgamma(x)",
        (f32(1 + 2**-20, 2 + 2**-20),),
        f32(-5.504750e-07, 4.0319886e-07),
        "A polynomial for x from 1 to 2 that has the zeros as factors.",
        numpy="has none",
        plain=chlo_op("lgamma"),
        lowering="hloom.ops.elementary.special_functions.lgamma",
        ulp=1,
        xla=f32(-4.7683716e-07, 9.5367432e-07),
        reference=f32(-4.7683716e-07, 9.5367432e-07),
    ),
    Decision(
        "Digamma has its digits near its zero",
        "lax.digamma(x)",
        (f32(1.4616, 1.4617),),
        f32(-3.115848574802e-05, 6.562321904788e-05),
        "As above; the zero, 1.46163.., is a factor, in two parts.",
        numpy="has none",
        plain=chlo_op("digamma"),
        lowering="hloom.ops.elementary.special_functions.digamma",
        ulp=1,
        xla=f32(-3.0875206e-05, 6.610155e-05),
        reference=f32(-3.0875206e-05, 6.610155e-05),
    ),
    Decision(
        "Functions of narrow floats are computed in f32 and rounded once",
        "lax.logistic(x)",
        (f16(-5.0, -8.0, -12.0, 2.5),),
        (1 / (1 + np.exp(-f64(-5.0, -8.0, -12.0, 2.5)))).astype(np.float16),
        "As NumPy does. XLA's `logistic` of f16 is computed in f16, step by step: 11,078 of "
        "the "
        "65,536 are wrong, by up to 255 steps.",
        asks="(1 / (1 + np.exp(-x.astype(np.float32)))).astype(np.float16)",
        plain=op("logistic"),
        lowering="hloom.ops.common.elementwise.Elementwise",
        xla=f16(0.0066948, 0.00033545, 0.0, 0.92431640625),
        reference=f16(0.0066948, 0.00033545, 0.0, 0.92431640625),
    ),
)


def _folded(x: Any) -> Any:
    zero = ((x & 2) & 1).to(np.dtype(np.float32))
    return zero.apply("atan2", zero)
