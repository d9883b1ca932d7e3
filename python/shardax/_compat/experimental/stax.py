"""shardax.experimental.stax - the older name of example_libraries.stax."""

from shardax.example_libraries.stax import *  # noqa: F403
