"""Pytrees under JAX's longer names, and the registration of classes as nodes.

`tree_map`, `tree_flatten` and the other `tree_` names are the functions of `hloom.tree`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from hloom import tree as pytree
from hloom.errors.trees import check_class, elements
from hloom.tree import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyPath,
    PyTreeDef,
    SequenceKey,
    keystr,
)

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

Class = TypeVar("Class", bound=type)

#: A step of a path: the key of one child.
KeyEntry = DictKey | FlattenedIndexKey | GetAttrKey | SequenceKey
#: The classes that are nodes of trees, and how each is taken apart: hloom's own registry.
default_registry = pytree.REGISTRY

tree_all = pytree.all
tree_broadcast = pytree.broadcast
tree_flatten = pytree.flatten
tree_flatten_with_path = pytree.flatten_with_path
tree_leaves = pytree.leaves
tree_leaves_with_path = pytree.leaves_with_path
tree_map = pytree.map
tree_map_with_path = pytree.map_with_path
tree_reduce = pytree.reduce
tree_reduce_associative = pytree.reduce_associative
tree_structure = pytree.structure
tree_transpose = pytree.transpose
tree_unflatten = pytree.unflatten


# ---- making a class a node ---------------------------------------------------------------------


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Make instances of a class nodes of trees.

    `flatten_func(x)` gives (children, static part) and `unflatten_func(static part, children)` the
    object back.  The static part is compared with `==` and hashed: keep arrays out of it.
    `unflatten_func` must take any objects as children.  A named tuple class, a node anyway, may be
    registered to be another one.  Raises ValueError if the class is a node already.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> hloom.tree_util.register_pytree_node(
    ...     Pair, lambda p: ((p.a, p.b), None), lambda _, children: Pair(*children)
    ... )
    >>> hloom.tree.leaves(hloom.tree.map(lambda x: x * 2, Pair(1, [2, 3])))
    [2, 4, 6]
    """
    pytree.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """As `register_pytree_node`, with names for the children: (key, child) in place of child.

    `flatten_func`, without keys, saves time where paths are not asked for.

    >>> class Point:
    ...     def __init__(self, x):
    ...         self.x = x
    >>> key = hloom.tree_util.GetAttrKey("x")
    >>> hloom.tree_util.register_pytree_with_keys(
    ...     Point, lambda p: (((key, p.x),), None), lambda _, children: Point(*children)
    ... )
    >>> [(path, leaf)] = hloom.tree.leaves_with_path([Point(3)])
    >>> hloom.tree_util.keystr(path)
    '[0].x'
    """

    def without_keys(x: Any) -> tuple[list[Any], Any]:
        pairs, static = flatten_with_keys(x)
        return [child for _, child in pairs], static

    pytree.register_node(nodetype, flatten_func or without_keys, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: Class) -> Class:
    """A class decorator: the methods `tree_flatten` and `tree_unflatten` make its objects nodes.

    >>> @hloom.tree_util.register_pytree_node_class
    ... class Scaled:
    ...     def __init__(self, x, unit):
    ...         self.x, self.unit = x, unit
    ...     def tree_flatten(self):
    ...         return (self.x,), self.unit
    ...     @classmethod
    ...     def tree_unflatten(cls, unit, children):
    ...         return cls(*children, unit)
    >>> hloom.tree.map(lambda x: x + 1, Scaled(1.0, "m")).x
    2.0
    """
    unflatten = _methods(cls, "register_pytree_node_class", "tree_flatten").tree_unflatten
    register_pytree_node(cls, lambda x: x.tree_flatten(), unflatten)
    return cls


def register_pytree_with_keys_class(cls: Class) -> Class:
    """A class decorator: `tree_flatten_with_keys` and `tree_unflatten` make its objects nodes.

    A method `tree_flatten` is used where paths are not asked for, if there is one.

    >>> @hloom.tree_util.register_pytree_with_keys_class
    ... class Point:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def tree_flatten_with_keys(self):
    ...         return ((hloom.tree_util.GetAttrKey("x"), self.x),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, _, children):
    ...         return cls(*children)
    >>> hloom.tree.leaves_with_path(Point(3))
    [((GetAttrKey(name='x'),), 3)]
    """
    who = "register_pytree_with_keys_class"
    unflatten = _methods(cls, who, "tree_flatten_with_keys").tree_unflatten
    plain = (lambda x: x.tree_flatten()) if hasattr(cls, "tree_flatten") else None
    with_keys = lambda x: x.tree_flatten_with_keys()
    register_pytree_with_keys(cls, with_keys, unflatten, plain)
    return cls


