"""Operators: NumPy's values on both sides of every symbol, and what they refuse."""

from __future__ import annotations

import operator as op

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import jit

ARITHMETIC = [op.add, op.sub, op.mul, op.truediv, op.floordiv, op.mod]
COMPARISONS = [op.eq, op.ne, op.lt, op.le, op.gt, op.ge]
BITS = [op.and_, op.or_, op.xor, op.lshift, op.rshift]
FLOATS = np.array([-2.5, -0.0, 1.0, 3.5], np.float32)
INTEGERS = np.array([-7, 1, 2, 5], np.int32)


def name(x):
    return getattr(x, "__name__", repr(x))


def same(got, want):
    """Equal values, kinds and shapes; floats may differ by a unit: XLA fuses multiply and add."""
    assert isinstance(got, hloom.Array)
    assert got.shape == np.shape(want) and got.dtype.kind == np.asarray(want).dtype.kind
    np.testing.assert_allclose(got, want, rtol=2e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("symbol", ARITHMETIC + COMPARISONS, ids=name)
@pytest.mark.parametrize("value", [FLOATS, INTEGERS], ids=["floats", "integers"])
def test_binary_operators_take_every_kind_of_number_on_both_sides(symbol, value):
    x = jnp.asarray(value)
    others = [
        2,
        2.5,
        True,
        np.int32(3),
        np.float32(1.5),
        np.float64(1.5),
        value[::-1],
        value[:, None],
        value[0],
    ]
    for other in others:
        with np.errstate(all="ignore"):
            forward, backward = symbol(value, other), symbol(other, value)
        same(symbol(x, other), forward)
        same(symbol(other, x), backward)
        same(symbol(x, jnp.asarray(other)), forward)
        same(jit(symbol)(x, other), forward)
        same(jit(lambda x, other=other: symbol(other, x))(x), backward)


@pytest.mark.parametrize("symbol", BITS, ids=name)
def test_bit_operators(symbol):
    value = np.array([1, 2, 5, 7], np.int32)
    x = jnp.asarray(value)
    for other in [2, True, np.int32(3), value[::-1], jnp.asarray(value)]:
        theirs = np.asarray(other)
        same(symbol(x, other), symbol(value, theirs).astype(np.int32))
        same(symbol(other, x), symbol(theirs, value).astype(np.int32))
    if symbol in BITS[:3]:
        mask = value > 2
        same(symbol(jnp.asarray(mask), True), symbol(mask, True))
    with pytest.raises(TypeError):
        symbol(jnp.ones(2), 1)


def test_powers():
    x = jnp.asarray(FLOATS)
    for exponent in [0, 2, 3, 2.0, np.float32(2)]:
        same(x**exponent, FLOATS**exponent)
    same(2 ** jnp.arange(4), 2 ** np.arange(4))
    same(2.0 ** jnp.arange(4), 2.0 ** np.arange(4))
    same(np.arange(4.0) ** jnp.arange(4), np.arange(4.0) ** np.arange(4))
    assert pow(jnp.float32(3), 2) == 9


def test_matmul_operator():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for left, right in [(a, b), (a, b[:, 0]), (a[0], b), (a[0], b[:, 0])]:
        same(jnp.asarray(left) @ jnp.asarray(right), left @ right)
        same(jnp.asarray(left) @ right, left @ right)
        same(left @ jnp.asarray(right), left @ right)
    with pytest.raises(ValueError):
        jnp.ones((2, 3)) @ jnp.ones((2, 3))


def test_divmod_and_unary_operators():
    x = jnp.asarray(INTEGERS)
    for got, want in zip(divmod(x, 3) + divmod(3, x), divmod(INTEGERS, 3) + divmod(3, INTEGERS)):
        same(got, want)
    for symbol in [op.neg, op.pos, op.invert, abs]:
        same(symbol(x), symbol(INTEGERS))
    same(-jnp.asarray(FLOATS), -FLOATS)
    assert np.signbit(np.asarray(-jnp.float32(0.0)))
    same(~jnp.array([True, False]), np.array([False, True]))
    for symbol in [op.neg, op.pos]:
        with pytest.raises(TypeError):
            symbol(jnp.array(True))
    with pytest.raises(TypeError):
        ~jnp.array(1.0)


def test_round_is_pythons_for_one_number_and_numpys_for_arrays():
    assert [int(round(jnp.float32(v))) for v in (0.5, 1.5, -2.5)] == [0, 2, -2]
    assert round(jnp.float32(2.5)).dtype == np.int32
    same(round(jnp.asarray([1.26, -1.25]), 1), np.round(np.float32([1.26, -1.25]), 1))
    assert round(jnp.array([1.5])).dtype == np.float32


def test_augmented_assignment_makes_a_new_array():
    x = y = jnp.arange(3)
    x += 1
    assert x.tolist() == [1, 2, 3] and y.tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ndarrays_on_the_left_give_arrays():
    x = jnp.arange(3.0)
    for left in [
        np.arange(3.0),
        np.float64(2),
        np.float32(2),
        np.array(2.0),
        np.int8(2),
        np.bool_(True),
    ]:
        for symbol in ARITHMETIC[:4] + COMPARISONS:
            got = symbol(left, x)
            assert isinstance(got, hloom.Array), (left, symbol)
            np.testing.assert_allclose(got, symbol(left, np.arange(3.0, dtype=np.float32)))
    assert isinstance(np.eye(3) @ x, hloom.Array)


def test_numpys_functions_give_ndarrays():
    x = jnp.arange(3.0)
    assert type(np.sin(x)) is np.ndarray
    assert type(np.add(x, np.arange(3))) is np.ndarray
    assert type(np.concatenate([x, x])) is np.ndarray
    with pytest.raises(hloom.errors.TracerArrayConversionError):
        jit(lambda x: np.sin(x))(x)


class Foreign:
    """Something that knows how to deal with arrays itself."""

    def __radd__(self, other):
        return "radd"

    def __add__(self, other):
        return "add"

    def __eq__(self, other):
        return "eq"

    __hash__ = None


def test_operators_leave_what_they_do_not_know_to_the_other_operand():
    x = jnp.arange(3)
    assert x + Foreign() == "radd" and Foreign() + x == "add" and (x == Foreign()) == "eq"
    assert (x == None) is False and (x != None) is True and (x == "a") is False  # noqa: E711
    for symbol in ARITHMETIC + [op.pow, op.matmul, op.lt, divmod]:
        for other in [None, "a", [1, 2, 3], object()]:
            with pytest.raises(TypeError):
                symbol(x, other)
            if (symbol, other) != (op.mod, "a"):  # that formats a text
                with pytest.raises(TypeError):
                    symbol(other, x)


def test_comparing_with_a_list_is_an_error_not_false():
    for symbol in COMPARISONS:
        with pytest.raises(TypeError, match="jnp.array"):
            symbol(jnp.arange(3), [0, 1, 2])


def test_shapes_that_do_not_broadcast_say_so():
    with pytest.raises(ValueError, match=r"could not be broadcast.*\(2,\).*\(3,\)"):
        jnp.ones(2) + jnp.ones(3)


def test_python_integers_must_fit():
    with pytest.raises(OverflowError, match="uint8"):
        jnp.arange(3, dtype=jnp.uint8) + 300
    assert (jnp.arange(3, dtype=jnp.int8) + 1.5).dtype == np.float32
    assert (jnp.float16(1) * 2.5).dtype == np.float16
    assert (jnp.arange(2) * 2**20).tolist() == [0, 2**20]


def test_operators_on_results_of_transformations():
    assert float(hloom.grad(lambda x: (2 - x) / (1 + x) ** 2 + -abs(x) % 3)(1.5)) == pytest.approx(
        -1 / 2.5**2 - 2 * 0.5 / 2.5**3 - 1, rel=1e-5
    )
    x = jnp.arange(3.0)
    same(hloom.vmap(lambda a: (a > 1) * (5.0 - a))(x), np.float32([0, 0, 3]))


def test_a_table_hit_is_what_a_second_call_is():
    x = jnp.ones(5)
    x + x, x + 1, 2.0 - x  # noqa: B018
    tables = jnp.add.tables
    before = sum(map(len, tables.values()))
    for _ in range(3):
        x + x, x + 1, x + True, x + 1.0  # noqa: B018
    x + True, x + 1.0  # noqa: B018
    assert (
        sum(map(len, tables.values())) == before + 2
    )  # bool and float are other programs than int


def test_scalars_that_are_equal_but_not_the_same_never_meet():
    x = jnp.zeros(2)
    assert np.signbit(np.asarray(x * 0.0)).tolist() == [False] * 2
    assert np.signbit(np.asarray(x * -0.0)).tolist() == [True] * 2
    assert [(jnp.arange(2) + v).dtype.name for v in (1, 1.0, True, np.float32(1), 1j)] == [
        "int32", "float32", "int32", "float32", "complex64",
    ]  # fmt: skip
    nan = float("nan")
    for _ in range(2):
        assert np.isnan(np.asarray(x + nan)).all()


def test_broadcasting_of_ranks_can_be_forbidden():
    with hloom.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="different rank"):
        jnp.ones((2, 3)) + jnp.ones(3)
    with hloom.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="different rank"):
        jnp.ones((2, 4)) + jnp.ones(4)
    with hloom.numpy_rank_promotion("raise"):
        jnp.ones((2, 3)) + 1.0  # noqa: B018


def test_python_does_not_repeat_lists_by_arrays():
    x = jnp.arange(2)
    for use in (lambda: x * [1, 2], lambda: [1, 2] * x, lambda: (1, 2) * x):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*.*jnp.array"):
            use()
    assert [0] * jnp.int32(3) == [0, 0, 0]


def test_pow_takes_no_modulo():
    with pytest.raises(TypeError, match="unsupported operand"):
        pow(jnp.arange(3), 2, 5)


@pytest.mark.parametrize("use", [jnp.sum, jnp.max, jnp.cumsum, jnp.argmax, jnp.mean, jnp.squeeze])
def test_true_is_no_axis(use):
    with pytest.raises(TypeError, match="integer axis; got True"):
        use(jnp.ones((2, 1)), True)
