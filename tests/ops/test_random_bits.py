"""`rng_bit_generator`: the same bits on every engine, those of XLA's CPU, and of the paper."""

from __future__ import annotations

import zlib
from itertools import product
from typing import Any

import numpy as np
import pytest

import hloom
from hloom import lax
from hloom.ops import random_bits
from hloom.ops.random_bits import rng_bit_generator, rng_bit_generator_p
from hloom.testing import ENGINES
from hloom.testing import results as evaluate

KEY = np.array([0xDEADBEEF, 2, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32)  # the counter wraps
DTYPES = ("uint8", "uint16", "uint32", "uint64")
SHAPES = [(), (0,), (7,), (2, 3), (3, 3), (3, 4, 5), (3, 1, 5), (2, 3, 0), (5, 1)]

# Known answers that the authors of the ciphers publish with them, Random123: counter, key, result.
THREEFRY = (
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
)
PHILOX = (
    ((0,) * 4, (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
)  # fmt: skip


@pytest.mark.parametrize("row", THREEFRY, ids=str)
def test_threefry_has_its_known_answers(row: Any) -> None:
    words, key, want = ([np.array([x], np.uint32) for x in part] for part in row)
    assert random_bits.threefry(key, words) == want


@pytest.mark.parametrize("row", PHILOX, ids=str)
def test_philox_has_its_known_answers(row: Any) -> None:
    words, key, want = ([np.array([x], np.uint32) for x in part] for part in row)
    convert = (lambda x: x.astype(np.uint64)), (lambda x: x.astype(np.uint32))
    assert random_bits.philox(key, words, *convert) == want


# The checksum of all bits and keys below, as XLA's CPU client gives them for the operation
# stablehlo.rng_bit_generator itself (jaxlib 0.10.2).
def _bytes(engine: str, algorithm: int) -> bytes:
    made = b""
    for dtype, shape in product(DTYPES, SHAPES):
        moved, bits = evaluate(
            engine, lambda k, s=shape, d=dtype: rng_bit_generator(k, s, d, algorithm), KEY
        )
        assert bits.shape == shape and bits.dtype == dtype
        assert moved.shape == (4,) and moved.dtype == np.uint32
        made += moved.tobytes() + bits.tobytes()
    return made


CHECKSUMS = {0: 0x233EEBF6, 1: 0xADAA2E38, 2: 0x233EEBF6}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("algorithm", lax.RandomAlgorithm)
def test_bits_are_those_of_xla(algorithm: int, engine: str) -> None:
    assert zlib.crc32(_bytes(engine, algorithm)) == CHECKSUMS[algorithm]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("algorithm", lax.RandomAlgorithm)
def test_a_key_of_two_wide_words_is_the_same(algorithm: int, engine: str) -> None:
    def bits(key: Any) -> list[Any]:
        return evaluate(engine, lambda k: rng_bit_generator(k, (3, 5), "uint16", algorithm), key)

    narrow, wide = bits(KEY), bits(KEY.view(np.uint64))
    np.testing.assert_array_equal(wide[0].view(np.uint32), narrow[0])
    np.testing.assert_array_equal(wide[1], narrow[1])


def test_the_next_key_continues() -> None:
    """Whole blocks one after the other are one long row."""
    start = np.array([1, 2, 0xFFFFFFFE, 3], np.uint32)
    whole = rng_bit_generator(start, (16,))[1]
    key, first = rng_bit_generator(start, (8,))
    second = rng_bit_generator(key, (8,))[1]
    np.testing.assert_array_equal(whole, np.concatenate([first, second]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("shape", "algorithm"), [*product([(), (3,), (3, 4)], (1, 2))])
def test_vmap_is_a_loop(shape: tuple[int, ...], algorithm: int, engine: str) -> None:
    keys = np.stack([KEY, KEY + np.uint32(1), KEY * np.uint32(3)], 1)

    def one(key: Any) -> Any:
        return rng_bit_generator(key, shape, "uint64", algorithm)

    got = evaluate(engine, hloom.vmap(one, in_axes=1), keys)
    want = [evaluate(engine, one, keys[:, i]) for i in range(3)]
    for i in (0, 1):
        np.testing.assert_array_equal(got[i], np.stack([w[i] for w in want]))


def test_inside_jit_and_beside_a_derivative() -> None:
    def noisy(x: Any) -> Any:
        bits = lax.rng_bit_generator(KEY, (3,))[1]
        noise = lax.convert_element_type(lax.shift_right_logical(bits, np.uint32(8)), "float32")
        return lax.reduce_sum(lax.mul(x, noise), (0,))

    x = np.ones(3, np.float32)
    slope = hloom.jit(hloom.grad(noisy))(x)
    np.testing.assert_array_equal(slope, np.asarray(rng_bit_generator(KEY, (3,))[1]) >> 8)
    text = str(hloom.make_jaxpr(lambda k: lax.rng_bit_generator(k, (3,)))(KEY))
    assert "rng_bit_generator[" in text and "algorithm=RNG_DEFAULT" in text


def test_64_bits_are_32_while_they_are_off() -> None:
    assert rng_bit_generator(KEY, (3,), "uint64")[1].dtype == np.uint32


def test_bits_are_even() -> None:
    """Each bit of 1e5 words is set in half of them, to 5 standard deviations."""
    for algorithm in (1, 2):
        bits = np.asarray(rng_bit_generator(KEY, 100_000, "uint32", algorithm)[1])
        counts = ((bits[:, None] >> np.arange(32, dtype=np.uint32)) & 1).sum(0)
        assert (np.abs(counts.astype(int) - 50_000) < 5 * 158).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rng_bit_generator(KEY[:2], (3,)), TypeError, r"u32\[4\] or u64.*got u32\[2\]"),
        (lambda: rng_bit_generator(np.ones(4, "f"), (3,)), TypeError, r"got f32\[4\]"),
        (lambda: rng_bit_generator(np.uint32(4), (3,)), TypeError, r"got u32\[\]"),
        (lambda: rng_bit_generator(KEY, (3,), "int32"), TypeError, "unsigned.*bitcast"),
        (lambda: rng_bit_generator(KEY, (3,), "float32"), TypeError, "dtype='float32'"),
        (lambda: rng_bit_generator(KEY, (-1,)), ValueError, "non-negative"),
        (lambda: rng_bit_generator(KEY, (2.5,)), TypeError, "sequence of integers"),
        (lambda: rng_bit_generator(KEY, (3,), algorithm=7), ValueError, "RNG_PHILOX"),
        (
            lambda: hloom.vmap(lambda k: rng_bit_generator(k, (3,)))(KEY[None, :2]),
            TypeError, r"got u32\[2\]",
        ),
        (lambda: rng_bit_generator(KEY[None], (3,)), TypeError, r"got u32\[1,4\]"),
    ],
)  # fmt: skip
def test_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
    assert rng_bit_generator_p.name == "rng_bit_generator"


# ---- numbers that nothing determines ------------------------------------------------------------
@pytest.mark.parametrize("engine", ["xla", "numpy"])
@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int32", "int64", "uint32", "uint64"]
)
def test_uniform_numbers_fill_the_interval_and_do_not_leave_it(engine: str, dtype: str) -> None:
    with hloom.enable_x64(), hloom.engine(engine):
        low, high = (lax.convert_element_type(x, dtype) for x in (3, 7))
        x = np.asarray(lax.rng_uniform(low, high, (20, 500)))
    assert x.shape == (20, 500) and x.dtype.name == dtype
    x = x.astype(float)
    assert x.min() >= 3 and x.max() < 7
    mean = 4.5 if dtype.startswith(("int", "uint")) else 5.0
    assert abs(x.mean() - mean) < 0.1  # eight standard deviations


