"""Laws of pytrees, on trees drawn at random."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hloom import tree, tree_util

Pair = namedtuple("Pair", "left right")

keys = st.text("abcxyz", max_size=3)


def nodes(children):
    return st.one_of(
        st.lists(children, max_size=4),
        st.lists(children, max_size=4).map(tuple),
        st.dictionaries(keys, children, max_size=4),
        st.dictionaries(keys, children, max_size=3).map(lambda d: OrderedDict(reversed(d.items()))),
        st.dictionaries(keys, children, max_size=3).map(lambda d: defaultdict(list, d)),
        st.builds(Pair, children, children),
        st.builds(tree_util.Partial, st.just(max), children, key=children),
    )


trees = st.recursive(st.none() | st.integers(), nodes, max_leaves=12)
functions = st.sampled_from([lambda x: x + 1, lambda x: -3 * x, str])


def same(one, two):
    return tree.flatten(one) == tree.flatten(two)


@given(trees)
def test_unflatten_undoes_flatten(x):
    leaves, treedef = tree.flatten(x)
    assert treedef.num_leaves == len(leaves)
    assert same(tree.unflatten(treedef, leaves), x)


@given(trees)
def test_paths_lead_to_the_leaves(x):
    pairs, treedef = tree.flatten_with_path(x)
    assert (tree.leaves(x), tree.structure(x)) == ([leaf for _, leaf in pairs], treedef)
    assert tree.paths(treedef) == [path for path, _ in pairs]
    assert len({tree.keystr(path) for path, _ in pairs}) == len(pairs)
    for path, leaf in pairs:
        assert eval(f"x{tree.keystr(path)}", {"x": x}) == leaf


@given(trees, functions, functions)
def test_map_composes(x, f, g):
    def repeat(leaf):
        return f"{leaf}"

    assert same(tree.map(repeat, tree.map(f, x)), tree.map(lambda leaf: repeat(f(leaf)), x))
    assert tree.structure(tree.map(g, x)) == tree.structure(x)


@given(trees, trees)
def test_two_trees_map_together_exactly_when_one_is_a_prefix_of_the_other(x, y):
    error = tree.mismatch("f", tree.structure(x), tree.structure(y), ("x", "y"))
    if error is None:
        tree.map(lambda a, b: a, x, y)
    else:
        with pytest.raises(ValueError):
            tree.map(lambda a, b: a, x, y)


@given(trees, trees)
def test_structures_are_equal_exactly_when_no_difference_is_found(x, y):
    one, two = tree.structure(x), tree.structure(y)
    assert (tree.mismatch("f", one, two, ("x", "y"), exact=True) is None) == (one == two)


@given(trees)
def test_a_leaf_is_a_prefix_of_every_tree(x):
    assert tree.leaves(tree.broadcast(7, x)) == [7] * len(tree.leaves(x))
    assert same(tree.broadcast(x, x), x)


@given(trees, trees)
def test_transpose_twice_is_the_identity(outer, inner):
    outer_def, inner_def = tree.structure(outer), tree.structure(inner)
    if outer_def.num_leaves == 0 or inner_def.num_leaves == 0:
        return
    numbered = tree.unflatten(
        outer_def,
        [
            tree.unflatten(inner_def, [100 * i + j for j in range(inner_def.num_leaves)])
            for i in range(outer_def.num_leaves)
        ],
    )
    there = tree.transpose(outer_def, inner_def, numbered)
    assert same(tree.transpose(inner_def, outer_def, there), numbered)


@given(st.lists(st.text("ab", max_size=2), min_size=1))
def test_both_reductions_agree_on_associative_operations(x):
    joined = "".join(x)
    assert tree.reduce(lambda a, b: a + b, x) == joined
    assert tree.reduce_associative(lambda a, b: a + b, x) == joined
