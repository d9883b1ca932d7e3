"""shardax.experimental.compilation_cache.compilation_cache - the folder of a cache on disk.

Programs compile in milliseconds here and are not kept on disk: the folder is noted, and stays as it
is.
"""

from shardax.config import config

__all__ = ["reset_cache", "set_cache_dir"]


def set_cache_dir(path):
    """Notes the folder, as `config.update("jax_compilation_cache_dir", path)` does.

    Example:
      >>> set_cache_dir("/tmp/cache")
      >>> config.jax_compilation_cache_dir
      '/tmp/cache'
    """
    config.update("jax_compilation_cache_dir", str(path))


def reset_cache():
    """Does nothing: there is no state to forget."""
