"""shardax.dlpack - arrays from other libraries; `numpy.from_dlpack` and its kin take shardax's."""

from shardax.numpy import from_dlpack

__all__ = ["from_dlpack"]
