"""Pytrees: nested containers of arrays, flattened to a list of leaves and a structure.

Lists, tuples, dicts, named tuples, None, OrderedDict and defaultdict are nodes; other classes are
leaves until `hloom.tree_util` registers them; all else is a leaf.  The work is done by jaxlib's C++
registry; here are the public functions, and errors that say where two trees differ.

The functions are named as in `jax.tree`, so this module shadows `map` and `all`.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jaxlib._jax as _jax

from hloom.errors import ArgumentError
from hloom.errors.trees import check_class, check_predicate, elements, no_function, no_structure

_pytree = _jax.pytree

#: The structure of a tree: what `flatten` gives beside the leaves.  jaxlib's class.
PyTreeDef = _pytree.PyTreeDef
#: A step of a path into a dict, by its `key`.
DictKey = _pytree.DictKey
#: A step of a path into a list or tuple, by its `idx`.
SequenceKey = _pytree.SequenceKey
#: A step of a path into an object, by the `name` of an attribute.
GetAttrKey = _pytree.GetAttrKey
#: A step of a path into a registered class without names for its children, by its `key`, a number.
FlattenedIndexKey = _pytree.FlattenedIndexKey
#: The way from a tree to one of its leaves: a tuple of keys.  `keystr` writes it as text.
KeyPath = tuple[Any, ...]
#: A function that says whether something counts as a leaf, or None.
IsLeaf = Callable[[Any], bool] | None
#: The same, asked with the path too.
IsLeafAt = Callable[[Any, Any], bool] | None

# hloom's own registry: a class may be registered here and in a jax of the same process.
REGISTRY = _pytree.PyTreeRegistry(
    enable_none=True, enable_tuple=True, enable_namedtuple=True, enable_list=True, enable_dict=True
)
# What a structure is pickled with: the registry itself, by the name that it has here.
REGISTRY.__module__, REGISTRY.__name__ = __name__, "REGISTRY"
FIELDS: dict[type, Sequence[str]] = {}  # of registered dataclasses: the names of their children
_REGISTERED_TUPLES: set[type] = set()  # named tuple classes that are nodes in a way of their own

_flatten = REGISTRY.flatten
_flatten_with_path = REGISTRY.flatten_with_path
_NOTHING: Any = object()


# ---- flatten and rebuild -----------------------------------------------------------------------


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], Any]:
    """The leaves of a tree, left to right, and its structure.

    `is_leaf(x)`, asked of every node from the root down, may end the descent at `x`.
    Dicts are read in the order of their sorted keys.  Raises ValueError for a dict whose keys
    cannot be sorted, RecursionError for a tree that contains itself.

    >>> leaves, treedef = hloom.tree.flatten({"b": [1, 2], "a": (3, None)})
    >>> leaves
    [3, 1, 2]
    >>> treedef
    PyTreeDef({'a': (*, None), 'b': [*, *]})
    """
    try:
        return _flatten(tree, is_leaf)  # type: ignore[no-any-return]
    except Exception as error:
        check_predicate(is_leaf)
        replacement = _flatten_failure(error, tree, is_leaf and (lambda _, x: is_leaf(x)))
        if replacement is None:
            raise
        raise replacement from error


def unflatten(treedef: Any, leaves: Iterable[Any]) -> Any:
    """The tree of structure `treedef` with these leaves; the inverse of `flatten`.

    Raises ValueError unless there is one leaf for each place.

    >>> treedef = hloom.tree.structure({"a": 0, "b": [0, 0]})
    >>> hloom.tree.unflatten(treedef, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    if treedef.__class__ is not PyTreeDef:
        raise no_structure("hloom.tree.unflatten", treedef)
    if not isinstance(leaves, (list, tuple)):
        leaves = list(elements("hloom.tree.unflatten", "the leaves", leaves))
    if len(leaves) != treedef.num_leaves:
        raise ValueError(
            f"hloom.tree.unflatten: {_shown(treedef)} has places for {treedef.num_leaves} leaves, "
            f"got {len(leaves)}"
        )
    return treedef.unflatten(leaves)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, left to right.

    >>> hloom.tree.leaves({"b": [1, 2], "a": (3, None)})
    [3, 1, 2]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> Any:
    """The structure of a tree: what is left when its leaves are taken away.

    >>> hloom.tree.structure([1, (2, 3)])
    PyTreeDef([*, (*, *)])
    """
    return flatten(tree, is_leaf)[1]


def flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], Any]:
    """As `flatten`, with every leaf preceded by its path: a tuple of keys.

    With `is_leaf_takes_path`, `is_leaf` is called as `is_leaf(path, x)`.

    >>> pairs, treedef = hloom.tree.flatten_with_path({"a": [1, 2]})
    >>> pairs[1]
    ((DictKey(key='a'), SequenceKey(idx=1)), 2)
    """
    ask = is_leaf if is_leaf_takes_path or is_leaf is None else lambda _, x: is_leaf(x)
    try:
        return _flatten_with_path(tree, ask)  # type: ignore[no-any-return]
    except Exception as error:
        check_predicate(is_leaf)
        replacement = _flatten_failure(error, tree, ask)
        if replacement is None:
            raise
        raise replacement from error


def leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each preceded by its path.

    >>> for path, leaf in hloom.tree.leaves_with_path({"w": [1, 2]}):
    ...     print(hloom.tree_util.keystr(path), leaf)
    ['w'][0] 1
    ['w'][1] 2
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


# ---- functions of whole trees ------------------------------------------------------------------


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree of the structure of `tree`, with `f(leaf, *leaves of rest)` in place of each leaf.

    `tree` may be a prefix of the trees in `rest`: `f` then receives subtrees.  Raises ValueError
    naming the path where a tree of `rest` differs.

    >>> hloom.tree.map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    if not callable(f):
        raise no_function("map", f)
    first, treedef = flatten(tree, is_leaf)
    if not rest:
        return treedef.unflatten([f(x) for x in first])
    return treedef.unflatten([f(*xs) for xs in zip(first, *_columns("map", treedef, rest))])


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """As `map`, with the path of the leaf as first argument of `f`.

    >>> hloom.tree.map_with_path(lambda path, x: f"{hloom.tree_util.keystr(path)}={x}", {"a": [7]})
    {'a': ["['a'][0]=7"]}
    """
    if not callable(f):
        raise no_function("map_with_path", f)
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = _columns("map_with_path", treedef, rest)
    return treedef.unflatten([f(*pair, *xs) for pair, *xs in zip(pairs, *columns)])


def reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _NOTHING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves from left to right: `function(function(a, b), c)`.

    Raises TypeError for a tree without leaves when there is no `initializer`.

    >>> hloom.tree.reduce(lambda x, y: x + y, {"a": 1, "b": [2, 3]})
    6
    """
    if not callable(function):
        raise no_function("reduce", function)
    values = leaves(tree, is_leaf)
    if initializer is not _NOTHING:
        return functools.reduce(function, values, initializer)
    if not values:
        raise TypeError("hloom.tree.reduce of a tree without leaves needs an initializer")
    return functools.reduce(function, values)


def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _NOTHING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves in pairs, as a balanced tree: shorter chains of operations.

    `operation` has to be associative; `identity` is the answer for a tree without leaves, where a
    TypeError is raised if it is missing.

    >>> hloom.tree.reduce_associative(lambda x, y: f"({x}{y})", list("abcd"))
    '((ab)(cd))'
    """

    def combine(values: list[Any]) -> Any:
        if len(values) == 1:
            return values[0]
        middle = len(values) // 2
        return operation(combine(values[:middle]), combine(values[middle:]))

    if not callable(operation):
        raise no_function("reduce_associative", operation)
    values = leaves(tree, is_leaf)
    if values:
        return combine(values)
    if identity is _NOTHING:
        raise TypeError("hloom.tree.reduce_associative of a tree without leaves needs an identity")
    return identity


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether every leaf is true.

    >>> hloom.tree.all({"a": True, "b": [1, 0]})
    False
    """
    return False not in [bool(x) for x in leaves(tree, is_leaf)]


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree of the structure of `full_tree`, each leaf taken from its place in the prefix.

    `is_leaf` is asked of `prefix_tree` only.

    Raises ValueError where `prefix_tree` is not a prefix of `full_tree`.

    >>> hloom.tree.broadcast({"a": 1, "b": 2}, {"a": (10, 20), "b": [30, {"c": 40}]})
    {'a': (1, 1), 'b': [2, {'c': 2}]}
    """
    spread = broadcast_leaves(prefix_tree, full_tree, is_leaf)
    return structure(full_tree).unflatten(spread)


def transpose(outer_treedef: Any, inner_treedef: Any | None, pytree_to_transpose: Any) -> Any:
    """Turn a tree of trees inside out: from outer(inner) to inner(outer).

    `inner_treedef` None takes the structure of the first inner tree.  Raises ValueError where an
    inner tree is of another structure.

    >>> outer, inner = hloom.tree.structure([0, 0]), hloom.tree.structure({"x": 0, "y": 0})
    >>> hloom.tree.transpose(outer, inner, [{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    {'x': [1, 3], 'y': [2, 4]}
    """
    for treedef in (outer_treedef, inner_treedef):
        if treedef is not None and treedef.__class__ is not PyTreeDef:
            raise no_structure("hloom.tree.transpose", treedef)
    columns, inner_treedef = _columns_of_trees(outer_treedef, inner_treedef, pytree_to_transpose)
    rows = [[column[i] for column in columns] for i in range(inner_treedef.num_leaves)]
    return inner_treedef.unflatten([outer_treedef.unflatten(row) for row in rows])


