"""shardax.experimental.pallas.ops.tpu.splash_attention - attention under masks known beforehand."""

from shardax.experimental.pallas.ops.tpu.splash_attention import (
    splash_attention_kernel,
    splash_attention_mask,
)
from shardax.experimental.pallas.ops.tpu.splash_attention.splash_attention_kernel import (
    BlockSizes,
    SegmentIds,
    make_splash_mha,
    make_splash_mqa,
)
from shardax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask import (
    CausalMask,
    FullMask,
    LocalMask,
    Mask,
    MultiHeadMask,
    NumpyMask,
)

__all__ = [
    "BlockSizes",
    "CausalMask",
    "FullMask",
    "LocalMask",
    "Mask",
    "MultiHeadMask",
    "NumpyMask",
    "SegmentIds",
    "make_splash_mha",
    "make_splash_mqa",
    "splash_attention_kernel",
    "splash_attention_mask",
]
