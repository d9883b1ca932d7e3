"""tests/runtime/test_memory.py - memory of calls that are repeated is not asked for again."""

import resource
import subprocess
import sys

import shardax as jax
import shardax.numpy as jnp


def test_large_temporaries_stay_for_the_next_call():
    f = jax.jit(lambda a: jnp.cumsum(jnp.outer(a, a), 0)[-1])
    a = jnp.ones(9000)  # 324 MB of temporaries
    jax.block_until_ready(f(a))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(3):
        jax.block_until_ready(f(a))
    # Pages of 2 MB, where there are such, would be 480.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 100


TURNS_OF_SEVERAL_SIZES = """
import resource
import shardax.numpy as jnp

def turn():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for size in (100 << 20, 20 << 20):
        jnp.arange(size, dtype="uint32").block_until_ready()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

turn()
print(min(turn() for _ in range(4)))
"""


def test_blocks_of_several_sizes_stay_for_the_next_turn():
    """More than was ever in use at once: a large block, then, when it is free, a smaller one."""
    command = [sys.executable, "-c", TURNS_OF_SEVERAL_SIZES]
    assert int(subprocess.run(command, capture_output=True, check=True).stdout) < 20


KEPT_MEMORY = """
import shardax
import shardax.numpy as jnp

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096

before = resident()
for size in range(10 << 20, 13 << 20, 1 << 20):  # 40 to 48 MB each
    jnp.arange(size, dtype="uint32").block_until_ready()
kept = resident() - before
shardax.clear_caches()
print(kept, resident() - before)
"""


def test_clear_caches_gives_memory_back():
    done = subprocess.run([sys.executable, "-c", KEPT_MEMORY], capture_output=True, text=True)
    kept, left = map(int, done.stdout.split())
    assert kept > 30 << 20 and left < 12 << 20, (kept, left)
