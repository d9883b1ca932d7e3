"""Written by python/stubs.py."""

from collections.abc import Callable
from typing import Any



def all(tree: Any, *, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """True if all leaves are true; a tree without leaves is."""
def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: Any = None) -> Any:
    """A tree with the structure of `full_tree` and, at each leaf, the value of the leaf of `prefix_tree` above it."""
def flatten(tree: Any, is_leaf: Any = None) -> Any:
    """The list of a tree's leaves, and its structure as a PyTreeDef."""
def flatten_with_path(tree: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False) -> Any:
    """The list of (path, leaf) pairs, and the structure."""
def leaves(tree: Any, is_leaf: Any = None) -> list[Any]:
    """The list of a tree's leaves."""
def leaves_with_path(tree: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False) -> Any:
    """The list of (path, leaf) pairs."""
def map(f: Any, tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """The tree of f(leaf, ...), called with each leaf of `tree` and the values at the same places of the trees in `rest`, which must have `tree` as a prefix."""
def map_with_path(f: Any, tree: Any, *rest: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False) -> Any:
    """tree_map with f(path, leaf, ...), a path being a tuple of keys."""
def reduce(function: Any, tree: Any, initializer: Any = ..., is_leaf: Any = None) -> Any:
    """Combines the leaves from left to right: function(function(initializer, leaf), leaf)..."""
def reduce_associative(operation: Any, tree: Any, *, identity: Any = ..., is_leaf: Any = None) -> Any:
    """Combines the leaves pairwise, as a balanced tree of calls: their depth is log2 of the leaves."""
def static(**kwargs: Any) -> Any:
    """dataclasses.field(**kwargs) for a field that `tree_util.register_dataclass` makes static."""
def structure(tree: Any, is_leaf: Any = None) -> Any:
    """A tree's structure as a PyTreeDef."""
def transpose(outer_treedef: Any, inner_treedef: Any, pytree_to_transpose: Any) -> Any:
    """Turns a tree of trees inside out."""
def unflatten(treedef: Any, leaves: Any) -> Any:
    """The tree of the given structure and leaves: the reverse of tree_flatten."""
