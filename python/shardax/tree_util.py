"""python/shardax/tree_util.py - functions on trees of Python containers.

A tree is a value made of nodes and leaves. Nodes are None (without children), tuples, lists, dicts
(keys in sorted order), named tuples, OrderedDicts (keys in their order), defaultdicts, and the
types registered here; everything else is a leaf, subclasses of nodes included.

The functions that walk trees are in C++ (`shardax._core.pytree`) and appear here under JAX's names;
this file adds registration, `Partial` and the small compositions.
"""

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from shardax._core import pytree as _pytree
from shardax._core.pytree import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    PyTreeDef,
    SequenceKey,
    broadcast_prefix,
    is_tree_node,
    keystr,
    prefix_errors,
    tree_broadcast,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_with_path,
    tree_structure,
    tree_unflatten,
    treedef_tuple,
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
    "broadcast_prefix",
    "build_tree",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "prefix_errors",
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
    "tree_multimap",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

KeyEntry = TypeVar("KeyEntry")
KeyPath = tuple[Any, ...]

_NOT_GIVEN = object()


tree_multimap = tree_map  # its name in earlier years


class PyTreeRegistry:
    """The table of node types. There is one: `default_registry`."""

    flatten = staticmethod(tree_flatten)
    flatten_with_path = staticmethod(tree_flatten_with_path)
    flatten_one_level = staticmethod(_pytree.flatten_one_level)
    flatten_one_level_with_keys = staticmethod(_pytree.flatten_one_level_with_keys)
    is_node = staticmethod(is_tree_node)
    register_node = staticmethod(_pytree.register_node)
    register_dataclass_node = staticmethod(_pytree.register_dataclass_node)

    def __reduce__(self):
        return "default_registry"


default_registry = PyTreeRegistry()


# Reductions over leaves


