"""Options: read, set for the process, set for a block; per thread; checked."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.config import options
from hloom.core.context import current


def test_an_option_is_read_as_an_attribute_and_set_for_a_block():
    assert hloom.config.enable_x64 is False
    with hloom.enable_x64():
        assert hloom.config.enable_x64 is True
        with hloom.enable_x64(False):
            assert hloom.config.enable_x64 is False
        assert hloom.config.jax_enable_x64 is True
    assert hloom.config.enable_x64 is False


def test_update_sets_the_process_and_other_threads_see_it():
    seen = []
    hloom.config.update("jax_enable_x64", True)
    try:
        thread = threading.Thread(
            target=lambda: seen.append((hloom.config.enable_x64, jnp.arange(2).dtype))
        )
        thread.start()
        thread.join()
        assert jnp.zeros(1).dtype == np.float64
    finally:
        hloom.config.update("enable_x64", False)
    assert seen == [(True, np.int64)]
    assert jnp.zeros(1).dtype == np.float32


def test_a_block_is_not_seen_by_other_threads():
    seen = []
    with hloom.enable_x64():
        thread = threading.Thread(target=lambda: seen.append(hloom.config.enable_x64))
        thread.start()
        thread.join()
    assert seen == [False]


def test_an_exception_leaves_the_block():
    with pytest.raises(KeyError), hloom.enable_x64():
        raise KeyError
    assert not hloom.config.enable_x64


def test_equal_configurations_are_one_object():
    with options(enable_x64=True, exact=True):
        one = current.get().config
    with options(exact=True), options(enable_x64=True):
        assert current.get().config is one


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("nonsense", 1, AttributeError),
        ("enable_x64", "yes", TypeError),
        ("engine", "cuda", ValueError),
        ("numpy_dtype_promotion", "loose", ValueError),
    ],
)
def test_unknown_options_and_values_are_refused(name, value, error):
    with pytest.raises(error, match=name):
        hloom.config.update(name, value)
    with pytest.raises(error, match=name), options(**{name: value}):
        pass


def test_options_come_from_the_environment():
    code = "import hloom, hloom.numpy as jnp; print(jnp.zeros(1).dtype, hloom.config.engine)"
    env = {
        "HLOOM_ENABLE_X64": "1",
        "HLOOM_ENGINE": "numpy",
        "PYTHONPATH": ":".join(p for p in sys.path if p),
    }
    out = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert out.stdout.split() == ["float64", "numpy"]


def test_exact_rounding_equals_numpy_operation_by_operation():
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(1000).astype(np.float32) for _ in range(3))
    with hloom.exact():
        np.testing.assert_array_equal(hloom.jit(lambda a, b, c: a * b + c)(a, b, c), a * b + c)


def test_a_tour_of_engines_gives_equal_results():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    want = np.asarray(jnp.sin(x).sum(0) * 2)
    for name in ("numpy", "reference"):
        with hloom.engine(name):
            np.testing.assert_allclose(jnp.sin(x).sum(0) * 2, want, rtol=1e-6)
