"""Comparisons, and what chooses by them: `select_n`, `select`, `clamp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom import dtypes
from hloom.core import operands as conversion
from hloom.core.aval import ShapedArray
from hloom.core.primitive import is_linear
from hloom.core.support.strict import strict
from hloom.ops.common import linear
from hloom.ops.common.elementwise import (
    Elementwise,
    Pointwise,
    check_same_dtype,
    filled,
    like_operand,
    same_shape,
)
from hloom.ops.common.expression import BOOL, Term, is_nan, maximum, minimum, where


# ---- the order of complex numbers: NumPy's, by real part and then by imaginary part ------------
def _lexicographic(strict: str, direction: str) -> Callable[[Term, Term], Term]:
    """A comparison of complex numbers; by `strict` of the real parts, where they differ."""

    def compare(x: Term, y: Term) -> Term:
        comparable = ~is_nan(x.imag) & ~is_nan(y.imag)
        by_real = x.real.compare(strict, y.real) & comparable
        return by_real | ((x.real == y.real) & x.imag.compare(direction, y.imag))

    return compare


complex_at_least = _lexicographic("GT", "GE")
complex_at_most = _lexicographic("LT", "LE")


def larger(x: Term, y: Term) -> Term:
    """The larger operand, of any kind; NaN wins."""
    if dtypes.kind(x.dtype) == "complex":
        return where(complex_at_least(x, y) | (x != x), x, y)
    return maximum(x, y)


def smaller(x: Term, y: Term) -> Term:
    """The smaller operand, of any kind; NaN wins."""
    if dtypes.kind(x.dtype) == "complex":
        return where(complex_at_most(x, y) | (x != x), x, y)
    return minimum(x, y)


def numpy_max(x: Any, y: Any) -> Any:
    """NumPy's maximum, but of -0.0 and 0.0 always 0.0 (IEEE 754-2019, as XLA)."""
    result = np.maximum(x, y)
    if result.dtype.kind != "f":
        return result
    return np.where((x == 0) & (y == 0), x + y, result)


def numpy_min(x: Any, y: Any) -> Any:
    """NumPy's minimum, but of -0.0 and 0.0 always -0.0 (IEEE 754-2019, as XLA)."""
    result = np.minimum(x, y)
    if result.dtype.kind != "f":
        return result
    return np.where((x == 0) & (y == 0), -(-x + -y), result)


# ---- comparisons -----------------------------------------------------------------------------
class Comparison(Elementwise):
    """f32[3], f32[3] --> bool[3].  Complex numbers are ordered by real, then by imaginary part."""

    def __init__(self, name: str, direction: str, numpy: Any, complex_: Any = None):
        def plain(x: Term, y: Term) -> Term:
            return x.compare(direction, y)

        formulas = {**dict.fromkeys(dtypes.KINDS, plain), "complex": complex_ or plain}
        super().__init__(
            name, formula=formulas, numpy=numpy, domain="any", result=BOOL, narrow=True
        )


eq_p = Comparison("eq", "EQ", np.equal)
ne_p = Comparison("ne", "NE", np.not_equal)
lt_p = Comparison("lt", "LT", np.less, _lexicographic("LT", "LT"))
le_p = Comparison("le", "LE", np.less_equal, complex_at_most)
gt_p = Comparison("gt", "GT", np.greater, _lexicographic("GT", "GT"))
ge_p = Comparison("ge", "GE", np.greater_equal, complex_at_least)


def eq(x: Any, y: Any) -> Any:
    """Whether the elements are equal; NaN equals nothing, -0.0 equals 0.0.

    Takes two operands of one dtype and one rank, or one of them 0-d; gives bool.  Raises
    TypeError otherwise.  Differs from NumPy: no promotion, no new axes.

    >>> lax.eq(jnp.array([1, 2, 3]), 2)
    Array([False,  True, False], dtype=bool)
    """
    return eq_p(x, y)


