"""shardax.experimental.checkify - run-time checks inside jit, vmap, pmap, loops and derivatives."""

from shardax._transform.checkify import *  # noqa: F403
from shardax._transform.checkify import __all__  # noqa: F401
