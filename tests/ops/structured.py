"""How structured operations are tried: one table of cases, and what is asked of each.

A case is a function of arrays with the shapes of its operands.  Its value is compared on three
engines with an oracle, its derivative with finite differences, its transpose by the adjoint
identity, its batch rule with a loop over the examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import hloom
from hloom import dtypes
from tests.ops import machine

FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "int32", "uint8", "uint32", "int64")
NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)
ORDERED = ("bool", *INTEGERS, *FLOATS)
EVERYTHING = ("bool", *NUMBERS)
F64 = ("float64",)


class Case(NamedTuple):
    """One use of an operation.

    `operands` are shapes, which are filled with random numbers of the dtype under test, or arrays,
    which are taken as they are (indices).  `oracle` is the same function in NumPy; without one the
    NumPy engine is.  `ulp` is the budget relative to the largest element, in units of the dtype's
    precision, and `why` what it is spent on.  `moving` are the positions to differentiate by;
    None are all that have shapes, and () says that there is no derivative.
    """

    name: str
    fun: Callable[..., Any]
    operands: tuple[Any, ...]
    oracle: Callable[..., Any] | None = None
    dtypes: tuple[str, ...] = EVERYTHING
    ulp: float = 0.0
    why: str = "exact"
    moving: tuple[int, ...] | None = None
    low: float = -9.0
    high: float = 9.0

    def __str__(self) -> str:
        return self.name


def draw(case: Case, dtype: str, seed: int = 0) -> list[Any]:
    """The case's operands in this dtype."""
    made = []
    for i, operand in enumerate(case.operands):
        if isinstance(operand, tuple):
            size = int(np.prod(operand))
            low, high = case.low, case.high
            values = machine.drawn(dtypes.as_dtype(dtype), low, high, size, 100 * seed + i)
            operand = values.reshape(operand)
        made.append(operand)
    return made


def listed(results: Any) -> list[Any]:
    """Results as a list of ndarrays."""
    return [np.asarray(x) for x in (results if isinstance(results, (list, tuple)) else [results])]


def evaluate(engine: str, fun: Callable[..., Any], *operands: Any) -> list[Any]:
    """The results of a call on one engine, 64-bit types on."""
    with hloom.engine(engine), hloom.enable_x64():
        return listed(fun(*operands))


