"""tests/bench/program_samplers.py - Monte Carlo methods and searches for programs.py."""

import numpy as np


def hamiltonian_monte_carlo(jax):
    """A logistic regression's posterior, ten steps of leapfrog a sample."""
    jnp = jax.numpy
    x = jax.random.normal(jax.random.PRNGKey(0), (500, 10))
    y = (x @ jnp.arange(-5.0, 5.0) > 0).astype(jnp.float32)

    def energy(w):
        logits = x @ w
        return jnp.sum(jnp.logaddexp(0, logits) - y * logits) + 0.5 * w @ w

    force = jax.grad(energy)

    def sample(w, key):
        draw, accept = jax.random.split(key)
        p = jax.random.normal(draw, w.shape)

        def leap(state, _):
            w, p = state
            p = p - 0.005 * force(w)
            w = w + 0.01 * p
            return (w, p - 0.005 * force(w)), None

        (new, q), _ = jax.lax.scan(leap, (w, p), None, length=10)
        change = energy(w) + 0.5 * p @ p - energy(new) - 0.5 * q @ q
        w = jnp.where(jnp.log(jax.random.uniform(accept)) < change, new, w)
        return w, w

    def chain(w, key):
        return jax.lax.scan(sample, w, jax.random.split(key, 50))[1].mean(0)

    return jax.jit(chain), (jnp.zeros(10), jax.random.PRNGKey(1))


def metropolis(jax):
    """2000 steps of 64 chains on a density of two bumps."""
    jnp = jax.numpy

    def log_density(x):
        near, far = ((x - 1) ** 2).sum(-1), ((x + 1) ** 2).sum(-1)
        return jnp.logaddexp(-2 * near, -2 * far)

    def step(state, key):
        x, old = state
        move, accept = jax.random.split(key)
        proposal = x + 0.5 * jax.random.normal(move, x.shape)
        new = log_density(proposal)
        taken = jnp.log(jax.random.uniform(accept, old.shape)) < new - old
        x = jnp.where(taken[:, None], proposal, x)
        return (x, jnp.where(taken, new, old)), taken.mean()

    def chains(x, key):
        (x, _), rates = jax.lax.scan(step, (x, log_density(x)), jax.random.split(key, 2000))
        return x, rates.mean()

    return jax.jit(chains), (jnp.zeros((64, 2)), jax.random.PRNGKey(0))


def gibbs(jax):
    """Change points of counts: one is drawn after the other."""
    jnp = jax.numpy
    counts = jnp.asarray(np.random.default_rng(0).poisson(3, 100).astype(np.float32))
    before = jnp.cumsum(counts)
    places = jnp.arange(1.0, 101.0)

    def step(state, key):
        early, late = state
        at, first, second = jax.random.split(key, 3)
        logp = before * (jnp.log(early) - jnp.log(late)) - places * (early - late)
        k = jax.random.categorical(at, logp)
        early = jax.random.gamma(first, before[k] + 1) / (places[k] + 1)
        late = jax.random.gamma(second, before[-1] - before[k] + 1) / (101 - places[k])
        return (early, late), k

    def run(early, late, key):
        return jax.lax.scan(step, (early, late), jax.random.split(key, 500))[1]

    return jax.jit(run), (jnp.float32(2), jnp.float32(4), jax.random.PRNGKey(1))


def annealing(jax):
    """A round trip through 50 cities, stretches of which are turned round."""
    jnp = jax.numpy
    cities = jax.random.uniform(jax.random.PRNGKey(0), (50, 2))

    def length(tour):
        way = cities[tour]
        return jnp.sqrt(((way - jnp.roll(way, 1, 0)) ** 2).sum(-1)).sum()

    def step(state, given):
        tour, old = state
        key, heat = given
        ends, accept = jax.random.split(key)
        i, j = jnp.sort(jax.random.randint(ends, (2,), 0, 50))
        at = jnp.arange(50)
        proposal = tour[jnp.where((at >= i) & (at <= j), i + j - at, at)]
        new = length(proposal)
        taken = jnp.log(jax.random.uniform(accept)) < (old - new) / heat
        return (jnp.where(taken, proposal, tour), jnp.where(taken, new, old)), None

    def search(tour, key):
        given = jax.random.split(key, 2000), jnp.geomspace(1.0, 1e-3, 2000)
        return jax.lax.scan(step, (tour, length(tour)), given)[0]

    return jax.jit(search), (jnp.arange(50), jax.random.PRNGKey(1))


def bootstrap(jax):
    """An interval for a correlation from 500 samples with replacement."""
    jnp = jax.numpy

    def interval(x, y, key):
        def once(key):
            at = jax.random.choice(key, len(x), (len(x),))
            return jnp.corrcoef(x[at], y[at])[0, 1]

        return jnp.percentile(jax.vmap(once)(jax.random.split(key, 500)), jnp.array([2.5, 97.5]))

    x = jax.random.normal(jax.random.PRNGKey(0), (400,))
    return jax.jit(interval), (x, x + jnp.sin(7 * x), jax.random.PRNGKey(1))


def option_price(jax):
    """An Asian option and its sensitivities, of 20 000 paths of 64 steps."""
    jnp = jax.numpy

    def price(spot, volatility, key):
        noise = jax.random.normal(key, (64, 20_000))

        def step(path, z):
            path = path * jnp.exp((0.02 - 0.5 * volatility**2) / 64 + volatility / 8 * z)
            return path, path

        _, path = jax.lax.scan(step, jnp.full(20_000, 1.0) * spot, noise)
        return jnp.maximum(path.mean(0) - 1.0, 0).mean()

    f = jax.jit(jax.value_and_grad(price, (0, 1)))
    return f, (jnp.float32(1), jnp.float32(0.2), jax.random.PRNGKey(0))


def table_of_actions(jax):
    """Q-learning on a grid of 8 x 8, 3000 moves."""
    jnp = jax.numpy
    moves = jnp.array([[0, 1], [1, 0], [0, -1], [-1, 0]])

    def step(state, key):
        table, place = state
        explore, which = jax.random.split(key)
        best = jnp.argmax(table[place[0], place[1]])
        drawn = jax.random.randint(which, (), 0, 4)
        action = jnp.where(jax.random.uniform(explore) < 0.1, drawn, best)
        new = jnp.clip(place + moves[action], 0, 7)
        done = (new == 7).all()
        value = jnp.where(done, 1.0, 0.95 * table[new[0], new[1]].max())
        table = table.at[place[0], place[1], action].add(
            0.2 * (value - table[place[0], place[1], action])
        )
        return (table, jnp.where(done, 0, new)), done

    def learn(table, key):
        start = table, jnp.zeros(2, jnp.int32)
        (table, _), done = jax.lax.scan(step, start, jax.random.split(key, 3000))
        return table, done.sum()

    return jax.jit(learn), (jnp.zeros((8, 8, 4)), jax.random.PRNGKey(0))


def evolution(jax):
    """A strategy of evolution on a valley of 20 dimensions, 200 generations of 64."""
    jnp = jax.numpy

    def valley(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    def generation(state, key):
        mean, width = state
        z = jax.random.normal(key, (64, 20))
        order = jnp.argsort(jax.vmap(valley)(mean + width * z))
        chosen = z[order[:16]]
        mean = mean + width * chosen.mean(0)
        width = width * jnp.exp(0.1 * ((chosen**2).mean() - 1))
        return (mean, width), valley(mean)

    def search(mean, key):
        return jax.lax.scan(generation, (mean, 0.5), jax.random.split(key, 200))

    return jax.jit(search), (jnp.zeros(20), jax.random.PRNGKey(0))
