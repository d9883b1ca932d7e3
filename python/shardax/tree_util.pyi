"""Written by python/stubs.py."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from shardax._base.tree_nodes import Partial as Partial

class DictKey:
    """A dict's child."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    key: Any
class FlattenedIndexKey:
    """A custom node's child, by its position."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    key: Any
class GetAttrKey:
    """A child that is an attribute."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    name: Any
KeyEntry: Any
KeyPath: Any
class PyTreeDef:
    """The structure of a tree: its nodes without the leaves."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    children: Any
    compose: Any
    flatten_up_to: Any
    from_iterable_tree: Any
    from_node_data_and_children: Any
    node_data: Any
    num_leaves: Any
    num_nodes: Any
    unflatten: Any
    walk: Any
class PyTreeRegistry:
    """The table of node types. There is one: `default_registry`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    flatten: Any
    flatten_one_level: Any
    flatten_one_level_with_keys: Any
    flatten_with_path: Any
    is_node: Any
    register_dataclass_node: Any
    register_node: Any
class SequenceKey:
    """A list's or tuple's child."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    idx: Any
def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """True if each item is a leaf by itself."""
def broadcast_prefix(prefix_tree: Any, full_tree: Any, is_leaf: Any = None) -> Any:
    """The leaves of tree_broadcast as a list."""
def build_tree(treedef: Any, xs: Any) -> Any:
    """The tree of a structure whose nodes are given as nested iterables."""
default_registry: Any
def flatten_one_level(tree: Any) -> Any:
    """The children of the root and its metadata; ValueError for a leaf."""
def flatten_one_level_with_keys(tree: Any) -> Any:
    """The (key, child) pairs of the root and its metadata."""
def is_tree_node(type: Any, /) -> Any:
    """Whether instances of `type` are nodes."""
def keystr(keys: Any, *, simple: bool = False, separator: str = '') -> Any:
    """A key path as text, such as ['a'][0].x; a0x if simple."""
def prefix_errors(prefix_tree: Any, full_tree: Any, name: Any, is_leaf: Any = None) -> Any:
    """A text for each place where `prefix_tree` is not a prefix of `full_tree`."""
def register_dataclass(nodetype: Any, data_fields: Sequence[str] | None = None, meta_fields: Sequence[str] | None = None, drop_fields: Sequence[str] = ...) -> Any:
    """Makes a dataclass (or a class with a keyword constructor) a node; returns the class."""
def register_pytree_node(nodetype: Any, flatten_func: Any, unflatten_func: Any, flatten_with_keys_func: Any = None) -> Any:
    """Makes instances of a class nodes of trees."""
def register_pytree_node_class(cls: Any) -> Any:
    """Class decorator: a node by its methods tree_flatten() and tree_unflatten(aux_data, children)."""
def register_pytree_with_keys(nodetype: Any, flatten_with_keys: Any, unflatten_func: Any, flatten_func: Any = None) -> Any:
    """Makes instances of a class nodes whose children have keys of their own."""
def register_pytree_with_keys_class(cls: Any) -> Any:
    """A decorator: the class is a node by its methods tree_flatten_with_keys() and tree_unflatten()."""
def register_static(cls: Any) -> Any:
    """A decorator: the class is a node without children; the value itself tells two apart."""
def tree_all(tree: Any, *, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """True if all leaves are true; a tree without leaves is."""
def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: Any = None) -> Any:
    """A tree with the structure of `full_tree` and, at each leaf, the value of the leaf of `prefix_tree` above it."""
def tree_flatten(tree: Any, is_leaf: Any = None) -> Any:
    """The list of a tree's leaves, and its structure as a PyTreeDef."""
def tree_flatten_with_path(tree: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False) -> Any:
    """The list of (path, leaf) pairs, and the structure."""
def tree_leaves(tree: Any, is_leaf: Any = None) -> Any:
    """The list of a tree's leaves."""
def tree_leaves_with_path(tree: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False) -> Any:
    """The list of (path, leaf) pairs."""
def tree_map(f: Any, tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """The tree of f(leaf, ...), called with each leaf of `tree` and the values at the same places of the trees in `rest`, which must have `tree` as a prefix."""
def tree_map_with_path(f: Any, tree: Any, *rest: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False) -> Any:
    """tree_map with f(path, leaf, ...), a path being a tuple of keys."""
def tree_multimap(f: Any, tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """The tree of f(leaf, ...), called with each leaf of `tree` and the values at the same places of the trees in `rest`, which must have `tree` as a prefix."""
def tree_reduce(function: Any, tree: Any, initializer: Any = ..., is_leaf: Any = None) -> Any:
    """Combines the leaves from left to right: function(function(initializer, leaf), leaf)..."""
def tree_reduce_associative(operation: Any, tree: Any, *, identity: Any = ..., is_leaf: Any = None) -> Any:
    """Combines the leaves pairwise, as a balanced tree of calls: their depth is log2 of the leaves."""
def tree_structure(tree: Any, is_leaf: Any = None) -> Any:
    """A tree's structure as a PyTreeDef."""
def tree_transpose(outer_treedef: Any, inner_treedef: Any, pytree_to_transpose: Any) -> Any:
    """Turns a tree of trees inside out."""
def tree_unflatten(treedef: Any, leaves: Any) -> Any:
    """The tree of the given structure and leaves: the reverse of tree_flatten."""
def treedef_children(treedef: Any) -> Any:
    """The structures of the children of the root."""
def treedef_is_leaf(treedef: Any) -> Any:
    """True if the structure is a single node: a leaf, None or an empty container."""
def treedef_tuple(treedefs: Any, /) -> Any:
    """The structure of a tuple of the given structures."""
