"""tests/programs/test_nested_staging.py - programs within programs are looked through once each."""

import subprocess
import sys

import pytest

CHAIN = """
import shardax as jax, shardax.numpy as jnp
f = jnp.sin
for _ in range(20_000):
    f = jax.jit(lambda x, f=f: f(x))
    jax.make_jaxpr(f)(1.0)
"""
# Each program stands twice in the next one: 2**60 paths lead to the first.
DOUBLED = """
import shardax as jax, shardax.numpy as jnp
f = jax.custom_jvp(jnp.sin)
f.defjvp(lambda x, t: (jnp.sin(*x), jnp.cos(*x) * t[0]))
for _ in range(60):
    f = jax.jit(lambda x, f=f: f(x) + f(x) * 2)
    jax.make_jaxpr(f)(1.0)
"""
# A cache of programs keeps the objects that show them, and lets go of them.
KEPT = """
import gc
import shardax as jax, shardax.numpy as jnp

inner = jax.jit(lambda x: jnp.sin(x) * 2)
outer = jax.jit(lambda x: inner(x) + 1)
outer(1.0)
body = lambda: jax.make_jaxpr(outer)(1.0).eqns[0].params["jaxpr"].eqns[0].params["jaxpr"]
first = id(body())
gc.collect()
assert id(body()) == first
jax.clear_caches()
gc.collect()
assert float(outer(1.0)) == float(jnp.sin(1.0) * 2 + 1)
"""


@pytest.mark.parametrize("code", [CHAIN, DOUBLED, KEPT], ids=["chain", "doubled", "kept"])
def test_nested_programs(code):
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
