"""Where an error says it arose, what it says was being traced, and which frames it shows."""

from __future__ import annotations

import copy
import pickle
import threading
import traceback
import warnings
from functools import partial, reduce
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax
from hloom.config import options
from hloom.core.support import source

PACKAGE = str(Path(hloom.__file__).parent)

# A user's file.  Each faulty function has its fault on the line that a comment marks.
LAYERS = """\
from functools import partial, reduce
import numpy as np
import hloom
import hloom.numpy as jnp
from hloom import lax


def layer(x, w):
    return x @ w  # layer


def matmul(x):
    return layer(jnp.ones((2, 3)), x).sum()


def broadcast(x):
    y = jnp.ones(7)
    return (x + y).sum()  # broadcast


def reshape(x):
    return x.reshape(7, 3).sum()  # reshape


def concatenate(x):
    z = jnp.ones((2, 2))
    return jnp.concatenate([x, z]).sum()  # concatenate


def stack(x):
    return jnp.stack([x, x[0]]).sum()  # stack


def einsum(x):
    return jnp.einsum("ij,ij->k", x, x).sum()  # einsum


def axis(x):
    return jnp.sum(x, axis=5)  # axis


def index(x):
    return x[9].sum()  # index


def dtype(x):
    return x.astype("flaot32").sum()  # dtype


def strict(x):
    return lax.add(x, jnp.ones(4, jnp.float16)).sum()  # strict


def comprehension(x):
    return sum([row @ x for row in x])  # comprehension


def reduced(x):
    return reduce(lambda a, b: a @ b, [x, x]).sum()  # reduced


def long(x):
    return jnp.concatenate(
        [x, x],
        axis=7,
    ).sum()


def update(x):
    x += jnp.ones((3, 3))  # update
    return x.sum()


class Model:
    def __call__(self, x):
        return self.apply(x)

    def apply(self, x):
        return x @ x  # Model

    @staticmethod
    def fixed(x):
        return x @ x  # fixed


def decorated(x):
    @hloom.jit
    def inner(y):
        return y @ y  # inner
    return inner(x).sum()


def scanned(x):
    def body(carry, row):
        return carry + row @ jnp.ones(9), row  # body
    return lax.scan(body, 0.0, x)[0]


def branched(x):
    return lax.cond(True, lambda y: y @ y, lambda y: y, x).sum()  # branched


def looped(x):
    return lax.fori_loop(0, 3, lambda i, y: y @ y, x).sum()  # looped


def own(x):
    raise ValueError("mine")


def own_lookup(x):
    return {}["absent"]


def caught(x):
    try:
        return x @ x
    except ValueError as error:
        raise RuntimeError("layer 3") from error


def median(x):
    return np.median(x)  # median
"""


@pytest.fixture(scope="module")
def layers(tmp_path_factory) -> ModuleType:
    file = tmp_path_factory.mktemp("user") / "layers.py"
    file.write_text(LAYERS)
    module = ModuleType("layers")
    module.__file__ = str(file)
    exec(compile(LAYERS, str(file), "exec"), vars(module))
    return module


def line_of(mark: str) -> int:
    lines = LAYERS.splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


X = jnp.ones((4, 5))

# The faulty function: the mark of its line, the function that has that line, the expression.
FAULTS = {
    "matmul": ("layer", "layer", "x @ w"),
    "broadcast": ("broadcast", "broadcast", "x + y"),
    "reshape": ("reshape", "reshape", "x.reshape(7, 3)"),
    "concatenate": ("concatenate", "concatenate", "jnp.concatenate([x, z])"),
    "stack": ("stack", "stack", "jnp.stack([x, x[0]])"),
    "einsum": ("einsum", "einsum", 'jnp.einsum("ij,ij->k", x, x)'),
    "axis": ("axis", "axis", "jnp.sum(x, axis=5)"),
    "index": ("index", "index", "x[9]"),
    "dtype": ("dtype", "dtype", 'x.astype("flaot32")'),
    "strict": ("strict", "strict", "lax.add(x, jnp.ones(4, jnp.float16))"),
    "comprehension": ("comprehension", "comprehension", "row @ x"),
    "reduced": ("reduced", "<lambda>", "a @ b"),
    "update": ("update", "update", "x += jnp.ones((3, 3))"),
}

