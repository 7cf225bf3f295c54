"""Decisions on order: comparisons, extremes, sorting, signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.ops.common.expression import where
from hloom.testing.decisions.record import (
    SAME,
    ByVersion,
    Decision,
    NDArray,
    Plain,
    bf16,
    c64,
    f32,
    i32,
    op,
    truth,
)

INF, NAN = np.inf, np.nan

MANY = np.where(np.arange(5000) == 4321, np.float32(NAN), np.float32(1))
MANY_SHOWN = "4,999 ones and a NaN"


def scalar(value: Any, dtype: Any = np.float32) -> NDArray:
    return np.asarray(value, dtype)


def _sorted(x: Any) -> Any:
    """StableHLO's sort with a float comparator."""
    aval = x.operand.aval.update(shape=())
    region = x.block.region([aval, aval], lambda b, p, q: b.compare(p, "LT", q))
    attributes = "dimension = 0 : i64, is_stable = true"
    return x.block.op(
        f'"stablehlo.sort"({x.operand}) <{{{attributes}}}> {region}', [x.operand], x.operand.aval
    )


def _argsorted(x: Any) -> Any:
    """The same with the places beside."""
    places = x.operand.aval.update(dtype=np.dtype(np.int32))
    scalars = [aval.update(shape=()) for aval in (x.operand.aval, places) for _ in range(2)]
    region = x.block.region(scalars, lambda b, p, q, i, j: b.compare(p, "LT", q))
    attributes = "dimension = 0 : i64, is_stable = true"
    operands = [x.operand, x.block.iota(places, 0)]
    names = ", ".join(map(str, operands))
    made = x.block.op(
        f'"stablehlo.sort"({names}) <{{{attributes}}}> {region}', operands, [x.operand.aval, places]
    )
    return made[1]


def _top_places(x: Any) -> Any:
    values = x.operand.aval.update(shape=(4,))
    places = values.update(dtype=np.dtype(np.int32))
    return x.block.op(f"chlo.top_k({x.operand}, k = 4)", [x.operand], [values, places])[1]


