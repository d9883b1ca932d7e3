"""tests/bench/program_recurrences.py - filters, equations and fits for programs.py."""

import numpy as np


def hidden_states(jax):
    """The gradient of a hidden Markov model's likelihood: 16 states, 500 steps."""
    jnp = jax.numpy
    seen = jax.random.randint(jax.random.PRNGKey(0), (500,), 0, 10)

    def likelihood(change, emit):
        change, emit = jax.nn.log_softmax(change), jax.nn.log_softmax(emit)

        def step(alpha, y):
            return jax.nn.logsumexp(alpha[:, None] + change, 0) + emit[:, y], None

        alpha, _ = jax.lax.scan(step, jnp.zeros(16), seen)
        return jax.nn.logsumexp(alpha)

    keys = jax.random.split(jax.random.PRNGKey(1))
    args = jax.random.normal(keys[0], (16, 16)), jax.random.normal(keys[1], (16, 10))
    return jax.jit(jax.value_and_grad(likelihood, (0, 1))), args


def best_path(jax):
    """Viterbi: 1000 steps forward, and back."""
    jnp = jax.numpy
    seen = jax.random.randint(jax.random.PRNGKey(0), (1000,), 0, 6)

    def path(change, emit):
        def forward(score, y):
            all_ = score[:, None] + change
            return all_.max(0) + emit[:, y], all_.argmax(0)

        score, came = jax.lax.scan(forward, jnp.zeros(8), seen)
        last = score.argmax()
        _, states = jax.lax.scan(lambda s, c: (c[s], s), last, came, reverse=True)
        return states, score[last]

    keys = jax.random.split(jax.random.PRNGKey(1))
    args = jax.random.normal(keys[0], (8, 8)), jax.random.normal(keys[1], (8, 6))
    return jax.jit(path), args


def adaptive_steps(jax):
    """The Lorenz system by Runge and Kutta's pair of orders 2 and 3, steps as errors ask."""
    jnp = jax.numpy

    def field(x):
        a, b, c = x
        return jnp.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c])

    def solve(x):
        def going(state):
            return (state[0] < 5.0) & (state[3] < 20_000)

        def step(state):
            t, h, x, count = state
            k1 = field(x)
            k2 = field(x + h / 2 * k1)
            k3 = field(x + 3 * h / 4 * k2)
            new = x + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
            k4 = field(new)
            error = h * jnp.abs(-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8).max() / 1e-4
            good = error < 1
            scale = jnp.clip(0.9 * (error + 1e-9) ** (-1 / 3), 0.2, 5.0)
            return jnp.where(good, t + h, t), h * scale, jnp.where(good, new, x), count + 1

        return jax.lax.while_loop(going, step, (0.0, 0.01, x, 0))

    return jax.jit(solve), (jnp.array([1.0, 1.0, 1.0]),)


def neural_equation(jax):
    """The gradient through 50 steps of order 4 of a field that is a network."""
    jnp = jax.numpy

    def loss(weights, x, y):
        def field(x):
            return jnp.tanh(x @ weights[0] + weights[1]) @ weights[2]

        def step(x, _):
            h = 0.02
            k1 = field(x)
            k2 = field(x + h / 2 * k1)
            k3 = field(x + h / 2 * k2)
            k4 = field(x + h * k3)
            return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return ((jax.lax.scan(step, x, None, length=50)[0] - y) ** 2).mean()

    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    weights = [jax.random.normal(keys[0], (2, 32)), jnp.zeros(32)]
    weights.append(jax.random.normal(keys[1], (32, 2)) / 6)
    x = jax.random.normal(keys[2], (32, 2))
    return jax.jit(jax.value_and_grad(loss)), (weights, x, jnp.sin(x))


def gated_units(jax):
    """The gradient of a recurrent network (GRU) over 200 steps."""
    jnp = jax.numpy

    def loss(weights, x):
        inner, outer, out = weights

        def step(h, x):
            z, r, _ = jnp.split(jax.nn.sigmoid(x @ inner + h @ outer), 3, -1)
            new = jnp.tanh(x @ inner[:, 128:] + (r * h) @ outer[:, 128:])
            h = (1 - z) * h + z * new
            return h, (h @ out)[:, 0]

        _, y = jax.lax.scan(step, jnp.zeros((16, 64)), x)
        return ((y[:-1] - x[1:, :, 0]) ** 2).mean()

    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    shapes = (8, 192), (64, 192), (64, 1)
    weights = [jax.random.normal(k, s) / 8 for k, s in zip(keys, shapes)]
    return jax.jit(jax.value_and_grad(loss)), (weights, jax.random.normal(keys[3], (200, 16, 8)))