def _columns_of_trees(outer: Any, inner: Any, tree: Any) -> tuple[list[list[Any]], Any]:
    """The leaves of each inner tree, and their structure."""
    names = ("outer_treedef", "pytree_to_transpose")
    try:
        inner_trees = flatten_up_to(outer, tree, "transpose", names)
    except ValueError:
        values, treedef = flatten(tree)
        if inner is None or not _differ_in_static_part(outer, treedef):
            raise
        size = inner.num_leaves
        if len(values) != outer.num_leaves * size:
            raise
        return [values[i : i + size] for i in range(0, len(values), size or 1)], inner
    if inner is None:
        if not inner_trees:
            raise ValueError("hloom.tree.transpose needs inner_treedef: there are no inner trees")
        inner = structure(inner_trees[0])
    columns = [
        flatten_up_to(inner, x, "transpose", ("inner_treedef", f"inner tree {i}"))
        for i, x in enumerate(inner_trees)
    ]
    return columns, inner


def _differ_in_static_part(first: Any, second: Any) -> bool:
    """Whether two structures differ first in the static part of a class that users registered.

    It may tell of the leaves what they are, and be another one where they are trees.
    """
    found = _difference(first, second, False, ())
    if found is None:
        return False
    kind = _kind(found[1])
    return kind is _kind(found[2]) and kind not in (
        list, tuple, dict, OrderedDict, defaultdict, None, type(None),
    )  # fmt: skip


def static(**kwargs: Any) -> Any:
    """A dataclass field that is part of the structure; takes what `dataclasses.field` takes.

    For classes that `hloom.tree_util.register_dataclass` registers without a list of fields.

    >>> import dataclasses
    >>> @hloom.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = hloom.tree.static(default="dense")
    >>> hloom.tree.map(lambda x: x + 1, Layer(1.0))
    Layer(w=2.0, name='dense')
    """
    metadata = {"static": True, **(kwargs.pop("metadata", None) or {})}
    return dataclasses.field(metadata=metadata, **kwargs)


# ---- for the other modules ---------------------------------------------------------------------


def flatten_up_to(
    treedef: Any, tree: Any, who: str, names: tuple[str, str] = ("tree", "rest[0]")
) -> list[Any]:
    """The subtrees of `tree` in the places of the leaves of `treedef`.

    Raises ValueError with the text of `mismatch`, for the function `who` of this module.
    """
    if treedef.__class__ is not PyTreeDef:
        raise no_structure(f"hloom.tree.{who}", treedef)
    try:
        return treedef.flatten_up_to(tree)  # type: ignore[no-any-return]
    except ValueError as error:
        difference = mismatch(f"hloom.tree.{who}", treedef, structure(tree), names)
        raise difference or error from None


def broadcast_leaves(
    prefix: Any,
    tree: Any,
    is_leaf: IsLeaf = None,
    who: str = "broadcast",
    names: tuple[str, str] = ("prefix_tree", "full_tree"),
) -> list[Any]:
    """For each leaf of `tree` the leaf of `prefix` above it, as `in_axes` is for arguments.

    `is_leaf` is asked of `prefix` only.
    """
    values, treedef = flatten(prefix, is_leaf)
    subtrees = flatten_up_to(treedef, tree, who, names)
    return [x for x, sub in zip(values, subtrees) for _ in leaves(sub)]


def treedef_tuple(treedefs: Iterable[Any]) -> Any:
    """The structure of a tuple of trees of these structures.

    Raises TypeError for anything else among them, which would end the process in jaxlib.
    """
    treedefs = list(elements("hloom.tree_util.treedef_tuple", "structures", treedefs))
    check_structures("hloom.tree_util.treedef_tuple", *treedefs)
    return _pytree.treedef_tuple(REGISTRY, treedefs)


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A path as Python would write it: `['w'][0].scale`.

    `simple` leaves out brackets, quotes and dots; `separator` is put between the keys.

    >>> path = hloom.tree.leaves_with_path({"w": [7]})[0][0]
    >>> hloom.tree_util.keystr(path)
    "['w'][0]"
    >>> hloom.tree_util.keystr(path, simple=True, separator="/")
    'w/0'
    """
    if not isinstance(separator, str):
        raise TypeError(
            "hloom.tree.keystr takes separator as a text, such as '/'; got "
            f"{type(separator).__name__} {separator!r:.60}"
        )
    path = elements("hloom.tree.keystr", "a path, a tuple of keys", keys)
    return separator.join([_simple_key(key) if simple else str(key) for key in path])


def _simple_key(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


def paths(treedef: Any) -> list[KeyPath]:
    """The path of each leaf of a structure; no class of the user's is built for it."""
    check_structures("hloom.tree.paths", treedef)
    if treedef.node_data() is None:
        return [()]
    children = zip(_keys(treedef), treedef.children())
    return [(key, *path) for key, child in children for path in paths(child)]


