"""What is asked of a case, and of any function: value, derivatives, batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hloom.config import enable_x64
from hloom.control.jit.abstract import eval_shape
from hloom.core.support import float0
from hloom.errors import EngineUnsupported
from hloom.testing.case import Case
from hloom.testing.comparison import (
    ENGINES,
    assert_close,
    differing,
    flushed,
    listed,
    results,
    same_bits,
    show,
)
from hloom.testing.operands import NDArray, normal
from hloom.transforms.derivatives import jvp, vjp, vmap
from hloom.transforms.tangents import moves

STEP = 1e-6  # of central differences: the cube root of the precision of f64, nearly


# ---- values ----------------------------------------------------------------------------------
def check_value(
    case: Case,
    dtype: Any,
    engines: Sequence[str] = ENGINES,
    operands: Sequence[NDArray] | None = None,
) -> None:
    """Raise AssertionError unless the engines give what the oracle gives, as exactly as stated.

    `operands` are those of `case.trial` unless given.

    >>> from hloom import testing
    >>> case = testing.FAMILIES["shape"][0]
    >>> testing.check_value(case, "int8")
    >>> testing.check_value(case, "int8", ["reference"], [np.zeros((2, 6), np.int8)])
    """
    operands = case.trial(dtype) if operands is None else list(operands)
    by_numpy = results("numpy", case.fun, *operands)
    expected = case.expected(operands)
    wanted = by_numpy if expected is None else expected
    for engine in engines:
        got = by_numpy if engine == "numpy" else _attempt(case, engine, operands)
        if got is None:
            continue
        for i, (g, want) in enumerate(zip(got, wanted, strict=True)):
            what = f"{case} {dtype} on {engine}, result {i}"
            if case.elementwise:
                _assert_elements(case, g, want, operands, what)
            else:
                want = flushed(want.astype(g.dtype))
                assert_close(flushed(g), want, case.budget(g.dtype), what)


def _attempt(case: Case, engine: str, operands: list[NDArray]) -> list[NDArray] | None:
    """The results; None if the engine says, and may say, that it cannot."""
    try:
        return results(engine, case.fun, *operands)
    except EngineUnsupported:
        if engine in case.engines:
            raise
        return None


def _assert_elements(
    case: Case, got: NDArray, want: NDArray, operands: list[NDArray], what: str
) -> None:
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if case.exact:
        bad = ~same_bits(flushed(got), flushed(want.astype(got.dtype)))
    else:
        bad = differing(got, want, case.budget(got.dtype))
    assert not bad.any(), f"{what}: {show(bad, operands, got, want)}"


# ---- derivatives -----------------------------------------------------------------------------
def check_jvp(case: Case, dtype: Any = "float64") -> None:
    """Raise AssertionError unless the case's tangent is the slope of a small step."""
    fun, operands = case.moved(dtype)
    assert_jvp(fun, operands, case, ulp=case.budget(dtype))


def check_adjoint(case: Case, dtype: Any = "float64") -> None:
    """Raise AssertionError unless the case's cotangents are the adjoint of its tangents."""
    fun, operands = case.moved(dtype)
    assert_adjoint(fun, operands, case)


def check_second(case: Case, dtype: Any = "float64") -> None:
    """Raise AssertionError unless the derivative of the case's derivative is right.

    In reverse mode first (in forward mode, where there is no other), then in both modes.
    """
    fun, operands = case.moved(dtype)
    if case.reverse:
        assert_second(fun, operands, case)
    else:
        along = directions(operands)
        assert_jvp(lambda *xs: jvp(fun, xs, tuple(along))[1], operands, case, ulp=1000)


def directions(operands: Sequence[NDArray], seed: int = 40) -> list[NDArray]:
    """A random direction for each operand, normally distributed."""
    return [normal(x.shape, x.dtype, seed + i) for i, x in enumerate(operands)]


