"""How exactly products are summed: precisions by name, and algorithms by their types.

StableHLO's dot_general has both: `precision_config`, a hint, and `algorithm`, the types to which
operands are rounded and in which products are summed.  XLA's CPU backend has one way to multiply:
it takes either attribute and ignores it.  hloom does what an algorithm says by itself, on every
engine: it rounds the operands, and multiplies in a dtype that is at least as exact as the one
asked for.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.ops.common.elementwise import accumulator, types_text


class Precision(Enum):
    """How exactly a device with several ways multiplies; CPUs have one, and ignore it.

    `DEFAULT` is the fastest, `HIGHEST` the most exact.
    """

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    __str__ = __repr__


class DotAlgorithm(NamedTuple):
    """The types in which `dot_general` works: those its operands are rounded to, that of the sum.

    Types are float dtypes, "tf32" (float32 with 10 digits of mantissa), or integer dtypes, which
    must then be those of the operands.  Where the counts are not all 1 a device is asked to split
    operands into several numbers of the type, in order to come near a wider one; hloom takes the
    wider one, the accumulation type, at once.  Sums of fewer than 32 bits are computed in float32
    and rounded in the end, so that `allow_imprecise_accumulation` makes no difference.

    The result has the operands' dtype, or `preferred_element_type`, not the accumulation type.
    Source: StableHLO's dot_general.  Differs from what XLA does with the attribute on a CPU, which
    is nothing: there BF16_BF16_F32 multiplies float32 numbers unrounded.

    >>> halves = lax.DotAlgorithm("float16", "float16", "float32")
    >>> lax.dot(jnp.array([1.0001, 2.0]), jnp.array([1.0, 1.0]), precision=halves)
    Array(3., dtype=float32)
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(Enum):
    """Algorithms by name: the type of lhs, of rhs, of the sum; `X3` is so many products for one.

    `ANY_F8` takes operands of an 8-bit float, as they are; `ANY` sums in the result's dtype.  A
    preset, or its name, goes where `precision` does: see `DotAlgorithm` for what is done.

    >>> lax.dot(jnp.array([1.0001, 2.0]), jnp.ones(2), precision="BF16_BF16_F32")
    Array(3., dtype=float32)
    """

    DEFAULT = 1
    ANY_F8_ANY_F8_F32 = 2
    ANY_F8_ANY_F8_F32_FAST_ACCUM = 3
    ANY_F8_ANY_F8_ANY = 4
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = 5
    F16_F16_F16 = 6
    F16_F16_F32 = 7
    BF16_BF16_BF16 = 8
    BF16_BF16_F32 = 9
    BF16_BF16_F32_X3 = 10
    BF16_BF16_F32_X6 = 11
    BF16_BF16_F32_X9 = 12
    TF32_TF32_F32 = 13
    TF32_TF32_F32_X3 = 14
    F32_F32_F32 = 15
    F64_F64_F64 = 16

    def __repr__(self) -> str:
        return f"DotAlgorithmPreset.{self.name}"

    def __str__(self) -> str:
        return self.name


#: What may be given as `precision`: one for both operands or one for each, as itself or by name.
PrecisionLike = (
    None | str | Precision | tuple[str, str] | tuple[Precision, Precision]
    | DotAlgorithm | DotAlgorithmPreset
)  # fmt: skip

_PRECISIONS = {
    "default": "DEFAULT", "fastest": "DEFAULT", "bfloat16": "DEFAULT", "high": "HIGH",
    "bfloat16_3x": "HIGH", "tensorfloat32": "HIGH", "highest": "HIGHEST", "float32": "HIGHEST",
}  # fmt: skip

