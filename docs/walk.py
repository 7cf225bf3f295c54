"""What docs/walk.md shows: the calls that one call makes, the code on its way, the drawings.

    python docs/walk.py [folder]

writes them anew, into docs or another folder: `make walk`.  A block of the page that follows a
comment `<!-- calls NAME -->` lists the landmarks that the walk of that name passed, one inside the
other, as a profiler saw them; one that follows `<!-- code FILE FUNCTION [FROM .. TO] -->` quotes a
function without its docstring.  A test compares the page with what this program makes.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).resolve().parent
EMPTY = tempfile.TemporaryDirectory()  # a cache in which nothing was compiled before
os.environ["HLOOM_CACHE_DIR"] = EMPTY.name

import walk_pictures  # noqa: E402  (the cache is chosen first)

import hloom  # noqa: E402
import hloom.numpy as jnp  # noqa: E402

PACKAGE = Path(hloom.__file__).parent

# The functions that the page explains; the others check, convert, or note the user's line.
LANDMARKS = """
numpy/common/eager.py           reduction.call run build finish
numpy/reductions/reductions.py  sum fold
ops/common/linear.py            reduce_sum ReduceSum.infer ReduceSum.emit ReduceSum.batch
ops/common/linear.py            ReduceSum.transpose Linear.jvp broadcast_to
core/primitive.py               Primitive.__call__ Primitive.evaluate
core/record.py                  trace_to_jaxpr Record.record Record.close Partial.process
core/trace.py                   Eager.process
core/support/executable.py      compile_jaxpr
core/support/results.py         one.run
stablehlo/lower.py              lower Lowering.inline
stablehlo/builder.py            Module.text
engines/xla.py                  XlaEngine.compile XlaEngine.load
engines/jaxlib_compat.py        compile_text
control/jit/decorator.py        _entry_1.call
control/jit/dispatch.py         Jitted.general Jitted.compile Jitted.trace
control/jit/primitive.py        compiled
transforms/derivatives.py       grad.gradient vmap.mapped
transforms/linearize.py         linearize_flat LinearJaxpr.pull
transforms/jvp.py               jvp_flat Jvp.process
transforms/batch.py             batch_flat Batch.process
transforms/transpose.py         transpose_jaxpr
"""


class Call(NamedTuple):
    """A call of a function of the package, `depth` frames below the program that was watched."""

    depth: int
    file: str
    function: str


def landmarks() -> set[tuple[str, str]]:
    """(file, function) of each landmark."""
    rows = [line.split() for line in LANDMARKS.split("\n") if line]
    return {(file, function) for file, *functions in rows for function in functions}


def calls_of(program: Callable[[], Any]) -> list[Call]:
    """The package's functions that the program calls, in order."""
    found: list[Call] = []
    depth = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal depth
        if event == "call":
            code = frame.f_code
            path = Path(code.co_filename)
            if path.is_relative_to(PACKAGE) and not code.co_name.startswith("<"):
                file = path.relative_to(PACKAGE).as_posix()
                found.append(Call(depth, file, code.co_qualname.replace("<locals>.", "")))
            depth += 1
        elif event == "return":
            depth -= 1

    sys.setprofile(profile)
    try:
        program()
    finally:
        sys.setprofile(None)
    return found


# ---- the walks ----------------------------------------------------------------------------------
def row_sums(x: Any) -> Any:
    """The call that is followed."""
    return jnp.sum(x, axis=1)


def walks() -> dict[str, list[Call]]:
    """Every call that the page follows, in the page's order: what was called before matters."""
    x, xs = jnp.arange(6.0).reshape(2, 3), jnp.ones((4, 2, 3))
    jitted = hloom.jit(row_sums)
    slopes = hloom.grad(lambda xs: hloom.vmap(row_sums)(xs).sum())
    found = {
        "first": calls_of(lambda: row_sums(x)),
        "second": calls_of(lambda: row_sums(x)),
        "jit": calls_of(lambda: jitted(x)),
        "jitted": calls_of(lambda: jitted(x)),
    }
    slopes(xs)  # compiles each operation for its types, which the page has shown
    return found | {"slopes": calls_of(lambda: slopes(xs))}


