"""shardax.experimental.stax - where example_libraries.stax used to be."""

from shardax.example_libraries.stax import *  # noqa: F403
