"""Annotations as tests of values, exactly for rules and leniently for users, and as words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom.core import Primitive, ShapedArray
from hloom.core.jaxpr import Jaxpr
from hloom.core.support.annotations import EXACT, LENIENT, words_of
from hloom.core.support.annotations import test_of as checker_of

F32 = ShapedArray((2, 3), np.dtype(np.float32))


class Fields(NamedTuple):
    """Parameters that a rule takes together."""

    sizes: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]


FIELDS = Fields((1,), ((0, 0),))

# An annotation: what both readings take, what only the lenient one takes, what neither does.
READINGS: dict[Any, tuple[list[Any], list[Any], list[Any]]] = {
    int: ([0, -(2**63)], [np.int8(1), jnp.int32(1), np.array(1)], [True, 1.0, 2**63, "1", None]),
    str: (["a", ""], [], [b"a", 1, None]),
    tuple[int, ...]: ([(), (1, 2)], [[1], range(2), np.arange(2), (np.int8(1),), jnp.arange(2)],
                      [1, (1.0,), (True,), "12", b"1", {1: 1}, None]),
    tuple[tuple[int, int], ...]: ([(), ((1, 2),)], [[[1, 2]], np.ones((1, 2), int)],
                                  [(1, 2), ((1,),), ((1, 2, 3),), ("12",)]),
    tuple[str, str]: ([("a", "b")], [["a", "b"]], [("a",), ("a", 1), "ab", ("a", "b", "c")]),
    int | tuple[int, ...] | None: ([1, (1,), None], [[1]], ["1", 1.5, (None,)]),
}  # fmt: skip


@pytest.mark.parametrize("hint", READINGS, ids=words_of)
def test_a_value_is_read_exactly_or_leniently(hint: Any) -> None:
    exact, lenient = checker_of(hint, EXACT), checker_of(hint, LENIENT)
    both, only_lenient, neither = READINGS[hint]
    taken = [(exact(x), lenient(x)) for x in both]
    assert taken == [(True, True)] * len(both)
    taken = [(exact(x), lenient(x)) for x in only_lenient]
    assert taken == [(False, True)] * len(only_lenient)
    taken = [(exact(x), lenient(x)) for x in neither]
    assert taken == [(False, False)] * len(neither)


def test_only_rules_look_into_classes() -> None:
    exact, lenient = checker_of(Fields, EXACT), checker_of(Fields, LENIENT)
    assert exact(FIELDS) and lenient(FIELDS)
    for wrong in (tuple(FIELDS), Fields([1], ()), Fields((1,), ((0,),)), None):  # type: ignore[arg-type]
        assert not exact(wrong) and lenient(wrong)
    assert not checker_of(bool, EXACT)(1) and checker_of(bool, EXACT)(True)
    for dtype in (np.dtype("O"), np.dtype(">f4"), "float32", np.float32):
        assert not checker_of(np.dtype[Any], EXACT)(dtype)


def test_only_users_give_functions_and_lists_of_anything() -> None:
    assert checker_of(Callable[..., Any], LENIENT)(len)
    assert not checker_of(Callable[..., Any], LENIENT)(3)
    for hint in (Sequence[Any], Iterable[Any]):
        test = checker_of(hint, LENIENT)
        assert test([object()]) and test(np.broadcast_to(1, 10**12))  # without a look into it
        assert not test("ab") and not test(3)


def test_of_a_billion_elements_a_few_are_looked_at() -> None:
    data = np.broadcast_to(1, 10**12)
    assert checker_of(Sequence[int], LENIENT)(data)
    assert not checker_of(Sequence[str], LENIENT)(data)
    assert not checker_of(tuple[int, int], LENIENT)(data)


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (tuple[tuple[int, int], ...], "a tuple of (an int, an int)"),
        (tuple[tuple[int, ...], ...], "a tuple of tuples of ints"),
        (tuple[str, str] | None, "(a str, a str) or None"),
        (Jaxpr, "a Jaxpr"),
        (Fields, "a Fields of tuples of ints, tuples of (an int, an int)"),
    ],
)
def test_annotations_in_words(hint: Any, words: str) -> None:
    assert words_of(hint) == words


# ---- before a rule --------------------------------------------------------------------------
class Example(Primitive):
    """f32[2,3] -- axes=(1,), .. --> f32[2,3].  Does nothing."""

    def infer(
        self, x: ShapedArray, *, axes: tuple[int, ...], dtype: np.dtype[Any], flag: bool,
        name: str | None = None,
    ) -> ShapedArray:  # fmt: skip
        return x


class Bundled(Primitive):
    """f32[2,3] -- sizes=(1,), pads=((0, 0),) --> f32[2,3]."""

    parameters = Fields

    def infer(self, *xs: ShapedArray, **params: Any) -> ShapedArray:
        return xs[0]


class Defaults(NamedTuple):
    """Parameters of which one may be left out."""

    sizes: tuple[int, ...]
    flag: bool = False


class Tupled(Primitive):
    """f32[2,3] -- sizes=(1,), flag=False --> f32[2,3].  Multiplies by the first size."""

    parameters = Defaults

    def infer(self, x: ShapedArray, p: Defaults) -> ShapedArray:
        return x

    def numpy(self, *values: Any, p: Defaults) -> Any:
        return values[0] * np.float32(p.sizes[0])

    def jvp(self, primals: Any, tangents: Any, p: Defaults) -> Any:
        return self(*primals, **p._asdict()), self(*tangents, **p._asdict())

    def batch(self, size: int, operands: Any, batch_axes: Any, p: Defaults) -> Any:
        return self(*operands, **p._replace(flag=True)._asdict()), batch_axes[0]


class Doubled(Tupled):
    """f32[2,3] -- sizes=(1,), flag=False --> f32[2,3].  Passes the tuple on."""

    def batch(self, size: int, operands: Any, batch_axes: Any, p: Defaults) -> Any:
        p = p._replace(sizes=(2 * p.sizes[0],))
        return super().batch(size, operands, batch_axes, p=p)


class Open(Primitive):
    """f32[2,3] --> f32[2,3]."""

    def infer(self, x: ShapedArray, **params: Any) -> ShapedArray:
        return x


RIGHT = {"axes": (1,), "dtype": np.dtype("int8"), "flag": False}
example, bundled, opened = Example("example"), Bundled("bundled"), Open("opened")


def refusal(primitive: Primitive, *avals: ShapedArray, **params: Any) -> str:
    with pytest.raises(TypeError) as caught:
        primitive.infer(*avals, **params)
    return str(caught.value)


def test_rules_may_take_their_parameters_as_one_tuple() -> None:
    tupled, doubled = Tupled("tupled"), Doubled("doubled")
    x = np.ones((2, 3), np.float32)
    assert tupled.infer(F32, sizes=(1,)) is tupled.infer(F32, p=Defaults((1,))) is F32
    closed = hloom.make_jaxpr(lambda x: tupled(x, sizes=(3,)))(x)
    assert closed.jaxpr.equations[0].params == {"sizes": (3,)}
    with hloom.engine("numpy"):
        out, tangent = hloom.jvp(lambda x: tupled(x, sizes=(3,), flag=True), (x,), (x,))
        mapped = hloom.vmap(lambda x: doubled(x, sizes=(3,)))(x)
    assert np.all(np.asarray(out) == 3) and np.all(np.asarray(tangent) == 3)
    assert np.all(np.asarray(mapped) == 6)


@pytest.mark.parametrize(
    ("avals", "params", "text"),
    [
        ((F32,), {"sizes": [1]}, "tupled takes sizes as a tuple of ints; got [1]. As in: f32[2,3]"),
        ((F32,), {"p": Defaults((1.5,))}, "got (1.5,)"),  # type: ignore[arg-type]
        ((F32,), {"sizes": (1,), "size": 1}, "tupled has no parameter size; it has sizes, flag."),
        ((F32,), {"flag": True}, "tupled needs the parameters sizes too."),
        ((F32,), {}, "tupled needs the parameters sizes too."),
        ((F32, F32), {"sizes": (1,)}, "tupled takes as operands: x; got f32[2,3], f32[2,3]."),
        ((), {"sizes": (1,)}, "tupled takes as operands: x; got none."),
    ],
)
def test_the_fields_of_the_tuple_are_checked(avals: Any, params: Any, text: str) -> None:
    assert text in refusal(Tupled("tupled"), *avals, **params)


def test_what_is_as_annotated_is_taken() -> None:
    assert example.infer(F32, **RIGHT) is F32
    assert example.infer(F32, **RIGHT, name="a") is F32
    assert bundled.infer(F32, F32, sizes=(), pads=((0, -1),)) is F32
    assert opened.infer(F32, anything=object()) is F32


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"axes": jnp.arange(3)}, "example takes axes as a tuple of ints; got i32[3]"),
        ({"axes": [1]}, "example takes axes as a tuple of ints; got [1]"),
        ({"axes": (True,)}, "got (True,)"),
        ({"axes": (1.0,)}, "got (1.0,)"),
        ({"axes": (2**63,)}, "got (9223372036854775808,)"),
        ({"axes": (np.int64(1),)}, "got (np.int64(1),)"),
        ({"dtype": "int8"}, "example takes dtype as a dtype; got 'int8'"),
        ({"dtype": np.dtype("O")}, "got dtype('O')"),
        ({"dtype": np.dtype(">f4")}, "got dtype('>f4')"),
        ({"flag": 0}, "example takes flag as True or False; got 0"),
        ({"name": 3}, "example takes name as a str or None; got 3"),
        ({"other": 3}, "example has no parameter other; it has axes, dtype, flag, name"),
    ],
)
def test_what_is_not_as_annotated_is_refused(params: dict[str, Any], text: str) -> None:
    told = refusal(example, F32, **{**RIGHT, **params})
    assert text in told
    assert "As in: f32[2,3] -- axes=(1,), .. --> f32[2,3]" in told


def test_fields_of_a_named_tuple_are_parameters() -> None:
    assert "bundled takes pads as a tuple of" in refusal(bundled, F32, sizes=(), pads=((0,),))
    assert "bundled has no parameter size; it has sizes, pads" in refusal(bundled, F32, size=())
    assert "bundled needs the parameters pads too" in refusal(bundled, F32, sizes=())


def test_operands_are_counted() -> None:
    assert "example takes as operands: x; got f32[2,3], f32[2,3]" in refusal(
        example, F32, F32, **RIGHT
    )
    assert "got none" in refusal(example, **RIGHT)
    assert "add takes 2 operands; got f32[2,3]" in refusal(
        hloom.ops.pointwise.arithmetic.add_p, F32
    )


def test_there_is_no_array_that_no_memory_could_hold() -> None:
    with pytest.raises(ValueError, match=r"^iota: float32\[2305843009213693952\] is of more bytes"):
        hloom.lax.iota("float32", 2**61)
    with pytest.raises(ValueError, match="is of more bytes"):
        ShapedArray((2**62, 0, 4), np.dtype(np.int8))  # NumPy has none either
    with pytest.raises(ValueError, match="64 axes at most"):
        ShapedArray((1,) * 65, np.dtype(np.int8))
