"""`docs/semantics.md`, written from the decisions.

Nothing is run here: `tests/testing/test_decisions.py` compares the engines with the page.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.testing.decisions.record import (
    EXACT,
    NAMES,
    SAME,
    WHOLE,
    ByVersion,
    Decision,
    NDArray,
    Said,
)

INTRODUCTION = """\
# Edge-case semantics

The results of edge cases: division by zero, NaN, infinities, signed zeros, overflow, rounding,
branch cuts. Each was decided once. The result is NumPy's where NumPy has one, and it is the same on
the three engines: where XLA or the StableHLO interpreter gives something else for the plain
operation, hloom writes a program that gives the right result on both.

This page is written by `make semantics` from the table of decisions, `hloom.testing.decisions`.
`tests/testing/test_decisions.py` runs every program below on every engine, the plain operation
beside it, and NumPy, and fails if one of them gives anything but what is written here. So a
decision can be looked up, and run:

```python
>>> from hloom.testing.decisions import DECISIONS
>>> decision = DECISIONS["An integer divided by zero is zero"]
>>> decision.program, decision.operands
('lax.div(x, y)', (array([ 5, -5,  0], dtype=int32), array([0, 0, 0], dtype=int32)))
>>> [decision.evaluate(engine).tolist() for engine in ("xla", "reference", "numpy")]
[[0, 0, 0], [0, 0, 0], [0, 0, 0]]
>>> decision.evaluate_plain("xla")
array([-1, -1, -1], dtype=int32)
```

In the tables, *hloom* is the result on all three engines. The columns beside it show who differs,
in bold where they do: NumPy, or the plain operation on XLA or on the interpreter, with jaxlib
0.10.2 and 0.12.0. A dash means that there is no result, and the text says why.
`i32`, `f64`, `c64` and so on are dtypes; 64-bit types are on.

What an engine does otherwise **on purpose** is below the table of its decision, after *On
purpose*. There are few such cases: subnormal numbers, products fused with sums, a zero that is
added, and one rounding of integers in bfloat16.
"""

SETTINGS = """\
## Settings

Some results depend not on one operation but on how a program is compiled.

- hloom always turns off XLA's algebraic simplifier, `algsimp`, which changes results (see
  *What a compiler may rewrite*), and lets XLA call its library of kernels for products of matrices
  only, since that library loses NaN in reductions (see *Order, extremes and signs*). Both are in
  `hloom.engines.settings.REPAIRS`. The first costs no time; for the second hloom writes reductions
  in a form that is as fast.
- Under `with hloom.exact():` programs are compiled without fused products and sums. Then one
  program gives what NumPy gives operation by operation, for operations that are rounded correctly.
  It is up to 20 times slower.

## The same call gives the same bits

How a program is compiled is decided by its text and the types of its operands alone, in
`hloom.engines.settings`. So the same call gives the same bits: in a loop, seconds later, in another
process, from the cache on disk or compiled again, under any load, and, as far as was tested, on one
processor or many. (Another kind of processor or another jaxlib may give others.)

An elementwise function gives one result for one operand: the other elements of the array do not
matter, nor whether it is called eagerly, by itself under `jit`, vectorised, or with a constant.
(Exceptions, by one or two units in the last place: a constant operand of `lgamma` of f64; `sinc`
of rows of fewer than 16 elements under `vmap`; with jaxlib 0.12, other functions of such rows,
where they are fused with what is not elementwise. By more: `igamma_grad_a` of f64 where the second
operand is close to the least subnormal numbers.) What may differ, in the last digits:

- **Under `jit`, a product followed by a sum** is rounded once, not twice (see *A product and a sum
  round twice*), also where one of them belongs to the next function; and how they are paired may
  change with the rest of the program.
- **What combines many elements** (sums, means, products, norms, products of matrices,
  convolutions, Fourier transforms) adds in an order that depends on shape and layout. So the sum
  of a row may depend on the number of rows, and `jit(f)` may add in another order than `f`.
- **`hloom.exact()`** has neither of the first kind: `jit(f)`, `f`, and any part of a larger program
  give the same bits of one operand.

