"""shardax._transform.hijax - types, primitives and references of values that are no arrays."""
