"""Written by python/stubs.py."""

from typing import Any



def ravel_pytree(pytree: Any) -> Any:
    """Joins the arrays of a tree into one vector."""
def tree_flatten(tree: Any, is_leaf: Any = None) -> Any:
    """The list of a tree's leaves, and its structure as a PyTreeDef."""
def tree_unflatten(treedef: Any, leaves: Any) -> Any:
    """The tree of the given structure and leaves: the reverse of tree_flatten."""
