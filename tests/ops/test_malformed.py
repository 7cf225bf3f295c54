"""Bad input: `infer` refuses every violation by name, and nothing reaches MLIR or XLA.

Valid calls are spoilt, one thing at a time (`spoiling`).  Each spoilt call must raise an error of
NumPy's kinds that names the operation; or it is valid in truth, and then the module that is written
is valid StableHLO, and the inferred types are those of the NumPy rule's results.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, testing, tree
from hloom.core import Array, ShapedArray
from hloom.core.interpret import evaluate
from hloom.core.jaxpr import Jaxpr
from hloom.core.operands import as_array
from hloom.core.record import trace_to_jaxpr
from hloom.stablehlo import lower
from tests.ops import harvest, spoiling
from tests.ops.harvest import Application, Call
from tests.stablehlo import verify

KINDS = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, NotImplementedError)
LONGEST = 1200  # characters of an error text: no pages of MLIR

# How many spoilt calls of each are tried.
OF_A_PRIMITIVE, OF_A_FUNCTION, IN_FOUR_WAYS, RUN = 240, 100, 10, 6

pytestmark = pytest.mark.filterwarnings("ignore")  # casts of complex numbers, f64 that is f32


def fault(error: Exception, name: str) -> str | None:
    """What is wrong with an error; None for one of a user's kind that names the operation."""
    text = str(error)
    if type(error).__module__ == errors.__name__:
        return None
    if type(error) not in KINDS and not type(error).__module__.startswith("hloom"):
        return f"{type(error).__name__}: {text}"
    if not re.match(rf"(lax\.)?{re.escape(name)}\b", text):
        return f"{type(error).__name__} does not name {name}: {text}"
    return f"{len(text)} characters" if len(text) > LONGEST else None


def report(faults: list[str], tried: int) -> None:
    if faults:
        shown = "\n".join(faults[:12])
        pytest.fail(f"{len(faults)} of {tried} calls are at fault\n{shown[:6000]}", pytrace=False)


# ---- every primitive --------------------------------------------------------------------------
def applied(call: Application) -> tuple[Callable[..., Any], list[ShapedArray]]:
    """The application as a function of arrays, and their types."""
    places = [i for i, x in enumerate(call.operands) if isinstance(x, ShapedArray)]

    def fun(*xs: Any) -> Any:
        operands = list(call.operands)
        for i, x in zip(places, xs):
            operands[i] = x
        return call.primitive(*operands, **call.params)

    return fun, [call.operands[i] for i in places]


