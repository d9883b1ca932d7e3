"""shardax.experimental.compilation_cache - the cache of compiled programs on disk, which is not
needed."""