def _nans_of_windows(x: Any) -> Any:
    block, out = x.block, x.operand.aval.update(shape=(x.size // 2,))
    init = block.constant(-INF, out.update(shape=()))
    region = block.region([init.aval] * 2, lambda b, p, q: b.max(p, q))
    head = (
        f'"stablehlo.reduce_window"({x.operand}, {init}) '
        "<{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> " + region
    )
    found = block.op(head, [x.operand, init], out)
    counts = block.convert(block.compare(found, "NE", found), np.int64)
    return block.reduce(counts, 0, "add", (0,))


def _first_largest(x: Any) -> Any:
    """A reduction of pairs: the second one, where it is greater."""
    block, places = x.block, x.operand.aval.update(dtype=np.dtype(np.int64))
    inits = [
        block.constant(v, a.update(shape=())) for v, a in ((-INF, x.operand.aval), (0, places))
    ]

    def body(b: Any, p: Any, i: Any, q: Any, j: Any) -> list[Any]:
        greater = b.compare(q, "GT", p)
        return [b.select(greater, q, p), b.select(greater, j, i)]

    region = block.region([init.aval for init in inits] * 2, body)
    operands = [x.operand, block.iota(places, 1), *inits]
    names = ", ".join(map(str, operands))
    outs = [aval.update(shape=x.shape[:1]) for aval in (x.operand.aval, places)]
    head = f'"stablehlo.reduce"({names}) <{{dimensions = array<i64: 1>}}> {region}'
    return block.op(head, operands, outs)[1]


SORT = Plain("`stablehlo.sort` by `compare LT`", _sorted)
ARGSORT = Plain("`stablehlo.sort` by `compare LT`", lambda x, *_: _argsorted(x))
PLACES = Plain(
    "`stablehlo.sort` by `compare LT`", lambda x: x.block.convert(_argsorted(x), np.int64)
)
FIRST = Plain("`stablehlo.reduce` of pairs by `compare GT`", _first_largest)
TOP = Plain("`chlo.top_k`", _top_places)
WINDOW = Plain("`stablehlo.reduce_window` with `maximum`", _nans_of_windows)


def compared(direction: str) -> Plain:
    return Plain(f"`stablehlo.compare {direction}`", lambda x, y: x.compare(direction, y))


ORDER = (
    Decision(
        "Of two zeros the positive one is the larger",
        "lax.max(x, y)",
        (f32(0.0, -0.0), f32(-0.0, 0.0)),
        f32(0.0, 0.0),
        "IEEE 754-2019. NumPy's answer depends on the order, the dtype and the processor.",
        numpy="either",
        plain=op("maximum"),
    ),
    Decision(
        "Of two zeros the negative one is the smaller",
        "lax.min(x, y)",
        (f32(0.0, -0.0), f32(-0.0, 0.0)),
        f32(-0.0, -0.0),
        "As above.",
        numpy="either",
        plain=op("minimum"),
    ),
    Decision(
        "NaN is larger and smaller than everything",
        "lax.max(x, y)",
        (f32(NAN, 1.0), f32(1.0, NAN)),
        f32(NAN, NAN),
        "",
        asks="np.maximum(x, y)",
        plain=op("maximum"),
    ),
    Decision(
        "NaN stays between bounds, and the upper bound wins over the lower",
        "lax.clamp(x, y, z)",
        (f32(0.0, NAN, 2.0), f32(NAN, 0.5, 9.0), f32(1.0, 1.0, 1.0)),
        f32(NAN, NAN, 1.0),
        "NumPy's answer.",
        asks="np.clip(y, x, z)",
        plain=op("clamp"),
    ),
    Decision(
        "Zeros are equal",
        "lax.eq(x, y)",
        (f32(0.0), f32(-0.0)),
        truth(True),
        "",
        asks="x == y",
        plain=compared("EQ"),
    ),
    Decision(
        "NaN is not less than anything, nor equal to itself",
        "lax.lt(x, y)",
        (f32(NAN, 1.0), f32(1.0, NAN)),
        truth(False, False),
        "",
        asks="x < y",
        plain=compared("LT"),
    ),
    Decision(
        "Complex numbers are ordered by real part, then by imaginary part",
        "lax.lt(x, y)",
        (c64(1 + 1j, 1 + 2j, 2, complex(1, NAN)), c64(1 + 2j, 1 + 1j, 1 + 9j, 2)),
        truth(True, False, False, False),
        "NumPy's answer. StableHLO orders real numbers only: what the plain comparison of "
        "complex "
        "ones gives is anybody's, and the interpreter would end its process.",
        asks="x < y",
        plain=compared("LT"),
        lowering="hloom.ops.pointwise.compare._lexicographic",
        xla=ByVersion(truth(True, False, False, True), "does not compile"),
        reference="would end its process",
    ),
    Decision(
        "NaN wins over complex numbers as well",
        "lax.max(x, y)",
        (c64(complex(NAN, 1), 1, 1 + 1j), c64(5, complex(1, NAN), 1 + 2j)),
        c64(complex(NAN, 1), complex(1, NAN), 1 + 2j),
        "NumPy's answer. XLA compares the real parts only, the interpreter lets NaN go.",
        asks="np.maximum(x, y)",
        plain=op("maximum"),
        lowering="hloom.ops.pointwise.compare.larger",
        xla=c64(5, 1, 1 + 1j),
        reference=c64(5, complex(1, NAN), 1 + 2j),
    ),
    Decision(
        "The sign of -0.0 is 0.0",
        "lax.sign(x)",
        (f32(-0.0, 0.0, -5.0, NAN),),
        f32(0.0, 0.0, -1.0, NAN),
        "NumPy's answer; StableHLO's `sign` keeps -0.0.",
        asks="np.sign(x)",
        plain=op("sign"),
        lowering="hloom.ops.pointwise.unary.sign_p",
        xla=f32(-0.0, 0.0, -1.0, NAN),
        reference=f32(-0.0, 0.0, -1.0, NAN),
    ),
    Decision(
        "The sign of a complex number is its direction",
        "lax.sign(x)",
        (c64(3 - 4j, -0.0, complex(INF, 5), complex(2, -INF), complex(INF, INF)),),
        c64(0.6 - 0.8j, 0, 1, -1j, complex(NAN, NAN)),
        "NumPy's answer: an infinite part alone points along its axis.",
        asks="np.sign(x)",
        plain=op("sign"),
        lowering="hloom.ops.elementary.complex_functions.sign",
        ulp=1,
        xla=c64(0.6 - 0.8j, -0.0, NAN, complex(0, NAN), complex(NAN, NAN)),
        reference=c64(0.6 - 0.8j, 0, *[complex(NAN, NAN)] * 3),
    ),
    Decision(
        "An infinite part wins over NaN in the absolute value",
        "lax.abs(x)",
        (c64(complex(INF, NAN), complex(NAN, -INF), 3 + 4j),),
        f32(INF, INF, 5),
        "NumPy's answer, and C99's.",
        asks="np.abs(x)",
        plain=Plain("`stablehlo.abs`", lambda x: abs(x)),
        lowering="hloom.ops.elementary.complex_functions.hypot",
        xla=f32(NAN, NAN, 5),
    ),
    Decision(
        "NaN is found by the largest of many",
        "lax.reduce_max(x, (0,))",
        (MANY,),
        scalar(NAN),
        "NumPy's answer. From 4,096 elements on, a library that XLA's CPU backend calls by "
        "default "
        "loses NaN; hloom switches it off for everything but products of matrices, and "
        "reduces a "
        "flag beside the extreme, which is faster.",
        asks="np.max(x)",
        plain=Plain(
            "`stablehlo.reduce` with `maximum`",
            lambda x: x.block.reduce(x.operand, -INF, "max", (0,)),
        ),
        settings="stock",
        lowering="hloom.ops.reductions.reduce.Extreme",
        shown=(MANY_SHOWN,),
        xla=scalar(1.0),
    ),
    Decision(
        "NaN is found along an axis of many",
        "lax.reduce_max(x, (1,))",
        (np.stack([MANY, np.ones_like(MANY)]),),
        f32(NAN, 1.0),
        "As above; here the setting alone makes the difference.",
        asks="np.max(x, 1)",
        plain=Plain(
            "`stablehlo.reduce` with `maximum`",
            lambda x: x.block.reduce(x.operand, -INF, "max", (1,)),
        ),
        settings="stock",
        lowering="hloom.engines.settings.REPAIRS",
        shown=(f"a row of {MANY_SHOWN}, a row of ones",),
        xla=f32(1.0, 1.0),
    ),
    Decision(
        "NaN goes through a sum of maxima",
        "lax.reduce_sum(lax.max(x, np.float32(0)), (0,))",
        (MANY,),
        scalar(NAN),
        "As above: the maximum is fused into the reduction.",
        asks="np.sum(np.maximum(x, 0))",
        plain=Plain(
            "`stablehlo.maximum`, `reduce` with `add`",
            lambda x: x.block.reduce(x.apply("maximum", 0.0).operand, 0.0, "add", (0,)),
        ),
        settings="stock",
        lowering="hloom.engines.settings.REPAIRS",
        shown=(MANY_SHOWN,),
        xla=scalar(4999.0),
    ),
    Decision(
        "NaN is found by the largest of a window",
        "jnp.isnan(lax.reduce_window(x, -np.inf, lax.max, (2,), (2,), 'VALID')).sum()",
        (np.where(np.arange(8192) == 4321, np.float32(NAN), np.float32(1)),),
        scalar(1, np.int64),
        "As above, where windows do not overlap (those that do, as 3 by 3 at every second "
        "place, keep NaN in "
        "XLA too).",
        asks="np.isnan(x.reshape(-1, 2).max(1)).sum()",
        lowering="hloom.ops.reductions.window_kernels.slide",
        shown=("8,191 ones and a NaN",),
        plain=WINDOW,
        settings="stock",
        xla=scalar(0, np.int64),
    ),
    Decision(
        "Sorting puts NaN last",
        "lax.sort(x)",
        (f32(3, NAN, -1, -NAN, INF, -INF),),
        f32(-INF, -1, 3, INF, NAN, NAN),
        "NumPy's answer. Floats are sorted by integers of the same order. A plain comparator "
        "is "
        "no order where there is a NaN, so anything may come out; StableHLO's total order would "
        "be one, but the interpreter ignores it.",
        asks="np.sort(x)",
        plain=SORT,
        lowering="hloom.ops.order.sorting.sort_key",
        xla=ByVersion(f32(-1, 3, NAN, NAN, -INF, INF), SAME),
        reference=f32(-1, 3, NAN, NAN, -INF, INF),
        rows=False,
    ),
    Decision(
        "Sorting several keeps the order of equal keys, and zeros are equal",
        "lax.sort_key_val(x, y)[1]",
        (f32(0.0, -0.0, NAN, 0.0, -NAN, -1), i32(0, 1, 2, 3, 4, 5)),
        i32(5, 0, 1, 3, 2, 4),
        "NumPy's answer, of a stable sort.",
        asks="np.argsort(x, stable=True).astype(np.int32)",
        lowering="hloom.ops.order.sorting.sort_key",
        plain=ARGSORT,
        xla=ByVersion(i32(5, 0, 1, 2, 3, 4), SAME),
        reference=i32(5, 0, 1, 2, 3, 4),
        rows=False,
    ),
    Decision(
        "Subnormal numbers are sorted",
        "lax.sort(x)",
        (f32(3e-45, 0.0, 1e-45, -1e-45, 1e-40),),
        f32(-1e-45, 0.0, 1e-45, 3e-45, 1e-40),
        "NumPy's answer: integer keys are not flushed to zero, and a value is read back from "
        "its "
        "key.",
        asks="np.sort(x)",
        plain=SORT,
        lowering="hloom.ops.order.sorting.from_key",
        xla=f32(3e-45, 0.0, 1e-45, -1e-45, 1e-40),
        rows=False,
    ),
    Decision(
        "Places of sorted bf16 put NaN last",
        "jnp.argsort(x)",
        (bf16(2.0, NAN, -1.0, NAN, 1.0, 0.5, -NAN),),
        np.array([2, 5, 4, 0, 1, 3, 6]),
        "As all floats. With ml_dtypes before 0.7, NumPy has an order in which NaN stops the sort.",
        asks="np.argsort(x)",
        lowering="hloom.ops.order.sorting.sort_key",
        plain=PLACES,
        xla=ByVersion(np.array([2, 0, 1, 3, 5, 4, 6]), SAME),
        reference=np.array([2, 0, 1, 3, 5, 4, 6]),
        rows=False,
    ),
    Decision(
        "NaN is among the largest few, and ties go by place",
        "lax.top_k(x, 4)[1]",
        (f32(1.0, NAN, -0.0, 0.0, 5.0),),
        i32(1, 4, 0, 2),
        "NumPy sorts NaN last, as the largest. CHLO's `top_k` orders zeros by their signs, "
        "or, on "
        "the interpreter, does not find NaN.",
        numpy="has none",
        lowering="hloom.ops.order.sorting.sort_key",
        plain=TOP,
        xla=i32(1, 4, 0, 3),
        reference=i32(0, 1, 4, 2),
    ),
    Decision(
        "The largest is the first NaN, or the first of the equal",
        "jnp.argmax(x, axis=1)",
        (np.stack([f32(1, 3, 3), f32(1, NAN, NAN), f32(-0.0, 0.0, -1)]),),
        np.array([1, 1, 0]),
        "NumPy's answer.",
        asks="np.argmax(x, axis=1)",
        lowering="hloom.ops.common.reduction_layouts.first_extreme",
        plain=FIRST,
        xla=np.array([1, 0, 0]),
        reference=np.array([1, 0, 0]),
    ),
    Decision(
        "The next float is found among the bits",
        "lax.nextafter(x, y)",
        (f32(0.0, -0.0, 1.0, NAN, -1e-45), f32(1.0, 0.0, 2.0, 1.0, 1.0)),
        f32(1e-45, 0.0, 1 + 2**-23, NAN, -0.0),
        "NumPy's answer. CHLO's `next_after` compares floats, which XLA's CPU flushes.",
        asks="np.nextafter(x, y)",
        plain=Plain("`x + 2**-149`", lambda x, y: where(y > x, x + 1e-45, x - 1e-45)),
        lowering="hloom.ops.pointwise.binary._nextafter",
        xla=f32(0.0, -0.0, 1.0, NAN, 0.0),
        reference=f32(1e-45, -1e-45, 1.0, NAN, 0.0),
    ),
    Decision(
        "Between equal infinities lies that infinity",
        "jnp.percentile(x, 50)",
        (f32(INF, INF, 1.0, INF),),
        scalar(INF),
        "So does an infinity alone. NumPy subtracts the two: NaN.",
        asks="np.percentile(x, 50)",
        numpy=scalar(NAN),
        rows=False,
    ),
)