def ne(x: Any, y: Any) -> Any:
    """Whether the elements differ; NaN differs from everything, itself included.

    Takes two operands of one dtype and one rank, or one of them 0-d; gives bool.  Raises
    TypeError otherwise.  Differs from NumPy: no promotion, no new axes.

    >>> lax.ne(jnp.array([1, 2, 3]), 2)
    Array([ True, False,  True], dtype=bool)
    """
    return ne_p(x, y)


def lt(x: Any, y: Any) -> Any:
    """Whether `x < y`; with a NaN it is False.

    Takes two operands of one dtype and one rank, or one of them 0-d; gives bool.  Complex
    numbers compare by real part, then by imaginary part, as in NumPy.  Raises TypeError otherwise.

    >>> lax.lt(jnp.array([1, 2, 3]), 2)
    Array([ True, False, False], dtype=bool)
    """
    return lt_p(x, y)


def le(x: Any, y: Any) -> Any:
    """Whether `x <= y`; with a NaN it is False.

    Takes two operands of one dtype and one rank, or one of them 0-d; gives bool.  Complex
    numbers compare by real part, then by imaginary part, as in NumPy.  Raises TypeError otherwise.

    >>> lax.le(jnp.array([1, 2, 3]), 2)
    Array([ True,  True, False], dtype=bool)
    """
    return le_p(x, y)


def gt(x: Any, y: Any) -> Any:
    """Whether `x > y`; with a NaN it is False.

    Takes two operands of one dtype and one rank, or one of them 0-d; gives bool.  Complex
    numbers compare by real part, then by imaginary part, as in NumPy.  Raises TypeError otherwise.

    >>> lax.gt(jnp.array([1, 2, 3]), 2)
    Array([False, False,  True], dtype=bool)
    """
    return gt_p(x, y)


def ge(x: Any, y: Any) -> Any:
    """Whether `x >= y`; with a NaN it is False.

    Takes two operands of one dtype and one rank, or one of them 0-d; gives bool.  Complex
    numbers compare by real part, then by imaginary part, as in NumPy.  Raises TypeError otherwise.

    >>> lax.ge(jnp.array([1, 2, 3]), 2)
    Array([False,  True,  True], dtype=bool)
    """
    return ge_p(x, y)


# ---- select ----------------------------------------------------------------------------------
class SelectN(Pointwise):
    """bool[3], f32[3], f32[3] --> f32[3].  Each element from the case that `which` numbers.

    `which` is bool, or int32, whose values are clamped to the range of the cases.  0-d operands are
    taken with any shape.
    """

    def infer(self, which: ShapedArray, *cases: ShapedArray) -> ShapedArray:
        if not cases:
            raise TypeError("select_n needs at least one case after the predicate; got none")
        if which.dtype != BOOL and which.dtype != np.int32:
            raise TypeError(
                f"select_n chooses by bool or int32; got {which}. For a truth value: lax.ne(x, 0)."
            )
        if which.dtype == BOOL and len(cases) > 2:
            raise TypeError(
                f"select_n chooses between two cases by bool; got {len(cases)} cases. Choose by "
                "int32: lax.convert_element_type(which, 'int32')."
            )
        check_same_dtype("select_n", cases)
        shape = same_shape("select_n", (which, *cases))
        return ShapedArray(shape, cases[0].dtype, all(case.weak_type for case in cases))

    def numpy(self, which: Any, *cases: Any) -> Any:
        shape = np.broadcast_shapes(which.shape, *[case.shape for case in cases])
        result = np.array(np.broadcast_to(cases[0], shape))
        number = np.minimum(which.astype(np.int32), len(cases) - 1)
        for i, case in enumerate(cases[1:], 1):
            result = np.where(number == i, case, result)
        return result

    def emit(self, block: Any, out: ShapedArray, which: Any, *cases: Any) -> Any:
        cases = tuple(filled(block, case, out.shape) for case in cases)
        if which.aval.dtype == BOOL:
            return block.select(which, cases[-1], cases[0])
        result = cases[-1]
        for i in range(len(cases) - 2, -1, -1):
            result = block.select(block.compare(which, "LE", i), cases[i], result)
        return result

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        which, *cases = primals
        out = select_n_p(which, *cases)
        moving = [
            linear.constant(0, case.aval.dtype) if t is None else t
            for t, case in zip(tangents[1:], cases)
        ]
        tangent = select_n_p(which, *moving)
        return out, linear.spread_scalar(tangent, out.aval.shape)

    def transpose(self, ct: Any, which: Any, *cases: Any) -> list[Any]:
        zero = linear.constant(0, ct.aval.dtype)
        cts: list[Any] = [None]
        for i, case in enumerate(cases):
            share = None
            if is_linear(case):
                kept = select_n_p(which, *[ct if j == i else zero for j in range(len(cases))])
                share = like_operand(kept, case)
            cts.append(share)
        return cts


