"""`ensure_compile_time_eval`: what is known is computed at once, what is traced goes its way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import ensure_compile_time_eval, grad, jit, jvp, lax, linearize, make_jaxpr, vjp, vmap

TABLE = np.arange(4, dtype="f")


def mixed(x: Any) -> Any:
    """10 x + 6 sin(x), with a number that is known while it is traced."""
    with ensure_compile_time_eval():
        known = jnp.sum(jnp.arange(4.0))
        assert isinstance(float(known), float)
        if known > 5:  # a Python decision
            known = known + jnp.sort(jnp.asarray(TABLE))[-1] - 3
        y = known * jnp.sin(x)
        return jnp.where(known > 100, x, y) + x * jnp.dot(jnp.ones(2), 5 * jnp.ones(2))


def test_under_every_transformation() -> None:
    x, rows = 2.0, jnp.array([1.0, 2.0])
    want, slope = 10 * x + 6 * np.sin(x), 10 + 6 * np.cos(x)
    close = lambda got, want: np.testing.assert_allclose(got, want, rtol=1e-6)  # noqa: E731
    for f in (mixed, jit(mixed), lambda x: vmap(mixed)(jnp.array([x]))[0]):
        close(f(x), want)
        close(jit(f)(x), want)
        close(grad(f)(x), slope)
        close(jit(grad(f))(x), slope)
        close(jvp(f, (x,), (1.0,)), (want, slope))
        close(vjp(f, x)[1](1.0)[0], slope)
        close(linearize(f, x)[1](1.0), slope)
        close(vmap(f)(rows), 10 * rows + 6 * np.sin(rows))
        close(jit(vmap(grad(f)))(rows), 10 + 6 * np.cos(rows))
        close(grad(grad(f))(x), -6 * np.sin(x))
    close(lax.map(mixed, rows), 10 * rows + 6 * np.sin(rows))
    close(lax.scan(lambda c, x: (c, mixed(x)), 0.0, rows)[1], 10 * rows + 6 * np.sin(rows))
    close(lax.cond(True, mixed, lambda x: x, x), want)


def test_nothing_known_is_recorded() -> None:
    def doubled(x: Any) -> Any:
        with ensure_compile_time_eval():
            scale = jnp.exp(jnp.zeros(())) + jnp.ones(())
            return x * scale

    assert "exp" not in str(make_jaxpr(doubled)(1.0))
    assert len(make_jaxpr(doubled)(1.0).eqns) == 1
    with ensure_compile_time_eval():  # where nothing is traced it changes nothing
        assert float(doubled(3.0)) == 6.0


def test_transformations_inside() -> None:
    def f(x: Any) -> Any:
        with ensure_compile_time_eval():
            known = grad(jit(lambda t: t**3))(2.0)
            table = vmap(lambda t: t * 2)(jnp.arange(3))
            total = lax.fori_loop(0, int(table[1]), lambda i, c: c + known, 0.0)
            assert float(total) == 24.0
            assert len(jnp.nonzero(table)[0]) == 2  # of a shape that depends on values
            slope = grad(lambda t: t * x * total)(1.0)
            return slope + jit(lambda t: t + x)(1.0)

    for g in (f, jit(f), lambda x: grad(lambda y: f(y) ** 2 / 2)(x) / 25):
        assert float(g(2.0)) == pytest.approx(51.0, rel=1e-6)


def test_a_leak_is_still_a_leak() -> None:
    leaked = []
    jit(lambda x: leaked.append(x))(1.0)
    with pytest.raises(hloom.errors.UnexpectedTracerError):
        with ensure_compile_time_eval():
            leaked[0] + 1

    def f(x: Any) -> Any:
        with ensure_compile_time_eval():
            return leaked[0] + x

    with pytest.raises(hloom.errors.UnexpectedTracerError):
        jit(f)(2.0)


def test_a_traced_value_is_still_no_python_number() -> None:
    def f(x: Any) -> Any:
        with ensure_compile_time_eval():
            return int(x)

    with pytest.raises(hloom.errors.ConcretizationTypeError):
        jit(f)(2)
    assert float(grad(lambda x: x * int(f(x)))(2.0)) == 2.0  # grad knows it
