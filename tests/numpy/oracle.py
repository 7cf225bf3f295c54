"""One line of NumPy, run by NumPy and by hloom: same shapes, dtypes, values and errors.

A program is an expression in which `xp` is the library.  It is run eagerly, and once more inside
`jit`, whose arguments are its operands, with 64-bit types on so that dtypes can be compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

import hloom
import hloom.numpy as jnp

ROWS = np.array([[5.5, -2.25, 0.0, 7.0], [1.5, 3.0, -8.0, 4.25], [0.5, 9.0, 2.0, -1.0]])
NAMES = {"inf": np.inf, "nan": np.nan}


def each(template: str, *choices: Iterable[str]) -> list[str]:
    """A program for each combination: `each("xp.{}(A{})", ["sum", "max"], ["", ", 0"])` makes 4."""
    return [template.format(*chosen) for chosen in product(*choices)]


def run(program: str, xp: Any) -> Any:
    """What the program gives with this library; `A` is a matrix f64[3,4], `V` one of its rows."""
    return evaluate(program, xp, xp.asarray(ROWS), xp.asarray(ROWS[1]))


def evaluate(program: str, xp: Any, A: Any, V: Any) -> Any:
    """What the program gives for these operands."""
    return eval(program, {"xp": xp, "A": A, "V": V, **NAMES})


def run_traced(program: str, xp: Any) -> Any:
    """What the program gives under `jit`, where `A` and `V` are tracers, as is all made of them."""
    return hloom.jit(lambda A, V: evaluate(program, xp, A, V))(ROWS, ROWS[1])


def flat(result: Any) -> list[np.ndarray]:
    """The arrays in nested tuples and lists."""
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in flat(each)]
    return [np.asarray(result)]


def check(program: str, *, jit: bool = True, rtol: float = 0.0, kind: bool = True) -> None:
    """The program means the same to both; `kind`: errors are of NumPy's type.

    Without `jit` it is run eagerly only: where the shape of its result depends on values.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = run(program, np)
        except Exception as error:
            fails_alike(program, error, kind, jit)
            return
    with hloom.enable_x64():
        compare(program, expected, run(program, jnp), rtol)
        if jit:
            compare(f"jit: {program}", expected, run_traced(program, jnp), rtol)


def fails_alike(program: str, error: Exception, kind: bool, jit: bool) -> None:
    """hloom refuses the program too, with an exception of the same kind."""
    expected: Any = type(error) if kind else Exception
    if isinstance(error, np.exceptions.AxisError):
        expected = (ValueError, IndexError)
    for run_it in [run, run_traced][: 1 + jit]:
        try:
            result = run_it(program, jnp)
        except Exception as ours:
            assert isinstance(ours, expected), f"{program}: {error!r} became {ours!r}"
            assert str(ours), program
        else:
            raise AssertionError(f"{program}: NumPy raises {error!r}; got {result!r}")


def compare(program: str, expected: Any, result: Any, rtol: float) -> None:
    """The same arrays, one by one."""
    wanted, found = flat(expected), flat(result)
    assert len(wanted) == len(found), f"{program}: {len(wanted)} results became {len(found)}"
    for x, y in zip(wanted, found):
        assert x.shape == y.shape, f"{program}: shape {x.shape} became {y.shape}"
        assert x.dtype == y.dtype, f"{program}: dtype {x.dtype} became {y.dtype}"
        if rtol:
            np.testing.assert_allclose(y, x, rtol=rtol, atol=rtol, err_msg=program)
        else:
            np.testing.assert_array_equal(y, x, err_msg=program)
