"""Written by python/stubs.py."""

from typing import Any

from shardax._base.symbolic_shapes import SymbolicScope as SymbolicScope
from shardax._transform.export.exports import DisabledSafetyCheck as DisabledSafetyCheck
from shardax._transform.export.exports import Exported as Exported
from shardax._transform.export.exports import maximum_supported_calling_convention_version as maximum_supported_calling_convention_version
from shardax._transform.export.exports import minimum_supported_calling_convention_version as minimum_supported_calling_convention_version

def default_export_platform() -> Any:
    """The platform for which functions are exported unless others are named."""
def deserialize(blob: Any) -> Any:
    """The function that `Exported.serialize` wrote."""
def export(fun_jit: Any, *, platforms: Any = None, disabled_checks: Any = ...) -> Any:
    """A function that stages `fun_jit` for arguments, to be written to a file."""
def is_symbolic_dim(p: Any) -> Any:
    """True if a size is an expression of dimension variables."""
def register_namedtuple_serialization(nodetype: Any, *, serialized_name: Any) -> Any:
    """Lets exported functions with that namedtuple among their arguments or results be serialized."""
def register_pytree_node_serialization(nodetype: Any, *, serialized_name: Any, serialize_auxdata: Any, deserialize_auxdata: Any, from_children: Any = None) -> Any:
    """Lets exported functions with a pytree class among their arguments or results be serialized."""
def symbolic_args_specs(args: Any, shapes_specs: Any, constraints: Any = ..., scope: Any = None) -> Any:
    """ShapeDtypeStructs with symbolic sizes, for the arguments of `export`."""
def symbolic_shape(shape_spec: Any, *, constraints: Any = ..., scope: Any = None, like: Any = None) -> Any:
    """A shape whose sizes may be expressions of variables."""