def riccati(jax):
    """A linear regulator: 100 steps backward, and the states forward."""
    jnp = jax.numpy
    a = jnp.eye(6) + 0.1 * jax.random.normal(jax.random.PRNGKey(0), (6, 6))
    b = jax.random.normal(jax.random.PRNGKey(1), (6, 2))

    def regulate(x, cost):
        def back(p, _):
            gain = jnp.linalg.solve(jnp.eye(2) + b.T @ p @ b, b.T @ p @ a)
            return cost + a.T @ p @ (a - b @ gain), gain

        _, gains = jax.lax.scan(back, cost, None, length=100)

        def forward(x, gain):
            u = -gain @ x
            return a @ x + b @ u, u

        return jax.lax.scan(forward, x, gains[::-1])

    return jax.jit(regulate), (jnp.ones(6), jnp.eye(6))


def heat(jax):
    """Implicit steps of diffusion: a tridiagonal system each."""
    jnp = jax.numpy

    def run(u):
        lower, upper = jnp.full(512, -0.4).at[0].set(0), jnp.full(512, -0.4).at[-1].set(0)
        middle = jnp.full(512, 1.8)

        def step(u, _):
            u = jax.lax.linalg.tridiagonal_solve(lower, middle, upper, u[:, None])[:, 0]
            return u, u.sum()

        return jax.lax.scan(step, u, None, length=200)

    return jax.jit(run), (jnp.exp(-((jnp.arange(512.0) - 256) ** 2) / 200),)


def mixture(jax):
    """Expectation and maximization: 8 Gaussians of 3 dimensions."""
    jnp = jax.numpy

    def fit(x, means):
        def step(state, _):
            means, covariances, shares = state
            factors = jnp.linalg.cholesky(covariances)
            off = x[:, None] - means[None]
            z = jax.vmap(
                lambda a, d: jax.scipy.linalg.solve_triangular(a, d.T, lower=True), (0, 1)
            )(factors, off)
            logs = jnp.log(jnp.diagonal(factors, axis1=1, axis2=2)).sum(-1)
            logp = -0.5 * (z**2).sum(1).T - logs + jnp.log(shares)
            chosen = jax.nn.softmax(logp)
            weight = chosen.sum(0)
            means = chosen.T @ x / weight[:, None]
            off = x[:, None] - means[None]
            covariances = jnp.einsum("nk,nki,nkj->kij", chosen, off, off) / weight[:, None, None]
            covariances = covariances + 1e-3 * jnp.eye(3)
            return (means, covariances, weight / len(x)), jax.nn.logsumexp(logp, 1).mean()

        start = means, jnp.stack([jnp.eye(3)] * 8), jnp.full(8, 1 / 8)
        return jax.lax.scan(step, start, None, length=20)

    x = jnp.asarray(np.random.default_rng(0).standard_normal((2000, 3)).astype(np.float32))
    return jax.jit(fit), (x, x[:8])


def newton(jax):
    """A logistic regression by Newton's method, second derivatives included."""
    jnp = jax.numpy

    def loss(w, x, y):
        return jnp.logaddexp(0, x @ w).mean() - (y * (x @ w)).mean() + 1e-3 * (w @ w)

    def fit(x, y):
        def step(w, _):
            return w - jnp.linalg.solve(jax.hessian(loss)(w, x, y), jax.grad(loss)(w, x, y)), None

        return jax.lax.scan(step, jnp.zeros(20), None, length=8)[0]

    x = jax.random.normal(jax.random.PRNGKey(0), (2000, 20))
    return jax.jit(fit), (x, (x.sum(1) > 0).astype(jnp.float32))


def pendulum(jax):
    """Forces for 60 steps of a double pendulum, by 10 steps of gradient descent."""
    jnp = jax.numpy

    def field(s, u):
        a, b, va, vb = s
        d = a - b
        low = 3 - jnp.cos(2 * d)
        fa = -3 * jnp.sin(a) - jnp.sin(a - 2 * b)
        fa = (fa - 2 * jnp.sin(d) * (vb**2 + va**2 * jnp.cos(d))) / low + u
        fb = 2 * jnp.sin(d) * (2 * va**2 + 2 * jnp.cos(a) + vb**2 * jnp.cos(d)) / low
        return jnp.stack([va, vb, fa, fb])

    def cost(forces, s):
        def step(s, u):
            s = s + 0.05 * field(s, u)
            return s, (s[:2] ** 2).sum() + 0.01 * u**2

        return jax.lax.scan(step, s, forces)[1].sum()

    def plan(forces, s):
        def descend(forces, _):
            value, slope = jax.value_and_grad(cost)(forces, s)
            return forces - 0.01 * slope, value

        return jax.lax.scan(descend, forces, None, length=10)

    return jax.jit(plan), (jnp.zeros(60), jnp.array([1.0, 0.5, 0.0, 0.0]))
