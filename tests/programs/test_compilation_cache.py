"""tests/programs/test_compilation_cache.py - the folder of a cache on disk."""

import shardax
from shardax.experimental.compilation_cache import compilation_cache


def test_the_folder_is_noted(tmp_path):
    before = shardax.config.jax_compilation_cache_dir
    try:
        compilation_cache.set_cache_dir(tmp_path)
        assert shardax.config.jax_compilation_cache_dir == str(tmp_path)
        compilation_cache.reset_cache()
        assert shardax.config.jax_compilation_cache_dir == str(tmp_path)
    finally:
        shardax.config.update("jax_compilation_cache_dir", before)
