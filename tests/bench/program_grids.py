"""tests/bench/program_grids.py - cells of small grids, learners and filters for programs.py."""

import numpy as np


def small_life(jax):
    """Conway's game: 200 turns of 16 x 16 cells."""
    jnp = jax.numpy
    ways = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]

    def turn(cells, _):
        around = sum(jnp.roll(jnp.roll(cells, i, 0), j, 1) for i, j in ways)
        return ((around == 3) | ((cells == 1) & (around == 2))).astype(jnp.int32), None

    cells = jnp.asarray(np.random.default_rng(0).integers(0, 2, (16, 16)), jnp.int32)
    return jax.jit(lambda cells: jax.lax.scan(turn, cells, None, length=200)[0]), (cells,)


def small_diffusion(jax):
    """200 explicit steps on 16 x 16 points, the edge of which stays."""

    def step(u, _):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].add(0.1 * (around - 4 * u[1:-1, 1:-1])), None

    u = jax.random.normal(jax.random.PRNGKey(0), (16, 16))
    return jax.jit(lambda u: jax.lax.scan(step, u, None, length=200)[0]), (u,)


def spins(jax):
    """Ising's model: 100 sweeps over 64 x 64 spins, of every other one."""
    jnp = jax.numpy
    even = jnp.asarray(np.indices((64, 64)).sum(0) % 2 == 0)

    def sweep(state, _):
        spins, key = state
        key, draw = jax.random.split(key)
        around = sum(jnp.roll(spins, by, axis) for by in (-1, 1) for axis in (0, 1))
        flips = jax.random.uniform(draw, spins.shape) < jnp.exp(-0.8 * spins * around)
        spins = jnp.where(flips & even, -spins, spins)
        return (spins, key), spins.mean()

    start = jnp.sign(jax.random.normal(jax.random.PRNGKey(1), (64, 64)))
    state = start, jax.random.PRNGKey(0)
    return jax.jit(lambda *state: jax.lax.scan(sweep, state, None, length=100)[1]), state


def bandit(jax):
    """300 pulls of 10 arms, one in ten at random."""
    jnp = jax.numpy

    def pull(state, _):
        values, counts, key = state
        key, explores, which = jax.random.split(key, 3)
        any_arm = jax.random.randint(which, (), 0, 10)
        arm = jnp.where(jax.random.uniform(explores) < 0.1, any_arm, values.argmax())
        reward = jnp.sin(1.0 * arm)
        counts = counts.at[arm].add(1)
        values = values.at[arm].add((reward - values[arm]) / counts[arm])
        return (values, counts, key), reward

    def run(key):
        return jax.lax.scan(pull, (jnp.zeros(10), jnp.zeros(10), key), None, length=300)

    return jax.jit(run), (jax.random.PRNGKey(0),)


def q_learning(jax):
    """300 moves among 16 places with 4 ways out of each."""
    jnp = jax.numpy

    def move(state, _):
        table, place, key = state
        key, explores = jax.random.split(key)
        best = table[place].argmax()
        way = jnp.where(jax.random.uniform(explores) < 0.2, place * 7 % 4, best)
        after = (place + way * 3 + 1) % 16
        reward = 1.0 * (after == 15)
        error = reward + 0.9 * table[after].max() - table[place, way]
        return (table.at[place, way].add(0.1 * error), after, key), reward

    def run(key):
        return jax.lax.scan(move, (jnp.zeros((16, 4)), jnp.int32(0), key), None, length=300)

    return jax.jit(run), (jax.random.PRNGKey(0),)


def wide_kalman(jax):
    """A Kalman filter of 8 numbers, seen through 2, in 200 steps."""
    jnp = jax.numpy
    rng = np.random.default_rng(0)
    change = jnp.asarray(0.99 * np.eye(8) + 0.01 * rng.standard_normal((8, 8)), jnp.float32)
    view = jnp.asarray(rng.standard_normal((2, 8)), jnp.float32)

    def step(state, seen):
        x, spread = state
        x, spread = change @ x, change @ spread @ change.T + 0.01 * jnp.eye(8)
        noise = view @ spread @ view.T + 0.1 * jnp.eye(2)
        gain = jnp.linalg.solve(noise, view @ spread).T
        x = x + gain @ (seen - view @ x)
        return (x, spread - gain @ view @ spread), x

    seen = jax.random.normal(jax.random.PRNGKey(0), (200, 2))
    return jax.jit(lambda seen: jax.lax.scan(step, (jnp.zeros(8), jnp.eye(8)), seen)), (seen,)
