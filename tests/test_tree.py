"""Pytrees: flattening, functions of trees, registration, and errors that say where trees differ."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
import sys
import threading
from collections import OrderedDict, defaultdict, namedtuple

import pytest

from hloom import tree, tree_util

Point = namedtuple("Point", "x y")

TREES = {
    "leaf": 5,
    "none": None,
    "empty": [],
    "list": [1, 2],
    "tuple": (1, (2,)),
    "dict": {"b": 1, "a": [2, 3]},
    "named": Point(1, [2]),
    "ordered": OrderedDict(z=1, a=2),
    "default": defaultdict(list, b=1, a=2),
    "mixed": {"w": [1, None, (2, Point(3, {"k": 4}))], "v": OrderedDict(q=())},
}

TREE_NAMES = """
    all broadcast flatten flatten_with_path leaves leaves_with_path map map_with_path reduce
    reduce_associative static structure transpose unflatten
""".split()


def is_none(x):
    return x is None


@pytest.fixture(params=TREES, name="given")
def a_tree(request):
    return TREES[request.param]


# ---- flatten and rebuild ---------------------------------------------------------------------


def test_unflatten_undoes_flatten(given):
    leaves, treedef = tree.flatten(given)
    again = tree.unflatten(treedef, leaves)
    assert again == given
    assert type(again) is type(given)


def test_paths_of_a_structure_are_those_of_the_leaves(given):
    pairs, treedef = tree.flatten_with_path(given)
    assert tree.paths(treedef) == [path for path, _ in pairs]
    assert [leaf for _, leaf in pairs] == tree.leaves(given)


def test_dicts_are_read_in_the_order_of_their_keys():
    assert tree.leaves({"b": 1, "a": 2}) == [2, 1]
    assert tree.leaves(defaultdict(int, b=1, a=2)) == [2, 1]
    assert tree.leaves(OrderedDict(b=1, a=2)) == [1, 2]


def test_a_defaultdict_keeps_its_factory():
    again = tree.map(lambda x: x, defaultdict(list, a=1))
    assert again["missing"] == []


def test_none_is_a_tree_without_leaves_unless_is_leaf_says_otherwise():
    assert tree.leaves([None, 1]) == [1]
    assert tree.leaves([None, 1], is_leaf=is_none) == [None, 1]


def test_subclasses_of_containers_are_leaves_until_registered():
    class Stack(list):
        pass

    assert tree.leaves(Stack([1, 2])) == [Stack([1, 2])]


def test_structures_are_equal_and_hash_alike_when_only_the_leaves_differ():
    one, two = tree.structure({"a": [1, 2]}), tree.structure({"a": ["x", "y"]})
    assert one == two
    assert hash(one) == hash(two)
    assert one != tree.structure({"a": (1, 2)})


def test_is_leaf_may_take_the_path():
    pairs = tree.leaves_with_path(
        {"a": [1], "b": [2]}, is_leaf=lambda path, x: path == (tree.DictKey("a"),),
        is_leaf_takes_path=True,
    )  # fmt: skip
    assert [(tree.keystr(path), x) for path, x in pairs] == [("['a']", [1]), ("['b'][0]", 2)]


def test_unflatten_counts_the_leaves():
    with pytest.raises(ValueError, match=r"\[\*, \*\] has places for 2 leaves, got 1"):
        tree.unflatten(tree.structure([1, 2]), [1])
    with pytest.raises(ValueError, match="got 3"):
        tree.unflatten(tree.structure([1, 2]), iter([1, 2, 3]))


def test_unflatten_says_so_when_the_arguments_are_swapped():
    with pytest.raises(TypeError, match=r"takes a structure first, got list \[1\]"):
        tree.unflatten([1], tree.structure([1]))
    with pytest.raises(TypeError, match="takes a structure first"):
        tree.transpose([0], None, [1])


# ---- functions of trees ----------------------------------------------------------------------


def test_map_keeps_the_structure(given):
    assert tree.structure(tree.map(lambda x: x + 1, given)) == tree.structure(given)


def test_map_takes_subtrees_below_its_leaves():
    assert tree.map(lambda a, b: (a, b), [1, 5], [1, [2, 3]]) == [(1, 1), (5, [2, 3])]


def test_map_does_not_end_early_when_the_function_raises_stop_iteration():
    def stop(x):
        raise StopIteration

    with pytest.raises(StopIteration):
        tree.map(stop, [1, 2])


def test_map_with_path_gives_the_path_first():
    found = tree.map_with_path(lambda p, x, y: (tree.keystr(p), x + y), {"a": [1]}, {"a": [2]})
    assert found == {"a": [("['a'][0]", 3)]}


def test_reduce_goes_from_left_to_right():
    assert tree.reduce(lambda x, y: f"({x}{y})", list("abc")) == "((ab)c)"
    assert tree.reduce(lambda x, y: x + y, [], 5) == 5
    assert tree.reduce(lambda x, y: (x, y), [1], None) == (None, 1)
    with pytest.raises(TypeError, match="needs an initializer"):
        tree.reduce(max, [])


def test_reduce_associative_halves():
    assert (
        tree.reduce_associative(lambda x, y: f"({x}{y})", list("abcdefg")) == "((a(bc))((de)(fg)))"
    )
    assert tree.reduce_associative(max, [], identity="none") == "none"
    with pytest.raises(TypeError, match="needs an identity"):
        tree.reduce_associative(max, {})


def test_all_of_no_leaves_is_true():
    assert tree.all([])
    assert tree.all([1, True])
    assert not tree.all({"a": [1, 0]})


def test_broadcast_repeats_the_leaves_of_a_prefix():
    full = {"a": (1, 2), "b": [3, {"c": 4}]}
    assert tree.broadcast({"a": 8, "b": 9}, full) == {"a": (8, 8), "b": [9, {"c": 9}]}
    assert tree.broadcast(None, full, is_leaf=is_none) == {
        "a": (None, None),
        "b": [None, {"c": None}],
    }


def test_is_leaf_of_broadcast_is_asked_of_the_prefix_only():
    assert tree.broadcast_leaves(None, {"a": 1, "b": None}, is_none) == [None]


def test_transpose_turns_a_tree_inside_out():
    outer, inner = tree.structure({"a": 0, "b": 0}), tree.structure([0, 0, 0])
    given = {"a": [1, 2, 3], "b": [4, 5, 6]}
    expected = [{"a": 1, "b": 4}, {"a": 2, "b": 5}, {"a": 3, "b": 6}]
    assert tree.transpose(outer, inner, given) == expected
    assert tree.transpose(outer, None, given) == expected
    assert tree.transpose(inner, outer, expected) == given


def test_transpose_refuses_inner_trees_of_two_structures():
    outer = tree.structure([0, 0])
    with pytest.raises(
        ValueError, match=r"inner tree 1 has a dict of 'b' at its root.*'a' missing"
    ):
        tree.transpose(outer, None, [{"a": 1}, {"b": 2}])
    with pytest.raises(ValueError, match="needs inner_treedef"):
        tree.transpose(tree.structure([]), None, [])


# ---- errors that say where -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ({"b": [1, 2, 3]}, {"b": [1, 2]}, r"a list of 2 at ['b'], where tree has a list of 3"),
        ([1, 2], (1, 2), "a tuple of 2 at its root, where tree has a list of 2"),
        ([1, [2]], [1, 2], "a leaf at [1], where tree has a list of 1"),
        ([1, None], [1, 2], "a leaf at [1], where tree has None"),
        (
            {"a": 1},
            {"b": 1},
            "a dict of 'b' at its root, where tree has a dict of 'a' ('a' missing; 'b' unexpected)",
        ),
        (Point(1, [2]), Point(1, 2), "a leaf at .y, where tree has a list of 1"),
        (
            OrderedDict(a=1, b=2),
            OrderedDict(b=1, a=2),
            "an OrderedDict of 'b', 'a' at its root, where tree has an OrderedDict of 'a', 'b' "
            "(in another order)",
        ),
    ],
)
def test_a_mismatch_names_the_path_and_both_structures(first, second, text):
    with pytest.raises(ValueError) as caught:
        tree.map(lambda x, y: x, first, second)
    head, mine, other, *_ = str(caught.value).splitlines()
    assert head == f"hloom.tree.map: rest[0] has {text}."
    assert mine == f"  tree: {str(tree.structure(first))[10:-1]}"
    assert other == f"  rest[0]: {str(tree.structure(second))[10:-1]}"


def test_a_mismatch_with_none_says_how_to_make_none_a_leaf():
    with pytest.raises(ValueError, match="is_leaf=lambda x: x is None"):
        tree.map(lambda x, y: x, [None], [1])


def test_mismatch_compares_structures_exactly_when_asked():
    prefix, full = tree.structure([0]), tree.structure([[0]])
    assert tree.mismatch("f", prefix, full, ("a", "b")) is None
    error = tree.mismatch("f", prefix, full, ("a", "b"), exact=True)
    assert "b has a list of 1 at [0], where a has a leaf" in str(error)


def test_huge_structures_are_cut_short_in_errors():
    with pytest.raises(ValueError) as caught:
        tree.map(lambda x, y: x, [0] * 1000, [0] * 1001)
    assert len(str(caught.value)) < 1200


def test_keys_that_cannot_be_sorted_are_named_with_their_path():
    with pytest.raises(
        ValueError, match=r"dict at \[0\]\['x'\] cannot be sorted.*int, str.*OrderedDict"
    ):
        tree.flatten([{"x": {1: 2, "a": 3}}])
    with pytest.raises(ValueError, match="dict at the root"):
        tree.flatten_with_path(defaultdict(int, {1: 2, "a": 3}))


def test_an_error_of_is_leaf_at_a_dict_is_not_taken_for_its_keys():
    def ask(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        tree.flatten({"a": 1}, ask)


def test_a_tree_that_contains_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(RecursionError, match="contains itself"):
        tree.leaves(loop)


def test_an_error_of_the_users_class_passes_with_the_place():
    class Broken:
        pass

    tree_util.register_pytree_node(Broken, lambda x: 1 // 0, lambda _, children: Broken())
    with pytest.raises(ZeroDivisionError) as caught:
        tree.flatten({"a": [Broken()]})
    assert "Broken at ['a'][0]" in caught.value.__notes__[0]


def test_many_failures_do_not_use_up_the_recursion_limit():
    nested = {1: 2, "a": 3}
    for _ in range(10):
        nested = [nested]
    fails = 12 * max(1000, sys.getrecursionlimit()) // 10
    for _ in range(fails):
        with pytest.raises(ValueError):
            tree.flatten(nested)
    assert tree.leaves([[[1]]]) == [1]


def test_trees_may_be_flattened_in_threads():
    given, found = TREES["mixed"], []
    threads = [threading.Thread(target=lambda: found.append(tree.flatten(given))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [tree.flatten(given)] * 8


# ---- keys ------------------------------------------------------------------------------------


def test_keystr_writes_paths_as_python_does():
    keys = (
        tree.DictKey("a"),
        tree.SequenceKey(1),
        tree.GetAttrKey("b"),
        tree.FlattenedIndexKey(2),
        "own",
    )
    assert tree.keystr(keys) == "['a'][1].b[<flat index 2>]own"
    assert tree.keystr(keys, simple=True, separator="/") == "a/1/b/2/own"
    assert tree.keystr(()) == ""


# ---- registration ----------------------------------------------------------------------------


@tree_util.register_pytree_node_class
class Scaled:
    def __init__(self, x, unit):
        self.x, self.unit = x, unit

    def tree_flatten(self):
        return (self.x,), self.unit

    @classmethod
    def tree_unflatten(cls, unit, children):
        return cls(*children, unit)


def test_the_static_part_belongs_to_the_structure():
    assert tree.structure(Scaled(1, "m")) == tree.structure(Scaled(2, "m"))
    with pytest.raises(ValueError, match=r"a Scaled with the static part 's' at \[0\]"):
        tree.map(lambda x, y: x, [Scaled(1, "m")], [Scaled(1, "s")])


def test_children_without_keys_are_numbered():
    [(path, _)] = tree.leaves_with_path([Scaled(1, "m")])
    assert tree.keystr(path) == "[0][<flat index 0>]"


def test_a_subclass_is_a_leaf_of_its_own():
    class Finer(Scaled):
        pass

    finer = Finer(1, "m")
    assert tree.leaves(finer) == [finer]


def test_registering_twice_or_nonsense_is_refused():
    with pytest.raises(ValueError, match="Duplicate custom PyTreeDef type registration"):
        tree_util.register_pytree_node_class(Scaled)
    with pytest.raises(ValueError, match="Duplicate"):
        tree_util.register_pytree_node(list, len, len)
    with pytest.raises(TypeError, match="a class is registered"):
        tree_util.register_pytree_node(3, len, len)
    with pytest.raises(TypeError, match="flatten is None, not a function"):
        tree_util.register_pytree_node(int, None, len)
    with pytest.raises(AttributeError, match="no method tree_flatten and no tree_unflatten"):
        tree_util.register_pytree_node_class(int)


def test_keys_are_used_and_the_plain_flatten_is_optional():
    @tree_util.register_pytree_with_keys_class
    class Keyed:
        def __init__(self, x):
            self.x = x

        def tree_flatten_with_keys(self):
            return ((tree_util.GetAttrKey("x"), self.x),), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    assert tree.leaves(Keyed([1, 2])) == [1, 2]
    assert [tree.keystr(path) for path, _ in tree.leaves_with_path(Keyed([1, 2]))] == [
        ".x[0]",
        ".x[1]",
    ]
    assert tree.map(lambda x: x + 1, Keyed(1)).x == 2


@tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    w: object
    name: str = tree.static(default="dense")
    b: object = 0


def test_a_dataclass_has_fields_for_children():
    layer = Layer([1, 2], "conv", 3)
    pairs, treedef = tree.flatten_with_path(layer)
    assert [(tree.keystr(path), x) for path, x in pairs] == [(".w[0]", 1), (".w[1]", 2), (".b", 3)]
    assert tree.paths(treedef) == [path for path, _ in pairs]
    assert tree.map(lambda x: -x, layer) == Layer([-1, -2], "conv", -3)
    assert tree.structure(layer) != tree.structure(Layer([1, 2], "other", 3))


def test_static_keeps_the_metadata_given():
    field = tree.static(metadata={"unit": "m"}, default=1)
    assert dict(field.metadata) == {"static": True, "unit": "m"}
    assert field.default == 1


def test_the_fields_of_a_dataclass_are_checked():
    @dataclasses.dataclass
    class Pair:
        a: int
        b: int = 7

    with pytest.raises(TypeError, match="must both be given"):
        tree_util.register_dataclass(Pair, ["a"])
    with pytest.raises(ValueError, match="Missing fields: {'b'}. Add them to drop_fields"):
        tree_util.register_dataclass(Pair, ["a"], [])
    with pytest.raises(ValueError, match="Unexpected fields: {'c'}"):
        tree_util.register_dataclass(Pair, ["a", "b", "c"], [])
    with pytest.raises(TypeError, match="int is not a dataclass"):
        tree_util.register_dataclass(int)
    tree_util.register_dataclass(Pair, ["a"], [], drop_fields=["b"])
    assert tree.map(lambda x: x + 1, Pair(1, 2)) == Pair(2, 7)
    with pytest.raises(ValueError, match="Duplicate"):
        tree_util.register_dataclass(Pair)


def test_a_class_with_fields_named_need_not_be_a_dataclass():
    class Plain:
        def __init__(self, x, n):
            self.x, self.n = x, n

    tree_util.register_dataclass(Plain, data_fields=["x"], meta_fields=["n"])
    again = tree.map(lambda x: x + 1, Plain(1, 5))
    assert (again.x, again.n) == (2, 5)


def test_a_static_class_is_part_of_the_structure():
    @tree_util.register_static
    @dataclasses.dataclass(frozen=True)
    class Mode:
        name: str

    assert tree.leaves([1, Mode("a")]) == [1]
    assert tree.structure(Mode("a")) == tree.structure(Mode("a"))
    assert tree.structure(Mode("a")) != tree.structure(Mode("b"))


# ---- nodes and structures --------------------------------------------------------------------


def test_flatten_one_level_stops_at_the_children():
    assert tree_util.flatten_one_level({"b": 1, "a": [2]}) == (([2], 1), ("a", "b"))
    assert tree_util.flatten_one_level(None) == ((), None)
    keys, _ = tree_util.flatten_one_level_with_keys({"b": 1})
    assert list(keys) == [(tree_util.DictKey("b"), 1)]
    with pytest.raises(ValueError, match="can't tree-flatten type: <class 'int'>"):
        tree_util.flatten_one_level(3)
    with pytest.raises(ValueError, match="can't tree-flatten type"):
        tree_util.flatten_one_level_with_keys("x")


@pytest.mark.parametrize("cls", [list, tuple, dict, type(None), Point, OrderedDict, Scaled])
def test_nodes_are_told_from_leaves(cls):
    assert tree_util.is_tree_node(cls)


@pytest.mark.parametrize("cls", [int, set, object, 3])
def test_leaves_are_told_from_nodes(cls):
    assert not tree_util.is_tree_node(cls)


def test_all_leaves_asks_each_element():
    assert tree_util.all_leaves([1, "a"])
    assert tree_util.all_leaves([])
    assert not tree_util.all_leaves([1, [2]])
    assert not tree_util.all_leaves([None])
    assert tree_util.all_leaves([1, [2]], is_leaf=lambda x: isinstance(x, list))


def test_treedefs_have_children():
    treedef = tree.structure({"a": 1, "b": [1, 2]})
    leaf, pair = tree_util.treedef_children(treedef)
    assert tree_util.treedef_is_leaf(leaf)
    assert not tree_util.treedef_is_leaf(pair)
    assert tree_util.treedef_tuple([leaf, pair]) == tree.structure((0, [0, 0]))


# ---- Partial ---------------------------------------------------------------------------------


def test_a_partial_is_a_partial_whose_arguments_are_leaves():
    partial = tree_util.Partial(lambda a, b, c=0: (a, b, c), 1, c=5)
    assert isinstance(partial, functools.partial)
    assert partial(2) == (1, 2, 5)
    assert tree.map(lambda x: x + 1, partial)(2) == (2, 2, 6)
    paths = [tree.keystr(path) for path, _ in tree.leaves_with_path(partial)]
    assert paths == [".args[0]", ".keywords['c']"]
    assert paths == [tree.keystr(path) for path in tree.paths(tree.structure(partial))]


def test_partials_of_one_function_have_one_structure():
    one, two = tree_util.Partial(max, 1), tree_util.Partial(max, 2)
    assert tree.structure(one) == tree.structure(two)
    assert tree.structure(one) != tree.structure(tree_util.Partial(min, 1))


def test_a_partial_of_a_partial_is_flat():
    inner = tree_util.Partial(lambda *args, **kw: (args, kw), 1, k=1)
    outer = tree_util.Partial(inner, 2, k=2)
    assert outer() == ((1, 2), {"k": 2})
    assert tree.leaves(outer) == [1, 2, 2]


def test_the_arguments_of_a_functools_partial_inside_stay_static():
    partial = tree_util.Partial(functools.partial(max, 10), 2)
    assert tree.leaves(partial) == [2]
    assert partial() == 10
    assert tree.map(lambda x: x + 100, partial)() == 102


def test_a_partial_is_pickled_and_copied():
    partial = tree_util.Partial(max, 1)
    assert pickle.loads(pickle.dumps(partial))(0) == 1
    assert copy.copy(partial)(5) == 5


# ---- the names -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TREE_NAMES)
def test_tree_has_the_names_of_jax_and_tree_util_the_long_ones(name):
    assert callable(getattr(tree, name))
    if name != "static":
        assert getattr(tree_util, f"tree_{name}") is getattr(tree, name)


def test_tree_util_exports_what_it_lists():
    assert [name for name in tree_util.__all__ if not hasattr(tree_util, name)] == []
    assert len(set(tree_util.__all__)) == len(tree_util.__all__) == 36


# ---- malformed calls -------------------------------------------------------------------------
class Unfit:
    def __repr__(self):
        return "Unfit()"


UNFIT, LEAF, PyTreeDef = Unfit(), tree.structure(0), tree.PyTreeDef
NO_STRUCTURES = {
    "treedef_tuple": lambda x: tree_util.treedef_tuple([LEAF, x]),
    "treedef_children": tree_util.treedef_children,
    "treedef_is_leaf": tree_util.treedef_is_leaf,
    "unflatten": lambda x: tree.unflatten(x, [1]),
    "transpose": lambda x: tree.transpose(x, LEAF, [1]),
    "paths": tree.paths,
    "mismatch": lambda x: tree.mismatch("f", LEAF, x, ("a", "b")),
    "map": lambda x: tree.flatten_up_to(x, [1], "map"),
}


# None and 1 are read as memory by jaxlib's own treedef_tuple: it ends the process.
@pytest.mark.parametrize("given", [None, 1, [0], (0,), "tree", UNFIT, PyTreeDef], ids=repr)
@pytest.mark.parametrize("name", NO_STRUCTURES)
def test_what_is_no_structure_is_refused_by_name(name, given):
    with pytest.raises(
        TypeError, match=rf"{name} takes a structure first, got {type(given).__name__} "
    ):
        NO_STRUCTURES[name](given)


@pytest.mark.parametrize(
    "call",
    [
        tree_util.register_pytree_node_class,
        tree_util.register_pytree_with_keys_class,
        tree_util.register_static,
        tree_util.register_dataclass,
        lambda x: tree_util.register_dataclass(x, [], []),
        lambda x: tree_util.register_pytree_node(x, len, len),
        lambda x: tree_util.register_pytree_with_keys(x, len, len),
    ],
)
@pytest.mark.parametrize("given", [1, None, UNFIT, "int", (int,)], ids=repr)
def test_only_classes_are_registered(call, given):
    with pytest.raises(TypeError, match="a class is registered as a node; got"):
        call(given)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: tree.map(x, [1]), "map takes a function first, then trees; got Unfit"),
        (lambda x: tree.map_with_path(x, [1]), "map_with_path takes a function first"),
        (lambda x: tree.reduce(x, [1, 2]), "reduce takes a function first"),
        (lambda x: tree.reduce_associative(x, [1, 2]), "reduce_associative takes a function first"),
        (lambda x: tree.leaves([1], is_leaf=x), "takes is_leaf as a function or None; got Unfit"),
        (lambda x: tree.leaves_with_path([1], is_leaf=x), "takes is_leaf as a function or None"),
        (
            lambda x: tree.unflatten(LEAF, x),
            r"unflatten takes the leaves; got Unfit Unfit\(\), which",
        ),
        (lambda x: tree_util.keystr(x), "keystr takes a path, a tuple of keys; got Unfit"),
        (lambda x: tree_util.keystr((), separator=x), "keystr takes separator as a text"),
        (tree_util.all_leaves, "all_leaves takes trees in a list; got Unfit"),
        (tree_util.treedef_tuple, "treedef_tuple takes structures; got Unfit"),
    ],
)
def test_other_unfit_arguments_are_named(call, text):
    with pytest.raises(TypeError, match=text):
        call(UNFIT)
