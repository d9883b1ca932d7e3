"""Written by python/stubs.py."""

from typing import Any

from shardax.typing import ArrayLike

def bicgstab(A: Any, b: Any, x0: Any = None, *, tol: ArrayLike = 1e-05, atol: ArrayLike = 0.0, maxiter: Any = None, M: Any = None) -> Any:
    """(x, None) with A(x) = b, by stabilized biconjugate gradients, for any square A."""
def cg(A: Any, b: Any, x0: Any = None, *, tol: ArrayLike = 1e-05, atol: ArrayLike = 0.0, maxiter: Any = None, M: Any = None) -> Any:
    """(x, None) with A(x) = b, by conjugate gradients; derivatives are those of the solution."""
def gmres(A: Any, b: Any, x0: Any = None, *, tol: ArrayLike = 1e-05, atol: ArrayLike = 0.0, restart: int = 20, maxiter: Any = None, M: Any = None, solve_method: str = 'batched') -> Any:
    """(x, info) with A(x) = b, by generalized minimal residuals, for any square A."""
def ravel_pytree(pytree: Any) -> Any:
    """Joins the arrays of a tree into one vector."""
def tree_leaves(tree: Any, is_leaf: Any = None) -> Any:
    """The list of a tree's leaves."""
def tree_map(f: Any, tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """The tree of f(leaf, ...), called with each leaf of `tree` and the values at the same places of the trees in `rest`, which must have `tree` as a prefix."""
def tree_structure(tree: Any, is_leaf: Any = None) -> Any:
    """A tree's structure as a PyTreeDef."""
