"""shardax.experimental - names that JAX keeps, or kept, under jax.experimental."""

from shardax.experimental import maps, mesh_utils, pjit
