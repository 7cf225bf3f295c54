"""Functions of one operand: exponentials and logarithms."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from hloom.ops.common.elementwise import Elementwise
from hloom.ops.common.expression import Term, complex_of, maximum, where
from hloom.ops.elementary import complex_functions, real_functions
from hloom.ops.pointwise.accuracy import check_accuracy
from hloom.ops.pointwise.arithmetic import add, div, mul, neg, sub
from hloom.ops.pointwise.compare import eq, ne, pick
from hloom.ops.pointwise.complex import complex, imag, numpy_complex, real

exp_p = Elementwise(
    "exp",
    formula={"float": real_functions.exp, "complex": complex_functions.exp},
    numpy=np.exp,
    jvp=[lambda t, out, x: mul(t, out)],
    domain="inexact",
)


def exp(x: Any, *, accuracy: Any = None) -> Any:
    """The exponential, e to the power `x`.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.exp(jnp.array([0.0, 1.0]))
    Array([1.       , 2.7182817], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("exp", accuracy, x)
    return exp_p(x)


exp2_p = Elementwise(
    "exp2",
    formula={"float": real_functions.exp2, "complex": complex_functions.exp2},
    numpy=np.exp2,
    jvp=[lambda t, out, x: mul(t, mul(out, math.log(2)))],
    domain="inexact",
)


def exp2(x: Any, *, accuracy: Any = None) -> Any:
    """2 to the power `x`.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.exp2(jnp.array([0.0, 10.0, 0.5]))
    Array([1.0000000e+00, 1.0240000e+03, 1.4142135e+00], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("exp2", accuracy, x)
    return exp2_p(x)


expm1_p = Elementwise(
    "expm1",
    formula={"float": real_functions.expm1, "complex": complex_functions.expm1},
    numpy=np.expm1,
    jvp=[lambda t, out, x: mul(t, exp(x))],
    domain="inexact",
)


def expm1(x: Any, *, accuracy: Any = None) -> Any:
    """`exp(x) - 1`, accurate near zero.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.expm1(jnp.array([0.0, 1e-10]))
    Array([0.e+00, 1.e-10], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("expm1", accuracy, x)
    return expm1_p(x)


log_p = Elementwise(
    "log",
    formula={"float": real_functions.log, "complex": complex_functions.log},
    numpy=np.log,
    jvp=[lambda t, out, x: div(t, x)],
    domain="inexact",
)


def log(x: Any, *, accuracy: Any = None) -> Any:
    """The natural logarithm; of a negative float it is NaN, of 0 it is -inf.

    Takes and gives floats or complex numbers; the branch cut lies along the negative reals.
    Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.log(jnp.array([1.0, 10.0]))
    Array([0.       , 2.3025851], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("log", accuracy, x)
    return log_p(x)


log2_p = Elementwise(
    "log2",
    formula={"float": real_functions.log2, "complex": complex_functions.log2},
    numpy=np.log2,
    jvp=[lambda t, out, x: mul(div(t, x), 1 / math.log(2))],
    domain="inexact",
)


def log2(x: Any) -> Any:
    """The logarithm to base 2.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> lax.log2(jnp.array([1.0, 1024.0]))
    Array([ 0., 10.], dtype=float32)
    """
    return log2_p(x)


log10_p = Elementwise(
    "log10",
    formula={"float": real_functions.log10, "complex": complex_functions.log10},
    numpy=np.log10,
    jvp=[lambda t, out, x: mul(div(t, x), 1 / math.log(10))],
    domain="inexact",
)


def log10(x: Any) -> Any:
    """The logarithm to base 10.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> hloom.ops.pointwise.exponential.log10(jnp.array([1.0, 1000.0]))
    Array([0., 3.], dtype=float32)
    """
    return log10_p(x)


def _numpy_log1p(z: Any) -> Any:
    """NumPy's, but of small complex numbers, where that is log(1 + z)."""
    if z.dtype.kind != "c":
        return np.log1p(z)
    x, y = z.real, z.imag
    is_near = (np.abs(x) < 0.5) & (np.abs(y) < 0.5)
    near = np.log1p(np.where(is_near, x * (x + 2) + y * y, 0)) * z.real.dtype.type(0.5)
    result = np.array(np.log1p(z))
    result.real = np.where(is_near, near, result.real)
    return result


log1p_p = Elementwise(
    "log1p",
    formula={"float": real_functions.log1p, "complex": complex_functions.log1p},
    numpy=_numpy_log1p,
    jvp=[lambda t, out, x: div(t, add(x, 1))],
    domain="inexact",
)


def log1p(x: Any, *, accuracy: Any = None) -> Any:
    """`log(1 + x)`, accurate near zero.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.log1p(jnp.array([0.0, 1e-10]))
    Array([0.e+00, 1.e-10], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("log1p", accuracy, x)
    return log1p_p(x)


def numpy_logistic(x: Any) -> Any:
    if x.dtype.kind != "c":
        return 1 / (1 + np.exp(-x))
    e = np.exp(np.where(x.real < 0, x, -x))
    return np.where(x.real < 0, e, 1) / (1 + e)


logistic_p = Elementwise(
    "logistic",
    formula={
        "float": lambda x: x.apply("logistic"),  # a formula, since f16 must be computed in f32
        "complex": complex_functions.logistic,
    },
    numpy=numpy_logistic,
    jvp=[lambda t, out, x: mul(t, mul(out, logistic(neg(x))))],  # 1 - out would cancel
    domain="inexact",
)


def logistic(x: Any, *, accuracy: Any = None) -> Any:
    """The sigmoid, `1 / (1 + exp(-x))`.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.
    `accuracy`, a `Tolerance` or `AccuracyMode`, is checked: see there.

    >>> lax.logistic(jnp.array([0.0, 100.0]))
    Array([0.5, 1. ], dtype=float32)
    """
    if accuracy is not None:
        check_accuracy("logistic", accuracy, x)
    return logistic_p(x)


# ---- logarithms of sums of exponentials ----------------------------------------------------------
_LN2 = math.log(2)


def _gap(x: Term, y: Term) -> Term:
    """How far the one is below the other, not positive; 0 for two equal infinities."""
    return where(x == y, 0.0, -abs(x - y))


def _log_of_sum(x: Term, y: Term) -> Term:
    return maximum(x, y) + real_functions.log1p(_gap(x, y).apply("exponential"))


def _log2_of_sum(x: Term, y: Term) -> Term:
    return maximum(x, y) + real_functions.log1p(real_functions.exp2(_gap(x, y))) * (1 / _LN2)


def _complex_log_of_sum(x: Term, y: Term, unit: float = 1.0) -> Term:
    """log(exp(x * unit) + exp(y * unit)) / unit, the imaginary part within pi / unit of 0."""
    leads = x.real >= y.real
    large, small = where(leads, x, y), where(leads, y, x)
    real, turn = _gap(large.real, small.real) * unit, (small.imag - large.imag) * unit
    above = complex_functions.log1p(complex_functions.exp(complex_of(real, turn)))
    angle, period = large.imag + above.imag * (1 / unit), 2 * math.pi / unit
    inside = angle - (angle * (1 / period)).nearest() * period
    angle = where(abs(angle) <= period / 2, angle, inside)
    return complex_of(large.real + above.real * (1 / unit), angle)


def numpy_logaddexp(x: Any, y: Any) -> Any:
    """NumPy's, and the same of complex numbers."""
    return np.logaddexp(x, y) if x.dtype.kind != "c" else _numpy_log_of_sum(x, y, 1.0)


def numpy_logaddexp2(x: Any, y: Any) -> Any:
    """NumPy's, and the same of complex numbers."""
    return np.logaddexp2(x, y) if x.dtype.kind != "c" else _numpy_log_of_sum(x, y, _LN2)


def _numpy_log_of_sum(x: Any, y: Any, unit: float) -> Any:
    leads = x.real >= y.real
    large, small = np.where(leads, x, y), np.where(leads, y, x)
    gap = np.where(large.real == small.real, 0, small.real - large.real)
    turn = small.imag - large.imag
    above = _numpy_log1p(np.exp(numpy_complex(gap * unit, turn * unit)))
    angle, period = large.imag + above.imag / unit, 2 * math.pi / unit
    inside = angle - np.rint(angle / period) * period
    angle = np.where(np.abs(angle) <= period / 2, angle, inside)
    return numpy_complex(large.real + above.real / unit, angle)


def _lead(x: Any, y: Any) -> Any:
    """x - y, and 0 for two equal infinities."""
    if x.aval.kind == "complex":
        return complex(_lead(real(x), real(y)), sub(imag(x), imag(y)))
    lead = sub(x, y)
    return pick(eq(x, y), pick(ne(lead, lead), 0, lead), lead)


logaddexp_p = Elementwise(
    "logaddexp",
    formula={"float": _log_of_sum, "complex": _complex_log_of_sum},
    numpy=numpy_logaddexp,
    jvp=[
        lambda t, out, x, y: mul(t, logistic(_lead(x, y))),
        lambda t, out, x, y: mul(t, logistic(_lead(y, x))),
    ],
    domain="inexact",
)


def logaddexp(x: Any, y: Any) -> Any:
    """`log(exp(x) + exp(y))`, without overflow.

    Takes two operands of one float or complex dtype and one shape, or one of them 0-d.  The
    imaginary part is between -pi and pi.  Raises TypeError otherwise.

    >>> hloom.ops.pointwise.exponential.logaddexp(jnp.array([0.0, 1e4]), jnp.array([-jnp.inf, 0.0]))
    Array([    0., 10000.], dtype=float32)
    """
    return logaddexp_p(x, y)


logaddexp2_p = Elementwise(
    "logaddexp2",
    formula={"float": _log2_of_sum, "complex": partial(_complex_log_of_sum, unit=_LN2)},
    numpy=numpy_logaddexp2,
    jvp=[
        lambda t, out, x, y: mul(t, logistic(mul(_lead(x, y), _LN2))),
        lambda t, out, x, y: mul(t, logistic(mul(_lead(y, x), _LN2))),
    ],
    domain="inexact",
)


def logaddexp2(x: Any, y: Any) -> Any:
    """`log2(2**x + 2**y)`, without overflow.

    Takes two operands of one float or complex dtype and one shape, or one of them 0-d.  The
    imaginary part is between -pi and pi, divided by log(2).  Raises TypeError otherwise.

    >>> x, y = jnp.array([1000.0, 0.0]), jnp.array([1000.0, -jnp.inf])
    >>> hloom.ops.pointwise.exponential.logaddexp2(x, y)
    Array([1001.,    0.], dtype=float32)
    """
    return logaddexp2_p(x, y)
