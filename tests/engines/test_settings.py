"""One call, one answer: what a program is compiled with, and that nothing else matters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.engines import buffers, jaxlib_compat
from hloom.engines.settings import SETTINGS, setting
from hloom.stablehlo import lower
from tests.engines.programs import python

X = np.linspace(-3, 3, 96, dtype="f4").reshape(8, 12)
X[0, :5] = [0, -0.0, np.inf, np.nan, 1e-40]


def places(x: Any) -> Any:
    return x[:3, 6].astype("i4") % 8


# Programs of which each operation gives the same bits however it is compiled.
SURE: dict[str, Callable[..., Any]] = {
    "add": lambda x: x + x[::-1],
    "subtract and scale": lambda x: (x - 1) / 3,
    "product": lambda x: x * x[0] * 2.5,
    "root": lambda x: lax.sqrt(lax.abs(x)),
    "rounding": lambda x: lax.floor(x) + lax.ceil(x) + lax.round(x),
    "comparison": lambda x: (x > 0.5) & (x != x.T.reshape(x.shape)),
    "choice": lambda x: lax.select(x[::-1].astype("i4") > 0, x, lax.neg(x)),
    "extremes": lambda x: lax.max(lax.min(x.astype("i4"), 2), x[::-1].astype("i4")),
    "sort": lambda x: jnp.sort(x, axis=1),
    "argsort": lambda x: jnp.argsort(x, axis=0),
    "moves": lambda x: jnp.concatenate([jnp.pad(x, 1)[:8, :12].T, x.reshape(12, 8)], 1),
    "take": lambda x: x[places(x)],
    "update": lambda x: x.at[places(x), 2].set(7.0),
    "conversion": lambda x: x.astype("i4") + x.astype("f2").astype("i4"),
    "narrow": lambda x: x.astype("bfloat16") + x.astype("bfloat16")[0],
    "integers": lambda x: x.astype("i4") * 3 + (x.astype("i4") << 2) % 7,
    "complex parts": lambda x: lax.complex(x, -x),
}
# Elementary functions, whose bits must not depend on the size: never "small".
FUSED = [
    jnp.sin, jnp.exp, jnp.tanh, jnp.log2, jnp.cbrt, lax.erf, lambda x: x * x + 1, jnp.hypot,
    lambda x: lax.max(x, -x), lambda x: lax.select(x > 0, x, -x), lambda x: jnp.clip(x, 0, 1),
]  # fmt: skip


def program(f: Callable[..., Any], *xs: Any) -> tuple[str, int, Any]:
    """Its text, the bytes it moves and its Jaxpr."""
    jaxpr = hloom.make_jaxpr(f)(*xs).jaxpr
    avals = (*jaxpr.in_avals, *jaxpr.out_avals)
    text = lower(jaxpr, locations=False).text(locations=False)
    return text, sum(aval.size * aval.dtype.itemsize for aval in avals), jaxpr


@pytest.mark.parametrize("name", SURE)
def test_a_sure_program_gives_the_same_bits_with_every_setting(name: str) -> None:
    text, moved, jaxpr = program(SURE[name], X)
    assert setting(text, moved) == "small"
    given = [buffers.put(X, jaxpr.in_avals[0])]
    handlers = [jaxlib_compat.result_handler(aval) for aval in jaxpr.out_avals]
    found = set()
    for overrides in SETTINGS.values():
        loaded = jaxlib_compat.compile_text(text, jaxlib_compat.compile_options(overrides))
        (result,) = loaded.execute_sharded(given).consume_with_handlers(handlers)
        value = buffers.get(result, jaxpr.out_avals[0])
        found.add(np.where(value != value, 0, value).tobytes())  # a NaN has a sign, too
    assert len(found) == 1


@pytest.mark.parametrize("f", FUSED)
def test_an_elementary_function_is_never_small(f: Callable[..., Any]) -> None:
    for size in (1, 10, 100_000):
        xs = [np.ones(size, "f4")] * (2 if f is jnp.hypot else 1)
        text, moved, _ = program(f, *xs)
        assert setting(text, moved) == "fast"


def test_sums_of_few_are_small_and_scatters_of_many_are_not_fast() -> None:
    assert setting(*program(jnp.var, X)[:2]) == "small"
    assert setting(*program(jnp.var, np.ones(5000, "f4"))[:2]) == "fast"
    update = lambda x: x.at[np.arange(3000)].add(1.0)  # noqa: E731
    assert setting(*program(update, np.ones(5000, "f4"))[:2]) == "default"


# ---- the same bits, whenever and wherever ------------------------------------------------------
CALLS = """
import hashlib, time
import numpy as np
import hloom, hloom.numpy as jnp
from hloom import lax
from hloom.engines import ENGINES

draw = np.random.default_rng(0)
calls = [
    jnp.sum, jnp.mean, jnp.var, jnp.std, jnp.sin, jnp.exp, jnp.tanh, jnp.log2, jnp.cbrt, jnp.max,
    jnp.cumsum, jnp.median, jnp.sort, jnp.linalg.norm, jnp.trapezoid, jnp.diff, lax.erf_inv,
    jnp.square, jnp.reciprocal, jnp.arctan, lambda x: jnp.sum(x, 1), lambda x: jnp.var(x, 0),
    lambda x: jnp.average(x, weights=x), lambda x: jnp.einsum("ij,ij->i", x, x), jnp.corrcoef,
    lambda x: jnp.linspace(x[0], x[1], 9), lambda x: x @ x.T, lambda x: jnp.exp(1j * x) * x,
    lambda x: jnp.power(jnp.abs(x), 1.7), lambda x: x.at[0].add(x[1]), jnp.convolve,
]
digest = hashlib.sha256()
for shape in ((3, 7), (40, 70), (200, 500)):
    x = jnp.asarray(draw.normal(size=shape).astype("f"))
    for f in calls:
        if f is jnp.convolve:
            f = lambda x: jnp.convolve(x[0], x[1])
        first = np.asarray(f(x)).tobytes()
        digest.update(first)
        assert all(np.asarray(f(x)).tobytes() == first for _ in range(3)), f
    ENGINES["xla"].worker.end()
    for f in calls[:10]:
        digest.update(np.asarray(f(x)).tobytes())
print(digest.hexdigest())
"""


def test_the_same_calls_give_the_same_bits_in_every_process(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    cold, warm = (python(CALLS, HLOOM_CACHE_DIR=str(folder)).stdout for _ in range(2))
    assert cold == warm
    assert any(folder.rglob("*"))
