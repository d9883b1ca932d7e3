"""shardax.experimental.ode - solutions of ordinary differential equations, and their derivatives.

Solutions come by Dormand and Prince's method of order 5 with steps of adapted size. See Hairer,
Norsett and Wanner, Solving ordinary differential equations I, 1993, II.4-6. Derivatives are by the
adjoint equation, solved backwards (Chen and others, Neural ordinary differential equations, 2018).
"""

import functools

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._transform.closures import closure_convert
from shardax._transform.custom.vjp import custom_vjp
from shardax._transform.derivatives import vjp
from shardax._transform.jit import jit
from shardax._transform.pmap_vmap import vmap
from shardax.flatten_util import ravel_pytree
from shardax.tree_util import tree_leaves, tree_map

__all__ = ["odeint"]

# Times of the stages, and the weights of earlier stages in each.
_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_SOLUTION = np.array([*_STAGES[-1], 0])
_ERROR = _SOLUTION - np.array(
    [1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60]
)
# The weights of the solution in the middle of the step.
_MIDDLE = 0.5 * np.array(
    [
        6025192743 / 30085553152,
        0,
        51252292925 / 65400821598,
        -2691868925 / 45128329728,
        187940372067 / 1594534317056,
        -1776094331 / 19743644256,
        11237099 / 235043384,
    ]
)


def _weighted(weights, slopes):
    parts = [float(w) * k for w, k in zip(weights, slopes) if w]
    return functools.reduce(jnp.add, parts)


def _step(f, y, slope, t, dt):
    """(the next y, its slope, an estimate of its error, the quartic through the step)."""
    h = dt.astype(slope.dtype)
    slopes = [slope]
    for time, weights in zip(_TIMES, _STAGES):
        slopes.append(f(y + h * _weighted(weights, slopes), t + dt * time))
    last = slopes[-1]
    end = y + h * _weighted(_SOLUTION, slopes)
    middle = y + h * _weighted(_MIDDLE, slopes)
    rise, fall = h * slope, h * last
    quartic = jnp.stack(
        [
            2 * (fall - rise) - 8 * (y + end) + 16 * middle,
            5 * rise - 3 * fall + 18 * y + 14 * end - 32 * middle,
            fall - 4 * rise - 11 * y - 5 * end + 16 * middle,
            rise,
            y,
        ]
    )
    return end, last, h * _weighted(_ERROR, slopes), quartic


def _norm(x):
    return jnp.linalg.norm(x)


def _first_step(f, t, y, slope, rtol, atol):
    """Hairer, Norsett and Wanner, II.4: so that the error of a method of order 4 is small."""
    scale = atol + jnp.abs(y) * rtol
    d0, d1 = _norm(y / scale), _norm(slope / scale)
    small = (d0 < 1e-5) | (d1 < 1e-5)
    h0 = jnp.where(small, 1e-6, 0.01 * d0 / jnp.where(small, 1, d1))
    d2 = _norm((f(y + h0.astype(y.dtype) * slope, t + h0) - slope) / scale) / h0
    most = jnp.maximum(d1, d2)
    flat = most <= 1e-15
    h1 = jnp.where(flat, jnp.maximum(1e-6, h0 * 1e-3), (0.01 / jnp.where(flat, 1, most)) ** (1 / 5))
    return jnp.minimum(100 * h0, h1)


def _next_size(dt, ratio):
    """The step at which the error would be 0.9 of the allowed one, at most ten times dt."""
    least = jnp.where(ratio < 1, 1.0, 0.2)
    factor = jnp.minimum(10.0, jnp.maximum(0.9 * ratio ** (-1 / 5), least))
    return dt * jnp.where(ratio == 0, 10.0, factor)


