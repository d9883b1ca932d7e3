"""shardax.extend.core.primitives - the ops as primitives, under JAX's names: `add_p`."""

from shardax._transform.primitives import CallPrimitive
from shardax.lax._composed import primitive

# Calls of functions; programs hold them as jit.
call_p, closed_call_p = CallPrimitive("call"), CallPrimitive("closed_call")


def __getattr__(name):
    return primitive(__name__, name)
