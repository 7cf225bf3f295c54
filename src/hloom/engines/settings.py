"""How XLA compiles a program: settings, and which of them a program gets.

That is decided by the tier and by the program's text and types alone, so that one call gives one
answer: in a loop, in another process, with or without a cache, under whatever load.
"""

from __future__ import annotations

import re
from typing import Any

from hloom.engines import jaxlib_compat

Overrides = list[tuple[str, Any]]

# Else a max or min over 4096 elements or more loses NaNs.
_DOTS_ONLY = ("xla_cpu_experimental_ynn_fusion_type", "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT")

# Always: these passes change results.  `algsimp` rewrites log(exp x) to x, x/c to x*(1/c), (x+1)-1
# to x and more of the kind; run time is the same without it.
REPAIRS: Overrides = [("xla_disable_hlo_passes", "algsimp"), _DOTS_ONLY]

_LEVEL_0 = ("xla_backend_optimization_level", 0)
_ONE_PART = ("xla_cpu_parallel_codegen_split_count", 1)

# Compile time of an add on 0.10.2 and 0.12.0, in ms, and what the program's speed is.
SETTINGS: dict[str, Overrides] = {
    # 20, 13.
    "default": REPAIRS,
    # No fused multiply-add: each operation rounds, as in NumPy.  Level 0 leaves it in programs of
    # one or two elements, which are not to be fused therefore; and without it the functions of
    # reductions have it.  Chains of cheap operations on 1e6 elements are 20 times slower.
    "exact": [("xla_disable_hlo_passes", "algsimp,fusion"), _DOTS_ONLY, _LEVEL_0],
    # 9, 13.  Level with the default on 1e6 elements, often faster, but for scatters, which are 2 to
    # 3 times slower.  Level 1 would be there as soon, and sums along an axis 2 to 4 times slower.
    "fast": [*REPAIRS, *jaxlib_compat.NO_FUSION_EMITTERS, _ONE_PART],
    # 5, 10.  An element costs up to 10 ns more than at "fast".  Products and sums stay apart here
    # which are fused at every other level.
    "small": [
        *REPAIRS,
        *jaxlib_compat.NO_FUSION_EMITTERS,
        _LEVEL_0,
        ("xla_llvm_disable_expensive_passes", True),
        _ONE_PART,
    ],
}

# Bytes that a "small" program reads and writes, at most: it loses 3 us in all.
SMALL = 4096

# Operations that give the same bits at every level: they move data,
_MOVE = frozenset(
    """
    bitcast_convert broadcast_in_dim case complex concatenate constant dynamic_slice
    dynamic_update_slice gather if imag iota negate optimization_barrier pad real reshape return
    reverse scatter select slice transpose
    """.split()
)
# or round once.
_ROUND_ONCE = _MOVE | frozenset(
    """
    abs add and ceil clamp compare convert count_leading_zeros divide floor is_finite maximum
    minimum multiply not or popcnt remainder round_nearest_afz round_nearest_even shift_left
    shift_right_arithmetic shift_right_logical sign sort sqrt subtract xor
    """.split()
)
# But of floats, side by side: a product and a sum are fused, a comparison and a choice may become
# a maximum; and a maximum flushes subnormal numbers at level 0 and nowhere else.
_TOGETHER = (
    ({"multiply"}, {"add", "subtract"}),
    ({"compare"}, {"select"}),
    ({"maximum", "minimum", "clamp"}, {"maximum", "minimum", "clamp"}),
)
_OPERATION = re.compile(r"\b(?:stablehlo|chlo|func)\.(\w+)")
_OF_FLOATS = re.compile(r"stablehlo\.(\w+) .*[x<]b?f\d")
# What brings many elements together, in an order that is a matter of size anyway.
_REDUCTION = re.compile(
    r'applies stablehlo\.(?!or |and )|"stablehlo\.reduce|stablehlo\.(?:dot_general|convolution|fft)'
)


def setting(text: str, moved: int) -> str:
    """The setting of an eager program, which reads and writes so many bytes.

    An elementary function gives one answer for one operand, however many are beside it, eagerly
    and alone under `jit`: so all of its programs are compiled "fast" or by "default", which agree
    to the bit, and none "small", which knows no fused products and sums.
    """
    if moved < SMALL and "stablehlo.while" not in text:  # a loop runs for long on few bytes
        if _REDUCTION.search(text) or _is_sure(text):
            return "small"
    return "default" if moved >= SMALL and "stablehlo.scatter" in text else "fast"


def _is_sure(text: str) -> bool:
    """Whether a program gives the same bits at every level."""
    operations = set(_OPERATION.findall(text)) - {"func", "call"}
    if "complex<" in text:
        return operations <= _MOVE
    floats = set(_OF_FLOATS.findall(text))
    return operations <= _ROUND_ONCE and not any(a & floats and b & floats for a, b in _TOGETHER)
