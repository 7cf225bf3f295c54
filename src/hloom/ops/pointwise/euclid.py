"""What Euclid computed: the hypotenuse, and the greatest common divisor."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom import dtypes
from hloom.ops.common.elementwise import Elementwise
from hloom.ops.common.expression import Term, where
from hloom.ops.elementary import complex_functions
from hloom.ops.pointwise.arithmetic import div, mul, nonzero_divisor
from hloom.ops.pointwise.compare import eq, pick


# ---- hypot -----------------------------------------------------------------------------------
def _hypot_share(t: Any, out: Any, x: Any) -> Any:
    """t * x / out, and 0 at the origin."""
    return mul(t, div(x, pick(eq(out, 0), 1, out)))


hypot_p = Elementwise(
    "hypot",
    formula=complex_functions.hypot,
    numpy=np.hypot,
    jvp=[
        lambda t, out, x, y: _hypot_share(t, out, x),
        lambda t, out, x, y: _hypot_share(t, out, y),
    ],
    domain="float",
)


def hypot(x: Any, y: Any) -> Any:
    """The hypotenuse of a right triangle, `sqrt(x**2 + y**2)`; infinite if either side is.

    Takes two operands of one float dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.

    >>> hloom.ops.pointwise.euclid.hypot(jnp.array([3.0, 5e20]), jnp.array([4.0, 12e20]))
    Array([5.0e+00, 1.3e+21], dtype=float32)
    """
    return hypot_p(x, y)


# ---- gcd -------------------------------------------------------------------------------------
def _gcd(x: Term, y: Term) -> Term:
    """Euclid's algorithm on the absolute values, as unsigned integers: they hold that of the
    most negative one."""
    if dtypes.bits(x.dtype) < 8:
        byte = np.dtype("int8" if dtypes.kind(x.dtype) == "signed" else "uint8")
        return _gcd(x.to(byte), y.to(byte)).to(x.dtype)
    block = x.block
    wide = np.dtype(f"u{x.dtype.itemsize}")

    def more(inner: Any, *state: Any) -> Any:
        left = Term(inner, state[1]) != 0
        axes = tuple(range(len(left.shape)))
        return inner.reduce(left.operand, False, "or_", axes) if axes else left.operand

    def step(inner: Any, *state: Any) -> list[Any]:
        a, b = (Term(inner, s) for s in state)
        rest = a.apply("remainder", nonzero_divisor(b))
        return [where(b == 0, a, b).operand, where(b == 0, b, rest).operand]

    start = [abs(z) if dtypes.kind(z.dtype) == "signed" else z for z in (x, y)]
    (a, _) = block.while_loop(more, step, [z.cast(wide).operand for z in start])
    return Term(block, a).cast(x.dtype)


def _numpy_gcd(x: Any, y: Any) -> Any:
    if dtypes.bits(x.dtype) < 8:
        x, y = x.astype(np.int8), y.astype(np.int8)
    return np.gcd(x, y)


gcd_p = Elementwise("gcd", formula=_gcd, numpy=_numpy_gcd, domain="integer")


def gcd(x: Any, y: Any) -> Any:
    """The greatest common divisor of the absolute values; of 0 and 0 it is 0.

    Takes two operands of one integer dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.

    >>> hloom.ops.pointwise.euclid.gcd(jnp.array([12, -18, 0]), 8)
    Array([4, 2, 8], dtype=int32)
    """
    return gcd_p(x, y)
