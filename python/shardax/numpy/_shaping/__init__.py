"""shardax.numpy: other shapes and orders of the same elements, arrays joined and padded."""