def mismatch(
    who: str, first: Any, second: Any, names: tuple[str, str], *, exact: bool = False
) -> ValueError | None:
    """The error of two structures that differ, or None if they do not.

    `first` may be a prefix of `second` unless they must be `exact`ly the same.
    """
    check_structures("hloom.tree.mismatch", first, second)
    found = _difference(first, second, exact, ())
    if found is None:
        return None
    path, mine, other = found
    place = f"at {keystr(path)}" if path else "at its root"
    lines = [
        f"{who}: {names[1]} has {_described(other)} {place}, where {names[0]} has "
        f"{_described(mine)}{_key_difference(mine, other)}.",
        f"  {names[0]}: {_shown(first)}",
        f"  {names[1]}: {_shown(second)}",
    ]
    if type(None) in (_kind(mine), _kind(other)):
        lines.append(
            "None is a tree without leaves; to make it a leaf: is_leaf=lambda x: x is None"
        )
    return ArgumentError("\n".join(lines))


def check_structures(who: str, *given: Any) -> None:
    """Raise TypeError, in the name of the function `who`, for what is no structure."""
    for treedef in given:
        if treedef.__class__ is not PyTreeDef:
            raise no_structure(who, treedef)


# ---- where trees differ, in words --------------------------------------------------------------


def _columns(who: str, treedef: Any, rest: Sequence[Any]) -> list[list[Any]]:
    return [
        flatten_up_to(treedef, tree, who, ("tree", f"rest[{i}]")) for i, tree in enumerate(rest)
    ]


def _kind(treedef: Any) -> type | None:
    """The class of a structure's root; None for a leaf."""
    node = treedef.node_data()
    return None if node is None else node[0]


def _keys(treedef: Any) -> list[Any]:
    """The key of each child of a structure's root."""
    kind, data = treedef.node_data()
    if kind is dict or kind is OrderedDict:
        return [DictKey(key) for key in data]
    if kind is defaultdict:
        return [DictKey(key) for key in data[1]]
    own = kind in _REGISTERED_TUPLES
    names = FIELDS.get(kind, None if own else getattr(kind, "_fields", None))
    if names is not None:
        return [GetAttrKey(name) for name in names]
    key = SequenceKey if kind in (list, tuple) else FlattenedIndexKey
    return [key(i) for i in range(len(treedef.children()))]


def _difference(
    first: Any, second: Any, exact: bool, path: KeyPath
) -> tuple[KeyPath, Any, Any] | None:
    """Path and both structures of the first place where two structures differ."""
    mine, other = first.node_data(), second.node_data()
    if mine is None and (other is None or not exact):
        return None
    children, others = first.children(), second.children()
    if mine is None or other is None or mine != other or len(children) != len(others):
        return path, first, second
    for key, child, opposite in zip(_keys(first), children, others):
        found = _difference(child, opposite, exact, (*path, key))
        if found is not None:
            return found
    return None


def _described(treedef: Any) -> str:
    """The root of a structure in words: "a list of 3"."""
    kind = _kind(treedef)
    if kind is None:
        return "a leaf"
    if kind is type(None):
        return "None"
    name = f"{'an' if kind.__name__[0] in 'AEIOUaeiou' else 'a'} {kind.__name__}"
    if kind in (list, tuple):
        return f"{name} of {len(treedef.children())}"
    if kind in (dict, OrderedDict, defaultdict):
        keys = [repr(key.key) for key in _keys(treedef)]
        return (
            f"{name} of {', '.join(keys[:8])}{', ...' if len(keys) > 8 else ''}"
            if keys
            else f"{name} of 0"
        )
    data = treedef.node_data()[1]
    return name if data is None else f"{name} with the static part {data!r}"


