"""What partials of elementwise operations share: no digits lost in 16 bits, nor in a square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hloom.ops.common.elementwise import is_narrow
from hloom.ops.common.expression import FLOAT32
from hloom.ops.pointwise.arithmetic import add, mul, neg, sub
from hloom.ops.pointwise.convert import convert_element_type_p, reduce_precision_p, stop_gradient_p
from hloom.ops.pointwise.exponential import exp
from hloom.ops.pointwise.unary import square


def in_float32(partial: Callable[..., Any]) -> Callable[..., Any]:
    """A partial that is evaluated in f32 where the operands are narrower, and rounded once."""

    def wide(tangent: Any, out: Any, *primals: Any, **params: Any) -> Any:
        dtype = out.aval.dtype
        if not is_narrow(dtype):
            return partial(tangent, out, *primals, **params)
        operands = [_converted(x, FLOAT32) for x in (tangent, out, *primals)]
        return _converted(partial(*operands, **params), dtype)

    return wide


def _converted(x: Any, dtype: Any) -> Any:
    return convert_element_type_p(x, new_dtype=dtype, weak_type=x.aval.weak_type)


# The leading half of a float's digits: their square is exact.
_HALF = {"float32": (8, 11), "float64": (11, 25)}


def gaussian(x: Any) -> Any:
    """exp(-x * x) of f32 or f64, to a few ulp: the rounding of x * x would count x * x fold."""
    exponent_bits, mantissa_bits = _HALF[x.aval.dtype.name]
    head = reduce_precision_p(
        stop_gradient_p(x), exponent_bits=exponent_bits, mantissa_bits=mantissa_bits
    )
    rest = mul(sub(x, head), add(x, head))
    return mul(exp(neg(square(head))), exp(neg(rest)))
