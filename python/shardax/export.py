"""shardax/export.py - functions that are written to files: shardax.export."""

from shardax._base.symbolic_dims import is_symbolic_dim
from shardax._base.symbolic_shapes import SymbolicScope, symbolic_shape
from shardax._transform.export.exporting import deserialize, export
from shardax._transform.export.exports import (
    DisabledSafetyCheck,
    Exported,
    default_export_platform,
    maximum_supported_calling_convention_version,
    minimum_supported_calling_convention_version,
)
from shardax._transform.export.symbolic import symbolic_args_specs
from shardax._transform.export.trees import (
    register_namedtuple_serialization,
    register_pytree_node_serialization,
)

__all__ = [
    "DisabledSafetyCheck",
    "Exported",
    "SymbolicScope",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "maximum_supported_calling_convention_version",
    "minimum_supported_calling_convention_version",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "symbolic_args_specs",
    "symbolic_shape",
]
