"""Every edge case of arithmetic that was decided: what hloom gives, what others give, and why.

`DECISIONS` is the one table: `tests/testing/test_decisions.py` runs it, and `docs/semantics.md` is
written from it:

    python -m hloom.testing.decisions docs/semantics.md
"""

from dataclasses import replace

from hloom.testing.decisions.compiler import REWRITES, SUBNORMALS
from hloom.testing.decisions.elementary import FUNCTIONS
from hloom.testing.decisions.elementary_complex import COMPLEX
from hloom.testing.decisions.indexing import INDEXING
from hloom.testing.decisions.order import ORDER
from hloom.testing.decisions.pointwise_conversions import CONVERSIONS
from hloom.testing.decisions.pointwise_integers import INTEGERS
from hloom.testing.decisions.record import ENGINES, EXACT, WHOLE, Decision, Departure, said
from hloom.testing.decisions.reductions import SUMS

__all__ = ["DECISIONS", "ENGINES", "EXACT", "TOPICS", "WHOLE", "Decision", "Departure", "said"]

TOPICS = {
    "Whole numbers": INTEGERS,
    "Conversions": CONVERSIONS,
    "Order, extremes and signs": ORDER,
    "Functions of real numbers": FUNCTIONS,
    "Functions of complex numbers": COMPLEX,
    "Sums and products of many": SUMS,
    "Indices": INDEXING,
    "What a compiler may rewrite": REWRITES,
    "Subnormal numbers": SUBNORMALS,
}

DECISIONS = {
    decision.claim: replace(decision, topic=topic)
    for topic, decisions in TOPICS.items()
    for decision in decisions
}
