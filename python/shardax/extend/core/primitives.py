"""shardax.extend.core.primitives - the ops as primitives, under JAX's names: `add_p`."""

from shardax._transform.primitives import by_attribute


def __getattr__(name):
    return by_attribute(__name__, name)
