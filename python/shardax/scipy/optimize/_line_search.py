"""shardax/scipy/optimize/_line_search.py - a step along a direction, under Wolfe's conditions.

Nocedal and Wright, Numerical optimization (2006), algorithms 3.5 and 3.6.
"""

from typing import Any, NamedTuple

from shardax import lax
from shardax import numpy as jnp
from shardax._transform.derivatives import value_and_grad


class Point(NamedTuple):
    """A step, the function's value and slope there, and its gradient."""

    step: Any
    value: Any
    slope: Any
    gradient: Any


class _Bracket(NamedTuple):
    count: Any  # evaluations
    best: Point
    low: Point
    high: Point
    found: Any  # `best` is the step that was searched for
    zooming: Any  # it lies between `low` and `high`


def inner(x, y):
    """The real inner product, of complex vectors too."""
    return jnp.vdot(x, y).real


def _select(condition, yes, no):
    return Point(*(jnp.where(condition, y, n) for y, n in zip(yes, no)))


def _between(low, high):
    """The minimum of the cubic through both points; the middle where that is none inside."""
    width = high.step - low.step
    d = low.slope + high.slope - 3 * (high.value - low.value) / width
    root = jnp.sign(width) * jnp.sqrt(jnp.maximum(d * d - low.slope * high.slope, 0))
    share = (high.slope + root - d) / (high.slope - low.slope + 2 * root)
    good = (share > 0.1) & (share < 0.9)
    return high.step - width * jnp.where(good, share, 0.5)


def line_search(f, x, direction, start, first_step, maxiter, c1=1e-4, c2=0.9):
    """(point found, number of evaluations, status: 0 found, 1 no step between, 3 no bracket).

    Args:
      f: function of a vector.
      start: the `Point` of step 0; its slope is negative.
      first_step: tried first; doubled until a minimum is bracketed.
      maxiter: the most evaluations until there is a bracket, a third of those in it.
    """

    def at(step):
        value, gradient = value_and_grad(f)(x + step * direction)
        gradient = jnp.conj(gradient)
        return Point(step, value, inner(direction, gradient), gradient)

    def too_high(p):
        return ~(p.value <= start.value + c1 * p.step * start.slope)

    def flat(p):
        return jnp.abs(p.slope) <= -c2 * start.slope

    def widen(s):
        p = at(s.best.step)
        above = too_high(p) | ((p.value >= s.low.value) & (s.count > 0))
        found = ~above & flat(p)
        turned = ~above & ~found & (p.slope >= 0)
        zooming = above | turned
        # Between the step before and this one; where it goes on, twice as far.
        low, high = _select(turned | ~zooming, p, s.low), _select(turned, s.low, p)
        best = p._replace(step=jnp.where(zooming | found, p.step, 2 * p.step))
        return _Bracket(s.count + 1, best, low, high, found, zooming)

    def zoom(s):
        p = at(_between(s.low, s.high))
        above = too_high(p) | (p.value >= s.low.value)
        found = ~above & flat(p)
        across = ~above & (p.slope * (s.high.step - s.low.step) >= 0)
        high = _select(above, p, _select(across, s.low, s.high))
        return _Bracket(s.count + 1, p, _select(above, s.low, p), high, found, s.zooming)

    no = jnp.asarray(False)
    state = _Bracket(0, start._replace(step=first_step), start, start, no, no)
    state = lax.while_loop(lambda s: ~s.found & ~s.zooming & (s.count < maxiter), widen, state)
    bracketed, before = state.zooming, state.count
    state = lax.while_loop(
        lambda s: s.zooming & ~s.found & (s.count < before + 3 * maxiter), zoom, state
    )
    # If no step is flat enough, the lowest one, if it is lower than the start.
    usable = state.found | (bracketed & (state.low.value < start.value))
    point = _select(state.found, state.best, state.low)
    status = jnp.where(usable, 0, jnp.where(bracketed, 1, 3))
    return point, state.count, status
