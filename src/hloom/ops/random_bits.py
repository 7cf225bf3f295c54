"""Random bits as a function of a key, `rng_bit_generator`; and `rng_uniform`, without a key.

Block i of the bits is a block cipher of `counter + i` under a key, so that any of them can be
computed alone.  The ciphers are those of J. K. Salmon and others, Parallel Random Numbers: As Easy
as 1, 2, 3 (2011): Threefry with 2 and Philox with 4 words of 32 bits.

StableHLO's operation of this name leaves the bits to the implementation, and the interpreter has
none.  So the ciphers are written out, with XLA's order of words: all engines, and all versions of
jaxlib, give the bits that XLA's CPU gives.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.core.operands import as_array, convert
from hloom.core.primitive import Primitive
from hloom.core.support.strict import refuse_sharding, strict
from hloom.ops.common.expression import Term, where
from hloom.ops.common.linear import constant, move, plus, spread
from hloom.ops.pointwise.arithmetic import div, mul, sub
from hloom.ops.shapes.shape import array_dtype, canonical_shape, reshaped
from hloom.ops.shapes.slicing import cut, joined

UINT32, UINT64 = np.dtype(np.uint32), np.dtype(np.uint64)
INT64 = np.dtype(np.int64)
_LOW = 0xFFFFFFFF


class RandomAlgorithm(enum.IntEnum):
    """The cipher behind `rng_bit_generator`; the default one is Philox on every engine.

    >>> lax.RandomAlgorithm.RNG_PHILOX.value
    2
    """

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self) -> str:
        return self.name


# ---- the ciphers: of Terms, and of NumPy's arrays -----------------------------------------------
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key: Sequence[Any], words: Sequence[Any]) -> list[Any]:
    """Threefry-2x32 with 20 rounds: two words of u32 under a key of two."""
    keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA]
    x, y = words[0] + keys[0], words[1] + keys[1]
    for group in range(5):
        for r in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << r) | (y >> (32 - r))) ^ x
        x, y = x + keys[(group + 1) % 3], y + (keys[(group + 2) % 3] + (group + 1))
    return [x, y]


def philox(
    key: Sequence[Any],
    words: Sequence[Any],
    wide: Callable[[Any], Any],
    narrow: Callable[[Any], Any],
) -> list[Any]:
    """Philox-4x32 with 10 rounds: four words of u32 under a key of two.

    `wide` and `narrow` convert to u64 and back.
    """
    (k, m), (a, b, c, d) = key, words
    for _ in range(10):
        p, q = wide(a) * 0xD2511F53, wide(c) * 0xCD9E8D57
        a, b, c, d = narrow(q >> 32) ^ b ^ k, narrow(q), narrow(p >> 32) ^ d ^ m, narrow(p)
        k, m = k + 0x9E3779B9, m + 0xBB67AE85
    return [a, b, c, d]


# ---- how words become the array -----------------------------------------------------------------
class Layout:
    """Which block, and which of its words, an element of the array is.

    Of Threefry's two words XLA fills pairs along the first axis of even size, or, if there is none,
    along the longest.  Philox's four words, and those of 64 bits, lie in row-major order.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], algorithm: int):
        self.shape = shape
        self.threefry = algorithm == RandomAlgorithm.RNG_THREE_FRY
        self.wide = dtypes.bits(dtype) == 64
        words = 2 if self.threefry else 4
        self.each = words // 2 if self.wide else words  # elements of a block
        sizes = shape or (1,)
        if not self.threefry or self.wide:
            sizes = (prod(shape),)
        even = [i for i, n in enumerate(sizes) if n % 2 == 0]
        self.axis = axis = even[0] if even else sizes.index(max(sizes))
        self.sizes = sizes
        self.blocks = (*sizes[:axis], -(-sizes[axis] // self.each), *sizes[axis + 1 :])
        self.count = prod(self.blocks)

    def words(
        self,
        key: Any,
        low: Any,
        high: Any,
        wide: Callable[[Any], Any],
        narrow: Callable[[Any], Any],
    ) -> list[Any]:
        """The values of all blocks under a key and a counter of 128 bits, given as u64."""
        keys, halves = [narrow(key), narrow(key >> 32)], [narrow(low), narrow(low >> 32)]
        if self.threefry:
            return threefry(keys, halves)
        return philox(keys, [*halves, narrow(high), narrow(high >> 32)], wide, narrow)


class RngParameters(NamedTuple):
    """The shape and dtype of the bits, and the cipher."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    algorithm: int


class RngBitGenerator(Primitive):
    """u32[4] -- shape=(3,) dtype=uint8 algorithm=RNG_PHILOX --> (u32[4], u8[3]).

    The words of the operand are a key and a counter, each of 64 bits, the low half first.  Gives
    the operand with the counter moved on, and the bits.  Leading axes of the operand are of
    examples.
    """

    multiple = True
    parameters = RngParameters

    def infer(self, key: ShapedArray, p: RngParameters) -> list[ShapedArray]:
        words = 4 if key.dtype == UINT32 else 2
        if key.dtype not in (UINT32, UINT64) or key.shape[-1:] != (words,):
            raise _not_a_key(key)
        if p.shape and min(p.shape) < 0:
            raise ValueError(
                f"rng_bit_generator takes a shape of non-negative sizes; got {p.shape}"
            )
        shape = (*key.shape[:-1], *p.shape)
        ShapedArray(shape, UINT64)  # raises if there are too many to count
        bits = ShapedArray(shape, p.dtype)
        if bits.kind != "unsigned" or bits.bits < 8:
            raise TypeError(
                "rng_bit_generator gives unsigned integers of 8 to 64 bits; got "
                f"dtype={p.dtype.name!r}. "
                "Reinterpret them: lax.bitcast_convert_type(bits, 'int32')."
            )
        return [key.strong(), bits]

    def numpy(self, key: Any, p: RngParameters) -> list[Any]:
        layout = Layout(*p)
        state = np.ascontiguousarray(key).view(UINT64)
        ids, counter = state[..., :1], state[..., 1:]
        low = counter + np.arange(layout.count, dtype=UINT64)
        high = ids + (low < counter)
        words = layout.words(ids, low, high, lambda x: x.astype(UINT64), lambda x: x.astype(UINT32))
        if layout.wide:
            words = [x.astype(UINT64) for x in words]
            words = [x | (y << 32) for x, y in zip(words[::2], words[1::2])]
        batch, axis = key.shape[:-1], key.ndim + layout.axis
        blocks = [x.reshape((*batch, *layout.blocks)) for x in words]
        sizes = [n * layout.each if i == layout.axis else n for i, n in enumerate(layout.blocks)]
        bits = np.stack(blocks, axis).reshape((*batch, *sizes)).astype(p.dtype)
        whole = tuple(map(slice, (*batch, *layout.sizes)))
        moved = np.concatenate([ids, counter + UINT64.type(layout.count)], -1)
        return [moved.view(key.dtype), bits[whole].reshape((*batch, *p.shape))]

    def emit(self, block: Any, out: Any, key: Any, p: RngParameters) -> list[Any]:
        layout, batch = Layout(*p), key.aval.shape[:-1]
        state = key
        if key.aval.dtype == UINT32:
            state = block.bitcast(block.reshape(key, (*batch, 2, 2)), UINT64)
        ids, counter = [_column(block, state, i) for i in (0, 1)]
        moved = block.concatenate([ids.operand, (counter + layout.count).operand], len(batch))
        if key.aval.dtype == UINT32:
            moved = block.reshape(block.bitcast(moved, UINT32), key.aval.shape)
        if not out[1].size:
            return [moved, block.constant(0, out[1])]
        aval = ShapedArray((*batch, layout.count), UINT64)
        axes = range(aval.ndim)
        ids, counter = [
            Term(block, block.broadcast(x.operand, aval.shape, axes)) for x in (ids, counter)
        ]
        low = counter + Term(block, block.iota(aval, len(batch)))
        high = ids + (low < counter).to(UINT64)
        words = layout.words(
            ids, low, high, lambda x: x.to(UINT64), lambda x: (x & _LOW).to(UINT32)
        )
        return [moved, _laid_out(block, words, layout, batch, out[1])]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[list[Any], list[Any]]:
        return self(*primals, **params), [None, None]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], **params: Any
    ) -> tuple[list[Any], list[int | None]]:
        (key,), (axis,) = operands, batch_axes
        assert axis is not None
        return self(move(key, axis, 0), **params), [0, 0]


def _not_a_key(key: ShapedArray) -> TypeError:
    return TypeError(
        "rng_bit_generator takes a key and a counter of 64 bits each, as u32[4] or u64[2]; "
        f"got {key}. For a key of two words: lax.concatenate([key, lax.full_like(key, 0)], 0)."
    )


def _column(block: Any, state: Any, i: int) -> Term:
    """One of the two words of 64 bits, in its own axis of size 1."""
    batch = state.aval.shape[:-1]
    starts, limits = [0] * len(batch), list(batch)
    return Term(block, block.slice(state, [*starts, i], [*limits, i + 1]))


def _laid_out(
    block: Any, words: list[Term], layout: Layout, batch: tuple[int, ...], out: ShapedArray
) -> Any:
    """The words of all blocks as the array.

    They are put together in pairs of 64 bits, behind a barrier: 1e6 words of Philox take 3.5 ms.
    Where words are joined one by one XLA's CPU encrypts each block again for each of them: 52 ms,
    and 22 for its own expansion of the operation.
    """
    wide = [x.to(UINT64) for x in words]
    pairs = [(x | (y << 32)).operand for x, y in zip(wide[::2], wide[1::2])]
    pairs = block.barrier(*pairs) if len(pairs) > 1 else [block.barrier(*pairs)]
    axis, whole = len(batch) + layout.axis, (*batch, *layout.blocks)
    joined = block.concatenate([block.reshape(x, (*whole, 1)) for x in pairs], len(whole))
    if not layout.wide:
        joined = block.reshape(block.bitcast(joined, UINT32), (*whole, layout.each))
        order = [*range(axis + 1), len(whole), *range(axis + 1, len(whole))]
        joined = block.transpose(joined, order)
    sizes = [n * layout.each if i == axis else n for i, n in enumerate(whole)]
    cut = block.slice(block.reshape(joined, sizes), [0] * len(sizes), (*batch, *layout.sizes))
    bits = Term(block, block.reshape(cut, out.shape))
    mask = (1 << out.bits) - 1
    return bits.operand if bits.dtype == out.dtype else (bits & mask).to(out.dtype).operand


rng_bit_generator_p = RngBitGenerator("rng_bit_generator")


@strict
def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: Any = np.uint32,
    algorithm: int = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: None = None,
) -> list[Any]:
    """The key for the next call, and an array of random bits: a function of the key alone.

    `key` is u32[4] or u64[2]: a key and a counter of 64 bits each, the low half first.  The bits
    are unsigned integers of 8 to 64 bits; those of fewer than 32 are the lowest of a word.  Raises
    TypeError for another key or dtype, ValueError for an algorithm that there is not.  The default
    algorithm is Philox.

    >>> key, bits = lax.rng_bit_generator(jnp.array([1, 2, 3, 4], jnp.uint32), (3,), jnp.uint8)
    >>> key, bits
    (Array([1, 2, 4, 4], dtype=uint32), Array([100, 215, 190], dtype=uint8))
    """
    if out_sharding is not None:
        refuse_sharding("rng_bit_generator", out_sharding)
    try:
        chosen = RandomAlgorithm(algorithm)
    except ValueError:
        names = ", ".join(f"lax.RandomAlgorithm.{x.name}" for x in RandomAlgorithm)
        raise ValueError(
            f"rng_bit_generator takes one of {names}; got algorithm={algorithm!r}"
        ) from None
    sizes = canonical_shape("rng_bit_generator", (shape,) if isinstance(shape, int) else shape)
    state = as_array(key)
    if state.aval.ndim != 1:
        raise _not_a_key(state.aval)
    p = RngParameters(sizes, array_dtype(dtype), chosen)
    key_and_bits: list[Any] = rng_bit_generator_p(state, **p._asdict())
    return key_and_bits


# ---- random numbers without a key ---------------------------------------------------------------
class RngUniform(Primitive):
    """(f32[], f32[]) -- shape=(3,) --> f32[3].  Other numbers at every run.

    The interpreter has no such operation.
    """

    def infer(self, a: ShapedArray, b: ShapedArray, *, shape: tuple[int, ...]) -> ShapedArray:
        ints = a.kind in ("signed", "unsigned") and a.bits >= 32  # narrower ones end XLA's process
        floats = a.kind == "float" and a.bits > 8
        if a.dtype != b.dtype or a.shape or b.shape or not (ints or floats):
            raise TypeError(
                "rng_uniform takes two numbers of one dtype, floats of 16 bits or more or integers "
                f"of 32 or 64; got {a} and {b}. Convert them: lax.convert_element_type(x, 'int32')."
            )
        if shape and min(shape) < 0:
            raise ValueError(f"rng_uniform takes a shape of non-negative sizes; got {shape}")
        return ShapedArray(shape, a.dtype)

    def numpy(self, a: Any, b: Any, *, shape: tuple[int, ...]) -> Any:
        generator = np.random.default_rng()
        if a.dtype.kind in "iu" and a >= b:
            return np.full(shape, a)  # as `emit` has it
        if a.dtype.kind in "iu":
            return generator.integers(a, b, shape, a.dtype)
        low, high = float(a), float(b)
        drawn = np.asarray(low + (high - low) * generator.random(shape)).astype(a.dtype)
        return np.where(drawn < b, drawn, a)  # the rounding may reach b

    def emit(self, block: Any, out: ShapedArray, a: Any, b: Any, *, shape: tuple[int, ...]) -> Any:
        sizes = block.constant(np.array(shape, np.int64), ShapedArray((len(shape),), INT64))
        head = f"stablehlo.rng {a}, {b}, {sizes}, distribution = UNIFORM"
        drawn = Term(block, block.op(head, (a, b, sizes), out))
        low, high = [Term(block, block.broadcast(x, shape, ())) for x in (a, b)]
        return where(drawn < high, drawn, low).operand  # the rounding may reach b

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]:
        """The numbers are a + u * (b - a), where nothing moves u."""
        out = self(*primals, **params)
        if out.aval.kind != "float":
            return out, None
        a, b = primals
        u = div(sub(out, a), sub(b, a))
        shares = [
            mul(x, t) for x, t in zip((sub(constant(1, u.aval.dtype), u), u), tangents)
            if t is not None
        ]  # fmt: skip
        return out, plus(*shares) if len(shares) > 1 else (shares or [None])[0]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[int | None], **params: Any
    ) -> tuple[Any, int]:
        def example(x: Any, axis: int | None, i: int) -> Any:
            return x if axis is None else reshaped(cut(x, i, i + 1, 0), ())

        each = [
            self(*[example(x, axis, i) for x, axis in zip(operands, batch_axes)], **params)
            for i in range(size)
        ]
        return joined([spread(x, 0, 1) for x in each], 0), 0


rng_uniform_p = RngUniform("rng_uniform")


@strict
def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Numbers drawn uniformly from `a` up to `b`, without it; other ones at every run.

    `a` and `b` are two numbers of one dtype, floats of 16 bits or more or integers of 32 or 64,
    a less than b; else the result is undefined.  Raises TypeError for other operands.  There is no
    key and no seed, and XLA begins an executable's numbers anew in each process: for results that
    can be reproduced take `rng_bit_generator`.  The derivative is that of `a + u * (b - a)` with u
    constant.
    The reference engine raises EngineUnsupported.  Source: StableHLO's rng.

    >>> x = lax.rng_uniform(2.0, 3.0, (1000,))
    >>> bool(x.min() >= 2) and bool(x.max() < 3)
    True
    """
    low, high = convert("rng_uniform", (a, b))
    sizes = canonical_shape("rng_uniform", (shape,) if isinstance(shape, int) else shape)
    return rng_uniform_p(low, high, shape=sizes)
