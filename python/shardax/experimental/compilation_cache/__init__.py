"""shardax.experimental.compilation_cache - where compiled programs would be kept on disk."""