select_n_p = SelectN("select_n")


@strict
def select_n(which: Any, *cases: Any) -> Any:
    """Each element from the case that `which` numbers: False is the first, True the second.

    Takes bool or int32, of the cases' shape or 0-d, and cases of one dtype and shape; int32 out
    of range takes the nearest case.  Raises TypeError otherwise.

    >>> lax.select_n(jnp.array([0, 2, 1]), jnp.zeros(3), jnp.ones(3), jnp.full(3, 2.0))
    Array([0., 2., 1.], dtype=float32)
    """
    return select_n_p(conversion.as_array(which), *conversion.convert("select_n", cases))


@strict
def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """`on_true` where the predicate is true, else `on_false`.

    Takes a bool predicate, of the shape of the other two or 0-d, and two operands of one dtype
    and shape.  Raises TypeError otherwise.  `hloom.numpy.where` promotes and broadcasts.

    >>> lax.select(jnp.array([True, False]), jnp.array([1, 2]), jnp.array([10, 20]))
    Array([ 1, 20], dtype=int32)
    """
    return pick(conversion.as_array(pred), on_true, on_false)


def pick(pred: Any, on_true: Any, on_false: Any) -> Any:
    """`select` for rules, whose predicate is an array."""
    on_true, on_false = conversion.convert("select", (on_true, on_false))
    return select_n_p(pred, on_false, on_true)


# ---- clamp -----------------------------------------------------------------------------------
def _inside(t: Any, low: Any, x: Any, high: Any) -> Any:
    return pick(lt(low, x), pick(lt(x, high), t, 0), 0)


class Clamp(Elementwise):
    """f32[], f32[3], f32[] --> f32[3].  The bounds have the shape of the operand, or are 0-d."""

    shape = staticmethod(same_shape)


clamp_p = Clamp(
    "clamp",
    hlo="clamp",
    formula={
        "complex": lambda low, x, high: smaller(larger(x, low), high),
        "bool": lambda low, x, high: (x | low) & high,  # XLA has no clamp of bools
    },
    numpy=lambda low, x, high: numpy_min(numpy_max(x, low), high),
    jvp=[
        lambda t, out, low, x, high: pick(gt(low, x), pick(le(low, high), t, 0), 0),
        lambda t, out, low, x, high: _inside(t, low, x, high),
        lambda t, out, low, x, high: pick(lt(high, x), t, 0),
    ],
    domain="any",
)


@strict
def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x` clamped between two bounds; NaN stays, and where the bounds cross the upper one wins.

    Takes three operands of one dtype; the bounds have the shape of `x` or are 0-d.  Raises
    TypeError otherwise.  `hloom.numpy.clip` promotes and broadcasts.

    >>> lax.clamp(0.0, jnp.array([-1.0, 0.5, 2.0]), 1.0)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return clamp_p(min, x, max)
