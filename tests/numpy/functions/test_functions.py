"""Every public function of `hloom.numpy`, and every method, computes what NumPy's does.

The entries are in the tables beside this file; `entries` says how each is tried.
"""

from __future__ import annotations

import numpy as np
import pytest

import hloom.numpy as jnp
from tests.numpy.functions.entries import check
from tests.numpy.functions.table import ENTRIES, FUNCTIONS, WITHOUT
from tests.numpy.pointwise.elementwise_cases import ALIASES

pytestmark = pytest.mark.filterwarnings("ignore")

# An alias is the same object as another name, which `test_elementwise` checks, and is tried once.
TRIED = [name for name in ENTRIES if name not in ALIASES]

# Functions and a like one, to be taken for them.  A check that passes for both tells them apart
# no better than no check.
LIKE = {
    "log1p": "log", "expm1": "exp", "exp2": "exp", "log2": "log10", "sin": "tan", "sinh": "sin",
    "arctan": "tanh", "cbrt": "sqrt", "floor": "trunc", "ceil": "rint", "round": "rint",
    "floor_divide": "divide", "remainder": "fmod", "maximum": "fmax", "minimum": "fmin",
    "logaddexp": "logaddexp2", "hypot": "add", "isposinf": "isinf", "isfinite": "isreal",
    "greater": "greater_equal", "logical_or": "logical_xor", "bitwise_and": "bitwise_or",
    "sum": "prod", "max": "min", "amax": "nanmax", "std": "var", "mean": "median",
    "nansum": "sum", "nanmean": "mean", "argmax": "argmin", "nanargmax": "argmax", "all": "any",
    "cumsum": "cumprod", "nancumsum": "cumsum", "flipud": "fliplr", "tril": "triu",
    "zeros_like": "ones_like", "hstack": "vstack", "inner": "dot", "vdot": "vecdot",
    "convolve": "correlate", "tri": "eye", "argsort": "sort", "var": "nanvar",
    "percentile": "quantile", "ravel": "transpose", "repeat": "tile", "diag": "diagflat",
}  # fmt: skip


@pytest.mark.parametrize("name", TRIED)
def test_computes_what_numpys_does(name: str) -> None:
    check(name, ENTRIES[name])


def test_every_public_function_has_an_entry() -> None:
    """Or a reason why not; what NumPy itself gives, and classes, are not functions of ours."""
    public = {name for name in dir(jnp) if not name.startswith("_")}
    ours = {name for name in public if getattr(jnp, name) is not getattr(np, name, None)}
    functions = {
        name
        for name in ours
        if callable(getattr(jnp, name)) and not isinstance(getattr(jnp, name), type)
    }
    assert functions - FUNCTIONS.keys() - WITHOUT.keys() == set()
    assert FUNCTIONS.keys() - public == set()
    assert WITHOUT.keys() - functions == set()


@pytest.mark.parametrize("name", LIKE)
def test_a_like_function_in_its_place_fails(name: str) -> None:
    """A function that computes something else fails its entry."""
    with pytest.raises((AssertionError, TypeError, ValueError)):  # or: another domain
        check(name, ENTRIES[name], getattr(jnp, LIKE[name]))
