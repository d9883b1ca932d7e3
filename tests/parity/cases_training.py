"""tests/parity/cases_training.py - whole programs as users of pmap wrote them: training with
replicated parameters, collectives by hand, simulation, sampling, reinforcement learning."""

from functools import partial

import numpy as np

import corpus as parity

corpus = parity.Corpus(rtol=2e-3, atol=2e-4)
DEVICES = 8


def replicated(jax, tree):
    return jax.tree_util.tree_map(lambda x: np.stack([np.asarray(x)] * DEVICES), tree)


def first(jax, tree):
    return jax.tree_util.tree_map(lambda x: np.asarray(x)[0], tree)


def draws(seed):
    r = np.random.RandomState(seed)
    return lambda *shape: r.randn(*shape).astype(np.float32)


@corpus.case()
def case_batch_norm_with_shared_statistics(jax, jnp, lax):
    def apply(params, stats, x):
        y = x @ params["w"]
        mean, mean2 = lax.pmean((y.mean(0), (y**2).mean(0)), "batch")
        var = mean2 - mean**2
        new = jax.tree_util.tree_map(
            lambda a, b: 0.9 * a + 0.1 * b, stats, {"mean": mean, "var": var}
        )
        return jax.nn.relu((y - mean) * lax.rsqrt(var + 1e-5)) @ params["v"], new

    @partial(jax.pmap, axis_name="batch", donate_argnums=(0, 1))
    def step(params, stats, x, y):
        def loss(p):
            out, new = apply(p, stats, x)
            return jnp.mean((out[:, 0] - y) ** 2), new

        (value, new), grads = jax.value_and_grad(loss, has_aux=True)(params)
        grads = lax.pmean(grads, "batch")
        params = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)
        return params, new, lax.pmean({"loss": value}, "batch")

    draw = draws(0)
    params = replicated(jax, {"w": draw(3, 4) * 0.5, "v": draw(4, 1) * 0.5})
    stats = replicated(jax, {"mean": np.zeros(4, np.float32), "var": np.ones(4, np.float32)})
    losses = []
    for _ in range(5):
        x = draw(DEVICES, 4, 3)
        params, stats, metrics = step(params, stats, x, x.sum(2))
        losses.append(metrics["loss"][0])
    return jnp.stack(losses), first(jax, params), first(jax, stats)


@corpus.case()
def case_adam_with_clipping_and_dropout(jax, jnp, lax):
    random, tree_map = jax.random, jax.tree_util.tree_map

    @partial(jax.pmap, axis_name="i", static_broadcasted_argnums=4)
    def step(params, state, rng, x, rate):
        rng, key = random.split(rng)
        keep = random.bernoulli(random.fold_in(key, lax.axis_index("i")), 1 - rate, x.shape)

        def loss(p):
            return jnp.mean((jnp.tanh(jnp.where(keep, x, 0) @ p["w"]) @ p["v"] - x) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        grads = lax.pmean(grads, "i")
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree_util.tree_leaves(grads)))
        grads = tree_map(lambda g: g * jnp.minimum(1.0, 0.3 / norm), grads)
        count = state["count"] + 1
        m = tree_map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
        v = tree_map(lambda v, g: 0.99 * v + 0.01 * g * g, state["v"], grads)
        scale = 0.05 * jnp.sqrt(1 - 0.99**count) / (1 - 0.9**count)
        params = tree_map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-6), params, m, v)
        return params, {"m": m, "v": v, "count": count}, rng, lax.pmean(value, "i")

    draw = draws(1)
    params = {"w": draw(4, 6) * 0.5, "v": draw(6, 4) * 0.5}
    zeros = tree_map(np.zeros_like, params)
    state = replicated(jax, {"m": zeros, "v": zeros, "count": np.float32(0)})
    params, rng = replicated(jax, (params, random.PRNGKey(3)))
    losses = []
    for _ in range(6):
        params, state, rng, value = step(params, state, rng, draw(DEVICES, 5, 4), 0.25)
        losses.append(value[0])
    return jnp.stack(losses), first(jax, params)


