"""shardax/_debug - breakpoints in programs, and pictures of shardings."""
