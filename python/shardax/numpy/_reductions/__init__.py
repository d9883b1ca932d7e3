"""shardax.numpy: sums, extremes, statistics and counts along axes."""