def _solve(func, options, y0, ts, *args):
    rtol, atol, mxstep, hmax = options

    def f(y, t):
        return func(y, t, *args)

    def to_time(carry, target):
        def goes_on(state):
            i, _, _, t, dt, _, _ = state
            return (t < target) & (i < mxstep) & (dt > 0)

        def step(state):
            i, y, slope, t, dt, before, quartic = state
            end, last, error, new_quartic = _step(f, y, slope, t, dt)
            allowed = atol + rtol * jnp.maximum(jnp.abs(y), jnp.abs(end))
            ratio = jnp.sqrt(jnp.mean(jnp.abs(error / allowed) ** 2))
            size = jnp.clip(_next_size(dt, ratio), 0.0, hmax).astype(dt.dtype)
            moved = (end, last, t + dt, size, t, new_quartic)
            kept = (y, slope, t, size, before, quartic)
            good = ratio <= 1
            return (i + 1, *(jnp.where(good, a, b) for a, b in zip(moved, kept)))

        _, *carry = lax.while_loop(goes_on, step, (0, *carry))
        _, _, t, _, before, quartic = carry
        share = (target - before) / (t - before)
        return tuple(carry), jnp.polyval(quartic, share.astype(quartic.dtype))

    slope = f(y0, ts[0])
    dt = jnp.clip(_first_step(f, ts[0], y0, slope, rtol, atol), 0.0, hmax).astype(ts.dtype)
    start = (y0, slope, ts[0], dt, ts[0], jnp.stack([y0] * 5))
    return jnp.concatenate([y0[None], lax.scan(to_time, start, ts[1:])[1]])


@functools.partial(custom_vjp, nondiff_argnums=(0, 1))
def _odeint(func, options, y0, ts, *args):
    return _solve(func, options, y0, ts, *args)


def _forward(func, options, y0, ts, *args):
    ys = _odeint(func, options, y0, ts, *args)
    return ys, (ys, ts, args)


def _backward(func, options, kept, cotangents):
    ys, ts, args = kept
    rtol, atol, mxstep, hmax = options

    def adjoint(state, minus_t, *args):
        """y, its cotangent and those of t and args, in reversed time."""
        y, y_bar, *_ = state
        slope, pull = vjp(func, y, -minus_t, *args)
        return -slope, *pull(y_bar)

    def to_previous(carry, i):
        y_bar, t_bar, args_bar = carry
        # A later time of output would have let the solution move on.
        moved = jnp.dot(func(ys[i], ts[i], *args), cotangents[i]).real
        times = jnp.stack([-ts[i], -ts[i - 1]])
        state = (ys[i], y_bar, t_bar - moved, args_bar)
        out = odeint(adjoint, state, times, *args, rtol=rtol, atol=atol, mxstep=mxstep, hmax=hmax)
        _, y_bar, t_bar, args_bar = tree_map(lambda x: x[1], out)
        return (y_bar + cotangents[i - 1], t_bar, args_bar), moved

    start = (cotangents[-1], jnp.zeros((), ts.dtype), tree_map(jnp.zeros_like, args))
    order = jnp.arange(len(ts) - 1, 0, -1)
    (y_bar, t_bar, args_bar), moved = lax.scan(to_previous, start, order)
    return y_bar, jnp.concatenate([t_bar[None], moved[::-1]]), *args_bar


_odeint.defvjp(_forward, _backward)


@functools.partial(jit, static_argnums=(0, 1))
def _on_vectors(func, options, y0, ts, *args):
    y0, unravel = ravel_pytree(y0)

    def flat(y, t, *args):
        return ravel_pytree(func(unravel(y), t, *args))[0]

    return vmap(unravel)(_odeint(flat, options, y0, ts, *args))


def odeint(func, y0, t, *args, rtol=1.4e-8, atol=1.4e-8, mxstep=jnp.inf, hmax=jnp.inf):
    """The solution of y' = func(y, t, *args) from y0 on, at the times t.

    Args:
      func: gives the slope, a tree of arrays like `y0`.
      y0: an array or a tree of arrays, the state at t[0].
      t: a vector of floats, strictly increasing.
      args: trees of arrays that `func` is differentiated by, as by what it closes over.
      rtol, atol: the error that a step may have, relative to y and absolute.
      mxstep: the most steps between two times.
      hmax: the longest step.

    Returns:
      A tree like `y0` of arrays with a leading dimension of len(t).

    Raises:
      TypeError: t are no floats, or `args` no arrays.

    >>> from shardax.experimental.ode import odeint
    >>> odeint(lambda y, t: -y, jnp.float32(1.0), jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 0.3679], dtype=float32)
    """
    for arg in tree_leaves(args):
        if not _core.api.is_array_like(arg):
            raise TypeError(
                f"The contents of odeint *args must be arrays or scalars, but got {arg}."
            )
    if not jnp.issubdtype(t.dtype, jnp.floating):
        raise TypeError(f"t must be an array of floats, but got {t}.")
    converted, consts = closure_convert(func, y0, t[0], *args)
    return _on_vectors(converted, (rtol, atol, mxstep, hmax), y0, t, *args, *consts)