def tree_all(tree: Any, *, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether all leaves are true; a tree without leaves is.

    >>> tree_all([True, {'a': 1}])
    True
    """
    return all(tree_leaves(tree, is_leaf))


def tree_reduce(function, tree: Any, initializer=_NOT_GIVEN, is_leaf=None):
    """Combines the leaves from left to right: function(function(initializer, leaf), leaf)...

    Without an initializer, a tree without leaves raises TypeError.

    >>> tree_reduce(lambda x, y: x + y, {'a': 1, 'b': (2, 3)})
    6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is _NOT_GIVEN:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


def tree_reduce_associative(operation, tree: Any, *, identity=_NOT_GIVEN, is_leaf=None):
    """Combines the leaves pairwise, as a balanced tree of calls: their depth is log2 of the leaves.

    `identity` is the result for a tree without leaves, and is used for nothing else.

    >>> tree_reduce_associative(lambda x, y: f'({x}{y})', list('abcd'))
    '((ab)(cd))'
    """

    def combine(values):
        if len(values) == 1:
            return values[0]
        middle = len(values) // 2
        return operation(combine(values[:middle]), combine(values[middle:]))

    leaves = tree_leaves(tree, is_leaf)
    if leaves:
        return combine(leaves)
    if identity is _NOT_GIVEN:
        raise TypeError(
            "tree_reduce_associative: the tree has no leaves and there is no identity; "
            "expected at least one leaf. Pass identity=..."
        )
    return identity


def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether each item is a leaf by itself.

    >>> all_leaves([1, 2]), all_leaves([1, [2]]), all_leaves([None])
    (True, False, False)
    """
    items = list(iterable)
    leaves = tree_leaves(items, is_leaf)
    return len(leaves) == len(items) and all(map(operator.is_, leaves, items))


# Structures


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the root's children."""
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is a single node: a leaf, None or an empty container."""
    return treedef.num_nodes == 1


def build_tree(treedef: PyTreeDef, xs: Any) -> Any:
    """The tree of the given structure whose nodes are given as nested iterables."""
    return treedef.from_iterable_tree(xs)


def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose):
    """Turns a tree of trees inside out.

    Args:
      outer_treedef: the structure of the outer tree.
      inner_treedef: the structure of each of its leaves; None takes the first one's.
      pytree_to_transpose: a tree whose structure is the composition of the two.

    >>> tree_transpose(tree_structure([0, 0]), tree_structure((0, 0, 0)), [(1, 2, 3), (4, 5, 6)])
    ([1, 4], [2, 5], [3, 6])
    """
    leaves, treedef = tree_flatten(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    inner, outer = inner_treedef.num_leaves, outer_treedef.num_leaves
    if treedef.num_leaves != inner * outer:
        expected = outer_treedef.compose(inner_treedef)
        raise TypeError(f"Mismatch\n{treedef}\n != \n{expected}")
    columns = [leaves[i::inner] for i in range(inner)]
    return tree_unflatten(inner_treedef, [tree_unflatten(outer_treedef, c) for c in columns])


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Any]:
    """The children of the root and its metadata; ValueError for a leaf.

    >>> flatten_one_level({'b': 1, 'a': [2]})
    (([2], 1), ('a', 'b'))
    """
    return _node_or_error(_pytree.flatten_one_level(tree), tree)


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Any]:
    """The (key, child) pairs of the root and its metadata; ValueError for a leaf."""
    return _node_or_error(_pytree.flatten_one_level_with_keys(tree), tree)


def _node_or_error(parts, tree):
    if parts is None:
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    return parts


# Registration


def register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func=None):
    """Makes instances of `nodetype` nodes.

    Args:
      nodetype: a class that is not a node yet; its subclasses stay leaves.
      flatten_func: value -> (iterable of children, aux data); aux data must be hashable and compare
        to a plain bool.
      unflatten_func: (aux data, tuple of children) -> value.
      flatten_with_keys_func: value -> (iterable of (key, child) pairs, aux data), for key paths.
    """
    _pytree.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_with_keys(nodetype, flatten_with_keys, unflatten_func, flatten_func=None):
    """register_pytree_node for a type whose children have keys of their own.

    Without `flatten_func`, the keys that `flatten_with_keys` returns are left out.
    """
    if flatten_func is None:

        def flatten_func(value):
            children, aux_data = flatten_with_keys(value)
            return [child for _, child in children], aux_data

    _pytree.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls):
    """Class decorator: a node by its methods tree_flatten() and tree_unflatten(aux_data, children).

    >>> @register_pytree_node_class
    ... class Pair:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    ...     def tree_flatten(self):
    ...         return (self.x, self.y), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux_data, children):
    ...         return cls(*children)
    >>> tree_leaves(Pair(1, (2, 3)))
    [1, 2, 3]
    """
    _pytree.register_node(cls, lambda value: value.tree_flatten(), cls.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls):
    """Class decorator: a node by its methods tree_flatten_with_keys() and tree_unflatten().

    A method tree_flatten() is used where keys are not needed.
    """
    flatten = (lambda value: value.tree_flatten()) if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(
        cls, lambda value: value.tree_flatten_with_keys(), cls.tree_unflatten, flatten
    )
    return cls


def register_static(cls):
    """Class decorator: a node without children; the value itself is what tells two apart.

    Instances must be hashable and comparable. Under `jit` they are static arguments.
    """
    _pytree.register_node(cls, lambda value: ((), value), lambda value, _: value)
    return cls


def register_dataclass(
    nodetype,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
):
    """Makes a dataclass (or a class with a keyword constructor) a node; returns the class.

    Args:
      nodetype: the class.
      data_fields: names of the attributes that are children.
      meta_fields: names of those that are static: hashable, part of the structure. By default the
        fields with `metadata=dict(static=True)` (see `shardax.tree.static`), all others being data.
      drop_fields: names of dataclass fields that belong to neither.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = dataclasses.field(default='', metadata=dict(static=True))
    >>> tree_structure(Layer(1.0, 'dense'))
    PyTreeDef(CustomNode(Layer[('dense',)], [*]))
    """
    is_dataclass = dataclasses.is_dataclass(nodetype)
    if (data_fields is None) != (meta_fields is None):
        raise TypeError(
            "register_dataclass: data_fields and meta_fields must both be specified when either is "
            f"specified. Got {data_fields=} {meta_fields=}."
        )
    if data_fields is None:
        if not is_dataclass:
            raise TypeError(
                "register_dataclass: data_fields and meta_fields are required when nodetype is not "
                f"a dataclass. Got {nodetype=}."
            )
        fields = [f for f in dataclasses.fields(nodetype) if f.name not in drop_fields]
        data_fields = [f.name for f in fields if not f.metadata.get("static", False)]
        meta_fields = [f.name for f in fields if f.metadata.get("static", False)]
    if overlap := set(data_fields) & set(meta_fields):
        raise ValueError(
            "register_dataclass: data_fields and meta_fields must not overlap. "
            f"Overlapping fields: {overlap}."
        )
    if is_dataclass:
        _check_fields(nodetype, {*data_fields, *meta_fields}, set(drop_fields))
    _pytree.register_dataclass_node(nodetype, tuple(data_fields), tuple(meta_fields))
    return nodetype


def _check_fields(nodetype, given: set[str], dropped: set[str]):
    fields = {f.name for f in dataclasses.fields(nodetype) if f.init}
    rule = (
        "register_dataclass: data_fields and meta_fields must include all dataclass fields with "
        "``init=True`` and only them."
    )
    if missing := fields - given - dropped:
        raise ValueError(
            f"{rule} Missing fields: {missing}. Add them to drop_fields to suppress this error."
        )
    if unexpected := given - fields:
        raise ValueError(f"{rule} Unexpected fields: {unexpected}.")


# Partial


class _WholeCallable:
    """Keeps functools.partial from merging with a partial inside; compares as the callable."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __hash__(self):
        return hash(self.function)

    def __eq__(self, other):
        return isinstance(other, _WholeCallable) and self.function == other.function

    def __repr__(self):
        return repr(self.function)


class Partial(functools.partial):
    """functools.partial as a node: its children are the bound arguments, the function is static.

    >>> tree_structure(Partial(max, 1, key=None))
    PyTreeDef(CustomNode(Partial[<built-in function max>], [(*,), {'key': None}]))
    """

    def __new__(cls, func, /, *args, **kw):
        if isinstance(func, functools.partial):
            func = _WholeCallable(func)
        return super().__new__(cls, func, *args, **kw)


register_pytree_node(
    Partial,
    lambda partial: ((partial.args, partial.keywords), partial.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
