"""tests/api/test_lean_residuals.py - what the gradient of a scan keeps of each turn."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

N = 8


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [jnp.asarray(rng.standard_normal(shape), jnp.float32) for shape in shapes]


def gated(w, h, x):
    """A gate and its derivative are made of one value."""
    s = jax.nn.sigmoid(h @ w + x)
    return s * h + (1 - s) * jnp.tanh(x)


def spread(w, h, x):
    """Slices of xs and what is the same in all turns repeat along a dimension."""
    return jnp.tanh(h * w[:, None] + x[None] * jnp.exp(w)[None])


def rectified(w, h, x):
    return jax.nn.relu(h @ w) * x + jnp.where(h > 0, h, 2 * h)


def cubed(w, h, x):
    """Several residuals of a value that is none itself."""
    t = jnp.tanh(h @ w)
    return (1 + t) * x + t**3


CELLS = {
    gated: arrays((N, N), (N, N), (5, N, N)),
    spread: arrays((N,), (N, N), (5, N)),
    rectified: arrays((N, N), (N, N), (5, N)),
    cubed: arrays((N, N), (N, N), (5, N)),
}


def scanned(cell, reverse=False):
    def loss(w, h, xs):
        def turn(h, x):
            h = cell(w, h, x)
            return h, h * h

        h, ys = lax.scan(turn, h, xs, reverse=reverse)
        return (h * ys).sum()

    return loss


def unrolled(cell, reverse=False):
    def loss(w, h, xs):
        ys = []
        for x in list(xs)[:: -1 if reverse else 1]:
            h = cell(w, h, x)
            ys.append(h * h)
        return (h * jnp.stack(ys)).sum()

    return loss


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", CELLS, ids=lambda f: f.__name__)
def test_values(cell, reverse):
    args = CELLS[cell]
    for derive in (
        lambda f: jax.grad(f, (0, 1, 2)),
        lambda f: jax.jit(jax.grad(f, (0, 1, 2))),
        lambda f: jax.grad(lambda *a: (jax.grad(f)(*a) ** 2).sum(), (0, 1, 2)),
        lambda f: jax.jacfwd(jax.grad(f, 1)),
        lambda f: (
            lambda *a: jax.vmap(jax.grad(f), (None, 0, None))(
                a[0], jnp.stack([a[1], 2 * a[1]]), a[2]
            )
        ),
    ):
        values, expected = (derive(form(cell, reverse))(*args) for form in (scanned, unrolled))
        for one, other in zip(jax.tree.leaves(values), jax.tree.leaves(expected), strict=True):
            scale = float(jnp.abs(other).max())
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4 * scale)


def stacks(cell):
    """Shapes of what the known scan stacks for the linear one."""
    args = CELLS[cell]

    def known(*args):
        return jax.vjp(lambda *a: lax.scan(lambda h, x: (cell(a[0], h, x), None), *a[1:]), *args)

    (scan,) = (e for e in jax.make_jaxpr(known)(*args).eqns if e.primitive.name == "scan")
    return [v.aval.shape[1:] for v in scan.outvars[1:]]


def test_what_is_kept():
    # The gate, h, and 1 - tanh(x)**2 gives way to ... tanh(x).
    assert stacks(gated) == [(N, N)] * 3
    # h and the derivative of tanh.
    assert stacks(spread) == [(N, N)] * 2
    assert stacks(cubed) == [(N, N)] * 2
