"""tests/bench/training_models.py - the models of training.py: for each its parameters, a batch, and
a loss in jax.numpy (which shardax has too).
"""

import math

import numpy as np

rng = np.random.default_rng(0)


def weights(*shape):
    fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
    return (rng.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def ones(*shape):
    return np.ones(shape, np.float32)


def images(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def labels(count, *shape):
    return rng.integers(0, count, shape).astype(np.int32)


def cross_entropy(jax, logits, y):
    logp = jax.nn.log_softmax(logits.astype(jax.numpy.float32))
    return -jax.numpy.take_along_axis(logp, y[..., None], -1).mean()


class Mlp:
    batch = 512

    def init(self):
        sizes = (784, 1024, 1024, 10)
        return [(weights(a, b), zeros(b)) for a, b in zip(sizes, sizes[1:])]

    def data(self):
        return images(self.batch, 784), labels(10, self.batch)

    def loss(self, jax, params, x, y):
        for w, b in params[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = params[-1]
        return cross_entropy(jax, x @ w + b, y)


class LeNet:
    batch = 256

    def init(self):
        convs = [(weights(6, 1, 5, 5), zeros(6)), (weights(16, 6, 5, 5), zeros(16))]
        sizes = (400, 120, 84, 10)
        return convs, [(weights(a, b), zeros(b)) for a, b in zip(sizes, sizes[1:])]

    def data(self):
        return images(self.batch, 1, 28, 28), labels(10, self.batch)

    def loss(self, jax, params, x, y):
        jnp, lax = jax.numpy, jax.lax
        for (w, b), pad in zip(params[0], (2, 0)):
            x = lax.conv_general_dilated(x, w, (1, 1), [(pad, pad)] * 2) + b[:, None, None]
            x = jax.nn.relu(x)
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        x = x.reshape(len(x), -1)
        for w, b in params[1][:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = params[1][-1]
        return cross_entropy(jax, x @ w + b, y)


class ResNet:
    """As ResNet-18, of images of 32 x 32 and half the features: two blocks of two convolutions in
    each of four stages, with batch normalisation.
    """

    batch = 32
    stages = (32, 64, 128, 256)

    def init(self):
        def conv(o, i, k):
            return weights(o, i, k, k), ones(o), zeros(o)

        blocks, width = [], self.stages[0]
        for stage, o in enumerate(self.stages):
            for first in (True, False):
                i = width if first else o
                short = conv(o, i, 1) if first and stage else None
                blocks.append((conv(o, i, 3), conv(o, o, 3), short))
            width = o
        return conv(self.stages[0], 3, 3), blocks, (weights(width, 10), zeros(10))

    def data(self):
        return images(self.batch, 3, 32, 32), labels(10, self.batch)

    def loss(self, jax, params, x, y):
        jnp, lax = jax.numpy, jax.lax

        def conv(x, layer, stride=1):
            w, scale, shift = layer
            pad = w.shape[2] // 2
            x = lax.conv_general_dilated(x, w, (stride,) * 2, [(pad, pad)] * 2)
            mean = x.mean((0, 2, 3), keepdims=True)
            var = jnp.square(x - mean).mean((0, 2, 3), keepdims=True)
            x = (x - mean) * lax.rsqrt(var + 1e-5)
            return x * scale[:, None, None] + shift[:, None, None]

        stem, blocks, (w, b) = params
        x = jax.nn.relu(conv(x, stem))
        for first, second, short in blocks:
            stride = 1 if short is None else 2
            out = conv(jax.nn.relu(conv(x, first, stride)), second)
            x = jax.nn.relu(out + (x if short is None else conv(x, short, stride)))
        return cross_entropy(jax, x.mean((2, 3)) @ w + b, y)


class Transformer:
    """GPT-2 with 4 layers of 256 features and 4 heads, 128 positions, 4096 tokens."""

    batch = 16
    layers, features, heads, positions, tokens = 4, 256, 4, 128, 4096

    def init(self):
        f = self.features

        def layer():
            dense = [(weights(i, o), zeros(o)) for i, o in ((f, 3 * f), (f, f))]
            dense += [(weights(i, o), zeros(o)) for i, o in ((f, 4 * f), (4 * f, f))]
            return dense, [(ones(f), zeros(f)) for _ in range(2)]

        embed = (rng.standard_normal((self.tokens, f)) * 0.02).astype(np.float32)
        places = (rng.standard_normal((self.positions, f)) * 0.02).astype(np.float32)
        return embed, places, [layer() for _ in range(self.layers)], (ones(f), zeros(f))

    def data(self):
        shape = (self.batch, self.positions)
        return labels(self.tokens, *shape), labels(self.tokens, *shape)

    def loss(self, jax, params, x, y):
        jnp = jax.numpy

        def norm(x, pair):
            mean = x.mean(-1, keepdims=True)
            var = jnp.square(x - mean).mean(-1, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(var + 1e-5) * pair[0] + pair[1]

        embed, places, layers, last = params
        x = embed[x] + places
        n, t, f = x.shape
        mask = jnp.tril(jnp.ones((t, t), bool))
        for (qkv, out, up, down), (norm1, norm2) in layers:
            z = norm(x, norm1) @ qkv[0] + qkv[1]
            q, k, v = (
                p.reshape(n, t, self.heads, -1).transpose(0, 2, 1, 3) for p in jnp.split(z, 3, -1)
            )
            scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(f // self.heads)
            attended = jax.nn.softmax(jnp.where(mask, scores, -1e9)) @ v
            x = x + attended.transpose(0, 2, 1, 3).reshape(n, t, f) @ out[0] + out[1]
            x = x + jax.nn.gelu(norm(x, norm2) @ up[0] + up[1]) @ down[0] + down[1]
        return cross_entropy(jax, norm(x, last) @ embed.T, y)


class Lstm:
    batch = 64
    features, positions, tokens = 256, 64, 1024

    def init(self):
        f = self.features
        embed = (rng.standard_normal((self.tokens, f)) * 0.1).astype(np.float32)
        return embed, weights(f, 4 * f), weights(f, 4 * f), zeros(4 * f), weights(f, self.tokens)

    def data(self):
        shape = (self.batch, self.positions)
        return labels(self.tokens, *shape), labels(self.tokens, *shape)

    def loss(self, jax, params, x, y):
        jnp = jax.numpy
        embed, wx, wh, b, out = params
        given = (embed[x] @ wx + b).swapaxes(0, 1)

        def step(state, given):
            h, c = state
            i, f, g, o = jnp.split(given + h @ wh, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = (jnp.zeros((len(x), self.features), wh.dtype),) * 2
        _, h = jax.lax.scan(step, start, given)
        return cross_entropy(jax, h.swapaxes(0, 1) @ out, y)


class Vae:
    batch = 256
    sizes = ((784, 400), (400, 40), (20, 400), (400, 784))

    def init(self):
        return [(weights(a, b), zeros(b)) for a, b in self.sizes]

    def data(self):
        return rng.random((self.batch, 784)).astype(np.float32), images(self.batch, 20)

    def loss(self, jax, params, x, noise):
        jnp = jax.numpy
        (w1, b1), (w2, b2), (w3, b3), (w4, b4) = params
        mean, logvar = jnp.split(jax.nn.relu(x @ w1 + b1) @ w2 + b2, 2, -1)
        z = mean + jnp.exp(0.5 * logvar) * noise
        logits = jax.nn.relu(z @ w3 + b3) @ w4 + b4
        mean, logvar, logits, x = (a.astype(jnp.float32) for a in (mean, logvar, logits, x))
        likelihood = (jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-abs(logits)))).sum(1)
        divergence = -0.5 * (1 + logvar - mean**2 - jnp.exp(logvar)).sum(1)
        return (likelihood + divergence).mean()


MODELS = {
    "MLP": Mlp(),
    "LeNet": LeNet(),
    "ResNet-18": ResNet(),
    "GPT-2, 4 layers": Transformer(),
    "LSTM": Lstm(),
    "VAE": Vae(),
}
