"""python/shardax/tree_util.py - functions on trees of Python containers.

A tree is a value made of nodes and leaves. Nodes are None (without children), tuples, lists, dicts
(keys in sorted order), named tuples, OrderedDicts (keys in their order), defaultdicts, and the
types registered here. Everything else is a leaf, subclasses of nodes included.

The functions that walk trees are in C++ (`shardax._core.pytree`) and appear here under JAX's names;
`_base/tree_nodes.py` adds registration and `Partial`, this file the small compositions.
"""

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from shardax._base.tree_nodes import (
    Partial,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
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
    """True if all leaves are true; a tree without leaves is.

    >>> shardax.tree_all([True, {'a': 1}])
    True
    """
    return all(tree_leaves(tree, is_leaf))


def tree_reduce(function, tree: Any, initializer=_NOT_GIVEN, is_leaf=None):
    """Combines the leaves from left to right: function(function(initializer, leaf), leaf)...

    Without an initializer, a tree without leaves raises TypeError.

    >>> shardax.tree_reduce(lambda x, y: x + y, {'a': 1, 'b': (2, 3)})
    6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is _NOT_GIVEN:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


def tree_reduce_associative(operation, tree: Any, *, identity=_NOT_GIVEN, is_leaf=None):
    """Combines the leaves pairwise, as a balanced tree of calls: their depth is log2 of the leaves.

    `identity` is the result for a tree without leaves, and is used for nothing else.

    >>> shardax.tree_util.tree_reduce_associative(lambda x, y: f'({x}{y})', list('abcd'))
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
    """True if each item is a leaf by itself.

    >>> from shardax import tree_util
    >>> tree_util.all_leaves([1, 2]), tree_util.all_leaves([1, [2]]), tree_util.all_leaves([None])
    (True, False, False)
    """
    items = list(iterable)
    leaves = tree_leaves(items, is_leaf)
    return len(leaves) == len(items) and all(map(operator.is_, leaves, items))


# Structures


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the root.

    Example:
      >>> shardax.tree_util.treedef_children(shardax.tree.structure([0, (0, 0)]))
      [PyTreeDef(*), PyTreeDef((*, *))]
    """
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """True if the structure is a single node: a leaf, None or an empty container.

    Example:
      >>> shardax.tree_util.treedef_is_leaf(shardax.tree.structure(0))
      True
    """
    return treedef.num_nodes == 1


def build_tree(treedef: PyTreeDef, xs: Any) -> Any:
    """The tree of a structure whose nodes are given as nested iterables.

    Example:
      >>> tree_util = shardax.tree_util
      >>> tree_util.build_tree(tree_util.tree_structure({"a": 0, "b": (0, 0)}), [1, [2, 3]])
      {'a': 1, 'b': (2, 3)}
    """
    return treedef.from_iterable_tree(xs)


def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose):
    """Turns a tree of trees inside out.

    Args:
      outer_treedef: the structure of the outer tree.
      inner_treedef: the structure of each of its leaves; None takes the first one's.
      pytree_to_transpose: a tree whose structure is the composition of the two.

    >>> outer, inner = shardax.tree.structure([0, 0]), shardax.tree.structure((0, 0, 0))
    >>> shardax.tree.transpose(outer, inner, [(1, 2, 3), (4, 5, 6)])
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

    >>> shardax.tree_util.flatten_one_level({'b': 1, 'a': [2]})
    (([2], 1), ('a', 'b'))
    """
    return _node_or_error(_pytree.flatten_one_level(tree), tree)


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Any]:
    """The (key, child) pairs of the root and its metadata.

    Raises:
      ValueError: for a leaf.

    Example:
      >>> list(shardax.tree_util.flatten_one_level_with_keys([5, 6])[0])
      [(SequenceKey(idx=0), 5), (SequenceKey(idx=1), 6)]
    """
    return _node_or_error(_pytree.flatten_one_level_with_keys(tree), tree)


def _node_or_error(parts, tree):
    if parts is None:
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    return parts
