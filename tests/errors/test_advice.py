"""Advice is tried before it is given: every way out that an error or a warning prints is run here.

A row is a program that fails.  What is at fault stands in « »; a way out is put in its place, with
the user's own names in it, and the program has to run.  Where the program runs without `jit`, the
result has to be the same.  Rows of `EAGER` fail without any transformation: their ways are run as
they are.
"""

from __future__ import annotations

import itertools
import linecache
import math
import re
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp
from hloom import errors, lax
from hloom.errors import absent

_number = itertools.count()


def names() -> dict[str, Any]:
    """What a program, and a way out in general names, may use."""
    x, k = jnp.array([1.0, 2.0, 3.0]), jnp.arange(3)
    return {
        "hloom": hloom, "jnp": jnp, "np": np, "lax": lax, "math": math, "jit": hloom.jit,
        "grad": hloom.grad, "vmap": hloom.vmap, "x": x, "y": x + 1, "k": k, "m": jnp.eye(3) + x,
        "h": np.arange(3.0), "g": jnp.sin, "f": jnp.sum, "value_and_grad": hloom.value_and_grad,
        "p": jnp.array(True), "a": x, "b": -x, "true_fun": jnp.sin, "false_fun": jnp.cos,
        "partial": partial, "same": lambda fun: fun,
        "i": 0, "xs": x, "z": x, "idx": slice(None), "value": 1.0, "indices": jnp.array([0]),
        "values": jnp.array([1.0]), "kth": 1, "new_shape": 4, "ind": 0, "v": 1.0, "axis": 0,
    }  # fmt: skip


def execute(text: str, *, known: bool = True, **given: Any) -> dict[str, Any]:
    """Run a program whose text Python knows, as that of a file, or does not, as in `exec`."""
    file = f"<advice {next(_number)}>"
    if known:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    env = {**names(), **given}
    exec(compile(text, file, "exec"), env)
    return env


