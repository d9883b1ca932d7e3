"""shardax/scipy/optimize/_lbfgs.py - BFGS with a history of a few steps instead of a matrix."""

import numpy as np

from shardax import lax
from shardax import numpy as jnp
from shardax._transform.derivatives import value_and_grad
from shardax.scipy.optimize._line_search import Point, inner, line_search


def _direction(g, steps, changes, rhos, scale):
    """Minus the estimate of the inverse Hessian times g, from the history, oldest first.

    Nocedal and Wright, Numerical optimization (2006), algorithm 7.4.
    """

    def backward(q, entry):
        s, y, rho = entry
        share = rho * inner(s, q)
        return q - share * y, share

    def forward(r, entry):
        s, y, rho, share = entry
        return r + (share - rho * inner(y, r)) * s, None

    q, shares = lax.scan(backward, g, (steps, changes, rhos), reverse=True)
    return -lax.scan(forward, scale * q, (steps, changes, rhos, shares))[0]


def _pushed(history, new):
    return jnp.concatenate([history[1:], new[None]])


def minimize_lbfgs(
    fun,
    x0,
    maxiter=None,
    norm=np.inf,
    maxcor=10,
    ftol=2.220446049250313e-09,
    gtol=1e-05,
    maxfun=None,
    maxgrad=None,
    maxls=20,
):
    """The fields of `OptimizeResults`; it ends where the gradient's norm is below `gtol`, or values
    fall by less than `ftol`.
    """
    x0 = jnp.asarray(x0)
    maxiter = 1000 * x0.size if maxiter is None else maxiter
    most = (
        np.inf
        if maxfun is None and maxgrad is None
        else min(v for v in (maxfun, maxgrad) if v is not None)
    )

    def is_flat(g):
        return jnp.linalg.norm(g, ord=norm) < gtol

    def goes_on(state):
        return (state["status"] == -1) & (state["count"] < maxiter)

    def step(state):
        x, value, g = state["x"], state["value"], state["g"]
        p = _direction(g, state["steps"], state["changes"], state["rhos"], state["scale"])
        start = Point(jnp.zeros_like(value), value, inner(p, g), g)
        first = jnp.where(state["count"] == 0, jnp.minimum(1, 1 / jnp.linalg.norm(g)), 1)
        point, more, failed = line_search(fun, x, p, start, first.astype(value.dtype), maxls)
        s, y = point.step * p, point.gradient - g
        product = inner(s, y)
        good = product > 0
        rho = jnp.where(good, 1 / jnp.where(good, product, 1), 0)
        fallen = value - point.value
        status = jnp.where(fallen < ftol, 4, -1)
        status = jnp.where(state["evaluations"] + more >= most, 2, status)
        status = jnp.where(is_flat(point.gradient), 0, status)
        moved = {
            "x": x + s,
            "value": point.value,
            "g": point.gradient,
            "steps": _pushed(state["steps"], s),
            "changes": _pushed(state["changes"], y),
            "rhos": _pushed(state["rhos"], rho),
            "scale": jnp.where(good, product / jnp.where(good, inner(y, y), 1), state["scale"]),
        }
        kept = {k: jnp.where(failed == 0, v, state[k]) for k, v in moved.items()}
        return {
            **kept,
            "count": state["count"] + 1,
            "evaluations": state["evaluations"] + more,
            "status": jnp.where(failed == 0, status, 5),
        }

    value, g = value_and_grad(fun)(x0)
    g = jnp.conj(g)
    history = jnp.zeros((maxcor, x0.size), x0.dtype)
    state = {
        "x": x0,
        "value": value,
        "g": g,
        "steps": history,
        "changes": history,
        "rhos": jnp.zeros(maxcor, value.dtype),
        "scale": jnp.ones_like(value),
        "count": 0,
        "evaluations": 1,
        "status": jnp.where(is_flat(g), 0, -1),
    }
    state = lax.while_loop(goes_on, step, state)
    status = jnp.where(state["status"] == -1, 1, state["status"])
    return {
        "x": state["x"],
        "success": (status == 0) | (status == 4),
        "status": status,
        "fun": state["value"],
        "jac": jnp.conj(state["g"]),
        "hess_inv": None,
        "nfev": state["evaluations"],
        "njev": state["evaluations"],
        "nit": state["count"],
    }