def test_uniform_numbers_are_others_at_every_run() -> None:
    draw = hloom.jit(lambda a, b: lax.rng_uniform(a, b, (100,)))
    first, second = np.asarray(draw(0.0, 1.0)), np.asarray(draw(0.0, 1.0))
    assert (first != second).any()
    rows = np.asarray(hloom.vmap(lambda a: lax.rng_uniform(a, a + 1, 50))(np.arange(3.0)))
    assert rows.shape == (3, 50) and (np.floor(rows).T == np.arange(3)).all()


def test_uniform_numbers_move_with_the_ends() -> None:
    both = (np.float32(2), np.float32(4))
    for along, share in (((1, 0), lambda x: (4 - x) / 2), ((0, 1), lambda x: (x - 2) / 2)):
        tangents = tuple(map(np.float32, along))
        out, tangent = hloom.jvp(lambda a, b: lax.rng_uniform(a, b, (9,)), both, tangents)
        np.testing.assert_allclose(tangent, share(np.asarray(out)), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lax.rng_uniform(np.int8(0), np.int8(9), (3,)), r"got i8\[\] and i8\[\]"),
        (lambda: lax.rng_uniform(np.float32(0), np.int32(9), (3,)), r"got f32\[\] and i32\[\]"),
        (lambda: lax.rng_uniform(np.ones(2, "f"), np.ones(2, "f"), (3,)), r"got f32\[2\]"),
    ],
)
def test_uniform_refuses(call: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call()


def test_the_interpreter_draws_no_numbers() -> None:
    with hloom.engine("reference"), pytest.raises(hloom.errors.EngineUnsupported, match="rng"):
        lax.rng_uniform(0.0, 1.0, (3,))