def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Make a class a node whose children are its fields.

    `data_fields` are children and `meta_fields` the static part; without either, fields made by
    `hloom.tree.static()` are static and the others children.  Fields in `drop_fields` get their
    defaults when an object is rebuilt, by calling the class with keywords.  Raises ValueError when
    the lists are not the `init` fields of a dataclass.

    >>> import dataclasses
    >>> @hloom.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     b: float
    >>> hloom.tree.map(lambda x: x * 2, Layer(1.0, 3.0))
    Layer(w=2.0, b=6.0)
    """
    check_class(nodetype)
    data, meta = _fields(nodetype, data_fields, meta_fields, drop_fields)
    if pytree.REGISTRY.is_node(nodetype):
        raise ValueError(f"Duplicate custom PyTreeDef type registration for {nodetype}")
    pytree.REGISTRY.register_dataclass_node(nodetype, data, meta)
    pytree.FIELDS[nodetype] = data
    return nodetype


def register_static(cls: Class) -> Class:
    """A class decorator: its objects are nodes without children, part of the structure.

    `jit` compiles once for each that differs: objects are compared with `==`, need not be hashable,
    and must not change.

    >>> @hloom.tree_util.register_static
    ... class Mode(str):
    ...     pass
    >>> hloom.tree.flatten([1, Mode("train")])[0]
    [1]
    """
    pytree.register_node(cls, lambda x: ((), x), lambda x, _: x)
    return cls


def _methods(cls: Any, who: str, flatten: str) -> Any:
    """The class, which must have a method `flatten` and `tree_unflatten`."""
    check_class(cls)
    missing = [name for name in (flatten, "tree_unflatten") if not hasattr(cls, name)]
    if missing:
        raise AttributeError(f"{who}: {cls.__name__} has no method {' and no '.join(missing)}")
    return cls


def _fields(
    cls: type, data: Sequence[str] | None, meta: Sequence[str] | None, drop: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Names of the fields that are children, and of those that are static."""
    if (data is None) != (meta is None):
        raise TypeError(
            "register_dataclass: data_fields and meta_fields must both be given when either is; "
            f"got data_fields={data!r}, meta_fields={meta!r}"
        )
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else None
    if data is None or meta is None:
        if fields is None:
            raise TypeError(
                "register_dataclass: data_fields and meta_fields are required, since "
                f"{cls.__name__} is not a dataclass"
            )
        kept = [f for f in fields if f.init and f.name not in drop]
        meta = [f.name for f in kept if f.metadata.get("static", False)]
        data = [f.name for f in kept if f.name not in meta]
        return data, meta
    both = sorted({*data} & {*meta})
    if both:
        raise ValueError(
            f"register_dataclass: a field is in data_fields or in meta_fields; {both} in both"
        )
    if fields is not None:
        _same_fields({f.name for f in fields if f.init}, [*data, *meta], drop)
    return list(data), list(meta)


def _same_fields(there: set[str], given: Sequence[str], drop: Sequence[str]) -> None:
    missing, extra = there - {*given, *drop}, set(given) - there
    text = ""
    if missing:
        text += f" Missing fields: {missing}. Add them to drop_fields to suppress this error."
    if extra:
        text += f" Unexpected fields: {extra}."
    if text:
        raise ValueError(
            "data_fields and meta_fields must include all dataclass fields with ``init=True`` "
            f"and only them.{text}"
        )


# ---- looking at nodes and structures -----------------------------------------------------------


def is_tree_node(typ: type) -> bool:
    """Whether instances of a class are nodes.

    >>> hloom.tree_util.is_tree_node(list), hloom.tree_util.is_tree_node(set)
    (True, False)
    """
    return bool(pytree.REGISTRY.is_node(typ)) if isinstance(typ, type) else False


