"""shardax/ad.py - targets of gradients."""

from shardax._transform.gradient_targets import DidntWant, DontWant, GradRef, GradValue

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]
