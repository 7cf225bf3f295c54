"""Arithmetic: negation, sum, difference, product, quotient."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from hloom.core.operands import convert
from hloom.core.support.strict import strict
from hloom.ops.common.elementwise import Elementwise
from hloom.ops.common.expression import Term, divide_complex, where
from hloom.ops.common.linear import broadcast_in_dim
from hloom.ops.pointwise.convert import convert_element_type

# ---- neg, add, sub, mul ----------------------------------------------------------------------
neg_p = Elementwise(
    "neg",
    hlo="negate",
    numpy=np.negative,
    jvp=[lambda t, out, x: neg(t)],
    transpose=[lambda ct, x: neg(ct)],
)


def neg(x: Any) -> Any:
    """The number with the other sign; unsigned integers wrap around.

    Takes and gives any number dtype.  Raises TypeError for bool.

    >>> lax.neg(jnp.array([1.0, -2.0]))
    Array([-1.,  2.], dtype=float32)
    """
    return neg_p(x)


add_p = Elementwise(
    "add",
    hlo="add",
    numpy=np.add,
    jvp=[lambda t, out, x, y: t, lambda t, out, x, y: t],
    transpose=[lambda ct, x, y: ct, lambda ct, x, y: ct],
)


def add(x: Any, y: Any) -> Any:
    """The sum; integers wrap around.

    Takes two operands of one number dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.  Differs from NumPy: no promotion, no new axes, no bool.

    >>> lax.add(jnp.array([1.0, 2.0]), 0.5)
    Array([1.5, 2.5], dtype=float32)
    >>> lax.add(jnp.array([[10], [20]]), jnp.array([[1, 2]]))
    Array([[11, 12],
           [21, 22]], dtype=int32)
    """
    return add_p(x, y)


sub_p = Elementwise(
    "sub",
    hlo="subtract",
    numpy=np.subtract,
    jvp=[lambda t, out, x, y: t, lambda t, out, x, y: neg(t)],
    transpose=[lambda ct, x, y: ct, lambda ct, x, y: neg(ct)],
)


def sub(x: Any, y: Any) -> Any:
    """The difference `x - y`; integers wrap around.

    Takes two operands of one number dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.  Differs from NumPy: no promotion, no new axes.

    >>> lax.sub(jnp.array([1, 2]), 5)
    Array([-4, -3], dtype=int32)
    """
    return sub_p(x, y)


mul_p = Elementwise(
    "mul",
    hlo="multiply",
    formula={"complex": lambda x, y: x * y},
    numpy=np.multiply,
    jvp=[lambda t, out, x, y: mul(t, y), lambda t, out, x, y: mul(x, t)],
    transpose=[lambda ct, x, y: mul(ct, y), lambda ct, x, y: mul(x, ct)],
)


def _converted(name: str, operands: Sequence[Any], out_dtype: Any) -> list[Any]:
    """The operands in the dtype that the result is to have."""
    try:
        return [convert_element_type(x, out_dtype) for x in convert(name, operands)]
    except TypeError as error:
        raise TypeError(f"{name}, out_dtype={out_dtype!r:.60}: {error}") from None


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    """The product; integers wrap around.

    Takes two operands of one number dtype and one rank, or one of them 0-d; converts both to
    `out_dtype` first, if it is given.  Raises TypeError otherwise.  Differs from NumPy: no
    promotion, no new axes, no bool.

    >>> lax.mul(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0]))
    Array([3., 8.], dtype=float32)
    """
    if out_dtype is not None:
        x, y = _converted("mul", (x, y), out_dtype)
    return mul_p(x, y)


# ---- div -------------------------------------------------------------------------------------
def nonzero_divisor(y: Term) -> Term:
    """An integer divisor with 1 for 0: XLA and the interpreter may crash on a division by 0."""
    return where(y == 0, y.full(1), y)


def _divide_integers(x: Term, y: Term) -> Term:
    return where(y == 0, y.full(0), x.apply("divide", nonzero_divisor(y)))


def _numpy_divide(x: Any, y: Any) -> Any:
    if x.dtype.kind in "fc":
        return np.divide(x, y)
    return np.floor_divide(x - np.fmod(x, y), y)  # the dividend is a multiple: floor is trunc


div_p = Elementwise(
    "div",
    hlo="divide",
    formula={
        "signed": _divide_integers,
        "unsigned": _divide_integers,
        "complex": divide_complex,
    },
    numpy=_numpy_divide,
    jvp=[lambda t, out, x, y: div(t, y), lambda t, out, x, y: neg(div(mul(t, out), y))],
    transpose=[lambda ct, x, y: div(ct, y), None],
)


def div(x: Any, y: Any) -> Any:
    """The quotient; of integers, rounded towards zero, and 0 where the divisor is 0.

    Takes two operands of one number dtype and one rank, or one of them 0-d.  Raises TypeError
    otherwise.  Differs from NumPy: no promotion, no new axes; integers give an integer,
    rounded towards zero and not down.

    >>> lax.div(jnp.array([1.0, 2.0]), 4.0)
    Array([0.25, 0.5 ], dtype=float32)
    >>> lax.div(jnp.array([-7, 7, 7]), jnp.array([2, 2, 0]))
    Array([-3,  3,  0], dtype=int32)
    """
    return div_p(x, y)


# ---- made of them ----------------------------------------------------------------------------
one_minus_square_p = Elementwise(
    "one_minus_square",
    formula=lambda x: (1 - x) * (1 + x),
    numpy=lambda x: (1 - x) * (1 + x),
    jvp=[lambda t, out, x: mul(t, mul(x, -2))],  # that of the product would cancel where x is tiny
)


def one_minus_square(x: Any) -> Any:
    """`1 - x * x`, without cancellation near 1 and -1: `(1 - x) * (1 + x)`.

    Takes and gives any number dtype.  Raises TypeError for bool.

    >>> lax.one_minus_square(jnp.array([0.5, 0.9999999]))
    Array([7.5000000e-01, 2.3841856e-07], dtype=float32)
    """
    return one_minus_square_p(x)


@strict
def polynomial(x: Any, coeffs: Sequence[Any], *, unroll: int | None = None) -> Any:
    """`coeffs[0] + x * (coeffs[1] + x * (..))`: the lowest degree first, by Horner's rule.

    Coefficients are of the dtype of `x` and 0-d, or of its rank, where sizes of 1 are repeated;
    Python numbers adapt.  `unroll` is for compilers of long polynomials: here every term is
    written out.  Raises TypeError for other dtypes or ranks, ValueError where shapes don't go
    together, or without coefficients.  Differs from `numpy.polyval`: the order of coefficients.

    >>> lax.polynomial(3.0, [1.0, 5.0, 2.0])
    Array(34., dtype=float32, weak_type=True)
    """
    if unroll is not None and index(unroll) < 1:
        raise ValueError(f"polynomial takes unroll as a positive integer or None; got {unroll}")
    x, *terms = convert("polynomial", (x, *coeffs))
    if not terms:
        raise ValueError("polynomial takes one coefficient or more; for no terms write zeros")
    ranks = {a.aval.ndim for a in (x, *terms)} - {0}
    if len(ranks) > 1:
        raise TypeError(
            "polynomial takes coefficients that are 0-d or of the rank of x; got "
            f"{', '.join(str(a.aval) for a in (x, *terms))}"
        )
    shape = np.broadcast_shapes(*[a.aval.shape for a in (x, *terms)])
    x, *terms = [
        broadcast_in_dim(a, shape, range(len(shape))) if a.aval.ndim else a for a in (x, *terms)
    ]
    total = terms[-1]
    for term in terms[-2::-1]:
        total = add(mul(total, x), term)
    if total.aval.shape != shape:  # x is not 0-d, and there is one coefficient
        total = broadcast_in_dim(total, shape, ())
    return total
