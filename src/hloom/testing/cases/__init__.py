"""The table of cases, family by family.

A new primitive needs a row in the file of its family; `tests/test_coverage.py` says so.
"""

from dataclasses import replace

from hloom.testing.case import Case
from hloom.testing.cases import (
    control,
    indexing,
    linalg,
    order,
    pointwise,
    products,
    random_bits,
    reductions,
    shapes,
)
from hloom.testing.operands import EVERYTHING, MOVED

# Families whose operations never look at the dtype: one or two of each width are enough.
MOVING = ("select", "linear", "shape", "slicing")


def _of_family(name: str, case: Case) -> Case:
    moves = name in MOVING and case.dtypes == EVERYTHING
    return replace(case, family=name, dtypes=MOVED if moves else case.dtypes)


#: Family -> its cases, in the order of the layers they test.
FAMILIES: dict[str, tuple[Case, ...]] = {
    name: tuple(_of_family(name, case) for case in cases)
    for name, cases in {
        "elementwise": pointwise.CASES,
        "convert": pointwise.CONVERSIONS + pointwise.SMALL,
        "select": pointwise.CHOICES,
        "random": random_bits.RANDOM,
        "linear": shapes.LINEAR,
        "shape": shapes.SHAPE,
        "slicing": shapes.SLICING,
        "gather": indexing.GATHER,
        "scatter": indexing.SCATTER,
        "sorting": order.SORTING,
        "searching": order.SEARCHING,
        "reduce": reductions.REDUCE,
        "cumulative": reductions.CUMULATIVE,
        "windows": reductions.WINDOWS,
        "computations": control.COMPUTATIONS,
        "dot": products.DOT,
        "polynomial": products.POLYNOMIALS,
        "ragged": products.RAGGED,
        "scaled_dot": products.SCALED,
        "dot algorithms": products.ALGORITHMS,
        "convolution": products.CONVOLUTION,
        "patches": products.PATCHES,
        "fft": products.FFT,
        "factors": linalg.FACTORS,
        "systems": linalg.SYSTEMS,
        "spectra": linalg.SPECTRA,
        "cond": control.CHOICES,
        "loops": control.LOOPS,
        "jit": control.JIT,
        "solutions": control.SOLUTIONS,
        "composite": control.COMPOSITE,
    }.items()
}

#: The cases of all families.
CASES: tuple[Case, ...] = tuple(case for cases in FAMILIES.values() for case in cases)
