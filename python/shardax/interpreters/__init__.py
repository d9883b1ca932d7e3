"""shardax.interpreters - registries of rules of user-made primitives."""

from shardax.interpreters import ad, batching, mlir, partial_eval, pxla, xla

__all__ = ["ad", "batching", "mlir", "partial_eval", "pxla", "xla"]