def ints(value: Any) -> list[int]:
    """The integers in a parameter."""
    if isinstance(value, (tuple, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return [n for part in parts for n in ints(part)]
    return [value] if isinstance(value, int) else []


def checked_module(jaxpr: Jaxpr) -> str | None:
    """What is wrong with what is written for a Jaxpr."""
    try:
        verify.verify(str(lower(jaxpr)))
    except Exception as error:
        return f"accepted, but then {type(error).__name__}: {error}"
    return None


def checked_types(jaxpr: Jaxpr, captured: list[Array], params: dict[str, Any]) -> str | None:
    """Whether the NumPy rule gives other types than inferred, for zeros."""
    avals = jaxpr.in_avals[len(captured) :]
    size = max([aval.size for aval in (*avals, *jaxpr.out_avals)], default=0)
    if size > 4096 or max(map(abs, ints(params)), default=0) > 4096 or "while" in str(jaxpr):
        return None
    values = [np.zeros(aval.shape, aval.dtype) for aval in avals]
    try:
        with np.errstate(all="ignore"):
            outs = evaluate(jaxpr, [*map(np.asarray, captured), *values])
    except Exception as error:
        return f"accepted, but the NumPy rule raises {type(error).__name__}: {error}"
    got = [ShapedArray(np.shape(x), x.dtype) for x in outs]
    want = [aval.strong() for aval in jaxpr.out_avals]
    return None if got == want else f"inferred {want}, but NumPy gives {got}"


def judged(call: Application) -> str | None:
    """What is wrong with what became of a spoilt application."""
    fun, avals = applied(call)
    try:
        jaxpr, captured = trace_to_jaxpr(fun, avals)
    except Exception as error:
        return fault(error, call.primitive.name)
    return checked_module(jaxpr) or checked_types(jaxpr, captured, call.params)


@pytest.mark.parametrize("name", testing.primitives())
def test_a_malformed_application_is_refused_by_infer(name: str) -> None:
    spoilt = spoiling.applications(harvest.applications()[name], OF_A_PRIMITIVE)
    with hloom.enable_x64():
        faults = [f"{call}\n    {wrong}" for call in spoilt if (wrong := judged(call))]
    report(faults, len(spoilt))


# ---- the same words everywhere ----------------------------------------------------------------
def error_of(fun: Callable[..., Any], *args: Any) -> tuple[str, str] | None:
    """The error of a call, or None."""
    try:
        fun(*args)
    except Exception as error:
        # While tracing, the user's line follows the text.
        return type(error).__name__, str(error).partition("\n  at ")[0]
    return None


def forget(call: Application) -> None:
    """Drop compiled programs: an equal key, 1 for True, would find that of the valid call."""
    call.primitive.executables.clear()
    for value in call.params.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Jaxpr):
                part.cache.clear()


def in_four_ways(call: Application) -> dict[str, tuple[str, str] | None]:
    """The errors of one application under each transformation that it can be put under."""
    fun, avals = applied(call)
    values = [np.ones(aval.shape, aval.dtype) for aval in avals]
    moving = [i for i, aval in enumerate(avals) if harvest.is_inexact(aval)]

    def of_moving(*xs: Any) -> Any:
        given = list(values)
        for i, x in zip(moving, xs):
            given[i] = x
        return sum(jnp.sum(jnp.real(y)) for y in tree.leaves(fun(*given)))

    moved = [values[i] for i in moving]
    forget(call)
    ways = {"jit": error_of(hloom.jit(fun), *values), "eager": error_of(fun, *values)}
    if values:
        ways["vmap"] = error_of(hloom.vmap(fun), *[np.stack([x, x]) for x in values])
    if any(x.dtype.kind == "c" for x in moved):
        ways["jvp"] = error_of(hloom.jvp, of_moving, moved, moved)
    elif moved:
        ways["grad"] = error_of(hloom.grad(of_moving, argnums=tuple(range(len(moved)))), *moved)
    return ways


@pytest.mark.parametrize("name", testing.primitives())
def test_the_same_words_under_eager_jit_grad_and_vmap(name: str) -> None:
    faults, tried = [], 0
    # NumPy's engine compiles nothing: what is asked is who refuses a call, before any engine.
    with hloom.enable_x64(), hloom.engine("numpy"):
        for call in spoiling.applications(harvest.applications()[name], 400):
            fun, avals = applied(call)
            small = all(aval.size < 5000 for aval in avals)
            if tried == IN_FOUR_WAYS or not small or error_of(trace_to_jaxpr, fun, avals) is None:
                continue
            tried += 1
            ways = in_four_ways(call)
            if name == "jit":
                del ways["eager"]  # the program of the Jaxpr: operands were compared before
            if len(set(ways.values())) > 1:
                faults.append(f"{call}\n    {ways}")
    assert tried
    report(faults, tried)


# ---- public functions -------------------------------------------------------------------------
def is_array(x: Any) -> bool:
    return isinstance(x, Array) or isinstance(x, np.ndarray) and x.dtype.kind not in "OUM"


def replaced(x: Any, arrays: list[Any], values: Any = None) -> Any:
    """Collect the arrays in an argument, or, if there are `values`, put those in their place."""
    if is_array(x):
        arrays.append(x)
        return x if values is None else values[len(arrays) - 1]
    if type(x) in (list, tuple):
        return type(x)(replaced(part, arrays, values) for part in x)
    return x


def is_users(error: BaseException) -> bool:
    """Whether it comes out of a function that was an argument: an example's own."""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith(("<doctest", harvest.__file__)):
            return True
        traceback = traceback.tb_next
    return False


def judged_call(call: Call) -> str | None:
    """What is wrong with what became of a spoilt call of a public function."""
    arrays: list[Any] = []
    replaced([*call.args, *call.kwargs.values()], arrays)
    avals = [as_array(x).aval for x in arrays]

    def fun(*xs: Any) -> list[Any]:
        given: list[Any] = []
        args = [replaced(x, given, xs) for x in call.args]
        kwargs = {name: replaced(x, given, xs) for name, x in call.kwargs.items()}
        return [x for x in tree.leaves(call.function(*args, **kwargs)) if isinstance(x, Array)]

    try:
        jaxpr, _ = trace_to_jaxpr(fun, avals)
    except Exception as error:
        name = call.name.rpartition(".")[2]
        first = str(error).split("\n", 1)[0]
        if is_users(error) or type(error) in KINDS and re.search(rf"\b{name}\b", first):
            return None
        return fault(error, name)
    return checked_module(jaxpr)


FUNCTIONS = [
    prefix + name for prefix, module in harvest.FACADES.items() for name in harvest.public(module)
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_malformed_call_is_refused_by_name(name: str) -> None:
    spoilt = spoiling.calls(harvest.calls()[name], OF_A_FUNCTION)
    with hloom.enable_x64():
        faults = [f"{call}\n    {wrong}" for call in spoilt if (wrong := judged_call(call))]
    report(faults, len(spoilt))


# ---- nothing kills the process ----------------------------------------------------------------
def run(engine: str) -> None:
    """In a process of its own: say each call, then make it eagerly, with ones."""
    with hloom.engine(engine), hloom.enable_x64():
        for name, given in harvest.applications().items():
            odd = [
                call
                for call in spoiling.applications(given, 400)
                if all(aval.size < 200 for aval in applied(call)[1])
                and max(map(abs, ints(call.params)), default=0) < 200
            ]
            for call in odd[:RUN] + odd[-2:]:  # the last are of no axis
                print(call, flush=True)
                fun, avals = applied(call)
                values = [np.ones(aval.shape, aval.dtype) for aval in avals]
                try:
                    tree.map(lambda x: x.block_until_ready(), fun(*values))
                except Exception as error:
                    wrong = fault(error, name)
                    print(f"FAULT {wrong}" if wrong else "refused", flush=True)
    print("END", flush=True)


@pytest.mark.parametrize("engine", ["xla", "reference"])
def test_no_malformed_application_ends_the_process(engine: str) -> None:
    root = Path(__file__).parents[2]
    program = f"from tests.ops import test_malformed; test_malformed.run({engine!r})"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    lines = done.stdout.splitlines() or ["nothing"]
    assert (done.returncode, lines[-1]) == (0, "END"), f"{lines[-1]}\n{done.stderr[-2000:]}"
    report([f"{a}\n    {b}" for a, b in zip(lines, lines[1:]) if b.startswith("FAULT")], len(lines))
