"""shardax._src - names that tutorials and libraries import from JAX's private modules."""

from shardax._src import aliases


def __getattr__(name):
    """A module of the table of aliases."""
    full = f"jax._src.{name}"
    if aliases.is_module(full):
        return aliases.module(full)
    raise AttributeError(f"module 'shardax._src' has no attribute '{name}'")
