"""An entry for each public function of `hloom.numpy`: calls of it, and what they are held against.

A call is the text between the parentheses, in which capital letters name OPERANDS.  NumPy's
function of the same name is the oracle for shapes, dtypes and values, for every way to call:
eagerly, under `jit` with the operands as arguments, under `vmap`, and with 64-bit types off.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import hloom
import hloom.numpy as jnp
from hloom import dtypes

NDArray = np.ndarray[Any, Any]
Function = Callable[..., Any]

# What the letters mean.  The values are exact in f32, so that they are the same with 64 bits off.
OPERANDS: dict[str, NDArray] = {
    "A": np.array([[5.5, -2.25, 0.0, 7.0], [1.5, 3.0, -8.0, 4.25], [0.5, 9.0, 2.0, -1.0]]),
    "V": np.array([1.5, 3.0, -8.0, 4.25]),
    "W": np.array([0.5, 2.0, -1.25]),
    "U": np.array([0.25, -0.5, 0.75, 0.125]),  # within the domain of arcsin
    "K": np.array([-2.0, 0.5, 1.0, 6.0]),  # ascending
    "S": np.array([[4.0, 1.0, 0.5], [-1.0, 3.0, 0.25], [0.5, 1.0, 5.0]]),
    "X": np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 2.5]),
    "N": np.array([[1.5, np.nan, -2.0], [np.nan, 4.0, 0.5]]),
    "O": np.array(2.5),
    "E": np.zeros((0, 4)),
    "F": np.array([1.5, 0.5, -3.0, 2.0], np.float32),
    "I": np.array([3, 0, 2, 1]),
    "J": np.array([[7, -2, 3, 4], [0, 5, -6, 1], [2, 2, 9, -8]]),
    "Q": np.array([5, 200, 0, 17], np.uint8),
    "B": np.array([[True, False, True, True], [False, False, True, False], [True] * 4]),
    "P": np.array([True, False, True, False]),
    "C": np.array([[1 + 2j, -0.5j, 3.0], [2 - 1j, -1.5 + 0.5j, 1j]]),
    "Z": np.array([1.5 - 2j, 2 + 0.5j, -1 + 1j, 0.25j]),
}
for _operand in OPERANDS.values():
    _operand.setflags(write=False)


class Entry(NamedTuple):
    """Calls of one function.

    `calls`: argument lists, separated by semicolons.  `ulp`: by how many units of the last place
    of the largest element results may differ, and `why`.  `traced`: False where NumPy's shape
    depends on values, or arguments must be Python's; `mapped`: False where `vmap` says nothing
    more than `jit` does.  `oracle` is NumPy's function of the same name unless it is given.
    """

    calls: str
    ulp: float = 0
    why: str = "exact"
    traced: bool = True
    mapped: bool = True
    oracle: Function | None = None

    def programs(self) -> list[str]:
        """An expression for each call, in which `f` is the function."""
        return [f"f({call.strip()})" for call in self.calls.split(";")]


def method(name: str) -> Function:
    """The method of this name, or what the attribute holds, as a function of the array."""

    def call(x: Any, *arguments: Any, **keywords: Any) -> Any:
        attribute = getattr(x, name)
        return attribute(*arguments, **keywords) if callable(attribute) else attribute

    return call


def flat(result: Any) -> list[NDArray]:
    """The arrays in nested tuples and lists."""
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in flat(each)]
    return [np.asarray(result)]


class Trial:
    """The calls of one entry, by a function that may be right."""

    def __init__(self, entry: Entry, ours: Function, oracle: Function):
        self.entry, self.ours, self.oracle = entry, ours, oracle
        self.codes = [compile(program, program, "eval") for program in entry.programs()]
        used = {name for code in self.codes for name in letters(code)}
        self.letters = sorted(used & OPERANDS.keys())
        self.operands = [OPERANDS[letter] for letter in self.letters]

    def run(self, f: Function, xp: Any, operands: list[Any]) -> list[Any]:
        """The results of all calls."""
        given = {
            "f": f,
            "xp": xp,
            "inf": np.inf,
            "nan": np.nan,
            **dict(zip(self.letters, operands)),
        }
        return [eval(code, given) for code in self.codes]

    def expected(self, operands: list[NDArray]) -> list[Any]:
        """NumPy's results."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.run(self.oracle, np, operands)

    def all(self) -> None:
        """Every way to call it."""
        expected = self.expected(self.operands)
        with hloom.enable_x64():
            arrays = [jnp.asarray(x) for x in self.operands]
            self.compare("eagerly", expected, self.run(self.ours, jnp, arrays))
            if self.entry.traced and self.entry.mapped and self.operands:
                self.compare_mapped(expected)  # under jit too
            elif self.entry.traced:
                self.compare("jit", expected, self.traced()(arrays))
        narrow = [jnp.asarray(narrowed(x)) for x in self.operands]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self.traced()(narrow) if self.entry.traced else None
            found = self.run(self.ours, jnp, narrow) if found is None else found
        self.compare("with 64-bit types off", expected, found, narrow=True)

    def traced(self) -> Function:
        """All calls under one `jit`."""
        return hloom.jit(lambda operands: self.run(self.ours, jnp, operands))

    def compare_mapped(self, expected: list[Any]) -> None:
        """`vmap` over two examples gives NumPy's results of each."""
        others = [other(letter, x) for letter, x in zip(self.letters, self.operands)]
        stacked = [np.stack(both) for both in zip(self.operands, others)]
        found = hloom.jit(hloom.vmap(lambda operands: self.run(self.ours, jnp, operands)))(stacked)
        pairs = zip(expected, self.expected(others), strict=True)
        wanted = [
            [np.stack(both) for both in zip(flat(one), flat(another), strict=True)]
            for one, another in pairs
        ]
        self.compare("vmap", wanted, found)

    def compare(self, way: str, expected: Any, found: Any, narrow: bool = False) -> None:
        """The same arrays, one by one."""
        for program, wants, gots in zip(self.entry.programs(), expected, found, strict=True):
            label, wanted, results = f"{way}: {program}", flat(wants), flat(gots)
            assert len(wanted) == len(results), f"{label}: {len(wanted)} became {len(results)}"
            for want, got in zip(wanted, results):
                self.same(label, narrowed(want) if narrow else want, got)

    def same(self, label: str, want: NDArray, got: NDArray) -> None:
        """One array: NumPy's shape, dtype and values."""
        assert want.shape == got.shape, f"{label}: shape {want.shape} became {got.shape}"
        assert want.dtype == got.dtype, f"{label}: dtype {want.dtype} became {got.dtype}"
        if want.dtype.kind not in "fc" or not want.size:
            np.testing.assert_array_equal(got, want, err_msg=label)
            return
        finite = np.abs(want[np.isfinite(want)])
        unit = float(np.finfo(want.dtype).eps) * float(finite.max(initial=0.0))
        # Twice the ulp for f32: its operands' exact result is rounded once more.
        slack = self.entry.ulp * unit * (2 if want.dtype.itemsize < 8 else 1)
        np.testing.assert_allclose(got, want, rtol=0, atol=slack, err_msg=label)


def letters(code: Any) -> set[str]:
    """The names in a compiled expression, those in its lambdas too."""
    inner = [each for each in code.co_consts if hasattr(each, "co_names")]
    return set(code.co_names).union(*(letters(each) for each in inner))


def other(letter: str, x: NDArray) -> NDArray:
    """A second example of an operand, of the same domain."""
    if letter == "K":
        return x + 0.5
    return x.T if letter == "S" else x.ravel()[::-1].reshape(x.shape)


def narrowed(x: NDArray) -> NDArray:
    """The array as it is with 64-bit types off."""
    return x.astype(dtypes.canonicalize(x.dtype, x64=False)) if x.dtype.kind in "iufc" else x


def check(name: str, entry: Entry, ours: Function | None = None) -> None:
    """Assert that the function of this name, or another in its place, gives what NumPy's does."""
    if name.startswith("."):
        right = method(name[1:])
        Trial(entry, ours or right, entry.oracle or right).all()
        return
    Trial(entry, ours or getattr(jnp, name), entry.oracle or getattr(np, name)).all()
