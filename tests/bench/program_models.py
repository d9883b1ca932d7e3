"""tests/bench/program_models.py - models and their training for programs.py."""

import numpy as np


def _weights(jax, key, *shapes):
    keys = jax.random.split(jax.random.PRNGKey(key), len(shapes))
    return [jax.random.normal(k, s) / np.sqrt(np.prod(s[:-1])) for k, s in zip(keys, shapes)]


def language_model(jax):
    """The gradient of a small transformer."""
    jnp = jax.numpy
    width, heads, length, batch, words = 128, 4, 64, 16, 256
    shapes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    embedding, *layers = _weights(jax, 0, (words, width), *shapes, *shapes)
    tokens = jax.random.randint(jax.random.PRNGKey(1), (batch, length + 1), 0, words)

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    def loss(embedding, layers):
        h = embedding[tokens[:, :-1]]
        for i in range(0, len(layers), 4):
            mix, out, up, down = layers[i : i + 4]
            parts = (norm(h) @ mix).reshape(batch, length, 3, heads, -1)
            q, k, v = parts.transpose(2, 0, 3, 1, 4)
            scores = q @ k.swapaxes(-1, -2) / np.sqrt(width // heads)
            scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
            seen = jax.nn.softmax(scores) @ v
            h = h + seen.transpose(0, 2, 1, 3).reshape(batch, length, width) @ out
            h = h + jax.nn.gelu(norm(h) @ up) @ down
        chosen = jax.nn.log_softmax(norm(h) @ embedding.T)
        return -jnp.take_along_axis(chosen, tokens[:, 1:, None], -1).mean()

    return jax.jit(jax.value_and_grad(loss, (0, 1))), (embedding, layers)


def generation(jax):
    """128 words of a transformer, one after the other, with what it has seen kept."""
    jnp = jax.numpy
    width, heads, length, words = 256, 4, 128, 1000
    shapes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    embedding, *layers = _weights(jax, 0, (words, width), *shapes, *shapes)

    def run(embedding, layers):
        def step(state, at):
            word, keys, values = state
            h = embedding[word]
            for i in range(len(layers) // 4):
                mix, out, up, down = layers[4 * i : 4 * i + 4]
                q, k, v = (h @ mix).reshape(3, heads, -1)
                keys = keys.at[i, at].set(k)
                values = values.at[i, at].set(v)
                scores = jnp.einsum("hd,thd->ht", q, keys[i]) / 8
                scores = jnp.where(jnp.arange(length) <= at, scores, -1e9)
                h = h + jnp.einsum("ht,thd->hd", jax.nn.softmax(scores), values[i]).ravel() @ out
                h = h + jax.nn.gelu(h @ up) @ down
            word = jnp.argmax(embedding @ h)
            return (word, keys, values), word

        nothing = jnp.zeros((len(layers) // 4, length, heads, width // heads))
        return jax.lax.scan(step, (5, nothing, nothing), jnp.arange(length))[1]

    return jax.jit(run), (embedding, layers)


def recurrent_text(jax):
    jnp = jax.numpy
    width, words, length, batch = 128, 80, 100, 32
    weights = _weights(
        jax, 0, (words, width), (width, 3 * width), (width, 3 * width), (width, words)
    )
    tokens = jax.random.randint(jax.random.PRNGKey(1), (batch, length + 1), 0, words)

    def loss(weights):
        embedding, into, within, out = weights

        def cell(h, word):
            a, b = jnp.split(embedding[word] @ into, 3, -1), jnp.split(h @ within, 3, -1)
            r, z = jax.nn.sigmoid(a[0] + b[0]), jax.nn.sigmoid(a[1] + b[1])
            h = (1 - z) * jnp.tanh(a[2] + r * b[2]) + z * h
            return h, h @ out

        _, scores = jax.lax.scan(cell, jnp.zeros((batch, width)), tokens[:, :-1].T)
        chosen = jax.nn.log_softmax(scores)
        return -jnp.take_along_axis(chosen, tokens[:, 1:].T[..., None], -1).mean()

    return jax.jit(jax.value_and_grad(loss)), (weights,)


def images(jax):
    """Convolutions, normalised over the batch, pooling and dropout, and their gradient."""
    jnp = jax.numpy
    x = jax.random.normal(jax.random.PRNGKey(0), (32, 32, 32, 3))
    weights = _weights(jax, 1, (3, 3, 3, 32), (3, 3, 32, 32), (3, 3, 32, 64), (1024, 10))

    def loss(weights, key):
        h = x
        for w in weights[:3]:
            h = jax.lax.conv_general_dilated(
                h, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            h = (h - h.mean((0, 1, 2))) * jax.lax.rsqrt(h.var((0, 1, 2)) + 1e-5)
            window = (1, 2, 2, 1)
            h = jax.lax.reduce_window(
                jax.nn.relu(h), -jnp.inf, jax.lax.max, window, window, "VALID"
            )
        h = h.reshape(len(x), -1)
        h = h * jax.random.bernoulli(key, 0.5, h.shape) * 2
        return jax.nn.logsumexp(h @ weights[3], 1).mean()

    return jax.jit(jax.value_and_grad(loss)), (weights, jax.random.PRNGKey(2))


def graph_network(jax):
    jnp = jax.numpy
    rng, n, edges = np.random.default_rng(0), 5000, 40_000
    source, target = (jnp.asarray(e) for e in rng.integers(0, n, (2, edges)))
    x = jnp.asarray(rng.standard_normal((n, 64)), jnp.float32)
    labels = jnp.asarray(rng.integers(0, 7, n))
    degree = jax.ops.segment_sum(jnp.ones(edges), target, n) + 1

    def loss(weights):
        h = x
        for i, w in enumerate(weights):
            h = h @ w
            sent = (h / jnp.sqrt(degree)[:, None])[source]
            h = jax.ops.segment_sum(sent, target, n) / jnp.sqrt(degree)[:, None] + h
            h = jax.nn.relu(h) if i == 0 else h
        return -jnp.take_along_axis(jax.nn.log_softmax(h), labels[:, None], 1).mean()

    return jax.jit(jax.value_and_grad(loss)), (_weights(jax, 0, (64, 64), (64, 7)),)


def word_vectors(jax):
    jnp = jax.numpy
    rng, words = np.random.default_rng(0), 20_000
    centre = jnp.asarray(rng.integers(0, words, 1024))
    others = jnp.asarray(rng.integers(0, words, (1024, 6)))
    sign = jnp.array([1.0] + [-1.0] * 5)

    def loss(tables):
        scores = jnp.einsum("bd,bkd->bk", tables[0][centre], tables[1][others])
        return -jax.nn.log_sigmoid(sign * scores).sum(1).mean()

    def step(tables):
        return [t - 0.1 * g for t, g in zip(tables, jax.grad(loss)(tables))]

    return jax.jit(step), (_weights(jax, 0, (words, 100), (words, 100)),)


def physics_informed(jax):
    """Burgers' equation: second derivatives of a network at each of 1000 points."""
    jnp = jax.numpy
    points = jax.random.uniform(jax.random.PRNGKey(0), (1000, 2))

    def network(weights, x):
        for w in weights[:-1]:
            x = jnp.tanh(x @ w)
        return (x @ weights[-1])[0]

    def residual(weights, x):
        slope = jax.grad(network, 1)(weights, x)
        curve = jax.hessian(network, 1)(weights, x)
        return slope[1] + network(weights, x) * slope[0] - 0.01 * curve[0, 0]

    def loss(weights):
        return (jax.vmap(lambda x: residual(weights, x))(points) ** 2).mean()

    weights = _weights(jax, 1, (2, 50), (50, 50), (50, 50), (50, 1))
    return jax.jit(jax.value_and_grad(loss)), (weights,)


def cart_pole(jax):
    """Returns of a policy in 64 environments, and its gradient by their likelihood."""
    jnp = jax.numpy

    def move(s, right):
        x, speed, angle, turn = s
        c, sine = jnp.cos(angle), jnp.sin(angle)
        push = (jnp.where(right, 10.0, -10.0) + 0.05 * turn**2 * sine) / 1.1
        swing = (9.8 * sine - c * push) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
        change = jnp.stack([speed, push - 0.05 * swing * c / 1.1, turn, swing])
        after = s + 0.02 * change
        over = (jnp.abs(after[0]) > 2.4) | (jnp.abs(after[2]) > 0.21)
        return jnp.where(over, 0.01, after), 1.0 - over

    def loss(weights, key):
        def step(s, key):
            scores = jnp.tanh(s @ weights[0]) @ weights[1]
            action = jax.random.categorical(key, scores)
            chosen = jnp.take_along_axis(jax.nn.log_softmax(scores), action[:, None], 1)[:, 0]
            s, reward = jax.vmap(move)(jax.lax.stop_gradient(s), action == 1)
            return s, (chosen, reward)

        start = jnp.zeros((64, 4)) + 0.01
        _, (chosen, rewards) = jax.lax.scan(step, start, jax.random.split(key, 128))
        returns = jnp.cumsum(rewards[::-1], 0)[::-1]
        return -(chosen * jax.lax.stop_gradient(returns - returns.mean())).mean()

    weights = _weights(jax, 0, (4, 64), (64, 2))
    return jax.jit(jax.value_and_grad(loss)), (weights, jax.random.PRNGKey(1))
