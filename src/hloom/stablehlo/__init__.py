"""StableHLO text: how a Jaxpr is written for the compiler.  No jaxlib here.

Read `spelling` (types, literals), `builder` (Module > Function > Block > Operand), `vocabulary`
(a method for each common operation), then `lower`.
"""

from hloom.stablehlo.builder import EMITTED, Block, Function, Module, Operand
from hloom.stablehlo.lower import Lowering, lower
from hloom.stablehlo.vocabulary import Vocabulary

__all__ = ["EMITTED", "Block", "Function", "Lowering", "Module", "Operand", "Vocabulary", "lower"]