How many units in the last place a function may be off is not decided here: `hloom.testing.CASES`
has an error budget for each, with a reason.
"""

NUMPY_NOTES = {
    "raises": "NumPy raises.",
    "has none": "NumPy has no such function.",
    "undefined": "NumPy leaves it undefined.",
    "either": "NumPy gives either.",
}

SETTINGS_NOTES = {
    "default": "",
    "fast": "(XLA with the settings of an eager call.)",
    "stock": "(XLA with its own settings.)",
}


def document(topics: Mapping[str, Sequence[Decision]]) -> str:
    """The page."""
    parts = [INTRODUCTION, SETTINGS]
    for topic, decisions in topics.items():
        parts.append(f"## {topic}\n")
        parts += [section(decision) for decision in decisions]
    return "\n".join(parts)


def section(decision: Decision) -> str:
    """One decision: what is asked, who says what, why."""
    asked = f"`{decision.program}`"
    if decision.asks and decision.asks != decision.program:
        asked += f"; in NumPy `{decision.asks}`"
    if decision.plain is not None:
        asked += f"; plain: {decision.plain.spelled}"
    paragraphs = [filled([asked]), *table(decision), filled(notes(decision)), *departures(decision)]
    return "\n\n".join([f"### {decision.claim}", *filter(None, paragraphs)]) + "\n"


def filled(sentences: Iterable[str]) -> str:
    """A paragraph, in lines of 100 columns."""
    return textwrap.fill(
        " ".join(filter(None, sentences)), 100, break_long_words=False, break_on_hyphens=False
    )


def notes(decision: Decision) -> Iterator[str]:
    """The text below the table."""
    yield decision.why
    if isinstance(decision.numpy, str):
        yield NUMPY_NOTES.get(decision.numpy, "")
    yield agreement(decision)
    if decision.plain is not None:
        for engine, what in (("XLA", decision.xla), ("the interpreter", decision.reference)):
            yield from refusals(engine, what)
        yield SETTINGS_NOTES[decision.settings]
    if decision.lowering:
        yield f"Where: `{decision.lowering}`."


def agreement(decision: Decision) -> str:
    """Where the plain operation gives hloom's answer, and has no column therefore."""
    if decision.plain is None:
        return ""
    same = is_same(decision.xla), is_same(decision.reference)
    if all(same):
        numpy = is_same(decision.numpy) and decision.asks
        return "All agree." if numpy else "The plain operation gives it on both engines."
    if any(same):
        return f"The plain operation gives it on {'XLA' if same[0] else 'the interpreter'}."
    return ""


def is_same(what: Said) -> bool:
    """Whether that is hloom's answer."""
    return isinstance(what, str) and what == SAME


def refusals(engine: str, what: Said) -> Iterator[str]:
    """Why there is no plain result."""
    if isinstance(what, ByVersion):
        yield from refusals(f"{engine} of jaxlib 0.10", what.before)
        yield from refusals(f"{engine} of jaxlib 0.12", what.since)
    elif isinstance(what, str) and what != SAME:
        yield f"The plain operation on {engine} {what}."


def departures(decision: Decision) -> Iterator[str]:
    """What an engine gives on purpose."""
    names = {"xla": "XLA", "reference": "the interpreter", WHOLE: WHOLE, EXACT: EXACT}
    for engine, departure in decision.departures.items():
        given = ", ".join(f"`{number(x)}`" for x in departure.gives.ravel())
        yield filled([f"*On purpose*, on {names[engine]}: {given}.", departure.why])


# ---- the table ----------------------------------------------------------------------------------
def table(decision: Decision) -> Iterator[str]:
    """A row for each element, or one row where elements don't belong together."""
    if decision.want is None:
        names = NAMES[: len(decision.operands)]
        yield markdown([*names, "hloom"], [[*shown(decision), f"raises `{decision.raises}`"]])
        return
    columns = dict(answers(decision))
    shapes = {x.shape for x in (*decision.operands, decision.want)}
    elements = decision.rows and len(shapes) == 1 and decision.want.ndim == 1 and not decision.shown
    heads = [f"`{name}`, {short(x)}" for name, x in zip(NAMES, decision.operands)] + list(columns)
    if elements:
        rows = [
            [*(number(x[i]) for x in decision.operands), *cells(decision, columns, i)]
            for i in range(decision.want.size)
        ]
    else:
        rows = [[*shown(decision), *cells(decision, columns, None)]]
    yield markdown(heads, rows)


def answers(decision: Decision) -> Iterator[tuple[str, Said]]:
    """The columns of results: hloom's, and those of who says something else."""
    want = decision.want
    assert want is not None
    yield f"hloom, {short(want)}", want
    if not isinstance(decision.numpy, str):
        yield "NumPy", decision.numpy
    if decision.plain is None:
        return
    for head, what in (("XLA", decision.xla), ("interpreter", decision.reference)):
        if isinstance(what, ByVersion):
            yield f"{head} 0.10, plain", what.before
            yield f"{head} 0.12, plain", what.since
        elif not isinstance(what, str):
            yield f"{head}, plain", what


def cells(decision: Decision, columns: Mapping[str, Any], i: int | None) -> Iterator[str]:
    want = decision.want
    assert want is not None
    for what in columns.values():
        if isinstance(what, str) and what != SAME:
            yield "—"
            continue
        value = want if isinstance(what, str) else what
        mine, theirs = (want, value) if i is None else (want[i], value[i])
        text = array(theirs)
        yield text if alike(mine, theirs) else f"**{text}**"


def alike(x: Any, y: Any) -> bool:
    """Whether two results print as one."""
    return array(x) == array(y)


def shown(decision: Decision) -> list[str]:
    """The operands of a decision whose elements don't belong together."""
    texts = decision.shown or ("",) * len(decision.operands)
    return [text or array(x) for text, x in zip(texts, decision.operands)]


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def short(x: NDArray) -> str:
    """A dtype as Jaxprs spell it."""
    return str(ShapedArray((), x.dtype)).removesuffix("[]")


def array(x: Any) -> str:
    """A few numbers: `1, 2`, in brackets from two axes on."""
    if np.ndim(x) == 0:
        return number(np.asarray(x)[()])
    parts = [array(row) for row in x]
    return ", ".join(parts) if np.ndim(x) == 1 else ", ".join(f"[{part}]" for part in parts)


def number(x: Any) -> str:
    """A number in as few digits as its dtype needs."""
    narrow = x.dtype.kind not in "biuc" and x.dtype.itemsize < 4
    return str(float(x) if narrow else x).removeprefix("(").removesuffix(")")