# The transformation: how it is applied to a function and X, and the chain it adds to a name.
TRANSFORMS = {
    "jit": (lambda f: hloom.jit(f)(X), "{} for jit"),
    "grad": (lambda f: hloom.grad(f)(X), "{} for grad"),
    "value_and_grad": (lambda f: hloom.value_and_grad(f)(X), "{} for value_and_grad"),
    "vmap": (lambda f: hloom.vmap(f)(X[None]), "{} for vmap"),
    "jvp": (lambda f: hloom.jvp(f, (X,), (X,)), "{} for jvp"),
    "vjp": (lambda f: hloom.vjp(f, X), "{} for vjp"),
    "linearize": (lambda f: hloom.linearize(f, X), "{} for linearize"),
    "make_jaxpr": (lambda f: hloom.make_jaxpr(f)(X), "{} for make_jaxpr"),
    "eval_shape": (lambda f: hloom.eval_shape(f, X), "{} for eval_shape"),
    "lower": (lambda f: hloom.jit(f).lower(X), "{} for jit"),
    "jit of grad": (lambda f: hloom.jit(hloom.grad(f))(X), "{} for grad, for jit"),
    "grad of jit": (lambda f: hloom.grad(hloom.jit(f))(X), "{} for jit, for grad"),
    "jit of vmap of grad": (
        lambda f: hloom.jit(hloom.vmap(hloom.grad(f)))(X[None]),
        "{} for grad, for vmap, for jit",
    ),
    "scan in jit": (
        lambda f: hloom.jit(partial(loop, f))(X),
        "{} for scan, inside loop for jit",
    ),
    "grad in jit": (
        lambda f: hloom.jit(partial(slope, f))(X),
        "{} for grad, inside slope for jit",
    ),
}


def loop(f, x):
    return lax.scan(lambda_named(f), 0.0, x[None])


def lambda_named(f):
    def body(carry, x):
        return carry, f(x)

    body.__name__ = f.__name__
    return body


def slope(f, x):
    return hloom.grad(f)(x)


def error_of(thunk) -> Exception:
    with pytest.raises(Exception) as caught:
        thunk()
    return caught.value


def frames_of(error) -> list[str]:
    return [entry.filename for entry in traceback.extract_tb(error.__traceback__)]


def ours_of(error) -> list[str]:
    return [file for file in frames_of(error) if file.startswith(PACKAGE)]


def told(error) -> list[str]:
    """The lines that say where, and what was being traced."""
    lines = str(error).splitlines()
    return [line for line in lines if line.startswith(("  at ", "  while tracing "))]


# ---- the line and the chain ---------------------------------------------------------------------
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", FAULTS)
def test_an_error_raised_while_tracing_names_the_line_and_the_chain_once(layers, name, transform):
    mark, function, expression = FAULTS[name]
    apply, chain = TRANSFORMS[transform]
    error = error_of(lambda: apply(getattr(layers, name)))
    where = f"  at layers.py:{line_of(mark)} ({function}): {expression}"
    assert told(error) == [where, f"  while tracing {chain.format(name)}"]
    assert ours_of(error) == []
    assert frames_of(error)[-1].endswith("layers.py")


@pytest.mark.parametrize("name", FAULTS)
def test_the_kind_and_the_rule_are_those_of_the_eager_call(layers, name):
    eager = error_of(lambda: getattr(layers, name)(X))
    traced = error_of(lambda: hloom.jit(getattr(layers, name))(X))
    assert type(traced) is type(eager)
    assert str(traced).partition("\n  at ")[0] == str(eager).partition("\n  at ")[0]
    assert told(eager) == []  # Python's own traceback shows the line


@pytest.mark.parametrize(
    ("name", "place", "chain"),
    [
        ("decorated", "inner): y @ y", "inner for jit, inside decorated for jit"),
        ("scanned", "body): row @ jnp.ones(9)", "body for scan, inside scanned for jit"),
    ],
)
def test_an_inner_function_is_named_with_the_one_around_it(layers, name, place, chain):
    error = error_of(lambda: hloom.jit(getattr(layers, name))(X))
    mark = place.partition(")")[0]
    assert told(error) == [f"  at layers.py:{line_of(mark)} ({place}", f"  while tracing {chain}"]


