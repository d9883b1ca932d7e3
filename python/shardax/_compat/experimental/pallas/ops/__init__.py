"""shardax.experimental.pallas.ops - kernels that JAX ships."""
