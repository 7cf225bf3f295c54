"""Errors: their bases, their texts, and their help pages."""

from __future__ import annotations

import inspect
import linecache
import pickle
import re
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors
from hloom.errors import Traced, Where, texts

DOCS = Path(__file__).resolve().parents[2] / "docs" / "errors"

CLASSES = [
    value
    for name in errors.__all__
    if isinstance(value := getattr(errors, name), type) and issubclass(value, Exception)
    if value.__name__ == name
]
PAGES = [cls for cls in CLASSES if "# raises: " in (cls.__doc__ or "")]
NO_PROGRAM = {"CacheWarning", "InconclusiveDimensionOperation", "KeyReuseError"}


def name_of(cls):
    return cls.__name__


# ---- the classes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("ConcretizationTypeError", [errors.JAXTypeError, TypeError]),
        ("TracerBoolConversionError", [errors.ConcretizationTypeError, TypeError]),
        ("TracerArrayConversionError", [errors.JAXTypeError]),
        ("TracerIntegerConversionError", [errors.JAXTypeError]),
        ("NonConcreteBooleanIndexError", [errors.JAXIndexError, IndexError]),
        ("UnexpectedTracerError", [errors.JAXTypeError]),
        ("KeyReuseError", [errors.JAXTypeError]),
        ("JaxprTypeError", [TypeError]),
        ("ImmutableArrayError", [TypeError]),
        ("MaskedArrayError", [ValueError]),
        ("DeletedArrayError", [RuntimeError]),
        ("EngineError", [RuntimeError]),
        ("EngineUnsupported", [errors.EngineError]),
        ("DeviceMemoryError", [MemoryError, errors.EngineError]),
        ("TruncationWarning", [UserWarning]),
        ("CacheWarning", [UserWarning]),
        ("DroppedUpdateWarning", [UserWarning]),
    ],
)
def test_what_an_except_clause_catches(name, bases):
    for base in bases:
        assert issubclass(getattr(errors, name), base)


def test_a_name_of_jax_is_another_name_of_ours():
    assert errors.JaxRuntimeError is errors.EngineError


@pytest.mark.parametrize("name", errors.__all__)
def test_names_are_those_that_a_user_reaches(name):
    assert getattr(errors, name).__module__ == "hloom.errors"


# ---- the pages -------------------------------------------------------------------------------


def page(cls):
    """The text of a class's page: its docstring."""
    return f"# {cls.__name__}\n\n{inspect.getdoc(cls)}\n"


@pytest.mark.parametrize("cls", PAGES, ids=name_of)
def test_a_page_is_the_docstring(cls):
    file = DOCS / f"{cls.__name__}.md"
    assert file.read_text() == page(cls), (
        "to write the pages anew: python -m tests.errors.test_pages"
    )


def test_every_class_has_a_page_or_is_on_the_first():
    assert {cls.__name__ for cls in CLASSES} - {cls.__name__ for cls in PAGES} == NO_PROGRAM
    for name in NO_PROGRAM:
        assert f"`{name}`" in (DOCS / "index.md").read_text()
    files = {file.stem for file in DOCS.glob("*.md")} - {"index"}
    assert files == {cls.__name__ for cls in PAGES}


@pytest.mark.parametrize("cls", PAGES, ids=name_of)
def test_a_page_begins_with_a_sentence_and_shows_fewer_than_80_columns_of_code(cls):
    lines = page(cls).splitlines()
    assert lines[2].endswith(".")
    assert lines[3] == ""
    for program in re.findall(r"```python\n(.*?)```", page(cls), re.DOTALL):
        assert max(map(len, program.splitlines())) < 80


# ---- the texts -------------------------------------------------------------------------------


class Place(NamedTuple):
    file: str = "<program>"
    line: int = 1
    function: str = "f"


class Type(NamedTuple):
    text: str
    shape: tuple[int, ...] = ()

    def __str__(self):
        return self.text


