"""The promotion lattice: which dtype two operands meet at.  Tables of names, without NumPy.

Nodes are the short spellings of jaxprs (`i32`, `bf16`) and three weak ones: `i*`, `f*`, `c*`, a
Python int, float or complex, whose dtype yields to the arrays beside it.  An arrow leads from a
node to the next ones that it may be converted to.  Operands are promoted to the lowest node that
all of them reach; where there is none, mixing them is an error.

    bool > i* > u8 > u16 > u32 > u64 > f*
           i* > i8 > i16 > i32 > i64 > f*         u8 > i16, u16 > i32, u32 > i64
                                       f* > f16 or bf16 > f32 > f64
                                       f* > c* > c64 > c128       f32 > c64, f64 > c128

    i* > i2, i4, u2, u4            and nothing above these
    f* > f4_e2m1fn, f8_e5m2, ..    and nothing above these

The semantics are those of JEP 9263, "Type promotion semantics": the order of operands never
matters, a Python scalar never widens an array, and an integer array never widens a float array.
`hloom.dtypes` gives the nodes their dtypes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

NARROW_INTEGERS = ("i2", "i4", "u2", "u4")
NARROW_FLOATS = (
    "f4_e2m1fn",
    "f8_e3m4",
    "f8_e4m3",
    "f8_e4m3b11fnuz",
    "f8_e4m3fn",
    "f8_e4m3fnuz",
    "f8_e5m2",
    "f8_e5m2fnuz",
    "f8_e8m0fnu",
)
INTEGERS = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
COMPLEX = ("c64", "c128")

#: How messages call the weak nodes.
WEAK_NAMES = {"i*": "Python int", "f*": "Python float", "c*": "Python complex"}


class Lattice:
    """A partial order given by its arrows: `{"f16": ("f32",), ...}`, every node a key."""

    def __init__(self, arrows: Mapping[str, tuple[str, ...]]) -> None:
        self.arrows = dict(arrows)
        self.above: dict[str, frozenset[str]] = {}
        self._lowest = {self._reach(node): node for node in self.arrows}

    def _reach(self, node: str) -> frozenset[str]:
        if node not in self.above:
            self.above[node] = frozenset((node,)).union(*map(self._reach, self.arrows[node]))
        return self.above[node]

    def join(self, nodes: Iterable[str]) -> str | None:
        """The lowest node that all of `nodes` reach, or None if there is none."""
        common = frozenset.intersection(*(self.above[node] for node in nodes))
        return self._lowest.get(common)

    def path(self, start: str, end: str) -> tuple[str, ...]:
        """A shortest way along the arrows, both ends included; `end` must be above `start`."""
        paths: list[tuple[str, ...]] = [(start,)]
        while paths[0][-1] != end:
            way = paths.pop(0)
            paths += [(*way, node) for node in self.arrows[way[-1]] if end in self.above[node]]
        return paths[0]

    def chain(self, start: str) -> tuple[str, ...]:
        """From `start` to the top, by the first arrow of every node."""
        way = [start]
        while self.arrows[way[-1]]:
            way.append(self.arrows[way[-1]][0])
        return tuple(way)


STANDARD = Lattice(
    {
        "bool": ("i*",),
        "i*": ("u8", "i8", *NARROW_INTEGERS),
        "u8": ("u16", "i16"),
        "u16": ("u32", "i32"),
        "u32": ("u64", "i64"),
        "u64": ("f*",),
        "i8": ("i16",),
        "i16": ("i32",),
        "i32": ("i64",),
        "i64": ("f*",),
        "f*": ("f16", "bf16", "c*", *NARROW_FLOATS),
        "f16": ("f32",),
        "bf16": ("f32",),
        "f32": ("f64", "c64"),
        "f64": ("c128",),
        "c*": ("c64",),
        "c64": ("c128",),
        "c128": (),
        **dict.fromkeys(NARROW_INTEGERS + NARROW_FLOATS, ()),
    }
)

#: `numpy_dtype_promotion="strict"`: only Python scalars adapt, and only if that loses no kind.
STRICT = Lattice(
    {
        "i*": ("f*", *INTEGERS, *NARROW_INTEGERS),
        "f*": ("c*", *FLOATS, *NARROW_FLOATS),
        "c*": COMPLEX,
        **dict.fromkeys(("bool", *INTEGERS, *NARROW_INTEGERS), ()),
        **dict.fromkeys((*FLOATS, *NARROW_FLOATS, *COMPLEX), ()),
    }
)

MODES = {"standard": STANDARD, "strict": STRICT}


#: Why two kinds meet where they do; kinds in the order bool, unsigned, signed, float, complex.
REASONS = {
    ("unsigned", "unsigned"): "the wider of the two holds every value of both",
    ("unsigned", "signed"): "the smallest signed dtype that holds every value of both",
    ("unsigned", "float"): "a float keeps its width beside integers of any size",
    ("unsigned", "complex"): "a complex dtype keeps its width beside integers of any size",
    ("signed", "signed"): "the wider of the two holds every value of both",
    ("signed", "float"): "a float keeps its width beside integers of any size",
    ("signed", "complex"): "a complex dtype keeps its width beside integers of any size",
    ("float", "float"): "the smallest float that holds every value of both",
    ("float", "complex"): "the smallest complex dtype whose parts hold every value of both",
    ("complex", "complex"): "the wider of the two holds every value of both",
}


class Departure(NamedTuple):
    """Pairs for which hloom and NumPy give different dtypes: any of `left` with any of `right`."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    hloom: str
    numpy: str
    why: str


