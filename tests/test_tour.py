"""The tour: every row of what the seed shows, as a claim.  `make demo` runs it as a program."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import hloom as jax
import hloom.numpy as jnp
from hloom import jit, lax, make_jaxpr
from hloom.errors import NonConcreteBooleanIndexError, TracerBoolConversionError


def printed(f, *args):
    """What a call prints, as lines."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        f(*args)
    return out.getvalue().splitlines()


def test_01_numpy_code_runs_and_plots():
    x = jnp.linspace(0, 10, 1000)
    y = 2 * jnp.sin(x) * jnp.cos(x)
    x_np = np.linspace(0, 10, 1000)
    np.testing.assert_allclose(x, x_np, rtol=2e-7)
    np.testing.assert_allclose(y, 2 * np.sin(x_np) * np.cos(x_np), atol=1e-6)
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the picture needs matplotlib")
    figure = pyplot.figure()
    (line,) = figure.add_subplot().plot(x, y)
    np.testing.assert_array_equal(line.get_ydata(), np.asarray(y))
    pyplot.close(figure)


def test_02_arrays_are_our_own_type():
    assert type(jnp.linspace(0, 10, 1000)) is jax.Array


def test_03_arrays_are_immutable_and_say_what_to_write_instead():
    x = jnp.arange(10)
    with pytest.raises(TypeError, match=r"x = x\.at\[0\]\.set\(10\)") as caught:
        x[0] = 10
    assert "immutable" in str(caught.value) and "another .at[] method" in str(caught.value)
    i = 3
    with pytest.raises(TypeError, match=r"x = x\.at\[i, None\]\.set"):
        x[i, None] = x


def test_04_at_returns_a_changed_copy():
    x = jnp.arange(10)
    y = x.at[0].set(10)
    assert str(x) == "[0 1 2 3 4 5 6 7 8 9]"
    assert str(y) == "[10  1  2  3  4  5  6  7  8  9]"


def test_05_numpy_promotes():
    assert repr(jnp.add(1, 1.0)) == "Array(2., dtype=float32, weak_type=True)"


def test_06_lax_does_not():
    with pytest.raises(TypeError) as caught:
        lax.add(1, 1.0)
    text = str(caught.value)
    assert "i32[]" in text and "f32[]" in text and "hloom.numpy.add" in text
    assert len(text) < 400 and "stablehlo" not in text


def test_07_lax_takes_numbers_beside_arrays():
    assert repr(lax.add(jnp.float32(1), 1.0)) == "Array(2., dtype=float32)"


CONVOLVED = "Array([1., 3., 4., 4., 4., 4., 4., 4., 4., 4., 3., 1.], dtype=float32)"


def test_08_convolve():
    assert repr(jnp.convolve(jnp.array([1, 2, 1]), jnp.ones(10))) == CONVOLVED


def test_09_the_same_by_conv_general_dilated():
    x, y = jnp.array([1, 2, 1]), jnp.ones(10)
    result = lax.conv_general_dilated(
        x.reshape(1, 1, 3).astype(float),
        y.reshape(1, 1, 10),
        window_strides=(1,),
        padding=[(len(y) - 1, len(y) - 1)],
    )
    assert repr(result[0, 0]) == CONVOLVED


def norm(X):
    X = X - X.mean(0)
    return X / X.std(0)


def test_10_a_jitted_norm_is_equal():
    rng = np.random.RandomState(1701)
    X = jnp.array(rng.rand(10000, 10))
    compiled = jit(norm)
    assert np.allclose(norm(X), compiled(X), atol=1e-6)


def get_negatives(x):
    return x[x < 0]


def test_11_a_boolean_mask_outside_jit():
    x = np.random.RandomState(0).randn(10).astype(np.float32)
    np.testing.assert_array_equal(get_negatives(jnp.array(x)), x[x < 0])


def test_12_a_boolean_mask_inside_jit_is_told_how_to_be_rewritten():
    with pytest.raises(NonConcreteBooleanIndexError) as caught:
        jit(get_negatives)(jnp.arange(10.0))
    text = str(caught.value)
    assert "bool[10]" in text and "jnp.where(x < 0, x, 0)" in text
    assert f"{__file__}:{get_negatives.__code__.co_firstlineno + 1}" in text


