"""Each method of `Block` writes valid StableHLO, and the program computes what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hloom import dtypes
from hloom.core.aval import ShapedArray
from hloom.stablehlo import EMITTED, Block, Module, Operand, Vocabulary
from tests.stablehlo.machine import aval, bits, program, run
from tests.stablehlo.verify import verify

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["int8", "int32", "uint8", "uint32", "int64"]
COMPLEX = ["complex64", "complex128"]

x, y = np.array([1, 2, 5, 7]), np.array([3, 2, 4, 1])


def check(body: Callable[..., Any], operands: list[np.ndarray], wanted: Any) -> None:
    """Emit, verify, compile and run `body`; its result has the bits of `wanted`."""
    wanted = np.asarray(wanted)
    avals = [aval(a.shape, a.dtype) for a in operands]
    results: list[Operand] = []

    def noting(block: Vocabulary, *xs: Operand) -> Operand:
        results.append(body(block, *xs))
        return results[0]

    text = str(program(avals, noting))
    verify(text)
    out = results[0].aval
    assert (out.shape, out.dtype) == (wanted.shape, wanted.dtype), text
    (got,) = run(text, operands, [out])
    assert bits(got) == bits(wanted), f"{text}\n{got}\n{wanted}"


BINARY = {
    "add": (np.add, FLOATS + INTEGERS + COMPLEX),
    "sub": (np.subtract, FLOATS + INTEGERS + COMPLEX),
    "mul": (np.multiply, FLOATS + INTEGERS + COMPLEX),
    "div": (np.divide, FLOATS),
    "rem": (np.remainder, FLOATS + INTEGERS),
    "max": (np.maximum, FLOATS + INTEGERS),
    "min": (np.minimum, FLOATS + INTEGERS),
    "and_": (np.bitwise_and, INTEGERS + ["bool"]),
    "or_": (np.bitwise_or, INTEGERS + ["bool"]),
    "xor": (np.bitwise_xor, INTEGERS + ["bool"]),
    "shift_left": (np.left_shift, INTEGERS),
    "shift_right_arithmetic": (np.right_shift, ["int8", "int32", "int64"]),
    "shift_right_logical": (np.right_shift, ["uint8", "uint32"]),
}
UNARY = {
    "neg": (np.negative, FLOATS + ["int32", "int64"] + COMPLEX),
    "abs": (np.abs, FLOATS + ["int8", "int32"] + COMPLEX),
    "not_": (np.invert, INTEGERS + ["bool"]),
    "floor": (np.floor, FLOATS),
    "sqrt": (np.sqrt, ["float32", "float64"]),
    "sign": (np.sign, FLOATS + ["int8", "int32"]),
    "real": (np.real, COMPLEX),
    "imag": (np.imag, COMPLEX),
}


def cases(table: dict[str, tuple[Any, list[str]]]) -> list[tuple[str, str]]:
    return [(name, dtype) for name, (_, names) in table.items() for dtype in names]


@pytest.mark.parametrize("name, dtype", cases(BINARY))
def test_binary(name: str, dtype: str) -> None:
    a, b = x.astype(dtypes.as_dtype(dtype)), y.astype(dtypes.as_dtype(dtype))
    check(lambda k, p, q: getattr(k, name)(p, q), [a, b], BINARY[name][0](a, b))


@pytest.mark.parametrize("name, dtype", cases(UNARY))
def test_unary(name: str, dtype: str) -> None:
    a = (
        (x - 3).astype(dtypes.as_dtype(dtype))
        if name not in ("sqrt", "abs")
        else x.astype(dtypes.as_dtype(dtype))
    )
    check(lambda k, p: getattr(k, name)(p), [a], UNARY[name][0](a))


@pytest.mark.parametrize("name", ["add", "mul", "rem", "max", "shift_left", "xor"])
def test_a_python_scalar_becomes_a_constant_of_the_type_beside_it(name: str) -> None:
    a = x.astype(np.int8)
    check(lambda k, p: getattr(k, name)(p, 2), [a], BINARY[name][0](a, np.int8(2)))
    check(lambda k, p: getattr(k, name)(2, p), [a], BINARY[name][0](np.int8(2), a))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS + ["bool"])
@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
def test_compare(direction: str, dtype: str) -> None:
    function = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less,
        "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
    }[direction]  # fmt: skip
    a, b = (x - 3).astype(dtypes.as_dtype(dtype)), y.astype(dtypes.as_dtype(dtype))
    check(lambda k, p, q: k.compare(p, direction, q), [a, b], function(a, b).astype(bool))


@pytest.mark.parametrize("dtype", [*COMPLEX, "float8_e4m3fn"])
def test_compare_of_dtypes_that_only_equal(dtype: str) -> None:
    a, b = x.astype(dtypes.as_dtype(dtype)), y.astype(dtypes.as_dtype(dtype))
    check(lambda k, p, q: k.compare(p, "EQ", q), [a, b], x == y)


def test_select_by_element_and_by_one_predicate() -> None:
    p, a, b = x > 2, x.astype(np.float32), y.astype(np.float32)
    check(lambda k, p, a, b: k.select(p, a, b), [p, a, b], np.where(p, a, b))
    check(lambda k, p, a: k.select(p, a, 0.5), [p, a], np.where(p, a, np.float32(0.5)))
    check(lambda k, p, a, b: k.select(p, a, b), [np.array(True), a, b], a)


def test_a_constant_with_no_operand_beside_it_has_no_type() -> None:
    with pytest.raises(TypeError, match="operand beside it"):
        program([aval((2,), bool)], lambda k, p: k.select(p, 1, 2))


@pytest.mark.parametrize(
    "old", ["bool", "int8", "uint32", "float16", "bfloat16", "float32", "float64"]
)
@pytest.mark.parametrize(
    "new", ["bool", "int8", "uint32", "float16", "bfloat16", "float32", "complex64"]
)
def test_convert(old: str, new: str) -> None:
    a = x.astype(dtypes.as_dtype(old))
    check(lambda k, p: k.convert(p, dtypes.as_dtype(new)), [a], a.astype(dtypes.as_dtype(new)))


@pytest.mark.parametrize(
    "old, new, shape",
    [
        ("float32", "int32", (4,)), ("float64", "uint32", (4, 2)), ("uint8", "float32", ()),
        ("bfloat16", "int16", (4,)), ("uint8", "int8", (4,)), ("float8_e5m2", "uint8", (4,)),
    ],
)  # fmt: skip
def test_bitcast_adds_and_takes_an_axis(old: str, new: str, shape: tuple[int, ...]) -> None:
    a = x.astype(dtypes.as_dtype(old))
    wanted = np.frombuffer(a.tobytes(), dtypes.as_dtype(new)).reshape(shape)
    check(lambda k, p: k.bitcast(p, dtypes.as_dtype(new)), [a], wanted)


def test_complex_from_parts() -> None:
    a, b = x.astype(np.float64), y.astype(np.float64)
    check(lambda k, p, q: k.complex(p, q), [a, b], a + 1j * b)
    check(
        lambda k, p: k.complex(p, -0.0),
        [np.float32(x)],
        np.array([complex(v, -0.0) for v in x], np.complex64),
    )


M = np.arange(6, dtype=np.float32).reshape(2, 3)
N = np.arange(3, dtype=np.int16)
SHAPES: list[tuple[str, Callable[..., Any], np.ndarray, Any]] = [
    ("broadcast", lambda k, m: k.broadcast(m, (4, 2, 3), (1, 2)), M, np.broadcast_to(M, (4, 2, 3))),
    ("broadcast apart", lambda k, m: k.broadcast(m, (2, 2, 3), (0, 2)), M, np.stack([M, M], 1)),
    ("broadcast 0-d", lambda k, m: k.broadcast(m, (2, 2), ()), M[1, 1], np.full((2, 2), M[1, 1])),
    ("broadcast size 1", lambda k, m: k.broadcast(m, (2, 3), (0, 1)), M[:1], M[[0, 0]]),
    ("reshape", lambda k, m: k.reshape(m, (3, 2)), M, M.reshape(3, 2)),
    ("reshape to 0-d", lambda k, m: k.reshape(m, ()), M[:1, :1], M[0, 0]),
    ("transpose", lambda k, m: k.transpose(m, (1, 0)), M, M.T),
    ("transpose 0-d", lambda k, m: k.transpose(m, ()), M[0, 0], M[0, 0]),
    ("slice", lambda k, m: k.slice(m, (0, 1), (2, 3)), M, M[0:2, 1:3]),
    ("slice strides", lambda k, m: k.slice(m, (1, 0), (2, 3), (1, 2)), M, M[1:2, 0:3:2]),
    ("slice to nothing", lambda k, m: k.slice(m, (1, 0), (1, 3)), M, M[1:1]),
    ("slice 0-d", lambda k, m: k.slice(m, (), ()), M[0, 0], M[0, 0]),
    ("concatenate", lambda k, m: k.concatenate([m, m, m], 1), M, np.concatenate([M, M, M], 1)),
    ("concatenate one", lambda k, m: k.concatenate([m], 0), M, M),
    ("reduce", lambda k, m: k.reduce(m, 0, "add", (1,)), M, M.sum(1)),
    ("reduce all", lambda k, m: k.reduce(m, -np.inf, "max", (0, 1)), M, M.max()),
    ("reduce none", lambda k, m: k.reduce(m, 0, "add", ()), M, M),
    ("reduce mul", lambda k, m: k.reduce(m, 1, "multiply", (0,)), M, M.prod(0)),
    ("reduce and", lambda k, m: k.reduce(m, True, "and", (0,)), M > 0, (M > 0).all(0)),
    ("barrier", lambda k, m: k.barrier(m), M, M),
    ("barrier of two", lambda k, m: k.sub(*k.barrier(m, k.neg(m))), M, M + M),
    ("iota", lambda k, m: k.iota(aval((2, 3), "int16"), 1), M, np.stack([N, N])),
    ("elementwise", lambda k, m: k.elementwise("power", m, 2), M, M**2),
]  # fmt: skip


@pytest.mark.parametrize("body, m, wanted", [c[1:] for c in SHAPES], ids=[c[0] for c in SHAPES])
def test_shapes_and_reductions(body: Callable[..., Any], m: Any, wanted: Any) -> None:
    check(body, [np.asarray(m)], np.asarray(wanted))


# ---- constants ------------------------------------------------------------------------------
def test_a_constant_is_written_once_and_only_if_it_is_used() -> None:
    def body(block: Vocabulary, p: Operand) -> Operand:
        block.constant(3, p.aval)
        scalar = block.constant(2, aval((), "float32"))
        return block.add(block.mul(p, block.broadcast(scalar, (4,), ())), 2.0)

    text = str(program([aval((4,), "float32")], body))
    assert text.count("stablehlo.constant") == 1
    assert "broadcast" not in text


def test_constants_that_compare_equal_but_differ_in_bits_stay_apart() -> None:
    def body(block: Vocabulary, p: Operand) -> list[Operand]:
        return [block.constant(v, p.aval) for v in (0.0, -0.0, 1.0, True, 1)]

    text = str(program([aval((), "float32")], body))
    assert text.count("stablehlo.constant") == 3


def test_a_region_shares_no_constant_with_what_is_around_it() -> None:
    def body(block: Vocabulary, p: Operand) -> Any:
        outer = block.add(p, 1.0)
        return block.if_(
            block.compare(p, "LT", 1.0),
            lambda b: b.mul(p, 1.0),
            lambda b: b.sub(outer, 1.0),
            p.aval,
        )

    text = str(program([aval((), "float32")], body))
    verify(text)
    assert text.count("stablehlo.constant dense<1.0>") == 3


def test_a_constant_first_used_inside_a_region_is_written_before_it() -> None:
    def body(block: Vocabulary, p: Operand) -> Any:
        two = block.constant(2, p.aval)
        less = block.compare(p, "LT", 1.0)
        inside = block.if_(less, lambda b: b.mul(p, two), lambda b: two, p.aval)
        return block.add(inside, two)

    check(body, [np.float32(0.5)], np.float32(3))
    check(body, [np.float32(1.5)], np.float32(4))


@pytest.mark.parametrize(
    "value, dtype, error",
    [
        (300, "int8", OverflowError), (-1, "uint8", OverflowError), (2, "bool", OverflowError),
        (1.5, "int32", OverflowError), (2**64, "uint64", OverflowError),
        (1e300, "float32", OverflowError), (1e6, "float16", OverflowError),
        (1e6, "float8_e4m3fn", OverflowError), (1j, "float32", TypeError),
        (np.zeros(3), "float32", ValueError),
    ],
)  # fmt: skip
def test_a_constant_that_does_not_fit_is_refused(value: Any, dtype: str, error: type) -> None:
    with pytest.raises(error):
        program([], lambda b: b.constant(value, aval((2,), dtypes.as_dtype(dtype))))


@pytest.mark.parametrize(
    "value, dtype",
    [
        (2**64 - 1, "uint64"),
        (np.inf, "float16"),
        (0.1, "float32"),
        (2**70, "float64"),
        (True, "int8"),
    ],
)
def test_a_constant_fills_its_shape(value: Any, dtype: str) -> None:
    check(lambda b: b.constant(value, aval((2, 2), dtype)), [], np.full((2, 2), value, dtype))


def test_a_python_float_is_rounded_once() -> None:
    value = 1 + 2**-8 + 2**-30  # through float32 it would fall on a tie, and go to 1
    check(lambda b: b.constant(value, aval((), "float64")), [], np.float64(value))
    check(lambda b: b.constant(value, aval((), "float16")), [], np.float16(value))


# ---- regions --------------------------------------------------------------------------------
def test_a_region_is_an_operations_body() -> None:
    scalar = aval((), "float32")

    def body(block: Vocabulary, m: Operand) -> Operand:
        init = block.constant(0, scalar)
        region = block.region([scalar, scalar], lambda b, p, q: b.add(b.mul(p, 1), q))
        head = f'"stablehlo.reduce"({m}, {init}) <{{dimensions = array<i64: 1>}}> {region}'
        return block.op(head, [m, init], aval((2,), "float32"))

    check(body, [M], M.sum(1))


def test_several_results_and_none() -> None:
    scalar = aval((), "int32")

    def body(block: Vocabulary, m: Operand) -> Operand:
        index = block.iota(aval((2, 3), "int32"), 1)
        zero, low = block.constant(0, scalar), block.constant(-np.inf, aval((), "float32"))

        def larger(b: Vocabulary, p: Operand, i: Operand, q: Operand, j: Operand) -> list[Operand]:
            first = b.compare(p, "GE", q)
            return [b.select(first, p, q), b.select(first, i, j)]

        region = block.region([low.aval, scalar, low.aval, scalar], larger)
        attributes = "<{dimensions = array<i64: 1>}>"
        top, where = block.op(
            f'"stablehlo.reduce"({m}, {index}, {low}, {zero}) {attributes} {region}',
            [m, index, low, zero],
            [aval((2,), "float32"), aval((2,), "int32")],
        )
        return block.add(block.convert(top, np.int32), where)

    check(body, [M], (M.max(1) + M.argmax(1)).astype(np.int32))
    verify(str(program([aval((2,), "float32")], lambda b, p: [])))


def test_while_loop() -> None:
    def body(block: Vocabulary, n: Operand) -> Operand:
        start = block.constant(1, n.aval)
        _, product = block.while_loop(
            lambda b, i, p: b.compare(i, "GT", 0),
            lambda b, i, p: [b.sub(i, 1), b.mul(p, i)],
            [n, start],
        )
        return product

    check(body, [np.int32(6)], np.int32(720))


def test_while_loop_of_one_operand_inside_a_region() -> None:
    def halve(block: Vocabulary, n: Operand) -> Operand:
        (n,) = block.while_loop(
            lambda b, i: b.compare(i, "GT", 10), lambda b, i: b.shift_right_arithmetic(i, 1), [n]
        )
        return n

    def body(block: Vocabulary, n: Operand) -> Any:
        return block.if_(
            block.compare(n, "GT", 0), lambda b: halve(b, n), lambda b: b.neg(n), n.aval
        )

    check(body, [np.int32(100)], np.int32(6))
    check(body, [np.int32(-100)], np.int32(100))


@pytest.mark.parametrize("index, wanted", [(0, 1), (1, 4), (2, -2), (7, -2), (-1, -2)])
def test_case(index: int, wanted: int) -> None:
    two = np.int32(2)

    def body(block: Vocabulary, i: Operand, p: Operand) -> Any:
        branches = [lambda b: b.sub(p, 1), lambda b: b.mul(p, p), lambda b: b.neg(p)]
        return block.case(i, branches, [p.aval])[0]

    check(body, [np.int32(index), two], np.int32(wanted))


# ---- lines ----------------------------------------------------------------------------------
def test_types_are_written_as_stablehlo_prints_them() -> None:
    f32, p1 = aval((3,), "float32"), aval((3,), "bool")

    def body(block: Vocabulary, p: Operand) -> list[Operand]:
        erf = block.op(f"chlo.erf {p}", [p], f32)
        finite = block.op(f"stablehlo.is_finite {erf}", [erf], p1)
        weak = block.op(f"stablehlo.add {p}, {erf}", [p, erf], ShapedArray((3,), f32.dtype, True))
        total = block.op(f'"stablehlo.add"({p}, {weak})', [p, weak], f32)
        return [finite, block.op(f"stablehlo.sine {total}", [total], f32, types="tensor<3xf32>")]

    text = str(program([f32], body))
    verify(text)
    assert text == (
        "module @main {\n"
        "  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xi1>, tensor<3xf32>) {\n"
        "    %0 = chlo.erf %arg0 : tensor<3xf32> -> tensor<3xf32>\n"
        "    %1 = stablehlo.is_finite %0 : (tensor<3xf32>) -> tensor<3xi1>\n"
        "    %2 = stablehlo.add %arg0, %0 : tensor<3xf32>\n"
        '    %3 = "stablehlo.add"(%arg0, %2) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n'
        "    %4 = stablehlo.sine %3 : tensor<3xf32>\n"
        "    return %1, %4 : tensor<3xi1>, tensor<3xf32>\n"
        "  }\n"
        "}\n"
    )


def test_pointwise_fills_the_shape_from_0d_operands() -> None:
    a = x.astype(np.float32)
    out = aval((4,), "float32")
    check(lambda k, p, s: k.pointwise("add", [p, s], out), [a, np.float32(2)], a + 2)
    check(
        lambda k, s: k.pointwise("add", [s, k.constant(1, s.aval)], out),
        [np.float32(2)],
        np.full(4, 3, "f4"),
    )


def test_an_operand_shows_its_name_and_type() -> None:
    operand = Operand("%3", aval((2, 3), "float32"))
    assert (str(operand), repr(operand), f"{operand}") == ("%3", "%3: f32[2,3]", "%3")


def test_a_block_says_what_it_is_written_for() -> None:
    block = Block(Module(platform="tpu", exact=True))
    assert (block.platform, block.exact) == ("tpu", True)
    assert (block.nested().platform, block.nested().exact) == ("tpu", True)


def test_hooks_see_each_text_once() -> None:
    seen: list[str] = []
    EMITTED.append(seen.append)
    try:
        module = program([aval((2,), "float32")], lambda b, p: b.neg(p), name="seen")
        assert str(module) == str(module)
        assert seen == [str(module)]
    finally:
        EMITTED.remove(seen.append)


def test_bfloat16_is_not_taken_for_another_two_byte_type() -> None:
    a = np.array([1.5, -2], ml_dtypes.bfloat16)
    check(lambda k, p: k.mul(p, 3), [a], (a.astype(np.float32) * 3).astype(ml_dtypes.bfloat16))