def _key_difference(mine: Any, other: Any) -> str:
    """Which keys of two dicts have no partner."""
    kind = _kind(mine)
    if kind is None or kind is not _kind(other) or kind not in (dict, OrderedDict, defaultdict):
        return ""
    left, right = ([repr(key.key) for key in _keys(x)] for x in (mine, other))
    missing, extra = [k for k in left if k not in right], [k for k in right if k not in left]
    parts = [f"{', '.join(missing)} missing"] if missing else []
    parts += [f"{', '.join(extra)} unexpected"] if extra else []
    return f" ({'; '.join(parts)})" if parts else " (in another order)"


def _shown(treedef: Any) -> str:
    text = str(treedef).removeprefix("PyTreeDef(").removesuffix(")")
    return text if len(text) <= 400 else f"{text[:390]} ...({len(text)} characters)"


# ---- what flattening fails of ------------------------------------------------------------------

_leave_recursion = ctypes.pythonapi.Py_LeaveRecursiveCall
_leave_recursion.argtypes = ()
_leave_recursion.restype = None


def _flatten_failure(error: Exception, tree: Any, is_leaf: IsLeafAt) -> Exception | None:
    """A better error for one that C++ raised, or None to go on with that one."""
    if isinstance(error, SystemError) and isinstance(error.__cause__, RecursionError):
        return RecursionError("the tree is nested too deeply, or contains itself")
    found = _failing_node(tree, is_leaf, ())
    if found is None:
        return None
    path, node = found
    # An exception that passes through the C++ recursion keeps one level of Python's recursion limit
    # for each level of nesting (jaxlib 0.10.2 and 0.12.0): a few hundred of them would leave the
    # thread unusable.  Give the levels back.
    for _ in path:
        _leave_recursion()
    place = keystr(path) or "the root"
    if type(node) in (dict, defaultdict) and not _sortable(node):
        kinds = sorted({type(key).__name__ for key in node})
        return ValueError(
            f"the keys of the dict at {place} cannot be sorted: they are of types "
            f"{', '.join(kinds)}. Use keys of one type, or a collections.OrderedDict, which keeps "
            "its own order"
        )
    error.add_note(f"(raised while flattening the {type(node).__name__} at {place} of a tree)")
    return None


def _sortable(keys: Iterable[Any]) -> bool:
    try:
        sorted(keys)
    except Exception:  # whatever the keys' comparison raises
        return False
    return True


def _failing_node(tree: Any, is_leaf: IsLeafAt, path: KeyPath) -> tuple[KeyPath, Any] | None:
    """Path and value of the node at which flattening raises."""
    try:
        if is_leaf is not None and is_leaf(path, tree):
            return None
        level = REGISTRY.flatten_one_level_with_keys(tree)
        pairs = [] if level is None else list(level[0])
    except Exception:  # whatever the user's class raises
        return path, tree
    for key, child in pairs:
        found = _failing_node(child, is_leaf, (*path, key))
        if found is not None:
            return found
    return None


# ---- nodes that the C++ registry does not know of itself ---------------------------------------


def register_node(
    cls: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Any], Any],
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Make instances of `cls` nodes; see `hloom.tree_util.register_pytree_node`."""
    check_class(cls)
    for name, function in (("flatten", flatten), ("unflatten", unflatten)):
        if not callable(function):
            raise TypeError(f"registering {cls.__name__}: {name} is {function!r}, not a function")
    is_named_tuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
    if cls in _REGISTERED_TUPLES or (REGISTRY.is_node(cls) and not is_named_tuple):
        raise ValueError(
            f"Duplicate custom PyTreeDef type registration for {cls}: it is a node already"
        )
    REGISTRY.register_node(cls, flatten, unflatten, flatten_with_keys)
    if is_named_tuple:  # a node without that, but now in the way that was registered
        _REGISTERED_TUPLES.add(cls)


def _ordered_items(x: OrderedDict[Any, Any]) -> tuple[list[tuple[Any, Any]], Any]:
    return [(DictKey(key), value) for key, value in x.items()], tuple(x)


def _default_items(x: defaultdict[Any, Any]) -> tuple[list[tuple[Any, Any]], Any]:
    keys = tuple(sorted(x))
    return [(DictKey(key), x[key]) for key in keys], (x.default_factory, keys)


def _default_values(x: defaultdict[Any, Any]) -> tuple[list[Any], Any]:
    keys = tuple(sorted(x))
    return [x[key] for key in keys], (x.default_factory, keys)


register_node(
    OrderedDict,
    lambda x: (tuple(x.values()), tuple(x)),
    lambda keys, values: OrderedDict(zip(keys, values)),
    _ordered_items,
)
register_node(
    defaultdict,
    _default_values,
    lambda data, values: defaultdict(data[0], zip(data[1], values)),
    _default_items,
)
