"""shardax.tools - where notebooks for JAX find colab_tpu."""