TF32 = "tf32"
ANY_F8 = "any 8-bit float"
ANY = "the result's"
_F16, _BF16, _F32, _F64 = map(dtypes.as_dtype, ("float16", "bfloat16", "float32", "float64"))
_PRESETS = {
    DotAlgorithmPreset.ANY_F8_ANY_F8_F32: DotAlgorithm(ANY_F8, ANY_F8, _F32),
    DotAlgorithmPreset.ANY_F8_ANY_F8_F32_FAST_ACCUM: DotAlgorithm(ANY_F8, ANY_F8, _F32),
    DotAlgorithmPreset.ANY_F8_ANY_F8_ANY: DotAlgorithm(ANY_F8, ANY_F8, ANY),
    DotAlgorithmPreset.ANY_F8_ANY_F8_ANY_FAST_ACCUM: DotAlgorithm(ANY_F8, ANY_F8, ANY),
    DotAlgorithmPreset.F16_F16_F16: DotAlgorithm(_F16, _F16, _F16),
    DotAlgorithmPreset.F16_F16_F32: DotAlgorithm(_F16, _F16, _F32),
    DotAlgorithmPreset.BF16_BF16_BF16: DotAlgorithm(_BF16, _BF16, _BF16),
    DotAlgorithmPreset.BF16_BF16_F32: DotAlgorithm(_BF16, _BF16, _F32),
    DotAlgorithmPreset.BF16_BF16_F32_X3: DotAlgorithm(_BF16, _BF16, _F32, 1, 1, 3),
    DotAlgorithmPreset.BF16_BF16_F32_X6: DotAlgorithm(_BF16, _BF16, _F32, 1, 1, 6),
    DotAlgorithmPreset.BF16_BF16_F32_X9: DotAlgorithm(_BF16, _BF16, _F32, 1, 1, 9),
    DotAlgorithmPreset.TF32_TF32_F32: DotAlgorithm(TF32, TF32, _F32),
    DotAlgorithmPreset.TF32_TF32_F32_X3: DotAlgorithm(TF32, TF32, _F32, 1, 1, 3),
    DotAlgorithmPreset.F32_F32_F32: DotAlgorithm(_F32, _F32, _F32),
    DotAlgorithmPreset.F64_F64_F64: DotAlgorithm(_F64, _F64, _F64),
}


# ---- as users write it ------------------------------------------------------------------------
def canonical_precision(precision: Any) -> Any:
    """What `precision` becomes as a parameter: None, a pair of StableHLO's names, or an algorithm.

    Raises ValueError for an unknown name, TypeError for an algorithm of other than number types.
    """
    if precision is None or precision is DotAlgorithmPreset.DEFAULT:
        return None
    if isinstance(precision, DotAlgorithmPreset):
        return precision
    if isinstance(precision, DotAlgorithm):
        return _canonical_algorithm(precision)
    if isinstance(precision, str) and precision in DotAlgorithmPreset.__members__:
        return canonical_precision(DotAlgorithmPreset[precision])
    pair = precision if isinstance(precision, (tuple, list)) else (precision, precision)
    names = tuple(map(_precision_name, pair))
    if None in names:
        raise ValueError(
            f"precision is one of {', '.join(_PRECISIONS)}, a lax.Precision or a pair of them, or "
            f"for a dot one of {', '.join(DotAlgorithmPreset.__members__)} or a lax.DotAlgorithm; "
            f"got {precision!r}"
        )
    if len(names) != 2:
        raise ValueError(f"precision takes one value or one for each operand; got {precision!r}")
    return names


def _precision_name(one: Any) -> str | None:
    if one is None:
        return "DEFAULT"
    return one.value if isinstance(one, Precision) else _PRECISIONS.get(str(one).lower())


def pair_precision(name: str, precision: Any) -> tuple[str, str] | None:
    """`precision` for an operation that has no algorithms; raises ValueError for one."""
    found: Any = canonical_precision(precision)
    if algorithm_of(found) is not None:
        raise ValueError(
            f"{name} takes a lax.Precision; {found} is an algorithm of lax.dot_general, and "
            "StableHLO's convolution has none. Leave it out: CPUs have one way to multiply."
        )
    return found  # type: ignore[no-any-return]


def _canonical_algorithm(given: DotAlgorithm) -> DotAlgorithm:
    types = [TF32 if t == TF32 else _number_type(t) for t in given[:2]]
    counts = given[3:6]
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in counts):
        raise ValueError(f"DotAlgorithm takes counts that are positive integers; got {given}")
    return DotAlgorithm(*types, _number_type(given[2]), *counts, bool(given[6]))


