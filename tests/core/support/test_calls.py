"""Calls that can't be right: what is said names the function, and is no message of Python's own."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.core.operands import as_array
from hloom.core.support.calls import is_too_deep, told
from hloom.errors import DeletedArrayError, EngineUnsupported

X = np.arange(3, dtype=np.float32)


# ---- what Python or NumPy raises ----------------------------------------------------------------
def deeper(kind: str) -> Any:
    """An error as operations on an unfit value raise it; `ours` has hloom's frames in between."""
    raised: dict[str, Callable[[], Any]] = {
        "AttributeError": lambda: X.missing,  # type: ignore[attr-defined]
        "KeyError": lambda: {}["key"],
        "TypeError": lambda: list(3),  # type: ignore[call-overload]
        "IndexError": lambda: ()[0],  # type: ignore[misc]
    }
    return raised[kind]()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: jnp.genfromtxt(jnp.arange(3)), r"^genfromtxt\(fname=i32\[3\]\): .*'split'"),
        (lambda: jnp.genfromtxt(3), r"^genfromtxt\(fname=3\): "),
        (lambda: jnp.loadtxt(jnp.ones(3)), r"^loadtxt\(fname=f32\[3\]\): "),
        (lambda: jnp.load(3), r"^load\(file=3\): "),
        (lambda: jnp.fromstring(3, sep=" "), r"^fromstring\(string=3, sep=' '\): "),
    ],
)
def test_what_numpy_stumbles_over_names_the_function_and_what_was_given(
    call: Callable[[], Any], text: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        call()


def test_the_users_errors_stay_as_they_are() -> None:
    def missing(row: Any) -> Any:
        return row.nothing_of_the_kind

    @told
    def apply(fun: Any) -> Any:
        return fun()

    for kind in (AttributeError, KeyError, TypeError, IndexError):
        with pytest.raises(kind) as caught:
            apply(lambda kind=kind: deeper(kind.__name__))
        assert type(caught.value) is kind and "apply" not in str(caught.value)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        jnp.apply_along_axis(missing, 0, X)
    with pytest.raises(FileNotFoundError):
        jnp.load("no such file.npy")


UNFIT: dict[str, Any] = {
    "none": None, "text": "a", "list": ["f"], "dict": {}, "class": object, "array": X,
    "texts": np.array(["a", None]), "function": lambda *xs: None, "pair": (1, "b"), "number": 1.5,
}  # fmt: skip
NUMPYS = {"set_printoptions", "printoptions"}  # they change how all is printed
BARE = re.compile(
    r"'|unsupported operand|unhashable|not all arguments|object of type|argument of type|can only "
)


def functions(module: Any) -> list[str]:
    names = [name for name in dir(module) if not name.startswith("_") and name not in NUMPYS]
    found = [(name, getattr(module, name)) for name in names]
    return [
        name
        for name, fun in found
        if inspect.isfunction(fun) and str(fun.__module__).startswith("hloom")
    ]


def bare(fun: Callable[..., Any], args: list[Any], keywords: dict[str, Any]) -> str:
    """What a call says, if it is a message of Python's that does not name the function."""
    try:
        fun(*args, **keywords)
    except Exception as error:
        first = str(error).split("\n", 1)[0]
        if isinstance(error, (AttributeError, KeyError)) or BARE.match(first):
            return f"{type(error).__name__}: {first}"
    return ""


@pytest.mark.parametrize("unfit", UNFIT)
@pytest.mark.parametrize("module", [jnp, lax], ids=["numpy", "lax"])
def test_no_function_answers_with_a_bare_message_of_pythons(
    module: Any, unfit: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    faults = []
    with hloom.engine("numpy"):
        for name in functions(module):
            fun = getattr(module, name)
            formal = inspect.signature(fun).parameters.values()
            needed = [
                p for p in formal if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD
            ]
            calls: list[tuple[list[Any], dict[str, Any]]] = [([UNFIT[unfit]] * len(needed), {})]
            calls += [
                ([UNFIT[unfit] if i == j else X for j in range(len(needed))], {})
                for i in range(len(needed))
            ]
            said = [bare(fun, *call) for call in calls]
            faults += [f"{name}: {each}" for each in said if each]
    assert not faults, "\n".join(faults)


# ---- lists that are no arrays -------------------------------------------------------------------
def nested(depth: int) -> list[Any]:
    made: list[Any] = [1.0]
    for _ in range(depth):
        made = [made]
    return made


LOOP: list[Any] = [1.0]
LOOP.append(LOOP)
ALONE: list[Any] = []
ALONE.append(ALONE)


@pytest.mark.parametrize(
    "given",
    [LOOP, ALONE, nested(100), nested(2000), (ALONE,)],
    ids=["loop", "alone", "100", "2000", "tuple"],
)
@pytest.mark.parametrize("x64", [False, True])
def test_lists_deeper_than_arrays_or_in_themselves_are_value_errors(given: Any, x64: bool) -> None:
    x = jnp.arange(3)
    calls: dict[str, Callable[[], Any]] = {
        "asarray": lambda: jnp.asarray(given),
        "sin": lambda: jnp.sin(given),
        "add": lambda: jnp.add(x, given),
        "sum": lambda: jnp.sum(given),
        "stack": lambda: jnp.stack(given),
        "concatenate": lambda: jnp.concatenate([x, given]),
        "einsum": lambda: jnp.einsum("a->a", given),
        "index": lambda: x[list(given)],
    }
    with hloom.enable_x64(x64):
        for name, call in calls.items():
            with pytest.raises((ValueError, TypeError, IndexError), match=rf"\b{name}\b"):
                call()
        with pytest.raises(ValueError, match="asarray: .*(nested deeper than the 64|of 64)"):
            jnp.asarray(given)
        with pytest.raises((ValueError, TypeError), match="sum"):
            jnp.sum(x, given)  # an axis


def test_lists_as_deep_as_arrays_are_arrays() -> None:
    assert jnp.asarray(nested(40)).shape == (1,) * 41
    assert not is_too_deep(nested(63)) and is_too_deep(nested(64)) and not is_too_deep([X] * 1000)


class Itself:
    def __jax_array__(self) -> Any:
        return self


class Another:
    def __hloom_array__(self) -> Any:
        return Another()


class Outer:
    """An object that gives an object that gives an array."""

    def __init__(self, inner: Any):
        self.inner = inner

    def __jax_array__(self) -> Any:
        return self.inner


@pytest.mark.parametrize("given", [Itself(), Another()], ids=["itself", "another"])
def test_objects_that_never_give_an_array_are_value_errors(given: Any) -> None:
    calls = [
        jnp.asarray,
        jnp.sin,
        lax.sin,
        hloom.jit(lambda x: x),
        lambda x: jnp.stack([x, x]),
        as_array,
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"__jax_array__ method not producing an array: "):
            call(given)


def test_objects_that_give_such_objects_are_arrays() -> None:
    assert jnp.sin(Outer(Outer(jnp.zeros(2)))).tolist() == [0, 0]
    assert as_array(Outer(Outer(2.5))).tolist() == 2.5
    with pytest.raises(TypeError, match="takes arrays and numbers"):
        lax.sin(Outer("text"))


# ---- membership ---------------------------------------------------------------------------------
class Equal:
    """Equal to all, as `unittest.mock.ANY`."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


VALUES = ["a", None, object(), b"1", {}, {1}, Equal(), 1, 7, np.float32(2)]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("array", [X, X[0], X[:0], X.astype(bool), X.astype("complex64")])
def test_in_answers_as_numpy_does(value: Any, array: np.ndarray[Any, Any]) -> None:
    assert (value in jnp.asarray(array)) is bool(np.any(np.asarray(array) == value))


def test_trim_zeros_takes_letters() -> None:
    for trim in (["f"], 3, None, b"f", "x"):
        with pytest.raises(ValueError, match=r"trim_zeros: unexpected character\(s\) in `trim`"):
            jnp.trim_zeros(X, trim)


# ---- many dimensions, and memory that is gone ---------------------------------------------------
def test_more_than_32_dimensions() -> None:
    x = jnp.asarray(np.ones((1,) * 40, np.float32))
    assert bool(jnp.array_equiv(x, x)) and not jnp.array_equiv(x, x + 1)
    assert lax.broadcast_shapes((1,) * 39 + (2,), (3, 1)) == (1,) * 38 + (3, 2)
    assert x.at[...].set(x + 1).shape == x.shape
    assert jnp.where(x > 0, x, 0.0).shape == x.shape
    with hloom.engine("numpy"):
        assert (x + 1).shape == x.shape
        for call in (
            lambda x: jnp.where(x > 0, x, 0.0),
            hloom.jit(lambda x: jnp.where(x > 0, x, 0)),
        ):
            with pytest.raises(EngineUnsupported, match="numpy engine cannot run select_n.*32 dim"):
                call(x)


@pytest.mark.parametrize("arity", [0, 1, 2, 3])
def test_a_deleted_array_that_is_closed_over_is_named_by_its_type(arity: int) -> None:
    a, b, given = jnp.arange(3.0), jnp.ones((2, 3)), [jnp.float32(1)] * arity
    f = hloom.jit(lambda *xs: a + b + sum(xs))
    f(*given)
    b.delete()
    with pytest.raises(DeletedArrayError, match=r"shape=f32\[2,3\]"):
        f(*given)
    a.delete()
    with pytest.raises(DeletedArrayError, match=r"shape=f32\[3\]"):
        f(*given)
