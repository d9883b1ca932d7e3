"""shardax.experimental.array_serialization - arrays in files of the library tensorstore."""
