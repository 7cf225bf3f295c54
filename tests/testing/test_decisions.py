"""What zeros, NaN, infinities, overflow and rounding give, on three engines.

The decisions are in `hloom.testing.decisions`, from which `docs/semantics.md` is written.  Each is
run on every engine and in one program; the plain operation is run as well, and must be wrong
somewhere if hloom has a lowering for it.  Below the table: what takes more than a row.
"""

from __future__ import annotations

import builtins
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16

import hloom
from hloom import lax
from hloom import numpy as jnp
from hloom.errors import EngineError
from hloom.ops.pointwise import arithmetic, binary, convert
from hloom.testing import ENGINES, evaluate, same_bits, show, ulps
from hloom.testing.decisions import DECISIONS, EXACT, TOPICS, WHOLE, Decision, said
from hloom.testing.decisions.page import document
from hloom.testing.decisions.record import ByVersion, NDArray

INF, NAN = np.inf, np.nan
ROOT = Path(__file__).resolve().parents[2]

VALUED = {claim: d for claim, d in DECISIONS.items() if not d.raises}
PLAIN = {claim: d for claim, d in VALUED.items() if d.plain is not None}


def parts(x: NDArray) -> list[NDArray]:
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def agree(got: NDArray, want: NDArray, ulp: float) -> bool:
    """Whether two results are the same to the bit, or, part by part, to so many ulp."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    for g, w in zip(parts(got), parts(want)):
        good = same_bits(g, w)
        if ulp and not good.all():
            good = good | (ulps(g, w.astype(np.longdouble)) <= ulp)
        if not good.all():
            return False
    return True


def converted(dtype: Any) -> Any:
    wanted = np.dtype(dtype)
    return lambda x: convert.convert_element_type_p(x, new_dtype=wanted, weak_type=False)


def check(got: NDArray, want: NDArray, ulp: float, who: str) -> None:
    assert agree(got, want, ulp), f"{who} gives {got!r}, expected {want!r}"


def resembles(got: NDArray, said: NDArray, decision: Decision) -> bool:
    """Whether a wrong result is the expected one, to the digits that depend on the processor."""
    if agree(got, said, decision.ulp):
        return True
    if got.dtype != said.dtype or got.shape != said.shape or decision.want is None:
        return False
    with np.errstate(all="ignore"):
        near = [
            same_bits(g, s) | (abs(g - s) <= abs(s - w) / 2)
            for g, s, w in zip(parts(got), parts(said), parts(decision.want))
        ]
    return all(x.all() for x in near)


# ---- the table ----------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("claim", VALUED)
def test_decision(claim: str, engine: str) -> None:
    decision = VALUED[claim]
    check(decision.evaluate(engine), decision.expected(engine), decision.ulp, engine)


@pytest.mark.parametrize("claim", VALUED)
def test_decision_in_one_program(claim: str) -> None:
    decision = VALUED[claim]
    got = decision.evaluate_whole()
    if WHOLE in decision.departures and agree(got, decision.expected("xla"), decision.ulp):
        return  # what a processor without fused products and sums gives
    check(got, decision.expected(WHOLE, "xla"), decision.ulp, "XLA, in one program,")


@pytest.mark.parametrize("claim", [c for c, d in VALUED.items() if WHOLE in d.departures])
def test_an_exact_program_does_not_depart(claim: str) -> None:
    decision = VALUED[claim]
    got = decision.evaluate_whole(exact=True)
    check(got, decision.expected(EXACT, "xla"), decision.ulp, "an exact program")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("claim", [c for c, d in DECISIONS.items() if d.raises])
def test_decision_raises(claim: str, engine: str) -> None:
    decision = DECISIONS[claim]
    with pytest.raises(getattr(builtins, decision.raises)):
        decision.evaluate(engine)


@pytest.mark.parametrize("claim", [c for c, d in DECISIONS.items() if d.asks])
def test_numpy_gives_what_the_decision_says(claim: str) -> None:
    decision = DECISIONS[claim]
    if isinstance(decision.numpy, str) and decision.numpy == "raises":
        with pytest.raises((TypeError, ValueError, IndexError)):
            decision.asked()
        return
    assert decision.want is not None
    want = said(decision.numpy, decision.want)
    check(decision.asked(), want, decision.ulp, "NumPy")


@pytest.mark.parametrize("engine", ["xla", "reference"])
@pytest.mark.parametrize("claim", PLAIN)
def test_the_plain_operation_gives_what_the_decision_says(
    claim: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where refused modules are saved
    decision = PLAIN[claim]
    want = said(decision.xla if engine == "xla" else decision.reference, decision.want)
    if isinstance(want, str):
        # AssertionError: where tests verify every text, an invalid one does not reach the engine.
        with pytest.raises((EngineError, AssertionError)):
            decision.evaluate_plain(engine)
        return
    got = decision.evaluate_plain(engine)
    assert resembles(got, want, decision), f"plain, {engine}, gives {got!r}, expected {want!r}"


def differs(decision: Decision, what: Any) -> bool:
    """Whether it is not hloom's answer; no answer is none."""
    if isinstance(what, ByVersion):
        return differs(decision, what.before) or differs(decision, what.since)
    if decision.want is None:
        return False
    value = said(what, decision.want)
    return isinstance(value, str) or not agree(value, decision.want, decision.ulp)


