"""`accuracy=` of elementary functions: a keyword of JAX's, checked and otherwise without effect.

StableHLO's `result_accuracy` lets a compiler choose a cheaper kernel.  hloom has one kernel for
each function; a tolerance that its error bound exceeds is refused.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from operator import index
from typing import Any

from hloom import dtypes
from hloom.core.operands import convert


class AccuracyMode(enum.Enum):
    """An accuracy without a number: `DEFAULT`, or `HIGHEST`, the best there is.

    Both give the same results.

    >>> lax.exp(jnp.ones(1), accuracy=lax.AccuracyMode.HIGHEST)
    Array([2.7182817], dtype=float32)
    """

    HIGHEST = 1
    DEFAULT = 2


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be off: absolutely, relatively, or in units of its last place.

    With `atol` and one of `rtol` and `ulps`, a result is within either.  Raises ValueError for a
    negative number or NaN, for `rtol` together with `ulps`, and where all are 0.

    >>> lax.sin(jnp.zeros(1), accuracy=lax.Tolerance(ulps=2))
    Array([0.], dtype=float32)
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "atol", float(self.atol))
            object.__setattr__(self, "rtol", float(self.rtol))
            object.__setattr__(self, "ulps", index(self.ulps))
        except (TypeError, ValueError):
            raise TypeError(f"Tolerance takes numbers, for ulps an integer; got {self}") from None
        if not (self.atol >= 0 and self.rtol >= 0 and self.ulps >= 0):
            raise ValueError(f"Tolerance takes numbers that are not negative; got {self}")
        if not (self.atol or self.rtol or self.ulps):
            raise ValueError("Tolerance needs one of atol, rtol and ulps above 0; nothing is exact")
        if self.rtol and self.ulps:
            raise ValueError(f"Tolerance takes rtol or ulps, and atol beside either; got {self}")


# Bounds of the error in ulp: of float32, of float64, and of complex numbers (in ulp of the larger
# part).  Measured over all exponents and near the zeros of the results; not for results that are
# subnormal, or within a factor of two of infinity.
ULPS = {
    "cbrt": (1, 1, 0),  # takes no complex numbers
    "cos": (1, 1, 12),
    "exp": (2, 2, 9),
    "exp2": (1, 1, 90),
    "expm1": (1, 2, 99),
    "log": (2, 1, 9),
    "log1p": (1, 1, 9),
    "logistic": (3, 3, 20),
    "rsqrt": (2, 2, 9),
    "sin": (1, 1, 12),
    "sqrt": (1, 1, 6),
    "tan": (2, 3, 30),
    "tanh": (5, 7, 20),
}


def check_accuracy(name: str, accuracy: Any, x: Any) -> None:
    """Raise unless the function is as exact as it is asked to be for this operand.

    TypeError for what is no accuracy, ValueError for a tolerance below the error bound; an absolute
    one is compared for results near 1.
    """
    if accuracy is None or isinstance(accuracy, AccuracyMode):
        return
    if not isinstance(accuracy, Tolerance):
        raise TypeError(
            f"{name} takes accuracy as a lax.Tolerance, a lax.AccuracyMode or None; "
            f"got {accuracy!r:.80}"
        )
    aval = convert(name, (x,))[0].aval
    if aval.kind not in ("float", "complex"):
        return  # the operation itself refuses these operands
    single, double, parts = ULPS[name]
    narrow = 1  # computed in float32 and rounded once
    bound = parts if aval.kind == "complex" else {32: single, 64: double}.get(aval.bits, narrow)
    eps = float(dtypes.finfo(aval.dtype).eps)
    if max(accuracy.rtol / eps, accuracy.ulps, accuracy.atol / eps) < bound:
        raise ValueError(
            f"{name} of {aval.dtype.name} is exact to {bound} ulp, {bound * eps:.1e} of the "
            f"result; accuracy={accuracy} asks for more. Leave accuracy out, or compute in a wider "
            "dtype."
        )
