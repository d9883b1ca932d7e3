"""shardax.experimental.optimizers - where example_libraries.optimizers used to be."""

from shardax.example_libraries.optimizers import *  # noqa: F403
