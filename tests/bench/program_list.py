"""tests/bench/program_list.py - simulations, statistics and algorithms for programs.py."""

import numpy as np


def k_means(jax):
    jnp = jax.numpy
    points = jax.random.normal(jax.random.PRNGKey(0), (20_000, 16))

    def step(centres, _):
        distances = ((points[:, None, :] - centres[None]) ** 2).sum(-1)
        nearest = jnp.argmin(distances, 1)
        sums = jax.ops.segment_sum(points, nearest, 64)
        counts = jax.ops.segment_sum(jnp.ones(len(points)), nearest, 64)
        return sums / jnp.maximum(counts, 1)[:, None], distances.min(1).mean()

    return jax.jit(lambda c: jax.lax.scan(step, c, None, length=5)), (points[:64],)


def gravity(jax):
    def acceleration(x):
        d = x[None] - x[:, None]
        r2 = (d**2).sum(-1) + 1e-2
        return (d * (r2**-1.5)[..., None]).sum(1)

    def step(state, _):
        x, v = state
        v = v + 1e-3 * acceleration(x)
        return (x + 1e-3 * v, v), (v**2).sum()

    x = jax.random.normal(jax.random.PRNGKey(0), (1000, 3))
    return jax.jit(lambda x: jax.lax.scan(step, (x, 0 * x), None, length=5)), (x,)


def lennard_jones(jax):
    jnp = jax.numpy
    side, n = 7.2, 216
    grid = np.stack(np.meshgrid(*[np.arange(6)] * 3), -1).reshape(-1, 3) * 1.2
    x = grid + 0.05 * np.random.default_rng(0).standard_normal((n, 3))
    x = jnp.asarray(x, jnp.float32)

    def energy(x):
        d = x[:, None] - x[None]
        d = d - side * jnp.round(d / side)
        inverse = 1 / ((d**2).sum(-1) + jnp.eye(n)) ** 3
        return (2 * (inverse**2 - inverse) * (1 - jnp.eye(n))).sum()

    def step(state, _):
        x, v = state
        v = v - 1e-3 * jax.grad(energy)(x)
        x = (x + 1e-3 * v) % side
        return (x, v), energy(x)

    return jax.jit(lambda x: jax.lax.scan(step, (x, 0 * x), None, length=20)), (x,)


def mandelbrot(jax):
    jnp = jax.numpy
    y, x = np.mgrid[-1.2:1.2:400j, -2:1:600j]

    @jax.jit
    def escape(c):
        def body(_, state):
            z, n = state
            z = z * z + c
            return z, n + (jnp.abs(z) < 2)

        return jax.lax.fori_loop(0, 50, body, (jnp.zeros_like(c), jnp.zeros(c.shape, int)))[1]

    return escape, (jnp.asarray(x + 1j * y, jnp.complex64),)


def ising(jax):
    jnp = jax.numpy
    n = 256
    even = (jnp.indices((n, n)).sum(0) % 2).astype(bool)

    def sweep(spins, key):
        for part in (even, ~even):
            key, draw = jax.random.split(key)
            field = sum(jnp.roll(spins, s, axis) for s in (1, -1) for axis in (0, 1))
            accept = jax.random.uniform(draw, spins.shape) < jnp.exp(-0.88 * spins * field)
            spins = jnp.where(accept & part, -spins, spins)
        return spins, spins.mean()

    def run(key):
        return jax.lax.scan(sweep, jnp.ones((n, n)), jax.random.split(key, 20))

    return jax.jit(run), (jax.random.PRNGKey(0),)


def life(jax):
    jnp = jax.numpy

    def step(_, g):
        around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        n = sum(jnp.roll(g, shift, (0, 1)) for shift in around)
        return ((n == 3) | ((g == 1) & (n == 2))).astype(g.dtype)

    g = (jax.random.uniform(jax.random.PRNGKey(1), (512, 512)) < 0.3).astype("int32")
    return jax.jit(lambda g: jax.lax.fori_loop(0, 20, step, g)), (g,)