def assert_close(got: Any, want: Any, ulp: float, what: str) -> None:
    """Equal to the bit (NaN is NaN), or within `ulp` units of the largest element's precision."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, expected {want.dtype}"
    if dtypes.kind(got.dtype) not in ("float", "complex"):
        assert np.array_equal(got, want), f"{what}:\n{got}\nexpected\n{want}"
        return
    same = machine.same_bits(got, want)
    if ulp:
        wide, wanted = machine.wider(got), machine.wider(want)
        finite = np.abs(wanted[np.isfinite(wanted)])
        scale = float(finite.max(initial=0)) * float(dtypes.finfo(got.dtype).eps)
        with np.errstate(all="ignore"):
            same |= np.abs(wide - wanted) <= ulp * scale
    assert same.all(), f"{what}:\n{got}\nexpected\n{want}"


# ---- value ----------------------------------------------------------------------------------
def check_value(case: Case, dtype: str) -> None:
    """The three engines give what the oracle gives."""
    operands = draw(case, dtype)
    results = {engine: evaluate(engine, case.fun, *operands) for engine in machine.ENGINES}
    want = results["numpy"]
    if case.oracle is not None:
        want = [np.asarray(x) for x in listed(case.oracle(*operands))]
        want = [w.astype(g.dtype) for w, g in zip(want, results["numpy"], strict=True)]
    for engine, got in results.items():
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            assert_close(g, w, case.ulp, f"{case} {dtype} on {engine}, result {i}")


# ---- derivatives ----------------------------------------------------------------------------
def _moving(case: Case) -> list[int]:
    if case.moving is not None:
        return list(case.moving)
    return [i for i, x in enumerate(case.operands) if isinstance(x, tuple)]


def _of_moving(case: Case, operands: Sequence[Any]) -> Callable[..., Any]:
    places = _moving(case)

    def fun(*xs: Any) -> Any:
        full = list(operands)
        for i, x in zip(places, xs):
            full[i] = x
        return case.fun(*full)

    return fun


def _random_like(x: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    made = rng.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        made = made + 1j * rng.normal(size=np.shape(x))
    return made.astype(np.asarray(x).dtype)


def check_jvp(case: Case, engine: str = "xla") -> None:
    """The tangent is the central difference along a random direction, in f64."""
    operands = draw(case, "float64")
    fun, places = _of_moving(case, operands), _moving(case)
    primals = [operands[i] for i in places]
    tangents = [_random_like(x, i) for i, x in enumerate(primals)]
    with hloom.engine(engine), hloom.enable_x64():
        outs, out_tangents = hloom.jvp(fun, tuple(primals), tuple(tangents))
        step = 1e-6
        ahead = listed(fun(*[x + step * t for x, t in zip(primals, tangents)]))
        behind = listed(fun(*[x - step * t for x, t in zip(primals, tangents)]))
    for i, (out, t, a, b) in enumerate(
        zip(listed(outs), listed(out_tangents), ahead, behind, strict=True)
    ):
        if dtypes.kind(out.dtype) not in ("float", "complex"):
            continue
        moves = np.isfinite(out)  # a fill of NaN and the maximum of nothing do not
        want = np.subtract(a, b, out=np.zeros_like(a), where=moves) / (2 * step)
        scale = max(1.0, float(np.abs(want).max(initial=0)), float(np.abs(out).max(initial=0)))
        assert np.abs(t - want).max(initial=0) < 1e-7 * scale, f"{case}, tangent {i}:\n{t}\n{want}"


def check_adjoint(case: Case, dtype: str = "float64") -> None:
    """<ct, J t> = <J^T ct, t> for random t and ct."""
    operands = draw(case, dtype)
    fun, places = _of_moving(case, operands), _moving(case)
    primals = [operands[i] for i in places]
    tangents = [_random_like(x, i) for i, x in enumerate(primals)]
    with hloom.enable_x64():
        _, out_tangents = hloom.jvp(fun, tuple(primals), tuple(tangents))
        outs, pull = hloom.vjp(fun, *primals)
        cts = [_random_like(x, 50 + i) for i, x in enumerate(listed(outs))]
        several = isinstance(outs, (list, tuple))
        pulled = listed(pull(type(outs)(cts) if several else cts[0]))
    there = sum(
        (ct * t).sum() for ct, t in zip(cts, listed(out_tangents)) if t.dtype == np.dtype(dtype)
    )
    back = sum((p * t).sum() for p, t in zip(pulled, tangents))
    terms = sum(np.abs(p * t).sum() for p, t in zip(pulled, tangents))
    assert np.abs(there - back) <= 1e-11 * max(1.0, float(terms)), f"{case}: {there} != {back}"


# ---- batch ----------------------------------------------------------------------------------
def _examples(x: Any, seed: int) -> list[Any]:
    """Three examples like x, made of its elements, so that indices stay indices."""
    x = np.asarray(x)
    rng = np.random.default_rng(seed)
    return [rng.permutation(x.ravel()).reshape(x.shape) for _ in range(3)]


def _layouts(ndims: Sequence[int]) -> Iterator[tuple[int | None, ...]]:
    """Batch axes to try: all leading, all last, and each operand alone at an inner axis."""
    yield (0,) * len(ndims)
    if any(ndims):
        yield tuple(ndims)
    if len(ndims) > 1:
        for i, ndim in enumerate(ndims):
            yield tuple(min(1, ndim) if i == j else None for j in range(len(ndims)))
        yield (0, *[None if i % 2 else n for i, n in enumerate(ndims[1:])])


def check_batch(case: Case, dtype: str = "float32", engine: str = "xla") -> None:
    """vmap gives what a loop over the examples gives, for several layouts of the batch axes."""
    operands = [np.asarray(x) for x in draw(case, dtype)]
    examples = [_examples(x, i) for i, x in enumerate(operands)]
    for axes in set(_layouts([x.ndim for x in operands])):
        stacked = [
            x if a is None else np.stack(each, a) for x, each, a in zip(operands, examples, axes)
        ]
        with hloom.engine(engine), hloom.enable_x64():
            got = listed(hloom.vmap(case.fun, in_axes=axes)(*stacked))
            want = [
                listed(case.fun(*[x if a is None else each[i] for x, each, a in zip(
                    operands, examples, axes)]))
                for i in range(3)
            ]  # fmt: skip
        for i, g in enumerate(got):
            looped = np.stack([results[i] for results in want])
            assert_close(g, looped, case.ulp, f"{case} batched at {axes}, result {i}")


# ---- parameters for pytest --------------------------------------------------------------------
def values(cases: Sequence[Case]) -> list[tuple[Case, str]]:
    """Every case with each of its dtypes."""
    return [(case, dtype) for case in cases for dtype in case.dtypes]


def smooth(cases: Sequence[Case]) -> list[Case]:
    """The cases that have a derivative."""
    return [case for case in cases if "float64" in case.dtypes and case.moving != ()]


def all_pairs(*lists: Sequence[Any]) -> list[tuple[Any, ...]]:
    return list(product(*lists))
