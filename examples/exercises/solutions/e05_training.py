# examples/exercises/solutions/e05_training.py - a solution of exercise 5.
import shardax
import shardax.numpy as jnp
from shardax import lax


def train(w, x, y, steps=50, rate=0.1):
    """Gradient descent on the mean of (x @ w - y) ** 2 over the samples of all devices.

    w: float32[k], the same for all devices. x: float32[n, rows, k], y: float32[n, rows]. Gives the
    last w, float32[k]: one value, not a stack. Use lax.pmean, in_axes and out_axes.
    """

    def step(w, x, y):
        gradient = shardax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
        return w - rate * lax.pmean(gradient, "batch")

    step = shardax.pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
    for _ in range(steps):
        w = step(w, x, y)
    return w