WHERE = Where("f", "app.py", 3, "jit")
SCALAR = Traced(Type("bool[]"), WHERE, ["neg"], positions=(1,))


@pytest.fixture
def line(monkeypatch):
    """A user's program of one line; answers the place where it stands."""

    def write(text):
        monkeypatch.setitem(
            linecache.cache, "<program>", (len(text), None, [text + "\n"], "<program>")
        )
        return Place()

    return write


def ways(error):
    """The code of the ways out that an error lists."""
    _, _, listed = str(error).partition("out:\n")
    return [
        way.partition("   # ")[0].strip() for way in listed.splitlines() if way.startswith("  ")
    ]


def test_the_whole_text_of_one_error(line):
    at = line("return -x if neg else x")
    made_at = [("a:bool[] = lt b 0.0", "app.py", 4, "f")]
    error = errors.TracerBoolConversionError.of(SCALAR._replace(at=at, made_at=made_at))
    assert (
        str(error)
        == """\
Attempted boolean conversion of traced array with shape bool[].
  at <program>:1 (f): return -x if neg else x
The error occurred while tracing the function f at app.py:3 for jit. This concrete value was not \
available in Python because it depends on the value of the argument `neg`.
This value became a tracer due to hloom operations on these lines:
  operation a:bool[] = lt b 0.0
    from line app.py:4 (f)
Ways out:
  jit(f, static_argnums=(1,))           # a Python value; compiled once for each
  lax.cond(p, true_fun, false_fun, x)   # run one of two functions
  jnp.where(p, a, b)                    # choose element by element
See help(hloom.errors.TracerBoolConversionError)."""
    )


@pytest.mark.parametrize(
    ("traced", "way"),
    [
        (SCALAR, "jit(f, static_argnums=(1,))"),
        (SCALAR._replace(positions=()), "jit(f, static_argnames='neg')"),
        (SCALAR._replace(arguments=["a", "b"], positions=(0, 2)), "jit(f, static_argnums=(0, 2))"),
        (SCALAR._replace(arguments=["a", "b"], positions=()), "jit(f, static_argnames=('a', 'b'))"),
        (SCALAR._replace(where=WHERE._replace(function="<lambda>")), "jit(f, static_argnums=(1,))"),
        (SCALAR._replace(where=WHERE._replace(transform="vmap")), None),
        (SCALAR._replace(hashable=False), None),
        (SCALAR._replace(where=WHERE._replace(transform="scan")), None),
        (SCALAR._replace(arguments=["params['w']"]), None),
        (SCALAR._replace(arguments=["a", "b", "c"]), None),
        (SCALAR._replace(arguments=[]), None),
    ],
)
def test_an_argument_is_made_static_only_where_that_is_possible(traced, way):
    assert [code for code, _ in texts.static_ways(traced)] == ([way] if way else [])


def test_the_truth_of_many_elements_wants_any_or_all_first():
    many = SCALAR._replace(aval=Type("bool[3]", (3,)))
    assert ways(errors.TracerBoolConversionError.of(many))[0] == "x.any() or x.all()"


def test_the_last_five_operations_are_shown():
    made_at = [(f"operation_{i}", "app.py", i, "f") for i in range(8)]
    text = str(errors.TracerBoolConversionError.of(SCALAR._replace(made_at=made_at)))
    assert re.findall(r"operation_(\d)", text) == list("34567")


def test_a_range_over_a_tracer_is_a_loop(line):
    at = line("for i in range(n):")
    assert "lax.fori_loop(0, n, body, x)" in ways(
        errors.TracerIntegerConversionError.of(SCALAR._replace(at=at))
    )


@pytest.mark.parametrize(
    ("source", "way"),
    [
        ("y = np.sin(x)", "hloom.numpy.sin"),
        ("return numpy.asarray(x)", "x"),
        ("np.sin(np.cos(x))", "import hloom.numpy as jnp"),
        ("plot(x)", "import hloom.numpy as jnp"),
        ("not ( python", "import hloom.numpy as jnp"),
    ],
)
def test_numpy_functions_are_replaced_by_name(line, source, way):
    error = errors.TracerArrayConversionError.of(SCALAR._replace(at=line(source)))
    assert ways(error) == [way]


