"""shardax.extend.core - programs and their parts; primitives of the user's own."""

from shardax.core import (
    CallPrimitive,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    Var,
    jaxpr_as_fun,
)
from shardax.extend.core import primitives

__all__ = [
    "CallPrimitive",
    "ClosedJaxpr",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "Primitive",
    "Var",
    "jaxpr_as_fun",
    "primitives",
]
