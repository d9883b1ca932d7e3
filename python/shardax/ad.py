"""shardax/ad.py - where gradients go: shardax.ad."""

from shardax._transform.gradient_targets import DidntWant, DontWant, GradRef, GradValue

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]
