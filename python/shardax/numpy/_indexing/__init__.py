"""shardax.numpy: parts of arrays, and arrays with other parts."""