def split_step(jax):
    """The nonlinear Schroedinger equation on 4096 points."""
    jnp = jax.numpy
    x = jnp.linspace(-20, 20, 4096)
    k = 2 * np.pi * jnp.fft.fftfreq(4096, 40 / 4096)

    def step(psi, _):
        psi = psi * jnp.exp(-0.005j * (x**2 + jnp.abs(psi) ** 2))
        psi = jnp.fft.ifft(jnp.fft.fft(psi) * jnp.exp(-0.005j * k**2))
        return psi, (jnp.abs(psi) ** 2).sum()

    start = jnp.exp(-(x**2) + 2j * x)
    return jax.jit(lambda psi: jax.lax.scan(step, psi, None, length=100)), (start,)


def kalman(jax):
    """The likelihood of a linear Gaussian model and its gradient."""
    jnp = jax.numpy
    key = jax.random.PRNGKey(0)
    h, ys = jax.random.normal(key, (2, 4)), jax.random.normal(key, (500, 2))

    def likelihood(a):
        def step(state, y):
            m, p = state
            m, p = a @ m, a @ p @ a.T + 0.1 * jnp.eye(4)
            s = h @ p @ h.T + 0.1 * jnp.eye(2)
            gain, r = jnp.linalg.solve(s, h @ p).T, y - h @ m
            term = r @ jnp.linalg.solve(s, r) + jnp.linalg.slogdet(s)[1]
            return (m + gain @ r, p - gain @ s @ gain.T), -0.5 * term

        return jax.lax.scan(step, (jnp.zeros(4), jnp.eye(4)), ys)[1].sum()

    return jax.jit(jax.value_and_grad(likelihood)), (0.8 * jnp.eye(4),)


def particle_filter(jax):
    jnp = jax.numpy
    n, key = 2000, jax.random.PRNGKey(0)

    def step(state, y):
        x, key = state
        key, move, draw = jax.random.split(key, 3)
        x = 0.9 * x + jax.random.normal(move, (n,))
        w = jax.nn.softmax(-0.5 * (y - x) ** 2)
        u = (jnp.arange(n) + jax.random.uniform(draw)) / n
        return (x[jnp.searchsorted(jnp.cumsum(w), u)], key), (w * x).sum()

    def run(ys):
        return jax.lax.scan(step, (jax.random.normal(key, (n,)), key), ys)[1]

    return jax.jit(run), (jax.random.normal(key, (100,)),)


def gaussian_process(jax):
    jnp = jax.numpy
    x = jax.random.uniform(jax.random.PRNGKey(0), (400, 3))
    y = jnp.sin(x.sum(1) * 5)

    def loss(p):
        d = (((x[:, None] - x[None]) / jnp.exp(p["scales"])) ** 2).sum(-1)
        k = jnp.exp(p["size"] - 0.5 * d) + jnp.exp(p["noise"]) * jnp.eye(400)
        factor = jnp.linalg.cholesky(k)
        weights = jax.scipy.linalg.cho_solve((factor, True), y)
        return 0.5 * y @ weights + jnp.log(jnp.diag(factor)).sum()

    return jax.jit(jax.value_and_grad(loss)), (
        {"scales": jnp.zeros(3), "size": 0.0, "noise": -2.0},
    )


def alternating_least_squares(jax):
    jnp = jax.numpy
    key = jax.random.PRNGKey(0)
    ratings = jax.random.normal(key, (500, 300))
    known = (jax.random.uniform(key, (500, 300)) < 0.2) * 1.0

    def solve(row, mask, v):
        a = (v * mask[:, None]).T @ v + 0.1 * jnp.eye(10)
        return jax.scipy.linalg.solve(a, v.T @ (row * mask), assume_a="pos")

    def step(state, _):
        u, v = state
        u = jax.vmap(solve, (0, 0, None))(ratings, known, v)
        v = jax.vmap(solve, (1, 1, None))(ratings, known, u)
        return (u, v), (((u @ v.T - ratings) * known) ** 2).sum()

    start = jax.random.normal(key, (500, 10)), jax.random.normal(key, (300, 10))
    return jax.jit(lambda u, v: jax.lax.scan(step, (u, v), None, length=3)), start


