"""What can be pickled and copied: structures, jitted functions; and what says why it can't."""

from __future__ import annotations

import collections
import copy
import functools
import os
import pickle
import subprocess
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

import hloom
import hloom.numpy as jnp
from hloom import jit, tree, tree_util

ROOT = Path(__file__).parents[1]
Pair = collections.namedtuple("Pair", "x y")  # noqa: PYI024 (as users write it)


@tree_util.register_pytree_with_keys_class
class Named:
    def __init__(self, x: Any, unit: str = "m"):
        self.x, self.unit = x, unit

    def tree_flatten_with_keys(self) -> Any:
        return ((tree_util.GetAttrKey("x"), self.x),), self.unit

    @classmethod
    def tree_unflatten(cls, unit: str, children: Any) -> Named:
        return cls(*children, unit)


@tree_util.register_static
class Mode(str):
    __slots__ = ()


TREES = {
    "leaf": 0, "None": None, "list": [1, [2, ()]], "dict": {"b": 1, "a": (2, None)},
    "namedtuple": Pair(1, [2]), "OrderedDict": collections.OrderedDict(b=1, a=2),
    "defaultdict": collections.defaultdict(list, b=1, a=2), "class": [Named(1, "s"), Named({})],
    "static": [Mode("train"), 1], "Partial": tree_util.Partial(print, 1, end=""),
    "structure in a structure": tree_util.Partial(Named, Named(tree_util.Partial(print))),
}  # fmt: skip


@pytest.fixture
def cloudpickle() -> Any:
    return pytest.importorskip("cloudpickle")


# ---- structures ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TREES)
def test_a_structure_comes_back_from_a_pickle(name: str) -> None:
    leaves, treedef = tree.flatten(TREES[name])
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(treedef, protocol))
        assert again == treedef
        assert hash(again) == hash(treedef)
        assert tree.structure(tree.unflatten(again, leaves)) == treedef
    assert copy.deepcopy(treedef) == copy.copy(treedef) == treedef