@corpus.case()
def case_two_networks_with_shared_parameters(jax, jnp, lax):
    def net(p, x):
        return jax.nn.leaky_relu(x @ p[0]) @ p[1]

    def cross_entropy(logits, target):
        return jnp.mean(jax.nn.softplus(logits) - logits * target)

    @partial(jax.pmap, axis_name="i", in_axes=(None, None, 0, 0), out_axes=None)
    def step(g, d, z, x):
        def d_loss(d):
            return cross_entropy(net(d, x), 1.0) + cross_entropy(net(d, net(g, z)), 0.0)

        def move(params, loss):
            value, grads = jax.value_and_grad(loss)(params)
            grads = lax.pmean(grads, "i")
            return [p - 0.2 * q for p, q in zip(params, grads)], lax.pmean(value, "i")

        d, d_value = move(d, d_loss)
        g, g_value = move(g, lambda g: cross_entropy(net(d, net(g, z)), 1.0))
        return g, d, (d_value, g_value)

    draw = draws(2)
    g, d = [draw(2, 6) * 0.4, draw(6, 2) * 0.4], [draw(2, 6) * 0.4, draw(6, 1) * 0.4]
    for _ in range(5):
        g, d, values = step(g, d, draw(DEVICES, 8, 2), draw(DEVICES, 8, 2) * 0.5 + 1)
    return g, d, values


@corpus.case()
def case_experts_by_all_to_all(jax, jnp, lax):
    @partial(jax.pmap, axis_name="e")
    def mixture(x, w):
        sent = lax.all_to_all(x.reshape(DEVICES, -1, x.shape[-1]), "e", 0, 0)
        return lax.all_to_all(jnp.tanh(sent @ w), "e", 0, 0).reshape(x.shape)

    draw = draws(3)
    x, w = draw(DEVICES, 16, 3), draw(DEVICES, 3, 3)
    return mixture(x, w).sum(1), jax.grad(lambda w: (mixture(x, w) ** 2).sum())(w)


@corpus.case()
def case_layers_split_by_columns_and_rows(jax, jnp, lax):
    @partial(jax.pmap, axis_name="m", in_axes=(None, 0, 0, 0))
    def layer(x, columns, rows, logits):
        top = lax.pmax(logits.max(-1), "m")
        e = jnp.exp(logits - top[:, None])
        share = e / lax.psum(e.sum(-1), "m")[:, None]
        return lax.psum(jax.nn.gelu(x @ columns) @ rows, "m"), share

    draw = draws(4)
    return layer(draw(3, 4), draw(DEVICES, 4, 2), draw(DEVICES, 2, 4), draw(DEVICES, 2, 5))


@corpus.case()
def case_pipeline_by_ppermute(jax, jnp, lax):
    ring = [(k, (k + 1) % DEVICES) for k in range(DEVICES)]

    @partial(jax.pmap, axis_name="s", in_axes=(0, None))
    def run(w, xs):
        here = lax.axis_index("s")

        def tick(carry, t):
            fed = lax.dynamic_index_in_dim(xs, jnp.minimum(t, len(xs) - 1), 0, keepdims=False)
            out = jnp.tanh(jnp.where(here == 0, fed, carry) @ w)
            return lax.ppermute(out, "s", ring), jnp.where(here == DEVICES - 1, out, 0.0)

        return lax.scan(tick, jnp.zeros(xs.shape[1:]), jnp.arange(len(xs) + DEVICES - 1))[1]

    draw = draws(5)
    w, xs = draw(DEVICES, 3, 3), draw(4, 3)
    return run(w, xs)[-1, DEVICES - 1 :], jax.grad(lambda w: (run(w, xs) ** 2).sum())(w)


@corpus.case()
def case_wave_equation_with_halos(jax, jnp, lax):
    right = [(k, k + 1) for k in range(DEVICES - 1)]
    left = [(k + 1, k) for k in range(DEVICES - 1)]

    def laplacian(u):
        above, below = lax.ppermute(u[-1:], "x", right), lax.ppermute(u[:1], "x", left)
        u = jnp.pad(jnp.concatenate([above, u, below]), [(0, 0), (1, 1)])
        return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]

    @partial(jax.pmap, axis_name="x", static_broadcasted_argnums=1)
    def simulate(state, steps):
        def step(_, state):
            u, v = state
            v = v + 0.25 * laplacian(u)
            return u + v, v

        return lax.fori_loop(0, steps, step, state)

    y, x = np.mgrid[:16, :16]
    u = np.exp(-((x - 8) ** 2 + (y - 5) ** 2) / 6.0).astype(np.float32).reshape(DEVICES, 2, 16)
    end = simulate((u, np.zeros_like(u)), 9)[0]
    return end, jax.grad(lambda u: (simulate((u, jnp.zeros_like(u)), 5)[0] ** 2).sum())(u)


