"""The table of cases, family by family.

A new primitive needs a row in the file of its family; `tests/test_coverage.py` says so.
"""

from dataclasses import replace

from hloom.testing.case import Case
from hloom.testing.cases import (
    blocks,
    control,
    conversions,
    elementwise,
    indexing,
    matrices,
    products,
    reductions,
    shapes,
)

# Family: its cases, in the order of the layers they test.
FAMILIES: dict[str, tuple[Case, ...]] = {
    name: tuple(replace(case, family=name) for case in cases)
    for name, cases in {
        "elementwise": elementwise.CASES + conversions.EUCLID,
        "convert": conversions.CONVERSIONS + conversions.SMALL,
        "select": conversions.CHOICES,
        "random": conversions.RANDOM,
        "linear": shapes.LINEAR,
        "shape": shapes.SHAPE + conversions.COUNTING,
        "slicing": shapes.SLICING,
        "gather": indexing.GATHER,
        "scatter": indexing.SCATTER,
        "sorting": indexing.SORTING,
        "searching": indexing.SEARCHING,
        "reduce": reductions.REDUCE,
        "cumulative": reductions.CUMULATIVE,
        "windows": reductions.WINDOWS,
        "computations": reductions.COMPUTATIONS,
        "dot": products.DOT,
        "polynomial": blocks.POLYNOMIALS,
        "ragged": blocks.RAGGED,
        "scaled_dot": blocks.SCALED,
        "dot algorithms": blocks.ALGORITHMS,
        "convolution": products.CONVOLUTION,
        "patches": blocks.PATCHES,
        "fft": products.FFT,
        "factors": matrices.FACTORS,
        "systems": matrices.SYSTEMS,
        "spectra": matrices.SPECTRA,
        "cond": control.CHOICES,
        "loops": control.LOOPS,
        "jit": control.JIT,
        "solutions": control.SOLUTIONS,
        "composite": control.COMPOSITE,
    }.items()
}

CASES: tuple[Case, ...] = tuple(case for cases in FAMILIES.values() for case in cases)