@pytest.mark.parametrize(("name", "who"), [("branched", "cond"), ("looped", "fori_loop")])
def test_a_lambda_is_named_by_its_place(layers, name, who):
    place, chain = told(error_of(lambda: hloom.jit(getattr(layers, name))(X)))
    line = f"layers.py:{line_of(name)}"
    assert place == f"  at {line} (<lambda>): y @ y"
    assert chain == f"  while tracing <lambda> ({line}) for {who}, inside {name} for jit"


def test_an_expression_of_many_lines_is_shown_on_one(layers):
    place, _ = told(error_of(lambda: hloom.jit(layers.long)(X)))
    assert place.endswith("(long): jnp.concatenate( [x, x], axis=7, )")


def test_a_long_expression_is_cut(tmp_path):
    text = f"def f(x):\n    return x @ ({' + '.join(['x'] * 90)})\n"
    file = tmp_path / "wide.py"
    file.write_text(text)
    names: dict = {}
    exec(compile(text, str(file), "exec"), names)
    place, _ = told(error_of(lambda: hloom.jit(names["f"])(X)))
    assert place.endswith("...") and len(place) < 150


def test_methods_and_callable_objects_are_named_by_their_class(layers):
    model = layers.Model()
    for fun, chain in [(model, "Model"), (model.apply, "apply")]:
        place, tracing = told(error_of(lambda fun=fun: hloom.jit(fun)(X)))
        assert place == f"  at layers.py:{line_of('Model')} (Model.apply): x @ x"
        assert tracing == f"  while tracing {chain} for jit"
    place, _ = told(error_of(lambda: hloom.jit(layers.Model.fixed)(X)))
    assert place == f"  at layers.py:{line_of('fixed')} (Model.fixed): x @ x"


def test_a_partial_is_named_by_its_function(layers):
    error = error_of(lambda: hloom.jit(partial(layers.layer, X))(X))
    assert told(error)[1] == "  while tracing layer for jit"


def test_a_function_of_the_package_is_placed_where_the_user_called():
    error = error_of(lambda: hloom.jit(jnp.dot)(X, X))
    place, chain = told(error)
    assert "test_frames.py:" in place and place.endswith("hloom.jit(jnp.dot)(X, X)")
    assert chain == "  while tracing dot for jit"
    assert ours_of(error) == []


@pytest.mark.parametrize("file", ["<string>", "<stdin>", "<ipython-input-1-abc>"])
def test_code_without_a_file_is_told_by_its_line(file):
    names: dict = {}
    exec(compile("\n\nf = lambda x: x @ x", file, "exec"), names)
    error = error_of(lambda: hloom.jit(names["f"])(X))
    assert told(error)[0] == f"  at {file}:3 (<lambda>)"


def test_what_a_function_of_numpy_asks_is_placed_at_the_users_line(layers):
    error = error_of(lambda: hloom.jit(layers.median)(X))
    assert isinstance(error, hloom.errors.TracerArrayConversionError)
    assert f"layers.py:{line_of('median')} (median): return np.median(x)" in str(error)
    assert "hloom.numpy.median" in str(error)


def test_a_tracers_own_text_is_told_the_chain_only_if_there_is_more_to_tell():
    def f(x):
        return 1.0 if x > 0 else 2.0

    alone = str(error_of(lambda: hloom.jit(f)(1.0)))
    nested = str(error_of(lambda: hloom.vmap(hloom.jit(f))(jnp.ones(2))))
    assert "while tracing the function f" in alone and "  while tracing" not in alone
    assert nested.count("  at ") == 1
    assert nested.endswith("  while tracing f for jit, for vmap")


def test_a_file_below_the_current_folder_is_named_from_there(layers, monkeypatch):
    monkeypatch.chdir(Path(layers.__file__).parents[1])
    place, _ = told(error_of(lambda: hloom.jit(layers.broadcast)(X)))
    folder = Path(layers.__file__).parent.name
    assert place.startswith(f"  at {folder}/layers.py:")


