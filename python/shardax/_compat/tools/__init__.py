"""shardax.tools - the place of colab_tpu."""
