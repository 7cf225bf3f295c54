"""How matrix functions are tried: random matrices, and what is asked of every function's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hloom

ENGINES = ("xla", "numpy")  # the interpreter has no custom calls
DTYPES = ("float32", "float64", "complex64", "complex128")
BATCHES = ((), (3,), (0,), (2, 1))

NDArray = np.ndarray[Any, Any]


# ---- matrices -----------------------------------------------------------------------------------
def drawn(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> NDArray:
    """Normally distributed numbers."""
    rng = np.random.default_rng((seed, *shape))
    made = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.normal(size=shape)
    return made.astype(dtype)


def adjoint(x: NDArray) -> NDArray:
    return np.conj(np.swapaxes(x, -1, -2))


def positive(x: NDArray) -> NDArray:
    """A well-conditioned positive definite matrix made of a square one."""
    made: NDArray = x @ adjoint(x) + np.eye(x.shape[-1], dtype=x.dtype)
    return made


def tolerance(dtype: Any) -> float:
    """A few hundred units of precision: the matrices here are small and not ill-conditioned."""
    return 500 * float(np.finfo(dtype).eps)


def assert_close(got: Any, want: Any, what: object = "") -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: {got.shape} and {want.shape}"
    if got.dtype.kind not in "fc":
        assert np.array_equal(got, want), f"{what}:\n{got}\n{want}"
        return
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    error = float(np.abs(got - want).max(initial=0))
    assert error <= tolerance(got.dtype) * scale, f"{what}: off by {error}\n{got}\n{want}"


def assert_unitary(q: NDArray, what: object = "") -> None:
    """Its columns are orthonormal."""
    eye = np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), (*q.shape[:-2], *[q.shape[-1]] * 2))
    assert_close(adjoint(q) @ q, eye, what)


# ---- running ------------------------------------------------------------------------------------
def listed(results: Any) -> list[NDArray]:
    return [np.asarray(x) for x in (results if isinstance(results, (list, tuple)) else [results])]


def evaluate(engine: str, fun: Callable[..., Any], *operands: Any, **params: Any) -> Any:
    """The results on one engine, 64-bit types on: an ndarray, or a list of them."""
    with hloom.engine(engine), hloom.enable_x64():
        results = fun(*operands, **params)
        made = listed(results)
    return made if isinstance(results, (list, tuple)) else made[0]


# ---- rules --------------------------------------------------------------------------------------
def check_rules(fun: Callable[..., Any], *operands: Any, second: bool = False) -> None:
    """jvp by finite differences, transpose by the adjoint identity, batch and jit by the value."""
    with hloom.enable_x64():
        directions = [drawn(x.shape, x.dtype.name, 40 + i) for i, x in enumerate(operands)]
        operands = tuple(map(hloom.numpy.asarray, operands))
        check_jvp(fun, operands, directions)
        check_adjoint(fun, operands, directions)
        check_batch(fun, operands, directions)
        if second:
            slopes = hloom.grad(lambda *xs: weighted_sum(fun(*xs)), tuple(range(len(operands))))
            check_jvp(slopes, operands, directions)


def check_jvp(fun: Callable[..., Any], operands: Any, directions: Any) -> None:
    """The tangents are central differences along a random direction."""
    step = 1e-6
    outs, tangents = hloom.jvp(fun, tuple(operands), tuple(directions))
    ahead = listed(fun(*[x + step * t for x, t in zip(operands, directions)]))
    behind = listed(fun(*[x - step * t for x, t in zip(operands, directions)]))
    for i, (out, tangent, a, b) in enumerate(zip(listed(outs), listed(tangents), ahead, behind)):
        if out.dtype.kind not in "fc":
            continue
        want = (a - b) / (2 * step)
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        error = float(np.abs(tangent - want).max(initial=0))
        assert error < 1e-7 * scale, f"tangent {i} is off by {error}:\n{tangent}\n{want}"


def paired(cts: Any, tangents: Any) -> tuple[float, float]:
    """`Re sum(ct * t)` over all results that have tangents, and the size of its terms."""
    pairs = [(ct, t) for ct, t in zip(cts, tangents) if t.dtype.kind in "fc"]
    products = [np.multiply(ct, t) for ct, t in pairs]
    total = float(sum(np.real(product).sum() for product in products))
    return total, float(sum(np.abs(product).sum() for product in products))


def check_adjoint(fun: Callable[..., Any], operands: Any, directions: Any) -> None:
    """<ct, J t> = <J^T ct, t>."""
    outs, tangents = hloom.jvp(fun, tuple(operands), tuple(directions))
    _, pull = hloom.vjp(fun, *operands)
    cts = [
        drawn(x.shape, x.dtype.name if x.dtype.kind in "fc" else "float32", 70 + i)
        for i, x in enumerate(listed(outs))
    ]
    several = isinstance(outs, (list, tuple))
    pulled = pull(type(outs)(cts) if several else cts[0])
    there, _ = paired(cts, listed(tangents))
    back, terms = paired(listed(pulled), directions)
    assert abs(there - back) <= 1e-10 * max(1.0, terms), f"{there} != {back}"


def check_batch(fun: Callable[..., Any], operands: Any, directions: Any) -> None:
    """vmap over the last axis, over one operand alone, and jit, give what a loop gives."""
    pairs = [(x, x + 0.25 * t) for x, t in zip(operands, directions)]
    stacked = [np.stack(pair, -1) for pair in pairs]
    want = [listed(hloom.jit(fun)(*[pair[i] for pair in pairs])) for i in range(2)]
    got = listed(hloom.vmap(fun, in_axes=-1)(*stacked))
    for i, out in enumerate(got):
        assert_close(out, np.stack([results[i] for results in want]), f"result {i}")
    for k in range(len(operands) if len(operands) > 1 else 0):
        axes = [0 if i == k else None for i in range(len(operands))]
        mixed = [np.stack(pairs[i]) if i == k else x for i, x in enumerate(operands)]
        alone = [pairs[k][1] if i == k else x for i, x in enumerate(operands)]
        for out, one in zip(listed(hloom.vmap(fun, in_axes=axes)(*mixed)), listed(fun(*alone))):
            assert_close(out[1], one, f"operand {k} batched")


def weighted_sum(results: Any) -> Any:
    """A smooth real number made of all results."""
    total: Any = 0.0
    for i, x in enumerate(results if isinstance(results, (list, tuple)) else [results]):
        weights = drawn(x.shape, "float64", 90 + i)
        total = total + (weights * hloom.numpy.abs(x) ** 2).sum()
    return total
