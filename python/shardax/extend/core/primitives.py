"""shardax.extend.core.primitives - the ops as primitives, under JAX's names: `add_p`."""

from shardax._transform.primitives import CallPrimitive, by_attribute

# Calls of functions; programs hold them as jit.
call_p, closed_call_p = CallPrimitive("call"), CallPrimitive("closed_call")


def __getattr__(name):
    return by_attribute(__name__, name)
