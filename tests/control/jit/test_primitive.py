"""The rules of the primitive `jit` give what the function inside gives without it."""

from __future__ import annotations

from typing import Any

import numpy as np

import hloom
import hloom.numpy as jnp
from hloom import lax

W = jnp.arange(6.0).reshape(2, 3) / 7
X, Y = jnp.arange(1.0, 10).reshape(3, 3), jnp.arange(-4.0, 5).reshape(3, 3)

FUNCTIONS: dict[str, Any] = {
    "products": lambda x, y: (x * y, jnp.sum(x), y),
    "an integer and a constant": lambda x, y: (jnp.argmax(x), x + 1, lax.stop_gradient(y)),
    "a captured array": lambda x, y: (jnp.sin(x) * W.sum(), y**2),
    "operands as results": lambda x, y: (x, x, y),
    "nothing that depends on its operands": lambda x, y: (jnp.zeros(3), lax.stop_gradient(x)),
    "no result": lambda x, y: (),
}


def agree(name: str, got: Any, wanted: Any) -> None:
    assert hloom.tree.structure(got) == hloom.tree.structure(wanted), name
    for x, y in zip(hloom.tree.leaves(got), hloom.tree.leaves(wanted)):
        if np.asarray(y).dtype.kind == "V":  # the tangent of an integer
            assert np.asarray(x).dtype == np.asarray(y).dtype, name
            continue
        assert x.aval == jnp.asarray(y).aval, name
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6, err_msg=name)


def total(function: Any) -> Any:
    """The sum of all results that have a derivative."""
    return lambda x, y: sum(
        [jnp.sum(out) for out in function(x, y) if out.dtype.kind == "f"], jnp.float32(0)
    )


def test_jvp_vmap_grad_and_linearize_see_through_jit() -> None:
    for name, function in FUNCTIONS.items():
        jitted = hloom.jit(function)
        for axes in [(0, 0), (1, None), (-1, 1), (None, 0)]:
            agree(name, hloom.vmap(jitted, axes)(X, Y), hloom.vmap(function, axes)(X, Y))
        agree(name, hloom.jvp(jitted, (X, Y), (Y, X)), hloom.jvp(function, (X, Y), (Y, X)))
        grads = [hloom.grad(total(f), (0, 1)) for f in (jitted, function)]
        agree(name, grads[0](X, Y), grads[1](X, Y))
        agree(name, hloom.vmap(grads[0], 1)(X, Y), hloom.vmap(grads[1], 1)(X, Y))
        maps = [hloom.linearize(f, X, Y) for f in (jitted, function)]
        agree(name, maps[0][1](Y, X), maps[1][1](Y, X))


def test_a_part_that_gives_no_result_is_not_recorded() -> None:
    jitted = hloom.jit(lambda x: (lax.stop_gradient(x), jnp.zeros(3)))
    _, derivative = hloom.linearize(jitted, jnp.ones(3))
    assert derivative.linearized.linear.jaxpr.equations == []