def assert_jvp(
    fun: Callable[..., Any], operands: Sequence[NDArray], what: object = "", *, ulp: float = 0.0
) -> None:
    """Raise AssertionError unless the tangent is the central difference along a random direction.

    Operands are float64 or complex128.  Half the digits are lost to the step.  The value beside the
    tangent may be `ulp` off the function's, by the precision of the largest element.

    >>> from hloom import testing
    >>> testing.assert_jvp(lambda x: jnp.sin(x).sum(), [np.ones(3)])
    """
    along = directions(operands)
    with enable_x64():
        outs, tangents = jvp(fun, tuple(operands), tuple(along))
        for i, (out, value) in enumerate(zip(listed(outs), listed(fun(*operands)), strict=True)):
            assert_close(out, value, ulp, f"{what}, result {i} beside its tangent")
        ahead = listed(fun(*[x + STEP * t for x, t in zip(operands, along)]))
        behind = listed(fun(*[x - STEP * t for x, t in zip(operands, along)]))
        found = zip(listed(outs), listed(tangents), ahead, behind, strict=True)
    for i, (out, tangent, a, b) in enumerate(found):
        if not moves(out):
            continue
        finite = np.isfinite(out)  # a fill of NaN and the largest of nothing do not
        slope = np.subtract(a, b, out=np.zeros_like(a), where=finite) / (2 * STEP)
        rounding = 1e-8 * np.abs(out[finite]).max(initial=0)
        bad = np.abs(tangent - slope) > 2e-7 * (1 + np.abs(slope)) + rounding
        assert not bad.any(), f"{what}, tangent {i}:\n{tangent}\nthe slope is\n{slope}"


def assert_adjoint(fun: Callable[..., Any], operands: Sequence[NDArray], what: object = "") -> None:
    """Raise AssertionError unless `<ct, J t> = <J^T ct, t>` for random tangents and cotangents.

    The product is `Re sum(ct * t)`, over the results that have tangents.

    >>> from hloom import testing
    >>> testing.assert_adjoint(lambda x: x @ x, [np.ones((2, 2))])
    """
    along = directions(operands)
    with enable_x64():
        outs, tangents = jvp(fun, tuple(operands), tuple(along))
        _, pull = vjp(fun, *operands)
        cts = _cotangents(outs)
        pulled = listed(pull(type(outs)(cts) if isinstance(outs, (list, tuple)) else cts[0]))
        there, _ = _paired(cts, listed(tangents))
        back, terms = _paired(pulled, along)
    assert abs(there - back) <= 1e-10 * max(1.0, terms), f"{what}: {there} != {back}"


def _cotangents(outs: Any) -> list[NDArray]:
    return [
        normal(x.shape, x.dtype, 70 + i) if moves(x) else float0.zeros(x.shape)
        for i, x in enumerate(listed(outs))
    ]


def _paired(cts: Sequence[Any], tangents: Sequence[Any]) -> tuple[float, float]:
    """`Re sum(ct * t)` over all pairs that have tangents, and the size of its terms."""
    pairs = [(c, t) for c, t in zip(cts, tangents) if moves(t)]
    products = [np.multiply(c, t) for c, t in pairs]
    total = float(sum(np.real(product).sum() for product in products))
    return total, float(sum(np.abs(product).sum() for product in products))


def assert_second(fun: Callable[..., Any], operands: Sequence[NDArray], what: object = "") -> None:
    """Raise AssertionError unless the derivatives of the derivative are right.

    The cotangents of a fixed cotangent are a function of the operands: its tangents are compared
    with its own differences, and its cotangents with its tangents.

    >>> from hloom import testing
    >>> testing.assert_second(lambda x: jnp.sin(x) * x, [np.ones(3)])
    """

    def gradient(*xs: Any) -> Any:
        outs, pull = vjp(fun, *xs)
        with_types = [np.empty(x.shape, x.dtype) for x in _leaves(outs)]
        cts = _cotangents(with_types)
        return pull(type(outs)(cts) if isinstance(outs, (list, tuple)) else cts[0])

    assert_jvp(gradient, operands, f"{what}, derivative of the derivative", ulp=1000)
    assert_adjoint(gradient, operands, f"{what}, derivative of the derivative")


def _leaves(outs: Any) -> list[Any]:
    return list(outs) if isinstance(outs, (list, tuple)) else [outs]


