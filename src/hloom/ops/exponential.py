"""Functions of one operand: exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hloom.ops import complex_programs, programs
from hloom.ops.accuracy import check_accuracy
from hloom.ops.arithmetic import add, div, mul, sub
from hloom.ops.elementwise import Elementwise

exp_p = Elementwise(
    "exp",
    hlo="exponential",
    formula={"complex": complex_programs.exp},
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
    formula={"float": programs.exp2, "complex": complex_programs.exp2},
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
    formula={"float": programs.expm1, "complex": complex_programs.expm1},
    numpy=np.expm1,
    jvp=[lambda t, out, x: mul(t, add(out, 1))],
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
    formula={"float": programs.log, "complex": complex_programs.log},
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
    formula={"float": programs.log2, "complex": complex_programs.log2},
    numpy=np.log2,
    jvp=[lambda t, out, x: div(t, mul(x, math.log(2)))],
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
    formula={"float": programs.log10, "complex": complex_programs.log10},
    numpy=np.log10,
    jvp=[lambda t, out, x: div(t, mul(x, math.log(10)))],
    domain="inexact",
)


def log10(x: Any) -> Any:
    """The logarithm to base 10.

    Takes and gives floats or complex numbers.  Raises TypeError for other dtypes.

    >>> hloom.ops.exponential.log10(jnp.array([1.0, 1000.0]))
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
    formula={"float": programs.log1p, "complex": complex_programs.log1p},
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
        "complex": complex_programs.logistic,
    },
    numpy=numpy_logistic,
    jvp=[lambda t, out, x: mul(t, mul(out, sub(1, out)))],
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
