"""shardax.example_libraries.optimizers - first-order optimizers for trees of arrays.

Each is a triple of functions:
    init(params) -> state
    update(step, gradients, state) -> state
    params(state) -> params
The state is a tree, so that it goes through jit, grad, pmap and replication as it is. An optimizer
is written for one array and decorated with `optimizer`, which spreads it over trees.

  >>> init, update, params = sgd(0.5)
  >>> params(update(0, {"w": jnp.float32(2)}, init({"w": jnp.float32(3)})))
  {'w': Array(2., dtype=float32)}
"""

import functools
from collections import namedtuple

from shardax import numpy as jnp
from shardax import tree_util

__all__ = [
    "JoinPoint",
    "Optimizer",
    "OptimizerState",
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "inverse_time_decay",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "optimizer",
    "pack_optimizer_state",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
    "unpack_optimizer_state",
]

Optimizer = namedtuple("Optimizer", ["init_fn", "update_fn", "params_fn"])


@tree_util.register_pytree_node_class
class OptimizerState:
    """An optimizer's state of each parameter: `states`, in the order of `tree_def`'s leaves."""

    def __init__(self, states, tree_def):
        self.states = tuple(states)
        self.tree_def = tree_def

    def tree_flatten(self):
        return self.states, self.tree_def

    @classmethod
    def tree_unflatten(cls, tree_def, states):
        return cls(states, tree_def)

    def __repr__(self):
        return f"OptimizerState({tree_util.tree_unflatten(self.tree_def, self.states)})"


def optimizer(maker):
    """Makes a function that gives (init, update, params) for one array give them for trees.

    Raises (the update):
      TypeError: where the gradients have another structure than the parameters.
    """

    @functools.wraps(maker)
    def tree_maker(*args, **kwargs):
        init, update, params = maker(*args, **kwargs)

        def tree_init(tree):
            leaves, tree_def = tree_util.tree_flatten(tree)
            return OptimizerState(map(init, leaves), tree_def)

        def tree_update(step, gradients, state):
            leaves, tree_def = tree_util.tree_flatten(gradients)
            if tree_def != state.tree_def:
                raise TypeError(
                    f"{maker.__name__}: the optimizer was initialized with the parameter tree "
                    f"{state.tree_def}, but its update was passed the grad tree {tree_def}."
                )
            states = [update(step, g, s) for g, s in zip(leaves, state.states)]
            return OptimizerState(states, tree_def)

        def tree_params(state):
            return tree_util.tree_unflatten(state.tree_def, map(params, state.states))

        return Optimizer(tree_init, tree_update, tree_params)

    return tree_maker


def _first(state):
    return state[0]


def _with_zeros(count):
    """The init of a state of a parameter and `count` arrays like it."""
    return lambda x: (x, *(jnp.zeros_like(x) for _ in range(count)))


@optimizer
def sgd(step_size):
    """Gradient descent. `step_size` is a number or a schedule: a function of the step."""
    rate = make_schedule(step_size)
    return lambda x: x, lambda i, g, x: x - rate(i) * g, lambda x: x


@optimizer
def momentum(step_size, mass):
    """Gradient descent along a running sum of gradients, of which `mass` stays."""
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * velocity, velocity

    return _with_zeros(1), update, _first


@optimizer
def nesterov(step_size, mass):
    """Momentum that looks one step ahead."""
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * (mass * velocity + g), velocity

    return _with_zeros(1), update, _first


