"""What is written reads back as the same value: types, literals to the bit, symbols, locations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hloom import dtypes
from hloom.stablehlo import spelling
from tests.stablehlo.machine import aval, bits, program, run
from tests.stablehlo.verify import parse, verify

ROWS = {row.name: row for row in dtypes.TABLE}
# Narrower than a byte: jaxlib versions differ in how a result is packed, so these are converted.
READABLE = {"signed": np.dtype("int8"), "unsigned": np.dtype("uint8"), "float": np.dtype("float32")}
CORNERS = [
    0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e-7, 123456.789, 1e20, np.pi,
    np.inf, -np.inf, np.nan, -np.nan,
]  # fmt: skip


def any_bits(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Every pattern is as likely as any other: NaNs with payload, infinities, subnormals."""
    random = np.random.default_rng(7)
    size = int(np.prod(shape))
    if dtypes.kind(dtype) == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtypes.bits(dtype) < 8:
        raw = random.integers(0, 2 ** dtypes.bits(dtype), size).astype(np.uint8)
        if dtypes.kind(dtype) == "signed":
            return (
                (raw.astype(np.int8) - 2 ** (dtypes.bits(dtype) - 1)).astype(dtype).reshape(shape)
            )
        if dtypes.kind(dtype) == "unsigned":
            return raw.astype(dtype).reshape(shape)
        return raw.view(dtype).reshape(shape)
    return np.frombuffer(random.bytes(size * dtype.itemsize), dtype).reshape(shape)


def returned(values: np.ndarray) -> tuple[Any, np.ndarray]:
    """What a program that returns the constant returns, and what it should."""
    constant_type = out = aval(values.shape, values.dtype)
    narrow = 1 < dtypes.bits(values.dtype) < 8
    if narrow:
        out = aval(values.shape, READABLE[dtypes.kind(values.dtype)])
    text = str(program([], lambda b: b.convert(b.constant(values, constant_type), out.dtype)))
    verify(text)
    return run(text, [], [out])[0], values.astype(out.dtype) if narrow else values


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 3), (40,)], ids=str)
def test_a_constant_of_any_bits_comes_back_to_the_bit(name: str, shape: tuple[int, ...]) -> None:
    got, want = returned(any_bits(ROWS[name].dtype, shape))
    assert bits(got) == bits(want)


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row.kind in ("float", "complex")])
def test_a_constant_of_corner_values_comes_back_to_the_bit(name: str) -> None:
    values = np.array(CORNERS)
    if ROWS[name].kind == "complex":
        values = np.stack([values, values[::-1]], axis=1).view(np.complex128)[:, 0]
    with np.errstate(all="ignore"):
        values = values.astype(ROWS[name].dtype)
    got, want = returned(values)
    assert bits(got) == bits(want)


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row.bits in (8, 16)])
def test_every_pattern_of_a_narrow_dtype_is_written_out_exactly(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spelling, "LONGEST_LIST", 1 << 16)
    row = ROWS[name]
    patterns = np.arange(1 << row.bits, dtype=np.uint8 if row.bits == 8 else np.uint16)
    got, want = returned(patterns.view(row.dtype))
    assert bits(got) == bits(want)


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_decimals_are_exact_over_all_exponents(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "LONGEST_LIST", 1 << 16)
    got, want = returned(any_bits(np.dtype(name), (20_000,)))
    assert bits(got) == bits(want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_the_ends_of_an_integer_range_are_exact(dtype: str) -> None:
    info = np.iinfo(dtype)
    got, want = returned(np.array([info.min, info.max, 0, 1], dtype))
    assert bits(got) == bits(want)


@pytest.mark.parametrize(
    "values, text",
    [
        (np.float32(0.1), "dense<0.1>"),
        (np.float32(-0.0), "dense<-0.0>"),
        (np.float32(1e-45), "dense<1.0e-45>"),
        (np.float64(1e300), "dense<1.0e+300>"),
        (np.float16(65504), "dense<65504.0>"),
        (np.float32(np.inf), "dense<0x7F800000>"),
        (np.array(0xFFC0_0001, np.uint32).view(np.float32), "dense<0xFFC00001>"),
        (np.float64(-np.inf), "dense<0xFFF0000000000000>"),
        (np.complex64(complex(1, -0.0)), "dense<(1.0, -0.0)>"),
        (np.complex64(complex(0, np.nan)), "dense<(0.0, 0x7FC00000)>"),
        (np.True_, "dense<true>"),
        (np.array([True, False]), "dense<[true, false]>"),
        (np.int8(-128), "dense<-128>"),
        (np.array([[1, 2], [3, 4]]), "dense<[[1, 2], [3, 4]]>"),
        (np.ones((2, 3), np.float32), "dense<1.0>"),
        (np.array([0.0, -0.0], np.float32), "dense<[0.0, -0.0]>"),
        (np.zeros((0, 3), np.float32), "dense<>"),
        (np.arange(40, dtype=np.uint8), f'dense<"0x{bytes(range(40)).hex().upper()}">'),
    ],
    ids=str,
)  # fmt: skip
def test_literals_read_as_short_as_they_can(values: Any, text: str) -> None:
    assert spelling.dense(np.asarray(values)) == text


def test_types_of_every_dtype() -> None:
    assert spelling.tensor_type(aval((), "float32")) == "tensor<f32>"
    assert spelling.tensor_type(aval((2, 0), "complex64")) == "tensor<2x0xcomplex<f32>>"
    for row in dtypes.TABLE:
        verify(str(program([aval((2,), row.dtype)], lambda b, x: x)))


def test_the_table_of_types_stays_bounded() -> None:
    for size in range(5000):
        spelling.tensor_type(aval((size,), "int8"))
    assert len(spelling.TENSOR_TYPES) <= 4096


@pytest.mark.parametrize("name", ["f", "a.b$c", "<lambda>", "", 'a "b" \\', "größe", "1st", "a\nb"])
def test_any_function_name_is_a_symbol(name: str) -> None:
    text = f"module {spelling.symbol(name)} {{\n  func.func private {spelling.symbol(name)}()\n}}\n"
    assert parse(text).operation.verify()


@pytest.mark.parametrize("file", ["train.py", 'C:\\a "b".py', "/tmp/größe 1.py", "a\nb"])
def test_any_file_name_is_a_location(file: str) -> None:
    place = spelling.location(file, 12, 3)
    module = parse(f"module {{\n}} {place}\n")
    assert module.operation.location.filename == file
    assert module.operation.location.start_line == 12
    assert module.operation.location.start_col == 3


def test_lists_of_integers() -> None:
    assert spelling.integers((0, 2)) == "array<i64: 0, 2>"
    assert spelling.integers(()) == "array<i64>"
