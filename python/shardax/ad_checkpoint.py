"""shardax.ad_checkpoint - checkpoint (remat), its policies and checkpoint_name."""

from shardax._checkpoint import checkpoint, checkpoint_name, checkpoint_policies

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "remat"]

remat = checkpoint