def _number_type(given: Any) -> np.dtype[Any]:
    try:
        dtype = dtypes.as_dtype(given)
        is_number = dtypes.kind(dtype) in ("signed", "unsigned", "float")
    except (TypeError, ValueError):
        is_number = False
    if not is_number:
        raise TypeError(
            f'DotAlgorithm takes float or integer dtypes, or "tf32" for an operand; got {given!r}'
        )
    return dtype


# ---- as the primitive does it -------------------------------------------------------------------
def algorithm_of(precision: Any) -> DotAlgorithm | None:
    """The algorithm of a parameter, if it is one and not a pair of names."""
    return precision if isinstance(precision, DotAlgorithm) else _PRESETS.get(precision)


def check_algorithm(name: str, precision: Any, lhs: ShapedArray, rhs: ShapedArray) -> None:
    """Raise TypeError unless the algorithm, if there is one, is for operands of these dtypes."""
    algorithm = algorithm_of(precision)
    if algorithm is None:
        return
    for operand, wanted in ((lhs, algorithm[0]), (rhs, algorithm[1])):
        if not _goes_with(operand.dtype, wanted, algorithm[2]):
            raise TypeError(
                f"{name}: the algorithm {_text(precision)} takes {_wanted(wanted)} operands; got "
                f"{types_text((lhs, rhs))}. Leave precision out, or convert the operands with "
                "lax.convert_element_type."
            )


def _text(precision: Any) -> str:
    if isinstance(precision, DotAlgorithm):
        return "_".join(t if isinstance(t, str) else t.name for t in precision[:3])
    return str(precision)


def _wanted(wanted: Any) -> str:
    if isinstance(wanted, str):
        return "float" if wanted == TF32 else "8-bit float"
    is_wide = dtypes.kind(wanted) == "float" and dtypes.bits(wanted) > 8
    return "float" if is_wide else str(wanted.name)


def _goes_with(dtype: np.dtype[Any], wanted: Any, total: Any) -> bool:
    """Whether operands of a dtype can be rounded to the wanted type, and summed in the other."""
    kind = dtypes.kind(dtype)
    if wanted == ANY_F8:
        return kind == "float" and dtypes.bits(dtype) == 8
    if isinstance(wanted, np.dtype) and (dtypes.bits(wanted) <= 8 or kind != "float"):
        # Narrower floats have no infinity, or two zeros in one: they are not rounded to by bits.
        same_kind = isinstance(total, str) or dtypes.kind(total) == kind
        return dtype == wanted and same_kind and kind in ("signed", "unsigned", "float")
    is_float = wanted == TF32 or dtypes.kind(wanted) == "float"
    return kind == "float" and is_float and (total == ANY or dtypes.kind(total) == "float")


def working_dtype(precision: Any, out: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which products are made and summed, for a result of dtype `out`."""
    algorithm = algorithm_of(precision)
    total = out if algorithm is None or algorithm[2] == ANY else algorithm[2]
    return accumulator(total)


def format_of(precision: Any, operand: int, dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """The exponent and mantissa bits to which an operand is rounded; None if it is not."""
    algorithm = algorithm_of(precision)
    if algorithm is None or any(n != 1 for n in algorithm[3:6]):
        return None
    wanted = algorithm[operand]
    if wanted == TF32:
        return (8, 10) if dtypes.bits(dtype) >= 32 else None
    if wanted == ANY_F8 or dtypes.kind(wanted) != "float" or dtypes.can_cast(dtype, wanted):
        return None
    digits = int(dtypes.finfo(wanted).nmant)
    return dtypes.bits(wanted) - 1 - digits, digits


def precision_of_derivative(precision: Any) -> Any:
    """The precision of the products in a transpose rule, whose first operand is a cotangent.

    An algorithm stays where it says the same of both operands; 8-bit floats do not hold cotangents.
    """
    algorithm = algorithm_of(precision)
    if algorithm is None:
        return precision
    first, second = algorithm[:2]
    is_narrow = first == ANY_F8 or (isinstance(first, np.dtype) and dtypes.bits(first) <= 8)
    return None if first != second or is_narrow else precision