@pytest.mark.parametrize(
    ("source", "way"),
    [
        ("return x[x < 0]", "jnp.where(x < 0, x, 0)"),
        ("y = x[mask] + 1", "jnp.where(mask, x, 0)"),
        ("if x[x > 0].sum() > a[i]:", "jnp.where(x > 0, x, 0)"),
        ("elif x[~m].any():", "jnp.where(~m, x, 0)"),
        ("return x[(x < 0) & (y > 1)]", "jnp.where((x < 0) & (y > 1), x, 0)"),
        ("x[a], x[b]", "jnp.where(mask, x, 0)"),
        ("x.at[x < 0].get()", "jnp.where(mask, x, 0)"),
        ("", "jnp.where(mask, x, 0)"),
    ],
)
def test_a_selection_by_a_mask_is_rewritten_in_the_users_names(line, source, way):
    error = errors.NonConcreteBooleanIndexError.of(SCALAR._replace(at=line(source)))
    assert ways(error)[0] == way


@pytest.mark.parametrize(
    ("source", "way"),
    [
        ("x[0] = 10", "x = x.at[0].set(10)"),
        ("x[0] += 1", "x = x.at[0].add(1)"),
        ("x[0, 1:] *= y", "x = x.at[0, 1:].multiply(y)"),
        ("self.w[..., None] -= f(x)[0]", "self.w = self.w.at[..., None].subtract(f(x)[0])"),
        ("if a: x[()] = 1", "x = x.at[()].set(1)"),
        ("x[0] = 1; y[1] = 2", "x = x.at[7].set(3)"),
        ("x[i][j] = 3", "x = x.at[i, j].set(3)"),
        ("x[i, 0][j] += 3", "x = x.at[i, 0, j].add(3)"),
        ("x['w'][j] = 3", "x['w'] = x['w'].at[j].set(3)"),
        ("x[0] //= 2", "x = x.at[7].set(3)"),
        ("", "x = x.at[7].set(3)"),
    ],
)
def test_an_assignment_is_rewritten_in_the_users_names(line, source, way):
    assert ways(errors.ImmutableArrayError.assignment("Array", 7, 3, at=line(source))) == [way]


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (0, "0"),
        (slice(None, 3), ":3"),
        (slice(1, None, -2), "1::-2"),
        ((0, ..., None, slice(None)), "0, ..., None, :"),
        ((1,), "1,"),
        ((), "()"),
        ([1, 2], "[1, 2]"),
        (list(range(50)), "index"),
        (object(), "index"),
    ],
)
def test_an_index_is_written_as_python(index, text):
    assert texts.index_text(index) == text


def test_a_value_that_is_long_is_called_y():
    error = errors.ImmutableArrayError.assignment("Array", 0, [1, 2, 3])
    assert ways(error) == ["x = x.at[0].set(y)"]


def test_a_leak_says_what_where_and_when():
    made_at = [("a:f32[3] = sin b", "app.py", 7, "f")]
    done = str(errors.UnexpectedTracerError.leaked("f32[3]", WHERE, made_at))
    assert "A traced f32[3] was used after jit(f) at app.py:3 had returned." in done
    assert "created on line app.py:7 (f)" in done
    running = str(errors.UnexpectedTracerError.leaked("f32[3]", WHERE, finished=False))
    assert "while jit(f) at app.py:3 is still being traced" in running


def test_a_shape_made_of_constants_should_be_computed_by_numpy():
    constant = SCALAR._replace(arguments=[], positions=())
    error = errors.ConcretizationTypeError.shape((3, "Traced"), constant)
    assert ways(error) == ["np.prod(x.shape)"]
    assert "got [3, 'Traced']" in str(error)
    assert ways(errors.ConcretizationTypeError.shape(3, SCALAR)) == ["jit(f, static_argnums=(1,))"]


