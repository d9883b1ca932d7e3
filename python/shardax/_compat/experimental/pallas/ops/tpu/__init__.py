"""shardax.experimental.pallas.ops.tpu - kernels that JAX ships for TPUs, as functions of arrays."""