_I32_UP = ("int32", "int64", "uint32", "uint64")
_I16_UP = ("int16", "uint16", *_I32_UP)
_WIDE = (
    *("int8", "uint8", *_I16_UP),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
_INT4 = ("int2", "int4", "uint2", "uint4")
_FLOAT8 = tuple(name.replace("f", "float", 1) for name in NARROW_FLOATS)
_WIDTH = "NumPy widens the float until it holds the integers; hloom leaves the width to you"
_STORAGE = "2- and 4-bit integers are storage: hloom widens them only where you say so"
_STORAGE_8 = "4- and 8-bit floats are storage: hloom widens them only where you say so"
_KEEPS = "ml_dtypes widens the float (before 0.7 it has no answer); here a float keeps its width"

#: Every pair of dtypes for which `promote_types` departs from NumPy's, with ml_dtypes 0.7.  `hloom`
#: and `numpy` are the two answers; "TypeError" is none, "wider" one that differs from pair to pair.
#: Two departures are not pairs of dtypes: with 64-bit types off every answer is halved (int64 is
#: int32 and so on); and uint64 with a signed integer is a *weak* float64, which yields to floats.
DEPARTURES = (
    Departure(_I16_UP[:2], ("float16",), "float16", "float32", _WIDTH),
    Departure(_I32_UP, ("float16",), "float16", "float64", _WIDTH),
    Departure(_I32_UP, ("float32",), "float32", "float64", _WIDTH),
    Departure(_I32_UP, ("complex64",), "complex64", "complex128", _WIDTH),
    Departure(_I16_UP, ("bfloat16",), "bfloat16", "wider", _KEEPS),
    Departure(_INT4, (*_INT4, *_WIDE, *_FLOAT8), "TypeError", "wider", _STORAGE),
    Departure(_FLOAT8, (*_FLOAT8, *_WIDE[8:]), "TypeError", "wider", _STORAGE_8),
    Departure(_I16_UP, _FLOAT8, "the float", "wider", _WIDTH),
)

_DEPARTURE_OF = {
    frozenset((left, right)): row
    for row in DEPARTURES
    for left in row.left
    for right in row.right
    if left != right
}


def departure(a: str, b: str) -> Departure | None:
    """The row of `DEPARTURES` for two dtype names, or None where NumPy gives hloom's answer."""
    return _DEPARTURE_OF.get(frozenset((a, b)))