def test_13_prints_run_once_per_signature_and_show_tracers():
    @jit
    def f(x, y):
        print("Running f():")
        print(f"  x = {x}")
        print(f"  y = {y}")
        result = jnp.dot(x + 1, y + 1)
        print(f"  result = {result}")
        return result

    rng = np.random.RandomState(0)
    x, y = rng.randn(3, 4), rng.randn(4)
    lines = printed(f, x, y)
    assert lines[0] == "Running f():"
    assert "ShapedArray(float32[3,4])" in lines[1]
    assert "ShapedArray(float32[4])" in lines[2]
    assert "ShapedArray(float32[3])" in lines[3]
    assert printed(f, rng.randn(3, 4), rng.randn(4)) == []
    np.testing.assert_allclose(f(x, y), np.dot(x + 1, y + 1), rtol=1e-5)


def test_14_a_jaxpr_prints_as_in_the_seed():
    x, y = np.zeros((3, 4)), np.zeros(4)
    assert str(make_jaxpr(lambda x, y: jnp.dot(x + 1, y + 1))(x, y)) == (
        "{ lambda ; a:f32[3,4] b:f32[4]. let\n"
        "    c:f32[3,4] = add a 1.0\n"
        "    d:f32[4] = add b 1.0\n"
        "    e:f32[3] = dot_general[\n"
        "      dimension_numbers=(([1], [0]), ([], []))\n"
        "      preferred_element_type=float32\n"
        "    ] c d\n"
        "  in (e,) }"
    )


def test_15_an_if_on_a_traced_argument_names_it_and_the_ways_out():
    @jit
    def f(x, neg):
        return -x if neg else x

    with pytest.raises(TracerBoolConversionError) as caught:
        f(1, True)
    text = str(caught.value)
    assert "bool[]" in text and "`neg`" in text and f"f at {__file__}:" in text
    for way in ("static_argnums=(1,)", "lax.cond", "jnp.where"):
        assert way in text


def test_16_a_static_argument_is_a_value():
    traces = []

    @partial(jit, static_argnums=(1,))
    def f(x, neg):
        traces.append(neg)
        return -x if neg else x

    assert repr(f(1, True)) == "Array(-1, dtype=int32, weak_type=True)"
    assert repr(f(1, False)) == "Array(1, dtype=int32, weak_type=True)"
    assert traces == [True, False]


def test_17_a_traced_shape_names_the_operation_that_made_it():
    @jit
    def f(x):
        return x.reshape(jnp.array(x.shape).prod())

    with pytest.raises(
        TypeError, match="[Ss]hapes must be 1D sequences of concrete values of integer type"
    ) as caught:
        f(jnp.ones((2, 3)))
    text = str(caught.value)
    assert f"from line {__file__}:" in text and "np.prod" in text and "operation" in text


def test_18_shapes_are_static_and_values_are_tracers():
    @jit
    def f(x):
        print(f"x = {x}")
        print(f"x.shape = {x.shape}")
        print(f"jnp.array(x.shape).prod() = {jnp.array(x.shape).prod()}")

    lines = printed(f, jnp.ones((2, 3)))
    assert "ShapedArray(float32[2,3])" in lines[0]
    assert lines[1] == "x.shape = (2, 3)"
    assert "ShapedArray(int32[])" in lines[2]


def test_19_numpy_computes_shapes():
    @jit
    def f(x):
        return x.reshape((np.prod(x.shape),))

    assert repr(f(jnp.ones((2, 3)))) == "Array([1., 1., 1., 1., 1., 1.], dtype=float32)"


def test_the_tour_does_not_import_jax():
    code = (
        "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__'); "
        "assert 'jax' not in sys.modules"
    )
    tour = __file__.replace("tests/test_tour.py", "docs/tour.py")
    done = subprocess.run(
        [sys.executable, "-c", code, tour], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "tour.png" in done.stdout


@pytest.mark.parametrize("columns", [60, 132])
def test_the_boxes_of_the_tour_are_as_wide_as_the_terminal(columns, tmp_path):
    tour = __file__.replace("tests/test_tour.py", "docs/tour.py")
    sources = __file__.replace("tests/test_tour.py", "src")
    terminal = {"COLUMNS": str(columns), "PYTHONIOENCODING": "utf-8", "PYTHONPATH": sources}
    done = subprocess.run(
        [sys.executable, tour],
        cwd=tmp_path,
        env=os.environ | terminal,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    boxes = [line for line in done.stdout.splitlines() if line[:1] in tuple("╭│╰")]
    assert boxes and {len(line) for line in boxes} == {columns}
    assert not [line for line in boxes if "…" in line], "a title that does not fit"
    assert (tmp_path / "build" / "tour.png").stat().st_size > 10_000
