"""Written by python/stubs.py."""

from typing import Any

from shardax.typing import ArrayLike

class OptimizeResults:
    """The result of `minimize`, a named tuple."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    __getitem__: Any
    __iter__: Any
    __len__: Any
    __mul__: Any
    count: Any
    fun: Any
    hess_inv: Any
    index: Any
    jac: Any
    nfev: Any
    nit: Any
    njev: Any
    status: Any
    success: Any
    x: Any
def minimize(fun: Any, x0: Any, args: Any = ..., *, method: Any, tol: Any = None, options: Any = None) -> Any:
    """A local minimum of fun(x, *args), a differentiable function of a vector."""
def minimize_bfgs(fun: Any, x0: Any, maxiter: Any = None, norm: ArrayLike = ..., gtol: ArrayLike = 1e-05, line_search_maxiter: int = 10) -> Any:
    """The fields of `OptimizeResults`; it ends where the gradient's norm is below `gtol`."""
def minimize_lbfgs(fun: Any, x0: Any, maxiter: Any = None, norm: ArrayLike = ..., maxcor: int = 10, ftol: ArrayLike = 2.220446049250313e-09, gtol: ArrayLike = 1e-05, maxfun: Any = None, maxgrad: Any = None, maxls: int = 20) -> Any:
    """The fields of `OptimizeResults`; it ends where the gradient's norm is below `gtol`, or values fall by less than `ftol`."""
