"""One claim for each part, from bytes to gradients.  When something is broken, look here first.

The order is that of the layers, so the first failure names the part to look at.
"""

from __future__ import annotations

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax

ENGINES = ["xla", "numpy", "reference"]


def f(x):
    return jnp.sin(x) * x


def test_an_array_holds_what_it_was_given():
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(np.asarray(jnp.asarray(given)), given)


def test_an_array_prints_as_in_the_tour():
    assert repr(jnp.add(1, 1.0)) == "Array(2., dtype=float32, weak_type=True)"


def test_lax_does_not_promote():
    with pytest.raises(TypeError, match="hloom.numpy.add"):
        lax.add(jnp.int32(1), jnp.float32(1))


def test_a_function_becomes_a_typed_program():
    words = str(hloom.make_jaxpr(f)(jnp.ones(3))).split()
    assert words == "{ lambda ; a:f32[3]. let b:f32[3] = sin a c:f32[3] = mul b a in (c,) }".split()


def test_a_typed_program_becomes_stablehlo():
    text = hloom.jit(f).lower(jnp.ones(3)).as_text()
    assert "stablehlo.multiply" in text and "tensor<3xf32>" in text


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_agrees_with_numpy(engine):
    x = np.linspace(-2, 2, 7, dtype=np.float32)
    with hloom.engine(engine):
        y = np.asarray(hloom.jit(f)(x))
    np.testing.assert_allclose(y, np.sin(x) * x, rtol=1e-6)  # sin differs in the last digit


def test_jit_traces_once_for_each_signature():
    calls = []
    traced = hloom.jit(lambda x: calls.append(x.shape) or x + 1)
    assert traced(jnp.ones(2)).tolist() == traced(jnp.ones(2)).tolist() == [2, 2]
    traced(jnp.ones(3))
    assert calls == [(2,), (3,)]


def test_a_gradient_is_the_derivative():
    slope = float(hloom.grad(f)(0.5))
    assert slope == pytest.approx(np.cos(0.5) * 0.5 + np.sin(0.5), rel=1e-6)


def test_a_gradient_follows_python_control_flow():
    assert float(hloom.grad(lambda x: x * x if x > 0 else -x)(3.0)) == 6


def test_vmap_is_a_loop():
    x = jnp.arange(6.0).reshape(2, 3)
    rows = hloom.vmap(lambda row: jnp.sum(row) * row)(x)
    assert rows.tolist() == [[0, 3, 6], [36, 48, 60]]


def test_transforms_nest():
    second = hloom.jit(hloom.vmap(hloom.grad(hloom.jit(hloom.grad(lambda x: x**3)))))
    assert second(jnp.arange(3.0)).tolist() == [0, 6, 12]


def test_reading_and_updating_by_index():
    x = jnp.arange(5)
    assert x[-2:].tolist() == [3, 4] and x[x > 2].tolist() == [3, 4]
    assert x.at[[0, 1]].set(9).tolist() == [9, 9, 2, 3, 4]


def test_an_array_is_immutable():
    x = jnp.arange(3)
    with pytest.raises(TypeError, match=r"x = x\.at\[0\]\.set\(10\)"):
        x[0] = 10


def test_a_traced_value_has_no_truth():
    with pytest.raises(hloom.errors.TracerBoolConversionError, match="static_argnums"):
        hloom.jit(lambda x: 1 if x else 0)(True)
