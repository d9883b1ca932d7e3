"""shardax._src - what tutorials import from JAX's private modules."""
