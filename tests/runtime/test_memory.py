"""tests/runtime/test_memory.py - memory of calls that are repeated is not asked for again."""

import resource

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