@pytest.mark.parametrize("claim", DECISIONS)
def test_a_lowering_is_there_and_is_needed(claim: str) -> None:
    decision = DECISIONS[claim]
    different = [
        engine for engine in ("xla", "reference") if differs(decision, getattr(decision, engine))
    ]
    if not decision.lowering:
        assert not different or decision.departures, f"plain gives something else on {different}"
        return
    module, name = decision.lowering.rsplit(".", 1)
    assert hasattr(import_module(module), name)
    assert decision.plain is not None
    assert different, "the plain operation would do"


def test_the_page_is_what_the_decisions_make_it() -> None:
    text = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    assert text == document(TOPICS), "run: make semantics"


# ---- integer division by constants: the compiler may evaluate it ---------------------------------
@pytest.mark.parametrize("fun", [arithmetic.div, binary.rem, binary.floor_divide, binary.mod])
def test_a_constant_by_a_constant_zero(fun: Any) -> None:
    five, zero = np.int32(5), np.int32(0)
    assert hloom.jit(lambda x: arithmetic.add(fun(five, zero), x))(np.int32(1)) == 1


# ---- float floor division, to the sign of zero ---------------------------------------------------
SIGNED = [0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 0.5, -6.0, INF, -INF, NAN, 3e4, -7.25, 0.1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("fun", "definition"),
    [(binary.floor_divide, np.floor_divide), (binary.mod, np.remainder)],
    ids=["floor_divide", "mod"],
)
def test_float_floor_division_is_numpys(fun: Any, definition: Any, dtype: str, engine: str) -> None:
    values = np.array(SIGNED).astype(bfloat16 if dtype == "bfloat16" else dtype)
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        wide = [v.astype(np.float32) if v.dtype.itemsize == 2 else v for v in (x, y)]
        want = definition(*wide).astype(x.dtype)
    got = evaluate(engine, fun, x, y)
    bad = ~same_bits(got, want)
    assert not bad.any(), show(bad, [x, y], got, want)


# ---- conversions between all dtypes ------------------------------------------------------------
NAMES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip
VALUES = [
    0.0, -0.0, 1.0, -1.0, 1.5, 2.5, 0.1, 127.0, 128.0, -129.0, 255.0, 256.0, 65504.0, 65520.0,
    448.0, 464.0, 2.0**31, -(2.0**31) - 1, 2.0**32, 2.0**63, 1e19, 1e300, INF, -INF, NAN,
    1 + 2**-8 + 2**-40,
]  # fmt: skip


@pytest.mark.parametrize("engine", ["xla", "reference"])
@pytest.mark.parametrize("source", NAMES)
def test_every_conversion_is_its_numpy_rule(source: str, engine: str) -> None:
    from_dtype = convert.dtypes.as_dtype(source)
    x = evaluate("numpy", converted(from_dtype), np.array(VALUES))
    for target in NAMES:
        to = converted(convert.dtypes.as_dtype(target))
        got, want = evaluate(engine, to, x), evaluate("numpy", to, x)
        bad = ~same_bits(got, want)
        assert not bad.any(), f"to {target}: " + show(bad, [x], got, want)


# ---- floats of 8 bits ------------------------------------------------------------------------
EIGHT = [
    "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz",
]  # fmt: skip


@pytest.mark.parametrize("dtype", EIGHT)
@pytest.mark.parametrize("fun", [arithmetic.add, arithmetic.sub, arithmetic.mul, binary.max])
def test_eight_bits_are_computed_in_f32(fun: Any, dtype: str) -> None:
    every = np.arange(256, dtype=np.uint8).view(convert.dtypes.as_dtype(dtype))
    x, y = (v.ravel() for v in np.meshgrid(every, every))
    got, want = (evaluate(engine, fun, x, y).astype(np.float32) for engine in ("xla", "numpy"))
    bad = ~same_bits(got, want)
    assert not bad.any(), show(bad, [x, y], got, want)


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("dtype", EIGHT)
def test_eight_bits_are_rounded_to_once(dtype: str, source: str) -> None:
    scales = np.exp2(np.arange(-18.0, 11.0))
    x = np.outer(scales, np.arange(-32.0, 33.0)).ravel().astype(convert.dtypes.as_dtype(source))
    to = converted(convert.dtypes.as_dtype(dtype))
    got, want = (evaluate(engine, to, x).astype(np.float32) for engine in ("xla", "numpy"))
    bad = ~same_bits(got, want)
    assert not bad.any(), show(bad, [x], got, want)


# ---- faults of XLA that were reported, and are looked for ---------------------------------------
@pytest.mark.parametrize("size", [1, 7, 8, 49, 50, 51, 1000])
def test_arctangents_of_any_number(size: int) -> None:
    # jax-ml/jax#39352: of 50 elements or more they were wrong on some processors.
    x = np.linspace(-30, 30, size, dtype=np.float32)
    want = np.arctan(x.astype(np.float64))
    assert (ulps(evaluate("xla", lax.atan, x), want) <= 4).all()


def test_searching_many_among_many() -> None:
    # jax-ml/jax#39887: a loop over 10,001 elements ended too early.
    x = np.linspace(0, 1, 10_001, dtype=np.float32)
    places = evaluate("xla", hloom.jit(jnp.searchsorted), x, x[::-1].copy())
    assert (places == np.arange(10_001)[::-1]).all()
