"""tests/bench/mpi.py - sums over processes, beside mpi4py's own on the same library.

    python -m shardax --processes 2 tests/bench/mpi.py

Rounds of both are interleaved; of each the median and the least of all rounds, the greatest over
processes, is printed. `psum` is a call of a pmap over one device a process, Python included.
"""

import functools
import os
import time

import numpy as np
import shardax
import shardax.numpy as jnp
from mpi4py import MPI
from shardax import lax

# Bytes, calls in a round, rounds.
SIZES = [(4 * 1024, 200, 40), (64 * 1024, 100, 30), (1 << 20, 20, 20), (64 << 20, 1, 15)]


def rounds(functions, calls, count):
    """Seconds of each function: (rounds, functions), the slowest process of each."""
    taken = np.empty((count, len(functions)))
    for each in functions:
        each()
    for i in range(count):
        for k, function in enumerate(functions):
            MPI.COMM_WORLD.Barrier()
            start = time.perf_counter()
            for _ in range(calls):
                function()
            taken[i, k] = (time.perf_counter() - start) / calls
    MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, taken, MPI.MAX)
    return taken


def finished(f, *args):
    return f(*args).block_until_ready()


def say(*words):
    if shardax.process_index() == 0:
        print(*words, flush=True)


def sums():
    total = shardax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")
    say(f"{'bytes':>10} {'psum, us':>18} {'mpi4py, us':>18} {'ratio':>6}   (median, least)")
    for size, calls, count in SIZES:
        own = np.arange(size // 4, dtype=np.float32)
        out = np.empty_like(own)
        x = jnp.asarray(own[None])
        psum = functools.partial(finished, total, x)
        allreduce = functools.partial(MPI.COMM_WORLD.Allreduce, own, out)
        ours, theirs = (rounds([psum, allreduce], calls, count) * 1e6).T
        say(
            f"{size:10} {np.median(ours):9.1f} {ours.min():8.1f} {np.median(theirs):9.1f} "
            f"{theirs.min():8.1f} {np.median(ours) / np.median(theirs):6.2f}"
        )


def step():
    """The README's training step: one message."""

    def one(w, x, y):
        g = shardax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
        return w - 0.1 * lax.pmean(g, "i")

    f = shardax.pmap(one, axis_name="i", in_axes=(None, 0, 0), out_axes=None)
    w = jnp.ones(3)
    x, y = jnp.ones((1, 4, 3)), jnp.ones((1, 4))
    taken = rounds([functools.partial(finished, f, w, x, y)], 200, 40) * 1e6
    say(f"tutorial step: {np.median(taken):.1f} us, least {taken.min():.1f}")


if __name__ == "__main__":
    shardax.config.update("jax_num_cpu_devices", 1)
    version = MPI.Get_library_version().splitlines()[0].strip("\x00")
    say(f"{version}, {MPI.COMM_WORLD.size} processes, load {os.getloadavg()[0]:.1f}")
    sums()
    step()