def sinkhorn(jax):
    jnp = jax.numpy
    x, y = jax.random.normal(jax.random.PRNGKey(0), (2, 500, 2))

    def cost(x):
        c = ((x[:, None] - y[None]) ** 2).sum(-1)

        def step(state, _):
            f, g = state
            f = -0.1 * jax.nn.logsumexp((g[None] - c) / 0.1 - np.log(500.0), 1)
            g = -0.1 * jax.nn.logsumexp((f[:, None] - c) / 0.1 - np.log(500.0), 0)
            return (f, g), None

        (f, g), _ = jax.lax.scan(step, (jnp.zeros(500), jnp.zeros(500)), None, length=20)
        return f.mean() + g.mean()

    return jax.jit(jax.value_and_grad(cost)), (x,)


def page_rank(jax):
    jnp = jax.numpy
    n, rng = 20_000, np.random.default_rng(0)

    @jax.jit
    def rank(source, target):
        degree = jnp.maximum(jnp.zeros(n).at[source].add(1.0), 1)

        def step(_, p):
            return 0.15 / n + 0.85 * jnp.zeros(n).at[target].add((p / degree)[source])

        return jax.lax.fori_loop(0, 20, step, jnp.full(n, 1 / n))

    return rank, tuple(jnp.asarray(e) for e in rng.integers(0, n, (2, 200_000)))


def conjugate_gradients(jax):
    """A Poisson equation on 64 x 64 points, its matrix in coordinates."""
    jnp = jax.numpy
    place = np.arange(64 * 64).reshape(64, 64)
    pairs = [(place[1:], place[:-1]), (place[:, 1:], place[:, :-1])]
    rows = np.concatenate([a.ravel() for p in pairs for a in p] + [place.ravel()])
    columns = np.concatenate([a.ravel() for p in pairs for a in p[::-1]] + [place.ravel()])
    values = jnp.asarray(np.where(rows == columns, 4.1, -1.0), jnp.float32)
    rows, columns = jnp.asarray(rows), jnp.asarray(columns)

    def times(x):
        return jnp.zeros_like(x).at[rows].add(values * x[columns])

    @jax.jit
    def solve(b):
        def step(_, state):
            x, r, p = state
            q = times(p)
            alpha = (r @ r) / (p @ q)
            left = r - alpha * q
            return x + alpha * p, left, left + (left @ left) / (r @ r) * p

        return jax.lax.fori_loop(0, 50, step, (jnp.zeros_like(b), b, b))[0]

    return solve, (jnp.ones(64 * 64),)


def edit_distance(jax):
    jnp = jax.numpy
    rng = np.random.default_rng(0)

    def distance(a, b):
        def row(before, letter):
            def cell(left, operands):
                up, diagonal, other = operands
                value = jnp.minimum(jnp.minimum(up, left) + 1, diagonal + (letter != other))
                return value, value

            first = before[0] + 1
            _, rest = jax.lax.scan(cell, first, (before[1:], before[:-1], b))
            return jnp.concatenate([first[None], rest]), None

        return jax.lax.scan(row, jnp.arange(len(b) + 1), a)[0][-1]

    words = jnp.asarray(rng.integers(0, 4, (65, 300)))
    return jax.jit(jax.vmap(distance, (None, 0))), (words[0], words[1:])


def random_words(jax):
    """Xorshift: integers alone."""

    def step(s, _):
        s = s ^ (s << 13)
        s = s ^ (s >> 17)
        s = s ^ (s << 5)
        return s, s % 1000 < 500

    @jax.jit
    def run(s):
        s, small = jax.lax.scan(step, s, None, length=100)
        return s, small.sum(0)

    return run, (jax.numpy.arange(1, 20_001, dtype="uint32"),)