def all_leaves(iterable: Iterable[Any], is_leaf: pytree.IsLeaf = None) -> bool:
    """Whether every element is a leaf.

    >>> hloom.tree_util.all_leaves([1, 2]), hloom.tree_util.all_leaves([1, [2]])
    (True, False)
    """
    trees = elements("hloom.tree_util.all_leaves", "trees in a list", iterable)
    nodes = [pytree.structure(x, is_leaf).node_data() for x in trees]
    return nodes.count(None) == len(nodes)


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Hashable]:
    """The children of a node and its static part.  Raises ValueError for a leaf.

    >>> hloom.tree_util.flatten_one_level({"b": 1, "a": [2]})
    (([2], 1), ('a', 'b'))
    """
    level = default_registry.flatten_one_level(tree)
    if level is None:
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    return level  # type: ignore[no-any-return]


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Hashable]:
    """As `flatten_one_level`, with (key, child) in place of each child.

    >>> hloom.tree_util.flatten_one_level_with_keys([5])
    (((SequenceKey(idx=0), 5),), None)
    """
    level = default_registry.flatten_one_level_with_keys(tree)
    if level is None:
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    return level  # type: ignore[no-any-return]


def treedef_children(treedef: Any) -> list[Any]:
    """The structures of the children of a structure.

    >>> hloom.tree_util.treedef_children(hloom.tree.structure([0, (0, 0)]))
    [PyTreeDef(*), PyTreeDef((*, *))]
    """
    pytree.check_structures("hloom.tree_util.treedef_children", treedef)
    return treedef.children()  # type: ignore[no-any-return]


def treedef_is_leaf(treedef: Any) -> bool:
    """Whether a structure is that of a leaf alone.

    Also of a node without children, such as None.

    >>> is_leaf = hloom.tree_util.treedef_is_leaf
    >>> is_leaf(hloom.tree.structure(0)), is_leaf(hloom.tree.structure([0]))
    (True, False)
    """
    pytree.check_structures("hloom.tree_util.treedef_is_leaf", treedef)
    return treedef.num_nodes == 1  # type: ignore[no-any-return]


def treedef_tuple(treedefs: Iterable[Any]) -> Any:
    """The structure of a tuple of trees of these structures.

    Raises TypeError for what is no structure.

    >>> leaf = hloom.tree.structure(0)
    >>> hloom.tree_util.treedef_tuple([leaf, leaf])
    PyTreeDef((*, *))
    """
    return pytree.treedef_tuple(treedefs)


# ---- a function that is a tree ------------------------------------------------------------------


class _Whole:
    """A functools.partial in one piece: its arguments are no leaves of a Partial around it.

    It equals that partial, and another one around it, so a program is compiled once for it.
    """

    __slots__ = ("func",)

    def __init__(self, func: functools.partial[Any]):
        self.func = func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self.func == (other.func if isinstance(other, _Whole) else other)

    def __hash__(self) -> int:
        return hash(self.func)

    def __repr__(self) -> str:
        return repr(self.func)


class Partial(functools.partial[Any]):
    """A `functools.partial` that is a node: its arguments are leaves, its function is static.

    So it can be passed to and returned from `jit`, `grad` and the others.

    >>> add = hloom.tree_util.Partial(lambda x, y: x + y, 1)
    >>> add(2)
    3
    >>> hloom.tree.leaves(add)
    [1]
    >>> hloom.tree.map(lambda x: x * 10, add)(2)
    12
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **kw: Any) -> Partial:
        if isinstance(func, Partial):
            args, kw, func = func.args + args, {**func.keywords, **kw}, func.func
        elif isinstance(func, functools.partial):
            func = _Whole(func)
        return super().__new__(cls, func, *args, **kw)


register_pytree_with_keys(
    Partial,
    lambda p: (((GetAttrKey("args"), p.args), (GetAttrKey("keywords"), p.keywords)), p.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
    lambda p: ((p.args, p.keywords), p.func),
)
pytree.FIELDS[Partial] = ("args", "keywords")
