"""Written by python/stubs.py."""

from typing import Any

from shardax._transform.custom.vmap import custom_vmap as custom_vmap

def sequential_vmap(f: Any) -> Any:
    """`f`, which vmap calls once per slice, in order, in a loop."""
