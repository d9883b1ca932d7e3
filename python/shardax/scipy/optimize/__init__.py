"""shardax.scipy.optimize - minimization of functions."""

from typing import Any, NamedTuple

from shardax.scipy.optimize._bfgs import minimize_bfgs
from shardax.scipy.optimize._lbfgs import minimize_lbfgs

__all__ = ["OptimizeResults", "minimize"]


class OptimizeResults(NamedTuple):
    """The result of `minimize`, a named tuple.

    Attributes:
      x: the minimum.
      success, status: whether it was found; 0 converged, 1 too many iterations, 3 and 5 the line
        search failed.
      fun, jac: the value and the gradient there.
      hess_inv: an estimate of the inverse Hessian, or None.
      nfev, njev, nit: how many values, gradients and iterations it took.

    Example:
      >>> f = lambda x: (x**2).sum()
      >>> bool(shardax.scipy.optimize.minimize(f, jnp.ones(2), method="BFGS").success)
      True
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


_METHODS = {
    "bfgs": minimize_bfgs,
    "l-bfgs-experimental-do-not-rely-on-this": minimize_lbfgs,
}


def minimize(fun, x0, args=(), *, method, tol=None, options=None):
    """A local minimum of fun(x, *args), a differentiable function of a vector.

    Args:
      fun: gives a scalar.
      x0: where to begin, of shape (n,).
      args: further arguments of `fun`, a tuple.
      method: "BFGS" (Nocedal and Wright, Numerical optimization, 2006, chapter 6) or
        "l-bfgs-experimental-do-not-rely-on-this" (chapter 7).
      tol: `gtol` of the method, unless that stands in `options`.
      options: arguments of the method: maxiter, gtol, norm, line_search_maxiter for BFGS; maxiter,
        maxcor, ftol, gtol, norm, maxls for the other.

    Returns:
      `OptimizeResults`. It runs under `jit` and `vmap`, and has no reverse mode.

    Raises:
      TypeError: `args` is no tuple.
      ValueError: an unknown method.

    >>> f = lambda x: ((x - 3.0) ** 2).sum()
    >>> shardax.scipy.optimize.minimize(f, jnp.zeros(2), method="BFGS").x
    Array([3., 3.], dtype=float32)
    """
    if not isinstance(args, tuple):
        raise TypeError(f"args argument to jax.scipy.optimize.minimize must be a tuple, got {args}")
    run = _METHODS.get(method.lower())
    if run is None:
        raise ValueError(f"Method {method} not recognized")
    options = dict(options or {})
    if tol is not None:
        options.setdefault("gtol", tol)
    return OptimizeResults(**run(lambda x: fun(x, *args), x0, **options))
