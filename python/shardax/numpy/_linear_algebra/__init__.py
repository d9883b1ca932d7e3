"""shardax.numpy: products, factorizations and what follows from them."""
