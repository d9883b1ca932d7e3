"""python/shardax/_logging.py - messages to Python's logger "shardax"."""

import logging

_logger = logging.getLogger("shardax")


def log_compile(api, name, types, seconds):
    """Says, under `jax_log_compiles`, that a function is traced for new types; called by the
    core."""
    _logger.warning("Finished tracing %s for %s in %s sec", name, api, seconds)
    _logger.warning("Compiling %s(%s) with global shapes and types %s.", api, name, tuple(types))