def told(text: str, *, known: bool = True) -> str:
    """What is said of a program: the text of its error, or else of its warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            execute(text, known=known)
        except Exception as error:
            return str(error)
    return str(caught[0].message)


def ways(text: str) -> list[str]:
    """The code of the ways out: in lines of their own, and between backquotes after "use"."""
    _, _, listed = text.partition(" out:\n")
    lines = itertools.takewhile(lambda line: line.startswith("  "), listed.splitlines())
    codes = [line.partition("   # ")[0].strip() for line in lines]
    head = text.partition("\n")[0]
    return codes + re.findall(r"(?:[Uu]se|of each value:|its values:|list of it:) `([^`]+)`", head)


def replaced(text: str, way: str) -> str:
    """The program with a way out in the place of what was at fault."""
    plain = re.sub("[«»]", "", text)
    if way.startswith("@"):
        return re.sub(r"@.*jit.*", way, plain)
    if re.match(r"jit\(\w+, static", way):
        return re.sub(r"jit\(\w+\)", way, plain)
    return re.sub("«.*»", lambda _: way, text, flags=re.DOTALL)


# ---- in a traced function -----------------------------------------------------------------------
LAMBDAS = """
x if x.sum() > 0 else -x                        | jnp.where(x.sum() > 0, x, -x)
x if x.sum() > 0 else -x                        | lax.cond(x.sum() > 0, lambda: x, lambda: -x)
x if not x.sum() > 0 else 0                     | jnp.where(~(x.sum() > 0), x, 0)
x if x[0] > 0 and x[1] > 0 else -x              | jnp.where((x[0] > 0) & (x[1] > 0), x, -x)
x if x[0] > 0 or not x[1] else -x               | jnp.where(jnp.logical_or(x[0] > 0, jnp.logical_not(x[1])), x, -x)
x if 0 < x.sum() < 1 else -x                    | jnp.where((0 < x.sum()) & (x.sum() < 1), x, -x)
x[0] > 0 and x[1] > 0                           | (x[0] > 0) & (x[1] > 0)
not x[0] > 0                                    | ~(x[0] > 0)
max(x)                                          | jnp.max(x)
min(x)                                          | jnp.min(x)
max(x[0], 0)                                    | jnp.maximum(x[0], 0)
min(x[0], x[1], x[2])                           | jnp.minimum(jnp.minimum(x[0], x[1]), x[2])
sorted(x)                                       | jnp.sort(x)
sorted(x, reverse=True)                         | jnp.sort(x)[::-1]
any(x)                                          | jnp.any(x)
all(x > 1)                                      | jnp.all(x > 1)
any(v > 2 for v in x)                           | jnp.any(jnp.array([v > 2 for v in x]))
bool(x[0])                                      | x[0].astype(bool)
float(x[0])                                     | x[0].astype(float)
int(x[0])                                       | x[0].astype(int)
math.sin(x[0])                                  | jnp.sin(x[0])
math.pow(x[0], 2)                               | jnp.power(x[0], 2)
x[0].item()                                     | x[0].reshape(())
x.tolist()                                      | list(x)
x.tobytes()                                     | x.reshape(-1).view('uint8')
x[0] in [1, 2]                                  | jnp.isin(x[0], [1, 2])
[1, 2, 3][k[1]]                                 | jnp.asarray([1, 2, 3])[k[1]]
np.array([1, 2, 3])[k[1]]                       | jnp.asarray(np.array([1, 2, 3]))[k[1]]
np.add(x, 1, out=np.zeros(3))                   | jnp.add(x, 1)
[jnp.sin, jnp.cos][k[1]](x)                     | lax.switch(k[1], [jnp.sin, jnp.cos], x)
np.sin(x)                                       | jnp.sin(x)
np.hypot(x, 1.0, dtype="float32")               | jnp.hypot(x, 1.0).astype('float32')
np.add.reduce(x)                                | jnp.sum(x, axis=0)
np.logical_and.reduce(x, keepdims=True)         | jnp.all(x, axis=0, keepdims=True)
np.multiply.accumulate(x)                       | jnp.cumprod(x, axis=0)
np.subtract.outer(x, m)                         | jnp.subtract(jnp.reshape(x, (*jnp.shape(x), *[1] * jnp.ndim(m))), m)
np.linalg.norm(x)                               | jnp.linalg.norm(x)
np.concatenate([x, x])                          | jnp.concatenate([x, x])
np.array([x[0], x[1]])                          | jnp.array([x[0], x[1]])
np.asarray(x)                                   | x
x[k[1] : k[1] + 2]                              | lax.dynamic_slice_in_dim(x, k[1], 2)
jnp.nonzero(x)[0]                               | jnp.nonzero(x, size=x.size)
jnp.unique(x)                                   | jnp.unique(x, size=x.size)
x[x > 1].sum()                                  | jnp.where(x > 1, x, 0)
"""  # noqa: E501

ROWS = [tuple(part.strip() for part in row.split(" | ")) for row in LAMBDAS.strip().splitlines()]


def values(y: Any) -> Any:
    return np.asarray(y) if not isinstance(y, bytes) else np.frombuffer(y, np.uint8)


@pytest.mark.parametrize(("faulty", "way"), ROWS)
def test_a_traced_expression_is_rewritten_in_the_users_names(faulty: str, way: str) -> None:
    text = f"y = jit(lambda x, k: «{faulty}»)(x, k)"
    assert way in ways(told(text.replace("«", "").replace("»", "")))


@pytest.mark.parametrize("faulty", dict.fromkeys(faulty for faulty, _ in ROWS))
def test_each_way_out_of_a_traced_expression_gives_what_python_gives(faulty: str) -> None:
    text = f"y = jit(lambda x, k: «{faulty}»)(x, k)"
    plain = re.sub("[«»]", "", text)
    want = execute(plain, jit=lambda fun: fun)["y"]
    found = ways(told(plain))
    assert found
    if faulty == "jnp.nonzero(x)[0]":
        found = [f"{found[0]}[0]"]
    if faulty == "x[x > 1].sum()":  # the first two are for the selection, not for its sum
        execute(f"y = jit(lambda x: {found[1]})(x)")
        found = [f"{found[0]}.sum()", found[2]]
    for way in found:
        got = execute(replaced(text, way))["y"]
        np.testing.assert_allclose(values(got), values(want), rtol=1e-6)


STATEMENTS = {
    "return": "@jit\ndef f(x):\n    «if x.sum() > 0:\n        return x»\n    return -x\ny = f(x)",
    "elif": "@jit\ndef f(x):\n    «if x[0] > 7: return x\n    elif not x[1] > 5: return -x\n"
    "    else: return 0 * x»\ny = f(x)",
    "two ifs": "@jit\ndef f(x):\n    «if x[0] > 7: return x\n    if x[1] > 1: return -x\n"
    "    return 0 * x»\ny = f(x)",
    "assign": "@hloom.jit\ndef f(n):\n    y = 1.0\n    «if n > 2: y = 3.0»\n    return y\ny = f(3)",
    "both": "@jit\ndef f(n):\n    «if n: y = x\n    else: y = -x»\n    return y\ny = f(0)",
    "increment": "@jit\ndef f(x):\n    y = x\n    «if x[0] > 0: y += 1»\n    return y\ny = f(x)",
    "partial": "@partial(jit, inline=True)\ndef f(n):\n    return jnp.arange(n)\ny = f(3)",
    "options": "@jit(inline=True)\ndef f(n):\n    return jnp.arange(n)\ny = f(3)",
    "one more": "@jit(static_argnums=0)\ndef f(a, n):\n    return jnp.arange(a, n)\ny = f(1, 3)",
    "second": "@same\n@jit\ndef f(n):\n    return jnp.arange(n)\ny = f(3)",
    "accents": "f = lambda n: 'é' and «[1, 2, 3][n]»\ny = jit(f)(1)",
    "while": "@jit\ndef f(x):\n    «while x < 100: x = x * 2»\n    return x\ny = f(3)",
    "for": "@jit\ndef f(n):\n    y = 1.0\n    «for i in range(n): y *= 2»\n    return y\ny = f(3)",
    "from": "def f(n):\n    y = 0\n    «for i in range(1, n): y += i»\n    return y\ny = jit(f)(5)",
    "elements": "f = lambda n: jnp.arange(n)\ny = jit(f)(3)",
    "shape": "def f(n):\n    return jnp.zeros(n) + n\ny = jit(f)(3)",
    "repeat": "f = lambda n: jnp.repeat(x, n)\ny = jit(f)(2)",
    "axis": "f = lambda n: jnp.sum(m, axis=n)\ny = jit(f)(1)",
    "two": "def f(a, b):\n    return jnp.ones((a, b))\ny = jit(f)(2, 3)",
    "key": "f = lambda n: {1: 2}[n]\ny = jit(f)(1)",
    "element": "def f(n):\n    y = np.zeros(3)\n    «y[0] = n»\n    return y\ny = jit(f)(1.5)",
    "added": "def f(n):\n    y = np.ones(3)\n    «y[:2] += n»\n    return y\ny = jit(f)(2)",
    "row": "def f(n):\n    y = np.zeros((2, 3))\n    «y[0, :] = n»\n    return y\ny = jit(f)(x)",
    "NumPy's arange": "f = lambda n: np.arange(n)\ny = jit(f)(3)",
    "text": "f = lambda n: 'abc'[n] == 'b'\ny = jit(f)(1)",
    "list": "f = lambda n: len([1, 2, 3][:n])\ny = jit(f)(1)",
    "length": "f = lambda n: len('abc' * n)\ny = jit(f)(1)",
    "count": "f = lambda n: np.linspace(0, 1, n)\ny = jit(f)(3)",
    "slice": "f = lambda n: x[:n]\ny = jit(f)(2)",
    "format": "f = lambda n: (f'{n:.2f}', n)[1]\ny = jit(f)(1.5)",
}  # fmt: skip  # noqa: E501

# One step of a loop is a way out for who meant `if`; it is run, and gives another value.
STEP = "lax.cond"


@pytest.mark.parametrize("row", STATEMENTS)
def test_each_way_out_of_a_statement_gives_what_python_gives(row: str) -> None:
    text = STATEMENTS[row]
    plain = re.sub("[«»]", "", text)
    eager = re.sub("@.*jit.*\n", "", plain)
    want = execute(eager, jit=lambda fun: fun)["y"]
    found = ways(told(plain))
    assert found
    for way in found:
        if "«" not in text and "static" not in way:
            execute(way, n=jnp.array(1.5))
            continue
        # The second branch's `return` becomes dead code, as a reader would take it away.
        got = execute(replaced(text, way))["y"]
        if row == "while" and STEP in way:
            continue
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6)


CONVERSIONS = ["if x.sum() > 0: x = -x", "n = int(x.sum())", "y = x.item()", "jnp.zeros(x)"]


@pytest.mark.parametrize("given", ["x", "h", "x[0]", "{'a': 1.0}", "jnp.array(2)"])
@pytest.mark.parametrize("line", CONVERSIONS)
def test_arrays_are_not_to_be_static(line: str, given: str) -> None:
    x = "x['a']" if given.startswith("{") else "x"
    text = told(f"@jit\ndef f(x):\n    {line.replace('x', x)}\n    return x\nf({given})")
    assert "static_arg" not in text


@pytest.mark.parametrize("given", ["{'a': 'text'}", "['text']", "{1, 2}", "[object()]"])
def test_what_cannot_be_hashed_is_not_to_be_static(given: str) -> None:
    assert "static" not in told(f"jit(lambda x: 1)({given})")


def test_a_number_that_is_used_as_an_array_is_not_to_be_static() -> None:
    text = told("f = lambda x: 1 if x.sum() > 0 else 2\njit(f)(3.0)")
    assert "jnp.where(x.sum() > 0, 1, 2)" in ways(text)
    assert "static_arg" not in text


def test_the_count_of_arange_is_called_stop() -> None:
    assert "the value of `stop`" in told("jit(lambda n: jnp.arange(n))(3)")
    assert "the value of `start`" in told("jit(lambda n: jnp.arange(n, 3))(3)")


@pytest.mark.parametrize(
    "body", ["assert x.sum() > 0", "if x.min() < 0: raise ValueError", "if x.min() < 0:\n    pass"]
)
def test_ways_in_place_of_checks_and_longer_statements_run(body: str) -> None:
    indented = body.replace("\n", "\n    ")
    for way in ways(told(f"@jit\ndef f(x):\n    {indented}\n    return x\nf(x)")):
        execute(f"@jit\ndef f(x):\n    return {way}\nf(x)")


@pytest.mark.parametrize("faulty", ["x if p else y", "x in [1, 2]", "[1, 2][i]", "range(i)"])
def test_ways_without_a_source_run_in_general_names(faulty: str) -> None:
    text = f"f = lambda x, p, i: {faulty}\njit(f)(1.0, True, 1)"
    found = ways(told(text, known=False))
    assert found
    for way in found:
        execute(way, init=0, x=1.0, n=3, body=lambda i, x: x + i)


# ---- without a transformation -------------------------------------------------------------------
EAGER = """
k * 2**31                                |= k
2**31 + k                                |= k
k.astype('uint8') * 300                  |= k
k.at[0].set(2**31)                       |= k
lax.add(k, 2**31)                        |= k
jnp.arange(2**31, 2**31 + 3)             |= k
jnp.array({'a': 1, 'b': 2})              |= {'a': 1, 'b': 2}
jnp.array({'a': x, 'b': 1})              |= {'a': x, 'b': 1}
jnp.array({1, 2})                        |= {1, 2}
jnp.asarray(v for v in range(3))         |= (v for v in range(3))
x > 0 & x < 2
k > 0 & k < 2
k > 0 | k < 2
(x > 0) and (x < 2)
(x > 0) or not x
0 < x < 1
not x
jnp.zeros(2, 3)
jnp.ones(2, 3, 4)
jnp.empty(2, 3)
jnp.full(2, 3, 4.0)
jnp.reshape(m, 1, 9)                     |= m
jnp.broadcast_to(x, 2, 3)
jnp.tile(x, 2, 3)
jnp.transpose(m, 1, 0)                   |= m
jnp.expand_dims(x, 0, 1)
m.sum(0, 1)                              |= m
jnp.concatenate(x, y)
jnp.concatenate(x, y, axis=0)
jnp.concat(x, y)
jnp.stack(x, y)
jnp.hstack(x, y)
jnp.vstack(x, y, x)
jnp.dstack(x, y)
jnp.column_stack(x, y)
jnp.sum(x, axes=0)
x.sum(axes=0)
jnp.mean(x, keepdim=True)
jnp.argmax(x, dim=0)
jnp.zeros(3, dtyp=int)
x.astype(dtyp=int)
jnp.concatenate([x, y], axes=0)
jnp.sort(x, reverse=True)
lax.reduce_sum(x, axis=(0,))
vmap(jnp.sum, axis=0)
vmap(jnp.sum, dim=0)
jnp.array(1, 2, 3)
jnp.asarray(x[0], 2.0)
jnp.maximum(x, y, 0)
jnp.add(x, y, x)
x.flat = 0
lax.neg(2**40)
jnp.sin(2**40)
jit(jnp.sin)(2**40)
a = jnp.put(k, 0, 1.5, inplace=False)    |= k
a = jnp.place(k, k > 0, 1.5, inplace=False) |= k
a = jnp.insert(k, 0, 1.5)                |= k
jnp.linalg.norm(x, axes=0)
x.at[0].set(1, mod='drop')
vmap(jnp.sin, in_axis=0)
jit(jnp.sin, static_argnum=())
grad(jnp.sum, argnum=0)
jnp.add(x, y, out=h)
jnp.sum(x, out=h)
x.at[0] + 1
x.at[0] += 1
x.at[0] > 1
2 * x.at[0]
x.at.set(1)
x.at(0)
x.at[0] = 5
x[0] = 5
x[0] += 5
del x[0]
x.fill(1)
x.put(0, 1)
x.partition(1)
x.resize(4)
x.byteswap(inplace=True)
jnp.put(x, 0, 1)
jnp.place(x, x > 0, 1)
jnp.put_along_axis(x, k, 1, 0)
jnp.fill_diagonal(m, 0)                  |= m
np.add(x, y, out=x)
np.add(x, y, x)
np.frexp(x, y, k)
np.sum(m, axis=0, out=x)
np.minimum.reduce(m, 0, out=x)
np.exp(x, where=x > 1, out=y)
np.add.at(x, 0, 1.0)
np.negative.at(x, 0)
np.random.shuffle(x)
x.sort()
x.sort(axis=0)
x.at[0].set(1.0)
jnp.put(x, 0, 1, inplace=False)
jnp.nan_to_num(x, copy=False)
k.at[0].set(1.5)                         |= k
grad(x)
grad(jnp.sum(x))
value_and_grad(jnp.dot(x, y), argnums=1)
vmap(jnp.add, in_axes=(0,))(x, y)
vmap(jnp.add, in_axes=(0, None, 0))(x, 1.0)
"""


FAULTY = [faulty.partition(" |= ")[0].strip() for faulty in EAGER.strip().splitlines()]


@pytest.mark.filterwarnings("ignore")  # of copies that nothing takes
@pytest.mark.parametrize("known", [True, False], ids=["source", "no source"])
@pytest.mark.parametrize("row", EAGER.strip().splitlines())
def test_each_way_out_runs(row: str, known: bool) -> None:
    faulty, _, array = row.partition(" |= ")
    faulty = faulty.strip()
    function = jnp.add if "in_axes" in faulty else jnp.sum
    text = told(faulty, known=known)
    found = ways(text)
    if known:
        assert found, text
    for way in found:
        given = names() if known else names() | {"x": eval(array or "x", names())}
        if ".set(y)" in way or ".add(y)" in way:
            given["y"] = 1.0
        execute(way, **given | {"f": function})


@pytest.mark.parametrize("faulty", FAULTY)
def test_what_is_said_has_no_more_than_a_screen(faulty: str) -> None:
    text = told(faulty)
    assert len(text.splitlines()) < 10
    assert max(map(len, text.splitlines())) < 400


TEXTS = [
    ("k * 2**31", "k.astype(float) * 2 ** 31"),
    ("x > 0 & x < 2", "(x > 0) & (x < 2)"),
    ("(x > 0) and (x < 2)", "(x > 0) & (x < 2)"),
    ("0 < x < 1", "(0 < x) & (x < 1)"),
    ("k > 0 | k < 2", "(k > 0) | (k < 2)"),
    ("if x > 0: pass", "(x > 0).any()"),
    ("jnp.zeros(2, 3)", "jnp.zeros((2, 3))"),
    ("jnp.full(2, 3, 4.0)", "jnp.full((2, 3), 4.0)"),
    ("jnp.hstack(x, y)", "jnp.hstack([x, y])"),
    ("x.sum(axes=0)", "x.sum(axis=0)"),
    ("x.at[0] + 1", "x.at[0].add(1)"),
    ("x.at[0] + 1", "x[0] + 1"),
    ("x.at[0] -= 2", "x = x.at[0].subtract(2)"),
    ("jnp.add(x, y, out=h)", "h = jnp.add(x, y)"),
    ("x.fill(1)", "x = jnp.full_like(x, 1)"),
    ("jnp.put(x, 0, 1)", "x = jnp.put(x, 0, 1, inplace=False)"),
    ("x.sort()", "x = x.sort()"),
    ("vmap(jnp.sum, axis=0)", "vmap(jnp.sum, in_axes=0)"),
    ("jnp.array(1, 2, 3)", "jnp.array([1, 2, 3])"),
    ("jnp.maximum(x, y, 0)", "jnp.maximum(jnp.maximum(x, y), 0)"),
    ("x.shape = (3, 1)", "x = x.reshape((3, 1))"),
    ("m[0][1] = 4", "m = m.at[0, 1].set(4)"),
    ("m[i][0] += 4", "m = m.at[i, 0].add(4)"),
    ("m[1:][0] = 4", "m = m.at[1:].set(m[1:].at[0].set(4))"),
    ("m[:, 0][m[:, 0] > 0] = 4", "m = m.at[:, 0].set(m[:, 0].at[m[:, 0] > 0].set(4))"),
    ("m[k][0] = 4", "m = m.at[k].set(m[k].at[0].set(4))"),
    ("m[..., 0][1] *= 4", "m = m.at[..., 0].set(m[..., 0].at[1].multiply(4))"),
    ("l = [x, y]\nl[0][1] = 4", "l[0] = l[0].at[1].set(4)"),
    ("d = {'w': [x]}\nd['w'][0][1] = 4", "d['w'][0] = d['w'][0].at[1].set(4)"),
    ("x.dtype = 'int32'", "x = x.view('int32')"),
    ("grad(jnp.sum(x))", "grad(jnp.sum)(x)"),
    ("vmap(jnp.add, in_axes=(0,))(x, y)", "vmap(f, in_axes=(0, 0))"),
]


@pytest.mark.parametrize(("faulty", "way"), TEXTS)
def test_a_way_out_is_the_users_own_line(faulty: str, way: str) -> None:
    assert way in ways(told(faulty))


@pytest.mark.parametrize("first", ["0", "i", "0, -1", "i + 1", "1:", "...", "None", "()", ":, 0"])
@pytest.mark.parametrize("second", ["0", ":1", "()", "None", "[0]"])
def test_an_assignment_to_elements_of_elements_does_what_numpys_does(
    first: str, second: str
) -> None:
    line = f"z[{first}][{second}] += 7"
    cube = np.arange(27.0).reshape(3, 3, 3)
    want = cube.copy()
    try:
        exec(line, {"z": want, "i": 0})
    except IndexError:  # of an element
        return
    way, *_ = ways(told(f"z = jnp.arange(27.0).reshape(3, 3, 3)\n{line}"))
    exec(way, env := names() | {"z": jnp.asarray(cube)})
    np.testing.assert_array_equal(np.asarray(env["z"]), want)


# ---- what was done, in words --------------------------------------------------------------------
SAID = [
    ("grad(lambda x: None)(1.0)", "returned None: did you forget `return`?"),
    ("value_and_grad(lambda x: None)(1.0)", "returned None: did you forget `return`?"),
    ("jit(grad(lambda x: None))(1.0)", "returned None: did you forget `return`?"),
    ("grad(jit(lambda x: None))(1.0)", "returned None: did you forget `return`?"),
    ("grad(lambda x: None, has_aux=True)(1.0)", "it returned None: did you forget `return`?"),
    ("grad(lambda x: (None, 1), has_aux=True)(1.0)", "did you forget `return`?"),
    ("grad(lambda x: [])(1.0)", "returned []"),
    ("grad(lambda x: (x, {'a': 1}))(1.0)", "returned (f32[], {'a': i32[]})"),
    ("grad(lambda x: x.sum(), has_aux=True)(x)", "a pair (result, aux); it returned f32[]"),
    ("jit(lambda x: 1)('a')", "jit(f, static_argnames='x')"),
    ("grad(lambda x: 'a')(1.0)", "it returned the str 'a'"),
    ("grad(lambda x: x)(x)", "returned f32[3]"),
    ("lax.while_loop(lambda x: x < 3, lambda x: None, 0)", "did you forget `return`?"),
    ("lax.while_loop(lambda x: None, lambda x: x, 0)", "did you forget `return`?"),
    ("lax.fori_loop(0, 3, lambda i, x: None, 0)", "did you forget `return`?"),
    ("lax.scan(lambda c, x: None, 0, x)", "did you forget `return`?"),
    ("lax.cond(True, lambda x: x, lambda x: None, 0)", "did you forget `return`?"),
    ("lax.scan(lambda c: c, 0.0, x)", "with 2 arguments, (carry, x); it takes (c)"),
    ("lax.fori_loop(0, 3, lambda x: x, 0)", "with 2 arguments, (i, x); it takes (x)"),
    ("lax.while_loop(lambda: True, lambda x: x, 0)", "with 1 argument, (x); it takes ()"),
    ("lax.map(lambda x, y: x, x)", "with 1 argument, (x); it takes (x, y)"),
    ("lax.associative_scan(lambda x: x, x)", "with 2 arguments, (a, b); it takes (x)"),
    ("lax.cond(True, lambda: 1, lambda x: x, 0)", "with 1 argument, (x); it takes ()"),
    ("lax.switch(0, [lambda: 1, lambda x: x], 0)", "with 1 argument, (x); it takes ()"),
    ("jnp.sum(x, axes=0)", "unexpected keyword argument 'axes'; did you mean 'axis'?"),
    ("jnp.zeros(3, dtype='flaot32')", "did you mean 'float32'?"),
    ("vmap(jnp.add, in_axes=(0,))(x, y)", "in_axes has 1 entry for 2 positional arguments"),
    ("jnp.ones((10**6, 10**6))", "f32[1000000,1000000] needs 3.6 TiB; "),
    ("jnp.array({'a': 'b'})", "Its keys and values are no numbers"),
    ("jit(lambda x: np.fft.fft(x))(x)", "hloom.numpy has no fft.fft"),
    ("jit(jnp.sin, static_argnames=0)", "static_argnames as a string or a tuple of strings; got 0"),
    ("jit(jnp.sin, static_argnums=1.5)", "static_argnums as an int or a tuple of ints; got 1.5"),
    ("jit(lambda x: x.foo)(x)", "'Array' object has no attribute 'foo'"),
    ("lax.switch(0, [jnp.sin, lambda x: 1], 1.0)", "branches[0] `sin` and branches[1] "),
    ("x + [1, 2, 3]", "Make an array of the list: jnp.array(..)"),
    ("(1, 2, 3) - x", "Make an array of the tuple: jnp.array(..)"),
    ("x @ [1, 2, 3]", "Make an array of the list: jnp.array(..)"),
    ("jnp.int8(300)", "int8: Python integer 300 out of bounds"),
    ("jnp.where(x > 0, x)", "where: either both or neither of x and y"),
    ("range(x[0])", "Convert it: int(x)"),
    ("jnp.put(k.astype('int8'), 0, 300, inplace=False)", "300 out of bounds for int8, in put"),
    ("jit(lambda k: k * 2**40)(k)", "out of bounds for int32, in multiply"),
    ("jit(lambda d: d)({'a': 2**40})", "jit(<lambda>), argument `d['a']`: Python integer"),
]


@pytest.mark.parametrize(("faulty", "said"), SAID)
def test_what_was_done_is_said(faulty: str, said: str) -> None:
    assert said in told(faulty)


def test_memory_that_no_machine_has_comes_without_advice() -> None:
    assert ways(told("jnp.ones((10**6, 10**6))")) == []
    assert ways(told("jnp.ones((10**5, 1)) @ jnp.ones((1, 10**7))")) == []


@pytest.mark.parametrize("given", ["x", "3", "None", "'f'", "[1]"])
@pytest.mark.parametrize(
    "call",
    [
        "grad({})", "value_and_grad({})", "vmap({})", "jit({})", "hloom.make_jaxpr({})",
        "hloom.jvp({}, (1.0,), (1.0,))", "hloom.vjp({}, 1.0)", "hloom.linearize({}, 1.0)",
        "hloom.eval_shape({}, 1.0)",
    ],
)  # fmt: skip
def test_what_is_no_function_is_refused_at_once(call: str, given: str) -> None:
    with pytest.raises(TypeError, match="takes a function; got "):
        execute(call.format(given))


# ---- keywords -----------------------------------------------------------------------------------
PUBLIC = [
    f"{place}.{name}"
    for place, module in [
        ("jnp", jnp), ("jnp.linalg", jnp.linalg), ("lax", lax), ("lax.linalg", lax.linalg),
    ]
    for name, value in sorted(vars(module).items())
    if callable(value) and not isinstance(value, type) and not name.startswith("_")
    and not name.endswith("_p") and str(value.__module__).startswith("hloom")
]  # fmt: skip


@pytest.mark.parametrize("function", PUBLIC)
def test_a_keyword_that_is_not_there_is_named_by_every_function(function: str) -> None:
    if function in ("jnp.savez", "jnp.savez_compressed"):
        return  # whose keywords are the names of arrays
    home, _, name = function.rpartition(".")
    name = getattr(eval(home), name).__name__
    try:
        execute(f"{function}(x, unknown_keyword=1)")
    except (TypeError, ValueError) as error:
        assert re.search(rf"{name}|it takes", str(error)), error
        if "unknown_keyword" not in str(error):
            execute(f"{function}.__wrapped__")  # of a class whose instances are called
    else:
        pytest.fail(f"{function} takes any keyword")


# ---- names that are not there -------------------------------------------------------------------
ABSENT = [(module, name) for module, listed in absent.NAMES.items() for name in listed.split()]


def module_of(name: str) -> Any:
    home = hloom
    for part in name.split(".")[1:]:
        home = getattr(home, part)
    return home


@pytest.mark.parametrize(("module", "name"), ABSENT)
def test_a_name_that_is_not_there_yet_says_so(module: str, name: str) -> None:
    home = module_of(module)
    assert not hasattr(home, name), f"it is there: take it out of NAMES[{module!r}]"
    with pytest.raises(AttributeError, match=r"has it, and hloom not yet") as caught:
        getattr(home, name)
    assert (caught.value.name, caught.value.obj) == (name, home)


@pytest.mark.parametrize("place", absent.MEANWHILE)
def test_what_to_use_meanwhile_runs(place: str) -> None:
    module, _, name = place.rpartition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(module_of(module), name)
    (way,) = ways(str(caught.value))
    execute(way, f=(lambda x: x) if "reshape" in way else jnp.sum if "grad" in way else jnp.sin)


@pytest.mark.parametrize("name", absent.OF_ARRAYS)
def test_attributes_of_other_arrays_say_what_to_use(name: str) -> None:
    x = jnp.array([1.0, 2.0, 3.0])
    assert not hasattr(x, name)
    with pytest.raises(AttributeError) as caught:
        getattr(x, name)
    assert (caught.value.name, caught.value.obj) == (name, x) or caught.value.obj is x
    (way,) = ways(str(caught.value))
    execute(way)


def test_a_name_of_numpys_own_says_so() -> None:
    with pytest.raises(AttributeError, match=r"NumPy has it.*`np.putmask`|jnp.where"):
        jnp.putmask  # noqa: B018
    with pytest.raises(AttributeError, match=r"Meanwhile use `np.busday_count`"):
        jnp.busday_count  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'summ'$"):
        jnp.summ  # noqa: B018


def test_an_import_of_what_is_not_there_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'random'"):
        execute("from hloom import random")
    with pytest.raises(ModuleNotFoundError):
        execute("import hloom.random")


# ---- warnings -----------------------------------------------------------------------------------
def warned(text: str) -> list[type[Warning]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        execute(text)
    return [warning.category for warning in caught]


@pytest.mark.parametrize(
    "text",
    [
        "x.sort()", "m.sort(axis=0)", "jnp.put(x, 0, 1, inplace=False)",
        "jnp.place(x, x > 0, 1, inplace=False)", "jnp.fill_diagonal(m, 0, inplace=False)",
        "jnp.put_along_axis(x, k, 1, 0, inplace=False)", "jnp.nan_to_num(x, copy=False)",
        "def f(x):\n    x.sort()\n    return x\njit(f)(x)", "for i in range(3): x.sort()",
    ],
)  # fmt: skip
def test_a_changed_copy_that_nothing_takes_is_told(text: str) -> None:
    assert warned(text) == [errors.DroppedUpdateWarning]


@pytest.mark.parametrize(
    "text",
    [
        "y = x.sort()", "[x.sort()]", "x.sort().sum()", "jnp.sort(x)", "jnp.nan_to_num(x)",
        "(lambda: x.sort())()", "jnp.sort(x.sort())", "y = jnp.put(x, 0, 1, inplace=False)",
    ],
)  # fmt: skip
def test_a_copy_that_is_taken_is_not(text: str) -> None:
    assert warned(text) == []


def test_a_dropped_copy_is_told_of_in_code_that_is_gone_too() -> None:
    assert [warned("x.sort()") for _ in range(50)] == [[errors.DroppedUpdateWarning]] * 50


@pytest.mark.parametrize("value", ["1.5", "x[0]", "h[1] * 0.5", "np.float32(0.5)", "x"])
def test_floats_cut_to_integers_are_told(value: str) -> None:
    assert warned(f"y = k.at[:].set({value})") == [errors.TruncationWarning]
    assert warned(f"y = jit(lambda k: k.at[:].set({value}))(k)") == [errors.TruncationWarning]


@pytest.mark.parametrize(
    "call",
    [
        "jnp.put(k, 0, {}, inplace=False)", "jnp.place(k, k > 0, {}, inplace=False)",
        "jnp.put_along_axis(k, k, {}, 0, inplace=False)", "jnp.insert(k, 0, {})",
        "jnp.fill_diagonal(m.astype(int), {}, inplace=False)",
    ],
)  # fmt: skip
def test_floats_cut_to_integers_are_told_by_every_function_that_puts(call: str) -> None:
    for value in ("1.5", "[1.5, 2.5, 3.5]", "x"):
        assert warned(f"y = {call.format(value)}") == [errors.TruncationWarning]
    for value in ("2", "2.0", "k"):
        assert warned(f"y = {call.format(value)}") == []


@pytest.mark.parametrize("update", ["k.at[0].set(2.0)", "k.at[0].set(True)", "x.at[0].set(1)"])
def test_what_loses_nothing_is_not_told(update: str) -> None:
    assert warned(f"y = {update}") == []


@pytest.mark.parametrize(
    "call",
    [
        "jnp.asarray(np.array([1e300]))", "jnp.array([1e300])", "jnp.sin(np.array([1e300]))",
        "lax.add(np.float64(1e300), 1.0)", "jit(lambda x: x)(np.array([1e300]))",
        "jnp.concatenate([np.array([1e300])])", "jnp.zeros(3, 'float64')",
        "jnp.ones(3).astype(complex).astype(float)", "y = k.at[0].set(1.5)", "x.sort()",
        "lax.convert_element_type(jnp.ones(2, complex), float)",
    ],
)  # fmt: skip
def test_a_warning_is_given_at_the_users_line(call: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        execute(call)
    assert [w.filename[:8] for w in caught] == ["<advice "]
