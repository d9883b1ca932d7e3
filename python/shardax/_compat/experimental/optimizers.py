"""shardax.experimental.optimizers - the older name of example_libraries.optimizers."""

from shardax.example_libraries.optimizers import *  # noqa: F403
