"""What a user sees of a traced value, and of arrays that are not what they seem."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import hloom
import hloom.numpy as jnp
from hloom import lax

SOURCES = str(Path(hloom.__file__).resolve().parents[1])


# ---- a tracer's text ----------------------------------------------------------------------------
def printed(transform, make) -> str:
    """What a function prints that is named `f` and transformed."""
    seen = []

    def f(x, y):
        seen.append(str(made := make(x, y)))
        return jnp.sum(made * 1.0)

    transform(f)
    return seen[0]


X, Y = jnp.ones(3), jnp.array(2.0)


def in_jit(f):
    return hloom.jit(f)(X, Y)


def in_scan(f):
    return lax.scan(lambda c, x: (f(x, c), None), 0.0, X)


@pytest.mark.parametrize(
    ("transform", "make", "text"),
    [
        (in_jit, lambda x, y: x, "float32[3])> in jit(f) from x"),
        (in_jit, lambda x, y: x * y, "float32[3])> in jit(f) from x, y"),
        (in_jit, lambda x, y: y > 0, "bool[])> in jit(f) from y"),
        (in_jit, lambda x, y: jnp.ones(2) + 1, "float32[2])> in jit(f)"),
        (
            lambda f: hloom.jit(f)(X, 1),
            lambda x, y: y,
            "int32[], weak_type=True)> in jit(f) from y",
        ),
        (
            lambda f: hloom.vmap(f, (0, None))(X, Y),
            lambda x, y: x,
            "float32[])> in vmap(f) from x, y",
        ),
        (
            lambda f: hloom.make_jaxpr(f)(X, Y),
            lambda x, y: x,
            "float32[3])> in make_jaxpr(f) from x",
        ),
        (
            lambda f: hloom.grad(f)(X, Y),
            lambda x, y: x * y,
            "float32[3])> in grad(f) from x, value [2. 2. 2.]",
        ),
        (
            lambda f: hloom.jit(lambda a, b: hloom.grad(f)(a, b))(X, Y),
            lambda x, y: x * y,
            "float32[3])> in grad(f) from x",
        ),
        (in_scan, lambda x, y: x, "float32[])> in scan(<lambda>) from x"),
    ],
)
def test_a_tracer_prints_its_function_and_the_arguments_it_comes_from(transform, make, text):
    assert printed(transform, make) == f"Traced<ShapedArray({text}"


def test_a_tracer_of_many_arguments_names_the_first():
    def f(*rows):
        assert str(sum(rows)).endswith(" in jit(f) from rows[0], rows[1], rows[2], ..")
        return rows[0]

    hloom.jit(f)(*[X] * 5)


def test_a_tracer_that_has_leaked_still_prints():
    kept = []
    hloom.grad(lambda x: kept.append(x * 2) or x)(1.0)
    assert str(kept[0]).startswith("Traced<ShapedArray(float32[]")


# ---- one public type ----------------------------------------------------------------------------
def test_elements_of_a_list_are_of_the_public_type_in_every_text():
    for element in [*jnp.arange(2.0), jnp.arange(2.0)[0], jnp.asarray(1)]:
        assert repr(type(element)) == "<class 'hloom.Array'>"
        assert type(element).__name__ == type(element).__qualname__ == "Array"
        assert isinstance(element, hloom.Array)
        assert pickle.loads(pickle.dumps(element)) == element


# ---- memory that is gone ------------------------------------------------------------------------
DONATED = """
import hloom, hloom.numpy as jnp
step = hloom.jit(lambda x: x + 1, donate_argnums=(0,))
x = jnp.ones(3)
y = step(x)
for use in (lambda: x + y, lambda: jnp.sin(x), lambda: step(x), lambda: hloom.jit(jnp.add)(x, y)):
    try:
        use()
    except hloom.errors.DeletedArrayError as error:
        print(str(error).splitlines()[0])
"""


def test_a_donated_array_that_is_used_again_brings_no_line_of_the_runtimes_own():
    variables = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    done = subprocess.run(
        [sys.executable, "-c", DONATED],
        env=variables | {"PYTHONPATH": SOURCES}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.stderr == ""
    rule = "Array has been deleted with shape=f32[3]: its memory was deleted or donated."
    assert done.stdout.splitlines() == [rule] * 4


@pytest.mark.parametrize("engine", ["xla", "numpy"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_deleted_array_that_a_function_closes_over_is_told_as_such(engine, count):
    x = jnp.ones(3)

    def reads(*given):
        return sum(given) + x

    with hloom.engine(engine):
        f = hloom.jit(reads)
        f(*[Y] * count)
        x.delete()
        with pytest.raises(hloom.errors.DeletedArrayError, match="reads closes over it") as caught:
            f(*[Y] * count)
    assert "shape=f32[3]" in str(caught.value)