@optimizer
def adagrad(step_size, momentum=0.9):
    """Steps divided by the root of the sum of all squared gradients.

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods, 2011.
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, squares, m = state
        squares = squares + jnp.square(g)
        scale = jnp.where(squares > 0, 1.0 / jnp.sqrt(squares), 0.0)
        m = (1.0 - momentum) * (g * scale) + momentum * m
        return x - rate(i) * m, squares, m

    return _with_zeros(2), update, _first


@optimizer
def rmsprop(step_size, gamma=0.9, eps=1e-8):
    """Steps divided by the root of a running mean of squared gradients."""
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, mean = state
        mean = mean * gamma + jnp.square(g) * (1.0 - gamma)
        return x - rate(i) * g / jnp.sqrt(mean + eps), mean

    return _with_zeros(1), update, _first


@optimizer
def rmsprop_momentum(step_size, gamma=0.9, eps=1e-8, momentum=0.9):
    """rmsprop along a running sum of its steps."""
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, mean, move = state
        mean = mean * gamma + jnp.square(g) * (1.0 - gamma)
        move = momentum * move + rate(i) * g / jnp.sqrt(mean + eps)
        return x - move, mean, move

    return _with_zeros(2), update, _first


@optimizer
def adam(step_size, b1=0.9, b2=0.999, eps=1e-8):
    """Running means of gradients and of their squares, corrected for their start at zero.

    Source: Kingma and Ba, Adam, 2015.
    """
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * jnp.square(g) + b2 * v
        m_unbiased = m / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        v_unbiased = v / (1 - jnp.asarray(b2, m.dtype) ** (i + 1))
        return x - rate(i) * m_unbiased / (jnp.sqrt(v_unbiased) + eps), m, v

    return _with_zeros(2), update, _first


@optimizer
def adamax(step_size, b1=0.9, b2=0.999, eps=1e-8):
    """adam with a running maximum in place of the mean of squares."""
    rate = make_schedule(step_size)

    def update(i, g, state):
        x, m, top = state
        m = (1 - b1) * g + b1 * m
        top = jnp.maximum(b2 * top, jnp.abs(g))
        scale = rate(i) / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        return x - scale * m / (top + eps), m, top

    return _with_zeros(2), update, _first


@optimizer
def sm3(step_size, momentum=0.9):
    """adagrad with one sum per row, column, ... instead of one per element.

    Source: Anil, Gupta, Koren and Singer, Memory-efficient adaptive optimization, 2019.
    """
    rate = make_schedule(step_size)

    def along(vector, dimension, rank):
        return vector.reshape([-1 if d == dimension else 1 for d in range(rank)])

    def init(x):
        x = jnp.atleast_1d(x)
        return x, jnp.zeros_like(x), tuple(jnp.zeros(n, x.dtype) for n in x.shape)

    def update(i, g, state):
        x, m, sums = state
        spread = [along(s, d, x.ndim) for d, s in enumerate(sums)]
        total = functools.reduce(jnp.minimum, spread) + jnp.square(g)
        scale = jnp.where(total > 0, 1.0 / jnp.sqrt(total), 0.0)
        m = (1.0 - momentum) * (g * scale) + momentum * m
        others = [tuple(e for e in range(x.ndim) if e != d) for d in range(x.ndim)]
        sums = tuple(total.max(axis=axes) for axes in others)
        return x - rate(i) * m, m, sums

    return init, update, _first


def constant(step_size):
    """A schedule: always the same."""
    return lambda i: step_size


def exponential_decay(step_size, decay_steps, decay_rate):
    """A schedule: times `decay_rate` every `decay_steps`."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size, decay_steps, decay_rate, staircase=False):
    """A schedule: divided by 1 + decay_rate * i / decay_steps, in whole steps if `staircase`."""

    def schedule(i):
        time = jnp.floor(i / decay_steps) if staircase else i / decay_steps
        return step_size / (1 + decay_rate * time)

    return schedule


def polynomial_decay(step_size, decay_steps, final_step_size, power=1.0):
    """A schedule: from `step_size` to `final_step_size`, along a power of the remaining steps."""

    def schedule(i):
        left = (1 - jnp.minimum(i, decay_steps) / decay_steps) ** power
        return final_step_size + left * (step_size - final_step_size)

    return schedule


def piecewise_constant(boundaries, values):
    """A schedule: `values[k]` after k of the `boundaries`.

    Raises:
      ValueError: unless there is one value more than boundaries, all in one dimension.
    """
    boundaries, values = jnp.array(boundaries), jnp.array(values)
    if not boundaries.ndim == values.ndim == 1:
        raise ValueError(
            "boundaries and values must be sequences, got shapes "
            f"{boundaries.shape} and {values.shape}."
        )
    if boundaries.shape[0] != values.shape[0] - 1:
        raise ValueError(
            "boundaries length must be one shorter than values length, got "
            f"{boundaries.shape[0]} and {values.shape[0]}."
        )
    return lambda i: values[jnp.sum(i > boundaries)]


def make_schedule(scalar_or_schedule):
    """The schedule itself, or the constant one.

    Raises:
      TypeError: for anything else.
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if jnp.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise TypeError(f"expected a number or a function of the step, got {scalar_or_schedule!r}")


def l2_norm(tree):
    """The root of the sum of all squares."""
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in tree_util.tree_leaves(tree)))


def clip_grads(grad_tree, max_norm):
    """The gradients, scaled down where their l2_norm is above `max_norm`."""
    norm = l2_norm(grad_tree)
    return tree_util.tree_map(
        lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree
    )


class JoinPoint:
    """A parameter's state within a tree of parameters: a leaf."""

    def __init__(self, subtree):
        self.subtree = subtree

    def __iter__(self):
        yield self.subtree


def unpack_optimizer_state(opt_state):
    """The state as a tree of the parameters' structure with a JoinPoint per parameter, to save."""
    return tree_util.tree_unflatten(opt_state.tree_def, map(JoinPoint, opt_state.states))


def pack_optimizer_state(marked_pytree):
    """The reverse of unpack_optimizer_state.

    Raises:
      TypeError: where a leaf is no JoinPoint.
    """
    leaves, tree_def = tree_util.tree_flatten(marked_pytree)
    for leaf in leaves:
        if not isinstance(leaf, JoinPoint):
            raise TypeError(f"pack_optimizer_state: expected JoinPoints as leaves, got {leaf!r}.")
    return OptimizerState((leaf.subtree for leaf in leaves), tree_def)
