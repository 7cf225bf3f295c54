"""Random bits: counters through a cipher."""

from __future__ import annotations

import numpy as np

from hloom.ops.random_bits import rng_bit_generator, rng_uniform
from hloom.testing.case import Case
from hloom.testing.operands import FLOATS

KNOWN = "tests/ops/test_random_bits.py has the published answers of the cipher"
_KEY = np.array([1, 2, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32)  # a key, and a counter that wraps

RANDOM = [
    Case("philox", lambda key: rng_bit_generator(key, (3, 5), "uint16"), (_KEY,), None,
         ("uint32",), moving=(), no_oracle=KNOWN),
    Case("threefry", lambda key: rng_bit_generator(key, (3, 5), "uint32", 1), (_KEY,), None,
         ("uint32",), moving=(), no_oracle=KNOWN),
    Case("threefry of wide words", lambda key: rng_bit_generator(key, (3,), "uint64", 1),
         (_KEY.view(np.uint64),), None, ("uint64",), moving=(), no_oracle=KNOWN),
    Case("uniform, of nothing", lambda a, b: rng_uniform(a, b, (0, 2)), ((), ()),
         lambda a, b: np.zeros((0, 2), a.dtype), (*FLOATS, "int32"), moving=(),
         engines=("xla", "numpy")),
    Case("philox of nothing", lambda key: rng_bit_generator(key, (0, 2), "uint8"), (_KEY,),
         lambda key: [key, np.zeros((0, 2), np.uint8)],
         ("uint32",), moving=()),
]  # fmt: skip