# ---- what a transformation finds in a function that has returned --------------------------------
def test_a_missing_rule_names_the_line_of_the_operation():
    def f(x):
        return lax.while_loop(lambda c: c < 3, lambda c: c * 2, x)

    error = error_of(lambda: hloom.grad(hloom.jit(f))(1.0))
    assert f"test_frames.py:{f.__code__.co_firstlineno + 1}" in str(error)


GRADIENTS = [
    hloom.grad,
    lambda f: hloom.jit(hloom.grad(f)),
    lambda f: hloom.grad(hloom.jit(f)),
]


@pytest.mark.parametrize("transform", GRADIENTS)
def test_an_operation_without_a_derivative_is_named_with_its_line_in_a_loop_too(transform):
    def f(x):
        def body(carry, _):
            return lax.nextafter(carry, jnp.float32(9)), None

        return lax.scan(body, x, None, length=2)[0]

    error = error_of(lambda: transform(f)(jnp.float32(1)))
    assert isinstance(error, NotImplementedError) and str(error).startswith("nextafter")
    assert told(error)[0].endswith("(body): lax.nextafter(carry, jnp.float32(9))")
    assert ours_of(error) == []


# ---- the user's own errors ----------------------------------------------------------------------
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_an_error_of_the_users_own_is_not_touched(layers, transform):
    error = error_of(lambda: TRANSFORMS[transform][0](layers.own))
    assert type(error) is ValueError and error.args == ("mine",)
    assert not hasattr(error, "__notes__")
    assert ours_of(error) == []


def test_the_object_that_was_raised_arrives():
    raised = ValueError("mine")

    def f(x):
        raise raised

    assert error_of(lambda: hloom.jit(hloom.grad(f))(1.0)) is raised


def test_a_users_error_keeps_its_cause(layers):
    error = error_of(lambda: hloom.jit(layers.caught)(X))
    assert str(error) == "layer 3"
    assert str(error.__cause__).startswith("matmul: shapes")
    assert ours_of(error) == ours_of(error.__cause__) == []


def test_an_error_may_refuse_that_attributes_are_set():
    class Frozen(Exception):
        def __setattr__(self, name, value):
            raise AttributeError(name)

    def f(x):
        raise Frozen("mine")

    assert ours_of(error_of(lambda: hloom.jit(f)(1.0))) == []


def test_an_error_that_is_caught_inside_is_told_once(layers):
    seen = []

    def f(x):
        try:
            hloom.grad(layers.matmul)(x)
        except ValueError as error:
            seen.append(error)
            raise

    error = error_of(lambda: hloom.jit(f)(X))
    assert error is seen[0]
    assert told(error)[1:] == ["  while tracing matmul for grad, inside f for jit"]


def test_errors_of_many_threads_do_not_mix(layers):
    found = {}

    def run(name):
        found[name] = told(error_of(lambda: hloom.jit(getattr(layers, name))(X)))

    threads = [threading.Thread(target=run, args=(name,)) for name in FAULTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, (mark, _, _) in FAULTS.items():
        assert f"layers.py:{line_of(mark)} " in found[name][0]


@pytest.mark.parametrize("name", FAULTS)
def test_a_told_error_can_be_pickled_and_copied(layers, name):
    error = error_of(lambda: hloom.jit(getattr(layers, name))(X))
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error) and str(other) == str(error)
        assert getattr(other, "axis", None) == getattr(error, "axis", None)


def test_a_warning_made_an_error_is_placed_too():
    def f(x):
        return x.astype("float64")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = error_of(lambda: hloom.jit(f)(X))
    assert isinstance(error, hloom.errors.TruncationWarning)
    assert len(told(error)) == 2