def test_a_conversion_names_the_function_and_the_dtype_cure():
    error = errors.ConcretizationTypeError.conversion(SCALAR, "float")
    assert "`float` function" in str(error)
    assert ways(error)[0] == "x.astype(float)"
    assert "x.astype" not in str(errors.ConcretizationTypeError.conversion(SCALAR, "tolist"))


def test_a_parameter_and_a_size_are_named():
    parameter = errors.ConcretizationTypeError.parameter("jnp.sum", "axis", SCALAR)
    assert "jnp.sum needs the value of `axis`" in str(parameter)
    size = errors.ConcretizationTypeError.size("jnp.nonzero", SCALAR)
    assert ways(size) == ["jnp.nonzero(x, size=n)"]
    repeat = errors.ConcretizationTypeError.size("repeat", SCALAR, "total_repeat_length")
    assert ways(repeat) == ["repeat(x, total_repeat_length=n)"]


@pytest.mark.parametrize(
    ("value", "way"),
    [
        ([1], "y=tuple(...)"),
        ({1}, "y=frozenset(...)"),
        ({1: 2}, "y=tuple(d.items())"),
        (slice(1), "y=a hashable value"),
    ],
)
def test_a_static_argument_that_cannot_be_hashed_is_named(value, way):
    error = errors.unhashable_static("f", "y", value)
    assert type(error) is ValueError
    assert f"`y` of jit(f) is a {type(value).__name__}" in str(error)
    assert ways(error) == [way]


def test_a_static_argument_that_is_an_array_should_not_be_static():
    class Array:
        def __array__(self):
            raise AssertionError

    assert ways(errors.unhashable_static("f", "y", Array())) == ["jit(f)"]


@pytest.mark.parametrize("rule", ["infer", "numpy", "emit", "jvp", "transpose", "batch"])
def test_a_missing_rule_says_what_cannot_be_done(rule):
    error = errors.missing_rule("sort", rule)
    assert type(error) is NotImplementedError
    assert str(error).startswith(f"sort has no {rule} rule, so ")


MADE = [
    errors.DeletedArrayError.of("f32[3]"),
    errors.DeletedArrayError.of("f32[3]", WHERE),
    errors.EngineError.of("xla", "compile", "no"),
    errors.EngineUnsupported.operation("reference", "fft", "its results are complex"),
    errors.DeviceMemoryError.allocation("f32[3]", 1 << 40, "RESOURCE_EXHAUSTED"),
    errors.DeviceMemoryError.allocation("program 'f'"),
    errors.TruncationWarning.dtype("int64", "int32", "zeros"),
    errors.TruncationWarning.value(2**40, "int64", "int32"),
    errors.CacheWarning.of("/tmp/shared", "others may write to it"),
    errors.ImmutableArrayError.deletion("Array", 3),
]


@pytest.mark.parametrize("error", MADE, ids=lambda e: type(e).__name__)
def test_an_error_ends_with_its_help_and_survives_pickling(error):
    assert str(error).splitlines()[-1] == f"See help(hloom.errors.{type(error).__name__})."
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))


if __name__ == "__main__":
    for error_class in PAGES:
        (DOCS / f"{error_class.__name__}.md").write_text(page(error_class))


def test_an_update_that_nothing_takes_is_told_once():
    x = jnp.zeros(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            x.at[0].set(1.0)
        y = x.at[0].set(1.0)
        z = [x.at[0].add(1.0), (lambda: x.at[:].mul(2.0))(), x.at[1].get()]
        assert y[0] == z[0][0] == 1
    (warning,) = caught
    assert warning.category is errors.DroppedUpdateWarning
    assert warning.filename == __file__
    assert "x = x.at[...].set(...)" in str(warning.message)


def test_an_update_that_nothing_takes_is_told_under_a_trace():
    def f(x):
        x.at[x > 0].set(1.0)
        return x

    with pytest.warns(errors.DroppedUpdateWarning, match="nothing takes it"):
        hloom.jit(f)(jnp.zeros(3))