def python(program: str, cwd: Path) -> str:
    """What a program prints in another process, which finds this file's classes."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, env=os.environ | {"PYTHONPATH": paths},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_structures_are_the_same_in_another_process(tmp_path: Path) -> None:
    treedefs = [tree.structure(TREES[name]) for name in TREES]
    (tmp_path / "treedefs").write_bytes(pickle.dumps(treedefs))
    python(
        "import pickle\n"
        "from hloom import tree\n"
        "from tests.test_pickling import TREES\n"
        "treedefs = pickle.load(open('treedefs', 'rb'))\n"
        "assert treedefs == [tree.structure(TREES[name]) for name in TREES]\n",
        tmp_path,
    )


def test_the_registry_is_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(tree_util.default_registry)) is tree_util.default_registry


# ---- jitted functions ---------------------------------------------------------------------------
def test_jit_of_a_lambda_under_cloudpickle(tmp_path: Path, cloudpickle: Any) -> None:
    base = jit(lambda x: x * 2 + 1)
    functions = {
        "one": base,
        "two": jit(lambda x, y: base(x) + y),
        "static": jit(lambda n, x: x * n, static_argnums=0),
        "named": jit(lambda x, *, scale=1: x * scale, static_argnames="scale"),
        "dict": jit(lambda d: d["a"] + d["b"]),
        "none": jit(lambda: jnp.arange(2)),
        "grad": jit(hloom.grad(lambda x: x * x)),
        "vmap": hloom.vmap(jit(lambda x: x + 1)),
    }
    x = jnp.ones(2)
    base(x)  # its table has a program, which stays here
    calls = (
        "[f['one'](x), f['two'](x, x), f['static'](3, x), f['named'](x, scale=2),"
        " f['dict']({'a': x, 'b': x}), f['none'](), f['grad'](3.0), f['vmap'](x)]"
    )
    want = str([y.tolist() for y in eval(calls, {"f": functions, "x": x})])
    data = cloudpickle.dumps(functions)
    again = pickle.loads(data)
    assert str([y.tolist() for y in eval(calls, {"f": again, "x": x})]) == want
    (tmp_path / "functions").write_bytes(data)
    program = (
        "import pickle\n"
        "f = pickle.load(open('functions', 'rb'))\n"
        "import hloom.numpy as jnp\n"
        f"x = jnp.ones(2)\nprint([y.tolist() for y in {calls}])"
    )
    assert python(program, tmp_path).strip() == want


def test_an_unpickled_function_has_tables_of_its_own(cloudpickle: Any) -> None:
    f = jit(lambda x: x + 1)
    x = jnp.ones(3)
    f(x)
    again = pickle.loads(cloudpickle.dumps(f))
    assert again.cache_info() == (0, 0, f.cache_info().maxsize)
    assert again(x).tolist() == [2.0, 2.0, 2.0]
    assert again.cache_info()[:2] == (1, 1)
    (table,) = again.jitted.fast.values()
    assert list(table) == [(x.aval,)]  # what the entry of fixed arity looks at
    assert "stablehlo.add" in again.lower(x).as_text()


def _module_function(x: Any) -> Any:
    return x + 1


module_function = _module_function
_module_function.__qualname__ = _module_function.__name__ = "module_function"
module_function = jit(_module_function)


def test_a_jitted_function_of_a_module_is_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(module_function)) is module_function


def test_other_context_variables_are_refused_as_ever() -> None:
    with pytest.raises(TypeError, match="cannot pickle '_contextvars.ContextVar' object"):
        pickle.dumps(ContextVar("theirs"))


# ---- what can't be ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make",
    [
        lambda: hloom.make_jaxpr(jnp.sin)(1.0),
        lambda: hloom.make_jaxpr(jnp.sin)(1.0).jaxpr,
        lambda: hloom.vjp(jnp.sin, 1.0)[1],
        lambda: hloom.linearize(jnp.sin, 1.0)[1],
        lambda: jit(jnp.sin).trace(1.0),
        lambda: jit(jnp.sin).lower(1.0),
        lambda: jit(jnp.sin).lower(1.0).compile(),
    ],
)
def test_programs_say_what_to_pickle_instead(make: Any) -> None:
    with pytest.raises(TypeError, match=r"can't be pickled.* Pickle the .*function"):
        pickle.dumps(make())


def test_derivatives_are_copied() -> None:
    pull = copy.deepcopy(hloom.vjp(lambda x: x * x, 3.0)[1])
    assert float(pull(1.0)[0]) == 6.0


# ---- nodes --------------------------------------------------------------------------------------
def test_the_registration_of_a_named_tuple_class_wins() -> None:
    cls = collections.namedtuple("cls", "x unit")  # noqa: PYI024
    assert tree.leaves(cls(1, 2)) == [1, 2]
    flatten, unflatten = lambda p: ((p.x,), p.unit), lambda unit, xs: cls(*xs, unit)
    tree_util.register_pytree_node(cls, flatten, unflatten)
    leaves, treedef = tree.flatten([cls(1, "m")])
    assert leaves == [1]
    assert tree.unflatten(treedef, [5]) == [cls(5, "m")]
    assert tree.map(lambda x: x + 1, cls(1, "m")) == cls(2, "m")
    assert tree_util.keystr(tree.paths(treedef)[0]) == "[0][<flat index 0>]"
    with pytest.raises(ValueError, match="it is a node already"):
        tree_util.register_pytree_node(cls, flatten, unflatten)
    doubled = jit(lambda p: tree.map(lambda x: x * 2, p))(cls(1.0, "m"))
    assert (float(doubled.x), doubled.unit) == (2.0, "m")


def test_a_static_class_that_is_not_hashable() -> None:
    @tree_util.register_static
    class Options(dict):  # type: ignore[type-arg]
        pass

    p = [Options(a=1), jnp.ones(2)]
    assert tree.leaves(p)[0].tolist() == [1.0, 1.0]
    assert tree.structure(p) == tree.structure([Options(a=1), 0])
    assert tree.structure(p) != tree.structure([Options(a=2), 0])
    for f in (hloom.grad(lambda p: p[1].sum()), hloom.vmap(lambda p: p), jit(lambda p: p)):
        assert f(p)[0] == {"a": 1}


def test_a_partial_of_a_partial_is_equal_and_hashes_alike() -> None:
    inner = functools.partial(lambda x, y: x + y, 1)
    one, two = tree_util.Partial(inner, 2), tree_util.Partial(inner, 3)
    assert one.func == inner
    assert inner == one.func
    assert one.func == two.func
    assert hash(one.func) == hash(two.func)
    assert tree.leaves(one) == [2]
    f = jit(lambda g: g())
    assert (int(f(one)), int(f(two))) == (3, 4)
    assert f.cache_info().traces == 1


class Flat:
    """A node whose static part tells what its leaves are."""

    def __init__(self, whole: Any, leaves: Any = None, treedef: Any = None):
        self.leaves, self.treedef = tree.flatten(whole) if treedef is None else (leaves, treedef)

    def whole(self) -> Any:
        return tree.unflatten(self.treedef, self.leaves)


tree_util.register_pytree_node(
    Flat, lambda f: (f.leaves, f.treedef), lambda treedef, leaves: Flat(None, leaves, treedef)
)


def test_transpose_of_nodes_whose_static_part_depends_on_what_they_hold() -> None:
    outer, inner = tree.structure(Flat({"a": 1, "b": 2})), tree.structure([1, 2])
    given = Flat({"a": [3, 4], "b": [5, 6]})
    found = tree_util.tree_transpose(outer, inner, given)
    assert [x.whole() for x in found] == [{"a": 3, "b": 5}, {"a": 4, "b": 6}]
    for wrong in (tree.structure([1, 2, 3]), None):
        with pytest.raises(ValueError, match="transpose"):
            tree_util.tree_transpose(outer, wrong, given)
