"""How exactly a function is asked to be computed, and how exactly it is.

StableHLO's `result_accuracy` lets a compiler take a cheaper program where a result need not be
exact.  hloom has one program for each function, the exact one, so that `accuracy=` changes nothing;
what is asked for is checked against what that program is known to keep.
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

    hloom's functions have one accuracy, and both modes stand for it.

    >>> lax.exp(jnp.ones(1), accuracy=lax.AccuracyMode.HIGHEST)
    Array([2.7182817], dtype=float32)
    """

    HIGHEST = 1
    DEFAULT = 2


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be off: absolutely, relatively, or in units of its last place.

    `atol` may stand with `rtol` or with `ulps`; results are to be within one of the two.  Raises
    ValueError for a negative number or NaN, for `rtol` and `ulps` together, and where all are 0.

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


# How many units in the last place a result may be off: of float32, float64, complex numbers (where
# it is the larger part's place).  Measured over all exponents, arguments near the zeros of results
# included; not for results that are subnormal, or within a factor of two of infinity.
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


def ulps_of(name: str, dtype: Any) -> int:
    """How many ulp a function's result of this dtype is off at most."""
    single, double, complex_ = ULPS[name]
    if dtypes.kind(dtype) == "complex":
        return complex_
    if dtypes.bits(dtype) < 32:
        return 1  # computed in float32 and rounded once
    return single if dtypes.bits(dtype) == 32 else double


def check_accuracy(name: str, accuracy: Any, x: Any) -> None:
    """Raise unless the function is as exact as it is asked to be for this operand.

    TypeError for what is no accuracy, ValueError for a tolerance that the results don't keep: an
    absolute one is compared for results near 1.
    """
    if accuracy is None or isinstance(accuracy, AccuracyMode):
        return
    if not isinstance(accuracy, Tolerance):
        raise TypeError(
            f"{name} takes accuracy as a lax.Tolerance, a lax.AccuracyMode or None; "
            f"got {accuracy!r:.80}"
        )
    dtype = convert(name, (x,))[0].aval.dtype
    if not dtypes.in_domain(dtype, "inexact"):
        return  # the operation itself says that it takes other operands
    kept = ulps_of(name, dtype)
    eps = float(dtypes.finfo(dtype).eps)
    if max(accuracy.rtol / eps, accuracy.ulps, accuracy.atol / eps) < kept:
        raise ValueError(
            f"{name} of {dtype.name} is exact to {kept} ulp, {kept * eps:.1e} of the result; "
            f"accuracy={accuracy} asks for more. Leave accuracy out, or compute in a wider dtype."
        )
