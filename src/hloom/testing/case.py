"""`Case`: one use of an operation, with all that is needed to try it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes as table
from hloom.testing.comparison import ENGINES, listed, wider
from hloom.testing.operands import EVERYTHING, NDArray, combinations, corners, drawn


class Elements(NamedTuple):
    """An operand of an elementwise operation: of any shape, its elements from an interval."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Case:
    """One use of an operation: what goes in, what comes out, and how exactly.

    - `fun` is a function of arrays; its result is an array, or a list or tuple of arrays.
    - `operands`: for each a shape, filled with random numbers between `low` and `high` of the dtype
      under test; or an ndarray, taken as it is (indices, predicates); or, all of them, `Elements`,
      and then the operation is elementwise and takes any shape.
    - `oracle` is the same function in NumPy.  That of an elementwise operation with an error budget
      is given wider numbers.  Without an oracle engines are compared with the NumPy engine alone,
      and `no_oracle` says why there is none, and what checks the NumPy rule instead.
    - `dtypes` are the dtypes it is tried with.
    - `ulp` is how far a result may be off, in units of its dtype's precision, relative to the
      element itself if elementwise, else to the largest element.  A triple is for float32, float64
      and complex numbers (narrower floats have 1).  `why` says what it is spent on.
    - `moving` are the positions of the operands to differentiate by: None for all that are random,
      () if there is no derivative.  `smooth` are intervals in which an elementwise operation is
      differentiated, if not in all of its domain.  `reverse` and `twice`: whether it can be
      differentiated in reverse mode, and twice.
    - `corners`: whether it is tried with edge values and NaN as well.  `generic`: whether operands
      must be random as a whole: a matrix of equal elements has no inverse, and no eigenvectors.
    - `engines` can run it.  The others may raise EngineUnsupported; a result must be right.
    - `family` is the group of operations it belongs to.

    >>> from hloom import testing
    >>> case = testing.Case("double", lambda x: x + x, ((2, 3),), lambda x: 2 * x, ("float32",))
    >>> testing.check_value(case, "float32")
    >>> testing.check_jvp(case)
    """

    name: str
    fun: Callable[..., Any]
    operands: tuple[Any, ...]
    oracle: Callable[..., Any] | None = None
    dtypes: tuple[str, ...] = EVERYTHING
    ulp: float | tuple[float, float, float] = 0.0
    why: str = "exact"
    moving: tuple[int, ...] | None = None
    low: float = -9.0
    high: float = 9.0
    smooth: tuple[Elements, ...] | None = None
    reverse: bool = True
    twice: bool = True
    corners: bool = True
    generic: bool = False
    engines: tuple[str, ...] = ENGINES
    no_oracle: str = ""
    family: str = ""

    def __str__(self) -> str:
        return f"{self.family}: {self.name}" if self.family else self.name

    # ---- what it is ----------------------------------------------------------------------------
    @property
    def elementwise(self) -> bool:
        """Whether its operands may have any shape."""
        return bool(self.operands) and all(isinstance(x, Elements) for x in self.operands)

    @property
    def exact(self) -> bool:
        """Whether engines must agree bit for bit."""
        return not any(self.ulp) if isinstance(self.ulp, tuple) else not self.ulp

    def budget(self, dtype: Any) -> float:
        """How many ulp a result of this dtype may be off."""
        if not isinstance(self.ulp, tuple):
            return self.ulp
        single, double, complex_ = self.ulp
        dtype = table.as_dtype(dtype)
        if table.kind(dtype) == "complex":
            return complex_
        return {"float32": single, "float64": double}.get(dtype.name, 1.0 if single else 0.0)

    # ---- operands ------------------------------------------------------------------------------
    def draw(self, dtype: Any, seed: int = 0, shape: tuple[int, ...] = (9,)) -> list[NDArray]:
        """Random operands from the domain; `shape` is that of elementwise ones."""
        return [self._drawn(x, dtype, 100 * seed + i, shape) for i, x in enumerate(self.operands)]

    def _drawn(self, operand: Any, dtype: Any, seed: int, shape: tuple[int, ...]) -> NDArray:
        if isinstance(operand, Elements):
            low, high = operand
        elif isinstance(operand, tuple):
            low, high, shape = self.low, self.high, operand
        else:
            return np.asarray(operand)
        return drawn(dtype, low, high, int(np.prod(shape)), seed).reshape(shape)

    def trial(self, dtype: Any) -> list[NDArray]:
        """Operands to compare values on: of elementwise ones all edge values, and random ones."""
        if not self.elementwise:
            return self.draw(dtype)
        random = self.draw(dtype, shape=(60,))
        if not self.corners:
            return random
        grid = corners(dtype)
        if len(random) > 1 and table.kind(table.as_dtype(dtype)) == "complex":
            grid = grid[::3]
        if len(random) > 2:
            grid = grid[::3]
        extreme = combinations([grid] * len(random))
        return [np.concatenate([e, r]) for e, r in zip(extreme, random)]

    def expected(self, operands: list[NDArray]) -> list[NDArray] | None:
        """What the oracle gives, or None if there is none."""
        if self.oracle is None:
            return None
        given = map(wider, operands) if self.elementwise and not self.exact else operands
        with np.errstate(all="ignore"):
            return listed(self.oracle(*given))

    # ---- derivatives ---------------------------------------------------------------------------
    @property
    def differentiated(self) -> tuple[str, ...]:
        """The dtypes to differentiate it in: the widest ones, if it has a derivative."""
        if self.moving == ():
            return ()
        return tuple(d for d in ("float64", "complex128") if d in self.dtypes)

    def moved(self, dtype: Any) -> tuple[Callable[..., Any], list[NDArray]]:
        """A function of the operands to differentiate by alone, and where to differentiate it."""
        where = self if self.smooth is None else replace(self, operands=self.smooth)
        operands = where.draw(dtype, seed=7)
        places = self.moving
        if places is None:
            places = tuple(i for i, x in enumerate(self.operands) if isinstance(x, tuple))

        def fun(*xs: Any) -> Any:
            full: list[Any] = list(operands)
            for i, x in zip(places, xs):
                full[i] = x
            return self.fun(*full)

        return fun, [operands[i] for i in places]