@corpus.case()
def case_cellular_automaton(jax, jnp, lax):
    ring = [(k, (k + 1) % DEVICES) for k in range(DEVICES)]
    back = [(b, a) for a, b in ring]

    @partial(jax.pmap, axis_name="i")
    def evolve(cells):
        def step(x, _):
            left, right = lax.ppermute(x[-1:], "i", ring), lax.ppermute(x[:1], "i", back)
            wide = jnp.concatenate([left, x, right])
            return wide[:-2] ^ (wide[1:-1] | wide[2:]), x

        return lax.scan(step, cells, None, length=10)[1]

    cells = np.zeros(48, bool)
    cells[24] = True
    return evolve(cells.reshape(DEVICES, 6))


@corpus.case()
def case_evolution_strategy(jax, jnp, lax):
    random = jax.random

    @partial(jax.pmap, axis_name="p", in_axes=(0, None), out_axes=(None, 0))
    def step(key, w):
        key, draw = random.split(key)
        noise = random.normal(draw, (4, *w.shape))
        fitness = jax.vmap(lambda w: -((w - 1) ** 2).sum())(
            jnp.concatenate([w + 0.1 * noise, w - 0.1 * noise])
        )
        everyone = lax.all_gather(fitness, "p").reshape(-1)
        rank = jnp.argsort(jnp.argsort(everyone)) / everyone.size - 0.5
        mine = lax.dynamic_slice(rank, (lax.axis_index("p") * 8,), (8,))
        move = lax.pmean(jnp.tensordot(mine[:4] - mine[4:], noise, 1), "p")
        return w + 0.2 * move, key

    w, keys = jnp.zeros(3), random.split(random.PRNGKey(1), DEVICES)
    for _ in range(5):
        w, keys = step(keys, w)
    return w, keys


@corpus.case()
def case_chains_that_end_when_they_like(jax, jnp, lax):
    random = jax.random

    @jax.pmap
    def walk(key):
        def go(state):
            return (jnp.abs(state[1]) < 1.5) & (state[2] < 200)

        def step(state):
            key, x, n = state
            key, draw = random.split(key)
            return key, x + 0.4 * random.normal(draw), n + 1

        return lax.while_loop(go, step, (key, 0.0, 0))[1:]

    return walk(random.split(random.PRNGKey(5), DEVICES))


@corpus.case()
def case_policy_gradient(jax, jnp, lax):
    random = jax.random

    def rollout(w, key):
        def step(s, key):
            mean = s @ w
            action = mean + 0.2 * random.normal(key, mean.shape)
            after = 0.9 * s + action
            return after, (s, action, -(after**2).sum())

        return lax.scan(step, jnp.ones(2), random.split(key, 6))[1]

    @partial(jax.pmap, axis_name="i", in_axes=(None, 0), out_axes=None)
    def update(w, key):
        states, actions, rewards = jax.vmap(rollout, (None, 0))(w, random.split(key, 3))

        def discounted(total, r):
            total = r + 0.9 * total
            return total, total

        gains = jax.vmap(lambda r: lax.scan(discounted, 0.0, r, reverse=True)[1])(rewards)
        gains = gains - lax.pmean(gains.mean(), "i")

        def loss(w):
            return (((actions - states @ w) ** 2).sum(-1) * gains).mean()

        return w - 0.02 * lax.pmean(jax.grad(loss)(w), "i"), lax.pmean(rewards.mean(), "i")

    w, rewards = jnp.zeros((2, 2)), []
    for i in range(3):
        w, reward = update(w, random.split(random.PRNGKey(i), DEVICES))
        rewards.append(reward)
    return w, jnp.stack(rewards)


@corpus.case()
def case_counts_over_devices(jax, jnp, lax):
    draw = np.random.RandomState(6)
    labels, guesses = draw.randint(0, 3, (2, DEVICES, 7))

    @partial(jax.pmap, axis_name="b")
    def count(labels, guesses):
        table = jnp.zeros((3, 3), jnp.int32).at[labels, guesses].add(1)
        return lax.psum(table, "b"), lax.top_k(lax.all_gather(labels.sum(), "b"), 3)

    return first(jax, count(labels, guesses))
