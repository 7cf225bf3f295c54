"""`hloom.testing`: a table of cases, three engines to run them on, and the checks.

For people who test array compilers.  A `Case` says what an operation takes, what it gives and how
exactly; `CASES` has several for every primitive of hloom.  `check_value` runs a case on XLA, on the
StableHLO reference interpreter and on NumPy; `check_jvp`, `check_adjoint`, `check_batch` and
`check_second` try its rules.  The `assert_` functions ask the same of any function.

>>> from hloom import testing
>>> for case in testing.FAMILIES["dot"][:3]:
...     testing.check_value(case, "float32")
...     testing.check_adjoint(case)

`hloom.testing.decisions` is the table of edge cases of arithmetic: what hloom gives, and why.

Not imported by `import hloom`; needs neither pytest nor hypothesis.
"""

from hloom.testing.case import Case, Elements
from hloom.testing.cases import CASES, FAMILIES
from hloom.testing.checks import (
    assert_adjoint,
    assert_batch,
    assert_jvp,
    assert_second,
    check_adjoint,
    check_batch,
    check_jvp,
    check_second,
    check_value,
    directions,
)
from hloom.testing.comparison import (
    ENGINES,
    assert_close,
    differing,
    evaluate,
    flushed,
    listed,
    results,
    same_bits,
    show,
    ulps,
    wider,
)
from hloom.testing.operands import combinations, corners, drawn, normal
from hloom.testing.primitives import equations_in, primitives, used

__all__ = [
    "CASES",
    "ENGINES",
    "FAMILIES",
    "Case",
    "Elements",
    "assert_adjoint",
    "assert_batch",
    "assert_close",
    "assert_jvp",
    "assert_second",
    "check_adjoint",
    "check_batch",
    "check_jvp",
    "check_second",
    "check_value",
    "combinations",
    "corners",
    "differing",
    "directions",
    "drawn",
    "equations_in",
    "evaluate",
    "flushed",
    "listed",
    "normal",
    "primitives",
    "results",
    "same_bits",
    "show",
    "ulps",
    "used",
    "wider",
]
