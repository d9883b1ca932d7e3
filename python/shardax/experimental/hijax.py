"""shardax.experimental.hijax - types and primitives of values that are no arrays.

A `HiType` says of which arrays a value consists; functions that are traced, differentiated and
mapped take such values like arrays. `HiPrimitive` and `VJPHiPrimitive` are ops on them.
"""

from shardax._base.effects import control_flow_allowed_effects
from shardax._transform.avals import AbstractValue, ShapedArray
from shardax._transform.hijax import grads as _grads  # noqa: F401
from shardax._transform.hijax.maps import HiPspec, MappingSpec
from shardax._transform.hijax.primitives import HiPrimitive
from shardax._transform.hijax.states import AvalMutableQDD, AvalQDD, cur_qdd
from shardax._transform.hijax.types import (
    HiType,
    MutableHiType,
    aval_method,
    aval_property,
    register_hitype,
)
from shardax._transform.hijax.vjp import VJPHiPrimitive
from shardax._transform.refs import AbstractRef, TransformedRef
from shardax.interpreters.ad import Zero, instantiate_zeros, is_undefined_primal

__all__ = [
    "AbstractRef",
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
    "HiPspec",
    "HiType",
    "MappingSpec",
    "MutableHiType",
    "ShapedArray",
    "TransformedRef",
    "VJPHiPrimitive",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "cur_qdd",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
]
