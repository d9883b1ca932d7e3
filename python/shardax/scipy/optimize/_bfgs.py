"""shardax/scipy/optimize/_bfgs.py - the method of Broyden, Fletcher, Goldfarb and Shanno."""

import numpy as np

from shardax import lax
from shardax import numpy as jnp
from shardax._transform.derivatives import value_and_grad
from shardax.scipy.optimize._line_search import Point, inner, line_search


def _status(converged, count, maxiter, line_status):
    stopped = jnp.where(line_status > 0, 2 + line_status, -1)
    return jnp.where(converged, 0, jnp.where(count >= maxiter, 1, stopped))


def first_step(value, before, slope):
    """As long as would lower the value as much as the last step did, at most 1."""
    step = 2.02 * (value - before) / slope
    return jnp.where((step > 0) & (step < 1), step, 1).astype(value.dtype)


def minimize_bfgs(fun, x0, maxiter=None, norm=np.inf, gtol=1e-5, line_search_maxiter=10):
    """The fields of `OptimizeResults`; it ends where the gradient's norm is below `gtol`."""
    x0 = jnp.asarray(x0)
    maxiter = jnp.size(x0) * 200 if maxiter is None else maxiter
    identity = jnp.eye(x0.size, dtype=x0.dtype)

    def is_flat(g):
        return jnp.linalg.norm(g, ord=norm) < gtol

    def goes_on(state):
        _, _, g, _, _, count, _, line_status = state
        return ~is_flat(g) & (line_status == 0) & (count < maxiter)

    def step(state):
        x, value, g, H, before, count, evaluations, _ = state
        p = -(H @ g)
        start = Point(jnp.zeros_like(value), value, inner(p, g), g)
        trial = first_step(value, before, start.slope)
        point, more, status = line_search(fun, x, p, start, trial, line_search_maxiter)
        s, y = point.step * p, point.gradient - g
        curvature = inner(y, s)
        rho = jnp.where(curvature > 0, 1 / jnp.where(curvature > 0, curvature, 1), 0)
        # The first estimate is scaled by the curvature of the first step (equation 6.20).
        scale = curvature / jnp.where(rho > 0, inner(y, y), 1)
        H = jnp.where((count == 0) & (rho > 0), scale * identity, H)
        left = identity - rho * jnp.outer(s, jnp.conj(y))
        update = left @ H @ jnp.conj(left.T) + rho * jnp.outer(s, jnp.conj(s))
        moved = (x + s, point.value, point.gradient, jnp.where(rho > 0, update, H))
        kept = [jnp.where(status == 0, a, b) for a, b in zip(moved, (x, value, g, H))]
        return *kept, value, count + 1, evaluations + more, status

    value, g = value_and_grad(fun)(x0)
    g = jnp.conj(g)
    before = value + jnp.linalg.norm(g) / 2
    state = (x0, value, g, identity, before, 0, 1, jnp.asarray(0))
    x, value, g, H, _, count, evaluations, line_status = lax.while_loop(goes_on, step, state)
    converged = is_flat(g)
    status = _status(converged, count, maxiter, line_status)
    return {
        "x": x,
        "success": converged & (line_status == 0),
        "status": status,
        "fun": value,
        "jac": g,
        "hess_inv": H,
        "nfev": evaluations,
        "njev": evaluations,
        "nit": count,
    }
