"""shardax.interpreters - what rules of user-made primitives are registered with."""

from shardax.interpreters import ad, batching, mlir, partial_eval, pxla, xla

__all__ = ["ad", "batching", "mlir", "partial_eval", "pxla", "xla"]
