"""Conversion of dtypes and bits, choice, random bits, and what is known without operands."""

from __future__ import annotations

import numpy as np

from hloom.ops.pointwise.arithmetic import add
from hloom.ops.pointwise.compare import select, select_n
from hloom.ops.pointwise.convert import (
    bitcast_convert_type,
    convert_element_type,
    reduce_precision,
    stop_gradient,
)
from hloom.ops.pointwise.euclid import gcd, hypot
from hloom.ops.random_bits import rng_bit_generator, rng_uniform
from hloom.ops.shapes.shape import broadcasted_iota, iota
from hloom.testing.case import Case
from hloom.testing.cases import pointwise
from hloom.testing.operands import (
    EVERYTHING,
    FLOATS,
    INTEGERS,
    NUMBERS,
    ORDERED,
)

I32 = np.int32

CONVERSIONS = [
    Case("to bool", lambda x: convert_element_type(x, "bool"), ((9,),), lambda x: x != 0,
         EVERYTHING),
    Case("to int32", lambda x: convert_element_type(x, "int32"), ((9,),),
         lambda x: x.astype(I32), ORDERED, corners=False),
    Case("to int8", lambda x: convert_element_type(x, "int8"), ((9,),),
         lambda x: x.astype(np.int8), ORDERED, corners=False),
    Case("to uint64", lambda x: convert_element_type(x, "uint64"), ((9,),),
         lambda x: x.astype(np.uint64), ORDERED, low=0, corners=False),
    # What an integer does not hold has a decided value, which C and NumPy leave open.
    Case("to int32, held", lambda x: convert_element_type(x, "int32"), ((25,),), None, FLOATS,
         low=-3e38, high=3e38, moving=()),
    Case("to uint8, held", lambda x: convert_element_type(x, "uint8"), ((25,),), None, FLOATS,
         low=-999, high=999, moving=()),
    Case("to bfloat16", lambda x: convert_element_type(x, "bfloat16"), ((9,),), None, ORDERED,
         moving=()),
    Case("to float16", lambda x: convert_element_type(x, "float16"), ((9,),),
         lambda x: x.astype(np.float16), ORDERED, moving=()),
    Case("to float32", lambda x: convert_element_type(x, "float32"), ((9,),),
         lambda x: x.astype(np.float32), ORDERED, moving=()),
    Case("to float64", lambda x: convert_element_type(x, "float64"), ((9,),),
         lambda x: x.astype(np.float64), ORDERED),
    Case("to complex128", lambda x: convert_element_type(x, "complex128"), ((9,),),
         lambda x: x.astype(np.complex128), EVERYTHING),
    Case("bits as bytes", lambda x: bitcast_convert_type(x, "uint8"), ((3, 2),), None,
         (*INTEGERS, *FLOATS), moving=()),
    Case("bits of bytes", lambda x: bitcast_convert_type(x, "float32"), ((3, 4),),
         lambda x: x.view(np.float32)[..., 0], ("uint8",), moving=()),
]  # fmt: skip

CHOICES = [
    Case("select", select, (np.array([True, False, True]), (3,), (3,)), np.where),
    Case("select by one bool", select, (np.bool_(False), (2, 3), (2, 3)), lambda p, x, y: y),
    Case("select_n", select_n, (np.array([2, 0, 1], I32), (3,), (3,), (3,)),
         lambda i, *xs: np.choose(i, xs)),
    Case("select_n beyond the last", select_n, (np.array([5, -1], I32), (2,), (2,), (2,)),
         lambda i, *xs: np.choose(i, xs, mode="clip")),
]  # fmt: skip

SMALL = [
    Case("reduce_precision of small floats", lambda x: reduce_precision(x, 4, 1), ((20,),), None,
         ("float8_e5m2", "float8_e4m3fn"), moving=()),
    Case("reduce_precision of floats that the interpreter lacks",
         lambda x: reduce_precision(x, 4, 1), ((20,),), None,
         ("float4_e2m1fn", "float8_e8m0fnu"), moving=(), engines=("xla", "numpy")),
]  # fmt: skip

COUNTING = [
    Case("iota", lambda x: add(x, iota(x.dtype, 6)), ((6,),),
         lambda x: x + np.arange(6).astype(x.dtype), NUMBERS),
    Case("broadcasted_iota", lambda x: add(x, broadcasted_iota(x.dtype, (2, 3), 1)), ((2, 3),),
         lambda x: x + np.arange(3).astype(x.dtype), NUMBERS),
    Case("stop_gradient", stop_gradient, ((2, 3),), lambda x: x, moving=()),
]  # fmt: skip

EUCLID = [
    pointwise.row("reduce_precision", lambda x: reduce_precision(x, 5, 2), FLOATS,
                    pointwise.WIDE),
    pointwise.row("hypot", hypot, FLOATS, pointwise.PAIR, ((1, 9), (1, 9)), np.hypot,
                    (0.6, 2, 0), pointwise.OURS),
    pointwise.row("gcd", gcd, pointwise.INTEGERS, pointwise.PAIR),
]  # fmt: skip

_KEY = np.array([1, 2, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32)  # a key, and a counter that wraps

RANDOM = [
    Case("philox", lambda key: rng_bit_generator(key, (3, 5), "uint16"), (_KEY,), None,
         ("uint32",), moving=()),
    Case("threefry", lambda key: rng_bit_generator(key, (3, 5), "uint32", 1), (_KEY,), None,
         ("uint32",), moving=()),
    Case("threefry of wide words", lambda key: rng_bit_generator(key, (3,), "uint64", 1),
         (_KEY.view(np.uint64),), None, ("uint64",), moving=()),
    Case("uniform, of nothing", lambda a, b: rng_uniform(a, b, (0, 2)), ((), ()), None,
         (*FLOATS, "int32"), moving=(), engines=("xla", "numpy")),
    Case("philox of nothing", lambda key: rng_bit_generator(key, (0, 2), "uint8"), (_KEY,), None,
         ("uint32",), moving=()),
]  # fmt: skip