# ---- frames -------------------------------------------------------------------------------------
CALLS = {
    "operator": lambda: X + jnp.ones(7),
    "reflected": lambda: np.ones(7) + X,
    "matmul": lambda: X @ X,
    "function": lambda: jnp.matmul(X, jnp.ones(9)),
    "reduction": lambda: X.sum(axis=7),
    "method": lambda: X.reshape(7),
    "getitem": lambda: X[9],
    "mask": lambda: X[jnp.ones(9, bool)],
    "concatenate": lambda: jnp.concatenate([X, jnp.ones(3)]),
    "einsum": lambda: jnp.einsum("ij,k", X),
    "array": lambda: jnp.array(["a"]),
    "zeros": lambda: jnp.zeros("a"),
    "lax": lambda: lax.add(X, jnp.ones((3, 3))),
    "lax reshape": lambda: lax.reshape(X, (7,)),
    "scan": lambda: lax.scan(lambda c, x: c, 0.0, X),
    "jit": lambda: hloom.jit(lambda x: x)("text"),
    "grad": lambda: hloom.grad(lambda x: x)(X),
    "vmap": lambda: hloom.vmap(lambda x, y: x)(X, jnp.ones(3)),
    "jvp": lambda: hloom.jvp(lambda x: x, (X,), (1.0,)),
    "pull back": lambda: hloom.vjp(lambda x: x, X)[1]((1.0, 2.0)),
    "compiled": lambda: hloom.jit(lambda x: x).lower(X).compile()(1.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_eager_error_shows_hardly_a_frame_of_the_package(name):
    most = 3 if name in ("method", "concatenate", "function", "lax") else 1
    error = error_of(CALLS[name])
    assert len(ours_of(error)) <= most, ours_of(error)
    assert frames_of(error)[0] == __file__
    assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)


@pytest.mark.filterwarnings("ignore")
def test_a_public_function_shows_hardly_a_frame_whatever_it_is_given():
    shown = {}
    for name, fun in vars(jnp).items():
        if isinstance(fun, FunctionType) and not name.startswith("_"):
            for given in [(object(),), (X, object()), (X, 99), ("text",), ([X, "text"],)]:
                try:
                    fun(*given)
                except Exception as error:
                    shown[name] = max(shown.get(name, 0), len(ours_of(error)))
    plain = {name for name, count in shown.items() if count > 2}
    assert len(shown) > 250 and not plain


@pytest.mark.parametrize("mode", ["off", "tracebackhide"])
def test_frames_stay_where_the_option_says_so(layers, mode):
    with options(traceback_filtering=mode):
        error = error_of(lambda: hloom.jit(layers.matmul)(X))
    assert len(ours_of(error)) > 5
    assert told(error)  # the line is told all the same
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    marked = [f for f in frames if "__tracebackhide__" in f.f_locals]
    ours = [f for f in frames if f.f_code.co_filename.startswith(PACKAGE)]
    assert marked == (ours if mode == "tracebackhide" else [])


def test_the_removal_is_noted_where_the_option_says_so(layers):
    with options(traceback_filtering="remove_frames"):
        error = error_of(lambda: hloom.jit(layers.matmul)(X))
    assert ours_of(error) == []
    assert "HLOOM_TRACEBACK_FILTERING=off" in error.__notes__[0]


def test_the_option_has_jaxs_name_and_values():
    hloom.config.update("jax_traceback_filtering", "quiet_remove_frames")
    hloom.config.update("jax_traceback_filtering", "auto")
    with pytest.raises(ValueError, match="takes one of 'auto', 'off'"):
        hloom.config.update("traceback_filtering", "no")


def test_an_error_the_user_was_handling_stays_its_context():
    def f():
        try:
            raise KeyError("mine")
        except KeyError:
            return X @ X

    error = error_of(f)
    assert isinstance(error.__context__, KeyError)
    assert not error.__suppress_context__


def test_a_traceback_that_somebody_holds_is_not_changed():
    held = []

    def f(x):
        try:
            return x @ x
        except ValueError as error:
            held.append(error.__traceback__)
            raise

    error_of(lambda: hloom.jit(f)(X))
    assert len(list(traceback.walk_tb(held[0]))) > 1


# ---- which files are whose ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (__file__, True),
        ("<string>", True),
        (str(Path(np.__file__).parents[1] / "flax" / "linen.py"), True),
        (np.__file__, False),
        (reduce.__module__ and threading.__file__, False),
        (hloom.__file__, False),
        ("<frozen runpy>", False),
    ],
)
def test_a_file_is_the_users_or_is_passed_over(file, expected):
    assert source.is_users(file) is expected
