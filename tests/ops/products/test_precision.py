"""Precisions and dot algorithms: what is rounded, in what products are summed, what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import dtypes, lax, testing
from hloom.lax import DotAlgorithm, DotAlgorithmPreset, Precision
from hloom.testing.cases.products import dot_by

PRESETS = [p for p in DotAlgorithmPreset if "F8" not in p.name]
# The float that operands are rounded to; the others keep all their digits.
ROUNDED = {
    "F16_F16_F16": np.float16, "F16_F16_F32": np.float16, "BF16_BF16_BF16": ml_dtypes.bfloat16,
    "BF16_BF16_F32": ml_dtypes.bfloat16, "TF32_TF32_F32": "tf32",
}  # fmt: skip


def _rounded(x: Any, name: str) -> Any:
    """Operands of an algorithm, as f64: TF32's digits are float16's, for numbers near 1."""
    to = ROUNDED.get(name)
    if to is None:
        return x.astype(np.float64)
    return x.astype(np.float16 if to == "tf32" else to).astype(np.float64)


@pytest.mark.parametrize("preset", PRESETS, ids=str)
@pytest.mark.parametrize("engine", testing.ENGINES)
def test_operands_are_rounded_to_the_type_of_the_algorithm(preset: Any, engine: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.5, 2, shape).astype("float32") for shape in ((5, 30), (30, 4)))
    want = _rounded(x, preset.name) @ _rounded(y, preset.name)
    (got,) = testing.results(engine, dot_by(preset), x, y)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, rtol=3e-7)
    (by_name,) = testing.results(engine, dot_by(preset.name), x, y)
    np.testing.assert_array_equal(by_name, got)


@pytest.mark.parametrize("engine", testing.ENGINES)
def test_f64_sums_what_f32_loses(engine: str) -> None:
    x = np.array([1e8, 1, -1e8], np.float32)
    ones = np.ones(3, np.float32)
    for x64 in (False, True):
        with hloom.engine(engine), hloom.enable_x64(x64):
            got = lax.dot(x, ones, precision="F64_F64_F64")
        assert got.dtype == np.float32 and float(got) == 1


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("preset", [p for p in DotAlgorithmPreset if "F8" in p.name], ids=str)
def test_eight_bit_floats_are_taken_as_they_are(preset: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.5, 2, s).astype(dtypes.as_dtype(dtype)) for s in ((5, 9), (9, 4)))
    want = x.astype("float64") @ y.astype("float64")
    for engine in testing.ENGINES:
        run = dot_by(preset, preferred_element_type="float32")
        (got,) = testing.results(engine, run, x, y)
        np.testing.assert_allclose(got, want, rtol=1e-6)
    slope = hloom.grad(lambda x: lax.reduce_sum(run(x, y), (0, 1)))(jnp.asarray(x))
    assert slope.dtype == x.dtype


def test_derivatives_multiply_by_the_same_algorithm() -> None:
    x, y = jnp.ones((2, 3)), jnp.ones((3, 4))
    grad = hloom.grad(lambda x: jnp.sum(lax.dot(x, y, precision="TF32_TF32_F32")))
    assert str(hloom.make_jaxpr(grad)(x)).count("precision=TF32_TF32_F32") == 2
    mixed = DotAlgorithm("bfloat16", "float32", "float32")
    grad = hloom.grad(lambda x: jnp.sum(lax.dot(x, y, precision=mixed)))
    text = str(hloom.make_jaxpr(grad)(x))  # the derivative's product has no algorithm
    assert (text.count("dot_general["), text.count("precision=")) == (2, 1)


def test_matmul_takes_algorithms() -> None:
    x = jnp.full((2, 2), 1.0001)
    assert jnp.matmul(x, x, precision="BF16_BF16_F32")[0, 0] == 2


def test_presets_print_as_their_names_and_travel() -> None:
    preset = DotAlgorithmPreset.F16_F16_F32
    assert str(preset) == "F16_F16_F32" and repr(preset) == "DotAlgorithmPreset.F16_F16_F32"
    assert pickle.loads(pickle.dumps(preset)) is preset
    assert str(Precision.HIGH) == "Precision.HIGH"
    given = DotAlgorithm("float32", np.float32, jnp.float32)
    assert given[3:] == (1, 1, 1, False)


X, Y = jnp.ones((2, 3)), jnp.ones((3, 2))


@pytest.mark.parametrize(
    ("precision", "error", "words"),
    [
        ("f32_f32_f32", ValueError, "precision is one of"),
        (("F32_F32_F32", "F32_F32_F32"), ValueError, "precision is one of"),
        (("high", "high", "high"), ValueError, "one for each operand"),
        (DotAlgorithm("text", "float32", "float32"), TypeError, "got 'text'"),
        (DotAlgorithm("float32", "float32", "complex64"), TypeError, "got 'complex64'"),
        (DotAlgorithm("float32", "float32", "tf32"), TypeError, "got 'tf32'"),
        (DotAlgorithm("float32", "float32", "float32", 0), ValueError, "positive integers"),
        (DotAlgorithm("int8", "int8", "int32"), TypeError, "int8_int8_int32 takes int8 operands"),
        (DotAlgorithm("float32", "float32", "int32"), TypeError, "float32_float32_int32"),
        ("ANY_F8_ANY_F8_F32", TypeError, "takes 8-bit float operands; got f32[2,3] and f32[3,2]"),
    ],
    ids=str,
)
def test_errors(precision: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        lax.dot(X, Y, precision=precision)
    assert words in str(raised.value)


@pytest.mark.parametrize("dtype", ["int32", "complex64", "bool"])
def test_algorithms_of_floats_refuse_other_operands(dtype: str) -> None:
    with pytest.raises(TypeError) as raised:
        lax.dot(X.astype(dtype), Y.astype(dtype), precision="F32_F32_F32")
    assert "F32_F32_F32 takes float operands" in str(raised.value)


def test_a_convolution_has_no_algorithms() -> None:
    with pytest.raises(ValueError, match="takes a lax.Precision; F32_F32_F32"):
        lax.conv(jnp.ones((1, 1, 4)), jnp.ones((1, 1, 2)), (1,), "VALID", "F32_F32_F32")
    assert lax.conv(jnp.ones((1, 1, 4)), jnp.ones((1, 1, 2)), (1,), "VALID", "DEFAULT").size == 3
