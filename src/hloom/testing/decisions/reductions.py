"""Decisions on reductions and products of matrices."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from hloom.ops.common.expression import Term
from hloom.testing.decisions.record import Decision, Departure, NDArray, Plain, f16, f32

INF, NAN = np.inf, np.nan


def scalar(value: Any, dtype: Any = np.float32) -> NDArray:
    return np.asarray(value, dtype)


def folded(operation: str, init: float, axis: int = 0) -> Plain:
    """A reduction and nothing else."""
    return Plain(
        f"`stablehlo.reduce` with `{operation}`",
        lambda x: x.block.reduce(x.operand, init, operation, (axis,)),
    )


def _dot(x: Any, y: Any) -> Any:
    head = f"stablehlo.dot_general {x.operand}, {y.operand}, contracting_dims = [0] x [0]"
    return x.block.op(head, [x.operand, y.operand], x.operand.aval.update(shape=()))


def _mean(x: Any) -> Any:
    total = x.block.reduce(x.operand, 0.0, "add", (0,))
    return x.block.div(total, float(x.size))


def _product(x: Any, y: Any) -> Any:
    head = f"stablehlo.dot_general {x.operand}, {y.operand}, contracting_dims = [1] x [0]"
    shape = (*x.shape[:1], *y.shape[1:])
    return x.block.op(head, [x.operand, y.operand], x.operand.aval.update(shape=shape))


def _triangle(x: Any) -> Any:
    lower = x.block.constant(
        np.tri(x.size, dtype=np.float32), x.operand.aval.update(shape=(x.size, x.size))
    )
    return _product(Term(x.block, lower), x)


def _window(x: Any) -> Any:
    block, out = x.block, x.operand.aval.update(shape=(x.size + 1,))
    init = block.constant(100.0, out.update(shape=()))
    region = block.region([init.aval] * 2, lambda b, p, q: b.add(p, q))
    head = (
        f'"stablehlo.reduce_window"({x.operand}, {init}) <{{window_dimensions = array<i64: 2>, '
        f"padding = dense<[[1, 1]]> : tensor<1x2xi64>}}> {region}"
    )
    return block.op(head, [x.operand, init], out)


def _convolution(x: Any, kernel: Any) -> Any:
    out = x.operand.aval.update(shape=(1, 2, 3))
    numbers = "[b, f, 0]x[o, i, 0]->[b, f, 0]"
    head = (
        f"stablehlo.convolution({x.operand}, {kernel.operand}) dim_numbers = {numbers}, "
        "window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    )
    return x.block.op(head, [x.operand, kernel.operand], out)


MEAN = Plain("`stablehlo.reduce` with `add`, `divide`", _mean)
PRODUCT = Plain("`stablehlo.dot_general`", _product)
TRIANGLE = Plain("`stablehlo.dot_general` by a triangle of ones", _triangle)
DOT = Plain("`stablehlo.dot_general`", _dot)
HALVES = np.ones(4096, np.float16)
BRAINS = np.ones(1000, ml_dtypes.bfloat16)

SUMS = (
    Decision(
        "Sums of f16 are computed in f32",
        "lax.reduce_sum(x, (0,))",
        (HALVES,),
        scalar(4096, np.float16),
        "As XLA does for itself; NumPy adds pairwise. Left to right in f16 a sum of ones "
        "stops at "
        "2048, and the interpreter does so.",
        asks="np.sum(x)",
        plain=folded("add", 0.0),
        lowering="hloom.ops.common.elementwise.accumulator",
        shown=("4,096 ones of f16",),
        reference=scalar(2048, np.float16),
    ),
    Decision(
        "So are sums of bf16",
        "lax.reduce_sum(x, (0,))",
        (BRAINS,),
        scalar(1000, ml_dtypes.bfloat16),
        "ml_dtypes, which gives NumPy its bfloat16, stops at 256, as does the interpreter.",
        asks="np.sum(x)",
        plain=folded("add", 0.0),
        lowering="hloom.ops.common.elementwise.accumulator",
        shown=("1,000 ones of bf16",),
        numpy=scalar(256, ml_dtypes.bfloat16),
        reference=scalar(256, ml_dtypes.bfloat16),
    ),
    Decision(
        "So are dots of f16",
        "lax.dot(x, y)",
        (HALVES, HALVES),
        scalar(4096, np.float16),
        "As NumPy and XLA do for themselves; the interpreter adds in f16.",
        asks="np.dot(x, y)",
        plain=DOT,
        lowering="hloom.ops.common.elementwise.accumulator",
        shown=("4,096 ones of f16", "the same"),
        reference=scalar(2048, np.float16),
    ),
    Decision(
        "A mean of f16 does not overflow",
        "jnp.mean(x)",
        (f16(60000, 60000, 60000),),
        scalar(60000, np.float16),
        "NumPy's answer: the sum is in f32.",
        asks="np.mean(x)",
        lowering="hloom.ops.common.elementwise.accumulator",
        plain=MEAN,
        xla=scalar(INF, np.float16),
        reference=scalar(INF, np.float16),
    ),
    Decision(
        "The sum of negative zeros is 0.0",
        "lax.reduce_sum(x, (0,))",
        (f32(-0.0, -0.0),),
        scalar(0.0),
        "NumPy's answer: a sum begins with 0.0.",
        asks="np.sum(x)",
        plain=folded("add", 0.0),
    ),
    Decision(
        "A sum of many is off by less than its number of terms",
        "lax.reduce_sum(x, (0,))",
        (np.full(20000, 0.1, np.float32),),
        scalar(2000.0),
        "The order of addition is each engine's own: NumPy's is pairwise, XLA's by rows, the "
        "interpreter's from left to right. The budget is eps * n, relative to the sum of "
        "absolute "
        "values.",
        asks="np.sum(x).round()",
        ulp=20000,
        shown=("20,000 times 0.1",),
    ),
    Decision(
        "A product of matrices over no elements is zero",
        "lax.dot(x, y)",
        (np.ones((2, 0), np.float32), np.ones((0, 3), np.float32)),
        np.zeros((2, 3), np.float32),
        "NumPy's answer; the interpreter would end its process, so a constant is written.",
        asks="x @ y",
        lowering="hloom.ops.products.dot.dot_general_p",
        shown=("f32[2,0]", "f32[0,3]"),
        plain=PRODUCT,
        reference="would end its process",
    ),
    Decision(
        "A convolution of no features is zero",
        "lax.conv_general_dilated(x, y, (1,), 'VALID')",
        (np.ones((1, 0, 4), np.float32), np.ones((2, 0, 2), np.float32)),
        np.zeros((1, 2, 3), np.float32),
        "The sum over nothing; as above.",
        numpy="has none",
        plain=Plain("`stablehlo.convolution`", _convolution),
        reference="would end its process",
        lowering="hloom.ops.products.convolution.conv_general_dilated_p",
        shown=("f32[1,0,4]", "f32[2,0,2]"),
    ),
    Decision(
        "A kernel without elements is refused",
        "lax.conv_general_dilated(x, y, (1,), 'VALID')",
        (np.ones((1, 1, 4), np.float32), np.ones((2, 1, 0), np.float32)),
        None,
        "StableHLO's verifier refuses it too.",
        raises="ValueError",
        shown=("f32[1,1,4]", "f32[2,1,0]"),
    ),
    Decision(
        "Over no elements a sum is 0, a product 1",
        "jnp.stack([jnp.sum(x), jnp.prod(x)])",
        (f32(),),
        f32(0, 1),
        "NumPy's answer.",
        asks="np.stack([np.sum(x), np.prod(x)])",
        shown=("f32[0]",),
    ),
    Decision(
        "Over no elements there is no largest",
        "jnp.max(x)",
        (f32(),),
        None,
        "NumPy's answer. `lax.reduce_max` gives the identity, -inf.",
        raises="ValueError",
        asks="np.max(x)",
        numpy="raises",
        shown=("f32[0]",),
    ),
    Decision(
        "The variance of f16 overflows where its squares do",
        "jnp.var(x)",
        (f16(0, 60000),),
        scalar(INF, np.float16),
        "NumPy's answer: the result is an f16.",
        asks="np.var(x)",
    ),
    Decision(
        "A running sum keeps infinities until they cancel",
        "jnp.cumsum(x)",
        (f32(1, INF, 2, -INF, 3),),
        f32(1, INF, INF, NAN, NAN),
        "NumPy's answer: no element reaches back.",
        asks="np.cumsum(x)",
        lowering="hloom.ops.reductions.running_totals.running",
        plain=TRIANGLE,
        xla=f32(NAN, NAN, NAN, NAN, NAN),
        reference=f32(NAN, NAN, NAN, NAN, NAN),
        rows=False,
    ),
    Decision(
        "A running sum adds in order",
        "jnp.cumsum(x)",
        (f32(1e8, -1e8, 1, 3e38, 3e38),),
        f32(1e8, 0, 1, 3e38, INF),
        "NumPy's answer, bit for bit: the elements are added from the first to the last, so that "
        "digits are lost and infinities appear only where NumPy's running total has them. Running "
        "products are NumPy's too, but for subnormal numbers. `lax.associative_scan` combines "
        "neighbours first.",
        asks="np.cumsum(x)",
        rows=False,
    ),
    Decision(
        "Holes and padding of a window hold the initial value",
        "lax.reduce_window(x, np.float32(100), lax.add, (2,), (1,), ((1, 1),))",
        (f32(1, 2, 3),),
        f32(201, 103, 105, 203),
        "StableHLO's specification. It should be the identity of the operation; if it is not, "
        "XLA's own adds it once to each window. hloom writes the padding into the operand first.",
        numpy="has none",
        plain=Plain("`stablehlo.reduce_window`", _window),
        xla=f32(101, 103, 105, 103),
        lowering="hloom.control.computations.ReduceWindow",
        rows=False,
    ),
    Decision(
        "The padding of a convolution is zeros, which an infinite kernel makes NaN",
        "lax.conv_general_dilated(x, y, (1,), [(0, 1)])",
        (f32(1, 1, 1).reshape(1, 1, 3), f32(1, INF).reshape(1, 1, 2)),
        f32(INF, INF, NAN).reshape(1, 1, 3),
        "StableHLO's definition: 0 times infinity is NaN. `jnp.convolve` leaves out what would "
        "meet padding, as NumPy does.",
        numpy="has none",
        departures={
            "xla": Departure(
                f32(INF, INF, 1).reshape(1, 1, 3),
                "Its routine for one channel, and those for other types than f32, leave out the "
                "places of the kernel that meet padding or holes; that for many channels of f32 "
                "does not. Only kernels with infinity or NaN show it.",
            )
        },
        rows=False,
    ),
)
