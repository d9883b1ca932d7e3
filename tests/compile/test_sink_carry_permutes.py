"""tests/compile/test_sink_carry_permutes.py - permutes of carries sink into the next iteration."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

DEVICES, ROWS, WIDTH = 4, 16, 64
CHAIN = [(i, i + 1) for i in range(DEVICES - 1)]
RING = [(i, (i + 1) % DEVICES) for i in range(DEVICES)]
BACK = [(i, (i - 1) % DEVICES) for i in range(DEVICES)]


def arrays(micro=6):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((DEVICES, WIDTH, WIDTH)).astype("float32") / WIDTH**0.5
    x = rng.standard_normal((micro, ROWS, WIDTH)).astype("float32")
    return w, x


def pipeline(to, where, given=None):
    """A tick for each microbatch; devices that have none compute on zeros."""

    def stages(w, x):
        device = lax.axis_index("i")

        def tick(arriving, t):
            taken = jnp.where(device == where, x[jnp.clip(t, 0, len(x) - 1)], arriving)
            out = jnp.tanh(taken @ w)
            return lax.ppermute(out, "i", to), out

        start = jnp.zeros_like(x[0]) if given is None else jnp.asarray(given)
        return lax.scan(tick, start, jnp.arange(len(x) + DEVICES - 1))

    return stages


def by_hand(to, where, w, x, given=None):
    arriving = np.zeros((DEVICES, ROWS, WIDTH), "float32")
    if given is not None:
        arriving[:] = given
    outs = []
    for t in range(len(x) + DEVICES - 1):
        taken = arriving.copy()
        taken[where] = x[min(t, len(x) - 1)]
        out = np.tanh(taken @ w)
        outs.append(out)
        arriving = np.zeros_like(out)
        for a, b in to:
            arriving[b] = out[a]
    return arriving, np.stack(outs, 1)


@pytest.mark.parametrize("where", [0, 2])
@pytest.mark.parametrize("to", [CHAIN, RING, BACK, CHAIN[1:]], ids=["chain", "ring", "back", "few"])
def test_a_pipeline(to, where):
    w, x = arrays()
    mapped = jax.pmap(pipeline(to, where), axis_name="i", in_axes=(0, None))
    for got, wanted in zip(mapped(w, x), by_hand(to, where, w, x)):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_what_starts_with_other_numbers_is_carried_as_it_is():
    w, x = arrays()
    given = np.random.default_rng(1).standard_normal((ROWS, WIDTH)).astype("float32")
    mapped = jax.pmap(pipeline(RING, 1, given), axis_name="i", in_axes=(0, None))
    for got, wanted in zip(mapped(w, x), by_hand(RING, 1, w, x, given)):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def loss_of_the_last(w, x):
    outs = pipeline(CHAIN, 0)(w, x)[1]
    error = jnp.mean(outs[DEVICES - 1 :] ** 2)
    return jnp.where(lax.axis_index("i") == DEVICES - 1, error, 0.0)


def test_gradients():
    w, x = arrays()

    def unsharded(w):
        out = x
        for layer in w:
            out = jnp.tanh(out @ layer)
        return jnp.mean(out**2)

    def step(w, x):
        value, slope = jax.value_and_grad(loss_of_the_last)(w, x)
        return lax.psum(value, "i"), slope

    value, slope = jax.pmap(step, axis_name="i", in_axes=(0, None), out_axes=(None, 0))(w, x)
    wanted = jax.value_and_grad(unsharded)(w)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-5)
    np.testing.assert_allclose(slope, wanted[1], rtol=1e-4, atol=1e-7)


PLANS = """
import numpy as np, shardax as jax, shardax.numpy as jnp
from shardax import lax
n = 4
def stages(w, x):
    device = lax.axis_index("i")
    def tick(arriving, t):
        taken = jnp.where(device == 0, x[jnp.clip(t, 0, 5)], arriving)
        out = jnp.sort(taken @ w)
        return lax.ppermute(out, "i", [(i, i + 1) for i in range(n - 1)]), out
    return lax.scan(tick, jnp.zeros_like(x[0]), jnp.arange(9))[1]
x = jnp.asarray(np.random.default_rng(0).standard_normal((6, 16, 64)), "float32")
jax.pmap(stages, axis_name="i", in_axes=(0, None))(
    jnp.asarray(np.random.default_rng(1).standard_normal((n, 64, 64)), "float32"), x)
"""


def test_a_tick_puts_together_what_it_takes_once(dump_of):
    body = next(p for p in dump_of(PLANS).split("-- plan") if "sort" in p)
    assert body.count("concatenate") == 1
    assert "select_n" not in body.replace("lt add select_n", "")  # the one that clips an index


def test_choices_of_zeros():
    """A carry of which one row is set to zero, after a product and after elementwise work."""
    w, _ = arrays()
    x = np.random.default_rng(2).standard_normal((DEVICES, ROWS, WIDTH)).astype("float32")
    first = (np.arange(DEVICES) == 0)[:, None, None]

    @jax.jit
    def loop(w, x):
        def turn(h, x):
            mask = jnp.arange(DEVICES)[:, None, None] == 0
            made = jnp.einsum("dij,djk->dik", h[0] + x, w)
            return (jnp.where(mask, 0.0, made), jnp.where(mask, 0.0, jnp.sin(h[1] + x))), made

        start = jnp.zeros_like(x)
        return lax.scan(turn, (start, start), jnp.stack([x, x, x]))

    a = b = np.zeros_like(x)
    mades = []
    for _ in range(3):
        made = (a + x) @ w
        a, b = np.where(first, 0, made), np.where(first, 0, np.sin(b + x))
        mades.append(made)
    (got_a, got_b), got = loop(w, x)
    np.testing.assert_allclose(got_a, a, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got_b, b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got, mades, rtol=1e-4, atol=1e-4)


def test_no_turns():
    w, _ = arrays()
    run = jax.jit(
        lambda xs: lax.scan(
            lambda h, x: (jnp.concatenate([jnp.zeros((1, 2048)), (h * x @ h.T @ h)[:-1]]), None),
            jnp.zeros((8, 2048)),
            xs,
        )[0]
    )
    np.testing.assert_array_equal(run(jnp.ones((0, 8, 2048))), np.zeros((8, 2048)))