# ---- batches ---------------------------------------------------------------------------------
def check_batch(case: Case, dtype: Any = None, engine: str | None = None) -> None:
    """Raise AssertionError unless vmap of the case gives what a loop over examples gives.

    An elementwise case is batched by NumPy, where it is the same to the bit: there scalar and
    vector code round alike.  Others run on XLA with all operands batched in front; NumPy, which
    compiles nothing, tries the other layouts.
    """
    if dtype is None:
        single = "float32" in case.dtypes and not case.elementwise
        dtype = "float32" if single else case.dtypes[-1]
    operands = case.draw(dtype, shape=(3,))
    ulp = 0.0 if case.elementwise else case.budget(dtype)
    layouts = _layouts([np.ndim(x) for x in operands])
    for axes in layouts:
        compiled = axes == layouts[0] and not case.elementwise
        runs = engine or ("xla" if compiled else "numpy")
        _assert_batched(case.fun, operands, axes, runs, ulp, case)


def assert_batch(
    fun: Callable[..., Any],
    operands: Sequence[NDArray],
    *,
    engine: str = "xla",
    ulp: float = 0.0,
    what: object = "",
) -> None:
    """Raise AssertionError unless vmap gives what a loop over three examples gives.

    Examples hold the operands' elements in other orders, so that indices stay indices.  Batch axes
    are tried in front, at the end, for one operand alone, and mixed; and each with no example.

    >>> from hloom import testing
    >>> testing.assert_batch(lambda x, y: x @ y, [np.ones((2, 3)), np.ones(3)])
    """
    for axes in _layouts([np.ndim(x) for x in operands]):
        _assert_batched(fun, operands, axes, engine, ulp, what)


def _assert_batched(
    fun: Callable[..., Any],
    operands: Sequence[NDArray],
    axes: tuple[int | None, ...],
    engine: str,
    ulp: float,
    what: object,
) -> None:
    """Raise AssertionError unless vmap with these batch axes gives what a loop gives."""
    examples = [_examples(x, i) for i, x in enumerate(operands)]
    stacked = [
        x if a is None else np.stack(each, a) for x, each, a in zip(operands, examples, axes)
    ]
    rows = [
        [x if a is None else each[i] for x, each, a in zip(operands, examples, axes)]
        for i in range(3)
    ]
    got = results(engine, vmap(fun, in_axes=axes), *stacked)
    want = [results(engine, fun, *row) for row in rows]
    for i, g in enumerate(got):
        looped = np.stack([made[i] for made in want])
        assert_close(g, looped, ulp, f"{what} batched at {axes}, result {i}")
    _assert_no_examples(fun, stacked, axes, got, engine, f"{what} batched at {axes}")


def _assert_no_examples(
    fun: Callable[..., Any], stacked: Sequence[NDArray], axes: Sequence[int | None],
    some: Sequence[NDArray], engine: str, what: str,
) -> None:  # fmt: skip
    """Raise AssertionError unless a batch of size 0 gives what `some` examples give, and none."""
    empty = [x if a is None else np.take(x, [], a) for x, a in zip(stacked, axes)]
    mapped = vmap(fun, in_axes=tuple(axes))
    if any(axes):  # run where all are batched in front; elsewhere the types tell
        with enable_x64():
            none = _leaves(eval_shape(mapped, *empty))
    else:
        none = results(engine, mapped, *empty)
    for i, (g, one) in enumerate(zip(none, some, strict=True)):
        assert g.shape == (0, *one.shape[1:]) and g.dtype == one.dtype, (
            f"{what}, of size 0, result {i} is {g.dtype}{g.shape}; with examples "
            f"{one.dtype}{one.shape}"
        )


def _examples(x: Any, seed: int) -> list[NDArray]:
    x = np.asarray(x)
    rng = np.random.default_rng(seed)
    return [rng.permutation(x.ravel()).reshape(x.shape) for _ in range(3)]


def _layouts(ndims: Sequence[int]) -> list[tuple[int | None, ...]]:
    """Batch axes to try, each once; None is shared by all examples."""
    tried: list[tuple[int | None, ...]] = [(0,) * len(ndims)]
    if any(ndims):
        tried.append(tuple(ndims))
    if len(ndims) == 1 and ndims[0] > 1:
        tried.append((1,))
    if len(ndims) > 1:
        for i, ndim in enumerate(ndims):
            tried.append(tuple(min(1, ndim) if i == j else None for j in range(len(ndims))))
        tried.append((0, *[None if i % 2 else n for i, n in enumerate(ndims[1:])]))
        tried.append((None, *[n if i % 2 else 0 for i, n in enumerate(ndims[1:])]))
    return list(dict.fromkeys(tried))