def listing(calls: list[Call], folded: Collection[str] = ()) -> str:
    """The landmarks among the calls, indented by those around them, and their files.

    What `folded` landmarks call is left out: the page has shown it before.
    """
    known = landmarks()
    open_calls: list[Call] = []
    rows: list[tuple[str, str]] = []
    for call in calls:
        while open_calls and open_calls[-1].depth >= call.depth:
            open_calls.pop()
        if call[1:] not in known or any(c.function in folded for c in open_calls):
            continue
        more = " .." if call.function in folded else ""
        rows.append((f"{'  ' * len(open_calls)}{call.function}{more}", call.file))
        open_calls.append(call)
    width = max(len(left) for left, _ in rows)
    return "".join(f"{left:{width}}  {file}\n" for left, file in rows)


# ---- the code -----------------------------------------------------------------------------------
def quoted(file: str, function: str, first: str = "", last: str = "") -> str:
    """A function's code without its docstring, or its lines from `first` to `last`, patterns."""
    text = (PACKAGE / file).read_text(encoding="utf-8")
    node: Any = ast.parse(text)
    for name in function.split("."):
        node = next(x for x in ast.walk(node) if getattr(x, "name", None) == name)
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    if ast.get_docstring(node):
        doc = node.body[0]
        del lines[doc.lineno - node.lineno : doc.end_lineno - node.lineno + 1]
    if first:
        lines = lines[place(first, lines, function) :]
        lines = lines[: place(last, lines, function) + 1]
    return f"# {file}, {function}\n{textwrap.dedent(chr(10).join(lines))}\n"


def place(pattern: str, lines: Sequence[str], function: str) -> int:
    """The number of the first line that has the pattern."""
    found = [i for i, line in enumerate(lines) if re.search(pattern, line)]
    if not found:
        raise SystemExit(f"docs/walk.md quotes a line of {function} that is gone: {pattern}")
    return found[0]


# ---- the page -----------------------------------------------------------------------------------
BLOCK = re.compile(r"^<!-- (calls|code) ([^\n]*) -->\n```(\w+)\n.*?^```$", re.MULTILINE | re.DOTALL)


def page(text: str) -> str:
    """The page with its blocks made anew."""
    seen = walks()
    passed = {call[1:] for calls in seen.values() for call in calls}
    if unseen := landmarks() - passed:
        raise SystemExit(f"docs/walk.py has landmarks that no walk passes: {sorted(unseen)}")

    def block(match: re.Match[str]) -> str:
        kind, what, language = match.groups()
        if kind == "calls":
            name, *folded = what.split()
            made = listing(seen[name], folded)
        else:
            where, _, part = what.partition(" FROM ")
            made = quoted(*where.split(), *filter(None, part.split(" TO ")))
        return f"<!-- {kind} {what} -->\n```{language}\n{made}```"

    return BLOCK.sub(block, text)


# ---- the drawing of the traces ------------------------------------------------------------------
def row(trace: Any, value: Any) -> walk_pictures.Row:
    """A trace and the value that is its own, with what that holds."""
    cls, home = type(value), vars(sys.modules[type(trace).__module__])
    name = next((key for key, x in home.items() if x is cls), cls.__name__)  # all say Array
    holds = ", ".join(cls.__slots__) if isinstance(value, hloom.core.Tracer) else "a buffer"
    what = "the bottom" if trace.parent is None else trace.origin.transform
    return walk_pictures.Row((type(trace).__name__, what), (f"{name} {value.aval}", holds))


def rows_inside() -> list[walk_pictures.Row]:
    """The traces in force in a function under grad of vmap, as they are found there."""
    found: list[walk_pictures.Row] = []

    def watched(x: Any) -> Any:
        trace = hloom.core.current_trace()
        for value in (x, x.value, x.value.tangent, x.value.primal):
            assert value.__class__ is hloom.Array or value.owner is trace
            found.append(row(trace, value))
            trace = trace.parent
        return row_sums(x)

    hloom.grad(lambda xs: hloom.vmap(watched)(xs).sum())(jnp.ones((4, 2, 3)))
    return found


def main(folder: Path = DOCS) -> None:
    """Write the page and its drawings into the folder."""
    text = page((DOCS / "walk.md").read_text(encoding="utf-8"))
    (folder / "walk.md").write_text(text, encoding="utf-8")
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    walk_pictures.layers(pictures / "layers.svg")
    links = [(0, 1, "value"), (1, 2, "tangent"), (1, 3, "primal")]
    walk_pictures.traces(pictures / "traces.svg", rows_inside(), links)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
