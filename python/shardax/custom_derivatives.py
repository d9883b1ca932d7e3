"""shardax.custom_derivatives - functions with derivative rules of the user's own."""

from shardax._custom import (
    SymbolicZero,
    closure_convert,
    custom_gradient,
    custom_jvp,
    custom_vjp,
)

__all__ = ["SymbolicZero", "closure_convert", "custom_gradient", "custom_jvp", "custom_vjp"]
