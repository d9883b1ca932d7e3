"""shardax.example_libraries - optimizers and neural-network layers as plain functions."""

from shardax.example_libraries import optimizers, stax

__all__ = ["optimizers", "stax"]
